//! A statechart as it is written, names resolved.
//!
//! States stand in document order, so that the descendants of a state are the numbers after it up to its `end`. State 0 is
//! the `<scxml>` element itself.

use std::ops::Range;

use super::expr::Expr;
use crate::diag::Span;

/// What an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `<scxml>`; behaves like a compound state.
    Root,
    /// `<state>`: compound if it has children, atomic otherwise.
    State,
    Parallel,
    Final,
}

/// A state.
#[derive(Debug, Clone)]
pub struct State {
    pub name: String,
    pub kind: Kind,
    pub parent: usize,
    /// One past the last descendant.
    pub end: usize,
    /// The child states; histories are not among them.
    pub children: Vec<usize>,
    pub histories: Vec<usize>,
    /// Each `<onentry>` is a block of its own.
    pub entry: Vec<Block>,
    pub exit: Vec<Block>,
    pub transitions: Vec<usize>,
    /// Of a compound state: where it starts, and what is done then.
    pub initial: Vec<Target>,
    pub initial_content: Block,
    /// Of a final state: `<donedata>`.
    pub done: Payload,
    pub span: Span,
}

/// `<history>`
#[derive(Debug, Clone)]
pub struct History {
    pub name: String,
    pub parent: usize,
    pub deep: bool,
    pub default: Vec<Target>,
    pub content: Block,
    pub span: Span,
}

/// Where a transition leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    State(usize),
    History(usize),
}

/// `<transition>`
#[derive(Debug, Clone)]
pub struct Transition {
    pub source: usize,
    /// The event descriptors, without `.*` at their ends; `*` alone is the empty one. None: an eventless transition.
    pub events: Option<Vec<String>>,
    pub cond: Option<Expr>,
    pub targets: Vec<Target>,
    pub internal: bool,
    pub content: Block,
}

/// Executable content.
pub type Block = Vec<Action>;

/// One element of executable content, or one statement of a script.
#[derive(Debug, Clone)]
pub enum Action {
    Assign {
        to: Expr,
        expr: Expr,
        /// May it make a new variable?
        create: bool,
    },
    /// `var x`: if there is no such variable yet, it is undefined.
    Declare(String),
    If {
        branches: Vec<(Expr, Block)>,
        otherwise: Block,
        /// In a script: then an error in the condition ends it.
        script: bool,
    },
    Raise(String),
    Send(Box<Send>),
    /// What was sent with this id and has not come yet is taken back.
    Cancel(Expr),
    Foreach {
        array: Expr,
        /// None: what is written there is no name.
        item: Option<String>,
        index: Option<String>,
        body: Block,
    },
    /// Changes nothing, unless what it is to say has no value.
    Log(Expr),
}

/// `<send>`
#[derive(Debug, Clone)]
pub struct Send {
    pub event: Expr,
    pub target: Option<Expr>,
    pub processor: Option<Expr>,
    pub id: Option<String>,
    /// Where the id is written to.
    pub idlocation: Option<Expr>,
    pub delay: Delay,
    pub data: Payload,
    /// The invoked chart that it goes to, and the one that it comes from, to its parent; from 1.
    pub to: Option<usize>,
    pub from: Option<usize>,
    pub span: Span,
}

/// `<invoke>`, with the chart put beside the one that invokes it.
#[derive(Debug, Clone)]
pub struct Invoke {
    /// The state that invokes it.
    pub state: usize,
    pub id: String,
    pub idlocation: Option<Expr>,
    pub processor: Option<Expr>,
    /// What its data start with.
    pub params: Vec<(String, Expr)>,
    pub autoforward: bool,
    pub finalize: Block,
    /// Its region, and the states in which it does not run and runs.
    pub region: usize,
    pub off: usize,
    pub run: usize,
}

/// What an event carries.
#[derive(Debug, Clone, Default)]
pub enum Payload {
    #[default]
    None,
    /// `<param>`s and `namelist`
    Fields(Vec<(String, Expr)>),
    /// `<content>`
    Content(Expr),
}

impl Payload {
    /// The expressions in it.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Payload::None => vec![],
            Payload::Fields(fields) => fields.iter().map(|(_, e)| e).collect(),
            Payload::Content(e) => vec![e],
        }
    }
}

/// How long a `<send>` waits.
#[derive(Debug, Clone)]
pub enum Delay {
    /// So many microseconds.
    Fixed(u64),
    /// What the expression says then: a symbol such as `'1s'`.
    Computed(Expr),
}

/// How many microseconds a time of W3C's is: a number, with or without a fraction, and `s` or `ms`.
pub fn microseconds(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let (number, places) = match text.strip_suffix("ms") {
        Some(number) => (number, 3),
        None => (text.strip_suffix('s')?, 6),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let empty = whole.is_empty() && fraction.is_empty() || number.ends_with('.');
    if empty || !digits(whole) || !digits(fraction) || fraction.len() > places || whole.len() > 9 {
        return None;
    }
    format!("{whole}{fraction:0<places$}").parse().ok()
}

/// `<data>`
#[derive(Debug, Clone)]
pub struct Data {
    pub name: String,
    pub span: Span,
    /// None: it is undefined.
    pub expr: Option<Expr>,
    /// In which state it is declared.
    pub state: usize,
    /// The attribute `trellis:type`.
    pub ty: Option<DataType>,
}

/// A type as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataType {
    Bool,
    Int,
    Range(i64, i64),
    Enum(Vec<String>),
}

