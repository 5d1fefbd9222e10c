//! Clocks by lazily propagated bounds (Herbreteau, Srivathsan, Walukiewicz, *Lazy abstractions for timed automata*, 2013).
//!
//! The abstract label of a node is `a⊑LU` of its concrete zone; it is strengthened by larger bounds. A node covers another
//! if the other's zone is below its zone up to its bounds. A disabled transition adds the constants that disable it, a
//! cover the coverer's bounds; either goes up the tree, through resets, adding what guards and invariants compare.
//!
//! Not for diagonal constraints.

use trellis_domain::zone::Constraint;
use trellis_model::network::SetClock;

use super::Refiner;
use super::tree::{Leg, NONE, Tree, Try};
use crate::timed::bounds;
use crate::timed::space::origin;
use crate::timed::target::Error;

/// Bounds for each clock of the network, 0 included: all lower ones, then all upper ones.
type Lu = [i32];

fn leq(a: &Lu, b: &Lu) -> bool {
    a.iter().zip(b).fold(true, |all, (a, b)| all & (a <= b))
}

fn raise(lu: &mut Lu, other: &Lu) {
    lu.iter_mut().zip(other).for_each(|(a, b)| *a = (*a).max(*b));
}

fn compare(lu: &mut Lu, constraints: &[Constraint]) {
    let (lower, upper) = lu.split_at_mut(lu.len() / 2);
    for c in constraints {
        let Some(n) = c.bound.constant() else { continue };
        match (c.left, c.right) {
            (0, 0) => {}
            (x, 0) => upper[x as usize] = upper[x as usize].max(n.max(0)),
            (0, x) => lower[x as usize] = lower[x as usize].max((-n).max(0)),
            _ => unreachable!("bounds are not for diagonal constraints"),
        }
    }
}

/// Turns bounds that are needed after a transition into those that are needed before it.
fn before(lu: &mut Lu, t: &Leg<'_>, scratch: &mut Vec<i32>) {
    compare(lu, t.invariant);
    let dim = lu.len() / 2;
    if t.resets.iter().any(|r| matches!(r, SetClock::Copy { .. })) {
        scratch.clear();
        scratch.extend_from_slice(lu);
        lu.fill(bounds::NONE);
        for x in 1..dim {
            if let (from @ 1.., _) = origin(t.resets, x as u32) {
                for (from, x) in [(from as usize, x), (dim + from as usize, dim + x)] {
                    lu[from] = lu[from].max(scratch[x]);
                }
            }
        }
    } else {
        for r in t.resets {
            if let SetClock::Value { clock, .. } = *r {
                lu[clock as usize] = bounds::NONE;
                lu[dim + clock as usize] = bounds::NONE;
            }
        }
    }
    compare(lu, t.own);
    compare(lu, t.guard);
}

/// The factor.
#[derive(Debug)]
pub struct Bounding {
    dim: usize,
    /// The bounds of nodes that have some, and where those of each node are; `NONE` if it has none.
    bounds: Vec<i32>,
    place: Vec<u32>,
    /// What is being propagated.
    lu: Vec<i32>,
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Scratch {
    before: Vec<i32>,
    active: Vec<i32>,
}

impl Scratch {
    /// Is the zone of `n` below that of `by` up to these bounds?
    fn below(&mut self, tree: &Tree, n: u32, by: u32, lu: &Lu) -> bool {
        let active = tree.active(n);
        let (mut lower, mut upper) = lu.split_at(lu.len() / 2);
        if active.clocks.len() < lower.len() {
            self.active.clear();
            self.active.extend(active.clocks.iter().map(|&c| lower[c as usize]));
            self.active.extend(active.clocks.iter().map(|&c| upper[c as usize]));
            (lower, upper) = self.active.split_at(active.clocks.len());
        }
        active.domain().leq_alu(tree.zone(n), tree.zone(by), lower, upper)
    }
}

/// The bounds that start at a place.
fn at(bounds: &[i32], place: u32, dim: usize) -> Option<&Lu> {
    (place != NONE).then(|| &bounds[place as usize * 2 * dim..][..2 * dim])
}

impl Bounding {
    /// For so many clocks.
    pub fn new(clocks: usize) -> Bounding {
        let (dim, scratch) = (clocks + 1, Scratch::default());
        Bounding { dim, bounds: Vec::new(), place: Vec::new(), lu: vec![bounds::NONE; 2 * dim], scratch }
    }

    /// The lower and upper bounds of a node, for each clock of the network, 0 included.
    pub fn label(&self, n: u32) -> (Vec<i32>, Vec<i32>) {
        match self.get(n) {
            Some(lu) => (lu[..self.dim].to_vec(), lu[self.dim..].to_vec()),
            None => (vec![bounds::NONE; self.dim], vec![bounds::NONE; self.dim]),
        }
    }

    fn get(&self, n: u32) -> Option<&Lu> {
        at(&self.bounds, self.place[n as usize], self.dim)
    }

    /// Makes the bounds of `n` at least `self.lu`, and those of its ancestors what that needs.
    fn propagate(&mut self, tree: &mut Tree, mut n: u32) -> Result<(), Error> {
        let Bounding { dim, bounds, place, lu, scratch } = self;
        loop {
            let old = place[n as usize];
            if at(bounds, old, *dim).map_or(lu.iter().all(|&b| b == bounds::NONE), |old| leq(lu, old)) {
                return Ok(());
            }
            tree.stats.refinements += 1;
            if old == NONE {
                place[n as usize] = (bounds.len() / lu.len()) as u32;
                bounds.extend_from_slice(lu);
            } else {
                raise(&mut bounds[old as usize * lu.len()..][..2 * *dim], lu);
            }
            // Below up to the old bounds and up to the new ones is not yet below up to both: a valuation may need another
            // witness for each.
            let all = at(bounds, place[n as usize], *dim).expect("it has bounds now");
            tree.review_covers(n, |tree, m| {
                let has = at(bounds, place[m as usize], *dim).is_some_and(|own| leq(lu, own));
                Ok(has && scratch.below(tree, m, n, all))
            })?;
            let parent = tree.nodes[n as usize].parent;
            if parent == NONE {
                return Ok(());
            }
            before(lu, &tree.edge(n), &mut scratch.before);
            n = parent;
        }
    }
}

impl Refiner for Bounding {
    fn add(&mut self, _: &Tree, _: u32) {
        self.place.push(NONE);
    }

    fn proves(&mut self, tree: &Tree, n: u32, by: u32) -> bool {
        match at(&self.bounds, self.place[by as usize], self.dim) {
            Some(lu) => self.scratch.below(tree, n, by, lu),
            None => true,
        }
    }

    fn cover(&mut self, tree: &mut Tree, n: u32, by: u32) -> Result<(), Error> {
        let Some(lu) = at(&self.bounds, self.place[by as usize], self.dim) else { return Ok(()) };
        self.lu.copy_from_slice(lu);
        self.propagate(tree, n)
    }

    fn disable(&mut self, tree: &mut Tree, n: u32, t: Try) -> Result<(), Error> {
        self.lu.fill(bounds::NONE);
        before(&mut self.lu, &tree.leg(n, t), &mut self.scratch.before);
        self.propagate(tree, n)
    }
}
