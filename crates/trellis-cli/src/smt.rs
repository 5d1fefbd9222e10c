//! `trellis smt`: runs SMT-LIB scripts on the embedded solver, or on another.

mod proof;

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use trellis_expr::Terms;
use trellis_meter::Meter;
use trellis_smt::smtlib::{self, Logged, Process, Undecided};
use trellis_smt::{Embedded, Solver};
use trellis_syntax::diag::{self, Diagnostic, SourceId, Sources, Span};

use crate::cli::Smt;
use trellis::Error;

use crate::{Ran, exit};

/// The solver of that name: `embedded`, or a program; with a log if there is a folder for it.
pub fn solver(name: &str, log: Option<&Path>) -> Result<Box<dyn Solver>, Error> {
    let solver: Box<dyn Solver> = match name {
        "embedded" => Box::new(Embedded::new()),
        program => Box::new(Process::new(program).map_err(|e| Error::Usage(e.to_string()))?),
    };
    match log {
        None => Ok(solver),
        Some(folder) => match Logged::new(solver, folder) {
            Ok(logged) => Ok(Box::new(logged)),
            Err(e) => Err(Error::Usage(format!("cannot write to {}: {e}", folder.display()))),
        },
    }
}

/// Runs a script: 0 if every check has an answer, 20 if some have none.
pub fn smt(args: &Smt, color: bool) -> Ran {
    let mut sources = Sources::default();
    let read = sources.read(&args.file);
    let source = read.map_err(|d| Error::Input(diag::render(&[d], &sources, color)))?;
    let mut terms = Terms::new();
    let commands = smtlib::read(&sources.get(source).text, &mut terms).map_err(|e| {
        let complaint = Diagnostic::error(span(source, e.start, e.end), e.message);
        Error::Input(diag::render(&[complaint], &sources, color))
    })?;
    let mut solver = solver(&args.solver, args.smt_log.as_deref())?;
    let proofs: Rc<RefCell<proof::Log>> = Rc::default();
    if let Some(path) = &args.proof {
        solver = Box::new(proof::Proving::new(solver, path, proofs.clone()));
    }
    let limits = || match args.timeout {
        Some(time) => Meter::unlimited().time(time),
        None => Meter::unlimited(),
    };
    let mut out = Printer(std::io::stdout().lock());
    let outcome = smtlib::run(&commands, &terms, &mut *solver, &limits, &mut out)
        .map_err(|e| Error::Internal(format!("cannot print: {e}")))?;
    for (at, why) in &outcome.undecided {
        let place = match why {
            Undecided::Foreign(f) => span(source, f.start, f.end),
            Undecided::Solver(_) => span(source, *at, at + 1),
        };
        let warning = Diagnostic::warning(place, format!("unknown: {why}"));
        eprint!("{}", diag::render(&[warning], &sources, color));
    }
    let proof::Log { failed, unproved, .. } = proofs.take();
    if let Some(why) = failed {
        return Err(why);
    }
    for why in &unproved {
        eprintln!("warning: no proof is written of an `unsat`: {why}");
    }
    Ok(match () {
        () if outcome.errors > 0 => exit::INPUT,
        () if outcome.undecided.is_empty() && unproved.is_empty() => exit::HOLDS,
        () => exit::UNDECIDED,
    })
}

fn span(source: SourceId, start: usize, end: usize) -> Span {
    Span { source, start: start as u32, end: end as u32 }
}

/// Standard output, answer by answer; a reader that has gone away (`| head`) is not an error.
struct Printer<W: Write>(W);

impl<W: Write> Write for Printer<W> {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        let _ = self.0.write_all(text).and_then(|()| self.0.flush());
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
