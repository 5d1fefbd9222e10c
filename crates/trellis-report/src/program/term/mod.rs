//! Terms as text that can be read back: s-expressions that say exactly what a term is, types included.
//!
//! SMT-LIB would not do: it has no signed words, no bounded integers, no enumerations, and no faults, and what comes back must be the
//! same term. So the operators are ours, one for each kind of node:
//!
//! | | |
//! |---|---|
//! | `true`, `5`, `-1i8`, `200u8`, `(of Color red)` | literals: truth values, integers, signed and unsigned words, of enumerations |
//! | `main::x`, `\|an odd name\|` | variables |
//! | `(not a)` `(and a …)` `(or a …)` `(ite c a b)` `(= a b)` `(< a b)` `(<= a b)` | |
//! | `(+ a …)` `(- a)` `(* a b)` `(/ a b)` `(% a b)` `(div a b)` `(mod a b)` | `/` and `%` truncate, `div` and `mod` are Euclidean |
//! | `(bitand a b)` `(bitor a b)` `(bitxor a b)` `(shl a b)` `(shr a b)` | |
//! | `(select a i)` `(store a i v)` `(const T v)` | arrays |
//! | `(check a lo hi)` `(convert T a)` | |
//! | `!0`, `!1`, … | a definition: what is shared or deep is written once |
//!
//! Types are `bool`, `int`, `(range lo hi)`, `(enum Color)`, `i32`, `u8`, `(array I E)`.

mod read;
mod write;

pub(crate) use read::Reader;
pub(crate) use write::Writer;

use trellis_expr::{EnumId, Terms, Type};

use crate::words::unique;

/// The enumerations that variables have, and what they are called.
fn enumerations(terms: &Terms) -> Vec<(EnumId, String)> {
    fn collect(terms: &Terms, ty: Type, all: &mut Vec<EnumId>) {
        match ty {
            Type::Enum(e) if !all.contains(&e) => all.push(e),
            Type::Array(i, e) => [i, e].into_iter().for_each(|t| collect(terms, terms.type_of_id(t), all)),
            _ => {}
        }
    }
    let mut all = Vec::new();
    terms.variables().for_each(|(_, v)| collect(terms, v.ty, &mut all));
    let names = unique(all.iter().map(|&e| terms.enumeration(e).name.clone()));
    all.into_iter().zip(names).collect()
}
