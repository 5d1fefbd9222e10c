//! Limits and progress, for everything that may take long: solvers, engines, checkers of evidence.
//!
//! A [`Meter`] is handed down; whoever loops asks it now and then whether to go on ([`Meter::check`] in explorations, [`Meter::exceeded`]
//! elsewhere). There is one kind of limit for all:
//!
//! - *time*: a deadline; one of the whole run, and perhaps an earlier one for a turn in a portfolio;
//! - *memory*: what is resident of the whole process, and its address space, measured by a thread of its own, never an estimate of a table;
//! - *states* that an exploration adds, and *steps* (conflicts) that a solver takes;
//! - *cancellation*, from outside (an interrupt) or from a portfolio that has its answer.
//!
//! Progress lies on a [`Board`]: each runner has a line that it overwrites, and whoever wants to show it looks. So libraries never print or
//! call back.

mod board;
mod memory;
mod rounds;
pub mod seeded;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use board::{Board, Line, Progress, Stats};
pub use memory::{address_space, is_over, resident};
pub use rounds::{MOST_NODES, Role, Round, RoundEdge, RoundNode};

/// Why work must stop although it is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The deadline has passed.
    Time,
    /// The process holds more memory than it may.
    Memory,
    /// An exploration has added more states than it may.
    States,
    /// A solver has taken more steps than it may.
    Steps,
    /// Cancelled from outside.
    Cancelled,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Time => "time limit reached",
            StopReason::Memory => "memory limit reached",
            StopReason::States => "state limit reached",
            StopReason::Steps => "the solver gave up after the work it was allowed",
            StopReason::Cancelled => "interrupted",
        })
    }
}

/// How far work may go, and where its progress is seen. A clone is the same meter: same limits, same line on the board.
#[derive(Clone, Default)]
pub struct Meter {
    deadline: Option<Instant>,
    memory: Option<memory::Watch>,
    states: Option<u64>,
    steps: Option<u64>,
    /// Raised from outside, and by a portfolio that has its answer.
    cancelled: Vec<Arc<AtomicBool>>,
    board: Board,
    line: Option<Arc<Line>>,
}

impl Meter {
    /// No limits.
    pub fn unlimited() -> Meter {
        Meter::default()
    }

    /// At most so long from now; `None` is no limit.
    pub fn time(self, limit: impl Into<Option<Duration>>) -> Meter {
        let deadline = limit.into().and_then(|l| Instant::now().checked_add(l));
        self.until(deadline)
    }

    /// Until then; `None` is no limit.
    pub fn until(mut self, deadline: Option<Instant>) -> Meter {
        self.deadline = deadline;
        self
    }

    /// At most so many bytes resident in the whole process; and not all of its address space, where the system limits that.
    pub fn memory(mut self, bytes: Option<usize>) -> Meter {
        self.memory = memory::Watch::start(bytes);
        self
    }

    /// At most so many states.
    pub fn states(mut self, limit: Option<u64>) -> Meter {
        self.states = limit;
        self
    }

    /// At most so many states, and no more than before.
    pub fn at_most(self, limit: u64) -> Meter {
        let limit = self.states.map_or(limit, |states| states.min(limit));
        self.states(Some(limit))
    }

    /// At most so many steps of a solver; unlike time, the same on every machine.
    pub fn steps(mut self, limit: u64) -> Meter {
        self.steps = Some(limit);
        self
    }

    /// Stops when the flag is raised, too.
    pub fn cancelled_by(mut self, flag: Arc<AtomicBool>) -> Meter {
        self.cancelled.push(flag);
        self
    }

    /// Shows progress on this board.
    pub fn on(mut self, board: &Board) -> Meter {
        self.board = board.clone();
        self
    }

    /// A part of the time, for one turn of a runner; its progress is on a line with this name. It stops with the whole, too.
    pub fn turn(&self, name: &str, time: Duration) -> Meter {
        let mut part = self.at_most_time(time);
        part.line = Some(self.board.line(name));
        part
    }

    /// The same limits; progress is on a line with this name.
    pub fn named(&self, name: &str) -> Meter {
        Meter { line: Some(self.board.line(name)), ..self.clone() }
    }

    /// The same limits, and at most so long from now.
    pub fn at_most_time(&self, time: Duration) -> Meter {
        let deadline = match (Instant::now().checked_add(time), self.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.clone().until(deadline)
    }

    /// The deadline.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// How much time is left, if it is limited.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|d| d.saturating_duration_since(Instant::now()))
    }

    /// The board that progress is on.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// May an exploration go on? Cheap enough to ask for each state.
    pub fn check(&mut self, progress: &Progress) -> Result<(), StopReason> {
        if self.states.is_some_and(|s| progress.stats.added > s) {
            return Err(StopReason::States);
        }
        // The clock is asked only now and then.
        if !progress.stats.expanded.is_multiple_of(64) {
            return Ok(());
        }
        self.ask(progress)
    }

    /// May an exploration go on? For those that take long steps, and ask seldom.
    pub fn ask(&mut self, progress: &Progress) -> Result<(), StopReason> {
        if self.states.is_some_and(|s| progress.stats.added > s) {
            return Err(StopReason::States);
        }
        self.line.get_or_insert_with(|| self.board.line("")).set(progress);
        self.go_on()
    }

    /// May work go on, but for its states and steps?
    pub fn go_on(&self) -> Result<(), StopReason> {
        if self.cancelled.iter().any(|c| c.load(Ordering::Relaxed)) {
            return Err(StopReason::Cancelled);
        }
        if self.memory.as_ref().is_some_and(memory::Watch::is_over) {
            return Err(StopReason::Memory);
        }
        match self.deadline {
            Some(d) if Instant::now() >= d => Err(StopReason::Time),
            _ => Ok(()),
        }
    }

    /// Why work must stop now, after so many steps of a solver.
    pub fn exceeded(&self, steps: u64) -> Option<StopReason> {
        match self.steps {
            Some(limit) if steps > limit => Some(StopReason::Steps),
            _ => self.go_on().err(),
        }
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter")
            .field("remaining", &self.remaining())
            .field("states", &self.states)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}
