//! Counterexample-guided abstraction refinement (004 §2.3): explore labels under a *precision*; where a path of labels reaches an error,
//! either a run goes along it, or the precision is refined by why none does.
//!
//! A label holds values of the tracked variables and facts about the predicates; control variables are always tracked. With *lazy*
//! pruning the part of the tree below the first node whose precision was too coarse is explored again; with *full* pruning, all of it.
//!
//! What may be stuck is said to be stuck: explicit values cannot tell apart what has too many values, and if no way of
//! refining finds anything new the answer is unknown.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_expr::{StmtId, TermId, VarId};
use trellis_model::cfa::evidence::{Trace, Verdict};
use trellis_model::cfa::{Cfa, LocationId, paths};
use trellis_model::evidence::Reason;
use trellis_smt::path::{NotRefuted, Refutation};

use super::domain::{AbstractDomain, Followed, Precisions, assumptions, is_plain};
pub use super::domain::{Domain, Scope, Split};
use super::facts;
use super::intervals::Intervals;
use super::post::Mode;
use super::refine::{Refinement, Refuter};
use super::tree::{Mark, NONE, Tree};
use super::{Outcome, Program, reason, run_along};
use crate::explore::{Exploration, explore};
use crate::waitlist::{Order, Waitlist};
use trellis_meter::{Meter, Progress, Stats};

/// What is known to matter before the first refinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initial {
    /// Nothing.
    Empty,
    /// What is assumed on edges into an error.
    Property,
    /// What is assumed on any edge.
    Assumes,
}

/// Which node is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// First in, first out.
    Bfs,
    /// Last in, first out.
    Dfs,
    /// The one that is nearest to an error in the graph of the automaton.
    Error,
}

/// How much is explored again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruning {
    /// What lies below the first node that was too coarse.
    Lazy,
    /// Everything.
    Full,
}

/// How to explore and refine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What labels are made of.
    pub domain: Domain,
    /// Which precision holds where.
    pub scope: Scope,
    /// What matters from the start.
    pub initial: Initial,
    /// How infeasible paths become predicates.
    pub refinement: Refinement,
    /// How predicates are taken apart.
    pub split: Split,
    /// Which node is next.
    pub search: Search,
    /// How much is explored again.
    pub pruning: Pruning,
    /// A variable with more values than this is not tracked.
    pub max_values: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            domain: Domain::Predicates(Mode::Cartesian),
            scope: Scope::Local,
            initial: Initial::Empty,
            refinement: Refinement::NewtonForward,
            split: Split::Conjuncts,
            search: Search::Bfs,
            pruning: Pruning::Lazy,
            max_values: 64,
        }
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.domain, self.refinement)
    }
}

/// Can an error be reached?
pub fn check(program: &mut Program<'_>, options: &Options, meter: &mut Meter) -> Outcome {
    let cfa = &program.large.cfa;
    match facts::known(cfa, options.domain, options.max_values) {
        Some(domain) => check_with(program, domain, options, meter),
        None => {
            let domain = Intervals::new(cfa, options.max_values);
            check_with(program, Box::new(domain), options, meter)
        }
    }
}

/// Can an error be reached? With a domain of one's own; that of the options does not count.
pub fn check_with<D: AbstractDomain + ?Sized>(
    program: &mut Program<'_>,
    domain: Box<D>,
    options: &Options,
    meter: &mut Meter,
) -> Outcome {
    let mut engine = Engine::new(&mut program.large.cfa, domain, *options, meter.clone());
    let ended = engine.run(meter);
    let stats = engine.stats();
    let verdict = match ended {
        Err(reason) => Verdict::Unknown(reason),
        Ok(Some(trace)) => Verdict::Unsafe(trace),
        Ok(None) => {
            engine.record(&[], None);
            let invariant = engine.invariant();
            let terms = program.large.cfa.terms.clone();
            Verdict::Safe(program.certificate(terms, 1, invariant))
        }
    };
    let verdict = match verdict {
        Verdict::Unsafe(trace) => Verdict::Unsafe(program.trace(&trace)),
        other => other,
    };
    Outcome::new(verdict, stats)
}

/// An abstract state: its label, and the precision that it was computed under.
struct State<D: AbstractDomain + ?Sized> {
    label: D::Label,
    precision: Arc<D::Precision>,
}

struct Engine<'p, D: AbstractDomain + ?Sized> {
    cfa: &'p mut Cfa,
    options: Options,
    limits: Meter,
    domain: Box<D>,
    refuter: Refuter,
    precisions: Precisions<D::Precision>,
    tree: Tree<State<D>>,
    index: Index,
    waiting: Waitlist,
    /// Nodes in error locations.
    errors: Vec<u32>,
    /// How far each location is from an error.
    distances: Vec<Option<usize>>,
    stats: Stats,
}

