//! The one way from a model to a verdict: questions → run under the meter, with progress → check the evidence → report → files → exit code.
//!
//! It knows no formalism by name ([`crate::formalism`]), and is used by `check` and by `certify`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use trellis_model::evidence::{Reason, Verdict};
use trellis_report::json::Header;
use trellis_report::{Kind, Outcome, PropertyReport, Style, text};

use crate::binding::{Bound, Meaning};
use crate::cli::Check;
use crate::evidence::Given;
use crate::files::{write_file, write_with};
use crate::formalism::{Evidence, Formalism, Question, Rejection, Report, Unanswered};
use crate::limits::{self, Work, interrupts};
use crate::{Failure, Ran, answers, exit, print};

/// Answers all questions of a model.
pub fn check<F: Formalism>(args: &Check, model: &F, color: bool) -> Ran {
    let (questions, cancelled) = (model.questions(), interrupts());
    let bound = Bound::new(args, model.inputs().to_vec());
    let full = args.programs.full_trace || args.programs.show_invariant;
    let style =
        Style { color, verbose: args.stats, full, ..Style::default() }.align(questions.iter().map(|q| q.text.as_str()));
    let (mut reports, mut code) = (vec![], exit::HOLDS);
    for (n, question) in questions.iter().enumerate() {
        let report = answer(args, model, n, question, &bound)?;
        code = worst(code, code_of(&report));
        show(args, &report, style, |out| model.json(n, &report, out), || model.text(n, &report, style))?;
        write_evidence(args, model, n, &report, (questions.len() > 1).then_some(n + 1))?;
        reports.push(report);
        if cancelled.load(Ordering::Relaxed) {
            return Ok(exit::INTERRUPTED);
        }
    }
    code = worst(code, unanswered(args, model, style)?);
    if let Some(file) = &args.html {
        write_file(file, &model.html(&reports))?;
    }
    Ok(code)
}

/// Says which questions are not answered, and why: the exit code of that.
pub fn unanswered<F: Formalism>(args: &Check, model: &F, style: Style) -> Ran {
    let (mut code, name, language) = (exit::HOLDS, model.name(), model.language());
    for (query, why) in model.unanswered() {
        let report: PropertyReport = match why {
            Unanswered::Refused(why) => PropertyReport::refused(name, language, &query, &why),
            Unanswered::Unsupported(what) => {
                let verdict = Verdict::Unknown(Reason::Unsupported(what));
                PropertyReport::about(name, language, &query, Kind::Always, verdict)
            }
        };
        code = worst(code, code_of(&report));
        answers::plain(args, &report, style)?;
    }
    Ok(code)
}

/// Answers one question, and checks the evidence.
fn answer<F: Formalism>(
    args: &Check,
    model: &F,
    n: usize,
    question: &Question,
    bound: &Bound,
) -> Result<Report<F>, Failure> {
    let warnings = answers::warn(args, question.warnings.clone());
    let started = Instant::now();
    let mut work = Work::on(args, &question.text);
    let mut report = model.solve(n, &mut work.meter)?;
    report.seconds = started.elapsed().as_secs_f64();
    report.binding = bound.to(&question.property);
    report.warnings.extend(warnings);
    if args.no_check || matches!(report.outcome, Outcome::Unknown | Outcome::Error) {
        return Ok(report);
    }
    // States count what a search stores; its proof may be looked at whole.
    let meter = work.meter.clone().states(None);
    match model.check(n, &report, &meter) {
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
            let Report::<F> { engine, statistics, seconds, binding, warnings, .. } = report;
            report = PropertyReport { engine, statistics, seconds, binding, warnings, ..open };
        }
    }
    // A bound is shown by a run, too, for those who want to keep it.
    if args.trace.is_some() || args.dot.is_some() || args.html.is_some() {
        report.trace = report.trace.take().or(report.witness.take());
    }
    Ok(report)
}

/// Says a report: to a machine, in a line, or at length.
pub fn show<T, C>(
    args: &Check,
    report: &PropertyReport<T, C>,
    style: Style,
    json: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    render: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let said = if args.json {
        let mut line = Vec::new();
        json(&mut line).map_err(|e| Failure::Internal(e.to_string()))?;
        String::from_utf8_lossy(&line).into_owned()
    } else if args.quiet {
        // What it rests on is part of a verdict.
        format!("{}{}", text::line(report, style), text::assumptions(report, style))
    } else {
        render()
    };
    print(&said).map(|_| ())
}

/// Writes what was asked for, the files numbered if there are several questions.
fn write_evidence<F: Formalism>(
    args: &Check,
    model: &F,
    n: usize,
    report: &Report<F>,
    several: Option<usize>,
) -> Result<(), Failure> {
    let path = |file: &Path| numbered(file, several);
    if let (Some(file), Some(t)) = (&args.trace, &report.trace) {
        write_with(&path(file), |out| model.write(n, report.header(), Evidence::Trace(t), out))?;
    }
    if let (Some(file), Some(p)) = (&args.certificate, &report.certificate) {
        write_with(&path(file), |out| model.write(n, report.header(), Evidence::Proof(p), out))?;
    }
    if let (Some(file), Some(graph)) = (&args.dot, args.dot.as_ref().and_then(|_| model.dot(n, report))) {
        write_file(&path(file), &graph)?;
    }
    if let (Some(file), Some(t)) = (&args.counters.msc, &report.trace) {
        let is_picture = file.extension().is_some_and(|e| e == "svg");
        match model.chart(n, t, is_picture) {
            None => eprintln!("note: the run has too many processes or steps to be drawn"),
            Some(chart) if file == Path::new("-") => {
                print(&chart)?;
            }
            Some(chart) => write_file(&path(file), &chart)?,
        }
    }
    Ok(())
}

/// Certifies evidence about one of the questions of a model.
pub fn certify<'a, F: Formalism>(args: impl Into<Meaning<'a>>, given: &Given<'_>, model: &F) -> Ran {
    let bound = Bound::new(args, model.inputs().to_vec());
    let questions = model.questions();
    let asked: Vec<&str> = questions.iter().map(|q| q.property.as_str()).collect();
    let n = match given.asked(&bound, &asked)? {
        Ok(n) => n,
        Err(why) => return given.rejected(&why),
    };
    // What is proven is what the model and the command line ask, never what the evidence says.
    let evidence = model.read(n, &given.text).map_err(|e| given.unreadable(&e))?;
    let meter = limits::meter_of(None, None);
    let result = match &evidence {
        Evidence::Trace(t) => model.replay(n, t),
        Evidence::Proof(p) => model.certify(n, p, &meter),
    };
    let result = match result {
        Ok(said) => Ok(said),
        Err(Rejection::Wrong(why)) => Err(why),
        Err(Rejection::Open(why)) => return given.undecided(&questions[n].text, &why),
        Err(Rejection::Stopped(why)) => return given.undecided(&questions[n].text, &why.to_string()),
    };
    let binding = bound.to(&questions[n].property);
    let header = Header { language: model.language(), kind: questions[n].kind, binding: &binding };
    let write = |out: &mut dyn Write| {
        let evidence = match &evidence {
            Evidence::Trace(t) => Evidence::Trace(t),
            Evidence::Proof(p) => Evidence::Proof(p),
        };
        model.write(n, header, evidence, out)
    };
    given.judged(&questions[n].text, result, &write)
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
pub fn numbered(path: &Path, several: Option<usize>) -> PathBuf {
    let Some(n) = several else { return path.to_path_buf() };
    let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let name = match path.extension() {
        Some(e) => format!("{stem}-{n}.{}", e.to_string_lossy()),
        None => format!("{stem}-{n}"),
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
