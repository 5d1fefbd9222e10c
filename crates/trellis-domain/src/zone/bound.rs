//! One bound `≺ n` of a difference of clocks, in one `i32`.
//!
//! `< n` is `2n` and `≤ n` is `2n + 1`: a numerically smaller code is a tighter bound, so comparing, minimum and maximum
//! are those of integers. "No bound" is `i32::MAX`. The sum of two bounds is strict if either is; the low bits say so.
//! Finite codes stay below 2²⁹ in magnitude, so that the sum of two of them cannot wrap, and a sum that
//! leaves the range can be recognised *afterwards*: this is what keeps the loops of `dbm` free of checks.

use std::fmt;
use std::hash::{Hash, Hasher};

/// The greatest magnitude of a constant in a [`Bound`].
pub const MAX_CONSTANT: i32 = (1 << 28) - 1;

/// `< n`, `≤ n` or no bound at all; ordered from the tightest to the loosest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Bound(pub(super) i32);

impl Bound {
    /// No bound.
    pub const INF: Bound = Bound(i32::MAX);
    /// `≤ 0`: the bound of a clock's difference to itself.
    pub const LE_ZERO: Bound = Bound(1);
    /// `< 0`.
    pub const LT_ZERO: Bound = Bound(0);
    /// Every entry of the empty zone: tighter than any bound, so that order, hull and meet need no special case.
    pub(super) const NEVER: Bound = Bound(i32::MIN);

    /// The tightest and the loosest finite code.
    const LOWEST: i32 = -2 * MAX_CONSTANT;
    const HIGHEST: i32 = 2 * MAX_CONSTANT + 1;

    /// `≤ n`. Panics if `n` is out of range; see [`checked`](Self::checked).
    pub const fn le(n: i32) -> Bound {
        assert!(-MAX_CONSTANT <= n && n <= MAX_CONSTANT, "the constant of a bound is out of range");
        Bound(2 * n + 1)
    }

    /// `< n`. Panics if `n` is out of range; see [`checked`](Self::checked).
    pub const fn lt(n: i32) -> Bound {
        assert!(-MAX_CONSTANT <= n && n <= MAX_CONSTANT, "the constant of a bound is out of range");
        Bound(2 * n)
    }

    /// `< n` if `strict`, `≤ n` otherwise, if `n` is in range.
    pub const fn checked(n: i64, strict: bool) -> Option<Bound> {
        if n < -(MAX_CONSTANT as i64) || n > MAX_CONSTANT as i64 {
            return None;
        }
        Some(Bound(2 * n as i32 + !strict as i32))
    }

    /// One number for each bound, smaller for tighter ones: for hashing and packing.
    pub const fn code(self) -> i32 {
        self.0
    }

    /// The bound with this [`code`](Self::code). A number that is none's gives a bound that is out of range.
    pub const fn from_code(code: i32) -> Bound {
        Bound(code)
    }

    /// Is there no bound?
    pub const fn is_inf(self) -> bool {
        self.0 == i32::MAX
    }

    /// `n` in `< n` and `≤ n`.
    pub const fn constant(self) -> Option<i32> {
        if self.is_inf() { None } else { Some(self.0 >> 1) }
    }

    /// Is it `< n`? (No bound counts as not strict.)
    pub const fn is_strict(self) -> bool {
        self.0 & 1 == 0
    }

    /// The bound of `x - z` that follows from bounds of `x - y` and `y - z`. `None` if its constant is out of range.
    pub const fn checked_add(self, other: Bound) -> Option<Bound> {
        if self.is_inf() || other.is_inf() {
            return Some(Bound::INF);
        }
        let sum = self.plus(other);
        if sum.in_range() { Some(sum) } else { None }
    }

    /// The bound of `y - x` that holds exactly when this one of `x - y` does not; `None` if there is no bound.
    pub const fn complement(self) -> Option<Bound> {
        if self.is_inf() { None } else { Some(Bound(1 - self.0)) }
    }

    /// Is `difference / denominator ≺ n`? The denominator is positive.
    pub const fn admits(self, difference: i64, denominator: i64) -> bool {
        if self.is_inf() {
            return true;
        }
        let limit = (self.0 >> 1) as i128 * denominator as i128;
        let difference = difference as i128;
        if self.is_strict() { difference < limit } else { difference <= limit }
    }

    /// The sum of two finite bounds in range, perhaps itself out of range.
    pub(super) const fn plus(self, other: Bound) -> Bound {
        Bound(self.0 + other.0 - ((self.0 | other.0) & 1))
    }

    /// Is it infinite, or a code that the constructors give?
    pub(super) const fn in_range(self) -> bool {
        self.is_inf() | (self.0.wrapping_sub(Bound::LOWEST) as u32 <= (Bound::HIGHEST - Bound::LOWEST) as u32)
    }

    /// The code in more bits, so that sums of thousands cannot wrap; add them with [`add_wide`].
    pub(super) const fn wide(self) -> i64 {
        self.0 as i64
    }
}

/// The sum of two finite bounds in wide codes.
pub(super) const fn add_wide(a: i64, b: i64) -> i64 {
    a + b - ((a | b) & 1)
}

/// Are all of them in range?
pub(super) fn all_in_range(row: &[Bound]) -> bool {
    row.iter().fold(true, |ok, b| ok & b.in_range())
}

