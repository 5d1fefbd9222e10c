//! [`ZoneDomain`]: building, closing, intersecting and comparing difference bound matrices.
//!
//! A matrix is the graph whose edge from `i` to `j` weighs the bound of `xᵢ - xⱼ`; it is closed when every edge is
//! a shortest path, and empty when there is a cycle of negative weight.

use trellis_meter::seeded::{self, Bug};
use trellis_order::{Domain, Join, Meet};

use super::bound::{add_wide, all_in_range, all_within, relax};
use super::{Bound, MAX_CONSTANT, Point, ZoneError};

/// The zones over a number of clocks; its elements are slices of [`size`](Self::size) bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ZoneDomain {
    dim: usize,
}

/// How two zones compare as sets of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum Relation {
    Equal,
    Subset,
    Superset,
    Incomparable,
}

/// Comparing stops at the first block of this many entries that decides; within a block there are no branches.
const BLOCK: usize = 16;

impl ZoneDomain {
    /// The zones over this many clocks, not counting `x₀`.
    pub const fn new(clocks: usize) -> Self {
        ZoneDomain { dim: clocks + 1 }
    }

    /// How many clocks there are, not counting `x₀`; the clocks are `1..=clocks()`.
    pub const fn clocks(self) -> usize {
        self.dim - 1
    }

    /// How many rows and columns a matrix has: one more than there are clocks.
    pub const fn dim(self) -> usize {
        self.dim
    }

    /// How many bounds a matrix has.
    pub const fn size(self) -> usize {
        self.dim * self.dim
    }

    /// The bound of `xᵢ - xⱼ`.
    pub fn get(self, z: &[Bound], i: usize, j: usize) -> Bound {
        z[i * self.dim + j]
    }

    /// All valuations.
    pub fn universe(self, z: &mut [Bound]) {
        debug_assert_eq!(z.len(), self.size());
        z.fill(Bound::INF);
        z[..self.dim].fill(Bound::LE_ZERO);
        z.iter_mut().step_by(self.dim + 1).for_each(|diagonal| *diagonal = Bound::LE_ZERO);
    }

    /// The valuation in which all clocks are zero, alone.
    pub fn zero(self, z: &mut [Bound]) {
        debug_assert_eq!(z.len(), self.size());
        z.fill(Bound::LE_ZERO);
    }

    /// No valuation.
    pub fn empty(self, z: &mut [Bound]) {
        debug_assert_eq!(z.len(), self.size());
        z.fill(Bound::NEVER);
    }

    /// Is there no valuation?
    pub fn is_empty(self, z: &[Bound]) -> bool {
        z[0] < Bound::LE_ZERO
    }

    /// Does it hold all valuations?
    pub fn is_universe(self, z: &[Bound]) -> bool {
        let open = |(i, row): (usize, &[Bound])| row.iter().enumerate().all(|(j, b)| i == j || b.is_inf());
        z[..self.dim].iter().all(|&b| b == Bound::LE_ZERO) && z.chunks_exact(self.dim).enumerate().skip(1).all(open)
    }

    /// Brings any matrix of bounds in canonical form; answers whether it is non-empty. Takes time cubic in the number
    /// of clocks. What the diagonal says, and that clocks are not negative, is added.
    pub fn close(self, z: &mut [Bound]) -> Result<bool, ZoneError> {
        debug_assert_eq!(z.len(), self.size());
        // A known number of clocks makes short rows fast.
        macro_rules! by_dim {
            ($($dim:literal)*) => {
                match self.dim {
                    $($dim => ZoneDomain { dim: $dim }.floyd_warshall(z),)*
                    _ => self.floyd_warshall(z),
                }
            };
        }
        by_dim!(2 3 4 5 6 7 8 9)
    }

    #[inline(always)]
    fn floyd_warshall(self, z: &mut [Bound]) -> Result<bool, ZoneError> {
        let n = self.dim;
        z[..n].iter_mut().for_each(|b| *b = (*b).min(Bound::LE_ZERO));
        z.iter_mut().step_by(n + 1).for_each(|b| *b = (*b).min(Bound::LE_ZERO));
        // Entries are weights of simple paths, of fewer than n edges: a negative cycle shows on the diagonal just before
        // the step of its greatest clock. So if all are small enough to begin with, none will be too great. Else a sum is
        // formed only of row k and column k, and if these are in range before step k, then it fits its i32, and
        // is looked at when its own turn comes or at the end.
        let safe = all_within(z, MAX_CONSTANT / n as i32);
        for k in 0..n {
            let (before, rest) = z.split_at_mut(k * n);
            let (row_k, after) = rest.split_at_mut(n);
            if row_k[k] < Bound::LE_ZERO {
                self.empty(z);
                return Ok(false);
            }
            let mut in_range = safe || all_in_range(row_k);
            for rows in [before, after] {
                for row in rows.chunks_exact_mut(n) {
                    let via = row[k];
                    in_range &= safe || via.in_range();
                    if !in_range {
                        return Err(ZoneError::Overflow);
                    }
                    if n < 8 || !via.is_inf() {
                        relax(row, via, row_k);
                    }
                }
            }
        }
        if safe || all_in_range(z) { Ok(true) } else { Err(ZoneError::Overflow) }
    }

