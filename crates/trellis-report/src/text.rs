//! Reports for a person at a terminal: one line per property, and below it what the verdict rests on.
//!
//! [`render`] gives everything about one property; [`trace`] only a run, [`certificate()`] only an inductive set. All give
//! text with a newline at the end of every line and print nothing themselves.
//!
//! In a run of a timed model, waiting has a line of its own, and a step shows the clocks that it sets; all clocks at
//! every step are for the verbose, since waiting changes every one of them.

use std::fmt::Write;

use trellis_domain::zone::Rational;
use trellis_model::network::{Certificate, Network, Snapshot, Trace};

use crate::certificate;
use crate::property::{Ending, Inconclusive, Outcome, PropertyReport};
use crate::tell::{Move, Renderer, later, states};
use crate::time;

/// How to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// With ANSI colours.
    pub color: bool,
    /// Pad queries to this many characters, so that what follows is aligned ([`Style::align`] computes it).
    pub width: usize,
    /// Also say how it was searched and what was counted, and show all clocks in every state of a run.
    pub verbose: bool,
    /// Leave nothing out of the runs and invariants of programs.
    pub full: bool,
}

/// Queries longer than this are not aligned to.
const MAX_ALIGN: usize = 60;
/// Lists are broken into lines of about this many characters.
const LINE: usize = 100;
/// The indentation of what belongs to a state.
pub(crate) const INDENT: usize = 9;

impl Style {
    /// Aligned to these queries.
    pub fn align<'a>(self, queries: impl IntoIterator<Item = &'a str>) -> Style {
        let lengths = queries.into_iter().map(|q| one_line(q).chars().count());
        Style { width: lengths.filter(|n| *n <= MAX_ALIGN).max().unwrap_or(0), ..self }
    }

    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.trim().is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// The verdict word, as wide as the widest.
    fn word(self, outcome: Outcome) -> String {
        let code = match outcome {
            Outcome::Safe | Outcome::Holds | Outcome::Bound => "1;32",
            Outcome::Unsafe | Outcome::Fails | Outcome::Error => "1;31",
            Outcome::Unknown => "1;33",
        };
        self.paint(code, &format!("{:<7}", outcome.word()))
    }
}

/// Everything about one property.
pub fn render(report: &PropertyReport, net: &Network, style: Style) -> String {
    let teller = Renderer::new(net);
    let mut out = line(report, style);
    notes(report, style, &mut out);
    if let Some(c) = report.certificate.as_ref().filter(|_| style.verbose && !net.clocks.is_empty()) {
        let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&certificate::summary(net, c)));
    }
    if let Some(t) = &report.trace {
        let ending = teller.ending(report.kind, report.outcome, t);
        run(&teller, t, Some(ending), &[], style, &mut out);
    }
    if let Some(i) = &report.inconclusive {
        inconclusive(&teller, i, style, &mut out);
    }
    out
}

/// What the answer rests on, and for the verbose how it was found.
pub(crate) fn notes<T, C>(report: &PropertyReport<T, C>, style: Style, out: &mut String) {
    out.push_str(&assumptions(report, style));
    let mut note = |text: &str| out.push_str(&format!("{:INDENT$}{}\n", "", style.dim(text)));
    if style.verbose {
        if !report.engine.is_empty() {
            note(&report.engine);
        }
        let counts: Vec<String> = report.statistics.iter().map(|(name, n)| format!("{name} {n}")).collect();
        if !counts.is_empty() {
            note(&counts.join(", "));
        }
    }
}

/// What the answer rests on that nobody has proved: a line each.
pub fn assumptions<T, C>(report: &PropertyReport<T, C>, style: Style) -> String {
    let note = |a: &String| format!("{:INDENT$}{}\n", "", style.dim(&format!("assuming {a}")));
    report.assumes.iter().map(note).collect()
}

/// The one line: verdict, query, and in brackets what it took.
pub fn line<T, C>(report: &PropertyReport<T, C>, style: Style) -> String {
    let query = one_line(&report.query);
    let answer = match (report.outcome, report.value()) {
        (Outcome::Bound, Some(n)) => format!(" = {n}"),
        (Outcome::Bound, None) => ": no state qualifies".into(),
        _ => String::new(),
    };
    let reason = report.reason.iter().map(|r| one_line(&r.text));
    let count = report.statistic("stored").map(|n| format!("{n} state{}, ", if n == 1 { "" } else { "s" }));
    let cost = format!("{}{:.2} s", count.unwrap_or_default(), report.seconds);
    let unchecked = report.unchecked.iter().map(|why| format!("found; {why}"));
    let notes: Vec<String> = reason.chain(unchecked).chain([cost]).chain(report.checked.clone()).collect();
    let padding = style.width.saturating_sub(query.chars().count() + answer.chars().count());
    format!(
        "{}  {query}{}{:padding$}    {}\n",
        style.word(report.outcome),
        style.bold(&answer),
        "",
        style.dim(&format!("({})", notes.join("; ")))
    )
}

