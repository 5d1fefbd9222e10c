//! `VerifyHierarchicalPath` (001 Fig. 5.8): an abstract run is feasible exactly if its projection on each node is.

use std::sync::Arc;

use trellis_model::hierarchy::tree::{Behaviour, Tree};

use super::cover::Cover;

/// An abstract run.
#[derive(Debug, Clone)]
pub struct Path {
    /// Abstract states.
    pub states: Vec<Vec<u32>>,
    /// For each step, the vector of each node.
    pub steps: Arc<Vec<Vec<u32>>>,
}

/// The projection of a run on one node.
#[derive(Debug, Clone)]
pub struct Projection {
    /// Its blocks.
    pub blocks: Vec<u32>,
    /// Its events, one fewer.
    pub events: Vec<u32>,
}

impl Path {
    /// The projection on a node.
    pub fn on(&self, tree: &Tree, node: usize) -> Projection {
        let vectors = &tree.nodes()[node].vectors;
        Projection {
            blocks: self.states.iter().map(|s| s[node]).collect(),
            events: self.steps.iter().map(|s| vectors[s[node] as usize][0]).collect(),
        }
    }
}

impl Projection {
    /// For each moment, the states of its block from which the rest of the projection can be followed.
    pub fn backward(&self, behaviour: &Behaviour, cover: &Cover) -> Vec<Vec<u32>> {
        let mut all = vec![];
        let mut later: Option<(u32, Vec<u32>)> = None;
        for at in (0..self.blocks.len()).rev() {
            let block = &cover.blocks[self.blocks[at] as usize];
            let here: Vec<u32> = match &later {
                None => block.clone(),
                Some((event, there)) => {
                    let leads = |q: &u32| behaviour.targets(*q, *event).any(|t| there.binary_search(&t).is_ok());
                    block.iter().copied().filter(leads).collect()
                }
            };
            all.push(here.clone());
            if at > 0 {
                later = Some((self.events[at - 1], here));
            }
        }
        all.reverse();
        all
    }

    /// For each moment that can be reached from some states of the first block, the states that are reached; as many as there are moments
    /// if the projection is feasible.
    pub fn forward(&self, behaviour: &Behaviour, cover: &Cover, start: Vec<u32>) -> Vec<Vec<u32>> {
        let mut sets = vec![];
        let mut here = start;
        for (at, &block) in self.blocks.iter().enumerate() {
            if at > 0 {
                here = here.iter().flat_map(|&q| behaviour.targets(q, self.events[at - 1])).collect();
            }
            here.retain(|&q| cover.of[q as usize] == block);
            here.sort_unstable();
            here.dedup();
            if here.is_empty() {
                break;
            }
            sets.push(here.clone());
        }
        sets
    }
}
