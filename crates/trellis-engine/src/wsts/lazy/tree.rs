//! The abstract reachability tree.
//!
//! Which predicates are below a vector is looked up once per vector; from then on regions are sets of numbers. Many nodes have the
//! same region: regions are stored once, and so is what follows from them (whether they meet the target, their successors).
//!
//! A command that raises no variable of a predicate cannot lead above it from below: if the region excludes the predicate, so does
//! what follows, and `pre` is not asked. That makes targets of 10,000 parts and wide nets bearable.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_model::counter::evidence::Verdict;
use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, RuleId, System, Vector};
use trellis_model::evidence::Reason;

use super::bits::Bits;
use super::region::{Cone, Pred, Predicates, Region, RegionId, START, above_start, pre_of};
use super::{Control, Counts, Options};
use crate::wsts::{beyond, in_time, run};
use trellis_meter::{Meter, Progress, Stats};

/// A node, by position; the root is 0.
type NodeId = u32;
/// A command, by position: a rule, or any rule.
type Command = u32;
/// A set of predicates, by position.
type KnownId = u32;

/// The commands that can be taken, and where they lead.
type Successors = Rc<Vec<(Command, RegionId)>>;

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
    parent: Option<(NodeId, Command)>,
    depth: usize,
    /// The predicates.
    known: KnownId,
    region: RegionId,
    children: Vec<NodeId>,
    mark: Mark,
    /// When it was last processed.
    at: u64,
    /// Where it waits.
    key: u64,
}

/// Where an error trace is cut.
struct Pivot {
    at: NodeId,
    /// Is it the root, and does even the start meet the error region?
    real: bool,
    /// The error regions from the error back to the pivot.
    layers: Vec<Basis>,
    /// The commands from the pivot to the error.
    commands: Vec<Command>,
}

/// The tree.
pub struct Tree<'s> {
    system: &'s System,
    options: Options,
    nodes: Vec<Node>,
    predicates: Predicates,
    numbers: FxHashMap<Vector, Pred>,
    /// The predicates as vectors.
    cones: Vec<Cone>,
    targets: Vec<Cone>,
    /// The rules of each command: one, unless they are merged.
    commands: Vec<Vec<RuleId>>,
    /// For each variable the commands that may raise it; for each command the predicates that mention such a variable.
    raisers: Vec<Vec<Command>>,
    raised: Vec<Bits>,
    /// The predicates that the start excludes.
    not_at_start: Bits,
    /// For each command the smallest states in which it can be taken.
    enabled: Vec<Vec<Cone>>,
    /// For each command and predicate the smallest states from which it leads there.
    before: Vec<FxHashMap<Pred, Vec<Cone>>>,
    regions: Vec<Region>,
    region_numbers: FxHashMap<Rc<Bits>, RegionId>,
    knowns: Vec<Rc<Vec<Pred>>>,
    /// For a region and predicates the commands that can be taken, and where they lead.
    successors: FxHashMap<(RegionId, KnownId), Successors>,
    /// Nodes that are not covered, the root apart.
    uncovered: Vec<NodeId>,
    /// Their regions, each with its least depth.
    covering: FxHashMap<RegionId, usize>,
    /// Regions that were found covered, or not, at some depth, since the last refinement.
    asked: FxHashMap<(RegionId, usize), bool>,
    /// What leads into the target by any rules, step by step.
    layers: Vec<Basis>,
    /// For adverse control: nodes that would refine the root, and until when waiting ones have been looked at.
    parked: Vec<NodeId>,
    looked: u64,
    waiting: BTreeSet<(u64, NodeId)>,
    clock: u64,
    random: u64,
    counts: Counts,
    /// Looked at inside long steps.
    limits: Meter,
    pub stats: Stats,
}

/// For each variable the commands that may raise it.
fn raisers(system: &System, merged: bool) -> Vec<Vec<Command>> {
    let mut all = system.raisers();
    if merged {
        all.iter_mut().filter(|l| !l.is_empty()).for_each(|l| *l = vec![0]);
    }
    all
}

