//! What happens to clocks, forwards and backwards: time passes, clocks are reset, copied, shifted, forgotten.
//!
//! All but [`ZoneDomain::up_running`] are exact images of sets of valuations. They keep the canonical form without closing again, and leave the empty
//! zone empty. The inverse images (`pre_…`) first cut the zone to the image of the operation.

use trellis_meter::seeded::{self, Bug};

use super::{Bound, MAX_CONSTANT, ZoneDomain, ZoneError};

impl ZoneDomain {
    /// Time passes: all `v + t` with `v` in the zone and `t ≥ 0`.
    pub fn up(self, z: &mut [Bound]) {
        if self.is_empty(z) {
            return;
        }
        let kept = usize::from(seeded::has(Bug::UpForgets) && self.dim() > 2);
        z.iter_mut().step_by(self.dim()).take(self.dim() - kept).skip(1).for_each(|upper| *upper = Bound::INF);
    }

    /// Time passes for some clocks, and the others stand still: the smallest zone that has all `v + t` of those that run. Such a set need not
    /// be a zone; this one may have more. The clock that is always zero stands still.
    pub fn up_running(self, z: &mut [Bound], runs: impl Fn(usize) -> bool) {
        if self.is_empty(z) {
            return;
        }
        let n = self.dim();
        for x in (1..n).filter(|&x| runs(x)) {
            z[x * n] = Bound::INF;
            (1..n).filter(|&y| !runs(y)).for_each(|y| z[x * n + y] = Bound::INF);
        }
    }

    /// Time passed: all valuations `v` such that `v + t` is in the zone for some `t ≥ 0`. The inverse image of
    /// [`up`](Self::up).
    pub fn down(self, z: &mut [Bound]) {
        if self.is_empty(z) {
            return;
        }
        let n = self.dim();
        let (lower, rows) = z.split_at_mut(n);
        lower.fill(Bound::LE_ZERO);
        for row in rows.chunks_exact(n) {
            for (low, &bound) in lower.iter_mut().zip(row) {
                *low = (*low).min(bound);
            }
        }
    }

    /// `x := value`.
    pub fn reset(self, z: &mut [Bound], x: usize, value: i32) -> Result<(), ZoneError> {
        let add = 2 * clock_value(value)?;
        if self.is_empty(z) {
            return Ok(());
        }
        // Bounds of x₀ - y are at most 0 and those of y - x₀ at least 0: moved by the value they stay in range. On the
        // diagonal both moves cancel out.
        let n = self.dim();
        let (zero, row) = self.two_rows(z, 0, x);
        for (bound, &low) in row.iter_mut().zip(zero.iter()) {
            bound.0 = low.0 + add;
        }
        if seeded::has(Bug::ResetRow) {
            row[x] = Bound::LE_ZERO;
            z[x] = Bound(Bound::LE_ZERO.0 - add);
            return Ok(());
        }
        for row in z.chunks_exact_mut(n) {
            row[x] = if row[0].is_inf() { Bound::INF } else { Bound(row[0].0 - add) };
        }
        Ok(())
    }

    /// `x := y`.
    pub fn assign(self, z: &mut [Bound], x: usize, y: usize) {
        if x == y || self.is_empty(z) {
            return;
        }
        let n = self.dim();
        z.copy_within(y * n..(y + 1) * n, x * n);
        if seeded::has(Bug::AssignRow) {
            z[x * n + x] = Bound::LE_ZERO;
            z[x] = z[y];
            return;
        }
        for row in z.chunks_exact_mut(n) {
            row[x] = row[y];
        }
    }

    /// `x := x + offset`. An error if that is negative for some valuation of the zone: there the result would not be
    /// exact. The zone is unchanged then.
    pub fn shift(self, z: &mut [Bound], x: usize, offset: i32) -> Result<(), ZoneError> {
        if offset.unsigned_abs() > MAX_CONSTANT as u32 {
            return Err(ZoneError::Overflow);
        }
        if self.is_empty(z) {
            return Ok(());
        }
        let n = self.dim();
        if offset < 0 && z[x] > Bound::le(offset) {
            return Err(ZoneError::Negative);
        }
        let moved = |bound: Bound, by: i32| if bound.is_inf() { Bound::INF } else { Bound(bound.0 + 2 * by) };
        let mut in_range = true;
        for (y, row) in z.chunks_exact_mut(n).enumerate() {
            if y == x {
                for bound in row.iter_mut() {
                    *bound = moved(*bound, offset);
                    in_range &= bound.in_range();
                }
                row[x] = Bound::LE_ZERO;
            } else {
                row[x] = moved(row[x], -offset);
                in_range &= row[x].in_range();
            }
        }
        if in_range { Ok(()) } else { Err(ZoneError::Overflow) }
    }

    /// Forgets `x`: it may have any value. Its own inverse image.
    pub fn free(self, z: &mut [Bound], x: usize) {
        if self.is_empty(z) {
            return;
        }
        let n = self.dim();
        for row in z.chunks_exact_mut(n) {
            row[x] = row[0];
        }
        z[x * n..(x + 1) * n].fill(Bound::INF);
        z[x * n + x] = Bound::LE_ZERO;
    }

    /// Before `x := value`: all valuations that it takes into the zone. Answers whether there are any.
    pub fn pre_reset(self, z: &mut [Bound], x: usize, value: i32) -> Result<bool, ZoneError> {
        let value = clock_value(value)?;
        let some = self.constrain(z, x, 0, Bound::le(value))? && self.constrain(z, 0, x, Bound::le(-value))?;
        self.free(z, x);
        Ok(some)
    }

    /// Before `x := y`: all valuations that it takes into the zone. Answers whether there are any.
    pub fn pre_assign(self, z: &mut [Bound], x: usize, y: usize) -> Result<bool, ZoneError> {
        if x == y {
            return Ok(!self.is_empty(z));
        }
        let some = self.constrain(z, x, y, Bound::LE_ZERO)? && self.constrain(z, y, x, Bound::LE_ZERO)?;
        self.free(z, x);
        Ok(some)
    }

    /// Before `x := x + offset`: all valuations that it takes into the zone. Answers whether there are any.
    pub fn pre_shift(self, z: &mut [Bound], x: usize, offset: i32) -> Result<bool, ZoneError> {
        let bound = Bound::checked(-i64::from(offset), false).ok_or(ZoneError::Overflow)?;
        let some = self.constrain(z, 0, x, bound)?;
        self.shift(z, x, -offset)?;
        Ok(some)
    }

    /// Two different rows.
    fn two_rows(self, z: &mut [Bound], a: usize, b: usize) -> (&mut [Bound], &mut [Bound]) {
        let n = self.dim();
        let [row_a, row_b] = z.get_disjoint_mut([a * n..(a + 1) * n, b * n..(b + 1) * n]).expect("two rows");
        (row_a, row_b)
    }
}

/// A value that a clock may be given.
fn clock_value(value: i32) -> Result<i32, ZoneError> {
    match value {
        ..0 => Err(ZoneError::Negative),
        0..=MAX_CONSTANT => Ok(value),
        _ => Err(ZoneError::Overflow),
    }
}
