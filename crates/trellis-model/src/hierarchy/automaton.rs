//! A hierarchy as a control-flow automaton, for variables that decision diagrams cannot have, such as integers without bounds: then
//! predicates are asked of a solver.
//!
//! Three locations: the start, a configuration, and the error. The hierarchy is flattened first, so priorities are in guards; after each
//! event flows take any values that the assertion allows. Doing nothing adds nothing to that.

use trellis_expr::{StmtId, TermId, Terms, VarId};

use super::evidence::Trace;
use super::flatten::{flatten, stuck};
use super::{Domain, Hierarchy};
use crate::cfa::interpret::Trace as Run;
use crate::cfa::{Cfa, Edge, Kind, Location, LocationId};

/// The automaton of a question.
#[derive(Debug, Clone)]
pub struct Automaton {
    /// Its error location is reached if and only if a bad configuration can be.
    pub cfa: Cfa,
    /// For each edge, the flat event of the top.
    pub events: Vec<Option<usize>>,
    /// How many variables the hierarchy has; the automaton has some more.
    variables: usize,
}

/// What a flattened hierarchy does, in statements.
pub(crate) struct Statements {
    /// Expressions and statements.
    pub terms: Terms,
    /// The variables of the hierarchy, and then temporaries.
    pub variables: Vec<VarId>,
    /// Leads from anything to an initial configuration.
    pub start: StmtId,
    /// Flat events but ε, with what they do.
    pub steps: Vec<(usize, StmtId)>,
}

/// The statements of a flattened hierarchy.
pub(crate) fn statements(flat: &Hierarchy) -> Option<Statements> {
    let node = flat.components.first()?;
    let mut terms = flat.terms.clone();
    let all: Vec<VarId> = (0..flat.variables.len() as u32).map(VarId).collect();
    let (flows, states): (Vec<VarId>, Vec<VarId>) = all.iter().partition(|v| flat.variable(**v).flow);
    let next = |terms: &mut Terms, v: VarId| {
        let ty = terms.variable(v).ty;
        terms.declare(format!("@next {}", flat.variable(v).name), ty)
    };
    let temporaries: Vec<VarId> = states.iter().map(|&v| next(&mut terms, v)).collect();
    let assertion = terms.and(node.assertion.clone());
    let settle: Vec<StmtId> = {
        let mut parts: Vec<StmtId> = flows.iter().map(|&v| terms.havoc(v)).collect();
        parts.extend(members(flat, &flows, &mut terms));
        parts.push(terms.assume(assertion));
        parts
    };

    // The start: any values that are initial.
    let mut first = members(flat, &states, &mut terms);
    for &(v, value) in &node.init {
        let here = terms.var(v);
        let equal = terms.eq(here, value);
        first.push(terms.assume(equal));
    }
    let start = terms.seq(first.into_iter().chain(settle.iter().copied()));
    let mut steps = vec![];
    for t in node.transitions.iter().filter(|t| t.event != 0) {
        let mut parts = vec![terms.assume(t.guard)];
        // All at once: first what they become, then that they do.
        let temporary = |v: VarId| states.iter().position(|s| *s == v).map(|at| temporaries[at]);
        for &(v, e) in &t.updates {
            parts.push(terms.assign(temporary(v)?, e));
        }
        for &(v, _) in &t.updates {
            let value = terms.var(temporary(v)?);
            parts.push(terms.assign(v, value));
        }
        let written: Vec<VarId> = t.updates.iter().map(|(v, _)| *v).collect();
        parts.extend(members(flat, &written, &mut terms));
        parts.extend(&settle);
        steps.push((t.event, terms.seq(parts)));
    }
    let variables = all.into_iter().chain(temporaries).collect();
    Some(Statements { terms, variables, start, steps })
}

/// Can a configuration be reached in which a condition holds? Nothing if the flattened hierarchy would be too large.
pub fn automaton(hierarchy: &Hierarchy, bad: TermId, limit: usize) -> Option<Automaton> {
    let flat = flatten(hierarchy, limit)?;
    let Statements { mut terms, variables, start, steps } = statements(&flat)?;
    let mut bad = bad;
    if let Some(v) = hierarchy.deadlock_in(bad) {
        let map = [(v, stuck(&flat, &mut terms, limit)?)].into_iter().collect();
        bad = terms.substitute(bad, &map);
    }
    let wrong = terms.assume(bad);
    let location = |name: &str, kind: Kind| Location { name: name.into(), kind, place: None };
    let mut cfa = Cfa::new(terms, location("start", Kind::Plain));
    let here = cfa.add_location(location("configuration", Kind::Plain));
    let error = cfa.add_location(location("bad", Kind::Error));
    let mut events = vec![];
    let mut edge = |cfa: &mut Cfa, from: LocationId, stmt: StmtId, to: LocationId, event: Option<usize>| {
        cfa.add_edge(Edge { from, stmt, to, place: None });
        events.push(event);
    };
    let initial = cfa.initial;
    edge(&mut cfa, initial, start, here, None);
    edge(&mut cfa, here, wrong, error, None);
    for (event, stmt) in steps {
        edge(&mut cfa, here, stmt, here, Some(event));
    }
    cfa.variables = variables;
    Some(Automaton { cfa, events, variables: flat.variables.len() })
}

/// That variables whose domain is some of the literals have one of them. Other domains are types, and need no words.
fn members(flat: &Hierarchy, variables: &[VarId], terms: &mut Terms) -> Vec<StmtId> {
    let mut parts = vec![];
    for &v in variables {
        if let Domain::Literals(values) = &flat.variable(v).domain {
            let here = terms.var(v);
            let mut fits = vec![];
            for &n in values {
                let literal = terms.enum_lit(flat.literals, n);
                fits.push(terms.eq(here, literal));
            }
            let fits = terms.or(fits);
            parts.push(terms.assume(fits));
        }
    }
    parts
}

impl Automaton {
    /// A run of the automaton as a run of the hierarchy; nothing if a value is none that a machine word can have.
    pub fn trace(&self, run: &Run) -> Option<Trace> {
        let mut trace = Trace { configurations: vec![], events: vec![] };
        for (at, step) in run.steps.iter().enumerate() {
            let event = self.events[step.edge.index()];
            // The last edge leads to the error, and changes nothing.
            if event.is_none() && at > 0 {
                break;
            }
            trace.events.extend(event);
            let value = |n: usize| step.after.get(&VarId(n as u32))?.to_word();
            trace.configurations.push((0..self.variables).map(value).collect::<Option<Vec<i64>>>()?);
        }
        Some(trace)
    }
}
