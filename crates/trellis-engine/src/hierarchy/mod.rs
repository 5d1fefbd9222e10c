//! Hierarchical abstraction refinement (001 Ch. 5): each node of a tree is abstracted where it stands, the tree stays, and the product
//! of the abstractions is explored on the fly.
//!
//! - [`cover`]: partitions of a node's states, and the behaviour of their blocks;
//! - [`search`]: the abstract product, state by state;
//! - [`path`]: feasibility of abstract runs, node by node (`VerifyHierarchicalPath`);
//! - [`cegar`]: the loop (`HierarchicalCegar`, Fig. 5.9).
//!
//! Systems with priorities need covers that do not blur what decides about priorities ([`cover::Neat`]); any refinement of such a cover
//! is one.

pub mod cover;
pub mod path;
pub mod search;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::tree::evidence::{Certificate, Trace};
use trellis_model::hierarchy::tree::{Behaviour, Condition, Tree};

use crate::budget::{Budget, Stats};
use cover::{Cover, Neat};
use path::Path;
use search::{Seen, explore};

/// Where the spurious node of a run is refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// All along the run: at each moment, states from which the rest can be followed are separated from the others. These sets are
    /// interpolants of the run, and after one such refinement it is gone.
    #[default]
    Along,
    /// Where the run fails: states from which the next step can be taken are separated from the others.
    Failure,
}

/// How to go about it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// What initial covers separate.
    pub neat: Neat,
    /// What refinements separate.
    pub split: Split,
    /// What is learned about one node holds for all that have the same behaviour and the same cover: they are refined together.
    pub twins: bool,
    /// At most so many refinements.
    pub limit: Option<u64>,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The answer.
    pub verdict: Verdict<Trace, Certificate>,
    /// How many refinements.
    pub refinements: u64,
    /// Blocks of all nodes at the end.
    pub blocks: usize,
    /// Abstract states of the last exploration.
    pub states: usize,
    /// What all explorations counted.
    pub counted: Stats,
    /// How many abstract behaviours were computed: nodes with equal behaviours and equal covers share one.
    pub behaviours: usize,
}

/// Abstract behaviours that were computed, by what they are made of.
#[derive(Default)]
struct Made {
    known: FxHashMap<(*const Behaviour, Vec<u32>), Arc<Behaviour>>,
}

impl Made {
    fn behaviour(&mut self, concrete: &Arc<Behaviour>, cover: &Cover) -> Arc<Behaviour> {
        let make = || Arc::new(cover.behaviour(concrete));
        self.known.entry((Arc::as_ptr(concrete), cover.of.clone())).or_insert_with(make).clone()
    }
}

/// The system, its covers, and the abstraction that they make.
struct Abstraction<'a> {
    tree: &'a Tree,
    bad: &'a Condition,
    covers: Vec<Cover>,
    /// The same schema over blocks.
    over: Tree,
    made: Made,
}

/// Can a bad state be reached?
pub fn cegar(tree: &Tree, bad: &Condition, options: &Options, budget: &mut Budget<'_>) -> Found {
    let covers = Cover::initial(tree, bad, options.neat);
    let mut abstraction = Abstraction { tree, bad, covers, over: tree.clone(), made: Made::default() };
    (0..tree.nodes().len()).for_each(|node| abstraction.remake(node));
    let mut found = Found {
        verdict: Verdict::Unknown(Reason::Iterations),
        refinements: 0,
        blocks: 0,
        states: 0,
        counted: Stats::default(),
        behaviours: 0,
    };
    let verdict = abstraction.refine(options, &mut found, budget);
    found.verdict = verdict.unwrap_or_else(Verdict::Unknown);
    found.blocks = abstraction.covers.iter().map(|c| c.blocks.len()).sum();
    found.behaviours = abstraction.made.known.len();
    found
}

