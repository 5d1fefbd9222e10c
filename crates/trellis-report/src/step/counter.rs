//! Counter systems and nets, one rule or transition after the other: an instance, with so many of each at the start.

use std::borrow::Cow;

use serde_json::Value;
use trellis_model::counter::evidence::Trace;
use trellis_model::counter::interpret::{self, State, is_bad};
use trellis_model::counter::{Rule, RuleId, System};

use super::{Error, Trail, Walkable, Walked, read_trace};
use crate::run::{Part, Place, Step, Values};
use crate::words::unique;

/// Longer traces are not walked along.
const LONGEST: u64 = 100_000;

/// A walk through an instance of a counter system.
pub type CounterStepper<'s> = Trail<Counters<'s>>;

/// A counter system, and what its counters are called.
pub struct Counters<'s> {
    system: Cow<'s, System>,
    names: Vec<String>,
}

impl<'s> CounterStepper<'s> {
    /// A walk that has not begun, from a start that must be one of the system's.
    pub fn new(system: Cow<'s, System>, start: State) -> Result<CounterStepper<'s>, Error> {
        if !interpret::is_initial(&system, &start) {
            return Err(Error::refused(interpret::Error::Start.to_string()));
        }
        let names = unique(system.names.iter().cloned());
        Trail::from(Counters { system, names }, vec![start])
    }
}

/// What a transition is called; a rule has a number.
fn takes(rule: &Rule, number: RuleId) -> Value {
    rule.name.clone().map_or_else(|| number.into(), Value::from)
}

impl Walkable for Counters<'_> {
    type State = State;
    type Action = RuleId;

    fn next(&self, state: &State) -> Result<Vec<(RuleId, State)>, Error> {
        let mut all = vec![];
        for rule in 0..self.system.rules.len() as RuleId {
            let next = interpret::step(&self.system, rule, state).map_err(|e| Error::Model(e.to_string()))?;
            all.extend(next.map(|state| (rule, state)));
        }
        Ok(all)
    }

    fn values(&self, state: &State) -> Values {
        self.names.iter().cloned().zip(state.iter().map(|&n| n.into())).collect()
    }

    fn step(&self, _: &State, rule: &RuleId, _: &State) -> Step {
        let r = &self.system.rules[*rule as usize];
        Step {
            label: self.system.describe(*rule),
            parts: vec![Part { takes: takes(r, *rule), ..Part::default() }],
            place: r.line.map(|line| Place { line, ..Place::default() }),
            ..Step::default()
        }
    }

    fn retrace(&mut self, trace: &str) -> Result<Walked<Self>, Error> {
        let trace = read_trace(&*self.system, trace)?;
        if trace.length() > LONGEST {
            return Err(Error::refused(format!(
                "it has more than {LONGEST} steps, which is too long to go along it step by step"
            )));
        }
        let rules = trace.steps().flat_map(|(rule, times)| (0..times).map(move |_| rule)).collect();
        let trace = Trace { initial: trace.initial, rules, times: vec![] };
        let states = interpret::replay(&self.system, &trace).map_err(|e| Error::refused(e.to_string()))?;
        Ok((states, trace.rules))
    }

    fn remark(&self, state: &State) -> Option<String> {
        is_bad(&self.system, state).then(|| "a target is covered".into())
    }

    fn is_idle(&self, value: &Value) -> bool {
        *value == 0
    }
}
