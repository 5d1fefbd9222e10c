//! Lazy abstraction with breadth-first control, `LA[BF]` (003 Algorithm 2). `tree` is the algorithm, over any `tree::RegionDomain`;
//! `vectors` is the domain that needs no solver, `linear` the one that has one, `words` that of lossy channel systems ([`super::lossy`]).
//!
//! With `vectors`, a predicate is "at least `m`", for a vector `m`; the region of a node is what is at least none of the predicates that the node
//! *excludes*. That is all that is needed: the error regions `pre(τ, unsafe)` are upward-closed, so their minimal vectors are their
//! atoms. `post#` keeps a predicate excluded iff every vector of `pre(c, m)` is above one that the parent excludes; the root's region
//! is the start itself. No solver is asked: vectors are compared.
//!
//! As the paper has it: nodes of least depth come first; a node is covered by the nodes of strictly smaller depth that are not
//! themselves covered; the pivot is the first node backwards whose region misses the error region, it gets the atoms of all error
//! regions down to the error, its subtrees go, and what was covered since the pivot was processed is opened again. Two things
//! differ: the atoms of the start are predicates only if asked for ([`Options::start_atoms`]; the root's region is the start
//! anyway), and a region is covered by a single other one, not by several together. The proof of termination needs neither: a region
//! equal to one of smaller depth is covered.
//!
//! [`Control`] also has other orders, in which any node may cover: `LA[★]`, which need not end (003 §5).

mod bits;
mod linear;
mod region;
mod text;
pub(super) mod tree;
mod vectors;
pub(super) mod words;

use std::fmt;

use trellis_model::counter::System;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::refinements::History;

use self::tree::{RegionDomain, Tree, VerdictOf};
use super::Outcome;
use trellis_meter::{Meter, Stats};

/// Which node comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Control {
    /// One of least depth: `LA[BF]`, which ends.
    #[default]
    Breadth,
    /// The one added last.
    Depth,
    /// Any, with this seed.
    Random(u64),
    /// One that leads to a refinement, but not of the root; else the oldest that leads to none. Nothing is ever covered. These are the
    /// choices of 003 §5. (`LA[★]` leaves both open. With covering the paper's example ends in any order that was tried, for regions here
    /// are downward-closed.)
    Adverse,
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = vec![self.control.to_string()];
        let variants = [
            ("atoms of the start", self.start_atoms),
            ("covered at equal depth", self.equal_depth),
            ("rules merged", self.merged),
            ("all pre-layers at once", self.layers),
            ("predicates projected", self.project),
            ("linear atoms and a solver", self.linear),
        ];
        all.extend(variants.iter().filter(|v| v.1).map(|v| v.0.to_string()));
        f.write_str(&all.join(", "))
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Control::Breadth => "LA[BF]",
            Control::Depth => "LA[★], depth first",
            Control::Random(_) => "LA[★], random",
            Control::Adverse => "LA[★], adverse",
        })
    }
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Which node comes next.
    pub control: Control,
    /// Begin with the atoms of the start too, as the paper does, and not with those of the targets alone.
    pub start_atoms: bool,
    /// A deviation: let nodes be covered by nodes of the same depth too. The proof of termination goes through all the same.
    pub equal_depth: bool,
    /// A deviation: take all rules as one command, any of them. The tree becomes a path, and a refinement brings the atoms of what
    /// leads into the target by any rules, not only by those of the error trace: few refinements, with many predicates each.
    pub merged: bool,
    /// A deviation: beside its atoms a refinement brings those of what leads into the target by any rules in as many steps as the error trace has.
    pub layers: bool,
    /// A deviation: beside its atoms a refinement brings others, in which those variables are forgotten that the refutation of the error
    /// trace does not need.
    pub project: bool,
    /// Linear atoms and Boolean formulas over them, as the paper has it, and a solver (`linear`). Of the other options the control and
    /// covering at equal depth count.
    pub linear: bool,
}

/// What `LA[BF]` counts beside [`Stats`].
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
pub fn check(system: &System, options: &Options, meter: &mut Meter) -> Outcome {
    counted(system, options, meter).0
}

/// The same, with counts.
pub fn counted(system: &System, options: &Options, meter: &mut Meter) -> (Outcome, Counts) {
    let (outcome, counts, _) = told(system, options, false, meter);
    (outcome, counts)
}

/// The same, with what happened, if that is to be kept.
pub fn told(system: &System, options: &Options, keep: bool, meter: &mut Meter) -> (Outcome, Counts, Option<History>) {
    if options.linear {
        let regions = linear::LinearRegions::new(system, meter.clone());
        let (verdict, stats, counts, history) = run(Tree::new(regions, *options), keep, meter);
        return (Outcome::new(verdict, stats), counts, history);
    }
    let regions = vectors::VectorRegions::new(system, *options, meter.clone());
    let (verdict, stats, counts, history) = run(Tree::new(regions, *options), keep, meter);
    (Outcome::new(verdict, stats), counts, history)
}

/// A verdict, what was counted, and what happened if that is to be kept.
pub(super) type Answer<D> = (VerdictOf<D>, Stats, Counts, Option<History>);

pub(super) fn run<D: RegionDomain>(tree: Tree<D>, keep: bool, meter: &mut Meter) -> Answer<D> {
    let mut tree = if keep { tree.keep_history() } else { tree };
    let verdict = tree.run(meter).unwrap_or_else(Verdict::Unknown);
    let (stats, counts) = tree.counts();
    (verdict, stats, counts, tree.history())
}

fn too_large() -> Reason {
    Reason::Stuck("the reachable region has too many parts to be written down".into())
}