/// A run, step by step. Without an ending (a path that somebody is still walking) nothing is said about how it ends.
pub fn trace(net: &Network, trace: &Trace, ending: Option<Ending>, style: Style) -> String {
    let mut out = String::new();
    run(&Renderer::new(net), trace, ending, &[], style, &mut out);
    out
}

/// A certificate: how large it is, then the entries of the first so many keys, with their zones.
pub fn certificate(net: &Network, c: &Certificate, most: usize) -> String {
    format!("{}\n{}", certificate::summary(net, c), certificate::show(&Renderer::new(net), c, most))
}

/// A state in full: locations, then variables, lattices and clocks.
pub fn state(net: &Network, state: &Snapshot) -> String {
    let teller = Renderer::new(net);
    let mut out = wrap(&teller.locations(state), 0);
    out.push_str(&wrap(&teller.values(state), 0));
    out
}

/// Joined states are marked.
fn run(teller: &Renderer<'_>, trace: &Trace, ending: Option<Ending>, joins: &[usize], style: Style, out: &mut String) {
    let number = |n: usize| {
        let mark = if joins.contains(&n) { '⊔' } else { ' ' };
        format!("{} {} ", style.dim(&format!("{n:>6}")), style.bold(&mark.to_string()))
    };
    out.push_str(&number(0));
    out.push_str(wrap(&teller.locations(&trace.initial), INDENT).trim());
    out.push('\n');
    out.push_str(&wrap(&teller.values(&trace.initial), INDENT));
    // Since the start; nothing once it cannot be said exactly.
    let mut now = Some(Rational::ZERO);
    for (i, (before, step)) in states(trace).enumerate() {
        now = now.and_then(|t| time::plus(t, step.delay));
        if step.delay != Rational::ZERO {
            let text = format!("wait {}{}", time::duration(step.delay), until(now));
            let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&text));
        }
        out.push_str(&number(i + 1));
        for (k, m) in teller.moves(before, &step.action).iter().enumerate() {
            let indent = if k == 0 { 0 } else { INDENT };
            let _ = writeln!(out, "{:indent$}{}", "", describe(m));
        }
        if step.action.0.is_empty() {
            out.push_str("(nothing moves)\n");
        }
        let mut changes = teller.changes(before, &step.state);
        if !style.verbose {
            changes.extend(teller.set_clocks(before, step));
        }
        let mut shown: Vec<String> = changes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if style.verbose {
            shown.extend(teller.clocks(&step.state.clocks));
        }
        out.push_str(&wrap(&shown, INDENT));
    }
    if trace.rest != Rational::ZERO {
        let now = now.and_then(|t| time::plus(t, trace.rest));
        let _ = writeln!(out, "{:INDENT$}then {}{}", "", time::passes(trace.rest), until(now));
        let clocks = later(&trace.last().clocks, trace.rest).unwrap_or_default();
        out.push_str(&wrap(&teller.clocks(&clocks), INDENT));
    }
    let last = trace.steps.len();
    let end = match ending {
        Some(Ending::Loop) => {
            format!("… back to state {}, and so on forever", trace.back_to.unwrap_or(last))
        }
        Some(Ending::Idle) => "the run may end here: time may pass forever".into(),
        Some(Ending::Deadlock) => "the run ends here: nothing more can happen".into(),
        Some(Ending::Error) => "the model fails here".into(),
        Some(Ending::Target) | None => return,
    };
    let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&end));
}

/// `, until time 4.5`.
fn until(now: Option<Rational>) -> String {
    now.map_or_else(String::new, |t| format!(", until time {}", time::duration(t)))
}

fn inconclusive(teller: &Renderer<'_>, i: &Inconclusive, style: Style, out: &mut String) {
    let _ = writeln!(
        out,
        "         {}",
        style.bold("an abstract path leads to the target; ⊔ marks states that are joins:")
    );
    run(teller, &i.path, None, &i.joins, style, out);
    let text = format!(
        "step {} cannot be taken without the join in state {} (the pivot): try not to join there",
        i.fails_at + 1,
        i.pivot
    );
    let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&text));
}

/// `User(1): Idle → LoggingIn  login[1]!  (u = 2)`.
pub(crate) fn describe(m: &Move<'_>) -> String {
    let mut text = format!("{}: {} → {}", m.process, m.from, m.to);
    if let Some((channel, send)) = &m.channel {
        let _ = write!(text, "  {channel}{}", if *send { '!' } else { '?' });
    }
    let select: Vec<String> = m.edge.select.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if !select.is_empty() {
        let _ = write!(text, "  ({})", select.join(", "));
    }
    text
}

/// The items with commas between them, in indented lines of bearable length.
pub(crate) fn wrap(items: &[String], indent: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (i, item) in items.iter().enumerate() {
        let length = item.chars().count();
        if i == 0 {
            let _ = write!(out, "{:indent$}", "");
        } else if column + length > LINE {
            let _ = write!(out, ",\n{:indent$}", "");
            column = 0;
        } else {
            out.push_str(", ");
            column += 2;
        }
        out.push_str(item);
        column += length;
    }
    if !items.is_empty() {
        out.push('\n');
    }
    out
}

/// The text without line breaks.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
