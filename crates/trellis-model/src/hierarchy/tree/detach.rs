//! AltaRica's nodes as a tree (001 §5.4.1): each component is *detached*, that is, taken alone with its own variables, transitions
//! and assertion, and its configurations are the states of its behaviour. They are listed from the initial ones on, by any event at any
//! time; what cannot be reached then cannot be reached at all.
//!
//! 001 excludes assertions that constrain sub-nodes' variables. Here a component that speaks of them, in assertion, guard or update, is
//! *merged* with all that is below it: the meaning of that part is written out (by [`explicit`](crate::hierarchy::explicit)), and becomes one
//! behaviour. That is exact, because a component's meaning depends only on what is at or below it (001 Remark 5.1). If the part is
//! too large for that, the model is refused.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, VarId};

use super::apart::TooWide;
use super::{Behaviour, Malformed, Node, Tree};
use crate::hierarchy::explicit::{Meaning, holds, number, own_targets, valuation};
use crate::hierarchy::{Component, ComponentId, Hierarchy, TooManyEvents, flat};

/// Why there is no tree for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A component has too many configurations.
    #[error("{0} has more than {1} configurations or transitions; other engines do not list them")]
    Large(String, usize),
    /// A part of the tree that must be taken as one has too many configurations.
    #[error(
        "{0} speaks of `{1}`, which is below it, so both must be taken as one; that has more than {2} configurations or transitions; \
         other engines do not list them"
    )]
    Merged(String, String, usize),
    /// A component speaks of what is neither its own nor below it.
    #[error("{0} speaks of `{1}`, which is not below it")]
    Elsewhere(String, String),
    /// An initial value depends on what is elsewhere in the tree.
    #[error("the initial value of `{0}` depends on variables elsewhere in the tree")]
    Initial(String),
    /// What is asked cannot be taken apart.
    #[error(transparent)]
    Question(#[from] TooWide),
    /// Too many vectors.
    #[error(transparent)]
    Events(#[from] TooManyEvents),
    /// The tree is not one.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// What a node of the tree stands for.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The component at its top.
    pub component: ComponentId,
    /// Is all that is below it a part of it?
    pub merged: bool,
    /// Its variables.
    pub variables: Vec<VarId>,
    /// For each state of its behaviour, their values.
    pub configurations: Arc<Vec<Vec<i64>>>,
}

/// A hierarchy of AltaRica's as a tree.
#[derive(Debug, Clone)]
pub struct Detached {
    /// The tree.
    pub tree: Tree,
    /// What its nodes stand for.
    pub units: Vec<Unit>,
}

/// A tree with the same meaning; no behaviour has more configurations or transitions than the limit.
pub fn detach(hierarchy: &Hierarchy, limit: usize) -> Result<Detached, Error> {
    let mut all =
        Detaching { hierarchy, limit, initial: hierarchy.initial(hierarchy.top), nodes: vec![], units: vec![] };
    all.component(hierarchy.top)?;
    Ok(Detached { tree: Tree::new(all.nodes)?, units: all.units })
}

struct Detaching<'d> {
    hierarchy: &'d Hierarchy,
    limit: usize,
    initial: Vec<(VarId, TermId)>,
    nodes: Vec<Node>,
    units: Vec<Unit>,
}

