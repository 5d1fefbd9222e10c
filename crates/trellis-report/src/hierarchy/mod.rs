//! Hierarchies of AltaRica's nodes: their traces as runs and back, their proofs as documents, configurations as a graph.

mod evidence;
mod picture;

use std::fmt::Write;
use std::io;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trellis_domain::relation::Decisions;
use trellis_expr::VarId;
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::{ComponentId, Domain, Hierarchy, Levels};

use crate::evidence::body;
use crate::present::{Body, Drawing, Look, Present, ProofKind, Shown};
use crate::property::PropertyReport;
use crate::reader::{ReadError, plain};
use crate::run::{Part, Run, Step, Values};
use crate::words::unique;

/// A report about a hierarchy of nodes.
pub type HierarchyReport = PropertyReport<Trace, Certificate>;

/// A hierarchy with its flat events.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// The hierarchy.
    pub hierarchy: &'a Hierarchy,
    /// Its flat events.
    pub levels: &'a Levels,
}

impl Named<'_> {
    /// The names of the components, by number: paths; the top has the name of its node.
    fn components(&self) -> Vec<String> {
        let name = |c: &trellis_model::hierarchy::Component| if c.path.is_empty() { &c.node } else { &c.path }.clone();
        unique(self.hierarchy.components.iter().map(name))
    }

    fn as_run(&self, trace: &Trace, value: &dyn Fn(VarId, i64) -> Value, whole: bool) -> Run {
        let h = self.hierarchy;
        let components = self.components();
        let entry = |(n, now): (usize, &i64)| (h.variables[n].name.clone(), value(VarId(n as u32), *now));
        let first = trace.configurations.first().map_or(&[][..], Vec::as_slice);
        let step = |(at, &event): (usize, &usize)| {
            let (before, after) = (&trace.configurations[at], &trace.configurations[at + 1]);
            let changed = after.iter().enumerate().filter(|(n, now)| before[*n] != **now);
            let name = |c: ComponentId| components[c.index()].clone();
            let parts = self.levels.parts(h, h.top, event).into_iter();
            let acts = parts.filter(|(c, _)| !whole || *c != h.top).enumerate().map(|(i, (c, event))| Part {
                name: name(c),
                takes: h.component(c).events[event].as_str().into(),
                sends: i == 0 && !whole,
                ..Part::default()
            });
            // Which flat event of the top it is says which events of all.
            let top = whole.then(|| Part { name: name(h.top), takes: event.into(), ..Part::default() });
            Step {
                label: self.levels.show(h, h.top, event),
                set: changed.map(entry).collect(),
                parts: top.into_iter().chain(acts).collect(),
                ..Step::default()
            }
        };
        let start: Values = first.iter().enumerate().map(entry).collect();
        let steps = trace.events.iter().enumerate().map(step).collect();
        Run { parts: components.iter().rev().cloned().collect(), start, steps, ..Run::default() }
    }

    fn value(&self, v: VarId, value: &Value, at: &dyn Fn() -> String) -> Result<i64, ReadError> {
        let domain = &self.hierarchy.variable(v).domain;
        let n = match domain {
            Domain::Bool => value.as_bool().map(i64::from),
            Domain::Literals(_) => {
                value.as_str().and_then(|name| evidence::literals(self.hierarchy).get(name).copied())
            }
            _ => value.as_i64(),
        };
        match n.filter(|n| domain.contains(*n)) {
            Some(n) => Ok(n),
            None => Err(ReadError::found(at(), "a value of its variable", value)),
        }
    }

    fn set(&self, values: &Values, path: &str, here: &mut [Option<i64>]) -> Result<(), ReadError> {
        for (name, value) in values {
            let at = || format!("{path}.{}", plain(name));
            let Some(n) = self.hierarchy.variables.iter().position(|v| v.name == *name) else {
                return Err(ReadError::found(at(), "variables of the model", value));
            };
            here[n] = Some(self.value(VarId(n as u32), value, &at)?);
        }
        Ok(())
    }
}

