//! Evidence about hierarchies of nodes: a run is taken step by step, a set of states is checked to be a proof.
//!
//! Guards, updates and assertions along a run are evaluated plainly; whether something of higher priority could have happened instead
//! is asked of the relations, because it depends on flows that might have had other values.

use trellis_domain::relation::{Relation, Trouble};
use trellis_expr::TermId;
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::explicit::{holds, number, valuation};
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_model::hierarchy::{ComponentId, Hierarchy};

/// What is wrong with evidence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The run is not one.
    #[error("{0}")]
    Run(String),
    /// The set of states is not a proof.
    #[error("{0}")]
    Proof(String),
    /// There was not enough memory to look.
    #[error(transparent)]
    Trouble(#[from] Trouble),
}

/// Is this set of states a proof that no bad configuration can be reached?
pub fn certify(
    initial: &Relation,
    bad: &Relation,
    symbolic: &Symbolic,
    certificate: &Certificate,
) -> Result<(), Rejection> {
    let s = &symbolic.space;
    let refuse = |text: &str| Err(Rejection::Proof(text.into()));
    if !s.within(initial, &certificate.states)? {
        return refuse("an initial state is not in the set");
    }
    if s.meets(&certificate.states, &symbolic.states_of(bad)?)? {
        return refuse("a bad configuration has its state in the set");
    }
    for event in &symbolic.events {
        if !s.within(&symbolic.post(event, &certificate.states)?, &certificate.states)? {
            return refuse("an event leads out of the set");
        }
    }
    Ok(())
}

/// Is this a run from an initial configuration to one where the condition holds?
pub fn replay(hierarchy: &Hierarchy, symbolic: &Symbolic, bad: TermId, trace: &Trace) -> Result<(), Rejection> {
    let refuse = |step: usize, text: &str| Err(Rejection::Run(format!("step {step}: {text}")));
    if trace.configurations.len() != trace.events.len() + 1 {
        return refuse(0, "there must be one configuration more than events");
    }
    let order: Vec<_> = (0..hierarchy.variables.len() as u32).map(trellis_expr::VarId).collect();
    for (at, values) in trace.configurations.iter().enumerate() {
        if values.len() != order.len() {
            return refuse(at, "a configuration has a value for each variable");
        }
        if let Some(v) = order.iter().find(|v| !hierarchy.variable(**v).domain.contains(values[v.index()])) {
            return refuse(at, &format!("`{}` has a value outside its domain", hierarchy.variable(*v).name));
        }
        let here = valuation(hierarchy, &order, values);
        if !hierarchy.components.iter().flat_map(|c| &c.assertion).all(|&a| holds(hierarchy, a, &here)) {
            return refuse(at, "an assertion does not hold");
        }
    }
    let first = valuation(hierarchy, &order, &trace.configurations[0]);
    let starts = |(v, t)| number(hierarchy, t, &first) == Some(trace.configurations[0][trellis_expr::VarId::index(v)]);
    if !hierarchy.initial(hierarchy.top).into_iter().all(starts) {
        return refuse(0, "the first configuration is not initial");
    }
    for (at, &event) in trace.events.iter().enumerate() {
        let (from, to) = (&trace.configurations[at], &trace.configurations[at + 1]);
        let Some(known) = symbolic.events.iter().find(|e| e.number == event) else {
            return refuse(at, "there is no such event");
        };
        if !moves(hierarchy, symbolic, event, from, to) {
            return refuse(at, "the event does not lead to the next configuration");
        }
        // Priorities.
        let after = symbolic.post_from(known, &symbolic.single(from, true)?)?;
        if !symbolic.space.meets(&after, &symbolic.single(to, false)?)? {
            return refuse(at, "the event is not possible here");
        }
    }
    let last = valuation(hierarchy, &order, &trace.configurations[trace.events.len()]);
    if !holds(hierarchy, bad, &last) {
        return refuse(trace.events.len(), "the last configuration is not what was looked for");
    }
    Ok(())
}

/// Do the components' own transitions lead from one configuration to the other, as far as states are concerned?
fn moves(hierarchy: &Hierarchy, symbolic: &Symbolic, event: usize, from: &[i64], to: &[i64]) -> bool {
    let order: Vec<_> = (0..hierarchy.variables.len() as u32).map(trellis_expr::VarId).collect();
    let here = valuation(hierarchy, &order, from);
    let parts = symbolic.levels.parts(hierarchy, hierarchy.top, event);
    (0..hierarchy.components.len()).all(|number_of| {
        let id = ComponentId(number_of as u32);
        let component = hierarchy.component(id);
        let taken = parts.iter().find(|(c, _)| *c == id).map_or(0, |(_, e)| *e);
        let states = || component.variables.iter().filter(|v| !hierarchy.variable(**v).flow);
        let same = |v: &trellis_expr::VarId| from[v.index()] == to[v.index()];
        if taken == 0 {
            return states().all(same);
        }
        component.transitions.iter().filter(|t| t.event == taken).any(|t| {
            let becomes = |v: &trellis_expr::VarId| match t.updates.iter().find(|(w, _)| w == v) {
                Some(&(_, e)) => number(hierarchy, e, &here) == Some(to[v.index()]),
                None => same(v),
            };
            holds(hierarchy, t.guard, &here) && states().all(becomes)
        })
    })
}
