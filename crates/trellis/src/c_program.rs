//! `trellis check` for C programs: what a program is asked, and a verdict for each of it.
//!
//! All checks are asked at once first: a proof is then one for all of them. A run into an error is the verdict of the check that fails
//! at its end; the others are asked again without it. Whoever fails ends a run, so what is said of the others is said of runs on
//! which nothing failed before. Where there is no answer for all, each kind of check is asked by itself.

mod property;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use trellis_engine::program::{Engine, Outcome as Found};
use trellis_expr::Stmt;
use trellis_model::cfa::evidence::{Trace, Verdict};
use trellis_model::cfa::{Cfa, Kind as LocationKind, Location, LocationId};
use trellis_model::evidence::Reason;
use trellis_report::program as tell;
use trellis_report::{Kind as QueryKind, Outcome, Present, Program, ProgramReport, Style, dot, json};
use trellis_syntax::c::{Built, Check as One, Kind};

pub use property::Scope;

use crate::automaton::{Loaded, QUESTION, load};
use crate::binding::{Bound, canonical};
use crate::cli::{Check, Properties};
use crate::files::{write_file, write_with};
use crate::limits::{Work, interrupts};
use crate::pipeline::{code_of, numbered, statistics, worst};
use crate::program::{checked, engine_line, show};
use crate::{Failure, Ran, answers, exit, limits, ltl, witness};

/// What is added where loops are not shown to end.
const PARTIAL: &str = "; partial correctness: loops are not shown to end";

/// What a question says that leaves some checks out, before their names.
const BUT_FOR: &str = ", but for: ";

/// A C program, and what it is asked.
pub struct Asked {
    /// Each check has an error location of its own.
    cfa: Cfa,
    pub checks: Vec<One>,
    /// What the checks are called; no two have the same name.
    pub names: Vec<String>,
    /// Functions that may do anything.
    bodiless: Vec<String>,
    pub scope: Scope,
}

impl Asked {
    pub fn new(built: Built, scope: Scope) -> Asked {
        let Built { cfa, checks, bodiless, .. } = built;
        let names = names(&cfa, &checks);
        Asked { cfa, checks, names, bodiless, scope }
    }

    /// All checks.
    pub fn all(&self) -> Vec<usize> {
        (0..self.checks.len()).collect()
    }

    /// What is odd about an assertion: it cannot fail, whatever the program does. (One that always fails marks what must not be reached.)
    fn odd(&self, n: usize) -> Vec<String> {
        let (check, terms) = (&self.checks[n], &self.cfa.terms);
        let into = || self.cfa.edges().map(|e| self.cfa.edge(e)).filter(|e| Some(e.to) == check.location);
        let never = |stmt| match terms.stmt(stmt) {
            Stmt::Assume(t) => answers::never(terms, *t),
            Stmt::Seq(all) => {
                all.iter().any(|s| matches!(terms.stmt(*s), Stmt::Assume(t) if answers::never(terms, *t)))
            }
            _ => false,
        };
        match check.kind == Kind::Assertion && into().all(|e| never(e.stmt)) {
            true => vec![format!("`{}`: it cannot fail, whatever the program does", self.names[n])],
            false => vec![],
        }
    }

    /// The automaton that has an error where one of these fails; where another one fails, a run ends.
    pub fn question(&self, set: &[usize]) -> Cfa {
        let mut cfa = self.cfa.clone();
        let extra = |name: &str, kind| Location { name: name.into(), kind, place: None };
        let stopped = cfa.add_location(extra("stopped", LocationKind::Final));
        let error = cfa.add_location(extra("error", LocationKind::Error));
        let mut new: Vec<LocationId> = cfa.locations().collect();
        let mut is_asked = vec![false; self.checks.len()];
        set.iter().for_each(|&n| is_asked[n] = true);
        for (n, check) in self.checks.iter().enumerate() {
            let Some(l) = check.location else { continue };
            let asked = is_asked[n];
            if !asked || set.len() > 1 {
                new[l.index()] = if asked { error } else { stopped };
                cfa.location_mut(l).kind = LocationKind::Plain;
            }
        }
        cfa.redirected(|l| new[l.index()])
    }

