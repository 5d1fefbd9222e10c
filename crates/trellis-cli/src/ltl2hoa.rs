//! `trellis ltl2hoa`: the automaton of a formula of linear temporal logic.

use clap::{Args, ValueEnum};
use trellis::automaton;

use crate::{Ran, print};

/// Which formula, and which form.
#[derive(Args, Debug)]
pub struct Ltl2hoa {
    /// The formula, for instance 'G(a -> F b)'. Every name is an atom; "x == 1" in double quotes is one, too.
    /// Operators: F G X, U W R M, and or -> <-> not. `!a U b` is `(!a) U b`.
    #[arg(value_name = "FORMULA")]
    pub formula: String,
    /// How the automaton accepts.
    #[arg(long, value_enum, default_value = "generalised", value_name = "KIND")]
    pub acceptance: Acceptance,
    /// Draw it in the dot language (Graphviz), instead of writing it in the Hanoi format.
    #[arg(long)]
    pub dot: bool,
}

/// How an automaton accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Acceptance {
    /// Any number of marks, on edges.
    Generalised,
    /// One mark, on edges.
    Transition,
    /// One mark, on states.
    State,
}

/// Prints the automaton of a formula.
pub fn ltl2hoa(args: &Ltl2hoa, color: bool) -> Ran {
    let acceptance = match args.acceptance {
        Acceptance::Generalised => automaton::Acceptance::Generalised,
        Acceptance::Transition => automaton::Acceptance::Transition,
        Acceptance::State => automaton::Acceptance::State,
    };
    print(&automaton::ltl2hoa(&args.formula, acceptance, args.dot, color)?)
}
