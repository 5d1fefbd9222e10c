//! Reports as one self-contained page: no other files, no network, a few lines of script for stepping through runs.
//!
//! The page is meant to be looked at and passed on, not to be read by programs: that is what JSON is for.

use std::fmt::Write;

use serde::Serialize;
use trellis_domain::zone::Rational;
use trellis_model::network::{Network, Snapshot, Trace};

use crate::certificate;
use crate::property::{Ending, Outcome, PropertyReport};
use crate::tell::{Renderer, later, states};
use crate::text::{self, Style, describe};
use crate::time;
use crate::timeline::timeline;

/// The parts of the page around the reports.
const PAGE: &str = include_str!("page.html");
/// Runs with more steps than this are not repeated as plain text.
pub(crate) const MAX_TEXT: usize = 2000;
/// So many keys of a certificate are shown.
const MAX_KEYS: usize = 200;

/// A page about some properties of one model.
pub fn render(reports: &[PropertyReport], net: &Network) -> String {
    let teller = Renderer::new(net);
    let all: Vec<&PropertyReport> = reports.iter().collect();
    page(&all, |i, out| evidence(&teller, &reports[i], out))
}

/// A page: the verdicts, and a section for each, to which the caller adds the evidence.
pub(crate) fn page<T, C>(reports: &[&PropertyReport<T, C>], evidence: impl Fn(usize, &mut String)) -> String {
    let model = reports.first().map_or("", |r| &r.model);
    let mut body = String::from("<table class=\"verdicts\">\n");
    for (i, r) in reports.iter().enumerate() {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td><a href=\"#p{i}\"><code>{}</code></a>{}</td><td>{}</td><td>{:.2} s</td><td>{}</td></tr>",
            badge(r.outcome),
            escape(&text::one_line(&r.query)),
            r.value().map_or_else(String::new, |n| format!(" = <b>{n}</b>")),
            r.statistic("stored").map_or_else(String::new, |n| format!("{n} states")),
            r.seconds,
            escape(r.checked.as_deref().unwrap_or("not re-checked")),
        );
    }
    body.push_str("</table>\n");
    for (i, r) in reports.iter().enumerate() {
        section(i, r, &mut body);
        evidence(i, &mut body);
        body.push_str("</section>\n");
    }
    let [before, between, after] = parts();
    format!("{before}{}{between}{body}{after}", escape(model))
}

/// The page around the model's name and the body.
fn parts() -> [&'static str; 3] {
    let (before, rest) = PAGE.split_once("{{model}}").unwrap_or((PAGE, ""));
    let (between, after) = rest.split_once("{{body}}").unwrap_or((rest, ""));
    [before, between, after]
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
        escape(&text::one_line(&r.query))
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

fn evidence(teller: &Renderer<'_>, r: &PropertyReport, out: &mut String) {
    if let Some(trace) = &r.trace {
        let ending = teller.ending(r.kind, r.outcome, trace);
        let rest = (trace.rest != Rational::ZERO).then(|| rest(teller, trace));
        let end = [rest.unwrap_or_default(), end(ending, trace)];
        let data = Run { end: end.join("\n       ").trim().into(), ..Run::new(teller, trace) };
        run(teller, trace, Some(ending), data, out);
    }
    if let Some(c) = &r.certificate {
        let shown = escape(&certificate::show(teller, c, MAX_KEYS));
        let summary = escape(&certificate::summary(teller.net, c));
        let _ = writeln!(out, "<details><summary>{summary}</summary><pre>{shown}</pre></details>");
    }
    if let Some(i) = &r.inconclusive {
        let end = format!("step {} cannot be taken without the join in state {}", i.fails_at + 1, i.pivot);
        let data = Run { end, joins: &i.joins, ..Run::new(teller, &i.path) };
        out.push_str("<p>An abstract path leads to the target; ⊔ marks states that are joins.</p>\n");
        run(teller, &i.path, None, data, out);
    }
}

fn end(ending: Ending, trace: &Trace) -> String {
    match ending {
        Ending::Loop => format!("back to state {}, and so on forever", trace.back_to.unwrap_or_default()),
        Ending::Idle => "the run may end here: time may pass forever".into(),
        Ending::Deadlock => "the run ends here: nothing more can happen".into(),
        Ending::Error => "the model fails here".into(),
        Ending::Target => String::new(),
    }
}

/// `then 3 time units pass: x = 5, y = 3`.
fn rest(teller: &Renderer<'_>, trace: &Trace) -> String {
    let clocks = later(&trace.last().clocks, trace.rest).unwrap_or_default();
    let shown = teller.clocks(&clocks).join(", ");
    format!("then {}{}{shown}", time::passes(trace.rest), if shown.is_empty() { "" } else { ": " })
}

/// What the script steps through: values in full at the start, and what each step sets.
#[derive(Serialize)]
pub(crate) struct Run<'a> {
    pub names: Vec<&'a str>,
    pub initial: Vec<String>,
    pub steps: Vec<StepData>,
    pub back: Option<usize>,
    pub end: String,
    pub joins: &'a [usize],
    /// Where the states are in the timeline, if there is one.
    pub at: Vec<f64>,
}

