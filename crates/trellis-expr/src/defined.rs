//! Where a term has a value, said as a term.
//!
//! [`Defined::of`] answers with a term that never faults and is true exactly where the given one does not; [`Defined::holds`] with one
//! that never faults and is true exactly where the given truth value comes out true. So formulas can be negated and put into
//! disjunctions without losing a fault or finding a new one. Both follow [`crate::eval`]: a part of a connective counts only if it is
//! reached. A foreign function may refuse as it likes; where one is called there is no answer.
//!
//! Each sub-term is looked at once, in the order in which the arena made them, so neither sharing nor depth is a problem.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::subst::pending;
use crate::term::{BitOp, FnId, Term, TermId, Terms, Type};

/// What has no formula.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// A loop.
    #[error("a loop has no formula")]
    Loop,
    /// A call of a foreign procedure.
    #[error("the foreign procedure {} has no formula", .0.0)]
    Procedure(FnId),
    /// A call of a foreign function.
    #[error("the foreign function {} has no formula", .0.0)]
    Function(FnId),
}

/// Says where terms have a value; remembers what it has said, for use on many terms of one arena.
#[derive(Debug, Clone, Default)]
pub struct Defined {
    done: FxHashMap<TermId, TermId>,
}

/// A term that never faults and is true exactly where `t` evaluates without a fault.
pub fn defined(terms: &mut Terms, t: TermId) -> Result<TermId, Unsupported> {
    Defined::default().of(terms, t)
}

/// A term that never faults and is true exactly where `t` evaluates to true.
pub fn holds(terms: &mut Terms, t: TermId) -> Result<TermId, Unsupported> {
    Defined::default().holds(terms, t)
}

impl Defined {
    /// A term that never faults and is true exactly where `t` evaluates without a fault.
    pub fn of(&mut self, terms: &mut Terms, t: TermId) -> Result<TermId, Unsupported> {
        if !terms.may_fault(t) {
            return Ok(terms.bool(true));
        }
        for t in pending(terms, t, &self.done) {
            let where_defined = self.node(terms, t)?;
            self.done.insert(t, where_defined);
        }
        Ok(self.done[&t])
    }

    /// A term that never faults and is true exactly where `t` evaluates to true.
    pub fn holds(&mut self, terms: &mut Terms, t: TermId) -> Result<TermId, Unsupported> {
        if !terms.may_fault(t) {
            return Ok(t);
        }
        // A conjunction is true where all its parts are; each is guarded by itself.
        let parts = match terms.get(t) {
            Term::And(parts) => parts.to_vec(),
            _ => vec![t],
        };
        let mut guarded = vec![];
        for p in parts {
            guarded.extend([self.of(terms, p)?, p]);
        }
        Ok(terms.and(guarded))
    }

    /// The sub-terms are done.
    fn node(&self, terms: &mut Terms, t: TermId) -> Result<TermId, Unsupported> {
        if !terms.may_fault(t) {
            return Ok(terms.bool(true));
        }
        Ok(match terms.get(t).clone() {
            Term::And(args) => self.connective(terms, &args, true),
            Term::Or(args) => self.connective(terms, &args, false),
            Term::Ite(c, a, b) => {
                let branches = terms.ite(c, self.done[&a], self.done[&b]);
                terms.and([self.done[&c], branches])
            }
            Term::Foreign(f, _) => return Err(Unsupported::Function(f)),
            node => {
                let mut parts: Vec<TermId> = terms.children(t).iter().map(|c| self.done[c]).collect();
                parts.push(own_check(terms, &node));
                terms.and(parts)
            }
        })
    }

    /// A part is reached if those before it came out neutral. What they say need not be said again, so a part that is guarded
    /// already gets no second guard.
    fn connective(&self, terms: &mut Terms, args: &[TermId], neutral: bool) -> TermId {
        let mut said = FxHashSet::default();
        let mut guards = vec![];
        for &a in args {
            let guard = match terms.get(self.done[&a]) {
                Term::And(parts) => parts.to_vec(),
                _ => vec![self.done[&a]],
            };
            guards.push(terms.and(guard.into_iter().filter(|g| !said.contains(g))));
            said.insert(if neutral { a } else { terms.not(a) });
        }
        let mut rest = terms.bool(true);
        for (&a, guard) in args.iter().zip(guards).rev() {
            if terms.as_bool(rest) != Some(true) {
                let decided = if neutral { terms.not(a) } else { a };
                rest = terms.or([decided, rest]);
            }
            rest = terms.and([guard, rest]);
        }
        rest
    }
}

/// Where the node itself does not fault, given values of its sub-terms.
fn own_check(terms: &mut Terms, node: &Term) -> TermId {
    match *node {
        Term::Div(_, _, b) | Term::Rem(_, _, b) if !terms.is_nonzero(b) => {
            let zero = terms.number(terms.ty(b), 0.into());
            terms.ne(b, zero)
        }
        Term::Select(a, i) => index_check(terms, terms.ty(a), i),
        Term::Store(a, i, v) => {
            let (index, entry) = (index_check(terms, terms.ty(a), i), entry_check(terms, terms.ty(a), v));
            terms.and([index, entry])
        }
        Term::ConstArray(ty, v) => entry_check(terms, terms.type_of_id(ty), v),
        Term::Bit(BitOp::Shl | BitOp::Shr, a, by) => shift_check(terms, a, by),
        Term::Checked(a, lo, hi) => terms.fits(Type::Range(lo, hi), a),
        Term::Convert(ty, a) => {
            let a = terms.convert(Type::Int, a);
            terms.fits(terms.type_of_id(ty), a)
        }
        _ => terms.bool(true),
    }
}

fn index_check(terms: &mut Terms, array: Type, i: TermId) -> TermId {
    let Type::Array(index, _) = array else { unreachable!("terms are well-typed") };
    terms.fits(terms.type_of_id(index), i)
}

fn entry_check(terms: &mut Terms, array: Type, v: TermId) -> TermId {
    let Type::Array(_, entry) = array else { unreachable!("terms are well-typed") };
    terms.fits(terms.type_of_id(entry), v)
}

fn shift_check(terms: &mut Terms, a: TermId, by: TermId) -> TermId {
    let width = match terms.ty(a) {
        Type::Bits { width, .. } => i64::from(width),
        _ => 64,
    };
    let ty = terms.ty(by);
    let (zero, last) = (terms.number(ty, 0.into()), terms.number(ty, (width - 1).into()));
    let (least, greatest) = (terms.le(zero, by), terms.le(by, last));
    match terms.type_bounds(ty) {
        Some((_, hi)) if hi < width => least,
        _ => terms.and([least, greatest]),
    }
}

impl Terms {
    /// Says that the value of a term may be assigned to a variable of the type; only a range refuses any. The term must not fault.
    pub fn fits(&mut self, ty: Type, t: TermId) -> TermId {
        let Type::Range(lo, hi) = ty else { return self.bool(true) };
        let known = self.bounds(t);
        let (least, greatest) = (self.int(lo), self.int(hi));
        let above = if known.is_some_and(|(l, _)| lo <= l) { self.bool(true) } else { self.le(least, t) };
        let below = if known.is_some_and(|(_, h)| h <= hi) { self.bool(true) } else { self.le(t, greatest) };
        self.and([above, below])
    }
}
