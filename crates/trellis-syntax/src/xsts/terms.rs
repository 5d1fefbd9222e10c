//! Expressions become terms. Types are known from what an expression is made of or from where it stands: so a literal of an
//! enumeration needs its type only where neither says which it is.

use dashu_int::IBig;
use trellis_expr::{EnumId, TermId, Terms, Type};

use super::ast::{Expr, ExprKind, Op, TypeName};
use super::build::Builder;
use crate::cfa::ops::integers;
use crate::diag::{Diagnostic, Span};
use crate::text::cursor::unknown;
use crate::text::errors::Read;

/// As the language calls it.
fn show(terms: &Terms, ty: Type) -> String {
    match ty {
        Type::Bool => "boolean".into(),
        Type::Array(i, e) => {
            format!("[{}] -> {}", show(terms, terms.type_of_id(i)), show(terms, terms.type_of_id(e)))
        }
        Type::Enum(e) => terms.enumeration(e).name.clone(),
        _ => "integer".into(),
    }
}

impl<'a> Builder<'a> {
    /// The term of an expression, which must have the type, if one is given.
    pub fn expression(&mut self, e: &Expr<'a>, want: Option<Type>) -> Read<TermId> {
        let t = self.term(e, want)?;
        let found = self.terms().ty(t);
        match want {
            Some(want) if want != found => {
                let (want, found) = (show(self.terms(), want), show(self.terms(), found));
                self.fail(e.span, format!("this is of type {found}, and {want} is needed here"))
            }
            _ => Ok(t),
        }
    }

    fn term(&mut self, e: &Expr<'a>, want: Option<Type>) -> Read<TermId> {
        match &e.kind {
            ExprKind::Bool(b) => Ok(self.terms().bool(*b)),
            ExprKind::Int(digits) => match digits.parse::<IBig>() {
                Ok(n) => Ok(self.terms().big(n)),
                Err(_) => self.fail(e.span, "this is not a number"),
            },
            ExprKind::Name(name) => self.named(name, e.span, want),
            ExprKind::Not(inner) => {
                let t = self.expression(inner, Some(Type::Bool))?;
                Ok(self.terms().not(t))
            }
            ExprKind::Neg(inner) => {
                let t = self.expression(inner, Some(Type::Int))?;
                Ok(self.terms().neg(t))
            }
            ExprKind::Chain(first, rest) => self.chain(first, rest),
            ExprKind::Ite(parts) => {
                let [c, a, b] = &**parts;
                let c = self.expression(c, Some(Type::Bool))?;
                let (a, b) = self.alike(a, b, want)?;
                Ok(self.terms().ite(c, a, b))
            }
            ExprKind::Read(parts) => {
                let [array, i] = &**parts;
                let array_term = self.expression(array, None)?;
                let (index, _) = self.array_parts(array_term, array.span)?;
                let i = self.expression(i, Some(index))?;
                Ok(self.terms().select(array_term, i))
            }
            ExprKind::Write(parts) => {
                let [array, i, v] = &**parts;
                let array_term = self.expression(array, want)?;
                let (index, entry) = self.array_parts(array_term, array.span)?;
                let (i, v) = (self.expression(i, Some(index))?, self.expression(v, Some(entry))?);
                Ok(self.terms().store(array_term, i, v))
            }
            ExprKind::Array { entries, index, default } => self.array(e.span, entries, index.as_ref(), default, want),
        }
    }

    /// The types of indexes and entries.
    pub fn array_parts(&mut self, t: TermId, span: Span) -> Read<(Type, Type)> {
        match self.terms().ty(t) {
            Type::Array(i, e) => Ok((self.terms().type_of_id(i), self.terms().type_of_id(e))),
            ty => {
                let found = show(self.terms(), ty);
                self.fail(span, format!("only arrays have entries, and this is of type {found}"))
            }
        }
    }

