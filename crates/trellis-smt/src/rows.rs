//! Systems of linear inequalities over the rationals, on the solver's own simplex: is there a solution, or a combination of the rows
//! that shows there is none?
//!
//! Made for asking many similar questions: rows stay, lower bounds on some of them come with each question and go with it, and the
//! simplex goes on from where it was. Nothing here is about integers.

use dashu_int::IBig;

use crate::embedded::rat::Rat;
use crate::embedded::simplex::{Column, Farkas, Side, Simplex, Why};
use crate::{Meter, Reason};

/// Variables and rows.
#[derive(Default)]
pub struct Rows {
    simplex: Simplex,
}

/// A variable or a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Column);

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Solved {
    /// There is a solution: ask [`Rows::is`].
    Yes,
    /// There is none: lower bounds of these rows (and variables), with these factors, add up to a contradiction, together with
    /// the bounds of variables. The factors are whole and positive. (Upper bounds are not listed.)
    No(Vec<(Name, i64)>),
}

impl Rows {
    /// A variable with a least value, and perhaps a largest one.
    pub fn variable(&mut self, low: i64, high: Option<i64>) -> Name {
        let c = self.simplex.variable();
        let mut set = |side, n: i64| {
            // The first bounds of a column cannot contradict each other unless they are given so.
            _ = self.simplex.set(c, side, Rat::from(n), Why::ALWAYS);
        };
        set(Side::Lower, low);
        if let Some(high) = high {
            set(Side::Upper, high.max(low));
        }
        Name(c)
    }

    /// A row: a sum of variables.
    pub fn row(&mut self, sum: &[(Name, i64)]) -> Name {
        let form: Vec<(Column, Rat)> = sum.iter().map(|(n, k)| (n.0, Rat::from(*k))).collect();
        Name(self.simplex.sum(&form))
    }

    /// Is there a solution with these lower bounds, beside what holds always?
    pub fn solve(&mut self, lower: &[(Name, i64)], limits: &Meter) -> Result<Solved, Reason> {
        // Without a limit on its work it only gives up with a reason.
        self.solve_within(lower, u64::MAX, limits)?.ok_or(Reason::Time)
    }

    /// The same; nothing if it takes more work than this, as [`Rows::work`] counts it. What was done is not lost: a similar question
    /// goes on from there.
    pub fn solve_within(&mut self, lower: &[(Name, i64)], work: u64, limits: &Meter) -> Result<Option<Solved>, Reason> {
        let mark = self.simplex.mark();
        let answer = self.bounded(lower, self.work().saturating_add(work), limits);
        self.simplex.undo_to(mark);
        answer
    }

    /// How many entries of rows were looked at in all.
    pub fn work(&self) -> u64 {
        self.simplex.work
    }

    /// Sets a lower bound for good. It must not contradict the bounds of the same row.
    pub fn at_least(&mut self, row: Name, n: i64) {
        _ = self.simplex.set(row.0, Side::Lower, Rat::from(n), Why::ALWAYS);
    }

    fn bounded(&mut self, lower: &[(Name, i64)], most: u64, limits: &Meter) -> Result<Option<Solved>, Reason> {
        for (row, n) in lower {
            if let Err(conflict) = self.simplex.set(row.0, Side::Lower, Rat::from(*n), Why::ALWAYS) {
                return factors(&conflict).map(Some);
            }
        }
        match self.simplex.check_while(|work| work <= most && limits.exceeded(0).is_none()) {
            Ok(true) => Ok(Some(Solved::Yes)),
            Ok(false) => limits.exceeded(0).map_or(Ok(None), |why| Err(why.into())),
            Err(conflict) => factors(&conflict).map(Some),
        }
    }

    /// Its value in the last solution: numerator and denominator.
    pub fn value(&self, name: Name) -> (IBig, IBig) {
        let value = self.simplex.value(name.0);
        (value.numerator(), value.denominator())
    }

    /// The quotient of two values in the last solution, reduced: numerator and denominator, if they fit.
    pub fn quotient(&self, a: Name, b: Name) -> Option<(i64, i64)> {
        let ((an, ad), (bn, bd)) = (self.value(a), self.value(b));
        let (n, d) = (an * bd, ad * bn);
        if d == IBig::ZERO {
            return None;
        }
        let g = IBig::from(dashu_int::ops::Gcd::gcd(&n, &d));
        let sign = if d < IBig::ZERO { -IBig::ONE } else { IBig::ONE };
        Some((i64::try_from(n / &g * &sign).ok()?, i64::try_from(d / g * sign).ok()?))
    }

    /// In the last solution, does it have this value?
    pub fn is(&self, name: Name, n: i64) -> bool {
        *self.simplex.value(name.0) == Rat::from(n)
    }
}

/// The factors of lower bounds, made whole.
fn factors(conflict: &Farkas) -> Result<Solved, Reason> {
    let lower = || conflict.0.iter().filter(|p| p.side == Side::Lower);
    let common = lower().fold(IBig::ONE, |all, p| {
        let d = p.factor.denominator();
        let g = dashu_int::ops::Gcd::gcd(&all, &d);
        all / IBig::from(g) * d
    });
    let whole = Rat::from(&common);
    let factor = |r: &Rat| {
        let scaled = r * &whole;
        i64::try_from(&scaled.numerator()).map_err(|_| Reason::Unsupported("numbers as large as these".into()))
    };
    let all: Result<Vec<_>, _> = lower().map(|p| Ok::<_, Reason>((Name(p.column), factor(&p.factor)?))).collect();
    Ok(Solved::No(all?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_solved_or_refuted() {
        let mut rows = Rows::default();
        let (x, y) = (rows.variable(0, None), rows.variable(0, Some(3)));
        let difference = rows.row(&[(x, -2), (y, 1)]);
        let sum = rows.row(&[(x, 1), (y, 1)]);
        let limits = Meter::unlimited();
        assert_eq!(rows.solve(&[(difference, 2), (sum, 3)], &limits), Ok(Solved::Yes));
        // y ≥ 2 + 2x and y ≤ 3, so x + y ≤ 3 and a half.
        let Ok(Solved::No(factors)) = rows.solve(&[(difference, 2), (sum, 4)], &limits) else { panic!("no solution") };
        let factor = |n| factors.iter().find(|f| f.0 == n).map(|f| f.1);
        assert_eq!((factor(difference), factor(sum)), (Some(1), Some(2)));
        // What was asked for is gone.
        assert_eq!(rows.solve(&[(sum, 4)], &limits), Ok(Solved::Yes));
        rows.at_least(sum, 1);
        assert_eq!(rows.solve(&[], &limits), Ok(Solved::Yes));
        assert!(!(rows.is(x, 0) && rows.is(y, 0)));
    }
}
