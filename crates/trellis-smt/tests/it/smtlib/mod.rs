//! SMT-LIB in and out.

mod malformed;
mod process;
mod random;
mod round_trip;
mod scripts;

use trellis_expr::Terms;
use trellis_smt::smtlib::{self, Outcome};
use trellis_smt::{Answer, Meter, Reason, Solver};

/// A solver that knows nothing: for what depends on no answer.
pub struct Ignorant;

impl Solver for Ignorant {
    fn push(&mut self) {}
    fn pop(&mut self) {}
    fn assert(&mut self, _: &Terms, _: trellis_expr::TermId) {}
    fn check(&mut self, _: &Terms, _: &[trellis_expr::TermId], _: &Meter) -> Answer {
        Answer::Unknown(Reason::Steps)
    }
}

/// Reads and runs a script; what it prints.
pub fn run(text: &str, solver: &mut dyn Solver) -> Result<(String, Outcome), String> {
    let mut terms = Terms::new();
    let commands = smtlib::read(text, &mut terms).map_err(|e| {
        let (line, column) = e.line_col(text);
        format!("{line}:{column}: {e}")
    })?;
    let mut out = vec![];
    let outcome = smtlib::run(&commands, &terms, solver, &Meter::unlimited, &mut out).expect("writing to memory");
    Ok((String::from_utf8(out).expect("text"), outcome))
}
