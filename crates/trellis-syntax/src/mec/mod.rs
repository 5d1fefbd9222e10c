//! Mec 5's language (001 §6.1.1): `R(x : Node!c, n : [0, 3], …) := formula;` with `+=` for least and `-=` for greatest fixpoints, `<x>`
//! and `[x]` for quantifiers; `begin … end` around definitions that use each other; and commands, lines that start with a colon.
//!
//! The public descriptions of Mec 5 name systems of equations without their syntax; `begin … end` is ours, and means what systems of
//! equations mean in the μ-calculus: the first equation is the outermost.
//!
//! What this deliberately does not do: values are plain (no arrays or structures), relations need an argument, and there are no constants
//! (`c := true;`).

mod resolve;

use rustc_hash::FxHashMap;
use trellis_expr::Value;
use trellis_model::hierarchy::Domain;
use trellis_model::mec::{Definition, Fixpoint, Sort};

use crate::altarica::ast::{Expr, ExprKind, Name, TypeName};
use crate::altarica::build::{declared, literals_of};
use crate::altarica::parser::Parser;
use crate::altarica::{Built, Declared, File};
use crate::diag::{Diagnostic, Severity, SourceId, Sources};
use crate::text::errors::{Errors, Read, Reported};
use crate::text::tokens::Tok;

/// A part of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A command, with where its line starts and ends.
    Command(usize, usize),
    /// A definition, or several between `begin` and `end`, with where it starts and ends.
    Definition(usize, usize),
}

impl Piece {
    /// Where it starts and ends.
    pub fn place(&self) -> (usize, usize) {
        let (Piece::Command(start, end) | Piece::Definition(start, end)) = *self;
        (start, end)
    }

    /// Is there no more of it to come?
    pub fn finished(&self, text: &str) -> bool {
        let (start, end) = self.place();
        matches!(self, Piece::Command(..)) || finish(text, start).is_some_and(|n| n <= end)
    }
}

/// Cuts a script into commands and definitions; what is not finished at the end is a definition that will be refused.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut all = vec![];
    let mut at = 0;
    loop {
        at = skip(text, at);
        let rest = &text[at..];
        if rest.is_empty() {
            return all;
        }
        let (end, piece): (usize, fn(usize, usize) -> Piece) = if rest.starts_with(':') {
            (at + rest.find('\n').unwrap_or(rest.len()), Piece::Command)
        } else {
            (finish(text, at).unwrap_or(text.len()), Piece::Definition)
        };
        all.push(piece(at, end));
        at = end;
    }
}

/// Where the definition that starts here ends: at a semicolon, or at an `end` and the semicolon that may follow it.
fn finish(text: &str, start: usize) -> Option<usize> {
    let word = |at: usize| {
        let is = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '\'' | '^');
        let rest = &text[at..];
        &rest[..rest.find(|c| !is(c)).unwrap_or(rest.len())]
    };
    let several = begins(text, start);
    let mut at = start;
    loop {
        at = skip(text, at);
        match text[at..].chars().next()? {
            ';' if !several => return Some(at + 1),
            quote @ ('"' | '\'') => at += 1 + text[at + 1..].find(quote)? + 1,
            c if c.is_ascii_alphabetic() || c == '_' => {
                let name = word(at);
                at += name.len();
                if several && name.eq_ignore_ascii_case("end") {
                    let behind = skip(text, at);
                    return Some(if text[behind..].starts_with(';') { behind + 1 } else { at });
                }
            }
            c => at += c.len_utf8(),
        }
    }
}

/// Does a system of equations start here?
fn begins(text: &str, start: usize) -> bool {
    let named = |at: usize| text[at..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '"' | '\''));
    text[start..].get(..5).is_some_and(|w| w.eq_ignore_ascii_case("begin")) && skip(text, start + 5) > start + 5 && {
        let behind = skip(text, start + 5);
        behind == text.len() || named(behind)
    }
}

fn skip(text: &str, mut at: usize) -> usize {
    loop {
        let start = at;
        at += text[at..].len() - text[at..].trim_start().len();
        if text[at..].starts_with("//") {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
        } else if text[at..].starts_with("/*") {
            at += text[at..].find("*/").map_or(text.len() - at, |n| n + 2);
        } else if at == start {
            return at;
        }
    }
}

/// The same text with everything blank but a part, so that places stay where they are.
pub fn only(text: &str, start: usize, end: usize) -> String {
    let blank =
        |s: &str| s.chars().map(|c| if c == '\n' { "\n".into() } else { " ".repeat(c.len_utf8()) }).collect::<String>();
    format!("{}{}{}", blank(&text[..start]), &text[start..end], blank(&text[end..]))
}

