//! Newton: pre- or postconditions along the path, of what the unsat core needs.
//!
//! Statements outside the core are forgotten: assumptions are dropped, assignments give any value. Forward, a predicate is the strongest
//! postcondition of the one before; variables that no later statement of the core reads are projected away. Backward, it
//! is the weakest precondition of the one after. Both need quantifier elimination; where that fails, or gives something unwieldy, an
//! interpolant takes its place: from certificates, or by looking at models. Any that fits will do.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::ssa::Unrolling;
use trellis_expr::transform::Transformer;
use trellis_expr::{Stmt, StmtId, Term, TermId, Terms, Type, VarId};

use super::{Infeasible, NotRefuted, Refine, Refutation, contradiction, live::live, models};
use crate::qe::{TooHard, eliminate};
use crate::tidy::tidy;
use crate::{Meter, Reason, Solver, interpolants};

/// A predicate with more different sub-terms than this is replaced by an interpolant, if one is found easily.
const LARGE: usize = 25;
/// An interpolant with more than this is not used, and an exact predicate only as the last resort.
const HUGE: usize = 200;

/// Of a statement with more ways through it than this there are no exact conditions: choices in a row multiply in them.
const MANY: u64 = 500;

/// Pre- or postconditions of the unsat core.
#[derive(Debug, Clone)]
pub struct Newton {
    forward: bool,
    names: Names,
}

/// The variables that refuting takes, declared once.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    pub unrolling: Unrolling,
    transformer: Transformer,
}

impl Newton {
    /// By strongest postconditions, from the beginning.
    pub fn forward() -> Newton {
        Newton { forward: true, names: Names::default() }
    }

    /// By weakest preconditions, from the end.
    pub fn backward() -> Newton {
        Newton { forward: false, names: Names::default() }
    }
}

impl Refine for Newton {
    fn refute(
        &mut self,
        terms: &mut Terms,
        path: &[StmtId],
        solver: &mut dyn Solver,
        limits: &Meter,
    ) -> Result<Refutation, NotRefuted> {
        let infeasible = contradiction(terms, &mut self.names.unrolling, path, solver, limits)?;
        let mut work = Work::new(terms, &mut self.names, path, &infeasible, solver, limits);
        let predicates = work.either(self.forward)?;
        Ok(Refutation::of(terms, predicates))
    }
}

/// The predicates of a path whose core is known, by strongest postconditions.
pub(super) fn forward(
    terms: &mut Terms,
    names: &mut Names,
    path: &[StmtId],
    infeasible: &Infeasible,
    solver: &mut dyn Solver,
    limits: &Meter,
) -> Result<Vec<TermId>, Reason> {
    Work::new(terms, names, path, infeasible, solver, limits).either(true)
}

struct Work<'a> {
    terms: &'a mut Terms,
    unrolling: &'a Unrolling,
    transformer: &'a mut Transformer,
    path: &'a [StmtId],
    infeasible: &'a Infeasible,
    solver: &'a mut dyn Solver,
    limits: &'a Meter,
}

