//! Adapters: queues, clocks and what they do with messages.

use trellis_expr::Type;
use trellis_model::gamma::{self as model, Adapter, Control, Entry, Part, Queue, Queues, Timer};

use super::ast::{self, Component, Name, Source};
use super::build::{Built, Event, Port};
use super::packages::unknown;
use super::terms::{Scope, Words};
use crate::text::errors::Read;

impl<'a> Words<'a, '_> {
    /// An adapter around a component.
    pub fn adapter(
        &mut self,
        file: usize,
        c: &Component<'a>,
        a: &ast::Adapter<'a>,
        path: &str,
        mut scope: Scope<'a>,
        depth: usize,
    ) -> Read<Built<'a>> {
        let inner = self.part(file, &a.inner, path, &mut scope, depth)?;
        if matches!(inner.part, Part::Adapter(_) | Part::Asynchronous(..)) {
            return self.fail(a.inner.ty.1, format!("`{}` is asynchronous already", a.inner.ty.0));
        }
        let control_ports = self.declared(file, &c.ports)?;
        self.wrap(inner, control_ports, a, path, c.name)
    }

    /// `@Asynchronous`: one queue for all inputs.
    pub fn asynchronous(&mut self, inner: Built<'a>, capacity: i64, path: &str, name: Name<'a>) -> Read<Built<'a>> {
        if !(1..=64).contains(&capacity) {
            return self.fail(name.1, "the capacity of a queue must be between 1 and 64");
        }
        let entries = inner.ports.iter().map(|p| (Source::PortAny((p.name, name.1)), None)).collect();
        let queue = ast::Queue { name: ("queue", name.1), priority: 1, capacity, oldest: false, entries };
        let a = ast::Adapter {
            inner: ast::Instance { name, ty: name, args: vec![] },
            clocks: vec![],
            controls: vec![(Source::Any, ast::Control::Run)],
            queues: vec![queue],
        };
        self.wrap(inner, vec![], &a, path, name)
    }

    fn wrap(
        &mut self,
        inner: Built<'a>,
        control_ports: Vec<Port<'a>>,
        a: &ast::Adapter<'a>,
        path: &str,
        name: Name<'a>,
    ) -> Read<Built<'a>> {
        let id = self.sys.adapters.len();
        let mut ports = inner.ports;
        let own = ports.len();
        ports.extend(control_ports);
        let mut clocks = vec![];
        for (clock, rate) in &a.clocks {
            if *rate == 0 {
                return self.fail(clock.1, "the rate of a clock must be more than 0");
            }
            let left = self.t().declare(format!("@{path}.{}", clock.0), Type::Int);
            self.sys.timers.push(Timer { left, duration: *rate, chart: None });
            clocks.push((clock.0, self.sys.timers.len() - 1));
        }
        let mut adapter = Adapter {
            name: path.to_string(),
            inner: inner.part,
            queues: vec![],
            clocks: vec![],
            posts: vec![],
            kept: vec![],
            executions: 0,
        };
        for (q, queue) in a.queues.iter().enumerate() {
            let mut entries: Vec<Entry> = vec![];
            for (source, target) in &queue.entries {
                if let Source::Clock(clock) = source {
                    let Some((_, timer)) = clocks.iter().find(|(n, _)| *n == clock.0) else {
                        let error = unknown("clock", *clock, clocks.iter().map(|(n, _)| *n));
                        return self.errors.fail(error);
                    };
                    adapter.clocks.push((*timer, (id, q, entries.len())));
                    let control = self.control(a, None, clock.0);
                    entries.push(Entry { name: clock.0.into(), inputs: vec![], like: None, control });
                    continue;
                }
                let from = self.listed(&ports, source)?;
                let to = match target {
                    Some(target) => self.listed(&ports, target)?,
                    None => from.clone(),
                };
                if from.len() != to.len() {
                    return self
                        .fail(queue.name.1, "the two sides of `->` in a queue have different numbers of events");
                }
                for ((p, e), (tp, te)) in from.into_iter().zip(to) {
                    if !ports[p].events[e].comes {
                        continue;
                    }
                    let event = ports[p].events[e].clone();
                    let target = ports[tp].events[te].clone();
                    if !ports[p].events[e].posts.is_empty() {
                        return self.fail(queue.name.1, format!("`{}` is in two queues", event.name));
                    }
                    let control = self.control(a, Some(ports[p].name), event.name);
                    let post = (id, q, entries.len());
                    ports[p].events[e].posts.push(post);
                    let inputs = if tp < own { target.ins.clone() } else { vec![] };
                    let like = inputs.first().copied();
                    if event.internal {
                        adapter.posts.extend(event.outs.iter().map(|o| (*o, vec![post])));
                    }
                    let name = format!("{}.{}", ports[p].name, event.name);
                    entries.push(Entry { name, inputs, like, control });
                }
            }
            let name = if path.is_empty() { queue.name.0.into() } else { format!("{path}.{}", queue.name.0) };
            adapter.queues.push(Queue {
                name,
                priority: queue.priority,
                capacity: queue.capacity as usize,
                drops_oldest: queue.oldest,
                entries,
            });
        }
        for (n, (clock, _)) in clocks.iter().enumerate() {
            if !adapter.clocks.iter().any(|(t, _)| *t == clocks[n].1) {
                return self.fail(name.1, format!("the clock `{clock}` is in no queue"));
            }
        }
        for port in &ports[..own] {
            for e in port.events.iter().filter(|e| e.goes && !e.internal) {
                adapter.posts.extend(e.outs.iter().map(|o| (*o, vec![])));
            }
        }
        self.sys.adapters.push(adapter);
        Ok(Built { part: Part::Adapter(id), ports })
    }

    /// The events that a line of a queue lists: port and event, both by number.
    fn listed(&mut self, ports: &[Port<'a>], source: &Source<'a>) -> Read<Vec<(usize, usize)>> {
        let port = match source {
            Source::PortAny(port) | Source::Event(port, _) => *port,
            Source::Clock(name) => return self.fail(name.1, "a clock has no other side"),
            Source::Any => {
                return Ok((0..ports.len()).flat_map(|p| (0..ports[p].events.len()).map(move |e| (p, e))).collect());
            }
        };
        let Some(p) = ports.iter().position(|p| p.name == port.0) else {
            let error = unknown("port", port, ports.iter().map(|p| p.name));
            return self.errors.fail(error);
        };
        let Source::Event(_, event) = source else {
            return Ok((0..ports[p].events.len()).map(|e| (p, e)).collect());
        };
        match ports[p].events.iter().position(|e: &Event| e.name == event.0) {
            Some(e) => Ok(vec![(p, e)]),
            None => {
                let error = unknown("event", *event, ports[p].events.iter().map(|e| e.name));
                self.errors.fail(error)
            }
        }
    }

    /// What is done when a message comes: emptying queues first, then a new start, then a cycle.
    fn control(&self, a: &ast::Adapter<'a>, port: Option<&str>, name: &str) -> Control {
        let fits = |source: &Source<'a>| match source {
            Source::Any => true,
            Source::PortAny(p) => port == Some(p.0),
            Source::Event(p, e) => port == Some(p.0) && e.0 == name,
            Source::Clock(c) => port.is_none() && c.0 == name,
        };
        let all: Vec<ast::Control> = a.controls.iter().filter(|(s, _)| fits(s)).map(|(_, c)| *c).collect();
        let has = |c: ast::Control| all.contains(&c);
        match () {
            () if has(ast::Control::ResetQueue) => Control::Forget(Queues::Own),
            () if has(ast::Control::ResetQueues) => Control::Forget(Queues::All),
            () if has(ast::Control::ResetOtherQueues) => Control::Forget(Queues::Others),
            () if has(ast::Control::Reset) => Control::Reset,
            () if has(ast::Control::Run) => Control::Run,
            () => Control::Nothing,
        }
    }

    /// Queues that get messages both from outside and from other adapters: only of length 1.
    pub fn mixed_queues(&mut self, span: crate::diag::Span) -> Read<()> {
        let from_outside: Vec<model::Post> = self.sys.inputs.iter().flat_map(|i| i.posts.clone()).collect();
        let inside = self.sys.adapters.iter().flat_map(|a| a.posts.iter().flat_map(|(_, p)| p.clone()));
        let inside: Vec<model::Post> = inside.collect();
        let queue = |p: &model::Post| (p.0, p.1);
        let mixed = from_outside.iter().map(queue).find(|q| inside.iter().any(|p| queue(p) == *q));
        match mixed {
            Some((a, q)) if self.sys.adapters[a].queues[q].capacity > 1 => {
                let name = self.sys.adapters[a].queues[q].name.clone();
                self.fail(span, format!("the queue `{name}` gets messages from outside and from inside; that is read only with capacity 1"))
            }
            _ => Ok(()),
        }
    }
}
