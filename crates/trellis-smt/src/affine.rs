//! Affine forms of integer terms, and comparisons in one shape: a primitive form between bounds.
//!
//! A *leaf* is an integer term that is not looked into: a variable, a product of two terms, a remainder. A [`Form`] is a sum of multiples
//! of leaves whose factors have no common divisor and start with a positive one; so a comparison has one form, and comparisons of the
//! same form can be merged. Only terms that cannot fault have a shape here.

use std::collections::{BTreeMap, BTreeSet};

use dashu_int::IBig;
use dashu_int::ops::Gcd;
use trellis_expr::{Term, TermId, Terms, Type};

/// A sum of multiples of leaves and a constant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Affine {
    /// The factor of each leaf; none is zero.
    pub factors: BTreeMap<TermId, IBig>,
    pub constant: IBig,
}

/// A sum of multiples of leaves, primitive, the first factor positive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form(pub Vec<(TermId, IBig)>);

/// The integers between two bounds, but for some.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Interval {
    pub lo: Option<IBig>,
    pub hi: Option<IBig>,
    pub holes: BTreeSet<IBig>,
}

/// A truth value that is not composed of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    Known(bool),
    /// The form lies in an interval that has one bound, or one hole, or one element.
    Bound(Form, Interval),
    /// The term, or its negation.
    Other(TermId, bool),
}

pub(crate) fn floor_div(a: &IBig, b: &IBig) -> IBig {
    let (q, r) = (a / b, a % b);
    if r != IBig::ZERO && (r < IBig::ZERO) != (*b < IBig::ZERO) { q - IBig::ONE } else { q }
}

pub(crate) fn gcd(a: &IBig, b: &IBig) -> IBig {
    if *a == IBig::ZERO && *b == IBig::ZERO { IBig::ZERO } else { IBig::from(a.gcd(b)) }
}

impl Affine {
    pub fn constant(n: IBig) -> Affine {
        Affine { factors: BTreeMap::new(), constant: n }
    }

    /// An integer term. Sub-terms are older than terms, so going from the newest on meets each once.
    pub fn of(terms: &Terms, t: TermId) -> Affine {
        let mut todo: BTreeMap<TermId, IBig> = BTreeMap::from([(t, IBig::ONE)]);
        let mut sum = Affine::default();
        while let Some((t, n)) = todo.pop_last() {
            if n == IBig::ZERO {
                continue;
            }
            let mut more = |t: TermId, n: IBig| *todo.entry(t).or_default() += n;
            let literal = |t: TermId| terms.as_value(t).map(|value| value.number());
            match *terms.get(t) {
                Term::Int(_) | Term::Big(_) => sum.constant += n * literal(t).expect("a literal"),
                Term::Add(ref args) => args.iter().for_each(|&a| more(a, n.clone())),
                Term::Neg(a) => more(a, -n),
                Term::Mul(a, b) => match (literal(a), literal(b)) {
                    (Some(k), _) => more(b, n * k),
                    (_, Some(k)) => more(a, n * k),
                    _ => _ = sum.factors.insert(t, n),
                },
                _ => _ = sum.factors.insert(t, n),
            }
        }
        sum
    }

    pub fn plus(&self, other: &Affine, times: &IBig) -> Affine {
        let mut sum = self.clone();
        sum.constant += &other.constant * times;
        for (&leaf, n) in &other.factors {
            let factor = sum.factors.entry(leaf).or_default();
            *factor += n * times;
            if *factor == IBig::ZERO {
                sum.factors.remove(&leaf);
            }
        }
        sum
    }

    pub fn times(&self, n: &IBig) -> Affine {
        Affine::default().plus(self, n)
    }

    /// Takes the leaf out; its factor.
    pub fn take(&mut self, leaf: TermId) -> IBig {
        self.factors.remove(&leaf).unwrap_or_default()
    }

    pub fn term(&self, terms: &mut Terms) -> TermId {
        let mut parts = vec![];
        for (&leaf, n) in &self.factors {
            parts.push(multiple(terms, leaf, n));
        }
        parts.push(terms.big(self.constant.clone()));
        terms.add(parts)
    }

