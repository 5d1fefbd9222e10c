//! A reference interpreter: W3C's Appendix D, "Algorithm for SCXML Interpretation", procedure by procedure, on the XML tree, with
//! sets of states and queues of events. It shares nothing with the front end, and does not try to be fast.
//!
//! Time is idealised: what a chart does takes none. What is sent with a delay is kept in the order of sending, with the time that
//! is left and the time since. Events that nobody listens to are not sent, unless the chart asks for `_event`: taking them in
//! would change nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::slice::from_ref;

use roxmltree::{Document, Node};

use crate::expression::{Fault, Names, V, Val, evaluate, truth};

/// An element that matters: its place in document order.
pub(crate) type Id = usize;

#[derive(Debug)]
pub struct Doc<'a> {
    pub(crate) nodes: Vec<Node<'a, 'a>>,
    /// For the document's number of a node, which element that is.
    ids: Vec<Id>,
    descriptors: Vec<String>,
    /// Does the chart ask for `_event`?
    told: bool,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub name: String,
    /// `internal`, `platform`, `external` (sent by the chart itself) or `outside`.
    source: &'static str,
    id: Option<String>,
    data: Val,
}

impl Event {
    pub fn outside(name: &str) -> Event {
        Event { name: name.into(), source: "outside", id: None, data: Val::Undefined }
    }
}

/// What a run has come to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    pub configuration: BTreeSet<Id>,
    pub history: BTreeMap<Id, Vec<Id>>,
    pub data: BTreeMap<String, Val>,
    queue: VecDeque<Event>,
    /// What the chart has sent to itself.
    pub external: VecDeque<Event>,
    pub delayed: Vec<Delayed>,
    pub running: bool,
    /// `_event`
    event: Option<Event>,
    /// Which states have been entered, with late binding.
    bound: BTreeSet<Id>,
    /// It has come to a value that there is none of in the front end.
    pub lost: bool,
    /// The id of the `<send>` that has failed.
    pub(crate) blame: Option<String>,
    /// The most events that have waited at once: those that somebody listens to; and with the errors to which nobody does.
    pub longest: (usize, usize),
    /// The same for the external queue, and for what is delayed.
    pub most: (usize, usize),
}

/// What is sent with a delay. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delayed {
    pub(crate) event: Event,
    pub(crate) id: String,
    pub(crate) left: u64,
    pub(crate) age: u64,
}

/// Where the next event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum From {
    Outside,
    Queue,
    Timer,
}

pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1.0),
        None => (text.strip_suffix('s')?, 1000.0),
    };
    number.parse::<f64>().ok().map(|n| (n * scale) as u64)
}

/// The macro-step did not come to its end.
#[derive(Debug)]
pub struct Diverges;

/// A transition, or what stands for one: the element it is, the state it is in, its targets.
#[derive(Debug, Clone, PartialEq)]
struct T {
    node: Option<Id>,
    source: Id,
    targets: Vec<Id>,
}

