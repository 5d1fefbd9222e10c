//! Formulas of computation tree logic about hierarchies, evaluated again: configuration by configuration, as the textbook says, and
//! without relations. Only for models whose configurations can be listed; of others nothing is said.

use std::collections::BTreeSet;

use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::ctl::Formula;
use trellis_model::hierarchy::explicit::Meaning;

use crate::hierarchy::Rejection;

/// How many configurations a model may have.
const SMALL: usize = 3_000;

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

/// Does a formula hold in all initial configurations, or, if one is given (the values of all variables, by number), not in that one? False
/// if the model is too large to say.
pub fn judge(hierarchy: &Hierarchy, formula: &Formula, refuted: Option<&[i64]>) -> Result<bool, Rejection> {
    let Some(listed) = Listed::new(hierarchy) else { return Ok(false) };
    let holds = listed.holds(formula);
    let initial = listed.meaning.initial(hierarchy, hierarchy.top);
    let order = hierarchy.variables_below(hierarchy.top);
    match refuted {
        None if initial.iter().all(|q| holds.contains(q)) => Ok(true),
        None => Err(Rejection::Proof("the formula does not hold in an initial configuration".into())),
        Some(values) => {
            let own: Option<Vec<i64>> = order.iter().map(|v| values.get(v.index()).copied()).collect();
            let found = initial.iter().find(|&&q| own.as_ref() == Some(&listed.configurations()[q]));
            match found {
                Some(q) if !holds.contains(q) => Ok(true),
                Some(_) => Err(Rejection::Run("the formula holds in the configuration".into())),
                None => Err(Rejection::Run("the configuration is not initial".into())),
            }
        }
    }
}
