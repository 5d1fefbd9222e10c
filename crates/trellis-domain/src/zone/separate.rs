//! What tells zones apart: complements, differences and interpolants (002 Ch. 4: Def. 17 and §4.3.2).
//!
//! The graphs meant below are those of `dbm`. Only the common cases of an interpolant do without allocation.

use super::bound::add_wide;
use super::{Bound, Constraint, Zone, ZoneDomain, ZoneError};

impl ZoneDomain {
    /// Zones that together hold exactly the valuations that this one does not. There is one for each constraint of the
    /// [minimal form](Self::minimal), its negation and nothing else: they are few and as large as can be, and may
    /// overlap.
    pub fn complement(self, z: &[Bound]) -> Vec<Zone> {
        let negated = |(i, j, bound): (usize, usize, Bound)| {
            let mut half = Zone::universe(self.clocks());
            self.constrain(&mut half, j, i, bound.complement()?).expect("a constant in range stays so");
            Some(half)
        };
        if self.is_empty(z) {
            return vec![Zone::universe(self.clocks())];
        }
        self.minimal(z).into_iter().filter_map(|c| negated((c.left as usize, c.right as usize, c.bound))).collect()
    }

    /// Disjoint non-empty zones that together hold exactly the valuations of `a` that are not in `b`.
    pub fn subtract(self, a: &[Bound], b: &[Bound]) -> Result<Vec<Zone>, ZoneError> {
        let mut parts = Vec::new();
        let mut rest = Zone::copied(self, a);
        if self.is_empty(a) {
            return Ok(parts);
        }
        for c in self.minimal(b) {
            let (i, j) = c.clocks();
            let Some(negated) = c.bound.complement() else { continue };
            let mut part = rest.clone();
            if self.constrain(&mut part, j, i, negated)? {
                parts.push(part);
            }
            if !self.constrain(&mut rest, i, j, c.bound)? {
                break;
            }
        }
        Ok(parts)
    }

    /// An interpolant of two disjoint zones: `out` holds all of `a` and nothing of `b`. Answers `false` if they are not
    /// disjoint, and `out` means nothing then.
    ///
    /// The zones are disjoint because their combined graph has a cycle of negative weight; `out` has only the bounds of
    /// `a` that lie on one such cycle, chosen so that they are fewest, and of single clocks if one suffices. The
    /// result depends on nothing but the zones.
    pub fn interpolant(self, a: &[Bound], b: &[Bound], out: &mut [Bound]) -> Result<bool, ZoneError> {
        if self.is_empty(a) {
            self.empty(out);
            return Ok(true);
        }
        self.universe(out);
        if self.is_empty(b) {
            return Ok(true);
        }
        if let Some((i, j)) = self.opposed(a, b) {
            self.constrain(out, i, j, self.get(a, i, j))?;
            return Ok(true);
        }
        let Some(edges) = self.contradiction(a, b) else { return Ok(false) };
        for (i, j) in edges {
            self.constrain(out, i, j, self.get(a, i, j))?;
        }
        Ok(true)
    }

    /// As [`interpolant`](Self::interpolant); the bounds of `a` are added to `out`. An empty `a` gives `x₀ - x₀ < 0`.
    pub fn interpolant_into(self, a: &[Bound], b: &[Bound], out: &mut Vec<Constraint>) -> bool {
        self.interpolant_by(a, b, 1..self.dim(), out)
    }

    /// The same, where of clocks that do equally well the one is taken that comes first in an order of them all.
    pub fn interpolant_by(
        self,
        a: &[Bound],
        b: &[Bound],
        order: impl Iterator<Item = usize> + Clone,
        out: &mut Vec<Constraint>,
    ) -> bool {
        if self.is_empty(a) {
            out.push(Constraint::new(0, 0, Bound::LT_ZERO));
            return true;
        }
        if self.is_empty(b) {
            return true;
        }
        if let Some((i, j)) = self.opposed_by(a, b, order) {
            out.push(Constraint::new(i, j, self.get(a, i, j)));
            return true;
        }
        let Some(edges) = self.contradiction(a, b) else { return false };
        for (i, j) in edges {
            if i != j && !self.get(a, i, j).is_inf() {
                out.push(Constraint::new(i, j, self.get(a, i, j)));
            }
        }
        true
    }

    /// The edges of `a` on a negative cycle that takes edges of `a` and `b` in turn, as few as possible.
    ///
    /// Both graphs are closed, so two edges of the same one are never better than one. `walks[m]` are the lightest
    /// walks of at most `m + 1` such pairs; edges of a clock to itself make shorter walks count as longer ones.
    fn contradiction(self, a: &[Bound], b: &[Bound]) -> Option<Vec<(usize, usize)>> {
        let n = self.dim();
        let weights = |z: &[Bound]| z.iter().map(|b| (!b.is_inf()).then(|| b.wide())).collect::<Vec<_>>();
        let pair = compose(n, &weights(a), &weights(b));
        let mut walks = vec![pair];
        // A cycle without repetition has at most n edges; without edges of `a` there is none.
        for m in 0..n {
            let last = &walks[m];
            if let Some(start) = (0..n).find(|&i| last.weight[i * n + i].is_some_and(|w| w < Bound::LE_ZERO.wide())) {
                let mut edges = Vec::new();
                let mut end = start;
                for m in (0..=m).rev() {
                    // The walk to `end` of m + 1 pairs is one of m pairs to `before`, and a pair.
                    let before = if m == 0 { start } else { walks[m].via[start * n + end] as usize };
                    let between = walks[0].via[before * n + end] as usize;
                    edges.push((before, between));
                    end = before;
                }
                edges.reverse();
                return Some(edges);
            }
            let next = compose(n, &last.weight, &walks[0].weight);
            if next.weight == last.weight {
                return None;
            }
            walks.push(next);
        }
        None
    }
}

/// Lightest walks between all clocks, and where they were put together.
struct Walks {
    weight: Vec<Option<i64>>,
    via: Vec<u32>,
}

/// The lightest walks that are one of `first` and one of `then`; of equally light ones, via the first clock.
fn compose(n: usize, first: &[Option<i64>], then: &[Option<i64>]) -> Walks {
    let mut walks = Walks { weight: vec![None; n * n], via: vec![0; n * n] };
    for i in 0..n {
        for k in 0..n {
            let Some(there) = first[i * n + k] else { continue };
            for j in 0..n {
                let Some(rest) = then[k * n + j] else { continue };
                let sum = add_wide(there, rest);
                if walks.weight[i * n + j].is_none_or(|best| sum < best) {
                    walks.weight[i * n + j] = Some(sum);
                    walks.via[i * n + j] = k as u32;
                }
            }
        }
    }
    walks
}
