//! Lossy channel systems: processes with finitely many locations, which send messages to each other through channels that are queues, have no
//! bound, and may lose any message at any time (Abdulla and Jonsson 1993).
//!
//! They are well-structured: larger is what is at the same locations and has, in each channel, a word of which the smaller one's is a subword (its
//! letters in the same order, perhaps with others between them); by Higman's lemma that is a well-quasi-order. A [`Pattern`] stands for all
//! states that are at least it, and may leave locations open. [`pre()`] is exact; [`interpret`] is what everything is held against.

pub mod interpret;

use std::fmt::Write;

/// Positions in lists.
pub type Process = usize;
/// A location of a process.
pub type Location = u32;
/// A channel.
pub type Channel = usize;
/// A message of a channel.
pub type Message = u32;
/// A rule.
pub type RuleId = u32;

/// What has a name, and whose values have names: a process and its locations, a channel and its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// The names of its values.
    pub values: Vec<String>,
}

/// What is done with a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A message is put at the end.
    Send(Channel, Message),
    /// A message is taken from the front, where it must be.
    Receive(Channel, Message),
}

/// Some processes move together, and use channels, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it is called.
    pub name: Option<String>,
    /// Who moves, from where to where; each process at most once.
    pub moves: Vec<(Process, Location, Location)>,
    /// What is done with channels. Nothing is both sent to and received from the same one.
    pub ops: Vec<Op>,
    /// Where it stands in the file.
    pub line: u32,
}

/// A state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// Where each process is.
    pub at: Vec<Location>,
    /// What is in each channel, the front first.
    pub words: Vec<Vec<Message>>,
}

/// All states that are at least this.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pattern {
    /// Where each process is, if that is said.
    pub at: Vec<Option<Location>>,
    /// What each channel contains at least, as a subword.
    pub words: Vec<Vec<Message>>,
}

/// A system, and what must never be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// The processes.
    pub processes: Vec<Named>,
    /// The channels.
    pub channels: Vec<Named>,
    /// What may happen, beside losses.
    pub rules: Vec<Rule>,
    /// Where it starts.
    pub initial: State,
    /// What must never be reached.
    pub target: Vec<Pattern>,
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The message at this place of a channel is lost.
    Lose(Channel, usize),
    /// A rule is taken.
    Take(RuleId),
}

/// A set of states: those that are left of the start when messages are lost, and the regions. A state is in a region if it is at least none of
/// its patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The regions.
    pub regions: Vec<Vec<Pattern>>,
}

/// Are all letters of a word in another one, in this order?
pub fn is_subword(small: &[Message], large: &[Message]) -> bool {
    let mut left = large.iter();
    small.iter().all(|a| left.any(|b| a == b))
}

impl Pattern {
    /// Is whatever is at least the other at least this?
    pub fn leq(&self, other: &Pattern) -> bool {
        let at = self.at.iter().zip(&other.at).all(|(a, b)| a.is_none() || a == b);
        at && self.words.iter().zip(&other.words).all(|(a, b)| is_subword(a, b))
    }

    /// Is the state at least this?
    pub fn is_below(&self, state: &State) -> bool {
        let at = self.at.iter().zip(&state.at).all(|(a, b)| a.is_none_or(|a| a == *b));
        at && self.words.iter().zip(&state.words).all(|(a, b)| is_subword(a, b))
    }
}

/// The smallest states from which the rule leads to at least `m`, when messages may be lost before and after it; nothing if there are none.
///
/// A message that is received must have been in front. One that is sent need not have been there; if the word that is asked for does not end with
/// it, it has been lost.
pub fn pre(rule: &Rule, m: &Pattern) -> Option<Pattern> {
    let mut before = m.clone();
    for (p, from, to) in &rule.moves {
        if m.at[*p].is_some_and(|at| at != *to) {
            return None;
        }
        before.at[*p] = Some(*from);
    }
    for op in rule.ops.iter().rev() {
        match op {
            Op::Receive(c, a) => before.words[*c].insert(0, *a),
            Op::Send(c, a) => {
                let word = &mut before.words[*c];
                word.pop_if(|last| last == a);
            }
        }
    }
    Some(before)
}

/// The patterns that are above no other.
pub fn minimal(all: impl IntoIterator<Item = Pattern>) -> Vec<Pattern> {
    let mut least: Vec<Pattern> = vec![];
    for p in all {
        if !least.iter().any(|l| l.leq(&p)) {
            least.retain(|l| !p.leq(l));
            least.push(p);
        }
    }
    least
}

impl System {
    /// The pattern of everything.
    pub fn anything(&self) -> Pattern {
        Pattern { at: vec![None; self.processes.len()], words: vec![vec![]; self.channels.len()] }
    }

    /// A word of a channel.
    pub fn word(&self, channel: Channel, word: &[Message]) -> String {
        let letters: Vec<&str> = word.iter().map(|a| self.channels[channel].values[*a as usize].as_str()).collect();
        letters.join(" ")
    }

    /// A pattern, as it is asked for: `Sender.wait, data >= m0 m1`.
    pub fn pattern(&self, m: &Pattern) -> String {
        let at = m.at.iter().zip(&self.processes);
        let mut parts: Vec<String> =
            at.filter_map(|(l, p)| Some(format!("{}.{}", p.name, p.values[(*l)? as usize]))).collect();
        for (c, word) in m.words.iter().enumerate().filter(|w| !w.1.is_empty()) {
            parts.push(format!("{} >= {}", self.channels[c].name, self.word(c, word)));
        }
        if parts.is_empty() { "anything".into() } else { parts.join(", ") }
    }

    /// What a rule does: `send: Sender.idle -> Sender.wait, data!m0`.
    pub fn describe(&self, rule: RuleId) -> String {
        let r = &self.rules[rule as usize];
        let mut out = r.name.as_ref().map_or_else(String::new, |n| format!("{n}: "));
        for (i, (p, from, to)) in r.moves.iter().enumerate() {
            let p = &self.processes[*p];
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(out, "{comma}{}.{} -> {}", p.name, p.values[*from as usize], p.values[*to as usize]);
        }
        for op in &r.ops {
            let (c, a, sign) = match op {
                Op::Send(c, a) => (c, a, '!'),
                Op::Receive(c, a) => (c, a, '?'),
            };
            let channel = &self.channels[*c];
            let _ = write!(out, ", {}{sign}{}", channel.name, channel.values[*a as usize]);
        }
        out
    }
}
