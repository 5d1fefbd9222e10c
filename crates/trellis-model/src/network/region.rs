//! The region graph of a timed network: every question answered by the plainest search there is.
//!
//! Two valuations are in one region if no integer constant can tell them apart now or after any delay: clocks have the same
//! whole parts, and their fractional parts come in the same order. Every region has a canonical point, with fractional parts
//! `1/(m+1) … m/(m+1)`; the interpreter says what that point can do, and that stands for the region. Clocks that are so far
//! from each other (or from zero) that no constraint can notice are moved closer, by whole numbers: this makes the graph
//! finite, and is exact with constraints on differences too (see [`Regions::explore`]).
//!
//! What it deliberately does not do: scale. It is slow and small so that it can be believed, and others be held against
//! it; there is a state for every region, so constants should be small and clocks few.
//!
//! A run is maximal if it is infinite, or ends where neither time may pass nor a step can happen. By default infinite means
//! that there are infinitely many steps and delays to next regions: time may converge (Zeno runs count). With
//! [`Options::diverging`], infinitely much time must pass.

#![allow(clippy::result_large_err)]

use std::collections::{BTreeSet, HashMap};

use trellis_domain::zone::Rational;
use trellis_expr::{Term, TermId, Terms};

use super::interpret::Interpreter;
use super::interpret::timed::{difference, floor, sum};
use super::{Action, ClockAtom, Condition, ModelError, Network, Query, QueryKind, ResetTo, Snapshot};

/// How to explore.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Give up if there are more states.
    pub limit: usize,
    /// Tell clock values apart at least up to this constant.
    pub at_least: i64,
    /// An infinite run counts only if infinitely much time passes.
    pub diverging: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { limit: 100_000, at_least: 1, diverging: false }
    }
}

/// Time passes to the next region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The state then.
    pub to: usize,
    /// With [`Options::diverging`]: a unit of time is complete.
    pub tick: bool,
}

/// Everything that can be reached, region by region.
#[derive(Debug)]
pub struct Regions<'n> {
    /// What answers questions about the states.
    pub interpreter: Interpreter<'n>,
    /// A state for each region, the initial one first. With [`Options::diverging`] some occur more than once.
    pub states: Vec<Snapshot>,
    /// Of each state, the steps and the numbers of the states they lead to.
    pub steps: Vec<Vec<(Action, usize)>>,
    /// Of each state, where time leads, if it may pass.
    pub waits: Vec<Option<Wait>>,
    /// The first fault met; steps and waits of that state are missing.
    pub fault: Option<ModelError>,
    /// Up to here clock values are exact.
    pub exact: i64,
    diverging: bool,
}

/// The least or greatest value of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// No state is measured.
    None,
    /// This value; if it is `open`, it is approached but never reached.
    Value {
        /// The value.
        value: i64,
        /// Is it never reached?
        open: bool,
    },
    /// Something above [`Regions::exact`], perhaps infinite: explore with a greater [`Options::at_least`] to know.
    Beyond,
}

/// A state and, for diverging runs, how much of a unit of time has passed.
type Node = (Snapshot, Option<Rational>);

