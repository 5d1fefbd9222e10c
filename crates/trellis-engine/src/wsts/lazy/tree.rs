//! The abstract reachability tree.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_model::counter::evidence::Verdict;
use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, RuleId, System, Vector};
use trellis_model::evidence::Reason;

use super::{Control, Counts, Options};
use crate::budget::{Budget, Progress, Stats};
use crate::wsts::{beyond, run};

/// A node, by position; the root is 0.
type NodeId = u32;
/// A predicate, by position.
type Pred = u32;

/// So many steps are tried to show that several regions cover one.
const COVER: usize = 500;
/// Larger complements of the reachable region are not written down.
const LARGEST: usize = 50_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unprocessed,
    Covered,
    Uncovered,
    Deleted,
}

struct Node {
    parent: Option<(NodeId, RuleId)>,
    depth: usize,
    /// The predicates.
    known: Rc<Vec<Pred>>,
    /// Those whose states are not in the region; meaningless for the root, whose region is the start.
    excluded: Vec<Pred>,
    children: Vec<NodeId>,
    mark: Mark,
    /// When it was last processed.
    at: u64,
    /// Where it waits.
    key: u64,
}

/// The tree.
pub struct Tree<'s> {
    system: &'s System,
    control: Control,
    nodes: Vec<Node>,
    predicates: Vec<Vector>,
    numbers: FxHashMap<Vector, Pred>,
    /// For each rule the smallest states in which it can be taken.
    enabled: Vec<Vec<Vector>>,
    before: FxHashMap<(RuleId, Pred), Rc<[Vector]>>,
    waiting: BTreeSet<(u64, NodeId)>,
    clock: u64,
    random: u64,
    counts: Counts,
    pub stats: Stats,
}

