//! Programs in C beside what is known of them, and beside another tool on the same tasks.
//!
//! `--models FOLDER` has programs and a table `EXPECTED.tsv` (task, lines, whether the error is unreachable, …, features); without it the
//! bundled ones are taken. A task has 60 seconds of the processor, on one thread. `--write FOLDER` writes the tasks as Horn clauses,
//! `bench/c/run_spacer.py` runs Z3's Spacer on these, `--against FILE` sets its answers beside ours, and `--plot FILE` draws how many tasks
//! are answered in how much time; `bench/c/run` does all of it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use trellis_check::program::{Rejection, certify, replay};
use trellis_engine::program::{Engine, check};
use trellis_meter::Meter;
use trellis_model::cfa::Cfa;
use trellis_model::evidence::Verdict;
use trellis_syntax::c;
use trellis_syntax::diag::{Folders, Sources};

use super::plot;
use crate::cli::Bench;
use trellis::Error;
use trellis::files::write_file;
use trellis::formalism::program::horn;

/// How long a task may take, in seconds of the processor.
const LIMIT: f64 = 60.0;

/// Tables that are wrong about these: as mathematical integers they behave otherwise, which runs show.
const DOUBTFUL: [&str; 6] = [
    "code2inv__code2inv_27",
    "code2inv__code2inv_31",
    "code2inv__code2inv_61",
    "code2inv__code2inv_62",
    "code2inv__code2inv_72",
    "code2inv__code2inv_75",
];

/// One program.
struct Task {
    name: String,
    file: PathBuf,
    safe: bool,
    /// Multiplies variables, or calls itself.
    beyond: bool,
}

impl Task {
    fn family(&self) -> String {
        self.name.split("__").next().unwrap_or_default().to_string()
    }
}

/// What was said about a task.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    Safe,
    Unsafe,
    Unknown(String),
    Refused,
}

/// What a family comes to.
#[derive(Default)]
struct Sum {
    tasks: usize,
    decided: usize,
    wrong: usize,
    unknown: usize,
    refused: usize,
    /// Linear and without recursion: how many, and how many of them are decided.
    within: [usize; 2],
    seconds: f64,
    theirs: usize,
    their_seconds: f64,
}

/// Prints the table; answers whether no verdict is wrong.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    let folder = args.models.clone().unwrap_or_else(|| PathBuf::from("models/c"));
    let tasks = tasks(&folder)?;
    if let Some(to) = &args.write {
        return write(&tasks, to).map(|()| true);
    }
    let theirs = args.against.as_deref().map(read_answers).transpose()?;
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let (mut our_times, mut their_times) = (vec![], vec![]);
    println!("task\tknown\tours\tseconds\ttheirs\tseconds");
    for task in &tasks {
        let limit = if args.quick { 5.0 } else { LIMIT };
        let (said, seconds) = answer(task, limit)?;
        let their = theirs.as_ref().and_then(|t| t.get(&task.name));
        let sum = sums.entry(task.family()).or_default();
        sum.tasks += 1;
        sum.seconds += seconds;
        let decided = matches!(said, Said::Safe | Said::Unsafe);
        match &said {
            Said::Safe | Said::Unsafe => {
                sum.decided += 1;
                our_times.push(seconds);
                let doubtful = DOUBTFUL.contains(&task.name.as_str());
                sum.wrong += usize::from((said == Said::Safe) != task.safe && !doubtful);
            }
            Said::Unknown(_) => sum.unknown += 1,
            Said::Refused => sum.refused += 1,
        }
        if !task.beyond {
            sum.within[0] += 1;
            sum.within[1] += usize::from(decided);
        }
        let known = if task.safe { "safe" } else { "unsafe" };
        let ours = match &said {
            Said::Safe => "safe",
            Said::Unsafe => "unsafe",
            Said::Unknown(why) => why,
            Said::Refused => "refused",
        };
        let beside = match their {
            Some((said, seconds)) => {
                sum.their_seconds += seconds;
                if said == "safe" || said == "unsafe" {
                    sum.theirs += 1;
                    their_times.push(*seconds);
                }
                format!("{said}\t{seconds:.2}")
            }
            None => "-\t-".into(),
        };
        println!("{}\t{known}\t{ours}\t{seconds:.2}\t{beside}", task.name);
    }
    println!(
        "\nfamily\ttasks\tdecided\twrong\tunknown\trefused\tseconds\tlinear, not recursive\tof these decided\ttheirs decided\tseconds"
    );
    let mut all = Sum::default();
    for (family, s) in &sums {
        line(family, s, theirs.is_some());
        all.tasks += s.tasks;
        all.decided += s.decided;
        all.wrong += s.wrong;
        all.unknown += s.unknown;
        all.refused += s.refused;
        all.seconds += s.seconds;
        all.within = [all.within[0] + s.within[0], all.within[1] + s.within[1]];
        all.theirs += s.theirs;
        all.their_seconds += s.their_seconds;
    }
    line("all", &all, theirs.is_some());
    if let Some(file) = &args.plot {
        let mut lines = vec![("Trellis", our_times)];
        if theirs.is_some() {
            lines.push(("Z3's Spacer", their_times));
        }
        write_file(file, &plot::cactus("C programs: how many are decided in how much time each", &lines))?;
    }
    Ok(all.wrong == 0)
}

