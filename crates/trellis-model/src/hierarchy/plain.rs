//! Flat events once more, for whoever replays, lists or certifies: straight from the vectors as they are written, by asking of a
//! filled vector whether it is an *instance* of what is written, and by nothing that `flat` computes. A mistake in one of the two shows
//! as a difference ([`Plain::differs`]).
//!
//! A filled vector is a row: the component's own event, then one for each sub-node; 0 is ε. It is an instance of a vector if each
//! place that must take part does, each that may does so or not, nobody else does, and as many of those that may take part as the
//! vector counts. Rows are a set, in the order of their events.

use std::collections::BTreeSet;
use std::ops::Deref;

use super::flat::{MAX_EVENTS, MAX_OPTIONAL};
use super::{Component, ComponentId, FlatEvent, FlatEvents, Hierarchy, Levels, TooManyEvents, Vector};

/// How many pairs of rows of one component are compared with what others say of them.
const MAX_PAIRS: usize = 4_000_000;

/// The flat events of all components.
#[derive(Debug, Clone)]
pub struct Plain {
    /// For each component, its rows.
    pub rows: Vec<Vec<Vec<usize>>>,
    /// The flat events.
    pub flat: FlatEvents,
}

impl Deref for Plain {
    type Target = FlatEvents;

    fn deref(&self) -> &FlatEvents {
        &self.flat
    }
}

/// What a vector says of each place: who must take part with which event, and who may.
fn written(vector: &Vector, width: usize) -> Vec<(usize, bool)> {
    let mut places = vec![(0, false); width];
    for part in &vector.parts {
        places[part.sub.map_or(0, |s| s + 1)] = (part.event, part.optional);
    }
    places
}

/// Is the row an instance of the vector?
fn is_instance(vector: &Vector, row: &[usize]) -> bool {
    let places = written(vector, row.len());
    let fits = places.iter().zip(row).all(|(&(event, may), &e)| e == event || (may && e == 0));
    let taking_part = places.iter().zip(row).filter(|((_, may), e)| *may && **e != 0).count();
    fits && (vector.count.0..=vector.count.1).contains(&taking_part)
}

/// All rows of a component.
pub fn rows(hierarchy: &Hierarchy, component: &Component) -> Result<Vec<Vec<usize>>, TooManyEvents> {
    let width = component.subs.len() + 1;
    let mut all: BTreeSet<Vec<usize>> = BTreeSet::from([vec![0; width]]);
    for vector in &component.vectors {
        let places = written(vector, width);
        if places.iter().filter(|(_, may)| *may).count() > MAX_OPTIONAL {
            return Err(TooManyEvents { component: component.to_string() });
        }
        // Place by place: each that may take part does, or does not.
        let mut filled: Vec<Vec<usize>> = vec![vec![]];
        for &(event, may) in &places {
            let without = if may { filled.clone() } else { vec![] };
            filled.iter_mut().for_each(|row| row.push(event));
            filled.extend(without.into_iter().map(|row| [row.as_slice(), &[0]].concat()));
        }
        all.extend(filled.into_iter().filter(|row| is_instance(vector, row)));
    }
    // What no vector names happens alone.
    for at in 0..width {
        let whose = if at == 0 { component } else { hierarchy.component(component.subs[at - 1]) };
        for event in 1..whose.events.len() {
            let named = |v: &Vector| written(v, width)[at].0 == event;
            if !component.vectors.iter().any(named) {
                let mut row = vec![0; width];
                row[at] = event;
                all.insert(row);
            }
        }
    }
    Ok(all.into_iter().collect())
}

