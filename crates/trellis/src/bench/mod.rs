//! `trellis bench`: the papers' tables beside ours. Counts must agree exactly; times are only shown.

mod lattice;
mod lazy;

use crate::Failure;
use crate::cli::Bench;

/// Prints the tables of a suite; answers whether every count agrees.
pub fn bench(args: &Bench) -> Result<bool, Failure> {
    match args.suite.as_str() {
        "lattice" => lattice::bench(args),
        "lazy" => lazy::bench(args),
        other => Err(Failure::Usage(format!("there is no suite `{other}`; there are: lattice, lazy"))),
    }
}
