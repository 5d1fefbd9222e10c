//! Paths: through the graph of an exploration, and replayed without it.

use crate::arg::Arg;
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

/// The path through the graph to a node, along first parents. Where states were joined on the way it is an abstracted
/// path (000 Def. 4): each step leads to or below the next state.
pub fn path_to<S: System>(system: &mut S, arg: &Arg, nodes: &[u32]) -> Result<Path<S::Action>, S::Error> {
    let state = |n: u32| {
        let (key, elem) = arg.state(n);
        (key.to_vec(), elem.to_vec())
    };
    let mut path = Path { states: nodes.iter().map(|&n| state(n)).collect(), actions: Vec::new() };
    for pair in nodes.windows(2) {
        path.actions.push(step(system, arg, pair[0], arg.nodes[pair[1] as usize].via)?);
    }
    path.actions = system.unfold(&path)?;
    Ok(path)
}

/// The step that was taken from a node under an ordinal.
pub fn step<S: System>(system: &mut S, arg: &Arg, node: u32, ordinal: u32) -> Result<S::Action, S::Error> {
    let (key, elem) = arg.state(node);
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
