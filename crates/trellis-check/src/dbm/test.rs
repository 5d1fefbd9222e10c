//! The checker's matrices against points, one by one, and against the engines' matrices.

use trellis_domain::zone::{Bound, Constraint, Zone, ZoneDomain};
use trellis_order::Domain;

use super::{Dbm, Limit};

/// Clocks, and the greatest constant.
const CLOCKS: usize = 2;
const MOST: i64 = 3;
/// Points are multiples of a ninth: those of valuations of a third, so that two others fit between any two of these.
const UNIT: i64 = 9;
const COARSE: usize = 3;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn constraint(&mut self, clocks: usize, most: i64) -> Constraint {
        let left = self.below(clocks as u64 + 1) as u32;
        let right = (left + 1 + self.below(clocks as u64) as u32) % (clocks as u32 + 1);
        let n = self.below(2 * most as u64 + 1) as i64 - most;
        Constraint { left, right, bound: Bound::checked(n, self.below(2) == 0).unwrap() }
    }

    /// The same zone twice, after the same operations.
    fn zone(&mut self, clocks: usize, most: i64) -> (Dbm, Zone) {
        let d = ZoneDomain::new(clocks);
        let zero = self.below(2) == 0;
        let (mut a, mut b) = match zero {
            true => (Dbm::zero(clocks), Zone::zero(clocks)),
            false => (Dbm::universe(clocks), Zone::universe(clocks)),
        };
        for _ in 0..self.below(9) {
            let x = 1 + self.below(clocks as u64) as usize;
            let y = 1 + self.below(clocks as u64) as usize;
            let n = self.below(most as u64 + 1) as i64;
            match self.below(10) {
                0 | 1 => {
                    a.up();
                    d.up(&mut b);
                }
                2 => {
                    a.down();
                    d.down(&mut b);
                }
                3 => {
                    a.reset(x, n);
                    d.reset(&mut b, x, n as i32).unwrap();
                }
                4 => {
                    a.copy(x, y);
                    d.assign(&mut b, x, y);
                }
                5 => {
                    a.free(x);
                    d.free(&mut b, x);
                }
                6 => {
                    a.before_reset(x, n);
                    d.pre_reset(&mut b, x, n as i32).unwrap();
                }
                7 => {
                    a.before_copy(x, y);
                    d.pre_assign(&mut b, x, y).unwrap();
                }
                _ => {
                    let c = self.constraint(clocks, most);
                    a.constrain_all(&[c]);
                    d.constrain_all(&mut b, &[c]).unwrap();
                }
            }
        }
        (a, b)
    }
}

fn same(a: &Dbm, b: &Zone) -> bool {
    let d = b.domain();
    if a.is_empty() || d.is_empty(b) {
        return a.is_empty() && d.is_empty(b);
    }
    let n = d.dim();
    (0..n).all(|i| (0..n).all(|j| a.get(i, j) == Limit::of(d.get(b, i, j))))
}

type Point = [i64; CLOCKS + 1];

fn contains(z: &Dbm, p: Point) -> bool {
    let within = |i: usize, j: usize| match z.get(i, j) {
        Limit::NONE => true,
        limit => {
            let (difference, n) = (p[i] - p[j], (limit.0 >> 1) * UNIT);
            difference < n || difference == n && limit.0 & 1 == 1
        }
    };
    !z.is_empty() && (0..=CLOCKS).all(|i| (0..=CLOCKS).all(|j| within(i, j)))
}

fn points(step: usize) -> impl Iterator<Item = Point> {
    let values = move || (0..(MOST + 3) * UNIT).step_by(step);
    values().flat_map(move |x| values().map(move |y| [0, x, y]))
}

#[test]
fn the_same_zones_as_the_engines() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut some = 0;
    for _ in 0..4_000 {
        let clocks = 1 + random.below(4) as usize;
        let ((a, b), (a2, b2)) = (random.zone(clocks, 9), random.zone(clocks, 9));
        assert!(same(&a, &b), "{a:?} {b:?}");
        let d = b.domain();
        assert_eq!(a.is_in(&a2), d.leq(&b, &b2));
        let (mut c, mut e) = (a.clone(), b.clone());
        c.intersect(&a2);
        d.intersect(&mut e, &b2).unwrap();
        assert!(same(&c, &e));
        let bounds: Vec<i32> = (0..=2 * clocks + 1).map(|_| random.below(12) as i32 - 2).collect();
        let (l, u) = bounds.split_at(clocks + 1);
        let within = a.is_simulated_by(&a2, l, u);
        assert_eq!(within, d.leq_alu(&b, &b2, l, u), "{a:?} {a2:?} {l:?} {u:?}");
        some += usize::from(within && !a.is_empty() && !a.is_in(&a2));
        // What is taken away and what is left are all there was.
        let parts = a.minus(&a2);
        assert!(parts.iter().all(|p| p.is_in(&a) && !p.is_empty()));
        let mut rest = vec![a.clone()];
        for p in parts.iter().chain([&a2]) {
            rest = rest.iter().flat_map(|r| r.minus(p)).collect();
        }
        assert!(rest.is_empty());
        let disjoint = |p: &Dbm| {
            let mut p = p.clone();
            p.intersect(&a2);
            p.is_empty()
        };
        assert!(parts.iter().all(disjoint));
    }
    assert!(some > 20, "{some}");
}

