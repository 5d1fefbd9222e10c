//! Runs of models with clocks: exact delays, and what holds while time passes.

use std::ops::ControlFlow;

use trellis_check::{Cause, End, Rejection, replay};
use trellis_domain::zone::Rational;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Network, QueryKind, Snapshot, Step, Trace};

use crate::build::{E, Net};
use crate::random::{Flavour, Random, network};

fn r(n: i64, d: i64) -> Rational {
    Rational::new(n, d)
}

/// Waits and takes the first step there is, again and again.
fn run(net: &Network, delays: &[Rational]) -> Trace {
    let it = Interpreter::new(net);
    let mut trace = Trace::at(it.initial().unwrap());
    for &delay in delays {
        let later = it.wait(trace.last(), delay).unwrap().expect("time may pass");
        let (action, state) = it.steps(&later).unwrap().remove(0);
        trace.steps.push(Step { delay, action, state });
    }
    trace
}

/// Work takes 2 to 3, and a break is due before 7 since the last one.
fn worker() -> (Net, usize) {
    let mut b = Net::new(&["x", "y"]);
    let p = b.process("P", &["idle", "work: x <= 3 && y < 7", "rest", "late"]);
    b.edge(p, "idle", "work", E { guard: "x > 0", set: "x = 0, y = 0", ..E::default() });
    b.edge(p, "work", "rest", E { guard: "x >= 2", ..E::default() });
    b.edge(p, "work", "work", E { guard: "x > 2", set: "x = 0", ..E::default() });
    b.edge(p, "rest", "idle", E { guard: "x < 5", set: "y = x, x = 0", ..E::default() });
    b.edge(p, "work", "late", E { guard: "y > 7", ..E::default() });
    (b, p)
}

fn why(r: Result<impl std::fmt::Debug, Rejection>) -> Cause {
    r.unwrap_err().why
}

#[test]
fn a_run_with_delays() {
    let (mut b, p) = worker();
    let (rest, clock) = (b.at(p, "rest"), b.clock("x > 3 && x - y == 0"));
    let both = b.net.terms.and([rest, clock]);
    let query = b.possibly(both);
    let mut trace = run(&b.net, &[r(1, 2), r(7, 3)]);
    assert!(matches!(why(replay(&b.net, &query, &trace)), Cause::Condition(_)), "not yet");
    trace.rest = r(1, 1);
    assert_eq!(trace.last().clocks, [r(7, 3); 2]);
    assert_eq!(replay(&b.net, &query, &trace).unwrap().end, End::Target);

    let damaged = |damage: &dyn Fn(&mut Trace)| {
        let mut t = trace.clone();
        damage(&mut t);
        why(replay(&b.net, &query, &t))
    };
    assert!(matches!(damaged(&|t| t.rest = r(2, 3)), Cause::Condition(_)));
    assert!(matches!(damaged(&|t| t.rest = r(-1, 3)), Cause::CannotWait(_)));
    assert!(matches!(damaged(&|t| t.steps[0].delay = Rational::ZERO), Cause::NotAStep));
    assert!(matches!(damaged(&|t| t.steps[1].delay = r(5, 2)), Cause::LeadsElsewhere));
    assert!(matches!(damaged(&|t| t.steps[1].delay = r(1, 1)), Cause::NotAStep));
    assert!(matches!(damaged(&|t| t.steps[1].delay = r(10, 3)), Cause::CannotWait(_)));
    assert!(matches!(damaged(&|t| t.steps[1].delay = r(i64::MAX, 2)), Cause::Model(_)));
    assert!(matches!(damaged(&|t| t.steps[1].state.clocks[0] = r(2, 1)), Cause::LeadsElsewhere));
    assert!(matches!(damaged(&|t| t.steps[0].state.clocks[1] = r(1, 2)), Cause::LeadsElsewhere));
    assert!(matches!(damaged(&|t| t.initial.clocks[1] = r(1, 2)), Cause::NotInitial));
    assert!(matches!(damaged(&|t| t.initial.clocks.clear()), Cause::Malformed(_)));
    assert!(matches!(damaged(&|t| t.steps[1].state.clocks.push(r(1, 1))), Cause::Malformed(_)));
    assert!(matches!(damaged(&|t| t.steps[1].state.clocks[0] = r(-1, 1)), Cause::Malformed(_)));
    assert!(matches!(damaged(&|t| t.steps[1].state.clocks[0] = r(1, i64::MAX)), Cause::Malformed(_)));
}

