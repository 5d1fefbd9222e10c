//! Edges: selects, channels, priorities, invariants.

use super::{built, data, network, refused, steps};

/// The locations after each step from the initial state.
fn moves(model: &str) -> Vec<Vec<u32>> {
    let net = network(model);
    steps(&net).unwrap_or_else(|e| panic!("{e}")).into_iter().map(|s| s.locations).collect()
}

#[test]
fn selects_are_expanded_in_order() {
    let model = "int n; process P() { state A, B; init A; trans A -> B { select i : int[1,3], b : bool; guard i != 2; assign n = i * 10 + b; }; } system P;";
    let net = network(model);
    let all: Vec<i64> = steps(&net).expect("steps").iter().map(|s| data(&net, s)["n"]).collect();
    assert_eq!(all, [10, 11, 30, 31]);
    assert_eq!(net.processes[0].edges[3].select, [("i".to_string(), 3), ("b".to_string(), 1)]);
}

#[test]
fn labels_of_edges_that_never_happen_need_not_be_in_range() {
    let model = "const int N = 3; typedef int[0, N-1] id; int a[id]; chan c[id]; \
        process P(const id me) { state A, B; init A; \
        trans A -> B { select i : id; guard i < N - 1; assign a[i + 1] = a[i]; }, \
              A -> B { guard me > 0; sync c[me - 1]!; assign a[me - 1]++; }, \
              A -> B { guard me > 0 && a[me - 1] > 0; }, \
              A -> B { guard a[me] > 0 && me < N - 1; assign a[me + 1] = 1; }, \
              A -> B { guard a[me] == 7; assign a[me] = me > 0 ? a[me - 1] : 0; }; } system P;";
    assert!(built(model, "A[] forall (i : id) i > 0 imply P(i - 1).A").is_ok());
    // One that may happen is another matter.
    let model =
        "const int N = 3; int a[N]; process P() { state A; init A; trans A -> A { assign a[N] = 1; }; } system P;";
    assert!(refused(model).contains("index 3 is outside"));
    let model = "int a[3]; process P() { state A, B; init A; trans A -> B { select i : int[0,3]; assign a[i] = 1; }; } system P;";
    assert!(steps(&network(model)).is_err());
}

#[test]
fn channels_by_expression_by_select_and_by_parameter() {
    let model = "chan c[3]; int x = 1; process S() { state A, B; init A; trans A -> B { sync c[x + 1]!; }; } \
        process R() { int got; state A, B; init A; trans A -> B { select i : int[0,2]; sync c[i]?; assign got = i; }; } system S, R;";
    let net = network(model);
    let after = steps(&net).expect("steps");
    assert_eq!(after.len(), 1);
    assert_eq!(data(&net, &after[0])["R.got"], 2);
    let model = "chan c[2][2]; process S(chan &d) { state A, B; init A; trans A -> B { sync d!; }; } \
        process R(chan &row[2], const int k) { state A, B; init A; trans A -> B { sync row[k]?; }; } \
        S1 = S(c[1][0]); R0 = R(c[0], 0); R1 = R(c[1], 0); R2 = R(c[1], 1); system S1, R0, R1, R2;";
    assert_eq!(moves(model), [[1, 0, 1, 0]]);
}

#[test]
fn the_sender_writes_first() {
    let model = "chan c; int x = 1; process S() { state A, B; init A; trans A -> B { sync c!; assign x = x * 10; }; } \
        process R() { state A, B; init A; trans A -> B { guard x == 1; sync c?; assign x = x + 1; }; } system R, S;";
    let net = network(model);
    assert_eq!(data(&net, &steps(&net).expect("a step")[0])["x"], 11);
}

#[test]
fn broadcasts_take_all_who_can() {
    let model = "broadcast chan c; int n; process S() { state A, B; init A; trans A -> B { sync c!; }; } \
        process R(const int[0,3] i) { state A, B; init A; trans A -> B { guard i != 2; sync c?; assign n = n * 10 + i; }; } system R, S;";
    let net = network(model);
    let after = steps(&net).expect("a step");
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].locations, [1, 1, 0, 1, 1]);
    assert_eq!(data(&net, &after[0])["n"], 13);
}

