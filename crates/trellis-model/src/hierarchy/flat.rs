//! Flat events: which event each component takes part with (001 §2.2.2).
//!
//! Vectors are a *set*: neither their order nor how often one is written means anything. A vector with every place filled is a
//! *choice*, known by its events alone; it may come from several vectors. Of two choices of a vector with optional places the one that
//! includes the other is to be preferred, wherever else the two come from, and so on along chains of them. ε is never given up.
//!
//! `plain` computes the same anew, for those who check; nothing here is used by it but the shape of the result.

use std::collections::BTreeMap;
use std::ops::Deref;

use rustc_hash::FxHashSet;

use super::{Component, ComponentId, Hierarchy};

/// How many flat events a component may have.
pub(super) const MAX_EVENTS: usize = 200_000;

/// How many optional places a vector may have.
pub(super) const MAX_OPTIONAL: usize = 16;

/// There are more flat events than can be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{component} has more than {MAX_EVENTS} flat events")]
pub struct TooManyEvents {
    /// Whose.
    pub component: String,
}

/// A vector with every place filled: the component's own event, then one event for each sub-node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The events.
    pub events: Vec<usize>,
    /// The vectors with optional places that it comes from: their numbers, and which of those places take part.
    pub families: Vec<(usize, Vec<bool>)>,
}

impl Choice {
    /// Is it a part of another choice of the same vector, which is to be preferred?
    fn below(&self, other: &Choice) -> bool {
        let within = |(v, few): &(usize, Vec<bool>), (w, many): &(usize, Vec<bool>)| {
            v == w && few != many && few.iter().zip(many).all(|(f, m)| !f || *m)
        };
        self.families.iter().any(|few| other.families.iter().any(|many| within(few, many)))
    }

    /// Does everybody who takes part here do so in the other one too, and with the same event?
    fn within(&self, other: &Choice) -> bool {
        self.events.iter().zip(&other.events).all(|(a, b)| *a == 0 || a == b)
    }
}

/// A flat event of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlatEvent {
    /// The component's own event.
    pub label: usize,
    /// Which choice of its vectors.
    pub choice: usize,
    /// For each sub-node, which of its flat events.
    pub subs: Vec<usize>,
}

/// Flat events, listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlatEvents {
    /// For each component, its flat events. The first is ε everywhere.
    pub events: Vec<Vec<FlatEvent>>,
}

/// The flat events of all components, and which of them come before others.
#[derive(Debug, Clone)]
pub struct Levels {
    /// For each component, its vectors with every place filled, in the order of their events.
    pub choices: Vec<Vec<Choice>>,
    /// The flat events.
    pub flat: FlatEvents,
}

impl Deref for Levels {
    type Target = FlatEvents;

    fn deref(&self) -> &FlatEvents {
        &self.flat
    }
}

impl Component {
    /// All vectors with every place filled, each once, in the order of their events. The first is ε everywhere; events that no vector
    /// names come alone.
    pub fn choices(&self, hierarchy: &Hierarchy) -> Result<Vec<Choice>, TooManyEvents> {
        let width = self.subs.len() + 1;
        let place = |sub: Option<usize>| sub.map_or(0, |s| s + 1);
        let mut all: BTreeMap<Vec<usize>, Vec<(usize, Vec<bool>)>> = BTreeMap::from([(vec![0; width], vec![])]);
        let mut named: FxHashSet<(usize, usize)> = FxHashSet::default();
        for (number, vector) in self.vectors.iter().enumerate() {
            let mut events = vec![0; width];
            for part in &vector.parts {
                named.insert((place(part.sub), part.event));
                if !part.optional {
                    events[place(part.sub)] = part.event;
                }
            }
            let optional: Vec<_> = vector.parts.iter().filter(|p| p.optional).collect();
            if optional.len() > MAX_OPTIONAL {
                return Err(TooManyEvents { component: self.to_string() });
            }
            for set in 0..1_u32 << optional.len() {
                let chosen: Vec<bool> = (0..optional.len()).map(|i| set >> i & 1 == 1).collect();
                let count = set.count_ones() as usize;
                if count < vector.count.0 || count > vector.count.1 {
                    continue;
                }
                let mut events = events.clone();
                for (part, _) in optional.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
                    events[place(part.sub)] = part.event;
                }
                // The empty choice of a vector is ε, and stays so.
                let counts = !optional.is_empty() && events.iter().any(|&e| e != 0);
                let families = all.entry(events).or_default();
                if counts {
                    families.push((number, chosen));
                }
            }
        }
        let own = std::iter::once(self.events.len());
        let sizes = own.chain(self.subs.iter().map(|&s| hierarchy.component(s).events.len()));
        for (at, size) in sizes.enumerate() {
            for event in (1..size).filter(|&event| !named.contains(&(at, event))) {
                let mut events = vec![0; width];
                events[at] = event;
                all.entry(events).or_default();
            }
        }
        Ok(all.into_iter().map(|(events, families)| Choice { events, families }).collect())
    }
}

