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

/// One element of executable content.
#[derive(Debug, Clone)]
pub enum Action {
    Assign {
        name: String,
        span: Span,
        expr: Expr,
    },
    If {
        branches: Vec<(Expr, Block)>,
        otherwise: Block,
    },
    Raise(String),
    /// Into the chart's own external queue, now or later.
    Send {
        event: String,
        delay: Delay,
        id: Option<String>,
    },
    /// What was sent with this id and has not come yet is taken back.
    Cancel(String),
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
    pub expr: Expr,
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
            Some(rest) => descriptor.is_empty() || rest.is_empty() || rest.starts_with('.'),
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
        states.chain(histories).chain(self.transitions.iter().map(|t| &t.content))
    }

    /// All executable content, element by element, what is inside of `<if>` included.
    pub fn actions(&self) -> Vec<&Action> {
        fn inside<'a>(block: &'a Block, all: &mut Vec<&'a Action>) {
            for action in block {
                all.push(action);
                if let Action::If { branches, otherwise } = action {
                    branches.iter().for_each(|(_, block)| inside(block, all));
                    inside(otherwise, all);
                }
            }
        }
        let mut all = vec![];
        self.blocks().for_each(|block| inside(block, &mut all));
        all
    }
}
