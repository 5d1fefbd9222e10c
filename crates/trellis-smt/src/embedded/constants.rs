//! A second look at what there is no theory of: where the other terms say that a variable has one value, it has it. A product of
//! two variables one of which is known to be 3 is no product any more.
//!
//! This is for paths and steps of programs that compute with constants. It costs a copy of the arena, so it is the last thing that is
//! tried; of a contradiction it cannot say which assumptions it needs, so it names all.

use rustc_hash::FxHashMap;
use trellis_expr::code::NoHost;
use trellis_expr::eval::eval;
use trellis_expr::simplify::Simplifier;
use trellis_expr::subst::Substitution;
use trellis_expr::{Term, TermId, Terms, Type, Value, VarId};

use super::{Embedded, any_value};
use crate::{Answer, Meter, Solver};

/// An answer about terms, if constants help to find one.
pub(super) fn answer(terms: &Terms, asserted: &[TermId], assumptions: &[TermId], limits: &Meter) -> Option<Answer> {
    let all: Vec<TermId> = asserted.iter().chain(assumptions).copied().collect();
    let (resolved, parts) = resolve(terms, &all)?;
    let mut solver = Embedded { resolved: true, ..Embedded::default() };
    match solver.check(&resolved, &parts, limits) {
        Answer::Unknown(_) => None,
        Answer::Unsat(_) => Some(Answer::Unsat((0..assumptions.len()).collect())),
        Answer::Sat(mut model) => {
            for v in all.iter().flat_map(|&t| terms.free_vars(t)) {
                model.entry(v).or_insert_with(|| any_value(terms, terms.variable(v).ty));
            }
            let holds = |&t: &TermId| eval(terms, t, &model, &mut NoHost) == Ok(Value::Bool(true));
            all.iter().all(holds).then_some(Answer::Sat(model))
        }
    }
}

/// The parts of the terms, with constants in place of the variables that must have them; none if there are none.
fn resolve(terms: &Terms, all: &[TermId]) -> Option<(Terms, Vec<TermId>)> {
    let mut parts = vec![];
    all.iter().for_each(|&t| split(terms, t, &mut parts));
    let mut terms = terms.clone();
    let mut known: FxHashMap<VarId, TermId> = FxHashMap::default();
    loop {
        let new: FxHashMap<VarId, TermId> =
            parts.iter().filter_map(|&p| value(&terms, p)).filter(|(v, _)| !known.contains_key(v)).collect();
        if new.is_empty() {
            return (!known.is_empty()).then_some((terms, parts));
        }
        let mut substitution = Substitution::new(new.clone());
        let mut simplifier = Simplifier::default();
        let mut next = vec![];
        for p in parts {
            // What says the value stays: it may be outside the variable's range, or there may be two.
            if value(&terms, p).is_some_and(|(v, t)| new.get(&v) == Some(&t)) {
                next.push(p);
                continue;
            }
            let p = substitution.apply(&mut terms, p);
            let p = simplifier.apply(&mut terms, p);
            split(&terms, p, &mut next);
        }
        parts = next;
        known.extend(new);
    }
}

/// The parts of a conjunction. It is true if and only if all are, whatever may fault: what faults is not true.
fn split(terms: &Terms, t: TermId, out: &mut Vec<TermId>) {
    let mut todo = vec![t];
    while let Some(t) = todo.pop() {
        match terms.get(t) {
            Term::And(parts) => todo.extend(parts.iter().rev()),
            _ => out.push(t),
        }
    }
}

/// Which variable the term gives a value, and which.
fn value(terms: &Terms, t: TermId) -> Option<(VarId, TermId)> {
    match *terms.get(t) {
        Term::Eq(a, b) => [(a, b), (b, a)].into_iter().find_map(|(x, c)| match *terms.get(x) {
            Term::Var(v) if terms.as_value(c).is_some() && fits(terms, v, c) => Some((v, c)),
            _ => None,
        }),
        _ => None,
    }
}

fn fits(terms: &Terms, v: VarId, c: TermId) -> bool {
    match terms.variable(v).ty {
        Type::Range(lo, hi) => terms.as_int(c).is_some_and(|n| lo <= n && n <= hi),
        ty => terms.ty(c) == ty,
    }
}
