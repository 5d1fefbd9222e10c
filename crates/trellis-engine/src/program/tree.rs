//! The abstract reachability graph of an automaton: a tree of nodes with labels, and covers. Nodes are marked, never deleted.

use trellis_meter::{MOST_NODES, Role, Round, RoundEdge, RoundNode};
use trellis_model::cfa::{EdgeId, LocationId};

pub use crate::explore::{Mark, NONE};

/// An abstract state.
#[derive(Debug, Clone)]
pub struct Node<L> {
    /// Its location.
    pub location: LocationId,
    /// What is known there.
    pub label: L,
    /// From where it was reached.
    pub parent: u32,
    /// By which edge; none for the root.
    pub edge: Option<EdgeId>,
    /// How many edges from the root.
    pub depth: u32,
    /// What has become of it.
    pub mark: Mark,
    /// Who covers it, if it is covered.
    cover: u32,
    /// Edges still to be followed.
    pub pending: Vec<EdgeId>,
    /// Nodes that were reached from it, removed ones included.
    pub children: Vec<u32>,
    /// Nodes that it stands in for, or did.
    pub covers: Vec<u32>,
}

/// The tree.
#[derive(Debug, Clone)]
pub struct Tree<L> {
    /// All nodes, in the order of their creation.
    pub nodes: Vec<Node<L>>,
}

impl<L> Tree<L> {
    /// A root.
    pub fn new(location: LocationId, label: L, pending: Vec<EdgeId>) -> Tree<L> {
        let mut tree = Tree { nodes: vec![] };
        tree.add(location, label, NONE, None, pending);
        tree
    }

    /// One more node.
    pub fn add(
        &mut self,
        location: LocationId,
        label: L,
        parent: u32,
        edge: Option<EdgeId>,
        pending: Vec<EdgeId>,
    ) -> u32 {
        let n = self.nodes.len() as u32;
        let mut depth = 0;
        if parent != NONE {
            depth = self.nodes[parent as usize].depth + 1;
            self.nodes[parent as usize].children.push(n);
        }
        let (mark, children, covers) = (Mark::Waiting, vec![], vec![]);
        self.nodes.push(Node { location, label, parent, edge, depth, mark, cover: NONE, pending, children, covers });
        n
    }

    /// The node behind a number.
    pub fn node(&self, n: u32) -> &Node<L> {
        &self.nodes[n as usize]
    }

    /// The same, to change it.
    pub fn node_mut(&mut self, n: u32) -> &mut Node<L> {
        &mut self.nodes[n as usize]
    }

    /// The nodes from the root to this one.
    pub fn path(&self, n: u32) -> Vec<u32> {
        let mut path = vec![n];
        let mut at = self.node(n).parent;
        while at != NONE {
            path.push(at);
            at = self.node(at).parent;
        }
        path.reverse();
        path
    }

    /// The edges from the root to this node.
    pub fn edges(&self, n: u32) -> Vec<EdgeId> {
        self.path(n).into_iter().filter_map(|n| self.node(n).edge).collect()
    }

    /// The tree as it is, to be looked at: with what is known at each node, and a path whose end is an error.
    pub fn picture(&self, path: &[u32], mut known: impl FnMut(&Node<L>) -> Vec<String>) -> Round {
        let (mut round, mut order) = (Round::default(), vec![0u32]);
        let mut next = 0;
        while let Some(&n) = order.get(next) {
            let node = self.node(n);
            let role = match node.mark {
                _ if path.last() == Some(&n) => Role::Error,
                _ if path.contains(&n) => Role::Path,
                Mark::Covered => Role::Covered,
                Mark::Waiting => Role::Waiting,
                _ => Role::Plain,
            };
            round.nodes.push(RoundNode { lines: known(node), role });
            for &child in node.children.iter().filter(|c| self.node(**c).mark != Mark::Undone) {
                if order.len() == MOST_NODES {
                    round.cut = true;
                    break;
                }
                round.edges.push(RoundEdge { from: next, to: order.len(), ..RoundEdge::default() });
                order.push(child);
            }
            next += 1;
        }
        for (from, &n) in order.iter().enumerate().filter(|(_, n)| self.node(**n).mark == Mark::Covered) {
            let by = self.node(n).cover;
            if let Some(to) = order.iter().position(|&m| m == by) {
                round.edges.push(RoundEdge { from, to, covers: true, ..RoundEdge::default() });
            }
        }
        round
    }

    /// `by` stands in for `n`.
    pub fn cover(&mut self, n: u32, by: u32) {
        let node = self.node_mut(n);
        (node.mark, node.cover) = (Mark::Covered, by);
        self.node_mut(by).covers.push(n);
    }

    /// Does `by` stand in for `n`?
    pub fn is_covered_by(&self, n: u32, by: u32) -> bool {
        self.node(n).mark == Mark::Covered && self.node(n).cover == by
    }

    /// The nodes that this one covers wait again, and are told.
    pub fn uncover(&mut self, by: u32, freed: &mut Vec<u32>) {
        for n in std::mem::take(&mut self.node_mut(by).covers) {
            if self.is_covered_by(n, by) {
                self.node_mut(n).mark = Mark::Waiting;
                freed.push(n);
            }
        }
    }

    /// Takes a node out with all that was reached from it; says which nodes lost their cover (some may have been taken out too).
    pub fn remove(&mut self, n: u32, freed: &mut Vec<u32>) {
        let mut todo = vec![n];
        while let Some(n) = todo.pop() {
            if self.node(n).mark == Mark::Undone {
                continue;
            }
            self.uncover(n, freed);
            self.node_mut(n).mark = Mark::Undone;
            todo.append(&mut self.node_mut(n).children);
        }
    }

    /// Takes out what one edge of a node led to, and lets the node wait for that edge again.
    pub fn retract(&mut self, n: u32, edge: EdgeId, freed: &mut Vec<u32>) {
        let children = std::mem::take(&mut self.node_mut(n).children);
        let (gone, kept) = children.into_iter().partition(|&c| self.node(c).edge == Some(edge));
        self.node_mut(n).children = kept;
        let gone: Vec<u32> = gone;
        gone.into_iter().for_each(|c| self.remove(c, freed));
        let node = self.node_mut(n);
        if !node.pending.contains(&edge) {
            node.pending.push(edge);
        }
        if node.mark == Mark::Passed {
            node.mark = Mark::Waiting;
        }
        freed.push(n);
    }
}
