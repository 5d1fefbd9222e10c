//! The lattices of integers against integers: whatever value an element admits, it still does after the same operation
//! on both; and what it admits is what its queries say.

use proptest::prelude::*;
use trellis_order::lattice::Interval;
use trellis_order::{Domain, Lattice, Widen, Word};

use super::{ask, initial, lattice, run, sample, show};

const NAMES: [&str; 4] = ["Flat", "Sign", "Parity", "Interval"];

/// Integers near 0 and near the ends of 64 bits.
fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![8 => -6..7i64, 1 => i64::MIN..i64::MIN + 3, 1 => i64::MAX - 2..=i64::MAX, 1 => any::<i64>()]
}

/// Does the element admit the value? Values beyond 64 bits cannot be asked for; those that only an infinite end, or
/// knowing nothing, admits are taken from the nearest value that can.
fn admits(lattice: &dyn Lattice, elem: &[Word], value: i128) -> bool {
    match i64::try_from(value) {
        Ok(value) => ask(lattice, elem, "mayBe", &[value]).unwrap() == 1,
        Err(_) => match lattice.name().as_str() {
            "Flat" => ask(lattice, elem, "isTop", &[]).unwrap() == 1,
            "Parity" => ask(lattice, elem, "mayBe", &[(value & 1) as i64]).unwrap() == 1,
            "Sign" => ask(lattice, elem, "mayBe", &[value.signum() as i64]).unwrap() == 1,
            _ if value > 0 => ask(lattice, elem, "mayBeGreater", &[i64::MAX]).unwrap() == 1,
            _ => ask(lattice, elem, "mayBeLess", &[i64::MIN]).unwrap() == 1,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn operations_are_sound(seed: u64, start in integer(), steps in proptest::collection::vec((0..6u8, integer()), 1..6)) {
        for name in NAMES {
            let lattice = lattice(name, &[]);
            let mut elem = sample(&*lattice, seed);
            let mut value = i128::from(start);
            if !admits(&*lattice, &elem, value) {
                run(&*lattice, &mut elem, "set", &[start]).unwrap();
            }
            for &(step, v) in &steps {
                match step {
                    0 => { run(&*lattice, &mut elem, "add", &[v]).unwrap(); value += i128::from(v); }
                    1 => { run(&*lattice, &mut elem, "mul", &[v]).unwrap(); value = value.saturating_mul(v.into()); }
                    2 if name != "Flat" => { run(&*lattice, &mut elem, "neg", &[]).unwrap(); value = -value; }
                    3 if name == "Interval" && value < v.into() => run(&*lattice, &mut elem, "assumeLess", &[v]).unwrap(),
                    4 if name == "Interval" && value > v.into() => run(&*lattice, &mut elem, "assumeGreater", &[v]).unwrap(),
                    5 if name == "Flat" && value != v.into() => run(&*lattice, &mut elem, "assumeNot", &[v]).unwrap(),
                    _ => {}
                }
                // Beyond this the reference itself would overflow.
                if value.unsigned_abs() > 1 << 100 { break; }
                prop_assert!(admits(&*lattice, &elem, value), "{} does not admit {value}", show(&*lattice, &elem));
            }
        }
    }

    #[test]
    fn queries_agree_with_the_values(seed: u64, v in -6..7i64) {
        for name in ["Flat", "Interval"] {
            let lattice = lattice(name, &[]);
            let elem = sample(&*lattice, seed);
            let is = |name, v| ask(&*lattice, &elem, name, &[v]).unwrap() == 1;
            // Any value there may be is less than v, v, or greater.
            prop_assert_eq!(is("mayBeLess", v) || is("mayBe", v) || is("mayBeGreater", v), !lattice.is_bottom(&elem));
            prop_assert!(!is("mayBe", v) || is("mayBeLess", v + 1) && is("mayBeGreater", v - 1));
        }
    }
}

/// On small numbers the operations are not only sound but exact.
#[test]
fn small_intervals_are_exact() {
    let interval = lattice("Interval", &[]);
    let values = |elem: &[Word]| -> Vec<i64> {
        (-50..=50).filter(|&v| ask(&*interval, elem, "mayBe", &[v]).unwrap() == 1).collect()
    };
    for lo in -4..4 {
        for hi in lo..4 {
            for v in -5..5 {
                let mut elem = initial(&*interval);
                run(&*interval, &mut elem, "range", &[lo, hi]).unwrap();
                let with = |name| {
                    let mut result = elem.clone();
                    run(&*interval, &mut result, name, &[v]).unwrap();
                    values(&result)
                };
                assert_eq!(with("add"), (lo + v..=hi + v).collect::<Vec<_>>());
                assert_eq!(with("assumeLess"), (lo..=hi).filter(|&x| x < v).collect::<Vec<_>>());
                assert_eq!(with("assumeGreater"), (lo..=hi).filter(|&x| x > v).collect::<Vec<_>>());
                assert_eq!(with("assume"), (lo..=hi).filter(|&x| x == v).collect::<Vec<_>>());
                let ends = [lo * v, hi * v];
                let hull = *ends.iter().min().unwrap()..=*ends.iter().max().unwrap();
                assert_eq!(with("mul"), hull.collect::<Vec<_>>());
            }
        }
    }
}

/// A sign set admits a value after `add` only if some value of that sign leads there.
#[test]
fn signs_are_exact() {
    let sign = lattice("Sign", &[]);
    for seed in 0..200 {
        let before = sample(&*sign, seed);
        for v in -3..=3 {
            let mut after = before.clone();
            run(&*sign, &mut after, "add", &[v]).unwrap();
            for (name, test) in
                [("mayBeNeg", (|x| x < 0) as fn(i64) -> bool), ("mayBeZero", |x| x == 0), ("mayBePos", |x| x > 0)]
            {
                let reached = (-9..=9).any(|x| ask(&*sign, &before, "mayBe", &[x]).unwrap() == 1 && test(x + v));
                assert_eq!(ask(&*sign, &after, name, &[]).unwrap() == 1, reached);
            }
        }
    }
}

#[test]
fn elements_are_shown_as_one_writes_them() {
    let interval = lattice("Interval", &[]);
    let mut elem = initial(&*interval);
    assert_eq!(show(&*interval, &elem), "[0, 0]");
    run(&*interval, &mut elem, "forget", &[]).unwrap();
    assert_eq!(show(&*interval, &elem), "(-∞, ∞)");
    run(&*interval, &mut elem, "assumeLess", &[3]).unwrap();
    assert_eq!(show(&*interval, &elem), "(-∞, 2]");
    run(&*interval, &mut elem, "assume", &[5]).unwrap();
    assert_eq!(show(&*interval, &elem), "⊥");
    assert_eq!(
        run(&*interval, &mut elem, "range", &[5, 3]).unwrap_err().0,
        "range(5, 3) is empty: the lower end comes first"
    );

    let flat = lattice("Flat", &[]);
    let mut elem = initial(&*flat);
    run(&*flat, &mut elem, "set", &[-7]).unwrap();
    assert_eq!(show(&*flat, &elem), "-7");
    run(&*flat, &mut elem, "mul", &[i64::MAX]).unwrap();
    assert_eq!(show(&*flat, &elem), "⊤");
    run(&*flat, &mut elem, "mul", &[0]).unwrap();
    assert_eq!(show(&*flat, &elem), "0");

    let sign = lattice("Sign", &[]);
    let mut elem = initial(&*sign);
    assert_eq!(show(&*sign, &elem), "{0}");
    run(&*sign, &mut elem, "forget", &[]).unwrap();
    assert_eq!(show(&*sign, &elem), "{-, 0, +}");

    let parity = lattice("Parity", &[]);
    let mut elem = initial(&*parity);
    run(&*parity, &mut elem, "add", &[-1]).unwrap();
    assert_eq!(show(&*parity, &elem), "odd");
}

/// Widening is above both and grows at most three times: from nothing, and once at each end.
#[test]
fn widening_ends() {
    for seed in 0..2000u64 {
        let mut at = sample(&Interval, seed);
        let mut grew = 0;
        for next in 0..20 {
            let (old, new) = (at.clone(), sample(&Interval, seed * 20 + next));
            grew += usize::from(Interval.widen(&mut at, &new));
            assert!(
                Interval.leq(&old, &at) && Interval.leq(&new, &at),
                "{} {}",
                show(&Interval, &old),
                show(&Interval, &new)
            );
        }
        assert!(grew <= 3, "seed {seed}: {grew} times");
    }
}
