//! All engines agree with each other, and with enumeration where that says something.

use trellis_engine::wsts::{Engine, forward, lazy};
use trellis_model::counter::evidence::Verdict;

use crate::generator::{Kind, Seen, ask, engines, enumerate, runs, show, system};

fn word(v: &Verdict) -> Option<bool> {
    match v {
        Verdict::Safe(_) => Some(true),
        Verdict::Unsafe(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// Of so many systems: how many are safe, unsafe, undecided by somebody who should decide.
fn compare(seeds: std::ops::Range<u64>, kind: Kind) -> [usize; 3] {
    let mut count = [0; 3];
    for seed in seeds {
        let system = system(seed, kind);
        let seen = enumerate(&system, 7);
        let mut answer = match seen {
            Seen::Bad => Some(false),
            Seen::Good => Some(true),
            Seen::Small => None,
        };
        let plain = !kind.transfers && !kind.upper_bounds;
        let mut all = engines(plain);
        if !plain {
            all.extend([true, false].map(|guide| Engine::Forward(forward::Options { guide })));
        }
        all.extend([Engine::Equation, Engine::Exact]);
        let linear = Engine::Lazy(lazy::Options { linear: true, ..lazy::Options::default() });
        // A solver takes its time.
        if seed % 20 == 0 {
            all.push(linear);
        }
        for engine in all {
            let bound = match engine {
                Engine::Forward(_) | Engine::Exact => Some(2000),
                e if e == linear => Some(100),
                _ => None,
            };
            let outcome = ask(&system, &engine, bound);
            match (word(&outcome.verdict), answer) {
                (Some(now), Some(before)) => {
                    assert_eq!(now, before, "seed {seed}, {engine}, enumeration {seen:?}\n{}", show(&system));
                }
                (Some(now), None) => answer = Some(now),
                (None, _) => {
                    let must = engines(plain).contains(&engine) && system.is_monotone();
                    assert!(!must, "seed {seed}, {engine}: {:?}\n{}", outcome.verdict, show(&system));
                }
            }
        }
        count[answer.map_or(2, |safe| usize::from(!safe))] += 1;
    }
    count
}

#[test]
fn nets() {
    let count = compare(0..runs(100), Kind { transfers: false, upper_bounds: false });
    assert!(count[2] == 0 && count[0] > 0 && count[1] > 0, "{count:?}");
}

#[test]
fn transfers_and_resets() {
    let count = compare(10_000..10_000 + runs(100), Kind { transfers: true, upper_bounds: false });
    assert!(count[2] == 0 && count[0] > 0 && count[1] > 0, "{count:?}");
}

#[test]
fn upper_bounds() {
    let count = compare(20_000..20_000 + runs(100), Kind { transfers: true, upper_bounds: true });
    assert!(count[0] > 0 && count[1] > 0, "{count:?}");
}

/// 003 Theorem 1 says that it does; here it is tried.
#[test]
fn lazy_abstraction_ends() {
    for seed in 30_000..30_000 + runs(100) {
        let system = system(seed, Kind { transfers: seed % 2 == 0, upper_bounds: false });
        for project in [false, true] {
            let options = lazy::Options { project, ..lazy::Options::default() };
            let outcome = ask(&system, &Engine::Lazy(options), Some(20_000_000));
            assert!(word(&outcome.verdict).is_some(), "seed {seed}: {:?}\n{}", outcome.verdict, show(&system));
        }
    }
}
