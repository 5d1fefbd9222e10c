//! Exact points: a valuation in a zone, and delays that lead into one, for traces that can be replayed.
//!
//! Strict bounds force fractions, but mild ones: a non-empty zone over `n` clocks has a point whose values are multiples of
//! `1/(n + 1)`. [`solve`] finds the smallest denominator that will do and then the least point. It takes any number of
//! variables, so a whole timed path can be scheduled at once, its moments being the variables; fractions picked step by
//! step would have denominators that double with every step.

use std::cmp::Ordering;
use std::fmt;

use super::{Bound, Constraint, ZoneDomain};

/// A number as a reduced fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rational {
    num: i64,
    den: i64,
}

impl Default for Rational {
    fn default() -> Self {
        Rational::ZERO
    }
}

impl Rational {
    /// Nothing.
    pub const ZERO: Rational = Rational { num: 0, den: 1 };

    /// `num / den`. Panics if `den` is not positive.
    pub fn new(num: i64, den: i64) -> Self {
        assert!(den > 0, "a fraction has a positive denominator");
        let divisor = gcd(num.unsigned_abs(), den.unsigned_abs()) as i64;
        Rational { num: num / divisor, den: den / divisor }
    }

    /// The number above the line.
    pub const fn numerator(self) -> i64 {
        self.num
    }

    /// The number below the line; positive.
    pub const fn denominator(self) -> i64 {
        self.den
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        (i128::from(self.num) * i128::from(other.den)).cmp(&(i128::from(other.num) * i128::from(self.den)))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.den {
            1 => write!(f, "{}", self.num),
            den => write!(f, "{}/{den}", self.num),
        }
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The greatest numerator and denominator of a [`Point`]: bounds times denominators then fit an `i64`.
const MAX_NUMERATOR: i64 = 1 << 60;
const MAX_DENOMINATOR: i64 = 1 << 30;

/// A valuation with a common denominator. It has a value for `x₀` too, which is 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Point {
    numerators: Vec<i64>,
    denominator: i64,
}

impl Point {
    /// The point with the values `numerators[i] / denominator`. `None` unless the first is 0, none is negative, the
    /// denominator is positive, and all are of reasonable size (numerators up to 2⁶⁰, the denominator up to 2³⁰).
    pub fn new(numerators: Vec<i64>, denominator: i64) -> Option<Self> {
        let fine = numerators.first() == Some(&0)
            && numerators.iter().all(|v| (0..=MAX_NUMERATOR).contains(v))
            && (1..=MAX_DENOMINATOR).contains(&denominator);
        fine.then_some(Point { numerators, denominator })
    }

    /// The point in which this many clocks are all zero.
    pub fn zero(clocks: usize) -> Self {
        Point { numerators: vec![0; clocks + 1], denominator: 1 }
    }

    /// The value of clock `i`, 0 for `x₀`.
    pub fn value(&self, i: usize) -> Rational {
        Rational::new(self.numerators[i], self.denominator)
    }

    /// The values times the [`denominator`](Self::denominator), that of `x₀` first.
    pub fn numerators(&self) -> &[i64] {
        &self.numerators
    }

    /// What the numerators are divided by; positive.
    pub fn denominator(&self) -> i64 {
        self.denominator
    }

    /// The point after a delay. `None` if the delay is negative, or the numbers become unreasonable.
    pub fn after(&self, delay: Rational) -> Option<Point> {
        if delay.num < 0 {
            return None;
        }
        let factor = delay.den / gcd(delay.den.unsigned_abs(), self.denominator.unsigned_abs()) as i64;
        let denominator = self.denominator.checked_mul(factor)?;
        let delay = delay.num.checked_mul(denominator / delay.den)?;
        let mut numerators = self.numerators.clone();
        for v in &mut numerators[1..] {
            *v = v.checked_mul(factor)?.checked_add(delay)?;
        }
        Point::new(numerators, denominator)
    }

