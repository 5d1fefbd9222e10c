//! Random counter systems, and their answer by enumeration.

use std::collections::{HashSet, VecDeque};

use trellis_engine::wsts::{Engine, Outcome, backward, check, forward, lazy};
use trellis_meter::Meter;
use trellis_model::counter::evidence::Verdict;
use trellis_model::counter::interpret::{is_bad, step};
use trellis_model::counter::{Interval, Rule, System, Update, Vector};

pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

pub fn runs(few: u64) -> u64 {
    std::env::var("TRELLIS_RUNS").map_or(few, |n| n.parse().expect("a number"))
}

/// What a system may contain.
#[derive(Clone, Copy)]
pub struct Kind {
    pub transfers: bool,
    pub upper_bounds: bool,
}

pub fn system(seed: u64, kind: Kind) -> System {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
    let vars = 2 + dice.roll(3) as u32;
    let mut rules = vec![];
    for _ in 0..2 + dice.roll(4) {
        let mut rule = Rule::default();
        for v in 0..vars {
            if dice.roll(3) == 0 {
                let low = dice.roll(3);
                let high = (kind.upper_bounds && dice.roll(3) == 0).then(|| low + dice.roll(2));
                rule.guards.push((v, Interval { low, high }));
            }
            let update = match dice.roll(if kind.transfers { 8 } else { 5 }) {
                0 | 1 => Update { sources: vec![v], constant: 1 + dice.roll(2) as i64 },
                2 | 3 => Update { sources: vec![v], constant: -1 - dice.roll(2) as i64 },
                4 => continue,
                5 => Update { sources: vec![], constant: dice.roll(2) as i64 },
                _ => {
                    let sources = (0..vars).filter(|_| dice.roll(2) == 0).collect();
                    Update { sources, constant: dice.roll(3) as i64 - 1 }
                }
            };
            rule.updates.push((v, update));
        }
        rules.push(rule);
    }
    let start = |dice: &mut Dice| match dice.roll(6) {
        0 => Interval::at_least(dice.roll(2)),
        1 => Interval { low: dice.roll(2), high: Some(2) },
        2 => Interval::exactly(1),
        _ => Interval::exactly(0),
    };
    let initial = (0..vars).map(|_| start(&mut dice)).collect();
    let mut target = vec![];
    for _ in 0..1 + dice.roll(2) {
        target.push(Vector::new((0..vars).map(|v| (v, dice.roll(6).saturating_sub(2))).collect()));
    }
    System { names: (0..vars).map(|v| format!("x{v}")).collect(), rules, initial, target, ..System::default() }
}

/// What enumeration says, with variables up to a limit.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Seen {
    /// A target is covered.
    Bad,
    /// No target is covered, and nothing was left out.
    Good,
    /// No target is covered by small states.
    Small,
}

pub fn enumerate(system: &System, most: u64) -> Seen {
    let mut all = true;
    let mut starts = vec![vec![]];
    for i in &system.initial {
        let high = i.high.unwrap_or_else(|| {
            all = false;
            most.min(3)
        });
        starts = starts.iter().flat_map(|s: &Vec<u64>| (i.low..=high).map(|n| [&s[..], &[n]].concat())).collect();
    }
    let mut seen: HashSet<Vec<u64>> = starts.iter().cloned().collect();
    let mut waiting: VecDeque<Vec<u64>> = starts.into();
    while let Some(s) = waiting.pop_front() {
        if is_bad(system, &s) {
            return Seen::Bad;
        }
        for r in 0..system.rules.len() as u32 {
            let Some(next) = step(system, r, &s).unwrap() else { continue };
            if next.iter().any(|n| *n > most) || seen.len() > 20_000 {
                all = false;
            } else if seen.insert(next.clone()) {
                waiting.push_back(next);
            }
        }
    }
    if all { Seen::Good } else { Seen::Small }
}

/// Everybody who always ends, if the system only adds and subtracts, or at all.
pub fn engines(plain: bool) -> Vec<Engine> {
    let mut all = vec![
        Engine::Backward(backward::Options { prune: false }),
        Engine::Backward(backward::Options { prune: true }),
        Engine::Lazy(lazy::Options::default()),
        Engine::Lazy(lazy::Options { start_atoms: true, ..lazy::Options::default() }),
        Engine::Lazy(lazy::Options { equal_depth: true, ..lazy::Options::default() }),
        Engine::Lazy(lazy::Options { merged: true, ..lazy::Options::default() }),
        Engine::Lazy(lazy::Options { layers: true, ..lazy::Options::default() }),
        Engine::Lazy(lazy::Options { project: true, ..lazy::Options::default() }),
    ];
    all.push(Engine::Frames);
    if plain {
        all.extend([true, false].map(|guide| Engine::Forward(forward::Options { guide })));
    }
    all
}

/// Asks, and has the evidence checked.
pub fn ask(system: &System, engine: &Engine, states: Option<u64>) -> Outcome {
    // Whoever takes so long does not end.
    let time = Some(std::time::Duration::from_secs(30));
    let outcome = check(system, engine, &mut Meter::unlimited().states(states).time(time));
    match &outcome.verdict {
        Verdict::Safe(c) => {
            if let Err(why) = trellis_check::counter::certify(system, c) {
                panic!("{engine}: {why}: {c:?}\n{}", show(system));
            }
        }
        Verdict::Unsafe(t) => {
            if let Err(why) = trellis_check::counter::replay(system, t) {
                panic!("{engine}: {why}: {t:?}\n{}", show(system));
            }
        }
        Verdict::Unknown(_) => {}
    }
    outcome
}

pub fn show(system: &System) -> String {
    let rules: Vec<String> = (0..system.rules.len() as u32).map(|r| system.describe(r)).collect();
    format!("{}\ninit {:?}\ntarget {:?}", rules.join("\n"), system.initial, system.target)
}
