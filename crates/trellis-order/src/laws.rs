//! The law suite: what a partial order, a join and a meet must satisfy (000 App. A.1), checked on samples.
//!
//! The laws are stated once, for any [`Domain`] and a slice of elements owned in whatever way suits it; [`audit`] draws
//! elements of a [`Lattice`] and applies them all. Tests use it on the library's lattices, and the
//! program uses it on a user's lattice when that is loaded. Samples can show a law broken, never that it holds. Checks
//! take time cubic in the number of samples: pass a dozen or two at a time.
//!
//! "The same" below means each `⊑` the other, so that a domain without canonical elements can be checked too;
//! [`antisymmetry`] is the law that makes it mean equal.

use std::borrow::{Borrow, BorrowMut};
use std::fmt;

use crate::lattice::{Lattice, Shown, Word};
use crate::{Domain, Join, Meet};

mod audit;

pub use audit::{AuditReport, audit};

/// A law, and elements that break it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation<S = Vec<Word>> {
    /// The law.
    pub law: Law,
    /// The elements that its statement calls a, b, c, in this order.
    pub elements: Vec<S>,
}

/// What can be broken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // `statement` says what each means.
pub enum Law {
    Reflexive,
    Transitive,
    Antisymmetric,
    BottomLeast,
    BottomRecognised,
    JoinUpper,
    JoinLeast,
    JoinIdempotent,
    JoinCommutative,
    JoinAssociative,
    JoinGrew,
    TopGreatest,
    MeetLower,
    MeetGreatest,
    MeetIdempotent,
    MeetCommutative,
    MeetAssociative,
    MeetShrank,
    Absorption,
    /// The named method gives an element whose words are not those of an equal element.
    Canonical(String),
    /// The named method gives different results for the same element and arguments.
    Deterministic(String),
    /// The named method does not move as its mark says.
    Marked(String),
}

impl Law {
    /// The law in a line.
    pub fn statement(&self) -> &'static str {
        match self {
            Law::Reflexive => "the order is reflexive: a ⊑ a",
            Law::Transitive => "the order is transitive: if a ⊑ b and b ⊑ c then a ⊑ c",
            Law::Antisymmetric => "the order is antisymmetric: if a ⊑ b and b ⊑ a then a = b, in memory too",
            Law::BottomLeast => "bottom is least: if a is bottom then a ⊑ b",
            Law::BottomRecognised => "bottom is recognised: a is bottom iff it equals the bottom b",
            Law::JoinUpper => "join is an upper bound: a ⊑ a ⊔ b and b ⊑ a ⊔ b",
            Law::JoinLeast => "join is the least upper bound: if a ⊑ c and b ⊑ c then a ⊔ b ⊑ c",
            Law::JoinIdempotent => "join is idempotent: a ⊔ a = a",
            Law::JoinCommutative => "join is commutative: a ⊔ b = b ⊔ a",
            Law::JoinAssociative => "join is associative: (a ⊔ b) ⊔ c = a ⊔ (b ⊔ c)",
            Law::JoinGrew => "join answers whether a grew: yes iff not b ⊑ a",
            Law::TopGreatest => "top is greatest: if a is top then b ⊑ a",
            Law::MeetLower => "meet is a lower bound: a ⊓ b ⊑ a and a ⊓ b ⊑ b",
            Law::MeetGreatest => "meet is the greatest lower bound: if c ⊑ a and c ⊑ b then c ⊑ a ⊓ b",
            Law::MeetIdempotent => "meet is idempotent: a ⊓ a = a",
            Law::MeetCommutative => "meet is commutative: a ⊓ b = b ⊓ a",
            Law::MeetAssociative => "meet is associative: (a ⊓ b) ⊓ c = a ⊓ (b ⊓ c)",
            Law::MeetShrank => "meet answers whether a shrank: yes iff not a ⊑ b",
            Law::Absorption => "join and meet absorb: a ⊔ (a ⊓ b) = a and a ⊓ (a ⊔ b) = a",
            Law::Canonical(_) => "a method applied to a gives b, which equals c but differs from it in memory",
            Law::Marked(_) => {
                "a method moves as its mark says, and fails on a larger element if it does on a smaller: a ⊑ b"
            }
            Law::Deterministic(_) => "a method applied to a gives b, and then, to the same, c",
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::Canonical(method) | Law::Deterministic(method) | Law::Marked(method) => {
                write!(f, "{} ({method})", self.statement())
            }
            _ => f.write_str(self.statement()),
        }
    }
}

impl<S: fmt::Debug> fmt::Display for Violation<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a law is broken: {}", self.law)?;
        for (letter, elem) in ('a'..).zip(&self.elements) {
            write!(f, "\n  {letter} = {elem:?}")?;
        }
        Ok(())
    }
}

impl<S: fmt::Debug> std::error::Error for Violation<S> {}

impl Violation {
    /// The same message, with elements shown as their lattice shows them.
    pub fn explain(&self, lattice: &dyn Lattice) -> String {
        let mut text = format!("{} breaks a law: {}", lattice.name(), self.law);
        for (letter, elem) in ('a'..).zip(&self.elements) {
            text += &format!("\n  {letter} = {}", Shown(lattice, elem));
        }
        text
    }
}

/// Turns a failed check into a violation.
fn ensure<S: Clone>(holds: bool, law: Law, elements: &[&S]) -> Result<(), Violation<S>> {
    if holds {
        return Ok(());
    }
    let elements = elements.iter().map(|&elem| elem.clone()).collect();
    Err(Violation { law, elements })
}

/// Is each `⊑` the other?
fn same<D: Domain + ?Sized>(domain: &D, a: &D::Elem, b: &D::Elem) -> bool {
    domain.leq(a, b) && domain.leq(b, a)
}

