//! Collects what is wrong with one file, and knows when enough has been said.

use crate::diag::{Diagnostic, Severity};

/// A mistake that has been reported already: there is nothing to go on with.
#[derive(Debug, Clone, Copy)]
pub struct Reported;

/// What was read.
pub type Read<T> = Result<T, Reported>;

/// After so many errors the rest of a file is not read.
pub const MAX_ERRORS: usize = 20;

/// The diagnostics of one file so far.
#[derive(Debug, Default)]
pub struct Errors {
    list: Vec<Diagnostic>,
    errors: usize,
    stopped: bool,
}

impl Errors {
    /// Takes in a diagnostic; after [`MAX_ERRORS`] errors, or after [`Errors::stop`], it is dropped.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        // One mistake often shows twice at the same spot: the first message is the better one.
        let again = |d: &Diagnostic| d.severity == Severity::Error && d.span.is_some() && d.span == diagnostic.span;
        // What is instantiated several times is warned of once.
        let twice = |d: &Diagnostic| d.span == diagnostic.span && d.message == diagnostic.message;
        if self.list.last().is_some_and(again) || self.list.iter().any(twice) {
            return;
        }
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.list.push(diagnostic);
        self.stopped = self.errors >= MAX_ERRORS;
    }

    /// Takes in a diagnostic, and gives the caller something to return.
    pub fn fail<T>(&mut self, diagnostic: Diagnostic) -> Read<T> {
        self.push(diagnostic);
        Err(Reported)
    }

    /// A mistake after which the rest cannot be read sensibly.
    pub fn stop(&mut self, diagnostic: Diagnostic) {
        self.push(diagnostic);
        self.stopped = true;
    }

    /// Whether reading should end.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// How many diagnostics there are so far.
    pub fn mark(&self) -> usize {
        self.list.len()
    }

    /// The errors since then.
    pub fn since(&self, mark: usize) -> impl Iterator<Item = &Diagnostic> {
        self.list[mark..].iter().filter(|d| d.severity == Severity::Error)
    }

    /// How many errors there are so far.
    pub fn count(&self) -> usize {
        self.errors
    }

    /// The list, with a word on what was not read.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        if self.errors >= MAX_ERRORS
            && let Some(span) = self.list.last().and_then(|d| d.span)
        {
            self.list.push(
                Diagnostic::warning(span, format!("stopped after {MAX_ERRORS} errors"))
                    .help("the rest of the file was not read; mend these first"),
            );
        }
        self.list
    }
}

/// So many of something: `1 argument`, `2 arguments`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Of the names there are, the one that was probably meant.
pub fn closest<'n>(name: &str, there_are: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > 64 {
        return None;
    }
    let near = |other: &&str| other.len() <= 64;
    let scored = there_are.into_iter().take(1000).filter(near).map(|other| (distance(name, other), other));
    let (far, best) = scored.min()?;
    let enough = if name.len() < 4 { 1 } else { (name.len() / 3).max(2) };
    (far <= enough).then_some(best)
}

/// How many letters must be changed, added or left out to get from one word to the other; case does not count.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
