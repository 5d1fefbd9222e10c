//! Functions: returns, loops, parameters of every kind, shadowing.

use super::{becomes, built, is, refused};

#[test]
fn early_returns_inside_loops() {
    let decls = "int a[5] = { 4, 8, 15, 16, 23 }; \
        int find(int v) { int i; for (i = 0; i < 5; i++) { if (a[i] == v) return i; } return -1; } \
        int find2(int v) { for (i : int[0,4]) if (a[i] == v) { return i; } return -1; } \
        int find3(int v) { int i = 0; while (i < 5) { if (a[i] == v) return i; i++; } return -1; } \
        int find4(int v) { int i = 0; do { if (a[i] == v) return i; i++; } while (i < 5); return -1; } \
        int pair(int s) { for (i : int[0,4]) for (j : int[0,4]) { if (a[i] + a[j] == s) return i * 10 + j; } return -1; }";
    for f in ["find", "find2", "find3", "find4"] {
        is(decls, &format!("{f}(15) * 10 + {f}(4)"), 20);
        is(decls, &format!("{f}(5)"), -1);
    }
    is(decls, "pair(31)", 14);
    is(decls, "pair(1)", -1);
}

#[test]
fn nothing_happens_after_a_return() {
    let decls = "int n; int f(int x) { if (x > 0) { if (x > 1) { n = 1; return 10; } n = 2; } else { n = 3; return 30; } n += 10; return n; } \
        void g(int x) { n++; if (x > 0) return; n++; } \
        void h() { while (true) { n++; if (n >= 3) return; } } \
        int two() { { return 2; } n = 9; return 3; }";
    becomes(decls, "f(2)", &[("n", 1)]);
    becomes(decls, "f(1)", &[("n", 12)]);
    becomes(decls, "f(0)", &[("n", 3)]);
    becomes(decls, "g(0)", &[("n", 2)]);
    becomes(decls, "g(1)", &[("n", 1)]);
    becomes(decls, "h()", &[("n", 3)]);
    becomes(decls, "n = two() + n", &[("n", 2)]);
}

#[test]
fn loops() {
    let decls = "int n, m; \
        void twice() { do { n++; } while (n < 2); } void once() { do n++; while (false); } \
        void nested() { do { do { n++; } while (n % 3 != 0); m++; } while (m < 2); } \
        bool more() { n++; return n < 4; } void calls() { while (more()) m++; } void calls2() { do m++; while (more()); } \
        void two() { int i, j; for (i = 0, j = 10; i < j; i++, j--) n++; m = i * 100 + j; } \
        void none() { for (n = 5; n < 5; n++) m = 1; while (false) m = 2; } \
        void down() { for (b : bool) n = n * 10 + b; for (i : int[-1,1]) m += i * i; }";
    becomes(decls, "twice()", &[("n", 2)]);
    becomes(decls, "once()", &[("n", 1)]);
    becomes(decls, "nested()", &[("n", 6), ("m", 2)]);
    becomes(decls, "calls()", &[("n", 4), ("m", 3)]);
    becomes(decls, "calls2()", &[("n", 4), ("m", 4)]);
    becomes(decls, "two()", &[("n", 5), ("m", 505)]);
    becomes(decls, "none()", &[("n", 5), ("m", 0)]);
    becomes(decls, "down()", &[("n", 1), ("m", 2)]);
}

#[test]
fn values_are_copied_references_are_not() {
    let decls = "typedef struct { int x; int y[2]; } S; S s = { 1, { 2, 3 } }; S t[2]; int a[3] = { 1, 2, 3 }; int n, i = 1; \
        void byValue(int v, int b[3], S p) { v = 9; b[0] = 9; p.y[1] = 9; n = b[0] + p.y[1] + v; } \
        void byRef(int &v, int &b[3], S &p) { v = 9; b[0] = 8; p.y[1] = 7; } \
        void swap(int &p, int &q) { int h = p; p = q; q = h; } \
        void cell(int &v) { i = 2; v = 50; } \
        int sum(const int b[3]) { return b[0] + b[1] + b[2]; } \
        int sum2(const int &b[3]) { int r = 0; for (j : int[0,2]) r += b[j]; return r; } \
        void deep(S &p) { swap(p.x, p.y[0]); }";
    becomes(decls, "byValue(n, a, s)", &[("n", 27), ("a[0]", 1), ("s.y[1]", 3)]);
    becomes(decls, "byRef(n, a, s)", &[("n", 9), ("a[0]", 8), ("s.y[1]", 7)]);
    becomes(decls, "swap(a[0], a[2])", &[("a[0]", 3), ("a[2]", 1)]);
    becomes(decls, "swap(a[i], a[i + 1])", &[("a[1]", 3), ("a[2]", 2)]);
    becomes(decls, "swap(s.x, s.y[i])", &[("s.x", 3), ("s.y[1]", 1)]);
    becomes(decls, "cell(a[i])", &[("a[1]", 50), ("a[2]", 3), ("i", 2)]);
    becomes(decls, "n = sum(a) * 10 + sum2(a)", &[("n", 66)]);
    becomes(decls, "deep(s), t[1] = s, deep(t[i])", &[("s.x", 2), ("s.y[0]", 1), ("t.x[1]", 1), ("t.y[1][0]", 2)]);
}

