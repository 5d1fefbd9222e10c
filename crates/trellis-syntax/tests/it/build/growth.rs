//! Short texts that stand for endless models: refused, with a place, soon, and without running out of stack or memory.

use std::time::{Duration, Instant};

use super::{built, network, refused, steps};

/// Well above what it takes, so that a busy machine does not fail the test.
const BUDGET: Duration = Duration::from_secs(20);

fn refused_soon(model: &str, why: &str) {
    let started = Instant::now();
    let text = refused(model);
    let took = started.elapsed();
    assert!(text.contains(why), "{text}");
    assert!(took < BUDGET, "{why}: {took:?}");
    println!("{took:?}: {}", text.lines().next().unwrap_or_default());
}

fn with(declarations: &str, label: &str) -> String {
    format!("{declarations} process P() {{ state A; init A; trans A -> A {{ {label} }}; }} system P;")
}

/// `f0` does something, each of the others calls the one before twice.
fn doubling(n: usize, first: &str, next: impl Fn(usize) -> String) -> String {
    (1..n).fold(first.to_string(), |text, i| format!("{text} {}", next(i)))
}

#[test]
fn calls_that_double() {
    let formulas = doubling(40, "int f0(int x) { return x + 1; }", |i| {
        format!("int f{i}(int x) {{ return f{0}(x) + f{0}(x + 1); }}", i - 1)
    });
    refused_soon(&with(&format!("int n; {formulas}"), "guard f39(n) > 0;"), "too large here");
    refused_soon(&with(&format!("int n; {formulas}"), "assign n = f39(n);"), "too large here");
    let bodies = doubling(40, "int n; void f0() { n++; }", |i| format!("void f{i}() {{ f{0}(); f{0}(); }}", i - 1));
    refused_soon(&with(&bodies, "assign f39();"), "too large here");
    // Nobody calls it, but it is looked at.
    refused_soon(&with(&bodies, ""), "too large here");
}

#[test]
fn arguments_that_double_are_kept_small() {
    let nested = |f: &str, n: usize| format!("{}n{}", format!("{f}(").repeat(n), ")".repeat(n));
    for f in ["return x + x", "return x * x", "return x <? (x - 1)", "return (x > 0 && x < 9) ? x : 1"] {
        let decls = format!("int n; int f(int x) {{ {f}; }}");
        let model = with(&decls, &format!("guard {} >= 0;", nested("f", 60)));
        let started = Instant::now();
        let net = network(&model);
        assert!(steps(&net).is_ok());
        assert!(started.elapsed() < BUDGET);
    }
    let chain = vec!["n"; 300].join(" <? ");
    assert!(steps(&network(&with("int n;", &format!("guard {chain} == 0;")))).is_ok());
}

#[test]
fn quantifiers_in_quantifiers() {
    let three = "forall (i : int[0,999]) forall (j : int[0,999]) forall (k : int[0,999])";
    refused_soon(&with("int n;", &format!("guard {three} n + i + j + k >= 0;")), "too large here");
    refused_soon(&with("int n;", &format!("guard {three} i + j + k >= 0;")), "too large here");
    refused_soon(&with("int n;", "guard sum (i : int[0,1000000]) n > i;"), "too large");
    let model = with("int n;", "");
    let started = Instant::now();
    assert!(built(&model, &format!("A[] {three} n + i + j + k >= 0")).is_err_and(|e| e.contains("too large here")));
    assert!(started.elapsed() < BUDGET);
}

#[test]
fn selects_and_processes() {
    refused_soon(&with("", "select i : int[0,1000], j : int[0,1000], k : int[0,1000];"), "combinations");
    refused_soon(
        &with("int n;", "select i : int[0,499], j : int[0,499]; guard i < n && j < n + 1; assign n = i + j * 2;"),
        "too large here",
    );
    refused_soon("process P(const int[0,1000000] i) { state A; init A; } system P;", "more than");
    refused_soon("process P(const int[0,999] i, const int[0,999] j) { state A; init A; } system P;", "more than");
    refused_soon(
        "process P(const int[0,9999] i) { state A; init A; } process Q(const int[0,9999] i) { state A; init A; } system P, Q;",
        "more than",
    );
    refused_soon("process P(const int[0,9999] i) { int a[1000]; state A; init A; } system P;", "cells");
}

