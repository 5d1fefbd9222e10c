//! Formulas of linear temporal logic about everything that is an automaton: lassos and runs that never repeat as runs, proofs as documents.
//!
//! Runs are like those of programs; a step without parts is one of a run that has ended. Proofs and recurrent sets speak
//! of locations of the product, by number: whoever reads them makes the product anew, from the automaton that stands beside them.

mod read;
mod write;

use std::io;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trellis_expr::TermId;
use trellis_model::cfa::interpret::{Step as PlainStep, Trace};
use trellis_model::ltl::Buchi;
use trellis_model::ltl::evidence::{Lasso, Proof, Recurrence, Run, Step};
use trellis_model::ltl::product::Subject;

use crate::evidence::{body, pretty};
use crate::present::{Body, Drawing, Present, ProofKind, Shown};
use crate::program::{Program, exact, run as lines};
use crate::property::PropertyReport;
use crate::reader::{Node, Path, ReadError};
use crate::words::cut;

/// A run that violates a formula.
#[derive(Debug, Clone)]
pub enum Counterexample {
    /// It repeats.
    Lasso(Lasso),
    /// It need not.
    Recurrence(Box<Recurrence>),
}

/// A report about a formula.
pub type LtlReport = PropertyReport<Counterexample, Proof>;

/// What evidence is about.
#[derive(Debug, Clone, Copy)]
pub struct LtlAsked<'a> {
    /// The model.
    pub subject: &'a Subject,
    /// What the atoms are, in the model.
    pub atoms: &'a [TermId],
    /// The atoms as they were written.
    pub names: &'a [String],
    /// The automaton of the runs that must not be.
    pub automaton: &'a Buchi,
}

/// A formula about a program: how runs are shown, and what their evidence is about.
pub struct Formula<'a> {
    /// The program, or what has become one.
    pub program: &'a Program<'a>,
    /// What is asked of it.
    pub asked: LtlAsked<'a>,
}

impl Present for Formula<'_> {
    type Trace = Counterexample;
    type Proof = Proof;

    fn run(&self, trace: &Counterexample) -> io::Result<crate::run::Run> {
        let (run, back) = match trace {
            Counterexample::Lasso(lasso) => (&lasso.run, Some(lasso.back)),
            Counterexample::Recurrence(r) => (&r.stem, None),
        };
        let steps = run.steps.iter().map(|s| (s.edge, &s.choices[..], &s.after));
        let mut out = exact::run(&self.asked.subject.cfa, &run.start, steps);
        out.back = back;
        if let Counterexample::Recurrence(r) = trace {
            out.recurrent = Some(serde_json::to_value(write::RecurrenceDoc::new(self.asked, r)?)?);
        }
        Ok(out)
    }

    fn trace(&self, run: &crate::run::Run) -> Result<Counterexample, ReadError> {
        let (start, steps) = exact::read(&self.asked.subject.cfa, run)?;
        let step = |s: exact::Read| Step { edge: s.edge, choices: s.choices, after: s.after };
        let read = Run { start, steps: steps.into_iter().map(step).collect() };
        match (&run.recurrent, run.back) {
            (Some(recurrent), None) => {
                let text = serde_json::to_string(recurrent).map_err(|e| ReadError::Syntax(e.to_string()))?;
                let raw = RawValue::from_string(text).map_err(|e| ReadError::Syntax(e.to_string()))?;
                let node = Node::new(Path::Field(&Path::Top, "recurrent"), &raw);
                read::recurrence(read, self.asked, node).map(|r| Counterexample::Recurrence(Box::new(r)))
            }
            (None, Some(back)) if back < read.steps.len() => Ok(Counterexample::Lasso(Lasso { run: read, back })),
            (_, back) => Err(ReadError::found("loop".into(), "a moment before the last step", &json!(back))),
        }
    }

    fn shown(&self, trace: &Counterexample) -> Shown {
        let Parts { stem, cycle, end } = parts(trace);
        let mut shown = match &self.asked.subject.stuck {
            Some(_) => lines::by_events(self.program, &self.asked.subject.reads, &stem, cycle.as_ref(), end),
            None => lines::shown(self.program, &stem, cycle.as_ref(), Some(end)),
        };
        if let Counterexample::Recurrence(_) = trace {
            shown.run.recurrent = Some(Value::Null);
        }
        shown.look.last = String::new();
        shown
    }

    fn drawing(&self) -> Drawing {
        self.program.drawing()
    }

    fn body<'a>(&'a self, proof: &'a Proof) -> io::Result<Body<'a>> {
        let write = pretty(write::ProofDoc::new(self.asked, proof)?);
        Ok(Body { kind: ProofKind::Ranking, assumes: vec![], write })
    }

    fn proof(&self, kind: &str, _: &[String], raw: &RawValue) -> Result<Proof, ReadError> {
        read::proof(self.asked, body(ProofKind::Ranking, kind, raw)?)
    }

    fn size(&self, p: &Proof) -> Value {
        json!({ "nodes": p.nodes.len(), "edges": p.edges.len(), "rankings": p.rankings.len() })
    }
}

/// A run, taken apart.
pub struct Parts {
    /// How it begins.
    pub stem: Trace,
    /// What it does again and again, if it does the same, and does anything.
    pub cycle: Option<Trace>,
    /// What is said after the beginning.
    pub end: String,
}

/// Takes a run apart.
pub fn parts(trace: &Counterexample) -> Parts {
    match trace {
        Counterexample::Lasso(lasso) => {
            let cycle = part(&lasso.run, lasso.back..lasso.run.steps.len());
            let cycle = (!cycle.steps.is_empty()).then_some(cycle);
            let end = if cycle.is_some() { "again and again:" } else { "from here on nothing changes" };
            Parts { stem: part(&lasso.run, 0..lasso.back), cycle, end: end.into() }
        }
        Counterexample::Recurrence(r) => {
            let set = cut(&r.terms.show(r.set).to_string());
            let end = format!("from here on forever, while {set}");
            Parts { stem: part(&r.stem, 0..r.stem.steps.len()), cycle: None, end }
        }
    }
}

/// Some steps of a run.
fn part(run: &Run, range: std::ops::Range<usize>) -> Trace {
    let start = match range.start {
        0 => run.start.clone(),
        n => run.steps[n - 1].after.clone(),
    };
    let plain = |s: &Step| Some(PlainStep { edge: s.edge?, choices: s.choices.clone(), after: s.after.clone() });
    Trace { start, steps: run.steps[range].iter().filter_map(plain).collect() }
}

/// `an abstraction of 12 nodes with 2 rankings`.
pub fn summary(proof: &Proof) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let rankings = match proof.rankings.len() {
        0 => String::new(),
        n => format!(" and {}", count(n, "ranking")),
    };
    format!("an abstraction of {}{rankings}", count(proof.nodes.len(), "node"))
}