    /// Brings a matrix in canonical form that was so until entry `[i][j]` was tightened; answers whether it is
    /// non-empty. Takes time quadratic in the number of clocks.
    pub fn close_after_tightening(self, z: &mut [Bound], i: usize, j: usize) -> Result<bool, ZoneError> {
        let n = self.dim;
        debug_assert_eq!(z.len(), self.size());
        let bound = z[i * n + j];
        let back = z[j * n + i];
        if (i == j && bound < Bound::LE_ZERO) || (!back.is_inf() && bound.plus(back) < Bound::LE_ZERO) {
            self.empty(z);
            return Ok(false);
        }
        // Paths that gain are p → i → j → q, with old shortest paths at both ends. Row j itself does not gain.
        let (before, rest) = z.split_at_mut(j * n);
        let (row_j, after) = rest.split_at_mut(n);
        let low = row_j.iter().fold(i32::MAX, |low, b| low.min(b.0));
        let high = row_j.iter().fold(i32::MIN, |high, b| high.max(if b.is_inf() { i32::MIN } else { b.0 }));
        for (first, rows) in [(0, before), (j + 1, after)] {
            for (p, row) in (first..).zip(rows.chunks_exact_mut(n)) {
                let via = if p == i {
                    bound
                } else if row[i].is_inf() {
                    continue;
                } else {
                    row[i].plus(bound)
                };
                // If p → i → j is no shorter than p → j was, nothing that continues it is.
                if via >= row[j] && p != i {
                    continue;
                }
                relax(row, via, row_j);
                // The diagonal of row j lies between the two ends: `via` itself is looked at too.
                let sums_in_range = Bound(via.0 + low - 1).in_range() & Bound(via.0 + high).in_range();
                if !sums_in_range && !all_in_range(row) {
                    return Err(ZoneError::Overflow);
                }
            }
        }
        Ok(true)
    }

    /// Adds the constraint `xᵢ - xⱼ ≺ n`; answers whether the zone is still non-empty.
    pub fn constrain(self, z: &mut [Bound], i: usize, j: usize, bound: Bound) -> Result<bool, ZoneError> {
        let entry = &mut z[i * self.dim + j];
        if bound >= *entry {
            return Ok(!self.is_empty(z));
        }
        *entry = bound;
        self.close_after_tightening(z, i, j)
    }

    /// Would the zone still be non-empty with the constraint `xᵢ - xⱼ ≺ n`?
    pub fn satisfies(self, z: &[Bound], i: usize, j: usize, bound: Bound) -> bool {
        let back = self.get(z, j, i);
        !self.is_empty(z) && (back.is_inf() || bound.is_inf() || bound.plus(back) >= Bound::LE_ZERO)
    }

    /// Keeps what is in `b` too; answers whether the zone is still non-empty.
    pub fn intersect(self, a: &mut [Bound], b: &[Bound]) -> Result<bool, ZoneError> {
        debug_assert_eq!(a.len(), b.len());
        if self.is_empty(a) || self.is_empty(b) {
            self.empty(a);
            return Ok(false);
        }
        let tighter = a.iter().zip(b).fold(0, |count, (a, b)| count + i32::from(b < a)) as usize;
        if tighter == 0 {
            return Ok(true);
        }
        // One at a time costs a square each, all together a cube.
        if 2 * tighter <= self.dim {
            for (i, row) in b.chunks_exact(self.dim).enumerate() {
                for (j, &bound) in row.iter().enumerate() {
                    if !self.constrain(a, i, j, bound)? {
                        return Ok(false);
                    }
                }
            }
            return Ok(true);
        }
        for (a, b) in a.iter_mut().zip(b) {
            *a = (*a).min(*b);
        }
        self.close(a)
    }

    /// Have they a valuation in common? Needs a third slice to work in.
    pub fn intersects(self, a: &[Bound], b: &[Bound], scratch: &mut [Bound]) -> Result<bool, ZoneError> {
        if self.is_empty(a) || self.is_empty(b) || self.opposed(a, b).is_some() {
            return Ok(false);
        }
        scratch.copy_from_slice(a);
        self.intersect(scratch, b)
    }

