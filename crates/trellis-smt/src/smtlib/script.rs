//! Runs a script on a solver, and prints what SMT-LIB says is printed.
//!
//! An assertion that we have no terms for is left out. If what remains is unsatisfiable, so is the whole; otherwise the answer
//! is `unknown`, and what was left out is the reason.

use std::collections::BTreeMap;
use std::io::{self, Write};

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::value::ArrayValue;
use trellis_expr::{TermId, Terms, Type, Value, VarId};

use super::Foreign;
use super::ops::sort_name;
use super::read::{Command, Read};
use super::sexpr::symbol;
use crate::{Answer, Meter, Reason, Solver};

/// How a script went.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Outcome {
    /// How many checks there were.
    pub checks: usize,
    /// Those without an answer: where the command is, and why.
    pub undecided: Vec<(usize, Undecided)>,
    /// How many commands could not be obeyed (a model where there is none, say).
    pub errors: usize,
}

/// Why a check has no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Undecided {
    /// Something asserted or assumed has no terms.
    Foreign(Foreign),
    /// The solver has none.
    Solver(Reason),
}

impl std::fmt::Display for Undecided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Undecided::Foreign(foreign) => write!(f, "Trellis has no theory of {}", foreign.what),
            Undecided::Solver(reason) => write!(f, "{reason}"),
        }
    }
}

#[derive(Default)]
struct Level {
    declared: Vec<(String, Option<VarId>)>,
    foreign: Option<Foreign>,
    /// Assertions with a name, if there are to be cores; they are assumed in each check.
    named: Vec<(String, TermId)>,
}

/// What the last check said.
enum Last {
    Nothing,
    Sat(Valuation),
    /// The names of assertions, and the assumptions as written.
    Unsat(Vec<String>, Vec<String>),
    Unknown(String),
}

/// Runs the commands; each check has the limits that are made for it. The solver keeps what is asserted at the end.
pub fn run(
    commands: &[(usize, Command)],
    terms: &Terms,
    solver: &mut dyn Solver,
    limits: &dyn Fn() -> Meter,
    out: &mut dyn Write,
) -> io::Result<Outcome> {
    let mut runner = Runner {
        terms,
        solver,
        limits,
        out,
        levels: vec![Level::default()],
        options: BTreeMap::new(),
        last: Last::Nothing,
        outcome: Outcome::default(),
    };
    // So that everything can be forgotten; a level has its price, so only if that is asked for.
    let resets = commands.iter().any(|(_, c)| *c == Command::Reset);
    if resets {
        runner.solver.push();
    }
    for (at, command) in commands {
        runner.command(*at, command)?;
        if *command == Command::Exit {
            break;
        }
    }
    Ok(runner.outcome)
}

struct Runner<'a> {
    terms: &'a Terms,
    solver: &'a mut dyn Solver,
    limits: &'a dyn Fn() -> Meter,
    out: &'a mut dyn Write,
    levels: Vec<Level>,
    options: BTreeMap<String, String>,
    last: Last,
    outcome: Outcome,
}

