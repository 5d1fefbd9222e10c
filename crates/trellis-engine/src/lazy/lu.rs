//! Clocks by lazily propagated bounds (Herbreteau, Srivathsan, Walukiewicz, *Lazy abstractions for timed automata*, 2013).
//!
//! The abstract label of a node is `a⊑LU` of its concrete zone; it is strengthened by larger bounds. A node covers another
//! if the other's zone is below its zone up to its bounds. A disabled transition adds the constants that disable it, a
//! cover the coverer's bounds; either goes up the tree, through resets, adding what guards and invariants compare.
//!
//! Not for diagonal constraints.

use trellis_domain::zone::Constraint;

use super::Refiner;
use super::tree::{Leg, NONE, Tree, Try};
use crate::timed::bounds;
use crate::timed::space::origin;
use crate::timed::target::Trouble;

/// Lower and upper bounds for each clock of the network, 0 included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lu {
    /// Lower bounds.
    pub lower: Vec<i32>,
    /// Upper bounds.
    pub upper: Vec<i32>,
}

impl Lu {
    fn none(dim: usize) -> Lu {
        Lu { lower: vec![bounds::NONE; dim], upper: vec![bounds::NONE; dim] }
    }

    fn leq(&self, other: &Lu) -> bool {
        let below = |a: &[i32], b: &[i32]| a.iter().zip(b).all(|(a, b)| a <= b);
        below(&self.lower, &other.lower) && below(&self.upper, &other.upper)
    }

    fn raise(&mut self, other: &Lu) {
        self.lower.iter_mut().zip(&other.lower).for_each(|(a, b)| *a = (*a).max(*b));
        self.upper.iter_mut().zip(&other.upper).for_each(|(a, b)| *a = (*a).max(*b));
    }

    fn compare(&mut self, constraints: &[Constraint]) {
        for c in constraints {
            let Some(n) = c.bound.constant() else { continue };
            match (c.left, c.right) {
                (0, 0) => {}
                (x, 0) => self.upper[x as usize] = self.upper[x as usize].max(n.max(0)),
                (0, x) => self.lower[x as usize] = self.lower[x as usize].max((-n).max(0)),
                _ => unreachable!("bounds are not for diagonal constraints"),
            }
        }
    }

    /// The bounds before a transition that need these bounds after it.
    fn before(&self, t: &Leg<'_>) -> Lu {
        let mut after = self.clone();
        after.compare(t.invariant);
        let mut lu = Lu::none(self.lower.len());
        for x in 1..self.lower.len() as u32 {
            if let (from @ 1.., _) = origin(t.resets, x) {
                let (lower, upper) = (&mut lu.lower[from as usize], &mut lu.upper[from as usize]);
                *lower = (*lower).max(after.lower[x as usize]);
                *upper = (*upper).max(after.upper[x as usize]);
            }
        }
        lu.compare(t.own);
        lu.compare(t.guard);
        lu
    }
}

/// The factor.
#[derive(Debug)]
pub struct Bounding {
    /// Each node's bounds; `None` if it has none.
    pub labels: Vec<Option<Box<Lu>>>,
    dim: usize,
    lower: Vec<i32>,
    upper: Vec<i32>,
}

impl Bounding {
    /// For so many clocks.
    pub fn new(clocks: usize) -> Bounding {
        Bounding { labels: Vec::new(), dim: clocks + 1, lower: Vec::new(), upper: Vec::new() }
    }

    /// Is the zone of `n` below that of `by` up to these bounds?
    fn below(&mut self, tree: &Tree, n: u32, by: u32, lu: &Lu) -> bool {
        let shape = tree.shape(n);
        self.lower.clear();
        self.lower.extend(shape.clocks.iter().map(|&c| lu.lower[c as usize]));
        self.upper.clear();
        self.upper.extend(shape.clocks.iter().map(|&c| lu.upper[c as usize]));
        shape.domain().leq_alu(tree.zone(n), tree.zone(by), &self.lower, &self.upper)
    }

    fn propagate(&mut self, tree: &mut Tree, mut n: u32, mut lu: Lu) -> Result<(), Trouble> {
        loop {
            if self.labels[n as usize].as_ref().is_some_and(|old| lu.leq(old)) || lu == Lu::none(self.dim) {
                return Ok(());
            }
            tree.stats.refinements += 1;
            let all = match self.labels[n as usize].take() {
                Some(mut old) => {
                    old.raise(&lu);
                    old
                }
                None => Box::new(lu.clone()),
            };
            // Below up to the old bounds and up to the new ones is not yet below up to both: a valuation may need another
            // witness for each.
            tree.review_covers(n, |tree, m| {
                let has = self.labels[m as usize].as_ref().is_some_and(|own| lu.leq(own));
                Ok(has && self.below(tree, m, n, &all))
            })?;
            self.labels[n as usize] = Some(all);
            let node = &tree.nodes[n as usize];
            if node.parent == NONE {
                return Ok(());
            }
            lu = lu.before(&tree.edge(n));
            n = node.parent;
        }
    }
}

impl Refiner for Bounding {
    fn add(&mut self, _: &Tree, _: u32) {
        self.labels.push(None);
    }

    fn proves(&mut self, tree: &Tree, n: u32, by: u32) -> bool {
        let Some(lu) = self.labels[by as usize].take() else { return true };
        let below = self.below(tree, n, by, &lu);
        self.labels[by as usize] = Some(lu);
        below
    }

    fn cover(&mut self, tree: &mut Tree, n: u32, by: u32) -> Result<(), Trouble> {
        match self.labels[by as usize].as_deref().cloned() {
            Some(lu) => self.propagate(tree, n, lu),
            None => Ok(()),
        }
    }

    fn disable(&mut self, tree: &mut Tree, n: u32, t: Try) -> Result<(), Trouble> {
        let lu = Lu::none(self.dim).before(&tree.leg(n, t));
        self.propagate(tree, n, lu)
    }
}
