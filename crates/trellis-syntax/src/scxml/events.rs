//! Which events there are.
//!
//! A descriptor matches an event by its first tokens, so all events with the same longest matching descriptor are alike: the
//! descriptors themselves stand for all names, and one more event for the names that only `*` matches. Events that nothing
//! matches change nothing, and are left out. In a chart that asks for `_event`, events of one name that differ in what can be
//! asked (where they come from, with which `sendid`) are different ones.
//!
//! From outside comes what `trellis:events` says, which is an assumption about the environment. If it says nothing, everything
//! that the chart mentions may come, what it raises or sends itself included: W3C lets anybody send any event. Only `done.…` and
//! `error.…` may not come, which W3C reserves for the platform.

use super::expr::{Expr, Node};
use super::invoke;
use super::tree::{Action, Delay, Kind, Tree};
use super::types::Shapes;

/// The event of an expression without a value.
pub const ERROR: &str = "error.execution";
/// The event of something sent to nobody.
pub const UNREACHABLE: &str = "error.communication";

/// Where an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Outside,
    /// `<raise>`, or sent to `#_internal`.
    Internal,
    Platform,
    /// Sent by the chart to itself.
    Own,
}

/// An event with all that is known of it before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub name: String,
    pub source: Source,
    pub id: Option<String>,
    /// The invoked chart that it comes from.
    pub invoke: Option<String>,
}

impl Message {
    pub fn new(name: &str, source: Source) -> Message {
        Message { name: name.into(), source, id: None, invoke: None }
    }
}

/// The events of a chart.
pub struct Events {
    /// The names. The first is `-`, for none; if some event stands for all those without a name here it is the last, `*`.
    pub names: Vec<String>,
    /// The same with all that is known; the first is none.
    pub messages: Vec<Message>,
    /// Those that may come from outside.
    pub outside: Vec<u32>,
    /// At how many places events are put into the internal queue.
    pub sites: usize,
    /// Does somebody ask for `_event`?
    pub told: bool,
    descriptors: Vec<String>,
}

/// The event that says that the state has come to its end.
pub fn done(tree: &Tree, s: usize) -> String {
    format!("done.state.{}", tree.states[s].name)
}

