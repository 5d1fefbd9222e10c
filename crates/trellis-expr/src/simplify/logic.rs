//! Truth values and `ite`.

use std::sync::Arc;

use dashu_int::IBig;
use rustc_hash::FxHashMap;

use super::may_swap;
use crate::term::{Term, TermId, Terms, Type};

pub(super) fn not(terms: &mut Terms, t: TermId, a: TermId) -> TermId {
    match *terms.get(a) {
        Term::Lt(x, y) if may_swap(terms, x, y) => terms.le(y, x),
        Term::Le(x, y) if may_swap(terms, x, y) => terms.lt(y, x),
        Term::And(ref args) if args.iter().all(|&p| is_simple(terms, p)) => {
            let args = negated(terms, &args.clone());
            terms.or(args)
        }
        Term::Or(ref args) if args.iter().all(|&p| is_simple(terms, p)) => {
            let args = negated(terms, &args.clone());
            terms.and(args)
        }
        _ => t,
    }
}

/// Not composed of other truth values.
fn is_simple(terms: &Terms, t: TermId) -> bool {
    !matches!(terms.get(t), Term::And(_) | Term::Or(_) | Term::Ite(..))
}

fn negated(terms: &mut Terms, args: &[TermId]) -> Vec<TermId> {
    args.iter().map(|&p| terms.not(p)).collect()
}

/// What the parts of a connective that came out neutral say about later ones.
struct Context {
    neutral: bool,
    /// Terms that are known to be true or false.
    facts: FxHashMap<TermId, bool>,
    /// Numbers that are known to lie within bounds.
    bounds: FxHashMap<TermId, (Option<IBig>, Option<IBig>)>,
}

impl Context {
    /// The part came out neutral.
    fn learn(&mut self, terms: &Terms, part: TermId) {
        let (t, value) = match *terms.get(part) {
            Term::Not(t) => (t, !self.neutral),
            _ => (part, self.neutral),
        };
        self.facts.insert(t, value);
        if let Some((x, lo, hi)) = bound(terms, t, value) {
            let known = self.bounds.entry(x).or_default();
            if let Some(lo) = lo {
                known.0 = Some(known.0.take().map_or(lo.clone(), |l| l.max(lo)));
            }
            if let Some(hi) = hi {
                known.1 = Some(known.1.take().map_or(hi.clone(), |h| h.min(hi)));
            }
        }
    }

    /// The truth value that the part must have here. Asking is safe: what is known has been evaluated before.
    fn knows(&self, terms: &Terms, part: TermId) -> Option<bool> {
        let (t, sign) = match *terms.get(part) {
            Term::Not(t) => (t, false),
            _ => (part, true),
        };
        if let Some(&value) = self.facts.get(&t) {
            return Some(value == sign);
        }
        let within = |value: bool| {
            let (x, lo, hi) = bound(terms, t, value)?;
            let (l, h) = self.bounds.get(&x)?;
            Some((l.clone(), h.clone(), lo, hi))
        };
        let implied = |value: bool| {
            within(value).is_some_and(|(l, h, lo, hi)| {
                lo.is_none_or(|lo| l.is_some_and(|l| l >= lo)) && hi.is_none_or(|hi| h.is_some_and(|h| h <= hi))
            })
        };
        let excluded = |value: bool| {
            within(value).is_some_and(|(l, h, lo, hi)| {
                lo.is_some_and(|lo| h.is_some_and(|h| h < lo)) || hi.is_some_and(|hi| l.is_some_and(|l| l > hi))
            })
        };
        match () {
            () if implied(true) || excluded(false) => Some(sign),
            () if implied(false) || excluded(true) => Some(!sign),
            () => None,
        }
    }
}

type Bound = (TermId, Option<IBig>, Option<IBig>);

/// A comparison with a literal, as bounds: those that hold exactly if the comparison has the given truth value.
fn bound(terms: &Terms, t: TermId, value: bool) -> Option<Bound> {
    let number = |t: TermId| match terms.ty(t) {
        Type::Int | Type::Bits { .. } => terms.as_value(t).map(|value| value.number()),
        _ => None,
    };
    let one = IBig::ONE;
    Some(match *terms.get(t) {
        Term::Eq(x, c) if value => {
            let c = number(c)?;
            (x, Some(c.clone()), Some(c))
        }
        Term::Le(a, b) => match (number(a), number(b)) {
            (None, Some(c)) if value => (a, None, Some(c)),
            (None, Some(c)) => (a, Some(c + one), None),
            (Some(c), None) if value => (b, Some(c), None),
            (Some(c), None) => (b, None, Some(c - one)),
            _ => return None,
        },
        _ => return None,
    })
}

pub(super) fn connective(terms: &mut Terms, args: &[TermId], neutral: bool) -> TermId {
    let mut context = Context { neutral, facts: FxHashMap::default(), bounds: FxHashMap::default() };
    let mut parts: Vec<TermId> = vec![];
    for &part in args {
        let part = inner(terms, &context, part);
        match context.knows(terms, part) {
            Some(value) if value == neutral => {}
            Some(value) => {
                parts.push(terms.bool(value));
                break;
            }
            None => {
                context.learn(terms, part);
                parts.push(part);
            }
        }
    }
    // What cannot fault is not worth evaluating right before the end.
    if parts.last().is_some_and(|&p| terms.as_bool(p) == Some(!neutral)) {
        let end = parts.pop();
        while parts.last().is_some_and(|&p| !terms.may_fault(p)) {
            parts.pop();
        }
        parts.extend(end);
    }
    if neutral { terms.and(parts) } else { terms.or(parts) }
}

/// A part that is itself a connective (the other one), in the light of what is known.
fn inner(terms: &mut Terms, context: &Context, part: TermId) -> TermId {
    let args: Arc<[TermId]> = match terms.get(part) {
        Term::And(args) | Term::Or(args) => args.clone(),
        _ => return part,
    };
    let dual = matches!(terms.get(part), Term::And(_));
    let known: Vec<TermId> = args
        .iter()
        .map(|&p| match context.knows(terms, p) {
            Some(value) => terms.bool(value),
            None => p,
        })
        .collect();
    if dual { terms.and(known) } else { terms.or(known) }
}

pub(super) fn ite(terms: &mut Terms, t: TermId, c: TermId, a: TermId, b: TermId) -> TermId {
    if let Term::Not(d) = *terms.get(c) {
        return terms.ite(d, b, a);
    }
    match (terms.as_bool(a), terms.as_bool(b)) {
        (Some(true), _) => return terms.or([c, b]),
        (_, Some(false)) => return terms.and([c, a]),
        (Some(false), _) => {
            let not = terms.not(c);
            return terms.and([not, b]);
        }
        (_, Some(true)) => {
            let not = terms.not(c);
            return terms.or([not, a]);
        }
        _ => {}
    }
    match (terms.get(a).clone(), terms.get(b).clone()) {
        (Term::Ite(d, x, _), _) if d == c => terms.ite(c, x, b),
        (_, Term::Ite(d, _, y)) if d == c => terms.ite(c, a, y),
        (_, Term::Ite(d, x, y)) if x == a => {
            let either = terms.or([c, d]);
            terms.ite(either, a, y)
        }
        (Term::Ite(d, x, y), _) if y == b => {
            let both = terms.and([c, d]);
            terms.ite(both, x, b)
        }
        _ => t,
    }
}
