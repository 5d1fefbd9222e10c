//! The meaning of a hierarchy, written plainly: all configurations of each component, all its transitions, one level after the
//! other. Slow, and only for small models; it is what everything else is compared with.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{TermId, Value, VarId};

use super::plain::Plain;
use super::{ComponentId, Hierarchy, TooManyEvents};

/// Why a model cannot be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// Too many flat events.
    #[error(transparent)]
    Events(#[from] TooManyEvents),
    /// Too many configurations or transitions.
    #[error("{0} has too many configurations to list them")]
    Configurations(String),
}

/// All there is to know of one component.
#[derive(Debug, Clone, Default)]
pub struct Level {
    /// Its configurations: values in the order of [`Hierarchy::variables_below`].
    pub configurations: Vec<Vec<i64>>,
    /// From which configuration, by which flat event, to which.
    pub transitions: BTreeSet<(usize, usize, usize)>,
    /// The number of a configuration, by its own values and the numbers of its parts.
    numbers: FxHashMap<(Vec<i64>, Vec<usize>), usize>,
    /// The same the other way round.
    parts: Vec<(Vec<i64>, Vec<usize>)>,
}

/// The meaning of all components.
#[derive(Debug, Clone)]
pub struct Meaning {
    /// Their flat events.
    pub levels: Plain,
    /// For each component, its configurations and transitions.
    pub components: Vec<Level>,
}

impl Meaning {
    /// Lists everything, if no component has more configurations or transitions than the limit.
    pub fn of(hierarchy: &Hierarchy, limit: usize) -> Result<Meaning, TooLarge> {
        let mut meaning = Meaning { levels: Plain::of(hierarchy)?, components: vec![] };
        for number in 0..hierarchy.components.len() {
            let level = level(hierarchy, &meaning, ComponentId(number as u32), limit);
            meaning.components.push(level.ok_or(TooLarge::Configurations(hierarchy.components[number].to_string()))?);
        }
        Ok(meaning)
    }

    /// The configurations that a component may start in.
    pub fn initial(&self, hierarchy: &Hierarchy, c: ComponentId) -> Vec<usize> {
        let (order, init) = (hierarchy.variables_below(c), hierarchy.initial(c));
        let all = &self.components[c.index()].configurations;
        let starts = |values: &Vec<i64>| {
            let here = valuation(hierarchy, &order, values);
            init.iter().all(|&(v, t)| number(hierarchy, t, &here) == here[&v].to_word())
        };
        (0..all.len()).filter(|&n| starts(&all[n])).collect()
    }

    /// The configurations in which a condition over the variables of a component holds.
    pub fn satisfying(&self, hierarchy: &Hierarchy, c: ComponentId, condition: TermId) -> Vec<usize> {
        let order = hierarchy.variables_below(c);
        let Level { configurations, transitions, .. } = &self.components[c.index()];
        let deadlock = hierarchy.deadlock_in(condition);
        let satisfies = |&n: &usize| {
            let mut here = valuation(hierarchy, &order, &configurations[n]);
            let stuck = || transitions.range((n, 1, 0)..(n + 1, 0, 0)).next().is_none();
            here.extend(deadlock.map(|v| (v, Value::Bool(stuck()))));
            holds(hierarchy, condition, &here)
        };
        (0..configurations.len()).filter(satisfies).collect()
    }

    /// The configurations that can be reached from some of them.
    pub fn reachable(&self, c: ComponentId, from: &[usize]) -> BTreeSet<usize> {
        let transitions = &self.components[c.index()].transitions;
        let mut seen: BTreeSet<usize> = from.iter().copied().collect();
        let mut waiting = from.to_vec();
        while let Some(q) = waiting.pop() {
            for &(_, _, r) in transitions.range((q, 0, 0)..(q + 1, 0, 0)) {
                if seen.insert(r) {
                    waiting.push(r);
                }
            }
        }
        seen
    }
}

/// Values of some variables.
pub fn valuation(hierarchy: &Hierarchy, order: &[VarId], values: &[i64]) -> Valuation {
    let value = |(&v, &n): (&VarId, &i64)| (v, Value::from_word(hierarchy.terms.variable(v).ty, n));
    order.iter().zip(values).map(value).collect()
}

/// Does a condition hold? What has no value does not.
pub fn holds(hierarchy: &Hierarchy, condition: TermId, here: &Valuation) -> bool {
    eval(&hierarchy.terms, condition, here, &mut NoHost).ok().and_then(|v| v.as_bool()) == Some(true)
}

/// The value of an expression as a word, if it has one.
pub fn number(hierarchy: &Hierarchy, expression: TermId, here: &Valuation) -> Option<i64> {
    eval(&hierarchy.terms, expression, here, &mut NoHost).ok().and_then(|v| v.to_word())
}

