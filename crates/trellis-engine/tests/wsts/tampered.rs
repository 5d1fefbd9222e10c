//! The checker against made-up evidence: what it accepts is true, whoever wrote it.

use trellis_check::counter::{certify, replay};
use trellis_engine::wsts::Engine;
use trellis_model::counter::evidence::{Bound, Certificate, Trace, Verdict};
use trellis_model::counter::{OMEGA, Vector};

use crate::generator::{Dice, Kind, Seen, ask, enumerate, runs, show, system};

fn vector(dice: &mut Dice, vars: u32, omega: bool) -> Vector {
    let number = |dice: &mut Dice| match dice.roll(8) {
        7 if omega => OMEGA,
        n => n.saturating_sub(4),
    };
    Vector::new((0..vars).map(|v| (v, number(dice))).collect())
}

/// Whatever may be in a file.
fn certificate(dice: &mut Dice, vars: u32) -> Certificate {
    if dice.roll(4) == 0 {
        let fixed: Vec<u32> = (0..vars).filter(|_| dice.roll(3) > 0).collect();
        let top = |dice: &mut Dice| {
            let v = vector(dice, vars, true);
            let plain = |(x, n)| if fixed.contains(&x) && n == OMEGA { (x, 1) } else { (x, n) };
            Vector::new(v.iter().map(plain).collect())
        };
        let tops = (0..1 + dice.roll(6)).map(|_| top(dice)).collect();
        return Certificate::Exact { fixed, tops };
    }
    if dice.roll(3) == 0 {
        return Certificate::Below((0..1 + dice.roll(3)).map(|_| vector(dice, vars, true)).collect());
    }
    let bound = |dice: &mut Dice| {
        let weights = (0..vars).map(|v| (v, dice.roll(4) as i64 - 1)).filter(|w| w.1 != 0).collect();
        let trap = |dice: &mut Dice| (1 + dice.roll(2) as i64, (0..vars).filter(|_| dice.roll(2) == 0).collect());
        let traps = (0..dice.roll(3)).map(|_| trap(dice)).collect();
        Bound { weights, traps }
    };
    let bounds = (0..dice.roll(3)).map(|_| bound(dice)).collect();
    let basis = (0..dice.roll(4)).map(|_| vector(dice, vars, false)).collect();
    Certificate::Above { bounds, basis }
}

#[test]
fn what_is_accepted_is_true() {
    let mut accepted = 0;
    for seed in 0..runs(400) {
        let kind = Kind { transfers: seed % 2 == 0, upper_bounds: seed % 3 == 0 };
        let system = system(40_000 + seed, kind);
        let vars = system.names.len() as u32;
        let mut dice = Dice(seed);
        let bad = enumerate(&system, 6) == Seen::Bad;
        for _ in 0..60 {
            let mut c = certificate(&mut dice, vars);
            // Half of the time it is at least about the target.
            if let (Certificate::Above { basis, .. }, 0) = (&mut c, dice.roll(2)) {
                basis.extend(system.target.iter().cloned());
            }
            if certify(&system, &c).is_ok() {
                assert!(!bad, "seed {seed}: {c:?}\n{}", show(&system));
                accepted += 1;
            }
            let initial = (0..vars).map(|_| dice.roll(3)).collect();
            let rules = (0..dice.roll(4)).map(|_| dice.roll(system.rules.len() as u64 + 1) as u32).collect();
            if replay(&system, &Trace { initial, rules, times: vec![] }).is_ok() {
                assert!(enumerate(&system, 40) == Seen::Bad, "seed {seed}\n{}", show(&system));
            }
        }
        // A certificate about variables that there are not is refused, not followed.
        let c = Certificate::Above { bounds: vec![], basis: vec![Vector::new(vec![(vars, 1)])] };
        assert!(certify(&system, &c).is_err());
    }
    assert!(accepted > 0);
}

/// What a search keeps exactly must be all that upper bounds depend on, and every state counts.
#[test]
fn certificates_that_fix_too_little_or_lack_a_state_are_refused() {
    let (mut whole, mut less) = (0, 0);
    for seed in 0..runs(200) {
        let system = system(60_000 + seed, Kind { transfers: seed % 2 == 0, upper_bounds: true });
        let outcome = ask(&system, &Engine::Exact, Some(500));
        let Verdict::Safe(Certificate::Exact { fixed, tops }) = outcome.verdict else { continue };
        whole += 1;
        for i in 0..fixed.len() {
            let mut fewer = fixed.clone();
            fewer.remove(i);
            let c = Certificate::Exact { fixed: fewer, tops: tops.clone() };
            // Where it is accepted all the same, the variable was no part of what bounds depend on.
            let needed = system.exact_part()[fixed[i] as usize];
            assert!(!needed || certify(&system, &c).is_err(), "seed {seed}\n{}", show(&system));
        }
        for i in 0..tops.len() {
            let mut fewer = tops.clone();
            fewer.remove(i);
            less += usize::from(certify(&system, &Certificate::Exact { fixed: fixed.clone(), tops: fewer }).is_err());
        }
        let mut nothing = system.clone();
        nothing.target.clear();
        assert!(certify(&nothing, &Certificate::Exact { fixed, tops }).is_err());
    }
    assert!(whole > 5 && less > 5, "{whole} {less}");
}
