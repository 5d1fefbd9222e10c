//! Clocks that stand still while others run.
//!
//! Whatever a set of valuations becomes, clocks that run stay as far from each other as they were, so do clocks that stand still, and the latter
//! fall behind the former. These constraints are kept, and all others are dropped: a zone that has at least what can be
//! reached. That bounds cannot tell valuations apart stays true, for each clock alone: two clocks that run grow by the same, two that
//! stand still stay.

use trellis_domain::zone::{Constraint, Zone, ZoneDomain, ZoneError};
use trellis_model::network::{Network, Query};

/// A zone that has all that another becomes while time passes and some clocks stand still.
pub(super) fn later(domain: ZoneDomain, zone: &Zone, stopped: &[u32]) -> Result<Zone, ZoneError> {
    let dim = domain.dim() as u32;
    let stands = |clock: u32| clock == 0 || stopped.contains(&clock);
    let pairs = (0..dim).flat_map(|left| (0..dim).map(move |right| (left, right)));
    let kept = pairs.filter(|&(left, right)| left != right && (stands(left) || !stands(right)));
    let bound = |left: u32, right: u32| domain.get(zone, left as usize, right as usize);
    let all: Vec<Constraint> =
        kept.map(|(left, right)| Constraint { left, right, bound: bound(left, right) }).collect();
    Zone::build(domain.dim() - 1, &all)
}

/// Does the model or the question compare differences of clocks?
pub(super) fn compares_differences(net: &Network, query: &Query) -> bool {
    let edges = net.processes.iter().flat_map(|p| &p.edges).flat_map(|e| &e.clock_guard);
    let locations = net.processes.iter().flat_map(|p| &p.locations).flat_map(|l| &l.clock_invariant);
    let asked = query.atoms.iter().map(|(_, atom)| atom);
    edges.chain(locations).chain(asked).any(|a| a.left != 0 && a.right != 0)
}