    /// `self ≤ 0`, or `self = 0`, or its negation.
    pub fn compared(&self, equal: bool, sign: bool) -> Literal {
        let Some(first) = self.factors.values().next() else {
            let holds = if equal { self.constant == IBig::ZERO } else { self.constant <= IBig::ZERO };
            return Literal::Known(holds == sign);
        };
        let mut divisor = self.factors.values().fold(IBig::ZERO, |g, n| gcd(&g, n));
        let upper = *first > IBig::ZERO;
        if !upper {
            divisor = -divisor;
        }
        let form = Form(self.factors.iter().map(|(&leaf, n)| (leaf, n / &divisor)).collect());
        let mut interval = Interval::default();
        if equal {
            if &self.constant % &divisor != IBig::ZERO {
                return Literal::Known(!sign);
            }
            let value = -&self.constant / &divisor;
            if sign {
                (interval.lo, interval.hi) = (Some(value.clone()), Some(value));
            } else {
                interval.holes.insert(value);
            }
            return Literal::Bound(form, interval);
        }
        // divisor·form ≤ -constant, the divisor negative if the form is bounded from below; rounded towards the inside.
        let bound =
            if upper { floor_div(&-&self.constant, &divisor) } else { -floor_div(&-&self.constant, &-&divisor) };
        match (upper, sign) {
            (true, true) => interval.hi = Some(bound),
            (true, false) => interval.lo = Some(bound + IBig::ONE),
            (false, true) => interval.lo = Some(bound),
            (false, false) => interval.hi = Some(bound - IBig::ONE),
        }
        Literal::Bound(form, interval)
    }
}

fn multiple(terms: &mut Terms, leaf: TermId, n: &IBig) -> TermId {
    if *n == -IBig::ONE {
        return terms.neg(leaf);
    }
    let n = terms.big(n.clone());
    terms.mul(n, leaf)
}

impl Form {
    /// The leaf, if it is nothing else.
    pub fn leaf(&self) -> Option<TermId> {
        match &self.0[..] {
            [(leaf, n)] if *n == IBig::ONE => Some(*leaf),
            _ => None,
        }
    }

    /// Bounds that it keeps anyway.
    pub fn natural(&self, terms: &Terms) -> (Option<IBig>, Option<IBig>) {
        match self.leaf().and_then(|leaf| terms.bounds(leaf)) {
            Some((lo, hi)) => (Some(lo.into()), Some(hi.into())),
            None => (None, None),
        }
    }

    pub fn affine(&self) -> Affine {
        Affine { factors: self.0.iter().cloned().collect(), constant: IBig::ZERO }
    }

    /// What stands on the left and on the right when nothing is subtracted.
    fn sides(&self, terms: &mut Terms) -> (Vec<TermId>, Vec<TermId>) {
        let (mut left, mut right) = (vec![], vec![]);
        for (leaf, n) in &self.0 {
            if *n > IBig::ZERO {
                left.push(multiple(terms, *leaf, n));
            } else {
                right.push(multiple(terms, *leaf, &-n));
            }
        }
        (left, right)
    }

    /// Left side and right side of a comparison with a constant.
    fn compared(&self, terms: &mut Terms, n: &IBig) -> (TermId, TermId) {
        let (left, mut right) = self.sides(terms);
        right.push(terms.big(n.clone()));
        (terms.add(left), terms.add(right))
    }

    pub fn at_most(&self, terms: &mut Terms, n: &IBig) -> TermId {
        // x ≤ y - 1 is x < y.
        if *n == -IBig::ONE && self.0.iter().any(|(_, n)| *n < IBig::ZERO) {
            let (left, right) = self.compared(terms, &IBig::ZERO);
            return terms.lt(left, right);
        }
        let (left, right) = self.compared(terms, n);
        terms.le(left, right)
    }

    pub fn at_least(&self, terms: &mut Terms, n: &IBig) -> TermId {
        if self.0.iter().all(|(_, n)| *n > IBig::ZERO) {
            let (left, right) = self.compared(terms, n);
            return terms.le(right, left);
        }
        // n ≤ a - b is b ≤ a - n.
        let (left, mut right) = self.sides(terms);
        if *n == IBig::ONE {
            let (left, right) = (terms.add(left), terms.add(right));
            return terms.lt(right, left);
        }
        let mut left = left;
        if *n > IBig::ZERO {
            right.push(terms.big(n.clone()));
        } else {
            left.push(terms.big(-n));
        }
        let (left, right) = (terms.add(left), terms.add(right));
        terms.le(right, left)
    }

