//! When things happen: exact moments for a path of the zone graph, and runs that can be repeated forever.
//!
//! A path says what happens; a clock's value at any moment is the time since it was set plus what it was set to. So all
//! that guards, invariants and cells ask of clocks are constraints on differences of moments, and one call of
//! [`solve`] schedules the whole path, if no clock stands still (`stopwatch` if some does). The interpreter then takes the run.
//!
//! A cycle of the graph is gone round several times, until the run comes back to a state that it cannot tell from
//! an earlier one ([`Circle::lap`]): exactly the same state, or one in the same region. Regions are finite in
//! number, so that must happen; where it does not within a few rounds, there is no answer rather than one without evidence.

use trellis_domain::zone::{Bound, Constraint, Point, Rational, solve};
use trellis_model::network::circle::{Circle, Lap};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::interpret::timed::difference;
use trellis_model::network::{Action, Network, Query, SetClock, Snapshot, Step, Trace};

/// One edge of a path.
#[derive(Debug, Clone)]
pub(super) struct Leg {
    /// What holds while its source is stayed in.
    pub stay: Vec<Constraint>,
    /// No time passes in its source.
    pub still: bool,
    /// Clocks that stand still in its source.
    pub stopped: Vec<u32>,
    /// What holds when it happens; for a delay into another cell, afterwards.
    pub guard: Vec<Constraint>,
    /// What happens; nothing for a delay.
    pub action: Option<Action>,
    /// Which clocks are set.
    pub resets: Vec<SetClock>,
}

/// A path to be scheduled.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) clocks: usize,
    pub(super) legs: Vec<Leg>,
    /// What holds when the last node is entered.
    pub end: Vec<Constraint>,
    /// What holds some time after that.
    pub target: Vec<Constraint>,
    /// No time passes in the last node.
    pub still: bool,
    /// Clocks that stand still in the last node.
    pub stopped: Vec<u32>,
}

/// A path with moments.
pub(super) struct Schedule<'p> {
    plan: &'p Plan,
    /// The moment of each leg.
    moments: Vec<Rational>,
    last: Rational,
}

/// A system of constraints on moments. `fails` if one that has no moments in it does not hold.
struct Moments {
    constraints: Vec<Constraint>,
    fails: bool,
    /// When each clock was set, and to what.
    set: Vec<(u32, i64)>,
}

impl Moments {
    fn difference(&mut self, left: u32, right: u32, bound: Bound, add: i64) {
        let Some(n) = bound.constant() else { return };
        match Bound::checked(i64::from(n) + add, bound.is_strict()) {
            None => self.fails |= i64::from(n) + add < 0,
            Some(bound) if left == right => self.fails |= bound < Bound::LE_ZERO,
            Some(bound) => self.constraints.push(Constraint { left, right, bound }),
        }
    }

    /// The clocks satisfy these at a moment.
    fn at(&mut self, moment: u32, all: &[Constraint]) {
        for c in all {
            let ((l, lv), (r, rv)) = (self.set[c.left as usize], self.set[c.right as usize]);
            match (c.left, c.right) {
                (0, 0) => self.fails |= c.bound < Bound::LE_ZERO,
                (_, 0) => self.difference(moment, l, c.bound, -lv),
                (0, _) => self.difference(r, moment, c.bound, rv),
                _ => self.difference(r, l, c.bound, rv - lv),
            }
        }
    }

    fn reset(&mut self, moment: u32, resets: &[SetClock]) {
        for r in resets {
            match *r {
                SetClock::Value { clock, value } => self.set[clock as usize] = (moment, value.into()),
                SetClock::Copy { clock, from: 0 } => self.set[clock as usize] = (moment, 0),
                SetClock::Copy { clock, from } => self.set[clock as usize] = self.set[from as usize],
            }
        }
    }

    fn order(&mut self, before: u32, after: u32, same: bool) {
        self.difference(before, after, Bound::LE_ZERO, 0);
        if same {
            self.difference(after, before, Bound::LE_ZERO, 0);
        }
    }
}

