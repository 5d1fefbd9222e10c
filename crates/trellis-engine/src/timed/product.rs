//! Lattice variables beside clocks (000 §2.4): the label of a state is a lattice element and a zone.
//!
//! A [`System`] for [`crate::reach`], so that the updates of 000 (Alg. 2–5), their order and their refinement are those of models without
//! clocks. A state is discrete part × element × zone:
//! - *simple*: the element belongs to the key, and one zone stands for another that it includes. No more is stored than for the
//!   same model without lattices, but for each element;
//! - *cover*: a label stands for another if both its parts do, element and zone;
//! - *join*: two labels become one where the joining strategy accepts their elements, and their zones are such that one includes the
//!   other, or any two become their convex hull ([`Options::hull`]). That is an over-approximation, in the element and in the zone. A run that only joins make
//!   possible fails when it is replayed without them, and is refined away as any other.
//!
//! Cover and join rest on monotonicity (000 Def. 2): a larger element can do, at the same values of the clocks, what a smaller one can. Who proves that
//! is [`crate::monotone`].
//!
//! Zones are extrapolated by the clocks' bounds (Extra-LU+; Extra-M for deadlocks, exact with constraints between clocks). What it deliberately
//! does not do: liveness, bounds, clocks that stand still, symmetry, simulation of zones by others (a⊑LU).

use trellis_domain::zone::{Bound, Constraint, ZoneDomain};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::network::{
    CertEntry, Certificate, Condition, EdgeRef, Elements, Entries, Judge, Layout, ModelError, Network, Post, Query,
    QueryKind, Store, Trace, Transition, Transitions,
};
use trellis_order::{Domain, Join, Word};

use super::bounds::Bounds;
use super::options::Extrapolation;
use super::space::{ActiveClocks, Keys, Stepper, constraints, ends, invariant};
use super::target::{Error, Target};
use super::trace::concretise;
use crate::network::{Answer, Broken};
use crate::path::{Origins, Path};
use crate::reach::{self, Strategy, Update};
use crate::stored::Stored;
use crate::{Batch, State, System};
use trellis_meter::{Meter, Stats};

/// How to explore.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What is done with elements, in what order, and what about joins that are too coarse.
    pub reach: reach::Options,
    /// May two zones become their convex hull when their elements are joined?
    pub hull: bool,
}

/// Where the parts of a state lie in its key and its element.
#[derive(Debug, Clone, Copy)]
struct Parts {
    /// Words of the discrete part.
    key: usize,
    /// Words of the lattice element.
    lattice: usize,
    /// Words of a zone over all clocks.
    zone: usize,
    /// Does the lattice element belong to the key?
    exact: bool,
}

impl Parts {
    /// Discrete part, lattice element, zone.
    fn of<'s>(&self, key: &'s [Word], elem: &'s [Word]) -> (&'s [Word], &'s [Word], &'s [Word]) {
        match self.exact {
            true => (&key[..self.key], &key[self.key..], elem),
            false => (key, &elem[..self.lattice], &elem[self.lattice..]),
        }
    }
}

/// Two bounds in each word, zeros behind the last.
fn pack(zone: &[Bound], words: &mut Vec<Word>, width: usize) {
    let start = words.len();
    words.resize(start + width, 0);
    for (i, b) in zone.iter().enumerate() {
        words[start + i / 2] |= u64::from(b.code() as u32) << (32 * (i % 2));
    }
}

fn codes(words: &[Word]) -> impl Iterator<Item = i32> + '_ {
    words.iter().flat_map(|&w| [w as u32 as i32, (w >> 32) as u32 as i32])
}

fn unpack(words: &[Word], active: ActiveClocks<'_>, zone: &mut Vec<Bound>) {
    zone.clear();
    zone.extend(codes(words).take(active.domain().size()).map(Bound::from_code));
}

/// Is the first of two zones within the second?
fn within(a: &[Word], b: &[Word]) -> bool {
    codes(a).zip(codes(b)).all(|(a, b)| a <= b)
}

/// Elements and zones, part by part. Zones of one key have the same clocks, and each is closed: one is in another if its bounds are, and the
/// convex hull of two has the looser bounds.
struct Labels {
    parts: Parts,
    elements: Elements,
}

