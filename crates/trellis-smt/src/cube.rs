//! Conjunctions of literals, normalised: one interval for each form, the rest by name.

use std::collections::BTreeMap;

use dashu_int::IBig;
use rustc_hash::FxHashMap;
use trellis_expr::{Term, TermId, Terms, VarId};

use crate::affine::{Form, Interval, Literal};

/// A conjunction of literals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Cube {
    pub bounds: BTreeMap<Form, Interval>,
    pub others: BTreeMap<TermId, bool>,
}

impl Cube {
    /// Adds a literal; false if nothing satisfies the cube any more.
    pub fn add(&mut self, terms: &Terms, literal: Literal) -> bool {
        match literal {
            Literal::Known(b) => b,
            Literal::Other(t, sign) => *self.others.entry(t).or_insert(sign) == sign,
            Literal::Bound(form, interval) => {
                let (lo, hi) = form.natural(terms);
                let all = || Interval { lo, hi, ..Interval::default() };
                let known = self.bounds.entry(form).or_insert_with(all);
                known.meet(&interval);
                !known.is_empty()
            }
        }
    }

    /// The cube of literals that cannot fault; none if nothing satisfies it.
    pub fn of(terms: &Terms, literals: impl IntoIterator<Item = (TermId, bool)>) -> Option<Cube> {
        let mut cube = Cube::default();
        for (t, sign) in literals {
            if !cube.add(terms, Literal::of(terms, t, sign)) {
                return None;
            }
        }
        Some(cube)
    }

    pub fn len(&self) -> usize {
        self.bounds.len() + self.others.len()
    }

    /// Does it certainly satisfy the bounds (of this form)?
    fn implies_bound(&self, terms: &Terms, form: &Form, interval: &Interval) -> bool {
        match self.bounds.get(form) {
            Some(known) => known.within(interval),
            None => {
                let (lo, hi) = form.natural(terms);
                Interval { lo, hi, ..Interval::default() }.within(interval)
            }
        }
    }

    /// Does it certainly satisfy the other?
    pub fn implies(&self, terms: &Terms, other: &Cube) -> bool {
        other.others.iter().all(|(t, sign)| self.others.get(t) == Some(sign))
            && other.bounds.iter().all(|(form, interval)| self.implies_bound(terms, form, interval))
    }

    /// Given that the facts hold: without what they imply; none if they contradict it.
    pub fn given(mut self, terms: &Terms, facts: &Cube) -> Option<Cube> {
        if self.others.iter().any(|(t, &sign)| facts.others.get(t) == Some(&!sign)) {
            return None;
        }
        self.others.retain(|t, _| !facts.others.contains_key(t));
        for (form, interval) in &self.bounds {
            if let Some(known) = facts.bounds.get(form) {
                let mut both = known.clone();
                both.meet(interval);
                if both.is_empty() {
                    return None;
                }
            }
        }
        self.bounds.retain(|form, interval| {
            if facts.implies_bound(terms, form, interval) {
                return false;
            }
            // A bound on one side may be known, and a hole.
            if let Some(known) = facts.bounds.get(form) {
                if known.lo >= interval.lo && known.lo.is_some() && interval.only().is_none() {
                    interval.lo = None;
                }
                let above = |hi: &IBig| known.hi.as_ref().is_some_and(|k| k <= hi);
                if interval.hi.as_ref().is_some_and(above) && interval.only().is_none() {
                    interval.hi = None;
                }
                interval.holes.retain(|n| known.contains(n));
            }
            true
        });
        Some(self)
    }

    /// The union of both, if it is a cube: they differ in one place only, and there it is.
    pub fn union(&self, other: &Cube) -> Option<Cube> {
        if self.others == other.others && self.bounds.len() == other.bounds.len() {
            let mut differ = self.bounds.iter().zip(&other.bounds).filter(|(a, b)| a != b);
            let ((form, a), (other_form, b)) = differ.next()?;
            if differ.next().is_some() || form != other_form {
                return None;
            }
            let union = a.union(b)?;
            let mut cube = self.clone();
            if union.is_all() {
                cube.bounds.remove(form);
            } else {
                cube.bounds.insert(form.clone(), union);
            }
            return Some(cube);
        }
        if self.bounds == other.bounds && self.others.len() == other.others.len() {
            let mut differ = self.others.iter().zip(&other.others).filter(|(a, b)| a != b);
            let ((t, _), (other_t, _)) = differ.next()?;
            if differ.next().is_some() || t != other_t {
                return None;
            }
            let mut cube = self.clone();
            cube.others.remove(t);
            return Some(cube);
        }
        None
    }

    /// The variables whose value it says, as literals.
    pub fn fixed(&self, terms: &mut Terms) -> FxHashMap<VarId, TermId> {
        let mut fixed = FxHashMap::default();
        for (form, interval) in &self.bounds {
            if let (Some(leaf), Some(n)) = (form.leaf(), interval.only())
                && let Term::Var(v) = *terms.get(leaf)
            {
                fixed.insert(v, terms.big(n.clone()));
            }
        }
        for (&t, &sign) in &self.others {
            match *terms.get(t) {
                Term::Var(v) => _ = fixed.insert(v, terms.bool(sign)),
                Term::Eq(a, b) if sign => {
                    for (a, b) in [(a, b), (b, a)] {
                        if let (&Term::Var(v), Some(_)) = (terms.get(a), terms.as_value(b)) {
                            fixed.insert(v, b);
                        }
                    }
                }
                _ => {}
            }
        }
        fixed
    }

    /// Its literals, as terms that are true together where it is.
    pub fn literals(&self, terms: &mut Terms) -> Vec<TermId> {
        let mut all = vec![];
        for (form, interval) in &self.bounds {
            let (lo, hi) = form.natural(terms);
            if let Some(n) = interval.only() {
                if lo != hi || lo.is_none() {
                    all.push(form.equals(terms, n));
                }
                continue;
            }
            if let Some(n) = interval.lo.as_ref().filter(|n| lo.as_ref() != Some(n)) {
                all.push(form.at_least(terms, n));
            }
            if let Some(n) = interval.hi.as_ref().filter(|n| hi.as_ref() != Some(n)) {
                all.push(form.at_most(terms, n));
            }
            for n in &interval.holes {
                let equal = form.equals(terms, n);
                all.push(terms.not(equal));
            }
        }
        for (&t, &sign) in &self.others {
            all.push(if sign { t } else { terms.not(t) });
        }
        all
    }
}
