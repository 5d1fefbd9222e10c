//! Reports for a person at a terminal: one line per property, and below it what the verdict rests on.
//!
//! [`render`] gives everything about one property, [`run`] only a run. All give text with a newline at the end of every line and print nothing
//! themselves. They know no formalism: what is said comes from a [`Shown`] run.
//!
//! In a run of a timed model, waiting has a line of its own, and a step shows the clocks that it sets; all clocks at
//! every step are for the verbose, since waiting changes every one of them. Of a long run the middle is left out, unless all of it is wanted
//! ([`Style::full`]).

use std::fmt::Write;
use std::ops::Range;

use serde_json::Value;
use trellis_domain::zone::Rational;

use crate::present::{Present, Shown};
use crate::property::{Outcome, PropertyReport};
use crate::reader::rational;
use crate::run::{Part, Run, Step, Values, shown};
use crate::time;
use crate::words::{INDENT, cut, one_line, short, wrap_at};

pub use crate::style::Style;

/// Of a longer run the beginning and the end are shown.
const MAX_STEPS: usize = 60;
/// So many steps of the beginning.
const FIRST: usize = 20;
/// Texts are aligned up to this width, and cut beyond the next.
const ALIGN: usize = 44;
const CUT: usize = 72;

/// Everything about one property, but for its proof.
pub fn render<P: Present + ?Sized, C>(report: &PropertyReport<P::Trace, C>, p: &P, style: Style) -> String {
    let mut out = line(report, style);
    notes(report, style, &mut out);
    if let Some(t) = &report.trace {
        let mut shown = p.shown(t);
        shown.run.ending = p.ending(report.kind, report.outcome, t).map(|e| e.name().into());
        out.push_str(&run(&shown, style));
    }
    if let Some(i) = &report.inconclusive {
        let said = "an abstract path leads to the target; ⊔ marks states that are joins:";
        let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(said));
        out.push_str(&marked(&p.shown(&i.path), &i.joins, style));
        let text = format!(
            "step {} cannot be taken without the join in state {} (the pivot): try not to join there",
            i.fails_at + 1,
            i.pivot
        );
        let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&text));
    }
    out
}

/// The verdict and what it rests on, and for the verbose how it was found: without the run.
pub fn head<T, C>(report: &PropertyReport<T, C>, style: Style) -> String {
    let mut out = line(report, style);
    notes(report, style, &mut out);
    out
}

fn notes<T, C>(report: &PropertyReport<T, C>, style: Style, out: &mut String) {
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
    let length = query.chars().count() + answer.chars().count();
    let padding = style.width.saturating_sub(length);
    let (word, answer, notes) = (style.word(report.outcome), style.bold(&answer), format!("({})", notes.join("; ")));
    // What does not fit beside the query stands below it.
    let below = style.columns > 0 && INDENT + length.max(style.width) + 4 + notes.chars().count() > style.columns;
    match below {
        true => format!("{word}  {query}{answer}\n{:INDENT$}{}\n", "", style.dim(&notes)),
        false => format!("{word}  {query}{answer}{:padding$}    {}\n", "", style.dim(&notes)),
    }
}

/// A trace, step by step. Nothing is said about how it ends: somebody may still be walking.
pub fn trace<P: Present + ?Sized>(p: &P, trace: &P::Trace, style: Style) -> String {
    run(&p.shown(trace), style)
}

/// A run, step by step. How it ends is said if the run says it.
pub fn run(shown: &Shown, style: Style) -> String {
    marked(shown, &[], style)
}

/// Some moments are marked.
fn marked(s: &Shown, joins: &[usize], style: Style) -> String {
    let s = &s.printable();
    let mut out = String::new();
    if s.look.table {
        table(s, style, &mut out)
    } else {
        list(s, joins, style, &mut out)
    }
    if let Some(end) = ending(s) {
        let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(&end));
    }
    out
}

