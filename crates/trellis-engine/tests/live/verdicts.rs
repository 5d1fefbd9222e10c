//! Small models whose answers are known.

use trellis_engine::network::ClockLimit;
use trellis_engine::timed::bound::bound;
use trellis_engine::timed::live::live;
use trellis_meter::Meter;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{CertEntry, Certificate};

use crate::load::load;
use crate::{bounds, oracle, zones};

/// For each query: does a run that stays exist; and if only runs count along which time diverges?
fn check(model: &str, expected: &[(&str, bool, bool)]) {
    for &(text, any, diverging) in expected {
        let (net, queries) = load(model, text).unwrap_or_else(|e| panic!("{e}"));
        for (non_zeno, wanted) in [(false, any), (true, diverging)] {
            assert_eq!(oracle(&net, &queries[0], non_zeno), Some(wanted), "regions, {text}, non-zeno {non_zeno}");
            assert_eq!(zones(&net, &queries[0], non_zeno), Ok(wanted), "zones, {text}, non-zeno {non_zeno}");
        }
    }
}

#[test]
fn a_light_switch() {
    let model = "clock x; process P() { state off, on { x <= 5 }, bright { x <= 9 };
        init off; trans off -> on { assign x = 0; }, on -> bright { guard x >= 2; }, bright -> off { guard x > 7; }; }
        system P;";
    check(
        model,
        &[
            ("A<> P.on", true, true),
            ("P.on --> P.bright", false, false),
            ("P.on --> P.off", false, false),
            ("P.on --> (P.off || x >= 8)", false, false),
            ("P.bright --> x > 9", true, true),
            ("P.on --> P.on && x > 5", true, true),
            ("E[] not P.bright", true, true),
            ("E[] (P.off && x < 3)", false, false),
            ("E[] (P.off && x >= 0)", true, true),
            ("(P.on && x == 5) --> (P.bright && x == 5)", false, false),
            ("(P.on && x == 4) --> (P.bright && x == 5)", false, false),
            ("(P.on && x == 4) --> (P.bright && x < 5)", true, true),
            ("(P.on && x >= 2) --> (P.bright && x <= 7)", false, false),
        ],
    );
}

#[test]
fn zeno_runs_count_only_by_default() {
    // Any number of steps within one unit of time, then nothing else.
    let model = "clock x, y; process P() { state a { x <= 1 }, b; init a;
        trans a -> a { guard y >= 0; assign y = 0; }, a -> b { }; } system P;";
    check(model, &[("A<> P.b", true, false), ("E[] P.a", true, false), ("E[] P.b || P.a", true, true)]);
    // Time must pass, but less and less of it.
    let model = "clock x, y; process P() { state a { x < 1 }, b; init a;
        trans a -> a { guard y > 0; assign y = 0; }, a -> b { guard x > 0; }; } system P;";
    check(model, &[("A<> P.b", true, false)]);
    // Each round takes a unit of time, and a clock that is never set grows.
    let model = "clock x, y, z; process P() { state a { x <= 1 }, b; init a;
        trans a -> a { guard x >= 1 && z >= 3; assign x = 0; }, a -> a { guard x >= 1 && z <= 4; assign x = 0; },
        a -> b { guard z > 100; }; } system P;";
    check(model, &[("A<> P.b", true, true)]);
}

#[test]
fn fractions_that_shrink_forever() {
    // Each round the clocks come closer together, in the same region: no run returns to the same values.
    let model = "clock x, y; process P() { state s, a { x < 1 }, b { x < 1 }; init s;
        trans s -> a { guard x > 0 && x < 1; assign y = 0; },
        a -> b { guard y > 0; assign y = 0; }, b -> a { guard y > 0; assign y = 0; }; } system P;";
    check(model, &[("E[] (not P.s || x < 1)", true, false), ("P.a --> x >= 1", true, false)]);
    // If time may stop instead, that is a run.
    let model = model.replace("b { x < 1 }", "b { y < 1 }");
    check(&model, &[("E[] (not P.s || x < 1)", true, true)]);
}

#[test]
fn strict_bounds_and_dead_ends() {
    // A strict invariant that nothing happens before: the run stops there.
    let model = "clock x; process P() { state a { x < 3 }, b; init a; trans a -> b { guard x <= 2; }; } system P;";
    check(model, &[("A<> P.b", true, true), ("A<> x > 2", false, false), ("A<> (P.b && x > 2)", true, true)]);
    let model = "clock x; process P() { state a { x < 3 }, b; init a; trans a -> b { guard x > 2; }; } system P;";
    check(model, &[("A<> P.b", false, false), ("A<> x >= 3", false, false), ("E[] x < 3", false, false)]);
    let model = "clock x, y; process P() { state a, b { y <= 0 }; urgent a; init a;
        trans a -> b { guard x == 0; }; } system P;";
    check(model, &[("A<> P.b", false, false), ("E[] y <= 0", true, true), ("A<> x > 0", true, true)]);
}

