//! Several engines in turns ([`crate::scheduler`]): one that looks for a proof, one that looks for an error, a proof.

use std::time::Duration;

use trellis_meter::{Meter, Stats};
use trellis_model::cfa::Cfa;
use trellis_model::evidence::{Reason, Verdict};

use super::cegar::{self, Domain};
use super::post::Mode;
use super::refine::Refinement;
use super::{Engine, Outcome, lazy};
use crate::scheduler::{self, Runner, race};

/// The first turn.
const FIRST: Duration = Duration::from_millis(400);

/// More states than this are no proof that anybody wants to check: others may find a shorter one.
const LISTED: u64 = 50_000;

/// Who takes turns, those that come first first.
fn runners() -> [Engine; 8] {
    let cegar = |domain, refinement| Engine::Cegar(cegar::Options { domain, refinement, ..cegar::Options::default() });
    let predicates = Domain::Predicates(Mode::Cartesian);
    [
        cegar(predicates, Refinement::Sequence),
        Engine::Bmc(None),
        Engine::Induction(None),
        Engine::Explicit,
        cegar(predicates, Refinement::NewtonBackward),
        cegar(Domain::Product(Mode::Cartesian), Refinement::Core),
        cegar(predicates, Refinement::NewtonForward),
        Engine::Lazy(lazy::Options::default()),
    ]
}

impl scheduler::Outcome for Outcome {
    fn undecided(&self) -> Option<&Reason> {
        match &self.verdict {
            Verdict::Unknown(why) => Some(why),
            _ => None,
        }
    }
}

/// Asks all, on so many threads.
pub fn check(cfa: &Cfa, threads: usize, meter: &mut Meter) -> Outcome {
    let runner = |engine: Engine| {
        Runner::new(engine.to_string(), move |meter: &mut Meter| {
            let outcome = match engine {
                Engine::Explicit => super::check(cfa, &engine, &mut meter.clone().at_most(LISTED)),
                _ => super::check(cfa, &engine, meter),
            };
            Outcome { by: Some(engine), ..outcome }
        })
    };
    race(runners().map(runner).into(), threads, FIRST, meter)
        .unwrap_or_else(|why| Outcome::new(Verdict::Unknown(why), Stats::default()))
}
