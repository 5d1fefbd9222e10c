//! What stands in attributes: expressions and statements.
//!
//! `!` binds weaker than comparisons, as in TChecker's grammar: `!a == b` is `!(a == b)`. At most [`MAX_DEPTH`] brackets
//! nest and at most [`MAX_OPERATORS`] operators stand in one conjunct, so that nothing that walks the tree runs out of
//! stack; conjunctions may be of any length.

use super::ast::{Ident, Stmt};
use super::lexer::{Lexer, Tok, Token};
use crate::diag::{Diagnostic, Span};
use crate::text::errors::{Errors, Read, Reported};
use crate::uppaal::ast::{BinOp, Expr, ExprKind, UnOp};

/// How deep brackets and statements may nest.
const MAX_DEPTH: u32 = 200;

/// How many operators, `&&` aside, one conjunct may have.
const MAX_OPERATORS: u32 = 1000;

/// Words that cannot be names of variables.
const WORDS: [&str; 8] = ["if", "then", "else", "end", "while", "do", "nop", "local"];

pub(super) struct Program<'a, 'e> {
    lexer: Lexer<'a>,
    ahead: Token<'a>,
    prev: Span,
    errors: &'e mut Errors,
    depth: u32,
    operators: u32,
}

fn node(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    let span = a.span.to(b.span);
    node(ExprKind::Binary(op, Box::new(a), Box::new(b)), span)
}

/// A conjunction as a tree that is not higher than it must be.
fn conjunction(mut parts: Vec<Expr>) -> Option<Expr> {
    let right = parts.split_off(parts.len().div_ceil(2));
    if right.is_empty() {
        return parts.pop();
    }
    Some(binary(BinOp::And, conjunction(parts)?, conjunction(right)?))
}

fn comparison(tok: Tok<'_>) -> Option<BinOp> {
    Some(match tok {
        Tok::P("==") => BinOp::Eq,
        Tok::P("!=") => BinOp::Ne,
        Tok::P("<") => BinOp::Lt,
        Tok::P("<=") => BinOp::Le,
        Tok::P(">=") => BinOp::Ge,
        Tok::P(">") => BinOp::Gt,
        _ => return None,
    })
}

impl<'a, 'e> Program<'a, 'e> {
    pub fn new(mut lexer: Lexer<'a>, whole: Span, errors: &'e mut Errors) -> Program<'a, 'e> {
        let ahead = lexer.next();
        Program { lexer, ahead, prev: whole, errors, depth: 0, operators: 0 }
    }

    /// One expression, to the end.
    pub fn expression(mut self) -> Read<Expr> {
        let e = self.conjunction()?;
        self.finish("an operator or the end of the expression")?;
        Ok(e)
    }

    /// Statements, to the end.
    pub fn statements(mut self) -> Read<Vec<Stmt>> {
        let list = self.sequence()?;
        self.finish("`;` or the end of the statements")?;
        Ok(list)
    }

