//! Runs: what can happen, and how it goes on.

use trellis_check::{Cause, Claimed, End, Rejection, Replayed, replay, replay_bound};
use trellis_engine::reach::Update;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Step, Trace};

use crate::models::{Asked, COUNTDOWN, POOL, REQUEST, ask};

fn check(asked: &Asked, trace: &Trace) -> Result<Replayed, Rejection> {
    replay(&asked.net, &asked.query, trace)
}

fn why(asked: &Asked, trace: &Trace) -> Cause {
    check(asked, trace).expect_err("accepted").why
}

/// The run that takes, in each state, the step of this number.
fn walk(asked: &Asked, choices: &[usize]) -> Trace {
    let interpreter = Interpreter::new(&asked.net);
    let initial = interpreter.initial().unwrap();
    let mut trace = Trace::at(initial);
    for &c in choices {
        let (action, state) = interpreter.steps(trace.last()).unwrap().swap_remove(c);
        trace.steps.push(Step::at_once(action, state));
    }
    trace
}

#[test]
fn what_the_engines_find_is_accepted_and_no_step_can_be_left_out() {
    for query in ["A[] n < 2", "E<> n == 2 && taken[2] == 0", "E<> User.busy && n == 2 && taken[0] == 0"] {
        let asked = ask(POOL, query);
        for update in [Update::Simple, Update::Cover, Update::Join] {
            let trace = asked.trace(update);
            let replayed = check(&asked, &trace).unwrap();
            assert_eq!((replayed.end, replayed.states), (End::Target, trace.steps.len() + 1));
            assert!(trace.steps.len() >= 3);
            for i in 0..trace.steps.len() {
                let mut cut = trace.clone();
                cut.steps.remove(i);
                let why = why(&asked, &cut);
                assert!(matches!(why, Cause::NotAStep | Cause::LeadsElsewhere | Cause::Condition(_)), "{why}");
            }
        }
    }
}

#[test]
fn every_value_counts() {
    let asked = ask(POOL, "A[] n < 2");
    let trace = asked.trace(Update::Simple);
    for i in 0..=trace.steps.len() {
        for change in 0..4 {
            let mut t = trace.clone();
            let s = if i == 0 { &mut t.initial } else { &mut t.steps[i - 1].state };
            match change {
                0 => s.data[0] = (s.data[0] + 1) % 4,
                1 => s.data[1] = 1 - s.data[1],
                2 => s.locations[0] = (s.locations[0] + 1) % 3,
                _ => s.element[0] ^= 4,
            }
            let expected = if i == 0 { Cause::NotInitial } else { Cause::LeadsElsewhere };
            assert_eq!(why(&asked, &t), expected);
        }
        if i > 0 {
            let mut t = trace.clone();
            t.steps[i - 1].action.0[0].edge += 1;
            check(&asked, &t).expect_err("another edge");
            t.steps[i - 1].action.0[0].edge = u32::MAX;
            assert_eq!(why(&asked, &t), Cause::NotAStep);
            t.steps[i - 1].action.0.clear();
            assert_eq!(why(&asked, &t), Cause::NotAStep);
        }
    }
    let text = {
        let mut t = trace.clone();
        t.steps[1].state.data[0] = 3;
        check(&asked, &t).unwrap_err().to_string()
    };
    assert!(text.contains("User.busy") && text.contains("n = 1") && text.contains("busy -> idle"), "{text}");
}

#[test]
fn the_end_must_be_what_was_asked_for() {
    let asked = ask(POOL, "A[] n < 2");
    let mut trace = asked.trace(Update::Simple);
    trace.steps.pop();
    assert!(matches!(why(&asked, &trace), Cause::Condition(_)));
    let mut circle = asked.trace(Update::Simple);
    circle.back_to = Some(0);
    assert_eq!(why(&asked, &circle), Cause::NotACircle);
}

#[test]
fn maximal_runs() {
    // `done` may idle, `run` may not.
    let asked = ask(COUNTDOWN, "A<> P.lost");
    let trace = asked.trace(Update::Simple);
    assert_eq!(check(&asked, &trace).unwrap().end, End::Idle);
    assert_eq!(why(&asked, &walk(&asked, &[0])), Cause::NotMaximal);
    // Round and round in `done`, which is as good as idling.
    let mut round = walk(&asked, &[1, 0, 0, 0]);
    round.back_to = Some(round.steps.len() - 1);
    assert_eq!(check(&asked, &round).unwrap().end, End::Circle(3));
    round.back_to = Some(round.steps.len() - 2);
    assert_eq!(why(&asked, &round), Cause::NotACircle);
    round.back_to = Some(round.steps.len());
    assert_eq!(why(&asked, &round), Cause::NotACircle);
    round.back_to = Some(usize::MAX);
    assert_eq!(why(&asked, &round), Cause::NotACircle);
    // A run that meets p is no counterexample to A<> p.
    let asked = ask(COUNTDOWN, "A<> P.done");
    assert!(matches!(why(&asked, &trace), Cause::Condition(_)));
    // E[]: the run must stay.
    let asked = ask(COUNTDOWN, "E[] n >= 0");
    assert_eq!(check(&asked, &asked.trace(Update::Simple)).unwrap().end, End::Idle);
    let asked = ask(COUNTDOWN, "E[] n > 0");
    assert!(matches!(why(&asked, &trace), Cause::Condition(_)));
}

