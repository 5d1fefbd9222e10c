//! Traces: taken again, step by step and delay by delay, by the reference interpreter.
//!
//! In a timed model a run is more than its states: what must hold all along a run is judged at every moment of every delay
//! (at finitely many that stand for all), and after the last step for as long as time may pass. What is
//! deliberately not asked: that infinitely much time passes on a circle.

use std::ops::ControlFlow;

use trellis_domain::zone::Rational;
use trellis_model::network::circle::Circle;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Condition, Network, Query, QueryKind, Snapshot, Trace};

use crate::rejection::Claimed;
use crate::state::{check, check_clocks};
use crate::{Cause, Rejection};

/// A trace that shows what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// How many states it has, the initial one included.
    pub states: usize,
    /// How it ends.
    pub end: End,
    /// For `sup` and `inf`: the value of the expression in the last state.
    pub value: Option<i64>,
    /// For `sup` and `inf` of a clock: its value in the end.
    pub clock: Option<Rational>,
    /// For `sup` of a clock: it can be as large as one likes in the end, because the run can go round, or stay somewhere, for as
    /// long as one likes before, and the clock is not set after that.
    pub unbounded: bool,
}

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In the state that was asked for.
    Target,
    /// In a state where time may pass forever.
    Idle,
    /// In a state where nothing can happen.
    Deadlock,
    /// It does not: it returns to this state, forever.
    Circle(usize),
}

/// Replays a trace. It must be a run of the network, and must show what a trace can show about the query: see the table
/// in the [crate](crate)'s description.
pub fn replay(net: &Network, query: &Query, trace: &Trace) -> Result<Replayed, Rejection> {
    replay_as(net, query, trace, false)
}

/// As [`replay`]; a run that goes round counts only if infinitely much time passes.
pub fn replay_non_zeno(net: &Network, query: &Query, trace: &Trace) -> Result<Replayed, Rejection> {
    replay_as(net, query, trace, true)
}

fn replay_as(net: &Network, query: &Query, trace: &Trace, diverging: bool) -> Result<Replayed, Rejection> {
    let run = Run::new(net, query, trace, diverging)?;
    let (mut value, mut clock, mut unbounded) = (None, None, false);
    let measured = "the last state is not one of those that are measured";
    let end = match &query.kind {
        QueryKind::Always(p) => {
            run.ends_where(p, false, "the property holds in the last state, so it is not violated")?
        }
        QueryKind::Possibly(p) => run.ends_where(p, true, "the property does not hold in the last state")?,
        QueryKind::Eventually(p) => {
            run.stays_where(p, false, "the awaited property holds here, so the run is no counterexample")?
        }
        QueryKind::PotentiallyAlways(p) => {
            run.stays_where(p, true, "the property does not hold here, so the run does not stay in it")?
        }
        QueryKind::LeadsTo(p, q) => run.never_answers(p, q)?,
        QueryKind::Bound { when, of, .. } => {
            let end = run.ends_where(when, true, measured)?;
            value = Some(run.interpreter.number_in(query, of, &run.last).map_err(|e| Rejection::model(net, e))?);
            end
        }
        QueryKind::ClockBound { when, clock: x, sup } => {
            let end = run.ends_where(when, true, measured)?;
            unbounded = *sup && run.grows(trace, *x)?;
            clock = (*x as usize).checked_sub(1).and_then(|x| run.last.clocks.get(x).copied());
            end
        }
    };
    Ok(Replayed { states: run.states.len(), end, value, clock, unbounded })
}

/// Replays the trace behind `sup: e = value` or `inf: e = value`: it must lead to a state with exactly this value.
pub fn replay_bound(net: &Network, query: &Query, trace: &Trace, value: i64) -> Result<Replayed, Rejection> {
    let replayed = replay(net, query, trace)?;
    let Some(found) = replayed.value else {
        return Err(Rejection::new(Cause::BesideThePoint("a value for a question that asks for none")));
    };
    if found != value {
        let why = Cause::Value { found, claimed: Claimed::Exactly(value) };
        return Err(Rejection::new(why).number(replayed.states - 1).state(net, trace.last()));
    }
    Ok(replayed)
}

