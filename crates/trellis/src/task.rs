//! A task: a model that was read, with the questions that it is asked. What the [`crate::pipeline`] needs of it, and nothing else.
//!
//! An implementor knows its model, its engines and its words, and nothing of limits, files, exit codes or the order in which things happen; the
//! pipeline knows those, and nothing of any formalism. Questions are numbered; `n` is such a number. Numbers beyond those of
//! [`Task::questions`] are questions that came up on the way ([`Task::follow`]): a C program is first asked everything at once.

use std::io;
use std::marker::PhantomData;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use trellis_meter::{Meter, StopReason};
use trellis_report::json::Input;
use trellis_report::present::{Body, Shown};
use trellis_report::run::Run;
use trellis_report::{Kind, Present, PropertyReport, ReadError, Style};

use crate::Error;
use crate::settings::Settings;

/// One question.
#[derive(Clone, Debug)]
pub struct Question {
    /// As a person reads it.
    pub text: String,
    /// In canonical form: what evidence is bound to.
    pub property: String,
    pub kind: Kind,
    /// What the reader should know of the question itself.
    pub warnings: Vec<String>,
    /// Files that the question was read from, beside the model's.
    pub inputs: Vec<Input>,
    /// Whether it is satisfied according to the file it was read from.
    pub recorded: Option<bool>,
}

impl Question {
    /// A question whose text is its canonical form.
    pub fn plain(text: &str, kind: Kind, warnings: Vec<String>) -> Question {
        Question { text: text.into(), property: text.into(), kind, warnings, inputs: vec![], recorded: None }
    }
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

impl<T, P> Evidence<T, P> {
    pub fn as_ref(&self) -> Evidence<&T, &P> {
        match self {
            Evidence::Trace(t) => Evidence::Trace(t),
            Evidence::Proof(p) => Evidence::Proof(p),
        }
    }
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

/// What is reported about a question of a task.
pub type Report<T> = PropertyReport<<T as Task>::Trace, <T as Task>::Proof>;

/// What an answer leads to: lines to be shown, each about a question, and questions to be asked next.
pub struct Followed<T: Task + ?Sized> {
    pub lines: Vec<(usize, Report<T>)>,
    pub then: Vec<usize>,
}

/// A model that was read, and what it is asked.
pub trait Task {
    /// A run, as the reference interpreter replays it.
    type Trace;
    /// What shows that there is none.
    type Proof;

    /// The options it was made with.
    fn args(&self) -> &Settings;
    /// The file's name, as reports show it.
    fn name(&self) -> String {
        self.args().model.model.display().to_string()
    }
    /// The language it is written in, as reports call it.
    fn language(&self) -> &'static str;
    /// The files it was read from, the model first.
    fn inputs(&self) -> Vec<Input>;
    /// Options that change the meaning, and whose value only the model knows.
    fn meaning(&self) -> Vec<(String, String)> {
        vec![]
    }
    /// What is asked.
    fn questions(&self) -> Vec<Question>;
    /// One of them, or one that came up on the way.
    fn question(&self, n: usize) -> Question {
        self.questions().swap_remove(n)
    }
    /// What is asked and not answered, with its text.
    fn unanswered(&self) -> Vec<(String, Unanswered)> {
        vec![]
    }

    /// Answers a question: verdict, engine, statistics, assumptions; evidence not yet checked.
    fn solve(&self, n: usize, meter: &mut Meter) -> Result<Report<Self>, Error>;
    /// What comes of an answer whose evidence was checked.
    fn follow(&self, n: usize, report: Report<Self>) -> Result<Followed<Self>, Error> {
        Ok(Followed { lines: vec![(n, report)], then: vec![] })
    }
    /// Are lines shown only when all is known, those that fail first?
    fn together(&self) -> bool {
        false
    }

    /// Does the run show what is asked? What was done to see it, in words.
    fn replay(&self, n: usize, trace: &Self::Trace, meter: &Meter) -> Result<String, Rejection>;
    /// Does the proof show that there is no such run? What was done to see it, in words.
    fn certify(&self, n: usize, proof: &Self::Proof, meter: &Meter) -> Result<String, Rejection>;
    /// Checks the evidence of a report; what was done, in words.
    fn check(&self, n: usize, report: &Report<Self>, meter: &Meter) -> Result<Vec<String>, Rejection> {
        let trace = report.trace.iter().map(|t| self.replay(n, t, meter));
        let proof = report.certificate.iter().map(|p| self.certify(n, p, meter));
        trace.chain(proof).collect()
    }
    /// Which questions evidence may be about, given what it says that it is about.
    fn provable(&self, _claimed: &str) -> Result<Vec<usize>, Error> {
        Ok((0..self.questions().len()).collect())
    }
    /// What is demanded of evidence from a file, beside that it replays or certifies.
    fn accept(&self, _n: usize, _evidence: Evidence<&Self::Trace, &Self::Proof>) -> Result<(), Rejection> {
        Ok(())
    }

    /// How runs and proofs are shown, written and read.
    fn present(&self, n: usize, then: &mut dyn FnMut(&Presenter<'_, Self>));
    /// What a person is shown beside the report itself: an invariant in words.
    fn more_text(&self, _n: usize, _report: &Report<Self>, _style: Style) -> String {
        String::new()
    }
    /// A proof in words, for a page: a summary, and the whole of it.
    fn proof_text(&self, _n: usize, _proof: &Self::Proof) -> Option<(String, String)> {
        None
    }
    /// Writes what only this task has; `file` numbers a path as that of the evidence.
    fn write_more(
        &self,
        _n: usize,
        _report: &Report<Self>,
        _file: &dyn Fn(&Path) -> std::path::PathBuf,
    ) -> Result<(), Error> {
        Ok(())
    }
}

/// How runs and proofs of a task are shown.
pub type Presenter<'p, T> = dyn Present<Trace = <T as Task>::Trace, Proof = <T as Task>::Proof> + 'p;

/// Does something with how a task presents the evidence about a question.
pub fn presented<T: Task + ?Sized, R>(task: &T, n: usize, then: impl FnOnce(&Presenter<'_, T>) -> R) -> R {
    let (mut then, mut result) = (Some(then), None);
    task.present(n, &mut |p| result = then.take().map(|then| then(p)));
    result.expect("a task presents its evidence")
}

/// Where nothing can be shown of evidence: why.
pub struct Unpresentable<T, P>(pub &'static str, pub PhantomData<(T, P)>);

impl<T, P> Present for Unpresentable<T, P> {
    type Trace = T;
    type Proof = P;

    fn run(&self, _: &T) -> io::Result<Run> {
        Err(io::Error::other(self.0))
    }

    fn trace(&self, _: &Run) -> Result<T, ReadError> {
        Err(ReadError::Syntax(self.0.into()))
    }

    fn shown(&self, _: &T) -> Shown {
        Shown::default()
    }

    fn body<'a>(&'a self, _: &'a P) -> io::Result<Body<'a>> {
        Err(io::Error::other(self.0))
    }

    fn proof(&self, _: &str, _: &[String], _: &RawValue) -> Result<P, ReadError> {
        Err(ReadError::Syntax(self.0.into()))
    }

    fn size(&self, _: &P) -> Value {
        Value::Null
    }
}
