//! `trellis cover`: execution traces for all that can be reached in composed statecharts.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trellis::Error;
use trellis::files::write_file;
use trellis::formalism::gamma::cover::{Covered, Elements, cover as run};
use trellis::registry;
use trellis::settings::{self, Model};

use crate::{Ran, exit, print};

#[derive(Args, Debug)]
pub struct Cover {
    #[command(flatten)]
    pub model: Model,
    /// Every state is active after some cycle (this, if nothing is chosen).
    #[arg(long)]
    pub states: bool,
    /// Every transition fires.
    #[arg(long)]
    pub transitions: bool,
    /// Every event that one component sends to another is sent.
    #[arg(long)]
    pub interactions: bool,
    /// Write one execution trace (.get) for each element into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
    /// The component; without it, the last one in the file that no other contains.
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// At most so long for each element, e.g. 30s.
    #[arg(long, value_name = "TIME", value_parser = settings::duration)]
    pub timeout: Option<Duration>,
    /// At most so much memory, e.g. 2G.
    #[arg(long, value_name = "SIZE", value_parser = settings::bytes)]
    pub memory: Option<usize>,
}

/// `trellis cover model.gcd --transitions --output tests`
pub fn cover(args: &Cover, color: bool) -> Ran {
    if registry::of_model(&args.model)?.1.name != "gamma" {
        return Err(Error::Usage("cover: only for composed statecharts (.gcd)".into()));
    }
    let began = std::time::Instant::now();
    let context = crate::limits::colored(color);
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder).map_err(|e| Error::Output(format!("error: {}: {e}", folder.display())))?;
    }
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut wanted = vec![];
    for (given, elements) in [
        (args.states, Elements::States),
        (args.transitions, Elements::Transitions),
        (args.interactions, Elements::Interactions),
    ] {
        if given {
            wanted.push(elements);
        }
    }
    if wanted.is_empty() {
        wanted.push(Elements::States);
    }
    let (mut reached, mut unreachable, mut unknown) = (0, 0, 0);
    for elements in wanted {
        let word = match elements {
            Elements::States => "state",
            Elements::Transitions => "transition",
            Elements::Interactions => "interaction",
        };
        // A deadline is one of the process; each element has a time of its own.
        let meter = || context.meter(args.timeout.map(|t| t + began.elapsed()), args.memory);
        let mut number = 0;
        let mut tell = |name: &str, covered: &Covered| {
            number += 1;
            match covered {
                Covered::Reached(cycles, trace) => {
                    reached += 1;
                    let mut file = String::new();
                    if args.output.is_some() {
                        let path = folder.join(format!("{word}-{number}.get"));
                        write_file(&path, trace)?;
                        file = format!(": {}", path.display());
                    }
                    let s = if *cycles == 1 { "" } else { "s" };
                    print(&format!("{word} {name}: reached after {cycles} cycle{s}{file}\n")).map(|_| ())
                }
                Covered::Unreachable(proof) => {
                    unreachable += 1;
                    print(&format!("{word} {name}: UNREACHABLE ({proof})\n")).map(|_| ())
                }
                Covered::Unknown(why) => {
                    unknown += 1;
                    print(&format!("{word} {name}: UNKNOWN ({why})\n")).map(|_| ())
                }
            }
        };
        run((&args.model, args.node.as_ref()), elements, &folder, color, &meter, &mut tell)?;
    }
    print(&format!("{reached} reached, {unreachable} proven unreachable, {unknown} unknown\n"))?;
    Ok(if unknown > 0 { exit::UNDECIDED } else { exit::HOLDS })
}
