//! Conditions over variables as conditions on the nodes of a tree: formulas are taken apart until each part speaks of one node; what
//! compares variables of different nodes becomes one case for each combination of their values.

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{Term, TermId, Terms, Type, Value, VarId};

use super::Condition;

/// How many combinations of values a comparison across nodes may have.
const MAX_ACROSS: usize = 100_000;
/// How many combinations of values the variables of one node may have in such a comparison.
const MAX_ROWS: usize = 2_000;

/// Why a condition cannot be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooWide {
    /// It compares too many values of different nodes.
    #[error("`{0}` and others are compared across nodes, in more ways than can be listed")]
    Across(String),
    /// A part of it has no value somewhere.
    #[error("a part of the condition has no value where `{0}` has some of its values")]
    Fault(String),
}

/// Nodes whose states are values of variables.
pub trait Units {
    /// The variables of a node.
    fn variables(&self, unit: usize) -> &[VarId];
    /// How many states it has.
    fn states(&self, unit: usize) -> usize;
    /// The value of one of its variables in one of its states.
    fn value(&self, unit: usize, state: usize, place: usize) -> Value;
}

/// Takes conditions apart.
pub struct Apart<'a> {
    /// Where the condition lives.
    pub terms: &'a Terms,
    /// The nodes.
    pub units: &'a dyn Units,
    /// How many of them have variables.
    pub count: usize,
    /// Variables that never change.
    pub fixed: Valuation,
    /// How variables are called.
    pub names: &'a dyn Fn(VarId) -> String,
    /// A condition of one node that has no value does not hold. (A part of a condition must always have one, or its negation would hold.)
    pub lenient: bool,
}

/// What a comparison across nodes reads of one of them.
struct Compared {
    unit: usize,
    variables: Vec<VarId>,
    /// The combinations of their values.
    rows: Vec<Vec<Value>>,
    /// Which of them each state has.
    of: Vec<usize>,
}

impl Apart<'_> {
    /// A condition, taken apart.
    pub fn condition(&self, t: TermId) -> Result<Condition, TooWide> {
        if let ([unit], true) = (self.units_of(t).as_slice(), self.lenient) {
            let holds = |here| self.truth(t, &here).unwrap_or(false);
            return Ok(Condition::Local { node: *unit, states: self.each(*unit, t).map(holds).collect() });
        }
        self.part(t)
    }

    fn units_of(&self, t: TermId) -> Vec<usize> {
        let free = self.terms.free_vars(t);
        (0..self.count).filter(|&u| self.units.variables(u).iter().any(|v| free.contains(v))).collect()
    }

    /// What a term sees in each state of a node.
    fn each(&self, unit: usize, t: TermId) -> impl Iterator<Item = Valuation> + '_ {
        let places = self.places(unit, t);
        (0..self.units.states(unit)).map(move |state| {
            let mut here = self.fixed.clone();
            let variables = self.units.variables(unit);
            here.extend(places.iter().map(|&i| (variables[i], self.units.value(unit, state, i))));
            here
        })
    }

    fn places(&self, unit: usize, t: TermId) -> Vec<usize> {
        let free = self.terms.free_vars(t);
        let variables = self.units.variables(unit);
        (0..variables.len()).filter(|&i| free.contains(&variables[i])).collect()
    }

    fn truth(&self, t: TermId, here: &Valuation) -> Result<bool, TooWide> {
        let value = eval(self.terms, t, here, &mut NoHost).ok().and_then(|v| v.as_bool());
        value.ok_or_else(|| TooWide::Fault(self.first_name(t)))
    }

    fn first_name(&self, t: TermId) -> String {
        self.terms.free_vars(t).into_iter().next().map_or_else(String::new, self.names)
    }

    fn part(&self, t: TermId) -> Result<Condition, TooWide> {
        let units = self.units_of(t);
        match units.as_slice() {
            [] => return Ok(Condition::Constant(self.truth(t, &self.fixed)?)),
            [unit] => {
                let states = self.each(*unit, t).map(|here| self.truth(t, &here)).collect::<Result<_, _>>()?;
                return Ok(Condition::Local { node: *unit, states });
            }
            _ => {}
        }
        let several = |all: &[TermId]| all.iter().map(|&a| self.part(a)).collect::<Result<Vec<_>, _>>();
        let not = |c: Condition| Condition::Not(Box::new(c));
        match self.terms.get(t) {
            Term::Not(a) => Ok(not(self.part(*a)?)),
            Term::And(all) => Ok(Condition::All(several(all)?)),
            Term::Or(all) => Ok(Condition::Any(several(all)?)),
            Term::Ite(c, a, b) => {
                let (c, a, b) = (self.part(*c)?, self.part(*a)?, self.part(*b)?);
                Ok(Condition::Any(vec![Condition::All(vec![c.clone(), a]), Condition::All(vec![not(c), b])]))
            }
            Term::Eq(a, b) if self.terms.ty(*a) == Type::Bool => {
                let (a, b) = (self.part(*a)?, self.part(*b)?);
                let both = Condition::All(vec![a.clone(), b.clone()]);
                Ok(Condition::Any(vec![both, Condition::All(vec![not(a), not(b)])]))
            }
            _ => self.across(t, &units),
        }
    }

    fn compared(&self, unit: usize, t: TermId) -> Option<Compared> {
        let places = self.places(unit, t);
        let (mut rows, mut of): (Vec<Vec<Value>>, Vec<usize>) = (vec![], vec![]);
        for state in 0..self.units.states(unit) {
            let row: Vec<Value> = places.iter().map(|&i| self.units.value(unit, state, i)).collect();
            let number = rows.iter().position(|r| *r == row).unwrap_or(rows.len());
            if number == rows.len() {
                rows.push(row);
            }
            if rows.len() > MAX_ROWS {
                return None;
            }
            of.push(number);
        }
        let variables = places.iter().map(|&i| self.units.variables(unit)[i]).collect();
        Some(Compared { unit, variables, rows, of })
    }

    /// A comparison of several nodes: one case for each combination of values that makes it true.
    fn across(&self, t: TermId, units: &[usize]) -> Result<Condition, TooWide> {
        let wide = || TooWide::Across(self.first_name(t));
        let lists = units.iter().map(|&u| self.compared(u, t)).collect::<Option<Vec<_>>>().ok_or_else(wide)?;
        if lists.iter().fold(1_usize, |n, l| n.saturating_mul(l.rows.len())) > MAX_ACROSS {
            return Err(wide());
        }
        let mut cases: Vec<Vec<usize>> = vec![vec![]];
        for list in &lists {
            cases = cases.iter().flat_map(|c| (0..list.rows.len()).map(|n| [c.as_slice(), &[n]].concat())).collect();
        }
        let mut all = vec![];
        for case in cases {
            let mut here = self.fixed.clone();
            for (list, &row) in lists.iter().zip(&case) {
                here.extend(list.variables.iter().copied().zip(list.rows[row].iter().cloned()));
            }
            if self.truth(t, &here)? {
                let local = |(list, &row): (&Compared, &usize)| {
                    let states = list.of.iter().map(|&n| n == row).collect();
                    Condition::Local { node: list.unit, states }
                };
                all.push(Condition::All(lists.iter().zip(&case).map(local).collect()));
            }
        }
        Ok(Condition::Any(all))
    }
}
