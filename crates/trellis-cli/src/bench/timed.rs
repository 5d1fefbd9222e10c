//! Families of models with clocks, as nobody chooses how to search them, beside what TChecker takes: processor time, states, memory.
//!
//! Each model is checked in a process of its own (certificates included), so that memory is its own. TChecker's figures are those of
//! `bench/timed/table.tsv`; where `tck-reach` is on the path it is run, too, and its figures of today count.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use trellis::Error;
use wait4::Wait4;

use crate::cli::Bench;

const TABLE: &str = include_str!("../../../../bench/timed/table.tsv");
const BUNDLED: &str = "models/timed";
/// Seconds by the clock for each run; `--quick` has time for the first sizes only.
const PATIENCE: (u64, u64) = (5, 120);

struct Row<'t> {
    family: &'t str,
    model: &'t str,
    question: Vec<&'t str>,
    algorithm: &'t str,
    theirs: Cost,
}

/// What a run takes, as far as it is known.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    states: Option<u64>,
    seconds: Option<f64>,
    megabytes: Option<f64>,
}

fn rows(text: &str) -> Option<Vec<Row<'_>>> {
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    lines
        .map(|line| {
            let [family, model, question, algorithm, states, seconds, megabytes] =
                line.split('\t').collect::<Vec<_>>().try_into().ok()?;
            let question = match question.split_once(' ').filter(|(option, _)| *option == "--labels") {
                Some((option, labels)) => vec![option, labels],
                None => vec![question],
            };
            let theirs =
                Cost { states: states.parse().ok(), seconds: seconds.parse().ok(), megabytes: megabytes.parse().ok() };
            Some(Row { family, model, question, algorithm, theirs })
        })
        .collect()
}

/// Runs a command: what it prints, and what it takes.
fn measured(command: &mut Command) -> Option<(String, Cost)> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut text = String::new();
    child.stdout.take()?.read_to_string(&mut text).ok()?;
    let usage = child.wait4().ok()?.rusage;
    let seconds = Some((usage.utime + usage.stime).as_secs_f64());
    Some((text, Cost { states: None, seconds, megabytes: Some(usage.maxrss as f64 / f64::from(1 << 20)) }))
}

/// Our verdict and what it takes.
fn ours(row: &Row<'_>, path: &Path, seconds: u64) -> Result<(String, Cost), Error> {
    let broken = |why: &str| Error::Internal(format!("{}: {why}", path.display()));
    let program = std::env::current_exe().map_err(|e| broken(&e.to_string()))?;
    let mut command = Command::new(program);
    command.arg("check").arg(path).args(&row.question).args(["--json", "--quiet"]);
    command.arg("--timeout").arg(format!("{seconds}s"));
    let (text, cost) = measured(&mut command).ok_or_else(|| broken("cannot be checked"))?;
    let report: Value = text.lines().find_map(|l| serde_json::from_str(l).ok()).ok_or_else(|| broken("no answer"))?;
    let states = report["statistics"]["stored"].as_u64();
    Ok((report["verdict"].as_str().unwrap_or("-").to_string(), Cost { states, ..cost }))
}

/// TChecker's figures of today, if it is there.
fn today(row: &Row<'_>, path: &Path) -> Option<Cost> {
    let algorithm = match row.algorithm {
        "a⊑LU" => "aLU-covreach",
        "concur19" => "concur19",
        _ => "covreach",
    };
    let mut command = Command::new("tck-reach");
    command.args(["-a", algorithm, "-s", "bfs"]);
    if let ["--labels", labels] = row.question[..] {
        command.args(["-l", labels]);
    }
    let (text, cost) = measured(command.arg(path))?;
    let visited = text.lines().find_map(|l| l.strip_prefix("VISITED_STATES").map(str::trim))?;
    Some(Cost { states: visited.parse().ok(), ..cost })
}

fn find(folders: &[PathBuf], file: &str) -> Option<PathBuf> {
    let places = folders.iter().flat_map(|f| ["", "theta", "tchecker"].map(|sub| f.join(sub).join(file)));
    places.into_iter().find(|p| p.is_file())
}

fn number<T: ToString>(n: Option<T>) -> String {
    n.map_or_else(|| "-".into(), |n| n.to_string())
}

fn places(n: Option<f64>, digits: usize) -> String {
    n.map_or_else(|| "-".into(), |n| format!("{n:.digits$}"))
}

/// Prints the table; answers whether every question was answered as it must be.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    let folders: Vec<PathBuf> = args.models.iter().cloned().chain([PathBuf::from(BUNDLED)]).collect();
    let rows = rows(TABLE).ok_or_else(|| Error::Internal("a broken row in bench/timed/table.tsv".into()))?;
    let seconds = if args.quick { PATIENCE.0 } else { PATIENCE.1 };
    let (mut right, mut shown, mut absent, mut open, mut here) = (true, 0, 0, 0, false);
    println!(
        "{:<18} {:<10} {:>28}   {:>28}\n{:<18} {:<10} {:>10} {:>9} {:>7}   {:>10} {:>9} {:>7} {:>8}",
        "",
        "",
        "TChecker: visited, s, MB",
        "ours: stored, s, MB",
        "model",
        "algorithm",
        "",
        "",
        "",
        "",
        "",
        "",
        "ratio"
    );
    let mut family = "";
    for row in &rows {
        let Some(path) = find(&folders, row.model) else {
            absent += 1;
            continue;
        };
        let large = row.theirs.states.is_none_or(|n| n > 50_000);
        if args.quick && large {
            continue;
        }
        if row.family != family {
            family = row.family;
            println!("{family}");
        }
        let (verdict, our) = ours(row, &path, seconds)?;
        // All of these hold.
        let answered = verdict == "SAFE";
        right &= answered || verdict == "UNKNOWN";
        open += usize::from(!answered);
        shown += 1;
        let now = path.extension().is_none_or(|e| e != "xta").then(|| today(row, &path)).flatten();
        here |= now.is_some();
        let theirs = now.unwrap_or(row.theirs);
        let ratio = match (theirs.seconds, our.seconds) {
            (Some(t), Some(o)) if answered && o > 0.0 => format!("{:.1}×", t / o),
            _ if !answered => verdict,
            _ => "-".into(),
        };
        println!(
            "  {:<16} {:<10} {:>10} {:>9} {:>7}   {:>10} {:>9} {:>7} {ratio:>8}",
            row.model,
            row.algorithm,
            number(theirs.states),
            places(theirs.seconds, 2),
            places(theirs.megabytes, 0),
            number(our.states),
            places(our.seconds, 2),
            places(our.megabytes, 0),
        );
    }
    if shown == 0 {
        let places = folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" and ");
        return Err(Error::Usage(format!("no models in {places}; start from the root of Trellis, or give --models")));
    }
    println!("\nSeconds are of the processor, with starting the program and checking the certificate.");
    if !here {
        println!("TChecker's are of another day (bench/timed/table.tsv).");
    }
    if absent > 0 {
        println!("Left out: {absent} rows whose models are not here (--models FOLDER).");
    }
    if open > 0 {
        println!("Not answered within {seconds} s: {open}.");
    }
    Ok(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_there() {
        let Some(rows) = rows(TABLE) else { panic!("a broken table") };
        assert!(rows.iter().any(|r| r.family == "philosophers" && r.theirs.states == Some(8090)));
        assert!(rows.iter().any(|r| r.question == ["--labels", "cs1,cs2"]));
        assert!(rows.iter().any(|r| r.question == ["-p=A[] true"]));
    }
}
