//! The one way from a model to a verdict: questions → run under the meter, with progress → check the evidence → answers.
//!
//! It knows no formalism by name ([`crate::task`]). What comes out goes to a [`Sink`]: the command line prints and writes files, the library
//! collects.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use trellis_meter::Round;
use trellis_model::evidence::{Reason, Verdict};
use trellis_report::json::{self, Binding, Header};
use trellis_report::run::Run;
use trellis_report::{Content, Kind, Outcome, PropertyReport, Style, chart, dot, itf, page, svg, text};

use crate::Error;
use crate::binding::Bound;
use crate::certify::{Given, Judged};
use crate::settings::Settings;
use crate::task::{Evidence, Presenter, Question, Rejection, Report, Task, Unanswered, presented};
use crate::warnings;

/// A report without its evidence.
pub type Summary = PropertyReport<(), ()>;

/// An answer, whatever it is about. Its evidence stays as the engine made it until somebody wants it written.
pub trait Answer {
    /// All but the evidence.
    fn summary(&self) -> Summary;
    /// Is there a run?
    fn has_trace(&self) -> bool;
    /// Is there a proof?
    fn has_certificate(&self) -> bool;
    /// The run in the model's own words.
    fn run(&self) -> Option<Run>;
    /// For a person.
    fn text(&self, style: Style) -> String;
    /// As the page shows it.
    fn page(&self) -> io::Result<page::Answer>;
    /// For a machine, on one line.
    fn json(&self) -> io::Result<Vec<u8>>;
    /// The run in a form that only its formalism has, by the name of the file; or why it cannot be written so.
    fn native(&self, file: &str) -> Option<Result<String, String>>;
    /// Writes the run.
    fn write_trace(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Writes the proof.
    fn write_certificate(&self, out: &mut dyn Write) -> io::Result<()>;
    /// The run as a graph.
    fn dot(&self) -> Option<String>;
    /// The run as a picture; nothing if there is too much to draw.
    fn svg(&self) -> Option<String>;
    /// The run as a message sequence chart: a picture, or text.
    fn chart(&self, picture: bool) -> Option<String>;
    /// Writes what only this formalism has; `file` numbers a path as that of the evidence.
    fn write_more(&self, file: &dyn Fn(&Path) -> PathBuf) -> Result<(), Error>;
}

/// Where answers go.
pub trait Sink {
    /// An answer. Files are numbered by these, first those of runs, then those of proofs; nothing if there is but one.
    fn answer(&mut self, answer: Rc<dyn Answer>, style: Style, numbers: [Option<usize>; 2]) -> Result<(), Error>;
    /// A question that stays unanswered.
    fn unanswered(&mut self, report: &Summary, style: Style) -> Result<(), Error>;
    /// Something to be read as it is: a table. Whether what was tested in it holds; nothing if that is not known.
    fn table(&mut self, text: &str, holds: Option<bool>) -> Result<(), Error>;
    /// All answers, for a page.
    fn page(&mut self, answers: Vec<page::Answer>) -> Result<(), Error>;
}

/// A task, whatever it is about: what `check` and `certify` do with it.
pub trait Case {
    /// What is asked.
    fn questions(&self) -> Vec<Question>;
    /// Reports about what is asked and not answered.
    fn unanswered(&self) -> Vec<Summary> {
        vec![]
    }
    /// Answers all questions, or only this one, until somebody wants an end.
    fn check_only(self: Rc<Self>, only: Option<usize>, sink: &mut dyn Sink) -> Result<(), Error>;
    /// Is evidence in a file good for one of the questions? If it is about none of them, why not.
    fn certify(&self, given: &Given<'_>) -> Result<Result<Judged, String>, Error>;
}

impl<T: Task + 'static> Case for T {
    fn questions(&self) -> Vec<Question> {
        Task::questions(self)
    }

    fn unanswered(&self) -> Vec<Summary> {
        unanswered(self)
    }

    fn check_only(self: Rc<Self>, only: Option<usize>, sink: &mut dyn Sink) -> Result<(), Error> {
        check(&self, only, sink)
    }

