//! What options can be: the words that the command line takes.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LtlStep {
    /// After init, each env and each trans.
    Half,
    /// After init and each trans.
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LassoSearch {
    /// Nested depth-first search.
    Nested,
    /// Strongly connected components.
    Scc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Ints {
    /// As words of fixed width, which wrap around.
    Wrap,
    /// As in mathematics.
    Math,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataModel {
    /// 32 bits.
    Ilp32,
    /// 64 bits.
    Lp64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A picture of the model, for Graphviz.
    Dot,
    /// The same picture as any browser shows it; templates of UPPAAL as their author has drawn them.
    Svg,
    /// Constrained Horn clauses as an SMT-LIB script: programs and control-flow automata only.
    Horn,
    /// An UPPAAL model with a fixed number of processes: counter systems only.
    Xta,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// The best for the question.
    #[default]
    Auto,
    /// Reachability over lattice elements or zones.
    Reach,
    /// Lazy abstraction: for models with clocks, and, with interpolants, for programs.
    Lazy,
    /// Abstraction refinement (CEGAR): for programs and control-flow automata.
    Cegar,
    /// Bounded model checking: for programs and control-flow automata.
    Bmc,
    /// All states, one by one: for programs and control-flow automata, for formulas of linear temporal logic, and for counter systems,
    /// where guards have upper bounds.
    Explicit,
    /// k-induction, with invariants guessed from runs: for programs and control-flow automata.
    Induction,
    /// Lazy abstraction with breadth-first control: for counter systems.
    Wsts,
    /// Backward search with minimal bases: for counter systems.
    Backward,
    /// Forward search with accelerations: for counter systems.
    Forward,
    /// The state equation with traps: for counter systems.
    Equation,
    /// Counter systems: frames, an IC3-style search.
    Frames,
    /// Hierarchical CEGAR, each node abstracted on its own: for AltaRica, hierarchical transition systems, and
    /// networks without clocks.
    Hierarchy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Domain {
    /// Values of variables.
    Explicit,
    /// Predicates.
    Predicates,
    /// Values where that is natural, predicates elsewhere.
    Product,
    /// Intervals of numbers, with widening.
    Intervals,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Predicates {
    /// Each on its own.
    Cartesian,
    /// All combinations, in one label.
    Boolean,
    /// All combinations, a label for each.
    Split,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Refinement {
    /// Strongest postconditions along the path, as far as its unsat core needs them.
    Newton,
    /// Weakest preconditions, likewise.
    NewtonBackward,
    /// Sequence interpolants.
    Sequence,
    /// The variables of the unsat core.
    Core,
    /// One interpolant, after the longest prefix that can be taken.
    Binary,
    /// One interpolant, before the longest suffix that can be taken.
    BinaryBackward,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    /// At the location where it was learned.
    Local,
    /// Everywhere.
    Global,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Initial {
    /// Nothing.
    Empty,
    /// What is assumed on steps into an error.
    Property,
    /// What is assumed anywhere.
    Assumes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Split {
    /// Not at all.
    Whole,
    /// Into the parts of a conjunction.
    Conjuncts,
    /// Into atoms.
    Atoms,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pruning {
    /// What lies below the first node that was too coarse.
    Lazy,
    /// Everything.
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Extrapolation {
    /// Exact zones: may not end.
    None,
    /// Extra-M.
    M,
    /// Extra-LU.
    Lu,
    /// Extra-LU+.
    #[value(name = "lu+")]
    LuPlus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JoinZones {
    /// Zones of which one includes the other become the larger one.
    Included,
    /// Any two zones become their convex hull: an over-approximation, refined as other joins are.
    Hull,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Cover {
    /// Only equal zones are the same.
    Equality,
    /// A larger zone stands for smaller ones.
    Inclusion,
    /// A zone stands for those it simulates (a⊑LU).
    Alu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceKind {
    /// Whichever is found first.
    Some,
    /// One with the fewest steps.
    Shortest,
    /// One that takes the least time.
    Fastest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Clocks {
    /// By zone interpolation, forward.
    Forward,
    /// By zone interpolation, backward.
    Backward,
    /// By lazily propagated bounds.
    Bounds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Data {
    /// All of it.
    Identity,
    /// The values of some variables, by formula interpolation, forward.
    Forward,
    /// The values of some variables, by formula interpolation, backward.
    Backward,
    /// Predicates: the weakest that forbid what is impossible, forward.
    Predicates,
    /// Predicates: bounds and values of variables, backward.
    PredicatesBackward,
    /// Predicates: sequence interpolants of whole paths.
    PredicatesSequence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Assume {
    /// What a state can do, a larger one can do too, and ends at least as high.
    Monotone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Update {
    /// Only equal states are the same: exact, needs no monotonicity.
    Simple,
    /// A larger state stands for smaller ones: exact for monotone models, which is proved or must be stated.
    Cover,
    /// States are joined: fewest states; refined or undecided where that is too coarse.
    Join,
}

/// How proofs are re-checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Recheck {
    /// By the checker's own means.
    #[default]
    Full,
    /// With the search's compiled steps where those are much faster (networks without clocks): no second opinion on them.
    Quick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Breadth first: shortest traces.
    Bfs,
    /// Depth first.
    Dfs,
    /// Random, by --seed.
    Random,
    /// By --priority.
    Priority,
    /// For models with clocks: a larger zone first.
    Largest,
    /// For programs: what is nearest to an error first.
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Refine {
    /// States that can follow the rest of the run, at each moment of it.
    Along,
    /// States that can take the step where the run fails.
    Failure,
    /// States by predicates over the node's variables, interpolated by the solver.
    Interpolants,
}
