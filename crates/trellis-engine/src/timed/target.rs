//! What is looked for in a timed network: a condition on locations, data and clocks, and perhaps `deadlock`.
//!
//! Clock constraints in the condition are truth values of their own ([`Query::atoms`]). In a zone they may be true for some
//! valuations and false for others: the zone is split by one after the other, and the condition judged in each part.

use trellis_domain::zone::{Bound, Constraint, Zone, ZoneError};
use trellis_model::network::{Condition, Judge, ModelError, Network, Post, Query, Transitions};
use trellis_order::Word;

use super::space::{ActiveClocks, invariant};
use crate::table::NoRoom;

/// Why a zone could not be computed: the model, or a constant out of range.
#[derive(Debug, Clone)]
pub enum Error {
    /// The model did something undefined.
    Model(Box<ModelError>),
    /// A clock constant left the range that zones can hold.
    Range,
    /// There is no room for another state.
    Room(NoRoom),
}

impl From<NoRoom> for Error {
    fn from(why: NoRoom) -> Error {
        Error::Room(why)
    }
}

impl From<ModelError> for Error {
    fn from(e: ModelError) -> Error {
        Error::Model(Box::new(e))
    }
}

impl From<ZoneError> for Error {
    fn from(_: ZoneError) -> Error {
        Error::Range
    }
}

/// A condition that is looked for.
#[derive(Debug)]
pub struct Target {
    judge: Judge,
    /// The truth value that is looked for.
    value: bool,
    /// The cells of the atoms that the condition asks about, and the atoms.
    atoms: Vec<u32>,
    deadlock: bool,
    moves: Transitions,
    values: Vec<Constraint>,
}

impl Target {
    /// Looks for states in which a query's condition has the given truth value.
    pub fn new(post: &Post<'_>, query: &Query, condition: Condition, value: bool) -> Target {
        let used = condition_vars(post.network(), condition);
        let mentions = |v| used.contains(&v);
        Target {
            judge: post.compile(condition, false),
            value,
            atoms: (0..query.atoms.len() as u32).filter(|&a| mentions(query.atoms[a as usize].0)).collect(),
            deadlock: query.deadlock && post.network().deadlock.is_some_and(mentions),
            moves: Transitions::default(),
            values: Vec::new(),
        }
    }

    /// Does the answer depend on the key alone?
    pub fn is_discrete(&self) -> bool {
        self.atoms.is_empty() && !self.deadlock
    }

    /// Does it ask about deadlocks?
    pub fn asks_deadlock(&self) -> bool {
        self.deadlock
    }

    /// Is the key a target, whatever the clocks?
    pub fn holds(&self, post: &mut Post<'_>, key: &[Word]) -> Result<bool, Error> {
        Ok((post.judge_with(&self.judge, key, &[])? != 0) == self.value)
    }

    /// The parts of the zone in which the condition has the wanted value. The zone must respect the key's
    /// invariant and be closed under delay (where time may pass, which `delay` says).
    pub fn find(
        &mut self,
        post: &mut Post<'_>,
        query: &Query,
        key: &[Word],
        active: ActiveClocks<'_>,
        zone: &[Bound],
        delay: bool,
    ) -> Result<Vec<Zone>, Error> {
        let net = post.network();
        self.values.clear();
        for &a in &self.atoms {
            let (_, atom) = &query.atoms[a as usize];
            self.values.push(post.atom(key, atom)?);
        }
        let mut settings: Vec<(trellis_expr::VarId, bool)> = Vec::new();
        let mut alive = Vec::new();
        if self.deadlock {
            self.alive(post, key, active, delay, &mut alive)?;
        }
        let start = Zone::copied(active.domain(), zone);
        let values = std::mem::take(&mut self.values);
        let mut parts = Vec::new();
        let done = self.split(post, net, query, key, active, start, &values, &mut settings, &alive, &mut parts);
        self.values = values;
        done.map(|()| parts)
    }

    /// What clocks must satisfy in a key for the condition to have the wanted value: one conjunction or another. Not for
    /// deadlocks.
    pub fn cases(
        &self,
        post: &mut Post<'_>,
        query: &Query,
        key: &[Word],
        active: ActiveClocks<'_>,
    ) -> Result<Vec<Vec<Constraint>>, Error> {
        let mut values = Vec::new();
        for &a in &self.atoms {
            values.push(post.atom(key, &query.atoms[a as usize].1)?);
        }
        let start = Zone::universe(active.domain().clocks());
        self.cases_within(post, query, key, active, &start, &values, &mut Vec::new())
    }

    /// The cases that a part of the valuations has. A constraint is left out where it makes no difference.
    #[allow(clippy::too_many_arguments)]
    fn cases_within(
        &self,
        post: &mut Post<'_>,
        query: &Query,
        key: &[Word],
        active: ActiveClocks<'_>,
        zone: &Zone,
        rest: &[Constraint],
        settings: &mut Vec<(trellis_expr::VarId, bool)>,
    ) -> Result<Vec<Vec<Constraint>>, Error> {
        let Some((c, rest)) = rest.split_first() else {
            let holds = (post.judge_with(&self.judge, key, settings)? != 0) == self.value;
            return Ok(if holds { vec![Vec::new()] } else { Vec::new() });
        };
        let var = query.atoms[self.atoms[settings.len()] as usize].0;
        let mut sides = Vec::new();
        for (constraint, value) in [(Some(*c), true), (opposite(c), false)] {
            let Some(constraint) = constraint else { continue };
            let mut part = zone.clone();
            if invariant(active, &[constraint], &mut part)? {
                settings.push((var, value));
                let cases = self.cases_within(post, query, key, active, &part, rest, settings);
                settings.pop();
                sides.push((constraint, cases?));
            }
        }
        let first = sides.first().map(|s| s.1.clone()).unwrap_or_default();
        if sides.iter().all(|s| s.1 == first) {
            return Ok(first);
        }
        let with = |(c, cases): (Constraint, Vec<Vec<Constraint>>)| {
            cases.into_iter().map(move |case| [&[c], case.as_slice()].concat())
        };
        Ok(sides.into_iter().flat_map(with).collect())
    }

