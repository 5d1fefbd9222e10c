//! Reachability on the zone graph: (locations, data) × zone, with extrapolation or simulation (DESIGN §3, 000 Alg. 2).
//!
//! A node is a key and a zone over the key's active clocks, closed under delay. A new zone that a stored one covers is
//! dropped; stored ones that it covers are *replaced* by it. If one of those had been expanded already, its successors wait
//! although those of the new zone will cover them: with [`Order::Priority`] the new zone has a higher *rank* than all of them,
//! comes first, and overtakes (Herbreteau and Tran, *Improving search order for reachability testing in timed automata*,
//! 2015). Nothing is ever removed but by being covered: removing what was reached from a replaced node is not sound, for it
//! may be all that covers the successors of some other node.
//!
//! Abstraction is by constants: Extra-M, Extra-LU, Extra-LU+ on stored zones with inclusion, or exact zones compared up to
//! `a⊑LU`. None is sound with diagonal constraints; then zones stay exact, and the exploration may not end. For deadlocks
//! every constant counts from both sides (Extra-M, and `a⊑M`, which is a bisimulation): a zone that can do more is no deadlock where a smaller one is.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use trellis_domain::zone::{Bound, Constraint, Relation, Zone, ZoneDomain};
use trellis_model::evidence::Reason;
use trellis_model::network::symmetry::Symmetry;
use trellis_model::network::{Network, Post, Query, Transition, Transitions};

use super::bounds::Bounds;
use super::canonical::{Canonical, constraints_before};
use super::space::{Keys, Stepper, Zones, ends, invariant};
use super::target::{Error, Target};
use super::trace::concretise;
use crate::explore::{Exploration, explore};
use crate::table::{NoRoom, make_room};
use crate::waitlist::{Order, Waitlist};
use trellis_meter::{Meter, Progress, Stats, StopReason};

pub use super::options::{Cover, Extrapolation, Options};
pub use crate::explore::{Mark, NONE};

/// A node of the zone graph.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its key.
    pub key: u32,
    /// Its zone.
    pub zone: u32,
    /// From where it was reached.
    pub parent: u32,
    /// By which move of the parent's key.
    pub via: u32,
    next: u32,
    /// What has become of it.
    pub mark: Mark,
}

/// Where a node stands among others, if larger zones overtake.
#[derive(Debug, Clone, Copy)]
struct Standing {
    /// The highest rank of any node reached from it.
    highest: u32,
    /// How many moves lead to it.
    depth: u32,
}

/// After so many targets that no run reaches, others are not looked at.
const MANY: u64 = 500;

/// How it ended.
#[derive(Debug)]
pub enum Ending {
    /// Everything was explored.
    Exhausted,
    /// A node with the parts of its zone (over the key's active clocks) that are looked for; none: any will do.
    Found(u32, Vec<Zone>),
    /// A limit.
    Stopped(Reason),
    /// The model is broken in this node (or before the first one).
    Broken(u32, Error),
}

/// A zone graph as far as it was explored.
pub struct ZoneGraph<'n> {
    /// The model's moves.
    pub post: Post<'n>,
    /// Keys.
    pub keys: Keys,
    /// Zones.
    pub zones: Zones,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Of each node; empty unless larger zones overtake.
    standings: Vec<Standing>,
    chains: Vec<u32>,
    options: Options,
    stepper: Stepper,
    /// What brings states into order, if there is any symmetry.
    pub canonical: Option<Canonical>,
    /// The clocks that stand still in a key, if any can.
    stopped: Option<HashMap<u32, Vec<u32>>>,
    /// How often a target was reached by zones, and by no run along that path, because clocks stand still.
    pub spurious: u64,
    /// What was counted.
    pub stats: Stats,
    /// What still waits, if a limit has interrupted the exploration.
    waiting: Option<Waitlist>,
}

impl From<StopReason> for Ending {
    fn from(why: StopReason) -> Ending {
        Ending::Stopped(why.into())
    }
}

/// The graph while it is explored.
struct Unfolding<'g, 'n> {
    graph: &'g mut ZoneGraph<'n>,
    query: &'g Query,
    target: Option<&'g mut Target>,
    waiting: Waitlist,
    moves: Transitions,
    source: Vec<Bound>,
    /// What was taken last from those that wait.
    taken: u32,
}

impl Exploration for Unfolding<'_, '_> {
    type Found = (u32, Vec<Zone>);
    type Failure = Ending;