#[test]
fn arguments_do_not_see_the_effects_of_later_ones() {
    let decls = "int n, x; int up() { n++; return n; } int pair(int a, int b) { return a * 10 + b; } \
        int longPair(int a, int b) { int r = a * 10; return r + b; } \
        int inGuard() { int k = 1; return pair(k, k++) * 100 + pair(k, ++k); } \
        int alias(int a, int &b) { return (b = 5) + a; } int aliased() { int k = 1; return alias(k, k); }";
    becomes(decls, "x = pair(n, up()) * 100 + pair(up(), n)", &[("x", 122)]);
    becomes(decls, "x = longPair(n, up()) * 100 + longPair(up(), n)", &[("x", 122)]);
    is(decls, "inGuard()", 1123);
    is(decls, "aliased()", 6);
    is("int f(int x) { return x++; } int a = 4;", "f(a) + a", 8);
    is(
        "void inc(int &x) { x++; } int g(int x) { inc(x); return x; } int h(int x) { return g(x); } int a = 4;",
        "h(a) * 10 + a",
        54,
    );
}

#[test]
fn locals_start_afresh_and_shadow() {
    let decls = "int x = 100, n; \
        int fresh() { int k; k++; return k; } int array() { int k[3]; k[1]++; return k[0] + k[1] * 10 + k[2]; } \
        int inLoop() { int r = 0; int i; for (i = 0; i < 3; i++) { int k; k += i; r = r * 10 + k; } return r; } \
        int low() { int[3,9] k; return k; } \
        int shadow() { int x = 1; { int x = 2; x++; n = x; } return x; } \
        int outer() { int y = x; int x = y + 1; return x; } \
        int param(int x) { x++; return x; }";
    is(decls, "fresh() * 10 + fresh()", 11);
    is(decls, "array() + array()", 20);
    is(decls, "inLoop()", 12);
    is(decls, "low()", 3);
    becomes(decls, "x = shadow() * 10 + n", &[("x", 13), ("n", 3)]);
    is(decls, "outer()", 101);
    becomes(decls, "n = param(x)", &[("n", 101), ("x", 100)]);
}

#[test]
fn local_constants_and_lists() {
    let decls = "int n = 2; \
        int f() { const int k = n + 1; const int t[3] = { 5, 6, 7 }; return k * 100 + t[n]; } \
        int g() { typedef struct { int a; int b[2]; } T; T t = { b: { 1, 2 }, a: n }; T u = t; u.b[0] = 9; return t.a * 100 + t.b[0] * 10 + u.b[0]; } \
        int h() { int t[2] = { n++, n }; return t[0] * 10 + t[1]; }";
    is(decls, "f()", 307);
    is(decls, "g()", 219);
    becomes(decls, "n = h()", &[("n", 23)]);
    let wrong = |f: &str| {
        refused(&format!("int n; {f} process P() {{ state A; init A; trans A -> A {{ assign f(); }}; }} system P;"))
    };
    assert!(wrong("void f() { const int k = n; k = 1; }").contains("cannot be assigned"));
    assert!(wrong("void f() { const int k[2] = { 1, 2 }; k[0] = 1; }").contains("cannot be assigned"));
    assert!(wrong("void f() { const int k; }").contains("no value"));
    assert!(wrong("void f() { int k[2] = { a: 1, b: 2 }; }").contains("no names"));
}

