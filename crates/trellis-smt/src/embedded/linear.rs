//! Sums of integer variables with whole coefficients, and a constant.

use dashu_int::IBig;

use super::rat::gcd_of;
use super::simplex::Column;

/// `Σ k · column + constant`; the columns are sorted, no coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linear {
    pub terms: Vec<(Column, IBig)>,
    pub constant: IBig,
}

impl Linear {
    pub fn constant(n: impl Into<IBig>) -> Linear {
        Linear { terms: vec![], constant: n.into() }
    }

    pub fn column(c: Column) -> Linear {
        Linear { terms: vec![(c, IBig::ONE)], constant: IBig::ZERO }
    }

    /// The number, if there are no variables in it.
    pub fn as_constant(&self) -> Option<&IBig> {
        self.terms.is_empty().then_some(&self.constant)
    }

    /// `self + k · other`.
    pub fn plus(&self, k: &IBig, other: &Linear) -> Linear {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let sum = &x.1 + k * &y.1;
                    if sum != IBig::ZERO {
                        terms.push((x.0, sum));
                    }
                    a.next();
                    b.next();
                }
                (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                    terms.push((*x).clone());
                    a.next();
                }
                (_, Some(y)) => {
                    if *k != IBig::ZERO {
                        terms.push((y.0, k * &y.1));
                    }
                    b.next();
                }
                _ => break,
            }
        }
        Linear { terms, constant: &self.constant + k * &other.constant }
    }

    pub fn minus(&self, other: &Linear) -> Linear {
        self.plus(&IBig::NEG_ONE, other)
    }

    pub fn times(&self, k: &IBig) -> Linear {
        Linear::default().plus(k, self)
    }

    /// Divides the coefficients by what they have in common and makes the first positive: (the form, the divisor with its
    /// sign). `self = divisor · form + constant`.
    pub fn normal(&self) -> (Vec<(Column, IBig)>, IBig) {
        let mut g = gcd_of(self.terms.iter().map(|(_, k)| k));
        if self.terms.first().is_some_and(|(_, k)| *k < IBig::ZERO) {
            g = -g;
        }
        (self.terms.iter().map(|(c, k)| (*c, k / &g)).collect(), g)
    }
}
