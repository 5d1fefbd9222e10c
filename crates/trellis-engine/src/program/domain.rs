//! Abstract domains of programs: what a label is, what may be followed at a location, and how an infeasible path adds to it (004 §2.3).
//!
//! [`cegar`](super::cegar) is written over [`AbstractDomain`]; so is the graph of [`ltl`](crate::ltl), for domains of which it knows the
//! labels. A new domain is a file with an implementor, and one line in [`cegar::check`](super::cegar::check).

use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::sync::Arc;

use trellis_expr::{Stmt, StmtId, Term, TermId, Terms, Type, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::{Cfa, EdgeId, LocationId};
use trellis_smt::Reason;
use trellis_smt::path::Refutation;

use super::edges::Edges;
use super::post::Mode;

/// What labels are made of, beside the values of control variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Values of variables.
    Explicit,
    /// Predicates.
    Predicates(Mode),
    /// Values where that is natural, predicates elsewhere.
    Product(Mode),
    /// Intervals of numbers, with widening; values where there are few.
    Intervals,
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::Explicit => write!(f, "explicit"),
            Domain::Predicates(mode) => write!(f, "predicates, {mode}"),
            Domain::Product(mode) => write!(f, "product, {mode}"),
            Domain::Intervals => write!(f, "intervals"),
        }
    }
}

/// Which precision holds where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One for each location.
    Local,
    /// One for all.
    Global,
}

/// How a predicate is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Not at all.
    Whole,
    /// Into the parts of a conjunction.
    Conjuncts,
    /// Into its atoms.
    Atoms,
}

/// What is followed at a location. It only grows.
pub trait Followed: Debug + Clone + Default {
    /// Is all of the other followed already?
    fn includes(&self, other: &Self) -> bool;
    /// Follow that too.
    fn add(&mut self, other: &Self);
}

/// A set of whatever can be followed.
impl<T: Debug + Clone + Ord> Followed for BTreeSet<T> {
    fn includes(&self, other: &Self) -> bool {
        other.is_subset(self)
    }

    fn add(&mut self, other: &Self) {
        self.extend(other.iter().cloned());
    }
}

/// Labels of abstract states, and their successors under a precision.
pub trait AbstractDomain {
    /// A set of states of one location.
    type Label: Debug + Clone + PartialEq + Eq + std::hash::Hash;
    /// What successors are computed under.
    type Precision: Followed;

    /// All states.
    fn top(&self) -> Self::Label;
    /// What is followed everywhere from the start: at least control variables.
    fn first(&self, cfa: &Cfa) -> Self::Precision;
    /// The variables that have one value in the label, with these; sorted. A label covers another only if that has the same values.
    fn values<'l>(&self, label: &'l Self::Label) -> &'l [(VarId, TermId)];
    /// Is every state of `a` one of `b`, given that `a` has the values of `b`? May say no where it is hard to tell.
    fn leq(&self, a: &Self::Label, b: &Self::Label) -> bool;
    /// The label as terms that all hold.
    fn assumptions(&self, terms: &mut Terms, label: &Self::Label) -> Vec<TermId>;
    /// Labels that together hold all that is after the edge, from where `before` holds. Over-approximates.
    fn successors(
        &mut self,
        cfa: &mut Cfa,
        before: &[TermId],
        e: EdgeId,
        precision: &Self::Precision,
        limits: &Meter,
    ) -> Result<Vec<Self::Label>, Reason>;
    /// Are there infinitely many labels under a precision? Then [`widen`](Self::widen) is asked.
    fn widens(&self) -> bool {
        false
    }
    /// A label that includes `new`, which was reached from `old` at the same location and under the same precision, such that there is
    /// no infinite sequence of these. Nothing if `old` has other [values](Self::values).
    fn widen(&self, _old: &Self::Label, _new: &Self::Label, _precision: &Self::Precision) -> Option<Self::Label> {
        None
    }
    /// What to follow at a location in order to know whether a fact holds there.
    fn follow(&mut self, terms: &mut Terms, l: LocationId, fact: TermId) -> Self::Precision;
    /// What to follow in order to know what a refutation says at a position; facts are taken apart.
    fn learn(
        &mut self,
        terms: &mut Terms,
        l: LocationId,
        refutation: &Refutation,
        position: usize,
        split: Split,
    ) -> Self::Precision {
        self.follow_all(terms, l, refutation.predicates[position], split)
    }
    /// What to follow for all parts of a fact.
    fn follow_all(&mut self, terms: &mut Terms, l: LocationId, fact: TermId, split: Split) -> Self::Precision {
        let mut parts = vec![];
        take_apart(terms, fact, split, &mut parts);
        let mut all = Self::Precision::default();
        parts.into_iter().for_each(|p| all.add(&self.follow(terms, l, p)));
        all
    }
    /// What to follow in order to know the values of variables, where the domain knows values.
    fn follow_values(&self, _variables: &BTreeSet<VarId>) -> Option<Self::Precision> {
        None
    }
    /// The edges as formulas, with the solvers that know them.
    fn edges(&mut self) -> &mut Edges;
}

