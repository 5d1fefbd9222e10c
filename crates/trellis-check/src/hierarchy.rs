//! Evidence about hierarchies of nodes: a run is taken step by step, a set of states is checked to be a proof.
//!
//! A run is replayed by [`Walker`], which knows nothing of relations; only where it gives up, because flows have too many values, is it
//! asked of the relations whether something of higher priority could have happened instead. A set of states is checked by one step
//! of every event on relations ([`certify`]). The engines use the same relations, so what these say is compared with what is
//! said plainly ([`compare`]): on all configurations of a small model, along random runs of a large one. Which flat events there are, and
//! which give way to which, is computed here anew ([`Plain`]) and compared in full ([`same_events`]).

use std::time::{Duration, Instant};

use trellis_domain::relation::{self, Relation};
use trellis_expr::{TermId, Value};
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::explicit::{Meaning, holds, number, valuation};
use trellis_model::hierarchy::plain::Plain;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_model::hierarchy::walk::{Changes, Walker};
use trellis_model::hierarchy::{ComponentId, FlatEvents, Hierarchy, Levels};

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
    /// The flat events are not those of the model.
    #[error("flat events, computed anew: {0}")]
    Events(String),
    /// There was not enough memory to look.
    #[error(transparent)]
    Relation(#[from] relation::Error),
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

/// Are these the flat events of the model, and do they give way to each other as its vectors and priorities say?
pub fn same_events(hierarchy: &Hierarchy, levels: &Levels) -> Result<(), Rejection> {
    let plain = Plain::of(hierarchy).map_err(|e| Rejection::Events(e.to_string()))?;
    plain.differs(hierarchy, levels).map_or(Ok(()), |what| Err(Rejection::Events(what)))
}

/// How many configurations a model has whose configurations are all looked at.
const SMALL: usize = 3_000;

/// How many random runs are taken otherwise, how long they are, and how long that may take.
const RUNS: u64 = 20;
const STEPS: usize = 60;
const PATIENCE: Duration = Duration::from_millis(500);

/// Does a set of states have what a proof must have when steps are taken plainly? How many configurations were looked at.
pub fn compare(
    hierarchy: &Hierarchy,
    symbolic: &Symbolic,
    bad: TermId,
    certificate: &Certificate,
) -> Result<usize, Rejection> {
    let s = &symbolic.space;
    let refuse = |text: &str| Err(Rejection::Proof(text.into()));
    same_events(hierarchy, &symbolic.levels)?;
    let inside = |values: &[i64]| s.meets(&symbolic.single(values, false)?, &certificate.states);
    if let Ok(meaning) = Meaning::of(hierarchy, SMALL) {
        let level = &meaning.components[hierarchy.top.index()];
        // From the order of the tree to numbers.
        let order = hierarchy.variables_below(hierarchy.top);
        let mut known = vec![];
        for configuration in &level.configurations {
            let mut values = vec![0; configuration.len()];
            order.iter().zip(configuration).for_each(|(v, &value)| values[v.index()] = value);
            known.push(inside(&values)?);
        }
        if meaning.initial(hierarchy, hierarchy.top).into_iter().any(|q| !known[q]) {
            return refuse("an initial configuration is not in the set");
        }
        if meaning.satisfying(hierarchy, hierarchy.top, bad).into_iter().any(|q| known[q]) {
            return refuse("a bad configuration is in the set");
        }
        if level.transitions.iter().any(|&(from, _, to)| known[from] && !known[to]) {
            return refuse("a transition leads out of the set");
        }
        return Ok(known.len());
    }
    let Ok(walker) = Walker::new(hierarchy) else { return Ok(0) };
    let order: Vec<_> = (0..hierarchy.variables.len() as u32).map(trellis_expr::VarId).collect();
    let Some(start) = symbolic.pick(&symbolic.configurations_of(&symbolic.initial(hierarchy)?)?) else { return Ok(0) };
    let started = Instant::now();
    let (mut looked, mut random) = (0, 0x9E37_79B9_7F4A_7C15_u64);
    for _ in 0..RUNS {
        let mut here = start.clone();
        for _ in 0..STEPS {
            if !inside(&here)? {
                return refuse("a configuration that can be reached is not in the set");
            }
            let moves = walker.moves(&here).map(|mut moves| {
                moves.retain(|(event, _)| *event != 0);
                moves
            });
            let mut values = valuation(hierarchy, &order, &here);
            let stuck = moves.as_ref().ok().map(|moves| Value::Bool(moves.is_empty()));
            values.extend(hierarchy.deadlock_in(bad).zip(stuck));
            if holds(hierarchy, bad, &values) {
                return refuse("a bad configuration can be reached");
            }
            looked += 1;
            let Ok(moves) = moves else { return Ok(looked) };
            if moves.is_empty() || started.elapsed() > PATIENCE {
                break;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (_, changes) = &moves[(random >> 33) as usize % moves.len()];
            changes.iter().for_each(|&(v, value)| here[v.index()] = value);
            match walker.configuration(&here) {
                Ok(Some(next)) => here = next,
                Ok(None) => return refuse("an event leads to states without a configuration"),
                Err(_) => return Ok(looked),
            }
        }
    }
    Ok(looked)
}

/// Is this a run from an initial configuration to one where the condition holds? The relations are asked only where steps cannot be
/// taken plainly, and need not be there.
pub fn replay(hierarchy: &Hierarchy, symbolic: Option<&Symbolic>, bad: TermId, trace: &Trace) -> Result<(), Rejection> {
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
    let walker = Walker::new(hierarchy).map_err(|e| Rejection::Run(e.to_string()))?;
    if let Some(m) = symbolic {
        same_events(hierarchy, &m.levels)?;
    }
    let known = walker.levels.of(hierarchy.top).len();
    for (at, &event) in trace.events.iter().enumerate() {
        let (from, to) = (&trace.configurations[at], &trace.configurations[at + 1]);
        if event >= known {
            return refuse(at, "there is no such event");
        }
        if !moves(hierarchy, &walker.levels, event, from, to) {
            return refuse(at, "the event does not lead to the next configuration");
        }
        // Priorities.
        if let Ok(possible) = walker.moves(from) {
            let leads = |changes: &Changes| {
                let after = |v: usize| {
                    let changed = changes.iter().find(|(w, _)| w.index() == v);
                    changed.map_or(from[v], |&(_, value)| value)
                };
                (0..from.len()).all(|v| hierarchy.variables[v].flow || after(v) == to[v])
            };
            if !possible.iter().any(|(n, changes)| *n == event && leads(changes)) {
                return refuse(at, "the event is not possible here");
            }
            continue;
        }
        let Some(m) = symbolic else { return refuse(at, "flows have too many values to say whether this is possible") };
        let Some(relation) = m.events.iter().find(|e| e.number == event) else {
            return refuse(at, "the event is not possible");
        };
        let after = m.post_from(relation, &m.single(from, true)?)?;
        if !m.space.meets(&after, &m.single(to, false)?)? {
            return refuse(at, "the event is not possible here");
        }
    }
    let here = &trace.configurations[trace.events.len()];
    let mut last = valuation(hierarchy, &order, here);
    if let Some(v) = hierarchy.deadlock_in(bad) {
        let stuck = match (walker.moves(here), symbolic) {
            (Ok(possible), _) => possible.iter().all(|(event, _)| *event == 0),
            (Err(_), Some(m)) => m.space.meets(&m.stuck()?, &m.single(here, true)?)?,
            (Err(_), None) => return refuse(trace.events.len(), "flows have too many values to say what is possible"),
        };
        last.insert(v, Value::Bool(stuck));
    }
    if !holds(hierarchy, bad, &last) {
        return refuse(trace.events.len(), "the last configuration is not what was looked for");
    }
    Ok(())
}

/// Do the components' own transitions lead from one configuration to the other, as far as states are concerned?
fn moves(hierarchy: &Hierarchy, events: &FlatEvents, event: usize, from: &[i64], to: &[i64]) -> bool {
    let order: Vec<_> = (0..hierarchy.variables.len() as u32).map(trellis_expr::VarId).collect();
    let here = valuation(hierarchy, &order, from);
    let parts = events.parts(hierarchy, hierarchy.top, event);
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
