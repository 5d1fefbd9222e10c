//! Hierarchies of nodes on relations: can a bad configuration be reached?
//!
//! - [`reach`]: all reachable states, forward or backward, one event after the other;
//! - [`cegar`]: covers of the configurations, refined where an abstract path fails, with or without pruning (001 Ch. 4 and 6).
//!
//! Both take turns in [`both`]. What they work on is a [`Symbolic`] meaning of a hierarchy.

pub mod cegar;
pub mod graph;
pub mod reach;

use std::time::Duration;

use trellis_domain::relation::{Error, Made, Relation};
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::symbolic::{Event, Symbolic};

use crate::scheduler::{self, Runner, turns};
use trellis_meter::Meter;

/// What is asked: can a run from an initial state reach a bad configuration?
pub struct Question<'q> {
    /// The hierarchy.
    pub hierarchy: &'q Hierarchy,
    /// Its meaning.
    pub symbolic: &'q Symbolic,
    /// Initial states.
    pub initial: Relation,
    /// Bad configurations.
    pub bad: Relation,
}

/// Why there is no answer.
pub fn reason(trouble: Error) -> Reason {
    match trouble {
        Error::Memory => Reason::Memory,
        Error::Unsupported(what) => Reason::Unsupported(what),
        _ => Reason::Unsupported(trouble.to_string()),
    }
}

/// Who answered, and what.
pub enum Either {
    /// Reachability.
    Reach(reach::Found),
    /// Refinement of an abstraction.
    Cegar(cegar::Found),
}

impl Either {
    /// The answer.
    pub fn verdict(&self) -> &Verdict<Trace, Certificate> {
        match self {
            Either::Reach(found) => &found.verdict,
            Either::Cegar(found) => &found.verdict,
        }
    }
}

impl scheduler::Outcome for Either {
    fn undecided(&self) -> Option<&Reason> {
        match self.verdict() {
            Verdict::Unknown(why) => Some(why),
            _ => None,
        }
    }
}

/// How many nodes all layers of a shortest run may have, times events.
const WORK: usize = 1 << 22;

/// The first turn.
const FIRST: Duration = Duration::from_millis(1000);

/// Reachability and `PCegar` (from the predicates that say where components are), in turns of growing length: the first answer wins.
/// Diagrams are shared, so there is one thread; reachability finds what is still remembered, and the abstraction is kept.
pub fn both(question: &Question<'_>, direction: reach::Direction, meter: &mut Meter) -> Either {
    let options = cegar::Options { analysis: direction, ..cegar::Options::default() };
    let mut run = None;
    let mut reach = |meter: &mut Meter| Either::Reach(reach::reach(question, direction, meter));
    let mut cegar = |meter: &mut Meter| match turn_of(question, &mut run, &options, meter) {
        verdict @ Verdict::Unknown(Reason::Time) => Either::Cegar(cegar::Found::of(verdict, None)),
        // Out of memory, or of ideas: it makes room for the other.
        verdict => Either::Cegar(cegar::Found::of(verdict, run.take())),
    };
    type Turn<'t> = &'t mut dyn FnMut(&mut Meter) -> Either;
    let runners = vec![Runner::new("reach", &mut reach as Turn<'_>), Runner::new("cegar", &mut cegar as Turn<'_>)];
    turns(runners, FIRST, meter).unwrap_or_else(|why| Either::Reach(reach::Found::of(Verdict::Unknown(why))))
}

/// Makes the abstraction, if there is none yet, and refines it.
fn turn_of(
    question: &Question<'_>,
    run: &mut Option<cegar::Run>,
    options: &cegar::Options,
    meter: &mut Meter,
) -> Verdict<Trace, Certificate> {
    let made = match run {
        Some(run) => Ok(run),
        None => cegar::control_locations(question)
            .map_err(reason)
            .and_then(|predicates| cegar::Run::new(question, &predicates, options, meter))
            .map(|made| run.insert(made)),
    };
    match made {
        Ok(run) => run.go_on(question, options, meter),
        Err(why) => Verdict::Unknown(why),
    }
}

impl Question<'_> {
    /// A run from an initial state to a bad configuration within some states, if there is one: a shortest one, unless its layers are too much
    /// work; then events are applied one after the other, each to all that is known so far (chaining).
    pub fn trace(&self, within: &Relation) -> Made<Option<Trace>> {
        let (s, m) = (&self.symbolic.space, self.symbolic);
        let mut events: Vec<&Event> = m.events.iter().filter(|e| !e.written.is_empty()).collect();
        events.sort_by_key(|e| std::cmp::Reverse(e.written[0]));
        let mut layer = s.and(&m.states_of(&self.bad)?, within)?;
        // Ever larger sets of states that lead to a bad one; and by which event each is reached from the next, or by any.
        let mut sets = vec![layer.clone()];
        let mut by: Vec<Option<&Event>> = vec![];
        let mut work = 0;
        while !s.meets(&sets[sets.len() - 1], &self.initial)? {
            let (mut all, before) = (sets[sets.len() - 1].clone(), sets.len());
            if work < WORK {
                for event in &events {
                    all = s.or(&all, &s.and(&m.pre(event, &layer)?, within)?)?;
                }
                layer = s.minus(&all, &sets[before - 1])?;
                work += layer.size() * events.len();
                if !layer.is_empty() {
                    sets.push(all);
                    by.push(None);
                }
            } else {
                for event in &events {
                    let more = s.or(&all, &s.and(&m.pre(event, &all)?, within)?)?;
                    if more != all {
                        sets.push(more.clone());
                        by.push(Some(event));
                        all = more;
                    }
                }
                // What moves against the order of events moves far in the next round.
                events.reverse();
            }
            if sets.len() == before {
                return Ok(None);
            }
        }
        let one = |states: &Relation| m.pick(states).map(|values| m.single(&values, false)).transpose();
        let mut trace = Trace { configurations: vec![], events: vec![] };
        let Some(mut here) = one(&s.and(&sets[sets.len() - 1], &self.initial)?)? else { return Ok(None) };
        loop {
            let mut at = 0..sets.len();
            while !at.is_empty() {
                let middle = usize::midpoint(at.start, at.end);
                at = if s.meets(&sets[middle], &here)? { at.start..middle } else { middle + 1..at.end };
            }
            let configurations = m.configurations_of(&here)?;
            let Some(n) = at.start.checked_sub(1) else {
                trace.configurations.extend(m.pick(&s.and(&configurations, &self.bad)?));
                return Ok(Some(trace));
            };
            let any = if by[n].is_none() { &events[..] } else { &[] };
            let mut next = None;
            for event in by[n].iter().chain(any) {
                if let Some(then) = one(&s.and(&m.post_from(event, &configurations)?, &sets[n])?)? {
                    next = Some((*event, then));
                    break;
                }
            }
            let Some((event, then)) = next else { return Ok(None) };
            trace.configurations.extend(m.pick(&m.pre_to(event, &then, &configurations)?));
            trace.events.push(event.number);
            here = then;
        }
    }
}
