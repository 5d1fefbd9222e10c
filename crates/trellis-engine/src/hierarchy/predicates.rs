//! Interpolated predicates: why a node cannot follow its projection of an abstract run, said with its variables by the solver. A predicate
//! separates states in all blocks of the node, also where the run never was.
//!
//! A moment is a copy of the node's variables, whole numbers all; the start and each step are listed, case by case. The interpolants of that
//! list are not trusted: they are evaluated in every state, and must keep what they say along the projection.

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{TermId, Terms, Type, Value, VarId};
use trellis_meter::Meter;
use trellis_smt::interpolants;

use super::cover::Cover;
use super::path::Projection;
use trellis_model::hierarchy::tree::Behaviour;

/// So many cases of one projection are written out.
const MAX_CASES: usize = 4000;
/// How much work the solver may have with them.
const EFFORT: u64 = 20_000;

/// The states of a node as values of variables, one row for each state.
pub type Rows = Vec<Vec<i64>>;

struct Copies {
    terms: Terms,
    /// For each moment, the variables.
    moments: Vec<Vec<VarId>>,
}

impl Copies {
    fn is(&mut self, at: usize, row: &[i64], all: &mut Vec<TermId>) {
        for (&v, &n) in self.moments[at].iter().zip(row) {
            let (v, n) = (self.terms.var(v), self.terms.int(n));
            all.push(self.terms.eq(v, n));
        }
    }
}

/// Sets of states, one for each moment up to where the projection fails, that follow from each other along it: the first contains the states
/// it may start in, the last is empty. None if the solver finds no predicates.
pub fn interpolate(
    behaviour: &Behaviour,
    rows: &Rows,
    cover: &Cover,
    (projection, start, fails): (&Projection, &[u32], usize),
) -> Option<Vec<Vec<u32>>> {
    let width = rows.first().map_or(0, Vec::len);
    let mut copies = Copies { terms: Terms::new(), moments: vec![] };
    for at in 0..=fails {
        let declare = |n: usize| copies.terms.declare(format!("x{n}@{at}"), Type::Int);
        let moment = (0..width).map(declare).collect();
        copies.moments.push(moment);
    }
    let mut formulas = vec![];
    let mut cases = vec![];
    for &q in start {
        let mut all = vec![];
        copies.is(0, &rows[q as usize], &mut all);
        cases.push(copies.terms.and(all));
    }
    let mut count = cases.len();
    formulas.push(copies.terms.or(cases));
    for at in 0..fails {
        let mut cases = vec![];
        for (from, to) in steps(behaviour, cover, projection, at) {
            let mut all = vec![];
            copies.is(at, &rows[from as usize], &mut all);
            copies.is(at + 1, &rows[to as usize], &mut all);
            cases.push(copies.terms.and(all));
        }
        count += cases.len();
        if count > MAX_CASES {
            return None;
        }
        formulas.push(copies.terms.or(cases));
    }
    let found = interpolants(&mut copies.terms, &formulas, &Meter::unlimited().steps(EFFORT)).ok()?;
    let mut sets = vec![];
    for (moment, &predicate) in copies.moments.iter().zip(&found[1..]) {
        let holds = |q: &u32| {
            let row = rows[*q as usize].iter().map(|&n| Value::from_word(Type::Int, n));
            let here: Valuation = moment.iter().copied().zip(row).collect();
            eval(&copies.terms, predicate, &here, &mut NoHost).ok().and_then(|v| v.as_bool()) == Some(true)
        };
        sets.push((0..rows.len() as u32).filter(holds).collect::<Vec<u32>>());
    }
    let within = |q: &u32, at: usize| sets[at].binary_search(q).is_ok();
    let follows = |at: usize| {
        let mut all = steps(behaviour, cover, projection, at);
        all.all(|(from, to)| !within(&from, at) || within(&to, at + 1))
    };
    let right = start.iter().all(|q| within(q, 0)) && (0..fails).all(follows) && sets[fails].is_empty();
    right.then_some(sets)
}

/// The steps of a projection at one moment.
fn steps<'a>(
    behaviour: &'a Behaviour,
    cover: &'a Cover,
    projection: &'a Projection,
    at: usize,
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let (block, next) = (projection.blocks[at], projection.blocks[at + 1]);
    let targets = move |&q: &u32| behaviour.targets(q, projection.events[at]).map(move |t| (q, t));
    cover.blocks[block as usize].iter().flat_map(targets).filter(move |(_, t)| cover.of[*t as usize] == next)
}
