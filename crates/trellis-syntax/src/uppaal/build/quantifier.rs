//! `forall`, `exists` and `sum`: written out, one instance for each value.

use trellis_expr::{TermId, VarId};

use super::expr::{Denotes, Lower};
use super::formula::Formula;
use super::scope::{Entity, Kind, Scope, Value};
use super::{Res, ast};
use crate::diag::{Diagnostic, Span};
use ast::{Expr, Quant};

/// A quantifier over more values than this is refused.
const MAX_VALUES: i64 = 1 << 16;

impl Lower<'_, '_> {
    pub fn quantifier(
        &mut self,
        q: Quant,
        var: &ast::Ident,
        ty: &ast::TypeExpr,
        body: &Expr,
        span: Span,
    ) -> Res<Denotes> {
        let scope = self.scope.clone();
        let ty_span = ty.span;
        let ty = self.b.resolve_type(ty, &scope)?;
        let Some(r) = ty.values() else {
            return self.err(ty_span, format!("a quantifier cannot range over `{}`", ty.describe()));
        };
        if r.len > MAX_VALUES {
            return Err(self.b.report(
                Diagnostic::error(ty_span, format!("a quantifier over {} values is too large", r.len))
                    .help("give it a smaller range, such as `int[0,7]`"),
            ));
        }
        let kind = if q == Quant::Sum { Kind::Int } else { Kind::Bool };
        let mut terms = Vec::new();
        let mut atoms = Vec::new();
        // For `exists`: the instance that asks something of clocks; there can be no second.
        let mut timed: Option<Formula> = None;
        // Once an instance needs statements (a function with a body), the result so far lives in a temporary.
        let mut so_far: Option<(VarId, TermId)> = None;
        for n in r.lo..r.lo + r.len {
            let inner = Scope::child(&scope);
            let value = self.b.literal(n, Kind::of(&ty));
            inner.set(&var.name, Entity::Const(value));
            let (mut stmts, f) = self.within(inner, |l| {
                l.apart(|l| match q {
                    Quant::Sum => Ok(Formula { data: l.integer(body)?, atoms: Vec::new() }),
                    _ => l.formula(body),
                })
            })?;
            let term = f.data;
            match q {
                Quant::Exists if !f.atoms.is_empty() => {
                    if timed.is_some() || so_far.is_some() || !stmts.is_empty() {
                        return self.no_disjunction(span, "`exists` over clock constraints is a disjunction");
                    }
                    timed = Some(f);
                    continue;
                }
                _ => atoms.extend(f.atoms),
            }
            if so_far.is_none() && !stmts.is_empty() {
                let term = self.combine(q, std::mem::take(&mut terms));
                let (tmp, v) = self.save(Value { term, kind });
                so_far = Some((tmp, v.term));
            }
            let Some((tmp, acc)) = so_far else {
                terms.push(term);
                continue;
            };
            let t = self.b.terms();
            let (needed, next) = match q {
                Quant::Forall => (acc, term),
                Quant::Exists => (t.not(acc), term),
                Quant::Sum => (t.bool(true), t.add([acc, term])),
            };
            stmts.push(self.b.terms().assign(tmp, next));
            self.branch(needed, stmts, Vec::new());
        }
        let term = match so_far {
            Some((_, acc)) => acc,
            None => self.combine(q, terms),
        };
        match (q, timed) {
            (Quant::Exists, Some(f)) => Ok(self.either(Formula { data: term, atoms: Vec::new() }, f, span)?.into()),
            (Quant::Forall, None) => Ok(Formula { data: term, atoms }.into()),
            _ => Ok(Value { term: self.number(term, span)?, kind }.into()),
        }
    }

    fn combine(&mut self, q: Quant, terms: Vec<TermId>) -> TermId {
        let zero = self.b.int(0);
        let t = self.b.terms();
        match q {
            Quant::Forall => t.and(terms),
            Quant::Exists => t.or(terms),
            Quant::Sum => t.add(terms.into_iter().chain([zero])),
        }
    }
}
