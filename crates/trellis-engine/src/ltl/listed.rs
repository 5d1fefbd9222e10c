//! The product state by state, as [`crate::program::explicit`] lists states: compiled, and only what is live. A fair cycle is a lasso; if
//! there is none, the states are the proof.
//!
//! What it deliberately does not do: go on where states cannot be listed. Then values are followed by abstraction, as everywhere else.

use trellis_model::cfa::Cfa;
use trellis_model::cfa::interpret::Trace;
use trellis_model::evidence::Reason;
use trellis_model::ltl::Buchi;
use trellis_model::ltl::evidence::Proof;

use super::search::{self, Search, Space};
use crate::program::explicit::States;
use trellis_meter::{Meter, Stats};

/// What was found.
pub enum Found {
    /// A run, and how many of its steps come before those that repeat.
    Run(Trace, usize),
    /// There is no fair run. Its locations are those of the large product.
    Proof(Box<Proof>),
}

struct Listed<'a, 'm> {
    states: States<'a>,
    /// The marks of the large locations, and all of them.
    marks: &'a [u64],
    all: u64,
    meter: &'m mut Meter,
}

impl Space for Listed<'_, '_> {
    type Error = Reason;

    fn roots(&mut self) -> Result<Vec<u32>, Reason> {
        Ok(self.states.roots())
    }

    fn successors(&mut self, n: u32) -> Result<Vec<(u32, u32)>, Reason> {
        self.states.successors(n, self.meter)
    }

    fn marks(&self, n: u32) -> u64 {
        self.marks[self.states.location(n).index()]
    }

    fn all_marks(&self) -> u64 {
        self.all
    }
}

/// Has the product, in large blocks, a fair run?
pub fn check(
    large: &Cfa,
    (marks, all): (&[u64], u64),
    automaton: &Buchi,
    how: Search,
    stats: &mut Stats,
    meter: &mut Meter,
) -> Result<Found, Reason> {
    let states = States::new(large, meter)?;
    let mut listed = Listed { states, marks, all, meter };
    let found = search::find(&mut listed, how);
    *stats = listed.states.stats();
    match found? {
        Some(path) => {
            // What is dead where the cycle begins has its value for good after one round.
            let steps = [&path.stem[..], &path.cycle, &path.cycle].concat();
            let trace = listed.states.run(path.root, &steps)?;
            Ok(Found::Run(trace, path.stem.len() + path.cycle.len()))
        }
        None => {
            let mut terms = large.terms.clone();
            let count = listed.states.count();
            let (mut nodes, mut edges) = (vec![], vec![]);
            for n in 0..count {
                nodes.push((listed.states.location(n), listed.states.said(&mut terms, n)));
                edges.extend(listed.states.successors(n, listed.meter)?.into_iter().map(|(_, m)| (n, m)));
            }
            edges.sort_unstable();
            edges.dedup();
            let proof = Proof { automaton: automaton.clone(), terms, nodes, edges, rankings: vec![] };
            Ok(Found::Proof(Box::new(proof)))
        }
    }
}
