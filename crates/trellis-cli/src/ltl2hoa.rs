//! `trellis ltl2hoa`: the automaton of a formula of linear temporal logic.

use clap::{Args, ValueEnum};
use trellis_engine::ltl::translate::{self, translate_to};
use trellis_syntax::diag::{self, Sources};
use trellis_syntax::hoa::{self, Hoa};
use trellis_syntax::ltl::parse_propositional;

use trellis::Error;

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
    let mut sources = Sources::default();
    let id = sources.add("formula", args.formula.as_str());
    let (formula, atoms) = parse_propositional(&sources, id)
        .map_err(|complaints| Error::Input(diag::render(&complaints, &sources, color)))?;
    let acceptance = match args.acceptance {
        Acceptance::Generalised => translate::Acceptance::Generalised,
        Acceptance::Transition => translate::Acceptance::Transition,
        Acceptance::State => translate::Acceptance::State,
    };
    let automaton = translate_to(&formula, acceptance).map_err(|e| Error::Usage(e.to_string()))?;
    let name = formula.show(&atoms);
    if args.dot {
        return print(&trellis_report::buchi::dot(&automaton, &atoms, &name));
    }
    print(&hoa::write(&Hoa { automaton, atoms, name: Some(name) }))
}
