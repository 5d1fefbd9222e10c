//! Assignments, `++` and `--`.

use lang_c::ast::{BinaryOperator, Expression};
use lang_c::span::{Node, Span as CSpan};

use super::checks::Operation;
use super::lower::{Lower, Lowered, Val};
use super::place::{Base, Place};
use super::purity::is_impure;
use super::types::CType;

impl Lower<'_> {
    /// The place of a left-hand side, which must stay the same while the right-hand side is evaluated.
    fn target(&mut self, lhs: &Node<Expression>, rhs: &Node<Expression>) -> Lowered<Place> {
        let place = self.steady(lhs)?;
        Ok(if is_impure(rhs) { self.steadied(place, lhs.span) } else { place })
    }

    /// The place of an expression, which stays the same when it is assigned to: `a[a[0]]`.
    fn steady(&mut self, e: &Node<Expression>) -> Lowered<Place> {
        let place = self.place_of(e)?;
        let address = match &place.base {
            Base::Behind(address, _) => Some(*address),
            Base::Object(_) => None,
        };
        let all: Vec<_> = place.steps.iter().map(|s| s.index.term).chain(address).collect();
        let touched = self.touched(&place)?;
        let moves = all.iter().any(|t| self.cfa.terms.free_vars(*t).iter().any(|v| touched.contains(v)));
        Ok(if moves { self.steadied(place, e.span) } else { place })
    }

    /// `x = e`; its value if it is a number.
    pub fn assign(&mut self, lhs: &Node<Expression>, rhs: &Node<Expression>, span: CSpan) -> Lowered<Option<Val>> {
        let place = self.target(lhs, rhs)?;
        match place.ty.clone() {
            CType::Pointer(to) => {
                let (address, _) = self.pointer(rhs, Some(&to))?;
                self.store_term(&place, address, lhs.span, span)?;
                return Ok(None);
            }
            CType::Struct(_) => {
                self.assign_structure(&place, rhs, span)?;
                return Ok(None);
            }
            _ => {}
        }
        let ty = self.integer_of(&place, lhs.span)?;
        if let Some(v) = place.variable()
            && self.arbitrary_call(rhs) == Some(ty)
        {
            // `x = __VERIFIER_nondet_int()`
            let any = self.arbitrary(v, &CType::Int(ty));
            let set = self.set_flag(v, None);
            let stmt = self.terms().seq([any, set]);
            self.emit(stmt, span);
            return self.reload(&place, span).map(Some);
        }
        let v = self.value(rhs)?;
        let v = self.convert(v, ty);
        self.store(&place, v, lhs.span, span)?;
        self.reload(&place, span).map(Some)
    }

    /// Copies a structure.
    pub fn assign_structure(&mut self, place: &Place, rhs: &Node<Expression>, span: CSpan) -> Lowered<()> {
        let from = self.structure_at(rhs, &place.ty)?;
        let values = self.snapshot(&from, rhs.span)?;
        let mut flags = self.flags_of(&from)?;
        for flag in &mut flags {
            *flag = self.save(*flag, span);
        }
        self.spread(place, values, span)?;
        self.spread_flags(place, &flags, span)
    }

    /// The leaves of a structure.
    pub fn structure_of(&mut self, e: &Node<Expression>, ty: &CType) -> Lowered<Vec<trellis_expr::TermId>> {
        let from = self.structure_at(e, ty)?;
        self.snapshot(&from, e.span)
    }

    /// Where a structure is.
    fn structure_at(&mut self, e: &Node<Expression>, ty: &CType) -> Lowered<Place> {
        let from = self.place_of(e)?;
        if from.ty != *ty {
            return self.error(e.span, format!("this is {}, not the structure that is expected", from.ty.describe()));
        }
        Ok(from)
    }

    /// `x += e`; its value if it is a number.
    pub fn assign_with(
        &mut self,
        lhs: &Node<Expression>,
        op: &BinaryOperator,
        rhs: &Node<Expression>,
        span: CSpan,
    ) -> Lowered<Option<Val>> {
        let place = self.target(lhs, rhs)?;
        if let (CType::Pointer(_), BinaryOperator::Plus | BinaryOperator::Minus) = (&place.ty, op) {
            let by = self.value(rhs)?;
            self.move_pointer(&place, by, *op == BinaryOperator::Minus, span)?;
            return Ok(None);
        }
        let old = self.load(&place, lhs.span)?;
        let old_kept = self.kept(old, rhs, span);
        let v = self.value(rhs)?;
        let v = self.arithmetic(op, old_kept, v, span)?;
        let v = self.convert(v, old.ty);
        self.overwrite(&place, v, span)?;
        self.reload(&place, span).map(Some)
    }

    /// `++x`, `--x`: the new value.
    pub fn step(&mut self, operand: &Node<Expression>, up: bool, span: CSpan) -> Lowered<Option<Val>> {
        let place = self.steady(operand)?;
        if let CType::Pointer(_) = place.ty {
            self.step_pointer(&place, up, span)?;
            return Ok(None);
        }
        let old = self.load(&place, span)?;
        self.step_place(&place, old, up, span)?;
        self.reload(&place, span).map(Some)
    }

    /// `x++`, `x--`: the old value.
    pub fn step_after(&mut self, operand: &Node<Expression>, up: bool, span: CSpan) -> Lowered<Option<Val>> {
        let place = self.place_of(operand)?;
        let place = self.steadied(place, span);
        if let CType::Pointer(_) = place.ty {
            self.step_pointer(&place, up, span)?;
            return Ok(None);
        }
        let old = self.load(&place, span)?;
        let old = Val { term: self.save(old.term, span), ty: old.ty };
        self.step_place(&place, old, up, span)?;
        Ok(Some(old))
    }

    fn step_place(&mut self, place: &Place, old: Val, up: bool, span: CSpan) -> Lowered<()> {
        let new = if old.ty.is_bool() {
            // As an int, and back: one more is true, one less is the opposite.
            let one = self.constant(old.ty.promoted(), 1);
            let op = if up { BinaryOperator::Plus } else { BinaryOperator::Minus };
            let v = self.arithmetic(&op, old, one, span)?;
            self.convert(v, old.ty)
        } else {
            // Words wrap in any width alike, so there is no need to promote.
            let one = self.number(old.ty, if up { 1 } else { -1 });
            if old.ty.promoted() == old.ty {
                self.no_overflow(Operation::Add, old.ty, old.term, one, span);
            }
            Val { term: self.terms().add([old.term, one]), ty: old.ty }
        };
        self.overwrite(place, new, span)
    }
}
