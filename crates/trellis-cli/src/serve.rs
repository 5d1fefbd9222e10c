//! `trellis serve`: the page, live.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use trellis::Error;
use trellis::settings::{bytes, duration};
use trellis_server::Options;

use crate::{Ran, exit, print};

/// What is served, and how much of the machine it may use.
#[derive(Args, Debug)]
pub struct Serve {
    /// Models, or folders of them.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A property to show beside those in the models; may be given several times.
    #[arg(short, long = "property", value_name = "QUERY")]
    properties: Vec<String>,
    /// Something bad, which must never hold.
    #[arg(long = "error", value_name = "EXPR")]
    errors: Vec<String>,
    /// A formula of linear temporal logic.
    #[arg(long, value_name = "FORMULA")]
    ltl: Vec<String>,
    /// The port to listen on (default: any that is free).
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// A check gives up after this long.
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "60s", help_heading = "Limits")]
    timeout: Duration,
    /// A check gives up when the process needs more than this.
    #[arg(long, value_parser = bytes, value_name = "SIZE", default_value = "2GiB", help_heading = "Limits")]
    memory: usize,
    /// How many checks run at once.
    #[arg(long, default_value_t = 2, value_name = "N", help_heading = "Limits")]
    runs: usize,
}

/// Serves until somebody interrupts.
pub fn serve(args: &Serve) -> Ran {
    let asked = [("--property", &args.properties), ("--error", &args.errors), ("--ltl", &args.ltl)];
    let ask = asked.iter().flat_map(|(option, all)| all.iter().map(move |text| format!("{option}={text}")));
    let options = Options {
        files: args.files.clone(),
        ask: ask.collect(),
        port: args.port,
        timeout: args.timeout,
        memory: args.memory,
        runs: args.runs,
    };
    let ready = |address: &str| _ = print(&format!("open {address}\n(only this machine can reach it; Ctrl-C ends it)"));
    trellis_server::serve(options, ready).map(|()| exit::HOLDS).map_err(Error::Usage)
}