/// Precisions of all locations.
#[derive(Debug, Clone)]
pub struct Precisions<P> {
    scope: Scope,
    /// By location; all the same one if the scope is global.
    list: Vec<Arc<P>>,
}

impl<P: Followed> Precisions<P> {
    /// The same everywhere.
    pub fn new(cfa: &Cfa, first: P, scope: Scope) -> Precisions<P> {
        let first = Arc::new(first);
        Precisions { scope, list: vec![first; cfa.locations().len()] }
    }

    /// What is followed at a location.
    pub fn at(&self, l: LocationId) -> &Arc<P> {
        &self.list[l.index()]
    }

    /// Follow more at a location (or everywhere, if that is the scope). Is it new there?
    pub fn take_in(&mut self, l: LocationId, gained: &P) -> bool {
        let places = match self.scope {
            Scope::Local => l.index()..l.index() + 1,
            Scope::Global => 0..self.list.len(),
        };
        let new = !self.at(l).includes(gained);
        for here in &mut self.list[places] {
            if !here.includes(gained) {
                Arc::make_mut(here).add(gained);
            }
        }
        new
    }
}

/// Can the value of the variable be followed?
pub fn is_plain(terms: &Terms, v: VarId) -> bool {
    !matches!(terms.variable(v).ty, Type::Array(..))
}

/// Has the variable few values?
pub fn has_few_values(terms: &Terms, v: VarId) -> bool {
    match terms.variable(v).ty {
        Type::Bool | Type::Enum(_) => true,
        Type::Range(lo, hi) => hi.saturating_sub(lo) < 16,
        _ => false,
    }
}

/// A predicate in parts.
pub fn take_apart(terms: &Terms, p: TermId, split: Split, out: &mut Vec<TermId>) {
    match (split, terms.get(p)) {
        (Split::Conjuncts, Term::And(parts)) => parts.iter().for_each(|&p| take_apart(terms, p, split, out)),
        (Split::Atoms, Term::And(parts) | Term::Or(parts)) => {
            parts.iter().for_each(|&p| take_apart(terms, p, split, out));
        }
        (Split::Atoms, &Term::Not(p)) => take_apart(terms, p, split, out),
        (Split::Atoms, &Term::Ite(a, b, c)) if terms.ty(b) == Type::Bool => {
            [a, b, c].into_iter().for_each(|p| take_apart(terms, p, split, out));
        }
        (Split::Atoms, &Term::Eq(a, b)) if terms.ty(a) == Type::Bool => {
            [a, b].into_iter().for_each(|p| take_apart(terms, p, split, out));
        }
        _ if terms.as_bool(p).is_some() => {}
        _ => out.push(p),
    }
}

/// The conditions that a statement assumes, as atoms over what is before it (as far as that is easily said).
pub fn assumptions(terms: &Terms, s: StmtId, out: &mut Vec<TermId>) {
    match *terms.stmt(s) {
        Stmt::Assume(t) => take_apart(terms, t, Split::Atoms, out),
        Stmt::If(c, a, b) => {
            take_apart(terms, c, Split::Atoms, out);
            assumptions(terms, a, out);
            assumptions(terms, b, out);
        }
        Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => parts.iter().for_each(|&p| assumptions(terms, p, out)),
        _ => {}
    }
}
