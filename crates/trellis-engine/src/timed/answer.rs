//! Questions about timed networks, answered: the engine is chosen, and what it found becomes evidence.

use trellis_domain::zone::Constraint;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::combine::Combinations;
use trellis_model::network::symmetry::Symmetry;
use trellis_model::network::{
    CertEntry, Certificate, Condition, Entries, Layout, LuBounds, Network, Query, QueryKind, Store, Trace,
};

use super::bounds::{self, Bounds};
use super::canonical::{constraints_before, error_before};
use super::portfolio;
use super::reach::{self, Cover, Mark, ZoneGraph};
pub use super::space::constraints;
use super::space::{Keys, Zones, ends};
use super::target::{Error, Target};
use super::trace::concretise;
use crate::network::{Answer, Broken};
use crate::timed::lazy::block::{Direction, Interpolating};
use crate::timed::lazy::explicit::Explicit;
use crate::timed::lazy::lu::Bounding;
use crate::timed::lazy::predicates::Predicates;
use crate::timed::lazy::values::Values;
use crate::timed::lazy::zone::ZoneInterpolation;
use crate::timed::lazy::{self, Lazy, Refiner};
use crate::waitlist::Order;
use trellis_meter::{Meter, Stats};

/// How clocks are abstracted by lazy abstraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// By zone interpolation (002 Ch. 4).
    Interpolation(Direction),
    /// By lazily propagated bounds.
    Bounds,
}

/// How data is abstracted by lazy abstraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Not at all.
    Identity,
    /// To the values of some variables, by formula interpolation (002 §4.3.1).
    Interpolation(Direction),
    /// To predicates.
    Predicates(Direction),
}

/// An engine and its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Exploration of the zone graph.
    Reach(reach::Options),
    /// Lazy abstraction.
    Lazy {
        /// Of clocks.
        clocks: Clocks,
        /// Of data.
        data: Data,
        /// What comes first, and which clocks zones have.
        options: lazy::Options,
    },
}

/// How to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// For safety and reachability; `None`: a good one.
    pub engine: Option<Engine>,
    /// What the chosen engine explores first, if the user has said.
    pub order: Option<Order>,
    /// Whether anybody wants a certificate; without, there is none to check.
    pub certificate: bool,
    /// Runs in which infinitely much happens in finite time do not count.
    pub non_zeno: bool,
    /// For [`Engine::Reach`] and questions of safety and reachability: explore up to symmetry, where there is any.
    pub symmetry: bool,
}

/// With more clocks than this the zones of `reach` are too large to keep many; bounds found lazily need few.
const MANY_CLOCKS: usize = 32;

/// The engine that answers when nobody chooses one. Measured on the families of `bench/lazy`: exploring zones up to simulation,
/// larger ones first, is never far from the best, unless there are many clocks (FDDI), where bounds found lazily, depth
/// first, are far better. Where constraints are diagonal only interpolation is sure to be sound and to abstract. Symmetry, which
/// `reach` alone knows of, outweighs many clocks if most processes are alike: Fischer's protocol with 40 processes has 1,720 states
/// up to symmetry.
pub fn default_engine(net: &Network, query: &Query, order: Option<Order>, symmetry: &Symmetry) -> Engine {
    if net.has_rates() {
        let options = reach::Options::default();
        return Engine::Reach(reach::Options { order: order.unwrap_or(options.order), ..options });
    }
    let diagonal = Bounds::new(net, query).diagonal;
    let alike = symmetry.groups().iter().map(Vec::len).max().unwrap_or(0);
    let many = net.clocks.len() > MANY_CLOCKS && 2 * alike < net.processes.len();
    if !query.deadlock && (diagonal || many) {
        let clocks = if diagonal { Clocks::Interpolation(Direction::Forward) } else { Clocks::Bounds };
        let usual = if diagonal { Order::Bfs } else { Order::Dfs };
        let options = lazy::Options { order: order.unwrap_or(usual), ..lazy::Options::default() };
        return Engine::Lazy { clocks, data: Data::Identity, options };
    }
    let options = reach::Options::default();
    Engine::Reach(reach::Options { order: order.unwrap_or(options.order), ..options })
}

/// The symmetry that is made use of. What a step of lower priority is split into depends on the order of the higher ones, so that symmetric states
/// need not have symmetric moves then.
pub fn symmetry(net: &Network, query: &Query, config: &Config) -> Symmetry {
    if config.symmetry && !net.has_priorities { Symmetry::find(net, query) } else { Symmetry::default() }
}

