//! Builders of terms. They fold constants and drop neutral elements where that cannot hide a fault.
//!
//! What is folded is what [`crate::eval`] computes, by the same function. They do not simplify: a term comes out
//! recognisably as it went in. That is `simplify`'s business.

use std::sync::Arc;

use dashu_int::IBig;
use rustc_hash::FxHashSet;

use crate::code::NoHost;
use crate::eval::apply;
use crate::term::{BitOp, Division, EnumId, FnId, Term, TermId, Terms, Type, VarId};
use crate::value::Value;

impl Terms {
    /// `true` or `false`.
    pub fn bool(&mut self, b: bool) -> TermId {
        self.intern(Term::Bool(b))
    }

    /// An integer.
    pub fn int(&mut self, n: i64) -> TermId {
        self.intern(Term::Int(n))
    }

    /// An integer of any size.
    pub fn big(&mut self, n: IBig) -> TermId {
        self.intern(Term::Big(Arc::new(n)))
    }

    /// A literal of an enumeration.
    pub fn enum_lit(&mut self, e: EnumId, n: u32) -> TermId {
        self.intern(Term::EnumLit(e, n))
    }

    /// A fixed-width literal; bits beyond the width are cut off.
    pub fn bits(&mut self, width: u8, signed: bool, bits: u64) -> TermId {
        self.intern(Term::Bits(width, signed, bits))
    }

    /// The literal of a scalar value; none for an array.
    pub fn literal(&mut self, value: &Value) -> Option<TermId> {
        match *value {
            Value::Bool(b) => Some(self.bool(b)),
            Value::Int(ref n) => Some(self.big(n.clone())),
            Value::Enum(e, n) => Some(self.enum_lit(e, n)),
            Value::Bits { width, signed, bits } => Some(self.bits(width, signed, bits)),
            Value::Array(_) => None,
        }
    }

    /// A variable's value.
    pub fn var(&mut self, v: VarId) -> TermId {
        self.intern(Term::Var(v))
    }

    /// The constant truth value of a term, if it is one.
    pub fn as_bool(&self, t: TermId) -> Option<bool> {
        match *self.get(t) {
            Term::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// The constant integer of a term, if it is one that fits a machine word.
    pub fn as_int(&self, t: TermId) -> Option<i64> {
        match *self.get(t) {
            Term::Int(n) => Some(n),
            _ => None,
        }
    }

    /// The value of a literal.
    pub fn as_value(&self, t: TermId) -> Option<Value> {
        match *self.get(t) {
            Term::Bool(b) => Some(Value::Bool(b)),
            Term::Int(n) => Some(Value::Int(n.into())),
            Term::Big(ref n) => Some(Value::Int((**n).clone())),
            Term::EnumLit(e, n) => Some(Value::Enum(e, n)),
            Term::Bits(width, signed, bits) => Some(Value::Bits { width, signed, bits }),
            _ => None,
        }
    }

    /// Interns the node, or the literal it amounts to.
    fn fold(&mut self, node: Term) -> TermId {
        let values: Option<Vec<Value>> = self.children_of(&node).iter().map(|&c| self.as_value(c)).collect();
        match values.map(|values| apply(self, &node, values, &mut NoHost)) {
            Some(Ok(value)) => match self.literal(&value) {
                Some(t) => t,
                None => self.intern(node),
            },
            _ => self.intern(node),
        }
    }

    /// Is the term this literal number, as an integer or as `Bits`?
    fn is_number(&self, t: TermId, n: u64) -> bool {
        match *self.get(t) {
            Term::Int(m) => u64::try_from(m) == Ok(n),
            Term::Bits(_, _, m) => m == n,
            _ => false,
        }
    }

    /// Negation.
    pub fn not(&mut self, a: TermId) -> TermId {
        match *self.get(a) {
            Term::Not(b) => b,
            _ => self.fold(Term::Not(a)),
        }
    }

    /// Conjunction.
    pub fn and(&mut self, args: impl IntoIterator<Item = TermId>) -> TermId {
        self.connective(args, true)
    }

    /// Disjunction.
    pub fn or(&mut self, args: impl IntoIterator<Item = TermId>) -> TermId {
        self.connective(args, false)
    }

    fn connective(&mut self, args: impl IntoIterator<Item = TermId>, neutral: bool) -> TermId {
        let mut flat: Vec<TermId> = Vec::new();
        let mut seen = FxHashSet::default();
        'args: for t in args {
            let parts = match self.get(t) {
                Term::And(parts) if neutral => parts.to_vec(),
                Term::Or(parts) if !neutral => parts.to_vec(),
                _ => vec![t],
            };
            for p in parts {
                match self.as_bool(p) {
                    Some(b) if b == neutral => {}
                    Some(_) => {
                        // Nothing after an absorbing element is evaluated; what stands before it may still fault.
                        if !flat.iter().any(|&f| self.may_fault(f)) {
                            flat.clear();
                        }
                        flat.push(p);
                        break 'args;
                    }
                    // The second of two equal parts is reached only if the first did not fault or decide.
                    None if seen.insert(p) => flat.push(p),
                    None => {}
                }
            }
        }
        match flat.len() {
            0 => self.bool(neutral),
            1 => flat[0],
            _ if neutral => self.intern(Term::And(flat.into())),
            _ => self.intern(Term::Or(flat.into())),
        }
    }

    /// `a ⇒ b`.
    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        let na = self.not(a);
        self.or([na, b])
    }

