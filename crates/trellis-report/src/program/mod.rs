//! What is told about programs and control-flow automata: runs, invariants, reports.
//!
//! A [`Program`] is an automaton with the text that it was made from, if that is worth showing. With it a run is told in lines of
//! the source: what stands there, and what has changed since. Without it, in locations and statements of the automaton.
//!
//! Variables that a front end made for itself (their names start with `@`) are not shown; but what a run choices for them is: this is
//! how `__VERIFIER_nondet_int()` in the middle of an expression gets its value.

pub(crate) mod exact;
pub(crate) mod read;
pub(crate) mod run;
pub(crate) mod term;
pub mod text;
pub mod witness;
pub(crate) mod write;

use std::io;

use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use trellis_expr::{Stmt, StmtId, Terms, Type, VarId};
use trellis_model::cfa::evidence::{Certificate, Trace};
use trellis_model::cfa::{Cfa, EdgeId, LocationId, Place};

use crate::evidence::{body, pretty};
use crate::present::{Body, Drawing, Present, ProofKind, Shown};
use crate::property::PropertyReport;
use crate::reader::ReadError;
use crate::run::Run;
use crate::words::{cut, unique};

pub(crate) use run::{caller, picked};

/// A report about a program or an automaton.
pub type ProgramReport = PropertyReport<Trace, Certificate>;

/// An automaton, ready to be talked about.
pub struct Program<'a> {
    pub(crate) cfa: &'a Cfa,
    /// The lines of each file that places speak of.
    lines: Vec<Option<Vec<&'a str>>>,
    /// What the files are called in runs.
    files: Vec<String>,
    /// Variables by position in [`Cfa::variables`]: as people see them; nothing if they do not.
    short: Vec<Option<String>>,
}

impl<'a> Program<'a> {
    /// An automaton, and the text of each of its files where runs are to be told in lines of it.
    pub fn new(cfa: &'a Cfa, texts: &'a [Option<String>]) -> Program<'a> {
        let lines = |i| texts.get(i).and_then(Option::as_ref).map(|t: &String| t.lines().collect());
        Program {
            cfa,
            lines: (0..cfa.files.len()).map(lines).collect(),
            files: bases(cfa.files.iter().map(|f| f.as_str()), |f| f.rsplit(['/', '\\']).next().unwrap_or(f)),
            short: short_names(cfa),
        }
    }

    /// Are runs told in lines of the source?
    pub(crate) fn has_source(&self) -> bool {
        self.lines.iter().any(Option::is_some)
    }

    /// The text of a line, without blanks around it.
    pub(crate) fn line(&self, place: Place) -> Option<&'a str> {
        let lines = self.lines.get(place.file as usize)?.as_ref()?;
        lines.get((place.line as usize).checked_sub(1)?).map(|l| l.trim())
    }

    /// `main.c`.
    fn file(&self, place: Place) -> String {
        self.files.get(place.file as usize).map_or("?", String::as_str).to_string()
    }

    /// `main.c:12`.
    pub(crate) fn place(&self, place: Place) -> String {
        format!("{}:{}", self.file(place), place.line)
    }

    /// A location, as the source calls it.
    pub(crate) fn location(&self, l: LocationId) -> String {
        let location = self.cfa.location(l);
        match location.place {
            Some(place) if self.has_source() => self.place(place),
            _ => location.name.clone(),
        }
    }

    /// What an edge does, in one line: `[x < 5]`, `x := x + 1`.
    pub(crate) fn statement(&self, e: EdgeId) -> String {
        let mut parts = Vec::new();
        self.simple(self.cfa.edge(e).stmt, &mut parts);
        cut(&parts.join("; "))
    }

    fn simple(&self, s: StmtId, parts: &mut Vec<String>) {
        let terms = &self.cfa.terms;
        match terms.stmt(s) {
            Stmt::Skip => {}
            Stmt::Seq(all) => all.iter().for_each(|&p| self.simple(p, parts)),
            Stmt::Assume(t) => parts.push(format!("[{}]", cut(&terms.show(*t)))),
            _ => parts.push(cut(&terms.show_stmt(s))),
        }
    }

    /// The variables that people see, with their names.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (VarId, &str)> {
        self.cfa.variables.iter().zip(&self.short).filter_map(|(v, name)| name.as_deref().map(|n| (*v, n)))
    }
}

