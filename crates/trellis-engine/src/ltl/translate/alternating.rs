//! A very weak alternating automaton, and the generalised automaton of its sets of states (Gastin and Oddoux, *Fast LTL to Büchi
//! Automata Translation*, 2001).
//!
//! The alternating automaton's states are formulas; what a formula asks of a letter and of the next moment is its *moves*. A state
//! of the generalised automaton is a set of formulas that all must hold. There is a mark for each `a U b`: an edge has it unless it
//! puts the `b` off. `G F a` is one state that waits, as in Babiak et al., *LTL to Büchi Automata Translation: Fast and More
//! Deterministic* (2012): it does not spawn an `F a` at every step. Other than there, what comes after an `X` is one state, a
//! disjunction too; that is closer to being deterministic.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_model::ltl::{Buchi, Cube, Edge};

use super::TooLarge;
use super::formula::{FALSE, Id, Node, Store, TRUE};

/// Formulas that all must hold, sorted.
type Set = Vec<Id>;

/// What the letter must satisfy, and what must hold next.
type Transition = (Cube, Set);

struct Builder<'a> {
    store: &'a mut Store,
    moves: FxHashMap<Id, Rc<Vec<Transition>>>,
}

/// The automaton of a formula; not simplified.
pub fn build(store: &mut Store, formula: Id) -> Result<Buchi, TooLarge> {
    let mut builder = Builder { store, moves: FxHashMap::default() };
    let mut numbers: FxHashMap<Set, u32> = FxHashMap::default();
    let start = builder.parts(formula);
    numbers.insert(start.clone(), 0);
    let mut sets = vec![start];
    // For each edge: its cube, which promises it puts off, and where it leads.
    let mut edges: Vec<Vec<(Cube, Vec<Id>, u32)>> = vec![];
    while let Some(set) = sets.get(edges.len()).cloned() {
        let mut out = vec![];
        for (cube, to, open) in builder.edges(&set)? {
            let number = *numbers.entry(to).or_insert_with_key(|to| {
                sets.push(to.clone());
                sets.len() as u32 - 1
            });
            out.push((cube, open, number));
        }
        edges.push(out);
        if sets.len() > super::MAX_STATES {
            return Err(TooLarge);
        }
    }
    let mut promises: Vec<Id> = edges.iter().flatten().flat_map(|e| &e.1).copied().collect();
    promises.sort_unstable();
    promises.dedup();
    if promises.len() > 64 {
        return Err(TooLarge);
    }
    let marks = promises.len() as u32;
    let mut automaton = Buchi { initial: vec![0], marks, edges: vec![] };
    let all = automaton.all_marks();
    let marks_of = |open: &[Id]| {
        let kept = promises.iter().enumerate().filter(|(_, p)| open.contains(p));
        kept.fold(all, |marks, (i, _)| marks & !(1 << i))
    };
    automaton.edges = edges
        .into_iter()
        .map(|out| out.into_iter().map(|(cube, open, to)| Edge { cube, marks: marks_of(&open), to }).collect())
        .collect();
    Ok(automaton)
}

