//! Ultimately periodic words, and what a formula and an automaton say of them: slow and plain, the reference for translations.
//!
//! A word has finitely many different suffixes, one per *position*; a formula is evaluated at all of them, by the definitions.

use super::{Buchi, Edge, Formula, Letter};

/// What holds at which position.
type Values = [bool];

/// The word `prefix cycle cycle cycle …`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Word {
    prefix: Vec<Letter>,
    cycle: Vec<Letter>,
}

impl Word {
    /// A word. An empty cycle stands for one letter in which nothing holds, because words are infinite.
    pub fn new(prefix: Vec<Letter>, mut cycle: Vec<Letter>) -> Word {
        if cycle.is_empty() {
            cycle.push(0);
        }
        Word { prefix, cycle }
    }

    /// The letters before the cycle.
    pub fn prefix(&self) -> &[Letter] {
        &self.prefix
    }

    /// The letters that come again and again.
    pub fn cycle(&self) -> &[Letter] {
        &self.cycle
    }

    fn positions(&self) -> usize {
        self.prefix.len() + self.cycle.len()
    }

    fn letter(&self, at: usize) -> Letter {
        if at < self.prefix.len() { self.prefix[at] } else { self.cycle[at - self.prefix.len()] }
    }

    fn next(&self, at: usize) -> usize {
        if at + 1 < self.positions() { at + 1 } else { self.prefix.len() }
    }

    /// The positions from here on, each once.
    fn from(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |&p| Some(self.next(p))).take(self.positions())
    }

    /// Does the word satisfy the formula?
    pub fn satisfies(&self, formula: &Formula) -> bool {
        self.values(formula)[0]
    }

    /// Where the formula holds.
    fn values(&self, formula: &Formula) -> Vec<bool> {
        use Formula as F;
        let all = 0..self.positions();
        let one = |a: &Formula, f: &dyn Fn(&Values, usize) -> bool| -> Vec<bool> {
            let a = self.values(a);
            (0..self.positions()).map(|p| f(&a, p)).collect()
        };
        let two = |a: &Formula, b: &Formula, f: &dyn Fn(&Values, &Values, usize) -> bool| -> Vec<bool> {
            let (a, b) = (self.values(a), self.values(b));
            (0..self.positions()).map(|p| f(&a, &b, p)).collect()
        };
        // `b` at some position, and `a` at those before it.
        let until = |a: &[bool], b: &[bool], p: usize| {
            let before = self.from(p).take_while(|&q| !b[q]);
            self.from(p).any(|q| b[q]) && before.into_iter().all(|q| a[q])
        };
        // `b` at some position, and `a` there and before it.
        let through = |a: &[bool], b: &[bool], p: usize| {
            let first = self.from(p).position(|q| b[q]);
            first.is_some_and(|n| self.from(p).take(n + 1).all(|q| a[q]))
        };
        let always = |a: &[bool], p: usize| self.from(p).all(|q| a[q]);
        match formula {
            F::True => all.map(|_| true).collect(),
            F::False => all.map(|_| false).collect(),
            F::Atom(n) => all.map(|p| self.letter(p) >> n & 1 == 1).collect(),
            F::Not(a) => one(a, &|a, p| !a[p]),
            F::And(a, b) => two(a, b, &|a, b, p| a[p] && b[p]),
            F::Or(a, b) => two(a, b, &|a, b, p| a[p] || b[p]),
            F::Implies(a, b) => two(a, b, &|a, b, p| !a[p] || b[p]),
            F::Iff(a, b) => two(a, b, &|a, b, p| a[p] == b[p]),
            F::Next(a) => one(a, &|a, p| a[self.next(p)]),
            F::Finally(a) => one(a, &|a, p| self.from(p).any(|q| a[q])),
            F::Globally(a) => one(a, &always),
            F::Until(a, b) => two(a, b, &until),
            F::WeakUntil(a, b) => two(a, b, &|a, b, p| until(a, b, p) || always(a, p)),
            F::Release(a, b) => two(a, b, &|a, b, p| through(b, a, p) || always(b, p)),
            F::StrongRelease(a, b) => two(a, b, &|a, b, p| through(b, a, p)),
        }
    }
}

impl Buchi {
    /// Does it accept the word?
    pub fn accepts(&self, word: &Word) -> bool {
        let positions = word.positions();
        let node = |s: u32, p: usize| (s as usize * positions + p) as u32;
        let edges = (0..self.edges.len() * positions)
            .map(|n| {
                let (s, p) = (n / positions, n % positions);
                let fits = self.edges[s].iter().filter(|e| e.cube.admits(word.letter(p)));
                fits.map(|e| Edge { to: node(e.to, word.next(p)), ..*e }).collect()
            })
            .collect();
        let initial = self.initial.iter().map(|&s| node(s, 0)).collect();
        !Buchi { initial, marks: self.marks, edges }.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(n: u32) -> Box<Formula> {
        Box::new(Formula::Atom(n))
    }

    /// a a b (ab)…, position by position.
    #[test]
    fn the_definitions() {
        let word = Word::new(vec![1, 1], vec![2, 3]);
        let holds = |f| word.values(&f);
        assert_eq!(holds(Formula::Atom(0)), [true, true, false, true]);
        assert_eq!(holds(Formula::Next(atom(0))), [true, false, true, false]);
        assert_eq!(holds(Formula::Finally(atom(1))), [true; 4]);
        assert_eq!(holds(Formula::Globally(atom(1))), [false, false, true, true]);
        assert_eq!(holds(Formula::Until(atom(0), atom(1))), [true; 4]);
        assert_eq!(holds(Formula::StrongRelease(atom(0), atom(1))), [false, false, true, true]);
        assert_eq!(holds(Formula::StrongRelease(atom(1), atom(0))), [false, false, false, true]);
        assert_eq!(holds(Formula::WeakUntil(atom(1), atom(2))), [false, false, true, true]);
        assert_eq!(holds(Formula::Until(atom(1), atom(2))), [false; 4]);
        assert_eq!(holds(Formula::Release(atom(2), atom(1))), [false, false, true, true]);
    }

    #[test]
    fn acceptance_takes_every_mark_again_and_again() {
        use crate::ltl::Cube;
        let on = |n: u32| Edge { cube: Cube { positive: 1 << n, negative: 0 }, marks: 1 << n, to: 0 };
        let rest = Edge { cube: Cube::default(), marks: 0, to: 0 };
        let both = Buchi { initial: vec![0], marks: 2, edges: vec![vec![on(0), on(1), rest]] };
        assert!(both.accepts(&Word::new(vec![], vec![1, 2])));
        assert!(!both.accepts(&Word::new(vec![1, 2], vec![1])));
        assert!(!Buchi::default().accepts(&Word::new(vec![], vec![1])));
    }
}
