//! How hierarchies of nodes are checked.

use std::path::PathBuf;

use clap::Args;

use super::Refine;

/// How hierarchies of nodes are checked.
#[derive(Args, Debug, Clone, Default)]
pub struct NodeOptions {
    /// The node at the top; without it, the last one in the file.
    #[arg(long, value_name = "NAME", help_heading = "AltaRica")]
    pub node: Option<String>,
    /// An Acheck specification: the cardinals of what it shows, and whether its tests pass.
    #[arg(long, value_name = "FILE", help_heading = "AltaRica")]
    pub spec: Option<PathBuf>,
    /// Follow the redirections of that specification (`show(x) > 'f/$NODENAME.res'`): files below this folder.
    #[arg(long, value_name = "FOLDER", requires = "spec", help_heading = "AltaRica")]
    pub redirect: Option<PathBuf>,
    /// A formula of computation tree logic that must hold in every initial configuration: AG EF x = 1, A[a U b]; may be given
    /// several times.
    #[arg(long, value_name = "FORMULA", help_heading = "AltaRica")]
    pub ctl: Vec<String>,
    /// Start from what is bad: with --engine reach, states that lead to it; with cegar, paths are looked at from their end.
    #[arg(long, help_heading = "AltaRica")]
    pub backward: bool,
    /// For --engine cegar: what each refinement did, to a file: .csv, .svg (a plot), or a table.
    #[arg(long, value_name = "FILE", help_heading = "AltaRica")]
    pub iterations: Option<PathBuf>,
    /// For --engine cegar: keep abstract states that PCegar would throw away. For --engine hierarchy: no certified pairs, and what can
    /// never become bad is explored all the same.
    #[arg(long, help_heading = "AltaRica")]
    pub no_pruning: bool,
    /// For --engine hierarchy: start from neat covers (states of a node that differ in any event are told apart), not only from
    /// those that priorities depend on.
    #[arg(long, help_heading = "AltaRica")]
    pub neat: bool,
    /// For --engine hierarchy: how a spurious counterexample splits the blocks of the failing node (default: along).
    #[arg(long, value_enum, value_name = "HOW", help_heading = "AltaRica")]
    pub refine: Option<Refine>,
}
