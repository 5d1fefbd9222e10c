//! Formulas of linear temporal logic about a model (004 §3.3).
//!
//! One grammar for temporal operators, connectives, comparisons and arithmetic, and three types: int (with enumerations and words),
//! bool and LTL. From loose to tight: `<->`, `->` (to the right), `or`, `and`, `U W R M` (to the right), `not F G X`, comparisons,
//! sums, products. So `!a U b` is `(!a) U b`, and `G x = 1` is `G (x = 1)`. `FGp` is `F G p` unless there is a variable `FGp`.
//! Where a variable is named like an operator, the operator is meant; in quotes it can be asked about.
//!
//! Atoms are the smallest boolean terms: comparisons, boolean variables, locations and quoted texts, which are in the language of
//! the model. Atoms that are equal, or each other's negation, share a number.
//!
//! Deliberately not supported: past operators, which are refused by name, and quantifiers.

pub mod network;
mod parser;
pub mod subject;
mod value;

use rustc_hash::FxHashMap;
use trellis_expr::{Division, TermId, Terms, Type};
use trellis_model::ltl::{Formula, Spec};

use crate::diag::{Diagnostic, SourceId, Sources, Span};

/// What a formula can speak of: the model.
pub trait Names {
    /// A variable, or a literal of an enumeration with its type: `x`, `Colors.Red`.
    fn name(&mut self, text: &str) -> Option<TermId>;

    /// A text in quotes, in the language of the model; must be boolean.
    fn quoted(&mut self, text: &str) -> Result<TermId, String>;

    /// `In(state)`, or a location that is written like a name: is the model there?
    fn inside(&mut self, state: &str) -> Option<TermId>;

    /// The model's terms.
    fn terms(&mut self) -> &mut Terms;

    /// What `/` and `%` mean; `mod` and `rem` are always as in Theta's languages.
    fn division(&self) -> Division {
        Division::Euclidean
    }

    /// How much of a text that starts with a name is one name here, if more than letters and dots can be: `P(1).cs`.
    fn whole<'t>(&self, _text: &'t str) -> Option<&'t str> {
        None
    }

    /// What is wrong with a name that means nothing, if more can be said than that.
    fn complaint(&mut self, _name: &str) -> Option<String> {
        None
    }

    /// All names there are, for "did you mean".
    fn known(&self) -> Vec<String> {
        vec![]
    }
}

/// Reads a formula about a model.
pub fn parse(sources: &Sources, id: SourceId, names: &mut dyn Names) -> Result<Spec, Vec<Diagnostic>> {
    parser::Parser::new(sources, id, names).formula()
}

/// Reads a formula without temporal operators, as one boolean term: what an atom of an automaton says.
pub fn parse_state(sources: &Sources, id: SourceId, names: &mut dyn Names) -> Result<TermId, Vec<Diagnostic>> {
    let spec = parse(sources, id, names)?;
    if !spec.formula.is_propositional() {
        let span = Span { source: id, start: 0, end: sources.get(id).text.len() as u32 };
        return Err(vec![Diagnostic::error(span, "this must be about one moment, without temporal operators")]);
    }
    Ok(term(&spec.formula, &spec.atoms, names.terms()))
}

fn term(f: &Formula, atoms: &[TermId], terms: &mut Terms) -> TermId {
    let parts: Vec<TermId> = f.children().map(|child| term(child, atoms, terms)).collect();
    match (f, &parts[..]) {
        (Formula::Atom(n), _) => atoms[*n as usize],
        (Formula::Not(_), [a]) => terms.not(*a),
        (Formula::And(..), _) => terms.and(parts),
        (Formula::Or(..), _) => terms.or(parts),
        (Formula::Implies(..), [a, b]) => terms.implies(*a, *b),
        (Formula::Iff(..), [a, b]) => terms.eq(*a, *b),
        (f, _) => terms.bool(*f == Formula::True),
    }
}

/// Reads a formula about nothing in particular: each identifier is an atom, and so is each text in quotes. Identifiers do not
/// start with `F`, `G` or `X` and a small letter: `Fa` is `F a`. Answers with the formula and the names of its atoms.
pub fn parse_propositional(sources: &Sources, id: SourceId) -> Result<(Formula, Vec<String>), Vec<Diagnostic>> {
    let spec = parse(sources, id, &mut Propositions::default())?;
    Ok((spec.formula, spec.names))
}

/// Names that are made up as they come.
#[derive(Default)]
struct Propositions {
    terms: Terms,
    known: FxHashMap<String, TermId>,
}

impl Names for Propositions {
    fn name(&mut self, text: &str) -> Option<TermId> {
        let operator =
            text.starts_with(['F', 'G', 'X']) && !text[1..].starts_with(|c: char| c.is_ascii_digit() || c == '_');
        if operator { None } else { self.quoted(text).ok() }
    }

    fn quoted(&mut self, text: &str) -> Result<TermId, String> {
        if let Some(&t) = self.known.get(text) {
            return Ok(t);
        }
        let v = self.terms.declare(text, Type::Bool);
        let t = self.terms.var(v);
        self.known.insert(text.to_string(), t);
        Ok(t)
    }

    fn inside(&mut self, _: &str) -> Option<TermId> {
        None
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }
}
