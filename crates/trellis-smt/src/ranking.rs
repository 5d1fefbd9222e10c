//! Linear ranking functions by Farkas' lemma (Podelski and Rybalchenko, *A complete method for the synthesis of linear ranking functions*,
//! VMCAI 2004; with a function for each node, Alias et al., SAS 2010).
//!
//! A *way* is a conjunction of linear inequalities over values before and after a step. That all its solutions satisfy another
//! inequality is the same as that this one is a sum of non-negative multiples of its rows: a linear question in the multiples and
//! in the coefficients of the inequality, which are what is looked for. So all coefficients come out of one system of inequalities, and over the
//! rationals none is missed.
//!
//! What this deliberately does not do: integers (rows are as tight as they were given), disjunctions (each is a way of its own,
//! see [`cube`]), and checking its own answer; whoever asks has a solver for that.

use std::collections::BTreeMap;

use dashu_int::IBig;
use dashu_int::ops::Gcd;
use rustc_hash::FxHashMap;
use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{Term, TermId, Terms, Type};

use crate::rows::{Name, Rows, Solved};
use crate::{Meter, Reason};

/// A sum of multiples of leaves is at most a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The factor of each leaf.
    pub factors: BTreeMap<TermId, IBig>,
    /// The number.
    pub most: IBig,
}

/// A conjunction of literals: those of them that are linear, as rows, and all.
#[derive(Debug, Clone, Default)]
pub struct Cube {
    /// Linear inequalities that follow.
    pub rows: Vec<Row>,
    /// The literals.
    pub literals: Vec<(TermId, bool)>,
}

/// Coefficients beyond this are not looked for.
const LARGE: i64 = 1 << 20;

/// What makes a formula true under a valuation: a conjunction that implies it. Nothing if it is not true there.
pub fn cube(terms: &Terms, formulas: &[TermId], model: &Valuation) -> Option<Cube> {
    let mut c = Cuber { terms, model, cube: Cube::default() };
    for &f in formulas {
        c.collect(f, true)?;
    }
    Some(c.cube)
}

struct Cuber<'a> {
    terms: &'a Terms,
    model: &'a Valuation,
    cube: Cube,
}

impl Cuber<'_> {
    fn holds(&self, t: TermId) -> Option<bool> {
        eval(self.terms, t, self.model, &mut NoHost).ok()?.as_bool()
    }

    /// The formula has this value; why?
    fn collect(&mut self, t: TermId, value: bool) -> Option<()> {
        let is_truth = |t: TermId| self.terms.ty(t) == Type::Bool;
        match self.terms.get(t).clone() {
            Term::Bool(b) => (b == value).then_some(()),
            Term::Not(a) => self.collect(a, !value),
            Term::And(args) if value => args.iter().try_for_each(|&a| self.collect(a, true)),
            Term::Or(args) if !value => args.iter().try_for_each(|&a| self.collect(a, false)),
            Term::And(args) | Term::Or(args) => {
                let decisive = args.iter().copied().find(|&a| self.holds(a) == Some(value))?;
                self.collect(decisive, value)
            }
            Term::Ite(c, a, b) => {
                let is = self.holds(c)?;
                self.collect(c, is)?;
                self.collect(if is { a } else { b }, value)
            }
            Term::Eq(a, b) if is_truth(a) => {
                let is = self.holds(a)?;
                self.collect(a, is)?;
                self.collect(b, is == value)
            }
            atom => {
                if self.holds(t)? != value {
                    return None;
                }
                self.cube.literals.push((t, value));
                let one = IBig::ONE;
                match atom {
                    Term::Le(a, b) if value => self.row(a, b, IBig::ZERO),
                    Term::Le(a, b) => self.row(b, a, -one),
                    Term::Lt(a, b) if value => self.row(a, b, -one),
                    Term::Lt(a, b) => self.row(b, a, IBig::ZERO),
                    Term::Eq(a, b) if value => {
                        self.row(a, b, IBig::ZERO)?;
                        self.row(b, a, IBig::ZERO)
                    }
                    // One side of it.
                    Term::Eq(a, b) if self.is_number(a) => {
                        let number = |t| eval(self.terms, t, self.model, &mut NoHost).ok().map(|v| v.number());
                        if number(a)? < number(b)? { self.row(a, b, -one) } else { self.row(b, a, -one) }
                    }
                    _ => Some(()),
                }
            }
        }
    }

    fn is_number(&self, t: TermId) -> bool {
        matches!(self.terms.ty(t), Type::Int | Type::Range(..))
    }

    /// `a - b ≤ n`
    fn row(&mut self, a: TermId, b: TermId, n: IBig) -> Option<()> {
        if !self.is_number(a) || !self.is_number(b) {
            return Some(());
        }
        let mut row = Row { factors: BTreeMap::new(), most: n };
        self.sum(&mut row, a, IBig::ONE)?;
        self.sum(&mut row, b, -IBig::ONE)?;
        row.factors.retain(|_, n| *n != IBig::ZERO);
        self.cube.rows.push(row);
        Some(())
    }

    fn sum(&mut self, row: &mut Row, t: TermId, n: IBig) -> Option<()> {
        let literal = |t: TermId| self.terms.as_value(t).map(|value| value.number());
        match self.terms.get(t).clone() {
            Term::Int(_) | Term::Big(_) => row.most -= n * literal(t)?,
            Term::Add(args) => args.iter().try_for_each(|&a| self.sum(row, a, n.clone()))?,
            Term::Neg(a) => self.sum(row, a, -n)?,
            Term::Checked(a, ..) => self.sum(row, a, n)?,
            Term::Convert(_, a) if self.is_number(t) && self.is_number(a) => self.sum(row, a, n)?,
            Term::Mul(a, b) => match (literal(a), literal(b)) {
                (Some(k), _) => self.sum(row, b, n * k)?,
                (_, Some(k)) => self.sum(row, a, n * k)?,
                _ => *row.factors.entry(t).or_default() += n,
            },
            Term::Ite(c, a, b) => {
                let is = self.holds(c)?;
                self.collect(c, is)?;
                self.sum(row, if is { a } else { b }, n)?;
            }
            _ => *row.factors.entry(t).or_default() += n,
        }
        Some(())
    }
}

