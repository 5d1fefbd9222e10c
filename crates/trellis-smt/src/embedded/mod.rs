//! The embedded solver: CDCL(T) over truth values, words and linear integer arithmetic; nothing to install.
//!
//! `lower` turns terms into `gates` (clauses for `sat`, the search; `words` has the circuits) and into bounds on sums, whose theory is
//! `lia`: `simplex` on exact rationals (`rat`), `integer` splits. Arrays are listed by entries, or instantiated (`maps`).
//!
//! Levels: what is asserted above the lowest level hangs on a literal of its level, which is assumed in every check and false for ever
//! once the level is closed. Terms that were translated stay; when most of them are dead the solver starts afresh from its
//! assertions.
//!
//! It checks itself. A model is evaluated against the assertions and assumptions; a contradiction of bounds carries its factors,
//! which are added up again (`simplex::checked`). If that fails it panics: nothing may rest on it. What it cannot translate it
//! leaves out, and answers `Unsat` if the rest is, `Unknown` otherwise.

mod constants;
mod gates;
mod integer;
mod interpolate;
mod lia;
mod linear;
mod lower;
mod maps;
mod prove;
pub(crate) mod rat;
mod sat;
pub(crate) mod simplex;
mod words;

use std::cell::Cell;
use std::rc::Rc;

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::value::{ArrayValue, Value};
use trellis_expr::{Term, TermId, Terms, Type, VarId};

pub use interpolate::{NoInterpolants, interpolants};
pub use prove::refute;

use crate::{Answer, Meter, Reason, Solver};
use lower::Lowering;
use sat::{Lit, Outcome};

/// The embedded solver.
#[derive(Default)]
pub struct Embedded {
    state: Lowering,
    assertions: Vec<TermId>,
    /// How many of the assertions have been translated.
    translated: usize,
    /// What could not be translated, by position of the assertion.
    left_out: Vec<(usize, String)>,
    levels: Vec<Level>,
    /// Variables of the search that belong to closed levels.
    dead: usize,
    /// Variables were defined from this assertion on, above the lowest level.
    defined_from: Option<usize>,
    checks: u64,
    conflicts: u64,
    /// Constants have been put in their places already.
    resolved: bool,
}

struct Level {
    /// Assertions below.
    start: usize,
    /// The literal that they hang on.
    active: Lit,
    variables: usize,
}

/// Levels above at most so many assertions may define variables.
const FEW: usize = 16;
/// So many dead variables are kept at least.
const DEAD: usize = 2_000;

/// What a solver has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Effort {
    /// Questions asked.
    pub checks: u64,
    /// Conflicts, of clauses and of bounds.
    pub conflicts: u64,
}

impl Embedded {
    /// A solver without assertions.
    pub fn new() -> Embedded {
        Embedded::default()
    }

    /// Words are taken as numbers that come back by multiples of `2^width`, rather than bit by bit.
    pub fn words_as_numbers(mut self) -> Embedded {
        self.state.numbers = true;
        self
    }

    /// Arrays of at most so many entries are listed by them (256, if nothing is said); others are instantiated, which needs more
    /// indexes than there are index terms.
    pub fn listing(mut self, entries: usize) -> Embedded {
        self.state.listed = Some(entries);
        self
    }

    /// What it has done so far.
    pub fn effort(&self) -> Effort {
        Effort { checks: self.checks, conflicts: self.conflicts + self.state.gates.sat.conflicts }
    }