    #[allow(clippy::too_many_arguments)]
    fn split(
        &self,
        post: &mut Post<'_>,
        net: &Network,
        query: &Query,
        key: &[Word],
        active: ActiveClocks<'_>,
        zone: Zone,
        rest: &[Constraint],
        settings: &mut Vec<(trellis_expr::VarId, bool)>,
        alive: &[Zone],
        found: &mut Vec<Zone>,
    ) -> Result<(), Error> {
        let Some((c, rest)) = rest.split_first() else {
            return self.leaf(post, net, key, active, zone, settings, alive, found);
        };
        let var = query.atoms[self.atoms[settings.len()] as usize].0;
        for (constraint, value) in [(Some(*c), true), (opposite(c), false)] {
            let Some(constraint) = constraint else { continue };
            let mut part = zone.clone();
            if invariant(active, &[constraint], &mut part)? {
                settings.push((var, value));
                let done = self.split(post, net, query, key, active, part, rest, settings, alive, found);
                settings.pop();
                done?;
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn leaf(
        &self,
        post: &mut Post<'_>,
        net: &Network,
        key: &[Word],
        active: ActiveClocks<'_>,
        zone: Zone,
        settings: &mut Vec<(trellis_expr::VarId, bool)>,
        alive: &[Zone],
        found: &mut Vec<Zone>,
    ) -> Result<(), Error> {
        let (true, Some(var)) = (self.deadlock, net.deadlock) else {
            if (post.judge_with(&self.judge, key, settings)? != 0) == self.value {
                found.push(zone);
            }
            return Ok(());
        };
        let d = active.domain();
        for dead in [true, false] {
            settings.push((var, dead));
            let holds = post.judge_with(&self.judge, key, settings);
            settings.pop();
            if (holds? != 0) != self.value {
                continue;
            }
            if dead {
                let mut parts = vec![zone.clone()];
                for a in alive {
                    let mut left = Vec::new();
                    for p in &parts {
                        left.extend(d.subtract(p, a)?);
                    }
                    parts = left;
                }
                found.append(&mut parts);
            } else {
                for a in alive {
                    let mut part = zone.clone();
                    if d.intersect(&mut part, a)? {
                        found.push(part);
                    }
                }
            }
        }
        Ok(())
    }

    /// The valuations from which some move is possible, now or later.
    fn alive(
        &mut self,
        post: &mut Post<'_>,
        key: &[Word],
        active: ActiveClocks<'_>,
        delay: bool,
        out: &mut Vec<Zone>,
    ) -> Result<(), Error> {
        let mut own = Vec::new();
        post.timing(key, &mut own)?;
        post.moves(key, &mut self.moves)?;
        for m in self.moves.iter() {
            if let Some(mut zone) = enabling(active, &own, &m)? {
                if delay {
                    active.domain().down(&mut zone);
                }
                out.push(zone);
            }
        }
        Ok(())
    }
}

/// What holds where a constraint does not, if it can fail at all.
fn opposite(c: &Constraint) -> Option<Constraint> {
    c.bound.complement().map(|bound| Constraint { left: c.right, right: c.left, bound })
}

/// The valuations in which a move can be taken at once: invariant, guard, and the target's invariant before the resets.
pub fn enabling(
    active: ActiveClocks<'_>,
    own: &[Constraint],
    m: &trellis_model::network::Transition<'_>,
) -> Result<Option<Zone>, Error> {
    let d = active.domain();
    let mut zone = Zone::universe(d.clocks());
    if !invariant(active, own, &mut zone)? || !invariant(active, m.guard, &mut zone)? {
        return Ok(None);
    }
    for c in m.invariant {
        // Where do both clocks come from?
        let (left, add) = super::space::origin(m.resets, c.left);
        let (right, subtract) = super::space::origin(m.resets, c.right);
        let shift = i64::from(add) - i64::from(subtract);
        let bound = match c.bound.constant() {
            None => continue,
            Some(n) => Bound::checked(i64::from(n) - shift, c.bound.is_strict()).ok_or(Error::Range)?,
        };
        if left == right {
            // The constraint is about constants alone.
            if bound < Bound::LE_ZERO {
                return Ok(None);
            }
            continue;
        }
        if !d.constrain(&mut zone, active.place(left), active.place(right), bound)? {
            return Ok(None);
        }
    }
    Ok(Some(zone))
}

fn condition_vars(net: &Network, c: Condition) -> Vec<trellis_expr::VarId> {
    let (reads, writes) = net.terms.stmt_vars(c.prepare);
    net.terms.free_vars(c.holds).into_iter().chain(reads).chain(writes).collect()
}
