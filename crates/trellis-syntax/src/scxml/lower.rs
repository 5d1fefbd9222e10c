//! The variables of the automaton, the internal queue, and executable content.
//!
//! A compound state (and the chart itself) has a variable that says which child is active, or none; a child of a parallel state has
//! a truth value. So a state is active if one atom holds. In the midst of a micro-step that is so too: states are left and entered
//! one by one, as executable content can see with `In`. A history has a copy of these variables.
//!
//! The internal queue is a row of variables, the first one first out, filled from the front. Events that no transition can react to
//! are not put into it: they would be taken out again with no effect. What is sent into the external queue is in `send`.
//!
//! **Errors.** As W3C says: where an expression has no value (a division by zero, a value that is not in a variable's range),
//! `error.execution` is raised; a condition counts as false then, and what is left of a block of executable content is not done.

use rustc_hash::FxHashMap;
use trellis_expr::{EnumId, StmtId, TermId, Terms, Type, VarId};

use super::events::{self, Events};
use super::expr::Expr;
use super::send::{Limit, Outbox};
use super::tree::{Action, Block, Tree};
use super::types::DataModel;
use crate::diag::{Diagnostic, Span};
use crate::text::errors::Errors;

/// How long the internal queue may be if nothing else is said.
pub const DEFAULT_QUEUE: usize = 8;

/// Makes terms and statements of a tree.
pub struct Lower<'a> {
    pub tree: &'a Tree,
    pub errors: Errors,
    pub terms: Terms,
    pub variables: Vec<VarId>,
    pub control: Vec<VarId>,
    pub data: DataModel,
    pub events: Events,
    pub event_type: EnumId,
    /// The event that is being handled.
    pub event: VarId,
    /// For each compound state which child is active: 0 for none, then the children in order.
    regions: Vec<Option<(VarId, EnumId)>>,
    /// For each child of a parallel state whether it is active.
    flags: Vec<Option<VarId>>,
    /// For each history and compound state below its parent (that one included), which child was active.
    memory: FxHashMap<(usize, usize), (VarId, EnumId)>,
    /// For each history of a parallel state whether it remembers something.
    recorded: FxHashMap<usize, VarId>,
    /// The internal queue.
    pub queue: Vec<VarId>,
    /// What the chart has sent to itself.
    pub outbox: Outbox,
    /// Has something not fitted into a queue?
    pub overflow: Vec<(Limit, VarId)>,
    /// Has something in the current block of content had no value?
    failed: Option<VarId>,
    /// What was made already.
    pub known: FxHashMap<Made, StmtId>,
}

/// Statements that are needed more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Made {
    /// A state is left.
    Exit(usize),
    /// A state is entered, and what is in it by default.
    Enter(usize),
    /// An event is put into the queue.
    Enqueue(u32),
    /// An event is put into the external queue.
    Send(u32),
    /// An event is sent with a delay.
    Later(u32),
    /// What was sent with one of these is taken back.
    Cancel(usize),
}

