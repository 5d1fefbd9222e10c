//! Programs that do what C leaves undefined: we and gcc's sanitizers agree on whether, and in which line.

use trellis_model::cfa::interpret::{State, walk, zero};
use trellis_model::cfa::{Kind as LocationKind, Location};
use trellis_syntax::c::{Built, Check, Ints, Kind, Kinds, Options, parse};
use trellis_syntax::diag::{Sources, render};

use crate::run::Inputs;

const ALL: [Kind; 8] = [
    Kind::Assertion,
    Kind::Bounds,
    Kind::Pointer,
    Kind::Division,
    Kind::Shift,
    Kind::Return,
    Kind::Overflow,
    Kind::Uninitialised,
];

/// Reads a program that is asked these things.
pub fn read(text: &str, ints: Ints, kinds: &[Kind]) -> Built {
    let mut sources = Sources::default();
    let id = sources.add("test.c", text);
    let options = Options { ints, checks: Kinds::of(kinds), ..Options::default() };
    parse(&mut sources, id, &options).unwrap_or_else(|d| panic!("{}\n{text}", render(&d, &sources, false)))
}

/// Runs a program without inputs: the check that fails, if one does.
fn failing(built: &Built) -> Option<Check> {
    outcome(built).err()
}

/// Runs a program without inputs: the state in which it ends, or the check that fails.
pub fn outcome(built: &Built) -> Result<State, Check> {
    let cfa = &built.cfa;
    let start = State { location: cfa.initial, env: zero(cfa) };
    let (end, _) = walk(cfa, start, &mut Inputs(vec![]), 200_000);
    let Location { kind, name, .. } = cfa.location(end.location);
    match kind {
        LocationKind::Final => Ok(end),
        LocationKind::Error => {
            let mut checks = built.checks.iter();
            Err(checks.find(|c| c.location == Some(end.location)).expect("an error is a check").clone())
        }
        LocationKind::Plain => panic!("the run is stuck in {name}"),
    }
}

/// What fails in the body of `main`.
fn found(before: &str, body: &str, kinds: &[Kind]) -> Option<(Kind, u32, String)> {
    let text = format!("{before}\nint main(void) {{\n{body}\nreturn 0;\n}}\n");
    failing(&read(&text, Ints::Wrap, kinds)).map(|c| (c.kind, c.place.line, c.text))
}

fn kind_of(before: &str, body: &str) -> Option<Kind> {
    found(before, body, &ALL).map(|f| f.0)
}