impl Labels {
    fn width(&self) -> usize {
        if self.parts.exact { 0 } else { self.parts.lattice }
    }
}

impl Domain for Labels {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        let (a, b) = (a.split_at(self.width()), b.split_at(self.width()));
        (self.parts.exact || self.elements.leq(a.0, b.0)) && within(a.1, b.1)
    }

    fn is_bottom(&self, _: &[Word]) -> bool {
        false
    }
}

impl Join for Labels {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        let at = self.width();
        let mut grew = !self.parts.exact && self.elements.join(&mut a[..at], &b[..at]);
        for (a, b) in a[at..].iter_mut().zip(&b[at..]) {
            let [low, high] = [0, 32].map(|s| ((*a >> s) as u32 as i32).max((*b >> s) as u32 as i32) as u32);
            let hull = u64::from(low) | u64::from(high) << 32;
            grew |= hull != *a;
            *a = hull;
        }
        grew
    }
}

/// A strategy for elements, asked about labels.
struct Joining<'s> {
    given: Option<&'s mut dyn Strategy<ModelError>>,
    lattice: usize,
    hull: bool,
}

impl Strategy<Error> for Joining<'_> {
    fn accepts(&mut self, key: &[Word], stored: &[Word], new: &[Word]) -> Result<bool, Error> {
        let (stored, new) = (stored.split_at(self.lattice), new.split_at(self.lattice));
        if !self.hull && !within(stored.1, new.1) && !within(new.1, stored.1) {
            return Ok(false);
        }
        match &mut self.given {
            Some(given) => Ok(given.accepts(key, stored.0, new.0)?),
            None => Ok(true),
        }
    }
}

/// A move, by what it is from whatever element it is taken.
#[derive(Debug, Clone)]
struct Taken {
    action: Vec<EdgeRef>,
    guard: Vec<Constraint>,
}

impl Taken {
    fn is(&self, m: &Transition<'_>) -> bool {
        self.action == m.action && self.guard == m.guard
    }
}

/// The network as a transition system of labels.
struct Labelled<'n> {
    post: Post<'n>,
    query: &'n Query,
    keys: Keys,
    labels: Labels,
    extrapolation: Extrapolation,
    target: Target,
    priority: Option<Judge>,
    moves: Transitions,
    stepper: Stepper,
    source: Vec<Bound>,
}

