//! The scheduler of all portfolios: several runners in turns of growing length, on any number of threads; the first answer wins.
//!
//! Runners wait in a queue, by the length of their next turn, then by rank (their place in the list). A thread takes the first, gives it
//! its turn, and puts it back with a turn three times as long if all it wanted for was time; who gives up for another reason does not
//! come again. Runners that start anew in each turn repeat at most a third of their work that way; a runner may as well go on where it
//! was. With one thread the order is fixed, so that the answer does not depend on luck; if several threads have an answer, the
//! lowest rank counts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use trellis_meter::{Meter, StopReason};
use trellis_model::evidence::Reason;

/// The stack of a thread, in bytes: terms may be deep, the default is not enough.
const STACK: usize = 256 << 20;
/// How much longer each turn is than the one before.
const LONGER: u32 = 3;
/// How often the scheduler looks whether the whole must stop.
const LOOK: Duration = Duration::from_millis(50);

/// Who takes turns.
pub struct Runner<R> {
    /// What its line of progress is called.
    pub name: String,
    /// One turn, within the limits of the meter.
    pub turn: R,
    /// Its turns are so many times as long as those of the others.
    pub share: u32,
}

impl<R> Runner<R> {
    /// A runner.
    pub fn new(name: impl Into<String>, turn: R) -> Runner<R> {
        Runner { name: name.into(), turn, share: 1 }
    }

    /// With turns so many times as long as those of others.
    #[must_use]
    pub fn with_share(self, share: u32) -> Runner<R> {
        Runner { share, ..self }
    }
}

/// What comes of a turn.
pub trait Outcome {
    /// Why it is no answer; `None` if it is one.
    fn undecided(&self) -> Option<&Reason>;
}

/// Who waits, by the length of the next turn and by rank.
struct Queue<R> {
    waiting: BTreeMap<(Duration, usize), Runner<R>>,
    longer: u32,
}

impl<R> Queue<R> {
    fn new(runners: Vec<Runner<R>>, first: Duration, longer: u32) -> Queue<R> {
        Queue { waiting: runners.into_iter().enumerate().map(|(rank, r)| ((first, rank), r)).collect(), longer }
    }

    fn next(&mut self) -> Option<(Duration, usize, Runner<R>)> {
        self.waiting.pop_first().map(|((time, rank), runner)| (time, rank, runner))
    }

    fn again(&mut self, time: Duration, rank: usize, runner: Runner<R>) {
        let time = match self.longer {
            // Behind those that still have their turn in this round.
            1 => time.saturating_add(Duration::from_nanos(1)),
            longer => time.saturating_mul(longer),
        };
        self.waiting.insert((time, rank), runner);
    }
}

/// The undecided outcome that is reported if there is no answer: that of the lowest rank.
fn keep<O>(kept: &mut Option<(usize, O)>, rank: usize, outcome: O) {
    if kept.as_ref().is_none_or(|(r, _)| rank <= *r) {
        *kept = Some((rank, outcome));
    }
}

/// Runs all on this thread, in rounds of turns so long: for runners that go on where they were, so that nothing is repeated.
pub fn rounds<O: Outcome, R: FnMut(&mut Meter) -> O>(
    runners: Vec<Runner<R>>,
    turn: Duration,
    meter: &Meter,
) -> Result<O, Reason> {
    one_by_one(Queue::new(runners, turn, 1), meter)
}

/// Runs all on this thread, the first turns so long. If there is no answer, the outcome is an undecided one, or why the whole stopped.
pub fn turns<O: Outcome, R: FnMut(&mut Meter) -> O>(
    runners: Vec<Runner<R>>,
    first: Duration,
    meter: &Meter,
) -> Result<O, Reason> {
    one_by_one(Queue::new(runners, first, LONGER), meter)
}

fn one_by_one<O: Outcome, R: FnMut(&mut Meter) -> O>(mut queue: Queue<R>, meter: &Meter) -> Result<O, Reason> {
    let mut kept = None;
    while let Some((time, rank, mut runner)) = queue.next() {
        let outcome = (runner.turn)(&mut meter.turn(&runner.name, time.saturating_mul(runner.share)));
        match outcome.undecided() {
            None => return Ok(outcome),
            Some(Reason::Time) => queue.again(time, rank, runner),
            Some(_) => {}
        }
        if let Err(why) = meter.go_on() {
            return Err(why.into());
        }
        keep(&mut kept, rank, outcome);
    }
    kept.map(|(_, outcome)| outcome).ok_or(Reason::Time)
}

/// The same on so many threads.
pub fn race<O: Outcome + Send, R: FnMut(&mut Meter) -> O + Send>(
    runners: Vec<Runner<R>>,
    threads: usize,
    first: Duration,
    meter: &Meter,
) -> Result<O, Reason> {
    let threads = threads.min(runners.len());
    if threads <= 1 {
        return turns(runners, first, meter);
    }
    let queue = Mutex::new(Queue::new(runners, first, LONGER));
    let done = Arc::new(AtomicBool::new(false));
    let part = meter.clone().cancelled_by(done.clone());
    let (tell, hear) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (tell, part, queue) = (tell.clone(), part.clone(), &queue);
            let locked = || queue.lock().unwrap_or_else(PoisonError::into_inner);
            let work = move || {
                while part.go_on().is_ok() {
                    // Not in the condition of a loop: the lock would be held while the turn lasts.
                    let next = locked().next();
                    let Some((time, rank, mut runner)) = next else { return };
                    let outcome = (runner.turn)(&mut part.turn(&runner.name, time.saturating_mul(runner.share)));
                    if matches!(outcome.undecided(), Some(Reason::Time)) {
                        locked().again(time, rank, runner);
                    }
                    // Nobody listens after the first answer.
                    _ = tell.send((rank, outcome));
                }
            };
            // Where no thread can be had, the others go on.
            _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
        drop(tell);
        let (mut answer, mut kept): (Option<(usize, O)>, _) = (None, None);
        let mut stopped = None;
        loop {
            match hear.recv_timeout(LOOK) {
                Ok((rank, outcome)) => match outcome.undecided() {
                    None => {
                        done.store(true, Ordering::Relaxed);
                        keep(&mut answer, rank, outcome);
                    }
                    Some(_) => keep(&mut kept, rank, outcome),
                },
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if answer.is_none() {
                stopped = stopped.or(meter.go_on().err());
            }
        }
        // Threads that never began have sent nothing: the whole was stopped before.
        match (answer, stopped.or(meter.go_on().err())) {
            (Some((_, outcome)), _) => Ok(outcome),
            (None, Some(why)) => Err(why.into()),
            (None, None) => kept.map(|(_, outcome)| outcome).ok_or(StopReason::Time.into()),
        }
    })
}
