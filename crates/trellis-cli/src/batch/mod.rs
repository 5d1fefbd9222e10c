//! `trellis batch`: many models and properties, each checked by a process of its own, a line of JSON for each. What the file of results already
//! has for the same files, options and version is not checked again, so a batch that was stopped goes on where it was.
//!
//! What it deliberately does not do: search. A child is `trellis check --json`; limits, evidence and exit codes are its own.

mod export;
mod record;
mod tasks;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use trellis::Error;
use trellis::files::write_file;
use wait4::Wait4;

use crate::limits::{interrupts, worst};
use crate::{Ran, exit, print};
use record::Record;
use tasks::Task;

#[derive(Args, Debug)]
pub struct Batch {
    /// Models, patterns (models/**/*.xml), lists (.txt or .list: a model and its options on each line) or suites (.toml).
    #[arg(value_name = "LIST|GLOB|SUITE|MODEL", required = true)]
    pub what: Vec<String>,
    /// How many are checked at a time; without it, as many as there are processors.
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<usize>,
    /// Give up on one of them after this long (60s, 5m, 1h).
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = limit_of_time)]
    pub timeout: String,
    /// Give up on one of them when its process needs more than this (500MiB, 2GiB).
    #[arg(long, value_name = "SIZE", value_parser = limit_of_memory)]
    pub memory: Option<String>,
    /// Where results go, a line of JSON for each; what is there already is not done again.
    #[arg(long, value_name = "FILE", default_value = "results.jsonl")]
    pub out: PathBuf,
    /// Check everything, whatever the file of results has.
    #[arg(long)]
    pub again: bool,
    /// Only this one of them, by number from 1, as listed.
    #[arg(long, value_name = "N")]
    pub only: Option<usize>,
    /// Write the results as JUnit XML, for continuous integration.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write what fails as SARIF, for code scanning.
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Print what fails as annotations of GitHub's workflows.
    #[arg(long)]
    pub github: bool,
    /// Options of `check`, for all of them.
    #[arg(last = true, value_name = "OPTIONS")]
    pub options: Vec<String>,
}

fn limit_of_time(s: &str) -> Result<String, String> {
    trellis::settings::duration(s).map(|_| s.to_string())
}

fn limit_of_memory(s: &str) -> Result<String, String> {
    trellis::settings::bytes(s).map(|_| s.to_string())
}

pub fn batch(args: &Batch) -> Ran {
    let mut all = tasks::list(&args.what)?;
    for task in &mut all {
        task.options.extend(args.options.iter().cloned());
    }
    if let Some(only) = args.only {
        let count = all.len();
        let one = only.checked_sub(1).and_then(|n| all.into_iter().nth(n));
        all =
            vec![one.ok_or_else(|| Error::Usage(format!("--only {only}: there are {count} models, numbered from 1")))?];
    }
    let mut common = vec!["--timeout".to_string(), args.timeout.clone()];
    common.extend(args.memory.iter().flat_map(|m| ["--memory".to_string(), m.clone()]));

    let keys: Vec<String> = all.iter().map(|task| task.key(&common)).collect();
    let known: HashMap<String, Record> = if args.again { HashMap::new() } else { record::read(&args.out)? };
    let open: Vec<usize> = (0..all.len()).filter(|&n| !known.contains_key(&keys[n])).collect();
    let cannot = |e| Error::Output(format!("cannot write {}: {e}", args.out.display()));
    let out = Mutex::new(OpenOptions::new().create(true).append(true).open(&args.out).map_err(cannot)?);
    record::mend(&args.out).map_err(cannot)?;

    let (cancelled, next) = (interrupts(), AtomicUsize::new(0));
    let bar = progress(open.len());
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())).max(1);
    let done: Mutex<Vec<(usize, Record)>> = Mutex::new(vec![]);
    let work = || -> Result<(), Error> {
        while !cancelled.load(Ordering::Relaxed) {
            let Some(&n) = open.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let record = run(&all[n], &keys[n], &common)?;
            // A child that was interrupted has no result.
            if record.exit != i32::from(exit::INTERRUPTED) {
                append(&out, &record).map_err(cannot)?;
                done.lock().unwrap_or_else(PoisonError::into_inner).push((n, record));
            }
            bar.inc(1);
        }
        Ok(())
    };
    std::thread::scope(|s| {
        let workers: Vec<_> = (0..jobs.min(open.len())).map(|_| s.spawn(work)).collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or_else(|_| Err(Error::Internal("a worker died".into()))))
    })?;
    bar.finish_and_clear();

    let mut fresh: HashMap<usize, Record> =
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect();
    let skipped = all.len() - open.len();
    // What is expected is said now, whenever a result was found.
    let results: Vec<Record> = (0..all.len())
        .filter_map(|n| fresh.remove(&n).or_else(|| known.get(&keys[n]).cloned()).map(|r| (n, r)))
        .map(|(n, r)| Record { model: all[n].model.display().to_string(), expect: all[n].expect.clone(), ..r })
        .collect();
    summarise(&results, all.len(), skipped)?;
    if let Some(file) = &args.junit {
        write_file(file, &export::junit(&results)?)?;
    }
    if let Some(file) = &args.sarif {
        write_file(file, &export::sarif(&results))?;
    }
    if args.github {
        print(&export::annotations(&results))?;
    }
    if cancelled.load(Ordering::Relaxed) {
        return Ok(exit::INTERRUPTED);
    }
    Ok(results.iter().fold(exit::HOLDS, |code, r| worst(code, r.code())))
}

