//! What random models found, by name, and made small by hand.

use trellis_engine::timed::answer::{Clocks, Config, Data, Engine, answer};
use trellis_engine::timed::lazy;
use trellis_engine::waitlist::Order;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_syntax::tchecker;

use crate::load::load;
use crate::model::load_tchecker;
use crate::verdicts::{Count, check_network};

/// All ways agree with the region graph, whatever the order; and this is what the region graph says.
fn check(model: &str, queries: &[(&str, bool)]) {
    let text: String = queries.iter().map(|(q, _)| format!("{q}\n")).collect();
    let load = if tchecker::looks_like(model) { load_tchecker } else { load };
    let (net, built) = load(model, &text).unwrap_or_else(|e| panic!("{e}"));
    for seed in 0..4 {
        let mut count = Count::default();
        if let Err(why) = check_network(&net, &built, seed, &mut count) {
            panic!("{why}\n{model}");
        }
        let found = queries.iter().filter(|(_, found)| *found).count();
        assert_eq!((count.exhausted, count.found), (1, found), "{model}");
    }
}

/// The abstract label of a node must not have what is looked for, or others that it covers may have it.
#[test]
fn lazy_labels_exclude_targets_on_clocks() {
    let model = "clock x, y;
        process P() { state a, b, c; init a; trans a -> b { }, b -> c { guard y >= 1; }, b -> b { assign x = 0; }; }
        system P;";
    check(model, &[("E<> P.c && x < 1", true), ("A[] P.c imply x >= 1", true), ("E<> P.c && y < 1", false)]);
}

/// What is copied is compared by another process, or by the query: the copied clock needs those bounds.
#[test]
fn copies_are_compared_elsewhere() {
    let model = "clock x, y;
        process P() { state a; init a; trans a -> a { assign x = y; }, a -> a { guard x <= 1; assign y = 0; }; }
        process Q() { state a, b { x <= 2 }, c; init a; trans a -> b { guard x > 1; }, b -> c { guard x < 1; }; }
        system P, Q;";
    check(model, &[("E<> Q.b", true), ("E<> Q.c", true), ("E<> x < 2 && y > 4", false), ("A[] x <= y", true)]);
    let model = "clock x, y; process P() { state a; init a; trans a -> a { assign x = y; }; } system P;";
    check(model, &[("A[] not (P.a && x > 3)", true), ("E<> P.a && x < 0", false)]);
    let model = "int[0,1] k; clock a[2];
        process P() { state s, t; init s; trans s -> t { }, t -> t { assign a[0] = a[k]; }; }
        process Q() { state s; init s; trans s -> s { assign k = (k + 1) % 2; }; }
        system P, Q;";
    check(model, &[("A[] not (a[k] < 0 && a[0] < 3)", false), ("E<> a[0] < 2 && a[1] >= 3", false)]);
}

/// A key that was met first by a move that clocks do not allow is no less a target afterwards.
#[test]
fn targets_that_were_forbidden_at_first() {
    let model = "system:s
clock:1:x
clock:1:y
event:tau
process:P
location:P:a{initial:}
location:P:b{}
edge:P:a:b:tau{}
edge:P:b:b:tau{do:x = 0}
process:Q
location:Q:a{initial:}
location:Q:d{invariant:x == 0}
edge:Q:a:d:tau{provided:y > 0}
";
    check(model, &[("E<> Q.d", true), ("A[] not (Q.d && P.a)", false)]);
}

/// Without extrapolation the clock that is never set would make ever more zones.
#[test]
fn deadlocks_under_simulation_end() {
    let model = "clock x;
        process P() { state a, d; init a; trans a -> a { guard x <= 3; assign x = 0; }; }
        process Q() { clock t; state a, b { t <= 2 }; init a; trans a -> b { }; }
        system P, Q;";
    check(model, &[("E<> deadlock && P.d", false), ("E<> deadlock && Q.b", false), ("A[] not deadlock", true)]);
}

/// What clocks forbid does not fail when it is asked whether time may pass.
#[test]
fn faults_that_clocks_forbid() {
    let model = "int[0,1] n = 1; clock x; urgent chan c;
        process P() { state a { x < 3 }, b; init a; trans a -> b { sync c!; }; }
        process Q() { state a, b; init a;
            trans a -> a { guard x >= 6; assign n = n + 1; }, a -> b { guard x <= 2; assign x = 0; }; }
        system P, Q;";
    check(model, &[("E<> Q.b", true), ("E<> P.b", false), ("A[] n == 1", false)]);
}

/// An urgent step that fails does so where it is, and not where somebody might come there.
#[test]
fn urgent_faults_behind_clocks() {
    let model = "int[0,1] n; clock x; urgent broadcast chan e;
        process P() { state a { x <= 3 }, b; init a;
            trans a -> b { guard x > 4; }, b -> b { sync e!; assign n = n - 1; }; }
        system P;";
    check(model, &[("E<> P.b", false), ("E<> x == 3", true)]);
}

/// When bounds grow, a cover must hold up to all of them together: up to the old ones and up to the new ones is not enough,
/// as a valuation may need another witness for each. Only some orders come to that; the certificate shows it.
#[test]
fn covers_hold_up_to_all_bounds_together() {
    let model = "int[0,2] n = 2; clock x;
        process P0() { state L0, L1, L2 { x < 0 }, L3; init L0;
            trans L0 -> L1 { guard n == 2; assign n = 0; }, L1 -> L2 { guard n >= 2; },
                L1 -> L1 { guard x >= 2; assign n = (n + 1) % 3; },
                L1 -> L0 { select i : int[0,1]; assign n = i; }; }
        process P1() { clock t; state L0, L1; init L0;
            trans L0 -> L1 { guard x == 0 && n > 1; }, L1 -> L0 { select i : int[0,2]; guard t > 0; },
                L0 -> L0 { guard t <= 2; assign t = n; }; }
        process P2() { state L0 { x <= 0 }, L1, L2, L3; init L0;
            trans L0 -> L1 { }, L1 -> L2 { guard x >= 1; assign x = 0, n = (n + 1) % 3; }; }
        system P0, P1, P2;";
    let (net, queries) = load(model, "A[] P0.L3 imply x < 1").expect("a model");
    for seed in (0..100).chain([7232]) {
        let options = lazy::Options { order: Order::Random(seed), reduce: false, ..lazy::Options::default() };
        let engine = Engine::Lazy { clocks: Clocks::Bounds, data: Data::Identity, options };
        let config = Config { engine: Some(engine), order: None, certificate: true, non_zeno: false, symmetry: false };
        let answer =
            answer(&net, &queries[0], &config, &mut Meter::unlimited()).unwrap_or_else(|b| panic!("{}", b.error));
        let Verdict::Safe(certificate) = answer.verdict else { panic!("not safe, seed {seed}") };
        trellis_check::certify(&net, &queries[0], &certificate).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}
