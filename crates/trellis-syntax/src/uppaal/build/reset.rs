//! How updates set clocks: in order, where the update comes by, to what an integer or another clock is at that point.
//!
//! Clocks are set after all data, so that what the update knows only on the way is kept in temporaries: the value, the
//! index, and for what does not always happen a flag that says it did. Each place in an update is come by at most once;
//! loops that set clocks are therefore written out where their rounds are known, and refused elsewhere.

use trellis_model::network::{Reset, ResetTo};

use super::clock::{ClockRef, Linear, Operand};
use super::expr::{Denotes, Lower};
use super::place::Place;
use super::scope::{Entity, Kind, Scope, Value};
use super::types::{Range, Ty};
use super::{Reported, Res, ast, syntax};
use crate::diag::{Diagnostic, Span};
use ast::{BinOp, Expr, ExprKind, Stmt};

/// What a clock is set to.
enum From {
    Value(Value),
    Clock(ClockRef),
}

impl Lower<'_, '_> {
    /// `x = e` or `x = y` for clocks.
    pub fn assign_clock(&mut self, op: Option<BinOp>, p: Place, rhs: &Expr, span: Span) -> Res<Denotes> {
        if op.is_some() {
            return Err(self.b.report(
                Diagnostic::error(span, "a clock cannot be computed with: it has no integer value")
                    .help("set it to an integer or to another clock: `x = 0`, `x = y`"),
            ));
        }
        let mark = self.stmts.len();
        let from = self.operand(rhs)?;
        let p = Place { index: self.held_index(mark, p.index), ..p };
        let p = self.pinned(p);
        match from {
            Operand::Value(v) => {
                let v = self.convert(v, Kind::Int, rhs.span)?;
                if let Some(n @ ..0) = self.b.constant_value(v).filter(|_| self.is_plain(rhs)) {
                    return self.err(rhs.span, format!("a clock cannot be set to {n}: its values are never negative"));
                }
                let v = self.saved(v);
                self.reset(&p, From::Value(v), span)?;
            }
            Operand::Linear(Linear { plus: Some(c), minus: None, by }) if self.b.net.terms.as_int(by) == Some(0) => {
                let index = self.saved(Value { term: c.index, kind: Kind::Int }).term;
                self.reset(&p, From::Clock(ClockRef { index, ..c }), span)?;
            }
            Operand::Linear(_) => {
                return Err(self.b.report(
                    Diagnostic::error(rhs.span, "a clock cannot be set to what is computed from clocks")
                        .help("set it to an integer or to another clock: `x = 0`, `x = y`"),
                ));
            }
        }
        Ok(Denotes::Place(p))
    }

    /// Copies a clock to another; their indexes are settled.
    pub fn copy_clock(&mut self, to: &Place, from: &Place, span: Span) -> Res<()> {
        match self.clock(from) {
            Some(from) => self.reset(to, From::Clock(from), span),
            None => Err(Reported),
        }
    }

    /// Sets a clock; index and value are settled.
    fn reset(&mut self, p: &Place, from: From, span: Span) -> Res<()> {
        let Some(to) = self.clock(p) else { return Err(Reported) };
        if self.dead {
            return Ok(());
        }
        if self.loops > 0 {
            self.loop_reset.get_or_insert(span);
            return Ok(());
        }
        let flag = (self.nested > 0).then(|| {
            let yes = self.b.terms().bool(true);
            self.save(Value { term: yes, kind: Kind::Bool }).1.term
        });
        let targets = self.choices(Some(to));
        let sources = match from {
            From::Value(v) => vec![(ResetTo::Value(v.term), None)],
            From::Clock(c) => self.choices(Some(c)).into_iter().map(|(n, when)| (ResetTo::Clock(n), when)).collect(),
        };
        self.b.spend(4 * (targets.len() * sources.len()) as u64, span)?;
        for &(clock, is_target) in &targets {
            for &(to, is_source) in &sources {
                let parts: Vec<_> = [flag, is_target, is_source].into_iter().flatten().collect();
                let when = (!parts.is_empty()).then(|| self.b.terms().and(parts));
                if to != ResetTo::Clock(clock) {
                    self.resets.push(Reset { when, clock, to });
                }
            }
        }
        Ok(())
    }

    // Loops.

    /// Lowers a loop. Clocks that it sets are not set: where the first of them stands is answered instead.
    pub fn looped(&mut self, f: impl FnOnce(&mut Self) -> Res<()>) -> Res<Option<Span>> {
        let outer = self.loop_reset.take();
        self.loops += 1;
        let result = f(self);
        self.loops -= 1;
        let found = std::mem::replace(&mut self.loop_reset, outer);
        result.map(|()| found)
    }

