//! Sequence interpolants of the statements' formulas, see [`crate::interpolants`].

use trellis_expr::ssa::Unrolling;
use trellis_expr::{StmtId, Terms};

use super::{NotRefuted, Refine, Refutation, states, unroll};
use crate::tidy::tidy;
use crate::{Limits, NoInterpolants, Reason, Solver, interpolants};

/// Sequence interpolants from certificates of the embedded solver; the solver that is passed is not asked.
#[derive(Debug, Clone, Default)]
pub struct Interpolate {
    unrolling: Unrolling,
}

impl Interpolate {
    /// For the paths of one arena.
    pub fn new() -> Interpolate {
        Interpolate::default()
    }
}

impl Refine for Interpolate {
    fn refute(
        &mut self,
        terms: &mut Terms,
        path: &[StmtId],
        _: &mut dyn Solver,
        limits: &Limits,
    ) -> Result<Refutation, NotRefuted> {
        let formulas = unroll(terms, &mut self.unrolling, path)?;
        let found = interpolants(terms, &formulas, limits).map_err(|why| match why {
            NoInterpolants::Satisfiable(model) => NotRefuted::Feasible(states(terms, &self.unrolling, path, &model)),
            NoInterpolants::Unknown(reason) => reason.into(),
        })?;
        let mut predicates = vec![];
        for (position, t) in found.into_iter().enumerate() {
            let t = tidy(terms, t);
            let back = self.unrolling.back(terms, t, position);
            predicates.push(back.ok_or_else(|| {
                NotRefuted::Unknown(Reason::Unsupported("an interpolant over versions that are gone".to_owned()))
            })?);
        }
        Ok(Refutation::of(terms, predicates))
    }
}
