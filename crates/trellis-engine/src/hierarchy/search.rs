//! Breadth-first search through a tree's states, made as they are met.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use trellis_model::evidence::Reason;
use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::siblings::Siblings;

use trellis_meter::{Meter, Progress, Stats};

/// How many successors of one state are listed at most.
pub(super) const MAX_SUCCESSORS: usize = 1 << 20;

/// States of a tree, each once and in order, and where they were met from.
pub struct Seen {
    width: usize,
    data: Vec<u32>,
    from: Vec<u32>,
    table: HashTable<u32>,
}

fn hash(state: &[u32]) -> u64 {
    FxBuildHasher.hash_one(state)
}

impl Seen {
    /// None yet.
    fn new(width: usize) -> Seen {
        Seen { width, data: vec![], from: vec![], table: HashTable::new() }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.from.len()
    }

    /// A state by its number.
    pub fn get(&self, n: usize) -> &[u32] {
        &self.data[n * self.width..(n + 1) * self.width]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.count()).map(|n| self.get(n))
    }

    /// Adds a state, unless it is there; an initial state was met from itself.
    fn add(&mut self, state: &[u32], from: Option<usize>) -> bool {
        let hash_of_it = hash(state);
        let (width, data) = (self.width, &self.data);
        let at = |n: u32| &data[n as usize * width..(n as usize + 1) * width];
        if self.table.find(hash_of_it, |&n| at(n) == state).is_some() {
            return false;
        }
        let number = self.from.len() as u32;
        self.table.insert_unique(hash_of_it, number, |&n| hash(at(n)));
        self.data.extend_from_slice(state);
        self.from.push(from.map_or(number, |f| f as u32));
        true
    }

    /// The states on the way to one of them.
    pub fn path(&self, mut n: usize) -> Vec<Vec<u32>> {
        let mut path = vec![self.get(n).to_vec()];
        while self.from[n] as usize != n {
            n = self.from[n] as usize;
            path.push(self.get(n).to_vec());
        }
        path.reverse();
        path
    }
}

/// What is looked for, and what is passed over.
pub struct Hunt<'h> {
    /// Is a state looked for?
    pub goal: &'h dyn Fn(&[u32]) -> bool,
    /// Can nothing that is looked for ever come after a state?
    pub dead: &'h mut dyn FnMut(&[u32]) -> bool,
}

/// Explores until a state is met that is looked for; which one, if any. States that differ only in who of some siblings is where are one.
pub fn explore(
    tree: &Tree,
    siblings: &Siblings,
    hunt: Hunt<'_>,
    counted: &mut Stats,
    meter: &mut Meter,
) -> Result<(Seen, Option<usize>), Reason> {
    let Hunt { goal, dead } = hunt;
    let mut seen = Seen::new(tree.nodes().len());
    for state in initial(tree)? {
        let state = siblings.sorted(tree, &state);
        if !dead(&state) && seen.add(&state, None) && goal(&state) {
            let n = seen.count() - 1;
            return Ok((seen, Some(n)));
        }
    }
    meter.go_on()?;
    let mut next = 0;
    while next < seen.count() {
        counted.expanded += 1;
        let progress = Progress { waiting: seen.count() - next, stats: *counted };
        meter.check(&progress)?;
        let state = seen.get(next).to_vec();
        let all = tree.successors(&state, MAX_SUCCESSORS).map_err(|e| Reason::Stuck(e.to_string()))?;
        for target in all {
            counted.steps += 1;
            let target = if siblings.is_empty() { target } else { siblings.sorted(tree, &target) };
            if !dead(&target) && seen.add(&target, Some(next)) {
                counted.added += 1;
                if goal(&target) {
                    let n = seen.count() - 1;
                    return Ok((seen, Some(n)));
                }
            }
        }
        next += 1;
    }
    Ok((seen, None))
}

/// All initial states: one of each node, in any combination.
fn initial(tree: &Tree) -> Result<Vec<Vec<u32>>, Reason> {
    if tree.nodes().iter().any(|n| n.behaviour.initial.is_empty()) {
        return Ok(vec![]);
    }
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for node in tree.nodes() {
        let own = &node.behaviour.initial;
        if all.len().saturating_mul(own.len()) > MAX_SUCCESSORS {
            return Err(Reason::Stuck("there are too many initial states to list them".into()));
        }
        all = all.iter().flat_map(|row| own.iter().map(|&q| [row.as_slice(), &[q]].concat())).collect();
    }
    Ok(all)
}
