//! Intervals of numbers, with widening (Cousot and Cousot 1977).
//!
//! A label is values of variables that have few, and an interval for each other variable that is followed. After an edge the intervals
//! are the tightest ones, found by bisection with the solver (as Li et al., POPL 2014, optimise); an end is believed when the solver
//! has refuted that there is anything beyond it. Where a loop comes round, an end that has moved goes to the next *threshold*, a number
//! in a fact that a refutation has needed there, or to infinity. So refinement brings variables and thresholds.

use std::collections::{BTreeMap, BTreeSet};

use trellis_expr::{TermId, Terms, Type, Value, VarId};
use trellis_meter::Meter;
use trellis_model::cfa::{Cfa, EdgeId, LocationId};
use trellis_order::lattice::Interval;
use trellis_order::{Domain, Join, Widen, Word};
use trellis_smt::{Answer, Reason};

use super::domain::{AbstractDomain, Followed, has_few_values, is_plain};
use super::edges::{Edges, Step};
use super::label::equal;
use super::post::{Mode, Post, Tuple};

/// Without a threshold, ends that are further than this from a known value are infinite.
const FAR: i64 = 1 << 20;

/// Both ends, as the lattice has them.
type Ends = [Word; 2];

const EVERYTHING: Ends = [i64::MIN as Word, i64::MAX as Word];

/// Values, and intervals that are not everything; both sorted by variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label {
    values: Vec<(VarId, TermId)>,
    intervals: Vec<(VarId, Ends)>,
}

/// Variables whose values are followed, and those whose intervals are, with thresholds.
#[derive(Debug, Clone, Default)]
pub struct Precision {
    values: BTreeSet<VarId>,
    thresholds: BTreeMap<VarId, BTreeSet<i64>>,
}

impl Followed for Precision {
    fn includes(&self, other: &Precision) -> bool {
        let has = |(v, wanted): (&VarId, &BTreeSet<i64>)| self.thresholds.get(v).is_some_and(|t| wanted.is_subset(t));
        other.values.is_subset(&self.values) && other.thresholds.iter().all(has)
    }

    fn add(&mut self, other: &Precision) {
        self.values.extend(&other.values);
        for (&v, t) in &other.thresholds {
            self.thresholds.entry(v).or_default().extend(t);
        }
    }
}

/// Intervals with widening up to thresholds.
struct UpTo<'t>(&'t BTreeSet<i64>);

impl Domain for UpTo<'_> {
    type Elem = [Word];

    fn leq(&self, a: &[Word], b: &[Word]) -> bool {
        Interval.leq(a, b)
    }

    fn is_bottom(&self, a: &[Word]) -> bool {
        Interval.is_bottom(a)
    }
}

impl Join for UpTo<'_> {
    fn join(&self, a: &mut [Word], b: &[Word]) -> bool {
        Interval.join(a, b)
    }
}

impl Widen for UpTo<'_> {
    fn widen(&self, a: &mut [Word], b: &[Word]) -> bool {
        let mut least = a.to_vec();
        Interval.join(&mut least, b);
        let old = a.to_vec();
        let grew = Interval.widen(a, b);
        // Where an end has moved, the nearest threshold that is far enough is taken instead.
        if a[0] != old[0] {
            a[0] = self.0.range(..=least[0] as i64).next_back().map_or(a[0], |&t| t as Word);
        }
        if a[1] != old[1] {
            a[1] = self.0.range(least[1] as i64..).next().map_or(a[1], |&t| t as Word);
        }
        grew
    }
}

/// The domain.
pub struct Intervals {
    post: Post,
}

impl Intervals {
    /// For an automaton.
    pub fn new(cfa: &Cfa, max_values: usize) -> Intervals {
        Intervals { post: Post::new(cfa, Mode::Cartesian, max_values) }
    }
}

fn interval(label: &Label, v: VarId) -> Option<&Ends> {
    label.intervals.binary_search_by_key(&v, |x| x.0).ok().map(|at| &label.intervals[at].1)
}

