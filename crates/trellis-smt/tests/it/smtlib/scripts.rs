//! Scripts with known answers, on a solver that tries everything.

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{TermId, Terms, Type, Value, VarId};
use trellis_smt::smtlib::Undecided;
use trellis_smt::{Answer, Meter, Reason, Solver};

use super::run;

/// Tries all values, of integers those near zero; so `unsat` only where there are no integers.
#[derive(Default)]
struct Brute {
    levels: Vec<Vec<TermId>>,
}

impl Brute {
    fn search(terms: &Terms, goals: &[TermId]) -> Option<Valuation> {
        let mut vars: Vec<VarId> = goals.iter().flat_map(|&t| terms.free_vars(t)).collect();
        vars.sort();
        vars.dedup();
        let values: Vec<Vec<Value>> = vars
            .iter()
            .map(|&v| match terms.variable(v).ty {
                Type::Int => (-9..=9).map(|n: i64| Value::Int(n.into())).collect(),
                ty => Value::all(terms, ty, 300).expect("few values"),
            })
            .collect();
        let mut at = vec![0; vars.len()];
        loop {
            let env: Valuation = vars.iter().zip(&at).zip(&values).map(|((&v, &i), all)| (v, all[i].clone())).collect();
            if goals.iter().all(|&t| eval(terms, t, &env, &mut NoHost) == Ok(Value::Bool(true))) {
                return Some(env);
            }
            let n = (0..at.len()).find(|&n| at[n] + 1 < values[n].len())?;
            at[n] += 1;
            at[..n].fill(0);
        }
    }
}

impl Solver for Brute {
    fn push(&mut self) {
        self.levels.push(vec![]);
    }

    fn pop(&mut self) {
        self.levels.pop().expect("a level");
    }

    fn assert(&mut self, _: &Terms, t: TermId) {
        self.levels.last_mut().expect("a level").push(t);
    }

    fn check(&mut self, terms: &Terms, assumptions: &[TermId], _: &Meter) -> Answer {
        let base = self.levels.concat();
        let with = |some: &[usize]| [base.clone(), some.iter().map(|&n| assumptions[n]).collect()].concat();
        let mut core: Vec<usize> = (0..assumptions.len()).collect();
        let all = with(&core);
        if let Some(model) = Brute::search(terms, &all) {
            return Answer::Sat(model);
        }
        let ints = |t: &TermId| terms.free_vars(*t).iter().any(|v| terms.variable(*v).ty == Type::Int);
        if all.iter().any(ints) {
            return Answer::Unknown(Reason::Steps);
        }
        for n in 0..assumptions.len() {
            let less: Vec<usize> = core.iter().copied().filter(|&m| m != n).collect();
            if Brute::search(terms, &with(&less)).is_none() {
                core = less;
            }
        }
        Answer::Unsat(core)
    }
}

fn said(text: &str) -> String {
    run(text, &mut Brute { levels: vec![vec![]] }).unwrap_or_else(|e| panic!("{e}\n{text}")).0
}

