//! Bad scripts are refused, with the place, and without panic.

use trellis_expr::Terms;
use trellis_smt::smtlib::read;

use super::random::Rng;
use super::{Ignorant, run};

fn refusal(text: &str) -> String {
    run(text, &mut Ignorant).expect_err(text)
}

#[test]
fn mistakes_are_located() {
    for (text, message) in [
        ("(assert", "1:1: this parenthesis is never closed"),
        ("(declare-const x Int)\n(assert (> x y))", "2:14: `y` is not declared"),
        ("(declare-const x Int)\n(assert x)", "2:9: expected a formula, found a term of sort Int"),
        ("(declare-const b Bool)\n\n  (assert (+ b 1))", "3:11: there is no function `+` of Bool"),
        ("(declare-const x Int)(declare-const x Int)", "1:37: `x` is declared already"),
        ("(assert (foo 1))", "1:10: there is no function `foo`"),
        ("(assert (and))", "1:9: a function without arguments is written without parentheses"),
        ("(frobnicate)", "1:2: there is no command `frobnicate`"),
        ("(pop)", "1:1: there are only 0 levels to pop"),
        ("(declare-const v (_ BitVec 8))(assert (= v #b1))", "1:39: `=` expects (_ BitVec 8) here, found (_ BitVec 1)"),
        ("(declare-const x Foo)", "1:18: there is no sort `Foo`"),
        ("(assert (let ((x 1) (x 2)) true))", "1:22: `x` is bound twice"),
        ("(assert (ite true 1 false))", "1:9: `ite` expects Int here, found Bool"),
        ("(define-fun f ((x Int)) Int x)(assert (f 1 2))", "1:39: `f` takes 1 arguments, found 2"),
        ("(define-fun f ((x Int)) Int x)(assert (= 1 (f true)))", "1:44: `f` expects Int here, found Bool"),
        ("(assert true) é", "1:15: the character `é` has no meaning here"),
        (
            "(declare-const v (_ BitVec 8))(assert (= ((_ extract 8 0) v) v))",
            "1:42: there are no bits 8 to 0 in (_ BitVec 8)",
        ),
        ("(declare-const v (_ BitVec 0))", "1:18: a bit vector has at least one bit"),
        ("(check-sat-assuming true)", "1:21: expected a list"),
    ] {
        assert_eq!(refusal(text), message, "{text}");
    }
}

const SEED: &str = r#"(set-logic QF_ABV) (set-option :produce-unsat-cores true)
(declare-datatypes ((Color 0)) (((red) (green))))
(declare-const c Color) (declare-fun x () Int) (declare-const v (_ BitVec 8)) (declare-fun f (Int) Int)
(declare-const a (Array Int (_ BitVec 8))) (define-sort W () (_ BitVec 8)) (declare-const r Real)
(define-fun g ((y Int) (b Bool)) Int (ite b (+ y 1) (- y)))
(push 1) (assert (! (let ((z (g x true)) (w (bvadd v #x0f))) (and (> z 3 (mod x 7)) (= w (select a z)))) :named n1))
(assert (distinct c red)) (assert (= (store a 1 v) ((as const (Array Int (_ BitVec 8))) (_ bv3 8))))
(assert (bvslt (bvsdiv v #b00000011) ((_ sign_extend 4) ((_ extract 3 0) (bvshl v v))))) (assert (> r 1.5))
(assert (forall ((q Int)) (> q x))) (assert (= (f 3) (div x 0)))
(check-sat-assuming (n1 (not n1))) (get-model) (get-value (x (+ x 1))) (get-unsat-core) (pop 1) (echo "done")"#;

#[test]
fn mutations_do_not_panic() {
    assert!(run(SEED, &mut Ignorant).is_ok());
    let rounds = std::env::var("TRELLIS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4000);
    let mut rng = Rng(7);
    let pieces: Vec<&str> = SEED.split_inclusive([' ', '(', ')', '\n']).collect();
    let mut read_well = 0;
    for _ in 0..rounds {
        let mut parts = pieces.clone();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(parts.len());
            match rng.below(4) {
                0 => {
                    parts.remove(at);
                }
                1 => parts.insert(at, pieces[rng.below(pieces.len())]),
                2 => parts[at] = pieces[rng.below(pieces.len())],
                _ => {
                    let other = rng.below(parts.len());
                    parts.swap(at, other);
                }
            }
        }
        let mut text = parts.concat();
        if rng.below(4) == 0 {
            let mut at = rng.below(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.insert(at, rng.pick(&['(', ')', '|', '"', '#', ':', '0', '_', 'ß', '\0']));
        }
        match run(&text, &mut Ignorant) {
            Ok(_) => read_well += 1,
            Err(message) => assert!(message.contains(": "), "{message}"),
        }
    }
    assert!(read_well > rounds / 100, "only {read_well} were read");
}

#[test]
fn depth_is_no_problem() {
    let n = 200_000;
    let chain: String = (0..20_000).map(|i| format!("(+ x{} ", i % 500)).collect();
    let all: String = (0..20_000).map(|i| format!("(and (> x{} {i}) ", i % 500)).collect();
    let names: String = (0..500).map(|i| format!("(declare-const x{i} Int)")).collect();
    let (many, close) = (20_000, ")".repeat(20_000));
    let deep = format!("{names}(assert (= x0 {chain}x1{close}))(assert {all}true{close})");
    let mut terms = Terms::new();
    assert!(read(&deep, &mut terms).is_ok());
    assert!(terms.len() < 10 * many, "{}", terms.len());
    let deep = format!("(declare-const b Bool)(assert {}b{})", "(= b (not ".repeat(n), "))".repeat(n));
    assert!(read(&deep, &mut Terms::new()).is_ok());
    let lets: String = (0..n).map(|i| format!("(let ((v{} (xor b v{i})))", i + 1)).collect();
    let deep = format!("(declare-const b Bool)(declare-const v0 Bool)(assert {lets}v{n}{})", ")".repeat(n));
    assert!(read(&deep, &mut Terms::new()).is_ok());
    let sort = format!("(declare-const a {}Int{})", "(Array Int ".repeat(n), ")".repeat(n));
    assert!(read(&sort, &mut Terms::new()).unwrap_err().message.contains("nested"));
}

#[test]
fn definitions_that_double_do_not_explode() {
    let mut text = String::from("(define-fun f0 ((x Int)) Int (ite (> x 0) x 7))\n");
    for n in 1..80 {
        text += &format!("(define-fun f{n} ((x Int)) Int (ite (< (f{} x) {n}) (f{0} x) (+ (f{0} x) 1)))\n", n - 1);
    }
    text += "(declare-const y Int)(assert (= (f79 y) 3))";
    let mut terms = Terms::new();
    assert!(read(&text, &mut terms).is_ok());
    assert!(terms.len() < 100_000, "{}", terms.len());
}
