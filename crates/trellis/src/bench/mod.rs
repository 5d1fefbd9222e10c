//! `trellis bench`: the papers' and other tools' tables beside ours. Counts and answers must agree exactly; times are only shown.

mod lattice;
mod lazy;
mod smt;

use std::time::Instant;

use crate::Failure;
use crate::cli::Bench;

/// Prints the tables of a suite; answers whether every count agrees.
pub fn bench(args: &Bench) -> Result<bool, Failure> {
    match args.suite.as_str() {
        "lattice" => lattice::bench(args),
        "lazy" => lazy::bench(args),
        "smt" => smt::bench(args),
        other => Err(Failure::Usage(format!("there is no suite `{other}`; there are: lattice, lazy, smt"))),
    }
}

/// A watch that tells what this thread has spent on a processor, where the system says.
struct Watch {
    started: Instant,
    before: Option<f64>,
}

impl Watch {
    fn start() -> Watch {
        Watch { started: Instant::now(), before: Watch::cpu() }
    }

    fn cpu() -> Option<f64> {
        let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(spent.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
    }

    /// Seconds so far. A single reading is coarse, the sum of many is not.
    fn spent(&self) -> f64 {
        match (self.before, Watch::cpu()) {
            (Some(before), Some(now)) => now - before,
            _ => self.started.elapsed().as_secs_f64(),
        }
    }

    /// Seconds so far, for a single reading: by the wall clock if it is too short for the other.
    fn seconds(&self) -> f64 {
        let passed = self.started.elapsed().as_secs_f64();
        if passed > 0.05 { self.spent() } else { passed }
    }
}
