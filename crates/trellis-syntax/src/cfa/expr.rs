//! Expressions of the ordinary spelling.

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Type, VarId};

use super::parser::Parser;
use crate::diag::Span;
use crate::text::cursor::Reads;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

/// The binary operators, loosest first; each group has one precedence.
const LEVELS: [&[&str]; 12] = [
    &["iff"],
    &["imply"],
    &["or"],
    &["xor"],
    &["and"],
    &["=", "/="],
    &["<", "<=", ">", ">=", "bvult", "bvule", "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge"],
    &["bvor"],
    &["bvxor"],
    &["bvand"],
    &["bvshl", "bvashr", "bvlshr", "bvrol", "bvror"],
    &["+", "-", "bvadd", "bvsub"],
];
const PRODUCTS: [&str; 10] = ["*", "/", "mod", "rem", "bvmul", "bvudiv", "bvsdiv", "bvsmod", "bvurem", "bvsrem"];
/// The level of `and`; `not` comes right after it.
const AND: usize = 4;

impl Parser<'_> {
    pub fn expression(&mut self) -> Read<TermId> {
        let start = self.peek().span;
        self.down(start, |p| {
            if !p.take("if") {
                return p.level(0);
            }
            let c = p.expression()?;
            p.require("then")?;
            let a = p.expression()?;
            p.require("else")?;
            let b = p.expression()?;
            p.apply("ite", &[c, a, b], start)
        })
    }

    /// An expression of binary operators at this level or tighter.
    fn level(&mut self, level: usize) -> Read<TermId> {
        let start = self.peek();
        if level == AND + 1 && self.is("not") {
            self.bump();
            let a = self.down(start.span, |p| p.level(level))?;
            return self.apply("not", &[a], start.span);
        }
        if level < 3
            && let Tok::Name(word @ ("forall" | "exists")) = start.tok
        {
            return self.fail(start.span, format!("quantifiers (`{word}`) are not supported"));
        }
        let Some(operators) = LEVELS.get(level) else { return self.product() };
        let mut left = self.level(level + 1)?;
        while let Tok::P(op) | Tok::Name(op) = self.peek().tok
            && (operators.contains(&op) || (level == 0 && op == "equal" && self.formulas))
        {
            let span = self.bump().span;
            let op = if op == "equal" { "iff" } else { op };
            // These go to the right.
            let right = if matches!(op, "iff" | "imply" | "xor") {
                self.down(span, |p| p.level(level))?
            } else {
                self.level(level + 1)?
            };
            left = self.apply(op, &[left, right], span)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Read<TermId> {
        let mut left = self.concatenated()?;
        while let Tok::P(op) | Tok::Name(op) = self.peek().tok
            && PRODUCTS.contains(&op)
        {
            let span = self.bump().span;
            let right = self.concatenated()?;
            left = self.apply(op, &[left, right], span)?;
        }
        Ok(left)
    }

    fn concatenated(&mut self) -> Read<TermId> {
        let mut left = self.extended()?;
        while self.is("++") {
            let span = self.bump().span;
            let right = self.extended()?;
            left = self.apply("++", &[left, right], span)?;
        }
        Ok(left)
    }

    fn extended(&mut self) -> Read<TermId> {
        let mut x = self.prefixed()?;
        while let Tok::Name(op @ ("bv_zero_extend" | "bv_sign_extend")) = self.peek().tok {
            let span = self.bump().span;
            let to = self.type_of()?;
            x = self.extend(x, op == "bv_sign_extend", to, span)?;
        }
        Ok(x)
    }

    fn prefixed(&mut self) -> Read<TermId> {
        let t = self.peek();
        match t.tok {
            Tok::P(op @ ("+" | "-")) | Tok::Name(op @ ("bvneg" | "bvpos" | "bvnot")) => {
                self.bump();
                let x = self.down(t.span, |p| p.prefixed())?;
                self.apply(op, &[x], t.span)
            }
            Tok::Name(op) if op.starts_with("fp") && !self.variables.contains_key(op) => {
                self.fail(t.span, format!("floating-point numbers (`{op}`) are not supported"))
            }
            _ => {
                let mut x = self.primary()?;
                loop {
                    if self.is("[") {
                        x = self.access(x)?;
                    } else if self.is("'") {
                        x = self.primed(x)?;
                    } else {
                        return Ok(x);
                    }
                }
            }
        }
    }

    /// `x'`: the same in the next state.
    fn primed(&mut self, x: TermId) -> Read<TermId> {
        let Some(next) = &self.next else {
            return self.unexpected("no prime: next values are not supported here");
        };
        let free = self.cfa.terms.free_vars(x);
        if next.values().any(|v| free.contains(v)) {
            return self.unexpected("no second prime: there is only one next state");
        }
        let next: FxHashMap<VarId, VarId> =
            next.iter().filter(|(v, _)| free.contains(v)).map(|(v, w)| (*v, *w)).collect();
        self.bump();
        Ok(self.terms().rename(x, &next))
    }

    /// `a[i]`, `a[i <- v]`, `x[5:3]`
    fn access(&mut self, x: TermId) -> Read<TermId> {
        let span = self.bump().span;
        if let (Tok::Number(until), Tok::P(":"), Tok::Number(from)) = (self.ahead(0), self.ahead(1), self.ahead(2)) {
            self.at += 3;
            self.require("]")?;
            let (Ok(until), Ok(from)) = (until.parse(), from.parse()) else {
                return self.fail(span, "these numbers are too large");
            };
            return self.extract(x, until, from, span);
        }
        let Type::Array(index, entry) = self.terms().ty(x) else {
            return self.fail(span, "only arrays have entries");
        };
        let (index, entry) = (self.terms().type_of_id(index), self.terms().type_of_id(entry));
        let i = self.expression()?;
        self.expect_type(i, index, "[]", span)?;
        let value = if self.take("<-") { Some(self.expression()?) } else { None };
        self.require("]")?;
        match value {
            Some(v) => {
                self.expect_type(v, entry, "<-", span)?;
                Ok(self.terms().store(x, i, v))
            }
            None => Ok(self.terms().select(x, i)),
        }
    }

    fn primary(&mut self) -> Read<TermId> {
        let t = self.bump();
        match t.tok {
            Tok::Name("true") => Ok(self.terms().bool(true)),
            Tok::Name("false") => Ok(self.terms().bool(false)),
            Tok::Name(name) if self.values.contains_key(name) => Ok(self.values[name]),
            Tok::Name(name) => {
                let v = self.variable_of(name, t.span)?;
                Ok(self.terms().var(v))
            }
            Tok::Number(digits) => {
                if self.is("%") {
                    return self.fail(t.span, "rational numbers are not supported");
                }
                self.integer(digits, t.span)
            }
            Tok::Bits(width, base, digits) => {
                if self.is(".") {
                    return self.fail(t.span, "floating-point numbers are not supported");
                }
                self.word(width, base, digits, t.span)
            }
            Tok::P("(") => {
                let e = self.expression()?;
                self.require(")")?;
                Ok(e)
            }
            Tok::P("[") => self.array_literal(t.span),
            tok => self.fail(t.span, format!("expected an expression, found {}", tok.describe())),
        }
    }

    pub fn integer(&mut self, digits: &str, span: Span) -> Read<TermId> {
        match digits.parse::<dashu_int::IBig>() {
            Ok(n) => Ok(self.terms().big(n)),
            Err(_) => self.fail(span, "this is not a number"),
        }
    }

    fn word(&mut self, width: &str, base: char, digits: &str, span: Span) -> Read<TermId> {
        let radix = match base {
            'b' => 2,
            'x' => 16,
            _ => 10,
        };
        let Ok(width @ 1..=64) = width.parse::<u8>() else {
            return self.fail(span, format!("bit-vectors of {width} bits are not supported, only of 1 to 64"));
        };
        let n = i128::from_str_radix(digits, radix);
        match n {
            Ok(n) if n < 1 << width && -n <= 1 << (width - 1) => Ok(self.terms().bits(width, false, n as u64)),
            _ => self.fail(span, format!("this does not fit {width} bits")),
        }
    }

    /// `[0 <- 1, 1 <- 2, default <- 0]`, `[<int>default <- 0]`
    fn array_literal(&mut self, span: Span) -> Read<TermId> {
        let mut entries = vec![];
        let mut index = None;
        loop {
            if self.take("<") {
                index = Some(self.type_of()?);
                self.require(">")?;
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
        let default = self.expression()?;
        self.require("]")?;
        let index = match (index, entries.first()) {
            (Some(index), _) => index,
            (None, Some(&(i, _))) => self.terms().ty(i),
            (None, None) => {
                return self.fail(span, "the type of the indexes is missing: write `[<int>default <- 0]`");
            }
        };
        let entry = self.terms().ty(default);
        let terms = self.terms();
        let ty = terms.array_type(index, entry);
        let mut array = terms.const_array(ty, default);
        // The first of two equal indexes counts, as in Theta.
        for &(i, v) in entries.iter().rev() {
            self.expect_type(i, index, "<-", span)?;
            self.expect_type(v, entry, "<-", span)?;
            array = self.terms().store(array, i, v);
        }
        Ok(array)
    }
}
