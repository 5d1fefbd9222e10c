//! Traces and certificates of networks: plain data, in the model's own terms, so that they can be written down, read
//! back, and checked by someone who has only the model.

use trellis_domain::zone::{Constraint, Rational};
use trellis_order::Word;

use super::entries::Entries;
use super::temporal::Course;

/// One state, unpacked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Snapshot {
    /// Each process's location.
    pub locations: Vec<u32>,
    /// The data cells, variables in order, arrays flattened.
    pub data: Vec<i64>,
    /// The lattice variables' words.
    pub element: Vec<Word>,
    /// In a trace of a timed model: the clocks' exact values. Otherwise nothing.
    pub clocks: Vec<Rational>,
}

/// Which edge a process takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeRef {
    /// Index of the process.
    pub process: u32,
    /// Index into its edges.
    pub edge: u32,
}

/// The edges that move together in one step: one alone; sender and receiver; sender and all receivers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action(pub Vec<EdgeRef>);

/// One step of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How much time passes first.
    pub delay: Rational,
    /// What moves.
    pub action: Action,
    /// Where it leads.
    pub state: Snapshot,
}

impl Step {
    /// A step before which no time passes.
    pub fn at_once(action: Action, state: Snapshot) -> Step {
        Step { delay: Rational::ZERO, action, state }
    }
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Where it starts.
    pub initial: Snapshot,
    /// How it goes on.
    pub steps: Vec<Step>,
    /// How much time passes after the last step. The last state is the one before that.
    pub rest: Rational,
    /// For a lasso: the state (0 is the initial one) to which the last step returns. In a timed model the last state may
    /// be another one that nothing on the way can tell from it ([`super::circle`]): clocks that are never set grow.
    pub back_to: Option<usize>,
}

impl Trace {
    /// A run that stays where it starts.
    pub fn at(initial: Snapshot) -> Trace {
        Trace { initial, steps: Vec::new(), rest: Rational::ZERO, back_to: None }
    }

    /// The last state.
    pub fn last(&self) -> &Snapshot {
        self.steps.last().map_or(&self.initial, |s| &s.state)
    }
}

/// An inductive set: contains the start, is closed under every step, excludes what must not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// Its elements.
    pub entries: Entries,
    /// Whether being inside means `⊑` an entry (cover, join) rather than being one (simple). The former rests on the
    /// monotonicity of the model's transitions (000 Def. 2).
    pub up_to_order: bool,
    /// Whether an entry also stands for what it becomes when processes (or members of a scalar set) that the model and the
    /// question cannot tell apart are swapped ([`super::symmetry`]).
    pub up_to_symmetry: bool,
}

/// One element of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertEntry {
    /// The state.
    pub state: Snapshot,
    /// For partial valuations (explicit-value abstraction): which data cells the entry knows; of the others it allows any
    /// value. Empty: all are known.
    pub known: Vec<bool>,
    /// For a timed model: the valuations of the clocks, as constraints beside `x ≥ 0`.
    pub zone: Vec<Constraint>,
    /// If given, the entry also stands for the valuations that these bounds cannot tell from one in `zone` (`a⊑LU`).
    pub bounds: Option<LuBounds>,
    /// For liveness: how many steps at most until the awaited thing; every step leads to a smaller rank or to the thing.
    pub rank: Option<u32>,
    /// For predicate abstraction: what more the entry says of the data, as an SMT-LIB script of declarations (named as the
    /// variables) and assertions.
    pub says: Option<String>,
    /// For formulas of linear temporal logic: where the automaton is, and why nothing goes wrong from here.
    pub course: Option<Course>,
}

impl CertEntry {
    /// An entry for one state, without clocks.
    pub fn of(state: Snapshot) -> CertEntry {
        CertEntry { state, known: Vec::new(), zone: Vec::new(), bounds: None, rank: None, says: None, course: None }
    }
}

/// Lower and upper bounds of each clock (002's reference \[6\]): the largest constants with which it is compared from below
/// (`x > c`, `x ≥ c`) and from above. `i32::MIN`: it is never compared so.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LuBounds {
    /// For each clock number, 0 included (its entry means nothing).
    pub lower: Vec<i32>,
    /// For each clock number, 0 included (its entry means nothing).
    pub upper: Vec<i32>,
}
