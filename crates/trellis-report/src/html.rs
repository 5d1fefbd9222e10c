//! Reports as one self-contained page: no other files, no network, a few lines of script for stepping through runs.
//!
//! The page is meant to be looked at and passed on, not to be read by programs: that is what JSON is for. It knows no formalism.

use std::fmt::Write;

use serde::Serialize;
use trellis_domain::zone::Rational;

use crate::chart::chart;
use crate::present::{Present, Shown};
use crate::property::{Outcome, PropertyReport};
use crate::run::{Run, shown};
use crate::style::Style;
use crate::text::{self, Clocks, number_of};
use crate::time;
use crate::timeline::timeline;
use crate::words::{cut, escape, one_line};

/// The parts of the page around the reports.
const PAGE: &str = include_str!("page.html");
/// Runs with more steps than this are not repeated as plain text.
const MAX_TEXT: usize = 2000;

/// What is shown of a property beside its verdict.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The run.
    pub run: Option<Shown>,
    /// The run of its parts, for a chart.
    pub lanes: Option<Run>,
    /// A path that exists only because of joins, which moments are joins, and what is said of it.
    pub inconclusive: Option<(Shown, Vec<usize>, String)>,
    /// The proof: how large it is, and all of it.
    pub proof: Option<(String, String)>,
}

impl Evidence {
    /// The run of a report, if it has one.
    pub fn of<P: Present + ?Sized, C>(report: &PropertyReport<P::Trace, C>, p: &P) -> Evidence {
        let run = report.trace.as_ref().map(|t| {
            let mut shown = p.shown(t);
            shown.run.ending = p.ending(report.kind, report.outcome, t).map(|e| e.name().into());
            shown
        });
        let inconclusive = report.inconclusive.as_ref().map(|i| {
            let said = format!("step {} cannot be taken without the join in state {}", i.fails_at + 1, i.pivot);
            (p.shown(&i.path), i.joins.clone(), said)
        });
        let lanes = report.trace.as_ref().and_then(|t| p.lanes(t));
        Evidence { run, lanes, inconclusive, proof: None }
    }

    /// With a proof: how large it is, and all of it.
    pub fn with_proof(self, proof: Option<(String, String)>) -> Evidence {
        Evidence { proof, ..self }
    }
}

/// A page: the verdicts, and a section for each with its evidence.
pub fn page<T, C>(reports: &[(&PropertyReport<T, C>, Evidence)]) -> String {
    let model = reports.first().map_or("", |(r, _)| &r.model);
    let mut body = String::from("<table class=\"verdicts\">\n");
    for (i, (r, _)) in reports.iter().enumerate() {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td><a href=\"#p{i}\"><code>{}</code></a>{}</td><td>{}</td><td>{:.2} s</td><td>{}</td></tr>",
            badge(r.outcome),
            escape(&one_line(&r.query)),
            r.value().map_or_else(String::new, |n| format!(" = <b>{n}</b>")),
            r.statistic("stored").map_or_else(String::new, |n| format!("{n} states")),
            r.seconds,
            escape(r.checked.as_deref().unwrap_or("not re-checked")),
        );
    }
    body.push_str("</table>\n");
    for (i, (r, e)) in reports.iter().enumerate() {
        section(i, r, &mut body);
        evidence(e, &mut body);
        body.push_str("</section>\n");
    }
    let (before, rest) = PAGE.split_once("{{model}}").unwrap_or((PAGE, ""));
    let (between, after) = rest.split_once("{{body}}").unwrap_or((rest, ""));
    format!("{before}{}{between}{body}{after}", escape(model))
}

fn evidence(e: &Evidence, out: &mut String) {
    if let Some(s) = &e.run {
        steps(s, e.lanes.as_ref(), &[], None, out);
    }
    if let Some((summary, all)) = &e.proof {
        let (summary, shown) = (escape(summary), escape(all));
        let _ = writeln!(out, "<details><summary>{summary}</summary><pre>{shown}</pre></details>");
    }
    if let Some((s, joins, said)) = &e.inconclusive {
        out.push_str("<p>An abstract path leads to the target; ⊔ marks states that are joins.</p>\n");
        steps(s, None, joins, Some(said), out);
    }
}

fn badge(outcome: Outcome) -> String {
    let class = match outcome {
        Outcome::Safe | Outcome::Holds | Outcome::Bound => "good",
        Outcome::Unsafe | Outcome::Fails | Outcome::Error => "bad",
        Outcome::Unknown => "open",
    };
    format!("<b class=\"{class}\">{}</b>", outcome.word())
}

fn section<T, C>(i: usize, r: &PropertyReport<T, C>, out: &mut String) {
    let _ = writeln!(
        out,
        "<section id=\"p{i}\">\n<h2>{} <code>{}</code></h2>",
        badge(r.outcome),
        escape(&one_line(&r.query))
    );
    let mut notes = Vec::new();
    notes.extend(r.reason.iter().map(|w| w.text.clone()));
    notes.extend(r.warnings.iter().map(|w| format!("warning: {w}")));
    notes.extend(r.assumes.iter().map(|a| format!("assuming {a}")));
    notes.push(r.engine.clone());
    for note in notes.iter().filter(|n| !n.is_empty()) {
        let _ = writeln!(out, "<p>{}</p>", escape(note));
    }
    if !r.statistics.is_empty() {
        let cell = |(name, n): &(String, u64)| format!("<td>{n}<small>{}</small></td>", escape(name));
        let cells: String = r.statistics.iter().map(cell).collect();
        let _ = writeln!(out, "<table class=\"counts\"><tr>{cells}</tr></table>");
    }
}