impl Runner<'_> {
    fn command(&mut self, at: usize, command: &Command) -> io::Result<()> {
        match command {
            Command::Set(key, value) => {
                self.options.insert(key.clone(), value.clone());
            }
            Command::Declare(name, var) => self.top().declared.push((name.clone(), var.as_ref().ok().copied())),
            Command::Assert(t, name) => self.assert(t, name.as_deref()),
            Command::Push(n) => {
                for _ in 0..*n {
                    self.solver.push();
                    self.levels.push(Level::default());
                }
                self.last = Last::Nothing;
            }
            Command::Pop(n) => {
                for _ in 0..*n {
                    self.solver.pop();
                    let level = self.levels.pop();
                    if let Some(level) = level.filter(|_| self.option(":global-declarations")) {
                        self.top().declared.extend(level.declared);
                    }
                }
                self.last = Last::Nothing;
            }
            Command::Reset => {
                for _ in 0..self.levels.len() {
                    self.solver.pop();
                }
                self.solver.push();
                self.levels = vec![Level::default()];
                self.last = Last::Nothing;
            }
            Command::Check(assumptions) => return self.check(at, assumptions),
            Command::GetModel => return self.model(),
            Command::GetValue(asked) => return self.values(asked),
            Command::GetCore => match &self.last {
                Last::Unsat(..) if !self.option(":produce-unsat-cores") => {
                    return self.error("set the option :produce-unsat-cores before asserting");
                }
                Last::Unsat(names, _) => {
                    let names: Vec<String> = names.iter().map(|n| symbol(n)).collect();
                    return writeln!(self.out, "({})", names.join(" "));
                }
                _ => return self.error("there is no core: the last check did not say unsat"),
            },
            Command::GetAssumptions => match &self.last {
                Last::Unsat(_, assumptions) => return writeln!(self.out, "({})", assumptions.join(" ")),
                _ => return self.error("there is no core: the last check did not say unsat"),
            },
            Command::GetAssignment(named) => return self.assignment(named),
            Command::GetAssertions(written) => return writeln!(self.out, "({})", written.join("\n ")),
            Command::GetInfo(key) => return self.info(key),
            Command::GetOption(key) => match self.options.get(key) {
                Some(value) => return writeln!(self.out, "{value}"),
                None => return writeln!(self.out, "unsupported"),
            },
            Command::Echo(text) => return writeln!(self.out, "{text}"),
            Command::Logic(_) | Command::Define | Command::Exit => {}
        }
        Ok(())
    }

    fn top(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the lowest level is never popped")
    }

    fn option(&self, key: &str) -> bool {
        self.options.get(key).is_some_and(|v| v == "true")
    }

    fn error(&mut self, message: &str) -> io::Result<()> {
        self.outcome.errors += 1;
        writeln!(self.out, "(error \"{}\")", message.replace('"', "\"\""))
    }

    fn assert(&mut self, t: &Read, name: Option<&str>) {
        self.last = Last::Nothing;
        match (t, name) {
            (Ok(t), Some(name)) if self.option(":produce-unsat-cores") => self.top().named.push((name.to_string(), *t)),
            (Ok(t), _) => self.solver.assert(self.terms, *t),
            (Err(f), _) => {
                self.top().foreign.get_or_insert_with(|| f.clone());
            }
        }
    }

    fn check(&mut self, at: usize, assumptions: &[(String, Read)]) -> io::Result<()> {
        self.outcome.checks += 1;
        let named: Vec<(String, TermId)> = self.levels.iter().flat_map(|l| l.named.iter().cloned()).collect();
        let mut foreign = self.levels.iter().find_map(|l| l.foreign.clone());
        let mut all: Vec<TermId> = named.iter().map(|(_, t)| *t).collect();
        let mut written = vec![];
        for (text, t) in assumptions {
            match t {
                Ok(t) => {
                    all.push(*t);
                    written.push(text.clone());
                }
                Err(f) => {
                    foreign.get_or_insert_with(|| f.clone());
                }
            }
        }
        let limits = (self.limits)();
        let why = match (self.solver.check(self.terms, &all, &limits), foreign) {
            (Answer::Unsat(core), _) => {
                let (mut names, mut used) = (vec![], vec![]);
                for n in core {
                    match named.get(n) {
                        Some((name, _)) => names.push(name.clone()),
                        None => used.push(written[n - named.len()].clone()),
                    }
                }
                self.last = Last::Unsat(names, used);
                return writeln!(self.out, "unsat");
            }
            (Answer::Sat(model), None) => {
                self.last = Last::Sat(model);
                return writeln!(self.out, "sat");
            }
            (_, Some(f)) => Undecided::Foreign(f),
            (Answer::Unknown(reason), None) => Undecided::Solver(reason),
        };
        self.last = Last::Unknown(why.to_string());
        self.outcome.undecided.push((at, why));
        writeln!(self.out, "unknown")
    }

    /// The model, with a value for variables that nothing was said of.
    fn complete(&self) -> Option<Valuation> {
        let Last::Sat(model) = &self.last else { return None };
        let mut model = model.clone();
        for (v, var) in self.terms.variables() {
            model.entry(v).or_insert_with(|| some_value(self.terms, var.ty));
        }
        Some(model)
    }

    fn model(&mut self) -> io::Result<()> {
        let Some(model) = self.complete() else {
            return self.error("there is no model: the last check did not say sat");
        };
        writeln!(self.out, "(")?;
        for (name, var) in self.levels.iter().flat_map(|l| &l.declared) {
            let Some(v) = var else { continue };
            let ty = self.terms.variable(*v).ty;
            let value = value_text(self.terms, ty, &model[v]);
            writeln!(self.out, "  (define-fun {} () {} {value})", symbol(name), sort_name(self.terms, ty))?;
        }
        writeln!(self.out, ")")
    }

    fn values(&mut self, asked: &[(String, Read)]) -> io::Result<()> {
        let Some(model) = self.complete() else {
            return self.error("there are no values: the last check did not say sat");
        };
        let mut pairs = vec![];
        for (text, t) in asked {
            match t.as_ref().map(|&t| (self.terms.ty(t), eval(self.terms, t, &model, &mut NoHost))) {
                Ok((ty, Ok(value))) => pairs.push(format!("({text} {})", value_text(self.terms, ty, &value))),
                Ok((_, Err(fault))) => return self.error(&format!("{text} has no value: {fault}")),
                Err(f) => return self.error(&format!("{text} has no value: Trellis has no theory of {}", f.what)),
            }
        }
        writeln!(self.out, "({})", pairs.join("\n "))
    }

    fn assignment(&mut self, named: &[(String, TermId)]) -> io::Result<()> {
        let Some(model) = self.complete() else {
            return self.error("there is no model: the last check did not say sat");
        };
        let value = |t| eval(self.terms, t, &model, &mut NoHost) == Ok(Value::Bool(true));
        let pairs: Vec<String> = named.iter().map(|(name, t)| format!("({} {})", symbol(name), value(*t))).collect();
        writeln!(self.out, "({})", pairs.join(" "))
    }

    fn info(&mut self, key: &str) -> io::Result<()> {
        match key {
            ":reason-unknown" => match &self.last {
                Last::Unknown(why) => {
                    let why = why.replace('"', "\"\"");
                    writeln!(self.out, "(:reason-unknown \"{why}\")")
                }
                _ => self.error("the last check did not say unknown"),
            },
            ":name" => writeln!(self.out, "(:name \"trellis\")"),
            ":version" => writeln!(self.out, "(:version \"{}\")", env!("CARGO_PKG_VERSION")),
            ":authors" => writeln!(self.out, "(:authors \"{}\")", env!("CARGO_PKG_AUTHORS")),
            ":error-behavior" => writeln!(self.out, "(:error-behavior continued-execution)"),
            ":assertion-stack-levels" => writeln!(self.out, "(:assertion-stack-levels {})", self.levels.len() - 1),
            _ => writeln!(self.out, "unsupported"),
        }
    }
}

