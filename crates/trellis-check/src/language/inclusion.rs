//! Is every word of one automaton a word of another? Decided exactly, by Ramsey's theorem, for automata that are small (Abdulla and others,
//! TACAS 2010; Fogarty and Vardi, TACAS 2010).
//!
//! A finite word is known by its *profile*: from which state of the second automaton it leads to which, and whether a mark was taken. If
//! a word is missing, so is one `u v v v …` where `u` and `v` have profiles that occur; these are composed edge by edge. A
//! profile with more in it than another one is not needed.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use trellis_model::ltl::{Buchi, Cube, Edge, Letter, Word};

use super::Failure;
use super::simulation::split;
use super::tableau::trimmed;

/// More profiles than this, or more work, and nothing is said.
const MAX_PROFILES: usize = 10_000;
const MAX_WORK: usize = 60_000_000;

/// From each state, to which states (bits), and to which of them with a mark.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Profile {
    to: Vec<u64>,
    marked: Vec<u64>,
}

impl Profile {
    fn then(&self, other: &Profile) -> Profile {
        let (mut to, mut marked) = (vec![0; self.to.len()], vec![0; self.to.len()]);
        for s in 0..self.to.len() {
            for m in bits(self.to[s]) {
                to[s] |= other.to[m];
                marked[s] |= if self.marked[s] >> m & 1 == 1 { other.to[m] } else { other.marked[m] };
            }
        }
        Profile { to, marked }
    }

    fn within(&self, other: &Profile) -> bool {
        let less = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(a, b)| a & !b == 0);
        less(&self.to, &other.to) && less(&self.marked, &other.marked)
    }
}

fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            bit
        })
    })
}

/// Finite words of the first automaton: from where to where, with a mark or without, and how the second takes them.
#[derive(Debug, Clone)]
struct Arc {
    from: u32,
    to: u32,
    marked: bool,
    profile: Profile,
    word: Vec<Letter>,
}

/// A word of the first automaton that the second does not accept; nothing if there is none.
pub fn missing(first: &Buchi, second: &Buchi) -> Result<Option<Word>, Failure> {
    let (first, second) = (trimmed(&one_mark(first)), trimmed(&one_mark(second)));
    if second.edges.len() > 64 {
        return Err(Failure);
    }
    let letters = letters(&first, &second)?;
    let mut arcs: Vec<Arc> = vec![];
    let mut by_start: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let mut work = 0;
    let mut waiting = letters.clone();
    let mut next = 0;
    loop {
        while let Some(arc) = waiting.pop() {
            let same = |o: &Arc| o.to == arc.to && (o.marked || !arc.marked);
            let known = by_start.entry(arc.from).or_default();
            work += known.len();
            if !known.iter().any(|&n| same(&arcs[n]) && arcs[n].profile.within(&arc.profile)) {
                known.push(arcs.len());
                arcs.push(arc);
            }
            if arcs.len() > MAX_PROFILES || work > MAX_WORK {
                return Err(Failure);
            }
        }
        let Some(arc) = arcs.get(next).cloned() else { break };
        next += 1;
        for letter in letters.iter().filter(|l| l.from == arc.to) {
            work += second.edges.len();
            waiting.push(Arc {
                from: arc.from,
                to: letter.to,
                marked: arc.marked || letter.marked,
                profile: arc.profile.then(&letter.profile),
                word: arc.word.iter().chain(&letter.word).copied().collect(),
            });
        }
    }
    // Beginnings: the initial states themselves, and arcs from them.
    let start = second.initial.iter().fold(0u64, |set, &q| set | 1 << q);
    let mut stems: Vec<(u32, u64, &[Letter])> = first.initial.iter().map(|&t| (t, start, &[][..])).collect();
    for arc in arcs.iter().filter(|a| first.initial.contains(&a.from)) {
        let reached = bits(start).fold(0, |set, q| set | arc.profile.to[q]);
        stems.push((arc.to, reached, &arc.word));
    }
    for cycle in arcs.iter().filter(|a| a.from == a.to && a.marked) {
        let accepting = accepting(&cycle.profile);
        for (_, reached, stem) in stems.iter().filter(|(at, ..)| *at == cycle.from) {
            work += 1;
            if work > MAX_WORK {
                return Err(Failure);
            }
            if reached & accepting == 0 {
                return Ok(Some(Word::new(stem.to_vec(), cycle.word.clone())));
            }
        }
    }
    Ok(None)
}

