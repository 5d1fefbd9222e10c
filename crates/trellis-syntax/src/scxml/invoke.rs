//! `<invoke>`: charts that run beside the one that starts them, as regions of one chart.
//!
//! A chart that is invoked (written inside `<content>`) becomes a region of its own, beside the chart itself: not running, or running. Its states,
//! data and events have names of their own (`ID.state`; events begin with `@` and a number, so that nobody else reacts to them). It starts where
//! W3C says: at the end of the macro-step in which its state was entered and not left; it is cancelled when that state is left, and its `<onexit>` is
//! done then, but what it sends to its parent is not heard any more; when it comes to its end it says so (`done.invoke.ID`).
//!
//! **Turns.** W3C leaves open who is faster. Here all charts take turns: events are taken in the order in which they were sent, whoever they are for,
//! and eventless transitions of all charts are taken together. That is an assumption ([`Tree::invokes`] is not empty), and is told with proofs.
//!
//! What this deliberately does not do, and refuses by name: charts in other files (`src`), computed content, charts within charts, scripts and
//! late binding in them, events with computed names from or to them.

use trellis_expr::StmtId;

use super::events::{Message, Source};
use super::expr::{Expr, Node};
use super::lower::Lower;
use super::read::{Names, Raw, RawInvoke};
use super::send::{Limit, PROCESSORS};
use super::tree::{Action, Block, Invoke, Kind, Payload, Send, State, Target, Tree};
use super::value;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::Errors;

/// System variables, which are everybody's.
const SYSTEM: [&str; 4] = ["_event", "_sessionid", "_ioprocessors", "_name"];

/// What the events of an invoked chart begin with.
pub fn prefix(k: usize) -> String {
    format!("@{k}")
}

/// An event of an invoked chart.
pub fn event_of(k: usize, name: &str) -> String {
    if name.is_empty() { prefix(k) } else { format!("{}.{name}", prefix(k)) }
}

/// The name of an event without whose it is.
pub fn plain(name: &str) -> &str {
    match name.strip_prefix('@') {
        Some(rest) => rest.split_once('.').map_or("", |r| r.1),
        None => name,
    }
}

fn state(name: String, kind: Kind, parent: usize, span: Span) -> State {
    State {
        name,
        kind,
        parent,
        end: 0,
        children: vec![],
        histories: vec![],
        entry: vec![],
        exit: vec![],
        transitions: vec![],
        initial: vec![],
        initial_content: vec![],
        done: Payload::None,
        span,
    }
}

