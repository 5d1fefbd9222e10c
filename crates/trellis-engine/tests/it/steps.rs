//! The fast step relation against the reference interpreter, state by state.

use std::ops::ControlFlow;

use trellis_model::network::{ModelError, Network, Post, Query, QueryKind, Snapshot};
use trellis_order::Word;

use crate::automata::{Flavour, generate};
use crate::load::load;
use crate::oracle::Oracle;
use crate::random::for_seeds;

/// How many steps there are according to `Post`, and the listed ones: those that lead away.
pub fn fast(post: &mut Post<'_>, s: &Snapshot) -> Result<(usize, Vec<(usize, Snapshot)>), ModelError> {
    let net = post.network();
    let layout = post.layout.clone();
    let mut listed = Vec::new();
    let count = post.successors(&layout.key_of(s), &s.element, &mut |ordinal, k: &[Word], e: &[Word]| {
        listed.push((ordinal as usize, layout.snapshot(net, k, e)));
        ControlFlow::Continue(())
    })?;
    Ok((count as usize, listed))
}

/// Compares all that `Post` and the interpreter say about the steps of one state.
pub fn compare_steps(post: &mut Post<'_>, oracle: &Oracle<'_>, s: &Snapshot) -> Result<(), String> {
    let (slow, (count, listed)) = match (oracle.interpreter.steps(s), fast(post, s)) {
        (Err(_), Err(_)) => return Ok(()),
        (Ok(slow), Ok(fast)) => (slow, fast),
        (Err(e), Ok(_)) => return Err(format!("only the interpreter faults: {e} in {s:?}")),
        (Ok(_), Err(e)) => return Err(format!("only `Post` faults: {e} in {s:?}")),
    };
    if count != slow.len() {
        return Err(format!("{} steps by the interpreter, {count} by `Post`, in {s:?}", slow.len()));
    }
    let away = slow.iter().enumerate().filter(|(_, (_, next))| next != s);
    let expected: Vec<(usize, Snapshot)> = away.map(|(i, (_, next))| (i, next.clone())).collect();
    if expected != listed {
        return Err(format!("in {s:?}\n  interpreter: {expected:?}\n  Post: {listed:?}"));
    }
    let net = post.network();
    let layout = post.layout.clone();
    let key = layout.key_of(s);
    for (i, (action, next)) in slow.iter().enumerate() {
        let by_number = post.step(&key, &s.element, i as u32);
        let by_number = by_number.ok().flatten().map(|(a, (k, e))| (a, layout.snapshot(net, &k, &e)));
        if by_number.as_ref() != Some(&(action.clone(), next.clone())) {
            return Err(format!("step {i} of {s:?} is {action:?} to {next:?}, by number {by_number:?}"));
        }
        let taken = post.take(&key, &s.element, action);
        let taken = taken.ok().flatten().map(|(k, e)| layout.snapshot(net, &k, &e));
        if taken.as_ref() != Some(next) {
            return Err(format!("{action:?} leads from {s:?} to {next:?}, taken to {taken:?}"));
        }
    }
    if post.has_successor(&key, &s.element).ok() == Some(slow.is_empty()) {
        return Err(format!("{} steps in {s:?}, but `has_successor` says otherwise", slow.len()));
    }
    let (slow, fast) = (oracle.interpreter.may_idle(s), post.may_idle(&key, &s.element));
    if slow.as_ref().ok() != fast.as_ref().ok() {
        return Err(format!("may_idle: {slow:?} by the interpreter, {fast:?} by `Post`, in {s:?}"));
    }
    Ok(())
}

/// Compares the values of a query's conditions in one state.
fn compare_query(post: &mut Post<'_>, oracle: &Oracle<'_>, q: &Query, s: &Snapshot) -> Result<(), String> {
    let conditions = match q.kind {
        QueryKind::Always(p) | QueryKind::Possibly(p) | QueryKind::Eventually(p) | QueryKind::PotentiallyAlways(p) => {
            vec![p]
        }
        QueryKind::LeadsTo(p, q) => vec![p, q],
        QueryKind::ClockBound { .. } => unreachable!("these models have no clocks"),
        QueryKind::Bound { when, of, .. } => vec![when, of],
    };
    for c in conditions {
        let slow = oracle.interpreter.number(&c, q.deadlock, s);
        if slow.is_err() && q.deadlock && oracle.interpreter.steps(s).is_err() {
            // `Post` looks for one step only, and may find it before it meets the fault.
            continue;
        }
        let judge = post.compile(c, q.deadlock);
        let fast = post.judge(&judge, &post.layout.key_of(s), &s.element);
        if slow.as_ref().ok() != fast.as_ref().ok() {
            return Err(format!("{}: {slow:?} by the interpreter, {fast:?} by `Post`, in {s:?}", q.text));
        }
    }
    Ok(())
}

/// Compares `Post` with the interpreter in every state that the oracle has found.
pub fn compare_all(net: &Network, queries: &[Query], oracle: &Oracle<'_>) -> Result<(), String> {
    let mut post = Post::new(net);
    let slow = oracle.interpreter.initial();
    let fast = post.initial().map(|(k, e)| post.layout.snapshot(net, &k, &e));
    if slow.as_ref().ok() != fast.as_ref().ok() {
        return Err(format!("initially {slow:?} by the interpreter, {fast:?} by `Post`"));
    }
    for s in &oracle.states {
        let key = post.layout.key_of(s);
        if post.layout.snapshot(net, &key, &s.element) != *s {
            return Err(format!("packing loses something of {s:?}"));
        }
        compare_steps(&mut post, oracle, s)?;
        for q in queries {
            compare_query(&mut post, oracle, q, s)?;
        }
    }
    Ok(())
}

/// Larger models are skipped.
const LIMIT: usize = 400;

fn wild(first: u64, count: u64) {
    let (mut states, mut faults, mut skipped) = (0, 0, 0);
    for_seeds(
        first,
        count,
        |seed| generate(seed, Flavour::Wild).shown(),
        |seed| {
            let model = generate(seed, Flavour::Wild);
            let (net, queries) = load(&model.text, &model.queries())?;
            match Oracle::explore(&net, LIMIT) {
                Some(oracle) => {
                    states += oracle.states.len();
                    faults += u64::from(oracle.fault.is_some());
                    compare_all(&net, &queries, &oracle)
                }
                None => {
                    skipped += 1;
                    Ok(())
                }
            }
        },
    );
    println!("{count} models, {states} states, {faults} models with faults, {skipped} too large");
}

#[test]
fn wild_models_step_alike_1() {
    wild(1_000_000, 1000);
}

#[test]
fn wild_models_step_alike_2() {
    wild(1_100_000, 1000);
}
