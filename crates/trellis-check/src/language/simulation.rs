//! Fair simulation (Henzinger, Kupferman and Rajamani, CONCUR 1997): can one automaton follow another, edge by edge, such that it
//! accepts whenever the other does? Then it accepts every word of it.
//!
//! It is a game: the first automaton takes an edge and says the letter, the second answers. What the second must achieve, *if all
//! marks of the first come again and again, then all marks of the second do*, is a generalised reactivity condition; positions from
//! which it can are found by the fixpoint of Piterman, Pnueli and Sa'ar (VMCAI 2006), with marks on edges. Letters are not enumerated: of a
//! cube only those sets of answers count that are smallest.

use rustc_hash::FxHashMap;
use trellis_model::ltl::{Buchi, Cube, Edge};

use super::Failure;

/// More moves than this, or more looks at them, and nothing is said.
const MAX_MOVES: usize = 3_000_000;
const MAX_LOOKS: usize = 60_000_000;

/// A move of the first automaton, and the answers to it.
struct Transition {
    marks: u64,
    /// The marks of an answer, and the position behind it.
    answers: Vec<(u64, u32)>,
}

struct Game {
    moves: Vec<Vec<Transition>>,
    looks: usize,
}

/// Does the second automaton follow the first? (If not, it may accept all its words all the same.)
pub fn follows(first: &Buchi, second: &Buchi) -> Result<bool, Failure> {
    let width = second.edges.len() as u32;
    let position = |t: u32, q: u32| t * width + q;
    let (start, goal) = (marked(first), marked(second));
    let mut known: FxHashMap<(Cube, u32), Vec<Vec<u32>>> = FxHashMap::default();
    let (mut moves, mut count) = (vec![], 0);
    for out in &first.edges {
        for q in 0..width {
            let mut list = vec![];
            for e in out {
                let sets = match known.get(&(e.cube, q)) {
                    Some(sets) => sets,
                    None => {
                        let sets = answers(e.cube, &second.edges[q as usize])?;
                        known.entry((e.cube, q)).or_insert(sets)
                    }
                };
                for set in sets {
                    let answer = |&n: &u32| {
                        let a: &Edge = &second.edges[q as usize][n as usize];
                        (a.marks | goal.always, position(e.to, a.to))
                    };
                    count += 1 + set.len();
                    list.push(Transition { marks: e.marks | start.always, answers: set.iter().map(answer).collect() });
                }
            }
            if count > MAX_MOVES {
                return Err(Failure);
            }
            moves.push(list);
        }
    }
    let mut game = Game { moves, looks: 0 };
    let won = game.won(start.count, goal.count)?;
    let wins = |t: u32| second.initial.iter().any(|&q| won[position(t, q) as usize]);
    Ok(first.initial.iter().all(|&t| wins(t)))
}

/// How many marks there are, at least one, and what to add to those of an edge if there is none.
struct Marked {
    count: u32,
    always: u64,
}

fn marked(a: &Buchi) -> Marked {
    Marked { count: a.marks.max(1), always: u64::from(a.marks == 0) }
}

/// The smallest sets of edges that a letter of a cube admits.
pub fn answers(cube: Cube, edges: &[Edge]) -> Result<Vec<Vec<u32>>, Failure> {
    let mut found: Vec<Vec<u32>> = vec![];
    let mut waiting = vec![cube];
    let mut work = 0;
    let within = |a: &[u32], b: &[u32]| a.iter().all(|n| b.binary_search(n).is_ok());
    while let Some(cube) = waiting.pop() {
        work += 1;
        if work > 1 << 16 {
            return Err(Failure);
        }
        // Edges that every letter of the cube admits: no answer to it is smaller.
        let sure = |n: &usize| cube.implies(edges[*n].cube);
        let set: Vec<u32> = (0..edges.len()).filter(sure).map(|n| n as u32).collect();
        if found.iter().any(|other| within(other, &set)) {
            continue;
        }
        match split(cube, edges.iter()) {
            Some(halves) => waiting.extend(halves),
            None => {
                found.retain(|other| !within(&set, other));
                found.push(set);
            }
        }
    }
    Ok(found)
}

/// Two halves of a cube, if it does not decide for each edge whether it is admitted; the half that admits less comes last.
pub fn split<'e>(cube: Cube, mut edges: impl Iterator<Item = &'e Edge>) -> Option<[Cube; 2]> {
    let e = edges.find(|e| !cube.and(e.cube).is_false() && !cube.implies(e.cube))?;
    let open = (e.cube.positive & !cube.positive) | (e.cube.negative & !cube.negative);
    let atom = open & open.wrapping_neg();
    let (with, without) =
        (Cube { positive: cube.positive | atom, ..cube }, Cube { negative: cube.negative | atom, ..cube });
    Some(if e.cube.positive & atom != 0 { [with, without] } else { [without, with] })
}

impl Game {
    /// The positions from which the answers achieve what they must.
    fn won(&mut self, first: u32, second: u32) -> Result<Vec<bool>, Failure> {
        let mut z = vec![true; self.moves.len()];
        loop {
            let before = z.clone();
            for goal in 0..second {
                let mut y = vec![false; z.len()];
                loop {
                    let mut more = y.clone();
                    for mark in 0..first {
                        // Where the first automaton's mark need never come again.
                        let mut x = z.clone();
                        loop {
                            let next = self.step(&z, goal, &y, &x, mark)?;
                            if next == x {
                                break;
                            }
                            x = next;
                        }
                        more.iter_mut().zip(&x).for_each(|(m, &x)| *m |= x);
                    }
                    if more == y {
                        break;
                    }
                    y = more;
                }
                z = y;
            }
            if z == before {
                return Ok(z);
            }
        }
    }

    /// From where every move has an answer that is good now, or leads closer, or waits for a mark that does not come.
    fn step(&mut self, z: &[bool], goal: u32, y: &[bool], x: &[bool], mark: u32) -> Result<Vec<bool>, Failure> {
        let mut next = vec![false; x.len()];
        for (p, moves) in self.moves.iter().enumerate().filter(|(p, _)| x[*p]) {
            next[p] = moves.iter().all(|m| {
                let waits = m.marks >> mark & 1 == 0;
                self.looks += 1 + m.answers.len() / 4;
                m.answers.iter().any(|&(marks, to)| {
                    let to = to as usize;
                    y[to] || (marks >> goal & 1 == 1 && z[to]) || (waits && x[to])
                })
            });
        }
        if self.looks > MAX_LOOKS { Err(Failure) } else { Ok(next) }
    }
}
