//! Terms and statements, their types, and the arena that makes equal terms identical.

use std::sync::Arc;

use dashu_int::IBig;
use rustc_hash::FxHashMap;

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into a vector.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A term in a [`Terms`] arena.
    TermId
);
index!(
    /// A variable in a [`Terms`] arena.
    VarId
);
index!(
    /// An enumeration type in a [`Terms`] arena.
    EnumId
);
index!(
    /// An interned type.
    TypeId
);
index!(
    /// A function that the model defines and this crate does not look into (a lattice method, say).
    FnId
);
index!(
    /// A statement in a [`Terms`] arena.
    StmtId
);

/// The type of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// Truth values.
    Bool,
    /// Mathematical integers.
    Int,
    /// Integers within bounds, both included. A term of this type is an integer; only variables and array entries
    /// carry it. They never hold anything else: assigning or storing what is out of range is a fault.
    Range(i64, i64),
    /// An enumeration.
    Enum(EnumId),
    /// Fixed-width two's complement; `signed` decides comparison, division, right shift and reading as an integer.
    Bits {
        /// 1 to 64 (128 is not needed by any input language).
        width: u8,
        /// Whether read as signed.
        signed: bool,
    },
    /// Arrays: index type, element type.
    Array(TypeId, TypeId),
}

impl Type {
    /// Is it `Int` or `Range`?
    pub fn is_int(self) -> bool {
        matches!(self, Type::Int | Type::Range(..))
    }
}

/// Which integer division. `a = b·q + r` in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Division {
    /// `0 ≤ r < |b|` (XSTS, SMT-LIB).
    Euclidean,
    /// `q` is rounded towards zero (C, UPPAAL).
    Truncating,
}

/// Bitwise operators, on `Bits` or on integers as if written with infinitely many sign bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BitOp {
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// One node of a term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Term {
    /// A truth value.
    Bool(bool),
    /// An integer that fits a machine word.
    Int(i64),
    /// An integer that does not.
    Big(Arc<IBig>),
    /// A literal of an enumeration.
    EnumLit(EnumId, u32),
    /// A fixed-width literal, its bits zero-extended.
    Bits(u8, bool, u64),
    /// A variable.
    Var(VarId),
    /// Negation.
    Not(TermId),
    /// Conjunction, left to right.
    And(Arc<[TermId]>),
    /// Disjunction, left to right.
    Or(Arc<[TermId]>),
    /// If-then-else, of any type.
    Ite(TermId, TermId, TermId),
    /// Equality, of any type (on truth values: iff).
    Eq(TermId, TermId),
    /// Less, on integers or `Bits`.
    Lt(TermId, TermId),
    /// Less or equal.
    Le(TermId, TermId),
    /// Sum (on `Bits`: wrapping).
    Add(Arc<[TermId]>),
    /// Additive inverse.
    Neg(TermId),
    /// Product.
    Mul(TermId, TermId),
    /// Quotient; faults on zero. On `Bits` the least number divided by −1 is itself.
    Div(Division, TermId, TermId),
    /// Remainder; faults on zero.
    Rem(Division, TermId, TermId),
    /// A bitwise operation. Shifts fault unless `0 ≤ distance < width` (integers count as 64 wide here); the distance
    /// may be of any number type.
    Bit(BitOp, TermId, TermId),
    /// Read an array; faults outside the index range.
    Select(TermId, TermId),
    /// The array with one entry replaced; faults outside the index range, and on a value outside the entries' range.
    Store(TermId, TermId, TermId),
    /// The array of the given type with all entries equal; faults on a value outside the entries' range.
    ConstArray(TypeId, TermId),
    /// The value of the term if it lies between the bounds, both included; a fault otherwise.
    Checked(TermId, i64, i64),
    /// From one integer-like type to another (truncating or extending `Bits`; `Bits` to `Int` and back). Truth values
    /// and enumerations read as numbers; a conversion to a range is checked.
    Convert(TypeId, TermId),
    /// A foreign function of integers, with an integer result.
    Foreign(FnId, Arc<[TermId]>),
}

