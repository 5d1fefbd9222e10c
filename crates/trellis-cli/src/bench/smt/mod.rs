//! The embedded solver beside Z3: random problems, and structured ones.
//!
//! `--write FOLDER` writes the problems as SMT-LIB files (`generate`), `bench/smt/run_z3.py` runs Z3 on them, and `--against FILE`
//! compares with what it found; `bench/smt/run` does all three. More problems are found in `--models FOLDER`, by family: its
//! sub-folders. Times are of one processor, for reading a file and checking it, on both sides; a check has ten seconds of that.

mod generate;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use trellis_expr::Terms;
use trellis_meter::Meter;
use trellis_smt::{Embedded, smtlib};

use super::Watch;
use crate::cli::Bench;
use generate::{Problem, Sizes, problems};
use trellis::Error;
use trellis::files::{make_folder, write_file};

/// How long a check may take, in seconds of the processor.
const LIMIT: f64 = 10.0;
/// How often that is looked at.
const TICK: Duration = Duration::from_millis(100);
/// The seed of the published table.
const SEED: u64 = 1;
/// An answer that takes longer is shown by name.
const SLOW: f64 = 2.0;

/// One solver's answer.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    said: String,
    /// For reading the file and checking it.
    seconds: f64,
    /// For checking alone.
    check: f64,
}

/// What a family comes to.
#[derive(Default)]
struct Sum {
    problems: usize,
    sat: usize,
    unsat: usize,
    /// Without an answer: ours, theirs.
    unknown: [usize; 2],
    disagree: usize,
    /// For reading and checking: ours, theirs.
    seconds: [f64; 2],
    /// For checking alone.
    check: [f64; 2],
}

/// Prints the table; answers whether no two answers contradict each other.
pub fn bench(args: &Bench) -> Result<bool, Error> {
    let sizes = if args.quick { Sizes::QUICK } else { Sizes::FULL };
    if let Some(folder) = &args.write {
        return write(folder, sizes).map(|()| true);
    }
    let theirs = args.against.as_deref().map(read_answers).transpose()?;
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let mut complaints = vec![];
    for Problem { family, name, text } in all(args.models.as_deref(), sizes)? {
        let ours = solve(&text).map_err(|why| Error::Input(format!("{family}/{name}: {why}")))?;
        let their = theirs.as_ref().and_then(|t| t.get(&(family.clone(), name.clone())));
        let sum = sums.entry(family.clone()).or_default();
        let decided = |a: &Answer| a.said == "sat" || a.said == "unsat";
        sum.problems += 1;
        sum.sat += usize::from(ours.said == "sat");
        sum.unsat += usize::from(ours.said == "unsat");
        sum.unknown[0] += usize::from(!decided(&ours));
        sum.seconds[0] += ours.seconds;
        sum.check[0] += ours.check;
        if let Some(their) = their {
            sum.unknown[1] += usize::from(!decided(their));
            sum.seconds[1] += their.seconds;
            sum.check[1] += their.check;
            if decided(their) && decided(&ours) && their.said != ours.said {
                sum.disagree += 1;
                complaints.push(format!("{family}/{name}: {} DISAGREES with {}", ours.said, their.said));
            }
        }
        if !decided(&ours) || ours.seconds > SLOW {
            let beside = their.map_or(String::new(), |t| format!(" (Z3: {}, {:.3} s)", t.said, t.seconds));
            complaints.push(format!("{family}/{name}: {}, {:.3} s{beside}", ours.said, ours.seconds));
        }
    }
    print(&sums, theirs.is_some());
    for complaint in &complaints {
        println!("{complaint}");
    }
    Ok(sums.values().all(|s| s.disagree == 0))
}

fn print(sums: &BTreeMap<String, Sum>, compared: bool) {
    println!(
        "family\tproblems\tsat\tunsat\tunknown\tZ3 unknown\tdisagree\tours s\tZ3 s\tratio\tours check s\tZ3 check s\tratio"
    );
    for (family, s) in sums {
        let their = |text: String| if compared { text } else { "-".into() };
        let times = |[ours, theirs]: [f64; 2]| {
            format!("{ours:.2}\t{}\t{}", their(format!("{theirs:.2}")), their(format!("{:.2}", ours / theirs)))
        };
        println!(
            "{family}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            s.problems,
            s.sat,
            s.unsat,
            s.unknown[0],
            their(s.unknown[1].to_string()),
            their(s.disagree.to_string()),
            times(s.seconds),
            times(s.check),
        );
    }
}

