//! Reports about programs for a person at a terminal.

use std::fmt::Write;

use trellis_model::cfa::evidence::{Certificate, Trace};

use super::run::{Entry, entries};
use super::{Program, ProgramReport};
use crate::tell::cut;
use crate::text::{INDENT, Style, line, notes, wrap};

/// Of a longer run the beginning and the end are shown.
const MAX_LINES: usize = 60;
/// So many lines of the beginning.
const FIRST: usize = 20;
/// Texts are aligned up to this width, and cut beyond the next.
const ALIGN: usize = 44;
const CUT: usize = 72;
/// So many elements of an invariant are shown for one location.
const MAX_ELEMENTS: usize = 20;

/// Everything about one property.
pub fn render(report: &ProgramReport, p: &Program<'_>, style: Style) -> String {
    let mut out = line(report, style);
    notes(report, style, &mut out);
    if let Some(t) = &report.trace {
        out.push_str(&trace(p, t, style));
    }
    out
}

/// A run. A long one is cut in the middle, unless all of it is wanted ([`Style::full`]).
pub fn trace(p: &Program<'_>, trace: &Trace, style: Style) -> String {
    part(p, trace, None, style)
}

/// A run, or what comes after so many entries of one: then it does not begin with the initial location.
pub(crate) fn part(p: &Program<'_>, trace: &Trace, before: Option<usize>, style: Style) -> String {
    let entries = entries(p, trace);
    let mut out = String::new();
    if !p.has_source() && before.is_none() {
        let _ = writeln!(out, "{} {}", style.dim(&format!("{:>6}  ", 0)), p.location(p.cfa.initial));
        let known = p.shown().filter_map(|(v, name)| trace.start.get(&v).map(|value| (name, value)));
        let values: Vec<String> =
            known.map(|(name, value)| format!("{name} = {}", cut(&p.cfa.terms.show_value(value)))).collect();
        out.push_str(&wrap(&values, INDENT));
    }
    let (first, last) = match entries.len() {
        n if style.full || n <= MAX_LINES => (n, n),
        n => (FIRST, n - (MAX_LINES - FIRST)),
    };
    let shown = || entries[..first].iter().chain(&entries[last..]);
    let width = |text: fn(&Entry) -> &str| shown().map(|e| text(e).chars().count()).max().unwrap_or(0);
    let (places, texts) = (width(|e| &e.place), width(|e| &e.text).min(ALIGN));
    for (i, e) in entries.iter().enumerate() {
        if i == first && last > first {
            let steps = entries[last - 1].steps - entries[first - 1].steps;
            let text = format!("… {} lines ({steps} steps) are left out; --full-trace shows them", last - first);
            let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&text));
        }
        if (first..last).contains(&i) {
            continue;
        }
        let number = if p.has_source() { String::new() } else { (before.unwrap_or(0) + i + 1).to_string() };
        let text = short(&e.text);
        let changes: Vec<String> = e.changes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let line = format!(
            "{} {}  {text:<texts$}   {}",
            style.dim(&format!("{number:>6}  ")),
            style.dim(&format!("{:<places$}", e.place)),
            style.bold(&changes.join(", "))
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn short(text: &str) -> String {
    match text.char_indices().nth(CUT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// `an invariant for 3 locations`.
pub fn summary(c: &Certificate) -> String {
    let n = c.invariant.len();
    let how = if c.k == 1 { String::new() } else { format!(", by induction over {} steps", c.k) };
    format!("an invariant for {n} location{}{how}", if n == 1 { "" } else { "s" })
}

/// An invariant: for each location the elements, any of which may hold there.
pub fn invariant(p: &Program<'_>, c: &Certificate, style: Style) -> String {
    let mut out = String::new();
    for (l, elements) in &c.invariant {
        let name = match (&p.cfa.location(*l).name, p.location(*l)) {
            (name, place) if *name == place => place,
            (name, place) => format!("{place} ({name})"),
        };
        let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&name));
        let most = if style.full { usize::MAX } else { MAX_ELEMENTS };
        for (i, &e) in elements.iter().take(most).enumerate() {
            let text = c.terms.show(e).to_string();
            let text = if style.full { text } else { cut(&text) };
            let _ = writeln!(out, "{:INDENT$}  {}{text}", "", if i == 0 { "   " } else { "or " });
        }
        if elements.len() > most {
            let more = format!("… or one of {} more (--full-trace shows them)", elements.len() - most);
            let _ = writeln!(out, "{:INDENT$}     {}", "", style.dim(&more));
        }
    }
    out
}
