//! Arrays and structs: shapes, indexes, copies.

use super::{asks, becomes, faults, is};

#[test]
fn dimensions_need_not_start_at_zero() {
    let decls = "const int N = 3; typedef int[1, N] row; typedef int[-1, 1] col; int a[row][col]; int n; row r = 3; col c = -1;";
    becomes(decls, "a[r][c] = 7, a[1][1] = 5, a[2][0] = a[3][-1]", &[("a[3][-1]", 7), ("a[1][1]", 5), ("a[2][0]", 7)]);
    becomes(decls, "n = sum (i : row) sum (j : col) (a[i][j] == 0)", &[("n", 9)]);
    assert!(faults(decls, "n = 0, a[n][c] = 1").contains("0 is outside"));
    assert!(faults(decls, "n = 2, a[r][n] = 1").contains("2 is outside"));
    let decls = "int a[int[1,2]][int[5,6]] = { { 1, 2 }, { 3, 4 } }; int n = 2, m = 5;";
    is(decls, "a[n][m] * 10 + a[1][6]", 32);
}

#[test]
fn structs_of_arrays_of_structs() {
    let decls = "typedef struct { int x; bool b; } In; typedef struct { In in[2]; int t; } Out; \
        Out o[2] = { { { { 1, true }, { 2, false } }, 3 }, { { { 4, false }, { 5, true } }, 6 } }; Out p; int i = 1, j;";
    is(decls, "o[1].in[0].x * 100 + o[0].in[1].x * 10 + o[i].t", 426);
    is(decls, "o[i].in[j].b * 10 + o[i].in[i].b", 1);
    becomes(decls, "p = o[i]", &[("p.in.x[0]", 4), ("p.in.x[1]", 5), ("p.in.b[1]", 1), ("p.t", 6)]);
    becomes(
        decls,
        "o[j].in[i] = o[i].in[i], o[1].t = 9",
        &[("o.in.x[0][1]", 5), ("o.in.b[0][1]", 1), ("o.t[1]", 9), ("o.t[0]", 3)],
    );
    becomes(decls, "o[0] = o[1], o[1].in[0].x = 8", &[("o.in.x[0][0]", 4), ("o.in.x[1][0]", 8)]);
    becomes(decls, "o[0].in = o[1].in", &[("o.in.x[0][0]", 4), ("o.in.x[0][1]", 5), ("o.t[0]", 3)]);
}

#[test]
fn entry_zero_of_an_array_of_structs_is_not_all_of_it() {
    let decls = "typedef struct { int x, y, z; } S; S a[2] = { { 1, 2, 3 }, { 4, 5, 6 } }; S b[2];";
    becomes(decls, "b[0] = a[0]", &[("b.x[0]", 1), ("b.z[0]", 3), ("b.x[1]", 0), ("b.z[1]", 0)]);
    becomes(decls, "b = a", &[("b.x[1]", 4), ("b.z[1]", 6)]);
    becomes("int a[1][3] = { { 1, 2, 3 } }; int b[2][3];", "b[0] = a[0]", &[("b[0][2]", 3), ("b[1][2]", 0)]);
}

#[test]
fn copies_between_types_of_the_same_shape() {
    becomes("int[0,9] a[2] = { 3, 4 }; int b[int[1,2]];", "b = a", &[("b[1]", 3), ("b[2]", 4)]);
    assert!(faults("int[0,9] a[2]; int b[2] = { 3, 40 };", "a = b").contains("40 is outside"));
    becomes("bool a[2]; int b[2] = { 3, 0 };", "a = b", &[("a[0]", 1), ("a[1]", 0)]);
}

#[test]
fn constants_indexed_by_variables() {
    let decls = "const int T[3] = { 5, 6, 7 }; const bool B[2] = { false, true }; int i = 2, b = 1; \
        const struct { int lo; int hi[2]; } S[2] = { { 1, { 2, 3 } }, { 4, { 5, 6 } } };";
    is(decls, "T[i] * 10 + T[0]", 75);
    is(decls, "B[b] + B[0]", 1);
    is(decls, "S[b].hi[b] * 10 + S[0].lo", 61);
    is(decls, "sum (k : int[0,2]) T[k]", 18);
}

#[test]
fn names_of_structs_may_come_in_any_order() {
    let decls = "struct { int a; int b; } s = { b: 2, a: 1 }, t = { 3, 4 };";
    is(decls, "s.a * 1000 + s.b * 100 + t.a * 10 + t.b", 1234);
}

#[test]
fn typedefs_of_arrays() {
    let decls = "typedef int[0,9] D; typedef D Row[3]; typedef Row Grid[2]; Grid g; Row r = { 1, 2, 3 }; int i = 1;";
    becomes(decls, "g[i] = r, g[0][2] = g[1][i]", &[("g[1][2]", 3), ("g[0][2]", 2)]);
    let model = "typedef chan Line[2]; Line c[2]; process P(chan &d) { state A, B; init A; trans A -> B { sync d!; }; } \
        process Q() { int i = 1; state A, B; init A; trans A -> B { sync c[i][0]?; }; } P1 = P(c[1][0]); P2 = P(c[0][1]); Q1 = Q(); system P1, P2, Q1;";
    let net = super::network(model);
    let after = super::steps(&net).expect("steps");
    assert_eq!(after.len(), 1);
    assert_eq!(after[0].locations, [1, 0, 1]);
}

#[test]
fn meta_is_forgotten_after_each_step() {
    let decls = "meta int m = 3; int n;";
    becomes(decls, "m = m + 4, n = m", &[("n", 7)]);
    let model = "meta int m = 3; process P() { state A, B; init A; trans A -> B { assign m = 5; }; } system P;";
    assert_eq!(asks(model, "E<> m == 3"), 1);
    // The receiver sees what the sender wrote.
    let model = "meta int m; int n; chan c; process P() { state A, B; init A; trans A -> B { sync c!; assign m = 5; }; } \
        process Q() { state A, B; init A; trans A -> B { sync c?; assign n = m; }; } system P, Q;";
    let net = super::network(model);
    assert_eq!(super::data(&net, &super::steps(&net).expect("a step")[0])["n"], 5);
}
