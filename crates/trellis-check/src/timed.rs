//! Certificates of timed models: sets of locations, data and zones, checked to be proofs.
//!
//! An entry stands for the valuations of its zone that satisfy the clock invariants of its locations; with bounds, also for
//! those that the bounds cannot tell from one of these (`a⊑LU`: Herbreteau, Srivathsan and Walukiewicz, *Better
//! abstractions for timed automata*, LICS 2012). A set of entries is a proof if it has the initial valuation and all that it
//! becomes while time passes; if every step, and then any delay, leads to a valuation in the set; and if none in it is bad.
//!
//! With bounds, what an entry stands for need not be written down. Say `v` is such a valuation, simulated by `w` of the zone.
//! If the bounds are at least the constants that a step compares clocks with (in guards, and in the target's invariant
//! for clocks that the step does not set), then what `v` can do and wait, `w` can. If they are also at least the bounds of an
//! entry of the target (for clocks that the step does not set), then what `w` becomes simulates what `v` becomes as far as
//! that entry is concerned. So it is enough that all that the zone becomes is within an entry. An entry whose bounds are all
//! minus infinity stands for every valuation, and may be reached from anywhere.
//!
//! With lattice variables beside clocks an entry has an element, too. It stands for that element, or, up to the order, for all below it: then the
//! model must be monotone at the same values of the clocks, which is proved first ([`crate::monotone`]), and it is enough that each valuation
//! that a step leads to is in an entry whose element is above the step's. Such entries have no bounds.
//!
//! What it deliberately does not do: liveness (a module of its own). Entries that know only part of the
//! data have a module of their own, `partial`, and those that say more of it than values another, `says`.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_domain::zone::{Bound, Constraint, ZoneError};
use trellis_expr::{TermId, VarId};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::interpret::moves::{Move, opposite};
use trellis_model::network::symmetry::Symmetry;
use trellis_model::network::{
    CertEntry, Certificate, Condition, LuBounds, ModelError, Network, Query, QueryKind, SetClock, Snapshot,
};

mod above;
mod deadlock;
mod partial;
mod says;
mod sorting;
mod stopwatch;

use crate::certified::Certified;
use crate::dbm::{Dbm, Limit};
use crate::monotone::rests_on_order;
use crate::state::check;
use crate::{Cause, Rejection, moves, symmetric};

/// Checks a certificate of a model with clocks.
pub(crate) fn certify(net: &Network, query: &Query, cert: &Certificate) -> Result<Certified, Rejection> {
    let beside = |why| Err(Rejection::new(Cause::BesideThePoint(why)));
    let live =
        matches!(query.kind, QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..));
    if !net.lattices.is_empty() {
        if live || net.has_rates() {
            return beside(
                "with lattice variables beside clocks, neither liveness nor clocks that stand still can be checked",
            );
        }
        if cert.entries.stream().any(|e| e.bounds.is_some() || !e.known.is_empty() || e.says.is_some()) {
            return beside(
                "with lattice variables beside clocks, an entry has a zone, and neither bounds nor parts of the data",
            );
        }
    }
    let up_to_order = rests_on_order(net, query, cert)?;
    if net.has_rates() && (live || query.deadlock || stopwatch::compares_differences(net, query)) {
        return beside("where clocks stand still, only states without deadlocks and clock differences can be checked");
    }
    if live {
        return crate::timed_liveness::inevitable(net, query, cert, None);
    }
    let symmetry = symmetric::symmetry(net, query, cert);
    symmetric::tried(net, query, cert, &symmetry)?;
    let entries = symmetric::sorted_entries(net, &symmetry, cert).collect();
    let cert = &Certificate { entries, ..*cert };
    let mut c = Checker::new(net, query, cert, &symmetry)?;
    if up_to_order {
        c.above = Some(above::Above::new(net, &c.entries));
    }
    let (mut bound, mut clock) = (None, None);
    match &query.kind {
        QueryKind::Always(p) => c.everywhere(p, true, "the property does not hold in this state")?,
        QueryKind::Possibly(p) => c.everywhere(p, false, "the property holds in this state, so it may be possible")?,
        QueryKind::Bound { .. } | QueryKind::ClockBound { .. } if c.partial.is_some() => {
            return beside("bounds by entries that know part of the data");
        }
        QueryKind::Bound { sup, when, of } => bound = c.bound(*sup, when, of)?,
        QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..) => {
            unreachable!("liveness has a module of its own")
        }
        QueryKind::ClockBound { .. } if c.entries.iter().any(|e| e.bounds.is_some()) => {
            return beside("what entries stand for by their bounds says nothing about values of clocks");
        }
        QueryKind::ClockBound { sup, when, clock: x } => clock = c.clock_bound(*sup, when, *x as usize)?,
    }
    c.closed()?;
    Ok(Certified { entries: cert.entries.len(), steps: c.steps, up_to_order, bound, clock })
}

