//! The fewest constraints that give a zone back, for storage and for people.
//!
//! The reduction of Larsen, Larsson, Pettersson and Yi, *Efficient verification of real-time systems: compact data
//! structure and state-space reduction* (RTSS 1997). Clocks whose difference is constant form a class, which a ring of
//! constraints holds together; between the first clocks of classes there are no cycles of weight zero, so an edge is
//! superfluous exactly if some path of two is as short. Since clocks are never negative, `x ≥ 0` need not be said; a
//! few choices below see to it that it is used as often as possible.

use std::fmt;

use smallvec::SmallVec;

use super::{Bound, ZoneDomain, ZoneError};

/// The constraint `left - right ≺ n`, clocks being given by number and 0 being the clock that is always zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// What is added.
    pub left: u32,
    /// What is subtracted.
    pub right: u32,
    /// What bounds the difference.
    pub bound: Bound,
}

impl Constraint {
    /// `left - right ≺ n`.
    pub fn new(left: usize, right: usize, bound: Bound) -> Self {
        let number = |clock: usize| u32::try_from(clock).expect("fewer than 2^32 clocks");
        Constraint { left: number(left), right: number(right), bound }
    }

    /// Both clocks, as indices.
    pub fn clocks(self) -> (usize, usize) {
        (self.left as usize, self.right as usize)
    }
}

/// For each clock the first clock to which its difference is constant.
type Classes = SmallVec<[u32; 16]>;

impl ZoneDomain {
    /// The fewest constraints that together with `x ≥ 0` for all clocks give this zone; an empty zone is `x₀ - x₀ < 0`.
    pub fn minimal(self, z: &[Bound]) -> Vec<Constraint> {
        let mut out = Vec::new();
        self.minimal_into(z, &mut out);
        out
    }

    /// As [`minimal`](Self::minimal); the constraints are added to `out`.
    pub fn minimal_into(self, z: &[Bound], out: &mut Vec<Constraint>) {
        if self.is_empty(z) {
            out.push(Constraint::new(0, 0, Bound::LT_ZERO));
            return;
        }
        let mut push = |i: usize, j: usize| {
            let bound = self.get(z, i, j);
            if i != 0 || bound != Bound::LE_ZERO {
                out.push(Constraint::new(i, j, bound));
            }
        };
        let classes = self.classes(z);
        let is_zero = |x: usize| self.get(z, x, 0) == Bound::LE_ZERO && self.get(z, 0, x) == Bound::LE_ZERO;
        for first in 0..self.dim() {
            let others = (first + 1..self.dim()).filter(|&x| classes[x] == first as u32);
            // Clocks that are zero come right after x₀: that edge of the ring is free.
            let ring = others.clone().filter(|&x| first == 0 && is_zero(x));
            let ring = ring.chain(others.filter(|&x| first != 0 || !is_zero(x)));
            let mut last = first;
            for next in ring {
                push(last, next);
                last = next;
            }
            if last != first {
                push(last, first);
            }
        }
        self.between_classes(z, &classes, push);
    }

    /// The zone that satisfies all constraints; answers whether it is non-empty.
    pub fn build(self, z: &mut [Bound], constraints: &[Constraint]) -> Result<bool, ZoneError> {
        self.universe(z);
        self.constrain_all(z, constraints)
    }

