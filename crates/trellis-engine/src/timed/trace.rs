//! From a path through a zone graph to a run with exact delays.
//!
//! All moments of the run are found at once: a clock's value is the time since it was set, so every guard, invariant and
//! target constraint along the path bounds a difference of two moments. One [`solve`] gives the earliest moments with the
//! smallest denominator; fractions chosen step by step would grow without end.

use trellis_domain::zone::{Bound, Constraint, Rational, solve};
use trellis_model::network::{Action, ModelError, Moves, Network, Post, SetClock, Snapshot, Step, Trace};
use trellis_order::Word;

/// Where a clock was set last: at which moment, to what.
#[derive(Debug, Clone, Copy)]
struct Since {
    moment: usize,
    value: i32,
}

struct Schedule {
    constraints: Vec<Constraint>,
    possible: bool,
}

impl Schedule {
    /// `left - right ≺ n`, for moments.
    fn add(&mut self, left: usize, right: usize, constant: i64, strict: bool) {
        let Some(bound) = Bound::checked(constant, strict) else { return };
        if left == right {
            self.possible &= bound >= Bound::LE_ZERO;
        } else {
            self.constraints.push(Constraint::new(left, right, bound));
        }
    }

    /// A constraint on clocks holds at a moment.
    fn require(&mut self, c: &Constraint, moment: usize, clocks: &[Since]) {
        let Some(n) = c.bound.constant() else { return };
        let (n, strict) = (i64::from(n), c.bound.is_strict());
        let since = |x: u32| clocks[x as usize];
        match (c.left, c.right) {
            (0, 0) => self.possible &= c.bound >= Bound::LE_ZERO,
            (x, 0) => self.add(moment, since(x).moment, n - i64::from(since(x).value), strict),
            (0, y) => self.add(since(y).moment, moment, n + i64::from(since(y).value), strict),
            (x, y) => {
                let constant = n - i64::from(since(x).value) + i64::from(since(y).value);
                self.add(since(y).moment, since(x).moment, constant, strict);
            }
        }
    }
}

/// A run along moves (by their numbers) from the start, at the end of which `finally` holds. Nothing if there is none.
pub fn concretise(
    net: &Network,
    post: &mut Post<'_>,
    via: &[u32],
    finally: &[Constraint],
) -> Result<Option<Trace>, ModelError> {
    let dim = net.clocks.len() + 1;
    let (mut key, _) = post.initial()?;
    // Moment 0 is the start, moment i the i-th step, the last one the end.
    let last = via.len() + 1;
    let mut schedule = Schedule { constraints: Vec::new(), possible: true };
    let mut clocks = vec![Since { moment: 0, value: 0 }; dim];
    let mut history = vec![clocks.clone()];
    let mut states: Vec<(Vec<Word>, Option<Action>)> = vec![(key.clone(), None)];
    let mut invariant = Vec::new();
    let mut delay = post.timing(&key, &mut invariant)?;
    let mut moves = Moves::default();
    for moment in 0..last {
        // The invariant holds on arrival and on leaving.
        for c in &invariant {
            schedule.require(c, moment, &clocks);
            schedule.require(c, moment + 1, &clocks);
        }
        schedule.add(moment, moment + 1, 0, false);
        if !delay {
            schedule.add(moment + 1, moment, 0, false);
        }
        let Some(&ordinal) = via.get(moment) else { break };
        post.moves(&key, &mut moves)?;
        let m = moves.get(ordinal as usize);
        m.guard.iter().for_each(|c| schedule.require(c, moment + 1, &clocks));
        for r in m.resets {
            match *r {
                SetClock::Value { clock, value } => clocks[clock as usize] = Since { moment: moment + 1, value },
                SetClock::Copy { clock, from } => clocks[clock as usize] = clocks[from as usize],
            }
        }
        key = m.key.to_vec();
        invariant = m.invariant.to_vec();
        delay = m.delay;
        states.push((key.clone(), Some(Action(m.action.to_vec()))));
        history.push(clocks.clone());
    }
    finally.iter().for_each(|c| schedule.require(c, last, &clocks));
    if !schedule.possible {
        return Ok(None);
    }
    let Some(moments) = solve(last + 1, &schedule.constraints) else { return Ok(None) };
    let (at, den) = (|i: usize| moments.numerators()[i], moments.denominator());
    let snapshot = |i: usize| -> Snapshot {
        let value = |s: &Since| Rational::new(at(i) - at(s.moment) + i64::from(s.value) * den, den);
        let clocks = history[i][1..].iter().map(value).collect();
        Snapshot { clocks, ..post.layout.snapshot(net, &states[i].0, &[]) }
    };
    let between = |i: usize| Rational::new(at(i + 1) - at(i), den);
    let step = |i: usize| Step {
        delay: between(i),
        action: states[i + 1].1.clone().expect("all but the first state are reached by a step"),
        state: snapshot(i + 1),
    };
    Ok(Some(Trace {
        initial: snapshot(0),
        steps: (0..via.len()).map(step).collect(),
        rest: between(via.len()),
        back_to: None,
    }))
}
