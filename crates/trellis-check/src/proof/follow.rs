//! Follows a refutation step by step. This is what must be right; it is meant to be read.
//!
//! - A learnt clause: let all its literals be false; then some clause of the hints has one literal left, which must be true, and so
//!   on, until a clause has none. (Hints that say nothing at that point are passed over.)
//! - A lemma: each literal is an atom, so that its being false is a bound `Σ k · x ≤ n` on integers. The bounds must contradict each
//!   other: they add up to `0 ≤ −1` or less with positive factors; or they do so together with `s ≤ n` and also with `s ≥ n + 1`, one of
//!   which holds of a sum of integers; or equations among them add up to one whose left side has a divisor that the right side has not.
//!
//! A refutation ends when the empty clause is there.

use std::collections::BTreeMap;
use std::fmt;

use dashu_int::IBig;
use dashu_int::ops::Gcd;
use trellis_smt::proof::{Arithmetic, Literal, Problem, Step, Sum};

/// What is wrong with a refutation: with which step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// It names a variable, clause or bound that is not there.
    Nothing(usize),
    /// Unit propagation does not come to a contradiction.
    Open(usize),
    /// The literal of a lemma is no bound.
    NoBound(usize),
    /// The factors do not add up to a contradiction.
    Sum(usize),
    /// The empty clause is not reached.
    Unfinished,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Nothing(n) => write!(f, "step {n} of the proof names what is not there"),
            Wrong::Open(n) => write!(f, "step {n} of the proof does not follow by unit propagation"),
            Wrong::NoBound(n) => write!(f, "step {n} of the proof is a lemma about what is no bound"),
            Wrong::Sum(n) => write!(f, "step {n} of the proof does not add up"),
            Wrong::Unfinished => write!(f, "the proof does not end with the empty clause"),
        }
    }
}

impl std::error::Error for Wrong {}

/// Is this a refutation of the problem?
pub fn follow(problem: &Problem, steps: &[Step]) -> Result<(), Wrong> {
    let mut clauses: Vec<&[Literal]> = problem.clauses.iter().map(|c| &c[..]).collect();
    // By variable: 1 true, −1 false, 0 open.
    let mut values = vec![0i8; problem.variables + 1];
    for (n, step) in steps.iter().enumerate() {
        let clause = step.clause();
        if clause.iter().any(|&l| l == 0 || l.unsigned_abs() as usize > problem.variables) {
            return Err(Wrong::Nothing(n));
        }
        match step {
            Step::Learnt(_, hints) => {
                let hints: Option<Vec<&[Literal]>> = hints.iter().map(|&h| clauses.get(h).copied()).collect();
                let done = propagate(clause, &hints.ok_or(Wrong::Nothing(n))?, &mut values);
                if !done {
                    return Err(Wrong::Open(n));
                }
            }
            Step::Lemma(_, why) => {
                let bound = |&l: &Literal| Some(bound(problem.atoms.get(&l.abs())?, l < 0));
                let mut bounds = clause.iter().map(bound).collect::<Option<Vec<_>>>().ok_or(Wrong::NoBound(n))?;
                if !contradict(&mut bounds, why) {
                    return Err(Wrong::Sum(n));
                }
            }
        }
        if clause.is_empty() {
            return Ok(());
        }
        clauses.push(clause);
    }
    Err(Wrong::Unfinished)
}

/// Does the clause follow from these by unit propagation? The values are open before and after.
fn propagate(clause: &[Literal], hints: &[&[Literal]], values: &mut [i8]) -> bool {
    let value = |values: &[i8], l: Literal| values[l.unsigned_abs() as usize] * l.signum() as i8;
    let mut trail = vec![];
    let mut contradiction = false;
    for &l in clause {
        match value(values, l) {
            // It has a literal and its negation.
            1 => contradiction = true,
            0 => {
                values[l.unsigned_abs() as usize] = -(l.signum() as i8);
                trail.push(l);
            }
            _ => {}
        }
    }
    let mut again = true;
    while again && !contradiction {
        again = false;
        for hint in hints {
            let mut left = hint.iter().filter(|&&l| value(values, l) >= 0);
            match (left.next(), left.next()) {
                (None, _) => {
                    contradiction = true;
                    break;
                }
                (Some(&l), None) if value(values, l) == 0 => {
                    values[l.unsigned_abs() as usize] = l.signum() as i8;
                    trail.push(l);
                    again = true;
                }
                _ => {}
            }
        }
    }
    trail.iter().for_each(|l| values[l.unsigned_abs() as usize] = 0);
    contradiction
}

/// `Σ k · x ≤ n`.
type Bound = (Sum, IBig);

/// What an atom says if it is true, or if it is false: the opposite of "at most `n`" is "at least `n + 1`".
fn bound((sum, most): &(Sum, IBig), holds: bool) -> Bound {
    if holds { (sum.clone(), most.clone()) } else { (sum.iter().map(|(x, k)| (*x, -k)).collect(), -most - IBig::ONE) }
}

/// Bounds times factors, added up.
fn add<'b>(parts: impl Iterator<Item = (&'b Bound, IBig)>) -> (BTreeMap<u32, IBig>, IBig) {
    let (mut left, mut right) = (BTreeMap::<u32, IBig>::new(), IBig::ZERO);
    for ((sum, most), factor) in parts {
        right += most * &factor;
        for (x, k) in sum {
            *left.entry(*x).or_default() += k * &factor;
        }
    }
    left.retain(|_, k| *k != IBig::ZERO);
    (left, right)
}

fn contradict(bounds: &mut Vec<Bound>, why: &Arithmetic) -> bool {
    match why {
        Arithmetic::Farkas(parts) => {
            let fine = parts.iter().all(|(i, factor)| *i < bounds.len() && *factor > IBig::ZERO);
            fine && {
                let (left, right) = add(parts.iter().map(|(i, factor)| (&bounds[*i], factor.clone())));
                left.is_empty() && right < IBig::ZERO
            }
        }
        Arithmetic::Branch(sum, most, sides) => {
            let atom = (sum.clone(), most.clone());
            [(true, &sides.0), (false, &sides.1)].into_iter().all(|(holds, why)| {
                bounds.push(bound(&atom, holds));
                let fine = contradict(bounds, why);
                bounds.pop();
                fine
            })
        }
        Arithmetic::Divisor(parts) => {
            let equation = |i: usize, j: usize| {
                let (Some(upper), Some(lower)) = (bounds.get(i), bounds.get(j)) else { return false };
                let (left, right) = add([(upper, IBig::ONE), (lower, IBig::ONE)].into_iter());
                left.is_empty() && right == IBig::ZERO
            };
            let fine = parts.iter().all(|(i, j, _)| equation(*i, *j));
            fine && {
                let (left, right) = add(parts.iter().map(|(i, _, factor)| (&bounds[*i], factor.clone())));
                let divisor = left.values().fold(IBig::ZERO, |g, k| gcd(&g, k));
                if divisor == IBig::ZERO { right != IBig::ZERO } else { right % divisor != IBig::ZERO }
            }
        }
    }
}

fn gcd(a: &IBig, b: &IBig) -> IBig {
    // The library has none of zero and zero.
    if *a == IBig::ZERO { b.clone() } else { IBig::from(a.gcd(b)) }
}
