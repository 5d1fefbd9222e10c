//! What the oracles have found, by name.

use trellis_check::{certify, replay, replay_bound};
use trellis_engine::network::answer;
use trellis_engine::reach::{Options, Refine, Strategy, Update};
use trellis_engine::waitlist::Order;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{ModelError, Network, Post, Query, Snapshot};

use crate::load::load;
use crate::oracle::Oracle;
use crate::steps::{compare_all, fast};
use crate::verdicts::Whimsical;

fn ask(model: &str, query: &str) -> (Network, Query) {
    let (net, mut queries) = load(model, query).unwrap_or_else(|e| panic!("{e}"));
    (net, queries.remove(0))
}

fn build(model: &str) -> Network {
    load(model, "").unwrap_or_else(|e| panic!("{e}")).0
}

/// A process with one edge, after these declarations.
fn one_step(declarations: &str, labels: &str) -> Network {
    build(&format!("{declarations} process P() {{ state a, b; init a; trans a -> b {{ {labels} }}; }} system P;"))
}

/// The state after the only step; nothing if there is none.
fn after(net: &Network) -> Result<Option<Snapshot>, ModelError> {
    let interpreter = Interpreter::new(net);
    let mut steps = interpreter.steps(&interpreter.initial()?)?;
    assert!(steps.len() <= 1);
    Ok(steps.pop().map(|(_, next)| next))
}

fn data(declarations: &str, update: &str) -> Vec<i64> {
    let net = one_step(declarations, &format!("assign {update};"));
    after(&net).unwrap().expect("a step").data
}

fn faults(declarations: &str, labels: &str) -> bool {
    after(&one_step(declarations, labels)).is_err()
}

fn agree(net: &Network, queries: &[Query]) {
    let oracle = Oracle::explore(net, 1000).expect("a small model");
    compare_all(net, queries, &oracle).unwrap();
}

// The step relation.

#[test]
fn a_step_that_undoes_itself_leads_nowhere() {
    let net = build(
        "extern UnionBitVector;
         UnionBitVector u[2];
         process P() { state a; init a; trans a -> a { assign u[0] = 1, u[0] = 0; }; }
         system P;",
    );
    let interpreter = Interpreter::new(&net);
    let initial = interpreter.initial().unwrap();
    assert_eq!(interpreter.steps(&initial).unwrap()[0].1, initial);
    let (count, listed) = fast(&mut Post::new(&net), &initial).unwrap();
    assert_eq!((count, listed), (1, vec![]));
}

#[test]
fn an_invariant_does_not_see_what_an_update_left_in_a_meta_variable() {
    let net = build(
        "meta int m;
         int[0,1] x;
         process P() { state a, b { m == 0 }; init a; trans a -> b { assign m = 1, x = m; }, b -> a { assign x = m; }; }
         system P;",
    );
    agree(&net, &[]);
}

#[test]
fn a_guard_does_not_see_what_another_guard_left_behind() {
    // Whatever the value of a function is that forgets to return one, it is the same every time.
    let model = "
        int[0,3] x = 3;
        int f() { int r = 0; if (x > 1) { return 2; } return r; }
        process P() { state a; init a; trans a -> a { guard f() == 2; assign x--; }, a -> a { guard f() == 0; assign x = 3; }; }
        process Q() { state a; init a; trans a -> a { guard f() == 1; }; }
        system P, Q;";
    agree(&build(model), &[]);
}

#[test]
fn meta_variables_pass_from_sender_to_receivers() {
    let net = build(
        "meta int m;
         int[0,5] x;
         chan c;
         process P() { state a; init a; trans a -> a { sync c!; assign m = 4; }; }
         process Q() { state a; init a; trans a -> a { guard m == 0; sync c?; assign x = m; }; }
         system P, Q;",
    );
    agree(&net, &[]);
    let interpreter = Interpreter::new(&net);
    let steps = interpreter.steps(&interpreter.initial().unwrap()).unwrap();
    assert_eq!(steps[0].1.data, [4]);
}

