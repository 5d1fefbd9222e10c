//! `trellis ltl2hoa`: formulas in, automata out.

use crate::{stderr, stdout, trellis};

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let out = trellis(&[&["ltl2hoa"], args].concat());
    (out.status.code(), stdout(&out), stderr(&out))
}

#[test]
fn an_automaton_is_written() {
    let (code, out, err) = run(&["!G(a -> F b)", "--acceptance", "state"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let expected = "HOA: v1\nname: \"!G (a -> F b)\"\nStates: 2\nStart: 0\nAP: 2 \"a\" \"b\"\nacc-name: Buchi\n\
        Acceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels state-acc no-univ-branch\n--BODY--\nState: 0\n\
        [t] 0\n[0&!1] 1\nState: 1 {0}\n[!1] 1\n--END--\n";
    assert_eq!(out, expected);
}

#[test]
fn marks_on_edges_and_pictures() {
    let (_, out, _) = run(&["GF a & GF \"x == 1\""]);
    assert!(out.contains("States: 1\n") && out.contains("generalized-Buchi 2") && out.contains("\"x == 1\""), "{out}");
    let (_, out, _) = run(&["GF a & GF b", "--acceptance", "transition"]);
    assert!(out.contains("States: 2\n") && out.contains("trans-acc"), "{out}");
    let (_, out, _) = run(&["F a", "--dot", "--acceptance", "state"]);
    assert!(out.starts_with("digraph") && out.contains("peripheries=2") && out.contains("!a"), "{out}");
}

#[test]
fn a_wrong_formula_is_shown_with_its_place() {
    let (code, out, err) = run(&["G(a -> Y b)"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("past operators are not supported: `Y` (yesterday)") && err.contains("formula:1:8"), "{err}");
    let (code, _, err) = run(&["a U"]);
    assert!(code == Some(2) && err.contains("expected a formula, found the end of the text"), "{err}");
}
