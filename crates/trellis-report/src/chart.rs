//! A run as a message sequence chart: one lifeline per part, one row per step, an arrow from whoever acts to whoever hears of it.
//!
//! It is drawn from a run of parts ([`crate::present::Present::lanes`]): a part that was nowhere starts, one that goes nowhere is gone; one that
//! sends (or moves alone) acts, the others are moved along. A model of one part has one lifeline.

use std::fmt::Write;

use crate::present::Present;
use crate::run::{Part, Run, Step, shown};
use crate::words::{escape, short};

/// Larger charts are not drawn.
const MOST_PARTS: usize = 60;
const MOST_STEPS: usize = 500;
/// Longer names of places are cut.
const LONGEST: usize = 28;
/// So much of what a step says is shown beside it.
const SAID: usize = 120;

/// What happens to a part in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Event {
    /// It acts, and is in this place then.
    Acts(String),
    /// It starts in this place.
    Starts(String),
    /// It is moved to this place.
    Moved(String),
    /// It is gone, by itself or because it was lost.
    Gone(bool),
}

impl Event {
    fn new(part: &Part, acts: bool) -> Event {
        match (&part.from, &part.to) {
            (Some(_), None) => Event::Gone(acts),
            (None, Some(to)) if acts => Event::Starts(short(to, LONGEST)),
            (_, to) => {
                let to = short(to.as_deref().unwrap_or_default(), LONGEST);
                if acts { Event::Acts(to) } else { Event::Moved(to) }
            }
        }
    }

    fn place(&self) -> &str {
        match self {
            Event::Acts(p) | Event::Starts(p) | Event::Moved(p) => p,
            Event::Gone(_) => "",
        }
    }

    /// In text: `*` acts, `+` starts, `~` is moved, `x` is gone.
    fn word(&self) -> String {
        match self {
            Event::Acts(p) => format!("*{p}"),
            Event::Starts(p) => format!("+{p}"),
            Event::Moved(p) => format!("~{p}"),
            Event::Gone(_) => "x".into(),
        }
    }
}

/// A chart.
pub struct Chart {
    names: Vec<String>,
    /// For each part where it is at the start, if it is there.
    start: Vec<Option<String>>,
    rows: Vec<Row>,
}

struct Row {
    said: String,
    message: Option<String>,
    /// Who is concerned, by number, in this order.
    events: Vec<(usize, Event)>,
}

/// The chart of a trace: a picture, or text. Nothing if there are too many parts or steps to draw.
pub fn trace<P: Present + ?Sized>(p: &P, trace: &P::Trace, picture: bool) -> Option<String> {
    let chart = chart(&p.lanes(trace)?)?;
    Some(if picture { chart.svg() } else { chart.text() })
}

/// The chart of a run; nothing if there are too many parts or steps to draw.
pub fn chart(run: &Run) -> Option<Chart> {
    let mut names = run.parts.clone();
    // A model of one part, which has no name.
    if names.is_empty() {
        names.push(String::new());
    }
    if names.len() > MOST_PARTS || run.steps.len() > MOST_STEPS {
        return None;
    }
    let first = |name: &String| {
        let moved = run.steps.iter().flat_map(|s| &s.parts).find(|p| p.name == *name);
        run.start.get(name).map(shown).or_else(|| moved.and_then(|p| p.from.clone()))
    };
    // Whoever has no places is there from the start; whoever comes later is not.
    let later = |name: &String| run.steps.iter().flat_map(|s| &s.parts).any(|p| p.name == *name && p.from.is_none());
    let start = names.iter().map(|n| first(n).or_else(|| (!later(n) || n.is_empty()).then(String::new))).collect();
    let row = |step: &Step| {
        let someone_sends = step.parts.iter().any(|p| p.sends);
        let acts = |p: &Part| p.sends || !someone_sends && step.message.is_none();
        let number = |p: &Part| names.iter().position(|n| *n == p.name);
        let mut events: Vec<(usize, Event)> =
            step.parts.iter().filter_map(|p| Some((number(p)?, Event::new(p, acts(p))))).collect();
        if events.is_empty() && names.len() == 1 {
            events.push((0, Event::Acts(String::new())));
        }
        let place = step.place.as_ref().map_or(String::new(), |p| match p.file.is_empty() {
            true => format!("line {}: ", p.line),
            false => format!("{}:{}: ", p.file, p.line),
        });
        Row { said: format!("{place}{}", step.label), message: step.message.clone(), events }
    };
    Some(Chart { start, rows: run.steps.iter().map(row).collect(), names })
}

