//! Reports about formulas of linear temporal logic: lassos, runs that never repeat, proofs.

use std::fmt::Write;

use trellis_model::cfa::interpret::{Step as PlainStep, Trace};
use trellis_model::ltl::evidence::{Lasso, Proof, Recurrence, Run};

use crate::dot;
use crate::html::{escape, page};
use crate::program::{Program, dot_entries, dot_start, entry_count, html_run, text};
use crate::property::PropertyReport;
use crate::tell::cut;
use crate::text::{INDENT, Style, line, notes};

/// A run that violates a formula.
#[derive(Debug, Clone)]
pub enum Counterexample {
    /// It repeats.
    Lasso(Lasso),
    /// It need not.
    Recurrence(Box<Recurrence>),
}

/// A report about a formula.
pub type LtlReport = PropertyReport<Counterexample, Proof>;

/// Everything about one formula.
pub fn render(report: &LtlReport, p: &Program<'_>, style: Style) -> String {
    let mut out = head(report, style);
    if let Some(trace) = &report.trace {
        let Told { stem, cycle, end } = told(trace);
        if !p.has_source() || !stem.steps.is_empty() {
            out.push_str(&text::trace(p, &stem, style));
        }
        let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&end));
        if let Some(cycle) = &cycle {
            out.push_str(&text::part(p, cycle, Some(entry_count(p, &stem)), style));
        }
    }
    out
}

/// The verdict and what is said about it, without the run.
pub fn head(report: &LtlReport, style: Style) -> String {
    let mut out = line(report, style);
    notes(report, style, &mut out);
    out
}

/// A run, taken apart.
pub struct Told {
    /// How it begins.
    pub stem: Trace,
    /// What it does again and again, if it does the same, and does anything.
    pub cycle: Option<Trace>,
    /// What is said after the beginning.
    pub end: String,
}

/// Takes a run apart.
pub fn told(trace: &Counterexample) -> Told {
    match trace {
        Counterexample::Lasso(lasso) => {
            let cycle = part(&lasso.run, lasso.back..lasso.run.steps.len());
            let cycle = (!cycle.steps.is_empty()).then_some(cycle);
            let end = if cycle.is_some() { "again and again:" } else { "from here on nothing changes" };
            Told { stem: part(&lasso.run, 0..lasso.back), cycle, end: end.into() }
        }
        Counterexample::Recurrence(r) => {
            let set = cut(&r.terms.show(r.set).to_string());
            let end = format!("from here on forever, while {set}");
            Told { stem: part(&r.stem, 0..r.stem.steps.len()), cycle: None, end }
        }
    }
}

/// Some steps of a run.
fn part(run: &Run, range: std::ops::Range<usize>) -> Trace {
    let start = match range.start {
        0 => run.start.clone(),
        n => run.steps[n - 1].after.clone(),
    };
    let plain = |s: &trellis_model::ltl::evidence::Step| {
        Some(PlainStep { edge: s.edge?, choices: s.choices.clone(), after: s.after.clone() })
    };
    Trace { start, steps: run.steps[range].iter().filter_map(plain).collect() }
}

/// A run as a graph in the dot language: what comes again and again is a cycle.
pub fn dot(p: &Program<'_>, trace: &Counterexample, name: &str) -> String {
    let Told { stem, cycle, end } = told(trace);
    let mut out = dot::head(name);
    dot_start(p, &mut out);
    let first = dot_entries(p, &stem, 0, false, &mut out);
    let last = cycle.as_ref().map_or(first, |c| dot_entries(p, c, first, false, &mut out));
    // Without anything to see on the cycle, it stays where it is.
    let (back, label) = if last > first { (first + 1, "again and again".into()) } else { (last, end) };
    let _ = writeln!(out, "  s{last} -> s{back} [penwidth=3, color=red, label={}];", dot::quote(&[label]));
    out.push_str("}\n");
    out
}

/// A page about some formulas, each with its automaton.
pub fn html(reports: &[(&LtlReport, Program<'_>)]) -> String {
    let all: Vec<&LtlReport> = reports.iter().map(|(r, _)| *r).collect();
    page(&all, |i, out| {
        let (r, p) = &reports[i];
        if let Some(trace) = &r.trace {
            let Told { stem, cycle, end } = told(trace);
            let back = cycle.as_ref().map(|_| entry_count(p, &stem));
            let end = if cycle.is_some() { "and so on, again and again".into() } else { end };
            html_run(p, &[Some(stem), cycle].into_iter().flatten().collect::<Vec<_>>(), back, &end, out);
        }
        if let Some(proof) = &r.certificate {
            let _ = writeln!(out, "<p>{}</p>", escape(&summary(proof)));
        }
    })
}

/// `an abstraction of 12 nodes with 2 rankings`.
pub fn summary(proof: &Proof) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let rankings = match proof.rankings.len() {
        0 => String::new(),
        n => format!(" and {}", count(n, "ranking")),
    };
    format!("an abstraction of {}{rankings}", count(proof.nodes.len(), "node"))
}
