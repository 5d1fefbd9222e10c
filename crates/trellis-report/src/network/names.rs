//! The names of a network's parts, made unique: a reader, and a JSON object, must be able to tell them apart.

use trellis_model::network::Network;

use crate::words::unique;

/// What the parts of a network are called.
#[derive(Debug)]
pub(crate) struct Names {
    /// Processes, in order.
    pub processes: Vec<String>,
    /// The locations of each process.
    pub locations: Vec<Vec<String>>,
    /// Data cells, in order.
    pub cells: Vec<String>,
    /// Lattice variables, in order.
    pub lattices: Vec<String>,
    /// Clocks, in order: that of number `i` is at `i - 1`.
    pub clocks: Vec<String>,
}

impl Names {
    pub fn new(net: &Network) -> Names {
        let locations = |p: &trellis_model::network::Process| unique(p.locations.iter().map(|l| l.name.clone()));
        // All of them are values of a run, and told apart there by their names alone.
        let kinds: [Vec<String>; 4] = [
            net.processes.iter().map(|p| p.name.clone()).collect(),
            net.cell_names().into_iter().collect(),
            net.lattices.iter().map(|l| l.name.clone()).collect(),
            net.clocks.clone(),
        ];
        let lengths = kinds.each_ref().map(Vec::len);
        let mut all = unique(kinds.into_iter().flatten()).into_iter();
        let [processes, cells, lattices, clocks] = lengths.map(|n| all.by_ref().take(n).collect());
        Names { processes, locations: net.processes.iter().map(locations).collect(), cells, lattices, clocks }
    }
}
