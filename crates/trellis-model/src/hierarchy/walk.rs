//! The meaning of a hierarchy at one configuration: what can happen here, written plainly, level by level from below.
//!
//! Shares nothing with the relations, not even the list of flat events ([`super::plain`]), so it is what traces are replayed with and what relations are compared
//! with on models that are too large to be listed ([`super::explicit`]). Whether flows have values that the assertions allow is found by
//! trying, one cluster of assertions after the other; there is a limit to that.

mod all;

use std::borrow::Cow;
use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Value, VarId};

use super::explicit::{holds, number, valuation};
use super::plain::Plain;
use super::{ComponentId, Hierarchy, TooManyEvents};

/// How often assertions are evaluated for one question, and how many ways an event may have.
const MAX_EFFORT: u64 = 200_000;

/// It would take too long to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooHard;

/// New values of state variables; all others stay as they are.
pub type Changes = Vec<(VarId, i64)>;

/// Assertions that share flows.
#[derive(Debug, Clone)]
struct Cluster {
    flows: Vec<VarId>,
    /// Each with its flows.
    assertions: Vec<(TermId, Vec<VarId>)>,
    /// All variables of them.
    variables: FxHashSet<VarId>,
}

/// A hierarchy, to be walked through.
pub struct Walker<'h> {
    hierarchy: Cow<'h, Hierarchy>,
    /// Its flat events.
    pub levels: Plain,
    /// For each component, the assertions at or below it.
    clusters: Vec<Vec<Cluster>>,
    effort: Cell<u64>,
}

