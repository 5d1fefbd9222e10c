//! Control-flow automata and a solver: can an error location be reached?
//!
//! Programs, transition systems and statecharts all come here as a [`Cfa`]. The engines work on the automaton of large blocks
//! ([`lbe`]), where an edge is a loop-free piece of program; [`Program`] holds both, and takes evidence back to the automaton that
//! was given.

pub mod bmc;
pub mod candidates;
pub mod cegar;
pub mod domain;
pub mod edges;
pub mod explicit;
pub mod facts;
pub mod induction;
pub mod intervals;
pub mod invariants;
pub mod label;
pub mod lazy;
pub mod portfolio;
pub mod post;
pub mod refine;
pub mod samples;
pub mod steps;
pub mod trace;
pub mod tree;

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashSet;
use trellis_expr::{TermId, Terms};
use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
use trellis_model::cfa::lbe::{self, Blocks};
use trellis_model::cfa::{Cfa, EdgeId, LocationId};
use trellis_model::evidence::Reason;
use trellis_smt::Embedded;

use self::trace::{NoTrace, Tracer};

use trellis_meter::{Meter, Stats};

/// What an engine answers.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Can an error location be reached?
    pub verdict: Verdict,
    /// What was counted.
    pub stats: Stats,
    /// Of a portfolio: who answered.
    pub by: Option<Engine>,
}

impl Outcome {
    fn new(verdict: Verdict, stats: Stats) -> Outcome {
        Outcome { verdict, stats, by: None }
    }
}

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// Abstraction refinement.
    Cegar(cegar::Options),
    /// Lazy abstraction with interpolants.
    Lazy(lazy::Options),
    /// Bounded model checking, up to a depth if there is one.
    Bmc(Option<usize>),
    /// k-induction, up to a depth if there is one, with invariants that were guessed.
    Induction(Option<usize>),
    /// All states, one by one.
    Explicit,
    /// Several of these in turns, on so many threads.
    Portfolio(usize),
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Cegar(options) => write!(f, "cegar ({options})"),
            Engine::Lazy(options) => write!(f, "lazy ({})", options.refinement),
            Engine::Bmc(_) => write!(f, "bmc"),
            Engine::Induction(_) => write!(f, "induction"),
            Engine::Explicit => write!(f, "explicit"),
            Engine::Portfolio(_) => write!(f, "portfolio"),
        }
    }
}

/// Can an error location of the automaton be reached?
pub fn check(cfa: &Cfa, engine: &Engine, meter: &mut Meter) -> Outcome {
    if let Engine::Portfolio(threads) = *engine {
        return portfolio::check(cfa, threads, meter);
    }
    let mut program = Program::new(cfa);
    match *engine {
        Engine::Cegar(ref options) => cegar::check(&mut program, options, meter),
        Engine::Lazy(ref options) => lazy::check(&mut program, options, meter),
        Engine::Bmc(depth) => bmc::check(&mut program, &bmc::Options { depth, ..bmc::Options::default() }, meter),
        Engine::Induction(depth) => {
            let search = bmc::Options { depth, ..bmc::Options::default() };
            induction::check(&mut program, &induction::Options { search, ..induction::Options::default() }, meter)
        }
        Engine::Explicit => explicit::check(&mut program, meter),
        Engine::Portfolio(_) => unreachable!("answered above"),
    }
}

/// An automaton, small and in large blocks.
#[derive(Debug, Clone)]
pub struct Program<'c> {
    /// As it was given.
    pub small: &'c Cfa,
    /// In large blocks. Engines add terms to this arena.
    pub large: Blocks,
}

impl<'c> Program<'c> {
    /// Makes large blocks.
    pub fn new(small: &'c Cfa) -> Program<'c> {
        Program { small, large: lbe::encode(small) }
    }

    /// A certificate from an invariant over locations of the large automaton.
    pub fn certificate(&self, terms: Terms, k: usize, invariant: Vec<(LocationId, Vec<TermId>)>) -> Certificate {
        let invariant = invariant.into_iter().map(|(l, elements)| (self.large.origin[l.index()], elements)).collect();
        Certificate { terms, k, invariant }
    }

    /// A trace of the large automaton, in the edges of the small one.
    ///
    /// # Panics
    ///
    /// If it is no trace: an engine must not report one that it has not replayed.
    pub fn trace(&self, trace: &Trace) -> Trace {
        self.large.expand(self.small, trace).expect("engines report runs")
    }
}

/// Why a solver gave up, as an engine says it.
pub(crate) fn reason(why: impl Into<trellis_smt::Reason>) -> Reason {
    match why.into() {
        trellis_smt::Reason::Time => Reason::Time,
        trellis_smt::Reason::Memory => Reason::Memory,
        trellis_smt::Reason::Cancelled => Reason::Interrupted,
        other => Reason::Solver(other.to_string()),
    }
}

/// The invariant that labels of nodes come to, by location; where no error can be reached from, everything.
fn invariant(
    cfa: &mut Cfa,
    distances: &[Option<usize>],
    labels: impl IntoIterator<Item = (LocationId, TermId)>,
) -> Vec<(LocationId, Vec<TermId>)> {
    let yes = cfa.terms.bool(true);
    let mut all: BTreeMap<LocationId, Vec<TermId>> = BTreeMap::new();
    let mut seen = FxHashSet::default();
    for (l, label) in labels {
        if seen.insert((l, label)) {
            all.entry(l).or_default().push(label);
        }
    }
    for l in cfa.locations().filter(|l| distances[l.index()].is_none()) {
        all.insert(l, vec![yes]);
    }
    all.into_iter().collect()
}

/// A run along edges of which the solver has just said that there is one.
fn run_along(cfa: &mut Cfa, edges: &[EdgeId], limits: &Meter) -> Result<Trace, Reason> {
    match Tracer::new().trace(cfa, edges, &mut Embedded::new(), limits) {
        Ok(trace) => Ok(trace),
        Err(NoTrace::Unknown(why)) => Err(reason(why)),
        Err(NoTrace::Infeasible) => unreachable!("the solver has just said the contrary"),
    }
}
