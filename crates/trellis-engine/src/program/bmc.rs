//! Bounded model checking (A. Biere, A. Cimatti, E. Clarke, Y. Zhu: *Symbolic Model Checking without BDDs*, TACAS 1999) on large blocks:
//! is there a run into an error of one step, of two, and so on?
//!
//! All paths of a length are one formula ([`super::steps`]), which grows in one incremental solver. It also notices when no path is
//! left: then no error can be reached at all. The proof is an invariant for each location. If the automaton has no loops, "true"
//! does: after as many steps as there are no path is left from anywhere. Otherwise the refinement of paths finds, for the one path that
//! takes any edge at each step, what holds after each number of steps; the union of these is the invariant.
//!
//! A depth that the solver cannot decide is passed over; whatever is said of safety then is withheld.
//!
//! The loop is its own: it counts depths, and a solver searches.

use std::fmt;

use trellis_expr::{StmtId, TermId};
use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
use trellis_model::cfa::{EdgeId, LocationId};
use trellis_model::evidence::Reason;
use trellis_smt::path::{Newton, NotRefuted, Refine};
use trellis_smt::{Answer, Embedded, Solver};

use super::steps::Steps;
use super::trace::{NoTrace, Tracer};
use super::{Outcome, Program, reason};
use trellis_meter::{Meter, Progress, Stats};

/// Makes solvers.
pub type MakeSolver = Box<dyn Fn() -> Box<dyn Solver>>;

/// How to check.
pub struct Options {
    /// How many steps are unrolled at most.
    pub depth: Option<usize>,
    /// Who is asked. One solver is made for each kind of question.
    pub solver: MakeSolver,
}

impl Default for Options {
    fn default() -> Options {
        Options { depth: None, solver: Box::new(|| Box::new(Embedded::new())) }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("depth", &self.depth).finish_non_exhaustive()
    }
}

/// Looks for errors, deeper and deeper.
pub fn check(program: &mut Program<'_>, options: &Options, meter: &mut Meter) -> Outcome {
    let mut search = Search::new(program, options);
    let verdict = loop {
        match search.deeper(program, options, meter) {
            Ok(Depth::Nothing) => {}
            Ok(Depth::Error(trace)) => break Verdict::Unsafe(trace),
            Ok(Depth::NoPath) => match exhausted(program, &search, options, meter) {
                Ok(certificate) => break Verdict::Safe(certificate),
                Err(reason) => break Verdict::Unknown(reason),
            },
            Err(reason) => break Verdict::Unknown(reason),
        }
        if options.depth.is_some_and(|d| search.steps.position() >= d) {
            break Verdict::Unknown(search.doubt.take().unwrap_or(Reason::Depth));
        }
    };
    Outcome::new(verdict, search.stats)
}

/// What one step more has shown.
pub(super) enum Depth {
    /// No error, but runs go on.
    Nothing,
    /// A run into an error, in the edges of the small automaton.
    Error(Trace),
    /// No run is this long, and no shorter one reaches an error.
    NoPath,
}

/// The search so far.
pub(super) struct Search {
    pub steps: Steps,
    pub stats: Stats,
    /// Why the answer is not known for some depth.
    pub doubt: Option<Reason>,
    solver: Box<dyn Solver>,
    /// Each step, in which a run that has met an error waits; and where runs were before it.
    path: Vec<(StmtId, Vec<LocationId>)>,
}

impl Search {
    pub fn new(program: &mut Program<'_>, options: &Options) -> Search {
        let steps = Steps::from_start(&mut program.large.cfa);
        Search { steps, stats: Stats::default(), doubt: None, solver: (options.solver)(), path: vec![] }
    }

