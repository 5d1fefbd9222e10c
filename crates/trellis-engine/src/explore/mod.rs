//! Forward explorations: the loop, what becomes of nodes, and a set of states that knows how each was reached.
//!
//! What differs between engines is who comes next, what a node is and what it covers: that is an [`Exploration`]. The limits are looked at
//! in one place, before each node. Not under this loop: [`crate::reach`] and [`crate::abstraction`], which are the papers' algorithms line
//! by line, and the searches for cycles in [`crate::ltl::search`], which come back to nodes.

mod reached;

pub use reached::Reached;

use trellis_meter::{Meter, Progress, StopReason};

/// No node, no key.
pub const NONE: u32 = u32::MAX;

/// What has become of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Not expanded yet.
    Waiting,
    /// Expanded.
    Passed,
    /// Another node stands in for it, as long as that stays.
    Covered,
    /// A later node covers it or was joined from it; no longer stored.
    Replaced,
    /// Cut off by a refinement; no longer stored.
    Undone,
}

/// What is explored, node by node.
pub trait Exploration {
    /// What ends the exploration early.
    type Found;
    /// Why it cannot go on.
    type Failure: From<StopReason>;

    /// Takes the next node out of those that wait; none if everything is explored.
    fn next(&mut self) -> Result<Option<u32>, Self::Failure>;
    /// How far it is.
    fn progress(&self) -> Progress;
    /// Processes the node: covers it, or reaches its successors, or finds what is looked for.
    fn expand(&mut self, n: u32, meter: &mut Meter) -> Result<Option<Self::Found>, Self::Failure>;
}

/// Explores until something is found, or everything.
pub fn explore<E: Exploration>(of: &mut E, meter: &mut Meter) -> Result<Option<E::Found>, E::Failure> {
    while let Some(n) = of.next()? {
        meter.check(&of.progress())?;
        if let Some(found) = of.expand(n, meter)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Nodes in the order of their numbers, which is breadth first.
#[derive(Debug, Default)]
pub struct InOrder {
    next: u32,
}

impl InOrder {
    /// The next of so many nodes.
    pub fn next(&mut self, count: usize) -> Option<u32> {
        let n = self.next;
        self.next += u32::from((n as usize) < count);
        ((n as usize) < count).then_some(n)
    }

    /// How many of them are still to come.
    pub fn waiting(&self, count: usize) -> usize {
        count - self.next as usize
    }
}
