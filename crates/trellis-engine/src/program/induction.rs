//! k-induction (M. Sheeran, S. Singh, G. Stålmarck: *Checking Safety Properties Using Induction and a SAT-Solver*, FMCAD 2000) on large
//! blocks, with invariants from elsewhere ([`super::invariants`]) to help.
//!
//! For k = 1, 2, …: bounded model checking shows that no run of at most k steps reaches an error; if no run of k steps from anywhere
//! inside the invariants does either, none does. Both unrollings grow in solvers of their own. The invariants are looked for
//! when the first few steps have decided nothing.
//!
//! There is no constraint that states differ: what it proves could not be checked as an invariant.
//!
//! The loop is its own: it counts depths, and a solver searches.

use trellis_model::cfa::evidence::Verdict;
use trellis_model::evidence::Reason;
use trellis_smt::{Answer, Solver};

use super::bmc::{self, Depth, Search, exhausted, stopped};
use super::invariants::{self, Invariants};
use super::steps::Steps;
use super::{Outcome, Program};
use trellis_meter::Meter;

/// Up to so many steps induction is tried with each, and then when they have doubled.
const FEW: usize = 8;
/// With more steps than this it is not tried: it would rarely help, and is hard to check.
const MANY: usize = 64;

/// How to check.
#[derive(Debug)]
pub struct Options {
    /// How deep to look for errors, and whom to ask.
    pub search: bmc::Options,
    /// After so many steps without an answer, invariants are looked for; never if none.
    pub invariants_after: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options { search: bmc::Options::default(), invariants_after: Some(2) }
    }
}

/// Proves by induction over more and more steps, or finds an error.
pub fn check(program: &mut Program<'_>, options: &Options, meter: &mut Meter) -> Outcome {
    let mut search = Search::new(program, &options.search);
    let verdict = verdict(program, &mut search, options, meter).unwrap_or_else(Verdict::Unknown);
    Outcome::new(verdict, search.stats)
}

fn verdict(
    program: &mut Program<'_>,
    search: &mut Search,
    options: &Options,
    meter: &mut Meter,
) -> Result<Verdict, Reason> {
    let mut induction = Induction::new(program, Invariants::none(&program.large.cfa), &options.search);
    let mut wanted = options.invariants_after;
    loop {
        let over = match search.deeper(program, &options.search, meter)? {
            Depth::Error(trace) => return Ok(Verdict::Unsafe(trace)),
            Depth::Nothing => false,
            Depth::NoPath => true,
        };
        // Without loops the proof is easy; otherwise induction may find a shorter one.
        if over && search.steps.here().is_empty() {
            return exhausted(program, search, &options.search, meter).map(Verdict::Safe);
        }
        let depth = search.steps.position();
        if search.doubt.is_none() && depth <= MANY {
            if wanted.is_some_and(|n| over || depth >= n) {
                wanted = None;
                let found = invariants::find(program, meter)?;
                search.stats.refinements += 1;
                induction = Induction::new(program, found, &options.search);
            }
            while induction.steps.position() < depth {
                if induction.deeper(program, meter)? {
                    let (k, invariant) = (induction.steps.position(), induction.invariants.by_location(program));
                    return Ok(Verdict::Safe(program.certificate(program.large.cfa.terms.clone(), k, invariant)));
                }
            }
        }
        if over {
            return exhausted(program, search, &options.search, meter).map(Verdict::Safe);
        }
        if options.search.depth.is_some_and(|d| depth >= d) {
            return Err(search.doubt.take().unwrap_or(Reason::Depth));
        }
    }
}

/// Runs from anywhere inside the invariants.
struct Induction {
    steps: Steps,
    invariants: Invariants,
    solver: Box<dyn Solver>,
}

impl Induction {
    fn new(program: &mut Program<'_>, invariants: Invariants, options: &bmc::Options) -> Induction {
        let steps = Steps::from_anywhere(&mut program.large.cfa);
        let mut new = Induction { steps, invariants, solver: (options.solver)() };
        new.stay(program);
        new
    }

    /// The run is inside now.
    fn stay(&mut self, program: &mut Program<'_>) {
        let terms = &mut program.large.cfa.terms;
        let inside = self.steps.inside(terms);
        self.solver.assert(terms, inside);
        for &l in self.steps.here() {
            let there = self.steps.is_at(terms, l);
            let known = self.invariants.at(terms, l);
            let known = terms.implies(there, known);
            let known = self.steps.now(terms, known);
            self.solver.assert(terms, known);
        }
    }

    /// One step more: is there no way into an error with it?
    fn deeper(&mut self, program: &mut Program<'_>, meter: &mut Meter) -> Result<bool, Reason> {
        let cfa = &mut program.large.cfa;
        let formula = self.steps.step(cfa).map_err(|what| Reason::Unsupported(what.to_string()))?;
        self.solver.assert(&cfa.terms, formula);
        let k = self.steps.position();
        if k > FEW && !k.is_power_of_two() {
            self.stay(program);
            return Ok(false);
        }
        let error = self.steps.error(&mut cfa.terms);
        match self.solver.check(&cfa.terms, &[error], &*meter) {
            Answer::Unsat(_) => return Ok(true),
            Answer::Sat(_) => {}
            // Perhaps with more steps.
            Answer::Unknown(why) => stopped(why).map_or(Ok(()), Err)?,
        }
        self.stay(program);
        Ok(false)
    }
}
