//! How updates set clocks: in order, with what was known at that point.

use super::clocks::Point;
use super::{network, refused};

const DECLS: &str = "clock x, y, z[3]; int[0,9] n = 2; bool b; int[0,2] i = 1; struct { clock c; int m; } s, t;";

/// What an update makes of the clocks `x y z[0] z[1] z[2] s.c t.c`, which are 10, 20, … before; `b` is as given.
#[track_caller]
fn sets(more: &str, update: &str, b: bool, expected: [i64; 7]) {
    let net = network(&format!(
        "{DECLS} {more} process P() {{ state A; init A; trans A -> A {{ assign {update}; }}; }} system P;"
    ));
    let mut point = Point::new(&net, &[("b", i64::from(b))], &[20, 40, 60, 80, 100, 120, 140]);
    let edge = &net.processes[0].edges[0];
    point.run(&net, edge.update);
    point.reset(&net, &edge.resets);
    let found: Vec<i64> = point.clocks.iter().map(|c| c / 2).collect();
    assert_eq!(found, expected, "{update} {b}");
}

#[test]
fn values_and_copies() {
    sets("", "x = 0", false, [0, 20, 30, 40, 50, 60, 70]);
    sets("", "x := n + 1, y := 7", false, [3, 7, 30, 40, 50, 60, 70]);
    sets("", "x = y", false, [20, 20, 30, 40, 50, 60, 70]);
    sets("", "x = y, y = x", false, [20, 20, 30, 40, 50, 60, 70]);
    sets("", "z[0] = x, x = y, y = z[0]", false, [20, 10, 10, 40, 50, 60, 70]);
    sets("", "x = y = 3", false, [3, 3, 30, 40, 50, 60, 70]);
    sets("", "x = 1, x = y, x = 2", false, [2, 20, 30, 40, 50, 60, 70]);
    sets("", "s.c = z[2]", false, [10, 20, 30, 40, 50, 50, 70]);
    sets("", "s = t", false, [10, 20, 30, 40, 50, 70, 70]);
}

#[test]
fn values_are_those_of_their_moment() {
    sets("", "x = n, n = 5, y = n, n++", false, [2, 5, 30, 40, 50, 60, 70]);
    sets("", "x = n++, y = ++n", false, [2, 4, 30, 40, 50, 60, 70]);
    sets("", "z[i] = 0, i = 2, z[i] = 1", false, [10, 20, 30, 0, 1, 60, 70]);
    sets("", "x = z[i], i = 0, y = z[i]", false, [40, 30, 30, 40, 50, 60, 70]);
    sets("", "z[i] = z[i + 1], i = 0, z[i] = z[i + 1]", false, [10, 20, 50, 50, 50, 60, 70]);
}

#[test]
fn what_does_not_always_happen() {
    for b in [false, true] {
        let pick = |yes, no| if b { yes } else { no };
        sets("", "b ? (x = 1) : (x = 2)", b, [pick(1, 2), 20, 30, 40, 50, 60, 70]);
        let f = "void f() { if (b) { x = n; n = 7; y = x; } else y = n; x = n; }";
        sets(f, "f()", b, [pick(7, 2), 2, 30, 40, 50, 60, 70]);
        let f = "void f() { if (b) return; x = 0; }";
        sets(f, "y = 1, f()", b, [pick(10, 0), 1, 30, 40, 50, 60, 70]);
        let f = "int f(clock &c) { if (b) { c = 1; return 1; } c = 2; return 2; }";
        sets(f, "y = f(x), z[f(z[0])] = 9", b, [pick(1, 2), pick(1, 2), pick(1, 2), pick(9, 40), pick(50, 9), 60, 70]);
        let f = "void f(clock &c) { if (b) c = n; n = n + 1; }";
        sets(f, "f(x), f(z[i])", b, [pick(2, 10), 20, 30, pick(3, 40), 50, 60, 70]);
    }
}

#[test]
fn loops_are_written_out() {
    let all = "void f() { for (k : int[0,2]) z[k] = k; }";
    sets(all, "f()", false, [10, 20, 0, 1, 2, 60, 70]);
    let counted = "void f() { int k; for (k = 0; k < 3; k++) z[k] = n + k; n = k; x = n; }";
    sets(counted, "f()", false, [3, 20, 2, 3, 4, 60, 70]);
    let nested = "void f() { for (k : int[0,1]) { int j; for (j = k; j <= 1; j += 1) { z[j] = n; n++; } } }";
    sets(nested, "f()", false, [10, 20, 2, 4, 50, 60, 70]);
    let ends = "void f() { for (k : int[0,2]) { if (k == i) return; z[k] = 0; } }";
    sets(ends, "f()", false, [10, 20, 0, 40, 50, 60, 70]);
    let beside = "void f() { int k = 0; while (k < 3) k++; x = k; }";
    sets(beside, "f()", false, [3, 20, 30, 40, 50, 60, 70]);
    for body in [
        "int k = 0; while (k < n) { z[k] = 0; k++; }",
        "int k = 0; do { x = k; k++; } while (k < 3);",
        "int k; for (k = 0; k < n; k++) z[k] = 0;",
        "int k; for (k = 0; k < 3; k++) { z[k] = 0; k++; }",
        "for (k : int[0,2]) { while (n > 0) { z[k] = 0; n--; } }",
    ] {
        let text = refused(&format!(
            "{DECLS} void f() {{ {body} }} process P() {{ state A; init A; trans A -> A {{ assign f(); }}; }} system P;"
        ));
        assert!(text.contains("in a loop whose rounds are not known"), "{text}");
        assert_eq!(text.matches("error").count(), 1, "{text}");
    }
}

#[test]
fn functions_that_nobody_calls_are_looked_at() {
    network("clock x; void f(clock &c, clock &d[2]) { c = 0; d[1] = x; } process P() { state A; init A; } system P;");
    assert!(
        refused("void f(clock &c, int &n) { n = c; } process P() { state A; init A; } system P;")
            .contains("this is `clock`")
    );
}