    fn chain(&mut self, first: &Expr<'a>, rest: &[(Op, Span, Expr<'a>)]) -> Read<TermId> {
        let Some(&(op, _, ref second)) = rest.first() else { return self.expression(first, None) };
        match op {
            Op::And | Op::Or => {
                let mut all = vec![self.expression(first, Some(Type::Bool))?];
                for (_, _, e) in rest {
                    all.push(self.expression(e, Some(Type::Bool))?);
                }
                Ok(if op == Op::And { self.terms().and(all) } else { self.terms().or(all) })
            }
            Op::Iff | Op::Imply | Op::Xor => {
                let (a, b) = (self.expression(first, Some(Type::Bool))?, self.expression(second, Some(Type::Bool))?);
                let terms = self.terms();
                Ok(match op {
                    Op::Iff => terms.eq(a, b),
                    Op::Xor => terms.ne(a, b),
                    _ => terms.implies(a, b),
                })
            }
            Op::Eq | Op::Ne => {
                let (a, b) = self.alike(first, second, None)?;
                Ok(if op == Op::Eq { self.terms().eq(a, b) } else { self.terms().ne(a, b) })
            }
            Op::Add | Op::Sub => {
                // All at once: one by one takes quadratic time.
                let mut all = vec![self.expression(first, Some(Type::Int))?];
                for (op, _, e) in rest {
                    let t = self.expression(e, Some(Type::Int))?;
                    all.push(if *op == Op::Sub { self.terms().neg(t) } else { t });
                }
                Ok(self.terms().add(all))
            }
            _ => {
                let mut a = self.expression(first, Some(Type::Int))?;
                for (op, _, e) in rest {
                    let b = self.expression(e, Some(Type::Int))?;
                    a = integers(self.terms(), op.text(), a, b);
                }
                Ok(a)
            }
        }
    }

    /// Two expressions of one type. The one that says its type by itself goes first.
    fn alike(&mut self, a: &Expr<'a>, b: &Expr<'a>, want: Option<Type>) -> Read<(TermId, TermId)> {
        if want.is_none() && self.is_vague(a) {
            let b = self.expression(b, None)?;
            let ty = self.terms().ty(b);
            Ok((self.expression(a, Some(ty))?, b))
        } else {
            let a = self.expression(a, want)?;
            let ty = self.terms().ty(a);
            Ok((a, self.expression(b, Some(ty))?))
        }
    }

    /// Does it depend on its surroundings which type it has?
    fn is_vague(&self, e: &Expr<'a>) -> bool {
        match &e.kind {
            ExprKind::Name(name) => self.variable(name).is_none() && self.qualified(name).is_none(),
            ExprKind::Ite(parts) => self.is_vague(&parts[1]) && self.is_vague(&parts[2]),
            ExprKind::Write(parts) => self.is_vague(&parts[0]),
            ExprKind::Array { entries, index, default } => {
                let by_entries = entries.iter().all(|(i, _)| self.is_vague(i));
                self.is_vague(default) || (index.is_none() && by_entries)
            }
            _ => false,
        }
    }

    /// `Type.LITERAL`; both may contain dots themselves.
    fn qualified(&self, name: &str) -> Option<(EnumId, u32)> {
        name.match_indices('.').find_map(|(dot, _)| {
            let &e = self.types.get(&name[..dot])?;
            self.literal_of(e, &name[dot + 1..]).map(|n| (e, n))
        })
    }

    fn literal_of(&self, e: EnumId, name: &str) -> Option<u32> {
        self.literals.get(name)?.iter().find(|l| l.0 == e).map(|l| l.1)
    }

    fn named(&mut self, name: &str, span: Span, want: Option<Type>) -> Read<TermId> {
        if let Some(v) = self.variable(name) {
            return Ok(self.terms().var(v));
        }
        if let Some((e, n)) = self.qualified(name) {
            return Ok(self.terms().enum_lit(e, n));
        }
        if let Some(Type::Enum(e)) = want
            && let Some(n) = self.literal_of(e, name)
        {
            return Ok(self.terms().enum_lit(e, n));
        }
        match self.literals.get(name).map(|l| &l[..]) {
            Some(&[(e, n)]) => Ok(self.terms().enum_lit(e, n)),
            Some(&[(e, _), ..]) => {
                let ty = self.terms().enumeration(e).name.clone();
                self.errors.fail(
                    Diagnostic::error(span, format!("several types have a literal `{name}`"))
                        .help(format!("write which, for instance `{ty}.{name}`")),
                )
            }
            _ => {
                let locals = self.locals.iter().map(|l| l.name);
                let there_are = locals.chain(self.globals.keys().copied()).chain(self.literals.keys().copied());
                self.errors.fail(unknown("variable or literal", name, span, there_are))
            }
        }
    }

    fn array(
        &mut self,
        span: Span,
        entries: &[(Expr<'a>, Expr<'a>)],
        index: Option<&TypeName<'a>>,
        default: &Expr<'a>,
        want: Option<Type>,
    ) -> Read<TermId> {
        let wanted = match want {
            Some(Type::Array(i, e)) => Some((self.terms().type_of_id(i), self.terms().type_of_id(e))),
            _ => None,
        };
        // An index that says the type is looked at once only: there may be arrays in it, and so on.
        let mut first = None;
        let index = match (index, wanted, entries.first()) {
            (Some(ty), ..) => self.type_of(ty)?,
            (None, Some((index, _)), _) => index,
            (None, None, Some((i, _))) => {
                let i = self.expression(i, None)?;
                first = Some(i);
                self.terms().ty(i)
            }
            (None, None, None) => {
                return self.fail(span, "the type of the indexes is missing: write `[<integer>default <- …]`");
            }
        };
        if matches!(index, Type::Array(..)) {
            return self.fail(span, "arrays that are indexed by arrays are not supported");
        }
        let default = self.expression(default, wanted.map(|w| w.1))?;
        let entry = self.terms().ty(default);
        let ty = self.terms().array_type(index, entry);
        let mut array = self.terms().const_array(ty, default);
        // The first of two equal indexes counts, as in Theta.
        for (n, (i, v)) in entries.iter().enumerate().rev() {
            let i = match first {
                Some(i) if n == 0 => i,
                _ => self.expression(i, Some(index))?,
            };
            let v = self.expression(v, Some(entry))?;
            array = self.terms().store(array, i, v);
        }
        Ok(array)
    }
}
