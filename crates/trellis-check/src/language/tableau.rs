//! A tableau of a formula: a Büchi automaton of the words that satisfy it, made by the rules of Gerth, Peled, Vardi and Wolper (PSTV
//! 1995) with marks on edges (Couvreur, FM 1999).
//!
//! A state is a set of formulas that hold from here on; an edge is one way to make them hold, a cube for now and a set for the rest.
//! Every `a U b` has a mark, and an edge has it unless it puts the until off. Nothing is simplified that the proof would have to
//! believe; states from which nothing is accepted are taken out, and states with the same edges are one.
//!
//! A tableau may be *decisive*: where there are two ways, the second one says that the first is not taken because it does not hold
//! (`¬b ∧ a ∧ X(a U b)`). Then there is one run for each word, and its states know more of what will come; whoever follows has it easier.
//! It may even be *prophetic*, and decide at every step which of all temporal parts of the formula hold, now and next.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_model::ltl::{Buchi, Cube, Edge, Formula, MAX_ATOMS, components};

use super::Failure;

/// More states or more ways than this, and the tableau is given up.
const MAX_STATES: usize = 4_000;
const MAX_EDGES: usize = 200_000;
const MAX_WORK: usize = 4_000_000;

type Id = u32;

/// How much the states of a tableau say of what will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Foresight {
    /// What must hold, and nothing else.
    Plain,
    /// Of two ways, why the second is taken.
    Decisive,
    /// Which temporal parts of the formula hold.
    Prophetic,
}

/// A formula in negation normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    True,
    False,
    Literal(u32, bool),
    And(Id, Id),
    Or(Id, Id),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

/// One way to make some formulas hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Way {
    cube: Cube,
    /// What must hold next, sorted.
    next: Vec<Id>,
    /// Which untils are put off.
    put_off: u64,
}

/// What is left to do on one way.
#[derive(Clone, Default)]
struct Open {
    todo: Vec<Id>,
    done: Vec<Id>,
    cube: Cube,
    next: Vec<Id>,
    put_off: u64,
}

struct Tableau {
    nodes: Vec<Node>,
    numbers: FxHashMap<Node, Id>,
    negations: FxHashMap<Id, Id>,
    /// The number of the mark of an until.
    marks: FxHashMap<Id, u32>,
    decisive: bool,
    /// What is decided at every step: something, or its negation.
    decided: Vec<Id>,
    work: usize,
}

/// The tableau of a formula, or of its negation.
pub fn tableau(formula: &Formula, negated: bool, foresight: Foresight) -> Result<Buchi, Failure> {
    let mut t = Tableau {
        nodes: vec![],
        numbers: FxHashMap::default(),
        negations: FxHashMap::default(),
        marks: FxHashMap::default(),
        decisive: foresight >= Foresight::Decisive,
        decided: vec![],
        work: 0,
    };
    let top = t.add(formula, !negated, &mut FxHashMap::default())?;
    if foresight == Foresight::Prophetic {
        for id in 0..t.nodes.len() as Id {
            if matches!(t.nodes[id as usize], Node::Next(_) | Node::Until(..) | Node::Release(..)) {
                let next = t.node(Node::Next(id));
                for id in [id, next] {
                    let other = t.not(id);
                    let either = t.node(Node::Or(id, other));
                    t.decided.push(either);
                }
            }
        }
    }
    Ok(merged(&trimmed(&t.automaton(top)?)))
}

