//! Numbers: comparisons, sums, products, bits.

use dashu_int::IBig;
use rustc_hash::FxHashMap;

use super::may_swap;
use crate::term::{BitOp, Term, TermId, Terms, Type};
use crate::value::Value;

/// A literal number.
fn number(terms: &Terms, t: TermId) -> Option<IBig> {
    match terms.ty(t) {
        Type::Int | Type::Bits { .. } => terms.as_value(t).map(|value| value.number()),
        _ => None,
    }
}

/// The summands without the constant, and the constant.
fn split(terms: &Terms, t: TermId) -> (Vec<TermId>, IBig) {
    if let Some(n) = number(terms, t) {
        return (vec![], n);
    }
    match terms.get(t) {
        Term::Add(args) => match args.split_last() {
            Some((&last, rest)) => match number(terms, last) {
                Some(n) => (rest.to_vec(), n),
                None => (args.to_vec(), IBig::ZERO),
            },
            None => (vec![t], IBig::ZERO),
        },
        _ => (vec![t], IBig::ZERO),
    }
}

/// The sum of terms and a constant.
fn join(terms: &mut Terms, ty: Type, mut parts: Vec<TermId>, constant: IBig) -> TermId {
    parts.push(terms.number(ty, constant));
    terms.add(parts)
}

/// Takes away the summands that both sides have, constants go to the right. None if there is nothing to do.
fn balance(terms: &mut Terms, a: TermId, b: TermId) -> Option<(TermId, TermId)> {
    let ty = terms.ty(a);
    if !matches!(ty, Type::Int | Type::Bits { .. }) {
        return None;
    }
    let ((mut left, k), (mut right, l)) = (split(terms, a), split(terms, b));
    let mut changed = false;
    left.retain(|&p| {
        let same = right.iter().position(|&q| q == p && !terms.may_fault(p));
        if let Some(at) = same {
            right.remove(at);
            changed = true;
        }
        same.is_none()
    });
    // Constants move to the right, unless the right is nothing else than one that stands well on the left.
    let moves = if left.is_empty() { l != IBig::ZERO && !right.is_empty() } else { k != IBig::ZERO };
    if !changed && !moves {
        return None;
    }
    Some(if left.is_empty() {
        (terms.number(ty, k - l), join(terms, ty, right, IBig::ZERO))
    } else {
        (join(terms, ty, left, IBig::ZERO), join(terms, ty, right, l - k))
    })
}

pub(super) fn eq(terms: &mut Terms, t: TermId, a: TermId, b: TermId) -> TermId {
    if terms.as_value(a).is_some() && terms.as_value(b).is_none() {
        return terms.eq(b, a);
    }
    if let Some((a, b)) = balance(terms, a, b) {
        return terms.eq(a, b);
    }
    if let (&Term::Not(p), &Term::Not(q)) = (terms.get(a), terms.get(b)) {
        return terms.eq(p, q);
    }
    if let (Some(n), &Term::Neg(x)) = (number(terms, b), terms.get(a)) {
        let n = terms.number(terms.ty(a), -n);
        return terms.eq(x, n);
    }
    if terms.as_value(b).is_none() && b < a && may_swap(terms, a, b) {
        return terms.eq(b, a);
    }
    if let (&Term::Ite(c, x, y), Some(value)) = (terms.get(a), terms.as_value(b))
        && let (Some(x), Some(y)) = (terms.as_value(x), terms.as_value(y))
    {
        return match (x == value, y == value) {
            (true, false) => c,
            (false, true) => terms.not(c),
            (both, _) if !terms.may_fault(c) => terms.bool(both),
            _ => t,
        };
    }
    match (number(terms, b), terms.bounds(a)) {
        (Some(n), Some((lo, hi))) if !terms.may_fault(a) && (n < IBig::from(lo) || IBig::from(hi) < n) => {
            terms.bool(false)
        }
        _ => t,
    }
}