/// One statement. All but `While` have a weakest precondition; all but `Havoc` and `Choice` are deterministic.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// Does nothing.
    Skip,
    /// Blocks unless the term holds.
    Assume(TermId),
    /// Assigns. An array entry is assigned as `a := store(a, i, v)`. A value outside the variable's range is a fault.
    Assign(VarId, TermId),
    /// Gives the variable any value of its type.
    Havoc(VarId),
    /// One after the other.
    Seq(Arc<[StmtId]>),
    /// Any one of them.
    Choice(Arc<[StmtId]>),
    /// Deterministic choice.
    If(TermId, StmtId, StmtId),
    /// Repeats the body as long as the term holds.
    While(TermId, StmtId),
    /// Calls a foreign procedure of integers (a lattice update, say).
    Foreign(FnId, Arc<[TermId]>),
}

/// A variable's name and type.
#[derive(Debug, Clone)]
pub struct Var {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
}

/// An enumeration's name and literals.
#[derive(Debug, Clone)]
pub struct Enum {
    /// The name.
    pub name: String,
    /// The literals, in order.
    pub literals: Vec<String>,
}

/// The arena of terms, statements, variables and types.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    nodes: Vec<Term>,
    types: Vec<Type>,
    faults: Vec<bool>,
    depths: Vec<u32>,
    ids: FxHashMap<Term, TermId>,
    vars: Vec<Var>,
    enums: Vec<Enum>,
    interned_types: Vec<Type>,
    type_ids: FxHashMap<Type, TypeId>,
    pub(crate) stmts: Vec<Stmt>,
    pub(crate) stmt_depths: Vec<u32>,
    pub(crate) stmt_ids: FxHashMap<Stmt, StmtId>,
}

impl Terms {
    /// An empty arena.
    pub fn new() -> Terms {
        Terms::default()
    }

    /// The node behind an id.
    pub fn get(&self, t: TermId) -> &Term {
        &self.nodes[t.index()]
    }

    /// The type of a term.
    pub fn ty(&self, t: TermId) -> Type {
        self.types[t.index()]
    }

    /// May evaluating the term fault?
    pub fn may_fault(&self, t: TermId) -> bool {
        self.faults[t.index()]
    }

    /// How deeply the term is nested; a leaf counts as 1.
    pub fn depth(&self, t: TermId) -> u32 {
        self.depths[t.index()]
    }

    /// How many different terms there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Is the arena empty?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Declares a variable. Names need not be unique; ids are.
    pub fn declare(&mut self, name: impl Into<String>, ty: Type) -> VarId {
        self.vars.push(Var { name: name.into(), ty });
        VarId(self.vars.len() as u32 - 1)
    }

    /// A declared variable.
    pub fn variable(&self, v: VarId) -> &Var {
        &self.vars[v.index()]
    }

    /// All declared variables.
    pub fn variables(&self) -> impl Iterator<Item = (VarId, &Var)> {
        self.vars.iter().enumerate().map(|(i, v)| (VarId(i as u32), v))
    }

    /// Declares an enumeration.
    pub fn declare_enum(&mut self, name: impl Into<String>, literals: Vec<String>) -> EnumId {
        self.enums.push(Enum { name: name.into(), literals });
        EnumId(self.enums.len() as u32 - 1)
    }

    /// All declared enumerations.
    pub fn enumerations(&self) -> impl Iterator<Item = EnumId> + use<> {
        (0..self.enums.len() as u32).map(EnumId)
    }

    /// A declared enumeration.
    pub fn enumeration(&self, e: EnumId) -> &Enum {
        &self.enums[e.index()]
    }

    /// The id of a type (arrays refer to their parts by id).
    pub fn type_id(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.type_ids.get(&ty) {
            return id;
        }
        let id = TypeId(self.interned_types.len() as u32);
        self.interned_types.push(ty);
        self.type_ids.insert(ty, id);
        id
    }

