//! Acheck's sets, evaluated again: by lists of the configurations and transitions that can be reached, found by
//! [`Reached`], and without relations. Only for models where these are not too many.
//!
//! A condition also holds for configurations that cannot be reached; how many there are of a set that may have such is not said.

use rustc_hash::FxHashMap;
use trellis_model::acheck::{Of, Set};
use trellis_model::hierarchy::ctl::Formula;
use trellis_model::mec::Fixpoint;

use crate::branching::Reached;

/// What is known of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    /// Which of the configurations; and whether it has no others, which cannot be reached.
    States(Vec<bool>, bool),
    /// Which of the transitions.
    Transitions(Vec<bool>),
    /// Some transitions, of which only is known how many they are.
    Way(u64),
    /// It is not known.
    Open,
}

/// The sets of a node.
pub struct Sets<'r, 'm> {
    reached: &'r Reached<'m>,
    defined: FxHashMap<String, Value>,
}

/// So often fixpoints are iterated.
const ROUNDS: usize = 100_000;

impl<'r, 'm> Sets<'r, 'm> {
    /// No sets so far.
    pub fn new(reached: &'r Reached<'m>) -> Sets<'r, 'm> {
        Sets { reached, defined: FxHashMap::default() }
    }

    /// Evaluates a definition, and remembers it.
    pub fn define(&mut self, name: &str, of: Of, fixpoint: Fixpoint, set: &Set) {
        let mut now = match (fixpoint, of) {
            (Fixpoint::Greatest, of) => self.any(of),
            (_, of) => self.empty(of),
        };
        for _ in 0..ROUNDS {
            if fixpoint != Fixpoint::None {
                self.defined.insert(name.into(), now.clone());
            }
            let next = self.value(set);
            if fixpoint == Fixpoint::None || next == now || next == Value::Open {
                self.defined.insert(name.into(), next);
                return;
            }
            now = next;
        }
        self.defined.insert(name.into(), Value::Open);
    }

    /// How many there are in a set that was defined; nothing if that is not known.
    pub fn cardinal(&self, name: &str) -> Option<u64> {
        let count = |set: &[bool]| set.iter().filter(|b| **b).count() as u64;
        match self.defined.get(name)? {
            Value::States(set, true) => Some(count(set)),
            Value::Transitions(set) => Some(count(set)),
            Value::Way(n) => Some(*n),
            Value::States(_, false) | Value::Open => None,
        }
    }

    fn any(&self, of: Of) -> Value {
        match of {
            Of::States => Value::States(vec![true; self.reached.len()], true),
            Of::Transitions => Value::Transitions(vec![true; self.reached.graph.transitions.len()]),
        }
    }

    fn empty(&self, of: Of) -> Value {
        match of {
            Of::States => Value::States(vec![false; self.reached.len()], true),
            Of::Transitions => Value::Transitions(vec![false; self.reached.graph.transitions.len()]),
        }
    }

    /// The transitions that satisfy something.
    fn those(&self, is_one: impl Fn(&(u32, usize, u32)) -> bool) -> Value {
        Value::Transitions(self.reached.graph.transitions.iter().map(is_one).collect())
    }

    /// The configurations at one end of some transitions.
    fn ends(&self, set: &Set, end: impl Fn(&(u32, usize, u32)) -> u32) -> Value {
        let Value::Transitions(t) = self.value(set) else { return Value::Open };
        let mut found = vec![false; self.reached.len()];
        let taken = self.reached.graph.transitions.iter().zip(t).filter(|(_, is)| *is);
        taken.for_each(|(t, _)| found[end(t) as usize] = true);
        Value::States(found, true)
    }