    /// Translates what has been asserted since.
    fn translate(&mut self, terms: &Terms) {
        if self.dead == usize::MAX || (self.dead > DEAD && self.dead > self.state.gates.sat.variables() / 2) {
            self.conflicts += self.state.gates.sat.conflicts;
            let (listed, numbers) = (self.state.listed, self.state.numbers);
            self.state = Lowering::default();
            (self.state.listed, self.state.numbers) = (listed, numbers);
            self.dead = 0;
            self.translated = 0;
            self.defined_from = None;
            self.left_out.clear();
            for level in &mut self.levels {
                level.active = self.state.gates.fresh();
            }
        }
        let mut parts = vec![];
        for at in self.translated..self.assertions.len() {
            let level = self.levels.iter().rev().find(|l| l.start <= at).map(|l| (l.start, l.active));
            let active = level.map_or(Lit::TRUE, |l| l.1);
            let first = parts.len();
            conjuncts(terms, self.assertions[at], &mut parts, |t| (at, active, t));
            // A definition is for good. Above the lowest level it costs a fresh start when the level is closed.
            if level.is_none_or(|l| l.0 <= FEW) {
                let before = parts.len();
                let rest = parts.split_off(first);
                parts.extend(rest.into_iter().filter(|p| !self.define(terms, p.2)));
                if parts.len() < before && level.is_some() {
                    self.defined_from.get_or_insert(at);
                }
            }
        }
        self.translated = self.assertions.len();
        for (at, active, t) in parts {
            if let Err(what) = self.clauses(terms, t, active) {
                self.left_out.push((at, what));
            }
        }
    }

    /// If the term says what a variable is, lets the variable stand for that.
    fn define(&mut self, terms: &Terms, t: TermId) -> bool {
        let var = |t: TermId| match *terms.get(t) {
            Term::Var(v) => Some(v),
            _ => None,
        };
        if let Term::Eq(a, b) = *terms.get(t) {
            [(b, a), (a, b)].iter().any(|&(x, value)| var(x).is_some_and(|v| self.state.define(terms, v, value)))
        } else {
            false
        }
    }

    /// Adds a term as clauses that hang on a literal.
    fn clauses(&mut self, terms: &Terms, t: TermId, active: Lit) -> Result<(), String> {
        match terms.get(t) {
            Term::Or(parts) if !terms.may_fault(t) => {
                let mut lits = vec![!active];
                for &p in parts.clone().iter() {
                    lits.push(self.state.holds(terms, p)?);
                }
                self.state.gates.sat.clause(&lits);
                Ok(())
            }
            _ => {
                let lit = self.state.holds(terms, t)?;
                self.state.gates.sat.clause(&[!active, lit]);
                Ok(())
            }
        }
    }

    /// The model that the search has found, for all variables in the assertions and assumptions.
    fn model(&self, terms: &Terms, assumptions: &[TermId]) -> Valuation {
        let value = |(&v, code): (&VarId, _)| (v, self.state.value(terms, terms.variable(v).ty, code));
        let mut model: Valuation = self.state.vars.iter().map(value).collect();
        // What nobody asked for: any value, or what it is defined as. Definitions may depend on each other.
        let mut todo: Vec<VarId> = vec![];
        for &t in self.assertions.iter().chain(assumptions) {
            todo.extend(terms.free_vars(t).into_iter().filter(|v| !model.contains_key(v)));
        }
        while let Some(&v) = todo.last() {
            if model.contains_key(&v) {
                todo.pop();
                continue;
            }
            let value = match self.state.definitions.get(&v) {
                None => any_value(terms, terms.variable(v).ty),
                Some(&t) => {
                    let open: Vec<VarId> = terms.free_vars(t).into_iter().filter(|v| !model.contains_key(v)).collect();
                    if !open.is_empty() {
                        todo.extend(open);
                        continue;
                    }
                    eval(terms, t, &model, &mut NoHost).expect("definitions never fault")
                }
            };
            model.insert(v, value);
        }
        model
    }

    /// The model, if every term that was translated is true under it.
    fn checked_model(&self, terms: &Terms, assumptions: &[TermId], left_out: &[usize]) -> Valuation {
        let model = self.model(terms, assumptions);
        let asserted = self.assertions.iter().enumerate().filter(|(i, _)| !self.left_out.iter().any(|l| l.0 == *i));
        let assumed = assumptions.iter().enumerate().filter(|(i, _)| !left_out.contains(i));
        for (_, &t) in asserted.chain(assumed) {
            let value = eval(terms, t, &model, &mut NoHost);
            assert!(
                value == Ok(Value::Bool(true)),
                "internal error: the embedded solver's model does not satisfy an assertion (it gives {value:?})"
            );
        }
        model
    }
}

