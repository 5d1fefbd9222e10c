//! The names of a network's parts, made unique: a reader, and a JSON object, must be able to tell them apart.

use rustc_hash::FxHashSet;
use trellis_model::network::Network;

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
        Names {
            processes: unique(net.processes.iter().map(|p| p.name.clone())),
            locations: net.processes.iter().map(locations).collect(),
            cells: unique(net.cell_names()),
            lattices: unique(net.lattices.iter().map(|l| l.name.clone())),
            clocks: unique(net.clocks.iter().cloned()),
        }
    }
}

/// A name that was there before gets a number: `x`, `x#2`. Front ends see to it that this is rare.
pub(crate) fn unique(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let mut out: Vec<String> = Vec::new();
    for name in names {
        let mut candidate = name.clone();
        let mut n = 1;
        while !seen.insert(candidate.clone()) {
            n += 1;
            candidate = format!("{name}#{n}");
        }
        out.push(candidate);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::unique;

    #[test]
    fn names_that_repeat_are_numbered() {
        let names = ["x", "y", "x", "x#2", "x"].map(String::from);
        assert_eq!(unique(names), ["x", "y", "x#2", "x#2#2", "x#3"]);
    }
}
