//! What is bad: a boolean formula whose atoms each speak of one node's state (001's own definition, that one node is in error, is a
//! disjunction of atoms).

/// A condition on the states of all nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// It always holds, or never.
    Constant(bool),
    /// The node is in one of some states.
    Local {
        /// Which node.
        node: usize,
        /// For each of its states, whether it is one of them.
        states: Vec<bool>,
    },
    /// It does not hold.
    Not(Box<Condition>),
    /// All hold.
    All(Vec<Condition>),
    /// Some hold.
    Any(Vec<Condition>),
}

impl Condition {
    /// Does it hold, if one can say so knowing what can be said of the atoms?
    pub fn known(&self, atom: &dyn Fn(usize, &[bool]) -> Option<bool>) -> Option<bool> {
        match self {
            Condition::Constant(b) => Some(*b),
            Condition::Local { node, states } => atom(*node, states),
            Condition::Not(a) => a.known(atom).map(|b| !b),
            Condition::All(all) => fold(all, false, atom),
            Condition::Any(all) => fold(all, true, atom),
        }
    }

    /// Does it hold in a state of the whole tree?
    pub fn holds(&self, state: &[u32]) -> bool {
        self.known(&|node, states| Some(states[state[node] as usize])) == Some(true)
    }

    /// All atoms.
    pub fn atoms(&self) -> Vec<(usize, &[bool])> {
        match self {
            Condition::Constant(_) => vec![],
            Condition::Local { node, states } => vec![(*node, states.as_slice())],
            Condition::Not(a) => a.atoms(),
            Condition::All(all) | Condition::Any(all) => all.iter().flat_map(Condition::atoms).collect(),
        }
    }
}

/// One that is `end` decides; if all are the opposite, so is the result.
fn fold(all: &[Condition], end: bool, atom: &dyn Fn(usize, &[bool]) -> Option<bool>) -> Option<bool> {
    let mut known = Some(!end);
    for c in all {
        match c.known(atom) {
            Some(b) if b == end => return Some(end),
            Some(_) => {}
            None => known = None,
        }
    }
    known
}
