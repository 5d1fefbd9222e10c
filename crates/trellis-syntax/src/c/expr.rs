//! Expressions: what has a value. Pure ones become terms; what happens in the others becomes edges, from left to right.

use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, ConditionalExpression, Constant, Expression, Integer, IntegerBase,
    IntegerSize, MemberOperator, UnaryOperator, UnaryOperatorExpression,
};
use lang_c::span::{Node, Span as CSpan};
use trellis_expr::{BitOp, Division, TermId};
use trellis_model::cfa::LocationId;

use super::Ints;
use super::checks::{Kind, Operation};
use super::decl::Name;
use super::lower::{Lower, Lowered, Val};
use super::purity::{character, is_impure, steps, string_of, wide_character, without_assignment};
use super::types::{CType, IntType};

impl Lower<'_> {
    /// The value of an expression that must have one.
    pub fn value(&mut self, e: &Node<Expression>) -> Lowered<Val> {
        match self.evaluate(e)? {
            Some(v) => Ok(v),
            None => self.error(e.span, "this has no value (it is `void`)"),
        }
    }

    /// Does what the expression does, and forgets its value.
    pub fn effect(&mut self, e: &Node<Expression>) -> Lowered<()> {
        match &e.node {
            Expression::UnaryOperator(u) if steps(&u.node.operator.node).is_some() => {
                let up = steps(&u.node.operator.node) == Some(true);
                self.step(&u.node.operand, up, e.span).map(|_| ())
            }
            Expression::Call(call) => self.call(call, false).map(|_| ()),
            Expression::Comma(parts) => parts.iter().try_for_each(|p| self.effect(p)),
            Expression::Cast(cast) => self.effect(&cast.node.expression),
            Expression::Statement(s) => self.statement_expression(s, false).map(|_| ()),
            Expression::Conditional(c) if is_impure(e) => {
                let [yes, no, after] = [(); 3].map(|()| self.location(e.span));
                self.branch(&c.node.condition, yes, no)?;
                for (at, part) in [(yes, &c.node.then_expression), (no, &c.node.else_expression)] {
                    self.at = Some(at);
                    self.effect(part)?;
                    self.jump(after, e.span);
                }
                self.at = Some(after);
                Ok(())
            }
            // Nothing is asked of a pure expression but that its names are declared, not even that its type is known: `(void) argv;`.
            Expression::Identifier(i)
                if self.lookup(&i.node.name).is_some() || i.node.name.starts_with("__builtin_") =>
            {
                Ok(())
            }
            Expression::StringLiteral(_) => Ok(()),
            _ => self.evaluate(e).map(|_| ()),
        }
    }

    /// The value of an expression; none for `void`.
    fn evaluate(&mut self, e: &Node<Expression>) -> Lowered<Option<Val>> {
        match &e.node {
            Expression::Constant(c) => self.literal(c).map(Some),
            Expression::Identifier(_) => self.read(e).map(Some),
            Expression::UnaryOperator(u) => self.unary(e, &u.node),
            Expression::BinaryOperator(b) => self.binary(e, &b.node),
            Expression::Conditional(c) => self.conditional(e, &c.node),
            Expression::Call(call) => self.call(call, true),
            Expression::Comma(parts) => {
                let Some((last, before)) = parts.split_last() else { return Ok(None) };
                before.iter().try_for_each(|p| self.effect(p))?;
                self.evaluate(last)
            }
            Expression::Cast(cast) => match self.type_name(&cast.node.type_name)? {
                CType::Void => self.effect(&cast.node.expression).map(|()| None),
                CType::Int(ty) if ty.is_bool() && self.is_pointer(&cast.node.expression) => {
                    let term = self.points(&cast.node.expression)?;
                    Ok(Some(Val { term, ty }))
                }
                CType::Int(ty) => {
                    let v = self.value(&cast.node.expression)?;
                    Ok(Some(self.convert(v, ty)))
                }
                ty => self.error(e.span, format!("a cast to {} is not supported", ty.describe())),
            },
            Expression::SizeOfTy(ty) => {
                let ty = self.type_name(&ty.node.0)?;
                self.size_of(&ty, e.span).map(Some)
            }
            Expression::SizeOfVal(inner) => {
                let ty = match string_of(&inner.node.0) {
                    Some(text) => CType::Array(CType::Int(IntType::CHAR).into(), Some(text.len() as u64 + 1)),
                    None => self.type_of(&inner.node.0)?,
                };
                self.size_of(&ty, e.span).map(Some)
            }
            Expression::AlignOf(ty) => {
                let preferred = self.map.scan.preferred.contains(&e.span.start);
                match self.align_of(&ty.node.0, preferred)? {
                    Some(align) => {
                        let size = self.size_type();
                        Ok(Some(self.constant(size, align.into())))
                    }
                    None => self.error(e.span, "the alignment of this is not known"),
                }
            }
            Expression::Statement(s) => self.statement_expression(s, true),
            Expression::StringLiteral(_) => self.error(e.span, "this is a string, where a number is expected"),
            Expression::Member(_) | Expression::CompoundLiteral(_) => self.read(e).map(Some),
            Expression::GenericSelection(_) => self.error(e.span, "`_Generic` is not supported"),
            Expression::OffsetOf(_) => self.error(e.span, "`offsetof` is not supported"),
            Expression::VaArg(_) => self.error(e.span, "variable arguments are not supported"),
        }
    }

    pub fn size_type(&self) -> IntType {
        IntType::long(self.options.data_model, false)
    }

    fn size_of(&mut self, ty: &CType, span: CSpan) -> Lowered<Val> {
        match self.layout(ty) {
            Some((bytes, _)) => {
                let size = self.size_type();
                Ok(self.constant(size, bytes.into()))
            }
            None => self.error(span, format!("the size of {} is not known", ty.describe())),
        }
    }

    fn literal(&mut self, c: &Node<Constant>) -> Lowered<Val> {
        match &c.node {
            Constant::Integer(i) => self.integer(i, c.span),
            Constant::Character(text) => match character(text) {
                Some(n) => Ok(self.constant(IntType::INT, n)),
                None => match wide_character(text) {
                    Some(('u', n)) => Ok(self.constant(IntType::short(false), n)),
                    Some(('U', n)) => Ok(self.constant(IntType::UINT, n)),
                    Some((_, n)) => Ok(self.constant(IntType::INT, n)),
                    None => self.error(c.span, "this character is not understood"),
                },
            },
            Constant::Float(_) => self.error(c.span, "floating-point numbers are not supported"),
        }
    }

    /// C11 6.4.4.1: the first type that can hold it.
    fn integer(&mut self, i: &Integer, span: CSpan) -> Lowered<Val> {
        let radix = match i.base {
            IntegerBase::Decimal => 10,
            IntegerBase::Octal => 8,
            IntegerBase::Hexadecimal => 16,
            IntegerBase::Binary => 2,
        };
        let digits = if i.number.is_empty() { "0" } else { &*i.number };
        if i.suffix.imaginary {
            return self.error(span, "complex numbers are not supported");
        }
        let Ok(n) = u64::from_str_radix(digits, radix) else {
            return self.error(span, "this number needs more than 64 bits");
        };
        let model = self.options.data_model;
        let pairs =
            |signed| [IntType { signed, ..IntType::INT }, IntType::long(model, signed), IntType::long_long(signed)];
        let least = match i.suffix.size {
            IntegerSize::Int => 0,
            IntegerSize::Long => 1,
            IntegerSize::LongLong => 2,
        };
        let fits = |ty: &IntType| ty.width == 64 && !ty.signed || n < 1 << (ty.width - u8::from(ty.signed));
        let (signed, unsigned) = (pairs(true), pairs(false));
        let candidates = (least..3).flat_map(|k| {
            let decimal = radix == 10 && !i.suffix.unsigned;
            [(!i.suffix.unsigned).then_some(signed[k]), (!decimal).then_some(unsigned[k])]
        });
        let found = candidates.flatten().find(fits);
        match found {
            Some(ty) => Ok(self.constant(ty, n.into())),
            // gcc takes 128 bits.
            None => self.error(span, "this number needs more than 64 bits: it has no suffix `u`"),
        }
    }

    fn unary(&mut self, e: &Node<Expression>, u: &UnaryOperatorExpression) -> Lowered<Option<Val>> {
        Ok(Some(match u.operator.node {
            UnaryOperator::PreIncrement => return self.step(&u.operand, true, e.span),
            UnaryOperator::PreDecrement => return self.step(&u.operand, false, e.span),
            UnaryOperator::PostIncrement => return self.step_after(&u.operand, true, e.span),
            UnaryOperator::PostDecrement => return self.step_after(&u.operand, false, e.span),
            UnaryOperator::Indirection => self.read(e)?,
            UnaryOperator::Address => return self.error(e.span, "this is a pointer, where a number is expected"),
            UnaryOperator::Negate => {
                let truth = self.condition(&u.operand)?;
                Val { term: self.terms().not(truth), ty: IntType::INT }
            }
            UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Complement => {
                let v = self.value(&u.operand)?;
                let v = self.promote(v);
                let term = self.plain(v);
                let term = match u.operator.node {
                    UnaryOperator::Plus => term,
                    UnaryOperator::Minus => {
                        let zero = self.number(v.ty, 0);
                        self.no_overflow(Operation::Subtract, v.ty, zero, term, e.span);
                        self.terms().neg(term)
                    }
                    _ => {
                        let ones = self.number(v.ty, -1);
                        if self.ints() == Ints::Math {
                            let minus = self.terms().neg(term);
                            self.terms().add([minus, ones])
                        } else {
                            self.terms().bit(BitOp::Xor, term, ones)
                        }
                    }
                };
                Val { term, ty: v.ty }
            }
        }))
    }

    /// The truth of an expression: a number that is not zero, a pointer that is not null.
    pub fn condition(&mut self, e: &Node<Expression>) -> Lowered<TermId> {
        if self.is_pointer(e) {
            return self.points(e);
        }
        let v = self.value(e)?;
        Ok(self.truth(v))
    }

    fn promote(&mut self, v: Val) -> Val {
        self.convert(v, v.ty.promoted())
    }

    fn binary(&mut self, e: &Node<Expression>, b: &BinaryOperatorExpression) -> Lowered<Option<Val>> {
        use BinaryOperator as B;
        let between_pointers = match b.operator.node {
            B::Equals | B::NotEquals | B::Less | B::Greater | B::LessOrEqual | B::GreaterOrEqual => {
                self.is_pointer(&b.lhs) || self.is_pointer(&b.rhs)
            }
            B::Minus => self.is_pointer(&b.lhs) && self.is_pointer(&b.rhs),
            _ => false,
        };
        if between_pointers {
            return self.compare(&b.operator.node, &b.lhs, &b.rhs, e.span).map(Some);
        }
        Ok(Some(match b.operator.node {
            B::Index => self.read(e)?,
            B::Assign => return self.assign(&b.lhs, &b.rhs, e.span),
            B::LogicalAnd | B::LogicalOr => self.connective(e, b)?,
            ref op => {
                if let Some(op) = without_assignment(op) {
                    return self.assign_with(&b.lhs, op, &b.rhs, e.span);
                }
                let left = self.value(&b.lhs)?;
                let left = self.kept(left, &b.rhs, e.span);
                let right = self.value(&b.rhs)?;
                self.arithmetic(op, left, right, e.span)?
            }
        }))
    }

    /// The value, kept in a temporary if the other expression may change what it depends on.
    pub fn kept(&mut self, v: Val, other: &Node<Expression>, span: CSpan) -> Val {
        if is_impure(other) { Val { term: self.save(v.term, span), ty: v.ty } } else { v }
    }

    /// `a && b`, `a || b` as values.
    fn connective(&mut self, e: &Node<Expression>, b: &BinaryOperatorExpression) -> Lowered<Val> {
        let and = b.operator.node == BinaryOperator::LogicalAnd;
        if is_impure(&b.rhs) {
            return self.decided(e);
        }
        let left = self.condition(&b.lhs)?;
        let before = self.defs.len();
        let right = self.condition(&b.rhs)?;
        let when = if and { left } else { self.terms().not(left) };
        self.only_when(when, before);
        let term = if and { self.terms().and([left, right]) } else { self.terms().or([left, right]) };
        Ok(Val { term, ty: IntType::INT })
    }

    /// What must hold since `before` must hold only under a condition.
    fn only_when(&mut self, when: TermId, before: usize) {
        for d in before..self.defs.len() {
            let def = self.defs[d].term;
            self.defs[d].term = self.terms().implies(when, def);
        }
    }

    /// The truth of a condition in which something happens, as a value.
    fn decided(&mut self, e: &Node<Expression>) -> Lowered<Val> {
        let [yes, no, after] = [(); 3].map(|()| self.location(e.span));
        let v = self.temporary(trellis_expr::Type::Bool);
        self.branch(e, yes, no)?;
        for (at, truth) in [(yes, true), (no, false)] {
            self.at = Some(at);
            let truth = self.terms().bool(truth);
            let stmt = self.terms().assign(v, truth);
            self.leave(stmt, after, e.span);
        }
        self.at = Some(after);
        Ok(Val { term: self.terms().var(v), ty: IntType::INT })
    }

    /// Goes one way if the condition holds, and the other if not.
    pub fn branch(&mut self, e: &Node<Expression>, yes: LocationId, no: LocationId) -> Lowered<()> {
        match &e.node {
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Negate => {
                return self.branch(&u.node.operand, no, yes);
            }
            Expression::BinaryOperator(b) if is_impure(&b.node.rhs) => {
                let middle = match b.node.operator.node {
                    BinaryOperator::LogicalAnd => {
                        let middle = self.location(b.node.rhs.span);
                        self.branch(&b.node.lhs, middle, no)?;
                        Some(middle)
                    }
                    BinaryOperator::LogicalOr => {
                        let middle = self.location(b.node.rhs.span);
                        self.branch(&b.node.lhs, yes, middle)?;
                        Some(middle)
                    }
                    _ => None,
                };
                if middle.is_some() {
                    self.at = middle;
                    return self.branch(&b.node.rhs, yes, no);
                }
            }
            Expression::Comma(parts) => {
                if let Some((last, before)) = parts.split_last() {
                    before.iter().try_for_each(|p| self.effect(p))?;
                    return self.branch(last, yes, no);
                }
            }
            _ => {}
        }
        let mark = self.mark();
        let truth = self.condition(e)?;
        self.fork(truth, yes, no, e.span);
        self.release(mark);
        Ok(())
    }

    fn conditional(&mut self, e: &Node<Expression>, c: &ConditionalExpression) -> Lowered<Option<Val>> {
        let ty = match self.type_of(e)? {
            CType::Void => return self.effect(e).map(|()| None),
            CType::Int(ty) => ty,
            ty => return self.error(e.span, format!("this is {}, which is not supported here", ty.describe())),
        };
        let (yes, no) = (&c.then_expression, &c.else_expression);
        if !is_impure(yes) && !is_impure(no) {
            let condition = self.condition(&c.condition)?;
            let not = self.terms().not(condition);
            let mut values = [condition; 2];
            for (k, (when, part)) in [(condition, yes), (not, no)].into_iter().enumerate() {
                let before = self.defs.len();
                let v = self.value(part)?;
                let v = self.convert(v, ty);
                self.only_when(when, before);
                values[k] = self.plain(v);
            }
            let term = self.terms().ite(condition, values[0], values[1]);
            return Ok(Some(Val { term, ty }));
        }
        let [at_yes, at_no, after] = [(); 3].map(|()| self.location(e.span));
        let v = self.temporary(ty.sort(self.ints()));
        self.branch(&c.condition, at_yes, at_no)?;
        for (at, part) in [(at_yes, yes), (at_no, no)] {
            self.at = Some(at);
            let value = self.value(part)?;
            let value = self.convert(value, ty);
            let value = self.plain(value);
            let stmt = self.terms().assign(v, value);
            self.leave(stmt, after, part.span);
        }
        self.at = Some(after);
        Ok(Some(Val { term: self.terms().var(v), ty }))
    }

    /// A binary operator on values, with C's conversions.
    pub fn arithmetic(&mut self, op: &BinaryOperator, left: Val, right: Val, span: CSpan) -> Lowered<Val> {
        use BinaryOperator as B;
        if let B::ShiftLeft | B::ShiftRight = op {
            return Ok(self.shift(*op == B::ShiftLeft, left, right, span));
        }
        let ty = left.ty.common(right.ty);
        let (a, b) = (self.convert(left, ty), self.convert(right, ty));
        if let B::Equals | B::NotEquals = op
            && self.is_truth(a)
            && self.is_truth(b)
        {
            let terms = self.terms();
            let equal = terms.eq(a.term, b.term);
            return Ok(Val { term: if *op == B::Equals { equal } else { terms.not(equal) }, ty: IntType::INT });
        }
        let (a, b) = (self.plain(a), self.plain(b));
        if let B::Divide | B::Modulo = op {
            self.divisible(ty, a, b, span);
        }
        let operation = match op {
            B::Plus => Some(Operation::Add),
            B::Minus => Some(Operation::Subtract),
            B::Multiply => Some(Operation::Multiply),
            _ => None,
        };
        if let Some(operation) = operation {
            self.no_overflow(operation, ty, a, b, span);
        }
        let math = self.ints() == Ints::Math;
        let terms = self.terms();
        let truth = |term| Ok(Val { term, ty: IntType::INT });
        let term = match op {
            B::Less => return truth(terms.lt(a, b)),
            B::Greater => return truth(terms.lt(b, a)),
            B::LessOrEqual => return truth(terms.le(a, b)),
            B::GreaterOrEqual => return truth(terms.le(b, a)),
            B::Equals => return truth(terms.eq(a, b)),
            B::NotEquals => return truth(terms.ne(a, b)),
            B::Plus => terms.add([a, b]),
            B::Minus => terms.sub(a, b),
            B::Multiply => terms.mul(a, b),
            B::Divide => terms.div(Division::Truncating, a, b),
            B::Modulo => terms.rem(Division::Truncating, a, b),
            B::BitwiseAnd if math => return Ok(Val { term: self.math_and(a, b), ty }),
            B::BitwiseAnd => terms.bit(BitOp::And, a, b),
            B::BitwiseOr => terms.bit(BitOp::Or, a, b),
            B::BitwiseXor => terms.bit(BitOp::Xor, a, b),
            _ => return self.error(span, "this operator is not expected here"),
        };
        Ok(Val { term, ty })
    }

    /// `x & 7` is the remainder by 8.
    fn math_and(&mut self, a: TermId, b: TermId) -> TermId {
        let terms = self.terms();
        for (x, mask) in [(a, b), (b, a)] {
            if let Some(m) = terms.as_int(mask)
                && let Some(modulus) = m.checked_add(1).filter(|m| *m > 0 && m & (m - 1) == 0)
            {
                let modulus = terms.int(modulus);
                return terms.rem(Division::Euclidean, x, modulus);
            }
        }
        terms.bit(BitOp::And, a, b)
    }

    fn shift(&mut self, left: bool, a: Val, by: Val, span: CSpan) -> Val {
        let (a, by) = (self.promote(a), self.promote(by));
        let (term, distance) = (self.plain(a), self.plain(by));
        // 0 ≤ distance < width
        let zero = self.number(by.ty, 0);
        let width = self.number(by.ty, a.ty.width.into());
        let (low, high) = (self.terms().le(zero, distance), self.terms().lt(distance, width));
        let defined = self.terms().and([low, high]);
        let certain = self.cfa.terms.as_bool(defined) == Some(true);
        let bits = a.ty.width;
        self.must(defined, Kind::Shift, span, |s| format!("{}: shift of {bits} bits by too many", s.snippet(span)));
        if left {
            self.no_lost_bits(a, distance, by.ty, span);
        }
        let distance = self.convert(Val { term: distance, ty: by.ty }, a.ty).term;
        let math = self.ints() == Ints::Math;
        let terms = self.terms();
        let term = match terms.as_int(distance) {
            // In mathematics, a product or a quotient rounded down.
            Some(n) if math && certain => {
                let power = terms.big(dashu_int::IBig::ONE << n as usize);
                if left { terms.mul(term, power) } else { terms.div(Division::Euclidean, term, power) }
            }
            _ => terms.bit(if left { BitOp::Shl } else { BitOp::Shr }, term, distance),
        };
        Val { term, ty: a.ty }
    }

    /// The type of an expression, which is not evaluated.
    pub fn type_of(&mut self, e: &Node<Expression>) -> Lowered<CType> {
        use BinaryOperator as B;
        let int = |ty| Ok(CType::Int(ty));
        Ok(match &e.node {
            Expression::Identifier(i) => match self.lookup(&i.node.name) {
                Some(Name::Variable(object)) => object.ty.clone(),
                Some(Name::Odd(ty)) => ty.clone(),
                Some(Name::Reference(place)) => CType::Pointer(place.ty.clone().into()),
                Some(Name::Constant(_, ty)) => CType::Int(*ty),
                Some(Name::Global) => self.unit.type_of(&i.node.name),
                Some(Name::Type(_)) | None => return self.error(e.span, format!("`{}` is not declared", i.node.name)),
            },
            Expression::Constant(c) => match &c.node {
                Constant::Float(_) => CType::other("a floating-point number"),
                _ => CType::Int(self.literal(c)?.ty),
            },
            Expression::StringLiteral(_) => {
                let Some(text) = string_of(e) else { return self.error(e.span, "this string is not understood") };
                CType::Array(CType::Int(IntType::CHAR).into(), Some(text.len() as u64 + 1))
            }
            Expression::SizeOfTy(_) | Expression::SizeOfVal(_) | Expression::AlignOf(_) | Expression::OffsetOf(_) => {
                return int(self.size_type());
            }
            Expression::Cast(cast) => self.type_name(&cast.node.type_name)?,
            Expression::CompoundLiteral(literal) => self.type_name(&literal.node.type_name)?,
            Expression::Member(m) => {
                let outer = self.type_of(&m.node.expression)?;
                let outer = match (outer, &m.node.operator.node) {
                    (CType::Pointer(to) | CType::Array(to, _), MemberOperator::Indirect) => (*to).clone(),
                    (ty, _) => ty,
                };
                self.member(&outer, &m.node.identifier.node.name, e.span)?.0
            }
            Expression::Comma(parts) => match parts.last() {
                Some(last) => self.type_of(last)?,
                None => CType::Void,
            },
            Expression::Call(call) => self.call_type(call)?,
            Expression::Statement(s) => self.statement_type(s)?,
            Expression::Conditional(c) => {
                let (a, b) = (self.type_of(&c.node.then_expression)?, self.type_of(&c.node.else_expression)?);
                match (a, b) {
                    (CType::Int(a), CType::Int(b)) => CType::Int(a.common(b)),
                    (CType::Void, _) | (_, CType::Void) => CType::Void,
                    (CType::Pointer(to), CType::Pointer(other)) if *to == CType::Void => CType::Pointer(other),
                    (CType::Int(_), other) | (other, _) => other.adjusted(),
                }
            }
            Expression::UnaryOperator(u) => {
                let ty = self.type_of(&u.node.operand)?;
                match (&u.node.operator.node, ty) {
                    (UnaryOperator::Negate, _) => CType::Int(IntType::INT),
                    (UnaryOperator::Address, ty) => CType::Pointer(ty.into()),
                    (UnaryOperator::Indirection, CType::Array(to, _) | CType::Pointer(to)) => (*to).clone(),
                    (UnaryOperator::Indirection, _) => CType::other("behind a pointer"),
                    (UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Complement, CType::Int(ty)) => {
                        CType::Int(ty.promoted())
                    }
                    (_, ty) => ty,
                }
            }
            Expression::BinaryOperator(b) => match b.node.operator.node {
                B::Less | B::Greater | B::LessOrEqual | B::GreaterOrEqual | B::Equals | B::NotEquals => {
                    return int(IntType::INT);
                }
                B::LogicalAnd | B::LogicalOr => return int(IntType::INT),
                B::Assign => self.type_of(&b.node.lhs)?,
                ref op if without_assignment(op).is_some() => self.type_of(&b.node.lhs)?,
                B::Index => match self.type_of(&b.node.lhs)? {
                    CType::Array(to, _) | CType::Pointer(to) => (*to).clone(),
                    _ => CType::other("behind a pointer"),
                },
                ref op => match (self.type_of(&b.node.lhs)?, self.type_of(&b.node.rhs)?) {
                    (CType::Int(a), CType::Int(_)) if matches!(op, B::ShiftLeft | B::ShiftRight) => {
                        CType::Int(a.promoted())
                    }
                    (CType::Int(a), CType::Int(b)) => CType::Int(a.common(b)),
                    (CType::Pointer(_) | CType::Array(..), CType::Pointer(_) | CType::Array(..)) => {
                        CType::Int(IntType::long(self.options.data_model, true))
                    }
                    (CType::Int(_), other) | (other, _) => other.adjusted(),
                },
            },
            _ => CType::other("of an unknown type"),
        })
    }
}