#[test]
fn deadlocks_end_runs_even_where_time_may_not_pass() {
    let model = "process P() { state a, b; urgent a, b; init a; trans a -> b { }; } system P;";
    let asked = ask(model, "A<> false");
    let trace = asked.trace(Update::Simple);
    assert_eq!(
        check(&asked, &trace).unwrap(),
        Replayed { states: 2, end: End::Deadlock, value: None, clock: None, unbounded: false }
    );
    let asked = ask(model, "E<> deadlock");
    assert_eq!(check(&asked, &asked.trace(Update::Simple)).unwrap().end, End::Target);
    assert!(matches!(why(&asked, &walk(&asked, &[])), Cause::Condition(_)));
}

#[test]
fn leads_to() {
    let asked = ask(REQUEST, "k == 2 --> Server.more && k == 0");
    // With k == 2: work, more, work, more (k == 0): answered. Then idle, and nothing is asked any more.
    let trace = walk(&asked, &[2, 0, 0, 0, 0, 0, 0]);
    let _ = check(&asked, &trace).expect_err("answered");

    let asked = ask(REQUEST, "Server.work --> k == 2");
    // k = 0: work, reply, idle, and idling there.
    let trace = walk(&asked, &[0, 0, 0]);
    assert_eq!(check(&asked, &trace).unwrap().end, End::Idle);
    // Not if it must go on.
    assert_eq!(why(&asked, &walk(&asked, &[0, 0])), Cause::NotMaximal);
    // Not without the request.
    assert!(matches!(why(&asked, &walk(&asked, &[])), Cause::Condition(_)));
    // A circle: work (k = 0), reply, idle, work (k = 0) ...
    let mut circle = walk(&asked, &[0, 0, 0, 0]);
    circle.back_to = Some(1);
    assert_eq!(check(&asked, &circle).unwrap().end, End::Circle(1));
    // A circle with an answer on it, before the last request.
    let mut circle = walk(&asked, &[0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    circle.back_to = Some(1);
    assert_eq!(circle.last(), &circle.steps[0].state);
    assert!(matches!(why(&asked, &circle), Cause::Condition(_)));
    // And an engine's.
    assert!(check(&asked, &asked.trace(Update::Simple)).is_ok());
}

#[test]
fn bounds_are_reached() {
    let asked = ask(POOL, "sup: n");
    let trace = {
        let target = ask(POOL, "E<> n == 2");
        target.trace(Update::Simple)
    };
    assert_eq!(check(&asked, &trace).unwrap().value, Some(2));
    assert!(replay_bound(&asked.net, &asked.query, &trace, 2).is_ok());
    let wrong = replay_bound(&asked.net, &asked.query, &trace, 3).unwrap_err();
    assert_eq!(wrong.why, Cause::Value { found: 2, claimed: Claimed::Exactly(3) });
    let unmeasured = ask(POOL, "sup{User.full}: n");
    assert!(matches!(why(&unmeasured, &trace), Cause::Condition(_)));
    let other = ask(POOL, "E<> n == 2");
    let beside = replay_bound(&other.net, &other.query, &trace, 2).unwrap_err();
    assert!(matches!(beside.why, Cause::BesideThePoint(_)));
}

#[test]
fn priorities_and_commitment_bind_traces_too() {
    let model = "
        chan a, b;
        chan priority a < b;
        int[0,2] n;
        process P() { state s, t; init s; trans s -> t { sync a!; }, s -> t { guard n == 1; sync b!; assign n = 2; }; }
        process Q() { state s; init s; trans s -> s { sync a?; assign n = 1; }, s -> s { sync b?; }; }
        process R() { state s, t; commit t; init s; trans s -> t { assign n = 1; }, t -> s { }; }
        system P, Q, R;";
    let asked = ask(model, "E<> P.t && n == 1 && R.s");
    let trace = asked.trace(Update::Simple);
    check(&asked, &trace).unwrap();
    // In R.t nothing but R may move; in n == 1 nothing over `a` may happen, for `b` comes first.
    let mut wrong = walk(&asked, &[1]);
    let early = walk(&asked, &[0]).steps.remove(0);
    assert_eq!(wrong.steps[0].action.0[0].process, 2);
    wrong.steps.push(early.clone());
    assert_eq!(why(&asked, &wrong), Cause::NotAStep);
    let mut wrong = walk(&asked, &[1, 0]);
    wrong.steps.push(early);
    assert_eq!(why(&asked, &wrong), Cause::NotAStep);
}
