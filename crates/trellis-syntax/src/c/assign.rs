//! Assignments, `++` and `--`.

use lang_c::ast::{BinaryOperator, Expression};
use lang_c::span::{Node, Span as CSpan};

use trellis_expr::TermId;

use super::lower::{Lower, Lowered, Val};
use super::place::Place;
use super::purity::is_impure;
use super::types::CType;

impl Lower<'_> {
    /// The place of a left-hand side, which must stay the same while the right-hand side is evaluated.
    fn target(&mut self, lhs: &Node<Expression>, rhs: &Node<Expression>) -> Lowered<Place> {
        let place = self.steady(lhs)?;
        let keep = is_impure(rhs);
        let offset = place.offset.map(|t| if keep { self.save(t, lhs.span) } else { t });
        Ok(Place { offset, ..place })
    }

    /// The place of an expression, which stays the same when it is assigned to: `a[a[0]]`.
    fn steady(&mut self, e: &Node<Expression>) -> Lowered<Place> {
        let place = self.place_of(e)?;
        let moves = |t: &TermId| self.cfa.terms.free_vars(*t).contains(&place.var);
        match place.offset.filter(moves) {
            Some(t) => Ok(Place { offset: Some(self.save(t, e.span)), ..place }),
            None => Ok(place),
        }
    }

    /// `x = e`
    pub fn assign(&mut self, lhs: &Node<Expression>, rhs: &Node<Expression>, span: CSpan) -> Lowered<Val> {
        let place = self.target(lhs, rhs)?;
        let ty = self.integer_of(&place, lhs.span)?;
        if place.offset.is_none() && self.arbitrary_call(rhs) == Some(ty) {
            // `x = __VERIFIER_nondet_int()`
            let stmt = self.arbitrary(place.var, &CType::Int(ty));
            self.emit(stmt, span);
            return self.load(&place, span);
        }
        let v = self.value(rhs)?;
        let v = self.convert(v, ty);
        let stmt = self.store(&place, v);
        self.emit(stmt, span);
        self.load(&place, span)
    }

    /// `x += e`
    pub fn assign_with(
        &mut self,
        lhs: &Node<Expression>,
        op: &BinaryOperator,
        rhs: &Node<Expression>,
        span: CSpan,
    ) -> Lowered<Val> {
        let place = self.target(lhs, rhs)?;
        let old = self.load(&place, lhs.span)?;
        let old_kept = self.kept(old, rhs, span);
        let v = self.value(rhs)?;
        let v = self.arithmetic(op, old_kept, v, span)?;
        let v = self.convert(v, old.ty);
        let stmt = self.store(&place, v);
        self.emit(stmt, span);
        self.load(&place, span)
    }

    /// `++x`, `--x`: the new value.
    pub fn step(&mut self, operand: &Node<Expression>, up: bool, span: CSpan) -> Lowered<Val> {
        let place = self.steady(operand)?;
        self.step_place(&place, up, span)?;
        self.load(&place, span)
    }

    /// `x++`, `x--`: the old value.
    pub fn step_after(&mut self, operand: &Node<Expression>, up: bool, span: CSpan) -> Lowered<Val> {
        let mut place = self.place_of(operand)?;
        place.offset = place.offset.map(|t| self.save(t, span));
        let old = self.load(&place, span)?;
        let old = Val { term: self.save(old.term, span), ty: old.ty };
        self.step_place(&place, up, span)?;
        Ok(old)
    }

    fn step_place(&mut self, place: &Place, up: bool, span: CSpan) -> Lowered<()> {
        let old = self.load(place, span)?;
        let new = if old.ty.is_bool() {
            // As an int, and back: one more is true, one less is the opposite.
            let one = self.constant(old.ty.promoted(), 1);
            let op = if up { BinaryOperator::Plus } else { BinaryOperator::Minus };
            let v = self.arithmetic(&op, old, one, span)?;
            self.convert(v, old.ty)
        } else {
            // Words wrap in any width alike, so there is no need to promote.
            let one = self.number(old.ty, if up { 1 } else { -1 });
            Val { term: self.terms().add([old.term, one]), ty: old.ty }
        };
        let stmt = self.store(place, new);
        self.emit(stmt, span);
        Ok(())
    }
}
