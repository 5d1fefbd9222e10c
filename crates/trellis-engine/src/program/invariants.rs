//! Invariants by guessing and dropping (Houdini: C. Flanagan, K. R. M. Leino, *Houdini, an Annotation Assistant for ESC/Java*, FME 2001).
//!
//! Each location of the large automaton has candidates ([`super::candidates`]). As long as an edge leads from where all candidates of its
//! source hold to where one of its target does not, that one is dropped. What stays is the largest part of them that is inductive.
//! A candidate that the solver cannot decide is dropped too. Nothing is said about the initial location: anything can be there.

use std::collections::BTreeSet;

use trellis_expr::code::NoHost;
use trellis_expr::eval::eval;
use trellis_expr::{TermId, Terms, Value};
use trellis_model::cfa::{Cfa, EdgeId, LocationId};
use trellis_model::evidence::Reason;
use trellis_smt::{Answer, Embedded, Solver};

use super::bmc::stopped;
use super::candidates::candidates;
use super::edges::{Edges, Step};
use super::{Program, reason};
use trellis_meter::Meter;

/// So much work goes into one question.
const STEPS: u64 = 4_000;

/// What holds in each location of the large automaton whenever a run comes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invariants(Vec<Vec<TermId>>);

impl Invariants {
    /// Nothing is known.
    pub fn none(cfa: &Cfa) -> Invariants {
        Invariants(vec![vec![]; cfa.locations().len()])
    }

    /// What is known in a location, part by part. None of it faults.
    pub fn parts(&self, l: LocationId) -> &[TermId] {
        &self.0[l.index()]
    }

    /// All that is known in a location.
    pub fn at(&self, terms: &mut Terms, l: LocationId) -> TermId {
        terms.and(self.0[l.index()].iter().copied())
    }

    /// Leaves out what follows from the rest; the last ones first.
    fn thin(&mut self, terms: &mut Terms, limits: &Meter) {
        let limits = limits.clone().steps(STEPS);
        for parts in self.0.iter_mut().filter(|parts| parts.len() > 1) {
            let mut solver = Embedded::new();
            for n in (0..parts.len()).rev() {
                let mut assumed = parts.clone();
                assumed[n] = terms.not(parts[n]);
                if solver.check(terms, &assumed, &limits).is_unsat() {
                    parts.remove(n);
                }
            }
        }
    }

    /// As a certificate says it: for each location but errors.
    pub fn by_location(&self, program: &mut Program<'_>) -> Vec<(LocationId, Vec<TermId>)> {
        let cfa = &mut program.large.cfa;
        let fine: Vec<LocationId> = cfa.locations().filter(|&l| !cfa.is_error(l)).collect();
        fine.into_iter().map(|l| (l, vec![self.at(&mut cfa.terms, l)])).collect()
    }
}

/// Guesses, and keeps what is inductive. It takes at most a quarter of the time that is left; then it has found nothing.
pub fn find(program: &mut Program<'_>, meter: &mut Meter) -> Result<Invariants, Reason> {
    let limits = meter.clone();
    let limits = match limits.remaining() {
        Some(left) => limits.time(left / 4),
        None => limits,
    };
    let guessed = candidates(program);
    match inductive(program, guessed, &limits) {
        Ok(mut found) => {
            found.thin(&mut program.large.cfa.terms, &limits);
            Ok(found)
        }
        Err(Reason::Time) => Ok(Invariants::none(&program.large.cfa)),
        Err(reason) => Err(reason),
    }
}

/// The largest inductive part of the candidates, which are listed by location of the large automaton. Those that may fault are left out,
/// and those of the initial location and of errors.
pub fn inductive(
    program: &mut Program<'_>,
    mut candidates: Vec<Vec<TermId>>,
    limits: &Meter,
) -> Result<Invariants, Reason> {
    let cfa = &mut program.large.cfa;
    for l in cfa.locations() {
        let known = l != cfa.initial && !cfa.is_error(l);
        candidates[l.index()].retain(|&c| known && !cfa.terms.may_fault(c));
    }
    let mut edges = Edges::default();
    let limits = limits.clone().steps(STEPS);
    let mut todo: BTreeSet<EdgeId> = cfa.edges().collect();
    while let Some(e) = todo.pop_first() {
        let (from, to) = (cfa.edge(e).from, cfa.edge(e).to);
        if cfa.is_error(from) || candidates[to.index()].is_empty() {
            continue;
        }
        let edge = edges.get(cfa, e).map_err(reason)?;
        if drop_some(&mut cfa.terms, edge, &mut candidates, from, to, &limits)? {
            todo.extend(cfa.outgoing(to));
        }
    }
    Ok(Invariants(candidates))
}

/// Drops candidates that an edge leads out of; were there any?
fn drop_some(
    terms: &mut Terms,
    edge: &mut Step,
    candidates: &mut [Vec<TermId>],
    from: LocationId,
    to: LocationId,
    limits: &Meter,
) -> Result<bool, Reason> {
    let before = candidates[to.index()].len();
    while !candidates[to.index()].is_empty() {
        let after: Vec<TermId> = candidates[to.index()].iter().map(|&c| edge.after(terms, c)).collect();
        let broken: Vec<TermId> = after.iter().map(|&c| terms.not(c)).collect();
        let mut assumed = candidates[from.index()].clone();
        assumed.push(terms.or(broken.iter().copied()));
        let keep: Vec<bool> = match edge.check(terms, &assumed, limits) {
            Answer::Unsat(_) => break,
            Answer::Sat(model) => {
                after.iter().map(|&c| eval(terms, c, &model, &mut NoHost) == Ok(Value::Bool(true))).collect()
            }
            Answer::Unknown(why) => {
                if let Some(reason) = stopped(why) {
                    return Err(reason);
                }
                let mut keep = vec![];
                for &b in &broken {
                    assumed.pop();
                    assumed.push(b);
                    keep.push(edge.check(terms, &assumed, limits).is_unsat());
                }
                keep
            }
        };
        if keep.iter().all(|&k| k) {
            break;
        }
        let mut keep = keep.into_iter();
        candidates[to.index()].retain(|_| keep.next() == Some(true));
    }
    Ok(candidates[to.index()].len() < before)
}
