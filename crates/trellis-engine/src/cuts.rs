//! What safety engineers ask of a hierarchy of nodes: which failures together lead to something bad (minimal cut sets), in which order
//! (minimal sequences), and what each failure does alone (failure modes and effects).
//!
//! *Failures* are some events of components; all others happen freely. A *cut set* is the set of failures of some run to a bad
//! configuration; it is minimal if no run gets there with fewer of them. A *sequence* lists, step by step, the failures of such a
//! run (several, if they are synchronised); it is minimal if nothing can be left out of it. Cut sets come from one set of reachable
//! states of a hierarchy that remembers failures, projected to these (`minimal`); sequences from sets of states, one failure after the other. What this deliberately
//! does not do: probabilities.

mod minimal;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_domain::relation::{Error, Memory, Relation};
use trellis_expr::{TermId, VarId};
use trellis_model::evidence::Reason;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::observe::EventOf;
use trellis_model::hierarchy::symbolic::{Event, Symbolic};

use crate::cover::reach::{Direction, reachable};
use crate::cover::{Question, reason};
use trellis_meter::{Meter, Progress};

/// How much is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// At most so many failures in a cut set or a sequence.
    pub order: Option<usize>,
    /// At most so many cut sets, and so many sequences.
    pub count: usize,
}

/// What was found, and whether it is all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// What was found.
    pub found: Vec<T>,
    /// Is there nothing else within the order that was asked for?
    pub complete: bool,
}

/// Failures by number, in order; none at all if the bad thing happens by itself.
pub type CutSet = Vec<usize>;

/// For each step with failures, which.
pub type Sequence = Vec<Vec<usize>>;

/// All minimal cut sets: smaller ones first.
pub fn cut_sets(
    hierarchy: &Hierarchy,
    failures: &[EventOf],
    bad: TermId,
    memory: Memory,
    limits: Limits,
    meter: &mut Meter,
) -> Result<Listed<CutSet>, Reason> {
    let (observing, happened) = hierarchy.observing(failures);
    let m = Symbolic::new(&observing, 2, memory).map_err(reason)?;
    let question = Question {
        hierarchy: &observing,
        symbolic: &m,
        initial: m.initial(&observing).map_err(reason)?,
        bad: m.satisfying(&observing, bad).map_err(reason)?,
    };
    let states = reachable(&question, Direction::Forward, meter)?;
    let columns: Vec<usize> = happened.iter().map(|v| m.columns[v.index()]).collect();
    let decisions = (|| {
        let s = &m.space;
        let here = s.and(&states, &m.states_of(&question.bad)?)?;
        let is_failure: FxHashSet<usize> = columns.iter().copied().collect();
        let others = s.cube(m.states.iter().filter(|c| !is_failure.contains(c)).map(|&c| (c, 0)))?;
        Ok(s.decisions(&s.exists(&here, &others)?, &columns))
    })()
    .map_err(reason)?;
    let mut go_on = || meter.go_on();
    let mut found = minimal::minimal(&decisions, &columns, limits.order, limits.count, &mut go_on)?;
    let complete = found.len() <= limits.count;
    found.truncate(limits.count);
    found.sort_by_key(|set: &CutSet| (set.len(), set.clone()));
    Ok(Listed { found, complete })
}

/// A hierarchy with failures, and what happens between them.
pub struct Failing<'h> {
    hierarchy: &'h Hierarchy,
    /// Its meaning.
    pub symbolic: Symbolic,
    /// Flat events by the failures that they have.
    by_label: Vec<(Vec<usize>, Vec<Event>)>,
    free: Vec<Event>,
    initial: Relation,
    bad: Relation,
}

/// What a failure does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// Can it happen at all, before any other failure?
    pub possible: bool,
    /// Is it enough for the bad thing?
    pub bad: bool,
    /// Values that a variable has after it and never without it.
    pub values: Vec<(VarId, Vec<i64>)>,
}

