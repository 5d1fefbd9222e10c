//! Networks as pictures: a frame for each process, an arrow for each edge of the source, however many values its selects take.

use std::collections::BTreeMap;
use std::fmt::Write;

use trellis_model::network::{Edge, Location, Network};

use super::{Renderer, label};
use crate::present::{Drawing, DrawnEdge, DrawnNode, NodeShape};
use crate::words::{cut, graph, quote};

/// A network: one cluster per process, one arrow per edge of the source, however many values its selects take.
pub fn dot(net: &Network, name: &str) -> String {
    let renderer = Renderer::new(net);
    let mut out = graph(name);
    for (p, process) in net.processes.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{p} {{\n    label={};", quote(&[&renderer.names.processes[p]]));
        for (l, location) in process.locations.iter().enumerate() {
            let (lines, style) = location_label(net, &renderer.names.locations[p][l], location);
            let _ = writeln!(out, "    p{p}_{l} [label={}{style}];", quote(&lines));
        }
        let _ = writeln!(out, "    p{p}_start [shape=point, label=\"\"];\n    p{p}_start -> p{p}_{};", process.init);
        let mut drawn: BTreeMap<u32, Vec<&Edge>> = BTreeMap::new();
        for e in &process.edges {
            drawn.entry(e.origin).or_default().push(e);
        }
        for instances in drawn.values() {
            let (source, target) = (instances[0].source, instances[0].target);
            let lines = label::edges(net, instances);
            let _ = writeln!(out, "    p{p}_{source} -> p{p}_{target} [label={}];", quote(&lines));
        }
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn location_label(net: &Network, name: &str, l: &Location) -> (Vec<String>, &'static str) {
    let mut lines = vec![name.to_string()];
    let style = match (l.committed, l.urgent) {
        (true, _) => {
            lines.push("committed".into());
            ", peripheries=2"
        }
        (_, true) => {
            lines.push("urgent".into());
            ", style=dashed"
        }
        _ => "",
    };
    lines.extend(l.invariant.and_then(|c| label::condition(net, c)).map(|text| cut(&text)));
    lines.extend(label::clock_guard(net, &l.clock_invariant).map(|text| cut(&text)));
    (lines, style)
}

/// The network, for all other pictures.
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
                _ if process.init == l as u32 => NodeShape::Initial,
                _ => NodeShape::Plain,
            };
            let lit = Some((name.clone(), Some(called.clone())));
            let (lines, _) = location_label(net, called, location);
            out.nodes.push(DrawnNode { lines, within: Some(frame), shape, at: None, lit });
        }
        let mut drawn: BTreeMap<u32, Vec<&Edge>> = BTreeMap::new();
        process.edges.iter().for_each(|e| drawn.entry(e.origin).or_default().push(e));
        for instances in drawn.values() {
            let (source, target) = (instances[0].source as usize, instances[0].target as usize);
            let lines = label::edges(net, instances);
            out.edges.push(DrawnEdge { from: frame + 1 + source, to: frame + 1 + target, lines });
        }
    }
    out
}