    pub fn equals(&self, terms: &mut Terms, n: &IBig) -> TermId {
        let (left, right) = self.compared(terms, n);
        terms.eq(left, right)
    }
}

impl Interval {
    pub fn meet(&mut self, other: &Interval) {
        self.lo = max(self.lo.take(), other.lo.clone());
        self.hi = min(self.hi.take(), other.hi.clone());
        self.holes.extend(other.holes.iter().cloned());
        self.tighten();
    }

    /// Bounds are elements, and holes lie between them.
    pub fn tighten(&mut self) {
        while let Some(lo) = &mut self.lo {
            if !self.holes.remove(lo) {
                break;
            }
            *lo += IBig::ONE;
        }
        while let Some(hi) = &mut self.hi {
            if !self.holes.remove(hi) {
                break;
            }
            *hi -= IBig::ONE;
        }
        let (lo, hi) = (&self.lo, &self.hi);
        self.holes.retain(|n| lo.as_ref().is_none_or(|lo| lo < n) && hi.as_ref().is_none_or(|hi| n < hi));
    }

    pub fn is_empty(&self) -> bool {
        matches!((&self.lo, &self.hi), (Some(lo), Some(hi)) if lo > hi)
    }

    pub fn is_all(&self) -> bool {
        self.lo.is_none() && self.hi.is_none() && self.holes.is_empty()
    }

    pub fn only(&self) -> Option<&IBig> {
        self.lo.as_ref().filter(|lo| self.hi.as_ref() == Some(lo))
    }

    pub fn within(&self, other: &Interval) -> bool {
        other.lo.as_ref().is_none_or(|l| self.lo.as_ref().is_some_and(|m| m >= l))
            && other.hi.as_ref().is_none_or(|h| self.hi.as_ref().is_some_and(|g| g <= h))
            && other.holes.iter().all(|n| !self.contains(n))
    }

    pub fn contains(&self, n: &IBig) -> bool {
        self.lo.as_ref().is_none_or(|lo| lo <= n)
            && self.hi.as_ref().is_none_or(|hi| n <= hi)
            && !self.holes.contains(n)
    }

    /// The union, if it is of this kind.
    pub fn union(&self, other: &Interval) -> Option<Interval> {
        let reaches = |a: &Interval, b: &Interval| match (&a.hi, &b.lo) {
            (Some(hi), Some(lo)) => hi + IBig::ONE >= *lo,
            _ => true,
        };
        if !reaches(self, other) || !reaches(other, self) {
            return None;
        }
        let lo = self.lo.clone().zip(other.lo.clone()).map(|(a, b)| a.min(b));
        let hi = self.hi.clone().zip(other.hi.clone()).map(|(a, b)| a.max(b));
        let holes = self.holes.iter().chain(&other.holes).filter(|n| !self.contains(n) && !other.contains(n)).cloned();
        Some(Interval { lo, hi, holes: holes.collect() })
    }
}

fn max(a: Option<IBig>, b: Option<IBig>) -> Option<IBig> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

fn min(a: Option<IBig>, b: Option<IBig>) -> Option<IBig> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl Literal {
    /// A truth value that cannot fault and is no connective.
    pub fn of(terms: &Terms, t: TermId, sign: bool) -> Literal {
        let difference = |a: TermId, b: TermId| Affine::of(terms, a).plus(&Affine::of(terms, b), &-IBig::ONE);
        let numbers = |a: TermId| terms.ty(a) == Type::Int;
        match *terms.get(t) {
            Term::Bool(b) => Literal::Known(b == sign),
            Term::Not(a) => Literal::of(terms, a, !sign),
            Term::Eq(a, b) if numbers(a) => difference(a, b).compared(true, sign),
            Term::Le(a, b) if numbers(a) => difference(a, b).compared(false, sign),
            // ¬(b ≤ a)
            Term::Lt(a, b) if numbers(a) => difference(b, a).compared(false, !sign),
            _ => Literal::Other(t, sign),
        }
    }
}
