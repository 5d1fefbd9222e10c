//! Where steps lead, in order: for certificates up to symmetry.

use trellis_domain::zone::Zone;
use trellis_model::network::Snapshot;
use trellis_order::Word;

use super::{Checker, Entry};
use crate::symmetric;

impl<'a> Checker<'a> {
    /// A key in order, the state that it is, and the swaps that it took.
    pub(super) fn in_order(&self, key: &[Word]) -> (Vec<Word>, Snapshot, Vec<u16>) {
        if self.symmetry.is_empty() {
            return (key.to_vec(), Snapshot::default(), Vec::new());
        }
        let (state, word) = symmetric::sorted(self.symmetry, &self.post.layout.snapshot(self.net, key, &[]));
        (self.post.layout.key_of(&state), state, word)
    }

    /// A zone after these swaps, and then in order.
    pub(super) fn sorted_zone(
        &self,
        zone: Zone,
        state: &Snapshot,
        targets: &[&Entry<'a>],
        word: &mut Vec<u16>,
    ) -> Zone {
        if self.symmetry.is_empty() {
            return zone;
        }
        let zone = symmetric::renamed_zone(self.symmetry, word, self.domain, &zone);
        let Some(bounds) = targets.iter().find_map(|t| t.bounds) else { return zone };
        let mut more = Vec::new();
        symmetric::sort_zone(self.symmetry, state, bounds, &mut zone.clone(), &mut more);
        let zone = symmetric::renamed_zone(self.symmetry, &more, self.domain, &zone);
        word.append(&mut more);
        zone
    }
}
