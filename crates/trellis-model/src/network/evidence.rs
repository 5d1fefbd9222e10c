//! Traces and certificates of networks: plain data, in the model's own terms, so that they can be written down, read
//! back, and checked by someone who has only the model.

use trellis_order::Word;

/// One state, unpacked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Snapshot {
    /// Each process's location.
    pub locations: Vec<u32>,
    /// The data cells, variables in order, arrays flattened.
    pub data: Vec<i64>,
    /// The lattice variables' words.
    pub element: Vec<Word>,
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
    /// What moves.
    pub action: Action,
    /// Where it leads.
    pub state: Snapshot,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Where it starts.
    pub initial: Snapshot,
    /// How it goes on.
    pub steps: Vec<Step>,
    /// For a lasso: the state (0 is the initial one) to which the last step returns.
    pub back_to: Option<usize>,
}

impl Trace {
    /// The last state.
    pub fn last(&self) -> &Snapshot {
        self.steps.last().map_or(&self.initial, |s| &s.state)
    }
}

/// An inductive set: contains the start, is closed under every step, excludes what must not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// Its elements.
    pub entries: Vec<CertEntry>,
    /// Whether being inside means `⊑` an entry (cover, join) rather than being one (simple). The former rests on the
    /// monotonicity of the model's transitions (000 Def. 2).
    pub up_to_order: bool,
}

/// One element of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertEntry {
    /// The state.
    pub state: Snapshot,
    /// For liveness: how many steps at most until the awaited thing; every step leads to a smaller rank or to the thing.
    pub rank: Option<u32>,
}
