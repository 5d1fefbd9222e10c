//! The algorithms: one module each, and what they share.
//!
//! - [`reach`]: reachability with cover and join update (000 Alg. 1–4) and its refinement loop (Alg. 5), and, in a loop of its own, simple update;
//! - [`liveness`]: maximal runs that stay in a condition, on the explicit graph;
//! - [`monotone`]: proves from marks that a model is monotone (Def. 2); [`audit`] looks for broken promises of it;
//! - [`network`]: networks of automata under these;
//! - [`timed`]: networks with clocks: zones, liveness, bounds, and the choice of an engine;
//! - [`abstraction`]: lazy abstraction for whatever has labels (002 Alg. 1 and 2); its clients are [`timed::lazy`] (Alg. 3–8, networks with
//!   clocks) and [`program::lazy`];
//! - [`ltl`]: linear temporal logic, translated to automata;
//! - [`acheck`]: Acheck's properties of such nodes;
//! - [`cover`]: hierarchies of nodes (AltaRica) on relations: reachability, and refinement of covers with pruning (001 Ch. 4);
//! - [`hierarchy`]: hierarchical transition systems, each node abstracted where it stands (001 Ch. 5);
//! - [`mec`]: Mec 5's relations over configurations and events of nodes, and over plain values (001 §6.1);
//! - [`program`]: control-flow automata (programs, transition systems, statecharts) with a solver;
//! - [`wsts`]: counter systems, whatever the number of processes (003 `LA[BF]`, and its rivals);
//! - shared: [`explore`] (the loop of forward explorations, reached states), [`arg`] (states by key in flat memory), [`table`] (states alone), [`stored`] (either, of one worker or several), [`path`], [`waitlist`], [`scheduler`] (portfolios); limits, cancellation and progress are [`trellis_meter`].
//!
//! Engines know nothing of file formats and never print. What they explore is a [`System`]; they store its states as
//! words and compare elements only under equal keys.

pub mod abstraction;
pub mod acheck;
pub mod arg;
pub mod audit;
pub mod cover;
pub mod ctl;
pub mod cuts;
pub mod explore;
pub mod hierarchy;
pub mod learn;
pub mod liveness;
pub mod ltl;
pub mod mec;
pub mod monotone;
pub mod network;
pub mod path;
pub mod program;
pub mod reach;
pub mod scheduler;
pub mod stored;
pub mod table;
pub mod timed;
pub mod waitlist;
pub mod widen;
pub mod workers;
pub mod wsts;

use trellis_order::{Join, Word};

/// The successors of one state, side by side.
#[derive(Debug, Default)]
pub struct Batch {
    /// Keys, one after the other.
    pub keys: Vec<Word>,
    /// Elements, one after the other.
    pub elems: Vec<Word>,
    /// Each successor's number among the steps of its state.
    pub ordinals: Vec<u32>,
    /// How many steps there are, those that lead back to the very same state (and are not listed) included.
    pub steps: u32,
}

impl Batch {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.elems.clear();
        self.ordinals.clear();
        self.steps = 0;
    }

    /// Appends a successor.
    pub fn push(&mut self, ordinal: u32, key: &[Word], elem: &[Word]) {
        self.ordinals.push(ordinal);
        self.keys.extend_from_slice(key);
        self.elems.extend_from_slice(elem);
    }
}

/// A state: key and element.
pub type State = (Vec<Word>, Vec<Word>);

/// What an engine explores: a lattice transition system (000 Def. 2) whose states are words.
pub trait System {
    /// The order of the elements.
    type Domain: Join<Elem = [Word]>;
    /// A step, apart from the states it connects.
    type Action: Clone;
    /// What can go wrong while computing a step.
    type Error;

    /// The order of the elements.
    fn domain(&self) -> &Self::Domain;
    /// Words per key.
    fn key_width(&self) -> usize;
    /// Words per element.
    fn elem_width(&self) -> usize;
    /// The initial state.
    fn initial(&mut self) -> Result<State, Self::Error>;
    /// All successors, in a fixed order.
    fn successors(&mut self, key: &[Word], elem: &[Word], out: &mut Batch) -> Result<(), Self::Error>;
    /// Is this what is being looked for?
    fn is_target(&mut self, key: &[Word], elem: &[Word]) -> Result<bool, Self::Error>;
    /// The step behind an ordinal.
    fn action(&mut self, key: &[Word], elem: &[Word], ordinal: u32) -> Result<Option<Self::Action>, Self::Error>;
    /// Where a step leads from a state, if it is enabled there.
    fn take(&mut self, key: &[Word], elem: &[Word], action: &Self::Action) -> Result<Option<State>, Self::Error>;
    /// For the priority order: larger first.
    fn priority(&mut self, _key: &[Word], _elem: &[Word]) -> Result<i64, Self::Error> {
        Ok(0)
    }
    /// May time pass forever here?
    fn may_idle(&mut self, _key: &[Word], _elem: &[Word]) -> Result<bool, Self::Error> {
        Ok(false)
    }
    /// The steps of a run, from those of a path: where successors stand for others that are the same up to symmetry, each
    /// state of a path need only be the same up to symmetry as what the step before it leads to.
    fn unfold(&mut self, path: &path::Path<Self::Action>) -> Result<Vec<Self::Action>, Self::Error> {
        Ok(path.actions.clone())
    }
}
