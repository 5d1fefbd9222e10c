//! What the languages for place/transition nets share: arcs that become rules.
//!
//! A transition can be taken where every place has what its arcs ask for; then it takes away what ordinary arcs take, empties what
//! reset arcs empty, moves what transfer arcs move, and puts what ordinary arcs put, in this order. A place with a capacity must not
//! hold more than that afterwards.

use std::collections::{BTreeMap, BTreeSet};

use trellis_model::counter::{Interval, LARGEST, Rule, Update, Var};

/// The arcs of a transition, by place. Numbers, and what several arcs between the same two add up to, are at most 2^50.
#[derive(Default)]
pub struct Arcs {
    /// Taken away.
    pub takes: BTreeMap<Var, u64>,
    /// Put there.
    pub puts: BTreeMap<Var, u64>,
    /// At least so many must be there; they stay.
    pub reads: BTreeMap<Var, u64>,
    /// There must be fewer than so many; at least 1.
    pub inhibits: BTreeMap<Var, u64>,
    /// Exactly so many must be there; they stay.
    pub equals: BTreeMap<Var, u64>,
    /// Emptied.
    pub resets: BTreeSet<Var>,
    /// Everything goes from one place to another; each place is in one pair at most, and nothing goes out of one that is emptied.
    pub transfers: Vec<(Var, Var)>,
    /// Where it is in the file.
    pub line: u32,
    /// The transition's identifier.
    pub name: Option<String>,
    /// What people call it, if that is something else.
    pub title: Option<String>,
}

/// Adds to what arcs add up to, unless that becomes too large.
pub fn add(arcs: &mut BTreeMap<Var, u64>, place: Var, weight: u64) -> Result<(), String> {
    let sum = arcs.entry(place).or_default();
    *sum = sum.saturating_add(weight);
    if *sum > LARGEST { Err(format!("the weights of these arcs add up to more than {LARGEST}")) } else { Ok(()) }
}

impl Arcs {
    /// As a rule; nothing if it can never be taken. Places that are in no list have no capacity.
    pub fn rule(self, capacities: &BTreeMap<Var, u64>) -> Option<Rule> {
        let get = |all: &BTreeMap<Var, u64>, p: Var| all.get(&p).copied().unwrap_or(0);
        let mut places: BTreeSet<Var> = BTreeSet::new();
        for all in [&self.takes, &self.puts, &self.reads, &self.inhibits, &self.equals] {
            places.extend(all.keys());
        }
        places.extend(&self.resets);
        places.extend(self.transfers.iter().flat_map(|(from, to)| [from, to]));
        let mut rule = Rule { line: Some(self.line), name: self.name, title: self.title, ..Rule::default() };
        for p in places {
            let (takes, puts) = (get(&self.takes, p), get(&self.puts, p));
            let emptied = self.resets.contains(&p) || self.transfers.iter().any(|t| t.0 == p && t.0 != t.1);
            let mut guard = Interval::at_least(takes).and(Interval::at_least(get(&self.reads, p)));
            if let Some(k) = self.inhibits.get(&p) {
                guard = guard.and(Interval { low: 0, high: Some(k.checked_sub(1)?) });
            }
            if let Some(n) = self.equals.get(&p) {
                guard = guard.and(Interval::exactly(*n));
            }
            if let Some(most) = capacities.get(&p) {
                // What stays and what is put must fit; what only becomes less fits anyway.
                if emptied && puts > *most {
                    return None;
                }
                if !emptied && puts > takes {
                    guard = guard.and(Interval { low: 0, high: Some((most + takes).checked_sub(puts)?) });
                }
            }
            if guard.is_empty() {
                return None;
            }
            if guard != Interval::ANY {
                rule.guards.push((p, guard));
            }
            let mut update = match emptied {
                true => Update { sources: vec![], constant: puts as i64 },
                false => Update { sources: vec![p], constant: puts as i64 - takes as i64 },
            };
            for (from, _) in self.transfers.iter().filter(|(from, to)| *to == p && from != to) {
                update.sources.push(*from);
                update.constant -= get(&self.takes, *from) as i64;
            }
            update.sources.sort_unstable();
            if update.constant != 0 || update.sources != [p] {
                rule.updates.push((p, update));
            }
        }
        Some(rule)
    }
}