impl AbstractDomain for Intervals {
    type Label = Label;
    type Precision = Precision;

    fn top(&self) -> Label {
        Label { values: vec![], intervals: vec![] }
    }

    fn first(&self, cfa: &Cfa) -> Precision {
        Precision { values: cfa.control.iter().copied().collect(), ..Precision::default() }
    }

    fn values<'l>(&self, label: &'l Label) -> &'l [(VarId, TermId)] {
        &label.values
    }

    fn leq(&self, a: &Label, b: &Label) -> bool {
        b.intervals.iter().all(|(v, theirs)| interval(a, *v).is_some_and(|mine| Interval.leq(mine, theirs)))
    }

    fn assumptions(&self, terms: &mut Terms, label: &Label) -> Vec<TermId> {
        let mut all: Vec<TermId> = label.values.iter().map(|&(v, t)| equal(terms, v, t)).collect();
        for &(v, [lo, hi]) in &label.intervals {
            // A threshold may be more than the variable can be.
            let ((lo, hi), (least, most)) = ((lo as i64, hi as i64), limits_of(terms.variable(v).ty));
            if lo > least {
                let outside = beyond(terms, v, lo, false);
                all.push(terms.not(outside));
            }
            if hi < most {
                let outside = beyond(terms, v, hi, true);
                all.push(terms.not(outside));
            }
        }
        all
    }

    fn successors(
        &mut self,
        cfa: &mut Cfa,
        before: &[TermId],
        e: EdgeId,
        precision: &Precision,
        limits: &Meter,
    ) -> Result<Vec<Label>, Reason> {
        let tuples = self.post.tuples(cfa, before, e, &precision.values, limits)?;
        let step = self.post.steps.get(cfa, e)?;
        let terms = &mut cfa.terms;
        let mut labels = vec![];
        for Tuple { values, model } in tuples {
            let mut assumed = before.to_vec();
            assumed.extend(values.iter().map(|&(v, t)| equal(terms, step.version(v), t)));
            let mut intervals = vec![];
            for (&v, thresholds) in &precision.thresholds {
                // Without a model the solver has no theory of the edge.
                let Some(model) = &model else { continue };
                // Where to begin; ends are right whether or not that is a value.
                let some = model.get(&step.version(v)).and_then(number).unwrap_or(0);
                let mut search = Search { terms, step, assumed: &assumed, v, limits };
                let ends = [false, true].map(|above| search.end(some, thresholds, above) as Word);
                if ends != EVERYTHING {
                    intervals.push((v, ends));
                }
            }
            labels.push(Label { values, intervals });
        }
        Ok(labels)
    }

    fn widens(&self) -> bool {
        true
    }

    fn widen(&self, old: &Label, new: &Label, precision: &Precision) -> Option<Label> {
        if old.values != new.values {
            return None;
        }
        let mut intervals = vec![];
        for &(v, mut ends) in &old.intervals {
            if let (Some(new), Some(thresholds)) = (interval(new, v), precision.thresholds.get(&v)) {
                UpTo(thresholds).widen(&mut ends, new);
                if ends != EVERYTHING {
                    intervals.push((v, ends));
                }
            }
        }
        Some(Label { values: new.values.clone(), intervals })
    }

    fn follow(&mut self, terms: &mut Terms, _: LocationId, fact: TermId) -> Precision {
        wanted(terms, fact)
    }

    fn edges(&mut self) -> &mut Edges {
        &mut self.post.steps
    }
}

