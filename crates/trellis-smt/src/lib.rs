//! Satisfiability of terms: models, unsat cores and the refinement of infeasible paths, with nothing to install.
//!
//! One trait, [`Solver`]: assertions on a stack, and a check under assumptions. Its first implementation is embedded
//! (`Embedded`), the second talks to any SMT-LIB 2 solver over a pipe (`smtlib::Process`). What they mean by a term is what
//! [`trellis_expr::eval`] means: an assertion is satisfied by the valuations under which it *evaluates to true*. A term that faults
//! does not, and neither does its negation; so a division by zero is never hidden in a model. A variable of a bounded type holds
//! only values of that type.
//!
//! A solver may always answer [`Answer::Unknown`]; it may never guess. The models that come out are evaluated against the
//! assertions first, see [`Answer::Sat`].
//!
//! On top of it: [`path`] (why a path is infeasible, one predicate for each position), [`qe`] (quantifier elimination), [`ranking`] (ranking functions), [`tidy`]
//! (readable predicates).

mod affine;
mod cube;
mod embedded;
pub mod path;
pub mod proof;
pub mod qe;
pub mod ranking;
pub mod rows;
pub mod smtlib;
pub mod tidy;

pub use embedded::{Effort, Embedded, NoInterpolants, interpolants, refute};

use std::fmt;

use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Terms};
pub use trellis_meter::{Meter, StopReason};

/// Decides whether terms can be true together.
///
/// All terms of one solver come from one arena, which may grow between calls.
pub trait Solver {
    /// Opens a level: what is asserted from here on is forgotten at the matching [`Solver::pop`].
    fn push(&mut self);

    /// Closes the innermost level.
    ///
    /// # Panics
    ///
    /// If no level is open.
    fn pop(&mut self);

    /// From here on the term evaluates to true.
    fn assert(&mut self, terms: &Terms, t: TermId);

    /// Can all that is asserted be true, together with the assumptions? They hold for this question only.
    fn check(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Meter) -> Answer;
}

/// What a solver says.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// They can: under this valuation, which gives a value to every variable in the assertions and assumptions. It has been
    /// evaluated: each of them is true under it.
    Sat(Valuation),
    /// They cannot; these assumptions, by position, suffice for that (not always the fewest). Empty if the assertions alone do.
    Unsat(Vec<usize>),
    /// Not decided.
    Unknown(Reason),
}

impl Answer {
    /// Is it [`Answer::Sat`]?
    pub fn is_sat(&self) -> bool {
        matches!(self, Answer::Sat(_))
    }

    /// Is it [`Answer::Unsat`]?
    pub fn is_unsat(&self) -> bool {
        matches!(self, Answer::Unsat(_))
    }
}

/// Why a solver has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Time was up.
    Time,
    /// The memory limit was reached.
    Memory,
    /// Cancelled from outside.
    Cancelled,
    /// More work than the limits allow.
    Steps,
    /// Something the solver has no theory of: what.
    Unsupported(String),
    /// The solver process failed, or said `unknown`: its words.
    Process(String),
}

impl From<StopReason> for Reason {
    fn from(why: StopReason) -> Reason {
        match why {
            StopReason::Time => Reason::Time,
            StopReason::Memory => Reason::Memory,
            StopReason::Cancelled => Reason::Cancelled,
            StopReason::Steps | StopReason::States => Reason::Steps,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Time => f.write_str("time is up"),
            Reason::Memory => f.write_str("memory limit reached"),
            Reason::Cancelled => f.write_str("cancelled"),
            Reason::Steps => f.write_str("the solver gave up after the work it was allowed"),
            Reason::Unsupported(what) => write!(f, "the solver has no theory of {what}"),
            Reason::Process(what) => write!(f, "the solver process: {what}"),
        }
    }
}