    #[inline]
    fn next(&mut self) -> Result<Option<u32>, Ending> {
        while let Some(n) = self.waiting.pop() {
            if self.graph.nodes[n as usize].mark == Mark::Waiting {
                self.taken = n;
                return Ok(Some(n));
            }
        }
        Ok(None)
    }

    #[inline]
    fn progress(&self) -> Progress {
        Progress { waiting: self.waiting.len(), stats: self.graph.stats }
    }

    #[inline]
    fn expand(&mut self, n: u32, _: &mut Meter) -> Result<Option<(u32, Vec<Zone>)>, Ending> {
        let Unfolding { graph, query, target, waiting, moves, source, .. } = self;
        graph.nodes[n as usize].mark = Mark::Passed;
        graph.stats.expanded += 1;
        graph.expand(n, query, target, waiting, moves, source).map_err(|error| Ending::Broken(n, error))
    }
}

impl<'n> ZoneGraph<'n> {
    /// Nothing explored yet. Makes the options sound for the model and the question.
    pub fn new(net: &'n Network, query: &Query, options: Options) -> ZoneGraph<'n> {
        let post = Post::new(net);
        let mut bounds = Bounds::new(net, query);
        let options = options.sound(query, bounds.diagonal);
        if query.deadlock && options.cover == Cover::Alu {
            bounds.from_both_sides();
        }
        let keys = Keys::new(net, &post.layout, bounds);
        ZoneGraph {
            post,
            keys,
            zones: Zones::default(),
            nodes: Vec::new(),
            standings: Vec::new(),
            chains: Vec::new(),
            options,
            stepper: Stepper::default(),
            canonical: None,
            stopped: net.has_rates().then(HashMap::new),
            spurious: 0,
            stats: Stats::default(),
            waiting: None,
        }
    }

    /// The same, up to symmetry.
    pub fn up_to(mut self, symmetry: Symmetry) -> ZoneGraph<'n> {
        self.canonical = (!symmetry.is_empty()).then(|| Canonical::new(symmetry, &self.post.layout));
        self
    }

    /// What is stored, for a proof. There is nothing left to explore.
    pub fn take(&mut self) -> (Keys, Zones, Vec<Node>) {
        let bounds = self.keys.bounds.clone();
        let keys = std::mem::replace(&mut self.keys, Keys::new(self.post.network(), &self.post.layout, bounds));
        self.chains.clear();
        (keys, std::mem::take(&mut self.zones), std::mem::take(&mut self.nodes))
    }

    /// The options after they were made sound.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Explores until a target is found, or everything. Stopped by a limit, it goes on where it was when it is called again.
    pub fn explore(&mut self, query: &Query, mut target: Option<&mut Target>, meter: &mut Meter) -> Ending {
        let waiting = match self.waiting.take() {
            Some(waiting) => waiting,
            None => {
                let mut waiting = Waitlist::new(self.options.order);
                match self.start(query, &mut target, &mut waiting) {
                    Ok(None) => waiting,
                    Ok(Some((n, parts))) => return Ending::Found(n, parts),
                    Err(trouble) => return Ending::Broken(NONE, trouble),
                }
            }
        };
        let (moves, source) = (Transitions::default(), Vec::new());
        let mut unfolding = Unfolding { graph: self, query, target, waiting, moves, source, taken: NONE };
        match explore(&mut unfolding, meter) {
            Ok(None) => {}
            Ok(Some((n, parts))) => return Ending::Found(n, parts),
            Err(Ending::Stopped(why)) => {
                let Unfolding { mut waiting, taken, .. } = unfolding;
                waiting.push(taken, i64::MAX);
                self.waiting = Some(waiting);
                return Ending::Stopped(why);
            }
            Err(ending) => return ending,
        }
        self.stats.stored = self.nodes.iter().filter(|n| n.mark != Mark::Replaced).count() as u64;
        Ending::Exhausted
    }

    fn start(
        &mut self,
        query: &Query,
        target: &mut Option<&mut Target>,
        waiting: &mut Waitlist,
    ) -> Result<Option<(u32, Vec<Zone>)>, Error> {
        let (key, _) = self.post.initial()?;
        let mut constraints: Vec<Constraint> = Vec::new();
        let delay = self.post.timing(&key, &mut constraints)?;
        let (k, _) = self.keys.id(&key)?;
        self.chains.push(NONE);
        let active = self.keys.active(k);
        let d = active.domain();
        let mut zone = vec![Bound::INF; d.size()];
        d.zero(&mut zone);
        if !invariant(active, &constraints, &mut zone)? {
            return Err(self.post.broken_start().into());
        }
        self.stepper.zone = zone;
        self.settle(k, &constraints, delay)?;
        let hit = match target {
            Some(t) if t.is_discrete() => t.holds(&mut self.post, &key)?.then(Vec::new),
            Some(t) => {
                let parts = t.find(&mut self.post, query, &key, self.keys.active(k), &self.stepper.zone, delay)?;
                (!parts.is_empty()).then_some(parts)
            }
            None => None,
        };
        let n = self.add(k, NONE, 0)?;
        waiting.push(n, 0);
        let hit = match hit {
            Some(parts) if !self.is_real(NONE, 0, k, &parts)? => None,
            hit => hit,
        };
        Ok(hit.map(|parts| (n, parts)))
    }

