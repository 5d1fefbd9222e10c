//! Formulas of linear temporal logic about random counter systems with few states, against a naive tableau over the interpreter.

use std::collections::HashMap;
use std::time::Duration;

use trellis_engine::ltl::search::Search;
use trellis_engine::ltl::translate::translate;
use trellis_engine::ltl::{Engine, check};
use trellis_meter::Meter;
use trellis_model::counter::interpret::{is_initial, step};
use trellis_model::counter::{Interval, Rule, System};
use trellis_model::ltl::evidence::Verdict;
use trellis_model::ltl::{Formula, Spec, models};

use crate::generator::{Dice, Kind, runs, system};
use crate::tableau::{Graph, Step, formula, is_violated};

/// Variables start small, and nothing happens where one is large: so there are finitely many states.
fn few(mut s: System) -> System {
    let small = Interval { low: 0, high: Some(3) };
    s.initial.iter_mut().for_each(|i| *i = i.and(Interval { low: 0, high: Some(i.low + 1) }));
    let vars = s.names.len() as u32;
    for rule in &mut s.rules {
        let guards = (0..vars).map(|v| (v, rule.guard(v).and(small))).filter(|g| !g.1.is_empty()).collect();
        *rule = Rule { guards, ..rule.clone() };
    }
    s.rules.retain(|r| r.guards.len() == vars as usize);
    s
}

/// The states from the initial ones on; nothing if they are many. The third letter is `deadlock`.
fn graph(s: &System, letter: impl Fn(&[u64]) -> u64) -> Option<Graph> {
    let mut states: Vec<Vec<u64>> = vec![vec![]];
    for i in &s.initial {
        let values = i.low..=i.high?;
        states = states.iter().flat_map(|p| values.clone().map(|n| [&p[..], &[n]].concat())).collect();
    }
    assert!(states.iter().all(|q| is_initial(s, q)));
    let mut stuck = vec![];
    let mut known: HashMap<Vec<u64>, usize> = states.iter().cloned().zip(0..).collect();
    let mut graph = Graph { starts: (0..states.len()).collect(), ..Graph::default() };
    while graph.steps.len() < states.len() {
        let here = graph.steps.len();
        let mut steps = vec![];
        for rule in 0..s.rules.len() as u32 {
            if let Some(next) = step(s, rule, &states[here]).expect("small") {
                let to = *known.entry(next.clone()).or_insert_with(|| {
                    states.push(next);
                    states.len() - 1
                });
                steps.push(Step { to, reads: true, does: 0 });
            }
        }
        if steps.is_empty() {
            steps.push(Step { to: here, reads: true, does: 0 });
            stuck.push(here);
        }
        graph.steps.push(steps);
        if states.len() > 150 {
            return None;
        }
    }
    graph.letters = states.iter().map(|q| letter(q)).collect();
    stuck.into_iter().for_each(|q| graph.letters[q] |= 4);
    Some(graph)
}

#[test]
fn formulas_agree_with_a_naive_tableau() {
    let (mut done, mut violated, mut unknown, mut seed) = (0, 0, 0, 0);
    while done < runs(60) {
        seed += 1;
        let mut dice = Dice(seed ^ 0x5eed);
        let s = few(system(seed, Kind { transfers: seed % 2 == 0, upper_bounds: seed % 3 == 0 }));
        let least = [1 + dice.roll(2), 1 + dice.roll(2)];
        let letter = |q: &[u64]| (0..2).fold(0, |l, i| l | u64::from(q[i] >= least[i]) << i);
        let Some(graph) = graph(&s, letter) else { continue };
        done += 1;
        let depth = 1 + dice.roll(2) as usize;
        let formula = match seed % 4 {
            0 => Formula::Globally(Box::new(Formula::Not(Box::new(Formula::Atom(2))))),
            _ => formula(&mut |n| dice.roll(n as u64) as usize, 3, depth),
        };
        let truth = is_violated(&graph, &formula, 0, &|_| true);
        violated += u32::from(truth);
        let mut subject = models::counters(&s);
        let terms = &mut subject.cfa.terms;
        let variables = subject.cfa.variables[..2].to_vec();
        let atoms = variables.iter().zip(least).map(|(&v, n)| {
            let (n, x) = (terms.big(n.into()), terms.var(v));
            terms.le(n, x)
        });
        let atoms = atoms.chain(subject.stuck).collect();
        let context = format!("seed {seed}, {formula:?}, {s:?}");
        let automaton = translate(&Formula::Not(Box::new(formula.clone()))).expect("small");
        let spec = Spec { formula, atoms, names: ["p", "q", "deadlock"].map(String::from).to_vec() };
        for engine in [Engine::Explicit(Search::Nested), Engine::Portfolio(1)] {
            let mut budget = Meter::unlimited().time(Some(Duration::from_secs(3)));
            let says = match check(&subject, &spec.atoms, &automaton, &engine, &mut budget).verdict {
                Verdict::Holds(proof) => {
                    let checked = trellis_check::ltl::certify(&subject, &spec, &proof, &Meter::unlimited());
                    checked.unwrap_or_else(|e| panic!("{engine:?}: {e}\n{context}"));
                    false
                }
                Verdict::Violated(lasso) => {
                    let checked = trellis_check::ltl::replay(&subject, &spec, &lasso);
                    checked.unwrap_or_else(|e| panic!("{engine:?}: {e}\n{context}"));
                    true
                }
                Verdict::Diverges(_) => panic!("{engine:?}: few states, and a run that never repeats\n{context}"),
                Verdict::Unknown(_) => {
                    unknown += 1;
                    continue;
                }
            };
            assert_eq!(says, truth, "{engine:?}: {context}");
        }
    }
    println!("{done} formulas, {violated} violated, {unknown} answers unknown");
}