impl<'p, D: AbstractDomain + ?Sized> Engine<'p, D> {
    fn new(cfa: &'p mut Cfa, domain: Box<D>, options: Options, limits: Meter) -> Engine<'p, D> {
        let precisions = Precisions::new(cfa, domain.first(cfa), options.scope);
        let control = precisions.at(cfa.initial).clone();
        let state = State { label: domain.top(), precision: control };
        let order = match options.search {
            Search::Bfs => Order::Bfs,
            Search::Dfs => Order::Dfs,
            Search::Error => Order::Priority,
        };
        let distances = paths::error_distances(cfa);
        let initial = cfa.initial;
        let mut engine = Engine {
            precisions,
            domain,
            refuter: Refuter::new(),
            tree: Tree::new(initial, state, vec![]),
            index: Index::default(),
            waiting: Waitlist::new(order),
            errors: vec![],
            distances,
            stats: Stats::default(),
            cfa,
            options,
            limits,
        };
        engine.start();
        engine
    }

    fn stats(&self) -> Stats {
        let stored = self.tree.nodes.iter().filter(|n| n.mark == Mark::Passed).count() as u64;
        Stats { stored, ..self.stats }
    }

    /// The first precision.
    fn start(&mut self) {
        let wanted: Vec<StmtId> = match self.options.initial {
            Initial::Empty => vec![],
            Initial::Property => {
                self.cfa.errors().flat_map(|l| self.cfa.incoming(l)).map(|&e| self.cfa.edge(e).stmt).collect()
            }
            Initial::Assumes => self.cfa.edges().map(|e| self.cfa.edge(e).stmt).collect(),
        };
        let mut conditions = vec![];
        wanted.into_iter().for_each(|s| assumptions(&self.cfa.terms, s, &mut conditions));
        for t in conditions {
            for l in self.cfa.locations() {
                let gained = self.domain.follow(&mut self.cfa.terms, l, t);
                self.precisions.take_in(l, &gained);
            }
        }
        self.open(0);
    }

    /// The edges of a node that may matter wait, and so does it.
    fn open(&mut self, n: u32) {
        let l = self.tree.node(n).location;
        let matters = |e: &&_| self.distances[self.cfa.edge(**e).to.index()].is_some();
        self.tree.node_mut(n).pending = self.cfa.outgoing(l).iter().filter(matters).copied().collect();
        self.wait(n);
    }

    fn wait(&mut self, n: u32) {
        let node = self.tree.node(n);
        let distance = self.distances[node.location.index()].unwrap_or(usize::MAX >> 16);
        self.waiting.push(n, -((distance as i64) << 20) - i64::from(node.depth));
    }

    fn run(&mut self, meter: &mut Meter) -> Result<Option<Trace>, Reason> {
        self.stats.added = 1;
        explore(self, meter)
    }

    fn follow(&mut self, n: u32) -> Result<(), Reason> {
        self.stats.expanded += 1;
        let pending = std::mem::take(&mut self.tree.node_mut(n).pending);
        let before = self.domain.assumptions(&mut self.cfa.terms, &self.tree.node(n).label.label);
        for e in pending {
            let to = self.cfa.edge(e).to;
            let error = self.cfa.is_error(to);
            let precision = if error { Arc::default() } else { self.precisions.at(to).clone() };
            let labels = self.domain.successors(self.cfa, &before, e, &precision, &self.limits).map_err(reason)?;
            for label in labels {
                self.stats.added += 1;
                self.stats.steps += 1;
                let label = if error { label } else { self.widened(n, to, label, &precision) };
                let state = State { label, precision: precision.clone() };
                let child = self.tree.add(to, state, n, Some(e), vec![]);
                if error {
                    self.errors.push(child);
                } else {
                    self.open(child);
                }
            }
        }
        self.tree.node_mut(n).mark = Mark::Passed;
        self.index.add(&*self.domain, &self.tree, n);
        Ok(())
    }

    /// The label, widened by that of the nearest node above with the same location, precision and values, if the domain widens.
    fn widened(&self, mut n: u32, to: LocationId, label: D::Label, precision: &D::Precision) -> D::Label {
        while self.domain.widens() && n != NONE {
            let node = self.tree.node(n);
            if node.location == to
                && node.label.precision.includes(precision)
                && let Some(wider) = self.domain.widen(&node.label.label, &label, precision)
            {
                return wider;
            }
            n = node.parent;
        }
        label
    }

    /// A run to this node; or the precision is refined and the node is gone.
    fn counterexample(&mut self, n: u32) -> Result<Option<Trace>, Reason> {
        let nodes = self.tree.path(n);
        let edges = self.tree.edges(n);
        let path: Vec<StmtId> = edges.iter().map(|&e| self.cfa.edge(e).stmt).collect();
        let mut labels = vec![];
        for &n in &nodes[1..] {
            labels.push(self.domain.assumptions(&mut self.cfa.terms, &self.tree.node(n).label.label));
        }
        let first = self.options.refinement;
        let others = Refinement::ALL.into_iter().filter(|&r| r != first && !is_binary(r));
        let mut undecided = None;
        for how in std::iter::once(first).chain(others) {
            match self.refuter.refute(&mut self.cfa.terms, how, &path, &labels, &self.limits) {
                Err(NotRefuted::Feasible(_)) => return run_along(self.cfa, &edges, &self.limits).map(Some),
                Err(NotRefuted::Unknown(why)) => {
                    if let Some(why) = self.limits.exceeded(0) {
                        return Err(reason(why));
                    }
                    undecided.get_or_insert(why);
                }
                Ok(refutation) => {
                    let split = if how == first { self.options.split } else { Split::Whole };
                    if let Some(pivot) = self.refine(&nodes, &refutation, split) {
                        self.stats.refinements += 1;
                        self.prune(&nodes, pivot);
                        return Ok(None);
                    }
                }
            }
        }
        // Values may say what the solver has no theory of.
        if undecided.is_some()
            && let Some(pivot) = self.follow_all(&nodes, &path)
        {
            self.stats.refinements += 1;
            self.prune(&nodes, pivot);
            return Ok(None);
        }
        match undecided {
            Some(why) => Err(reason(why)),
            None => Err(Reason::Stuck("refinement finds nothing new on an infeasible path".into())),
        }
    }

    /// Tracks all variables of a path; answers with the first position at which the node did not.
    fn follow_all(&mut self, nodes: &[u32], path: &[StmtId]) -> Option<usize> {
        let mut all: BTreeSet<VarId> = BTreeSet::new();
        for &s in path {
            let (reads, writes) = self.cfa.terms.stmt_vars(s);
            all.extend(reads.into_iter().chain(writes));
        }
        all.retain(|&v| self.cfa.variables.contains(&v) && is_plain(&self.cfa.terms, v));
        let all = self.domain.follow_values(&all)?;
        let mut pivot = None;
        for (i, &n) in nodes.iter().enumerate().take(nodes.len() - 1).skip(1) {
            let l = self.tree.node(n).location;
            self.precisions.take_in(l, &all);
            if pivot.is_none() && !self.tree.node(n).label.precision.includes(&all) {
                pivot = Some(i);
            }
        }
        pivot
    }

    /// Takes in predicates or variables; answers with the first position at which the node did not know of them.
    fn refine(&mut self, nodes: &[u32], refutation: &Refutation, split: Split) -> Option<usize> {
        let mut pivot = None;
        for (i, &n) in nodes.iter().enumerate().take(nodes.len() - 1).skip(1) {
            let location = self.tree.node(n).location;
            let gained = self.domain.learn(&mut self.cfa.terms, location, refutation, i, split);
            let new = self.precisions.take_in(location, &gained);
            let lacks = !self.tree.node(n).label.precision.includes(self.precisions.at(location));
            let said = self.cfa.terms.as_bool(refutation.predicates[i]).is_none();
            if (new || (lacks && said)) && pivot.is_none() {
                pivot = Some(i);
            }
        }
        pivot
    }

    /// The tree, for whoever wants to see what refinement does.
    fn record(&mut self, path: &[u32], pivot: Option<usize>) {
        let board = self.limits.board().clone();
        if !board.is_recording() {
            return;
        }
        let (cfa, domain) = (&mut *self.cfa, &*self.domain);
        let mut round = self.tree.picture(path, |node| {
            let mut lines = vec![cfa.location(node.location).name.clone()];
            let known = domain.assumptions(&mut cfa.terms, &node.label.label);
            lines.extend(known.into_iter().map(|t| cfa.terms.show(t).to_string()));
            lines
        });
        round.title = match pivot {
            Some(pivot) => {
                let at = &cfa.location(self.tree.node(path[pivot]).location).name;
                format!("round {}: no run goes along this path; {at} learns why", self.stats.refinements)
            }
            None => "the proof: nothing waits, and no error is left".into(),
        };
        board.round(|| round);
    }

    fn prune(&mut self, nodes: &[u32], pivot: usize) {
        self.record(nodes, Some(pivot));
        let mut freed = vec![];
        match self.options.pruning {
            Pruning::Lazy => {
                let edge = self.tree.node(nodes[pivot]).edge.expect("not the root");
                self.tree.retract(nodes[pivot - 1], edge, &mut freed);
            }
            Pruning::Full => {
                let State { label, precision } = &self.tree.node(0).label;
                let state = State { label: label.clone(), precision: precision.clone() };
                self.tree = Tree::new(self.cfa.initial, state, vec![]);
                self.index = Index::default();
                self.errors.clear();
                while self.waiting.pop().is_some() {}
                self.open(0);
                return;
            }
        }
        for n in freed {
            if self.tree.node(n).mark != Mark::Waiting {
                continue;
            }
            if self.cfa.is_error(self.tree.node(n).location) {
                self.errors.push(n);
            } else {
                self.wait(n);
            }
        }
    }

    /// The labels of all nodes that stay.
    fn invariant(&mut self) -> Vec<(LocationId, Vec<TermId>)> {
        let mut labels = vec![];
        for node in self.tree.nodes.iter().filter(|n| n.mark == Mark::Passed) {
            let parts = self.domain.assumptions(&mut self.cfa.terms, &node.label.label);
            labels.push((node.location, self.cfa.terms.and(parts)));
        }
        super::invariant(self.cfa, &self.distances, labels)
    }
}

/// Errors come first: what is refined need not be explored further.
impl<D: AbstractDomain + ?Sized> Exploration for Engine<'_, D> {
    type Found = Trace;
    type Failure = Reason;

