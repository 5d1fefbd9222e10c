//! Traces: taken again, step by step, by the reference interpreter.

use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Condition, Network, Query, QueryKind, Snapshot, Trace};

use crate::rejection::Claimed;
use crate::state::check;
use crate::{Rejection, Why};

/// A trace that shows what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// How many states it has, the initial one included.
    pub states: usize,
    /// How it ends.
    pub end: End,
    /// For `sup` and `inf`: the value of the expression in the last state.
    pub value: Option<i64>,
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
    let run = Run::new(net, query.deadlock, trace)?;
    let mut value = None;
    let end = match &query.kind {
        QueryKind::Always(p) => {
            run.ends_where(p, false, "the property holds in the last state, so it is not violated")?
        }
        QueryKind::Possibly(p) => run.ends_where(p, true, "the property does not hold in the last state")?,
        QueryKind::Eventually(p) => {
            run.stays_where(p, false, 0, "the awaited property holds here, so the run is no counterexample")?;
            run.end()?
        }
        QueryKind::PotentiallyAlways(p) => {
            run.stays_where(p, true, 0, "the property does not hold here, so the run does not stay in it")?;
            run.end()?
        }
        QueryKind::LeadsTo(p, q) => run.never_answers(p, q)?,
        QueryKind::Bound { when, of, .. } => {
            let end = run.ends_where(when, true, "the last state is not one of those that are measured")?;
            value = Some(run.number(of, run.states.len() - 1)?);
            end
        }
        QueryKind::ClockBound { .. } => return Err(Rejection::new(Why::BesideThePoint("bounds of clocks"))),
    };
    Ok(Replayed { states: run.states.len(), end, value })
}

/// Replays the trace behind `sup: e = value` or `inf: e = value`: it must lead to a state with exactly this value.
pub fn replay_bound(net: &Network, query: &Query, trace: &Trace, value: i64) -> Result<Replayed, Rejection> {
    let replayed = replay(net, query, trace)?;
    let Some(found) = replayed.value else {
        return Err(Rejection::new(Why::BesideThePoint("a value for a question that asks for none")));
    };
    if found != value {
        let why = Why::Value { found, claimed: Claimed::Exactly(value) };
        return Err(Rejection::new(why).number(replayed.states - 1).state(net, trace.last()));
    }
    Ok(replayed)
}

/// A trace whose steps are known to be steps.
struct Run<'a> {
    net: &'a Network,
    interpreter: Interpreter<'a>,
    deadlock: bool,
    states: Vec<&'a Snapshot>,
    /// For a lasso: where the last state occurs first.
    back_to: Option<usize>,
}

impl<'a> Run<'a> {
    fn new(net: &'a Network, deadlock: bool, trace: &'a Trace) -> Result<Run<'a>, Rejection> {
        let interpreter = Interpreter::new(net);
        let model = |e| Rejection::model(net, e);
        check(net, &trace.initial).map_err(|r| r.number(0))?;
        if interpreter.initial().map_err(model)? != trace.initial {
            return Err(Rejection::new(Why::NotInitial).number(0).state(net, &trace.initial));
        }
        let mut states = vec![&trace.initial];
        for (i, step) in trace.steps.iter().enumerate() {
            check(net, &step.state).map_err(|r| r.number(i + 1))?;
            let from = states[i];
            let wrong = |why| Rejection::new(why).number(i).state(net, from).step(net, &step.action);
            match interpreter.take(from, &step.action).map_err(model)? {
                None => return Err(wrong(Why::NotAStep)),
                Some(next) if next != step.state => return Err(wrong(Why::LeadsElsewhere).next(net, &next)),
                Some(_) => states.push(&step.state),
            }
        }
        if let Some(back) = trace.back_to {
            let last = states.len() - 1;
            if back >= last || states[back] != states[last] {
                return Err(Rejection::new(Why::NotACircle).number(last).state(net, states[last]));
            }
        }
        Ok(Run { net, interpreter, deadlock, states, back_to: trace.back_to })
    }

    fn holds(&self, c: &Condition, i: usize) -> Result<bool, Rejection> {
        self.interpreter.holds(c, self.deadlock, self.states[i]).map_err(|e| Rejection::model(self.net, e))
    }

    fn number(&self, c: &Condition, i: usize) -> Result<i64, Rejection> {
        self.interpreter.number(c, self.deadlock, self.states[i]).map_err(|e| Rejection::model(self.net, e))
    }

    fn wrong<T>(&self, why: Why, i: usize) -> Result<T, Rejection> {
        Err(Rejection::new(why).number(i).state(self.net, self.states[i]))
    }

    /// A finite run whose last state satisfies (or violates) a condition.
    fn ends_where(&self, c: &Condition, wanted: bool, otherwise: &'static str) -> Result<End, Rejection> {
        if self.back_to.is_some() {
            return Err(Rejection::new(Why::BesideThePoint("a circle where a finite run is asked for")));
        }
        let last = self.states.len() - 1;
        if self.holds(c, last)? == wanted { Ok(End::Target) } else { self.wrong(Why::Condition(otherwise), last) }
    }

    /// From some state on, all satisfy (or violate) a condition.
    fn stays_where(&self, c: &Condition, wanted: bool, from: usize, otherwise: &'static str) -> Result<(), Rejection> {
        for i in from..self.states.len() {
            if self.holds(c, i)? != wanted {
                return self.wrong(Why::Condition(otherwise), i);
            }
        }
        Ok(())
    }

    /// Some state satisfies p, and q holds neither there nor ever after.
    fn never_answers(&self, p: &Condition, q: &Condition) -> Result<End, Rejection> {
        // The run after the last state with q, and (on a circle) that state is not on the circle.
        let mut quiet = 0;
        for i in 0..self.states.len() {
            if self.holds(q, i)? {
                quiet = i + 1;
            }
        }
        let answered = Why::Condition("the second property holds again and again, so every first is answered");
        match self.back_to {
            Some(back) if quiet > back => return self.wrong(answered, quiet - 1),
            None if quiet == self.states.len() => return self.wrong(answered, quiet - 1),
            _ => {}
        }
        for i in quiet..self.states.len() {
            if self.holds(p, i)? {
                return self.end();
            }
        }
        let never = "the first property does not hold in any state after which the second never does";
        self.wrong(Why::Condition(never), self.states.len() - 1)
    }

    /// Why the run needs no further step.
    fn end(&self) -> Result<End, Rejection> {
        if let Some(back) = self.back_to {
            return Ok(End::Circle(back));
        }
        let last = self.states.len() - 1;
        let model = |e| Rejection::model(self.net, e);
        if self.interpreter.is_deadlocked(self.states[last]).map_err(model)? {
            return Ok(End::Deadlock);
        }
        if self.interpreter.may_idle(self.states[last]).map_err(model)? {
            return Ok(End::Idle);
        }
        self.wrong(Why::NotMaximal, last)
    }
}
