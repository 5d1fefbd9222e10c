//! Strengthening abstract labels by interpolation (002 Ch. 4, Algorithms 5–8), for any domain.
//!
//! `block(n, B)` removes `B`, which the concrete label of `n` refutes, from the abstract label of `n`, and on the way from the
//! root to `n` whatever could lead there. Backward, each node takes the interpolant of its own concrete label, and what that
//! leaves out must be blocked in the parent; forward, the parent is blocked first, and the node takes the interpolant of
//! what the parent's new label leads to.

use super::Refiner;
use super::tree::{NONE, Tree, Try};
use crate::timed::target::Error;

/// The direction in which labels are refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Algorithm 8.
    Forward,
    /// Algorithm 7.
    Backward,
    /// For the whole path at once, where the domain can do that; else forward.
    Sequence,
}

/// A domain of abstract labels, with the domain of what they can be interpolated against (002 Ch. 4).
pub trait Interpolation {
    /// An abstract label: a conjunction.
    type Label: Clone;
    /// An exact label: what a label leads to, or a concrete one.
    type Exact;
    /// What is to be blocked.
    type Bad;

    /// The coarsest label.
    fn top(&self) -> Self::Label;
    /// The concrete label of a node.
    fn concrete(&mut self, tree: &Tree, n: u32) -> Self::Exact;
    /// Does the concrete label of node `n` prove an abstract one of node `by`?
    fn proves(&mut self, tree: &Tree, n: u32, by: u32, label: &Self::Label) -> bool;
    /// Does the label exclude all of `bad`? (Both belong to node `n`.)
    fn refutes(&mut self, tree: &Tree, n: u32, label: &Self::Label, bad: &Self::Bad) -> Result<bool, Error>;
    /// Where a label of the parent of `n` leads along the edge to `n`.
    fn post(&mut self, tree: &Tree, n: u32, label: &Self::Label) -> Result<Self::Exact, Error>;
    /// From where in the parent of `n` the edge to `n` may lead to `bad`. Exact.
    fn pre(&mut self, tree: &Tree, n: u32, bad: &Self::Bad) -> Result<Self::Bad, Error>;
    /// From where in `n` a transition is possible at all.
    fn enabling(&mut self, tree: &Tree, n: u32, t: Try) -> Result<Self::Bad, Error>;
    /// A label that holds all of `a` and nothing of `bad`. None if `a` does not refute `bad` (002 asks that what refutes
    /// `pre(bad)` leads to what refutes `bad`; a domain that simplifies may see more before a step than after it).
    fn interpolant(
        &mut self,
        tree: &Tree,
        n: u32,
        a: &Self::Exact,
        bad: &Self::Bad,
    ) -> Result<Option<Self::Label>, Error>;
    /// The concrete label of a node as an abstract one.
    fn exactly(&mut self, tree: &Tree, n: u32) -> Self::Label;
    /// All that is outside a label of node `n`.
    fn complement(&mut self, tree: &Tree, n: u32, label: &Self::Label) -> Result<Vec<Self::Bad>, Error>;
    /// Keeps what is in the other too.
    fn meet(&mut self, label: &mut Self::Label, other: &Self::Label);
    /// Is every state of the first (a label of node `n`) one of the second (a label of node `of`)?
    fn leq(&mut self, tree: &Tree, n: u32, a: &Self::Label, of: u32, b: &Self::Label) -> Result<bool, Error>;
    /// Sequence interpolants: a label for each node of the path from the root to a node whose concrete label refutes `bad`, such
    /// that each leads into the next and the last has nothing of `bad`. None if the domain has none.
    fn sequence(&mut self, _: &Tree, _path: &[u32], _bad: &Self::Bad) -> Option<Vec<Self::Label>> {
        None
    }
}

/// A factor that is refined by interpolation.
#[derive(Debug)]
pub struct Interpolating<D: Interpolation> {
    /// The domain.
    pub domain: D,
    /// Each node's label.
    pub labels: Vec<D::Label>,
    direction: Direction,
}

impl<D: Interpolation> Interpolating<D> {
    /// No labels yet.
    pub fn new(domain: D, direction: Direction) -> Interpolating<D> {
        Interpolating { domain, labels: Vec::new(), direction }
    }

    /// Removes `bad`, which the concrete label of `n` refutes, from its abstract label.
    pub fn block(&mut self, tree: &mut Tree, n: u32, bad: &D::Bad) -> Result<(), Error> {
        match self.direction {
            Direction::Sequence => self.block_along(tree, n, bad),
            _ => self.block_stepwise(tree, n, bad),
        }
    }

    /// The same, one node after the other.
    fn block_stepwise(&mut self, tree: &mut Tree, n: u32, bad: &D::Bad) -> Result<(), Error> {
        match self.direction {
            Direction::Forward | Direction::Sequence => self.block_forward(tree, n, bad).map(|_| ()),
            Direction::Backward => self.block_backward(tree, n, bad),
        }
    }

