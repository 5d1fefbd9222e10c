//! `trellis bench`: the papers' and other tools' tables beside ours. Counts and answers must agree exactly; times are only shown.

mod c;
mod coverability;
mod families;
mod hierarchy;
mod lattice;
mod lazy;
mod pcegar;
mod plot;
mod smt;
mod timed;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::cli::Bench;
use trellis::Error;

/// Prints the tables of a suite; answers whether every count agrees.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    match args.suite.as_str() {
        "c" => c::bench(args),
        "coverability" => coverability::bench(args),
        "hierarchy" => hierarchy::bench(args),
        "lattice" => lattice::bench(args),
        "lazy" => lazy::bench(args),
        "pcegar" => pcegar::bench(args),
        "smt" => smt::bench(args),
        "timed" => timed::bench(args),
        other => Err(Error::Usage(format!(
            "there is no suite `{other}`; there are: c, coverability, hierarchy, lattice, lazy, pcegar, smt, timed"
        ))),
    }
}

/// A watch that tells what the thread that started it has spent on a processor, where the system says.
struct Watch {
    started: Instant,
    /// Where the system says it.
    account: PathBuf,
    before: Option<f64>,
}

impl Watch {
    fn start() -> Watch {
        let thread = std::fs::read_link("/proc/thread-self").unwrap_or_default();
        let account = PathBuf::from("/proc").join(thread).join("schedstat");
        let before = Watch::cpu(&account);
        Watch { started: Instant::now(), account, before }
    }

    fn cpu(account: &Path) -> Option<f64> {
        let spent = std::fs::read_to_string(account).ok()?;
        Some(spent.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
    }

    /// Seconds that all threads of this program, also those that have ended, have spent on a processor, in hundredths.
    fn everybody() -> Option<f64> {
        let account = std::fs::read_to_string("/proc/self/stat").ok()?;
        let words: Vec<&str> = account.rsplit_once(')')?.1.split_whitespace().collect();
        Some((words.get(11)?.parse::<f64>().ok()? + words.get(12)?.parse::<f64>().ok()?) / 100.0)
    }

    /// Seconds so far. A single reading is coarse, the sum of many is not.
    fn spent(&self) -> f64 {
        match (self.before, Watch::cpu(&self.account)) {
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
