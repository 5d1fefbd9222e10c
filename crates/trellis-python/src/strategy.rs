//! Joining strategies as Python functions: `join(x, y)` of two states.

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyAttributeError, PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use trellis::script::{JoinRule, ScriptError, StateView};

use crate::failed;

/// A Python function that says which states may be joined.
#[derive(Debug)]
pub struct Rule {
    file: String,
    text: String,
    function: Py<PyAny>,
}

impl Rule {
    pub fn new(file: String, text: String, function: Py<PyAny>) -> Rule {
        Rule { file, text, function }
    }
}

impl JoinRule for Rule {
    fn file(&self) -> &str {
        &self.file
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn accepts(&self, x: &dyn StateView, y: &dyn StateView) -> Result<bool, ScriptError> {
        Python::attach(|py| {
            let ask = || {
                let states = [Lent::new(py, x)?, Lent::new(py, y)?];
                let answer = self.function.bind(py).call1((&states[0].0, &states[1].0))?;
                answer.extract::<bool>().map_err(|_| {
                    PyValueError::new_err(format!("a joining strategy returns True or False, not {answer:?}"))
                })
            };
            ask().map_err(|e: PyErr| failed(py, &self.file, "join", &e))
        })
    }
}

/// A state that Python may look at until this is dropped.
struct Lent(Py<State>);

impl Lent {
    fn new(py: Python<'_>, view: &dyn StateView) -> PyResult<Lent> {
        let names = view.names();
        // SAFETY: only the lifetime is forgotten. The pointer is taken away when this is dropped, which is before the view ends.
        let view: NonNull<dyn StateView> =
            unsafe { std::mem::transmute::<NonNull<dyn StateView + '_>, NonNull<dyn StateView>>(NonNull::from(view)) };
        Ok(Lent(Py::new(py, State { names, view: Mutex::new(Some(Pointer(view))) })?))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        *self.0.get().view.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

struct Pointer(NonNull<dyn StateView>);

// SAFETY: the pointer is followed only under the lock that it is kept in, while the thread that lent the state waits for Python.
unsafe impl Send for Pointer {}

/// A state, as a joining strategy sees it: `x.user`, `x.table.num0s()`, `x.location("DB")`, `x["DB.n"]`.
#[pyclass(frozen)]
pub struct State {
    names: Vec<String>,
    view: Mutex<Option<Pointer>>,
}

impl State {
    fn look<R>(&self, then: impl FnOnce(&dyn StateView) -> R) -> PyResult<R> {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        match &*view {
            // SAFETY: it is there, so whoever lent it still waits.
            Some(Pointer(view)) => Ok(then(unsafe { view.as_ref() })),
            None => Err(PyRuntimeError::new_err("a state is there only while the strategy is asked")),
        }
    }

    fn find(this: &Bound<'_, State>, name: &str) -> PyResult<Option<Py<PyAny>>> {
        let py = this.py();
        if let Some(value) = this.get().look(|v| v.get(name))? {
            return Ok(Some(value.into_pyobject(py)?.into_any().unbind()));
        }
        if this.get().names.iter().any(|n| n == name) {
            let variable = Variable { state: this.clone().unbind(), name: name.to_string() };
            return Ok(Some(Py::new(py, variable)?.into_any()));
        }
        Ok(None)
    }

    fn unknown(&self, name: &str) -> String {
        format!("there is no variable `{name}`; there are: {}", self.names.join(", "))
    }
}

#[pymethods]
impl State {
    fn __getattr__(this: &Bound<'_, State>, name: &str) -> PyResult<Py<PyAny>> {
        State::find(this, name)?.ok_or_else(|| PyAttributeError::new_err(this.get().unknown(name)))
    }

    fn __getitem__(this: &Bound<'_, State>, name: &str) -> PyResult<Py<PyAny>> {
        State::find(this, name)?.ok_or_else(|| PyKeyError::new_err(this.get().unknown(name)))
    }

    /// The name of the location that a process is in.
    fn location(&self, process: &str) -> PyResult<String> {
        self.look(|v| v.location(process))?
            .ok_or_else(|| PyKeyError::new_err(format!("there is no process `{process}`")))
    }

    fn __dir__(&self) -> Vec<String> {
        let mut all = self.names.clone();
        all.push("location".into());
        all
    }
}

/// A lattice variable of a state: its queries are methods.
#[pyclass(frozen)]
pub struct Variable {
    state: Py<State>,
    name: String,
}

#[pymethods]
impl Variable {
    fn __getattr__(&self, py: Python<'_>, method: String) -> Query {
        Query { state: self.state.clone_ref(py), name: self.name.clone(), method }
    }

    fn __getitem__(&self, at: i64) -> PyResult<i64> {
        self.state.get().look(|v| v.call(&self.name, "get", &[at]))?.map_err(PyValueError::new_err)
    }
}

/// A query of a lattice variable, to be called.
#[pyclass(frozen)]
pub struct Query {
    state: Py<State>,
    name: String,
    method: String,
}

#[pymethods]
impl Query {
    #[pyo3(signature = (*args))]
    fn __call__(&self, args: &Bound<'_, PyTuple>) -> PyResult<i64> {
        let args = args.extract::<Vec<i64>>()?;
        self.state.get().look(|v| v.call(&self.name, &self.method, &args))?.map_err(PyAttributeError::new_err)
    }
}