/// Puts the charts that are invoked beside the one that invokes them.
pub fn join(raw: Raw, errors: &mut Errors) -> Raw {
    if raw.invokes.is_empty() {
        return raw;
    }
    let Raw { mut tree, initials, targets, defaults, invokes } = raw;
    let span = tree.states[0].span;
    let ids: Vec<String> = invokes.iter().map(|i| i.id.clone()).collect();
    let refuse = |errors: &mut Errors, span: Span, what: &str| {
        errors.push(Diagnostic::error(
            span,
            format!("{what} is not supported in charts that invoke others, or in those"),
        ));
    };
    for block in blocks(&mut tree) {
        towards(block, &ids);
    }
    let eventless = tree.transitions.iter().filter(|t| t.events.is_none()).filter_map(|t| t.cond.as_ref());
    for cond in eventless {
        if asks_event(cond) {
            refuse(errors, cond.span, "`_event` where there need be no event");
        }
    }
    // The root, everything beside each other, the chart itself.
    let mut states = vec![
        state(tree.states[0].name.clone(), Kind::Root, 0, span),
        state("@sessions".into(), Kind::Parallel, 0, span),
    ];
    states[0].children.push(1);
    let mut all = Raw { initials: vec![None, None], targets, defaults, ..Raw::default() };
    let place = |s: usize| s + 2;
    for (s, mut one) in std::mem::take(&mut tree.states).into_iter().enumerate() {
        one.parent = if s == 0 { 1 } else { place(one.parent) };
        one.end += 2;
        one.children.iter_mut().for_each(|c| *c += 2);
        if s == 0 {
            (one.name, one.kind) = ("@main".into(), Kind::State);
        }
        states.push(one);
    }
    states[1].children.push(2);
    all.initials.extend(initials);
    tree.transitions.iter_mut().for_each(|t| t.source += 2);
    tree.histories.iter_mut().for_each(|h| h.parent += 2);
    tree.data.iter_mut().for_each(|d| d.state += 2);
    for (n, invoke) in invokes.into_iter().enumerate() {
        let k = n + 1;
        let RawInvoke { state: inside, id, idlocation, processor, params, autoforward, finalize, chart, span } = invoke;
        let Raw { tree: mut child, initials, targets, defaults, invokes } = *chart;
        if let Some(inner) = invokes.first() {
            refuse(errors, inner.span, "<invoke> in a chart that is invoked");
        }
        if !child.script.is_empty() {
            refuse(errors, span, "<script> in a chart that is invoked");
        }
        if child.late {
            refuse(errors, span, "binding=\"late\" in a chart that is invoked");
        }
        own_names(&mut child, k, &id, errors);
        let region = states.len();
        let (off, run) = (region + 1, region + 2);
        let (first_transition, first_history) = (tree.transitions.len(), tree.histories.len());
        let mut outer = state(format!("@{id}"), Kind::State, 1, span);
        outer.children = vec![off, run];
        outer.initial = vec![];
        states.push(outer);
        let mut idle = state(format!("@{id} off"), Kind::State, region, span);
        idle.end = off + 1;
        states.push(idle);
        all.initials.extend([None, None]);
        for (s, mut one) in std::mem::take(&mut child.states).into_iter().enumerate() {
            one.parent = if s == 0 { region } else { one.parent + run };
            one.end += run;
            one.children.iter_mut().for_each(|c| *c += run);
            one.transitions.iter_mut().for_each(|t| *t += first_transition);
            one.histories.iter_mut().for_each(|h| *h += first_history);
            if s == 0 {
                (one.name, one.kind) = (format!("@{id} runs"), Kind::State);
            }
            states.push(one);
        }
        let own = |names: Names| -> Names { names.into_iter().map(|(n, span)| (format!("{id}.{n}"), span)).collect() };
        all.initials.extend(initials.into_iter().map(|names| names.map(own)));
        all.targets.extend(targets.into_iter().map(own));
        all.defaults.extend(defaults.into_iter().map(own));
        states[region].end = states.len();
        states[1].children.push(region);
        tree.transitions.extend(child.transitions.into_iter().map(|mut t| {
            t.source += run;
            t
        }));
        tree.histories.extend(child.histories.into_iter().map(|mut h| {
            h.parent += run;
            h
        }));
        tree.data.extend(child.data.into_iter().map(|mut d| {
            d.state += run;
            d
        }));
        let params = params.into_iter().map(|(name, e)| (variable(k, &name), e)).collect();
        let state = place(inside);
        tree.invokes.push(Invoke { state, id, idlocation, processor, params, autoforward, finalize, region, off, run });
    }
    let count = states.len();
    (states[0].end, states[1].end) = (count, count);
    tree.states = states;
    tree.main = 2;
    all.tree = tree;
    all
}

/// A variable of an invoked chart.
fn variable(k: usize, name: &str) -> String {
    format!("${k}${name}")
}

fn asks_event(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= matches!(&e.node, Node::Name(name) if name == "_event"));
    found
}

/// All executable content.
fn blocks(tree: &mut Tree) -> Vec<&mut Block> {
    let mut all: Vec<&mut Block> = vec![];
    for s in &mut tree.states {
        all.extend(s.entry.iter_mut().chain(s.exit.iter_mut()));
        all.push(&mut s.initial_content);
    }
    all.extend(tree.histories.iter_mut().map(|h| &mut h.content));
    all.extend(tree.transitions.iter_mut().map(|t| &mut t.content));
    all.push(&mut tree.script);
    all
}

