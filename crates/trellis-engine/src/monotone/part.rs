//! The parts of lattice variables: where each starts, which lattice it belongs to, and what its order has to do with the
//! order of the whole.

use std::sync::Arc;

use trellis_model::network::Network;
use trellis_order::{Composition, Lattice, Shape};

/// With more parts than this nothing is proved.
const MAX_PARTS: usize = 1 << 16;

/// A lattice variable, or something in it.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The variable it belongs to.
    pub var: usize,
    /// Its first word.
    pub offset: usize,
    pub lattice: Arc<dyn Lattice>,
    /// Whether a larger whole has a larger part.
    pub shown: bool,
    /// Whether the whole stays larger when only the part is changed, and stays larger.
    pub kept: bool,
}

impl Part {
    /// Is it of this lattice? Two scripts may have the same name.
    pub fn is_like(&self, lattice: &Arc<dyn Lattice>) -> bool {
        Arc::ptr_eq(&self.lattice, lattice)
            || (self.lattice.is_vouched_for() && lattice.is_vouched_for() && self.lattice.name() == lattice.name())
    }
}

/// All parts of all variables, unless there are too many.
pub(super) fn parts(net: &Network) -> Option<Vec<Part>> {
    let mut found = Vec::new();
    for (var, l) in net.lattices.iter().enumerate() {
        let lattice = l.lattice.clone();
        descend(Part { var, offset: l.offset, lattice, shown: true, kept: true }, &mut found)?;
    }
    Some(found)
}

fn descend(part: Part, found: &mut Vec<Part>) -> Option<()> {
    if found.len() >= MAX_PARTS {
        return None;
    }
    let whole = part.lattice.clone();
    let (var, shown, kept) = (part.var, part.shown, part.kept);
    let start = part.offset;
    found.push(part);
    let inner = |i: usize, offset: usize, lattice: Arc<dyn Lattice>| {
        let (shown, kept) = match (whole.composition(), i) {
            (Composition::Pointwise, _) => (shown, kept),
            (Composition::FirstDecides, 0) => (shown, false),
            (Composition::FirstDecides, 1) => (false, kept),
            _ => (false, false),
        };
        Part { var, offset: start + offset, lattice, shown, kept }
    };
    match whole.shape() {
        Shape::Leaf | Shape::Bits(_) => {}
        Shape::Vector(n, entry) => {
            for i in 0..n {
                descend(inner(i, i * entry.width(), entry.clone()), found)?;
            }
        }
        Shape::Fields(fields) => {
            for (i, (_, at, lattice)) in fields.iter().enumerate() {
                descend(inner(i, *at, lattice.clone()), found)?;
            }
        }
    }
    Some(())
}
