//! What is plain from the ranges of variables alone: a comparison that is always true, or never.
//!
//! Every number is known to lie in an interval, every truth value is true, false or open. An answer is an answer for all values within the
//! ranges, wherever the term has a value. It is not complete (`x - x` may be anything): who wants more asks a solver.

use rustc_hash::FxHashMap;

use crate::term::{Term, TermId, Terms, Type, VarId};

/// What is known of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// A number between these; the largest and the smallest number of the machine stand for none.
    Number(i128, i128),
    /// A truth value, if it is known.
    Truth(Option<bool>),
    /// Something else.
    Anything,
}

const ALL: Known = Known::Number(i128::MIN, i128::MAX);

/// A comparison whose value does not depend on anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// The comparison.
    pub term: TermId,
    /// What it always is.
    pub value: bool,
}

/// The value of a truth value, if the ranges tell it, and the comparisons in it that they decide. `bounds` says more of a variable than its
/// type does, if it answers.
pub fn decided(
    terms: &Terms,
    t: TermId,
    bounds: impl Fn(VarId) -> Option<(i64, i64)>,
) -> (Option<bool>, Vec<Constant>) {
    let mut known: FxHashMap<TermId, Known> = FxHashMap::default();
    let mut constants = vec![];
    for part in terms.subterms([t]) {
        let is = of(terms, part, &known, &bounds);
        let compares = matches!(terms.get(part), Term::Eq(..) | Term::Lt(..) | Term::Le(..));
        if let (true, Known::Truth(Some(value))) = (compares, is) {
            constants.push(Constant { term: part, value });
        }
        known.insert(part, is);
    }
    let whole = if let Some(Known::Truth(value)) = known.get(&t) { *value } else { None };
    (whole, constants)
}

fn within(terms: &Terms, ty: Type) -> Known {
    match ty {
        Type::Bool => Known::Truth(None),
        Type::Array(..) => Known::Anything,
        ty => terms.type_bounds(ty).map_or(ALL, |(lo, hi)| Known::Number(lo.into(), hi.into())),
    }
}

