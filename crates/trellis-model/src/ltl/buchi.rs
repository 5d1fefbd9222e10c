//! Büchi automata over letters, with marks on edges.
//!
//! Acceptance is generalised and transition-based: a run is accepted if it takes edges with each of the marks infinitely often.
//! Without marks every infinite run is accepted. State-based acceptance is the special case that all edges out of a state have
//! the same marks.

use super::Letter;

/// A conjunction of literals over atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Cube {
    /// Atoms that must hold.
    pub positive: Letter,
    /// Atoms that must not.
    pub negative: Letter,
}

impl Cube {
    /// Does a letter satisfy it?
    pub fn admits(self, letter: Letter) -> bool {
        self.positive & !letter == 0 && self.negative & letter == 0
    }
}

/// An edge. Where a disjunction is needed, several edges lead to the same state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// What the letter read must satisfy.
    pub cube: Cube,
    /// Which marks it has: bit `i` for mark `i`.
    pub marks: u64,
    /// Where it leads.
    pub to: u32,
}

/// An automaton. Its states are the numbers below `edges.len()`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Buchi {
    /// Where runs start.
    pub initial: Vec<u32>,
    /// How many marks there are.
    pub marks: u32,
    /// The edges out of each state.
    pub edges: Vec<Vec<Edge>>,
}
