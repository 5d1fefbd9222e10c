//! Flat events: which event each component takes part with (001 §2.2.2).

use rustc_hash::FxHashSet;

use super::{Component, ComponentId, Hierarchy};

/// How many flat events a component may have.
const MAX_EVENTS: usize = 200_000;

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
    /// Of a vector with optional places: its number, and which of them take part.
    pub family: Option<(usize, Vec<bool>)>,
}

impl Choice {
    /// Is it a part of another choice of the same vector, which is to be preferred?
    fn below(&self, other: &Choice) -> bool {
        match (&self.family, &other.family) {
            (Some((v, few)), Some((w, many))) => v == w && few != many && few.iter().zip(many).all(|(f, m)| !f || *m),
            _ => false,
        }
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

/// The flat events of all components.
#[derive(Debug, Clone)]
pub struct Levels {
    /// For each component, its vectors with every place filled.
    pub choices: Vec<Vec<Choice>>,
    /// For each component, its flat events. The first is ε everywhere.
    pub events: Vec<Vec<FlatEvent>>,
}

impl Component {
    /// All vectors with every place filled. The first is ε everywhere; events that no vector names come alone.
    pub fn choices(&self, hierarchy: &Hierarchy) -> Result<Vec<Choice>, TooManyEvents> {
        let width = self.subs.len() + 1;
        let place = |sub: Option<usize>| sub.map_or(0, |s| s + 1);
        let mut all = vec![Choice { events: vec![0; width], family: None }];
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
            if optional.len() > 16 {
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
                let family = (!optional.is_empty()).then_some((number, chosen));
                all.push(Choice { events, family });
            }
        }
        let own = std::iter::once(self.events.len());
        let sizes = own.chain(self.subs.iter().map(|&s| hierarchy.component(s).events.len()));
        for (at, size) in sizes.enumerate() {
            for event in (1..size).filter(|&event| !named.contains(&(at, event))) {
                let mut events = vec![0; width];
                events[at] = event;
                all.push(Choice { events, family: None });
            }
        }
        let mut seen: Vec<Choice> = vec![];
        for choice in all {
            // What stands there twice is there once. The empty choice of a vector is still ε.
            if !seen.iter().any(|s| s.events == choice.events && (s.family == choice.family || s.family.is_none())) {
                seen.push(choice);
            }
        }
        Ok(seen)
    }
}

impl Hierarchy {
    /// The flat events of all components.
    pub fn levels(&self) -> Result<Levels, TooManyEvents> {
        let mut levels = Levels { choices: vec![], events: vec![] };
        for component in &self.components {
            let choices = component.choices(self)?;
            let mut events = vec![];
            for (number, choice) in choices.iter().enumerate() {
                let mut rows: Vec<Vec<usize>> = vec![vec![]];
                for (sub, label) in component.subs.iter().zip(&choice.events[1..]) {
                    let below = &levels.events[sub.index()];
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
            levels.events.push(events);
        }
        Ok(levels)
    }
}

impl Levels {
    /// The flat events of a component.
    pub fn of(&self, c: ComponentId) -> &[FlatEvent] {
        &self.events[c.index()]
    }

    /// Is one choice of a component's vectors lower than another?
    pub fn lower(&self, hierarchy: &Hierarchy, c: ComponentId, low: usize, high: usize) -> bool {
        let choices = &self.choices[c.index()];
        let (low, high) = (&choices[low], &choices[high]);
        low.below(high) || hierarchy.component(c).priorities.contains(&(low.events[0], high.events[0]))
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
