//! Linear temporal logic over the data of a model (004 §3.3), and the automata that formulas become.
//!
//! A formula speaks of *letters*: which of its atoms hold at a moment. Atoms are terms of the model that the formula asks about;
//! here they are numbers only, below [`MAX_ATOMS`]. What a moment is, the formalism says: see [`product`].
//! Formulas have no past operators.

mod buchi;
pub mod evidence;
mod formula;
mod graph;
pub mod models;
pub mod product;
mod relevant;
pub mod watch;
pub mod word;

pub use buchi::{Buchi, Cube, Edge};
pub use graph::components;
pub use relevant::relevant;
pub use word::Word;

use trellis_expr::TermId;

/// A formula has at most so many atoms: a letter is a word of bits.
pub const MAX_ATOMS: usize = 64;

/// Which atoms hold: bit `i` for atom `i`.
pub type Letter = u64;

/// A formula of linear temporal logic.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Formula {
    /// Always true.
    True,
    /// Never true.
    False,
    /// The atom with this number holds now.
    Atom(u32),
    /// `!a`
    Not(Box<Formula>),
    /// `a && b`
    And(Box<Formula>, Box<Formula>),
    /// `a || b`
    Or(Box<Formula>, Box<Formula>),
    /// `a -> b`
    Implies(Box<Formula>, Box<Formula>),
    /// `a <-> b`
    Iff(Box<Formula>, Box<Formula>),
    /// `X a`: at the next moment.
    Next(Box<Formula>),
    /// `F a`: at some moment from now on.
    Finally(Box<Formula>),
    /// `G a`: at every moment from now on.
    Globally(Box<Formula>),
    /// `a U b`: `b` at some moment, and `a` until then.
    Until(Box<Formula>, Box<Formula>),
    /// `a W b`: `a U b`, or `a` for ever.
    WeakUntil(Box<Formula>, Box<Formula>),
    /// `a R b`: `b` up to and including the moment of `a`, or for ever.
    Release(Box<Formula>, Box<Formula>),
    /// `a M b`: `a R b`, and `a` at some moment.
    StrongRelease(Box<Formula>, Box<Formula>),
}

/// A formula about a model.
#[derive(Debug, Clone)]
pub struct Spec {
    /// The formula.
    pub formula: Formula,
    /// What its atoms are: boolean terms of the model.
    pub atoms: Vec<TermId>,
    /// The atoms as they were written.
    pub names: Vec<String>,
}
