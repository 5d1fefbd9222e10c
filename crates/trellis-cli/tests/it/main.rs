//! The command line as a user meets it: the bundled models under every configuration, the papers' counts, evidence that
//! is corrupted, input that is broken.

mod altarica;
mod answers;
mod automata;
mod batch;
mod binding;
mod book;
mod browser;
mod commands;
mod counters;
mod counts;
mod edges;
mod evidence;
mod gamma;
mod hierarchy;
mod limits;
mod ltl;
mod ltl2hoa;
mod malformed;
mod models;
mod monotone;
mod pictures;
mod programs;
mod queries;
mod simulate;
mod smt;
mod streams;
mod tchecker;
mod undefined;
mod wcet;
mod witnesses;
mod workers;

use std::path::PathBuf;
use std::process::{Command, Output};

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs Trellis in the folder of the models.
pub fn trellis(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trellis"))
        .args(args)
        .current_dir(root().join("models"))
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary runs")
}

/// Of the arguments of a check, those that say what is asked of what: `certify` takes them, too.
pub fn asking<'a>(check: &[&'a str]) -> Vec<&'a str> {
    const WITH_VALUE: [&str; 13] = [
        "-p",
        "--property",
        "--error",
        "--labels",
        "--queries",
        "--const",
        "--ltl",
        "--buchi",
        "--ltl-step",
        "--fair",
        "--node",
        "--ints",
        "--data-model",
    ];
    let mut all = vec![];
    for (i, arg) in check.iter().enumerate() {
        if WITH_VALUE.contains(arg) {
            all.extend(&check[i..(i + 2).min(check.len())]);
        } else if ["--non-zeno", "--assume-defined", "--overflow", "--uninitialised"].contains(arg) {
            all.push(*arg);
        }
    }
    all
}

/// Its standard output.
pub fn stdout(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Its standard error.
pub fn stderr(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// The reports that `--json` printed.
pub fn reports(out: &Output) -> Vec<serde_json::Value> {
    stdout(out)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("not JSON ({e}): {l}\n{}", stderr(out))))
        .collect()
}

/// A file that is gone when the test ends.
pub fn temporary(name: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join(name).display().to_string();
    (dir, path)
}
