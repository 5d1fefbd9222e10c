//! The slow and plain side of every comparison: bounds as pairs, closure as in a textbook, sets as membership of points
//! on a grid.
//!
//! Constants are whole, so a set of valuations of n clocks that differences with such constants define is non-empty only if
//! it has a point in multiples of 1/(n+1): a grid that fine misses nothing within its box. Where a point of that grid is fixed
//! and one more value is sought, the ends of its range are on the grid, so twice as fine a grid suffices.

use trellis_domain::zone::{Bound, Constraint, Point, Zone, ZoneDomain};

/// Numbers that look random and are the same in every run (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `low..=high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    pub fn index(&mut self, len: usize) -> usize {
        (self.next() % len as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    pub fn bound(&mut self, low: i64, high: i64) -> Bound {
        Bound::checked(self.range(low, high), self.once_in(2)).unwrap()
    }

    /// A few constraints on two different clocks.
    pub fn constraints(&mut self, clocks: usize, most: usize, max: i64) -> Vec<Constraint> {
        let count = if clocks == 0 { 0 } else { self.index(most + 1) };
        let mut one = || {
            let i = self.index(clocks + 1);
            let j = (i + 1 + self.index(clocks)) % (clocks + 1);
            // Upper bounds are rather positive and lower bounds negative, or all zones would be empty.
            let bound = match (i, j) {
                (0, _) => self.bound(-max, 0),
                (_, 0) => self.bound(0, max),
                _ => self.bound(-max, max),
            };
            Constraint::new(i, j, bound)
        };
        (0..count).map(|_| one()).collect()
    }

    /// A non-empty zone: some are arbitrary, some what an exploration would see, some with many equations.
    pub fn zone(&mut self, clocks: usize, max: i64) -> Zone {
        let d = ZoneDomain::new(clocks);
        loop {
            let mut z = Zone::build(clocks, &self.constraints(clocks, 2 * clocks + 1, max)).unwrap();
            if clocks > 0 && self.once_in(2) {
                z = if self.once_in(2) { z } else { Zone::zero(clocks) };
                for _ in 0..self.index(6) {
                    let x = 1 + self.index(clocks);
                    match self.index(5) {
                        0 => d.up(&mut z),
                        1 => d.reset(&mut z, x, self.range(0, max) as i32).unwrap(),
                        2 => d.assign(&mut z, x, 1 + self.index(clocks)),
                        3 => d.free(&mut z, x),
                        _ => {
                            let mut cut = z.clone();
                            if d.constrain_all(&mut cut, &self.constraints(clocks, 2, max)).unwrap() {
                                z = cut;
                            }
                        }
                    }
                }
            }
            assert!(d.is_canonical(&z));
            if !d.is_empty(&z) {
                return z;
            }
        }
    }

    /// As above, at times empty.
    pub fn any_zone(&mut self, clocks: usize, max: i64) -> Zone {
        match self.index(8) {
            0 => Zone::empty(clocks),
            1 => Zone::universe(clocks),
            _ => self.zone(clocks, max),
        }
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }
}

/// A bound as a pair, `None` being no bound: the constant and whether it is strict.
pub type Pair = Option<(i64, bool)>;

pub fn pair(b: Bound) -> Pair {
    b.constant().map(|n| (i64::from(n), b.is_strict()))
}

/// Is the first at most as loose as the second?
pub fn tighter(a: Pair, b: Pair) -> bool {
    match (a, b) {
        (_, None) => true,
        (None, _) => false,
        (Some((n, s)), Some((m, t))) => n < m || n == m && (s || !t),
    }
}

/// Closure of constraints as in a textbook; `None` if they contradict each other.
pub fn brute(dim: usize, constraints: &[Constraint]) -> Option<Vec<Pair>> {
    let mut m: Vec<Pair> = vec![None; dim * dim];
    for i in 0..dim {
        m[i] = Some((0, false));
        m[i * dim + i] = Some((0, false));
    }
    for c in constraints {
        let (i, j) = c.clocks();
        if tighter(pair(c.bound), m[i * dim + j]) {
            m[i * dim + j] = pair(c.bound);
        }
    }
    for k in 0..dim {
        for i in 0..dim {
            for j in 0..dim {
                if let (Some((n, s)), Some((m1, t))) = (m[i * dim + k], m[k * dim + j]) {
                    let sum = Some((n + m1, s || t));
                    if tighter(sum, m[i * dim + j]) {
                        m[i * dim + j] = sum;
                    }
                }
            }
            if !tighter(Some((0, false)), m[i * dim + i]) {
                return None;
            }
        }
    }
    Some(m)
}

/// Do all hold at this point?
pub fn all_hold(constraints: &[Constraint], values: &[i64], den: i64) -> bool {
    constraints.iter().all(|c| {
        let difference = values[c.left as usize] - values[c.right as usize];
        pair(c.bound).is_none_or(|(n, strict)| difference < n * den || !strict && difference == n * den)
    })
}

/// Every entry of a zone as a constraint.
pub fn entries(z: &Zone) -> Vec<Constraint> {
    let dim = z.domain().dim();
    (0..dim * dim).map(|at| Constraint::new(at / dim, at % dim, z[at])).collect()
}

/// Does a zone hold this point, `values[0]` being 0? Reads the matrix; shares no code with `contains`.
pub fn holds(z: &Zone, values: &[i64], den: i64) -> bool {
    !z.domain().is_empty(z) && values.iter().all(|&v| v >= 0) && all_hold(&entries(z), values, den)
}

/// All points of a box, in multiples of `1/den`, that of x₀ first in each.
pub fn grid(clocks: usize, den: i64, top: i64) -> Vec<Vec<i64>> {
    let mut points = vec![vec![0]];
    for _ in 0..clocks {
        let more = |p: &Vec<i64>| {
            let p = p.clone();
            (0..=top * den).map(move |v| p.iter().copied().chain([v]).collect())
        };
        points = points.iter().flat_map(more).collect();
    }
    points
}

/// A grid that misses nothing in the box, thinned if it has more than so many points.
pub fn fine_grid(rng: &mut Rng, clocks: usize, top: i64, most: usize) -> (Vec<Vec<i64>>, i64) {
    let den = clocks as i64 + 1;
    let all = grid(clocks, den, top);
    if all.len() <= most {
        return (all, den);
    }
    ((0..most).map(|_| rng.pick(&all).clone()).collect(), den)
}

pub fn point(values: &[i64], den: i64) -> Point {
    Point::new(values.to_vec(), den).unwrap()
}
