//! Large models: read in a moment, and the automaton is as large as the text.

use std::fmt::Write;
use std::time::Instant;

use trellis_syntax::xsts::Xsts;

use crate::run::{read, safe, statements};

/// So many branches of ten lines each, over 40 variables.
fn large(branches: usize) -> String {
    let mut text = "type Mode : { Off, Idle, Busy, Failed }\n".to_string();
    for n in 0..40 {
        let _ = match n % 4 {
            0 => writeln!(text, "ctrl var m{n} : Mode = Off"),
            1 | 2 => writeln!(text, "var b{n} : boolean = false"),
            _ => writeln!(text, "var x{n} : integer = 0"),
        };
    }
    for (word, sets) in [("trans", branches), ("init", 1), ("env", 2)] {
        let _ = write!(text, "{word} ");
        for k in 0..sets {
            let (m, b, x) = (4 * (k % 10), 4 * (k % 10) + 1, 4 * (k % 10) + 3);
            let _ = writeln!(
                text,
                "{}{{\n  assume m{m} == Off && !b{b};\n  choice {{\n    m{m} := Busy;\n  }} or {{\n    m{m} := Idle;\n  }}\n  \
                 if (x{x} < {k}) {{\n    x{x} := x{x} + 1;\n  }}\n}}",
                if k > 0 { "or " } else { "" }
            );
        }
    }
    text + "prop { m0 != Failed }\n"
}

fn measured(text: &str) -> (Xsts, u128) {
    let started = Instant::now();
    let xsts = read(text, None).unwrap_or_else(|e| panic!("{e}"));
    (xsts, started.elapsed().as_millis())
}

#[test]
fn statements_are_as_many_as_lines() {
    let mut sizes = vec![];
    for branches in [50, 100, 200, 400] {
        let text = large(branches);
        let (xsts, millis) = measured(&text);
        let lines = text.lines().count();
        println!("{lines} lines: {} statements, {millis} ms", statements(&xsts.cfa));
        assert!(statements(&xsts.cfa) <= 2 * lines, "{} statements for {lines} lines", statements(&xsts.cfa));
        assert!(millis < 500, "{millis} ms");
        assert_eq!((xsts.cfa.locations().len(), xsts.cfa.edges().len()), (5, 6));
        sizes.push((statements(&xsts.cfa), xsts.cfa.terms.len()));
    }
    // Twice the text is at most twice the automaton.
    for pair in sizes.windows(2) {
        assert!(pair[1].0 <= 2 * pair[0].0 && pair[1].1 <= 2 * pair[0].1, "{sizes:?}");
    }
}

/// Choices in a row are not multiplied out.
#[test]
fn choices_stay_choices() {
    let row = "choice { b := true; } or { b := false; } or { x := x + 1; }\n".repeat(500);
    let text =
        format!("var b : boolean = false var x : integer = 0 trans {{ {row} }} init {{}} env {{}} prop {{ true }}");
    let (xsts, millis) = measured(&text);
    assert!(statements(&xsts.cfa) < 2100 && millis < 500, "{} statements, {millis} ms", statements(&xsts.cfa));
}

#[test]
fn long_chains_of_operators() {
    let n = 20_000;
    let chain = |op: &str, e: &str| format!("{e}{}", format!(" {op} {e}").repeat(n));
    let text = format!(
        "var b : boolean = false var x : integer = 0 trans {{ x := {}; b := {}; b := {}; }} init {{}} env {{}} prop {{ true }}",
        chain("+", "x"),
        chain("&&", "(x < 1)"),
        chain("||", "b")
    );
    let (_, millis) = measured(&text);
    assert!(millis < 2000, "{millis} ms");
}

#[test]
fn loops_are_unrolled_only_if_small() {
    let nested = |a: &str, b: &str| {
        format!(
            "var x : integer = 0 var n : integer = 3 trans {{ for i from 0 to {a} do for j from 0 to {b} do {{ x := x + i; }} }} \
             init {{}} env {{}} prop {{ x >= 0 }}"
        )
    };
    let (small, _) = measured(&nested("10", "20"));
    assert!(small.cfa.edges().len() == 6 && statements(&small.cfa) < 1000);
    for (a, b) in [("1000000", "1000000"), ("99999999999999999999", "5"), ("10", "n"), ("n", "10"), ("2000", "1")] {
        let (loops, millis) = measured(&nested(a, b));
        assert!(loops.cfa.edges().len() > 6 && statements(&loops.cfa) < 500 && millis < 500, "{a} {b}");
    }
    // The bound is that at the start, and what happens inside is not seen.
    let text = "var x : integer = 3 trans { for i from 0 to x do { x := x + 1; } x := x - 3; } init {} env {}";
    assert_eq!(safe(&read(text, Some("x == 3")).expect("a model"), &[], 10, 20), Some(true));
    // A loop that gets stuck leaves no trace.
    let text =
        "var x : integer = 3 trans choice { for i from 0 to x do { x := 7; assume i < 1; } } or x := 4; init {} env {}";
    assert_eq!(safe(&read(text, Some("x == 3 || x == 4")).expect("a model"), &[], 10, 20), Some(true));
}