impl Builder<'_> {
    /// The parts of a conjunction.
    fn parts(&self, id: Id) -> Set {
        match self.store.node(id) {
            Node::True => vec![],
            Node::And(all) => all.clone(),
            _ => vec![id],
        }
    }

    fn moves(&mut self, id: Id) -> Result<Rc<Vec<Transition>>, TooLarge> {
        if let Some(known) = self.moves.get(&id) {
            return Ok(known.clone());
        }
        let top = Cube::default();
        let list = match self.store.node(id).clone() {
            Node::True => vec![(top, vec![])],
            Node::False => vec![],
            Node::Literal(n, positive) => {
                let bit = 1 << n;
                let cube =
                    if positive { Cube { positive: bit, negative: 0 } } else { Cube { positive: 0, negative: bit } };
                vec![(cube, vec![])]
            }
            Node::And(all) => {
                let mut list = vec![(top, vec![])];
                for x in all {
                    list = product(&list, &self.moves(x)?)?;
                }
                list
            }
            Node::Or(all) => {
                let mut list = vec![];
                for x in all {
                    list.extend_from_slice(&self.moves(x)?);
                }
                shortest(list)
            }
            Node::Next(a) => vec![(top, self.parts(a))],
            Node::Until(a, b) => {
                let mut list = product(&self.moves(a)?, &[(top, vec![id])])?;
                list.extend_from_slice(&self.moves(b)?);
                shortest(list)
            }
            Node::Release(a, b) => {
                if let Some(promised) = self.awaited(id) {
                    let mut list = product(&self.moves(promised)?, &[(top, vec![id])])?;
                    list.push((top, vec![id]));
                    // Not the shortest: these differ in whether the promise is kept.
                    list
                } else {
                    let mut list = self.moves(a)?.to_vec();
                    list.push((top, vec![id]));
                    product(&self.moves(b)?, &list)?
                }
            }
        };
        let list = Rc::new(list);
        self.moves.insert(id, list.clone());
        Ok(list)
    }

    /// The `a` of `G F a`.
    fn awaited(&self, id: Id) -> Option<Id> {
        match *self.store.node(id) {
            Node::Release(FALSE, inside) => match *self.store.node(inside) {
                Node::Until(TRUE, a) => Some(a),
                _ => None,
            },
            _ => None,
        }
    }

    /// What fulfils a promise.
    fn promised(&self, id: Id) -> Option<Id> {
        match *self.store.node(id) {
            Node::Until(_, b) => Some(b),
            _ => self.awaited(id),
        }
    }

    /// The edges out of a state: cube, target, and the promises that are put off.
    fn edges(&mut self, set: &[Id]) -> Result<Vec<(Cube, Set, Vec<Id>)>, TooLarge> {
        let mut list = vec![(Cube::default(), vec![])];
        for &x in set {
            list = product_unreduced(&list, &self.moves(x)?)?;
        }
        let mut edges: Vec<(Cube, Set, Vec<Id>)> = vec![];
        for (cube, to) in list {
            if self.contradicts(&to) {
                continue;
            }
            let mut open = vec![];
            for &f in &to {
                if let Some(promised) = self.promised(f) {
                    let ways = self.moves(promised)?;
                    if !ways.iter().any(|(c, next)| cube.implies(*c) && is_subset(next, &to)) {
                        open.push(f);
                    }
                }
            }
            let edge = (cube, to, open);
            let better = |a: &(Cube, Set, Vec<Id>), b: &(Cube, Set, Vec<Id>)| {
                b.0.implies(a.0) && is_subset(&a.1, &b.1) && is_subset(&a.2, &b.2)
            };
            if !edges.iter().any(|e| better(e, &edge)) {
                edges.retain(|e| !better(&edge, e));
                edges.push(edge);
            }
        }
        Ok(edges)
    }

    /// Is it plain that not all of these can hold?
    fn contradicts(&mut self, set: &[Id]) -> bool {
        set.iter().enumerate().any(|(i, &x)| {
            let negation = self.store.not(x);
            x == FALSE || set[..i].iter().any(|&y| self.store.implies(y, negation))
        })
    }
}

/// Both moves together, each with each.
fn product_unreduced(a: &[Transition], b: &[Transition]) -> Result<Vec<Transition>, TooLarge> {
    if a.len().saturating_mul(b.len()) > super::MAX_MOVES {
        return Err(TooLarge);
    }
    let mut list = vec![];
    for (x, xs) in a {
        for (y, ys) in b {
            let cube = x.and(*y);
            if !cube.is_false() {
                let mut both: Set = xs.iter().chain(ys).copied().collect();
                both.sort_unstable();
                both.dedup();
                list.push((cube, both));
            }
        }
    }
    list.sort();
    list.dedup();
    Ok(list)
}

fn product(a: &[Transition], b: &[Transition]) -> Result<Vec<Transition>, TooLarge> {
    Ok(shortest(product_unreduced(a, b)?))
}

/// Without the moves that ask more than another.
fn shortest(list: Vec<Transition>) -> Vec<Transition> {
    let better = |a: &Transition, b: &Transition| b.0.implies(a.0) && is_subset(&a.1, &b.1);
    let mut kept: Vec<Transition> = vec![];
    for m in list {
        if !kept.iter().any(|k| better(k, &m)) {
            kept.retain(|k| !better(&m, k));
            kept.push(m);
        }
    }
    kept
}

/// Both are sorted.
fn is_subset(a: &[Id], b: &[Id]) -> bool {
    a.iter().all(|x| b.binary_search(x).is_ok())
}
