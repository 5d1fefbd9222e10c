//! Lazy abstraction with breadth-first control, LA[BF] (003 Algorithm 2), without a solver.
//!
//! A predicate is "at least `m`", for a vector `m`; the region of a node is what is at least none of the predicates that the node
//! *excludes*. That is all that is needed: the error regions `pre(τ, unsafe)` are upward-closed, so their minimal vectors are their
//! atoms. `post#` keeps a predicate excluded iff every vector of `pre(c, m)` is above one that the parent excludes; the root's region
//! is the start itself. No solver is asked: vectors are compared.
//!
//! As the paper has it: nodes of least depth come first; a node is covered by the nodes of strictly smaller depth that are not
//! themselves covered; the pivot is the first node backwards whose region misses the error region, it gets the atoms of all error
//! regions down to the error, its subtrees go, and what was covered since the pivot was processed is opened again. One thing is
//! weaker: whether a region is covered by several others together is tried with bounded effort, which termination (a region
//! equal to one of smaller depth is always covered) does not need.
//!
//! [`Control`] also has other orders, in which any node may cover: LA[★], which need not end (003 §5).

mod tree;

use std::fmt;

use trellis_model::counter::System;
use trellis_model::counter::evidence::{Certificate, Verdict};

use self::tree::Tree;
use super::Outcome;
use crate::budget::{Budget, Stats};

/// Which node comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Control {
    /// One of least depth: LA[BF], which ends.
    #[default]
    Breadth,
    /// The one added last.
    Depth,
    /// Any, with this seed.
    Random(u64),
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Control::Breadth => "LA[BF]",
            Control::Depth => "LA[★], depth first",
            Control::Random(_) => "LA[★], random",
        })
    }
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Which node comes next.
    pub control: Control,
}

/// What LA[BF] counts beside [`Stats`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Refinements of the root.
    pub at_root: u64,
    /// The depth of the deepest pivot.
    pub deepest_pivot: usize,
    /// All predicates.
    pub predicates: usize,
}

/// Can a target be covered?
pub fn check(system: &System, options: &Options, budget: &mut Budget<'_>) -> Outcome {
    counted(system, options, budget).0
}

/// The same, with counts.
pub fn counted(system: &System, options: &Options, budget: &mut Budget<'_>) -> (Outcome, Counts) {
    let mut tree = Tree::new(system, *options);
    let verdict = match tree.run(budget) {
        Ok(Some(found)) => found,
        Ok(None) => match tree.outside() {
            Some(basis) => Verdict::Safe(Certificate::Above { bounds: vec![], basis }),
            None => Verdict::Unknown(trellis_model::evidence::Reason::Stuck(
                "the reachable region has too many parts to be written down".into(),
            )),
        },
        Err(why) => Verdict::Unknown(why),
    };
    let stats = Stats { stored: tree.uncovered() as u64, ..tree.stats };
    (Outcome::new(verdict, stats), tree.counts())
}