impl<'s> Tree<'s> {
    /// Only the root: the start, with the atoms of the start and of the targets.
    pub fn new(system: &'s System, options: Options) -> Tree<'s> {
        let random = if let Control::Random(seed) = options.control { seed } else { 0 };
        let rules = 0..system.rules.len() as RuleId;
        let mut tree = Tree {
            system,
            raised: vec![Bits::default(); if options.merged { 1 } else { rules.len() }],
            raisers: raisers(system, options.merged),
            not_at_start: Bits::default(),
            commands: if options.merged { vec![rules.collect()] } else { rules.map(|r| vec![r]).collect() },
            options,
            nodes: vec![],
            predicates: Predicates::default(),
            numbers: FxHashMap::default(),
            cones: vec![],
            targets: system.target.iter().map(|t| Cone::new(system, t.clone())).collect(),
            enabled: vec![],
            before: vec![],
            regions: vec![],
            region_numbers: FxHashMap::default(),
            knowns: vec![],
            successors: FxHashMap::default(),
            uncovered: vec![],
            covering: FxHashMap::default(),
            asked: FxHashMap::default(),
            layers: vec![Basis::minimal(system.target.iter().cloned())],
            parked: vec![],
            looked: 0,
            waiting: BTreeSet::new(),
            clock: 0,
            random,
            counts: Counts::default(),
            limits: Meter::unlimited(),
            stats: Stats::default(),
        };
        let start = above_start(system).filter(|_| options.start_atoms);
        let mut known: Vec<Pred> = start.chain(system.target.iter().cloned()).map(|v| tree.number(v)).collect();
        known.sort_unstable();
        known.dedup();
        // The start has a number that no other region has.
        tree.regions.push(Region { excluded: Rc::default(), all: Bits::default(), seen: 0, error: None });
        tree.knowns.push(Rc::new(known));
        tree.add(None, 0, 0, START);
        tree
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        Counts { predicates: self.predicates.len(), ..self.counts }
    }

    fn number(&mut self, v: Vector) -> Pred {
        *self.numbers.entry(v).or_insert_with_key(|v| {
            let cone = Cone::new(self.system, v.clone());
            let id = self.predicates.push(v.clone());
            if !cone.at_start {
                self.not_at_start.insert(id);
            }
            for c in v.iter().flat_map(|(x, _)| &self.raisers[x as usize]) {
                self.raised[*c as usize].insert(id);
            }
            self.cones.push(cone);
            id
        })
    }

    fn region(&mut self, excluded: Bits) -> RegionId {
        let excluded = Rc::new(excluded);
        *self.region_numbers.entry(excluded.clone()).or_insert_with(|| {
            self.regions.push(Region { excluded, all: Bits::default(), seen: 0, error: None });
            self.regions.len() as RegionId - 1
        })
    }

    fn add(&mut self, parent: Option<(NodeId, Command)>, depth: usize, known: KnownId, region: RegionId) {
        let id = self.nodes.len() as NodeId;
        let (children, mark) = (vec![], Mark::Unprocessed);
        self.nodes.push(Node { parent, depth, known, region, children, mark, at: 0, key: 0 });
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
        node.mark = Mark::Unprocessed;
        self.waiting.insert((key, id));
    }

    /// Until no node waits (then nothing is answered), or a run into the target is found.
    pub fn run(&mut self, meter: &mut Meter) -> Result<Option<Verdict>, Reason> {
        self.limits = meter.clone();
        self.before.resize_with(self.commands.len(), FxHashMap::default);
        for command in &self.commands {
            let least = pre_of(self.system, command, &Vector::default())?;
            self.enabled.push(least.into_iter().map(|v| Cone::new(self.system, v)).collect());
        }
        while let Some(id) = self.choose()? {
            let progress = Progress { waiting: self.waiting.len(), stats: self.stats };
            meter.check(&progress)?;
            self.stats.expanded += 1;
            self.clock += 1;
            self.nodes[id as usize].at = self.clock;
            if self.is_error(id) {
                if let Some(found) = self.refine(id)? {
                    return Ok(Some(found));
                }
            } else if self.is_covered(id)? {
                self.nodes[id as usize].mark = Mark::Covered;
                self.stats.covered += 1;
            } else {
                self.nodes[id as usize].mark = Mark::Uncovered;
                if id != 0 {
                    self.uncover(id);
                }
                self.expand(id)?;
            }
        }
        Ok(None)
    }

    /// The node that comes next.
    fn choose(&mut self) -> Result<Option<NodeId>, Reason> {
        if self.options.control != Control::Adverse {
            return Ok(self.waiting.pop_first().map(|w| w.1));
        }
        // Whoever would refine the root waits elsewhere: nothing on its path changes until it is deleted.
        let new: Vec<(u64, NodeId)> = self.waiting.range((self.looked + 1, 0)..).copied().collect();
        self.looked = self.clock;
        let mut first = None;
        for (key, id) in new {
            if self.is_error(id) {
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
        let alive = |n: &NodeId| self.nodes[*n as usize].mark == Mark::Unprocessed;
        let parked = std::mem::take(&mut self.parked);
        let mut parked = parked.into_iter().filter(alive);
        let chosen = parked.next();
        self.parked = parked.collect();
        Ok(chosen)
    }

    fn uncover(&mut self, id: NodeId) {
        let node = &self.nodes[id as usize];
        let least = self.covering.entry(node.region).or_insert(node.depth);
        *least = node.depth.min(*least);
        self.uncovered.push(id);
    }

    fn is_error(&mut self, id: NodeId) -> bool {
        let id = self.nodes[id as usize].region;
        let region = &mut self.regions[id as usize];
        *region.error.get_or_insert_with(|| {
            self.targets.iter_mut().for_each(|t| t.grow(&self.predicates));
            !self.targets.iter().all(|t| t.outside(id, &region.excluded))
        })
    }

    /// Is nothing at least this in the region?
    fn excludes(&self, id: RegionId, v: &Vector) -> bool {
        match id {
            START => !self.system.may_start_above(v),
            _ => self.predicates.some_below(v, &self.regions[id as usize].excluded),
        }
    }

    fn expand(&mut self, id: NodeId) -> Result<(), Reason> {
        let Node { known, depth, region, .. } = self.nodes[id as usize];
        let next = match self.successors.get(&(region, known)) {
            Some(all) => all.clone(),
            None => {
                let all = Rc::new(self.post(region, known)?);
                self.successors.insert((region, known), all.clone());
                all
            }
        };
        for (command, region) in next.iter() {
            self.stats.steps += 1;
            self.add(Some((id, *command)), depth + 1, known, *region);
        }
        Ok(())
    }

    /// `post#`: where each command leads.
    fn post(&mut self, id: RegionId, known_id: KnownId) -> Result<Vec<(Command, RegionId)>, Reason> {
        let region = self.regions[id as usize].excluded.clone();
        let mut known = Bits::default();
        self.knowns[known_id as usize].iter().for_each(|m| known.insert(*m));
        let here = if id == START { &self.not_at_start } else { &*region };
        let kept = known.and(here);
        let mut next = vec![];
        for command in 0..self.commands.len() as Command {
            let enabled = &mut self.enabled[command as usize];
            enabled.iter_mut().for_each(|c| c.grow(&self.predicates));
            if enabled.iter().all(|c| c.outside(id, &region)) {
                continue;
            }
            let mut excluded = kept.without(&self.raised[command as usize]);
            for (n, m) in known.without(&excluded).iter().enumerate() {
                if n % 64 == 63 {
                    in_time(&self.limits)?;
                }
                let before = match self.before[command as usize].entry(m) {
                    Entry::Occupied(e) => e.into_mut(),
                    Entry::Vacant(e) => {
                        in_time(&self.limits)?;
                        let rules = &self.commands[command as usize];
                        let all = pre_of(self.system, rules, self.predicates.get(m))?;
                        e.insert(all.into_iter().map(|v| Cone::new(self.system, v)).collect())
                    }
                };
                let outside = |c: &mut Cone| {
                    c.grow(&self.predicates);
                    c.outside(id, &region)
                };
                if before.iter_mut().all(outside) {
                    excluded.insert(m);
                }
            }
            next.push((command, self.region(excluded)));
        }
        Ok(next)
    }

    fn is_covered(&mut self, id: NodeId) -> Result<bool, Reason> {
        if id == 0 || self.options.control == Control::Adverse {
            return Ok(false);
        }
        let Node { depth, region: id, .. } = self.nodes[id as usize];
        // Breadth first, nodes of smaller depth are all there; otherwise who covers may come later.
        let stays = self.options.control == Control::Breadth && !self.options.equal_depth;
        if let Some(known) = self.asked.get(&(id, depth)).filter(|_| stays) {
            return Ok(*known);
        }
        let region = &mut self.regions[id as usize];
        for (i, c) in self.cones.iter_mut().enumerate().skip(region.seen) {
            if i % 64 == 63 {
                in_time(&self.limits)?;
            }
            c.grow(&self.predicates);
            if c.outside(id, &region.excluded) {
                region.all.insert(i as Pred);
            }
        }
        region.seen = self.cones.len();
        let least = match self.options.control {
            Control::Breadth => depth + usize::from(self.options.equal_depth),
            _ => usize::MAX,
        };
        let region = &self.regions[id as usize];
        let covers = |(n, d): (&RegionId, &usize)| {
            *d < least && (*n == id || self.regions[*n as usize].excluded.within(&region.all))
        };
        let covered = self.covering.get_key_value(&id).is_some_and(covers) || self.covering.iter().any(covers);
        if stays {
            self.asked.insert((id, depth), covered);
        }
        Ok(covered)
    }

    /// The first node backwards from an error node whose region misses the error region; the root if there is none.
    fn pivot(&self, error: NodeId) -> Result<Pivot, Reason> {
        let mut layers = vec![Basis::minimal(self.system.target.iter().cloned())];
        let mut commands = vec![];
        let mut at = error;
        loop {
            let region = layers.last().expect("there is one");
            let here = self.nodes[at as usize].region;
            let real = !region.iter().all(|v| self.excludes(here, v));
            let (true, Some((parent, command))) = (real, self.nodes[at as usize].parent) else {
                commands.reverse();
                return Ok(Pivot { at, real, layers, commands });
            };
            let mut before = Basis::default();
            for v in region.iter() {
                in_time(&self.limits)?;
                for p in pre_of(self.system, &self.commands[command as usize], v)? {
                    before.insert_minimal(p);
                }
            }
            layers.push(before);
            commands.push(command);
            at = parent;
        }
    }

    /// An error node: the run is real, or a pivot is found and refined.
    fn refine(&mut self, error: NodeId) -> Result<Option<Verdict>, Reason> {
        let Pivot { at, real, layers, commands } = self.pivot(error)?;
        if real {
            let region = layers.last().expect("there is one");
            let start = region.iter().find(|v| self.system.may_start_above(v));
            let start = start.expect("not all are excluded").clone();
            let rules = self.rules(&start, &layers, &commands)?;
            return Ok(Some(run(self.system, &start, rules)));
        }
        self.stats.refinements += 1;
        self.counts.at_root += u64::from(at == 0);
        self.counts.deepest_pivot = self.counts.deepest_pivot.max(self.nodes[at as usize].depth);
        let known = self.nodes[at as usize].known;
        let mut known: FxHashSet<Pred> = self.knowns[known as usize].iter().copied().collect();
        for v in self.atoms(at, &layers, &commands)? {
            known.insert(self.number(v));
        }
        let mut known: Vec<Pred> = known.into_iter().collect();
        known.sort_unstable();
        self.nodes[at as usize].known = self.knowns.len() as KnownId;
        self.knowns.push(Rc::new(known));

        let since = self.nodes[at as usize].at;
        let mut gone = std::mem::take(&mut self.nodes[at as usize].children);
        while let Some(n) = gone.pop() {
            let node = &mut self.nodes[n as usize];
            gone.append(&mut node.children);
            if node.mark == Mark::Unprocessed {
                self.waiting.remove(&(node.key, n));
            }
            node.mark = Mark::Deleted;
        }
        self.asked.clear();
        self.covering.clear();
        for n in std::mem::take(&mut self.uncovered) {
            if n != at && self.nodes[n as usize].mark == Mark::Uncovered {
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

    /// The atoms that a pivot gets: always those of the error trace, without which it need not end.
    fn atoms(&mut self, at: NodeId, layers: &[Basis], commands: &[Command]) -> Result<Vec<Vector>, Reason> {
        let mut all: Vec<Vector> = layers.iter().flat_map(Basis::iter).cloned().collect();
        if self.options.layers {
            while self.layers.len() < layers.len() {
                let mut before = Basis::default();
                for v in self.layers.last().expect("there is one").iter() {
                    in_time(&self.limits)?;
                    for rule in &self.system.rules {
                        for p in pre(rule, v).map_err(beyond)? {
                            before.insert_minimal(p);
                        }
                    }
                }
                self.layers.push(before);
            }
            all.extend(self.layers[..layers.len()].iter().flat_map(Basis::iter).cloned());
        }
        if !self.options.project {
            return Ok(all);
        }
        // From the pivot on: what the region before still excludes, with as few variables as that takes.
        let region = self.nodes[at as usize].region;
        let mut before: Option<Basis> = None;
        for (layer, command) in layers.iter().rev().skip(1).zip(commands) {
            let mut here = vec![];
            for v in layer.iter() {
                let mut v = v.clone();
                for (x, _) in v.clone().iter() {
                    in_time(&self.limits)?;
                    let less = Vector::sorted(v.iter().filter(|e| e.0 != x).collect());
                    let missed = |p: &Vector| match &before {
                        None => self.excludes(region, p),
                        Some(all) => all.below(p).is_some(),
                    };
                    if pre_of(self.system, &self.commands[*command as usize], &less)?.iter().all(missed) {
                        v = less;
                    }
                }
                here.push(v);
            }
            before = Some(Basis::minimal(here.iter().cloned()));
            all.extend(here);
        }
        Ok(all)
    }

    /// The rules of a run from a vector of the last error region through all the others into the first.
    fn rules(&self, start: &Vector, layers: &[Basis], commands: &[Command]) -> Result<Vec<RuleId>, Reason> {
        let mut rules = vec![];
        let mut at = start;
        for (layer, command) in layers.iter().rev().skip(1).zip(commands) {
            'found: for v in layer.iter() {
                for &r in &self.commands[*command as usize] {
                    let before = pre(&self.system.rules[r as usize], v).map_err(beyond)?;
                    if before.iter().any(|p| p.leq(at)) {
                        rules.push(r);
                        at = v;
                        break 'found;
                    }
                }
            }
        }
        Ok(rules)
    }

    /// How many nodes the reachable region is made of.
    pub fn uncovered(&self) -> usize {
        self.uncovered.len()
    }

    /// What is outside of all regions and above no initial state, as a basis. Nothing if it is too large.
    ///
    /// The regions are downward-closed, so what can be reached from below the start, where they say nothing, is in them too.
    pub fn outside(&self) -> Option<Vec<Vector>> {
        // If the start is in a region, that is where to begin: the start has nothing to add.
        let holds_start = |n: &&RegionId| self.regions[**n as usize].excluded.within(&self.not_at_start);
        let first =
            self.covering.keys().filter(holds_start).min_by_key(|n| self.regions[**n as usize].excluded.iter().count());
        let mut basis = match first {
            Some(n) => {
                Basis::minimal(self.regions[*n as usize].excluded.iter().map(|e| self.predicates.get(e).clone()))
            }
            None => Basis::minimal(above_start(self.system)),
        };
        for &n in self.covering.keys().filter(|n| Some(*n) != first) {
            let mut next = Basis::default();
            for v in basis.iter() {
                in_time(&self.limits).ok()?;
                if self.excludes(n, v) {
                    next.insert_minimal(v.clone());
                    continue;
                }
                for e in self.regions[n as usize].excluded.iter() {
                    next.insert_minimal(v.join(self.predicates.get(e)));
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
