//! What verdicts about trees carry.

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// For each moment, the state of each node; one more than steps.
    pub states: Vec<Vec<u32>>,
    /// For each step, the vector of each node.
    pub steps: Vec<Vec<u32>>,
}

/// A cover of each node's states, and a set of abstract states that contains the initial ones, that no step leaves, and none of which
/// is bad. A step may also lead into a *trap*: some blocks of each node that no event of the node leaves, in no state of which anything is
/// bad. Where nodes are said to be symmetric, a tuple also stands for those in which these nodes, with all that is below them, have changed
/// places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// For each node and each of its states, which block it is in.
    pub blocks: Vec<Vec<u32>>,
    /// One block of each node.
    pub tuples: Vec<Vec<u32>>,
    /// For each trap and each node, its blocks.
    pub traps: Vec<Vec<Vec<u32>>>,
    /// Groups of nodes that can be exchanged.
    pub symmetric: Vec<Vec<usize>>,
}
