//! Reports about hierarchies of nodes for a person at a terminal or with a browser; runs as graphs.

use std::fmt::Write;

use trellis_expr::VarId;
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::{Hierarchy, Levels};

use crate::html::{Run, StepData, escape, page, script};
use crate::property::PropertyReport;
use crate::text::{INDENT, Style, line, notes, wrap};

/// A report about a hierarchy of nodes.
pub type HierarchyReport = PropertyReport<Trace, Certificate>;

/// Everything about one property.
pub fn render(report: &HierarchyReport, hierarchy: &Hierarchy, levels: &Levels, style: Style) -> String {
    let mut out = line(report, style);
    notes(report, style, &mut out);
    if let Some(t) = &report.trace {
        out.push_str(&trace(hierarchy, levels, t));
    }
    out
}

/// A run: the first configuration, then each event and what changes by it.
pub fn trace(hierarchy: &Hierarchy, levels: &Levels, trace: &Trace) -> String {
    let mut out = String::new();
    let show = |n: usize, value: i64| {
        let v = VarId(n as u32);
        format!("{} = {}", hierarchy.variable(v).name, hierarchy.show_value(v, value))
    };
    for (step, values) in trace.configurations.iter().enumerate() {
        let changed: Vec<String> = match step.checked_sub(1) {
            None => values.iter().enumerate().map(|(n, &value)| show(n, value)).collect(),
            Some(before) => {
                let before = &trace.configurations[before];
                let differs = values.iter().zip(before).enumerate().filter(|(_, (now, old))| now != old);
                differs.map(|(n, (&now, _))| show(n, now)).collect()
            }
        };
        let event = match step.checked_sub(1).and_then(|at| trace.events.get(at)) {
            Some(&event) => levels.show(hierarchy, hierarchy.top, event),
            None => "initially".into(),
        };
        let _ = writeln!(out, "{step:>6}   {event}");
        out.push_str(&wrap(&changed, INDENT + 2));
    }
    out
}

/// A page about some properties.
pub fn html(reports: &[HierarchyReport], hierarchy: &Hierarchy, levels: &Levels) -> String {
    let all: Vec<&HierarchyReport> = reports.iter().collect();
    page(&all, |i, out| {
        let Some(t) = &reports[i].trace else { return };
        let value = |n: usize, value: i64| hierarchy.show_value(VarId(n as u32), value);
        let first = t.configurations.first().map_or(&[][..], Vec::as_slice);
        let step = |(at, &event): (usize, &usize)| {
            let (before, after) = (&t.configurations[at], &t.configurations[at + 1]);
            let changed = after.iter().enumerate().filter(|(n, now)| before[*n] != **now);
            StepData {
                moves: vec![levels.show(hierarchy, hierarchy.top, event)],
                set: changed.map(|(n, &now)| (n, value(n, now))).collect(),
            }
        };
        let data = Run {
            names: hierarchy.variables.iter().map(|v| v.name.as_str()).collect(),
            initial: first.iter().enumerate().map(|(n, &v)| value(n, v)).collect(),
            steps: t.events.iter().enumerate().map(step).collect(),
            back: None,
            end: "the bad configuration".into(),
            joins: &[],
            at: Vec::new(),
        };
        script(&data, "", out);
        let plain = escape(&trace(hierarchy, levels, t));
        let _ = writeln!(out, "<details><summary>As text</summary><pre>{plain}</pre></details>");
    })
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

/// A run as a graph: a box for each configuration with what is new in it, an arrow for each event.
pub fn dot(hierarchy: &Hierarchy, levels: &Levels, trace: &Trace) -> String {
    let mut out = String::from("digraph run {\n  node [shape=box];\n");
    for (step, values) in trace.configurations.iter().enumerate() {
        let before = step.checked_sub(1).map(|n| &trace.configurations[n]);
        let new = (0..values.len()).filter(|&n| before.is_none_or(|b| b[n] != values[n]));
        let show = |n: usize| {
            let v = VarId(n as u32);
            format!("{} = {}", hierarchy.variable(v).name, hierarchy.show_value(v, values[n]))
        };
        let _ = writeln!(out, "  c{step} [label={}];", quoted(&new.map(show).collect::<Vec<_>>()));
        if let Some(&event) = step.checked_sub(1).and_then(|at| trace.events.get(at)) {
            let name = levels.show(hierarchy, hierarchy.top, event);
            let _ = writeln!(out, "  c{} -> c{step} [label={}];", step - 1, quoted(&[name]));
        }
    }
    out.push_str("}\n");
    out
}
