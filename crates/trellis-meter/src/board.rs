//! Where progress is seen: a line for each runner.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::rounds::{Round, Rounds};

/// How far an exploration is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// States waiting to be expanded.
    pub waiting: usize,
    /// What has been counted so far.
    pub stats: Stats,
}

/// What an exploration counts. Engines that have no states count what they have instead: bounded model checking its depth as
/// `expanded`, refinement its iterations as `refinements`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// States added to the waiting list, the initial one and every join result included ("explored" in most of opaal's tables).
    pub added: u64,
    /// States in the passed set at the end.
    pub stored: u64,
    /// States taken from the waiting list and expanded.
    pub expanded: u64,
    /// Steps computed.
    pub steps: u64,
    /// Successors that a stored state covered.
    pub covered: u64,
    /// Joins made.
    pub joins: u64,
    /// Refinements of the abstraction.
    pub refinements: u64,
}

/// The lines of all runners, in the order in which they began. A clone is the same board.
#[derive(Clone, Default)]
pub struct Board(Arc<Mutex<Vec<Arc<Line>>>>, Arc<Rounds>);

impl Board {
    /// The line with this name, which is made if there is none.
    pub fn line(&self, name: &str) -> Arc<Line> {
        let mut lines = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(line) = lines.iter().find(|l| l.name == name) {
            return line.clone();
        }
        let line = Arc::new(Line { name: name.into(), ..Line::default() });
        lines.push(line.clone());
        line
    }

    /// All lines.
    pub fn lines(&self) -> Vec<Arc<Line>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// From now on, what refinement goes through is recorded.
    pub fn record(&self) {
        self.1.want();
    }

    /// Does anybody want to see rounds?
    pub fn is_recording(&self) -> bool {
        self.1.is_wanted()
    }

    /// A round of a refinement; it is made only if somebody wants to see it.
    pub fn round(&self, round: impl FnOnce() -> Round) {
        self.1.add(round);
    }

    /// All rounds since they were asked for last.
    pub fn rounds(&self) -> Vec<Round> {
        self.1.take()
    }

    /// Begins anew, for the next question.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lines().iter().map(|l| (l.name.clone(), l.progress()))).finish()
    }
}

/// What one runner has done so far.
#[derive(Default)]
pub struct Line {
    name: String,
    set: AtomicBool,
    numbers: [AtomicU64; 8],
}

impl Line {
    /// Who it is about; empty where there is only one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Overwrites it.
    pub fn set(&self, p: &Progress) {
        let s = &p.stats;
        let all = [p.waiting as u64, s.added, s.stored, s.expanded, s.steps, s.covered, s.joins, s.refinements];
        for (n, value) in self.numbers.iter().zip(all) {
            n.store(value, Ordering::Relaxed);
        }
        self.set.store(true, Ordering::Relaxed);
    }

    /// What was written last, if anything was.
    pub fn progress(&self) -> Option<Progress> {
        let n = |i: usize| self.numbers[i].load(Ordering::Relaxed);
        self.set.load(Ordering::Relaxed).then(|| Progress {
            waiting: usize::try_from(n(0)).unwrap_or(usize::MAX),
            stats: Stats {
                added: n(1),
                stored: n(2),
                expanded: n(3),
                steps: n(4),
                covered: n(5),
                joins: n(6),
                refinements: n(7),
            },
        })
    }
}
