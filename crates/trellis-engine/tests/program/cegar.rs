//! All configurations of abstraction refinement agree with enumeration, and their evidence is accepted.

use std::time::Duration;

use trellis_check::program::{Rejection, certify, replay};
use trellis_engine::program::cegar::{Domain, Initial, Options, Pruning, Scope, Search, Split};
use trellis_engine::program::lazy;
use trellis_engine::program::post::Mode;
use trellis_engine::program::refine::Refinement;
use trellis_engine::program::{Engine, Outcome, check};
use trellis_meter::Meter;
use trellis_model::cfa::Cfa;
use trellis_model::evidence::Verdict;

use crate::generator::{Random, can_fail, random, runs};
use crate::models;

/// Says whether it is safe, if the engine does; the evidence has been checked.
pub fn answer(cfa: &Cfa, outcome: &Outcome, who: &str) -> Option<bool> {
    match &outcome.verdict {
        Verdict::Safe(certificate) => {
            match certify(cfa, certificate, &Meter::unlimited().time(Duration::from_secs(20))) {
                Ok(_) => Some(true),
                // Then a report says unknown.
                Err(Rejection::Undecided(_)) => None,
                Err(why) => panic!("{who}: {why}"),
            }
        }
        Verdict::Unsafe(trace) => {
            replay(cfa, trace).unwrap_or_else(|why| panic!("{who}: {why}"));
            Some(false)
        }
        Verdict::Unknown(_) => None,
    }
}

/// The configuration with this number.
pub fn configuration(mut n: usize) -> Options {
    let mut pick = |of: usize| {
        let k = n % of;
        n /= of;
        k
    };
    let modes = [Mode::Cartesian, Mode::Boolean, Mode::Split];
    let domain = match pick(8) {
        0 => Domain::Explicit,
        n @ 1..=3 => Domain::Predicates(modes[n - 1]),
        n @ 4..=6 => Domain::Product(modes[n - 4]),
        _ => Domain::Intervals,
    };
    Options {
        domain,
        refinement: Refinement::ALL[pick(6)],
        search: [Search::Bfs, Search::Dfs, Search::Error][pick(3)],
        scope: [Scope::Local, Scope::Global][pick(2)],
        split: [Split::Conjuncts, Split::Atoms, Split::Whole][pick(3)],
        pruning: [Pruning::Lazy, Pruning::Full][pick(2)],
        initial: [Initial::Empty, Initial::Property, Initial::Assumes][pick(3)],
        max_values: [64, 2][pick(2)],
    }
}

/// How many configurations there are.
pub const ALL: usize = 8 * 6 * 3 * 2 * 3 * 2 * 3 * 2;

/// Lazy abstraction, in all its configurations.
#[test]
fn lazy_abstraction_agrees_with_enumeration() {
    let (mut decided, mut unknown) = (0, 0);
    let first: u64 = std::env::var("SEED").map_or(0, |n| n.parse().expect("a number"));
    for seed in first..first + runs(250) {
        let mut cfa = random(seed, true);
        let mut r = Random::new(seed);
        let variables = cfa.variables.clone();
        cfa.control = variables.into_iter().filter(|_| r.chance(20)).collect();
        let fails = can_fail(&cfa);
        for k in 0..3 {
            let n = seed as usize * 3 + k;
            let options = lazy::Options {
                refinement: Refinement::ALL[n % 4],
                depth_first: (n / 4).is_multiple_of(2),
                force: (n / 8).is_multiple_of(2),
            };
            let who = format!("seed {seed}, {options:?}");
            let mut budget = Meter::unlimited().time(Some(Duration::from_secs(5))).states(Some(2000));
            let outcome = check(&cfa, &Engine::Lazy(options), &mut budget);
            match answer(&cfa, &outcome, &who) {
                None => unknown += 1,
                Some(safe) => {
                    decided += 1;
                    assert_eq!(safe, !fails, "{who}");
                }
            }
        }
    }
    println!("{decided} decided, {unknown} unknown");
    assert!(unknown * 10 < decided, "{decided} decided, {unknown} unknown");
}

