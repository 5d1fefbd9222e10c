//! Lazy abstraction with interpolants (K. L. McMillan, CAV 2006) in the terms of 002: abstract labels start as coarse as can be and are
//! strengthened along a path, from the root, only when they must be.
//!
//! What 002 calls the concrete label of a node is the path to it: it is never computed, only refuted. So `block` takes the whole
//! path at once, by a refutation with one predicate for each position (002's sequence interpolation): when a path of labels
//! reaches an error (`disable`), and to let an older node cover a newer one that the path to it allows (`cover`, McMillan's forced covering).
//! A node that is strengthened reviews what it covers; who loses its cover waits again. The loop is that of all lazy abstraction
//! ([`crate::abstraction`]), the tree that of `cegar`.
//!
//! The values of control variables are part of the key, as locations are. Labels are conjunctions of predicates; nothing is
//! computed from them but whether they follow from each other, and whether an edge can be taken.

use rustc_hash::FxHashMap;
use trellis_expr::{StmtId, TermId, VarId};
use trellis_model::cfa::evidence::{Trace, Verdict};
use trellis_model::cfa::{Cfa, LocationId, paths};
use trellis_model::evidence::Reason;
use trellis_smt::path::{NotRefuted, Refutation};
use trellis_smt::{Embedded, Solver};

use super::label::equal;
use super::post::{Mode, Post, Precision};
use super::refine::{Refinement, Refuter};
use super::tree::{Mark, Tree};
use super::{Outcome, Program, reason, run_along};
use crate::abstraction::{self as algorithm, Search};
use crate::waitlist::{Order, Waitlist};
use trellis_meter::{Meter, Progress, Stats};

/// How to explore and refine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How a path becomes predicates; not by binary interpolants, which say nothing about the rest of the path.
    pub refinement: Refinement,
    /// Depth first, or breadth first.
    pub depth_first: bool,
    /// Whether covers are forced.
    pub force: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { refinement: Refinement::Sequence, depth_first: true, force: true }
    }
}

/// Can an error be reached?
pub fn check(program: &mut Program<'_>, options: &Options, meter: &mut Meter) -> Outcome {
    let mut engine = Engine::new(&mut program.large.cfa, *options, meter.clone());
    let ended = algorithm::check(&mut engine, meter);
    let stored = engine.tree.nodes.iter().filter(|n| n.mark == Mark::Passed).count() as u64;
    let stats = Stats { stored, ..engine.stats };
    let verdict = match ended {
        Err(End::Stopped(reason)) => Verdict::Unknown(reason),
        Err(End::Found(trace)) => Verdict::Unsafe(program.trace(&trace)),
        Ok(()) => {
            let invariant = engine.invariant();
            let terms = program.large.cfa.terms.clone();
            Verdict::Safe(program.certificate(terms, 1, invariant))
        }
    };
    Outcome::new(verdict, stats)
}

/// Why a search ends early.
enum End {
    Found(Trace),
    Stopped(Reason),
}

impl From<Reason> for End {
    fn from(why: Reason) -> End {
        End::Stopped(why)
    }
}

/// Values of control variables, and what holds.
#[derive(Debug, Clone, Default)]
struct Label {
    values: Vec<(VarId, TermId)>,
    /// Sorted.
    facts: Vec<TermId>,
}

struct Engine<'p> {
    cfa: &'p mut Cfa,
    options: Options,
    limits: Meter,
    post: Post,
    control: Precision,
    refuter: Refuter,
    /// For what follows from what.
    solver: Embedded,
    tree: Tree<Label>,
    /// Nodes by location and values, oldest first.
    index: FxHashMap<(LocationId, Vec<TermId>), Vec<u32>>,
    waiting: Waitlist,
    /// Nodes that could cover the current one, the newest last.
    candidates: Vec<u32>,
    errors: Vec<u32>,
    distances: Vec<Option<usize>>,
    stats: Stats,
}

