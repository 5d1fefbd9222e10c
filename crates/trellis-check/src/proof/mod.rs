//! Questions to a solver whose answers need not be believed.
//!
//! 1. The terms are read here (`read`, `sums`, `gates`, `arrays`) and become clauses, some of whose variables are bounds on sums of
//!    integers ([`trellis_smt::proof::Problem`]). Whatever satisfies the terms satisfies the clauses.
//! 2. The embedded solver searches for a refutation of the clauses ([`trellis_smt::refute`]) and writes down the steps.
//! 3. [`follow`] takes each step: unit propagation, and sums that are added up. If it comes to the empty clause, there is nothing that
//!    satisfies the terms.
//!
//! What must be right for that are the files of this module, and none of the solver's. Nothing is done here to be fast, apart from hints
//! which clauses to propagate.
//!
//! It does not produce counterexamples to be relied on: a model of the clauses is given back as values of the variables, for messages.

mod arrays;
mod follow;
mod gates;
mod read;
mod sums;

use dashu_int::IBig;
use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Terms, Type, Value, VarId};
use trellis_meter::Meter;
use trellis_smt::proof::{Found, Problem, Step};
use trellis_smt::{Reason, refute};

pub use follow::{Wrong, follow};
pub(crate) use gates::{Builder, FALSE, Lit, TRUE};
pub(crate) use read::{Code, Env, Foreign, Reader};

/// What came of a question.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Nothing satisfies the terms: the clauses that they became, and a refutation, which has been followed.
    Unsat(Box<(Problem, Vec<Step>)>),
    /// The clauses have a model; these values of variables are in it. They need not satisfy the terms.
    Open(Valuation),
    /// Not decided: a proof was not found, or is wrong, or the terms have no clauses.
    Unknown(Reason),
}

/// Can the terms all evaluate to true? If not, with a proof that has been followed.
pub fn prove(terms: &Terms, all: &[TermId], limits: &Meter) -> Answer {
    let mut b = Builder::new();
    let env = Env::default();
    let mut reader = Reader::new(&mut b, terms, &env);
    for &t in all {
        match reader.holds(t) {
            Ok(l) => reader.b.clause(&[l]),
            Err(Foreign) => return Answer::Unknown(Reason::Unsupported("foreign functions".into())),
        }
    }
    match b.ask(terms, limits) {
        Asked::Refuted(proof) => Answer::Unsat(proof),
        Asked::Model(model) => Answer::Open(model.values(terms, &env)),
        Asked::Unknown(why) => Answer::Unknown(why),
    }
}

/// What came of a problem.
pub(crate) enum Asked {
    Refuted(Box<(Problem, Vec<Step>)>),
    Model(Model),
    Unknown(Reason),
}

/// Values of the variables and integers of a problem.
pub(crate) struct Model {
    bools: Vec<bool>,
    integers: Vec<IBig>,
}

impl Builder {
    /// Looks for a refutation, and follows it.
    pub(crate) fn ask(mut self, terms: &Terms, limits: &Meter) -> Asked {
        self.finish_arrays(terms);
        match refute(&self.problem, limits) {
            Found::Refutation(steps) => match follow(&self.problem, &steps) {
                Ok(()) => Asked::Refuted(Box::new((self.problem, steps))),
                Err(wrong) => Asked::Unknown(Reason::Process(format!("internal error: {wrong}"))),
            },
            Found::Model(bools, integers) => match self.open {
                Some(what) => Asked::Unknown(Reason::Unsupported(what.into())),
                None => Asked::Model(Model { bools, integers }),
            },
            Found::Unknown(why) => Asked::Unknown(why),
        }
    }
}

impl Model {
    pub(crate) fn truth(&self, l: Lit) -> bool {
        self.bools[l.unsigned_abs() as usize - 1] == (l > 0)
    }

    /// Of the variables at the start, but for arrays.
    pub(crate) fn values(&self, terms: &Terms, env: &Env) -> Valuation {
        env.at_start().into_iter().filter_map(|(v, code)| Some((v, self.value(terms, v, &code)?))).collect()
    }

    fn value(&self, terms: &Terms, v: VarId, code: &Code) -> Option<Value> {
        Some(match code {
            Code::Bool(l) => Value::Bool(self.truth(*l)),
            Code::Int(l) => {
                let parts = l.terms.iter().map(|(x, k)| &self.integers[*x as usize] * k);
                Value::Int(parts.fold(l.constant.clone(), |s, n| s + n))
            }
            Code::Word(w) => {
                let bits = w.iter().enumerate().fold(0, |n, (i, l)| n | u64::from(self.truth(*l)) << i);
                match terms.variable(v).ty {
                    Type::Bits { width, signed } => Value::Bits { width, signed, bits },
                    Type::Enum(e) => Value::Enum(e, bits as u32),
                    _ => return None,
                }
            }
            Code::Array(..) => return None,
        })
    }
}
