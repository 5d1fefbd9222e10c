//! Several engines in turns: everybody gets a little time, then more; the first answer wins.
//!
//! With two threads one looks for proofs, the other for errors. Where rules have upper bounds, [`super::exact`] is with the latter. An engine that gives up for another reason than time does not come
//! again. Whoever comes again starts anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use trellis_model::counter::System;
use trellis_model::counter::evidence::Verdict;
use trellis_model::evidence::Reason;

use super::{Engine, Outcome, backward, forward, lazy};
use crate::budget::{Budget, Progress, Stats};

/// The first turn.
const FIRST: Duration = Duration::from_millis(300);
/// The stack of a thread, in bytes.
const STACK: usize = 256 << 20;
/// How much longer each turn is than the one before.
const LONGER: u32 = 3;

/// Lazy abstraction has a turn in systems of at most so many rules, and so many pairs of a rule and a target: it keeps what leads by
/// each rule into each predicate.
const SMALL: (usize, usize) = (300, 100_000);

/// For each of two threads, who takes turns.
fn teams(system: &System) -> [Vec<Engine>; 2] {
    let proofs = vec![
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
    [proofs, errors]
}

/// Asks all, on one thread or two.
pub fn check(system: &System, threads: usize, budget: &mut Budget<'_>) -> Outcome {
    let [proofs, errors] = teams(system);
    let teams = if threads > 1 {
        vec![proofs, errors]
    } else {
        let most = errors.len().max(proofs.len());
        vec![(0..most).flat_map(|i| proofs.get(i).into_iter().chain(errors.get(i)).copied()).collect()]
    };
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, hear) = mpsc::channel();
    std::thread::scope(|scope| {
        let at_work = teams.len();
        for team in teams {
            let (tell, stop) = (tell.clone(), stop.clone());
            let whole = budget.slice(Duration::MAX, stop.clone());
            let work = move || {
                // Nobody listens after the first answer.
                _ = tell.send(turns(system, team, &whole, &stop));
            };
            _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
        drop(tell);
        let mut gave_up: Option<Outcome> = None;
        let mut ended = 0;
        while ended < at_work {
            match hear.recv_timeout(Duration::from_millis(100)) {
                Ok(outcome) => {
                    ended += 1;
                    if !matches!(outcome.verdict, Verdict::Unknown(_)) {
                        stop.store(true, Ordering::Relaxed);
                        return outcome;
                    }
                    let is_time = |o: &Outcome| matches!(o.verdict, Verdict::Unknown(Reason::Time));
                    if gave_up.as_ref().is_none_or(|o| !is_time(o)) {
                        gave_up = Some(outcome);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    if let Err(why @ Reason::Interrupted) = budget.check(&Progress::default(), 0) {
                        stop.store(true, Ordering::Relaxed);
                        return Outcome::new(Verdict::Unknown(why), Stats::default());
                    }
                }
            }
        }
        gave_up.unwrap_or_else(|| Outcome::new(Verdict::Unknown(Reason::Time), Stats::default()))
    })
}

/// One thread: everybody in turn, with more and more time.
fn turns(system: &System, mut team: Vec<Engine>, whole: &Budget<'_>, stop: &Arc<AtomicBool>) -> Outcome {
    let mut time = FIRST;
    let mut last = Outcome::new(Verdict::Unknown(Reason::Time), Stats::default());
    while !team.is_empty() {
        let mut again = vec![];
        for engine in std::mem::take(&mut team) {
            let mut slice = whole.slice(time, stop.clone());
            let mut outcome = super::check(system, &engine, &mut slice);
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