/// Can what happens after state `back` happen again and again? In a model with clocks the last state need not be
/// the same, if nothing can tell it from that one.
fn returns(net: &Network, query: &Query, trace: &Trace, back: usize, diverging: bool) -> bool {
    let last = trace.steps.len();
    if back >= last {
        return false;
    }
    let before = if back == 0 { &trace.initial } else { &trace.steps[back - 1].state };
    if !diverging && before == trace.last() {
        return true;
    }
    // Regions say nothing where clocks can stand still.
    if net.has_rates() {
        return false;
    }
    let lap = Circle::new(net, query).lap(trace, back, last);
    !net.clocks.is_empty() && lap.is_some_and(|lap| lap.diverges || !diverging)
}

/// A trace whose steps are known to be steps.
pub(crate) struct Run<'a> {
    net: &'a Network,
    query: &'a Query,
    pub interpreter: Interpreter<'a>,
    pub states: Vec<&'a Snapshot>,
    /// How long it stays in each state but the last.
    delays: Vec<Rational>,
    /// The last state, after what time passes in it.
    pub last: Snapshot,
    /// For a lasso: where the last state occurs first.
    pub back_to: Option<usize>,
}

/// A moment of a run, and which of some conditions hold then.
struct Moment<const N: usize> {
    number: usize,
    state: Snapshot,
    holds: [bool; N],
}

