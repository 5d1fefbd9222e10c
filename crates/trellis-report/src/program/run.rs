//! A run as people see it: one step for each line of the source that it passes, or for each edge of the automaton.

use trellis_expr::eval::Valuation;
use trellis_expr::{Stmt, StmtId, Terms, Value, VarId};
use trellis_model::cfa::evidence::Trace;
use trellis_model::cfa::interpret::{self, Choice, Oracle, Script, Step};
use trellis_model::cfa::{Cfa, EdgeId, Place};

use super::{Program, is_hidden};
use crate::present::{Look, Shown};
use crate::run::{self, Part, Run, Values};
use crate::words::cut;

/// So many entries of an array are shown one by one.
const MAX_ENTRIES: usize = 4;

/// Some edges of one line of the source, which may be more.
struct Open {
    place: Place,
    edges: Vec<EdgeId>,
    step: run::Step,
    /// Does it do anything?
    matters: bool,
}

impl Open {
    /// The step, and how many edges it stands for.
    fn close(self) -> Option<(run::Step, usize)> {
        self.matters.then_some((self.step, self.edges.len()))
    }
}

/// The steps of a run. It must be one: have it replayed first.
fn steps(p: &Program<'_>, trace: &Trace) -> Vec<(run::Step, usize)> {
    let mut all: Vec<(run::Step, usize)> = Vec::new();
    let mut open: Option<Open> = None;
    let mut before = &trace.start;
    for step in &trace.steps {
        let edge = p.cfa.edge(step.edge);
        let place = edge.place.filter(|_| p.has_source());
        let source = place.and_then(|at| p.line(at));
        let set = changes(p, before, step, source);
        before = &step.after;
        let (Some(place), Some(text)) = (place, source) else {
            all.extend(open.take().and_then(Open::close));
            let part = Part {
                from: Some(p.location(edge.from)),
                to: Some(p.location(edge.to)),
                takes: step.edge.0.into(),
                ..Part::default()
            };
            let shown = run::Step { label: p.statement(step.edge), set, parts: vec![part], ..run::Step::default() };
            all.push((shown, 1));
            continue;
        };
        // Several edges of one line are one step, unless it is passed again or something changes twice.
        let again = |o: &Open| {
            (o.place.file, o.place.line) != (place.file, place.line)
                || o.edges.contains(&step.edge)
                || set.keys().any(|name| o.step.set.contains_key(name))
        };
        let error = p.cfa.is_error(edge.to);
        let matters = error || *p.cfa.terms.stmt(edge.stmt) != Stmt::Skip;
        match &mut open {
            Some(o) if !again(o) => {
                o.edges.push(step.edge);
                o.step.set.extend(set);
                o.matters |= matters;
            }
            _ => {
                let at = run::Place { file: p.file(place), line: place.line, column: None, text: text.to_string() };
                let step_shown = run::Step { label: text.to_string(), set, place: Some(at), ..run::Step::default() };
                let next = Open { place, edges: vec![step.edge], step: step_shown, matters };
                all.extend(open.replace(next).and_then(Open::close));
            }
        }
    }
    all.extend(open.and_then(Open::close));
    all
}

/// A run as people see it. In one of two parts the second comes again and again; what is said of that, or at the end, comes with it.
pub(crate) fn shown(p: &Program<'_>, stem: &Trace, cycle: Option<&Trace>, end: Option<String>) -> Shown {
    let value = |v: &VarId| stem.start.get(v).map(|value| cut(&p.cfa.terms.show_value(value)));
    let start: Values = p.shown().filter_map(|(v, name)| Some((name.to_string(), value(&v)?.into()))).collect();
    let mut all = steps(p, stem);
    let first = all.len();
    all.extend(cycle.into_iter().flat_map(|c| steps(p, c)));
    let (steps, counts): (Vec<run::Step>, Vec<usize>) = all.into_iter().unzip();
    // A run that goes on has a cycle, if only one on which there is nothing to see.
    let back = end.is_some().then_some(first).filter(|_| cycle.is_some() || first == steps.len());
    let look = Look {
        start: (!p.has_source()).then(|| p.location(p.cfa.initial)),
        table: true,
        counts,
        unnumbered: p.has_source(),
        last: "the error".into(),
        end,
        ..Look::default()
    };
    Shown { run: Run { start, steps, back, ..Run::default() }, look }
}

/// A run of something that goes from event to event, each a location of that name, as people see it: a step for each event. An edge that
/// `reads` nothing only leads on from an event; the first one makes the state at the start.
pub(crate) fn by_events(p: &Program<'_>, reads: &[bool], stem: &Trace, cycle: Option<&Trace>, end: String) -> Shown {
    let (mut all, mut start, mut first, mut waiting) = (vec![], &stem.start, 0, 0);
    for part in [Some(stem), cycle].into_iter().flatten() {
        first = all.len();
        let mut before = &part.start;
        for step in &part.steps {
            waiting += 1;
            let edge = p.cfa.edge(step.edge);
            if edge.from == p.cfa.initial {
                start = &step.after;
            } else if reads.get(step.edge.index()).is_some_and(|reads| *reads) {
                let new = |v: VarId, name: &str| {
                    let value = |at: &Valuation| at.get(&v).map(|value| cut(&p.cfa.terms.show_value(value)));
                    let new = value(&step.after).filter(|new| Some(new) != value(before).as_ref())?;
                    Some((name.to_string(), new.into()))
                };
                let set = p.shown().filter_map(|(v, name)| new(v, name)).collect();
                let label = p.cfa.location(edge.to).name.clone();
                all.push((run::Step { label, set, ..run::Step::default() }, std::mem::take(&mut waiting)));
            }
            before = &step.after;
        }
    }
    let value = |v: &VarId| start.get(v).map(|value| cut(&p.cfa.terms.show_value(value)));
    let start: Values = p.shown().filter_map(|(v, name)| Some((name.to_string(), value(&v)?.into()))).collect();
    let (steps, counts): (Vec<run::Step>, Vec<usize>) = all.into_iter().unzip();
    let look = Look { start: Some("start".into()), counts, end: Some(end), ..Look::default() };
    Shown { run: Run { start, steps, back: cycle.map(|_| first), ..Run::default() }, look }
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
pub(crate) fn picked(cfa: &Cfa, before: &Valuation, edge: EdgeId, choices: &[Choice]) -> Vec<(VarId, Value)> {
    if choices.is_empty() {
        return Vec::new();
    }
    let mut listener = Listener { script: Script::new(choices), heard: Vec::new() };
    interpret::run(&cfa.terms, cfa.edge(edge).stmt, &mut before.clone(), &mut listener);
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
fn changes(p: &Program<'_>, before: &Valuation, step: &Step, source: Option<&str>) -> Values {
    let terms = &p.cfa.terms;
    let heard = picked(p.cfa, before, step.edge, &step.choices);
    let mut out = Values::new();
    for (v, value) in heard.iter().filter(|(v, _)| is_hidden(&terms.variable(*v).name)) {
        // A temporary that is picked and not used afterwards says nothing.
        if step.after.get(v) == Some(value) {
            out.insert(caller(source), cut(&terms.show_value(value)).into());
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
                        (format!("{name}[{i}]"), cut(&terms.show_value(&value)).into())
                    }));
                } else {
                    _ = out.insert(name.to_string(), cut(&terms.show_value(new)).into());
                }
            }
            (Value::Array(_), _) => {}
            _ if old != new || set => _ = out.insert(name.to_string(), cut(&terms.show_value(new)).into()),
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