impl Present for Program<'_> {
    type Trace = Trace;
    type Proof = Certificate;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        let steps = trace.steps.iter().map(|s| (Some(s.edge), &s.choices[..], &s.after));
        Ok(exact::run(self.cfa, &trace.start, steps))
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        let (start, steps) = exact::read(self.cfa, run)?;
        let ended = steps.iter().position(|s| s.edge.is_none());
        if let Some(i) = ended {
            return Err(ReadError::found(format!("steps[{i}].parts"), "a part that moves", &json!([])));
        }
        Ok(Trace { start, steps: steps.into_iter().filter_map(Option::from).collect() })
    }

    fn shown(&self, trace: &Trace) -> Shown {
        run::shown(self, trace, None, None)
    }

    fn drawing(&self) -> Drawing {
        crate::automaton::drawing(self.cfa)
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        let write = pretty(write::Invariant::new(self.cfa, proof)?);
        Ok(Body { kind: ProofKind::Invariant, assumes: vec![], write })
    }

    fn proof(&self, kind: &str, _: &[String], raw: &RawValue) -> Result<Certificate, ReadError> {
        read::invariant(self.cfa, body(ProofKind::Invariant, kind, raw)?)
    }

    fn size(&self, c: &Certificate) -> Json {
        let elements: usize = c.invariant.iter().map(|(_, e)| e.len()).sum();
        json!({ "locations": c.invariant.len(), "elements": elements, "k": c.k })
    }
}

/// A value, exactly, for evidence.
pub fn write_value(cfa: &Cfa, value: &trellis_expr::Value) -> Json {
    exact::json(&cfa.terms, value)
}

/// A value of a type back, if it is one.
pub fn read_value(terms: &Terms, ty: Type, raw: &Json) -> Option<trellis_expr::Value> {
    exact::value(terms, ty, raw, &String::new).ok()
}

/// The names that a certificate or a trace calls the variables by.
pub(crate) fn full_names(cfa: &Cfa) -> Vec<String> {
    unique(cfa.variables.iter().map(|&v| cfa.terms.variable(v).name.clone()))
}

/// Is it a variable of the front end, not of the program?
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with('@')
}

/// `main::x` is `x`, unless there are several of that name; `f::return` is `f()`.
fn short_names(cfa: &Cfa) -> Vec<Option<String>> {
    let full = full_names(cfa);
    let visible = full.iter().filter(|n| !is_hidden(n)).map(String::as_str);
    let base = |name: &'_ str| match name.strip_suffix("::return") {
        Some(function) => format!("{function}()"),
        None => name.rsplit("::").next().unwrap_or(name).to_string(),
    };
    let mut short = bases(visible, base).into_iter();
    full.iter().map(|n| if is_hidden(n) { None } else { short.next() }).collect()
}

/// The short form of each name where that is nobody else's, and the name itself elsewhere.
fn bases<'n, S: Into<String>>(
    names: impl Iterator<Item = &'n str> + Clone,
    base: impl Fn(&'n str) -> S,
) -> Vec<String> {
    let short: Vec<String> = names.clone().map(|n| base(n).into()).collect();
    let mut sorted: Vec<&String> = short.iter().collect();
    sorted.sort();
    let alone = |s: &String| {
        let first = sorted.partition_point(|x| *x < s);
        sorted.get(first + 1) != Some(&s)
    };
    names.zip(&short).map(|(n, s)| if alone(s) { s.clone() } else { n.to_string() }).collect()
}