/// Some value of a type.
fn some_value(terms: &Terms, ty: Type) -> Value {
    match ty {
        Type::Bool => Value::Bool(false),
        Type::Int => Value::Int(0.into()),
        Type::Range(lo, _) => Value::Int(lo.into()),
        Type::Enum(e) => Value::Enum(e, 0),
        Type::Bits { width, signed } => Value::Bits { width, signed, bits: 0 },
        Type::Array(index, entry) => {
            let entry = some_value(terms, terms.type_of_id(entry));
            Value::Array(ArrayValue::new(terms, terms.type_of_id(index), entry))
        }
    }
}

/// A value as SMT-LIB writes it.
fn value_text(terms: &Terms, ty: Type, value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) if *n < 0.into() => format!("(- {})", -n),
        Value::Int(n) => n.to_string(),
        Value::Enum(e, n) => {
            terms.enumeration(*e).literals.get(*n as usize).map_or_else(|| n.to_string(), |l| symbol(l))
        }
        Value::Bits { width, bits, .. } if width % 4 == 0 => format!("#x{bits:0w$x}", w = usize::from(*width) / 4),
        Value::Bits { width, bits, .. } => format!("#b{bits:0w$b}", w = usize::from(*width)),
        Value::Array(array) => {
            let Type::Array(index, entry) = ty else { return "()".into() };
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let mut text =
                format!("((as const {}) {})", sort_name(terms, ty), value_text(terms, entry, array.default()));
            for (n, value) in array.entries() {
                let i = match index {
                    Type::Bool => Value::Bool(*n != 0.into()),
                    Type::Enum(e) => Value::Enum(e, u32::try_from(n).unwrap_or(0)),
                    Type::Bits { width, signed } => Value::wrap(width, signed, n),
                    _ => Value::Int(n.clone()),
                };
                text = format!("(store {text} {} {})", value_text(terms, index, &i), value_text(terms, entry, value));
            }
            text
        }
    }
}