/// An affine function: the coefficients of variables, and a constant.
pub type Function = (Vec<IBig>, IBig);

/// A way from one node to another.
#[derive(Debug, Clone)]
pub struct Way {
    /// From where.
    pub from: usize,
    /// To where.
    pub to: usize,
    /// What holds of values before and after.
    pub rows: Vec<Row>,
    /// The variables after it.
    pub after: Vec<TermId>,
    /// It must decrease the ranking, which must not be negative before it.
    pub strict: bool,
}

/// For each node the coefficients of these variables, and a constant: an affine function that no way increases, and that strict ways decrease
/// while it is not negative. Nothing if there is none over the rationals (with coefficients that are not large).
pub fn rank(
    terms: &Terms,
    variables: &[TermId],
    nodes: usize,
    ways: &[Way],
    limits: &Meter,
) -> Result<Option<Vec<Function>>, Reason> {
    let mut system = Rows::default();
    let width = variables.len();
    let unknown: Vec<Name> = (0..nodes * (width + 1)).map(|_| system.variable(-LARGE, Some(LARGE))).collect();
    let coefficient = |node: usize, i: usize| unknown[node * (width + 1) + i];
    for way in ways {
        // What follows from the rows: how much it decreases, and that it was not negative.
        let mut decrease = Follows::default();
        for (i, (&before, &after)) in variables.iter().zip(&way.after).enumerate() {
            decrease.add(before, coefficient(way.from, i), 1);
            decrease.add(after, coefficient(way.to, i), -1);
        }
        decrease.constant = vec![(coefficient(way.from, width), 1), (coefficient(way.to, width), -1)];
        decrease.require(&mut system, terms, &way.rows, i64::from(way.strict));
        if way.strict {
            let mut bounded = Follows::default();
            for (i, &before) in variables.iter().enumerate() {
                bounded.add(before, coefficient(way.from, i), 1);
            }
            bounded.constant = vec![(coefficient(way.from, width), 1)];
            bounded.require(&mut system, terms, &way.rows, 0);
        }
    }
    match system.solve(&[], limits)? {
        Solved::No(_) => return Ok(None),
        Solved::Yes => {}
    }
    let values: Vec<(IBig, IBig)> = unknown.iter().map(|&u| system.value(u)).collect();
    let common = values.iter().fold(IBig::ONE, |all, (_, d)| {
        let g = IBig::from((&all).gcd(d));
        all / g * d
    });
    let whole: Vec<IBig> = values.iter().map(|(n, d)| n * (&common / d)).collect();
    Ok(Some(whole.chunks(width + 1).map(|c| (c[..width].to_vec(), c[width].clone())).collect()))
}

/// An inequality to be shown: a sum of leaves, each with a sum of unknowns as its factor, plus a constant, is at least a number.
#[derive(Default)]
struct Follows {
    factors: FxHashMap<TermId, Vec<(Name, i64)>>,
    constant: Vec<(Name, i64)>,
}

impl Follows {
    fn add(&mut self, leaf: TermId, unknown: Name, sign: i64) {
        self.factors.entry(leaf).or_default().push((unknown, sign));
    }

