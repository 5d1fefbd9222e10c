//! Paths through the graph of an automaton, whatever the statements on them say: for benchmarks and tests of solvers.

use std::collections::VecDeque;

use super::{Cfa, EdgeId, LocationId};

/// For each location, how many edges away the nearest error is.
pub fn error_distances(cfa: &Cfa) -> Vec<Option<usize>> {
    let mut distances = vec![None; cfa.locations().len()];
    let mut todo: VecDeque<LocationId> = cfa.errors().collect();
    for l in &todo {
        distances[l.index()] = Some(0);
    }
    while let Some(l) = todo.pop_front() {
        let next = distances[l.index()].map(|d| d + 1);
        for &e in cfa.incoming(l) {
            let from = cfa.edge(e).from;
            if distances[from.index()].is_none() {
                distances[from.index()] = next;
                todo.push_back(from);
            }
        }
    }
    distances
}

/// A shortest way from a location to an error.
pub fn to_error(cfa: &Cfa, mut at: LocationId) -> Option<Vec<EdgeId>> {
    let distances = error_distances(cfa);
    let mut path = vec![];
    while distances[at.index()]? > 0 {
        let nearer = |e: &&EdgeId| distances[cfa.edge(**e).to.index()] < distances[at.index()];
        let some = |e: &&EdgeId| distances[cfa.edge(**e).to.index()].is_some();
        let &e = cfa.outgoing(at).iter().filter(some).find(nearer)?;
        path.push(e);
        at = cfa.edge(e).to;
    }
    Some(path)
}

/// A random way of so many edges from the initial location (fewer if it comes to an end), and from there the shortest one to an
/// error, if there is one. While an error can still be reached it does not go where none can; it does not enter one early.
pub fn wander(cfa: &Cfa, edges: usize, seed: u64) -> Vec<EdgeId> {
    let distances = error_distances(cfa);
    let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut at = cfa.initial;
    let mut path = vec![];
    while path.len() < edges {
        let useful = |e: &EdgeId| {
            let to = cfa.edge(*e).to;
            !cfa.is_error(to) && (distances[to.index()].is_some() || distances[at.index()].is_none())
        };
        let choices: Vec<EdgeId> = cfa.outgoing(at).iter().copied().filter(useful).collect();
        if choices.is_empty() {
            break;
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let e = choices[(random >> 20) as usize % choices.len()];
        path.push(e);
        at = cfa.edge(e).to;
    }
    path.extend(to_error(cfa, at).unwrap_or_default());
    path
}
