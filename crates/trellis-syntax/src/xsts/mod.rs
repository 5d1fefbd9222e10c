//! Extended symbolic transition systems (XSTS) as Theta (ftsrg/theta) and Gamma write them: types, variables, and what happens
//! at the start (`init`), outside (`env`) and inside (`trans`).
//!
//! A run is init, env, trans, env, trans, …; the property must hold after each of them, and that is where LTL reads a letter.
//! The automaton has two main locations: one *before env*, where a run is after `init` and after every `trans`, and one
//! *before trans*, where it is after `env`. From both an edge leads to the error location where the property does not hold. A
//! property that has no value (it divides by zero) does not hold. Statements stay as they are written: branches are those of one
//! choice, nothing is multiplied out. A local variable is a variable like any other; where it is declared it gets its value, or
//! any.
//!
//! **Loops.** A `for` with constant bounds that comes to at most [`MAX_UNROLLED`] statements is unrolled. Any other becomes a loop
//! of the automaton, through locations at which the property is not asked and LTL reads nothing; bounds count as they are when the
//! loop is entered. A run that gets stuck in there is as good as none, so the whole is still atomic.
//!
//! Integers are mathematical, `/` and `%` Euclidean, `rem` has the sign of the divisor; what has no value blocks (see
//! [`trellis_model::cfa`]). A literal of an enumeration may be written without its type where the type is clear. The counter of a
//! loop cannot be assigned. Deliberately not supported: `ort`, which old models use and which was given up, and arrays that are
//! indexed by arrays. An `ltl { … }` section is skipped, and its place kept.

pub mod ast;
mod build;
mod expr;
mod parser;
mod stmt;
mod terms;

use trellis_expr::{TermId, VarId};
use trellis_model::cfa::{Cfa, EdgeId, LocationId};

use crate::diag::{Diagnostic, Severity, SourceId, Sources, Span};

/// How many statements an unrolled loop may have.
pub const MAX_UNROLLED: usize = 2_000;

/// What an edge is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The variables get their initial values.
    Values,
    /// `init`
    Init,
    /// `env`
    Env,
    /// `trans`
    Trans,
    /// The property is looked at.
    Check,
}

/// A model as an automaton.
#[derive(Debug, Clone)]
pub struct Xsts {
    /// The automaton.
    pub cfa: Cfa,
    /// What must hold.
    pub property: TermId,
    /// The global variables, in the order of their declarations; the automaton's other variables are local.
    pub variables: Vec<VarId>,
    /// Where a run is after `init`, and after each `trans`.
    pub before_env: LocationId,
    /// Where a run is after each `env`.
    pub before_trans: LocationId,
    /// What stands between the braces of `ltl { … }`.
    pub ltl: Option<Span>,
    /// For each edge of the automaton.
    phases: Vec<Phase>,
}

impl Xsts {
    /// What the edge is a part of.
    pub fn phase(&self, e: EdgeId) -> Phase {
        self.phases[e.index()]
    }

    /// Is `init`, `env` or `trans` over in this location, so that the property counts and LTL reads a letter?
    pub fn is_letter(&self, l: LocationId) -> bool {
        l == self.before_env || l == self.before_trans
    }
}

/// What is said where nothing is asked.
pub const NO_PROPERTY: &str = "there is no property";

/// Reads a model, and its property from a text of its own, which is `prop { e }` or just `e`; without one, the property is the
/// model's. Answers with warnings, or with complaints.
pub fn parse(
    sources: &Sources,
    model: SourceId,
    property: Option<SourceId>,
) -> Result<(Xsts, Vec<Diagnostic>), Vec<Diagnostic>> {
    let file = parse_tree(sources, model)?;
    let property = match property {
        Some(id) => Some(parse_property(sources, id)?),
        None => None,
    };
    built(build::build(sources, model, &file, property.as_ref(), true))
}

/// Reads a model of which no property of its own is asked: nothing leads to an error.
pub fn parse_system(sources: &Sources, model: SourceId) -> Result<(Xsts, Vec<Diagnostic>), Vec<Diagnostic>> {
    let file = parse_tree(sources, model)?;
    built(build::build(sources, model, &file, None, false))
}

fn built((xsts, diagnostics): (Option<Xsts>, Vec<Diagnostic>)) -> Result<(Xsts, Vec<Diagnostic>), Vec<Diagnostic>> {
    match xsts {
        Some(xsts) if !diagnostics.iter().any(|d| d.severity == Severity::Error) => Ok((xsts, diagnostics)),
        _ => Err(diagnostics),
    }
}

/// Reads a model as it is written; types are not checked.
pub fn parse_tree(sources: &Sources, model: SourceId) -> Result<ast::File<'_>, Vec<Diagnostic>> {
    let mut parser = parser::Parser::new(sources, model);
    parser.file().map_err(|_| parser.finish())
}

/// Reads a property as it is written: `prop { e }`, or just `e`.
pub fn parse_property(sources: &Sources, property: SourceId) -> Result<ast::Expr<'_>, Vec<Diagnostic>> {
    let mut parser = parser::Parser::new(sources, property);
    parser.property().map_err(|_| parser.finish())
}