#[test]
fn channel_priorities() {
    let with = |priority: &str| {
        format!(
            "chan a, b, c[2]; {priority} \
            process S() {{ state A, B, C, D, E; init A; trans A -> B {{ sync a!; }}, A -> C {{ sync b!; }}, A -> D {{ sync c[1]!; }}, A -> E {{ }}; }} \
            process R() {{ state A; init A; trans A -> A {{ sync a?; }}, A -> A {{ sync b?; }}, A -> A {{ select i : int[0,1]; sync c[i]?; }}; }} system S, R;"
        )
    };
    let first = |priority: &str| moves(&with(priority)).into_iter().map(|m| m[0]).collect::<Vec<_>>();
    assert_eq!(first(""), [1, 2, 3, 4]);
    assert_eq!(first("chan priority a < default;"), [2, 3, 4]);
    assert_eq!(first("chan priority a < default < b;"), [2]);
    assert_eq!(first("chan priority a < b, default < c;"), [3]);
    assert_eq!(first("chan priority a < b, default < c[0];"), [2, 3, 4]);
    assert_eq!(first("chan priority b < c[1], a < default;"), [4]);
    // Without `default`, the first group is level with it, and one is told.
    let warned = built(&with("chan priority a < b;"), "").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(warned.warnings.len(), 1);
    assert_eq!(first("chan priority a < b;"), [2]);
    assert!(refused(&with("int x; chan priority a < x;")).contains("only channels"));
    assert!(refused(&with("int x; chan priority a < c[x];")).contains("must be a constant"));
}

#[test]
fn process_priorities() {
    let model = |line: &str| {
        format!(
            "process P() {{ state A, B; init A; trans A -> B {{ }}; }} process Q() {{ state A, B; init A; trans A -> B {{ }}; }} process R() {{ state A, B; init A; trans A -> B {{ }}; }} system {line};"
        )
    };
    assert_eq!(moves(&model("P, Q, R")).len(), 3);
    assert_eq!(moves(&model("P < Q, R")), [[0, 1, 0], [0, 0, 1]]);
    assert_eq!(moves(&model("P < R < Q")), [[0, 0, 1]]);
}

#[test]
fn invariants_of_data() {
    let model = "int x; bool ok(int v) { int r = v; return r < 2; } process P() { state A, B { ok(x) }; init A; trans A -> B { select i : int[0,3]; assign x = i; }; } system P;";
    assert_eq!(moves(model).len(), 2);
}

#[test]
fn a_guard_with_a_function_on_a_receiver() {
    let model = "chan c; int a[3] = { 1, 2, 3 }; int at(int i) { int k = i; while (a[k] < 3) k++; return k; } \
        process S() { state A, B; init A; trans A -> B { guard at(0) == 2; sync c!; assign a[0] = at(1); }; } \
        process R() { state A, B; init A; trans A -> B { guard at(1) == 2; sync c?; assign a[1] = at(0) * 10; }; } system S, R;";
    let net = network(model);
    let after = steps(&net).expect("a step");
    let data = data(&net, &after[0]);
    assert_eq!((data["a[0]"], data["a[1]"]), (2, 20));
}

#[test]
fn branches_are_edges_of_their_own() {
    let model = "chan c; int n; process P() { state A, B; branchpoint b; state C; init A; \
        trans A -> b { select i : int[1,2]; guard n == 0; sync c!; assign n = i; }, \
              b -> B { assign n = n * 10; probability 3; }, b -> C { }, B -u-> A { }; } \
        process R() { int seen; state A; init A; trans A -> A { sync c?; assign seen = n; }; } system P, R;";
    let net = network(model);
    assert_eq!(net.processes[0].locations.iter().map(|l| l.name.as_str()).collect::<Vec<_>>(), ["A", "B", "C"]);
    let after = steps(&net).expect("steps");
    let mut seen: Vec<_> = after.iter().map(|s| (s.locations[0], data(&net, s)["R.seen"])).collect();
    seen.sort_unstable();
    assert_eq!(seen, [(1, 10), (1, 20), (2, 1), (2, 2)]);
    let one = |edges: &str| {
        refused(&format!(
            "chan c; process P() {{ state A; branchpoint b, d; init A; trans A -> b {{ }}, {edges}; }} system P;"
        ))
    };
    assert!(one("b -> A { guard true; }").contains("and nothing else"));
    assert!(one("b -> d { }, d -> A { }").contains("from a branch point to a branch point"));
    assert!(one("d -> A { }").contains("no edge leaves"));
    assert!(one("b -> A { }, A -> A { probability 2; }").contains("only"));
    assert!(refused("process P() { state A; branchpoint b; init b; trans b -> A { }; } system P;").contains("initial"));
}
