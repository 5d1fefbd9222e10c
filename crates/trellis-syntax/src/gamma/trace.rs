//! Execution traces (`.get`): what is raised, how much time passes, and what must then be so; and whether that is so.

use trellis_expr::{TermId, Type, Value};
use trellis_model::gamma::System;
use trellis_model::gamma::interpret::{State, blank, outcomes};

use super::ast::{Expr, ExprKind, Name};
use super::names::{Vocabulary, joined, place};
use super::parser::Parser;
use super::terms::{Scope, Words};
use super::{build, packages};
use crate::diag::{Diagnostic, SourceId, Sources, Span};
use crate::text::cursor::Reads;
use crate::text::errors::Read;
use crate::text::tokens::Tok;

/// So long may be waited for an assertion.
const MAX_WAITING: usize = 1_000;
/// So many states may be possible at once.
const MAX_STATES: usize = 10_000;

enum Act<'a> {
    Reset,
    Raise(Vec<Name<'a>>, Vec<Expr<'a>>),
    Elapse(i64),
    Schedule(Option<Vec<Name<'a>>>),
    Assign(Vec<Name<'a>>, Expr<'a>),
}

struct Step<'a> {
    acts: Vec<Act<'a>>,
    asserts: Vec<Expr<'a>>,
    span: Span,
}

struct Trace<'a> {
    name: Name<'a>,
    component: Name<'a>,
    args: Vec<Expr<'a>>,
    negative: bool,
    /// How many steps later assertions may come true, and how many at least.
    waiting: (usize, usize),
    steps: Vec<Step<'a>>,
    /// What repeats after them.
    cycle: Vec<Step<'a>>,
}

/// What became of a trace.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// Its name.
    pub name: String,
    /// How many steps it has.
    pub steps: usize,
    /// How many assertions were looked at.
    pub asserted: usize,
    /// What does not hold, and in which step; none if all is as it should be.
    pub wrong: Option<(usize, String)>,
}

/// Reads a file of traces with all that it imports, and replays them.
pub fn replay(sources: &mut Sources, id: SourceId) -> Result<Vec<Replayed>, Vec<Diagnostic>> {
    let read = packages::read(sources, id)?;
    let files = packages::parse(sources, &read, 1)?;
    let mut parser = Parser::new(sources, id);
    let traces = match parser.traces() {
        Ok(traces) => traces,
        Err(_) => return Err(parser.finish()),
    };
    traces.iter().map(|trace| one(&files, trace)).collect()
}

fn one(files: &[packages::File<'_>], trace: &Trace<'_>) -> Result<Replayed, Vec<Diagnostic>> {
    let (file, component) = packages::component(files, 0, trace.component).map_err(|d| vec![d])?;
    let mut given = vec![];
    for (p, arg) in component.params.iter().zip(&trace.args) {
        let value = match &arg.kind {
            ExprKind::Bool(b) => i64::from(*b),
            ExprKind::Int(digits) => digits.parse().unwrap_or(0),
            _ => return Err(vec![Diagnostic::error(arg.span, "expected a number or a truth value")]),
        };
        given.push((p.name.0.to_string(), value));
    }
    let (mut sys, enums, _) = build::build(files, file, component, &given, (0, None))?;
    let names = Vocabulary::new(&mut sys);
    let mut words = Words::new(files, sys, enums);
    let player = Player { names: &names };
    let done = player.play(&mut words, trace);
    done.map_err(|_| words.errors.finish())
}

struct Player<'v> {
    names: &'v Vocabulary,
}

