//! Statements: what they do to data, and the clocks they set afterwards.
//!
//! Clocks are set when all statements have run, so the values they get, and whether they are set at all, are kept in
//! temporaries where the statement stands.

use rustc_hash::FxHashSet;
use trellis_expr::{StmtId, TermId};
use trellis_model::network::{Reset, ResetTo};

use super::expr::dotted;
use super::{Builder, Entity, Reported, Res};
use crate::diag::Span;
use crate::diag::shorten;
use crate::tchecker::ast::{Ident, Stmt};
use crate::uppaal::ast::{Expr, ExprKind};

/// The largest local array.
const MAX_LOCAL: i64 = 1 << 16;

/// What has been lowered of the statements of one edge.
#[derive(Debug, Default)]
struct Update {
    stmts: Vec<StmtId>,
    resets: Vec<Reset>,
    /// When the current statement runs.
    when: Option<TermId>,
    in_loop: bool,
}

impl Builder<'_> {
    pub fn update(&mut self, stmts: &[Stmt]) -> Res<(StmtId, Vec<Reset>)> {
        let mut u = Update::default();
        self.statements(stmts, &mut u)?;
        let update = self.terms().seq(u.stmts);
        Ok((update, u.resets))
    }

    /// A block: its local variables end with it. Every statement is looked at, even after a mistake in another.
    fn statements(&mut self, stmts: &[Stmt], u: &mut Update) -> Res<()> {
        let outer = self.locals.len();
        let mut result = Ok(());
        for s in stmts {
            result = result.and(self.statement(s, u));
        }
        self.locals.truncate(outer);
        result
    }

    fn statement(&mut self, s: &Stmt, u: &mut Update) -> Res<()> {
        match s {
            Stmt::Nop => Ok(()),
            Stmt::Assign { target, value } => self.assignment(target, value, u),
            Stmt::Local { name, size, init } => self.local(name, size.as_ref(), init.as_ref(), u),
            Stmt::If { cond, then, els } => {
                let mut c = self.condition(cond)?;
                let outer = u.when;
                if self.sets_clocks(then) || self.sets_clocks(els) {
                    c = self.saved(c, true, u);
                }
                let not = self.terms().not(c);
                let (a, first) = self.branch(then, c, outer, u);
                let (b, second) = self.branch(els, not, outer, u);
                u.when = outer;
                first.and(second)?;
                let s = self.terms().branch(c, a, b);
                u.stmts.push(s);
                Ok(())
            }
            Stmt::While { cond, body } => {
                let c = self.condition(cond)?;
                let before = std::mem::take(&mut u.stmts);
                let outer = std::mem::replace(&mut u.in_loop, true);
                let result = self.statements(body, u);
                u.in_loop = outer;
                let body = std::mem::replace(&mut u.stmts, before);
                result?;
                let body = self.terms().seq(body);
                let s = self.terms().repeat(c, body);
                u.stmts.push(s);
                Ok(())
            }
        }
    }

    fn branch(&mut self, stmts: &[Stmt], c: TermId, outer: Option<TermId>, u: &mut Update) -> (StmtId, Res<()>) {
        let before = std::mem::take(&mut u.stmts);
        u.when = Some(match outer {
            Some(w) => self.terms().and([w, c]),
            None => c,
        });
        let result = self.statements(stmts, u);
        let inner = std::mem::replace(&mut u.stmts, before);
        (self.terms().seq(inner), result)
    }

    fn condition(&mut self, e: &Expr) -> Res<TermId> {
        if self.mentions_clocks(e) {
            let help = "move the condition on clocks to `provided:`, with one edge for each case";
            return self.error(e.span, "clocks in the condition of a statement are not supported", help);
        }
        self.boolean(e)
    }

    /// The value of a term here and now.
    fn saved(&mut self, t: TermId, is_bool: bool, u: &mut Update) -> TermId {
        if self.net.terms.as_value(t).is_some() {
            return t;
        }
        let tmp = self.temp(is_bool, None);
        let s = self.terms().assign(tmp, t);
        u.stmts.push(s);
        self.terms().var(tmp)
    }

    fn sets_clocks(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().any(|s| match s {
            Stmt::Assign { target, .. } => self.mentions_clocks(target),
            Stmt::If { then, els, .. } => self.sets_clocks(then) || self.sets_clocks(els),
            Stmt::While { body, .. } => self.sets_clocks(body),
            Stmt::Local { .. } | Stmt::Nop => false,
        })
    }

    fn assignment(&mut self, target: &Expr, value: &Expr, u: &mut Update) -> Res<()> {
        if self.mentions_clocks(target) {
            return self.clock_assignment(target, value, u);
        }
        let (base, index) = match &target.kind {
            ExprKind::Index(a, i) => (&**a, Some(&**i)),
            _ => (target, None),
        };
        let name = dotted(base).unwrap_or_default();
        let shown = shorten(&name);
        if self.mentions_clocks(value) {
            let help = "only another clock can be set to the value of a clock";
            return self.error(value.span, format!("`{shown}` is an integer and cannot hold a clock's value"), help);
        }
        let (var, lo, hi, len) = match self.variable(&name) {
            Some(Entity::Int { var, lo, hi, len }) => (var, lo, hi, len),
            Some(_) => return Err(Reported),
            None => return self.unknown_variable(&name, base.span),
        };
        let place = match (index, len) {
            (Some(i), Some(len)) => Some(self.index_term(i, len)?),
            (None, None) => None,
            (Some(_), None) => {
                return self.error(base.span, format!("`{shown}` is no array"), format!("write `{shown}` alone"));
            }
            (None, Some(_)) => {
                let help = format!("say which cell is meant: `{shown}[0]`");
                return self.error(base.span, format!("`{shown}` is an array"), help);
            }
        };
        let value = self.integer(value)?;
        if !self.net.terms.lies_within(value, lo, hi) {
            let (low, high) = (self.int(lo), self.int(hi));
            let t = self.terms();
            let inside = [t.le(low, value), t.le(value, high)];
            let inside = t.and(inside);
            let s = t.assume(inside);
            u.stmts.push(s);
        }
        let value = match place {
            None => value,
            Some(i) => {
                let array = self.terms().var(var);
                self.terms().store(array, i, value)
            }
        };
        let s = self.terms().assign(var, value);
        u.stmts.push(s);
        Ok(())
    }

    fn clock_assignment(&mut self, target: &Expr, value: &Expr, u: &mut Update) -> Res<()> {
        if u.in_loop {
            let help = "set the clock before or after the loop";
            return self.error(target.span, "a clock set inside a loop is not supported", help);
        }
        let mut clock = self.clock(target)?;
        if let Some((_, index)) = &mut clock.of {
            *index = self.saved(*index, false, u);
        }
        let value_span = value.span;
        let sum = self.linear(value)?;
        let values = match (&sum.plus[..], &sum.minus[..]) {
            ([], []) => {
                let number = self.net.terms.as_int(sum.data);
                if number.is_some_and(|n| n < 0) {
                    return self.error(value_span, "a clock cannot be negative", "set it to 0 or more");
                }
                vec![(None, ResetTo::Value(self.saved(sum.data, false, u)))]
            }
            (&[mut from], []) if self.net.terms.as_int(sum.data) == Some(0) => {
                if let Some((_, index)) = &mut from.of {
                    *index = self.saved(*index, false, u);
                }
                let all = self.candidates(from);
                all.into_iter().map(|(when, c)| (when, ResetTo::Clock(c))).collect()
            }
            _ => return self.shifted_clock(value_span),
        };
        let targets = self.candidates(clock);
        for &(which, clock) in &targets {
            for &(from, to) in &values {
                let mut when: Vec<TermId> = u.when.into_iter().collect();
                when.extend(which);
                when.extend(from);
                let when = (!when.is_empty()).then(|| self.terms().and(when));
                u.resets.push(Reset { when, clock, to });
            }
        }
        Ok(())
    }

    fn shifted_clock<T>(&mut self, span: Span) -> Res<T> {
        let help = "set it to a number (`x = n`) or to another clock (`x = y`)";
        self.error(span, "setting a clock to a clock plus a number (`x = y + n`) is not supported", help)
    }

    fn local(&mut self, name: &Ident, size: Option<&Expr>, init: Option<&Expr>, u: &mut Update) -> Res<()> {
        let shown = shorten(&name.name);
        if self.variable(&name.name).is_some() {
            let message = format!("variable `{shown}` is declared a second time");
            return self.error(name.span, message, "give the local variable another name");
        }
        let mut len = None;
        if let Some(e) = size {
            let t = self.integer(e)?;
            len = self.net.terms.as_int(t).filter(|n| (1..=MAX_LOCAL).contains(n));
            if len.is_none() {
                let message = format!("the size of `{shown}` must be a number between 1 and {MAX_LOCAL}");
                return self.error(e.span, message, "write it as a constant");
            }
            self.spend_cells(len.unwrap_or(1), e.span)?;
        }
        let value = match init {
            Some(e) if self.mentions_clocks(e) => return self.misused_clock(e.span),
            Some(e) => self.integer(e)?,
            None => self.int(0),
        };
        let var = self.temp(false, len);
        let value = match len {
            Some(_) => {
                let ty = self.net.terms.variable(var).ty;
                self.terms().const_array(ty, value)
            }
            None => value,
        };
        let s = self.terms().assign(var, value);
        u.stmts.push(s);
        let (lo, hi) = (i64::MIN / 2, i64::MAX / 2);
        self.locals.push((name.name.clone(), Entity::Int { var, lo, hi, len }));
        Ok(())
    }
}

