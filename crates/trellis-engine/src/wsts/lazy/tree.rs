//! The abstract reachability tree of 003's Algorithm 2, over whatever describes regions ([`RegionDomain`]).
//!
//! Many nodes have the same region under the same predicates, so their successors are computed once.
//!
//! Subtrees are cut off when their root is refined; the root waits again.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::refinements::{Cut, End, History, Node as Told, Round, State};

use super::{Control, Counts, Options};
use crate::explore::{Exploration, Mark, explore};
use trellis_meter::{Board, MOST_NODES, Meter, Progress, Role, Round as Picture, RoundEdge, RoundNode, Stats};

/// A node, by position; the root is 0.
type NodeId = u32;
/// A command, by position: a rule, or any rule.
pub type Command = u32;
/// A set of predicates, by position.
pub type Precision = u32;

/// The commands that can be taken, and where they lead.
type Successors<R> = Rc<Vec<(Command, R)>>;

/// Regions of states, described by predicates. Everything that `LA[BF]` does not say is here.
pub trait RegionDomain {
    /// A region, by a small name: equal names, equal regions.
    type Region: Copy + Eq + Hash;
    /// An upward-closed set of states from which the error can be reached.
    type Error;
    /// A run into the target.
    type Run;
    /// What shows that there is none.
    type Proof;

    /// The start, and the predicates to begin with.
    fn start(&mut self) -> Result<(Self::Region, Precision), Reason>;
    /// The error region itself.
    fn targets(&mut self) -> Self::Error;
    /// Does the region meet the target? Asked of the same region again and again.
    fn is_error(&mut self, region: Self::Region) -> Result<bool, Reason>;
    /// Does the region meet an error region?
    fn meets(&mut self, region: Self::Region, error: &Self::Error) -> Result<bool, Reason>;
    /// What leads into an error region by a command. Exact.
    fn pre(&mut self, command: Command, error: &Self::Error) -> Result<Self::Error, Reason>;
    /// `post#`: where each command that can be taken leads, in terms of the predicates.
    fn post(&mut self, region: Self::Region, precision: Precision) -> Result<Vec<(Command, Self::Region)>, Reason>;
    /// May the region cover others? (Another description of the start may be none that can be compared.)
    fn covers(&self, region: Self::Region) -> bool;
    /// Is the region within these? May say no where several together would cover it.
    fn is_within(&mut self, region: Self::Region, others: impl Iterator<Item = Self::Region>) -> Result<bool, Reason>;
    /// More predicates: at least the atoms of all error regions from the error back to the pivot.
    fn refine(
        &mut self,
        pivot: (Self::Region, Precision),
        errors: &[Self::Error],
        commands: &[Command],
    ) -> Result<Precision, Reason>;
    /// A run from the start, which meets the last of the error regions, along the commands.
    fn run(&mut self, errors: &[Self::Error], commands: &[Command]) -> Result<VerdictOf<Self>, Reason>;
    /// Why the target is not reached: the start and these regions, which do not meet it, are closed under all commands.
    fn certificate(&mut self, regions: impl Iterator<Item = Self::Region>) -> Result<Self::Proof, Reason>;
    /// How many predicates there are.
    fn predicates(&self) -> usize;

    /// A region in words.
    fn region_text(&self, region: Self::Region) -> String;
    /// An error region in words.
    fn error_text(&self, error: &Self::Error) -> String;
    /// The predicates of a set, in words.
    fn precision_text(&self, precision: Precision) -> Vec<String>;
    /// A command in words.
    fn command_text(&self, command: Command) -> String;
}

/// What is answered in a domain.
pub type VerdictOf<D> = Verdict<<D as RegionDomain>::Run, <D as RegionDomain>::Proof>;

/// So many nodes are kept of a history.
const MOST_TOLD: usize = 20_000;

