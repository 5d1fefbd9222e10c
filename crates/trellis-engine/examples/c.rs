//! Runs an engine over the public C programs and counts what it decides. All evidence is checked, which does not count as time.
//!
//! `cargo run --release -p trellis-engine --example c -- induction 10 [part of a name]`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trellis_check::program::{Refusal, certify, replay};
use trellis_engine::budget::Budget;
use trellis_engine::program::{Outcome, Program, bmc, induction};
use trellis_model::evidence::Verdict;
use trellis_smt::Limits;
use trellis_syntax::c::{DataModel, Ints, Options, parse};
use trellis_syntax::diag::Sources;

/// Programs that are said to be safe and are not.
const WRONG: [&str; 6] = [
    "code2inv__code2inv_27",
    "code2inv__code2inv_31",
    "code2inv__code2inv_61",
    "code2inv__code2inv_62",
    "code2inv__code2inv_72",
    "code2inv__code2inv_75",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/c")
}

fn run(engine: &str, program: &mut Program<'_>, budget: &mut Budget<'_>) -> Outcome {
    match engine {
        "bmc" => bmc::check(program, &bmc::Options::default(), budget),
        "induction" => induction::check(program, &induction::Options::default(), budget),
        other => panic!("no engine is called {other}"),
    }
}

#[derive(Default)]
struct Counts {
    safe: usize,
    failing: usize,
    unknown: usize,
    wrong: usize,
    of: usize,
    time: Duration,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let engine = args.next().unwrap_or_else(|| "induction".to_owned());
    let seconds: u64 = args.next().map_or(10, |s| s.parse().expect("seconds"));
    let only = args.next().unwrap_or_default();
    let table = std::fs::read_to_string(folder().join("EXPECTED.tsv")).expect("the public models");
    let mut families: BTreeMap<String, Counts> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [task, _, safe, ..] = columns[..] else { continue };
        if !task.contains(&only) {
            continue;
        }
        // The verdicts of code2inv hold for mathematical integers.
        let ints = if task.starts_with("code2inv") { Ints::Math } else { Ints::Wrap };
        let mut sources = Sources::default();
        let Ok(id) = sources.read(&folder().join(format!("{task}.c"))) else { continue };
        let options = Options { ints, data_model: DataModel::Ilp32, folder: folder() };
        let Ok(built) = parse(&mut sources, id, &options) else { continue };
        let counts = families.entry(task.split("__").next().unwrap_or_default().to_owned()).or_default();
        counts.of += 1;
        let start = Instant::now();
        let mut program = Program::new(&built.cfa);
        let outcome = run(&engine, &mut program, &mut Budget::unlimited().time(Some(Duration::from_secs(seconds))));
        let took = start.elapsed();
        counts.time += took;
        let expected = match safe {
            "true" if !WRONG.contains(&task) => Some(true),
            "false" => Some(false),
            _ => None,
        };
        let (answer, said) = match outcome.verdict {
            Verdict::Safe(certificate) => {
                counts.safe += 1;
                let limits = Limits::none().time(Duration::from_secs(30));
                let checked = match certify(&built.cfa, &certificate, &limits) {
                    Ok(_) => "",
                    Err(Refusal::Undecided(_)) => ", not certified in 30 s",
                    Err(why) => panic!("{task}: {why}"),
                };
                (Some(true), format!("safe (k = {}{checked})", certificate.k))
            }
            Verdict::Unsafe(trace) => {
                counts.failing += 1;
                replay(&built.cfa, &trace).unwrap_or_else(|why| panic!("{task}: {why}"));
                (Some(false), "unsafe".to_owned())
            }
            Verdict::Unknown(reason) => {
                counts.unknown += 1;
                (None, format!("unknown: {reason} at depth {}", outcome.stats.steps))
            }
        };
        let wrong = answer.is_some() && expected.is_some() && answer != expected;
        counts.wrong += usize::from(wrong);
        let mark = if wrong { "WRONG " } else { "" };
        println!("{task:<60} {mark}{said} {:.2} s", took.as_secs_f64());
    }
    println!(
        "{:<16} {:>5} {:>5} {:>7} {:>8} {:>6} {:>9}",
        "family", "files", "safe", "unsafe", "unknown", "wrong", "time"
    );
    for (family, c) in &families {
        let seconds = c.time.as_secs_f64();
        println!(
            "{family:<16} {:>5} {:>5} {:>7} {:>8} {:>6} {seconds:>8.1}s",
            c.of, c.safe, c.failing, c.unknown, c.wrong
        );
    }
}
