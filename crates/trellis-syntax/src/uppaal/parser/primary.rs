//! The innermost expressions: literals, names, brackets, quantifiers.

use super::{Parser, Read};
use crate::diag::{Diagnostic, Span};
use crate::uppaal::ast::{Expr, ExprKind, Quant};
use crate::uppaal::token::{Kw, Punct, Tok};

impl Parser<'_, '_> {
    /// Reads something between brackets that are already open.
    pub(super) fn bracketed<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.brackets += 1;
        let result = read(self);
        self.brackets -= 1;
        result
    }

    /// Arguments up to the closing bracket, and how high the highest of them is.
    pub(super) fn args(&mut self) -> Read<(Vec<Expr>, u32)> {
        let mut args = Vec::new();
        let mut height = 0;
        if self.at(Punct::RParen) {
            return Ok((args, height));
        }
        loop {
            args.push(self.expr()?);
            height = height.max(self.height);
            if !self.eat(Punct::Comma) {
                return Ok((args, height));
            }
        }
    }

    pub(super) fn primary(&mut self) -> Read<Expr> {
        let token = self.look(0);
        self.height = 1;
        if self.queries {
            self.no_path_quantifier()?;
        }
        let kind = match token.tok {
            Tok::Int(n) => {
                self.bump();
                ExprKind::Int(self.checked_int(n, token.span))
            }
            Tok::Float(text) => {
                self.bump();
                ExprKind::Unsupported(format!("the floating-point number {text}"))
            }
            Tok::Str(_) => {
                self.bump();
                ExprKind::Unsupported("a string".to_string())
            }
            Tok::Kw(Kw::True | Kw::False) => {
                self.bump();
                ExprKind::Bool(token.tok == Tok::Kw(Kw::True))
            }
            Tok::Kw(Kw::Deadlock) => {
                self.bump();
                ExprKind::Deadlock
            }
            Tok::Kw(Kw::Forall) => return self.quantifier(Quant::Forall),
            Tok::Kw(Kw::Exists) => return self.quantifier(Quant::Exists),
            Tok::Ident("sum") if self.at_binder() => return self.quantifier(Quant::Sum),
            Tok::Ident("spawn") if matches!(self.look(1).tok, Tok::Ident(_)) => {
                self.bump();
                let call = self.nested(Self::postfix)?;
                let span = token.span.to(call.span);
                self.height = 1;
                return Ok(Expr { kind: ExprKind::Unsupported("spawn".to_string()), span });
            }
            Tok::Ident(name) => {
                self.bump();
                ExprKind::Name(name.to_string())
            }
            Tok::P(Punct::LParen) => {
                self.bump();
                let mut inner = self.bracketed(Self::expr)?;
                let close = self.require(Punct::RParen, "after the bracketed expression")?;
                inner.span = token.span.to(close);
                return Ok(inner);
            }
            _ => {
                let mut error = self.unexpected("an expression");
                error = match token.tok {
                    Tok::P(Punct::LBrace) => error.help("`{…}` can only stand after `=` in a declaration"),
                    Tok::Kw(kw @ (Kw::Int | Kw::Bool | Kw::Const | Kw::Clock)) => {
                        error.help(format!("`{}` starts a declaration; none can stand here", kw.text()))
                    }
                    Tok::Kw(kw) => error.help(format!("`{}` is a reserved word; it cannot be a name", kw.text())),
                    _ => error,
                };
                return Err(self.report(error));
            }
        };
        Ok(Expr { kind, span: token.span })
    }

    /// A literal within UPPAAL's 32 bits; what is not is reported, and read as the largest.
    fn checked_int(&mut self, n: Option<i64>, span: Span) -> i64 {
        match n {
            Some(n) if n <= i64::from(i32::MAX) => n,
            _ => {
                self.report(
                    Diagnostic::error(span, "this number does not fit UPPAAL's 32-bit integers")
                        .label("too large")
                        .help(format!("the largest is {}", i32::MAX)),
                );
                i64::from(i32::MAX)
            }
        }
    }

    /// Whether `( name :` follows, as after `sum`.
    fn at_binder(&mut self) -> bool {
        self.look(1).tok == Tok::P(Punct::LParen)
            && matches!(self.look(2).tok, Tok::Ident(_))
            && self.look(3).tok == Tok::P(Punct::Colon)
    }

    fn quantifier(&mut self, quant: Quant) -> Read<Expr> {
        let start = self.bump().span;
        self.require(Punct::LParen, "after the quantifier")?;
        let (var, ty) = self.bracketed(|p| {
            let var = p.ident("the name of the quantified variable")?;
            p.require(Punct::Colon, "after the quantified variable")?;
            Ok((var, p.ty()?))
        })?;
        self.require(Punct::RParen, "after the type of the quantified variable")?;
        let body = self.expr()?;
        let span = start.to(body.span);
        self.grow(self.height, span)?;
        Ok(Expr { kind: ExprKind::Quant(quant, var, Box::new(ty), Box::new(body)), span })
    }
}