impl<'n> Labelled<'n> {
    fn new(net: &'n Network, query: &'n Query, looks_for: (Condition, bool), update: Update) -> Labelled<'n> {
        let post = Post::new(net);
        let bounds = Bounds::new(net, query);
        let wanted = super::options::Options::default().sound(query, bounds.diagonal);
        let size = ZoneDomain::new(net.clocks.len()).size();
        let parts = Parts {
            key: post.layout.key_width(),
            lattice: net.element_width(),
            zone: size.div_ceil(2),
            exact: update == Update::Simple,
        };
        Labelled {
            keys: Keys::new(net, &post.layout, bounds),
            target: Target::new(&post, query, looks_for.0, looks_for.1),
            post,
            query,
            labels: Labels { parts, elements: net.elements() },
            extrapolation: wanted.extrapolation,
            priority: None,
            moves: Transitions::default(),
            stepper: Stepper::default(),
            source: Vec::new(),
        }
    }

    fn parts(&self) -> Parts {
        self.labels.parts
    }

    /// Lets time pass in the stepper's zone, and forgets what does not matter.
    fn settle(&mut self, k: u32, within: &[Constraint], delay: bool) -> Result<(), Error> {
        let active = self.keys.active(k);
        let (d, zone) = (active.domain(), &mut self.stepper.zone);
        if delay {
            d.up(zone);
            invariant(active, within, zone)?;
        }
        match self.extrapolation {
            Extrapolation::None => {}
            Extrapolation::M => d.extra_m(zone, &active.largest())?,
            Extrapolation::Lu => d.extra_lu(zone, active.lower, active.upper)?,
            Extrapolation::LuPlus => d.extra_lu_plus(zone, active.lower, active.upper)?,
        }
        Ok(())
    }

    /// Takes a move from the zone in `source`. Answers whether clocks allow it; where it leads is then in the stepper.
    fn step(&mut self, from: u32, m: &Transition<'_>) -> Result<bool, Error> {
        if let Some(error) = m.fault {
            let mut zone = self.source.clone();
            return match invariant(self.keys.active(from), m.guard, &mut zone)? {
                true => Err(error.clone().into()),
                false => Ok(false),
            };
        }
        let (to, _) = self.keys.id(m.key)?;
        let (source, target) = (self.keys.active(from), self.keys.active(to));
        if !self.stepper.act(source, &self.source, [&[], m.guard], m.resets, m.invariant, target)? {
            return Ok(false);
        }
        self.settle(to, m.invariant, m.delay)?;
        Ok(true)
    }

    /// Lists the moves of a state, and has its zone in `source`. Answers the number of its discrete part.
    fn load(&mut self, key: &[Word], elem: &[Word], moves: &mut Transitions) -> Result<u32, Error> {
        let (key, lattice, zone) = self.parts().of(key, elem);
        let (k, _) = self.keys.id(key)?;
        unpack(zone, self.keys.active(k), &mut self.source);
        self.post.beside(lattice);
        self.post.moves(key, moves)?;
        Ok(k)
    }

    /// Key and element of discrete part, lattice element, and the stepper's zone.
    fn label(&self, key: &[Word], lattice: &[Word]) -> State {
        let (mut key, mut elem) = (key.to_vec(), Vec::new());
        if self.parts().exact { &mut key } else { &mut elem }.extend_from_slice(lattice);
        pack(&self.stepper.zone, &mut elem, self.parts().zone);
        (key, elem)
    }

    /// Visits what a state's moves lead to, until somebody has seen enough.
    fn visit(
        &mut self,
        key: &[Word],
        elem: &[Word],
        visit: &mut dyn FnMut(&Transition<'_>, State) -> bool,
        wanted: &dyn Fn(&Transition<'_>) -> bool,
    ) -> Result<u32, Error> {
        let mut moves = std::mem::take(&mut self.moves);
        let mut each = |this: &mut Self, moves: &mut Transitions| {
            let from = this.load(key, elem, moves)?;
            let mut possible = 0;
            for m in moves.iter().filter(wanted) {
                if this.step(from, &m)? {
                    possible += 1;
                    let state = this.label(m.key, m.elem);
                    if visit(&m, state) {
                        break;
                    }
                }
            }
            Ok(possible)
        };
        let done = each(self, &mut moves);
        self.moves = moves;
        done
    }

    /// The parts of a state's zone that are looked for; nothing if there are none. No parts: all of it.
    fn looked_for(&mut self, key: &[Word], elem: &[Word]) -> Result<Option<Vec<trellis_domain::zone::Zone>>, Error> {
        let (key, lattice, zone) = self.labels.parts.of(key, elem);
        self.post.beside(lattice);
        if self.target.is_discrete() {
            return Ok(self.target.holds(&mut self.post, key)?.then(Vec::new));
        }
        let (k, _) = self.keys.id(key)?;
        let active = self.keys.active(k);
        unpack(zone, active, &mut self.source);
        let delay = self.post.timing(key, &mut Vec::new())?;
        self.post.beside(lattice);
        let parts = self.target.find(&mut self.post, self.query, key, active, &self.source, delay)?;
        Ok((!parts.is_empty()).then_some(parts))
    }

    /// The run along a path on which nothing was joined, with exact delays, to where one of these holds.
    fn run(&mut self, path: &Path<Taken>, finally: &[Vec<Constraint>]) -> Result<Option<Trace>, Error> {
        let mut via = Vec::new();
        for ((key, elem), taken) in path.states.iter().zip(&path.actions) {
            let mut moves = Transitions::default();
            self.load(key, elem, &mut moves)?;
            match moves.iter().find(|m| taken.is(m)) {
                Some(m) => via.push(m.ordinal),
                None => return Ok(None),
            }
        }
        for end in finally {
            if let Some(trace) = concretise(self.post.network(), &mut self.post, &via, end)? {
                return Ok(Some(trace));
            }
        }
        Ok(None)
    }

    /// The run to the last state of a path, which is looked for.
    fn witness(&mut self, path: &Path<Taken>) -> Result<Option<Trace>, Error> {
        let Some((key, elem)) = path.states.last() else { return Ok(None) };
        let Some(parts) = self.looked_for(key, elem)? else { return Ok(None) };
        let (k, _) = self.keys.id(self.parts().of(key, elem).0)?;
        let finally = ends(self.keys.active(k), &parts);
        self.run(path, &finally)
    }
}

impl System for Labelled<'_> {
    type Domain = Labels;
    type Action = Taken;
    type Error = Error;

    fn domain(&self) -> &Labels {
        &self.labels
    }

    fn key_width(&self) -> usize {
        let p = self.parts();
        p.key + if p.exact { p.lattice } else { 0 }
    }

    fn elem_width(&self) -> usize {
        self.labels.width() + self.parts().zone
    }

    fn initial(&mut self) -> Result<State, Error> {
        let (key, lattice) = self.post.initial()?;
        self.post.beside(&lattice);
        let mut own = Vec::new();
        let delay = self.post.timing(&key, &mut own)?;
        let (k, _) = self.keys.id(&key)?;
        let active = self.keys.active(k);
        let mut zone = vec![Bound::INF; active.domain().size()];
        active.domain().zero(&mut zone);
        if !invariant(active, &own, &mut zone)? {
            return Err(self.post.broken_start().into());
        }
        self.stepper.zone = zone;
        self.settle(k, &own, delay)?;
        Ok(self.label(&key, &lattice))
    }

    fn successors(&mut self, key: &[Word], elem: &[Word], out: &mut Batch) -> Result<(), Error> {
        out.steps = self.visit(
            key,
            elem,
            &mut |m, (key, elem)| {
                out.push(m.ordinal, &key, &elem);
                false
            },
            &|_| true,
        )?;
        Ok(())
    }

    fn is_target(&mut self, key: &[Word], elem: &[Word]) -> Result<bool, Error> {
        Ok(self.looked_for(key, elem)?.is_some())
    }

    fn action(&mut self, key: &[Word], elem: &[Word], ordinal: u32) -> Result<Option<Taken>, Error> {
        let mut moves = Transitions::default();
        self.load(key, elem, &mut moves)?;
        let taken = |m: Transition<'_>| Taken { action: m.action.to_vec(), guard: m.guard.to_vec() };
        Ok(((ordinal as usize) < moves.len()).then(|| taken(moves.get(ordinal as usize))))
    }

    fn take(&mut self, key: &[Word], elem: &[Word], action: &Taken) -> Result<Option<State>, Error> {
        let mut found = None;
        self.visit(
            key,
            elem,
            &mut |_, state| {
                found = Some(state);
                true
            },
            &|m| action.is(m),
        )?;
        Ok(found)
    }

    fn priority(&mut self, key: &[Word], elem: &[Word]) -> Result<i64, Error> {
        let (key, lattice, _) = self.labels.parts.of(key, elem);
        match &self.priority {
            Some(judge) => Ok(self.post.judge(judge, key, lattice)?),
            None => Ok(0),
        }
    }
}