#[test]
fn variables_and_types() {
    refused_soon(&with("int a[1000000000];", ""), "too large");
    refused_soon(&with("int a[1000][1000][1000];", ""), "too large");
    refused_soon(&with("chan c[2000][2000];", ""), "too large");
    refused_soon(&with("int a[1000000]; int b[1000000]; int c[1000000];", ""), "all variables together");
    let structs = doubling(40, "typedef struct { int x; int y; } S0;", |i| {
        format!("typedef struct {{ S{0} a; S{0} b; }} S{i};", i - 1)
    });
    refused_soon(&with(&format!("{structs} S39 s;"), ""), "too large");
    let arrays = doubling(1000, "typedef int S0[1];", |i| format!("typedef S{} S{i}[1];", i - 1));
    refused_soon(&with(&arrays, ""), "levels deep");
    refused_soon(&with("extern UnionBitVector; UnionBitVector v[100000000];", ""), "too large");
    refused_soon(&with("extern V = Vector(Vector(Vector(Flat, 1000), 1000), 1000);", ""), "");
}

#[test]
fn loops_in_loops_are_not_written_out() {
    let depth = 60;
    let body = format!("{}n++;{}", "do { ".repeat(depth), " } while (n < 3);".repeat(depth));
    let model = with(&format!("int n; void f() {{ {body} }}"), "assign f();");
    assert!(steps(&network(&model)).is_ok());
    let started = Instant::now();
    let model = with("int n; void f() { int i; for (i = 0; i < 1000000000; i++) { n = 1 - n; } }", "assign f();");
    assert!(network(&model).processes[0].edges.len() == 1);
    let model = with("int n; void f() { for (i : int[0,1000000000]) n = 1; }", "assign f();");
    assert!(network(&model).processes[0].edges.len() == 1);
    assert!(started.elapsed() < BUDGET);
}

#[test]
fn chains_of_calls_do_not_run_out_of_stack() {
    let chain = |n: usize, wrap: &dyn Fn(String) -> String| {
        doubling(n, "int n; int f0(int x) { return x; }", |i| {
            format!("int f{i}(int x) {{ return {}; }}", wrap(format!("f{}(x)", i - 1)))
        })
    };
    let brackets = |e: String| format!("{}{e}{}", "-(".repeat(90), ")".repeat(90));
    refused_soon(&with(&chain(2000, &brackets), "guard f1999(n) > 0;"), "levels deep");
    refused_soon(&with(&chain(20_000, &|e| e), "guard f19999(n) > 0;"), "levels deep");
    assert!(built(&with(&chain(500, &|e| format!("{e} + 1")), "guard f499(n) > 0;"), "").is_ok());
    let bodies = doubling(3000, "int n; void f0() { n++; }", |i| {
        format!("void f{i}() {{ {}f{}();{} }}", "if (n > 0) {".repeat(50), i - 1, "}".repeat(50))
    });
    refused_soon(&with(&bodies, "assign f2999();"), "levels deep");
    // As high as the parser lets expressions grow.
    let high = vec!["n"; 499].join(" + ");
    let model =
        with("int n; int a[1];", &format!("guard {high} == 0; assign n = {}0{};", "a[".repeat(190), "]".repeat(190)));
    assert_eq!(steps(&network(&model)).map(|s| s.len()), Ok(1));
}

#[test]
fn long_names_make_short_messages() {
    let long = "a".repeat(1_000_000);
    for model in [
        with(&format!("int n = {long};"), ""),
        with(&format!("{long} n;"), ""),
        with(&format!("int {long}; int {long};"), ""),
        with(&format!("struct {{ int {long}; }} s; int n = s;"), ""),
        format!("process P() {{ state A; init A; }} system {long};"),
        with("int b;", &format!("guard {long}(1);")),
        with(&format!("extern {long};"), ""),
        with(&format!("int {long}x;"), &format!("guard {long};")),
    ] {
        let text = refused(&model);
        assert!(text.len() < 4000, "{} bytes", text.len());
    }
}
