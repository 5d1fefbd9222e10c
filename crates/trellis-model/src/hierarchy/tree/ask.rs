//! Conditions over AltaRica's variables as conditions on the nodes of a tree: formulas are taken apart until each part speaks of one
//! node; what compares variables of different nodes becomes one case for each combination of their values.

use std::collections::BTreeSet;

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{Term, TermId, Type, VarId};

use super::Condition;
use super::detach::{Detached, Refusal};
use crate::hierarchy::Hierarchy;
use crate::hierarchy::explicit::{holds, valuation};

/// How many combinations of values a comparison across components may have.
const MAX_ACROSS: usize = 100_000;

/// What a comparison across components reads of one of them.
struct Compared {
    unit: usize,
    variables: Vec<VarId>,
    /// Where they are among the variables of the node.
    places: Vec<usize>,
    /// The combinations of their values.
    rows: BTreeSet<Vec<i64>>,
}

impl Detached {
    /// Which node a variable belongs to.
    fn unit_of(&self, v: VarId) -> Option<usize> {
        self.units.iter().position(|u| u.variables.contains(&v))
    }

    /// The values of all variables in a state of the tree, by number.
    pub fn values(&self, hierarchy: &Hierarchy, state: &[u32]) -> Vec<i64> {
        let mut all = vec![0; hierarchy.variables.len()];
        for (unit, &q) in self.units.iter().zip(state) {
            for (v, &n) in unit.variables.iter().zip(&unit.configurations[q as usize]) {
                all[v.index()] = n;
            }
        }
        all
    }

    /// A condition over variables, taken apart into conditions on single nodes.
    pub fn condition(&self, hierarchy: &Hierarchy, t: TermId) -> Result<Condition, Refusal> {
        // What has no value does not hold; but what is a part of a condition must have one, or its negation would hold.
        if let [unit] = self.units_of(hierarchy, t).as_slice() {
            let unit = *unit;
            let states = self.each(hierarchy, unit).map(|here| holds(hierarchy, t, &here)).collect();
            return Ok(Condition::Local { node: unit, states });
        }
        self.part(hierarchy, t)
    }

    fn units_of(&self, h: &Hierarchy, t: TermId) -> Vec<usize> {
        let all: BTreeSet<usize> = h.terms.free_vars(t).into_iter().filter_map(|v| self.unit_of(v)).collect();
        all.into_iter().collect()
    }

    fn each<'h>(&'h self, h: &'h Hierarchy, unit: usize) -> impl Iterator<Item = Valuation> + 'h {
        let unit = &self.units[unit];
        unit.configurations.iter().map(|values| valuation(h, &unit.variables, values))
    }

    fn part(&self, h: &Hierarchy, t: TermId) -> Result<Condition, Refusal> {
        let units = self.units_of(h, t);
        let fault = || {
            let v = h.terms.free_vars(t).into_iter().next();
            Refusal::Fault(v.map_or_else(String::new, |v| h.variable(v).name.clone()))
        };
        let truth =
            |here: &Valuation| eval(&h.terms, t, here, &mut NoHost).ok().and_then(|v| v.as_bool()).ok_or_else(fault);
        match units.as_slice() {
            [] => return Ok(Condition::Constant(truth(&Default::default())?)),
            [unit] => {
                let states = self.each(h, *unit).map(|here| truth(&here)).collect::<Result<_, _>>()?;
                return Ok(Condition::Local { node: *unit, states });
            }
            _ => {}
        }
        let several = |all: &[TermId]| all.iter().map(|&a| self.part(h, a)).collect::<Result<Vec<_>, _>>();
        let not = |c: Condition| Condition::Not(Box::new(c));
        match h.terms.get(t) {
            Term::Not(a) => Ok(not(self.part(h, *a)?)),
            Term::And(all) => Ok(Condition::All(several(all)?)),
            Term::Or(all) => Ok(Condition::Any(several(all)?)),
            Term::Ite(c, a, b) => {
                let (c, a, b) = (self.part(h, *c)?, self.part(h, *a)?, self.part(h, *b)?);
                Ok(Condition::Any(vec![Condition::All(vec![c.clone(), a]), Condition::All(vec![not(c), b])]))
            }
            Term::Eq(a, b) if h.terms.ty(*a) == Type::Bool => {
                let (a, b) = (self.part(h, *a)?, self.part(h, *b)?);
                let both = Condition::All(vec![a.clone(), b.clone()]);
                Ok(Condition::Any(vec![both, Condition::All(vec![not(a), not(b)])]))
            }
            _ => self.across(h, t, &units, &truth),
        }
    }

    /// A comparison of several components: one case for each combination of values that makes it true.
    fn across(
        &self,
        h: &Hierarchy,
        t: TermId,
        units: &[usize],
        truth: &dyn Fn(&Valuation) -> Result<bool, Refusal>,
    ) -> Result<Condition, Refusal> {
        let free = h.terms.free_vars(t);
        let compared = |&unit: &usize| {
            let u = &self.units[unit];
            let places: Vec<usize> = (0..u.variables.len()).filter(|&i| free.contains(&u.variables[i])).collect();
            let rows = u.configurations.iter().map(|values| places.iter().map(|&i| values[i]).collect()).collect();
            Compared { unit, variables: places.iter().map(|&i| u.variables[i]).collect(), places, rows }
        };
        let lists: Vec<Compared> = units.iter().map(compared).collect();
        let total = lists.iter().fold(1_usize, |n, l| n.saturating_mul(l.rows.len()));
        if total > MAX_ACROSS {
            let first = free.into_iter().next();
            return Err(Refusal::Across(first.map_or_else(String::new, |v| h.variable(v).name.clone())));
        }
        let mut cases: Vec<Vec<&Vec<i64>>> = vec![vec![]];
        for list in &lists {
            cases = cases.iter().flat_map(|c| list.rows.iter().map(|row| [c.as_slice(), &[row]].concat())).collect();
        }
        let mut all = vec![];
        for case in cases {
            let mut here = Valuation::default();
            for (list, row) in lists.iter().zip(&case) {
                here.extend(valuation(h, &list.variables, row));
            }
            if truth(&here)? {
                let locals = lists.iter().zip(&case).map(|(list, row)| {
                    let fits = |values: &Vec<i64>| list.places.iter().zip(row.iter()).all(|(&i, n)| values[i] == *n);
                    let states = self.units[list.unit].configurations.iter().map(fits).collect();
                    Condition::Local { node: list.unit, states }
                });
                all.push(Condition::All(locals.collect()));
            }
        }
        Ok(Condition::Any(all))
    }
}