/// From where the word of the profile, again and again, is accepted.
fn accepting(p: &Profile) -> u64 {
    let count = p.to.len();
    let mut reach: Vec<u64> = p.to.clone();
    for _ in 0..count {
        for s in 0..count {
            reach[s] = bits(reach[s]).fold(reach[s], |set, m| set | reach[m]);
        }
    }
    // A mark, and back to where it was taken.
    let closes = |&s: &usize| bits(p.marked[s]).any(|m| m == s || reach[m] >> s & 1 == 1);
    let good = (0..count).filter(closes).fold(0u64, |set, s| set | 1 << s);
    (0..count).filter(|&s| good >> s & 1 == 1 || reach[s] & good != 0).fold(0, |set, s| set | 1 << s)
}

/// The edges of the first automaton, by the letters that the second can tell apart.
fn letters(first: &Buchi, second: &Buchi) -> Result<Vec<Arc>, Failure> {
    let all: Vec<&Edge> = second.edges.iter().flatten().collect();
    let (mut found, mut work) = (vec![], 0);
    let mut known: FxHashMap<Cube, Vec<(Profile, Letter)>> = FxHashMap::default();
    for (from, out) in first.edges.iter().enumerate() {
        for e in out {
            if let Entry::Vacant(slot) = known.entry(e.cube) {
                let mut classes: Vec<(Profile, Letter)> = vec![];
                let mut waiting = vec![e.cube];
                while let Some(cube) = waiting.pop() {
                    work += all.len();
                    if work > MAX_WORK {
                        return Err(Failure);
                    }
                    // What every letter of the cube does at least.
                    let set = |marked: bool| {
                        let taken = |out: &Vec<Edge>| {
                            let fits = out.iter().filter(|a| cube.implies(a.cube) && (!marked || a.marks & 1 == 1));
                            fits.fold(0u64, |set, a| set | 1 << a.to)
                        };
                        second.edges.iter().map(taken).collect::<Vec<u64>>()
                    };
                    let profile = Profile { to: set(false), marked: set(true) };
                    if classes.iter().any(|(p, _)| p.within(&profile)) {
                        continue;
                    }
                    match split(cube, all.iter().copied()) {
                        Some(halves) => waiting.extend(halves),
                        None => {
                            classes.retain(|(p, _)| !profile.within(p));
                            classes.push((profile, cube.positive));
                        }
                    }
                }
                slot.insert(classes);
            }
            for (profile, letter) in &known[&e.cube] {
                found.push(Arc {
                    from: from as u32,
                    to: e.to,
                    marked: e.marks & 1 == 1,
                    profile: profile.clone(),
                    word: vec![*letter],
                });
            }
        }
    }
    Ok(found)
}

/// The same words with one mark on edges: marks are waited for one after the other.
fn one_mark(a: &Buchi) -> Buchi {
    let rounds = a.marks.max(1);
    let state = |s: u32, waits: u32| s * rounds + waits;
    let mut edges = vec![];
    for out in &a.edges {
        for waits in 0..rounds {
            let step = |e: &Edge| {
                let mut now = waits;
                while now < a.marks && e.marks >> now & 1 == 1 {
                    now += 1;
                }
                let round = now >= a.marks;
                Edge { cube: e.cube, marks: u64::from(round), to: state(e.to, if round { 0 } else { now }) }
            };
            edges.push(out.iter().map(step).collect());
        }
    }
    Buchi { initial: a.initial.iter().map(|&s| state(s, 0)).collect(), marks: 1, edges }
}
