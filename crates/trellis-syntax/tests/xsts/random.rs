//! Random models: after each of init, env, trans, env, … the automaton is in the states in which [`crate::reference`] is, and the
//! property fails in the same ones.
//!
//! `TRELLIS_RUNS=n` tries so many models, `TRELLIS_SEED=n` one of them, and prints it.

use std::collections::BTreeSet;

use trellis_expr::Value;
use trellis_model::cfa::interpret::zero_of;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::xsts::{Xsts, parse, parse_tree};

use crate::generator::{Random, model};
use crate::reference::{Reference, State};
use crate::run::{States, fails, key, phase, start};

/// A set may lead from one state to so many; more are not looked at.
const LIMIT: usize = 400;
/// With so many states a test goes on.
const STATES: usize = 12;

/// Other values in the local variables: what is left in them must not matter.
fn muddle(xsts: &Xsts, states: &mut States, r: &mut Random) {
    let terms = &xsts.cfa.terms;
    for env in states.values_mut() {
        for &v in xsts.cfa.variables.iter().filter(|v| !xsts.variables.contains(v)) {
            let ty = terms.variable(v).ty;
            let value = match Value::all(terms, ty, 50) {
                Some(mut all) => all.swap_remove(r.below(all.len())),
                None => zero_of(terms, ty),
            };
            env.insert(v, value);
        }
    }
}

/// How many phases were compared.
fn compare(seed: u64, show: bool) -> usize {
    let text = model(seed);
    if show {
        println!("{text}");
    }
    let mut sources = Sources::default();
    let id = sources.add("random.xsts", &text);
    let (xsts, _) = match parse(&sources, id, None) {
        Ok(read) => read,
        Err(d) => panic!("seed {seed}: {}\n{text}", render(&d, &sources, false)),
    };
    let file = parse_tree(&sources, id).expect("a model");
    let reference = Reference { file: &file };
    let property = file.prop.as_ref().expect("a property");
    let mut r = Random(seed | 1);

    let free: Vec<&str> = file.variables.iter().filter(|v| v.value.is_none()).map(|v| v.name).collect();
    let mut ours = start(&xsts, &free);
    let mut theirs: Vec<State> = reference.start();
    let mut from = xsts.cfa.initial;
    let (a, b) = (xsts.before_env, xsts.before_trans);
    let sets = [&file.init, &file.env, &file.trans, &file.env, &file.trans, &file.env];
    for (n, set) in sets.into_iter().enumerate() {
        muddle(&xsts, &mut ours, &mut r);
        let Some(next) = phase(&xsts, from, &ours, LIMIT) else { return n };
        let after: BTreeSet<State> = theirs.iter().flat_map(|s| reference.set(set, s)).collect();
        theirs = after.into_iter().collect();
        let keys: BTreeSet<String> = theirs.iter().map(|s| reference.key(s)).collect();
        assert_eq!(next.keys().cloned().collect::<BTreeSet<_>>(), keys, "seed {seed}, phase {n}\n{text}");
        from = if n % 2 == 0 { a } else { b };
        for state in &theirs {
            let env = &next[&reference.key(state)];
            let holds = reference.holds(property, state) == Some(true);
            assert_eq!(fails(&xsts, from, env), !holds, "seed {seed}, phase {n}, {}\n{text}", key(&xsts, env));
        }
        if next.is_empty() {
            return n;
        }
        // Some of the states, the same on both sides, and one of those that look alike.
        ours = States::new();
        let mut kept = vec![];
        for (key, env) in next {
            if ours.len() < STATES && r.one_in(2) || ours.is_empty() {
                kept.extend(theirs.iter().find(|s| reference.key(s) == key).cloned());
                ours.insert(key, env);
            }
        }
        theirs = kept;
    }
    6
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|v| v.parse().ok())
}

#[test]
fn the_automaton_does_what_the_text_says() {
    if let Some(seed) = number("TRELLIS_SEED") {
        compare(seed, true);
        return;
    }
    let count = number("TRELLIS_RUNS").unwrap_or(80);
    let mut phases = [0; 7];
    for seed in 1..=count {
        phases[compare(seed, false)] += 1;
    }
    println!("{count} models; so many for 0 to 6 phases: {phases:?}");
    assert!(phases[6] * 4 > count, "too few were compared to the end: {phases:?}");
}
