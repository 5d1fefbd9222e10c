//! Zone-free moves against the interpreter, at a point of every region.
//!
//! A move is enabled at a valuation if its guard holds there and the target's invariant holds after the resets; what it
//! leads to, and where time may pass, must be what the interpreter says.

use trellis_domain::zone::{Constraint, Rational};
use trellis_model::network::interpret::timed::difference;
use trellis_model::network::region::Regions;
use trellis_model::network::{Action, Network, Post, SetClock, Snapshot, Transition, Transitions};

fn satisfies(clocks: &[Rational], all: &[Constraint]) -> bool {
    let value = |c: u32| if c == 0 { Rational::ZERO } else { clocks[c as usize - 1] };
    all.iter().all(|c| {
        let d = difference(value(c.left), value(c.right)).expect("a difference of clocks");
        c.bound.admits(d.numerator(), d.denominator())
    })
}

/// Compares what `Post` and the interpreter say in at most so many states, spread over all.
pub fn compare(net: &Network, regions: &Regions<'_>, most: usize) -> Result<(), String> {
    let it = regions.interpreter;
    let (mut post, mut moves, mut invariant) = (Post::new(net), Transitions::default(), Vec::new());
    let stride = (regions.states.len() / most).max(1);
    for i in (0..regions.states.len()).step_by(stride) {
        let s = &regions.states[i];
        let key = post.layout.key_of(s);
        let fast = post.moves(&key, &mut moves);
        // A fault that clock guards forbid is none.
        let happens = |m: &Transition<'_>| m.fault.is_some() && satisfies(&s.clocks, m.guard);
        let fast = fast.and_then(|()| moves.iter().find(happens).and_then(|m| m.fault.cloned()).map_or(Ok(()), Err));
        let slow = it.steps(s);
        let slow = match (slow, fast) {
            (Err(_), Err(_)) => continue,
            (Ok(slow), Ok(())) => slow,
            (Err(e), Ok(())) => return Err(format!("only the interpreter faults: {e} in {s:?}")),
            (Ok(_), Err(e)) => return Err(format!("only `Post` faults: {e} in {s:?}")),
        };
        let mut fast: Vec<(Action, Snapshot)> = Vec::new();
        let mut delays = Vec::new();
        for m in moves.iter().filter(|m| m.fault.is_none() && satisfies(&s.clocks, m.guard)) {
            let mut clocks = s.clocks.clone();
            for r in m.resets {
                match *r {
                    SetClock::Value { clock, value } => clocks[clock as usize - 1] = Rational::new(value.into(), 1),
                    SetClock::Copy { clock, from } => clocks[clock as usize - 1] = clocks[from as usize - 1],
                }
            }
            let next = Snapshot { clocks, ..post.layout.snapshot(net, m.key, &[]) };
            // A broadcast that leaves others behind for several reasons is several moves, but one step.
            let step = (Action(m.action.to_vec()), next);
            if satisfies(&step.1.clocks, m.invariant) && !fast.contains(&step) {
                delays.push(m.delay);
                fast.push(step);
            }
        }
        // Two vectors may move the same edges.
        let mut distinct: Vec<(Action, Snapshot)> = Vec::new();
        slow.into_iter().for_each(|s| {
            if !distinct.contains(&s) {
                distinct.push(s)
            }
        });
        let slow = distinct;
        if fast != slow {
            return Err(format!("in {s:?}\n  interpreter: {slow:?}\n  Post: {fast:?}"));
        }
        for ((_, next), delay) in slow.iter().zip(delays) {
            let key = post.layout.key_of(next);
            if post.timing(&key, &mut invariant).is_ok_and(|d| d != delay) {
                return Err(format!("`delay` of a move to {next:?} is {delay}, of its target not"));
            }
        }
        let (delay, slowly) = match (post.timing(&key, &mut invariant), it.may_idle(s)) {
            (Ok(fast), Ok(slow)) => (fast, slow),
            (Err(_), Err(_)) => continue,
            (fast, slow) => return Err(format!("delay: {slow:?} by the interpreter, {fast:?} by `Post`, in {s:?}")),
        };
        if !satisfies(&s.clocks, &invariant) {
            return Err(format!("the invariant does not hold in {s:?}"));
        }
        let idle = delay && !invariant.iter().any(|c| c.right == 0 && c.left != 0);
        if idle != slowly {
            return Err(format!("`may_idle` is not {idle} in {s:?}"));
        }
        if let Some(wait) = regions.waits[i]
            && (!delay || !satisfies(&regions.states[wait.to].clocks, &invariant))
        {
            return Err(format!("time may not pass in {s:?}"));
        }
    }
    Ok(())
}
