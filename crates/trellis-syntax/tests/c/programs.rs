//! What programs become: errors, ends, arbitrary values, places.

use trellis_model::cfa::interpret::{State, successors, zero};
use trellis_model::cfa::{Cfa, Kind};
use trellis_syntax::c::Ints;

use crate::run::{execute, read};

fn built(text: &str, ints: Ints) -> Cfa {
    read(text, ints).unwrap_or_else(|e| panic!("{e}")).cfa
}

fn ends(text: &str, inputs: &[i64]) -> Kind {
    let kinds = [Ints::Wrap, Ints::Math].map(|ints| execute(&built(text, ints), inputs).0);
    assert_eq!(kinds[0], kinds[1]);
    kinds[0]
}

#[test]
fn asserts_and_errors() {
    assert_eq!(ends("int main() { int x = 1; assert(x == 1); return 0; }", &[]), Kind::Final);
    assert_eq!(ends("int main() { int x = 1; assert(x == 2); return 0; }", &[]), Kind::Error);
    assert_eq!(ends("void reach_error() {} int main() { reach_error(); }", &[]), Kind::Error);
    assert_eq!(ends("extern void __VERIFIER_error(); int main() { __VERIFIER_error(); }", &[]), Kind::Error);
    assert_eq!(ends("extern void abort(void); int main() { abort(); assert(0); }", &[]), Kind::Final);
    let body = "void abort(void); void assume_abort_if_not(int c) { if (!c) { abort(); } }
                int main() { assume_abort_if_not(0); assert(0); }";
    assert_eq!(ends(body, &[]), Kind::Final);
}

#[test]
fn what_is_assumed_blocks() {
    let text = "int main() { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 2); assert(x != 7); return 0; }";
    assert_eq!(ends(text, &[1]), Kind::Plain);
    assert_eq!(ends(text, &[5]), Kind::Final);
    assert_eq!(ends(text, &[7]), Kind::Error);
}

#[test]
fn undefined_behaviour_ends_the_run() {
    let quotient = "int main() { int x = __VERIFIER_nondet_int(); int y = 1 / x; assert(x == 1); }";
    assert_eq!(ends(quotient, &[0]), Kind::Plain);
    assert_eq!(ends(quotient, &[2]), Kind::Error);
    let index = "int main() { int a[3] = {1, 1, 1}; int i = __VERIFIER_nondet_int(); a[i] = 2; assert(0); }";
    assert_eq!(ends(index, &[3]), Kind::Plain);
    assert_eq!(ends(index, &[-1]), Kind::Plain);
    assert_eq!(ends(index, &[2]), Kind::Error);
    let shift = "int main() { int i = __VERIFIER_nondet_int(); int x = 1 << i; assert(0); }";
    assert_eq!(ends(shift, &[32]), Kind::Plain);
    assert_eq!(ends(shift, &[31]), Kind::Error);
    let guarded = "int main() { int a[3] = {1, 1, 1}; int i = __VERIFIER_nondet_int(); if (i >= 0 && i < 3 && a[i] == 1) assert(0); }";
    assert_eq!(ends(guarded, &[3]), Kind::Final);
    assert_eq!(ends(guarded, &[1]), Kind::Error);
}

#[test]
fn uninitialised_locals_are_arbitrary() {
    let text = "int main() { _Bool b; if (b) assert(0); return 0; }";
    assert_eq!(ends(text, &[0]), Kind::Final);
    assert_eq!(ends(text, &[1]), Kind::Error);
    // Each time round, and when their declaration is jumped over.
    let text = "int main() { for (int i = 0; i < 2; i++) { _Bool b; assert(!(i == 1 && b)); b = 1; } }";
    assert_eq!(ends(text, &[0, 0]), Kind::Final);
    assert_eq!(ends(text, &[0, 1]), Kind::Error);
    let text = "int main() { int n = 0; { _Bool b = 0; in: assert(!b); n++; } if (n == 1) goto in; }";
    assert_eq!(ends(text, &[0]), Kind::Final);
    assert_eq!(ends(text, &[1]), Kind::Error);
    let text = "int main() { switch (1) { _Bool b; b = 0; case 1: assert(!b); } }";
    assert_eq!(ends(text, &[1]), Kind::Error);
    assert_eq!(ends("_Bool b; int main() { assert(!b); }", &[1]), Kind::Final);
}