/// All elements of content, what is inside of others included.
fn each(block: &mut Block, f: &mut dyn FnMut(&mut Action)) {
    for action in block {
        f(action);
        match action {
            Action::If { branches, otherwise, .. } => {
                branches.iter_mut().for_each(|(_, block)| each(block, f));
                each(otherwise, f);
            }
            Action::Foreach { body, .. } => each(body, f),
            _ => {}
        }
    }
}

/// What is sent to a chart that is invoked.
fn towards(block: &mut Block, ids: &[String]) {
    each(block, &mut |action| {
        let Action::Send(send) = action else { return };
        let target = match send.target.as_ref().map(|t| &t.node) {
            Some(Node::Text(target)) => target.strip_prefix("#_"),
            _ => None,
        };
        let Some(k) = target.and_then(|t| ids.iter().position(|id| id == t)) else { return };
        if let Node::Text(event) = &send.event.node {
            let event = event_of(k + 1, event);
            send.event.node = Node::Text(event);
            (send.to, send.target) = (Some(k + 1), None);
        }
    });
}

/// Everything in an invoked chart gets names of its own.
fn own_names(tree: &mut Tree, k: usize, id: &str, errors: &mut Errors) {
    let mut wrong: Vec<(Span, &str)> = vec![];
    tree.states.iter_mut().skip(1).for_each(|s| s.name = format!("{id}.{}", s.name));
    tree.histories.iter_mut().for_each(|h| h.name = format!("{id}.{}", h.name));
    for t in &mut tree.transitions {
        t.events.iter_mut().flatten().for_each(|d| *d = event_of(k, d));
        if let Some(cond) = &mut t.cond {
            if t.events.is_none() && asks_event(cond) {
                wrong.push((cond.span, "`_event` where there need be no event"));
            }
            rename(cond, k, id, &mut wrong);
        }
    }
    for d in &mut tree.data {
        d.name = variable(k, &d.name);
        if let Some(e) = &mut d.expr {
            rename(e, k, id, &mut wrong);
        }
    }
    for s in &mut tree.states {
        payload(&mut s.done, k, id, &mut wrong);
    }
    for block in blocks(tree) {
        each(block, &mut |action| match action {
            Action::Assign { to, expr, .. } => {
                rename(to, k, id, &mut wrong);
                rename(expr, k, id, &mut wrong);
            }
            Action::Declare(name) => *name = variable(k, name),
            Action::If { branches, .. } => branches.iter_mut().for_each(|(c, _)| rename(c, k, id, &mut wrong)),
            Action::Raise(event) => *event = event_of(k, event),
            Action::Send(send) => sent(send, k, id, &mut wrong),
            Action::Cancel(e) => match &mut e.node {
                Node::Text(name) => *name = event_of(k, name),
                _ => wrong.push((e.span, "a computed `sendid`")),
            },
            Action::Foreach { array, item, index, .. } => {
                rename(array, k, id, &mut wrong);
                item.iter_mut().chain(index).for_each(|name| *name = variable(k, name));
            }
            Action::Log(e) => rename(e, k, id, &mut wrong),
        });
    }
    for (span, what) in wrong {
        errors.push(Diagnostic::error(span, format!("{what} is not supported in a chart that is invoked")));
    }
}

fn payload(data: &mut Payload, k: usize, id: &str, wrong: &mut Vec<(Span, &str)>) {
    match data {
        Payload::None => {}
        Payload::Fields(fields) => fields.iter_mut().for_each(|(_, e)| rename(e, k, id, wrong)),
        Payload::Content(e) => rename(e, k, id, wrong),
    }
}