#[test]
fn levels_models_and_values() {
    let text = "(set-logic QF_LIA)
        (declare-const x Int) (declare-fun y () Int) (declare-const |odd name| Bool)
        (assert (= (+ x y) (- 3))) (push 1) (assert (> x 4)) (assert |odd name|)
        (check-sat) (get-value (x (+ x y) (* 2 y) |odd name|)) (pop 1)
        (assert (= (mod x 3) 2 (abs y))) (check-sat) (get-model) (echo \"bye\") (exit) (nonsense)";
    let out = said(text);
    assert_eq!(
        out,
        "sat\n((x 6)\n ((+ x y) (- 3))\n ((* 2 y) (- 18))\n (|odd name| true))\nsat\n(\n  (define-fun x () Int (- 1))\n  \
         (define-fun y () Int (- 2))\n  (define-fun |odd name| () Bool false)\n)\nbye\n"
    );
}

#[test]
fn cores_and_assumptions() {
    let text = "(set-option :produce-unsat-cores true)
        (declare-const p Bool) (declare-const q Bool) (declare-const r Bool)
        (assert (! (=> p q) :named |first one|)) (assert (! (or r q) :named second)) (assert (! (not q) :named third))
        (check-sat-assuming (p)) (get-unsat-core) (get-unsat-assumptions)
        (check-sat) (get-assignment) (get-unsat-core)";
    let out = said(text);
    let want = "unsat\n(|first one| third)\n(p)\nsat\n((|first one| true) (second true) (third true))\n\
                (error \"there is no core: the last check did not say unsat\")\n";
    assert_eq!(out, want);
}

#[test]
fn bit_vectors_have_the_meaning_of_the_standard() {
    // Each is valid: its negation has no model.
    for valid in [
        "(= (bvudiv v #x0) #xf)",
        "(= (bvurem v #x0) v)",
        "(= (bvsdiv v #x0) (ite (bvslt v #x0) #x1 #xf))",
        "(= (bvsrem v #x0) v)",
        "(= (bvsmod v #x0) v)",
        "(=> (not (= u #x0)) (= v (bvadd (bvmul (bvudiv v u) u) (bvurem v u))))",
        "(= v (bvadd (bvmul (bvsdiv v u) u) (bvsrem v u)))",
        "(= (bvshl v #x4) #x0)",
        "(= (bvlshr v #x9) #x0)",
        "(= (bvashr v #xf) (ite (bvslt v #x0) #xf #x0))",
        "(= (bvshl v #x1) (bvadd v v))",
        "(= (concat ((_ extract 3 2) v) ((_ extract 1 0) v)) v)",
        "(= ((_ rotate_left 1) v) (concat ((_ extract 2 0) v) ((_ extract 3 3) v)))",
        "(= ((_ rotate_right 5) v) (concat ((_ extract 0 0) v) ((_ extract 3 1) v)))",
        "(= ((_ repeat 2) v) (concat v v))",
        "(= (bvcomp v u) (ite (= v u) #b1 #b0))",
        "(= (bvnand v u) (bvnot (bvand v u)))",
        "(= (bvxnor v u) (bvnot (bvxor v u)))",
        "(= (bvneg v) (bvadd (bvnot v) (_ bv1 4)))",
        "(= ((_ sign_extend 4) v) (ite (bvslt v #x0) (concat #xf v) ((_ zero_extend 4) v)))",
        "(= (bvsmod v #xd) (ite (= (bvsrem v #x3) #x0) #x0 (ite (bvslt v #x0) (bvsrem v #xd) (bvadd #xd (bvsrem v #xd)))))",
        "(= (bv2nat v) (+ (* 2 (bv2nat ((_ extract 3 1) v))) (bv2nat ((_ extract 0 0) v))))",
        "(= ((_ int2bv 4) (- (bv2nat v) 16)) v)",
        "(=> (bvult v u) (distinct v u))",
        "(xor (bvule v u) (bvugt v u))",
        "(= (bvsub v u) (bvadd v (bvneg u)))",
    ] {
        let text =
            format!("(declare-const v (_ BitVec 4))(declare-const u (_ BitVec 4))(assert (not {valid}))(check-sat)");
        assert_eq!(said(&text), "unsat\n", "{valid}");
    }
}

#[test]
fn what_is_chained_and_associated() {
    for valid in [
        "(= (=> p q r) (=> p (=> q r)))",
        "(= (xor p q r) (xor (xor p q) r))",
        "(= (= p q r) (and (= p q) (= q r)))",
        "(= (distinct p q r) false)",
        "(= (- 7 2 1) 4)",
        "(= (div 17 3 2) 2)",
        "(= (div (- 7) 2) (- 4))",
        "(= (mod (- 7) (- 2)) 1)",
        "((_ divisible 3) 9)",
        "(< 1 2 3)",
        "(not (>= 3 2 2 4))",
        "(= (let ((p q) (q p)) (and p (not q))) (and q (not p)))",
        "(or p (not (! p :named name :pattern (p))) name)",
    ] {
        let text = format!(
            "(declare-const p Bool)(declare-const q Bool)(declare-const r Bool)(assert (not {valid}))(check-sat)"
        );
        assert_eq!(said(&text), "unsat\n", "{valid}");
    }
}

#[test]
fn enumerations_and_arrays() {
    let text = "(declare-datatypes ((Color 0) (Size 0)) (((red) (green) (blue)) ((small) (big))))
        (declare-datatypes () ((Old one two)))
        (declare-const c Color) (declare-const d Color) (declare-const s Size) (declare-const o Old)
        (declare-const a (Array Size Bool))
        (assert (distinct c d red)) (assert (not ((_ is blue) c))) (assert (select a big)) (assert (= a (store a small false)))
        (assert (= o (as two Old)))
        (check-sat) (get-value (c d o a)) (assert (= s big)) (assert (not (select a s))) (check-sat)";
    let out = said(text);
    let want = "sat\n((c green)\n (d blue)\n (o two)\n (a (store (store ((as const (Array Size Bool)) false) small false) big true)))\nunsat\n";
    assert_eq!(out, want);
}

#[test]
fn what_is_foreign_is_unknown_and_named() {
    for (assertion, what) in [
        ("(> r 1.5)", "the sort Real"),
        ("(forall ((z Int)) (> z x))", "quantifiers"),
        ("(= (f x) 1)", "the function f, which has no definition"),
        ("(= (div x 0) 1)", "div by zero"),
        ("(= (mod 3 x) 1)", "mod by a term that is no literal"),
        ("(= s \"abc\")", "the sort String"),
        ("(= x (str.len \"abc\"))", "strings"),
        ("(= wide wide)", "bit vectors of more than 64 bits"),
        ("(= u u)", "the sort U, of which nothing is known"),
        ("(bvuaddo v v)", "the function bvuaddo"),
        ("(= (concat v v v) (concat v v v))", "bit vectors of more than 64 bits"),
        ("(= l nil)", "the datatype List, which is more than an enumeration"),
    ] {
        let text = format!(
            "(declare-const x Int)(declare-const r Real)(declare-fun f (Int) Int)(declare-const s String)(declare-sort U 0)
             (declare-const u U)(declare-const v (_ BitVec 30))(declare-const wide (_ BitVec 65))
             (declare-datatype List ((nil) (cons (head Int) (tail List))))(declare-const l List)
             (push 1)
             (assert {assertion})(check-sat)(get-info :reason-unknown)
             (assert false)(check-sat)
             (pop 1)
             (check-sat)"
        );
        let (out, outcome) = run(&text, &mut Brute::default()).unwrap();
        assert_eq!(out, format!("unknown\n(:reason-unknown \"Trellis has no theory of {what}\")\nunsat\nsat\n"));
        let [(_, Undecided::Foreign(foreign))] = &outcome.undecided[..] else { panic!("{outcome:?}") };
        assert!(foreign.start < foreign.end && foreign.end <= text.len());
        assert_eq!(outcome.checks, 3);
    }
}

#[test]
fn definitions_are_put_in_place() {
    let text = "(define-fun between ((lo Int) (x Int) (hi Int)) Bool (and (<= lo x) (<= x hi)))
        (define-const seven Int 7) (define-fun next ((x Int)) Int (let ((y (+ x 1))) y)) (define-sort Word () (_ BitVec 3))
        (declare-const x Int) (declare-const w Word)
        (assert (between 3 (next x) (- seven 3))) (assert (= w (bvnot #b010))) (check-sat) (get-value (x w))";
    assert_eq!(said(text), "sat\n((x 2)\n (w #b101))\n");
}

#[test]
fn numbers_of_200_digits_are_exact() {
    let big = "9".repeat(200);
    let bigger = format!("1{}", "0".repeat(200));
    let text = format!("(assert (= (+ {big} 1) {bigger}))(check-sat)(assert (= (* 2 {big}) {bigger}))(check-sat)");
    assert_eq!(said(&text), "sat\nunsat\n");
}

#[test]
fn resets_and_questions_without_answers() {
    let text = "(declare-const x Bool)(assert x)(check-sat)(reset)(declare-const x Int)(get-model)(assert (= x 2))(check-sat)
        (reset-assertions)(declare-const x Bool)(assert (not x))(check-sat)(get-value (x))(get-info :name)(get-option :foo)";
    let want = "sat\n(error \"there is no model: the last check did not say sat\")\nsat\nsat\n((x false))\n(:name \"trellis\")\nunsupported\n";
    assert_eq!(said(text), want);
}