/// Why an engine cannot answer a question; `None` if it can.
pub fn obstacle(net: &Network, query: &Query, engine: Engine) -> Option<&'static str> {
    let Engine::Lazy { clocks, data, .. } = engine else { return None };
    if net.has_rates() {
        return Some("lazy abstraction does not know clocks that stand still");
    }
    if query.deadlock {
        return Some("lazy abstraction cannot see deadlocks: abstract labels allow moves that are not possible");
    }
    if clocks == Clocks::Bounds && Bounds::new(net, query).diagonal {
        return Some("bounds say nothing about differences of clocks, which this model or question compares");
    }
    match data {
        Data::Identity => None,
        Data::Interpolation(_) | Data::Predicates(_) => Combinations::new(net).err(),
    }
}

/// Answers a query about a network with clocks.
pub fn answer(net: &Network, query: &Query, config: &Config, meter: &mut Meter) -> Result<Answer, Box<Broken>> {
    answer_by(net, query, config, meter).map(|(answer, _)| answer)
}

/// As [`answer`], and tells which engine it was, if there was a choice.
pub fn answer_by(
    net: &Network,
    query: &Query,
    config: &Config,
    meter: &mut Meter,
) -> Result<(Answer, Option<Engine>), Box<Broken>> {
    let (condition, value) = match query.kind {
        QueryKind::Always(p) => (p, false),
        QueryKind::Possibly(p) => (p, true),
        QueryKind::Bound { .. } | QueryKind::ClockBound { .. } => {
            return Ok((super::bound::bound(net, query, meter)?, None));
        }
        QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..) => {
            return Ok((super::live::live(net, query, config.non_zeno, meter)?, None));
        }
    };
    if let Some(why) = super::stopwatch::obstacle(net, query) {
        return Ok((unknown(Stats::default(), Reason::Unsupported(why.into())), None));
    }
    let symmetry = symmetry(net, query, config);
    let asked = Asked { net, query, target: (condition, value), certificate: config.certificate };
    let Some(engine) = config.engine else {
        let usual = default_engine(net, query, config.order, &symmetry);
        return match config.order {
            None => portfolio::check(asked, usual, &symmetry, meter),
            Some(_) => Ok((search(asked, usual, &symmetry, meter)(meter)?, Some(usual))),
        };
    };
    if let Some(why) = obstacle(net, query, engine) {
        return Ok((unknown(Stats::default(), Reason::Unsupported(why.into())), Some(engine)));
    }
    Ok((search(asked, engine, &symmetry, meter)(meter)?, Some(engine)))
}

/// A question about states.
#[derive(Clone, Copy)]
pub(super) struct Asked<'n> {
    pub net: &'n Network,
    pub query: &'n Query,
    /// What is looked for: states in which the condition has this truth value.
    pub target: (Condition, bool),
    pub certificate: bool,
}

/// A search: stopped by a limit, it goes on where it was when it is called again.
pub(super) type Turn<'n> = Box<dyn FnMut(&mut Meter) -> Result<Answer, Box<Broken>> + 'n>;

/// What an engine does. `whole` is the meter of all turns.
pub(super) fn search<'n>(asked: Asked<'n>, engine: Engine, symmetry: &Symmetry, whole: &Meter) -> Turn<'n> {
    let Asked { net, query, target: (condition, value), .. } = asked;
    match engine {
        Engine::Reach(options) => {
            let up_to_symmetry = !symmetry.is_empty();
            let mut graph = ZoneGraph::new(net, query, options).up_to(symmetry.clone());
            let mut target = Target::new(&graph.post, query, condition, value);
            Box::new(move |meter| explore(asked, &mut graph, &mut target, up_to_symmetry, meter))
        }
        Engine::Lazy { clocks, data, options } => {
            let values = || Values::new(net, Some((query, condition, value)), options.pin_faults);
            let refuse = |why: &str| -> Turn<'n> {
                let reason = Reason::Unsupported(why.into());
                Box::new(move |_| Ok(unknown(Stats::default(), reason.clone())))
            };
            match data {
                Data::Identity => by_clocks(asked, clocks, options, lazy::Identity),
                Data::Interpolation(direction) => match values() {
                    Ok(values) => {
                        let data = Interpolating::new(Explicit(values), direction);
                        by_clocks(asked, clocks, options, data)
                    }
                    Err(why) => refuse(why),
                },
                Data::Predicates(direction) => match values() {
                    Ok(values) => {
                        let data = {
                            let predicates = Predicates::new(values, direction, options.largest_formula, whole.clone());
                            Interpolating::new(predicates, direction)
                        };
                        by_clocks(asked, clocks, options, data)
                    }
                    Err(why) => refuse(why),
                },
            }
        }
    }
}

