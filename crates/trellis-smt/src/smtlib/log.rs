//! A solver that writes down what it is asked: one replayable `.smt2` file for each.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use trellis_expr::{TermId, Terms};

use super::write::Writer;
use crate::{Answer, Meter, Solver};

/// Hands everything on to a solver, and keeps a script of it. The answers are comments in the script. What has no text is a
/// comment too, and the script then says less than the solver was told.
pub struct Logged {
    solver: Box<dyn Solver>,
    writer: Writer,
    path: PathBuf,
    /// Gone after the first failure to write; the solver goes on.
    file: Option<File>,
}

impl Logged {
    /// Logs into a new file of the folder, which is made if it is not there. Files are numbered.
    pub fn new(solver: Box<dyn Solver>, folder: &Path) -> io::Result<Logged> {
        std::fs::create_dir_all(folder)?;
        let mut n = 1;
        let (path, file) = loop {
            let path = folder.join(format!("{n:04}.smt2"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => break (path, file),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => n += 1,
                Err(e) => return Err(e),
            }
        };
        let mut log = Logged { solver, writer: Writer::new(), path, file: Some(file) };
        log.write("(set-logic ALL)\n");
        Ok(log)
    }

    /// Where the script is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, text: &str) {
        if self.file.as_mut().is_some_and(|f| f.write_all(text.as_bytes()).is_err()) {
            self.file = None;
        }
    }
}

impl Solver for Logged {
    fn push(&mut self) {
        let text = self.writer.push();
        self.write(&text);
        self.solver.push();
    }

    fn pop(&mut self) {
        let text = self.writer.pop();
        self.write(&text);
        self.solver.pop();
    }

    fn assert(&mut self, terms: &Terms, t: TermId) {
        let text = self.writer.assert(terms, t).unwrap_or_else(|what| format!("; not written: {what}\n"));
        self.write(&text);
        self.solver.assert(terms, t);
    }

    fn check(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Meter) -> Answer {
        let level = self.writer.push();
        let (mut text, mut names) = (String::new(), vec![]);
        for &a in assumptions {
            match self.writer.name(terms, a) {
                Ok((commands, name)) => {
                    text.push_str(&commands);
                    names.push(name);
                }
                Err(what) => text.push_str(&format!("; not written: {what}\n")),
            }
        }
        let end = self.writer.pop();
        if assumptions.is_empty() {
            self.write("(check-sat)\n");
        } else {
            self.write(&format!("{level}{text}(check-sat-assuming ({}))\n{end}", names.join(" ")));
        }
        let answer = self.solver.check(terms, assumptions, limits);
        match &answer {
            Answer::Sat(_) => self.write("; sat\n"),
            Answer::Unsat(core) => self.write(&format!("; unsat, by assumptions {core:?}\n")),
            Answer::Unknown(why) => self.write(&format!("; unknown: {}\n", why.to_string().replace('\n', " "))),
        }
        answer
    }
}
