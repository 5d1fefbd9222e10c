//! A run, told: one entry for each line of the source that it passes, or for each edge of the automaton.

use std::fmt::Write;

use trellis_expr::eval::Valuation;
use trellis_expr::{Stmt, StmtId, Terms, Value, VarId};
use trellis_model::cfa::evidence::Trace;
use trellis_model::cfa::interpret::{self, Oracle, Script, Step};
use trellis_model::cfa::{Cfa, EdgeId, Place};

use super::{Program, is_hidden};
use crate::dot::{head, quote};
use crate::tell::cut;

/// So many entries of an array are shown one by one.
const MAX_ENTRIES: usize = 4;

/// One line of a run.
pub(super) struct Entry {
    /// `main.c:12`, or `L1 → L2`.
    pub place: String,
    /// What stands there.
    pub text: String,
    /// What was picked and what has changed: names and values.
    pub changes: Vec<(String, String)>,
    /// How many steps of the run have been made when it is over.
    pub steps: usize,
}

/// A part of a run that may go on.
struct Open {
    place: Place,
    edges: Vec<EdgeId>,
    entry: Entry,
    /// Does it do anything?
    matters: bool,
}

impl Open {
    fn close(self) -> Option<Entry> {
        self.matters.then_some(self.entry)
    }
}

/// The entries of a run. It must be one: have it replayed first.
pub(super) fn entries(p: &Program<'_>, trace: &Trace) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    let mut open: Option<Open> = None;
    let mut before = &trace.start;
    for (n, step) in trace.steps.iter().enumerate() {
        let edge = p.cfa.edge(step.edge);
        let place = edge.place.filter(|_| p.has_source());
        let source = place.and_then(|at| p.line(at));
        let changes = changes(p, before, step, source);
        before = &step.after;
        let (Some(place), Some(text)) = (place, source) else {
            all.extend(open.take().and_then(Open::close));
            let to = format!("{} → {}", p.location(edge.from), p.location(edge.to));
            all.push(Entry { place: to, text: p.statement(step.edge), changes, steps: n + 1 });
            continue;
        };
        // Several edges of one line are one entry, unless it is passed again or something changes twice.
        let again = |o: &Open| {
            (o.place.file, o.place.line) != (place.file, place.line)
                || o.edges.contains(&step.edge)
                || changes.iter().any(|(name, _)| o.entry.changes.iter().any(|(n, _)| n == name))
        };
        let error = p.cfa.is_error(edge.to);
        let matters = error || *p.cfa.terms.stmt(edge.stmt) != Stmt::Skip;
        match &mut open {
            Some(o) if !again(o) => {
                o.edges.push(step.edge);
                o.entry.changes.extend(changes);
                o.entry.steps = n + 1;
                o.matters |= matters;
            }
            _ => {
                let entry = Entry { place: p.place(place), text: text.to_string(), changes, steps: n + 1 };
                let next = Open { place, edges: vec![step.edge], entry, matters };
                all.extend(open.replace(next).and_then(Open::close));
            }
        }
    }
    all.extend(open.and_then(Open::close));
    all
}

/// How many entries a run has.
pub(crate) fn entry_count(p: &Program<'_>, trace: &Trace) -> usize {
    entries(p, trace).len()
}

/// Says again what was decided, and to whom it was said.
struct Listener<'a> {
    script: Script<'a>,
    heard: Vec<(VarId, Value)>,
}

impl Oracle for Listener<'_> {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        let value = self.script.havoc(terms, v)?;
        self.heard.push((v, value.clone()));
        Some(value)
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        self.script.choose(branches)
    }
}

/// The variables that a step choices values for, in order.
pub(crate) fn picked(cfa: &Cfa, before: &Valuation, step: &Step) -> Vec<(VarId, Value)> {
    if step.choices.is_empty() {
        return Vec::new();
    }
    let mut listener = Listener { script: Script::new(&step.choices), heard: Vec::new() };
    interpret::run(&cfa.terms, cfa.edge(step.edge).stmt, &mut before.clone(), &mut listener);
    listener.heard
}

