//! Thread transition systems: what they mean as counter systems, and what they mean.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use trellis_engine::wsts::{Engine, backward};
use trellis_model::counter::evidence::Verdict;
use trellis_syntax::diag::Sources;
use trellis_syntax::tts;

use crate::generator::{Dice, ask, runs};

/// From a shared and a local state to others, an arrow, and where the others may go.
struct Transition {
    from: (u32, u32),
    arrow: &'static str,
    to: (u32, u32),
    moves: BTreeMap<u32, Vec<u32>>,
}

/// A shared state and the local states of all threads, sorted.
type State = (u32, Vec<u32>);

const SHARED: u64 = 2;
const LOCAL: u64 = 3;
const THREADS: usize = 3;
/// Spawning stops here.
const MOST: usize = 5;

fn transitions(dice: &mut Dice) -> Vec<Transition> {
    let state = |dice: &mut Dice| (dice.roll(SHARED) as u32, dice.roll(LOCAL) as u32);
    let mut one = |_| {
        let (from, to) = (state(dice), state(dice));
        let arrow = ["->", "->", "->", "~>", "+>"][dice.roll(5) as usize];
        let mut moves: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for _ in 0..if arrow == "->" { dice.roll(5) } else { 0 } {
            moves.entry(dice.roll(LOCAL) as u32).or_default().push(dice.roll(LOCAL) as u32);
        }
        Transition { from, arrow, to, moves }
    };
    (0..3).map(&mut one).collect()
}

fn write(all: &[Transition]) -> String {
    let mut text = format!("{SHARED} {LOCAL}\n");
    for t in all {
        write!(text, "{} {} {} {} {}", t.from.0, t.from.1, t.arrow, t.to.0, t.to.1).unwrap();
        for (l, all) in &t.moves {
            all.iter().for_each(|to| write!(text, " {l} ~> {to}").unwrap());
        }
        text += "\n";
    }
    text
}

/// All states after a transition, thread by thread.
fn after(t: &Transition, (shared, threads): &State) -> Vec<State> {
    if *shared != t.from.0 || (t.arrow != "~>" && !threads.contains(&t.from.1)) {
        return vec![];
    }
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    let active = threads.iter().position(|l| *l == t.from.1);
    for (i, l) in threads.iter().enumerate() {
        let choices = match t.arrow {
            "->" if Some(i) == active => vec![t.to.1],
            "~>" if *l == t.from.1 => vec![t.to.1],
            "+>" => vec![*l],
            _ => t.moves.get(l).cloned().unwrap_or(vec![*l]),
        };
        all = all.iter().flat_map(|s| choices.iter().map(|c| [&s[..], &[*c]].concat())).collect();
    }
    let finish = |mut s: Vec<u32>| {
        if t.arrow == "+>" {
            s.push(t.to.1);
        }
        s.sort_unstable();
        (t.to.0, s)
    };
    all.into_iter().map(finish).collect()
}

#[test]
fn thread_transition_systems_mean_what_they_say() {
    let mut count = [0; 2];
    for seed in 0..runs(300) {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 3);
        let all = transitions(&mut dice);
        let goal = (dice.roll(SHARED) as u32, vec![dice.roll(LOCAL) as u32, dice.roll(LOCAL) as u32]);
        let start: State = (0, vec![0; THREADS]);
        let (mut seen, mut waiting, mut whole) = (HashSet::from([start.clone()]), vec![start], true);
        while let Some(s) = waiting.pop() {
            for next in all.iter().flat_map(|t| after(t, &s)) {
                if next.1.len() > MOST {
                    whole = false;
                } else if seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
        let enough =
            |s: &State, l: u32| s.1.iter().filter(|x| **x == l).count() >= goal.1.iter().filter(|x| **x == l).count();
        let covered = seen.iter().any(|s| s.0 == goal.0 && goal.1.iter().all(|l| enough(s, *l)));

        let text = write(&all);
        let mut sources = Sources::default();
        let id = sources.add("test.tts", text.as_str());
        let (mut system, size) = tts::parse(&sources, id).expect("a system");
        let id = sources.add("start", format!("0|{}", vec!["0"; THREADS].join(",")));
        tts::parse_start(&sources, id, size, &mut system).expect("a start");
        let id = sources.add("target", format!("{}|{},{}", goal.0, goal.1[0], goal.1[1]));
        system.target = vec![tts::parse_target(&sources, id, size).expect("a target")];
        assert!(system.claimed.iter().all(|weights| system.changes(weights).is_none()), "{text}");
        let verdict = ask(&system, &Engine::Backward(backward::Options::default()), None).verdict;
        let found = match verdict {
            Verdict::Unsafe(_) => true,
            Verdict::Safe(_) => false,
            Verdict::Unknown(why) => panic!("{why}\n{text}"),
        };
        if whole || covered {
            assert_eq!(found, covered, "seed {seed}, target {goal:?}\n{text}");
            count[usize::from(found)] += 1;
        }
    }
    assert!(count.iter().all(|n| *n > 20), "{count:?}");
}
