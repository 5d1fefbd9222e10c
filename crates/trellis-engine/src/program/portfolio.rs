//! Several engines in turns: what is quick comes first, everybody gets a little time, then more; the first answer wins.
//!
//! With two threads one begins by looking for errors, the other for proofs. An engine that gives up (because it is stuck, or because
//! the solver is) does not come again. Whoever comes again starts anew: what it learnt is lost, which costs at most a third.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use trellis_model::cfa::Cfa;
use trellis_model::evidence::{Reason, Verdict};

use super::cegar::{self, Domain};
use super::post::Mode;
use super::refine::Refinement;
use super::{Engine, Outcome, lazy};
use crate::budget::{Budget, Progress, Stats};

/// The first turn.
const FIRST: Duration = Duration::from_millis(400);
/// The stack of a thread, in bytes.
const STACK: usize = 256 << 20;
/// How much longer each turn is than the one before.
const LONGER: u32 = 3;

/// For each of two threads, who takes turns.
fn teams() -> [Vec<Engine>; 2] {
    let cegar = |domain, refinement| Engine::Cegar(cegar::Options { domain, refinement, ..cegar::Options::default() });
    let predicates = Domain::Predicates(Mode::Cartesian);
    let errors = vec![
        Engine::Bmc(None),
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
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, hear) = mpsc::channel();
    std::thread::scope(|scope| {
        let teams_at_work = teams.len();
        for team in teams {
            let (tell, stop) = (tell.clone(), stop.clone());
            let whole = budget.slice(Duration::MAX, stop.clone());
            let work = move || {
                let outcome = turns(cfa, team, &whole, &stop);
                // Nobody listens after the first answer.
                _ = tell.send(outcome);
            };
            // Terms may be deep; the default stack of a thread is not enough. Where no thread can be had, the others go on.
            _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
        drop(tell);
        let mut gave_up: Option<Outcome> = None;
        let mut ended = 0;
        let mut interrupted = None;
        while ended < teams_at_work {
            match hear.recv_timeout(Duration::from_millis(100)) {
                Ok(outcome) => {
                    ended += 1;
                    let is_time = |o: &Outcome| matches!(o.verdict, Verdict::Unknown(Reason::Time));
                    if !matches!(outcome.verdict, Verdict::Unknown(_)) {
                        stop.store(true, Ordering::Relaxed);
                        return outcome;
                    }
                    if gave_up.as_ref().is_none_or(|o| !is_time(o)) {
                        gave_up = Some(outcome);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if let Err(why @ Reason::Interrupted) = budget.check(&Progress::default(), 0) {
                        interrupted = Some(why);
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
        let none = || Outcome::new(Verdict::Unknown(Reason::Time), Stats::default());
        match interrupted {
            Some(why) => Outcome::new(Verdict::Unknown(why), Stats::default()),
            None => gave_up.unwrap_or_else(none),
        }
    })
}

/// One thread: everybody in turn, with more and more time.
fn turns(cfa: &Cfa, mut team: Vec<Engine>, whole: &Budget<'_>, stop: &Arc<AtomicBool>) -> Outcome {
    let mut time = FIRST;
    let mut last = Outcome::new(Verdict::Unknown(Reason::Time), Stats::default());
    while !team.is_empty() {
        let mut again = vec![];
        for engine in std::mem::take(&mut team) {
            let mut slice = whole.slice(time, stop.clone());
            let mut outcome = super::check(cfa, &engine, &mut slice);
            outcome.by = Some(engine);
            match &outcome.verdict {
                Verdict::Unknown(Reason::Time) => again.push(engine),
                Verdict::Unknown(_) => {}
                _ => return outcome,
            }
            last = outcome;
            if whole.limits().exceeded(0).is_some() {
                return Outcome { verdict: Verdict::Unknown(Reason::Time), ..last };
            }
        }
        team = again;
        time *= LONGER;
    }
    last
}
