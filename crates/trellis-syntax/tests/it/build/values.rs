//! Numbers and truth values: operators, conversions, bounds.

use super::{asks, becomes, faults, is, refused};

#[test]
fn division_rounds_towards_zero() {
    is("int a = -7; int b = 2;", "a / b", -3);
    is("int a = -7; int b = 2;", "a % b", -1);
    is("int a = 7; int b = -2;", "a / b", -3);
    is("int a = 7; int b = -2;", "a % b", 1);
    is("", "-7 / 2 * 100 + -7 % 2", -301);
}

#[test]
fn min_max_shifts_bits() {
    is("int a = 3, b = 5;", "(a <? b) * 10 + (a >? b)", 35);
    is("int a = 3, b = 5, c = 1;", "a <? b <? c", 1);
    is("int a = 5;", "a << 3", 40);
    is("int a = -5;", "a >> 1", -3);
    is("int a = 12, b = 10;", "(a & b) * 100 + (a | b) * 10 + (a ^ b)", 800 + 140 + 6);
    becomes("int a = 5;", "a <<= 2, a |= 1, a ^= 7, a >>= 1, a &= 14", &[("a", 8)]);
    becomes("int a = 17;", "a %= 5, a *= 10, a -= 6, a /= 4, a += 1", &[("a", 4)]);
}

#[test]
fn numbers_and_truth_values_mix() {
    is("bool b = true; int a = 4;", "b + a", 5);
    is("bool b = true;", "-b", -1);
    is("int a = 4;", "!a", 0);
    is("int a = 4;", "a && 2", 1);
    is("bool b = true; int a = 1;", "b == a", 1);
    is("bool b = true; int a = 4;", "b == a", 0);
    is("int a = 4;", "a > 3 ? 7 : false", 7);
    becomes("bool b; int a;", "b = 5, a = b", &[("b", 1), ("a", 1)]);
    becomes("bool b[2] = { true, false }; int a;", "b[1] = b[0], a = b[0] + b[1]", &[("b[1]", 1), ("a", 2)]);
    becomes("int a[bool] = { 3, 4 }; bool b = true;", "a[b] = a[false]", &[("a[1]", 3)]);
}

#[test]
fn variables_start_at_zero_or_at_their_least_value() {
    let model = "int a; int[3,5] b; int[-5,-2] c; bool d; int[2,3] e[2]; struct { int[7,9] f; int g; } h; \
                 process P() { int[4,4] i; state A; init A; } system P;";
    assert_eq!(
        asks(model, "E<> a == 0 && b == 3 && c == -5 && !d && e[1] == 2 && h.f == 7 && h.g == 0 && P.i == 4"),
        1
    );
}

#[test]
fn assignments_out_of_range_fault() {
    assert!(faults("int[0,3] a = 3;", "a++").contains("4 is outside its range 0 to 3"));
    assert!(faults("int[0,3] a;", "a--").contains("-1 is outside"));
    assert!(faults("int a = 32767;", "a += 1").contains("32768 is outside"));
    assert!(faults("int[0,3] a[2]; int i = 1;", "a[i] = 4").contains("4 is outside"));
    assert!(faults("int[0,3] a; int b;", "a = 1 / b").contains("division by zero"));
    assert!(faults("int a[3]; int i = 3;", "a[i] = 1").contains("3"));
    assert!(faults("int a; int i = 64;", "a = 1 << i").contains("shift"));
    assert!(faults("int[0,3] f(int x) { return x; } int a = 4, b;", "b = f(a)").contains("4 is outside"));
    assert!(faults("int f(int[0,3] x) { return 1; } int a = 4, b;", "b = f(a)").contains("4 is outside"));
    assert!(faults("int f(int[0,3] x) { x = 0; return x; } int a = 4, b;", "b = f(a)").contains("4 is outside"));
}

#[test]
fn large_constants_are_fine_large_variables_are_not() {
    is("const int MILLION = 1000000;", "MILLION / 1000", 1000);
    assert!(refused("int a = 40000; process P() { state A; init A; } system P;").contains("does not fit"));
    assert!(
        refused("const int A = 2147483647, B = A * A * A; process P() { state S; init S; } system P;")
            .contains("too large")
    );
    let model = "int x; process P() { state S; init S; trans S -> S { guard x < 2147483647 * 2147483647 * 2147483647; }; } system P;";
    assert!(refused(model).contains("too large"));
    let model = "int x; process P() { state S; init S; trans S -> S { guard x + 2147483647 * 2147483647 + 2147483647 * 2147483647 * 2 > 3; }; } system P;";
    assert!(refused(model).contains("too large"));
}