impl Detaching<'_> {
    fn component(&mut self, c: ComponentId) -> Result<usize, Error> {
        let h = self.hierarchy;
        let component = h.component(c);
        let (mut node, unit) = match reads_below(h, c) {
            Some(v) => self.merged(c, v)?,
            None => {
                let mut subs = vec![];
                for &sub in &component.subs {
                    subs.push(self.component(sub)?);
                }
                self.alone(c, subs)?
            }
        };
        // Occurrences of the same node have the same behaviour: it is kept once.
        let sibling = |n: &&Node| n.events == node.events && n.behaviour == node.behaviour;
        if let Some(behaviour) = self.nodes.iter().find(sibling).map(|n| n.behaviour.clone()) {
            node.behaviour = behaviour;
        }
        self.nodes.push(node);
        self.units.push(unit);
        Ok(self.nodes.len() - 1)
    }

    /// Initial values of some variables, which must not depend on others.
    fn initial_of(&self, variables: &[VarId]) -> Result<Vec<(VarId, TermId)>, Error> {
        let h = self.hierarchy;
        let here: Vec<(VarId, TermId)> = self.initial.iter().copied().filter(|(v, _)| variables.contains(v)).collect();
        match here.iter().find(|(_, t)| h.terms.free_vars(*t).iter().any(|v| !variables.contains(v))) {
            Some((v, _)) => Err(Error::Initial(h.variable(*v).name.clone())),
            None => Ok(here),
        }
    }

    // One component.

    fn alone(&self, c: ComponentId, subs: Vec<usize>) -> Result<(Node, Unit), Error> {
        let h = self.hierarchy;
        let component = h.component(c);
        let choices = component.choices(h)?;
        let count = choices.len();
        let vectors = choices.iter().map(|c| c.events.iter().map(|&e| e as u32).collect()).collect();
        let higher = |low: usize| (0..count).filter(|&high| flat::lower(h, c, &choices, low, high)).collect();
        let listed = Listing::of(h, c, &self.initial_of(&component.variables)?, self.limit)
            .ok_or_else(|| Error::Large(component.to_string(), self.limit))?;
        let node = Node {
            name: component.path.clone(),
            events: component.events.clone(),
            subs,
            vectors,
            higher: (0..count).map(higher).collect(),
            behaviour: Arc::new(listed.behaviour(h, &component.variables)),
        };
        let configurations = Arc::new(listed.configurations);
        Ok((node, Unit { component: c, merged: false, variables: component.variables.clone(), configurations }))
    }

    // A component with all that is below it.

    fn merged(&self, c: ComponentId, because: VarId) -> Result<(Node, Unit), Error> {
        let h = self.hierarchy;
        let component = h.component(c);
        let large = || Error::Merged(component.to_string(), h.variable(because).name.clone(), self.limit);
        let variables = h.variables_below(c);
        let mut part = part(h, c);
        let top = part.top;
        for component in &part.components {
            if let Some(v) = reads(h, component).find(|v| !variables.contains(v)) {
                return Err(Error::Elsewhere(component.to_string(), h.variable(v).name.clone()));
            }
        }
        part.components[top.index()].init = self.initial_of(&variables)?;
        let meaning = Meaning::of(&part, self.limit).map_err(|_| large())?;
        let level = &meaning.components[top.index()];
        let initial = meaning.initial(&part, top);
        let reached: Vec<usize> = meaning.reachable(top, &initial).into_iter().collect();
        let number_of: FxHashMap<usize, u32> = reached.iter().enumerate().map(|(n, &q)| (q, n as u32)).collect();
        let mut moves = vec![vec![]; reached.len()];
        for (from, event, to) in &level.transitions {
            if let (Some(&from), Some(&to)) = (number_of.get(from), number_of.get(to)) {
                moves[from as usize].push((meaning.levels.of(top)[*event].label as u32, to));
            }
        }
        let configurations: Vec<Vec<i64>> = reached.iter().map(|&q| level.configurations[q].clone()).collect();
        let states = configurations.iter().map(|values| show(h, &variables, values)).collect();
        let initial = initial.iter().filter_map(|q| number_of.get(q).copied()).collect();
        let count = component.events.len();
        let node = Node {
            name: component.path.clone(),
            events: component.events.clone(),
            subs: vec![],
            vectors: (0..count as u32).map(|e| vec![e]).collect(),
            higher: vec![vec![]; count],
            behaviour: Arc::new(Behaviour::new(states, initial, moves)),
        };
        Ok((node, Unit { component: c, merged: true, variables, configurations: Arc::new(configurations) }))
    }
}

/// A variable of another component that a component reads.
fn reads_below(h: &Hierarchy, c: ComponentId) -> Option<VarId> {
    reads(h, h.component(c)).find(|v| h.variable(*v).owner != c)
}

/// The variables that a component speaks of.
fn reads<'h>(h: &'h Hierarchy, component: &'h Component) -> impl Iterator<Item = VarId> + 'h {
    let transitions = component.transitions.iter().flat_map(|t| t.updates.iter().map(|u| u.1).chain([t.guard]));
    component.assertion.iter().copied().chain(transitions).flat_map(|t| h.terms.free_vars(t))
}

/// The part of a hierarchy at or below a component. Variables keep their numbers.
fn part(h: &Hierarchy, c: ComponentId) -> Hierarchy {
    fn collect(h: &Hierarchy, c: ComponentId, all: &mut Vec<Component>) -> ComponentId {
        let subs = h.component(c).subs.iter().map(|&sub| collect(h, sub, all)).collect();
        all.push(Component { subs, ..h.component(c).clone() });
        ComponentId(all.len() as u32 - 1)
    }
    let mut components = vec![];
    let top = collect(h, c, &mut components);
    Hierarchy { terms: h.terms.clone(), literals: h.literals, variables: h.variables.clone(), components, top }
}

fn show(h: &Hierarchy, variables: &[VarId], values: &[i64]) -> String {
    let one = |(&v, &n): (&VarId, &i64)| format!("{} = {}", h.variable(v).name, h.show_value(v, n));
    variables.iter().zip(values).map(one).collect::<Vec<_>>().join(", ")
}