fn by_clocks<'n, D: lazy::Data + 'n>(asked: Asked<'n>, clocks: Clocks, options: lazy::Options, data: D) -> Turn<'n> {
    let Asked { net, query, target: (condition, value), .. } = asked;
    match clocks {
        Clocks::Interpolation(direction) => {
            let order = if options.hashed { lazy::hashed::order(&net.clocks) } else { Vec::new() };
            let refiner = Interpolating::new(ZoneInterpolation::blaming(order), direction);
            let label =
                |r: &Interpolating<ZoneInterpolation>, n: u32, _: &Lazy<'_, D, _>| (r.labels[n as usize].clone(), None);
            let mut lazy = Lazy::new(net, query, options, data, refiner);
            let mut target = Target::new(&lazy.post, query, condition, value);
            Box::new(move |meter| unfold(asked, &mut lazy, &mut target, meter, label))
        }
        Clocks::Bounds => {
            let refiner = Bounding::new(net.clocks.len());
            let label = |r: &Bounding, n: u32, l: &Lazy<'_, D, _>| {
                let (lower, upper) = r.label(n);
                let zone = constraints(l.tree.active(n), l.tree.zone(n));
                (zone, Some(LuBounds { lower, upper }))
            };
            let mut lazy = Lazy::new(net, query, options, data, refiner);
            let mut target = Target::new(&lazy.post, query, condition, value);
            Box::new(move |meter| unfold(asked, &mut lazy, &mut target, meter, label))
        }
    }
}

pub(super) fn unknown(stats: Stats, reason: Reason) -> Answer {
    Answer { verdict: Verdict::Unknown(reason), stats, inconclusive: None, bound: None, clock_bound: None }
}

fn finished(stats: Stats, verdict: Verdict<Trace, Certificate>) -> Answer {
    Answer { verdict, stats, inconclusive: None, bound: None, clock_bound: None }
}

/// What went wrong, with the way there.
fn trouble(
    net: &Network,
    post: &mut trellis_model::network::Post<'_>,
    via: Option<Vec<u32>>,
    stats: Stats,
    trouble: Error,
) -> Result<Answer, Box<Broken>> {
    match trouble {
        Error::Range => Ok(unknown(stats, Reason::Unsupported("a clock constant of 2^28 or more".into()))),
        Error::Room(why) => Ok(unknown(stats, why.into())),
        Error::Model(error) => {
            let trace = via.and_then(|via| concretise(net, post, &via, &[]).ok().flatten());
            if trace.is_none() && net.has_rates() {
                let why = "a fault of the model that only zones can reach, where clocks stand still";
                return Ok(unknown(stats, Reason::Unsupported(why.into())));
            }
            Err(Box::new(Broken { trace, error: *error }))
        }
    }
}

fn explore(
    Asked { net, query, target: (condition, value), certificate }: Asked<'_>,
    graph: &mut ZoneGraph<'_>,
    target: &mut Target,
    up_to_symmetry: bool,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let ending = graph.explore(query, Some(target), meter);
    let stored = graph.nodes.iter().filter(|n| n.mark != Mark::Replaced).count() as u64;
    let stats = Stats { stored, ..graph.stats };
    match ending {
        reach::Ending::Exhausted if graph.spurious > 0 => {
            let mut stats = stats;
            match super::stopwatch::find(net, query, (condition, value), meter, &mut stats) {
                Ok(Ok(trace)) => Ok(finished(stats, Verdict::Unsafe(trace))),
                Ok(Err(reason)) => Ok(unknown(stats, reason)),
                Err(why) => trouble(net, &mut graph.post, None, stats, why),
            }
        }
        reach::Ending::Exhausted => {
            let bounded = graph.options().cover == Cover::Alu;
            // Without a proof to check there is nothing to keep; with one, nobody explores this graph any more.
            let entries = match certificate {
                false => Entries::default(),
                true => {
                    let dim = net.clocks.len() + 1;
                    let layout = graph.post.layout.clone();
                    let (keys, zones, nodes) = graph.take();
                    Entries::stored(Packed { layout, keys, zones, nodes, stored, bounded, dim })
                }
            };
            Ok(finished(stats, Verdict::Safe(Certificate { entries, up_to_order: false, up_to_symmetry })))
        }
        reach::Ending::Found(n, parts) => {
            let (via, word) = match graph.unfold(n) {
                Ok(run) => run,
                Err(why) => return trouble(net, &mut graph.post, None, stats, why),
            };
            let mut finally = ends(graph.keys.active(graph.nodes[n as usize].key), &parts);
            if let Some(f) = &graph.canonical {
                finally.iter_mut().for_each(|end| *end = constraints_before(&f.symmetry, &word, end));
            }
            witness(net, &mut graph.post, &via, &finally, stats)
        }
        reach::Ending::Stopped(reason) => Ok(unknown(stats, reason)),
        reach::Ending::Broken(reach::NONE, why) => trouble(net, &mut graph.post, None, stats, why),
        reach::Ending::Broken(n, why) => {
            let (via, word) = match graph.unfold(n) {
                Ok(run) => run,
                Err(why) => return trouble(net, &mut graph.post, None, stats, why),
            };
            let why = match (why, &graph.canonical) {
                (Error::Model(e), Some(f)) => Error::Model(Box::new(error_before(net, &f.symmetry, &word, *e))),
                (why, _) => why,
            };
            trouble(net, &mut graph.post, Some(via), stats, why)
        }
    }
}

