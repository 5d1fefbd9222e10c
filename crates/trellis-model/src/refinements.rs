//! What lazy abstraction did, refinement by refinement (003 Algorithm 2): the tree whenever a refinement was due, the error trace, the error
//! regions along it, the pivot, its new predicates, what was deleted and what was opened again. Data, in the model's words, for whoever
//! shows it; nothing here knows how a region is described.

/// What has become of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not processed yet.
    Waiting,
    /// Processed.
    Passed,
    /// Covered by nodes of smaller depth.
    Covered,
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its number; numbers are not used again.
    pub id: u32,
    /// Its parent, and the command that leads here.
    pub parent: Option<(u32, String)>,
    /// How far it is from the root.
    pub depth: usize,
    /// The reachable region.
    pub region: String,
    /// Its predicates, by position in [`History::precisions`].
    pub precision: usize,
    /// What has become of it.
    pub state: State,
}

/// A step of the analysis of an error trace, from the error backwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The node.
    pub node: u32,
    /// The error region there.
    pub error: String,
    /// Does the region of the node meet it?
    pub meets: bool,
}

/// How a round ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// A pivot is refined.
    Refined {
        /// From the error node to the pivot.
        trace: Vec<Cut>,
        /// The commands from the pivot to the error.
        commands: Vec<String>,
        /// The predicates that the pivot gets.
        new: Vec<String>,
        /// The nodes that are deleted.
        deleted: Vec<u32>,
        /// The nodes that were covered and wait again.
        reopened: Vec<u32>,
    },
    /// The error trace is a run.
    Real {
        /// From the error node to the root.
        trace: Vec<Cut>,
        /// The commands from the root to the error.
        commands: Vec<String>,
    },
    /// No node waits.
    Closed,
}

/// The tree when an error node is processed, or nothing is left to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The nodes, the root first; each after its parent.
    pub nodes: Vec<Node>,
    /// Why it is looked at.
    pub end: End,
}

/// All rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// In order.
    pub rounds: Vec<Round>,
    /// Sets of predicates.
    pub precisions: Vec<Vec<String>>,
    /// Rounds that are not kept, because there is too much: these come before the last.
    pub left_out: usize,
}