impl<'a> Work<'a> {
    fn new(
        terms: &'a mut Terms,
        names: &'a mut Names,
        path: &'a [StmtId],
        infeasible: &'a Infeasible,
        solver: &'a mut dyn Solver,
        limits: &'a Meter,
    ) -> Work<'a> {
        let Names { unrolling, transformer } = names;
        Work { terms, unrolling, transformer, path, infeasible, solver, limits }
    }

    /// The statement, or what is left of it outside the core.
    fn abstracted(&mut self, i: usize) -> StmtId {
        if self.infeasible.core[i] {
            return self.path[i];
        }
        let (_, writes) = self.terms.stmt_vars(self.path[i]);
        let parts: Vec<StmtId> = writes.into_iter().map(|v| self.terms.havoc(v)).collect();
        self.terms.seq(parts)
    }

    /// True up to the first statement of the core, false after the last one; and the positions between.
    fn frame(&mut self) -> (Vec<TermId>, std::ops::Range<usize>) {
        let (yes, no) = (self.terms.bool(true), self.terms.bool(false));
        let Infeasible { first, last, .. } = *self.infeasible;
        let at = |i: usize| if i <= first { yes } else { no };
        ((0..=self.path.len()).map(at).collect(), first + 1..last + 1)
    }

    /// In the one direction; or, where elimination and interpolation both fail, in the other.
    fn either(&mut self, forward: bool) -> Result<Vec<TermId>, Reason> {
        let first = if forward { self.forward() } else { self.backward() };
        first.or_else(|reason| {
            let second = if forward { self.backward() } else { self.forward() };
            second.map_err(|_| reason)
        })
    }

    fn forward(&mut self) -> Result<Vec<TermId>, Reason> {
        let live = live(self.terms, self.path, &self.infeasible.core);
        let (mut predicates, within) = self.frame();
        for i in within {
            if let Some(reason) = self.limits.exceeded(0) {
                return Err(reason.into());
            }
            let before = predicates[i - 1];
            let s = self.abstracted(i - 1);
            let exact = if ways(self.terms, s) > MANY {
                Err(TooHard)
            } else {
                let post = self.transformer.sp(self.terms, before, s).map_err(unsupported)?;
                let free = self.terms.free_vars(post.term);
                let gone: BTreeSet<_> = free.difference(&live[i]).copied().collect();
                eliminate(self.terms, post.term, &gone).map(|p| self.plainer(p, post.term, true, i))
            };
            predicates[i] = self.chosen(exact, &live[i], i, |this| {
                let mut a = vec![this.unrolling.at(this.terms, before, i - 1)];
                a.extend(this.infeasible.needed(i - 1..i));
                (a, this.infeasible.needed(i..this.path.len()))
            })?;
            if self.terms.as_bool(predicates[i]) == Some(false) {
                let no = predicates[i];
                predicates[i..].fill(no);
                break;
            }
        }
        Ok(predicates)
    }

    fn backward(&mut self) -> Result<Vec<TermId>, Reason> {
        let live = live(self.terms, self.path, &self.infeasible.core);
        let (mut predicates, within) = self.frame();
        for i in within.rev() {
            if let Some(reason) = self.limits.exceeded(0) {
                return Err(reason.into());
            }
            let after = predicates[i + 1];
            let s = self.abstracted(i);
            let exact = if ways(self.terms, s) > MANY {
                Err(TooHard)
            } else {
                let pre = self.transformer.wlp(self.terms, s, after).map_err(unsupported)?;
                let bound: BTreeSet<_> = pre.bound.iter().copied().collect();
                let negated = self.terms.not(pre.term);
                let exact = eliminate(self.terms, negated, &bound).map(|p| {
                    let p = self.terms.not(p);
                    tidy(self.terms, p)
                });
                exact.map(|p| self.plainer(p, pre.term, false, i))
            };
            predicates[i] = self.chosen(exact, &live[i], i, |this| {
                let after = this.unrolling.at(this.terms, after, i + 1);
                let mut b = this.infeasible.needed(i..i + 1);
                b.push(this.terms.not(after));
                (this.infeasible.needed(0..i), b)
            })?;
            if self.terms.as_bool(predicates[i]) == Some(true) {
                let yes = predicates[i];
                predicates[..=i].fill(yes);
                break;
            }
        }
        Ok(predicates)
    }

    /// Elimination may have come up with divisibilities that nobody asked for. They are left out if the core can do without: weaker if
    /// it comes after (forward), stronger if it comes before.
    fn plainer(&mut self, p: TermId, origin: TermId, forward: bool, position: usize) -> TermId {
        let plain = without_new_divisibility(self.terms, p, origin, forward);
        if plain == p {
            return p;
        }
        let plain = tidy(self.terms, plain);
        let said = self.unrolling.at(self.terms, plain, position);
        let mut question = if forward {
            self.infeasible.needed(position..self.path.len())
        } else {
            self.infeasible.needed(0..position)
        };
        question.push(if forward { said } else { self.terms.not(said) });
        if self.solver.check(self.terms, &question, self.limits).is_unsat() { plain } else { p }
    }

    /// The exact predicate if it is handy; else an interpolant of the two sides, over the live variables.
    fn chosen(
        &mut self,
        exact: Result<TermId, TooHard>,
        live: &BTreeSet<VarId>,
        position: usize,
        sides: impl FnOnce(&mut Self) -> (Vec<TermId>, Vec<TermId>),
    ) -> Result<TermId, Reason> {
        let size = exact.map_or(usize::MAX, |p| self.terms.subterms([p]).len());
        if let (Ok(p), true) = (exact, size <= LARGE) {
            return Ok(p);
        }
        let (a, b) = sides(self);
        let sides = [self.terms.and(a.iter().copied()), self.terms.and(b.iter().copied())];
        if let Ok(found) = interpolants(self.terms, &sides, self.limits) {
            let found = tidy(self.terms, found[1]);
            if let Some(p) = self.unrolling.back(self.terms, found, position)
                && self.terms.free_vars(p).is_subset(live)
                && self.terms.subterms([p]).len() <= size.min(HUGE)
            {
                return Ok(p);
            }
        }
        let shared = live.iter().map(|&v| self.unrolling.version(v, position)).collect();
        match (models::interpolant(self.terms, &a, &b, &shared, self.solver, self.limits), exact) {
            (Ok(found), _) => {
                Ok(self.unrolling.back(self.terms, found, position).expect("only current versions were allowed"))
            }
            (Err(_), Ok(p)) => Ok(p),
            (Err(reason), _) => Err(reason),
        }
    }
}

/// How many ways lead through a statement.
fn ways(terms: &Terms, s: StmtId) -> u64 {
    match *terms.stmt(s) {
        Stmt::Seq(ref parts) => parts.iter().fold(1, |n, &p| n.saturating_mul(ways(terms, p))),
        Stmt::Choice(ref parts) => parts.iter().fold(0, |n, &p| n.saturating_add(ways(terms, p))),
        Stmt::If(_, a, b) => ways(terms, a).saturating_add(ways(terms, b)),
        _ => 1,
    }
}

/// The formula (negations at the atoms) with a truth value in place of each atom with a remainder that the origin does not have.
fn without_new_divisibility(terms: &mut Terms, t: TermId, origin: TermId, by: bool) -> TermId {
    let old: FxHashSet<TermId> = terms.subterms([origin]).into_iter().collect();
    let by = terms.bool(by);
    let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
    for s in terms.subterms([t]) {
        let new = match terms.get(s) {
            Term::And(args) | Term::Or(args) => {
                let args: Vec<TermId> = args.iter().map(|a| done[a]).collect();
                terms.rebuild(s, &args)
            }
            _ if terms.ty(s) != Type::Bool => s,
            _ => {
                let new = |&s: &TermId| matches!(terms.get(s), Term::Rem(..)) && !old.contains(&s);
                if terms.subterms([s]).iter().any(new) { by } else { s }
            }
        };
        done.insert(s, new);
    }
    done[&t]
}

fn unsupported(what: trellis_expr::ssa::Unsupported) -> Reason {
    Reason::Unsupported(what.to_string())
}
