//! Terms and statements as text for people.
//!
//! Infix, with as few parentheses as this order of precedence allows, loosest first:
//!
//! | | |
//! |---|---|
//! | `c ? a : b` | |
//! | `\|\|` | |
//! | `&&` | |
//! | `==` `!=` `<` `<=` `>` `>=` | not chained |
//! | `\|` then `^` then `&` | tighter than comparison, unlike in C |
//! | `<<` `>>` | |
//! | `+` `-` | |
//! | `*`, `/` `%` (truncating), `div` `mod` (Euclidean) | |
//! | `!` `-` | unary |
//! | `a[i]`, `a[i := v]`, `all(v)` (a constant array), `check(t, lo..hi)`, `u8(t)` (a conversion), `f0(t)` | |
//!
//! `!(a < b)` is shown as `a >= b`, and `5 < x` as `x > 5`. Literals of fixed width carry their type (`-1i8`). It is
//! not meant to be read back, and not to be stable. Shared sub-terms are written out each time; a text of more than
//! [`MAX_PIECES`] pieces is cut short with `…`.

use std::borrow::Cow;
use std::fmt;

use crate::stmt::{Stmt, StmtId};
use crate::term::{BitOp, Division, Term, TermId, Terms, Type, VarId};
use crate::value::Value;

/// How many pieces (names, operators, parentheses) are written before giving up.
pub const MAX_PIECES: usize = 100_000;

const ITE: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
const BIT_OR: u8 = 4;
const BIT_XOR: u8 = 5;
const BIT_AND: u8 = 6;
const SHIFT: u8 = 7;
const SUM: u8 = 8;
const PRODUCT: u8 = 9;
const UNARY: u8 = 10;
const ATOM: u8 = 11;

/// Something that can be displayed.
#[derive(Clone, Copy)]
pub struct Show<'a> {
    terms: &'a Terms,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Term(TermId),
    Stmt(StmtId),
    Type(Type),
}

