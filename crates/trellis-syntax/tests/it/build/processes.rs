//! Templates and what is made of them: parameters, partial instances, names in queries.

use super::{asks, built, data, network, refused, steps};

#[test]
fn parameters_by_value_may_be_assigned() {
    let model = "process P(int n, const int k, int a[2]) { int r; state A, B; init A; trans A -> B { assign n += k, a[0] = n, r = a[0] + a[1]; }; } \
        const int T[2] = { 1, 2 }; P1 = P(3, 4, T); P2 = P(30, 40, T); system P1, P2;";
    let net = network(model);
    let after = steps(&net).expect("steps");
    let first = data(&net, &after[0]);
    assert_eq!((first["P1.n"], first["P1.a[0]"], first["P1.r"], first["P2.n"]), (7, 7, 9, 30));
    let second = data(&net, &after[1]);
    assert_eq!((second["P2.n"], second["P2.r"], second["P1.n"]), (70, 72, 3));
}

#[test]
fn parameters_by_reference() {
    let model = "typedef struct { int x; int y; } S; S s[2]; int a[3]; int total; \
        process P(int &n, int &v[3], S &t, int &c) { state A, B; init A; trans A -> B { assign n = 5, v[2] = 6, t.y = 7, c = 8; }; } \
        P1 = P(total, a, s[1], a[0]); system P1;";
    let net = network(model);
    let after = data(&net, &steps(&net).expect("a step")[0]);
    assert_eq!((after["total"], after["a[2]"], after["s.y[1]"], after["s.y[0]"], after["a[0]"]), (5, 6, 7, 0, 8));
    let wrong = "int a[3], i; process P(int &n) { state A; init A; } P1 = P(a[i]); system P1;";
    assert!(refused(wrong).contains("known beforehand"));
}

#[test]
fn partial_instances() {
    let model = "const int K = 2; process P(const int a, const int[0,3] b, const int c) { int r = a * 100 + b * 10 + c; state A; init A; } \
        Q(const int[1,2] x, const int y) = P(y + 1, x * K - 1, x); R(const int[1,2] z) = Q(z, z * 3); One = R(2); system R, One;";
    assert_eq!(network(model).processes.iter().map(|p| p.name.clone()).collect::<Vec<_>>(), ["R(1)", "R(2)", "One"]);
    assert_eq!(asks(model, "sup: R(1).r"), 411);
    assert_eq!(asks(model, "sup: R(2).r"), 732);
    assert_eq!(asks(model, "sup: One.r"), 732);
}

#[test]
fn two_free_parameters() {
    let model = "typedef scalar[2] S; process P(const int[1,2] i, const bool b, const S s) { int r = i * 10 + b; state A, B; init A; } system P;";
    let net = network(model);
    assert_eq!(net.processes.len(), 8);
    assert_eq!(net.processes[7].name, "P(2,1,1)");
    assert_eq!(asks(model, "sup: sum (s : S) P(2, true, s).r"), 42);
    assert_eq!(
        asks(model, "A[] forall (i : int[1,2]) forall (b : bool) forall (s : S) P(i, b, s).A and P(i, b, s).i == i"),
        1
    );
    assert_eq!(
        asks(model, "A[] forall (i : int[0,3]) i >= 1 && i <= 2 imply exists (s : S) P(i, false, s).r == i * 10"),
        1
    );
}

#[test]
fn processes_are_seen_by_queries_only() {
    let model = "process P() { int x; state A; init A; } process Q() { state B; init B; trans B -> B { guard P.A; }; } system P, Q;";
    assert!(refused(model).contains("unknown name `P`"));
    // A process may be called like a variable inside another.
    let model = "process P() { int Q; state A; init A; trans A -> A { assign Q = 1; }; } process Q() { state B; init B; } system Q, P;";
    assert_eq!(asks(model, "E<> P.Q == 0 and Q.B"), 1);
}

#[test]
fn deadlock_is_asked_by_queries() {
    let model = "process P() { state A; init A; } system P;";
    assert_eq!(asks(model, "E<> deadlock"), 1);
    assert_eq!(asks(model, "A[] not deadlock"), 0);
    assert_eq!(asks("process P() { state A; init A; trans A -> A { }; } system P;", "E<> deadlock and P.A"), 0);
}

#[test]
fn local_declarations_are_each_process_s_own() {
    let model = "process P(const int[0,1] id) { const int K = id + 5; typedef int[0, K] T; T x = K; int f() { return x * 10 + id; } int r; state A, B; init A; trans A -> B { assign r = f(), x = 0; }; } system P;";
    let net = network(model);
    let after = steps(&net).expect("steps");
    assert_eq!(data(&net, &after[0])["P(0).r"], 50);
    assert_eq!(data(&net, &after[1])["P(1).r"], 61);
    assert_eq!(data(&net, &after[1])["P(0).x"], 5);
}

#[test]
fn old_models_pass_by_reference() {
    let model = "int x; chan c; process P(int n; chan d; const k) { state A, B; init A; trans A -> B { assign n := k; }; } P1 := P(x, c, 4); system P1;";
    let net = network(model);
    assert_eq!(data(&net, &steps(&net).expect("a step")[0])["x"], 4);
}

#[test]
fn questions_are_checked() {
    let model = "int x; chan c; process P(const int[0,1] i) { int v; state A; init A; } process Q() { state B; init B; } system P, Q;";
    let wrong = |q: &str| built(model, q).err().unwrap_or_else(|| panic!("{q} is fine"));
    assert!(wrong("E<> P.A").contains("needs 1 argument"));
    assert!(wrong("E<> P(2).A").contains("no process `P` with these arguments"));
    assert!(wrong("E<> P(x).A").contains("a constant is needed"));
    assert!(wrong("E<> Q.A").contains("no location or variable `A`"));
    assert!(wrong("E<> Q").contains("is a process"));
    assert!(wrong("E<> Q(1).B").contains("needs 0 argument"));
    assert!(wrong("E<> c").contains("channel"));
    assert!(wrong("E<> P(0).v(1)").contains("cannot be called"));
    assert!(wrong("E<> X.A").contains("unknown name `X`"));
}
