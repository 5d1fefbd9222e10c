//! Hierarchies as pictures: components are boxes in boxes, with their variables inside; arrows lead from what an assertion speaks of to the flow
//! that it determines, and between components that a vector synchronises.

use std::collections::{BTreeMap, BTreeSet};

use trellis_expr::VarId;
use trellis_model::hierarchy::{Component, Hierarchy};

use crate::present::{Drawing, DrawnEdge, DrawnNode, NodeShape};

/// Assertions about more variables than this are not drawn.
const MOST: usize = 12;

/// The picture of a hierarchy.
pub(super) fn drawing(h: &Hierarchy) -> Drawing {
    let mut out = Drawing::default();
    let (mut frames, mut places) = (BTreeMap::new(), BTreeMap::new());
    let mut waiting = vec![(h.top, None)];
    while let Some((c, within)) = waiting.pop() {
        let (component, frame) = (h.component(c), out.nodes.len());
        let lines = vec![component.to_string()];
        out.nodes.push(DrawnNode { lines, within, shape: NodeShape::Frame, ..DrawnNode::default() });
        frames.insert(c.index(), frame);
        for &v in &component.variables {
            let name = &h.variable(v).name;
            let short = name.strip_prefix(&component.path).map_or(&**name, |n| n.trim_start_matches('.'));
            places.insert(v, out.nodes.len());
            out.nodes.push(DrawnNode {
                lines: vec![short.into()],
                within: Some(frame),
                lit: vec![(name.clone(), None)],
                ..DrawnNode::default()
            });
        }
        waiting.extend(component.subs.iter().rev().map(|&sub| (sub, Some(frame))));
    }
    for component in &h.components {
        let between =
            asserted(h, component).into_iter().filter_map(|(a, b)| Some((*places.get(&a)?, *places.get(&b)?)));
        out.edges.extend(between.map(|(from, to)| DrawnEdge { from, to, ..DrawnEdge::default() }));
        for ((a, b), lines) in synchronised(h, component) {
            let frame = |sub: usize| component.subs.get(sub).and_then(|c| frames.get(&c.index()));
            if let (Some(&from), Some(&to)) = (frame(a), frame(b)) {
                out.edges.push(DrawnEdge { from, to, lines: lines.into_iter().collect(), ..DrawnEdge::default() });
            }
        }
    }
    out
}

/// From which variable to which flow the assertions of a component lead.
fn asserted(h: &Hierarchy, component: &Component) -> BTreeSet<(VarId, VarId)> {
    let mut all = BTreeSet::new();
    for &term in &component.assertion {
        let speaks: BTreeSet<VarId> = h.terms.free_vars(term).into_iter().collect();
        let known = speaks.iter().all(|v| v.index() < h.variables.len());
        if !known || speaks.len() > MOST {
            continue;
        }
        let is_own = |v: &&VarId| component.variables.contains(v);
        let flow = |v: &&VarId| h.variable(**v).flow;
        let target = speaks.iter().filter(flow).find(is_own).or_else(|| speaks.iter().rev().find(flow));
        if let Some(&to) = target {
            all.extend(speaks.iter().filter(|v| **v != to).map(|&from| (from, to)));
        }
    }
    all
}

/// Which sub-nodes act together, and in which events.
fn synchronised(h: &Hierarchy, component: &Component) -> BTreeMap<(usize, usize), BTreeSet<String>> {
    let mut all: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
    for vector in &component.vectors {
        let subs = vector.parts.iter().filter_map(|p| Some((p.sub?, p.event)));
        let subs: Vec<(usize, usize)> = subs.filter(|(_, event)| *event > 0).collect();
        for pair in subs.windows(2) {
            let event = |(sub, event): (usize, usize)| h.component(component.subs[sub]).events[event].clone();
            let (a, b) = (event(pair[0]), event(pair[1]));
            let said = if a == b { a } else { format!("{a}, {b}") };
            all.entry((pair[0].0, pair[1].0)).or_default().insert(said);
        }
    }
    all
}