    /// The checks that a question in evidence is about.
    pub fn named(&self, query: &str) -> Option<Vec<usize>> {
        if query == QUESTION {
            return Some(self.all());
        }
        if let Some(n) = self.names.iter().position(|name| name == query) {
            return Some(vec![n]);
        }
        let mut out = query.strip_prefix(QUESTION)?.strip_prefix(BUT_FOR)?;
        let mut set = self.all();
        while !out.is_empty() {
            // The longest name that fits: a name may have a separator in it.
            let fits = |n: &usize| {
                out.strip_prefix(self.names[*n].as_str()).is_some_and(|r| r.is_empty() || r.starts_with("; "))
            };
            let n = set.iter().copied().filter(fits).max_by_key(|n| self.names[*n].len())?;
            set.retain(|m| *m != n);
            out = &out[self.names[n].len()..];
            out = out.strip_prefix("; ").unwrap_or(out);
        }
        Some(set)
    }

    /// The questions that evidence may be about, given what it says: all checks, or one of them. A question that leaves some checks out is
    /// not the program's own, so only who asks for it gets it.
    pub fn provable(&self, claimed: &str, asked: &Properties) -> Result<Vec<(String, Cfa)>, Failure> {
        let query = match &asked.properties[..] {
            [] if claimed.contains(BUT_FOR) => QUESTION,
            [] => claimed,
            [one] => one,
            _ => return Err(Failure::Usage("--property: evidence is about one property".into())),
        };
        match self.named(query) {
            Some(set) => Ok(vec![(query.into(), self.question(&set))]),
            None if asked.properties.is_empty() => Ok(vec![(QUESTION.into(), self.question(&self.all()))]),
            None => Err(Failure::Usage(format!("--property: the program has no check `{query}`"))),
        }
    }

    /// What evidence about these calls the question.
    fn name_of(&self, set: &[usize]) -> String {
        let within: HashSet<usize> = set.iter().copied().collect();
        let out: Vec<&str> =
            self.all().iter().filter(|n| !within.contains(n)).map(|&n| self.names[n].as_str()).collect();
        match out.is_empty() {
            true => QUESTION.into(),
            false => format!("{QUESTION}{BUT_FOR}{}", out.join("; ")),
        }
    }

    /// Which check fails at the end of a run.
    fn failing(&self, trace: &Trace) -> Option<usize> {
        let end = self.cfa.edge(trace.steps.last()?.edge).to;
        self.checks.iter().position(|c| c.location == Some(end))
    }

    /// These, as they are reported: assertions one by one, others by kind.
    fn grouped(&self, set: &[usize]) -> Vec<(String, Vec<usize>)> {
        let mut all = vec![];
        for kind in Kind::ALL {
            let these: Vec<usize> = set.iter().copied().filter(|&n| self.checks[n].kind == kind).collect();
            match kind {
                Kind::Assertion => all.extend(these.iter().map(|&n| (self.names[n].clone(), vec![n]))),
                _ if these.is_empty() => {}
                kind => all.push((kind.count(these.len()), these)),
            }
        }
        all
    }

    /// The kinds of these, each with its checks.
    fn by_kind(&self, set: &[usize]) -> Vec<Vec<usize>> {
        let of = |kind| set.iter().copied().filter(|&n| self.checks[n].kind == kind).collect::<Vec<_>>();
        Kind::ALL.into_iter().map(of).filter(|these| !these.is_empty()).collect()
    }
}

/// `line 3: division by zero`, with its column or a number where that is not clear.
fn names(cfa: &Cfa, checks: &[One]) -> Vec<String> {
    let file = |n: u32| cfa.files.get(n as usize).map_or("?", |f| f.rsplit(['/', '\\']).next().unwrap_or(f));
    let line = |c: &One| match c.place.file {
        0 => format!("line {}", c.place.line),
        n => format!("{}:{}", file(n), c.place.line),
    };
    let mut all: Vec<String> = checks.iter().map(|c| canonical(&format!("{}: {}", line(c), c.text))).collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    all.iter().for_each(|name| *counts.entry(name.clone()).or_default() += 1);
    for (name, c) in all.iter_mut().zip(checks) {
        if counts[name] > 1 {
            *name = canonical(&format!("{}, column {}: {}", line(c), c.place.column, c.text));
        }
    }
    let mut taken: HashSet<String> = all.iter().cloned().collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for name in &mut all {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            let free = (*count..).map(|k| format!("{name} ({k})")).find(|name| !taken.contains(name));
            *name = free.unwrap_or_default();
            taken.insert(name.clone());
        }
    }
    all
}