    /// There are multiples of the rows from which it follows.
    fn require(mut self, system: &mut Rows, terms: &Terms, rows: &[Row], least: i64) {
        let mut given: Vec<(Vec<(TermId, i64)>, i64)> = vec![];
        for row in rows {
            let small = |n: &IBig| i64::try_from(n).ok().filter(|n| n.unsigned_abs() < 1 << 40);
            let factors: Option<Vec<_>> = row.factors.iter().map(|(&t, n)| Some((t, small(n)?))).collect();
            // Rows with large numbers are left out: that only makes it harder.
            if let (Some(factors), Some(most)) = (factors, small(&row.most)) {
                given.push((factors, most));
            }
        }
        let leaves: Vec<TermId> =
            given.iter().flat_map(|(f, _)| f.iter().map(|f| f.0)).chain(self.factors.keys().copied()).collect();
        for &leaf in &leaves {
            if let Type::Range(lo, hi) = terms.ty(leaf) {
                given.push((vec![(leaf, 1)], hi));
                given.push((vec![(leaf, -1)], -lo));
            }
        }
        for (factors, most) in given {
            let multiple = system.variable(0, None);
            for (leaf, n) in factors {
                self.factors.entry(leaf).or_default().push((multiple, n));
            }
            self.constant.push((multiple, -most));
        }
        // Every leaf's factor is zero in the end, and what is left is large enough.
        let mut all: Vec<_> = self.factors.into_iter().collect();
        all.sort_unstable_by_key(|(leaf, _)| *leaf);
        for (_, sum) in all {
            let negated: Vec<_> = sum.iter().map(|&(n, k)| (n, -k)).collect();
            for sum in [summed(sum), summed(negated)] {
                let row = system.row(&sum);
                system.at_least(row, 0);
            }
        }
        let row = system.row(&summed(self.constant));
        system.at_least(row, least);
    }
}

/// Each variable once.
fn summed(sum: Vec<(Name, i64)>) -> Vec<(Name, i64)> {
    let mut all: BTreeMap<Name, i64> = BTreeMap::new();
    for (n, k) in sum {
        *all.entry(n).or_default() += k;
    }
    all.into_iter().filter(|(_, k)| *k != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step `x > 0, y' = y - 1, x' = x + y` of Podelski and Rybalchenko's kind, with `y < 0` known.
    #[test]
    fn a_loop_has_a_ranking() {
        let mut terms = Terms::new();
        let [x, y, x1, y1] = ["x", "y", "x'", "y'"].map(|n| {
            let v = terms.declare(n, Type::Int);
            terms.var(v)
        });
        let row = |factors: &[(TermId, i64)], most: i64| Row {
            factors: factors.iter().map(|&(t, n)| (t, IBig::from(n))).collect(),
            most: IBig::from(most),
        };
        let equal = |factors: &[(TermId, i64)], n: i64| {
            let negated: Vec<_> = factors.iter().map(|&(t, k)| (t, -k)).collect();
            [row(factors, n), row(&negated, -n)]
        };
        let mut rows = vec![row(&[(x, -1)], -1), row(&[(y, 1)], -1)];
        rows.extend(equal(&[(x1, 1), (x, -1), (y, -1)], 0));
        rows.extend(equal(&[(y1, 1), (y, -1)], -1));
        let way = Way { from: 0, to: 0, rows: rows.clone(), after: vec![x1, y1], strict: true };
        let found = rank(&terms, &[x, y], 1, &[way], &Meter::unlimited()).expect("decided").expect("a ranking");
        assert!(found[0].0[0] > IBig::ZERO, "{found:?}");
        // Without y < 0 there is none: y may be large at first.
        rows.remove(1);
        let way = Way { from: 0, to: 0, rows, after: vec![x1, y1], strict: true };
        assert_eq!(rank(&terms, &[x, y], 1, &[way], &Meter::unlimited()), Ok(None));
    }

    #[test]
    fn a_cube_says_why() {
        let mut terms = Terms::new();
        let v = terms.declare("x", Type::Int);
        let x = terms.var(v);
        let (zero, five) = (terms.int(0), terms.int(5));
        let (low, high) = (terms.lt(x, zero), terms.lt(five, x));
        let either = terms.or([low, high]);
        let model = Valuation::from_iter([(v, trellis_expr::Value::Int(7.into()))]);
        let found = cube(&terms, &[either], &model).expect("true");
        assert_eq!(found.literals, [(high, true)]);
        assert_eq!(found.rows, [Row { factors: [(x, IBig::from(-1))].into(), most: IBig::from(-6) }]);
    }
}
