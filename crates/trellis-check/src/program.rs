//! Evidence about control-flow automata: invariants are checked by a solver, traces are replayed.
//!
//! A certificate ([`trellis_model::cfa::evidence`]) is an invariant at some locations: everything holds at the start, the edges lead from
//! each element of the invariant into the invariant, error locations have none. `edges` follows the edges of the automaton as they
//! are, with a reading of terms and statements of its own, and a refutation of every way out that it follows step by step
//! ([`crate::proof`]); nothing is shared with the engines. `quick` goes through large blocks and believes the solver; it is for what
//! there is no proof of, and those questions are counted.
//!
//! Elements that are *points*, values for some variables, need no solver where the reference interpreter can run the edges from them
//! and comes to points again. It gives up where an edge reads anything else, and then a proof is needed.

mod edges;
mod quick;

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use trellis_expr::eval::Valuation;
use trellis_expr::{Term, TermId, Terms, Value, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::evidence::{Certificate, Trace};
use trellis_model::cfa::interpret;
use trellis_model::cfa::{Cfa, LocationId};
use trellis_smt::Reason;

/// What is wrong with evidence about an automaton.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Rejection {
    /// Something in it is not about this automaton.
    Malformed(String),
    /// Some values at the start are not in the invariant.
    Start(Valuation),
    /// A block, from one location to another, leads out of the invariant.
    Step {
        /// Where it starts.
        from: LocationId,
        /// Where it leads.
        to: LocationId,
        /// Versions of the variables around it.
        values: Valuation,
    },
    /// The same, for runs of several blocks.
    Steps(usize, Valuation),
    /// An error location has states.
    Error(LocationId),
    /// Not decided.
    Undecided(Reason),
    /// The run is none.
    Run(interpret::Error),
    /// The run ends elsewhere than in an error.
    Harmless(LocationId),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Malformed(what) => write!(f, "this is not about the automaton: {what}"),
            Rejection::Start(_) => write!(f, "the invariant does not hold everywhere at the start"),
            Rejection::Step { from, to, .. } => {
                write!(f, "a step from location {} to location {} leads out of the invariant", from.0, to.0)
            }
            Rejection::Steps(k, _) => write!(f, "{k} steps inside the invariant may lead out of it"),
            Rejection::Error(l) => write!(f, "the invariant allows the error location {}", l.0),
            Rejection::Undecided(why) => write!(f, "not decided: {why}"),
            Rejection::Run(mistake) => write!(f, "{mistake}"),
            Rejection::Harmless(_) => write!(f, "the run does not end in an error location"),
        }
    }
}

impl std::error::Error for Rejection {}

/// Does the trace lead into an error location?
pub fn replay(cfa: &Cfa, trace: &Trace) -> Result<(), Rejection> {
    let end = interpret::replay(cfa, trace).map_err(Rejection::Run)?;
    if cfa.is_error(end.location) { Ok(()) } else { Err(Rejection::Harmless(end.location)) }
}

/// How an invariant was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// How many refutations were followed.
    pub proved: usize,
    /// How many questions the solver was asked whose answers were believed.
    pub asked: usize,
    /// How often the interpreter ran the edges instead.
    pub run: usize,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut parts = vec![];
        if self.run > 0 {
            parts.push(format!("{} run", count(self.run, "step")));
        }
        if self.proved > 0 || self.run + self.asked == 0 {
            parts.push(format!("{} followed", count(self.proved, "proof")));
        }
        if self.asked > 0 {
            parts.push(format!("{} to the solver", count(self.asked, "question")));
        }
        f.write_str(&parts.join(", "))
    }
}

/// Is the certificate an invariant without errors? Edge by edge, with proofs; where there is no proof, as [`quickly`].
pub fn certify(cfa: &Cfa, certificate: &Certificate, limits: &Meter) -> Result<Work, Rejection> {
    match edges::certify(cfa, certificate, limits) {
        Err(edges::Failed::Rejected(why)) => Err(why),
        Err(edges::Failed::Unproved) => quickly(cfa, certificate, limits),
        Ok(work) => Ok(work),
    }
}

/// The same in the quick way: in large blocks, and the solver is believed.
pub fn quickly(cfa: &Cfa, certificate: &Certificate, limits: &Meter) -> Result<Work, Rejection> {
    quick::certify(cfa, certificate, limits)
}

/// More outcomes of a block than this are for the solver.
pub(crate) const OUTCOMES: usize = 1 << 12;

/// What variables a term gives which values, if that is all that it says.
pub(crate) fn point(terms: &Terms, t: TermId) -> Option<Valuation> {
    let mut point = Valuation::new();
    let mut todo = vec![t];
    while let Some(t) = todo.pop() {
        let (v, value) = match *terms.get(t) {
            Term::And(ref parts) => {
                todo.extend(parts.iter().copied());
                continue;
            }
            Term::Bool(true) => continue,
            Term::Var(v) => (v, Value::Bool(true)),
            Term::Not(a) => match *terms.get(a) {
                Term::Var(v) => (v, Value::Bool(false)),
                _ => return None,
            },
            Term::Eq(a, b) => match (terms.get(a), terms.get(b)) {
                (&Term::Var(v), literal) | (literal, &Term::Var(v)) => (v, literal_value(literal)?),
                _ => return None,
            },
            _ => return None,
        };
        // Two values for one variable are no point.
        if point.insert(v, value.clone()).is_some_and(|old| old != value) {
            return None;
        }
    }
    Some(point)
}

fn literal_value(t: &Term) -> Option<Value> {
    match *t {
        Term::Bool(b) => Some(Value::Bool(b)),
        Term::Int(n) => Some(Value::Int(n.into())),
        Term::EnumLit(e, n) => Some(Value::Enum(e, n)),
        Term::Bits(width, signed, bits) => Some(Value::Bits { width, signed, bits }),
        _ => None,
    }
}

/// Points, by the variables that they speak of.
pub(crate) struct Points(BTreeMap<Vec<VarId>, HashSet<Vec<i64>>>);

impl Points {
    pub(crate) fn new<'p>(all: impl IntoIterator<Item = &'p Option<Valuation>>) -> Points {
        let mut sets: BTreeMap<Vec<VarId>, HashSet<Vec<i64>>> = BTreeMap::new();
        for point in all.into_iter().flatten() {
            let words: Option<Vec<i64>> = point.values().map(Value::to_word).collect();
            if let Some(words) = words {
                sets.entry(point.keys().copied().collect()).or_default().insert(words);
            }
        }
        Points(sets)
    }

    /// Is one of them what this valuation says?
    pub(crate) fn has(&self, env: &Valuation) -> bool {
        self.0.iter().any(|(vars, set)| {
            let words: Option<Vec<i64>> = vars.iter().map(|v| env.get(v).and_then(Value::to_word)).collect();
            words.is_some_and(|words| set.contains(&words))
        })
    }
}

/// A variable in the term that the automaton does not have.
fn foreign_variable(cfa: &Cfa, terms: &Terms, t: TermId) -> Option<String> {
    let v = terms.free_vars(t).into_iter().find(|v| !cfa.variables.contains(v))?;
    Some(terms.variable(v).name.clone())
}
