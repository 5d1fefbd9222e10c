//! `trellis check`: every property, with the engine that suits it, evidence re-checked before anybody sees it. Prints what the pipeline finds,
//! and writes it to files.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use trellis::context::Context;
use trellis::files::{write_file, write_with};
use trellis::pipeline::{Answer, Sink, Summary, named};
use trellis::settings::{Model, Reading, Settings};
use trellis::{Error, registry, view};
use trellis_meter::StopReason;
use trellis_model::evidence::{Reason, Verdict};
use trellis_report::{Kind, Outcome, Style, itf, json, page, text, vcd};

use crate::limits::worst;
use crate::{Ran, exit, limits, print, stdin};

/// Says UNKNOWN for the question at work when a phase that cannot stop by itself has run out of a limit.
fn watch(args: &Settings) {
    let watched = limits::Watched { timeout: args.timeout, memory: args.memory, alone: false };
    let args = args.clone();
    limits::watch(watched, move |query, why| {
        let query = query.unwrap_or("nothing was decided while the model was read, or evidence written");
        let report = Summary::about(&name(&args), "", query, Kind::Always, Verdict::Unknown(why.into()));
        match plain(&args, &report, args.context.style) {
            Ok(()) if why == StopReason::Cancelled => exit::INTERRUPTED,
            Ok(()) => exit::UNDECIDED,
            Err(_) => exit::INTERNAL,
        }
    });
}

fn name(args: &Settings) -> String {
    args.model.model.display().to_string()
}

/// Prints a report that has no evidence.
fn plain(args: &Settings, report: &Summary, style: Style) -> Result<(), Error> {
    if args.json {
        let mut line = Vec::new();
        json::write_plain_report(&mut line, report).map_err(|e| Error::Internal(e.to_string()))?;
        print(&String::from_utf8_lossy(&line))?;
    } else {
        print(&text::line(report, style))?;
    }
    Ok(())
}

