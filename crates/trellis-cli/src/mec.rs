//! `trellis mec`: a session of Mec 5 ([`trellis::mec`]) from a script or line by line.
//!
//! A script goes on after a mistake, and its exit code says so.

mod prompt;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use trellis::mec::{Config, OPTIONS, Runner, subject};
use trellis::{Error, settings};
use trellis_syntax::diag::render;
use trellis_syntax::mec::pieces;

use crate::limits;
use crate::{Ran, exit};
use prompt::{Line, Lines};
use watch::Watch;

#[derive(Args, Debug)]
pub struct Mec {
    /// The script; without it, lines are read as you type them.
    #[arg(value_name = "SCRIPT")]
    pub script: Option<PathBuf>,
    /// At most so long for each command and each definition, e.g. 30s; what takes longer is UNKNOWN.
    #[arg(long, value_name = "TIME", value_parser = settings::duration)]
    pub timeout: Option<Duration>,
    /// At most so much memory for the diagrams, e.g. 2G.
    #[arg(long, value_name = "SIZE", value_parser = settings::bytes)]
    pub memory: Option<usize>,
    /// Do not evaluate relations again, configuration by configuration.
    #[arg(long)]
    pub no_check: bool,
}

/// `trellis mec [SCRIPT]`
pub fn mec(args: &Mec, color: bool) -> Ran {
    let context = limits::colored(color);
    let cancelled = context.cancelled.clone();
    let watch = Watch::new(args.timeout, cancelled.clone());
    let folder = args.script.as_deref().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
    let (timeout, memory, check) = (args.timeout, args.memory, !args.no_check);
    let mut runner = Runner::new(Config { context, folder, timeout, memory, check })?;
    let Some(path) = &args.script else {
        interactive(&mut runner, &watch, &cancelled)?;
        return Ok(code(&runner));
    };
    let id = runner.sources.read(path).map_err(|d| Error::Input(render(&[d], &runner.sources, color)))?;
    let source = runner.sources.get(id).clone();
    let mut failed = false;
    for piece in pieces(&source.text) {
        watch.begin(subject(&source.text, &piece));
        let done = runner.piece(&source.name, &source.text, &piece);
        watch.end();
        match done {
            Ok(true) => {}
            Ok(false) => break,
            // The script goes on, and its exit code says so.
            Err(Error::Usage(text) | Error::Input(text)) => {
                failed = true;
                eprintln!("{}", text.trim_end());
            }
            Err(failure) => return Err(failure),
        }
        if cancelled.load(Ordering::Relaxed) {
            return Ok(exit::INTERRUPTED);
        }
    }
    Ok(if failed { exit::INPUT } else { code(&runner) })
}

fn code(runner: &Runner) -> u8 {
    if runner.is_known() { exit::HOLDS } else { exit::UNDECIDED }
}

fn interactive(runner: &mut Runner, watch: &Watch, cancelled: &AtomicBool) -> Result<(), Error> {
    let mut lines = Lines::new(OPTIONS.iter().map(|(name, _)| *name).collect());
    let mut text = String::new();
    loop {
        lines.know(runner.names());
        let line = match lines.next(if text.is_empty() { "[mec] " } else { "   …  " })? {
            Line::Text(line) => line,
            Line::TakenBack => {
                text.clear();
                continue;
            }
            Line::End => return Ok(()),
        };
        text.push_str(line.trim_end_matches(['\r', '\n']));
        text.push('\n');
        let all = pieces(&text);
        if !all.iter().all(|piece| piece.finished(&text)) {
            continue;
        }
        let now = std::mem::take(&mut text);
        for piece in all {
            // An interrupt ends one command, and not the conversation.
            cancelled.store(false, Ordering::Relaxed);
            watch.begin(subject(&now, &piece));
            let done = runner.piece("input", &now, &piece);
            watch.end();
            match done {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(Error::Usage(text) | Error::Input(text)) => eprintln!("{}", text.trim_end()),
                Err(failure) => return Err(failure),
            }
        }
    }
}
