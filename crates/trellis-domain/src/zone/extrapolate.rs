//! Coarser zones that a model without diagonal constraints cannot tell from finer ones.
//!
//! `L(x)` and `U(x)` are the greatest constants that the model compares `x` with from below (`x > c`, `x ≥ c`) and from
//! above (`x < c`, `x ≤ c`) before resetting it; `M(x)` is the greater. Extra-M, Extra-LU and Extra-LU+ are those of
//! Behrmann, Bouyer, Larsen and Pelánek, *Lower and upper bounds in zone-based abstractions of timed automata*
//! (STTT 8, 2006). The test whether a zone is within `a⊑LU` of another is that of Herbreteau, Srivathsan and Walukiewicz,
//! *Better abstractions for timed automata* (LICS 2012); it makes the coarsest of these abstractions usable although its
//! result is not convex. With `Z ⊆ Extra-LU(Z) ⊆ Extra-LU+(Z) ⊆ a⊑LU(Z)`, all are sound and complete for reachability.
//!
//! Constants are slices with an entry for each clock; the first, for `x₀`, is not looked at. A negative number means
//! that there is no such comparison: minus infinity.

use trellis_meter::seeded::{self, Bug};

use super::{Bound, MAX_CONSTANT, ZoneDomain, ZoneError};

/// Is the constant of a bound above `l`?
fn above(entry: Bound, l: i32) -> bool {
    entry.0 > 2 * l.clamp(-1, MAX_CONSTANT) + 1
}

/// Is the constant of a bound below `-u`?
fn below(entry: Bound, u: i32) -> bool {
    entry.0 < -2 * u.clamp(-1, MAX_CONSTANT)
}

/// The tightest bound of a difference to `x` that is not beyond `U(x)`; `none` if there is no constant.
fn least(u: i32, none: Bound) -> Bound {
    if u < 0 { none } else { Bound(-2 * u.min(MAX_CONSTANT)) }
}

impl ZoneDomain {
    /// Extra-M: forgets everything beyond the constants `m`.
    pub fn extra_m(self, z: &mut [Bound], m: &[i32]) -> Result<(), ZoneError> {
        self.extra_lu(z, m, m)
    }

    /// Extra-LU: forgets upper bounds beyond `l` and lower bounds beyond `u`.
    pub fn extra_lu(self, z: &mut [Bound], l: &[i32], u: &[i32]) -> Result<(), ZoneError> {
        debug_assert!(l.len() == self.dim() && u.len() == self.dim());
        if self.is_empty(z) {
            return Ok(());
        }
        let mut loosened = self.loosen_lower(z, u);
        for (i, row) in z.chunks_exact_mut(self.dim()).enumerate().skip(1) {
            let [upper, row @ ..] = row else { unreachable!("a row has a column for x₀") };
            let all = l[i] < 0;
            let mut loosen = |entry: &mut Bound, least: Bound| {
                let new = if all | above(*entry, l[i]) { Bound::INF } else { (*entry).max(least) };
                loosened |= new != *entry;
                *entry = new;
            };
            loosen(upper, Bound::LE_ZERO);
            row[i - 1] = Bound::INF; // The diagonal is not a bound to forget.
            for (entry, &u) in row.iter_mut().zip(&u[1..]) {
                loosen(entry, least(u, Bound::INF));
            }
            row[i - 1] = Bound::LE_ZERO;
        }
        if loosened {
            self.close(z)?;
        }
        Ok(())
    }