/// A line of the report, and the automaton that its evidence is about.
struct Line {
    report: ProgramReport,
    cfa: Arc<Cfa>,
    /// What a certificate is called on file, if this line is the first that it is for.
    question: Option<String>,
    kind: Kind,
}

/// What formulas about a program do not ask: whether something in it is undefined, on the way to what they speak of.
pub fn undefined(args: &Check, out_color: bool, err_color: bool) -> Ran {
    let loaded = load(&args.model, &args.reading, None, err_color)?;
    let Some(asked) = &loaded.program else { return Ok(exit::HOLDS) };
    let mut set = asked.all();
    set.retain(|&n| asked.checks[n].kind != Kind::Assertion);
    if set.is_empty() {
        return Ok(exit::HOLDS);
    }
    // The evidence on file is that of the formulas.
    let args = Check { trace: None, certificate: None, dot: None, html: None, ..args.clone() };
    let engine = Engine::Portfolio(args.programs.threads.unwrap_or(2).into());
    let cancelled = interrupts();
    let mut lines = ask(&args, engine, &loaded, asked, set, false, &cancelled)?;
    told(&args, &loaded, &mut lines, out_color)
}

/// Asks a program everything.
pub fn check(args: &Check, engine: Engine, loaded: &Loaded, asked: &Asked, colors: (bool, bool)) -> Ran {
    let (out_color, err_color) = colors;
    let cancelled = interrupts();
    let termination = args.programs.termination || asked.scope.termination;
    let mut lines = if asked.checks.is_empty() && (termination || asked.scope.property.is_none()) {
        match termination {
            true => vec![],
            false => vec![nothing(loaded, asked)],
        }
    } else {
        ask(args, engine, loaded, asked, asked.all(), termination, &cancelled)?
    };
    let mut code = told(args, loaded, &mut lines, out_color)?;
    if termination && !cancelled.load(Ordering::Relaxed) {
        let beside = |file: &PathBuf| match lines.is_empty() {
            true => file.clone(),
            false => named(file, "termination"),
        };
        let args = Check {
            trace: args.trace.as_ref().map(beside),
            certificate: args.certificate.as_ref().map(beside),
            dot: args.dot.as_ref().map(beside),
            html: args.html.as_ref().map(beside),
            ..args.clone()
        };
        code = worst(code, ltl::termination(&args, out_color, err_color)?);
    }
    if cancelled.load(Ordering::Relaxed) {
        code = exit::INTERRUPTED;
    }
    Ok(code)
}

/// Prints the lines, those that fail first; the exit code is that of the worst.
fn told(args: &Check, loaded: &Loaded, lines: &mut [Line], color: bool) -> Ran {
    let rank = |outcome: Outcome| match outcome {
        Outcome::Unsafe => 0,
        Outcome::Unknown => 1,
        _ => 2,
    };
    lines.sort_by_key(|line| rank(line.report.outcome));
    tell_all(args, loaded, lines, color)?;
    Ok(lines.iter().fold(exit::HOLDS, |code, line| worst(code, code_of(&line.report))))
}

/// `trace.json` as `trace-termination.json`.
fn named(file: &Path, what: &str) -> PathBuf {
    let stem = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let name = match file.extension() {
        Some(e) => format!("{stem}-{what}.{}", e.to_string_lossy()),
        None => format!("{stem}-{what}"),
    };
    file.with_file_name(name)
}

fn nothing(loaded: &Loaded, asked: &Asked) -> Line {
    let why = "nothing was asked: no assertion, and nothing that could be undefined, is on any way through main; \
               --termination asks whether every run ends";
    let report = ProgramReport::about(
        &loaded.name,
        loaded.language,
        QUESTION,
        QueryKind::Always,
        Verdict::Unknown(Reason::Solver(why.into())),
    );
    Line { report, cfa: Arc::new(asked.question(&[])), question: None, kind: Kind::Assertion }
}

