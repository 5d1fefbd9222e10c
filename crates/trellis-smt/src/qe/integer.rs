//! One integer variable in a conjunction of linear constraints.
//!
//! Where all bounds fit together exactly (one factor of each pair is 1) each lower bound is compared with each upper bound
//! (Fourier and Motzkin). Otherwise Cooper: the least solution lies at most one period of the divisibilities above a lower bound or above
//! an excluded value, so those are tried; or dually. If there is no bound on one side, only divisibilities count.

use dashu_int::IBig;
use trellis_expr::{Division, Term, TermId, Terms, Type, VarId};

use super::{Eliminator, TooHard};
use crate::affine::{Affine, Literal, gcd};

/// So many disequalities are split into less and greater.
const SPLITS: usize = 3;

/// What is said of `factor·v`, the factor being positive.
#[derive(Clone, Default)]
struct Constraints {
    /// At least the form.
    lower: Vec<(IBig, Affine)>,
    /// At most the form.
    upper: Vec<(IBig, Affine)>,
    equal: Vec<(IBig, Affine)>,
    unequal: Vec<(IBig, Affine)>,
    /// Its sum with the form is a multiple of the number, or is not.
    multiple: Vec<(IBig, IBig, Affine, bool)>,
}

/// A part that says that a form is a multiple of a number, or is not: the number, the form, and which.
pub(super) fn divisibility(terms: &Terms, t: TermId) -> Option<(IBig, Affine, bool)> {
    let (t, sign) = match *terms.get(t) {
        Term::Not(a) => (a, false),
        _ => (t, true),
    };
    let Literal::Bound(form, interval) = Literal::of(terms, t, true) else { return None };
    let (leaf, n) = (form.leaf()?, interval.only()?);
    let Term::Rem(Division::Euclidean, a, k) = *terms.get(leaf) else { return None };
    if terms.ty(a) != Type::Int {
        return None;
    }
    let k = terms.as_value(k)?.number();
    let k = if k < IBig::ZERO { -k } else { k };
    if k == IBig::ZERO || *n < IBig::ZERO || *n >= k {
        return None;
    }
    Some((k, Affine::of(terms, a).plus(&Affine::constant(n.clone()), &-IBig::ONE), sign))
}

/// The conjunction of the literals without the variable.
pub(super) fn eliminate(this: &mut Eliminator, v: VarId, parts: &[TermId]) -> Result<TermId, TooHard> {
    let leaf = this.terms.var(v);
    let mut all = Constraints::default();
    for &t in parts {
        all.read(this.terms, v, leaf, t)?;
    }
    if let Type::Range(lo, hi) = this.terms.variable(v).ty {
        all.lower.push((IBig::ONE, Affine::constant(lo.into())));
        all.upper.push((IBig::ONE, Affine::constant(hi.into())));
    }
    all.solve(this)
}

impl Constraints {
    fn read(&mut self, terms: &Terms, v: VarId, leaf: TermId, t: TermId) -> Result<(), TooHard> {
        if let Some((k, mut form, sign)) = divisibility(terms, t) {
            let factor = form.take(leaf);
            let clean = free_of(terms, &form, v);
            // k | -f·v + s is k | f·v - s.
            let (factor, form) = if factor < IBig::ZERO { (-factor, form.times(&-IBig::ONE)) } else { (factor, form) };
            if !clean || factor == IBig::ZERO {
                return Err(TooHard);
            }
            self.multiple.push((k, factor, form, sign));
            return Ok(());
        }
        let Literal::Bound(form, interval) = Literal::of(terms, t, true) else { return Err(TooHard) };
        let mut rest = form.affine();
        let factor = rest.take(leaf);
        if factor == IBig::ZERO || !free_of(terms, &rest, v) {
            return Err(TooHard);
        }
        let negative = factor < IBig::ZERO;
        let size = if negative { -&factor } else { factor };
        // factor·v ≥ n - rest, turned around if the factor is negative.
        let side = |n: &IBig| {
            let side = Affine::constant(n.clone()).plus(&rest, &-IBig::ONE);
            (size.clone(), if negative { side.times(&-IBig::ONE) } else { side })
        };
        if let Some(n) = interval.only() {
            self.equal.push(side(n));
            return Ok(());
        }
        let (lower, upper) =
            if negative { (&mut self.upper, &mut self.lower) } else { (&mut self.lower, &mut self.upper) };
        lower.extend(interval.lo.as_ref().map(side));
        upper.extend(interval.hi.as_ref().map(side));
        self.unequal.extend(interval.holes.iter().map(side));
        Ok(())
    }

