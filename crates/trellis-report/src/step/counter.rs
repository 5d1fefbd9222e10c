//! Counter systems and nets, one rule or transition after the other: an instance, with so many of each at the start.

use std::borrow::Cow;

use serde_json::Value;
use trellis_model::counter::evidence::Trace;
use trellis_model::counter::interpret::{self, State, is_bad};
use trellis_model::counter::{Rule, RuleId, System};

use super::{Choices, Error, Stepper, changes, no_offer};
use crate::json::{self, Content};
use crate::run::{Part, Place, Run, Step, Values};
use crate::words::unique;

/// A walk through an instance of a counter system.
pub struct CounterStepper<'s> {
    system: Cow<'s, System>,
    names: Vec<String>,
    /// At least one.
    states: Vec<State>,
    rules: Vec<RuleId>,
}

impl<'s> CounterStepper<'s> {
    /// A walk that has not begun, from a start that must be one of the system's.
    pub fn new(system: Cow<'s, System>, start: State) -> Result<CounterStepper<'s>, Error> {
        if !interpret::is_initial(&system, &start) {
            return Err(Error::refused(interpret::Error::Start.to_string()));
        }
        let names = unique(system.names.iter().cloned());
        Ok(CounterStepper { system, names, states: vec![start], rules: vec![] })
    }

    fn now(&self) -> &State {
        self.states.last().expect("there is a start")
    }

    /// The rules that can be taken, and where they lead.
    fn next(&self) -> Result<Vec<(RuleId, State)>, Error> {
        let mut all = vec![];
        for rule in 0..self.system.rules.len() as RuleId {
            let next = interpret::step(&self.system, rule, self.now()).map_err(|e| Error::Model(e.to_string()))?;
            all.extend(next.map(|state| (rule, state)));
        }
        Ok(all)
    }

    fn values(&self, state: &State) -> Values {
        self.names.iter().cloned().zip(state.iter().map(|&n| n.into())).collect()
    }

    fn step(&self, before: &State, rule: RuleId, after: &State) -> Step {
        let r = &self.system.rules[rule as usize];
        Step {
            label: self.system.describe(rule),
            set: changes(&self.values(before), &self.values(after)),
            parts: vec![Part { takes: takes(r, rule), ..Part::default() }],
            place: r.line.map(|line| Place { line, ..Place::default() }),
            ..Step::default()
        }
    }
}

/// What a transition is called; a rule has a number.
fn takes(rule: &Rule, number: RuleId) -> Value {
    rule.name.clone().map_or_else(|| number.into(), Value::from)
}

impl Stepper for CounterStepper<'_> {
    fn state(&self) -> Values {
        self.values(self.now())
    }

    fn choices(&self) -> Result<Choices, Error> {
        let offers = self.next()?.iter().map(|(rule, after)| self.step(self.now(), *rule, after)).collect();
        Ok(Choices { offers, ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        let (rule, state) = self.next()?.into_iter().nth(offer).ok_or_else(|| no_offer(offer))?;
        self.rules.push(rule);
        self.states.push(state);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        let some = self.rules.pop().is_some();
        if some {
            self.states.pop();
        }
        some
    }

    fn steps(&self) -> usize {
        self.rules.len()
    }

    fn run(&self) -> Run {
        let step = |(n, &rule): (usize, &RuleId)| self.step(&self.states[n], rule, &self.states[n + 1]);
        let steps = self.rules.iter().enumerate().map(step).collect();
        Run { start: self.values(&self.states[0]), steps, ..Run::default() }
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let refused = |e: &dyn std::fmt::Display| Error::Refused(e.to_string());
        let content = json::read(&*self.system, trace).map_err(|e| refused(&e))?;
        let Content::Trace(Trace { initial, rules }) = content else {
            return Err(Error::refused("it is a certificate; only traces can be replayed"));
        };
        let trace = Trace { initial, rules };
        self.states = interpret::replay(&self.system, &trace).map_err(|e| refused(&e))?;
        self.rules = trace.rules;
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        is_bad(&self.system, self.now()).then(|| "a target is covered".into())
    }

    fn is_idle(&self, _name: &str, value: &Value) -> bool {
        *value == 0
    }
}