/// The variables that a statement assigns whichever way it is run.
fn assigned(terms: &Terms, s: StmtId, out: &mut Vec<VarId>) {
    match *terms.stmt(s) {
        Stmt::Assign(v, _) => out.push(v),
        Stmt::Seq(ref parts) => parts.iter().for_each(|&p| assigned(terms, p, out)),
        _ => {}
    }
}

/// What a step choices for variables that nobody sees, and what it does to the others.
fn changes(p: &Program<'_>, before: &Valuation, step: &Step, source: Option<&str>) -> Vec<(String, String)> {
    let terms = &p.cfa.terms;
    let heard = picked(p.cfa, before, step);
    let mut out = Vec::new();
    for (v, value) in heard.iter().filter(|(v, _)| is_hidden(&terms.variable(*v).name)) {
        // A temporary that is picked and not used afterwards says nothing.
        if step.after.get(v) == Some(value) {
            out.push((caller(source), cut(&terms.show_value(value))));
        }
    }
    let mut written: Vec<VarId> = heard.iter().map(|(v, _)| *v).collect();
    assigned(terms, p.cfa.edge(step.edge).stmt, &mut written);
    for (v, name) in p.shown() {
        let (Some(old), Some(new)) = (before.get(&v), step.after.get(&v)) else { continue };
        let set = written.contains(&v);
        match (old, new) {
            (Value::Array(a), Value::Array(b)) if a != b => {
                let mut indexes: Vec<_> = a.entries().chain(b.entries()).map(|(i, _)| i.clone()).collect();
                indexes.sort();
                indexes.dedup();
                let at = |array: &'_ trellis_expr::value::ArrayValue, i| array.get(&Value::Int(i)).clone();
                indexes.retain(|i| at(a, i.clone()) != at(b, i.clone()));
                if a.default() == b.default() && indexes.len() <= MAX_ENTRIES {
                    out.extend(indexes.into_iter().map(|i| {
                        let value = at(b, i.clone());
                        (format!("{name}[{i}]"), cut(&terms.show_value(&value)))
                    }));
                } else {
                    out.push((name.to_string(), cut(&terms.show_value(new))));
                }
            }
            (Value::Array(_), _) => {}
            _ if old != new || set => out.push((name.to_string(), cut(&terms.show_value(new)))),
            _ => {}
        }
    }
    out
}

/// Who gave a value that has no name: the one call of that kind in the line, if there is just one.
pub(crate) fn caller(source: Option<&str>) -> String {
    const PREFIX: &str = "__VERIFIER_nondet_";
    let mut calls = source.into_iter().flat_map(|s| s.match_indices(PREFIX).map(move |(at, _)| &s[at..]));
    match (calls.next(), calls.next()) {
        (Some(call), None) => {
            let end = call.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(call.len());
            format!("{}()", &call[..end])
        }
        _ => "any value".into(),
    }
}

/// A run as a graph in the dot language: entries are nodes.
pub fn dot(p: &Program<'_>, trace: &Trace, name: &str) -> String {
    let mut out = head(name);
    dot_start(p, &mut out);
    dot_entries(p, trace, 0, true, &mut out);
    out.push_str("}\n");
    out
}

/// The node for the initial location.
pub(crate) fn dot_start(p: &Program<'_>, out: &mut String) {
    let _ = writeln!(out, "  s0 [shape=box, style=rounded, label={}];", quote(&[p.location(p.cfa.initial)]));
}

/// The entries of a part of a run as nodes, each with an edge from the one before it. Answers the number of the last one.
pub(crate) fn dot_entries(p: &Program<'_>, trace: &Trace, before: usize, ends: bool, out: &mut String) -> usize {
    let entries = entries(p, trace);
    for (i, e) in entries.iter().enumerate() {
        let mut lines = vec![e.place.clone(), cut(&e.text)];
        lines.extend(e.changes.iter().map(|(name, value)| format!("{name} = {value}")));
        let looks = if ends && i + 1 == entries.len() { ", penwidth=3, color=red" } else { "" };
        let at = before + i;
        let _ = writeln!(out, "  s{} [shape=box, style=rounded, label={}{looks}];", at + 1, quote(&lines));
        let _ = writeln!(out, "  s{at} -> s{};", at + 1);
    }
    before + entries.len()
}
