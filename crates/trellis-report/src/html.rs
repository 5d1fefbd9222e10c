//! Reports as one self-contained page: no other files, no network, a few lines of script for stepping through runs.
//!
//! The page is meant to be looked at and passed on, not to be read by programs: that is what JSON is for.

use std::fmt::Write;

use serde::Serialize;
use trellis_model::network::{Network, Snapshot, Trace};

use crate::property::{Ending, Outcome, PropertyReport};
use crate::tell::{Teller, states};
use crate::text::{self, Style, describe};

/// The parts of the page around the reports.
const PAGE: &str = include_str!("page.html");
/// Runs with more steps than this are not repeated as plain text.
const MAX_TEXT: usize = 2000;

/// A page about some properties of one model.
pub fn render(reports: &[PropertyReport], net: &Network) -> String {
    let teller = Teller::new(net);
    let model = reports.first().map_or("", |r| &r.model);
    let mut body = String::from("<table class=\"verdicts\">\n");
    for (i, r) in reports.iter().enumerate() {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td><a href=\"#p{i}\"><code>{}</code></a>{}</td><td>{}</td><td>{:.2} s</td><td>{}</td></tr>",
            badge(r.outcome),
            escape(&text::one_line(&r.query)),
            r.bound.map_or_else(String::new, |n| format!(" = <b>{n}</b>")),
            r.statistic("stored").map_or_else(String::new, |n| format!("{n} states")),
            r.seconds,
            escape(r.checked.as_deref().unwrap_or("not re-checked")),
        );
    }
    body.push_str("</table>\n");
    for (i, r) in reports.iter().enumerate() {
        section(&teller, i, r, &mut body);
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

fn section(teller: &Teller<'_>, i: usize, r: &PropertyReport, out: &mut String) {
    let _ = writeln!(
        out,
        "<section id=\"p{i}\">\n<h2>{} <code>{}</code></h2>",
        badge(r.outcome),
        escape(&text::one_line(&r.query))
    );
    let mut notes = Vec::new();
    notes.extend(r.reason.iter().map(|w| w.text.clone()));
    notes.extend(r.assumes.iter().map(|a| format!("assuming {a}")));
    if let Some(c) = &r.certificate {
        let how = if c.up_to_order { ", up to the lattice order" } else { "" };
        notes.push(format!("certificate of {} entries{how}", c.entries.len()));
    }
    notes.push(r.engine.clone());
    for note in notes.iter().filter(|n| !n.is_empty()) {
        let _ = writeln!(out, "<p>{}</p>", escape(note));
    }
    if !r.statistics.is_empty() {
        let cell = |(name, n): &(String, u64)| format!("<td>{n}<small>{}</small></td>", escape(name));
        let cells: String = r.statistics.iter().map(cell).collect();
        let _ = writeln!(out, "<table class=\"counts\"><tr>{cells}</tr></table>");
    }
    if let Some(trace) = &r.trace {
        let ending = teller.ending(r.kind, r.outcome, trace);
        let data = Run { end: end(ending, trace), ..Run::new(teller, trace) };
        run(teller, trace, Some(ending), &data, out);
    }
    if let Some(i) = &r.inconclusive {
        let end = format!("step {} cannot be taken without the join in state {}", i.fails_at + 1, i.pivot);
        let data = Run { end, joins: &i.joins, ..Run::new(teller, &i.path) };
        out.push_str("<p>An abstract path leads to the target; ⊔ marks states that are joins.</p>\n");
        run(teller, &i.path, None, &data, out);
    }
    out.push_str("</section>\n");
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

/// What the script steps through: values in full at the start, and what each step sets.
#[derive(Serialize)]
struct Run<'a> {
    names: Vec<&'a str>,
    initial: Vec<String>,
    steps: Vec<StepData>,
    back: Option<usize>,
    end: String,
    joins: &'a [usize],
}

#[derive(Serialize)]
struct StepData {
    moves: Vec<String>,
    set: Vec<(usize, String)>,
}

impl<'a> Run<'a> {
    fn new(teller: &'a Teller<'_>, trace: &Trace) -> Run<'a> {
        let names = &teller.names;
        let initial = values(teller, &trace.initial);
        let mut now = initial.clone();
        let mut steps = Vec::new();
        for (before, action, after) in states(trace) {
            let next = values(teller, after);
            let set = next.iter().enumerate().filter(|(i, v)| now[*i] != **v).map(|(i, v)| (i, v.clone())).collect();
            steps.push(StepData { moves: teller.moves(before, action).iter().map(describe).collect(), set });
            now = next;
        }
        Run {
            names: names.processes.iter().chain(&names.cells).chain(&names.lattices).map(String::as_str).collect(),
            initial,
            steps,
            back: trace.back_to,
            end: String::new(),
            joins: &[],
        }
    }
}

/// Locations, cells, lattices.
fn values(teller: &Teller<'_>, state: &Snapshot) -> Vec<String> {
    let names = &teller.names;
    let location = |(p, &l): (usize, &u32)| names.locations[p][l as usize].clone();
    let vars = teller.net.vars.iter().flat_map(|v| v.init.iter().map(move |_| v));
    let cells = vars.zip(&state.data).map(|(v, &n)| teller.cell(v, n));
    let lattices = (0..names.lattices.len()).map(|i| teller.lattice(i, &state.element));
    state.locations.iter().enumerate().map(location).chain(cells).chain(lattices).collect()
}

fn run(teller: &Teller<'_>, trace: &Trace, ending: Option<Ending>, data: &Run<'_>, out: &mut String) {
    // Within a script element only `<` could end it early; JSON has another way to write it.
    let json = serde_json::to_string(data).unwrap_or_default().replace('<', "\\u003c");
    let _ = writeln!(out, "<div class=\"run\"><script type=\"application/json\">{json}</script></div>");
    if trace.steps.len() <= MAX_TEXT {
        let plain = text::trace(teller.net, trace, ending, Style::default());
        let _ = writeln!(out, "<details><summary>As text</summary><pre>{}</pre></details>", escape(&plain));
    }
}

fn escape(text: &str) -> String {
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
