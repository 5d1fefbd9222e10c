//! Networks as pictures: a frame for each process, an arrow for each edge of the source, however many values its selects take.

use std::collections::BTreeMap;

use trellis_model::network::{Edge, Location, Network};

use super::{Renderer, label};
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

/// The network.
pub(super) fn drawing(net: &Network) -> Drawing {
    let renderer = Renderer::new(net);
    let mut out = Drawing::default();
    for (p, process) in net.processes.iter().enumerate() {
        let frame = out.nodes.len();
        let name = &renderer.names.processes[p];
        out.nodes.push(DrawnNode { lines: vec![name.clone()], shape: NodeShape::Frame, ..DrawnNode::default() });
        for (l, location) in process.locations.iter().enumerate() {
            let called = &renderer.names.locations[p][l];
            let shape = match (location.committed, location.urgent) {
                (true, _) => NodeShape::Committed,
                (_, true) => NodeShape::Urgent,
                _ => NodeShape::Plain,
            };
            let lit = vec![(name.clone(), Some(called.clone()))];
            let lines = location_label(net, called, location);
            out.nodes.push(DrawnNode { lines, within: Some(frame), shape, lit, ..DrawnNode::default() });
        }
        let start = DrawnNode { within: Some(frame), shape: NodeShape::Start, ..DrawnNode::default() };
        let (from, to) = (out.nodes.len(), frame + 1 + process.init as usize);
        out.edges.push(DrawnEdge { from, to, ..DrawnEdge::default() });
        out.nodes.push(start);
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