    /// Some `(i, j)` such that the bound of `a` on `xᵢ - xⱼ` contradicts that of `b` on `xⱼ - xᵢ`: the common reason for
    /// zones to be disjoint, though not the only one. Prefers bounds of a single clock, then the first.
    pub(super) fn opposed(self, a: &[Bound], b: &[Bound]) -> Option<(usize, usize)> {
        self.opposed_by(a, b, 1..self.dim)
    }

    /// The same, where these clocks come one after the other.
    pub(super) fn opposed_by(
        self,
        a: &[Bound],
        b: &[Bound],
        order: impl Iterator<Item = usize> + Clone,
    ) -> Option<(usize, usize)> {
        let n = self.dim;
        let opposed = |&(i, j): &(usize, usize)| {
            let (there, back) = (a[i * n + j], b[j * n + i]);
            !there.is_inf() && !back.is_inf() && there.plus(back) < Bound::LE_ZERO
        };
        let single = order.clone().flat_map(|x| [(0, x), (x, 0)]).find(opposed);
        single.or_else(|| order.clone().flat_map(|i| order.clone().map(move |j| (i, j))).find(opposed))
    }

    /// How do they compare?
    pub fn relation(self, a: &[Bound], b: &[Bound]) -> Relation {
        debug_assert_eq!(a.len(), b.len());
        let (mut smaller, mut greater) = (false, false);
        for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
            smaller |= a.iter().zip(b).fold(false, |any, (a, b)| any | (a < b));
            greater |= a.iter().zip(b).fold(false, |any, (a, b)| any | (a > b));
            if smaller && greater {
                return Relation::Incomparable;
            }
        }
        match (smaller, greater) {
            (false, false) => Relation::Equal,
            (true, _) => Relation::Subset,
            (false, true) => Relation::Superset,
        }
    }

    /// Does the zone hold this point?
    pub fn contains(self, z: &[Bound], point: &Point) -> bool {
        debug_assert_eq!(point.numerators().len(), self.dim);
        if self.is_empty(z) {
            return false;
        }
        let values = point.numerators();
        let row_holds =
            |(row, &v): (&[Bound], &i64)| row.iter().zip(values).all(|(b, &w)| b.admits(v - w, point.denominator()));
        z.chunks_exact(self.dim).zip(values).all(row_holds)
    }

    /// Is it in canonical form? For tests and assertions: takes time cubic in the number of clocks.
    pub fn is_canonical(self, z: &[Bound]) -> bool {
        if self.is_empty(z) {
            return z.iter().all(|&b| b == Bound::NEVER);
        }
        let n = self.dim;
        let shortest = |i: usize, j: usize| {
            let direct = z[i * n + j];
            let no_detour =
                |(a, b): (Bound, Bound)| a.is_inf() || b.is_inf() || direct.wide() <= add_wide(a.wide(), b.wide());
            direct.in_range() && (0..n).all(|k| no_detour((z[i * n + k], z[k * n + j])))
        };
        z.len() == n * n
            && (0..n).all(|i| z[i * n + i] == Bound::LE_ZERO && z[i] <= Bound::LE_ZERO)
            && (0..n).all(|i| (0..n).all(|j| shortest(i, j)))
    }
}

impl Domain for ZoneDomain {
    type Elem = [Bound];

    fn leq(&self, a: &[Bound], b: &[Bound]) -> bool {
        debug_assert_eq!(a.len(), b.len());
        if seeded::has(Bug::WeakOrder) {
            let n = self.dim();
            return (0..n).all(|x| a[x] <= b[x] && a[x * n] <= b[x * n]);
        }
        let fits = |(a, b): (&[Bound], &[Bound])| !a.iter().zip(b).fold(false, |any, (a, b)| any | (a > b));
        a.chunks(BLOCK).zip(b.chunks(BLOCK)).all(fits)
    }

    fn is_bottom(&self, a: &[Bound]) -> bool {
        self.is_empty(a)
    }
}

/// The join is the smallest *zone* that holds both, which may hold points that neither does.
impl Join for ZoneDomain {
    fn join(&self, a: &mut [Bound], b: &[Bound]) -> bool {
        debug_assert_eq!(a.len(), b.len());
        let mut grew = false;
        for (a, b) in a.iter_mut().zip(b) {
            grew |= *b > *a;
            *a = (*a).max(*b);
        }
        grew
    }
}

/// The meet is the intersection. It panics where [`ZoneDomain::intersect`] has an error.
impl Meet for ZoneDomain {
    fn top(&self, a: &mut [Bound]) {
        self.universe(a);
    }

    fn meet(&self, a: &mut [Bound], b: &[Bound]) -> bool {
        let shrinks = !self.leq(a, b);
        if shrinks && let Err(error) = self.intersect(a, b) {
            panic!("meet of zones: {error}");
        }
        shrinks
    }
}