/// Checks one model in a process of its own.
fn run(task: &Task, key: &str, common: &[String]) -> Result<Record, Error> {
    let broken = |e: std::io::Error| Error::Internal(format!("cannot run `trellis check`: {e}"));
    let began = Instant::now();
    let mut child = Command::new(std::env::current_exe().map_err(broken)?)
        .arg("check")
        .arg(&task.model)
        .args(&task.options)
        .args(common)
        .args(["--json", "--quiet"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(broken)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Both streams are read at once, or a child that writes much to one would wait for ever.
    let errors = std::thread::spawn(move || text(stderr));
    let reports = text(stdout);
    let ended = child.wait4().map_err(broken)?;
    let usage = (ended.rusage.utime + ended.rusage.stime, ended.rusage.maxrss);
    let record = Record::new(task, key, ended.status.code(), &reports, &errors.join().unwrap_or_default());
    Ok(Record { wall: began.elapsed().as_secs_f64(), cpu: usage.0.as_secs_f64(), memory: usage.1, ..record })
}

fn text(stream: Option<impl std::io::Read>) -> String {
    let mut bytes = vec![];
    stream.map(|mut s| s.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One write for one line, so that a kill leaves at most the last one unfinished.
fn append(out: &Mutex<File>, record: &Record) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    out.write_all(&line)?;
    out.flush()
}

fn progress(total: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{pos} of {len} models, {elapsed}, about {eta} left {wide_bar}");
    ProgressBar::new(total as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A line for each model that has not only properties that hold, then the sums.
fn summarise(results: &[Record], total: usize, skipped: usize) -> Result<(), Error> {
    let mut counts = [0; 5];
    for r in results {
        for p in &r.properties {
            counts[match p.verdict.as_str() {
                _ if p.unchecked => 2,
                "SAFE" | "HOLDS" | "BOUND" => 0,
                "UNSAFE" | "FAILS" => 1,
                _ => 2,
            }] += 1;
        }
        counts[3] += usize::from(r.is_broken());
        counts[4] += usize::from(r.surprise().is_some());
        if let Some(line) = r.line() {
            print(&line)?;
        }
    }
    let names = ["hold", "fail", "undecided"];
    let said: Vec<String> = names.iter().zip(counts).map(|(name, n)| format!("{n} {name}")).collect();
    let mut end = format!("{} of {total} models: {}", results.len(), said.join(", "));
    let more =
        [(counts[3], "models not read or broken off"), (counts[4], "not as expected"), (skipped, "known before")];
    for (n, what) in more.iter().filter(|(n, _)| *n > 0) {
        end += &format!("; {n} {what}");
    }
    let cpu: f64 = results.iter().map(|r| r.cpu).sum();
    print(&format!("{end}; {cpu:.1} s of CPU")).map(|_| ())
}
