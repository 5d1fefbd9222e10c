//! Entries whose elements are above that of a state: for certificates up to the order, of models with lattice variables beside clocks.

use rustc_hash::FxHashMap;
use trellis_model::network::{Elements, Network, Snapshot};
use trellis_order::{Domain, Word};

use super::Entry;

/// Locations and data.
type Discrete<'a> = (&'a [u32], &'a [i64]);

/// The entries by their locations and data, each with its element.
pub(super) struct Above<'a> {
    order: Elements,
    by: FxHashMap<Discrete<'a>, Vec<(&'a [Word], usize)>>,
}

impl<'a> Above<'a> {
    pub fn new(net: &Network, entries: &[Entry<'a>]) -> Above<'a> {
        let mut by: FxHashMap<Discrete<'a>, Vec<(&'a [Word], usize)>> = FxHashMap::default();
        for (i, e) in entries.iter().enumerate() {
            by.entry((&e.state.locations, &e.state.data)).or_default().push((&e.state.element, i));
        }
        Above { order: net.elements(), by }
    }

    /// The numbers of the entries that stand for a state, if clocks are right.
    pub fn of(&self, state: &Snapshot) -> Vec<usize> {
        let here = self.by.get(&(&state.locations[..], &state.data[..])).map_or(&[][..], Vec::as_slice);
        here.iter().filter(|(above, _)| self.order.leq(&state.element, above)).map(|&(_, i)| i).collect()
    }
}
