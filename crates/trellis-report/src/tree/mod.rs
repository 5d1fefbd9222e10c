//! Hierarchical transition systems: the systems themselves read from JSON, their traces as runs and back, their proofs as documents.

mod document;
mod evidence;
mod model;

use std::io;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trellis_expr::VarId;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::detach::Detached;
use trellis_model::hierarchy::tree::evidence::{Certificate, Trace};

use crate::evidence::{body, pretty};
use crate::present::{Body, Drawing, DrawnEdge, DrawnNode, Look, NodeShape, Present, ProofKind, Shown};
use crate::property::PropertyReport;
use crate::reader::{ReadError, plain};
use crate::run::{Part, Run, Step, Values};
use crate::words::unique;

pub use document::TreeDocument;
pub use model::{TREE, TreeFile, read_tree};

/// A report about a hierarchical transition system.
pub type TreeReport = PropertyReport<Trace, Certificate>;

/// In whose words states are shown.
#[derive(Clone, Copy)]
pub enum Words<'w> {
    /// Nodes, and the names of their states.
    States(&'w Tree),
    /// The variables of AltaRica's nodes.
    Variables(&'w Hierarchy, &'w Detached),
}

impl Words<'_> {
    /// The tree.
    pub fn tree(&self) -> &Tree {
        match self {
            Words::States(tree) => tree,
            Words::Variables(_, detached) => &detached.tree,
        }
    }

    /// The names of the nodes; that of the top is empty.
    fn names(&self) -> Vec<String> {
        let name =
            |n: &trellis_model::hierarchy::tree::Node| if n.name.is_empty() { "top".into() } else { n.name.clone() };
        unique(self.tree().nodes().iter().map(name))
    }

    /// What a state is in these words.
    fn values(&self, names: &[String], state: &[u32]) -> Values {
        match self {
            Words::States(tree) => {
                let of = |(n, &q): (usize, &u32)| tree.nodes()[n].behaviour.states[q as usize].as_str().into();
                names.iter().cloned().zip(state.iter().enumerate().map(of)).collect()
            }
            Words::Variables(hierarchy, detached) => {
                let one = |(n, &value): (usize, &i64)| {
                    let v = VarId(n as u32);
                    (hierarchy.variable(v).name.clone(), hierarchy.show_value(v, value).into())
                };
                detached.values(hierarchy, state).iter().enumerate().map(one).collect()
            }
        }
    }

    fn as_run(&self, trace: &Trace) -> Run {
        let (tree, names) = (self.tree(), self.names());
        let mut before = self.values(&names, &trace.states[0]);
        let start = before.clone();
        let mut steps = vec![];
        for (at, vectors) in trace.steps.iter().enumerate() {
            let now = self.values(&names, &trace.states[at + 1]);
            let set = now.iter().filter(|(name, v)| before.get(*name) != Some(v));
            let set = set.map(|(name, v)| (name.clone(), v.clone())).collect();
            let part = |(n, &vector): (usize, &u32)| {
                let state = |at: usize| {
                    let q = trace.states[at][n];
                    tree.nodes()[n].behaviour.states[q as usize].clone()
                };
                let (from, to) = (state(at), state(at + 1));
                // Nodes that do nothing and stay where they are need not be mentioned.
                let idle = vector == 0 && from == to;
                (!idle).then(|| Part {
                    name: names[n].clone(),
                    from: Some(from),
                    to: Some(to),
                    takes: vector.into(),
                    ..Part::default()
                })
            };
            let parts = vectors.iter().enumerate().filter_map(part).collect();
            steps.push(Step { label: tree.show_step(vectors), set, parts, ..Step::default() });
            before = now;
        }
        Run { view: Some("tree".into()), parts: names, start, steps, ..Run::default() }
    }
}