/// Labels of a certificate as an exploration has stored them.
struct Packed {
    layout: Layout,
    keys: Keys,
    /// The number of the discrete part of each, in the order of the states.
    numbers: Vec<u32>,
    parts: Parts,
    stored: Stored,
}

impl Store for Packed {
    fn count(&self) -> usize {
        self.stored.len()
    }

    fn entries(&self) -> Box<dyn Iterator<Item = CertEntry> + '_> {
        Box::new(self.stored.numbers().zip(&self.numbers).map(|(n, &k)| {
            let (key, elem) = self.stored.state(n);
            let (key, lattice, zone) = self.parts.of(key, elem);
            let (active, mut bounds) = (self.keys.active(k), Vec::new());
            unpack(zone, active, &mut bounds);
            let state = self.layout.unpacked(key, lattice);
            CertEntry { zone: constraints(active, &bounds), ..CertEntry::of(state) }
        }))
    }
}

/// Answers a question about the states of a network with lattice variables and clocks.
pub fn answer(
    net: &Network,
    query: &Query,
    options: Options,
    strategy: Option<&mut dyn Strategy<ModelError>>,
    priority: Option<Condition>,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    crate::network::sound(net, search(net, query, options, strategy, priority, meter))
}

/// Why this question cannot be answered here; `None` if it can.
pub fn obstacle(net: &Network, query: &Query) -> Option<&'static str> {
    match query.kind {
        QueryKind::Always(_) | QueryKind::Possibly(_) if net.has_rates() => {
            Some("lattice variables where clocks can stand still")
        }
        QueryKind::Always(_) | QueryKind::Possibly(_) => None,
        QueryKind::Bound { .. } | QueryKind::ClockBound { .. } => {
            Some("bounds of models with both clocks and lattice variables")
        }
        _ => Some("liveness of models with both clocks and lattice variables"),
    }
}

