//! Walks for a person at a terminal: states, offers, and runs of any formalism, line by line.

use std::fmt::Write;

use serde_json::Value;
use trellis_domain::zone::Rational;

use crate::run::{Part, Run, Step, Values};
use crate::style::Style;
use crate::time;
use crate::words::{INDENT, cut, wrap_at};

/// Of an offer, so many changes are shown.
const MAX_CHANGES: usize = 6;

/// A value as people read it: strings without quotes.
pub fn value(of: &Value) -> String {
    match of {
        Value::String(text) => cut(text),
        // Whoever has more to say to machines says it to people, too.
        Value::Object(all) if all.get("shown").is_some_and(Value::is_string) => value(&all["shown"]),
        Value::Array(all) => cut(&format!("[{}]", all.iter().map(value).collect::<Vec<_>>().join(", "))),
        other => cut(other),
    }
}

fn pairs<'v>(values: impl IntoIterator<Item = (&'v String, &'v Value)>) -> Vec<String> {
    values.into_iter().map(|(name, v)| format!("{name} = {}", value(v))).collect()
}

/// Names and values, in lines of bearable length; what goes without saying is left out.
pub fn state(values: &Values, is_idle: &dyn Fn(&str, &Value) -> bool, style: Style) -> String {
    let shown = pairs(values.iter().filter(|(name, v)| !is_idle(name, v)));
    if shown.is_empty() { "nothing\n".into() } else { wrap_at(&shown, 0, style.columns) }
}

/// What is offered, in a line: `login[1]  User(1): Idle → Reading   (open = true)`.
pub fn offer(step: &Step) -> String {
    let label = format!("{}{}", place(step).unwrap_or_default(), cut(&step.label));
    let mut changes = pairs(step.set.iter().filter(|(name, v)| !is_told(step, name, v)));
    if changes.is_empty() {
        return label;
    }
    if changes.len() > MAX_CHANGES {
        changes.truncate(MAX_CHANGES);
        changes.push("…".into());
    }
    format!("{label}    ({})", changes.join(", "))
}

/// Does the label say it already? Those who move say from where to where, and an input says its value.
fn is_told(step: &Step, name: &str, new: &Value) -> bool {
    let here = |p: &Part| p.name == name || p.name.is_empty();
    let moved = step.parts.iter().any(|p| here(p) && p.to.as_deref().is_some_and(|to| new == to));
    moved || step.label == format!("{name} = {}", value(new))
}

/// A run, step by step. A value that is what waiting has made of it is not shown: that of every clock changes all the time.
pub fn run(run: &Run, is_idle: &dyn Fn(&str, &Value) -> bool, style: Style) -> String {
    let mut out = String::new();
    let number = |n: usize| style.dim(&format!("{n:>6}  "));
    let _ = writeln!(out, "{} start", number(0));
    let first = pairs(run.start.iter().filter(|(name, v)| !is_idle(name, v)));
    out.push_str(&wrap_at(&first, INDENT, style.columns));
    let mut now = run.start.clone();
    let mut time = Some(Rational::ZERO);
    for (i, step) in run.steps.iter().enumerate() {
        let delay = step.delay.as_deref().and_then(exact).unwrap_or(Rational::ZERO);
        time = time.and_then(|t| time::plus(t, delay));
        if delay != Rational::ZERO {
            let text = format!("wait {}{}", time::duration(delay), until(time));
            let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&text));
        }
        let place = place(step).map_or(String::new(), |p| style.dim(&p));
        let _ = writeln!(out, "{} {place}{}", number(i + 1), cut(&step.label));
        let waited = |name: &String, new: &Value| {
            let old = now.get(name).and_then(Value::as_str).and_then(exact);
            let new = new.as_str().and_then(exact);
            old.zip(new).is_some_and(|(old, new)| time::plus(old, delay) == Some(new))
        };
        let set = step.set.iter().filter(|(name, v)| !is_told(step, name, v) && !waited(name, v));
        out.push_str(&wrap_at(&pairs(set), INDENT, style.columns));
        now.extend(step.set.iter().map(|(name, v)| (name.clone(), v.clone())));
    }
    if let Some(rest) = run.rest.as_deref().and_then(exact) {
        let time = time.and_then(|t| time::plus(t, rest));
        let _ = writeln!(out, "{:INDENT$}then {}{}", "", time::passes(rest), until(time));
    }
    if let Some(back) = run.back {
        let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&format!("… back to state {back}, and so on forever")));
    }
    out
}

/// Where a step stands in the source. Where the parts that move have names, these say it better.
fn place(step: &Step) -> Option<String> {
    let place = step.place.as_ref().filter(|_| step.parts.iter().all(|p| p.name.is_empty()))?;
    Some(if place.file.is_empty() {
        format!("line {}:  ", place.line)
    } else {
        format!("{}:{}  ", place.file, place.line)
    })
}

/// `, until time 4.5`.
fn until(now: Option<Rational>) -> String {
    now.map_or_else(String::new, |t| format!(", until time {}", time::duration(t)))
}

/// An exact number as runs have it: `3`, `5/2`.
fn exact(text: &str) -> Option<Rational> {
    let (n, d) = text.split_once('/').unwrap_or((text, "1"));
    let (n, d) = (n.parse().ok()?, d.parse().ok()?);
    (d > 0 && n > i64::MIN).then(|| Rational::new(n, d))
}