#[test]
fn integers_wrap_or_not() {
    let text = "int main() { int x = 2147483647; x = x + 1; assert(x > 0); }";
    assert_eq!(execute(&built(text, Ints::Wrap), &[]).0, Kind::Error);
    assert_eq!(execute(&built(text, Ints::Math), &[]).0, Kind::Final);
    let text = "int main() { unsigned x = __VERIFIER_nondet_uint(); assert(x < 5); }";
    assert_eq!(execute(&built(text, Ints::Math), &[-1]).0, Kind::Plain);
    assert_eq!(execute(&built(text, Ints::Math), &[3]).0, Kind::Final);
}

#[test]
fn all_values_of_a_bool_are_possible() {
    let cfa = built("int main() { _Bool b = __VERIFIER_nondet_bool(); assert(!b); }", Ints::Wrap);
    let mut todo = vec![State { location: cfa.initial, env: zero(&cfa) }];
    let mut kinds = vec![];
    while let Some(state) = todo.pop() {
        kinds.push(cfa.location(state.location).kind);
        todo.extend(successors(&cfa, &state, 100).expect("few").into_iter().map(|(_, s)| s));
    }
    assert!(kinds.contains(&Kind::Error) && kinds.contains(&Kind::Final));
}

#[test]
fn mathematics_agrees_where_nothing_overflows() {
    let text = "int g; int main() { int x = -13, y = 5; g = (x / y) * 100 + x % y; g += (x >> 1) * 3 + (y << 3); g += (x & 7) + (~y);
                g += (unsigned char) 7 + (x < y) + !x; int d = 2; g += 40 >> d; g += 12 & 10; return 0; }";
    let [a, b] = [Ints::Wrap, Ints::Math].map(|ints| execute(&built(text, ints), &[]).1["g"]);
    assert_eq!(a, b);
}

#[test]
fn edges_know_their_lines() {
    let cfa = built("int main() {\n  int x = 1;\n  /* two\n lines */ x = 2;\n  assert(x == 2);\n}\n", Ints::Wrap);
    let places: Vec<String> = cfa.edges().filter_map(|e| cfa.edge(e).place).map(|p| cfa.show_place(p)).collect();
    for line in ["test.c:2:7", "test.c:4:11", "test.c:5:10"] {
        assert!(places.iter().any(|p| p == line), "{line} in {places:?}");
    }
}

#[test]
fn locals_of_functions_called_twice_are_shared() {
    let cfa = built("int f(int a) { int b = a; return b; } int main() { assert(f(1) + f(2) == 3); }", Ints::Wrap);
    let names: Vec<&str> = cfa.variables.iter().map(|v| cfa.terms.variable(*v).name.as_str()).collect();
    assert_eq!(names, ["f::a", "f::return", "f::b", "@tmp"]);
    assert_eq!(execute(&cfa, &[]).0, Kind::Final);
}

#[test]
fn the_other_data_model() {
    if !crate::run::has_gcc() {
        return;
    }
    let text = "#include <stddef.h>\n#include <stdint.h>\n#include <limits.h>\nint r[6]; int main() { r[0] = sizeof(long); r[1] = sizeof(int64_t); \
                r[2] = sizeof(uintmax_t); r[3] = sizeof(size_t); r[4] = LONG_MAX == INT_MAX; r[5] = sizeof(4294967295); \
                assert(r[0] == 4 && r[1] == 8 && r[2] == 8 && r[3] == 4 && r[4] && r[5] == 8); }";
    let mut sources = trellis_syntax::diag::Sources::default();
    let id = sources.add("test.c", text);
    let options = trellis_syntax::c::Options { data_model: trellis_syntax::c::DataModel::Ilp32, ..Default::default() };
    let built = trellis_syntax::c::parse(&mut sources, id, &options).expect("a program");
    assert_eq!(execute(&built.cfa, &[]).0, Kind::Final);
}

#[test]
fn unused_things_do_no_harm() {
    let text = "struct s { int *p; double d; }; extern double sqrt(double); typedef struct s *list; struct s global; float *unused;
                int (*handler)(void *); static double helper(double x) { return x / 2; } union u { int i; float f; };
                extern int printf(const char *, ...);
                int main(int argc, char **argv) { struct s local; int *p; (void) argv; printf(\"%d\\n\", argc); return 0; }";
    assert_eq!(ends(text, &[]), Kind::Final);
}