impl<'p> Engine<'p> {
    fn new(cfa: &'p mut Cfa, options: Options, limits: Meter) -> Engine<'p> {
        let control = Precision { variables: cfa.control.iter().copied().collect(), ..Precision::default() };
        let distances = paths::error_distances(cfa);
        let mut engine = Engine {
            post: Post::new(cfa, Mode::Cartesian, 64),
            control,
            refuter: Refuter::new(),
            solver: Embedded::new(),
            tree: Tree::new(cfa.initial, Label::default(), vec![]),
            index: FxHashMap::default(),
            waiting: Waitlist::new(if options.depth_first { Order::Dfs } else { Order::Bfs }),
            candidates: vec![],
            errors: vec![],
            distances,
            stats: Stats { added: 1, ..Stats::default() },
            cfa,
            options,
            limits,
        };
        engine.waiting.push(0, 0);
        engine
    }

    fn key(&self, n: u32) -> (LocationId, Vec<TermId>) {
        let node = self.tree.node(n);
        (node.location, node.label.values.iter().map(|x| x.1).collect())
    }

    fn assumptions(&mut self, n: u32) -> Vec<TermId> {
        let label = self.tree.node(n).label.clone();
        let mut all: Vec<TermId> = label.values.iter().map(|&(v, t)| equal(&mut self.cfa.terms, v, t)).collect();
        all.extend(label.facts);
        all
    }

    /// Does the label of `m` follow from that of `n`, which has the same key?
    fn is_within(&mut self, n: u32, m: u32) -> bool {
        let mine = &self.tree.node(n).label.facts;
        let missing: Vec<TermId> =
            self.tree.node(m).label.facts.iter().copied().filter(|f| mine.binary_search(f).is_err()).collect();
        if missing.is_empty() {
            return true;
        }
        let mut question = self.assumptions(n);
        let all = self.cfa.terms.and(missing);
        question.push(self.cfa.terms.not(all));
        self.solver.check(&self.cfa.terms, &question, &self.limits).is_unsat()
    }

    /// Strengthens labels between a common ancestor and `n` so that the label of `m` follows from that of `n`, if the path allows it.
    fn force_by(&mut self, n: u32, m: u32) -> Result<bool, Reason> {
        let path = self.tree.path(n);
        let other = self.tree.path(m);
        let shared = path.iter().zip(&other).take_while(|(a, b)| a == b).count() - 1;
        let nodes = &path[shared..];
        let start = self.assumptions(nodes[0]);
        let start = self.cfa.terms.and(start);
        let wanted = self.tree.node(m).label.facts.clone();
        let all = self.cfa.terms.and(wanted);
        let wrong = self.cfa.terms.not(all);
        let mut statements = vec![self.cfa.terms.assume(start)];
        statements.extend(nodes[1..].iter().filter_map(|&n| self.tree.node(n).edge).map(|e| self.cfa.edge(e).stmt));
        statements.push(self.cfa.terms.assume(wrong));
        match self.refuter.refute(&mut self.cfa.terms, self.options.refinement, &statements, &[], &self.limits) {
            Ok(Refutation { predicates, .. }) => {
                self.stats.refinements += 1;
                // The predicate before the last statement implies the label of `m`, which is what is wanted.
                for (&n, &p) in nodes[1..].iter().zip(&predicates[2..]) {
                    self.strengthen(n, p);
                }
                Ok(self.tree.node(n).mark == Mark::Waiting)
            }
            Err(NotRefuted::Feasible(_)) => Ok(false),
            Err(NotRefuted::Unknown(why)) => match self.limits.exceeded(0) {
                Some(_) => Err(reason(why)),
                None => Ok(false),
            },
        }
    }

    /// One more fact in a label. Covers are reviewed; a node where nothing is possible any more is taken out.
    fn strengthen(&mut self, n: u32, p: TermId) {
        if self.cfa.terms.as_bool(p) == Some(true) || self.tree.node(n).mark == Mark::Undone {
            return;
        }
        let mut freed = vec![];
        if self.cfa.terms.as_bool(p) == Some(false) {
            self.tree.remove(n, &mut freed);
        } else {
            for p in parts(self.cfa, p) {
                let facts = &mut self.tree.node_mut(n).label.facts;
                if let Err(at) = facts.binary_search(&p) {
                    facts.insert(at, p);
                }
            }
            for c in std::mem::take(&mut self.tree.node_mut(n).covers) {
                if !self.tree.is_covered_by(c, n) {
                    continue;
                }
                if self.is_within(c, n) {
                    self.tree.node_mut(n).covers.push(c);
                } else {
                    self.tree.node_mut(c).mark = Mark::Waiting;
                    freed.push(c);
                }
            }
        }
        for n in freed {
            if self.tree.node(n).mark == Mark::Waiting {
                self.waiting.push(n, 0);
            }
        }
    }

    fn follow(&mut self, n: u32) -> Result<(), Reason> {
        self.stats.expanded += 1;
        let before = self.assumptions(n);
        let l = self.tree.node(n).location;
        for e in self.cfa.outgoing(l).to_vec() {
            let to = self.cfa.edge(e).to;
            if self.distances[to.index()].is_none() {
                continue;
            }
            let error = self.cfa.is_error(to);
            let nothing = Precision::default();
            let precision = if error { &nothing } else { &self.control };
            let labels = self.post.successors(self.cfa, &before, e, precision, &self.limits).map_err(reason)?;
            for label in labels {
                self.stats.added += 1;
                self.stats.steps += 1;
                let label = Label { values: label.values, facts: vec![] };
                let child = self.tree.add(to, label, n, Some(e), vec![]);
                if error {
                    self.errors.push(child);
                } else {
                    self.waiting.push(child, 0);
                }
            }
        }
        self.tree.node_mut(n).mark = Mark::Passed;
        let key = self.key(n);
        let nodes = self.index.entry(key).or_default();
        nodes.retain(|&m| m != n && self.tree.nodes[m as usize].mark == Mark::Passed);
        nodes.push(n);
        Ok(())
    }

    /// A run to this node, or labels that exclude it.
    fn disable(&mut self, n: u32) -> Result<Option<Trace>, Reason> {
        let nodes = self.tree.path(n);
        let edges = self.tree.edges(n);
        let path: Vec<StmtId> = edges.iter().map(|&e| self.cfa.edge(e).stmt).collect();
        match self.refuter.refute(&mut self.cfa.terms, self.options.refinement, &path, &[], &self.limits) {
            Err(NotRefuted::Feasible(_)) => return run_along(self.cfa, &edges, &self.limits).map(Some),
            Err(NotRefuted::Unknown(why)) => return Err(reason(why)),
            Ok(Refutation { predicates, .. }) => {
                self.stats.refinements += 1;
                for (&n, &p) in nodes.iter().zip(&predicates) {
                    self.strengthen(n, p);
                }
            }
        }
        // Older nodes may cover these now, and all that came from them is not needed any more.
        for &n in &nodes[1..] {
            if self.tree.node(n).mark == Mark::Undone {
                break;
            }
            if self.tree.node(n).mark == Mark::Passed && self.reclose(n) {
                break;
            }
        }
        Ok(None)
    }

    /// Covers an expanded node by an older one.
    fn reclose(&mut self, n: u32) -> bool {
        let key = self.key(n);
        let older = |&&m: &&u32| m < n && self.tree.node(m).mark == Mark::Passed;
        let candidates: Vec<u32> =
            self.index.get(&key).map_or(vec![], |nodes| nodes.iter().filter(older).copied().collect());
        for m in candidates.into_iter().rev() {
            if !self.is_within(n, m) {
                continue;
            }
            let mut freed = vec![];
            self.tree.uncover(n, &mut freed);
            for c in std::mem::take(&mut self.tree.node_mut(n).children) {
                self.tree.remove(c, &mut freed);
            }
            self.stats.covered += 1;
            self.tree.cover(n, m);
            for n in freed {
                if self.tree.node(n).mark == Mark::Waiting {
                    self.waiting.push(n, 0);
                }
            }
            return true;
        }
        false
    }

    /// The labels of all nodes that stay.
    fn invariant(&mut self) -> Vec<(LocationId, Vec<TermId>)> {
        let mut labels = vec![];
        for n in 0..self.tree.nodes.len() as u32 {
            if self.tree.node(n).mark == Mark::Passed {
                let parts = self.assumptions(n);
                labels.push((self.tree.node(n).location, self.cfa.terms.and(parts)));
            }
        }
        super::invariant(self.cfa, &self.distances, labels)
    }
}

impl Search for Engine<'_> {
    type End = End;

