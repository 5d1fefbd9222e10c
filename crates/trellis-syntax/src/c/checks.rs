//! What a program is asked: its assertions, and that nothing is undefined (C11 J.2, as far as it is read here).
//!
//! A *check* is a condition that must hold where an expression is evaluated. It has a kind, a place in the source, and an error
//! location of its own; an edge leads there from where the condition is false, and all that comes after it assumes that it is true.
//! So a run stops at the first thing that is undefined, and what a check says is said of runs on which nothing failed before. The same
//! check in a function that is inlined several times is one check.
//!
//! What is not asked is assumed, as the rules of SV-COMP's `unreach-call` have it: the run ends there. Overflow, which wraps then, and
//! values that were never set, which are anything, are the exceptions.
//!
//! Conversions between integers are never undefined (C11 6.3.1.3: the result is the implementation's, and gcc wraps), so they are not
//! checked. A left shift that loses bits, or of a negative number (6.5.7), is an overflow; a quotient that is not in the type
//! (`INT_MIN / -1`, 6.5.5) traps on many machines, and is checked with the divisors.

use lang_c::span::Span as CSpan;
use trellis_expr::{Division, TermId};
use trellis_model::cfa::{Edge, Kind as LocationKind, Location, LocationId, Place};

use super::Ints;
use super::lower::{Lower, Val};
use super::types::IntType;

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `assert`, `reach_error`.
    Assertion,
    /// An index within its array, a pointer within what it points into.
    Bounds,
    /// A pointer that is not null, and points to something that is still there.
    Pointer,
    /// A divisor that is not zero, a quotient within its type.
    Division,
    /// The distance of a shift.
    Shift,
    /// The end of a function whose value is used, or that is declared not to return.
    Return,
    /// A function that is called and has no body.
    Call,
    /// A signed result within its type.
    Overflow,
    /// A value that was set before it is read.
    Uninitialised,
}

impl Kind {
    /// All of them, as reports list them.
    pub const ALL: [Kind; 9] = [
        Kind::Assertion,
        Kind::Bounds,
        Kind::Pointer,
        Kind::Division,
        Kind::Shift,
        Kind::Return,
        Kind::Call,
        Kind::Overflow,
        Kind::Uninitialised,
    ];

    /// Its name, as in `error_bounds`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Assertion => "assertion",
            Kind::Bounds => "bounds",
            Kind::Pointer => "pointer",
            Kind::Division => "division",
            Kind::Shift => "shift",
            Kind::Return => "return",
            Kind::Call => "call",
            Kind::Overflow => "overflow",
            Kind::Uninitialised => "uninitialised",
        }
    }

    /// So many checks of this kind, in words: `14 bounds checks`.
    pub fn count(self, n: usize) -> String {
        let s = if n == 1 { "" } else { "s" };
        match self {
            Kind::Assertion => format!("{n} assertion{s}"),
            Kind::Uninitialised => format!("{n} check{s} for values never set"),
            Kind::Call => format!("{n} call{s} of functions without a body"),
            kind => format!("{n} {} check{s}", kind.name()),
        }
    }
}

/// Some kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// None of them.
    pub const NONE: Kinds = Kinds(0);
    /// Assertions, and all else is assumed.
    pub const ASSERTIONS: Kinds = Kinds(1 << Kind::Assertion as u16);

    /// These.
    pub fn of(kinds: &[Kind]) -> Kinds {
        kinds.iter().fold(Kinds::NONE, |all, kind| all.with(*kind))
    }

    /// One more.
    #[must_use]
    pub fn with(self, kind: Kind) -> Kinds {
        Kinds(self.0 | 1 << kind as u16)
    }

    /// Those of both.
    #[must_use]
    pub fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Is it one of them?
    pub fn contains(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u16 != 0
    }
}

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds::ASSERTIONS
    }
}

/// Something that must hold somewhere in the program.
#[derive(Debug, Clone)]
pub struct Check {
    /// What it is about.
    pub kind: Kind,
    /// Where it is.
    pub place: Place,
    /// What it says, or what goes wrong: `assert(x > 0)`, `division by zero`.
    pub text: String,
    /// Where control goes if it fails; none if it plainly cannot, or is in a part of the program that no way leads to.
    pub location: Option<LocationId>,
}

/// A condition that terms need, and the check that it is, if it is one.
#[derive(Debug, Clone, Copy)]
pub struct Def {
    pub term: TermId,
    pub check: Option<usize>,
}

