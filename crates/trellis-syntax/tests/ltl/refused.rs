//! Formulas that are wrong.

use crate::formulas::World;
use crate::{Random, runs};

fn refuses(text: &str, complaint: &str) {
    match World::new().read(text) {
        Ok(spec) => panic!("{text} is {}", spec.formula.show(&spec.names)),
        Err(found) => assert_eq!(found, [complaint], "{text}"),
    }
}

#[test]
fn types() {
    refuses("G(x)", "3: `G` needs bool or LTL, and this is int");
    refuses("x", "1: a formula needs bool or LTL, and this is int");
    refuses("(G b) > 5", "2: `>` needs int, and this is LTL");
    let help = "(put parentheses around what is compared)";
    refuses("G(b) = c", &format!("6: `G (…) = …` can be understood in two ways {help}"));
    refuses("(b & c) + 1 = 2", "2: `+` needs int, and this is bool");
    refuses("b < c", "1: `<` needs int, and this is bool");
    refuses("color = 1", "1: `=` needs operands of one type, and these are Colors and int");
    refuses("color < Colors.Green", "1: `<` needs int, and this is Colors");
    refuses("x = b", "1: `=` needs bool or LTL, and this is int");
    refuses("b & x + 1", "5: `&` needs bool or LTL, and this is int");
    refuses("w = 128", "1: `=` needs operands of one type, and these are i8 and int");
    refuses("x[1] = 2", "1: only arrays have entries, and this is int");
    refuses("a[b] = 2", "3: indexes of this array are int, and this is bool");
    refuses("-b = 1", "2: `-` needs int, and this is bool");
}

#[test]
fn names() {
    refuses("G(limt > 3)", "3: there is no variable `limt` (did you mean `limit`?)");
    refuses("F zebra", "3: there is no variable `zebra`");
    refuses("In(idel)", "4: there is no state `idel`");
    refuses("color = Blue", "9: there is no variable `Blue`");
    refuses("G \"y\"", "3: cannot read `y`");
}

#[test]
fn past_operators_by_name() {
    let help = "(a formula speaks of now and later only: F, G, X, U, W, R, M)";
    refuses("G(b -> Y c)", &format!("8: past operators are not supported: `Y` (yesterday) {help}"));
    refuses("b S c", &format!("3: past operators are not supported: `S` (since) {help}"));
    refuses("G (b since c)", &format!("6: past operators are not supported: `since` (since) {help}"));
    refuses("O b", &format!("1: past operators are not supported: `O` (once) {help}"));
    refuses("H(b)", &format!("1: past operators are not supported: `H` (historically) {help}"));
}

#[test]
fn syntax() {
    refuses("", "1: expected a formula, found the end of the text");
    refuses("G", "2: expected a formula, found the end of the text");
    refuses("b U", "4: expected a formula, found the end of the text");
    refuses("U b", "1: expected a formula, found the operator `U`");
    refuses("(b", "3: expected `)`, found the end of the text");
    refuses("b c", "3: expected an operator or the end of the formula, found `c`");
    refuses("b)", "2: expected an operator or the end of the formula, found `)`");
    refuses("G \"x == 1", "3: this quotation has no end");
    refuses("b # c", "3: expected an operator or the end of the formula, found the character `#`");
    refuses("a[1 = 2", "8: expected `]`, found the end of the text");
}

/// Deep and long formulas end in an answer.
#[test]
fn large() {
    let deep = |n: usize| format!("{}b{}", "(".repeat(n), ")".repeat(n));
    assert!(World::new().read(&deep(90)).is_ok());
    assert!(World::new().read(&deep(100_000)).is_err());
    assert!(World::new().read(&format!("{} b", "G ".repeat(100_000))).is_err());
    assert!(World::new().read(&format!("{} b", "b U ".repeat(100_000))).is_err());
    assert!(World::new().read(&format!("{} b", "b & ".repeat(20_000))).is_ok());
    assert!(World::new().read(&format!("{} x = 1", "x + ".repeat(100_000))).is_err());
}

#[test]
fn damaged() {
    let good =
        ["G(x = 1 -> X (y < 3 or F b))", "F G(color = Colors.Red) & \"x == 1\" U a[x] /= 3", "GFFoggy <-> In(idle)"];
    let pieces = ["(", ")", "\"", "G", "U", "x", "= ", "[", "]", "é", "∧", "Y ", "1", "&", "$", "."];
    let mut random = Random(1);
    for n in 0..runs(5_000) {
        let text = random.damaged(good[n as usize % good.len()], &pieces);
        if let Err(complaints) = World::new().read(&text) {
            assert!(!complaints.is_empty(), "{text}");
        }
    }
}