    /// Lowers a loop in one way, and if it turns out to set clocks, in another.
    pub fn unless_timed(
        &mut self,
        f: impl FnOnce(&mut Self) -> Res<()>,
        timed: impl FnOnce(&mut Self, Span) -> Res<()>,
    ) -> Res<()> {
        let mut sets = None;
        let (stmts, ()) = self.apart(|l| {
            sets = l.looped(f)?;
            Ok(())
        })?;
        match sets {
            Some(span) => timed(self, span),
            None => {
                self.stmts.extend(stmts);
                Ok(())
            }
        }
    }

    /// A loop that sets a clock and cannot be written out. Within another loop that may change once that one is written
    /// out, so that it is for the outermost to say.
    pub fn no_loop(&mut self, span: Span) -> Res<()> {
        if self.loops > 0 {
            self.loop_reset.get_or_insert(span);
            return Ok(());
        }
        Err(self.b.report(
            Diagnostic::error(span, "a clock is set in a loop whose rounds are not known beforehand").help(
                "use `for (i : int[0,3])` or `for (i = 0; i < 4; i++)` with constant bounds: they are written out",
            ),
        ))
    }

    /// One round after another, for each value of a name.
    pub fn rounds(&mut self, name: &str, r: Range, kind: Kind, counter: Option<&Place>, body: &Stmt) -> Res<()> {
        let scope = self.scope.clone();
        for n in r.lo..r.lo + r.len {
            let value = self.b.literal(n, kind);
            let running = self.running().filter(|_| syntax::may_return(body));
            let inner = Scope::child(&scope);
            inner.set(name, Entity::Const(value));
            let round = |l: &mut Self| {
                if let Some(p) = counter {
                    let leaf = p.leaves[0];
                    let s = l.b.terms().assign(leaf, value.term);
                    l.stmts.push(s);
                }
                l.within(inner, |l| l.statement(body))
            };
            match running {
                Some(running) => {
                    let (stmts, ()) = self.apart(round)?;
                    self.branch(running, stmts, Vec::new());
                }
                None => round(self)?,
            }
        }
        Ok(())
    }

    /// The rounds of a counted loop; what the counter is afterwards is what it would have been.
    pub fn count_out(&mut self, name: &str, p: &Place, r: Range, body: &Stmt) -> Res<()> {
        self.rounds(name, r, Kind::Int, Some(p), body)?;
        let end = self.b.int(r.lo + r.len);
        let s = self.b.terms().assign(p.leaves[0], end);
        self.stmts.push(s);
        Ok(())
    }

    /// `for (i = a; i < b; i++) body` with constants `a` and `b` and a local `i` that the body does not write.
    pub fn counted(&mut self, init: &Expr, cond: &Expr, step: &Expr, body: &Stmt) -> Option<(String, Place, Range)> {
        let ExprKind::Assign(None, i, first) = &init.kind else { return None };
        let ExprKind::Name(name) = &i.kind else { return None };
        let is_i = |e: &Expr| matches!(&e.kind, ExprKind::Name(n) if n == name);
        let one = |e: &Expr| matches!(e.kind, ExprKind::Int(1));
        let (last, beyond) = match &cond.kind {
            ExprKind::Binary(BinOp::Lt, a, b) if is_i(a) => (b, 0),
            ExprKind::Binary(BinOp::Le, a, b) if is_i(a) => (b, 1),
            _ => return None,
        };
        let steps = match &step.kind {
            ExprKind::Step { up: true, of, .. } => is_i(of),
            ExprKind::Assign(Some(BinOp::Add), of, by) => is_i(of) && one(by),
            _ => false,
        };
        let Some(Entity::Var(p)) = self.scope.find(name) else { return None };
        let is_local = |v| self.b.leaves.get(v).is_some_and(|l| !l.shared && !l.array && l.value.is_none());
        let (lo, hi) = match p.ty {
            Ty::Int { lo, hi } if steps && p.leaves.iter().all(is_local) && !syntax::stmt_writes(body, name) => {
                (lo, hi)
            }
            _ => return None,
        };
        let from = self.known_number(first)?;
        let end = self.known_number(last)?.checked_add(beyond)?.max(from);
        // Where the counter would leave its type, the loop as written faults.
        (lo <= from && end <= hi).then(|| (name.clone(), p, Range { lo: from, len: end - from, set: 0 }))
    }

    /// The value of an expression that needs no statements and is a constant.
    fn known_number(&mut self, e: &Expr) -> Option<i64> {
        let (stmts, v) = self.apart(|l| l.value(e)).ok()?;
        self.b.constant_value(v).filter(|_| stmts.is_empty())
    }
}
