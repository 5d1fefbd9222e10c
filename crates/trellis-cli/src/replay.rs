//! `trellis replay`: execution traces of composed statecharts, taken by the interpreter of the language, with their assertions.

use std::path::PathBuf;

use clap::Args;
use trellis::formalism::gamma::replay as run;

use crate::{Ran, exit, print};

#[derive(Args, Debug)]
pub struct Replay {
    /// Execution traces (.get); what they import says which component they are about.
    #[arg(value_name = "TRACE", required = true)]
    pub traces: Vec<PathBuf>,
}

/// `trellis replay run.get`
pub fn replay(args: &Replay, color: bool) -> Ran {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut fails = false;
    for path in &args.traces {
        for trace in run(path, color)? {
            let said = format!("{}, {}", count(trace.steps, "step"), count(trace.asserted, "assertion"));
            let end = match &trace.wrong {
                None => format!("replayed, {said}"),
                Some((n, why)) => {
                    fails = true;
                    format!("FAILS in step {}: {why} ({said})", n + 1)
                }
            };
            print(&format!("{}: {}: {end}\n", path.display(), trace.name))?;
        }
    }
    Ok(if fails { exit::FAILS } else { exit::HOLDS })
}