impl Terms {
    /// The term as text.
    pub fn show(&self, t: TermId) -> Show<'_> {
        Show { terms: self, what: What::Term(t) }
    }

    /// The statement as text, on one line.
    pub fn show_stmt(&self, s: StmtId) -> Show<'_> {
        Show { terms: self, what: What::Stmt(s) }
    }

    /// The type as text.
    pub fn show_type(&self, ty: Type) -> Show<'_> {
        Show { terms: self, what: What::Type(ty) }
    }

    /// The value as text.
    pub fn show_value(&self, value: &Value) -> String {
        match value {
            Value::Bool(b) => b.to_string(),
            Value::Int(n) => n.to_string(),
            Value::Enum(e, n) => self.literal_name(*e, *n),
            Value::Bits { .. } => value.number().to_string(),
            Value::Array(array) => {
                let entries = array.entries().map(|(i, v)| format!("{i}: {}", self.show_value(v)));
                let default = format!("else {}", self.show_value(array.default()));
                format!("[{}]", entries.chain([default]).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn literal_name(&self, e: crate::EnumId, n: u32) -> String {
        let e = self.enumeration(e);
        e.literals.get(n as usize).cloned().unwrap_or_else(|| format!("{}#{n}", e.name))
    }
}

impl fmt::Debug for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = match self.what {
            What::Term(t) => Piece::Term(t, ITE),
            What::Stmt(s) => Piece::Stmt(s),
            What::Type(ty) => Piece::Text(type_name(self.terms, ty).into()),
        };
        let mut todo = vec![first];
        let mut count = 0;
        while let Some(piece) = todo.pop() {
            count += 1;
            if count > MAX_PIECES {
                return f.write_str("…");
            }
            let mut out = Out { terms: self.terms, pieces: vec![] };
            match piece {
                Piece::Text(text) => {
                    f.write_str(&text)?;
                    continue;
                }
                Piece::Term(t, least) => out.term(t, least),
                Piece::Stmt(s) => out.stmt(s),
            }
            todo.extend(out.pieces.into_iter().rev());
        }
        Ok(())
    }
}

/// What is still to be written.
enum Piece {
    Text(Cow<'static, str>),
    /// In parentheses if it binds less tightly than this.
    Term(TermId, u8),
    Stmt(StmtId),
}

fn type_name(terms: &Terms, ty: Type) -> String {
    match ty {
        Type::Bool => "bool".into(),
        Type::Int => "int".into(),
        Type::Range(lo, hi) => format!("{lo}..{hi}"),
        Type::Enum(e) => terms.enumeration(e).name.clone(),
        Type::Bits { width, signed } => format!("{}{width}", if signed { 'i' } else { 'u' }),
        Type::Array(i, e) => {
            format!("[{}] {}", type_name(terms, terms.type_of_id(i)), type_name(terms, terms.type_of_id(e)))
        }
    }
}

/// One node, taken apart.
struct Out<'a> {
    terms: &'a Terms,
    pieces: Vec<Piece>,
}

impl Out<'_> {
    fn text(&mut self, text: impl Into<Cow<'static, str>>) {
        self.pieces.push(Piece::Text(text.into()));
    }

    fn sub(&mut self, t: TermId, least: u8) {
        self.pieces.push(Piece::Term(t, least));
    }

    fn name(&mut self, v: VarId) {
        self.text(self.terms.variable(v).name.clone());
    }

    fn list(&mut self, args: &[TermId], separator: &'static str, least: u8) {
        for (k, &t) in args.iter().enumerate() {
            if k > 0 {
                self.text(separator);
            }
            self.sub(t, least);
        }
    }

    fn infix(&mut self, a: TermId, operator: &'static str, b: TermId, left: u8, right: u8) {
        self.sub(a, left);
        self.text(operator);
        self.sub(b, right);
    }

    fn compare(&mut self, a: TermId, operator: &'static str, b: TermId) {
        let literal = |t| self.terms.as_value(t).is_some();
        let (a, operator, b) = if literal(a) && !literal(b) {
            let mirrored = match operator {
                " < " => " > ",
                " <= " => " >= ",
                " > " => " < ",
                " >= " => " <= ",
                same => same,
            };
            (b, mirrored, a)
        } else {
            (a, operator, b)
        };
        self.infix(a, operator, b, BIT_OR, BIT_OR);
    }

    fn term(&mut self, t: TermId, least: u8) {
        let terms = self.terms;
        if tightness(terms, t) < least {
            self.text("(");
            self.sub(t, ITE);
            self.text(")");
            return;
        }
        match *terms.get(t) {
            Term::Bool(b) => self.text(if b { "true" } else { "false" }),
            Term::Int(n) => self.text(n.to_string()),
            Term::Big(ref n) => self.text(n.to_string()),
            Term::EnumLit(e, n) => self.text(terms.literal_name(e, n)),
            Term::Bits(..) => {
                let number = terms.as_value(t).map(|value| value.number()).unwrap_or_default();
                self.text(format!("{number}{}", type_name(terms, terms.ty(t))));
            }
            Term::Var(v) => self.name(v),
            Term::Not(a) => match *terms.get(a) {
                Term::Eq(a, b) => self.compare(a, " != ", b),
                Term::Lt(a, b) => self.compare(a, " >= ", b),
                Term::Le(a, b) => self.compare(a, " > ", b),
                _ => {
                    self.text("!");
                    self.sub(a, UNARY);
                }
            },
            Term::And(ref args) => self.list(args, " && ", AND + 1),
            Term::Or(ref args) => self.list(args, " || ", OR + 1),
            Term::Ite(c, a, b) => {
                self.infix(c, " ? ", a, OR, OR);
                self.text(" : ");
                self.sub(b, ITE);
            }
            Term::Eq(a, b) => self.compare(a, " == ", b),
            Term::Lt(a, b) => self.compare(a, " < ", b),
            Term::Le(a, b) => self.compare(a, " <= ", b),
            Term::Add(ref args) => {
                self.sub(args[0], SUM);
                for &t in &args[1..] {
                    match *terms.get(t) {
                        Term::Neg(a) => {
                            self.text(" - ");
                            self.sub(a, PRODUCT);
                        }
                        Term::Int(n) if n < 0 => self.text(format!(" - {}", n.unsigned_abs())),
                        _ => {
                            self.text(" + ");
                            self.sub(t, PRODUCT);
                        }
                    }
                }
            }
            Term::Neg(a) => {
                self.text("-");
                self.sub(a, ATOM);
            }
            Term::Mul(a, b) => self.infix(a, " * ", b, PRODUCT, UNARY),
            Term::Div(Division::Truncating, a, b) => self.infix(a, " / ", b, PRODUCT, UNARY),
            Term::Rem(Division::Truncating, a, b) => self.infix(a, " % ", b, PRODUCT, UNARY),
            Term::Div(Division::Euclidean, a, b) => self.infix(a, " div ", b, PRODUCT, UNARY),
            Term::Rem(Division::Euclidean, a, b) => self.infix(a, " mod ", b, PRODUCT, UNARY),
            Term::Bit(BitOp::And, a, b) => self.infix(a, " & ", b, BIT_AND, SHIFT),
            Term::Bit(BitOp::Or, a, b) => self.infix(a, " | ", b, BIT_OR, BIT_XOR),
            Term::Bit(BitOp::Xor, a, b) => self.infix(a, " ^ ", b, BIT_XOR, BIT_AND),
            Term::Bit(BitOp::Shl, a, b) => self.infix(a, " << ", b, SHIFT, SUM),
            Term::Bit(BitOp::Shr, a, b) => self.infix(a, " >> ", b, SHIFT, SUM),
            Term::Select(a, i) => {
                self.infix(a, "[", i, ATOM, ITE);
                self.text("]");
            }
            Term::Store(a, i, v) => {
                self.infix(a, "[", i, ATOM, ITE);
                self.text(" := ");
                self.sub(v, ITE);
                self.text("]");
            }
            Term::ConstArray(_, v) => {
                self.text("all(");
                self.sub(v, ITE);
                self.text(")");
            }
            Term::Checked(a, lo, hi) => {
                self.text("check(");
                self.sub(a, ITE);
                self.text(format!(", {lo}..{hi})"));
            }
            Term::Convert(ty, a) => {
                self.text(format!("{}(", type_name(terms, terms.type_of_id(ty))));
                self.sub(a, ITE);
                self.text(")");
            }
            Term::Foreign(f, ref args) => {
                self.text(format!("f{}(", f.0));
                self.list(args, ", ", ITE);
                self.text(")");
            }
        }
    }

    fn block(&mut self, s: StmtId) {
        self.text("{ ");
        self.pieces.push(Piece::Stmt(s));
        self.text(" }");
    }

    fn stmt(&mut self, s: StmtId) {
        let terms = self.terms;
        match *terms.stmt(s) {
            Stmt::Skip => self.text("skip"),
            Stmt::Assume(t) => {
                self.text("assume ");
                self.sub(t, ITE);
            }
            Stmt::Assign(v, t) => {
                self.name(v);
                match *terms.get(t) {
                    Term::Store(a, i, value) if *terms.get(a) == Term::Var(v) => {
                        self.text("[");
                        self.sub(i, ITE);
                        self.text("] := ");
                        self.sub(value, ITE);
                    }
                    _ => {
                        self.text(" := ");
                        self.sub(t, ITE);
                    }
                }
            }
            Stmt::Havoc(v) => {
                self.text("havoc ");
                self.name(v);
            }
            Stmt::Seq(ref parts) => {
                for (k, &p) in parts.iter().enumerate() {
                    if k > 0 {
                        self.text("; ");
                    }
                    self.pieces.push(Piece::Stmt(p));
                }
            }
            Stmt::Choice(ref parts) if parts.is_empty() => self.text("choice {}"),
            Stmt::Choice(ref parts) => {
                for (k, &p) in parts.iter().enumerate() {
                    self.text(if k == 0 { "choice " } else { " or " });
                    self.block(p);
                }
            }
            Stmt::If(c, a, b) => {
                self.text("if ");
                self.sub(c, ITE);
                self.text(" ");
                self.block(a);
                if *terms.stmt(b) != Stmt::Skip {
                    self.text(" else ");
                    self.block(b);
                }
            }
            Stmt::While(c, body) => {
                self.text("while ");
                self.sub(c, ITE);
                self.text(" ");
                self.block(body);
            }
            Stmt::Foreign(f, ref args) => {
                self.text(format!("f{}(", f.0));
                self.list(args, ", ", ITE);
                self.text(")");
            }
        }
    }
}

