//! Reports about counter systems for a person at a terminal.

use std::fmt::Write;

use trellis_model::counter::evidence::{Certificate, Trace};
use trellis_model::counter::interpret::step;
use trellis_model::counter::{System, Var};

use super::{CounterReport, lines};
use crate::text::{INDENT, Style, line, notes, wrap};

/// Of a longer run the beginning and the end are shown.
const MAX_STEPS: usize = 60;
const FIRST: usize = 20;
/// So many parts of an invariant are shown.
const MAX_PARTS: usize = 6;

/// Everything about the question.
pub fn render(report: &CounterReport, system: &System, style: Style) -> String {
    let mut out = line(report, style);
    notes(report, style, &mut out);
    if let Some(c) = &report.certificate {
        out.push_str(&invariant(system, c, style));
    }
    if let Some(t) = &report.trace {
        out.push_str(&trace(system, t, style));
    }
    out
}

/// An invariant, part by part; all of them only if that is wanted ([`Style::full`]).
pub fn invariant(system: &System, c: &Certificate, style: Style) -> String {
    let mut out = String::new();
    let most = if style.full { usize::MAX } else { MAX_PARTS };
    let mut all = lines(system, c);
    for text in all.by_ref().take(most) {
        let _ = writeln!(out, "{:INDENT$}{text}", "");
    }
    let more = all.count();
    if more > 0 {
        let text = format!("… and {more} more; --show-invariant shows them");
        let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&text));
    }
    out
}

/// A run: how many there are of each at the start, then which rule is taken and what changes.
pub fn trace(system: &System, trace: &Trace, style: Style) -> String {
    let name = |v: usize| system.shown(v as Var);
    let some = |state: &[u64]| -> Vec<String> {
        state.iter().enumerate().filter(|(_, n)| **n > 0).map(|(v, n)| format!("{} = {n}", name(v))).collect()
    };
    let mut out = String::new();
    let _ = writeln!(out, "{} start", style.dim(&format!("{:>6}  ", 0)));
    out.push_str(&wrap(&some(&trace.initial), INDENT));
    let all = trace.rules.len();
    let (first, last) = if style.full || all <= MAX_STEPS { (all, all) } else { (FIRST, all - (MAX_STEPS - FIRST)) };
    let mut state = trace.initial.clone();
    for (i, &rule) in trace.rules.iter().enumerate() {
        // Runs are shown after they have been replayed.
        let Ok(Some(next)) = step(system, rule, &state) else { break };
        if i == first && last > first {
            let text = format!("… {} steps are left out; --full-trace shows them", last - first);
            let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&text));
        }
        if !(first..last).contains(&i) {
            let r = &system.rules[rule as usize];
            let place = r.line.map_or(String::new(), |l| format!("line {l}:  "));
            let number = style.dim(&format!("{:>6}  ", i + 1));
            let _ = writeln!(out, "{number} {}{}", style.dim(&place), system.describe(rule));
            let changed = |v: &(Var, _)| state[v.0 as usize] != next[v.0 as usize];
            let changes: Vec<String> = r
                .updates
                .iter()
                .map(|u| (u.0, ()))
                .filter(changed)
                .map(|(v, ())| format!("{} = {}", name(v as usize), next[v as usize]))
                .collect();
            out.push_str(&wrap(&changes, INDENT));
        }
        state = next;
    }
    out
}
