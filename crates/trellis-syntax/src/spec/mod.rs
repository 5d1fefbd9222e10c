//! Counter systems as mist writes them (`.spec`): variables, guarded rules, a start, targets, and invariants that somebody
//! claims.
//!
//! Updates are simultaneous, as the language defines them. A public tool ignores `x' = 0` on its own and reads `y' = x` as
//! `y' = y + x`; where a file could mean that, there is a warning. Targets that fix a number (`x = 1`) ask for reachability, which is
//! another problem, and are refused.

mod lexer;
mod parser;

use trellis_model::counter::{System, Var, Vector};

use crate::diag::{Diagnostic, Severity, SourceId, Sources};

/// A counter system, and what the user should know about it.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The system and its question.
    pub system: System,
    /// What to know.
    pub warnings: Vec<Diagnostic>,
}

/// Bytes as text: UTF-8, or Latin-1 if they are not.
pub fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().iter().map(|b| char::from(*b)).collect())
}

/// Reads a system.
pub fn parse(sources: &Sources, id: SourceId) -> Result<Spec, Vec<Diagnostic>> {
    let (system, diagnostics) = parser::parse(sources, id);
    match diagnostics.iter().any(|d| d.severity == Severity::Error) {
        true => Err(diagnostics),
        false => Ok(Spec { system, warnings: diagnostics }),
    }
}

/// Reads targets over the variables of a system: `x >= 2, y >= 1`, one or more; and what the user should know about them. What does not
/// look like a name is written in double quotes. A variable may be called by any of its names that no other has.
pub fn parse_targets(
    sources: &Sources,
    id: SourceId,
    system: &System,
) -> Result<(Vec<Vector>, Vec<Diagnostic>), Vec<Diagnostic>> {
    parser::parse_targets(sources, id, system)
}

/// Reads how many there are at the start: `x = 3, y = 1`; what is not mentioned is as small as it may be.
pub fn parse_instance(sources: &Sources, id: SourceId, system: &System) -> Result<Vec<u64>, Vec<Diagnostic>> {
    parser::parse_instance(sources, id, system)
}

/// Reads invariants of a system: `x = 1, y = 2`, one or more; the weighted sum never changes. One that some rule changes is an error.
pub fn parse_invariants(
    sources: &Sources,
    id: SourceId,
    system: &System,
) -> Result<Vec<Vec<(Var, i64)>>, Vec<Diagnostic>> {
    parser::parse_invariants(sources, id, system)
}
