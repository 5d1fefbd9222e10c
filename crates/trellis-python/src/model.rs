//! Models, checks and what is found.

use std::any::Any;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use trellis::meter::Board;
use trellis::script::Brought;
use trellis::{Certified, Listener, Verdict};

use crate::lattice::Lattice;
use crate::strategy::Rule;
use crate::walk::Walk;
use crate::{UsageError, raised};

/// How often signals are looked at, and progress is told.
const LOOK: Duration = Duration::from_millis(50);
/// Deeply nested input is refused long before this much is needed.
const STACK: usize = 256 << 20;

/// A model.
#[pyclass(frozen)]
pub struct Model(trellis::Model);

/// A question.
#[pyclass(frozen)]
pub struct Property(trellis::Property);

#[pymethods]
impl Property {
    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

/// Does something on a thread of its own, without the interpreter lock. `tick` is called now and then; when it raises, or a signal does, the
/// flag is raised and the exception goes on.
fn aside<T: Send + 'static>(
    py: Python<'_>,
    cancelled: Option<Arc<AtomicBool>>,
    mut tick: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, ready) = channel();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || _ = done.send(work()));
    let thread = thread.map_err(|e| PyRuntimeError::new_err(format!("cannot start a thread: {e}")))?;
    // A receiver is for one thread alone; only this one asks it.
    let ready = Mutex::new(ready);
    loop {
        let next = py.detach(|| ready.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
        match next {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("Trellis has a bug; please report the lines above"));
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals().and_then(|()| tick(py)) {
                    if let Some(flag) = &cancelled {
                        flag.store(true, Ordering::Relaxed);
                        // What stops by itself is waited for, so that nothing goes on behind the caller's back.
                        py.detach(|| _ = thread.join());
                    }
                    return Err(raised);
                }
            }
        }
    }
}

#[pymethods]
impl Model {
    /// Opens a file, or reads a text with the name of a file.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        text: Option<String>,
        constants: Vec<(String, i64)>,
        lattices: Vec<Py<Lattice>>,
        join: Option<(String, String, Py<PyAny>)>,
    ) -> PyResult<Model> {
        let classes = lattices.iter().map(|l| l.get().class()).collect();
        let join = join.map(|(file, text, function)| Arc::new(Rule::new(file, text, function)) as _);
        let brought = Brought { classes, join };
        let found = aside(
            py,
            None,
            |_| Ok(()),
            move || {
                let constants: Vec<(&str, i64)> = constants.iter().map(|(n, v)| (n.as_str(), *v)).collect();
                match text {
                    Some(text) => trellis::Model::text_bringing(&path.to_string_lossy(), &text, &constants, brought),
                    None => trellis::Model::open_bringing(&path, &constants, brought),
                }
            },
        )?;
        found.map(Model).map_err(raised)
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_path_buf()
    }

    fn language(&self) -> PyResult<&'static str> {
        self.0.language().map_err(raised)
    }

    fn properties(&self, py: Python<'_>) -> PyResult<Vec<Property>> {
        let model = self.0.clone();
        let all = aside(py, None, |_| Ok(()), move || model.properties())?;
        Ok(all.map_err(raised)?.into_iter().map(Property).collect())
    }

    fn property(&self, py: Python<'_>, kind: String, text: String) -> PyResult<Property> {
        let model = self.0.clone();
        let found = aside(
            py,
            None,
            |_| Ok(()),
            move || match kind.as_str() {
                "ltl" => model.ltl(&text),
                "never" => model.never(&text),
                _ => model.property(&text),
            },
        )?;
        found.map(Property).map_err(raised)
    }

    /// Checks a property. `progress` is told a list of (name, counts) now and then.
    fn check(
        &self,
        py: Python<'_>,
        property: &Property,
        options: Vec<(String, Option<String>)>,
        progress: Option<Py<PyAny>>,
        note: Option<Py<PyAny>>,
        evidence: bool,
    ) -> PyResult<Report> {
        let (model, property) = (self.0.clone(), property.0.clone());
        let cancelled = Arc::new(AtomicBool::new(false));
        let ears = Arc::new(Ears::default());
        let (flag, listener) = (cancelled.clone(), ears.clone());
        let tick = |py: Python<'_>| {
            ears.notes(py, &note)?;
            match &progress {
                Some(tell) => tell.call1(py, (ears.counts(),)).map(|_| ()),
                None => Ok(()),
            }
        };
        let found = aside(py, Some(cancelled), tick, move || {
            let mut check = model.check(&property).listener(listener).cancelled_by(flag);
            for (name, value) in &options {
                check = match value {
                    Some(value) => check.option(name, value),
                    None => check.flag(name),
                };
            }
            let report = check.run()?;
            Report::of(&report, &model, evidence)
        })?;
        ears.notes(py, &note)?;
        found.map_err(raised)
    }

    /// Is evidence in a file good? A word (valid, rejected, undecided), and why.
    fn certify(&self, py: Python<'_>, property: &Property, file: PathBuf) -> PyResult<(&'static str, String)> {
        let (model, property) = (self.0.clone(), property.0.clone());
        let found = aside(py, None, |_| Ok(()), move || model.certify(&property, file))?;
        Ok(match found.map_err(raised)? {
            Certified::Valid(said) => ("valid", said),
            Certified::Rejected(why) => ("rejected", why),
            Certified::Undecided(why) => ("undecided", why),
        })
    }

    fn walk(&self) -> PyResult<Walk> {
        Walk::of(&self.0)
    }
}

