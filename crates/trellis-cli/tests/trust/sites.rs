//! Changes of a text, one at a time: what is renamed, dropped, written twice, or added.

use std::ops::Range;

use crate::scan::{self, Kind, Style, Token};

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    ElementRenamed,
    ElementDropped,
    ElementTwice,
    ElementAdded,
    AttributeRenamed,
    AttributeDropped,
    AttributeTwice,
    AttributeAdded,
    ValueChanged,
    KeywordRenamed,
    KeywordDropped,
    KeywordTwice,
    NameRenamed,
    NameDropped,
    NameTwice,
    NumberChanged,
    NumberDropped,
    NumberTwice,
    SignDropped,
    SignChanged,
    SignTwice,
    QuotedChanged,
    LineDropped,
    LineTwice,
}

impl Change {
    /// Is something written that means nothing in any language? Then it is refused, or listed as what nobody looks at.
    pub fn is_nonsense(self) -> bool {
        use Change::*;
        matches!(self, ElementRenamed | ElementAdded | AttributeRenamed | AttributeAdded | KeywordRenamed)
    }
}

/// One change.
#[derive(Debug, Clone)]
pub struct Site {
    pub change: Change,
    /// What it is done to: an element, `element/@attribute`, a word, a sign.
    pub what: String,
    /// What is written instead, from the front to the back of the text.
    pub edits: Vec<(Range<usize>, String)>,
}

impl Site {
    fn new(change: Change, what: impl Into<String>, edits: Vec<(Range<usize>, String)>) -> Site {
        Site { change, what: what.into(), edits }
    }

    /// The changed text.
    pub fn apply(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        let mut from = 0;
        for (at, instead) in &self.edits {
            out.push_str(&text[from..at.start]);
            out.push_str(instead);
            from = at.end;
        }
        out + &text[from..]
    }

    /// Which line, and what it was.
    pub fn describe(&self, text: &str) -> String {
        let at = self.edits[0].0.start;
        let line = text[..at].matches('\n').count();
        let changed = self.apply(text);
        let (old, new) = (text.lines().nth(line).unwrap_or(""), changed.lines().nth(line).unwrap_or(""));
        format!("{:?} `{}`, line {}\n    was {}\n    now {}", self.change, self.what, line + 1, old.trim(), new.trim())
    }
}

/// What no language knows.
pub const NONSENSE: &str = "zzq7";

/// As many spaces, so that all the rest stays where it is.
fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect()
}

/// All changes of a text that is not XML.
pub fn of_text(text: &str, style: Style, keywords: &[&str]) -> Vec<Site> {
    let mut all = of_part(text, 0..text.len(), style, keywords, "");
    // A line on its own does not show that it is part of a comment.
    let tokens = scan::tokens(text, 0..text.len(), style);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        let first = tokens.partition_point(|t| t.at.end <= at.start);
        if tokens.get(first).is_none_or(|t| t.at.start >= at.end) {
            continue;
        }
        let what = text[at.clone()].trim();
        all.push(Site::new(Change::LineDropped, what, vec![(at.clone(), blank(&text[at.clone()]))]));
        all.push(Site::new(Change::LineTwice, what, vec![(at.clone(), format!("{0}\n{0}", &text[at]))]));
    }
    all
}

