//! Every operation against what it means for points, forwards and backwards.

use trellis_domain::zone::{Zone, ZoneDomain, ZoneError};

use crate::oracle::{Rng, fine_grid, holds};

/// Where the sought value of a clock, or a delay, may be: zones of the tests have no greater constants.
const FAR: i64 = 16;

/// A point in half as large units, with something changed.
fn halved(p: &[i64], change: impl FnOnce(&mut [i64])) -> Vec<i64> {
    let mut q: Vec<i64> = p.iter().map(|v| 2 * v).collect();
    change(&mut q);
    q
}

/// Runs `operation` on random zones, and compares its result with `member`, which tells from the zone before, a
/// point and the denominator of its values whether it should be in the zone after.
fn check(
    seed: u64,
    operation: impl Fn(ZoneDomain, &mut Zone, usize, usize, i32),
    member: impl Fn(&Zone, &[i64], i64, usize, usize, i32) -> bool,
) {
    let mut rng = Rng(seed);
    let (mut inside, mut outside) = (0, 0);
    for round in 0..150 {
        let clocks = 1 + rng.index(3);
        let before = if round == 0 { Zone::empty(clocks) } else { rng.zone(clocks, 3) };
        let (x, y, c) = (1 + rng.index(clocks), 1 + rng.index(clocks), rng.range(0, 3) as i32);
        let mut after = before.clone();
        let d = before.domain();
        operation(d, &mut after, x, y, c);
        assert!(d.is_canonical(&after), "{before:?} became {:?}", &after[..]);
        let (points, den) = fine_grid(&mut rng, clocks, 5, 250);
        for p in points {
            let expected = member(&before, &p, den, x, y, c);
            *(if expected { &mut inside } else { &mut outside }) += 1;
            assert_eq!(
                holds(&after, &p, den),
                expected,
                "x{x}, x{y}, {c}: {before:?} became {after:?}, at {p:?}/{den}"
            );
        }
    }
    assert!(inside > 100 && outside > 1000, "{inside} {outside}");
}

/// Is there a value for `x` that brings the point into the zone?
fn some_value(z: &Zone, p: &[i64], den: i64, x: usize) -> bool {
    (0..=2 * FAR * den).any(|w| holds(z, &halved(p, |q| q[x] = w), 2 * den))
}

/// Is there a delay, of this sign, that brings the point into the zone?
fn some_delay(z: &Zone, p: &[i64], den: i64, sign: i64) -> bool {
    (0..=2 * FAR * den).any(|t| holds(z, &halved(p, |q| q[1..].iter_mut().for_each(|v| *v += sign * t)), 2 * den))
}

/// A point with something changed.
fn with(p: &[i64], change: impl FnOnce(&mut [i64])) -> Vec<i64> {
    let mut q = p.to_vec();
    change(&mut q);
    q
}

#[test]
fn up() {
    check(10, |d, z, _, _, _| d.up(z), |z, p, den, _, _, _| some_delay(z, p, den, -1));
}

#[test]
fn down() {
    check(11, |d, z, _, _, _| d.down(z), |z, p, den, _, _, _| some_delay(z, p, den, 1));
}

#[test]
fn reset() {
    check(
        12,
        |d, z, x, _, c| d.reset(z, x, c).unwrap(),
        |z, p, den, x, _, c| p[x] == i64::from(c) * den && some_value(z, p, den, x),
    );
}

#[test]
fn assign() {
    check(
        13,
        |d, z, x, y, _| d.assign(z, x, y),
        |z, p, den, x, y, _| if x == y { holds(z, p, den) } else { p[x] == p[y] && some_value(z, p, den, x) },
    );
}

#[test]
fn free() {
    check(14, |d, z, x, _, _| d.free(z, x), |z, p, den, x, _, _| some_value(z, p, den, x));
}

#[test]
fn shift_up() {
    check(
        15,
        |d, z, x, _, c| d.shift(z, x, c).unwrap(),
        |z, p, den, x, _, c| holds(z, &with(p, |q| q[x] -= i64::from(c) * den), den),
    );
}

#[test]
fn shift_down_is_exact_or_refused() {
    let refused = |z: &Zone, x: usize, c: i32| z.domain().satisfies(z, x, 0, trellis_domain::zone::Bound::lt(c));
    check(
        16,
        |d, z, x, _, c| {
            let (old, refused) = (z.clone(), refused(z, x, c));
            match d.shift(z, x, -c) {
                Ok(()) => assert!(!refused),
                Err(error) => assert!(refused && error == ZoneError::Negative && *z == old),
            }
        },
        |z, p, den, x, _, c| {
            let c = if refused(z, x, c) { 0 } else { c };
            holds(z, &with(p, |q| q[x] += i64::from(c) * den), den)
        },
    );
}

#[test]
fn before_a_reset() {
    check(
        17,
        |d, z, x, _, c| {
            let some = d.pre_reset(z, x, c).unwrap();
            assert_eq!(some, !d.is_empty(z));
        },
        |z, p, den, x, _, c| holds(z, &with(p, |q| q[x] = i64::from(c) * den), den),
    );
}

#[test]
fn before_a_copy() {
    check(
        18,
        |d, z, x, y, _| {
            let some = d.pre_assign(z, x, y).unwrap();
            assert_eq!(some, !d.is_empty(z));
        },
        |z, p, den, x, y, _| holds(z, &with(p, |q| q[x] = q[y]), den),
    );
}

#[test]
fn before_a_shift() {
    for sign in [1, -1] {
        check(
            19,
            |d, z, x, _, c| {
                let some = d.pre_shift(z, x, sign * c).unwrap();
                assert_eq!(some, !d.is_empty(z));
            },
            |z, p, den, x, _, c| holds(z, &with(p, |q| q[x] += i64::from(sign * c) * den), den),
        );
    }
}

/// `post(a)` meets `b` iff `a` meets `pre(b)`, in as many clocks as you like.
#[test]
fn images_and_inverse_images_are_adjoint() {
    let mut rng = Rng(20);
    let mut met = 0;
    for _ in 0..3000 {
        let clocks = 1 + rng.index(8);
        let d = ZoneDomain::new(clocks);
        let (a, b) = (rng.zone(clocks, 4), rng.zone(clocks, 4));
        let (x, y, c) = (1 + rng.index(clocks), 1 + rng.index(clocks), rng.range(0, 4) as i32);
        let (mut post, mut pre) = (a.clone(), b.clone());
        match rng.index(5) {
            0 => {
                d.up(&mut post);
                d.down(&mut pre);
            }
            1 => {
                d.reset(&mut post, x, c).unwrap();
                d.pre_reset(&mut pre, x, c).unwrap();
            }
            2 => {
                d.assign(&mut post, x, y);
                d.pre_assign(&mut pre, x, y).unwrap();
            }
            3 => {
                d.shift(&mut post, x, c).unwrap();
                d.pre_shift(&mut pre, x, c).unwrap();
            }
            _ => {
                d.free(&mut post, x);
                d.free(&mut pre, x);
            }
        }
        assert!(d.is_canonical(&post) && d.is_canonical(&pre));
        let mut scratch = Zone::empty(clocks);
        let forwards = d.intersects(&post, &b, &mut scratch).unwrap();
        assert_eq!(forwards, d.intersects(&a, &pre, &mut scratch).unwrap(), "{a:?}, {b:?}");
        met += u32::from(forwards);
    }
    assert!((500..2500).contains(&met), "{met}");
}