/// Does the first of some choices give way to the second, for more take part in that?
fn gives_way(choices: &[Choice], low: usize, high: usize) -> bool {
    let (from, to) = (&choices[low], &choices[high]);
    if low == high || from.families.is_empty() || to.families.is_empty() || !from.within(to) {
        return false;
    }
    if from.below(to) {
        return true;
    }
    // Along a chain: only what comes from several vectors leads from one to the next.
    let joint = |&n: &usize| n != low && n != high && choices[n].families.len() > 1 && from.within(&choices[n]);
    let between: Vec<usize> = (0..choices.len()).filter(joint).collect();
    between.into_iter().any(|n| from.below(&choices[n]) && gives_way(choices, n, high))
}

impl Hierarchy {
    /// The flat events of all components.
    pub fn levels(&self) -> Result<Levels, TooManyEvents> {
        let mut levels = Levels { choices: vec![], flat: FlatEvents::default() };
        for component in &self.components {
            let choices = component.choices(self)?;
            let mut events = vec![];
            for (number, choice) in choices.iter().enumerate() {
                let mut rows: Vec<Vec<usize>> = vec![vec![]];
                for (sub, label) in component.subs.iter().zip(&choice.events[1..]) {
                    let below = levels.of(*sub);
                    let fits: Vec<usize> = (0..below.len()).filter(|&n| below[n].label == *label).collect();
                    if rows.len().saturating_mul(fits.len()) > MAX_EVENTS {
                        return Err(TooManyEvents { component: component.to_string() });
                    }
                    let longer = |row: &Vec<usize>| {
                        let row = row.clone();
                        fits.iter().map(move |&n| row.iter().copied().chain([n]).collect()).collect::<Vec<_>>()
                    };
                    rows = rows.iter().flat_map(longer).collect();
                }
                let label = choice.events[0];
                events.extend(rows.into_iter().map(|subs| FlatEvent { label, choice: number, subs }));
                if events.len() > MAX_EVENTS {
                    return Err(TooManyEvents { component: component.to_string() });
                }
            }
            levels.choices.push(choices);
            levels.flat.events.push(events);
        }
        Ok(levels)
    }
}

impl Levels {
    /// Is one choice of a component's vectors lower than another?
    pub fn lower(&self, hierarchy: &Hierarchy, c: ComponentId, low: usize, high: usize) -> bool {
        lower(hierarchy, c, &self.choices[c.index()], low, high)
    }
}

/// Is one choice of a component's vectors lower than another?
pub(super) fn lower(hierarchy: &Hierarchy, c: ComponentId, choices: &[Choice], low: usize, high: usize) -> bool {
    let own = (choices[low].events[0], choices[high].events[0]);
    gives_way(choices, low, high) || hierarchy.component(c).priorities.contains(&own)
}

impl FlatEvents {
    /// The flat events of a component.
    pub fn of(&self, c: ComponentId) -> &[FlatEvent] {
        &self.events[c.index()]
    }

    /// Who takes part in a flat event, and with which of its events.
    pub fn parts(&self, hierarchy: &Hierarchy, c: ComponentId, event: usize) -> Vec<(ComponentId, usize)> {
        let flat = &self.of(c)[event];
        let own = (flat.label != 0).then_some((c, flat.label));
        let subs = hierarchy.component(c).subs.iter().zip(&flat.subs);
        own.into_iter().chain(subs.flat_map(|(&sub, &n)| self.parts(hierarchy, sub, n))).collect()
    }

    /// How a flat event is written: `<push, Top.push>`.
    pub fn show(&self, hierarchy: &Hierarchy, c: ComponentId, event: usize) -> String {
        let name = |(at, event): (ComponentId, usize)| {
            let component = hierarchy.component(at);
            let event = &component.events[event];
            if component.path.is_empty() { event.clone() } else { format!("{}.{event}", component.path) }
        };
        let names: Vec<String> = self.parts(hierarchy, c, event).into_iter().map(name).collect();
        if names.is_empty() { "ε".into() } else { format!("<{}>", names.join(", ")) }
    }
}
