//! The input language of TChecker (ticktac-project/tchecker): networks of timed automata with bounded integers,
//! synchronised by vectors of events. [`parse`] reads a file, [`build()`] makes a network of it and of the questions asked
//! about it: sets of labels to reach, and UPPAAL's queries over `process.location`, variables, clocks and labels.
//!
//! The language is that of TChecker's documentation (`doc/file-format.md`) and its grammar: statements with `if`, `while`
//! and `local`, chained comparisons, weak synchronisations. What the two leave to the reader is read like this:
//!
//! - *A value out of range blocks.* "Assigning -1 to `i` is illegal … Illegal statements are simply deemed invalid and
//!   not executable" (section on `int`), and a transition needs "for each variable i, V'(i) is in the domain of i"
//!   (section on semantics). So an assignment of what does not fit makes the step impossible, at once, even if a later
//!   assignment would mend it; it is no fault. An index outside an array "raise\[s\] a fatal error": that is a fault.
//!   So are division by zero, which TChecker leaves undefined, and a clock that is set to a negative value.
//! - *Weak means: if the location has such an edge.* `P@e?` takes part whenever the current location of `P` has an edge
//!   labelled `e`, whatever the guard of that edge says: in TChecker (`syncprod/edges_iterators.cc`) as in the example of
//!   its documentation only locations count. A vector of weak parts alone needs one that takes part.
//! - *Order.* The edges of a vector do their statements in the order in which their processes are declared. TChecker says
//!   "consecutively" and seems to take the order of the `sync` line; where the two differ and it may matter, there is a
//!   warning.
//! - `!` binds weaker than a comparison.
//!
//! What this front end deliberately does not do: several initial locations in one process, clocks set to a clock plus a
//! number, clocks in the conditions of statements or set inside loops, disjunctions over clocks (`!=`, `!(x == 1)`).
//! Each is refused with its place. So are attributes that are not known, which TChecker ignores with a warning: a misspelt `provided` is
//! a guard that is not there. Words
//! that UPPAAL reserves (`init`, `state`) cannot be used in queries; a label can stand in for such a location.

pub mod ast;
mod build;
mod lexer;
mod parser;
mod program;

use ast::{Ast, Expr, Ident};

pub use build::{Built, Questions, build};

use crate::diag::shorten;
use crate::diag::{Diagnostic, SourceId, Span};
use crate::text::errors::MAX_ERRORS;

/// What a line can start with.
const KEYWORDS: [&str; 8] = ["system", "event", "process", "clock", "int", "location", "edge", "sync"];

/// Does the text look like a TChecker model? Its first line that is no comment is the `system` declaration.
pub fn looks_like(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let rest = lines.next().and_then(|l| l.strip_prefix("system"));
    rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Reads a model. There is no tree if the text does not even start like one.
pub fn parse(source: SourceId, text: &str) -> (Option<Ast>, Vec<Diagnostic>) {
    if u32::try_from(text.len()).is_err() {
        let start = Span { source, start: 0, end: 0 };
        return (None, vec![Diagnostic::error(start, "this file is larger than 4 GiB, which is the limit")]);
    }
    let mut parser = parser::Parser::new(source, text);
    let ast = parser.file();
    (ast, parser.errors.finish())
}

/// Reads a list of labels, as from the command line: `cs1,cs2` (or, as TChecker has it, `cs1:cs2`).
pub fn parse_labels(source: SourceId, text: &str) -> (Vec<Ident>, Vec<Diagnostic>) {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    labels_in(Span { source, start: 0, end }, text, &[',', ':'])
}

/// The labels in a text that stands at `place`.
fn labels_in(place: Span, text: &str, separators: &[char]) -> (Vec<Ident>, Vec<Diagnostic>) {
    let (mut labels, mut diags) = (Vec::new(), Vec::new());
    let mut at = place.start;
    for part in text.split(separators) {
        let name = part.trim();
        let start = at + (part.len() - part.trim_start().len()) as u32;
        let span = Span { start, end: start + name.len() as u32, ..place };
        at += part.len() as u32 + 1;
        let odd = name.find(|c: char| c.is_whitespace() || !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let d = match odd {
            _ if name.is_empty() => Diagnostic::error(place, "expected a label, found nothing"),
            Some(_) => Diagnostic::error(span, format!("expected a label, found `{}`", shorten(name))),
            None => {
                labels.push(Ident { name: name.to_string(), span });
                continue;
            }
        };
        if diags.len() < MAX_ERRORS {
            diags.push(d.help("labels are names with commas between them: `a, b`"));
        }
    }
    (labels, diags)
}