fn sent(send: &mut Send, k: usize, id: &str, wrong: &mut Vec<(Span, &str)>) {
    payload(&mut send.data, k, id, wrong);
    for e in [&mut send.processor, &mut send.idlocation].into_iter().flatten() {
        rename(e, k, id, wrong);
    }
    if let super::tree::Delay::Computed(e) = &mut send.delay {
        rename(e, k, id, wrong);
    }
    if let Some(name) = &mut send.id {
        *name = event_of(k, name);
    }
    let Node::Text(event) = &mut send.event.node else {
        return wrong.push((send.event.span, "an event with a computed name"));
    };
    match send.target.as_ref().map(|t| &t.node) {
        None => *event = event_of(k, event),
        Some(Node::Text(target)) if target == "#_internal" => *event = event_of(k, event),
        Some(Node::Text(target)) if target == "#_parent" => (send.from, send.target) = (Some(k), None),
        Some(_) => wrong.push((send.span, "another target than `#_parent`")),
    }
}

/// Names of variables and states in an expression.
fn rename(e: &mut Expr, k: usize, id: &str, wrong: &mut Vec<(Span, &str)>) {
    let span = e.span;
    match &mut e.node {
        Node::Name(name) if name == "_name" => wrong.push((span, "`_name`")),
        Node::Name(name) if !SYSTEM.contains(&name.as_str()) => *name = variable(k, name),
        Node::In(name) => *name = format!("{id}.{name}"),
        Node::Member(_, field) if field == "sendid" => wrong.push((span, "`sendid`")),
        _ => {}
    }
    e.node.parts_mut().into_iter().for_each(|e| rename(e, k, id, wrong));
}

impl Tree {
    /// The outermost states of the chart and of those that it invokes.
    pub fn is_session(&self, s: usize) -> bool {
        s == self.main || self.invokes.iter().any(|i| i.run == s)
    }

    /// In which chart a state is: 0 is the one that invokes the others.
    pub fn session(&self, s: usize) -> usize {
        let within = |i: &Invoke| s == i.region || self.below(i.region).contains(&s);
        self.invokes.iter().position(within).map_or(0, |n| n + 1)
    }
}