impl Present for Tree {
    type Trace = Trace;
    type Proof = Certificate;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        Ok(Words::States(self).as_run(trace))
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        let names = Words::States(self).names();
        let mut state = vec![u32::MAX; names.len()];
        set(self, &names, &run.start, "start", &mut state)?;
        if state.contains(&u32::MAX) {
            return Err(ReadError::found("start".into(), "a state for each node", &json!({})));
        }
        let mut trace = Trace { states: vec![state.clone()], steps: vec![] };
        for (i, step) in run.steps.iter().enumerate() {
            let mut vectors = vec![0; names.len()];
            for (k, part) in step.parts.iter().enumerate() {
                let at = |field: &str| format!("steps[{i}].parts[{k}].{field}");
                let Some(n) = names.iter().position(|n| *n == part.name) else {
                    return Err(ReadError::found(at("name"), "the name of a node", &part.name.as_str().into()));
                };
                let vector = part.takes.as_u64().filter(|v| (*v as usize) < self.nodes()[n].vectors.len());
                let Some(vector) = vector else {
                    return Err(ReadError::found(at("takes"), "the number of a vector of the node", &part.takes));
                };
                vectors[n] = vector as u32;
            }
            trace.steps.push(vectors);
            set(self, &names, &step.set, &format!("steps[{i}].set"), &mut state)?;
            trace.states.push(state.clone());
        }
        Ok(trace)
    }

    fn shown(&self, trace: &Trace) -> Shown {
        Words::States(self).shown(trace)
    }

    /// A frame for each node, in that of the one above it, with its states.
    fn drawing(&self) -> Drawing {
        let names = Words::States(self).names();
        let mut out = Drawing::default();
        let mut waiting = vec![(self.top(), None)];
        while let Some((n, within)) = waiting.pop() {
            let (node, frame) = (&self.nodes()[n], out.nodes.len());
            let lines = vec![names[n].clone()];
            out.nodes.push(DrawnNode { lines, within, shape: NodeShape::Frame, ..DrawnNode::default() });
            for (q, state) in node.behaviour.states.iter().enumerate() {
                let initial = node.behaviour.initial.contains(&(q as u32));
                let shape = if initial { NodeShape::Initial } else { NodeShape::Plain };
                let lit = vec![(names[n].clone(), Some(state.clone()))];
                let lines = vec![state.clone()];
                out.nodes.push(DrawnNode { lines, within: Some(frame), shape, lit, ..DrawnNode::default() });
            }
            for (q, moves) in node.behaviour.moves.iter().enumerate() {
                for &(event, to) in moves {
                    let lines = vec![node.events[event as usize].clone()];
                    let (from, to) = (frame + 1 + q, frame + 1 + to as usize);
                    out.edges.push(DrawnEdge { from, to, lines, ..DrawnEdge::default() });
                }
            }
            waiting.extend(node.subs.iter().rev().map(|&sub| (sub, Some(frame))));
        }
        out
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        let write = pretty(evidence::document(self, proof));
        Ok(Body { kind: ProofKind::Partition, assumes: vec![], write })
    }

    fn proof(&self, kind: &str, _: &[String], raw: &RawValue) -> Result<Certificate, ReadError> {
        evidence::read(self, body(ProofKind::Partition, kind, raw)?)
    }

    fn size(&self, c: &Certificate) -> Value {
        let blocks: u64 = c.blocks.iter().map(|of| of.iter().max().map_or(0, |m| u64::from(*m) + 1)).sum();
        json!({ "tuples": c.tuples.len(), "blocks": blocks })
    }
}

/// Evidence is that of the tree; only what is shown is in other words.
impl Present for Words<'_> {
    type Trace = Trace;
    type Proof = Certificate;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        self.tree().run(trace)
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        self.tree().trace(run)
    }

    fn shown(&self, trace: &Trace) -> Shown {
        let last = "what must never be".into();
        let look = Look { start: Some("initially".into()), indent: 2, last, ..Look::default() };
        Shown { run: self.as_run(trace), look }
    }

    fn drawing(&self) -> Drawing {
        self.tree().drawing()
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        self.tree().body(proof)
    }

    fn proof(&self, kind: &str, assumes: &[String], raw: &RawValue) -> Result<Certificate, ReadError> {
        self.tree().proof(kind, assumes, raw)
    }

    fn size(&self, c: &Certificate) -> Value {
        self.tree().size(c)
    }
}

/// Changes a state as values of nodes say.
fn set(tree: &Tree, names: &[String], values: &Values, path: &str, state: &mut [u32]) -> Result<(), ReadError> {
    for (name, value) in values {
        let at = || format!("{path}.{}", plain(name));
        let Some(n) = names.iter().position(|n| n == name) else {
            return Err(ReadError::found(at(), "names of nodes", value));
        };
        let states = &tree.nodes()[n].behaviour.states;
        match value.as_str().and_then(|text| states.iter().position(|s| s == text)) {
            Some(q) => state[n] = q as u32,
            None => return Err(ReadError::found(at(), "a state of the node", value)),
        }
    }
    Ok(())
}