/// Hears of notes and of progress, on the thread that works; they are told on the one that waits.
#[derive(Default)]
struct Ears {
    notes: Mutex<Vec<String>>,
    board: Mutex<Option<Board>>,
}

impl Ears {
    fn notes(&self, py: Python<'_>, to: &Option<Py<PyAny>>) -> PyResult<()> {
        let all = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        for text in all {
            if let Some(to) = to {
                to.call1(py, (text.trim_end(),))?;
            }
        }
        Ok(())
    }

    fn counts(&self) -> Vec<(String, u64, u64)> {
        let board = self.board.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let lines = board.map_or_else(Vec::new, |b| b.lines());
        let counted = |line: &Arc<trellis::meter::Line>| {
            line.progress().map(|p| (line.name().to_string(), p.stats.added, p.waiting as u64))
        };
        lines.iter().filter_map(counted).collect()
    }
}

impl Listener for Ears {
    fn note(&self, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
    }

    fn found(&self, text: &str) {
        self.note(text);
    }

    fn working(&self, _: &str, board: &Board) -> Option<Box<dyn Any>> {
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = Some(board.clone());
        None
    }
}

/// What was found; evidence as it would be written to files.
#[pyclass(frozen)]
pub struct Report {
    model: trellis::Model,
    json: String,
    text: String,
    verdict: &'static str,
    value: Option<String>,
    reason: Option<String>,
    holds: Option<bool>,
    run: Option<String>,
    trace: Option<Vec<u8>>,
    certificate: Option<Vec<u8>>,
    page: Mutex<Page>,
}

/// The page, when somebody wants it.
enum Page {
    Answers(Vec<trellis::report::page::Answer>),
    Written(String),
}

impl Report {
    fn of(report: &trellis::Report, model: &trellis::Model, evidence: bool) -> Result<Report, trellis::Error> {
        let internal = |e: std::io::Error| trellis::Error::Internal(e.to_string());
        let (mut trace, mut certificate, mut run, mut value, mut reason) = (None, None, None, None, None);
        let verdict = report.verdict();
        let (name, proof, way) = match &verdict {
            Verdict::Safe(proof) => ("SAFE", Some(proof), None),
            Verdict::Impossible(proof) => ("FAILS", Some(proof), None),
            Verdict::Unsafe(way) => ("UNSAFE", None, Some(way)),
            Verdict::Possible(way) => ("HOLDS", None, Some(way)),
            Verdict::Bound(number, proof) => {
                value = Some(number.clone());
                ("BOUND", Some(proof), None)
            }
            Verdict::Unknown(why) => {
                reason = Some(why.clone());
                ("UNKNOWN", None, None)
            }
            _ => ("UNKNOWN", None, None),
        };
        if let Some(way) = way {
            run = Some(trellis::report::run::to_json(&way.run()).map_err(internal)?);
            trace = evidence.then(|| way.json()).transpose()?;
        }
        if let (Some(proof), true) = (proof, evidence) {
            certificate = proof.json()?;
        }
        Ok(Report {
            model: model.clone(),
            json: report.json()?,
            text: report.to_string(),
            verdict: name,
            value,
            reason,
            holds: report.holds(),
            run,
            trace,
            certificate,
            page: Mutex::new(Page::Answers(report.page()?)),
        })
    }
}

#[pymethods]
impl Report {
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[getter]
    fn verdict(&self) -> &'static str {
        self.verdict
    }

    #[getter]
    fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    #[getter]
    fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    #[getter]
    fn holds(&self) -> Option<bool> {
        self.holds
    }

    #[getter]
    fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.trace.as_ref().map(|bytes| PyBytes::new(py, bytes))
    }

    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.certificate.as_ref().map(|bytes| PyBytes::new(py, bytes))
    }

    /// The page that --html writes.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let answers = match &mut *self.page.lock().unwrap_or_else(PoisonError::into_inner) {
            Page::Written(text) => return Ok(text.clone()),
            Page::Answers(answers) => std::mem::take(answers),
        };
        let model = self.model.clone();
        let text = aside(py, None, |_| Ok(()), move || trellis::Report::frozen(&model, answers))?;
        let text = text.map_err(|e| UsageError::new_err(e.to_string()))?;
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = Page::Written(text.clone());
        Ok(text)
    }
}