    fn next(&mut self) -> Result<Option<u32>, Reason> {
        while let Some(n) = self.errors.pop().or_else(|| self.waiting.pop()) {
            if self.tree.node(n).mark == Mark::Waiting {
                return Ok(Some(n));
            }
        }
        Ok(None)
    }

    fn progress(&self) -> Progress {
        Progress { waiting: self.waiting.len(), stats: self.stats }
    }

    fn expand(&mut self, n: u32, _: &mut Meter) -> Result<Option<Trace>, Reason> {
        if let Some(why) = self.limits.exceeded(0) {
            return Err(reason(why));
        }
        if self.cfa.is_error(self.tree.node(n).location) {
            return self.counterexample(n);
        }
        match self.index.cover(&*self.domain, &self.tree, n) {
            Some(by) => {
                self.stats.covered += 1;
                self.tree.cover(n, by);
            }
            None => self.follow(n)?,
        }
        Ok(None)
    }
}

fn is_binary(r: Refinement) -> bool {
    matches!(r, Refinement::BinaryForward | Refinement::BinaryBackward)
}

/// Finds covers: expanded nodes by location, by which variables have values, and by these.
#[derive(Debug, Default)]
struct Index {
    groups: FxHashMap<LocationId, Vec<Group>>,
}

#[derive(Debug, Default)]
struct Group {
    variables: Vec<VarId>,
    nodes: FxHashMap<Vec<TermId>, Vec<u32>>,
}

