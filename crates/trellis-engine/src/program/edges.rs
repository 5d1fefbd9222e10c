//! The edges of an automaton as formulas, each with a solver of its own that has the formula asserted, so that what it learns about
//! an edge is kept.
//!
//! A formula speaks of the variables before the edge as themselves, and after it as the versions that [`Step::after`] says.

use rustc_hash::FxHashMap;
use trellis_expr::ssa::Unrolling;
use trellis_expr::{StmtId, TermId, Terms, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::{Cfa, EdgeId};
use trellis_smt::{Answer, Embedded, Reason, Solver};

/// One edge.
pub struct Step {
    /// What it says.
    pub formula: TermId,
    versions: FxHashMap<VarId, VarId>,
    renamed: FxHashMap<TermId, TermId>,
    solver: Embedded,
}

impl Step {
    fn new(terms: &mut Terms, unrolling: &mut Unrolling, stmt: StmtId) -> Result<Step, Reason> {
        unrolling.restart();
        let formula = unrolling.step(terms, stmt).map_err(|what| Reason::Unsupported(what.to_string()))?;
        let (_, writes) = terms.stmt_vars(stmt);
        let versions = writes.into_iter().map(|v| (v, unrolling.version(v, 1))).collect();
        let mut solver = Embedded::new();
        solver.assert(terms, formula);
        Ok(Step { formula, versions, renamed: FxHashMap::default(), solver })
    }

    /// The variable after the edge.
    pub fn version(&self, v: VarId) -> VarId {
        self.versions.get(&v).copied().unwrap_or(v)
    }

    /// A term, said of what is after the edge.
    pub fn after(&mut self, terms: &mut Terms, t: TermId) -> TermId {
        if let Some(&done) = self.renamed.get(&t) {
            return done;
        }
        let done = terms.rename(t, &self.versions);
        self.renamed.insert(t, done);
        done
    }

    /// Can the edge be taken under these assumptions?
    pub fn check(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Meter) -> Answer {
        self.solver.check(terms, assumptions, limits)
    }

    /// Opens a level, in which more can be asserted.
    pub fn push(&mut self) {
        self.solver.push();
    }

    /// Closes it.
    pub fn pop(&mut self) {
        self.solver.pop();
    }

    /// Asserts.
    pub fn assert(&mut self, terms: &Terms, t: TermId) {
        self.solver.assert(terms, t);
    }
}

/// All edges; they become formulas when they are first asked for.
#[derive(Default)]
pub struct Edges {
    steps: FxHashMap<EdgeId, Step>,
    unrolling: Unrolling,
}

impl Edges {
    /// The edge of the automaton, with the arena in which it grows.
    pub fn get(&mut self, cfa: &mut Cfa, e: EdgeId) -> Result<&mut Step, Reason> {
        if !self.steps.contains_key(&e) {
            let stmt = cfa.edge(e).stmt;
            let step = Step::new(&mut cfa.terms, &mut self.unrolling, stmt)?;
            self.steps.insert(e, step);
        }
        Ok(self.steps.get_mut(&e).expect("just made"))
    }
}