struct Node<R> {
    parent: Option<(NodeId, Command)>,
    depth: usize,
    precision: Precision,
    region: R,
    children: Vec<NodeId>,
    mark: Mark,
    /// When it was last processed.
    at: u64,
    /// Where it waits.
    key: u64,
}

/// Where an error trace is cut.
struct Pivot<E> {
    at: NodeId,
    /// Is it the root, and does even the start meet the error region?
    real: bool,
    /// The error regions from the error back to the pivot.
    errors: Vec<E>,
    /// The commands from the pivot to the error.
    commands: Vec<Command>,
}

/// The tree.
pub struct Tree<D: RegionDomain> {
    domain: D,
    options: Options,
    nodes: Vec<Node<D::Region>>,
    successors: FxHashMap<(D::Region, Precision), Successors<D::Region>>,
    /// Nodes that are not covered and may cover others.
    uncovered: Vec<NodeId>,
    /// Their regions, each with its least depth.
    covering: FxHashMap<D::Region, usize>,
    /// Regions that were found covered, or not, at some depth, since the last refinement.
    asked: FxHashMap<(D::Region, usize), bool>,
    /// For adverse control: nodes that would refine the root, and until when waiting ones have been looked at.
    parked: Vec<NodeId>,
    looked: u64,
    /// Where rounds are recorded.
    board: Board,
    waiting: BTreeSet<(u64, NodeId)>,
    clock: u64,
    random: u64,
    counts: Counts,
    stats: Stats,
    /// What happened, if anybody wants to know.
    history: Option<History>,
    /// So many nodes are in it.
    told: usize,
}

impl<D: RegionDomain> Tree<D> {
    /// An empty tree.
    pub fn new(domain: D, options: Options) -> Tree<D> {
        let random = if let Control::Random(seed) = options.control { seed } else { 0 };
        Tree {
            domain,
            options,
            nodes: vec![],
            successors: FxHashMap::default(),
            uncovered: vec![],
            covering: FxHashMap::default(),
            asked: FxHashMap::default(),
            parked: vec![],
            looked: 0,
            board: Board::default(),
            waiting: BTreeSet::new(),
            clock: 0,
            random,
            counts: Counts::default(),
            stats: Stats::default(),
            history: None,
            told: 0,
        }
    }

    /// Keeps what happens from now on.
    pub fn keep_history(mut self) -> Tree<D> {
        self.history = Some(History::default());
        self
    }

    /// What happened, if that was to be kept.
    pub fn history(&mut self) -> Option<History> {
        let mut history = self.history.take()?;
        let sets = self.nodes.iter().map(|n| n.precision as usize + 1).max().unwrap_or(0);
        history.precisions = (0..sets as Precision).map(|p| self.domain.precision_text(p)).collect();
        Some(history)
    }

    /// Keeps the tree as it is.
    fn tell(&mut self, end: End) {
        let Some(mut history) = self.history.take() else { return };
        let mut nodes = vec![];
        for (id, n) in self.nodes.iter().enumerate() {
            let state = match n.mark {
                Mark::Waiting => State::Waiting,
                Mark::Passed => State::Passed,
                Mark::Covered => State::Covered,
                Mark::Replaced | Mark::Undone => continue,
            };
            nodes.push(Told {
                id: id as u32,
                parent: n.parent.map(|(p, c)| (p, self.domain.command_text(c))),
                depth: n.depth,
                region: self.domain.region_text(n.region),
                precision: n.precision as usize,
                state,
            });
        }
        // The last one is always kept.
        if self.told > MOST_TOLD && history.rounds.pop().is_some() {
            history.left_out += 1;
        }
        self.told += nodes.len();
        history.rounds.push(Round { nodes, end });
        self.history = Some(history);
    }

    /// Does anybody want to know?
    fn is_told(&self) -> bool {
        self.history.is_some()
    }

    /// Counts so far.
    pub fn counts(&self) -> (Stats, Counts) {
        let stats = Stats { stored: self.uncovered.len() as u64, ..self.stats };
        (stats, Counts { predicates: self.domain.predicates(), ..self.counts })
    }

