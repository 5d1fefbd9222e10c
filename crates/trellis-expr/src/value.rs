//! Values: what terms denote.
//!
//! This is the representation of the reference evaluator: exact, of any size, slow. Machine words are for `code`;
//! [`Value::to_word`] and [`Value::from_word`] go back and forth.

use std::collections::BTreeMap;

use dashu_int::IBig;

use crate::term::{EnumId, Terms, Type};

/// A value of some type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(IBig),
    /// A literal of an enumeration, by position.
    Enum(EnumId, u32),
    /// A fixed-width word, its bits zero-extended.
    Bits {
        /// How many bits.
        width: u8,
        /// Whether read as signed.
        signed: bool,
        /// The bits.
        bits: u64,
    },
    /// An array.
    Array(ArrayValue),
}

/// The value of an array: a default, and the entries stored over it. Two arrays are equal if all entries are.
#[derive(Debug, Clone)]
pub struct ArrayValue {
    /// How many indexes there are, unless infinitely many.
    size: Option<IBig>,
    default: Box<Value>,
    /// By the index read as a number ([`Value::number`]).
    entries: BTreeMap<IBig, Value>,
}

impl ArrayValue {
    /// The array over the index type whose entries are all equal.
    pub fn new(terms: &Terms, index: Type, default: Value) -> ArrayValue {
        let size = match (index, terms.type_bounds(index)) {
            (_, Some((lo, hi))) => Some(IBig::from(hi) - IBig::from(lo) + 1),
            (Type::Bits { width, .. }, None) => Some(IBig::ONE << usize::from(width)),
            (_, None) => None,
        };
        ArrayValue { size, default: Box::new(default), entries: BTreeMap::new() }
    }

    /// The entry at an index.
    pub fn get(&self, index: &Value) -> &Value {
        self.entries.get(&index.number()).unwrap_or(&self.default)
    }

    /// Replaces the entry at an index.
    pub fn set(&mut self, index: &Value, value: Value) {
        self.entries.insert(index.number(), value);
    }

    /// What all entries are that were never stored.
    pub fn default(&self) -> &Value {
        &self.default
    }

    /// The entries that were stored, with their indexes as numbers.
    pub fn entries(&self) -> impl Iterator<Item = (&IBig, &Value)> {
        self.entries.iter()
    }

    /// Is some entry not among the stored ones?
    fn shows_default(&self, stored: usize) -> bool {
        self.size.as_ref().is_none_or(|size| *size > IBig::from(stored))
    }
}

impl PartialEq for ArrayValue {
    fn eq(&self, other: &ArrayValue) -> bool {
        let mut indexes: Vec<&IBig> = self.entries.keys().chain(other.entries.keys()).collect();
        indexes.sort();
        indexes.dedup();
        let at = |a: &'_ ArrayValue, i: &IBig| a.entries.get(i).unwrap_or(&a.default).clone();
        indexes.iter().all(|i| at(self, i) == at(other, i))
            && (self.default == other.default || !self.shows_default(indexes.len()))
    }
}

impl Eq for ArrayValue {}

impl Value {
    /// A word: the integer cut to the width.
    pub fn wrap(width: u8, signed: bool, n: &IBig) -> Value {
        let modulus = IBig::ONE << usize::from(width);
        let low = ((n % &modulus) + &modulus) % &modulus;
        Value::Bits { width, signed, bits: u64::try_from(&low).expect("at most 64 bits") }
    }

    /// The scalar read as an integer: truth values as 0 and 1, literals as positions, words as their sign says.
    ///
    /// # Panics
    ///
    /// On arrays.
    pub fn number(&self) -> IBig {
        match *self {
            Value::Bool(b) => IBig::from(u8::from(b)),
            Value::Int(ref n) => n.clone(),
            Value::Enum(_, n) => IBig::from(n),
            Value::Bits { width, signed, bits } if signed && bits >> (width - 1) == 1 => {
                IBig::from(bits) - (IBig::ONE << usize::from(width))
            }
            Value::Bits { bits, .. } => IBig::from(bits),
            Value::Array(_) => panic!("an array is no number"),
        }
    }

    /// The scalar as a machine word, if it fits: as `code` keeps it in memory.
    pub fn to_word(&self) -> Option<i64> {
        match *self {
            Value::Bits { width: 64, bits, .. } => Some(bits as i64),
            Value::Array(_) => None,
            _ => i64::try_from(&self.number()).ok(),
        }
    }

    /// The scalar value of the type that a machine word stands for.
    ///
    /// # Panics
    ///
    /// On array types.
    pub fn from_word(ty: Type, word: i64) -> Value {
        match ty {
            Type::Bool => Value::Bool(word != 0),
            Type::Int | Type::Range(..) => Value::Int(word.into()),
            Type::Enum(e) => Value::Enum(e, word as u32),
            Type::Bits { width, signed } => {
                Value::Bits { width, signed, bits: word as u64 & (u64::MAX >> (64 - width)) }
            }
            Type::Array(..) => panic!("an array is no machine word"),
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match *self {
            Value::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// All values of a type, if there are at most `limit`.
    pub fn all(terms: &Terms, ty: Type, limit: usize) -> Option<Vec<Value>> {
        if let Some((lo, hi)) = terms.type_bounds(ty) {
            let fits = i128::from(hi) - i128::from(lo) < limit as i128;
            return fits.then(|| (lo..=hi).map(|n| Value::from_word(ty, n)).collect());
        }
        let Type::Array(index, entry) = ty else {
            return None;
        };
        let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
        let indexes = Value::all(terms, index, limit)?;
        let values = Value::all(terms, entry, limit)?;
        let mut arrays = vec![ArrayValue::new(terms, index, values.first()?.clone())];
        for i in &indexes {
            if arrays.len().checked_mul(values.len())? > limit {
                return None;
            }
            let extend = |a: &ArrayValue| {
                let a = a.clone();
                values
                    .iter()
                    .map(move |v| {
                        let mut a = a.clone();
                        a.set(i, v.clone());
                        a
                    })
                    .collect::<Vec<_>>()
            };
            arrays = arrays.iter().flat_map(extend).collect();
        }
        Some(arrays.into_iter().map(Value::Array).collect())
    }
}
