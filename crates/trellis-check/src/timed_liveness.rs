//! Certificates for liveness of timed models: ranked zones, checked to be a proof that no maximal run stays in a condition φ.
//!
//! Nothing here rests on a theory of abstraction. An entry with a rank claims, for every valuation of its zone in φ, that no
//! maximal run from there stays in φ. It is enough that time cannot pass forever there within φ; that the valuations can all take a
//! step, or leave by waiting, some time; and that what the steps lead to within φ, and what waiting leads to next within φ, is
//! in entries with smaller ranks. (The values of the question's clock constraints divide valuations into convex *cells*; a delay
//! leads directly from one to another if all that changes does so at the same moment.) Then by induction no
//! such run exists. The question asks that certain valuations have a rank: the initial one, or for `p --> q` all of a
//! closed set in which p holds.
//!
//! If only runs count along which infinitely much time passes: zones have one more clock, which every step that finds it at 1
//! or more sets to 0, and it is enough that ranks do not grow and become smaller along those steps.
//!
//! What it deliberately does not do: `deadlock` in conditions, lattice variables, priorities, entries with bounds (`a⊑LU` says
//! nothing about cycles). All are refused.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_domain::zone::{Bound, Constraint, ZoneError};
use trellis_expr::VarId;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::interpret::moves::opposite;
use trellis_model::network::{
    Action, CertEntry, Certificate, Condition, ModelError, Network, Query, QueryKind, SetClock, Snapshot,
};

use crate::certified::Certified;
use crate::dbm::Dbm;
use crate::state::check;
use crate::{Cause, Rejection, moves};

/// Locations and data.
pub(crate) type Key = Rc<Snapshot>;

/// As [`certify`](crate::certify), for questions about maximal runs of a model with clocks; runs with infinitely many steps
/// count only if infinitely much time passes.
pub fn certify_non_zeno(net: &Network, query: &Query, cert: &Certificate) -> Result<Certified, Rejection> {
    let mut measured = net.clone();
    measured.clocks.push("the measure of divergence".into());
    let measure = measured.clocks.len() as u32;
    inevitable(&measured, query, cert, Some(measure))
}

/// Checks a certificate for liveness. `measure`: the clock that measures divergence.
pub(crate) fn inevitable(
    net: &Network,
    query: &Query,
    cert: &Certificate,
    measure: Option<u32>,
) -> Result<Certified, Rejection> {
    let beside = |why| Err(Rejection::new(Cause::BesideThePoint(why)));
    let (stay, value, from) = match &query.kind {
        QueryKind::Eventually(p) => (p, false, None),
        QueryKind::PotentiallyAlways(p) => (p, true, None),
        QueryKind::LeadsTo(p, q) => (q, false, Some(p)),
        _ => return beside("ranks for a question that is not about maximal runs"),
    };
    if !net.lattices.is_empty() || query.deadlock {
        return beside("liveness with clocks, and lattice variables or `deadlock`, cannot be checked");
    }
    let mut c = Checker::new(net, query, (stay, value), measure);
    for (number, e) in cert.entries.iter().enumerate() {
        c.read(number, e).map_err(|r| r.number(number))?;
    }
    c.start(from)?;
    for i in 0..c.entries.len() {
        crate::limit::ask()?;
        if c.entries[i].rank.is_some() {
            c.counts_down(i)?;
        }
    }
    Ok(Certified { entries: cert.entries.len(), steps: c.steps, up_to_order: false, bound: None, clock: None })
}

pub(crate) struct Entry {
    pub number: usize,
    pub key: Key,
    pub zone: Dbm,
    rank: Option<u32>,
}

/// What is the same for all valuations of a key.
pub(crate) struct Place {
    pub state: Key,
    pub invariant: Vec<Constraint>,
    pub delay: bool,
    /// What the clock constraints of the question say here; nothing for one that does not apply, and holds.
    atoms: Vec<Option<Constraint>>,
}

/// Valuations for which each clock constraint of the question has one value.
struct Leaf {
    truths: Vec<bool>,
    /// What makes it so.
    cell: Vec<Constraint>,
    zone: Dbm,
}

/// What a step asks of clocks and does to them.
pub(crate) struct Way {
    pub action: Action,
    pub key: Key,
    guard: Vec<Constraint>,
    resets: Vec<SetClock>,
    invariant: Vec<Constraint>,
    /// What goes wrong if it happens.
    fault: Option<ModelError>,
    /// It counts as progress.
    pub counts: bool,
}

pub(crate) struct Checker<'a> {
    net: &'a Network,
    query: &'a Query,
    /// φ: the condition, and its value.
    stay: (&'a Condition, bool),
    measure: Option<u32>,
    pub interpreter: Interpreter<'a>,
    pub entries: Vec<Entry>,
    by_key: FxHashMap<Key, Vec<usize>>,
    pub places: FxHashMap<Key, Place>,
    ways: FxHashMap<Key, Rc<Vec<Way>>>,
    pub steps: u64,
}

