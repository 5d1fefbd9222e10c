//! Zones, plainly: a difference bound matrix of the textbook (Bengtsson and Yi, *Timed automata: semantics, algorithms and tools*,
//! LNCS 3098, 2004), written for the checker alone. Entry `i, j` bounds `xᵢ - xⱼ`, and clock 0 is always zero.
//!
//! Every matrix is closed: each entry is the tightest that the others imply. Constants are 64 bits wide, those of models and
//! evidence 29, so no sum of bounds leaves its range.
//!
//! What it deliberately does not do: be fast, extrapolate, join. It shares no line with `trellis_domain::zone`, which is used
//! only for how constraints are written down, and to show zones to people.

use trellis_domain::zone::{Bound, Constraint, Zone};

/// `< n`, `≤ n`, or no bound; tighter ones are smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Limit(i64);

impl Limit {
    pub const NONE: Limit = Limit(i64::MAX);
    pub const ZERO: Limit = Limit::new(0, false);

    pub const fn new(n: i64, strict: bool) -> Limit {
        Limit(2 * n + if strict { 0 } else { 1 })
    }

    pub fn of(bound: Bound) -> Limit {
        bound.constant().map_or(Limit::NONE, |n| Limit::new(n.into(), bound.is_strict()))
    }

    /// As others write it, if they can.
    pub fn bound(self) -> Option<Bound> {
        if self == Limit::NONE { Some(Bound::INF) } else { Bound::checked(self.0 >> 1, self.0 & 1 == 0) }
    }

    fn plus(self, other: Limit) -> Limit {
        if self == Limit::NONE || other == Limit::NONE {
            return Limit::NONE;
        }
        let strict = self.0 & 1 == 0 || other.0 & 1 == 0;
        Limit::new((self.0 >> 1) + (other.0 >> 1), strict)
    }

    /// The bound of `y - x` that holds where this one of `x - y` does not.
    fn complement(self) -> Option<Limit> {
        (self != Limit::NONE).then(|| Limit::new(-(self.0 >> 1), self.0 & 1 == 1))
    }
}

/// A zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dbm {
    /// How many clocks, the one that is always zero included.
    dim: usize,
    entries: Vec<Limit>,
    empty: bool,
}

impl Dbm {
    /// All valuations of so many clocks.
    pub fn universe(clocks: usize) -> Dbm {
        let dim = clocks + 1;
        let entry = |i: usize, j: usize| if i == 0 || i == j { Limit::ZERO } else { Limit::NONE };
        let entries = (0..dim * dim).map(|at| entry(at / dim, at % dim)).collect();
        Dbm { dim, entries, empty: false }
    }

    /// The valuation in which all clocks are zero.
    pub fn zero(clocks: usize) -> Dbm {
        let dim = clocks + 1;
        Dbm { dim, entries: vec![Limit::ZERO; dim * dim], empty: false }
    }

    /// The valuations that satisfy all of these.
    pub fn build(clocks: usize, constraints: &[Constraint]) -> Dbm {
        let mut zone = Dbm::universe(clocks);
        zone.constrain_all(constraints);
        zone
    }

    pub fn dim(&self) -> usize {
        self.dim
    }

    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// The bound of `xᵢ - xⱼ`.
    pub fn get(&self, i: usize, j: usize) -> Limit {
        self.entries[i * self.dim + j]
    }

    fn set(&mut self, i: usize, j: usize, limit: Limit) {
        self.entries[i * self.dim + j] = limit;
    }

    /// Keeps where `xᵢ - xⱼ ≺ n`. A tighter bound can only make paths through it shorter.
    pub fn constrain(&mut self, i: usize, j: usize, limit: Limit) {
        if self.empty || limit >= self.get(i, j) {
            return;
        }
        if limit.plus(self.get(j, i)) < Limit::ZERO {
            self.empty = true;
            return;
        }
        for a in 0..self.dim {
            let to_j = self.get(a, i).plus(limit);
            if to_j == Limit::NONE {
                continue;
            }
            for b in 0..self.dim {
                let through = to_j.plus(self.get(j, b));
                if through < self.get(a, b) {
                    self.set(a, b, through);
                }
            }
        }
    }

    pub fn constrain_all(&mut self, constraints: &[Constraint]) {
        for c in constraints {
            self.constrain(c.left as usize, c.right as usize, Limit::of(c.bound));
        }
    }

    /// What is left.
    pub fn within(&self, constraints: &[Constraint]) -> Dbm {
        let mut zone = self.clone();
        zone.constrain_all(constraints);
        zone
    }

    /// Time passes.
    pub fn up(&mut self) {
        (1..self.dim).for_each(|x| self.set(x, 0, Limit::NONE));
    }

    /// Time has passed.
    pub fn down(&mut self) {
        for x in 1..self.dim {
            let low = (1..self.dim).map(|y| self.get(y, x)).fold(Limit::ZERO, Limit::min);
            self.set(0, x, low);
        }
    }

    /// `x := n`.
    pub fn reset(&mut self, x: usize, n: i64) {
        for y in (0..self.dim).filter(|&y| y != x) {
            self.set(x, y, self.get(0, y).plus(Limit::new(n, false)));
            self.set(y, x, self.get(y, 0).plus(Limit::new(-n, false)));
        }
    }

