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
            run(p, std::slice::from_ref(trace), None, "the error", out);
        }
        if let Some(c) = &r.certificate {
            let shown = escape(&text::invariant(p, c, Style::default()));
            let summary = escape(&text::summary(c));
            let _ = writeln!(out, "<details><summary>{summary}</summary><pre>{shown}</pre></details>");
        }
    })
}

/// A run, in parts that follow each other; one of the states (by the entries before it) may be where it goes on after the end.
pub(crate) fn run(p: &Program<'_>, parts: &[Trace], back: Option<usize>, end: &str, out: &mut String) {
    let value =
        |v: VarId, env: &Valuation| env.get(&v).map_or_else(String::new, |value| cut(&p.cfa.terms.show_value(value)));
    let Some(first) = parts.first() else { return };
    let initial = p.shown().map(|(v, _)| value(v, &first.start)).collect();
    let mut now = &first.start;
    let mut steps = Vec::new();
    for trace in parts {
        for e in entries(p, trace) {
            let next = &trace.steps[e.steps - 1].after;
            let changed = p.shown().enumerate().filter(|(_, (v, _))| now.get(v) != next.get(v));
            let set = changed.map(|(i, (v, _))| (i, value(v, next))).collect();
            steps.push(StepData { moves: vec![format!("{}  {}", e.place, e.text)], set });
            now = next;
        }
    }
    let names = p.shown().map(|(_, name)| name).collect();
    let data = Run { names, initial, steps, back, end: end.into(), joins: &[], at: Vec::new() };
    script(&data, "", out);
    if parts.iter().map(|t| t.steps.len()).sum::<usize>() <= MAX_TEXT {
        let style = Style { full: true, ..Style::default() };
        let mut plain = String::new();
        let mut before = None;
        for trace in parts {
            plain.push_str(&text::part(p, trace, before, style));
            before = Some(before.unwrap_or(0) + entries(p, trace).len());
        }
        let _ = writeln!(out, "<details><summary>As text</summary><pre>{}</pre></details>", escape(&plain));
    }
}
