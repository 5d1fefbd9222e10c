//! Hierarchical transition systems, one step after the other: a vector of each node, with the names of those that take part. That no event with
//! a name happens and everything stays as it is is not offered.

use std::borrow::Cow;

use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::evidence::Trace;

use super::{Ask, Choices, Error, MAX_OFFERS, Stepper, changes, no_offer};
use crate::json::{self, Content};
use crate::run::{Part, Run, Step, Values};
use crate::words::unique;

/// A vector of each node, and the state that they lead to.
type Way = (Vec<u32>, Vec<u32>);

/// A walk through a tree.
pub struct TreeStepper<'t> {
    tree: Cow<'t, Tree>,
    names: Vec<String>,
    starts: Vec<Vec<u32>>,
    /// Has the start been chosen, if there is a choice?
    started: bool,
    /// At least one state.
    walk: Trace,
}

impl<'t> TreeStepper<'t> {
    /// A walk that has not begun. It fails if nothing is initial, or too much to list.
    pub fn new(tree: Cow<'t, Tree>) -> Result<TreeStepper<'t>, Error> {
        let called = |name: &String| if name.is_empty() { "top".to_string() } else { name.clone() };
        let names = unique(tree.nodes().iter().map(|n| called(&n.name)));
        let mut starts: Vec<Vec<u32>> = vec![vec![]];
        for node in tree.nodes() {
            let initial = &node.behaviour.initial;
            let longer = |row: &Vec<u32>| initial.iter().map(|q| [row.as_slice(), &[*q]].concat()).collect::<Vec<_>>();
            starts = starts.iter().flat_map(longer).collect();
            if starts.len() > MAX_OFFERS {
                return Err(Error::Model("there are too many initial states to list".into()));
            }
        }
        let Some(first) = starts.first().cloned() else {
            return Err(Error::Model("no state is initial".into()));
        };
        let started = starts.len() == 1;
        Ok(TreeStepper { tree, names, starts, started, walk: Trace { states: vec![first], steps: vec![] } })
    }

    /// The walk so far.
    pub fn trace(&self) -> &Trace {
        &self.walk
    }

    fn now(&self) -> &[u32] {
        self.walk.states.last().expect("there is a start")
    }

    /// Where one step leads, and a vector for each node that leads there.
    fn next(&self) -> Result<Vec<Way>, Error> {
        let all = self.tree.successors(self.now(), MAX_OFFERS).map_err(|e| Error::Model(e.to_string()))?;
        let explained = all.into_iter().filter_map(|to| Some((self.tree.explain(self.now(), &to)?, to)));
        Ok(explained.filter(|(vectors, to)| to != self.now() || !self.is_silent(vectors)).collect())
    }

    /// Does no node take part with an event that has a name?
    fn is_silent(&self, vectors: &[u32]) -> bool {
        let event = |(n, &v): (usize, &u32)| {
            let node = &self.tree.nodes()[n];
            &node.events[node.vectors[v as usize][0] as usize]
        };
        vectors.iter().enumerate().map(event).all(String::is_empty)
    }

    fn values(&self, state: &[u32]) -> Values {
        let nodes = self.tree.nodes().iter().zip(state);
        let places = nodes.map(|(n, &q)| n.behaviour.states[q as usize].clone().into());
        self.names.iter().cloned().zip(places).collect()
    }

    fn step(&self, before: &[u32], vectors: &[u32], after: &[u32]) -> Step {
        let mut parts = vec![];
        for (n, node) in self.tree.nodes().iter().enumerate().rev() {
            let event = &node.events[node.vectors[vectors[n] as usize][0] as usize];
            let place = |q: u32| Some(node.behaviour.states[q as usize].clone());
            if !event.is_empty() || before[n] != after[n] {
                let (from, to) = (place(before[n]), place(after[n]));
                parts.push(Part {
                    name: self.names[n].clone(),
                    from,
                    to,
                    takes: event.clone().into(),
                    ..Part::default()
                });
            }
        }
        let label = self.tree.show_step(vectors);
        Step { label, set: changes(&self.values(before), &self.values(after)), parts, ..Step::default() }
    }

    fn replayed(&self, trace: &Trace) -> Result<(), Error> {
        let Some(first) = trace.states.first() else { return Err(Error::refused("the trace is empty")) };
        if !self.starts.contains(first) {
            return Err(Error::refused("the first state is not initial"));
        }
        let nodes = self.tree.nodes();
        for (at, vectors) in trace.steps.iter().enumerate() {
            let refuse = |why: &str| Err(Error::Refused(format!("step {}: {why}", at + 1)));
            let (Some(from), Some(to)) = (trace.states.get(at), trace.states.get(at + 1)) else {
                return refuse("there must be one state more than steps");
            };
            let offers = self.tree.offers(from);
            for (n, node) in nodes.iter().enumerate() {
                let Some(vector) = vectors.get(n).and_then(|&v| node.vectors.get(v as usize)) else {
                    return refuse("a node has no such vector");
                };
                let asked = |(&sub, &e): (&usize, &u32)| {
                    nodes[sub].vectors.get(vectors[sub] as usize).is_some_and(|v| v[0] == e)
                };
                let moves = node.behaviour.targets(from[n], vector[0]).any(|q| q == to[n]);
                let offered = offers.vectors[n].contains(&(vectors[n] as usize));
                if !moves || !offered || !node.subs.iter().zip(&vector[1..]).all(asked) {
                    return refuse(&format!("`{}` cannot do this here", self.names[n]));
                }
            }
        }
        Ok(())
    }
}

impl Stepper for TreeStepper<'_> {
    fn state(&self) -> Values {
        self.values(self.now())
    }

    fn choices(&self) -> Result<Choices, Error> {
        if !self.started {
            let offers = super::starts(&self.state(), self.starts.iter().map(|s| self.values(s)));
            return Ok(Choices { ask: Ask::Start, offers, ..Choices::default() });
        }
        let offers = self.next()?.iter().map(|(vectors, to)| self.step(self.now(), vectors, to)).collect();
        Ok(Choices { offers, ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        if !self.started {
            self.walk.states = vec![self.starts.get(offer).ok_or_else(|| no_offer(offer))?.clone()];
            self.started = true;
            return Ok(());
        }
        let (vectors, to) = self.next()?.into_iter().nth(offer).ok_or_else(|| no_offer(offer))?;
        self.walk.steps.push(vectors);
        self.walk.states.push(to);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        if self.walk.steps.pop().is_some() {
            self.walk.states.pop();
            return true;
        }
        let chosen = self.started && self.starts.len() > 1;
        if chosen {
            self.started = false;
            self.walk.states = vec![self.starts[0].clone()];
        }
        chosen
    }

    fn steps(&self) -> usize {
        self.walk.steps.len()
    }

    fn run(&self) -> Run {
        let all = &self.walk.states;
        let step = |(n, vectors): (usize, &Vec<u32>)| self.step(&all[n], vectors, &all[n + 1]);
        let steps = self.walk.steps.iter().enumerate().map(step).collect();
        Run { start: self.values(&all[0]), steps, ..Run::default() }
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let content = json::read(&*self.tree, trace).map_err(|e| Error::refused(e.to_string()))?;
        let Content::Trace(trace) = content else {
            return Err(Error::refused("it is a certificate; only traces can be replayed"));
        };
        self.replayed(&trace)?;
        (self.walk, self.started) = (trace, true);
        Ok(())
    }
}