impl<'a> Run<'a> {
    pub fn new(net: &'a Network, query: &'a Query, trace: &'a Trace, diverging: bool) -> Result<Run<'a>, Rejection> {
        let interpreter = Interpreter::new(net);
        let model = |e| Rejection::model(net, e);
        check(net, &trace.initial).and_then(|()| check_clocks(net, &trace.initial)).map_err(|r| r.number(0))?;
        if interpreter.initial().map_err(model)? != trace.initial {
            return Err(Rejection::new(Cause::NotInitial).number(0).state(net, &trace.initial));
        }
        let mut states = vec![&trace.initial];
        for (i, step) in trace.steps.iter().enumerate() {
            check(net, &step.state).and_then(|()| check_clocks(net, &step.state)).map_err(|r| r.number(i + 1))?;
            let from = states[i];
            let wrong = |why| Rejection::new(why).number(i).state(net, from).step(net, &step.action);
            let Some(later) = interpreter.wait(from, step.delay).map_err(model)? else {
                return Err(wrong(Cause::CannotWait(step.delay)));
            };
            match interpreter.take(&later, &step.action).map_err(model)? {
                None => return Err(wrong(Cause::NotAStep)),
                Some(next) if next != step.state => return Err(wrong(Cause::LeadsElsewhere).next(net, &next)),
                Some(_) => states.push(&step.state),
            }
        }
        let last = states.len() - 1;
        let wrong = |why| Rejection::new(why).number(last).state(net, states[last]);
        if let Some(back) = trace.back_to
            && (trace.rest != Rational::ZERO || !returns(net, query, trace, back, diverging))
        {
            return Err(wrong(Cause::NotACircle));
        }
        let Some(end) = interpreter.wait(states[last], trace.rest).map_err(model)? else {
            return Err(wrong(Cause::CannotWait(trace.rest)));
        };
        let delays = trace.steps.iter().map(|s| s.delay).collect();
        Ok(Run { net, query, interpreter, states, delays, last: end, back_to: trace.back_to })
    }

    /// The moments of the run, until the last step or, if it ends there, for as long as time may pass.
    fn moments<const N: usize>(&self, conditions: [&Condition; N]) -> Result<Vec<Moment<N>>, Rejection> {
        let mut all = Vec::new();
        let last = self.states.len() - 1;
        for (number, state) in self.states.iter().enumerate() {
            let until = match self.delays.get(number) {
                _ if self.net.clocks.is_empty() => Some(Rational::ZERO),
                Some(delay) => Some(*delay),
                None if number == last && self.back_to.is_some() => Some(Rational::ZERO),
                None => None,
            };
            let found = self.interpreter.moments(state, until, &mut |m| {
                let mut holds = [false; N];
                for (holds, c) in holds.iter_mut().zip(conditions) {
                    *holds = m.interpreter.holds_in(self.query, c, m.state)?;
                }
                all.push(Moment { number, state: m.state.clone(), holds });
                Ok(ControlFlow::Continue(()))
            });
            found.map_err(|e| Rejection::model(self.net, e))?;
        }
        Ok(all)
    }

    fn wrong<T>(&self, why: Cause, number: usize, state: &Snapshot) -> Result<T, Rejection> {
        Err(Rejection::new(why).number(number).state(self.net, state))
    }

    /// A finite run whose end satisfies (or violates) a condition.
    fn ends_where(&self, c: &Condition, wanted: bool, otherwise: &'static str) -> Result<End, Rejection> {
        if self.back_to.is_some() {
            return Err(Rejection::new(Cause::BesideThePoint("a circle where a finite run is asked for")));
        }
        let holds = self.interpreter.holds_in(self.query, c, &self.last).map_err(|e| Rejection::model(self.net, e))?;
        if holds == wanted {
            return Ok(End::Target);
        }
        self.wrong(Cause::Condition(otherwise), self.states.len() - 1, &self.last)
    }

    /// A maximal run that satisfies (or violates) a condition all along.
    fn stays_where(&self, c: &Condition, wanted: bool, otherwise: &'static str) -> Result<End, Rejection> {
        match self.moments([c])?.iter().find(|m| m.holds != [wanted]) {
            Some(m) => self.wrong(Cause::Condition(otherwise), m.number, &m.state),
            None => self.end(),
        }
    }

    /// At some moment p holds, and q holds neither then nor ever after.
    fn never_answers(&self, p: &Condition, q: &Condition) -> Result<End, Rejection> {
        let moments = self.moments([p, q])?;
        // The run after the last moment with q, and (on a circle) that moment is not on the circle.
        let quiet = moments.iter().rposition(|m| m.holds[1]).map_or(0, |i| i + 1);
        if let Some(i) = quiet.checked_sub(1) {
            let again = self.back_to.is_some_and(|back| moments[i].number >= back);
            if again || quiet == moments.len() {
                let why = "the second property holds again and again, so every first is answered";
                return self.wrong(Cause::Condition(why), moments[i].number, &moments[i].state);
            }
        }
        if moments[quiet..].iter().any(|m| m.holds[0]) {
            return self.end();
        }
        let never = "the first property does not hold in any state after which the second never does";
        self.wrong(Cause::Condition(never), self.states.len() - 1, &self.last)
    }

    /// Can the run be made longer, so that a clock is as large as one likes in the end?
    fn grows(&self, trace: &Trace, clock: u32) -> Result<bool, Rejection> {
        if self.net.has_rates() {
            return Ok(false);
        }
        let model = |e| Rejection::model(self.net, e);
        let end = trace.steps.len();
        let mut since = 0;
        for (i, step) in trace.steps.iter().enumerate() {
            if self.interpreter.sets(self.states[i], &step.action, clock).map_err(model)? {
                since = i + 1;
            }
        }
        let circle = Circle::new(self.net, self.query);
        for i in since..=end {
            if circle.is_late(trace, i) && self.interpreter.may_idle(self.states[i]).map_err(model)? {
                return Ok(true);
            }
        }
        let diverges = |i, j| circle.lap_before(trace, i, j).is_some_and(|lap| lap.diverges);
        Ok((since..end).any(|i| (i + 1..=end).any(|j| diverges(i, j))))
    }

    /// Cause the run needs no further step.
    pub fn end(&self) -> Result<End, Rejection> {
        if let Some(back) = self.back_to {
            return Ok(End::Circle(back));
        }
        let model = |e| Rejection::model(self.net, e);
        if self.interpreter.is_deadlocked(&self.last).map_err(model)? {
            return Ok(End::Deadlock);
        }
        if self.interpreter.may_idle(&self.last).map_err(model)? {
            return Ok(End::Idle);
        }
        self.wrong(Cause::NotMaximal, self.states.len() - 1, &self.last)
    }
}
