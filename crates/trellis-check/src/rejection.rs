//! Why evidence is not accepted, in words.

use std::fmt;

use trellis_domain::zone::{Rational, ZoneError};
use trellis_meter::StopReason;
use trellis_model::network::{Action, ModelError, Network, Snapshot};

use crate::describe::{describe, describe_action};

/// Evidence that does not show what it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// What is wrong.
    pub why: Cause,
    /// Which state of the trace (0 is the initial one), or which entry of the certificate.
    pub number: Option<usize>,
    /// The state, as a reader knows it.
    pub state: Option<String>,
    /// The step.
    pub step: Option<String>,
    /// Where the step leads.
    pub next: Option<String>,
}

/// What can be wrong with evidence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The check did not end within its limits ([`within`](crate::within)).
    #[error("it was not checked: {0}")]
    Stopped(StopReason),
    /// Whether the automaton is that of the negated formula was not proven within the limits.
    #[error("that the automaton is that of the negated formula was not proven")]
    Unproven,
    /// This kind of evidence says nothing about this kind of question.
    #[error("this does not answer the question: {0}")]
    BesideThePoint(&'static str),
    /// States below entries count only if the model is monotone: why that is not proved.
    #[error("its entries stand for the states below them, and the model is not proved monotone: {0}")]
    NotMonotone(String),
    /// Not a state of this model at all.
    #[error("this is not a state of the model: {0}")]
    Malformed(String),
    /// The model itself does something undefined.
    #[error("the model fails: {0}")]
    Model(Box<ModelError>),
    /// A run must start at the beginning, and a proof must contain it.
    #[error("the run does not start in the initial state")]
    NotInitial,
    /// The initial state is not part of the proof.
    #[error("the initial state is missing from the certificate")]
    InitialMissing,
    /// The edges cannot move together here.
    #[error("this step is not possible here")]
    NotAStep,
    /// Time may not pass for so long.
    #[error("a delay of {0} is not possible here")]
    CannotWait(Rational),
    /// The bounds of an entry are too low for what the model, or the question, compares clocks with.
    #[error("the bounds of the entry cannot tell valuations apart that must be: {0}")]
    LowBounds(&'static str),
    /// The numbers in zones leave their range.
    #[error("{0}")]
    Zones(ZoneError),
    /// The step leads somewhere else.
    #[error("the step leads to another state than the trace says")]
    LeadsElsewhere,
    /// A condition has the wrong value.
    #[error("{0}")]
    Condition(&'static str),
    /// The run could go on, and must.
    #[error("the run is not maximal: it ends where time may not pass forever and a step is possible")]
    NotMaximal,
    /// The circle does not close.
    #[error("the last step does not return to the state the circle starts from")]
    NotACircle,
    /// A step leaves the certificate.
    #[error("a step leads out of the certificate")]
    LeadsOutside,
    /// A step does not count down.
    #[error("a step leads neither to what is awaited nor to a smaller rank ({from} to {})", Rank(*to))]
    RankNotSmaller {
        /// The rank before the step.
        from: u32,
        /// The rank after it, if it has one.
        to: Option<u32>,
    },
    /// A step goes round on the spot.
    #[error("a step leads back to the same state, so what is awaited may never come")]
    SelfLoop,
    /// A state that needs a rank has none.
    #[error("the state must have a rank, and has none")]
    NoRank,
    /// Time may pass forever before the awaited thing happens.
    #[error("time may pass forever here, so what is awaited may never come")]
    MayIdle,
    /// Nothing can happen before the awaited thing has.
    #[error("nothing can happen here, so what is awaited never comes")]
    Deadlock,
    /// The run is allowed.
    #[error("the run does what it should: the formula is true on it")]
    Satisfied,
    /// Somebody waits for ever.
    #[error("the run is not fair: {0} could move, and never does")]
    Unfair(String),
    /// The automaton of what must not be is another one.
    #[error("{0}")]
    Automaton(String),
    /// What must not be may go on for ever.
    #[error(
        "a step leads out of the certificate, or to where nothing says why a run that must not be does not go on for ever"
    )]
    NoProgress,
    /// A run that ends here must not be.
    #[error("a run may end here, and must not")]
    MayEnd,
    /// The same state twice, with different ranks.
    #[error("the state stands in the certificate twice, with different ranks")]
    TwoRanks,
    /// A value that should not be.
    #[error("the value is {found}, but {claimed} was claimed")]
    Value {
        /// What it is.
        found: i64,
        /// What was claimed; nothing: that there is no value.
        claimed: Claimed,
    },
}

/// A claim about a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimed {
    /// Exactly this value.
    Exactly(i64),
    /// Nothing larger.
    AtMost(i64),
    /// Nothing smaller.
    AtLeast(i64),
    /// That no state has one.
    Nothing,
}

impl fmt::Display for Claimed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claimed::Exactly(n) => write!(f, "{n}"),
            Claimed::AtMost(n) => write!(f, "at most {n}"),
            Claimed::AtLeast(n) => write!(f, "at least {n}"),
            Claimed::Nothing => f.write_str("no value at all"),
        }
    }
}

struct Rank(Option<u32>);

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(n) => write!(f, "{n}"),
            None => f.write_str("no rank"),
        }
    }
}

impl Rejection {
    pub(crate) fn new(why: Cause) -> Rejection {
        Rejection { why, number: None, state: None, step: None, next: None }
    }

    pub(crate) fn number(mut self, n: usize) -> Rejection {
        self.number = Some(n);
        self
    }

    pub(crate) fn state(mut self, net: &Network, s: &Snapshot) -> Rejection {
        self.state = Some(describe(net, s));
        self
    }

    /// Says more about the state.
    pub(crate) fn with(mut self, more: impl fmt::Display) -> Rejection {
        let state = self.state.get_or_insert_default();
        *state = format!("{state}; {more}");
        self
    }

    pub(crate) fn step(mut self, net: &Network, a: &Action) -> Rejection {
        self.step = Some(describe_action(net, a));
        self
    }

    pub(crate) fn next(mut self, net: &Network, s: &Snapshot) -> Rejection {
        self.next = Some(describe(net, s));
        self
    }

    pub(crate) fn model(net: &Network, e: ModelError) -> Rejection {
        let (state, action) = (e.state.clone(), e.action.clone());
        let r = Rejection::new(Cause::Model(Box::new(e))).state(net, &state);
        if action.0.is_empty() { r } else { r.step(net, &action) }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.why)?;
        if let Some(n) = self.number {
            write!(f, " (number {n})")?;
        }
        for (what, text) in [("state", &self.state), ("step", &self.step), ("leads to", &self.next)] {
            if let Some(text) = text {
                write!(f, "\n  {what}: {text}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Rejection {}
