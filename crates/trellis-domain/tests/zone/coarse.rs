//! Extrapolations and the simulation that justifies them, from its definition.

use trellis_domain::zone::{Bound, Constraint, Zone, ZoneDomain};
use trellis_order::{Domain, laws};

use crate::oracle::{Rng, brute, entries, fine_grid, grid, holds};

/// Constants for each clock, at times none; that of x₀ is not looked at.
fn constants(rng: &mut Rng, clocks: usize, max: i64) -> Vec<i32> {
    let mut one = || if rng.once_in(5) { -(rng.range(1, 9) as i32) } else { rng.range(0, max) as i32 };
    (0..=clocks).map(|_| one()).collect()
}

/// The definition: `w` can do what `v` can. A negative constant is minus infinity.
fn simulates(v: &[i64], w: &[i64], den: i64, l: &[i32], u: &[i32]) -> bool {
    let exceeds = |value: i64, constant: i32| constant < 0 || i64::from(constant) * den < value;
    (1..v.len()).all(|x| (w[x] >= v[x] || exceeds(w[x], l[x])) && (v[x] >= w[x] || exceeds(v[x], u[x])))
}

/// Points of `z` in the box.
fn points_of(z: &Zone, grid: &[Vec<i64>], den: i64) -> Vec<Vec<i64>> {
    grid.iter().filter(|p| holds(z, p, den)).cloned().collect()
}

/// Two zones that may be related, and constants.
fn pair_of_zones(rng: &mut Rng, clocks: usize, max: i64) -> (Zone, Zone, Vec<i32>, Vec<i32>) {
    let d = ZoneDomain::new(clocks);
    let (a, mut b) = (rng.any_zone(clocks, max), rng.any_zone(clocks, max));
    if rng.once_in(2) {
        b = a.clone();
        d.constrain_all(&mut b, &rng.constraints(clocks, 2, max)).unwrap();
    }
    (a, b, constants(rng, clocks, max), constants(rng, clocks, max))
}

/// The answer is found on points: those of `a` in multiples of 1/(n+1), against those of `b` in multiples so much finer,
/// and in a box so much larger, that none is missed.
fn check_simulation(seed: u64, rounds: usize, clocks: usize, top: i64, max: i64) {
    let mut rng = Rng(seed);
    let den = clocks as i64 + 1;
    let (coarse, fine) = (grid(clocks, den, top), grid(clocks, den * den, top + max + 1));
    let (mut yes, mut no, mut more) = (0, 0, 0);
    for _ in 0..rounds {
        let d = ZoneDomain::new(clocks);
        let (a, b, l, u) = pair_of_zones(&mut rng, clocks, max);
        let theirs = points_of(&b, &fine, den * den);
        let expected = points_of(&a, &coarse, den).iter().all(|v| {
            let v: Vec<i64> = v.iter().map(|value| value * den).collect();
            theirs.iter().any(|w| simulates(&v, w, den * den, &l, &u))
        });
        assert_eq!(d.leq_alu(&a, &b, &l, &u), expected, "{a:?} in {b:?}, L {l:?}, U {u:?}");
        *(if expected { &mut yes } else { &mut no }) += 1;
        more += usize::from(expected && !d.leq(&a, &b));
    }
    assert!(yes > rounds / 10 && no > rounds / 10 && more > rounds / 20, "{yes} {no} {more}");
}

#[test]
fn simulation_of_one_clock() {
    check_simulation(40, 2000, 1, 9, 3);
}

#[test]
fn simulation_of_two_clocks() {
    check_simulation(41, 400, 2, 7, 2);
}

/// The valuations that simulate a given one form a box, read off the definition clock by clock; does `b` meet it?
/// In units of 1/den everything is whole, and closure by brute force decides.
fn some_simulates(b: &Zone, v: &[i64], den: i64, l: &[i32], u: &[i32]) -> bool {
    let bound = |n: i64, strict: bool| Bound::checked(n, strict).unwrap();
    let scaled = |c: Constraint| Constraint {
        bound: c.bound.constant().map_or(Bound::INF, |n| bound(i64::from(n) * den, c.bound.is_strict())),
        ..c
    };
    if b.domain().is_empty(b) {
        return false;
    }
    let mut all: Vec<Constraint> = entries(b).into_iter().map(scaled).collect();
    for x in 1..v.len() {
        if u[x] >= 0 && v[x] <= i64::from(u[x]) * den {
            all.push(Constraint::new(x, 0, bound(v[x], false)));
        }
        if l[x] >= 0 && v[x] <= i64::from(l[x]) * den {
            all.push(Constraint::new(0, x, bound(-v[x], false)));
        } else if l[x] >= 0 {
            all.push(Constraint::new(0, x, bound(-i64::from(l[x]) * den, true)));
        }
    }
    brute(v.len(), &all).is_some()
}

