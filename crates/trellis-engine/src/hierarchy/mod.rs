//! Hierarchical abstraction refinement (001 Ch. 5): each node of a tree is abstracted where it stands, the tree stays, and the product
//! of the abstractions is explored on the fly.
//!
//! - [`cover`]: partitions of a node's states, and the behaviour of their blocks;
//! - `search`: the abstract product, state by state;
//! - [`path`]: feasibility of abstract runs, node by node (`VerifyHierarchicalPath`);
//! - [`known`]: certified pairs, node by node (001 Ch. 4 for trees); [`traps`]: what need not be explored;
//! - [`predicates`]: refinement by interpolated predicates;
//! - [`cegar`]: the loop (`HierarchicalCegar`, Fig. 5.9).
//!
//! Nodes with the same behaviour and the same cover share one abstract behaviour, computed once. *Siblings*, which can be exchanged
//! ([`trellis_model::hierarchy::tree::siblings`]), also share their cover: whatever separates a spurious run from the runs of one separates the
//! mirrored run from those of the other. So abstract states are explored up to exchanges of siblings. Nodes that merely behave the same are not
//! refined together: covers that are finer than a run asks for multiply, and a ring of 16 stations that takes half a second did not end.
//!
//! Systems with priorities need covers that do not blur what decides about priorities ([`cover::Neat`]); any refinement of such a cover
//! is one.

pub mod cover;
pub mod known;
pub mod path;
pub mod predicates;
pub mod search;
pub mod traps;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::tree::evidence::{Certificate, Trace};
use trellis_model::hierarchy::tree::siblings::Siblings;
use trellis_model::hierarchy::tree::{Behaviour, Condition, Tree};

use cover::{Cover, Neat};
use known::{Along, Justification, Known, run};
use path::Path;
use predicates::{Rows, interpolate};
use search::{GoalSearch, search};
use traps::{Ahead, Trap, Traps};

use crate::explore::Reached;
use trellis_meter::{Meter, Stats};

/// Where the spurious node of a run is refined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    /// All along the run: at each moment, states from which the rest can be followed are separated from the others. These sets are
    /// interpolants of the run, and after one such refinement it is gone.
    #[default]
    Along,
    /// Where the run fails: states from which the next step can be taken are separated from the others.
    Failure,
    /// By predicates over the node's variables that the solver interpolates, in all blocks; if it finds none, all along the run.
    Interpolants,
}

/// How to go about it.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What initial covers separate.
    pub neat: Neat,
    /// What refinements separate.
    pub split: Split,
    /// Use certified pairs ([`known`]), and do not explore what can never become bad ([`traps`]).
    pub pruning: bool,
    /// Siblings share one cover, and states that differ only in who of them is where count as one.
    pub symmetry: bool,
    /// At most so many refinements.
    pub limit: Option<u64>,
}

impl Default for Options {
    fn default() -> Options {
        Options { neat: Neat::default(), split: Split::default(), pruning: true, symmetry: true, limit: None }
    }
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
    /// How many sets of abstract states were certified: known to be reachable, or to lead to a bad state.
    pub certified: usize,
    /// How often the search turned away from what can never become bad.
    pub pruned: u64,
    /// How many refinements were by interpolated predicates.
    pub interpolated: u64,
    /// How many nodes share the cover of a sibling.
    pub symmetric: usize,
    /// The covers at the end.
    pub covers: Vec<Cover>,
    /// What was certified, in their blocks.
    pub known: Known,
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
    /// Each node's states as values of variables; nodes without have one variable, the number of the state.
    rows: &'a [Rows],
    covers: Vec<Cover>,
    /// The same schema over blocks.
    over: Tree,
    made: Made,
    known: Known,
    siblings: Siblings,
    /// For each node, the one whose cover it shares.
    first: Vec<usize>,
}

/// Can a bad state be reached?
pub fn cegar(tree: &Tree, bad: &Condition, options: &Options, meter: &mut Meter) -> Found {
    cegar_in(tree, bad, &[], options, meter)
}

