//! Time for people: durations, values of clocks, zones and bounds as text.
//!
//! Values are exact in evidence and stay exact here. A number with a short finite decimal is written as one (`2.5`),
//! which engineers read faster than `5/2`; any other stays a fraction (`7/3`), with an approximation beside it where there
//! is room. JSON has fractions always.

use trellis_domain::zone::{Constraint, Rational, Zone};
use trellis_model::network::LuBounds;

/// Zones over more clocks than this are shown constraint by constraint: tidying one up takes cubic time.
const MAX_TIDY: usize = 64;

/// The sum, if its numerator and denominator are of reasonable size.
pub(crate) fn plus(a: Rational, b: Rational) -> Option<Rational> {
    let wide = |r: Rational| (i128::from(r.numerator()), i128::from(r.denominator()));
    let ((a, d), (b, e)) = (wide(a), wide(b));
    let (mut num, mut den) = (a.checked_mul(e)?.checked_add(b.checked_mul(d)?)?, d.checked_mul(e)?);
    // Reduced before it is narrowed: denominators that agree must not look large.
    let divisor = gcd(num.unsigned_abs(), den.unsigned_abs()) as i128;
    (num, den) = (num / divisor, den / divisor);
    Some(Rational::new(i64::try_from(num).ok()?, i64::try_from(den).ok()?))
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// For drawing only.
pub(crate) fn approximate(r: Rational) -> f64 {
    r.numerator() as f64 / r.denominator() as f64
}

/// Exactly: `2.5`, `7/3`.
pub(crate) fn exact(r: Rational) -> String {
    const SCALE: i64 = 10_000;
    if SCALE % r.denominator() != 0 {
        return r.to_string();
    }
    let scaled = i128::from(r.numerator()) * i128::from(SCALE / r.denominator());
    let (whole, rest) = (scaled.unsigned_abs() / SCALE as u128, scaled.unsigned_abs() % SCALE as u128);
    let sign = if scaled < 0 { "-" } else { "" };
    let digits = format!("{sign}{whole}.{rest:04}");
    digits.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Exactly, and if that is a fraction, about how much it is: `2.5`, `7/3 ≈ 2.333`.
pub(crate) fn duration(r: Rational) -> String {
    let exact = exact(r);
    if exact.contains('/') { format!("{exact} ≈ {:.3}", approximate(r)) } else { exact }
}

/// `3 time units pass`, `1 time unit passes`.
pub(crate) fn passes(r: Rational) -> String {
    let one = r == Rational::new(1, 1);
    format!("{} time {}", duration(r), if one { "unit passes" } else { "units pass" })
}

/// A zone as a formula: `x ≥ 2 ∧ x - y < 3`. The constraints fit the names.
pub(crate) fn zone(names: &[String], constraints: &[Constraint]) -> String {
    if names.len() <= MAX_TIDY {
        // What does not fit the range of a bound when it is tightened can still be shown as it stands.
        if let Ok(z) = Zone::build(names.len(), constraints) {
            return z.domain().show(&z, names).to_string();
        }
    }
    let parts: Vec<String> = constraints.iter().filter_map(|c| constraint(names, *c)).collect();
    if parts.is_empty() { "true".into() } else { parts.join(" ∧ ") }
}

/// One constraint; nothing if it has no bound.
fn constraint(names: &[String], c: Constraint) -> Option<String> {
    let n = c.bound.constant()?;
    let (below, above) = if c.bound.is_strict() { ('<', '>') } else { ('≤', '≥') };
    Some(match c.clocks() {
        (0, 0) => format!("0 {below} {n}"),
        (0, y) => format!("{} {above} {}", names[y - 1], -i64::from(n)),
        (x, 0) => format!("{} {below} {n}", names[x - 1]),
        (x, y) => format!("{} - {} {below} {n}", names[x - 1], names[y - 1]),
    })
}

/// The bounds that a clock is compared with: `L(x) = 3, U(x) = 5`. Comparisons that never happen are left out.
pub(crate) fn bounds(names: &[String], b: &LuBounds) -> String {
    let mut parts = Vec::new();
    for (i, name) in names.iter().enumerate() {
        for (letter, list) in [('L', &b.lower), ('U', &b.upper)] {
            if let Some(n) = list.get(i + 1).filter(|n| **n != i32::MIN) {
                parts.push(format!("{letter}({name}) = {n}"));
            }
        }
    }
    if parts.is_empty() { "no clock is compared".into() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trellis_domain::zone::Bound;

    #[test]
    fn numbers() {
        let show = |n, d| duration(Rational::new(n, d));
        assert_eq!((show(5, 2), show(30, 1), show(1, 16)), ("2.5".into(), "30".into(), "0.0625".into()));
        assert_eq!((show(7, 3), show(-1, 2), show(0, 9)), ("7/3 ≈ 2.333".into(), "-0.5".into(), "0".into()));
        assert_eq!(show(i64::MAX, 10), "922337203685477580.7");
        assert_eq!(show(1, i64::MAX), "1/9223372036854775807 ≈ 0.000");
        assert_eq!(passes(Rational::new(1, 1)), "1 time unit passes");
        assert_eq!(passes(Rational::new(1, 2)), "0.5 time units pass");
    }

    #[test]
    fn sums() {
        let (a, b) = (Rational::new(1, 6), Rational::new(1, 3));
        assert_eq!(plus(a, b), Some(Rational::new(1, 2)));
        let tiny = Rational::new(1, i64::MAX);
        assert_eq!(plus(tiny, tiny), Some(Rational::new(2, i64::MAX)));
        assert_eq!(plus(tiny, Rational::new(1, i64::MAX - 1)), None);
        assert_eq!(plus(Rational::new(i64::MAX, 1), Rational::new(1, 1)), None);
    }

    #[test]
    fn zones() {
        let names = ["x", "y"].map(String::from);
        let c = Constraint::new;
        assert_eq!(zone(&names, &[c(1, 2, Bound::le(3)), c(2, 0, Bound::lt(5))]), "y < 5 ∧ x - y ≤ 3");
        assert_eq!(zone(&names, &[]), "true");
        assert_eq!(zone(&names, &[c(0, 0, Bound::LT_ZERO)]), "false");
        assert_eq!(zone(&names, &[c(1, 0, Bound::le(2)), c(0, 1, Bound::le(-2))]), "x = 2");
        // Too large to be tidied up: as it stands.
        let huge = trellis_domain::zone::MAX_CONSTANT;
        let far =
            [c(0, 1, Bound::lt(-huge)), c(2, 1, Bound::le(-huge)), c(1, 0, Bound::INF), c(0, 2, Bound::le(-huge))];
        assert_eq!(zone(&names, &far), format!("x > {huge} ∧ y - x ≤ -{huge} ∧ y ≥ {huge}"));
        let many: Vec<String> = (1..=100).map(|i| format!("x{i}")).collect();
        assert_eq!(zone(&many, &[c(7, 0, Bound::lt(5)), c(0, 0, Bound::le(1))]), "x7 < 5 ∧ 0 ≤ 1");
    }

    #[test]
    fn comparisons() {
        let names = ["x", "y"].map(String::from);
        let b = LuBounds { lower: vec![0, 3, i32::MIN], upper: vec![0, 5, 0] };
        assert_eq!(bounds(&names, &b), "L(x) = 3, U(x) = 5, U(y) = 0");
        let none = LuBounds { lower: vec![i32::MIN; 3], upper: vec![i32::MIN; 3] };
        assert_eq!(bounds(&names, &none), "no clock is compared");
    }
}
