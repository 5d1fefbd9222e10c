//! Lossy channel systems (`.lcs`), a small language of ours.
//!
//! ```text
//! channel data { m0 m1 }                 messages
//! process Sender {
//!   start idle;                          where it starts
//!   send: idle -> wait;                  a transition with a name
//!   wait -> wait data!m0;                sends
//!   wait -> idle ack?a0, data!m1;        receives and sends, in this order
//! }
//! initially data = m0 m1;                what is in a channel at the start, the front first
//! error Sender.wait, data >= m1 m0;      what must never be reached: a place, and messages in this order, perhaps with others between them
//! ```
//!
//! A transition with a name that several processes have is taken by all of these together, each taking one of its own with that name. Comments
//! are `# …` and `// …`.

use rustc_hash::FxHashMap;
use trellis_model::channel::{Channel, Location, Message, Named, Op, Pattern, Process, Rule, State, System};

use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::cursor::{Cursor, Reads, reads, unknown};
use crate::text::errors::Read;
use crate::text::tokens::{Tok, Token, cut, is_blank, name};

const PUNCTUATION: [&str; 12] = ["->", ">=", "{", "}", ":", ";", ",", "!", "?", ".", "=", "*"];

/// More rules come of names that are shared by too many transitions.
const MOST_RULES: usize = 100_000;

/// Reads a system. It may have no error in it.
pub fn parse(sources: &Sources, id: SourceId) -> Result<System, Vec<Diagnostic>> {
    let mut p = parser(sources, id);
    p.system();
    match p.cursor.errors.count() {
        0 => Ok(p.out),
        _ => Err(p.cursor.errors.finish()),
    }
}

/// Reads what must never be reached: `Sender.wait, data >= m1 m0`.
pub fn parse_target(sources: &Sources, id: SourceId, system: &System) -> Result<Pattern, Vec<Diagnostic>> {
    let mut p = parser(sources, id);
    p.out = system.clone();
    let target = p.pattern();
    if target.is_ok() && p.peek().tok != Tok::End {
        let _ = p.unexpected::<()>("`,` or the end");
    }
    match (target, p.cursor.errors.count()) {
        (Ok(target), 0) => Ok(target),
        _ => Err(p.cursor.errors.finish()),
    }
}

fn parser(sources: &Sources, id: SourceId) -> Parser<'_> {
    let tokens: Vec<Token<'_>> = cut(id, &sources.get(id).text, &PUNCTUATION, blank, |_, rest| name(rest, "_", "_"));
    let nothing = State { at: vec![], words: vec![] };
    let out = System { processes: vec![], channels: vec![], rules: vec![], initial: nothing, target: vec![] };
    Parser { cursor: Cursor::new(sources, tokens), out, taken: FxHashMap::default(), transitions: vec![] }
}

fn blank(text: &str) -> usize {
    let mut rest = text.trim_start_matches(is_blank);
    while rest.starts_with('#') || rest.starts_with("//") {
        rest = rest[rest.find('\n').unwrap_or(rest.len())..].trim_start_matches(is_blank);
    }
    text.len() - rest.len()
}

/// A transition of one process.
struct Transition<'a> {
    process: Process,
    name: Option<&'a str>,
    from: Location,
    to: Location,
    ops: Vec<Op>,
    span: Span,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    out: System,
    /// The names of processes and channels.
    taken: FxHashMap<&'a str, Span>,
    transitions: Vec<Transition<'a>>,
}

