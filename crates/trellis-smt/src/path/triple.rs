//! Checks that predicates along a path are what [`super::Refine`] promises, statement by statement.
//!
//! It shares nothing with the refiners but the unrolling of one statement and the solver. A predicate holds where it evaluates to
//! true; one that faults does not, so it cannot hide a run.

use trellis_expr::defined::Defined;
use trellis_expr::eval::Valuation;
use trellis_expr::ssa::Unrolling;
use trellis_expr::{StmtId, TermId, Terms, VarId};

use super::variables;
use crate::{Answer, Meter, Reason, Solver};

/// What is wrong with predicates along a path.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// There must be one more predicate than statements.
    #[error("{predicates} predicates for a path of {statements} statements")]
    Length {
        /// How many predicates there are.
        predicates: usize,
        /// How many statements there are.
        statements: usize,
    },
    /// A predicate speaks of something that the path does not.
    #[error("the predicate at position {position} speaks of a variable that the path does not mention")]
    Variable {
        /// The position in the path.
        position: usize,
        /// The variable.
        variable: VarId,
    },
    /// The first predicate excludes a state.
    #[error("the first predicate is not true everywhere")]
    Start(Valuation),
    /// A run of a statement leads from the predicate before it to where the one after it does not hold.
    #[error("statement {position} leads out of the predicates")]
    Step {
        /// Which statement.
        position: usize,
        /// Versions of the variables around it.
        model: Valuation,
    },
    /// The last predicate allows a state.
    #[error("the last predicate is not false everywhere")]
    End(Valuation),
    /// Not decided.
    #[error("at position {position}: {reason}")]
    Unknown {
        /// The position in the path.
        position: usize,
        /// Why the solver gave no answer.
        reason: Reason,
    },
}

/// Is the first predicate true, the last false, and does every run of a statement from the one before it end in the one after it? Do they
/// speak of variables of the path only?
pub fn check_triples(
    terms: &mut Terms,
    path: &[StmtId],
    predicates: &[TermId],
    solver: &mut dyn Solver,
    limits: &Meter,
) -> Result<(), Broken> {
    if predicates.len() != path.len() + 1 {
        return Err(Broken::Length { predicates: predicates.len(), statements: path.len() });
    }
    let known = variables(terms, path);
    let mut defined = Defined::default();
    let mut hold = vec![];
    for (position, &p) in predicates.iter().enumerate() {
        if let Some(&variable) = terms.free_vars(p).difference(&known).next() {
            return Err(Broken::Variable { position, variable });
        }
        hold.push(defined.holds(terms, p).map_err(|what| unsupported(position, what))?);
    }
    let not_first = terms.not(hold[0]);
    match solver.check(terms, &[not_first], limits) {
        Answer::Unsat(_) => {}
        Answer::Sat(state) => return Err(Broken::Start(state)),
        Answer::Unknown(reason) => return Err(Broken::Unknown { position: 0, reason }),
    }
    match solver.check(terms, &hold[path.len()..], limits) {
        Answer::Unsat(_) => {}
        Answer::Sat(state) => return Err(Broken::End(state)),
        Answer::Unknown(reason) => return Err(Broken::Unknown { position: path.len(), reason }),
    }
    let mut unrolling = Unrolling::new();
    for (position, &s) in path.iter().enumerate() {
        unrolling.restart();
        let step = unrolling.step(terms, s).map_err(|what| unsupported(position, what))?;
        let after = unrolling.at(terms, hold[position + 1], 1);
        let not_after = terms.not(after);
        match solver.check(terms, &[hold[position], step, not_after], limits) {
            Answer::Unsat(_) => {}
            Answer::Sat(model) => return Err(Broken::Step { position, model }),
            Answer::Unknown(reason) => return Err(Broken::Unknown { position, reason }),
        }
    }
    Ok(())
}

fn unsupported(position: usize, what: trellis_expr::ssa::Unsupported) -> Broken {
    Broken::Unknown { position, reason: Reason::Unsupported(what.to_string()) }
}
