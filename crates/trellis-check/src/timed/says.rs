//! What entries say of data beside the values that they know: predicates, as assertions in SMT-LIB.
//!
//! Such an entry stands for the states that have its locations, the values that it knows, and satisfy all its assertions. What
//! three truth values leave open ([`super::partial`]) is asked of a solver: whether a combination can happen, whether all that it
//! leads to is in another entry, what a condition is worth. What the solver does not know is not believed.
//!
//! Constants of a script are the model's variables of the same name.

use rustc_hash::FxHashMap;
use trellis_expr::defined::Defined;
use trellis_expr::partial::Partial;
use trellis_expr::{TermId, Terms, Type, Value, VarId};
use trellis_meter::Meter;
use trellis_model::network::Condition;
use trellis_smt::smtlib::{self, Command};
use trellis_smt::{Embedded, Solver};

use super::partial::look;
use super::{Checker, Entry};
use crate::{Cause, Rejection};

/// So many conflicts are allowed for one question.
const EFFORT: u64 = 100_000;

/// Asks a solver.
#[derive(Default)]
pub(super) struct Asking {
    solver: Embedded,
    defined: Defined,
}

impl Asking {
    /// Can these never be true together with a formula that holds, or faults?
    fn excludes(&mut self, terms: &mut Terms, facts: &[TermId], t: TermId) -> bool {
        let Ok(defined) = self.defined.of(terms, t) else { return false };
        let not = terms.not(t);
        let fine = terms.and([defined, not]);
        let all: Vec<TermId> = facts.iter().copied().chain([terms.not(fine)]).collect();
        self.solver.check(terms, &all, &Meter::unlimited().steps(EFFORT)).is_unsat()
    }
}

/// Do values of one type stand for values of the other in a script?
fn is_alike(terms: &Terms, a: Type, b: Type) -> bool {
    match (a, b) {
        (Type::Bool, Type::Bool) => true,
        (Type::Int | Type::Range(..), Type::Int | Type::Range(..)) => true,
        (Type::Array(i, e), Type::Array(j, f)) => {
            is_alike(terms, terms.type_of_id(i), terms.type_of_id(j))
                && is_alike(terms, terms.type_of_id(e), terms.type_of_id(f))
        }
        _ => false,
    }
}

impl<'a> Checker<'a> {
    /// The assertions of an entry, over the model's variables. They never fault.
    pub(super) fn assertions(&mut self, text: &str) -> Result<Vec<TermId>, Rejection> {
        let malformed = |what: String| Rejection::new(Cause::Malformed(what));
        let partial = self.partial.as_mut().expect("entries say something of data");
        let terms = &mut partial.combinations.terms;
        let commands = smtlib::read(text, terms).map_err(|e| malformed(format!("what is said of data: {e}")))?;
        let mut map: FxHashMap<VarId, TermId> = FxHashMap::default();
        let mut found = Vec::new();
        for (_, command) in commands {
            match command {
                Command::Declare(name, Ok(v)) => {
                    let mut vars = self.net.vars.iter().map(|d| d.var).filter(|d| terms.variable(*d).name == name);
                    let (Some(var), None) = (vars.next(), vars.next()) else {
                        return Err(malformed(format!("`{name}` is not the name of a variable")));
                    };
                    if !is_alike(terms, terms.variable(v).ty, terms.variable(var).ty) {
                        return Err(malformed(format!("`{name}` has another type")));
                    }
                    map.insert(v, terms.var(var));
                }
                Command::Assert(Ok(t), _) => found.push(t),
                Command::Set(..) | Command::Logic(_) | Command::Define | Command::Check(_) => {}
                _ => return Err(malformed("what is said of data has more than declarations and assertions".into())),
            }
        }
        let assertion = |t: TermId| {
            let t = terms.substitute(t, &map);
            partial.asking.defined.holds(terms, t).map_err(|e| malformed(e.to_string()))
        };
        found.into_iter().map(assertion).collect()
    }

