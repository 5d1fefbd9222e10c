//! Expressions, with the precedence of UPPAAL's help page "Expressions":
//!
//! | binds | operators |
//! |---|---|
//! | left | `()` `[]` `.` `'` and postfix `++` `--` |
//! | right | `!` `not` prefix `++` `--` `-` `+` |
//! | left | `*` `/` `%`, then `-` `+`, then `<<` `>>`, then `<?` `>?`, then `<` `<=` `>=` `>`, then `==` `!=` |
//! | left | `&`, then `^`, then `\|` |
//! | left | `&&` `and`, then `\|\|` `or` `imply` `xor` |
//! | right | `?:`, then `=` `:=` `+=` … |
//! | | `forall` `exists` `sum`, which reach as far to the right as they can |

use super::{Parser, Read};
use crate::diag::Diagnostic;
use crate::uppaal::ast::{BinOp, Expr, ExprKind, UnOp};
use crate::uppaal::token::{Kw, Punct, Tok, Token};

/// What an infix operator means, and how tightly it binds.
#[derive(Clone, Copy, PartialEq)]
enum Infix {
    Op(BinOp),
    /// `a xor b`, which has no operator of its own in the tree: `!a != !b`.
    Xor,
}

/// Above this many operands, a chain of `&&` or `||` is built as a balanced tree.
const LONG_CHAIN: usize = 64;

