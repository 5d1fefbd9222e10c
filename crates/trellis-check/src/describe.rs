//! States and steps of a network as a reader knows them, for the texts of rejections.

use std::fmt::Write;

use trellis_model::network::{Action, Network, Snapshot};
use trellis_order::Shown;

/// A state as a reader knows it: `P.idle, Q.busy; n = 2, seen = {0, 1}; pool = {1, 3}; x = 1/2`. Parts that do not fit the network
/// are shown as they are.
pub fn describe(net: &Network, s: &Snapshot) -> String {
    let mut parts = Vec::new();
    let locations = s.locations.iter().enumerate().map(|(p, &l)| match net.processes.get(p) {
        Some(process) => match process.locations.get(l as usize) {
            Some(location) => format!("{}.{}", process.name, location.name),
            None => format!("{}.{l}", process.name),
        },
        None => format!("?.{l}"),
    });
    parts.push(locations.collect::<Vec<_>>().join(", "));
    let mut data = s.data.as_slice();
    let mut shown = Vec::new();
    for v in &net.vars {
        let (cells, rest) = data.split_at(v.init.len().min(data.len()));
        data = rest;
        let cell = |n: &i64| match n {
            0 | 1 if v.is_bool => (*n == 1).to_string(),
            n => n.to_string(),
        };
        let cells: Vec<String> = cells.iter().map(cell).collect();
        shown.push(match &cells[..] {
            [one] if v.init.len() == 1 => format!("{} = {one}", v.name),
            all => format!("{} = {{{}}}", v.name, all.join(", ")),
        });
    }
    shown.extend(data.iter().map(|n| format!("? = {n}")));
    parts.push(shown.join(", "));
    let lattice = |l: &trellis_model::network::LatticeVar| {
        let mut text = format!("{} = ", l.name);
        match s.element.get(l.offset..l.offset + l.lattice.width()) {
            Some(words) if l.lattice.is_element(words) => _ = write!(text, "{}", Shown(&*l.lattice, words)),
            Some(words) => _ = write!(text, "{words:?}"),
            None => text.push('?'),
        }
        text
    };
    parts.push(net.lattices.iter().map(lattice).collect::<Vec<_>>().join(", "));
    let clock = |(i, v): (usize, &_)| format!("{} = {v}", net.clocks.get(i).map_or("?", String::as_str));
    parts.push(s.clocks.iter().enumerate().map(clock).collect::<Vec<_>>().join(", "));
    parts.retain(|p| !p.is_empty());
    parts.join("; ")
}

/// A step as a reader knows it: `P: idle -> busy (m.xta:4:1, i = 2); Q: a -> b (m.xta:9:1)`.
pub fn describe_action(net: &Network, a: &Action) -> String {
    let edge = |e: &trellis_model::network::EdgeRef| {
        let process = net.processes.get(e.process as usize);
        let Some((p, edge)) = process.and_then(|p| Some((p, p.edges.get(e.edge as usize)?))) else {
            return format!("no edge {} of process {}", e.edge, e.process);
        };
        let name = |l: u32| p.locations.get(l as usize).map_or("?", |l| l.name.as_str());
        let select = edge.select.iter().map(|(n, v)| format!("{n} = {v}"));
        let notes: Vec<String> = std::iter::once(edge.place.to_string()).chain(select).collect();
        format!("{}: {} -> {} ({})", p.name, name(edge.source), name(edge.target), notes.join(", "))
    };
    a.0.iter().map(edge).collect::<Vec<_>>().join("; ")
}
