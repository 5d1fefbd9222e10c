//! From text to models: one module per input language, and the diagnostics they share.
//!
//! A parser here never panics and never stops at the first mistake if it can go on: it returns a tree and a list of
//! [`diag::Diagnostic`]s, each with its place in the source. Knows nothing of engines.

pub mod acheck;
pub mod altarica;
pub mod c;
pub mod cfa;
pub mod ctl;
pub mod diag;
pub mod gamma;
pub mod hoa;
pub mod lcs;
pub mod lola;
pub mod ltl;
pub mod mec;
mod net;
pub mod pnml;
pub mod scxml;
pub mod spec;
pub mod sts;
pub mod tchecker;
pub mod text;
pub mod tts;
pub mod uppaal;
mod xml;
pub mod xsts;