impl Index {
    fn add<D: AbstractDomain + ?Sized>(&mut self, domain: &D, tree: &Tree<State<D>>, n: u32) {
        let node = tree.node(n);
        let (variables, values): (Vec<VarId>, Vec<TermId>) = domain.values(&node.label.label).iter().copied().unzip();
        let groups = self.groups.entry(node.location).or_default();
        let at = match groups.iter().position(|s| s.variables == variables) {
            Some(at) => at,
            None => {
                groups.push(Group { variables, nodes: FxHashMap::default() });
                groups.len() - 1
            }
        };
        let nodes = groups[at].nodes.entry(values).or_default();
        nodes.retain(|&m| m != n && tree.node(m).mark == Mark::Passed);
        nodes.push(n);
    }

    fn cover<D: AbstractDomain + ?Sized>(&self, domain: &D, tree: &Tree<State<D>>, n: u32) -> Option<u32> {
        let node = tree.node(n);
        let label = &node.label.label;
        let known = domain.values(label);
        let value = |v: &VarId| known.binary_search_by_key(v, |x| x.0).ok().map(|at| known[at].1);
        for group in self.groups.get(&node.location)? {
            let values: Option<Vec<TermId>> = group.variables.iter().map(value).collect();
            let Some(nodes) = values.and_then(|v| group.nodes.get(&v)) else { continue };
            let covers = |&&m: &&u32| {
                m != n && tree.node(m).mark == Mark::Passed && domain.leq(label, &tree.node(m).label.label)
            };
            if let Some(&m) = nodes.iter().rev().find(covers) {
                return Some(m);
            }
        }
        None
    }
}