/// Can a bad state be reached? States of nodes are rows of values; of nodes without rows, just numbers.
pub fn cegar_in(tree: &Tree, bad: &Condition, rows: &[Rows], options: &Options, meter: &mut Meter) -> Found {
    let mut covers = Cover::initial(tree, bad, options.neat);
    let ahead = options.pruning.then(|| Ahead::new(tree, bad));
    if let Some(ahead) = &ahead {
        ahead.separate(&mut covers);
    }
    let siblings = if options.symmetry { Siblings::find(tree, bad) } else { Siblings::default() };
    let first = siblings.first(tree);
    // The same states are separated from each other, but blocks may have other numbers.
    for (node, &sibling) in first.iter().enumerate().filter(|(node, sibling)| node != *sibling) {
        covers[node] = covers[sibling].clone();
    }
    let (over, made, known) = (tree.clone(), Made::default(), Known::default());
    let mut abstraction = Abstraction { tree, bad, rows, covers, over, made, known, siblings, first };
    (0..tree.nodes().len()).for_each(|node| abstraction.remake(node));
    let mut found = Found {
        verdict: Verdict::Unknown(Reason::Iterations),
        refinements: 0,
        blocks: 0,
        states: 0,
        counted: Stats::default(),
        behaviours: 0,
        certified: 0,
        pruned: 0,
        interpolated: 0,
        symmetric: abstraction.first.iter().enumerate().filter(|(node, sibling)| node != *sibling).count(),
        covers: vec![],
        known: Known::default(),
    };
    let verdict = abstraction.refine(ahead.as_ref(), options, &mut found, meter);
    found.verdict = verdict.unwrap_or_else(Verdict::Unknown);
    found.blocks = abstraction.covers.iter().map(|c| c.blocks.len()).sum();
    found.behaviours = abstraction.made.known.len();
    found.certified = abstraction.known.reached.count() + abstraction.known.reaching.count();
    (found.covers, found.known) = (abstraction.covers, abstraction.known);
    found
}

