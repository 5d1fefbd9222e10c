//! A network as its parts, so that parts can be left out; and its text.

use std::fmt::Write;

use trellis_model::network::{Network, Query};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::tchecker;
use trellis_syntax::uppaal::parse_queries;

/// A network and questions about it.
#[derive(Clone, Default)]
pub struct Model {
    /// In TChecker's language rather than UPPAAL's.
    pub tchecker: bool,
    pub declarations: Vec<String>,
    pub processes: Vec<Process>,
    /// TChecker: `P0@a:P1@b?`.
    pub vectors: Vec<String>,
    pub queries: Vec<String>,
    /// Later processes go before earlier ones.
    pub ranked: bool,
}

#[derive(Clone, Default)]
pub struct Process {
    pub declarations: Vec<String>,
    /// The first is the initial one.
    pub locations: Vec<Location>,
    pub edges: Vec<Edge>,
}

#[derive(Clone, Default)]
pub struct Location {
    pub invariant: Vec<String>,
    pub urgent: bool,
    pub committed: bool,
}

#[derive(Clone, Default)]
pub struct Edge {
    pub source: usize,
    pub target: usize,
    pub select: Vec<String>,
    pub guard: Vec<String>,
    pub sync: Vec<String>,
    pub update: Vec<String>,
}

impl Model {
    pub fn text(&self) -> String {
        if self.tchecker { self.tchecker_text() } else { self.uppaal_text() }
    }

    /// With its queries.
    pub fn shown(&self) -> String {
        format!("{}\n// queries\n{}\n", self.text(), self.queries.join("\n"))
    }

    fn uppaal_text(&self) -> String {
        let mut t = self.declarations.iter().map(|d| format!("{d}\n")).collect::<String>();
        for (i, p) in self.processes.iter().enumerate() {
            _ = writeln!(t, "process P{i}() {{");
            p.declarations.iter().for_each(|d| _ = writeln!(t, "    {d}"));
            let state = |(l, at): (usize, &Location)| match at.invariant.is_empty() {
                true => format!("L{l}"),
                false => format!("L{l} {{ {} }}", at.invariant.join(" && ")),
            };
            let states: Vec<String> = p.locations.iter().enumerate().map(state).collect();
            _ = writeln!(t, "    state {};", states.join(", "));
            for mark in ["commit", "urgent"] {
                let has = |l: &usize| if mark == "commit" { p.locations[*l].committed } else { p.locations[*l].urgent };
                let all: Vec<String> = (0..p.locations.len()).filter(has).map(|l| format!("L{l}")).collect();
                if !all.is_empty() {
                    _ = writeln!(t, "    {mark} {};", all.join(", "));
                }
            }
            _ = writeln!(t, "    init L0;");
            let edges: Vec<String> = p.edges.iter().map(uppaal_edge).collect();
            if !edges.is_empty() {
                _ = writeln!(t, "    trans\n{};", edges.join(",\n"));
            }
            _ = writeln!(t, "}}");
        }
        let names: Vec<String> = (0..self.processes.len()).map(|i| format!("P{i}")).collect();
        _ = writeln!(t, "system {};", names.join(if self.ranked { " < " } else { ", " }));
        t
    }

    fn tchecker_text(&self) -> String {
        let mut t = "system:s\n".to_string();
        let all = self.processes.iter().flat_map(|p| &p.declarations);
        self.declarations.iter().chain(all).for_each(|d| _ = writeln!(t, "{d}"));
        let attributes = |all: &[(&str, String)]| all.iter().map(|(k, v)| format!("{k}:{v}")).collect::<Vec<_>>();
        for (i, p) in self.processes.iter().enumerate() {
            _ = writeln!(t, "process:P{i}");
            for (l, at) in p.locations.iter().enumerate() {
                let mut all = Vec::new();
                for (mark, has) in [("initial", l == 0), ("committed", at.committed), ("urgent", at.urgent)] {
                    all.extend(has.then(|| (mark, String::new())));
                }
                all.extend((!at.invariant.is_empty()).then(|| ("invariant", at.invariant.join(" && "))));
                _ = writeln!(t, "location:P{i}:L{l}{{{}}}", attributes(&all).join(" : "));
            }
            for e in &p.edges {
                let mut all = Vec::new();
                all.extend((!e.guard.is_empty()).then(|| ("provided", e.guard.join(" && "))));
                all.extend((!e.update.is_empty()).then(|| ("do", e.update.join("; "))));
                let event = e.sync.first().map_or("tau", |s| s);
                let attributes = attributes(&all).join(" : ");
                _ = writeln!(t, "edge:P{i}:L{}:L{}:{event}{{{attributes}}}", e.source, e.target);
            }
        }
        self.vectors.iter().for_each(|v| _ = writeln!(t, "sync:{v}"));
        t
    }

