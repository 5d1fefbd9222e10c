//! What can go wrong when a term is evaluated or a statement is run.
//!
//! A fault is a fact about the model, not about this crate: it says that a modeller's expression has no value here.
//! The one exception is [`Fault::Overflow`], which only compiled code answers with: an integer left the machine word,
//! and the reference evaluator (which has no such limit) must be asked instead.

use std::fmt;

/// Why evaluation has no answer.
///
/// Integers that do not fit a machine word are shown as the nearest one that does.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A quotient or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A value outside the bounds it must keep.
    #[error("the value {} is outside its range {lo} to {hi}", Shown(*value))]
    OutOfRange {
        /// The value.
        value: i64,
        /// The least value allowed.
        lo: i64,
        /// The greatest value allowed.
        hi: i64,
    },
    /// An array index outside the array.
    #[error("the index {} is outside the array, which has entries {lo} to {hi}", Shown(*index))]
    Index {
        /// The index.
        index: i64,
        /// The first index.
        lo: i64,
        /// The last index.
        hi: i64,
    },
    /// A shift by a negative distance, or by as many bits as there are or more (integers count as 64 bits wide).
    #[error("a shift by {} positions is not defined", Shown(*by))]
    Shift {
        /// The distance.
        by: i64,
    },
    /// An integer left the range of machine words where only machine words are supported.
    #[error("an integer grew beyond 64 bits")]
    Overflow,
    /// A foreign function refused.
    #[error("{0}")]
    Foreign(String),
    /// A variable that was given no value.
    #[error("the variable `{0}` has no value")]
    NoValue(String),
    /// A loop ran for too long.
    #[error("a loop does not seem to end")]
    Diverges,
}

/// An integer that may have been clamped to a machine word.
struct Shown(i64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            i64::MAX => write!(f, "{} (or more)", i64::MAX),
            i64::MIN => write!(f, "{} (or less)", i64::MIN),
            n => write!(f, "{n}"),
        }
    }
}
