//! Expressions and paths. The same parser serves AltaRica, Acheck's conditions and Mec 5's formulas; only the last have quantifiers
//! and relations.

use super::ast::{BinaryOp, Dom, DomKind, Expr, ExprKind, Name, Path, Segment, TypeName};
use super::parser::Parser;
use crate::diag::Span;
use crate::text::cursor::Reads;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

use BinaryOp::*;

impl Parser<'_> {
    /// An expression.
    pub fn expr(&mut self) -> Read<Expr> {
        let start = self.peek().span;
        self.down(start, |p| p.conditional())
    }

    fn conditional(&mut self) -> Read<Expr> {
        let start = self.peek().span;
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let yes = self.expr()?;
        self.require(":")?;
        let no = self.expr()?;
        Ok(self.made(start, ExprKind::If(condition.into(), yes.into(), no.into())))
    }

    fn made(&self, start: Span, kind: ExprKind) -> Expr {
        let last = self.last();
        Expr { kind, span: start.to(last) }
    }

    /// Operators, loosest first.
    fn operator(&self, level: usize) -> Option<BinaryOp> {
        let tok = self.peek().tok;
        let word = |w: &str| matches!(tok, Tok::Name(n) if n.eq_ignore_ascii_case(w));
        let is = |p: &str| matches!(tok, Tok::P(q) if q == p);
        let found = |op: BinaryOp, yes: bool| yes.then_some(op);
        match level {
            0 => found(Implies, is("=>") || word("imply")),
            1 => found(Or, is("|") || word("or")),
            2 => found(And, is("&") || word("and")),
            3 => [("=", Eq), ("!=", Ne), ("<=", Le), (">=", Ge), ("<", Lt), (">", Gt)]
                .into_iter()
                .find_map(|(p, op)| found(op, is(p))),
            4 => found(Add, is("+")).or_else(|| found(Sub, is("-"))),
            _ => found(Mul, is("*")).or_else(|| found(Div, is("/"))).or_else(|| found(Mod, word("mod"))),
        }
    }

    fn binary(&mut self, level: usize) -> Read<Expr> {
        if level > 5 {
            return self.unary();
        }
        let start = self.peek().span;
        let mut left = self.binary(level + 1)?;
        let mut count = 0;
        while let Some(op) = self.operator(level) {
            self.bump();
            // `=>` is the only one that groups to the right; comparisons do not group.
            let right = if op == Implies { self.nested(level)? } else { self.binary(level + 1)? };
            left = self.made(start, ExprKind::Binary(op, left.into(), right.into()));
            count += 1;
            if level == 3 && self.operator(3).is_some() {
                return self.unexpected("something else than a second comparison (use parentheses)");
            }
            // Long chains nest to the left, and what walks over them is recursive.
            if count > 5000 {
                return self.fail(start, "this expression is too long");
            }
        }
        Ok(left)
    }

    fn nested(&mut self, level: usize) -> Read<Expr> {
        let start = self.peek().span;
        self.down(start, |p| p.binary(level))
    }

    fn unary(&mut self) -> Read<Expr> {
        let t = self.peek();
        self.down(t.span, |p| p.prefixed())
    }

    fn prefixed(&mut self) -> Read<Expr> {
        let start = self.peek().span;
        if self.take("~") || self.take_word("not") || (self.bang && self.take("!")) {
            let e = self.unary()?;
            return Ok(self.made(start, ExprKind::Not(e.into())));
        }
        if self.take("-") {
            let e = self.unary()?;
            return Ok(self.made(start, ExprKind::Neg(e.into())));
        }
        if self.mec && (self.is("<") || self.is("[")) {
            return self.quantified();
        }
        self.primary()
    }

    fn quantified(&mut self) -> Read<Expr> {
        let start = self.bump();
        let exists = start.tok == Tok::P("<");
        let end = if exists { ">" } else { "]" };
        let names = self.list(|p| {
            let name = p.ident("a variable")?;
            Ok((name, if p.take(":") { Some(p.type_name()?) } else { None }))
        })?;
        self.require(end)?;
        let body = self.unary()?;
        Ok(self.made(start.span, ExprKind::Quantified(exists, names, body.into())))
    }

    /// The type of an argument: `Node!c`, or a domain.
    pub fn type_name(&mut self) -> Read<TypeName> {
        if matches!(self.peek().tok, Tok::Name(_) | Tok::Quoted(_)) && self.ahead(1) == Tok::P("!") {
            let name = self.ident("a node")?;
            self.require("!")?;
            let member = self.behind_bang()?;
            return Ok(TypeName { name, member: Some(member), dom: None });
        }
        let span = self.peek().span;
        let dom = self.dom()?;
        let text = if let DomKind::Named(name) = &dom.kind { name.clone() } else { String::new() };
        Ok(TypeName { name: Name { text, span }, member: None, dom: Some(Box::new(dom)) })
    }

    /// What stands behind `!`; one of these is a keyword elsewhere.
    fn behind_bang(&mut self) -> Read<Name> {
        let (text, span) = self.name("`c`, `ev`, `t` or `init`")?;
        Ok(Name { text: text.into(), span })
    }

    fn primary(&mut self) -> Read<Expr> {
        let t = self.peek();
        match t.tok {
            Tok::Number(digits) => {
                self.bump();
                match digits.parse() {
                    Ok(n) => Ok(self.made(t.span, ExprKind::Int(n))),
                    Err(_) => self.fail(t.span, "this number is too large"),
                }
            }
            Tok::P("(") => {
                self.bump();
                let e = self.expr()?;
                self.require(")")?;
                Ok(Expr { span: t.span.to(self.last()), ..e })
            }
            Tok::Name(word) => match word.to_ascii_lowercase().as_str() {
                "true" | "false" => {
                    self.bump();
                    Ok(self.made(t.span, ExprKind::Bool(word.eq_ignore_ascii_case("true"))))
                }
                "if" => self.if_then_else(),
                "case" => self.case(),
                "min" | "max" if self.ahead(1) == Tok::P("(") => {
                    self.bump();
                    let all = self.between("(", |p| p.list(Self::expr), ")")?;
                    Ok(self.made(t.span, ExprKind::Extreme(word.eq_ignore_ascii_case("min"), all)))
                }
                lower if self.reserved(lower) => self.unexpected("an expression"),
                _ => self.path_or_relation(),
            },
            Tok::Quoted(_) => self.path_or_relation(),
            _ => self.unexpected("an expression"),
        }
    }

    fn path_or_relation(&mut self) -> Read<Expr> {
        let start = self.peek().span;
        if self.mec && matches!(self.ahead(1), Tok::P("!" | "(")) {
            let name = self.ident("a relation")?;
            let member = if self.take("!") { Some(self.behind_bang()?) } else { None };
            self.require("(")?;
            let args = if self.is(")") { vec![] } else { self.list(Self::expr)? };
            self.require(")")?;
            return Ok(self.made(start, ExprKind::Apply(TypeName { name, member, dom: None }, args)));
        }
        let path = self.path()?;
        Ok(self.made(start, ExprKind::Path(path)))
    }

    fn if_then_else(&mut self) -> Read<Expr> {
        let start = self.bump().span;
        let condition = self.expr()?;
        self.require_word("then")?;
        let yes = self.expr()?;
        self.require_word("else")?;
        let no = self.expr()?;
        Ok(self.made(start, ExprKind::If(condition.into(), yes.into(), no.into())))
    }

    /// `case { a : b, c : d, else e }`, as nested conditionals.
    fn case(&mut self) -> Read<Expr> {
        let start = self.bump().span;
        self.require("{")?;
        let mut branches = vec![];
        let last = loop {
            if self.take_word("else") {
                self.take(":");
                break self.expr()?;
            }
            // A condition here ends at a colon, so it is no `?:` unless in parentheses.
            let condition = self.binary(0)?;
            self.require(":")?;
            branches.push((condition, self.expr()?));
            if branches.len() > 2000 {
                return self.fail(start, "this case has too many branches");
            }
            if !self.take(",") && !self.is_word("else") {
                return self.unexpected("`,` and another branch; the last one is `else`");
            }
        };
        self.take(",");
        self.require("}")?;
        let span = start.to(self.last());
        let nest = |no: Expr, (condition, yes): (Expr, Expr)| Expr {
            kind: ExprKind::If(condition.into(), yes.into(), no.into()),
            span,
        };
        Ok(branches.into_iter().rev().fold(last, nest))
    }

    /// `a.b[0].c`
    pub fn path(&mut self) -> Read<Path> {
        let first = self.ident("a name")?;
        let mut rest = vec![];
        loop {
            if self.take(".") {
                rest.push(Segment::Name(self.ident("a name")?));
            } else if self.take("[") {
                rest.push(Segment::Index(self.expr()?));
                self.require("]")?;
            } else {
                break;
            }
        }
        let span = first.span.to(self.last());
        Ok(Path { first, rest, span })
    }

    /// A domain.
    pub fn dom(&mut self) -> Read<Dom> {
        let start = self.peek();
        let kind = self.down(start.span, |p| p.base_dom());
        let mut kind = kind?;
        let base = start.span.to(self.last());
        let sizes = self.sizes()?;
        if !sizes.is_empty() {
            kind = DomKind::Array(Box::new(Dom { kind, span: base }), sizes);
        }
        Ok(Dom { kind, span: start.span.to(self.last()) })
    }

    /// `[2][3]`
    pub fn sizes(&mut self) -> Read<Vec<Expr>> {
        let mut sizes = vec![];
        while self.is("[") {
            sizes.push(self.between("[", Self::expr, "]")?);
        }
        Ok(sizes)
    }

    fn base_dom(&mut self) -> Read<DomKind> {
        let t = self.peek();
        match t.tok {
            Tok::P("[") => {
                self.bump();
                let low = self.expr()?;
                self.require(",")?;
                let high = self.expr()?;
                self.require("]")?;
                Ok(DomKind::Range(low.into(), high.into()))
            }
            Tok::P("{") => {
                let names = self.between("{", |p| p.idents("a literal of the enumeration"), "}")?;
                Ok(DomKind::Enum(names))
            }
            Tok::Name(word) => match word.to_ascii_lowercase().as_str() {
                "bool" | "boolean" => {
                    self.bump();
                    Ok(DomKind::Bool)
                }
                "integer" => {
                    self.bump();
                    Ok(DomKind::Integer)
                }
                "struct" => {
                    self.bump();
                    let mut fields = vec![];
                    while !self.take_word("tcurts") {
                        let names = self.idents("a field, or `tcurts`")?;
                        self.require(":")?;
                        fields.push((names, self.dom()?));
                        if !self.take(";") && !self.is_word("tcurts") {
                            return self.unexpected("`;` or `tcurts`");
                        }
                    }
                    Ok(DomKind::Struct(fields))
                }
                lower if self.reserved(lower) => self.unexpected("a domain"),
                _ => Ok(DomKind::Named(self.ident("a domain")?.text)),
            },
            Tok::Quoted(_) => Ok(DomKind::Named(self.ident("a domain")?.text)),
            _ => self.unexpected("a domain (`bool`, `integer`, `[a, b]`, `{a, b}`, `struct`, or a name)"),
        }
    }
}
