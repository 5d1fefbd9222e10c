//! `sup` and `inf` of data and of clocks over the reachable states of a timed network.
//!
//! The zone graph is explored once, and every zone cut along the question's clock constraints. For a clock, its values must be
//! exact: the graph tells it apart up to a constant, as if it were compared with it everywhere; what is found up to there
//! is exact (`a⊑LU` keeps such a clock's value), and the constant is doubled while the answer lies beyond.
//!
//! That might never end, so before doubling it is decided whether the clock grows without limit: a clock is added that
//! ticks again and again after the same time, and the clock of the question is unbounded if and only if some cycle of the graph ([`super::live`]:
//! Extra-M, equality) has a tick, does not set the clock, and leads to a state that is measured without setting it. (If there
//! is none, ticks between setting and measuring are bounded by the number of nodes.)
//!
//! Infinity is shown by a run: it goes round that cycle, or stays where time may pass forever, and then on to where the clock is
//! measured (`trellis_check::Replayed::unbounded` says why that is enough). The certificate that comes with it proves nothing beyond
//! itself: all that is reachable.
//!
//! What it deliberately does not do: `deadlock` in conditions, lattice variables; unbounded clocks that are copied
//! to one another. They are refused by name.

use trellis_domain::zone::{Bound as Limit, Constraint, MAX_CONSTANT, ZoneDomain};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::circle::Circle;
use trellis_model::network::{
    Action, CertEntry, Certificate, Condition, Network, Query, QueryKind, ResetTo, Trace, Transitions,
};

use super::cells::{self, Cell};
use super::cycle;
use super::live::{Failure, Graph, Measure, refused, unknown, with_measure};
use super::reach::{Cover, Ending, Mark, NONE, Options, ZoneGraph};
use super::schedule::{Leg, Plan};
use super::target::Error;
use crate::network::{Answer, Bound, Broken, ClockBound, ClockLimit};
use trellis_meter::{Meter, Stats};

/// Answers `sup` and `inf`.
pub fn bound(net: &Network, query: &Query, meter: &mut Meter) -> Result<Answer, Box<Broken>> {
    if query.deadlock {
        return Ok(unknown("`deadlock` in a bound of a timed model"));
    }
    if !net.lattices.is_empty() {
        return Ok(unknown("bounds of models with both clocks and lattice variables"));
    }
    if query.atoms.len() > cells::MAX_ATOMS {
        return Ok(unknown("so many clock constraints in a bound"));
    }
    if let Some(why) = super::stopwatch::obstacle(net, query) {
        return Ok(unknown(why));
    }
    match query.kind {
        QueryKind::Bound { sup, when, of } => of_data(net, query, sup, when, of, meter),
        QueryKind::ClockBound { sup, when, clock } => of_clock(net, query, sup, when, clock, meter),
        _ => Ok(unknown("this is not a question about a bound")),
    }
}

fn of_data(
    net: &Network,
    query: &Query,
    sup: bool,
    when: Condition,
    of: Condition,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let mut space = match Space::explore(net, query, None, meter) {
        Ok(space) => space,
        Err(stopped) => return *stopped,
    };
    let (when, of) = (space.graph.post.compile(when, false), space.graph.post.compile(of, false));
    let mut best: Option<(i64, Spot)> = None;
    let visited = space.visit(query, &mut |graph, spot, _| {
        let key = graph.keys.get(graph.nodes[spot.node as usize].key).to_vec();
        let truths = truths(query, spot.cell);
        if graph.post.judge_with(&when, &key, &truths)? != 0 {
            let n = graph.post.judge_with(&of, &key, &truths)?;
            if best.is_none_or(|(b, _)| if sup { n > b } else { n < b }) {
                best = Some((n, spot));
            }
        }
        Ok(())
    });
    if let Err((n, trouble)) = visited {
        return space.trouble(net, n, trouble);
    }
    let mut found = None;
    if let Some((value, spot)) = best {
        let witness = space.witness(net, query, spot, &[]).ok().flatten();
        if witness.is_none() && net.has_rates() {
            return Ok(refused(beyond(), space.graph.stats));
        }
        found = Some(Bound { value, witness });
    }
    let verdict = Verdict::Safe(space.certificate(net));
    let stats = space.graph.stats;
    Ok(Answer { verdict, stats, inconclusive: None, bound: found, clock_bound: None })
}

