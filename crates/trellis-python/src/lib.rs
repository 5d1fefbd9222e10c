//! The Python package's native half: the library `trellis-mc`, handed to Python in plain pieces (texts, numbers, lists). What a user of the package
//! sees is in `python/trellis_mc`, which puts these together.
//!
//! It deliberately decides nothing: options are those of the command line, verdicts and evidence those of the library. Whatever may take
//! long runs without the interpreter lock, on a thread with a stack that is large enough; signals are looked at while it runs.

mod lattice;
mod model;
mod strategy;
mod tools;
mod walk;

use std::path::Path;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use trellis::script::{Place, ScriptError};

create_exception!(trellis_mc, Error, PyException, "Trellis cannot do what was asked.");
create_exception!(trellis_mc, InputError, Error, "The model or a property is broken; the text has places.");
create_exception!(trellis_mc, UsageError, Error, "The options make no sense.");

/// An error of the library as an exception.
fn raised(error: trellis::Error) -> PyErr {
    match error {
        trellis::Error::Input(_) => InputError::new_err(error.to_string()),
        trellis::Error::Usage(_) | trellis::Error::Nothing(..) => UsageError::new_err(error.to_string()),
        trellis::Error::Internal(_) => PyRuntimeError::new_err(error.to_string()),
        other => Error::new_err(other.to_string()),
    }
}

/// An exception as an error of a script, with the last line of the file in which it was.
fn failed(py: Python<'_>, file: &str, function: &str, error: &PyErr) -> ScriptError {
    let mut line = None;
    let mut at = error.traceback(py).map(|t| t.into_any());
    while let Some(trace) = at {
        let there = || -> PyResult<(String, usize)> {
            let code = trace.getattr("tb_frame")?.getattr("f_code")?;
            Ok((code.getattr("co_filename")?.extract()?, trace.getattr("tb_lineno")?.extract()?))
        };
        if let Ok((name, n)) = there()
            && Path::new(&name).file_name() == Path::new(file).file_name()
        {
            line = Some(n);
        }
        at = trace.getattr("tb_next").ok().filter(|t| !t.is_none());
    }
    ScriptError::Failed {
        place: Place { file: file.to_string(), line },
        function: function.to_string(),
        message: error.to_string(),
    }
}

/// The native half of `trellis_mc`.
#[pymodule]
fn _native(py: Python<'_>, m: &Bound<'_, PyModule>) -> PyResult<()> {
    lattice::provide();
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("Error", py.get_type::<Error>())?;
    m.add("InputError", py.get_type::<InputError>())?;
    m.add("UsageError", py.get_type::<UsageError>())?;
    m.add_class::<model::Model>()?;
    m.add_class::<model::Property>()?;
    m.add_class::<model::Report>()?;
    m.add_class::<walk::Walk>()?;
    m.add_class::<strategy::State>()?;
    m.add_class::<strategy::Variable>()?;
    m.add_class::<strategy::Query>()?;
    m.add_class::<lattice::Lattice>()?;
    m.add_function(wrap_pyfunction!(tools::ltl2hoa, m)?)?;
    m.add_function(wrap_pyfunction!(tools::smt, m)?)?;
    m.add_function(wrap_pyfunction!(tools::run, m)?)?;
    m.add_function(wrap_pyfunction!(tools::audit, m)?)?;
    Ok(())
}
