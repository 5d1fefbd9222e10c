//! The types of C as far as they are understood: integers, structures, pointers, and arrays of them. Everything else has a name
//! only, for the complaint when something of that type is used.

use std::rc::Rc;

use trellis_expr::Type;

use super::{DataModel, Ints};

/// An integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IntType {
    /// How many bits count: 1 for `_Bool`.
    pub width: u8,
    pub signed: bool,
    /// C's integer conversion rank (C11 6.3.1.1): `_Bool` 0, `char` 1, `short` 2, `int` 3, `long` 4, `long long` 5.
    pub rank: u8,
}

impl IntType {
    pub const BOOL: IntType = IntType { width: 1, signed: false, rank: 0 };
    pub const CHAR: IntType = IntType { width: 8, signed: true, rank: 1 };
    pub const INT: IntType = IntType { width: 32, signed: true, rank: 3 };
    pub const UINT: IntType = IntType { width: 32, signed: false, rank: 3 };

    pub fn short(signed: bool) -> IntType {
        IntType { width: 16, signed, rank: 2 }
    }

    pub fn long(model: DataModel, signed: bool) -> IntType {
        IntType { width: if model == DataModel::Lp64 { 64 } else { 32 }, signed, rank: 4 }
    }

    pub fn long_long(signed: bool) -> IntType {
        IntType { width: 64, signed, rank: 5 }
    }

    pub fn is_bool(self) -> bool {
        self.width == 1
    }

    /// Its size in bytes.
    pub fn size(self) -> u64 {
        u64::from(self.width).div_ceil(8)
    }

    /// Its least number.
    pub fn least(self) -> i128 {
        if self.signed { -(1 << (self.width - 1)) } else { 0 }
    }

    /// Its largest number.
    pub fn most(self) -> i128 {
        (1 << (self.width - u8::from(self.signed))) - 1
    }

    /// C11 6.3.1.1: what is narrower than `int` becomes `int`, which holds all its values.
    pub fn promoted(self) -> IntType {
        if self.rank < IntType::INT.rank { IntType::INT } else { self }
    }

    /// C11 6.3.1.8, the usual arithmetic conversions.
    pub fn common(self, other: IntType) -> IntType {
        let (a, b) = (self.promoted(), other.promoted());
        if a.signed == b.signed {
            return if a.rank >= b.rank { a } else { b };
        }
        let (signed, unsigned) = if a.signed { (a, b) } else { (b, a) };
        if unsigned.rank >= signed.rank {
            unsigned
        } else if signed.width > unsigned.width {
            signed
        } else {
            IntType { signed: false, ..signed }
        }
    }

    /// The type of terms of this type.
    pub fn sort(self, ints: Ints) -> Type {
        match ints {
            Ints::Wrap => Type::Bits { width: self.width, signed: self.signed },
            Ints::Math => Type::Int,
        }
    }

    /// The type of variables of this type.
    pub fn variable(self, ints: Ints) -> Type {
        match ints {
            Ints::Math if self.is_bool() => Type::Range(0, 1),
            _ => self.sort(ints),
        }
    }
}

/// A structure, known by where it is first mentioned; what it consists of is in [`super::structs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructId(pub usize);

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CType {
    Void,
    Int(IntType),
    Struct(StructId),
    /// Entries and how many; `None` if the declaration does not say.
    Array(Rc<CType>, Option<u64>),
    Function(Rc<CType>),
    Pointer(Rc<CType>),
    /// What is not understood: in words, with its article.
    Other(Rc<str>),
}

impl CType {
    pub fn other(what: impl Into<Rc<str>>) -> CType {
        CType::Other(what.into())
    }

    /// C11 6.7.6.3: a parameter that is declared as an array is a pointer to its entries.
    pub fn adjusted(self) -> CType {
        match self {
            CType::Array(entry, _) => CType::Pointer(entry),
            CType::Function(_) => CType::Pointer(Rc::new(self)),
            ty => ty,
        }
    }

    /// In words, with an article.
    pub fn describe(&self) -> String {
        match self {
            CType::Void => "nothing (`void`)".into(),
            CType::Int(_) => "an integer".into(),
            CType::Struct(_) => "a structure".into(),
            CType::Array(_, Some(_)) => "an array".into(),
            CType::Array(_, None) => "an array of unknown size".into(),
            CType::Function(_) => "a function".into(),
            CType::Pointer(to) if matches!(**to, CType::Function(_)) => "a function pointer".into(),
            CType::Pointer(to) if **to == CType::Void => "a pointer to anything (`void *`)".into(),
            CType::Pointer(_) => "a pointer".into(),
            CType::Other(what) => what.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_arithmetic_conversions() {
        let (i, u) = (IntType::INT, IntType::UINT);
        let long = |m, s| IntType::long(m, s);
        assert_eq!(IntType::BOOL.common(IntType::CHAR), i);
        assert_eq!(IntType::short(false).common(i), i);
        assert_eq!(i.common(u), u);
        assert_eq!(u.common(long(DataModel::Lp64, true)), long(DataModel::Lp64, true));
        assert_eq!(u.common(long(DataModel::Ilp32, true)), long(DataModel::Ilp32, false));
        assert_eq!(long(DataModel::Lp64, false).common(IntType::long_long(true)), IntType::long_long(false));
    }
}
