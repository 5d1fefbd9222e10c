//! From packages to a system: instances, ports and what they are connected to.

use rustc_hash::FxHashMap;
use trellis_expr::{Terms, Type};
use trellis_model::gamma::{self as model, Composite, Part, Post, SignalId, System};

use super::ast::{self, Body, Component, Direction, Mode, Name};
use super::packages::{self, File, unknown};
use super::shape::Tree;
use super::terms::{Bound, Enums, Scope, Words};
use crate::diag::Diagnostic;
use crate::text::errors::{Read, count};

/// How deeply components may be nested.
const MAX_DEPTH: usize = 40;
/// How many statecharts there may be.
const MAX_CHARTS: usize = 1_000;

/// A port of an instance: the ends of its events in statecharts, or the queues of an adapter.
#[derive(Debug, Clone, Default)]
pub struct Port<'a> {
    pub name: &'a str,
    /// Where the interface is, to compare.
    pub interface: (usize, &'a str),
    pub provides: bool,
    pub events: Vec<Event<'a>>,
}

/// An event at a port.
#[derive(Debug, Clone, Default)]
pub struct Event<'a> {
    pub name: &'a str,
    pub internal: bool,
    /// Does it come in? Does it go out?
    pub comes: bool,
    pub goes: bool,
    pub ins: Vec<SignalId>,
    pub outs: Vec<SignalId>,
    pub posts: Vec<Post>,
}

/// An instance.
pub struct Built<'a> {
    pub part: Part,
    pub ports: Vec<Port<'a>>,
}

/// Builds the system of a component.
pub fn build<'a>(
    files: &[File<'a>],
    file: usize,
    top: &Component<'a>,
    given: &[(String, i64)],
    period: (i64, Option<i64>),
) -> Result<(System, Enums, Vec<Diagnostic>), Vec<Diagnostic>> {
    let sys = System {
        terms: Terms::new(),
        name: top.name.0.to_string(),
        arguments: vec![],
        signals: vec![],
        charts: vec![],
        adapters: vec![],
        timers: vec![],
        top: Part::Asynchronous(vec![], None),
        inputs: vec![],
        outputs: vec![],
        one_message: false,
        period,
        mistaken: None,
    };
    let mut words = Words::new(files, sys, vec![]);
    let done = words.top(file, top, given).is_ok() && words.errors.count() == 0;
    let diagnostics = words.errors.finish();
    if done { Ok((words.sys, words.enums, diagnostics)) } else { Err(diagnostics) }
}