impl Chart {
    /// As text.
    pub fn text(&self) -> String {
        let width = |who: usize| {
            let first = self.start[who].as_ref().map_or(1, |p| short(p, LONGEST).chars().count() + 1);
            let of = self.rows.iter().flat_map(|r| &r.events).filter(|e| e.0 == who);
            let longest = of.map(|e| e.1.word().chars().count()).max().unwrap_or(0);
            first.max(longest).max(self.names[who].chars().count())
        };
        let widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        let mut out = String::from("        ");
        let put = |out: &mut String, who: usize, text: &str| {
            let _ = write!(out, "{text:<w$}  ", w = widths[who]);
        };
        let end = |out: &mut String| {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        };
        self.names.iter().enumerate().for_each(|(who, name)| put(&mut out, who, name));
        end(&mut out);
        let mut alive: Vec<bool> = self.start.iter().map(Option::is_some).collect();
        out.push_str("   0    ");
        for (who, s) in self.start.iter().enumerate() {
            let place = s
                .as_ref()
                .map_or(String::new(), |p| if p.is_empty() { " |".into() } else { format!(" {}", short(p, LONGEST)) });
            put(&mut out, who, &place);
        }
        end(&mut out);
        for (i, row) in self.rows.iter().enumerate() {
            let _ = write!(out, "{:>4}    ", i + 1);
            for (who, alive) in alive.iter_mut().enumerate() {
                match row.events.iter().find(|e| e.0 == who) {
                    Some((_, e)) => {
                        *alive = !matches!(e, Event::Gone(_));
                        put(&mut out, who, &e.word());
                    }
                    None => put(&mut out, who, if *alive { " |" } else { "" }),
                }
            }
            if let Some(message) = &row.message {
                out.push_str(message);
            } else if row.events.iter().all(|e| e.1.place().is_empty()) {
                out.push_str(&short(&row.said, SAID));
            }
            end(&mut out);
        }
        out.push_str("        * acts, + starts, ~ is moved along, x is gone\n");
        out
    }

