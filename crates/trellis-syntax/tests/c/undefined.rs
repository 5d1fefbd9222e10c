//! Programs that do what C leaves undefined: we and gcc's sanitizers agree on whether, and in which line.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use trellis_model::cfa::interpret::{State, walk, zero};
use trellis_model::cfa::{Kind as LocationKind, Location};
use trellis_syntax::c::{Built, Check, Ints, Kind, Kinds, Options, parse};
use trellis_syntax::diag::{Sources, render};

use crate::random::Random;
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
fn read(text: &str, ints: Ints, kinds: &[Kind]) -> Built {
    let mut sources = Sources::default();
    let id = sources.add("test.c", text);
    let options = Options { ints, checks: Kinds::of(kinds), ..Options::default() };
    parse(&mut sources, id, &options).unwrap_or_else(|d| panic!("{}\n{text}", render(&d, &sources, false)))
}

/// Runs a program without inputs: the check that fails, if one does.
fn failing(built: &Built) -> Option<Check> {
    let cfa = &built.cfa;
    let start = State { location: cfa.initial, env: zero(cfa) };
    let (end, _) = walk(cfa, start, &mut Inputs(vec![]), 200_000);
    let Location { kind, name, .. } = cfa.location(end.location);
    match kind {
        LocationKind::Final => None,
        LocationKind::Error => built.checks.iter().find(|c| c.location == Some(end.location)).cloned(),
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

// Random programs.

/// Numbers are in variables, for gcc computes with constants in advance, and what it can do without is not run.
const NUMBERS: [&str; 10] = ["0", "1", "2", "3", "-1", "7", "31", "2147483647", "-2147483647 - 1", "65536"];

/// An expression of small numbers, mostly, in which much may be undefined, rarely.
fn expression(r: &mut Random, depth: usize) -> String {
    if depth == 0 || r.below(6) == 0 {
        return match r.below(9) {
            0 => {
                format!("k{}", r.below(NUMBERS.len()))
            }
            1 => format!("a[{}]", index(r)),
            2 => format!("m[{}][{}]", index2(r), index2(r)),
            3 => "s.x".into(),
            4 => format!("s.y[{}]", index2(r)),
            5 if r.below(2) == 0 => "*p".into(),
            5 => format!("p[{} & 1]", variable(r)),
            _ => variable(r),
        };
    }
    let (a, mut b) = (expression(r, depth - 1), expression(r, depth - 1));
    while b == a {
        b = expression(r, depth - 1);
    }
    match r.below(16) {
        0 => format!("({}{a})", r.pick(&["-", "~"])),
        1 => format!("(({}) {a})", r.pick(&["int", "unsigned", "short", "unsigned char", "long"])),
        2 => format!("({} ? {a} : {b})", truth(&expression(r, depth - 1))),
        3 => {
            format!("({a} {} {})", r.pick(&["/", "%"]), rarely(r, &format!("(({b} & 15) + 1)"), &format!("({b} & 7)")))
        }
        4 => format!(
            "(({a} & 255) {} {})",
            r.pick(&["<<", ">>"]),
            rarely(r, &format!("({b} & 7)"), &format!("({b} & 63)"))
        ),
        5 | 6 => format!("({} {} {})", truth(&a), r.pick(&["&&", "||"]), truth(&b)),
        7..=9 => format!("({a} {} {b})", r.pick(&["<", ">", "==", "!="])),
        10 | 11 => format!("({a} {} {b})", r.pick(&["&", "|", "^"])),
        12 => format!("(({a} & 1023) {} ({b} & 1023))", r.pick(&["+", "-", "*"])),
        13 => format!("f(({a}) & 63)"),
        _ => format!("({a} {} {b})", r.pick(&["+", "-", "*"])),
    }
}

/// As a condition gcc would look at the operands of a difference instead of subtracting.
fn truth(e: &str) -> String {
    format!("({e} != k0)")
}

fn rarely(r: &mut Random, often: &str, rarely: &str) -> String {
    if r.below(6) == 0 { rarely.into() } else { often.into() }
}

fn variable(r: &mut Random) -> String {
    r.pick(&["v0", "v1", "v2", "v3", "v4"]).into()
}

fn index(r: &mut Random) -> String {
    let v = variable(r);
    rarely(r, &format!("{v} & 3"), &format!("{v} & 7"))
}

fn index2(r: &mut Random) -> String {
    let v = variable(r);
    rarely(r, &format!("{v} & 1"), &format!("{v} & 3"))
}

fn statement(r: &mut Random, out: &mut String, depth: usize, loops: &mut usize) {
    let _ = match r.below(if depth == 0 { 10 } else { 14 }) {
        0..=2 => writeln!(out, "{} {} {};", variable(r), r.pick(&["=", "=", "+=", "-=", "^="]), expression(r, 2)),
        3 => writeln!(out, "a[{}] = {};", index(r), expression(r, 2)),
        4 => writeln!(out, "m[{}][{}] += {};", index2(r), index2(r), expression(r, 1)),
        5 => writeln!(out, "{}{};", variable(r), r.pick(&["++", "--"])),
        // Not to a member with another one behind it: the sanitizers do not see a step from one to the next.
        6 => writeln!(
            out,
            "p = {};",
            ["&v0".into(), format!("&a[{} & 3]", variable(r)), format!("&s.y[{} & 1]", variable(r)), "a".into()]
                [r.below(4)]
        ),
        7 => writeln!(out, "if ({} & 7) p = a; else p = 0;", variable(r)),
        8 => writeln!(out, "*p = {};", expression(r, 1)),
        // A variable that is gone; not in loops, where it would be there again.
        9 if *loops == 0 => {
            let _ = writeln!(out, "{{ int t = {};", expression(r, 1));
            let _ = writeln!(out, "p = &t; *p += 1; }}");
            writeln!(out, "if ({} & 3) p = a;", variable(r))
        }
        9 => writeln!(out, "s.y[{}] = {};", index2(r), expression(r, 1)),
        10 | 11 => {
            let _ = writeln!(out, "if {} {{", truth(&expression(r, 2)));
            block(r, out, depth - 1, loops);
            let _ = writeln!(out, "}} else {{");
            block(r, out, depth - 1, loops);
            writeln!(out, "}}")
        }
        _ => {
            *loops += 1;
            let i = format!("i{loops}");
            let _ =
                writeln!(out, "for (int {i} = 0; {i} < {} && {}; {i}++) {{", 1 + r.below(4), truth(&expression(r, 1)));
            block(r, out, depth - 1, loops);
            if r.below(3) == 0 {
                let _ = writeln!(out, "if {} {};", truth(&expression(r, 1)), r.pick(&["break", "continue"]));
            }
            block(r, out, depth - 1, loops);
            writeln!(out, "}}")
        }
    };
}

fn block(r: &mut Random, out: &mut String, depth: usize, loops: &mut usize) {
    for _ in 0..1 + r.below(2) {
        statement(r, out, depth, loops);
    }
}

fn program(seed: u64) -> String {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = format!("/* seed {seed} */\n");
    for (n, number) in NUMBERS.iter().enumerate() {
        let _ = writeln!(text, "int k{n} = {number};");
    }
    let types = ["int", "unsigned", "short", "unsigned char", "long"];
    for (n, ty) in ["int", types[r.below(5)], types[r.below(5)], "int", types[r.below(5)]].iter().enumerate() {
        let _ = writeln!(text, "{ty} v{n} = {};", r.below(9));
    }
    let _ = writeln!(text, "int a[4] = {{1, 2, 3, 4}};\nint m[2][2] = {{{{1, 2}}, {{3, 4}}}};");
    let _ = writeln!(text, "int g0;\nstruct {{ int x; int y[2]; }} s = {{5, {{6, 7}}}};\nint *p = a;");
    let _ = writeln!(
        text,
        "int f(int q) {{\nif (q > 3) return q;\ng0 = {};\nreturn q + {};\n}}",
        expression2(&mut r),
        expression2(&mut r)
    );
    let _ = writeln!(text, "int main(void) {{");
    let mut loops = 0;
    for _ in 0..5 {
        statement(&mut r, &mut text, 2, &mut loops);
    }
    let _ = writeln!(text, "return 0;\n}}");
    text
}

/// Without calls: functions do not call themselves.
fn expression2(r: &mut Random) -> String {
    loop {
        let e = expression(r, 2);
        if !e.contains("f(") {
            return e;
        }
    }
}

/// What the sanitizers say: nothing, or their words and the line.
fn sanitised(folder: &Path, text: &str) -> Option<(String, Option<u32>)> {
    let (file, program) = (folder.join("test.c"), folder.join("test"));
    std::fs::write(&file, text).expect("written");
    let flags =
        ["-std=gnu11", "-w", "-O0", "-g", "-fsanitize=undefined,address,bounds-strict", "-fno-sanitize-recover=all"];
    let compiled = Command::new("gcc").args(flags).arg("-o").arg(&program).arg(&file).output().expect("gcc");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let options = "detect_stack_use_after_return=1:detect_leaks=0:symbolize=0";
    let ran = Command::new(&program).env("ASAN_OPTIONS", options).output().expect("the program");
    let said = String::from_utf8_lossy(&ran.stderr).to_string();
    if ran.status.success() {
        return None;
    }
    let report = said.lines().find(|l| l.contains("runtime error") || l.contains("AddressSanitizer"));
    let report = report.unwrap_or_else(|| panic!("the program fails without a report: {said}\n{text}")).to_string();
    // `test.c:12:5: runtime error: …`
    let line = report.split_once("test.c:").and_then(|(_, rest)| rest.split(':').next()?.parse().ok());
    Some((report, line))
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("trellis-undefined-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

fn has_sanitizers(folder: &Path) -> bool {
    let (file, program) = (folder.join("try.c"), folder.join("try"));
    let _ = std::fs::write(&file, "int main(void) { return 0; }\n");
    let built = Command::new("gcc").args(["-fsanitize=undefined,address", "-o"]).arg(&program).arg(&file).output();
    built.is_ok_and(|o| o.status.success()) && Command::new(&program).output().is_ok_and(|o| o.status.success())
}

/// By default a few; `TRELLIS_RUNS=5000 cargo test -p trellis-syntax --test c sanitizers` for the full number.
#[test]
fn the_sanitizers_agree() {
    let folder = folder();
    if !has_sanitizers(&folder) {
        eprintln!("skipped: there is no gcc with sanitizers");
        return;
    }
    let runs: u64 = std::env::var("TRELLIS_RUNS").ok().and_then(|s| s.parse().ok()).unwrap_or(25);
    let first: u64 = std::env::var("TRELLIS_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let (mut clean, mut kinds) = (0, std::collections::BTreeMap::new());
    for seed in first..first + runs {
        let text = program(seed);
        let theirs = sanitised(&folder, &text);
        let asked = [Kind::Bounds, Kind::Pointer, Kind::Division, Kind::Shift, Kind::Overflow];
        let ours = failing(&read(&text, Ints::Wrap, &asked));
        match (&theirs, &ours) {
            (None, None) => clean += 1,
            (Some((report, line)), Some(check)) => {
                *kinds.entry(check.kind).or_insert(0) += 1;
                // Whether a call comes before what stands beside it is not specified.
                let calls = |line: u32| text.lines().nth(line as usize - 1).is_none_or(|l| l.contains("f("));
                let inside = |line: u32| text.lines().skip(line as usize).any(|l| l.starts_with("int main"));
                let loose = |line| calls(line) || inside(line);
                let lines = line.is_none_or(|line| line == check.place.line || loose(line) || loose(check.place.line));
                assert!(lines, "they: {report}\nwe: {check:?}\n{text}");
            }
            _ => panic!("they: {theirs:?}\nwe: {ours:?}\n{text}"),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("{runs} programs, {clean} without a report, the others: {kinds:?}");
}