impl<'n> Regions<'n> {
    /// Explores a network for a question. `None` if there are too many states, a constant cannot be bounded, or clocks can stand still.
    ///
    /// With constraints up to `C` and resets up to `R` in magnitude, and the clock values and 0 sorted, a gap of more than
    /// `C + R + 1` is made smaller by a whole number, to more than `C + R`. What that leads to is bisimilar: of any two clocks,
    /// the difference is the same or beyond `C` as before, and stays so when time passes; of any clock, the value is the same
    /// or beyond `C + R` as before, so that its difference to a clock that is set anew is the same or beyond `C`.
    pub fn explore(net: &'n Network, query: Option<&Query>, options: Options) -> Option<Regions<'n>> {
        // There are no regions where clocks can stand still.
        if net.has_rates() {
            return None;
        }
        let exact = constants(net, query)?.max(options.at_least);
        let interpreter = Interpreter::new(net);
        let mut r = Regions {
            interpreter,
            states: vec![],
            steps: vec![],
            waits: vec![],
            fault: None,
            exact,
            diverging: options.diverging,
        };
        let mut nodes: Vec<Node> = Vec::new();
        let mut numbers: HashMap<Node, usize> = HashMap::new();
        let mut number = |nodes: &mut Vec<Node>, (mut state, mut ticking): Node| {
            cap(&mut state.clocks, exact);
            canonise(&mut state.clocks, &mut ticking);
            let node = (state, ticking);
            *numbers.entry(node.clone()).or_insert_with(|| {
                nodes.push(node);
                nodes.len() - 1
            })
        };
        match interpreter.initial() {
            Ok(s) => _ = number(&mut nodes, (s, options.diverging.then_some(Rational::ZERO))),
            Err(e) => r.fault = Some(e),
        }
        let mut i = 0;
        while i < nodes.len() {
            let (state, ticking) = nodes[i].clone();
            let (mut steps, mut wait) = (Vec::new(), None);
            match successors(&interpreter, &state, ticking) {
                Err(e) => r.fault = r.fault.or(Some(e)),
                Ok((actions, later)) => {
                    for (action, next) in actions {
                        steps.push((action, number(&mut nodes, (next, ticking))));
                    }
                    wait = later.map(|(node, tick)| Wait { to: number(&mut nodes, node), tick });
                }
            }
            r.states.push(state);
            r.steps.push(steps);
            r.waits.push(wait);
            if nodes.len() > options.limit {
                return None;
            }
            i += 1;
        }
        Some(r)
    }

    /// In which states does a condition of the query hold?
    pub fn holds(&self, query: &Query, c: &Condition) -> Result<Vec<bool>, ModelError> {
        self.states.iter().map(|s| self.interpreter.holds_in(query, c, s)).collect()
    }

    /// Is there what a trace would show: a counterexample to a universal query, a witness of an existential one?
    pub fn has_trace(&self, query: &Query) -> Result<bool, ModelError> {
        let not = |v: Vec<bool>| v.into_iter().map(|b| !b).collect::<Vec<_>>();
        let all = |c| self.holds(query, c);
        Ok(match &query.kind {
            QueryKind::Always(p) => not(all(p)?).contains(&true),
            QueryKind::Possibly(p) => all(p)?.contains(&true),
            QueryKind::Eventually(p) => self.can_stay(&not(all(p)?)).first() == Some(&true),
            QueryKind::PotentiallyAlways(p) => self.can_stay(&all(p)?).first() == Some(&true),
            QueryKind::LeadsTo(p, q) => {
                let stay = self.can_stay(&not(all(q)?));
                all(p)?.into_iter().zip(stay).any(|(p, stay)| p && stay)
            }
            QueryKind::Bound { when, .. } | QueryKind::ClockBound { when, .. } => all(when)?.contains(&true),
        })
    }

    /// The answer to a `sup` or `inf` of data.
    pub fn bound(&self, query: &Query) -> Result<Option<i64>, ModelError> {
        let QueryKind::Bound { sup, when, of } = &query.kind else { return Ok(None) };
        let mut best = None;
        for (s, measured) in self.states.iter().zip(self.holds(query, when)?) {
            if measured {
                let n = self.interpreter.number_in(query, of, s)?;
                best = Some(best.map_or(n, |b: i64| if *sup { b.max(n) } else { b.min(n) }));
            }
        }
        Ok(best)
    }

    /// The answer to a `sup` or `inf` of a clock. All points of a region that is reached are reached.
    pub fn clock_bound(&self, query: &Query) -> Result<Extreme, ModelError> {
        let QueryKind::ClockBound { sup, when, clock } = &query.kind else { return Ok(Extreme::None) };
        let mut best = Extreme::None;
        for (s, measured) in self.states.iter().zip(self.holds(query, when)?) {
            if !measured {
                continue;
            }
            let x = s.clocks[*clock as usize - 1];
            let open = x.denominator() != 1;
            let value = floor(x) + i64::from(open && *sup);
            let here = if x > Rational::new(self.exact, 1) { Extreme::Beyond } else { Extreme::Value { value, open } };
            best = match (best, here) {
                (Extreme::None, here) => here,
                (Extreme::Beyond, other) | (other, Extreme::Beyond) => {
                    if *sup {
                        Extreme::Beyond
                    } else {
                        other
                    }
                }
                (Extreme::Value { value: a, open: o }, Extreme::Value { value: b, open: p }) if a == b => {
                    Extreme::Value { value, open: o && p }
                }
                (Extreme::Value { value: a, .. }, Extreme::Value { value: b, .. }) if (a > b) == *sup => best,
                (_, here) => here,
            };
        }
        Ok(best)
    }

    /// From which states can a maximal run stay in `within` for good?
    pub fn can_stay(&self, within: &[bool]) -> Vec<bool> {
        let ends = |i: usize| self.steps[i].is_empty() && self.waits[i].is_none();
        let next = |i: usize| self.steps[i].iter().map(|s| s.1).chain(self.waits[i].map(|w| w.to));
        if !self.diverging {
            // All that never lead anywhere else.
            let mut stay = within.to_vec();
            loop {
                let fewer = (0..stay.len()).map(|i| stay[i] && (ends(i) || next(i).any(|n| stay[n])));
                let fewer: Vec<bool> = fewer.collect();
                if fewer == stay {
                    return stay;
                }
                stay = fewer;
            }
        }
        // All that lead to an end, or to a unit of time that completes again and again.
        let reaches = |from: usize, to: usize| {
            let mut met = vec![false; within.len()];
            let mut open = vec![from];
            while let Some(i) = open.pop() {
                if within[i] && !std::mem::replace(&mut met[i], true) {
                    open.extend(next(i));
                }
            }
            met[to]
        };
        let recurs = |i: usize| self.waits[i].is_some_and(|w| w.tick && reaches(w.to, i));
        let mut stay: Vec<bool> = (0..within.len()).map(|i| within[i] && (ends(i) || recurs(i))).collect();
        loop {
            let more = (0..stay.len()).map(|i| stay[i] || within[i] && next(i).any(|n| stay[n]));
            let more: Vec<bool> = more.collect();
            if more == stay {
                return stay;
            }
            stay = more;
        }
    }
}

type Successors = (Vec<(Action, Snapshot)>, Option<(Node, bool)>);

/// What can happen in a canonical point: the steps, and the next region in time.
fn successors(it: &Interpreter<'_>, state: &Snapshot, ticking: Option<Rational>) -> Result<Successors, ModelError> {
    let steps = it.steps(state)?;
    let fractions: BTreeSet<Rational> = state.clocks.iter().copied().chain(ticking).map(fraction).collect();
    let classes = fractions.iter().filter(|&&f| f != Rational::ZERO).count() as i64;
    // A clock that is whole is so no longer as soon as any time passes. Else the greatest fraction becomes whole first.
    let delay = if fractions.contains(&Rational::ZERO) {
        Rational::new(1, 2 * (classes + 1))
    } else {
        Rational::new(1, classes + 1)
    };
    let Some(later) = it.wait(state, delay)? else { return Ok((steps, None)) };
    let one = Rational::new(1, 1);
    let ticking = ticking.map(|t| sum(t, delay).expect("small fractions"));
    let tick = ticking == Some(one);
    Ok((steps, Some(((later, if tick { Some(Rational::ZERO) } else { ticking }), tick))))
}

fn fraction(value: Rational) -> Rational {
    difference(value, Rational::new(floor(value), 1)).expect("a part of a number")
}

/// Transitions clocks closer to each other and to zero, by whole numbers, where gaps exceed `most + 1`.
fn cap(clocks: &mut [Rational], most: i64) {
    let mut order: Vec<usize> = (0..clocks.len()).collect();
    order.sort_by_key(|&i| clocks[i]);
    let values = clocks.to_vec();
    let (mut last, mut less) = (Rational::ZERO, 0);
    for i in order {
        let gap = difference(values[i], last).expect("a part of a number");
        // The least whole number above `most` or equal to it that leaves the fractional part, unless the gap is smaller.
        let excess = if gap.denominator() == 1 { floor(gap) - (most + 1) } else { floor(gap) - most };
        less += excess.max(0);
        last = values[i];
        clocks[i] = difference(values[i], Rational::new(less, 1)).expect("a part of a number");
    }
}

/// The same whole parts, the same order of fractional parts, and the simplest such.
fn canonise(clocks: &mut [Rational], ticking: &mut Option<Rational>) {
    let all = clocks.iter().copied().chain(*ticking).map(fraction);
    let fractions: BTreeSet<Rational> = all.filter(|&f| f != Rational::ZERO).collect();
    let fractions: Vec<Rational> = fractions.into_iter().collect();
    for value in clocks.iter_mut().chain(ticking.as_mut()) {
        let place = fractions.iter().position(|&f| f == fraction(*value)).map_or(0, |i| i as i64 + 1);
        let den = fractions.len() as i64 + 1;
        *value = Rational::new(floor(*value) * den + place, den);
    }
}

/// Can neither the network nor the question, now or later, tell these values of the clocks apart, if all else is the same?
/// `false` if that is not known.
pub fn indistinguishable(net: &Network, query: &Query, a: &[Rational], b: &[Rational]) -> bool {
    let Some(exact) = constants(net, Some(query)) else { return false };
    let canonical = |clocks: &[Rational]| {
        let mut clocks = clocks.to_vec();
        cap(&mut clocks, exact);
        canonise(&mut clocks, &mut None);
        clocks
    };
    canonical(a) == canonical(b)
}

/// The largest magnitude of the constants that clocks are compared with, plus that of those that they are set to.
fn constants(net: &Network, query: Option<&Query>) -> Option<i64> {
    let (mut compared, mut set) = (0, 0);
    let magnitude = |t: TermId| range(&net.terms, t).map(|(lo, hi)| lo.saturating_abs().max(hi.saturating_abs()));
    let edges = || net.processes.iter().flat_map(|p| &p.edges);
    let locations = net.processes.iter().flat_map(|p| &p.locations);
    let guards = edges().flat_map(|e| &e.clock_guard);
    let asked = query.into_iter().flat_map(|q| q.atoms.iter().map(|a| &a.1));
    let all = guards.chain(locations.flat_map(|l| &l.clock_invariant)).chain(asked);
    for ClockAtom { bound, .. } in all {
        compared = magnitude(*bound)?.max(compared);
    }
    for r in edges().flat_map(|e| &e.resets) {
        if let ResetTo::Value(t) = r.to {
            set = magnitude(t)?.max(set);
        }
    }
    compared.checked_add(set).filter(|&n| n < 1 << 20)
}

/// Bounds of an integer term.
pub(super) fn range(terms: &Terms, t: TermId) -> Option<(i64, i64)> {
    if let Some(known) = terms.bounds(t) {
        return Some(known);
    }
    match terms.get(t) {
        Term::Add(parts) => parts.iter().try_fold((0i64, 0i64), |(lo, hi), &p| {
            let (l, h) = range(terms, p)?;
            Some((lo.checked_add(l)?, hi.checked_add(h)?))
        }),
        Term::Neg(a) => range(terms, *a).and_then(|(lo, hi)| Some((hi.checked_neg()?, lo.checked_neg()?))),
        Term::Mul(a, b) => {
            let ((a, b), (c, d)) = (range(terms, *a)?, range(terms, *b)?);
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
        Term::Ite(_, a, b) => {
            let ((a, b), (c, d)) = (range(terms, *a)?, range(terms, *b)?);
            Some((a.min(c), b.max(d)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(n: i64, d: i64) -> Rational {
        Rational::new(n, d)
    }

    #[test]
    fn far_clocks_come_closer() {
        let mut clocks = [r(20, 1), r(1, 2), r(41, 2), r(100, 1)];
        cap(&mut clocks, 3);
        assert_eq!(clocks, [r(4, 1), r(1, 2), r(9, 2), r(8, 1)]);
        let again = clocks;
        cap(&mut clocks, 3);
        assert_eq!(clocks, again);
        for n in 0..40 {
            for m in 0..40 {
                let before = [r(n, 4), r(m, 4)];
                let mut after = before;
                cap(&mut after, 2);
                let pairs =
                    |c: [Rational; 2]| [c[0], c[1], difference(c[0], c[1]).unwrap(), difference(c[1], c[0]).unwrap()];
                for (b, a) in pairs(before).into_iter().zip(pairs(after)) {
                    assert!(
                        a == b || a > r(2, 1) && b > r(2, 1) || a < r(-2, 1) && b < r(-2, 1),
                        "{before:?} {after:?}"
                    );
                    assert!(a <= r(6, 1) && fraction(a) == fraction(b));
                }
            }
        }
    }

    #[test]
    fn points_become_canonical() {
        let (mut clocks, mut ticking) = ([r(7, 1), r(1, 7), r(9, 8), r(15, 7)], Some(r(1, 100)));
        canonise(&mut clocks, &mut ticking);
        assert_eq!((clocks, ticking), ([r(7, 1), r(3, 4), r(3, 2), r(11, 4)], Some(r(1, 4))));
    }
}
