//! The smallest deterministic weak automaton of an obligation (Dax, Eisinger and Klaedtke, *Mechanizing the Powerset Construction
//! for Restricted Classes of ω-Automata*, 2007; Löding, *Efficient Minimization of Deterministic Weak ω-Automata*, 2001).
//!
//! The powerset construction forgets acceptance; each of its components is accepting or not as one word says that stays in it. If
//! the language is no obligation the result is wrong, so it is compared with the formula's automaton and with that of its negation:
//! nothing is believed. Successors are decision trees over atoms, each stored once, so that equal functions have equal numbers.

use rustc_hash::FxHashMap;
use trellis_model::ltl::{Buchi, Cube, Edge, Letter, Word};

use super::cubes::merged;
use super::simplify::{Parts, Style, simplify};

/// Larger ones are not tried.
const MAX_SUBSETS: usize = 1_000;
const MAX_TREES: usize = 200_000;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Tree {
    Leaf(u32),
    /// An atom, and what follows if it does not hold and if it does.
    Split(u32, u32, u32),
}

#[derive(Default)]
struct Trees {
    list: Vec<Tree>,
    numbers: FxHashMap<Tree, u32>,
}

impl Trees {
    fn add(&mut self, tree: Tree) -> u32 {
        if let Tree::Split(_, no, yes) = tree
            && no == yes
        {
            return no;
        }
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(tree).or_insert(next);
        if number == next {
            self.list.push(tree);
        }
        number
    }

    /// The leaves changed.
    fn map(&mut self, tree: u32, to: &dyn Fn(u32) -> u32, done: &mut FxHashMap<u32, u32>) -> u32 {
        if let Some(&known) = done.get(&tree) {
            return known;
        }
        let mapped = match self.list[tree as usize] {
            Tree::Leaf(n) => Tree::Leaf(to(n)),
            Tree::Split(atom, no, yes) => Tree::Split(atom, self.map(no, to, done), self.map(yes, to, done)),
        };
        let number = self.add(mapped);
        done.insert(tree, number);
        number
    }

    /// The ways to the leaves.
    fn paths(&self, tree: u32, cube: Cube, out: &mut Vec<(Cube, u32)>) {
        match self.list[tree as usize] {
            Tree::Leaf(n) => out.push((cube, n)),
            Tree::Split(atom, no, yes) => {
                let bit: Letter = 1 << atom;
                self.paths(no, Cube { negative: cube.negative | bit, ..cube }, out);
                self.paths(yes, Cube { positive: cube.positive | bit, ..cube }, out);
            }
        }
    }
}

/// Sets of states, and where each letter leads.
struct Powerset<'a> {
    a: &'a Buchi,
    trees: Trees,
    numbers: FxHashMap<Vec<u32>, u32>,
    sets: Vec<Vec<u32>>,
    next: Vec<u32>,
    work: usize,
}

impl Powerset<'_> {
    fn number(&mut self, mut set: Vec<u32>) -> u32 {
        set.sort_unstable();
        set.dedup();
        let sets = &mut self.sets;
        *self.numbers.entry(set).or_insert_with_key(|set| {
            sets.push(set.clone());
            sets.len() as u32 - 1
        })
    }

    fn explore(&mut self) -> Option<()> {
        self.number(self.a.initial.clone());
        while self.next.len() < self.sets.len() {
            let set = &self.sets[self.next.len()];
            let edges = set.iter().flat_map(|&s| &self.a.edges[s as usize]).map(|e| (e.cube, e.to)).collect();
            let tree = self.split(edges)?;
            self.next.push(tree);
            if self.sets.len() > MAX_SUBSETS {
                return None;
            }
        }
        Some(())
    }

    fn split(&mut self, edges: Vec<(Cube, u32)>) -> Option<u32> {
        self.work += 1;
        if self.work > MAX_TREES {
            return None;
        }
        let atoms = edges.iter().fold(0, |atoms, (c, _)| atoms | c.positive | c.negative);
        if atoms == 0 {
            let set = self.number(edges.into_iter().map(|(_, to)| to).collect());
            return Some(self.trees.add(Tree::Leaf(set)));
        }
        let bit = atoms & atoms.wrapping_neg();
        let half = |holds: bool| -> Vec<(Cube, u32)> {
            let fits = edges.iter().filter(|(c, _)| (if holds { c.negative } else { c.positive }) & bit == 0);
            fits.map(|(c, to)| (Cube { positive: c.positive & !bit, negative: c.negative & !bit }, *to)).collect()
        };
        let (no, yes) = (half(false), half(true));
        let (no, yes) = (self.split(no)?, self.split(yes)?);
        Some(self.trees.add(Tree::Split(bit.trailing_zeros(), no, yes)))
    }

    /// As an automaton; states of the given components are accepting.
    fn automaton(&self, accepting: &[bool]) -> Buchi {
        let mut edges = vec![];
        for (s, &tree) in self.next.iter().enumerate() {
            let mut out = vec![];
            self.trees.paths(tree, Cube::default(), &mut out);
            let marks = u64::from(accepting[s]);
            edges.push(out.into_iter().map(|(cube, to)| Edge { cube, marks, to }).collect());
        }
        Buchi { initial: vec![0], marks: 1, edges }
    }
}