    /// One step more.
    pub fn deeper(&mut self, program: &mut Program<'_>, options: &Options, meter: &mut Meter) -> Result<Depth, Reason> {
        meter.ask(&Progress { waiting: 0, stats: self.stats })?;
        let cfa = &mut program.large.cfa;
        if cfa.is_error(cfa.initial) {
            return self.found(program, options, &[], meter);
        }
        if self.steps.here().is_empty() {
            return self.over();
        }
        self.path.push((self.steps.waiting(cfa), self.steps.here().to_vec()));
        let formula = self.steps.step(cfa).map_err(|what| Reason::Unsupported(what.to_string()))?;
        self.stats.steps += 1;
        self.stats.added += self.steps.here().len() as u64;
        self.solver.assert(&cfa.terms, formula);
        let error = self.steps.error(&mut cfa.terms);
        if cfa.terms.as_bool(error) != Some(false) {
            match self.solver.check(&cfa.terms, &[error], &*meter) {
                Answer::Sat(model) => {
                    let path = self.steps.path(&model);
                    return self.found(program, options, &path, meter);
                }
                Answer::Unsat(core) if core.is_empty() => return self.over(),
                Answer::Unsat(_) => {}
                Answer::Unknown(why) => self.unknown(why)?,
            }
            let none = cfa.terms.not(error);
            self.solver.assert(&cfa.terms, none);
        }
        if self.steps.here().is_empty() {
            return self.over();
        }
        // Mostly the answer above says so too.
        if !self.steps.position().is_power_of_two() {
            return Ok(Depth::Nothing);
        }
        match self.solver.check(&cfa.terms, &[], &*meter) {
            Answer::Unsat(_) => self.over(),
            Answer::Sat(_) => Ok(Depth::Nothing),
            // Nothing rests on it.
            Answer::Unknown(why) => stopped(why).map_or(Ok(Depth::Nothing), Err),
        }
    }

    fn over(&mut self) -> Result<Depth, Reason> {
        self.doubt.take().map_or(Ok(Depth::NoPath), Err)
    }

    fn unknown(&mut self, why: trellis_smt::Reason) -> Result<(), Reason> {
        self.doubt.get_or_insert_with(|| reason(why.clone()));
        stopped(why).map_or(Ok(()), Err)
    }

    /// The run along a path that leads to an error.
    fn found(
        &mut self,
        program: &mut Program<'_>,
        options: &Options,
        path: &[EdgeId],
        meter: &Meter,
    ) -> Result<Depth, Reason> {
        let mut solver = (options.solver)();
        match Tracer::new().trace(&mut program.large.cfa, path, &mut *solver, meter) {
            Ok(trace) => Ok(Depth::Error(program.trace(&trace))),
            Err(NoTrace::Infeasible) => Err(Reason::Solver("it contradicts itself".to_owned())),
            Err(NoTrace::Unknown(why)) => Err(reason(why)),
        }
    }
}

/// Why the search must stop, if it must.
pub(super) fn stopped(why: trellis_smt::Reason) -> Option<Reason> {
    match why {
        trellis_smt::Reason::Time | trellis_smt::Reason::Cancelled => Some(reason(why)),
        _ => None,
    }
}

/// Why no error can be reached when no path is left.
pub(super) fn exhausted(
    program: &mut Program<'_>,
    search: &Search,
    options: &Options,
    meter: &Meter,
) -> Result<Certificate, Reason> {
    let cfa = &mut program.large.cfa;
    if search.steps.here().is_empty() {
        let yes = cfa.terms.bool(true);
        let invariant = cfa.locations().filter(|&l| !cfa.is_error(l)).map(|l| (l, vec![yes])).collect();
        let k = search.steps.position().max(1);
        return Ok(program.certificate(program.large.cfa.terms.clone(), k, invariant));
    }
    let start = search.steps.goes_to(&mut cfa.terms, cfa.initial);
    let path: Vec<StmtId> = std::iter::once(start).chain(search.path.iter().map(|p| p.0)).collect();
    let mut solver = (options.solver)();
    let refutation = match Newton::forward().refute(&mut cfa.terms, &path, &mut *solver, meter) {
        Ok(refutation) => refutation,
        Err(NotRefuted::Feasible(_)) => return Err(Reason::Solver("it contradicts itself".to_owned())),
        Err(NotRefuted::Unknown(why)) => return Err(reason(why)),
    };
    let mut invariant: Vec<(LocationId, Vec<TermId>)> = vec![];
    let fine: Vec<LocationId> = cfa.locations().filter(|&l| !cfa.is_error(l)).collect();
    for l in fine {
        if !search.steps.is_useful(l) {
            invariant.push((l, vec![cfa.terms.bool(true)]));
            continue;
        }
        let mut elements = vec![];
        for ((_, here), &p) in search.path.iter().zip(&refutation.predicates[1..]) {
            if here.contains(&l) {
                let p = search.steps.located(&mut cfa.terms, p, l);
                elements.extend((cfa.terms.as_bool(p) != Some(false) && !elements.contains(&p)).then_some(p));
            }
        }
        if !elements.is_empty() {
            invariant.push((l, elements));
        }
    }
    let known = |t: &TermId| cfa.terms.free_vars(*t).iter().all(|v| cfa.variables.contains(v));
    if !invariant.iter().all(|(_, elements)| elements.iter().all(known)) {
        return Err(Reason::Solver("no path is left, but no invariant was found".to_owned()));
    }
    Ok(program.certificate(program.large.cfa.terms.clone(), 1, invariant))
}
