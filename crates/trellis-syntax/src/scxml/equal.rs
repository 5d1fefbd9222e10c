//! Two questions that expressions ask: whether values are equal, with ECMAScript's conversions, and what is known of the event
//! that was taken in last (`_event`).

use std::collections::{BTreeMap, BTreeSet};

use trellis_expr::TermId;

use super::events::{Message, Source};
use super::lower::Lower;
use super::value::{IDENTITY, Kind, Sym};
use crate::diag::Span;

/// The members of `_event`: all are always there.
pub const FIELDS: [&str; 7] = ["name", "type", "sendid", "origin", "origintype", "invokeid", "data"];

/// Is it known which object this is?
fn is_known(value: &Sym) -> bool {
    value.fields.get(IDENTITY).is_some_and(|id| id.kind() == Some(Kind::Text))
}

impl Lower<'_> {
    /// `'name' in object`
    pub fn has(&mut self, field: &str, of: &Sym, path: TermId, span: Span) -> TermId {
        let mut holds = self.terms.bool(false);
        for (&kind, &guard) in &of.guards {
            if kind != Kind::Object {
                self.beyond(path, guard, span, &format!("`in` {}", kind.describe()));
                continue;
            }
            if let Some(value) = of.fields.get(field) {
                if let Some(&undefined) = value.guards.get(&Kind::Undefined) {
                    let unclear = self.terms.and([guard, undefined]);
                    self.beyond(path, unclear, span, "the question whether there is a member that is undefined");
                }
                holds = guard;
            }
        }
        holds
    }

    /// `==`, or `===`.
    pub fn equal(&mut self, a: &Sym, b: &Sym, loose: bool, path: TermId, span: Span) -> TermId {
        let mut holds = vec![];
        for (&ka, &ga) in &a.guards {
            for (&kb, &gb) in &b.guards {
                let here = self.terms.and([ga, gb]);
                let on = self.terms.and([path, here]);
                let same = self.equal_kinds((ka, a), (kb, b), loose, on, span);
                holds.push(self.terms.and([here, same]));
            }
        }
        self.terms.or(holds)
    }

    fn equal_kinds(
        &mut self,
        (ka, a): (Kind, &Sym),
        (kb, b): (Kind, &Sym),
        loose: bool,
        path: TermId,
        span: Span,
    ) -> TermId {
        let (no, yes) = (self.terms.bool(false), self.terms.bool(true));
        let nothing = |k: Kind| matches!(k, Kind::Undefined | Kind::Null | Kind::Unbound);
        match (ka, kb) {
            (Kind::Bool, Kind::Bool) => a.bool.zip(b.bool).map_or(no, |(x, y)| self.terms.eq(x, y)),
            (Kind::Int, Kind::Int) => a.int.zip(b.int).map_or(no, |(x, y)| self.terms.eq(x, y)),
            (Kind::Text, Kind::Text) => self.equal_texts(a, b),
            (Kind::Object, Kind::Object) if [a, b].iter().all(|s| is_known(s)) => {
                a.fields.get(IDENTITY).zip(b.fields.get(IDENTITY)).map_or(no, |(x, y)| self.equal_texts(x, y))
            }
            (Kind::Array | Kind::Object, Kind::Array | Kind::Object) if ka == kb => {
                self.beyond(path, yes, span, "the question whether two objects are the same one");
                no
            }
            _ if nothing(ka) && nothing(kb) && (loose || ka == kb) => yes,
            _ if !loose || nothing(ka) || nothing(kb) => no,
            (Kind::Bool, Kind::Int) => a.bool.zip(b.int).map_or(no, |(x, y)| {
                let x = self.as_integer(x);
                self.terms.eq(x, y)
            }),
            (Kind::Text, Kind::Int | Kind::Bool) => {
                let (Some((t, texts)), n) =
                    (&a.text, if kb == Kind::Int { b.int } else { b.bool.map(|b| self.as_integer(b)) })
                else {
                    return no;
                };
                let mut holds = vec![];
                for text in texts {
                    let number = if text.trim().is_empty() { Some(0) } else { text.trim().parse::<i64>().ok() };
                    if let (Some(number), Some(n)) = (number, n) {
                        let (is, literal) = (self.is_text(*t, text), self.terms.int(number));
                        let same = self.terms.eq(n, literal);
                        holds.push(self.terms.and([is, same]));
                    }
                }
                self.terms.or(holds)
            }
            (Kind::Array, Kind::Int | Kind::Bool) => {
                // As a string: empty, its only element, or with commas in it, which is no number.
                let Some(len) = a.len else { return no };
                let (zero, one) = (self.terms.int(0), self.terms.int(1));
                let (empty, single) = (self.terms.eq(len, zero), self.terms.eq(len, one));
                let n = if kb == Kind::Int { b.int } else { b.bool.map(|b| self.as_integer(b)) };
                let is_zero = n.map_or(no, |n| self.terms.eq(n, zero));
                let of_one = match a.elements.first() {
                    Some(first) => {
                        let on = self.terms.and([path, single]);
                        let plain = first.guards.keys().all(|k| matches!(k, Kind::Int | Kind::Text));
                        if !plain {
                            self.beyond(on, yes, span, "an array compared with a number");
                        }
                        let guard = b.guards.get(&kb).copied().unwrap_or(no);
                        let only = Sym { guards: BTreeMap::from([(kb, guard)]), ..b.clone() };
                        self.equal(first, &only, true, on, span)
                    }
                    None => no,
                };
                let rest = self.terms.and([single, of_one]);
                let none = self.terms.and([empty, is_zero]);
                self.terms.or([none, rest])
            }
            (Kind::Object, Kind::Int | Kind::Bool) => no,
            (Kind::Array | Kind::Object, _) => {
                self.beyond(path, yes, span, "an object compared with a string");
                no
            }
            (Kind::Int | Kind::Bool | Kind::Text, _) => self.equal_kinds((kb, b), (ka, a), loose, path, span),
            _ => no,
        }
    }

    fn equal_texts(&mut self, a: &Sym, b: &Sym) -> TermId {
        let (Some((x, xs)), Some((y, ys))) = (&a.text, &b.text) else { return self.terms.bool(false) };
        if self.terms.ty(*x) == self.terms.ty(*y) {
            return self.terms.eq(*x, *y);
        }
        let mut holds = vec![];
        for text in xs.intersection(ys) {
            let (p, q) = (self.is_text(*x, text), self.is_text(*y, text));
            holds.push(self.terms.and([p, q]));
        }
        self.terms.or(holds)
    }

    // `_event`

    /// When the event that was taken in last is one of these.
    fn is_message(&mut self, these: impl Fn(&Message) -> bool) -> TermId {
        let Some(bound) = self.bound else { return self.terms.bool(false) };
        let all: Vec<u32> =
            (1..self.events.messages.len()).filter(|&n| these(&self.events.messages[n])).map(|n| n as u32).collect();
        let mut parts = vec![];
        for n in all {
            let (last, literal) = (self.terms.var(bound), self.event_literal(n));
            parts.push(self.terms.eq(last, literal));
        }
        self.terms.or(parts)
    }

    pub fn whole_event(&mut self, path: TermId, span: Span) -> Sym {
        let any = self.is_message(|_| true);
        let none = self.terms.not(any);
        let on = self.terms.and([path, any]);
        let fields = FIELDS.iter().map(|n| (n.to_string(), self.event_field(n, on, span))).collect();
        Sym {
            guards: BTreeMap::from([(Kind::Undefined, none), (Kind::Object, any)]),
            fields,
            shared: true,
            ..Sym::default()
        }
    }

    /// `_event.name` and so on.
    pub fn event_field(&mut self, field: &str, path: TermId, span: Span) -> Sym {
        let any = self.is_message(|_| true);
        let none = self.terms.not(any);
        self.fault(path, none);
        let exact = self.tree.events.is_some();
        let foreign = self.is_message(|m| m.source == Source::Outside && !(field == "name" && exact && m.name != "*"));
        let told: &dyn Fn(&Message) -> Option<String> = match field {
            "name" => &|m| Some(super::invoke::plain(&m.name).to_string()),
            "type" => &|m| {
                Some(match m.source {
                    Source::Internal => "internal".into(),
                    Source::Platform => "platform".into(),
                    Source::Outside | Source::Own => "external".into(),
                })
            },
            "sendid" => &|m| m.id.clone(),
            "origin" => &|m| (m.source == Source::Own).then(super::lower::location),
            "origintype" => &|m| (m.source == Source::Own).then(|| super::send::PROCESSORS[1].to_string()),
            "data" => {
                self.beyond(path, foreign, span, "data from outside");
                return match self.current.clone() {
                    Some(store) => self.read(&store),
                    None => self.constant(Kind::Undefined),
                };
            }
            "raw" => {
                let always = self.terms.bool(true);
                self.beyond(path, always, span, "`_event.raw`");
                return self.constant(Kind::Undefined);
            }
            "invokeid" => &|m| m.invoke.clone(),
            _ => return self.constant(Kind::Undefined),
        };
        if field != "type" {
            self.beyond(path, foreign, span, "what is not known of events from outside");
        }
        let texts: BTreeSet<Option<String>> = self.events.messages.iter().skip(1).map(told).collect();
        let mut result: Option<Sym> = None;
        for text in texts {
            let here = self.is_message(|m| told(m) == text);
            let value = match &text {
                Some(text) => self.text(text),
                None => self.constant(Kind::Undefined),
            };
            result = Some(match result {
                Some(other) => self.choose(here, value, other),
                None => value,
            });
        }
        result.unwrap_or_else(|| self.constant(Kind::Undefined))
    }
}