    /// `x := y`.
    pub fn copy(&mut self, x: usize, y: usize) {
        for z in (0..self.dim).filter(|&z| z != x && x != y) {
            self.set(x, z, self.get(y, z));
            self.set(z, x, self.get(z, y));
        }
    }

    /// `x` may be anything.
    pub fn free(&mut self, x: usize) {
        for y in (0..self.dim).filter(|&y| y != x) {
            self.set(x, y, Limit::NONE);
            self.set(y, x, self.get(y, 0));
        }
    }

    /// Before `x := n`.
    pub fn before_reset(&mut self, x: usize, n: i64) {
        self.constrain(x, 0, Limit::new(n, false));
        self.constrain(0, x, Limit::new(-n, false));
        self.free(x);
    }

    /// Before `x := y`.
    pub fn before_copy(&mut self, x: usize, y: usize) {
        if x != y {
            self.constrain(x, y, Limit::ZERO);
            self.constrain(y, x, Limit::ZERO);
            self.free(x);
        }
    }

    /// Is each valuation also one of the other's?
    pub fn is_in(&self, other: &Dbm) -> bool {
        self.empty || !other.empty && self.entries.iter().zip(&other.entries).all(|(a, b)| a <= b)
    }

    pub fn intersect(&mut self, other: &Dbm) {
        self.empty |= other.empty;
        for (i, j) in other.pairs() {
            self.constrain(i, j, other.get(i, j));
        }
    }

    /// What is not in the other: zones that share nothing.
    pub fn minus(&self, other: &Dbm) -> Vec<Dbm> {
        let (mut rest, mut parts) = (self.clone(), Vec::new());
        if other.empty {
            return if self.empty { parts } else { vec![rest] };
        }
        for (i, j) in other.pairs() {
            if let Some(not) = other.get(i, j).complement() {
                let mut part = rest.clone();
                part.constrain(j, i, not);
                if !part.empty {
                    parts.push(part);
                }
                rest.constrain(i, j, other.get(i, j));
            }
        }
        parts
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n = self.dim;
        (0..n).flat_map(move |i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j)
    }

    /// Is each valuation `v` simulated by some `w` of the other: is for every clock `x` with `w(x) < v(x)` also `L(x) < w(x)`, and
    /// with `v(x) < w(x)` also `U(x) < v(x)` (Herbreteau, Srivathsan and Walukiewicz, *Better abstractions for timed automata*, LICS
    /// 2012)? A negative constant is minus infinity.
    ///
    /// For one `v` these `w` are a box: `w(x) ≤ v(x)` if `v(x) ≤ U(x)`; and `w(y) ≥ v(y)` if `v(y) ≤ L(y)`, `w(y) > L(y)` otherwise. A box and
    /// a closed matrix have no point in common only if one entry `y - x ≺ d` of the matrix and two sides of the box exclude each other:
    /// if `v(x) ≤ U(x)`, not `v(y) - v(x) ≺ d`, and `v(x) + d ≤ L(y)`. Whether some `v` is like that is seen by adding just this.
    pub fn is_simulated_by(&self, other: &Dbm, lower: &[i32], upper: &[i32]) -> bool {
        if self.empty || other.empty {
            return self.empty;
        }
        // Clock 0 is 0, in all valuations.
        let constant = |of: &[i32], x: usize| if x == 0 { 0 } else { i64::from(of[x]) };
        other.pairs().all(|(y, x)| {
            let d = other.get(y, x);
            let (l, u) = (constant(lower, y), constant(upper, x));
            if self.get(y, x) <= d || l < 0 || u < 0 {
                return true;
            }
            let Some(violates) = d.complement() else { return true };
            let mut missed = self.clone();
            missed.constrain(x, 0, Limit::new(u, false));
            missed.constrain(x, 0, Limit::new(l - (d.0 >> 1), false));
            missed.constrain(x, y, violates);
            missed.empty
        })
    }

    /// With other names: each clock is called as the one was whose number is given in its place.
    pub fn renamed(&self, before: &[usize]) -> Dbm {
        let mut new = self.clone();
        for (i, j) in self.pairs() {
            new.set(i, j, self.get(before[i], before[j]));
        }
        new
    }

    /// What it is made of, as others write it; less, if something is too large for them.
    pub fn constraints(&self) -> Vec<Constraint> {
        let never = Constraint { left: 0, right: 0, bound: Bound::LT_ZERO };
        let all = self.pairs().filter_map(|(i, j)| {
            let bound = self.get(i, j).bound().filter(|b| !b.is_inf());
            bound.map(|bound| Constraint { left: i as u32, right: j as u32, bound })
        });
        if self.empty { vec![never] } else { all.collect() }
    }

    /// For people.
    pub fn show(&self, names: &[String]) -> String {
        match Zone::build(self.dim - 1, &self.constraints()) {
            Ok(zone) => zone.domain().show(&zone, names).to_string(),
            Err(_) => "a zone with large constants".into(),
        }
    }
}

#[cfg(test)]
mod test;
