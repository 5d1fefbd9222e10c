//! States from outside: do they fit the network, and how would a reader write them down?

use std::fmt::Write;

use trellis_model::network::interpret::timed::is_clock_value;
use trellis_model::network::{Action, Network, Snapshot};
use trellis_order::Shown;

use crate::{Cause, Rejection};

/// Is this a state of the network: as many parts as it needs, each within its bounds? What passes can be packed,
/// interpreted and compared without surprises.
pub(crate) fn check(net: &Network, s: &Snapshot) -> Result<(), Rejection> {
    let malformed = |what: String| Err(Rejection::new(Cause::Malformed(what)).state(net, s));
    if s.locations.len() != net.processes.len() {
        return malformed(format!("{} locations for {} processes", s.locations.len(), net.processes.len()));
    }
    for (p, &l) in net.processes.iter().zip(&s.locations) {
        if l as usize >= p.locations.len() {
            return malformed(format!("process `{}` has no location number {l}", p.name));
        }
    }
    let cells: usize = net.vars.iter().map(|v| v.init.len()).sum();
    if s.data.len() != cells {
        return malformed(format!("{} values for {cells} data cells", s.data.len()));
    }
    let mut data = s.data.iter();
    for v in &net.vars {
        for n in data.by_ref().take(v.init.len()) {
            if !(v.lo..=v.hi).contains(n) {
                return malformed(format!("{n} is outside the range {} to {} of `{}`", v.lo, v.hi, v.name));
            }
        }
    }
    if s.element.len() != net.element_width() {
        return malformed(format!("{} words for an element of {}", s.element.len(), net.element_width()));
    }
    for l in &net.lattices {
        let words = &s.element[l.offset..l.offset + l.lattice.width()];
        if !l.lattice.is_element(words) {
            return malformed(format!("{words:?} is no element of `{}` for `{}`", l.lattice.name(), l.name));
        }
    }
    Ok(())
}

/// Has each clock a value in this state of a run, and a reasonable one?
pub(crate) fn check_clocks(net: &Network, s: &Snapshot) -> Result<(), Rejection> {
    let malformed = |what: String| Err(Rejection::new(Cause::Malformed(what)).state(net, s));
    if s.clocks.len() != net.clocks.len() {
        return malformed(format!("{} values for {} clocks", s.clocks.len(), net.clocks.len()));
    }
    match net.clocks.iter().zip(&s.clocks).find(|(_, v)| !is_clock_value(**v)) {
        Some((name, value)) => malformed(format!("`{name}` cannot be {value}")),
        None => Ok(()),
    }
}

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