impl Plan {
    pub fn new(clocks: usize) -> Plan {
        Plan { clocks, legs: Vec::new(), end: Vec::new(), target: Vec::new(), still: false, stopped: Vec::new() }
    }

    pub fn extend(&mut self, legs: impl IntoIterator<Item = Leg>) {
        self.legs.extend(legs);
    }

    pub fn schedule(&self) -> Option<Schedule<'_>> {
        self.schedule_with(|_| None)
    }

    /// With more constraints when some nodes are entered.
    fn schedule_with<'c>(&self, also: impl Fn(usize) -> Option<&'c [Constraint]>) -> Option<Schedule<'_>> {
        if !self.stopped.is_empty() || self.legs.iter().any(|l| !l.stopped.is_empty()) {
            let (moments, last) = super::stopwatch::moments(self)?;
            return Some(Schedule { plan: self, moments, last });
        }
        let mut m = Moments { constraints: Vec::new(), fails: false, set: vec![(0, 0); self.clocks + 1] };
        let mut now = 0;
        for (i, leg) in self.legs.iter().enumerate() {
            m.at(now, &leg.stay);
            if let Some(more) = also(i) {
                m.at(now, more);
            }
            let then = i as u32 + 1;
            m.order(now, then, leg.still);
            if leg.action.is_some() {
                m.at(then, &leg.stay);
            }
            m.at(then, &leg.guard);
            m.reset(then, &leg.resets);
            now = then;
        }
        m.at(now, &self.end);
        if let Some(more) = also(self.legs.len()) {
            m.at(now, more);
        }
        let last = now + 1;
        m.order(now, last, self.still || self.target.is_empty());
        m.at(last, &self.target);
        if m.fails {
            return None;
        }
        let point: Point = solve(last as usize + 1, &m.constraints)?;
        let moments = (1..=self.legs.len()).map(|i| point.value(i)).collect();
        Some(Schedule { plan: self, moments, last: point.value(last as usize) })
    }

    /// A run along the path and then round and round. `diverging`: infinitely much time must pass.
    pub fn circle(mut self, net: &Network, query: &Query, round: &[Leg], diverging: bool) -> Option<Trace> {
        let stem = self.legs.len();
        let circle = Circle::new(net, query);
        // Clocks that are not set had better be far away from the beginning.
        let far = far(net, &circle, round);
        let mut done = 0;
        for rounds in ROUNDS {
            while done < rounds {
                self.extend(round.iter().cloned());
                done += 1;
            }
            let from_far = |i: usize| (i == stem).then_some(&far[..]);
            for schedule in [self.schedule_with(from_far), self.schedule()].into_iter().flatten() {
                if let Some(trace) = schedule.returns(net, &circle, stem, round.len(), diverging) {
                    return Some(trace);
                }
            }
        }
        None
    }

    /// A run along the path, some times round, and on to the end, after which it is known that it could have gone round, or stayed,
    /// for as long as one likes.
    pub fn growing(mut self, net: &Network, query: &Query, round: &[Leg], tail: Vec<Leg>) -> Option<Trace> {
        let stem = self.legs.len();
        let circle = Circle::new(net, query);
        if round.iter().all(|l| l.action.is_none()) {
            // Nothing happens but that time passes: let so much of it pass that all clocks are far away.
            let late = far(net, &circle, &[]);
            self.extend(tail);
            match self.legs.get_mut(stem) {
                Some(leg) => leg.guard.extend(late),
                None => self.target = late,
            }
            return self.schedule()?.trace(net);
        }
        let far = far(net, &circle, round);
        for rounds in ROUNDS {
            self.legs.truncate(stem);
            for _ in 0..rounds {
                self.extend(round.iter().cloned());
            }
            self.extend(tail.iter().cloned());
            let from_far = |i: usize| (i == stem).then_some(&far[..]);
            for schedule in [self.schedule_with(from_far), self.schedule()].into_iter().flatten() {
                if let Some(trace) = schedule.trace(net)
                    && schedule.laps(&circle, &trace, stem, round.len(), rounds)
                {
                    return Some(trace);
                }
            }
        }
        None
    }
}

/// How often a cycle is gone round, until that is enough.
const ROUNDS: [usize; 9] = [1, 2, 3, 4, 8, 16, 32, 64, 128];