/// A statechart.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    pub states: Vec<State>,
    pub histories: Vec<History>,
    pub transitions: Vec<Transition>,
    pub data: Vec<Data>,
    /// `binding="late"`: what is declared in a state gets its value when that is entered for the first time.
    pub late: bool,
    /// The attribute `name`.
    pub name: Option<String>,
    /// What `<script>`s do when the chart is loaded.
    pub script: Block,
    /// The attribute `trellis:events`: all that comes from outside.
    pub events: Option<Vec<String>>,
    /// The attribute `trellis:queue`.
    pub queue: Option<usize>,
    /// The attribute `trellis:external`.
    pub external: Option<usize>,
    /// The attribute `trellis:timers`.
    pub timers: Option<usize>,
    /// The properties in the file.
    pub properties: Vec<Expr>,
    /// The outermost state of the chart itself: the root, unless it invokes others.
    pub main: usize,
    /// The charts that it invokes.
    pub invokes: Vec<Invoke>,
}

impl Tree {
    /// Is it a state with child states of which one is active?
    pub fn is_compound(&self, s: usize) -> bool {
        let state = &self.states[s];
        matches!(state.kind, Kind::Root | Kind::State) && !state.children.is_empty()
    }

    pub fn is_parallel(&self, s: usize) -> bool {
        self.states[s].kind == Kind::Parallel
    }

    /// Has it no child states? A final state counts.
    pub fn is_atomic(&self, s: usize) -> bool {
        self.states[s].children.is_empty()
    }

    /// The proper descendants.
    pub fn below(&self, s: usize) -> Range<usize> {
        s + 1..self.states[s].end
    }

    /// The proper ancestors, the nearest first.
    pub fn above(&self, s: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(s), |&s| (s > 0).then(|| self.states[s].parent)).skip(1)
    }

    /// Is one of the states the other, or below it?
    pub fn comparable(&self, a: usize, b: usize) -> bool {
        a == b || self.below(a).contains(&b) || self.below(b).contains(&a)
    }

    /// The state a target is, or the parent of the history it is.
    pub fn anchor(&self, target: Target) -> usize {
        match target {
            Target::State(s) => s,
            Target::History(h) => self.histories[h].parent,
        }
    }

    /// Does the state lie strictly above all that the target stands for?
    pub fn contains(&self, s: usize, target: Target) -> bool {
        match target {
            Target::State(t) => self.below(s).contains(&t),
            Target::History(h) => s == self.histories[h].parent || self.below(s).contains(&self.histories[h].parent),
        }
    }

    /// W3C's `getTransitionDomain`: the state below which everything is left. None for a transition without a target.
    ///
    /// It is the same whatever a history remembers, because a transition into the history of a state that it is deep inside of is
    /// refused.
    pub fn domain(&self, t: &Transition) -> Option<usize> {
        if t.targets.is_empty() {
            return None;
        }
        let has = |&s: &usize| t.targets.iter().all(|&target| self.contains(s, target));
        if t.internal && self.is_compound(t.source) && has(&t.source) {
            return Some(t.source);
        }
        self.above(t.source).filter(|&s| self.is_compound(s)).find(has)
    }

    /// Does the descriptor match the event? It is the event, or its first tokens.
    pub fn matches(descriptor: &str, event: &str) -> bool {
        match event.strip_prefix(descriptor) {
            // Events of invoked charts are nobody else's.
            Some(_) if descriptor.is_empty() => !event.starts_with('@'),
            Some(rest) => rest.is_empty() || rest.starts_with('.'),
            None => false,
        }
    }
}

impl Tree {
    /// All executable content.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let states =
            self.states.iter().flat_map(|s| s.entry.iter().chain(&s.exit).chain(std::iter::once(&s.initial_content)));
        let histories = self.histories.iter().map(|h| &h.content);
        let script = std::iter::once(&self.script).chain(self.invokes.iter().map(|i| &i.finalize));
        states.chain(histories).chain(self.transitions.iter().map(|t| &t.content)).chain(script)
    }

    /// All executable content, element by element, what is inside of `<if>` and `<foreach>` included.
    pub fn actions(&self) -> Vec<&Action> {
        fn inside<'a>(block: &'a Block, all: &mut Vec<&'a Action>) {
            for action in block {
                all.push(action);
                match action {
                    Action::If { branches, otherwise, .. } => {
                        branches.iter().for_each(|(_, block)| inside(block, all));
                        inside(otherwise, all);
                    }
                    Action::Foreach { body, .. } => inside(body, all),
                    _ => {}
                }
            }
        }
        let mut all = vec![];
        self.blocks().for_each(|block| inside(block, &mut all));
        all
    }

    /// All expressions but those of properties, and whether names of variables in them are written to.
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut all: Vec<&Expr> = self.data.iter().filter_map(|d| d.expr.as_ref()).collect();
        all.extend(self.transitions.iter().filter_map(|t| t.cond.as_ref()));
        all.extend(self.states.iter().flat_map(|s| s.done.parts()));
        for i in &self.invokes {
            all.extend(i.params.iter().map(|(_, e)| e).chain(&i.idlocation).chain(&i.processor));
        }
        for action in self.actions() {
            match action {
                Action::Assign { to, expr, .. } => all.extend([to, expr]),
                Action::If { branches, .. } => all.extend(branches.iter().map(|(cond, _)| cond)),
                Action::Send(send) => {
                    all.push(&send.event);
                    all.extend([&send.target, &send.processor, &send.idlocation].into_iter().flatten());
                    all.extend(send.data.parts());
                    if let Delay::Computed(e) = &send.delay {
                        all.push(e);
                    }
                }
                Action::Cancel(e) | Action::Log(e) => all.push(e),
                Action::Foreach { array, .. } => all.push(array),
                Action::Raise(_) | Action::Declare(_) => {}
            }
        }
        all
    }
}