/// Checks the certificate behind `sup: x` or `inf: x` of a clock: no state that is measured has a value above (below) the
/// claimed one, nor that value itself if it is not attained. `None`: no state is measured.
pub fn certify_clock_bound(
    net: &Network,
    query: &Query,
    cert: &Certificate,
    claimed: Option<(i64, bool)>,
) -> Result<Certified, Rejection> {
    let beside = |why| Err(Rejection::new(Cause::BesideThePoint(why)));
    let QueryKind::ClockBound { sup, .. } = &query.kind else {
        return beside("a bound of a clock for a question that asks for none");
    };
    let certified = certify(net, query, cert)?;
    let beyond = |why| Err(Rejection::new(Cause::Condition(why)));
    match (certified.clock, claimed) {
        (None, _) => Ok(certified),
        (Some(_), None) => beyond("some state is measured, and none was to be"),
        (Some(found), Some((value, attained))) => {
            let value = if *sup { value } else { -value };
            let limit = Bound::checked(value, !attained).ok_or_else(|| zones(ZoneError::Overflow))?;
            if found <= limit { Ok(certified) } else { beyond("the clock may be beyond the bound") }
        }
    }
}

/// The clocks that stand still somewhere, unless that cannot be said.
type Stopped = Result<Vec<u32>, ModelError>;

struct Entry<'a> {
    /// Its number in the certificate.
    number: usize,
    state: &'a Snapshot,
    /// Which cells it knows; empty: all.
    known: &'a [bool],
    /// What more it says of the data.
    says: Vec<TermId>,
    zone: Dbm,
    bounds: Option<&'a LuBounds>,
    /// The clock invariant.
    invariant: Rc<Vec<Constraint>>,
}

/// The entries with the same locations and data.
struct Place {
    entries: Vec<usize>,
    invariant: Rc<Vec<Constraint>>,
}

struct Checker<'a> {
    net: &'a Network,
    query: &'a Query,
    /// What may be swapped.
    symmetry: &'a Symmetry,
    interpreter: Interpreter<'a>,
    has_rates: bool,
    entries: Vec<Entry<'a>>,
    places: FxHashMap<&'a Snapshot, Place>,
    /// If some entry knows only part of the data.
    partial: Option<partial::PartialData<'a>>,
    /// If entries also stand for what is below them.
    above: Option<above::Above<'a>>,
    steps: u64,
}

/// A part of what an entry stands for, in which conditions have one value.
struct Leaf {
    zone: Dbm,
    /// All valuations in which they have this value, whatever the entry says.
    any: Dbm,
    truths: Vec<(VarId, bool)>,
    deadlock: Option<bool>,
    /// Cause the bounds cannot tell this part from others, if they cannot.
    low: Option<&'static str>,
}

fn zones(e: ZoneError) -> Rejection {
    Rejection::new(Cause::Zones(e))
}

