//! What can be wrong with a script, and where.

use std::fmt;

/// The name under which a user's script is known to Lua. Lua shortens long names in messages, so it never learns the
/// real one; [`Place`] puts that back.
pub(super) const CHUNK: &str = "script";

/// Where in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The script, as its user called it.
    pub file: String,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// A script that cannot be used, or that failed while it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("{place}: {reason}")]
    Unreadable {
        /// The file.
        place: Place,
        /// What the system says.
        reason: String,
    },
    /// It is not Lua.
    #[error("{place}: {message}")]
    Syntax {
        /// The place in the script.
        place: Place,
        /// What the Lua compiler says.
        message: String,
    },
    /// It is Lua, but does not declare what it must.
    #[error("{place}: {message}")]
    Declaration {
        /// The place in the script.
        place: Place,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// A function raised an error or returned something unfit.
    #[error("{place}: {function}: {message}")]
    Failed {
        /// The place in the script.
        place: Place,
        /// Which function Trellis had called.
        function: String,
        /// What went wrong.
        message: String,
    },
    /// A function ran for too long.
    #[error("{place}: {function}: still running after {limit} instructions; is this loop endless?")]
    Endless {
        /// Where it was when it was stopped.
        place: Place,
        /// Which function Trellis had called.
        function: String,
        /// How long it was allowed to run.
        limit: u64,
    },
    /// A function used too much memory.
    #[error("{place}: {function}: the script uses more than {limit} bytes of memory")]
    Memory {
        /// Where the function begins, if that is known.
        place: Place,
        /// Which function Trellis had called.
        function: String,
        /// How much it was allowed.
        limit: usize,
    },
    /// It runs, but is not a lattice.
    #[error("{place}: {message}")]
    Law {
        /// The script.
        place: Place,
        /// The law, and elements that break it, as the script shows them.
        message: String,
    },
}

impl ScriptError {
    /// Where it happened.
    pub fn place(&self) -> &Place {
        match self {
            Self::Unreadable { place, .. }
            | Self::Syntax { place, .. }
            | Self::Declaration { place, .. }
            | Self::Failed { place, .. }
            | Self::Endless { place, .. }
            | Self::Memory { place, .. }
            | Self::Law { place, .. } => place,
        }
    }

    /// Whether a limit was hit, rather than an error raised.
    pub(super) fn is_limit(&self) -> bool {
        matches!(self, Self::Endless { .. } | Self::Memory { .. })
    }
}

/// The message at the bottom of a Lua error, and the line of the script where it arose.
pub(super) fn anatomy(error: &mlua::Error) -> (String, Option<usize>) {
    match error {
        mlua::Error::CallbackError { traceback, cause } => {
            let (message, line) = anatomy(cause);
            (message, line.or_else(|| line_in(traceback)))
        }
        mlua::Error::WithContext { cause, .. } => anatomy(cause),
        mlua::Error::SyntaxError { message, .. }
        | mlua::Error::RuntimeError(message)
        | mlua::Error::MemoryError(message) => {
            let (message, traceback) = message.split_once("\nstack traceback:").unwrap_or((message, ""));
            match positioned(message) {
                Some((line, message)) => (message.to_owned(), Some(line)),
                None => (message.to_owned(), line_in(traceback)),
            }
        }
        other => (other.to_string(), None),
    }
}

/// Splits `script:12: message`.
fn positioned(message: &str) -> Option<(usize, &str)> {
    let rest = message.strip_prefix(CHUNK)?.strip_prefix(':')?;
    let (line, message) = rest.split_once(": ")?;
    Some((line.parse().ok()?, message))
}

/// The topmost line of the script in a traceback.
fn line_in(traceback: &str) -> Option<usize> {
    traceback.lines().find_map(|line| {
        let rest = line.trim_start().strip_prefix(CHUNK)?.strip_prefix(':')?;
        rest.split(':').next()?.parse().ok()
    })
}
