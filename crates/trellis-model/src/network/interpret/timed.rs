//! How time passes, plainly: clocks are exact fractions, and a delay is one too.
//!
//! Time may pass unless some process is in an urgent or committed location, or a step over an urgent channel can happen as
//! far as data is concerned; and clock invariants must hold before and after (they are convex, so they hold in
//! between). Things change only at moments when some clock reaches a constant that it is compared with:
//! [`Interpreter::moments`] finds them all by looking at what is compared, and so visits a finite number of moments that
//! stand for all. Clocks that stand still (`x' == 0`) keep their values while others grow.
//!
//! What it deliberately does not do: work with sets of valuations. Zones are for others; nothing here knows them.

use std::cell::RefCell;
use std::ops::ControlFlow;

use trellis_domain::zone::{MAX_CONSTANT, Rational};
use trellis_expr::{Fault, Value};

use super::{Interpreter, World};
use crate::network::{Action, ClockAtom, ModelError, Reset, ResetTo, SetClock, Snapshot};

/// The greatest numerator and denominator of a clock's value: comparing and adding then fit 128 bits.
const MAX_NUMERATOR: i128 = 1 << 60;
const MAX_DENOMINATOR: i128 = 1 << 30;

/// Is this a value that a clock may have: not negative, and with numerator and denominator of reasonable size?
pub fn is_clock_value(r: Rational) -> bool {
    (0..=MAX_NUMERATOR).contains(&r.numerator().into()) && i128::from(r.denominator()) <= MAX_DENOMINATOR
}

/// `numerator / denominator`, reduced, if it is of reasonable size. It may be negative.
fn fraction(numerator: i128, denominator: i128) -> Option<Rational> {
    let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let (n, d) = (numerator / a as i128, denominator / a as i128);
    (n.abs() <= MAX_NUMERATOR && d <= MAX_DENOMINATOR).then(|| Rational::new(n as i64, d as i64))
}

/// The sum, if it is of reasonable size.
pub fn sum(a: Rational, b: Rational) -> Option<Rational> {
    let [an, ad, bn, bd] = [a.numerator(), a.denominator(), b.numerator(), b.denominator()].map(i128::from);
    fraction((an * bd).checked_add(bn * ad)?, ad * bd)
}

/// The difference, if it is of reasonable size.
pub fn difference(a: Rational, b: Rational) -> Option<Rational> {
    sum(a, Rational::new(b.numerator().checked_neg()?, b.denominator()))
}

/// The half, if it is of reasonable size.
pub fn half(a: Rational) -> Option<Rational> {
    fraction(a.numerator().into(), i128::from(a.denominator()) * 2)
}

/// The greatest whole number that is not greater.
pub fn floor(a: Rational) -> i64 {
    a.numerator().div_euclid(a.denominator())
}

/// Sets clocks, one after the other.
pub(super) fn set(resets: &[SetClock], clocks: &mut [Rational]) {
    for r in resets {
        match *r {
            SetClock::Value { clock, value } => clocks[clock as usize - 1] = Rational::new(value.into(), 1),
            SetClock::Copy { clock, from } => clocks[clock as usize - 1] = clocks[from as usize - 1],
        }
    }
}

/// How things stand after a delay: told to those who visit [`Interpreter::moments`].
#[derive(Debug, Clone, Copy)]
pub struct Moment<'m> {
    /// The interpreter to ask. It notes what clocks are compared with; what is learned in other ways is not known to stay
    /// the same until the next moment.
    pub interpreter: Interpreter<'m>,
    /// How much time has passed.
    pub delay: Rational,
    /// The state then.
    pub state: &'m Snapshot,
}

impl<'n> Interpreter<'n> {
    /// Does a clock constraint hold in a state? One that does not apply does.
    pub fn atom_holds(&self, state: &Snapshot, atom: &ClockAtom) -> Result<bool, ModelError> {
        let mut world = self.here(state).world;
        self.judge_atom(atom, &mut world, &state.clocks).map_err(|f| self.error(f, "query", state, &[]))
    }

    /// The bound of a clock constraint in a state, if it applies there.
    pub fn atom_bound(&self, state: &Snapshot, atom: &ClockAtom) -> Result<Option<i64>, ModelError> {
        let mut world = self.here(state).world;
        self.bound(atom, &mut world).map_err(|f| self.error(f, "query", state, &[]))
    }

