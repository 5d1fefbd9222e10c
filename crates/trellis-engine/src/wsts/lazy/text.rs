//! Regions and predicates over vectors, in the system's names.

use trellis_model::counter::{RuleId, System, Vector};

/// `x >= 2, y >= 1`.
pub fn at_least(system: &System, v: &Vector) -> String {
    let all: Vec<String> = v.iter().map(|(x, n)| format!("{} >= {n}", system.shown(x))).collect();
    if all.is_empty() { "true".into() } else { all.join(", ") }
}

/// What is at least none of these: `z < 2, not (x >= 1, y >= 2)`.
pub fn excluding(system: &System, all: &[&Vector]) -> String {
    let one = |v: &&Vector| match v.entries() {
        [] => "false".into(),
        [(x, 1)] => format!("{} = 0", system.shown(*x)),
        [(x, n)] => format!("{} < {n}", system.shown(*x)),
        _ => format!("not ({})", at_least(system, v)),
    };
    // What a smaller one says already need not be said.
    let least = all.iter().filter(|v| !all.iter().any(|w| w != *v && w.leq(v)));
    let parts: Vec<String> = least.map(one).collect();
    if parts.is_empty() { "true".into() } else { parts.join(", ") }
}

/// One of these.
pub fn any<'v>(system: &System, all: impl Iterator<Item = &'v Vector>) -> String {
    or(all.map(|v| at_least(system, v)))
}

/// `a; or b`.
pub fn or(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    if all.is_empty() { "false".into() } else { all.join("; or ") }
}

/// The start: `x = 0, y >= 1`.
pub fn start(system: &System) -> String {
    let mut parts = vec![];
    for (v, i) in system.initial.iter().enumerate() {
        let name = system.shown(v as u32);
        match (i.low, i.high) {
            (low, Some(high)) if low == high => parts.push(format!("{name} = {low}")),
            (low, Some(high)) => parts.push(format!("{low} <= {name} <= {high}")),
            (0, None) => {}
            (low, None) => parts.push(format!("{name} >= {low}")),
        }
    }
    if parts.is_empty() { "true".into() } else { parts.join(", ") }
}

/// A command: `c2` is the second rule.
pub fn command(system: &System, rules: &[RuleId]) -> String {
    match rules {
        [r] => match system.rules[*r as usize].name.as_ref().or(system.rules[*r as usize].title.as_ref()) {
            Some(name) => name.clone(),
            None => format!("c{}", r + 1),
        },
        _ => "any rule".into(),
    }
}