/// `⊑` is reflexive and transitive, and what is bottom is least.
pub fn order<D, S>(domain: &D, samples: &[S]) -> Result<(), Violation<S>>
where
    D: Domain + ?Sized,
    S: Borrow<D::Elem> + Clone,
{
    let leq = |a: &S, b: &S| domain.leq(a.borrow(), b.borrow());
    for a in samples {
        ensure(leq(a, a), Law::Reflexive, &[a])?;
        for b in samples {
            ensure(!domain.is_bottom(a.borrow()) || leq(a, b), Law::BottomLeast, &[a, b])?;
            if leq(a, b) {
                for c in samples {
                    ensure(!leq(b, c) || leq(a, c), Law::Transitive, &[a, b, c])?;
                }
            }
        }
    }
    Ok(())
}

/// Elements that are below each other are equal. Only for domains whose elements are canonical.
pub fn antisymmetry<D, S>(domain: &D, samples: &[S]) -> Result<(), Violation<S>>
where
    D: Domain + ?Sized,
    S: Borrow<D::Elem> + Clone + PartialEq,
{
    for a in samples {
        for b in samples {
            ensure(a == b || !same(domain, a.borrow(), b.borrow()), Law::Antisymmetric, &[a, b])?;
        }
    }
    Ok(())
}

/// `⊔` is the least upper bound, is associative, commutative and idempotent, and reports growth truthfully.
pub fn join<D, S>(domain: &D, samples: &[S]) -> Result<(), Violation<S>>
where
    D: Join + ?Sized,
    S: BorrowMut<D::Elem> + Clone,
{
    let names = [
        Law::JoinUpper,
        Law::JoinGrew,
        Law::JoinLeast,
        Law::JoinIdempotent,
        Law::JoinCommutative,
        Law::JoinAssociative,
    ];
    bound(samples, names, |a, b| domain.leq(a, b), |a, b| domain.join(a, b))
}

/// `⊓` is the greatest lower bound, is associative, commutative and idempotent, and reports shrinking truthfully; top
/// is above everything.
pub fn meet<D, S>(domain: &D, samples: &[S]) -> Result<(), Violation<S>>
where
    D: Meet + ?Sized,
    S: BorrowMut<D::Elem> + Clone,
{
    for b in samples {
        let mut a = b.clone();
        domain.top(a.borrow_mut());
        ensure(domain.leq(b.borrow(), a.borrow()), Law::TopGreatest, &[&a, b])?;
    }
    let names = [
        Law::MeetLower,
        Law::MeetShrank,
        Law::MeetGreatest,
        Law::MeetIdempotent,
        Law::MeetCommutative,
        Law::MeetAssociative,
    ];
    bound(samples, names, |a, b| domain.leq(b, a), |a, b| domain.meet(a, b))
}

/// The laws of [`join`], which upside down are those of [`meet`].
fn bound<E: ?Sized, S: BorrowMut<E> + Clone>(
    samples: &[S],
    [is_bound, change, best, idempotent, commutative, associative]: [Law; 6],
    leq: impl Fn(&E, &E) -> bool,
    combine: impl Fn(&mut E, &E) -> bool,
) -> Result<(), Violation<S>> {
    let leq = |a: &S, b: &S| leq(a.borrow(), b.borrow());
    let same = |a: &S, b: &S| leq(a, b) && leq(b, a);
    let combined = |a: &S, b: &S| {
        let mut result = a.clone();
        let changed = combine(result.borrow_mut(), b.borrow());
        (result, changed)
    };
    let pairs = || samples.iter().flat_map(|a| samples.iter().map(move |b| (a, b)));

    // In this order the law that is reported is the one that says most about the mistake: the algebraic laws at the
    // end follow from the bounds.
    for (a, b) in pairs() {
        let (ab, changed) = combined(a, b);
        ensure(leq(a, &ab) && leq(b, &ab), is_bound.clone(), &[a, b])?;
        ensure(changed != leq(b, a), change.clone(), &[a, b])?;
    }
    for (a, b) in pairs() {
        let (ab, _) = combined(a, b);
        for c in samples.iter().filter(|c| leq(a, c) && leq(b, c)) {
            ensure(leq(&ab, c), best.clone(), &[a, b, c])?;
        }
    }
    for (a, b) in pairs() {
        let (ab, _) = combined(a, b);
        ensure(same(&combined(a, a).0, a), idempotent.clone(), &[a])?;
        ensure(same(&ab, &combined(b, a).0), commutative.clone(), &[a, b])?;
        for c in samples {
            let right = combined(a, &combined(b, c).0).0;
            ensure(same(&combined(&ab, c).0, &right), associative.clone(), &[a, b, c])?;
        }
    }
    Ok(())
}

/// `⊔` and `⊓` absorb each other: they belong to the same order.
pub fn absorption<J, M, S>(joins: &J, meets: &M, samples: &[S]) -> Result<(), Violation<S>>
where
    J: Join + ?Sized,
    M: Meet<Elem = J::Elem> + ?Sized,
    S: BorrowMut<J::Elem> + Clone,
{
    for a in samples {
        for b in samples {
            let mut up = a.clone();
            joins.join(up.borrow_mut(), b.borrow());
            let mut down = a.clone();
            meets.meet(down.borrow_mut(), up.borrow());
            ensure(same(joins, down.borrow(), a.borrow()), Law::Absorption, &[a, b])?;

            let mut down = a.clone();
            meets.meet(down.borrow_mut(), b.borrow());
            let mut up = a.clone();
            joins.join(up.borrow_mut(), down.borrow());
            ensure(same(joins, up.borrow(), a.borrow()), Law::Absorption, &[a, b])?;
        }
    }
    Ok(())
}
