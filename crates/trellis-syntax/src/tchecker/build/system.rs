//! Declarations: variables, processes, locations, edges, vectors.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::Type;
use trellis_model::network::{DataVar, Edge, Location, Process, Vector, VectorPart};

use super::{Builder, Entity, MAX_CLOCKS, Reported, Res, nearest};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Span};
use crate::tchecker::ast::{self, Ast, Decl, Ident};

/// What the edges of one process and event set and speak of.
#[derive(Debug, Default)]
struct Touched {
    writes: FxHashSet<String>,
    names: FxHashSet<String>,
}

/// What is known only when all declarations have been seen.
#[derive(Debug, Default)]
struct Later {
    /// For each process: the event of each edge.
    events: Vec<Vec<u32>>,
    /// For each process: where it is declared, and where its `initial:` stands.
    declared: Vec<(Span, Option<Span>)>,
    touched: FxHashMap<(u32, u32), Touched>,
    /// The vectors as written: who does its statements before whom in TChecker.
    syncs: Vec<(Vec<VectorPart>, Span)>,
}

impl Builder<'_> {
    /// All of the model. Every declaration is looked at, even after a mistake in another.
    pub fn system(&mut self, ast: &Ast) {
        let mut counts: FxHashMap<&str, i64> = FxHashMap::default();
        for d in &ast.decls {
            if let Decl::Location(l) = d {
                *counts.entry(&l.process.name).or_default() += 1;
            }
        }
        let mut later = Later::default();
        // Published generators declare variables after edges that use them.
        for d in &ast.decls {
            let _ = match d {
                Decl::Clock(size, name) => self.clocks(*size, name),
                Decl::Int(d) => self.int_variable(d),
                _ => Ok(()),
            };
        }
        for d in &ast.decls {
            let _ = match d {
                Decl::Event(name) => self.event(name),
                Decl::Process(name) => {
                    let locations = counts.get(name.name.as_str()).copied().unwrap_or(0);
                    self.process(name, locations, &mut later)
                }
                Decl::Clock(..) | Decl::Int(_) => Ok(()),
                Decl::Location(l) => self.location(l, &mut later),
                Decl::Edge(e) => self.edge(e, &mut later),
                Decl::Sync(parts, span) => self.sync(parts, *span, &mut later),
            };
        }
        for (p, &(span, initial)) in later.declared.iter().enumerate() {
            let process = &self.net.processes[p];
            let (name, empty) = (shorten(&process.name), process.locations.is_empty());
            if initial.is_none() {
                let what = if empty { "location" } else { "initial location" };
                let message = format!("process `{name}` has no {what}");
                let help = format!("declare one: `location:{name}:start{{initial:}}`");
                let _: Res<()> = self.error(span, message, help);
            }
        }
        if self.net.processes.is_empty() && !self.has_errors() {
            let help = "declare one: `process:P`, with a location `location:P:start{initial:}`";
            let _: Res<()> = self.error(ast.system.span, "the system has no process", help);
        }
        self.synchronise(&later);
    }

    /// Who moves together, and which edges move only so.
    fn synchronise(&mut self, later: &Later) {
        let all = later.syncs.iter().flat_map(|(parts, _)| parts);
        let synchronous: FxHashSet<(u32, u32)> = all.map(|p| (p.process, p.event)).collect();
        for (p, events) in later.events.iter().enumerate() {
            for (edge, &event) in self.net.processes[p].edges.iter_mut().zip(events) {
                edge.event = synchronous.contains(&(p as u32, event)).then_some(event);
            }
        }
        for (parts, span) in &later.syncs {
            let touched: Vec<_> = parts.iter().filter_map(|p| later.touched.get(&(p.process, p.event))).collect();
            let clash = |a: &Touched, b: &Touched| a.writes.iter().any(|w| b.names.contains(w));
            let clashes = (1..touched.len())
                .any(|i| (0..i).any(|j| clash(touched[i], touched[j]) || clash(touched[j], touched[i])));
            if clashes && !parts.is_sorted_by_key(|p| p.process) {
                let d = Diagnostic::warning(*span, "these processes set or read the same variables in one step");
                self.report(d.help(
                    "Trellis runs the statements in the order in which the processes are declared; \
                     write the line in that order to say the same in TChecker",
                ));
            }
            let mut parts = parts.clone();
            parts.sort_by_key(|p| p.process);
            self.net.vectors.push(Vector { parts });
        }
    }

    fn twice<T>(&mut self, what: &str, name: &Ident) -> Res<T> {
        let message = format!("{what} `{}` is declared a second time", shorten(&name.name));
        self.error(name.span, message, "give one of the two another name")
    }

    fn event(&mut self, name: &Ident) -> Res<()> {
        let next = self.events.len() as u32;
        if self.events.contains_key(&name.name) {
            return self.twice("event", name);
        }
        self.events.insert(name.name.clone(), next);
        Ok(())
    }

    fn process(&mut self, name: &Ident, locations: i64, later: &mut Later) -> Res<()> {
        if self.processes.contains_key(&name.name) {
            return self.twice("process", name);
        }
        self.processes.insert(name.name.clone(), self.net.processes.len() as u32);
        let ty = Type::Range(0, (locations - 1).max(0));
        let location = self.net.terms.declare(format!("{}.location", name.name), ty);
        self.net.processes.push(Process {
            name: name.name.clone(),
            location,
            locations: Vec::new(),
            init: 0,
            edges: Vec::new(),
            priority: 0,
            sketch: None,
        });
        later.declared.push((name.span, None));
        later.events.push(Vec::new());
        Ok(())
    }

    /// Gives a variable's name a meaning, once.
    fn bind(&mut self, name: &Ident, e: Res<Entity>) -> Res<()> {
        if self.names.contains_key(&name.name) {
            return self.twice("variable", name);
        }
        self.names.insert(name.name.clone(), e.unwrap_or(Entity::Broken));
        e.map(|_| ())
    }

    fn size(&mut self, size: ast::Number, what: &str) -> Res<Option<i64>> {
        match size.value {
            1 => Ok(None),
            n if n > 1 => Ok(Some(n)),
            n => self.error(size.span, format!("{n} {what} make no array"), "the size is 1 or more"),
        }
    }

    fn clocks(&mut self, size: ast::Number, name: &Ident) -> Res<()> {
        let entity = self.new_clocks(size, name);
        self.bind(name, entity)
    }

    fn new_clocks(&mut self, size: ast::Number, name: &Ident) -> Res<Entity> {
        let len = self.size(size, "clocks")?;
        let first = self.net.clocks.len() as u32 + 1;
        if i64::from(first) + len.unwrap_or(1) > MAX_CLOCKS {
            let message = format!("too many clocks: there may be {}", MAX_CLOCKS - 1);
            return self.error(size.span, message, "use fewer clocks");
        }
        match len {
            None => self.net.clocks.push(name.name.clone()),
            Some(n) => self.net.clocks.extend((0..n).map(|i| format!("{}[{i}]", name.name))),
        }
        Ok(Entity::Clock { first, len: len.map(|n| n as u32) })
    }

    fn int_variable(&mut self, d: &ast::IntDecl) -> Res<()> {
        let entity = self.new_int(d);
        self.bind(&d.name, entity)
    }

    fn new_int(&mut self, d: &ast::IntDecl) -> Res<Entity> {
        let len = self.size(d.size, "variables")?;
        let (lo, hi, init) = (d.min.value, d.max.value, d.init.value);
        if lo > hi {
            let message = format!("no value is between {lo} and {hi}");
            return self.error(d.min.span.to(d.max.span), message, "the least value comes first");
        }
        if !(lo..=hi).contains(&init) {
            let message = format!("the first value {init} is not between {lo} and {hi}");
            return self.error(d.init.span, message, "it is written `int:size:min:max:init:name`");
        }
        self.spend_cells(len.unwrap_or(1) + 3, d.size.span)?;
        let cell = Type::Range(lo, hi);
        let ty = match len {
            Some(n) => self.net.terms.array_type(Type::Range(0, n - 1), cell),
            None => cell,
        };
        let name = d.name.name.clone();
        let var = self.net.terms.declare(name.clone(), ty);
        let dims = len.map(|n| (0, n)).into_iter().collect();
        let init = vec![init; len.unwrap_or(1) as usize];
        self.net.vars.push(DataVar { name, var, lo, hi, is_bool: false, dims, init });
        Ok(Entity::Int { var, lo, hi, len })
    }

    fn process_named(&mut self, name: &Ident) -> Res<u32> {
        match self.processes.get(&name.name) {
            Some(&p) => Ok(p),
            None => {
                let near = nearest(&name.name, self.processes.keys().map(String::as_str));
                self.unknown("process", &name.name, name.span, near, "declare it before it is used: `process:name`")
            }
        }
    }

    fn event_named(&mut self, name: &Ident) -> Res<u32> {
        match self.events.get(&name.name) {
            Some(&e) => Ok(e),
            None => {
                let near = nearest(&name.name, self.events.keys().map(String::as_str));
                self.unknown("event", &name.name, name.span, near, "declare it before it is used: `event:name`")
            }
        }
    }

    fn location_named(&mut self, process: u32, name: &Ident) -> Res<u32> {
        match self.locations.get(&(process, name.name.clone())) {
            Some(&l) => Ok(l),
            None => {
                let p = &self.net.processes[process as usize];
                let near = nearest(&name.name, p.locations.iter().map(|l| l.name.as_str()));
                let help = format!("declare it before it is used: `location:{}:name`", shorten(&p.name));
                let what = format!("location in process `{}` named", shorten(&p.name));
                self.unknown(&what, &name.name, name.span, near, &help)
            }
        }
    }

    fn location(&mut self, l: &ast::Location, later: &mut Later) -> Res<()> {
        let process = self.process_named(&l.process)?;
        if self.locations.contains_key(&(process, l.name.name.clone())) {
            return self.twice(&format!("location of process `{}`", shorten(&l.process.name)), &l.name);
        }
        let index = self.net.processes[process as usize].locations.len() as u32;
        self.locations.insert((process, l.name.name.clone()), index);
        self.net.processes[process as usize].locations.push(Location {
            name: l.name.name.clone(),
            invariant: None,
            clock_invariant: Vec::new(),
            rates: Vec::new(),
            urgent: l.urgent,
            committed: l.committed,
        });
        for label in &l.labels {
            self.label(label, (process, index));
        }
        if let Some(span) = l.initial {
            let initial = &mut later.declared[process as usize].1;
            if initial.is_some() {
                let name = shorten(&l.process.name);
                let message = format!("process `{name}` has several initial locations, which is not supported");
                let help = "start in one location and let committed edges choose between the others";
                return self.error(span, message, help);
            }
            *initial = Some(span);
            self.net.processes[process as usize].init = index;
        }
        if let Some(e) = &l.invariant {
            self.new_unit(process);
            let (condition, atoms) = self.guard(e)?;
            let location = &mut self.net.processes[process as usize].locations[index as usize];
            location.clock_invariant = atoms;
            location.invariant = Some(condition).filter(|c| self.net.terms.as_bool(c.holds) != Some(true));
        }
        Ok(())
    }

    fn label(&mut self, label: &Ident, at: (u32, u32)) {
        let next = self.labels.len();
        let number = *self.label_numbers.entry(label.name.clone()).or_insert(next);
        if number == next {
            self.labels.push((label.name.clone(), Vec::new()));
        }
        let locations = &mut self.labels[number].1;
        if locations.last() != Some(&at) {
            locations.push(at);
        }
    }

    fn edge(&mut self, e: &ast::Edge, later: &mut Later) -> Res<()> {
        let process = self.process_named(&e.process)?;
        let source = self.location_named(process, &e.source);
        let target = self.location_named(process, &e.target);
        let event = self.event_named(&e.event);
        self.new_unit(process);
        let guard = match &e.guard {
            Some(g) => self.guard(g),
            None => Ok((self.always(), Vec::new())),
        };
        self.new_unit(process);
        let update = self.update(&e.update);
        let (source, target, event) = (source?, target?, event?);
        let ((guard, clock_guard), (update, resets)) = (guard?, update?);
        let touched = later.touched.entry((process, event)).or_default();
        super::stmt::names_in(&e.update, &mut touched.writes, &mut touched.names);
        let origin = later.events[process as usize].len() as u32;
        later.events[process as usize].push(event);
        let (line, column) = self.sources.line_col(e.span);
        let place = format!("{}:{line}:{column}", self.sources.get(e.span.source).name).into();
        self.net.processes[process as usize].edges.push(Edge {
            source,
            target,
            guard,
            clock_guard,
            sync: None,
            event: None,
            update,
            resets,
            origin,
            select: Vec::new(),
            place,
        });
        Ok(())
    }

    fn sync(&mut self, parts: &[ast::SyncPart], span: Span, later: &mut Later) -> Res<()> {
        let mut vector: Vec<VectorPart> = Vec::new();
        let mut result = Ok(());
        for part in parts {
            let (process, event) = (self.process_named(&part.process), self.event_named(&part.event));
            let (Ok(process), Ok(event)) = (process, event) else {
                result = Err(Reported);
                continue;
            };
            if vector.iter().any(|p| p.process == process) {
                let message = format!("process `{}` takes part twice", shorten(&part.process.name));
                return self.error(part.process.span, message, "name each process once in a synchronisation");
            }
            vector.push(VectorPart { process, event, weak: part.weak });
        }
        result?;
        if vector.len() < 2 {
            let help = "name two processes or more; an edge whose event is in no `sync` moves alone";
            return self.error(span, "one process does not synchronise", help);
        }
        later.syncs.push((vector, span));
        Ok(())
    }
}
