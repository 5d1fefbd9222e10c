//! C programs as control-flow automata.
//!
//! One translation unit, parsed by the `lang-c` crate: integers of all widths, enumerations, arrays of constant size,
//! structures, pointers to variables and their parts, all statements, all expressions, functions. A file with directives goes through `gcc -E` first. A run starts with the globals'
//! initial values in `main`; an *error* location is entered by `reach_error`, `__VERIFIER_error`, `__assert_fail`, a failing
//! `assert`, and what is undefined, if that is asked ([`Kinds`], [`Check`]); the *final* one at the end of `main` and by `exit` and `abort`.
//!
//! **What is understood how**
//!
//! - [`Ints::Wrap`]: integers are words of their width, and wrap around, signed ones too (as with gcc's `-fwrapv`).
//!   [`Ints::Math`]: all integers are mathematical ones, unsigned ones too; conversions, except to `_Bool`, change nothing.
//!   An arbitrary value of an unsigned type is then any number that is not negative.
//! - *Undefined behaviour* of a kind that is asked leads to an error location of its own. Of other kinds it *is assumed not to happen*,
//!   as the rules of SV-COMP's `unreach-call` have it: a run that divides by zero, leaves an array, follows a null pointer or shifts by a
//!   negative distance or by too many bits ends there. (Signed overflow wraps instead. What a pointer points to after its variable is
//!   gone is the variable's last value.) Both stand in the automaton as assumptions, so its terms never fault.
//! - *What is unspecified goes from left to right*: the operands of an operator, the arguments of a call, and what is assigned
//!   to before what is assigned.
//! - *Locals without an initialiser are arbitrary*, each time their declaration is passed, and when it is jumped over.
//! - *Functions are inlined*; one that calls itself is refused. A function without a body may change whatever it can get at, if that is
//!   asked ([`Kind::Call`]); otherwise it returns any value and does nothing else, with a warning. (Neither is said of inputs,
//!   `nondet_…` and `__VERIFIER_nondet_…`, `printf` and the like, `abs`, `exit`.)
//! - `char` is signed; an enumeration is an `unsigned int`, or an `int` if it has negative members, or wider if it must be; [`DataModel`] says how long
//!   `long` is. Each read of a `volatile` object gives any value; `_Atomic` means nothing: there is one thread.
//!
//! **What is refused**, by name and place, when the program uses it: the heap, casts between pointers, pointers to functions
//! and to `void`, unions, bit-fields, floating-point numbers, arrays of variable size, `long double`, 128-bit integers,
//! inline assembly, `setjmp`, threads. Declarations of such things may stand there.

mod assign;
mod attributes;
mod call;
mod checks;
mod decl;
mod enums;
mod expr;
mod idle;
mod init;
mod lifetime;
mod lower;
mod parallel;
mod place;
mod pointer;
mod preprocess;
mod purity;
mod scan;
mod stmt;
mod structs;
mod types;
mod unit;
mod volatile;

use std::time::{Duration, Instant};

use trellis_expr::TermId;
use trellis_model::cfa::Cfa;

pub use checks::{Check, Kind, Kinds};

use crate::diag::{Diagnostic, Folders, Severity, SourceId, Sources};

/// How integers behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ints {
    /// As words of fixed width.
    #[default]
    Wrap,
    /// As in mathematics.
    Math,
}

/// How long `long` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataModel {
    /// 32 bits.
    Ilp32,
    /// 64 bits.
    #[default]
    Lp64,
}

/// How to read a program.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How integers behave.
    pub ints: Ints,
    /// How long `long` is.
    pub data_model: DataModel,
    /// Where `#include "…"` looks, which is the folder of the file, and what headers must be below of that are not the system's.
    pub folders: Folders,
    /// Conditions on global variables that somebody wants to have as terms.
    pub atoms: Vec<String>,
    /// What the program is asked; the rest is assumed.
    pub checks: Kinds,
    /// When reading must have come to an end; otherwise the complaint is [`TIME_LIMIT`]. The preprocessor and the parser also have limits of
    /// their own, generous for a file of its size.
    pub deadline: Option<Instant>,
}

