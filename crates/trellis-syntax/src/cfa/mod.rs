//! Control-flow automata as Theta (ftsrg/theta) writes them, in both spellings: `main process p { … }` and `(process …)`.
//!
//! Types are `bool`, `int` (mathematical), `bv[n]` up to 64 bits, and arrays `[K] -> V`; the operators are those of Theta's
//! grammar. Integer `/` and `mod` are Euclidean, `rem` has the sign of the divisor. What the language leaves to the solver is read
//! like this: an *integer* divided by zero has no value, so the step cannot happen (see [`trellis_model::cfa`]); operators on
//! bit-vectors are total, as SMT-LIB defines them. Variables are arbitrary at the start. `return` ends nothing and gives its
//! value to nobody.
//!
//! What this front end deliberately does not do: rationals, floating point, functions, quantifiers, primed variables, and
//! processes beside the main one. Each is refused by name, with its place.

mod expr;
mod lexer;
mod lisp;
pub(crate) mod ops;
pub(crate) mod parser;

use trellis_model::cfa::Cfa;

use crate::diag::{Diagnostic, Severity, SourceId, Sources};

/// Reads an automaton; with warnings, or complaints.
pub fn parse(sources: &Sources, id: SourceId) -> Result<(Cfa, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = sources.get(id);
    let mut parser = parser::Parser::new(sources, id);
    let cfa = if source.text.trim_start().starts_with('(') { parser.lisp() } else { parser.file() };
    let diagnostics = parser.finish();
    match cfa {
        Some(cfa) if !diagnostics.iter().any(|d| d.severity == Severity::Error) => Ok((cfa, diagnostics)),
        _ => Err(diagnostics),
    }
}