fn of_clock(
    net: &Network,
    query: &Query,
    sup: bool,
    when: Condition,
    clock: u32,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let mut exact = Circle::new(net, query).largest(clock).unwrap_or(1).clamp(1, MAX_CONSTANT / 4);
    let mut may_be_infinite = sup;
    let mut stats = Stats::default();
    loop {
        let mut space = match Space::explore(net, query, Some((clock, exact)), meter) {
            Ok(space) => space,
            Err(stopped) => return *stopped,
        };
        let judge = space.graph.post.compile(when, false);
        // Of upper bounds the loosest, of lower ones too: both are the greatest as bounds.
        let mut best: Option<(Limit, Spot)> = None;
        let visited = space.visit(query, &mut |graph, spot, zone| {
            let node = &graph.nodes[spot.node as usize];
            let active = graph.keys.active(node.key);
            let x = active.place(clock);
            let limit = if sup { active.domain().get(zone, x, 0) } else { active.domain().get(zone, 0, x) };
            let key = graph.keys.get(node.key).to_vec();
            if best.is_none_or(|(b, _)| limit > b)
                && graph.post.judge_with(&judge, &key, &truths(query, spot.cell))? != 0
            {
                best = Some((limit, spot));
            }
            Ok(())
        });
        if let Err((n, trouble)) = visited {
            return space.trouble(net, n, trouble);
        }
        add(&mut stats, &space.graph.stats);
        let answer = |clock_bound, space: &Space<'_>, stats| {
            let verdict = Verdict::Safe(space.certificate(net));
            Ok(Answer { verdict, stats, inconclusive: None, bound: None, clock_bound })
        };
        let Some((limit, spot)) = best else { return answer(None, &space, stats) };
        let value = limit.constant().map(|n| if sup { n } else { -n });
        match value {
            // Just above the constant may mean anything above it.
            Some(n) if n < exact || n == exact && (sup || !limit.is_strict()) => {
                let attained = !limit.is_strict();
                let there = [
                    Constraint { left: clock, right: 0, bound: Limit::le(n) },
                    Constraint { left: 0, right: clock, bound: Limit::le(-n) },
                ];
                let witness = if attained { space.witness(net, query, spot, &there).ok().flatten() } else { None };
                if witness.is_none() && net.has_rates() {
                    return Ok(refused(beyond(), stats));
                }
                let limit = ClockLimit { value: Some(n.into()), attained };
                return answer(Some(ClockBound { limit, witness }), &space, stats);
            }
            _ => {}
        }
        if net.has_rates() && exact > 1 << 20 {
            return Ok(refused(beyond(), stats));
        }
        if std::mem::take(&mut may_be_infinite) && !net.has_rates() {
            match growth(net, query, meter, &mut stats) {
                Ok(Some(Some(run))) => {
                    let limit = ClockLimit { value: None, attained: false };
                    return answer(Some(ClockBound { limit, witness: Some(run) }), &space, stats);
                }
                // No answer without evidence.
                Ok(Some(None)) => {
                    let why = "a clock without limit, by a run that was not found with exact delays";
                    return Ok(refused(Reason::Unsupported(why.into()), stats));
                }
                Ok(None) => {}
                Err(Failure::Limit(reason)) => return Ok(refused(reason, stats)),
                Err(Failure::Broken(_, Error::Range)) => return Ok(refused(out_of_range(), stats)),
                Err(Failure::Broken(_, Error::Room(why))) => return Ok(refused(why.into(), stats)),
                Err(Failure::Broken(_, Error::Model(error))) => {
                    return Err(Box::new(Broken { trace: None, error: *error }));
                }
            }
        }
        // It may still grow by way of others.
        if sup && exact > 1 << 10 && copies(net) {
            return Ok(unknown("perhaps unbounded clocks that are copied to one another"));
        }
        if exact > MAX_CONSTANT / 4 {
            return Ok(refused(out_of_range(), stats));
        }
        exact *= 2;
    }
}

/// Where clocks stand still, zones have more than can be reached, so that only what a run attains is known to be a bound.
fn beyond() -> Reason {
    Reason::Unsupported("a bound that no run was found to attain, where clocks can stand still".into())
}

