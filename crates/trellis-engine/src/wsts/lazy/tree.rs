//! The abstract reachability tree of 003's Algorithm 2, over whatever describes regions ([`RegionDomain`]).
//!
//! Many nodes have the same region under the same predicates, so their successors are computed once.
//!
//! Subtrees are cut off when their root is refined; the root waits again.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_model::counter::evidence::{Certificate, Verdict};
use trellis_model::evidence::Reason;

use super::{Control, Counts, Options};
use crate::explore::{Exploration, Mark, explore};
use trellis_meter::{Board, MOST_NODES, Meter, Progress, Role, Round, RoundEdge, RoundNode, Stats};

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
    fn run(&mut self, errors: &[Self::Error], commands: &[Command]) -> Result<Verdict, Reason>;
    /// Why the target is not reached: the start and these regions, which do not meet it, are closed under all commands.
    fn certificate(&mut self, regions: impl Iterator<Item = Self::Region>) -> Result<Certificate, Reason>;
    /// How many predicates there are.
    fn predicates(&self) -> usize;
    /// A region in words, line by line.
    fn describe(&self, region: Self::Region) -> Vec<String>;
    /// A command in words.
    fn command(&self, command: Command) -> String;
    /// The predicates of a set, in words.
    fn known(&self, precision: Precision) -> Vec<String>;
}

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
        }
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
    pub fn run(&mut self, meter: &mut Meter) -> Result<Verdict, Reason> {
        self.board = meter.board().clone();
        let (region, precision) = self.domain.start()?;
        self.add(None, 0, precision, region);
        if let Some(found) = explore(self, meter)? {
            return Ok(found);
        }
        self.board.round(|| self.picture("the proof: nothing waits, and no region meets the target".into(), None));
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
    fn picture(&self, title: String, trace: Option<(NodeId, NodeId)>) -> Round {
        let mut on = BTreeSet::new();
        if let Some((pivot, error)) = trace {
            let mut at = error;
            while at != pivot {
                on.insert(at);
                let Some((parent, _)) = self.nodes[at as usize].parent else { break };
                at = parent;
            }
        }
        let (mut round, mut order) = (Round { title, ..Round::default() }, vec![0]);
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
            round.nodes.push(RoundNode { lines: self.domain.describe(node.region), role });
            for &child in node.children.iter().filter(|c| self.nodes[**c as usize].mark != Mark::Undone) {
                if order.len() == MOST_NODES {
                    round.cut = true;
                    break;
                }
                let label = self.nodes[child as usize].parent.map_or_else(String::new, |p| self.domain.command(p.1));
                round.edges.push(RoundEdge { from: next, to: order.len(), label, covers: false });
                order.push(child);
            }
            next += 1;
        }
        round
    }

    /// An error node: the run is real, or a pivot is found and refined.
    fn refine(&mut self, error: NodeId) -> Result<Option<Verdict>, Reason> {
        let Pivot { at, real, errors, commands } = self.pivot(error)?;
        if real {
            self.board.round(|| self.picture("a real run: even the start meets the error region".into(), Some((at, error))));
            return self.domain.run(&errors, &commands).map(Some);
        }
        self.stats.refinements += 1;
        self.counts.at_root += u64::from(at == 0);
        let Node { depth, region, precision, at: since, .. } = self.nodes[at as usize];
        let board = self.board.clone();
        let was = if board.is_recording() { self.domain.known(precision) } else { vec![] };
        self.counts.deepest_pivot = self.counts.deepest_pivot.max(depth);
        let gained = self.domain.refine((region, precision), &errors, &commands)?;
        board.round(|| {
            let new: Vec<String> = self.domain.known(gained).into_iter().filter(|p| !was.contains(p)).collect();
            self.picture(format!("round {}: the pivot learns {}", self.stats.refinements, new.join("; ")), Some((at, error)))
        });
        self.nodes[at as usize].precision = gained;

        let mut gone = std::mem::take(&mut self.nodes[at as usize].children);
        while let Some(n) = gone.pop() {
            let node = &mut self.nodes[n as usize];
            gone.append(&mut node.children);
            if node.mark == Mark::Waiting {
                self.waiting.remove(&(node.key, n));
            }
            node.mark = Mark::Undone;
        }
        self.asked.clear();
        self.covering.clear();
        for n in std::mem::take(&mut self.uncovered) {
            if n != at && self.nodes[n as usize].mark == Mark::Passed {
                self.uncover(n);
            }
        }
        self.open(at);
        for n in 0..self.nodes.len() as NodeId {
            if self.nodes[n as usize].mark == Mark::Covered && self.nodes[n as usize].at > since {
                self.open(n);
            }
        }
        Ok(None)
    }
}

impl<D: RegionDomain> Exploration for Tree<D> {
    type Found = Verdict;
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

    fn expand(&mut self, id: NodeId, _: &mut Meter) -> Result<Option<Verdict>, Reason> {
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