/// The parts of a conjunction that cannot fault, or the term itself.
fn conjuncts<T>(terms: &Terms, t: TermId, out: &mut Vec<T>, f: impl Fn(TermId) -> T) {
    let mut todo = vec![t];
    while let Some(t) = todo.pop() {
        match terms.get(t) {
            Term::And(parts) if !terms.may_fault(t) => todo.extend(parts.iter().rev()),
            _ => out.push(f(t)),
        }
    }
}

/// Some value of the type.
fn any_value(terms: &Terms, ty: Type) -> Value {
    match ty {
        Type::Array(index, entry) => {
            let entry = any_value(terms, terms.type_of_id(entry));
            Value::Array(ArrayValue::new(terms, terms.type_of_id(index), entry))
        }
        Type::Range(lo, hi) => Value::from_word(ty, 0.clamp(lo, hi)),
        _ => Value::from_word(ty, 0),
    }
}

impl Solver for Embedded {
    fn push(&mut self) {
        let active = self.state.gates.fresh();
        let variables = self.state.gates.sat.variables();
        self.levels.push(Level { start: self.assertions.len(), active, variables });
    }

    fn pop(&mut self) {
        let level = self.levels.pop().expect("an open level");
        self.assertions.truncate(level.start);
        self.translated = self.translated.min(level.start);
        self.left_out.retain(|l| l.0 < level.start);
        self.state.gates.sat.clause(&[!level.active]);
        self.dead = self.dead.saturating_add(self.state.gates.sat.variables().saturating_sub(level.variables));
        if self.defined_from.is_some_and(|at| at >= level.start) {
            self.defined_from = None;
            self.dead = usize::MAX;
        }
    }

    fn assert(&mut self, _: &Terms, t: TermId) {
        self.assertions.push(t);
    }

    fn check(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Meter) -> Answer {
        self.checks += 1;
        self.translate(terms);
        let mut lits: Vec<Lit> = self.levels.iter().map(|l| l.active).collect();
        let mut left_out = vec![];
        let mut reason = self.left_out.first().map(|l| l.1.clone());
        let mut origins = vec![];
        for (i, &a) in assumptions.iter().enumerate() {
            match self.state.holds(terms, a) {
                Ok(lit) => {
                    lits.push(lit);
                    origins.push((lit, i));
                }
                Err(what) => {
                    left_out.push(i);
                    reason.get_or_insert(what);
                }
            }
        }
        let why: Rc<Cell<Option<Reason>>> = Rc::default();
        let exceeded = {
            let (why, limits) = (why.clone(), limits.clone());
            move |steps| {
                let reason = limits.exceeded(steps).map(Reason::from);
                let stop = reason.is_some();
                why.set(reason);
                stop
            }
        };
        let in_theory = exceeded.clone();
        self.state.lia.stop = Some(Box::new(move || in_theory(0)));
        let outcome = self.state.gates.sat.solve(&lits, &mut self.state.lia, exceeded);
        let answer = match outcome {
            Outcome::Sat => {
                let model = self.checked_model(terms, assumptions, &left_out);
                match reason {
                    None => Answer::Sat(model),
                    Some(what) if self.resolved => Answer::Unknown(Reason::Unsupported(what)),
                    Some(what) => constants::answer(terms, &self.assertions, assumptions, limits)
                        .unwrap_or(Answer::Unknown(Reason::Unsupported(what))),
                }
            }
            Outcome::Unsat(core) => {
                let mut positions: Vec<usize> = vec![];
                for lit in core {
                    // One position for each literal: equal assumptions need not all be named.
                    positions.extend(origins.iter().find(|o| o.0 == lit).map(|o| o.1));
                }
                positions.sort_unstable();
                Answer::Unsat(positions)
            }
            Outcome::Stopped | Outcome::GaveUp => Answer::Unknown(why.take().unwrap_or(Reason::Steps)),
        };
        self.state.gates.sat.reset(&mut self.state.lia);
        answer
    }
}