fn out_of_range() -> Reason {
    Reason::Unsupported("clock constants beyond 2^28".into())
}

fn add(all: &mut Stats, more: &Stats) {
    all.added += more.added;
    all.expanded += more.expanded;
    all.steps += more.steps;
    all.covered += more.covered;
    all.stored = more.stored;
}

/// A clock, and those whose values it may get.
fn sources(net: &Network, clock: u32) -> Vec<u32> {
    let mut all = vec![clock];
    let mut at = 0;
    while at < all.len() {
        let resets = net.processes.iter().flat_map(|p| &p.edges).flat_map(|e| &e.resets);
        for r in resets.filter(|r| r.clock == all[at]).collect::<Vec<_>>() {
            if let ResetTo::Clock(from) = r.to
                && from != 0
                && !all.contains(&from)
            {
                all.push(from);
            }
        }
        at += 1;
    }
    all
}

/// Is a clock ever given the value of another?
fn copies(net: &Network) -> bool {
    let mut resets = net.processes.iter().flat_map(|p| &p.edges).flat_map(|e| &e.resets);
    resets.any(|r| matches!(r.to, ResetTo::Clock(from) if from != 0))
}

/// If the question's clock grows without limit where it is measured, not counting what it gets from other clocks: a run that shows
/// it, if one is found with exact delays.
fn growth(
    net: &Network,
    query: &Query,
    meter: &mut Meter,
    stats: &mut Stats,
) -> Result<Option<Option<Trace>>, Failure> {
    let (measured, z) = with_measure(net);
    // Any period will do; this one keeps ticks few.
    let circle = Circle::new(net, query);
    let period = (1..=net.clocks.len() as u32).filter_map(|x| circle.largest(x)).max().unwrap_or(1);
    let mut graph = Graph::new(&measured, query, Measure::Ticks(z, period.clamp(1, MAX_CONSTANT / 4)));
    graph.explore(meter)?;
    graph.stats.stored = graph.nodes.len() as u64;
    add(stats, &graph.stats);
    match cycle::grows(&graph.nodes, &graph.edges) {
        None => Ok(None),
        Some(way) => graph.growth(net, &way).map(Some).map_err(|e| Failure::Broken(way.node, e)),
    }
}

fn truths(query: &Query, cell: Cell) -> Vec<(trellis_expr::VarId, bool)> {
    query.atoms.iter().enumerate().map(|(i, (v, _))| (*v, cell >> i & 1 == 1)).collect()
}

/// A part of a node.
#[derive(Debug, Clone, Copy)]
struct Spot {
    node: u32,
    cell: Cell,
}

/// A zone graph, explored.
struct Space<'n> {
    graph: ZoneGraph<'n>,
}