impl<'s> Tree<'s> {
    /// Only the root: the start, with the atoms of the start and of the targets.
    pub fn new(system: &'s System, options: Options) -> Tree<'s> {
        let random = if let Control::Random(seed) = options.control { seed } else { 0 };
        let mut tree = Tree {
            system,
            control: options.control,
            nodes: vec![],
            predicates: vec![],
            numbers: FxHashMap::default(),
            enabled: vec![],
            before: FxHashMap::default(),
            waiting: BTreeSet::new(),
            clock: 0,
            random,
            counts: Counts::default(),
            stats: Stats::default(),
        };
        let mut known: Vec<Pred> =
            above_start(system).chain(system.target.iter().cloned()).map(|v| tree.number(v)).collect();
        known.sort_unstable();
        known.dedup();
        tree.add(None, 0, Rc::new(known), vec![]);
        tree
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        Counts { predicates: self.predicates.len(), ..self.counts }
    }

    fn number(&mut self, v: Vector) -> Pred {
        *self.numbers.entry(v).or_insert_with_key(|v| {
            self.predicates.push(v.clone());
            self.predicates.len() as Pred - 1
        })
    }

    fn add(&mut self, parent: Option<(NodeId, RuleId)>, depth: usize, known: Rc<Vec<Pred>>, excluded: Vec<Pred>) {
        let id = self.nodes.len() as NodeId;
        let (children, mark) = (vec![], Mark::Unprocessed);
        self.nodes.push(Node { parent, depth, known, excluded, children, mark, at: 0, key: 0 });
        if let Some((p, _)) = parent {
            self.nodes[p as usize].children.push(id);
        }
        self.stats.added += 1;
        self.open(id);
    }

    fn open(&mut self, id: NodeId) {
        self.clock += 1;
        let key = match self.control {
            Control::Breadth => self.nodes[id as usize].depth as u64,
            Control::Depth => u64::MAX - self.clock,
            Control::Random(_) => {
                self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                self.random >> 20
            }
        };
        let node = &mut self.nodes[id as usize];
        node.key = key;
        node.mark = Mark::Unprocessed;
        self.waiting.insert((key, id));
    }

    /// Until no node waits (then nothing is answered), or a run into the target is found.
    pub fn run(&mut self, budget: &mut Budget<'_>) -> Result<Option<Verdict>, Reason> {
        for rule in &self.system.rules {
            self.enabled.push(pre(rule, &Vector::default()).map_err(beyond)?);
        }
        while let Some((_, id)) = self.waiting.pop_first() {
            let progress = Progress { waiting: self.waiting.len(), stats: self.stats };
            budget.check(&progress, self.nodes.len() * 200)?;
            self.stats.expanded += 1;
            self.clock += 1;
            self.nodes[id as usize].at = self.clock;
            if !self.system.target.iter().all(|t| self.excludes(id, t)) {
                if let Some(found) = self.refine(id)? {
                    return Ok(Some(found));
                }
            } else if self.is_covered(id) {
                self.nodes[id as usize].mark = Mark::Covered;
                self.stats.covered += 1;
            } else {
                self.nodes[id as usize].mark = Mark::Uncovered;
                self.expand(id)?;
            }
        }
        Ok(None)
    }

    /// Is nothing at least this in the region?
    fn excludes(&self, id: NodeId, v: &Vector) -> bool {
        match self.nodes[id as usize].parent {
            None => !self.system.may_start_above(v),
            Some(_) => self.nodes[id as usize].excluded.iter().any(|e| self.predicates[*e as usize].leq(v)),
        }
    }

    fn before(&mut self, rule: RuleId, m: Pred) -> Result<Rc<[Vector]>, Reason> {
        if let Some(all) = self.before.get(&(rule, m)) {
            return Ok(all.clone());
        }
        let all: Rc<[Vector]> =
            pre(&self.system.rules[rule as usize], &self.predicates[m as usize]).map_err(beyond)?.into();
        self.before.insert((rule, m), all.clone());
        Ok(all)
    }

    fn expand(&mut self, id: NodeId) -> Result<(), Reason> {
        let known = self.nodes[id as usize].known.clone();
        let depth = self.nodes[id as usize].depth + 1;
        for rule in 0..self.system.rules.len() as RuleId {
            if self.enabled[rule as usize].iter().all(|v| self.excludes(id, v)) {
                continue;
            }
            self.stats.steps += 1;
            let mut excluded = vec![];
            for &m in known.iter() {
                if self.before(rule, m)?.iter().all(|p| self.excludes(id, p)) {
                    excluded.push(m);
                }
            }
            self.add(Some((id, rule)), depth, known.clone(), excluded);
        }
        Ok(())
    }

    /// Nodes whose regions may cover others.
    fn covering(&self) -> impl Iterator<Item = NodeId> + '_ {
        (1..self.nodes.len() as NodeId).filter(|n| self.nodes[*n as usize].mark == Mark::Uncovered)
    }

    fn is_covered(&self, id: NodeId) -> bool {
        if id == 0 {
            return false;
        }
        let depth = self.nodes[id as usize].depth;
        let before = |n: &NodeId| self.control != Control::Breadth || self.nodes[*n as usize].depth < depth;
        let candidates: Vec<NodeId> = self.covering().filter(before).collect();
        let inside = |n: &NodeId| {
            self.nodes[*n as usize].excluded.iter().all(|e| self.excludes(id, &self.predicates[*e as usize]))
        };
        if candidates.iter().any(inside) {
            return true;
        }
        !candidates.is_empty() && self.together(id, &candidates, &Vector::default(), &mut COVER.clone())
    }

    /// Is every state of the node's region that is at least `v` in the region of a candidate?
    fn together(&self, id: NodeId, candidates: &[NodeId], v: &Vector, left: &mut usize) -> bool {
        if self.excludes(id, v) {
            return true;
        }
        if *left == 0 {
            return false;
        }
        *left -= 1;
        // Whatever is outside of all must be above something that this one excludes.
        let Some(at) = candidates.iter().position(|n| !self.excludes(*n, v)) else { return false };
        self.nodes[candidates[at] as usize]
            .excluded
            .iter()
            .all(|e| self.together(id, &candidates[at + 1..], &v.join(&self.predicates[*e as usize]), left))
    }

