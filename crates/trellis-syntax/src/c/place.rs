//! Places: what can be assigned to. A variable, or an entry of an array.

use std::rc::Rc;

use lang_c::ast::{BinaryOperator, Expression, UnaryOperator};
use lang_c::span::{Node, Span as CSpan};
use trellis_expr::{StmtId, TermId, Type, VarId};

use super::decl::Name;
use super::lower::{Lower, Lowered, Val};
use super::purity::is_impure;
use super::types::{CType, IntType};

/// A variable or a part of it.
#[derive(Debug, Clone)]
pub struct Place {
    pub var: VarId,
    pub ty: CType,
    /// For a part of an array: how many things of this type come before it.
    pub offset: Option<TermId>,
}

impl Place {
    /// The type of a parameter that is bound to this place: it does not know how long the array is.
    pub fn pointed(&self) -> CType {
        match &self.ty {
            CType::Array(entry, _) => CType::Array(entry.clone(), None),
            _ => CType::Pointer(self.entry_type()),
        }
    }

    /// The type of what a reference to this place points to: the first entry of an array.
    pub fn entry_type(&self) -> Rc<CType> {
        match &self.ty {
            CType::Array(entry, _) => entry.clone(),
            ty => Rc::new(ty.clone()),
        }
    }
}

impl Lower<'_> {
    /// The place an expression denotes.
    pub fn place_of(&mut self, e: &Node<Expression>) -> Lowered<Place> {
        match &e.node {
            Expression::Identifier(i) => {
                let name = i.node.name.as_str();
                match self.lookup(name).cloned() {
                    Some(Name::Variable(var, ty)) => Ok(Place { var, ty, offset: None }),
                    Some(Name::Global) => {
                        let (var, ty) = self.global(name, e.span)?;
                        Ok(Place { var, ty, offset: None })
                    }
                    Some(Name::Reference(_)) => self.refuse(e.span, name, &CType::other("a reference (a pointer)")),
                    Some(Name::Odd(ty)) => self.refuse(e.span, name, &ty),
                    Some(Name::Constant(_)) => self.error(e.span, format!("`{name}` is a constant")),
                    Some(Name::Type(_)) => self.error(e.span, format!("`{name}` is a type")),
                    None => self.error(e.span, format!("`{name}` is not declared")),
                }
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                let mut base = self.entries_of(&b.node.lhs)?;
                if is_impure(&b.node.rhs) {
                    base.offset = base.offset.map(|t| self.save(t, e.span));
                }
                let index = self.value(&b.node.rhs)?;
                self.entry(base, index, e.span)
            }
            Expression::UnaryOperator(u) if u.node.operator.node == UnaryOperator::Indirection => {
                let base = self.entries_of(&u.node.operand)?;
                let zero = self.constant(IntType::INT, 0);
                self.entry(base, zero, e.span)
            }
            Expression::Member(_) => self.error(e.span, "structures and unions are not supported"),
            Expression::CompoundLiteral(_) => self.error(e.span, "compound literals are not supported"),
            _ => self.error(e.span, "this is not a variable"),
        }
    }

    /// The array that an expression denotes, before `[i]`; or what a reference refers to.
    fn entries_of(&mut self, e: &Node<Expression>) -> Lowered<Place> {
        if let Expression::Identifier(i) = &e.node
            && let Some(Name::Reference(place)) = self.lookup(&i.node.name)
        {
            return Ok(place.clone());
        }
        if let Expression::BinaryOperator(b) = &e.node
            && let BinaryOperator::Plus | BinaryOperator::Minus = b.node.operator.node
        {
            return self.error(e.span, "pointers are not supported: this is arithmetic on them");
        }
        let place = self.place_of(e)?;
        match place.ty {
            CType::Array(..) => Ok(place),
            _ => self.error(e.span, "this is not an array"),
        }
    }

    /// An entry of an array. That the index is within it is noted.
    fn entry(&mut self, base: Place, index: Val, span: CSpan) -> Lowered<Place> {
        let index = self.convert(index, index.ty.promoted());
        let i = self.plain(index);
        let (entry, n) = match &base.ty {
            CType::Array(entry, Some(n)) => ((**entry).clone(), *n),
            CType::Array(_, None) => return self.error(span, "the size of this array is not known"),
            // `p[0]` for a reference to a single variable.
            ty => {
                let zero = self.number(index.ty, 0);
                let defined = self.terms().eq(i, zero);
                if base.offset.is_some() && self.cfa.terms.as_bool(defined) != Some(true) {
                    return self.error(span, "pointers are not supported: this goes on from one entry to others");
                }
                self.must(defined);
                return Ok(Place { ty: ty.clone(), ..base });
            }
        };
        let zero = self.number(index.ty, 0);
        let low = self.terms().le(zero, i);
        self.must(low);
        let most = (1u128 << (index.ty.width - u8::from(index.ty.signed))) - 1;
        if u128::from(n) <= most {
            let size = self.number(index.ty, n.into());
            let high = self.terms().lt(i, size);
            self.must(high);
        }
        let Type::Array(sort, _) = self.cfa.terms.variable(base.var).ty else {
            return self.error(span, "this is not an array");
        };
        let terms = &mut self.cfa.terms;
        let sort = terms.sort(terms.type_of_id(sort));
        let mut offset = terms.convert(sort, i);
        if let Some(outer) = base.offset {
            let n = terms.number(sort, n.into());
            let before = terms.mul(outer, n);
            offset = terms.add([before, offset]);
        }
        Ok(Place { var: base.var, ty: entry, offset: Some(offset) })
    }

    /// Notes what must hold for a term to have a value.
    fn must(&mut self, defined: TermId) {
        if self.cfa.terms.as_bool(defined) != Some(true) {
            self.defs.push(defined);
        }
    }

    /// The integer type of a place.
    pub fn integer_of(&mut self, place: &Place, span: CSpan) -> Lowered<IntType> {
        match &place.ty {
            CType::Int(ty) => Ok(*ty),
            CType::Array(..) => self.error(span, "pointers are not supported: an array is used as one"),
            ty => self.error(span, format!("this is {}, which is not supported here", ty.describe())),
        }
    }

    /// The value in a place.
    pub fn load(&mut self, place: &Place, span: CSpan) -> Lowered<Val> {
        let ty = self.integer_of(place, span)?;
        let terms = self.terms();
        let var = terms.var(place.var);
        let term = match place.offset {
            Some(i) => terms.select(var, i),
            None => var,
        };
        Ok(Val { term, ty })
    }

    /// Puts a value into a place.
    pub fn store(&mut self, place: &Place, v: Val) -> StmtId {
        let value = self.plain(v);
        let terms = self.terms();
        let value = match place.offset {
            Some(i) => {
                let array = terms.var(place.var);
                terms.store(array, i, value)
            }
            None => value,
        };
        terms.assign(place.var, value)
    }

    /// The value of a name, an entry, or what a reference refers to.
    pub fn read(&mut self, e: &Node<Expression>) -> Lowered<Val> {
        if let Expression::Identifier(i) = &e.node
            && let Some(&Name::Constant(n)) = self.lookup(&i.node.name)
        {
            // C11 6.7.2.2: members have type int. gcc gives larger ones a larger type.
            let ty = match i32::try_from(n) {
                Ok(_) => IntType::INT,
                Err(_) if u32::try_from(n).is_ok() => IntType::UINT,
                Err(_) => IntType::long_long(true),
            };
            return Ok(self.constant(ty, n));
        }
        let place = self.place_of(e)?;
        self.load(&place, e.span)
    }

    /// Can the value depend on no variable? (Then it may be a constant expression.)
    pub fn is_closed(&self, e: &Node<Expression>) -> bool {
        match &e.node {
            Expression::Constant(_) => true,
            Expression::SizeOfTy(_) | Expression::SizeOfVal(_) | Expression::AlignOf(_) => true,
            Expression::Identifier(i) => matches!(self.lookup(&i.node.name), Some(Name::Constant(_))),
            Expression::Cast(c) => self.is_closed(&c.node.expression),
            Expression::UnaryOperator(u) => !is_impure(e) && self.is_closed(&u.node.operand),
            Expression::BinaryOperator(b) => {
                !is_impure(e) && self.is_closed(&b.node.lhs) && self.is_closed(&b.node.rhs)
            }
            Expression::Conditional(c) => {
                let c = &c.node;
                self.is_closed(&c.condition) && self.is_closed(&c.then_expression) && self.is_closed(&c.else_expression)
            }
            _ => false,
        }
    }
}