pub(crate) fn zones(e: ZoneError) -> Rejection {
    Rejection::new(Cause::Zones(e))
}

/// Which clock changes a constraint while time passes, at what constant, and whether only just after.
fn change(c: Constraint) -> Option<(u32, i64, bool)> {
    let constant = i64::from(c.bound.constant()?);
    match (c.left, c.right) {
        (x, 0) => Some((x, constant, !c.bound.is_strict())),
        (0, x) => Some((x, -constant, c.bound.is_strict())),
        _ => None,
    }
}

impl<'a> Checker<'a> {
    pub fn new(net: &'a Network, query: &'a Query, stay: (&'a Condition, bool), measure: Option<u32>) -> Checker<'a> {
        Checker {
            net,
            query,
            stay,
            measure,
            interpreter: Interpreter::new(net),
            entries: Vec::new(),
            by_key: FxHashMap::default(),
            places: FxHashMap::default(),
            ways: FxHashMap::default(),
            steps: 0,
        }
    }

    pub fn read(&mut self, number: usize, e: &CertEntry) -> Result<(), Rejection> {
        check(self.net, &e.state)?;
        let malformed = |what: &str| Rejection::new(Cause::Malformed(what.into())).state(self.net, &e.state);
        if !e.known.is_empty() || e.says.is_some() || e.bounds.is_some() {
            let why = "entries with bounds, or that know only part of the data, are no proof of liveness";
            return Err(Rejection::new(Cause::BesideThePoint(why)));
        }
        if !e.state.clocks.is_empty() {
            return Err(malformed("an entry has a zone, and no values of clocks"));
        }
        let dim = self.net.clocks.len() + 1;
        if e.zone.iter().any(|c| c.clocks().0 >= dim || c.clocks().1 >= dim) {
            return Err(malformed("a constraint on a clock that does not exist"));
        }
        let key = Rc::new(e.state.clone());
        self.place(&key)?;
        let zone = Dbm::build(self.net.clocks.len(), &e.zone).within(&self.places[&key].invariant);
        if !zone.is_empty() {
            self.by_key.entry(key.clone()).or_default().push(self.entries.len());
            self.entries.push(Entry { number, key, zone, rank: e.rank });
        }
        Ok(())
    }

    /// How many clocks there are.
    pub fn clocks(&self) -> usize {
        self.net.clocks.len()
    }

    /// The initial state.
    pub fn initial(&self) -> Result<Key, Rejection> {
        let initial = self.interpreter.initial().map_err(|e| self.model(e))?;
        Ok(Rc::new(Snapshot { clocks: Vec::new(), ..initial }))
    }

    /// Learns about a key.
    pub fn place(&mut self, key: &Key) -> Result<(), Rejection> {
        if self.places.contains_key(key) {
            return Ok(());
        }
        let (invariant, delay) = self.interpreter.timing(key).map_err(|e| self.model(e))?;
        let mut atoms = Vec::new();
        for (_, atom) in &self.query.atoms {
            let bound = self.interpreter.atom_bound(key, atom).map_err(|e| self.model(e))?;
            let checked = |n| Bound::checked(n, atom.strict).ok_or_else(|| zones(ZoneError::Overflow));
            let bound = bound.map(checked).transpose()?;
            atoms.push(bound.map(|bound| Constraint { left: atom.left, right: atom.right, bound }));
        }
        self.places.insert(key.clone(), Place { state: key.clone(), invariant, delay, atoms });
        Ok(())
    }

    pub fn model(&self, e: ModelError) -> Rejection {
        Rejection::model(self.net, e)
    }

    pub fn wrong(&self, why: Cause, i: usize, zone: &Dbm) -> Rejection {
        let e = &self.entries[i];
        Rejection::new(why).number(e.number).state(self.net, &e.key).with(zone.show(&self.net.clocks))
    }

    // Zones.

    /// What a zone becomes while time passes, within these constraints.
    pub fn later(&self, zone: &Dbm, place: &Place, also: &[Constraint]) -> Dbm {
        let mut zone = zone.clone();
        if place.delay {
            zone.up();
        }
        zone.constrain_all(&place.invariant);
        zone.constrain_all(also);
        zone
    }

    fn leaves(&self, place: &Place, zone: Dbm) -> Vec<Leaf> {
        let mut leaves = vec![Leaf { truths: Vec::new(), cell: Vec::new(), zone }];
        leaves.retain(|l| !l.zone.is_empty());
        for atom in &place.atoms {
            let mut split = Vec::new();
            for l in leaves {
                for holds in [true, false] {
                    let mut cell = l.cell.clone();
                    match (*atom, holds) {
                        (None, true) => {}
                        (None, false) => continue,
                        (Some(c), true) => cell.push(c),
                        (Some(c), false) => match opposite(c) {
                            Some(not) => cell.push(not),
                            None => continue,
                        },
                    }
                    let zone = l.zone.within(&cell);
                    if !zone.is_empty() {
                        let truths = l.truths.iter().copied().chain([holds]).collect();
                        split.push(Leaf { truths, cell, zone });
                    }
                }
            }
            leaves = split;
        }
        leaves
    }

    fn holds(&self, c: &Condition, place: &Place, leaf: &Leaf) -> Result<bool, Rejection> {
        let truths: Vec<(VarId, bool)> =
            self.query.atoms.iter().zip(&leaf.truths).map(|((v, _), &t)| (*v, t)).collect();
        let value = self.interpreter.value_given(c, &place.state, None, &truths);
        Ok(value.map_err(|e| self.model(e))? != 0)
    }

    fn stays(&self, place: &Place, leaf: &Leaf) -> Result<bool, Rejection> {
        Ok(self.holds(self.stay.0, place, leaf)? == self.stay.1)
    }

    /// What of a zone is in no entry of the key, of those that are wanted.
    pub fn missing(&self, key: &Key, zone: &Dbm, wanted: impl Fn(&Entry) -> bool) -> bool {
        let all = self.by_key.get(key).map_or(&[][..], |all| all);
        let entries = || all.iter().map(|&i| &self.entries[i]).filter(|e| wanted(e));
        if entries().any(|e| zone.is_in(&e.zone)) {
            return false;
        }
        let mut parts = vec![zone.clone()];
        parts.retain(|z| !z.is_empty());
        for e in entries() {
            parts = parts.iter().flat_map(|part| part.minus(&e.zone)).collect();
        }
        !parts.is_empty()
    }

    /// The steps from a key.
    pub fn ways(&mut self, key: &Key) -> Result<Rc<Vec<Way>>, Rejection> {
        if let Some(ways) = self.ways.get(key) {
            self.steps += ways.len() as u64;
            return Ok(ways.clone());
        }
        let mut ways = Vec::new();
        for m in moves::moves(self.net, key).map_err(|e| self.model(e))? {
            let to = Rc::new(m.to);
            let way = |more: Option<Constraint>, reset: Option<SetClock>, counts| Way {
                action: m.action.clone(),
                key: to.clone(),
                guard: m.guard.iter().copied().chain(more).collect(),
                resets: m.resets.iter().copied().chain(reset).collect(),
                invariant: m.invariant.clone(),
                fault: m.fault.clone(),
                counts,
            };
            match self.measure {
                None => ways.push(way(None, None, true)),
                Some(z) => {
                    let few = Constraint { left: z, right: 0, bound: Bound::lt(1) };
                    ways.push(way(Some(few), None, false));
                    ways.push(way(opposite(few), Some(SetClock::Value { clock: z, value: 0 }), true));
                }
            }
        }
        for w in &ways {
            self.place(&w.key)?;
        }
        self.steps += ways.len() as u64;
        let ways = Rc::new(ways);
        self.ways.insert(key.clone(), ways.clone());
        Ok(ways)
    }

    /// Where a step leads from a zone, before time passes.
    pub fn after(&self, zone: &Dbm, way: &Way) -> Result<Dbm, Rejection> {
        let mut zone = zone.within(&way.guard);
        if let Some(fault) = &way.fault
            && !zone.is_empty()
        {
            return Err(self.model(fault.clone()));
        }
        moves::set(&mut zone, &way.resets);
        zone.constrain_all(&way.invariant);
        Ok(zone)
    }

    /// From where a step is possible, at once.
    pub fn before(&self, place: &Place, way: &Way) -> Dbm {
        let mut zone = moves::before(self.net.clocks.len(), &way.guard, &way.resets, &way.invariant);
        zone.constrain_all(&place.invariant);
        zone
    }

    // The proof.

    /// Whatever the question starts from has a rank if it is in φ.
    fn start(&mut self, from: Option<&Condition>) -> Result<(), Rejection> {
        let key = self.initial()?;
        self.place(&key)?;
        let place = &self.places[&key];
        let zone = Dbm::zero(self.net.clocks.len()).within(&place.invariant);
        let missing = || Rejection::new(Cause::InitialMissing).state(self.net, &key);
        let Some(from) = from else {
            for leaf in self.leaves(place, zone) {
                if self.stays(place, &leaf)? && self.missing(&key, &leaf.zone, |e| e.rank.is_some()) {
                    return Err(missing());
                }
            }
            return Ok(());
        };
        if self.missing(&key, &self.later(&zone, place, &[]), |_| true) {
            return Err(missing());
        }
        for i in 0..self.entries.len() {
            crate::limit::ask()?;
            let key = self.entries[i].key.clone();
            for way in self.ways(&key)?.iter() {
                let zone = self.after(&self.entries[i].zone, way)?;
                let zone = self.later(&zone, &self.places[&way.key], &[]);
                if self.missing(&way.key, &zone, |_| true) {
                    let wrong = self.wrong(Cause::LeadsOutside, i, &zone).step(self.net, &way.action);
                    return Err(wrong.next(self.net, &way.key));
                }
            }
            if self.entries[i].rank.is_some() {
                continue;
            }
            let place = &self.places[&key];
            for leaf in self.leaves(place, self.entries[i].zone.clone()) {
                if self.holds(from, place, &leaf)?
                    && self.stays(place, &leaf)?
                    && self.missing(&key, &leaf.zone, |e| e.rank.is_some())
                {
                    return Err(self.wrong(Cause::NoRank, i, &leaf.zone));
                }
            }
        }
        Ok(())
    }

    /// What an entry with a rank claims, if all with smaller ranks are right.
    fn counts_down(&mut self, i: usize) -> Result<(), Rejection> {
        let (key, rank) = (self.entries[i].key.clone(), self.entries[i].rank.unwrap_or(0));
        let ways = self.ways(&key)?;
        let place = &self.places[&key];
        let smaller = |counts: bool| move |e: &Entry| e.rank.is_some_and(|r| r < rank || !counts && r == rank);
        let not_smaller = || Cause::RankNotSmaller { from: rank, to: None };
        for leaf in self.leaves(place, self.entries[i].zone.clone()) {
            if !self.stays(place, &leaf)? {
                continue;
            }
            let whole = self.later(&leaf.zone, place, &leaf.cell);
            let limits = |c: &Constraint| c.left != 0 && c.right == 0 && !c.bound.is_inf();
            if place.delay && !place.invariant.iter().chain(&leaf.cell).any(limits) {
                return Err(self.wrong(Cause::MayIdle, i, &whole));
            }
            // Steps.
            let mut leaving = Vec::new();
            for way in ways.iter() {
                leaving.push(self.before(place, way));
                let target = &self.places[&way.key];
                for next in self.leaves(target, self.after(&whole, way)?) {
                    if self.stays(target, &next)? && self.missing(&way.key, &next.zone, smaller(way.counts)) {
                        let wrong = self.wrong(not_smaller(), i, &next.zone).step(self.net, &way.action);
                        return Err(wrong.next(self.net, &target.state));
                    }
                }
            }
            // Waiting.
            for next in self.leaves(place, self.later(&whole, place, &[])) {
                if !place.delay || next.truths == leaf.truths {
                    continue;
                }
                leaving.push(Dbm::build(self.net.clocks.len(), &place.invariant).within(&next.cell));
                let Some(direct) = self.direct(place, &leaf, &next)? else { continue };
                if self.stays(place, &next)? && self.missing(&key, &direct, smaller(self.measure.is_none())) {
                    return Err(self.wrong(not_smaller(), i, &direct));
                }
            }
            // All valuations can do one or the other.
            let mut stuck = vec![whole];
            stuck.retain(|z| !z.is_empty());
            for mut zone in leaving {
                if place.delay {
                    zone.down();
                }
                stuck = stuck.iter().flat_map(|part| part.minus(&zone)).collect();
            }
            if let Some(part) = stuck.first() {
                return Err(self.wrong(Cause::Deadlock, i, part));
            }
        }
        Ok(())
    }

    /// The valuations of `to` that waiting leads to directly from `from`: all that changes does so at one moment.
    fn direct(&self, place: &Place, from: &Leaf, to: &Leaf) -> Result<Option<Dbm>, Rejection> {
        let changed = (from.truths.iter().zip(&to.truths).zip(&place.atoms)).filter(|((a, b), _)| a != b);
        let changes: Vec<_> = changed.filter_map(|(_, atom)| change((*atom)?)).collect();
        let mut zone = to.zone.clone();
        for (i, &(x, n, late)) in changes.iter().enumerate() {
            for &(y, m, other) in &changes[..i] {
                let bound = |n| Bound::checked(n, false).ok_or_else(|| zones(ZoneError::Overflow));
                if late != other || x == y && n != m {
                    return Ok(None);
                }
                let same = [
                    Constraint { left: x, right: y, bound: bound(n - m)? },
                    Constraint { left: y, right: x, bound: bound(m - n)? },
                ];
                if x != y {
                    zone.constrain_all(&same);
                }
                if zone.is_empty() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(zone))
    }
}
