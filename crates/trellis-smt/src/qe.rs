//! Quantifier elimination: "there is a value such that", said without the variable.
//!
//! Disjunctions are taken apart; in a conjunction a variable goes by an equation that gives its value, by trying all its values if its
//! type is small, or, for integers, by comparing its bounds (`integer`, after D. C. Cooper, "Theorem proving in arithmetic without
//! multiplication", 1972; divisibility is written with a Euclidean remainder). A disjunction that mentions the variable is distributed
//! only then. The work is limited, because the formulas are wanted only if they are small.
//!
//! It refuses what it has no rule for (products of variables, arrays without an equation, wide words under arithmetic), and
//! formulas with parts that may fault: those may be guarded by others, and would lose their guards.

mod integer;

use std::collections::{BTreeMap, BTreeSet};

use dashu_int::IBig;
use rustc_hash::FxHashMap;
use trellis_expr::defined;
use trellis_expr::{Division, Stmt, StmtId, Term, TermId, Terms, Type, Value, VarId};

use crate::affine::{Affine, Literal};
use crate::tidy::tidy;

/// Types with at most so many values are tried out.
const SMALL: usize = 16;
/// So many branches, candidates and splits are allowed.
const WORK: usize = 600;
/// So many different sub-terms a formula may have.
const SIZE: usize = 3000;

/// There is no short answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooHard;

/// A formula over the other variables that is true exactly where `t` is for some values of these. It must not fault.
pub fn eliminate(terms: &mut Terms, t: TermId, vars: &BTreeSet<VarId>) -> Result<TermId, TooHard> {
    let t = tidy(terms, t);
    if terms.free_vars(t).is_disjoint(vars) {
        return Ok(t);
    }
    let mut eliminator = Eliminator { terms, work: WORK };
    let t = eliminator.formula(t, vars)?;
    Ok(tidy(terms, t))
}

/// What must hold before a statement so that it can end where the term holds. A way that faults ends nowhere. What a `havoc`
/// chooses is eliminated, unless its value is given: then it suffices that it can end there with that. The term must not
/// fault, and neither does what comes out.
pub fn pre(terms: &mut Terms, s: StmtId, t: TermId, given: &BTreeMap<VarId, TermId>) -> Result<TermId, TooHard> {
    let hard = |_| TooHard;
    match terms.stmt(s).clone() {
        Stmt::Skip => Ok(t),
        Stmt::Assume(c) => {
            let c = defined::holds(terms, c).map_err(hard)?;
            Ok(terms.and([c, t]))
        }
        Stmt::Assign(v, value) => {
            let value = match terms.variable(v).ty {
                Type::Range(lo, hi) => terms.checked(value, lo, hi),
                _ => value,
            };
            let has_value = defined::defined(terms, value).map_err(hard)?;
            let after = terms.substitute(t, &FxHashMap::from_iter([(v, value)]));
            // Where the value is, nothing else can fault.
            defined::holds(terms, after).map_err(hard).map(|after| terms.and([has_value, after]))
        }
        Stmt::Havoc(v) => match given.get(&v) {
            Some(&value) => Ok(terms.substitute(t, &FxHashMap::from_iter([(v, value)]))),
            None => eliminate(terms, t, &BTreeSet::from([v])),
        },
        Stmt::Seq(parts) => parts.iter().rev().try_fold(t, |t, &p| pre(terms, p, t, given)),
        Stmt::Choice(parts) => {
            let parts: Result<Vec<TermId>, TooHard> = parts.iter().map(|&p| pre(terms, p, t, given)).collect();
            Ok(terms.or(parts?))
        }
        Stmt::If(c, a, b) => {
            let (yes, not) = (defined::holds(terms, c).map_err(hard)?, terms.not(c));
            let no = defined::holds(terms, not).map_err(hard)?;
            let (a, b) = (pre(terms, a, t, given)?, pre(terms, b, t, given)?);
            let (a, b) = (terms.and([yes, a]), terms.and([no, b]));
            Ok(terms.or([a, b]))
        }
        Stmt::While(..) | Stmt::Foreign(..) => Err(TooHard),
    }
}