    /// Clock `x` is given a value. `None` if that is negative or unreasonable.
    pub fn set(&mut self, x: usize, value: i64) -> Option<()> {
        let value = value.checked_mul(self.denominator).filter(|v| (0..=MAX_NUMERATOR).contains(v))?;
        self.numerators[x] = value;
        Some(())
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = (1..self.numerators.len()).map(|x| self.value(x).to_string()).collect();
        write!(f, "({})", values.join(", "))
    }
}

/// The delays after which a point is in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayInterval {
    /// The least, or what all are above.
    pub low: Rational,
    /// Is `low` itself excluded?
    pub low_strict: bool,
    /// The greatest, or what all are below; `None` if there is no end.
    pub high: Option<Rational>,
    /// Is `high` itself excluded?
    pub high_strict: bool,
}

impl DelayInterval {
    /// Is this delay one of them?
    pub fn contains(&self, delay: Rational) -> bool {
        let above = if self.low_strict { self.low < delay } else { self.low <= delay };
        let below = self.high.is_none_or(|high| if self.high_strict { delay < high } else { delay <= high });
        above && below
    }

    /// One of them that is easy to read: the least if there is one, else the least whole number, else the middle.
    /// `None` if the middle has too great a denominator.
    pub fn pick(&self) -> Option<Rational> {
        if !self.low_strict {
            return Some(self.low);
        }
        let whole = Rational::new(self.low.num.div_euclid(self.low.den).checked_add(1)?, 1);
        match self.high {
            Some(high) if !self.contains(whole) => {
                let sum = self.low.num.checked_mul(high.den)?.checked_add(high.num.checked_mul(self.low.den)?)?;
                Some(Rational::new(sum, self.low.den.checked_mul(high.den)?.checked_mul(2)?))
            }
            _ => Some(whole),
        }
    }
}

impl ZoneDomain {
    /// Some point of the zone: with the smallest common denominator there is, and of such points the least in every
    /// coordinate. `None` if the zone is empty.
    pub fn point_in(self, z: &[Bound]) -> Option<Point> {
        let n = self.dim();
        let constraint = |at: usize| Constraint::new(at / n, at % n, z[at]);
        if self.is_empty(z) {
            return None;
        }
        let constraints: Vec<_> = (0..z.len()).filter(|&at| !z[at].is_inf()).map(constraint).collect();
        solve(n, &constraints)
    }

    /// The delays after which this point is in the zone; `None` if there are none.
    pub fn delay_interval(self, z: &[Bound], point: &Point) -> Option<DelayInterval> {
        let n = self.dim();
        debug_assert_eq!(point.numerators.len(), n);
        if self.is_empty(z) {
            return None;
        }
        let (values, den) = (&point.numerators, point.denominator);
        // Differences of clocks stay as they are.
        let related = |i: usize, j: usize| z[i * n + j].admits(values[i] - values[j], den);
        if !(1..n).all(|i| (1..n).all(|j| related(i, j))) {
            return None;
        }
        // In units of 1/den; (n, strict) is compared so that the tighter bound is the greater, or the smaller.
        let mut low = (0, false);
        let mut high: Option<(i64, bool)> = None;
        for x in 1..n {
            let (lower, upper) = (z[x], z[x * n]);
            if let Some(c) = lower.constant() {
                low = low.max((-i64::from(c) * den - values[x], lower.is_strict()));
            }
            if let Some(c) = upper.constant() {
                let end = (i64::from(c) * den - values[x], !upper.is_strict());
                high = Some(high.map_or(end, |high| high.min(end)));
            }
        }
        let interval = DelayInterval {
            low: Rational::new(low.0, den),
            low_strict: low.1,
            high: high.map(|(end, _)| Rational::new(end, den)),
            high_strict: high.is_some_and(|(_, closed)| !closed),
        };
        let some = high.is_none_or(|(end, closed)| low.0 < end || low.0 == end && closed && !low.1);
        some.then_some(interval)
    }
}

