//! Paths: through the graph of an exploration, and replayed without it.

use trellis_order::Word;

use crate::{State, System};

/// States and the steps between them: one state more than steps (or nothing at all).
#[derive(Debug, Clone)]
pub struct Path<A> {
    /// The states.
    pub states: Vec<State>,
    /// The steps.
    pub actions: Vec<A>,
}

impl<A> Path<A> {
    /// Nothing at all.
    pub fn empty() -> Path<A> {
        Path { states: Vec::new(), actions: Vec::new() }
    }
}

/// States and how each was first reached.
pub trait Origins {
    /// Key and element of a node.
    fn state(&self, n: u32) -> (&[Word], &[Word]);
    /// From which node it was first reached, and by which of its steps; nothing for a start.
    fn from(&self, n: u32) -> Option<(u32, u32)>;

    /// The nodes on the way from the start to a node, along first parents.
    fn path(&self, node: u32) -> Vec<u32> {
        let parent = |&n: &u32| self.from(n).map(|(parent, _)| parent);
        let mut path: Vec<u32> = std::iter::successors(Some(node), parent).collect();
        path.reverse();
        path
    }
}

/// The path through the graph to a node, along first parents. Where states were joined on the way it is an abstracted
/// path (000 Def. 4): each step leads to or below the next state.
pub fn path_to<S: System>(system: &mut S, graph: &impl Origins, nodes: &[u32]) -> Result<Path<S::Action>, S::Error> {
    let state = |n: u32| {
        let (key, elem) = graph.state(n);
        (key.to_vec(), elem.to_vec())
    };
    let mut path = Path { states: nodes.iter().map(|&n| state(n)).collect(), actions: Vec::new() };
    for pair in nodes.windows(2) {
        let via = graph.from(pair[1]).map_or(0, |(_, via)| via);
        path.actions.push(step(system, graph, pair[0], via)?);
    }
    path.actions = system.unfold(&path)?;
    Ok(path)
}

/// The step that was taken from a node under an ordinal.
pub fn step<S: System>(system: &mut S, graph: &impl Origins, node: u32, ordinal: u32) -> Result<S::Action, S::Error> {
    let (key, elem) = graph.state(node);
    Ok(system.action(key, elem, ordinal)?.expect("a step that was taken can be taken again"))
}

/// What a replay answers: the states, or the number of the first step that is not enabled.
pub type Replay = Result<Vec<State>, usize>;

/// Takes steps one after the other, without joins (000 Def. 5).
pub fn replay<S: System>(system: &mut S, from: &State, actions: &[S::Action]) -> Result<Replay, S::Error> {
    let mut states = vec![from.clone()];
    for (i, a) in actions.iter().enumerate() {
        let (key, elem) = &states[i];
        match system.take(key, elem, a)? {
            Some(next) => states.push(next),
            None => return Ok(Err(i)),
        }
    }
    Ok(Ok(states))
}