/// `row[j] := min(row[j], via + rest[j])`: the loop that zones spend their time in. Sums may leave the range of a bound (but
/// not that of an `i32`); the caller looks for them.
#[inline(always)]
pub(super) fn relax(row: &mut [Bound], via: Bound, rest: &[Bound]) {
    // via + r = via + r - ((via | r) & 1): with the low bit of `via` known, one operation less per entry. No bound adds up to
    // the same without a branch.
    let weak = via.0 & 1;
    let (mask, add) = if via.is_inf() { (0, i32::MAX) } else { (!1 | weak, via.0 - weak) };
    for (entry, r) in row.iter_mut().zip(rest) {
        let sum = (r.0 & mask).wrapping_add(add);
        let better = (sum < entry.0) & (r.0 != i32::MAX);
        entry.0 = if better { sum } else { entry.0 };
    }
}

/// Are all either infinite or at most `limit` in magnitude? Then sums of so many that they reach at most
/// [`MAX_CONSTANT`] are in range.
pub(super) fn all_within(bounds: &[Bound], limit: i32) -> bool {
    let within = |b: &Bound| b.is_inf() | (b.0.wrapping_add(2 * limit) as u32 <= 4 * limit as u32);
    bounds.iter().fold(true, |ok, b| ok & within(b))
}

impl Hash for Bound {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_i32(self.0);
    }

    // Two entries at a time halves the work of hashing a zone.
    fn hash_slice<H: Hasher>(data: &[Self], state: &mut H) {
        let (pairs, rest) = data.as_chunks::<2>();
        for [a, b] in pairs {
            state.write_u64(u64::from(a.0 as u32) << 32 | u64::from(b.0 as u32));
        }
        rest.iter().for_each(|b| b.hash(state));
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Bound::INF => f.write_str("∞"),
            Bound::NEVER => f.write_str("⊥"),
            Bound(code) => write!(f, "{}{}", if self.is_strict() { "<" } else { "≤" }, code >> 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bounds with constants in a small range, and a plain reading of each: (n, strict), none for no bound.
    fn small() -> Vec<(Bound, Option<(i64, bool)>)> {
        let finite =
            (-6..=6).flat_map(|n| [(Bound::lt(n), Some((n.into(), true))), (Bound::le(n), Some((n.into(), false)))]);
        finite.chain([(Bound::INF, None)]).collect()
    }

    #[test]
    fn constructors_agree_and_can_be_read_back() {
        for (bound, meaning) in small() {
            assert_eq!(bound.constant().map(i64::from), meaning.map(|(n, _)| n));
            if let Some((n, strict)) = meaning {
                assert_eq!((Bound::checked(n, strict), bound.is_strict()), (Some(bound), strict));
            }
        }
        assert_eq!((Bound::LE_ZERO, Bound::LT_ZERO), (Bound::le(0), Bound::lt(0)));
    }

    #[test]
    fn order_is_inclusion() {
        for (a, a_means) in small() {
            for (b, b_means) in small() {
                let tighter = match (a_means, b_means) {
                    (_, None) => true,
                    (None, Some(_)) => false,
                    (Some((n, a_strict)), Some((m, b_strict))) => n < m || n == m && (a_strict || !b_strict),
                };
                assert_eq!(a <= b, tighter, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn sums_and_complements() {
        for (a, a_means) in small() {
            for (b, b_means) in small() {
                let sum = a_means.zip(b_means).map(|((n, s), (m, t))| (n + m, s || t));
                let expected = sum.map_or(Bound::INF, |(n, strict)| Bound::checked(n, strict).unwrap());
                assert_eq!(a.checked_add(b), Some(expected), "{a:?} {b:?}");
                if sum.is_some() {
                    assert_eq!(add_wide(a.wide(), b.wide()), expected.wide());
                }
            }
            // d ≺ n or -d ≺' -n, and never both, for all d in halves.
            for d in -20..=20 {
                assert_eq!(a.admits(d, 2), a_means.is_none_or(|(n, strict)| d < 2 * n || d == 2 * n && !strict));
                if let Some(c) = a.complement() {
                    assert_ne!(a.admits(d, 2), c.admits(-d, 2), "{a:?} {c:?} at {d}/2");
                    assert_eq!(c.complement(), Some(a));
                }
            }
        }
        assert_eq!(Bound::INF.complement(), None);
    }

    #[test]
    fn the_range_is_guarded() {
        let (low, high) = (Bound::lt(-MAX_CONSTANT), Bound::le(MAX_CONSTANT));
        assert_eq!((low.0, high.0), (Bound::LOWEST, Bound::HIGHEST));
        assert_eq!((low.complement(), high.complement()), (Some(high), Some(low)));
        for strict in [false, true] {
            for n in
                [i64::MIN, i64::from(-MAX_CONSTANT) - 1, i64::from(MAX_CONSTANT) + 1, i64::from(i32::MAX), i64::MAX]
            {
                assert_eq!(Bound::checked(n, strict), None);
            }
        }
        assert_eq!(high.checked_add(Bound::le(0)), Some(high));
        assert_eq!(high.checked_add(Bound::lt(1)), None);
        assert_eq!(low.checked_add(Bound::le(-1)), None);
        assert_eq!(low.checked_add(low), None);
        assert_eq!(high.checked_add(high), None);
        assert_eq!(low.checked_add(Bound::INF), Some(Bound::INF));
        assert!(!Bound::NEVER.in_range() && Bound::INF.in_range() && Bound::NEVER < low && high < Bound::INF);
    }

    #[test]
    fn relax_is_the_minimum_of_sums() {
        let all = small();
        let rest: Vec<Bound> = all.iter().map(|b| b.0).collect();
        for &(via, _) in &all {
            for &(old, _) in &all {
                let mut row = vec![old; rest.len()];
                relax(&mut row, via, &rest);
                for (new, &r) in row.iter().zip(&rest) {
                    assert_eq!(*new, old.min(via.checked_add(r).unwrap()), "{via:?} {r:?} {old:?}");
                }
            }
        }
    }
}
