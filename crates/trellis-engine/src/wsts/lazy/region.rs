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

/// All predicates, each filed under one of its variables: one that is below a vector mentions no variable that the vector does not.
#[derive(Default)]
pub struct Predicates {
    all: Vec<Vector>,
    /// For each variable those filed under it, in the order of their numbers.
    under: Vec<Vec<Pred>>,
    /// The one of nothing, if it is there.
    zero: Option<Pred>,
}

impl Predicates {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn get(&self, p: Pred) -> &Vector {
        &self.all[p as usize]
    }

    pub fn push(&mut self, v: Vector) -> Pred {
        let id = self.all.len() as Pred;
        let most = v.entries().last().map_or(0, |e| e.0 as usize + 1);
        if self.under.len() < most {
            self.under.resize(most, vec![]);
        }
        match v.iter().map(|e| e.0).min_by_key(|x| self.under[*x as usize].len()) {
            Some(x) => self.under[x as usize].push(id),
            None => self.zero = Some(id),
        }
        self.all.push(v);
        id
    }

    /// Is one of these below the vector?
    pub fn some_below(&self, v: &Vector, among: &Bits) -> bool {
        let is_below = |p: &Pred| among.contains(*p) && self.get(*p).leq(v);
        self.zero.is_some_and(|z| among.contains(z))
            || v.iter().any(|(x, _)| self.under.get(x as usize).is_some_and(|list| list.iter().any(is_below)))
    }

    /// Which of them are below the vector, from this number on.
    fn below(&self, v: &Vector, from: usize, out: &mut Vec<Pred>) {
        if let Some(z) = self.zero.filter(|z| *z as usize >= from) {
            out.push(z);
        }
        for (x, _) in v.iter() {
            let Some(list) = self.under.get(x as usize) else { break };
            let new = list.partition_point(|p| (*p as usize) < from);
            out.extend(list[new..].iter().copied().filter(|p| self.get(*p).leq(v)));
        }
    }
}

/// A vector, and which predicates are below it.
pub struct Cone {
    pub vector: Vector,
    /// May the system start above it?
    pub at_start: bool,
    /// In no order. There are few, so this is quicker to go through than a set with a bit for each.
    pub below: Vec<Pred>,
    /// So many predicates have been looked at.
    pub seen: usize,
}

impl Cone {
    pub fn new(system: &System, vector: Vector) -> Cone {
        Cone { at_start: system.may_start_above(&vector), vector, below: vec![], seen: 0 }
    }

    /// Looks at the predicates that are new.
    pub fn grow(&mut self, predicates: &Predicates) {
        if self.seen < predicates.len() {
            predicates.below(&self.vector, self.seen, &mut self.below);
            self.seen = predicates.len();
        }
    }

    /// Is nothing above it in the region?
    pub fn outside(&self, id: RegionId, excluded: &Bits) -> bool {
        if id == START { !self.at_start } else { self.below.iter().any(|p| excluded.contains(*p)) }
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
