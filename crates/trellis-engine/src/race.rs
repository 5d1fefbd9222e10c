//! Several engines in turns: what is quick comes first, everybody gets a little time, then more; the first answer wins.
//!
//! Teams run side by side, a thread for each. An engine that gives up (because it is stuck, or because the solver is) does not come
//! again. Whoever comes again starts anew: what it learnt is lost, which costs at most a third.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use trellis_model::evidence::Reason;

use crate::budget::{Budget, Progress};

/// The first turn.
const FIRST: Duration = Duration::from_millis(400);
/// The stack of a thread, in bytes.
const STACK: usize = 256 << 20;
/// How much longer each turn is than the one before.
const LONGER: u32 = 3;

/// Asks all. `ask` runs an engine, `undecided` says why an answer is none; if there is no better one, such an answer comes out.
pub fn race<E: Copy + Send, O: Send>(
    teams: Vec<Vec<E>>,
    budget: &mut Budget<'_>,
    ask: &(impl Fn(E, &mut Budget<'_>) -> O + Sync),
    undecided: &(impl Fn(&O) -> Option<Reason> + Sync),
) -> Result<O, Reason> {
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, hear) = mpsc::channel();
    std::thread::scope(|scope| {
        let teams_at_work = teams.len();
        for team in teams {
            let (tell, stop) = (tell.clone(), stop.clone());
            let whole = budget.slice(Duration::MAX, stop.clone());
            let work = move || {
                let outcome = turns(team, &whole, &stop, ask, undecided);
                // Nobody listens after the first answer.
                _ = tell.send(outcome);
            };
            // Terms may be deep; the default stack of a thread is not enough. Where no thread can be had, the others go on.
            _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
        drop(tell);
        let mut gave_up: Option<O> = None;
        let mut ended = 0;
        let mut interrupted = None;
        while ended < teams_at_work {
            match hear.recv_timeout(Duration::from_millis(100)) {
                Ok(outcome) => {
                    ended += 1;
                    let Some(outcome) = outcome else { continue };
                    if undecided(&outcome).is_none() {
                        stop.store(true, Ordering::Relaxed);
                        return Ok(outcome);
                    }
                    if gave_up.as_ref().is_none_or(|o| undecided(o) != Some(Reason::Time)) {
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
        match interrupted {
            Some(why) => Err(why),
            None => gave_up.ok_or(Reason::Time),
        }
    })
}

/// One thread: everybody in turn, with more and more time. None if time is up.
fn turns<E: Copy, O>(
    mut team: Vec<E>,
    whole: &Budget<'_>,
    stop: &Arc<AtomicBool>,
    ask: &impl Fn(E, &mut Budget<'_>) -> O,
    undecided: &impl Fn(&O) -> Option<Reason>,
) -> Option<O> {
    let mut time = FIRST;
    let mut last = None;
    while !team.is_empty() {
        let mut again = vec![];
        for engine in std::mem::take(&mut team) {
            let outcome = ask(engine, &mut whole.slice(time, stop.clone()));
            match undecided(&outcome) {
                None => return Some(outcome),
                Some(Reason::Time) => again.push(engine),
                Some(_) => {}
            }
            last = Some(outcome);
            if whole.limits().exceeded(0).is_some() {
                return None;
            }
        }
        team = again;
        time *= LONGER;
    }
    last
}