fn ask(
    args: &Check,
    engine: Engine,
    loaded: &Loaded,
    asked: &Asked,
    all: Vec<usize>,
    termination: bool,
    cancelled: &Arc<AtomicBool>,
) -> Result<Vec<Line>, Failure> {
    let bound = Bound::new(args, loaded.inputs.clone());
    let report = |query: &str, verdict| {
        let mut report = ProgramReport::about(&loaded.name, loaded.language, query, QueryKind::Always, verdict);
        report.binding = bound.to(query);
        report.assumes = asked.scope.assumes();
        report
    };
    let mut lines = vec![];
    let mut failed = false;
    let mut sets = VecDeque::from([all]);
    while let Some(mut set) = sets.pop_front() {
        let cfa = Arc::new(asked.question(&set));
        let started = Instant::now();
        let name = asked.name_of(&set);
        let Found { verdict, stats, by } = {
            let mut work = Work::on(args, QUESTION);
            let budget = &mut work.meter;
            trellis_engine::program::check(&cfa, &engine, budget)
        };
        let finish = |report: &mut ProgramReport, cfa: &Cfa| {
            report.engine = engine_line(&by.unwrap_or(engine));
            report.statistics = statistics(&stats);
            let seconds = started.elapsed().as_secs_f64();
            if !args.no_check {
                checked(report, cfa, &limits::meter(args))?;
            }
            report.seconds = seconds;
            Ok::<(), Failure>(())
        };
        if let Verdict::Unsafe(trace) = verdict {
            let Some(n) = asked.failing(&trace) else {
                return Err(Failure::Internal("a run ends in an error that is no check".into()));
            };
            let kind = asked.checks[n].kind;
            let own = Arc::new(asked.question(&[n]));
            let mut done = report(&asked.names[n], Verdict::Unsafe(trace));
            finish(&mut done, &own)?;
            if kind == Kind::Call {
                // Nobody knows what the function does: that is no violation, and no proof either.
                let why = Reason::Solver("it is called, and what it does is not known".into());
                let ProgramReport { engine, statistics, seconds, .. } = done;
                done = ProgramReport { engine, statistics, seconds, ..report(&asked.names[n], Verdict::Unknown(why)) };
            } else {
                let note = |f: &String| format!("that `{f}` may do what this run says: it has no body");
                done.assumes.extend(asked.bodiless.iter().map(note));
            }
            failed = true;
            lines.push(Line { report: done, cfa: own, question: None, kind });
            set.retain(|m| *m != n);
            if !set.is_empty() && !cancelled.load(Ordering::Relaxed) {
                sets.push_front(set);
            }
            continue;
        }
        let mut done = report(&name, verdict);
        finish(&mut done, &cfa)?;
        let kinds = asked.by_kind(&set);
        if done.outcome == Outcome::Unknown && kinds.len() > 1 && !cancelled.load(Ordering::Relaxed) {
            sets.extend(kinds);
            continue;
        }
        if let (Outcome::Safe, Some(said)) = (done.outcome, &mut done.checked) {
            if failed {
                said.push_str("; for runs on which nothing failed before");
            }
            if cfa.has_cycles() && !termination {
                said.push_str(PARTIAL);
            }
        }
        let mut groups = asked.grouped(&set);
        if groups.is_empty() {
            // A property was asked that nothing in the program is about.
            groups.push((asked.scope.property.clone().unwrap_or_else(|| name.clone()), vec![]));
        }
        for (i, (query, these)) in groups.into_iter().enumerate() {
            let kind = these.first().map_or(Kind::Assertion, |&n| asked.checks[n].kind);
            let question = (i == 0).then(|| name.clone());
            let mut report = ProgramReport { query, ..done.clone() };
            report.warnings = answers::warn(args, these.iter().flat_map(|&n| asked.odd(n)).collect());
            if i > 0
                && let (Outcome::Safe, Some(said)) = (report.outcome, &mut report.checked)
            {
                let partial = if said.ends_with(PARTIAL) { "; partial correctness" } else { "" };
                *said = format!("the same invariant{partial}");
            }
            lines.push(Line { report, cfa: cfa.clone(), question, kind });
        }
    }
    Ok(lines)
}

