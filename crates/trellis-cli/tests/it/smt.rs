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

/// The clauses of a file in DIMACS, or of a proof, which has no header.
fn clauses(text: &str) -> Vec<Vec<i32>> {
    let lines = text.lines().filter(|l| !l.starts_with('c') && !l.starts_with('p'));
    let number = |n: &str| n.parse().expect("a number");
    lines.map(|l| l.split_whitespace().map(number).take_while(|n| *n != 0).collect()).collect()
}

/// Does the clause follow by unit propagation?
fn follows(clause: &[i32], known: &[Vec<i32>]) -> bool {
    let mut truths: std::collections::HashSet<i32> = clause.iter().map(|l| -l).collect();
    loop {
        let mut more = None;
        for c in known.iter().filter(|c| !c.iter().any(|l| truths.contains(l))) {
            let open: Vec<i32> = c.iter().copied().filter(|l| !truths.contains(&-l)).collect();
            match open[..] {
                [] => return true,
                [l] => more = Some(l),
                _ => {}
            }
        }
        match more {
            Some(l) => truths.insert(l),
            None => return false,
        };
    }
}

#[test]
fn proofs_of_unsat_are_written() {
    let words = "(declare-const a (_ BitVec 6))(declare-const b (_ BitVec 6))\n\
        (assert (= (bvmul a b) #b000111))(assert (= (bvand a #b000001) #b000000))(check-sat)";
    let sums = "(declare-const x Int)(declare-const y Int)(declare-const p Bool)\n\
        (assert (or p (= (* 2 x) (+ 1 (* 4 y)))))(assert (=> p (< x y)))(assert (< y (+ x 1)))(check-sat)\n\
        (push 1)(assert p)(check-sat)(pop 1)(assert (> x 3))(check-sat)";
    let mut trimmed = false;
    for (text, answers) in [(words, 1), (sums, 3)] {
        let (_gone, proof) = temporary("proof");
        let (code, out, err) = run(text, &["--proof", &proof]);
        assert_eq!((code, out), (Some(0), "unsat\n".repeat(answers)), "{err}");
        for n in 1..=answers {
            let name = if n == 1 { proof.clone() } else { format!("{proof}-{n}") };
            let read = |end: &str| std::fs::read_to_string(format!("{name}.{end}")).expect("it was written");
            let (cnf, drat) = (read("cnf"), read("drat"));
            let mut known = clauses(&cnf);
            let header = format!(" {}", known.len());
            assert!(cnf.lines().any(|l| l.starts_with("p cnf ") && l.ends_with(&header)), "{cnf}");
            let learnt = clauses(&drat);
            assert_eq!(learnt.last(), Some(&vec![]), "{drat}");
            for c in learnt {
                assert!(follows(&c, &known), "{c:?} does not follow");
                known.push(c);
            }
            let files = ["cnf", "drat"].map(|end| format!("{name}.{end}"));
            match std::process::Command::new("drat-trim").args(&files).output() {
                Ok(out) => assert!(stdout(&out).contains("s VERIFIED"), "{}", stdout(&out)),
                Err(_) => trimmed = true,
            }
        }
    }
    if trimmed {
        println!("skipped: drat-trim is not installed; the proofs were followed by this test only");
    }
}