impl<'a> Checker<'a> {
    fn new(
        net: &'a Network,
        query: &'a Query,
        cert: &'a Certificate,
        symmetry: &'a Symmetry,
    ) -> Result<Checker<'a>, Rejection> {
        let mut c = Checker {
            net,
            query,
            symmetry,
            interpreter: Interpreter::new(net),
            has_rates: net.has_rates(),
            entries: Vec::new(),
            places: FxHashMap::default(),
            partial: None,
            above: None,
            steps: 0,
        };
        let any = cert.entries.iter().any(|e| !e.known.is_empty() || e.says.is_some());
        if any && net.has_rates() {
            let why = "an entry that knows only part of the data, where clocks can stand still";
            return Err(Rejection::new(Cause::BesideThePoint(why)));
        }
        if any && query.deadlock {
            let why = "an entry that knows only part of the data says nothing about deadlocks";
            return Err(Rejection::new(Cause::BesideThePoint(why)));
        }
        c.ready(any)?;
        for (number, e) in cert.entries.iter().enumerate() {
            let entry = c.read(number, e).map_err(|r| r.number(number))?;
            if !entry.zone.is_empty() {
                let new = || Place { entries: Vec::new(), invariant: entry.invariant.clone() };
                c.places.entry(entry.state).or_insert_with(new).entries.push(c.entries.len());
                c.entries.push(entry);
            }
        }
        c.index_locations();
        Ok(c)
    }

    fn read(&mut self, number: usize, e: &'a CertEntry) -> Result<Entry<'a>, Rejection> {
        check(self.net, &e.state)?;
        let malformed = |what: &str| Rejection::new(Cause::Malformed(what.into())).state(self.net, &e.state);
        if !e.known.is_empty() && e.known.len() != e.state.data.len() {
            return Err(malformed("what is known of another number of cells"));
        }
        if !e.state.clocks.is_empty() {
            return Err(malformed("an entry has a zone, and no values of clocks"));
        }
        let dim = self.dim();
        if e.zone.iter().any(|c| c.clocks().0 >= dim || c.clocks().1 >= dim) {
            return Err(malformed("a constraint on a clock that does not exist"));
        }
        if e.bounds.as_ref().is_some_and(|b| b.lower.len() != dim || b.upper.len() != dim) {
            return Err(malformed("bounds for another number of clocks"));
        }
        let zone = Dbm::build(self.net.clocks.len(), &e.zone);
        let invariant = match (self.places.get(&e.state), &self.partial) {
            (Some(place), _) => place.invariant.clone(),
            (None, Some(_)) => self.invariant_of(&e.state.locations)?.into(),
            (None, None) => self.interpreter.timing(&e.state).map_err(|e| self.model(e))?.0.into(),
        };
        let says = e.says.as_ref().map(|text| self.assertions(text)).transpose()?.unwrap_or_default();
        Ok(Entry { number, state: &e.state, known: &e.known, says, zone, bounds: e.bounds.as_ref(), invariant })
    }

    // Words for what is wrong.

    fn model(&self, e: ModelError) -> Rejection {
        Rejection::model(self.net, e)
    }

    fn wrong(&self, why: Cause, e: &Entry<'_>, zone: &Dbm) -> Rejection {
        Rejection::new(why).number(e.number).state(self.net, e.state).with(zone.show(&self.net.clocks))
    }

    fn wrong_move(&self, why: Cause, e: &Entry<'_>, m: &Move) -> Rejection {
        self.wrong(why, e, &e.zone).step(self.net, &m.action).next(self.net, &m.to)
    }

    // Zones.

    fn dim(&self) -> usize {
        self.net.clocks.len() + 1
    }

    /// Is the zone within what these entries stand for, together?
    fn covered<'e>(&self, zone: Dbm, by: impl Iterator<Item = &'e Entry<'a>>) -> bool
    where
        'a: 'e,
    {
        let mut parts = vec![zone];
        parts.retain(|z| !z.is_empty());
        for e in by {
            let rest = parts.iter().filter(|part| !stands_for(e, part));
            parts = rest.flat_map(|part| part.minus(&e.zone)).collect();
        }
        parts.is_empty()
    }

    /// As `covered`, but first tries each entry alone.
    fn included(&self, zone: &Dbm, by: &[&Entry<'a>]) -> bool {
        zone.is_empty()
            || by.iter().any(|e| stands_for(e, zone))
            || by.len() > 1 && self.covered(zone.clone(), by.iter().copied())
    }

    /// The entries with these locations and data, and this element or, up to the order, one that is above it.
    fn targets(&self, state: &Snapshot) -> Vec<&Entry<'a>> {
        if let Some(above) = &self.above {
            return above.of(state).into_iter().map(|i| &self.entries[i]).collect();
        }
        self.places.get(state).map_or(Vec::new(), |p| p.entries.iter().map(|&i| &self.entries[i]).collect())
    }

    /// The loosest bound of a clock from above (below) among the entries that are measured.
    fn clock_bound(&mut self, sup: bool, when: &Condition, x: usize) -> Result<Option<Bound>, Rejection> {
        let (left, right) = if sup { (x, 0) } else { (0, x) };
        let mut loosest = None;
        for i in 0..self.entries.len() {
            crate::limit::ask()?;
            for leaf in self.leaves(i)? {
                if self.value(when, i, &leaf)? != 0 {
                    loosest = loosest.max(Some(leaf.zone.get(left, right)));
                }
            }
        }
        let bound = |l: Limit| l.bound().ok_or_else(|| zones(ZoneError::Overflow));
        loosest.map(bound).transpose()
    }

    // A closed set.

    /// The set has the initial valuation with all delays, and no step leads out of it, whatever the delay after it.
    fn closed(&mut self) -> Result<(), Rejection> {
        if self.partial.is_some() {
            return self.closed_partially();
        }
        let initial = Snapshot { clocks: Vec::new(), ..self.interpreter.initial().map_err(|e| self.model(e))? };
        let (invariant, delay) = self.interpreter.timing(&initial).map_err(|e| self.model(e))?;
        let stopped = self.stopped(&initial, delay).map_err(|e| self.model(e))?;
        let zero = later(Dbm::zero(self.net.clocks.len()), &invariant, delay.then_some(&stopped));
        let (state, mut word) = self.in_order(&initial);
        let targets = self.targets(&state);
        let zero = self.sorted_zone(zero, &state, &targets, &mut word);
        if !self.included(&zero, &targets) {
            return Err(Rejection::new(Cause::InitialMissing).state(self.net, &initial));
        }
        for i in 0..self.entries.len() {
            // Locations and data are looked at once, when they first come.
            let state = self.entries[i].state;
            if self.places[state].entries[0] != i {
                continue;
            }
            let together = self.places[state].entries.clone();
            for m in moves::moves(self.net, state).map_err(|e| self.model(e))? {
                let stopped = self.stopped(&m.to, m.delay);
                let (to, word) = self.in_order(&m.to);
                self.steps += together.len() as u64;
                for &j in &together {
                    crate::limit::ask()?;
                    self.leads_into(&self.entries[j], &m, &stopped, self.targets(&to), (&to, word.clone()))?;
                }
            }
        }
        Ok(())
    }

    /// The clocks that stand still in a state while time passes, if it may.
    fn stopped(&self, state: &Snapshot, delay: bool) -> Stopped {
        if delay && self.has_rates { self.interpreter.stopped(state) } else { Ok(Vec::new()) }
    }

    /// A move leads from an entry into these, after some swaps to this state.
    fn leads_into(
        &self,
        e: &Entry<'a>,
        m: &Move,
        stopped: &Stopped,
        mut targets: Vec<&Entry<'a>>,
        (state, mut word): (&Snapshot, Vec<u16>),
    ) -> Result<(), Rejection> {
        let same: Vec<_> = (0..self.dim()).map(Some).collect();
        if let Some(error) = &m.fault {
            // Nothing goes wrong if the clocks never allow it.
            if let Some(bounds) = e.bounds {
                enough(bounds, &m.guard, &same).map_err(|why| self.wrong_move(Cause::LowBounds(why), e, m))?;
            }
            let zone = self.valuations(e).within(&m.guard);
            return if zone.is_empty() { Ok(()) } else { Err(self.model(error.clone())) };
        }
        if targets.iter().any(|t| t.bounds.is_some_and(stands_for_all)) {
            return Ok(());
        }
        let origins = origins(self.dim(), &m.resets);
        if let Some(bounds) = e.bounds {
            enough(bounds, &m.guard, &same)
                .and_then(|()| enough(bounds, &m.invariant, &origins))
                .map_err(|why| self.wrong_move(Cause::LowBounds(why), e, m))?;
        }
        let mut zone = self.valuations(e).within(&m.guard);
        moves::set(&mut zone, &m.resets);
        zone.constrain_all(&m.invariant);
        if zone.is_empty() {
            return Ok(());
        }
        let stopped = stopped.as_ref().map_err(|e| self.model(e.clone()))?;
        let zone = later(zone, &m.invariant, m.delay.then_some(stopped));
        let swapped = self.sorted_zone(zone.clone(), state, &targets, &mut word);
        if let Some(bounds) = e.bounds {
            let before = |c: usize| origins[self.symmetry.clock_before(&word, c as u32) as usize];
            let origins: Vec<_> = (0..self.dim()).map(before).collect();
            targets.retain(|t| t.bounds.is_some_and(|b| at_least(bounds, b, &origins)));
        }
        if self.included(&swapped, &targets) {
            return Ok(());
        }
        let shown = zone.show(&self.net.clocks);
        let mut wrong = self.wrong_move(Cause::LeadsOutside, e, m);
        wrong.next = wrong.next.map(|next| format!("{next}; {shown}"));
        Err(wrong)
    }

    /// The zone of an entry, without what violates the invariant: if there are bounds, only if they can tell.
    fn valuations(&self, e: &Entry<'a>) -> Dbm {
        let same: Vec<_> = (0..self.dim()).map(Some).collect();
        match e.bounds {
            Some(b) if enough(b, &e.invariant, &same).is_err() => e.zone.clone(),
            _ => e.zone.within(&e.invariant),
        }
    }

    // What can be asked.

    /// A condition has the same value everywhere.
    fn everywhere(&mut self, c: &Condition, value: bool, otherwise: &'static str) -> Result<(), Rejection> {
        for i in 0..self.entries.len() {
            crate::limit::ask()?;
            for leaf in self.leaves(i)? {
                let found = self.value(c, i, &leaf)?;
                let e = &self.entries[i];
                if (found != 0) != value {
                    if let Some(why) = leaf.low {
                        return Err(self.wrong(Cause::LowBounds(why), e, &leaf.zone));
                    }
                    return Err(self.wrong(Cause::Condition(otherwise), e, &leaf.zone));
                }
            }
        }
        Ok(())
    }

    /// The extreme value of an expression where it is measured.
    fn bound(&mut self, sup: bool, when: &Condition, of: &Condition) -> Result<Option<i64>, Rejection> {
        let mut bound = None;
        for i in 0..self.entries.len() {
            crate::limit::ask()?;
            for leaf in self.leaves(i)? {
                if self.value(when, i, &leaf)? != 0 {
                    if let Some(why) = leaf.low {
                        return Err(self.wrong(Cause::LowBounds(why), &self.entries[i], &leaf.zone));
                    }
                    let n = self.value(of, i, &leaf)?;
                    bound = Some(bound.map_or(n, |b: i64| if sup { n.max(b) } else { n.min(b) }));
                }
            }
        }
        Ok(bound)
    }

    fn value(&mut self, c: &Condition, i: usize, leaf: &Leaf) -> Result<i64, Rejection> {
        if self.partial.is_some() {
            return self.value_partially(c, i, &leaf.truths);
        }
        self.interpreter.value_given(c, self.entries[i].state, leaf.deadlock, &leaf.truths).map_err(|e| self.model(e))
    }

    /// The parts of an entry in which each clock constraint of the question, and `deadlock`, has one value. A valuation
    /// within the bounds of an entry is in the same part as what simulates it, if the bounds can tell the parts apart; if they
    /// cannot, it may be in either.
    fn leaves(&mut self, i: usize) -> Result<Vec<Leaf>, Rejection> {
        if self.partial.is_some() {
            self.knows_atoms(&self.entries[i])?;
        }
        let whole = self.valuations(&self.entries[i]);
        let any = Dbm::universe(self.net.clocks.len());
        let leaf = |zone, deadlock| Leaf { zone, any: any.clone(), truths: Vec::new(), deadlock, low: None };
        let mut leaves = Vec::new();
        if self.query.deadlock {
            // What simulates a deadlock need be none, unless the bounds are the same from both sides: then it is simulated, too.
            if self.entries[i].bounds.is_some_and(|b| b.lower != b.upper) {
                let why = "what an entry stands for by its bounds may be a deadlock where its zone is none: list zones";
                return Err(Rejection::new(Cause::BesideThePoint(why)));
            }
            let mut alive = self.alive(i)?;
            // Often some step can always happen.
            if let Some(at) = alive.iter().position(|alive| whole.is_in(alive)) {
                alive.swap(0, at);
                alive.truncate(1);
            }
            let mut dead = vec![whole];
            for alive in alive {
                let mut rest = Vec::new();
                for part in &dead {
                    rest.extend(part.minus(&alive));
                    let mut zone = part.clone();
                    zone.intersect(&alive);
                    leaves.push(leaf(zone, Some(false)));
                }
                dead = rest;
            }
            leaves.extend(dead.into_iter().map(|zone| leaf(zone, Some(true))));
        } else {
            leaves.push(leaf(whole, None));
        }
        leaves.retain(|l| !l.zone.is_empty());
        for (var, atom) in &self.query.atoms {
            let e = &self.entries[i];
            let bound = self.interpreter.atom_bound(e.state, atom).map_err(|e| self.model(e))?;
            let Some(bound) = bound else {
                leaves.iter_mut().for_each(|l| l.truths.push((*var, true)));
                continue;
            };
            let bound = Bound::checked(bound, atom.strict).ok_or_else(|| zones(ZoneError::Overflow))?;
            let yes = Constraint { left: atom.left, right: atom.right, bound };
            let sides = [Some((yes, true)), opposite(yes).map(|no| (no, false))];
            let same: Vec<_> = (0..self.dim()).map(Some).collect();
            let mut split = Vec::new();
            for l in &leaves {
                for (c, holds) in sides.iter().flatten() {
                    // If the bounds cannot tell, what satisfies it may be simulated by what does not.
                    let low = e.bounds.and_then(|b| enough(b, &[*c], &same).err());
                    let zone = if low.is_some() { l.zone.clone() } else { l.zone.within(&[*c]) };
                    let any = l.any.within(&[*c]);
                    if !zone.is_empty() && !any.is_empty() {
                        let truths = l.truths.iter().copied().chain([(*var, *holds)]).collect();
                        split.push(Leaf { zone, any, truths, deadlock: l.deadlock, low: l.low.or(low) });
                    }
                }
            }
            leaves = split;
        }
        Ok(leaves)
    }
}