#[test]
fn simulation_of_more_clocks() {
    let mut rng = Rng(42);
    for (clocks, rounds, top) in [(2, 4000, 7), (3, 250, 5)] {
        let d = ZoneDomain::new(clocks);
        let (points, den) = fine_grid(&mut rng, clocks, top, usize::MAX);
        let (mut yes, mut no, mut more) = (0, 0, 0);
        for _ in 0..rounds {
            let (a, b, l, u) = pair_of_zones(&mut rng, clocks, 2);
            let expected = points_of(&a, &points, den).iter().all(|v| some_simulates(&b, v, den, &l, &u));
            assert_eq!(d.leq_alu(&a, &b, &l, &u), expected, "{a:?} in {b:?}, L {l:?}, U {u:?}");
            *(if expected { &mut yes } else { &mut no }) += 1;
            more += usize::from(expected && !d.leq(&a, &b));
        }
        assert!(yes > rounds / 10 && no > rounds / 10 && more > rounds / 20, "{yes} {no} {more}");
    }
}

/// A case that random zones seldom hit: `x > 0` is just enough for `y > 1` and `y - x ≤ 1`, and `x ≥ 0` is not.
#[test]
fn simulation_at_a_strict_bound() {
    let d = ZoneDomain::new(2);
    let b = Zone::build(2, &[Constraint::new(2, 1, Bound::le(1))]).unwrap();
    for (bound, expected) in [(Bound::LT_ZERO, true), (Bound::LE_ZERO, false)] {
        let a = Zone::build(2, &[Constraint::new(0, 1, bound)]).unwrap();
        assert_eq!(d.leq_alu(&a, &b, &[0, -1, 1], &[0, 1, -1]), expected);
    }
}

/// Zones ordered by simulation.
struct Simulation(ZoneDomain, Vec<i32>, Vec<i32>);

impl Domain for Simulation {
    type Elem = [Bound];

    fn leq(&self, a: &[Bound], b: &[Bound]) -> bool {
        self.0.leq_alu(a, b, &self.1, &self.2)
    }

    fn is_bottom(&self, a: &[Bound]) -> bool {
        self.0.is_empty(a)
    }
}

#[test]
fn simulation_is_a_preorder() {
    let mut rng = Rng(43);
    for _ in 0..200 {
        let clocks = rng.index(6);
        let (l, u) = (constants(&mut rng, clocks, 4), constants(&mut rng, clocks, 4));
        let samples: Vec<Zone> = (0..15).map(|_| rng.any_zone(clocks, 6)).collect();
        laws::order(&Simulation(ZoneDomain::new(clocks), l, u), &samples).unwrap();
    }
}

#[test]
fn extrapolations_are_between_the_zone_and_what_simulates_it() {
    let mut rng = Rng(44);
    let mut strictly = [0; 3];
    for _ in 0..4000 {
        let clocks = 1 + rng.index(6);
        let d = ZoneDomain::new(clocks);
        let z = rng.any_zone(clocks, 6);
        let (l, u) = (constants(&mut rng, clocks, 4), constants(&mut rng, clocks, 4));
        let m: Vec<i32> = l.iter().zip(&u).map(|(l, u)| *l.max(u)).collect();
        let with = |extrapolate: &dyn Fn(&mut Zone)| {
            let mut result = z.clone();
            extrapolate(&mut result);
            assert!(d.is_canonical(&result), "{z:?}");
            result
        };
        let by_m = with(&|z| d.extra_m(z, &m).unwrap());
        let by_lu = with(&|z| d.extra_lu(z, &l, &u).unwrap());
        let by_lu_plus = with(&|z| d.extra_lu_plus(z, &l, &u).unwrap());
        let chain = [&z, &by_m, &by_lu, &by_lu_plus];
        for (n, pair) in chain.windows(2).enumerate() {
            assert!(d.leq(pair[0], pair[1]), "step {n}: {z:?}, {by_m:?}, {by_lu:?}, {by_lu_plus:?}; L {l:?}, U {u:?}");
            strictly[n] += u32::from(pair[0] != pair[1]);
        }
        for coarser in chain {
            assert!(d.leq_alu(coarser, &z, &l, &u), "{coarser:?} of {z:?}; L {l:?}, U {u:?}");
        }
        // Once more changes nothing.
        let again = |once: &Zone, extrapolate: &dyn Fn(&mut Zone)| {
            let mut twice = once.clone();
            extrapolate(&mut twice);
            assert_eq!(twice, *once, "of {z:?}");
        };
        again(&by_m, &|z| d.extra_m(z, &m).unwrap());
        again(&by_lu, &|z| d.extra_lu(z, &l, &u).unwrap());
        again(&by_lu_plus, &|z| d.extra_lu_plus(z, &l, &u).unwrap());
    }
    assert!(strictly.iter().all(|&n| n > 200), "{strictly:?}");
}