/// Collects the events: those that are written in the chart, and those whose names are computed, as far as they are known.
pub fn collect(tree: &Tree, shapes: &Shapes) -> Events {
    let descriptors: Vec<String> =
        tree.transitions.iter().filter_map(|t| t.events.as_ref()).flatten().cloned().collect();
    let mut told = false;
    let asks = |e: &Expr| matches!(&e.node, Node::Name(name) if name == "_event");
    let asked = tree.expressions().into_iter().chain(&tree.properties);
    asked.for_each(|e| e.visit(&mut |e| told |= asks(e)));
    // Who has sent something must be known to whoever looks at it first.
    told |= tree.invokes.iter().any(|i| !i.finalize.is_empty());
    // Nor comes what one has sent with a delay that has ended since.
    let late = |a: &&Action| matches!(a, Action::Send(s) if s.from.is_some() && !matches!(s.delay, Delay::Fixed(0)));
    told |= tree.actions().iter().any(late);

    // Where `_event` is asked for, also an event that no transition matches can be seen.
    let heard = |name: &str| told || descriptors.iter().any(|d| Tree::matches(d, name));

    let mut inside: Vec<Message> = vec![];
    let mut sent: Vec<Message> = vec![];
    for action in tree.actions() {
        match action {
            Action::Raise(event) => inside.push(Message::new(event, Source::Internal)),
            Action::Send(send) => {
                if let Node::Text(event) = &send.event.node {
                    let internal =
                        send.target.as_ref().is_some_and(|t| matches!(&t.node, Node::Text(t) if t == "#_internal"));
                    match &send.target {
                        Some(_) if internal => {
                            inside.push(Message { id: send.id.clone(), ..Message::new(event, Source::Internal) })
                        }
                        None => {
                            let invoke = send.from.map(|k| tree.invokes[k - 1].id.clone());
                            sent.push(Message { id: send.id.clone(), invoke, ..Message::new(event, Source::Own) });
                        }
                        Some(_) => {}
                    }
                }
            }
            _ => {}
        }
    }
    for (n, i) in tree.invokes.iter().enumerate() {
        inside.push(Message::new(&invoke::event_of(n + 1, ERROR), Source::Platform));
        sent.push(invoke::done(i));
        if n == 0 {
            sent.push(Message::new(invoke::NOBODY, Source::Own));
        }
    }
    for s in (1..tree.states.len()).filter(|&s| !tree.is_session(s) && !tree.states[s].name.starts_with('@')) {
        let ends = tree.states[s].children.iter().any(|&c| tree.states[c].kind == Kind::Final);
        if ends || tree.is_parallel(s) {
            inside.push(Message::new(&done(tree, s), Source::Platform));
        }
    }
    inside.push(Message::new(ERROR, Source::Platform));
    for message in &shapes.messages {
        if message.source == Source::Own { &mut sent } else { &mut inside }.push(message.clone());
    }
    inside.retain(|m| heard(&m.name) || (shapes.again && m.name == ERROR));
    sent.retain(|m| heard(&m.name) || m.name == invoke::NOBODY);

    let platform = |name: &str| matches!(name.split('.').next(), Some("done" | "error"));
    let mut outside: Vec<String> = match &tree.events {
        Some(names) => names.clone(),
        None => {
            let names = descriptors.iter().cloned();
            let own = inside.iter().chain(&sent).map(|m| m.name.clone());
            names
                .chain(own)
                .chain(told.then(String::new))
                .filter(|name| !platform(name) && !name.starts_with('@'))
                .collect()
        }
    };
    outside.retain(|name| heard(name));

    let none = Message::new("-", Source::Outside);
    let mut events =
        Events { names: vec![], messages: vec![none], outside: vec![], sites: inside.len(), told, descriptors };
    let from_outside = outside.iter().filter(|name| !name.is_empty()).map(|name| Message::new(name, Source::Outside));
    for message in from_outside.chain(inside).chain(sent) {
        if events.find(&message).is_none() {
            let message = events.key(&message);
            events.messages.push(message);
        }
    }
    for name in outside.iter().filter(|name| !name.is_empty()) {
        let n = events.find(&Message::new(name, Source::Outside)).unwrap_or_default();
        if !events.outside.contains(&n) {
            events.outside.push(n);
        }
    }
    if outside.iter().any(String::is_empty) {
        events.outside.push(events.messages.len() as u32);
        events.messages.push(Message::new("*", Source::Outside));
    }
    events.names = events.messages.iter().map(|m| m.name.clone()).collect();
    events
}

impl Events {
    /// Does one of the descriptors match the event?
    pub fn matches(&self, descriptors: &[String], n: u32) -> bool {
        let name = match self.names[n as usize].as_str() {
            // Nobody mentions it; only the empty descriptor matches.
            "*" => " ",
            name => name,
        };
        descriptors.iter().any(|d| Tree::matches(d, name))
    }

    /// Does anybody listen?
    pub fn heard(&self, name: &str) -> bool {
        self.told || self.descriptors.iter().any(|d| Tree::matches(d, name))
    }

    /// What of a message makes a difference.
    fn key(&self, m: &Message) -> Message {
        if self.told { m.clone() } else { Message::new(&m.name, Source::Own) }
    }

    /// The number of a message.
    pub fn find(&self, m: &Message) -> Option<u32> {
        let key = self.key(m);
        self.messages.iter().skip(1).position(|m| *m == key && m.name != "*").map(|n| n as u32 + 1)
    }

    /// Names for the literals of an enumeration: no two are the same.
    pub fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = vec![];
        for (n, m) in self.messages.iter().enumerate() {
            let taken = labels.contains(&m.name);
            labels.push(if taken { format!("{} ({n})", m.name) } else { m.name.clone() });
        }
        labels
    }
}
