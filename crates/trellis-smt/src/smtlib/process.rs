//! Any SMT-LIB 2 solver, as a process behind a pipe.
//!
//! The process is told what is asserted when it is asserted, and asked with `check-sat-assuming` over names that stand for the
//! assumptions. A check that takes too long kills it; the next one starts another and tells it everything again. Models are
//! read back and evaluated before anybody sees them, so the process is not trusted with `sat`; with `unsat` it is.
//!
//! The limit on steps is not passed on: solvers do not agree on what a step is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::value::ArrayValue;
use trellis_expr::{TermId, Terms, Type, Value, VarId};

use super::pipe::Pipe;
use super::read::read_values;
use super::write::Writer;
use crate::{Answer, Meter, Reason, Solver};

/// Why a solver cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program.
    #[error("there is no solver `{name}`; looked for: {}", tried.join(", "))]
    NotFound {
        /// What was asked for.
        name: String,
        /// The files that would have done.
        tried: Vec<String>,
    },
    /// It does not run.
    #[error("the solver {path} does not start: {why}")]
    Broken {
        /// The program.
        path: String,
        /// What it said.
        why: String,
    },
}

/// How solvers are told to read commands from a pipe, by the start of their name.
const ARGUMENTS: [(&str, &[&str]); 7] = [
    ("z3", &["-in", "-smt2"]),
    ("cvc5", &["--incremental", "--lang", "smt2"]),
    ("cvc4", &["--incremental", "--lang", "smt2"]),
    ("yices", &["--incremental"]),
    ("mathsat", &["-input=smt2"]),
    ("smtinterpol", &["-q", "-smt2"]),
    ("bitwuzla", &["--lang", "smt2"]),
];

const START: &str = "\
(set-option :print-success false)
(set-option :produce-models true)
(set-option :produce-unsat-assumptions true)
(set-logic ALL)
";

/// How long a program may take to say what it is.
const VERSION_TIME: Duration = Duration::from_secs(20);

/// A solver process.
pub struct Process {
    path: PathBuf,
    arguments: Vec<String>,
    version: String,
    writer: Writer,
    /// What is asserted, by level.
    levels: Vec<Level>,
    pipe: Option<Pipe>,
}

#[derive(Default)]
struct Level {
    text: String,
    asserted: Vec<TermId>,
    vars: BTreeSet<VarId>,
    /// What of the assertions has no text.
    unsupported: Option<String>,
}

impl Process {
    /// Finds a solver by name or path, and asks it for its version. It is started when it is first needed.
    pub fn new(solver: &str) -> Result<Process, SpawnError> {
        let file = Path::new(solver).file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
        let known = ARGUMENTS.iter().find(|(name, _)| file.starts_with(name)).map_or(&[][..], |(_, args)| args);
        Process::with_arguments(solver, known.iter().map(ToString::to_string).collect())
    }

    /// The same, for a solver that needs other arguments to read commands from standard input.
    pub fn with_arguments(solver: &str, arguments: Vec<String>) -> Result<Process, SpawnError> {
        let path = find(solver)?;
        let version = version(&path)?;
        Ok(Process { path, arguments, version, writer: Writer::new(), levels: vec![Level::default()], pipe: None })
    }

    /// The first line that the program says of itself.
    pub fn version(&self) -> &str {
        &self.version
    }

    fn top(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the lowest level is never popped")
    }

    /// Tells the process, if there is one; whoever starts the next tells it everything.
    fn tell(&mut self, text: &str) {
        if let Some(pipe) = &mut self.pipe {
            pipe.tell(text.to_string());
        }
    }

    /// Sends commands and gives what they print. After a failure the process is gone.
    fn ask(&mut self, text: &str, limits: &Meter) -> Result<String, Reason> {
        let pipe = match self.pipe.take() {
            Some(pipe) => pipe,
            None => {
                let mut pipe = Pipe::start(&self.path, &self.arguments).map_err(Reason::Process)?;
                pipe.tell(START.to_string());
                for (n, level) in self.levels.iter().enumerate() {
                    pipe.tell(format!("{}{}", if n == 0 { "" } else { "(push 1)\n" }, level.text));
                }
                pipe
            }
        };
        let pipe = self.pipe.insert(pipe);
        let said = pipe.ask(text, limits);
        let failed = match &said {
            Ok(said) => said.lines().find(|l| l.starts_with("(error")).map(|l| Reason::Process(l.to_string())),
            Err(reason) => Some(reason.clone()),
        };
        match failed {
            None => said,
            Some(reason) => {
                self.pipe = None;
                Err(reason)
            }
        }
    }

