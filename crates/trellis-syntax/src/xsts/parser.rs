//! From text to the tree of [`super::ast`].

use super::ast::{Expr, File, Set, Stmt, StmtKind, TypeDecl, TypeKind, TypeName, VarDecl};
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::cursor::{Cursor, Reads, reads};
use crate::text::errors::Read;
use crate::text::tokens::{Tok, cut, name, slashed};

const PUNCTUATION: [&str; 28] = [
    "->", "<-", ":=", "<=", ">=", "==", "!=", "=>", "&&", "||", "<", ">", "=", "!", "+", "-", "*", "/", "%", "(", ")",
    "[", "]", "{", "}", ",", ":", ";",
];

const KEYWORDS: [&str; 27] = [
    "type", "ctrl", "var", "boolean", "integer", "trans", "init", "env", "prop", "choice", "or", "if", "then", "else",
    "for", "from", "to", "do", "local", "havoc", "assume", "true", "false", "default", "iff", "xor", "rem",
];

pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

pub struct Parser<'a> {
    cursor: Cursor<'a>,
}

reads!(Parser<'a>);

impl<'a> Parser<'a> {
    pub fn new(sources: &'a Sources, id: SourceId) -> Parser<'a> {
        let tokens = cut(id, &sources.get(id).text, &PUNCTUATION, slashed, |_, rest| name(rest, "$", "$."));
        Parser { cursor: Cursor::new(sources, tokens) }
    }

    pub fn finish(self) -> Vec<Diagnostic> {
        self.cursor.errors.finish()
    }

    pub fn file(&mut self) -> Read<File<'a>> {
        let mut types = vec![];
        while self.is("type") {
            types.push(self.type_decl()?);
        }
        let mut variables = vec![];
        while self.is("var") || self.is("ctrl") {
            let control = self.take("ctrl");
            self.require("var")?;
            variables.push(self.variable(control)?);
        }
        if self.is("type") {
            let span = self.peek().span;
            return self.fail(span, "types must be declared before variables");
        }
        let (trans, init, env) = (self.set("trans")?, self.set("init")?, self.set("env")?);
        let prop = if self.is("prop") { Some(self.prop()?) } else { None };
        let ltl = if self.is("ltl") { Some(self.ltl()?) } else { None };
        if self.peek().tok != Tok::End {
            let next = if prop.is_none() { "`or`, `prop` or the end of the text" } else { "the end of the text" };
            return self.unexpected(next);
        }
        Ok(File { types, variables, trans, init, env, prop, ltl })
    }

    /// `prop { e }`, or `e`.
    pub fn property(&mut self) -> Read<Expr<'a>> {
        let e = if self.is("prop") { self.prop()? } else { self.expression()? };
        if self.peek().tok == Tok::End { Ok(e) } else { self.unexpected("the end of the property") }
    }

    fn prop(&mut self) -> Read<Expr<'a>> {
        self.require("prop")?;
        self.between("{", Self::expression, "}")
    }

    fn ltl(&mut self) -> Read<Span> {
        self.require("ltl")?;
        let open = self.peek().span;
        if !self.is("{") {
            return self.unexpected("`{`");
        }
        self.skip_braces();
        let close = self.tokens[self.at.saturating_sub(1)];
        if close.tok != Tok::P("}") {
            return self.unexpected("`}`");
        }
        Ok(Span { start: open.end, end: close.span.start, ..open })
    }

    fn declared(&mut self, what: &str) -> Read<(&'a str, Span)> {
        match self.peek().tok {
            Tok::Name(name) if !is_keyword(name) => Ok((name, self.bump().span)),
            _ => self.unexpected(what),
        }
    }

    fn type_decl(&mut self) -> Read<TypeDecl<'a>> {
        self.require("type")?;
        let (name, span) = self.declared("the name of the type")?;
        self.require(":")?;
        let literals = self.between("{", |p| p.list(|p| p.declared("a literal")), "}")?;
        Ok(TypeDecl { name, span, literals })
    }

    fn variable(&mut self, control: bool) -> Read<VarDecl<'a>> {
        let (name, span) = self.declared("the name of the variable")?;
        self.require(":")?;
        let ty = self.type_name()?;
        let value = if self.take("=") { Some(self.expression()?) } else { None };
        Ok(VarDecl { control, name, span, ty, value })
    }

    pub fn type_name(&mut self) -> Read<TypeName<'a>> {
        let t = self.peek();
        let kind = match t.tok {
            Tok::Name("boolean") => TypeKind::Bool,
            Tok::Name("integer") => TypeKind::Int,
            Tok::Name(name) if !is_keyword(name) => TypeKind::Named(name),
            Tok::P("[") => {
                let (index, entry) = self.down(t.span, |p| {
                    let index = p.between("[", Self::type_name, "]")?;
                    p.require("->")?;
                    Ok((index, p.type_name()?))
                })?;
                let span = t.span.to(entry.span);
                return Ok(TypeName { kind: TypeKind::Array(Box::new(index), Box::new(entry)), span });
            }
            _ => return self.unexpected("a type"),
        };
        self.bump();
        Ok(TypeName { kind, span: t.span })
    }

    fn set(&mut self, word: &str) -> Read<Set<'a>> {
        let span = self.peek().span;
        if !self.take(word) {
            let t = self.peek();
            return self.errors.fail(
                Diagnostic::error(t.span, format!("expected `{word}`, found {}", t.tok.describe()))
                    .help("a model has types, variables, `trans`, `init`, `env` and `prop`, in this order"),
            );
        }
        Ok(Set { span, branches: self.branches()? })
    }

    /// `s or s or s`
    fn branches(&mut self) -> Read<Vec<Stmt<'a>>> {
        let mut all = vec![self.statement()?];
        while self.take("or") {
            all.push(self.statement()?);
        }
        Ok(all)
    }

    fn statement(&mut self) -> Read<Stmt<'a>> {
        let t = self.peek();
        let kind = self.down(t.span, |p| p.statement_kind())?;
        Ok(Stmt { kind, span: t.span })
    }

    fn statement_kind(&mut self) -> Read<StmtKind<'a>> {
        let t = self.peek();
        let kind = match t.tok {
            Tok::P("{") => {
                self.bump();
                let mut all = vec![];
                while !self.take("}") {
                    all.push(self.statement()?);
                }
                return Ok(StmtKind::Block(all));
            }
            Tok::Name("choice") => {
                self.bump();
                return Ok(StmtKind::Choice(self.branches()?));
            }
            Tok::Name("if") => {
                self.bump();
                let c = self.between("(", Self::expression, ")")?;
                let then = Box::new(self.statement()?);
                let otherwise = if self.take("else") { Some(Box::new(self.statement()?)) } else { None };
                return Ok(StmtKind::If(c, then, otherwise));
            }
            Tok::Name("for") => {
                self.bump();
                let (name, span) = self.declared("the name of the counter")?;
                self.require("from")?;
                let from = self.expression()?;
                self.require("to")?;
                let to = self.expression()?;
                self.require("do")?;
                let body = Box::new(self.statement()?);
                return Ok(StmtKind::For { name, span, from, to, body });
            }
            Tok::Name("local") => {
                self.bump();
                self.require("var")?;
                StmtKind::Local(self.variable(false)?)
            }
            Tok::Name("havoc") => {
                self.bump();
                let (name, span) = self.declared("a variable")?;
                StmtKind::Havoc(name, span)
            }
            Tok::Name("assume") => {
                self.bump();
                StmtKind::Assume(self.expression()?)
            }
            Tok::Name("ort") if self.ahead(1) == Tok::P("{") => {
                return self.fail(t.span, "`ort` is not supported, and no longer by Theta");
            }
            Tok::Name(name) if !is_keyword(name) => {
                self.bump();
                if self.is("[") {
                    let i = self.between("[", Self::expression, "]")?;
                    self.require(":=")?;
                    StmtKind::Store(name, i, self.expression()?)
                } else {
                    self.require(":=")?;
                    StmtKind::Assign(name, self.expression()?)
                }
            }
            _ => return self.unexpected("a statement"),
        };
        self.require(";")?;
        Ok(kind)
    }
}
