//! Lossy channel systems: `pre` by its definition, engines against bounded enumeration, evidence, the bundled models.

use std::collections::{HashSet, VecDeque};

use trellis_check::channel::{Rejection, certify, replay};
use trellis_engine::wsts::lazy::{Control, Options};
use trellis_engine::wsts::lossy::{Answer, backward, lazy};
use trellis_meter::Meter;
use trellis_model::channel::interpret::{is_bad, step, steps};
use trellis_model::channel::{Action, Certificate, Named, Op, Pattern, Rule, State, System, pre};
use trellis_model::evidence::Verdict;
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::lcs;

use crate::generator::{Dice, runs};
use crate::models::root;

const LETTERS: u64 = 2;

fn named(name: &str, n: u64) -> Named {
    Named { name: name.into(), values: (0..n).map(|i| format!("{name}{i}")).collect() }
}

fn word(dice: &mut Dice, most: u64) -> Vec<u32> {
    (0..dice.roll(most + 1)).map(|_| dice.roll(LETTERS) as u32).collect()
}

fn pattern(dice: &mut Dice, s: &System) -> Pattern {
    let place = |dice: &mut Dice, p: &Named| (dice.roll(3) > 0).then(|| dice.roll(p.values.len() as u64) as u32);
    let at = s.processes.iter().map(|p| place(dice, p)).collect();
    Pattern { at, words: s.channels.iter().map(|_| word(dice, 2)).collect() }
}

fn system(seed: u64) -> System {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
    let processes: Vec<Named> =
        (0..1 + dice.roll(2)).map(|p| named(["p", "q"][p as usize], 2 + dice.roll(2))).collect();
    let channels: Vec<Named> = (0..1 + dice.roll(2)).map(|c| named(["c", "d"][c as usize], LETTERS)).collect();
    let mut rules = vec![];
    for _ in 0..2 + dice.roll(5) {
        let mut moves = vec![];
        let first = dice.roll(processes.len() as u64) as usize;
        for (p, process) in processes.iter().enumerate() {
            if p == first || dice.roll(3) == 0 {
                let n = process.values.len() as u64;
                moves.push((p, dice.roll(n) as u32, dice.roll(n) as u32));
            }
        }
        let mut ops = vec![];
        for c in 0..channels.len() {
            let sends = dice.roll(2) == 0;
            for _ in 0..[0, 1, 1, 1, 2][dice.roll(5) as usize] {
                let a = dice.roll(LETTERS) as u32;
                ops.push(if sends { Op::Send(c, a) } else { Op::Receive(c, a) });
            }
        }
        rules.push(Rule { name: None, moves, ops, line: 1 });
    }
    let at = processes.iter().map(|p| dice.roll(p.values.len() as u64) as u32).collect();
    let words = channels.iter().map(|_| word(&mut dice, 1)).collect();
    let mut s = System { processes, channels, rules, initial: State { at, words }, target: vec![] };
    s.target = (0..1 + dice.roll(2)).map(|_| pattern(&mut dice, &s)).collect();
    s
}

/// Can something bad be reached with at most so many messages in a channel?
fn enumerate(s: &System, longest: usize) -> bool {
    let mut seen = HashSet::from([s.initial.clone()]);
    let mut left = VecDeque::from([s.initial.clone()]);
    while let Some(state) = left.pop_front() {
        if is_bad(s, &state) {
            return true;
        }
        for (_, next) in steps(s, &state) {
            if next.words.iter().all(|w| w.len() <= longest) && seen.insert(next.clone()) {
                left.push_back(next);
            }
        }
    }
    false
}

/// All answers, their evidence checked.
fn ask(s: &System) -> Vec<(String, Option<bool>)> {
    let meter = || Meter::unlimited().states(Some(20_000));
    let mut all: Vec<(String, Answer)> = vec![("backward".into(), backward(s, &mut meter()).0)];
    for control in [Control::Breadth, Control::Depth, Control::Random(7)] {
        for equal_depth in [false, true] {
            let options = Options { control, equal_depth, ..Options::default() };
            all.push((options.to_string(), lazy(s, &options, false, &mut meter()).0));
        }
    }
    let check = |(name, answer): (String, Answer)| {
        let safe = match answer {
            Verdict::Safe(proof) => {
                certify(s, &proof).unwrap_or_else(|why| panic!("{name}: {why}\n{s:#?}\n{proof:#?}"));
                Some(true)
            }
            Verdict::Unsafe(run) => {
                replay(s, &run).unwrap_or_else(|why| panic!("{name}: {why}\n{s:#?}"));
                Some(false)
            }
            Verdict::Unknown(_) => None,
        };
        (name, safe)
    };
    all.into_iter().map(check).collect()
}