/// The smallest deterministic weak automaton, if there is one; `negation` accepts what `a` does not.
pub fn weak(a: &Buchi, negation: &Buchi) -> Option<Buchi> {
    let mut power =
        Powerset { a, trees: Trees::default(), numbers: FxHashMap::default(), sets: vec![], next: vec![], work: 0 };
    power.explore()?;
    let plain = power.automaton(&vec![false; power.sets.len()]);
    let parts = Parts::new(&plain);
    let mut decided: Vec<Option<bool>> = vec![None; parts.cyclic.len()];
    for s in 0..power.sets.len() {
        let c = parts.of[s] as usize;
        if parts.cyclic[c] && decided[c].is_none() {
            let from = Buchi { initial: power.sets[s].clone(), ..a.clone() };
            decided[c] = Some(from.accepts(&Word::new(vec![], cycle(&plain, &parts, s as u32))));
        }
    }
    let accepting = |yes: bool| -> Vec<bool> { parts.of.iter().map(|&c| decided[c as usize] == Some(yes)).collect() };
    let right = power.automaton(&accepting(true)).intersect(negation)?.is_empty()
        && power.automaton(&accepting(false)).intersect(a)?.is_empty();
    if !right {
        return None;
    }
    let colours = colours(&plain, &parts, &decided);
    Some(minimal(&mut power, colours))
}

/// The letters of a way from a state back to it.
fn cycle(a: &Buchi, parts: &Parts, s: u32) -> Vec<Letter> {
    let mut before: FxHashMap<u32, (u32, Letter)> = FxHashMap::default();
    let mut queue = std::collections::VecDeque::from([s]);
    while let Some(p) = queue.pop_front() {
        for e in a.edges[p as usize].iter().filter(|e| parts.inside(p as usize, e)) {
            before.entry(e.to).or_insert_with(|| {
                queue.push_back(e.to);
                (p, e.cube.positive)
            });
        }
        if before.contains_key(&s) {
            break;
        }
    }
    let mut word = vec![];
    let mut at = s;
    while let Some(&(from, letter)) = before.get(&at) {
        word.push(letter);
        at = from;
        if at == s {
            break;
        }
    }
    word.reverse();
    word
}

/// Which states on no cycle count as accepting, so that the fewest states differ (Löding 2001): even colours accept, and a state's
/// colour is the largest possible that is not above its successors'.
fn colours(a: &Buchi, parts: &Parts, decided: &[Option<bool>]) -> Vec<u32> {
    let highest = 2 * decided.len() as u32 + 2;
    let mut states: Vec<usize> = (0..a.edges.len()).collect();
    states.sort_by_key(|&s| parts.of[s]);
    let mut lowest: Vec<Option<u32>> = vec![None; decided.len()];
    let mut colour = vec![0; decided.len()];
    // Components come after all that they lead to.
    for group in states.chunk_by(|&p, &q| parts.of[p] == parts.of[q]) {
        let c = parts.of[group[0]] as usize;
        for &s in group {
            for e in a.edges[s].iter().filter(|e| !parts.inside(s, e)) {
                let below = colour[parts.of[e.to as usize] as usize];
                lowest[c] = Some(lowest[c].map_or(below, |l| l.min(below)));
            }
        }
        let odd = |yes: bool| u32::from(!yes);
        colour[c] = match (lowest[c], decided[c]) {
            (None, yes) => highest + odd(yes == Some(true)),
            (Some(l), None) => l,
            (Some(l), Some(yes)) => {
                if l % 2 == odd(yes) {
                    l
                } else {
                    l - 1
                }
            }
        };
    }
    parts.of.iter().map(|&c| colour[c as usize]).collect()
}

/// Moore's algorithm.
fn minimal(power: &mut Powerset, colours: Vec<u32>) -> Buchi {
    let mut class: Vec<u32> = colours.iter().map(|c| c % 2).collect();
    let mut count = 0;
    loop {
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut done = FxHashMap::default();
        let mut next = vec![];
        for s in 0..class.len() {
            let tree = power.trees.map(power.next[s], &|to| class[to as usize], &mut done);
            let fresh = numbers.len() as u32;
            next.push(*numbers.entry((class[s], tree)).or_insert(fresh));
        }
        class = next;
        if numbers.len() == count {
            break;
        }
        count = numbers.len();
    }
    let mut small = Buchi { initial: vec![class[0]], marks: 1, edges: vec![vec![]; count] };
    let mut done = FxHashMap::default();
    for s in 0..class.len() {
        let out = &mut small.edges[class[s] as usize];
        if !out.is_empty() {
            continue;
        }
        let tree = power.trees.map(power.next[s], &|to| class[to as usize], &mut done);
        let mut paths = vec![];
        power.trees.paths(tree, Cube::default(), &mut paths);
        let mut groups: FxHashMap<u32, Vec<Cube>> = FxHashMap::default();
        paths.into_iter().for_each(|(cube, to)| groups.entry(to).or_default().push(cube));
        let marks = u64::from(colours[s].is_multiple_of(2));
        for (to, cubes) in groups {
            out.extend(merged(cubes).into_iter().map(|cube| Edge { cube, marks, to }));
        }
    }
    simplify(&small, Style::States)
}
