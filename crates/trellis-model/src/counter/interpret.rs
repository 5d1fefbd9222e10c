//! The reference meaning of counter systems: explicit, slow, plain. Zero tests and upper bounds mean what they say.

use std::fmt;

use super::evidence::Trace;
use super::{Overflow, RuleId, System, Update};

/// A number for each variable.
pub type State = Vec<u64>;

/// Where a rule leads, if it can be taken.
pub fn step(system: &System, rule: RuleId, state: &State) -> Result<Option<State>, Overflow> {
    let rule = &system.rules[rule as usize];
    for (v, interval) in &rule.guards {
        if !interval.contains(state[*v as usize]) {
            return Ok(None);
        }
    }
    let mut after = state.clone();
    for (v, update) in &rule.updates {
        // All at once: what is read is what was there before.
        let mut value = i128::from(update.constant);
        for x in &update.sources {
            value += i128::from(state[*x as usize]);
        }
        if value < 0 {
            return Ok(None);
        }
        after[*v as usize] = u64::try_from(value).map_err(|_| Overflow::Numbers)?;
    }
    Ok(Some(after))
}

/// More steps than this are not taken one by one.
const MOST_STEPS: u64 = 1_000_000;

/// Where a rule leads that is taken so many times in a row, if it can be.
///
/// If the rule only adds constants to variables, or sets them to constants, the first step is taken, and after it every number changes by the same
/// in each step. Then what the guards ask for holds all along if it holds in the second step and in the last one.
pub fn repeat(system: &System, rule: RuleId, state: &State, times: u64) -> Result<Option<State>, Overflow> {
    let Some(mut state) = (if times == 0 { Some(state.clone()) } else { step(system, rule, state)? }) else {
        return Ok(None);
    };
    let updates = &system.rules[rule as usize].updates;
    let steady = |(v, u): &(u32, Update)| u.sources.is_empty() || u.sources == [*v];
    if times > 2 && updates.iter().all(steady) {
        // From behind the first step to before the last one.
        let between = i128::from(times - 2);
        if step(system, rule, &state)?.is_none() {
            return Ok(None);
        }
        for (v, u) in updates.iter().filter(|(v, u)| u.sources == [*v]) {
            let value = i128::from(state[*v as usize]) + i128::from(u.constant) * between;
            if value < 0 {
                return Ok(None);
            }
            state[*v as usize] = u64::try_from(value).map_err(|_| Overflow::Numbers)?;
        }
        return step(system, rule, &state);
    }
    if times > MOST_STEPS {
        return Err(Overflow::Many);
    }
    for _ in 1..times {
        match step(system, rule, &state)? {
            Some(next) => state = next,
            None => return Ok(None),
        }
    }
    Ok(Some(state))
}

/// May the system start here?
pub fn is_initial(system: &System, state: &State) -> bool {
    state.len() == system.names.len() && system.initial.iter().zip(state).all(|(i, n)| i.contains(*n))
}

/// Does the state cover a target?
pub fn is_bad(system: &System, state: &State) -> bool {
    system.target.iter().any(|t| t.below(state))
}

/// What is wrong with a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The system cannot start there.
    Start,
    /// There is no such rule, at this step.
    NoRule(usize),
    /// The rule of this step cannot be taken.
    Disabled(usize),
    /// A number at this step does not fit.
    Overflow(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Start => write!(f, "the system cannot start like this"),
            Error::NoRule(n) => write!(f, "step {}: there is no such rule", n + 1),
            Error::Disabled(n) => write!(f, "step {}: the rule cannot be taken there", n + 1),
            Error::Overflow(n) => write!(f, "step {}: a number does not fit", n + 1),
        }
    }
}

impl std::error::Error for Error {}

/// All states of a trace, the first included.
pub fn replay(system: &System, trace: &Trace) -> Result<Vec<State>, Error> {
    let mut states = vec![];
    let end = walk(system, trace, |state| states.push(state.clone()))?;
    states.push(end);
    Ok(states)
}

/// Where a trace ends; whoever watches sees the states before each of its entries.
pub fn walk(system: &System, trace: &Trace, mut watch: impl FnMut(&State)) -> Result<State, Error> {
    if !is_initial(system, &trace.initial) {
        return Err(Error::Start);
    }
    let mut state = trace.initial.clone();
    for (n, (rule, times)) in trace.steps().enumerate() {
        if rule as usize >= system.rules.len() {
            return Err(Error::NoRule(n));
        }
        watch(&state);
        state = match repeat(system, rule, &state, times) {
            Ok(Some(next)) => next,
            Ok(None) => return Err(Error::Disabled(n)),
            Err(_) => return Err(Error::Overflow(n)),
        };
    }
    Ok(state)
}
