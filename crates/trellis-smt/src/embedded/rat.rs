//! Exact rational numbers with a fast path.
//!
//! A numerator of 64 and a denominator of 32 bits live in the value itself; whatever does not fit goes to big integers on the heap,
//! and comes back when it fits again. So equal numbers have equal representations.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

use dashu_int::IBig;
use dashu_int::ops::{Abs, DivRemEuclid, Gcd};

/// A rational number.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Rat {
    /// In lowest terms; the denominator is not zero.
    Small(i64, u32),
    /// In lowest terms, does not fit; the denominator is positive.
    Big(Box<(IBig, IBig)>),
}

impl Rat {
    pub const ZERO: Rat = Rat::Small(0, 1);
    pub const ONE: Rat = Rat::Small(1, 1);

    /// From parts that need not be in lowest terms; the denominator is not zero.
    fn from_big(num: IBig, den: IBig) -> Rat {
        let g = IBig::from((&num).gcd(&den));
        let sign = if den < IBig::ZERO { IBig::NEG_ONE } else { IBig::ONE };
        let (num, den) = (num / &g * &sign, den / g * sign);
        match (i64::try_from(&num), u32::try_from(&den)) {
            (Ok(n), Ok(d)) => Rat::Small(n, d),
            _ => Rat::Big(Box::new((num, den))),
        }
    }

    /// From parts in lowest terms, the denominator positive.
    fn lowest(num: i128, den: u64) -> Rat {
        match (i64::try_from(num), u32::try_from(den)) {
            (Ok(n), Ok(d)) => Rat::Small(n, d),
            _ => Rat::Big(Box::new((num.into(), den.into()))),
        }
    }

    fn reduce(num: i128, den: u64) -> Rat {
        let g = gcd((num.unsigned_abs() % u128::from(den)) as u64, den);
        Rat::lowest(num / i128::from(g), den / g)
    }

    fn big(&self) -> (IBig, IBig) {
        match self {
            Rat::Small(n, d) => ((*n).into(), (*d).into()),
            Rat::Big(b) => (**b).clone(),
        }
    }

    pub fn is_zero(&self) -> bool {
        matches!(self, Rat::Small(0, _))
    }

    pub fn is_integer(&self) -> bool {
        match self {
            Rat::Small(_, d) => *d == 1,
            Rat::Big(b) => b.1 == IBig::ONE,
        }
    }

    pub fn is_positive(&self) -> bool {
        match self {
            Rat::Small(n, _) => *n > 0,
            Rat::Big(b) => b.0 > IBig::ZERO,
        }
    }

    pub fn is_negative(&self) -> bool {
        match self {
            Rat::Small(n, _) => *n < 0,
            Rat::Big(b) => b.0 < IBig::ZERO,
        }
    }

    /// The greatest integer below or equal.
    pub fn floor(&self) -> Rat {
        match self {
            Rat::Small(_, 1) => self.clone(),
            Rat::Small(n, d) => Rat::Small(n.div_euclid(i64::from(*d)), 1),
            Rat::Big(b) => Rat::from((&b.0).div_rem_euclid(&b.1).0),
        }
    }

    pub fn abs(&self) -> Rat {
        if self.is_negative() { -self } else { self.clone() }
    }

    pub fn recip(&self) -> Rat {
        match *self {
            Rat::Small(n, d) if n > 0 => Rat::lowest(i128::from(d), n as u64),
            Rat::Small(n, d) => Rat::lowest(-i128::from(d), n.unsigned_abs()),
            Rat::Big(ref b) => Rat::from_big(b.1.clone(), b.0.clone()),
        }
    }

    pub fn numerator(&self) -> IBig {
        self.big().0
    }

    pub fn denominator(&self) -> IBig {
        self.big().1
    }

