//! Reports about counter systems as a web page, and their runs as graphs.

use std::fmt::Write;

use trellis_model::counter::evidence::Trace;
use trellis_model::counter::interpret::step;
use trellis_model::counter::{System, Var};

use super::{CounterReport, chart, summary, text};
use crate::dot::{head, quote};
use crate::html::{escape, page};
use crate::text::Style;

/// A page about the question: the run as a chart and in words, or the invariant.
pub fn html(report: &CounterReport, system: &System) -> String {
    page(&[report], |_, out| {
        if let Some(trace) = &report.trace {
            if let Some(chart) = chart::chart(system, trace) {
                let _ = writeln!(out, "<div style=\"overflow-x: auto\">{}</div>", chart::svg(system, &chart));
            }
            let shown = escape(&text::trace(system, trace, Style::default()));
            let _ = writeln!(out, "<pre>{shown}</pre>");
        }
        if let Some(c) = &report.certificate {
            let shown = escape(&text::invariant(system, c, Style { full: true, ..Style::default() }));
            let _ =
                writeln!(out, "<details open><summary>{}</summary><pre>{shown}</pre></details>", escape(&summary(c)));
        }
    })
}

/// A run as a graph: states are nodes, rules are arrows.
pub fn dot(system: &System, trace: &Trace, name: &str) -> String {
    let mut out = head(name);
    let mut state = trace.initial.clone();
    let node = |out: &mut String, i: usize, state: &[u64]| {
        let some = state.iter().enumerate().filter(|(_, n)| **n > 0);
        let lines: Vec<String> = some.map(|(v, n)| format!("{} = {n}", system.shown(v as Var))).collect();
        let bold = if i == trace.rules.len() { ", penwidth=3, color=red" } else { "" };
        let _ = writeln!(out, "  s{i} [shape=box, style=rounded, label={}{bold}];", quote(&lines));
    };
    node(&mut out, 0, &state);
    for (i, &rule) in trace.rules.iter().enumerate() {
        // Runs are shown after they have been replayed.
        let Ok(Some(next)) = step(system, rule, &state) else { break };
        state = next;
        node(&mut out, i + 1, &state);
        let _ = writeln!(out, "  s{i} -> s{} [label={}];", i + 1, quote(&[system.describe(rule)]));
    }
    out.push_str("}\n");
    out
}