#[test]
fn atoms_that_change_together() {
    let model = "clock x, y; process P() { state a { x <= 4 }, b; init a; trans a -> b { guard x == 4; }; } system P;";
    check(
        model,
        &[
            // Both reach 2 at the same moment.
            ("E[] (x < 2 && y < 2 || x >= 2 && y >= 2)", true, true),
            ("E[] (x <= 2 && y < 2 || x > 2 && y >= 2)", false, false),
            ("A<> (x == 2 && y == 2)", false, false),
            ("A<> (x > 2 && y <= 2)", true, true),
            ("A<> x - y > 0", true, true),
        ],
    );
    let model = "clock x, y; process P() { state s { x <= 1 }, a { x <= 4 }, b; init s;
        trans s -> a { guard x == 1; assign y = 0; }, a -> b { guard x == 4; }; } system P;";
    check(
        model,
        &[
            ("P.a && x < 2 --> (x == 3 && y == 2)", false, false),
            // It may be later than that already.
            ("P.a --> (x == 3 && y == 2)", true, true),
            ("P.a --> (x == 3 && y == 3)", true, true),
            ("E[] (x < 3 || y >= 2)", true, true),
            ("E[] (x <= 3 || y > 2)", true, true),
            ("E[] (x < 3 || y > 2)", false, false),
        ],
    );
}

#[test]
fn urgency() {
    let model = "clock x; urgent chan u; process P() { state a, b; init a; trans a -> b { sync u!; }; }
        process Q() { state a { x <= 2 }, b; init a; trans a -> b { guard x >= 1; }, b -> b { sync u?; }; } system P, Q;";
    check(model, &[("A<> P.b", false, false), ("Q.b --> x > 2", false, false), ("(P.a && Q.b) --> P.b", false, false)]);
    let model = "clock x; process P() { state a, b, c; commit b; init a;
        trans a -> b { guard x >= 1; }, b -> c { guard x < 2; }; } system P;";
    // In b nothing can happen when it is late, and time may not pass.
    check(model, &[("P.b --> P.c", true, true), ("(P.b && x < 2) --> P.c", false, false)]);
}

#[test]
fn infinity_is_shown_by_a_run_that_can_be_made_longer() {
    // Rounds, and on to where the clock is measured; staying, and on; staying there.
    for (model, text) in [
        (
            "clock x, y; process P() { state a { y <= 3 }, b { y <= 3 }, c { y <= 0 }; init a; trans a -> b { guard y > 1; assign y = 0; },
             b -> a { guard y >= 2; assign y = 0; }, b -> c { guard y == 3 && x > 20; assign y = 0; }; } system P;",
            "sup{P.c}: x",
        ),
        (
            "clock x, y; process P() { state a, b { y <= 3 }; init a; trans a -> b { guard y > 1; assign y = 0; }; } system P;",
            "sup{P.b && y > 2}: x",
        ),
        ("clock x[2]; int[0,1] i; process P() { state a, b; init a; trans a -> b { assign x[i] = 0; }; } system P;", "sup{P.b}: x[1]"),
    ] {
        let (net, queries) = load(model, text).unwrap_or_else(|e| panic!("{e}"));
        let answer = bound(&net, &queries[0], &mut Meter::unlimited()).unwrap_or_else(|b| panic!("{}", b.error));
        let found = answer.clock_bound.expect("a limit");
        assert_eq!(found.limit, ClockLimit { value: None, attained: false }, "{text}");
        let run = found.witness.expect("a run");
        assert!(trellis_check::replay(&net, &queries[0], &run).expect("it is a run").unbounded, "{text}");
    }
    // A run to where a clock is measured that shows nothing of the kind.
    let model = "clock x, y; process P() { state a { y <= 3 }, b { y <= 3 }; init a; trans a -> b { assign y = 0; }; } system P;";
    let (net, queries) = load(model, "sup{P.b}: x").unwrap_or_else(|e| panic!("{e}"));
    let answer = bound(&net, &queries[0], &mut Meter::unlimited()).unwrap_or_else(|b| panic!("{}", b.error));
    let run = answer.clock_bound.and_then(|b| b.witness).expect("a run");
    let replayed = trellis_check::replay(&net, &queries[0], &run).expect("it is a run");
    assert_eq!((replayed.clock, replayed.unbounded), (Some(trellis_domain::zone::Rational::new(6, 1)), false));
}

