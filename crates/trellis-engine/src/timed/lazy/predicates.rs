//! Data by predicates (002 §3.2.2): a label is a conjunction of formulas over the data variables.
//!
//! Concrete labels are all values, as for [`super::explicit`], so whether one proves a label is a matter of evaluation. Whether a
//! label excludes what is to be blocked, or lies below another, is asked of a solver; what it does not know is taken for no, which
//! only makes labels stronger. Interpolants, by [`Direction`]:
//!
//! - forward: all that is not blocked. What refutes the precondition of `bad` leads to what refutes `bad`, so this holds, and is
//!   as weak as can be;
//! - backward: values that exclude what is blocked, each left out in turn if the others suffice, else weakened from `x = v` to
//!   `x ≤ v` or `x ≥ v`;
//! - as a sequence: interpolants for the whole path from the root, of its statements ([`trellis_smt::path::Interpolate`]).
//!
//! What is blocked is a formula that never faults: where the original holds *or* faults. So no fault hides behind a negation, and
//! predicates, being made of negations, never fault either.
//!
//! What it deliberately does not do: drop predicates that others imply; and conditions that have no formula are refuted by
//! all values only.

use rustc_hash::FxHashMap;
use trellis_expr::defined::Defined;
use trellis_expr::partial::judge;
use trellis_expr::{StmtId, Term, TermId, Type, Value, VarId};
use trellis_meter::Meter;
use trellis_smt::path::{Interpolate, Refine};
use trellis_smt::{Embedded, Solver, smtlib};

use super::block::{Direction, Interpolation};
use super::tree::{Tree, Try};
use super::values::{Bad, Known, OverValues, Values};
use crate::timed::target::Error;

/// So many conflicts are allowed for one question; then the answer is no.
const EFFORT: u64 = 10_000;

/// A conjunction of formulas that never fault; ascending, each once.
pub type Label = Vec<TermId>;

/// What an interpolant is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exact {
    /// The values of the node.
    Here,
    /// What the parent's label leads to.
    After,
}

/// The domain.
pub struct Predicates<'n> {
    values: Values<'n>,
    direction: Direction,
    /// Formulas with more parts are not taken back.
    largest: usize,
    /// For one question to the solver.
    limits: Meter,
    solver: Embedded,
    defined: Defined,
    sequences: Interpolate,
    /// Which formulas are known to be excluded by which labels, or not to be.
    answers: FxHashMap<(Label, TermId), bool>,
}

