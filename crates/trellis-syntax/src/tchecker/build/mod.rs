//! From the syntax tree to a closed network.
//!
//! Rooms: `system` (declarations, locations, edges, vectors), `expr` (expressions: numbers, truth values, names), `clock`
//! (comparisons of clocks), `stmt` (statements), `query` (questions).

mod clock;
mod expr;
mod query;
mod stmt;
mod system;

use std::collections::HashSet;

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Terms, Type, VarId};
use trellis_model::network::{ClockAtom, Condition, DataVar, Network, Query};

use super::ast::{Ast, Ident};
use crate::diag::shorten;
use crate::diag::{Diagnostic, Severity, Sources, Span};
use crate::text::errors::{MAX_ERRORS, Read as Res, Reported, closest};
use crate::uppaal::ast as uppaal;
use crate::uppaal::build::on_large_stack;

/// How many cells all variables may have together.
const MAX_CELLS: i64 = 1 << 20;

/// How many clocks there may be: zones grow with the square of it.
const MAX_CLOCKS: i64 = 1 << 12;

/// A model that was built.
pub struct Built {
    /// The network.
    pub network: Network,
    /// The questions: first the sets of labels, then the queries.
    pub queries: Vec<Query>,
    /// The labels of the model in the order in which they occur, and the locations that have them, as numbers of a process
    /// and of a location of it.
    pub labels: Vec<(String, Vec<(u32, u32)>)>,
    /// The values that were asked for, or why they have none. Truth values or numbers.
    pub values: Vec<Result<Condition, String>>,
    /// Questions that make no sense, with what is wrong with them, if they are set apart.
    pub refused: Vec<(String, Vec<Diagnostic>)>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// What is asked of a model.
#[derive(Debug, Clone, Default)]
pub struct Questions {
    /// Each asks whether a state can be reached in which all of these labels occur.
    pub labels: Vec<Vec<Ident>>,
    /// Queries in UPPAAL's language.
    pub queries: Vec<uppaal::Query>,
    /// Whether queries that make no sense are set apart, so that the others can be asked; otherwise they are errors.
    pub apart: bool,
    /// Expressions of which formulas speak: it does no harm if they mean nothing.
    pub values: Vec<uppaal::Expr>,
}

/// Builds a network. Errors are complete: as many as can be found (up to twenty).
pub fn build(ast: &Ast, questions: &Questions, sources: &Sources) -> Result<Built, Vec<Diagnostic>> {
    on_large_stack(|_| build_here(ast, questions, sources))
}

fn build_here(ast: &Ast, questions: &Questions, sources: &Sources) -> Result<Built, Vec<Diagnostic>> {
    let mut b = Builder::new(sources);
    b.system(ast);
    let mut queries = Vec::new();
    if !b.has_errors() {
        queries.extend(questions.labels.iter().filter_map(|set| b.label_query(set).ok()));
        for q in &questions.queries {
            let before = b.diags.len();
            let built = b.query(q);
            let errors = || b.diags[before..].iter().filter(|d| d.severity == Severity::Error);
            match built {
                _ if questions.apart && (built.is_err() || errors().next().is_some()) => {
                    let errors = errors().cloned().collect();
                    b.diags.truncate(before);
                    b.refused.push((q.text.clone(), errors));
                }
                Ok(q) => queries.push(q),
                Err(Reported) => {}
            }
        }
    }
    let values = match b.has_errors() {
        true => Vec::new(),
        false => questions.values.iter().map(|e| b.spoken_of(e)).collect(),
    };
    let (errors, warnings): (Vec<_>, Vec<_>) = b.diags.into_iter().partition(|d| d.severity == Severity::Error);
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Built { network: b.net, queries, labels: b.labels, values, refused: b.refused, warnings })
}

/// What a variable's name stands for.
#[derive(Debug, Clone, Copy)]
enum Entity {
    /// An integer, or an array of so many.
    Int { var: VarId, lo: i64, hi: i64, len: Option<i64> },
    /// A clock by its number, or an array of so many.
    Clock { first: u32, len: Option<u32> },
    /// Something that was already refused where it was declared.
    Broken,
}

/// Temporaries of one shape.
#[derive(Debug, Default)]
struct Temps {
    vars: Vec<VarId>,
    used: usize,
    unit: u64,
}