    /// Sequence interpolation.
    fn block_along(&mut self, tree: &mut Tree, n: u32, bad: &D::Bad) -> Result<(), Error> {
        if self.domain.refutes(tree, n, &self.labels[n as usize], bad)? {
            return Ok(());
        }
        let path = path_to(tree, n);
        let Some(labels) = self.domain.sequence(tree, &path, bad) else {
            return self.block_stepwise(tree, n, bad);
        };
        for (&at, label) in path.iter().zip(&labels) {
            if !self.domain.leq(tree, at, &self.labels[at as usize], at, label)? {
                tree.stats.refinements += 1;
                self.strengthen(tree, at, label)?;
            }
        }
        Ok(())
    }

    /// Algorithm 7.
    fn block_backward(&mut self, tree: &mut Tree, n: u32, bad: &D::Bad) -> Result<(), Error> {
        if self.domain.refutes(tree, n, &self.labels[n as usize], bad)? {
            return Ok(());
        }
        tree.stats.refinements += 1;
        let a = self.domain.concrete(tree, n);
        let interpolant = self.domain.interpolant(tree, n, &a, bad)?.expect("what is blocked is refuted");
        self.strengthen(tree, n, &interpolant)?;
        let parent = tree.nodes[n as usize].parent;
        if parent != NONE {
            for bad in self.domain.complement(tree, n, &interpolant)? {
                let before = self.domain.pre(tree, n, &bad)?;
                self.block_backward(tree, parent, &before)?;
            }
        }
        Ok(())
    }

    /// Algorithm 8, without recursion: a path may be long.
    fn block_forward(&mut self, tree: &mut Tree, n: u32, bad: &D::Bad) -> Result<D::Label, Error> {
        // Up to the first node that needs nothing done; `bads` are what its descendants must refute.
        if self.domain.refutes(tree, n, &self.labels[n as usize], bad)? {
            return Ok(self.labels[n as usize].clone());
        }
        let mut path = vec![n];
        let mut bads: Vec<D::Bad> = Vec::new();
        let mut at = n;
        let mut label = loop {
            tree.stats.refinements += 1;
            let parent = tree.nodes[at as usize].parent;
            let here = bads.last().unwrap_or(bad);
            if parent == NONE {
                let a = self.domain.concrete(tree, at);
                let interpolant = self.domain.interpolant(tree, at, &a, here)?.expect("what is blocked is refuted");
                self.strengthen(tree, at, &interpolant)?;
                path.pop();
                bads.pop();
                break interpolant;
            }
            let before = self.domain.pre(tree, at, here)?;
            if self.domain.refutes(tree, parent, &self.labels[parent as usize], &before)? {
                break self.labels[parent as usize].clone();
            }
            bads.push(before);
            path.push(parent);
            at = parent;
        };
        while let Some(at) = path.pop() {
            let here = bads.last().unwrap_or(bad);
            let a = self.domain.post(tree, at, &label)?;
            label = match self.domain.interpolant(tree, at, &a, here)? {
                Some(label) => label,
                None => self.pin_down(tree, at)?,
            };
            bads.pop();
            self.strengthen(tree, at, &label)?;
        }
        Ok(label)
    }

    /// Makes abstract labels as strong as concrete ones, from the root to a node.
    fn pin_down(&mut self, tree: &mut Tree, n: u32) -> Result<D::Label, Error> {
        for at in path_to(tree, n) {
            let label = self.domain.exactly(tree, at);
            self.strengthen(tree, at, &label)?;
        }
        Ok(self.domain.exactly(tree, n))
    }

    /// Algorithm 4.
    fn strengthen(&mut self, tree: &mut Tree, n: u32, by: &D::Label) -> Result<(), Error> {
        self.domain.meet(&mut self.labels[n as usize], by);
        let Interpolating { domain, labels, .. } = self;
        tree.review_covers(n, |tree, m| domain.leq(tree, m, &labels[m as usize], n, by))
    }
}

/// The nodes from the root to a node.
fn path_to(tree: &Tree, n: u32) -> Vec<u32> {
    let mut path: Vec<u32> =
        std::iter::successors(Some(n), |&n| Some(tree.nodes[n as usize].parent).filter(|&p| p != NONE)).collect();
    path.reverse();
    path
}

impl<D: Interpolation> Refiner for Interpolating<D> {
    fn add(&mut self, _: &Tree, n: u32) {
        debug_assert_eq!(self.labels.len(), n as usize);
        self.labels.push(self.domain.top());
    }

    fn proves(&mut self, tree: &Tree, n: u32, by: u32) -> bool {
        self.domain.proves(tree, n, by, &self.labels[by as usize])
    }

    /// Algorithm 6.
    fn cover(&mut self, tree: &mut Tree, n: u32, by: u32) -> Result<(), Error> {
        let label = self.labels[by as usize].clone();
        for bad in self.domain.complement(tree, n, &label)? {
            self.block(tree, n, &bad)?;
        }
        Ok(())
    }

    /// Algorithm 5.
    fn disable(&mut self, tree: &mut Tree, n: u32, t: Try) -> Result<(), Error> {
        let bad = self.domain.enabling(tree, n, t)?;
        self.block(tree, n, &bad)
    }
}
