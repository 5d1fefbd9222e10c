//! From many marks to one (Gastin and Oddoux 2001 §5; Babiak et al. 2013, *Compositional Approach to Suspension and Other
//! Improvements to LTL Translation*, for the treatment of components).
//!
//! A copy of the automaton per *level*: on level `i` marks before the `i`th of an order have been seen. An edge may go up several
//! levels. Levels count in accepting components only, and start anew in each.

use rustc_hash::FxHashMap;
use trellis_model::ltl::{Buchi, Edge};

use super::simplify::Parts;

/// One mark, on edges.
pub fn on_edges(a: &Buchi, order: &[u32]) -> Buchi {
    let parts = Parts::new(a);
    let top = order.len();
    unfold(a, |s, level, e| {
        if !parts.inside(s, e) || !parts.accepting(parts.of[s], a) {
            return (0, 0);
        }
        match climb(order, level, e.marks) {
            // What is left of the edge's marks counts for the next round.
            up if up == top => (climb(order, 0, e.marks) % top.max(1), 1),
            up => (up, 0),
        }
    })
}

/// One mark, on states: those of the top level.
pub fn on_states(a: &Buchi, order: &[u32]) -> Buchi {
    let parts = Parts::new(a);
    let top = order.len();
    // Marks of all edges with which a run stays in the component: whoever comes here will see them.
    let common: Vec<u64> = (0..a.edges.len())
        .map(|s| {
            let inside = a.edges[s].iter().filter(|e| parts.inside(s, e));
            inside.fold(a.all_marks(), |marks, e| marks & e.marks)
        })
        .collect();
    let arrive = |from: usize, marks: u64, to: u32| {
        let accepting = parts.accepting(parts.of[to as usize], a);
        // With no marks at all the lowest level is the top.
        if accepting { climb(order, from, marks | common[to as usize]) } else { usize::from(top == 0) }
    };
    unfold_from(
        a,
        |s| arrive(0, 0, s),
        |s, level, e| {
            let from = if level == top { 0 } else { level };
            let inside = parts.inside(s, e);
            (arrive(if inside { from } else { 0 }, if inside { e.marks } else { 0 }, e.to), u64::from(level == top))
        },
    )
}

fn climb(order: &[u32], level: usize, marks: u64) -> usize {
    let seen = order[level.min(order.len())..].iter().take_while(|&&m| marks >> m & 1 == 1);
    level + seen.count()
}

fn unfold(a: &Buchi, step: impl Fn(usize, usize, &Edge) -> (usize, u64)) -> Buchi {
    unfold_from(a, |_| 0, step)
}

/// States with levels; `step` gives for an edge out of a level the level it leads to and its marks.
fn unfold_from(a: &Buchi, start: impl Fn(u32) -> usize, step: impl Fn(usize, usize, &Edge) -> (usize, u64)) -> Buchi {
    let mut numbers: FxHashMap<(u32, usize), u32> = FxHashMap::default();
    let mut pairs: Vec<(u32, usize)> = vec![];
    let mut number = |pair: (u32, usize), pairs: &mut Vec<(u32, usize)>| {
        *numbers.entry(pair).or_insert_with(|| {
            pairs.push(pair);
            pairs.len() as u32 - 1
        })
    };
    let initial = a.initial.iter().map(|&s| number((s, start(s)), &mut pairs)).collect();
    let mut out = Buchi { initial, marks: 1, edges: vec![] };
    while let Some(&(s, level)) = pairs.get(out.edges.len()) {
        let edges = &a.edges[s as usize];
        let edges = edges.iter().map(|e| {
            let (up, marks) = step(s as usize, level, e);
            Edge { cube: e.cube, marks, to: number((e.to, up), &mut pairs) }
        });
        let edges = edges.collect();
        out.edges.push(edges);
    }
    out
}
