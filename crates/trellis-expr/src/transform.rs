//! What must hold before a statement, and what holds after it.
//!
//! [`wlp`] is the weakest liberal precondition: true where every run that ends without a fault ends in the postcondition.
//! [`sp`] is the strongest postcondition: true where some run from the precondition ends without a fault. A condition holds where
//! it evaluates to true; the answers never fault. Giving a variable any value, and forgetting its old one, take a quantifier, which
//! terms do not have: the answer names the variables that are bound (fresh ones), and means "for all" of them before the statement,
//! "there are" after it. They are avoided where that is easy: a variable that is not mentioned, an assignment that can be undone
//! (`x := x + c`), a precondition that says what the variable is (`x = t`). Choices share what comes before or after them, but one
//! choice after the other multiplies: for long paths there is [`crate::ssa`].
//!
//! [`wep`] is the weakest existential precondition, by substitution: the term that holds before the statement if and only if it
//! can end in the given one. It says nothing of faults in values that the given term does not ask for.
//!
//! There is no answer for loops and foreign procedures; nothing is unrolled.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::defined::{Defined, Unsupported};
use crate::stmt::{Stmt, StmtId};
use crate::term::{Term, TermId, Terms, Type, VarId};

/// A condition with bound variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantified {
    /// The condition; it never faults.
    pub term: TermId,
    /// The variables that are bound: fresh ones, each in its type.
    pub bound: Vec<VarId>,
}

/// Where every run of the statement that ends without a fault ends where `post` is true: for all values of the bound variables.
pub fn wlp(terms: &mut Terms, s: StmtId, post: TermId) -> Result<Quantified, Unsupported> {
    Transformer::new().wlp(terms, s, post)
}

/// Where some run of the statement that starts where `pre` is true ends without a fault: for some values of the bound variables.
pub fn sp(terms: &mut Terms, pre: TermId, s: StmtId) -> Result<Quantified, Unsupported> {
    Transformer::new().sp(terms, pre, s)
}

/// Transforms many conditions of one arena. Bound variables are declared once and used again, in other answers: whoever needs two
/// answers at a time takes two transformers, or passes one with its bound variables to the next.
#[derive(Debug, Clone, Default)]
pub struct Transformer {
    defined: Defined,
    /// Variables to be bound, by the variable that they are like.
    declared: FxHashMap<VarId, Vec<VarId>>,
    /// Those of the answer in the making.
    bound: Vec<VarId>,
    /// What must not be bound.
    taken: BTreeSet<VarId>,
}

impl Transformer {
    /// One that has declared nothing yet.
    pub fn new() -> Transformer {
        Transformer::default()
    }

    /// See [`wlp`].
    pub fn wlp(&mut self, terms: &mut Terms, s: StmtId, post: TermId) -> Result<Quantified, Unsupported> {
        let post = self.begin(terms, s, post)?;
        let term = self.before(terms, s, post)?;
        Ok(self.answer(terms, term))
    }

    /// See [`sp`].
    pub fn sp(&mut self, terms: &mut Terms, pre: TermId, s: StmtId) -> Result<Quantified, Unsupported> {
        let pre = self.begin(terms, s, pre)?;
        let term = self.after(terms, s, pre)?;
        Ok(self.answer(terms, term))
    }

    fn begin(&mut self, terms: &mut Terms, s: StmtId, condition: TermId) -> Result<TermId, Unsupported> {
        self.bound.clear();
        let (reads, writes) = terms.stmt_vars(s);
        self.taken = terms.free_vars(condition).into_iter().chain(reads).chain(writes).collect();
        self.defined.holds(terms, condition)
    }

    /// Leaves out bound variables that have vanished.
    fn answer(&mut self, terms: &Terms, term: TermId) -> Quantified {
        let free = terms.free_vars(term);
        Quantified { term, bound: self.bound.drain(..).filter(|v| free.contains(v)).collect() }
    }

    fn fresh(&mut self, terms: &mut Terms, v: VarId) -> TermId {
        let declared = self.declared.entry(v).or_default();
        let new = match declared.iter().find(|w| !self.taken.contains(w)) {
            Some(&w) => w,
            None => {
                let (name, ty) = (format!("{}'", terms.variable(v).name), terms.variable(v).ty);
                let new = terms.declare(name, ty);
                declared.push(new);
                new
            }
        };
        self.taken.insert(new);
        self.bound.push(new);
        terms.var(new)
    }

