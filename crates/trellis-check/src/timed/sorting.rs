//! Where steps lead, in order: for certificates up to symmetry.

use trellis_model::network::Snapshot;

use super::{Checker, Entry};
use crate::dbm::Dbm;
use crate::symmetric;

impl<'a> Checker<'a> {
    /// A state in order, and the swaps that it took.
    pub(super) fn in_order(&self, state: &Snapshot) -> (Snapshot, Vec<u16>) {
        if self.symmetry.is_empty() { (state.clone(), Vec::new()) } else { symmetric::sorted(self.symmetry, state) }
    }

    /// A zone after these swaps, and then in order.
    pub(super) fn sorted_zone(&self, zone: Dbm, state: &Snapshot, targets: &[&Entry<'a>], word: &mut Vec<u16>) -> Dbm {
        if self.symmetry.is_empty() {
            return zone;
        }
        let zone = symmetric::renamed_zone(self.symmetry, word, &zone);
        let Some(bounds) = targets.iter().find_map(|t| t.bounds) else { return zone };
        let mut more = Vec::new();
        symmetric::sort_zone(self.symmetry, state, bounds, &zone, &mut more);
        let zone = symmetric::renamed_zone(self.symmetry, &more, &zone);
        word.append(&mut more);
        zone
    }
}
