//! Networks of automata, with or without clocks and lattices: their traces as runs (`run`), their certificates as documents (`body`,
//! `read`) and for people (`certificate`), and the network itself as a picture (`label`).
//!
//! A `Renderer` is what these have in common: the names of all parts, what moves in a step, how a value is written.

pub(crate) mod body;
pub(crate) mod certificate;
mod label;
mod names;
mod picture;
mod read;
mod run;
mod xtr;

use std::fmt;

use trellis_domain::zone::Rational;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Action, Condition, DataVar, Edge, EdgeRef, Network, Snapshot, Trace};
use trellis_order::{Shown, Word};

use crate::property::{Ending, Kind, Outcome};
use crate::time;
use crate::words::cut;
use names::Names;

/// A network, ready to be talked about.
pub(crate) struct Renderer<'n> {
    pub net: &'n Network,
    pub names: Names,
    interpreter: Interpreter<'n>,
}

/// One edge of a step.
pub(crate) struct Transition<'a> {
    pub process: &'a str,
    pub from: &'a str,
    pub to: &'a str,
    pub edge: &'a Edge,
    /// The channel it synchronises on, and whether it sends.
    pub channel: Option<(String, bool)>,
}

impl<'n> Renderer<'n> {
    pub fn new(net: &'n Network) -> Renderer<'n> {
        Renderer { net, names: Names::new(net), interpreter: Interpreter::new(net) }
    }

    /// What moves, given the state before.
    pub fn moves<'a>(&'a self, before: &Snapshot, action: &Action) -> Vec<Transition<'a>> {
        action.0.iter().map(|e| self.one_move(before, *e)).collect()
    }

    fn one_move<'a>(&'a self, before: &Snapshot, e: EdgeRef) -> Transition<'a> {
        let p = e.process as usize;
        let edge = &self.net.processes[p].edges[e.edge as usize];
        let location = |l: u32| self.names.locations[p][l as usize].as_str();
        Transition {
            process: &self.names.processes[p],
            from: location(edge.source),
            to: location(edge.target),
            edge,
            channel: edge.sync.map(|s| (self.channel(before, s.base, s.index.map(condition)), s.send)),
        }
    }

    /// The name of a channel; which one of an array may depend on the state.
    fn channel(&self, before: &Snapshot, base: u32, index: Option<Condition>) -> String {
        let index = match index {
            None => Some(0),
            Some(c) => self
                .net
                .terms
                .as_int(c.holds)
                .or_else(|| self.interpreter.number(&c, false, before).ok())
                .and_then(|n| usize::try_from(n).ok()),
        };
        let channel = index.and_then(|i| self.net.channels.get(base as usize + i));
        channel.map_or_else(|| format!("channel {base}"), |c| c.name.clone())
    }

    /// How one cell is written.
    pub fn cell(&self, var: &DataVar, value: i64) -> String {
        match value {
            0 if var.is_bool => "false".into(),
            1 if var.is_bool => "true".into(),
            n => n.to_string(),
        }
    }

    /// A lattice variable's value.
    pub fn lattice(&self, i: usize, element: &[Word]) -> String {
        let l = &self.net.lattices[i];
        cut(&Shown(&*l.lattice, &element[l.offset..l.offset + l.lattice.width()]))
    }

    /// All locations: `DB.Idle`, `User(0).Idle`.
    pub fn locations(&self, state: &Snapshot) -> Vec<String> {
        let name =
            |(p, &l): (usize, &u32)| format!("{}.{}", self.names.processes[p], self.names.locations[p][l as usize]);
        state.locations.iter().enumerate().map(name).collect()
    }

    /// All variables, lattices and clocks, arrays as a whole: `x = 1`, `a = [0, 0]`.
    pub fn values(&self, state: &Snapshot) -> Vec<String> {
        self.values_known(state, &[])
    }

    /// As [`values`](Self::values); a cell that is not known is a `*`, and so is an array of such. Without a list, all are
    /// known.
    pub fn values_known(&self, state: &Snapshot, known: &[bool]) -> Vec<String> {
        let mut out = Vec::new();
        let mut at = 0;
        for v in &self.net.vars {
            let cell = |i: usize| known.get(i).is_none_or(|k| *k).then_some(state.data[i]);
            let cells: Vec<Option<i64>> = (at..at + v.init.len()).map(cell).collect();
            out.push(match v.dims.is_empty() {
                true => format!("{} = {}", self.names.cells[at], self.known(v, cells[0])),
                false if !cells.is_empty() && cells.iter().all(Option::is_none) => format!("{} = *", v.name),
                false => format!("{} = {}", v.name, cut(&Array(self, v, &cells))),
            });
            at += v.init.len();
        }
        for (i, name) in self.names.lattices.iter().enumerate() {
            out.push(format!("{name} = {}", self.lattice(i, &state.element)));
        }
        out.extend(self.clocks(&state.clocks));
        out
    }

    fn known(&self, var: &DataVar, value: Option<i64>) -> String {
        value.map_or_else(|| "*".into(), |n| self.cell(var, n))
    }

    /// `x = 2.5`, `y = 7/3`.
    pub fn clocks(&self, values: &[Rational]) -> Vec<String> {
        self.names.clocks.iter().zip(values).map(|(name, v)| format!("{name} = {}", time::exact(*v))).collect()
    }

    /// How the run of a report ends.
    pub fn ending(&self, kind: Kind, outcome: Outcome, trace: &Trace) -> Ending {
        if outcome == Outcome::Error {
            Ending::Error
        } else if trace.back_to.is_some() {
            Ending::Loop
        } else if !kind.is_liveness() {
            Ending::Target
        } else {
            let last = trace.last();
            let end = Snapshot { clocks: later(&last.clocks, trace.rest).unwrap_or_default(), ..last.clone() };
            // Without their values nothing can be asked about clocks.
            let known = end.clocks.len() == self.net.clocks.len();
            let dead = known && self.interpreter.is_deadlocked(&end).unwrap_or(false);
            if dead { Ending::Deadlock } else { Ending::Idle }
        }
    }
}

