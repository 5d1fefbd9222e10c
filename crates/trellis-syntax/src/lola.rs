//! Place/transition nets as LoLA writes them, as counter systems: a place is a variable, a transition a rule.
//!
//! ```text
//! PLACE [SAFE [n] :] p, q; …          how many tokens a SAFE place may hold is a hint, and is skipped
//! MARKING p: 2, q;                    places that are not mentioned are empty; a number left out is 1
//! TRANSITION t [WEAK FAIR | STRONG FAIR]
//!   CONSUME p: 2;
//!   PRODUCE q, p: 1;
//! ```
//!
//! Comments are `{ … }` and `// …`. Names stay as they are: `a.b` is not `a_b`. Targets come from elsewhere. Refused by name: high-level nets, and the questions
//! (`FORMULA`, `ANALYSE`) that old files end with.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use trellis_model::counter::{Interval, LARGEST, System, Var};

use crate::diag::shorten;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::net::Arcs;
use crate::text::errors::closest;

/// Reads the net; without targets.
pub fn parse(sources: &Sources, id: SourceId) -> Result<System, Vec<Diagnostic>> {
    read(sources, id).map_err(|d| vec![d])
}

type Read<T> = Result<T, Diagnostic>;

const SECTIONS: [&str; 5] = ["PLACE", "MARKING", "TRANSITION", "CONSUME", "PRODUCE"];

/// Words that only high-level nets and questions begin with.
fn foreign(word: &str) -> Option<&'static str> {
    match word {
        "SORT" | "CONSTANT" | "OPERATION" | "FUNCTION" | "VAR" | "GUARD" => {
            Some("high-level nets are not supported: unfold the net first")
        }
        "FORMULA" | "ANALYSE" | "AUTOMATON" => {
            Some("questions are not read from a net: take this out, and ask with --error 'p >= 1, q >= 2'")
        }
        _ => None,
    }
}

/// A word, or one of `, : ;`; empty at the end of the file.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    span: Span,
}

struct Parser<'a> {
    sources: &'a Sources,
    id: SourceId,
    text: &'a str,
    at: usize,
    next: Token<'a>,
    places: FxHashMap<&'a str, Var>,
}

fn read(sources: &Sources, id: SourceId) -> Read<System> {
    let text = sources.get(id).text.as_str();
    let next = Token { text: "", span: Span { source: id, start: 0, end: 0 } };
    let mut p = Parser { sources, id, text, at: 0, next, places: FxHashMap::default() };
    p.bump()?;
    p.net()
}