    /// As a picture: lifelines from top to bottom, places in boxes.
    pub fn svg(&self) -> String {
        const TOP: usize = 70;
        const ROW: usize = 46;
        /// So far above the places of a row its arrows are.
        const ARROW: usize = 17;
        let places = self.start.iter().flatten().map(|p| short(p, LONGEST).chars().count());
        let events = self.rows.iter().flat_map(|r| &r.events).map(|e| e.1.place().chars().count());
        let messages = self.rows.iter().filter_map(|r| r.message.as_ref()).map(|m| m.chars().count());
        let names = self.names.iter().map(|n| n.chars().count());
        let longest = places.chain(events).chain(messages).chain(names).max().unwrap_or(1).min(LONGEST + 1);
        let column = longest * 8 + 36;
        let left = 40;
        let x = |who: usize| left + who * column + column / 2;
        let y = |row: usize| TOP + row * ROW;
        let rules = self.start.len() * column + left + 20;
        let widest = self.rows.iter().map(|r| r.said.chars().count()).max().unwrap_or(0).min(SAID);
        let (width, height) = (rules + widest * 7 + 20, y(self.rows.len()) + 40);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path d=\"M0,0 L8,4 L0,8 z\"/></marker></defs>\n"
        );
        let boxed = |out: &mut String, who: usize, row: usize, label: &str, style: &str| {
            let label = short(label, LONGEST);
            if label.is_empty() {
                let _ = writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"5\" {style}/>", x(who), y(row));
                return;
            }
            let w = label.chars().count() * 8 + 14;
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{w}\" height=\"22\" rx=\"4\" {style}/><text x=\"{}\" y=\"{}\" \
                 text-anchor=\"middle\">{}</text>",
                x(who) - w / 2,
                y(row) - 11,
                x(who),
                y(row) + 4,
                escape(&label),
            );
        };
        const QUIET: &str = "fill=\"#eee\" stroke=\"#555\"";
        const ACTING: &str = "fill=\"#ffd\" stroke=\"black\" stroke-width=\"2\"";
        const MOVED: &str = "fill=\"#def\" stroke=\"#555\"";
        for (who, s) in self.start.iter().enumerate() {
            let is = |e: &(usize, Event), ends: bool| {
                e.0 == who && if ends { matches!(e.1, Event::Gone(_)) } else { matches!(e.1, Event::Starts(_)) }
            };
            let when = |ends: bool| self.rows.iter().position(|r| r.events.iter().any(|e| is(e, ends))).map(|i| i + 1);
            // From the arrow that starts it, if one does, to where it is gone.
            let from = if s.is_some() { y(0) } else { when(false).map_or(y(0), |row| y(row) - ARROW) };
            let to = when(true).map_or(y(self.rows.len()) + ARROW, y);
            let _ = writeln!(
                out,
                "<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\" font-weight=\"bold\">{2}</text>\n\
                 <line x1=\"{0}\" y1=\"{from}\" x2=\"{0}\" y2=\"{to}\" stroke=\"#999\"/>",
                x(who),
                TOP - 40,
                escape(&short(&self.names[who], LONGEST)),
            );
            if let Some(place) = s {
                boxed(&mut out, who, 0, place, QUIET);
            }
        }
        for (i, row) in self.rows.iter().enumerate() {
            let at = i + 1;
            let _ = writeln!(out, "<text x=\"6\" y=\"{}\" fill=\"#777\">{at}</text>", y(at) + 4);
            let acts = |e: &&(usize, Event)| matches!(e.1, Event::Acts(_) | Event::Gone(true));
            let actor = row.events.iter().find(acts).or(row.events.first());
            for (who, e) in &row.events {
                if let Some((from, _)) = actor.filter(|a| a.0 != *who) {
                    let quiet = matches!(e, Event::Moved(_) | Event::Gone(false)) && row.message.is_none();
                    let dashes = if quiet { " stroke-dasharray=\"4 3\"" } else { "" };
                    let (a, b) = (x(*from), x(*who));
                    let height = y(at) - ARROW;
                    let _ = writeln!(
                        out,
                        "<line x1=\"{a}\" y1=\"{height}\" x2=\"{b}\" y2=\"{height}\" stroke=\"black\"{dashes} marker-end=\"url(#head)\"/>"
                    );
                    if let Some(message) = &row.message {
                        // Beside the receiver, where no other box of the row can be in the way.
                        let beside = if a < b { b - column / 2 } else { b + column / 2 };
                        let _ = writeln!(
                            out,
                            "<text x=\"{beside}\" y=\"{}\" text-anchor=\"middle\" font-style=\"italic\">{}</text>",
                            height - 3,
                            escape(&short(message, LONGEST))
                        );
                    }
                }
            }
            for (who, e) in &row.events {
                match e {
                    Event::Acts(p) | Event::Starts(p) => boxed(&mut out, *who, at, p, ACTING),
                    Event::Moved(p) => boxed(&mut out, *who, at, p, MOVED),
                    Event::Gone(_) => {
                        let (x, y) = (x(*who), y(at) + 4);
                        let _ = writeln!(
                            out,
                            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-weight=\"bold\">×</text>"
                        );
                    }
                }
            }
            let said = escape(&short(&row.said, SAID));
            let _ = writeln!(out, "<text x=\"{rules}\" y=\"{}\" fill=\"#777\">{said}</text>", y(at) + 4);
        }
        out.push_str("</svg>\n");
        out
    }
}