/// The problems of a folder, or those that are made up.
fn all(folder: Option<&Path>, sizes: Sizes) -> Result<Box<dyn Iterator<Item = Problem>>, Error> {
    let Some(folder) = folder else {
        return Ok(Box::new(problems(SEED, sizes)));
    };
    let mut files = vec![];
    let mut todo = vec![folder.to_path_buf()];
    while let Some(path) = todo.pop() {
        let cannot = |e: std::io::Error| Error::Usage(format!("cannot read {}: {e}", path.display()));
        for entry in std::fs::read_dir(&path).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == "smt2") {
                files.push(path);
            }
        }
    }
    files.sort();
    let root = folder.to_path_buf();
    Ok(Box::new(files.into_iter().map(move |path| {
        let family =
            path.parent().and_then(|p| p.strip_prefix(&root).ok()).unwrap_or(Path::new("")).display().to_string();
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        // What cannot be read is no script, and is complained about as such.
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| format!("cannot be read: {e}"));
        Problem { family, name, text }
    })))
}

fn write(folder: &Path, sizes: Sizes) -> Result<(), Error> {
    for problem in problems(SEED, sizes) {
        let family: PathBuf = folder.join(&problem.family);
        make_folder(&family)?;
        write_file(&family.join(format!("{}.smt2", problem.name)), &problem.text)?;
    }
    Ok(())
}

/// Our answer to a script's last check.
fn solve(text: &str) -> Result<Answer, String> {
    let watch = Watch::start();
    let mut terms = Terms::new();
    let commands = smtlib::read(text, &mut terms).map_err(|e| {
        let (line, column) = e.line_col(text);
        format!("{line}:{column}: {e}")
    })?;
    let read = watch.spent();
    let flag = Arc::new(AtomicBool::new(false));
    let _timer = Timer::start(flag.clone());
    let run = || {
        let mut out = vec![];
        let limits = || Meter::unlimited().cancelled_by(flag.clone());
        let outcome = smtlib::run(&commands, &terms, &mut Embedded::new(), &limits, &mut out);
        (outcome, String::from_utf8_lossy(&out).trim().to_string())
    };
    // A failed check of its own answers is a panic: the worst answer, but not the end of the table.
    let said = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok((Ok(outcome), said)) => match outcome.undecided.first() {
            Some((_, why)) => format!("unknown: {why}"),
            None => said.lines().last().unwrap_or_default().to_string(),
        },
        Ok((Err(e), _)) => return Err(e.to_string()),
        Err(_) => "unknown: it panicked".into(),
    };
    let seconds = watch.spent();
    Ok(Answer { said, seconds, check: seconds - read })
}

/// Raises a flag when this thread has had its time; dropping it calls that off.
struct Timer {
    _done: Sender<()>,
}

impl Timer {
    fn start(flag: Arc<AtomicBool>) -> Timer {
        let (_done, over) = channel();
        let watch = Watch::start();
        std::thread::spawn(move || {
            while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if watch.spent() > LIMIT {
                    flag.store(true, Ordering::Relaxed);
                }
            }
        });
        Timer { _done }
    }
}

/// What `run_z3.py` printed: answers by family and name.
fn read_answers(path: &Path) -> Result<BTreeMap<(String, String), Answer>, Error> {
    let text =
        std::fs::read_to_string(path).map_err(|e| Error::Usage(format!("cannot read {}: {e}", path.display())))?;
    let broken = |line: &str| Error::Usage(format!("a broken line in {}: {line}", path.display()));
    text.lines()
        .filter(|l| !l.starts_with('#'))
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let &[family, name, said, seconds, check] = &fields[..] else { return Err(broken(line)) };
            let number = |text: &str| text.parse().map_err(|_| broken(line));
            let answer = Answer { said: said.to_string(), seconds: number(seconds)?, check: number(check)? };
            Ok(((family.to_string(), name.to_string()), answer))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_scripts_and_the_same_again() {
        let sizes = Sizes { random: 40, loops: 8, jobs: 4, pigeons: 4, knapsacks: 4 };
        let (first, again) = (problems(7, sizes), problems(7, sizes));
        for (a, b) in first.zip(again) {
            assert_eq!(a.text, b.text);
            let mut terms = Terms::new();
            let commands = smtlib::read(&a.text, &mut terms).unwrap_or_else(|e| panic!("{e}: {}", a.text));
            let foreign = |c: &smtlib::Command| matches!(c, smtlib::Command::Assert(Err(_), _));
            assert!(!commands.iter().any(|(_, c)| foreign(c)), "{}", a.text);
        }
    }
}