impl Abstraction<'_> {
    fn remake(&mut self, node: usize) {
        let behaviour = self.made.behaviour(&self.tree.nodes()[node].behaviour, &self.covers[node]);
        self.over.replace(node, behaviour);
    }

    fn refine(
        &mut self,
        ahead: Option<&Ahead>,
        options: &Options,
        found: &mut Found,
        meter: &mut Meter,
    ) -> Result<Verdict<Trace, Certificate>, Reason> {
        loop {
            let mut traps = ahead.map(|a| Traps::new(a, &self.covers));
            let goal_search = GoalSearch {
                goal: &|state| self.is_bad(state) || self.known.reaching.find(state).is_some(),
                dead: &mut |state| traps.as_mut().is_some_and(|r| r.contain(state)),
            };
            let (seen, met) = search(&self.over, &self.siblings, goal_search, &mut found.counted, meter)?;
            found.states = seen.count();
            found.pruned += traps.as_ref().map_or(0, |r| r.entered);
            let Some(met) = met else {
                let traps = traps.map_or_else(Vec::new, |r| r.met);
                return Ok(Verdict::Safe(certificate(&self.covers, &seen, &traps, &self.siblings)));
            };
            let path = self.path(&seen, met)?;
            let forward = self.forward(&path);
            let Some((node, fails)) = first_failure(&forward.sets, path.states.len()) else {
                return Ok(Verdict::Unsafe(self.trace(&path, forward)));
            };
            if options.limit.is_some_and(|l| found.refinements >= l) {
                return Err(Reason::Iterations);
            }
            found.refinements += 1;
            found.counted.refinements += 1;
            let backward = options.pruning.then(|| self.backward(&path));
            let old = self.covers[node].of.clone();
            found.interpolated += u64::from(self.split(node, &path, options.split, fails)?);
            for sibling in (0..self.first.len()).filter(|&n| self.first[n] == self.first[node]).collect::<Vec<usize>>()
            {
                if sibling != node {
                    self.covers[sibling] = self.covers[node].clone();
                }
                self.remake(sibling);
                self.known.refined(sibling, &old, &self.covers[sibling]);
            }
            if let Some(backward) = backward {
                self.known.learn(&self.covers, &Arc::new(forward), &Arc::new(backward));
            }
        }
    }

    /// The way to an abstract state, from the last one of which it is known that it can be reached.
    fn path(&self, seen: &Reached<u32>, end: u32) -> Result<Path, Reason> {
        let mut states = self.straight(seen.path(end).into_iter().map(|n| seen.get(n).to_vec()).collect())?;
        let known = states.iter().rposition(|state| self.known.reached.find(state).is_some());
        states.drain(..known.unwrap_or(0));
        let step = |w: &[Vec<u32>]| self.over.explain(&w[0], &w[1]);
        let steps: Option<Vec<Vec<u32>>> = states.windows(2).map(step).collect();
        let steps = steps.ok_or_else(|| Reason::Stuck("a step of the abstraction that nobody takes".into()))?;
        Ok(Path { states, steps: Arc::new(steps) })
    }

    /// A path of states that stand for others, as a path of states that follow each other and ends with the same.
    fn straight(&self, states: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>, Reason> {
        if self.siblings.is_empty() {
            return Ok(states);
        }
        let mut path: Vec<Vec<u32>> = vec![];
        for next in states {
            let next = match path.last() {
                None => next,
                Some(here) => {
                    let all = self.over.successors(here, search::MAX_SUCCESSORS);
                    let all = all.map_err(|e| Reason::Stuck(e.to_string()))?;
                    let found = all.into_iter().find(|target| self.siblings.sorted(&self.over, target) == next);
                    found.ok_or_else(|| Reason::Stuck("a step that siblings do not mirror".into()))?
                }
            };
            path.push(next);
        }
        // All of it with siblings exchanged so that the end is in order, as it was met.
        let order = path.last().map_or_else(Vec::new, |end| self.siblings.order(&self.over, end));
        Ok(path.iter().map(|state| order.iter().map(|&n| state[n]).collect()).collect())
    }

    /// Where a path may start in a node: anywhere in the block, if that is known to be reachable, or where the node starts.
    fn start(&self, path: &Path, node: usize) -> Vec<u32> {
        let block = &self.covers[node].blocks[path.states[0][node] as usize];
        let initial = &self.tree.nodes()[node].behaviour.initial;
        let known = self.known.reached.find(&path.states[0]).is_some();
        block.iter().copied().filter(|q| known || initial.contains(q)).collect()
    }

    /// What each node reaches along a path.
    fn forward(&self, path: &Path) -> Along {
        let one = |(node, cover): (usize, &Cover)| {
            let behaviour = &self.tree.nodes()[node].behaviour;
            path.on(self.tree, node).forward(behaviour, cover, self.start(path, node))
        };
        let sets = self.covers.iter().enumerate().map(one).collect();
        Along { sets, steps: path.steps.clone(), beyond: self.known.reached.find(&path.states[0]).cloned() }
    }

    /// What of each node reaches the end of a path.
    fn backward(&self, path: &Path) -> Along {
        let one = |(node, cover): (usize, &Cover)| {
            path.on(self.tree, node).backward(&self.tree.nodes()[node].behaviour, cover)
        };
        let sets = self.covers.iter().enumerate().map(one).collect();
        let beyond = path.states.last().and_then(|end| self.known.reaching.find(end)).cloned();
        Along { sets, steps: path.steps.clone(), beyond }
    }

    /// A run along a path that all nodes can follow, from where it starts to where it leads.
    fn trace(&self, path: &Path, forward: Along) -> Trace {
        let at = path.steps.len();
        let end = forward.sets.iter().map(|moments| moments[at][0]).collect();
        let then = self.known.reaching.find(&path.states[at]);
        run(self.tree, &Justification { path: Arc::new(forward), at }, end, then)
    }

    /// Refines the cover of a node that cannot follow a path beyond a moment; was it by predicates?
    fn split(&mut self, node: usize, path: &Path, how: Split, fails: usize) -> Result<bool, Reason> {
        let stuck = || Err(Reason::Stuck("a spurious run that no refinement removes".into()));
        if fails == 0 {
            return stuck();
        }
        let behaviour = &self.tree.nodes()[node].behaviour;
        let projection = path.on(self.tree, node);
        if how == Split::Interpolants {
            let numbers: Rows;
            let rows = match self.rows.get(node).filter(|r| r.first().is_some_and(|row| !row.is_empty())) {
                Some(rows) => rows,
                None => {
                    numbers = (0..behaviour.states.len() as i64).map(|q| vec![q]).collect();
                    &numbers
                }
            };
            let start = self.start(path, node);
            let found = interpolate(behaviour, rows, &self.covers[node], (&projection, &start, fails));
            let mut any = false;
            for set in found.into_iter().flatten() {
                any |= self.covers[node].split_all(&set);
            }
            if any {
                return Ok(true);
            }
        }
        let cover = &mut self.covers[node];
        let mut sets: Vec<(u32, Vec<u32>)> = match how {
            Split::Along | Split::Interpolants => {
                projection.blocks.iter().copied().zip(projection.backward(behaviour, cover)).collect()
            }
            Split::Failure => {
                let at = fails - 1;
                let (event, next) = (projection.events[at], projection.blocks[at + 1]);
                let takes = |q: &u32| behaviour.targets(*q, event).any(|t| cover.of[t as usize] == next);
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
        if any { Ok(false) } else { stuck() }
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

fn certificate(covers: &[Cover], seen: &Reached<u32>, traps: &[Trap], siblings: &Siblings) -> Certificate {
    let listed = |blocks: &Vec<bool>| (0..).zip(blocks).filter(|(_, within)| **within).map(|(b, _)| b).collect();
    Certificate {
        blocks: covers.iter().map(|c| c.of.clone()).collect(),
        tuples: seen.iter().map(<[u32]>::to_vec).collect(),
        traps: traps.iter().map(|trap| trap.iter().map(listed).collect()).collect(),
        symmetric: siblings.groups.clone(),
    }
}

/// The node that comes least far along a path, if one does not come to the end, and the first moment that it does not come to.
fn first_failure(sets: &[Vec<Vec<u32>>], moments: usize) -> Option<(usize, usize)> {
    let far = sets.iter().map(Vec::len).enumerate().min_by_key(|(_, far)| *far)?;
    (far.1 < moments).then_some(far)
}
