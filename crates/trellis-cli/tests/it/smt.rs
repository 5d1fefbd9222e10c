//! `trellis smt`: scripts, answers, exit codes.

use crate::{stderr, stdout, temporary, trellis};

fn run(text: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let (_gone, path) = temporary("script.smt2");
    std::fs::write(&path, text).expect("a script");
    let out = trellis(&[&["smt", path.as_str()], more].concat());
    (out.status.code(), stdout(&out), stderr(&out).replace(&path, "script.smt2"))
}

#[test]
fn answers_and_exit_codes() {
    let text = "(declare-const x Int)(assert (= (* 3 x) 12))(check-sat)(get-value (x))(assert (< x 0))(check-sat)";
    assert_eq!(run(text, &[]), (Some(0), "sat\n((x 4))\nunsat\n".into(), String::new()));
    let text = "(declare-const x Real)\n(assert (> x 1.5))\n(check-sat)";
    let (code, out, err) = run(text, &[]);
    assert_eq!((code, out.as_str()), (Some(20), "unknown\n"));
    assert!(
        err.contains("unknown: Trellis has no theory of the sort Real") && err.contains("script.smt2:1:18"),
        "{err}"
    );
    let (code, out, err) = run("(declare-const x Int)\n(assert (> x y))\n(check-sat)", &[]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("`y` is not declared") && err.contains("script.smt2:2:14"), "{err}");
    let (code, out, _) = run("(get-model)", &[]);
    assert_eq!((code, out.as_str()), (Some(2), "(error \"there is no model: the last check did not say sat\")\n"));
}

#[test]
fn numbers_of_200_digits_are_exact() {
    let big = "7".repeat(200);
    let text = format!(
        "(declare-const x Int)(assert (= (+ x x) (* 2 {big})))(check-sat)(get-value (x))(assert (< x {big}))(check-sat)"
    );
    assert_eq!(run(&text, &[]), (Some(0), format!("sat\n((x {big}))\nunsat\n"), String::new()));
}

#[test]
fn other_solvers_and_logs() {
    let (code, _, err) = run("(check-sat)", &["--solver", "no-such-solver"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("there is no solver `no-such-solver`"), "{err}");
    let (_gone, folder) = temporary("log");
    let (code, out, _) = run("(declare-const b Bool)(assert b)(check-sat)", &["--smt-log", &folder]);
    assert_eq!((code, out.as_str()), (Some(0), "sat\n"));
    let log = std::path::Path::new(&folder).join("0001.smt2");
    let again = trellis(&["smt", &log.display().to_string()]);
    assert_eq!(stdout(&again), "sat\n");
}
