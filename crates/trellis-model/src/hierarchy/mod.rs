//! Hierarchies of nodes with variables, events, priorities and synchronisation vectors: what AltaRica means (001 Ch. 2).
//!
//! A *component* is one occurrence of a node in the tree. Its *configurations* are the values of all variables at or below it that
//! satisfy all assertions there. State variables change by transitions; flow variables take any values that the assertions allow,
//! in every step. Every component can do nothing (ε, event 0), which leaves its state variables as they are.
//!
//! A *flat event* of a component says which event each component below takes part with: one vector of the component, and for each
//! sub-node one of its flat events that are labelled as the vector says. So sub-nodes that are asked for ε may do, side by side,
//! whatever they do unseen. Priorities take away, level by level from below, what could happen at the same time as something better:
//! a component knows only the assertions at or below itself when it decides (001 §2.2.2).
//!
//! Values are words: truth values 0 and 1, numbers, literals by their number in the one enumeration of all literals, because literals
//! of different enumerations may be compared.
//!
//! [`explicit`] is the meaning written plainly; [`symbolic`] the same on relations; [`flatten`] makes one node of all, as a
//! cross-check; [`tree`] are hierarchical transition systems (001 Ch. 5), each component a behaviour of its own. Nothing here is
//! flattened for good: the tree stays, with its vectors and priorities.

use std::fmt;

use trellis_expr::{EnumId, TermId, Terms, VarId};

pub mod automaton;
pub mod ctl;
pub mod evidence;
pub mod explicit;
mod flat;
pub mod flatten;
pub mod observe;
mod order;
pub mod plain;
pub mod symbolic;
pub mod tree;
pub mod walk;

pub use flat::{Choice, FlatEvent, FlatEvents, Levels, TooManyEvents};

/// A component of a [`Hierarchy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComponentId(pub u32);

impl ComponentId {
    /// As an index into a vector.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What values a variable may have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Truth values.
    Bool,
    /// All integers.
    Integer,
    /// Integers within bounds, both included.
    Range(i64, i64),
    /// Some literals.
    Literals(Vec<u32>),
}

impl Domain {
    /// How many values there are; `None` if infinitely many.
    pub fn size(&self) -> Option<u64> {
        match self {
            Domain::Bool => Some(2),
            Domain::Integer => None,
            Domain::Range(low, high) if low > high => Some(0),
            Domain::Range(low, high) => Some(low.abs_diff(*high).saturating_add(1)),
            Domain::Literals(all) => Some(all.len() as u64),
        }
    }

    /// Is this one of the values?
    pub fn contains(&self, value: i64) -> bool {
        match self {
            Domain::Bool => value == 0 || value == 1,
            Domain::Integer => true,
            Domain::Range(low, high) => (*low..=*high).contains(&value),
            Domain::Literals(all) => all.iter().any(|&l| i64::from(l) == value),
        }
    }

    /// All values in order, if there are no more than the limit.
    pub fn values(&self, limit: u64) -> Option<Vec<i64>> {
        if self.size()? > limit {
            return None;
        }
        Some(match self {
            Domain::Bool => vec![0, 1],
            Domain::Integer => return None,
            Domain::Range(low, high) => (*low..=*high).collect(),
            Domain::Literals(all) => all.iter().map(|&l| i64::from(l)).collect(),
        })
    }
}

/// A variable; its number is that of a variable of the terms.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name, with its path from the top.
    pub name: String,
    /// Its values.
    pub domain: Domain,
    /// Is it a flow?
    pub flow: bool,
    /// Whose it is.
    pub owner: ComponentId,
}

/// A transition of one component.
#[derive(Debug, Clone)]
pub struct Transition {
    /// Which event.
    pub event: usize,
    /// The condition under which it is possible.
    pub guard: TermId,
    /// What is assigned, all at once. A value outside its variable's domain means that the transition is not possible.
    pub updates: Vec<(VarId, TermId)>,
}

/// One place of a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which sub-node, by its position; `None` is the component itself.
    pub sub: Option<usize>,
    /// Which of its events.
    pub event: usize,
    /// May it be left out?
    pub optional: bool,
}

