//! States from outside: do they fit the network?

use trellis_model::network::interpret::timed::is_clock_value;
use trellis_model::network::{Network, Snapshot};

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