    fn add(&mut self, parent: Option<(NodeId, Command)>, depth: usize, precision: Precision, region: D::Region) {
        let id = self.nodes.len() as NodeId;
        let (children, mark) = (vec![], Mark::Waiting);
        self.nodes.push(Node { parent, depth, precision, region, children, mark, at: 0, key: 0 });
        if let Some((p, _)) = parent {
            self.nodes[p as usize].children.push(id);
        }
        self.stats.added += 1;
        self.open(id);
    }

    fn open(&mut self, id: NodeId) {
        self.clock += 1;
        let key = match self.options.control {
            Control::Breadth => self.nodes[id as usize].depth as u64,
            Control::Depth => u64::MAX - self.clock,
            Control::Adverse => self.clock,
            Control::Random(_) => {
                self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                self.random >> 20
            }
        };
        let node = &mut self.nodes[id as usize];
        node.key = key;
        node.mark = Mark::Waiting;
        self.waiting.insert((key, id));
    }

    /// Until no node waits, or a run into the target is found.
    pub fn run(&mut self, meter: &mut Meter) -> Result<VerdictOf<D>, Reason> {
        self.board = meter.board().clone();
        let (region, precision) = self.domain.start()?;
        self.add(None, 0, precision, region);
        if let Some(found) = explore(self, meter)? {
            return Ok(found);
        }
        self.board.round(|| self.picture("the proof: nothing waits, and no region meets the target".into(), None));
        self.tell(End::Closed);
        Ok(Verdict::Safe(self.domain.certificate(self.covering.keys().copied())?))
    }

    fn uncover(&mut self, id: NodeId) {
        let node = &self.nodes[id as usize];
        if self.domain.covers(node.region) {
            let least = self.covering.entry(node.region).or_insert(node.depth);
            *least = node.depth.min(*least);
            self.uncovered.push(id);
        }
    }

    fn follow(&mut self, id: NodeId) -> Result<(), Reason> {
        let Node { precision, depth, region, .. } = self.nodes[id as usize];
        let next = match self.successors.get(&(region, precision)) {
            Some(all) => all.clone(),
            None => {
                let all = Rc::new(self.domain.post(region, precision)?);
                self.successors.insert((region, precision), all.clone());
                all
            }
        };
        for (command, region) in next.iter() {
            self.stats.steps += 1;
            self.add(Some((id, *command)), depth + 1, precision, *region);
        }
        Ok(())
    }

    fn is_covered(&mut self, id: NodeId) -> Result<bool, Reason> {
        if id == 0 || self.options.control == Control::Adverse {
            return Ok(false);
        }
        let Node { depth, region, .. } = self.nodes[id as usize];
        // Breadth first, nodes of smaller depth are all there; otherwise who covers may come later.
        let stays = self.options.control == Control::Breadth && !self.options.equal_depth;
        if let Some(known) = self.asked.get(&(region, depth)).filter(|_| stays) {
            return Ok(*known);
        }
        let least = match self.options.control {
            Control::Breadth => depth + usize::from(self.options.equal_depth),
            _ => usize::MAX,
        };
        let others = self.covering.iter().filter(|(_, d)| **d < least).map(|(r, _)| *r);
        let covered =
            self.covering.get(&region).is_some_and(|d| *d < least) || self.domain.is_within(region, others)?;
        if stays {
            self.asked.insert((region, depth), covered);
        }
        Ok(covered)
    }

    /// The first node backwards from an error node whose region misses the error region; the root if there is none.
    fn pivot(&mut self, error: NodeId) -> Result<Pivot<D::Error>, Reason> {
        let mut here = self.domain.targets();
        let (mut errors, mut commands) = (vec![], vec![]);
        let (mut at, mut real) = (error, true);
        while let (true, Some((parent, command))) = (real, self.nodes[at as usize].parent) {
            let before = self.domain.pre(command, &here)?;
            errors.push(std::mem::replace(&mut here, before));
            commands.push(command);
            at = parent;
            real = self.domain.meets(self.nodes[at as usize].region, &here)?;
        }
        errors.push(here);
        commands.reverse();
        Ok(Pivot { at, real, errors, commands })
    }

