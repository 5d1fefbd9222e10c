//! Acheck's properties: sets of reachable configurations and sets of transitions of a node, as they are meant.

use trellis_expr::TermId;

use crate::hierarchy::ComponentId;
use crate::mec::Fixpoint;

/// What a set has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Configurations.
    States,
    /// Transitions.
    Transitions,
}

/// A set.
#[derive(Debug, Clone)]
pub enum Set {
    /// One that was defined, or is being defined.
    Name(String),
    /// `any_s` or `any_t`: all that are reachable.
    Any(Of),
    /// `empty_s` or `empty_t`.
    Empty(Of),
    /// `initial`.
    Initial,
    /// `self`: transitions that lead back to where they start; if so said, those of ε only.
    Own(bool),
    /// `[condition]`.
    Condition(TermId),
    /// `label path`: transitions in which a component takes part with an event.
    Label(ComponentId, usize),
    /// Both.
    And(Box<Set>, Box<Set>),
    /// Either.
    Or(Box<Set>, Box<Set>),
    /// The first without the second.
    Minus(Box<Set>, Box<Set>),
    /// `src(T)`.
    Sources(Box<Set>),
    /// `tgt(T)`.
    Targets(Box<Set>),
    /// `rsrc(S)`: transitions that start there.
    From(Box<Set>),
    /// `rtgt(S)`: transitions that end there.
    To(Box<Set>),
    /// `reach(S, T)`.
    Reach(Box<Set>, Box<Set>),
    /// `coreach(S, T)`.
    Coreach(Box<Set>, Box<Set>),
    /// `trace(S, T, S)`: the transitions of one shortest way.
    Trace(Box<Set>, Box<Set>, Box<Set>),
}

/// A node that does what one of the sub-nodes does in some transitions.
#[derive(Debug, Clone)]
pub struct Projection {
    /// Its name.
    pub name: String,
    /// Which sub-node.
    pub of: ComponentId,
    /// An event is possible if, for some configuration outside, some transition is one of these.
    pub some: Set,
    /// Or, for some configuration outside, all transitions are some of these.
    pub all: Set,
}

/// One line of a specification; results may go to a file.
#[derive(Debug, Clone)]
pub enum Line {
    /// A definition.
    Define(String, Of, Fixpoint, Set),
    /// `show(x, y)`: how many there are in each.
    Show(Vec<String>, Option<String>),
    /// `test(x, n)`: are there so many?
    Test(String, u64, Option<String>),
    /// `dot(S, T)`: the configurations of the first, and the transitions of the second between them, drawn.
    Dot(Set, Set, Option<String>),
    /// `quot()`: the quotient by bisimulation, drawn.
    Quotient(Option<String>),
    /// `modes()`: the automaton of modes, drawn.
    Modes(Option<String>),
    /// `project(any_s, (T, T), 'name', true, path)`: a sub-node with guards from outside, written.
    Project(Projection, Option<String>),
}