#[test]
fn what_holds_all_along_holds_while_time_passes() {
    let (mut b, p) = worker();
    let stays = |b: &mut Net, p, trace: &Trace| {
        let c = b.condition(p);
        let query = b.query(QueryKind::PotentiallyAlways(c));
        replay(&b.net, &query, trace)
    };
    // Idle forever.
    let here = Trace::at(Interpreter::new(&b.net).initial().unwrap());
    let idle = b.at(p, "idle");
    assert_eq!(stays(&mut b, idle, &here).unwrap().end, End::Idle);
    let soon = b.clock("x <= 40");
    assert!(matches!(why(stays(&mut b, soon, &here)), Cause::Condition(_)));
    // In the middle of a delay, for a moment only.
    let trace = run(&b.net, &[r(3, 2), r(2, 1)]);
    let one = b.clock("x == 1");
    let not = b.net.terms.not(one);
    assert!(matches!(why(stays(&mut b, not, &trace)), Cause::Condition(_)));
    // Time stops in `rest` only for those who wait too long; then nothing happens anymore.
    let early = b.clock("x >= 0");
    assert_eq!(stays(&mut b, early, &trace).unwrap().end, End::Idle);
    // But not in `work`, where something can and must be done.
    let trace = run(&b.net, &[r(1, 1)]);
    let early = b.clock("x >= 0");
    assert!(matches!(why(stays(&mut b, early, &trace)), Cause::NotMaximal));
}

#[test]
fn circles_return_exactly() {
    let (mut b, p) = worker();
    let (work, late) = (b.at(p, "work"), b.at(p, "late"));
    let (work, late) = (b.condition(work), b.condition(late));
    let query = b.query(QueryKind::LeadsTo(work, late));
    let mut trace = run(&b.net, &[r(1, 2), r(2, 1), r(1, 1), r(1, 2), r(2, 1), r(1, 1)]);
    trace.back_to = Some(3);
    assert_eq!(replay(&b.net, &query, &trace).unwrap().end, End::Circle(3));
    let mut other = run(&b.net, &[r(1, 2), r(2, 1), r(1, 1), r(1, 2), r(2, 1), r(1, 2)]);
    other.back_to = Some(3);
    assert!(matches!(why(replay(&b.net, &query, &other)), Cause::NotACircle));
    trace.rest = r(1, 2);
    assert!(matches!(why(replay(&b.net, &query, &trace)), Cause::NotACircle));
    // An answer in the middle of a delay is an answer.
    let (work, soon) = (b.at(p, "work"), b.clock("x > 2 && x < 3"));
    let (work, soon) = (b.condition(work), b.condition(soon));
    let query = b.query(QueryKind::LeadsTo(work, soon));
    trace.rest = Rational::ZERO;
    assert!(matches!(why(replay(&b.net, &query, &trace)), Cause::Condition(_)));
}

#[test]
fn timelocks_end_runs() {
    let mut b = Net::new(&["x"]);
    let p = b.process("P", &["a: x < 3", "b"]);
    b.edge(p, "a", "b", E { guard: "x < 2", ..E::default() });
    let there = b.at(p, "b");
    let c = b.condition(there);
    let query = b.query(QueryKind::Eventually(c));
    let mut trace = Trace::at(Interpreter::new(&b.net).initial().unwrap());
    assert!(matches!(why(replay(&b.net, &query, &trace)), Cause::NotMaximal));
    trace.rest = r(2, 1);
    assert_eq!(replay(&b.net, &query, &trace).unwrap().end, End::Deadlock);
    trace.rest = r(3, 1);
    assert!(matches!(why(replay(&b.net, &query, &trace)), Cause::CannotWait(_)));
}

#[test]
fn a_clock_is_measured() {
    let (mut b, p) = worker();
    let rest = b.at(p, "rest");
    let when = b.condition(rest);
    let query = b.query(QueryKind::ClockBound { sup: true, when, clock: 1 });
    let mut trace = run(&b.net, &[r(1, 2), r(5, 2)]);
    trace.rest = r(1, 3);
    assert_eq!(replay(&b.net, &query, &trace).unwrap().clock, Some(r(17, 6)));
}

/// Random walks: every condition that holds somewhere on the way is shown by the run up to there, and by no other.
#[test]
fn random_runs() {
    let mut shown = [0; 2];
    for seed in 0..400 {
        let flavour = Flavour { differences: true, copies: true, deadlock: seed % 4 == 1 };
        let (b, query) = network(seed, flavour);
        let QueryKind::Possibly(c) = query.kind else { unreachable!() };
        let it = Interpreter::new(&b.net);
        let Ok(initial) = it.initial() else { continue };
        let mut random = Random::new(seed + 5);
        let mut trace = Trace::at(initial);
        for _ in 0..6 {
            // Some moment at which there is a step.
            let mut moments: Vec<(Rational, Snapshot)> = Vec::new();
            let found = it.moments(trace.last(), None, &mut |m| {
                moments.push((m.delay, m.state.clone()));
                m.interpreter.steps(m.state)?;
                Ok(ControlFlow::Continue(()))
            });
            if found.is_err() {
                break;
            }
            for (delay, then) in &moments {
                let Ok(holds) = it.holds_in(&query, &c, then) else { continue };
                let t = Trace { rest: *delay, ..trace.clone() };
                assert_eq!(replay(&b.net, &query, &t).is_ok(), holds, "seed {seed}: {t:?}");
                shown[usize::from(holds)] += 1;
            }
            let (delay, then) = moments.swap_remove(random.below(moments.len()));
            let Ok(mut steps) = it.steps(&then) else { break };
            if steps.is_empty() {
                continue;
            }
            let (action, state) = steps.swap_remove(random.below(steps.len()));
            trace.steps.push(Step { delay, action, state });
        }
    }
    assert!(shown.iter().all(|&n| n > 100), "{shown:?}");
}