    fn certify(&self, given: &Given<'_>) -> Result<Result<Judged, String>, Error> {
        certify(self, given)
    }
}

/// An answer to a question of a task.
struct Line<T: Task> {
    task: Rc<T>,
    n: usize,
    report: Report<T>,
    /// What refinement went through, if somebody wants to see it.
    rounds: Vec<Round>,
}

impl<T: Task> Answer for Line<T> {
    fn summary(&self) -> Summary {
        self.report.summary()
    }

    fn has_trace(&self) -> bool {
        self.report.trace.is_some()
    }

    fn has_certificate(&self) -> bool {
        self.report.certificate.is_some()
    }

    fn run(&self) -> Option<Run> {
        let trace = self.report.trace.as_ref()?;
        presented(&*self.task, self.n, |p| p.run(trace)).ok()
    }

    fn text(&self, style: Style) -> String {
        let said = presented(&*self.task, self.n, |p| text::render(&self.report, p, style));
        said + &self.task.more_text(self.n, &self.report, style)
    }

    fn page(&self) -> io::Result<page::Answer> {
        let words = self.report.certificate.as_ref().and_then(|c| self.task.proof_text(self.n, c));
        let answer = presented(&*self.task, self.n, |p| page::Answer::of(&self.report, p, words))?;
        Ok(page::Answer { rounds: self.rounds.iter().map(page::Round::of).collect(), ..answer })
    }

    fn json(&self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let r = &self.report;
        let size = |p: &Presenter<'_, T>| r.certificate.as_ref().map(|c| p.size(c));
        presented(&*self.task, self.n, |p| json::write_report(&mut line, p, r, size(p)))?;
        Ok(line)
    }

    fn native(&self, file: &str) -> Option<Result<String, String>> {
        let trace = self.report.trace.as_ref()?;
        presented(&*self.task, self.n, |p| p.native(file, trace))
    }

    fn write_trace(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.report.trace {
            Some(t) => presented(&*self.task, self.n, |p| json::write_trace(out, p, self.report.header(), t)),
            None => Ok(()),
        }
    }

    fn write_certificate(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.report.certificate {
            Some(c) => presented(&*self.task, self.n, |p| json::write_certificate(out, p, self.report.header(), c)),
            None => Ok(()),
        }
    }

    fn dot(&self) -> Option<String> {
        presented(&*self.task, self.n, |p| dot::report(&self.report, p))
    }

    fn svg(&self) -> Option<String> {
        presented(&*self.task, self.n, |p| svg::report(&self.report, p))
    }

    fn chart(&self, picture: bool) -> Option<String> {
        let trace = self.report.trace.as_ref()?;
        presented(&*self.task, self.n, |p| chart::trace(p, trace, picture))
    }

    fn write_more(&self, file: &dyn Fn(&Path) -> PathBuf) -> Result<(), Error> {
        self.task.write_more(self.n, &self.report, file)
    }
}

/// Answers all questions of a task.
fn check<T: Task + 'static>(task: &Rc<T>, only: Option<usize>, sink: &mut dyn Sink) -> Result<(), Error> {
    let (args, questions) = (task.args(), task.questions());
    let full = args.full_trace || args.programs.show_invariant;
    let style = Style { verbose: args.stats, full, ..args.context.style };
    let aligned = style.align(questions.iter().map(|q| q.text.as_str()));
    let mut kept: Vec<Rc<Line<T>>> = vec![];
    let mut together: Vec<Rc<Line<T>>> = vec![];
    let mut waiting: VecDeque<usize> = (0..questions.len()).filter(|n| only.is_none_or(|only| only == *n)).collect();
    while let Some(n) = waiting.pop_front() {
        let (report, mut rounds) = answer(&**task, n, &task.question(n))?;
        let followed = task.follow(n, report)?;
        followed.then.into_iter().rev().for_each(|n| waiting.push_front(n));
        // Where one question has several answers, its rounds are with the first.
        let mut line =
            |(n, report)| Rc::new(Line { task: task.clone(), n, report, rounds: std::mem::take(&mut rounds) });
        let lines: Vec<Rc<Line<T>>> = followed.lines.into_iter().map(&mut line).collect();
        if task.together() {
            together.extend(lines.iter().cloned());
        } else {
            let number = (questions.len() > 1).then_some(n + 1);
            lines.iter().try_for_each(|l| sink.answer(l.clone(), aligned, [number; 2]))?;
        }
        if args.html.is_some() {
            kept.extend(lines);
        }
        if args.context.is_cancelled() {
            break;
        }
    }
    show_together(together, style, sink)?;
    if args.context.is_cancelled() {
        return Ok(());
    }
    let open = if only.is_none() { unanswered(&**task) } else { vec![] };
    open.iter().try_for_each(|report| sink.unanswered(report, aligned))?;
    if args.html.is_some() {
        let answers = kept.iter().map(|l| l.page()).chain(open.iter().map(page::Answer::plain));
        let answers = answers.collect::<io::Result<_>>().map_err(|e| Error::Output(e.to_string()))?;
        sink.page(answers)?;
    }
    Ok(())
}

