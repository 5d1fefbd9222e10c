//! From the syntax tree to a closed network: names resolved, types checked, templates instantiated, selects expanded,
//! expressions and functions lowered to terms and statements.
//!
//! Rooms: `types` (what a declared type is), `scope` (what a name stands for), `decl` (declarations), `expr` (expressions),
//! `func` (functions and their statements, inlined at every call), `lattice` (`extern` types and their values), `system`
//! (instantiation, edges), `query` (properties and joining strategies).
//!
//! What this front end deliberately does not do: clocks (refused by name until zones exist), recursion (UPPAAL has
//! none), floating point, dynamic templates, statistical queries. Everything refused is named with its place.

mod decl;
mod expr;
mod func;
mod lattice;
mod query;
mod scope;
mod system;
mod types;

use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use trellis_expr::{FnId, StmtId, TermId, Terms, Type, VarId};
use trellis_model::network::{Condition, DataVar, Network, Query};

use super::ast::{self, Nta};
use crate::diag::{Diagnostic, Severity, Sources, Span};

pub use query::Strategy;
use scope::{Family, Scope};

/// A model that was built, and what is needed to ask it more questions.
pub struct Built {
    /// The network.
    pub network: Network,
    /// The questions that came with it.
    pub queries: Vec<Query>,
    /// The joining strategy that was asked for.
    pub strategy: Option<Strategy>,
    /// The integer expression for the priority order that was asked for.
    pub priority: Option<Condition>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Where to look for scripts, and what else to build along with the model.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder of the model: `extern Mine;` looks for `Mine.lua` there.
    pub folder: PathBuf,
    /// Constants that replace the initial value of a global `const int` of that name.
    pub constants: Vec<(String, i64)>,
}

/// More questions about a model than it carries itself.
#[derive(Debug, Clone, Default)]
pub struct Questions {
    /// Queries, from a `.q` file or the command line.
    pub queries: Vec<ast::Query>,
    /// Whether the queries embedded in the model are asked too.
    pub embedded: bool,
    /// A joining strategy, as an expression over the states `x`, `y` and `joined`.
    pub strategy: Option<ast::Expr>,
    /// An integer expression by which to order the exploration.
    pub priority: Option<ast::Expr>,
}

/// Something was wrong and has been reported; there is nothing to go on with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reported;

pub(crate) type Res<T> = Result<T, Reported>;

/// Builds a network. Errors are complete: as many as can be found (up to twenty).
pub fn build(
    nta: &Nta,
    questions: &Questions,
    sources: &Sources,
    options: &Options,
) -> Result<Built, Vec<Diagnostic>> {
    let mut b = Builder::new(sources, options);
    let result = b.run(nta, questions);
    let (errors, warnings): (Vec<_>, Vec<_>) =
        b.diags.into_iter().partition(|d| matches!(d.severity, Severity::Error));
    match result {
        Ok((queries, strategy, priority)) if errors.is_empty() => {
            Ok(Built { network: b.net, queries, strategy, priority, warnings })
        }
        _ => Err(errors),
    }
}

/// Stop complaining after so many errors.
const MAX_ERRORS: usize = 20;

/// A variable's leaf: one cell or one flat array of cells.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub lo: i64,
    pub hi: i64,
    pub is_bool: bool,
    /// Whether it is an array in the terms.
    pub array: bool,
    /// For constants: the cells' values.
    pub value: Option<Vec<i64>>,
    /// Whether it is part of the state.
    pub state: bool,
}

/// Everything that is being built.
pub(crate) struct Builder<'a> {
    pub sources: &'a Sources,
    pub options: &'a Options,
    pub net: Network,
    pub diags: Vec<Diagnostic>,
    said: HashSet<(Option<Span>, String)>,
    pub leaves: FxHashMap<VarId, Leaf>,
    pub global: Rc<Scope>,
    pub families: Vec<Rc<Family>>,
    /// How many scalar sets there are.
    pub scalar_sets: u32,
    /// Reusable temporaries by shape; those before the mark are in use by the current unit.
    pool: FxHashMap<(i64, i64, bool, usize), (Vec<VarId>, usize)>,
    pub functions: FxHashMap<lattice::FnKey, FnId>,
    /// Whether the current query asks about deadlocks.
    pub asks_deadlock: bool,
}