    fn solve(mut self, this: &mut Eliminator) -> Result<TermId, TooHard> {
        this.spend(1)?;
        if let Some((factor, value)) = self.equal.pop() {
            return Ok(self.at(this.terms, &factor, &value));
        }
        if self.lower.is_empty() || self.upper.is_empty() {
            self.lower.clear();
            self.upper.clear();
            self.unequal.clear();
            if self.multiple.is_empty() {
                return Ok(this.terms.bool(true));
            }
            let (scale, period) = self.period();
            let starts = vec![Affine::default()];
            return self.candidates(this, starts, scale, period);
        }
        let exact = self.lower.iter().all(|(a, _)| *a == IBig::ONE) || self.upper.iter().all(|(b, _)| *b == IBig::ONE);
        if exact && self.multiple.is_empty() && self.unequal.is_empty() {
            this.spend(self.lower.len() * self.upper.len())?;
            let mut pairs = vec![];
            for (a, low) in &self.lower {
                for (b, high) in &self.upper {
                    // a·v ≥ low and b·v ≤ high: b·low ≤ a·high.
                    pairs.push(at_most(this.terms, &low.times(b), &high.times(a)));
                }
            }
            return Ok(this.terms.and(pairs));
        }
        if self.multiple.is_empty() && self.unequal.len() <= SPLITS && exact {
            let (factor, value) = self.unequal.pop().expect("else it is exact");
            let (mut less, mut greater) = (self.clone(), self);
            let one = Affine::constant(IBig::ONE);
            less.upper.push((factor.clone(), value.plus(&one, &-IBig::ONE)));
            greater.lower.push((factor, value.plus(&one, &IBig::ONE)));
            let (less, greater) = (less.solve(this)?, greater.solve(this)?);
            return Ok(this.terms.or([less, greater]));
        }
        let (scale, period) = self.period();
        let from_below = self.lower.len() <= self.upper.len();
        let bounds = if from_below { &self.lower } else { &self.upper };
        let up = if from_below { IBig::ONE } else { -IBig::ONE };
        let mut starts: Vec<Affine> = bounds.iter().map(|(a, n)| n.times(&(&scale / a))).collect();
        let beside = Affine::constant(up.clone());
        starts.extend(self.unequal.iter().map(|(a, n)| n.times(&(&scale / a)).plus(&beside, &IBig::ONE)));
        // The candidates go away from the bound.
        self.candidates(this, starts, scale, period * up)
    }

    /// All factors divide the first; adding the second to that multiple of the variable changes no divisibility.
    fn period(&self) -> (IBig, IBig) {
        let pairs = self.lower.iter().chain(&self.upper).chain(&self.equal).chain(&self.unequal).map(|(a, _)| a);
        let scale = pairs.chain(self.multiple.iter().map(|(_, a, _, _)| a)).fold(IBig::ONE, |m, a| lcm(&m, a));
        let period = self.multiple.iter().fold(scale.clone(), |m, (k, a, _, _)| lcm(&m, &(k * (&scale / a))));
        (scale, period)
    }

