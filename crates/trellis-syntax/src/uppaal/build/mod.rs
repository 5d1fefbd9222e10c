//! From the syntax tree to a closed network: names resolved, types checked, templates instantiated, selects expanded,
//! expressions and functions lowered to terms and statements.
//!
//! Rooms: `types` (what a declared type is), `scope` (what a name stands for), `decl` and `initial` (declarations and
//! what variables hold at first), `expr`, `formula`, `member`, `quantifier` and `effect` (expressions), `clock` and
//! `reset` (what is asked of clocks, and how they are set), `place` (where variables lie), `func` and `stmt` (functions, inlined at every call), `lattice` (`extern` types and their values), `system` and
//! `process` (instantiation, edges), `query` (properties and joining strategies), `syntax` (questions about the tree
//! alone), `limits` (how large all of this may grow).
//!
//! What this front end deliberately does not do: clock constraints that are not conjunctions (outside queries), rates of
//! clocks, clocks together with lattices or priorities, recursion (UPPAAL has none), floating point, dynamic templates, statistical queries. Everything refused is named with its place. Templates
//! that no system line uses are not looked at.

mod branch;
mod clock;
mod decl;
mod effect;
mod expr;
mod formula;
mod func;
mod initial;
mod lattice;
mod limits;
mod member;
mod place;
mod process;
mod quantifier;
mod query;
mod reset;
mod scope;
mod stmt;
mod syntax;
mod system;
mod types;

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_domain::script::Brought;
use trellis_expr::{FnId, StmtId, TermId, Terms, VarId};
use trellis_model::network::sketch::Sketch;
use trellis_model::network::{ClockAtom, Condition, Network, Query};
use trellis_order::Lattice;

use super::ast::{self, Nta};
use crate::diag::{Diagnostic, Folders, Severity, Sources, Span};
use crate::text::errors::{MAX_ERRORS, Read as Res, Reported};

pub(crate) use expr::{compared, too_big};
use limits::Limits;
use place::Leaf;
pub use query::Strategy;
use scope::{FuncDef, Scope};

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
    /// The values that were asked for, or why they have none. Truth values or numbers.
    pub values: Vec<Result<Condition, String>>,
    /// The scripts that the model names, with their texts: it means nothing without them.
    pub scripts: Vec<(String, String)>,
    /// Questions that make no sense, with what is wrong with them, if they are set apart.
    pub refused: Vec<(String, Vec<Diagnostic>)>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Where to look for scripts, and what else to build along with the model.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder of the model, where `extern Mine;` looks for `Mine.lua`, and what scripts must be below of.
    pub folders: Folders,
    /// Constants that replace the initial value of a global `const int` of that name.
    pub constants: Vec<(String, i64)>,
    /// Lattices that the user brings along in another language than Lua.
    pub brought: Brought,
}

/// More questions about a model than it carries itself.
#[derive(Debug, Clone, Default)]
pub struct Questions {
    /// Queries, from a `.q` file or the command line.
    pub queries: Vec<ast::Query>,
    /// Whether the queries embedded in the model are asked too.
    pub embedded: bool,
    /// Whether queries that make no sense are set apart, so that the others can be asked; otherwise they are errors.
    pub apart: bool,
    /// A joining strategy, as an expression over the states `x`, `y` and `joined`.
    pub strategy: Option<ast::Expr>,
    /// An integer expression by which to order the exploration.
    pub priority: Option<ast::Expr>,
    /// Expressions of which formulas speak: it does no harm if they mean nothing.
    pub values: Vec<ast::Expr>,
}

/// Builds a network. Errors are complete: as many as can be found (up to twenty).
///
/// The work is done on a thread of its own, with a stack that is large enough for whatever the parser lets through.
pub fn build(nta: &Nta, questions: &Questions, sources: &Sources, options: &Options) -> Result<Built, Vec<Diagnostic>> {
    on_large_stack(|levels| build_here(nta, questions, sources, options, levels))
}

/// Does the work on a thread of its own, with a stack that is large enough for as many levels as the work is told that it has.
pub(crate) fn on_large_stack<T: Send>(
    work: impl Fn(u32) -> Result<T, Vec<Diagnostic>> + Sync,
) -> Result<T, Vec<Diagnostic>> {
    std::thread::scope(|scope| {
        let start = |levels: u32| {
            let (stack, work) = (levels as usize * limits::LEVEL, &work);
            std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, move || work(levels))
        };
        let [most, fewer, least] = limits::LEVELS;
        match start(most).or_else(|_| start(fewer)).or_else(|_| start(least)).map(|t| t.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => Err(vec![whole(format!("cannot start a thread: {e}"))]),
        }
    })
}

fn build_here(
    nta: &Nta,
    questions: &Questions,
    sources: &Sources,
    options: &Options,
    levels: u32,
) -> Result<Built, Vec<Diagnostic>> {
    let mut b = Builder::new(sources, options);
    b.limits.levels = levels;
    let result = b.run(nta, questions);
    let (errors, warnings): (Vec<_>, Vec<_>) = b.diags.into_iter().partition(|d| d.severity == Severity::Error);
    match result {
        Ok((queries, strategy, priority, values)) if errors.is_empty() => {
            let (refused, scripts) = (b.refused, b.read);
            Ok(Built { network: b.net, queries, strategy, priority, values, scripts, refused, warnings })
        }
        _ => Err(errors),
    }
}

