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
use trellis_model::hierarchy::symbolic::Symbolic;

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
    /// A shortest run from an initial state to a bad configuration within some states, if there is one.
    pub fn trace(&self, within: &Relation) -> Made<Option<Trace>> {
        let (s, m) = (&self.symbolic.space, self.symbolic);
        let mut seen = s.and(&m.states_of(&self.bad)?, within)?;
        // Layers of states, by their distance from a bad one.
        let mut layers = vec![seen.clone()];
        while !s.meets(&layers[layers.len() - 1], &self.initial)? {
            let mut next = s.none();
            for event in m.events.iter().filter(|e| !e.written.is_empty()) {
                next = s.or(&next, &m.pre(event, &layers[layers.len() - 1])?)?;
            }
            let next = s.minus(&s.and(&next, within)?, &seen)?;
            if next.is_empty() {
                return Ok(None);
            }
            seen = s.or(&seen, &next)?;
            layers.push(next);
        }
        let start = s.and(&layers[layers.len() - 1], &self.initial)?;
        let mut here = m.configurations_of(&start)?;
        let all = m.configurations()?;
        let mut trace = Trace { configurations: vec![], events: vec![] };
        for layer in layers.iter().rev().skip(1) {
            for event in &m.events {
                let from = s.and(&here, &m.pre_to(event, layer, &all)?)?;
                if let Some(values) = m.pick(&from) {
                    let after = s.and(&m.post_from(event, &m.single(&values, true)?)?, layer)?;
                    here = m.configurations_of(&after)?;
                    trace.configurations.push(values);
                    trace.events.push(event.number);
                    break;
                }
            }
        }
        trace.configurations.extend(m.pick(&s.and(&here, &self.bad)?));
        Ok(Some(trace))
    }
}
