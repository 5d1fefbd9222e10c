//! Random transition systems (XSTS), read from their texts: the engines agree with enumeration, and their evidence is accepted.

use std::collections::BTreeSet;
use std::time::Duration;

use trellis_engine::program::{Engine, check, lazy};
use trellis_expr::Value;
use trellis_expr::eval::Valuation;
use trellis_meter::Meter;
use trellis_model::cfa::interpret::{State, successors, zero, zero_of};
use trellis_syntax::diag::Sources;
use trellis_syntax::xsts::{Xsts, parse, parse_tree};

use crate::cegar::{answer, configuration};
use crate::generator::runs;

#[path = "../../../trellis-syntax/tests/xsts/generator.rs"]
mod texts;

/// With more states than this it is not enumerated.
const STATES: usize = 2_000;

/// Can the property fail? Locals are forgotten between phases: what is left in them does not matter.
fn can_fail(xsts: &Xsts, free: &[&str]) -> Option<bool> {
    let cfa = &xsts.cfa;
    let mut starts: Vec<Valuation> = vec![zero(cfa)];
    for &v in xsts.variables.iter().filter(|&&v| free.contains(&cfa.terms.variable(v).name.as_str())) {
        let values = Value::all(&cfa.terms, cfa.terms.variable(v).ty, 100)?;
        let with = |env: &Valuation, value: &Value| {
            let mut env = env.clone();
            env.insert(v, value.clone());
            env
        };
        starts = starts.iter().flat_map(|env| values.iter().map(move |value| with(env, value))).collect();
    }
    let key = |s: &State| (s.location, format!("{:?}", s.env));
    let mut seen = BTreeSet::new();
    let mut todo: Vec<State> = starts.into_iter().map(|env| State { location: cfa.initial, env }).collect();
    seen.extend(todo.iter().map(key));
    let mut fails = false;
    while let Some(state) = todo.pop() {
        if cfa.is_error(state.location) {
            fails = true;
            continue;
        }
        for (_, mut next) in successors(cfa, &state, 400).ok()? {
            if next.location == xsts.before_env || next.location == xsts.before_trans {
                for &v in cfa.variables.iter().filter(|v| !xsts.variables.contains(v)) {
                    next.env.insert(v, zero_of(&cfa.terms, cfa.terms.variable(v).ty));
                }
            }
            if seen.insert(key(&next)) {
                todo.push(next);
            }
        }
        if seen.len() > STATES {
            return fails.then_some(true);
        }
    }
    Some(fails)
}

#[test]
fn engines_agree_with_enumeration_on_random_systems() {
    let (mut known, mut decided, mut unknown, mut failing) = (0, 0, 0, 0);
    let first: u64 = std::env::var("SEED").map_or(0, |n| n.parse().expect("a number"));
    for seed in first..first + runs(100) {
        let text = texts::model(seed);
        let mut sources = Sources::default();
        let id = sources.add("random.xsts", &text);
        let (xsts, _) = parse(&sources, id, None).expect("a model");
        let file = parse_tree(&sources, id).expect("a model");
        let free: Vec<&str> = file.variables.iter().filter(|v| v.value.is_none()).map(|v| v.name).collect();
        let fails = can_fail(&xsts, &free);
        known += usize::from(fails.is_some());
        failing += usize::from(fails == Some(true));
        let n = seed as usize;
        let engines = [
            Engine::Cegar(configuration((n * 2) * 1_000_003)),
            Engine::Cegar(configuration((n * 2 + 1) * 1_000_003)),
            [Engine::Lazy(lazy::Options::default()), Engine::Bmc(Some(8)), Engine::Induction(Some(8))][n % 3],
            Engine::Explicit,
        ];
        for engine in engines {
            let who = format!("seed {seed}, {engine:?}");
            let mut budget = Meter::unlimited().time(Some(Duration::from_millis(500))).states(Some(400));
            match answer(&xsts.cfa, &check(&xsts.cfa, &engine, &mut budget), &who) {
                None => unknown += 1,
                Some(safe) => {
                    decided += 1;
                    assert!(fails.is_none_or(|fails| safe != fails), "{who}: safe {safe}\n{text}");
                }
            }
        }
    }
    println!("{known} enumerated, {failing} of them fail; {decided} answers, {unknown} unknown");
    assert!(unknown < decided, "{decided} decided, {unknown} unknown");
}
