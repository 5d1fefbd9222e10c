//! A run of a network in the making: where it is, how long it may wait there, what it can do.
//!
//! Time that has passed since the last step is the rest of the trace, so the trace is always all there is to know. Names and texts are for
//! [`super::network`].

use std::borrow::Cow;
use std::ops::ControlFlow;

use trellis_domain::zone::Rational;
use trellis_model::network::interpret::{Interpreter, timed};
use trellis_model::network::{Action, ModelError, Network, Snapshot, Step, Trace};

/// No bound of a clock is as large: who may wait so long may wait forever.
const FOREVER: i64 = 1 << 29;
/// Values of clocks with a greater common denominator are not worth the trouble of finding how long one may wait.
const MAX_DENOMINATOR: i64 = 1 << 20;

/// A run in the making.
pub(super) struct Walk<'n> {
    pub net: Cow<'n, Network>,
    /// How it went so far.
    pub trace: Trace,
}

/// How long one may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// There is no limit.
    Forever,
    /// So long, and whether exactly so long, too.
    Until(Rational, bool),
    /// The clocks have values for which this is not worked out.
    Unknown,
}

impl<'n> Walk<'n> {
    pub fn new(net: Cow<'n, Network>) -> Result<Walk<'n>, ModelError> {
        let trace = Trace::at(Interpreter::new(&net).initial()?);
        Ok(Walk { net, trace })
    }

    pub fn interpreter(&self) -> Interpreter<'_> {
        Interpreter::new(&self.net)
    }

    pub fn is_timed(&self) -> bool {
        !self.net.clocks.is_empty()
    }

    /// The state now.
    pub fn now(&self) -> Result<Snapshot, ModelError> {
        let last = self.trace.last();
        Ok(self.interpreter().wait(last, self.trace.rest)?.unwrap_or_else(|| last.clone()))
    }

    /// What can be done now, without waiting any longer.
    pub fn steps(&self) -> Result<Vec<Step>, ModelError> {
        let steps = self.interpreter().steps(&self.now()?)?;
        Ok(steps.into_iter().map(|(action, state)| Step { delay: self.trace.rest, action, state }).collect())
    }

