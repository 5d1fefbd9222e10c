//! Statements as formulas over versions of the variables (static single assignment).
//!
//! An [`Unrolling`] goes along a path and remembers, for each variable, its version at each position. Version 0 is the variable
//! itself; later ones are variables of the same type named `x@1`, `x@2` and so on, declared when they are needed and used again
//! after [`Unrolling::restart`], so that equal paths give equal terms.
//!
//! [`Unrolling::step`] says one statement as a formula. It never faults; its solutions (over the versions before, those after and those
//! in between) are exactly the runs that end without a fault: a run that faults is no solution, nor one that is blocked. That a
//! value fits the range of its variable is not said, the version has the same type. Branches are never multiplied out: all branches of a
//! choice count their versions from the same one on, and those that end with an older version than others say that it
//! is the same. A variable that no branch writes keeps its version. Loops and foreign calls are refused.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::defined::Defined;
pub use crate::defined::Unsupported;
use crate::eval::Valuation;
use crate::stmt::{Stmt, StmtId};
use crate::term::{TermId, Terms, VarId};

/// Versions of variables along a path.
#[derive(Debug, Clone, Default)]
pub struct Unrolling {
    /// Those that have been declared, per variable; the first is number 1.
    declared: FxHashMap<VarId, Vec<VarId>>,
    /// Which variable it is a version of, and its number.
    origin: FxHashMap<VarId, (VarId, usize)>,
    /// Per variable: from which position on it has which version number; 0 before the first.
    history: FxHashMap<VarId, Vec<(usize, usize)>>,
    position: usize,
    defined: Defined,
}

/// The version numbers that differ from those at the start of the step.
type Changes = BTreeMap<VarId, usize>;

impl Unrolling {
    /// At the beginning of a path.
    pub fn new() -> Unrolling {
        Unrolling::default()
    }

    /// Back to the beginning, for another path; the declared versions are kept for it.
    pub fn restart(&mut self) {
        self.history.clear();
        self.position = 0;
    }

    /// How many statements have been unrolled: the number of the current position.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Goes on by one statement: a formula that never faults, over the versions before and after it (and some in between), whose
    /// solutions are exactly the runs of the statement that end without a fault. If it is refused nothing has changed.
    pub fn step(&mut self, terms: &mut Terms, s: StmtId) -> Result<TermId, Unsupported> {
        let mut changes = Changes::new();
        let formula = self.encode(terms, s, &mut changes)?;
        self.position += 1;
        for (v, number) in changes {
            self.history.entry(v).or_default().push((self.position, number));
        }
        Ok(formula)
    }

    /// The version of a variable at a position.
    ///
    /// # Panics
    ///
    /// If the path is shorter than that.
    pub fn version(&self, v: VarId, position: usize) -> VarId {
        assert!(position <= self.position, "position {position} of a path of length {}", self.position);
        self.named(v, self.number(v, position))
    }

    /// Which variable this is a version of at the position, if of any.
    pub fn variable(&self, version: VarId, position: usize) -> Option<VarId> {
        let (v, number) = self.origin.get(&version).copied().unwrap_or((version, 0));
        (self.number(v, position) == number).then_some(v)
    }

    /// A term over the variables, said of a position.
    pub fn at(&self, terms: &mut Terms, t: TermId, position: usize) -> TermId {
        let map = terms.free_vars(t).into_iter().map(|v| (v, self.version(v, position))).collect();
        terms.rename(t, &map)
    }

    /// A term over the versions at a position, said of the variables; none if it mentions other versions.
    pub fn back(&self, terms: &mut Terms, t: TermId, position: usize) -> Option<TermId> {
        let original = |v: VarId| Some((v, self.variable(v, position)?));
        let map: Option<FxHashMap<VarId, VarId>> = terms.free_vars(t).into_iter().map(original).collect();
        Some(terms.rename(t, &map?))
    }

    /// The values of the variables at a position, as far as the model of the formulas says.
    pub fn state(&self, model: &Valuation, position: usize) -> Valuation {
        let original = |(&version, value): (&VarId, _)| Some((self.variable(version, position)?, Clone::clone(value)));
        model.iter().filter_map(original).collect()
    }

