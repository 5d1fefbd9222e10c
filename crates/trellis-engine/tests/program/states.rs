//! Questions about states agree with enumeration, also of states from which every run is blocked.

use std::collections::BTreeSet;
use std::time::Duration;

use trellis_engine::program::{Engine, check};
use trellis_expr::{Value, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::interpret::{State, successors};
use trellis_model::cfa::{Cfa, Kind};
use trellis_model::ltl::product::Subject;
use trellis_model::ltl::watch::{Error, Watched, watch};

use crate::cegar::{answer, configuration};
use crate::generator::{Random, random, runs, valuations};

/// The states that some edge leads to.
fn reached(cfa: &Cfa) -> Vec<State> {
    let key = |s: &State| (s.location, format!("{:?}", s.env));
    let mut seen = BTreeSet::new();
    let mut all = vec![];
    let mut todo: Vec<State> = valuations(cfa).into_iter().map(|env| State { location: cfa.initial, env }).collect();
    while let Some(state) = todo.pop() {
        // A run ends at an error.
        if cfa.location(state.location).kind != Kind::Plain {
            continue;
        }
        for (_, next) in successors(cfa, &state, 100_000).expect("few values") {
            if seen.insert(key(&next)) {
                todo.push(next.clone());
                all.push(next);
            }
        }
    }
    all
}

fn is_stuck(cfa: &Cfa, state: &State) -> bool {
    cfa.location(state.location).kind == Kind::Plain && successors(cfa, state, 100_000).expect("few values").is_empty()
}

#[test]
fn questions_about_states_agree_with_enumeration() {
    let (mut decided, mut unknown, mut found) = (0, 0, [0; 2]);
    for seed in 0..runs(30) {
        let mut cfa = random(seed, true);
        let mut r = Random::new(seed ^ 0x5eed);
        let states = reached(&cfa);
        let v: VarId = cfa.variables[r.below(cfa.variables.len())];
        let values = valuations(&cfa);
        let value: Value = values[r.below(values.len())][&v].clone();
        let (var, literal) = (cfa.terms.var(v), cfa.terms.literal(&value));
        let mut asked = vec![(Watched::Deadlock, states.iter().any(|s| is_stuck(&cfa, s)))];
        if let Some(literal) = literal {
            let equal = cfa.terms.eq(var, literal);
            asked.push((Watched::Holds(equal), states.iter().any(|s| s.env[&v] == value)));
            asked.push((Watched::Fails(equal), states.iter().any(|s| s.env[&v] != value)));
        }
        for (watched, expected) in asked {
            let watching = match watch(Subject::every_edge(cfa.clone()), watched) {
                Ok(watching) => watching,
                Err(Error::Chosen) => continue,
                Err(why) => panic!("seed {seed}, {watched:?}: {why}"),
            };
            found[usize::from(expected)] += 1;
            let cegar = Engine::Cegar(configuration(seed as usize * 1_000_003));
            for engine in [Engine::Explicit, Engine::Portfolio(1), Engine::Bmc(None), cegar] {
                let who = format!("seed {seed}, {watched:?}, {engine}");
                let mut meter = Meter::unlimited().time(Some(Duration::from_secs(5))).states(Some(2000));
                match answer(&watching, &check(&watching, &engine, &mut meter), &who) {
                    None => unknown += 1,
                    Some(safe) => {
                        decided += 1;
                        assert_eq!(safe, !expected, "{who}");
                    }
                }
            }
        }
    }
    println!("{decided} decided, {unknown} unknown; {found:?} found");
    assert!(unknown * 3 < decided && found.iter().all(|n| *n > 10), "{decided}, {unknown}, {found:?}");
}
