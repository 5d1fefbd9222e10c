//! Why a path cannot be taken: one predicate for each position, by any of the ways that 004 §2.3.3 and DESIGN §2 name.
//!
//! Newton and sequence interpolants say something for every position. Binary interpolants ([`Refinement::BinaryForward`],
//! [`Refinement::BinaryBackward`]) cut the path in two, after its longest prefix (or before its longest suffix) that can still be taken
//! inside the labels, and say something at the cut only.

use std::fmt;

use trellis_expr::ssa::Unrolling;
use trellis_expr::{StmtId, TermId, Terms};
use trellis_meter::Meter;
use trellis_smt::path::{CoreVariables, Interpolate, Newton, NotRefuted, Refine, Refutation};
use trellis_smt::{Answer, Embedded, Reason, Solver};

/// How an infeasible path becomes predicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refinement {
    /// Strongest postconditions of the unsat core.
    NewtonForward,
    /// Weakest preconditions of the unsat core.
    NewtonBackward,
    /// Sequence interpolants.
    Sequence,
    /// The variables of the unsat core, with Newton's predicates.
    Core,
    /// One interpolant, as late as can be.
    BinaryForward,
    /// One interpolant, as early as can be.
    BinaryBackward,
}

impl Refinement {
    /// All of them.
    pub const ALL: [Refinement; 6] = [
        Refinement::NewtonForward,
        Refinement::NewtonBackward,
        Refinement::Sequence,
        Refinement::Core,
        Refinement::BinaryForward,
        Refinement::BinaryBackward,
    ];
}

impl fmt::Display for Refinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refinement::NewtonForward => "newton",
            Refinement::NewtonBackward => "newton-backward",
            Refinement::Sequence => "sequence",
            Refinement::Core => "core",
            Refinement::BinaryForward => "binary",
            Refinement::BinaryBackward => "binary-backward",
        })
    }
}

/// Refutes the paths of one automaton.
pub struct Refuter {
    forward: Newton,
    backward: Newton,
    sequence: Interpolate,
    core: CoreVariables,
    unrolling: Unrolling,
    solver: Embedded,
}

impl Refuter {
    /// One that has seen no path yet.
    pub fn new() -> Refuter {
        Refuter {
            forward: Newton::forward(),
            backward: Newton::backward(),
            sequence: Interpolate::new(),
            core: CoreVariables::new(),
            unrolling: Unrolling::new(),
            solver: Embedded::new(),
        }
    }

    /// Predicates along the path, unless it is feasible. The labels are what is known after each statement.
    pub fn refute(
        &mut self,
        terms: &mut Terms,
        how: Refinement,
        path: &[StmtId],
        labels: &[Vec<TermId>],
        limits: &Meter,
    ) -> Result<Refutation, NotRefuted> {
        let refiner: &mut dyn Refine = match how {
            Refinement::NewtonForward => &mut self.forward,
            Refinement::NewtonBackward => &mut self.backward,
            Refinement::Sequence => &mut self.sequence,
            Refinement::Core => &mut self.core,
            Refinement::BinaryForward | Refinement::BinaryBackward => {
                return self.binary(terms, how == Refinement::BinaryForward, path, labels, limits);
            }
        };
        refiner.refute(terms, path, &mut self.solver, limits)
    }

    fn binary(
        &mut self,
        terms: &mut Terms,
        forward: bool,
        path: &[StmtId],
        labels: &[Vec<TermId>],
        limits: &Meter,
    ) -> Result<Refutation, NotRefuted> {
        let formulas = self.formulas(terms, path)?;
        if self.solver.check(terms, &formulas, limits).is_sat() {
            // The labels may exclude what is possible without them: whoever takes a path that is possible wants the run.
            return self.forward.refute(terms, path, &mut self.solver, limits);
        }
        let mut inside = vec![];
        for (&s, label) in path.iter().zip(labels) {
            let label = terms.and(label.iter().copied());
            let known = terms.assume(label);
            inside.push(terms.seq([s, known]));
        }
        let formulas = self.formulas(terms, &inside)?;
        // How many statements at the beginning (the end) can be taken together.
        let mut count = 0;
        while count < formulas.len() {
            let part = if forward { &formulas[..=count] } else { &formulas[formulas.len() - 1 - count..] };
            match self.solver.check(terms, part, limits) {
                Answer::Sat(_) => count += 1,
                Answer::Unsat(_) => break,
                Answer::Unknown(reason) => return Err(reason.into()),
            }
        }
        let cut = if forward { count } else { inside.len() - count };
        let halves = [terms.seq(inside[..cut].iter().copied()), terms.seq(inside[cut..].iter().copied())];
        let found = self.sequence.refute(terms, &halves, &mut self.solver, limits)?;
        let (yes, no) = (terms.bool(true), terms.bool(false));
        let at = |i: usize| match i.cmp(&cut) {
            std::cmp::Ordering::Less => (yes, Default::default()),
            std::cmp::Ordering::Equal => (found.predicates[1], found.variables[1].clone()),
            std::cmp::Ordering::Greater => (no, Default::default()),
        };
        let (predicates, variables) = (0..=path.len()).map(at).unzip();
        Ok(Refutation { predicates, variables })
    }

    fn formulas(&mut self, terms: &mut Terms, path: &[StmtId]) -> Result<Vec<TermId>, Reason> {
        self.unrolling.restart();
        let formulas: Result<Vec<TermId>, _> = path.iter().map(|&s| self.unrolling.step(terms, s)).collect();
        formulas.map_err(|what| Reason::Unsupported(what.to_string()))
    }
}

impl Default for Refuter {
    fn default() -> Refuter {
        Refuter::new()
    }
}