impl<'h> Walker<'h> {
    /// A hierarchy, to be walked through.
    pub fn new(hierarchy: &'h Hierarchy) -> Result<Walker<'h>, TooManyEvents> {
        Walker::of(Cow::Borrowed(hierarchy))
    }

    /// The same for a hierarchy that the walker may keep.
    pub fn of(hierarchy: Cow<'h, Hierarchy>) -> Result<Walker<'h>, TooManyEvents> {
        let levels = Plain::of(&hierarchy)?;
        let all: Vec<_> =
            (0..hierarchy.components.len()).map(|n| clusters(&hierarchy, ComponentId(n as u32))).collect();
        Ok(Walker { hierarchy, levels, clusters: all, effort: Cell::new(0) })
    }

    /// What is walked through.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    fn valuation(&self, values: &[i64]) -> Valuation {
        let order: Vec<VarId> = (0..values.len() as u32).map(VarId).collect();
        valuation(&self.hierarchy, &order, values)
    }

    fn spend(&self) -> Result<(), TooHard> {
        self.effort.set(self.effort.get() + 1);
        if self.effort.get() > MAX_EFFORT { Err(TooHard) } else { Ok(()) }
    }

    /// What can happen at a configuration (the values of all variables, by number): flat events of the top, with what they change.
    pub fn moves(&self, here: &[i64]) -> Result<Vec<(usize, Changes)>, TooHard> {
        self.effort.set(0);
        self.level(self.hierarchy.top, &self.valuation(here))
    }

    fn level(&self, c: ComponentId, here: &Valuation) -> Result<Vec<(usize, Changes)>, TooHard> {
        let component = self.hierarchy.component(c);
        let mut subs: Vec<FxHashMap<usize, Vec<Changes>>> = vec![];
        for &sub in &component.subs {
            let mut by_event: FxHashMap<usize, Vec<Changes>> = FxHashMap::default();
            for (event, changes) in self.level(sub, here)? {
                by_event.entry(event).or_default().push(changes);
            }
            subs.push(by_event);
        }
        let own: Vec<Vec<Changes>> = (0..component.events.len()).map(|e| self.own(c, e, here)).collect();
        let mut all = vec![];
        for (n, event) in self.levels.of(c).iter().enumerate() {
            let mut ways = own[event.label].clone();
            for (sub, below) in subs.iter().zip(&event.subs) {
                let Some(list) = sub.get(below).filter(|_| !ways.is_empty()) else {
                    ways.clear();
                    break;
                };
                let longer = |way: &Changes| {
                    let way = way.clone();
                    list.iter()
                        .map(move |more| way.iter().chain(more).copied().collect::<Changes>())
                        .collect::<Vec<_>>()
                };
                ways = ways.iter().flat_map(longer).collect();
                if ways.len() as u64 > MAX_EFFORT {
                    return Err(TooHard);
                }
            }
            for mut way in ways {
                way.sort_unstable();
                if self.allowed(c, &way, here)? && !all.contains(&(n, way.clone())) {
                    all.push((n, way));
                }
            }
        }
        // What is lower than something that can happen is taken away.
        let events = self.levels.of(c);
        let possible: FxHashSet<usize> = all.iter().map(|(n, _)| events[*n].choice).collect();
        let better = |choice: usize| possible.iter().any(|&high| self.levels.lower(&self.hierarchy, c, choice, high));
        let stays: FxHashMap<usize, bool> = possible.iter().map(|&choice| (choice, !better(choice))).collect();
        all.retain(|(n, _)| stays[&events[*n].choice]);
        Ok(all)
    }

    /// What an event of a component does to its own variables, in all ways.
    fn own(&self, c: ComponentId, event: usize, here: &Valuation) -> Vec<Changes> {
        if event == 0 {
            return vec![vec![]];
        }
        let fits = |&(v, e): &(VarId, TermId)| {
            let value = number(&self.hierarchy, e, here)?;
            self.hierarchy.variable(v).domain.contains(value).then_some((v, value))
        };
        let transitions = self.hierarchy.component(c).transitions.iter().filter(|t| t.event == event);
        let possible = transitions.filter(|t| holds(&self.hierarchy, t.guard, here));
        possible.filter_map(|t| t.updates.iter().map(fits).collect()).collect()
    }

    /// Do flows at or below a component have values that the assertions there allow, after some changes of a configuration?
    fn allowed(&self, c: ComponentId, changes: &Changes, here: &Valuation) -> Result<bool, TooHard> {
        let mut there = here.clone();
        for &(v, value) in changes {
            there.insert(v, Value::from_word(self.hierarchy.terms.variable(v).ty, value));
        }
        for cluster in &self.clusters[c.index()] {
            // What does not change is allowed as it is.
            let touched = changes.iter().any(|(v, _)| cluster.variables.contains(v));
            if touched && !self.solve(cluster, &cluster.flows, &mut there)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A configuration with given values of state variables, if there is one; values of flows that are given do not matter.
    pub fn configuration(&self, states: &[i64]) -> Result<Option<Vec<i64>>, TooHard> {
        self.effort.set(0);
        let mut here = self.valuation(states);
        for cluster in &self.clusters[self.hierarchy.top.index()] {
            if !self.solve(cluster, &cluster.flows, &mut here)? {
                return Ok(None);
            }
        }
        // A flow that no assertion mentions keeps what it was given, if that is a value of it.
        let value = |n: usize| here[&VarId(n as u32)].to_word().unwrap_or(0);
        Ok(Some((0..states.len()).map(value).collect()))
    }

    /// Are these values of all variables within their domains, and do all assertions hold?
    pub fn is_configuration(&self, values: &[i64]) -> bool {
        let h = &self.hierarchy;
        let here = self.valuation(values);
        values.len() == h.variables.len()
            && h.variables.iter().zip(values).all(|(v, n)| v.domain.contains(*n))
            && h.components.iter().flat_map(|c| &c.assertion).all(|&a| holds(h, a, &here))
    }

    /// Finds values of some flows of a cluster.
    fn solve(&self, cluster: &Cluster, left: &[VarId], here: &mut Valuation) -> Result<bool, TooHard> {
        // Assertions whose flows are all known must hold; of the others, the one with the fewest unknown flows comes next.
        let mut next: Option<(usize, VarId)> = None;
        for (assertion, flows) in &cluster.assertions {
            let unknown: Vec<VarId> = flows.iter().copied().filter(|f| left.contains(f)).collect();
            match unknown.first() {
                None => {
                    self.spend()?;
                    if !holds(&self.hierarchy, *assertion, here) {
                        return Ok(false);
                    }
                }
                Some(&flow) if next.is_none_or(|(n, _)| unknown.len() < n) => next = Some((unknown.len(), flow)),
                _ => {}
            }
        }
        let Some((_, flow)) = next else { return Ok(true) };
        let rest: Vec<VarId> = left.iter().copied().filter(|f| *f != flow).collect();
        let ty = self.hierarchy.terms.variable(flow).ty;
        for value in self.hierarchy.variable(flow).domain.values(MAX_EFFORT).ok_or(TooHard)? {
            self.spend()?;
            here.insert(flow, Value::from_word(ty, value));
            if self.solve(cluster, &rest, here)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The assertions at or below a component, in clusters.
fn clusters(hierarchy: &Hierarchy, c: ComponentId) -> Vec<Cluster> {
    let mut waiting = vec![c];
    let mut all: Vec<Cluster> = vec![];
    while let Some(c) = waiting.pop() {
        let component = hierarchy.component(c);
        waiting.extend(&component.subs);
        for &assertion in &component.assertion {
            let variables: FxHashSet<VarId> = hierarchy.terms.free_vars(assertion).into_iter().collect();
            let flows: Vec<VarId> = variables.iter().copied().filter(|v| hierarchy.variable(*v).flow).collect();
            let mut one = Cluster { flows: flows.clone(), assertions: vec![(assertion, flows)], variables };
            all.retain_mut(|other| {
                let apart = other.flows.iter().all(|f| !one.flows.contains(f));
                if !apart {
                    let more = other.flows.iter().filter(|f| !one.flows.contains(f)).copied().collect::<Vec<_>>();
                    one.flows.extend(more);
                    one.assertions.append(&mut other.assertions);
                    one.variables.extend(&other.variables);
                }
                apart
            });
            all.push(one);
        }
    }
    all
}
