//! Points and delays.

use trellis_domain::zone::{Bound, Rational, Zone, ZoneDomain};

use crate::oracle::{Rng, fine_grid, grid, holds, point};

#[test]
fn a_point_is_found_with_the_smallest_denominator() {
    let mut rng = Rng(70);
    let mut denominators = [0; 5];
    for _ in 0..500 {
        let clocks = rng.index(4);
        let d = ZoneDomain::new(clocks);
        // Strict bounds close around a point, or anything.
        let z = if rng.once_in(2) {
            let inside: Vec<i64> = (0..=clocks).map(|x| if x == 0 { 0 } else { rng.range(0, 11) }).collect();
            let mut z = Zone::universe(clocks);
            for (i, v) in inside.iter().enumerate() {
                for (j, w) in inside.iter().enumerate() {
                    if i != j && !rng.once_in(4) {
                        d.constrain(&mut z, i, j, Bound::lt((v - w).div_euclid(4) as i32 + 1)).unwrap();
                    }
                }
            }
            z
        } else {
            rng.zone(clocks, 3)
        };
        let p = d.point_in(&z).unwrap();
        let den = p.denominator();
        denominators[den as usize] += 1;
        assert!(d.contains(&z, &p) && holds(&z, p.numerators(), den), "{z:?} {p}");
        // The least of its denominator, and no smaller denominator will do.
        for smaller in 1..den {
            assert!(!grid(clocks, smaller, 4).iter().any(|q| holds(&z, q, smaller)), "{z:?} {p}");
        }
        for q in grid(clocks, den, 3).iter().filter(|q| holds(&z, q, den)) {
            assert!(q.iter().zip(p.numerators()).all(|(q, p)| p <= q), "{z:?} {p} {q:?}");
        }
    }
    assert!(
        denominators[1] > 50 && denominators[2] > 20 && denominators[3] > 5 && denominators[4] > 0,
        "{denominators:?}"
    );
    assert_eq!(ZoneDomain::new(2).point_in(&Zone::empty(2)), None);
}

#[test]
fn large_zones_have_points_too() {
    let mut rng = Rng(71);
    for _ in 0..300 {
        let clocks = 5 + rng.index(20);
        let z = rng.zone(clocks, 1000);
        let p = z.domain().point_in(&z).unwrap();
        assert!(z.domain().contains(&z, &p));
        assert!(p.denominator() <= clocks as i64 + 1);
    }
}

#[test]
fn delays_into_a_zone() {
    let mut rng = Rng(72);
    let (mut some, mut none) = (0, 0);
    for _ in 0..150 {
        let clocks = 1 + rng.index(3);
        let z = rng.any_zone(clocks, 3);
        let d = z.domain();
        let (points, den) = fine_grid(&mut rng, clocks, 5, 60);
        for values in points {
            let p = point(&values, den);
            let interval = d.delay_interval(&z, &p);
            *(if interval.is_some() { &mut some } else { &mut none }) += 1;
            // Delays in half units: the ends of the interval are whole ones.
            for t in 0..=2 * den * 14 {
                let delay = Rational::new(t, 2 * den);
                let there = p.after(delay).unwrap();
                let inside = holds(&z, there.numerators(), there.denominator());
                assert_eq!(interval.is_some_and(|i| i.contains(delay)), inside, "{p} after {delay} in {z:?}");
            }
            if let Some(interval) = interval {
                let delay = interval.pick().unwrap();
                assert!(interval.contains(delay) && d.contains(&z, &p.after(delay).unwrap()), "{interval:?}");
            }
        }
    }
    assert!(some > 500 && none > 500, "{some} {none}");
}
