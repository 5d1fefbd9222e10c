//! Many constraints at once: cheaper than closing after each, because bounds of single clocks meet in `x₀`.
//!
//! New edges into (or out of) one vertex are on a shortest path at most once. So any number of upper bounds costs one look
//! at each of them per row and one more pass over the matrix; and a zone that is a box has its closure written down.

use smallvec::SmallVec;

use super::bound::{all_in_range, relax};
use super::{Bound, ZoneDomain, ZoneError};

/// `xᵢ - xⱼ ≺ n`.
type Entry = (usize, usize, Bound);

impl ZoneDomain {
    /// Adds constraints `xᵢ - xⱼ ≺ n`; answers whether the zone is still non-empty.
    pub fn constrain_each(
        self,
        z: &mut [Bound],
        constraints: impl IntoIterator<Item = Entry>,
    ) -> Result<bool, ZoneError> {
        if self.is_empty(z) {
            return Ok(false);
        }
        let mut above: SmallVec<[(usize, Bound); 16]> = SmallVec::new();
        for (i, j, bound) in constraints {
            if bound >= self.get(z, i, j) {
                continue;
            }
            if j == 0 {
                above.push((i, bound));
            } else if !self.constrain(z, i, j, bound)? {
                return Ok(false);
            }
        }
        match above[..] {
            [] => Ok(true),
            [(x, bound)] => self.constrain(z, x, 0, bound),
            _ => self.limit(z, &above),
        }
    }

    /// Adds upper bounds of clocks.
    fn limit(self, z: &mut [Bound], above: &[(usize, Bound)]) -> Result<bool, ZoneError> {
        let (zero, rows) = z.split_at_mut(self.dim());
        // Bounds of x₀ - y are never infinite.
        if above.iter().any(|&(x, bound)| zero[x].plus(bound) < Bound::LE_ZERO) {
            self.empty(z);
            return Ok(false);
        }
        let low = zero.iter().fold(i32::MAX, |low, b| low.min(b.0));
        for row in rows.chunks_exact_mut(self.dim()) {
            let mut best = row[0];
            for &(x, bound) in above {
                if !row[x].is_inf() {
                    best = best.min(row[x].plus(bound));
                }
            }
            if best < row[0] {
                relax(row, best, zero);
                let sums_in_range = Bound(best.0 + low - 1).in_range() & best.in_range();
                if !sums_in_range && !all_in_range(row) {
                    return Err(ZoneError::Overflow);
                }
            }
        }
        Ok(true)
    }

    /// The zone that satisfies constraints `xᵢ - xⱼ ≺ n`; answers whether it is non-empty.
    pub fn build_each(self, z: &mut [Bound], constraints: &[Entry]) -> Result<bool, ZoneError> {
        debug_assert_eq!(z.len(), self.size());
        let n = self.dim();
        let (zero, rows) = z.split_at_mut(n);
        zero.fill(Bound::LE_ZERO);
        rows.iter_mut().step_by(n).for_each(|upper| *upper = Bound::INF);
        let mut diagonal = false;
        for &(i, j, bound) in constraints {
            match (i, j) {
                (0, y) => zero[y] = zero[y].min(bound),
                (x, 0) => rows[(x - 1) * n] = rows[(x - 1) * n].min(bound),
                _ => diagonal = true,
            }
        }
        let low = zero.iter().fold(i32::MAX, |low, b| low.min(b.0));
        let mut some = zero[0] >= Bound::LE_ZERO;
        let mut in_range = true;
        for (row, x) in rows.chunks_exact_mut(n).zip(1..) {
            let upper = row[0];
            if upper.is_inf() {
                row.fill(Bound::INF);
            } else {
                some &= upper.plus(zero[x]) >= Bound::LE_ZERO;
                row.iter_mut().zip(&*zero).for_each(|(b, &low)| *b = upper.plus(low));
                in_range &= Bound(upper.0 + low - 1).in_range() || all_in_range(row);
            }
            row[x] = Bound::LE_ZERO;
        }
        if !some {
            self.empty(z);
            return Ok(false);
        }
        if !in_range {
            return Err(ZoneError::Overflow);
        }
        if diagonal {
            for &(i, j, bound) in constraints.iter().filter(|(i, j, _)| *i != 0 && *j != 0) {
                if !self.constrain(z, i, j, bound)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
