//! Several engines in turns ([`crate::scheduler`]): one that looks for a proof, one that looks for an error, and so on. Where rules have
//! upper bounds, [`super::exact`] comes before the others that look for errors.

use std::time::Duration;

use trellis_meter::{Meter, Stats};
use trellis_model::counter::System;
use trellis_model::counter::evidence::Verdict;
use trellis_model::evidence::Reason;

use super::{Engine, Outcome, backward, forward, lazy};
use crate::scheduler::{self, Runner, race};

/// The first turn.
const FIRST: Duration = Duration::from_millis(300);

/// Lazy abstraction has a turn in systems of at most so many rules, and so many pairs of a rule and a target: it keeps what leads by
/// each rule into each predicate.
const SMALL: (usize, usize) = (300, 100_000);

/// Who takes turns.
fn runners(system: &System) -> Vec<Engine> {
    let proofs = [
        Engine::Backward(backward::Options { prune: true }),
        Engine::Equation,
        Engine::Frames,
        Engine::Backward(backward::Options { prune: false }),
    ];
    let mut errors = vec![Engine::Forward(forward::Options::default())];
    if system.rules.len() <= SMALL.0 && system.rules.len() * system.target.len() <= SMALL.1 {
        errors.push(Engine::Lazy(lazy::Options { project: true, ..lazy::Options::default() }));
    }
    // Where the others may only guess at runs, whoever knows comes first.
    if !system.is_monotone() {
        errors.insert(0, Engine::Exact);
    }
    let most = errors.len().max(proofs.len());
    (0..most).flat_map(|i| proofs.get(i).into_iter().chain(errors.get(i)).copied()).collect()
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
pub fn check(system: &System, threads: usize, meter: &mut Meter) -> Outcome {
    let runner = |engine: Engine| {
        Runner::new(engine.to_string(), move |meter: &mut Meter| Outcome {
            by: Some(engine),
            ..super::check(system, &engine, meter)
        })
    };
    race(runners(system).into_iter().map(runner).collect(), threads, FIRST, meter)
        .unwrap_or_else(|why| Outcome::new(Verdict::Unknown(why), Stats::default()))
}
