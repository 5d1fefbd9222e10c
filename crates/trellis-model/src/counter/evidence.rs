//! Why a target can or cannot be covered.
//!
//! A [`Trace`] is a concrete instance (how many processes there are) and the rules it takes. A [`Certificate`] is a set of states
//! that contains the start, is closed under every rule and excludes the target; `trellis-check` verifies all three.

use super::interpret::State;
use super::{RuleId, Var, Vector};

/// A run into the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// How it starts.
    pub initial: State,
    /// The rules it takes.
    pub rules: Vec<RuleId>,
    /// How many times each of them is taken, one time after the other; once where this list has ended.
    pub times: Vec<u64>,
}

impl Trace {
    /// The rules it takes, each with how many times.
    pub fn steps(&self) -> impl Iterator<Item = (RuleId, u64)> + '_ {
        self.rules.iter().enumerate().map(|(n, rule)| (*rule, self.times.get(n).copied().unwrap_or(1)))
    }

    /// How many steps it has.
    pub fn length(&self) -> u64 {
        self.steps().fold(0, |sum, (_, times)| sum.saturating_add(times))
    }
}

/// A weighted sum of variables that never grows, less some traps: sets of variables that are not all zero at the start, and
/// out of which no rule takes the last. In every state that can be reached, `Σ weight · x ≤ c`, where `c` is the most that the start
/// allows; each trap sums up to at least one. What both say together is [`Bound::combined`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bound {
    /// The weights; sorted by variable, none zero.
    pub weights: Vec<(Var, i64)>,
    /// Traps, each with a positive factor.
    pub traps: Vec<(i64, Vec<Var>)>,
}

impl Bound {
    /// The weights less the traps, each with its factor; none of them zero.
    pub fn combined(&self) -> Vec<(Var, i128)> {
        let mut all: Vec<(Var, i128)> = self.weights.iter().map(|(v, k)| (*v, i128::from(*k))).collect();
        for (factor, trap) in &self.traps {
            all.extend(trap.iter().map(|v| (*v, -i128::from(*factor))));
        }
        all.sort_unstable_by_key(|e| e.0);
        let mut sums: Vec<(Var, i128)> = vec![];
        for (v, k) in all {
            match sums.last_mut() {
                Some(last) if last.0 == v => last.1 += k,
                _ => sums.push((v, k)),
            }
        }
        sums.retain(|e| e.1 != 0);
        sums
    }
}

/// A set of states that cannot be left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificate {
    /// Whatever keeps the bounds and is not at least one of the vectors.
    Above {
        /// Each holds on its own.
        bounds: Vec<Bound>,
        /// What cannot be covered.
        basis: Vec<Vector>,
    },
    /// Whatever is at most one of these vectors, in which a number may be [`super::OMEGA`].
    Below(Vec<Vector>),
    /// Whatever is at most one of these vectors, and has the very same numbers where that is asked for. The set of states itself, if it
    /// is asked for everywhere.
    Exact {
        /// Where numbers must be the same; sorted. It must contain all of [`super::System::exact_part`].
        fixed: Vec<Var>,
        /// In what is not fixed, a number may be [`super::OMEGA`].
        tops: Vec<Vector>,
    },
}

/// The answer to whether the target can be covered.
pub type Verdict = crate::evidence::Verdict<Trace, Certificate>;
