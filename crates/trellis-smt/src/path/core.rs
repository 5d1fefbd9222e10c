//! Unsat-core variables: which variables must be followed at which position, for analyses that keep explicit values.
//!
//! A variable matters at a position if the core reads it later before it is written. The predicates are Newton's forward ones, which
//! speak of these variables only.

use trellis_expr::{StmtId, Terms};

use super::{NotRefuted, Refine, Refutation, contradiction, live::live, newton};
use crate::{Meter, Solver};

/// The variables that the unsat core needs at each position.
#[derive(Debug, Clone, Default)]
pub struct CoreVariables {
    names: newton::Names,
}

impl CoreVariables {
    /// For the paths of one arena.
    pub fn new() -> CoreVariables {
        CoreVariables::default()
    }
}

impl Refine for CoreVariables {
    fn refute(
        &mut self,
        terms: &mut Terms,
        path: &[StmtId],
        solver: &mut dyn Solver,
        limits: &Meter,
    ) -> Result<Refutation, NotRefuted> {
        let infeasible = contradiction(terms, &mut self.names.unrolling, path, solver, limits)?;
        let predicates = newton::forward(terms, &mut self.names, path, &infeasible, solver, limits)?;
        let mut variables = live(terms, path, &infeasible.core);
        // Before the core nothing is known of them yet, and after the contradiction nothing is left to know.
        for (p, variables) in predicates.iter().zip(&mut variables) {
            if terms.as_bool(*p).is_some() {
                variables.clear();
            }
        }
        Ok(Refutation { predicates, variables })
    }
}