    /// All that an entry says of data.
    fn facts(&mut self, i: usize) -> Vec<TermId> {
        let partial = self.partial.as_mut().expect("entries say something of data");
        let e = &self.entries[i];
        let mut facts = e.says.clone();
        let mut at = 0;
        for v in &self.net.vars {
            let range = at..at + v.init.len();
            at = range.end;
            if e.known.is_empty() || e.known[range.clone()].iter().all(|&k| k) {
                facts.push(partial.combinations.is(v, &e.state.data[range]));
            }
        }
        facts
    }

    /// Is an entry one state? Then there is nothing to ask.
    fn is_one(&self, i: usize) -> bool {
        self.entries[i].says.is_empty() && self.entries[i].known.iter().all(|&k| k)
    }

    /// Does what an entry says, or what types say, forbid a combination?
    pub(super) fn forbids(&mut self, i: usize, c: u32) -> bool {
        if self.is_one(i) {
            return false;
        }
        let facts = self.facts(i);
        let partial = self.partial.as_mut().expect("entries say something of data");
        let Some(condition) = partial.combinations.condition(c) else { return false };
        partial.asking.excludes(&mut partial.combinations.terms, &facts, condition)
    }

    /// Is all that an entry says true of these values, as far as they are known?
    pub(super) fn satisfies(&self, e: &Entry<'_>, env: &Partial) -> bool {
        let terms = &self.partial.as_ref().expect("entries say something of data").combinations.terms;
        e.says.iter().all(|&t| look(terms, t, env).value == Some(Value::Bool(true)))
    }

    /// Does a combination lead from one entry to nothing but what another says?
    pub(super) fn implies(&mut self, i: usize, c: u32, j: usize) -> bool {
        if self.is_one(i) {
            return false;
        }
        // What is known of single cells is no fact here, and must not be forgotten.
        let mut cells = self.entries[j].known;
        for v in self.net.vars.iter().filter(|_| !self.entries[j].known.is_empty()) {
            let (of_one, rest) = cells.split_at(v.init.len());
            if of_one.iter().any(|&k| k != of_one[0]) {
                return false;
            }
            cells = rest;
        }
        let goals = self.facts(j);
        let partial = self.partial.as_mut().expect("entries say something of data");
        let goal = partial.combinations.terms.and(goals);
        self.ensures(i, c, goal)
    }

    /// Does a combination lead from an entry to nothing but where a formula holds?
    pub(super) fn ensures(&mut self, i: usize, c: u32, goal: TermId) -> bool {
        if self.is_one(i) {
            return false;
        }
        let facts = self.facts(i);
        let partial = self.partial.as_mut().expect("entries say something of data");
        let otherwise = partial.combinations.terms.not(goal);
        let Some(before) = partial.combinations.before(c, otherwise) else { return false };
        partial.asking.excludes(&mut partial.combinations.terms, &facts, before)
    }

    /// The value of a truth value wherever an entry stands, given some others.
    pub(super) fn truth(&mut self, c: &Condition, i: usize, truths: &[(VarId, bool)]) -> Option<i64> {
        if self.is_one(i) {
            return None;
        }
        let facts = self.facts(i);
        let partial = self.partial.as_mut().expect("entries say something of data");
        let t = partial.combinations.truth(c)?;
        let terms = &mut partial.combinations.terms;
        if terms.ty(t) != Type::Bool {
            return None;
        }
        let locations = self.net.processes.iter().zip(&self.entries[i].state.locations);
        let mut map: FxHashMap<VarId, TermId> =
            locations.map(|(p, &l)| (p.location, terms.int(i64::from(l)))).collect();
        map.extend(truths.iter().map(|&(v, b)| (v, terms.bool(b))));
        let t = terms.substitute(t, &map);
        let not = terms.not(t);
        if partial.asking.excludes(terms, &facts, t) {
            return Some(0);
        }
        partial.asking.excludes(terms, &facts, not).then_some(1)
    }
}
