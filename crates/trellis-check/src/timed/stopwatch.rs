//! Clocks that stand still while others run.
//!
//! Whatever a set of valuations becomes, clocks that run stay as far from each other as they were, so do clocks that stand still, and the latter
//! fall behind the former. These constraints are kept, and all others are dropped: a zone that has at least what can be
//! reached. That bounds cannot tell valuations apart stays true, for each clock alone: two clocks that run grow by the same, two that
//! stand still stay.

use trellis_model::network::{Network, Query};

use crate::dbm::Dbm;

/// A zone that has all that another becomes while time passes and some clocks stand still.
pub(super) fn later(zone: &Dbm, stopped: &[u32]) -> Dbm {
    let stands = |clock: usize| clock == 0 || stopped.contains(&(clock as u32));
    let mut later = Dbm::universe(zone.dim() - 1);
    for left in 0..zone.dim() {
        for right in (0..zone.dim()).filter(|&right| stands(left) || !stands(right)) {
            later.constrain(left, right, zone.get(left, right));
        }
    }
    if zone.is_empty() { zone.clone() } else { later }
}

/// Does the model or the question compare differences of clocks?
pub(super) fn compares_differences(net: &Network, query: &Query) -> bool {
    let edges = net.processes.iter().flat_map(|p| &p.edges).flat_map(|e| &e.clock_guard);
    let locations = net.processes.iter().flat_map(|p| &p.locations).flat_map(|l| &l.clock_invariant);
    let asked = query.atoms.iter().map(|(_, atom)| atom);
    edges.chain(locations).chain(asked).any(|a| a.left != 0 && a.right != 0)
}
