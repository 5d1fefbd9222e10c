//! The meaning of a tree, written plainly after 001 Definition 5.1: all states, all flat events, all transitions, one level after the
//! other. Slow, and only for small trees; it is what everything else is compared with.

use std::collections::BTreeSet;

use super::Tree;

/// A flat event: the vector of each node at or below one.
pub type Flat = Vec<usize>;

/// The semantics of the tree below one node.
#[derive(Debug, Clone, Default)]
pub struct Level {
    /// States: of each node at or below, in order.
    pub states: Vec<Vec<u32>>,
    /// Flat events.
    pub events: Vec<Flat>,
    /// `⤳`: from which state, by which event, to which; priorities of nodes below are respected, the node's own are not.
    pub before: BTreeSet<(usize, usize, usize)>,
    /// `↪`: the same without what is suppressed.
    pub transitions: BTreeSet<(usize, usize, usize)>,
}

/// The semantics of all nodes.
pub fn meaning(tree: &Tree) -> Vec<Level> {
    let mut levels: Vec<Level> = vec![];
    for (number, node) in tree.nodes().iter().enumerate() {
        let subs: Vec<&Level> = node.subs.iter().map(|&s| &levels[s]).collect();
        let mut level = Level::default();
        // States: those of the sub-nodes, in any combination, then the node's own.
        let mut numbers: Vec<(Vec<usize>, u32)> = vec![];
        for parts in combinations(&subs.iter().map(|l| l.states.len()).collect::<Vec<_>>()) {
            for own in 0..node.behaviour.states.len() as u32 {
                let mut state: Vec<u32> = subs.iter().zip(&parts).flat_map(|(l, &p)| l.states[p].clone()).collect();
                state.push(own);
                level.states.push(state);
                numbers.push((parts.clone(), own));
            }
        }
        // Flat events: a vector of the node, and for each sub-node a flat event whose label is what the vector says.
        let mut steps: Vec<(usize, Vec<usize>)> = vec![];
        for (vector, events) in node.vectors.iter().enumerate() {
            for parts in combinations(&subs.iter().map(|l| l.events.len()).collect::<Vec<_>>()) {
                let label = |i: usize| {
                    let sub = &tree.nodes()[node.subs[i]];
                    let last = subs[i].events[parts[i]].last().copied();
                    last.map(|v| sub.vectors[v][0])
                };
                if (0..subs.len()).all(|i| label(i) == Some(events[i + 1])) {
                    let mut flat: Flat = subs.iter().zip(&parts).flat_map(|(l, &p)| l.events[p].clone()).collect();
                    flat.push(vector);
                    level.events.push(flat);
                    steps.push((vector, parts));
                }
            }
        }
        for (from, (parts, own)) in numbers.iter().enumerate() {
            for (event, (vector, of_subs)) in steps.iter().enumerate() {
                for (to, (next, own_next)) in numbers.iter().enumerate() {
                    let moves = node.behaviour.targets(*own, node.vectors[*vector][0]).any(|t| t == *own_next);
                    let below = |i: usize| subs[i].transitions.contains(&(parts[i], of_subs[i], next[i]));
                    if moves && (0..subs.len()).all(below) {
                        level.before.insert((from, event, to));
                    }
                }
            }
        }
        for &(from, event, to) in &level.before {
            let higher = &node.higher[steps[event].0];
            let mut here = level.before.range((from, 0, 0)..(from + 1, 0, 0));
            if !here.any(|&(_, other, _)| higher.contains(&steps[other].0)) {
                level.transitions.insert((from, event, to));
            }
        }
        debug_assert_eq!(number, levels.len());
        levels.push(level);
    }
    levels
}

/// All rows with one number below each bound.
fn combinations(bounds: &[usize]) -> Vec<Vec<usize>> {
    let mut rows = vec![vec![]];
    for &bound in bounds {
        let longer = |row: &Vec<usize>| (0..bound).map(|n| [row.as_slice(), &[n]].concat()).collect::<Vec<_>>();
        rows = rows.iter().flat_map(longer).collect();
    }
    rows
}

impl Level {
    /// The events of a state (001's `out`).
    pub fn out(&self, state: usize) -> BTreeSet<usize> {
        self.transitions.range((state, 0, 0)..(state + 1, 0, 0)).map(|t| t.1).collect()
    }
}

/// All states of the tree that can be reached.
pub fn reachable(tree: &Tree, levels: &[Level]) -> BTreeSet<Vec<u32>> {
    let top = &levels[tree.top()];
    let starts = |q: &Vec<u32>| tree.nodes().iter().zip(q).all(|(n, s)| n.behaviour.initial.contains(s));
    let mut seen: BTreeSet<usize> = (0..top.states.len()).filter(|&n| starts(&top.states[n])).collect();
    let mut waiting: Vec<usize> = seen.iter().copied().collect();
    while let Some(q) = waiting.pop() {
        for &(_, _, r) in top.transitions.range((q, 0, 0)..(q + 1, 0, 0)) {
            if seen.insert(r) {
                waiting.push(r);
            }
        }
    }
    seen.into_iter().map(|n| top.states[n].clone()).collect()
}
