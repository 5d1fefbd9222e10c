//! Substitution, renaming, free variables.
//!
//! All of them visit each sub-term once, in the order in which the arena made them (a sub-term is always older than
//! the term), so neither sharing nor depth is a problem.
//!
//! Substitution is simultaneous and does not know about faults: a replacement is evaluated where the variable was, if
//! it is evaluated at all. Whoever substitutes for a variable of a range type (for a weakest precondition, say) sees to
//! it that the replacement keeps the range: checks that the range made superfluous are not there to be revived.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::stmt::{Stmt, StmtId};
use crate::term::{Term, TermId, Terms, VarId};

impl Terms {
    /// The terms and all their sub-terms, once each, sub-terms first.
    pub fn subterms(&self, roots: impl IntoIterator<Item = TermId>) -> Vec<TermId> {
        let mut seen = FxHashSet::default();
        let mut todo: Vec<TermId> = roots.into_iter().collect();
        let mut all = vec![];
        while let Some(t) = todo.pop() {
            if seen.insert(t) {
                all.push(t);
                todo.extend(self.children(t));
            }
        }
        all.sort_unstable();
        all
    }

    /// The variables that occur in a term.
    pub fn free_vars(&self, t: TermId) -> BTreeSet<VarId> {
        let var = |t: TermId| match *self.get(t) {
            Term::Var(v) => Some(v),
            _ => None,
        };
        self.subterms([t]).into_iter().filter_map(var).collect()
    }

    /// The term with variables replaced by terms of the same type, all at once.
    ///
    /// # Panics
    ///
    /// In debug builds if a replacement is of another type.
    pub fn substitute(&mut self, t: TermId, map: &FxHashMap<VarId, TermId>) -> TermId {
        Substitution::new(map.clone()).apply(self, t)
    }

    /// The term with variables replaced by variables, all at once.
    pub fn rename(&mut self, t: TermId, map: &FxHashMap<VarId, VarId>) -> TermId {
        let map = map.iter().map(|(&v, &w)| (v, self.var(w))).collect();
        Substitution::new(map).apply(self, t)
    }

    /// The variables that a statement reads, and those that it writes.
    pub fn stmt_vars(&self, s: StmtId) -> (BTreeSet<VarId>, BTreeSet<VarId>) {
        let mut terms = vec![];
        let mut writes = BTreeSet::new();
        let mut seen = FxHashSet::default();
        let mut todo = vec![s];
        while let Some(s) = todo.pop() {
            if !seen.insert(s) {
                continue;
            }
            match *self.stmt(s) {
                Stmt::Skip => {}
                Stmt::Assume(t) => terms.push(t),
                Stmt::Assign(v, t) => {
                    writes.insert(v);
                    terms.push(t);
                }
                Stmt::Havoc(v) => {
                    writes.insert(v);
                }
                Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => todo.extend(parts.iter().copied()),
                Stmt::If(c, a, b) => {
                    terms.push(c);
                    todo.extend([a, b]);
                }
                Stmt::While(c, body) => {
                    terms.push(c);
                    todo.push(body);
                }
                Stmt::Foreign(_, ref args) => terms.extend(args.iter().copied()),
            }
        }
        let var = |t: TermId| match *self.get(t) {
            Term::Var(v) => Some(v),
            _ => None,
        };
        (self.subterms(terms).into_iter().filter_map(var).collect(), writes)
    }
}

/// A substitution that remembers what it has done, for use on many terms.
#[derive(Debug, Clone, Default)]
pub struct Substitution {
    map: FxHashMap<VarId, TermId>,
    done: FxHashMap<TermId, TermId>,
}

impl Substitution {
    /// Replaces the variables by the terms.
    pub fn new(map: FxHashMap<VarId, TermId>) -> Substitution {
        Substitution { map, done: FxHashMap::default() }
    }

    /// Substitutes in a term.
    ///
    /// # Panics
    ///
    /// In debug builds if a replacement is of another type than the variable.
    pub fn apply(&mut self, terms: &mut Terms, t: TermId) -> TermId {
        for t in pending(terms, t, &self.done) {
            let new = match *terms.get(t) {
                Term::Var(v) => match self.map.get(&v) {
                    Some(&new) => {
                        debug_assert_eq!(terms.ty(new), terms.ty(t), "a replacement of another type");
                        new
                    }
                    None => t,
                },
                _ => rebuilt(terms, t, &self.done),
            };
            self.done.insert(t, new);
        }
        self.done[&t]
    }
}

/// The sub-terms that are not done yet, sub-terms first.
pub(crate) fn pending(terms: &Terms, t: TermId, done: &FxHashMap<TermId, TermId>) -> Vec<TermId> {
    let mut seen = FxHashSet::default();
    let mut todo = vec![t];
    let mut all = vec![];
    while let Some(t) = todo.pop() {
        if !done.contains_key(&t) && seen.insert(t) {
            all.push(t);
            todo.extend(terms.children(t));
        }
    }
    all.sort_unstable();
    all
}

/// The term with its children replaced by what was done to them.
pub(crate) fn rebuilt(terms: &mut Terms, t: TermId, done: &FxHashMap<TermId, TermId>) -> TermId {
    let children = terms.children(t);
    let new: Vec<TermId> = children.iter().map(|c| done[c]).collect();
    if new == children { t } else { terms.rebuild(t, &new) }
}
