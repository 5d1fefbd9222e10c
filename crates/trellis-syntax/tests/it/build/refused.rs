//! What is refused, and in which words. The files of `tests/malformed` have more.

use super::{built, refused};

fn with(declarations: &str, label: &str) -> String {
    refused(&format!("{declarations} process P() {{ state A; init A; trans A -> A {{ {label} }}; }} system P;"))
}

#[test]
fn one_mistake_is_said_once() {
    let text = with("double x; Unknown y; int z = nothing;", "guard x < 3 && y == 2; assign x = 0, y = 1, z = 2;");
    assert_eq!(text.matches("error").count(), 3, "{text}");
    let text =
        with("typedef Unknown T; T a; T f(T x) { T y; return x; } extern Nope; Nope n;", "guard n.has(1) && f(a);");
    assert_eq!(text.matches("error").count(), 2, "{text}");
    // The same mistake in many processes.
    let text =
        refused("process P(const int[0,99] i) { state A; init A; trans A -> A { guard nothing > i; }; } system P;");
    assert_eq!(text.matches("error").count(), 1, "{text}");
}

#[test]
fn all_labels_are_looked_at() {
    let text = with("int x;", "guard a > 0; sync b!; assign x = c, x = d;");
    for name in ["`a`", "`b`", "`c`", "`d`"] {
        assert!(text.contains(name), "{name} in {text}");
    }
    assert!(with("int x;", "guard false && y > 0;").contains("`y`"));
    assert!(with("int x;", "guard false; assign x = y;").contains("`y`"));
    assert!(with("int x; void f() { if (false) { x = y; } }", "").contains("`y`"));
}

#[test]
fn the_place_is_exact() {
    let text =
        refused("int x;\nprocess P() {\n    state A; init A;\n    trans A -> A { guard x > yy; };\n}\nsystem P;\n");
    assert!(text.contains("model.xta:4:30"), "{text}");
    assert!(text.contains("guard x > yy"), "{text}");
    let text = refused("int x;\nprocess P() { state A; init A; }\n");
    assert!(text.contains("model.xta:2:33") && text.contains("no `system` line"), "{text}");
    let text = refused("");
    assert!(text.contains("model.xta:1:1"), "{text}");
}

#[test]
fn mistakes_end_after_twenty() {
    let decls: String = (0..100).map(|i| format!("int a{i} = b{i}; ")).collect();
    assert_eq!(with(&decls, "").matches("error").count(), 20);
}

#[test]
fn misspelt_names_are_suggested() {
    assert!(with("int counter;", "guard countr > 0;").contains("did you mean `counter`?"));
    assert!(with("typedef int[0,3] id_t; idt x;", "").contains("did you mean `id_t`?"));
    assert!(with("int step() { return 1; }", "guard stp() > 0;").contains("did you mean `step`?"));
    assert!(with("extern UnionBitVectr;", "").contains("did you mean `UnionBitVector`?"));
    assert!(with("UnionBitVector v[3];", "").contains("write `extern UnionBitVector;` first"));
    assert!(
        built("process Left() { state Idle; init Idle; } system Left;", "E<> Left.Idel")
            .is_err_and(|e| e.contains("did you mean `Idle`?"))
    );
}

#[test]
fn names_are_declared_once() {
    for decls in [
        "int a, a;",
        "int a; typedef int a;",
        "int f() { return 1; } int f;",
        "chan c; int c;",
        "int f(int x, int x) { return x; }",
        "int f() { int a; int a; return 1; }",
        "struct { int a; int a; } s;",
    ] {
        assert!(with(decls, "").contains("already declared") || with(decls, "").contains("declared twice"), "{decls}");
    }
    assert!(
        refused("process P() { state A; init A; } process P() { state A; init A; } system P;")
            .contains("already declared")
    );
    assert!(refused("int P; process P() { state A; init A; } system P;").contains("already declared"));
    assert!(refused("process P() { state A; init A; } Q = P(); Q = P(); system Q;").contains("already declared"));
    assert!(refused("process P() { int A; state A; init A; } system P;").contains("already declared"));
    assert!(
        refused("process P(int x, int x) { state A; init A; } Q = P(1, 2); system Q;").contains("already declared")
    );
    assert!(
        refused("process P(const int x) { int x; state A; init A; } Q = P(1); system Q;").contains("already declared")
    );
    assert!(with("", "select i : int[0,1], i : int[0,1];").contains("already declared"));
}