    /// The statement can assign this value: the term has one, and it fits.
    fn assignable(&mut self, terms: &mut Terms, v: VarId, t: TermId) -> Result<TermId, Unsupported> {
        let defined = self.defined.of(terms, t)?;
        let fits = terms.fits(terms.variable(v).ty, t);
        Ok(terms.and([defined, fits]))
    }

    fn before(&mut self, terms: &mut Terms, s: StmtId, post: TermId) -> Result<TermId, Unsupported> {
        Ok(match terms.stmt(s).clone() {
            Stmt::Skip => post,
            Stmt::Assume(c) => {
                let c = self.defined.holds(terms, c)?;
                terms.implies(c, post)
            }
            Stmt::Assign(v, t) => {
                let can = self.assignable(terms, v, t)?;
                let post = replace(terms, post, v, t);
                terms.implies(can, post)
            }
            Stmt::Havoc(v) if terms.free_vars(post).contains(&v) => {
                let any = self.fresh(terms, v);
                replace(terms, post, v, any)
            }
            Stmt::Havoc(_) => post,
            Stmt::Seq(parts) => parts.iter().rev().try_fold(post, |post, &p| self.before(terms, p, post))?,
            Stmt::Choice(parts) => {
                let parts: Result<Vec<TermId>, _> = parts.iter().map(|&p| self.before(terms, p, post)).collect();
                terms.and(parts?)
            }
            Stmt::If(c, a, b) => {
                let (a, b) = (self.before(terms, a, post)?, self.before(terms, b, post)?);
                let defined = self.defined.of(terms, c)?;
                let branches = terms.ite(c, a, b);
                terms.implies(defined, branches)
            }
            Stmt::While(..) => return Err(Unsupported::Loop),
            Stmt::Foreign(f, _) => return Err(Unsupported::Procedure(f)),
        })
    }

    fn after(&mut self, terms: &mut Terms, s: StmtId, pre: TermId) -> Result<TermId, Unsupported> {
        Ok(match terms.stmt(s).clone() {
            Stmt::Skip => pre,
            Stmt::Assume(c) => {
                let c = self.defined.holds(terms, c)?;
                terms.and([pre, c])
            }
            Stmt::Assign(v, t) => self.after_assignment(terms, v, t, pre)?,
            Stmt::Havoc(v) => {
                let (pre, _) = self.forget(terms, v, pre);
                pre
            }
            Stmt::Seq(parts) => parts.iter().try_fold(pre, |pre, &p| self.after(terms, p, pre))?,
            Stmt::Choice(parts) => {
                let parts: Result<Vec<TermId>, _> = parts.iter().map(|&p| self.after(terms, p, pre)).collect();
                terms.or(parts?)
            }
            Stmt::If(c, a, b) => {
                let defined = self.defined.of(terms, c)?;
                let not = terms.not(c);
                let (then, otherwise) = (terms.and([pre, defined, c]), terms.and([pre, defined, not]));
                let (a, b) = (self.after(terms, a, then)?, self.after(terms, b, otherwise)?);
                terms.or([a, b])
            }
            Stmt::While(..) => return Err(Unsupported::Loop),
            Stmt::Foreign(f, _) => return Err(Unsupported::Procedure(f)),
        })
    }

    fn after_assignment(&mut self, terms: &mut Terms, v: VarId, t: TermId, pre: TermId) -> Result<TermId, Unsupported> {
        let new = terms.var(v);
        if t == new {
            return Ok(pre);
        }
        if let Some(old) = undone(terms, v, t) {
            let fits = terms.fits(terms.variable(v).ty, old);
            let pre = replace(terms, pre, v, old);
            return Ok(terms.and([fits, pre]));
        }
        let reads = terms.free_vars(t).contains(&v);
        let (pre, old) = if reads { self.recall(terms, v, pre) } else { self.forget(terms, v, pre) };
        let t = match old {
            Some(old) => replace(terms, t, v, old),
            None => t,
        };
        let defined = self.defined.of(terms, t)?;
        let equal = terms.eq(new, t);
        Ok(terms.and([pre, defined, equal]))
    }

