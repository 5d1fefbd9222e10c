//! Plain reachability: all states that can be reached from the initial ones, or from which a bad one can be reached, on relations.
//!
//! By saturation (`trellis_domain::relation`), which is quick, and does not stop where something bad is met: what is asked comes after. Where a
//! variable has too many values for that, events are applied one after the other, each to all that is known so far (chaining) and until
//! it brings nothing new, those that touch variables deep in the order first.
//!
//! The loop is its own: a step is an operation on whole sets, and there are no nodes.

use trellis_domain::relation::{Natural, Relation};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::symbolic::{Event, Symbolic};

use super::{Question, reason};
use trellis_meter::{Meter, Progress, Stats};

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// From the initial states.
    #[default]
    Forward,
    /// From the bad ones.
    Backward,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The answer.
    pub verdict: Verdict<Trace, Certificate>,
    /// How often all events were applied; 0 if the states were saturated.
    pub rounds: u64,
    /// All states that were reached, if there was time to find them all.
    pub states: Option<Natural>,
    /// All configurations that were reached.
    pub configurations: Option<Natural>,
    /// Nodes of the diagram of the reached states.
    pub nodes: usize,
}

impl Found {
    /// An answer, and nothing else.
    pub(super) fn of(verdict: Verdict<Trace, Certificate>) -> Found {
        Found { verdict, rounds: 0, states: None, configurations: None, nodes: 0 }
    }
}

/// What an exploration knows.
struct Known {
    states: Relation,
    rounds: u64,
    /// Was something reached that should not be?
    met: bool,
}

/// Explores until a bad configuration is found, or all states are known.
pub fn reach(question: &Question<'_>, direction: Direction, meter: &mut Meter) -> Found {
    let mut found = Found::of(Verdict::Unknown(Reason::Time));
    let answer = explore(question, direction, true, meter).and_then(|known| {
        found.rounds = known.rounds;
        found.nodes = known.states.size();
        judge(question, direction, known, &mut found)
    });
    found.verdict = answer.unwrap_or_else(Verdict::Unknown);
    found
}

/// All states that can be reached, whether one is bad or not.
pub fn reachable(question: &Question<'_>, direction: Direction, meter: &mut Meter) -> Result<Relation, Reason> {
    explore(question, direction, false, meter).map(|known| known.states)
}

fn judge(
    question: &Question<'_>,
    direction: Direction,
    known: Known,
    found: &mut Found,
) -> Result<Verdict<Trace, Certificate>, Reason> {
    let (m, s) = (question.symbolic, &question.symbolic.space);
    if known.met {
        let within = match direction {
            Direction::Forward => &known.states,
            Direction::Backward => m.admissible(),
        };
        let trace = question.trace(within).map_err(reason)?;
        return trace.map(Verdict::Unsafe).ok_or(Reason::Stuck("a bad state was reached, but no run to it".into()));
    }
    found.states = Some(m.count_states(&known.states));
    found.configurations = Some(m.count(&m.configurations_of(&known.states).map_err(reason)?));
    let states = match direction {
        Direction::Forward => known.states,
        Direction::Backward => s.minus(m.admissible(), &known.states).map_err(reason)?,
    };
    Ok(Verdict::Safe(Certificate { states }))
}

/// How many states a set has, for the meter.
fn counted(m: &Symbolic, states: &Relation) -> Progress {
    let added = u64::try_from(&m.count_states(states)).unwrap_or(u64::MAX);
    Progress { waiting: 0, stats: Stats { added, stored: added, ..Stats::default() } }
}

/// Applies all events until nothing new comes, or, if that is enough, until something is met that should not be.
fn explore(question: &Question<'_>, direction: Direction, early: bool, meter: &mut Meter) -> Result<Known, Reason> {
    let (m, s) = (question.symbolic, &question.symbolic.space);
    let bad = m.states_of(&question.bad).map_err(reason)?;
    let (start, end) = match direction {
        Direction::Forward => (question.initial.clone(), bad),
        Direction::Backward => (bad, question.initial.clone()),
    };
    if early && s.meets(&start, &end).map_err(reason)? {
        return Ok(Known { states: start, rounds: 0, met: true });
    }
    let mut stopped = None;
    let mut go_on = || {
        stopped = meter.ask(&Progress::default()).err();
        stopped.is_none()
    };
    let closed = m.closure(&start, direction == Direction::Backward, &mut go_on);
    if let Some(why) = stopped {
        return Err(why.into());
    }
    if let Some(states) = closed.map_err(reason)? {
        meter.ask(&counted(m, &states))?;
        let met = s.meets(&states, &end).map_err(reason)?;
        return Ok(Known { states, rounds: 0, met });
    }
    // Deep ones first: their steps are cheap, and what they bring spares the others rounds.
    let mut events: Vec<&Event> = m.events.iter().filter(|e| !e.written.is_empty()).collect();
    events.sort_by_key(|e| std::cmp::Reverse(e.written[0]));
    let mut known = Known { met: s.meets(&start, &end).map_err(reason)?, states: start, rounds: 0 };
    loop {
        if early && known.met {
            return Ok(known);
        }
        let before = known.states.clone();
        for event in &events {
            loop {
                let next = match direction {
                    Direction::Forward => m.post(event, &known.states),
                    Direction::Backward => m.pre(event, &known.states),
                };
                let all = next.and_then(|next| s.or(&known.states, &next)).map_err(reason)?;
                if all == known.states {
                    break;
                }
                known.states = all;
                meter.go_on()?;
            }
        }
        if known.states == before {
            return Ok(known);
        }
        known.rounds += 1;
        meter.ask(&counted(m, &known.states))?;
        known.met = s.meets(&known.states, &end).map_err(reason)?;
    }
}
