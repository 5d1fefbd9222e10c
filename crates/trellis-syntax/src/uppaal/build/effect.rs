//! Expressions for their effect: assignments, `++` and `--`, and what may be written where.

use trellis_expr::VarId;

use super::expr::{Denotes, Lower, Unit};
use super::place::Place;
use super::scope::{Kind, Value};
use super::types::Ty;
use super::{Builder, Res, ast};
use crate::diag::{Diagnostic, Span};
use crate::uppaal::token::shorten;
use ast::{BinOp, Expr, ExprKind};

impl Lower<'_, '_> {
    /// An expression for its effect: an update, a statement.
    pub fn effect(&mut self, e: &Expr) -> Res<()> {
        match &e.kind {
            ExprKind::Comma(a, b) => {
                self.effect(a)?;
                self.effect(b)
            }
            ExprKind::Int(_) | ExprKind::Bool(_) => Ok(()), // `1` is UPPAAL's empty update
            ExprKind::Assign(op, lhs, rhs) => {
                self.b.spend(1, e.span)?;
                self.assignment(*op, lhs, rhs, e.span, false).map(|_| ())
            }
            ExprKind::Step { up, prefix, of } => {
                self.b.spend(1, e.span)?;
                self.step(*up, *prefix, of, e.span, false).map(|_| ())
            }
            ExprKind::Cond(c, a, b) => {
                let c = self.boolean(c)?;
                let known = self.b.net.terms.as_bool(c);
                let (a, ()) = self.reached(known != Some(false), |l| l.apart(|l| l.effect(a)))?;
                let (b, ()) = self.reached(known != Some(true), |l| l.apart(|l| l.effect(b)))?;
                self.branch(c, a, b);
                Ok(())
            }
            _ => {
                let mark = self.stmts.len();
                let unused = self.denote(e)?;
                if self.stmts.len() == mark && !matches!(e.kind, ExprKind::Call(..)) && !self.dead {
                    let d = Diagnostic::warning(e.span, "this has no effect");
                    let compares = matches!(e.kind, ExprKind::Binary(BinOp::Eq, ..));
                    self.b.report(if compares { d.help("`==` compares; to assign, write `=`") } else { d });
                }
                self.discard(unused);
                Ok(())
            }
        }
    }

    /// Evaluates what nobody needs if that can go wrong.
    fn discard(&mut self, unused: Denotes) {
        let value = match unused {
            Denotes::Value(v) => v,
            Denotes::Place(p) if p.ty.scalar().is_some() => self.b.read(&p),
            _ => return,
        };
        if self.b.net.terms.may_fault(value.term) {
            self.save(value);
        }
    }