impl Lower<'_> {
    /// Something of the chart that a state belongs to.
    pub fn of<T>(&mut self, s: usize, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.session, self.tree.session(s));
        let done = f(self);
        self.session = before;
        done
    }

    /// Variables for those that are to be started, and for those that nobody hears.
    pub fn declare_invokes(&mut self) {
        let tree = self.tree;
        for i in &tree.invokes {
            let pending = self.declare(&format!("{} is to start", i.id), trellis_expr::Type::Bool, true);
            let muted = self.declare(&format!("{} is cancelled", i.id), trellis_expr::Type::Bool, true);
            self.invokes.push((pending, muted));
        }
    }

    fn runs(&mut self, k: usize) -> trellis_expr::TermId {
        self.active(self.tree.invokes[k - 1].run)
    }

    /// A state that invokes charts is entered: they are to start.
    pub fn invoke_later(&mut self, s: usize) -> StmtId {
        let mut parts = vec![];
        for k in (1..=self.tree.invokes.len()).filter(|k| self.tree.invokes[k - 1].state == s).collect::<Vec<_>>() {
            let yes = self.terms.bool(true);
            parts.push(self.terms.assign(self.invokes[k - 1].0, yes));
        }
        self.terms.seq(parts)
    }

    /// A state that invokes charts is left: they are cancelled.
    pub fn cancel_invoked(&mut self, s: usize) -> StmtId {
        let tree = self.tree;
        let mut parts = vec![];
        for (n, i) in tree.invokes.iter().enumerate().filter(|(_, i)| i.state == s) {
            let (pending, muted) = self.invokes[n];
            let (yes, no) = (self.terms.bool(true), self.terms.bool(false));
            parts.push(self.terms.assign(pending, no));
            let body = [
                self.terms.assign(muted, yes),
                self.exit_children(i.run),
                self.terms.assign(muted, no),
                self.set_active(i.off, true),
                self.purge(n + 1),
            ];
            let (body, runs, skip) = (self.terms.seq(body), self.runs(n + 1), self.terms.skip());
            parts.push(self.terms.branch(runs, body, skip));
        }
        self.terms.seq(parts)
    }

    /// Nothing of what was sent to an invoked chart, or by it to itself, will come.
    fn purge(&mut self, k: usize) -> StmtId {
        let mut parts = vec![self.cancel_events(&format!("{}.", prefix(k)), &self.tree.invokes[k - 1].id.clone())];
        let own: Vec<u32> = (1..self.events.names.len() as u32)
            .filter(|&n| self.events.names[n as usize].starts_with(&format!("{}.", prefix(k))))
            .collect();
        let nobody = self.events.names.iter().position(|n| n == NOBODY).map(|n| n as u32);
        let Some(nobody) = nobody else { return self.terms.seq(parts) };
        let slots: Vec<_> = self.queue.iter().chain(&self.outbox.queue).map(|slot| slot.event).collect();
        for slot in slots {
            let mut is = vec![];
            for &n in &own {
                let (place, literal) = (self.terms.var(slot), self.event_literal(n));
                is.push(self.terms.eq(place, literal));
            }
            let (is, nothing, skip) = (self.terms.or(is), self.event_literal(nobody), self.terms.skip());
            let clear = self.terms.assign(slot, nothing);
            parts.push(self.terms.branch(is, clear, skip));
        }
        self.terms.seq(parts)
    }

    /// The outermost final state of an invoked chart is entered: it ends, and says so.
    pub fn ends_invoked(&mut self, s: usize) -> StmtId {
        let tree = self.tree;
        let Some(n) = tree.invokes.iter().position(|i| i.run == tree.states[s].parent) else {
            return self.terms.skip();
        };
        let i = &tree.invokes[n];
        let mut parts: Vec<StmtId> = tree.states[s].exit.iter().map(|b| self.block(b)).collect();
        let (data, outcome) = self.evaluating(|l| l.payload(&tree.states[s].done));
        let message = done(i);
        if let Some(number) = self.number_of(&message) {
            let say = self.append(&self.outbox.queue.clone(), number, &data, Limit::External);
            let say = self.when_within(outcome, say);
            parts.push(say);
        }
        parts.push(self.set_active(s, false));
        parts.push(self.set_active(i.off, true));
        parts.push(self.purge(n + 1));
        self.terms.seq(parts)
    }

    /// An invoked chart starts: data first, then its configuration. What may start now, and how.
    pub fn starts(&mut self) -> Vec<(trellis_expr::TermId, StmtId)> {
        let tree = self.tree;
        let mut all = vec![];
        for (n, i) in tree.invokes.iter().enumerate() {
            let (pending, _) = self.invokes[n];
            let no = self.terms.bool(false);
            let started = self.terms.assign(pending, no);
            let always = self.terms.bool(true);
            let ((ready, params, told), outcome) = self.evaluating(|l| {
                let ready = match &i.processor {
                    Some(e) => {
                        let known: Vec<_> = l.texts(e).into_iter().filter(|(t, _)| is_scxml(t)).map(|t| t.1).collect();
                        l.terms.or(known)
                    }
                    None => always,
                };
                let unknown = l.terms.not(ready);
                l.fault(always, unknown);
                let params: Vec<_> = i.params.iter().map(|(name, e)| (name.clone(), l.eval(e, always))).collect();
                let told = match &i.idlocation {
                    Some(to) => {
                        let id = l.text(&i.id);
                        l.put_into(to, id, false)
                    }
                    None => l.terms.skip(),
                };
                (ready, params, told)
            });
            let _ = ready;
            let mut parts = vec![told];
            for d in tree.data.iter().filter(|d| tree.session(d.state) == n + 1) {
                let given = params.iter().find(|(name, _)| *name == d.name && tree.is_session(d.state));
                parts.push(match (given, self.store(&d.name).cloned()) {
                    (Some((name, value)), Some(store)) => self.put(name, &store, value),
                    _ => self.of(i.run, |l| l.first_value(d)),
                });
            }
            parts.push(self.descend(i.region, &[Target::State(i.run)]));
            let body = self.terms.seq(parts);
            let (body, fails) = self.when_known(outcome, body);
            let mut parts = vec![started, body];
            if let (true, Some(failed)) = (fails, self.failed) {
                parts.push(self.terms.assign(failed, no));
            }
            let (is, stmt) = (self.terms.var(pending), self.terms.seq(parts));
            all.push((is, stmt));
        }
        all
    }

    /// An event has been taken in: what invoked charts have to do with that.
    pub fn taken_in(&mut self) -> StmtId {
        let tree = self.tree;
        let mut parts = vec![];
        for (n, i) in tree.invokes.iter().enumerate() {
            let current = self.terms.var(self.event);
            let from = |m: &Message| m.invoke.as_ref() == Some(&i.id);
            if !i.finalize.is_empty() {
                let mut is = vec![];
                for e in (1..self.events.messages.len()).filter(|&e| from(&self.events.messages[e])).collect::<Vec<_>>()
                {
                    let literal = self.event_literal(e as u32);
                    is.push(self.terms.eq(current, literal));
                }
                let (is, skip, block) = (self.terms.or(is), self.terms.skip(), self.block(&i.finalize));
                parts.push(self.terms.branch(is, block, skip));
            }
            if !i.autoforward {
                continue;
            }
            let nothing = self.constant(value::Kind::Undefined);
            for e in 1..self.events.messages.len() {
                let name = self.events.messages[e].name.clone();
                if name.starts_with('@') || name == "*" {
                    continue;
                }
                let message = Message::new(&event_of(n + 1, &name), Source::Own);
                let Some(number) = self.number_of(&message) else { continue };
                let data = match self.current.clone() {
                    Some(store) => self.read(&store),
                    None => nothing.clone(),
                };
                let (literal, runs, skip) = (self.event_literal(e as u32), self.runs(n + 1), self.terms.skip());
                let is = self.terms.eq(current, literal);
                let both = self.terms.and([is, runs]);
                let forward = self.append(&self.outbox.queue.clone(), number, &data, Limit::External);
                parts.push(self.terms.branch(both, forward, skip));
            }
        }
        self.terms.seq(parts)
    }

    /// What is sent to an invoked chart gets there if it runs; what one sends that was cancelled is not heard.
    pub fn addressed(&mut self, send: &Send, stmt: StmtId) -> StmtId {
        let skip = self.terms.skip();
        if let Some(k) = send.to {
            let nothing = self.constant(value::Kind::Undefined);
            let message = Message { id: send.id.clone(), ..Message::new(super::events::UNREACHABLE, Source::Platform) };
            let (nobody, runs) = (self.enqueue(&message, &nothing), self.runs(k));
            return self.terms.branch(runs, stmt, nobody);
        }
        match send.from {
            Some(k) => {
                let muted = self.terms.var(self.invokes[k - 1].1);
                self.terms.branch(muted, skip, stmt)
            }
            None => stmt,
        }
    }
}

/// An event that nobody reacts to, in the place of one that was taken back.
pub const NOBODY: &str = "@";

fn is_scxml(processor: &str) -> bool {
    PROCESSORS.contains(&processor) || matches!(processor.trim_end_matches('/'), "http://www.w3.org/TR/scxml")
}

/// What an invoked chart says when it ends.
pub fn done(i: &Invoke) -> Message {
    Message { invoke: Some(i.id.clone()), ..Message::new(&format!("done.invoke.{}", i.id), Source::Platform) }
}