impl Tableau {
    fn node(&mut self, node: Node) -> Id {
        *self.numbers.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.nodes.len() as Id - 1
        })
    }

    fn spend(&mut self) -> Result<(), Failure> {
        self.work += 1;
        if self.work > MAX_WORK { Err(Failure) } else { Ok(()) }
    }

    /// The normal form. A formula may occur below many; each is looked at once with each sign.
    fn add(
        &mut self,
        f: &Formula,
        yes: bool,
        known: &mut FxHashMap<(*const Formula, bool), Id>,
    ) -> Result<Id, Failure> {
        use Formula as F;
        let key = (std::ptr::from_ref(f), yes);
        if let Some(&id) = known.get(&key) {
            return Ok(id);
        }
        let both = |t: &mut Tableau, known: &mut _, a: &F, b: &F, ya: bool, yb: bool| -> Result<(Id, Id), Failure> {
            Ok((t.add(a, ya, known)?, t.add(b, yb, known)?))
        };
        let node = match (f, yes) {
            (F::True, true) | (F::False, false) => Node::True,
            (F::True, false) | (F::False, true) => Node::False,
            (F::Atom(n), _) if *n as usize >= MAX_ATOMS => return Err(Failure),
            (F::Atom(n), _) => Node::Literal(*n, yes),
            (F::Not(a), _) => return self.add(a, !yes, known),
            (F::And(a, b), true) => {
                let (a, b) = both(self, known, a, b, true, true)?;
                Node::And(a, b)
            }
            (F::And(a, b), false) => {
                let (a, b) = both(self, known, a, b, false, false)?;
                Node::Or(a, b)
            }
            (F::Or(a, b), true) => {
                let (a, b) = both(self, known, a, b, true, true)?;
                Node::Or(a, b)
            }
            (F::Or(a, b), false) => {
                let (a, b) = both(self, known, a, b, false, false)?;
                Node::And(a, b)
            }
            (F::Implies(a, b), true) => {
                let (a, b) = both(self, known, a, b, false, true)?;
                Node::Or(a, b)
            }
            (F::Implies(a, b), false) => {
                let (a, b) = both(self, known, a, b, true, false)?;
                Node::And(a, b)
            }
            (F::Iff(a, b), _) => {
                // Both, or neither; with a negation: one of them.
                let (a1, b1) = both(self, known, a, b, true, yes)?;
                let (a0, b0) = both(self, known, a, b, false, !yes)?;
                let (first, second) = (self.node(Node::And(a1, b1)), self.node(Node::And(a0, b0)));
                Node::Or(first, second)
            }
            (F::Next(a), _) => Node::Next(self.add(a, yes, known)?),
            (F::Finally(a), true) | (F::Globally(a), false) => {
                let (t, a) = (self.node(Node::True), self.add(a, yes, known)?);
                Node::Until(t, a)
            }
            (F::Globally(a), true) | (F::Finally(a), false) => {
                let (f, a) = (self.node(Node::False), self.add(a, yes, known)?);
                Node::Release(f, a)
            }
            (F::Until(a, b), true) | (F::Release(a, b), false) => {
                let (a, b) = both(self, known, a, b, yes, yes)?;
                Node::Until(a, b)
            }
            (F::Release(a, b), true) | (F::Until(a, b), false) => {
                let (a, b) = both(self, known, a, b, yes, yes)?;
                Node::Release(a, b)
            }
            // a W b = b R (a ∨ b), a M b = b U (a ∧ b), and their negations.
            (F::WeakUntil(a, b), true) => {
                let (a, b) = both(self, known, a, b, true, true)?;
                let either = self.node(Node::Or(a, b));
                Node::Release(b, either)
            }
            (F::WeakUntil(a, b), false) => {
                let (a, b) = both(self, known, a, b, false, false)?;
                let neither = self.node(Node::And(a, b));
                Node::Until(b, neither)
            }
            (F::StrongRelease(a, b), true) => {
                let (a, b) = both(self, known, a, b, true, true)?;
                let all = self.node(Node::And(a, b));
                Node::Until(b, all)
            }
            (F::StrongRelease(a, b), false) => {
                let (a, b) = both(self, known, a, b, false, false)?;
                let some = self.node(Node::Or(a, b));
                Node::Release(b, some)
            }
        };
        let id = self.node(node);
        known.insert(key, id);
        Ok(id)
    }

    fn not(&mut self, id: Id) -> Id {
        if let Some(&known) = self.negations.get(&id) {
            return known;
        }
        let node = match self.nodes[id as usize] {
            Node::True => Node::False,
            Node::False => Node::True,
            Node::Literal(n, yes) => Node::Literal(n, !yes),
            Node::And(a, b) => Node::Or(self.not(a), self.not(b)),
            Node::Or(a, b) => Node::And(self.not(a), self.not(b)),
            Node::Next(a) => Node::Next(self.not(a)),
            Node::Until(a, b) => Node::Release(self.not(a), self.not(b)),
            Node::Release(a, b) => Node::Until(self.not(a), self.not(b)),
        };
        let negation = self.node(node);
        self.negations.insert(id, negation);
        negation
    }

    /// Adds what must hold next; conjunctions in parts. False if that is impossible.
    fn later(&self, next: &mut Vec<Id>, id: Id) -> bool {
        match self.nodes[id as usize] {
            Node::True => true,
            Node::False => false,
            Node::And(a, b) => self.later(next, a) && self.later(next, b),
            _ => {
                if !next.contains(&id) {
                    next.push(id);
                }
                true
            }
        }
    }

    fn mark(&mut self, until: Id) -> Result<u64, Failure> {
        let count = self.marks.len() as u32;
        let mark = *self.marks.entry(until).or_insert(count);
        if mark >= 63 { Err(Failure) } else { Ok(1 << mark) }
    }

    /// All ways to make a set of formulas hold.
    fn ways(&mut self, state: &[Id]) -> Result<Vec<Way>, Failure> {
        let mut found: FxHashSet<Way> = FxHashSet::default();
        let todo = self.decided.iter().chain(state).copied().collect();
        let mut waiting = vec![Open { todo, ..Open::default() }];
        'ways: while let Some(mut w) = waiting.pop() {
            while let Some(id) = w.todo.pop() {
                self.spend()?;
                if w.done.contains(&id) {
                    continue;
                }
                if self.decisive && w.done.contains(&self.not(id)) {
                    continue 'ways;
                }
                w.done.push(id);
                match self.nodes[id as usize] {
                    Node::True => {}
                    Node::False => continue 'ways,
                    Node::Literal(n, true) => w.cube.positive |= 1 << n,
                    Node::Literal(n, false) => w.cube.negative |= 1 << n,
                    Node::And(a, b) => w.todo.extend([a, b]),
                    Node::Next(a) => {
                        if !self.later(&mut w.next, a) {
                            continue 'ways;
                        }
                    }
                    Node::Or(a, b) => {
                        if w.done.contains(&a) {
                            continue;
                        }
                        let mut other = w.clone();
                        other.todo.push(b);
                        if self.decisive {
                            other.todo.push(self.not(a));
                        }
                        waiting.push(other);
                        w.todo.push(a);
                    }
                    Node::Until(a, b) => {
                        if w.done.contains(&b) {
                            continue;
                        }
                        let mut other = w.clone();
                        other.todo.push(a);
                        if self.decisive {
                            other.todo.push(self.not(b));
                        }
                        other.put_off |= self.mark(id)?;
                        if self.later(&mut other.next, id) {
                            waiting.push(other);
                        }
                        w.todo.push(b);
                    }
                    Node::Release(a, b) => {
                        let mut other = w.clone();
                        other.todo.push(b);
                        if self.decisive {
                            other.todo.push(self.not(a));
                        }
                        if self.later(&mut other.next, id) {
                            waiting.push(other);
                        }
                        w.todo.extend([a, b]);
                    }
                }
                if w.cube.is_false() {
                    continue 'ways;
                }
            }
            w.next.sort_unstable();
            found.insert(Way { cube: w.cube, next: w.next, put_off: w.put_off });
            if found.len() > MAX_EDGES {
                return Err(Failure);
            }
        }
        let mut all: Vec<Way> = found.into_iter().collect();
        all.sort_by(|a, b| (a.next.len(), &a.next, a.put_off, a.cube).cmp(&(b.next.len(), &b.next, b.put_off, b.cube)));
        if self.decisive {
            return Ok(all);
        }
        // What asks for more than another way is not needed.
        let mut kept: Vec<Way> = vec![];
        for w in all {
            let less = |k: &Way| {
                w.cube.implies(k.cube)
                    && k.put_off & !w.put_off == 0
                    && k.next.iter().all(|id| w.next.binary_search(id).is_ok())
            };
            if !kept.iter().any(less) {
                kept.push(w);
            }
            self.spend()?;
        }
        Ok(kept)
    }

    fn automaton(&mut self, top: Id) -> Result<Buchi, Failure> {
        let mut first = vec![];
        if !self.later(&mut first, top) {
            return Ok(Buchi { initial: vec![], marks: 0, edges: vec![] });
        }
        first.sort_unstable();
        let mut numbers: FxHashMap<Vec<Id>, u32> = FxHashMap::from_iter([(first.clone(), 0)]);
        let mut states = vec![first];
        let (mut ways, mut count) = (vec![], 0);
        while let Some(state) = states.get(ways.len()).cloned() {
            let mut out = vec![];
            for w in self.ways(&state)? {
                let to = *numbers.entry(w.next).or_insert_with_key(|next| {
                    states.push(next.clone());
                    states.len() as u32 - 1
                });
                out.push((w.cube, w.put_off, to));
            }
            count += out.len();
            if states.len() > MAX_STATES || count > MAX_EDGES {
                return Err(Failure);
            }
            ways.push(out);
        }
        let marks = self.marks.len() as u32;
        let all = (1u64 << marks) - 1;
        let edge = |(cube, put_off, to): (Cube, u64, u32)| Edge { cube, marks: all & !put_off, to };
        let edges = ways.into_iter().map(|out| out.into_iter().map(edge).collect()).collect();
        Ok(Buchi { initial: vec![0], marks, edges })
    }
}