impl Player<'_> {
    fn play<'a>(&self, w: &mut Words<'a, '_>, trace: &Trace<'a>) -> Read<Replayed> {
        let mut states = vec![blank(&w.sys)];
        let mut asserted = 0;
        let mut wrong = None;
        // What repeats is gone through twice.
        let steps: Vec<&Step<'a>> = trace.steps.iter().chain(&trace.cycle).chain(&trace.cycle).collect();
        for (n, step) in steps.iter().enumerate() {
            for act in &step.acts {
                states = self.act(w, act, states, step.span)?;
            }
            let mut terms = vec![];
            for e in &step.asserts {
                asserted += 1;
                terms.push(boolean(w, self.names, e)?);
            }
            for waited in 0..=trace.waiting.1 {
                if waited > 0 {
                    states = self.act(w, &Act::Schedule(None), states, step.span)?;
                }
                if states.is_empty() || states.len() > MAX_STATES {
                    let none = states.is_empty();
                    let why = if none { "no such step is possible" } else { "too many states are possible" };
                    wrong = wrong.or(Some((n, why.to_string())));
                    break;
                }
                if waited < trace.waiting.0 {
                    continue;
                }
                match kept(w, &states, &terms) {
                    Ok(kept) => {
                        states = kept;
                        break;
                    }
                    Err(why) if waited == trace.waiting.1 => wrong = wrong.or(Some((n, why))),
                    Err(_) => {}
                }
            }
            if states.is_empty() || states.len() > MAX_STATES {
                break;
            }
        }
        if trace.negative {
            wrong = match wrong {
                Some(_) => None,
                None => Some((steps.len().saturating_sub(1), "nothing is wrong, and something should be".into())),
            };
        }
        Ok(Replayed { name: trace.name.0.into(), steps: steps.len(), asserted, wrong })
    }

    fn act<'a>(&self, w: &mut Words<'a, '_>, act: &Act<'a>, states: Vec<State>, span: Span) -> Read<Vec<State>> {
        let mut values = vec![];
        let mut input = 0;
        if let Act::Raise(path, args) = act {
            let name = joined(path);
            let Some(n) = w.sys.inputs.iter().position(|i| i.name == name) else {
                return w.fail(place(path), format!("`{name}` is no input of the component"));
            };
            input = n;
            if let (Some(like), Some(last), false) = (w.sys.inputs[n].like, path.last(), args.is_empty()) {
                for (_, t) in w.arguments(&mut Scope::default(), like, *last, args)? {
                    match w.sys.terms.as_value(t) {
                        Some(value) => values.push(value),
                        None => return w.fail(place(path), "expected constants"),
                    }
                }
            }
        }
        let scheduled = match act {
            Act::Schedule(Some(path)) => Some(joined(path)),
            _ => None,
        };
        if let Act::Assign(path, value) = act {
            let name = joined(path);
            let Some(v) = self.names.value(&w.sys, &name) else {
                return w.fail(place(path), format!("there is no variable `{name}`"));
            };
            let ty = w.sys.terms.variable(v).ty;
            let t = w.typed(&mut Scope::default(), value, ty)?;
            let Some(value) = w.sys.terms.as_value(t) else { return w.fail(value.span, "expected a constant") };
            let mut after = states;
            after.iter_mut().for_each(|s| _ = s.values.insert(v, value.clone()));
            return Ok(after);
        }
        if let Some(name) = &scheduled
            && !w.sys.adapters.iter().any(|a| a.name == *name)
        {
            return w.fail(span, format!("there is no asynchronous instance `{name}`"));
        }
        let mut after: Vec<State> = vec![];
        for state in states {
            let ends = outcomes(&w.sys, &state, |run| match act {
                Act::Reset => run.reset(),
                Act::Raise(..) => {
                    run.raise(input, &values);
                    Ok(())
                }
                Act::Elapse(time) => {
                    run.elapse(*time);
                    Ok(())
                }
                Act::Assign(..) => Ok(()),
                Act::Schedule(_) => match &scheduled {
                    None => run.step(),
                    Some(name) => run.schedule(name).unwrap_or(Ok(())),
                },
            });
            match ends {
                Ok(ends) => after.extend(ends),
                Err(fault) => return w.fail(span, fault.to_string()),
            }
        }
        after.dedup();
        Ok(after)
    }
}

/// The states in which all of that holds; if there are none, what does not.
fn kept(w: &Words<'_, '_>, states: &[State], all: &[TermId]) -> Result<Vec<State>, String> {
    let mut states = states.to_vec();
    for &t in all {
        let holds = |s: &State| {
            let value = trellis_expr::eval::eval(&w.sys.terms, t, &s.values, &mut trellis_expr::code::NoHost);
            value.ok().and_then(|v| v.as_bool()) == Some(true)
        };
        states.retain(holds);
        if states.is_empty() {
            return Err(format!("`{}` does not hold", w.sys.terms.show(t)));
        }
    }
    Ok(states)
}