    /// The names of the assumptions, each with its position, and what declares them; or what has no text.
    fn assume(&mut self, terms: &Terms, assumptions: &[TermId]) -> (String, Vec<(String, usize)>, Option<String>) {
        let (mut text, mut names, mut unsupported) = (String::new(), vec![], None);
        for (n, &a) in assumptions.iter().enumerate() {
            match self.writer.name(terms, a) {
                Ok((commands, name)) => {
                    text.push_str(&commands);
                    names.push((name, n));
                }
                Err(what) => unsupported = Some(what),
            }
        }
        (text, names, unsupported)
    }

    fn answer(
        &mut self,
        terms: &Terms,
        assumptions: &[TermId],
        names: &[(String, usize)],
        question: &str,
        unsupported: Option<String>,
        limits: &Meter,
    ) -> Result<Answer, Reason> {
        let said = self.ask(question, limits)?;
        match said.trim() {
            "unsat" if names.is_empty() => Ok(Answer::Unsat(vec![])),
            "unsat" => {
                // A solver that cannot say which assumptions it used may have used all.
                let all = || names.iter().map(|(_, n)| *n).collect();
                let core = match self.ask("(get-unsat-assumptions)\n", limits) {
                    Ok(said) => {
                        let used: BTreeSet<&str> =
                            said.split(['(', ')', ' ', '\n']).filter(|w| !w.is_empty()).collect();
                        let known = used.iter().all(|u| names.iter().any(|(name, _)| name == u));
                        let core = || names.iter().filter(|(name, _)| used.contains(name.as_str())).map(|(_, n)| *n);
                        if known { core().collect() } else { all() }
                    }
                    Err(_) => all(),
                };
                Ok(Answer::Unsat(core))
            }
            "sat" => match unsupported {
                Some(what) => Err(Reason::Unsupported(what)),
                None => self.model(terms, assumptions, limits).map(Answer::Sat),
            },
            "unknown" => {
                let why = self.ask("(get-info :reason-unknown)\n", limits).unwrap_or_default();
                let why = why.trim().trim_start_matches("(:reason-unknown").trim_end_matches(')').trim();
                Err(Reason::Process(format!("unknown: {}", why.trim_matches('"'))))
            }
            "timeout" => Err(Reason::Time),
            other => Err(Reason::Process(format!("expected sat, unsat or unknown, found `{other}`"))),
        }
    }

    /// The process's model, provided it satisfies what it should.
    fn model(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Meter) -> Result<Valuation, Reason> {
        let mut vars: BTreeSet<VarId> = self.levels.iter().flat_map(|l| l.vars.iter().copied()).collect();
        vars.extend(assumptions.iter().flat_map(|&a| terms.free_vars(a)));
        let vars: Vec<VarId> = vars.into_iter().collect();
        let mut model = Valuation::new();
        if !vars.is_empty() {
            let names: Vec<&str> = vars.iter().filter_map(|&v| self.writer.variable(v)).collect();
            let question = format!("(get-value ({}))\n", names.join(" "));
            let said = self.ask(&question, limits)?;
            let bad = |why: String| Reason::Process(format!("{why} in its model: {said}"));
            let mut scratch = Terms::new();
            let values = read_values(&said, &mut scratch).map_err(|e| bad(e.message))?;
            if values.len() != vars.len() {
                return Err(bad(format!("expected {} values, found {}", vars.len(), values.len())));
            }
            for (&v, value) in vars.iter().zip(values) {
                let t = value.map_err(|f| bad(f.what))?;
                let value = eval(&scratch, t, &Valuation::new(), &mut NoHost).map_err(|f| bad(f.to_string()))?;
                let ty = terms.variable(v).ty;
                let value =
                    fit(terms, ty, value).ok_or_else(|| bad(format!("a wrong value of {}", terms.variable(v).name)))?;
                model.insert(v, value);
            }
        }
        for &t in self.levels.iter().flat_map(|l| &l.asserted).chain(assumptions) {
            if eval(terms, t, &model, &mut NoHost) != Ok(Value::Bool(true)) {
                return Err(Reason::Process("it gave a model that does not satisfy what is asserted".into()));
            }
        }
        Ok(model)
    }
}

