//! Mec 5's language (001 §6.1.1): `R(x : Node!c, …) := formula;` with `+=` for least and `-=` for greatest fixpoints, `<x>` and `[x]`
//! for quantifiers; and commands, lines that start with a colon.
//!
//! What this deliberately does not do: all arguments of a relation belong to one node, and are its configurations or events, not plain
//! values; a relation may use itself and those defined before it, but two cannot be defined by each other.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{Term, Type, VarId};
use trellis_model::mec::{Callee, Definition, Fixpoint, Formula, Sort};

use crate::altarica::Built;
use crate::altarica::ast::{BinaryOp, Expr, ExprKind, Name, TypeName};
use crate::altarica::lower::{Lower, Scope, Tree};
use crate::altarica::parser::Parser;
use crate::cfa::cursor::{Read, Reported, unknown};
use crate::cfa::lexer::Tok;
use crate::diag::{Diagnostic, Severity, SourceId, Sources, Span};
use crate::uppaal::errors::Errors;

/// A part of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A command, with where its line starts and ends.
    Command(usize, usize),
    /// A definition, with where it starts and ends.
    Definition(usize, usize),
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
            (at + rest.find(';').map_or(rest.len(), |n| n + 1), Piece::Definition)
        };
        all.push(piece(at, end));
        at = end;
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

/// What a script knows already.
#[derive(Default)]
pub struct World {
    /// Nodes that are built.
    pub nodes: FxHashMap<String, Built>,
    /// Relations: their node and their arguments.
    pub relations: FxHashMap<String, (String, Vec<Sort>)>,
}

/// The nodes that a definition speaks of: names before `!`.
pub fn nodes_of(sources: &Sources, id: SourceId) -> Vec<Name> {
    let parser = Parser::new(sources, id, true);
    let pair = |w: &[crate::cfa::lexer::Token<'_>]| match (w[0].tok, w[1].tok) {
        (Tok::Name(n) | Tok::Quoted(n), Tok::P("!")) => Some(Name { text: n.into(), span: w[0].span }),
        _ => None,
    };
    parser.tokens.windows(2).filter_map(pair).collect()
}

impl World {
    /// Reads a definition; the nodes that it speaks of must have been built.
    pub fn define(&mut self, sources: &Sources, id: SourceId) -> Result<Definition, Vec<Diagnostic>> {
        let mut parser = Parser::new(sources, id, true);
        let parsed = header(&mut parser);
        let complaints = parser.finish();
        let (name, arguments, fixpoint, body) = match parsed {
            Ok(parsed) if !complaints.iter().any(|d| d.severity == Severity::Error) => parsed,
            _ => return Err(complaints),
        };
        let mut errors = Errors::default();
        let definition = self.resolve(name, &arguments, fixpoint, &body, &mut errors);
        definition.map_err(|Reported| errors.finish())
    }

    fn resolve(
        &mut self,
        name: Name,
        arguments: &[(Name, TypeName)],
        fixpoint: Fixpoint,
        body: &Expr,
        errors: &mut Errors,
    ) -> Read<Definition> {
        let fail = |errors: &mut Errors, span: Span, text: &str| {
            errors.push(Diagnostic::error(span, text));
            Err(Reported)
        };
        let Some((first, _)) = arguments.first() else {
            return fail(errors, name.span, "a relation needs an argument, like `s : Node!c`");
        };
        let mut node: Option<String> = None;
        let mut sorts = vec![];
        for (argument, ty) in arguments {
            let Some(sort) = sort_of(ty) else {
                return fail(errors, ty.name.span, "the type of an argument is `Node!c` or `Node!ev`");
            };
            if node.as_ref().is_some_and(|n| *n != ty.name.text) {
                return fail(errors, argument.span, "all arguments of a relation must belong to one node");
            }
            node = Some(ty.name.text.clone());
            sorts.push(sort);
        }
        let node = node.unwrap_or_default();
        let Some(built) = self.nodes.get_mut(&node) else {
            return fail(errors, first.span, &format!("there is no node `{node}`"));
        };
        let mut relations = self.relations.clone();
        if fixpoint != Fixpoint::None {
            relations.insert(name.text.clone(), (node.clone(), sorts.clone()));
        }
        // The formula has variables of its own, which are not the model's.
        let terms = built.hierarchy.terms.clone();
        let fields = built.fields().clone();
        let mut made = built.lowering(errors, |lower| {
            let mut resolver = Resolver {
                lower,
                fields,
                node: &node,
                relations: &relations,
                scope: vec![],
                places: FxHashMap::default(),
                depth: 0,
            };
            for ((argument, _), &sort) in arguments.iter().zip(&sorts) {
                resolver.enter(argument, sort)?;
            }
            let formula = resolver.formula(body)?;
            let (places, depth) = (resolver.places, resolver.depth);
            Ok((formula, places, depth, lower.terms.clone()))
        });
        built.hierarchy.terms = terms;
        let (formula, places, depth, terms) = match made.as_mut() {
            Ok(_) => made?,
            Err(Reported) => return Err(Reported),
        };
        self.relations.insert(name.text.clone(), (node.clone(), sorts.clone()));
        Ok(Definition { name: name.text, node, arguments: sorts, fixpoint, formula, terms, places, depth })
    }
}