/// `a < b` or `a ≤ b`.
pub(super) fn less(terms: &mut Terms, t: TermId, a: TermId, b: TermId, strict: bool) -> TermId {
    let ty = terms.ty(a);
    let build = |terms: &mut Terms, a, b, strict| if strict { terms.lt(a, b) } else { terms.le(a, b) };
    // Fixed-width sums wrap around; what is below concerns integers only.
    if ty == Type::Int {
        if let Some((a, b)) = balance(terms, a, b) {
            return build(terms, a, b, strict);
        }
        if let (Some(n), &Term::Neg(x)) = (number(terms, b), terms.get(a)) {
            let n = terms.big(-n);
            return build(terms, n, x, strict);
        }
        if let (Some(n), &Term::Neg(x)) = (number(terms, a), terms.get(b)) {
            let n = terms.big(-n);
            return build(terms, x, n, strict);
        }
        // x < y + 1, x ≤ y - 1.
        let (right, k) = split(terms, b);
        if !right.is_empty() && k == if strict { IBig::ONE } else { -IBig::ONE } {
            let b = join(terms, ty, right, IBig::ZERO);
            return build(terms, a, b, !strict);
        }
    }
    let (least, greatest) = match (ty, terms.type_bounds(ty)) {
        (Type::Bits { .. }, Some((lo, hi))) => (Some(IBig::from(lo)), Some(IBig::from(hi))),
        (Type::Bits { .. }, None) => (Some(IBig::ZERO), Some(IBig::from(u64::MAX))),
        _ => (None, None),
    };
    if let Some(n) = number(terms, b) {
        if strict {
            if Some(&n) == least.as_ref() {
                return if terms.may_fault(a) { t } else { terms.bool(false) };
            }
            let n = terms.number(ty, n - IBig::ONE);
            return terms.le(a, n);
        }
        return match terms.bounds(a) {
            _ if terms.may_fault(a) => t,
            _ if Some(&n) == greatest.as_ref() => terms.bool(true),
            Some((_, hi)) if IBig::from(hi) <= n => terms.bool(true),
            Some((lo, _)) if IBig::from(lo) > n => terms.bool(false),
            _ => t,
        };
    }
    if let Some(n) = number(terms, a) {
        if strict {
            if Some(&n) == greatest.as_ref() {
                return if terms.may_fault(b) { t } else { terms.bool(false) };
            }
            let n = terms.number(ty, n + IBig::ONE);
            return terms.le(n, b);
        }
        return match terms.bounds(b) {
            _ if terms.may_fault(b) => t,
            _ if Some(&n) == least.as_ref() => terms.bool(true),
            Some((lo, _)) if IBig::from(lo) >= n => terms.bool(true),
            Some((_, hi)) if IBig::from(hi) < n => terms.bool(false),
            _ => t,
        };
    }
    t
}

/// A factor and what it multiplies.
fn factor(terms: &Terms, t: TermId) -> (IBig, TermId) {
    match *terms.get(t) {
        Term::Neg(a) => {
            let (n, a) = factor_of_product(terms, a);
            (-n, a)
        }
        _ => factor_of_product(terms, t),
    }
}

fn factor_of_product(terms: &Terms, t: TermId) -> (IBig, TermId) {
    match *terms.get(t) {
        Term::Mul(a, b) => match number(terms, a) {
            Some(n) => (n, b),
            None => (IBig::ONE, t),
        },
        _ => (IBig::ONE, t),
    }
}

fn product(terms: &mut Terms, n: &IBig, t: TermId) -> TermId {
    if *n == -IBig::ONE {
        return terms.neg(t);
    }
    let n = terms.number(terms.ty(t), n.clone());
    terms.mul(n, t)
}