/// What is said about how a run ends.
pub(crate) fn ending(s: &Shown) -> Option<String> {
    let back = s.run.back;
    Some(match s.run.ending.as_deref() {
        Some("loop") => format!("… back to state {}, and so on forever", back.unwrap_or(s.run.steps.len())),
        Some("idle") => "the run may end here: time may pass forever".into(),
        Some("deadlock") => "the run ends here: nothing more can happen".into(),
        Some("error") => "the model fails here".into(),
        // Said before what comes again and again, if anything does.
        _ => s.look.end.clone().filter(|_| back.is_none_or(|b| b >= s.run.steps.len()))?,
    })
}

/// The steps that are left out.
fn left_out(steps: usize, style: Style) -> Range<usize> {
    if style.full || steps <= MAX_STEPS { steps..steps } else { FIRST..steps - (MAX_STEPS - FIRST) }
}

fn gap(out_of: &Range<usize>, what: &str, style: Style, out: &mut String) {
    let text = format!("… {} {what} are left out; --full-trace shows them", out_of.len());
    let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&text));
}

/// What is said before the step with this number: that what follows comes again and again.
fn again(s: &Shown, step: usize, style: Style, out: &mut String) {
    if s.run.back == Some(step)
        && let Some(end) = &s.look.end
    {
        let _ = writeln!(out, "{:INDENT$}{}", "", style.bold(end));
    }
}