    /// The type behind an id.
    pub fn type_of_id(&self, id: TypeId) -> Type {
        self.interned_types[id.index()]
    }

    /// The least and greatest value of a finite type, in the machine's encoding: truth values are 0 and 1, an
    /// enumeration's literal is its position. None for 64 unsigned bits, which no `i64` can bound.
    pub fn type_bounds(&self, ty: Type) -> Option<(i64, i64)> {
        match ty {
            Type::Bool => Some((0, 1)),
            Type::Range(lo, hi) => Some((lo, hi)),
            Type::Enum(e) => match self.enumeration(e).literals.len() {
                0 => None,
                n => Some((0, n as i64 - 1)),
            },
            Type::Bits { width: 64, signed: false } | Type::Int | Type::Array(..) => None,
            Type::Bits { width, signed: true } => Some((i64::MIN >> (64 - width), i64::MAX >> (64 - width))),
            Type::Bits { width, signed: false } => Some((0, (u64::MAX >> (64 - width)) as i64)),
        }
    }

    /// Bounds that the term's value keeps wherever it has one, read off its outermost node.
    pub fn bounds(&self, t: TermId) -> Option<(i64, i64)> {
        match *self.get(t) {
            Term::Int(n) => Some((n, n)),
            Term::Var(v) => self.type_bounds(self.vars[v.index()].ty),
            Term::Checked(_, lo, hi) => Some((lo, hi)),
            Term::Select(a, _) => match self.ty(a) {
                Type::Array(_, e) => self.type_bounds(self.type_of_id(e)),
                _ => None,
            },
            Term::Rem(division, _, b) if self.ty(t) == Type::Int => match (division, self.as_int(b)) {
                (_, None | Some(0 | i64::MIN)) => None,
                (Division::Euclidean, Some(n)) => Some((0, n.abs() - 1)),
                (Division::Truncating, Some(n)) => Some((1 - n.abs(), n.abs() - 1)),
            },
            Term::Convert(to, a) => match self.type_of_id(to) {
                Type::Int => self.type_bounds(self.ty(a)),
                ty => self.type_bounds(ty),
            },
            _ => self.type_bounds(self.ty(t)),
        }
    }

    /// Does the term's value, wherever it has one, certainly lie within the bounds?
    pub fn lies_within(&self, t: TermId, lo: i64, hi: i64) -> bool {
        self.bounds(t).is_some_and(|(l, h)| lo <= l && h <= hi)
    }

    /// An array type.
    pub fn array_type(&mut self, index: Type, elem: Type) -> Type {
        let (i, e) = (self.type_id(index), self.type_id(elem));
        Type::Array(i, e)
    }

    /// Interns a node as it is; only literals are brought into their one form. The builders are kinder: they fold
    /// constants.
    ///
    /// # Panics
    ///
    /// In debug builds if the node is ill-typed.
    pub fn intern(&mut self, node: Term) -> TermId {
        let node = match node {
            Term::Bits(width, signed, bits) => {
                assert!((1..=64).contains(&width), "{width} bits");
                Term::Bits(width, signed, bits & (u64::MAX >> (64 - width)))
            }
            Term::Big(n) => match i64::try_from(&*n) {
                Ok(n) => Term::Int(n),
                Err(_) => Term::Big(n),
            },
            node => node,
        };
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        #[cfg(debug_assertions)]
        if let Err(why) = self.check(&node) {
            panic!("ill-typed term: {why} in {node:?}");
        }
        let ty = self.infer(&node);
        let faults = self.infer_faults(&node);
        let depth = 1 + self.children_of(&node).iter().map(|&c| self.depth(c)).max().unwrap_or(0);
        let id = TermId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.types.push(ty);
        self.faults.push(faults);
        self.depths.push(depth);
        self.ids.insert(node, id);
        id
    }

    /// The type of terms that stand for values of this type: `Int` for a range, otherwise the type itself.
    pub fn sort(&self, ty: Type) -> Type {
        if ty.is_int() { Type::Int } else { ty }
    }