/// How tightly a term's outermost operator binds.
fn tightness(terms: &Terms, t: TermId) -> u8 {
    match *terms.get(t) {
        Term::Ite(..) => ITE,
        Term::And(ref args) | Term::Or(ref args) | Term::Add(ref args) if args.len() == 1 => ITE,
        Term::Or(_) => OR,
        Term::And(_) => AND,
        Term::Eq(..) | Term::Lt(..) | Term::Le(..) => COMPARE,
        Term::Not(a) if matches!(terms.get(a), Term::Eq(..) | Term::Lt(..) | Term::Le(..)) => COMPARE,
        Term::Bit(BitOp::Or, ..) => BIT_OR,
        Term::Bit(BitOp::Xor, ..) => BIT_XOR,
        Term::Bit(BitOp::And, ..) => BIT_AND,
        Term::Bit(BitOp::Shl | BitOp::Shr, ..) => SHIFT,
        Term::Add(_) => SUM,
        Term::Mul(..) | Term::Div(..) | Term::Rem(..) => PRODUCT,
        Term::Not(_) | Term::Neg(_) => UNARY,
        Term::Int(n) if n < 0 => UNARY,
        Term::Big(ref n) if **n < dashu_int::IBig::ZERO => UNARY,
        Term::Bits(width, true, bits) if bits >> (width - 1) == 1 => UNARY,
        _ => ATOM,
    }
}
