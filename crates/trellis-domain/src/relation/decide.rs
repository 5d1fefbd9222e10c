//! Sets as lists of tests of variables, for files: no bits, and no order that a reader would have to know.

use oxidd::bdd::BDDFunction;
use rustc_hash::FxHashMap;

use super::count::{Top, top};
use super::saturate::codes;
use super::{Made, Relation, Space};

/// What is known after some tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    /// The row is not in the set.
    Out,
    /// It is, whatever else is in it.
    In,
    /// It depends on this test.
    Test(usize),
}

/// A test of a variable: for each branch, the values that lead there; for all others the row is not in the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Which variable.
    pub variable: usize,
    /// The branches.
    pub branches: Vec<(Vec<i64>, Branch)>,
}

/// A set of rows. Tests only lead to tests before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decisions {
    /// The tests.
    pub tests: Vec<Test>,
    /// Where to begin.
    pub root: Branch,
}

impl Space {
    /// A set of rows of some variables (of copy 0), as tests.
    pub fn decisions(&self, a: &Relation, variables: &[usize]) -> Decisions {
        let mut order = variables.to_vec();
        order.sort_unstable();
        let mut tests = vec![];
        let root = self.decide(&a.0, &order, &mut tests, &mut FxHashMap::default());
        Decisions { tests, root }
    }

    fn decide(
        &self,
        f: &BDDFunction,
        order: &[usize],
        tests: &mut Vec<Test>,
        known: &mut FxHashMap<(BDDFunction, usize), Branch>,
    ) -> Branch {
        let Some((&variable, rest)) = order.split_first() else {
            return if matches!(top(f), Top::Empty) { Branch::Out } else { Branch::In };
        };
        if matches!(top(f), Top::Empty) {
            return Branch::Out;
        }
        let key = (f.clone(), order.len());
        if let Some(&branch) = known.get(&key) {
            return branch;
        }
        let column = &self.columns[variable];
        let mut found = vec![];
        codes(f, &column.bits, 0, &mut found);
        let mut branches: Vec<(Vec<i64>, Branch)> = vec![];
        for (code, below) in found {
            let Some(&value) = column.values.get(code) else { continue };
            let branch = self.decide(&below, rest, tests, known);
            match branches.iter_mut().find(|(_, b)| *b == branch) {
                _ if branch == Branch::Out => {}
                Some((values, _)) => values.push(value),
                None => branches.push((vec![value], branch)),
            }
        }
        let branch = match branches.as_slice() {
            [] => Branch::Out,
            [(values, branch)] if values.len() == column.values.len() => *branch,
            _ => {
                tests.push(Test { variable, branches });
                Branch::Test(tests.len() - 1)
            }
        };
        known.insert(key, branch);
        branch
    }

    /// The set of rows that tests accept; nothing if a test leads to one that is not before it.
    pub fn decided(&self, decisions: &Decisions) -> Made<Option<Relation>> {
        let mut all: Vec<Relation> = vec![];
        let leads = |all: &[Relation], branch: Branch| match branch {
            Branch::Out => Some(self.none()),
            Branch::In => Some(self.all()),
            Branch::Test(n) => all.get(n).cloned(),
        };
        for test in &decisions.tests {
            let mut rows = self.none();
            for (values, branch) in &test.branches {
                let Some(below) = leads(&all, *branch) else { return Ok(None) };
                for &value in values {
                    let here = self.and(&self.equals(test.variable, 0, value)?, &below)?;
                    rows = self.or(&rows, &here)?;
                }
            }
            all.push(rows);
        }
        Ok(leads(&all, decisions.root))
    }
}