/// How a run that shows something about a query of this kind ends.
pub fn ending(net: &Network, kind: Kind, trace: &Trace) -> Ending {
    Renderer::new(net).ending(kind, Outcome::Unknown, trace)
}

fn condition((prepare, holds): (trellis_expr::StmtId, trellis_expr::TermId)) -> Condition {
    Condition { prepare, holds }
}

/// The values of clocks after a while; nothing if they become unreasonable.
pub(crate) fn later(clocks: &[Rational], delay: Rational) -> Option<Vec<Rational>> {
    clocks.iter().map(|c| time::plus(*c, delay)).collect()
}

/// `[[0, 1], [2, 3]]`.
struct Array<'a, 'n>(&'a Renderer<'n>, &'a DataVar, &'a [Option<i64>]);

impl fmt::Display for Array<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Array(renderer, var, cells) = self;
        for (i, &value) in cells.iter().enumerate() {
            // A cell opens (and closes) the dimensions whose first (last) it is.
            let edges = |at: usize| {
                let mut size = 1;
                let inner = |&&(_, len): &&(i64, i64)| {
                    size *= (len as usize).max(1);
                    at.is_multiple_of(size)
                };
                var.dims.iter().rev().take_while(inner).count()
            };
            f.write_str(if i == 0 { "" } else { ", " })?;
            f.write_str(&"[".repeat(edges(i)))?;
            f.write_str(&renderer.known(var, value))?;
            f.write_str(&"]".repeat(edges(i + 1)))?;
        }
        Ok(())
    }
}

/// A certificate: how large it is, then the entries of the first so many keys, with their zones.
pub fn certificate_text(net: &Network, c: &trellis_model::network::Certificate, most: usize) -> String {
    format!("{}\n{}", certificate::summary(net, c), certificate::show(&Renderer::new(net), c, most))
}

/// A certificate for a page: how large it is, and the entries of the first so many keys.
pub fn certificate_parts(net: &Network, c: &trellis_model::network::Certificate, most: usize) -> (String, String) {
    (certificate::summary(net, c), certificate::show(&Renderer::new(net), c, most))
}

/// How large a certificate is.
pub fn certificate_summary(net: &Network, c: &trellis_model::network::Certificate) -> String {
    certificate::summary(net, c)
}

/// A state in full: locations, then variables, lattices and clocks.
pub fn state(net: &Network, state: &Snapshot) -> String {
    let renderer = Renderer::new(net);
    let mut out = crate::words::wrap(&renderer.locations(state), 0);
    out.push_str(&crate::words::wrap(&renderer.values(state), 0));
    out
}