/// Clocks drift apart for ever; extrapolation makes that finitely many zones.
#[test]
fn extrapolations_are_finite() {
    let d = ZoneDomain::new(3);
    let (l, u) = ([0, 2, 1, -1], [0, 3, 0, 2]);
    type Extrapolation = fn(ZoneDomain, &mut Zone, &[i32], &[i32]);
    let all: [(Extrapolation, usize); 3] = [
        (|d, z, _, u| d.extra_m(z, u).unwrap(), 200),
        (|d, z, l, u| d.extra_lu(z, l, u).unwrap(), 200),
        (|d, z, l, u| d.extra_lu_plus(z, l, u).unwrap(), 200),
    ];
    let mut counts = Vec::new();
    for (extrapolate, most) in all {
        let mut seen = vec![Zone::zero(3)];
        let mut at = 0;
        while at < seen.len() && seen.len() <= most {
            // Time passes, then either of two clocks is reset when it is at least one.
            for x in [1, 2] {
                let mut z = seen[at].clone();
                d.up(&mut z);
                if !d.constrain(&mut z, 0, x, Bound::le(-1)).unwrap() {
                    continue;
                }
                d.reset(&mut z, x, 0).unwrap();
                extrapolate(d, &mut z, &l, &u);
                if !seen.contains(&z) {
                    seen.push(z);
                }
            }
            at += 1;
        }
        assert!(seen.len() <= most, "no end in sight");
        counts.push(seen.len());
    }
    assert!(counts.windows(2).all(|c| c[0] >= c[1]), "{counts:?}");
}

#[test]
fn constants_of_any_size_are_understood() {
    let d = ZoneDomain::new(2);
    let mut z = Zone::zero(2);
    d.reset(&mut z, 1, 7).unwrap();
    for (l, u) in [([i32::MAX; 3], [i32::MAX; 3]), ([i32::MIN; 3], [i32::MIN; 3]), ([0, 5, 9], [0, i32::MAX, i32::MIN])]
    {
        for extrapolate in [ZoneDomain::extra_lu, ZoneDomain::extra_lu_plus] {
            let mut coarse = z.clone();
            extrapolate(d, &mut coarse, &l, &u).unwrap();
            assert!(d.leq(&z, &coarse) && d.leq_alu(&coarse, &z, &l, &u));
            match l[0] {
                i32::MAX => assert_eq!(coarse, z),
                i32::MIN => assert!(d.is_universe(&coarse)),
                _ => {}
            }
        }
    }
}

/// The example of the difference between M and LU: an upper bound above L does not matter.
#[test]
fn bounds_are_forgotten_from_the_right_side() {
    let d = ZoneDomain::new(1);
    let z = Zone::build(1, &[Constraint::new(1, 0, Bound::le(5)), Constraint::new(0, 1, Bound::le(-4))]).unwrap();
    let show = |z: &Zone| d.show(z, &["x"]).to_string();
    let with = |l: i32, u: i32| {
        let mut z = z.clone();
        d.extra_lu(&mut z, &[0, l], &[0, u]).unwrap();
        show(&z)
    };
    assert_eq!(show(&z), "x ≥ 4 ∧ x ≤ 5");
    assert_eq!(with(5, 4), "x ≥ 4 ∧ x ≤ 5");
    assert_eq!(with(4, 5), "x ≥ 4");
    assert_eq!(with(5, 3), "x > 3 ∧ x ≤ 5");
    assert_eq!(with(0, 3), "x > 3");
    assert_eq!(with(5, -1), "x ≤ 5");
}
