//! Minimal constraints: they give the zone back, none can be missed, no fewer would do; and what people read.

use trellis_domain::zone::{Bound, Constraint, Zone, ZoneDomain};
use trellis_order::Domain;

use crate::oracle::{Rng, entries};

#[test]
fn there_and_back() {
    let mut rng = Rng(50);
    for round in 0..2000 {
        let clocks = if round % 50 == 0 { 20 } else { rng.index(6) };
        let z = rng.any_zone(clocks, 3);
        let d = z.domain();
        let minimal = d.minimal(&z);
        assert_eq!(Zone::build(clocks, &minimal).unwrap(), z, "{minimal:?}");
        assert!(d.implies(&z, &minimal));
        for skipped in 0..minimal.len() {
            let mut fewer = minimal.clone();
            fewer.remove(skipped);
            assert_ne!(Zone::build(clocks, &fewer).unwrap(), z, "{:?} of {minimal:?}", minimal[skipped]);
        }
        let other = rng.any_zone(clocks, 3);
        assert_eq!(d.implies(&other, &minimal), d.leq(&other, &z));
    }
}

/// Any set of constraints for a zone can be replaced by as many of its closed bounds: try all sets of those.
#[test]
fn no_fewer_would_do() {
    let mut rng = Rng(51);
    let mut with_equations = 0;
    for round in 0..250 {
        let clocks = 1 + rng.index(if round < 60 { 3 } else { 2 });
        let z = rng.zone(clocks, 2);
        let d = z.domain();
        let minimal = d.minimal(&z);
        let useful =
            |c: &Constraint| c.left != c.right && !c.bound.is_inf() && (c.left, c.bound) != (0, Bound::LE_ZERO);
        let bounds: Vec<Constraint> = entries(&z).into_iter().filter(useful).collect();
        with_equations += u32::from(minimal.len() < bounds.len());
        for set in 0..1_u32 << bounds.len() {
            if set.count_ones() as usize >= minimal.len() {
                continue;
            }
            let chosen: Vec<Constraint> =
                (0..bounds.len()).filter(|at| set >> at & 1 == 1).map(|at| bounds[at]).collect();
            assert_ne!(Zone::build(clocks, &chosen).unwrap(), z, "{chosen:?} instead of {minimal:?}");
        }
    }
    assert!(with_equations > 50);
}

#[test]
fn zones_are_readable() {
    let names = ["x", "y", "z"];
    let d = ZoneDomain::new(3);
    let show = |z: &Zone| d.show(z, &names).to_string();
    let built = |constraints: &[(usize, usize, Bound)]| {
        let constraints: Vec<_> = constraints.iter().map(|&(i, j, b)| Constraint::new(i, j, b)).collect();
        show(&Zone::build(3, &constraints).unwrap())
    };
    assert_eq!(show(&Zone::universe(3)), "true");
    assert_eq!(show(&Zone::empty(3)), "false");
    assert_eq!(show(&Zone::zero(3)), "x = 0 ∧ y = 0 ∧ z = 0");
    assert_eq!(built(&[(1, 2, Bound::lt(3)), (0, 1, Bound::le(-2))]), "x ≥ 2 ∧ x - y < 3");
    assert_eq!(built(&[(0, 2, Bound::LT_ZERO), (2, 0, Bound::le(4))]), "y > 0 ∧ y ≤ 4");
    assert_eq!(built(&[(2, 3, Bound::le(-1))]), "y - z ≤ -1");
    let mut z = Zone::zero(3);
    d.up(&mut z);
    assert_eq!(show(&z), "y = x ∧ z = x");
    d.reset(&mut z, 2, 0).unwrap();
    d.up(&mut z);
    d.constrain(&mut z, 0, 2, Bound::lt(-1)).unwrap();
    d.reset(&mut z, 3, 7).unwrap();
    assert_eq!(show(&z), "z = 7 ∧ y > 1 ∧ y - x ≤ 0");
    assert_eq!(format!("{z:?}"), "x3 = 7 ∧ x2 > 1 ∧ x2 - x1 ≤ 0");
    assert_eq!(format!("{:?}", &Zone::universe(1)[..]), "[≤0, ≤0, ∞, ≤0]");
}
