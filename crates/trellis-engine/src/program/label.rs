//! Labels of abstract states: values of some variables, and what is known of some predicates.
//!
//! The values are one tuple; what is known of the predicates is a union of *cubes*, conjunctions of predicates and negated
//! predicates. Explicit, Cartesian and split abstraction need one cube only, boolean abstraction several.

use rustc_hash::FxHashMap;
use trellis_expr::defined::Defined;
use trellis_expr::{TermId, Terms, VarId};

/// A predicate or its negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal(u32);

impl Literal {
    /// The predicate, or not.
    pub fn new(predicate: u32, holds: bool) -> Literal {
        Literal(predicate << 1 | u32::from(!holds))
    }

    /// Which predicate.
    pub fn predicate(self) -> u32 {
        self.0 >> 1
    }

    /// Does it hold?
    pub fn holds(self) -> bool {
        self.0 & 1 == 0
    }
}

/// A conjunction, sorted.
pub type Cube = Vec<Literal>;

/// What is known in an abstract state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label {
    /// Values, as literals, sorted by variable.
    pub values: Vec<(VarId, TermId)>,
    /// At least one; an empty cube is everything.
    pub cubes: Vec<Cube>,
}

impl Label {
    /// Everything.
    pub fn top() -> Label {
        Label { values: vec![], cubes: vec![vec![]] }
    }

    /// The value of a variable.
    pub fn value(&self, v: VarId) -> Option<TermId> {
        self.values.binary_search_by_key(&v, |x| x.0).ok().map(|at| self.values[at].1)
    }

    /// Is every state of `self` plainly one of the other: does it know all that the other knows?
    pub fn is_within(&self, other: &Label) -> bool {
        other.values.iter().all(|&(v, t)| self.value(v) == Some(t)) && self.cubes_within(other)
    }

    /// The same, as far as predicates go.
    pub fn cubes_within(&self, other: &Label) -> bool {
        let subset = |a: &Cube, b: &Cube| a.len() <= b.len() && a.iter().all(|l| b.binary_search(l).is_ok());
        self.cubes.iter().all(|mine| other.cubes.iter().any(|theirs| subset(theirs, mine)))
    }

    /// Does it decide this predicate?
    pub fn decides(&self, predicate: u32) -> bool {
        self.cubes.iter().all(|c| c.iter().any(|l| l.predicate() == predicate))
    }

    /// As terms that all hold.
    pub fn assumptions(&self, terms: &mut Terms, predicates: &Predicates) -> Vec<TermId> {
        let mut all: Vec<TermId> = self.values.iter().map(|&(v, t)| equal(terms, v, t)).collect();
        match &self.cubes[..] {
            [cube] => all.extend(cube.iter().map(|&l| predicates.term(terms, l))),
            cubes => {
                let mut union = vec![];
                for cube in cubes {
                    let literals: Vec<TermId> = cube.iter().map(|&l| predicates.term(terms, l)).collect();
                    union.push(terms.and(literals));
                }
                all.push(terms.or(union));
            }
        }
        all
    }
}

/// `v = t`; of truth values, simply `v` or its negation.
pub fn equal(terms: &mut Terms, v: VarId, t: TermId) -> TermId {
    let var = terms.var(v);
    match terms.as_bool(t) {
        Some(true) => var,
        Some(false) => terms.not(var),
        None => terms.eq(var, t),
    }
}

/// The predicates of one exploration, numbered. They do not fault.
#[derive(Debug, Clone, Default)]
pub struct Predicates {
    list: Vec<TermId>,
    index: FxHashMap<TermId, u32>,
    defined: Defined,
}

impl Predicates {
    /// The number of a predicate, and whether it is its negation that is meant; none if it is trivial, or cannot be said.
    pub fn number(&mut self, terms: &mut Terms, t: TermId) -> Option<u32> {
        let t = self.defined.holds(terms, t).ok()?;
        if terms.as_bool(t).is_some() {
            return None;
        }
        let negated = terms.not(t);
        if let Some(&n) = self.index.get(&t).or_else(|| self.index.get(&negated)) {
            return Some(n);
        }
        let n = self.list.len() as u32;
        self.list.push(t);
        self.index.insert(t, n);
        Some(n)
    }

    /// The predicate.
    pub fn get(&self, n: u32) -> TermId {
        self.list[n as usize]
    }

    /// A literal as a term.
    pub fn term(&self, terms: &mut Terms, l: Literal) -> TermId {
        let t = self.get(l.predicate());
        if l.holds() { t } else { terms.not(t) }
    }
}
