//! Compiled evaluation on flat `i64` memory, for hot loops.
//!
//! A [`Layout`] says where each variable lives; [`compile_term`] and [`compile_stmt`] make a [`Code`] that runs without
//! allocating (unless a term needs more than 32 temporaries). Truth values are 0 and 1, an enumeration's literal is its
//! position, integers are themselves with checked arithmetic ([`Fault::Overflow`] instead of a wrong answer), `Bits` are
//! sign- or zero-extended (64 unsigned bits are the same 64 bits read as signed). The element `i` of an array indexed
//! from `lo` is at `offset + (i - lo)`.
//!
//! It deliberately does not choose: `Havoc` and `Choice` are the caller's business and not supported here. Arrays of
//! arrays, arrays over unbounded indexes and integer literals beyond 64 bits are not supported either. It answers as
//! [`crate::eval`] does, fault for fault, [`Fault::Overflow`] apart. The caller keeps the memory well-typed: a variable
//! of a range type holds a value in that range (assignments made here check it). After a fault or a failed assumption
//! the memory is left as it was at that point: run on a copy.
//!
//! Inside: a register machine whose conditions are jumps, with one instruction for each common shape of guard. The
//! tests with which a guard begins are kept apart as *cells* and *atoms*, and done without starting the machine.

mod compile;
mod op;
mod run;

use crate::fault::Fault;
use crate::term::{FnId, TermId, Terms, VarId};
use crate::{Stmt, StmtId};
use op::{Atom, Call, Cell, Entry, Op};

/// How many loop iterations one run may take before it answers [`Fault::Diverges`].
pub const MAX_ITERATIONS: u64 = 10_000_000;

/// Where each variable lives in memory.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    slots: Vec<Option<(u32, u32)>>,
}

impl Layout {
    /// No variable has a place yet.
    pub fn new() -> Layout {
        Layout::default()
    }

    /// Places a variable at an offset. `len` is 1 for a scalar and the number of entries for an array.
    pub fn place(&mut self, v: VarId, offset: u32, len: u32) {
        if self.slots.len() <= v.index() {
            self.slots.resize(v.index() + 1, None);
        }
        self.slots[v.index()] = Some((offset, len));
    }

    /// The offset and length of a variable.
    pub fn slot(&self, v: VarId) -> Option<(u32, u32)> {
        self.slots.get(v.index()).copied().flatten()
    }
}

/// The foreign functions and procedures.
pub trait Host {
    /// Calls a function.
    fn query(&mut self, f: FnId, args: &[i64]) -> Result<i64, Fault>;
    /// Calls a procedure.
    fn update(&mut self, f: FnId, args: &[i64]) -> Result<(), Fault>;
}

impl<H: Host + ?Sized> Host for &mut H {
    #[inline]
    fn query(&mut self, f: FnId, args: &[i64]) -> Result<i64, Fault> {
        (**self).query(f, args)
    }

    #[inline]
    fn update(&mut self, f: FnId, args: &[i64]) -> Result<(), Fault> {
        (**self).update(f, args)
    }
}

/// The host of a model without foreign functions: every call faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct NoHost;

impl Host for NoHost {
    fn query(&mut self, f: FnId, _: &[i64]) -> Result<i64, Fault> {
        Err(Fault::Foreign(format!("there is no foreign function {}", f.0)))
    }

    fn update(&mut self, f: FnId, _: &[i64]) -> Result<(), Fault> {
        Err(Fault::Foreign(format!("there is no foreign procedure {}", f.0)))
    }
}

/// What the compiler cannot do.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[error("cannot be compiled to machine words: {what}")]
pub struct Unsupported {
    /// What it met.
    pub what: String,
}

impl Unsupported {
    fn new<T>(what: impl Into<String>) -> Result<T, Unsupported> {
        Err(Unsupported { what: what.into() })
    }
}

/// A compiled term or statement.
#[derive(Debug, Clone)]
pub struct Code {
    /// What is tested first; many guards are nothing else.
    cells: Box<[Cell]>,
    /// What is done if they do not decide.
    then: Then,
    /// What is tested next.
    atoms: Box<[Atom]>,
    /// The result if they do not decide and there is nothing else.
    otherwise: Option<i64>,
    /// Everything, cells and atoms included.
    ops: Box<[Op]>,
    /// Constant arguments of foreign calls.
    pool: Box<[i64]>,
    calls: Box<[Call]>,
    entries: Box<[Entry]>,
    /// How many temporaries it needs.
    frame: u32,
    constant: Option<i64>,
}

/// What follows the cells.
#[derive(Debug, Clone, Copy)]
enum Then {
    Return(i64),
    TestAtoms,
    Run,
}

/// Compiles a term.
pub fn compile_term(terms: &Terms, layout: &Layout, t: TermId) -> Result<Code, Unsupported> {
    with_stack(terms.depth(t), || compile::term(terms, layout, t))
}

/// Compiles a deterministic statement.
pub fn compile_stmt(terms: &Terms, layout: &Layout, s: StmtId) -> Result<Code, Unsupported> {
    with_stack(terms.stmt_depth(s), || compile::stmt(terms, layout, s))
}

/// Runs a recursive job on a stack that is large enough for that many levels.
fn with_stack<T: Send>(depth: u32, job: impl FnOnce() -> T + Send) -> T {
    if depth < 100 {
        return job();
    }
    let size = (1 << 20) + depth as usize * 8192;
    std::thread::scope(|scope| {
        let handle = std::thread::Builder::new().stack_size(size).spawn_scoped(scope, job);
        match handle.expect("a thread can be started").join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

impl Code {
    /// Evaluates a compiled term.
    #[inline]
    pub fn eval(&self, mem: &[i64], host: &mut impl Host) -> Result<i64, Fault> {
        run::start(self, run::Fixed(mem), host)
    }

    /// Runs a compiled statement. `false`: an assumption failed.
    #[inline]
    pub fn exec(&self, mem: &mut [i64], host: &mut impl Host) -> Result<bool, Fault> {
        Ok(run::start(self, mem, host)? != 0)
    }

    /// As [`Code::exec`] (or [`Code::eval`]), in a memory of which some cells have no value yet; what is written has one. If one is read that
    /// has none, that is the fault, whatever else happens.
    pub fn run_with_missing(&self, cells: &mut [i64], missing: &mut [bool]) -> Result<i64, Fault> {
        let read = std::cell::Cell::new(false);
        let result = run::start(self, run::Partial { cells, missing, read: &read }, &mut NoHost);
        if read.get() { Err(Fault::NoValue("a cell".into())) } else { result }
    }

    /// The value, if it is the same in every memory. Of a statement: `Some(1)` if it does nothing.
    pub fn constant(&self) -> Option<i64> {
        self.constant
    }
}

/// What the statement is called in an error.
fn name_of(s: &Stmt) -> &'static str {
    match s {
        Stmt::Havoc(_) => "a havoc",
        Stmt::Choice(_) => "a nondeterministic choice",
        _ => "a statement",
    }
}