#[test]
fn each_kind_is_a_check() {
    let cases = [
        ("int a[10];", "int i = 10; a[i] = 1;", Kind::Bounds),
        ("int a[10];", "int i = -1; return a[i];", Kind::Bounds),
        ("int a[10];", "unsigned char i = 10; a[i]++;", Kind::Bounds),
        ("int a[2][2];", "int i = 2; return a[0][i];", Kind::Bounds),
        ("int a[2][2];", "int *p = &a[0][0]; return p[3];", Kind::Bounds),
        ("int a[2][2];", "int *p = &a[0][0]; int i = 1; p += i; p += i; return *p;", Kind::Bounds),
        ("struct s { int x, y; } s;", "int *p = &s.x; return p[1];", Kind::Bounds),
        ("struct s { int x, y; } s;", "int *p = &s.x; int *q = p; p = 0; p = q; p++; return *p;", Kind::Bounds),
        ("int a[4];", "int *p = a + 5; return p != 0;", Kind::Bounds),
        ("int f(int *p) { return p[2]; } int a[2];", "return f(a);", Kind::Bounds),
        ("", "int *p = 0; int x; *p = 1; p = &x;", Kind::Pointer),
        (
            "struct s { int x; }; int f(struct s *p) { return p->x; } struct s s;",
            "struct s *p = &s; p = 0; return f(p);",
            Kind::Pointer,
        ),
        ("int *f(void) { int x = 3; return &x; }", "int *p = f(); return *p;", Kind::Pointer),
        ("", "int *p; { int x = 3; p = &x; } return *p;", Kind::Pointer),
        ("", "int *p = 0; for (int i = 0; i < 3; i++) { int x = 3; if (i > 0) return *p; p = &x; }", Kind::Pointer),
        ("", "int *p = 0; int y = 1; while (y) { int x = 3; p = &x; break; } return *p;", Kind::Pointer),
        ("", "int *p = 0; { int x = 3; p = &x; goto out; } out: return *p;", Kind::Pointer),
        ("int a[2], b[2];", "int *p = a, *q = b; int t = 0; if (t) { p = b; q = a; } return p < q;", Kind::Pointer),
        ("", "int z = 0; return 1 / z;", Kind::Division),
        ("", "int z = 0; return 1 % z;", Kind::Division),
        ("", "unsigned z = 0, x = 4; x /= z; return x;", Kind::Division),
        ("", "int m = -2147483647 - 1, d = -1; return m / d;", Kind::Division),
        ("", "long m = -9223372036854775807L - 1, d = -1; return m % d != 0;", Kind::Division),
        ("", "int s = 40; return 1 << s;", Kind::Shift),
        ("", "int s = -1; return 1 >> s;", Kind::Shift),
        ("", "int s = 32; unsigned u = 1; u <<= s; return u;", Kind::Shift),
        ("int f(int x) { if (x) return 1; }", "return f(0);", Kind::Return),
        ("int f(int x) { if (x) return 1; return; }", "int y = f(0); return y;", Kind::Return),
        ("__attribute__((noreturn)) void f(int x) { while (x) ; }", "f(0);", Kind::Return),
        ("_Noreturn void f(int x) { if (x) return; while (1) ; }", "f(1);", Kind::Return),
        ("int f(int x) __attribute__((noreturn)); int f(int x) { return x; }", "return f(1);", Kind::Return),
        ("", "int x = 2147483647; return x + 1;", Kind::Overflow),
        ("", "int x = 2147483647; x++;", Kind::Overflow),
        ("", "long x = -9223372036854775807L - 1; x--;", Kind::Overflow),
        ("", "int x = -2147483647 - 1; return -x;", Kind::Overflow),
        ("", "int x = 65536; return x * x;", Kind::Overflow),
        ("", "int x = 1431655766; return x * -2 > 0;", Kind::Overflow),
        ("", "long x = 4294967296L, y = 2147483648L; return x * y > 0;", Kind::Overflow),
        ("", "int x = 3, n = 30; return x << n;", Kind::Overflow),
        ("", "int x = -1; return x << 1;", Kind::Overflow),
        ("#include <stdlib.h>\n", "int x = -2147483647 - 1; return abs(x);", Kind::Overflow),
        ("", "int x; return x;", Kind::Uninitialised),
        ("", "int a[3]; a[0] = a[2] = 1; return a[1];", Kind::Uninitialised),
        ("struct s { int x, y; };", "struct s s, t; s.x = 1; t = s; return t.y;", Kind::Uninitialised),
        ("", "int x; int *p = &x; int y; y = 1; if (y) p = &y; p = &x; return *p;", Kind::Uninitialised),
    ];
    for (before, body, kind) in cases {
        if before.contains('#') && !crate::run::has_gcc() {
            continue;
        }
        assert_eq!(kind_of(before, body), Some(kind), "{before} {body}");
    }
}

#[test]
fn what_is_defined_is_no_violation() {
    let cases = [
        ("int a[10];", "int i = 9; a[i] = 1; int *p = a + 10; return p - a;"),
        ("int a[2][2];", "int *p = &a[0][0]; int i = 1; p += i; p += i; return a[1] == p;"),
        ("int x;", "int *p = &x; int *q = p + 1; return q != p;"),
        ("int f(int *p) { return p ? *p : 0; } int x;", "int *p = &x; p = 0; return f(p);"),
        ("", "int *p = 0; for (int i = 0; i < 3; i++) { int x = i; p = &x; if (*p != i) return 1; }"),
        (
            "int *f(int *p) { int x = 3; p = &x; *p = 4; return p == &x ? 0 : p; } int y;",
            "int *q = &y; return f(q) == 0;",
        ),
        ("", "int z = 0; return z && 1 / z; "),
        ("", "int z = 0; return z ? 1 / z : 2; "),
        ("", "int s = 31; return (1u << s) != 0;"),
        (
            "",
            "unsigned x = 4294967295u; x++; x *= 77; x = -x; unsigned char c = 255; c++; short s = 32767; s++; return 0;",
        ),
        ("", "int x = 2147483646; x++; long y = x; y++; x = -x - 1; return x * 1 == y;"),
        ("", "int x = 1073741823; return x * 2 - (x << 1) + (1 << 30) * 0;"),
        ("", "long x = 3037000499L; return x * x > 0 && x * -x < 0;"),
        ("int f(int x) { if (x) return 1; }", "f(0); return f(1);"),
        ("int f(int x) { while (1) { if (x++ > 3) return x; } }", "return f(1);"),
        ("", "int x, y; x = 3; y = x; int a[3]; for (int i = 0; i < 3; i++) a[i] = i; return a[x - 1] + y;"),
        ("struct s { int x, y; };", "struct s s, t; s.x = 1; t = s; return t.x;"),
    ];
    for (before, body) in cases {
        assert_eq!(found(before, body, &ALL), None, "{before} {body}");
    }
}

