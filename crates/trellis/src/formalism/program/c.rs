//! C programs: what a program is asked, and a verdict for each of it.
//!
//! All checks are asked at once first: a proof is then one for all of them. A run into an error is the verdict of the check that fails
//! at its end; the others are asked again without it. Whoever fails ends a run, so what is said of the others is said of runs on
//! which nothing failed before. Where there is no answer for all, each kind of check is asked by itself.

mod property;
mod witness;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use trellis_engine::program::{Engine, Outcome as Found};
use trellis_expr::Stmt;
use trellis_meter::Meter;
use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
use trellis_model::cfa::{Cfa, Kind as LocationKind, Location, LocationId};
use trellis_model::evidence::Reason;
use trellis_report::json::Input;
use trellis_report::program::text;
use trellis_report::{Kind as QueryKind, Outcome, Program, ProgramReport, Style};
use trellis_syntax::c::{Built, Check as One, Kind, Kinds};

pub use property::Scope;

use super::load::{Loaded, QUESTION, c_options, load};
use super::{certify, engine_line, replay};
use crate::binding::canonical;
use crate::formalism::formula::question::{Ask, TERMINATION};
use crate::formalism::formula::{self, Subject};
use crate::formalism::{Cases, Request};
use crate::pipeline::{Case, named, statistics};
use crate::settings::{DataModel, Ints, Reading, Settings};
use crate::task::{Evidence, Followed, Presenter, Question, Rejection, Task};
use crate::{Error, warnings};

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
            Stmt::Assume(t) => warnings::never(terms, *t),
            Stmt::Seq(all) => {
                all.iter().any(|s| matches!(terms.stmt(*s), Stmt::Assume(t) if warnings::never(terms, *t)))
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

    /// The question that a trace is about, or all checks.
    pub fn claimed(&self, claimed: Option<&str>) -> (String, Cfa) {
        match claimed.and_then(|c| Some((c, self.named(c)?))) {
            Some((name, set)) => (name.into(), self.question(&set)),
            None => (QUESTION.into(), self.question(&self.all())),
        }
    }

    /// What evidence about these calls the question.
    pub fn name_of(&self, set: &[usize]) -> String {
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

/// Options that change what a C program means. Defaults may change; what evidence was made with does not.
pub fn meaning(reading: &Reading) -> Vec<(String, String)> {
    let ints = match reading.ints {
        None | Some(Ints::Wrap) => "wrap",
        Some(Ints::Math) => "math",
    };
    let data_model = match reading.data_model {
        None | Some(DataModel::Lp64) => "lp64",
        Some(DataModel::Ilp32) => "ilp32",
    };
    // A property file that cannot be read has been complained of.
    let kinds = Scope::of(reading).map_or(Kinds::NONE, |scope| scope.kinds);
    let checks: Vec<&str> = Kind::ALL.into_iter().filter(|k| kinds.contains(*k)).map(Kind::name).collect();
    let all = [("ints", ints.to_string()), ("data-model", data_model.to_string()), ("checks", checks.join(", "))];
    all.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// Some checks, asked together.
struct Set {
    checks: Vec<usize>,
    /// What evidence calls the question.
    name: String,
    cfa: Cfa,
    texts: Vec<Option<String>>,
}

/// A C program, and the checks that it is asked.
struct CTask {
    args: Arc<Settings>,
    loaded: Loaded,
    asked: Asked,
    engine: Engine,
    /// Is it also asked whether every run ends?
    termination: bool,
    /// The questions so far: those asked first, then those that came up.
    sets: RefCell<Vec<Arc<Set>>>,
    /// How many are asked first.
    first: usize,
    failed: Cell<bool>,
}

/// Asks a program everything, or the checks that the command line names; then whether it ends.
pub fn ask(request: &Request, engine: Engine, mut loaded: Loaded) -> Cases {
    let (args, asked) = (&request.args, loaded.program.take());
    let Some(asked) = asked else { return Err(Error::Internal("a C program without checks".into())) };
    let others = crate::settings::Properties { properties: vec![], ..args.properties.clone() };
    super::load::no_questions(
        Some(&others),
        "a C program is asked whether reach_error, __VERIFIER_error or a failing assert can be reached; write the property as an \
         assert",
    )?;
    let termination = args.programs.termination || asked.scope.termination;
    let mut first = vec![];
    for name in &args.properties.properties {
        first.push(asked.named(name).ok_or_else(|| no_check(&asked, name))?);
    }
    let nothing = asked.checks.is_empty() && termination;
    if first.is_empty() && !nothing {
        first.push(asked.all());
    }
    let mut all: Vec<Rc<dyn Case>> = vec![];
    if !first.is_empty() {
        all.push(Rc::new(CTask::new(args.clone(), loaded, asked, engine, first, termination)));
    }
    if termination {
        let (options, scope) = c_options(&args.model, &args.reading)?;
        let ask = Ask::ltl(TERMINATION);
        let task = formula::task(request, Subject::c(options, scope.assumes()), vec![ask])?;
        let beside = |file: &PathBuf| if nothing { file.clone() } else { named(file, "termination") };
        all.push(Rc::new(task.with_args(Settings {
            trace: args.trace.as_ref().map(beside),
            certificate: args.certificate.as_ref().map(beside),
            dot: args.dot.as_ref().map(beside),
            html: args.html.as_ref().map(beside),
            ..(**args).clone()
        })));
    }
    Ok(all)
}

/// What formulas about a program do not ask: whether something in it is undefined, on the way to what they speak of. The evidence on
/// file is that of the formulas.
pub fn undefined(request: &Request) -> Cases {
    let args = &request.args;
    let mut loaded = load(&args.model, request.language.name, &args.reading, None, request.args.context.color)?;
    let Some(asked) = loaded.program.take() else { return Ok(vec![]) };
    let mut set = asked.all();
    set.retain(|&n| asked.checks[n].kind != Kind::Assertion);
    if set.is_empty() {
        return Ok(vec![]);
    }
    let args = Arc::new(Settings { trace: None, certificate: None, dot: None, html: None, ..(**args).clone() });
    let engine = Engine::Portfolio(args.programs.threads.unwrap_or(2).into());
    Ok(vec![Rc::new(CTask::new(args, loaded, asked, engine, vec![set], false))])
}

fn no_check(asked: &Asked, name: &str) -> Error {
    let some = asked.names.iter().take(10).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let more = if asked.names.len() > 10 { ", …" } else { "" };
    Error::Usage(format!(
        "--property: the program has no check `{name}`; there are: {some}{more}; or write the property as an assert"
    ))
}

impl CTask {
    fn new(
        args: Arc<Settings>,
        loaded: Loaded,
        asked: Asked,
        engine: Engine,
        first: Vec<Vec<usize>>,
        termination: bool,
    ) -> CTask {
        let (sets, failed, count) = (RefCell::default(), Cell::new(false), first.len());
        let task = CTask { args, loaded, asked, engine, termination, sets, first: count, failed };
        for (n, set) in first.into_iter().enumerate() {
            match task.args.properties.properties.get(n) {
                Some(name) => task.add_named(set, name.clone()),
                None => task.add(set),
            };
        }
        task
    }

    /// A new question about some checks.
    fn add(&self, checks: Vec<usize>) -> usize {
        let name = self.asked.name_of(&checks);
        self.add_named(checks, name)
    }

    fn add_named(&self, checks: Vec<usize>, name: String) -> usize {
        let cfa = self.asked.question(&checks);
        let texts = self.loaded.texts(&cfa);
        let mut sets = self.sets.borrow_mut();
        sets.push(Arc::new(Set { checks, name, cfa, texts }));
        sets.len() - 1
    }

    fn set(&self, n: usize) -> Arc<Set> {
        self.sets.borrow()[n].clone()
    }

    fn report(&self, query: &str, verdict: Verdict) -> ProgramReport {
        let mut report = ProgramReport::about(&self.loaded.name, "c", query, QueryKind::Always, verdict);
        report.assumes = self.asked.scope.assumes();
        report
    }

    /// A run into an error is the verdict of the check that fails at its end; the others are asked again.
    fn violated(&self, n: usize, found: ProgramReport) -> Result<Followed<CTask>, Error> {
        let mut others = self.set(n).checks.clone();
        let failing = found.trace.as_ref().and_then(|t| self.asked.failing(t));
        let Some(check) = failing else {
            return Err(Error::Internal("a run ends in an error that is no check".into()));
        };
        let name = &self.asked.names[check];
        let own = self.add_named(vec![check], name.clone());
        let mut report = ProgramReport { query: name.clone(), ..found };
        report.binding.property = canonical(name);
        if let Some(t) = report.trace.as_ref().filter(|_| !self.args.no_check) {
            let failed = |why| Error::Internal(format!("the run for `{name}` did not pass its check: {why}"));
            trellis_check::program::replay(&self.set(own).cfa, t).map_err(failed)?;
        }
        if self.asked.checks[check].kind == Kind::Call {
            // Nobody knows what the function does: that is no violation, and no proof either.
            let why = Reason::Solver("it is called, and what it does is not known".into());
            let ProgramReport { engine, statistics, seconds, binding, .. } = report;
            let open = self.report(name, Verdict::Unknown(why));
            report = ProgramReport { engine, statistics, seconds, binding, ..open };
        } else {
            let note = |f: &String| format!("that `{f}` may do what this run says: it has no body");
            report.assumes.extend(self.asked.bodiless.iter().map(note));
        }
        self.failed.set(true);
        others.retain(|m| *m != check);
        let then = if others.is_empty() { vec![] } else { vec![self.add(others)] };
        Ok(Followed { lines: vec![(own, report)], then })
    }

    /// A line for each assertion, and one for each other kind of check; the proof is that of the first.
    fn proven(&self, n: usize, mut found: ProgramReport) -> Followed<CTask> {
        let set = self.set(n);
        if let (Outcome::Safe, Some(said)) = (found.outcome, &mut found.checked) {
            if self.failed.get() {
                said.push_str("; for runs on which nothing failed before");
            }
            if set.cfa.has_cycles() && !self.termination {
                said.push_str(PARTIAL);
            }
        }
        let mut groups = self.asked.grouped(&set.checks);
        if groups.is_empty() {
            // A property was asked that nothing in the program is about.
            groups.push((self.asked.scope.property.clone().unwrap_or_else(|| set.name.clone()), vec![]));
        }
        let mut lines = vec![];
        for (i, (query, these)) in groups.into_iter().enumerate() {
            let mut report = ProgramReport { query, ..found.clone() };
            let odd: Vec<String> = these.iter().flat_map(|&n| self.asked.odd(n)).collect();
            report.warnings.extend(warnings::tell(&self.args, odd));
            if i > 0 {
                report.certificate = None;
                if let (Outcome::Safe, Some(said)) = (report.outcome, &mut report.checked) {
                    let partial = if said.ends_with(PARTIAL) { "; partial correctness" } else { "" };
                    *said = format!("the same invariant{partial}");
                }
            }
            lines.push((n, report));
        }
        Followed { lines, then: vec![] }
    }
}

impl Task for CTask {
    type Trace = Trace;
    type Proof = Certificate;

    fn args(&self) -> &Settings {
        &self.args
    }

    fn language(&self) -> &'static str {
        "c"
    }

    fn inputs(&self) -> Vec<Input> {
        self.loaded.inputs.clone()
    }

    fn meaning(&self) -> Vec<(String, String)> {
        meaning(&self.args.reading)
    }

    fn questions(&self) -> Vec<Question> {
        (0..self.first).map(|n| self.question(n)).collect()
    }

    fn question(&self, n: usize) -> Question {
        Question::plain(&self.set(n).name, QueryKind::Always, vec![])
    }

    fn together(&self) -> bool {
        true
    }

    fn solve(&self, n: usize, meter: &mut Meter) -> Result<ProgramReport, Error> {
        let set = self.set(n);
        if set.checks.is_empty() && self.asked.scope.property.is_none() {
            let why = "nothing was asked: no assertion, and nothing that could be undefined, is on any way through main; \
                       --termination asks whether every run ends";
            return Ok(self.report(QUESTION, Verdict::Unknown(Reason::Solver(why.into()))));
        }
        let Found { verdict, stats, by } = trellis_engine::program::check(&set.cfa, &self.engine, meter);
        let mut report = self.report(&set.name, verdict);
        report.engine = engine_line(&by.unwrap_or(self.engine));
        report.statistics = statistics(&stats);
        Ok(report)
    }

    fn follow(&self, n: usize, report: ProgramReport) -> Result<Followed<CTask>, Error> {
        if report.outcome == Outcome::Unsafe {
            return self.violated(n, report);
        }
        let kinds = self.asked.by_kind(&self.set(n).checks);
        if report.outcome == Outcome::Unknown && kinds.len() > 1 {
            return Ok(Followed { lines: vec![], then: kinds.into_iter().map(|set| self.add(set)).collect() });
        }
        Ok(self.proven(n, report))
    }

    fn replay(&self, n: usize, trace: &Trace, _: &Meter) -> Result<String, Rejection> {
        replay(&self.set(n).cfa, trace)
    }

    fn certify(&self, n: usize, proof: &Certificate, meter: &Meter) -> Result<String, Rejection> {
        certify(&self.set(n).cfa, proof, meter)
    }

    /// All checks, or one of them. A question that leaves some checks out is not the program's own, so only who asks for it gets it.
    fn provable(&self, claimed: &str) -> Result<Vec<usize>, Error> {
        let own = self.args.properties.properties.is_empty() && !claimed.contains(BUT_FOR);
        match self.asked.named(claimed).filter(|_| own) {
            Some(set) => Ok(vec![self.add_named(set, claimed.into())]),
            None => Ok((0..self.first).collect()),
        }
    }

    /// A run into one check is a violation of the program; a proof of one check among others is none of the program.
    fn accept(&self, n: usize, evidence: Evidence<&Trace, &Certificate>) -> Result<(), Rejection> {
        let whole = self.set(n).name == QUESTION || self.asked.checks.len() < 2;
        match evidence {
            Evidence::Proof(_) if !whole && self.args.properties.properties.is_empty() => {
                Err(Rejection::Wrong("it proves one check of the program, and not all; --property asks for one".into()))
            }
            _ => Ok(()),
        }
    }

    fn write_more(&self, n: usize, report: &ProgramReport, file: &dyn Fn(&Path) -> PathBuf) -> Result<(), Error> {
        let Some(path) = &self.args.programs.witness else { return Ok(()) };
        // A proof of the rest is none of a program that fails.
        if report.trace.is_none() && (self.failed.get() || report.certificate.is_none()) {
            return Ok(());
        }
        let set = self.set(n);
        let kind = set.checks.first().map_or(Kind::Assertion, |&n| self.asked.checks[n].kind);
        witness::write(&self.args, &file(path), &Program::new(&set.cfa, &set.texts), report, kind)
    }

    fn present(&self, n: usize, then: &mut dyn FnMut(&Presenter<'_, Self>)) {
        let set = self.set(n);
        then(&Program::new(&set.cfa, &set.texts));
    }

    fn more_text(&self, n: usize, report: &ProgramReport, style: Style) -> String {
        let set = self.set(n);
        let shown = report.certificate.as_ref().filter(|_| self.args.programs.show_invariant);
        shown.map_or_else(String::new, |c| text::invariant(&Program::new(&set.cfa, &set.texts), c, style))
    }

    fn proof_text(&self, n: usize, proof: &Certificate) -> Option<(String, String)> {
        let set = self.set(n);
        let invariant = text::invariant(&Program::new(&set.cfa, &set.texts), proof, Style::default());
        Some((text::summary(proof), invariant))
    }
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
