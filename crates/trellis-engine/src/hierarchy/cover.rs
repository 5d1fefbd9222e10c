//! Covers of one node's states, and the behaviour that a cover makes of a node's (001 §5.2.1). Covers are partitions here.

use rustc_hash::FxHashMap;
use trellis_model::hierarchy::tree::{Behaviour, Condition, Tree};

/// Which states must not be in one block, for priorities' sake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Neat {
    /// Those that differ in whether a watched event is possible ([`Tree::watched`]).
    #[default]
    Watched,
    /// Those that differ in whether any event is possible (001 Def. 5.7).
    All,
}

/// A partition of the states of one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    /// The block of each state.
    pub of: Vec<u32>,
    /// The states of each block.
    pub blocks: Vec<Vec<u32>>,
}

impl Cover {
    /// One block for each key.
    pub fn by<K: std::hash::Hash + Eq>(states: usize, key: impl Fn(u32) -> K) -> Cover {
        let mut numbers: FxHashMap<K, u32> = FxHashMap::default();
        let mut cover = Cover { of: vec![], blocks: vec![] };
        for q in 0..states as u32 {
            let next = numbers.len() as u32;
            let block = *numbers.entry(key(q)).or_insert(next);
            if block == next && cover.blocks.len() == next as usize {
                cover.blocks.push(vec![]);
            }
            cover.of.push(block);
            cover.blocks[block as usize].push(q);
        }
        cover
    }

    /// The coarsest covers of all nodes that what is bad and priorities allow (001 §5.4.3, event predicates).
    pub fn initial(tree: &Tree, bad: &Condition, neat: Neat) -> Vec<Cover> {
        let mut atoms: Vec<Vec<&[bool]>> = vec![vec![]; tree.nodes().len()];
        for (node, states) in bad.atoms() {
            if !atoms[node].contains(&states) {
                atoms[node].push(states);
            }
        }
        let watched = tree.watched();
        let one = |(number, atoms): (usize, &Vec<&[bool]>)| {
            let behaviour = &tree.nodes()[number].behaviour;
            let events: Vec<u32> = match neat {
                Neat::All => (0..watched[number].len() as u32).collect(),
                Neat::Watched => (0..).zip(&watched[number]).filter(|(_, w)| **w).map(|(e, _)| e).collect(),
            };
            Cover::by(behaviour.states.len(), |q| {
                let holds = atoms.iter().map(|states| states[q as usize]);
                holds.chain(events.iter().map(|&e| behaviour.can(q, e))).collect::<Vec<bool>>()
            })
        };
        atoms.iter().enumerate().map(one).collect()
    }

    /// Separates the states of a set from the others in one block; false if there is nothing to separate.
    pub fn split(&mut self, block: u32, within: &dyn Fn(u32) -> bool) -> bool {
        let (part, rest): (Vec<u32>, Vec<u32>) = self.blocks[block as usize].iter().partition(|&&q| within(q));
        if part.is_empty() || rest.is_empty() {
            return false;
        }
        let new = self.blocks.len() as u32;
        part.iter().for_each(|&q| self.of[q as usize] = new);
        self.blocks[block as usize] = rest;
        self.blocks.push(part);
        true
    }

    /// Separates the states of a set from the others in all blocks; false if there is nothing to separate.
    pub fn split_all(&mut self, set: &[u32]) -> bool {
        let mut any = false;
        for block in 0..self.blocks.len() as u32 {
            any |= self.split(block, &|q| set.binary_search(&q).is_ok());
        }
        any
    }

    /// The behaviour whose states are the blocks: what some state of a block does, the block does.
    pub fn behaviour(&self, concrete: &Behaviour) -> Behaviour {
        let mut moves = vec![vec![]; self.blocks.len()];
        for (q, all) in concrete.moves.iter().enumerate() {
            let block = self.of[q] as usize;
            moves[block].extend(all.iter().map(|&(event, to)| (event, self.of[to as usize])));
        }
        let mut initial: Vec<u32> = concrete.initial.iter().map(|&q| self.of[q as usize]).collect();
        initial.sort_unstable();
        initial.dedup();
        Behaviour::new(vec![String::new(); self.blocks.len()], initial, moves)
    }
}