/// A condition on a system: as expressions are, with what is about states, variables and events.
pub fn term<'a>(w: &mut Words<'a, '_>, names: &Vocabulary, e: &Expr<'a>) -> Read<TermId> {
    match &e.kind {
        ExprKind::About(word, path) => match names.about(&mut w.sys, word, path) {
            Ok(t) => Ok(t),
            Err(d) => w.errors.fail(d),
        },
        ExprKind::Raised(path, args) => {
            let name = joined(path);
            let all: Vec<usize> = w.sys.outputs.iter().filter(|(n, _)| *n == name).map(|(_, s)| *s).collect();
            if all.is_empty() {
                return w.fail(place(path), format!("`{name}` is no output of the component"));
            }
            let mut any = vec![];
            for s in all {
                let flag = w.sys.signals[s].flag;
                let mut here = vec![w.sys.terms.var(flag)];
                let carried = match path.last() {
                    Some(last) if !args.is_empty() => w.arguments(&mut Scope::default(), s, *last, args)?,
                    _ => vec![],
                };
                for (v, value) in carried {
                    let v = w.sys.terms.var(v);
                    here.push(w.sys.terms.eq(v, value));
                }
                any.push(w.sys.terms.and(here));
            }
            Ok(w.sys.terms.or(any))
        }
        ExprKind::Not(a) => {
            let a = boolean(w, names, a)?;
            Ok(w.sys.terms.not(a))
        }
        ExprKind::Two(op @ ("and" | "or" | "xor" | "imply"), parts) => {
            let (a, b) = (boolean(w, names, &parts[0])?, boolean(w, names, &parts[1])?);
            let t = &mut w.sys.terms;
            Ok(match *op {
                "and" => t.and([a, b]),
                "or" => t.or([a, b]),
                "xor" => t.ne(a, b),
                _ => t.implies(a, b),
            })
        }
        ExprKind::Two(op, parts) => {
            let (a, b) = (term(w, names, &parts[0])?, term(w, names, &parts[1])?);
            let (ta, tb) = (w.sys.terms.ty(a), w.sys.terms.ty(b));
            let equality = matches!(*op, "=" | "/=");
            if ta != tb || (!equality && ta != Type::Int) {
                return w.fail(e.span, "these have different types, or are no numbers");
            }
            let t = &mut w.sys.terms;
            Ok(match *op {
                "=" => t.eq(a, b),
                "/=" => t.ne(a, b),
                "<" => t.lt(a, b),
                "<=" => t.le(a, b),
                ">" => t.lt(b, a),
                ">=" => t.le(b, a),
                "+" => t.add([a, b]),
                "-" => t.sub(a, b),
                "*" => t.mul(a, b),
                _ => return w.fail(e.span, "division is not read here"),
            })
        }
        ExprKind::Neg(a) => {
            let a = term(w, names, a)?;
            if w.sys.terms.ty(a) != Type::Int {
                return w.fail(e.span, "expected a number");
            }
            Ok(w.sys.terms.neg(a))
        }
        _ => w.term(&mut Scope::default(), e),
    }
}

/// The same, of a truth value.
pub fn boolean<'a>(w: &mut Words<'a, '_>, names: &Vocabulary, e: &Expr<'a>) -> Read<TermId> {
    let t = term(w, names, e)?;
    if w.sys.terms.ty(t) == Type::Bool { Ok(t) } else { w.fail(e.span, "expected a truth value") }
}