    /// Lets time pass and extrapolates the stepper's zone.
    fn settle(&mut self, k: u32, constraints: &[Constraint], delay: bool) -> Result<(), Error> {
        let active = self.keys.active(k);
        let d = active.domain();
        let zone = &mut self.stepper.zone;
        if delay {
            match &mut self.stopped {
                None => d.up(zone),
                Some(known) => {
                    if let Entry::Vacant(place) = known.entry(k) {
                        place.insert(self.post.stopped(self.keys.get(k))?);
                    }
                    let runs = |i: usize| !known[&k].contains(&active.clocks[i]);
                    d.up_running(zone, runs);
                }
            }
            invariant(active, constraints, zone)?;
        }
        match self.options.extrapolation {
            _ if self.options.cover == Cover::Alu => {}
            Extrapolation::None => {}
            Extrapolation::M => {
                d.extra_m(zone, &active.largest())?;
            }
            Extrapolation::Lu => d.extra_lu(zone, active.lower, active.upper)?,
            Extrapolation::LuPlus => d.extra_lu_plus(zone, active.lower, active.upper)?,
        }
        Ok(())
    }

    /// Where a move leads: the number of the target's key, its zone before time passes in the stepper. Nothing if clocks do
    /// not allow the move.
    fn arrive(
        &mut self,
        canonical: &mut Option<Canonical>,
        key: u32,
        source: &[Bound],
        m: &Transition<'_>,
    ) -> Result<Option<u32>, Error> {
        let target = match canonical {
            Some(f) => {
                f.sort(&self.post.layout, m);
                &f.key
            }
            None => m.key,
        };
        let (k, is_new) = self.keys.id(target)?;
        if is_new {
            self.chains.push(NONE);
        }
        let (from, to) = (self.keys.active(key), self.keys.active(k));
        let possible = match canonical {
            Some(f) => {
                let before = |c| f.symmetry.clock_before(&f.word, c);
                self.stepper.act_renamed(from, source, m.guard, m.resets, &f.invariant, to, before)?
            }
            None => self.stepper.act(from, source, [&[], m.guard], m.resets, m.invariant, to)?,
        };
        Ok(possible.then_some(k))
    }

    /// Lets time pass there.
    fn stay(&mut self, canonical: &mut Option<Canonical>, k: u32, m: &Transition<'_>) -> Result<(), Error> {
        let Some(f) = canonical else { return self.settle(k, m.invariant, m.delay) };
        self.settle(k, &f.invariant, m.delay)?;
        if self.options.cover == Cover::Alu {
            f.sort_zone(self.keys.active(k), &mut self.stepper.zone);
        }
        Ok(())
    }

    /// The moves of the run that leads to a node, by their numbers, and the swaps that make its last state the node's.
    pub fn unfold(&mut self, mut n: u32) -> Result<(Vec<u32>, Vec<u16>), Error> {
        let mut nodes = Vec::new();
        while n != NONE {
            nodes.push(n);
            n = self.nodes[n as usize].parent;
        }
        nodes.reverse();
        if self.canonical.is_none() {
            return Ok((nodes.iter().skip(1).map(|&n| self.nodes[n as usize].via).collect(), Vec::new()));
        }
        let mut canonical = self.canonical.take();
        let unfolded = self.unfold_along(&nodes, &mut canonical);
        self.canonical = canonical;
        unfolded
    }