#[test]
fn random_systems_against_bounded_enumeration() {
    let mut found = [0, 0];
    for seed in 0..runs(200) {
        let s = system(seed);
        let reached = enumerate(&s, 3);
        for (name, safe) in ask(&s) {
            // Breadth first and backwards there is always an answer.
            let ends = name.starts_with("LA[BF]") || name == "backward";
            assert!(safe.is_some() || !ends, "{seed}: {name} has no answer");
            // What is checked is right; and what enumeration finds, all find.
            assert!(safe.is_none_or(|safe| !(safe && reached)), "{seed}: {name}");
        }
        found[usize::from(reached)] += 1;
    }
    assert!(found.iter().all(|n| *n > 10), "{found:?}");
}

#[test]
fn pre_is_what_leads_there_after_losses() {
    let words: Vec<Vec<u32>> =
        (0..=3_u32).flat_map(|n| (0..2_u32.pow(n)).map(move |bits| (0..n).map(|i| bits >> i & 1).collect())).collect();
    let subwords = |w: &[u32]| -> Vec<Vec<u32>> {
        let some = |mask: &u32| (0..w.len()).filter(|i| mask >> i & 1 == 1).map(|i| w[i]).collect();
        (0..1_u32 << w.len()).map(|mask| some(&mask)).collect()
    };
    for seed in 0..runs(60) {
        let s = system(seed);
        let mut dice = Dice(seed);
        let m = pattern(&mut dice, &s);
        for (r, rule) in s.rules.iter().enumerate() {
            let before = pre(rule, &m);
            let at: Vec<u32> = s.initial.at.clone();
            let at = rule.moves.iter().fold(at, |mut at, (p, from, _)| {
                at[*p] = *from;
                at
            });
            for word in &words {
                let state = State { at: at.clone(), words: s.channels.iter().map(|_| word.clone()).collect() };
                let mut losses: Vec<Vec<Vec<u32>>> = vec![vec![]];
                for w in &state.words {
                    let with = |l: &Vec<Vec<u32>>| {
                        subwords(w).into_iter().map(|v| l.iter().cloned().chain([v]).collect()).collect::<Vec<_>>()
                    };
                    losses = losses.iter().flat_map(with).collect();
                }
                let leads = losses.into_iter().any(|words| {
                    let lost = State { at: at.clone(), words };
                    step(&s, &lost, Action::Take(r as u32)).is_some_and(|next| m.is_below(&next))
                });
                assert_eq!(
                    before.as_ref().is_some_and(|p| p.is_below(&state)),
                    leads,
                    "{seed}: {state:?} {rule:?} {m:?}"
                );
            }
        }
    }
}

fn load(name: &str) -> System {
    let path = root().join("models/channels").join(name);
    let mut sources = Sources::default();
    let id = sources.add(name, std::fs::read_to_string(path).expect("it is there"));
    lcs::parse(&sources, id).unwrap_or_else(|d| panic!("{}", render(&d, &sources, false)))
}

#[test]
fn the_bundled_models() {
    let rows = std::fs::read_to_string(root().join("models/channels/EXPECTED.tsv")).expect("EXPECTED.tsv");
    let mut count = 0;
    for (name, verdict) in rows.lines().skip(1).filter_map(|l| l.split_once('\t')) {
        let s = load(name);
        let right = verdict == "safe";
        let (backward, _) = backward(&s, &mut Meter::unlimited());
        assert!(matches!((backward, right), (Verdict::Safe(_), true) | (Verdict::Unsafe(_), false)), "{name}");
        // The retransmissions take lazy abstraction longer than a test should.
        if name != "brp.lcs" {
            let (lazy, ..) = lazy(&s, &Options::default(), false, &mut Meter::unlimited());
            assert!(matches!((lazy, right), (Verdict::Safe(_), true) | (Verdict::Unsafe(_), false)), "{name}");
        }
        count += 1;
    }
    assert!(count >= 5);
}

#[test]
fn certificates_with_less_in_them_are_none() {
    for name in ["abp.lcs", "brp.lcs"] {
        let s = load(name);
        let Verdict::Safe(whole) = backward(&s, &mut Meter::unlimited()).0 else { panic!("{name} is safe") };
        for without in 0..whole.regions[0].len() {
            let mut less: Certificate = whole.clone();
            less.regions[0].remove(without);
            assert!(certify(&s, &less).is_err(), "{name}: {without}");
        }
        assert!(certify(&s, &Certificate { regions: vec![] }).is_err());
        let nothing = Certificate { regions: vec![vec![s.anything()]] };
        assert!(matches!(certify(&s, &nothing), Err(Rejection::Leaves(None, _))), "{name}");
    }
}