impl<'a> Parser<'a> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span { source: self.id, start: start as u32, end: end as u32 }
    }

    /// The next token is behind this one.
    fn bump(&mut self) -> Read<Token<'a>> {
        loop {
            let rest = &self.text[self.at..];
            let Some(c) = rest.chars().next() else { break };
            if c.is_whitespace() || c == '\u{feff}' {
                self.at += c.len_utf8();
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if c == '{' {
                let Some(end) = rest.find('}') else {
                    return Err(Diagnostic::error(self.span(self.at, self.at + 1), "this comment has no end"));
                };
                self.at += end + 1;
            } else {
                break;
            }
        }
        let rest = &self.text[self.at..];
        let apart = |c: char| c.is_whitespace() || ",;:{}".contains(c);
        let len = match rest.chars().next() {
            Some(c) if apart(c) => c.len_utf8(),
            _ => rest.find(apart).unwrap_or(rest.len()),
        };
        let token = Token { text: &rest[..len], span: self.span(self.at, self.at + len) };
        self.at += len;
        Ok(std::mem::replace(&mut self.next, token))
    }

    fn take(&mut self, text: &str) -> Read<bool> {
        let is = self.next.text == text;
        if is {
            self.bump()?;
        }
        Ok(is)
    }

    fn require(&mut self, text: &str) -> Read<()> {
        if self.take(text)? { Ok(()) } else { self.unexpected(&format!("`{text}`")) }
    }

    fn unexpected<T>(&self, expected: &str) -> Read<T> {
        let Token { text, span } = self.next;
        let found = if text.is_empty() { "the end of the file".into() } else { format!("`{}`", shorten(text)) };
        let error = Diagnostic::error(span, format!("expected {expected}, found {found}"));
        Err(match foreign(text) {
            Some(why) => error.help(why),
            None => error,
        })
    }

    /// Does a list end here?
    fn at_end(&self) -> bool {
        self.next.text.is_empty() || self.next.text == ";" || SECTIONS.contains(&self.next.text)
    }

    fn word(&mut self, what: &str) -> Read<Token<'a>> {
        if self.at_end() || [",", ":", "{", "}"].contains(&self.next.text) {
            return self.unexpected(what);
        }
        self.bump()
    }

    fn number(&mut self) -> Read<u64> {
        let t = self.word("a number")?;
        match t.text.parse::<u64>() {
            Ok(n) if n <= LARGEST => Ok(n),
            _ => Err(Diagnostic::error(
                t.span,
                format!("expected a number up to {LARGEST}, found `{}`", shorten(t.text)),
            )),
        }
    }

    fn net(mut self) -> Read<System> {
        let mut system = System::default();
        self.require("PLACE")?;
        while !SECTIONS.contains(&self.next.text) {
            if self.take("SAFE")? {
                if self.next.text != ":" {
                    self.number()?;
                }
                self.require(":")?;
            }
            loop {
                let t = self.word("a place")?;
                if self.places.insert(t.text, system.names.len() as Var).is_some() {
                    let message = format!("the place `{}` is declared twice", shorten(t.text));
                    return Err(Diagnostic::error(t.span, message));
                }
                system.names.push(t.text.into());
                if !self.take(",")? {
                    break;
                }
            }
            self.require(";")?;
        }
        system.initial = vec![Interval::exactly(0); system.names.len()];
        self.require("MARKING")?;
        let mut marked = BTreeMap::new();
        self.list(&mut marked)?;
        for (place, n) in marked {
            system.initial[place as usize] = Interval::exactly(n);
        }
        let mut named = FxHashMap::default();
        while !self.next.text.is_empty() {
            let start = self.next.span;
            self.require("TRANSITION")?;
            let name = self.word("the name of a transition")?;
            if named.insert(name.text, ()).is_some() {
                let message = format!("the transition `{}` is declared twice", shorten(name.text));
                return Err(Diagnostic::error(name.span, message));
            }
            if self.take("WEAK")? || self.take("STRONG")? {
                self.require("FAIR")?;
            }
            let line = self.sources.line_col(start).0 as u32;
            let mut arcs = Arcs { line, name: Some(name.text.into()), ..Arcs::default() };
            self.require("CONSUME")?;
            self.list(&mut arcs.takes)?;
            self.require("PRODUCE")?;
            self.list(&mut arcs.puts)?;
            system.rules.extend(arcs.rule(&BTreeMap::new()));
        }
        Ok(system)
    }

    /// Places with numbers, up to the semicolon.
    fn list(&mut self, all: &mut BTreeMap<Var, u64>) -> Read<()> {
        while !self.at_end() {
            let t = self.word("a place")?;
            let Some(&place) = self.places.get(t.text) else {
                let error = Diagnostic::error(t.span, format!("there is no place `{}`", shorten(t.text)));
                return Err(
                    error.meant_or(closest(t.text, self.places.keys().copied()), "places are declared under PLACE")
                );
            };
            let n = if self.take(":")? { self.number()? } else { 1 };
            let sum = all.entry(place).or_default();
            *sum += n;
            if *sum > LARGEST {
                return Err(Diagnostic::error(t.span, format!("more than {LARGEST} tokens")));
            }
            if !self.take(",")? {
                break;
            }
        }
        self.require(";")
    }
}
