//! Symmetries, tried out: whoever finds them is shared with the searches, so what they say is compared with the reference interpreter.
//!
//! From states of the certificate on, one random swap after the other is taken; each time, the moves of the swapped state must be the moves
//! of the state, swapped, and the question must have the same answer. That is no proof, but it rests on nothing that the
//! searches use.

use trellis_domain::zone::{Constraint, Rational};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::interpret::moves::Move;
use trellis_model::network::symmetry::Symmetry;
use trellis_model::network::{Certificate, Condition, ModelError, Network, Query, QueryKind, SetClock, Snapshot};

use crate::state::check;
use crate::{Cause, Rejection, moves};

/// From so many entries, and so many swaps from each.
const ENTRIES: usize = 120;
const SWAPS: usize = 12;

/// Do swaps change neither what can happen nor what is asked, wherever that is tried?
pub(crate) fn tried(net: &Network, query: &Query, cert: &Certificate, symmetry: &Symmetry) -> Result<(), Rejection> {
    let swaps = symmetry.swaps().count();
    if swaps == 0 {
        return Ok(());
    }
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % n
    };
    let every = cert.entries.len().div_ceil(ENTRIES).max(1);
    for e in cert.entries.stream().step_by(every) {
        crate::limit::ask()?;
        check(net, &e.state)?;
        let mut here = Snapshot { clocks: Vec::new(), ..e.state.clone() };
        for _ in 0..SWAPS {
            let swap = [below(swaps) as u16];
            let there = swapped(symmetry, &swap, &here);
            let clocks: Vec<i64> = net.clocks.iter().map(|_| below(12) as i64).collect();
            let same = same_moves(net, symmetry, &swap, (&here, &there))
                .and_then(|same| Ok(same && same_answer(net, query, symmetry, &swap, (&here, &there), &clocks)?));
            if !same.map_err(|e| Rejection::model(net, e))? {
                let why = "what can happen, or the question, tells processes apart that are swapped";
                return Err(Rejection::new(Cause::BesideThePoint(why)).state(net, &here).next(net, &there));
            }
            here = there;
        }
    }
    Ok(())
}

fn swapped(symmetry: &Symmetry, swap: &[u16], state: &Snapshot) -> Snapshot {
    let mut cells = super::cells(state);
    symmetry.cells_before(swap, &mut cells);
    let (locations, data) = cells.split_at(state.locations.len());
    let locations = locations.iter().map(|&l| l as u32).collect();
    Snapshot { locations, data: data.to_vec(), ..state.clone() }
}

fn same_moves(
    net: &Network,
    symmetry: &Symmetry,
    swap: &[u16],
    (here, there): (&Snapshot, &Snapshot),
) -> Result<bool, ModelError> {
    let clock = |c: u32| symmetry.clock(swap, c);
    let renamed = |all: &[Constraint]| -> Vec<Constraint> {
        all.iter().map(|c| Constraint { left: clock(c.left), right: clock(c.right), bound: c.bound }).collect()
    };
    let image = |m: Move| Move {
        action: symmetry.action_before(net, swap, &m.action.0),
        guard: renamed(&m.guard),
        resets: (m.resets.iter())
            .map(|r| match *r {
                SetClock::Value { clock: c, value } => SetClock::Value { clock: clock(c), value },
                SetClock::Copy { clock: c, from } => SetClock::Copy { clock: clock(c), from: clock(from) },
            })
            .collect(),
        to: swapped(symmetry, swap, &m.to),
        invariant: renamed(&m.invariant),
        ..m
    };
    // The order in which clocks are set is of no matter here: if it were, the other order would be found, too.
    let text = |m: Move| {
        let Move { action, mut guard, mut resets, to, mut invariant, delay, priority, fault } = m;
        let by = |c: &Constraint| (c.left, c.right, c.bound);
        guard.sort_by_key(by);
        invariant.sort_by_key(by);
        resets.sort_by_key(|r| match *r {
            SetClock::Value { clock, value } => (clock, 0, i64::from(value)),
            SetClock::Copy { clock, from } => (clock, 1, i64::from(from)),
        });
        let to = fault.is_none().then_some(to);
        format!("{action:?} {guard:?} {resets:?} {to:?} {invariant:?} {delay} {priority:?}")
    };
    let mut a: Vec<String> = moves::moves(net, here)?.into_iter().map(|m| text(image(m))).collect();
    let mut b: Vec<String> = moves::moves(net, there)?.into_iter().map(text).collect();
    a.sort();
    b.sort();
    Ok(a == b)
}

fn same_answer(
    net: &Network,
    query: &Query,
    symmetry: &Symmetry,
    swap: &[u16],
    (here, there): (&Snapshot, &Snapshot),
    values: &[i64],
) -> Result<bool, ModelError> {
    let (QueryKind::Always(c) | QueryKind::Possibly(c)) = &query.kind else { return Ok(true) };
    let interpreter = Interpreter::new(net);
    let answer = |c: &Condition, state: &Snapshot, dead: bool| {
        let truths: Result<Vec<_>, ModelError> =
            query.atoms.iter().map(|(v, a)| Ok((*v, interpreter.atom_holds(state, a)?))).collect();
        interpreter.value_given(c, state, Some(dead), &truths?)
    };
    let at = |state: &Snapshot, value: &dyn Fn(usize) -> i64| {
        let clocks = (0..values.len()).map(|i| Rational::new(value(i), 2)).collect();
        Snapshot { clocks, ..state.clone() }
    };
    let here = at(here, &|i| values[i]);
    let there = at(there, &|i| values[symmetry.clock_before(swap, i as u32 + 1) as usize - 1]);
    let same = |dead| Ok(answer(c, &here, dead)? == answer(c, &there, dead)?);
    Ok(same(false)? && (!query.deadlock || same(true)?))
}
