//! Formulas of computation tree logic about hierarchies, evaluated again: configuration by configuration, as the textbook says, and
//! without relations.
//!
//! Two ways, which share nothing but the formula: [`Listed`] has all configurations of a small model, by its definition; [`Reached`] has
//! those that can be reached, which is what an answer depends on, and takes steps with [`Walker`]. Of models where that is too
//! much nothing is said.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use rustc_hash::FxHashMap;
use trellis_expr::VarId;
use trellis_model::hierarchy::ctl::Formula;
use trellis_model::hierarchy::explicit::{Meaning, holds, valuation};
use trellis_model::hierarchy::walk::Walker;
use trellis_model::hierarchy::{ComponentId, Hierarchy};

use crate::hierarchy::Rejection;

/// How many configurations a model may have that is listed.
const SMALL: usize = 3_000;

/// How many configurations may be reached, and how many transitions there may be.
const LARGE: usize = 300_000;
const MANY: usize = 10_000_000;

type Set = BTreeSet<usize>;

/// A model whose configurations are listed.
pub struct Listed<'m> {
    hierarchy: &'m Hierarchy,
    meaning: Meaning,
    /// For each configuration, where steps lead; doing nothing is none.
    next: Vec<Set>,
}

impl<'m> Listed<'m> {
    /// Lists everything, if there is not too much.
    pub fn new(hierarchy: &'m Hierarchy) -> Option<Listed<'m>> {
        let meaning = Meaning::of(hierarchy, SMALL).ok()?;
        let level = &meaning.components[hierarchy.top.index()];
        let mut next = vec![Set::new(); level.configurations.len()];
        for &(from, _, to) in level.transitions.iter().filter(|t| t.1 != 0) {
            next[from].insert(to);
        }
        Some(Listed { hierarchy, meaning, next })
    }

    /// All configurations, values in the order of the variables below the top.
    pub fn configurations(&self) -> &[Vec<i64>] {
        &self.meaning.components[self.hierarchy.top.index()].configurations
    }

    fn all(&self) -> Set {
        (0..self.next.len()).collect()
    }

    /// Where a formula holds.
    pub fn holds(&self, f: &Formula) -> Set {
        match f {
            Formula::Atom(t) => self.meaning.satisfying(self.hierarchy, self.hierarchy.top, *t).into_iter().collect(),
            Formula::Not(a) => &self.all() - &self.holds(a),
            Formula::And(a, b) => &self.holds(a) & &self.holds(b),
            Formula::Or(a, b) => &self.holds(a) | &self.holds(b),
            Formula::Next(a) => {
                let a = self.holds(a);
                self.all().into_iter().filter(|&q| !self.next[q].is_disjoint(&a)).collect()
            }
            Formula::Until(a, b) => {
                // A search from each configuration.
                let (a, b) = (self.holds(a), self.holds(b));
                let reaches = |q: usize| {
                    let mut seen = Set::from([q]);
                    let mut waiting = vec![q];
                    while let Some(q) = waiting.pop() {
                        if b.contains(&q) {
                            return true;
                        }
                        if a.contains(&q) {
                            waiting.extend(self.next[q].iter().copied().filter(|r| seen.insert(*r)));
                        }
                    }
                    false
                };
                self.all().into_iter().filter(|&q| reaches(q)).collect()
            }
            Formula::Always(a) => {
                // Whoever has no way to stay is taken away, until nobody is.
                let mut left = self.holds(a);
                loop {
                    let stays = |q: &usize| self.next[*q].is_empty() || !self.next[*q].is_disjoint(&left);
                    let fewer: Set = left.iter().copied().filter(stays).collect();
                    if fewer == left {
                        return left;
                    }
                    left = fewer;
                }
            }
        }
    }
}

/// Configurations with all steps from them, found by [`Walker`].
#[derive(Default)]
pub(crate) struct Graph {
    /// The values of all variables, by number.
    pub(crate) configurations: Vec<Vec<i64>>,
    /// The configurations to start in.
    pub(crate) initial: Vec<u32>,
    /// All transitions: from where, by which flat event (0 is doing nothing), to where.
    pub(crate) transitions: Vec<(u32, usize, u32)>,
    next: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
}

/// The configurations that can be reached, with all steps from them.
pub struct Reached<'m> {
    hierarchy: &'m Hierarchy,
    pub(crate) graph: Rc<Graph>,
}