fn of(
    terms: &Terms,
    t: TermId,
    known: &FxHashMap<TermId, Known>,
    bounds: &impl Fn(VarId) -> Option<(i64, i64)>,
) -> Known {
    let open = within(terms, terms.ty(t));
    let is = |t: &TermId| known.get(t).copied().unwrap_or(Known::Anything);
    let truth = |t: &TermId| if let Known::Truth(value) = is(t) { value } else { None };
    let range = |t: &TermId| match is(t) {
        Known::Number(lo, hi) => Some((lo, hi)),
        Known::Truth(Some(b)) => Some((i128::from(b), i128::from(b))),
        Known::Truth(None) => Some((0, 1)),
        Known::Anything => None,
    };
    let plain = terms.ty(t).is_int();
    match terms.get(t) {
        Term::Bool(b) => Known::Truth(Some(*b)),
        Term::Int(n) => Known::Number((*n).into(), (*n).into()),
        Term::EnumLit(_, n) => Known::Number((*n).into(), (*n).into()),
        Term::Bits(width, signed, bits) => {
            let shift = 64 - u32::from(*width);
            let value = if *signed { i128::from(((*bits << shift) as i64) >> shift) } else { i128::from(*bits) };
            Known::Number(value, value)
        }
        Term::Var(v) => match (bounds(*v), open) {
            (Some((lo, hi)), Known::Truth(_)) if lo == hi => Known::Truth(Some(lo != 0)),
            (Some((lo, hi)), Known::Number(..)) => Known::Number(lo.into(), hi.into()),
            // A term has the type of all integers where its variable has a range.
            _ => within(terms, terms.variable(*v).ty),
        },
        Term::Not(a) => Known::Truth(truth(a).map(|b| !b)),
        Term::And(all) => match () {
            () if all.iter().any(|a| truth(a) == Some(false)) => Known::Truth(Some(false)),
            () if all.iter().all(|a| truth(a) == Some(true)) => Known::Truth(Some(true)),
            () => Known::Truth(None),
        },
        Term::Or(all) => match () {
            () if all.iter().any(|a| truth(a) == Some(true)) => Known::Truth(Some(true)),
            () if all.iter().all(|a| truth(a) == Some(false)) => Known::Truth(Some(false)),
            () => Known::Truth(None),
        },
        Term::Ite(c, a, b) => match (truth(c), is(a), is(b)) {
            (Some(true), a, _) => a,
            (Some(false), _, b) => b,
            (None, a, b) if a == b => a,
            (None, Known::Number(l, h), Known::Number(m, i)) => Known::Number(l.min(m), h.max(i)),
            _ => open,
        },
        Term::Eq(a, b) if a == b => Known::Truth(Some(true)),
        Term::Eq(a, b) => Known::Truth(match (range(a), range(b)) {
            (Some((l, h)), Some((m, i))) if h < m || i < l => Some(false),
            (Some((l, h)), Some((m, i))) if l == h && m == i && l == m => Some(true),
            _ => None,
        }),
        Term::Lt(a, b) => Known::Truth(match (range(a), range(b)) {
            (Some((_, h)), Some((m, _))) if h < m => Some(true),
            (Some((l, _)), Some((_, i))) if l >= i => Some(false),
            _ => None,
        }),
        Term::Le(a, b) => Known::Truth(match (range(a), range(b)) {
            (Some((_, h)), Some((m, _))) if h <= m => Some(true),
            (Some((l, _)), Some((_, i))) if l > i => Some(false),
            _ => None,
        }),
        // Machine numbers wrap around: of them only the type is known.
        Term::Add(all) if plain => all.iter().fold(Known::Number(0, 0), |sum, a| match (sum, range(a)) {
            (Known::Number(l, h), Some((m, i))) => Known::Number(below(l, m), above(h, i)),
            _ => ALL,
        }),
        Term::Neg(a) if plain => match range(a) {
            Some((l, h)) => Known::Number(h.saturating_neg(), l.saturating_neg()),
            None => ALL,
        },
        Term::Mul(a, b) if plain => match (range(a), range(b)) {
            (Some((l, h)), Some((m, i))) => {
                let all = [l.checked_mul(m), l.checked_mul(i), h.checked_mul(m), h.checked_mul(i)];
                match all.into_iter().collect::<Option<Vec<i128>>>() {
                    Some(all) => Known::Number(
                        all.iter().copied().min().unwrap_or(i128::MIN),
                        all.iter().copied().max().unwrap_or(i128::MAX),
                    ),
                    None => ALL,
                }
            }
            _ => ALL,
        },
        Term::Checked(a, lo, hi) => match is(a) {
            Known::Number(l, h) => Known::Number(l.max((*lo).into()), h.min((*hi).into())),
            _ => Known::Number((*lo).into(), (*hi).into()),
        },
        Term::Convert(..) | Term::Rem(..) | Term::Select(..) => match (terms.bounds(t), open) {
            (Some((lo, hi)), Known::Number(..)) => Known::Number(lo.into(), hi.into()),
            _ => open,
        },
        _ => open,
    }
}

/// A sum of two lower ends; none, if one is.
fn below(a: i128, b: i128) -> i128 {
    if a == i128::MIN || b == i128::MIN { i128::MIN } else { a.saturating_add(b) }
}

fn above(a: i128, b: i128) -> i128 {
    if a == i128::MAX || b == i128::MAX { i128::MAX } else { a.saturating_add(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_out_of_range_is_seen() {
        let mut terms = Terms::new();
        let s = terms.declare("s", Type::Range(0, 3));
        let t = terms.declare("t", Type::Int);
        let (s, t) = (terms.var(s), terms.var(t));
        let (four, two) = (terms.int(4), terms.int(2));
        let out = terms.intern(Term::Eq(s, four));
        let open = terms.intern(Term::Eq(s, two));
        let less = terms.intern(Term::Lt(s, four));
        let sum = terms.intern(Term::Add([s, s].into()));
        let seven = terms.int(7);
        let far = terms.intern(Term::Le(seven, sum));
        let unknown = terms.intern(Term::Lt(t, four));
        let none = |_| None;
        assert_eq!(decided(&terms, out, none).0, Some(false));
        assert_eq!(decided(&terms, less, none).0, Some(true));
        assert_eq!(decided(&terms, far, none).0, Some(false));
        assert_eq!(decided(&terms, open, none).0, None);
        assert_eq!(decided(&terms, unknown, none).0, None);
        assert_eq!(decided(&terms, unknown, |_| Some((0, 3))).0, Some(true));
        let either = terms.intern(Term::Or([out, open].into()));
        let (whole, parts) = decided(&terms, either, none);
        assert_eq!((whole, parts), (None, vec![Constant { term: out, value: false }]));
    }
}