/// Values for variables `0..count` that satisfy all constraints `left - right ≺ n`, where variable 0 is 0 and none is
/// negative; `None` if there are none (or, with millions of variables, none of reasonable size). Their common denominator
/// is the smallest possible, and with that every value is the least possible.
///
/// Takes, for each of a few denominators, time proportional to the constraints and to the longest chain of them that
/// matters, at worst the number of variables.
pub fn solve(count: usize, constraints: &[Constraint]) -> Option<Point> {
    // In units of 1/d, `x - y < n` is `x - y ≤ d·n - 1`. A cycle of constraints with sum W > 0 and s strict ones
    // can be satisfied iff d·W ≥ s, one with W = 0 iff s = 0: more is possible with greater d, up to `count`, the length of the
    // longest cycle.
    let mut enough = 1;
    let mut best = loop {
        if let Some(values) = least_solution(count, constraints, enough) {
            break values;
        }
        if enough as usize >= count {
            return None;
        }
        enough = (2 * enough).min(count as i64);
    };
    let mut too_few = enough / 2;
    while too_few + 1 < enough {
        let middle = too_few + (enough - too_few) / 2;
        match least_solution(count, constraints, middle) {
            Some(values) => (best, enough) = (values, middle),
            None => too_few = middle,
        }
    }
    Point::new(best, enough)
}

/// The least solution in whole multiples of `1/d`, by raising values until all constraints hold (Bellman and Ford).
fn least_solution(count: usize, constraints: &[Constraint], d: i64) -> Option<Vec<i64>> {
    let mut values = vec![0; count];
    for _ in 0..=count {
        let mut raised = false;
        for c in constraints {
            let Some(n) = c.bound.constant() else { continue };
            let (left, right) = c.clocks();
            let least = values[left] - (i64::from(n) * d - i64::from(c.bound.is_strict()));
            if values[right] < least {
                if right == 0 {
                    return None;
                }
                values[right] = least;
                raised = true;
            }
        }
        if !raised {
            return Some(values);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rationals() {
        assert_eq!(Rational::new(6, 4).to_string(), "3/2");
        assert_eq!(Rational::new(-4, 2).to_string(), "-2");
        assert_eq!(Rational::new(0, 7), Rational::new(0, 1));
        assert!(Rational::new(1, 3) < Rational::new(1, 2));
        assert!(Rational::new(i64::MAX, 2) > Rational::new(i64::MAX, 3));
    }

    #[test]
    fn points_move() {
        let mut p = Point::zero(2).after(Rational::new(1, 2)).unwrap();
        p.set(1, 3).unwrap();
        let p = p.after(Rational::new(1, 3)).unwrap();
        assert_eq!(p.to_string(), "(10/3, 5/6)");
        assert_eq!(p.after(Rational::new(-1, 2)), None);
        assert_eq!(p.after(Rational::new(1, MAX_DENOMINATOR - 1)), None);
        assert_eq!(p.clone().set(1, -1), None);
        assert_eq!(p.clone().set(1, i64::MAX), None);
        assert_eq!(Point::new(vec![1, 0], 1), None);
        assert_eq!(Point::new(vec![0, 1], 0), None);
        assert_eq!(Point::new(vec![], 1), None);
    }

    #[test]
    fn picked_delays_are_simple() {
        let interval =
            |low, low_strict, high: Option<Rational>| DelayInterval { low, low_strict, high, high_strict: true };
        let (half, one) = (Rational::new(1, 2), Rational::new(1, 1));
        assert_eq!(interval(half, false, Some(one)).pick(), Some(half));
        assert_eq!(interval(half, true, None).pick(), Some(one));
        assert_eq!(interval(half, true, Some(Rational::new(4, 3))).pick(), Some(one));
        assert_eq!(interval(half, true, Some(one)).pick(), Some(Rational::new(3, 4)));
        assert_eq!(interval(one, true, Some(Rational::new(2, 1))).pick(), Some(Rational::new(3, 2)));
    }

    /// Moments of a path: as long a chain of strict bounds as there are moments, between 0 and 1.
    #[test]
    fn a_schedule_needs_a_large_denominator_only_when_forced() {
        let count = 40;
        let chain = (1..count).map(|i| Constraint::new(i - 1, i, Bound::LT_ZERO));
        let loose: Vec<_> = chain.clone().collect();
        let point = solve(count, &loose).unwrap();
        assert_eq!((point.denominator(), point.numerators()[count - 1]), (1, 39));
        let tight: Vec<_> = chain.chain([Constraint::new(count - 1, 0, Bound::lt(1))]).collect();
        let point = solve(count, &tight).unwrap();
        assert_eq!(point.denominator(), count as i64);
        let impossible: Vec<_> = tight.into_iter().chain([Constraint::new(count - 1, 0, Bound::LT_ZERO)]).collect();
        assert_eq!(solve(count, &impossible), None);
    }
}
