//! What needs no model: formulas, the solver, the command line, audits.

use std::ffi::OsString;

use pyo3::prelude::*;
use trellis::automaton::{self, Acceptance};
use trellis::expr::Terms;
use trellis::meter::Meter;
use trellis::smt::Embedded;
use trellis::smt::smtlib::{self, Process};

use crate::{InputError, UsageError, raised};

/// The automaton of a formula.
#[pyfunction]
pub fn ltl2hoa(py: Python<'_>, formula: &str, acceptance: &str, dot: bool) -> PyResult<String> {
    let acceptance = match acceptance {
        "generalised" => Acceptance::Generalised,
        "transition" => Acceptance::Transition,
        "state" => Acceptance::State,
        other => {
            let known = "generalised, transition or state";
            return Err(UsageError::new_err(format!("acceptance is {known}, not {other:?}")));
        }
    };
    py.detach(|| automaton::ltl2hoa(formula, acceptance, dot, false)).map_err(raised)
}

/// Runs an SMT-LIB script: what it prints.
#[pyfunction]
pub fn smt(py: Python<'_>, script: &str, solver: &str, seconds: Option<f64>) -> PyResult<String> {
    py.detach(|| {
        let mut terms = Terms::new();
        let commands = smtlib::read(script, &mut terms).map_err(|e| {
            let before = script.get(..e.start).unwrap_or(script);
            let (line, column) = (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or("").len() + 1);
            InputError::new_err(format!("{line}:{column}: {}", e.message))
        })?;
        let mut solver: Box<dyn trellis::smt::Solver> = match solver {
            "embedded" => Box::new(Embedded::new()),
            program => Box::new(Process::new(program).map_err(|e| UsageError::new_err(e.to_string()))?),
        };
        let limits = || match seconds.and_then(|s| std::time::Duration::try_from_secs_f64(s).ok()) {
            Some(time) => Meter::unlimited().time(time),
            None => Meter::unlimited(),
        };
        let mut out = vec![];
        smtlib::run(&commands, &terms, &mut *solver, &limits, &mut out)
            .map_err(|e| crate::Error::new_err(e.to_string()))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    })
}

/// Runs the command line; answers the exit code.
#[pyfunction]
pub fn run(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| trellis_cli::run_on(args))
}

/// Audits a lattice class of a size, as every model that uses it does; what was sampled, in words.
#[pyfunction]
pub fn audit(
    py: Python<'_>,
    lattice: &crate::lattice::Lattice,
    size: usize,
    samples: usize,
    seed: u64,
) -> PyResult<String> {
    let (name, class) = lattice.class();
    py.detach(|| {
        let made = trellis::script::ScriptLattice::of_class(&name, &*class, size);
        let report = made.and_then(|lattice| lattice.audit(samples, seed));
        report.map(|r| format!("{r:?}")).map_err(|e| InputError::new_err(e.to_string()))
    })
}
