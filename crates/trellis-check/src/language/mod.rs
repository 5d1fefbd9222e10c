//! Is this the automaton of this formula? Proven, not sampled.
//!
//! The formula's own tableau says which words satisfy it, and shares nothing with the translation that made the automaton.
//! That the automaton accepts nothing else is the emptiness of its product with the tableau of the negation. That it accepts all of it would
//! be the emptiness of a product with its complement; complements are large, so first the automaton is asked to
//! *follow* the tableau (`simulation`), and if it cannot, one that knows more of what comes; only then are finite words composed
//! (`inclusion`), which is exact and limited to small automata. What none of them decides is not proven, and whoever asked must say so.
//!
//! Shared with the engines: how automata are stored, the product of two of them and strongly connected components
//! ([`trellis_model::ltl`]).

mod inclusion;
mod simulation;
mod tableau;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use trellis_model::ltl::{Buchi, Formula, Letter, Word, components};

use tableau::{Foresight, tableau};

/// It would take too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Failure;

/// How an automaton and a formula are related.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// The automaton accepts what satisfies the formula, and nothing else.
    Same,
    /// They differ on this word.
    Differ(Word),
    /// Not decided within the limits.
    Open,
}

/// Is this the automaton of what satisfies the formula?
pub fn compare(formula: &Formula, automaton: &Buchi) -> Relation {
    match sound(formula, automaton) {
        Relation::Same => complete(formula, automaton),
        other => other,
    }
}

/// Does everything that the automaton accepts satisfy the formula?
pub fn sound(formula: &Formula, automaton: &Buchi) -> Relation {
    let Ok(others) = tableau(formula, true, Foresight::Plain) else { return Relation::Open };
    let Some(both) = automaton.intersect(&others) else { return Relation::Open };
    if both.is_empty() {
        return Relation::Same;
    }
    differ(some_word(&both), |word| automaton.accepts(word) && !word.satisfies(formula))
}

/// Does the automaton accept everything that satisfies the formula?
pub fn complete(formula: &Formula, automaton: &Buchi) -> Relation {
    for foresight in [Foresight::Plain, Foresight::Decisive, Foresight::Prophetic] {
        if let Ok(t) = tableau(formula, false, foresight)
            && simulation::follows(&t, automaton) == Ok(true)
        {
            return Relation::Same;
        }
    }
    let Ok(t) = tableau(formula, false, Foresight::Plain) else { return Relation::Open };
    match inclusion::missing(&t, automaton) {
        Ok(None) => Relation::Same,
        Ok(word) => differ(word, |word| !automaton.accepts(word) && word.satisfies(formula)),
        Err(Failure) => Relation::Open,
    }
}

/// Can the formula hold at all? Nothing if that is not decided.
pub fn satisfiable(formula: &Formula) -> Option<bool> {
    tableau(formula, false, Foresight::Plain).ok().map(|t| !t.is_empty())
}

/// A word that was found is evaluated once more.
fn differ(word: Option<Word>, does: impl Fn(&Word) -> bool) -> Relation {
    word.filter(|w| does(w)).map_or(Relation::Open, Relation::Differ)
}

/// A word that an automaton accepts.
fn some_word(a: &Buchi) -> Option<Word> {
    let reached = a.reachable();
    let component = components(a.edges.len(), |s| a.edges[s as usize].iter().map(|e| e.to).collect());
    let mut marks: FxHashMap<u32, u64> = FxHashMap::default();
    for (s, out) in a.edges.iter().enumerate().filter(|(s, _)| reached[*s]) {
        for e in out.iter().filter(|e| component[e.to as usize] == component[s]) {
            *marks.entry(component[s]).or_default() |= e.marks;
        }
    }
    let fair = *marks.iter().find(|(_, m)| **m & a.all_marks() == a.all_marks())?.0;
    let (stem, at, _) = path(a, &a.initial, |_| true, |s, _| component[s as usize] == fair, true)?;
    let inside = |s: u32| component[s as usize] == fair;
    let (mut cycle, mut here, mut left): (Vec<Letter>, u32, u64) = (vec![], at, a.all_marks());
    while left != 0 {
        let (word, to, marks) = path(a, &[here], inside, |_, marks| marks & left != 0, false)?;
        left &= !marks;
        cycle.extend(&word);
        here = to;
    }
    let (word, ..) = path(a, &[here], inside, |s, _| s == at, false)?;
    cycle.extend(&word);
    Some(Word::new(stem, cycle))
}

/// The letters of a shortest path to an edge (or, if that is enough, a state) that is looked for, where it ends, and the marks of its
/// last edge.
fn path(
    a: &Buchi,
    from: &[u32],
    inside: impl Fn(u32) -> bool,
    found: impl Fn(u32, u64) -> bool,
    at_once: bool,
) -> Option<(Vec<Letter>, u32, u64)> {
    if let Some(&s) = from.iter().find(|s| at_once && found(**s, 0)) {
        return Some((vec![], s, 0));
    }
    let mut came: FxHashMap<u32, Option<(u32, Letter)>> = from.iter().map(|&s| (s, None)).collect();
    let mut waiting: VecDeque<u32> = from.iter().copied().collect();
    while let Some(s) = waiting.pop_front() {
        for e in a.edges[s as usize].iter().filter(|e| inside(e.to)) {
            if found(e.to, e.marks) {
                let mut word = vec![e.cube.positive];
                let mut at = s;
                while let Some(Some((before, letter))) = came.get(&at) {
                    word.push(*letter);
                    at = *before;
                }
                word.reverse();
                return Some((word, e.to, e.marks));
            }
            came.entry(e.to).or_insert_with(|| {
                waiting.push_back(e.to);
                Some((s, e.cube.positive))
            });
        }
    }
    None
}