    fn unfold_along(
        &mut self,
        nodes: &[u32],
        canonical: &mut Option<Canonical>,
    ) -> Result<(Vec<u32>, Vec<u16>), Error> {
        let net = self.post.network();
        let (mut via, mut word) = (Vec::new(), Vec::new());
        let (mut key, _) = self.post.initial()?;
        let (mut moves, mut real) = (Transitions::default(), Transitions::default());
        for pair in nodes.windows(2) {
            let Node { key: k, zone, .. } = self.nodes[pair[0] as usize];
            self.post.moves(self.keys.get(k), &mut moves)?;
            self.post.moves(&key, &mut real)?;
            let m = moves.get(self.nodes[pair[1] as usize].via as usize);
            let source = self.zones.get(zone).to_vec();
            let k = self.arrive(canonical, k, &source, &m)?.expect("a move that was taken can be taken again");
            self.stay(canonical, k, &m)?;
            let f = canonical.as_ref().expect("there is something to unfold");
            // The same edges under their own names; a broadcast may be possible in several ways, which guards tell apart.
            let action = f.symmetry.action_before(net, &word, m.action);
            let sorted = |mut guard: Vec<Constraint>| {
                guard.sort_unstable_by_key(|c| (c.left, c.right, c.bound));
                guard
            };
            let guard = sorted(constraints_before(&f.symmetry, &word, m.guard));
            let same = |r: &Transition<'_>| r.action == action.0 && sorted(r.guard.to_vec()) == guard;
            let r = real.iter().find(same).expect("a symmetric state has symmetric moves");
            via.push(r.ordinal);
            key = r.key.to_vec();
            word.extend_from_slice(&f.word);
        }
        Ok((via, word))
    }

    fn expand(
        &mut self,
        n: u32,
        query: &Query,
        target: &mut Option<&mut Target>,
        waiting: &mut Waitlist,
        moves: &mut Transitions,
        source: &mut Vec<Bound>,
    ) -> Result<Option<(u32, Vec<Zone>)>, Error> {
        let mut canonical = self.canonical.take();
        let found = self.expand_up_to(&mut canonical, n, query, target, waiting, moves, source);
        self.canonical = canonical;
        found
    }

    #[allow(clippy::too_many_arguments)]
    fn expand_up_to(
        &mut self,
        canonical: &mut Option<Canonical>,
        n: u32,
        query: &Query,
        target: &mut Option<&mut Target>,
        waiting: &mut Waitlist,
        moves: &mut Transitions,
        source: &mut Vec<Bound>,
    ) -> Result<Option<(u32, Vec<Zone>)>, Error> {
        let Node { key, zone, .. } = self.nodes[n as usize];
        self.post.moves(self.keys.get(key), moves)?;
        source.clear();
        source.extend_from_slice(self.zones.get(zone));
        for m in moves.iter() {
            self.stats.steps += 1;
            // Refuse what one constraint refuses before the target is looked up.
            let from = self.keys.active(key);
            let d = from.domain();
            let possible = |c: &Constraint| d.satisfies(source, from.place(c.left), from.place(c.right), c.bound);
            if !m.guard.iter().all(possible) {
                continue;
            }
            if let Some(error) = m.fault {
                let mut zone = source.clone();
                if invariant(from, m.guard, &mut zone)? {
                    return Err(error.clone().into());
                }
                continue;
            }
            let Some(k) = self.arrive(canonical, key, source, &m)? else { continue };
            let discrete = target.as_ref().is_some_and(|t| t.is_discrete());
            // The key may be known from moves that clocks did not allow.
            let first = self.chains[k as usize] == NONE || self.stopped.is_some() && self.spurious < MANY;
            if let (true, true, Some(t)) = (discrete, first, target.as_ref())
                && t.holds(&mut self.post, self.keys.get(k))?
                && self.is_real(n, m.ordinal, k, &[])?
            {
                let new = self.add(k, n, m.ordinal)?;
                return Ok(Some((new, Vec::new())));
            }
            self.stay(canonical, k, &m)?;
            if !discrete && let Some(t) = target {
                let (key, to) = (self.keys.get(k), self.keys.active(k));
                let parts = t.find(&mut self.post, query, key, to, &self.stepper.zone, m.delay)?;
                if !parts.is_empty() && self.is_real(n, m.ordinal, k, &parts)? {
                    let new = self.add(k, n, m.ordinal)?;
                    return Ok(Some((new, parts)));
                }
            }
            let Some(rank) = self.admit(k, n) else {
                self.stats.covered += 1;
                continue;
            };
            let new = self.add(k, n, m.ordinal)?;
            if self.options.order == Order::Priority {
                self.raise(new, rank);
                self.raise(n, 1);
            }
            waiting.push(new, i64::from(rank));
        }
        Ok(None)
    }

