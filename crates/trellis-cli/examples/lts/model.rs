//! What a labelled transition system is, and the words for it.

use std::io;

use trellis::formalism::prelude::*;

/// States with names, steps with labels.
#[derive(Clone, Default)]
pub struct Lts {
    pub states: Vec<String>,
    pub start: usize,
    pub steps: Vec<(usize, String, usize)>,
    /// What must never be reached.
    pub errors: Vec<usize>,
}

/// What it means. Search, replay and certification follow: a run is the numbers of its steps, a proof is a list of states.
impl System for Lts {
    type State = usize;
    type Action = usize;

    fn initial(&self) -> Vec<usize> {
        vec![self.start]
    }

    fn steps(&self, state: &usize) -> Vec<(usize, usize)> {
        let all = self.steps.iter().enumerate();
        all.filter(|(_, step)| step.0 == *state).map(|(n, step)| (n, step.2)).collect()
    }

    fn is_bad(&self, state: &usize) -> bool {
        self.errors.contains(state)
    }
}

/// What a walk shows of it.
impl Walkable for Lts {
    type State = usize;
    type Action = usize;

    fn next(&self, state: &usize) -> Result<Vec<(usize, usize)>, StepError> {
        Ok(System::steps(self, state))
    }

    fn values(&self, state: &usize) -> Values {
        Values::from_iter([("state".into(), self.states[*state].clone().into())])
    }

    fn step(&self, from: &usize, number: &usize, to: &usize) -> Step {
        let place = |state: &usize| Some(self.states[*state].clone());
        let part =
            Part { name: "state".into(), from: place(from), to: place(to), takes: (*number).into(), ..Part::default() };
        Step { label: self.steps[*number].1.clone(), parts: vec![part], ..Step::default() }
    }

    fn retrace(&mut self, trace: &str) -> Result<Walked<Self>, StepError> {
        let trace = read_trace(self, trace)?;
        let states = self.walk(&trace).map_err(|_| StepError::refused("it is no run of this model"))?;
        Ok((states, trace))
    }
}

/// All pictures, pages and files are made of this.
impl Present for Lts {
    type Trace = Vec<usize>;
    type Proof = Vec<usize>;

    fn run(&self, trace: &Vec<usize>) -> io::Result<Run> {
        let states = self.walk(trace).map_err(|_| io::Error::other("it is no run of this model"))?;
        Ok(Run { parts: vec!["state".into()], ..Walkable::run(self, &states, trace) })
    }

    fn trace(&self, run: &Run) -> Result<Vec<usize>, ReadError> {
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
            let lit = vec![("state".into(), Some(name.clone()))];
            DrawnNode { lines: vec![name.clone()], shape: shape(n), lit, ..DrawnNode::default() }
        };
        let edge = |(from, label, to): &(usize, String, usize)| {
            let lines = vec![label.clone()];
            DrawnEdge { from: *from, to: *to, lines, ..DrawnEdge::default() }
        };
        let nodes = self.states.iter().enumerate().map(node).collect();
        Drawing { nodes, edges: self.steps.iter().map(edge).collect() }
    }

    fn body<'a>(&'a self, proof: &'a Vec<usize>) -> io::Result<Body<'a>> {
        Ok(Body::json(ProofKind::States, proof))
    }

    fn proof(&self, _: &str, _: &[String], body: &RawValue) -> Result<Vec<usize>, ReadError> {
        let states: Vec<usize> = serde_json::from_str(body.get()).map_err(|e| ReadError::Syntax(e.to_string()))?;
        match states.iter().find(|s| **s >= self.states.len()) {
            Some(none) => Err(ReadError::Syntax(format!("there is no state {none}"))),
            None => Ok(states),
        }
    }

    fn size(&self, proof: &Vec<usize>) -> Value {
        json!({ "states": proof.len() })
    }
}