    /// What can be done now or later, each action with a few delays that stand for all.
    pub fn later(&self) -> Result<Vec<Step>, ModelError> {
        if !self.is_timed() {
            return self.steps();
        }
        let (now, rest) = (self.now()?, self.trace.rest);
        let mut all = Vec::new();
        self.interpreter().moments(&now, None, &mut |m| {
            let Some(delay) = timed::sum(rest, m.delay) else { return Ok(ControlFlow::Break(())) };
            let steps = m.interpreter.steps(m.state)?;
            all.extend(steps.into_iter().map(|(action, state)| Step { delay, action, state }));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(all)
    }

    /// What cannot be done now but later, and how long one might wait for it.
    pub fn awaited(&self) -> Result<Vec<(Rational, Action)>, ModelError> {
        let now = self.steps()?;
        let mut out: Vec<(Rational, Action)> = Vec::new();
        for step in self.later()? {
            let known = now.iter().any(|s| s.action == step.action) || out.iter().any(|(_, a)| *a == step.action);
            if let (false, Some(wait)) = (known, timed::difference(step.delay, self.trace.rest)) {
                out.push((wait, step.action));
            }
        }
        Ok(out)
    }

    /// Takes a step that [`steps`](Self::steps) or [`later`](Self::later) gave.
    pub fn take(&mut self, step: Step) {
        self.trace.steps.push(step);
        self.trace.rest = Rational::ZERO;
    }

    /// Waits; answers whether that was possible.
    pub fn wait(&mut self, delay: Rational) -> Result<bool, ModelError> {
        if !self.interpreter().can_wait(&self.now()?, delay)? {
            return Ok(false);
        }
        let rest = timed::sum(self.trace.rest, delay);
        self.trace.rest = rest.unwrap_or(self.trace.rest);
        Ok(rest.is_some())
    }

    /// Undoes waiting, or else the last step, but not the waiting before it; answers whether there was anything.
    pub fn back(&mut self) -> bool {
        if std::mem::replace(&mut self.trace.rest, Rational::ZERO) != Rational::ZERO {
            return true;
        }
        let last = self.trace.steps.pop();
        self.trace.rest = last.as_ref().map_or(Rational::ZERO, |step| step.delay);
        last.is_some()
    }

    /// How long one may wait now. Limits are whole numbers less the value of a clock, so they are multiples of one over
    /// the clocks' common denominator; and who may wait longer may wait shorter, so they can be searched by halving.
    pub fn patience(&self) -> Result<Patience, ModelError> {
        let now = self.now()?;
        let denominator = now.clocks.iter().try_fold(1i64, |d, c| {
            let common = (d / gcd(d, c.denominator())).checked_mul(c.denominator())?;
            (common <= MAX_DENOMINATOR).then_some(common)
        });
        let Some(d) = denominator else { return Ok(Patience::Unknown) };
        let can = |k: i64, of: i64| self.interpreter().can_wait(&now, Rational::new(k, of));
        if can(FOREVER, 1)? {
            return Ok(Patience::Forever);
        }
        let (mut can_do, mut cannot) = (0, FOREVER * d);
        while can_do + 1 < cannot {
            let middle = can_do + (cannot - can_do) / 2;
            if can(middle, d)? { can_do = middle } else { cannot = middle }
        }
        Ok(match can(2 * can_do + 1, 2 * d)? {
            true => Patience::Until(Rational::new(cannot, d), false),
            false => Patience::Until(Rational::new(can_do, d), true),
        })
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A duration as people type it: `3`, `5/2`, `2.5`. Nothing if it is none, or too large.
pub(super) fn duration(text: &str) -> Option<Rational> {
    let number = |t: &str| t.parse::<i64>().ok().filter(|_| t.bytes().all(|b| b.is_ascii_digit()));
    let value = if let Some((n, d)) = text.split_once('/') {
        Rational::new(number(n)?, number(d).filter(|d| *d > 0)?)
    } else if let Some((whole, part)) = text.split_once('.') {
        let scale = 10i64.checked_pow(u32::try_from(part.len()).ok()?)?;
        Rational::new(number(whole)?.checked_mul(scale)?.checked_add(number(part)?)?, scale)
    } else {
        Rational::new(number(text)?, 1)
    };
    timed::is_clock_value(value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trellis_model::network::{ClockAtom, Reset, ResetTo};
    use trellis_syntax::diag::Sources;
    use trellis_syntax::uppaal::build::{Options, Questions, build};
    use trellis_syntax::uppaal::parse_xta;

    fn r(num: i64, den: i64) -> Rational {
        Rational::new(num, den)
    }

    /// A lamp that goes on after more than 2 time units, which resets `x`, and off within 5.
    fn lamp(strict: bool) -> Network {
        let text = "process Lamp() { state Off, On; init Off; trans Off -> On { }, On -> Off { }; } system Lamp;";
        let mut sources = Sources::default();
        let (nta, _) = parse_xta(sources.add("lamp.xta", text), text);
        let built = build(&nta, &Questions::default(), &sources, &Options::default());
        let mut net = built.unwrap_or_else(|_| panic!("the lamp can be built")).network;
        net.clocks = vec!["x".into(), "y".into()];
        let [zero, minus_two, five] = [0, -2, 5].map(|n| net.terms.int(n));
        let lamp = &mut net.processes[0];
        lamp.edges[0].clock_guard = vec![ClockAtom { when: None, left: 0, right: 1, strict: true, bound: minus_two }];
        lamp.edges[0].resets = vec![Reset { when: None, clock: 1, to: ResetTo::Value(zero) }];
        lamp.locations[1].clock_invariant = vec![ClockAtom { when: None, left: 1, right: 0, strict, bound: five }];
        net
    }

    #[test]
    fn waiting_and_taking_back() {
        let net = lamp(false);
        let mut walk = Walk::new(Cow::Borrowed(&net)).unwrap();
        assert!(walk.is_timed() && walk.steps().unwrap().is_empty());
        assert_eq!(walk.patience().unwrap(), Patience::Forever);
        let awaited = walk.awaited().unwrap();
        assert_eq!((awaited.len(), awaited[0].0 > r(2, 1)), (1, true));
        assert!(walk.wait(r(2, 1)).unwrap() && walk.steps().unwrap().is_empty());
        assert!(walk.wait(r(1, 3)).unwrap());
        assert_eq!((walk.trace.rest, walk.now().unwrap().clocks), (r(7, 3), vec![r(7, 3); 2]));
        let step = walk.steps().unwrap().remove(0);
        walk.take(step);
        assert_eq!((walk.trace.steps[0].delay, walk.trace.rest), (r(7, 3), Rational::ZERO));
        assert_eq!(walk.now().unwrap().clocks, [Rational::ZERO, r(7, 3)]);
        assert_eq!(walk.patience().unwrap(), Patience::Until(r(5, 1), true));
        assert!(walk.wait(r(3, 2)).unwrap() && !walk.wait(r(4, 1)).unwrap());
        assert_eq!(walk.patience().unwrap(), Patience::Until(r(7, 2), true));
        walk.back();
        assert_eq!((walk.trace.steps.len(), walk.trace.rest), (1, Rational::ZERO));
        assert!(walk.back());
        assert_eq!((walk.trace.steps.len(), walk.trace.rest), (0, r(7, 3)));
        assert!(walk.back());
        assert_eq!(walk.trace, Walk::new(Cow::Borrowed(&net)).unwrap().trace);
        assert!(!walk.back());
    }

    #[test]
    fn a_strict_limit_is_not_reached() {
        let net = lamp(true);
        let mut walk = Walk::new(Cow::Borrowed(&net)).unwrap();
        let later = walk.later().unwrap();
        let step = later.into_iter().next().unwrap();
        walk.take(step);
        assert_eq!(walk.patience().unwrap(), Patience::Until(r(5, 1), false));
        assert!(walk.wait(r(9, 2)).unwrap() && !walk.wait(r(1, 2)).unwrap());
    }

    #[test]
    fn durations_as_people_type_them() {
        assert_eq!(duration("3"), Some(r(3, 1)));
        assert_eq!(
            (duration("5/2"), duration("2.5"), duration("0.05")),
            (Some(r(5, 2)), Some(r(5, 2)), Some(r(1, 20)))
        );
        for junk in
            ["", "-1", "+1", "1/0", "1/-2", "1.", ".5", "1.5.2", "x", "9223372036854775807", "0.00000000000000000001"]
        {
            assert_eq!(duration(junk), None, "{junk}");
        }
    }
}
