//! What the languages for place/transition nets share: arcs that become rules, and names that targets can mention.

use rustc_hash::FxHashMap;
use trellis_model::counter::{Interval, Rule, Update, Var};

/// What a transition takes from places, and puts there. Numbers are at most 2^50, and few arcs join the same two.
#[derive(Default)]
pub struct Arcs {
    pub takes: FxHashMap<Var, u64>,
    pub puts: FxHashMap<Var, u64>,
    pub line: u32,
}

impl Arcs {
    pub fn rule(self) -> Rule {
        let mut guards: Vec<(Var, Interval)> = self.takes.iter().map(|(p, n)| (*p, Interval::at_least(*n))).collect();
        guards.retain(|g| g.1.low > 0);
        guards.sort_unstable_by_key(|g| g.0);
        let mut changes: FxHashMap<Var, i64> = FxHashMap::default();
        self.takes.iter().for_each(|(p, n)| *changes.entry(*p).or_default() -= *n as i64);
        self.puts.iter().for_each(|(p, n)| *changes.entry(*p).or_default() += *n as i64);
        let mut updates: Vec<(Var, Update)> =
            changes.into_iter().map(|(p, constant)| (p, Update { sources: vec![p], constant })).collect();
        updates.retain(|u| u.1.constant != 0);
        updates.sort_unstable_by_key(|u| u.0);
        Rule { guards, updates, line: Some(self.line) }
    }
}

/// Names in use.
#[derive(Default)]
pub struct Names(FxHashMap<String, ()>);

impl Names {
    /// The id as a name that targets can mention, and nobody else has.
    pub fn unique(&mut self, id: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        let mut name: String = id.chars().map(plain).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
        }
        while self.0.insert(name.clone(), ()).is_some() {
            name.push('_');
        }
        name
    }
}
