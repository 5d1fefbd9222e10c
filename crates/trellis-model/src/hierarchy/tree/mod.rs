//! Hierarchical transition systems (001 §5.1): a tree of nodes, each with a behaviour of its own, events, synchronisation vectors
//! and priorities. Nothing is multiplied out.
//!
//! A *behaviour* is a plain transition system. A *schema* is the tree without behaviours; a system and its abstraction have the
//! same one, so an abstraction is again a [`Tree`], whose behaviours have sets of states as states. A *vector* says which of its
//! events a node takes part with, and which each of its sub-nodes; only vectors happen. What a node offers is decided level by
//! level from below: a vector is *possible* if the node itself and all its sub-nodes offer what it asks for, and it is *offered* if
//! no higher vector is possible at the same time. 001 orders vectors by the node's own events; any strict order is allowed here,
//! because broadcasts of AltaRica prefer more takers to fewer.
//!
//! [`meaning`] is Definition 5.1 written plainly; [`offer`] is the same, state by state, with events never expanded;
//! [`detach`] makes trees of AltaRica's nodes (001 §5.4.1), [`crate::network::parts`] of networks of automata; [`siblings`] are sub-nodes
//! that can be exchanged.

use std::sync::Arc;

pub mod apart;
mod ask;
mod condition;
pub mod detach;
pub mod evidence;
pub mod meaning;
pub mod offer;
pub mod siblings;
mod watched;

pub use condition::Condition;

/// A transition system with events, its states and events numbered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Behaviour {
    /// How each state is written.
    pub states: Vec<String>,
    /// The states it may start in.
    pub initial: Vec<u32>,
    /// For each state, events and where they lead, in order.
    pub moves: Vec<Vec<(u32, u32)>>,
}

impl Behaviour {
    /// Puts moves in order, each once.
    pub fn new(states: Vec<String>, initial: Vec<u32>, mut moves: Vec<Vec<(u32, u32)>>) -> Behaviour {
        for all in &mut moves {
            all.sort_unstable();
            all.dedup();
        }
        Behaviour { states, initial, moves }
    }

    /// Where an event leads from a state.
    pub fn targets(&self, state: u32, event: u32) -> impl Iterator<Item = u32> + '_ {
        let all = &self.moves[state as usize];
        let first = all.partition_point(|m| m.0 < event);
        all[first..].iter().take_while(move |m| m.0 == event).map(|m| m.1)
    }

    /// Is an event possible in a state (001's `out`)?
    pub fn can(&self, state: u32, event: u32) -> bool {
        self.targets(state, event).next().is_some()
    }
}

/// A node of the tree.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name, with its path from the top.
    pub name: String,
    /// Its events.
    pub events: Vec<String>,
    /// Its sub-nodes.
    pub subs: Vec<usize>,
    /// Its vectors: its own event, then one of each sub-node.
    pub vectors: Vec<Vec<u32>>,
    /// For each vector, those that are higher.
    pub higher: Vec<Vec<usize>>,
    /// What it does on its own.
    pub behaviour: Arc<Behaviour>,
}

impl Node {
    /// Orders the vectors by the node's own events: pairs of a lower and a higher one, transitively closed.
    pub fn prioritise(&mut self, lower: impl Fn(u32, u32) -> bool) {
        let all = |low: &Vec<u32>| {
            (0..self.vectors.len()).filter(|&high| lower(low[0], self.vectors[high][0])).collect::<Vec<usize>>()
        };
        self.higher = self.vectors.iter().map(all).collect();
    }
}

/// What is wrong with a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{node}: {what}")]
pub struct Malformed {
    /// Which node.
    pub node: String,
    /// What is wrong, in words.
    pub what: String,
}

/// A hierarchical transition system. Nodes are numbered from below, sub-nodes from left to right: those at or below a node are those
/// from the first to itself.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: Vec<Node>,
    /// For each node, the first at or below it.
    first: Vec<usize>,
}

impl Tree {
    /// Checks that everything is where it should be.
    pub fn new(nodes: Vec<Node>) -> Result<Tree, Malformed> {
        let mut first = vec![];
        // Where the next sub-node to the left ends, while walking from the right: subtrees lie beside each other.
        for (number, node) in nodes.iter().enumerate() {
            let fail = |what: String| Err(Malformed { node: node.name.clone(), what });
            let mut end = number;
            for &sub in node.subs.iter().rev() {
                if sub + 1 != end || sub >= first.len() {
                    return fail("its sub-nodes are not those before it".into());
                }
                end = first[sub];
            }
            first.push(end);
            if node.higher.len() != node.vectors.len() || node.higher.iter().flatten().any(|&h| h >= node.vectors.len())
            {
                return fail("its priorities are not between its vectors".into());
            }
            if node.higher.iter().enumerate().any(|(low, all)| all.contains(&low)) {
                return fail("a vector is higher than itself".into());
            }
            for vector in &node.vectors {
                let sizes = std::iter::once(node).chain(node.subs.iter().map(|&s| &nodes[s])).map(|n| n.events.len());
                if vector.len() != node.subs.len() + 1 || vector.iter().zip(sizes).any(|(&e, n)| e as usize >= n) {
                    return fail("a vector does not fit its sub-nodes".into());
                }
            }
            let b = &node.behaviour;
            let size = b.states.len();
            let mut moves = b.moves.iter().flatten();
            let outside = |&(event, to): &(u32, u32)| event as usize >= node.events.len() || to as usize >= size;
            if b.moves.len() != size || b.initial.iter().any(|&q| q as usize >= size) || moves.any(outside) {
                return fail("its behaviour does not fit its states and events".into());
            }
            if b.moves.iter().any(|all| !all.is_sorted()) {
                return fail("its moves are not in order".into());
            }
        }
        match first.last() {
            Some(0) => Ok(Tree { nodes, first }),
            _ => Err(Malformed { node: "the tree".into(), what: "it has not one top".into() }),
        }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The top.
    pub fn top(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The nodes at or below a node.
    pub fn below(&self, node: usize) -> std::ops::RangeInclusive<usize> {
        self.first[node]..=node
    }

    /// The same schema with another behaviour at one node.
    pub fn replace(&mut self, node: usize, behaviour: Arc<Behaviour>) {
        self.nodes[node].behaviour = behaviour;
    }

    /// Does any node prefer some vectors to others?
    pub fn has_priorities(&self) -> bool {
        self.nodes.iter().any(|n| n.higher.iter().any(|h| !h.is_empty()))
    }

    /// How a step is written: who takes part, and with which event. Events without a name are not shown.
    pub fn show_step(&self, vectors: &[u32]) -> String {
        let name = |(number, &vector): (usize, &u32)| {
            let node = &self.nodes[number];
            let event = &node.events[node.vectors[vector as usize][0] as usize];
            let at = if number == self.top() { event.clone() } else { format!("{}.{event}", node.name) };
            (!event.is_empty()).then_some(at)
        };
        let names: Vec<String> = vectors.iter().enumerate().rev().filter_map(name).collect();
        if names.is_empty() { "ε".into() } else { format!("<{}>", names.join(", ")) }
    }
}