/// Longer pieces of source are cut.
const MAX_SNIPPET: usize = 48;
/// So many conditions are assumed together.
const MAX_HELD: usize = 64;

impl Lower<'_> {
    /// Is anybody interested?
    pub fn asks(&self, kind: Kind) -> bool {
        self.options.checks.contains(kind)
    }

    /// The check of this kind at this place, if it is asked for and control comes here.
    pub fn check(&mut self, kind: Kind, span: CSpan, text: impl FnOnce(&Self) -> String) -> Option<usize> {
        if !self.asks(kind) || self.at.is_none() {
            return None;
        }
        let text = text(self);
        let key = (kind, span.start, span.end, text.clone());
        if let Some(&known) = self.check_numbers.get(&key) {
            return Some(known);
        }
        let number = self.checks.len();
        self.checks.push(Check { kind, place: self.place(span), text, location: None });
        self.check_numbers.insert(key, number);
        Some(number)
    }

    /// Where control goes if a check fails.
    pub fn failure(&mut self, check: usize) -> LocationId {
        if let Some(location) = self.checks[check].location {
            return location;
        }
        let Check { kind, place, .. } = self.checks[check];
        let name = format!("error_{}_{}", kind.name(), check + 1);
        let location = self.cfa.add_location(Location { name, kind: LocationKind::Error, place: Some(place) });
        self.checks[check].location = Some(location);
        location
    }

    /// Where an assertion leads that does not hold: to the end, if nobody asks about it.
    pub fn refuted(&mut self, span: CSpan, text: String) -> LocationId {
        match self.check(Kind::Assertion, span, |_| text) {
            Some(check) => self.failure(check),
            None => self.end,
        }
    }

    /// Notes what must hold for a term to have a value.
    pub fn must(&mut self, defined: TermId, kind: Kind, span: CSpan, text: impl FnOnce(&Self) -> String) {
        let check = self.check(kind, span, text);
        if self.cfa.terms.as_bool(defined) != Some(true) {
            self.defs.push(Def { term: defined, check });
        }
    }

    /// All that must hold since the last edge. What does not leads to an error from here.
    pub fn guards(&mut self, span: CSpan) -> Vec<TermId> {
        let mut held = vec![];
        for def in std::mem::take(&mut self.defs) {
            if held.contains(&def.term) {
                continue;
            }
            if let (Some(check), Some(from)) = (def.check, self.at) {
                let to = self.failure(check);
                let terms = self.terms();
                let not = terms.not(def.term);
                let fails = terms.and(held.iter().copied().chain([not]));
                if terms.as_bool(fails) != Some(false) {
                    let stmt = terms.assume(fails);
                    let place = self.checks[check].place;
                    self.edge_at(Edge { from, stmt, to, place: Some(place) }, span);
                }
            }
            held.push(def.term);
            if held.len() >= MAX_HELD
                && let Some(from) = self.at
            {
                // A step of their own, for each of the others would repeat them all.
                let all = self.terms().and(std::mem::take(&mut held));
                let (stmt, to) = (self.terms().assume(all), self.location(span));
                self.edge(from, stmt, to, span);
                self.at = Some(to);
            }
        }
        held
    }

    /// The source text of something, in one line.
    pub fn snippet(&self, span: CSpan) -> String {
        let at = self.map.span(span.start, span.end);
        let text = &self.sources.get(at.source).text;
        let text = text.get(at.start as usize..at.end as usize).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match text.char_indices().nth(MAX_SNIPPET) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        }
    }

    // Arithmetic.

    /// A divisor is not zero, and the quotient is in the type.
    pub fn divisible(&mut self, ty: IntType, a: TermId, b: TermId, span: CSpan) {
        let zero = self.number(ty, 0);
        let defined = self.terms().ne(b, zero);
        self.must(defined, Kind::Division, span, |s| format!("{}: division by zero", s.snippet(span)));
        if !ty.signed || !self.asks(Kind::Division) && !self.asks(Kind::Overflow) {
            return;
        }
        let kind = if self.asks(Kind::Division) { Kind::Division } else { Kind::Overflow };
        let [least, minus] = [ty.least(), -1].map(|n| self.number(ty, n));
        let terms = self.terms();
        let (edge, flips) = (terms.eq(a, least), terms.eq(b, minus));
        let both = terms.and([edge, flips]);
        let defined = terms.not(both);
        self.must(defined, kind, span, |s| format!("{}: the quotient is not in its type", s.snippet(span)));
    }

    /// A signed sum, difference or product is in its type.
    pub fn no_overflow(&mut self, what: Operation, ty: IntType, a: TermId, b: TermId, span: CSpan) {
        if !ty.signed || !self.asks(Kind::Overflow) {
            return;
        }
        let defined = match self.ints() {
            Ints::Math => {
                let terms = self.terms();
                let exact = match what {
                    Operation::Add => terms.add([a, b]),
                    Operation::Subtract => terms.sub(a, b),
                    Operation::Multiply => terms.mul(a, b),
                };
                self.in_range(ty, ty, exact)
            }
            Ints::Wrap => self.exact(what, ty, a, b),
        };
        self.must(defined, Kind::Overflow, span, |s| format!("{}: overflow", s.snippet(span)));
    }

    /// Is a number of type `of` one of type `ty`?
    fn in_range(&mut self, ty: IntType, of: IntType, n: TermId) -> TermId {
        let [least, most] = [ty.least(), ty.most()].map(|bound| self.number(of, bound));
        let terms = self.terms();
        let (low, high) = (terms.le(least, n), terms.le(n, most));
        terms.and([low, high])
    }

    /// Is the wrapped result the exact one?
    fn exact(&mut self, what: Operation, ty: IntType, a: TermId, b: TermId) -> TermId {
        let zero = self.number(ty, 0);
        let terms = self.terms();
        match what {
            // What is added makes a sum smaller exactly if it is negative.
            Operation::Add => {
                let sum = terms.add([a, b]);
                let (negative, smaller) = (terms.lt(b, zero), terms.lt(sum, a));
                terms.eq(negative, smaller)
            }
            Operation::Subtract => {
                let difference = terms.sub(a, b);
                let (positive, smaller) = (terms.lt(zero, b), terms.lt(difference, a));
                terms.eq(positive, smaller)
            }
            Operation::Multiply => {
                for (x, factor) in [(a, b), (b, a)] {
                    let n = self.cfa.terms.as_value(factor).and_then(|v| i128::try_from(&v.number()).ok());
                    if let Some(n) = n {
                        return self.times(ty, x, n);
                    }
                }
                let wide = IntType::long_long(true);
                if ty.width < wide.width {
                    let sort = wide.sort(Ints::Wrap);
                    let terms = self.terms();
                    let (a, b) = (terms.convert(sort, a), terms.convert(sort, b));
                    let product = terms.mul(a, b);
                    return self.in_range(ty, wide, product);
                }
                let [least, minus] = [ty.least(), -1].map(|n| self.number(ty, n));
                let terms = self.terms();
                let none = terms.eq(a, zero);
                let (flips, edge) = (terms.eq(a, minus), terms.eq(b, least));
                let wraps = terms.and([flips, edge]);
                let product = terms.mul(a, b);
                let back = terms.div(Division::Truncating, product, a);
                let (fits, same) = (terms.not(wraps), terms.eq(back, b));
                let exact = terms.and([fits, same]);
                terms.or([none, exact])
            }
        }
    }

    /// Is the product with a known number in the type?
    fn times(&mut self, ty: IntType, x: TermId, n: i128) -> TermId {
        let (least, most) = (ty.least(), ty.most());
        let (low, high) = match n {
            0 => return self.terms().bool(true),
            1.. => (least / n, most / n),
            _ => (most / n, least / n),
        };
        let [low, high] = [low.max(least), high.min(most)].map(|bound| self.number(ty, bound));
        let terms = self.terms();
        let (low, high) = (terms.le(low, x), terms.le(x, high));
        terms.and([low, high])
    }

    /// A left shift of a signed number (C11 6.5.7): not of a negative one, and no bit is lost. The distance is less than the width.
    pub fn no_lost_bits(&mut self, a: Val, distance: TermId, by: IntType, span: CSpan) {
        if !a.ty.signed || !self.asks(Kind::Overflow) {
            return;
        }
        let term = self.plain(a);
        let zero = self.number(a.ty, 0);
        let mut fits = vec![self.terms().le(zero, term)];
        // The largest number for each distance: there are as many as the type has bits.
        for n in 0..a.ty.width {
            let [n_term, most] = [self.number(by, n.into()), self.number(a.ty, a.ty.most() >> n)];
            let terms = self.terms();
            let (this, small) = (terms.eq(distance, n_term), terms.le(term, most));
            fits.push(terms.implies(this, small));
        }
        let defined = self.terms().and(fits);
        self.must(defined, Kind::Overflow, span, |s| format!("{}: overflow", s.snippet(span)));
    }
}

/// What overflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Add,
    Subtract,
    Multiply,
}
