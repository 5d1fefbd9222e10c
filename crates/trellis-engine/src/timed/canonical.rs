//! The zone graph up to symmetry: the orbit representative of what a discrete transition leads to, and back again.
//!
//! Locations and data are sorted first ([`Symmetry::sort`]); swaps that leave them as they are then sort the zone. The latter
//! only where zones are compared up to `a⊑LU`: there zones are exact, so whoever checks the certificate can find the
//! same order again. A path through sorted states becomes a run by undoing all swaps on the way.

use trellis_domain::zone::{Bound, Constraint};
use trellis_model::network::symmetry::Symmetry;
use trellis_model::network::{Layout, ModelError, Network, Transition};
use trellis_order::Word;

use super::space::ActiveClocks;

/// Finds orbit representatives of what discrete transitions lead to. Holds the latest one.
#[derive(Debug)]
pub struct Canonical {
    /// The symmetries.
    pub symmetry: Symmetry,
    /// The swaps that the latest target needed, in order.
    pub word: Vec<u16>,
    /// Its key.
    pub key: Vec<Word>,
    /// Its invariant.
    pub invariant: Vec<Constraint>,
    cells: Vec<i64>,
    fixing: Vec<u16>,
}

impl Canonical {
    /// By these symmetries.
    pub fn new(symmetry: Symmetry, layout: &Layout) -> Canonical {
        Canonical {
            symmetry,
            word: Vec::new(),
            key: vec![0; layout.key_width()],
            invariant: Vec::new(),
            cells: vec![0; layout.key_cells()],
            fixing: Vec::new(),
        }
    }

    /// The key and the invariant of a move's target, sorted.
    pub fn sort(&mut self, layout: &Layout, m: &Transition<'_>) {
        layout.unpack(m.key, &mut self.cells);
        self.word.clear();
        self.symmetry.sort(&mut self.cells, &mut self.word);
        self.invariant.clear();
        if self.word.is_empty() {
            self.key.copy_from_slice(m.key);
            self.invariant.extend_from_slice(m.invariant);
            return;
        }
        layout.pack(&self.cells, &mut self.key);
        let clock = |c| self.symmetry.clock(&self.word, c);
        let image = |c: &Constraint| Constraint { left: clock(c.left), right: clock(c.right), bound: c.bound };
        self.invariant.extend(m.invariant.iter().map(image));
    }

    /// Sorts the latest target's zone.
    pub fn sort_zone(&mut self, active: ActiveClocks<'_>, zone: &mut [Bound]) {
        self.symmetry.fixing(&self.cells, &mut self.fixing);
        self.symmetry.sort_zone(&self.fixing, active.clocks, zone, &mut self.word);
    }
}

/// Constraints on clocks as they were before some swaps.
pub fn constraints_before(symmetry: &Symmetry, word: &[u16], constraints: &[Constraint]) -> Vec<Constraint> {
    let clock = |c| symmetry.clock_before(word, c);
    constraints.iter().map(|c| Constraint { left: clock(c.left), right: clock(c.right), bound: c.bound }).collect()
}

/// What went wrong, in the state as it was before some swaps.
pub fn error_before(net: &Network, symmetry: &Symmetry, word: &[u16], mut error: ModelError) -> ModelError {
    let locations = error.state.locations.iter().map(|&l| i64::from(l));
    let mut cells: Vec<i64> = locations.chain(error.state.data.iter().copied()).collect();
    symmetry.cells_before(word, &mut cells);
    let (locations, data) = cells.split_at(net.processes.len());
    error.state.locations = locations.iter().map(|&l| l as u32).collect();
    error.state.data = data.to_vec();
    error.action = symmetry.action_before(net, word, &error.action.0);
    error
}