impl Graph {
    /// Finds everything that can be reached, or everything there is, if that is not too much and does not take too long.
    pub(crate) fn new(hierarchy: &Hierarchy, whole: bool, until: Option<Instant>) -> Option<Graph> {
        let walker = Walker::new(hierarchy).ok()?;
        let mut one = Graph::default();
        let mut numbers: FxHashMap<Vec<i64>, u32> = FxHashMap::default();
        // The configurations of states that were met.
        let mut known: FxHashMap<Vec<i64>, Vec<u32>> = FxHashMap::default();
        let mut number = |values: Vec<i64>, all: &mut Vec<Vec<i64>>| {
            *numbers.entry(values).or_insert_with_key(|values| {
                all.push(values.clone());
                all.len() as u32 - 1
            })
        };
        for values in walker.initial(LARGE).ok()? {
            one.initial.push(number(values, &mut one.configurations));
        }
        if whole {
            for values in walker.everything(LARGE).ok()? {
                number(values, &mut one.configurations);
            }
        }
        while let Some(here) = one.configurations.get(one.next.len()).cloned() {
            let (from, mut next, mut all_next) = (one.next.len() as u32, vec![], vec![]);
            for (event, changes) in walker.moves(&here).ok()? {
                let mut states = here.clone();
                changes.iter().for_each(|&(v, value)| states[v.index()] = value);
                let flows = hierarchy.variables.iter().map(|v| v.flow);
                states.iter_mut().zip(flows).for_each(|(n, flow)| *n = if flow { 0 } else { *n });
                if !known.contains_key(&states) {
                    let all = walker.configurations(&states, LARGE).ok()?;
                    let all = all.into_iter().map(|values| number(values, &mut one.configurations)).collect();
                    known.insert(states.clone(), all);
                }
                all_next.extend(known[&states].iter().map(|&to| (from, event, to)));
                // Event 0 is doing nothing.
                next.extend(known[&states].iter().filter(|_| event != 0));
            }
            next.sort_unstable();
            next.dedup();
            one.next.push(next);
            all_next.sort_unstable();
            all_next.dedup();
            one.transitions.extend(all_next);
            let late = one.next.len().is_multiple_of(64) && until.is_some_and(|until| Instant::now() > until);
            if one.configurations.len() > LARGE || one.transitions.len() > MANY || late {
                return None;
            }
        }
        one.before = vec![vec![]; one.next.len()];
        for (q, next) in one.next.iter().enumerate() {
            next.iter().for_each(|&r| one.before[r as usize].push(q as u32));
        }
        Some(one)
    }
}