/// `noreturn` stands in many places, and of pointers to functions it means nothing.
#[test]
fn functions_that_do_not_return() {
    let declared = "void exit(int); static void __attribute__((noreturn, cold)) f(void) { exit(1); }
        void __attribute__((__noreturn__)) g(int x); extern void h(int) __attribute__((noreturn)) __attribute__((cold));
        typedef void (*handler)(int) __attribute__((noreturn)); struct s { int x; void (*h)(void) __attribute__((noreturn)); };
        void k(void (*h)(void) __attribute__((noreturn))); void (*pointer)(int) __attribute__((noreturn));
        inline _Noreturn static void l(void) { f(); }";
    assert_eq!(found(declared, "int x = 3, z = 0; if (x > 2) l(); else f(); return 1 / z;", &ALL), None);
    // What stands behind a call of one without a body is not reached, whatever it does.
    let built = read(
        &format!("{declared} int main(void) {{ int z = 0; if (!z) h(1); return 1 / z; }}"),
        Ints::Wrap,
        &[Kind::Division],
    );
    assert!(failing(&built).is_none());
    // Who does not ask gets runs that end there.
    assert_eq!(found("_Noreturn void f(void) { }", "f(); __VERIFIER_error();", &[Kind::Assertion]), None);
}

#[test]
fn what_is_not_asked_is_assumed() {
    // Nothing goes on after an index outside its array, and nothing is said about it; what overflows wraps.
    let built = read("int a[2]; int main(void) { int i = 2; a[i] = 1; return 0; }", Ints::Wrap, &[Kind::Assertion]);
    assert!(built.checks.is_empty() && built.cfa.errors().count() == 0);
    let wraps = "int x = 2147483647; x++; if (x < 0) __VERIFIER_error();";
    assert_eq!(found("", wraps, &[Kind::Assertion]).map(|f| f.0), Some(Kind::Assertion));
    let gone = "int *p; { int x = 3; p = &x; } if (*p == 3) __VERIFIER_error();";
    assert_eq!(found("", gone, &[Kind::Assertion]).map(|f| f.0), Some(Kind::Assertion));
    // A failing assertion ends a program that is asked something else.
    assert_eq!(found("", "int z = 0; if (!z) __VERIFIER_error(); z = 1 / z;", &[Kind::Division]), None);
}

#[test]
fn checks_have_lines_and_words() {
    let (kind, line, text) = found("int a[10];", "int i = 3;\ni += 7;\na[i] = 1;", &ALL).expect("it fails");
    assert_eq!((kind, line, text.as_str()), (Kind::Bounds, 5, "a[i]: index outside an array of 10"));
    // One check for each place and array, however often its function is called.
    let text = "int f(int *p, int i) { return p[i]; } int a[3], b[5];
                int main(void) { int n = f(a, 0) + f(a, 1) + f(b, 2); return n + a[1]; }";
    let built = read(text, Ints::Wrap, &[Kind::Bounds]);
    let texts: Vec<&str> = built.checks.iter().map(|c| c.text.as_str()).collect();
    let places = ["p[i]: index outside an array of 3", "p[i]: index outside an array of 5"];
    assert!(places.iter().all(|p| texts.iter().filter(|t| *t == p).count() == 1), "{texts:?}");
    // What plainly holds is counted, and has no error location.
    assert!(built.checks.iter().any(|c| c.text.starts_with("a[1]") && c.location.is_none()));
}

#[test]
fn mathematical_integers_overflow_too() {
    let overflow = |body: &str| {
        let text = format!("int main(void) {{ {body} return 0; }}");
        failing(&read(&text, Ints::Math, &[Kind::Overflow])).is_some()
    };
    assert!(overflow("int x = 2147483647; x = x + 1;") && overflow("int x = 46341; x = x * x;"));
    assert!(!overflow("int x = 2147483646; x = x + 1;") && !overflow("unsigned x = 4294967295u; x = x + 1;"));
}

#[test]
fn functions_without_a_body_may_do_anything() {
    let text = "int g = 1; const int c = 1; int f(void); int main(void) { int x = 1; f(); if (g != 1 || c != 1 || x != 1) \
                __VERIFIER_error(); return 0; }";
    let built = read(text, Ints::Wrap, &[Kind::Assertion, Kind::Call]);
    assert_eq!(built.bodiless, ["f"]);
    assert!(built.checks.iter().any(|c| c.kind == Kind::Call && c.location.is_some()));
    let havocs =
        built.cfa.edges().any(|e| built.cfa.terms.show_stmt(built.cfa.edge(e).stmt).to_string().contains("havoc g"));
    assert!(havocs, "g may change");
    // Inputs are no such functions, and where nobody asks there is a warning, as ever.
    let inputs = read("int nondet_int(void); int main(void) { return nondet_int(); }", Ints::Wrap, &[Kind::Call]);
    assert!(inputs.checks.is_empty() && inputs.warnings.is_empty());
    let old = read("void f(void); int main(void) { f(); return 0; }", Ints::Wrap, &[Kind::Assertion]);
    assert!(old.checks.is_empty() && old.warnings.len() == 1);
}
