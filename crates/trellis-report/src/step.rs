//! A model, one step after the other: what `trellis simulate` and every other place that lets a person walk through a model asks of a
//! formalism.
//!
//! A [`Stepper`] knows where it is, what can be done there, and how it came there. It speaks in the model's own words: names, values, labels
//! ([`crate::run`]). Implementors take their steps with the reference interpreters of `trellis-model` and with nothing else, so what a person
//! sees here is what evidence is checked against.
//!
//! It deliberately knows nothing of terminals, random numbers or files: who asks draws, prints and reads.

pub mod counter;
pub mod hierarchy;
pub mod network;
pub mod program;
pub mod text;
mod trail;
pub mod tree;
mod walk;
mod ways;
pub mod zones;

pub use serde_json::Value;
pub use trail::{Trail, Walkable, Walked};

use crate::json::{self, Content};
use crate::present::Present;
use crate::run::{Run, Step, Values};

/// So many offers are listed at most; where there are more, a person can do nothing with the list.
pub const MAX_OFFERS: usize = 1000;

/// Why something cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model is at fault here, or what it does here takes too long to find out.
    #[error("model error: {0}")]
    Model(String),
    /// What was asked for is not possible here; something else may be.
    #[error("{0}")]
    Refused(String),
}

impl Error {
    /// What was asked for is not possible here.
    pub fn refused(why: impl Into<String>) -> Error {
        Error::Refused(why.into())
    }
}

/// What a choice is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ask {
    /// Which step to take.
    #[default]
    Step,
    /// Where to start: there are several initial states.
    Start,
    /// A step has begun, and the model leaves a value open: which one. The offers are some of the values; [`Stepper::input`] takes any.
    Input(Input),
}

/// A value that the model leaves open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// What gets the value.
    pub name: String,
    /// What values it may have, in words.
    pub domain: String,
}

/// How long time may pass in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// Without limit.
    Forever,
    /// Not at all.
    Never,
    /// So long, an exact number.
    UpTo(String),
    /// For less than that.
    Below(String),
    /// The clocks have values for which this is not worked out.
    Unknown,
}

/// What can be done in a state.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// What is to be chosen.
    pub ask: Ask,
    /// What may be chosen, by position: the step that it would be. Of a start, what has another value than in the start shown now.
    pub offers: Vec<Step>,
    /// What is possible only after waiting; `delay` says for how long, and is one example of many.
    pub later: Vec<Step>,
    /// How long time may pass; nothing where time does not count.
    pub wait: Option<Wait>,
}

/// A walk through a model.
pub trait Stepper {
    /// The state now: names and values, in the order in which the model declares them.
    fn state(&self) -> Values;
    /// What can be done now.
    fn choices(&self) -> Result<Choices, Error>;
    /// Takes what [`choices`](Self::choices) offers at this position.
    fn take(&mut self, offer: usize) -> Result<(), Error>;
    /// Takes back what was done last; answers whether there was anything.
    fn undo(&mut self) -> bool;
    /// How many steps have been taken.
    fn steps(&self) -> usize;
    /// The walk so far.
    fn run(&self) -> Run;
    /// Walks from the start along a trace, as `--trace` writes it, taking every step anew. If that fails, it is where it was.
    fn replay(&mut self, trace: &str) -> Result<(), Error>;

    /// What a person should know of this state, if there is anything: an error has been reached, a target is covered.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Does this value go without saying, like a place without tokens?
    fn is_idle(&self, _name: &str, _value: &Value) -> bool {
        false
    }

    /// Lets time pass: `3`, `5/2`, `2.5`.
    fn wait(&mut self, _delay: &str) -> Result<(), Error> {
        Err(Error::refused("time does not count in this model"))
    }

    /// Gives something the value that the model leaves open.
    fn input(&mut self, name: &str, _value: &str) -> Result<(), Error> {
        Err(Error::refused(format!("`{name}` cannot be set: this model leaves no values open")))
    }

    /// Takes one step at random; answers whether there was one. `draw(n)` is some number below `n`.
    fn random(&mut self, draw: &mut dyn FnMut(usize) -> usize) -> Result<bool, Error> {
        let before = self.steps();
        let mut begun = 0;
        // The start and open values are chosen on the way.
        while self.steps() == before {
            let n = self.choices()?.offers.len();
            if n == 0 {
                (0..begun).for_each(|_| _ = self.undo());
                return Ok(false);
            }
            self.take(draw(n))?;
            begun += 1;
        }
        Ok(true)
    }
}

/// Makes a move as a person writes it: `3` takes the offer with that number, `w 5/2` waits, `x = 5` gives a value that the model leaves open.
pub fn make(stepper: &mut dyn Stepper, m: &str) -> Result<(), Error> {
    if let Some((name, value)) = m.split_once('=') {
        stepper.input(name.trim(), value.trim())
    } else if let Some(delay) = m.strip_prefix('w') {
        stepper.wait(delay.trim())
    } else {
        stepper.take(m.trim().parse().map_err(|_| Error::refused("it is no move"))?)
    }
}

/// The trace in a document.
pub fn read_trace<P: Present>(p: &P, text: &str) -> Result<P::Trace, Error> {
    match json::read(p, text).map_err(|e| Error::refused(e.to_string()))? {
        Content::Trace(trace) => Ok(trace),
        Content::Certificate(_) => Err(Error::refused("it is a certificate; only traces can be replayed")),
    }
}

/// What has another value than before.
pub(crate) fn changes(before: &Values, after: &Values) -> Values {
    let changed = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    changed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Several starts as offers: what each has that the first has not.
pub(crate) fn starts(first: &Values, all: impl Iterator<Item = Values>) -> Vec<Step> {
    let offer = |start: Values| {
        let set = changes(first, &start);
        Step { label: if set.is_empty() { "start as shown" } else { "start" }.into(), set, ..Step::default() }
    };
    all.map(offer).collect()
}

/// Refuses a number that no offer has.
pub(crate) fn no_offer(offer: usize) -> Error {
    Error::refused(format!("there is no choice {offer} here"))
}
