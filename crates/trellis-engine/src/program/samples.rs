//! States that random runs come to, for guesses at invariants.
//!
//! Runs go along the small edges, where the branch of a program follows from its state. Where a run gets stuck it goes back to the last
//! location that large blocks leave, and tries other decisions. What is decided at random is mostly small, or a number that occurs in
//! the program. The same program always gives the same states.

use std::collections::BTreeSet;

use trellis_expr::eval::Valuation;
use trellis_expr::{Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Oracle, State, run, zero_of};

use super::Program;

/// So many runs are started.
const RUNS: usize = 80;
/// So many states are kept in a run.
const LENGTH: usize = 40;
/// So many times a run goes back.
const RETRIES: usize = 30;
/// So many edges are tried in all.
const WORK: usize = 60_000;
/// So many states are kept for a location.
const KEPT: usize = 300;

/// Makes up values.
struct Guess<'a> {
    state: u64,
    numbers: &'a [i64],
}

impl Guess<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) as usize % n
    }

    fn value(&mut self, terms: &Terms, ty: Type) -> Value {
        let mut n = match self.below(8) {
            0 => self.below(200) as i64 - 100,
            1 | 2 if !self.numbers.is_empty() => self.numbers[self.below(self.numbers.len())],
            _ => self.below(14) as i64 - 3,
        };
        match ty {
            Type::Array(..) => return zero_of(terms, ty),
            Type::Bool => n &= 1,
            Type::Bits { .. } | Type::Int => {}
            Type::Range(..) | Type::Enum(_) => {
                if let Some((lo, hi)) = terms.type_bounds(ty)
                    && !(lo..=hi).contains(&n)
                {
                    n = lo + n.rem_euclid((hi - lo).saturating_add(1).max(1));
                }
            }
        }
        Value::from_word(ty, n)
    }
}

impl Oracle for Guess<'_> {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        Some(self.value(terms, terms.variable(v).ty))
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        (branches > 0).then(|| self.below(branches))
    }
}

/// For each location of the large automaton, some states of runs that come there. The numbers are those that are tried out.
pub fn samples(program: &Program<'_>, numbers: &[i64]) -> Vec<Vec<Valuation>> {
    let cfa = program.small;
    let mut large = vec![None; cfa.locations().len()];
    for (n, l) in program.large.origin.iter().enumerate() {
        large[l.index()] = Some(n);
    }
    let mut found: Vec<Vec<Valuation>> = vec![vec![]; program.large.origin.len()];
    let mut seen = BTreeSet::new();
    let mut work = WORK;
    for seed in 0..RUNS as u64 {
        let mut guess = Guess { state: (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, numbers };
        let start = cfa.variables.iter().map(|&v| (v, guess.value(&cfa.terms, cfa.terms.variable(v).ty))).collect();
        let mut state = State { location: cfa.initial, env: start };
        let mut last = state.clone();
        let (mut retries, mut length) = (RETRIES, 0);
        while length < LENGTH && work > 0 {
            if let Some(n) = large[state.location.index()] {
                length += 1;
                last = state.clone();
                if found[n].len() < KEPT && seen.insert((n, format!("{:?}", state.env))) {
                    found[n].push(state.env.clone());
                }
            }
            match next(program, &state, &mut guess, &mut work) {
                Some(next) => state = next,
                None if retries > 0 && !cfa.outgoing(last.location).is_empty() => {
                    retries -= 1;
                    length -= 1;
                    state = last.clone();
                }
                None => break,
            }
        }
    }
    found
}

/// One edge on, if one of them can be taken.
fn next(program: &Program<'_>, state: &State, guess: &mut Guess<'_>, work: &mut usize) -> Option<State> {
    let cfa = program.small;
    let edges = cfa.outgoing(state.location);
    if edges.is_empty() || cfa.is_error(state.location) {
        return None;
    }
    let first = guess.below(edges.len());
    for n in 0..edges.len() {
        let edge = cfa.edge(edges[(first + n) % edges.len()]);
        let mut env = state.env.clone();
        *work = work.saturating_sub(1);
        if run(&cfa.terms, edge.stmt, &mut env, guess) {
            return Some(State { location: edge.to, env });
        }
    }
    None
}
