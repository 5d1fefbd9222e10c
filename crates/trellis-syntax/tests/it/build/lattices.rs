//! Lattice variables: references to them, vectors and parts, order of effects, strategies.

use trellis_model::network::{Network, Snapshot};
use trellis_order::lattice::Shown;

use super::{built, network, refused, steps, with_strategy};

fn shown(net: &Network, state: &Snapshot, name: &str) -> String {
    let l = net.lattices.iter().find(|l| l.name == name).expect("a lattice");
    Shown(&*l.lattice, &state.element[l.offset..l.offset + l.lattice.width()]).to_string()
}

/// What a lattice variable is after the only step.
#[track_caller]
fn after(declarations: &str, update: &str, name: &str) -> String {
    let model =
        format!("{declarations} process P() {{ state A, B; init A; trans A -> B {{ assign {update}; }}; }} system P;");
    let net = network(&model);
    let states = steps(&net).unwrap_or_else(|e| panic!("{e}"));
    shown(&net, &states[0], name)
}

const SETS: &str = "extern Powerset; extern UnionBitVector; UnionBitVector v[8]; Powerset s[8], t[8]; Powerset m[2][8]; int i; int up() { i++; return i; } \
    void put(Powerset &p[8], int k) { p.add(k); } int count(Powerset &p[8]) { return p.contains(0) + p.contains(1) + p.contains(2); }";

#[test]
fn references_vectors_and_copies() {
    assert_eq!(after(SETS, "put(s, 3), put(m[1], 2)", "s"), "{3}");
    assert_eq!(after(SETS, "put(m[1], 2), put(m[i], 5)", "m"), "[{5}, {2}]");
    assert_eq!(after(SETS, "s.add(1), s.add(2), t = s, s.add(4)", "t"), "{1, 2}");
    assert_eq!(after(SETS, "s.add(1), m[up()] = s", "m"), "[{}, {1}]");
    assert_eq!(after(SETS, "s.add(0), s.add(2), t.add(count(s))", "t"), "{2}");
    assert_eq!(after(SETS, "m[i].add(up())", "m"), "[{1}, {}]");
    assert_eq!(after(SETS, "v[i] = up(), v[3] = v[0]", "v"), "{0, 3}");
    assert_eq!(after(SETS, "s.add(s.contains(1) + up())", "s"), "{1}");
}

#[test]
fn parts_and_names() {
    let decls = "extern L = Product(level, Hasse(low < mid, mid < high), seen, Powerset(4)); L x; extern Same = L; Same y; int mid = 0;";
    assert_eq!(after(decls, "x.seen.add(3), y = x, x.seen.add(1)", "y"), after(decls, "y.seen.add(3)", "y"));
    assert!(built(&format!("{decls} process P() {{ state A; init A; trans A -> A {{ guard x.seen.contains(mid) == 0; }}; }} system P;"), "").is_ok());
}

#[test]
fn bits_may_be_initialised() {
    let model =
        "extern UnionBitVector; UnionBitVector v[4] = { 0, 1, 1, 0 }; process P() { state A; init A; } system P;";
    assert_eq!(super::asks(model, "E<> v[1] + v[2] == 2 && v[0] == 0 && v.num1s() == 2"), 1);
}

#[test]
fn lattices_in_templates() {
    let model = "extern Powerset; Powerset g[4]; process P(Powerset &r[4], const int[0,1] k) { Powerset own[4]; state A, B; init A; trans A -> B { assign r.add(k), own.add(k + 2); }; } \
        P0 = P(g, 0); P1 = P(g, 1); system P0, P1;";
    let net = network(model);
    let states = steps(&net).expect("steps");
    assert_eq!(shown(&net, &states[0], "g") + &shown(&net, &states[0], "P0.own"), "{0}{2}");
    assert_eq!(shown(&net, &states[1], "g") + &shown(&net, &states[1], "P1.own"), "{1}{3}");
}

#[test]
fn strategies_tell_the_states_apart() {
    let model = "extern Powerset; Powerset g[4]; int n; process P(const int[0,1] k) { Powerset own[4]; int v; state A; init A; } system P;";
    let fine = |s: &str| {
        with_strategy(model, "", s).map(|b| b.strategy.expect("a strategy")).unwrap_or_else(|e| panic!("{s}: {e}"))
    };
    assert!(fine("x.g.contains(1) == y.g.contains(1) && joined.g.contains(2)").uses_joined);
    assert!(!fine("P(0).A && n == 0 && x.P(1).v == 0 && x.n == 0").uses_joined);
    let [x, y] = ["x.P(1).own.contains(0)", "y.P(1).own.contains(0)"].map(|s| fine(s).condition.holds);
    assert_ne!(x, y, "the values of a process belong to one of the states, too");
    let wrong = |s: &str| with_strategy(model, "", s).err().unwrap_or_else(|| panic!("{s} is fine"));
    assert!(wrong("g.contains(1) == 1").contains("both states"));
    assert!(wrong("P(1).own.contains(1) == 1").contains("both states"));
    assert!(wrong("x == y").contains("is a state"));
    assert!(wrong("x.nothing == 1").contains("unknown name"));
    assert!(wrong("deadlock").contains("only a query"));
}

#[test]
fn misuse_is_refused() {
    let with = |d: &str, label: &str| {
        refused(&format!(
            "extern Powerset; extern Sign; {d} process P() {{ state A; init A; trans A -> A {{ {label} }}; }} system P;"
        ))
    };
    assert!(with("Powerset s[4]; Sign g;", "assign s = g;").contains("is needed, but this is a `Sign`"));
    assert!(with("Powerset s[4]; Powerset t[5];", "assign s = t;").contains("is needed, but this is a `Powerset(5)`"));
    assert!(
        with("Powerset s[4]; void f(Powerset &p[5]) { p.add(1); }", "assign f(s);").contains("is needed, but this is")
    );
    assert!(
        with("Powerset s[4]; void f(int &p) { p = 1; }", "assign f(s);").contains("a variable of type `int` is needed")
    );
    assert!(with("Powerset s[4]; int n; void f(Powerset &p[4]) { p.add(1); }", "assign f(n);").contains("is needed"));
    assert!(with("Powerset s[4];", "guard s.add(1);").contains("only updates"));
    assert!(with("Powerset s[4];", "guard s.has(1);").contains("no method `has`"));
    assert!(with("Powerset s[4];", "guard s.contains();").contains("1 argument"));
    assert!(with("Powerset s[4];", "guard s == 1;").contains("ask it with a method"));
    assert!(with("const Powerset s[4];", "").contains("cannot be `const`"));
}