    /// Does a run lead to a node's move, and to one of these parts of the target's zone (if there are any)? Zones are exact, unless clocks
    /// stand still.
    fn is_real(&mut self, parent: u32, via: u32, k: u32, parts: &[Zone]) -> Result<bool, Error> {
        if self.stopped.is_none() {
            return Ok(true);
        }
        if self.spurious < MANY {
            let mut path = Vec::new();
            if parent != NONE {
                path = self.unfold(parent)?.0;
                path.push(via);
            }
            let net = self.post.network();
            for end in ends(self.keys.active(k), parts) {
                if concretise(net, &mut self.post, &path, &end)?.is_some() {
                    return Ok(true);
                }
            }
        }
        self.spurious += 1;
        Ok(false)
    }

    /// Is the new zone needed? Takes nodes that it covers out of the chain, and answers the rank with which the new node
    /// overtakes what was reached from them; 0 if nothing was. (Breadth first, one that is no deeper comes early enough by
    /// itself.) Nothing: a stored zone covers it.
    fn admit(&mut self, k: u32, parent: u32) -> Option<u32> {
        let new = &self.stepper.zone;
        let active = self.keys.active(k);
        let d: ZoneDomain = active.domain();
        let alu = |a: &[Bound], b: &[Bound]| d.leq_alu(a, b, active.lower, active.upper);
        if self.options.cover == Cover::Alu {
            // Simulation is not an order on zones as they are stored: first all that could cover.
            let (mut before, mut at) = (NONE, self.chains[k as usize]);
            while at != NONE {
                let node = &self.nodes[at as usize];
                if alu(new, self.zones.get(node.zone)) {
                    self.move_to_front(k, before, at);
                    return None;
                }
                (before, at) = (at, node.next);
            }
            if self.options.order == Order::Shortest {
                return Some(0);
            }
        }
        let mut before = NONE;
        let mut at = self.chains[k as usize];
        let mut rank = 0;
        while at != NONE {
            let node = &self.nodes[at as usize];
            let next = node.next;
            let old = self.zones.get(node.zone);
            // No stored zone includes one that came later, so one that is included cannot be met before one that includes, unless all are kept: then
            // it does not matter.
            let covered = match self.options.cover {
                Cover::Equality if old == new => return None,
                Cover::Equality => false,
                Cover::Inclusion => match d.relation(new, old) {
                    Relation::Equal | Relation::Subset => {
                        self.move_to_front(k, before, at);
                        return None;
                    }
                    Relation::Superset => self.options.order != Order::Shortest,
                    Relation::Incomparable => false,
                },
                Cover::Alu => alu(old, new),
            };
            if covered {
                rank = rank.max(self.overtaking(at, parent));
                self.nodes[at as usize].mark = Mark::Replaced;
                match before {
                    NONE => self.chains[k as usize] = next,
                    b => self.nodes[b as usize].next = next,
                }
            } else {
                before = at;
            }
            at = next;
        }
        Some(rank)
    }

    /// What covers once soon covers again: the next zone of the key is compared with this node first.
    fn move_to_front(&mut self, k: u32, before: u32, at: u32) {
        if before != NONE {
            let first = std::mem::replace(&mut self.chains[k as usize], at);
            let next = std::mem::replace(&mut self.nodes[at as usize].next, first);
            self.nodes[before as usize].next = next;
        }
    }

    /// The rank with which a successor of `parent` overtakes what was reached from a node that it replaces.
    fn overtaking(&self, replaced: u32, parent: u32) -> u32 {
        if self.standings.is_empty() {
            return 0;
        }
        let (old, new) = (self.standings[replaced as usize], self.standings[parent as usize]);
        if old.highest > 0 && new.depth >= old.depth { 1 + old.highest } else { 0 }
    }

    /// Tells all ancestors that a node of this rank was reached from them.
    fn raise(&mut self, mut n: u32, rank: u32) {
        while n != NONE && self.standings[n as usize].highest < rank {
            self.standings[n as usize].highest = rank;
            n = self.nodes[n as usize].parent;
        }
    }

    fn add(&mut self, k: u32, parent: u32, via: u32) -> Result<u32, NoRoom> {
        if self.nodes.len() >= NONE as usize {
            return Err(NoRoom::Numbers);
        }
        let n = self.nodes.len() as u32;
        make_room(&mut self.nodes, 1)?;
        let zone = self.zones.id(&self.stepper.zone)?;
        let next = self.chains[k as usize];
        self.nodes.push(Node { key: k, zone, parent, via, next, mark: Mark::Waiting });
        if self.options.order == Order::Priority {
            let depth = if parent == NONE { 0 } else { self.standings[parent as usize].depth + 1 };
            self.standings.push(Standing { highest: 0, depth });
        }
        self.chains[k as usize] = n;
        self.stats.added += 1;
        Ok(n)
    }
}
