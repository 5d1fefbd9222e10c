//! Complement, difference and interpolant.

use trellis_domain::zone::{Bound, Constraint, Zone, ZoneDomain};
use trellis_order::Domain;

use crate::oracle::{Rng, entries, fine_grid, holds};

#[test]
fn complements_and_differences_are_exact() {
    let mut rng = Rng(60);
    for _ in 0..400 {
        let clocks = 1 + rng.index(3);
        let d = ZoneDomain::new(clocks);
        let (a, b) = (rng.any_zone(clocks, 3), rng.any_zone(clocks, 3));
        let complement = d.complement(&b);
        let difference = d.subtract(&a, &b).unwrap();
        assert!(complement.iter().chain(&difference).all(|z| d.is_canonical(z) && !d.is_empty(z)));
        let (points, den) = fine_grid(&mut rng, clocks, 6, 500);
        for p in points {
            let (in_a, in_b) = (holds(&a, &p, den), holds(&b, &p, den));
            assert_ne!(complement.iter().any(|z| holds(z, &p, den)), in_b, "{b:?} at {p:?}/{den}");
            let parts = difference.iter().filter(|z| holds(z, &p, den)).count();
            assert_eq!(parts, usize::from(in_a && !in_b), "{a:?} without {b:?} at {p:?}/{den}");
        }
    }
    let d = ZoneDomain::new(2);
    assert_eq!(d.complement(&Zone::universe(2)), []);
    assert_eq!(d.complement(&Zone::empty(2)), [Zone::universe(2)]);
}

/// The interpolant, checked: between the zones, and made of bounds of the first.
fn interpolant(a: &Zone, b: &Zone) -> Option<Zone> {
    let d = a.domain();
    let mut scratch = Zone::empty(d.clocks());
    let disjoint = !d.intersects(a, b, &mut scratch).unwrap();
    let mut i = Zone::zero(d.clocks());
    assert_eq!(d.interpolant(a, b, &mut i), Ok(disjoint));
    if !disjoint {
        return None;
    }
    assert!(d.is_canonical(&i) && d.leq(a, &i), "{i:?} of {a:?} and {b:?}");
    assert!(!d.intersects(&i, b, &mut scratch).unwrap(), "{i:?} of {a:?} and {b:?}");
    if !d.is_empty(a) {
        for c in d.minimal(&i) {
            assert_eq!(c.bound, d.get(a, c.left as usize, c.right as usize), "{c:?} of {a:?} and {b:?}");
        }
    }
    Some(i)
}

/// Two zones that a cycle of constraints, taken from both in turn, may keep apart; often no shorter one does.
fn entangled(rng: &mut Rng, clocks: usize) -> (Zone, Zone) {
    let mut cycle: Vec<usize> = (0..=clocks).collect();
    for at in 0..cycle.len() {
        cycle.swap(at, rng.index(at + 1));
    }
    let mut sides = [Vec::new(), Vec::new()];
    for (at, &clock) in cycle.iter().enumerate() {
        let bound = rng.bound(-1, if clock == 0 { 0 } else { 1 });
        sides[at % 2].push(Constraint::new(clock, cycle[(at + 1) % cycle.len()], bound));
    }
    let [a, b] = sides.map(|constraints| Zone::build(clocks, &constraints).unwrap());
    (a, b)
}

#[test]
fn interpolants_separate() {
    let mut rng = Rng(61);
    let mut sizes = [0; 6];
    let mut finer = 0;
    for round in 0..20_000 {
        let clocks = 1 + rng.index(if round % 10 == 0 { 12 } else { 4 });
        let (a, b) = match rng.index(2) {
            0 => (rng.any_zone(clocks, 4), rng.any_zone(clocks, 4)),
            _ => entangled(&mut rng, clocks),
        };
        if let Some(i) = interpolant(&a, &b) {
            let d = a.domain();
            sizes[d.minimal(&i).len().min(5)] += 1;
            finer += u32::from(a != i);
        }
    }
    assert!(sizes[0] > 100 && sizes[1] > 1000 && sizes[2] > 100 && sizes[3] > 5 && finer > 1000, "{sizes:?} {finer}");
}

/// No smaller set of bounds of the first zone separates it from the second.
#[test]
fn interpolants_are_coarse() {
    let mut rng = Rng(62);
    let mut sizes = [0; 4];
    for _ in 0..1500 {
        let clocks = 2 + rng.index(4);
        let (a, b) =
            if rng.once_in(2) { entangled(&mut rng, clocks) } else { (rng.zone(clocks, 3), rng.zone(clocks, 3)) };
        let Some(i) = interpolant(&a, &b) else { continue };
        let d = a.domain();
        let size = d.minimal(&i).len();
        sizes[size.min(3)] += 1;
        if size < 2 {
            continue;
        }
        let useful = |c: &Constraint| c.left != c.right && !c.bound.is_inf();
        let bounds: Vec<Constraint> = entries(&a).into_iter().filter(useful).collect();
        for set in (0..1_u32 << bounds.len()).filter(|set| (set.count_ones() as usize) < size) {
            let chosen: Vec<Constraint> =
                (0..bounds.len()).filter(|at| set >> at & 1 == 1).map(|at| bounds[at]).collect();
            let mut other = Zone::build(clocks, &chosen).unwrap();
            assert!(d.intersect(&mut other, &b).unwrap(), "{chosen:?} instead of {i:?} for {a:?} and {b:?}");
        }
    }
    assert!(sizes[1] > 100 && sizes[2] > 10 && sizes[3] > 0, "{sizes:?}");
}

/// Zones that no single bound separates: two of the first are needed, and are all that is kept.
#[test]
fn a_cycle_through_four_clocks() {
    let c = Constraint::new;
    let le = Bound::le;
    // x1 ≤ x2 and x3 ≤ x4, against x2 < x3 and x4 ≤ x1; the rest is noise.
    let a = Zone::build(5, &[c(1, 2, le(0)), c(3, 4, le(0)), c(5, 0, le(3)), c(0, 2, le(-1))]).unwrap();
    let b = Zone::build(5, &[c(2, 3, Bound::lt(0)), c(4, 1, le(0)), c(0, 5, le(-2))]).unwrap();
    let i = interpolant(&a, &b).unwrap();
    assert_eq!(i, Zone::build(5, &[c(1, 2, le(0)), c(3, 4, le(0))]).unwrap());
    // Of several single bounds, one of a single clock is preferred.
    let a = Zone::build(2, &[c(1, 2, le(-3)), c(1, 0, le(1))]).unwrap();
    let b = Zone::build(2, &[c(2, 1, le(1)), c(0, 1, le(-2))]).unwrap();
    assert_eq!(interpolant(&a, &b).unwrap(), Zone::build(2, &[c(1, 0, le(1))]).unwrap());
    // The trivial cases.
    assert_eq!(interpolant(&Zone::empty(2), &b).unwrap(), Zone::empty(2));
    assert_eq!(interpolant(&a, &Zone::empty(2)).unwrap(), Zone::universe(2));
    assert_eq!(interpolant(&a, &Zone::universe(2)), None);
}
