//! The steps of a network without clocks, for the checks of its certificates.
//!
//! They are the reference interpreter's. States are packed to be stored; that nothing is lost by it is seen each time.
//! Whoever asks for a quick check ([`quickly`]) gets the compiled steps of the engines instead: a bug in these may then make a verdict
//! wrong and its proof pass.

use std::cell::Cell;
use std::ops::ControlFlow;

use trellis_expr::Fault;
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Action, Condition, Judge, Layout, ModelError, Network, Packed, Post, Snapshot};
use trellis_order::Word;

thread_local! {
    static QUICK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a check of a network's certificate, with the engines' compiled steps or not. Does nothing to other checks.
pub fn quickly<T>(quick: bool, check: impl FnOnce() -> T) -> T {
    let before = QUICK.replace(quick);
    let result = check();
    QUICK.set(before);
    result
}

pub(crate) struct Steps<'n> {
    net: &'n Network,
    pub layout: Layout,
    interpreter: Interpreter<'n>,
    /// For quick checks.
    fast: Option<Post<'n>>,
}

/// Something that is asked of states.
pub(crate) struct Asked {
    condition: Condition,
    deadlock: bool,
    fast: Option<Judge>,
}

impl<'n> Steps<'n> {
    pub fn new(net: &'n Network) -> Steps<'n> {
        let fast = QUICK.get().then(|| Post::new(net));
        Steps { net, layout: Layout::new(net), interpreter: Interpreter::new(net), fast }
    }

    fn state(&self, key: &[Word], elem: &[Word]) -> Snapshot {
        self.layout.snapshot(self.net, key, elem)
    }

    fn packed(&self, state: Snapshot) -> Result<Packed, ModelError> {
        let key = self.layout.key_of(&state);
        if self.state(&key, &state.element) != state {
            let fault = Fault::Foreign("a state changes when it is packed".into());
            let action = Action(Vec::new());
            return Err(ModelError { fault, during: "packing", place: String::new(), state, action });
        }
        Ok((key, state.element))
    }

    pub fn initial(&mut self) -> Result<Packed, ModelError> {
        match &mut self.fast {
            Some(post) => post.initial(),
            None => self.packed(self.interpreter.initial()?),
        }
    }

    /// Shows what the steps lead to, with their numbers, apart from those that lead back to the state itself; answers how many
    /// there are, all counted.
    pub fn successors(
        &mut self,
        key: &[Word],
        elem: &[Word],
        visit: &mut impl FnMut(u32, &[Word], &[Word]) -> ControlFlow<()>,
    ) -> Result<u32, ModelError> {
        if let Some(post) = &mut self.fast {
            return post.successors(key, elem, visit);
        }
        let steps = self.interpreter.steps(&self.state(key, elem))?;
        let count = steps.len() as u32;
        for ((_, next), ordinal) in steps.into_iter().zip(0..) {
            let (k, x) = self.packed(next)?;
            if (&k[..], &x[..]) != (key, elem) && visit(ordinal, &k, &x).is_break() {
                break;
            }
        }
        Ok(count)
    }

    /// The step with this number.
    pub fn step(&self, key: &[Word], elem: &[Word], ordinal: u32) -> Option<(Action, Snapshot)> {
        self.interpreter.steps(&self.state(key, elem)).ok()?.into_iter().nth(ordinal as usize)
    }

    pub fn ask(&self, condition: Condition, deadlock: bool) -> Asked {
        Asked { condition, deadlock, fast: self.fast.as_ref().map(|post| post.compile(condition, deadlock)) }
    }

    /// What the answer is in a state, as a number.
    pub fn judge(&mut self, asked: &Asked, key: &[Word], elem: &[Word]) -> Result<i64, ModelError> {
        match (&mut self.fast, &asked.fast) {
            (Some(post), Some(judge)) => post.judge(judge, key, elem),
            _ => self.interpreter.number(&asked.condition, asked.deadlock, &self.state(key, elem)),
        }
    }

    pub fn may_idle(&self, key: &[Word], elem: &[Word]) -> Result<bool, ModelError> {
        self.interpreter.may_idle(&self.state(key, elem))
    }
}