/// Shows lines that belong together, those that fail first; their files are numbered one after the other.
fn show_together<T: Task + 'static>(
    mut lines: Vec<Rc<Line<T>>>,
    style: Style,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let rank = |outcome: Outcome| match outcome {
        Outcome::Unsafe => 0,
        Outcome::Unknown => 1,
        _ => 2,
    };
    lines.sort_by_key(|l| rank(l.report.outcome));
    let style = style.align(lines.iter().map(|l| l.report.query.as_str()));
    let traces = lines.iter().filter(|l| l.has_trace()).count();
    let proofs = lines.iter().filter(|l| l.has_certificate()).count();
    let (mut trace, mut proof) = (0, 0);
    for line in lines {
        trace += usize::from(line.has_trace());
        proof += usize::from(line.has_certificate());
        sink.answer(line, style, [(traces > 1).then_some(trace), (proofs > 1).then_some(proof)])?;
    }
    Ok(())
}

/// Reports about questions that are not answered, and why.
fn unanswered<T: Task>(task: &T) -> Vec<Summary> {
    let (name, language) = (task.name(), task.language());
    let report = |(query, why): (String, Unanswered)| match why {
        Unanswered::Refused(why) => Summary::refused(&name, language, &query, &why),
        Unanswered::Unsupported(what) => {
            let verdict = Verdict::Unknown(Reason::Unsupported(what));
            Summary::about(&name, language, &query, Kind::Always, verdict)
        }
    };
    task.unanswered().into_iter().map(report).collect()
}

/// What a question of a task is bound to.
pub(crate) fn bound<T: Task>(task: &T, question: &Question) -> Binding {
    let inputs = task.inputs().into_iter().chain(question.inputs.iter().cloned()).collect();
    let bound = Bound::new(task.args(), inputs);
    task.meaning().iter().fold(bound, |bound, (name, value)| bound.with(name, value)).to(&question.property)
}