fn of_part(text: &str, part: Range<usize>, style: Style, keywords: &[&str], within: &str) -> Vec<Site> {
    let mut all = vec![];
    for Token { kind, at } in scan::tokens(text, part, style) {
        let written = &text[at.clone()];
        let (what, doubled) = (format!("{within}{written}"), format!("{written} {written}"));
        let mut push = |change, instead: String| all.push(Site::new(change, &what, vec![(at.clone(), instead)]));
        match kind {
            Kind::Word if keywords.contains(&written) => {
                push(Change::KeywordRenamed, format!("{written}{NONSENSE}"));
                push(Change::KeywordDropped, blank(written));
                push(Change::KeywordTwice, doubled);
            }
            Kind::Word => {
                push(Change::NameRenamed, format!("{written}{NONSENSE}"));
                push(Change::NameDropped, blank(written));
                push(Change::NameTwice, doubled);
            }
            Kind::Number => {
                push(Change::NumberChanged, written.parse::<u64>().map_or("7".into(), |n| (n + 1).to_string()));
                push(Change::NumberDropped, blank(written));
                push(Change::NumberTwice, doubled);
            }
            Kind::Sign => {
                push(Change::SignDropped, blank(written));
                push(Change::SignTwice, doubled);
                if let Some(other) = other_sign(written) {
                    push(Change::SignChanged, other.into());
                }
            }
            Kind::Quoted if written.len() > 1 => {
                let (inner, end) = written.split_at(written.len() - 1);
                push(Change::QuotedChanged, format!("{inner}{NONSENSE}{end}"));
            }
            Kind::Quoted => {}
        }
    }
    all
}

/// A sign that fits where another does, and means something else.
fn other_sign(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "<" | ">" => "==",
        "<=" => "<",
        ">=" => ">",
        "&lt;" => "==",
        "&gt;" => "==",
        "==" => "!=",
        "!=" | "/=" => "=",
        "=" => "!=",
        "+" => "-",
        "-" => "+",
        "*" => "+",
        "&&" => "||",
        "||" => "&&",
        "&" => "|",
        "|" => "&",
        "++" => "--",
        "--" => "++",
        "->" => "-->",
        "+>" => "->",
        "~>" => "->",
        "?" => "!",
        "!" => "?",
        _ => return None,
    })
}

/// All changes of an XML text; `embedded` says how the texts in an element, or the value of an attribute, are written, if they are
/// of a language of their own.
pub fn of_xml(text: &str, keywords: &[&str], embedded: &dyn Fn(&str) -> Option<Style>) -> Vec<Site> {
    let mut all = vec![];
    for e in scan::elements(text) {
        let name = e.name.as_str();
        let renamed = e.names.iter().map(|at| (at.clone(), format!("{name}{NONSENSE}"))).collect();
        all.push(Site::new(Change::ElementRenamed, name, renamed));
        let whole = &text[e.all.clone()];
        all.push(Site::new(Change::ElementDropped, name, vec![(e.all.clone(), blank(whole))]));
        all.push(Site::new(Change::ElementTwice, name, vec![(e.all.end..e.all.end, whole.to_string())]));
        if let Some(inside) = &e.inside {
            let added = vec![(inside.end..inside.end, format!("<{NONSENSE}/>"))];
            all.push(Site::new(Change::ElementAdded, format!("{name}/"), added));
        }
        let added = vec![(e.tag_end..e.tag_end, format!(" {NONSENSE}=\"1\""))];
        all.push(Site::new(Change::AttributeAdded, format!("{name}/@"), added));
        for a in &e.attributes {
            let what = format!("{name}/@{}", &text[a.name.clone()]);
            let (whole, value) = (&text[a.all.clone()], &text[a.value.clone()]);
            let renamed = format!("{}{NONSENSE}", &text[a.name.clone()]);
            all.push(Site::new(Change::AttributeRenamed, &what, vec![(a.name.clone(), renamed)]));
            all.push(Site::new(Change::AttributeDropped, &what, vec![(a.all.clone(), blank(whole))]));
            let twice = vec![(a.all.end..a.all.end, format!(" {whole}"))];
            all.push(Site::new(Change::AttributeTwice, &what, twice));
            let changed = value.parse::<i64>().map_or(format!("{value}{NONSENSE}"), |n| (n + 1).to_string());
            all.push(Site::new(Change::ValueChanged, &what, vec![(a.value.clone(), changed)]));
            if let Some(style) = embedded(&what) {
                all.extend(of_part(text, a.value.clone(), style, keywords, &format!("{what}: ")));
            }
        }
        if let Some(style) = embedded(name) {
            for part in &e.texts {
                all.extend(of_part(text, part.clone(), style, keywords, &format!("{name}: ")));
            }
        }
    }
    all
}