    /// If-then-else.
    pub fn ite(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        match (self.as_bool(c), self.as_bool(a), self.as_bool(b)) {
            (Some(true), ..) => a,
            (Some(false), ..) => b,
            (None, Some(true), Some(false)) => c,
            (None, Some(false), Some(true)) => self.not(c),
            _ if a == b && !self.may_fault(c) => a,
            _ => self.intern(Term::Ite(c, a, b)),
        }
    }

    /// Equality.
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(true), _) => b,
            (_, Some(true)) => a,
            (Some(false), _) => self.not(b),
            (_, Some(false)) => self.not(a),
            _ if a == b && !self.may_fault(a) => self.bool(true),
            _ => self.fold(Term::Eq(a, b)),
        }
    }

    /// Inequality.
    pub fn ne(&mut self, a: TermId, b: TermId) -> TermId {
        let e = self.eq(a, b);
        self.not(e)
    }

    /// `a < b`.
    pub fn lt(&mut self, a: TermId, b: TermId) -> TermId {
        if a == b && !self.may_fault(a) { self.bool(false) } else { self.fold(Term::Lt(a, b)) }
    }

    /// `a ≤ b`.
    pub fn le(&mut self, a: TermId, b: TermId) -> TermId {
        if a == b && !self.may_fault(a) { self.bool(true) } else { self.fold(Term::Le(a, b)) }
    }

    /// Sum. The constant part goes last.
    pub fn add(&mut self, args: impl IntoIterator<Item = TermId>) -> TermId {
        let args: Vec<TermId> = args.into_iter().collect();
        assert!(!args.is_empty(), "a sum of nothing has no type");
        let ty = self.ty(args[0]);
        let mut flat = Vec::new();
        let mut constant = IBig::ZERO;
        for t in args {
            let parts = match self.get(t) {
                Term::Add(parts) => parts.to_vec(),
                _ => vec![t],
            };
            for p in parts {
                match self.as_value(p) {
                    Some(value) => constant += value.number(),
                    None => flat.push(p),
                }
            }
        }
        let constant = self.number(ty, constant);
        if flat.is_empty() || !self.is_number(constant, 0) {
            flat.push(constant);
        }
        if flat.len() == 1 { flat[0] } else { self.intern(Term::Add(flat.into())) }
    }

    /// The literal of an integer or `Bits` type (there: cut to its width).
    pub fn number(&mut self, ty: Type, n: IBig) -> TermId {
        match ty {
            Type::Bits { width, signed } => {
                let value = Value::wrap(width, signed, &n);
                self.literal(&value).expect("a scalar")
            }
            _ => self.big(n),
        }
    }

    /// Additive inverse.
    pub fn neg(&mut self, a: TermId) -> TermId {
        match *self.get(a) {
            Term::Neg(b) => b,
            _ => self.fold(Term::Neg(a)),
        }
    }

    /// Difference.
    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        let nb = self.neg(b);
        self.add([a, nb])
    }

    /// Product.
    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        match () {
            () if self.is_number(a, 1) => b,
            () if self.is_number(b, 1) => a,
            () if self.is_number(a, 0) && !self.may_fault(b) => a,
            () if self.is_number(b, 0) && !self.may_fault(a) => b,
            () => self.fold(Term::Mul(a, b)),
        }
    }

    /// Quotient.
    pub fn div(&mut self, d: Division, a: TermId, b: TermId) -> TermId {
        self.fold(Term::Div(d, a, b))
    }

    /// Remainder.
    pub fn rem(&mut self, d: Division, a: TermId, b: TermId) -> TermId {
        self.fold(Term::Rem(d, a, b))
    }

    /// A bitwise operation.
    pub fn bit(&mut self, op: BitOp, a: TermId, b: TermId) -> TermId {
        self.fold(Term::Bit(op, a, b))
    }

    /// Read an array.
    pub fn select(&mut self, a: TermId, i: TermId) -> TermId {
        self.intern(Term::Select(a, i))
    }

    /// Write an array.
    pub fn store(&mut self, a: TermId, i: TermId, v: TermId) -> TermId {
        self.intern(Term::Store(a, i, v))
    }

    /// The array of the given array type with all entries equal.
    pub fn const_array(&mut self, ty: Type, v: TermId) -> TermId {
        let ty = self.type_id(ty);
        self.intern(Term::ConstArray(ty, v))
    }

    /// The value as an integer, provided it lies within the bounds.
    pub fn checked(&mut self, t: TermId, lo: i64, hi: i64) -> TermId {
        let t = self.convert(Type::Int, t);
        if self.lies_within(t, lo, hi) { t } else { self.intern(Term::Checked(t, lo, hi)) }
    }

    /// A call of a foreign function.
    pub fn foreign(&mut self, f: FnId, args: impl IntoIterator<Item = TermId>) -> TermId {
        self.intern(Term::Foreign(f, args.into_iter().collect()))
    }

    /// Conversion between integer-like types; truth values read as 0 and 1, enumerations as positions. Conversion to a
    /// range is conversion to an integer, and faults outside the range.
    pub fn convert(&mut self, ty: Type, a: TermId) -> TermId {
        if let Type::Range(lo, hi) = ty {
            return self.checked(a, lo, hi);
        }
        if self.ty(a) == ty {
            return a;
        }
        let ty = self.type_id(ty);
        self.fold(Term::Convert(ty, a))
    }

    /// The node with other sub-terms, in the order of [`Terms::children`], by way of the builders.
    pub fn rebuild(&mut self, t: TermId, children: &[TermId]) -> TermId {
        match (self.get(t).clone(), children) {
            (Term::Bool(_) | Term::Int(_) | Term::Big(_) | Term::EnumLit(..) | Term::Bits(..) | Term::Var(_), _) => t,
            (Term::Not(_), &[a]) => self.not(a),
            (Term::And(_), args) => self.and(args.iter().copied()),
            (Term::Or(_), args) => self.or(args.iter().copied()),
            (Term::Ite(..), &[c, a, b]) => self.ite(c, a, b),
            (Term::Eq(..), &[a, b]) => self.eq(a, b),
            (Term::Lt(..), &[a, b]) => self.lt(a, b),
            (Term::Le(..), &[a, b]) => self.le(a, b),
            (Term::Add(_), args) => self.add(args.iter().copied()),
            (Term::Neg(_), &[a]) => self.neg(a),
            (Term::Mul(..), &[a, b]) => self.mul(a, b),
            (Term::Div(d, ..), &[a, b]) => self.div(d, a, b),
            (Term::Rem(d, ..), &[a, b]) => self.rem(d, a, b),
            (Term::Bit(op, ..), &[a, b]) => self.bit(op, a, b),
            (Term::Select(..), &[a, i]) => self.select(a, i),
            (Term::Store(..), &[a, i, v]) => self.store(a, i, v),
            (Term::ConstArray(ty, _), &[v]) => self.const_array(self.type_of_id(ty), v),
            (Term::Checked(_, lo, hi), &[a]) => self.checked(a, lo, hi),
            (Term::Convert(ty, _), &[a]) => self.convert(self.type_of_id(ty), a),
            (Term::Foreign(f, _), args) => self.foreign(f, args.iter().copied()),
            (node, _) => panic!("{} sub-terms for {node:?}", children.len()),
        }
    }
}
