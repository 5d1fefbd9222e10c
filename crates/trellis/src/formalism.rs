//! What the pipeline needs of a formalism: a model that was read, with the questions that it is asked.
//!
//! An implementor knows its model, its engines and its words, and nothing of files, limits, exit codes or the order in which things happen; the
//! [`crate::pipeline`] knows those, and nothing of any formalism. Questions are numbered; `n` is such a number.

use std::io::{self, Write};

use trellis_meter::{Meter, StopReason};
use trellis_report::json::{Header, Input};
use trellis_report::{Kind, PropertyReport, Style};

use crate::Failure;

/// One question.
pub struct Question {
    /// As a person reads it.
    pub text: String,
    /// In canonical form: what evidence is bound to.
    pub property: String,
    pub kind: Kind,
    /// What the reader should know of the question itself.
    pub warnings: Vec<String>,
}

/// A question that makes no sense, or that no engine answers.
pub enum Unanswered {
    /// Malformed: why. Its exit code is that of bad input.
    Refused(String),
    /// Understood, but of a kind that is not answered: what that is.
    Unsupported(String),
}

/// Evidence, by its kind.
pub enum Evidence<T, P> {
    Trace(T),
    Proof(P),
}

/// Why evidence is not accepted.
pub enum Rejection {
    /// It is wrong: why.
    Wrong(String),
    /// It was not decided, because a limit was reached.
    Stopped(StopReason),
    /// It was not decided: why.
    Open(String),
}

impl From<String> for Rejection {
    fn from(why: String) -> Rejection {
        Rejection::Wrong(why)
    }
}

/// What is reported about a question of a formalism.
pub type Report<F> = PropertyReport<<F as Formalism>::Trace, <F as Formalism>::Proof>;

/// A formalism: a model that was read, and what it is asked.
pub trait Formalism {
    /// A run, as the reference interpreter replays it.
    type Trace;
    /// What shows that there is none.
    type Proof;

    /// The file's name, as reports show it.
    fn name(&self) -> &str;
    /// The language it is written in, as reports call it.
    fn language(&self) -> &'static str;
    /// The files it was read from, the model first.
    fn inputs(&self) -> &[Input];
    /// What is asked.
    fn questions(&self) -> Vec<Question>;
    /// What is asked and not answered, with its text.
    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        vec![]
    }

    /// Answers a question: verdict, engine, statistics, assumptions; evidence not yet checked.
    fn solve(&self, n: usize, meter: &mut Meter) -> Result<Report<Self>, Failure>;
    /// Does the run show what is asked? What was done to see it, in words.
    fn replay(&self, n: usize, trace: &Self::Trace) -> Result<String, Rejection>;
    /// Does the proof show that there is no such run? What was done to see it, in words.
    fn certify(&self, n: usize, proof: &Self::Proof, meter: &Meter) -> Result<String, Rejection>;
    /// Checks the evidence of a report; what was done, in words.
    fn check(&self, n: usize, report: &Report<Self>, meter: &Meter) -> Result<Vec<String>, Rejection> {
        let trace = report.trace.iter().map(|t| self.replay(n, t));
        let proof = report.certificate.iter().map(|p| self.certify(n, p, meter));
        trace.chain(proof).collect()
    }

    /// A report for a person.
    fn text(&self, n: usize, report: &Report<Self>, style: Style) -> String;
    /// A report for a machine, on one line.
    fn json(&self, n: usize, report: &Report<Self>, out: &mut Vec<u8>) -> io::Result<()>;
    /// Writes evidence.
    fn write(
        &self,
        n: usize,
        header: Header<'_>,
        evidence: Evidence<&Self::Trace, &Self::Proof>,
        out: &mut dyn Write,
    ) -> io::Result<()>;
    /// Reads evidence.
    fn read(&self, n: usize, text: &str) -> Result<Evidence<Self::Trace, Self::Proof>, String>;
    /// The run as a graph, if there is one to draw.
    fn dot(&self, n: usize, report: &Report<Self>) -> Option<String>;
    /// All reports as one page.
    fn html(&self, reports: &[Report<Self>]) -> String;
    /// The run as a message sequence chart: a picture, or text. Nothing if it cannot be drawn.
    fn chart(&self, n: usize, trace: &Self::Trace, picture: bool) -> Option<String>;
}