/// Does an entry stand for a zone, alone?
fn stands_for(e: &Entry<'_>, zone: &Dbm) -> bool {
    match e.bounds {
        None => zone.is_in(&e.zone),
        Some(b) => zone.is_simulated_by(&e.zone, &b.lower, &b.upper),
    }
}

/// What a zone becomes while time passes, if it may, and these clocks stand still.
fn later(mut zone: Dbm, invariant: &[Constraint], delay: Option<&Vec<u32>>) -> Dbm {
    zone.constrain_all(invariant);
    if let Some(stopped) = delay {
        if stopped.is_empty() {
            zone.up();
        } else {
            zone = stopwatch::later(&zone, stopped);
        }
        zone.constrain_all(invariant);
    }
    zone
}

/// Can the bounds tell no valuation from any other?
fn stands_for_all(b: &LuBounds) -> bool {
    b.lower.iter().skip(1).chain(b.upper.iter().skip(1)).all(|&c| c < 0)
}

/// For each clock after some resets, the one whose value it has, if any.
fn origins(dim: usize, resets: &[SetClock]) -> Vec<Option<usize>> {
    let mut origins: Vec<_> = (0..dim).map(Some).collect();
    for r in resets {
        match *r {
            SetClock::Value { clock, .. } => origins[clock as usize] = None,
            SetClock::Copy { clock, from } => origins[clock as usize] = origins[from as usize].filter(|&o| o != 0),
        }
    }
    origins
}