    /// `lhs = rhs`, `lhs += rhs`. `needed`: the expression is part of a larger one, which looks at the outcome.
    pub fn assignment(&mut self, op: Option<BinOp>, lhs: &Expr, rhs: &Expr, span: Span, needed: bool) -> Res<Denotes> {
        let to = self.denote(lhs)?;
        match &to {
            Denotes::Place(p) => self.may_write(p, lhs.span, span)?,
            Denotes::Bit(..) | Denotes::Lattice(_) => self.may_change_lattice(span)?,
            Denotes::Value(_) | Denotes::Nothing => {
                return Err(self.b.report(
                    Diagnostic::error(lhs.span, "this cannot be assigned to")
                        .help("a constant or an expression has no place to write to; did you mean `==`?"),
                ));
            }
            Denotes::Chan(_) => return self.err(lhs.span, "a channel cannot be assigned to"),
        }
        // What is assigned to, and what it holds, is settled before the right side runs.
        let old = match (&to, op) {
            (Denotes::Place(p), Some(_)) if p.ty.scalar().is_some() => Some(self.b.read(p)),
            _ => None,
        };
        let mark = self.stmts.len();
        match to {
            Denotes::Place(p) if p.ty.scalar().is_some() => {
                let mut v = self.value(rhs)?;
                if let (Some(op), Some(old)) = (op, old) {
                    let old = Value { term: self.held(mark, old), ..old };
                    v = self.operate(op, old, v, [lhs.span, rhs.span])?;
                }
                let mut p = self.still(mark, p);
                if needed {
                    p = self.pinned(p);
                }
                if op.is_none() && self.is_plain(rhs) {
                    self.check_fits(v, &p, rhs.span);
                }
                self.write(&p, v, rhs.span)?;
                Ok(Denotes::Place(p))
            }
            Denotes::Place(p) => {
                if op.is_some() {
                    let what = p.ty.describe();
                    return self.err(lhs.span, format!("a number is needed to compute with, but this is `{what}`"));
                }
                let from = self.aggregate(rhs, &p.ty)?;
                let p = self.still(mark, p);
                Ok(Denotes::Place(self.copy(p, from, span)?))
            }
            Denotes::Bit(..) => {
                if op.is_some() {
                    return self.err(span, "a bit can only be set: write `= 0` or `= 1`");
                }
                let v = self.integer(rhs)?;
                if let Denotes::Bit(l, i) = self.held_place(mark, to) {
                    let s = self.b.set_bit(&l, i, v);
                    self.stmts.push(s);
                }
                Ok(Denotes::Nothing)
            }
            Denotes::Lattice(_) => {
                let from = self.denote(rhs)?;
                let to = self.held_place(mark, to);
                let Denotes::Lattice(to) = to else { return Ok(Denotes::Nothing) };
                let Denotes::Lattice(from) = from else {
                    return Err(self.b.report(
                        Diagnostic::error(rhs.span, format!("a `{}` is needed here", to.lattice.name()))
                            .help(format!("or use a method: {}", super::lattice::method_list(&*to.lattice))),
                    ));
                };
                if op.is_some() {
                    return self.err(span, format!("there is no such assignment to a `{}`", to.lattice.name()));
                }
                if from.lattice.name() != to.lattice.name() {
                    let (a, b) = (from.lattice.name(), to.lattice.name());
                    return self.err(span, format!("`{a}` cannot be assigned to `{b}`"));
                }
                let s = self.b.copy_lattice(&to, &from);
                self.stmts.push(s);
                Ok(Denotes::Lattice(to))
            }
            Denotes::Value(_) | Denotes::Nothing | Denotes::Chan(_) => Ok(Denotes::Nothing),
        }
    }

    /// The place as it was before the statements behind the mark.
    fn still(&mut self, mark: usize, p: Place) -> Place {
        let index = self.held(mark, Value { term: p.index, kind: Kind::Int });
        Place { index, ..p }
    }

    /// `x++`, `--x`.
    pub fn step(&mut self, up: bool, prefix: bool, of: &Expr, span: Span, needed: bool) -> Res<Denotes> {
        let mut p = match self.denote(of)? {
            Denotes::Place(p) if matches!(p.ty, Ty::Int { .. }) => p,
            Denotes::Value(_) => return self.err(of.span, "a constant or an expression cannot be counted up or down"),
            found => {
                let found = found.describe();
                return self.err(of.span, format!("only integers can be counted up or down, and this is {found}"));
            }
        };
        self.may_write(&p, of.span, span)?;
        let old = self.b.read(&p);
        let old = if needed && !prefix { self.saved(old) } else { old };
        if needed && prefix {
            p = self.pinned(p);
        }
        let by = self.b.int(if up { 1 } else { -1 });
        let term = self.b.terms().add([old.term, by]);
        self.write(&p, Value { term, kind: Kind::Int }, span)?;
        Ok(if prefix { Denotes::Place(p) } else { old.into() })
    }

    fn may_write(&mut self, p: &Place, at: Span, whole: Span) -> Res<()> {
        if !p.writable {
            return self.err(at, "a constant cannot be assigned to");
        }
        let shared = p.leaves.iter().any(|v| self.b.leaves[v].shared);
        if shared && self.unit != Unit::Update {
            return self.only_updates(whole, "the state");
        }
        Ok(())
    }

