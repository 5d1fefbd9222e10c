//! What refinement went through, round by round, as graphs that can be looked at: recorded only if somebody asks, and only as long as they are
//! small. It says nothing about what its nodes mean; whoever records one names them in the words of the model.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// So many rounds are kept.
const MOST: usize = 200;
/// So many nodes of each.
pub const MOST_NODES: usize = 150;

/// One round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Round {
    /// What happened in it.
    pub title: String,
    /// What had been built so far.
    pub nodes: Vec<RoundNode>,
    /// From where, to where, and what stands at the arrow; covering edges are dashed.
    pub edges: Vec<RoundEdge>,
    /// Was more built than is shown?
    pub cut: bool,
}

/// A node of such a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundNode {
    /// What stands in it.
    pub lines: Vec<String>,
    /// Its part in this round.
    pub role: Role,
}

/// An edge of such a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundEdge {
    /// From which node, by position.
    pub from: usize,
    /// To which.
    pub to: usize,
    /// What is taken.
    pub label: String,
    /// It says who covers, not what is taken.
    pub covers: bool,
}

/// What a node is in a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// Nothing special.
    #[default]
    Plain,
    /// It waits to be expanded.
    Waiting,
    /// Another covers it.
    Covered,
    /// It is on the path that turned out to be impossible.
    Path,
    /// What is refined.
    Pivot,
    /// Something bad seems to be reached.
    Error,
}

impl Role {
    /// `plain`, `waiting`, `covered`, `path`, `pivot`, `error`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Plain => "plain",
            Role::Waiting => "waiting",
            Role::Covered => "covered",
            Role::Path => "path",
            Role::Pivot => "pivot",
            Role::Error => "error",
        }
    }
}

/// All rounds.
#[derive(Default)]
pub(crate) struct Rounds {
    wanted: AtomicBool,
    all: Mutex<Vec<Round>>,
}

impl Rounds {
    pub(crate) fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, round: impl FnOnce() -> Round) {
        if !self.is_wanted() {
            return;
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST {
            all.push(round());
        }
    }

    pub(crate) fn take(&self) -> Vec<Round> {
        std::mem::take(&mut *self.all.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rounds").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}