impl<'a> Lower<'a> {
    /// Declares what the structure needs.
    pub fn new(tree: &'a Tree, errors: Errors) -> Lower<'a> {
        let events = events::collect(tree);
        let mut terms = Terms::new();
        let event_type = terms.declare_enum("Event", events.names.clone());
        let event = terms.declare("event", Type::Enum(event_type));
        let mut lower = Lower {
            tree,
            errors,
            terms,
            variables: vec![event],
            control: vec![event],
            data: DataModel::default(),
            events,
            event_type,
            event,
            regions: vec![None; tree.states.len()],
            flags: vec![None; tree.states.len()],
            memory: FxHashMap::default(),
            recorded: FxHashMap::default(),
            queue: vec![],
            outbox: Outbox::default(),
            overflow: vec![],
            failed: None,
            known: FxHashMap::default(),
        };
        lower.declare_states();
        lower.declare_queue();
        lower
    }

    pub fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::error(span, message));
    }

    /// One more variable.
    pub fn declare(&mut self, name: &str, ty: Type, control: bool) -> VarId {
        let v = self.terms.declare(name, ty);
        self.variables.push(v);
        if control {
            self.control.push(v);
        }
        v
    }

    fn declare_states(&mut self) {
        let tree = self.tree;
        for (s, state) in tree.states.iter().enumerate() {
            if tree.is_compound(s) {
                let mut literals = vec!["-".to_string()];
                literals.extend(state.children.iter().map(|&c| tree.states[c].name.clone()));
                let name = if s == 0 { "chart" } else { &state.name };
                let ty = self.terms.declare_enum(name, literals);
                self.regions[s] = Some((self.declare(name, Type::Enum(ty), true), ty));
            }
            if s > 0 && tree.is_parallel(state.parent) {
                self.flags[s] = Some(self.declare(&format!("in {}", state.name), Type::Bool, true));
            }
        }
        for (h, history) in tree.histories.iter().enumerate() {
            if tree.is_parallel(history.parent) {
                let v = self.declare(&format!("{} remembers", history.name), Type::Bool, true);
                self.recorded.insert(h, v);
            }
            for s in std::iter::once(history.parent).chain(tree.below(history.parent)) {
                if let Some((_, ty)) = self.regions[s]
                    && (history.deep || s == history.parent)
                {
                    let name = format!("{} in {}", history.name, tree.states[s].name);
                    let v = self.declare(&name, Type::Enum(ty), true);
                    self.memory.insert((h, s), (v, ty));
                }
            }
        }
    }

    fn declare_queue(&mut self) {
        if self.events.sites == 0 {
            return;
        }
        for n in 0..self.tree.queue.unwrap_or(self.events.sites.clamp(2, DEFAULT_QUEUE)) {
            let v = self.declare(&format!("queue {n}"), Type::Enum(self.event_type), true);
            self.queue.push(v);
        }
        self.declare_overflow(Limit::Internal);
    }

    // Which states are active.

    /// The literal of a child in its parent's enumeration.
    fn literal(&mut self, ty: EnumId, child: usize) -> TermId {
        let siblings = &self.tree.states[self.tree.states[child].parent].children;
        let n = siblings.iter().position(|&c| c == child).unwrap_or_default();
        self.terms.enum_lit(ty, n as u32 + 1)
    }

    /// Is the state active?
    pub fn active(&mut self, s: usize) -> TermId {
        match (self.flags[s], self.regions[self.tree.states[s].parent]) {
            (Some(v), _) => self.terms.var(v),
            (None, Some((v, ty))) if s > 0 => {
                let (region, literal) = (self.terms.var(v), self.literal(ty, s));
                self.terms.eq(region, literal)
            }
            _ => self.terms.bool(true),
        }
    }

    /// Makes the state active, or inactive.
    pub fn set_active(&mut self, s: usize, active: bool) -> StmtId {
        match (self.flags[s], self.regions[self.tree.states[s].parent]) {
            (Some(v), _) => {
                let value = self.terms.bool(active);
                self.terms.assign(v, value)
            }
            (None, Some((v, ty))) => {
                let value = if active { self.literal(ty, s) } else { self.terms.enum_lit(ty, 0) };
                self.terms.assign(v, value)
            }
            (None, None) => self.terms.skip(),
        }
    }

    // Histories.

    /// The history takes in what is active.
    pub fn record(&mut self, h: usize) -> StmtId {
        let mut parts = vec![];
        if let Some(&v) = self.recorded.get(&h) {
            let yes = self.terms.bool(true);
            parts.push(self.terms.assign(v, yes));
        }
        let parent = self.tree.histories[h].parent;
        for s in std::iter::once(parent).chain(self.tree.below(parent)) {
            if let (Some(&(to, _)), Some((from, _))) = (self.memory.get(&(h, s)), self.regions[s]) {
                let value = self.terms.var(from);
                parts.push(self.terms.assign(to, value));
            }
        }
        self.terms.seq(parts)
    }

    /// Does the history remember anything?
    pub fn remembers(&mut self, h: usize) -> TermId {
        let parent = self.tree.histories[h].parent;
        match (self.recorded.get(&h), self.memory.get(&(h, parent))) {
            (Some(&v), _) => self.terms.var(v),
            (None, Some(&(v, ty))) => {
                let (region, none) = (self.terms.var(v), self.terms.enum_lit(ty, 0));
                self.terms.ne(region, none)
            }
            (None, None) => self.terms.bool(false),
        }
    }

    /// Does the history remember that the child was active? Always, for a child of a parallel state.
    pub fn was_active(&mut self, h: usize, child: usize) -> TermId {
        match self.memory.get(&(h, self.tree.states[child].parent)) {
            Some(&(v, ty)) => {
                let (region, literal) = (self.terms.var(v), self.literal(ty, child));
                self.terms.eq(region, literal)
            }
            None => self.terms.bool(true),
        }
    }

    // Events.

    /// An event as a term; 0 is none.
    pub fn event_literal(&mut self, n: u32) -> TermId {
        self.terms.enum_lit(self.event_type, n)
    }

    /// Puts an event into the queue, if anybody can react to it.
    pub fn enqueue(&mut self, name: &str) -> StmtId {
        let Some(n) = self.events.names.iter().skip(1).position(|e| e == name) else { return self.terms.skip() };
        let n = n as u32 + 1;
        if let Some(&s) = self.known.get(&Made::Enqueue(n)) {
            return s;
        }
        let stmt = self.append(&self.queue.clone(), n, Limit::Internal);
        self.known.insert(Made::Enqueue(n), stmt);
        stmt
    }

    /// Puts an event behind those that wait in a queue.
    pub fn append(&mut self, queue: &[VarId], n: u32, limit: Limit) -> StmtId {
        let (event, none) = (self.event_literal(n), self.event_literal(0));
        let mut stmt = self.overflows(limit);
        for &v in queue.iter().rev() {
            let (place, put) = (self.terms.var(v), self.terms.assign(v, event));
            let free = self.terms.eq(place, none);
            stmt = self.terms.branch(free, put, stmt);
        }
        stmt
    }

    /// `done.state.ID`
    pub fn enqueue_done(&mut self, s: usize) -> StmtId {
        self.enqueue(&events::done(self.tree, s))
    }

    /// Raises `error.execution`.
    pub fn enqueue_error(&mut self) -> StmtId {
        self.enqueue(events::ERROR)
    }

    /// The first event in a queue becomes the current one.
    pub fn dequeue(&mut self, queue: &[VarId]) -> StmtId {
        let mut to = self.event;
        let mut parts = vec![];
        for &from in queue {
            let value = self.terms.var(from);
            parts.push(self.terms.assign(to, value));
            to = from;
        }
        let none = self.event_literal(0);
        parts.push(self.terms.assign(to, none));
        self.terms.seq(parts)
    }

    // Executable content.

    /// One block of executable content.
    pub fn block(&mut self, block: &Block) -> StmtId {
        let (stmt, may_fail) = self.actions(block);
        match self.failed {
            Some(failed) if may_fail => {
                let no = self.terms.bool(false);
                let reset = self.terms.assign(failed, no);
                self.terms.seq([stmt, reset])
            }
            _ => stmt,
        }
    }

    /// One after the other, until one fails; and whether one may.
    fn actions(&mut self, block: &Block) -> (StmtId, bool) {
        let made: Vec<(StmtId, bool)> = block.iter().map(|action| self.action(action)).collect();
        let mut rest = self.terms.skip();
        let mut may_fail = false;
        for (stmt, fails) in made.into_iter().rev() {
            if let (true, Some(failed)) = (fails, self.failed) {
                let (failed, skip) = (self.terms.var(failed), self.terms.skip());
                rest = self.terms.branch(failed, skip, rest);
            }
            rest = self.terms.seq([stmt, rest]);
            may_fail |= fails;
        }
        (rest, may_fail)
    }

    fn action(&mut self, action: &Action) -> (StmtId, bool) {
        match action {
            Action::Raise(event) => (self.enqueue(event), false),
            Action::Send { event, delay, id } => self.send(event, delay, id.as_deref()),
            Action::Cancel(id) => (self.cancel(id), false),
            Action::Assign { name, span, expr } => {
                let assigned = self.data_variable(name, *span).and_then(|v| {
                    let ty = self.terms.variable(v).ty;
                    Some((v, ty, self.term(expr, Some(ty))?))
                });
                let Some((v, ty, value)) = assigned else { return (self.terms.skip(), false) };
                let fits = self.fits(value, ty);
                let assign = self.terms.assign(v, value);
                if self.terms.as_bool(fits) == Some(true) {
                    return (assign, false);
                }
                let fail = self.fail();
                (self.terms.branch(fits, assign, fail), true)
            }
            Action::If { branches, otherwise } => {
                let (mut stmt, mut may_fail) = self.actions(otherwise);
                for (cond, block) in branches.iter().rev() {
                    let (then, fails) = self.actions(block);
                    may_fail |= fails;
                    stmt = match self.condition(cond) {
                        Some((holds, error)) => {
                            let stmt = self.terms.seq([error, stmt]);
                            self.terms.branch(holds, then, stmt)
                        }
                        None => stmt,
                    };
                }
                (stmt, may_fail)
            }
        }
    }

    /// Something has no value: an error is raised, and the rest of the block is not done.
    pub fn fail(&mut self) -> StmtId {
        let failed = match self.failed {
            Some(failed) => failed,
            None => self.declare("failed", Type::Bool, true),
        };
        self.failed = Some(failed);
        let (error, yes) = (self.enqueue_error(), self.terms.bool(true));
        let fail = self.terms.assign(failed, yes);
        self.terms.seq([error, fail])
    }

    /// Where a condition is true; and what happens, where it is not, because it may have no value.
    pub fn condition(&mut self, cond: &Expr) -> Option<(TermId, StmtId)> {
        let t = self.term(cond, Some(Type::Bool))?;
        let (defined, holds) = self.guarded(t);
        let (error, skip) = (self.enqueue_error(), self.terms.skip());
        Some((holds, self.terms.branch(defined, skip, error)))
    }
}
