//! Broken input, as a user meets it: every file of `tests/malformed` and the large ones made in `generated.rs` give an
//! error with its place and the line underlined, exit code 2, no panic, soon, and in little memory.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::root;

#[path = "../../../../tests/malformed/generated.rs"]
mod generated;

/// What an answer may take: half of it is plenty for a release build. Processor time, so that a busy machine does not
/// fail the test.
const MAX_TIME: Duration = Duration::from_secs(5);
const MAX_MEMORY: u64 = 500 << 20;
/// After so long something hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// What came of one run.
struct Answer {
    name: String,
    code: Option<i32>,
    stderr: String,
    time: Duration,
    /// The largest resident set seen, in bytes; 0 where the system does not tell.
    memory: u64,
}

fn corpus() -> PathBuf {
    root().join("tests/malformed")
}

/// Runs `trellis check` on a file; queries are asked of the one model there is for them.
fn check(file: &Path) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trellis"));
    command.arg("check").env("NO_COLOR", "1").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    if file.extension().is_some_and(|e| e == "q") {
        command.arg(corpus().join("model.xta")).arg("--queries");
    }
    if file.extension().is_some_and(|e| e == "alt") {
        command.args(["--error", "false"]);
    }
    let mut child = command.arg(file).spawn().expect("the binary runs");
    let mut pipe = child.stderr.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let (code, time, memory) = watch(&mut child);
    let stderr = reader.join().expect("a reader").expect("readable errors");
    let name = file.strip_prefix(corpus()).unwrap_or(file).display().to_string();
    Answer { name, code, stderr, time, memory }
}

/// Waits for the end, and notes how much processor time and memory were seen on the way.
fn watch(child: &mut Child) -> (Option<i32>, Duration, u64) {
    let started = Instant::now();
    let (mut time, mut memory) = (Duration::ZERO, 0);
    loop {
        if let Some((t, m)) = usage(child.id()) {
            (time, memory) = (time.max(t), memory.max(m));
        }
        match child.try_wait().expect("a child to wait for") {
            Some(status) => return (status.code(), time, memory),
            None if started.elapsed() > PATIENCE => {
                let _ = child.kill();
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Processor time and largest resident set of a process so far, from `/proc`.
fn usage(pid: u32) -> Option<(Duration, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The fields after the name in brackets: the 12th and 13th are ticks of 10 ms in user and system mode.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0);
    Some((Duration::from_millis(10 * ticks), peak << 10))
}

/// What is wrong with an answer, if anything.
fn complaint(a: &Answer) -> Option<String> {
    let first_lines = || a.stderr.lines().take(12).collect::<Vec<_>>().join("\n");
    let wrong = match () {
        () if a.code != Some(2) => format!("exit code {:?}", a.code),
        () if a.stderr.contains("panicked") => "a panic".into(),
        () if !a.stderr.starts_with("error") => "no error".into(),
        () if !is_located(a) => "no place".into(),
        () if a.stderr.len() > 100_000 => format!("{} bytes of errors", a.stderr.len()),
        () if a.time > MAX_TIME => format!("{:?} of processor time", a.time),
        () if a.memory > MAX_MEMORY => format!("{} bytes of memory", a.memory),
        () => return None,
    };
    Some(format!("{}: {wrong}\n{}", a.name, first_lines()))
}

/// Is there a place in the file, `--> file:line:column`, and below it the line, underlined?
fn is_located(a: &Answer) -> bool {
    let file = Path::new(&a.name).file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let mut lines = a.stderr.lines();
    let found = lines.any(|l| {
        let Some(place) = l.trim_start().strip_prefix("--> ") else { return false };
        let mut parts = place.rsplitn(3, ':');
        let numbers = [parts.next(), parts.next()].map(|n| n.is_some_and(|n| n.parse::<u32>().is_ok()));
        numbers == [true, true] && parts.next().is_some_and(|path| path.ends_with(file))
    });
    found && lines.take(4).any(|l| l.contains('^'))
}

/// Checks all files, a few at a time.
fn check_all(files: impl Iterator<Item = PathBuf> + Send) -> Vec<Answer> {
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get()).min(8);
    let (files, answers) = (Mutex::new(files), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = files.lock().expect("the list").next();
                    let Some(file) = next else { return };
                    let answer = check(&file);
                    answers.lock().expect("the answers").push(answer);
                }
            });
        }
    });
    answers.into_inner().expect("the answers")
}

fn judge(mut answers: Vec<Answer>) {
    answers.sort_by_key(|a| std::cmp::Reverse(a.time));
    let largest = answers.iter().map(|a| a.memory).max().unwrap_or(0);
    println!("{} inputs; largest: {} MB; slowest:", answers.len(), largest >> 20);
    for a in answers.iter().take(8) {
        println!("  {:?} {} MB {}", a.time, a.memory >> 20, a.name);
    }
    let complaints: Vec<String> = answers.iter().filter_map(complaint).collect();
    assert!(complaints.is_empty(), "{} of {}:\n{}", complaints.len(), answers.len(), complaints.join("\n"));
}

#[test]
fn broken_files_are_refused_with_a_place() {
    let mut files = Vec::new();
    for folder in ["q", "xml", "xta", "names", "types", "tchecker", "spec", "altarica", "lola", "tts", "lcs"] {
        let entries = std::fs::read_dir(corpus().join(folder)).expect("the corpus");
        files.extend(
            entries.filter_map(|e| e.ok().map(|e| e.path())).filter(|p| p.extension().is_some_and(|e| e != "lua")),
        );
    }
    files.sort();
    assert!(files.len() >= 600, "{} files", files.len());
    judge(check_all(files.into_iter()));
}

#[test]
fn large_junk_is_refused_with_a_place() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let written = generated::cases().chain(generated::mistakes()).map(|(name, kind, text)| {
        let path = folder.path().join(format!("{name}.{kind}"));
        std::fs::write(&path, text).expect("a written file");
        path
    });
    let files: Vec<PathBuf> = written.collect();
    assert!(files.len() >= 55, "{} files", files.len());
    judge(check_all(files.into_iter()));
}

/// The model that queries are asked of is not what is wrong with them.
#[test]
fn the_model_of_the_queries_is_right() {
    let model = corpus().join("model.xta");
    let out = crate::trellis(&["check", &model.display().to_string(), "--property", "E<> Q.B and P(1).A"]);
    assert_eq!(out.status.code(), Some(0), "{}", crate::stderr(&out));
}
