//! Regions: sets of states, by the predicates that they exclude; and vectors, by the predicates that are below them.

use std::rc::Rc;

use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, RuleId, System, Vector};
use trellis_model::evidence::Reason;

use super::bits::Bits;
use crate::wsts::beyond;

/// A predicate, by position.
pub type Pred = u32;
/// A region, by position.
pub type RegionId = u32;

/// The region of the root: the start itself, not what excludes something.
pub const START: RegionId = 0;

/// A set of states, without its number.
pub struct Region {
    /// The predicates whose states are not in it; of the start, none.
    pub excluded: Rc<Bits>,
    /// All predicates that it excludes, by themselves or because it excludes a smaller one; so many have been looked at.
    pub all: Bits,
    pub seen: usize,
    /// Does it meet the target, if that has been asked?
    pub error: Option<bool>,
}

/// A vector, and which predicates are below it.
pub struct Cone {
    pub vector: Vector,
    /// May the system start above it?
    pub at_start: bool,
    pub below: Bits,
    /// So many predicates have been looked at.
    pub seen: usize,
}

impl Cone {
    pub fn new(system: &System, vector: Vector) -> Cone {
        Cone { at_start: system.may_start_above(&vector), vector, below: Bits::default(), seen: 0 }
    }

    /// Looks at the predicates that are new.
    pub fn grow(&mut self, predicates: &[Vector]) {
        for (i, p) in predicates.iter().enumerate().skip(self.seen) {
            if p.leq(&self.vector) {
                self.below.insert(i as Pred);
            }
        }
        self.seen = predicates.len();
    }

    /// Is nothing above it in the region?
    pub fn outside(&self, id: RegionId, excluded: &Bits) -> bool {
        if id == START { !self.at_start } else { self.below.meets(excluded) }
    }
}

/// The smallest states from which one of these rules leads to at least `v`.
pub fn pre_of(system: &System, rules: &[RuleId], v: &Vector) -> Result<Vec<Vector>, Reason> {
    let mut all = Basis::default();
    for r in rules {
        for p in pre(&system.rules[*r as usize], v).map_err(beyond)? {
            all.insert_minimal(p);
        }
    }
    Ok(all.iter().cloned().collect())
}

/// The smallest vectors that are above no initial state: one for each limit of the start.
pub fn above_start(system: &System) -> impl Iterator<Item = Vector> + '_ {
    let limits = system.initial.iter().enumerate();
    limits.filter_map(|(v, i)| i.high.map(|h| Vector::new(vec![(v as u32, h + 1)])))
}
