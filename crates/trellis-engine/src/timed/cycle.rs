//! Ranks and lassos in the graph of [`super::live`].
//!
//! A φ-node that can neither end nor go round within φ gets a rank, which bounds how long a run can stay. Without marks: every
//! edge within φ leads to a smaller rank. With marks, where only cycles with a marked edge count: no edge leads to a
//! greater rank, and marked ones to a smaller one. What has no rank can stay, and `find` shows how, by the shortest ways.
//!
//! What it deliberately knows nothing of: zones, cells, time.

use std::collections::VecDeque;

use super::live::{Edge, NONE, Node};

/// Edges within φ by their source.
struct Inner {
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl Inner {
    fn new(nodes: &[Node], edges: &[Edge]) -> Inner {
        Inner::of_edges(nodes, edges, |e| nodes[e.from as usize].stays && nodes[e.to as usize].stays)
    }

    fn of_edges(nodes: &[Node], edges: &[Edge], inner: impl Fn(&Edge) -> bool) -> Inner {
        let mut starts = vec![0u32; nodes.len() + 1];
        for e in edges.iter().filter(|e| inner(e)) {
            starts[e.from as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut at = starts.clone();
        let mut all = vec![0; *starts.last().unwrap_or(&0) as usize];
        for (i, e) in edges.iter().enumerate().filter(|(_, e)| inner(e)) {
            all[at[e.from as usize] as usize] = i as u32;
            at[e.from as usize] += 1;
        }
        Inner { starts, edges: all }
    }

    fn of(&self, n: u32) -> &[u32] {
        &self.edges[self.starts[n as usize] as usize..self.starts[n as usize + 1] as usize]
    }
}

/// The strongly connected components, numbered so that edges lead to the same or to smaller numbers (Tarjan).
fn components(nodes: &[Node], edges: &[Edge], inner: &Inner) -> Vec<u32> {
    let count = nodes.len();
    let (mut order, mut low, mut component) = (vec![NONE; count], vec![NONE; count], vec![NONE; count]);
    let (mut next, mut components) = (0, 0);
    let mut stack = Vec::new();
    let mut calls: Vec<(u32, usize)> = Vec::new();
    for root in 0..count as u32 {
        if order[root as usize] != NONE {
            continue;
        }
        calls.push((root, 0));
        while let Some((n, i)) = calls.pop() {
            if i == 0 {
                order[n as usize] = next;
                low[n as usize] = next;
                next += 1;
                stack.push(n);
            }
            if let Some(&e) = inner.of(n).get(i) {
                calls.push((n, i + 1));
                let to = edges[e as usize].to;
                if order[to as usize] == NONE {
                    calls.push((to, 0));
                } else if component[to as usize] == NONE {
                    low[n as usize] = low[n as usize].min(order[to as usize]);
                }
                continue;
            }
            if low[n as usize] == order[n as usize] {
                while let Some(m) = stack.pop() {
                    component[m as usize] = components;
                    if m == n {
                        break;
                    }
                }
                components += 1;
            }
            if let Some(&(parent, _)) = calls.last() {
                low[parent as usize] = low[parent as usize].min(low[n as usize]);
            }
        }
    }
    component
}

/// The rank of each φ-node that cannot stay.
pub(super) fn ranks(nodes: &[Node], edges: &[Edge], marks: bool) -> Vec<Option<u32>> {
    let inner = Inner::new(nodes, edges);
    let component = components(nodes, edges, &inner);
    let count = component.iter().map(|&c| c + 1).max().unwrap_or(0) as usize;
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (n, &c) in component.iter().enumerate() {
        members[c as usize].push(n as u32);
    }
    let mut ranks: Vec<Option<u32>> = vec![None; nodes.len()];
    // Smaller components come first, and all edges lead to those.
    for (c, members) in members.iter().enumerate() {
        let mut rank = Some(0u32);
        for &n in members {
            if !nodes[n as usize].stays || nodes[n as usize].ends {
                rank = None;
            }
            for &e in inner.of(n) {
                let Edge { to, marked, .. } = edges[e as usize];
                let counts = u32::from(marked || !marks);
                rank = match (rank, component[to as usize] == c as u32) {
                    (Some(_), true) if counts == 1 => None,
                    (rank, true) => rank,
                    (rank, false) => rank.zip(ranks[to as usize]).map(|(r, of)| r.max(of + counts)),
                };
            }
        }
        members.iter().for_each(|&n| ranks[n as usize] = rank);
    }
    ranks
}

/// How the watched clock can grow: a cycle with a marked edge, and a way from there to a node where the question starts; nothing on
/// either sets the clock.
pub(super) struct Growth {
    /// The node where the cycle starts.
    pub node: u32,
    /// The edges of the cycle.
    pub round: Vec<u32>,
    /// The edges to where the question starts.
    pub tail: Vec<u32>,
}

/// The way to grow that starts in the first node from which there is one.
pub(super) fn grows(nodes: &[Node], edges: &[Edge]) -> Option<Growth> {
    let inner = Inner::of_edges(nodes, edges, |e| !e.sets);
    let component = components(nodes, edges, &inner);
    let count = component.iter().map(|&c| c + 1).max().unwrap_or(0) as usize;
    let mut leads = vec![false; count];
    let mut order: Vec<u32> = (0..nodes.len() as u32).collect();
    order.sort_unstable_by_key(|&n| component[n as usize]);
    for n in order {
        // Edges lead to smaller components, which are done, or stay in this one.
        let c = component[n as usize] as usize;
        let next = inner.of(n).iter().any(|&e| leads[component[edges[e as usize].to as usize] as usize]);
        leads[c] |= nodes[n as usize].starts || next;
    }
    let same = |n: u32, m: u32| component[n as usize] == component[m as usize];
    let turns = |n: u32| {
        let marked = |e: &&u32| edges[**e as usize].marked && same(edges[**e as usize].to, n);
        inner.of(n).iter().find(marked).map(|&e| (n, e))
    };
    let leading = (0..nodes.len() as u32).filter(|&n| leads[component[n as usize] as usize]);
    let (node, first) = leading.filter_map(turns).next()?;
    let ranks = vec![None; nodes.len()];
    let mut round = vec![first];
    let start = edges[first as usize].to;
    if start != node {
        let (_, parents) = search(nodes, edges, &ranks, &inner, &[start], |m| same(m, node));
        round.extend(back(edges, &parents, node));
    }
    let (order, parents) = search(nodes, edges, &ranks, &inner, &[node], |_| true);
    let end = order.into_iter().find(|&n| nodes[n as usize].starts)?;
    Some(Growth { node, round, tail: back(edges, &parents, end) })
}

/// A way to stay.
pub(super) struct Lasso {
    /// The edges to where it ends or goes round.
    pub stem: Vec<u32>,
    /// The edges of a cycle; empty if it ends.
    pub round: Vec<u32>,
    /// The node where it ends or the cycle starts.
    pub last: u32,
}

/// A short way to stay from one of some nodes without rank.
pub(super) fn find(nodes: &[Node], edges: &[Edge], ranks: &[Option<u32>], from: &[u32], marks: bool) -> Lasso {
    let inner = Inner::new(nodes, edges);
    let component = components(nodes, edges, &inner);
    let all = |_: u32| true;
    let (order, parents) = search(nodes, edges, ranks, &inner, from, all);
    // The edge of a cycle that counts and leaves this node, if there is one.
    let turns = |n: u32| {
        let round = |e: &&u32| {
            let edge = &edges[**e as usize];
            component[edge.to as usize] == component[n as usize] && (edge.marked || !marks)
        };
        inner.of(n).iter().find(round).copied()
    };
    for &n in &order {
        if nodes[n as usize].ends {
            return Lasso { stem: back(edges, &parents, n), round: Vec::new(), last: n };
        }
    }
    for &n in &order {
        let Some(first) = turns(n) else { continue };
        let start = edges[first as usize].to;
        let mut round = vec![first];
        if start != n {
            let within = |m: u32| component[m as usize] == component[n as usize];
            let (_, parents) = search(nodes, edges, ranks, &inner, &[start], within);
            round.extend(back(edges, &parents, n));
        }
        return Lasso { stem: back(edges, &parents, n), round, last: n };
    }
    unreachable!("a node without rank can end or go round")
}

/// Breadth first: the nodes in order, and the edge by which each was reached.
fn search(
    nodes: &[Node],
    edges: &[Edge],
    ranks: &[Option<u32>],
    inner: &Inner,
    from: &[u32],
    within: impl Fn(u32) -> bool,
) -> (Vec<u32>, Vec<u32>) {
    let mut parents = vec![NONE; nodes.len()];
    let mut met = vec![false; nodes.len()];
    let mut queue: VecDeque<u32> = from.iter().copied().collect();
    from.iter().for_each(|&n| met[n as usize] = true);
    let mut order = Vec::new();
    while let Some(n) = queue.pop_front() {
        order.push(n);
        for &e in inner.of(n) {
            let to = edges[e as usize].to;
            if ranks[to as usize].is_none() && within(to) && !std::mem::replace(&mut met[to as usize], true) {
                parents[to as usize] = e;
                queue.push_back(to);
            }
        }
    }
    (order, parents)
}

fn back(edges: &[Edge], parents: &[u32], mut n: u32) -> Vec<u32> {
    let mut path = Vec::new();
    while parents[n as usize] != NONE {
        path.push(parents[n as usize]);
        n = edges[parents[n as usize] as usize].from;
    }
    path.reverse();
    path
}
