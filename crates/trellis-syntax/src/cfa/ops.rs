//! What the operators mean, with their types checked.

use trellis_expr::{BitOp, Division, TermId, Terms, Type};

use super::parser::Parser;
use crate::diag::Span;
use crate::text::errors::Read;

impl Parser<'_> {
    /// Applies an operator by its name in the ordinary spelling.
    pub fn apply(&mut self, op: &str, args: &[TermId], span: Span) -> Read<TermId> {
        match args {
            [a] => self.unary(op, *a, span),
            [a, b] => self.binary(op, *a, *b, span),
            [a, b, c] if op == "ite" => {
                self.expect_type(*a, Type::Bool, op, span)?;
                self.same(*b, *c, op, span)?;
                Ok(self.terms().ite(*a, *b, *c))
            }
            [first, rest @ ..] if matches!(op, "and" | "or" | "+" | "*" | "bvadd" | "bvmul") => {
                rest.iter().try_fold(*first, |a, b| self.binary(op, a, *b, span))
            }
            _ => self.fail(span, format!("`{op}` does not take {} operands", args.len())),
        }
    }

    fn unary(&mut self, op: &str, a: TermId, span: Span) -> Read<TermId> {
        match op {
            "not" => {
                self.expect_type(a, Type::Bool, op, span)?;
                Ok(self.terms().not(a))
            }
            "and" | "or" => {
                self.expect_type(a, Type::Bool, op, span)?;
                Ok(a)
            }
            "+" | "-" => {
                self.expect_type(a, Type::Int, op, span)?;
                Ok(if op == "-" { self.terms().neg(a) } else { a })
            }
            "bvneg" | "bvpos" | "bvnot" => {
                let width = self.width(a, op, span)?;
                let terms = self.terms();
                Ok(match op {
                    "bvneg" => terms.neg(a),
                    "bvpos" => a,
                    _ => {
                        let ones = terms.bits(width, false, u64::MAX);
                        terms.bit(BitOp::Xor, a, ones)
                    }
                })
            }
            _ => self.fail(span, format!("`{op}` is not an operator with one operand")),
        }
    }

    fn binary(&mut self, op: &str, a: TermId, b: TermId, span: Span) -> Read<TermId> {
        match op {
            "and" | "or" | "xor" | "imply" | "iff" => {
                self.expect_type(a, Type::Bool, op, span)?;
                self.expect_type(b, Type::Bool, op, span)?;
                let terms = self.terms();
                Ok(match op {
                    "and" => terms.and([a, b]),
                    "or" => terms.or([a, b]),
                    "xor" => terms.ne(a, b),
                    "imply" => terms.implies(a, b),
                    _ => terms.eq(a, b),
                })
            }
            "=" | "/=" => {
                self.same(a, b, op, span)?;
                Ok(if op == "=" { self.terms().eq(a, b) } else { self.terms().ne(a, b) })
            }
            "<" | "<=" | ">" | ">=" | "+" | "-" | "*" | "/" | "div" | "mod" | "rem" => {
                self.expect_type(a, Type::Int, op, span)?;
                self.expect_type(b, Type::Int, op, span)?;
                Ok(integers(self.terms(), op, a, b))
            }
            "++" => self.concatenation(a, b, span),
            _ if op.starts_with("bv") => {
                let width = self.width(a, op, span)?;
                self.same(a, b, op, span)?;
                self.words(op, a, b, width, span)
            }
            _ => self.fail(span, format!("`{op}` is not an operator with two operands")),
        }
    }

    /// Operators on two words of one width, all of them total.
    fn words(&mut self, op: &str, a: TermId, b: TermId, width: u8, span: Span) -> Read<TermId> {
        let (unsigned, signed) = (Type::Bits { width, signed: false }, Type::Bits { width, signed: true });
        let terms = self.terms();
        let zero = terms.bits(width, false, 0);
        let ones = terms.bits(width, false, u64::MAX);
        let one = terms.bits(width, false, 1);
        let (sa, sb) = (terms.convert(signed, a), terms.convert(signed, b));
        let signed_zero = terms.bits(width, true, 0);
        let by_zero = terms.eq(b, zero);
        Ok(match op {
            "bvadd" => terms.add([a, b]),
            "bvsub" => terms.sub(a, b),
            "bvmul" => terms.mul(a, b),
            "bvand" => terms.bit(BitOp::And, a, b),
            "bvor" => terms.bit(BitOp::Or, a, b),
            "bvxor" => terms.bit(BitOp::Xor, a, b),
            "bvult" => terms.lt(a, b),
            "bvule" => terms.le(a, b),
            "bvugt" => terms.lt(b, a),
            "bvuge" => terms.le(b, a),
            "bvslt" => terms.lt(sa, sb),
            "bvsle" => terms.le(sa, sb),
            "bvsgt" => terms.lt(sb, sa),
            "bvsge" => terms.le(sb, sa),
            "bvudiv" => {
                let q = terms.div(Division::Truncating, a, b);
                terms.ite(by_zero, ones, q)
            }
            "bvurem" => {
                let r = terms.rem(Division::Truncating, a, b);
                terms.ite(by_zero, a, r)
            }
            "bvsdiv" => {
                let q = terms.div(Division::Truncating, sa, sb);
                let q = terms.convert(unsigned, q);
                let negative = terms.lt(sa, signed_zero);
                let odd = terms.ite(negative, one, ones);
                terms.ite(by_zero, odd, q)
            }
            "bvsrem" => {
                let r = terms.rem(Division::Truncating, sa, sb);
                let r = terms.convert(unsigned, r);
                terms.ite(by_zero, a, r)
            }
            "bvsmod" => {
                // The sign of the divisor: where the remainder has the other one, the divisor is added.
                let r = terms.rem(Division::Truncating, sa, sb);
                let (r_negative, b_negative) = (terms.lt(r, signed_zero), terms.lt(sb, signed_zero));
                let (none, mixed) = (terms.eq(r, signed_zero), terms.ne(r_negative, b_negative));
                let some = terms.not(none);
                let shifted = terms.add([r, sb]);
                let both = terms.and([some, mixed]);
                let r = terms.ite(both, shifted, r);
                let r = terms.convert(unsigned, r);
                terms.ite(by_zero, a, r)
            }
            "bvshl" | "bvlshr" | "bvashr" => {
                let limit = terms.int(width.into());
                let distance = terms.convert(Type::Int, b);
                let fits = terms.lt(distance, limit);
                let negative = terms.lt(sa, signed_zero);
                let (shifted, beyond) = match op {
                    "bvshl" => (terms.bit(BitOp::Shl, a, b), zero),
                    "bvlshr" => (terms.bit(BitOp::Shr, a, b), zero),
                    _ => {
                        let shifted = terms.bit(BitOp::Shr, sa, b);
                        (terms.convert(unsigned, shifted), terms.ite(negative, ones, zero))
                    }
                };
                terms.ite(fits, shifted, beyond)
            }
            "bvrol" | "bvror" => {
                // The distance counts modulo the width; as integers, because a width need not fit a word of its own width.
                let (size, distance) = (terms.int(width.into()), terms.convert(Type::Int, b));
                let there = terms.rem(Division::Euclidean, distance, size);
                let back = terms.sub(size, there);
                let back = terms.rem(Division::Euclidean, back, size);
                let (left, right) = if op == "bvrol" { (there, back) } else { (back, there) };
                let (high, low) = (terms.bit(BitOp::Shl, a, left), terms.bit(BitOp::Shr, a, right));
                terms.bit(BitOp::Or, high, low)
            }
            _ => return self.fail(span, format!("there is no operator `{op}`")),
        })
    }

    fn concatenation(&mut self, a: TermId, b: TermId, span: Span) -> Read<TermId> {
        let (high, low) = (self.width(a, "++", span)?, self.width(b, "++", span)?);
        if high + low > 64 {
            return self
                .fail(span, format!("bit-vectors of more than 64 bits are not supported: this has {}", high + low));
        }
        let ty = Type::Bits { width: high + low, signed: false };
        let terms = self.terms();
        let (a, b) = (terms.convert(ty, a), terms.convert(ty, b));
        let distance = terms.bits(high + low, false, low.into());
        let a = terms.bit(BitOp::Shl, a, distance);
        Ok(terms.bit(BitOp::Or, a, b))
    }

    /// `x[until:from]`, bit `until` not included.
    pub fn extract(&mut self, x: TermId, until: u64, from: u64, span: Span) -> Read<TermId> {
        let width = self.width(x, "[:]", span)?;
        if from >= until || until > u64::from(width) {
            return self.fail(span, format!("there are no bits {from} to {until} (not included) in {width} bits"));
        }
        let ty = Type::Bits { width: (until - from) as u8, signed: false };
        let terms = self.terms();
        let distance = terms.bits(width, false, from);
        let shifted = terms.bit(BitOp::Shr, x, distance);
        Ok(terms.convert(ty, shifted))
    }

    /// `x bv_zero_extend bv[8]`
    pub fn extend(&mut self, x: TermId, signed: bool, to: Type, span: Span) -> Read<TermId> {
        let width = self.width(x, "extend", span)?;
        match to {
            Type::Bits { width: more, .. } if more >= width => {
                let terms = self.terms();
                let read = terms.convert(Type::Bits { width, signed }, x);
                Ok(terms.convert(to, read))
            }
            _ => self.fail(span, "a bit-vector can only become longer like this"),
        }
    }

    pub fn expect_type(&mut self, t: TermId, ty: Type, op: &str, span: Span) -> Read<()> {
        let found = self.terms().ty(t);
        if found == ty {
            return Ok(());
        }
        let (want, found) = (self.terms().show_type(ty).to_string(), self.terms().show_type(found).to_string());
        self.fail(span, format!("`{op}` needs {want}, and this is {found}"))
    }

    pub fn same(&mut self, a: TermId, b: TermId, op: &str, span: Span) -> Read<()> {
        let (ta, tb) = (self.terms().ty(a), self.terms().ty(b));
        if ta == tb {
            return Ok(());
        }
        let (a, b) = (self.terms().show_type(ta).to_string(), self.terms().show_type(tb).to_string());
        self.fail(span, format!("`{op}` needs operands of one type, and these are {a} and {b}"))
    }

    fn width(&mut self, t: TermId, op: &str, span: Span) -> Read<u8> {
        match self.terms().ty(t) {
            Type::Bits { width, .. } => Ok(width),
            ty => {
                let found = self.terms().show_type(ty).to_string();
                self.fail(span, format!("`{op}` needs a bit-vector, and this is {found}"))
            }
        }
    }
}

/// Operators on two integers; what is none of the others is `rem`.
pub fn integers(terms: &mut Terms, op: &str, a: TermId, b: TermId) -> TermId {
    match op {
        "<" => terms.lt(a, b),
        "<=" => terms.le(a, b),
        ">" => terms.lt(b, a),
        ">=" => terms.le(b, a),
        "+" => terms.add([a, b]),
        "-" => terms.sub(a, b),
        "*" => terms.mul(a, b),
        "/" | "div" => terms.div(Division::Euclidean, a, b),
        "mod" | "%" => terms.rem(Division::Euclidean, a, b),
        _ => {
            // It has the sign of the divisor.
            let (rest, zero) = (terms.rem(Division::Euclidean, a, b), terms.int(0));
            let (negative, minus) = (terms.lt(b, zero), terms.neg(rest));
            terms.ite(negative, minus, rest)
        }
    }
}
