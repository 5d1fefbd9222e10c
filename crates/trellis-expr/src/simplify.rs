//! Simplification: an equal term that is easier to read and to evaluate.
//!
//! Equal means equal on every valuation, faults included: where the old term has a value the new one has the same, and
//! where the old one faults the new one faults in the same way. So an operand that may fault is never dropped, and two
//! that may are never exchanged. (A connective's part is evaluated only if those before it came out neutral and did
//! not fault; what they say may therefore be used to simplify it.)
//!
//! The forms aimed at: negation at the leaves, `x ≤ 5` rather than `¬(5 < x)` or `x < 6`, constants on the right of
//! equations and out of sums, linear sums collected. It is bottom-up and local; it does not decide anything, does not
//! distribute products or connectives, and does not look for the smallest term.

mod arith;
mod logic;

use rustc_hash::FxHashMap;

use crate::subst::{pending, rebuilt};
use crate::term::{Term, TermId, Terms, Type};

/// A rewritten term is rewritten again at most so often.
const ROUNDS: u8 = 40;

/// An equal term, faults included, that is simpler.
pub fn simplify(terms: &mut Terms, t: TermId) -> TermId {
    Simplifier::default().apply(terms, t)
}

/// A simplifier that remembers what it has done, for use on many terms of one arena.
#[derive(Debug, Clone, Default)]
pub struct Simplifier {
    done: FxHashMap<TermId, TermId>,
}

enum Task {
    Simplify(TermId, u8),
    /// The sub-terms are simplified.
    Rewrite(TermId, u8),
    /// The first is as simple as the second.
    Alias(TermId, TermId),
}

impl Simplifier {
    /// An equal term, faults included, that is simpler.
    pub fn apply(&mut self, terms: &mut Terms, t: TermId) -> TermId {
        let mut tasks = vec![Task::Simplify(t, ROUNDS)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Simplify(t, rounds) => {
                    let rest = pending(terms, t, &self.done);
                    tasks.extend(rest.into_iter().rev().map(|t| Task::Rewrite(t, rounds)));
                }
                Task::Rewrite(t, _) if self.done.contains_key(&t) => {}
                Task::Rewrite(t, rounds) => {
                    let new = rebuilt(terms, t, &self.done);
                    let new = if new == t { step(terms, t) } else { new };
                    if new == t || rounds == 0 {
                        self.done.insert(t, new);
                    } else {
                        tasks.push(Task::Alias(t, new));
                        tasks.push(Task::Simplify(new, rounds - 1));
                    }
                }
                Task::Alias(t, new) => {
                    let new = self.done[&new];
                    self.done.insert(t, new);
                }
            }
        }
        self.done[&t]
    }
}

/// One step at the root; the sub-terms are simple already.
fn step(terms: &mut Terms, t: TermId) -> TermId {
    // What the builders would make of it.
    let children = terms.children(t);
    let built = terms.rebuild(t, &children);
    if built != t {
        return built;
    }
    match *terms.get(t) {
        Term::Not(a) => logic::not(terms, t, a),
        Term::And(ref args) => {
            let args = args.clone();
            logic::connective(terms, &args, true)
        }
        Term::Or(ref args) => {
            let args = args.clone();
            logic::connective(terms, &args, false)
        }
        Term::Ite(c, a, b) => logic::ite(terms, t, c, a, b),
        Term::Eq(a, b) => arith::eq(terms, t, a, b),
        Term::Lt(a, b) => arith::less(terms, t, a, b, true),
        Term::Le(a, b) => arith::less(terms, t, a, b, false),
        Term::Add(_) => arith::sum(terms, t),
        Term::Neg(a) => arith::neg(terms, t, a),
        Term::Mul(a, b) => arith::mul(terms, t, a, b),
        Term::Div(_, a, b) | Term::Rem(_, a, b) => arith::div(terms, t, a, b),
        Term::Bit(op, a, b) => arith::bit(terms, t, op, a, b),
        Term::Select(a, i) => select(terms, t, a, i),
        Term::Store(a, i, v) => store(terms, t, a, i, v),
        Term::Convert(ty, a) => convert(terms, t, terms.type_of_id(ty), a),
        _ => t,
    }
}

/// May the two be exchanged without changing which fault comes first?
fn may_swap(terms: &Terms, a: TermId, b: TermId) -> bool {
    !(terms.may_fault(a) && terms.may_fault(b))
}

/// Neither the read's nor the write's own check can fail, nor can the array or index fault.
fn reads_safely(terms: &Terms, a: TermId, i: TermId) -> bool {
    !terms.may_fault(a) && !terms.may_fault(i) && terms.index_fits(a, i)
}

fn entry_checked(terms: &mut Terms, array: Type, v: TermId) -> TermId {
    let Type::Array(_, entry) = array else { return v };
    match terms.type_of_id(entry) {
        Type::Range(lo, hi) => terms.checked(v, lo, hi),
        _ => v,
    }
}

fn select(terms: &mut Terms, t: TermId, array: TermId, i: TermId) -> TermId {
    match *terms.get(array) {
        Term::Store(a, j, v) => {
            if i == j && reads_safely(terms, a, j) {
                return entry_checked(terms, terms.ty(a), v);
            }
            let apart = match (terms.as_value(i), terms.as_value(j)) {
                (Some(i), Some(j)) => i != j,
                _ => false,
            };
            if apart && !terms.may_fault(v) && terms.index_fits(a, j) && terms.entry_fits(terms.ty(a), v) {
                return terms.select(a, i);
            }
            t
        }
        Term::ConstArray(_, v) if !terms.may_fault(i) && terms.index_fits(array, i) => {
            entry_checked(terms, terms.ty(array), v)
        }
        _ => t,
    }
}

fn store(terms: &mut Terms, t: TermId, array: TermId, i: TermId, v: TermId) -> TermId {
    match *terms.get(array) {
        Term::Store(a, j, w)
            if i == j
                && !terms.may_fault(w)
                && terms.entry_fits(terms.ty(a), w)
                && (terms.index_fits(a, i) || !terms.may_fault(v)) =>
        {
            terms.store(a, i, v)
        }
        _ if !terms.may_fault(t) && *terms.get(v) == Term::Select(array, i) => array,
        _ => t,
    }
}

fn convert(terms: &mut Terms, t: TermId, ty: Type, a: TermId) -> TermId {
    let Type::Bits { width, .. } = ty else { return t };
    match *terms.get(a) {
        // What the outer conversion cuts off, the inner one need not have kept.
        Term::Convert(inner, b) => match terms.type_of_id(inner) {
            Type::Bits { width: w, .. } if width <= w => terms.convert(ty, b),
            Type::Int => terms.convert(ty, b),
            _ => t,
        },
        _ => t,
    }
}