    fn number(&self, v: VarId, position: usize) -> usize {
        let Some(history) = self.history.get(&v) else { return 0 };
        match history.partition_point(|&(since, _)| since <= position) {
            0 => 0,
            n => history[n - 1].1,
        }
    }

    /// A version that has been declared.
    fn named(&self, v: VarId, number: usize) -> VarId {
        if number == 0 { v } else { self.declared[&v][number - 1] }
    }

    fn current(&self, v: VarId, changes: &Changes) -> usize {
        changes.get(&v).copied().unwrap_or_else(|| self.number(v, self.position))
    }

    /// The next version becomes the current one.
    fn next(&mut self, terms: &mut Terms, v: VarId, changes: &mut Changes) -> VarId {
        let number = self.current(v, changes) + 1;
        changes.insert(v, number);
        let declared = self.declared.entry(v).or_default();
        if declared.len() < number {
            let (name, ty) = (format!("{}@{number}", terms.variable(v).name), terms.variable(v).ty);
            let new = terms.declare(name, ty);
            declared.push(new);
            self.origin.insert(new, (v, number));
        }
        declared[number - 1]
    }

    fn renamed(&self, terms: &mut Terms, t: TermId, changes: &Changes) -> TermId {
        let version = |v| (v, self.named(v, self.current(v, changes)));
        let map = terms.free_vars(t).into_iter().map(version).collect();
        terms.rename(t, &map)
    }

    fn encode(&mut self, terms: &mut Terms, s: StmtId, changes: &mut Changes) -> Result<TermId, Unsupported> {
        match terms.stmt(s).clone() {
            Stmt::Skip => Ok(terms.bool(true)),
            Stmt::Assume(c) => {
                let c = self.renamed(terms, c, changes);
                self.defined.holds(terms, c)
            }
            Stmt::Assign(v, t) => {
                let t = self.renamed(terms, t, changes);
                let defined = self.defined.of(terms, t)?;
                let new = self.next(terms, v, changes);
                let new = terms.var(new);
                let equal = terms.eq(new, t);
                Ok(terms.and([defined, equal]))
            }
            Stmt::Havoc(v) => {
                self.next(terms, v, changes);
                Ok(terms.bool(true))
            }
            Stmt::Seq(parts) => {
                let parts: Result<Vec<TermId>, _> = parts.iter().map(|&p| self.encode(terms, p, changes)).collect();
                Ok(terms.and(parts?))
            }
            Stmt::Choice(parts) => {
                let parts = self.branches(terms, &parts, changes)?;
                Ok(terms.or(parts))
            }
            Stmt::If(c, a, b) => {
                let c = self.renamed(terms, c, changes);
                let defined = self.defined.of(terms, c)?;
                let parts = self.branches(terms, &[a, b], changes)?;
                let branches = terms.ite(c, parts[0], parts[1]);
                Ok(terms.and([defined, branches]))
            }
            Stmt::While(..) => Err(Unsupported::Loop),
            Stmt::Foreign(f, _) => Err(Unsupported::Procedure(f)),
        }
    }

    /// The formulas of alternatives, which all end with the same versions: for each variable the latest of any.
    fn branches(
        &mut self,
        terms: &mut Terms,
        parts: &[StmtId],
        changes: &mut Changes,
    ) -> Result<Vec<TermId>, Unsupported> {
        let mut ways = vec![];
        let mut after = changes.clone();
        for &p in parts {
            let mut own = changes.clone();
            let formula = self.encode(terms, p, &mut own)?;
            for (&v, &number) in &own {
                let latest = after.entry(v).or_insert(number);
                *latest = number.max(*latest);
            }
            ways.push((formula, own));
        }
        let mut formulas = vec![];
        for (formula, own) in ways {
            let mut formula = vec![formula];
            for (&v, &number) in &after {
                let last = self.current(v, &own);
                if last != number {
                    let (old, new) = (self.named(v, last), self.named(v, number));
                    let (old, new) = (terms.var(old), terms.var(new));
                    formula.push(terms.eq(new, old));
                }
            }
            formulas.push(terms.and(formula));
        }
        *changes = after;
        Ok(formulas)
    }
}
