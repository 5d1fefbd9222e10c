//! Networks as pictures: a frame for each template, as its author has drawn it and in the author's words, lit where its processes are; and one
//! for each process that has none. An arrow for each edge of the source, however many values its selects take.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis_model::network::sketch::Label;
use trellis_model::network::{Edge, Location, Network, Process, Sketch};

use super::{Renderer, label};
use crate::layout::LINE;
use crate::present::{Drawing, DrawnEdge, DrawnNode, NodeShape};
use crate::words::cut;

fn location_label(net: &Network, name: &str, l: &Location) -> Vec<String> {
    let mut lines = vec![name.to_string()];
    lines.extend(l.committed.then(|| "committed".into()));
    lines.extend((l.urgent && !l.committed).then(|| "urgent".into()));
    lines.extend(l.invariant.and_then(|c| label::condition(net, c)).map(|text| cut(&text)));
    lines.extend(label::clock_guard(net, &l.clock_invariant).map(|text| cut(&text)));
    lines
}

/// The lines of labels, and where they stand, if all of them stand somewhere: one below the other, if a label has several.
fn labels(all: &[Label]) -> (Vec<String>, Vec<(f64, f64)>) {
    let lines = all.iter().flat_map(|l| l.text.lines().enumerate().map(move |(i, t)| (t.trim_end(), l.at, i as f64)));
    let (texts, at): (Vec<&str>, Vec<_>) = lines.map(|(t, at, i)| (t, at.map(|(x, y)| (x, y + i * LINE)))).unzip();
    let at = at.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default();
    (texts.into_iter().map(String::from).collect(), at)
}

fn shape(l: &Location) -> NodeShape {
    match (l.committed, l.urgent) {
        (true, _) => NodeShape::Committed,
        (_, true) => NodeShape::Urgent,
        _ => NodeShape::Plain,
    }
}

/// A template, and the processes of it by number.
fn template(renderer: &Renderer<'_>, sketch: &Sketch, of: &[usize], out: &mut Drawing) {
    let (names, frame) = (&renderer.names, out.nodes.len());
    let process = &renderer.net.processes[of[0]];
    out.nodes.push(DrawnNode { lines: vec![sketch.name.clone()], shape: NodeShape::Frame, ..DrawnNode::default() });
    // Whoever has placed everything has seen to it that it can be read.
    let labels_of = |all: &[Label]| all.iter().all(|l| l.at.is_some());
    let placed = sketch.locations.iter().all(|s| s.at.is_some() && labels_of(&s.labels))
        && sketch.edges.iter().all(|e| labels_of(&e.labels));
    for (l, (spot, location)) in sketch.locations.iter().zip(&process.locations).enumerate() {
        let (mut lines, lines_at) = labels(&spot.labels);
        if !placed {
            lines.extend(location.committed.then(|| "committed".into()));
            lines.extend((location.urgent && !location.committed).then(|| "urgent".into()));
        }
        let lit = of.iter().map(|&p| (names.processes[p].clone(), Some(names.locations[p][l].clone()))).collect();
        out.nodes.push(DrawnNode {
            lines,
            within: Some(frame),
            shape: shape(location),
            at: spot.at.filter(|_| placed),
            lines_at: if placed { lines_at } else { vec![] },
            color: spot.color.clone(),
            lit,
        });
    }
    start(process, frame, out);
    for arrow in &sketch.edges {
        let (lines, lines_at) = labels(&arrow.labels);
        let (nails, lines_at) = if placed { (arrow.nails.clone(), lines_at) } else { (vec![], vec![]) };
        let (from, to) = (frame + 1 + arrow.source, frame + 1 + arrow.target);
        out.edges.push(DrawnEdge { from, to, lines, nails, lines_at, color: arrow.color.clone() });
    }
}

/// A point, whose arrow leads to where a process starts.
fn start(process: &Process, frame: usize, out: &mut Drawing) {
    let (from, to) = (out.nodes.len(), frame + 1 + process.init as usize);
    out.edges.push(DrawnEdge { from, to, ..DrawnEdge::default() });
    out.nodes.push(DrawnNode { within: Some(frame), shape: NodeShape::Start, ..DrawnNode::default() });
}

/// The network.
pub(super) fn drawing(net: &Network) -> Drawing {
    let renderer = Renderer::new(net);
    let mut out = Drawing::default();
    for (p, process) in net.processes.iter().enumerate() {
        if let Some(sketch) = &process.sketch {
            let same = |q: &usize| net.processes[*q].sketch.as_ref().is_some_and(|s| Arc::ptr_eq(s, sketch));
            let of: Vec<usize> = (0..net.processes.len()).filter(same).collect();
            if of[0] == p {
                template(&renderer, sketch, &of, &mut out);
            }
            continue;
        }
        let frame = out.nodes.len();
        let name = &renderer.names.processes[p];
        out.nodes.push(DrawnNode { lines: vec![name.clone()], shape: NodeShape::Frame, ..DrawnNode::default() });
        for (l, location) in process.locations.iter().enumerate() {
            let called = &renderer.names.locations[p][l];
            let shape = shape(location);
            let lit = vec![(name.clone(), Some(called.clone()))];
            let lines = location_label(net, called, location);
            out.nodes.push(DrawnNode { lines, within: Some(frame), shape, lit, ..DrawnNode::default() });
        }
        start(process, frame, &mut out);
        let mut drawn: BTreeMap<u32, Vec<&Edge>> = BTreeMap::new();
        process.edges.iter().for_each(|e| drawn.entry(e.origin).or_default().push(e));
        for instances in drawn.values() {
            let (source, target) = (instances[0].source as usize, instances[0].target as usize);
            let lines = label::edges(net, instances);
            out.edges.push(DrawnEdge {
                from: frame + 1 + source,
                to: frame + 1 + target,
                lines,
                ..DrawnEdge::default()
            });
        }
    }
    out
}
