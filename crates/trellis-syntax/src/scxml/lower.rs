//! The variables of the automaton, and the internal queue.
//!
//! A compound state (and the chart itself) has a variable that says which child is active, or none; a child of a parallel state has
//! a truth value. So a state is active if one atom holds. In the midst of a micro-step that is so too: states are left and entered
//! one by one, as executable content can see with `In`. A history has a copy of these variables.
//!
//! The internal queue is a row of variables, the first one first out, filled from the front. Events that no transition can react to
//! are not put into it: they would be taken out again with no effect. What is sent into the external queue is in `send`.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{EnumId, StmtId, TermId, Terms, Type, VarId};

use super::events::{self, Events, Message, Source};
use super::expr::Node;
use super::send::{Limit, Outbox};
use super::tree::{Action, Tree};
use super::types::{DataModel, Shapes};
use super::value::{Kind, Store, Sym};
use crate::diag::{Diagnostic, Span};
use crate::text::errors::Errors;

/// How long the internal queue may be if nothing else is said.
pub const DEFAULT_QUEUE: usize = 8;

/// `_sessionid`
pub const SESSION: &str = "session";

/// Where the chart can be sent to, by itself.
pub fn location() -> String {
    format!("#_scxml_{SESSION}")
}

/// A place for an event that waits, with what it carries.
#[derive(Debug, Clone)]
pub struct Slot {
    pub event: VarId,
    pub data: Option<Store>,
}

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
    /// The event that was taken in last, and what it carries: `_event`.
    pub bound: Option<VarId>,
    pub current: Option<Store>,
    /// What values there may be; and whether more has turned up.
    pub shapes: Shapes,
    pub grown: bool,
    /// Shapes are still looked for.
    pub quiet: bool,
    /// A property is read: names must be known.
    pub strict: bool,
    /// Does the chart change parts of arrays or objects?
    pub mutates: bool,
    pub warned: FxHashSet<u32>,
    /// When the expression that is being read is an error, and when it has no value here.
    pub faults: Vec<TermId>,
    pub beyonds: Vec<TermId>,
    pub symbol_type: EnumId,
    pub kind_type: Option<EnumId>,
    /// Variables that start with nothing.
    pub zeroed: Vec<VarId>,
    pub temporaries: FxHashMap<(usize, Type), VarId>,
    /// For each state with data of its own whether it has been entered, if that matters.
    pub entered: FxHashMap<usize, VarId>,
    /// For each compound state which child is active: 0 for none, then the children in order.
    regions: Vec<Option<(VarId, EnumId)>>,
    /// For each child of a parallel state whether it is active.
    flags: Vec<Option<VarId>>,
    /// For each history and compound state below its parent (that one included), which child was active.
    memory: FxHashMap<(usize, usize), (VarId, EnumId)>,
    /// For each history of a parallel state whether it remembers something.
    recorded: FxHashMap<usize, VarId>,
    /// The internal queue.
    pub queue: Vec<Slot>,
    /// What the chart has sent to itself.
    pub outbox: Outbox,
    /// Has something not fitted into a queue?
    pub overflow: Vec<(Limit, VarId)>,
    /// Has something in the current block of content had no value?
    pub failed: Option<VarId>,
    /// What was made already.
    pub known: FxHashMap<Made, StmtId>,
    /// Whose content is being read: the chart's own, or that of one that it invokes.
    pub session: usize,
    /// Of each chart that is invoked: is it to start, and is it not heard any more?
    pub invokes: Vec<(VarId, VarId)>,
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
    pub fn new(tree: &'a Tree, errors: Errors, shapes: Shapes, quiet: bool) -> Lower<'a> {
        let events = events::collect(tree, &shapes);
        let mut terms = Terms::new();
        let event_type = terms.declare_enum("Event", events.labels());
        let mut symbols = shapes.symbols.clone();
        if symbols.is_empty() {
            symbols.push(String::new());
        }
        let symbol_type = terms.declare_enum("Symbol", symbols);
        let in_part = |a: &&Action| matches!(a, Action::Assign { to, .. } if !matches!(to.node, Node::Name(_)));
        let mutates = tree.actions().iter().any(in_part);
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
            bound: None,
            current: None,
            shapes,
            grown: false,
            quiet,
            strict: false,
            mutates,
            warned: FxHashSet::default(),
            faults: vec![],
            beyonds: vec![],
            symbol_type,
            kind_type: None,
            zeroed: vec![],
            temporaries: FxHashMap::default(),
            entered: FxHashMap::default(),
            regions: vec![None; tree.states.len()],
            flags: vec![None; tree.states.len()],
            memory: FxHashMap::default(),
            recorded: FxHashMap::default(),
            queue: vec![],
            outbox: Outbox::default(),
            overflow: vec![],
            failed: None,
            known: FxHashMap::default(),
            session: 0,
            invokes: vec![],
        };
        lower.declare_states();
        lower.declare_invokes();
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

    /// Declares what takes in events: the internal queue, and the event that was taken in last.
    pub fn declare_inbox(&mut self) {
        if self.events.told {
            self.bound = Some(self.declare("last event", Type::Enum(self.event_type), true));
            self.current = self.declare_payload("data");
        }
        if self.events.sites == 0 {
            return;
        }
        for n in 0..self.tree.queue.unwrap_or(self.events.sites.clamp(2, DEFAULT_QUEUE)) {
            let slot = self.declare_slot(&format!("queue {n}"));
            self.queue.push(slot);
        }
        self.declare_overflow(Limit::Internal);
    }

    pub fn declare_slot(&mut self, name: &str) -> Slot {
        let event = self.declare(name, Type::Enum(self.event_type), true);
        Slot { event, data: self.declare_payload(&format!("{name} data")) }
    }

    /// A place for what an event carries, if anybody asks for it and any carries something.
    pub fn declare_payload(&mut self, name: &str) -> Option<Store> {
        let mut shape = self.shapes.payload.clone();
        shape.kinds.insert(Kind::Undefined);
        let empty = shape.kinds.iter().all(|k| *k == Kind::Undefined);
        (self.events.told && !empty).then(|| self.declare_store(name, &shape))
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

    /// The number of a message, if anybody can react to it. One with a computed name may not be known yet.
    pub fn number_of(&mut self, message: &Message) -> Option<u32> {
        let n = self.events.find(message);
        if n.is_none() && self.events.heard(&message.name) && !self.shapes.messages.contains(message) {
            self.shapes.messages.push(message.clone());
            self.grown = true;
        }
        n
    }

    /// Puts an event into the internal queue, if anybody can react to it.
    pub fn enqueue(&mut self, message: &Message, data: &Sym) -> StmtId {
        let Some(n) = self.number_of(message) else { return self.terms.skip() };
        let plain = self.current.is_none();
        if let (Some(&s), true) = (self.known.get(&Made::Enqueue(n)), plain) {
            return s;
        }
        let stmt = self.append(&self.queue.clone(), n, data, Limit::Internal);
        if plain {
            self.known.insert(Made::Enqueue(n), stmt);
        }
        stmt
    }

    /// Puts an event behind those that wait in a queue.
    pub fn append(&mut self, queue: &[Slot], n: u32, data: &Sym, limit: Limit) -> StmtId {
        let (event, none) = (self.event_literal(n), self.event_literal(0));
        let mut stmt = self.overflows(limit);
        for slot in queue.iter().rev() {
            let (place, put) = (self.terms.var(slot.event), self.terms.assign(slot.event, event));
            let carried = self.carry(&slot.data, data);
            let put = self.terms.seq([put, carried]);
            let free = self.terms.eq(place, none);
            stmt = self.terms.branch(free, put, stmt);
        }
        stmt
    }

    /// Writes what an event carries.
    pub fn carry(&mut self, to: &Option<Store>, data: &Sym) -> StmtId {
        match to {
            Some(store) => self.write(store, data),
            None => self.terms.skip(),
        }
    }

    /// Moves what an event carries; from nowhere: nothing is there then.
    pub fn move_data(&mut self, from: &Option<Store>, to: &Option<Store>) -> StmtId {
        let Some(to) = to else { return self.terms.skip() };
        let from = from.as_ref().map(Store::all);
        let mut parts = vec![];
        for (n, v) in to.all().into_iter().enumerate() {
            let value = match &from {
                Some(from) => self.terms.var(from[n]),
                None => self.none_of(v),
            };
            parts.push(self.terms.assign(v, value));
        }
        self.terms.seq(parts)
    }

    /// `done.state.ID`
    pub fn enqueue_done(&mut self, s: usize, data: &Sym) -> StmtId {
        self.enqueue(&Message::new(&events::done(self.tree, s), Source::Platform), data)
    }

    /// Raises `error.execution`; if a `<send>` is to blame, with its id.
    pub fn enqueue_error(&mut self, id: Option<&str>) -> StmtId {
        let nothing = self.constant(Kind::Undefined);
        let name = match self.session {
            0 => events::ERROR.to_string(),
            k => super::invoke::event_of(k, events::ERROR),
        };
        let message = Message { id: id.map(String::from), ..Message::new(&name, Source::Platform) };
        self.enqueue(&message, &nothing)
    }

    /// An event becomes the current one.
    pub fn take_in(&mut self, event: TermId, data: &Option<Store>) -> StmtId {
        let mut parts = vec![self.terms.assign(self.event, event)];
        if let Some(bound) = self.bound {
            parts.push(self.terms.assign(bound, event));
            parts.push(self.move_data(data, &self.current.clone()));
        }
        self.terms.seq(parts)
    }

    /// The first event in a queue becomes the current one.
    pub fn dequeue(&mut self, queue: &[Slot]) -> StmtId {
        let Some(first) = queue.first() else { return self.terms.skip() };
        let event = self.terms.var(first.event);
        let mut parts = vec![self.take_in(event, &first.data)];
        for pair in queue.windows(2) {
            let value = self.terms.var(pair[1].event);
            parts.push(self.terms.assign(pair[0].event, value));
            parts.push(self.move_data(&pair[1].data, &pair[0].data));
        }
        if let Some(last) = queue.last() {
            let none = self.event_literal(0);
            parts.push(self.terms.assign(last.event, none));
            parts.push(self.move_data(&None, &last.data));
        }
        self.terms.seq(parts)
    }
}