fn search(
    net: &Network,
    query: &Query,
    options: Options,
    strategy: Option<&mut dyn Strategy<ModelError>>,
    priority: Option<Condition>,
    meter: &mut Meter,
) -> Result<Answer, Box<Broken>> {
    let looks_for = match (obstacle(net, query), query.kind) {
        (None, QueryKind::Always(p)) => (p, false),
        (None, QueryKind::Possibly(p)) => (p, true),
        (why, _) => {
            let why = why.unwrap_or("this question");
            return Ok(super::answer::unknown(Stats::default(), Reason::Unsupported(why.into())));
        }
    };
    let update = options.reach.update;
    let mut system = Labelled::new(net, query, looks_for, update);
    system.priority = priority.map(|of| system.post.compile(of, false));
    let exact = update == Update::Simple;
    let mut joining = Joining { given: strategy, lattice: system.labels.width(), hull: options.hull };
    let how = reach::Options { update: if exact { Update::Cover } else { update }, ..options.reach };
    let explored = reach::reach(&mut system, how, &mut joining, meter);
    let stats = explored.stats;
    let verdict = match explored.answer {
        reach::Answer::Unreachable => match pack_up(&mut system, explored.stored) {
            Ok(entries) => Verdict::Safe(Certificate { entries, up_to_order: !exact, up_to_symmetry: false }),
            Err(why) => return failed(&mut system, &Path::empty(), why, stats),
        },
        reach::Answer::Reachable(path) => match system.witness(&path) {
            Ok(Some(trace)) => Verdict::Unsafe(trace),
            Ok(None) => Verdict::Unknown(Reason::Unsupported("a run whose delays are out of range".into())),
            Err(why) => return failed(&mut system, &path, why, stats),
        },
        reach::Answer::Inconclusive { .. } => Verdict::Unknown(Reason::InconclusiveJoin),
        reach::Answer::Stopped(reason) => Verdict::Unknown(reason),
        reach::Answer::Error(path, why) => return failed(&mut system, &path, why, stats),
    };
    Ok(Answer { verdict, stats, inconclusive: None, bound: None, clock_bound: None })
}

/// What was stored, for a proof.
fn pack_up(system: &mut Labelled<'_>, mut stored: Stored) -> Result<Entries, Error> {
    stored.only_states();
    let parts = system.parts();
    let mut numbers = Vec::new();
    for n in stored.numbers() {
        let (key, elem) = stored.state(n);
        numbers.push(system.keys.id(parts.of(key, elem).0)?.0);
    }
    let layout = system.post.layout.clone();
    let bounds = system.keys.bounds.clone();
    let keys = std::mem::replace(&mut system.keys, Keys::new(system.post.network(), &layout, bounds));
    Ok(Entries::stored(Packed { layout, keys, numbers, parts, stored }))
}

/// What went wrong, with the way there.
fn failed(system: &mut Labelled<'_>, path: &Path<Taken>, why: Error, stats: Stats) -> Result<Answer, Box<Broken>> {
    use super::answer::unknown;
    match why {
        Error::Range => Ok(unknown(stats, Reason::Unsupported("a clock constant of 2^28 or more".into()))),
        Error::Room(why) => Ok(unknown(stats, why.into())),
        Error::Model(error) => {
            let trace = match path.states.is_empty() {
                true => None,
                false => system.run(path, &[Vec::new()]).ok().flatten(),
            };
            Err(Box::new(Broken { trace, error: *error }))
        }
    }
}
