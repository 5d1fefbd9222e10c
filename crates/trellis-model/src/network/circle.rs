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
//! The same holds if some more steps follow the circle once, and their locations count too ([`Circle::lap_before`]). And if time may pass
//! forever in a state, then those steps can follow later as well as now, once all clocks are beyond their constants
//! ([`Circle::is_late`]).
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
        if to > trace.steps.len() {
            return None;
        }
        self.around(trace, from, to, to)
    }

    /// Can it, and then what follows until the end of the run?
    pub fn lap_before(&self, trace: &Trace, from: usize, to: usize) -> Option<Lap> {
        self.around(trace, from, to, trace.steps.len())
    }

    /// What clocks are compared with from a state of a run to another.
    fn most_between(&self, trace: &Trace, from: usize, end: usize) -> (Vec<Most>, bool) {
        let places = |p: usize| (from..=end).map(|i| state(trace, i).locations[p]).collect();
        let visited: Vec<BTreeSet<u32>> = (0..self.net.processes.len()).map(places).collect();
        self.most(|p, l| visited[p].contains(&l))
    }

    /// Is every clock, when a state of a run is left, beyond what it is compared with until the end? If time may pass forever
    /// there, then the rest may as well happen later. The last state is left after what time passes in it.
    pub fn is_late(&self, trace: &Trace, at: usize) -> bool {
        let end = trace.steps.len();
        let (most, diagonal) = self.most_between(trace, at, end);
        let delay = trace.steps.get(at).map_or(trace.rest, |s| s.delay);
        let far = |(x, &v): (usize, &Rational)| sum(v, delay).is_some_and(|v| is_far(most[x + 1], v));
        // Differences stay as they are while time passes, but not when one of the two is set later.
        (!diagonal || at == end) && state(trace, at).clocks.iter().enumerate().all(far)
    }

    fn around(&self, trace: &Trace, from: usize, to: usize, end: usize) -> Option<Lap> {
        if from >= to || to > end {
            return None;
        }
        let (a, b) = (state(trace, from), state(trace, to));
        if (&a.locations, &a.data, &a.element) != (&b.locations, &b.data, &b.element) {
            return None;
        }
        let time = trace.steps[from..to].iter().any(|s| s.delay > Rational::ZERO);
        let (most, diagonal) = self.most_between(trace, from, end);
        let compared = |x: &usize| most[x + 1] != Most::Nothing;
        if (0..a.clocks.len()).filter(compared).all(|x| a.clocks[x] == b.clocks[x]) {
            return Some(Lap { exact: true, diverges: time });
        }
        if diagonal {
            let same = indistinguishable(self.net, self.query, &a.clocks, &b.clocks);
            return same.then_some(Lap { exact: false, diverges: false });
        }
        let mut near = Vec::new();
        for (x, (&v, &w)) in a.clocks.iter().zip(&b.clocks).enumerate() {
            match (is_far(most[x + 1], v), is_far(most[x + 1], w)) {
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

fn state(trace: &Trace, i: usize) -> &Snapshot {
    if i == 0 { &trace.initial } else { &trace.steps[i - 1].state }
}

fn is_far(most: Most, value: Rational) -> bool {
    match most {
        Most::Nothing => true,
        Most::Constant(n) => value > Rational::new(n, 1),
        Most::Anything => false,
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