/// What the script steps through: values in full at the start, and what each step sets.
#[derive(Serialize)]
struct Data<'a> {
    names: Vec<&'a str>,
    initial: Vec<String>,
    steps: Vec<StepData>,
    back: Option<usize>,
    end: String,
    joins: &'a [usize],
    /// Where the states are in the timeline, if there is one.
    at: Vec<f64>,
}

#[derive(Serialize)]
struct StepData {
    /// Waiting, if any, and what happens then.
    moves: Vec<String>,
    set: Vec<(usize, String)>,
}

fn data<'a>(s: &'a Shown, joins: &'a [usize], said: Option<&str>) -> Data<'a> {
    let run = &s.run;
    // What is not there at the start of a sparse run comes later.
    let mut names: Vec<&str> = run.start.keys().map(String::as_str).collect();
    for name in run.steps.iter().flat_map(|s| s.set.keys()).filter(|n| !run.start.contains_key(*n)) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    // Of an array whose cells are set one by one only these are shown: the whole would stay as it was.
    let cells: Vec<&str> = names.iter().copied().filter(|n| n.ends_with(']')).collect();
    let in_cells = |n: &str| cells.iter().any(|c| c.strip_prefix(n).is_some_and(|rest| rest.starts_with('[')));
    names.retain(|n| !in_cells(n));
    let number: rustc_hash::FxHashMap<&str, usize> = names.iter().enumerate().map(|(i, n)| (*n, i)).collect();
    let value = |name: &str, v: &serde_json::Value| match run.clocks.iter().any(|c| c == name) {
        true => time::exact(number_of(v.as_str())),
        false => cut(&shown(v)),
    };
    let missing = if s.look.sparse { "0" } else { "" };
    let initial = names.iter().map(|n| run.start.get(*n).map_or(missing.into(), |v| value(n, v))).collect();
    let mut clocks = Clocks::new(run);
    let step = |step: &crate::run::Step| {
        let delay = number_of(step.delay.as_deref());
        clocks.step(step, delay);
        let wait = (delay != Rational::ZERO).then(|| format!("wait {}", time::duration(delay)));
        let place = Some(text::place(step)).filter(|p| s.look.table && !p.is_empty());
        let mut said = text::lines(s, step);
        if let (Some(place), Some(first)) = (place, said.first_mut()) {
            *first = format!("{place}  {first}");
        }
        let set = step.set.iter().filter_map(|(n, v)| Some((*number.get(n.as_str())?, value(n, v)))).collect();
        StepData { moves: wait.into_iter().chain(said).collect(), set }
    };
    let steps: Vec<StepData> = run.steps.iter().map(step).collect();
    let rest = number_of(run.rest.as_deref());
    let rest = (rest != Rational::ZERO).then(|| {
        clocks.wait(rest);
        let shown = clocks.all().join(", ");
        format!("then {}{}{shown}", time::passes(rest), if shown.is_empty() { "" } else { ": " })
    });
    let end = match (said, text::ending(s)) {
        (Some(said), _) => said.to_string(),
        (None, Some(end)) => end.trim_start_matches("… ").to_string(),
        (None, None) if run.back.is_some() => "and so on, again and again".into(),
        (None, None) => s.look.last.clone(),
    };
    let end = [rest.unwrap_or_default(), end].join("\n       ").trim().to_string();
    Data { names, initial, steps, back: run.back.filter(|b| *b <= run.steps.len()), end, joins, at: Vec::new() }
}

/// A run: the picture, what the page's script steps through, and all of it as text.
fn steps(s: &Shown, lanes: Option<&Run>, joins: &[usize], said: Option<&str>, out: &mut String) {
    let mut data = data(s, joins, said);
    let mut svg = String::new();
    if let Some(t) = timeline(&s.run) {
        (svg, data.at) = (t.svg, t.at);
    }
    // Within a script element only `<` could end it early; JSON has another way to write it.
    let json = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
    let _ = writeln!(out, "<div class=\"run\"><script type=\"application/json\">{json}</script>{svg}</div>");
    if let Some(chart) = lanes.filter(|r| r.parts.len() > 1).and_then(chart) {
        // Within a page it needs no name space, and a page has no addresses.
        let svg = chart.svg().replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        let _ = writeln!(
            out,
            "<details{}><summary>Who acts on whom</summary><div class=\"chart\">{svg}</div></details>",
            if svg.len() < 60_000 && data.at.is_empty() { " open" } else { "" }
        );
    }
    if s.run.steps.len() <= MAX_TEXT {
        let plain = text::run(s, Style { full: true, ..Style::default() });
        let _ = writeln!(out, "<details><summary>As text</summary><pre>{}</pre></details>", escape(&plain));
    }
}
