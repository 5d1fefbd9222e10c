//! The one way from a model to a verdict: questions → run under the meter, with progress → check the evidence → report → files → exit code.
//!
//! It knows no formalism by name ([`crate::task`]), and is used by `check` and by `certify`.

use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use trellis_model::evidence::{Reason, Verdict};
use trellis_report::json::{Binding, Header};
use trellis_report::{Kind, Outcome, PropertyReport, Style, text};

use crate::binding::Bound;
use crate::evidence::Given;
use crate::files::{write_file, write_with};
use crate::limits::{self, Work, interrupts};
use crate::task::{Evidence, Question, Rejection, Report, Task, Unanswered};
use crate::{Failure, Ran, answers, exit, print};

/// A task, whatever it is about: what `check` and `certify` do with it.
pub trait Case {
    /// Answers all questions.
    fn check(&self, color: bool) -> Ran;
    /// Is evidence in a file good for one of the questions? Nothing if it is about none of them, and why.
    fn certify(&self, given: &Given<'_>) -> Result<Result<u8, String>, Failure>;
}

impl<T: Task> Case for T {
    fn check(&self, color: bool) -> Ran {
        check(self, color)
    }

    fn certify(&self, given: &Given<'_>) -> Result<Result<u8, String>, Failure> {
        certify(self, given)
    }
}

/// Answers all questions of a task.
fn check<T: Task>(task: &T, color: bool) -> Ran {
    let (args, questions, cancelled) = (task.args(), task.questions(), interrupts());
    let full = args.programs.full_trace || args.programs.show_invariant;
    let style = Style { color, verbose: args.stats, full, ..Style::default() };
    let aligned = style.align(questions.iter().map(|q| q.text.as_str()));
    let (mut lines, mut shown, mut code) = (vec![], 0, exit::HOLDS);
    let mut waiting: VecDeque<usize> = (0..questions.len()).collect();
    while let Some(n) = waiting.pop_front() {
        let followed = task.follow(n, answer(task, n, &task.question(n))?)?;
        followed.then.into_iter().rev().for_each(|n| waiting.push_front(n));
        lines.extend(followed.lines);
        if !task.together() {
            show_all(task, &lines[shown..], aligned, (questions.len() > 1).then_some(n + 1), &mut code)?;
            shown = lines.len();
        }
        if cancelled.load(Ordering::Relaxed) {
            code = exit::INTERRUPTED;
            break;
        }
    }
    if task.together() {
        let rank = |outcome: Outcome| match outcome {
            Outcome::Unsafe => 0,
            Outcome::Unknown => 1,
            _ => 2,
        };
        lines.sort_by_key(|(_, report)| rank(report.outcome));
        let style = style.align(lines.iter().map(|(_, report)| report.query.as_str()));
        let mut said = exit::HOLDS;
        show_all(task, &lines, style, None, &mut said)?;
        code = if code == exit::INTERRUPTED { code } else { said };
    }
    if code == exit::INTERRUPTED {
        return Ok(code);
    }
    code = worst(code, unanswered(task, aligned)?);
    if let Some(file) = &args.html {
        write_file(file, &task.html(&lines))?;
    }
    Ok(code)
}

/// Shows lines and writes their evidence. Files are numbered as the question is, or, where a question has several lines, one after the other.
fn show_all<T: Task>(
    task: &T,
    lines: &[(usize, Report<T>)],
    style: Style,
    number: Option<usize>,
    code: &mut u8,
) -> Result<(), Failure> {
    let count = |has: fn(&Report<T>) -> bool| lines.iter().filter(|(_, r)| has(r)).count();
    let (traces, proofs) = (count(|r| r.trace.is_some()), count(|r| r.certificate.is_some()));
    let (mut trace, mut proof) = (0, 0);
    for (n, report) in lines {
        *code = worst(*code, code_of(report));
        show(task, *n, report, style)?;
        trace += usize::from(report.trace.is_some());
        proof += usize::from(report.certificate.is_some());
        let files =
            Files { trace: number.or((traces > 1).then_some(trace)), proof: number.or((proofs > 1).then_some(proof)) };
        write_evidence(task, *n, report, files)?;
    }
    Ok(())
}

/// Says which questions are not answered, and why: the exit code of that.
fn unanswered<T: Task>(task: &T, style: Style) -> Ran {
    let (mut code, name, language) = (exit::HOLDS, task.name(), task.language());
    for (query, why) in task.unanswered() {
        let report: PropertyReport = match why {
            Unanswered::Refused(why) => PropertyReport::refused(&name, language, &query, &why),
            Unanswered::Unsupported(what) => {
                let verdict = Verdict::Unknown(Reason::Unsupported(what));
                PropertyReport::about(&name, language, &query, Kind::Always, verdict)
            }
        };
        code = worst(code, code_of(&report));
        answers::plain(task.args(), &report, style)?;
    }
    Ok(code)
}

/// What a question of a task is bound to.
fn bound<T: Task>(task: &T, question: &Question) -> Binding {
    let inputs = task.inputs().into_iter().chain(question.inputs.iter().cloned()).collect();
    let bound = Bound::new(task.args(), inputs);
    task.meaning().iter().fold(bound, |bound, (name, value)| bound.with(name, value)).to(&question.property)
}

/// Answers one question, and checks the evidence.
fn answer<T: Task>(task: &T, n: usize, question: &Question) -> Result<Report<T>, Failure> {
    let args = task.args();
    let warnings = answers::warn(args, question.warnings.clone());
    let started = Instant::now();
    let mut work = Work::on(args, &question.text);
    let mut report = task.solve(n, &mut work.meter)?;
    report.seconds = started.elapsed().as_secs_f64();
    report.binding = bound(task, question);
    report.warnings.extend(warnings);
    if args.no_check || matches!(report.outcome, Outcome::Unknown | Outcome::Error) {
        return Ok(report);
    }
    // States count what a search stores; its proof may be looked at whole.
    let meter = work.meter.clone().states(None);
    match task.check(n, &report, &meter) {
        Ok(said) => report.checked = (!said.is_empty()).then(|| said.join("; ")),
        Err(Rejection::Wrong(why)) => {
            let what = if report.trace.is_some() { "run" } else { "proof" };
            return Err(Failure::Internal(format!("the {what} for `{}` did not pass its check: {why}", question.text)));
        }
        // Found, and not checked: it is written, but nobody should rely on it.
        Err(Rejection::Stopped(why)) => report.unchecked = Some(format!("not re-checked: {why}")),
        // A proof that the checker cannot follow is none.
        Err(Rejection::Open(why)) => {
            let unknown = Verdict::Unknown(Reason::Unchecked(why));
            let open = PropertyReport::about(&report.model, &report.language, &report.query, report.kind, unknown);
            let Report::<T> { engine, statistics, seconds, binding, warnings, assumes, .. } = report;
            report = PropertyReport { engine, statistics, seconds, binding, warnings, assumes, ..open };
        }
    }
    // A bound is shown by a run, too, for those who want to keep it.
    if args.trace.is_some() || args.dot.is_some() || args.html.is_some() {
        report.trace = report.trace.take().or(report.witness.take());
    }
    Ok(report)
}

/// Prints a report: to a machine, in a line, or at length.
fn show<T: Task>(task: &T, n: usize, report: &Report<T>, style: Style) -> Result<(), Failure> {
    let args = task.args();
    let said = if args.json {
        let mut line = Vec::new();
        task.json(n, report, &mut line).map_err(|e| Failure::Internal(e.to_string()))?;
        String::from_utf8_lossy(&line).into_owned()
    } else if args.quiet && !args.programs.show_invariant {
        // What it rests on is part of a verdict.
        format!("{}{}", text::line(report, style), text::assumptions(report, style))
    } else {
        task.text(n, report, style)
    };
    print(&said).map(|_| ())
}

/// How the files of a line are numbered.
#[derive(Clone, Copy)]
struct Files {
    trace: Option<usize>,
    proof: Option<usize>,
}

/// Writes what was asked for.
fn write_evidence<T: Task>(task: &T, n: usize, report: &Report<T>, files: Files) -> Result<(), Failure> {
    let args = task.args();
    let path = |file: &Path| numbered(file, if report.trace.is_some() { files.trace } else { files.proof });
    if let (Some(file), Some(t)) = (&args.trace, &report.trace) {
        write_with(&path(file), |out| task.write(n, report.header(), Evidence::Trace(t), out))?;
    }
    if let (Some(file), Some(p)) = (&args.certificate, &report.certificate) {
        let file = numbered(file, files.proof);
        write_with(&file, |out| task.write(n, report.header(), Evidence::Proof(p), out))?;
    }
    if let (Some(file), Some(graph)) = (&args.dot, args.dot.as_ref().and_then(|_| task.dot(n, report))) {
        write_file(&path(file), &graph)?;
    }
    if let (Some(file), Some(t)) = (&args.msc, &report.trace) {
        let is_picture = file.extension().is_some_and(|e| e == "svg");
        match task.chart(n, t, is_picture) {
            None => eprintln!("note: the run has too many processes or steps to be drawn"),
            Some(chart) if file == Path::new("-") => {
                print(&chart)?;
            }
            Some(chart) => write_file(&path(file), &chart)?,
        }
    }
    task.write_more(n, report, &path)
}

/// Certifies evidence about one of the questions of a task.
fn certify<T: Task>(task: &T, given: &Given<'_>) -> Result<Result<u8, String>, Failure> {
    let numbers = task.provable(given.property())?;
    let questions: Vec<Question> = numbers.iter().map(|&n| task.question(n)).collect();
    let bindings: Vec<Binding> = questions.iter().map(|q| bound(task, q)).collect();
    let at = match given.asked(&bindings)? {
        Ok(at) => at,
        Err(why) => return Ok(Err(why)),
    };
    let (n, question) = (numbers[at], &questions[at]);
    // What is proven is what the model and the command line ask, never what the evidence says.
    let evidence = task.read(n, &given.text).map_err(|e| given.unreadable(&e))?;
    let meter = limits::meter_of(None, None);
    let result = match &evidence {
        Evidence::Trace(t) => task.replay(n, t, &meter),
        Evidence::Proof(p) => task.certify(n, p, &meter),
    };
    let result = match result.and_then(|said| task.accept(n, evidence.as_ref()).map(|()| said)) {
        Ok(said) => Ok(said),
        Err(Rejection::Wrong(why)) => Err(why),
        Err(Rejection::Open(why)) => return given.undecided(&question.text, &why).map(Ok),
        Err(Rejection::Stopped(why)) => return given.undecided(&question.text, &why.to_string()).map(Ok),
    };
    let header = Header { language: task.language(), kind: question.kind, binding: &bindings[at] };
    let write = |out: &mut dyn Write| task.write(n, header, evidence.as_ref(), out);
    given.judged(&question.text, result, &write).map(Ok)
}

/// The exit code of a report.
pub fn code_of<T, C>(r: &PropertyReport<T, C>) -> u8 {
    match r.outcome {
        Outcome::Error => exit::INPUT,
        Outcome::Unknown => exit::UNDECIDED,
        _ if r.unchecked.is_some() => exit::UNDECIDED,
        _ => match r.holds() {
            Some(false) => exit::FAILS,
            _ => exit::HOLDS,
        },
    }
}

/// A failure is worse than indecision; a broken model is worse than both.
pub fn worst(a: u8, b: u8) -> u8 {
    let rank = |c| [exit::HOLDS, exit::UNDECIDED, exit::FAILS, exit::INPUT].iter().position(|&x| x == c);
    let code = if rank(a) >= rank(b) { a } else { b };
    limits::so_far(code);
    code
}

/// `trace.json` of the second of several properties is `trace-2.json`.
fn numbered(path: &Path, several: Option<usize>) -> PathBuf {
    several.map_or_else(|| path.to_path_buf(), |n| named(path, &n.to_string()))
}

/// `trace.json` as `trace-termination.json`.
pub fn named(path: &Path, what: &str) -> PathBuf {
    let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let name = match path.extension() {
        Some(e) => format!("{stem}-{what}.{}", e.to_string_lossy()),
        None => format!("{stem}-{what}"),
    };
    path.with_file_name(name)
}

/// `1 step`, `7 steps`.
pub fn steps(n: usize) -> String {
    if n == 1 { "1 step".into() } else { format!("{n} steps") }
}

/// What was counted, with the names that reports show.
pub fn statistics(s: &trellis_meter::Stats) -> Vec<(String, u64)> {
    [
        ("added", s.added),
        ("stored", s.stored),
        ("expanded", s.expanded),
        ("steps", s.steps),
        ("covered", s.covered),
        ("joins", s.joins),
        ("refinements", s.refinements),
    ]
    .map(|(n, v)| (n.to_string(), v))
    .to_vec()
}