#[derive(Serialize)]
pub(crate) struct StepData {
    /// Waiting, if any, and what moves then.
    pub moves: Vec<String>,
    pub set: Vec<(usize, String)>,
}

impl<'a> Run<'a> {
    fn new(teller: &'a Renderer<'_>, trace: &Trace) -> Run<'a> {
        let names = &teller.names;
        let initial = values(teller, &trace.initial);
        let mut now = initial.clone();
        let mut steps = Vec::new();
        for (before, step) in states(trace) {
            let next = values(teller, &step.state);
            let set = next.iter().enumerate().filter(|(i, v)| now[*i] != **v).map(|(i, v)| (i, v.clone())).collect();
            let wait = (step.delay != Rational::ZERO).then(|| format!("wait {}", time::duration(step.delay)));
            let moves = teller.moves(before, &step.action);
            steps.push(StepData { moves: wait.into_iter().chain(moves.iter().map(describe)).collect(), set });
            now = next;
        }
        let clocks = names.clocks.iter().take(trace.initial.clocks.len());
        let all = names.processes.iter().chain(&names.cells).chain(&names.lattices).chain(clocks);
        Run {
            names: all.map(String::as_str).collect(),
            initial,
            steps,
            back: trace.back_to,
            end: String::new(),
            joins: &[],
            at: Vec::new(),
        }
    }
}

/// Locations, cells, lattices, clocks.
fn values(teller: &Renderer<'_>, state: &Snapshot) -> Vec<String> {
    let names = &teller.names;
    let location = |(p, &l): (usize, &u32)| names.locations[p][l as usize].clone();
    let vars = teller.net.vars.iter().flat_map(|v| v.init.iter().map(move |_| v));
    let cells = vars.zip(&state.data).map(|(v, &n)| teller.cell(v, n));
    let lattices = (0..names.lattices.len()).map(|i| teller.lattice(i, &state.element));
    let clocks = state.clocks.iter().map(|c| time::exact(*c));
    state.locations.iter().enumerate().map(location).chain(cells).chain(lattices).chain(clocks).collect()
}

fn run(teller: &Renderer<'_>, trace: &Trace, ending: Option<Ending>, data: Run<'_>, out: &mut String) {
    let (svg, at) = timeline(teller, trace).map_or_else(Default::default, |t| (t.svg, t.at));
    let data = Run { at, ..data };
    script(&data, &svg, out);
    if trace.steps.len() <= MAX_TEXT {
        let plain = text::trace(teller.net, trace, ending, Style::default());
        let _ = writeln!(out, "<details><summary>As text</summary><pre>{}</pre></details>", escape(&plain));
    }
}

/// What the page's script steps through, below a picture.
pub(crate) fn script(data: &Run<'_>, svg: &str, out: &mut String) {
    // Within a script element only `<` could end it early; JSON has another way to write it.
    let json = serde_json::to_string(data).unwrap_or_default().replace('<', "\\u003c");
    let _ = writeln!(out, "<div class=\"run\"><script type=\"application/json\">{json}</script>{svg}</div>");
}

pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
