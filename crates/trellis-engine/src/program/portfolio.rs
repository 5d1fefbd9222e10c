//! Several engines in turns ([`crate::race`]). With two threads one begins by looking for errors, the other for proofs.

use std::time::Duration;

use trellis_model::cfa::Cfa;
use trellis_model::evidence::Verdict;

use super::cegar::{self, Domain};
use super::post::Mode;
use super::refine::Refinement;
use super::{Engine, Outcome, lazy};
use crate::budget::{Budget, Stats};
use crate::race::race;

/// More states than this are no proof that anybody wants to check: others may find a shorter one.
const LISTED: u64 = 50_000;

/// For each of two threads, who takes turns.
fn teams() -> [Vec<Engine>; 2] {
    let cegar = |domain, refinement| Engine::Cegar(cegar::Options { domain, refinement, ..cegar::Options::default() });
    let predicates = Domain::Predicates(Mode::Cartesian);
    let errors = vec![
        Engine::Bmc(None),
        Engine::Explicit,
        cegar(Domain::Product(Mode::Cartesian), Refinement::Core),
        Engine::Lazy(lazy::Options::default()),
    ];
    let proofs = vec![
        cegar(predicates, Refinement::Sequence),
        Engine::Induction(None),
        cegar(predicates, Refinement::NewtonBackward),
        cegar(predicates, Refinement::NewtonForward),
    ];
    [errors, proofs]
}

/// Asks all, on one thread or two.
pub fn check(cfa: &Cfa, threads: usize, budget: &mut Budget<'_>) -> Outcome {
    let [errors, proofs] = teams();
    let teams = if threads > 1 {
        vec![errors, proofs]
    } else {
        // In turns: a proof, an error, a proof.
        let most = errors.len().max(proofs.len());
        let one = (0..most).flat_map(|i| proofs.get(i).into_iter().chain(errors.get(i)).copied());
        vec![one.collect()]
    };
    let ask = |engine, budget: &mut Budget<'_>| {
        let outcome = match engine {
            Engine::Explicit => super::check(cfa, &engine, &mut budget.turn(Duration::MAX).at_most(LISTED)),
            _ => super::check(cfa, &engine, budget),
        };
        Outcome { by: Some(engine), ..outcome }
    };
    let undecided = |outcome: &Outcome| match &outcome.verdict {
        Verdict::Unknown(why) => Some(why.clone()),
        _ => None,
    };
    race(teams, budget, &ask, &undecided).unwrap_or_else(|why| Outcome::new(Verdict::Unknown(why), Stats::default()))
}
