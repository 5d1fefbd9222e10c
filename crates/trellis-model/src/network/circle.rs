//! When a run of a timed network can go round forever: it comes back to a state that nothing on the way can tell from the first.
//!
//! Between two states of a run lie some locations. A clock is compared there with constants: by the guards of the edges that leave
//! them, by their invariants, by the question. Beyond the largest, its value does not matter. If locations and data are
//! the same at both ends, and
//! - the clocks too, apart from those that are beyond their constants at both ends, then the same steps with the same delays lead
//!   on from the second state, and so forever ([`Lap::exact`]);
//! - or the clocks are in the same region (Alur, Dill, *A theory of timed automata*, 1994), then the same steps with
//!   other delays do.
//!
//! To know whether infinitely much time passes in the second case, a clock is added that every step that finds it at 1
//! or more sets to 0; it must be in the same region too, and have been set on the way.
//!
//! What it deliberately does not do: replay anything. That a run is one is for the interpreter to say.

use std::collections::BTreeSet;

use trellis_domain::zone::Rational;
use trellis_expr::TermId;

use super::interpret::timed::{difference, floor, sum};
use super::region::{indistinguishable, range};
use super::{ClockAtom, Network, Query, ResetTo, Snapshot, Trace};

/// How a run can go round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lap {
    /// With the same delays, again and again.
    pub exact: bool,
    /// Infinitely much time passes.
    pub diverges: bool,
}

/// What a clock is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Most {
    Nothing,
    Constant(i64),
    /// A bound that is not known.
    Anything,
}

/// A network and a question about it.
#[derive(Debug)]
pub struct Circle<'n> {
    net: &'n Network,
    query: &'n Query,
}

impl<'n> Circle<'n> {
    /// A network and a question about it.
    pub fn new(net: &'n Network, query: &'n Query) -> Circle<'n> {
        Circle { net, query }
    }

    /// The largest constant that a clock is ever compared with, if it is.
    pub fn largest(&self, clock: u32) -> Option<i32> {
        match self.most(|_, _| true).0[clock as usize] {
            Most::Constant(n) => i32::try_from(n).ok(),
            _ => None,
        }
    }

    /// What each clock is compared with in some locations, and whether two clocks are compared.
    fn most(&self, visited: impl Fn(usize, u32) -> bool) -> (Vec<Most>, bool) {
        let mut most = vec![Most::Nothing; self.net.clocks.len() + 1];
        let mut diagonal = false;
        let magnitude = |t: TermId| match range(&self.net.terms, t) {
            Some((lo, hi)) => Most::Constant(lo.saturating_abs().max(hi.saturating_abs())),
            None => Most::Anything,
        };
        let mut note = |a: &ClockAtom| {
            diagonal |= a.left != 0 && a.right != 0;
            for x in [a.left, a.right] {
                most[x as usize] = most[x as usize].max(magnitude(a.bound));
            }
        };
        self.query.atoms.iter().for_each(|(_, a)| note(a));
        let mut copies = Vec::new();
        for (p, process) in self.net.processes.iter().enumerate() {
            let here = (0..).zip(&process.locations).filter(|(l, _)| visited(p, *l));
            here.flat_map(|(_, l)| &l.clock_invariant).for_each(&mut note);
            for e in process.edges.iter().filter(|e| visited(p, e.source)) {
                e.clock_guard.iter().for_each(&mut note);
                copies.extend(e.resets.iter().filter_map(|r| match r.to {
                    ResetTo::Clock(from) => Some((r.clock, from)),
                    ResetTo::Value(_) => None,
                }));
            }
        }
        for _ in 0..most.len() {
            for &(to, from) in &copies {
                most[from as usize] = most[from as usize].max(most[to as usize]);
            }
        }
        (most, diagonal)
    }

    /// Can what happens between two states of a run (by their numbers, 0 is the initial one) happen again and again?
    pub fn lap(&self, trace: &Trace, from: usize, to: usize) -> Option<Lap> {
        let state = |i: usize| -> &Snapshot { if i == 0 { &trace.initial } else { &trace.steps[i - 1].state } };
        if from >= to || to > trace.steps.len() {
            return None;
        }
        let (a, b) = (state(from), state(to));
        if (&a.locations, &a.data, &a.element) != (&b.locations, &b.data, &b.element) {
            return None;
        }
        let time = trace.steps[from..to].iter().any(|s| s.delay > Rational::ZERO);
        let visited: Vec<BTreeSet<u32>> =
            (0..self.net.processes.len()).map(|p| (from..=to).map(|i| state(i).locations[p]).collect()).collect();
        let (most, diagonal) = self.most(|p, l| visited[p].contains(&l));
        if a.clocks == b.clocks {
            return Some(Lap { exact: true, diverges: time });
        }
        if diagonal {
            let same = indistinguishable(self.net, self.query, &a.clocks, &b.clocks);
            return same.then_some(Lap { exact: false, diverges: false });
        }
        let is_far = |x: usize, value: Rational| match most[x + 1] {
            Most::Nothing => true,
            Most::Constant(n) => value > Rational::new(n, 1),
            Most::Anything => false,
        };
        let mut near = Vec::new();
        for (x, (&v, &w)) in a.clocks.iter().zip(&b.clocks).enumerate() {
            match (is_far(x, v), is_far(x, w)) {
                (true, true) => {}
                (false, false) => near.push((v, w)),
                _ => return None,
            }
        }
        if near.iter().all(|(v, w)| v == w) {
            return Some(Lap { exact: true, diverges: time });
        }
        if !same_region(&near) {
            return None;
        }
        // The clock that is set by every step that finds it at 1 or more.
        let one = Rational::new(1, 1);
        let (mut measure, mut before, mut set) = (Rational::ZERO, Rational::ZERO, false);
        for (i, step) in trace.steps[..to].iter().enumerate() {
            if i == from {
                before = measure;
            }
            measure = sum(measure, step.delay)?;
            if measure >= one {
                measure = Rational::ZERO;
                set |= i >= from;
            }
        }
        near.push((before, measure));
        Some(Lap { exact: false, diverges: set && same_region(&near) })
    }
}

/// Do the values before and after have the same whole parts, and fractional parts in the same order?
fn same_region(values: &[(Rational, Rational)]) -> bool {
    let fraction = |v: Rational| difference(v, Rational::new(floor(v), 1)).unwrap_or(v);
    let parts = |(v, w): (Rational, Rational)| (fraction(v), fraction(w));
    let zero = (Rational::ZERO, Rational::ZERO);
    values.iter().enumerate().all(|(i, &(v, w))| {
        let (f, g) = parts((v, w));
        let others = values[..i].iter().map(|&p| parts(p)).chain([zero]);
        floor(v) == floor(w) && others.into_iter().all(|(h, k)| f.cmp(&h) == g.cmp(&k))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions() {
        let r = Rational::new;
        assert!(same_region(&[(r(1, 2), r(1, 3)), (r(2, 3), r(1, 2)), (r(4, 1), r(4, 1))]));
        assert!(!same_region(&[(r(1, 2), r(1, 3)), (r(2, 3), r(1, 4))]));
        assert!(!same_region(&[(r(1, 2), r(1, 1))]));
        assert!(!same_region(&[(r(1, 2), r(3, 2))]));
        assert!(!same_region(&[(r(1, 2), r(1, 3)), (r(1, 2), r(1, 4))]));
    }
}
