//! AltaRica as LaBRI's tools read it: nodes with state and flow variables, assertions, guarded transitions, priorities, sub-nodes
//! and synchronisation vectors (001 §2.1).
//!
//! What the language leaves open is read like this: `/` and `mod` round towards zero, and their divisor must never be zero; an
//! update outside its domain means that the transition is not possible; of a vector's optional events as many as possible take part
//! (a choice gives way to one that includes it); a literal that is also the name of a variable is the variable.
//!
//! What this front end deliberately does not do: abstract sorts and signatures (`sort`, `sig`) are refused by name, directives of
//! other tools (`extern`) are kept as they are, with a warning, and mean nothing, and an index must be a constant.

pub mod ast;
pub(crate) mod build;
pub(crate) mod expr;
pub(crate) mod lexer;
pub(crate) mod lower;
pub(crate) mod parser;
mod write;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{EnumId, TermId, Terms, Type, Value};
use trellis_model::hierarchy::{ComponentId, Domain, Hierarchy};

use crate::diag::{Diagnostic, Severity, SourceId, Sources};
use crate::text::errors::Errors;
use crate::text::tokens::Tok;
use ast::{Directive, Item, Name};
use lower::{Lower, Scope, Tree};

/// A file that was read: constants, domains and nodes.
#[derive(Debug, Clone)]
pub struct File {
    /// In the order of the file.
    pub items: Vec<Item>,
}

/// The hierarchy below one node, and what its names mean.
#[derive(Debug, Clone)]
pub struct Built {
    /// The hierarchy.
    pub hierarchy: Hierarchy,
    /// The top node with all that is in it.
    fields: Tree<TermId>,
    literal_numbers: FxHashMap<String, u32>,
    constants: FxHashMap<String, TermId>,
    domains: FxHashMap<String, Tree<Domain>>,
    /// What components say to other tools (`extern`), as it is written.
    pub directives: Vec<(ComponentId, Directive)>,
}

/// Reads a file; with warnings, or complaints.
pub fn parse(sources: &Sources, id: SourceId) -> Result<(File, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut parser = parser::Parser::new(sources, id, false);
    let items = parser.model();
    let diagnostics = parser.finish();
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(diagnostics);
    }
    Ok((File { items }, diagnostics))
}

impl File {
    /// The nodes, in the order of the file.
    pub fn nodes(&self) -> Vec<&Name> {
        self.items.iter().filter_map(name_of).collect()
    }

    /// Builds the hierarchy below a node; some constants may be given other values.
    pub fn build(&self, node: &Name, constants: &[(String, i64)]) -> Result<(Built, Vec<Diagnostic>), Vec<Diagnostic>> {
        build::build(self, node, constants, &[])
    }

    /// The same, where literals that others use have the numbers that they have there.
    pub fn build_beside(&self, node: &Name, known: &[String]) -> Result<(Built, Vec<Diagnostic>), Vec<Diagnostic>> {
        build::build(self, node, &[], known)
    }
}

/// Constants and domains of a file, or of a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    /// All literals, by number.
    pub literals: Vec<String>,
    pub constants: FxHashMap<String, Value>,
    pub domains: FxHashMap<String, Tree<Domain>>,
}

impl Declared {
    fn of(
        terms: &Terms,
        literals: EnumId,
        constants: &FxHashMap<String, TermId>,
        domains: FxHashMap<String, Tree<Domain>>,
    ) -> Declared {
        let value = |(name, &t): (&String, &TermId)| terms.as_value(t).map(|v| (name.clone(), v));
        let literals = terms.enumeration(literals).literals.clone();
        Declared { literals, constants: constants.iter().filter_map(value).collect(), domains }
    }
}

fn name_of(item: &Item) -> Option<&Name> {
    if let Item::Node(node) = item { Some(&node.name) } else { None }
}

impl Built {
    /// The top node with all that is in it.
    pub(crate) fn fields(&self) -> &Tree<TermId> {
        &self.fields
    }

    /// What its file declares.
    pub(crate) fn declared(&self) -> Declared {
        let h = &self.hierarchy;
        Declared::of(&h.terms, h.literals, &self.constants, self.domains.clone())
    }

    /// Reads a condition over the variables of the top node; `!` is `not` there.
    pub fn condition(&mut self, sources: &Sources, id: SourceId) -> Result<TermId, Vec<Diagnostic>> {
        self.read_condition(sources, id, None)
    }

    /// The same, where `deadlock` means that nothing but ε can happen, unless the model calls something so.
    pub fn query(&mut self, sources: &Sources, id: SourceId) -> Result<TermId, Vec<Diagnostic>> {
        let stuck = match self.hierarchy.deadlock() {
            _ if !sources.get(id).text.contains("deadlock") => None,
            Some(v) => Some(v),
            None => Some(self.hierarchy.terms.declare("deadlock", Type::Bool)),
        };
        let stuck = stuck.map(|v| self.hierarchy.terms.var(v));
        self.read_condition(sources, id, stuck)
    }

    fn read_condition(
        &mut self,
        sources: &Sources,
        id: SourceId,
        stuck: Option<TermId>,
    ) -> Result<TermId, Vec<Diagnostic>> {
        let mut parser = parser::Parser::new(sources, id, false);
        parser.bang = true;
        let parsed = parser.expr();
        if parsed.is_ok() && parser.peek().tok != Tok::End {
            let _ = parser.unexpected::<()>("an operator or the end of the condition");
        }
        let complaints = parser.finish();
        let expr = match parsed {
            Ok(expr) if complaints.is_empty() => expr,
            _ => return Err(complaints),
        };
        let mut errors = Errors::default();
        let Tree::Fields(fields) = self.fields.clone() else { return Err(vec![]) };
        let mut scope = Scope { names: fields.into_iter().collect() };
        let taken = |name: &str| self.constants.contains_key(name) || self.literal_numbers.contains_key(name);
        if let Some(stuck) = stuck.filter(|_| !taken("deadlock")) {
            scope.names.entry("deadlock".into()).or_insert(Tree::Leaf(stuck));
        }
        let term = self.lowering(&mut errors, |lower| lower.boolean(&scope, &expr));
        term.map_err(|_| errors.finish())
    }

    /// Lowers something over the hierarchy's terms. Whoever asks about a model may look everywhere.
    pub(crate) fn lowering<T>(&mut self, errors: &mut Errors, run: impl FnOnce(&mut Lower<'_>) -> T) -> T {
        let mut lower = Lower {
            terms: std::mem::take(&mut self.hierarchy.terms),
            literals: self.hierarchy.literals,
            literal_numbers: std::mem::take(&mut self.literal_numbers),
            constants: std::mem::take(&mut self.constants),
            domains: std::mem::take(&mut self.domains),
            private: FxHashSet::default(),
            errors,
        };
        let done = run(&mut lower);
        self.hierarchy.terms = lower.terms;
        self.literal_numbers = lower.literal_numbers;
        self.constants = lower.constants;
        self.domains = lower.domains;
        done
    }
}
