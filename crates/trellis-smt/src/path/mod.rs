//! Refining an infeasible path: one predicate for each position that shows why no run gets through.
//!
//! A path is a list of statements. It is *infeasible* if no run goes through all of them without a fault or a block. Then [`Refine`] finds
//! predicates `p₀ = true, p₁, …, pₙ = false` over the variables such that every run of statement `i` from `pᵢ` ends in `pᵢ₊₁`; `triple` checks
//! that. There are three ways: [`Newton`] (pre- or postconditions of the statements in the unsat core, DESIGN §2; D. Dietsch, M. Heizmann,
//! B. Musa, A. Nutz, A. Podelski, "Craig vs. Newton in software model checking", 2017), [`Interpolate`] (sequence interpolants from
//! certificates), and [`CoreVariables`] (which variables matter where, for explicit values).
//!
//! `live` says which variables matter later, `models` finds interpolants by looking at models where quantifiers could not be eliminated.
//! Loops and foreign calls are not for this module: the path is taken as it is.

mod core;
mod interpolate;
mod live;
mod models;
mod newton;
mod triple;

use std::collections::BTreeSet;

use trellis_expr::eval::Valuation;
use trellis_expr::ssa::Unrolling;
use trellis_expr::value::ArrayValue;
use trellis_expr::{StmtId, TermId, Terms, Type, Value, VarId};

pub use self::core::CoreVariables;
pub use self::interpolate::Interpolate;
pub use self::newton::Newton;
pub use self::triple::{Broken, check_triples};

use crate::{Answer, Meter, Reason, Solver};

/// Shows why a path is infeasible. All paths of one refiner belong to one arena, as do the terms of the solver, which should have no
/// assertions of its own.
pub trait Refine {
    /// Predicates along the path, unless it is feasible.
    fn refute(
        &mut self,
        terms: &mut Terms,
        path: &[StmtId],
        solver: &mut dyn Solver,
        limits: &Meter,
    ) -> Result<Refutation, NotRefuted>;
}

/// Why no run gets through a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refutation {
    /// One for each position (one more than there are statements), over the variables of the path; they do not fault. The first is
    /// true, the last is false, and every run of a statement from the one before it ends in the one after it.
    pub predicates: Vec<TermId>,
    /// The variables that matter at each position.
    pub variables: Vec<BTreeSet<VarId>>,
}

/// Why there is no refutation.
#[derive(Debug, Clone, PartialEq)]
pub enum NotRefuted {
    /// There is a run: its states, one for each position.
    Feasible(Vec<Valuation>),
    /// Not decided, or no predicates found.
    Unknown(Reason),
}

impl From<Reason> for NotRefuted {
    fn from(reason: Reason) -> NotRefuted {
        NotRefuted::Unknown(reason)
    }
}

impl Refutation {
    /// The predicates, with the variables that they mention.
    fn of(terms: &Terms, predicates: Vec<TermId>) -> Refutation {
        let variables = predicates.iter().map(|&p| terms.free_vars(p)).collect();
        Refutation { predicates, variables }
    }
}

/// A path whose statements contradict each other.
struct Infeasible {
    /// What each statement says about the versions of the variables.
    formulas: Vec<TermId>,
    /// Is the statement needed for the contradiction?
    core: Vec<bool>,
    /// The first statement that is.
    first: usize,
    /// The last one.
    last: usize,
}

impl Infeasible {
    /// The formulas of the core within some positions.
    fn needed(&self, positions: std::ops::Range<usize>) -> Vec<TermId> {
        positions.filter(|&i| self.core[i]).map(|i| self.formulas[i]).collect()
    }
}

/// Unrolls the path and asks the solver.
fn contradiction(
    terms: &mut Terms,
    unrolling: &mut Unrolling,
    path: &[StmtId],
    solver: &mut dyn Solver,
    limits: &Meter,
) -> Result<Infeasible, NotRefuted> {
    let formulas = unroll(terms, unrolling, path)?;
    if let Some(i) = formulas.iter().position(|&f| terms.as_bool(f) == Some(false)) {
        let core = (0..path.len()).map(|k| k == i).collect();
        return Ok(Infeasible { formulas, core, first: i, last: i });
    }
    match solver.check(terms, &formulas, limits) {
        Answer::Sat(model) => Err(NotRefuted::Feasible(states(terms, unrolling, path, &model))),
        Answer::Unknown(reason) => Err(reason.into()),
        Answer::Unsat(core) => {
            let core = shrunk(terms, &formulas, core, solver, limits);
            let (Some(&first), Some(&last)) = (core.iter().min(), core.iter().max()) else {
                return Err(Reason::Process("it contradicts itself without the path".to_owned()).into());
            };
            let core = (0..path.len()).map(|i| core.contains(&i)).collect();
            Ok(Infeasible { formulas, core, first, last })
        }
    }
}

fn unroll(terms: &mut Terms, unrolling: &mut Unrolling, path: &[StmtId]) -> Result<Vec<TermId>, Reason> {
    unrolling.restart();
    let formulas: Result<Vec<TermId>, _> = path.iter().map(|&s| unrolling.step(terms, s)).collect();
    formulas.map_err(|what| Reason::Unsupported(what.to_string()))
}

/// Tries to do without each formula of the core in turn.
fn shrunk(
    terms: &Terms,
    formulas: &[TermId],
    mut core: Vec<usize>,
    solver: &mut dyn Solver,
    limits: &Meter,
) -> Vec<usize> {
    let mut kept = 0;
    while kept < core.len() {
        let mut less = core.clone();
        less.remove(kept);
        let assumed: Vec<TermId> = less.iter().map(|&i| formulas[i]).collect();
        match solver.check(terms, &assumed, limits) {
            // Those that are known to be needed are in it again.
            Answer::Unsat(enough) => core = enough.into_iter().map(|i| less[i]).collect(),
            _ => kept += 1,
        }
    }
    core
}

/// The variables that a path reads or writes.
fn variables(terms: &Terms, path: &[StmtId]) -> BTreeSet<VarId> {
    path.iter()
        .flat_map(|&s| {
            let (reads, writes) = terms.stmt_vars(s);
            reads.into_iter().chain(writes)
        })
        .collect()
}

/// The states along the path that a model describes; what it leaves open may have any value.
fn states(terms: &Terms, unrolling: &Unrolling, path: &[StmtId], model: &Valuation) -> Vec<Valuation> {
    let vars = variables(terms, path);
    let value = |v: VarId, position: usize| {
        let version = unrolling.version(v, position);
        (v, model.get(&version).cloned().unwrap_or_else(|| some_value(terms, terms.variable(v).ty)))
    };
    (0..=path.len()).map(|position| vars.iter().map(|&v| value(v, position)).collect()).collect()
}

/// A value of the type.
fn some_value(terms: &Terms, ty: Type) -> Value {
    match ty {
        Type::Array(index, entry) => {
            let entry = some_value(terms, terms.type_of_id(entry));
            Value::Array(ArrayValue::new(terms, terms.type_of_id(index), entry))
        }
        Type::Range(lo, hi) => Value::Int(0.clamp(lo, hi).into()),
        _ => Value::from_word(ty, 0),
    }
}
