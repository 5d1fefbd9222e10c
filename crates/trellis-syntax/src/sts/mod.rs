//! Symbolic transition systems (STS) as Theta (ftsrg/theta) writes them: formulas over variables and, primed, over their values
//! in the next state.
//!
//! A specification has several properties `G(e)`, each of a system of its own or of a named one; each becomes an automaton of one
//! location, to which a run comes with any values that satisfy `initial` and `invariant`, and where it stays with each step. A
//! step gives new values to the primed copies, assumes `transition`, and `invariant` for the new state, and takes them over. A part
//! of a formula that says what a variable is, like `x' = e` or `initial x = 5`, becomes an assignment. A property that has no
//! value does not hold.
//!
//! Expressions are those of control-flow automata ([`crate::cfa`]), with `equal` for `iff`. Deliberately not supported: parameters
//! of the whole specification, which nobody gives values, initial values in declarations (write `initial`), functions,
//! quantifiers, rationals, and the Lisp-like spelling.

mod build;
mod parser;

use trellis_expr::{TermId, VarId};
use trellis_model::cfa::Cfa;

use crate::diag::{Diagnostic, Severity, SourceId, Sources, Span};

/// A property and the system it speaks of.
#[derive(Debug, Clone)]
pub struct Sts {
    /// The name of the property.
    pub name: String,
    /// Where that is.
    pub span: Span,
    /// The automaton.
    pub cfa: Cfa,
    /// What must always hold.
    pub property: TermId,
    /// The variables of the system; the automaton's other variables are their primed copies.
    pub variables: Vec<VarId>,
}

/// Reads a specification: an automaton for each property, in the order of the text. Answers with warnings, or with complaints.
pub fn parse(sources: &Sources, id: SourceId) -> Result<(Vec<Sts>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (all, diagnostics) = parser::properties(sources, id);
    match diagnostics.iter().any(|d| d.severity == Severity::Error) {
        true => Err(diagnostics),
        false => Ok((all, diagnostics)),
    }
}