    fn next(&mut self) -> Result<Option<u32>, End> {
        loop {
            if let Some(n) = self.errors.pop() {
                if self.tree.node(n).mark == Mark::Waiting
                    && let Some(trace) = self.disable(n)?
                {
                    return Err(End::Found(trace));
                }
                continue;
            }
            match self.waiting.pop() {
                Some(n) if self.tree.node(n).mark != Mark::Waiting => {}
                next => return Ok(next),
            }
        }
    }

    fn spend(&mut self, meter: &mut Meter) -> Result<(), End> {
        let progress = Progress { waiting: self.waiting.len(), stats: self.stats };
        meter.ask(&progress).map_err(|why| End::Stopped(why.into()))
    }

    fn newest(&mut self, n: u32) -> Option<u32> {
        let key = self.key(n);
        let passed = |&&m: &&u32| m != n && self.tree.node(m).mark == Mark::Passed;
        self.candidates = self.index.get(&key).map_or(vec![], |nodes| nodes.iter().filter(passed).copied().collect());
        self.candidates.last().copied()
    }

    fn older(&mut self, than: u32) -> Option<u32> {
        let at = self.candidates.iter().rposition(|&m| m == than)?;
        at.checked_sub(1).map(|before| self.candidates[before])
    }

    fn proves(&mut self, n: u32, by: u32) -> bool {
        self.is_within(n, by)
    }

    fn cover(&mut self, n: u32, by: u32) -> Result<bool, End> {
        self.stats.covered += 1;
        self.tree.cover(n, by);
        Ok(true)
    }

    fn force(&mut self, n: u32) -> Result<bool, End> {
        if !self.options.force {
            return Ok(false);
        }
        let newest: Vec<u32> = self.candidates.iter().rev().take(2).copied().collect();
        for m in newest {
            if m < n && self.force_by(n, m)? {
                return self.cover(n, m);
            }
        }
        Ok(false)
    }

    fn expand(&mut self, n: u32) -> Result<(), End> {
        // Strengthening labels on the way to a node may have taken it out of the tree.
        if self.tree.node(n).mark == Mark::Waiting {
            self.follow(n)?;
        }
        Ok(())
    }
}

/// The parts of a conjunction.
fn parts(cfa: &Cfa, p: TermId) -> Vec<TermId> {
    match cfa.terms.get(p) {
        trellis_expr::Term::And(parts) => parts.to_vec(),
        _ => vec![p],
    }
}