/// Everything that is being built.
struct Builder<'a> {
    sources: &'a Sources,
    net: Network,
    diags: Vec<Diagnostic>,
    refused: Vec<(String, Vec<Diagnostic>)>,
    said: HashSet<(Option<Span>, String)>,
    names: FxHashMap<String, Entity>,
    /// Local variables of the statements being lowered, innermost last.
    locals: Vec<(String, Entity)>,
    events: FxHashMap<String, u32>,
    processes: FxHashMap<String, u32>,
    locations: FxHashMap<(u32, String), u32>,
    labels: Vec<(String, Vec<(u32, u32)>)>,
    label_numbers: FxHashMap<String, usize>,
    cells: i64,
    /// Temporaries by what they hold (a truth value, a number, an array of so many numbers) and by process: edges that
    /// move together do not share any.
    pool: FxHashMap<(bool, Option<i64>, u32), Temps>,
    /// Which process the current unit belongs to, and the number of the unit.
    unit: (u32, u64),
    /// If a query is being lowered: its clock constraints so far.
    asking: Option<Vec<(VarId, ClockAtom)>>,
    asks_deadlock: bool,
}

impl<'a> Builder<'a> {
    fn new(sources: &'a Sources) -> Builder<'a> {
        Builder {
            sources,
            net: Network::default(),
            diags: Vec::new(),
            refused: Vec::new(),
            said: HashSet::new(),
            names: FxHashMap::default(),
            locals: Vec::new(),
            events: FxHashMap::default(),
            processes: FxHashMap::default(),
            locations: FxHashMap::default(),
            labels: Vec::new(),
            label_numbers: FxHashMap::default(),
            cells: 0,
            pool: FxHashMap::default(),
            unit: (0, 0),
            asking: None,
            asks_deadlock: false,
        }
    }

    fn has_errors(&self) -> bool {
        self.diags.iter().any(|d| d.severity == Severity::Error)
    }

    fn report(&mut self, d: Diagnostic) -> Reported {
        let like_this = self.diags.iter().filter(|e| e.severity == d.severity).count();
        if like_this < MAX_ERRORS && self.said.insert((d.span, d.message.clone())) {
            self.diags.push(d);
        }
        Reported
    }

    fn error<T>(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Res<T> {
        Err(self.report(Diagnostic::error(span, message).help(help)))
    }

    /// Refuses a name that stands for nothing.
    fn unknown<T>(&mut self, what: &str, name: &str, span: Span, near: Option<String>, otherwise: &str) -> Res<T> {
        let help = near.map_or_else(|| otherwise.to_string(), |near| format!("did you mean `{near}`?"));
        self.error(span, format!("there is no {what} `{}`", shorten(name)), help)
    }

    /// From here on, temporaries may be used anew.
    fn new_unit(&mut self, process: u32) {
        self.unit = (process, self.unit.1 + 1);
        self.locals.clear();
    }

    /// A temporary that nothing else in this unit uses.
    fn temp(&mut self, is_bool: bool, array: Option<i64>) -> VarId {
        let key = (is_bool, array, self.unit.0);
        let temps = self.pool.entry(key).or_default();
        if temps.unit != self.unit.1 {
            (temps.unit, temps.used) = (self.unit.1, 0);
        }
        temps.used += 1;
        if let Some(&v) = temps.vars.get(temps.used - 1) {
            return v;
        }
        let name = format!("tmp{}", self.net.temps.len());
        let v = self.fresh(name, is_bool, array);
        self.pool.entry(key).or_default().vars.push(v);
        v
    }

    /// A temporary of its own.
    fn fresh(&mut self, name: String, is_bool: bool, array: Option<i64>) -> VarId {
        let (lo, hi) = if is_bool { (0, 1) } else { (i64::MIN / 2, i64::MAX / 2) };
        let cell = if is_bool { Type::Bool } else { Type::Range(lo, hi) };
        let ty = match array {
            Some(len) => self.net.terms.array_type(Type::Range(0, len - 1), cell),
            None => cell,
        };
        let var = self.net.terms.declare(name.clone(), ty);
        let dims = array.map(|len| (0, len)).into_iter().collect();
        let init = vec![0; array.map_or(1, |len| len as usize)];
        self.net.temps.push(DataVar { name, var, lo, hi, is_bool, dims, init });
        var
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.net.terms
    }

    fn int(&mut self, n: i64) -> TermId {
        self.net.terms.int(n)
    }

    /// Notes that so many more cells are declared.
    fn spend_cells(&mut self, cells: i64, span: Span) -> Res<()> {
        self.cells = self.cells.saturating_add(cells);
        if self.cells <= MAX_CELLS {
            return Ok(());
        }
        let what = format!("too large: all variables together have more than {MAX_CELLS} cells");
        self.error(span, what, "use smaller arrays")
    }
}

/// Of these names, the one that was probably meant.
fn nearest<'n>(name: &str, there_are: impl IntoIterator<Item = &'n str>) -> Option<String> {
    closest(name, there_are).map(str::to_string)
}