    /// `self += a · b`.
    pub fn add_product(&mut self, a: &Rat, b: &Rat) {
        if let (Rat::Small(s, 1), Rat::Small(a, 1), Rat::Small(b, 1)) = (&*self, a, b)
            && let Some(n) = a.checked_mul(*b).and_then(|p| p.checked_add(*s))
        {
            *self = Rat::Small(n, 1);
            return;
        }
        *self = &*self + &(a * b);
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl From<i64> for Rat {
    fn from(n: i64) -> Rat {
        Rat::Small(n, 1)
    }
}

impl From<IBig> for Rat {
    fn from(n: IBig) -> Rat {
        match i64::try_from(&n) {
            Ok(n) => Rat::Small(n, 1),
            Err(_) => Rat::Big(Box::new((n, IBig::ONE))),
        }
    }
}

impl From<&IBig> for Rat {
    fn from(n: &IBig) -> Rat {
        match i64::try_from(n) {
            Ok(n) => Rat::Small(n, 1),
            Err(_) => Rat::Big(Box::new((n.clone(), IBig::ONE))),
        }
    }
}

impl Add for &Rat {
    type Output = Rat;
    fn add(self, other: &Rat) -> Rat {
        match (self, other) {
            (Rat::Small(a, 1), Rat::Small(b, 1)) => Rat::lowest(i128::from(*a) + i128::from(*b), 1),
            (Rat::Small(a, c), Rat::Small(b, d)) => {
                let num = i128::from(*a) * i128::from(*d) + i128::from(*b) * i128::from(*c);
                Rat::reduce(num, u64::from(*c) * u64::from(*d))
            }
            _ => {
                let ((a, c), (b, d)) = (self.big(), other.big());
                Rat::from_big(a * &d + b * &c, c * d)
            }
        }
    }
}

impl Sub for &Rat {
    type Output = Rat;
    fn sub(self, other: &Rat) -> Rat {
        match (self, other) {
            (Rat::Small(a, 1), Rat::Small(b, 1)) => Rat::lowest(i128::from(*a) - i128::from(*b), 1),
            (Rat::Small(a, c), Rat::Small(b, d)) => {
                let num = i128::from(*a) * i128::from(*d) - i128::from(*b) * i128::from(*c);
                Rat::reduce(num, u64::from(*c) * u64::from(*d))
            }
            _ => {
                let ((a, c), (b, d)) = (self.big(), other.big());
                Rat::from_big(a * &d - b * &c, c * d)
            }
        }
    }
}

impl Mul for &Rat {
    type Output = Rat;
    fn mul(self, other: &Rat) -> Rat {
        match (self, other) {
            (Rat::Small(a, 1), Rat::Small(b, 1)) => Rat::lowest(i128::from(*a) * i128::from(*b), 1),
            (Rat::Small(a, c), Rat::Small(b, d)) => {
                let g = gcd(a.unsigned_abs(), u64::from(*d)).max(1);
                let h = gcd(b.unsigned_abs(), u64::from(*c)).max(1);
                let num = (i128::from(*a) / i128::from(g)) * (i128::from(*b) / i128::from(h));
                Rat::lowest(num, (u64::from(*c) / h) * (u64::from(*d) / g))
            }
            _ => {
                let ((a, c), (b, d)) = (self.big(), other.big());
                Rat::from_big(a * b, c * d)
            }
        }
    }
}

impl Div for &Rat {
    type Output = Rat;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "dividing is multiplying by the reciprocal")]
    fn div(self, other: &Rat) -> Rat {
        self * &other.recip()
    }
}

impl Neg for &Rat {
    type Output = Rat;
    fn neg(self) -> Rat {
        match self {
            Rat::Small(n, d) => Rat::lowest(-i128::from(*n), u64::from(*d)),
            Rat::Big(b) => Rat::from_big(-&b.0, b.1.clone()),
        }
    }
}

impl PartialOrd for Rat {
    fn partial_cmp(&self, other: &Rat) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rat {
    fn cmp(&self, other: &Rat) -> Ordering {
        match (self, other) {
            (Rat::Small(a, c), Rat::Small(b, d)) if c == d => a.cmp(b),
            (Rat::Small(a, c), Rat::Small(b, d)) => {
                (i128::from(*a) * i128::from(*d)).cmp(&(i128::from(*b) * i128::from(*c)))
            }
            _ => {
                let ((a, c), (b, d)) = (self.big(), other.big());
                (a * d).cmp(&(b * c))
            }
        }
    }
}

impl fmt::Debug for Rat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, d) = self.big();
        if d == IBig::ONE { write!(f, "{n}") } else { write!(f, "{n}/{d}") }
    }
}

/// The greatest common divisor of integers; zero if there are none.
pub(crate) fn gcd_of<'a>(numbers: impl IntoIterator<Item = &'a IBig>) -> IBig {
    numbers.into_iter().fold(IBig::ZERO, |g, n| match (g == IBig::ZERO, *n == IBig::ZERO) {
        (true, _) => n.clone().abs(),
        (_, true) => g,
        _ => IBig::from((&g).gcd(n)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = IBig> {
        prop_oneof![
            (-5i64..6).prop_map(IBig::from),
            any::<i64>().prop_map(IBig::from),
            prop::sample::select(vec![i64::MIN, i64::MAX, i64::from(u32::MAX), i64::from(u32::MAX) + 1])
                .prop_map(IBig::from),
            any::<i128>().prop_map(IBig::from),
        ]
    }

    fn rational() -> impl Strategy<Value = Rat> {
        (number(), number().prop_filter("a denominator", |d| *d != IBig::ZERO)).prop_map(|(n, d)| Rat::from_big(n, d))
    }

    fn canonical(r: &Rat) -> bool {
        let (n, d) = r.big();
        d > IBig::ZERO && *r == Rat::from_big(n, d)
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_fractions(a in rational(), b in rational()) {
            let ((p, q), (r, s)) = (a.big(), b.big());
            prop_assert_eq!(&a + &b, Rat::from_big(&p * &s + &r * &q, &q * &s));
            prop_assert_eq!(&a - &b, Rat::from_big(&p * &s - &r * &q, &q * &s));
            prop_assert_eq!(&a * &b, Rat::from_big(&p * &r, &q * &s));
            prop_assert_eq!(-&a, Rat::from_big(-&p, q.clone()));
            if !b.is_zero() {
                prop_assert_eq!(&a / &b, Rat::from_big(&p * &s, &q * &r));
            }
            prop_assert_eq!(a.cmp(&b), (&p * &s).cmp(&(&r * &q)));
            let f = a.floor();
            prop_assert!(f.is_integer() && f <= a && a < &f + &Rat::ONE);
            for x in [&a + &b, &a - &b, &a * &b, -&a, f] {
                prop_assert!(canonical(&x), "{:?}", x);
            }
            let mut sum = a.clone();
            sum.add_product(&b, &a);
            prop_assert_eq!(sum, &a + &(&b * &a));
        }
    }
}
