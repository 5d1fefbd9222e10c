//! What is followed where: precisions by location, and how they take in what a refutation says (004 §2.3.3).

use std::sync::Arc;

use trellis_expr::{Term, TermId, Terms, Type, VarId};
use trellis_model::cfa::{Cfa, LocationId};
use trellis_smt::path::Refutation;

use super::cegar::{Domain, Scope, Split};
use super::post::{Post, Precision};

/// Precisions of all locations.
#[derive(Debug, Clone)]
pub struct Precisions {
    domain: Domain,
    scope: Scope,
    /// By location; all the same one if the scope is global.
    list: Vec<Arc<Precision>>,
}

impl Precisions {
    /// Control variables are followed everywhere, and nothing else.
    pub fn new(cfa: &Cfa, domain: Domain, scope: Scope) -> Precisions {
        let control = Arc::new(Precision { variables: cfa.control.iter().copied().collect(), ..Precision::default() });
        Precisions { domain, scope, list: vec![control; cfa.locations().len()] }
    }

    /// What is followed at a location.
    pub fn at(&self, l: LocationId) -> &Arc<Precision> {
        &self.list[l.index()]
    }

    /// The same, to be changed.
    pub fn at_mut(&mut self, l: LocationId) -> &mut Precision {
        Arc::make_mut(&mut self.list[l.index()])
    }

    /// Takes in what a refutation says at a position, at this location. Is it new there?
    pub fn learn(
        &mut self,
        terms: &mut Terms,
        post: &mut Post,
        l: LocationId,
        refutation: &Refutation,
        position: usize,
        split: Split,
    ) -> bool {
        let predicate = refutation.predicates[position];
        if self.domain == Domain::Explicit {
            if terms.as_bool(predicate).is_some() {
                return false;
            }
            let yes = terms.bool(true);
            return self.take_in(terms, post, l, yes, refutation.variables[position].iter().copied());
        }
        let mut parts = vec![];
        take_apart(terms, predicate, split, &mut parts);
        let mut new = false;
        for p in parts {
            let variables = terms.free_vars(p);
            new |= self.take_in(terms, post, l, p, variables.into_iter());
        }
        new
    }

    /// One more thing to follow at a location: a predicate, or its variables. Is it new there?
    pub fn take_in(
        &mut self,
        terms: &mut Terms,
        post: &mut Post,
        l: LocationId,
        p: TermId,
        variables: impl Iterator<Item = VarId>,
    ) -> bool {
        let mut gained = Precision::default();
        let trackable = |terms: &Terms, v: VarId| !matches!(terms.variable(v).ty, Type::Array(..));
        let is_value = match self.domain {
            Domain::Explicit => true,
            Domain::Predicates(_) => false,
            Domain::Product(_) => {
                is_about_a_value(terms, p) && terms.free_vars(p).iter().all(|&v| !post.too_many.contains(&(l, v)))
            }
        };
        if is_value {
            gained.variables.extend(variables.filter(|&v| trackable(terms, v)));
        } else {
            gained.predicates.extend(post.predicates.number(terms, p));
        }
        let places = match self.scope {
            Scope::Local => l.index()..l.index() + 1,
            Scope::Global => 0..self.list.len(),
        };
        let mut new = false;
        for at in places {
            let here = &self.list[at];
            if gained.variables.is_subset(&here.variables) && gained.predicates.is_subset(&here.predicates) {
                continue;
            }
            new |= at == l.index();
            let here = Arc::make_mut(&mut self.list[at]);
            here.variables.extend(&gained.variables);
            here.predicates.extend(&gained.predicates);
        }
        new
    }
}

/// Is it about values that are few, or one variable having one value?
fn is_about_a_value(terms: &Terms, p: TermId) -> bool {
    let few = |v: &VarId| match terms.variable(*v).ty {
        Type::Bool | Type::Enum(_) => true,
        Type::Range(lo, hi) => hi.saturating_sub(lo) < 16,
        _ => false,
    };
    if terms.free_vars(p).iter().all(few) {
        return true;
    }
    let p = match *terms.get(p) {
        Term::Not(p) => p,
        _ => p,
    };
    match *terms.get(p) {
        Term::Eq(a, b) => {
            let var = |t| matches!(terms.get(t), Term::Var(_));
            (var(a) && terms.as_value(b).is_some()) || (var(b) && terms.as_value(a).is_some())
        }
        _ => false,
    }
}

/// A predicate in parts.
pub fn take_apart(terms: &Terms, p: TermId, split: Split, out: &mut Vec<TermId>) {
    match (split, terms.get(p)) {
        (Split::Conjuncts, Term::And(parts)) => parts.iter().for_each(|&p| take_apart(terms, p, split, out)),
        (Split::Atoms, Term::And(parts) | Term::Or(parts)) => {
            parts.iter().for_each(|&p| take_apart(terms, p, split, out));
        }
        (Split::Atoms, &Term::Not(p)) => take_apart(terms, p, split, out),
        (Split::Atoms, &Term::Ite(a, b, c)) if terms.ty(b) == Type::Bool => {
            [a, b, c].into_iter().for_each(|p| take_apart(terms, p, split, out));
        }
        (Split::Atoms, &Term::Eq(a, b)) if terms.ty(a) == Type::Bool => {
            [a, b].into_iter().for_each(|p| take_apart(terms, p, split, out));
        }
        _ if terms.as_bool(p).is_some() => {}
        _ => out.push(p),
    }
}