impl<'m> Reached<'m> {
    /// Finds everything that can be reached, if that is not too much and does not take too long.
    pub fn new(hierarchy: &'m Hierarchy, until: Option<Instant>) -> Option<Reached<'m>> {
        Some(Reached { hierarchy, graph: Rc::new(Graph::new(hierarchy, false, until)?) })
    }

    /// What was found already.
    pub(crate) fn of(hierarchy: &'m Hierarchy, graph: Rc<Graph>) -> Reached<'m> {
        Reached { hierarchy, graph }
    }

    /// How many configurations there are.
    pub fn len(&self) -> usize {
        self.graph.configurations.len()
    }

    /// Is nothing initial?
    pub fn is_empty(&self) -> bool {
        self.graph.configurations.is_empty()
    }

    /// The flat events in which a component takes part with one of its events.
    pub(crate) fn taking_part(&self, c: ComponentId, event: usize) -> BTreeSet<usize> {
        let Ok(walker) = Walker::new(self.hierarchy) else { return BTreeSet::new() };
        let flat: BTreeSet<usize> = self.graph.transitions.iter().map(|t| t.1).collect();
        let takes = |n: &usize| walker.levels.parts(self.hierarchy, self.hierarchy.top, *n).contains(&(c, event));
        flat.into_iter().filter(takes).collect()
    }

    /// In which of them a formula holds.
    pub(crate) fn holds(&self, f: &Formula) -> Vec<bool> {
        let count = self.len();
        let both = |a: Vec<bool>, b: Vec<bool>, join: fn(bool, bool) -> bool| -> Vec<bool> {
            a.into_iter().zip(b).map(|(a, b)| join(a, b)).collect()
        };
        match f {
            Formula::Atom(t) => {
                let order: Vec<VarId> = (0..self.hierarchy.variables.len() as u32).map(VarId).collect();
                let here = |values: &Vec<i64>| valuation(self.hierarchy, &order, values);
                self.graph.configurations.iter().map(|q| holds(self.hierarchy, *t, &here(q))).collect()
            }
            Formula::Not(a) => self.holds(a).into_iter().map(|b| !b).collect(),
            Formula::And(a, b) => both(self.holds(a), self.holds(b), |a, b| a && b),
            Formula::Or(a, b) => both(self.holds(a), self.holds(b), |a, b| a || b),
            Formula::Next(a) => {
                let a = self.holds(a);
                self.graph.next.iter().map(|next| next.iter().any(|&r| a[r as usize])).collect()
            }
            Formula::Until(a, b) => {
                // Backwards from where the second holds.
                let (a, mut found) = (self.holds(a), self.holds(b));
                let mut waiting: Vec<usize> = (0..count).filter(|&q| found[q]).collect();
                while let Some(q) = waiting.pop() {
                    for &p in &self.graph.before[q] {
                        if a[p as usize] && !std::mem::replace(&mut found[p as usize], true) {
                            waiting.push(p as usize);
                        }
                    }
                }
                found
            }
            Formula::Always(a) => {
                // Whoever can go on only to where it ends is taken away; who cannot go on at all stays.
                let mut left = self.holds(a);
                let mut ways: Vec<usize> =
                    self.graph.next.iter().map(|next| next.iter().filter(|&&r| left[r as usize]).count()).collect();
                let stuck = |q: usize| self.graph.next[q].is_empty();
                let mut waiting: Vec<usize> = (0..count).filter(|&q| left[q] && ways[q] == 0 && !stuck(q)).collect();
                waiting.iter().for_each(|&q| left[q] = false);
                while let Some(q) = waiting.pop() {
                    for &p in &self.graph.before[q] {
                        let p = p as usize;
                        ways[p] -= 1;
                        if left[p] && ways[p] == 0 {
                            left[p] = false;
                            waiting.push(p);
                        }
                    }
                }
                left
            }
        }
    }
}

/// Does a formula hold in all initial configurations, or, if one is given (the values of all variables, by number), not in that one? How
/// many configurations were looked at: all that can be reached. Nothing if these are too many, or there is not enough time.
pub fn judge(
    hierarchy: &Hierarchy,
    formula: &Formula,
    refuted: Option<&[i64]>,
    until: Option<Instant>,
) -> Result<Option<usize>, Rejection> {
    let Some(reached) = Reached::new(hierarchy, until) else { return Ok(None) };
    let holds = reached.holds(formula);
    let Some(values) = refuted else {
        return match reached.graph.initial.iter().all(|&q| holds[q as usize]) {
            true => Ok(Some(reached.len())),
            false => Err(Rejection::Proof("the formula does not hold in an initial configuration".into())),
        };
    };
    match reached.graph.initial.iter().find(|&&q| reached.graph.configurations[q as usize] == values) {
        Some(&q) if !holds[q as usize] => Ok(Some(reached.len())),
        Some(_) => Err(Rejection::Run("the formula holds in the configuration".into())),
        None => Err(Rejection::Run("the configuration is not initial".into())),
    }
}
