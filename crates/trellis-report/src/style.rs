//! How texts for a terminal are painted and aligned.

use crate::property::Outcome;
use crate::words::one_line;

/// How to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// With ANSI colours.
    pub color: bool,
    /// Pad queries to this many characters, so that what follows is aligned ([`Style::align`] computes it).
    pub width: usize,
    /// Also say how it was searched and what was counted, and show all clocks in every state of a run.
    pub verbose: bool,
    /// How wide the terminal is; 0 where there is none, and lines may be as long as they are.
    pub columns: usize,
    /// Leave nothing out of runs and invariants.
    pub full: bool,
}

/// Queries longer than this are not aligned to.
const MAX_ALIGN: usize = 60;

impl Style {
    /// Aligned to these queries.
    pub fn align<'a>(self, queries: impl IntoIterator<Item = &'a str>) -> Style {
        let lengths = queries.into_iter().map(|q| one_line(q).chars().count());
        Style { width: lengths.filter(|n| *n <= MAX_ALIGN).max().unwrap_or(0), ..self }
    }

    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.trim().is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }

    /// What is less important.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// The verdict word, as wide as the widest.
    pub(crate) fn word(self, outcome: Outcome) -> String {
        let code = match outcome {
            Outcome::Safe | Outcome::Holds | Outcome::Bound => "1;32",
            Outcome::Unsafe | Outcome::Fails | Outcome::Error => "1;31",
            Outcome::Unknown => "1;33",
        };
        self.paint(code, &format!("{:<7}", outcome.word()))
    }
}
