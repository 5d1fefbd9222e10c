//! Reports about programs as one self-contained page.

use std::fmt::Write;

use trellis_expr::VarId;
use trellis_expr::eval::Valuation;
use trellis_model::cfa::evidence::Trace;

use super::run::entries;
use super::{Program, ProgramReport, text};
use crate::html::{MAX_TEXT, Run, StepData, escape, page, script};
use crate::tell::cut;
use crate::text::Style;

/// A page about some properties, each with its automaton.
pub fn render(reports: &[(ProgramReport, Program<'_>)]) -> String {
    let all: Vec<&ProgramReport> = reports.iter().map(|(r, _)| r).collect();
    page(&all, |i, out| {
        let (r, p) = &reports[i];
        if let Some(trace) = &r.trace {
            run(p, trace, out);
        }
        if let Some(c) = &r.certificate {
            let shown = escape(&text::invariant(p, c, Style::default()));
            let summary = escape(&text::summary(c));
            let _ = writeln!(out, "<details><summary>{summary}</summary><pre>{shown}</pre></details>");
        }
    })
}

fn run(p: &Program<'_>, trace: &Trace, out: &mut String) {
    let value =
        |v: VarId, env: &Valuation| env.get(&v).map_or_else(String::new, |value| cut(&p.cfa.terms.show_value(value)));
    let initial = p.shown().map(|(v, _)| value(v, &trace.start)).collect();
    let mut now = &trace.start;
    let mut steps = Vec::new();
    for e in entries(p, trace) {
        let next = &trace.steps[e.steps - 1].after;
        let changed = p.shown().enumerate().filter(|(_, (v, _))| now.get(v) != next.get(v));
        let set = changed.map(|(i, (v, _))| (i, value(v, next))).collect();
        steps.push(StepData { moves: vec![format!("{}  {}", e.place, e.text)], set });
        now = next;
    }
    let names = p.shown().map(|(_, name)| name).collect();
    let data = Run { names, initial, steps, back: None, end: "the error".into(), joins: &[], at: Vec::new() };
    script(&data, "", out);
    if trace.steps.len() <= MAX_TEXT {
        let plain = text::trace(p, trace, Style { full: true, ..Style::default() });
        let _ = writeln!(out, "<details><summary>As text</summary><pre>{}</pre></details>", escape(&plain));
    }
}