    /// Extra-LU+: as [`extra_lu`](Self::extra_lu), and forgets all that relates clocks whose lower bound alone is
    /// beyond `l` or `u`.
    pub fn extra_lu_plus(self, z: &mut [Bound], l: &[i32], u: &[i32]) -> Result<(), ZoneError> {
        debug_assert!(l.len() == self.dim() && u.len() == self.dim());
        if self.is_empty(z) {
            return Ok(());
        }
        let mut loosened = false;
        let (lower, rows) = z.split_at_mut(self.dim());
        for (i, row) in (1..).zip(rows.chunks_exact_mut(self.dim())) {
            let [upper, row @ ..] = row else { unreachable!("a row has a column for x₀") };
            let all = l[i] < 0 || below(lower[i], l[i]);
            let mut loosen = |entry: &mut Bound, forget: bool| {
                loosened |= forget & !entry.is_inf();
                entry.0 = if forget { i32::MAX } else { entry.0 };
            };
            loosen(upper, all || above(*upper, l[i]));
            row[i - 1] = Bound::INF; // The diagonal is not a bound to forget.
            for ((entry, &low), &u) in row.iter_mut().zip(&lower[1..]).zip(&u[1..]) {
                loosen(entry, all | above(*entry, l[i]) | (u < 0) | below(low, u));
            }
            row[i - 1] = Bound::LE_ZERO;
        }
        if self.loosen_lower(z, u) | loosened {
            self.close(z)?;
        }
        Ok(())
    }

    /// The first row of both extrapolations: no lower bound beyond `u`. Answers whether there was one.
    fn loosen_lower(self, z: &mut [Bound], u: &[i32]) -> bool {
        let mut loosened = false;
        for (entry, &u) in z[..self.dim()].iter_mut().zip(u).skip(1) {
            let least = least(u, Bound::LE_ZERO);
            loosened |= *entry < least;
            *entry = (*entry).max(least);
        }
        loosened
    }

    /// Is `a` within `a⊑LU(b)`: is each of its valuations simulated by one of `b`, for a model that compares clocks
    /// with no constants beyond `l` and `u`? Takes time quadratic in the number of clocks.
    ///
    /// A valuation `w` simulates `v` if for every clock `x`, `w(x) < v(x)` implies `L(x) < w(x)`, and `v(x) < w(x)` implies
    /// `U(x) < v(x)`. So `w` ranges over a box: `w(x) ≤ v(x)` where `v(x) ≤ U(x)`, and `w(y) ≥ v(y)` or `w(y) > L(y)`,
    /// whichever is weaker. `b` misses the box iff its bound `y - x ≺ d` does for some two clocks, one of which may be `x₀`:
    /// iff `v(x) ≤ U(x)`, `v(y) - v(x)` violates `≺ d`, and `v(x) + d - L(y) ≤ 0`. All three want `v(x)` small or `v(y) - v(x)`
    /// great, and no cycle of the graph of `a` uses two edges that leave `x`; so some `v` of `a` satisfies them
    /// together iff it can satisfy each.
    pub fn leq_alu(self, a: &[Bound], b: &[Bound], l: &[i32], u: &[i32]) -> bool {
        debug_assert!(a.len() == b.len() && l.len() == self.dim() && u.len() == self.dim());
        if self.is_empty(a) || self.is_empty(b) {
            return self.is_empty(a);
        }
        let n = self.dim();
        let lower = &a[..n];
        for (y, (row_a, row_b)) in a.chunks_exact(n).zip(b.chunks_exact(n)).enumerate() {
            if y > 0 && (l[y] < 0 || l[y] == 0 && seeded::has(Bug::AluLower)) {
                continue;
            }
            let less = i32::from(seeded::has(Bug::AluStrict));
            let twice_l = if y > 0 { 2 * (l[y].min(MAX_CONSTANT) - less) } else { 0 };
            let misses = |a: Bound, b: Bound, low: Bound| (b < a) & ((b.0 & !1) - twice_l < low.0);
            let mut missed = misses(row_a[0], row_b[0], lower[0]);
            for (((&a, &b), &low), &u) in row_a[1..].iter().zip(&row_b[1..]).zip(&lower[1..]).zip(&u[1..]) {
                let u = if seeded::has(Bug::AluUpper) { -1 } else { u };
                missed |= (low.0 > -2 * u.clamp(-1, MAX_CONSTANT)) & misses(a, b, low);
            }
            if missed {
                return false;
            }
        }
        true
    }
}