/// The zones of a certificate as an exploration has stored them.
struct Packed {
    layout: Layout,
    keys: Keys,
    zones: Zones,
    nodes: Vec<reach::Node>,
    stored: u64,
    /// Do they also stand for what they simulate?
    bounded: bool,
    dim: usize,
}

impl Store for Packed {
    fn count(&self) -> usize {
        self.stored as usize
    }

    fn entries(&self) -> Box<dyn Iterator<Item = CertEntry> + '_> {
        let stored = self.nodes.iter().filter(|n| n.mark != Mark::Replaced);
        Box::new(stored.map(|n| {
            let active = self.keys.active(n.key);
            let bounds = self.bounded.then(|| {
                let mut lu = LuBounds { lower: vec![bounds::NONE; self.dim], upper: vec![bounds::NONE; self.dim] };
                for (i, &c) in active.clocks.iter().enumerate().skip(1) {
                    lu.lower[c as usize] = active.lower[i];
                    lu.upper[c as usize] = active.upper[i];
                }
                lu
            });
            let state = self.layout.unpacked(self.keys.get(n.key), &[]);
            CertEntry { zone: constraints(active, self.zones.get(n.zone)), bounds, ..CertEntry::of(state) }
        }))
    }
}

fn witness(
    net: &Network,
    post: &mut trellis_model::network::Post<'_>,
    via: &[u32],
    finally: &[Vec<Constraint>],
    stats: Stats,
) -> Result<Answer, Box<Broken>> {
    // Extrapolation adds valuations that no run has; in at least one of the parts there is one that some run does have.
    for end in finally {
        match concretise(net, post, via, end) {
            Ok(Some(trace)) => return Ok(finished(stats, Verdict::Unsafe(trace))),
            Ok(None) => {}
            Err(error) => return Err(Box::new(Broken { trace: None, error })),
        }
    }
    Ok(unknown(stats, Reason::Unsupported("a run whose delays are out of range".into())))
}

fn unfold<D: lazy::Data, R: Refiner>(
    Asked { net, query, certificate, .. }: Asked<'_>,
    lazy: &mut Lazy<'_, D, R>,
    target: &mut Target,
    meter: &mut Meter,
    label: impl Fn(&R, u32, &Lazy<'_, D, R>) -> (Vec<Constraint>, Option<LuBounds>),
) -> Result<Answer, Box<Broken>> {
    let ending = lazy.check(query, Some(target), meter);
    let path = |lazy: &Lazy<'_, D, R>, mut n: u32| {
        let mut via = Vec::new();
        while lazy.tree.nodes[n as usize].parent != lazy::tree::NONE {
            via.push(lazy.tree.nodes[n as usize].via);
            n = lazy.tree.nodes[n as usize].parent;
        }
        via.reverse();
        via
    };
    let stats = Stats { stored: lazy.tree.stats.expanded, ..lazy.tree.stats };
    match ending {
        lazy::Ending::Closed => {
            let expanded: Vec<u32> = lazy.expanded().filter(|_| certificate).collect();
            let entry = |n: u32| {
                let key = lazy.tree.keys.get(lazy.tree.nodes[n as usize].key);
                let (zone, bounds) = label(&lazy.refiner, n, lazy);
                let state = lazy.post.layout.snapshot(net, key, &[]);
                let (known, says) = lazy.data.tell(&lazy.tree, n);
                CertEntry { known, zone, bounds, says, ..CertEntry::of(state) }
            };
            let entries = expanded.into_iter().map(entry).collect();
            Ok(finished(stats, Verdict::Safe(Certificate { entries, up_to_order: false, up_to_symmetry: false })))
        }
        lazy::Ending::Found(n, parts) => {
            let via = path(lazy, n);
            let finally = ends(lazy.tree.active(n), &parts);
            witness(net, &mut lazy.post, &via, &finally, stats)
        }
        lazy::Ending::Stopped(reason) => Ok(unknown(stats, reason)),
        lazy::Ending::Broken(n, why) => {
            let via = (n != lazy::tree::NONE).then(|| path(lazy, n));
            trouble(net, &mut lazy.post, via, stats, why)
        }
    }
}
