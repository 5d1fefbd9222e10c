//! Refutations with a proof: the search on a problem that somebody else has translated, with a log.
//!
//! First the search. If it ends with the empty clause, the log is gone through backwards for what that rests on. What is left of the
//! theory's clauses is then justified one by one, by the simplex and the splits on the few bounds in it. That costs less than to
//! keep certificates of everything that the theory ever said, and rests on nothing that the search did.

use dashu_int::IBig;
use dashu_int::ops::Gcd;
use rustc_hash::FxHashMap;

use super::integer::{Forms, Found as Integers, Proof};
use super::lia::Lia;
use super::rat::Rat;
use super::sat::{Lit, Origin, Outcome, Sat};
use super::simplex::{Column, Farkas, Side, Why, rational};
use crate::proof::{Arithmetic, Found, Literal, Problem, Step, Sum};
use crate::{Meter, Reason};

/// A justification may split so often.
const SPLITS: u64 = 20_000;

fn inner(l: Literal) -> Lit {
    Lit::of(l.unsigned_abs() as usize - 1, l > 0)
}

fn outer(l: Lit) -> Literal {
    let v = l.var() as i32 + 1;
    if l.positive() { v } else { -v }
}

/// Looks for a refutation of the problem, or for values that satisfy it.
pub fn refute(problem: &Problem, limits: &Meter) -> Found {
    let mut sat = Sat::default();
    let mut lia = Lia::default();
    sat.start_log();
    while sat.variables() < problem.variables {
        sat.variable();
    }
    for _ in 0..problem.integers {
        lia.forms.simplex.variable();
    }
    for c in problem.clauses.iter().skip(1) {
        let lits: Vec<Lit> = c.iter().map(|&l| inner(l)).collect();
        sat.clause(&lits);
    }
    for (&v, (sum, most)) in &problem.atoms {
        let column = lia.forms.column(sum);
        lia.stands_for(&mut sat, inner(v), column, most.clone());
    }
    let in_theory = limits.clone();
    lia.stop = Some(Box::new(move || in_theory.exceeded(0).is_some()));
    let outcome = sat.solve(&[], &mut lia, |steps| limits.exceeded(steps).is_some());
    match outcome {
        Outcome::Sat => {
            let bools = (0..problem.variables).map(|v| sat.value(Lit::of(v, true)).unwrap_or(false)).collect();
            let integers = (0..problem.integers).map(|c| lia.forms.simplex.value(c as Column).numerator()).collect();
            Found::Model(bools, integers)
        }
        Outcome::Unsat(_) => match steps(problem, &sat, limits) {
            Some(steps) => Found::Refutation(steps),
            None => Found::Unknown(stopped(limits)),
        },
        Outcome::Stopped | Outcome::GaveUp => Found::Unknown(stopped(limits)),
    }
}

fn stopped(limits: &Meter) -> Reason {
    limits.exceeded(0).map_or(Reason::Steps, Reason::from)
}

/// What the empty clause rests on, in order.
fn steps(problem: &Problem, sat: &Sat, limits: &Meter) -> Option<Vec<Step>> {
    let log = sat.log.as_ref()?;
    let last = log.empty? as usize;
    let mut used = vec![false; last + 1];
    used[last] = true;
    for id in (0..=last).rev().filter(|&id| id == last || !log.clauses[id].0.is_empty()) {
        if used[id]
            && let (_, Origin::Learnt(hints)) = &log.clauses[id]
        {
            hints.iter().for_each(|&h| used[h as usize] = true);
        }
    }
    // The clauses that were given keep their numbers, in their order; the others come after them.
    let mut numbers: FxHashMap<u32, usize> = FxHashMap::default();
    let mut given = 0;
    let mut next = problem.clauses.len();
    let mut out = vec![];
    for (id, (lits, origin)) in log.clauses.iter().enumerate().take(last + 1) {
        let clause = || lits.iter().map(|&l| outer(l)).collect::<Vec<_>>();
        match origin {
            Origin::Given => {
                numbers.insert(id as u32, given);
                given += 1;
                continue;
            }
            _ if !used[id] => continue,
            Origin::Theory => {
                let clause = clause();
                let why = justify(problem, &clause, limits)?;
                out.push(Step::Lemma(clause, why));
            }
            Origin::Learnt(hints) => {
                out.push(Step::Learnt(clause(), hints.iter().map(|h| numbers[h]).collect()));
            }
        }
        numbers.insert(id as u32, next);
        next += 1;
    }
    if !matches!(out.last(), Some(s) if s.clause().is_empty()) {
        // A clause that was given is empty.
        out.push(Step::Learnt(vec![], vec![numbers[&(last as u32)]]));
    }
    Some(out)
}

