//! Why something could not be done.

use std::fmt;

/// Why something could not be done. Where input is broken, the text shows it, with places.
///
/// ```
/// use trellis::{Error, Model};
///
/// match Model::from_text("lock.spec", "vars free held rules held >= 1") {
///     Err(Error::Input(text)) => assert!(text.contains("lock.spec:1:"), "{text}"),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, Clone)]
pub enum Error {
    /// The options make no sense.
    Usage(String),
    /// The input is broken; the text is rendered diagnostics.
    Input(String),
    /// Nothing was asked of a model in this language, and how to ask.
    Nothing(&'static str, String),
    /// There was no time to read a model in this language.
    Late(&'static str),
    /// Something could not be written.
    Output(String),
    /// Evidence did not pass its check, or something that cannot happen did: a mistake in Trellis.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(text) | Error::Output(text) => f.write_str(text),
            Error::Input(text) => f.write_str(text.trim_end()),
            Error::Nothing(_, advice) => write!(f, "nothing was asked: {advice}"),
            Error::Late(_) => f.write_str("there was no time to read the model"),
            Error::Internal(text) => write!(f, "internal error: {text}"),
        }
    }
}

impl std::error::Error for Error {}
