//! What is told about counter systems, in the words of protocols: `at most one modified`, not `{modified: 2}`.
//!
//! [`text`] is for a person at a terminal, [`chart`] draws runs, [`draw`] makes pages and graphs, [`xta`] writes instances as UPPAAL
//! models; what machines read is in [`crate::json`] (`trellis-counter-trace/2`,
//! `trellis-counter-certificate/2`).

pub mod chart;
pub mod draw;
pub mod text;
pub mod xta;

use trellis_model::counter::evidence::{Bound, Certificate, Trace};
use trellis_model::counter::{OMEGA, System, Var, Vector};

use crate::property::PropertyReport;

/// A report about a counter system.
pub type CounterReport = PropertyReport<Trace, Certificate>;

/// So many names are listed before the rest is counted.
const NAMES: usize = 8;

/// That nothing at least this can be reached: `at most one modified`, `never modified and shared together`.
pub fn never(system: &System, v: &Vector) -> String {
    let name = |x: Var| system.shown(x);
    match v.entries() {
        [] => "never anything".into(),
        [(x, 1)] => format!("never anything in {}", name(*x)),
        [(x, 2)] => format!("at most one {}", name(*x)),
        [(x, n)] => format!("at most {} {}", n - 1, name(*x)),
        several if several.iter().all(|e| e.1 == 1) => {
            format!("never {} together", listed(several.iter().map(|e| name(e.0).into_owned())))
        }
        several => {
            let part = |(x, n): &(Var, u64)| match n {
                1 => format!("one in {}", name(*x)),
                n => format!("{n} in {}", name(*x)),
            };
            format!("never {} together", listed(several.iter().map(part)))
        }
    }
}

/// The question: that no target is covered.
pub fn question(system: &System) -> String {
    let shown: Vec<String> = system.target.iter().take(3).map(|t| never(system, t)).collect();
    match system.target.len() {
        n if n > 3 => format!("{}; and {} more", shown.join("; "), n - 3),
        _ => shown.join("; "),
    }
}

/// The same in full and in one way: `never dirty >= 2; never dirty >= 1, valid >= 1`.
pub fn property(system: &System) -> String {
    let name = |x: Var| {
        let name = &system.names[x as usize];
        let plain = name.chars().all(|c| c.is_alphanumeric() || "_.".contains(c)) && !name.is_empty();
        if plain { name.clone() } else { format!("{name:?}") }
    };
    let one = |v: &Vector| {
        let parts: Vec<String> = v.iter().map(|(x, n)| format!("{} >= {n}", name(x))).collect();
        if parts.is_empty() { "never anything".to_string() } else { format!("never {}", parts.join(", ")) }
    };
    system.target.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// `a`, `a and b`, `a, b and c`; of many some.
fn listed(all: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = all.collect();
    if all.len() > NAMES {
        let more = all.len() - (NAMES - 1);
        all.truncate(NAMES - 1);
        all.push(format!("{more} more"));
    }
    match all.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "nothing".into(),
    }
}

/// What a bound says: `at most 1 in Idle, ServeS and GrantS`, or a weighted sum.
pub(crate) fn bound(system: &System, bound: &Bound) -> String {
    let name = |x: Var| system.shown(x);
    let mut most: i128 = 0;
    for (x, k) in &bound.weights {
        let start = system.initial[*x as usize];
        let n = if *k < 0 { start.low } else { start.high.unwrap_or(0) };
        most = most.saturating_add(i128::from(*k).saturating_mul(n.into()));
    }
    most -= bound.traps.iter().map(|t| i128::from(t.0)).sum::<i128>();
    let weights = bound.combined();
    let common = weights.first().map_or(1, |w| w.1);
    if common > 0 && weights.iter().all(|w| w.1 == common) {
        let names = listed(weights.iter().map(|w| name(w.0).into_owned()));
        return match most.div_euclid(common) {
            0 => format!("never anything in {names}"),
            n => format!("at most {n} in {names}"),
        };
    }
    let part = |(x, k): &(Var, i128)| if *k == 1 { name(*x).into_owned() } else { format!("{k} {}", name(*x)) };
    let mut parts: Vec<String> = weights.iter().take(NAMES).map(part).collect();
    if weights.len() > NAMES {
        parts.push(format!("… ({} more)", weights.len() - NAMES));
    }
    format!("{} is at most {most}", parts.join(" + "))
}

/// What may be there: `at most 1 in x, any number in y, nothing else`; of what is fixed, `exactly`.
fn most(system: &System, v: &Vector, fixed: &[Var]) -> String {
    let bound = |x: Var| if fixed.contains(&x) { "exactly" } else { "at most" };
    let name = |x: Var| system.shown(x).into_owned();
    let unlimited: Vec<String> = v.iter().filter(|e| e.1 == OMEGA).map(|e| name(e.0)).collect();
    let mut parts: Vec<String> =
        v.iter().filter(|e| e.1 != OMEGA).map(|(x, n)| format!("{} {n} in {}", bound(x), name(x))).collect();
    if parts.len() > NAMES {
        let more = parts.len() - NAMES;
        parts.truncate(NAMES);
        parts.push(format!("so much in {more} more"));
    }
    if !unlimited.is_empty() {
        parts.push(format!("any number in {}", listed(unlimited.into_iter())));
    }
    parts.push("nothing else".into());
    parts.join(", ")
}

/// The lines of an invariant.
fn lines<'a>(system: &'a System, c: &'a Certificate) -> Box<dyn Iterator<Item = String> + 'a> {
    match c {
        Certificate::Above { bounds, basis } => {
            Box::new(bounds.iter().map(|b| bound(system, b)).chain(basis.iter().map(|v| never(system, v))))
        }
        Certificate::Below(tops) => alternatives(system, tops, &[]),
        Certificate::Exact { fixed, tops } => alternatives(system, tops, fixed),
    }
}

fn alternatives<'a>(system: &'a System, tops: &'a [Vector], fixed: &'a [Var]) -> Box<dyn Iterator<Item = String> + 'a> {
    let line = move |(i, t)| format!("{}{}", if i == 0 { "" } else { "or " }, most(system, t, fixed));
    Box::new(tops.iter().enumerate().map(line))
}

/// How large an invariant is: `an invariant of 3 parts`.
pub fn summary(c: &Certificate) -> String {
    let n = match c {
        Certificate::Above { bounds, basis } => bounds.len() + basis.len(),
        Certificate::Below(tops) | Certificate::Exact { tops, .. } => tops.len(),
    };
    format!("an invariant of {n} part{}", if n == 1 { "" } else { "s" })
}