impl<'n> Predicates<'n> {
    /// Over these values. The direction must be that in which labels are refined; formulas with more than `largest` parts are not
    /// taken back; the solver has until the limits.
    pub fn new(values: Values<'n>, direction: Direction, largest: usize, limits: Meter) -> Predicates<'n> {
        Predicates {
            values,
            direction,
            largest,
            limits: limits.steps(EFFORT),
            solver: Embedded::new(),
            defined: Defined::default(),
            sequences: Interpolate::new(),
            answers: FxHashMap::default(),
        }
    }

    /// Where a formula holds or faults.
    fn total(&mut self, t: Option<TermId>) -> Bad {
        let Some(t) = t else { return Bad::Others };
        let terms = &mut self.values.combinations.terms;
        match self.defined.of(terms, t) {
            Ok(defined) => {
                let not = terms.not(t);
                let fine = terms.and([defined, not]);
                Bad::All(vec![terms.not(fine)])
            }
            Err(_) => Bad::Others,
        }
    }

    /// What is blocked, as one formula.
    fn formula(&mut self, bad: &Bad) -> Option<TermId> {
        match bad {
            Bad::All(all) => Some(self.values.combinations.terms.and(all.iter().copied())),
            Bad::Others => None,
        }
    }

    fn not(&mut self, t: TermId) -> TermId {
        self.values.combinations.terms.not(t)
    }

    /// Is there nothing in the label where the formula holds?
    fn excludes(&mut self, label: &[TermId], t: TermId) -> bool {
        let not = self.not(t);
        if let Some(b) = self.values.combinations.terms.as_bool(t) {
            return !b;
        }
        if self.label(not).iter().all(|p| label.binary_search(p).is_ok()) {
            return true;
        }
        let question = (label.to_vec(), t);
        if let Some(&known) = self.answers.get(&question) {
            return known;
        }
        let all: Vec<TermId> = label.iter().copied().chain([t]).collect();
        let answer = self.solver.check(&self.values.combinations.terms, &all, &self.limits).is_unsat();
        self.answers.insert(question, answer);
        answer
    }

    /// The conjuncts of a formula that never faults, as a label.
    fn label(&self, t: TermId) -> Label {
        let terms = &self.values.combinations.terms;
        let mut label = match terms.get(t) {
            _ if terms.as_bool(t) == Some(true) => Vec::new(),
            Term::And(parts) if !parts.iter().any(|&p| terms.may_fault(p)) => parts.to_vec(),
            _ => vec![t],
        };
        label.sort_unstable();
        label
    }

    /// The values of the node that is loaded, as far as they are needed to exclude a formula, and weakened.
    fn generalise(&mut self, t: TermId) -> Label {
        let variables = self.values.variables(&[t]);
        let mut known = Known::none(self.values.net.vars.len());
        variables.iter().for_each(|&v| known.insert(v));
        for &v in variables.iter() {
            known.remove(v);
            if !self.values.falsify(&known, &[t]) {
                known.insert(v);
            }
        }
        let mut label: Label = known.iter().map(|v| self.values.is(v)).collect();
        for (i, v) in known.iter().enumerate() {
            let (var, value) = (self.values.net.vars[v].var, self.values.value(v));
            let terms = &mut self.values.combinations.terms;
            let number = matches!(terms.variable(var).ty, Type::Int | Type::Range(..));
            let Some(value) = value.to_word().filter(|_| number) else { continue };
            let (x, value) = (terms.var(var), terms.int(value));
            for weaker in [terms.le(x, value), terms.le(value, x)] {
                let exact = std::mem::replace(&mut label[i], weaker);
                let mut sorted = label.clone();
                sorted.sort_unstable();
                if self.excludes(&sorted, t) {
                    break;
                }
                label[i] = exact;
            }
        }
        label.sort_unstable();
        label.dedup();
        label
    }

    /// What an edge of the tree does, as one statement: temporaries start anew.
    fn statement(&mut self, c: u32) -> Option<StmtId> {
        let combination = self.values.combinations.get(c);
        let (guard, update, invariant) = (combination.guard?, combination.update, combination.invariant?);
        let vars = &self.values.net.temps;
        let mut parts: Vec<StmtId> = Vec::new();
        for v in vars {
            let value = self.values.combinations.value(v, &v.init);
            parts.push(self.values.combinations.terms.assign(v.var, value));
        }
        let terms = &mut self.values.combinations.terms;
        let (before, after) = (terms.assume(guard), terms.assume(invariant));
        parts.extend([before, update, after]);
        Some(terms.seq(parts))
    }
}

impl Interpolation for Predicates<'_> {
    type Label = Label;
    type Exact = Exact;
    type Bad = Bad;

    fn top(&self) -> Label {
        Vec::new()
    }

    fn concrete(&mut self, _: &Tree, _: u32) -> Exact {
        Exact::Here
    }

    fn proves(&mut self, tree: &Tree, n: u32, _: u32, label: &Label) -> bool {
        let values = &mut self.values;
        values.load(tree, n);
        let env = |v: VarId| values.numbers.get(&v).map(|&i| values.value(i));
        label.iter().all(|&p| judge(&values.combinations.terms, p, env).value == Some(Value::Bool(true)))
    }

    fn refutes(&mut self, tree: &Tree, n: u32, label: &Label, bad: &Bad) -> Result<bool, Error> {
        Ok(match self.formula(bad) {
            Some(t) => self.excludes(label, t),
            None => self.exactly(tree, n).iter().all(|p| label.binary_search(p).is_ok()),
        })
    }

    fn post(&mut self, _: &Tree, _: u32, _: &Label) -> Result<Exact, Error> {
        Ok(Exact::After)
    }

    fn pre(&mut self, _: &Tree, n: u32, bad: &Bad) -> Result<Bad, Error> {
        Ok(match self.formula(bad) {
            Some(t) if self.values.combinations.terms.subterms([t]).len() > self.largest => Bad::Others,
            Some(t) => {
                let before = self.values.combinations.before(self.values.via[n as usize], t);
                self.total(before)
            }
            None => Bad::Others,
        })
    }

    /// Here a transition is a combination.
    fn enabling(&mut self, _: &Tree, _: u32, c: Try) -> Result<Bad, Error> {
        let condition = self.values.combinations.condition(c.transition);
        Ok(self.total(condition))
    }