/// Answers one question, and checks the evidence; with what refinement went through, if a page is made of it.
fn answer<T: Task>(task: &T, n: usize, question: &Question) -> Result<(Report<T>, Vec<Round>), Error> {
    let args = task.args();
    let warnings = warnings::tell(args, question.warnings.clone());
    let started = Instant::now();
    let mut meter = args.meter();
    if args.html.is_some() {
        meter.board().record();
    }
    let working = args.context.listener.working(&question.text, meter.board());
    let mut report = task.solve(n, &mut meter)?;
    let rounds = meter.board().rounds();
    report.seconds = started.elapsed().as_secs_f64();
    report.binding = bound(task, question);
    report.warnings.extend(warnings);
    if args.no_check || matches!(report.outcome, Outcome::Unknown | Outcome::Error) {
        return Ok((report, rounds));
    }
    // States count what a search stores; its proof may be looked at whole.
    let meter = meter.states(None);
    match task.check(n, &report, &meter) {
        Ok(said) => report.checked = (!said.is_empty()).then(|| said.join("; ")),
        Err(Rejection::Wrong(why)) => {
            let what = if report.trace.is_some() { "run" } else { "proof" };
            return Err(Error::Internal(format!("the {what} for `{}` did not pass its check: {why}", question.text)));
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
    if [&args.trace, &args.dot, &args.svg, &args.html].iter().any(|file| file.is_some()) {
        report.trace = report.trace.take().or(report.witness.take());
    }
    drop(working);
    compare(args, question, &mut report);
    Ok((report, rounds))
}

/// Says what the file has recorded about the question, if that is known now.
fn compare<T, C>(args: &Settings, question: &Question, report: &mut PropertyReport<T, C>) {
    let found = match report.outcome {
        Outcome::Safe | Outcome::Holds => true,
        Outcome::Unsafe | Outcome::Fails => false,
        Outcome::Bound | Outcome::Unknown | Outcome::Error => return,
    };
    let Some(recorded) = question.recorded else { return };
    let satisfied = if recorded { "satisfied" } else { "not satisfied" };
    if recorded == found {
        if !args.json {
            args.context.note(format_args!("note: UPPAAL recorded: {satisfied}\n"));
        }
        return;
    }
    let differs = vec![format!("UPPAAL recorded: {satisfied}, which is not what is found here")];
    report.warnings.extend(warnings::tell(args, differs));
}

/// Certifies evidence about one of the questions of a task.
fn certify<T: Task>(task: &T, given: &Given<'_>) -> Result<Result<Judged, String>, Error> {
    let numbers = task.provable(given.property())?;
    let questions: Vec<Question> = numbers.iter().map(|&n| task.question(n)).collect();
    let bindings: Vec<Binding> = questions.iter().map(|q| bound(task, q)).collect();
    let at = match given.asked(&bindings)? {
        Ok(at) => at,
        Err(why) => return Ok(Err(why)),
    };
    let (n, question) = (numbers[at], &questions[at]);
    // What is proven is what the model and the options ask, never what the evidence says.
    let evidence = match presented(task, n, |p| json::read(p, &given.text)).map_err(|e| given.unreadable(&e))? {
        Content::Trace(t) => Evidence::Trace(t),
        Content::Certificate(c) => Evidence::Proof(c),
    };
    let meter = task.args().context.meter(None, None);
    let result = match &evidence {
        Evidence::Trace(t) => task.replay(n, t, &meter),
        Evidence::Proof(p) => task.certify(n, p, &meter),
    };
    let text = question.text.clone();
    let said = match result.and_then(|said| task.accept(n, evidence.as_ref()).map(|()| said)) {
        Ok(said) => said,
        Err(Rejection::Wrong(why)) => return Ok(Ok(Judged::Rejected(text, why))),
        Err(Rejection::Open(why)) => return Ok(Ok(Judged::Undecided(text, why))),
        Err(Rejection::Stopped(why)) => return Ok(Ok(Judged::Undecided(text, why.to_string()))),
    };
    let header = Header { language: task.language(), kind: question.kind, binding: &bindings[at] };
    let write = |out: &mut dyn Write| {
        presented(task, n, |p| match &evidence {
            Evidence::Trace(t) => json::write_trace(out, p, header, t),
            Evidence::Proof(c) => json::write_certificate(out, p, header, c),
        })
    };
    Ok(Ok(given.judged(text, said, &write)))
}

/// `trace.json` as `trace-termination.json`, and `trace.itf.json` as `trace-termination.itf.json`. `-` is the standard output for all.
pub fn named(path: &Path, what: &str) -> PathBuf {
    if path == Path::new("-") {
        return path.to_path_buf();
    }
    let name = path.file_name().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let ending = match path.extension() {
        _ if name.ends_with(itf::ENDING) => itf::ENDING.len(),
        Some(e) => e.len() + 1,
        None => 0,
    };
    let (stem, ending) = name.split_at(name.len() - ending);
    path.with_file_name(format!("{stem}-{what}{ending}"))
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
