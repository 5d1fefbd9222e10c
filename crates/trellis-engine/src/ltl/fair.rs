//! Fair cycles of a finished graph, where strong fairness counts too: if something is possible again and again, it happens.
//!
//! Emerson and Lei's way (*Modalities for model checking*, 1987): a strongly connected component that lacks a mark has no fair cycle; one in
//! which a party could move but never does has at most one where it cannot, so those nodes are taken out and the rest is looked at again.
//! What is left is fair: a tour through it meets all marks and lets everybody move. What is not left has a reason, and the reasons are
//! the proof ([`Course`](trellis_model::network::Course)).
//!
//! Searching while the graph is made is the business of [`super::search`].

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_model::ltl::components;
use trellis_model::network::{Level, Never};

/// An edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// What it is to whoever made the graph.
    pub via: u32,
    /// Where it leads.
    pub to: u32,
    /// Its marks, and those of its source.
    pub marks: u64,
    /// Which parties move.
    pub moves: u64,
}

/// A graph.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// The edges out of each node.
    pub edges: Vec<Vec<Edge>>,
    /// All marks that a fair cycle meets. Every party moves on it, or never can.
    pub marks: u64,
}

impl Graph {
    /// Which parties can move in a node.
    fn able(&self, n: u32) -> u64 {
        self.edges[n as usize].iter().fold(0, |all, e| all | e.moves)
    }

    /// Why no node is on a fair cycle; or else the nodes of a component where some are.
    pub fn levels(&self) -> Result<Vec<Vec<Level>>, Vec<u32>> {
        let mut levels: Vec<Vec<Level>> = vec![vec![]; self.edges.len()];
        let mut todo: Vec<Vec<u32>> = vec![(0..self.edges.len() as u32).collect()];
        while let Some(nodes) = todo.pop() {
            let local: FxHashMap<u32, u32> = nodes.iter().zip(0..).map(|(&n, i)| (n, i)).collect();
            let inner = |n: u32| self.edges[n as usize].iter().filter_map(|e| local.get(&e.to).map(|&to| (e, to)));
            let number = components(nodes.len(), |i| inner(nodes[i as usize]).map(|(_, to)| to).collect());
            let mut members: Vec<Vec<u32>> = vec![vec![]; number.iter().max().map_or(0, |&n| n as usize + 1)];
            for (&n, &c) in nodes.iter().zip(&number) {
                members[c as usize].push(n);
            }
            for (rank, members) in (0..).zip(members) {
                let (mut any, mut marks, mut moves, mut able) = (false, 0, 0, 0);
                for &n in &members {
                    able |= self.able(n);
                    for (e, _) in inner(n).filter(|(_, to)| number[*to as usize] == rank) {
                        any = true;
                        marks |= e.marks;
                        moves |= e.moves;
                    }
                }
                let (lacks, waits) = (self.marks & !marks, able & !moves);
                let never = match () {
                    () if !any => Never::Step,
                    () if lacks != 0 => Never::Mark(lacks.trailing_zeros()),
                    () if waits != 0 => Never::Party(waits.trailing_zeros()),
                    () => return Err(members),
                };
                members.iter().for_each(|&n| levels[n as usize].push(Level { rank, never }));
                if let Never::Party(p) = never {
                    todo.push(members.into_iter().filter(|&n| self.able(n) >> p & 1 == 0).collect());
                }
            }
        }
        Ok(levels)
    }

    /// A fair cycle in a component, from a node of it: the edges.
    pub fn tour(&self, from: u32, members: &[u32]) -> Vec<Edge> {
        let members: FxHashSet<u32> = members.iter().copied().collect();
        let inside = |n: u32| members.contains(&n);
        let able = members.iter().fold(0, |all, &n| all | self.able(n));
        let (mut marks, mut moves) = (self.marks, able);
        let mut tour: Vec<Edge> = vec![];
        let mut at = from;
        while marks | moves != 0 {
            let part = self.path(&[at], inside, |_, e| e.marks & marks != 0 || e.moves & moves != 0);
            for e in &part.1 {
                marks &= !e.marks;
                moves &= !e.moves;
                at = e.to;
            }
            tour.extend(part.1);
        }
        if tour.is_empty() || at != from {
            tour.extend(self.path(&[at], inside, |_, e| e.to == from).1);
        }
        tour
    }

    /// A shortest path inside some nodes from one of these, with the last edge as wanted: the first node and the edges. There must be one.
    pub fn path(
        &self,
        from: &[u32],
        inside: impl Fn(u32) -> bool,
        wanted: impl Fn(u32, &Edge) -> bool,
    ) -> (u32, Vec<Edge>) {
        let mut before: FxHashMap<u32, Option<(u32, Edge)>> = from.iter().map(|&n| (n, None)).collect();
        let mut todo: VecDeque<u32> = from.iter().copied().collect();
        while let Some(n) = todo.pop_front() {
            for e in self.edges[n as usize].iter().filter(|e| inside(e.to)) {
                if wanted(n, e) {
                    let mut path = vec![*e];
                    let mut at = n;
                    while let Some((previous, e)) = before[&at] {
                        path.push(e);
                        at = previous;
                    }
                    path.reverse();
                    return (at, path);
                }
                before.entry(e.to).or_insert_with(|| {
                    todo.push_back(e.to);
                    Some((n, *e))
                });
            }
        }
        unreachable!("the nodes are connected")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u32, u32, u64, u64)], marks: u64) -> Graph {
        let nodes = edges.iter().map(|e| e.0.max(e.1) + 1).max().unwrap_or(0);
        let mut g = Graph { edges: vec![vec![]; nodes as usize], marks };
        for (i, &(from, to, marks, moves)) in edges.iter().enumerate() {
            g.edges[from as usize].push(Edge { via: i as u32, to, marks, moves });
        }
        g
    }

    #[test]
    fn who_waits_for_ever_is_not_treated_fairly() {
        // Party 0 could leave node 0, and does not on the cycle 0, 1.
        let g = graph(&[(0, 1, 0, 0), (1, 0, 0, 0), (0, 2, 0, 1), (2, 2, 0, 0)], 0);
        // Node 2 is fair: nobody can move there.
        assert_eq!(g.levels().expect_err("fair"), [2]);
        let g = graph(&[(0, 1, 0, 0), (1, 0, 0, 0), (0, 2, 0, 1)], 0);
        let levels = g.levels().expect("no fair cycle");
        assert_eq!(levels[0].len(), 1);
        assert_eq!(levels[1].len(), 2);
    }

    #[test]
    fn a_tour_lets_everybody_move() {
        let g = graph(&[(0, 1, 1, 0), (1, 0, 0, 0), (1, 2, 0, 1), (2, 1, 2, 2)], 3);
        let members = g.levels().expect_err("fair");
        let tour = g.tour(0, &members);
        assert_eq!(tour.iter().fold(0, |m, e| m | e.marks), 3);
        assert_eq!(tour.iter().fold(0, |m, e| m | e.moves), 3);
        assert_eq!(tour.last().map(|e| e.to), Some(0));
    }
}