/// A synchronisation vector, as it is written.
#[derive(Debug, Clone)]
pub struct Vector {
    /// Who takes part; all others do ε.
    pub parts: Vec<Part>,
    /// How many of the optional ones take part, at least and at most.
    pub count: (usize, usize),
}

/// One occurrence of a node.
#[derive(Debug, Clone)]
pub struct Component {
    /// Its path from the top; empty for the top itself.
    pub path: String,
    /// The node's name.
    pub node: String,
    /// Its own variables.
    pub variables: Vec<VarId>,
    /// Its sub-nodes.
    pub subs: Vec<ComponentId>,
    /// Its events; the first is ε, and has an empty name.
    pub events: Vec<String>,
    /// Pairs of a lower and a higher event, transitively closed.
    pub priorities: Vec<(usize, usize)>,
    /// Its transitions; ε's is not among them.
    pub transitions: Vec<Transition>,
    /// What must always hold.
    pub assertion: Vec<TermId>,
    /// Initial values that it gives to its variables and to those below it.
    pub init: Vec<(VarId, TermId)>,
    /// Its vectors.
    pub vectors: Vec<Vector>,
}

/// A tree of components.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// Expressions.
    pub terms: Terms,
    /// All literals of all enumerations.
    pub literals: EnumId,
    /// Variables, by number.
    pub variables: Vec<Variable>,
    /// Components; those below come before those above.
    pub components: Vec<Component>,
    /// The top.
    pub top: ComponentId,
}

impl Hierarchy {
    /// A component.
    pub fn component(&self, c: ComponentId) -> &Component {
        &self.components[c.index()]
    }

    /// A variable.
    pub fn variable(&self, v: VarId) -> &Variable {
        &self.variables[v.index()]
    }

    /// The truth value that stands in a condition for being stuck (nothing but ε can happen), if the condition speaks of that.
    pub fn deadlock_in(&self, condition: TermId) -> Option<VarId> {
        let free = self.terms.free_vars(condition);
        self.deadlock().filter(|v| free.contains(v))
    }

    /// It is no variable of any component, and declared only when somebody asks for it.
    pub fn deadlock(&self) -> Option<VarId> {
        let mut others = self.terms.variables().skip(self.variables.len());
        others.find(|(_, declared)| declared.name == "deadlock").map(|(v, _)| v)
    }

    /// The variables at or below a component: its own first.
    pub fn variables_below(&self, c: ComponentId) -> Vec<VarId> {
        let component = self.component(c);
        let mut all = component.variables.clone();
        for &sub in &component.subs {
            all.extend(self.variables_below(sub));
        }
        all
    }

    /// Initial values at or below a component: what is above overrides what is below.
    pub fn initial(&self, c: ComponentId) -> Vec<(VarId, TermId)> {
        let component = self.component(c);
        let mut all: Vec<(VarId, TermId)> = component.subs.iter().flat_map(|&sub| self.initial(sub)).collect();
        for &(v, value) in &component.init {
            all.retain(|(w, _)| *w != v);
            all.push((v, value));
        }
        all
    }

    /// How a value of a variable is written.
    pub fn show_value(&self, v: VarId, value: i64) -> String {
        match self.variable(v).domain {
            Domain::Bool => (value != 0).to_string(),
            Domain::Literals(_) => {
                let literals = &self.terms.enumeration(self.literals).literals;
                usize::try_from(value).ok().and_then(|n| literals.get(n)).cloned().unwrap_or_else(|| value.to_string())
            }
            _ => value.to_string(),
        }
    }

    /// Does any component have priorities, or vectors that prefer more to fewer?
    pub fn has_priorities(&self) -> bool {
        let broadcasts = |c: &Component| c.vectors.iter().any(|v| v.parts.iter().any(|p| p.optional));
        self.components.iter().any(|c| !c.priorities.is_empty() || broadcasts(c))
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { write!(f, "{}", self.node) } else { write!(f, "{} : {}", self.path, self.node) }
    }
}
