//! Formulas of linear temporal logic about networks, and what makes a run fair.
//!
//! A letter is read in each state that a step leads to, and in the initial one: which of the atoms hold. Time reads none, for atoms do
//! not speak of clocks. A run that ends (where nothing can happen, or time passes for ever) reads its last letter again and again.
//!
//! A *party* is treated fairly by a run if it does not wait for ever. *Weakly*: if from some state on it could always move, it moves again and
//! again. *Strongly*: if it could move again and again, it does. A run that ends treats a party fairly if that cannot move
//! in the last state. Whether a party can move is a matter of data and locations here: fairness is not for models with clocks.
//!
//! What shows that no fair run is accepted by the automaton of what must not be: see [`Course`].

use super::{Action, Condition, Network, Query};
use crate::ltl::{Buchi, Formula};

/// What is asked of all runs of a network.
#[derive(Debug, Clone)]
pub struct Temporal {
    /// The question as the user wrote it; for whoever explores, it is about runs that stay anywhere at all.
    pub query: Query,
    /// The atoms.
    pub conditions: Vec<Condition>,
    /// The formula that all runs satisfy; nothing if an automaton was given instead.
    pub formula: Option<Formula>,
    /// The automaton of what must not be.
    pub automaton: Buchi,
    /// Only runs that are fair to all of these count.
    pub fair: Vec<Fair>,
    /// Only runs in which infinitely much time passes, or that end, count.
    pub non_zeno: bool,
}

/// Who is treated fairly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Party {
    /// All processes together: something happens if anything can.
    Anyone,
    /// A process.
    Process(u32),
    /// Whatever happens on a channel, or on any of an array of channels: the number of its first.
    Channel(u32),
}

impl Party {
    /// Does it take part?
    pub fn moves_in(self, net: &Network, action: &Action) -> bool {
        match self {
            Party::Anyone => true,
            Party::Process(p) => action.0.iter().any(|e| e.process == p),
            Party::Channel(c) => action.0.iter().any(|e| {
                let edge = &net.processes[e.process as usize].edges[e.edge as usize];
                edge.sync.is_some_and(|s| s.base == c)
            }),
        }
    }
}

/// Who is treated fairly, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fair {
    /// The party it speaks of.
    pub party: Party,
    /// Strongly rather than weakly.
    pub strong: bool,
}

/// What a run does again and again if it must not be: the marks of the automaton, then time (if it must pass), then the parties that
/// are treated weakly fairly: they move, or cannot.
#[derive(Debug, Clone)]
pub struct Obligations {
    /// All marks.
    pub all: u64,
    /// The mark of a step before which time passed.
    pub time: Option<u32>,
    /// Parties with their marks.
    pub weak: Vec<(Party, u32)>,
    /// Parties that must move again and again if they can.
    pub strong: Vec<Party>,
}

impl Temporal {
    /// The obligations; nothing if there are more than 64 of a kind.
    pub fn obligations(&self) -> Option<Obligations> {
        let mut next = self.automaton.marks;
        let mut mark = || {
            next += 1;
            next - 1
        };
        let time = self.non_zeno.then(&mut mark);
        let weak: Vec<_> = self.fair.iter().filter(|f| !f.strong).map(|f| (f.party, mark())).collect();
        let strong: Vec<_> = self.fair.iter().filter(|f| f.strong).map(|f| f.party).collect();
        let all = 1u64.checked_shl(next).map_or(u64::MAX, |n| n - 1);
        (next <= 64 && strong.len() <= 64).then_some(Obligations { all, time, weak, strong })
    }
}

/// Of an element of a certificate: where the automaton of what must not be is, and why no run that goes on from here is accepted and
/// fair.
///
/// Levels are compared one after the other. On the first, ranks do not grow along any step; a run that keeps its rank *never* does
/// something that it must do again and again, and so is not accepted; or it never lets a party move that is treated strongly fairly, so
/// that from some state on this party cannot move; then the next level says why that cannot go on for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    /// The state of the automaton.
    pub at: u32,
    /// The levels.
    pub levels: Vec<Level>,
}

/// A level of a [`Course`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// The rank.
    pub rank: u32,
    /// What does not happen while the rank stays the same.
    pub never: Never,
}

/// What does not happen while a rank stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Never {
    /// Any step.
    Step,
    /// A step with this mark ([`Obligations`]).
    Mark(u32),
    /// A step of this party: the number among those treated strongly fairly.
    Party(u32),
}