/// A relation as the language sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its arguments.
    pub arguments: Vec<Sort>,
    /// The nodes that it was computed from.
    pub nodes: Vec<String>,
}

/// What a script knows already.
#[derive(Default)]
pub struct World {
    /// Nodes that are built.
    pub nodes: FxHashMap<String, Built>,
    /// Relations.
    pub relations: FxHashMap<String, Known>,
    /// What files declare; of two constants or domains that have one name, the later one.
    declared: Declared,
}

/// The nodes that a definition speaks of: names before `!`.
pub fn nodes_of(sources: &Sources, id: SourceId) -> Vec<Name> {
    let parser = Parser::new(sources, id, true);
    let pair = |w: &[crate::text::tokens::Token<'_>]| match (w[0].tok, w[1].tok) {
        (Tok::Name(n) | Tok::Quoted(n), Tok::P("!")) => Some(Name { text: n.into(), span: w[0].span }),
        _ => None,
    };
    parser.tokens.windows(2).filter_map(pair).collect()
}

impl World {
    /// All literals so far: a node that comes later must give them the same numbers ([`File::build_beside`]).
    pub fn literals(&self) -> &[String] {
        &self.declared.literals
    }

    /// Learns the constants and domains of a file.
    pub fn load(&mut self, file: &File) {
        let more = declared(file, &self.declared.literals);
        self.declare(more);
    }

    /// Learns a node; not if its literals have other numbers than those that are known.
    pub fn know(&mut self, name: &str, built: Built) -> Result<(), String> {
        let more = built.declared();
        if !more.literals.starts_with(&self.declared.literals) && !self.declared.literals.starts_with(&more.literals) {
            return Err(format!(
                "`{name}` was built apart from the other nodes, and numbers its literals in another way"
            ));
        }
        self.declare(more);
        self.nodes.insert(name.into(), built);
        Ok(())
    }

    fn declare(&mut self, more: Declared) {
        if more.literals.len() > self.declared.literals.len() {
            self.declared.literals = more.literals;
        }
        self.declared.constants.extend(more.constants);
        self.declared.domains.extend(more.domains);
    }

    /// Forgets a node, and the relations that were computed from it.
    pub fn forget(&mut self, node: &str) {
        self.nodes.remove(node);
        self.relations.retain(|_, known| known.nodes.iter().all(|n| n != node));
    }

    /// A sort, as it is written.
    pub fn show_sort(&self, sort: &Sort) -> String {
        match sort {
            Sort::Configuration(node) => format!("{node}!c"),
            Sort::Event(node) => format!("{node}!ev"),
            Sort::Value(domain @ Domain::Literals(all)) => {
                let names: Vec<String> = all.iter().map(|&n| self.show_value(domain, n.into())).collect();
                format!("{{{}}}", names.join(", "))
            }
            Sort::Value(Domain::Bool) => "bool".into(),
            Sort::Value(Domain::Integer) => "integer".into(),
            Sort::Value(Domain::Range(low, high)) => format!("[{low}, {high}]"),
        }
    }

    /// A plain value, as it is written.
    pub fn show_value(&self, domain: &Domain, value: i64) -> String {
        let literal = || self.declared.literals.get(usize::try_from(value).ok()?).cloned();
        match domain {
            Domain::Bool => (value != 0).to_string(),
            Domain::Literals(_) => literal().unwrap_or_else(|| value.to_string()),
            Domain::Integer | Domain::Range(..) => value.to_string(),
        }
    }

    /// Reads a definition, or several that use each other; the nodes that they speak of must be known.
    pub fn define(&mut self, sources: &Sources, id: SourceId) -> Result<Vec<Definition>, Vec<Diagnostic>> {
        let mut parser = Parser::new(sources, id, true);
        let parsed = system(&mut parser);
        let complaints = parser.finish();
        let equations = match parsed {
            Ok(parsed) if !complaints.iter().any(|d| d.severity == Severity::Error) => parsed,
            _ => return Err(complaints),
        };
        // Enumerations may bring literals of their own.
        for equation in &equations {
            let types = equation.arguments.iter().filter_map(|(_, ty)| ty.as_ref()).chain(types_in(&equation.body));
            for dom in types.filter_map(|ty| ty.dom.as_ref()) {
                literals_of(dom, &mut |name| {
                    if !self.declared.literals.iter().any(|l| l == name) {
                        self.declared.literals.push(name.into());
                    }
                });
            }
        }
        let mut errors = Errors::default();
        let made = resolve::system(self, &equations, &nodes_of(sources, id), &mut errors);
        match made {
            Ok(definitions) => {
                for (definition, nodes) in &definitions {
                    let known = Known { arguments: definition.arguments.clone(), nodes: nodes.clone() };
                    self.relations.insert(definition.name.clone(), known);
                }
                Ok(definitions.into_iter().map(|(definition, _)| definition).collect())
            }
            Err(Reported) => Err(errors.finish()),
        }
    }

