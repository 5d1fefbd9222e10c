//! From formulas to Büchi automata: simplified formula → very weak alternating automaton → generalised automaton with marks on
//! edges → simplified → one mark, on edges or on states.
//!
//! Where the language is an *obligation*, there is a smallest deterministic weak automaton; if it is not larger than the other one, it
//! is taken (`weak`). Letters are never enumerated: cubes are split only along atoms that occur in them.
//! No attempt is made at other deterministic automata, and none at stuttering.

mod alternating;
mod cubes;
mod degeneralise;
mod formula;
mod simplify;
mod weak;

use trellis_model::ltl::{Buchi, Edge, Formula, MAX_ATOMS};

use formula::Store;
use simplify::{Style, simplify};

/// More states than this, and the translation gives up.
pub const MAX_STATES: usize = 20_000;

/// More combinations of moves in one state than this, and the translation gives up.
const MAX_MOVES: usize = 1 << 20;

/// The automaton would be too large: it needs more than [`MAX_STATES`] states, or more than 64 marks or atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the automaton of this formula is too large")
    }
}

impl std::error::Error for TooLarge {}

/// How the automaton accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Acceptance {
    /// Any number of marks, on edges.
    Generalised,
    /// One mark, on edges.
    Transition,
    /// One mark, on states: all edges out of a state have it or none.
    State,
}

/// An automaton that accepts what satisfies the formula: generalised, with marks on edges.
pub fn translate(formula: &Formula) -> Result<Buchi, TooLarge> {
    translate_to(formula, Acceptance::Generalised)
}

/// An automaton that accepts what satisfies the formula.
pub fn translate_to(formula: &Formula, acceptance: Acceptance) -> Result<Buchi, TooLarge> {
    if has_large_atom(formula) {
        return Err(TooLarge);
    }
    let mut store = Store::new();
    let id = store.add(formula, true);
    let general = simplify(&alternating::build(&mut store, id)?, Style::Edges);
    let automaton = convert(&general, acceptance);
    let negation = store.not(id);
    let weak = match alternating::build(&mut store, negation) {
        Ok(negation) => weak::weak(&general, &simplify(&negation, Style::Edges)),
        Err(TooLarge) => None,
    };
    // A deterministic automaton of the same size is better for whoever explores it.
    Ok(match weak {
        Some(weak) if weak.edges.len() <= automaton.edges.len() => convert(&weak, acceptance),
        _ => automaton,
    })
}

fn has_large_atom(f: &Formula) -> bool {
    matches!(f, Formula::Atom(n) if *n as usize >= MAX_ATOMS) || f.children().any(has_large_atom)
}

fn convert(a: &Buchi, acceptance: Acceptance) -> Buchi {
    match acceptance {
        Acceptance::Generalised => simplify(a, Style::Edges),
        Acceptance::Transition => degeneralise(a),
        Acceptance::State => state_based(a),
    }
}

/// The same words with one mark, on edges.
pub fn degeneralise(a: &Buchi) -> Buchi {
    let candidates = orders(a).into_iter().map(|order| simplify(&degeneralise::on_edges(a, &order), Style::Edges));
    one_mark(smallest(candidates))
}

/// The same words with one mark, on states: all edges out of a state have it, or none has.
pub fn state_based(a: &Buchi) -> Buchi {
    let direct = orders(a).into_iter().map(|order| degeneralise::on_states(a, &order));
    let by_edges = degeneralise::on_states(&degeneralise(a), &[0]);
    one_mark(smallest(direct.chain([by_edges]).map(|b| simplify(&b, Style::States))))
}

/// In which orders to wait for the marks.
fn orders(a: &Buchi) -> [Vec<u32>; 2] {
    [(0..a.marks).collect(), (0..a.marks).rev().collect()]
}

fn smallest(candidates: impl Iterator<Item = Buchi>) -> Buchi {
    candidates.min_by_key(|a| (a.edges.len(), a.edge_count())).unwrap_or_default()
}

/// An automaton that needs no mark gets one everywhere.
fn one_mark(mut a: Buchi) -> Buchi {
    if a.marks == 0 {
        a.marks = 1;
        a.edges.iter_mut().flatten().for_each(|e: &mut Edge| e.marks = 1);
    }
    a
}