pub(crate) struct See<'d, 'a>(pub(crate) &'d Doc<'a>, pub(crate) &'d State);

impl Names for See<'_, '_> {
    fn data(&self, name: &str) -> Option<Val> {
        self.1.data.get(name).cloned()
    }

    fn event(&self, field: &str) -> V {
        let event = self.1.event.as_ref().ok_or(Fault::Error)?;
        let exact = field == "name" && self.0.nodes[0].has_attribute(("urn:trellis", "events"));
        if event.source == "outside" && field != "type" && !exact {
            return Err(Fault::Beyond);
        }
        let text = |s: &str| Ok(Val::Symbol(s.into()));
        match field {
            "name" => text(&event.name),
            "type" if event.source == "outside" => text("external"),
            "type" => text(event.source),
            "sendid" => Ok(event.id.clone().map_or(Val::Undefined, Val::Symbol)),
            "data" => Ok(event.data.clone()),
            field => panic!("_event.{field}"),
        }
    }

    fn is_in(&self, state: &str) -> bool {
        self.1.configuration.contains(&self.0.by_name(state))
    }
}

impl<'a> Doc<'a> {
    pub fn new(document: &'a Document<'a>) -> Doc<'a> {
        let nodes: Vec<Node> = document.root().descendants().filter(Node::is_element).collect();
        let last = document.root().descendants().count();
        let mut ids = vec![usize::MAX; last + 1];
        nodes.iter().enumerate().for_each(|(n, node)| ids[node.id().get_usize()] = n);
        let words = nodes.iter().filter(|n| n.tag_name().name() == "transition");
        let words = words.flat_map(|n| n.attribute("event").unwrap_or("").split_whitespace());
        let descriptors = words.map(String::from).collect();
        Doc { nodes, ids, descriptors, told: document.input_text().contains("_event") }
    }

    fn tag(&self, n: Id) -> &str {
        self.nodes[n].tag_name().name()
    }

    fn id_of(&self, node: Node) -> Id {
        self.ids[node.id().get_usize()]
    }

    pub fn by_name(&self, name: &str) -> Id {
        self.nodes.iter().position(|n| n.attribute("id") == Some(name) && n.tag_name().name() != "data").expect(name)
    }

    pub fn name(&self, n: Id) -> String {
        self.nodes[n].attribute("id").expect("a name").to_string()
    }

    fn children(&self, n: Id, tags: &[&str]) -> Vec<Id> {
        let children = self.nodes[n].children().filter(|c| c.is_element() && tags.contains(&c.tag_name().name()));
        children.map(|c| self.id_of(c)).collect()
    }

    fn parent(&self, n: Id) -> Id {
        self.id_of(self.nodes[n].parent_element().expect("a parent"))
    }

    fn child_states(&self, n: Id) -> Vec<Id> {
        self.children(n, &["state", "parallel", "final"])
    }

    fn is_compound(&self, n: Id) -> bool {
        self.tag(n) == "state" && !self.child_states(n).is_empty()
    }

    fn is_parallel(&self, n: Id) -> bool {
        self.tag(n) == "parallel"
    }

    fn is_atomic(&self, n: Id) -> bool {
        self.tag(n) == "final" || (self.tag(n) == "state" && self.child_states(n).is_empty())
    }

    fn is_history(&self, n: Id) -> bool {
        self.tag(n) == "history"
    }

    fn is_descendant(&self, a: Id, b: Id) -> bool {
        self.nodes[a] != self.nodes[b] && self.nodes[a].ancestors().any(|n| n == self.nodes[b])
    }

    /// `getProperAncestors`
    fn ancestors(&self, a: Id, until: Option<Id>) -> Vec<Id> {
        let mut all = vec![];
        if until.is_some_and(|b| a == b || self.is_descendant(b, a)) {
            return all;
        }
        for n in self.nodes[a].ancestors().skip(1).filter(Node::is_element) {
            let n = self.id_of(n);
            if Some(n) == until {
                break;
            }
            all.push(n);
        }
        all
    }

    fn targets_of(&self, node: Node) -> Vec<Id> {
        node.attribute("target").unwrap_or("").split_whitespace().map(|name| self.by_name(name)).collect()
    }

    fn transitions(&self, s: Id) -> Vec<T> {
        let all = self.children(s, &["transition"]);
        all.into_iter().map(|t| T { node: Some(t), source: s, targets: self.targets_of(self.nodes[t]) }).collect()
    }

    /// `state.initial.transition`
    fn initial(&self, s: Id) -> T {
        if let Some(&initial) = self.children(s, &["initial"]).first() {
            let t = self.children(initial, &["transition"])[0];
            return T { node: Some(t), source: s, targets: self.targets_of(self.nodes[t]) };
        }
        let targets = match self.nodes[s].attribute("initial") {
            Some(names) => names.split_whitespace().map(|name| self.by_name(name)).collect(),
            None => vec![self.child_states(s)[0]],
        };
        T { node: None, source: s, targets }
    }

    /// The transition of a history.
    fn default(&self, h: Id) -> T {
        self.transitions(h).remove(0)
    }

    // Events.

    pub fn heard(&self, event: &str) -> bool {
        self.told || self.descriptors.iter().any(|d| name_match(d, event))
    }

    /// Names of events to try from outside: those mentioned, longer ones, and one that nobody mentions.
    pub fn events(&self) -> Vec<String> {
        if let Some(names) = self.nodes[0].attribute(("urn:trellis", "events")) {
            return names.split_whitespace().map(String::from).collect();
        }
        let mut all = BTreeSet::from(["nobody.mentions.this".to_string()]);
        for d in &self.descriptors {
            let name = d.strip_suffix(".*").unwrap_or(d).to_string();
            if name != "*" {
                all.insert(format!("{name}.longer"));
                all.insert(name);
            }
        }
        let raised = self.nodes.iter().filter(|n| matches!(n.tag_name().name(), "raise" | "send"));
        // Anybody may send what the chart makes itself.
        all.extend(raised.filter_map(|n| n.attribute("event")).map(String::from));
        if self.nodes.iter().any(|n| n.has_attribute("eventexpr")) {
            all.extend(["e1".to_string(), "e2".to_string()]);
        }
        all.retain(|name| !name.starts_with("done.") && !name.starts_with("error."));
        all.remove("done");
        all.remove("error");
        all.into_iter().collect()
    }

    /// What all delays are multiples of that somebody may hear the end of.
    fn unit(&self) -> u64 {
        fn gcd(a: u64, b: u64) -> u64 {
            if b == 0 { a } else { gcd(b, a % b) }
        }
        let heard = |n: &&Node| n.tag_name().name() == "send" && self.heard(n.attribute("event").unwrap_or(""));
        let sends: Vec<&Node> = self.nodes.iter().filter(heard).collect();
        let mut all: Vec<&str> =
            sends.iter().filter_map(|n| n.attribute("delay").or(n.attribute("delayexpr"))).collect();
        if all.contains(&"d") {
            let values =
                self.nodes.iter().filter(|n| n.attribute("id") == Some("d") || n.attribute("location") == Some("d"));
            all.extend(values.filter_map(|n| n.attribute("expr")));
        }
        all.iter().filter_map(|t| milliseconds(t.trim_matches('\''))).fold(0, gcd).max(1)
    }

    /// What may come next, but for events from outside: from where, after how long, which event, and what is left then.
    pub fn own_events(&self, state: &State) -> Vec<(From, u64, Event, State)> {
        let mut all = vec![];
        if let Some(event) = state.external.front() {
            let mut then = state.clone();
            then.external.pop_front();
            all.push((From::Queue, 0, event.clone(), then));
        }
        let Some(least) = state.delayed.iter().map(|d| d.left).min() else { return all };
        if !state.external.is_empty() && least > 0 {
            return all;
        }
        for (n, d) in state.delayed.iter().enumerate().filter(|(_, d)| d.left == least) {
            // Of two that were sent at the same moment the first comes first.
            if !state.delayed[..n].iter().any(|e| e.left == least && e.age == d.age) {
                let mut then = self.later(state, least);
                then.delayed.remove(n);
                all.push((From::Timer, least, d.event.clone(), then));
            }
        }
        all
    }

    /// How long it may take until something comes from outside.
    pub fn pauses(&self, state: &State) -> Vec<u64> {
        let least = state.delayed.iter().map(|d| d.left).min();
        match least.filter(|_| state.external.is_empty()) {
            Some(least) => (0..=least).step_by(self.unit() as usize).collect(),
            None => vec![0],
        }
    }

    /// The same, some time later.
    pub fn later(&self, state: &State, time: u64) -> State {
        let mut state = state.clone();
        for d in &mut state.delayed {
            (d.left, d.age) = (d.left - time, d.age + time);
        }
        state
    }

    // The run.

    pub fn start(&self) -> Result<State, Diverges> {
        let mut state = State {
            configuration: BTreeSet::new(),
            history: BTreeMap::new(),
            data: BTreeMap::new(),
            queue: VecDeque::new(),
            external: VecDeque::new(),
            delayed: vec![],
            running: true,
            event: None,
            bound: BTreeSet::new(),
            lost: false,
            blame: None,
            longest: (0, 0),
            most: (0, 0),
        };
        let late = self.nodes[0].attribute("binding") == Some("late");
        for n in self.nodes.iter().filter(|n| n.tag_name().name() == "data") {
            let outer = n.ancestors().nth(2).expect("a datamodel in something");
            if late && outer.tag_name().name() != "scxml" {
                state.data.insert(n.attribute("id").expect("a name").into(), Val::Undefined);
            } else {
                self.first_value(&mut state, *n);
            }
        }
        self.enter_states(&mut state, &[self.initial(0)]);
        self.macrostep(&mut state)?;
        Ok(state)
    }

    fn first_value(&self, state: &mut State, data: Node) {
        let value = match data.attribute("expr") {
            Some(e) => evaluate(e, &See(self, state)),
            None => Ok(Val::Undefined),
        };
        self.caught(state, &value);
        state.data.insert(data.attribute("id").expect("a name").into(), value.unwrap_or(Val::Undefined));
    }

    /// Raises the error, if it is one.
    pub(crate) fn caught<T>(&self, state: &mut State, result: &Result<T, Fault>) {
        match result {
            Ok(_) => {}
            Err(Fault::Error) => {
                let id = state.blame.take();
                self.enqueue(state, "error.execution", "platform", id, Val::Undefined);
            }
            Err(Fault::Beyond) => state.lost = true,
        }
    }

    /// What comes after an event.
    pub fn step(&self, state: &State, event: &Event) -> Result<State, Diverges> {
        let mut state = state.clone();
        assert!(state.running);
        state.event = self.told.then(|| event.clone());
        let enabled = self.select(&mut state, Some(&event.name));
        if !enabled.is_empty() {
            self.microstep(&mut state, &enabled);
        }
        self.macrostep(&mut state)?;
        Ok(state)
    }

    fn macrostep(&self, state: &mut State) -> Result<(), Diverges> {
        // A cycle is found by comparing with a state that is kept for longer and longer.
        let (mut count, mut kept) = (0_u32, state.clone());
        while state.running && !state.lost {
            count += 1;
            if (count > 1
                && (&state.configuration, &state.history, &state.data, &state.queue)
                    == (&kept.configuration, &kept.history, &kept.data, &kept.queue)
                && (&state.external, &state.delayed) == (&kept.external, &kept.delayed)
                && (&state.event, &state.bound) == (&kept.event, &kept.bound))
                || state.longest.1 > 40
                || state.external.len() > 40
                || state.delayed.len() > 40
                || state.queue.len() > 600
            {
                return Err(Diverges);
            }
            if count.is_power_of_two() {
                kept = state.clone();
            }
            let mut enabled = self.select(state, None);
            if enabled.is_empty() {
                let Some(event) = state.queue.pop_front() else { break };
                state.event = self.told.then(|| event.clone());
                enabled = self.select(state, Some(&event.name));
            }
            if !enabled.is_empty() {
                self.microstep(state, &enabled);
            }
        }
        state.queue.clear();
        Ok(())
    }

    pub(crate) fn enqueue(&self, state: &mut State, event: &str, source: &'static str, id: Option<String>, data: Val) {
        let event = self.event(event, source, id, data);
        state.queue.push_back(event);
        let heard = state.queue.iter().filter(|e| self.heard(&e.name)).count();
        let errors = state.queue.iter().filter(|e| self.heard(&e.name) || e.name == "error.execution").count();
        state.longest = (state.longest.0.max(heard), state.longest.1.max(errors));
    }

    /// An event, with what can be asked of it.
    pub(crate) fn event(&self, name: &str, source: &'static str, id: Option<String>, data: Val) -> Event {
        let (id, data) = if self.told { (id, data) } else { (None, Val::Undefined) };
        Event { name: name.into(), source, id, data }
    }

    pub(crate) fn holds(&self, state: &mut State, node: Node) -> bool {
        let Some(cond) = node.attribute("cond") else { return true };
        let value = evaluate(cond, &See(self, state));
        self.caught(state, &value);
        value.is_ok_and(|v| truth(&v))
    }

    fn select(&self, state: &mut State, event: Option<&str>) -> Vec<T> {
        let mut enabled: Vec<T> = vec![];
        let atomic: Vec<Id> = state.configuration.iter().copied().filter(|&s| self.is_atomic(s)).collect();
        for a in atomic {
            'path: for s in std::iter::once(a).chain(self.ancestors(a, None)) {
                for t in self.transitions(s) {
                    let node = self.nodes[t.node.expect("an element")];
                    let matches = match (node.attribute("event"), event) {
                        (None, None) => true,
                        (Some(words), Some(event)) => words.split_whitespace().any(|d| name_match(d, event)),
                        _ => false,
                    };
                    if matches && self.holds(state, node) {
                        if !enabled.contains(&t) {
                            enabled.push(t);
                        }
                        break 'path;
                    }
                }
            }
        }
        self.remove_conflicting(state, enabled)
    }

    fn remove_conflicting(&self, state: &State, enabled: Vec<T>) -> Vec<T> {
        let mut filtered: Vec<T> = vec![];
        for t1 in enabled {
            let mut preempted = false;
            let mut remove = vec![];
            for t2 in &filtered {
                let (one, two) = (self.exit_set(state, from_ref(&t1)), self.exit_set(state, from_ref(t2)));
                if one.intersection(&two).next().is_some() {
                    if self.is_descendant(t1.source, t2.source) {
                        remove.push(t2.clone());
                    } else {
                        preempted = true;
                        break;
                    }
                }
            }
            if !preempted {
                filtered.retain(|t| !remove.contains(t));
                filtered.push(t1);
            }
        }
        filtered
    }

    fn microstep(&self, state: &mut State, enabled: &[T]) {
        self.exit_states(state, enabled);
        for t in enabled {
            self.execute(state, t.node);
        }
        self.enter_states(state, enabled);
    }

    fn exit_set(&self, state: &State, transitions: &[T]) -> BTreeSet<Id> {
        let mut all = BTreeSet::new();
        for t in transitions.iter().filter(|t| !t.targets.is_empty()) {
            let domain = self.domain(state, t).expect("a domain");
            all.extend(state.configuration.iter().filter(|&&s| self.is_descendant(s, domain)));
        }
        all
    }

    fn exit_states(&self, state: &mut State, enabled: &[T]) {
        let exit = self.exit_set(state, enabled);
        for &s in exit.iter().rev() {
            for h in self.children(s, &["history"]) {
                let deep = self.nodes[h].attribute("type") == Some("deep");
                let of = |&s0: &Id| {
                    if deep { self.is_atomic(s0) && self.is_descendant(s0, s) } else { self.parent(s0) == s }
                };
                let value = state.configuration.iter().copied().filter(of).collect();
                state.history.insert(h, value);
            }
        }
        for &s in exit.iter().rev() {
            for block in self.children(s, &["onexit"]) {
                self.execute(state, Some(block));
            }
            state.configuration.remove(&s);
        }
    }

    fn enter_states(&self, state: &mut State, enabled: &[T]) {
        let mut e = Entry::default();
        for t in enabled {
            for &s in &t.targets {
                self.add_descendants(state, s, &mut e);
            }
            let domain = if t.source == 0 { Some(0) } else { self.domain(state, t) };
            for s in self.effective_targets(state, t) {
                self.add_ancestors(state, s, domain.expect("a domain"), &mut e);
            }
        }
        for &s in &e.enter {
            state.configuration.insert(s);
            if self.nodes[0].attribute("binding") == Some("late") && state.bound.insert(s) {
                for data in self.children(s, &["datamodel"]).into_iter().flat_map(|d| self.children(d, &["data"])) {
                    self.first_value(state, self.nodes[data]);
                }
            }
            for block in self.children(s, &["onentry"]) {
                self.execute(state, Some(block));
            }
            if e.default.contains(&s) {
                self.execute(state, self.initial(s).node);
            }
            if let Some(&content) = e.history_content.get(&s) {
                self.execute(state, Some(content));
            }
            if self.tag(s) == "final" {
                let parent = self.parent(s);
                if self.tag(parent) == "scxml" {
                    state.running = false;
                    continue;
                }
                let done = self.children(s, &["donedata"]).first().map(|&d| self.payload(state, self.nodes[d]));
                let done = done.unwrap_or(Ok(Val::Undefined));
                self.caught(state, &done);
                let name = format!("done.state.{}", self.name(parent));
                self.enqueue(state, &name, "platform", None, done.unwrap_or(Val::Undefined));
                let grandparent = self.parent(parent);
                if self.is_parallel(grandparent)
                    && self.child_states(grandparent).iter().all(|&c| self.is_in_final(state, c))
                {
                    let name = format!("done.state.{}", self.name(grandparent));
                    self.enqueue(state, &name, "platform", None, Val::Undefined);
                }
            }
        }
    }

    fn add_descendants(&self, state: &State, s: Id, e: &mut Entry) {
        if self.is_history(s) {
            let targets = match state.history.get(&s) {
                Some(value) => value.clone(),
                None => {
                    let default = self.default(s);
                    e.history_content.insert(self.parent(s), default.node.expect("an element"));
                    default.targets
                }
            };
            for &t in &targets {
                self.add_descendants(state, t, e);
            }
            for &t in &targets {
                self.add_ancestors(state, t, self.parent(s), e);
            }
            return;
        }
        e.enter.insert(s);
        if self.is_compound(s) {
            e.default.insert(s);
            let targets = self.initial(s).targets;
            for &t in &targets {
                self.add_descendants(state, t, e);
            }
            for &t in &targets {
                self.add_ancestors(state, t, s, e);
            }
        } else if self.is_parallel(s) {
            self.add_regions(state, s, e);
        }
    }

    fn add_ancestors(&self, state: &State, s: Id, until: Id, e: &mut Entry) {
        for a in self.ancestors(s, Some(until)) {
            e.enter.insert(a);
            if self.is_parallel(a) {
                self.add_regions(state, a, e);
            }
        }
    }

    fn add_regions(&self, state: &State, s: Id, e: &mut Entry) {
        for c in self.child_states(s) {
            if !e.enter.iter().any(|&s| self.is_descendant(s, c)) {
                self.add_descendants(state, c, e);
            }
        }
    }

    fn is_in_final(&self, state: &State, s: Id) -> bool {
        let children = self.child_states(s);
        if self.is_compound(s) {
            children.iter().any(|c| self.tag(*c) == "final" && state.configuration.contains(c))
        } else if self.is_parallel(s) {
            children.iter().all(|&c| self.is_in_final(state, c))
        } else {
            false
        }
    }

    fn domain(&self, state: &State, t: &T) -> Option<Id> {
        let targets = self.effective_targets(state, t);
        if targets.is_empty() {
            return None;
        }
        let internal = t.node.is_some_and(|n| self.nodes[n].attribute("type") == Some("internal"));
        if internal && self.is_compound(t.source) && targets.iter().all(|&s| self.is_descendant(s, t.source)) {
            return Some(t.source);
        }
        let above = self.ancestors(t.source, None).into_iter();
        let mut above = above.filter(|&a| self.is_compound(a) || self.tag(a) == "scxml");
        above.find(|&a| targets.iter().all(|&s| self.is_descendant(s, a)))
    }

    fn effective_targets(&self, state: &State, t: &T) -> Vec<Id> {
        let mut all = vec![];
        for &s in &t.targets {
            if !self.is_history(s) {
                all.push(s);
            } else if let Some(value) = state.history.get(&s) {
                all.extend(value);
            } else {
                all.extend(self.effective_targets(state, &self.default(s)));
            }
        }
        all
    }
}

#[derive(Default)]
struct Entry {
    enter: BTreeSet<Id>,
    default: BTreeSet<Id>,
    history_content: BTreeMap<Id, Id>,
}

/// An event descriptor matches by whole tokens.
fn name_match(descriptor: &str, event: &str) -> bool {
    if descriptor == "*" {
        return true;
    }
    let descriptor = descriptor.strip_suffix(".*").unwrap_or(descriptor);
    let (d, e): (Vec<&str>, Vec<&str>) = (descriptor.split('.').collect(), event.split('.').collect());
    d.len() <= e.len() && d[..] == e[..d.len()]
}
