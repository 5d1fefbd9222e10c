//! Liveness of timed networks on the zone graph: `A<> p`, `E[] p`, `p --> q`, with clock constraints in the conditions.
//!
//! All three ask for a maximal run that *stays* in a condition φ, during delays too. A run is maximal if it has infinitely
//! many steps, or time passes forever, or it gets to where neither time may pass nor a step is possible. With
//! `non_zeno` infinitely many steps count only if infinitely much time passes.
//!
//! A node is a key, a [cell](super::cells) (so that φ has one value), and a zone, closed under delay within the cell and the
//! invariant and abstracted by Extra-M: every valuation of it is in the region of one that is really reached (Bouyer, *Forward
//! analysis of updatable timed automata*, 2004), so that a cycle of nodes can be gone round as often as one likes; as regions
//! are finite in number, then also forever (Tripakis, Yovine, Bouajjani, *Checking timed Büchi automata emptiness efficiently*,
//! 2005). Zones are compared by equality: inclusion does not preserve cycles. Delays into another cell are edges of
//! their own. φ-nodes get ranks by peeling, as in [`crate::liveness`].
//!
//! For divergence there is one more clock, set to 0 by every step that it finds at 1 or more: such steps are *marked*, and time
//! diverges along a run with infinitely many steps if and only if infinitely many are. Ranks do not grow along any step
//! and become smaller along marked ones.
//!
//! With differences of clocks compared, zones stay exact, and the exploration may not end. What this deliberately does not
//! do: `deadlock` in conditions, priorities, lattice variables. They are refused by name.

mod evidence;

use rustc_hash::FxHashMap;
use trellis_domain::zone::{Bound, Constraint, Zone};
use trellis_expr::VarId;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{Condition, Judge, Network, Post, Query, QueryKind, SetClock, Transition, Transitions};

use super::bounds::Bounds;
use super::cells::{self, Cell};
use super::cycle;
use super::space::{Keys, Stepper, Zones, invariant};
use super::target::{Error, enabling};
pub(super) use crate::explore::NONE;
use crate::explore::{self, Exploration, InOrder};
use crate::network::{Answer, Broken};
use trellis_meter::{Meter, Progress, Stats, StopReason};

/// A node.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub key: u32,
    pub cell: Cell,
    pub zone: u32,
    /// From where it was reached first: the number of an edge.
    parent: u32,
    /// Is φ true?
    pub stays: bool,
    /// Does the question start here?
    pub starts: bool,
    /// Can a run that stays end here?
    pub ends: bool,
}

/// An edge between nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub from: u32,
    /// The number of the move; [`NONE`] for a delay into another cell.
    pub via: u32,
    pub marked: bool,
    /// It sets the clock that is watched.
    pub sets: bool,
    pub to: u32,
}

/// The number of the step that is no more than a period of time being complete.
const TICK: u32 = u32::MAX - 1;

/// How time is measured, by which clock.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measure {
    /// Not at all.
    None,
    /// Steps that find the clock at 1 or more are marked.
    Steps(u32),
    /// Whenever the clock is so much, a marked step of its own sets it to 0.
    Ticks(u32, i32),
}

impl Measure {
    fn clock(self) -> Option<u32> {
        match self {
            Measure::None => None,
            Measure::Steps(z) | Measure::Ticks(z, _) => Some(z),
        }
    }
}

/// What is the same for all nodes of a key.
struct Place {
    delay: bool,
    invariant: Vec<Constraint>,
    atoms: Vec<Constraint>,
}

/// What is asked of each cell.
struct Question {
    /// φ: the condition, and its value.
    stays: (Judge, bool),
    starts: Option<Judge>,
}

pub(super) struct Graph<'n> {
    net: &'n Network,
    query: &'n Query,
    question: Question,
    pub post: Post<'n>,
    keys: Keys,
    zones: Zones,
    places: Vec<Place>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    index: FxHashMap<(u32, Cell, u32), u32>,
    stepper: Stepper,
    pub stats: Stats,
    measure: Measure,
    /// The clock of which is noted when it is set.
    watched: u32,
}

