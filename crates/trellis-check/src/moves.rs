//! Where steps lead from sets of valuations: the interpreter's moves ([`trellis_model::network::interpret::moves`]), and what they do to
//! zones.
//!
//! With priorities a move may happen where no move of higher priority can. That is a union of zones: there is one move for each part. Of a
//! higher move's constraints the first ones hold there, and the next one does not. A move that something goes wrong with stays
//! whole, and holds up no other.

use trellis_domain::zone::{Bound, Constraint};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::interpret::moves::{Move, opposite};
use trellis_model::network::{ModelError, Network, SetClock, Snapshot};

use crate::dbm::Dbm;

/// All moves from some locations and data, as priorities leave them.
pub(crate) fn moves(net: &Network, state: &Snapshot) -> Result<Vec<Move>, ModelError> {
    let all = Interpreter::new(net).moves(state)?;
    if !net.has_priorities {
        return Ok(all);
    }
    let mut found = Vec::new();
    for m in &all {
        let higher = all.iter().filter(|h| h.priority > m.priority && h.fault.is_none() && m.fault.is_none());
        for guard in parts(net.clocks.len(), &m.guard, higher.filter_map(possible)) {
            found.push(Move { guard, ..m.clone() });
        }
    }
    Ok(found)
}

/// What clocks must satisfy for a move to happen, the target's invariant included; nothing if it never does.
fn possible(m: &Move) -> Option<Vec<Constraint>> {
    let mut all = m.guard.clone();
    for c in &m.invariant {
        let ((left, add), (right, less)) = (origin(&m.resets, c.left), origin(&m.resets, c.right));
        let Some(n) = c.bound.constant() else { continue };
        let bound = Bound::checked(i64::from(n) + less - add, c.bound.is_strict())?;
        match left == right {
            true if bound < Bound::LE_ZERO => return None,
            true => {}
            false => all.push(Constraint { left, right, bound }),
        }
    }
    Some(all)
}

/// Whose value a clock has after some resets, and how much is added.
fn origin(resets: &[SetClock], clock: u32) -> (u32, i64) {
    match resets.split_last() {
        None => (clock, 0),
        Some((&SetClock::Value { clock: c, value }, _)) if c == clock => (0, value.into()),
        Some((&SetClock::Copy { clock: c, from }, before)) if c == clock => origin(before, from),
        Some((_, before)) => origin(before, clock),
    }
}

/// Where a guard holds and none of these: all that must hold, in each part.
fn parts(clocks: usize, guard: &[Constraint], higher: impl Iterator<Item = Vec<Constraint>>) -> Vec<Vec<Constraint>> {
    let mut parts = vec![(guard.to_vec(), Dbm::build(clocks, guard))];
    for all in higher {
        let mut rest = Vec::new();
        for (mut constraints, mut zone) in parts {
            for &c in &all {
                if let Some(not) = opposite(c) {
                    let outside = zone.within(&[not]);
                    if !outside.is_empty() {
                        rest.push(([constraints.as_slice(), &[not]].concat(), outside));
                    }
                }
                constraints.push(c);
                zone.constrain_all(&[c]);
            }
        }
        parts = rest;
    }
    parts.into_iter().map(|(constraints, _)| constraints).collect()
}

/// Sets clocks, in order.
pub(crate) fn set(zone: &mut Dbm, resets: &[SetClock]) {
    for r in resets {
        match *r {
            SetClock::Value { clock, value } => zone.reset(clock as usize, value.into()),
            SetClock::Copy { clock, from } => zone.copy(clock as usize, from as usize),
        }
    }
}

/// Where a guard holds, and resets lead to where an invariant does.
pub(crate) fn before(clocks: usize, guard: &[Constraint], resets: &[SetClock], invariant: &[Constraint]) -> Dbm {
    let mut zone = Dbm::build(clocks, invariant);
    for r in resets.iter().rev() {
        match *r {
            SetClock::Value { clock, value } => zone.before_reset(clock as usize, value.into()),
            SetClock::Copy { clock, from } => zone.before_copy(clock as usize, from as usize),
        }
    }
    zone.constrain_all(guard);
    zone
}
