//! Packages, interfaces and components.

use super::ast::*;
use super::lexer::tokens;
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::cursor::{Cursor, Reads, reads};
use crate::text::errors::Read;
use crate::text::tokens::Tok;

pub struct Parser<'a> {
    cursor: Cursor<'a>,
}

reads!(Parser<'a>);

impl<'a> Parser<'a> {
    pub fn new(sources: &'a Sources, id: SourceId) -> Parser<'a> {
        Parser { cursor: Cursor::new(sources, tokens(id, &sources.get(id).text)) }
    }

    pub fn finish(self) -> Vec<Diagnostic> {
        self.cursor.errors.finish()
    }

    /// A name; `^word` is `word`.
    pub fn id(&mut self, what: &str) -> Read<Name<'a>> {
        let (name, span) = self.name(what)?;
        Ok((name.strip_prefix('^').unwrap_or(name), span))
    }

    fn integer(&mut self) -> Read<i64> {
        let t = self.peek();
        let negative = self.take("-");
        let Tok::Number(digits) = self.peek().tok else { return self.unexpected("a number") };
        self.bump();
        match digits.parse::<i64>() {
            Ok(n) => Ok(if negative { -n } else { n }),
            Err(_) => self.fail(t.span, "this number is too large"),
        }
    }

    /// Imports, each with its place: of packages, properties, traces and generators.
    pub fn imports(&mut self) -> Read<Vec<(String, Span)>> {
        let mut all = vec![];
        while self.take("import") {
            let external = self.is("external");
            if external {
                self.bump();
            }
            loop {
                let t = self.bump();
                match t.tok {
                    Tok::Quoted(path) if !external => all.push((path.to_string(), t.span)),
                    Tok::Quoted(_) => {}
                    Tok::Name(name) => all.push((name.to_string(), t.span)),
                    _ => return self.fail(t.span, "expected a path or the name of a package"),
                }
                if !self.take(",") {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// `package NAME`, if that is how it starts.
    pub fn header(&mut self) -> Read<&'a str> {
        self.require("package")?;
        let mut name = self.id("the name of the package")?;
        while self.take(".") {
            name = self.id("the name of the package")?;
        }
        Ok(name.0)
    }

    pub fn package(&mut self) -> Read<Package<'a>> {
        let mut package = Package { name: self.header()?, ..Package::default() };
        self.imports()?;
        while self.peek().tok != Tok::End {
            let t = self.peek();
            match t.tok {
                Tok::Name("const") => {
                    self.bump();
                    let constant = self.variable()?;
                    self.take(";");
                    package.constants.push(constant);
                }
                Tok::Name("type") => {
                    self.bump();
                    let name = self.id("the name of the type")?;
                    self.require(":")?;
                    package.types.push((name, self.ty()?));
                    self.take(";");
                }
                Tok::Name("lambda" | "procedure") => package.functions.push(self.function()?),
                Tok::Name("interface") => package.interfaces.push(self.interface()?),
                _ => package.components.push(self.component()?),
            }
        }
        Ok(package)
    }

    pub fn function(&mut self) -> Read<Function<'a>> {
        let lambda = self.bump().tok == Tok::Name("lambda");
        let name = self.id("the name of the function")?;
        let params = self.parameters()?;
        self.require(":")?;
        let result = if self.take("void") { None } else { Some(self.ty()?) };
        let body = if lambda {
            self.require(":=")?;
            let e = self.expression()?;
            self.take(";");
            Ok(e)
        } else {
            self.require("{")?;
            Err(self.block()?)
        };
        Ok(Function { name, params, result, body })
    }

    /// `(p : T, …)`, or nothing.
    fn parameters(&mut self) -> Read<Vec<Variable<'a>>> {
        if !self.take("(") {
            return Ok(vec![]);
        }
        let params = if self.is(")") { vec![] } else { self.list(Self::variable)? };
        self.require(")")?;
        Ok(params)
    }

    fn invariant(&mut self) -> Read<Expr<'a>> {
        self.require("invariant")?;
        let e = self.expression()?;
        self.take(";");
        Ok(e)
    }

    fn interface(&mut self) -> Read<Interface<'a>> {
        self.bump();
        let name = self.id("the name of the interface")?;
        let parents = if self.take("extends") { self.list(|p| p.id("an interface"))? } else { vec![] };
        self.require("{")?;
        let (mut events, mut invariants) = (vec![], vec![]);
        while !self.take("}") {
            if self.is("invariant") {
                invariants.push(self.invariant()?);
                continue;
            }
            let direction = match self.peek().tok {
                Tok::Name("in") => Direction::In,
                Tok::Name("out") => Direction::Out,
                Tok::Name("inout") => Direction::Both,
                Tok::Name("internal") => Direction::Internal,
                _ => return self.unexpected("an event (`in`, `out`, `inout`, `internal`) or `}`"),
            };
            self.bump();
            let persistent = self.take("persistent");
            self.take("transient");
            self.require("event")?;
            let name = self.id("the name of the event")?;
            let params = self.parameters()?;
            if self.take("priority") {
                self.require("=")?;
                self.integer()?;
            }
            self.take(";");
            events.push(Event { name, direction, persistent, params });
        }
        Ok(Interface { name, parents, events, invariants })
    }

    fn annotations(&mut self) -> Read<Vec<Annotation<'a>>> {
        let mut all = vec![];
        while self.take("@") {
            if self.take("(") {
                // A comment.
                self.bump();
                self.require(")")?;
                continue;
            }
            let name = self.id("an annotation")?;
            let value = if self.take("=") { Some(self.id("a value")?) } else { None };
            let mut capacity = None;
            if self.take("(") {
                capacity = Some(self.integer()?);
                self.require(")")?;
            }
            all.push(Annotation { name, value, capacity });
        }
        Ok(all)
    }

    fn component(&mut self) -> Read<Component<'a>> {
        let mut annotations = self.annotations()?;
        let t = self.peek();
        let mode = match t.tok {
            Tok::Name("sync") => Some(Mode::Sync),
            Tok::Name("cascade") => Some(Mode::Cascade),
            Tok::Name("scheduled-async") => Some(Mode::Scheduled),
            Tok::Name("async") => Some(Mode::Async),
            Tok::Name("statechart" | "adapter") => None,
            _ => {
                return self.unexpected(
                    "a constant, a type, a function, an interface, a statechart, a composition or an adapter",
                );
            }
        };
        self.bump();
        let name = self.id("the name of the component")?;
        if let (Some(a), true) = (annotations.iter_mut().find(|a| a.name.0 == "Asynchronous"), self.take("capacity")) {
            a.capacity = Some(self.between("(", Self::integer, ")")?);
        }
        let params = self.parameters()?;
        if t.tok == Tok::Name("adapter") {
            self.require("of")?;
            self.require("component")?;
            let inner = self.instance()?;
            let ports = self.ports()?;
            let body = Body::Adapter(self.adapter(inner)?);
            return Ok(Component { annotations, name, params, ports, body });
        }
        let ports = self.ports()?;
        let body = match mode {
            Some(mode) => Body::Composite(self.composite(mode)?),
            None => Body::Chart(self.chart()?),
        };
        Ok(Component { annotations, name, params, ports, body })
    }

    fn ports(&mut self) -> Read<Vec<Port<'a>>> {
        let mut ports = vec![];
        if !self.take("[") {
            return Ok(ports);
        }
        while !self.take("]") {
            if self.is("@") {
                self.annotations()?;
            }
            self.require("port")?;
            let name = self.id("the name of the port")?;
            self.require(":")?;
            let provides = self.is("provides");
            if !self.take("provides") {
                self.require("requires")?;
            }
            let interface = self.id("an interface")?;
            let mut invariants = vec![];
            if self.take("{") {
                while !self.take("}") {
                    invariants.push(self.invariant()?);
                }
            }
            self.take(",");
            ports.push(Port { name, provides, interface, invariants });
        }
        Ok(ports)
    }

    fn instance(&mut self) -> Read<Instance<'a>> {
        let name = self.id("the name of the instance")?;
        self.require(":")?;
        let ty = self.id("a component")?;
        let args = if self.is("(") { self.arguments()? } else { vec![] };
        Ok(Instance { name, ty, args })
    }

    fn end(&mut self) -> Read<End<'a>> {
        let instance = self.id("an instance")?;
        self.require(".")?;
        Ok((instance, self.id("a port")?))
    }

    fn composite(&mut self, mode: Mode) -> Read<Composite<'a>> {
        self.require("{")?;
        let mut c = Composite { mode, parts: vec![], binds: vec![], channels: vec![], first: vec![], order: None };
        while !self.take("}") {
            let t = self.peek();
            match t.tok {
                Tok::Name("component") => {
                    self.bump();
                    let part = self.instance()?;
                    c.parts.push(part);
                }
                Tok::Name("bind") => {
                    self.bump();
                    let port = self.id("a port")?;
                    self.require("->")?;
                    let end = self.end()?;
                    c.binds.push((port, end));
                }
                Tok::Name("channel") => {
                    self.bump();
                    let from = self.between("[", Self::end, "]")?;
                    self.require("-o)-")?;
                    let to = self.between("[", |p| p.list(Self::end), "]")?;
                    c.channels.push((from, to));
                }
                Tok::Name("initial") => {
                    self.bump();
                    self.require("execute")?;
                    c.first = self.list(|p| p.id("an instance"))?;
                }
                Tok::Name("execute") => {
                    self.bump();
                    c.order = Some(self.list(|p| p.id("an instance"))?);
                }
                _ => return self.unexpected("`component`, `bind`, `channel`, `execute` or `}`"),
            }
            self.take(";");
        }
        Ok(c)
    }

    fn source(&mut self) -> Read<Source<'a>> {
        if self.take("any") {
            return Ok(Source::Any);
        }
        let name = self.id("a port or a clock")?;
        if !self.take(".") {
            return Ok(Source::Clock(name));
        }
        if self.take("any") { Ok(Source::PortAny(name)) } else { Ok(Source::Event(name, self.id("an event")?)) }
    }

    fn adapter(&mut self, inner: Instance<'a>) -> Read<Adapter<'a>> {
        self.require("{")?;
        let mut a = Adapter { inner, clocks: vec![], controls: vec![], queues: vec![] };
        while !self.take("}") {
            let t = self.peek();
            match t.tok {
                Tok::Name("clock") => {
                    self.bump();
                    let name = self.id("the name of the clock")?;
                    self.require("(")?;
                    self.require("rate")?;
                    self.require("=")?;
                    let rate = self.time()?;
                    self.require(")")?;
                    a.clocks.push((name, rate));
                }
                Tok::Name("when") => {
                    self.bump();
                    let source = self.source()?;
                    self.require("/")?;
                    let control = match self.peek().tok {
                        Tok::Name("run") => Control::Run,
                        Tok::Name("reset") => Control::Reset,
                        Tok::Name("reset-queue") => Control::ResetQueue,
                        Tok::Name("reset-queues") => Control::ResetQueues,
                        Tok::Name("reset-other-queues") => Control::ResetOtherQueues,
                        Tok::Name("full-step") => return self.refuse("`full-step`", t.span),
                        _ => return self.unexpected("`run`, `reset`, `reset-queue` or the like"),
                    };
                    self.bump();
                    a.controls.push((source, control));
                }
                Tok::Name("queue") => {
                    self.bump();
                    let queue = self.queue()?;
                    a.queues.push(queue);
                }
                _ => return self.unexpected("`clock`, `when`, `queue` or `}`"),
            }
            self.take(";");
        }
        Ok(a)
    }

    fn queue(&mut self) -> Read<Queue<'a>> {
        let name = self.id("the name of the queue")?;
        let mut q = Queue { name, priority: 1, capacity: 4, oldest: false, entries: vec![] };
        self.require("(")?;
        while !self.take(")") {
            let (what, span) = self.id("`priority`, `capacity` or `discard`")?;
            self.require("=")?;
            match what {
                "priority" => q.priority = self.integer()?,
                "capacity" => q.capacity = self.integer()?,
                "discard" => q.oldest = self.id("`incoming` or `oldest`")?.0 == "oldest",
                other => return self.refuse(&format!("`{other}`"), span),
            }
            self.take(",");
        }
        if !(1..=64).contains(&q.capacity) {
            return self.fail(name.1, "the capacity of a queue must be between 1 and 64");
        }
        self.require("{")?;
        while !self.take("}") {
            let source = self.source()?;
            let target = if self.take("->") { Some(self.source()?) } else { None };
            q.entries.push((source, target));
            self.take(",");
        }
        Ok(q)
    }

    fn chart(&mut self) -> Read<Chart<'a>> {
        self.require("{")?;
        let mut chart = Chart::default();
        while !self.take("}") {
            let mut id = None;
            let mut annotations = vec![];
            while self.is("@") {
                if self.ahead(1) == Tok::P("(") {
                    self.at += 2;
                    id = match self.bump().tok {
                        Tok::Name(name) | Tok::Quoted(name) => Some(name),
                        _ => None,
                    };
                    self.require(")")?;
                } else {
                    annotations.extend(self.annotations()?);
                }
            }
            let t = self.peek();
            match t.tok {
                Tok::Name("var") => {
                    self.bump();
                    let mut v = self.variable()?;
                    for a in &annotations {
                        match a.name.0 {
                            "Transient" => v.transient = true,
                            "Resettable" => v.resettable = true,
                            other => return self.refuse(&format!("`@{other}`"), a.name.1),
                        }
                    }
                    self.take(";");
                    chart.variables.push(v);
                }
                Tok::Name("timeout") => {
                    self.bump();
                    let name = self.id("the name of the timeout")?;
                    chart.timeouts.push(name);
                }
                Tok::Name("invariant") => {
                    let e = self.invariant()?;
                    chart.invariants.push(e);
                }
                Tok::Name("region") => {
                    let r = self.region()?;
                    chart.regions.push(r);
                }
                Tok::Name("lambda" | "procedure") => {
                    let f = self.function()?;
                    chart.functions.push(f);
                }
                Tok::Name("transition") => {
                    let mut t = self.transition()?;
                    t.id = id;
                    chart.transitions.push(t);
                }
                _ => return self.unexpected("`var`, `timeout`, `invariant`, `region`, `transition` or `}`"),
            }
        }
        Ok(chart)
    }

    fn region(&mut self) -> Read<Region<'a>> {
        let span = self.bump().span;
        let name = self.id("the name of the region")?;
        self.require("{")?;
        let mut nodes = vec![];
        while !self.take("}") {
            self.annotations()?;
            nodes.push(self.down(span, Self::node)?);
        }
        Ok(Region { name, nodes })
    }

    fn node(&mut self) -> Read<Node<'a>> {
        let kind = match self.peek().tok {
            Tok::Name("state") => NodeKind::State,
            Tok::Name("initial") => NodeKind::Initial,
            Tok::Name("shallow") => NodeKind::Shallow,
            Tok::Name("deep") => NodeKind::Deep,
            Tok::Name("choice") => NodeKind::Choice,
            Tok::Name("merge") => NodeKind::Merge,
            Tok::Name("fork") => NodeKind::Fork,
            Tok::Name("join") => NodeKind::Join,
            _ => {
                return self
                    .unexpected("a state, an initial or history node, a choice, a merge, a fork, a join or `}`");
            }
        };
        self.bump();
        if matches!(kind, NodeKind::Shallow | NodeKind::Deep) {
            self.require("history")?;
        }
        let name = self.id("a name")?;
        let mut node = Node { kind, name, invariants: vec![], entry: vec![], exit: vec![], regions: vec![] };
        if kind != NodeKind::State || !self.take("{") {
            return Ok(node);
        }
        while !self.take("}") {
            match self.peek().tok {
                Tok::Name("invariant") => {
                    let e = self.invariant()?;
                    node.invariants.push(e);
                }
                Tok::Name(word @ ("entry" | "exit")) => {
                    self.bump();
                    self.require("/")?;
                    let acts = self.actions()?;
                    if word == "entry" { node.entry.extend(acts) } else { node.exit.extend(acts) }
                }
                Tok::Name("region") => {
                    let r = self.region()?;
                    node.regions.push(r);
                }
                _ => return self.unexpected("`invariant`, `entry`, `exit`, `region` or `}`"),
            }
        }
        Ok(node)
    }

    fn transition(&mut self) -> Read<Transition<'a>> {
        let span = self.bump().span;
        let mut priority = 0;
        if self.take("(") {
            priority = self.integer()?;
            self.require(")")?;
        }
        self.require("from")?;
        let from = self.id("a state or another node")?;
        self.require("to")?;
        let to = self.id("a state or another node")?;
        let trigger = if self.take("when") { Some(self.trigger()?) } else { None };
        let guard = match self.take("[") {
            false => None,
            true => {
                let guard = if self.take("else") { Guard::Else } else { Guard::If(self.expression()?) };
                self.require("]")?;
                Some(guard)
            }
        };
        let effects = if self.take("/") { self.actions()? } else { vec![] };
        Ok(Transition { id: None, priority, from, to, trigger, guard, effects, span: span.to(to.1) })
    }
}