    /// Adds all constraints; answers whether the zone is still non-empty.
    pub fn constrain_all(self, z: &mut [Bound], constraints: &[Constraint]) -> Result<bool, ZoneError> {
        if self.is_empty(z) {
            return Ok(false);
        }
        // One at a time costs a square each, all together a cube.
        if 2 * constraints.len() <= self.dim() {
            for c in constraints {
                let (i, j) = c.clocks();
                if !self.constrain(z, i, j, c.bound)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let mut tighter = false;
        for c in constraints {
            let (i, j) = c.clocks();
            let entry = &mut z[i * self.dim() + j];
            tighter |= c.bound < *entry;
            *entry = c.bound.min(*entry);
        }
        if tighter { self.close(z) } else { Ok(true) }
    }

    /// Does every valuation of the zone satisfy all constraints?
    pub fn implies(self, z: &[Bound], constraints: &[Constraint]) -> bool {
        constraints.iter().all(|c| self.get(z, c.left as usize, c.right as usize) <= c.bound)
    }

    /// The zone as a formula; `names` has the name of clock `i` at `i - 1`.
    pub fn show<'a, S: AsRef<str>>(self, z: &'a [Bound], names: &'a [S]) -> Shown<'a, S> {
        Shown { domain: self, z, names }
    }

    /// Which clocks have constant differences. The zone is not empty.
    fn classes(self, z: &[Bound]) -> Classes {
        let n = self.dim();
        let constant = |x: usize, y: usize| {
            let (there, back) = (z[x * n + y], z[y * n + x]);
            !there.is_inf() && !back.is_inf() && there.plus(back) == Bound::LE_ZERO
        };
        let first = |x: usize| (0..x).find(|&y| constant(x, y)).unwrap_or(x) as u32;
        (0..n).map(first).collect()
    }

    /// Calls `edge` with the constraints that relate classes, each between their first clocks.
    fn between_classes(self, z: &[Bound], classes: &[u32], mut edge: impl FnMut(usize, usize)) {
        let n = self.dim();
        let is_first = |x: usize| classes[x] == x as u32;
        let mut superfluous: SmallVec<[bool; 64]> = SmallVec::new();
        for i in (0..n).filter(|&i| is_first(i)) {
            let row = &z[i * n..(i + 1) * n];
            superfluous.clear();
            superfluous.extend((0..n).map(|j| i == j || !is_first(j) || row[j].is_inf()));
            for k in (0..n).filter(|&k| k != i && is_first(k) && !row[k].is_inf()) {
                let of_k = superfluous[k];
                for ((flag, &direct), &rest) in superfluous.iter_mut().zip(row).zip(&z[k * n..(k + 1) * n]) {
                    *flag |= !rest.is_inf() & (row[k].0.wrapping_add(rest.0 - ((row[k].0 | rest.0) & 1)) <= direct.0);
                }
                superfluous[k] = of_k;
            }
            if i == 0 {
                // A class with a clock that may be zero needs no lower bound.
                for j in (1..n).filter(|&j| row[j] == Bound::LE_ZERO) {
                    superfluous[classes[j] as usize] = true;
                }
            }
            (0..n).filter(|&j| !superfluous[j]).for_each(|j| edge(i, j));
        }
    }
}

/// A zone shown as a formula: `x ≥ 2 ∧ x - y < 3`.
pub struct Shown<'a, S> {
    domain: ZoneDomain,
    z: &'a [Bound],
    names: &'a [S],
}

impl<S: AsRef<str>> fmt::Display for Shown<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (domain, z) = (self.domain, self.z);
        if domain.is_empty(z) {
            return f.write_str("false");
        }
        let name = |x: usize| self.names[x - 1].as_ref();
        let classes = domain.classes(z);
        let mut parts = Vec::new();
        for x in 1..domain.dim() {
            let first = classes[x] as usize;
            let difference = domain.get(z, x, first).constant().unwrap_or_default();
            match (first, difference) {
                _ if first == x => {}
                (0, n) => parts.push(format!("{} = {n}", name(x))),
                (y, 0) => parts.push(format!("{} = {}", name(x), name(y))),
                (y, n) => parts.push(format!("{} - {} = {n}", name(x), name(y))),
            }
        }
        let mut edges = Vec::new();
        domain.between_classes(z, &classes, |i, j| edges.push((i, j)));
        // Bounds of single clocks first, clock by clock.
        edges.sort_by_key(|&(i, j)| (i != 0 && j != 0, i.max(j), i));
        for (i, j) in edges {
            let bound = domain.get(z, i, j);
            let n = bound.constant().unwrap_or_default();
            let sign = match (i, bound.is_strict()) {
                (0, false) => '≥',
                (0, true) => '>',
                (_, false) => '≤',
                (_, true) => '<',
            };
            parts.push(match (i, j) {
                (0, x) => format!("{} {sign} {}", name(x), -n),
                (x, 0) => format!("{} {sign} {n}", name(x)),
                (x, y) => format!("{} - {} {sign} {n}", name(x), name(y)),
            });
        }
        if parts.is_empty() {
            return f.write_str("true");
        }
        f.write_str(&parts.join(" ∧ "))
    }
}