#[test]
fn operations_are_what_they_say_of_points() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let with = |p: Point, x: usize, v: i64| std::array::from_fn(|i| if i == x { v } else { p[i] });
    for _ in 0..25 {
        let (z, _) = random.zone(CLOCKS, MOST);
        let (x, y) = (1 + random.below(2) as usize, 1 + random.below(2) as usize);
        let n = random.below(3) as i64;
        let c = random.constraint(CLOCKS, MOST);
        let of = |op: &dyn Fn(&mut Dbm)| {
            let mut z = z.clone();
            op(&mut z);
            z
        };
        let (up, down, free) = (of(&Dbm::up), of(&Dbm::down), of(&|z| z.free(x)));
        let (reset, copy) = (of(&|z| z.reset(x, n)), of(&|z| z.copy(x, y)));
        let (before_reset, before_copy) = (of(&|z| z.before_reset(x, n)), of(&|z| z.before_copy(x, y)));
        let constrained = z.within(&[c]);
        let far = (MOST + 12) * UNIT;
        for p in points(COARSE) {
            let moved = |t: i64| std::array::from_fn(|i| if i == 0 { 0 } else { p[i] + t });
            let earlier = |t: i64| p[1] >= t && p[2] >= t && contains(&z, moved(-t));
            assert_eq!(contains(&up, p), (0..far).any(earlier), "up {p:?} {z:?}");
            assert_eq!(contains(&down, p), (0..far).any(|t| contains(&z, moved(t))), "down {p:?} {z:?}");
            let any = (0..far).any(|v| contains(&z, with(p, x, v)));
            assert_eq!(contains(&free, p), any, "free {p:?} {z:?}");
            assert_eq!(contains(&reset, p), any && p[x] == n * UNIT, "reset {p:?} {z:?}");
            let expected = if x == y { contains(&z, p) } else { any && p[x] == p[y] };
            assert_eq!(contains(&copy, p), expected, "copy {p:?} {z:?}");
            assert_eq!(contains(&before_reset, p), contains(&z, with(p, x, n * UNIT)));
            assert_eq!(contains(&before_copy, p), contains(&z, with(p, x, p[y])));
            let all = Dbm::build(CLOCKS, &[c]);
            assert_eq!(contains(&constrained, p), contains(&z, p) && contains(&all, p));
        }
    }
}

#[test]
fn simulation_is_decided_by_its_definition() {
    let mut random = Random(0xdead_beef_cafe_f00d);
    let mut seen = [0; 2];
    while seen.iter().sum::<usize>() < 60 {
        let ((a, _), (b, _)) = (random.zone(CLOCKS, MOST), random.zone(CLOCKS, MOST));
        if a.is_empty() || b.is_empty() || a.is_in(&b) {
            continue;
        }
        let bounds: Vec<i32> = (0..6).map(|_| random.below(MOST as u64 + 2) as i32 - 1).collect();
        let (l, u) = bounds.split_at(3);
        // Does `w` simulate `v`?
        let simulates = |v: Point, w: Point| {
            (1..=CLOCKS).all(|x| {
                let beyond = |of: &[i32], n: i64| of[x] < 0 || i64::from(of[x]) * UNIT < n;
                (w[x] >= v[x] || beyond(l, w[x])) && (v[x] >= w[x] || beyond(u, v[x]))
            })
        };
        let within: Vec<Point> = points(1).filter(|&w| contains(&b, w)).collect();
        let has = |v: Point| within.iter().any(|&w| simulates(v, w));
        let expected = points(COARSE).filter(|&v| contains(&a, v)).all(has);
        assert_eq!(a.is_simulated_by(&b, l, u), expected, "{a:?} {b:?} {l:?} {u:?}");
        seen[usize::from(expected)] += 1;
    }
    assert!(seen.iter().all(|&n| n >= 10), "{seen:?}");
}
