//! Mec 5's relations over configurations and flat events of nodes, and over plain values (001 §6.1): what a definition says, apart from
//! how it is written.

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Terms, VarId};

use crate::hierarchy::Domain;

/// What an argument, or a variable that is quantified, ranges over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Configurations of a node (`Node!c`).
    Configuration(String),
    /// Flat events of a node (`Node!ev`).
    Event(String),
    /// Plain values.
    Value(Domain),
}

/// Which relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callee {
    /// `Node!c`: all configurations.
    Configurations(String),
    /// `Node!init`.
    Initial(String),
    /// `Node!ev`: all flat events.
    Events(String),
    /// `Node!t`: from where, by which event, to where.
    Transitions(String),
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
    /// A relation holds between variables, each of the sort that it asks for.
    Apply(Callee, Vec<usize>),
    /// Two events, each a node's and a variable's, are the same: if they belong to different nodes, they are written the same.
    SameEvent((String, usize), (String, usize)),
}

/// Where the value of a variable of the terms is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a configuration of a node: the number of the formula's variable, and of the node's.
    Part(String, usize, usize),
    /// It is the formula's variable of this number.
    Value(Domain, usize),
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

/// The definition of a relation. Several that use each other are a system of equations (`begin … end`): all of them are fixpoints, and
/// the first is the outermost.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Sort>,
    /// How it is defined.
    pub fixpoint: Fixpoint,
    /// What it says.
    pub formula: Formula,
    /// The terms of the formula.
    pub terms: Terms,
    /// For each variable of the terms, where its value is.
    pub places: FxHashMap<VarId, Place>,
    /// How many variables are in scope at most.
    pub depth: usize,
}

impl Definition {
    /// All that its variables range over, some of them more than once.
    pub fn sorts(&self) -> Vec<&Sort> {
        let mut all: Vec<&Sort> = self.arguments.iter().collect();
        let mut waiting = vec![&self.formula];
        while let Some(f) = waiting.pop() {
            match f {
                Formula::Term(_) | Formula::Apply(..) | Formula::SameEvent(..) => {}
                Formula::Not(a) => waiting.push(a),
                Formula::And(a, b) | Formula::Or(a, b) => waiting.extend([&**a, &**b]),
                Formula::Exists(_, sort, a) | Formula::Forall(_, sort, a) => {
                    all.push(sort);
                    waiting.push(a);
                }
            }
        }
        all
    }
}