impl Present for Named<'_> {
    type Trace = Trace;
    type Proof = Decisions;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        Ok(self.as_run(trace, &|v, n| evidence::value(self.hierarchy, v, n), true))
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        let mut here = vec![None; self.hierarchy.variables.len()];
        self.set(&run.start, "start", &mut here)?;
        if here.contains(&None) {
            return Err(ReadError::found("start".into(), "a value for each variable", &json!({})));
        }
        let values = |here: &[Option<i64>]| here.iter().map(|v| v.unwrap_or(0)).collect::<Vec<i64>>();
        let mut trace = Trace { configurations: vec![values(&here)], events: vec![] };
        let events = self.levels.of(self.hierarchy.top).len();
        for (i, step) in run.steps.iter().enumerate() {
            let takes = step.parts.first().map_or(&Value::Null, |p| &p.takes);
            match takes.as_u64().map(|n| n as usize).filter(|n| *n < events) {
                Some(event) => trace.events.push(event),
                None => {
                    let path = format!("steps[{i}].parts[0].takes");
                    return Err(ReadError::found(path, "the number of a flat event", takes));
                }
            }
            self.set(&step.set, &format!("steps[{i}].set"), &mut here)?;
            trace.configurations.push(values(&here));
        }
        Ok(trace)
    }

    fn shown(&self, trace: &Trace) -> Shown {
        let run = self.as_run(trace, &|v, n| self.hierarchy.show_value(v, n).into(), false);
        let last = "the bad configuration".into();
        Shown { run, look: Look { start: Some("initially".into()), indent: 2, last, ..Look::default() } }
    }

    /// A box for each component, in that of the one above it, with its variables.
    fn drawing(&self) -> Drawing {
        picture::drawing(self.hierarchy)
    }

    fn body<'a>(&'a self, proof: &'a Decisions) -> io::Result<Body<'a>> {
        let write = Box::new(move |out: &mut dyn io::Write| {
            Ok(serde_json::to_writer(out, &evidence::Set(self.hierarchy, proof))?)
        });
        Ok(Body { kind: ProofKind::Relation, assumes: vec![], write })
    }

    fn proof(&self, kind: &str, _: &[String], raw: &RawValue) -> Result<Decisions, ReadError> {
        evidence::read(self.hierarchy, body(ProofKind::Relation, kind, raw)?)
    }

    fn size(&self, proof: &Decisions) -> Value {
        json!({ "tests": proof.tests.len() })
    }
}

pub(crate) fn quoted(lines: &[String]) -> String {
    let plain: Vec<String> = lines.iter().map(|l| l.replace('\\', "\\\\").replace('"', "\\\"")).collect();
    format!("\"{}\"", plain.join("\\n"))
}

/// Configurations and transitions as a graph; initial configurations have a thick border.
pub fn graph(
    hierarchy: &Hierarchy,
    levels: &Levels,
    configurations: &[Vec<i64>],
    initial: &[usize],
    steps: &[(usize, usize, usize)],
) -> String {
    let mut out = String::from("digraph configurations {\n  node [shape=box];\n");
    for (number, values) in configurations.iter().enumerate() {
        let show = |(n, &value): (usize, &i64)| {
            let v = VarId(n as u32);
            format!("{} = {}", hierarchy.variable(v).name, hierarchy.show_value(v, value))
        };
        let lines: Vec<String> = values.iter().enumerate().map(show).collect();
        let border = if initial.contains(&number) { ", penwidth=3" } else { "" };
        let _ = writeln!(out, "  c{number} [label={}{border}];", quoted(&lines));
    }
    for &(from, event, to) in steps {
        let name = levels.show(hierarchy, hierarchy.top, event);
        let _ = writeln!(out, "  c{from} -> c{to} [label={}];", quoted(&[name]));
    }
    out.push_str("}\n");
    out
}