    fn finish(&mut self, expected: &str) -> Read<()> {
        if self.ahead.tok == Tok::End { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn bump(&mut self) -> Token<'a> {
        let next = self.lexer.next();
        let t = std::mem::replace(&mut self.ahead, next);
        self.prev = t.span;
        t
    }

    fn eat(&mut self, tok: Tok<'_>) -> bool {
        let found = self.ahead.tok == tok;
        if found {
            self.bump();
        }
        found
    }

    fn report(&mut self, d: Diagnostic) -> Reported {
        self.errors.push(d);
        Reported
    }

    fn unexpected(&mut self, expected: &str) -> Reported {
        let t = self.ahead;
        let span = if t.tok == Tok::End { Span { start: self.prev.end, ..self.prev } } else { t.span };
        let d = Diagnostic::error(span, format!("expected {expected}, found {}", t.tok.describe()))
            .label(format!("expected {expected}"));
        self.report(match t.tok {
            Tok::P("||") => d.help("TChecker's expressions are conjunctions; write one edge for each alternative"),
            Tok::P("=") => d.help("`=` assigns; to compare, write `==`"),
            Tok::P(":=") => d.help("assignments are written `x = e`"),
            Tok::Name("and") => d.help("conjunction is written `&&`"),
            Tok::Name("or") => d.help("there is no disjunction; write one edge for each alternative"),
            Tok::Odd('&') => d.help("conjunction is written `&&`"),
            Tok::P("?") => d.help("a choice is written `(if c then a else b)`"),
            Tok::Name(word) if WORDS.contains(&word) => d.help(format!("`{word}` is a reserved word here")),
            _ => d,
        })
    }

    fn require(&mut self, tok: Tok<'static>, after: &str) -> Read<()> {
        if self.eat(tok) {
            return Ok(());
        }
        let what = tok.describe();
        Err(self.unexpected(&format!("{what} after {after}")))
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        let result = if self.depth <= MAX_DEPTH {
            read(self)
        } else {
            let d = Diagnostic::error(self.ahead.span, format!("nested more than {MAX_DEPTH} levels deep"));
            Err(self.report(d.label("too deep").help("use fewer brackets")))
        };
        self.depth -= 1;
        result
    }

    fn operator(&mut self) -> Read<Token<'a>> {
        self.operators += 1;
        if self.operators <= MAX_OPERATORS {
            return Ok(self.bump());
        }
        let d = Diagnostic::error(self.ahead.span, format!("more than {MAX_OPERATORS} operators in one condition"));
        Err(self.report(d.label("too long").help("split it into several conditions or steps")))
    }

    // Expressions.

    fn conjunction(&mut self) -> Read<Expr> {
        let mut parts = Vec::new();
        loop {
            if self.depth == 0 {
                self.operators = 0;
            }
            parts.push(self.negation()?);
            if !self.eat(Tok::P("&&")) {
                break;
            }
        }
        conjunction(parts).ok_or(Reported)
    }

    fn negation(&mut self) -> Read<Expr> {
        if self.ahead.tok != Tok::P("!") {
            return self.comparison();
        }
        let start = self.operator()?.span;
        let of = self.nested(Self::negation)?;
        let span = start.to(of.span);
        Ok(node(ExprKind::Unary(UnOp::Not, Box::new(of)), span))
    }

    fn comparison(&mut self) -> Read<Expr> {
        let left = self.sum()?;
        let Some(op) = comparison(self.ahead.tok) else { return Ok(left) };
        self.operator()?;
        let middle = self.sum()?;
        let Some(second) = comparison(self.ahead.tok) else { return Ok(binary(op, left, middle)) };
        let ascending = |op| matches!(op, BinOp::Lt | BinOp::Le);
        if !ascending(op) || !ascending(second) {
            let d = Diagnostic::error(self.ahead.span, "only `<` and `<=` can be chained");
            return Err(self.report(d.help("write two comparisons with `&&` between them")));
        }
        self.operator()?;
        let right = self.sum()?;
        Ok(binary(BinOp::And, binary(op, left, middle.clone()), binary(second, middle, right)))
    }

    fn sum(&mut self) -> Read<Expr> {
        self.chain(&[("+", BinOp::Add), ("-", BinOp::Sub)], Self::product)
    }

    fn product(&mut self) -> Read<Expr> {
        self.chain(&[("*", BinOp::Mul), ("/", BinOp::Div), ("%", BinOp::Mod)], Self::factor)
    }

    fn chain(&mut self, operators: &[(&str, BinOp)], tighter: fn(&mut Self) -> Read<Expr>) -> Read<Expr> {
        let mut left = tighter(self)?;
        while let Some(&(_, op)) = operators.iter().find(|(p, _)| matches!(self.ahead.tok, Tok::P(q) if q == *p)) {
            self.operator()?;
            left = binary(op, left, tighter(self)?);
        }
        Ok(left)
    }

