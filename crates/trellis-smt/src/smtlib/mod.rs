//! SMT-LIB 2.6: scripts in, terms out, and the other way round.
//!
//! `sexpr` cuts a text into s-expressions, `read` makes commands of them (`term` and `ops` its formulas), `script` runs the
//! commands on any [`Solver`](crate::Solver); `write` turns terms into text, `process` hands that text to a solver over a pipe,
//! and `log` keeps it in files.
//!
//! SMT-LIB is total where our terms fault: dividing by zero gives *some* number there. The reader guards what faults, and calls
//! foreign what it cannot guard; the writer says in the formula where a term is defined. What we have no terms for (reals,
//! quantifiers, strings, uninterpreted functions) is no error: such an assertion is [`Foreign`], with its place, and a script
//! that depends on it is answered `unknown`.

mod log;
mod ops;
mod pipe;
mod process;
mod read;
mod script;
mod sexpr;
mod term;
mod texts;
mod translate;
mod write;

pub use log::Logged;
pub use process::{Process, SpawnError};
pub use read::{Command, Read, read};
pub use script::{Outcome, Undecided, run};
pub use write::{Writer, script};

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The first byte of the place.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// What was expected, and what is there.
    pub message: String,
}

impl Error {
    /// Line and column of the place, both from 1; columns count characters.
    pub fn line_col(&self, text: &str) -> (usize, usize) {
        line_col(text, self.start)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Something that is right in SMT-LIB and that we have no terms for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// What, by name.
    pub what: String,
    /// Where it starts in the text, in bytes.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// Line and column, both from 1, of a place in a text.
pub fn line_col(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.bytes().filter(|b| *b == b'\n').count() + 1, before[start..].chars().count() + 1)
}