impl Solver for Process {
    fn push(&mut self) {
        let text = self.writer.push();
        self.levels.push(Level::default());
        self.tell(&text);
    }

    fn pop(&mut self) {
        assert!(self.levels.len() > 1, "no level is open");
        let text = self.writer.pop();
        self.levels.pop();
        self.tell(&text);
    }

    fn assert(&mut self, terms: &Terms, t: TermId) {
        match self.writer.assert(terms, t) {
            Ok(text) => {
                self.tell(&text);
                let level = self.top();
                level.text.push_str(&text);
                level.asserted.push(t);
                level.vars.extend(terms.free_vars(t));
            }
            Err(what) => self.top().unsupported = Some(what),
        }
    }

    fn check(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Meter) -> Answer {
        if let Some(reason) = limits.exceeded(0) {
            return Answer::Unknown(reason.into());
        }
        let open = self.writer.push();
        let (text, names, foreign) = self.assume(terms, assumptions);
        let unsupported = self.levels.iter().find_map(|l| l.unsupported.clone()).or(foreign);
        let list: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let question = match list.is_empty() {
            true => format!("{open}{text}(check-sat)\n"),
            false => format!("{open}{text}(check-sat-assuming ({}))\n", list.join(" ")),
        };
        let answer = self.answer(terms, assumptions, &names, &question, unsupported, limits);
        let close = self.writer.pop();
        self.tell(&close);
        answer.unwrap_or_else(Answer::Unknown)
    }
}

/// The program of a name or path.
fn find(solver: &str) -> Result<PathBuf, SpawnError> {
    let mut tried = vec![];
    let mut test = |path: PathBuf| {
        let there = path.is_file();
        tried.push(path.display().to_string());
        there.then_some(path)
    };
    let found = if solver.contains(std::path::is_separator) {
        test(PathBuf::from(solver))
    } else {
        let folders: Vec<PathBuf> =
            std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
        let file = format!("{solver}{}", std::env::consts::EXE_SUFFIX);
        folders.into_iter().find_map(|folder| test(folder.join(&file)))
    };
    found.ok_or_else(|| SpawnError::NotFound { name: solver.to_string(), tried })
}

fn version(path: &Path) -> Result<String, SpawnError> {
    let broken = |why: String| SpawnError::Broken { path: path.display().to_string(), why };
    let mut pipe = Pipe::start(path, &["--version".to_string()]).map_err(broken)?;
    let said = pipe.rest(Instant::now() + VERSION_TIME).map_err(broken)?;
    match said.lines().map(str::trim).find(|l| !l.is_empty()) {
        Some(line) => Ok(line.to_string()),
        None => Err(broken("it says nothing about its version".into())),
    }
}

/// A value as the variable's type has it: what is written is not quite what is declared.
fn fit(terms: &Terms, ty: Type, value: Value) -> Option<Value> {
    match (ty, value) {
        (Type::Bool, value @ Value::Bool(_)) | (Type::Int, value @ Value::Int(_)) => Some(value),
        (Type::Range(..) | Type::Enum(_), Value::Int(n)) => {
            let (lo, hi) = terms.type_bounds(ty)?;
            let n = i64::try_from(&n).ok().filter(|n| (lo..=hi).contains(n))?;
            Some(Value::from_word(ty, n))
        }
        (Type::Bits { width, signed }, Value::Bits { width: w, bits, .. }) if w == width => {
            Some(Value::Bits { width, signed, bits })
        }
        (Type::Array(index, entry), Value::Array(array)) => {
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            // Where nothing looks, the process may put what is out of range.
            let default = fit(terms, entry, array.default().clone()).or_else(|| least(terms, entry))?;
            let mut fitted = ArrayValue::new(terms, index, default);
            for (n, value) in array.entries() {
                let i = match index {
                    Type::Bool => Value::Bool(i64::try_from(n) == Ok(1)),
                    Type::Bits { width, signed } => Value::wrap(width, signed, n),
                    _ => match fit(terms, index, Value::Int(n.clone())) {
                        Some(i) => i,
                        None => continue,
                    },
                };
                let value = fit(terms, entry, value.clone()).or_else(|| least(terms, entry))?;
                fitted.set(&i, value);
            }
            Some(Value::Array(fitted))
        }
        _ => None,
    }
}

/// The least value of a bounded type.
fn least(terms: &Terms, ty: Type) -> Option<Value> {
    terms.type_bounds(ty).map(|(lo, _)| Value::from_word(ty, lo))
}