    /// What is left of a condition when a variable has lost its value, and that value if it still plays a role.
    fn forget(&mut self, terms: &mut Terms, v: VarId, pre: TermId) -> (TermId, Option<TermId>) {
        if terms.free_vars(pre).contains(&v) { self.recall(terms, v, pre) } else { (pre, None) }
    }

    /// The condition without the variable, and its value.
    fn recall(&mut self, terms: &mut Terms, v: VarId, pre: TermId) -> (TermId, Option<TermId>) {
        let known = definition(terms, v, pre);
        let old = known.unwrap_or_else(|| self.fresh(terms, v));
        let mut parts = vec![];
        if known.is_some() {
            parts.push(terms.fits(terms.variable(v).ty, old));
        }
        parts.push(replace(terms, pre, v, old));
        (terms.and(parts), Some(old))
    }
}

fn replace(terms: &mut Terms, t: TermId, v: VarId, by: TermId) -> TermId {
    terms.substitute(t, &FxHashMap::from_iter([(v, by)]))
}

/// The value of a variable that a part of the condition gives: one that never faults.
fn definition(terms: &mut Terms, v: VarId, condition: TermId) -> Option<TermId> {
    let parts = match terms.get(condition) {
        Term::And(parts) => parts.to_vec(),
        _ => vec![condition],
    };
    parts.into_iter().find_map(|p| {
        let var = terms.var(v);
        match *terms.get(p) {
            _ if p == var => Some(terms.bool(true)),
            Term::Not(q) if q == var => Some(terms.bool(false)),
            Term::Eq(a, b) => {
                let other = if a == var {
                    b
                } else if b == var {
                    a
                } else {
                    return None;
                };
                (!terms.may_fault(other) && !terms.free_vars(other).contains(&v)).then_some(other)
            }
            _ => None,
        }
    })
}

/// The old value of a variable after `v := t`, said by its new one; only where each new value has one old one and no fault.
fn undone(terms: &mut Terms, v: VarId, t: TermId) -> Option<TermId> {
    let var = terms.var(v);
    if terms.may_fault(t) {
        return None;
    }
    let (base, rest) = match *terms.get(t) {
        Term::Not(a) if a == var => return Some(t),
        Term::Add(ref args) => {
            let args = args.clone();
            let at = args.iter().position(|&a| terms.free_vars(a).contains(&v))?;
            let rest: Vec<TermId> = args.iter().enumerate().filter(|&(k, _)| k != at).map(|(_, &a)| a).collect();
            (args[at], rest)
        }
        _ => (t, vec![]),
    };
    if rest.iter().any(|&a| terms.free_vars(a).contains(&v)) {
        return None;
    }
    let negated = match *terms.get(base) {
        Term::Var(_) => false,
        Term::Neg(a) => a == var,
        _ => return None,
    };
    if base != var && !negated {
        return None;
    }
    let mut parts = vec![if negated { base } else { var }];
    for a in rest {
        parts.push(if negated { a } else { terms.neg(a) });
    }
    Some(terms.add(parts))
}

/// What must hold before a statement so that it can end where the term holds. For a statement without assumptions and choices
/// the term may be of any type: its value after the statement, said before it.
pub fn wep(terms: &mut Terms, s: StmtId, t: TermId) -> Option<TermId> {
    match terms.stmt(s).clone() {
        Stmt::Skip => Some(t),
        Stmt::Assume(c) => (terms.ty(t) == Type::Bool).then(|| terms.and([c, t])),
        Stmt::Assign(v, value) => {
            let value = match terms.variable(v).ty {
                Type::Range(lo, hi) => terms.checked(value, lo, hi),
                _ => value,
            };
            Some(terms.substitute(t, &FxHashMap::from_iter([(v, value)])))
        }
        Stmt::Seq(parts) => parts.iter().rev().try_fold(t, |t, &p| wep(terms, p, t)),
        Stmt::If(c, a, b) => {
            let (a, b) = (wep(terms, a, t)?, wep(terms, b, t)?);
            Some(terms.ite(c, a, b))
        }
        Stmt::Choice(parts) => {
            if terms.ty(t) != Type::Bool {
                return None;
            }
            let parts: Option<Vec<TermId>> = parts.iter().map(|&p| wep(terms, p, t)).collect();
            Some(terms.or(parts?))
        }
        Stmt::Havoc(v) => (!terms.free_vars(t).contains(&v)).then_some(t),
        Stmt::While(..) | Stmt::Foreign(..) => None,
    }
}
