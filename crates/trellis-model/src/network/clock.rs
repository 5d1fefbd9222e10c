//! What a network says about clocks: constraints, resets, and multi-way synchronisation by vectors.
//!
//! Clock `i` of [`super::Network::clocks`] is number `i + 1` here and in zones; number 0 is the clock that is always zero.
//! Guards and invariants are conjunctions of [`ClockAtom`]s beside a condition on data; that is all that zones handle
//! exactly, so a front end refuses anything else by name and place. The bound of an atom may depend on data, and so may
//! whether it applies at all: `x[i] <= n` with a variable `i` is one atom for each clock of the array, `when` it is the
//! one meant.

use trellis_expr::TermId;

/// `left - right ≺ bound`, in states where `when` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockAtom {
    /// A truth value of data; without it the atom always applies.
    pub when: Option<TermId>,
    /// What is added; 0 is no clock.
    pub left: u32,
    /// What is subtracted; 0 is no clock.
    pub right: u32,
    /// `<` rather than `≤`.
    pub strict: bool,
    /// An integer of data.
    pub bound: TermId,
}

/// A clock runs at a rate of its own while some location is stayed in: 0 (it stands still) or 1. Anything else, and two rates at once, are
/// faults where time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// A truth value of data; without it the rate always applies.
    pub when: Option<TermId>,
    /// Which clock.
    pub clock: u32,
    /// An integer of data.
    pub rate: TermId,
}

/// A clock is given a value. The terms are evaluated when the update of the edge has run (so a front end that needs an
/// earlier value keeps it in a temporary); the resets of an edge happen in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reset {
    /// A truth value of data; without it the reset always happens.
    pub when: Option<TermId>,
    /// Which clock.
    pub clock: u32,
    /// To what.
    pub to: ResetTo,
}

/// The new value of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetTo {
    /// An integer of data, which must not be negative.
    Value(TermId),
    /// The value of another clock.
    Clock(u32),
}

/// A synchronisation vector (the TChecker language): these processes take part with an edge of these events each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    /// Who, ascending by process.
    pub parts: Vec<VectorPart>,
}

/// One process in a [`Vector`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorPart {
    /// The process.
    pub process: u32,
    /// Its event: [`super::Edge::event`].
    pub event: u32,
    /// The process takes part only if its current location has an edge of that event.
    pub weak: bool,
}