    /// The tree as it is, with an error trace from the pivot on.
    fn picture(&self, title: String, trace: Option<(NodeId, NodeId)>) -> Picture {
        let mut on = BTreeSet::new();
        if let Some((pivot, error)) = trace {
            let mut at = error;
            while at != pivot {
                on.insert(at);
                let Some((parent, _)) = self.nodes[at as usize].parent else { break };
                at = parent;
            }
        }
        let (mut round, mut order) = (Picture { title, ..Picture::default() }, vec![0]);
        let mut next = 0;
        while let Some(&id) = order.get(next) {
            let node = &self.nodes[id as usize];
            let role = match trace {
                Some((pivot, _)) if pivot == id => Role::Pivot,
                Some((_, error)) if error == id => Role::Error,
                _ if on.contains(&id) => Role::Path,
                _ if node.mark == Mark::Covered => Role::Covered,
                _ if node.mark == Mark::Waiting => Role::Waiting,
                _ => Role::Plain,
            };
            round.nodes.push(RoundNode { lines: vec![self.domain.region_text(node.region)], role });
            for &child in node.children.iter().filter(|c| self.nodes[**c as usize].mark != Mark::Undone) {
                if order.len() == MOST_NODES {
                    round.cut = true;
                    break;
                }
                let label =
                    self.nodes[child as usize].parent.map_or_else(String::new, |p| self.domain.command_text(p.1));
                round.edges.push(RoundEdge { from: next, to: order.len(), label, covers: false });
                order.push(child);
            }
            next += 1;
        }
        round
    }

    /// An error node: the run is real, or a pivot is found and refined.
    fn refine(&mut self, error: NodeId) -> Result<Option<VerdictOf<D>>, Reason> {
        let Pivot { at, real, errors, commands } = self.pivot(error)?;
        let trace = self.cuts(error, &errors, real);
        if real {
            self.board
                .round(|| self.picture("a real run: even the start meets the error region".into(), Some((at, error))));
            if self.is_told() {
                let commands = commands.iter().map(|c| self.domain.command_text(*c)).collect();
                self.tell(End::Real { trace, commands });
            }
            return self.domain.run(&errors, &commands).map(Some);
        }
        self.stats.refinements += 1;
        self.counts.at_root += u64::from(at == 0);
        let Node { depth, region, precision, at: since, .. } = self.nodes[at as usize];
        let board = self.board.clone();
        let was = if board.is_recording() { self.domain.precision_text(precision) } else { vec![] };
        self.counts.deepest_pivot = self.counts.deepest_pivot.max(depth);
        let refined = self.domain.refine((region, precision), &errors, &commands)?;
        if self.is_told() {
            let deleted = self.below(at);
            let reopened = self.covered_since(since).filter(|n| !deleted.contains(n)).collect();
            let known = self.domain.precision_text(precision);
            let mut new = self.domain.precision_text(refined);
            new.retain(|p| !known.contains(p));
            let commands = commands.iter().map(|c| self.domain.command_text(*c)).collect();
            self.tell(End::Refined { trace, commands, new, deleted, reopened });
        }
        let number = self.stats.refinements;
        board.round(|| {
            let new: Vec<String> =
                self.domain.precision_text(refined).into_iter().filter(|p| !was.contains(p)).collect();
            self.picture(format!("round {number}: the pivot learns {}", new.join("; ")), Some((at, error)))
        });
        self.nodes[at as usize].precision = refined;
        for n in self.below(at) {
            let node = &mut self.nodes[n as usize];
            node.children.clear();
            if node.mark == Mark::Waiting {
                self.waiting.remove(&(node.key, n));
            }
            node.mark = Mark::Undone;
        }
        self.nodes[at as usize].children.clear();
        self.asked.clear();
        self.covering.clear();
        for n in std::mem::take(&mut self.uncovered) {
            if n != at && self.nodes[n as usize].mark == Mark::Passed {
                self.uncover(n);
            }
        }
        self.open(at);
        for n in self.covered_since(since).collect::<Vec<_>>() {
            self.open(n);
        }
        Ok(None)
    }