/// The names that statements set, and all names in them.
pub(super) fn names_in(stmts: &[Stmt], writes: &mut FxHashSet<String>, names: &mut FxHashSet<String>) {
    for s in stmts {
        match s {
            Stmt::Nop => {}
            Stmt::Assign { target, value } => {
                let base = match &target.kind {
                    ExprKind::Index(a, _) => a,
                    _ => target,
                };
                writes.extend(dotted(base));
                names_of(target, names);
                names_of(value, names);
            }
            Stmt::If { cond, then, els } => {
                names_of(cond, names);
                names_in(then, writes, names);
                names_in(els, writes, names);
            }
            Stmt::While { cond, body } => {
                names_of(cond, names);
                names_in(body, writes, names);
            }
            Stmt::Local { init, .. } => {
                if let Some(e) = init {
                    names_of(e, names);
                }
            }
        }
    }
}

fn names_of(e: &Expr, names: &mut FxHashSet<String>) {
    match &e.kind {
        ExprKind::Name(n) => {
            names.insert(n.clone());
        }
        ExprKind::Unary(_, a) => names_of(a, names),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| names_of(e, names)),
        ExprKind::Cond(c, a, b) => [c, a, b].into_iter().for_each(|e| names_of(e, names)),
        _ => {}
    }
}