/// Are the bounds at least the constants in these constraints, of clocks that come from these?
fn enough(b: &LuBounds, constraints: &[Constraint], origins: &[Option<usize>]) -> Result<(), &'static str> {
    for c in constraints {
        let Some(n) = c.bound.constant() else { continue };
        let strict = c.bound.is_strict();
        match c.clocks() {
            (0, 0) => {}
            (x, 0) => {
                let never = n < 0 || n == 0 && strict;
                if origins[x].is_some_and(|x| !never && b.upper[x] < n) {
                    return Err("an upper bound is below a constant that a clock is compared with from above");
                }
            }
            (0, x) => {
                let always = -n < 0 || n == 0 && !strict;
                if origins[x].is_some_and(|x| !always && b.lower[x] < -n) {
                    return Err("a lower bound is below a constant that a clock is compared with from below");
                }
            }
            _ => return Err("two clocks are compared with each other"),
        }
    }
    Ok(())
}

/// Are the bounds at least these others, of clocks that come from these?
fn at_least(b: &LuBounds, others: &LuBounds, origins: &[Option<usize>]) -> bool {
    let holds = |b: &[i32], others: &[i32]| {
        (1..others.len()).all(|x| origins[x].is_none_or(|from| others[x] < 0 || others[x] <= b[from]))
    };
    holds(&b.lower, &others.lower) && holds(&b.upper, &others.upper)
}
