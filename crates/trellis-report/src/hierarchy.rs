//! Reports about hierarchies of nodes for a person at a terminal.

use std::fmt::Write;

use trellis_expr::VarId;
use trellis_model::hierarchy::evidence::{Certificate, Trace};
use trellis_model::hierarchy::{Hierarchy, Levels};

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