fn sort_of(ty: &TypeName) -> Option<Sort> {
    match ty.member.as_ref()?.text.as_str() {
        "c" => Some(Sort::Configuration),
        "ev" => Some(Sort::Event),
        _ => None,
    }
}

type Header = (Name, Vec<(Name, TypeName)>, Fixpoint, Expr);

fn header(parser: &mut Parser<'_>) -> Read<Header> {
    let name = parser.ident("the name of a relation, or a command (`:help` lists them)")?;
    parser.require("(")?;
    let mut arguments = vec![];
    loop {
        let names = parser.idents("an argument")?;
        parser.require(":")?;
        let ty = parser.type_name()?;
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
    Ok((name, arguments, fixpoint, body))
}

struct Resolver<'r, 'e> {
    lower: &'r mut Lower<'e>,
    fields: Tree<trellis_expr::TermId>,
    node: &'r str,
    relations: &'r FxHashMap<String, (String, Vec<Sort>)>,
    /// Variables in scope, by number.
    scope: Vec<(String, Sort, Option<Tree<trellis_expr::TermId>>)>,
    places: FxHashMap<VarId, (usize, usize)>,
    depth: usize,
}

impl Resolver<'_, '_> {
    fn enter(&mut self, name: &Name, sort: Sort) -> Read<usize> {
        let number = self.scope.len();
        let tree = match sort {
            Sort::Event => None,
            Sort::Configuration => {
                let fields = self.fields.clone();
                Some(fields.map(&mut |rest, &t| {
                    let terms = &mut self.lower.terms;
                    let original = if let Term::Var(v) = *terms.get(t) { v.index() } else { usize::MAX };
                    let ty: Type = terms.ty(t);
                    let ty = if let Term::Var(v) = *terms.get(t) { terms.variable(v).ty } else { ty };
                    let v = terms.declare(format!("{}{rest}", name.text), ty);
                    self.places.insert(v, (number, original));
                    terms.var(v)
                }))
            }
        };
        self.scope.push((name.text.clone(), sort, tree));
        self.depth = self.depth.max(self.scope.len());
        Ok(number)
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.scope.iter().rposition(|(n, ..)| n == name)
    }

    fn formula(&mut self, e: &Expr) -> Read<Formula> {
        Ok(match &e.kind {
            ExprKind::Not(a) => Formula::Not(self.formula(a)?.into()),
            ExprKind::Binary(BinaryOp::And, a, b) => Formula::And(self.formula(a)?.into(), self.formula(b)?.into()),
            ExprKind::Binary(BinaryOp::Or, a, b) => Formula::Or(self.formula(a)?.into(), self.formula(b)?.into()),
            ExprKind::Binary(BinaryOp::Implies, a, b) => {
                Formula::Or(Formula::Not(self.formula(a)?.into()).into(), self.formula(b)?.into())
            }
            ExprKind::Quantified(exists, names, body) => return self.quantified(*exists, names, body),
            ExprKind::Apply(callee, arguments) => return self.apply(callee, arguments, e.span),
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) if self.event(a).is_some() => {
                let (Some(x), Some(y)) = (self.event(a), self.event(b)) else {
                    return self.lower.fail(e.span, "an event can only be compared with an event variable");
                };
                let same = Formula::SameEvent(x, y);
                if *op == BinaryOp::Eq { same } else { Formula::Not(same.into()) }
            }
            _ => {
                let names = self.scope.iter().filter_map(|(n, _, tree)| tree.clone().map(|t| (n.clone(), t))).collect();
                Formula::Term(self.lower.boolean(&Scope { names }, e)?)
            }
        })
    }

    /// The number of an event variable.
    fn event(&self, e: &Expr) -> Option<usize> {
        let ExprKind::Path(path) = &e.kind else { return None };
        let number = self.find(&path.first.text).filter(|_| path.rest.is_empty())?;
        (self.scope[number].1 == Sort::Event).then_some(number)
    }

    fn quantified(&mut self, exists: bool, names: &[(Name, Option<TypeName>)], body: &Expr) -> Read<Formula> {
        let outside = self.scope.len();
        let mut entered = vec![];
        for (name, ty) in names {
            let sort = match ty {
                Some(ty) => match sort_of(ty).filter(|_| ty.name.text == self.node) {
                    Some(sort) => sort,
                    None => return self.lower.fail(ty.name.span, format!("expected `{0}!c` or `{0}!ev`", self.node)),
                },
                // As in Mec, the type follows from where the variable is used.
                None => self.used_as(&name.text, body).unwrap_or(Sort::Configuration),
            };
            entered.push((self.enter(name, sort)?, sort));
        }
        let mut formula = self.formula(body)?;
        self.scope.truncate(outside);
        for (number, sort) in entered.into_iter().rev() {
            formula = match exists {
                true => Formula::Exists(number, sort, formula.into()),
                false => Formula::Forall(number, sort, formula.into()),
            };
        }
        Ok(formula)
    }

    /// The sort of a variable, by the first relation that it is an argument of.
    fn used_as(&self, name: &str, e: &Expr) -> Option<Sort> {
        match &e.kind {
            ExprKind::Not(a) => self.used_as(name, a),
            ExprKind::Binary(_, a, b) => self.used_as(name, a).or_else(|| self.used_as(name, b)),
            ExprKind::Quantified(_, names, body) if names.iter().all(|(n, _)| n.text != name) => {
                self.used_as(name, body)
            }
            ExprKind::Apply(callee, arguments) => {
                let is = |a: &Expr| matches!(&a.kind, ExprKind::Path(p) if p.rest.is_empty() && p.first.text == name);
                let at = arguments.iter().position(is)?;
                self.signature(callee)?.1.get(at).copied()
            }
            _ => None,
        }
    }

    fn signature(&self, callee: &TypeName) -> Option<(Callee, Vec<Sort>)> {
        use Sort::*;
        match callee.member.as_ref().map(|m| m.text.as_str()) {
            None => {
                let (_, sorts) = self.relations.get(&callee.name.text)?;
                Some((Callee::Defined(callee.name.text.clone()), sorts.clone()))
            }
            Some("c") => Some((Callee::Configurations, vec![Configuration])),
            Some("init") => Some((Callee::Initial, vec![Configuration])),
            Some("t") => Some((Callee::Transitions, vec![Configuration, Event, Configuration])),
            Some(_) => None,
        }
    }

    fn apply(&mut self, callee: &TypeName, arguments: &[Expr], span: Span) -> Read<Formula> {
        let node = match &callee.member {
            Some(_) => Some(callee.name.text.clone()),
            None => self.relations.get(&callee.name.text).map(|(node, _)| node.clone()),
        };
        let Some((relation, sorts)) = self.signature(callee) else {
            let d = unknown("relation", &callee.name.text, span, self.relations.keys().map(String::as_str));
            self.lower.errors.push(d);
            return Err(Reported);
        };
        if node.as_deref() != Some(self.node) {
            return self.lower.fail(span, format!("this relation is not about `{}`", self.node));
        }
        if arguments.len() != sorts.len() {
            let text = format!("expected {} arguments, found {}", sorts.len(), arguments.len());
            return self.lower.fail(span, text);
        }
        let mut numbers = vec![];
        for (argument, sort) in arguments.iter().zip(sorts) {
            let ExprKind::Path(path) = &argument.kind else {
                return self.lower.fail(argument.span, "expected a variable");
            };
            match self.find(&path.first.text).filter(|_| path.rest.is_empty()) {
                Some(number) if self.scope[number].1 == sort => numbers.push(number),
                Some(_) => {
                    return self.lower.fail(argument.span, "an event where a configuration should be, or the reverse");
                }
                None => {
                    let names: FxHashSet<&str> = self.scope.iter().map(|(n, ..)| n.as_str()).collect();
                    let d = unknown("variable", &path.first.text, argument.span, names);
                    self.lower.errors.push(d);
                    return Err(Reported);
                }
            }
        }
        Ok(Formula::Apply(relation, numbers))
    }
}
