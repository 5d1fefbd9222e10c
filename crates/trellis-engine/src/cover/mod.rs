//! Hierarchies of nodes on relations: can a bad configuration be reached?
//!
//! - [`reach`]: all reachable states, forward or backward, one event after the other;
//! - [`cegar`]: covers of the configurations, refined where an abstract path fails, with or without pruning (001 Ch. 4 and 6).
//!
//! What both work on is a [`Symbolic`] meaning of a hierarchy.

pub mod cegar;
pub mod graph;
pub mod reach;

use trellis_domain::relation::{Made, Relation, Trouble};
use trellis_model::evidence::Reason;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::evidence::Trace;
use trellis_model::hierarchy::symbolic::Symbolic;

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
pub fn reason(trouble: Trouble) -> Reason {
    match trouble {
        Trouble::Memory => Reason::Memory,
        Trouble::Unsupported(what) => Reason::Unsupported(what),
        _ => Reason::Unsupported(trouble.to_string()),
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