/// Clocks that are not set on some way are beyond all that they are compared with.
fn far(net: &Network, circle: &Circle<'_>, way: &[Leg]) -> Vec<Constraint> {
    let clock = |r: &SetClock| match *r {
        SetClock::Value { clock, .. } | SetClock::Copy { clock, .. } => clock,
    };
    let set: Vec<u32> = way.iter().flat_map(|l| &l.resets).map(clock).collect();
    (1..=net.clocks.len() as u32)
        .filter(|x| !set.contains(x))
        .filter_map(|x| Some(Constraint { left: 0, right: x, bound: Bound::lt(-circle.largest(x)?) }))
        .collect()
}

impl Schedule<'_> {
    /// The run, taken by the interpreter.
    pub fn trace(&self, net: &Network) -> Option<Trace> {
        let steps = self.steps(net)?;
        let acted = self.acted();
        let rest = difference(self.last, acted)?;
        Some(Trace { initial: steps.0, steps: steps.1, rest, back_to: None })
    }

    /// The moment of the last step.
    fn acted(&self) -> Rational {
        let last = self.plan.legs.iter().rposition(|l| l.action.is_some());
        last.map_or(Rational::ZERO, |i| self.moments[i])
    }

    fn steps(&self, net: &Network) -> Option<(Snapshot, Vec<Step>)> {
        let interpreter = Interpreter::new(net);
        let initial = interpreter.initial().ok()?;
        let mut state = initial.clone();
        let mut now = Rational::ZERO;
        let mut steps = Vec::new();
        for (leg, &moment) in self.plan.legs.iter().zip(&self.moments) {
            let Some(action) = &leg.action else { continue };
            let delay = difference(moment, now)?;
            let later = interpreter.wait(&state, delay).ok()??;
            state = interpreter.take(&later, action).ok()??;
            steps.push(Step { delay, action: action.clone(), state: state.clone() });
            now = moment;
        }
        Some((initial, steps))
    }

    /// Is there a lap on which time diverges among these rounds, followed by what follows?
    fn laps(&self, circle: &Circle<'_>, trace: &Trace, stem: usize, round: usize, rounds: usize) -> bool {
        let starts: Vec<usize> = (0..=rounds).map(|k| self.before(stem + k * round)).collect();
        let diverges = |i: usize, j: usize| circle.lap_before(trace, i, j).is_some_and(|lap| lap.diverges);
        starts.iter().enumerate().any(|(k, &i)| starts[k + 1..].iter().any(|&j| diverges(i, j)))
    }

    /// How many steps come before a leg.
    fn before(&self, leg: usize) -> usize {
        self.plan.legs[..leg].iter().filter(|l| l.action.is_some()).count()
    }

    /// The run until it returns, if it does: the cycle starts after `stem` legs and has `round` of them.
    fn returns(&self, net: &Network, circle: &Circle<'_>, stem: usize, round: usize, diverging: bool) -> Option<Trace> {
        let (initial, steps) = self.steps(net)?;
        let first = self.before(stem);
        let per_round = self.before(stem + round) - first;
        if per_round == 0 {
            return None;
        }
        let trace = Trace { initial, steps, rest: Rational::ZERO, back_to: None };
        // The last step may be followed by delays into other cells; compare states that steps lead to.
        let mut best: Option<(Lap, usize, usize)> = None;
        for i in (first..=trace.steps.len()).filter(|i| (i - first).is_multiple_of(per_round)) {
            for j in (first..i).filter(|j| (i - j).is_multiple_of(per_round)) {
                if let Some(lap) = circle.lap(&trace, j, i)
                    && (lap.diverges || !diverging)
                    && best.as_ref().is_none_or(|b| lap.exact && !b.0.exact)
                {
                    best = Some((lap, j, i));
                }
            }
            if best.as_ref().is_some_and(|b| b.0.exact) {
                break;
            }
        }
        let (_, from, to) = best?;
        let mut trace = trace;
        trace.steps.truncate(to);
        trace.back_to = Some(from);
        Some(trace)
    }
}