    pub(super) fn bound(&self, atom: &ClockAtom, world: &mut World<'n>) -> Result<Option<i64>, Fault> {
        match atom.when {
            Some(when) if self.evaluate(when, world)? == 0 => Ok(None),
            _ => self.evaluate(atom.bound, world).map(Some),
        }
    }

    pub(super) fn judge_atom(
        &self,
        atom: &ClockAtom,
        world: &mut World<'n>,
        clocks: &[Rational],
    ) -> Result<bool, Fault> {
        let Some(bound) = self.bound(atom, world)? else { return Ok(true) };
        if let Some(seen) = self.seen {
            match (atom.left, atom.right) {
                (_, 0) => seen.borrow_mut().push(bound),
                (0, _) => seen.borrow_mut().push(bound.saturating_neg()),
                // Differences of two clocks stay as they are while time passes, unless one of them stands still.
                _ => seen.borrow_mut().extend([bound, bound.saturating_neg()]),
            }
        }
        let value = |clock: u32| if clock == 0 { Rational::ZERO } else { clocks[clock as usize - 1] };
        let (x, y) = (value(atom.left), value(atom.right));
        let [xn, xd, yn, yd] = [x.numerator(), x.denominator(), y.numerator(), y.denominator()].map(i128::from);
        let (left, right) = (xn * yd - yn * xd, i128::from(bound) * xd * yd);
        Ok(if atom.strict { left < right } else { left <= right })
    }

    /// Which clocks are set to what, in order.
    pub(super) fn resets(&self, resets: &[Reset], world: &mut World<'n>) -> Result<Vec<SetClock>, Fault> {
        let mut set = Vec::new();
        for r in resets.iter().filter(|_| !self.blind) {
            if let Some(when) = r.when
                && self.evaluate(when, world)? == 0
            {
                continue;
            }
            let clock = r.clock;
            set.push(match r.to {
                ResetTo::Clock(0) => SetClock::Value { clock, value: 0 },
                ResetTo::Clock(from) => SetClock::Copy { clock, from },
                ResetTo::Value(value) => match self.evaluate(value, world)? {
                    value if (0..i64::from(MAX_CONSTANT)).contains(&value) => {
                        SetClock::Value { clock, value: value as i32 }
                    }
                    value => return Err(Fault::Foreign(format!("a clock is set to {value}"))),
                },
            });
        }
        Ok(set)
    }