/// Columns: where, what, what changes.
fn table(s: &Shown, style: Style, out: &mut String) {
    let Shown { run, look } = s;
    if let Some(start) = &look.start {
        let _ = writeln!(out, "{} {start}", style.dim(&format!("{:>6}  ", 0)));
        out.push_str(&wrap_at(&start_values(s), INDENT, style.columns));
    }
    let hidden = left_out(run.steps.len(), style);
    let visible = || run.steps.iter().enumerate().filter(|(i, _)| !hidden.contains(i)).map(|(_, s)| s);
    let places = visible().map(|s| place(s).chars().count()).max().unwrap_or(0);
    let texts = visible().map(|s| s.label.chars().count()).max().unwrap_or(0).min(ALIGN);
    for (i, step) in run.steps.iter().enumerate() {
        again(s, i, style, out);
        if i == hidden.start && !hidden.is_empty() {
            let steps: usize = look.counts.get(hidden.clone()).map_or(hidden.len(), |c| c.iter().sum());
            gap(&hidden, &format!("lines ({steps} steps)"), style, out);
        }
        if hidden.contains(&i) {
            continue;
        }
        let number = if look.unnumbered { String::new() } else { (i + 1).to_string() };
        let text = short(&step.label, CUT);
        let line = format!(
            "{} {}  {text:<texts$}   {}",
            style.dim(&format!("{number:>6}  ")),
            style.dim(&format!("{:<places$}", place(step))),
            style.bold(&equations(step.set.iter()).join(", "))
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// `main.c:12`, or `L1 → L2`.
pub(crate) fn place(step: &Step) -> String {
    match (&step.place, step.parts.first()) {
        (Some(p), _) => format!("{}:{}", p.file, p.line),
        (None, Some(Part { from: Some(from), to: Some(to), .. })) => format!("{from} → {to}"),
        _ => String::new(),
    }
}

/// A paragraph for each step.
fn list(s: &Shown, joins: &[usize], style: Style, out: &mut String) {
    let Shown { run, look } = s;
    let indent = INDENT + look.indent;
    let number = |n: usize| {
        let mark = if joins.contains(&n) { '⊔' } else { ' ' };
        format!("{} {} ", style.dim(&format!("{n:>6}")), style.bold(&mark.to_string()))
    };
    out.push_str(&number(0));
    match &look.start {
        Some(start) => out.push_str(start),
        None => out.push_str(wrap_at(&locations(run, &run.start), INDENT, style.columns).trim()),
    }
    out.push('\n');
    out.push_str(&wrap_at(&start_values(s), indent, style.columns));
    // Since the start; nothing once it cannot be said exactly.
    let mut now = Some(Rational::ZERO);
    let mut clocks = Clocks::new(run);
    let hidden = left_out(run.steps.len(), style);
    for (i, step) in run.steps.iter().enumerate() {
        let delay = number_of(step.delay.as_deref());
        now = now.and_then(|t| time::plus(t, delay));
        let set = clocks.step(step, delay);
        again(s, i, style, out);
        if i == hidden.start && !hidden.is_empty() {
            gap(&hidden, "steps", style, out);
        }
        if hidden.contains(&i) {
            continue;
        }
        if delay != Rational::ZERO {
            let text = format!("wait {}{}", time::duration(delay), until(now));
            let _ = writeln!(out, "{:INDENT$}{}", "", style.dim(&text));
        }
        out.push_str(&number(i + 1));
        for (k, line) in lines(s, step).iter().enumerate() {
            let indent = if k == 0 { 0 } else { INDENT };
            let _ = writeln!(out, "{:indent$}{line}", "");
        }
        let mut changes = changes(s, step);
        match style.verbose {
            true => changes.extend(clocks.all()),
            false => changes.extend(set),
        }
        out.push_str(&wrap_at(&changes, indent, style.columns));
    }
    let rest = number_of(run.rest.as_deref());
    if rest != Rational::ZERO {
        let now = now.and_then(|t| time::plus(t, rest));
        let _ = writeln!(out, "{:INDENT$}then {}{}", "", time::passes(rest), until(now));
        clocks.wait(rest);
        out.push_str(&wrap_at(&clocks.all(), INDENT, style.columns));
    }
}

/// `, until time 4.5`.
fn until(now: Option<Rational>) -> String {
    now.map_or_else(String::new, |t| format!(", until time {}", time::duration(t)))
}

pub(crate) fn number_of(text: Option<&str>) -> Rational {
    text.and_then(rational).unwrap_or(Rational::ZERO)
}

/// The clocks of a run while it goes on.
pub(crate) struct Clocks(Vec<(String, Option<Rational>)>);

impl Clocks {
    pub fn new(run: &Run) -> Clocks {
        let value = |name: &String| run.start.get(name).and_then(Value::as_str).and_then(rational);
        Clocks(run.clocks.iter().map(|name| (name.clone(), value(name))).collect())
    }

    /// They grow.
    pub fn wait(&mut self, delay: Rational) {
        self.0.iter_mut().for_each(|(_, v)| *v = v.and_then(|v| time::plus(v, delay)));
    }

    /// They grow, and some are set: which of them are not what waiting has made of them.
    pub fn step(&mut self, step: &Step, delay: Rational) -> Vec<String> {
        let mut set = vec![];
        for (name, value) in &mut self.0 {
            let grown = value.and_then(|v| time::plus(v, delay));
            // What is not mentioned has the value that it had before time passed.
            let new = match step.set.get(name.as_str()) {
                Some(new) => new.as_str().and_then(rational),
                None => *value,
            };
            if new != grown {
                set.extend(new.map(|n| format!("{name} = {}", time::exact(n))));
            }
            *value = new;
        }
        set
    }

    /// `x = 2.5`, `y = 7/3`.
    pub fn all(&self) -> Vec<String> {
        self.0.iter().filter_map(|(name, v)| v.map(|v| format!("{name} = {}", time::exact(v)))).collect()
    }
}

/// What a step says: how its parts move, or its label.
pub(crate) fn lines(s: &Shown, step: &Step) -> Vec<String> {
    match s.look.start.is_none() && !step.parts.is_empty() {
        true => step.parts.iter().map(|p| describe(p, step.message.as_deref())).collect(),
        false => {
            let line = step.place.as_ref().filter(|p| p.file.is_empty() && !s.look.table);
            let place = line.map_or(String::new(), |p| format!("line {}:  ", p.line));
            format!("{place}{}", step.label).lines().map(String::from).collect()
        }
    }
}

/// `User(1): Idle → LoggingIn  login[1]!  (u = 2)`.
pub(crate) fn describe(part: &Part, message: Option<&str>) -> String {
    let end = |e: &Option<String>| e.clone().unwrap_or_default();
    let mut text = format!("{}: {} → {}", part.name, end(&part.from), end(&part.to));
    if let Some(message) = message {
        let _ = write!(text, "  {message}{}", if part.sends { '!' } else { '?' });
    }
    let chosen = part.choices.iter().filter_map(Value::as_object).flatten();
    let chosen: Vec<String> = chosen.map(|(name, value)| format!("{name} = {}", shown(value))).collect();
    if !chosen.is_empty() {
        let _ = write!(text, "  ({})", chosen.join(", "));
    }
    text
}

/// `DB.Idle`, `User(0).Idle`.
pub(crate) fn locations(run: &Run, values: &Values) -> Vec<String> {
    let one = |p: &String| values.get(p).map(|v| format!("{p}.{}", shown(v)));
    run.parts.iter().filter_map(one).collect()
}

/// What changes in a step, but for clocks, and for where parts are if the step says how they move.
pub(crate) fn changes(s: &Shown, step: &Step) -> Vec<String> {
    let run = &s.run;
    let said = |name: &String| s.look.start.is_none() && run.parts.contains(name);
    let mut out = vec![];
    for (name, value) in step.set.iter().filter(|(name, _)| !said(name) && !run.clocks.contains(name)) {
        let sign = if run.parts.contains(name) { ":" } else { " =" };
        out.push(format!("{name}{sign} {}", value_text(value)));
    }
    out
}

fn value_text(value: &Value) -> String {
    cut(&shown(value))
}

fn equations<'a>(values: impl Iterator<Item = (&'a String, &'a Value)>) -> Vec<String> {
    values.map(|(name, value)| format!("{name} = {}", value_text(value))).collect()
}

/// The values at the start, arrays as a whole: `x = 1`, `a = [0, 0]`.
pub(crate) fn start_values(s: &Shown) -> Vec<String> {
    let Shown { run, look } = s;
    let is_place = |name: &String| run.parts.contains(name);
    let quiet = |v: &Value| look.sparse && v == &Value::from(0);
    let all: Vec<(&String, &Value)> =
        run.start.iter().filter(|(name, v)| !(quiet(v) || look.start.is_none() && is_place(name))).collect();
    let mut out = vec![];
    let mut at = 0;
    while at < all.len() {
        let (name, value) = all[at];
        let base = name.split('[').next().unwrap_or(name);
        let same = |(n, _): &&(&String, &Value)| {
            name.ends_with(']') && n.starts_with(base) && n[base.len()..].starts_with('[')
        };
        let cells = all[at..].iter().take_while(same).count();
        if cells > 0 && indices(name).is_some() {
            let cells = &all[at..at + cells];
            out.push(format!("{base} = {}", cut(&array(cells))));
            at += cells.len();
            continue;
        }
        let value = match (value.as_str().and_then(rational), run.clocks.contains(name)) {
            (Some(r), true) => time::exact(r),
            _ => value_text(value),
        };
        let sign = if is_place(name) { ":" } else { " =" };
        out.push(format!("{name}{sign} {value}"));
        at += 1;
    }
    out
}

/// The indices of a cell of an array: `a[1][0]` has `1` and `0`.
fn indices(name: &str) -> Option<Vec<&str>> {
    let inner = name[name.find('[')?..].strip_prefix('[')?.strip_suffix(']')?;
    let parts: Vec<&str> = inner.split("][").collect();
    parts.iter().all(|p| p.parse::<i64>().is_ok()).then_some(parts)
}

/// `[[0, 1], [2, 3]]`: brackets close and open where an index changes.
fn array(cells: &[(&String, &Value)]) -> String {
    let mut out = String::new();
    let mut before: Vec<&str> = vec![];
    for (name, value) in cells {
        let now = indices(name).unwrap_or_default();
        let depth = now.len();
        if before.is_empty() {
            out.push_str(&"[".repeat(depth));
        } else {
            // How many of the inner dimensions begin anew.
            let same = now.iter().zip(&before).take_while(|(a, b)| a == b).count();
            let anew = depth.saturating_sub(same + 1);
            let _ = write!(out, "{}, {}", "]".repeat(anew), "[".repeat(anew));
        }
        out.push_str(&shown(value));
        before = now;
    }
    out.push_str(&"]".repeat(before.len()));
    out
}