impl Plain {
    /// The flat events of a hierarchy.
    pub fn of(hierarchy: &Hierarchy) -> Result<Plain, TooManyEvents> {
        let mut plain = Plain { rows: vec![], flat: FlatEvents::default() };
        for component in &hierarchy.components {
            let too_many = || TooManyEvents { component: component.to_string() };
            let rows = rows(hierarchy, component)?;
            let mut events: Vec<FlatEvent> = vec![];
            for (choice, row) in rows.iter().enumerate() {
                // One flat event of each sub-node that shows the event in its place; the last sub-node changes fastest.
                let shown = |(&sub, &event): (&ComponentId, &usize)| {
                    let below = plain.flat.of(sub).iter().enumerate();
                    below.filter(|(_, e)| e.label == event).map(|(n, _)| n).collect::<Vec<usize>>()
                };
                let below: Vec<Vec<usize>> = component.subs.iter().zip(&row[1..]).map(shown).collect();
                let count = below.iter().fold(1_usize, |n, list| n.saturating_mul(list.len()));
                if events.len().saturating_add(count) > MAX_EVENTS {
                    return Err(too_many());
                }
                for number in 0..count {
                    let mut rest = number;
                    let mut subs = vec![0; below.len()];
                    for (at, list) in below.iter().enumerate().rev() {
                        subs[at] = list[rest % list.len()];
                        rest /= list.len();
                    }
                    events.push(FlatEvent { label: row[0], choice, subs });
                }
            }
            plain.rows.push(rows);
            plain.flat.events.push(events);
        }
        Ok(plain)
    }

    /// Is one row of a component lower than another?
    pub fn lower(&self, hierarchy: &Hierarchy, c: ComponentId, low: usize, high: usize) -> bool {
        lower(hierarchy.component(c), &self.rows[c.index()], low, high)
    }

    /// Where this and what somebody else has computed are not the same, in words.
    pub fn differs(&self, hierarchy: &Hierarchy, levels: &Levels) -> Option<String> {
        for (number, component) in hierarchy.components.iter().enumerate() {
            let c = ComponentId(number as u32);
            let theirs: Option<Vec<&Vec<usize>>> =
                levels.choices.get(number).map(|all| all.iter().map(|choice| &choice.events).collect());
            if theirs.is_none_or(|all| !all.into_iter().eq(&self.rows[number])) {
                return Some(format!("the vectors of {component} are filled in different ways"));
            }
            if levels.flat.events.get(number).is_none_or(|all| *all != self.flat.events[number]) {
                return Some(format!("the flat events of {component} are different ones"));
            }
            let count = self.rows[number].len();
            // All pairs, or some from all over.
            let pairs = count.saturating_mul(count);
            let step = pairs.div_ceil(MAX_PAIRS).max(1);
            for pair in (0..pairs).step_by(step) {
                let (low, high) = (pair / count, pair % count);
                if self.lower(hierarchy, c, low, high) != levels.lower(hierarchy, c, low, high) {
                    return Some(format!("the priorities between the vectors of {component} are different ones"));
                }
            }
        }
        None
    }
}

/// Is one row of a component lower than another: has its own event a lower priority, or do more take part in the other?
pub fn lower(component: &Component, rows: &[Vec<usize>], low: usize, high: usize) -> bool {
    component.priorities.contains(&(rows[low][0], rows[high][0])) || includes(component, rows, low, high)
}

/// Are both rows instances of one vector that lets events take part or not, and do more take part in the second; or is there a chain
/// of such pairs? ε includes nothing and gives way to nothing.
fn includes(component: &Component, rows: &[Vec<usize>], low: usize, high: usize) -> bool {
    let (few, many) = (&rows[low], &rows[high]);
    let more = few != many && few.iter().zip(many).all(|(a, b)| *a == 0 || a == b);
    if !more || few.iter().all(|&e| e == 0) {
        return false;
    }
    let together = |v: &Vector| is_instance(v, few) && is_instance(v, many);
    if component.vectors.iter().any(together) {
        return true;
    }
    let broadcast = |v: &&Vector| v.parts.iter().any(|p| p.optional);
    if component.vectors.iter().filter(broadcast).count() < 2 {
        return false;
    }
    let first = |n: usize| {
        let middle = &rows[n];
        let between = middle != few && middle != many && few.iter().zip(middle).all(|(a, b)| *a == 0 || a == b);
        between && component.vectors.iter().any(|v| is_instance(v, few) && is_instance(v, middle))
    };
    (0..rows.len()).any(|n| first(n) && includes(component, rows, n, high))
}