/// An error that has no place in a source.
fn whole(message: String) -> Diagnostic {
    Diagnostic { severity: Severity::Error, message, span: None, label: String::new(), help: None }
}

/// What the questions come to.
type Answers = (Vec<Query>, Option<Strategy>, Option<Condition>, Vec<Result<Condition, String>>);

/// Everything that is being built.
pub(crate) struct Builder<'a> {
    pub sources: &'a Sources,
    pub options: &'a Options,
    pub net: Network,
    pub diags: Vec<Diagnostic>,
    refused: Vec<(String, Vec<Diagnostic>)>,
    said: HashSet<(Option<Span>, String)>,
    pub limits: Limits,
    pub leaves: FxHashMap<VarId, Leaf>,
    pub global: Rc<Scope>,
    /// The global names and, once there are any, the processes: what questions can speak of.
    pub asking: Rc<Scope>,
    /// Every function that was declared, so that those nobody calls are looked at too.
    pub declared: Vec<Rc<FuncDef>>,
    /// How many scalar sets there are.
    pub scalar_sets: u32,
    pool: place::Pool,
    /// The number of the current unit.
    unit: u64,
    pub functions: FxHashMap<lattice::FnKey, FnId>,
    /// The lattices made from scripts, by file and size.
    pub scripts: FxHashMap<(String, usize), Arc<dyn Lattice>>,
    /// The scripts that were read, and their texts.
    pub read: Vec<(String, String)>,
    /// Whether the current query asks about deadlocks.
    pub asks_deadlock: bool,
    /// What the current query asks of clocks.
    pub asks_clocks: Vec<(VarId, ClockAtom)>,
    /// The temporaries that stand for clock constraints in queries.
    pub clock_atoms: FxHashMap<(u32, u32, bool, TermId), VarId>,
    /// How templates are drawn, by name.
    pub sketches: FxHashMap<String, Arc<Sketch>>,
    /// Where the first clock is declared.
    pub first_clock: Option<Span>,
}

impl<'a> Builder<'a> {
    fn new(sources: &'a Sources, options: &'a Options) -> Builder<'a> {
        let global = Scope::root();
        Builder {
            sources,
            options,
            net: Network::default(),
            diags: Vec::new(),
            refused: Vec::new(),
            said: HashSet::new(),
            limits: Limits::default(),
            leaves: FxHashMap::default(),
            asking: Scope::child(&global),
            global,
            declared: Vec::new(),
            scalar_sets: 0,
            pool: place::Pool::default(),
            unit: 0,
            functions: FxHashMap::default(),
            scripts: FxHashMap::default(),
            read: Vec::new(),
            asks_deadlock: false,
            asks_clocks: Vec::new(),
            clock_atoms: FxHashMap::default(),
            sketches: FxHashMap::default(),
            first_clock: None,
        }
    }

    fn run(&mut self, nta: &Nta, questions: &Questions) -> Res<Answers> {
        let nta = &*self.without_branch_points(nta);
        let global = self.global.clone();
        for d in nta.decls.iter().chain(&nta.system_decls) {
            // Every declaration is looked at, even after a mistake in another.
            let _ = self.declare(d, &global, "");
        }
        for (name, _) in &self.options.constants {
            if !self.net.constants.iter().any(|(n, _)| n == name) {
                self.diags.push(
                    whole(format!("there is no global integer constant `{name}` to set"))
                        .help("only `const int NAME = …;` at the top of the model can be set from outside"),
                );
            }
        }
        self.priorities(nta);
        let system = self.system(nta);
        self.check_timed(nta);
        self.check_uncalled();
        if self.has_errors() {
            return Err(Reported);
        }
        system?;
        let embedded: &[ast::Query] = if questions.embedded { &nta.queries } else { &[] };
        let mut queries = Vec::new();
        for q in embedded.iter().chain(&questions.queries) {
            let before = self.diags.len();
            let built = self.query(q);
            let errors = || self.diags[before..].iter().filter(|d| d.severity == Severity::Error);
            match built {
                _ if questions.apart && (built.is_err() || errors().next().is_some()) => {
                    let errors = errors().cloned().collect();
                    self.diags.truncate(before);
                    self.refused.push((q.text.clone(), errors));
                }
                Ok(q) => queries.push(q),
                Err(Reported) => {}
            }
        }
        let strategy = questions.strategy.as_ref().map(|e| self.strategy(e)).transpose()?;
        let priority = questions.priority.as_ref().map(|e| self.priority_expr(e)).transpose()?;
        let values = questions.values.iter().map(|e| self.spoken_of(e)).collect();
        Ok((queries, strategy, priority, values))
    }

    pub fn has_errors(&self) -> bool {
        self.diags.iter().any(|d| d.severity == Severity::Error)
    }

    /// Reports, once, and gives the caller something to return.
    pub fn report(&mut self, d: Diagnostic) -> Reported {
        let like_this = self.diags.iter().filter(|e| e.severity == d.severity).count();
        if like_this >= MAX_ERRORS {
            // More would not help, and could take long.
            self.limits.exhausted |= d.severity == Severity::Error;
        } else if self.said.insert((d.span, d.message.clone())) {
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