impl<'a> Parser<'a, '_> {
    /// `a, b, c`, at least one.
    pub(super) fn expr_list(&mut self) -> Read<Vec<Expr>> {
        let mut list = vec![self.expr()?];
        while self.eat(Punct::Comma) {
            list.push(self.expr()?);
        }
        Ok(list)
    }

    /// `a, b, c` where only the last value counts.
    pub(super) fn comma_expr(&mut self) -> Read<Expr> {
        let mut left = self.expr()?;
        while self.eat(Punct::Comma) {
            let below = self.height;
            let right = self.expr()?;
            let span = left.span.to(right.span);
            self.grow(below.max(self.height), span)?;
            left = Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    /// A guard or invariant: an expression, or in the old syntax several, of which all must hold. `what` names it.
    pub(super) fn condition(&mut self, what: &str) -> Read<Expr> {
        let mut parts = Vec::new();
        loop {
            let expr = self.expr()?;
            self.no_assignment(&expr, what);
            parts.push((expr, self.height));
            if !self.eat(Punct::Comma) {
                break;
            }
            self.old = true;
        }
        self.join(BinOp::And, parts)
    }

    /// Catches `=` where `==` is meant.
    pub(super) fn no_assignment(&mut self, expr: &Expr, what: &str) {
        if !matches!(expr.kind, ExprKind::Assign(..)) {
            return;
        }
        self.report(
            Diagnostic::error(expr.span, format!("expected a condition in {what}, found an assignment"))
                .label("this assigns")
                .help("to compare, write `==`"),
        );
    }

    /// An expression.
    pub(super) fn expr(&mut self) -> Read<Expr> {
        self.nested(Self::assignment)
    }

    fn assignment(&mut self) -> Read<Expr> {
        let left = self.infix(0)?;
        if self.at(Punct::Question) {
            return self.conditional(left);
        }
        let op = match self.peek() {
            Tok::P(p) => match p {
                Punct::Assign | Punct::ColonAssign => None,
                Punct::AddAssign => Some(BinOp::Add),
                Punct::SubAssign => Some(BinOp::Sub),
                Punct::MulAssign => Some(BinOp::Mul),
                Punct::DivAssign => Some(BinOp::Div),
                Punct::ModAssign => Some(BinOp::Mod),
                Punct::AndAssign => Some(BinOp::BitAnd),
                Punct::OrAssign => Some(BinOp::BitOr),
                Punct::XorAssign => Some(BinOp::BitXor),
                Punct::ShlAssign => Some(BinOp::Shl),
                Punct::ShrAssign => Some(BinOp::Shr),
                _ => return Ok(left),
            },
            _ => return Ok(left),
        };
        let below = self.height;
        let sign = self.bump();
        self.not_a_comparison(sign)?;
        let right = self.expr()?;
        let span = left.span.to(right.span);
        self.grow(below.max(self.height), span)?;
        Ok(Expr { kind: ExprKind::Assign(op, Box::new(left), Box::new(right)), span })
    }

    /// Catches `=<`, `=>` and `===`.
    fn not_a_comparison(&mut self, sign: Token<'a>) -> Read<()> {
        let next = self.look(0);
        if next.at != sign.end {
            return Ok(());
        }
        let (found, help) = match (sign.tok, next.tok) {
            (Tok::P(Punct::Assign), Tok::P(Punct::Lt)) => ("=<", "less or equal is written `<=`"),
            (Tok::P(Punct::Assign), Tok::P(Punct::Gt)) => {
                ("=>", "greater or equal is written `>=`, implication is written `imply`")
            }
            _ => return Ok(()),
        };
        let span = sign.span.to(next.span);
        Err(self.report(
            Diagnostic::error(span, format!("expected an operator, found `{found}`"))
                .label("no such operator")
                .help(help),
        ))
    }

    fn conditional(&mut self, condition: Expr) -> Read<Expr> {
        let mut below = self.height;
        self.bump();
        let then = self.expr()?;
        below = below.max(self.height);
        self.require(Punct::Colon, "after the first alternative of `? :`")?;
        let els = self.expr()?;
        let span = condition.span.to(els.span);
        self.grow(below.max(self.height), span)?;
        Ok(Expr { kind: ExprKind::Cond(Box::new(condition), Box::new(then), Box::new(els)), span })
    }

    /// The infix operator that comes next, with its precedence.
    fn infix_op(&mut self) -> Option<(Infix, u8)> {
        let (op, level) = match self.peek() {
            Tok::Kw(Kw::Or) | Tok::P(Punct::OrOr) => (BinOp::Or, 1),
            Tok::Kw(Kw::Imply) => (BinOp::Imply, 1),
            Tok::Ident("xor") => return Some((Infix::Xor, 1)),
            Tok::Kw(Kw::And) | Tok::P(Punct::AndAnd) => (BinOp::And, 2),
            Tok::P(p) => match p {
                Punct::Or => (BinOp::BitOr, 3),
                Punct::Xor => (BinOp::BitXor, 4),
                Punct::And => (BinOp::BitAnd, 5),
                Punct::EqEq => (BinOp::Eq, 6),
                Punct::Ne => (BinOp::Ne, 6),
                Punct::Lt => (BinOp::Lt, 7),
                Punct::Le => (BinOp::Le, 7),
                Punct::Ge => (BinOp::Ge, 7),
                Punct::Gt => (BinOp::Gt, 7),
                Punct::Min => (BinOp::Min, 8),
                Punct::Max => (BinOp::Max, 8),
                Punct::Shl => (BinOp::Shl, 9),
                Punct::Shr => (BinOp::Shr, 9),
                Punct::Plus => (BinOp::Add, 10),
                Punct::Minus => (BinOp::Sub, 10),
                Punct::Star => (BinOp::Mul, 11),
                Punct::Slash => (BinOp::Div, 11),
                Punct::Percent => (BinOp::Mod, 11),
                _ => return None,
            },
            _ => return None,
        };
        Some((Infix::Op(op), level))
    }

    /// A chain of infix operators that bind tighter than `floor`.
    fn infix(&mut self, floor: u8) -> Read<Expr> {
        let mut left = self.unary()?;
        while let Some((op, level)) = self.infix_op() {
            if level <= floor {
                break;
            }
            let below = self.height;
            match op {
                Infix::Op(op @ (BinOp::And | BinOp::Or)) => {
                    let mut parts = vec![(left, below)];
                    while self.infix_op() == Some((Infix::Op(op), level)) {
                        self.bump();
                        let right = self.infix(level)?;
                        parts.push((right, self.height));
                    }
                    left = self.join(op, parts)?;
                }
                Infix::Op(op) => {
                    let sign = self.bump();
                    self.odd_operator(sign)?;
                    let right = self.infix(level)?;
                    left = self.binary(op, (left, below), (right, self.height))?.0;
                }
                Infix::Xor => {
                    self.bump();
                    let right = self.infix(level)?;
                    let height = self.height + 1;
                    let not = |e: Expr| Expr { span: e.span, kind: ExprKind::Unary(UnOp::Not, Box::new(e)) };
                    left = self.binary(BinOp::Ne, (not(left), below + 1), (not(right), height))?.0;
                }
            }
        }
        Ok(left)
    }

    /// Catches `<>` and `===`.
    fn odd_operator(&mut self, sign: Token<'a>) -> Read<()> {
        let next = self.look(0);
        let (found, help) = match (sign.tok, next.tok) {
            (Tok::P(Punct::Lt), Tok::P(Punct::Gt)) => ("<>", "unequal is written `!=`"),
            (Tok::P(Punct::EqEq), Tok::P(Punct::Assign)) => ("===", "equal is written `==`"),
            (Tok::P(Punct::Ne), Tok::P(Punct::Assign)) => ("!==", "unequal is written `!=`"),
            _ => return Ok(()),
        };
        if next.at != sign.end {
            return Ok(());
        }
        let span = sign.span.to(next.span);
        Err(self.report(
            Diagnostic::error(span, format!("expected an operator, found `{found}`"))
                .label("no such operator")
                .help(help),
        ))
    }

    fn binary(&mut self, op: BinOp, left: (Expr, u32), right: (Expr, u32)) -> Read<(Expr, u32)> {
        let span = left.0.span.to(right.0.span);
        self.grow(left.1.max(right.1), span)?;
        Ok((Expr { kind: ExprKind::Binary(op, Box::new(left.0), Box::new(right.0)), span }, self.height))
    }

    /// Joins operands by an associative operator: from the left as usual, or balanced if there are very many.
    fn join(&mut self, op: BinOp, mut parts: Vec<(Expr, u32)>) -> Read<Expr> {
        while parts.len() > LONG_CHAIN {
            let mut halved = Vec::with_capacity(parts.len() / 2 + 1);
            let mut rest = parts.into_iter();
            while let Some(left) = rest.next() {
                halved.push(match rest.next() {
                    Some(right) => self.binary(op, left, right)?,
                    None => left,
                });
            }
            parts = halved;
        }
        let mut rest = parts.into_iter();
        // There is always a first operand; the fallback is never seen.
        let mut left = rest.next().ok_or(super::Reported)?;
        for right in rest {
            left = self.binary(op, left, right)?;
        }
        self.height = left.1;
        Ok(left.0)
    }

    fn unary(&mut self) -> Read<Expr> {
        let token = self.look(0);
        let op = match token.tok {
            Tok::P(Punct::Minus) => UnOp::Neg,
            Tok::P(Punct::Plus) => UnOp::Plus,
            Tok::P(Punct::Not) | Tok::Kw(Kw::Not) => UnOp::Not,
            Tok::P(p @ (Punct::Inc | Punct::Dec)) => {
                self.bump();
                let of = self.nested(Self::unary)?;
                let span = token.span.to(of.span);
                self.grow(self.height, span)?;
                return Ok(Expr { kind: ExprKind::Step { up: p == Punct::Inc, prefix: true, of: Box::new(of) }, span });
            }
            _ => return self.postfix(),
        };
        self.bump();
        // The one number that only fits with its sign.
        let of = match (op, self.peek()) {
            (UnOp::Neg, Tok::Int(Some(n))) if n == -i64::from(i32::MIN) => {
                self.height = 1;
                Expr { kind: ExprKind::Int(n), span: self.bump().span }
            }
            _ => self.nested(Self::unary)?,
        };
        let span = token.span.to(of.span);
        self.grow(self.height, span)?;
        Ok(Expr { kind: ExprKind::Unary(op, Box::new(of)), span })
    }

    /// A name or bracket with its indices, fields and calls: what may stand before `!` or `?` in a synchronisation.
    pub(super) fn postfix(&mut self) -> Read<Expr> {
        let mut left = self.primary()?;
        loop {
            let below = self.height;
            let token = self.look(0);
            // A query ends with its line: what could go on with it starts the next one.
            if self.queries && self.brackets == 0 && token.first_on_line {
                return Ok(left);
            }
            let Tok::P(p) = token.tok else { return Ok(left) };
            let start = left.span;
            let kind = match p {
                Punct::LBracket => {
                    self.bump();
                    let index = self.bracketed(Self::expr)?;
                    self.require(Punct::RBracket, "after the index")?;
                    ExprKind::Index(Box::new(left), Box::new(index))
                }
                Punct::Dot => {
                    self.bump();
                    if self.at(Punct::Dot) {
                        let error = self.unexpected("a name after `.`");
                        return Err(self.report(error.help("a range is written with a comma, as in `int[0, 3]`")));
                    }
                    let field = self.ident("a name after `.`")?;
                    self.height = 0;
                    ExprKind::Field(Box::new(left), field)
                }
                Punct::LParen => {
                    self.bump();
                    let (args, height) = self.bracketed(Self::args)?;
                    self.height = height;
                    self.require(Punct::RParen, "after the arguments")?;
                    ExprKind::Call(Box::new(left), args)
                }
                Punct::Quote => {
                    self.bump();
                    self.height = 0;
                    ExprKind::Rate(Box::new(left))
                }
                Punct::Inc | Punct::Dec => {
                    self.bump();
                    self.height = 0;
                    ExprKind::Step { up: p == Punct::Inc, prefix: false, of: Box::new(left) }
                }
                _ => return Ok(left),
            };
            let span = start.to(self.prev);
            self.grow(below.max(self.height), span)?;
            left = Expr { kind, span };
        }
    }
}
