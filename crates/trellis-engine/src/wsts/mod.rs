//! Counter systems: can a target be covered, however many processes there are (003)?
//!
//! [`lazy`] is the paper's `LA[BF]`. Its rivals: [`backward`] goes from the target to the start with minimal bases (Abdulla et al.,
//! LICS 1996), and leaves out what the state equation ([`equation`]) shows to be out of reach; [`forward`] goes from the start and
//! accelerates (Karp and Miller 1969), guided by the same equation, which finds errors; [`frames`] is an IC3-style search; [`equation`] alone is a quick first try.
//! [`portfolio`] asks several.
//!
//! Every engine answers with evidence in the same forms ([`trellis_model::counter::evidence`]). Where rules have upper bounds these
//! engines work on the monotone system that may lose; a run that it has and the system itself has not ends in UNKNOWN. [`exact`]
//! loses nothing, and decides such systems if what their upper bounds depend on stays bounded.

pub mod backward;
pub mod equation;
pub mod exact;
pub mod forward;
pub mod frames;
mod guide;
pub mod lazy;
pub mod lossy;
pub mod portfolio;
mod pump;

use std::fmt;

use trellis_model::counter::evidence::{Trace, Verdict};
use trellis_model::counter::{Overflow, RuleId, System, Vector, interpret};
use trellis_model::evidence::Reason;

use trellis_meter::{Meter, Stats};

/// What an engine answers.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Can a target be covered?
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
    /// `LA[BF]`, or with another control.
    Lazy(lazy::Options),
    /// From the target to the start.
    Backward(backward::Options),
    /// From the start, with accelerations.
    Forward(forward::Options),
    /// The state equation and traps.
    Equation,
    /// IC3-style frames.
    Frames,
    /// From the start, exact where rules have upper bounds.
    Exact,
    /// Several of these, on so many threads.
    Portfolio(usize),
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Lazy(options) => write!(f, "wsts ({options})"),
            Engine::Backward(options) if options.prune => write!(f, "backward"),
            Engine::Backward(_) => write!(f, "backward (not pruned)"),
            Engine::Forward(options) if options.guide => write!(f, "forward"),
            Engine::Forward(_) => write!(f, "forward (not guided)"),
            Engine::Equation => write!(f, "equation"),
            Engine::Frames => write!(f, "frames"),
            Engine::Exact => write!(f, "explicit"),
            Engine::Portfolio(_) => write!(f, "portfolio"),
        }
    }
}

/// Can a target be covered?
pub fn check(system: &System, engine: &Engine, meter: &mut Meter) -> Outcome {
    match engine {
        Engine::Lazy(options) => lazy::check(system, options, meter),
        Engine::Backward(options) => backward::check(system, options, meter),
        Engine::Forward(options) => forward::check(system, options, meter),
        Engine::Equation => equation::check(system, meter),
        Engine::Frames => frames::check(system, meter),
        Engine::Exact => exact::check(system, meter),
        Engine::Portfolio(threads) => portfolio::check(system, *threads, meter),
    }
}

/// A run that starts above a vector and takes these rules. Upper bounds may stop it: then there is no answer.
fn run(system: &System, above: &Vector, rules: Vec<RuleId>) -> Verdict {
    run_of(system, above, rules.into_iter().map(|r| (r, 1)).collect())
}

/// Long runs have what is taken several times in a row once, with how many times.
const LONG: u64 = 1000;

/// The same of rules that are taken so many times.
fn run_of(system: &System, above: &Vector, mut rules: Vec<(RuleId, u64)>) -> Verdict {
    if rules.iter().fold(0_u64, |sum, r| sum.saturating_add(r.1)) > LONG {
        rules.dedup_by(|next, last| {
            let same = next.0 == last.0;
            last.1 += if same { next.1 } else { 0 };
            same
        });
    }
    let times = if rules.iter().all(|r| r.1 == 1) { vec![] } else { rules.iter().map(|r| r.1).collect() };
    let rules = rules.into_iter().map(|r| r.0).collect();
    let trace = Trace { initial: system.start_above(above), rules, times };
    match interpret::walk(system, &trace, |_| {}) {
        Ok(end) if interpret::is_bad(system, &end) => Verdict::Unsafe(trace),
        _ => Verdict::Unknown(Reason::Stuck(
            "the system covers the target only if processes may get lost where a guard has an upper bound".into(),
        )),
    }
}

fn beyond(why: Overflow) -> Reason {
    Reason::Stuck(why.to_string())
}

/// Long steps end when time is up.
fn in_time(limits: &Meter) -> Result<(), Reason> {
    Ok(limits.go_on()?)
}
