//! Expressions for their effect: assignments, `++` and `--`, and what may be written where.

use trellis_expr::{TermId, VarId};

use super::expr::{Denotes, Lower, Unit};
use super::lattice::LatticePlace;
use super::place::Place;
use super::scope::{Entity, Kind, Value};
use super::types::Ty;
use super::{Builder, Res, ast, syntax};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
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

    /// `lhs = rhs`, `lhs += rhs`. What is assigned to, and what it holds, is settled before the right side runs. `needed`:
    /// the expression is part of a larger one, which looks at the outcome.
    pub fn assignment(&mut self, op: Option<BinOp>, lhs: &Expr, rhs: &Expr, span: Span, needed: bool) -> Res<Denotes> {
        if !needed && self.is_left_out(lhs) {
            return match [lhs, rhs].into_iter().all(syntax::is_pure) {
                true => Ok(Denotes::Nothing),
                false => self.err(span, "this does more than to change what is left out"),
            };
        }
        match self.denote(lhs)? {
            Denotes::Place(p) => {
                self.may_write(&p, lhs.span, span)?;
                match (p.ty.scalar(), op) {
                    _ if matches!(p.ty, Ty::Clock) => self.assign_clock(op, p, rhs, span),
                    (Some(_), _) => self.assign_number(op, p, lhs.span, rhs, needed),
                    (None, None) => {
                        let mark = self.stmts.len();
                        let from = self.aggregate(rhs, &p.ty)?;
                        let p = Place { index: self.held_index(mark, p.index), ..p };
                        Ok(Denotes::Place(self.copy(p, from, span)?))
                    }
                    (None, Some(_)) => {
                        let what = p.ty.describe();
                        self.err(lhs.span, format!("a number is needed to compute with, but this is `{what}`"))
                    }
                }
            }
            Denotes::Bit(l, i) => {
                self.may_change_lattice(span)?;
                if op.is_some() {
                    return self.err(span, "a bit can only be set: write `= 0` or `= 1`");
                }
                let mark = self.stmts.len();
                let v = self.integer(rhs)?;
                let i = self.held_index(mark, i);
                let l = LatticePlace { offset: self.held_index(mark, l.offset), ..l };
                let s = self.b.set_bit(&l, i, v);
                self.stmts.push(s);
                Ok(Denotes::Nothing)
            }
            Denotes::Lattice(l) => {
                self.may_change_lattice(span)?;
                if op.is_some() {
                    return self.err(span, format!("there is no such assignment to a `{}`", l.lattice.name()));
                }
                self.assign_lattice(l, rhs)
            }
            Denotes::Chan(_) => self.err(lhs.span, "a channel cannot be assigned to"),
            Denotes::Value(_) | Denotes::Nothing | Denotes::Linear(_) | Denotes::Constraint(_) => Err(self.b.report(
                Diagnostic::error(lhs.span, "this cannot be assigned to")
                    .help("a constant or an expression has no place to write to; did you mean `==`?"),
            )),
        }
    }

    /// Is this of something that is left out?
    pub fn is_left_out(&self, e: &Expr) -> bool {
        let found = syntax::root(e).and_then(|name| self.scope.find(name));
        matches!(found, Some(Entity::LeftOut(_)))
    }

    fn assign_number(&mut self, op: Option<BinOp>, p: Place, at: Span, rhs: &Expr, needed: bool) -> Res<Denotes> {
        let old = op.map(|op| (op, self.b.read(&p)));
        let mark = self.stmts.len();
        let mut v = self.value(rhs)?;
        if let Some((op, old)) = old {
            let old = Value { term: self.held(mark, old), ..old };
            v = self.operate(op, old, v, [at, rhs.span])?;
        } else if self.is_plain(rhs) {
            self.check_fits(v, &p, rhs.span);
        }
        let mut p = Place { index: self.held_index(mark, p.index), ..p };
        if needed {
            p = self.pinned(p);
        }
        self.write(&p, v, rhs.span)?;
        Ok(Denotes::Place(p))
    }

    fn assign_lattice(&mut self, to: LatticePlace, rhs: &Expr) -> Res<Denotes> {
        let mark = self.stmts.len();
        let found = self.denote(rhs)?;
        let to = LatticePlace { offset: self.held_index(mark, to.offset), ..to };
        let name = to.lattice.name();
        match found {
            Denotes::Lattice(from) if from.lattice.name() == name => {
                let s = self.b.copy_lattice(&to, &from);
                self.stmts.push(s);
                Ok(Denotes::Lattice(to))
            }
            found => {
                let d = Diagnostic::error(rhs.span, format!("a `{name}` is needed, but this is {}", found.describe()));
                let methods = super::lattice::method_list(&*to.lattice);
                Err(self.b.report(d.help(format!("or use a method: {methods}"))))
            }
        }
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
        let mut term = self.checked(v, &p.ty, span)?.term;
        if self.b.leaves[&var].array {
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
        if to.ty.has_clocks() || !self.copy_whole(&to, &from) {
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
            (Ty::Clock, _) => self.copy_clock(to, from, span)?,
            _ => {
                let v = self.b.read(from);
                self.write(to, v, span)?;
            }
        }
        Ok(())
    }

    /// Are all cells of an array or a struct those of another?
    pub fn same_cells(&mut self, one: Place, other: &Expr, span: Span) -> Res<TermId> {
        if one.ty.has_clocks() {
            return self.err(span, "structs and arrays with clocks in them cannot be compared");
        }
        // What the other side computes could change this one.
        let one = if is_path(other) {
            one
        } else {
            let local = self.b.local_place(&one.ty);
            self.copy(local, one, span)?
        };
        let other = self.aggregate(other, &one.ty)?;
        self.b.spend(4 * one.ty.cells().unsigned_abs(), span)?;
        let mut parts = Vec::new();
        self.compare_cells(&one, &other, span, &mut parts)?;
        Ok(self.b.terms().and(parts))
    }

    fn compare_cells(&mut self, one: &Place, other: &Place, span: Span, parts: &mut Vec<TermId>) -> Res<()> {
        match (&one.ty, &other.ty) {
            (Ty::Array(r, _), Ty::Array(s, _)) => {
                for i in 0..r.len {
                    let (a, b) = (self.b.constant_entry(one, r.lo + i), self.b.constant_entry(other, s.lo + i));
                    self.compare_cells(&a, &b, span, parts)?;
                }
            }
            (Ty::Struct(_), Ty::Struct(_)) => {
                for ((_, a), (_, b)) in Builder::fields(one).iter().zip(&Builder::fields(other)) {
                    self.compare_cells(a, b, span, parts)?;
                }
            }
            _ => {
                let (a, b) = (self.b.read(one), self.b.read(other));
                parts.push(self.operate(BinOp::Eq, a, b, [span, span])?.term);
            }
        }
        Ok(())
    }
}

/// Is it a variable or a part of one, found without computing anything?
fn is_path(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Name(_) => true,
        ExprKind::Field(of, _) => is_path(of),
        ExprKind::Index(of, i) => is_path(of) && (is_path(i) || matches!(i.kind, ExprKind::Int(_))),
        _ => false,
    }
}
