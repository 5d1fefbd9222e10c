//! How counter systems are checked.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How counter systems are checked.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Counter systems")]
pub struct CounterOptions {
    /// Which node --engine wsts takes next (default: bfs, which always ends).
    #[arg(long, value_enum, value_name = "ORDER")]
    pub control: Option<Control>,
    /// With --engine wsts: start from the atoms of the initial states too, as the paper does (exact, many more regions).
    #[arg(long)]
    pub start_atoms: bool,
    /// Let --engine wsts cover nodes by nodes of the same depth too.
    #[arg(long)]
    pub equal_depth: bool,
    /// Let --engine wsts take all rules as one: few refinements, with many predicates each.
    #[arg(long)]
    pub merged: bool,
    /// With --engine wsts: refine with the full backward layer, not only along the error trace.
    #[arg(long)]
    pub layers: bool,
    /// With --engine wsts: disable predicate projection (exactly Algorithm 2 of Dimitrova and Podelski). --merged, --layers and
    /// another --control imply it.
    #[arg(long)]
    pub plain: bool,
    /// With --engine wsts: linear atoms, Boolean formulas over them and a solver, as in the paper (slow, for study).
    #[arg(long)]
    pub linear: bool,
    /// With --engine wsts: the abstract reachability tree, refinement by refinement: here, or to a file: .json, .svg, .dot, or text.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub show_tree: Option<PathBuf>,
    /// Let --engine backward keep what the state equation shows to be out of reach.
    #[arg(long)]
    pub no_prune: bool,
    /// Let --engine forward take the newest state first, not the one that is nearest to the target by the state equation.
    #[arg(long)]
    pub no_guide: bool,
    /// Weighted sums that no rule changes (`x = 1, y = 2`, one or more): refused if one does, else known from the start.
    #[arg(long, value_name = "FILE")]
    pub invariants: Option<PathBuf>,
    /// How a thread transition system starts: `s|l1,l2/u1,u2`, with any number of threads in the states behind the slash (default:
    /// 0|/0).
    #[arg(long, value_name = "STATE")]
    pub start: Option<String>,
}

/// Which node of lazy abstraction comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Control {
    /// One of least depth.
    Bfs,
    /// The newest.
    Dfs,
    /// Any, by --seed.
    Random,
    /// The newest that leads to no refinement of the root: the schedule under which lazy abstraction need not terminate.
    Adverse,
}