    /// One of the values up to a period from the starts on satisfies everything; they are values of `scale·v`.
    fn candidates(
        &self,
        this: &mut Eliminator,
        starts: Vec<Affine>,
        scale: IBig,
        period: IBig,
    ) -> Result<TermId, TooHard> {
        let (size, up) = if period < IBig::ZERO { (-period, -IBig::ONE) } else { (period, IBig::ONE) };
        let size = usize::try_from(&size).map_err(|_| TooHard)?;
        this.spend(size.saturating_mul(starts.len()))?;
        let mut ways = vec![];
        for start in starts {
            for k in 0..size {
                let value = start.plus(&Affine::constant(IBig::from(k) * &up), &IBig::ONE);
                ways.push(self.at(this.terms, &scale, &value));
            }
        }
        Ok(this.terms.or(ways))
    }

    /// Everything, if `factor·v` is the value.
    fn at(&self, terms: &mut Terms, factor: &IBig, value: &Affine) -> TermId {
        let mut parts = vec![multiple_of(terms, factor, value, true)];
        for (a, low) in &self.lower {
            parts.push(at_most(terms, &low.times(factor), &value.times(a)));
        }
        for (a, high) in &self.upper {
            parts.push(at_most(terms, &value.times(a), &high.times(factor)));
        }
        for (a, n) in &self.equal {
            parts.push(equal(terms, &value.times(a), &n.times(factor)));
        }
        for (a, n) in &self.unequal {
            let equal = equal(terms, &value.times(a), &n.times(factor));
            parts.push(terms.not(equal));
        }
        for (k, a, form, sign) in &self.multiple {
            // k | a·v + form, times the factor.
            let sum = value.times(a).plus(form, factor);
            parts.push(multiple_of(terms, &(k * factor), &sum, *sign));
        }
        terms.and(parts)
    }
}

fn free_of(terms: &Terms, form: &Affine, v: VarId) -> bool {
    form.factors.keys().all(|&leaf| !terms.free_vars(leaf).contains(&v))
}

fn lcm(a: &IBig, b: &IBig) -> IBig {
    a / gcd(a, b) * b
}

fn literal(terms: &mut Terms, literal: Literal) -> TermId {
    match literal {
        Literal::Known(b) => terms.bool(b),
        Literal::Other(t, sign) => {
            if sign {
                t
            } else {
                terms.not(t)
            }
        }
        Literal::Bound(form, interval) => match (interval.only(), &interval.lo, &interval.hi) {
            (Some(n), ..) => form.equals(terms, n),
            (None, Some(n), _) => form.at_least(terms, n),
            (None, None, Some(n)) => form.at_most(terms, n),
            (None, None, None) => unreachable!("a comparison gives a bound"),
        },
    }
}

fn at_most(terms: &mut Terms, a: &Affine, b: &Affine) -> TermId {
    let compared = a.plus(b, &-IBig::ONE).compared(false, true);
    literal(terms, compared)
}

fn equal(terms: &mut Terms, a: &Affine, b: &Affine) -> TermId {
    let compared = a.plus(b, &-IBig::ONE).compared(true, true);
    literal(terms, compared)
}

/// The form is a multiple of the (positive) number, or is not.
fn multiple_of(terms: &mut Terms, k: &IBig, form: &Affine, sign: bool) -> TermId {
    let common = form.factors.values().fold(gcd(k, &form.constant), |g, n| gcd(&g, n));
    let k = k / &common;
    let mut reduced = Affine::constant(modulo(&(&form.constant / &common), &k));
    for (&leaf, n) in &form.factors {
        let n = modulo(&(n / &common), &k);
        if n != IBig::ZERO {
            reduced.factors.insert(leaf, n);
        }
    }
    if reduced.factors.is_empty() {
        return terms.bool((reduced.constant == IBig::ZERO) == sign);
    }
    let (sum, divisor, zero) = (reduced.term(terms), terms.big(k), terms.int(0));
    let rem = terms.rem(Division::Euclidean, sum, divisor);
    let equal = terms.eq(rem, zero);
    if sign { equal } else { terms.not(equal) }
}

fn modulo(n: &IBig, k: &IBig) -> IBig {
    let r = n % k;
    if r < IBig::ZERO { r + k } else { r }
}
