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
use trellis_expr::{Stmt, StmtId, TermId, Terms, Type, VarId};
use trellis_model::cfa::evidence::{Trace, Verdict};
use trellis_model::cfa::{Cfa, LocationId, paths};
use trellis_model::evidence::Reason;
use trellis_smt::path::{NotRefuted, Refutation};

use super::label::Label;
use super::post::{Mode, Post, Precision};
use super::precision::{Precisions, take_apart};
use super::refine::{Refinement, Refuter};
use super::tree::{Mark, Tree};
use super::{Outcome, Program, reason, run_along};
use crate::waitlist::{Order, Waitlist};
use trellis_meter::{Meter, Progress, Stats};

/// What labels are made of, beside the values of control variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// Values of variables.
    Explicit,
    /// Predicates.
    Predicates(Mode),
    /// Values where that is natural, predicates elsewhere.
    Product(Mode),
}

/// Which precision holds where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One for each location.
    Local,
    /// One for all.
    Global,
}

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

/// How a predicate is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Not at all.
    Whole,
    /// Into the parts of a conjunction.
    Conjuncts,
    /// Into its atoms.
    Atoms,
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
        let mode = |mode| match mode {
            Mode::Cartesian => "cartesian",
            Mode::Boolean => "boolean",
            Mode::Split => "split",
        };
        match self.domain {
            Domain::Explicit => write!(f, "explicit")?,
            Domain::Predicates(m) => write!(f, "predicates, {}", mode(m))?,
            Domain::Product(m) => write!(f, "product, {}", mode(m))?,
        }
        write!(f, ", {}", self.refinement)
    }
}