    fn interpolant(&mut self, tree: &Tree, n: u32, a: &Exact, bad: &Bad) -> Result<Option<Label>, Error> {
        let t = match (self.formula(bad), a) {
            (Some(t), _) => t,
            (None, Exact::Here) => return Ok(Some(self.exactly(tree, n))),
            // What all values before lead to may be told by all values only.
            (None, Exact::After) => return Ok(None),
        };
        // A formula for what happens before a step may fault although the step did not: then only all values help.
        self.values.load(tree, n);
        if !self.values.falsify(&self.values.all(), &[t]) {
            return Ok((*a == Exact::Here).then(|| self.exactly(tree, n)));
        }
        if self.direction == Direction::Backward {
            return Ok(Some(self.generalise(t)));
        }
        let not = self.not(t);
        Ok(Some(self.label(not)))
    }

    fn exactly(&mut self, tree: &Tree, n: u32) -> Label {
        self.values.load(tree, n);
        let mut label: Label = (0..self.values.net.vars.len()).map(|v| self.values.is(v)).collect();
        label.sort_unstable();
        label
    }

    fn complement(&mut self, _: &Tree, _: u32, label: &Label) -> Result<Vec<Bad>, Error> {
        Ok(label.iter().map(|&p| Bad::All(vec![self.not(p)])).collect())
    }

    fn meet(&mut self, label: &mut Label, other: &Label) {
        for p in other {
            if let Err(at) = label.binary_search(p) {
                label.insert(at, *p);
            }
        }
    }

    fn leq(&mut self, _: &Tree, _: u32, a: &Label, _: u32, b: &Label) -> Result<bool, Error> {
        Ok(b.iter().all(|p| {
            let not = self.not(*p);
            a.binary_search(p).is_ok() || self.excludes(a, not)
        }))
    }

    fn sequence(&mut self, tree: &Tree, path: &[u32], bad: &Bad) -> Option<Vec<Label>> {
        let t = self.formula(bad)?;
        let start = self.exactly(tree, path[0]);
        let terms = &mut self.values.combinations.terms;
        let start = terms.and(start);
        let mut statements = vec![terms.assume(start)];
        for &n in &path[1..] {
            statements.push(self.statement(self.values.via[n as usize])?);
        }
        let terms = &mut self.values.combinations.terms;
        statements.push(terms.assume(t));
        let found = self.sequences.refute(terms, &statements, &mut self.solver, &self.limits).ok()?;
        let data = |v: &VarId| self.values.numbers.contains_key(v);
        if !found.predicates.iter().all(|&p| self.values.combinations.terms.free_vars(p).iter().all(data)) {
            return None;
        }
        Some(found.predicates[1..=path.len()].iter().map(|&p| self.label(p)).collect())
    }
}

impl<'n> OverValues<'n> for Predicates<'n> {
    fn values(&self) -> &Values<'n> {
        &self.values
    }

    fn values_mut(&mut self) -> &mut Values<'n> {
        &mut self.values
    }

    fn bad(&mut self, bad: Bad) -> Bad {
        let t = self.formula(&bad);
        self.total(t)
    }

    fn has(&mut self, tree: &Tree, n: u32, label: &Label, known: &Known) -> bool {
        self.values.load(tree, n);
        known.iter().all(|v| label.binary_search(&self.values.is(v)).is_ok())
    }

    fn note(&mut self, tree: &Tree, n: u32, label: &mut Label, known: &Known) {
        self.values.load(tree, n);
        let mut same: Label = known.iter().map(|v| self.values.is(v)).collect();
        same.sort_unstable();
        self.meet(label, &same);
    }

    fn tell(&mut self, tree: &Tree, n: u32, label: &Label) -> (Known, Option<String>) {
        self.values.load(tree, n);
        let mut known = Known::none(self.values.net.vars.len());
        let mut more = label.clone();
        for v in 0..self.values.net.vars.len() {
            let is = self.values.is(v);
            if label.binary_search(&is).is_ok() {
                known.insert(v);
                more.retain(|&p| p != is);
            }
        }
        let terms = &self.values.combinations.terms;
        // What cannot be said is left out: then the certificate claims too much, and its checker will say so.
        let text = (!more.is_empty()).then(|| smtlib::script(terms, &more).unwrap_or_default());
        (known, text.filter(|t| !t.is_empty()))
    }
}