/// Without states that are not reached, or from which no word is accepted.
pub fn trimmed(a: &Buchi) -> Buchi {
    let component = components(a.edges.len(), |s| a.edges[s as usize].iter().map(|e| e.to).collect());
    let mut marks: FxHashMap<u32, u64> = FxHashMap::default();
    for (s, out) in a.edges.iter().enumerate() {
        for e in out.iter().filter(|e| component[e.to as usize] == component[s]) {
            *marks.entry(component[s]).or_default() |= e.marks;
        }
    }
    // Components are numbered such that edges lead to smaller numbers.
    let mut order: Vec<usize> = (0..a.edges.len()).collect();
    order.sort_by_key(|&s| component[s]);
    let mut alive: FxHashSet<u32> =
        marks.iter().filter(|(_, m)| **m & a.all_marks() == a.all_marks()).map(|(c, _)| *c).collect();
    for s in order {
        if a.edges[s].iter().any(|e| alive.contains(&component[e.to as usize])) {
            alive.insert(component[s]);
        }
    }
    let reached = a.reachable();
    let lives = |s: u32| reached[s as usize] && alive.contains(&component[s as usize]);
    let mut numbers = vec![0; a.edges.len()];
    let mut count = 0;
    for s in 0..a.edges.len() as u32 {
        numbers[s as usize] = count;
        count += u32::from(lives(s));
    }
    let moved = |e: &Edge| Edge { to: numbers[e.to as usize], ..*e };
    let kept = (0..a.edges.len() as u32).filter(|&s| lives(s));
    Buchi {
        initial: a.initial.iter().filter(|s| lives(**s)).map(|&s| numbers[s as usize]).collect(),
        marks: a.marks,
        edges: kept.map(|s| a.edges[s as usize].iter().filter(|e| lives(e.to)).map(moved).collect()).collect(),
    }
}