// Reachability.

#[test]
fn a_fault_that_only_joins_reach_is_refined_away() {
    let (net, query) = ask(
        "extern Interval;
         Interval r;
         int[0,1] x;
         process P() {
             state a, b, c;
             init a;
             trans
                 a -> b { assign r.set(-1); },
                 a -> b { assign r.set(1); },
                 b -> c { guard r.mayBe(0); assign x = x + 2; };
         }
         system P;",
        "A[] not P.c",
    );
    let options = Options { update: Update::Join, order: Order::Bfs, refine: Refine::Split };
    let Ok(answer) = answer(&net, &query, options, None, None, &mut Meter::unlimited()) else { panic!("a fault") };
    match answer.verdict {
        Verdict::Safe(cert) => _ = certify(&net, &query, &cert).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refined_search_starts_from_the_initial_state() {
    let (net, query) = ask(
        "int[0,2] x0 = 1;
         extern Sign;
         Sign l0;
         extern IntersectionBitVector;
         IntersectionBitVector l1[3] = {1, 0, 0};
         process P0() {
             state L0, L1, L2, L3;
             init L0;
             trans L1 -> L0 { assign l0.add(-2); }, L0 -> L1 { };
         }
         process P1(const int[0,1] id) {
             state L0, L1, L2;
             init L0;
             trans L0 -> L2 { guard l0.mayBe(0); assign x0 = id, l1[2] = 1; }, L2 -> L0 { assign l0.neg(); };
         }
         system P0, P1;",
        "A[] not (P1(0).L2 && l0.mayBe(-1))",
    );
    join_at_will(&net, &query);
}

#[test]
fn a_refined_search_looks_at_the_initial_state_again() {
    let (net, query) = ask(
        "extern Flat;
         Flat l0;
         extern Must = LruMust(1, 2, 3);
         Must l1;
         process P0() {
             state L0, L1, L2, L3;
             init L0;
             trans
                 L0 -> L1 { assign l1.access(1); },
                 L1 -> L2 { assign l0.set(-2); },
                 L2 -> L3 { assign l0.assumeNot(-2); },
                 L0 -> L3 { assign l0.set(-1); },
                 L3 -> L3 { assign l1.access(0); },
                 L1 -> L3 { },
                 L3 -> L0 { assign l1.flush(); };
         }
         system P0;",
        "A[] not (P0.L0 && l0.mayBeGreater(1))",
    );
    join_at_will(&net, &query);
}

/// Whatever is joined, with refinement the answer is right, and its evidence too.
fn join_at_will(net: &Network, query: &Query) {
    let truth = Oracle::explore(net, 1000).expect("a small model").has_trace(query).unwrap();
    for seed in 0..400 {
        for order in [Order::Bfs, Order::Dfs, Order::Random(seed)] {
            let options = Options { update: Update::Join, order, refine: Refine::Split };
            let mut whim = Whimsical(seed);
            let strategy = Some(&mut whim as &mut dyn Strategy<ModelError>);
            let Ok(answer) = answer(net, query, options, strategy, None, &mut Meter::unlimited()) else {
                panic!("a fault")
            };
            let rejected = match &answer.verdict {
                Verdict::Unsafe(trace) if truth => replay(net, query, trace).err(),
                Verdict::Safe(cert) if !truth => certify(net, query, cert).err(),
                other => panic!("{seed}, {order:?}: {other:?}"),
            };
            assert!(rejected.is_none(), "{seed}, {order:?}: {}", rejected.unwrap());
        }
    }
}

#[test]
fn a_bound_under_joins_has_a_witness_or_none() {
    let (net, query) = ask(
        "extern Interval;
         Interval r;
         int[0,3] x;
         process P() {
             state a, b;
             init a;
             trans a -> b { assign r.set(-1); }, a -> b { assign r.set(1), x = 0; };
         }
         system P;",
        "sup{P.b && r.mayBe(0)}: x",
    );
    let options = Options { update: Update::Join, order: Order::Bfs, refine: Refine::Never };
    let Ok(answer) = answer(&net, &query, options, None, None, &mut Meter::unlimited()) else { panic!("a fault") };
    if let Some(bound) = answer.bound
        && let Some(trace) = bound.witness
    {
        replay_bound(&net, &query, &trace, bound.value).unwrap();
    }
}

#[test]
fn a_bound_under_joins_fails_only_if_the_model_does() {
    let (net, query) = ask(
        "extern Interval;
         Interval r;
         int[0,3] x;
         process P() {
             state a, b;
             init a;
             trans a -> b { assign r.set(-1); }, a -> b { assign r.set(1), x = 0; };
         }
         system P;",
        "sup{P.b && r.mayBe(0)}: 1 / x",
    );
    let options = Options { update: Update::Join, order: Order::Bfs, refine: Refine::Never };
    assert!(answer(&net, &query, options, None, None, &mut Meter::unlimited()).is_ok());
}

// The front end.

#[test]
fn a_value_that_is_not_used_still_faults() {
    assert!(faults("int x; int f(int v) { return 1 / v; }", "assign f(x);"));
    assert!(faults("int x; int a[2]; int f(int v) { return a[v]; }", "assign f(x - 1);"));
}

#[test]
fn a_local_constant_must_fit_its_type() {
    assert!(faults("int x; int f() { const int[0,3] k = 5; return k; }", "assign x = f();"));
    assert!(faults("int x; int f() { const int[0,3] k = 5; return 0; }", "assign x = f();"));
}

#[test]
fn an_argument_of_a_guard_faults_even_if_it_is_not_used() {
    assert!(faults("int x; bool f(int v) { return true; }", "guard f(1 / x);"));
}

#[test]
fn a_function_of_a_guard_may_write_its_own_parameters() {
    let net = one_step("int f(int v) { return v++ + v; }", "guard f(1) == 3;");
    assert!(after(&net).unwrap().is_some());
}

#[test]
fn an_assigned_array_is_found_before_it_changes() {
    assert_eq!(data("int m[2][2] = {{0, 0}, {1, 1}};", "m[m[0][0]] = m[1]"), [1, 1, 1, 1]);
    let twice = "typedef struct { int f; int g; } r; r rs[2] = {{0, 7}, {1, 8}};";
    assert_eq!(data(twice, "rs[rs[0].f] = rs[1]"), [1, 1, 8, 8]);
}

#[test]
fn an_assigned_array_is_found_before_the_right_side_runs() {
    assert_eq!(data("int m[2][2] = {{1, 2}, {3, 4}}; int x;", "m[x] = m[++x]"), [3, 4, 3, 4, 1]);
}

#[test]
fn an_assignment_has_the_value_that_it_wrote() {
    assert_eq!(data("int a[3] = {0, 5, 9}; int y;", "y = (a[a[0]] = 2)"), [2, 5, 9, 2]);
    assert_eq!(data("int a[3] = {0, 5, 9}; int y;", "y = ++a[a[0]]"), [1, 5, 9, 1]);
}

#[test]
fn arguments_of_methods_are_evaluated_from_left_to_right() {
    let lattice = "extern UnionBitVector; UnionBitVector u[3]; int x;";
    for update in ["u.set(x, ++x)", "u[x] = ++x"] {
        let net = one_step(lattice, &format!("assign {update};"));
        assert_eq!(after(&net).unwrap().expect("a step").element, [1], "{update}");
    }
}

#[test]
fn a_bound_of_a_function_that_asks_a_lattice_is_refused() {
    let asked = load(
        "extern UnionBitVector;
         UnionBitVector u[2];
         int f() { int n = 0; if (u[0]) { n = 1; } return n; }
         process P() { state a; init a; }
         system P;",
        "sup: f()",
    );
    assert!(asked.is_err());
}