    fn both(&self, a: &Set, b: &Set, op: fn(bool, bool) -> bool, known: fn(bool, bool) -> bool) -> Value {
        let joined = |a: Vec<bool>, b: Vec<bool>| a.into_iter().zip(b).map(|(a, b)| op(a, b)).collect();
        match (self.value(a), self.value(b)) {
            (Value::States(a, known_a), Value::States(b, known_b)) => {
                Value::States(joined(a, b), known(known_a, known_b))
            }
            (Value::Transitions(a), Value::Transitions(b)) => Value::Transitions(joined(a, b)),
            _ => Value::Open,
        }
    }

    /// What is reached from a set by some transitions, or the other way round, step by step.
    fn closed(&self, s: &Set, t: &Set, back: bool) -> Value {
        let (Value::States(mut found, known), Value::Transitions(t)) = (self.value(s), self.value(t)) else {
            return Value::Open;
        };
        loop {
            let mut more = false;
            for (&(from, _, to), _) in self.reached.graph.transitions.iter().zip(&t).filter(|(_, is)| **is) {
                let (from, to) = if back { (to as usize, from as usize) } else { (from as usize, to as usize) };
                more |= found[from] && !std::mem::replace(&mut found[to], true);
            }
            if !more {
                return Value::States(found, known);
            }
        }
    }

    /// How many transitions a shortest way has; none if there is no way.
    fn way(&self, from: &Set, by: &Set, to: &Set) -> Value {
        let (Value::States(from, a), Value::Transitions(by), Value::States(to, b)) =
            (self.value(from), self.value(by), self.value(to))
        else {
            return Value::Open;
        };
        // From where to start and where to end, both out of reach, there may be a way without steps.
        if !a && !b {
            return Value::Open;
        }
        let (mut seen, mut length) = (to, 0);
        loop {
            if seen.iter().zip(&from).any(|(s, f)| *s && *f) {
                return Value::Way(length);
            }
            let mut more = seen.clone();
            for (&(from, _, to), _) in self.reached.graph.transitions.iter().zip(&by).filter(|(_, is)| **is) {
                more[from as usize] |= seen[to as usize];
            }
            if more == seen {
                return Value::Way(0);
            }
            (seen, length) = (more, length + 1);
        }
    }

    fn value(&self, set: &Set) -> Value {
        let of_states = |s: &Set| if let Value::States(set, _) = self.value(s) { Some(set) } else { None };
        match set {
            Set::Name(name) => match self.defined.get(name) {
                Some(Value::Way(_)) | None => Value::Open,
                Some(value) => value.clone(),
            },
            Set::Any(of) => self.any(*of),
            Set::Empty(of) => self.empty(*of),
            Set::Initial => {
                let mut found = vec![false; self.reached.len()];
                self.reached.graph.initial.iter().for_each(|&q| found[q as usize] = true);
                Value::States(found, true)
            }
            Set::Own(epsilon) => self.those(|(from, event, to)| from == to && (!epsilon || *event == 0)),
            Set::Condition(t) => Value::States(self.reached.holds(&Formula::Atom(*t)), false),
            Set::Label(c, event) => {
                let taken = self.reached.taking_part(*c, *event);
                self.those(|(_, flat, _)| taken.contains(flat))
            }
            Set::And(a, b) => self.both(a, b, |a, b| a && b, |a, b| a || b),
            Set::Or(a, b) => self.both(a, b, |a, b| a || b, |a, b| a && b),
            Set::Minus(a, b) => self.both(a, b, |a, b| a && !b, |a, _| a),
            Set::Sources(t) => self.ends(t, |t| t.0),
            Set::Targets(t) => self.ends(t, |t| t.2),
            Set::From(s) => of_states(s).map_or(Value::Open, |s| self.those(|t| s[t.0 as usize])),
            Set::To(s) => of_states(s).map_or(Value::Open, |s| self.those(|t| s[t.2 as usize])),
            Set::Reach(s, t) => self.closed(s, t, false),
            Set::Coreach(s, t) => self.closed(s, t, true),
            Set::Trace(from, by, to) => self.way(from, by, to),
        }
    }
}