impl<'h> Failing<'h> {
    /// Some failures, and what is bad.
    pub fn new(
        hierarchy: &'h Hierarchy,
        failures: &[EventOf],
        bad: TermId,
        memory: Memory,
    ) -> Result<Failing<'h>, Reason> {
        let symbolic = Symbolic::new(hierarchy, 2, memory).map_err(reason)?;
        let mut by_label: FxHashMap<Vec<usize>, Vec<Event>> = FxHashMap::default();
        for event in &symbolic.events {
            let parts = symbolic.levels.parts(hierarchy, hierarchy.top, event.number);
            let number = |&(component, event)| failures.iter().position(|f| *f == EventOf { component, event });
            let mut label: Vec<usize> = parts.iter().filter_map(number).collect();
            label.sort_unstable();
            by_label.entry(label).or_default().push(event.clone());
        }
        let free = by_label.remove(&vec![]).unwrap_or_default();
        let mut by_label: Vec<_> = by_label.into_iter().collect();
        by_label.sort_by(|(a, _), (b, _)| a.cmp(b));
        let initial = symbolic.initial(hierarchy).map_err(reason)?;
        let bad = symbolic.satisfying(hierarchy, bad).and_then(|bad| symbolic.states_of(&bad)).map_err(reason)?;
        Ok(Failing { hierarchy, symbolic, by_label, free, initial, bad })
    }

    /// All that can be reached without a failure.
    fn freely(&self, from: &Relation, meter: &mut Meter) -> Result<Relation, Reason> {
        let mut all = from.clone();
        loop {
            let mut next = all.clone();
            for event in self.free.iter().filter(|e| !e.written.is_empty()) {
                let more = self.symbolic.post(event, &next);
                next = more.and_then(|more| self.symbolic.space.or(&next, &more)).map_err(reason)?;
            }
            meter.ask(&Progress::default())?;
            if next == all {
                return Ok(all);
            }
            all = next;
        }
    }

    /// What some simultaneous failures lead to, and what happens after them.
    fn after(&self, from: &Relation, events: &[Event], meter: &mut Meter) -> Result<Relation, Reason> {
        let s = &self.symbolic.space;
        let mut all = s.none();
        for event in events {
            let more = self.symbolic.post(event, from);
            all = more.and_then(|more| s.or(&all, &more)).map_err(reason)?;
        }
        self.freely(&all, meter)
    }

    /// All minimal sequences with at most so many failures, shorter ones first.
    pub fn sequences(&self, limits: Limits, meter: &mut Meter) -> Result<Listed<Sequence>, Reason> {
        let s = &self.symbolic.space;
        let order = limits.order.unwrap_or(usize::MAX);
        let mut listed = Listed { found: vec![], complete: true };
        let start = self.freely(&self.initial, meter)?;
        if s.meets(&start, &self.bad).map_err(reason)? {
            listed.found.push(vec![]);
            return Ok(listed);
        }
        // What was seen, with where it leads; and those of it that are to be continued.
        let mut seen: Vec<(Sequence, Relation)> = vec![(vec![], start)];
        let mut last = 0..1;
        while !last.is_empty() {
            let next = seen.len();
            for at in last {
                for (label, events) in &self.by_label {
                    let (before, states) = &seen[at];
                    let sequence: Sequence = before.iter().chain([label]).cloned().collect();
                    if sequence.iter().map(Vec::len).sum::<usize>() > order
                        || listed.found.iter().any(|f| part_of(f, &sequence))
                    {
                        continue;
                    }
                    let states = self.after(&states.clone(), events, meter)?;
                    if s.meets(&states, &self.bad).map_err(reason)? {
                        listed.found.push(sequence);
                        if listed.found.len() >= limits.count {
                            listed.complete = false;
                            return Ok(smallest(listed));
                        }
                        continue;
                    }
                    // Whatever comes after it would come after less.
                    let mut idle = false;
                    for (other, more) in &seen {
                        idle = idle || (part_of(other, &sequence) && s.within(&states, more).map_err(reason)?);
                    }
                    if !idle {
                        seen.push((sequence, states));
                    }
                    if seen.len() > limits.count.saturating_mul(10) {
                        listed.complete = false;
                        return Ok(smallest(listed));
                    }
                }
            }
            last = next..seen.len();
        }
        Ok(smallest(listed))
    }

    /// What each of some failures does, alone.
    pub fn effects(&self, failures: usize, meter: &mut Meter) -> Result<Vec<Effect>, Reason> {
        let s = &self.symbolic.space;
        let start = self.freely(&self.initial, meter)?;
        let usual = self.values(&start).map_err(reason)?;
        let mut all = vec![];
        for n in 0..failures {
            let mut states = s.none();
            for (_, events) in self.by_label.iter().filter(|(label, _)| label == &[n]) {
                states = self.after(&start, events, meter)?;
            }
            let now = self.values(&states).map_err(reason)?;
            let new = usual.iter().zip(now).enumerate().map(|(v, (usual, now))| {
                (VarId(v as u32), now.into_iter().filter(|n| !usual.contains(n)).collect::<Vec<i64>>())
            });
            all.push(Effect {
                possible: !states.is_empty(),
                bad: s.meets(&states, &self.bad).map_err(reason)?,
                values: new.filter(|(_, values)| !values.is_empty()).collect(),
            });
        }
        Ok(all)
    }

    /// The values that each variable has in some states.
    fn values(&self, states: &Relation) -> Result<Vec<Vec<i64>>, Error> {
        let (m, s) = (&self.symbolic, &self.symbolic.space);
        let all = m.configurations_of(states)?;
        let mut rows = vec![];
        for v in 0..self.hierarchy.variables.len() {
            let column = m.columns[v];
            let others = s.cube(m.own_columns().filter(|c| *c != column).map(|c| (c, 0)))?;
            let values = s.exists(&all, &others)?;
            let rows_of = s.rows(&values, &[(column, 0)], usize::MAX);
            rows.push(rows_of.into_iter().flatten().collect());
        }
        Ok(rows)
    }
}

/// Only those that have no other as a part.
fn smallest(mut listed: Listed<Sequence>) -> Listed<Sequence> {
    let all = std::mem::take(&mut listed.found);
    let least = |s: &Sequence| !all.iter().any(|t| t != s && part_of(t, s));
    listed.found = all.iter().filter(|s| least(s)).cloned().collect();
    listed.found.sort_by_key(|s| (s.iter().map(Vec::len).sum::<usize>(), s.clone()));
    listed
}

/// Is one sequence what is left of another if something is left out of it?
pub fn part_of(few: &[Vec<usize>], many: &[Vec<usize>]) -> bool {
    let mut left = few.iter().peekable();
    for step in many {
        if left.peek().is_some_and(|next| next.iter().all(|f| step.contains(f))) {
            left.next();
        }
    }
    left.peek().is_none()
}