/// From where, by which move, whether it is marked and sets the watched clock.
type Step = (u32, u32, bool, bool);

pub(super) enum Failure {
    Limit(Reason),
    /// In a node, or before the first.
    Broken(u32, Error),
}

pub(super) fn unknown(why: &str) -> Answer {
    refused(Reason::Unsupported(why.into()), Stats::default())
}

pub(super) fn refused(reason: Reason, stats: Stats) -> Answer {
    Answer { verdict: Verdict::Unknown(reason), stats, inconclusive: None, bound: None, clock_bound: None }
}

/// Answers a question about maximal runs. With `non_zeno`, runs with infinitely many steps in finite time do not count.
pub fn live(net: &Network, query: &Query, non_zeno: bool, meter: &mut Meter) -> Result<Answer, Box<Broken>> {
    if !matches!(query.kind, QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..)) {
        return Ok(unknown("this is not a question about maximal runs"));
    }
    if query.deadlock {
        return Ok(unknown("`deadlock` in a question about maximal runs of a timed model"));
    }
    if net.has_rates() {
        return Ok(unknown("liveness where clocks can stand still"));
    }
    if !net.lattices.is_empty() {
        return Ok(unknown("liveness of models with both clocks and lattice variables"));
    }
    if query.atoms.len() > cells::MAX_ATOMS {
        return Ok(unknown("so many clock constraints in a question about maximal runs"));
    }
    if !non_zeno {
        return search(net, net, query, Measure::None, meter);
    }
    let (measured, z) = with_measure(net);
    search(net, &measured, query, Measure::Steps(z), meter)
}

/// The network with one more clock.
pub(super) fn with_measure(net: &Network) -> (Network, u32) {
    let mut measured = net.clone();
    measured.clocks.push("the measure of divergence".into());
    let z = measured.clocks.len() as u32;
    (measured, z)
}

/// `net` is as the user knows it, `measured` perhaps with one more clock.
fn search(
    net: &Network,
    measured: &Network,
    query: &Query,
    measure: Measure,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let mut g = Graph::new(measured, query, measure);
    if let Err(stop) = g.explore(meter) {
        g.stats.stored = g.nodes.len() as u64;
        let out_of_range = || Reason::Unsupported("clock constants beyond 2^28".into());
        return match stop {
            Failure::Limit(reason) => Ok(refused(reason, g.stats)),
            Failure::Broken(_, Error::Range) => Ok(refused(out_of_range(), g.stats)),
            Failure::Broken(_, Error::Room(why)) => Ok(refused(why.into(), g.stats)),
            Failure::Broken(n, Error::Model(error)) => {
                let trace = if n == NONE { None } else { g.trace_to(net, n).ok().flatten() };
                Err(Box::new(Broken { trace, error: *error }))
            }
        };
    }
    g.stats.stored = g.nodes.len() as u64;
    let ranks = cycle::ranks(&g.nodes, &g.edges, measure.clock().is_some());
    let bad = |n: &&Node| n.starts && n.stays;
    if g.nodes.iter().zip(&ranks).all(|(n, r)| !bad(&n) || r.is_some()) {
        let certificate = g.certificate(&ranks);
        let verdict = Verdict::Safe(certificate);
        return Ok(Answer { verdict, stats: g.stats, inconclusive: None, bound: None, clock_bound: None });
    }
    match g.counterexample(net, &ranks) {
        Ok(Some(trace)) => Ok(Answer {
            verdict: Verdict::Unsafe(trace),
            stats: g.stats,
            inconclusive: None,
            bound: None,
            clock_bound: None,
        }),
        // There is such a run, but no answer without evidence.
        Ok(None) => {
            Ok(refused(Reason::Unsupported("a run that exists, but was not found with exact delays".into()), g.stats))
        }
        Err(Error::Range) => Ok(refused(Reason::Unsupported("clock constants beyond 2^28".into()), g.stats)),
        Err(Error::Room(why)) => Ok(refused(why.into(), g.stats)),
        Err(Error::Model(error)) => Err(Box::new(Broken { trace: None, error: *error })),
    }
}

