//! Vectors of natural numbers of which most are zero.
//!
//! A vector stands for all states that are at least as large (in a [`super::Basis`], in targets), or at most as large (in
//! [`super::evidence::Certificate::Below`]); there a number may be [`OMEGA`]: without limit.

use super::{LARGEST, Overflow, Var};

/// More than any number.
pub const OMEGA: u64 = u64::MAX;

/// A number for each variable; those not mentioned are zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Vector(Box<[(Var, u64)]>);

impl Vector {
    /// From numbers in any order; of several for one variable the largest counts.
    pub fn new(mut entries: Vec<(Var, u64)>) -> Vector {
        entries.retain(|e| e.1 > 0);
        entries.sort_unstable_by_key(|e| (e.0, std::cmp::Reverse(e.1)));
        entries.dedup_by_key(|e| e.0);
        Vector(entries.into())
    }

    /// From numbers sorted by variable, each once, none zero.
    pub fn sorted(entries: Vec<(Var, u64)>) -> Vector {
        debug_assert!(entries.windows(2).all(|w| w[0].0 < w[1].0) && entries.iter().all(|e| e.1 > 0));
        Vector(entries.into())
    }

    /// From one number per variable.
    pub fn dense(all: &[u64]) -> Vector {
        Vector(all.iter().enumerate().filter(|(_, n)| **n > 0).map(|(v, n)| (v as Var, *n)).collect())
    }

    /// What is not zero, by variable.
    pub fn iter(&self) -> impl Iterator<Item = (Var, u64)> + '_ {
        self.0.iter().copied()
    }

    /// The same, as a slice.
    pub fn entries(&self) -> &[(Var, u64)] {
        &self.0
    }

    /// The number of a variable.
    pub fn get(&self, v: Var) -> u64 {
        self.0.binary_search_by_key(&v, |e| e.0).map_or(0, |i| self.0[i].1)
    }

    /// Is every number at most the other's?
    pub fn leq(&self, other: &Vector) -> bool {
        if self.0.len() > other.0.len() {
            return false;
        }
        let mut rest = &other.0[..];
        for (v, n) in &self.0 {
            let Some(at) = rest.iter().position(|e| e.0 >= *v) else { return false };
            if rest[at].0 != *v || rest[at].1 < *n {
                return false;
            }
            rest = &rest[at + 1..];
        }
        true
    }

    /// The same for a state.
    pub fn below(&self, state: &[u64]) -> bool {
        self.iter().all(|(v, n)| state.get(v as usize).is_some_and(|s| n <= *s))
    }

    /// The larger number of each.
    pub fn join(&self, other: &Vector) -> Vector {
        let (mut a, mut b) = (&self.0[..], &other.0[..]);
        let mut out = Vec::with_capacity(a.len() + b.len());
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            match x.0.cmp(&y.0) {
                std::cmp::Ordering::Less => {
                    out.push(*x);
                    a = &a[1..];
                }
                std::cmp::Ordering::Greater => {
                    out.push(*y);
                    b = &b[1..];
                }
                std::cmp::Ordering::Equal => {
                    out.push((x.0, x.1.max(y.1)));
                    (a, b) = (&a[1..], &b[1..]);
                }
            }
        }
        out.extend_from_slice(a);
        out.extend_from_slice(b);
        Vector(out.into())
    }

    /// One bit for some of the variables that are not zero: what is below another has no bit that the other has not.
    pub fn signature(&self) -> u64 {
        self.0.iter().fold(0, |s, e| s | 1 << (e.0 % 64))
    }

    /// All numbers together, as far as that fits.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |s: u64, e| s.saturating_add(e.1))
    }
}

/// A number that still fits.
pub(super) fn fits(n: u64) -> Result<u64, Overflow> {
    if n <= LARGEST { Ok(n) } else { Err(Overflow::Numbers) }
}
