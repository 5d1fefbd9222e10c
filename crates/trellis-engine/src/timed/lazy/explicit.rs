//! Data by explicit values and formula interpolation (002 §3.2.1, §4.3.1).
//!
//! Concrete labels are all values, abstract labels the values of some variables, and what is blocked is a formula. A label is
//! the set of its variables: the values are the node's own. So is what a label leads to: what is known after a step from some
//! values of the parent is known to be what the node has. A formula is refuted if three-valued evaluation makes it false; an
//! interpolant is what it needs of the known variables, each left out in turn if that still makes it false.

use trellis_expr::Stmt;
use trellis_expr::partial::{Partial, exec_partial};

use super::block::Interpolation;
use super::tree::{Tree, Try};
use super::values::{Bad, Known, OverValues, Values};
use crate::timed::target::Error;

/// The domain.
#[derive(Debug)]
pub struct Explicit<'n>(pub Values<'n>);

impl Interpolation for Explicit<'_> {
    type Label = Known;
    type Exact = Known;
    type Bad = Bad;

    fn top(&self) -> Known {
        Known::none(self.0.net.vars.len())
    }

    fn concrete(&mut self, _: &Tree, _: u32) -> Known {
        self.0.all()
    }

    fn proves(&mut self, tree: &Tree, n: u32, by: u32, label: &Known) -> bool {
        self.0.load(tree, n);
        self.0.agree(tree, by, label)
    }

    fn refutes(&mut self, tree: &Tree, n: u32, label: &Known, bad: &Bad) -> Result<bool, Error> {
        self.0.load(tree, n);
        Ok(match bad {
            Bad::All(all) => self.0.falsify(label, all),
            Bad::Others => *label == self.0.all(),
        })
    }

    fn post(&mut self, tree: &Tree, n: u32, label: &Known) -> Result<Known, Error> {
        let update = self.0.combinations.get(self.0.via[n as usize]).update;
        if *label == self.0.all() || matches!(self.0.combinations.terms.stmt(update), Stmt::Skip) {
            return Ok(label.clone());
        }
        self.0.load(tree, tree.nodes[n as usize].parent);
        let values = label.iter().map(|v| (self.0.net.vars[v].var, self.0.value(v)));
        let mut env: Partial = values.chain(self.0.initial.iter().cloned()).collect();
        exec_partial(&self.0.combinations.terms, update, &mut env);
        let mut after = Known::none(self.0.net.vars.len());
        env.keys().filter_map(|v| self.0.numbers.get(v)).for_each(|&v| after.insert(v));
        Ok(after)
    }

    fn pre(&mut self, _: &Tree, n: u32, bad: &Bad) -> Result<Bad, Error> {
        Ok(match bad {
            Bad::All(all) => self.0.before(n, all),
            Bad::Others => Bad::Others,
        })
    }

    /// Here a transition is a combination.
    fn enabling(&mut self, _: &Tree, _: u32, c: Try) -> Result<Bad, Error> {
        Ok(self.0.combinations.condition(c.transition).into())
    }

    fn interpolant(&mut self, tree: &Tree, n: u32, a: &Known, bad: &Bad) -> Result<Option<Known>, Error> {
        let all = match bad {
            Bad::All(all) => all,
            Bad::Others => return Ok((*a == self.0.all()).then(|| a.clone())),
        };
        let variables = self.0.variables(all);
        self.0.load(tree, n);
        let mut label = self.top();
        variables.iter().filter(|&&v| a.has(v)).for_each(|&v| label.insert(v));
        if !self.0.falsify(&label, all) {
            return Ok(None);
        }
        for &v in variables.iter().filter(|&&v| a.has(v)) {
            label.remove(v);
            if !self.0.falsify(&label, all) {
                label.insert(v);
            }
        }
        Ok(Some(label))
    }

    fn exactly(&mut self, _: &Tree, _: u32) -> Known {
        self.0.all()
    }

    fn complement(&mut self, tree: &Tree, n: u32, label: &Known) -> Result<Vec<Bad>, Error> {
        if label.iter().next().is_none() {
            return Ok(Vec::new());
        }
        Ok(vec![Bad::All(vec![self.0.others(tree, n, label)])])
    }

    fn meet(&mut self, label: &mut Known, other: &Known) {
        label.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn leq(&mut self, tree: &Tree, n: u32, a: &Known, of: u32, b: &Known) -> Result<bool, Error> {
        self.0.load(tree, n);
        Ok(b.is_within(a) && self.0.agree(tree, of, b))
    }
}

impl<'n> OverValues<'n> for Explicit<'n> {
    fn values(&self) -> &Values<'n> {
        &self.0
    }

    fn values_mut(&mut self) -> &mut Values<'n> {
        &mut self.0
    }

    fn has(&mut self, _: &Tree, _: u32, label: &Known, known: &Known) -> bool {
        known.is_within(label)
    }

    fn note(&mut self, _: &Tree, _: u32, label: &mut Known, known: &Known) {
        debug_assert!(known.is_within(label), "what is pinned is known");
    }

    fn tell(&mut self, _: &Tree, _: u32, label: &Known) -> (Known, Option<String>) {
        (label.clone(), None)
    }
}