#[test]
fn constants_may_be_computed() {
    let decls = "int fac(int n) { int r = 1; int i; for (i = 2; i <= n; i++) r *= i; return r; } \
                 const int F = fac(5); int a[fac(3)]; const int T[3] = { F, fac(2), 7 }; int[0, T[1]] b = T[1];";
    becomes(decls, "a[5] = F", &[("a[5]", 120), ("b", 2)]);
    let decls = "typedef struct { int x; int y[2]; } S; S make(int n) { S s; s.x = n; s.y[1] = n * 2; return s; } S s = make(3);";
    becomes(decls, "s.y[0] = s.x", &[("s.x", 3), ("s.y[1]", 6), ("s.y[0]", 3)]);
    let text = refused("int x; const int C = x; process P() { state S; init S; } system P;");
    assert!(text.contains("must be a constant"), "{text}");
    let text =
        refused("int f() { while (true) { } return 1; } const int C = f(); process P() { state S; init S; } system P;");
    assert!(text.contains("cannot be computed"), "{text}");
}

#[test]
fn quantifiers() {
    let decls = "const int N = 4; typedef int[0, N-1] id; int a[id] = { 3, 1, 4, 1 };";
    is(decls, "forall (i : id) a[i] > 0", 1);
    is(decls, "exists (i : id) a[i] == 4 && i == 2", 1);
    is(decls, "sum (i : id) a[i] * i", 12);
    // What stands behind a condition that excludes it does not exist.
    is(decls, "forall (i : id) i == N - 1 || a[i] != a[i + 1]", 1);
    is(decls, "exists (i : id) i < N - 1 && a[i] < a[i + 1]", 1);
    is(decls, "sum (i : id) (i > 0 ? a[i] - a[i - 1] : 0)", -2);
    is(decls, "forall (i : id) i > 0 imply a[i - 1] != a[i]", 1);
    is(decls, "forall (i : id) forall (j : id) i != j imply a[i] + a[j] > 1", 1);
    is(decls, "exists (b : bool) b && true", 1);
}

#[test]
fn quantifiers_over_functions_with_bodies() {
    let decls = "const int N = 4; typedef int[0, N-1] id; int a[id] = { 3, 1, 4, 1 }; \
                 int less(id n) { int k = 0; for (i : id) { if (a[i] < a[n]) k++; } return k; } \
                 int twice(int n) { return n * 2; }";
    is(decls, "forall (i : id) less(i) < 4", 1);
    is(decls, "exists (i : id) less(i) == 3", 1);
    is(decls, "sum (i : id) less(i)", 5);
    is(decls, "sum (i : id) twice(a[i]) + less(i)", 23);
    is(decls, "forall (i : id) (i == 2 or less(i) < 3) and twice(i) < 8", 1);
    is(decls, "exists (i : id) forall (j : id) less(i) >= less(j)", 1);
}

#[test]
fn scalars_can_be_compared_assigned_and_used_as_indexes() {
    let decls = "typedef scalar[3] S; S s, t; int a[S]; int n;";
    becomes(decls, "s = t, n = (s == t), a[s] = 4, n += a[t]", &[("n", 5)]);
    is("typedef scalar[3] S; int a[S] = { 1, 2, 3 };", "sum (s : S) a[s]", 6);
    let wrong = |e: &str| {
        refused(&format!(
            "typedef scalar[3] S; typedef scalar[3] T; S s; T t; int n; int a[3]; int b[S]; process P() {{ state A; init A; trans A -> A {{ assign {e}; }}; }} system P;"
        ))
    };
    assert!(wrong("n = s + 1").contains("a scalar is not a number"));
    assert!(wrong("s = 1").contains("a number is not a scalar"));
    assert!(wrong("s = t").contains("another scalar set"));
    assert!(wrong("n = (s == t)").contains("own set"));
    assert!(wrong("n = (s < s)").contains("a scalar is not a number"));
    assert!(wrong("n = a[s]").contains("indexed by numbers"));
    assert!(wrong("n = b[t]").contains("another scalar set"));
    assert!(wrong("n = b[1]").contains("members of a scalar set"));
}
