//! The canonical form, reached at once or step by step, and the range of constants.

use trellis_domain::zone::{Bound, Constraint, MAX_CONSTANT, Zone, ZoneDomain, ZoneError};

use crate::oracle::{Pair, Rng, all_hold, brute, fine_grid, pair, point};

fn pairs(z: &[Bound]) -> Vec<Pair> {
    z.iter().map(|&b| pair(b)).collect()
}

/// The zone is what brute force found.
fn assert_same(z: &Zone, expected: Option<&Vec<Pair>>, what: &[Constraint]) {
    let d = z.domain();
    assert!(d.is_canonical(z), "{what:?}");
    match expected {
        None => assert!(d.is_empty(z), "{what:?}"),
        Some(expected) => assert_eq!(&pairs(z), expected, "{what:?}"),
    }
}

#[test]
fn closing_at_once_and_step_by_step_agree_with_brute_force() {
    let mut rng = Rng(1);
    let (mut empty, mut full) = (0, 0);
    for round in 0..4000 {
        let clocks = if round % 100 == 0 { 30 + rng.index(40) } else { rng.index(7) };
        let d = ZoneDomain::new(clocks);
        let max = *rng.pick(&[1, 3, 10, 1_000_000]);
        let constraints = rng.constraints(clocks, 3 * clocks, max);
        let expected = brute(clocks + 1, &constraints);
        *(if expected.is_some() { &mut full } else { &mut empty }) += 1;

        let mut at_once = Zone::universe(clocks);
        for c in &constraints {
            let at = c.left as usize * d.dim() + c.right as usize;
            at_once[at] = at_once[at].min(c.bound);
        }
        assert_eq!(d.close(&mut at_once), Ok(expected.is_some()));
        assert_same(&at_once, expected.as_ref(), &constraints);

        let mut by_step = Zone::universe(clocks);
        for (n, c) in constraints.iter().enumerate() {
            let (i, j) = c.clocks();
            let possible = d.satisfies(&by_step, i, j, c.bound);
            assert_eq!(d.constrain(&mut by_step, i, j, c.bound), Ok(possible));
            if clocks < 7 {
                assert_same(&by_step, brute(clocks + 1, &constraints[..=n]).as_ref(), &constraints[..=n]);
            }
        }
        assert_same(&by_step, expected.as_ref(), &constraints);
        assert_eq!(Zone::build(clocks, &constraints), Ok(by_step));

        // The first few one by one, the others together; and all together from nothing.
        let entry = |c: &Constraint| (c.left as usize, c.right as usize, c.bound);
        let first = rng.index(constraints.len() + 1);
        let mut mixed = Zone::build(clocks, &constraints[..first]).unwrap();
        let rest = constraints[first..].iter().map(entry);
        assert_eq!(d.constrain_each(&mut mixed, rest), Ok(expected.is_some()));
        assert_same(&mixed, expected.as_ref(), &constraints);
        let mut built = Zone::zero(clocks);
        let all: Vec<_> = constraints.iter().map(entry).collect();
        assert_eq!(d.build_each(&mut built, &all), Ok(expected.is_some()));
        assert_same(&built, expected.as_ref(), &constraints);
    }
    assert!(empty > 500 && full > 500, "{empty} {full}");
}

#[test]
fn a_zone_holds_the_points_that_satisfy_its_constraints() {
    let mut rng = Rng(2);
    for _ in 0..300 {
        let clocks = 1 + rng.index(3);
        let constraints = rng.constraints(clocks, 5, 3);
        let z = Zone::build(clocks, &constraints).unwrap();
        let (points, den) = fine_grid(&mut rng, clocks, 5, 1000);
        for p in points {
            assert_eq!(
                z.domain().contains(&z, &point(&p, den)),
                all_hold(&constraints, &p, den),
                "{z:?} at {p:?}/{den}"
            );
        }
    }
}

#[test]
fn odd_constraints() {
    let d = ZoneDomain::new(2);
    let mut z = Zone::universe(2);
    assert_eq!(d.constrain(&mut z, 1, 1, Bound::LE_ZERO), Ok(true));
    assert_eq!(d.constrain(&mut z, 1, 2, Bound::INF), Ok(true));
    assert_eq!(d.constrain(&mut z, 0, 1, Bound::le(5)), Ok(true));
    assert!(d.is_universe(&z));
    assert_eq!(d.constrain(&mut z, 1, 1, Bound::LT_ZERO), Ok(false));
    assert_eq!(z, Zone::empty(2));
    assert_eq!(d.constrain(&mut z, 1, 0, Bound::le(3)), Ok(false));
    assert_eq!(d.close(&mut z), Ok(false));
    assert_eq!(z, Zone::empty(2));
    // A matrix of no bounds at all: the diagonal and that clocks are not negative are added.
    let mut z = Zone::universe(2);
    z.fill(Bound::INF);
    assert_eq!((d.close(&mut z), d.is_universe(&z)), (Ok(true), true));
    // No clocks at all.
    let none = ZoneDomain::new(0);
    assert_eq!(Zone::zero(0), Zone::universe(0));
    assert!(none.is_universe(&Zone::zero(0)) && none.is_empty(&Zone::empty(0)));
}

