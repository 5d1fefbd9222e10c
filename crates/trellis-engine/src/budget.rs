//! Limits and progress. An engine asks its [`Budget`] now and then whether it may go on, and tells it how far it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trellis_model::evidence::Reason;

/// How far an exploration may go.
pub struct Budget<'o> {
    deadline: Option<Instant>,
    memory: Option<usize>,
    states: Option<u64>,
    cancelled: Arc<AtomicBool>,
    observer: Option<Observer<'o>>,
    next_report: Instant,
}

/// Who is told how far the exploration is.
pub type Observer<'o> = &'o mut (dyn FnMut(&Progress) + Send);

/// How far an exploration is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// States waiting to be expanded.
    pub waiting: usize,
    /// What has been counted so far.
    pub stats: Stats,
}

/// What an exploration counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// States added to the waiting list, the initial one and every join result included (000's "explored" in most
    /// tables).
    pub added: u64,
    /// States in the passed set at the end (000 Fig. 5, refined).
    pub stored: u64,
    /// States taken from the waiting list and expanded.
    pub expanded: u64,
    /// Steps computed.
    pub steps: u64,
    /// Successors that a stored state covered.
    pub covered: u64,
    /// Joins made.
    pub joins: u64,
    /// Refinements of the joining strategy.
    pub refinements: u64,
}

const REPORT_EVERY: Duration = Duration::from_millis(200);

impl<'o> Budget<'o> {
    /// No limits.
    pub fn unlimited() -> Budget<'o> {
        Budget {
            deadline: None,
            memory: None,
            states: None,
            cancelled: Arc::default(),
            observer: None,
            next_report: Instant::now() + REPORT_EVERY,
        }
    }

    /// At most so long from now.
    pub fn time(mut self, limit: Option<Duration>) -> Self {
        self.deadline = limit.and_then(|l| Instant::now().checked_add(l));
        self
    }

    /// At most so many bytes of stored states.
    pub fn memory(mut self, bytes: Option<usize>) -> Self {
        self.memory = bytes;
        self
    }

    /// At most so many states.
    pub fn states(mut self, limit: Option<u64>) -> Self {
        self.states = limit;
        self
    }

    /// At most so many states, and no more than before.
    pub fn at_most(self, limit: u64) -> Self {
        let limit = self.states.map_or(limit, |states| states.min(limit));
        self.states(Some(limit))
    }

    /// Stops when the flag is raised.
    pub fn cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled = flag;
        self
    }

    /// Tells somebody, five times a second.
    pub fn observe(mut self, observer: Observer<'o>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// A part of the time, for one of several workers; it also stops when the flag is raised. The other limits are the same.
    pub fn slice(&self, time: Duration, stop: Arc<AtomicBool>) -> Budget<'static> {
        let end = Instant::now().checked_add(time);
        let deadline = match (end, self.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let (memory, states) = (self.memory, self.states);
        Budget { deadline, memory, states, cancelled: stop, observer: None, next_report: Instant::now() + REPORT_EVERY }
    }

    /// A part of the time, for one turn; it stops when the whole is cancelled.
    pub fn turn(&self, time: Duration) -> Budget<'static> {
        self.slice(time, self.cancelled.clone())
    }

    /// The same limits of time, for a solver.
    pub fn limits(&self) -> trellis_smt::Limits {
        trellis_smt::Limits::none().until(self.deadline).cancelled_by(self.cancelled.clone())
    }

    /// May the exploration go on?
    pub fn check(&mut self, progress: &Progress, bytes: usize) -> Result<(), Reason> {
        if self.states.is_some_and(|s| progress.stats.added > s) {
            return Err(Reason::Iterations);
        }
        // The clock is asked only now and then.
        if !progress.stats.expanded.is_multiple_of(64) {
            return Ok(());
        }
        self.ask(progress, bytes)
    }

    /// May the exploration go on? For those that take long steps, and ask seldom.
    pub fn ask(&mut self, progress: &Progress, bytes: usize) -> Result<(), Reason> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Reason::Interrupted);
        }
        if self.memory.is_some_and(|m| bytes > m) {
            return Err(Reason::Memory);
        }
        if self.deadline.is_some() || self.observer.is_some() {
            let now = Instant::now();
            if self.deadline.is_some_and(|d| now >= d) {
                return Err(Reason::Time);
            }
            if let Some(observer) = self.observer.as_mut().filter(|_| now >= self.next_report) {
                self.next_report = now + REPORT_EVERY;
                observer(progress);
            }
        }
        Ok(())
    }
}
