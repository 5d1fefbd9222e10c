//! A walk through any model whose interpreter lists what can happen: where to start, steps, taking them back, the run so far. A formalism only
//! says what its states and steps are called.

use serde_json::Value;

use super::{Ask, Choices, Error, Stepper, changes, no_offer};
use crate::run::{Run, Step, Values};

/// The states of a walk, and the actions between them.
pub type Walked<M> = (Vec<<M as Walkable>::State>, Vec<<M as Walkable>::Action>);

/// Actions, and the states they lead to.
pub type Next<M> = Vec<(<M as Walkable>::Action, <M as Walkable>::State)>;

/// A model as its reference interpreter knows it, with words for states and steps.
pub trait Walkable {
    /// A state.
    type State: Clone;
    /// What happens between two of them.
    type Action;

    /// What can happen in a state, and where that leads.
    fn next(&self, state: &Self::State) -> Result<Next<Self>, Error>;
    /// A state: names and values, in the order in which the model declares them.
    fn values(&self, state: &Self::State) -> Values;
    /// A step in words. What it sets is known from the states.
    fn step(&self, before: &Self::State, action: &Self::Action, after: &Self::State) -> Step;
    /// Reads a trace, and takes every step of it anew.
    fn retrace(&mut self, trace: &str) -> Result<Walked<Self>, Error>;

    /// What a person should know of a state.
    fn remark(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// Does a value go without saying?
    fn is_idle(&self, _value: &Value) -> bool {
        false
    }

    /// A step in words, with what it sets.
    fn told(&self, before: &Self::State, action: &Self::Action, after: &Self::State) -> Step {
        let set = changes(&self.values(before), &self.values(after));
        Step { set, ..self.step(before, action, after) }
    }

    /// A walk in words.
    fn run(&self, states: &[Self::State], actions: &[Self::Action]) -> Run {
        let steps = actions.iter().zip(states.windows(2)).map(|(action, s)| self.told(&s[0], action, &s[1]));
        Run { start: self.values(&states[0]), steps: steps.collect(), ..Run::default() }
    }
}

/// A walk through a model.
pub struct Trail<M: Walkable> {
    model: M,
    starts: Vec<M::State>,
    /// Has the start been chosen, if there is a choice?
    started: bool,
    /// At least one.
    states: Vec<M::State>,
    actions: Vec<M::Action>,
}

impl<M: Walkable> Trail<M> {
    /// A walk that has not begun, from one of these states.
    pub fn from(model: M, starts: Vec<M::State>) -> Result<Trail<M>, Error> {
        let first = starts.first().cloned().ok_or_else(|| Error::Model("no state is initial".into()))?;
        Ok(Trail { model, started: starts.len() == 1, starts, states: vec![first], actions: vec![] })
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The states on the way, the start first.
    pub fn states(&self) -> &[M::State] {
        &self.states
    }

    /// What happened between them.
    pub fn actions(&self) -> &[M::Action] {
        &self.actions
    }

    /// The state now.
    pub fn now(&self) -> &M::State {
        self.states.last().expect("there is a start")
    }
}

impl<M: Walkable> Stepper for Trail<M> {
    fn state(&self) -> Values {
        self.model.values(self.now())
    }

    fn choices(&self) -> Result<Choices, Error> {
        if !self.started {
            let offers = super::starts(&self.state(), self.starts.iter().map(|s| self.model.values(s)));
            return Ok(Choices { ask: Ask::Start, offers, ..Choices::default() });
        }
        let next = self.model.next(self.now())?;
        let offers = next.iter().map(|(action, to)| self.model.told(self.now(), action, to)).collect();
        Ok(Choices { offers, ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        if !self.started {
            self.states = vec![self.starts.get(offer).ok_or_else(|| no_offer(offer))?.clone()];
            self.started = true;
            return Ok(());
        }
        let (action, to) = self.model.next(self.now())?.into_iter().nth(offer).ok_or_else(|| no_offer(offer))?;
        self.actions.push(action);
        self.states.push(to);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        if self.actions.pop().is_some() {
            self.states.pop();
            return true;
        }
        let chosen = self.started && self.starts.len() > 1;
        if chosen {
            self.started = false;
            self.states = vec![self.starts[0].clone()];
        }
        chosen
    }

    fn steps(&self) -> usize {
        self.actions.len()
    }

    fn run(&self) -> Run {
        self.model.run(&self.states, &self.actions)
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let (states, actions) = self.model.retrace(trace)?;
        if states.len() != actions.len() + 1 {
            return Err(Error::refused("there must be one state more than steps"));
        }
        (self.states, self.actions, self.started) = (states, actions, true);
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        self.model.remark(self.now())
    }

    fn is_idle(&self, _name: &str, value: &Value) -> bool {
        self.model.is_idle(value)
    }
}