impl<'a> Builder<'a> {
    fn new(sources: &'a Sources, options: &'a Options) -> Builder<'a> {
        Builder {
            sources,
            options,
            net: Network {
                terms: Terms::new(),
                processes: Vec::new(),
                vars: Vec::new(),
                temps: Vec::new(),
                lattices: Vec::new(),
                functions: Vec::new(),
                channels: Vec::new(),
                constants: Vec::new(),
                deadlock: None,
                has_priorities: false,
            },
            diags: Vec::new(),
            said: HashSet::new(),
            leaves: FxHashMap::default(),
            global: Scope::root(),
            families: Vec::new(),
            scalar_sets: 0,
            pool: FxHashMap::default(),
            functions: FxHashMap::default(),
            asks_deadlock: false,
        }
    }

    fn run(&mut self, nta: &Nta, questions: &Questions) -> Res<(Vec<Query>, Option<Strategy>, Option<Condition>)> {
        let global = self.global.clone();
        for d in nta.decls.iter().chain(&nta.system_decls) {
            // Every declaration is looked at, even after a mistake in another.
            let _ = self.declare(d, &global, "");
        }
        for (name, _) in &self.options.constants {
            if !self.net.constants.iter().any(|(n, _)| n == name) {
                self.diags.push(Diagnostic {
                    severity: Severity::Error,
                    message: format!("there is no global integer constant `{name}` to set"),
                    span: None,
                    label: String::new(),
                    help: Some("only `const int NAME = …;` at the top of the model can be set from outside".into()),
                });
            }
        }
        self.priorities(nta);
        let system = self.system(nta);
        if self.has_errors() {
            return Err(Reported);
        }
        system?;
        let embedded: &[ast::Query] = if questions.embedded { &nta.queries } else { &[] };
        let mut queries = Vec::new();
        for q in embedded.iter().chain(&questions.queries) {
            if let Ok(q) = self.query(q) {
                queries.push(q);
            }
        }
        let strategy = match &questions.strategy {
            Some(e) => Some(self.strategy(e)?),
            None => None,
        };
        let priority = match &questions.priority {
            Some(e) => Some(self.priority_expr(e)?),
            None => None,
        };
        Ok((queries, strategy, priority))
    }

    pub fn has_errors(&self) -> bool {
        self.diags.iter().any(|d| d.severity == Severity::Error)
    }

    /// Reports, once, and gives the caller something to return.
    pub fn report(&mut self, d: Diagnostic) -> Reported {
        let errors = self.diags.iter().filter(|d| d.severity == Severity::Error).count();
        if errors < MAX_ERRORS && self.said.insert((d.span, d.message.clone())) {
            self.diags.push(d);
        }
        Reported
    }

    pub fn error<T>(&mut self, span: Span, message: impl Into<String>) -> Res<T> {
        Err(self.report(Diagnostic::error(span, message)))
    }

    /// `file:line:column`, for messages at run time.
    pub fn place(&self, span: Span) -> String {
        let (line, column) = self.sources.line_col(span);
        format!("{}:{line}:{column}", self.sources.get(span.source).name)
    }

    // Temporaries.

    /// From here on, temporaries may be used anew: a guard, an update, a query begins.
    pub fn new_unit(&mut self) {
        for (_, used) in self.pool.values_mut() {
            *used = 0;
        }
    }

    /// A temporary of the given shape that nothing else in this unit uses.
    pub fn temp(&mut self, lo: i64, hi: i64, is_bool: bool, array: Option<usize>) -> VarId {
        let shape = (lo, hi, is_bool, array.map_or(0, |n| n));
        let (vars, used) = self.pool.entry(shape).or_default();
        if let Some(&v) = vars.get(*used) {
            *used += 1;
            return v;
        }
        *used += 1;
        let name = format!("tmp{}", self.net.temps.len());
        let v = self.declare_cells(name, lo, hi, is_bool, array, None, false);
        self.pool.get_mut(&shape).expect("just made").0.push(v);
        v
    }

    /// Declares a leaf. `value` makes it a constant; `state` makes it part of the state.
    #[allow(clippy::too_many_arguments)]
    pub fn declare_cells(
        &mut self,
        name: String,
        lo: i64,
        hi: i64,
        is_bool: bool,
        array: Option<usize>,
        value: Option<Vec<i64>>,
        state: bool,
    ) -> VarId {
        let cell = if is_bool { Type::Bool } else { Type::Range(lo, hi) };
        let ty = match array {
            Some(n) => self.net.terms.array_type(Type::Range(0, n as i64 - 1), cell),
            None => cell,
        };
        let var = self.net.terms.declare(name.clone(), ty);
        let zero = default_value(lo, hi);
        let init = value.clone().unwrap_or_else(|| vec![zero; array.unwrap_or(1)]);
        let dims = array.map(|n| (0, n as i64)).into_iter().collect();
        let data = DataVar { name, var, lo, hi, is_bool, dims, init };
        if state {
            self.net.vars.push(data);
        } else {
            self.net.temps.push(data);
        }
        self.leaves.insert(var, Leaf { lo, hi, is_bool, array: array.is_some(), value: value.filter(|_| !state), state });
        var
    }

    pub fn terms(&mut self) -> &mut Terms {
        &mut self.net.terms
    }

    /// Statements as one.
    pub fn block(&mut self, stmts: Vec<StmtId>) -> StmtId {
        self.net.terms.seq(stmts)
    }

    pub fn int(&mut self, n: i64) -> TermId {
        self.net.terms.int(n)
    }
}

/// What a cell holds when the model does not say: zero, or the lower bound where zero does not fit.
pub(crate) fn default_value(lo: i64, hi: i64) -> i64 {
    if lo <= 0 && 0 <= hi { 0 } else { lo }
}
