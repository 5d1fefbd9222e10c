//! Priorities in models with clocks: what is left of a move by those that go before it.
//!
//! A move may happen where no move of higher priority can. Where that is so depends on clocks, and is no zone; but it is a union of them, so there is
//! one move for each part (David, Håkansson, Larsen and Pettersson, *Model checking timed automata with priorities using DBM subtraction*,
//! FORMATS 2006). Parts are disjoint: of a higher move's constraints the first ones hold, and the next one does not.
//!
//! A move that something goes wrong with stays whole, and holds up no other: the interpreter, too, first looks at all that could happen.

use trellis_domain::zone::{Bound, Constraint};

use super::super::super::{EdgeRef, ModelError, SetClock};
use super::super::Post;
use super::{Item, Transitions};

impl Post<'_> {
    /// Leaves of each move what no move of higher priority takes from it.
    pub(super) fn give_way(&mut self, out: &mut Transitions) -> Result<(), ModelError> {
        let mut priorities = Vec::new();
        for i in 0..out.len() {
            let action: Vec<EdgeRef> = out.get(i).action.to_vec();
            priorities.push(self.priority(&action)?);
        }
        if priorities.windows(2).all(|pair| pair[0] == pair[1]) {
            return Ok(());
        }
        let possible: Vec<Option<Vec<Constraint>>> = (0..out.len()).map(|i| possible(out, i)).collect();
        let all = std::mem::take(out);
        (out.key_width, out.elem_width) = (all.key_width, all.elem_width);
        out.faults.clone_from(&all.faults);
        for i in 0..all.len() {
            let m = all.get(i);
            let higher = (0..all.len()).filter(|&j| priorities[j] > priorities[i]);
            let higher = higher.filter_map(|j| possible[j].as_ref()).filter(|_| m.fault.is_none());
            for part in parts(m.guard, higher) {
                out.actions.extend_from_slice(m.action);
                out.keys.extend_from_slice(m.key);
                out.elems.extend_from_slice(m.elem);
                out.constraints.extend(m.guard.iter().copied().chain(part));
                let guard_end = out.constraints.len() as u32;
                out.constraints.extend_from_slice(m.invariant);
                out.resets.extend_from_slice(m.resets);
                out.items.push(Item {
                    action_end: out.actions.len() as u32,
                    guard_end,
                    invariant_end: out.constraints.len() as u32,
                    resets_end: out.resets.len() as u32,
                    delay: m.delay,
                    fault: all.items[i].fault,
                });
            }
        }
        Ok(())
    }
}

/// What clocks must satisfy for a move to happen, the target's invariant included; nothing if it never does, or something goes wrong.
fn possible(all: &Transitions, i: usize) -> Option<Vec<Constraint>> {
    let m = all.get(i);
    if m.fault.is_some() {
        return None;
    }
    let mut constraints = m.guard.to_vec();
    for c in m.invariant {
        let ((left, l), (right, r)) = (origin(m.resets, c.left), origin(m.resets, c.right));
        // Constants are in range, so that their sum is.
        let bound = c.bound.checked_add(Bound::le(r - l)).unwrap_or(Bound::INF);
        match left == right {
            true if bound < Bound::LE_ZERO => return None,
            true => {}
            false => constraints.push(Constraint { left, right, bound }),
        }
    }
    Some(constraints)
}

/// Whose value a clock has after some resets, and how much is added.
fn origin(resets: &[SetClock], clock: u32) -> (u32, i32) {
    let last = resets.iter().rposition(|r| match *r {
        SetClock::Value { clock: c, .. } | SetClock::Copy { clock: c, .. } => c == clock,
    });
    match last.map(|i| (i, resets[i])) {
        None => (clock, 0),
        Some((_, SetClock::Value { value, .. })) => (0, value),
        Some((i, SetClock::Copy { from, .. })) => origin(&resets[..i], from),
    }
}

/// Where a guard holds and none of these conjunctions: constraints to be added to the guard.
fn parts<'h>(guard: &[Constraint], higher: impl Iterator<Item = &'h Vec<Constraint>>) -> Vec<Vec<Constraint>> {
    let mut parts: Vec<Vec<Constraint>> = vec![Vec::new()];
    for all in higher {
        let mut rest = Vec::new();
        for mut part in parts {
            for c in all {
                let not = c.bound.complement().map(|bound| Constraint { left: c.right, right: c.left, bound });
                if let Some(not) = not.filter(|not| !excluded(not, guard, &part)) {
                    rest.push([part.as_slice(), &[not]].concat());
                }
                if excluded(c, guard, &part) {
                    // The higher move cannot happen here.
                    break;
                }
                part.push(*c);
            }
        }
        parts = rest;
    }
    parts
}

/// Does one of the others alone exclude a constraint?
fn excluded(c: &Constraint, guard: &[Constraint], part: &[Constraint]) -> bool {
    let opposite = |o: &&Constraint| (o.left, o.right) == (c.right, c.left);
    let mut against = guard.iter().chain(part).filter(opposite).map(|o| o.bound);
    // Clocks are never negative.
    let never = c.right == 0 && c.bound < Bound::LE_ZERO;
    never || against.any(|b| c.bound.checked_add(b).is_some_and(|sum| sum < Bound::LE_ZERO))
}