impl<'a> Words<'a, '_> {
    fn top(&mut self, file: usize, top: &Component<'a>, given: &[(String, i64)]) -> Read<()> {
        let mut args = vec![];
        for p in &top.params {
            let ty = self.ty(file, &p.ty, p.name.1)?;
            let Some((_, n)) = given.iter().find(|(name, _)| name == p.name.0) else {
                let message = format!("`{}` needs a value for its parameter `{}`", top.name.0, p.name.0);
                let help = format!("give it with --const {}=VALUE (truth values are 0 and 1)", p.name.0);
                return self.errors.fail(Diagnostic::error(p.name.1, message).help(help));
            };
            self.sys.arguments.push((p.name.0.to_string(), *n));
            args.push(Tree::Leaf(match ty {
                Type::Bool => self.t().bool(*n != 0),
                Type::Enum(e) if *n >= 0 && (*n as usize) < self.sys.terms.enumeration(e).literals.len() => {
                    self.t().enum_lit(e, *n as u32)
                }
                Type::Int => self.t().int(*n),
                Type::Range(lo, hi) if (lo..=hi).contains(n) => self.t().int(*n),
                _ => {
                    let what =
                        "a parameter of the whole must be a truth value, an integer within its bounds or a literal";
                    return self.fail(p.name.1, what);
                }
            }));
        }
        let span = top.name.1;
        let top = self.instance(file, top, "", args, 0)?;
        self.environment(&top);
        self.mixed_queues(span)?;
        self.sys.top = top.part;
        if let Part::Chart(_) = self.sys.top {
            // A statechart alone is a cascade of it.
            let Part::Chart(c) = self.sys.top else { return Ok(()) };
            let internal = top.ports.iter().flat_map(internal_pairs).map(|(a, b)| (None, a, b)).collect();
            self.sys.top = Part::Composite(Box::new(Composite {
                cascade: true,
                parts: vec![Part::Chart(c)],
                first: vec![],
                order: vec![0],
                wires: vec![],
                internal,
                gathered: vec![],
                outputs: self.sys.charts[c].outputs.clone(),
            }));
        } else if let Part::Composite(c) = &mut self.sys.top {
            c.internal.extend(top.ports.iter().flat_map(internal_pairs).map(|(a, b)| (None, a, b)));
        }
        self.executions();
        Ok(())
    }

    /// How often each adapter executes in a step.
    fn executions(&mut self) {
        fn times(sys: &mut System, part: &Part, n: usize) {
            match part {
                Part::Adapter(a) => sys.adapters[*a].executions += n,
                Part::Asynchronous(parts, order) => {
                    for (k, p) in parts.iter().enumerate() {
                        let times_here = order.as_ref().map_or(1, |o| o.iter().filter(|i| **i == k).count());
                        times(sys, p, n * times_here);
                    }
                }
                _ => {}
            }
        }
        let top = self.sys.top.clone();
        times(&mut self.sys, &top, 1);
    }

    /// What comes from outside and goes there.
    fn environment(&mut self, top: &Built<'a>) {
        let (mut inputs, mut outputs) = (vec![], vec![]);
        for port in &top.ports {
            for e in &port.events {
                let name = if port.name.is_empty() { e.name.into() } else { format!("{}.{}", port.name, e.name) };
                if e.comes && !e.internal {
                    let post = e.posts.first().map(|(a, q, n)| &self.sys.adapters[*a].queues[*q].entries[*n]);
                    let like = post.map_or(e.ins.first().copied(), |entry| entry.like);
                    let input =
                        model::Input { name: name.clone(), inputs: e.ins.clone(), posts: e.posts.clone(), like };
                    let fed = !e.ins.is_empty() && matches!(top.part, Part::Chart(_) | Part::Composite(_));
                    if fed || !e.posts.is_empty() {
                        inputs.push(input);
                    }
                }
                if e.goes && !e.internal {
                    outputs.extend(e.outs.iter().map(|o| (name.clone(), *o)));
                }
            }
        }
        if let Part::Adapter(a) = top.part {
            let adapter = &self.sys.adapters[a];
            let plain = adapter.clocks.is_empty() && adapter.queues.len() == 1;
            let runs = adapter.queues.iter().all(|q| q.entries.iter().all(|e| e.control == model::Control::Run));
            let internal = top.ports.iter().any(|p| p.events.iter().any(|e| e.internal));
            self.sys.one_message = plain && runs && !internal;
        }
        // What the system sends stays raised.
        for a in &mut self.sys.adapters {
            a.kept = outputs.iter().map(|(_, o)| *o).filter(|o| a.posts.iter().any(|(s, _)| s == o)).collect();
        }
        (self.sys.inputs, self.sys.outputs) = (inputs, outputs);
    }

    /// An instance of a component.
    fn instance(
        &mut self,
        file: usize,
        c: &Component<'a>,
        path: &str,
        args: Vec<Tree>,
        depth: usize,
    ) -> Read<Built<'a>> {
        if depth > MAX_DEPTH || self.sys.charts.len() > MAX_CHARTS {
            return self.fail(c.name.1, "these components contain each other too deeply, or are too many");
        }
        let names = c.params.iter().map(|p| p.name.0).zip(args.into_iter().map(Bound::Value)).collect();
        let scope = Scope { file, names, ..Scope::default() };
        let asynchronous = c.annotations.iter().find(|a| a.name.0 == "Asynchronous");
        match &c.body {
            Body::Chart(chart) => {
                let built = self.chart(file, c, chart, path, scope)?;
                match asynchronous {
                    None => Ok(built),
                    Some(a) => self.asynchronous(built, a.capacity.unwrap_or(4), path, c.name),
                }
            }
            Body::Composite(composite) => match composite.mode {
                Mode::Sync | Mode::Cascade => self.composite(file, c, composite, path, scope, depth),
                Mode::Scheduled | Mode::Async => self.spread(file, c, composite, path, scope, depth),
            },
            Body::Adapter(adapter) => self.adapter(file, c, adapter, path, scope, depth),
        }
    }

    /// A part of a composition, by its declaration.
    pub fn part(
        &mut self,
        file: usize,
        part: &ast::Instance<'a>,
        path: &str,
        scope: &mut Scope<'a>,
        depth: usize,
    ) -> Read<Built<'a>> {
        let files = self.files;
        let (there, c) = match packages::component(files, file, part.ty) {
            Ok(found) => found,
            Err(error) => return self.errors.fail(error),
        };
        if c.params.len() != part.args.len() {
            let message = format!("`{}` takes {}", part.ty.0, count(c.params.len(), "argument"));
            return self.fail(part.ty.1, message);
        }
        let mut args = vec![];
        for (p, arg) in c.params.iter().zip(&part.args) {
            let shape = self.shape(there, &p.ty)?;
            args.push(self.shaped(scope, arg, &shape)?);
        }
        let path = if path.is_empty() { part.name.0.to_string() } else { format!("{path}.{}", part.name.0) };
        self.instance(there, c, &path, args, depth + 1)
    }

    /// The ports that a component declares; nothing is connected to them yet.
    pub fn declared(&mut self, file: usize, ports: &[ast::Port<'a>]) -> Read<Vec<Port<'a>>> {
        let mut all: Vec<Port<'a>> = vec![];
        for p in ports {
            if all.iter().any(|q| q.name == p.name.0) {
                return self.fail(p.name.1, format!("there is another port `{}`", p.name.0));
            }
            let files = self.files;
            let (there, i) = match packages::interface(files, file, p.interface) {
                Ok(found) => found,
                Err(error) => return self.errors.fail(error),
            };
            let mut events = vec![];
            for (_, e) in self.events_of(there, i, 0)? {
                let (comes, goes) = match (e.direction, p.provides) {
                    (Direction::Both | Direction::Internal, _) => (true, true),
                    (Direction::In, provides) => (provides, !provides),
                    (Direction::Out, provides) => (!provides, provides),
                };
                let internal = e.direction == Direction::Internal;
                events.push(Event { name: e.name.0, internal, comes, goes, ..Event::default() });
            }
            all.push(Port { name: p.name.0, interface: (there, i.name.0), provides: p.provides, events });
        }
        Ok(all)
    }

    /// The events of an interface and of those it extends, with the files they are in.
    pub fn events_of(
        &mut self,
        file: usize,
        i: &ast::Interface<'a>,
        depth: usize,
    ) -> Read<Vec<(usize, ast::Event<'a>)>> {
        if depth > MAX_DEPTH {
            return self.fail(i.name.1, "this interface extends itself");
        }
        let mut all = vec![];
        for parent in &i.parents {
            let files = self.files;
            match packages::interface(files, file, *parent) {
                Ok((there, p)) => all.extend(self.events_of(there, p, depth + 1)?),
                Err(error) => return self.errors.fail(error),
            }
        }
        all.extend(i.events.iter().map(|e| (file, e.clone())));
        Ok(all)
    }

    /// Parts with their names, the ports of the whole bound to theirs.
    fn parts(
        &mut self,
        file: usize,
        c: &Component<'a>,
        composite: &ast::Composite<'a>,
        path: &str,
        mut scope: Scope<'a>,
        depth: usize,
    ) -> Read<Parts<'a>> {
        let mut parts: Vec<(&'a str, Built<'a>)> = vec![];
        for part in &composite.parts {
            if parts.iter().any(|(name, _)| *name == part.name.0) {
                return self.fail(part.name.1, format!("there is another instance `{}`", part.name.0));
            }
            parts.push((part.name.0, self.part(file, part, path, &mut scope, depth)?));
        }
        let mut ports = self.declared(file, &c.ports)?;
        let mut bound = FxHashMap::default();
        for (port, end) in &composite.binds {
            let (k, q) = self.end(&parts, *end)?;
            let inner = parts[k].1.ports[q].clone();
            let Some(p) = ports.iter_mut().find(|p| p.name == port.0) else {
                let error = unknown("port", *port, ports.iter().map(|p| p.name));
                return self.errors.fail(error);
            };
            if p.provides != inner.provides {
                return self.fail(port.1, "a port is bound to one that also provides, or also requires, its interface");
            }
            for e in &mut p.events {
                let Some(there) = inner.events.iter().find(|i| i.name == e.name) else {
                    return self.fail(port.1, format!("the port that this is bound to has no event `{}`", e.name));
                };
                e.ins.extend(&there.ins);
                e.outs.extend(&there.outs);
                e.posts.extend(&there.posts);
            }
            bound.insert((k, q), ());
        }
        // Internal events of ports that go no further come back here.
        let mut internal = vec![];
        for (k, (_, built)) in parts.iter().enumerate() {
            for (q, port) in built.ports.iter().enumerate() {
                if !bound.contains_key(&(k, q)) {
                    internal.extend(internal_pairs(port).map(|pair| (k, pair)));
                }
            }
        }
        let mut order = vec![];
        let listed = |w: &mut Self, names: &[Name<'a>]| {
            let mut all = vec![];
            for name in names {
                match parts.iter().position(|(n, _)| *n == name.0) {
                    Some(k) => all.push(k),
                    None => {
                        let error = unknown("instance", *name, parts.iter().map(|(n, _)| *n));
                        return w.errors.fail(error);
                    }
                }
            }
            Ok(all)
        };
        let first = listed(self, &composite.first)?;
        match &composite.order {
            Some(names) => order.extend(listed(self, names)?),
            None => order.extend(0..parts.len()),
        }
        Ok(Parts { parts, ports, internal, first, order })
    }

    fn end(&mut self, parts: &[(&'a str, Built<'a>)], (instance, port): ast::End<'a>) -> Read<(usize, usize)> {
        let Some(k) = parts.iter().position(|(n, _)| *n == instance.0) else {
            let error = unknown("instance", instance, parts.iter().map(|(n, _)| *n));
            return self.errors.fail(error);
        };
        match parts[k].1.ports.iter().position(|p| p.name == port.0) {
            Some(q) => Ok((k, q)),
            None => {
                let error = unknown("port", port, parts[k].1.ports.iter().map(|p| p.name));
                self.errors.fail(error)
            }
        }
    }

    /// All pairs of an event that goes out and the same that comes in, over all channels: part, from, to.
    fn connections(
        &mut self,
        parts: &[(&'a str, Built<'a>)],
        channels: &[(ast::End<'a>, Vec<ast::End<'a>>)],
    ) -> Read<Vec<(usize, Event<'a>, Event<'a>)>> {
        let mut all = vec![];
        for (from, to) in channels {
            let (a, p) = self.end(parts, *from)?;
            for end in to {
                let (b, q) = self.end(parts, *end)?;
                let (one, other) = (&parts[a].1.ports[p], &parts[b].1.ports[q]);
                if one.interface.1 != other.interface.1 {
                    return self.fail(end.1.1, format!("this port has another interface than `{}`", from.1.0));
                }
                if !one.provides || other.provides {
                    return self.fail(from.1.1, "a channel leads from a port that provides to one that requires");
                }
                for e in &one.events {
                    let Some(f) = other.events.iter().find(|f| f.name == e.name) else { continue };
                    if e.goes && f.comes {
                        all.push((a, e.clone(), f.clone()));
                    }
                    if f.goes && e.comes && to.len() == 1 {
                        all.push((b, f.clone(), e.clone()));
                    }
                }
            }
        }
        Ok(all)
    }

    fn composite(
        &mut self,
        file: usize,
        c: &Component<'a>,
        composite: &ast::Composite<'a>,
        path: &str,
        scope: Scope<'a>,
        depth: usize,
    ) -> Read<Built<'a>> {
        let Parts { parts, ports, internal, first, order } = self.parts(file, c, composite, path, scope, depth)?;
        if let Some(k) = parts.iter().position(|(_, b)| matches!(b.part, Part::Adapter(_) | Part::Asynchronous(..))) {
            let place = composite.parts[k].ty;
            return self
                .fail(place.1, format!("`{}` is asynchronous; here only synchronous components can be", place.0));
        }
        let cascade = composite.mode == Mode::Cascade;
        if !cascade && (composite.order.is_some() || !composite.first.is_empty()) {
            return self.fail(c.name.1, "execution lists are for `cascade`");
        }
        let mut wires = vec![];
        for (k, from, to) in self.connections(&parts, &composite.channels)? {
            for &a in &from.outs {
                wires.extend(to.ins.iter().map(|&b| (k, a, b)));
            }
        }
        let parts: Vec<Part> = parts.into_iter().map(|(_, b)| b.part).collect();
        let repeated: Vec<usize> =
            (0..parts.len()).filter(|k| order.iter().filter(|o| *o == k).count() > 1 || first.contains(k)).collect();
        let outputs: Vec<SignalId> = parts.iter().flat_map(|p| self.outputs_in(p)).collect();
        let mut gathered = vec![];
        let mut ports = ports;
        for k in repeated {
            for s in self.outputs_in(&parts[k]) {
                if self.sys.signals[s].name.starts_with('@') || gathered.iter().any(|(_, g)| *g == s) {
                    return self.fail(c.name.1, "components that run repeatedly inside others that do are not read");
                }
                let copy = self.gather(s);
                gathered.push((s, copy));
                for e in ports.iter_mut().flat_map(|p| &mut p.events) {
                    e.outs.iter_mut().filter(|o| **o == s).for_each(|o| *o = copy);
                }
            }
        }
        let internal = internal.into_iter().map(|(k, (from, to))| (Some(k), from, to)).collect();
        let part =
            Part::Composite(Box::new(Composite { cascade, parts, first, order, wires, internal, gathered, outputs }));
        Ok(Built { part, ports })
    }

    /// A copy of a signal that gathers what is raised; it takes the name, by which it is seen.
    fn gather(&mut self, s: SignalId) -> SignalId {
        let old = self.sys.signals[s].clone();
        let mut copy = old.clone();
        copy.flag = self.t().declare(old.name.clone(), Type::Bool);
        for (p, v, _) in &mut copy.params {
            let ty = self.sys.terms.variable(*v).ty;
            *v = self.t().declare(format!("{}.{p}", old.name), ty);
        }
        self.sys.signals[s].name = format!("@{}", old.name);
        self.sys.signals.push(copy);
        self.sys.signals.len() - 1
    }

    fn outputs_in(&self, part: &Part) -> Vec<SignalId> {
        self.sys.charts_in(part).into_iter().flat_map(|c| self.sys.charts[c].outputs.clone()).collect()
    }

    fn spread(
        &mut self,
        file: usize,
        c: &Component<'a>,
        composite: &ast::Composite<'a>,
        path: &str,
        scope: Scope<'a>,
        depth: usize,
    ) -> Read<Built<'a>> {
        let Parts { parts, ports, first, order, .. } = self.parts(file, c, composite, path, scope, depth)?;
        if let Some(k) = parts.iter().position(|(_, b)| matches!(b.part, Part::Chart(_) | Part::Composite(_))) {
            let place = composite.parts[k].ty;
            return self.fail(place.1, format!("`{}` is synchronous; wrap it in an adapter", place.0));
        }
        if !first.is_empty() {
            return self.fail(c.name.1, "`initial execute` is for `cascade`");
        }
        for (_, from, to) in self.connections(&parts, &composite.channels)? {
            for &s in &from.outs {
                for adapter in &mut self.sys.adapters {
                    if let Some((_, posts)) = adapter.posts.iter_mut().find(|(t, _)| *t == s) {
                        posts.extend(&to.posts);
                    }
                }
            }
        }
        let scheduled = composite.mode == Mode::Scheduled;
        let parts = parts.into_iter().map(|(_, b)| b.part).collect();
        Ok(Built { part: Part::Asynchronous(parts, scheduled.then_some(order)), ports })
    }
}

struct Parts<'a> {
    parts: Vec<(&'a str, Built<'a>)>,
    ports: Vec<Port<'a>>,
    internal: Vec<(usize, (SignalId, SignalId))>,
    first: Vec<usize>,
    order: Vec<usize>,
}

/// The internal events of a port: as they are raised, and as they come.
fn internal_pairs<'p>(port: &'p Port<'_>) -> impl Iterator<Item = (SignalId, SignalId)> + 'p {
    let internal = port.events.iter().filter(|e| e.internal);
    internal.flat_map(|e| e.outs.iter().copied().zip(e.ins.iter().copied()))
}
