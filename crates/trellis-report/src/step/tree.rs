//! Hierarchical transition systems, one step after the other: a vector of each node, with the names of those that take part. That no event with
//! a name happens and everything stays as it is is not offered.

use std::borrow::Cow;

use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::evidence::Trace;

use super::{Error, MAX_OFFERS, Trail, Walkable, Walked, read_trace};
use crate::run::{Part, Step, Values};
use crate::words::unique;

/// A vector of each node, and the state that they lead to.
type Way = (Vec<u32>, Vec<u32>);

/// A walk through a tree.
pub type TreeStepper<'t> = Trail<Nodes<'t>>;

/// A tree, what its nodes are called, and where it may start.
pub struct Nodes<'t> {
    tree: Cow<'t, Tree>,
    names: Vec<String>,
    starts: Vec<Vec<u32>>,
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
        Trail::from(Nodes { tree, names, starts: starts.clone() }, starts)
    }
}

impl Nodes<'_> {
    /// Does no node take part with an event that has a name?
    fn is_silent(&self, vectors: &[u32]) -> bool {
        let event = |(n, &v): (usize, &u32)| {
            let node = &self.tree.nodes()[n];
            &node.events[node.vectors[v as usize][0] as usize]
        };
        vectors.iter().enumerate().map(event).all(String::is_empty)
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

impl Walkable for Nodes<'_> {
    type State = Vec<u32>;
    type Action = Vec<u32>;

    /// Where one step leads, and a vector for each node that leads there.
    fn next(&self, now: &Vec<u32>) -> Result<Vec<Way>, Error> {
        let all = self.tree.successors(now, MAX_OFFERS).map_err(|e| Error::Model(e.to_string()))?;
        let explained = all.into_iter().filter_map(|to| Some((self.tree.explain(now, &to)?, to)));
        Ok(explained.filter(|(vectors, to)| to != now || !self.is_silent(vectors)).collect())
    }

    fn values(&self, state: &Vec<u32>) -> Values {
        let nodes = self.tree.nodes().iter().zip(state);
        let places = nodes.map(|(n, &q)| n.behaviour.states[q as usize].clone().into());
        self.names.iter().cloned().zip(places).collect()
    }

    fn step(&self, before: &Vec<u32>, vectors: &Vec<u32>, after: &Vec<u32>) -> Step {
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
        Step { label: self.tree.show_step(vectors), parts, ..Step::default() }
    }

    fn retrace(&mut self, trace: &str) -> Result<Walked<Self>, Error> {
        let trace = read_trace(&*self.tree, trace)?;
        self.replayed(&trace)?;
        Ok((trace.states, trace.steps))
    }
}