    /// Does a step that can be taken set a clock?
    pub fn sets(&self, state: &Snapshot, action: &Action, clock: u32) -> Result<bool, ModelError> {
        let wrong = |f| self.error(f, "update", state, &action.0);
        let mut world = self.here(state).world;
        for e in &action.0 {
            let edge = self.edge(*e);
            world.env.insert(self.net.processes[e.process as usize].location, Value::Int(edge.target.into()));
            match self.run(edge.update, world).map_err(wrong)? {
                Some(next) => world = next,
                None => return Ok(false),
            }
            for r in edge.resets.iter().filter(|r| r.clock == clock) {
                let happens = r.when.map_or(Ok(1), |when| self.evaluate(when, &mut world)).map_err(wrong)?;
                if happens != 0 {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    // Delays.

    /// How fast each clock runs in a state: 0 or 1.
    pub fn rates(&self, state: &Snapshot) -> Result<Vec<i64>, ModelError> {
        let wrong = |f| self.error(f, "invariant", state, &[]);
        let mut rates: Vec<Option<i64>> = vec![None; state.clocks.len()];
        for (p, &l) in self.net.processes.iter().zip(&state.locations) {
            let l = &p.locations[l as usize];
            let mut world = self.here(state).world;
            if let Some(c) = l.invariant.filter(|_| !l.rates.is_empty()) {
                match self.run(c.prepare, world).map_err(wrong)? {
                    Some(prepared) => world = prepared,
                    None => continue,
                }
            }
            for r in &l.rates {
                let applies = r.when.map_or(Ok(1), |when| self.evaluate(when, &mut world)).map_err(wrong)?;
                if applies == 0 {
                    continue;
                }
                let rate = self.evaluate(r.rate, &mut world).map_err(wrong)?;
                let name = &self.net.clocks[r.clock as usize - 1];
                match rates[r.clock as usize - 1].replace(rate) {
                    Some(other) if other != rate => {
                        let why = format!("clock {name} is to run at rates {other} and {rate} at once");
                        return Err(wrong(Fault::Foreign(why)));
                    }
                    _ if rate != 0 && rate != 1 => {
                        return Err(wrong(Fault::Foreign(format!(
                            "clock {name} is to run at rate {rate}, not 0 or 1"
                        ))));
                    }
                    _ => {}
                }
            }
        }
        Ok(rates.into_iter().map(|r| r.unwrap_or(1)).collect())
    }

    /// The state after a delay, if time may pass for so long.
    pub fn wait(&self, state: &Snapshot, delay: Rational) -> Result<Option<Snapshot>, ModelError> {
        if delay == Rational::ZERO {
            return Ok(Some(state.clone()));
        }
        if delay < Rational::ZERO || !self.may_pass(state)? || !self.invariants_hold(state, state, &[])? {
            return Ok(None);
        }
        let mut later = state.clone();
        let rates = self.rates(state)?;
        for (clock, _) in later.clocks.iter_mut().zip(rates).filter(|(_, rate)| *rate != 0) {
            *clock = sum(*clock, delay).ok_or_else(|| self.error(Fault::Overflow, "delay", state, &[]))?;
        }
        Ok(self.invariants_hold(&later, state, &[])?.then_some(later))
    }

    /// May time pass for so long?
    pub fn can_wait(&self, state: &Snapshot, delay: Rational) -> Result<bool, ModelError> {
        Ok(self.wait(state, delay)?.is_some())
    }

    /// May time pass at all, as far as locations and channels are concerned?
    pub(super) fn may_pass(&self, state: &Snapshot) -> Result<bool, ModelError> {
        for (p, &l) in self.net.processes.iter().zip(&state.locations) {
            let location = &p.locations[l as usize];
            if location.urgent || location.committed {
                return Ok(false);
            }
        }
        let here = self.here(state);
        let blind = Interpreter { blind: true, ..*self };
        let is_urgent = |first| Ok(self.channel(&here, first)?.is_some_and(|c| self.net.channels[c].urgent));
        // With clocks, what goes before it may be possible sooner or later: urgent channels hold time up whatever the priorities.
        if self.net.has_priorities && self.net.clocks.is_empty() {
            for (action, _) in blind.steps(state)? {
                if is_urgent(action.0[0])? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        // Steps over other channels are not tried: clocks may forbid them, and with them what would go wrong.
        for edges in blind.combinations(&here)? {
            if is_urgent(edges[0])? && blind.fire(&here, &edges)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// May time pass forever here? Not in an urgent or committed location, nor while a step over an urgent channel can
    /// happen, nor if a clock invariant sets a limit.
    pub fn may_idle(&self, state: &Snapshot) -> Result<bool, ModelError> {
        if !self.may_pass(state)? || !self.invariants_hold(state, state, &[])? {
            return Ok(false);
        }
        let rates = self.rates(state)?;
        let rate = |clock: u32| clock.checked_sub(1).map_or(0, |i| rates[i as usize]);
        for (p, &l) in self.net.processes.iter().zip(&state.locations) {
            let l = &p.locations[l as usize];
            let mut world = self.here(state).world;
            let wrong = |f| self.error(f, "invariant", state, &[]);
            if let Some(c) = l.invariant {
                match self.run(c.prepare, world).map_err(wrong)? {
                    Some(prepared) => world = prepared,
                    None => return Ok(false),
                }
            }
            for atom in &l.clock_invariant {
                if rate(atom.left) > rate(atom.right) && self.bound(atom, &mut world).map_err(wrong)?.is_some() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Is there no step, neither now nor after any delay?
    pub fn is_deadlocked(&self, state: &Snapshot) -> Result<bool, ModelError> {
        if self.net.clocks.is_empty() {
            return Ok(self.steps(state)?.is_empty());
        }
        let mut dead = true;
        self.moments(state, None, &mut |m| {
            dead = m.interpreter.steps(m.state)?.is_empty();
            Ok(if dead { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(dead)
    }

    /// Visits the state and, as long as time may pass (but at most for so long), states that it becomes: at least one of
    /// every stretch of time during which all answers that the visitor got from [`Moment::interpreter`] stay the same.
    /// Moments come in order, and each visit is to decide whether to go on.
    pub fn moments(
        &self,
        state: &Snapshot,
        until: Option<Rational>,
        visit: &mut dyn FnMut(Moment<'_>) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<(), ModelError> {
        let seen = RefCell::new(Vec::new());
        let interpreter = Interpreter { seen: Some(&seen), ..*self };
        let result = interpreter.watch(state, until, &seen, visit);
        if let Some(outer) = self.seen {
            outer.borrow_mut().extend(seen.into_inner());
        }
        result
    }

    /// What grows with time: clocks that run, and how much they are ahead of those that stand still.
    fn growing(&self, state: &Snapshot) -> Result<Vec<Rational>, ModelError> {
        let rates = self.rates(state)?;
        let at_rate = |rate| state.clocks.iter().zip(&rates).filter(move |(_, r)| **r == rate).map(|(clock, _)| *clock);
        let large = || self.error(Fault::Overflow, "delay", state, &[]);
        let mut all: Vec<Rational> = at_rate(1).collect();
        for x in at_rate(1) {
            for y in at_rate(0) {
                all.push(difference(x, y).ok_or_else(large)?);
            }
        }
        Ok(all)
    }

    fn watch(
        &self,
        state: &Snapshot,
        until: Option<Rational>,
        seen: &RefCell<Vec<i64>>,
        visit: &mut dyn FnMut(Moment<'_>) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<(), ModelError> {
        let large = || self.error(Fault::Overflow, "delay", state, &[]);
        // Answers whether to go on.
        let mut at = |delay: Rational| {
            let Some(then) = self.wait(state, delay)? else { return Ok(false) };
            let moment = Moment { interpreter: *self, delay, state: &then };
            Ok(visit(moment)?.is_continue())
        };
        let growing = self.growing(state)?;
        let mut now = Rational::ZERO;
        while at(now)? && until.is_none_or(|end| now < end) {
            // Just after: nothing can change before some clock is whole again.
            let mut soon = sum(now, Rational::new(1, 1)).ok_or_else(large)?;
            for &clock in &growing {
                let value = sum(clock, now).ok_or_else(large)?;
                let whole = Rational::new(floor(value) + 1, 1);
                soon = soon.min(difference(whole, clock).ok_or_else(large)?);
            }
            if let Some(end) = until {
                soon = soon.min(end);
            }
            let between = half(sum(now, soon).ok_or_else(large)?).ok_or_else(large)?;
            if !at(between)? {
                break;
            }
            // And then not before some clock is what one was compared with.
            let mut next: Option<Rational> = None;
            let fits = |c: &&i64| (-MAX_NUMERATOR..=MAX_NUMERATOR).contains(&i128::from(**c));
            for &constant in seen.borrow().iter().filter(fits) {
                for &clock in &growing {
                    let change = difference(Rational::new(constant, 1), clock).ok_or_else(large)?;
                    if between < change {
                        next = Some(next.map_or(change, |next| next.min(change)));
                    }
                }
            }
            match next {
                Some(change) if until.is_none_or(|end| change <= end) => now = change,
                _ => break,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions() {
        let r = Rational::new;
        assert_eq!(sum(r(1, 3), r(1, 6)), Some(r(1, 2)));
        assert_eq!(difference(r(1, 3), r(1, 2)), Some(r(-1, 6)));
        assert_eq!((half(r(3, 2)), floor(r(7, 2)), floor(r(-1, 2))), (Some(r(3, 4)), 3, -1));
        assert_eq!(sum(r(1 << 60, 1), r(1, 1)), None);
        assert_eq!(sum(r(1, 1 << 29), r(1, 3)), None);
        assert_eq!(sum(r(i64::MAX, i64::MAX - 1), r(i64::MAX, i64::MAX - 2)), None);
        assert_eq!(sum(r(i64::MIN, i64::MAX), r(i64::MIN, i64::MAX - 1)), None);
        assert!(is_clock_value(r(5, 3)) && !is_clock_value(r(-1, 3)) && !is_clock_value(r(1, 1 << 31)));
    }
}
