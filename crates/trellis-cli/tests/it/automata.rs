//! C programs, control-flow automata, transition systems and statecharts: they can be looked at.

use crate::{stderr, stdout, temporary, trellis};

const PROGRAM: &str = "int main() {\n  int x = 0;\n  while (x < 10)\n    x++;\n  assert(x == 10);\n  return 0;\n}\n";

fn drawn(name: &str, text: &str, options: &[&str]) -> String {
    let (_gone, path) = temporary(name);
    std::fs::write(&path, text).expect("written");
    let mut args = vec!["convert", &path, "--to", "dot"];
    args.extend(options);
    let out = trellis(&args);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    stdout(&out)
}

#[test]
fn a_program_is_drawn() {
    let small = drawn("p.c", PROGRAM, &[]);
    assert!(small.starts_with("digraph") && small.contains("main::x := 0i32") && small.contains("line 3"), "{small}");
    assert!(small.contains("color=red") && small.contains("peripheries=2"), "{small}");
    let large = drawn("p.c", PROGRAM, &["--blocks", "--ints", "math"]);
    assert!(large.lines().count() < small.lines().count(), "{large}");
    assert!(large.contains("main::x := main::x + 1"), "{large}");
}

#[test]
fn an_automaton_is_drawn() {
    let text = "main process p { var x : int init loc A final loc B A -> B { x := 1 } }";
    assert!(drawn("p.cfa", text, &[]).contains("x := 1"));
}

#[test]
fn a_transition_system_is_drawn() {
    let text = "var x : integer = 0 trans { x := x + 1; } init {} env {}";
    let dot = drawn("p.xsts", text, &["-p", "x <= 5"]);
    assert!(dot.contains("before env") && dot.contains("x := x + 1") && dot.contains("[x > 5]"), "{dot}");
    let text = "specification S { system s := { var x : int initial x = 0 transition x' = x + 1 }
        property p : s models G(x < 5) property q : s models G(x < 7) }";
    assert!(drawn("p.sts", text, &["--property", "q"]).contains("[x >= 7]"));
    let (_gone, path) = temporary("p.sts");
    std::fs::write(&path, text).expect("written");
    let said = stderr(&trellis(&["convert", &path, "--to", "dot"]));
    assert!(said.contains("several properties") && said.contains("p, q"), "{said}");
    let dot = stdout(&trellis(&["convert", "xsts/Mission.xsts", "--to", "dot", "-p", "xsts/obc2.prop"]));
    assert!(dot.starts_with("digraph"), "{dot}");
}

#[test]
fn a_statechart_is_drawn() {
    let chart = |inside: &str| format!("<scxml xmlns=\"http://www.w3.org/2005/07/scxml\">\n{inside}\n</scxml>");
    let text = chart("<state id=\"a\"><transition event=\"e\" target=\"b\"/></state><final id=\"b\"/>");
    let dot = drawn("p.scxml", &text, &[]);
    assert!(dot.contains("n0 -> n1 [label=\"e\"]") && !dot.contains("stable"), "{dot}");
    // An arrow of a state with others in it is cut at its border.
    let text =
        chart("<state id=\"a\"><state id=\"c\"/><transition event=\"e\" target=\"b\"/></state><final id=\"b\"/>");
    let dot = drawn("p.scxml", &text, &[]);
    assert!(dot.contains("n1 -> n2 [label=\"e\", ltail=cluster_0]") && dot.contains("compound=true"), "{dot}");
    let (_gone, path) = temporary("q.scxml");
    std::fs::write(&path, chart("<state id=\"a\"><invoke/></state>")).expect("written");
    let out = trellis(&["convert", &path, "--to", "dot"]);
    assert_eq!(out.status.code(), Some(2));
    let said = stderr(&out);
    assert!(said.contains("expected <content> with a chart in <invoke>") && said.contains("q.scxml:2:15"), "{said}");
}

#[test]
fn what_cannot_be_read_is_shown_with_its_place() {
    let (_gone, path) = temporary("p.c");
    std::fs::write(&path, "int main() {\n  double p = 0;\n}\n").expect("written");
    let out = trellis(&["convert", &path, "--to", "dot"]);
    assert_eq!(out.status.code(), Some(2));
    let said = stderr(&out);
    assert!(
        said.contains("`p` is a floating-point number") && said.contains("p.c:2:10") && said.contains("^"),
        "{said}"
    );
}