reads!(Parser<'a>);

impl<'a> Parser<'a> {
    fn system(&mut self) {
        while self.peek().tok != Tok::End && !self.errors.stopped() {
            let done = match self.peek().tok {
                Tok::Name("channel") => self.channel(),
                Tok::Name("process") => self.process(),
                Tok::Name("initially") => self.initially(),
                Tok::Name("error") => self.error(),
                _ => self.unexpected("`channel`, `process`, `initially` or `error`"),
            };
            if done.is_err() {
                self.recover();
            }
        }
        if self.errors.count() == 0 {
            if self.out.processes.is_empty() {
                let end = self.peek().span;
                let _ = self.fail::<()>(end, "there is no process");
                return;
            }
            let _ = self.rules();
        }
    }

    /// On to what begins with a word of its own.
    fn recover(&mut self) {
        self.bump();
        let begins = |t: Tok<'_>| matches!(t, Tok::Name("channel" | "process" | "initially" | "error") | Tok::End);
        while !begins(self.peek().tok) {
            self.bump();
        }
    }

    /// A name that no process and no channel has yet.
    fn new_name(&mut self, what: &str) -> Read<&'a str> {
        let (name, span) = self.cursor.name(what)?;
        if self.taken.insert(name, span).is_some() {
            return self.fail(span, format!("there is a process or a channel `{name}` already"));
        }
        Ok(name)
    }

    fn channel(&mut self) -> Read<()> {
        self.bump();
        let name = self.new_name("the name of a channel")?;
        self.require("{")?;
        let mut values: Vec<String> = vec![];
        while !self.take("}") {
            let (message, span) = self.cursor.name("a message, or `}`")?;
            if values.iter().any(|v| v == message) {
                return self.fail(span, format!("channel `{name}` has a message `{message}` already"));
            }
            values.push(message.into());
            self.take(",");
        }
        self.out.channels.push(Named { name: name.into(), values });
        self.out.initial.words.push(vec![]);
        Ok(())
    }

    fn process(&mut self) -> Read<()> {
        self.bump();
        let name = self.new_name("the name of a process")?;
        let process = self.out.processes.len();
        self.out.processes.push(Named { name: name.into(), values: vec![] });
        self.require("{")?;
        if !self.take("start") {
            return self.unexpected("`start` and the location in which the process starts");
        }
        let start = self.location(process)?;
        self.out.initial.at.push(start);
        self.require(";")?;
        while !self.take("}") {
            self.transition(process)?;
        }
        Ok(())
    }

    /// A location, a new one if its name is new.
    fn location(&mut self, process: Process) -> Read<Location> {
        let (name, _) = self.cursor.name("a location")?;
        let values = &mut self.out.processes[process].values;
        let at = values.iter().position(|v| v == name).unwrap_or_else(|| {
            values.push(name.into());
            values.len() - 1
        });
        Ok(at as Location)
    }

    fn transition(&mut self, process: Process) -> Read<()> {
        let span = self.peek().span;
        let name = match (self.peek().tok, self.ahead(1)) {
            (Tok::Name(name), Tok::P(":")) => {
                self.bump();
                self.bump();
                Some(name)
            }
            _ => None,
        };
        let from = self.location(process)?;
        self.require("->")?;
        let to = self.location(process)?;
        let ops = if self.is(";") { vec![] } else { self.list(Self::op)? };
        if !self.take(";") {
            return self.unexpected("`;`, or what is sent (`channel!message`) or received (`channel?message`)");
        }
        let span = span.to(self.last());
        self.transitions.push(Transition { process, name, from, to, ops, span });
        Ok(())
    }

    fn op(&mut self) -> Read<Op> {
        let channel = self.known_channel()?;
        let sends = match self.peek().tok {
            Tok::P("!") => true,
            Tok::P("?") => false,
            _ => return self.unexpected("`!` and the message that is sent, or `?` and the one that is received"),
        };
        self.bump();
        let message = self.message(channel)?;
        Ok(if sends { Op::Send(channel, message) } else { Op::Receive(channel, message) })
    }

    fn known_channel(&mut self) -> Read<Channel> {
        let (name, span) = self.cursor.name("a channel")?;
        match self.out.channels.iter().position(|c| c.name == name) {
            Some(c) => Ok(c),
            None => {
                let there_are = self.out.channels.iter().map(|c| c.name.as_str());
                let why = unknown("channel", name, span, there_are);
                self.errors.fail(why)
            }
        }
    }

    fn message(&mut self, channel: Channel) -> Read<Message> {
        let (name, span) = self.cursor.name("a message")?;
        let Named { name: of, values } = &self.out.channels[channel];
        match values.iter().position(|v| v == name) {
            Some(m) => Ok(m as Message),
            None => {
                let why = unknown(&format!("message of channel `{of}`"), name, span, values.iter().map(String::as_str));
                self.errors.fail(why)
            }
        }
    }

    /// `m0 m1`: one at least.
    fn word(&mut self, channel: Channel) -> Read<Vec<Message>> {
        let mut word = vec![self.message(channel)?];
        while matches!(self.peek().tok, Tok::Name(_)) {
            word.push(self.message(channel)?);
        }
        Ok(word)
    }

    fn initially(&mut self) -> Read<()> {
        self.bump();
        loop {
            let span = self.peek().span;
            let channel = self.known_channel()?;
            self.require("=")?;
            let word = self.word(channel)?;
            if !self.out.initial.words[channel].is_empty() {
                return self.fail(span, "it has been said already what is in this channel at the start");
            }
            self.out.initial.words[channel] = word;
            if !self.take(",") {
                return self.require(";");
            }
        }
    }

    fn error(&mut self) -> Read<()> {
        self.bump();
        let target = self.pattern()?;
        self.out.target.push(target);
        self.require(";")
    }

    fn pattern(&mut self) -> Read<Pattern> {
        let mut m = Pattern { at: vec![None; self.out.processes.len()], words: vec![vec![]; self.out.channels.len()] };
        loop {
            let (name, span) =
                self.cursor.name("a place (`Process.location`) or a channel (`channel >= message …`)")?;
            let process = self.out.processes.iter().position(|p| p.name == name);
            let channel = self.out.channels.iter().position(|c| c.name == name);
            match (process, channel) {
                (Some(p), _) => {
                    self.require(".")?;
                    let (place, at) = self.cursor.name("a location")?;
                    let values = &self.out.processes[p].values;
                    let Some(l) = values.iter().position(|v| v == place) else {
                        let why =
                            unknown(&format!("location of `{name}`"), place, at, values.iter().map(String::as_str));
                        return self.errors.fail(why);
                    };
                    if m.at[p].replace(l as Location).is_some_and(|before| before != l as Location) {
                        return self.fail(span, format!("`{name}` cannot be in two places at once"));
                    }
                }
                (_, Some(c)) => {
                    if !self.take(">=") {
                        return self.unexpected("`>=` and the messages that are in the channel, in this order");
                    }
                    if !m.words[c].is_empty() {
                        return self.fail(
                            span,
                            format!("channel `{name}` is here already: write all its messages in one word"),
                        );
                    }
                    m.words[c] = self.word(c)?;
                }
                _ => {
                    let names: Vec<String> =
                        self.out.processes.iter().chain(&self.out.channels).map(|n| n.name.clone()).collect();
                    let why = unknown("process and no channel", name, span, names.iter().map(String::as_str));
                    return self.errors.fail(why);
                }
            }
            if !self.take(",") {
                return Ok(m);
            }
        }
    }

    /// One rule for each transition without a name; for a name, one for each choice of a transition of every process that has it.
    fn rules(&mut self) -> Read<()> {
        let transitions = std::mem::take(&mut self.transitions);
        let mut done: Vec<&str> = vec![];
        for t in &transitions {
            let Some(name) = t.name else {
                self.rule(&[t])?;
                continue;
            };
            if done.contains(&name) {
                continue;
            }
            done.push(name);
            let mut choices: Vec<Vec<&Transition<'a>>> = vec![vec![]];
            for p in 0..self.out.processes.len() {
                let own: Vec<&Transition<'a>> =
                    transitions.iter().filter(|t| t.process == p && t.name == Some(name)).collect();
                if own.is_empty() {
                    continue;
                }
                if choices.len() * own.len() + self.out.rules.len() > MOST_RULES {
                    return self.fail(t.span, format!("`{name}` can happen in more than {MOST_RULES} ways"));
                }
                let mut next = vec![];
                for all in &choices {
                    for t in &own {
                        let mut all = all.clone();
                        all.push(*t);
                        next.push(all);
                    }
                }
                choices = next;
            }
            for c in choices {
                self.rule(&c)?;
            }
        }
        Ok(())
    }

    fn rule(&mut self, all: &[&Transition<'a>]) -> Read<()> {
        let ops: Vec<Op> = all.iter().flat_map(|t| t.ops.iter().copied()).collect();
        let sent = |c: Channel| ops.iter().any(|op| matches!(op, Op::Send(to, _) if *to == c));
        let both = ops.iter().find_map(|op| match op {
            Op::Receive(c, _) if sent(*c) => Some(*c),
            _ => None,
        });
        if let Some(c) = both {
            let name = self.out.channels[c].name.clone();
            let why = Diagnostic::error(all[0].span, format!("this both sends to `{name}` and receives from it"))
                .help("take two transitions, with a location between them");
            return self.errors.fail(why);
        }
        let line = self.sources.line_col(all[0].span).0 as u32;
        let moves = all.iter().map(|t| (t.process, t.from, t.to)).collect();
        self.out.rules.push(Rule { name: all[0].name.map(str::to_string), moves, ops, line });
        Ok(())
    }
}
