//! Certified pairs (001 Ch. 4) for a tree: sets of blocks of each node of which it is known that all their states, in any combination, can be
//! reached, and others from all of which a bad state can be reached. A path that is looked at begins at the former and ends at the latter
//! (001's kernel paths), so it is shorter, and what lies beyond is not explored.
//!
//! They are found node by node, while a path is analysed. For each node there are the states that its projection reaches at each moment. An
//! abstract step whose projections are steps of all nodes is a step (001 Cor. 5.3; with priorities for covers that respect what is
//! watched, see [`trellis_model::hierarchy::tree::Tree::watched`], and all covers here do). So every combination of what the nodes reach is
//! reached by the tree: that is kept, as far as it can be said in blocks. From the other end it is the same. What is known of a block is
//! known of its parts, so a refinement takes nothing away; products are never multiplied out.
//!
//! That this is so is a property test, on random trees against Definition 5.1.
//!
//! Each set keeps the path that it is known from, so that there are runs to replay. Deliberately not here: must transitions beside
//! analysed paths (001 §4.3.1), which 001 itself switches off.

use std::sync::Arc;

use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::evidence::Trace;

use super::cover::Cover;

/// States of each node along a path.
#[derive(Debug)]
pub struct Along {
    /// For each node and each moment, states that were reached, or from which the end can be reached.
    pub sets: Vec<Vec<Vec<u32>>>,
    /// For each step, the vector of each node.
    pub steps: Arc<Vec<Vec<u32>>>,
    /// Justification the path may begin where it begins, or end where it ends, if that is not initial, or bad.
    pub beyond: Option<Justification>,
}

/// Justification something is known: it was met on a path.
#[derive(Debug, Clone)]
pub struct Justification {
    /// The path.
    pub path: Arc<Along>,
    /// The number of the step at which it was learnt.
    pub at: usize,
}

/// So many sets are kept of each kind.
const MOST: usize = 2000;

/// Sets of abstract states of which something is known.
#[derive(Debug, Default)]
pub struct Certified {
    /// For each set, for each node and block, whether it is in the set; and why.
    sets: Vec<(Vec<Vec<bool>>, Justification)>,
}

impl Certified {
    /// How many sets.
    pub fn count(&self) -> usize {
        self.sets.len()
    }

    /// Justification it is known of all states of an abstract state, if it is.
    pub fn find(&self, tuple: &[u32]) -> Option<&Justification> {
        let within = |set: &Vec<Vec<bool>>| set.iter().zip(tuple).all(|(blocks, &b)| blocks[b as usize]);
        self.sets.iter().find(|(set, _)| within(set)).map(|(_, why)| why)
    }

    /// What is known at the moments of a path, as far as blocks can say it.
    fn learn(&mut self, covers: &[Cover], path: &Arc<Along>) {
        let moments = path.sets.iter().map(Vec::len).min().unwrap_or(0);
        for at in 0..moments {
            let blocks = |(cover, sets): (&Cover, &Vec<Vec<u32>>)| {
                let mut missing: Vec<usize> = cover.blocks.iter().map(Vec::len).collect();
                sets[at].iter().for_each(|&q| missing[cover.of[q as usize] as usize] -= 1);
                missing.into_iter().map(|n| n == 0).collect::<Vec<bool>>()
            };
            let set: Vec<Vec<bool>> = covers.iter().zip(&path.sets).map(blocks).collect();
            let within = |(old, _): &(Vec<Vec<bool>>, Justification)| {
                let bits = set.iter().flatten().zip(old.iter().flatten());
                bits.into_iter().all(|(new, old)| !new || *old)
            };
            let empty = set.iter().any(|blocks| !blocks.contains(&true));
            if !empty && self.sets.len() < MOST && !self.sets.iter().any(within) {
                self.sets.push((set, Justification { path: path.clone(), at }));
            }
        }
    }
}

/// What is known.
#[derive(Debug, Default)]
pub struct Known {
    /// All their states can be reached (`Q₋`).
    pub reached: Certified,
    /// All their states can reach a bad one (`Q₊`).
    pub reaching: Certified,
}

impl Known {
    /// What the analysis of a path shows: what its nodes reached from its beginning, and what reaches its end.
    pub fn learn(&mut self, covers: &[Cover], forward: &Arc<Along>, backward: &Arc<Along>) {
        self.reached.learn(covers, forward);
        self.reaching.learn(covers, backward);
    }

    /// A node has another cover: what was known of a block is known of its parts.
    pub fn refined(&mut self, node: usize, old: &[u32], new: &Cover) {
        for (set, _) in self.reached.sets.iter_mut().chain(&mut self.reaching.sets) {
            let of = |states: &Vec<u32>| set[node][old[states[0] as usize] as usize];
            set[node] = new.blocks.iter().map(of).collect();
        }
    }
}

/// A run from an initial state to one that is known to be reachable, and on to a bad one if that is known, too.
pub fn run(tree: &Tree, why: &Justification, state: Vec<u32>, then: Option<&Justification>) -> Trace {
    let event = |node: usize, vectors: &[u32]| tree.nodes()[node].vectors[vectors[node] as usize][0];
    let behaviour = |node: usize| &tree.nodes()[node].behaviour;
    let mut trace = Trace { states: vec![state.clone()], steps: vec![] };
    let (mut here, mut next) = (state, Some(why));
    while let Some(Justification { path, at }) = next {
        for at in (0..*at).rev() {
            let vectors = &path.steps[at];
            let leads = |n: usize, q: u32, to: u32| behaviour(n).targets(q, event(n, vectors)).any(|t| t == to);
            let from = |n: usize| path.sets[n][at].iter().copied().find(|&q| leads(n, q, here[n]));
            here = (0..here.len()).filter_map(from).collect();
            trace.states.push(here.clone());
            trace.steps.push(vectors.clone());
        }
        next = path.beyond.as_ref();
    }
    trace.states.reverse();
    trace.steps.reverse();
    here = trace.states[trace.steps.len()].clone();
    next = then;
    while let Some(Justification { path, at }) = next {
        for at in *at..path.steps.len() {
            let vectors = &path.steps[at];
            let to = |n: usize| {
                let set = &path.sets[n][at + 1];
                behaviour(n).targets(here[n], event(n, vectors)).find(|t| set.binary_search(t).is_ok())
            };
            here = (0..here.len()).filter_map(to).collect();
            trace.states.push(here.clone());
            trace.steps.push(vectors.clone());
        }
        next = path.beyond.as_ref();
    }
    trace
}