#[test]
fn constants_out_of_range_are_noticed() {
    let d = ZoneDomain::new(3);
    let big = Bound::le(MAX_CONSTANT);
    let small = Bound::le(-MAX_CONSTANT);
    // x - y and y - z bounded above: so is x - z, by too much. As lower bounds, the other way round.
    for (first, second) in [((1, 2), (2, 3)), ((2, 3), (1, 2))] {
        for bound in [big, small, Bound::lt(-MAX_CONSTANT)] {
            let mut z = Zone::universe(3);
            assert_eq!(d.constrain(&mut z, first.0, first.1, bound), Ok(true));
            assert_eq!(d.constrain(&mut z, second.0, second.1, bound), Err(ZoneError::Overflow));
            let both = [Constraint::new(first.0, first.1, bound), Constraint::new(second.0, second.1, bound)];
            assert_eq!(Zone::build(3, &both), Err(ZoneError::Overflow));
        }
    }
    let mut z = Zone::zero(3);
    assert_eq!(d.reset(&mut z, 1, MAX_CONSTANT), Ok(()));
    assert_eq!(d.shift(&mut z, 1, 1), Err(ZoneError::Overflow));
    let mut z = Zone::zero(3);
    assert_eq!(d.reset(&mut z, 1, MAX_CONSTANT + 1), Err(ZoneError::Overflow));
    assert_eq!(d.reset(&mut z, 1, -1), Err(ZoneError::Negative));
    assert_eq!(d.pre_reset(&mut z, 1, i32::MAX), Err(ZoneError::Overflow));
    assert_eq!(d.shift(&mut z, 1, i32::MIN), Err(ZoneError::Overflow));
    assert_eq!(d.pre_shift(&mut z, 1, i32::MIN), Err(ZoneError::Overflow));
}

/// Chains of huge constants through many clocks, whose sums would wrap around once or several times.
#[test]
fn sums_do_not_wrap_around() {
    let mut rng = Rng(4);
    for round in 0..2000 {
        let clocks = 3 + round % 60;
        let mut order: Vec<usize> = (1..=clocks).collect();
        for at in 0..clocks {
            order.swap(at, rng.index(at + 1));
        }
        let n = i64::from(MAX_CONSTANT) - if rng.once_in(2) { 0 } else { rng.range(0, 1000) };
        let sign = if rng.once_in(2) { 1 } else { -1 };
        let link = |pair: &[usize]| Constraint::new(pair[0], pair[1], Bound::checked(sign * n, false).unwrap());
        // A cycle of great upper bounds is no contradiction, though it may look like one if sums wrap around.
        if sign > 0 && rng.once_in(2) {
            order.push(order[0]);
        }
        let chain: Vec<Constraint> = order.windows(2).map(link).collect();
        assert_eq!(Zone::build(clocks, &chain), Err(ZoneError::Overflow), "{order:?}");
        let d = ZoneDomain::new(clocks);
        let mut z = Zone::universe(clocks);
        let steps =
            chain.iter().try_for_each(|c| d.constrain(&mut z, c.left as usize, c.right as usize, c.bound).map(drop));
        assert_eq!(steps, Err(ZoneError::Overflow));
    }
}

/// Whatever the constants: an answer is right, and only constants that are huge prevent one.
#[test]
fn near_the_limit_there_is_an_error_or_the_truth() {
    let mut rng = Rng(3);
    let mut errors = 0;
    for _ in 0..20_000 {
        let clocks = 1 + rng.index(6);
        let max = i64::from(MAX_CONSTANT) / rng.range(1, 8);
        let constraints = rng.constraints(clocks, 2 * clocks, max);
        let expected = brute(clocks + 1, &constraints);
        let d = ZoneDomain::new(clocks);
        let mut by_step = Zone::universe(clocks);
        let stepped = constraints.iter().try_fold(true, |_, c| {
            let (i, j) = c.clocks();
            d.constrain(&mut by_step, i, j, c.bound)
        });
        let harmless = max * clocks as i64 <= i64::from(MAX_CONSTANT);
        for (result, zone) in [
            (stepped, by_step.clone()),
            match Zone::build(clocks, &constraints) {
                Ok(zone) => (Ok(!d.is_empty(&zone)), zone),
                Err(error) => (Err(error), by_step),
            },
        ] {
            match result {
                Ok(some) => {
                    assert_eq!(some, expected.is_some() || constraints.is_empty());
                    assert_same(&zone, expected.as_ref(), &constraints);
                }
                Err(error) => {
                    errors += 1;
                    assert!(error == ZoneError::Overflow && !harmless, "{constraints:?}");
                }
            }
        }
    }
    assert!(errors > 500, "{errors}");
}
