//! Expressions: by precedence, so that the stack grows with nesting only.

use super::ast::{Expr, ExprKind, Op};
use super::parser::Parser;
use crate::diag::Diagnostic;
use crate::text::cursor::Reads;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

/// `!` binds like this: to one equality.
const NOT: u8 = 5;
const EQUALITY: u8 = 6;
const RELATION: u8 = 7;
/// Tighter than any binary operator.
const TIGHTEST: u8 = 10;

impl<'a> Parser<'a> {
    pub fn expression(&mut self) -> Read<Expr<'a>> {
        let start = self.peek().span;
        self.down(start, |p| {
            if !p.take("if") {
                return p.operators(0);
            }
            let c = p.expression()?;
            p.require("then")?;
            let a = p.expression()?;
            p.require("else")?;
            let b = p.expression()?;
            let span = start.to(b.span);
            Ok(Expr { kind: ExprKind::Ite(Box::new([c, a, b])), span })
        })
    }

    /// Operators that bind at least so tightly.
    fn operators(&mut self, least: u8) -> Read<Expr<'a>> {
        let start = self.peek().span;
        // What may still follow on the left hand side: nothing tighter than this.
        let (mut left, mut most) = if self.is("!") {
            if least > NOT {
                return self.errors.fail(
                    Diagnostic::error(
                        start,
                        "`!` cannot stand here: it binds less tightly than the operator before it",
                    )
                    .help("put parentheses around the negation"),
                );
            }
            self.bump();
            let inner = self.down(start, |p| p.operators(if p.is("!") { NOT } else { EQUALITY }))?;
            let span = start.to(inner.span);
            (Expr { kind: ExprKind::Not(Box::new(inner)), span }, NOT)
        } else {
            (self.unary()?, TIGHTEST)
        };
        let mut chain = None;
        while let Tok::P(text) | Tok::Name(text) = self.peek().tok
            && let Some((op, level)) = Op::of(text)
            && level >= least
        {
            let span = self.peek().span;
            if level > most {
                return self.errors.fail(
                    Diagnostic::error(span, "comparisons cannot be chained").help("put parentheses around one of them"),
                );
            }
            self.bump();
            let right = if matches!(op, Op::Iff | Op::Imply | Op::Xor) {
                self.down(span, |p| p.operators(level))?
            } else {
                self.operators(level + 1)?
            };
            most = if matches!(level, EQUALITY | RELATION) { level - 1 } else { level };
            let whole = left.span.to(right.span);
            match &mut left.kind {
                ExprKind::Chain(_, rest) if chain == Some(level) => rest.push((op, span, right)),
                _ => left = Expr { kind: ExprKind::Chain(Box::new(left), vec![(op, span, right)]), span: whole },
            }
            left.span = whole;
            chain = Some(level);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read<Expr<'a>> {
        let start = self.peek().span;
        if self.is("-") || self.is("+") {
            let negative = self.bump().tok == Tok::P("-");
            let inner = self.down(start, |p| p.unary())?;
            let span = start.to(inner.span);
            // `+e` must still be a number: `0 + e` says so.
            let kind = if negative {
                ExprKind::Neg(Box::new(inner))
            } else {
                let zero = Expr { kind: ExprKind::Int("0"), span: start };
                ExprKind::Chain(Box::new(zero), vec![(Op::Add, start, inner)])
            };
            return Ok(Expr { kind, span });
        }
        let mut e = self.primary()?;
        let depth = self.depth;
        while self.is("[") {
            self.deeper(start)?;
            self.bump();
            let i = self.expression()?;
            let value = if self.take("<-") { Some(self.expression()?) } else { None };
            let span = start.to(self.peek().span);
            self.require("]")?;
            let kind = match value {
                Some(v) => ExprKind::Write(Box::new([e, i, v])),
                None => ExprKind::Read(Box::new([e, i])),
            };
            e = Expr { kind, span };
        }
        self.depth = depth;
        Ok(e)
    }

    fn primary(&mut self) -> Read<Expr<'a>> {
        let t = self.peek();
        let kind = match t.tok {
            Tok::Name("true") => ExprKind::Bool(true),
            Tok::Name("false") => ExprKind::Bool(false),
            Tok::Name(name) if !super::parser::is_keyword(name) => ExprKind::Name(name),
            Tok::Number(digits) => ExprKind::Int(digits),
            Tok::P("(") => return self.between("(", Self::expression, ")"),
            Tok::P("[") => {
                self.bump();
                return self.array(t.span);
            }
            _ => return self.unexpected("an expression"),
        };
        self.bump();
        Ok(Expr { kind, span: t.span })
    }

    /// `[0 <- 1, 1 <- 2, default <- 0]`, `[<integer>default <- 0]`
    fn array(&mut self, start: crate::diag::Span) -> Read<Expr<'a>> {
        let mut entries = vec![];
        let mut index = None;
        loop {
            if self.take("<") {
                index = Some(self.type_name()?);
                self.require(">")?;
                if !self.is("default") {
                    return self.unexpected("`default`");
                }
            }
            if self.take("default") {
                break;
            }
            let i = self.expression()?;
            self.require("<-")?;
            let v = self.expression()?;
            self.require(",")?;
            entries.push((i, v));
        }
        self.require("<-")?;
        let default = Box::new(self.expression()?);
        let span = start.to(self.peek().span);
        self.require("]")?;
        Ok(Expr { kind: ExprKind::Array { entries, index, default }, span })
    }
}
