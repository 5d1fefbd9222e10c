//! Plain reachability: all states that can be reached from the initial ones, or from which a bad one can be reached, on relations.
//!
//! Events are applied one after the other, each to all that is known so far (chaining), those that touch variables deep in the order
//! first and until they bring nothing new. That is not saturation, which works inside the diagrams, but comes close to its order.

use trellis_domain::relation::{Natural, Relation};
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::symbolic::Event;

use super::{Question, reason};
use crate::budget::{Budget, Progress, Stats};

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
    /// How often all events were applied.
    pub rounds: u64,
    /// All states that were reached, if there was time to find them all.
    pub states: Option<Natural>,
    /// All configurations that were reached.
    pub configurations: Option<Natural>,
    /// Nodes of the diagram of the reached states.
    pub nodes: usize,
}

/// Explores until a bad configuration is found, or all states are known.
pub fn reach(question: &Question<'_>, direction: Direction, budget: &mut Budget<'_>) -> Found {
    let mut found = Found {
        verdict: Verdict::Unknown(trellis_model::evidence::Reason::Time),
        rounds: 0,
        states: None,
        configurations: None,
        nodes: 0,
    };
    found.verdict = match explore(question, direction, true, budget, &mut found) {
        Ok(verdict) => verdict,
        Err(stopped) => Verdict::Unknown(stopped),
    };
    found
}

/// All states that can be reached, whether one is bad or not.
pub fn reachable(
    question: &Question<'_>,
    direction: Direction,
    budget: &mut Budget<'_>,
) -> Result<Relation, trellis_model::evidence::Reason> {
    let mut found = Found {
        verdict: Verdict::Unknown(trellis_model::evidence::Reason::Time),
        rounds: 0,
        states: None,
        configurations: None,
        nodes: 0,
    };
    let mut states = None;
    fixpoint(question, direction, false, budget, &mut found, &mut states)?;
    Ok(states.unwrap_or_else(|| question.symbolic.space.none()))
}

type Stopped = trellis_model::evidence::Reason;

fn explore(
    question: &Question<'_>,
    direction: Direction,
    early: bool,
    budget: &mut Budget<'_>,
    found: &mut Found,
) -> Result<Verdict<Trace, Certificate>, Stopped> {
    let (m, s) = (question.symbolic, &question.symbolic.space);
    let mut states = None;
    let bad = fixpoint(question, direction, early, budget, found, &mut states)?;
    let states = states.unwrap_or_else(|| s.none());
    found.nodes = states.size();
    if bad {
        let within = match direction {
            Direction::Forward => states,
            Direction::Backward => m.admissible().clone(),
        };
        let trace = question.trace(&within).map_err(reason)?;
        return trace.map(Verdict::Unsafe).ok_or(Stopped::Stuck("a bad state was reached, but no run to it".into()));
    }
    found.states = Some(m.count_states(&states));
    found.configurations = Some(m.count(&m.configurations_of(&states).map_err(reason)?));
    let states = match direction {
        Direction::Forward => states,
        Direction::Backward => s.minus(m.admissible(), &states).map_err(reason)?,
    };
    Ok(Verdict::Safe(Certificate { states }))
}

/// Is something reached that should not be? If it is not, `states` are all that can be reached.
fn fixpoint(
    question: &Question<'_>,
    direction: Direction,
    early: bool,
    budget: &mut Budget<'_>,
    found: &mut Found,
    states: &mut Option<Relation>,
) -> Result<bool, Stopped> {
    let (m, s) = (question.symbolic, &question.symbolic.space);
    let bad = m.states_of(&question.bad).map_err(reason)?;
    let (start, end) = match direction {
        Direction::Forward => (question.initial.clone(), bad),
        Direction::Backward => (bad, question.initial.clone()),
    };
    // Deep ones first: their steps are cheap, and what they bring spares the others rounds.
    let mut events: Vec<&Event> = m.events.iter().filter(|e| !e.written.is_empty()).collect();
    events.sort_by_key(|e| std::cmp::Reverse(e.written[0]));
    let mut all = start;
    let mut known = s.none();
    while known != all {
        known = all.clone();
        for event in &events {
            loop {
                let next = match direction {
                    Direction::Forward => m.post(event, &all),
                    Direction::Backward => m.pre(event, &all),
                };
                let more = next.and_then(|next| s.or(&all, &next)).map_err(reason)?;
                if more == all {
                    break;
                }
                all = more;
            }
            let progress = Progress { waiting: 0, stats: Stats { added: found.rounds, ..Stats::default() } };
            budget.ask(&progress, 0)?;
        }
        found.rounds += 1;
        *states = Some(all.clone());
        if early && s.meets(&all, &end).map_err(reason)? {
            return Ok(true);
        }
    }
    Ok(s.meets(&all, &end).map_err(reason)?)
}