fn line(family: &str, s: &Sum, compared: bool) {
    let mut text = format!(
        "{family}\t{}\t{}\t{}\t{}\t{}\t{:.1}\t{}\t{}",
        s.tasks, s.decided, s.wrong, s.unknown, s.refused, s.seconds, s.within[0], s.within[1]
    );
    _ = if compared { write!(text, "\t{}\t{:.1}", s.theirs, s.their_seconds) } else { write!(text, "\t-\t-") };
    println!("{text}");
}

fn tasks(folder: &Path) -> Result<Vec<Task>, Error> {
    let table = folder.join("EXPECTED.tsv");
    let text = std::fs::read_to_string(&table)
        .map_err(|e| Error::Input(format!("{}: {e}; --models FOLDER says where the programs are", table.display())))?;
    let mut tasks = vec![];
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, _, unreach, ..] = columns[..] else { continue };
        let features = columns.get(4).copied().unwrap_or_default();
        let beyond = features.contains("nonlinear") || features.contains("recursion");
        let file = folder.join(format!("{name}.c"));
        if file.is_file() && matches!(unreach, "true" | "false") {
            tasks.push(Task { name: name.to_string(), file, safe: unreach == "true", beyond });
        }
    }
    if tasks.is_empty() {
        return Err(Error::Input(format!("{}: no programs", table.display())));
    }
    Ok(tasks)
}

fn automaton(task: &Task) -> Option<Cfa> {
    let mut sources = Sources::default();
    let id = sources.read(&task.file).ok()?;
    // The verdicts of these hold for mathematical integers.
    let ints = if task.name.starts_with("code2inv") { c::Ints::Math } else { c::Ints::Wrap };
    let folder = task.file.parent().unwrap_or(Path::new("")).to_path_buf();
    let options =
        c::Options { ints, data_model: c::DataModel::Ilp32, folders: Folders::of(folder), ..c::Options::default() };
    c::parse(&mut sources, id, &options).ok().map(|built| built.cfa)
}

/// Asks the portfolio, and checks what it shows; with seconds of the processor.
fn answer(task: &Task, limit: f64) -> Result<(Said, f64), Error> {
    let before = spent();
    let Some(cfa) = automaton(task) else { return Ok((Said::Refused, spent() - before)) };
    let stop = Arc::new(AtomicBool::new(false));
    let done = Arc::new(AtomicBool::new(false));
    let outcome = std::thread::scope(|scope| {
        let (flag, over) = (stop.clone(), done.clone());
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(20));
                if spent() - before > limit {
                    flag.store(true, Ordering::Relaxed);
                    break;
                }
            }
        });
        let mut budget = Meter::unlimited().cancelled_by(stop.clone());
        let outcome = check(&cfa, &Engine::Portfolio(1), &mut budget);
        done.store(true, Ordering::Relaxed);
        outcome
    });
    let bad = |why: String| Error::Input(format!("{}: the evidence is not accepted: {why}", task.name));
    let said = match &outcome.verdict {
        Verdict::Safe(certificate) => {
            match certify(&cfa, certificate, &Meter::unlimited().time(Duration::from_secs(60))) {
                Ok(_) => Said::Safe,
                Err(Rejection::Undecided(why)) => {
                    Said::Unknown(format!("unknown: the invariant was not confirmed: {why}"))
                }
                Err(why) => return Err(bad(why.to_string())),
            }
        }
        Verdict::Unsafe(trace) => {
            replay(&cfa, trace).map_err(|e| bad(e.to_string()))?;
            Said::Unsafe
        }
        Verdict::Unknown(why) => Said::Unknown(format!("unknown: {why}")),
    };
    Ok((said, spent() - before))
}

/// What this process has spent on processors so far, where the system says.
fn spent() -> f64 {
    let account = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = account.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> = after_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse().ok()).collect();
    fields.iter().sum::<f64>() / 100.0
}

fn write(tasks: &[Task], folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|e| Error::Input(format!("{}: {e}", folder.display())))?;
    for task in tasks {
        if let Some(cfa) = automaton(task)
            && let Ok(text) = horn::clauses(&cfa)
        {
            write_file(&folder.join(format!("{}.smt2", task.name)), &text)?;
        }
    }
    Ok(())
}

/// Lines of task, answer, seconds.
fn read_answers(file: &Path) -> Result<BTreeMap<String, (String, f64)>, Error> {
    let text = std::fs::read_to_string(file).map_err(|e| Error::Input(format!("{}: {e}", file.display())))?;
    let line = |line: &str| {
        let mut columns = line.split('\t');
        let (name, said) = (columns.next()?.to_string(), columns.next()?.to_string());
        Some((name, (said, columns.next()?.parse().ok()?)))
    };
    Ok(text.lines().filter(|l| !l.starts_with('#')).filter_map(line).collect())
}