/// All rows with one entry of each list.
fn product<T: Clone>(lists: &[Vec<T>], limit: usize) -> Option<Vec<Vec<T>>> {
    let mut rows = vec![vec![]];
    for list in lists {
        if rows.len().saturating_mul(list.len()) > limit {
            return None;
        }
        let longer = |row: &Vec<T>| {
            let extend = |entry: &T| row.iter().cloned().chain([entry.clone()]).collect::<Vec<T>>();
            list.iter().map(extend).collect::<Vec<_>>()
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    Some(rows)
}

fn level(hierarchy: &Hierarchy, below: &Meaning, c: ComponentId, limit: usize) -> Option<Level> {
    let component = hierarchy.component(c);
    let order = hierarchy.variables_below(c);
    let mut level = Level::default();

    // Configurations: all values of its own variables beside all configurations of its sub-nodes, if the assertion holds.
    let domain = |&v: &VarId| hierarchy.variable(v).domain.values(limit as u64);
    let domains: Vec<Vec<i64>> = component.variables.iter().map(domain).collect::<Option<_>>()?;
    let own = product(&domains, limit)?;
    let subs = component.subs.iter().map(|s| (0..below.components[s.index()].configurations.len()).collect());
    let subs = product(&subs.collect::<Vec<Vec<usize>>>(), limit)?;
    if own.len().saturating_mul(subs.len()) > limit {
        return None;
    }
    for own in &own {
        for parts in &subs {
            let mut values = own.clone();
            for (sub, &part) in component.subs.iter().zip(parts) {
                values.extend(&below.components[sub.index()].configurations[part]);
            }
            let here = valuation(hierarchy, &order, &values);
            if component.assertion.iter().all(|&a| holds(hierarchy, a, &here)) {
                level.numbers.insert((own.clone(), parts.clone()), level.configurations.len());
                level.parts.push((own.clone(), parts.clone()));
                level.configurations.push(values);
            }
        }
    }

    // Transitions: the component's own, beside one of each sub-node, to any configuration that fits.
    let events = below.levels.of(c);
    for (from, values) in level.configurations.iter().enumerate() {
        let here = valuation(hierarchy, &order, values);
        for (number, event) in events.iter().enumerate() {
            let moved = |(sub, (&part, &event)): (&ComponentId, (&usize, &usize))| {
                let all = &below.components[sub.index()].transitions;
                all.range((part, event, 0)..(part, event + 1, 0)).map(|t| t.2).collect()
            };
            let parts = component.subs.iter().zip(level.parts[from].1.iter().zip(&event.subs)).map(moved);
            let parts = product(&parts.collect::<Vec<Vec<usize>>>(), limit)?;
            if parts.is_empty() {
                continue;
            }
            for states in own_targets(hierarchy, c, event.label, &here) {
                // Flows are free.
                let domain = |(i, &v): (usize, &VarId)| match hierarchy.variable(v).flow {
                    true => domains[i].clone(),
                    false => vec![states[i]],
                };
                let own = component.variables.iter().enumerate().map(domain);
                for own in product(&own.collect::<Vec<_>>(), limit)? {
                    for parts in &parts {
                        if let Some(&to) = level.numbers.get(&(own.clone(), parts.clone())) {
                            level.transitions.insert((from, number, to));
                        }
                    }
                }
            }
        }
        if level.transitions.len() > limit {
            return None;
        }
    }

    // Priorities: what is lower than something that can happen is taken away.
    let possible: BTreeSet<(usize, usize)> =
        level.transitions.iter().map(|&(from, event, _)| (from, events[event].choice)).collect();
    level.transitions.retain(|&(from, event, _)| {
        let mut here = possible.range((from, 0)..(from + 1, 0));
        !here.any(|&(_, high)| below.levels.lower(hierarchy, c, events[event].choice, high))
    });
    Some(level)
}

/// What the component's own variables may become by one of its events; entries of flows mean nothing.
pub(super) fn own_targets(hierarchy: &Hierarchy, c: ComponentId, event: usize, here: &Valuation) -> Vec<Vec<i64>> {
    let component = hierarchy.component(c);
    let current = |v: &VarId| here[v].to_word().unwrap_or(0);
    let values: Vec<i64> = component.variables.iter().map(current).collect();
    if event == 0 {
        return vec![values];
    }
    let mut all = vec![];
    'transitions: for t in component.transitions.iter().filter(|t| t.event == event) {
        if !holds(hierarchy, t.guard, here) {
            continue;
        }
        let mut after = values.clone();
        for &(v, e) in &t.updates {
            match number(hierarchy, e, here).filter(|&n| hierarchy.variable(v).domain.contains(n)) {
                Some(n) => {
                    let at = component.variables.iter().position(|w| *w == v);
                    at.into_iter().for_each(|at| after[at] = n);
                }
                None => continue 'transitions,
            }
        }
        all.push(after);
    }
    all
}