/// Variables with few values, and those with more, with the numbers in a fact.
fn wanted(terms: &Terms, fact: TermId) -> Precision {
    let mut gained = Precision::default();
    // The numbers in it, and their neighbours: `x < 3` ends at 2, and `0 < x + 3` at -3.
    let literals = terms.subterms([fact]).into_iter().filter_map(|t| terms.as_value(t).as_ref().and_then(number));
    let near = |n: i64| [n.saturating_sub(1), n, n.saturating_add(1), n.saturating_neg()];
    let numbers: BTreeSet<i64> = literals.flat_map(near).collect();
    for v in terms.free_vars(fact).into_iter().filter(|&v| is_plain(terms, v)) {
        if has_few_values(terms, v) {
            gained.values.insert(v);
        } else {
            gained.thresholds.insert(v, numbers.clone());
        }
    }
    gained
}

/// The same, as predicates: is a variable more than a number?
pub fn sides(terms: &mut Terms, fact: TermId) -> (BTreeSet<VarId>, Vec<TermId>) {
    let Precision { values, thresholds } = wanted(terms, fact);
    let mut predicates = vec![];
    for (v, numbers) in thresholds {
        let (least, most) = limits_of(terms.variable(v).ty);
        predicates.extend(numbers.range(least..most).map(|&n| beyond(terms, v, n, true)));
    }
    (values, predicates)
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(_) | Value::Bits { .. } => i64::try_from(value.number()).ok(),
        _ => None,
    }
}

/// `v > n`, or `v < n`. The number is one that the variable can have.
fn beyond(terms: &mut Terms, v: VarId, n: i64, above: bool) -> TermId {
    let ty = match terms.variable(v).ty {
        ty @ Type::Bits { .. } => ty,
        _ => Type::Int,
    };
    let (n, v) = (terms.number(ty, n.into()), terms.var(v));
    if above { terms.lt(n, v) } else { terms.lt(v, n) }
}

/// The least and the greatest number of a type, as far as they fit.
fn limits_of(ty: Type) -> (i64, i64) {
    match ty {
        Type::Range(lo, hi) => (lo, hi),
        Type::Bits { width, signed: true } => (-1 << (width - 1), !(-1 << (width - 1))),
        Type::Bits { width, signed: false } if width < 64 => (0, (1_i64 << (width - 1) << 1).wrapping_sub(1)),
        Type::Bits { .. } => (0, i64::MAX),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Looks for the ends of a variable's values after an edge.
struct Search<'a> {
    terms: &'a mut Terms,
    step: &'a mut Step,
    assumed: &'a [TermId],
    v: VarId,
    limits: &'a Meter,
}

impl Search<'_> {
    /// The last value above (below) a value that is possible; the end of all numbers if there is none, or nobody knows.
    fn end(&mut self, some: i64, thresholds: &BTreeSet<i64>, above: bool) -> i64 {
        let (lo, hi) = limits_of(self.terms.variable(self.v).ty);
        // Upwards from here on: downwards, `!n` turns the order round and loses no number.
        let turn = |n: i64| if above { n } else { !n };
        let (mut reached, mut end) = (turn(some.clamp(lo, hi)), turn(if above { hi } else { lo }));
        let furthest = thresholds.iter().map(|&t| turn(t)).filter(|t| *t < end).max();
        let (mut stride, mut proved) = (0, false);
        while reached < end {
            let probe = if proved {
                reached + ((i128::from(end) - i128::from(reached)) / 2) as i64
            } else if stride <= FAR {
                reached.saturating_add(stride).min(end - 1)
            } else {
                match furthest.filter(|t| *t > reached) {
                    Some(t) => t,
                    None => return turn(end),
                }
            };
            let more = beyond(self.terms, self.step.version(self.v), turn(probe), above);
            let mut assumed = self.assumed.to_vec();
            assumed.push(more);
            match self.step.check(self.terms, &assumed, self.limits) {
                Answer::Sat(model) => match model.get(&self.step.version(self.v)).and_then(number) {
                    Some(n) if turn(n) > probe => reached = turn(n),
                    _ => return turn(end),
                },
                Answer::Unsat(_) => (end, proved) = (probe, true),
                Answer::Unknown(_) => return turn(end),
            }
            stride = (stride * 2).max(1);
        }
        turn(end)
    }
}
