//! What a labelled transition system is, what its evidence means, and how all that is shown.

use std::collections::BTreeSet;
use std::io;

use trellis::formalism::prelude::*;

/// States with names, steps with labels.
#[derive(Default)]
pub struct Lts {
    pub states: Vec<String>,
    pub start: usize,
    pub steps: Vec<(usize, String, usize)>,
    pub errors: Vec<usize>,
}

/// A run: the numbers of the steps taken.
pub type Trace = Vec<usize>;
/// A proof: states that no step leaves.
pub type Closed = BTreeSet<usize>;

impl Lts {
    /// The interpreter. Where a run leads; why it is none.
    pub fn walk(&self, trace: &[usize]) -> Result<usize, String> {
        trace.iter().enumerate().try_fold(self.start, |at, (n, &step)| match self.steps.get(step) {
            Some(&(from, _, to)) if from == at => Ok(to),
            _ => Err(format!("step {} does not begin in `{}`", n + 1, self.states[at])),
        })
    }

    /// Does a proof show that a state is never reached?
    pub fn closed(&self, bad: usize, proof: &Closed) -> Result<(), String> {
        let leaves = self.steps.iter().find(|s| proof.contains(&s.0) && !proof.contains(&s.2));
        match (proof.contains(&self.start), proof.contains(&bad), leaves) {
            (false, ..) => Err("the start is not among the states".into()),
            (_, true, _) => Err(format!("`{}` is among the states", self.states[bad])),
            (.., Some((_, label, to))) => Err(format!("`{label}` leaves the states, to `{}`", self.states[*to])),
            _ => Ok(()),
        }
    }

    fn place(&self, state: usize) -> Values {
        Values::from_iter([("state".into(), self.states[state].clone().into())])
    }

    /// A step as it is shown, and as [`Present::trace`] reads it again.
    pub fn step(&self, number: usize) -> Step {
        let (from, label, to) = &self.steps[number];
        let (from, set) = (Some(self.states[*from].clone()), self.place(*to));
        let to = Some(self.states[*to].clone());
        let part = Part { name: "state".into(), from, to, takes: number.into(), ..Part::default() };
        Step { label: label.clone(), set, parts: vec![part], ..Step::default() }
    }
}

/// The question whether a state can be reached.
pub struct Asked<'a>(pub &'a Lts, pub usize);

impl System for Asked<'_> {
    type State = usize;
    type Action = usize;

    fn initial(&self) -> Vec<usize> {
        vec![self.0.start]
    }

    fn steps(&self, state: &usize) -> Vec<(usize, usize)> {
        let all = self.0.steps.iter().enumerate();
        all.filter(|(_, step)| step.0 == *state).map(|(n, step)| (n, step.2)).collect()
    }

    fn is_bad(&self, state: &usize) -> bool {
        *state == self.1
    }
}

/// All pictures, pages and files are made of this.
impl Present for Lts {
    type Trace = Trace;
    type Proof = Closed;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        let steps = trace.iter().map(|&n| self.step(n)).collect();
        Ok(Run { parts: vec!["state".into()], start: self.place(self.start), steps, ..Run::default() })
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        let number = |(n, step): (usize, &Step)| {
            let takes = step.parts.first().map_or(Value::Null, |p| p.takes.clone());
            let number = takes.as_u64().map(|t| t as usize).filter(|t| *t < self.steps.len());
            number.ok_or_else(|| ReadError::found(format!("steps[{n}]"), "the number of a step", &takes))
        };
        run.steps.iter().enumerate().map(number).collect()
    }

    fn drawing(&self) -> Drawing {
        let shape = |n: usize| match (n == self.start, self.errors.contains(&n)) {
            (true, _) => NodeShape::Initial,
            (_, true) => NodeShape::Error,
            _ => NodeShape::Plain,
        };
        let node = |(n, name): (usize, &String)| {
            let lit = Some(("state".into(), Some(name.clone())));
            DrawnNode { lines: vec![name.clone()], shape: shape(n), lit, ..DrawnNode::default() }
        };
        let edge = |s: &(usize, String, usize)| DrawnEdge { from: s.0, to: s.2, lines: vec![s.1.clone()] };
        Drawing {
            nodes: self.states.iter().enumerate().map(node).collect(),
            edges: self.steps.iter().map(edge).collect(),
        }
    }

    fn body<'a>(&'a self, proof: &'a Closed) -> io::Result<Body<'a>> {
        Ok(Body::json(ProofKind::States, proof))
    }

    fn proof(&self, _: &str, _: &[String], body: &RawValue) -> Result<Closed, ReadError> {
        serde_json::from_str(body.get()).map_err(|e| ReadError::Syntax(e.to_string()))
    }

    fn size(&self, proof: &Closed) -> Value {
        json!({ "states": proof.len() })
    }
}