    /// All nodes below this one.
    fn below(&self, at: NodeId) -> Vec<NodeId> {
        let mut all = self.nodes[at as usize].children.clone();
        let mut next = 0;
        while let Some(&n) = all.get(next) {
            all.extend(&self.nodes[n as usize].children);
            next += 1;
        }
        all
    }

    /// The nodes that are covered, and were processed after this moment.
    fn covered_since(&self, since: u64) -> impl Iterator<Item = NodeId> + '_ {
        let all = self.nodes.iter().enumerate();
        all.filter(move |(_, n)| n.mark == Mark::Covered && n.at > since).map(|(n, _)| n as NodeId)
    }

    /// The error regions at the nodes from an error back to the pivot, in words, if anybody wants to know.
    fn cuts(&self, error: NodeId, errors: &[D::Error], real: bool) -> Vec<Cut> {
        if !self.is_told() {
            return vec![];
        }
        let mut all = vec![];
        let mut at = Some(error);
        for (i, e) in errors.iter().enumerate() {
            let Some(node) = at else { break };
            all.push(Cut { node, error: self.domain.error_text(e), meets: real || i + 1 < errors.len() });
            at = self.nodes[node as usize].parent.map(|p| p.0);
        }
        all
    }
}

impl<D: RegionDomain> Exploration for Tree<D> {
    type Found = VerdictOf<D>;
    type Failure = Reason;

    fn next(&mut self) -> Result<Option<NodeId>, Reason> {
        if self.options.control != Control::Adverse {
            return Ok(self.waiting.pop_first().map(|w| w.1));
        }
        // Whoever would refine the root waits elsewhere: nothing on its path changes until it is deleted.
        let new: Vec<(u64, NodeId)> = self.waiting.range((self.looked + 1, 0)..).copied().collect();
        self.looked = self.clock;
        let mut first = None;
        for (key, id) in new {
            if self.domain.is_error(self.nodes[id as usize].region)? {
                if self.pivot(id)?.at == 0 {
                    self.waiting.remove(&(key, id));
                    self.parked.push(id);
                } else {
                    first = Some((key, id));
                }
            }
        }
        if let Some(chosen) = first.or_else(|| self.waiting.first().copied()) {
            self.waiting.remove(&chosen);
            // The others of these are looked at again.
            self.looked = self.looked.min(chosen.0);
            return Ok(Some(chosen.1));
        }
        let alive = |n: &NodeId| self.nodes[*n as usize].mark == Mark::Waiting;
        let parked = std::mem::take(&mut self.parked);
        let mut parked = parked.into_iter().filter(alive);
        let chosen = parked.next();
        self.parked = parked.collect();
        Ok(chosen)
    }

    fn progress(&self) -> Progress {
        Progress { waiting: self.waiting.len(), stats: self.stats }
    }

    fn expand(&mut self, id: NodeId, _: &mut Meter) -> Result<Option<VerdictOf<D>>, Reason> {
        self.stats.expanded += 1;
        self.clock += 1;
        let node = &mut self.nodes[id as usize];
        node.at = self.clock;
        if self.domain.is_error(node.region)? {
            return self.refine(id);
        }
        if self.is_covered(id)? {
            self.nodes[id as usize].mark = Mark::Covered;
            self.stats.covered += 1;
        } else {
            self.nodes[id as usize].mark = Mark::Passed;
            self.uncover(id);
            self.follow(id)?;
        }
        Ok(None)
    }
}