impl Abstraction<'_> {
    fn remake(&mut self, node: usize) {
        let behaviour = self.made.behaviour(&self.tree.nodes()[node].behaviour, &self.covers[node]);
        self.over.replace(node, behaviour);
    }

    fn refine(
        &mut self,
        options: &Options,
        found: &mut Found,
        budget: &mut Budget<'_>,
    ) -> Result<Verdict<Trace, Certificate>, Reason> {
        loop {
            let (seen, met) = explore(&self.over, &|state| self.is_bad(state), &mut found.counted, budget)?;
            found.states = seen.count();
            let Some(met) = met else { return Ok(Verdict::Safe(certificate(&self.covers, &seen))) };
            let path = abstract_path(&self.over, &seen, met)?;
            let (runs, spurious) = verify(self.tree, &self.covers, &path);
            let Some(node) = spurious else { return Ok(Verdict::Unsafe(trace(&runs, path.steps))) };
            if options.limit.is_some_and(|l| found.refinements >= l) {
                return Err(Reason::Iterations);
            }
            found.refinements += 1;
            found.counted.refinements += 1;
            let before = self.covers[node].clone();
            split(self.tree, node, &path, options.split, &mut self.covers[node])?;
            self.remake(node);
            if options.twins {
                self.refine_twins(node, &before);
            }
        }
    }

    /// Refines the nodes that are as one was, in the same way. Any refinement of a cover is sound.
    fn refine_twins(&mut self, node: usize, before: &Cover) {
        let nodes = self.tree.nodes();
        for twin in (0..nodes.len()).filter(|&n| n != node) {
            if Arc::ptr_eq(&nodes[twin].behaviour, &nodes[node].behaviour) && self.covers[twin] == *before {
                self.covers[twin] = self.covers[node].clone();
                self.remake(twin);
            }
        }
    }

    /// Is an abstract state bad? The states of a block agree on each atom, so any of them speaks for it.
    fn is_bad(&self, state: &[u32]) -> bool {
        let atom = |node: usize, states: &[bool]| {
            let speaker = self.covers[node].blocks[state[node] as usize][0];
            Some(states[speaker as usize])
        };
        self.bad.known(&atom) == Some(true)
    }
}

fn certificate(covers: &[Cover], seen: &Seen) -> Certificate {
    Certificate {
        blocks: covers.iter().map(|c| c.of.clone()).collect(),
        tuples: seen.iter().map(<[u32]>::to_vec).collect(),
    }
}

fn abstract_path(abstraction: &Tree, seen: &Seen, end: usize) -> Result<Path, Reason> {
    let states = seen.path(end);
    let step = |w: &[Vec<u32>]| abstraction.explain(&w[0], &w[1]);
    let steps: Option<Vec<Vec<u32>>> = states.windows(2).map(step).collect();
    let steps = steps.ok_or_else(|| Reason::Stuck("a step of the abstraction that nobody takes".into()))?;
    Ok(Path { states, steps })
}

/// A run of each node along its projection, and the node whose projection fails first, if any does.
fn verify(tree: &Tree, covers: &[Cover], path: &Path) -> (Vec<Vec<u32>>, Option<usize>) {
    let mut runs = vec![];
    let mut first: Option<(usize, usize)> = None;
    for (node, cover) in covers.iter().enumerate() {
        match path.on(tree, node).forward(&tree.nodes()[node].behaviour, cover) {
            Ok(run) => runs.push(run),
            Err(at) if first.is_none_or(|f| at < f.0) => first = Some((at, node)),
            Err(_) => {}
        }
    }
    (runs, first.map(|f| f.1))
}

fn trace(runs: &[Vec<u32>], steps: Vec<Vec<u32>>) -> Trace {
    let states = (0..=steps.len()).map(|at| runs.iter().map(|run| run[at]).collect()).collect();
    Trace { states, steps }
}

/// Refines the cover of a node along whose projection there is no run.
fn split(tree: &Tree, node: usize, path: &Path, how: Split, cover: &mut Cover) -> Result<(), Reason> {
    let behaviour = &tree.nodes()[node].behaviour;
    let projection = path.on(tree, node);
    let mut sets: Vec<(u32, Vec<u32>)> = match how {
        Split::Along => projection.blocks.iter().copied().zip(projection.backward(behaviour, cover)).collect(),
        Split::Failure => {
            let at = projection.forward(behaviour, cover).err().unwrap_or(0);
            let next = projection.blocks.get(at + 1).zip(projection.events.get(at));
            let takes = |q: &u32| {
                next.is_some_and(|(&block, &e)| behaviour.targets(*q, e).any(|t| cover.of[t as usize] == block))
            };
            let block = projection.blocks[at];
            vec![(block, cover.blocks[block as usize].iter().copied().filter(takes).collect())]
        }
    };
    sets.dedup();
    let mut any = false;
    for (block, set) in sets {
        // The block may have been split by an earlier set already: all its parts are looked at.
        let mut parts = vec![block];
        parts.extend(set.iter().map(|&q| cover.of[q as usize]));
        parts.sort_unstable();
        parts.dedup();
        for part in parts {
            any |= cover.split(part, &|q| set.binary_search(&q).is_ok());
        }
    }
    if any { Ok(()) } else { Err(Reason::Stuck("a spurious run that no refinement removes".into())) }
}