    /// Builds the network and its queries.
    pub fn load(&self) -> Result<(Network, Vec<Query>), String> {
        let queries: String = self.queries.iter().map(|q| format!("{q}\n")).collect();
        if self.tchecker { load_tchecker(&self.text(), &queries) } else { crate::load::load(&self.text(), &queries) }
    }

    /// Everything that one can get by leaving out one thing.
    fn smaller(&self) -> Vec<Model> {
        let mut all = Vec::new();
        let mut offer = |change: &dyn Fn(&mut Model)| {
            let mut m = self.clone();
            change(&mut m);
            all.push(m);
        };
        let last = self.processes.len() - 1;
        if last > 0 {
            offer(&|m| _ = m.processes.pop());
        }
        if self.ranked {
            offer(&|m| m.ranked = false);
        }
        for (i, p) in self.processes.iter().enumerate() {
            for e in (0..p.edges.len()).rev() {
                offer(&|m| _ = m.processes[i].edges.remove(e));
            }
            let is_unused = |l: usize| l > 0 && p.edges.iter().all(|e| e.source != l && e.target != l);
            if is_unused(p.locations.len() - 1) {
                offer(&|m| _ = m.processes[i].locations.pop());
            }
            for (e, edge) in p.edges.iter().enumerate() {
                let parts: [fn(&mut Edge) -> &mut Vec<String>; 4] =
                    [|e| &mut e.guard, |e| &mut e.update, |e| &mut e.sync, |e| &mut e.select];
                for part in parts {
                    for n in 0..part(&mut edge.clone()).len() {
                        offer(&|m| _ = part(&mut m.processes[i].edges[e]).remove(n));
                    }
                }
                if edge.target != edge.source {
                    offer(&|m| m.processes[i].edges[e].target = edge.source);
                }
            }
            for (l, at) in p.locations.iter().enumerate() {
                for n in 0..at.invariant.len() {
                    offer(&|m| _ = m.processes[i].locations[l].invariant.remove(n));
                }
                if at.committed || at.urgent {
                    offer(&|m| {
                        m.processes[i].locations[l].committed = false;
                        m.processes[i].locations[l].urgent = false;
                    });
                }
            }
            for d in 0..p.declarations.len() {
                offer(&|m| _ = m.processes[i].declarations.remove(d));
            }
        }
        for d in 0..self.declarations.len() {
            offer(&|m| _ = m.declarations.remove(d));
        }
        for v in 0..self.vectors.len() {
            offer(&|m| _ = m.vectors.remove(v));
        }
        for q in 0..self.queries.len() {
            offer(&|m| _ = m.queries.remove(q));
        }
        all
    }

    /// Leaves out what can be left out so that the model still fails; answers what is left and why it fails.
    pub fn shrink(&self, why: String, fails: &mut dyn FnMut(&Model) -> Option<String>) -> (Model, String) {
        let (mut best, mut why) = (self.clone(), why);
        let mut tries = 4000;
        'again: loop {
            for m in best.smaller() {
                tries -= 1;
                if tries == 0 {
                    break 'again;
                }
                if m.load().is_err() {
                    continue;
                }
                if let Some(now) = fails(&m) {
                    (best, why) = (m, now);
                    continue 'again;
                }
            }
            break;
        }
        (best, why)
    }
}

fn uppaal_edge(e: &Edge) -> String {
    let mut t = format!("        L{} -> L{} {{ ", e.source, e.target);
    for (word, parts, between) in
        [("select", &e.select, ", "), ("guard", &e.guard, " && "), ("sync", &e.sync, ""), ("assign", &e.update, ", ")]
    {
        if !parts.is_empty() {
            _ = write!(t, "{word} {}; ", parts.join(between));
        }
    }
    t + "}"
}

/// Builds a TChecker model and its queries, or says what is wrong with it.
pub fn load_tchecker(model: &str, queries: &str) -> Result<(Network, Vec<Query>), String> {
    let mut sources = Sources::default();
    let id = sources.add("model.txt", model);
    let (ast, errors) = tchecker::parse(id, model);
    let Some(ast) = ast.filter(|_| errors.is_empty()) else { return Err(render(&errors, &sources, false)) };
    let id = sources.add("queries.q", queries);
    let (queries, errors) = parse_queries(id, queries);
    if !errors.is_empty() {
        return Err(render(&errors, &sources, false));
    }
    let questions = tchecker::Questions { queries, ..tchecker::Questions::default() };
    match tchecker::build(&ast, &questions, &sources) {
        Ok(built) => Ok((built.network, built.queries)),
        Err(errors) => Err(render(&errors, &sources, false)),
    }
}