/// States with the same edges, up to such states, are one (bisimulation).
fn merged(a: &Buchi) -> Buchi {
    let mut class = vec![0u32; a.edges.len()];
    let mut count = 1;
    loop {
        let mut numbers: FxHashMap<(u32, Vec<Edge>), u32> = FxHashMap::default();
        let next: Vec<u32> = (0..a.edges.len())
            .map(|s| {
                let mut out: Vec<Edge> = a.edges[s].iter().map(|e| Edge { to: class[e.to as usize], ..*e }).collect();
                out.sort_unstable();
                out.dedup();
                let number = numbers.len() as u32;
                *numbers.entry((class[s], out)).or_insert(number)
            })
            .collect();
        class = next;
        if numbers.len() == count || a.edges.is_empty() {
            break;
        }
        count = numbers.len();
    }
    let mut edges: Vec<Vec<Edge>> = vec![vec![]; if a.edges.is_empty() { 0 } else { count }];
    for (s, out) in a.edges.iter().enumerate() {
        let target = &mut edges[class[s] as usize];
        if target.is_empty() {
            *target = out.iter().map(|e| Edge { to: class[e.to as usize], ..*e }).collect();
            target.sort_unstable();
            target.dedup();
        }
    }
    let mut initial: Vec<u32> = a.initial.iter().map(|&s| class[s as usize]).collect();
    initial.sort_unstable();
    initial.dedup();
    Buchi { initial, marks: a.marks, edges }
}