    fn factor(&mut self) -> Read<Expr> {
        let t = self.ahead;
        match t.tok {
            Tok::P("-") => {
                self.operator()?;
                let of = self.nested(Self::factor)?;
                let span = t.span.to(of.span);
                Ok(node(ExprKind::Unary(UnOp::Neg, Box::new(of)), span))
            }
            Tok::Int(n) => {
                self.bump();
                match n.filter(|n| i32::try_from(*n).is_ok()) {
                    Some(n) => Ok(node(ExprKind::Int(n), t.span)),
                    None => {
                        let d = Diagnostic::error(t.span, "this number does not fit 32 bits");
                        Err(self.report(d.help("use a number up to 2147483647")))
                    }
                }
            }
            Tok::Name("if") => self.nested(Self::choice),
            Tok::Name(name) if !WORDS.contains(&name) => self.variable(),
            Tok::P("(") => {
                self.operator()?;
                let mut inner = self.nested(Self::conjunction)?;
                self.require(Tok::P(")"), "the bracketed expression")?;
                inner.span = t.span.to(self.prev);
                Ok(inner)
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// `if c then a else b`
    fn choice(&mut self) -> Read<Expr> {
        let start = self.operator()?.span;
        let cond = self.conjunction()?;
        self.require(Tok::Name("then"), "the condition")?;
        let then = self.sum()?;
        self.require(Tok::Name("else"), "the first alternative")?;
        let els = self.sum()?;
        let span = start.to(els.span);
        Ok(node(ExprKind::Cond(Box::new(cond), Box::new(then), Box::new(els)), span))
    }

    /// `x`, `x[i]`
    fn variable(&mut self) -> Read<Expr> {
        let Tok::Name(name) = self.ahead.tok else { return Err(self.unexpected("a variable")) };
        if WORDS.contains(&name) {
            return Err(self.unexpected("a variable"));
        }
        let span = self.bump().span;
        let base = node(ExprKind::Name(name.to_string()), span);
        if !self.eat(Tok::P("[")) {
            return Ok(base);
        }
        let index = self.nested(Self::sum)?;
        self.require(Tok::P("]"), "the index")?;
        let span = span.to(self.prev);
        Ok(node(ExprKind::Index(Box::new(base), Box::new(index)), span))
    }

    // Statements.

    fn sequence(&mut self) -> Read<Vec<Stmt>> {
        let mut list = Vec::new();
        loop {
            self.operators = 0;
            list.push(self.statement()?);
            if !self.eat(Tok::P(";")) || matches!(self.ahead.tok, Tok::End | Tok::Name("end" | "else")) {
                return Ok(list);
            }
        }
    }

    fn statement(&mut self) -> Read<Stmt> {
        match self.ahead.tok {
            Tok::Name("nop") => {
                self.bump();
                Ok(Stmt::Nop)
            }
            Tok::Name("if") => self.nested(|p| {
                p.bump();
                let cond = p.conjunction()?;
                p.require(Tok::Name("then"), "the condition")?;
                let then = p.sequence()?;
                let els = if p.eat(Tok::Name("else")) { p.sequence()? } else { Vec::new() };
                p.require(Tok::Name("end"), "the statements of `if`")?;
                Ok(Stmt::If { cond, then, els })
            }),
            Tok::Name("while") => self.nested(|p| {
                p.bump();
                let cond = p.conjunction()?;
                p.require(Tok::Name("do"), "the condition")?;
                let body = p.sequence()?;
                p.require(Tok::Name("end"), "the statements of `while`")?;
                Ok(Stmt::While { cond, body })
            }),
            Tok::Name("local") => self.local(),
            Tok::Name(name) if !WORDS.contains(&name) => {
                let target = self.variable()?;
                self.require(Tok::P("="), "the variable")?;
                Ok(Stmt::Assign { target, value: self.sum()? })
            }
            _ => Err(self.unexpected("a statement")),
        }
    }

    fn local(&mut self) -> Read<Stmt> {
        self.bump();
        let Tok::Name(name) = self.ahead.tok else { return Err(self.unexpected("the name of a local variable")) };
        if WORDS.contains(&name) {
            return Err(self.unexpected("the name of a local variable"));
        }
        let name = Ident { name: name.to_string(), span: self.bump().span };
        let (mut size, mut init) = (None, None);
        if self.eat(Tok::P("[")) {
            size = Some(self.nested(Self::sum)?);
            self.require(Tok::P("]"), "the size")?;
        } else if self.eat(Tok::P("=")) {
            init = Some(self.sum()?);
        }
        Ok(Stmt::Local { name, size, init })
    }
}
