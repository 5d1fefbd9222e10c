//! Mec 5's relations over the configurations and flat events of a node (001 §6.1): what a definition says, apart from how it is written.

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Terms, VarId};

/// What an argument, or a variable that is quantified, ranges over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Configurations of the node (`Node!c`).
    Configuration,
    /// Flat events of the node (`Node!ev`).
    Event,
}

/// Which relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callee {
    /// `Node!c`: all configurations.
    Configurations,
    /// `Node!init`.
    Initial,
    /// `Node!t`: from where, by which event, to where.
    Transitions,
    /// One that was defined.
    Defined(String),
}

/// A formula. Variables are numbered: arguments first, then those that are quantified, by their depth.
#[derive(Debug, Clone)]
pub enum Formula {
    /// A condition on values.
    Term(TermId),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction.
    And(Box<Formula>, Box<Formula>),
    /// Disjunction.
    Or(Box<Formula>, Box<Formula>),
    /// For some value of a variable.
    Exists(usize, Sort, Box<Formula>),
    /// For all values of a variable.
    Forall(usize, Sort, Box<Formula>),
    /// A relation holds between variables.
    Apply(Callee, Vec<usize>),
    /// Two events are the same.
    SameEvent(usize, usize),
}

/// How a relation is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixpoint {
    /// `:=`, in terms of others.
    None,
    /// `+=`, the least.
    Least,
    /// `-=`, the greatest.
    Greatest,
}

/// The definition of a relation.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// The node that its arguments belong to.
    pub node: String,
    /// Its arguments.
    pub arguments: Vec<Sort>,
    /// How it is defined.
    pub fixpoint: Fixpoint,
    /// What it says.
    pub formula: Formula,
    /// The terms of the formula.
    pub terms: Terms,
    /// For each variable of the terms: which variable of the formula it is a part of, and which variable of the node.
    pub places: FxHashMap<VarId, (usize, usize)>,
    /// How many variables are in scope at most.
    pub depth: usize,
}