#[test]
fn structs_come_back() {
    let decls = "typedef struct { int x; int y[2]; } S; typedef int V[3]; S s; V v; int n = 3; \
        S make(int a) { S r; r.x = a; r.y[1] = a + 1; return r; } \
        V squares() { V r; for (i : int[0,2]) r[i] = i * i; return r; } \
        S pick(bool b) { if (b) return make(1); return make(5); }";
    becomes(decls, "s = make(n)", &[("s.x", 3), ("s.y[0]", 0), ("s.y[1]", 4)]);
    becomes(decls, "v = squares(), n = squares()[2] + make(2).y[1]", &[("v[2]", 4), ("n", 7)]);
    becomes(decls, "s = pick(n == 3), n = pick(false).x", &[("s.x", 1), ("n", 5)]);
}

#[test]
fn functions_see_what_stands_before_them() {
    // f means the global x, g the local one.
    let model = "int x = 1; process P() { int f() { return x; } int x = 2; int g() { return x; } int r; state A, B; init A; trans A -> B { assign r = f() * 10 + g(); }; } system P;";
    let net = super::network(model);
    let after = super::steps(&net).expect("a step");
    assert_eq!(super::data(&net, &after[0])["P.r"], 12);
    let text = refused("int f() { return g(); } int g() { return 1; } process P() { state A; init A; } system P;");
    assert!(text.contains("unknown function `g`") && text.contains("further down"), "{text}");
    // A local function may have the name of a global one that is called further in.
    let model = "int min(int a, int b) { return a <? b; } int three(int a, int b, int c) { return min(min(a, b), c); } \
        process P() { int r; int min(int a) { return three(a, 5, 6); } state A, B; init A; trans A -> B { assign r = min(7); }; } system P;";
    let net = super::network(model);
    assert_eq!(super::data(&net, &super::steps(&net).expect("a step")[0])["P.r"], 5);
}

#[test]
fn recursion_is_refused() {
    let with = |f: &str| refused(&format!("{f} process P() {{ state A; init A; }} system P;"));
    assert!(with("int f(int n) { return n == 0 ? 1 : f(n - 1); }").contains("calls itself"));
    assert!(with("int f(int n) { if (n > 0) { return f(n - 1); } return 0; }").contains("calls itself"));
}

#[test]
fn functions_nobody_calls_are_checked() {
    let with = |f: &str| refused(&format!("{f} process P() {{ state A; init A; }} system P;"));
    assert!(with("void f() { y = 1; }").contains("unknown name `y`"));
    assert!(with("void f(int &x, const int c) { c = x; }").contains("cannot be assigned"));
    assert!(with("int f(bool b) { if (b) return; return 1; }").contains("a value must be returned"));
    let local = "process P() { void f() { y = 1; } state A; init A; } system P;";
    assert!(refused(local).contains("unknown name `y`"));
    let fine = "chan c; int f(int a[3], chan &d) { return a[0]; } process P() { state A; init A; } system P;";
    assert!(built(fine, "").is_ok());
}

#[test]
fn a_path_without_return_gives_the_default_and_a_warning() {
    let model = "int x = 7; int y = 7; int[3,9] f(int n) { if (n > 0) return 5; } process P() { state A, B; init A; trans A -> B { assign x = f(1), y = f(0); }; } system P;";
    let built = built(model, "").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(built.warnings.len(), 1);
    let data = super::data(&built.network, &super::steps(&built.network).expect("a step")[0]);
    assert_eq!((data["x"], data["y"]), (5, 3));
}

#[test]
fn whole_structs_and_arrays_are_compared() {
    let decls = "typedef struct { int x; bool y[2]; } S; S s = { 1, { 0, 1 } }, t = { 1, { 0, 1 } }, u[2]; int a[2] = { 3, 4 }, b[2]; \
        S other() { s.x = 7; return t; }";
    is(decls, "(s == t) * 10 + (s != t)", 10);
    is(decls, "(s == u[0]) * 10 + (u[1] == u[0])", 1);
    is(decls, "(a == b) + 2 * (a != b)", 2);
    // The left side is looked at first.
    becomes(&format!("{decls} int r;"), "r = (s == other()) * 10 + (s.x == 7)", &[("r", 11)]);
    let with = |guard: &str| {
        refused(&format!(
            "clock x[2], y[2]; int a[2], b[3]; process P() {{ state A; init A; trans A -> A {{ guard {guard}; }}; }} system P;"
        ))
    };
    assert!(with("a == b").contains("is needed"));
    assert!(with("x == y").contains("clocks in them"));
}

#[test]
fn absolute_values() {
    is("int n = -4; const int C = abs(-2);", "abs(n) * 100 + abs(3) * 10 + C", 432);
    is("int abs(int a) { return 5; }", "abs(-1)", 5);
}