    fn infer(&self, node: &Term) -> Type {
        match *node {
            Term::Bool(_) | Term::Not(_) | Term::And(_) | Term::Or(_) | Term::Eq(..) | Term::Lt(..) | Term::Le(..) => {
                Type::Bool
            }
            Term::Int(_) | Term::Big(_) | Term::Checked(..) | Term::Foreign(..) => Type::Int,
            Term::EnumLit(e, _) => Type::Enum(e),
            Term::Bits(width, signed, _) => Type::Bits { width, signed },
            Term::Var(v) => self.sort(self.vars[v.index()].ty),
            Term::Ite(_, a, _) | Term::Neg(a) | Term::Mul(a, _) | Term::Div(_, a, _) => self.ty(a),
            Term::Rem(_, a, _) | Term::Bit(_, a, _) | Term::Store(a, ..) => self.ty(a),
            Term::Add(ref args) => self.ty(args[0]),
            Term::Select(a, _) => match self.ty(a) {
                Type::Array(_, e) => self.sort(self.type_of_id(e)),
                ty => panic!("select from a term of type {ty:?}"),
            },
            Term::ConstArray(ty, _) => self.type_of_id(ty),
            Term::Convert(ty, _) => self.sort(self.type_of_id(ty)),
        }
    }

    /// Is the node well-typed?
    #[cfg(debug_assertions)]
    fn check(&self, node: &Term) -> Result<(), &'static str> {
        let test = |ok: bool, why| if ok { Ok(()) } else { Err(why) };
        let same = |a, b| test(self.ty(a) == self.ty(b), "different types");
        let bool = |t| test(self.ty(t) == Type::Bool, "not a truth value");
        let number = |t| test(matches!(self.ty(t), Type::Int | Type::Bits { .. }), "not a number");
        match *node {
            Term::Bool(_) | Term::Int(_) | Term::Big(_) | Term::Bits(..) => Ok(()),
            Term::EnumLit(e, n) => test((n as usize) < self.enumeration(e).literals.len(), "no such literal"),
            Term::Var(v) => test(v.index() < self.vars.len(), "no such variable"),
            Term::Not(a) => bool(a),
            Term::And(ref args) | Term::Or(ref args) => args.iter().try_for_each(|&a| bool(a)),
            Term::Ite(c, a, b) => bool(c).and(same(a, b)),
            Term::Eq(a, b) => same(a, b),
            Term::Lt(a, b) | Term::Le(a, b) | Term::Mul(a, b) => number(a).and(same(a, b)),
            Term::Div(_, a, b) | Term::Rem(_, a, b) => number(a).and(same(a, b)),
            Term::Add(ref args) => {
                test(!args.is_empty(), "a sum of nothing")?;
                args.iter().try_for_each(|&a| number(a).and(same(a, args[0])))
            }
            Term::Neg(a) => number(a),
            Term::Bit(BitOp::Shl | BitOp::Shr, a, b) => number(a).and(number(b)),
            Term::Bit(_, a, b) => number(a).and(same(a, b)),
            Term::Select(a, i) | Term::Store(a, i, _) => {
                let Type::Array(index, entry) = self.ty(a) else {
                    return Err("not an array");
                };
                test(self.ty(i) == self.sort(self.type_of_id(index)), "an index of another type")?;
                match *node {
                    Term::Store(_, _, v) => {
                        test(self.ty(v) == self.sort(self.type_of_id(entry)), "an entry of another type")
                    }
                    _ => Ok(()),
                }
            }
            Term::ConstArray(ty, v) => {
                let Type::Array(_, entry) = self.type_of_id(ty) else {
                    return Err("not an array type");
                };
                test(self.ty(v) == self.sort(self.type_of_id(entry)), "an entry of another type")
            }
            Term::Checked(a, lo, hi) => {
                test(self.ty(a) == Type::Int, "not an integer").and(test(lo <= hi, "no value fits"))
            }
            Term::Convert(ty, a) => {
                let to = self.type_of_id(ty);
                test(to.is_int() || matches!(to, Type::Bits { .. }), "a conversion to no number")?;
                test(!matches!(self.ty(a), Type::Array(..)), "a conversion of an array")
            }
            Term::Foreign(_, ref args) => {
                let array = |&t: &TermId| matches!(self.ty(t), Type::Array(..));
                test(!args.iter().any(array), "an array as a foreign argument")
            }
        }
    }

    /// A node faults if a child does, or by itself. (`And`, `Or` and `Ite` may skip a child; that is not looked into.)
    fn infer_faults(&self, node: &Term) -> bool {
        let by_itself = match *node {
            Term::Div(_, _, b) | Term::Rem(_, _, b) => !self.is_nonzero(b),
            Term::Select(a, i) => !self.index_fits(a, i),
            Term::Store(a, i, v) => !self.index_fits(a, i) || !self.entry_fits(self.ty(a), v),
            Term::ConstArray(ty, v) => !self.entry_fits(self.type_of_id(ty), v),
            Term::Bit(BitOp::Shl | BitOp::Shr, a, by) => {
                let width = match self.ty(a) {
                    Type::Bits { width, .. } => i64::from(width),
                    _ => 64,
                };
                match *self.get(by) {
                    Term::Int(n) => !(0..width).contains(&n),
                    Term::Bits(w, signed, n) => (signed && n >> (w - 1) == 1) || n >= width as u64,
                    _ => true,
                }
            }
            Term::Checked(a, lo, hi) => !self.lies_within(a, lo, hi),
            Term::Convert(ty, a) => match self.type_of_id(ty) {
                Type::Range(lo, hi) => !self.lies_within(a, lo, hi),
                _ => false,
            },
            Term::Foreign(..) => true,
            _ => false,
        };
        by_itself || self.children_of(node).iter().any(|&c| self.may_fault(c))
    }

    /// Is the term certainly not zero, wherever it has a value?
    pub(crate) fn is_nonzero(&self, t: TermId) -> bool {
        match *self.get(t) {
            Term::Big(_) => true,
            Term::Bits(_, _, n) => n != 0,
            _ => self.bounds(t).is_some_and(|(lo, hi)| lo > 0 || hi < 0),
        }
    }

    /// Is the value certainly one that the array may hold?
    pub(crate) fn entry_fits(&self, array: Type, value: TermId) -> bool {
        let Type::Array(_, entry) = array else {
            return false;
        };
        match self.type_of_id(entry) {
            Type::Range(lo, hi) => self.lies_within(value, lo, hi),
            _ => true,
        }
    }

    /// Is the index certainly inside the array?
    pub(crate) fn index_fits(&self, array: TermId, index: TermId) -> bool {
        let Type::Array(i, _) = self.ty(array) else {
            return false;
        };
        match self.type_of_id(i) {
            Type::Range(lo, hi) => self.lies_within(index, lo, hi),
            _ => true,
        }
    }

    /// The direct sub-terms, from left to right.
    pub fn children(&self, t: TermId) -> Vec<TermId> {
        self.children_of(self.get(t))
    }

    pub(crate) fn children_of(&self, node: &Term) -> Vec<TermId> {
        match *node {
            Term::Bool(_) | Term::Int(_) | Term::Big(_) | Term::EnumLit(..) | Term::Bits(..) | Term::Var(_) => vec![],
            Term::Not(a) | Term::Neg(a) | Term::Checked(a, ..) | Term::Convert(_, a) | Term::ConstArray(_, a) => {
                vec![a]
            }
            Term::And(ref args) | Term::Or(ref args) | Term::Add(ref args) | Term::Foreign(_, ref args) => {
                args.to_vec()
            }
            Term::Ite(a, b, c) | Term::Store(a, b, c) => vec![a, b, c],
            Term::Eq(a, b) | Term::Lt(a, b) | Term::Le(a, b) | Term::Mul(a, b) | Term::Select(a, b) => vec![a, b],
            Term::Div(_, a, b) | Term::Rem(_, a, b) | Term::Bit(_, a, b) => vec![a, b],
        }
    }
}