/// Collects multiples of the same term, if it cannot fault.
pub(super) fn sum(terms: &mut Terms, t: TermId) -> TermId {
    let ty = terms.ty(t);
    let (parts, constant) = split(terms, t);
    let mut places: FxHashMap<TermId, usize> = FxHashMap::default();
    let mut collected: Vec<(Option<IBig>, TermId)> = vec![];
    let mut changed = false;
    for p in parts {
        let (n, base) = factor(terms, p);
        if terms.may_fault(base) {
            collected.push((None, p));
            continue;
        }
        match places.get(&base) {
            Some(&at) => {
                if let Some(sum) = &mut collected[at].0 {
                    *sum += n;
                }
                changed = true;
            }
            None => {
                places.insert(base, collected.len());
                collected.push((Some(n), base));
            }
        }
    }
    if !changed {
        return t;
    }
    let mut parts = vec![];
    for (n, base) in collected {
        match n {
            Some(n) if n == IBig::ZERO => {}
            Some(n) => parts.push(product(terms, &n, base)),
            None => parts.push(base),
        }
    }
    join(terms, ty, parts, constant)
}

pub(super) fn neg(terms: &mut Terms, t: TermId, a: TermId) -> TermId {
    match *terms.get(a) {
        Term::Add(ref args) => {
            let args = args.clone();
            let negated: Vec<TermId> = args.iter().map(|&p| terms.neg(p)).collect();
            terms.add(negated)
        }
        Term::Mul(x, y) => match number(terms, x) {
            Some(n) => {
                let n = terms.number(terms.ty(a), -n);
                terms.mul(n, y)
            }
            None => t,
        },
        _ => t,
    }
}

pub(super) fn mul(terms: &mut Terms, t: TermId, a: TermId, b: TermId) -> TermId {
    let ty = terms.ty(t);
    match (number(terms, a), number(terms, b)) {
        (None, Some(_)) => terms.mul(b, a),
        (Some(n), None) => match *terms.get(b) {
            _ if n == -IBig::ONE => terms.neg(b),
            Term::Neg(x) => {
                let n = terms.number(ty, -n);
                terms.mul(n, x)
            }
            Term::Mul(x, y) => match number(terms, x) {
                Some(m) => {
                    let n = terms.number(ty, n * m);
                    terms.mul(n, y)
                }
                None => t,
            },
            _ => t,
        },
        _ => t,
    }
}

/// Quotients and remainders by 1 and −1.
pub(super) fn div(terms: &mut Terms, t: TermId, a: TermId, b: TermId) -> TermId {
    let quotient = matches!(terms.get(t), Term::Div(..));
    match number(terms, b) {
        Some(n) if n == IBig::ONE && quotient => a,
        Some(n) if n == -IBig::ONE && quotient => terms.neg(a),
        Some(n) if (n == IBig::ONE || n == -IBig::ONE) && !quotient && !terms.may_fault(a) => {
            terms.number(terms.ty(a), IBig::ZERO)
        }
        _ => t,
    }
}

pub(super) fn bit(terms: &mut Terms, t: TermId, op: BitOp, a: TermId, b: TermId) -> TermId {
    let safe = !terms.may_fault(a) && !terms.may_fault(b);
    let ones = |t: TermId| match (terms.as_value(t), terms.ty(t)) {
        (Some(value), Type::Int) => value.number() == -IBig::ONE,
        (Some(Value::Bits { width, bits, .. }), _) => bits == u64::MAX >> (64 - width),
        _ => false,
    };
    let (ones_a, ones_b) = (ones(a), ones(b));
    let zero = |t: Option<IBig>| t == Some(IBig::ZERO);
    let (zero_a, zero_b) = (zero(number(terms, a)), zero(number(terms, b)));
    match op {
        BitOp::And | BitOp::Or if a == b => a,
        BitOp::Xor if a == b && safe => terms.number(terms.ty(a), IBig::ZERO),
        BitOp::And if ones_a => b,
        BitOp::And if ones_b => a,
        BitOp::And if zero_a && safe => a,
        BitOp::And if zero_b && safe => b,
        BitOp::Or if ones_a && safe => a,
        BitOp::Or if ones_b && safe => b,
        BitOp::Or | BitOp::Xor if zero_a => b,
        BitOp::Or | BitOp::Xor if zero_b => a,
        BitOp::Shl | BitOp::Shr if zero_b => a,
        _ => t,
    }
}
