//! Verdicts and why one may be missing. What a trace or a certificate holds is each formalism's affair
//! (see [`crate::network`]); that every verdict carries one is everybody's.

use std::fmt;

use trellis_meter::StopReason;

/// The answer to one question, with its evidence: a certificate `C` or a trace `T`.
#[derive(Debug, Clone)]
pub enum Verdict<T, C> {
    /// The bad thing cannot happen; here is an inductive proof.
    Safe(C),
    /// The bad thing can happen; here is how.
    Unsafe(T),
    /// No answer, and why.
    Unknown(Reason),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The time limit was reached.
    Time,
    /// The memory limit was reached.
    Memory,
    /// The limit on states or iterations was reached.
    Iterations,
    /// The limit on the length of runs was reached.
    Depth,
    /// The user interrupted.
    Interrupted,
    /// A joined element reaches the target, but no concrete path does (000 §B.1). The joins that caused it are in the
    /// engine's report.
    InconclusiveJoin,
    /// The model or the question uses something no engine handles.
    Unsupported(String),
    /// The solver has no answer: its words.
    Solver(String),
    /// An abstraction cannot be refined further: why.
    Stuck(String),
    /// There is an answer, but what it rests on was not checked, or not proven: what that is.
    Unchecked(String),
}

impl From<StopReason> for Reason {
    fn from(why: StopReason) -> Reason {
        match why {
            StopReason::Time => Reason::Time,
            StopReason::Memory => Reason::Memory,
            StopReason::States => Reason::Iterations,
            StopReason::Steps => Reason::Solver(why.to_string()),
            StopReason::Cancelled => Reason::Interrupted,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Time => write!(f, "time limit reached"),
            Reason::Memory => write!(f, "memory limit reached"),
            Reason::Iterations => write!(f, "state limit reached"),
            Reason::Depth => write!(f, "depth limit reached"),
            Reason::Interrupted => write!(f, "interrupted"),
            Reason::InconclusiveJoin => write!(f, "inconclusive: only joined states reach the target"),
            Reason::Unsupported(what) => write!(f, "unsupported: {what}"),
            Reason::Solver(what) => write!(f, "{what}"),
            Reason::Stuck(why) => write!(f, "inconclusive: {why}"),
            Reason::Unchecked(what) => write!(f, "an answer was found that could not be checked: {what}"),
        }
    }
}
