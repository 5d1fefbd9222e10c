//! `trellis smt --proof FILE`: each `unsat` with clauses and a refutation of them, which has been followed before it is written.
//!
//! `FILE.cnf` has the clauses in DIMACS, those of the assertions and the lemmas of arithmetic, with what they rest on as comments;
//! `FILE.drat` has what follows from them, as `drat-trim` reads it. The next ones are `FILE-2.cnf`, `FILE-2.drat` and so on.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use trellis::Error;
use trellis::files::write_file;
use trellis_check::proof;
use trellis_expr::{TermId, Terms};
use trellis_meter::Meter;
use trellis_smt::proof::{dimacs, drat};
use trellis_smt::{Answer, Solver};

/// What went wrong: files that cannot be written, answers without a proof.
#[derive(Default)]
pub struct Log {
    pub failed: Option<Error>,
    pub unproved: Vec<String>,
    written: usize,
}

/// Hands everything on to a solver, and proves what it refutes.
pub struct Proving {
    solver: Box<dyn Solver>,
    path: PathBuf,
    asserted: Vec<TermId>,
    levels: Vec<usize>,
    log: Rc<RefCell<Log>>,
}

impl Proving {
    pub fn new(solver: Box<dyn Solver>, path: &Path, log: Rc<RefCell<Log>>) -> Proving {
        Proving { solver, path: path.to_path_buf(), asserted: vec![], levels: vec![], log }
    }

    fn prove(&self, terms: &Terms, all: &[TermId], limits: &Meter) {
        let mut log = self.log.borrow_mut();
        let (problem, steps) = match proof::prove(terms, all, limits) {
            proof::Answer::Unsat(found) => *found,
            proof::Answer::Open(_) => return log.unproved.push("no refutation was found".into()),
            proof::Answer::Unknown(why) => return log.unproved.push(why.to_string()),
        };
        log.written += 1;
        let file = |extension: &str| {
            let number = if log.written == 1 { String::new() } else { format!("-{}", log.written) };
            let mut name = self.path.clone().into_os_string();
            name.push(format!("{number}.{extension}"));
            PathBuf::from(name)
        };
        let cnf = write_file(&file("cnf"), &dimacs(&problem, &steps));
        let done = cnf.and_then(|()| write_file(&file("drat"), &drat(&steps)));
        if let Err(why) = done {
            log.failed.get_or_insert(why);
        }
    }
}

impl Solver for Proving {
    fn push(&mut self) {
        self.levels.push(self.asserted.len());
        self.solver.push();
    }

    fn pop(&mut self) {
        self.asserted.truncate(self.levels.pop().unwrap_or(0));
        self.solver.pop();
    }

    fn assert(&mut self, terms: &Terms, t: TermId) {
        self.asserted.push(t);
        self.solver.assert(terms, t);
    }

    fn check(&mut self, terms: &Terms, assumptions: &[TermId], limits: &Meter) -> Answer {
        let answer = self.solver.check(terms, assumptions, limits);
        if let Answer::Unsat(core) = &answer {
            let used = core.iter().filter_map(|&i| assumptions.get(i));
            let all: Vec<TermId> = self.asserted.iter().chain(used).copied().collect();
            self.prove(terms, &all, limits);
        }
        answer
    }
}