    /// What names mean in a definition that speaks of some nodes: their files come first.
    fn declared_for(&self, nodes: &[Name]) -> Declared {
        let mut all = self.declared.clone();
        let mut seen: FxHashMap<String, Value> = FxHashMap::default();
        for built in nodes.iter().filter_map(|n| self.nodes.get(&n.text)) {
            let more = built.declared();
            all.domains.extend(more.domains);
            for (name, value) in more.constants {
                // Two nodes that do not agree: then it is neither.
                if seen.get(&name).is_some_and(|other| *other != value) {
                    all.constants.remove(&name);
                } else {
                    all.constants.insert(name.clone(), value.clone());
                    seen.insert(name, value);
                }
            }
        }
        all
    }
}

/// A definition as it is written.
struct Equation {
    name: Name,
    arguments: Vec<(Name, Option<TypeName>)>,
    fixpoint: Fixpoint,
    body: Expr,
}

/// One definition, or several between `begin` and `end`.
fn system(parser: &mut Parser<'_>) -> Read<Vec<Equation>> {
    if !(parser.is_word("begin") && parser.ahead(1) != Tok::P("(")) {
        return Ok(vec![equation(parser)?]);
    }
    parser.bump();
    let mut all: Vec<Equation> = vec![];
    while !parser.take_word("end") {
        if parser.peek().tok == Tok::End {
            return parser.unexpected("another definition, or `end`");
        }
        let next = equation(parser)?;
        if all.iter().any(|e| e.name.text == next.name.text) {
            return parser.fail(next.name.span, format!("there are two definitions of `{}`", next.name.text));
        }
        all.push(next);
    }
    if all.is_empty() {
        return parser.unexpected("a definition before `end`");
    }
    parser.take(";");
    Ok(all)
}

fn equation(parser: &mut Parser<'_>) -> Read<Equation> {
    let name = parser.ident("the name of a relation, or a command (`:help` lists them)")?;
    parser.require("(")?;
    let mut arguments = vec![];
    loop {
        let names = parser.idents("an argument")?;
        let ty = if parser.take(":") { Some(parser.type_name()?) } else { None };
        arguments.extend(names.into_iter().map(|n| (n, ty.clone())));
        if !parser.take(",") {
            break;
        }
    }
    parser.require(")")?;
    let fixpoint = match parser.peek().tok {
        Tok::P(":=") => Fixpoint::None,
        Tok::P("+=") => Fixpoint::Least,
        Tok::P("-=") => Fixpoint::Greatest,
        _ => return parser.unexpected("`:=`, `+=` or `-=`"),
    };
    parser.bump();
    let body = parser.expr()?;
    parser.require(";")?;
    Ok(Equation { name, arguments, fixpoint, body })
}

/// An expression and all that is in it.
fn parts(e: &Expr) -> Vec<&Expr> {
    let (mut all, mut waiting) = (vec![], vec![e]);
    while let Some(e) = waiting.pop() {
        all.push(e);
        match &e.kind {
            ExprKind::Not(a) | ExprKind::Neg(a) | ExprKind::Quantified(_, _, a) => waiting.push(a),
            ExprKind::Binary(_, a, b) => waiting.extend([&**a, &**b]),
            ExprKind::If(a, b, c) => waiting.extend([&**a, &**b, &**c]),
            ExprKind::Extreme(_, list) | ExprKind::Apply(_, list) => waiting.extend(list),
            ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Path(_) => {}
        }
    }
    all
}

/// The types that quantifiers give to their variables.
fn types_in(e: &Expr) -> Vec<&TypeName> {
    let quantified = parts(e).into_iter().filter_map(|e| match &e.kind {
        ExprKind::Quantified(_, names, _) => Some(names),
        _ => None,
    });
    quantified.flatten().filter_map(|(_, ty)| ty.as_ref()).collect()
}
