//! Formulas of computation tree logic about configurations: what may be, and what must be, along all that can happen.
//!
//! A step is a flat event; doing nothing (ε) is none, because then nothing would ever have to happen. A run goes on for ever or
//! ends where no event is possible.

use trellis_expr::TermId;

/// A formula, in the operators that the others are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// A condition.
    Atom(TermId),
    /// Not.
    Not(Box<Formula>),
    /// Both.
    And(Box<Formula>, Box<Formula>),
    /// Either.
    Or(Box<Formula>, Box<Formula>),
    /// After some step.
    Next(Box<Formula>),
    /// On some run, the second at some time, and the first until then.
    Until(Box<Formula>, Box<Formula>),
    /// On some run, all the time.
    Always(Box<Formula>),
}

impl Formula {
    /// Not.
    pub fn negated(a: Formula) -> Formula {
        match a {
            Formula::Not(a) => *a,
            a => Formula::Not(Box::new(a)),
        }
    }

    /// Both.
    pub fn and(a: Formula, b: Formula) -> Formula {
        Formula::And(Box::new(a), Box::new(b))
    }

    /// Either.
    pub fn or(a: Formula, b: Formula) -> Formula {
        Formula::Or(Box::new(a), Box::new(b))
    }

    /// `EX`.
    pub fn may_next(a: Formula) -> Formula {
        Formula::Next(Box::new(a))
    }

    /// `AX`: after every step; also where there is none.
    pub fn must_next(a: Formula) -> Formula {
        Formula::negated(Formula::may_next(Formula::negated(a)))
    }

    /// `E[a U b]`.
    pub fn may_until(a: Formula, b: Formula) -> Formula {
        Formula::Until(Box::new(a), Box::new(b))
    }

    /// `EG`.
    pub fn may_always(a: Formula) -> Formula {
        Formula::Always(Box::new(a))
    }

    /// `A[a U b]`: no run goes on without `b`, and none meets neither before it meets `b`.
    pub fn must_until(a: Formula, b: Formula) -> Formula {
        let neither = Formula::and(Formula::negated(a), Formula::negated(b.clone()));
        let broken = Formula::may_until(Formula::negated(b.clone()), neither);
        Formula::negated(Formula::or(broken, Formula::may_always(Formula::negated(b))))
    }

    /// `AF`: `A[true U a]`.
    pub fn must_some_time(a: Formula) -> Formula {
        Formula::negated(Formula::may_always(Formula::negated(a)))
    }
}