/// The configurations of one component alone.
#[derive(Default)]
struct Listing {
    configurations: Vec<Vec<i64>>,
    initial: Vec<u32>,
    moves: Vec<Vec<(u32, u32)>>,
    /// For the values of states (and zeros for flows), which configurations have them.
    numbers: FxHashMap<Vec<i64>, std::ops::Range<usize>>,
}

impl Listing {
    /// Lists them, if there are no more than the limit.
    fn of(h: &Hierarchy, c: ComponentId, initial: &[(VarId, TermId)], limit: usize) -> Option<Listing> {
        let component = h.component(c);
        let order = &component.variables;
        let mut listing = Listing::default();
        for values in starts(h, order, initial, limit)? {
            let range = listing.with_states(h, c, values, limit)?;
            for n in range {
                let here = valuation(h, order, &listing.configurations[n]);
                let fits = |&(v, t): &(VarId, TermId)| number(h, t, &here) == here[&v].to_word();
                if initial.iter().all(fits) {
                    listing.initial.push(n as u32);
                }
            }
        }
        // A state is initial for some values of its flows, and may take others without any event.
        let mut total = 0;
        while listing.moves.len() < listing.configurations.len() {
            let from = listing.moves.len();
            let here = valuation(h, order, &listing.configurations[from]);
            let mut moves = vec![];
            for event in 0..component.events.len() {
                for values in own_targets(h, c, event, &here) {
                    moves.extend(listing.with_states(h, c, values, limit)?.map(|to| (event as u32, to as u32)));
                }
            }
            total += moves.len();
            if total > limit {
                return None;
            }
            listing.moves.push(moves);
        }
        Some(listing)
    }

    /// The configurations with these values of states; entries of flows mean nothing.
    fn with_states(
        &mut self,
        h: &Hierarchy,
        c: ComponentId,
        mut values: Vec<i64>,
        limit: usize,
    ) -> Option<std::ops::Range<usize>> {
        let component = h.component(c);
        let order = &component.variables;
        let flows: Vec<usize> = (0..order.len()).filter(|&i| h.variable(order[i]).flow).collect();
        flows.iter().for_each(|&i| values[i] = 0);
        if let Some(range) = self.numbers.get(&values) {
            return Some(range.clone());
        }
        let mut rows = vec![values.clone()];
        for &i in &flows {
            let domain = h.variable(order[i]).domain.values(limit as u64)?;
            if rows.len().saturating_mul(domain.len()) > limit {
                return None;
            }
            let with = |row: &Vec<i64>| {
                let set = |n: &i64| {
                    let mut row = row.clone();
                    row[i] = *n;
                    row
                };
                domain.iter().map(set).collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(with).collect();
        }
        let first = self.configurations.len();
        for row in rows {
            let here = valuation(h, order, &row);
            if component.assertion.iter().all(|&a| holds(h, a, &here)) {
                self.configurations.push(row);
            }
        }
        let range = first..self.configurations.len();
        self.numbers.insert(values, range.clone());
        (range.end <= limit).then_some(range)
    }

    fn behaviour(&self, h: &Hierarchy, variables: &[VarId]) -> Behaviour {
        // Names are those inside the node, so that occurrences of the same node are equal.
        let path = variables.first().map_or("", |&v| h.component(h.variable(v).owner).path.as_str());
        let local = |name: String| if path.is_empty() { name } else { name.replace(&format!("{path}."), "") };
        let states = self.configurations.iter().map(|values| local(show(h, variables, values))).collect();
        Behaviour::new(states, self.initial.clone(), self.moves.clone())
    }
}

/// Values of states that a component may start with; entries of flows mean nothing.
fn starts(h: &Hierarchy, order: &[VarId], initial: &[(VarId, TermId)], limit: usize) -> Option<Vec<Vec<i64>>> {
    let mut rows: Vec<Vec<i64>> = vec![vec![]];
    for &v in order {
        let fixed = initial.iter().find(|(w, t)| *w == v && h.terms.free_vars(*t).is_empty());
        let values = match fixed {
            _ if h.variable(v).flow => vec![0],
            Some(&(_, t)) => {
                let value = number(h, t, &Default::default());
                value.filter(|&n| h.variable(v).domain.contains(n)).into_iter().collect()
            }
            None => h.variable(v).domain.values(limit as u64)?,
        };
        if rows.len().saturating_mul(values.len()) > limit {
            return None;
        }
        rows = rows.iter().flat_map(|row| values.iter().map(|&n| [row.as_slice(), &[n]].concat())).collect();
    }
    Some(rows)
}