struct Eliminator<'a> {
    terms: &'a mut Terms,
    work: usize,
}

/// The parts of a conjunction.
fn parts(terms: &Terms, t: TermId) -> Vec<TermId> {
    match terms.get(t) {
        Term::And(parts) => parts.to_vec(),
        _ => vec![t],
    }
}

impl Eliminator<'_> {
    fn spend(&mut self, n: usize) -> Result<(), TooHard> {
        self.work = self.work.checked_sub(n).ok_or(TooHard)?;
        Ok(())
    }

    fn mentions(&self, t: TermId, vars: &BTreeSet<VarId>) -> bool {
        !self.terms.free_vars(t).is_disjoint(vars)
    }

    fn formula(&mut self, t: TermId, vars: &BTreeSet<VarId>) -> Result<TermId, TooHard> {
        if let Term::Or(parts) = self.terms.get(t) {
            let parts = parts.clone();
            self.spend(parts.len())?;
            if parts.iter().any(|&p| self.terms.may_fault(p)) {
                return Err(TooHard);
            }
            let new: Result<Vec<TermId>, TooHard> = parts.iter().map(|&p| self.formula(p, vars)).collect();
            let or = self.terms.or(new?);
            return Ok(tidy(self.terms, or));
        }
        self.conjunction(parts(self.terms, t), vars.clone())
    }

    fn conjunction(&mut self, mut conjuncts: Vec<TermId>, mut vars: BTreeSet<VarId>) -> Result<TermId, TooHard> {
        loop {
            self.spend(1)?;
            let whole = self.terms.and(conjuncts);
            let whole = tidy(self.terms, whole);
            if !self.mentions(whole, &vars) {
                return Ok(whole);
            }
            if self.terms.subterms([whole]).len() > SIZE {
                return Err(TooHard);
            }
            if matches!(self.terms.get(whole), Term::Or(_)) {
                return self.formula(whole, &vars);
            }
            conjuncts = parts(self.terms, whole);
            if let Some((v, value)) = self.definition(&conjuncts, &vars) {
                vars.remove(&v);
                let mut new = vec![self.terms.fits(self.terms.variable(v).ty, value)];
                let map = FxHashMap::from_iter([(v, value)]);
                new.extend(conjuncts.iter().map(|&t| self.terms.substitute(t, &map)));
                conjuncts = new;
                continue;
            }
            // What is not concerned stays outside, in its place.
            let (inside, outside): (Vec<_>, Vec<_>) = conjuncts.into_iter().partition(|&t| self.mentions(t, &vars));
            if inside.iter().any(|&t| self.terms.may_fault(t)) {
                return Err(TooHard);
            }
            let (v, concerned) = self.choose(&inside, &vars);
            if outside.iter().chain(&concerned).any(|&t| self.terms.may_fault(t)) {
                return Err(TooHard);
            }
            let mut rest: Vec<TermId> = outside.into_iter().chain(inside).filter(|t| !concerned.contains(t)).collect();
            let gone = self.variable(v, &concerned, &mut vars)?;
            rest.push(gone);
            conjuncts = rest;
        }
    }

    /// The variable that looks easiest, and the parts that mention it.
    fn choose(&self, conjuncts: &[TermId], vars: &BTreeSet<VarId>) -> (VarId, Vec<TermId>) {
        let free: Vec<BTreeSet<VarId>> = conjuncts.iter().map(|&t| self.terms.free_vars(t)).collect();
        let concerned = |v: VarId| -> Vec<TermId> {
            conjuncts.iter().zip(&free).filter(|(_, free)| free.contains(&v)).map(|(&t, _)| t).collect()
        };
        let composed = |&&t: &&TermId| matches!(self.terms.get(t), Term::Or(_) | Term::Ite(..));
        let of_interest = vars.iter().filter(|v| free.iter().any(|free| free.contains(v)));
        of_interest
            .map(|&v| (v, concerned(v)))
            .min_by_key(|(_, parts)| (parts.iter().filter(composed).count(), parts.len()))
            .expect("some part mentions one of them")
    }

    /// The parts without the variable.
    fn variable(&mut self, v: VarId, parts: &[TermId], vars: &mut BTreeSet<VarId>) -> Result<TermId, TooHard> {
        let ty = self.terms.variable(v).ty;
        if !ty.is_int()
            && let Some(values) = Value::all(self.terms, ty, SMALL)
        {
            return self.try_values(v, parts, values);
        }
        for (k, &t) in parts.iter().enumerate() {
            if let Some(cases) = self.split(t, v) {
                self.spend(cases.len())?;
                let mut ways = vec![];
                for case in cases {
                    let mut conjuncts = parts.to_vec();
                    conjuncts[k] = case;
                    let whole = self.terms.and(conjuncts);
                    ways.push(self.formula(whole, &BTreeSet::from([v]))?);
                }
                return Ok(self.terms.or(ways));
            }
        }
        if !ty.is_int() {
            return Err(TooHard);
        }
        let mut new = vec![];
        let parts: Vec<TermId> = parts.iter().map(|&t| self.without_division(t, v, &mut new)).collect();
        // Quotients are variables too; they go after this one.
        vars.extend(new.iter().map(|&(_, q)| q));
        let conjuncts = parts.into_iter().chain(new.into_iter().map(|(constraint, _)| constraint));
        let (conjuncts, mut rest): (Vec<_>, Vec<_>) = conjuncts.partition(|&t| self.mentions(t, &BTreeSet::from([v])));
        rest.push(match integer::eliminate(self, v, &conjuncts) {
            Err(TooHard) => {
                let values = Value::all(self.terms, ty, SMALL).ok_or(TooHard)?;
                self.try_values(v, &conjuncts, values)?
            }
            Ok(done) => done,
        });
        Ok(self.terms.and(rest))
    }

    fn try_values(&mut self, v: VarId, parts: &[TermId], values: Vec<Value>) -> Result<TermId, TooHard> {
        let mut ways = vec![];
        for value in values {
            self.spend(1)?;
            let Some(value) = self.terms.literal(&value) else { return Err(TooHard) };
            let map = FxHashMap::from_iter([(v, value)]);
            let new: Vec<TermId> = parts.iter().map(|&t| self.terms.substitute(t, &map)).collect();
            let whole = self.terms.and(new);
            ways.push(tidy(self.terms, whole));
        }
        let or = self.terms.or(ways);
        Ok(tidy(self.terms, or))
    }

    /// Cases, one of which is true where the part is, if it is composed. A disjunction is one; so is a choice between values that
    /// depends on the variable.
    fn split(&mut self, t: TermId, v: VarId) -> Option<Vec<TermId>> {
        match *self.terms.get(t) {
            Term::Or(ref args) => return Some(args.to_vec()),
            Term::Not(a) => {
                if let Term::Eq(x, y) = *self.terms.get(a)
                    && self.terms.ty(x) == Type::Bool
                {
                    let y = self.terms.not(y);
                    let equal = self.terms.eq(x, y);
                    return Some(self.iff(equal));
                }
            }
            Term::Eq(x, _) if self.terms.ty(x) == Type::Bool => return Some(self.iff(t)),
            _ => {}
        }
        for s in self.terms.subterms([t]) {
            let (c, a, b) = match *self.terms.get(s) {
                Term::Ite(c, a, b) => (c, a, b),
                Term::Select(array, j) => match *self.terms.get(array) {
                    Term::Store(array, i, entry) => (self.terms.eq(j, i), entry, self.terms.select(array, j)),
                    Term::Ite(c, a, b) => (c, self.terms.select(a, j), self.terms.select(b, j)),
                    _ => continue,
                },
                Term::Rem(Division::Truncating, a, _) | Term::Div(Division::Truncating, a, _)
                    if self.terms.ty(a) == Type::Int =>
                {
                    let zero = self.terms.int(0);
                    (self.terms.le(zero, a), self.euclidean(s, false)?, self.euclidean(s, true)?)
                }
                _ => continue,
            };
            if !self.terms.free_vars(s).contains(&v) {
                continue;
            }
            let (then, otherwise) = (self.replaced(t, s, a), self.replaced(t, s, b));
            let not = self.terms.not(c);
            return Some(vec![self.terms.and([c, then]), self.terms.and([not, otherwise])]);
        }
        None
    }

    fn iff(&mut self, t: TermId) -> Vec<TermId> {
        let &Term::Eq(x, y) = self.terms.get(t) else { return vec![t] };
        let (not_x, not_y) = (self.terms.not(x), self.terms.not(y));
        vec![self.terms.and([x, y]), self.terms.and([not_x, not_y])]
    }

    /// A truncating quotient or remainder by a literal as a Euclidean one, for a dividend of known sign.
    fn euclidean(&mut self, t: TermId, negative: bool) -> Option<TermId> {
        let (quotient, a, b) = match *self.terms.get(t) {
            Term::Div(_, a, b) => (true, a, b),
            Term::Rem(_, a, b) => (false, a, b),
            _ => return None,
        };
        self.terms.as_value(b)?;
        let a = if negative { self.terms.neg(a) } else { a };
        let new = match quotient {
            true => self.terms.div(Division::Euclidean, a, b),
            false => self.terms.rem(Division::Euclidean, a, b),
        };
        Some(if negative { self.terms.neg(new) } else { new })
    }

    /// The term with all occurrences of a sub-term replaced.
    fn replaced(&mut self, t: TermId, old: TermId, new: TermId) -> TermId {
        let mut done: FxHashMap<TermId, TermId> = FxHashMap::from_iter([(old, new)]);
        for s in self.terms.subterms([t]) {
            if done.contains_key(&s) {
                continue;
            }
            let children = self.terms.children(s);
            let after: Vec<TermId> = children.iter().map(|c| done[c]).collect();
            let s_new = if after == children { s } else { self.terms.rebuild(s, &after) };
            done.insert(s, s_new);
        }
        done[&t]
    }

    /// The literal with fresh variables in place of quotients by literals that depend on the variable; they come with a constraint.
    /// A remainder alone, compared with a literal, is left: it is a divisibility.
    fn without_division(&mut self, t: TermId, v: VarId, new: &mut Vec<(TermId, VarId)>) -> TermId {
        if integer::divisibility(self.terms, t).is_some() {
            return t;
        }
        let mut t = t;
        while let Some(s) = self.division(t, v) {
            let (&Term::Div(_, a, k) | &Term::Rem(_, a, k)) = self.terms.get(s) else { unreachable!("a division") };
            let divisor = self.terms.as_value(k).expect("a literal").number();
            let q = self.terms.declare("q", Type::Int);
            let qt = self.terms.var(q);
            let product = self.terms.mul(k, qt);
            let rest = self.terms.sub(a, product);
            let size = if divisor < IBig::ZERO { -divisor } else { divisor };
            let (zero, last) = (self.terms.int(0), self.terms.big(size - IBig::ONE));
            let (low, high) = (self.terms.le(zero, rest), self.terms.le(rest, last));
            new.extend([(low, q), (high, q)]);
            let by = if matches!(self.terms.get(s), Term::Div(..)) { qt } else { rest };
            t = self.replaced(t, s, by);
        }
        t
    }

    /// An innermost Euclidean quotient or remainder by a literal that depends on the variable.
    fn division(&self, t: TermId, v: VarId) -> Option<TermId> {
        self.terms.subterms([t]).into_iter().find(|&s| match *self.terms.get(s) {
            Term::Div(Division::Euclidean, a, k) | Term::Rem(Division::Euclidean, a, k) => {
                self.terms.ty(a) == Type::Int
                    && self.terms.as_value(k).is_some_and(|k| k.number() != IBig::ZERO)
                    && self.terms.free_vars(a).contains(&v)
            }
            _ => false,
        })
    }

    /// A variable and its value, by an equation.
    fn definition(&mut self, conjuncts: &[TermId], vars: &BTreeSet<VarId>) -> Option<(VarId, TermId)> {
        conjuncts.iter().find_map(|&t| {
            let (t, sign) = match *self.terms.get(t) {
                Term::Not(a) => (a, false),
                _ => (t, true),
            };
            match *self.terms.get(t) {
                Term::Var(v) if vars.contains(&v) => Some((v, self.terms.bool(sign))),
                Term::Eq(a, _) if self.terms.ty(a) == Type::Int && sign => self.solve_integer(t, vars),
                Term::Eq(a, b) => {
                    if !sign && self.terms.ty(a) != Type::Bool {
                        return None;
                    }
                    let (a, b) = [(a, b), (b, a)].into_iter().find(|&(a, b)| self.gives(a, b, vars))?;
                    let value = self.solved(a, b)?;
                    Some(if sign { value } else { (value.0, self.terms.not(value.1)) })
                }
                _ => None,
            }
        })
    }

    /// Is the left side a variable, or a sum with one (of words, where that can be undone), that the right side does not mention?
    fn gives(&self, a: TermId, b: TermId, vars: &BTreeSet<VarId>) -> bool {
        let Some(v) = self.summand(a).and_then(|k| self.signed_var(k)).map(|(v, _)| v) else { return false };
        let once = match self.terms.get(a) {
            Term::Add(args) => args.iter().filter(|&&p| self.terms.free_vars(p).contains(&v)).count() == 1,
            _ => true,
        };
        vars.contains(&v)
            && once
            && !self.terms.free_vars(b).contains(&v)
            && !self.terms.may_fault(b)
            && !self.terms.may_fault(a)
    }

    fn summand(&self, a: TermId) -> Option<TermId> {
        match self.terms.get(a) {
            Term::Add(args) => args.iter().copied().find(|&p| self.signed_var(p).is_some()),
            _ => Some(a),
        }
    }

    fn signed_var(&self, t: TermId) -> Option<(VarId, bool)> {
        match *self.terms.get(t) {
            Term::Var(v) => Some((v, true)),
            Term::Neg(a) => match *self.terms.get(a) {
                Term::Var(v) => Some((v, false)),
                _ => None,
            },
            _ => None,
        }
    }

    fn solved(&mut self, a: TermId, b: TermId) -> Option<(VarId, TermId)> {
        let part = self.summand(a)?;
        let (v, positive) = self.signed_var(part)?;
        let mut value = b;
        if let Term::Add(args) = self.terms.get(a) {
            for p in args.clone().iter().copied().filter(|&p| p != part) {
                value = self.terms.sub(value, p);
            }
        }
        Some((v, if positive { value } else { self.terms.neg(value) }))
    }

    /// An equation between integers in which one of the variables has factor 1 or −1.
    fn solve_integer(&mut self, t: TermId, vars: &BTreeSet<VarId>) -> Option<(VarId, TermId)> {
        if self.terms.may_fault(t) {
            return None;
        }
        let Literal::Bound(form, interval) = Literal::of(self.terms, t, true) else { return None };
        let value = interval.only()?.clone();
        for (leaf, n) in &form.0 {
            let &Term::Var(v) = self.terms.get(*leaf) else { continue };
            if !vars.contains(&v) || (*n != IBig::ONE && *n != -IBig::ONE) {
                continue;
            }
            let mut rest = form.affine();
            rest.take(*leaf);
            if rest.factors.keys().any(|&other| self.terms.free_vars(other).contains(&v)) {
                continue;
            }
            // n·v + rest = value
            let rest = rest.plus(&Affine::constant(value.clone()), &-IBig::ONE).times(&-n);
            return Some((v, rest.term(self.terms)));
        }
        None
    }
}
