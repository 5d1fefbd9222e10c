//! What is told about counter systems, in the words of protocols: `at most one modified`, not `{modified: 2}`.
//!
//! Runs are shown like all others ([`Present`] for [`System`]); [`text`] shows invariants, [`xta`] writes instances as UPPAAL models.

mod chart;
mod evidence;
mod picture;
pub mod text;
pub mod xta;

use std::io;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trellis_model::counter::evidence::{Bound, Certificate, Trace};
use trellis_model::counter::interpret::{State, repeat};
use trellis_model::counter::{OMEGA, RuleId, System, Var, Vector};

use crate::evidence::{body, pretty};
use crate::present::{Body, Drawing, Look, Present, ProofKind, Shown};
use crate::property::PropertyReport;
use crate::reader::{ReadError, plain};
use crate::run::{Part, Place, Run, Step, Values};

/// A report about a counter system.
pub type CounterReport = PropertyReport<Trace, Certificate>;

impl Present for System {
    type Trace = Trace;
    type Proof = Certificate;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        Ok(self.as_run(trace, &|v| self.names[v as usize].clone()))
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        read(self, run)
    }

    fn shown(&self, trace: &Trace) -> Shown {
        let run = self.as_run(trace, &|v| self.shown(v).into_owned());
        let look = Look { start: Some("start".into()), sparse: true, last: "the target".into(), ..Look::default() };
        Shown { run, look }
    }

    fn lanes(&self, trace: &Trace) -> Option<Run> {
        chart::lanes(self, trace)
    }

    fn drawing(&self) -> Drawing {
        picture::drawing(self)
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        Ok(Body { kind: ProofKind::Basis, assumes: vec![], write: pretty(evidence::Basis(self, proof)) })
    }

    fn proof(&self, kind: &str, _: &[String], raw: &RawValue) -> Result<Certificate, ReadError> {
        evidence::read(self, body(ProofKind::Basis, kind, raw)?)
    }

    fn size(&self, c: &Certificate) -> Value {
        match c {
            Certificate::Above { bounds, basis } => json!({ "bounds": bounds.len(), "never": basis.len() }),
            Certificate::Below(tops) => json!({ "within": tops.len() }),
            Certificate::Exact { fixed, tops } => json!({ "exactly": fixed.len(), "within": tops.len() }),
        }
    }
}

/// Runs with names of one kind or another.
trait AsRun {
    fn as_run(&self, trace: &Trace, name: &dyn Fn(Var) -> String) -> Run;
}

impl AsRun for System {
    fn as_run(&self, trace: &Trace, name: &dyn Fn(Var) -> String) -> Run {
        let some = trace.initial.iter().enumerate().filter(|(_, n)| **n > 0);
        let start: Values = some.map(|(v, n)| (name(v as Var), Value::from(*n))).collect();
        let mut steps = vec![];
        let mut state: State = trace.initial.clone();
        for (rule, times) in trace.steps() {
            let next = repeat(self, rule, &state, times).ok().flatten().unwrap_or_else(|| state.clone());
            steps.push(one_step(self, (rule, times), &state, &next, name));
            state = next;
        }
        Run { start, steps, ..Run::default() }
    }
}

/// What is said of a step. All of it follows from the rule and the state before.
fn one_step(
    system: &System,
    (rule, times): (RuleId, u64),
    before: &State,
    after: &State,
    name: &dyn Fn(Var) -> String,
) -> Step {
    let r = &system.rules[rule as usize];
    let changed = r.updates.iter().map(|u| u.0).filter(|v| before[*v as usize] != after[*v as usize]);
    Step {
        label: if times == 1 { system.describe(rule) } else { format!("{} × {times}", system.describe(rule)) },
        set: changed.map(|v| (name(v), Value::from(after[v as usize]))).collect(),
        parts: vec![Part {
            takes: rule.into(),
            choices: if times == 1 { vec![] } else { vec![times.into()] },
            ..Part::default()
        }],
        place: r.line.map(|line| Place { line, ..Place::default() }),
        ..Step::default()
    }
}

/// A run; what is said of each step must be what the rule does there.
fn read(system: &System, run: &Run) -> Result<Trace, ReadError> {
    let mut initial = vec![0; system.names.len()];
    let names: rustc_hash::FxHashMap<&str, usize> =
        system.names.iter().enumerate().map(|(v, n)| (n.as_str(), v)).collect();
    for (name, value) in &run.start {
        let at = || format!("start.{}", plain(name));
        let Some(&v) = names.get(name.as_str()) else {
            return Err(ReadError::found(at(), "variables of the system", value));
        };
        initial[v] = match value.as_u64().filter(|n| i64::try_from(*n).is_ok()) {
            Some(n) => n,
            None => return Err(ReadError::found(at(), "a number that is not negative", value)),
        };
    }
    let (mut rules, mut times) = (vec![], vec![]);
    // Nothing behind a rule that cannot be taken.
    let mut state = Some(initial.clone());
    for (i, said) in run.steps.iter().enumerate() {
        let takes = said.parts.first().map_or(&Value::Null, |p| &p.takes);
        let rule = takes.as_u64().filter(|n| (*n as usize) < system.rules.len());
        let Some(rule) = rule.map(|n| n as RuleId) else {
            return Err(ReadError::found(format!("steps[{i}].parts[0].takes"), "the number of a rule", takes));
        };
        let choices = said.parts.first().map_or(&[][..], |p| &p.choices);
        let often = match choices {
            [] => Some(1),
            [n] => n.as_u64().filter(|n| *n > 1),
            _ => None,
        };
        let Some(often) = often else {
            let at = format!("steps[{i}].parts[0].choices");
            return Err(ReadError::found(at, "how many times the rule is taken", &json!(choices)));
        };
        rules.push(rule);
        times.push(often);
        let after = state.as_ref().and_then(|s| repeat(system, rule, s, often).ok().flatten());
        if let (Some(before), Some(after)) = (&state, &after) {
            let is = one_step(system, (rule, often), before, after, &|v| system.names[v as usize].clone());
            if is != *said {
                let expected = serde_json::to_string(&is).unwrap_or_default();
                return Err(ReadError::found(format!("steps[{i}]"), expected, &json!({})));
            }
        }
        state = after;
    }
    // As it is made: nothing is said if each is taken once.
    if times.iter().all(|n| *n == 1) {
        times.clear();
    }
    Ok(Trace { initial, rules, times })
}

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