/// Checks models, one after the other.
pub fn check(args: &Settings, style: Style, err_color: bool) -> Ran {
    let mut code = exit::HOLDS;
    let all: Vec<PathBuf> = std::iter::once(&args.model.model).chain(&args.more).cloned().collect();
    for (n, path) in all.iter().enumerate() {
        let standard_input = (path == Path::new("-")).then(stdin::read).transpose()?;
        let model = standard_input.as_ref().map_or(path, |read| &read.path).clone();
        if all.len() > 1 && !args.json {
            print(&format!("{}{}:", if n == 0 { "" } else { "\n" }, path.display()))?;
        }
        // Evidence of several models goes to files that are called after them.
        let stem = path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        let beside = |file: &Option<PathBuf>| match file {
            Some(file) if all.len() > 1 => Some(named(file, &stem)),
            file => file.clone(),
        };
        let one = Settings {
            model: Model { model, ..args.model.clone() },
            more: vec![],
            trace: beside(&args.trace),
            certificate: beside(&args.certificate),
            dot: beside(&args.dot),
            svg: beside(&args.svg),
            html: beside(&args.html),
            msc: beside(&args.msc),
            ..args.clone()
        };
        match check_one(&one, style, err_color) {
            Ok(exit::INTERRUPTED) => return Ok(exit::INTERRUPTED),
            Ok(now) => code = worst(code, now),
            // A model that cannot be read leaves the others answered.
            Err(error @ (Error::Input(_) | Error::Usage(_))) if all.len() > 1 => {
                eprintln!("{error}");
                code = worst(code, exit::INPUT);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(code)
}

fn check_one(args: &Settings, style: Style, err_color: bool) -> Ran {
    let context = Context { color: err_color, style, ..limits::context(!args.quiet, args.json) };
    let reading = Reading { deadline: context.deadline(args.timeout), ..args.reading.clone() };
    let args = Arc::new(Settings { context, reading, ..args.clone() });
    watch(&args);
    let mut terminal = Terminal { args: args.clone(), code: exit::HOLDS, counts: [0; 3], written: vec![] };
    match answer_all(&args, &mut terminal) {
        Ok(()) => {
            terminal.sum_up()?;
            missing(&args, &terminal.written);
            Ok(terminal.code)
        }
        Err(Error::Late(language)) => {
            let late = Verdict::Unknown(Reason::Time);
            terminal.nothing(&Summary::about(&name(&args), language, "no error is reached", Kind::Always, late))
        }
        Err(Error::Nothing(language, advice)) => terminal.nothing(&Summary::unasked(&name(&args), language, &advice)),
        Err(error) => Err(error),
    }
}

fn answer_all(args: &Arc<Settings>, terminal: &mut Terminal) -> Result<(), Error> {
    for case in registry::tasks(args.clone())? {
        case.check_only(None, terminal)?;
        if args.context.is_cancelled() {
            terminal.code = exit::INTERRUPTED;
            break;
        }
    }
    Ok(())
}

/// Prints answers and writes their files; the exit code is that of the worst.
struct Terminal {
    args: Arc<Settings>,
    code: u8,
    /// How many properties hold, fail, and are undecided.
    counts: [usize; 3],
    /// Options whose files have been written.
    written: Vec<&'static str>,
}

impl Terminal {
    fn nothing(&self, report: &Summary) -> Ran {
        plain(&self.args, report, self.args.context.style)?;
        Ok(exit::UNDECIDED)
    }

    fn count(&mut self, code: u8) {
        self.code = worst(self.code, code);
        let at = match code {
            exit::HOLDS => 0,
            exit::FAILS => 1,
            _ => 2,
        };
        self.counts[at] += 1;
    }

    /// Of many properties a person at a terminal also wants to know how many hold.
    fn sum_up(&self) -> Result<(), Error> {
        let [holds, fails, open] = self.counts;
        let person = std::io::stdout().is_terminal() && !self.args.json;
        if holds + fails + open > 1 && person {
            let parts = [(holds, "hold"), (fails, "fail"), (open, "undecided")];
            let said: Vec<String> =
                parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
            print(&format!("{} properties: {}", holds + fails + open, said.join(", ")))?;
        }
        Ok(())
    }
}

impl Sink for Terminal {
    fn answer(&mut self, answer: Rc<dyn Answer>, style: Style, numbers: [Option<usize>; 2]) -> Result<(), Error> {
        let (args, report) = (self.args.clone(), answer.summary());
        self.count(code_of(&report));
        let said = if args.json {
            String::from_utf8_lossy(&answer.json().map_err(|e| Error::Internal(e.to_string()))?).into_owned()
        } else if args.quiet && !args.programs.show_invariant {
            // What it rests on is part of a verdict.
            format!("{}{}", text::line(&report, style), text::assumptions(&report, style))
        } else {
            answer.text(style)
        };
        print(&said)?;
        self.written.extend(write_files(&args, &*answer, numbers)?);
        Ok(())
    }

    fn unanswered(&mut self, report: &Summary, style: Style) -> Result<(), Error> {
        self.count(code_of(report));
        plain(&self.args, report, style)
    }

    fn table(&mut self, text: &str, holds: Option<bool>) -> Result<(), Error> {
        self.count(match holds {
            Some(true) => exit::HOLDS,
            Some(false) => exit::FAILS,
            None => exit::UNDECIDED,
        });
        if text.is_empty() { Ok(()) } else { print(text).map(|_| ()) }
    }

    fn page(&mut self, answers: Vec<page::Answer>) -> Result<(), Error> {
        self.args.html.as_ref().map_or(Ok(()), |file| write_file(file, &view::frozen(&self.args, answers)))
    }
}

/// Writes a file; `-` is the standard output.
fn output(file: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    if file != Path::new("-") {
        return write_with(file, write);
    }
    let mut text = Vec::new();
    write(&mut text).map_err(|e| Error::Output(e.to_string()))?;
    print(&String::from_utf8_lossy(&text)).map(|_| ())
}

/// Writes what was asked for. Which options found something to write.
fn write_files(
    args: &Settings,
    answer: &dyn Answer,
    [trace, proof]: [Option<usize>; 2],
) -> Result<Vec<&'static str>, Error> {
    let number = |file: &Path, n: Option<usize>| n.map_or_else(|| file.to_path_buf(), |n| named(file, &n.to_string()));
    let path = |file: &Path| -> PathBuf { number(file, if answer.has_trace() { trace } else { proof }) };
    let mut written = vec![];
    if let Some(file) = args.trace.as_ref().filter(|_| answer.has_trace()) {
        // The form is chosen by the name of the file.
        let name = file.to_string_lossy();
        let run = || answer.run().ok_or_else(|| io::Error::other("the run cannot be written"));
        output(&path(file), |out| match () {
            () if name.ends_with(itf::ENDING) => itf::write_itf(&run()?, out),
            () if name.ends_with(".vcd") => vcd::write_vcd(&run()?, out),
            () => match answer.native(&name) {
                Some(text) => out.write_all(text.map_err(io::Error::other)?.as_bytes()),
                None if name.ends_with(".xtr") => {
                    Err(io::Error::other("only runs of UPPAAL models are written as .xtr"))
                }
                None => answer.write_trace(out),
            },
        })?;
        written.push("trace");
    }
    if let Some(file) = args.certificate.as_ref().filter(|_| answer.has_certificate()) {
        output(&number(file, proof), |out| answer.write_certificate(out))?;
        written.push("certificate");
    }
    if let Some((file, graph)) = args.dot.as_ref().and_then(|file| Some((file, answer.dot()?))) {
        output(&path(file), |out| out.write_all(graph.as_bytes()))?;
        written.push("dot");
    }
    let is_picture = |file: &PathBuf| file.extension().is_some_and(|e| e == "svg");
    let drawn = [("svg", &args.svg, true), ("msc", &args.msc, args.msc.as_ref().is_some_and(is_picture))];
    for (option, file, picture) in drawn {
        let Some(file) = file.as_ref().filter(|_| answer.has_trace()) else { continue };
        match if option == "svg" { answer.svg() } else { answer.chart(picture) } {
            None => eprintln!("note: --{option}: the run has too many processes or steps to be drawn"),
            Some(text) => output(&path(file), |out| out.write_all(text.as_bytes()))?,
        }
        written.push(option);
    }
    answer.write_more(&path)?;
    Ok(written)
}

/// Files that were asked for and had nothing to hold: who looks for them should know why they are not there.
fn missing(args: &Settings, written: &[&str]) {
    let asked = [
        ("trace", &args.trace, "run"),
        ("certificate", &args.certificate, "proof"),
        ("dot", &args.dot, "run or proof that is drawn"),
        ("svg", &args.svg, "run"),
        ("msc", &args.msc, "run"),
    ];
    for (option, file, what) in asked {
        if let Some(file) = file.as_ref().filter(|_| !written.contains(&option)) {
            eprintln!("note: --{option} {}: not written, no answer has a {what}", file.display());
        }
    }
}

/// The exit code of a report.
fn code_of(r: &Summary) -> u8 {
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