/// What is said when [`Options::deadline`] is over.
pub const TIME_LIMIT: &str = "the time limit is reached while the program is read";

impl Options {
    /// How long something may take that has this limit of its own.
    fn at_most(&self, limit: Duration) -> Duration {
        self.deadline.map_or(limit, |d| limit.min(d.saturating_duration_since(Instant::now())))
    }

    /// Is the time over?
    fn late(&self) -> bool {
        self.deadline.is_some_and(|d| d <= Instant::now())
    }
}

/// A program that was read.
#[derive(Debug, Clone)]
pub struct Built {
    /// The automaton.
    pub cfa: Cfa,
    /// The conditions that were asked for.
    pub atoms: Vec<TermId>,
    /// How many edges there are before `main`, all in a row: global variables get their values.
    pub before_main: usize,
    /// What the program is asked. Each has an error location of its own.
    pub checks: Vec<Check>,
    /// Functions that are called and have no body, if that is asked about.
    pub bodiless: Vec<String>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// The parser and what follows are recursive; nesting is limited so that this is enough.
const STACK: usize = 1 << 30;

/// Reads a program. Text that went through the preprocessor is added to the sources, because complaints may point into it.
pub fn parse(sources: &mut Sources, id: SourceId, options: &Options) -> Result<Built, Vec<Diagnostic>> {
    let work = || read(sources, id, options);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let whole = |message: String| {
            vec![Diagnostic { severity: Severity::Error, message, span: None, label: String::new(), help: None }]
        };
        match thread.map(|t| t.join()) {
            Ok(Ok(built)) => built,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => Err(whole(format!("cannot start a thread: {e}"))),
        }
    })
}

fn read(sources: &mut Sources, id: SourceId, options: &Options) -> Result<Built, Vec<Diagnostic>> {
    let mut warnings = vec![];
    let text = preprocess::prepare(sources, id, options, &mut warnings).map_err(|d| vec![d])?;
    let map = text.map;
    let unit = parallel::parse(text.code, options).map_err(|failed| match failed {
        parallel::Failed::Syntax(at, code) => vec![syntax_error(&map, &code, at)],
        parallel::Failed::Late(_) if options.late() => vec![Diagnostic::error(map.span(0, 0), TIME_LIMIT)],
        parallel::Failed::Late(limit) => {
            let message = format!("the parser of C has not come to an end within {} s", limit.as_secs_f64());
            vec![Diagnostic::error(map.span(0, 0), message)]
        }
    })?;
    let built = unit::build(&unit, &map, sources, options);
    // To free a large tree takes as long as to build an automaton from it, and nobody need wait for that.
    std::thread::spawn(move || drop(unit));
    let mut built = built?;
    built.warnings.splice(0..0, warnings);
    Ok(built)
}

fn syntax_error(map: &preprocess::Map, code: &str, at: usize) -> Diagnostic {
    let rest = code.get(at..).unwrap_or_default();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let len = match rest.chars().next() {
        None => 0,
        Some(c) if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
        Some(c) => c.len_utf8(),
    };
    let found = if len == 0 { "the end of the file".to_string() } else { format!("`{}`", &rest[..len]) };
    let span = map.span(at, at + len);
    let before = code.get(..at).unwrap_or_default().trim_end();
    let previous = &before[before.rfind(|c| !word(c)).map_or(0, |i| i + 1)..];
    let d = Diagnostic::error(span, format!("the parser of C does not expect {found} here"));
    match previous {
        "__int128" | "__int128_t" | "__uint128_t" => {
            Diagnostic::error(span, "128-bit integers are not supported").help("use `long long`")
        }
        _ if rest.starts_with("__int128") => {
            Diagnostic::error(span, "128-bit integers are not supported").help("use `long long`")
        }
        _ if !previous.is_empty() && len > 0 && rest.starts_with(|c: char| word(c) || c == '*') => {
            d.help(format!("is `{previous}` a type? then its definition is missing: include its header"))
        }
        _ => d,
    }
}
