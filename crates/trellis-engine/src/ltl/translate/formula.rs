//! Formulas in negation normal form, each stored once, simplified as they are made.
//!
//! Only `&`, `|`, `X`, `U` and `R` are left; `F a` is `true U a`, `G a` is `false R a`. The rules are the usual ones (Somenzi and
//! Bloem 2000, Etessami and Holzmann 2000): *eventual* formulas, which hold before wherever they hold, *universal* ones, which
//! hold from then on, and implications that can be seen from the syntax. Each rule is written once, for `&` and `U`; `|` and `R`
//! get its dual by way of negation.

use rustc_hash::FxHashMap;
use trellis_model::ltl::Formula;

/// The number of a stored formula.
pub type Id = u32;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    True,
    False,
    /// An atom, or its negation.
    Literal(u32, bool),
    And(Vec<Id>),
    Or(Vec<Id>),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

pub const FALSE: Id = 0;
pub const TRUE: Id = 1;

pub struct Store {
    nodes: Vec<Node>,
    numbers: FxHashMap<Node, Id>,
    negations: FxHashMap<Id, Id>,
    implications: FxHashMap<(Id, Id), bool>,
}

impl Store {
    pub fn new() -> Store {
        let mut store = Store {
            nodes: vec![],
            numbers: FxHashMap::default(),
            negations: FxHashMap::default(),
            implications: FxHashMap::default(),
        };
        store.intern(Node::False);
        store.intern(Node::True);
        store
    }

    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.numbers.get(&node) {
            return id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    /// A formula, or its negation.
    pub fn add(&mut self, f: &Formula, positive: bool) -> Id {
        use Formula as F;
        let id = match f {
            F::True => TRUE,
            F::False => FALSE,
            F::Atom(n) => self.intern(Node::Literal(*n, true)),
            F::Not(a) => return self.add(a, !positive),
            F::And(a, b) => {
                let (a, b) = (self.add(a, true), self.add(b, true));
                self.and(vec![a, b])
            }
            F::Or(a, b) => {
                let (a, b) = (self.add(a, true), self.add(b, true));
                self.or(vec![a, b])
            }
            F::Implies(a, b) => {
                let (a, b) = (self.add(a, false), self.add(b, true));
                self.or(vec![a, b])
            }
            F::Iff(a, b) => {
                let (a, b) = (self.add(a, true), self.add(b, true));
                let (na, nb) = (self.not(a), self.not(b));
                let (both, neither) = (self.and(vec![a, b]), self.and(vec![na, nb]));
                self.or(vec![both, neither])
            }
            F::Next(a) => {
                let a = self.add(a, true);
                self.next(a)
            }
            F::Finally(a) => {
                let a = self.add(a, true);
                self.until(TRUE, a)
            }
            F::Globally(a) => {
                let a = self.add(a, true);
                self.release(FALSE, a)
            }
            F::Until(a, b) => {
                let (a, b) = (self.add(a, true), self.add(b, true));
                self.until(a, b)
            }
            F::WeakUntil(a, b) => {
                let (a, b) = (self.add(a, true), self.add(b, true));
                self.weak_until(a, b)
            }
            F::Release(a, b) => {
                let (a, b) = (self.add(a, true), self.add(b, true));
                self.release(a, b)
            }
            F::StrongRelease(a, b) => {
                let (a, b) = (self.add(a, true), self.add(b, true));
                let both = self.and(vec![a, b]);
                self.until(b, both)
            }
        };
        if positive { id } else { self.not(id) }
    }

    /// The negation, as it is: nothing is simplified, because the rules have duals.
    pub fn not(&mut self, id: Id) -> Id {
        if let Some(&n) = self.negations.get(&id) {
            return n;
        }
        let negation = match self.node(id).clone() {
            Node::True => FALSE,
            Node::False => TRUE,
            Node::Literal(n, positive) => self.intern(Node::Literal(n, !positive)),
            Node::And(all) => {
                let all = self.negated(&all);
                self.intern(Node::Or(all))
            }
            Node::Or(all) => {
                let all = self.negated(&all);
                self.intern(Node::And(all))
            }
            Node::Next(a) => {
                let a = self.not(a);
                self.intern(Node::Next(a))
            }
            Node::Until(a, b) => {
                let (a, b) = (self.not(a), self.not(b));
                self.intern(Node::Release(a, b))
            }
            Node::Release(a, b) => {
                let (a, b) = (self.not(a), self.not(b));
                self.intern(Node::Until(a, b))
            }
        };
        self.negations.insert(id, negation);
        self.negations.insert(negation, id);
        negation
    }

    fn negated(&mut self, all: &[Id]) -> Vec<Id> {
        let mut all: Vec<Id> = all.iter().map(|&x| self.not(x)).collect();
        all.sort_unstable();
        all
    }

    pub fn and(&mut self, parts: Vec<Id>) -> Id {
        let mut all = vec![];
        for x in parts {
            match self.node(x) {
                Node::And(inner) => all.extend_from_slice(inner),
                Node::True => {}
                _ => all.push(x),
            }
        }
        all.sort_unstable();
        all.dedup();
        for i in 0..all.len() {
            let negation = self.not(all[i]);
            if all[i] == FALSE || all[..i].iter().any(|&y| self.implies(y, negation)) {
                return FALSE;
            }
        }
        // What another one implies says nothing new.
        let mut kept: Vec<Id> = vec![];
        for &x in &all {
            if !kept.iter().any(|&y| self.implies(y, x)) {
                kept.retain(|&y| !self.implies(x, y));
                kept.push(x);
            }
        }
        if let Some(grouped) = self.group(&kept) {
            return self.and(grouped);
        }
        match kept[..] {
            [] => TRUE,
            [x] => x,
            _ => self.intern(Node::And(kept)),
        }
    }

    pub fn or(&mut self, parts: Vec<Id>) -> Id {
        let negated = parts.into_iter().map(|x| self.not(x)).collect();
        let both = self.and(negated);
        self.not(both)
    }

    /// A shorter conjunction: two of its parts in one.
    fn group(&mut self, all: &[Id]) -> Option<Vec<Id>> {
        for (i, &x) in all.iter().enumerate() {
            for &y in &all[i + 1..] {
                let one = match (self.node(x).clone(), self.node(y).clone()) {
                    (Node::Next(a), Node::Next(b)) => {
                        let both = self.and(vec![a, b]);
                        self.next(both)
                    }
                    // `G F a & G F b` has two marks on one state, which is better than what one formula would give.
                    (Node::Release(FALSE, a), Node::Release(FALSE, b))
                        if self.is_eventual(a) || self.is_eventual(b) =>
                    {
                        continue;
                    }
                    (Node::Release(l, a), Node::Release(m, b)) if l == m => {
                        let both = self.and(vec![a, b]);
                        self.release(l, both)
                    }
                    (Node::Until(TRUE, a), Node::Until(TRUE, b)) if self.is_universal(a) && self.is_universal(b) => {
                        let both = self.and(vec![a, b]);
                        self.until(TRUE, both)
                    }
                    (Node::Until(a, b), Node::Until(c, d)) if b == d => {
                        let both = self.and(vec![a, c]);
                        self.until(both, b)
                    }
                    // `(a R b) & F a`
                    (Node::Release(a, b), Node::Until(TRUE, c)) | (Node::Until(TRUE, c), Node::Release(a, b))
                        if a == c =>
                    {
                        let both = self.and(vec![a, b]);
                        self.until(b, both)
                    }
                    _ => continue,
                };
                let mut rest: Vec<Id> = all.iter().copied().filter(|&z| z != x && z != y).collect();
                rest.push(one);
                return Some(rest);
            }
        }
        None
    }

    pub fn next(&mut self, a: Id) -> Id {
        let constant = matches!(self.node(a), Node::True | Node::False);
        if constant || self.is_suspendable(a) { a } else { self.intern(Node::Next(a)) }
    }

    pub fn until(&mut self, a: Id, b: Id) -> Id {
        match self.shorter_until(a, b) {
            Some(simple) => simple,
            None => self.intern(Node::Until(a, b)),
        }
    }

    pub fn release(&mut self, a: Id, b: Id) -> Id {
        let (na, nb) = (self.not(a), self.not(b));
        match self.shorter_until(na, nb) {
            Some(simple) => self.not(simple),
            None => self.intern(Node::Release(a, b)),
        }
    }

    fn weak_until(&mut self, a: Id, b: Id) -> Id {
        let either = self.or(vec![a, b]);
        self.release(b, either)
    }

    /// Something simpler than `a U b` that says the same.
    fn shorter_until(&mut self, a: Id, b: Id) -> Option<Id> {
        if b == TRUE || a == FALSE || self.implies(a, b) || self.is_eventual(b) {
            return Some(b);
        }
        let not_b = self.not(b);
        if a != TRUE && self.implies(not_b, a) {
            return Some(self.until(TRUE, b));
        }
        let parts = self.node(b).clone();
        match &parts {
            Node::Until(c, _) if self.implies(a, *c) => return Some(b),
            Node::Until(_, d) if a == TRUE => return Some(self.until(TRUE, *d)),
            Node::Next(c) if a == TRUE => {
                let inner = self.until(TRUE, *c);
                return Some(self.next(inner));
            }
            Node::And(all) if a == TRUE => {
                // What does not depend on when it is asked need not be below the `F`.
                let (mut out, inside): (Vec<Id>, Vec<Id>) = all.iter().partition(|&&x| self.is_suspendable(x));
                if !out.is_empty() {
                    let inside = self.and(inside);
                    out.push(self.until(TRUE, inside));
                    return Some(self.and(out));
                }
            }
            Node::Or(all) if a == TRUE => {
                let (out, inside): (Vec<Id>, Vec<Id>) = all.iter().partition(|&&x| self.is_universal(x));
                if !out.is_empty() {
                    let inside = self.or(inside);
                    let mut all = vec![self.until(TRUE, inside)];
                    all.extend(out.into_iter().map(|x| self.until(TRUE, x)));
                    return Some(self.or(all));
                }
            }
            // `a U (b | G a)`
            Node::Or(all) if all.iter().any(|&x| *self.node(x) == Node::Release(FALSE, a)) => {
                let rest = all.iter().copied().filter(|&x| *self.node(x) != Node::Release(FALSE, a)).collect();
                let rest = self.or(rest);
                return Some(self.weak_until(a, rest));
            }
            _ => {}
        }
        match self.node(a).clone() {
            Node::Next(c) => {
                if let Node::Next(d) = parts {
                    let inner = self.until(c, d);
                    return Some(self.next(inner));
                }
            }
            // Before the first `b` there is no `b`.
            Node::Or(all) => {
                let rest: Vec<Id> = all.iter().copied().filter(|&x| !self.implies(x, b)).collect();
                if rest.len() < all.len() {
                    let rest = self.or(rest);
                    return Some(self.until(rest, b));
                }
            }
            Node::And(all) => {
                let rest: Vec<Id> = all.iter().copied().filter(|&x| !self.implies(not_b, x)).collect();
                if rest.len() < all.len() {
                    let rest = self.and(rest);
                    return Some(self.until(rest, b));
                }
            }
            _ => {}
        }
        None
    }

    /// Does it hold at all earlier moments too, wherever it holds?
    pub fn is_eventual(&self, id: Id) -> bool {
        match self.node(id) {
            Node::True | Node::False => true,
            Node::Literal(..) => false,
            Node::And(all) | Node::Or(all) => all.iter().all(|&x| self.is_eventual(x)),
            Node::Next(a) => self.is_eventual(*a),
            Node::Until(a, b) => *a == TRUE || self.is_eventual(*b),
            Node::Release(a, b) => self.is_eventual(*a) && self.is_eventual(*b),
        }
    }

    /// Does it hold from then on, wherever it holds?
    pub fn is_universal(&self, id: Id) -> bool {
        match self.node(id) {
            Node::True | Node::False => true,
            Node::Literal(..) => false,
            Node::And(all) | Node::Or(all) => all.iter().all(|&x| self.is_universal(x)),
            Node::Next(a) => self.is_universal(*a),
            Node::Release(a, b) => *a == FALSE || self.is_universal(*b),
            Node::Until(a, b) => self.is_universal(*a) && self.is_universal(*b),
        }
    }

    /// Does it hold always or never?
    fn is_suspendable(&self, id: Id) -> bool {
        self.is_eventual(id) && self.is_universal(id)
    }

    /// Can one see that the first implies the second?
    pub fn implies(&mut self, a: Id, b: Id) -> bool {
        if a == b || a == FALSE || b == TRUE {
            return true;
        }
        if a == TRUE || b == FALSE {
            return false;
        }
        if let Some(&known) = self.implications.get(&(a, b)) {
            return known;
        }
        let found = self.implies_by_left(a, b) || self.implies_by_right(a, b) || self.implies_by_both(a, b);
        self.implications.insert((a, b), found);
        found
    }

    fn implies_by_left(&mut self, a: Id, b: Id) -> bool {
        match self.node(a).clone() {
            Node::And(all) => all.iter().any(|&x| self.implies(x, b)),
            Node::Or(all) => all.iter().all(|&x| self.implies(x, b)),
            Node::Until(c, d) => self.implies(d, b) && (self.is_eventual(b) || self.implies(c, b)),
            Node::Release(_, d) => self.implies(d, b),
            Node::Next(c) => self.is_eventual(b) && self.implies(c, b),
            _ => false,
        }
    }

    fn implies_by_right(&mut self, a: Id, b: Id) -> bool {
        match self.node(b).clone() {
            Node::And(all) => all.iter().all(|&x| self.implies(a, x)),
            Node::Or(all) => all.iter().any(|&x| self.implies(a, x)),
            Node::Until(_, d) => self.implies(a, d),
            Node::Release(c, d) => self.implies(a, d) && (self.is_universal(a) || self.implies(a, c)),
            Node::Next(c) => self.is_universal(a) && self.implies(a, c),
            _ => false,
        }
    }

    fn implies_by_both(&mut self, a: Id, b: Id) -> bool {
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::Next(c), Node::Next(d)) => self.implies(c, d),
            (Node::Until(a, b), Node::Until(c, d)) | (Node::Release(a, b), Node::Release(c, d)) => {
                self.implies(a, c) && self.implies(b, d)
            }
            _ => false,
        }
    }
}
