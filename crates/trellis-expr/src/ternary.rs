//! Three-valued evaluation: what a term is when only some variables are known.
//!
//! An answer is an answer for every way to know the rest: no completion gives another value, and none faults. It is
//! not complete: `x - x` is known only if `x` is, and no answer says nothing. Foreign functions are never known, arrays are
//! known entirely or not at all.

use crate::partial::{Judged, judge};
use crate::term::{BitOp, Term, TermId, Terms, Type, VarId};
use crate::value::Value;

/// The term's value, if the known variables determine it and no completion faults.
pub fn eval_partial(terms: &Terms, t: TermId, env: impl Fn(VarId) -> Option<Value>) -> Option<Value> {
    let Judged { value, safe } = judge(terms, t, env);
    value.filter(|_| safe)
}

/// The value that does not depend on what is unknown.
pub(crate) fn absorbed(terms: &Terms, t: TermId, children: &[TermId], values: &[Option<&Value>]) -> Option<Value> {
    let zero = || {
        let value = |v: &&Value| v.to_word() == Some(0);
        values.iter().flatten().find(|v| value(v)).map(|&v| v.clone())
    };
    match terms.get(t) {
        Term::Eq(..) | Term::Le(..) if children[0] == children[1] => Some(Value::Bool(true)),
        Term::Lt(..) if children[0] == children[1] => Some(Value::Bool(false)),
        Term::Mul(..) | Term::Bit(BitOp::And, ..) => zero(),
        _ => None,
    }
}

/// Does the node itself never fault, given that its sub-terms do not?
pub(crate) fn never_faults(terms: &Terms, t: TermId, values: &[Option<&Value>]) -> bool {
    let known = |k: usize| values[k].map(Value::number);
    match *terms.get(t) {
        Term::Div(_, _, b) | Term::Rem(_, _, b) => match known(1) {
            Some(n) => n != dashu_int::IBig::ZERO,
            None => terms.bounds(b).is_some_and(|(lo, hi)| lo > 0 || hi < 0),
        },
        Term::Bit(BitOp::Shl | BitOp::Shr, a, by) => {
            let width = match terms.ty(a) {
                Type::Bits { width, .. } => i64::from(width),
                _ => 64,
            };
            match known(1) {
                Some(n) => i64::try_from(&n).is_ok_and(|n| (0..width).contains(&n)),
                None => terms.lies_within(by, 0, width - 1),
            }
        }
        Term::Select(a, i) => fits(terms, array(terms, a).0, i, values[1]),
        Term::Store(a, i, v) => {
            let (index, entry) = array(terms, a);
            fits(terms, index, i, values[1]) && fits(terms, entry, v, values[2])
        }
        Term::ConstArray(..) => fits(terms, array(terms, t).1, terms.children(t)[0], values[0]),
        Term::Checked(a, lo, hi) => fits(terms, Type::Range(lo, hi), a, values[0]),
        Term::Convert(ty, a) => fits(terms, terms.type_of_id(ty), a, values[0]),
        Term::Foreign(..) => false,
        _ => true,
    }
}

/// Index and entry type.
fn array(terms: &Terms, t: TermId) -> (Type, Type) {
    match terms.ty(t) {
        Type::Array(index, entry) => (terms.type_of_id(index), terms.type_of_id(entry)),
        ty => panic!("{ty:?} is no array type"),
    }
}

/// Does the term keep the range, if the type is one?
fn fits(terms: &Terms, ty: Type, t: TermId, value: Option<&Value>) -> bool {
    match (ty, value) {
        (Type::Range(..), Some(value)) => crate::eval::check_range(ty, value).is_ok(),
        (Type::Range(lo, hi), None) => terms.lies_within(t, lo, hi),
        _ => true,
    }
}