#[test]
fn all_configurations_agree_with_enumeration() {
    let (mut decided, mut unknown, mut unsafe_) = (0, 0, 0);
    let first: u64 = std::env::var("SEED").map_or(0, |n| n.parse().expect("a number"));
    for seed in first..first + runs(250) {
        let mut cfa = random(seed, true);
        let mut r = Random::new(seed);
        let variables = cfa.variables.clone();
        cfa.control = variables.into_iter().filter(|_| r.chance(20)).collect();
        let fails = can_fail(&cfa);
        unsafe_ += usize::from(fails);
        for k in 0..6 {
            let options = configuration((seed as usize * 6 + k) * 1_000_003 % ALL);
            let who = format!("seed {seed}, {options:?}");
            let mut budget = Meter::unlimited().time(Some(Duration::from_secs(5))).states(Some(2000));
            let outcome = check(&cfa, &Engine::Cegar(options), &mut budget);
            match answer(&cfa, &outcome, &who) {
                None => {
                    unknown += 1;
                    if std::env::var("SHOW").is_ok() {
                        println!("{who}: {:?}", outcome.verdict);
                    }
                }
                Some(safe) => {
                    decided += 1;
                    assert_eq!(safe, !fails, "{who}");
                }
            }
        }
    }
    println!("{decided} decided, {unknown} unknown; {unsafe_} automata are unsafe");
    assert!(unknown * 10 < decided, "{decided} decided, {unknown} unknown");
}

/// Intervals decide most of them too, and what they say is so.
#[test]
fn intervals_agree_with_enumeration() {
    let (mut decided, mut unknown) = (0, 0);
    for seed in 0..runs(250) {
        let cfa = random(seed, true);
        let fails = can_fail(&cfa);
        let options = Options { domain: Domain::Intervals, ..configuration(seed as usize * 1_000_003 % ALL) };
        let who = format!("seed {seed}, {options:?}");
        let mut budget = Meter::unlimited().time(Some(Duration::from_secs(5))).states(Some(2000));
        match answer(&cfa, &check(&cfa, &Engine::Cegar(options), &mut budget), &who) {
            None => unknown += 1,
            Some(safe) => {
                decided += 1;
                assert_eq!(safe, !fails, "{who}");
            }
        }
    }
    println!("{decided} decided, {unknown} unknown");
    assert!(unknown < decided, "{decided} decided, {unknown} unknown");
}

/// Engines in turns, on one thread and on two.
#[test]
fn the_portfolio_agrees_with_enumeration() {
    for seed in 0..runs(60).min(200) {
        let cfa = random(seed, true);
        let engine = Engine::Portfolio(1 + seed as usize % 2);
        let mut budget = Meter::unlimited().time(Some(Duration::from_secs(20)));
        let who = format!("seed {seed}, {engine:?}");
        let safe = answer(&cfa, &check(&cfa, &engine, &mut budget), &who);
        assert_eq!(safe, Some(!can_fail(&cfa)), "{who}");
    }
}

/// Domains × refinements × searches on the public models that are small enough: a few for each, with `TRELLIS_RUNS` all.
#[test]
fn configurations_agree_on_public_models() {
    let (mut decided, mut unknown) = (0, 0);
    let step = if std::env::var("TRELLIS_RUNS").is_ok() { 1 } else { 11 };
    for (i, (name, cfa, safe)) in models::automata().into_iter().chain(models::systems()).enumerate() {
        for n in (i % step..8 * 6 * 3).step_by(step) {
            let options = configuration(n);
            let who = format!("{name}, {options:?}");
            let mut budget = Meter::unlimited().time(Some(Duration::from_millis(300))).states(Some(300));
            match answer(&cfa, &check(&cfa, &Engine::Cegar(options), &mut budget), &who) {
                None => unknown += 1,
                Some(said) => {
                    decided += 1;
                    assert_eq!(Some(said), safe.or(Some(said)), "{who}");
                }
            }
        }
    }
    println!("{decided} decided, {unknown} unknown");
    assert!(unknown <= decided, "{decided} decided, {unknown} unknown");
}