/// A contradiction of the bounds that the negations of the literals are.
fn justify(problem: &Problem, clause: &[Literal], limits: &Meter) -> Option<Arithmetic> {
    let mut forms = Forms::default();
    // The integers in it, renumbered.
    let mut names: Vec<u32> = clause.iter().flat_map(|l| problem.atoms[&l.abs()].0.iter().map(|t| t.0)).collect();
    names.sort_unstable();
    names.dedup();
    for _ in &names {
        forms.simplex.variable();
    }
    let mut bounds = vec![];
    for &l in clause {
        let (sum, most) = &problem.atoms[&l.abs()];
        let at = |v: &u32| names.binary_search(v).expect("collected above") as Column;
        let form: Vec<(Column, IBig)> = sum.iter().map(|(v, k)| (at(v), k.clone())).collect();
        let column = forms.column(&form);
        // The literal is false.
        let (side, value) = if l < 0 { (Side::Upper, most.clone()) } else { (Side::Lower, most + IBig::ONE) };
        bounds.push((column, side, Rat::from(&value)));
    }
    let mut contradiction = None;
    for (i, (column, side, value)) in bounds.iter().enumerate() {
        if let Err(f) = forms.simplex.set(*column, *side, value.clone(), Why(i as u32)) {
            contradiction = Some(Proof::Leaf(f));
            break;
        }
    }
    let proof = match contradiction {
        Some(proof) => proof,
        None => match forms.integers(SPLITS, &mut || limits.exceeded(0).is_some()) {
            Integers::None(proof) => proof,
            Integers::Solution | Integers::GaveUp => return None,
        },
    };
    written(&forms, &names, &mut bounds, &proof)
}

/// A column, as a sum of the problem's integers.
fn sum(forms: &Forms, names: &[u32], column: Column) -> Sum {
    let own = rational(&[(column, IBig::ONE)]);
    let form = forms.simplex.definition(column).unwrap_or(&own);
    form.iter().map(|(c, k)| (names[*c as usize], k.numerator())).collect()
}

fn written(forms: &Forms, names: &[u32], bounds: &mut Vec<(Column, Side, Rat)>, proof: &Proof) -> Option<Arithmetic> {
    match proof {
        Proof::Leaf(f) => farkas(bounds, f),
        Proof::Split { column, most, low, high } => {
            bounds.push((*column, Side::Upper, most.clone()));
            let low = written(forms, names, bounds, low);
            bounds.pop();
            bounds.push((*column, Side::Lower, most + &Rat::ONE));
            let high = written(forms, names, bounds, high);
            bounds.pop();
            Some(Arithmetic::Branch(sum(forms, names, *column), most.numerator(), Box::new((low?, high?))))
        }
        Proof::Divisor(_, fixed) => {
            let mut parts = vec![];
            for (column, factor) in fixed {
                // The tightest on each side; they are the same.
                let on = |side| {
                    let all = bounds.iter().enumerate().filter(move |(_, b)| b.0 == *column && b.1 == side);
                    all.map(|(i, b)| (b.2.clone(), i))
                };
                let (upper, lower) = (on(Side::Upper).min()?, on(Side::Lower).max()?);
                parts.push((upper.1, lower.1, factor.clone()));
            }
            Some(Arithmetic::Divisor(parts))
        }
    }
}

/// The factors, as whole numbers.
fn farkas(bounds: &[(Column, Side, Rat)], f: &Farkas) -> Option<Arithmetic> {
    let scale = f.0.iter().fold(IBig::ONE, |m, p| {
        let d = p.factor.denominator();
        &m / IBig::from((&m).gcd(&d)) * d
    });
    let scale = Rat::from(&scale);
    let part = |p: &super::simplex::Part| {
        let at = bounds.iter().position(|b| b.0 == p.column && b.1 == p.side && b.2 == p.bound)?;
        Some((at, (&p.factor * &scale).numerator()))
    };
    f.0.iter().map(part).collect::<Option<Vec<_>>>().map(Arithmetic::Farkas)
}
