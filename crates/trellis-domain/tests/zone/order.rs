//! The laws of the order, hull and intersection as sets, comparison, hashing.

use std::collections::HashSet;

use trellis_domain::zone::{Bound, Relation, Zone, ZoneDomain};
use trellis_order::{Domain, Join, Meet, laws};

use crate::oracle::{Rng, fine_grid, holds};

#[test]
fn laws_hold() {
    let mut rng = Rng(30);
    for _ in 0..60 {
        let clocks = rng.index(5);
        let d = ZoneDomain::new(clocks);
        let mut samples: Vec<Zone> = (0..10).map(|_| rng.any_zone(clocks, 3)).collect();
        // Neighbours, so that some are comparable.
        for at in 0..5 {
            let mut z = samples[at].clone();
            d.constrain_all(&mut z, &rng.constraints(clocks, 2, 3)).unwrap();
            samples.push(z);
        }
        laws::order(&d, &samples).unwrap();
        laws::antisymmetry(&d, &samples).unwrap();
        laws::join(&d, &samples).unwrap();
        laws::meet(&d, &samples).unwrap();
        laws::absorption(&d, &d, &samples).unwrap();
        for a in &samples {
            for b in &samples {
                let expected = match (d.leq(a, b), d.leq(b, a)) {
                    (true, true) => Relation::Equal,
                    (true, false) => Relation::Subset,
                    (false, true) => Relation::Superset,
                    (false, false) => Relation::Incomparable,
                };
                assert_eq!(d.relation(a, b), expected);
                let (mut hull, mut common) = (a.clone(), a.clone());
                d.join(&mut hull, b);
                d.meet(&mut common, b);
                assert!(d.is_canonical(&hull) && d.is_canonical(&common));
            }
        }
    }
}

#[test]
fn order_and_intersection_are_those_of_sets() {
    let mut rng = Rng(31);
    let mut included = 0;
    for _ in 0..400 {
        let clocks = 1 + rng.index(2);
        let d = ZoneDomain::new(clocks);
        let (a, mut b) = (rng.any_zone(clocks, 2), rng.any_zone(clocks, 2));
        if rng.once_in(2) {
            d.join(&mut b, &a);
        }
        let mut common = a.clone();
        let some = d.intersect(&mut common, &b).unwrap();
        assert_eq!(some, !d.is_empty(&common));
        assert_eq!(d.intersects(&a, &b, &mut Zone::empty(clocks)), Ok(some));
        let (points, den) = fine_grid(&mut rng, clocks, 8, usize::MAX);
        let mut subset = true;
        for p in points {
            let (in_a, in_b) = (holds(&a, &p, den), holds(&b, &p, den));
            assert_eq!(holds(&common, &p, den), in_a && in_b);
            subset &= !in_a || in_b;
        }
        assert_eq!(d.leq(&a, &b), subset, "{a:?} {b:?}");
        included += u32::from(subset);
    }
    assert!((50..350).contains(&included), "{included}");
}

/// Few and many differing bounds take different ways through the code.
#[test]
fn intersection_of_many_clocks_is_that_of_all_constraints() {
    let mut rng = Rng(32);
    let mut some = 0;
    for _ in 0..400 {
        let clocks = 1 + rng.index(20);
        let d = ZoneDomain::new(clocks);
        let few = if rng.once_in(2) { 2 } else { 2 * clocks };
        let (first, second) = (rng.constraints(clocks, 2 * clocks, 20), rng.constraints(clocks, few, 20));
        let mut a = Zone::build(clocks, &first).unwrap();
        let b = Zone::build(clocks, &second).unwrap();
        some += u32::from(d.intersect(&mut a, &b).unwrap());
        assert_eq!(a, Zone::build(clocks, &[first, second].concat()).unwrap());
    }
    assert!(some > 50, "{some}");
}

#[test]
fn equal_zones_are_equal_in_memory() {
    let mut rng = Rng(33);
    let mut seen: HashSet<Zone> = HashSet::new();
    for _ in 0..2000 {
        seen.insert(rng.zone(3, 1));
    }
    for z in &seen {
        assert!(seen.contains(&z[..]), "a slice finds the zone it equals");
    }
    let d = ZoneDomain::new(3);
    let all: Vec<&Zone> = seen.iter().collect();
    assert!(all.len() > 100);
    for (n, a) in all.iter().enumerate() {
        assert!(all[n + 1..].iter().all(|b| !d.leq(a, b) || !d.leq(b, a)));
    }
}

#[test]
fn large_zones_live_on_the_heap_and_behave() {
    let d = ZoneDomain::new(70);
    let mut z = Zone::zero(70);
    d.up(&mut z);
    assert_eq!(d.constrain(&mut z, 0, 70, Bound::lt(-5)), Ok(true));
    assert!((1..=70).all(|x| d.get(&z, 0, x) == Bound::lt(-5)));
    assert!(d.leq(&z, &Zone::universe(70)) && !d.leq(&Zone::universe(70), &z));
    assert!(d.is_canonical(&z));
}
