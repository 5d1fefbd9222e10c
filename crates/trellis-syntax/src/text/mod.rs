//! What the readers of several languages share: tokens and how a text is cut into them, a cursor over tokens, and the list of
//! what is wrong with a text.
//!
//! A language brings its names, its punctuation and its comments; the rest is here. It knows no grammar. UPPAAL's and TChecker's
//! lexers are their own: they give one token at a time, and lines or comments count in them.

pub(crate) mod cursor;
pub mod errors;
pub(crate) mod tokens;
