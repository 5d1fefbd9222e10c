//! What an answer about a formula rests on.
//!
//! A *lasso* is a run that repeats: it is told in the steps of the automaton, and whether it violates the formula is judged on
//! its letters alone. A run that never repeats is told by its beginning and a *recurrent set*: wherever in the set, a
//! round can be taken once more, and leads into the set again. A *proof* is an abstraction of the product with the automaton of the
//! negated formula: nodes that contain all its runs, and rankings by which some edges cannot be taken forever; what
//! remains has no fair cycle.
//!
//! Proofs and recurrent sets speak of the product in large blocks, which whoever checks them makes anew from the same Büchi automaton.

use std::collections::BTreeMap;

use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Terms, VarId};

use super::Buchi;
use crate::cfa::interpret::Choice;
use crate::cfa::{EdgeId, LocationId};
use crate::evidence::Reason;

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The edge taken; none if the run has ended and stutters.
    pub edge: Option<EdgeId>,
    /// What was decided on the way through its statement.
    pub choices: Vec<Choice>,
    /// The values after it.
    pub after: Valuation,
}

/// A run from the initial location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The values at the start.
    pub start: Valuation,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A run that goes on forever by repeating the steps from this one on: it comes back to the values of all variables that matter
/// ([`super::relevant`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    /// The steps, each once.
    pub run: Run,
    /// How many come before those that repeat.
    pub back: usize,
}

impl Lasso {
    /// The same run, with nothing before the part that repeats that is already one round of it, or the end of one.
    pub fn folded(mut self) -> Lasso {
        while let (Some(before), Some(last)) = (self.back.checked_sub(1), self.run.steps.len().checked_sub(1)) {
            let steps = &self.run.steps;
            let state = |n: usize| n.checked_sub(1).map_or(&self.run.start, |n| &steps[n].after);
            if steps[before] != steps[last] || state(before) != state(last) {
                break;
            }
            self.run.steps.pop();
            self.back = before;
        }
        self
    }
}

/// Runs that go on forever, and need not repeat.
#[derive(Debug, Clone)]
pub struct Recurrence {
    /// The automaton that accepts what violates the formula.
    pub automaton: Buchi,
    /// The arena of the set; it is that of the product, grown.
    pub terms: Terms,
    /// How such a run begins: it ends in the set.
    pub stem: Run,
    /// Ways around, each through these locations of the product, the first again at the end. All start at the same one, and meet all
    /// marks; from any state of the set one of them can be taken.
    pub rounds: Vec<Vec<LocationId>>,
    /// What is picked for these variables wherever a round leaves them open, as literals.
    pub choices: BTreeMap<VarId, TermId>,
    /// The set.
    pub set: TermId,
}

/// Why no run violates a formula.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The automaton that accepts what violates the formula.
    pub automaton: Buchi,
    /// The arena of what follows; it is that of the product, grown.
    pub terms: Terms,
    /// Sets of states: a location of the product, and what holds there.
    pub nodes: Vec<(LocationId, TermId)>,
    /// Which nodes may follow each other.
    pub edges: Vec<(u32, u32)>,
    /// Rankings, one after the other: for each node an integer, or none if the ranking does not speak of it. No edge between
    /// two nodes on a cycle increases it; an edge that decreases it while it is not negative can be left out from then on.
    pub rankings: Vec<Vec<Option<TermId>>>,
}

/// The answer about a formula.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// All runs satisfy it.
    Holds(Proof),
    /// This run does not.
    Violated(Lasso),
    /// Runs of this kind do not.
    Diverges(Recurrence),
    /// Not decided.
    Unknown(Reason),
}
