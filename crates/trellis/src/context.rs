//! Who asks: when that began, who may stop it, and who is told what happens on the way.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trellis_meter::{Board, Meter};
use trellis_report::Style;

/// Is told what happens on the way: warnings and notes, and which question is being worked on.
pub trait Listener: Send + Sync {
    /// A warning or a note, for a person; the text ends as it should be shown.
    fn note(&self, _text: &str) {}
    /// Something that was asked for beside answers: what an audit found.
    fn found(&self, _text: &str) {}
    /// Work begins on a question; its progress is on the board. What is returned is dropped when the work ends.
    fn working(&self, _question: &str, _board: &Board) -> Option<Box<dyn Any>> {
        None
    }
}

/// Is told nothing.
struct Nobody;

impl Listener for Nobody {}

/// Who asks.
#[derive(Clone)]
pub struct Context {
    /// From when on time counts.
    pub started: Instant,
    /// Raised by whoever wants an end.
    pub cancelled: Arc<AtomicBool>,
    /// Who is told.
    pub listener: Arc<dyn Listener>,
    /// Are diagnostics coloured?
    pub color: bool,
    /// How answers are written: colours, width.
    pub style: Style,
}

impl Default for Context {
    fn default() -> Context {
        let cancelled = Arc::new(AtomicBool::new(false));
        Context {
            started: Instant::now(),
            cancelled,
            listener: Arc::new(Nobody),
            color: false,
            style: Style::default(),
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("started", &self.started).finish_non_exhaustive()
    }
}

impl Context {
    /// Says something for a person, as it is.
    pub fn note(&self, text: impl fmt::Display) {
        let text = text.to_string();
        if !text.is_empty() {
            self.listener.note(&text);
        }
    }

    /// When time is up.
    pub fn deadline(&self, timeout: Option<Duration>) -> Option<Instant> {
        timeout.and_then(|t| self.started.checked_add(t))
    }

    /// Limits of time and memory.
    pub fn meter(&self, timeout: Option<Duration>, memory: Option<usize>) -> Meter {
        Meter::unlimited().until(self.deadline(timeout)).memory(memory).cancelled_by(self.cancelled.clone())
    }

    /// Has somebody asked for an end?
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