    pub fn may_change_lattice(&mut self, span: Span) -> Res<()> {
        if self.unit == Unit::Update {
            return Ok(());
        }
        self.only_updates(span, "a lattice variable")
    }

    /// Says so where the function is called that does it, if one does.
    fn only_updates(&mut self, span: Span, what: &str) -> Res<()> {
        let (who, span) = match self.calls.first() {
            Some((f, call)) => (format!("`{}`", shorten(&f.ast.name.name)), *call),
            None => ("this".into(), span),
        };
        let d = Diagnostic::error(span, format!("{who} changes {what}, but only updates may do that"));
        Err(self.b.report(if self.calls.is_empty() { d.help("to compare, write `==`") } else { d }))
    }

    /// Says so if a constant does not fit. It is not refused: the assignment may never happen. It faults if it does.
    fn check_fits(&mut self, v: Value, p: &Place, span: Span) {
        if let (Kind::Int, Some(n), Some((lo, hi, false))) = (v.kind, self.b.constant_value(v), p.ty.scalar())
            && !(lo..=hi).contains(&n)
        {
            self.b.report(Diagnostic::warning(span, format!("{n} does not fit `{}`", p.ty.describe())));
        }
    }

    /// Writes a scalar, within its bounds or it faults.
    pub fn write(&mut self, p: &Place, v: Value, span: Span) -> Res<()> {
        let var = p.leaves[0];
        let leaf = &self.b.leaves[&var];
        let (lo, hi, is_bool, array) = (leaf.lo, leaf.hi, leaf.is_bool, leaf.array);
        let mut term = self.convert(v, Kind::of(&p.ty), span)?.term;
        if !is_bool {
            term = self.b.terms().checked(term, lo, hi);
        }
        if array {
            let whole = self.b.terms().var(var);
            term = self.b.terms().store(whole, p.index, term);
        }
        let s = self.b.terms().assign(var, term);
        self.stmts.push(s);
        Ok(())
    }

    /// Copies an array or a struct; answers where it is now. Source and target may overlap only by being the same.
    pub fn copy(&mut self, to: Place, from: Place, span: Span) -> Res<Place> {
        let (to, from) = (self.pinned(to), self.pinned(from));
        if !self.copy_whole(&to, &from) {
            self.b.spend(4 * to.ty.cells().unsigned_abs(), span)?;
            self.copy_cells(&to, &from, span)?;
        }
        Ok(to)
    }

    /// Copies whole variables of the same type at one go.
    fn copy_whole(&mut self, to: &Place, from: &Place) -> bool {
        let terms = &self.b.net.terms;
        let ty = |v: &VarId| terms.variable(*v).ty;
        if !self.b.is_whole(to) || !self.b.is_whole(from) || !to.leaves.iter().map(ty).eq(from.leaves.iter().map(ty)) {
            return false;
        }
        for (&a, &b) in to.leaves.iter().zip(&from.leaves) {
            let value = self.b.terms().var(b);
            let s = self.b.terms().assign(a, value);
            self.stmts.push(s);
        }
        true
    }

    fn copy_cells(&mut self, to: &Place, from: &Place, span: Span) -> Res<()> {
        match (&to.ty, &from.ty) {
            (Ty::Array(r, _), Ty::Array(s, _)) => {
                for i in 0..r.len {
                    let (a, b) = (self.b.constant_entry(to, r.lo + i), self.b.constant_entry(from, s.lo + i));
                    self.copy_cells(&a, &b, span)?;
                }
            }
            (Ty::Struct(_), Ty::Struct(_)) => {
                for ((_, a), (_, b)) in Builder::fields(to).iter().zip(&Builder::fields(from)) {
                    self.copy_cells(a, b, span)?;
                }
            }
            _ => {
                let v = self.b.read(from);
                self.write(to, v, span)?;
            }
        }
        Ok(())
    }
}