    /// An error node: the run is real, or a pivot is found and refined.
    fn refine(&mut self, error: NodeId) -> Result<Option<Verdict>, Reason> {
        let mut layers = vec![Basis::minimal(self.system.target.iter().cloned())];
        let mut rules = vec![];
        let mut at = error;
        loop {
            let region = layers.last().expect("there is one");
            if region.iter().all(|v| self.excludes(at, v)) {
                break;
            }
            let Some((parent, rule)) = self.nodes[at as usize].parent else {
                let start = region.iter().find(|v| self.system.may_start_above(v));
                let start = start.expect("not all are excluded").clone();
                rules.reverse();
                return Ok(Some(run(self.system, &start, rules)));
            };
            let mut before = Basis::default();
            for v in region.iter() {
                for p in pre(&self.system.rules[rule as usize], v).map_err(beyond)? {
                    before.insert_minimal(p);
                }
            }
            layers.push(before);
            rules.push(rule);
            at = parent;
        }
        self.stats.refinements += 1;
        self.counts.at_root += u64::from(at == 0);
        self.counts.deepest_pivot = self.counts.deepest_pivot.max(self.nodes[at as usize].depth);
        let mut known: FxHashSet<Pred> = self.nodes[at as usize].known.iter().copied().collect();
        for layer in &layers {
            known.extend(layer.iter().map(|v| self.number(v.clone())).collect::<Vec<_>>());
        }
        let mut known: Vec<Pred> = known.into_iter().collect();
        known.sort_unstable();
        self.nodes[at as usize].known = Rc::new(known);

        let since = self.nodes[at as usize].at;
        let mut gone = std::mem::take(&mut self.nodes[at as usize].children);
        while let Some(n) = gone.pop() {
            let node = &mut self.nodes[n as usize];
            gone.append(&mut node.children);
            if node.mark == Mark::Unprocessed {
                self.waiting.remove(&(node.key, n));
            }
            node.mark = Mark::Deleted;
            node.excluded = vec![];
        }
        self.open(at);
        for n in 0..self.nodes.len() as NodeId {
            if self.nodes[n as usize].mark == Mark::Covered && self.nodes[n as usize].at > since {
                self.open(n);
            }
        }
        Ok(None)
    }

    /// How many nodes the reachable region is made of.
    pub fn uncovered(&self) -> usize {
        self.covering().count()
    }

    /// What is outside of all regions and above no initial state, as a basis. Nothing if it is too large.
    ///
    /// The regions are downward-closed, so what can be reached from below the start, where they say nothing, is in them too.
    pub fn outside(&self) -> Option<Vec<Vector>> {
        let mut basis = Basis::minimal(above_start(self.system));
        let mut done: FxHashSet<&[Pred]> = FxHashSet::default();
        for n in self.covering() {
            if !done.insert(&self.nodes[n as usize].excluded) {
                continue;
            }
            let mut next = Basis::default();
            for v in basis.iter() {
                if self.excludes(n, v) {
                    next.insert_minimal(v.clone());
                    continue;
                }
                for e in &self.nodes[n as usize].excluded {
                    next.insert_minimal(v.join(&self.predicates[*e as usize]));
                }
                if next.len() > LARGEST {
                    return None;
                }
            }
            basis = next;
        }
        Some(basis.iter().cloned().collect())
    }
}

/// The smallest vectors that are above no initial state: one for each limit of the start.
fn above_start(system: &System) -> impl Iterator<Item = Vector> + '_ {
    let limits = system.initial.iter().enumerate();
    limits.filter_map(|(v, i)| i.high.map(|h| Vector::new(vec![(v as u32, h + 1)])))
}