/// Can an error be reached?
pub fn check(program: &mut Program<'_>, options: &Options, meter: &mut Meter) -> Outcome {
    let mut engine = Engine::new(&mut program.large.cfa, *options, meter.clone());
    let ended = engine.run(meter);
    let stats = engine.stats();
    let verdict = match ended {
        Err(reason) => Verdict::Unknown(reason),
        Ok(Some(trace)) => Verdict::Unsafe(trace),
        Ok(None) => {
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
#[derive(Debug, Clone)]
struct State {
    label: Label,
    precision: Arc<Precision>,
}

struct Engine<'p> {
    cfa: &'p mut Cfa,
    options: Options,
    limits: Meter,
    post: Post,
    refuter: Refuter,
    precisions: Precisions,
    tree: Tree<State>,
    index: Index,
    waiting: Waitlist,
    /// Nodes in error locations.
    errors: Vec<u32>,
    /// How far each location is from an error.
    distances: Vec<Option<usize>>,
    stats: Stats,
}

impl<'p> Engine<'p> {
    fn new(cfa: &'p mut Cfa, options: Options, limits: Meter) -> Engine<'p> {
        let mode = match options.domain {
            Domain::Explicit => Mode::Cartesian,
            Domain::Predicates(mode) | Domain::Product(mode) => mode,
        };
        let post = Post::new(cfa, mode, options.max_values);
        let precisions = Precisions::new(cfa, options.domain, options.scope);
        let control = precisions.at(cfa.initial).clone();
        let state = State { label: Label::top(), precision: control };
        let order = match options.search {
            Search::Bfs => Order::Bfs,
            Search::Dfs => Order::Dfs,
            Search::Error => Order::Priority,
        };
        let distances = paths::error_distances(cfa);
        let initial = cfa.initial;
        let mut engine = Engine {
            precisions,
            post,
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
            let variables = self.cfa.terms.free_vars(t);
            for l in self.cfa.locations() {
                let (terms, post) = (&mut self.cfa.terms, &mut self.post);
                self.precisions.take_in(terms, post, l, t, variables.iter().copied());
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
        loop {
            let progress = Progress { waiting: self.waiting.len(), stats: self.stats };
            meter.check(&progress)?;
            if let Some(reason_) = self.limits.exceeded(0) {
                return Err(reason(reason_));
            }
            if let Some(n) = self.errors.pop() {
                if self.tree.node(n).mark == Mark::Waiting
                    && let Some(trace) = self.counterexample(n)?
                {
                    return Ok(Some(trace));
                }
                continue;
            }
            let Some(n) = self.waiting.pop() else { return Ok(None) };
            if self.tree.node(n).mark != Mark::Waiting {
                continue;
            }
            match self.index.cover(&self.tree, n) {
                Some(by) => {
                    self.stats.covered += 1;
                    self.tree.cover(n, by);
                }
                None => self.expand(n)?,
            }
        }
    }

    fn expand(&mut self, n: u32) -> Result<(), Reason> {
        self.stats.expanded += 1;
        let pending = std::mem::take(&mut self.tree.node_mut(n).pending);
        let before = self.tree.node(n).label.label.assumptions(&mut self.cfa.terms, &self.post.predicates);
        for e in pending {
            let to = self.cfa.edge(e).to;
            let error = self.cfa.is_error(to);
            let precision = if error { Arc::default() } else { self.precisions.at(to).clone() };
            let labels = self.post.successors(self.cfa, &before, e, &precision, &self.limits).map_err(reason)?;
            for label in labels {
                self.stats.added += 1;
                self.stats.steps += 1;
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
        self.index.add(&self.tree, n);
        Ok(())
    }

    /// A run to this node; or the precision is refined and the node is gone.
    fn counterexample(&mut self, n: u32) -> Result<Option<Trace>, Reason> {
        let nodes = self.tree.path(n);
        let edges = self.tree.edges(n);
        let path: Vec<StmtId> = edges.iter().map(|&e| self.cfa.edge(e).stmt).collect();
        let mut labels = vec![];
        for &n in &nodes[1..] {
            let label = self.tree.node(n).label.label.clone();
            labels.push(label.assumptions(&mut self.cfa.terms, &self.post.predicates));
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
        if !matches!(self.options.domain, Domain::Predicates(_))
            && undecided.is_some()
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
        all.retain(|&v| self.cfa.variables.contains(&v) && !matches!(self.cfa.terms.variable(v).ty, Type::Array(..)));
        let mut pivot = None;
        for (i, &n) in nodes.iter().enumerate().take(nodes.len() - 1).skip(1) {
            let l = self.tree.node(n).location;
            self.precisions.at_mut(l).variables.extend(&all);
            if pivot.is_none() && !all.is_subset(&self.tree.node(n).label.precision.variables) {
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
            let had = self.tree.node(n).label.precision.clone();
            let (terms, post) = (&mut self.cfa.terms, &mut self.post);
            let new = self.precisions.learn(terms, post, location, refutation, i, split);
            let now = self.precisions.at(location);
            let lacks = !now.variables.is_subset(&had.variables) || !now.predicates.is_subset(&had.predicates);
            let said = self.cfa.terms.as_bool(refutation.predicates[i]).is_none();
            if (new || (lacks && said)) && pivot.is_none() {
                pivot = Some(i);
            }
        }
        pivot
    }

    fn prune(&mut self, nodes: &[u32], pivot: usize) {
        let mut freed = vec![];
        match self.options.pruning {
            Pruning::Lazy => {
                let edge = self.tree.node(nodes[pivot]).edge.expect("not the root");
                self.tree.retract(nodes[pivot - 1], edge, &mut freed);
            }
            Pruning::Full => {
                let state = self.tree.node(0).label.clone();
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
            let parts = node.label.label.assumptions(&mut self.cfa.terms, &self.post.predicates);
            labels.push((node.location, self.cfa.terms.and(parts)));
        }
        super::invariant(self.cfa, &self.distances, labels)
    }
}

fn is_binary(r: Refinement) -> bool {
    matches!(r, Refinement::BinaryForward | Refinement::BinaryBackward)
}

/// The conditions that a statement assumes, as atoms over what is before it (as far as that is easily said).
pub(crate) fn assumptions(terms: &Terms, s: StmtId, out: &mut Vec<TermId>) {
    match *terms.stmt(s) {
        Stmt::Assume(t) => take_apart(terms, t, Split::Atoms, out),
        Stmt::If(c, a, b) => {
            take_apart(terms, c, Split::Atoms, out);
            assumptions(terms, a, out);
            assumptions(terms, b, out);
        }
        Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => parts.iter().for_each(|&p| assumptions(terms, p, out)),
        _ => {}
    }
}

/// Finds covers: expanded nodes by location, by which variables have values, and by these.
#[derive(Debug, Default)]
struct Index {
    shapes: FxHashMap<LocationId, Vec<Shape>>,
}

#[derive(Debug, Default)]
struct Shape {
    variables: Vec<VarId>,
    nodes: FxHashMap<Vec<TermId>, Vec<u32>>,
}

impl Index {
    fn add(&mut self, tree: &Tree<State>, n: u32) {
        let node = tree.node(n);
        let (variables, values): (Vec<VarId>, Vec<TermId>) = node.label.label.values.iter().copied().unzip();
        let shapes = self.shapes.entry(node.location).or_default();
        let at = match shapes.iter().position(|s| s.variables == variables) {
            Some(at) => at,
            None => {
                shapes.push(Shape { variables, nodes: FxHashMap::default() });
                shapes.len() - 1
            }
        };
        let nodes = shapes[at].nodes.entry(values).or_default();
        nodes.retain(|&m| m != n && tree.node(m).mark == Mark::Passed);
        nodes.push(n);
    }

    fn cover(&self, tree: &Tree<State>, n: u32) -> Option<u32> {
        let node = tree.node(n);
        let label = &node.label.label;
        for shape in self.shapes.get(&node.location)? {
            let values: Option<Vec<TermId>> = shape.variables.iter().map(|&v| label.value(v)).collect();
            let Some(nodes) = values.and_then(|v| shape.nodes.get(&v)) else { continue };
            let covers = |&&m: &&u32| {
                m != n && tree.node(m).mark == Mark::Passed && label.cubes_within(&tree.node(m).label.label)
            };
            if let Some(&m) = nodes.iter().rev().find(covers) {
                return Some(m);
            }
        }
        None
    }
}
