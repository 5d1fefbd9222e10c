//! Büchi automata over letters, with marks on edges.
//!
//! Acceptance is generalised and transition-based: a run is accepted if it takes edges with each of the marks infinitely often.
//! Without marks every infinite run is accepted. State-based acceptance is the special case that all edges out of a state have
//! the same marks.

use rustc_hash::FxHashMap;

use super::{Letter, components};

/// A conjunction of literals over atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Cube {
    /// Atoms that must hold.
    pub positive: Letter,
    /// Atoms that must not.
    pub negative: Letter,
}

impl Cube {
    /// Does a letter satisfy it?
    pub fn admits(self, letter: Letter) -> bool {
        self.positive & !letter == 0 && self.negative & letter == 0
    }

    /// Does no letter satisfy it?
    pub fn is_false(self) -> bool {
        self.positive & self.negative != 0
    }

    /// What satisfies both.
    pub fn and(self, other: Cube) -> Cube {
        Cube { positive: self.positive | other.positive, negative: self.negative | other.negative }
    }

    /// Does every letter that satisfies it satisfy the other? (Both are satisfiable.)
    pub fn implies(self, other: Cube) -> bool {
        other.positive & !self.positive == 0 && other.negative & !self.negative == 0
    }
}

/// An edge. Where a disjunction is needed, several edges lead to the same state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// What the letter read must satisfy.
    pub cube: Cube,
    /// Which marks it has: bit `i` for mark `i`.
    pub marks: u64,
    /// Where it leads.
    pub to: u32,
}

/// An automaton. Its states are the numbers below `edges.len()`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Buchi {
    /// Where runs start.
    pub initial: Vec<u32>,
    /// How many marks there are.
    pub marks: u32,
    /// The edges out of each state.
    pub edges: Vec<Vec<Edge>>,
}

impl Buchi {
    /// All marks.
    pub fn all_marks(&self) -> u64 {
        if self.marks >= 64 { u64::MAX } else { (1 << self.marks) - 1 }
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// Is there at most one run on each word?
    pub fn is_deterministic(&self) -> bool {
        let overlap = |a: &Edge, b: &Edge| !a.cube.and(b.cube).is_false();
        self.initial.len() <= 1
            && self.edges.iter().all(|out| out.iter().enumerate().all(|(i, a)| out[..i].iter().all(|b| !overlap(a, b))))
    }

    /// Is acceptance state-based: do all edges out of a state have the same marks?
    pub fn is_state_based(&self) -> bool {
        self.edges.iter().all(|out| out.windows(2).all(|w| w[0].marks == w[1].marks))
    }

    /// Is no word accepted?
    pub fn is_empty(&self) -> bool {
        let reached = self.reachable();
        let successors = |s: u32| {
            let out = if reached[s as usize] { &self.edges[s as usize][..] } else { &[] };
            out.iter().map(|e| e.to).collect::<Vec<_>>()
        };
        let component = components(self.edges.len(), successors);
        let mut seen: FxHashMap<u32, u64> = FxHashMap::default();
        for (s, out) in self.edges.iter().enumerate().filter(|(s, _)| reached[*s]) {
            for e in out.iter().filter(|e| component[e.to as usize] == component[s]) {
                *seen.entry(component[s]).or_default() |= e.marks;
            }
        }
        seen.values().all(|marks| marks & self.all_marks() != self.all_marks())
    }

    /// Which states can be reached?
    pub fn reachable(&self) -> Vec<bool> {
        let mut reached = vec![false; self.edges.len()];
        let mut todo = self.initial.clone();
        while let Some(s) = todo.pop() {
            if !std::mem::replace(&mut reached[s as usize], true) {
                todo.extend(self.edges[s as usize].iter().map(|e| e.to));
            }
        }
        reached
    }

    /// An automaton of the words that both accept. `None` if they have more than 64 marks together.
    pub fn intersect(&self, other: &Buchi) -> Option<Buchi> {
        let marks = self.marks + other.marks;
        if marks > 64 {
            return None;
        }
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut pairs: Vec<(u32, u32)> = vec![];
        let mut number = |pair, pairs: &mut Vec<(u32, u32)>| {
            *numbers.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() as u32 - 1
            })
        };
        let mut product = Buchi { initial: vec![], marks, edges: vec![] };
        for &a in &self.initial {
            for &b in &other.initial {
                product.initial.push(number((a, b), &mut pairs));
            }
        }
        while let Some(&(a, b)) = pairs.get(product.edges.len()) {
            let mut out = vec![];
            for x in &self.edges[a as usize] {
                for y in &other.edges[b as usize] {
                    let cube = x.cube.and(y.cube);
                    if !cube.is_false() {
                        // A shift by 64 only where there is nothing to shift.
                        let marks = x.marks | y.marks.checked_shl(self.marks).unwrap_or(0);
                        out.push(Edge { cube, marks, to: number((x.to, y.to), &mut pairs) });
                    }
                }
            }
            product.edges.push(out);
        }
        Some(product)
    }
}
