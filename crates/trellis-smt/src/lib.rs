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
pub mod qe;
pub mod ranking;
pub mod rows;
pub mod smtlib;
pub mod tidy;

pub use embedded::{Effort, Embedded, NoInterpolants, interpolants};

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Terms};

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
    fn check(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Limits) -> Answer;
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
    /// Somebody called it off.
    Cancelled,
    /// More work than the limits allow.
    Steps,
    /// Something the solver has no theory of: what.
    Unsupported(String),
    /// The solver process failed, or said `unknown`: its words.
    Process(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Time => f.write_str("time is up"),
            Reason::Cancelled => f.write_str("cancelled"),
            Reason::Steps => f.write_str("the solver gave up after the work it was allowed"),
            Reason::Unsupported(what) => write!(f, "the solver has no theory of {what}"),
            Reason::Process(what) => write!(f, "the solver process: {what}"),
        }
    }
}

/// How long a check may take.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    deadline: Option<Instant>,
    steps: Option<u64>,
    cancelled: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// None.
    pub fn none() -> Limits {
        Limits::default()
    }

    /// At most so long from now.
    pub fn time(mut self, limit: Duration) -> Limits {
        self.deadline = Instant::now().checked_add(limit);
        self
    }

    /// Until then.
    pub fn until(mut self, deadline: Option<Instant>) -> Limits {
        self.deadline = deadline;
        self
    }

    /// At most so many conflicts; unlike time, the same on every machine.
    pub fn steps(mut self, limit: u64) -> Limits {
        self.steps = Some(limit);
        self
    }

    /// Until the flag is raised.
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Limits {
        self.cancelled = Some(flag);
        self
    }

    /// Why work must stop now, after so many steps.
    pub fn exceeded(&self, steps: u64) -> Option<Reason> {
        if self.cancelled.as_ref().is_some_and(|c| c.load(Ordering::Relaxed)) {
            return Some(Reason::Cancelled);
        }
        if self.steps.is_some_and(|limit| steps > limit) {
            return Some(Reason::Steps);
        }
        self.deadline.is_some_and(|d| Instant::now() >= d).then_some(Reason::Time)
    }

    /// How much time is left, if it is limited.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }
}