type Visit<'v, 'n> = dyn FnMut(&mut ZoneGraph<'n>, Spot, &[Limit]) -> Result<(), Error> + 'v;

impl<'n> Space<'n> {
    /// Explores everything, with a clock's value exact up to a constant; or says why not.
    fn explore(
        net: &'n Network,
        query: &Query,
        exact: Option<(u32, i32)>,
        meter: &mut Meter,
    ) -> Result<Space<'n>, Box<Result<Answer, Box<Broken>>>> {
        // Simulation would not keep the values of a clock.
        let options = Options { cover: Cover::Inclusion, ..Options::default() };
        let mut graph = ZoneGraph::new(net, query, options);
        if let Some((clock, constant)) = exact {
            for clock in sources(net, clock) {
                graph.keys.bounds.compare_everywhere(clock, constant);
            }
        }
        let ending = graph.explore(query, None, meter);
        let mut space = Space { graph };
        match ending {
            Ending::Exhausted => Ok(space),
            Ending::Found(..) => unreachable!("nothing was looked for"),
            Ending::Stopped(reason) => Err(Box::new(Ok(refused(reason, space.graph.stats)))),
            Ending::Broken(n, trouble) => Err(Box::new(space.trouble(net, n, trouble))),
        }
    }

    fn trouble(&mut self, net: &Network, n: u32, trouble: Error) -> Result<Answer, Box<Broken>> {
        match trouble {
            Error::Range => Ok(refused(out_of_range(), self.graph.stats)),
            Error::Room(why) => Ok(refused(why.into(), self.graph.stats)),
            Error::Model(error) => {
                let trace = if n == NONE { None } else { self.trace(net, n, Vec::new()).ok().flatten() };
                Err(Box::new(Broken { trace, error: *error }))
            }
        }
    }

    /// Visits the stored zones, cut along the question's clock constraints.
    fn visit(&mut self, query: &Query, visit: &mut Visit<'_, 'n>) -> Result<(), (u32, Error)> {
        for n in 0..self.graph.nodes.len() as u32 {
            let node = &self.graph.nodes[n as usize];
            if node.mark == Mark::Replaced {
                continue;
            }
            let (key, zone) = (node.key, node.zone);
            let mut each = || -> Result<(), Error> {
                let atoms = self.atoms(query, key)?;
                let (active, zone) = (self.graph.keys.active(key), self.graph.zones.get(zone));
                for (cell, part) in cells::split(active, zone, &atoms)? {
                    visit(&mut self.graph, Spot { node: n, cell }, &part)?;
                }
                Ok(())
            };
            each().map_err(|e| (n, e))?;
        }
        Ok(())
    }

    fn atoms(&mut self, query: &Query, key: u32) -> Result<Vec<Constraint>, Error> {
        let key = self.graph.keys.get(key);
        let atoms = query.atoms.iter().map(|(_, a)| self.graph.post.atom(key, a));
        Ok(atoms.collect::<Result<_, _>>()?)
    }

    fn certificate(&self, net: &Network) -> Certificate {
        let dim = net.clocks.len() + 1;
        let graph = &self.graph;
        let mut wide = Vec::new();
        let mut entry = |n: &super::reach::Node| {
            let state = graph.post.layout.snapshot(net, graph.keys.get(n.key), &[]);
            graph.keys.active(n.key).widen(graph.zones.get(n.zone), dim, &mut wide);
            CertEntry { zone: ZoneDomain::new(dim - 1).minimal(&wide), ..CertEntry::of(state) }
        };
        let stored = graph.nodes.iter().filter(|n| n.mark != Mark::Replaced);
        Certificate { entries: stored.map(&mut entry).collect(), up_to_order: false, up_to_symmetry: false }
    }

    /// A run to a part of a node in which some more constraints hold.
    fn witness(
        &mut self,
        net: &Network,
        query: &Query,
        spot: Spot,
        also: &[Constraint],
    ) -> Result<Option<Trace>, Error> {
        let atoms = self.atoms(query, self.graph.nodes[spot.node as usize].key)?;
        let mut target = cells::constraints(&atoms, spot.cell).unwrap_or_default();
        target.extend_from_slice(also);
        self.trace(net, spot.node, target)
    }

    fn trace(&mut self, net: &Network, n: u32, mut target: Vec<Constraint>) -> Result<Option<Trace>, Error> {
        let graph = &mut self.graph;
        let mut moves = Transitions::default();
        let mut legs = Vec::new();
        let mut invariant = Vec::new();
        let mut at = n;
        while graph.nodes[at as usize].parent != NONE {
            let (parent, via) = (graph.nodes[at as usize].parent, graph.nodes[at as usize].via);
            let key = graph.keys.get(graph.nodes[parent as usize].key).to_vec();
            let delay = graph.post.timing(&key, &mut invariant)?;
            let stopped = if delay { graph.post.stopped(&key)? } else { Vec::new() };
            graph.post.moves(&key, &mut moves)?;
            let m = moves.get(via as usize);
            legs.push(Leg {
                stay: invariant.clone(),
                still: !delay,
                stopped,
                guard: m.guard.to_vec(),
                action: Some(Action(m.action.to_vec())),
                resets: m.resets.to_vec(),
            });
            at = parent;
        }
        legs.reverse();
        let key = graph.keys.get(graph.nodes[n as usize].key).to_vec();
        let delay = graph.post.timing(&key, &mut invariant)?;
        let mut plan = Plan::new(net.clocks.len());
        plan.extend(legs);
        if !target.is_empty() {
            target.extend_from_slice(&invariant);
        }
        plan.end = invariant;
        plan.target = target;
        plan.still = !delay;
        plan.stopped = if delay { graph.post.stopped(&key)? } else { Vec::new() };
        Ok(plan.schedule().and_then(|s| s.trace(net)))
    }
}