#[test]
fn limits_of_clocks() {
    let model = "clock x, y, g; process P() { state a { x <= 7 }, b { y < 3 }, c; init a;
        trans a -> b { guard x > 5; assign y = 0; }, b -> c { guard y > 1; assign x = 2; }; } system P;";
    let limit = |value, attained| Some(ClockLimit { value, attained });
    for (text, expected) in [
        ("sup{P.a}: x", limit(Some(7), true)),
        ("sup{P.b}: x", limit(Some(10), false)),
        ("sup{P.b}: g", limit(Some(10), false)),
        ("inf{P.b}: x", limit(Some(5), false)),
        ("inf{P.c}: g", limit(Some(6), false)),
        ("sup: g", limit(None, false)),
        ("sup{P.c}: x", limit(None, false)),
        ("inf{P.c}: x", limit(Some(2), true)),
        ("sup{P.c && x <= 30}: x", limit(Some(30), true)),
        ("sup{P.b && y <= 1}: x", limit(Some(8), true)),
        ("inf{P.b && x > 9}: y", limit(Some(2), false)),
        ("sup{P.b && x > 100}: y", None),
    ] {
        let (net, queries) = load(model, text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(bounds::clock(&net, &queries[0]), Ok(expected), "{text}");
    }
    // A clock that must be set within bounds it is not compared with.
    let model = "clock x, y; process P() { state a { y <= 5 }; init a; int n;
        trans a -> a { guard y == 5 && n < 3; assign y = 0, n = n + 1; }, a -> a { guard y == 5 && n == 3; assign y = 0, n = 0, x = 0; }; }
        system P;";
    let model =
        model.replace("process P() { state", "process P() { int[0,3] n; state").replace("init a; int n;", "init a;");
    for (text, expected) in [
        ("sup: x", limit(Some(20), true)),
        ("sup: y", limit(Some(5), true)),
        ("inf{P.n == 2}: x", limit(Some(10), true)),
    ] {
        let (net, queries) = load(&model, text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(bounds::clock(&net, &queries[0]), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_refused() {
    let model = "clock x; process P() { state a; init a; } system P;";
    let (net, queries) = load(model, "A<> deadlock\nsup{deadlock}: x").unwrap_or_else(|e| panic!("{e}"));
    let answer = live(&net, &queries[0], false, &mut Meter::unlimited()).unwrap_or_else(|b| panic!("{}", b.error));
    assert!(matches!(answer.verdict, Verdict::Unknown(Reason::Unsupported(_))));
    let answer = bound(&net, &queries[1], &mut Meter::unlimited()).unwrap_or_else(|b| panic!("{}", b.error));
    assert!(matches!(answer.verdict, Verdict::Unknown(Reason::Unsupported(_))));
}

#[test]
fn certificates_that_prove_nothing() {
    let model = "clock x; process P() { state a { x <= 5 }, b; init a;
        trans a -> a { guard x >= 1; assign x = 0; }, a -> b { }; } system P;";
    let (net, queries) = load(model, "A<> P.b").unwrap_or_else(|e| panic!("{e}"));
    let state = trellis_model::network::interpret::Interpreter::new(&net).initial().unwrap();
    let state = trellis_model::network::Snapshot { clocks: Vec::new(), ..state };
    // There is a cycle: no ranks will do.
    for rank in [None, Some(0), Some(7)] {
        let entry = CertEntry { rank, ..CertEntry::of(state.clone()) };
        let cert = Certificate { entries: vec![entry].into(), up_to_order: false, up_to_symmetry: false };
        assert!(trellis_check::certify(&net, &queries[0], &cert).is_err());
        assert!(trellis_check::certify_non_zeno(&net, &queries[0], &cert).is_err());
    }
}

#[test]
fn every_part_of_a_certificate_is_needed() {
    let model = "clock x, y; process P() { state a { x <= 2 }, b { y <= 3 }, c; init a;
        trans a -> b { guard x > 1; assign y = 0; }, b -> c { guard y >= 1; }, b -> b { guard y < 1 && x < 3; }; } system P;";
    for (text, non_zeno) in [("A<> P.c", true), ("P.a --> y >= 3 || P.c", true), ("P.a --> P.b", false)] {
        let (net, queries) = load(model, text).unwrap_or_else(|e| panic!("{e}"));
        let answer =
            live(&net, &queries[0], non_zeno, &mut Meter::unlimited()).unwrap_or_else(|b| panic!("{}", b.error));
        let Verdict::Safe(cert) = answer.verdict else { panic!("{text} holds") };
        let check = if non_zeno { trellis_check::certify_non_zeno } else { trellis_check::certify };
        assert!(check(&net, &queries[0], &cert).is_ok());
        let mut needed = 0;
        for i in 0..cert.entries.len() {
            let mut fewer = cert.clone();
            fewer.entries.remove(i);
            needed += usize::from(check(&net, &queries[0], &fewer).is_err());
            let mut unranked = cert.clone();
            unranked.entries[i].rank = None;
            needed += usize::from(cert.entries[i].rank.is_some() && check(&net, &queries[0], &unranked).is_err());
        }
        assert!(needed >= 2, "{text}: {needed} of {}", cert.entries.len());
    }
}