/// Prints the lines, and writes their evidence.
fn tell_all(args: &Check, loaded: &Loaded, lines: &mut [Line], color: bool) -> Result<(), Failure> {
    let bound = Bound::new(args, loaded.inputs.clone());
    let style = Style { color, verbose: args.stats, full: args.programs.full_trace, ..Default::default() }
        .align(lines.iter().map(|line| line.report.query.as_str()));
    let count = |has: &dyn Fn(&Line) -> bool| lines.iter().filter(|l| has(l)).count();
    let traces = count(&|l| l.report.trace.is_some());
    let proofs = count(&|l| l.report.certificate.is_some() && l.question.is_some());
    let (mut trace_number, mut proof_number) = (0, 0);
    let texts: Vec<_> = lines.iter().map(|l| loaded.texts(&l.cfa)).collect();
    for (line, texts) in lines.iter_mut().zip(&texts) {
        let p = Program::new(&line.cfa, texts);
        let r = &mut line.report;
        show(args, &p, r, style, None, line.question.is_some())?;
        if let Some(t) = &r.trace {
            trace_number += 1;
            let several = (traces > 1).then_some(trace_number);
            if let Some(file) = &args.trace {
                write_with(&numbered(file, several), |out| json::write_trace(out, &p, r.header(), t))?;
            }
            if let Some(file) = &args.dot {
                write_file(&numbered(file, several), &dot::run(&p.shown(t), &r.query))?;
            }
            if let Some(file) = &args.programs.witness {
                witness::write(args, &numbered(file, several), &p, r, line.kind)?;
            }
        }
        if let (Some(c), Some(question)) = (&r.certificate, &line.question) {
            proof_number += 1;
            let several = (proofs > 1).then_some(proof_number);
            let binding = bound.to(question);
            let r = ProgramReport { query: question.clone(), binding, certificate: None, ..r.clone() };
            if let Some(file) = &args.certificate {
                let file = numbered(file, several);
                write_with(&file, |out| json::write_certificate(out, &p, r.header(), c))?;
            }
            if let Some(file) = args.programs.witness.as_ref().filter(|_| traces == 0) {
                let r = ProgramReport { certificate: Some(c.clone()), ..r };
                witness::write(args, &numbered(file, several), &p, &r, line.kind)?;
            }
        }
    }
    if let Some(path) = &args.html {
        let all: Vec<_> =
            lines.iter().zip(&texts).map(|(l, texts)| (l.report.clone(), Program::new(&l.cfa, texts))).collect();
        write_file(path, &tell::html(&all))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use trellis_model::cfa::Place;

    use super::*;

    fn check(line: u32, column: u32, text: &str) -> One {
        One { kind: Kind::Division, place: Place { file: 0, line, column }, text: text.into(), location: None }
    }

    #[test]
    fn names_are_different_and_found_again() {
        let cfa = Cfa::new(
            trellis_expr::Terms::new(),
            Location { name: "start".into(), kind: LocationKind::Plain, place: None },
        );
        let checks = vec![check(1, 2, "x; y"), check(1, 9, "x; y"), check(1, 9, "x; y"), check(2, 1, "x")];
        let names = names(&cfa, &checks);
        assert_eq!(names[1..], ["line 1, column 9: x; y", "line 1, column 9: x; y (2)", "line 2: x"]);
        let asked = Asked { cfa, checks, names, bodiless: vec![], scope: Scope::default() };
        for set in [vec![], vec![2], vec![0, 3], vec![0, 1, 2], vec![0, 1, 2, 3]] {
            let name = asked.name_of(&set);
            assert_eq!(asked.named(&name), Some(set), "{name}");
        }
        assert_eq!(asked.named("line 2: x"), Some(vec![3]));
        for wrong in ["line 3: x", "no error is reached, but for: line 3: x", "no error is reached, but"] {
            assert_eq!(asked.named(wrong), None, "{wrong}");
        }
    }
}