impl<'a> Parser<'a> {
    fn traces(&mut self) -> Read<Vec<Trace<'a>>> {
        self.imports()?;
        let mut all = vec![];
        while self.peek().tok != Tok::End {
            let (mut negative, mut waiting) = (false, (0, 0));
            while self.take("@") {
                if self.take("(") {
                    self.bump();
                    self.require(")")?;
                    continue;
                }
                let (name, span) = self.id("an annotation")?;
                match name {
                    "NegativeTest" => negative = true,
                    "AllowedWaiting" => {
                        let first = self.bump_number()?;
                        let last = if self.take("..") { self.bump_number()? } else { first };
                        waiting = (first, last.clamp(first, MAX_WAITING));
                    }
                    _ => return self.refuse(&format!("`@{name}`"), span),
                }
            }
            self.require("trace")?;
            let name = self.id("the name of the trace")?;
            self.require("of")?;
            let component = self.id("a component")?;
            let args = if self.is("(") { self.arguments()? } else { vec![] };
            if self.is("var") {
                let span = self.peek().span;
                return self.refuse("a variable of a trace", span);
            }
            let mut trace = Trace { name, component, args, negative, waiting, steps: vec![], cycle: vec![] };
            while self.is("step") {
                trace.steps.push(self.trace_step()?);
            }
            if self.take("cycle") {
                self.require("{")?;
                while !self.take("}") {
                    trace.cycle.push(self.trace_step()?);
                }
            }
            all.push(trace);
        }
        Ok(all)
    }

    fn bump_number(&mut self) -> Read<usize> {
        let Tok::Number(n) = self.peek().tok else { return self.unexpected("a number") };
        self.bump();
        Ok(n.parse().unwrap_or(MAX_WAITING))
    }

    fn trace_step(&mut self) -> Read<Step<'a>> {
        let span = self.peek().span;
        self.require("step")?;
        self.require("{")?;
        let mut step = Step { acts: vec![], asserts: vec![], span };
        if self.take("act") {
            self.require("{")?;
            while !self.take("}") {
                let t = self.peek();
                let act = match t.tok {
                    Tok::Name("reset") => {
                        self.bump();
                        Act::Reset
                    }
                    Tok::Name("raise") => {
                        let ExprKind::Raised(path, args) = self.expression()?.kind else {
                            return self.unexpected("an event");
                        };
                        Act::Raise(path, args)
                    }
                    Tok::Name("elapse") => {
                        self.bump();
                        let parens = self.take("(");
                        let Tok::Number(n) = self.bump().tok else { return self.unexpected("a number") };
                        if parens {
                            self.require(")")?;
                        }
                        Act::Elapse(n.parse().unwrap_or(i64::MAX / 2))
                    }
                    Tok::Name("schedule") => {
                        self.bump();
                        if self.take("component") {
                            Act::Schedule(None)
                        } else {
                            let mut path = vec![self.id("an instance")?];
                            while self.take(".") || self.take("->") {
                                path.push(self.id("an instance")?);
                            }
                            Act::Schedule(Some(path))
                        }
                    }
                    Tok::Name("assign") => {
                        self.bump();
                        let ExprKind::Path(path) = self.expression()?.kind else {
                            return self.unexpected("a variable");
                        };
                        self.require(":=")?;
                        Act::Assign(path, self.expression()?)
                    }
                    Tok::Name(word) => return self.refuse(&format!("`{word}`"), t.span),
                    _ => return self.unexpected("`reset`, `raise`, `elapse`, `schedule` or `assign`"),
                };
                if self.take("(") {
                    self.require(")")?;
                }
                self.take(";");
                step.acts.push(act);
            }
        }
        if self.take("assert") {
            self.require("{")?;
            while !self.take("}") {
                if self.is("states") && self.ahead(1) == Tok::P("{") {
                    self.at += 2;
                    for path in self.list(|p| p.expression())? {
                        let span = path.span;
                        step.asserts.push(Expr { kind: ExprKind::About("state", Box::new(path)), span });
                    }
                    self.require("}")?;
                    continue;
                }
                let e = self.expression()?;
                self.take(";");
                step.asserts.push(e);
            }
        }
        self.require("}")?;
        Ok(step)
    }
}

/// A value as it is written in a trace.
pub fn written(sys: &System, value: &Value) -> String {
    match value {
        Value::Enum(e, n) => {
            let declared = sys.terms.enumeration(*e);
            format!("{}::{}", declared.name, declared.literals[*n as usize])
        }
        other => sys.terms.show_value(other).to_string(),
    }
}

/// What an event carries as it is written in a trace: records are put together again.
pub fn carried(sys: &System, signal: usize, values: &[Value]) -> String {
    fn level(records: &[(String, String)], before: &str, parts: &[(&str, String)]) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = vec![];
        let mut at = 0;
        while at < parts.len() {
            let Some((first, _)) = parts[at].0.split_once('.') else {
                all.push((parts[at].0.to_string(), parts[at].1.clone()));
                at += 1;
                continue;
            };
            let whole = format!("{before}{first}");
            let inside = |p: &(&str, String)| p.0.split_once('.').is_some_and(|(f, _)| f == first);
            let count = parts[at..].iter().take_while(|p| inside(p)).count();
            let rest: Vec<(&str, String)> = parts[at..at + count]
                .iter()
                .filter_map(|(way, text)| Some((way.split_once('.')?.1, text.clone())))
                .collect();
            let name = records.iter().find(|(p, _)| *p == whole).map_or("", |r| r.1.as_str());
            let fields = level(records, &format!("{whole}."), &rest);
            let fields: Vec<String> = fields.into_iter().map(|(f, text)| format!("{f} := {text}")).collect();
            all.push((first.to_string(), format!("#{name}{{{}}}", fields.join(", "))));
            at += count;
        }
        all
    }
    let signal = &sys.signals[signal];
    let parts: Vec<(&str, String)> =
        signal.params.iter().zip(values).map(|(p, v)| (p.0.as_str(), written(sys, v))).collect();
    let all = level(&signal.records, "", &parts);
    all.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}
