//! Expressions over data: numbers, truth values, names. There are no effects in them.

use trellis_expr::{Division, TermId};
use trellis_model::network::{ClockAtom, Condition};

use super::{Builder, Entity, Reported, Res, nearest};
use crate::diag::Span;
use crate::diag::shorten;
use crate::uppaal::ast::{BinOp, Expr, ExprKind, UnOp};
use crate::uppaal::build::{compared, too_big};

/// A term and whether it is a truth value rather than a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub term: TermId,
    pub is_bool: bool,
}

/// `P.x` as one name: in a model that is how it is written, in a query a member of a member.
pub(super) fn dotted(e: &Expr) -> Option<String> {
    match &e.kind {
        ExprKind::Name(n) => Some(n.clone()),
        ExprKind::Field(a, f) => dotted(a).map(|a| format!("{a}.{}", f.name)),
        _ => None,
    }
}

pub(super) fn is_comparison(op: BinOp) -> bool {
    matches!(op, BinOp::Lt | BinOp::Le | BinOp::Eq | BinOp::Ne | BinOp::Ge | BinOp::Gt)
}

impl Builder<'_> {
    /// The condition that always holds.
    pub fn always(&mut self) -> Condition {
        let holds = self.terms().bool(true);
        Condition { prepare: self.terms().skip(), holds }
    }

    /// A guard or an invariant: what it says of data, and what it says of clocks.
    pub fn guard(&mut self, e: &Expr) -> Res<(Condition, Vec<ClockAtom>)> {
        let (mut data, mut atoms) = (Vec::new(), Vec::new());
        self.conjunct(e, false, &mut data, &mut atoms)?;
        let holds = self.terms().and(data);
        Ok((Condition { prepare: self.terms().skip(), holds }, atoms))
    }

    fn conjunct(&mut self, e: &Expr, negated: bool, data: &mut Vec<TermId>, atoms: &mut Vec<ClockAtom>) -> Res<()> {
        if !self.mentions_clocks(e) {
            let t = self.boolean(e)?;
            data.push(if negated { self.terms().not(t) } else { t });
            return Ok(());
        }
        match &e.kind {
            ExprKind::Binary(BinOp::And, a, b) if !negated => {
                // Both sides are looked at: mistakes in either count.
                let left = self.conjunct(a, negated, data, atoms);
                left.and(self.conjunct(b, negated, data, atoms))
            }
            ExprKind::Unary(UnOp::Not, a) => self.conjunct(a, !negated, data, atoms),
            ExprKind::Binary(op, a, b) if is_comparison(*op) => {
                let op = if negated { opposite(*op) } else { *op };
                let (found, truth) = self.clock_comparison(op, a, b, e.span)?;
                atoms.extend(found);
                data.extend(truth);
                Ok(())
            }
            _ if negated => {
                let help = "write one edge for each alternative";
                self.error(e.span, "a disjunction over clocks is not supported", help)
            }
            _ => self.misused_clock(e.span),
        }
    }

    pub fn misused_clock<T>(&mut self, span: Span) -> Res<T> {
        let help = "a clock or a difference of two can be compared with a number: `x < 3`, `x - y >= n`";
        self.error(span, "a clock has no value that could be used here", help)
    }

    /// Does the expression speak of clocks? An index does not count: there, clocks are refused.
    pub fn mentions_clocks(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(_) | ExprKind::Field(..) => {
                dotted(e).is_some_and(|n| matches!(self.variable(&n), Some(Entity::Clock { .. })))
            }
            ExprKind::Index(a, _) => self.mentions_clocks(a),
            ExprKind::Unary(_, a) => self.mentions_clocks(a),
            ExprKind::Binary(_, a, b) => self.mentions_clocks(a) || self.mentions_clocks(b),
            ExprKind::Cond(c, a, b) => [c, a, b].into_iter().any(|e| self.mentions_clocks(e)),
            _ => false,
        }
    }

    pub fn variable(&self, name: &str) -> Option<Entity> {
        let local = self.locals.iter().rev().find(|(n, _)| n == name).map(|(_, e)| *e);
        local.or_else(|| self.names.get(name).copied())
    }

    pub fn boolean(&mut self, e: &Expr) -> Res<TermId> {
        let v = self.value(e)?;
        if v.is_bool {
            return Ok(v.term);
        }
        let zero = self.int(0);
        Ok(self.terms().ne(v.term, zero))
    }

    pub fn integer(&mut self, e: &Expr) -> Res<TermId> {
        let v = self.value(e)?;
        Ok(self.number(v))
    }

    /// A value as a number.
    fn number(&mut self, v: Value) -> TermId {
        if !v.is_bool {
            return v.term;
        }
        let (one, zero) = (self.int(1), self.int(0));
        self.terms().ite(v.term, one, zero)
    }

    pub fn value(&mut self, e: &Expr) -> Res<Value> {
        let number = |term| Ok(Value { term, is_bool: false });
        let truth = |term| Ok(Value { term, is_bool: true });
        match &e.kind {
            ExprKind::Int(n) => number(self.int(*n)),
            ExprKind::Bool(b) => truth(self.terms().bool(*b)),
            ExprKind::Name(_) | ExprKind::Field(..) => self.name(e),
            ExprKind::Index(a, i) => self.index(a, i).and_then(number),
            ExprKind::Unary(UnOp::Not, a) => {
                let a = self.boolean(a)?;
                truth(self.terms().not(a))
            }
            ExprKind::Unary(UnOp::Neg, a) => {
                let a = self.integer(a)?;
                let t = self.terms().neg(a);
                self.fits(t, e.span).and_then(number)
            }
            ExprKind::Unary(UnOp::Plus, a) => self.integer(a).and_then(number),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            ExprKind::Cond(c, a, b) => {
                let c = self.boolean(c)?;
                let (a, b) = (self.value(a)?, self.value(b)?);
                let is_bool = a.is_bool && b.is_bool;
                let (x, y) = if is_bool { (a.term, b.term) } else { (self.number(a), self.number(b)) };
                Ok(Value { term: self.terms().ite(c, x, y), is_bool })
            }
            ExprKind::Deadlock if self.asking.is_some() => {
                self.asks_deadlock = true;
                let d = self.deadlock();
                truth(self.terms().var(d))
            }
            _ => self.unsupported(e),
        }
    }

    fn unsupported<T>(&mut self, e: &Expr) -> Res<T> {
        let what = match &e.kind {
            ExprKind::Unsupported(what) => what.clone(),
            ExprKind::Call(..) => "a call".into(),
            ExprKind::Assign(..) | ExprKind::Step { .. } => "an assignment in a condition".into(),
            ExprKind::Quant(..) => "a quantifier".into(),
            ExprKind::Rate(_) => "a clock's rate".into(),
            ExprKind::Comma(..) => "a comma".into(),
            _ => "this".into(),
        };
        let help = "use process.location, variables, clocks, labels, numbers and operators";
        self.error(e.span, format!("{what} is not supported in questions about a TChecker model"), help)
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr, span: Span) -> Res<Value> {
        if let BinOp::And | BinOp::Or | BinOp::Imply = op {
            // Both sides are looked at: mistakes in either count.
            let (x, y) = (self.boolean(a), self.boolean(b));
            let (mut x, y) = (x?, y?);
            if op == BinOp::Imply {
                x = self.terms().not(x);
            }
            let term = if op == BinOp::And { self.terms().and([x, y]) } else { self.terms().or([x, y]) };
            return Ok(Value { term, is_bool: true });
        }
        if is_comparison(op) && (self.mentions_clocks(a) || self.mentions_clocks(b)) {
            return match self.asking {
                Some(_) => self.asked_comparison(op, a, b, span),
                None => self.misused_clock(span),
            };
        }
        let (x, y) = (self.value(a), self.value(b));
        let (x, y) = (x?, y?);
        if x.is_bool && y.is_bool && matches!(op, BinOp::Eq | BinOp::Ne) {
            let eq = self.terms().eq(x.term, y.term);
            let term = if op == BinOp::Eq { eq } else { self.terms().not(eq) };
            return Ok(Value { term, is_bool: true });
        }
        let (x, y) = (self.number(x), self.number(y));
        if is_comparison(op) {
            return Ok(Value { term: self.compare(op, x, y), is_bool: true });
        }
        if matches!(op, BinOp::Div | BinOp::Mod) && self.net.terms.as_int(y) == Some(0) {
            return self.error(b.span, "division by zero", "divide by something else");
        }
        let t = self.terms();
        let term = match op {
            BinOp::Add => t.add([x, y]),
            BinOp::Sub => t.sub(x, y),
            BinOp::Mul => t.mul(x, y),
            BinOp::Div => t.div(Division::Truncating, x, y),
            BinOp::Mod => t.rem(Division::Truncating, x, y),
            _ => {
                let help = "use +, -, *, / and %";
                return self.error(span, "this operator is not supported for a TChecker model", help);
            }
        };
        Ok(Value { term: self.fits(term, span)?, is_bool: false })
    }

    /// A comparison of numbers.
    pub fn compare(&mut self, op: BinOp, x: TermId, y: TermId) -> TermId {
        compared(self.terms(), op, x, y)
    }

    /// A number that fits a machine word.
    pub fn fits(&mut self, t: TermId, span: Span) -> Res<TermId> {
        if too_big(&self.net.terms, t) {
            self.error(span, "this number is too large", "use smaller numbers")
        } else {
            Ok(t)
        }
    }

    /// `a[i]`
    fn index(&mut self, a: &Expr, i: &Expr) -> Res<TermId> {
        let Some(name) = dotted(a) else {
            return self.error(a.span, "only arrays can be indexed", "write the name of an array before `[`");
        };
        let shown = shorten(&name);
        match self.variable(&name) {
            Some(Entity::Int { var, len: Some(len), .. }) => {
                let i = self.index_term(i, len)?;
                let array = self.terms().var(var);
                Ok(self.terms().select(array, i))
            }
            Some(Entity::Int { len: None, .. } | Entity::Clock { len: None, .. }) => {
                self.error(a.span, format!("`{shown}` is no array"), format!("write `{shown}` alone"))
            }
            Some(Entity::Clock { .. }) => self.misused_clock(a.span),
            Some(Entity::Broken) => Err(Reported),
            None => self.unknown_variable(&name, a.span),
        }
    }

    /// An index into an array of so many; it faults outside.
    pub fn index_term(&mut self, i: &Expr, len: i64) -> Res<TermId> {
        let t = self.integer(i)?;
        if let Some(n) = self.net.terms.as_int(t)
            && !(0..len).contains(&n)
        {
            let message = format!("index {n} is outside the array, which goes from 0 to {}", len - 1);
            return self.error(i.span, message, "use an index inside the array");
        }
        Ok(self.terms().checked(t, 0, len - 1))
    }

    pub fn unknown_variable<T>(&mut self, name: &str, span: Span) -> Res<T> {
        let mut there_are: Vec<&str> = self.names.keys().map(String::as_str).collect();
        there_are.extend(self.locals.iter().map(|(n, _)| n.as_str()));
        if self.asking.is_some() {
            there_are.extend(self.labels.iter().map(|(l, _)| l.as_str()));
        }
        there_are.sort_unstable();
        let near = nearest(name, there_are);
        let what = if self.asking.is_some() { "location, variable, clock or label" } else { "variable" };
        let help = match self.asking {
            Some(_) => "locations are written `process.location`",
            None => "declare it before it is used: `int:size:min:max:init:name` or `clock:size:name`",
        };
        self.unknown(what, name, span, near, help)
    }

    fn name(&mut self, e: &Expr) -> Res<Value> {
        let Some(name) = dotted(e) else { return self.unsupported(e) };
        if self.asking.is_some()
            && let Some(term) = self.location_term(&name)
        {
            return Ok(Value { term, is_bool: true });
        }
        match self.variable(&name) {
            Some(Entity::Int { var, len: None, .. }) => Ok(Value { term: self.terms().var(var), is_bool: false }),
            Some(Entity::Int { .. }) => {
                let shown = shorten(&name);
                self.error(e.span, format!("`{shown}` is an array"), format!("say which cell is meant: `{shown}[0]`"))
            }
            Some(Entity::Clock { .. }) => self.misused_clock(e.span),
            Some(Entity::Broken) => Err(Reported),
            None if self.asking.is_some() => self.asked_name(&name, e),
            None => self.unknown_variable(&name, e.span),
        }
    }
}

fn opposite(op: BinOp) -> BinOp {
    match op {
        BinOp::Lt => BinOp::Ge,
        BinOp::Le => BinOp::Gt,
        BinOp::Gt => BinOp::Le,
        BinOp::Ge => BinOp::Lt,
        BinOp::Eq => BinOp::Ne,
        BinOp::Ne => BinOp::Eq,
        other => other,
    }
}
