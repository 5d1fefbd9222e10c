//! `VerifyHierarchicalPath` (001 Fig. 5.8): an abstract run is feasible exactly if its projection on each node is.

use trellis_model::hierarchy::tree::{Behaviour, Tree};

use super::cover::Cover;

/// An abstract run.
#[derive(Debug, Clone)]
pub struct Path {
    /// Abstract states.
    pub states: Vec<Vec<u32>>,
    /// For each step, the vector of each node.
    pub steps: Vec<Vec<u32>>,
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

    /// A run of the node along the projection, if there is one; otherwise how far one comes: the last moment that is reached.
    pub fn forward(&self, behaviour: &Behaviour, cover: &Cover) -> Result<Vec<u32>, usize> {
        let first = &cover.blocks[self.blocks[0] as usize];
        let mut here: Vec<u32> = first.iter().copied().filter(|q| behaviour.initial.contains(q)).collect();
        if here.is_empty() {
            return Err(0);
        }
        let mut sets = vec![here.clone()];
        for (at, &event) in self.events.iter().enumerate() {
            let mut next: Vec<u32> = here
                .iter()
                .flat_map(|&q| behaviour.targets(q, event))
                .filter(|&t| cover.of[t as usize] == self.blocks[at + 1])
                .collect();
            next.sort_unstable();
            next.dedup();
            if next.is_empty() {
                return Err(at);
            }
            sets.push(next.clone());
            here = next;
        }
        // From the end: a state that leads to the one chosen after it.
        let mut run = vec![here[0]];
        for (at, &event) in self.events.iter().enumerate().rev() {
            let after = run[run.len() - 1];
            let before = sets[at].iter().find(|&&q| behaviour.targets(q, event).any(|t| t == after));
            run.extend(before);
        }
        run.reverse();
        Ok(run)
    }
}
