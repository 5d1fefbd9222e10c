//! Reports about formulas of linear temporal logic: lassos, runs that never repeat, proofs.

use std::fmt::Write;

use trellis_model::cfa::interpret::{Step as PlainStep, Trace};
use trellis_model::ltl::evidence::{Lasso, Proof, Recurrence, Run};
use trellis_model::ltl::product::Subject;

use crate::program::{Program, text};
use crate::property::PropertyReport;
use crate::tell::cut;
use crate::text::{INDENT, Style, line, notes};

/// A run that violates a formula.
#[derive(Debug, Clone)]
pub enum Counterexample {
    /// It repeats.
    Lasso(Lasso),
    /// It need not.
    Recurrence(Recurrence),
}

/// A report about a formula.
pub type LtlReport = PropertyReport<Counterexample, Proof>;

/// Everything about one formula.
pub fn render(report: &LtlReport, p: &Program<'_>, subject: &Subject, quiet: bool, style: Style) -> String {
    let mut out = line(report, style);
    if quiet {
        return out;
    }
    notes(report, style, &mut out);
    match &report.trace {
        None => {}
        Some(Counterexample::Lasso(lasso)) => {
            let (stem, cycle) = lasso.run.steps.split_at(lasso.back);
            part(p, &lasso.run, 0..stem.len(), style, &mut out);
            let stutters = cycle.iter().all(|s| s.edge.is_none());
            let said = if stutters { "from here on nothing changes" } else { "again and again:" };
            let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(said));
            if !stutters {
                part(p, &lasso.run, stem.len()..lasso.run.steps.len(), style, &mut out);
            }
        }
        Some(Counterexample::Recurrence(r)) => {
            part(p, &r.stem, 0..r.stem.steps.len(), style, &mut out);
            let set = cut(&r.terms.show(r.set).to_string());
            let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&format!("from here on forever, while {set}")));
        }
    }
    let _ = subject;
    out
}

/// Some steps of a run.
fn part(p: &Program<'_>, run: &Run, range: std::ops::Range<usize>, style: Style, out: &mut String) {
    let start = match range.start {
        0 => run.start.clone(),
        n => run.steps[n - 1].after.clone(),
    };
    let plain = |s: &trellis_model::ltl::evidence::Step| {
        Some(PlainStep { edge: s.edge?, picks: s.picks.clone(), after: s.after.clone() })
    };
    let steps: Vec<PlainStep> = run.steps[range].iter().filter_map(plain).collect();
    if !steps.is_empty() {
        out.push_str(&text::trace(p, &Trace { start, steps }, style));
    }
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
