//! Conditions over AltaRica's variables as conditions on the nodes of a tree.

use trellis_expr::{TermId, Value, VarId};

use super::Condition;
use super::apart::{Apart, Units};
use super::detach::{Detached, Error};
use crate::hierarchy::Hierarchy;

/// The units of a tree, and how their words are read.
struct Seen<'s>(&'s Hierarchy, &'s Detached);

impl Units for Seen<'_> {
    fn variables(&self, unit: usize) -> &[VarId] {
        &self.1.units[unit].variables
    }

    fn states(&self, unit: usize) -> usize {
        self.1.units[unit].configurations.len()
    }

    fn value(&self, unit: usize, state: usize, place: usize) -> Value {
        let unit = &self.1.units[unit];
        Value::from_word(self.0.terms.variable(unit.variables[place]).ty, unit.configurations[state][place])
    }
}

impl Detached {
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
    pub fn condition(&self, hierarchy: &Hierarchy, t: TermId) -> Result<Condition, Error> {
        let names = |v: VarId| hierarchy.variable(v).name.clone();
        let (units, fixed) = (&Seen(hierarchy, self), Default::default());
        let apart =
            Apart { terms: &hierarchy.terms, units, count: self.units.len(), fixed, names: &names, lenient: true };
        Ok(apart.condition(t)?)
    }
}
