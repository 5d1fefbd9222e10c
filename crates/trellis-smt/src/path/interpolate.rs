//! Sequence interpolants of the statements in the unsat core, see [`crate::interpolants`].
//!
//! Where that procedure gives up (words under arithmetic, say) the predicates are Newton's.

use trellis_expr::{StmtId, TermId, Terms};

use super::{Infeasible, NotRefuted, Refine, Refutation, contradiction, newton};
use crate::tidy::tidy;
use crate::{Meter, Solver, interpolants};

/// Sequence interpolants from certificates.
#[derive(Debug, Clone, Default)]
pub struct Interpolate {
    names: newton::Names,
}

impl Interpolate {
    /// For the paths of one arena.
    pub fn new() -> Interpolate {
        Interpolate::default()
    }

    /// The predicates, if there are interpolants.
    fn sequence(&self, terms: &mut Terms, infeasible: &Infeasible, limits: &Meter) -> Option<Vec<TermId>> {
        let formulas = infeasible.needed(0..infeasible.core.len());
        let mut found = interpolants(terms, &formulas, limits).ok()?.into_iter();
        let mut current = found.next()?;
        let mut predicates = vec![current];
        for (i, &needed) in infeasible.core.iter().enumerate() {
            if needed {
                current = tidy(terms, found.next()?);
            }
            // What statements of the core on both sides speak of has the same version in between.
            predicates.push(self.names.unrolling.back(terms, current, i + 1)?);
        }
        Some(predicates)
    }
}

impl Refine for Interpolate {
    fn refute(
        &mut self,
        terms: &mut Terms,
        path: &[StmtId],
        solver: &mut dyn Solver,
        limits: &Meter,
    ) -> Result<Refutation, NotRefuted> {
        let infeasible = contradiction(terms, &mut self.names.unrolling, path, solver, limits)?;
        let predicates = match self.sequence(terms, &infeasible, limits) {
            Some(predicates) => predicates,
            None => newton::forward(terms, &mut self.names, path, &infeasible, solver, limits)?,
        };
        Ok(Refutation::of(terms, predicates))
    }
}