impl From<StopReason> for Failure {
    fn from(why: StopReason) -> Failure {
        Failure::Limit(why.into())
    }
}

/// A graph that is explored in full.
struct Unfolding<'g, 'n> {
    graph: &'g mut Graph<'n>,
    moves: Transitions,
    order: InOrder,
}

impl Exploration for Unfolding<'_, '_> {
    type Found = ();
    type Failure = Failure;

    fn next(&mut self) -> Result<Option<u32>, Failure> {
        Ok(self.order.next(self.graph.nodes.len()))
    }

    fn progress(&self) -> Progress {
        Progress { waiting: self.order.waiting(self.graph.nodes.len()), stats: self.graph.stats }
    }

    fn expand(&mut self, n: u32, _: &mut Meter) -> Result<Option<()>, Failure> {
        self.graph.stats.expanded += 1;
        if self.graph.nodes[n as usize].stays || self.graph.question.starts.is_some() {
            self.graph.expand(n, &mut self.moves).map_err(|e| Failure::Broken(n, e))?;
        }
        Ok(None)
    }
}

impl<'n> Graph<'n> {
    pub fn new(net: &'n Network, query: &'n Query, measure: Measure) -> Graph<'n> {
        let post = Post::new(net);
        let mut bounds = Bounds::new(net, query);
        if let Some(z) = measure.clock() {
            bounds.compare_everywhere(z, if let Measure::Ticks(_, period) = measure { period } else { 1 });
        }
        let compile = |c: Condition| post.compile(c, false);
        let question = match query.kind {
            QueryKind::Eventually(p) => Question { stays: (compile(p), false), starts: None },
            QueryKind::PotentiallyAlways(p) => Question { stays: (compile(p), true), starts: None },
            QueryKind::LeadsTo(p, q) => Question { stays: (compile(q), false), starts: Some(compile(p)) },
            QueryKind::ClockBound { when, .. } => {
                Question { stays: (compile(when), true), starts: Some(compile(when)) }
            }
            _ => unreachable!("other questions were refused"),
        };
        let watched = if let QueryKind::ClockBound { clock, .. } = query.kind { clock } else { 0 };
        Graph {
            net,
            query,
            question,
            keys: Keys::new(net, &post.layout, bounds),
            post,
            zones: Zones::default(),
            places: Vec::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            index: FxHashMap::default(),
            stepper: Stepper::default(),
            stats: Stats::default(),
            measure,
            watched,
        }
    }

    pub fn explore(&mut self, meter: &mut Meter) -> Result<(), Failure> {
        self.start().map_err(|e| Failure::Broken(NONE, e))?;
        let mut unfolding = Unfolding { graph: self, moves: Transitions::default(), order: InOrder::default() };
        explore::explore(&mut unfolding, meter).map(|_| ())
    }

    pub fn start(&mut self) -> Result<(), Error> {
        let (key, _) = self.post.initial()?;
        let k = self.key(&key)?;
        let active = self.keys.active(k);
        let mut zone = Zone::zero(active.domain().clocks());
        if !invariant(active, &self.places[k as usize].invariant, &mut zone)? {
            return Err(self.post.broken_start().into());
        }
        for (cell, zone) in cells::split(active, &zone, &self.places[k as usize].atoms)? {
            self.reach(k, cell, zone, (NONE, NONE, false, false))?;
        }
        Ok(())
    }

    /// The number of a key.
    fn key(&mut self, key: &[u64]) -> Result<u32, Error> {
        let (k, is_new) = self.keys.id(key)?;
        if is_new {
            let mut invariant = Vec::new();
            let delay = self.post.timing(key, &mut invariant)?;
            if let Measure::Ticks(z, period) = self.measure {
                invariant.push(Constraint { left: z, right: 0, bound: Bound::le(period) });
            }
            let atoms = self.query.atoms.iter().map(|(_, a)| self.post.atom(key, a));
            let atoms = atoms.collect::<Result<Vec<_>, _>>()?;
            self.places.push(Place { delay, invariant, atoms });
        }
        Ok(k)
    }

    /// Comes to a cell with some valuations, lets time pass within it, and finds the node.
    fn reach(&mut self, k: u32, cell: Cell, mut zone: Zone, by: Step) -> Result<(), Error> {
        let (from, via, marked, sets) = by;
        let active = self.keys.active(k);
        let place = &self.places[k as usize];
        let d = active.domain();
        if place.delay {
            d.up(&mut zone);
            let inside = cells::constraints(&place.atoms, cell).unwrap_or_default();
            invariant(active, &place.invariant, &mut zone)?;
            invariant(active, &inside, &mut zone)?;
        }
        if !self.keys.bounds.diagonal {
            d.extra_m(&mut zone, &active.largest())?;
        }
        let zone = self.zones.id(&zone)?;
        let edge = self.edges.len() as u32;
        let to = match self.index.get(&(k, cell, zone)) {
            Some(&to) => {
                self.stats.covered += 1;
                to
            }
            None => {
                let truths = self.truths(cell);
                let key = self.keys.get(k);
                let (judge, value) = &self.question.stays;
                let stays = (self.post.judge_with(judge, key, &truths)? != 0) == *value;
                let starts = match &self.question.starts {
                    None => from == NONE,
                    Some(p) => self.post.judge_with(p, key, &truths)? != 0,
                };
                let to = self.nodes.len() as u32;
                assert!(to < NONE, "more than four billion states");
                self.nodes.push(Node { key: k, cell, zone, parent: edge, stays, starts, ends: false });
                self.index.insert((k, cell, zone), to);
                self.stats.added += 1;
                if from == NONE {
                    self.nodes[to as usize].parent = NONE;
                }
                to
            }
        };
        if from != NONE {
            self.edges.push(Edge { from, via, marked, sets, to });
        }
        Ok(())
    }

    fn truths(&self, cell: Cell) -> Vec<(VarId, bool)> {
        self.query.atoms.iter().enumerate().map(|(i, (v, _))| (*v, cell >> i & 1 == 1)).collect()
    }

    pub fn expand(&mut self, n: u32, moves: &mut Transitions) -> Result<(), Error> {
        let Node { key: k, cell, zone, stays, .. } = self.nodes[n as usize];
        let zone = Zone::copied(self.keys.active(k).domain(), self.zones.get(zone));
        let key = self.keys.get(k).to_vec();
        self.post.moves(&key, moves)?;
        let exits = self.exits(k, cell, &zone)?;
        self.nodes[n as usize].ends = stays && !self.endings(k, cell, &zone, &exits, moves)?.is_empty();
        for exit in exits {
            let active = self.keys.active(k);
            let mut next = self.later(k, &zone)?;
            if invariant(active, &exit.constraints, &mut next)? {
                self.reach(k, exit.cell, next, (n, NONE, false, false))?;
            }
        }
        for m in moves.iter() {
            match self.measure {
                Measure::None | Measure::Ticks(..) => self.act(n, &zone, &m, false)?,
                Measure::Steps(z) => {
                    for marked in [false, true] {
                        let (guard, resets) = measured(&m, z, marked);
                        self.act(n, &zone, &Transition { guard: &guard, resets: &resets, ..m }, marked)?;
                    }
                }
            }
        }
        if let Measure::Ticks(z, period) = self.measure {
            let (guard, resets) = (vec![at_least(z, period)], vec![SetClock::Value { clock: z, value: 0 }]);
            let place = &self.places[k as usize];
            let (invariant, delay) = (place.invariant.clone(), place.delay);
            let (guard, resets, invariant) = (&guard[..], &resets[..], &invariant[..]);
            let tick = Transition {
                ordinal: TICK,
                action: &[],
                key: &key,
                elem: &[],
                guard,
                resets,
                invariant,
                delay,
                fault: None,
            };
            self.act(n, &zone, &tick, true)?;
        }
        Ok(())
    }

    fn act(&mut self, n: u32, zone: &Zone, m: &Transition<'_>, marked: bool) -> Result<(), Error> {
        self.stats.steps += 1;
        let from = self.nodes[n as usize].key;
        let (active, d) = (self.keys.active(from), zone.domain());
        if !m.guard.iter().all(|c| d.satisfies(zone, active.place(c.left), active.place(c.right), c.bound)) {
            return Ok(());
        }
        if let Some(error) = m.fault {
            let mut zone = zone.clone();
            return if invariant(active, m.guard, &mut zone)? { Err(error.clone().into()) } else { Ok(()) };
        }
        let k = self.key(m.key)?;
        let (source, target) = (self.keys.active(from), self.keys.active(k));
        if !self.stepper.act(source, zone, [&[], m.guard], m.resets, m.invariant, target)? {
            return Ok(());
        }
        let sets = m.resets.iter().any(|r| match *r {
            SetClock::Value { clock, .. } | SetClock::Copy { clock, .. } => clock == self.watched,
        });
        for (cell, part) in cells::split(target, &self.stepper.zone, &self.places[k as usize].atoms)? {
            self.reach(k, cell, part, (n, m.ordinal, marked, sets))?;
        }
        Ok(())
    }

    /// What a zone becomes while time passes, within the invariant.
    fn later(&self, k: u32, zone: &Zone) -> Result<Zone, Error> {
        let mut later = zone.clone();
        later.domain().up(&mut later);
        invariant(self.keys.active(k), &self.places[k as usize].invariant, &mut later)?;
        Ok(later)
    }

    /// The ways out of a node's cell by waiting.
    fn exits(&self, k: u32, cell: Cell, zone: &Zone) -> Result<Vec<cells::Exit>, Error> {
        let place = &self.places[k as usize];
        if !place.delay || place.atoms.is_empty() {
            return Ok(Vec::new());
        }
        Ok(cells::exits(self.keys.active(k), &self.later(k, zone)?, &place.atoms, cell)?)
    }

    /// The valuations of a node from which a run may stay in the cell without any step: where time passes forever, or stops
    /// before anything can happen.
    fn endings(
        &self,
        k: u32,
        cell: Cell,
        zone: &Zone,
        exits: &[cells::Exit],
        moves: &Transitions,
    ) -> Result<Vec<Zone>, Error> {
        let (active, place) = (self.keys.active(k), &self.places[k as usize]);
        let d = active.domain();
        let inside = cells::constraints(&place.atoms, cell).unwrap_or_default();
        let limits = |c: &Constraint| c.left != 0 && c.right == 0 && !c.bound.is_inf();
        if place.delay && !place.invariant.iter().chain(&inside).any(limits) {
            return Ok(vec![zone.clone()]);
        }
        let mut parts = vec![zone.clone()];
        let mut remove = |mut from: Zone| -> Result<bool, Error> {
            if place.delay {
                d.down(&mut from);
            }
            let mut left = Vec::new();
            for p in &parts {
                left.extend(d.subtract(p, &from)?);
            }
            parts = left;
            Ok(parts.is_empty())
        };
        for m in moves.iter() {
            if let Some(able) = enabling(active, &place.invariant, &m)?
                && remove(able)?
            {
                return Ok(Vec::new());
            }
        }
        for exit in exits {
            let mut there = Zone::universe(d.clocks());
            if invariant(active, &place.invariant, &mut there)?
                && invariant(active, &exit.constraints, &mut there)?
                && remove(there)?
            {
                return Ok(Vec::new());
            }
        }
        Ok(parts)
    }
}

/// A move that finds the measure at 1 or more (marked), or below.
fn measured(m: &Transition<'_>, z: u32, marked: bool) -> (Vec<Constraint>, Vec<SetClock>) {
    let bound = if marked { at_least(z, 1) } else { Constraint { left: z, right: 0, bound: Bound::lt(1) } };
    let guard = m.guard.iter().copied().chain([bound]).collect();
    let reset = marked.then_some(SetClock::Value { clock: z, value: 0 });
    (guard, m.resets.iter().copied().chain(reset).collect())
}

fn at_least(z: u32, n: i32) -> Constraint {
    Constraint { left: 0, right: z, bound: Bound::le(-n) }
}
