//! Counter systems, hierarchies of nodes and ([`tree`]) hierarchical transition systems as control-flow automata, so that formulas can be asked about them like about any other.
//!
//! A letter is read at the start, and after each rule or flat event: a location of that name stands for it. Where nothing can happen, a run
//! stays as it is for ever. What is told apart, and proven, is what [`super::product`] and the engines of automata make of it.
//!
//! Deliberately not here: ε. A node that could do something does it.

pub mod tree;

use rustc_hash::FxHashSet;
use trellis_expr::{StmtId, TermId, Terms, Type, VarId};

use super::product::Subject;
use crate::cfa::{Cfa, Edge, Kind, Location, LocationId};
use crate::counter::{self, Interval};
use crate::hierarchy::Hierarchy;
use crate::hierarchy::automaton::{Statements, statements};
use crate::hierarchy::flatten::{flatten, stuck};

/// So many cases of a hierarchy's flows, and of one event's transitions, are written out.
const LIMIT: usize = 4096;

/// An automaton that goes round through one location.
struct Round {
    cfa: Cfa,
    states: LocationId,
    /// Edges that end something that has been read already.
    silent: Vec<usize>,
}

fn place(name: &str) -> Location {
    Location { name: name.into(), kind: Kind::Plain, place: None }
}

impl Round {
    fn new(terms: Terms, variables: Vec<VarId>, stmt: StmtId) -> Round {
        let mut cfa = Cfa::new(terms, place("start"));
        cfa.variables = variables;
        let states = cfa.add_location(place("states"));
        let from = cfa.initial;
        cfa.add_edge(Edge { from, stmt, to: states, place: None });
        Round { cfa, states, silent: vec![] }
    }

    fn add(&mut self, name: &str, stmts: Vec<StmtId>) {
        let there = self.cfa.add_location(place(name));
        let (stmt, back) = (self.cfa.terms.seq(stmts), self.cfa.terms.skip());
        self.cfa.add_edge(Edge { from: self.states, stmt, to: there, place: None });
        let e = self.cfa.add_edge(Edge { from: there, stmt: back, to: self.states, place: None });
        self.silent.push(e.index());
    }

    /// Assignments, all at once.
    fn at_once(&mut self, updates: &[(VarId, TermId)], stmts: &mut Vec<StmtId>) {
        let terms = &mut self.cfa.terms;
        let changed: FxHashSet<VarId> = updates.iter().map(|u| u.0).collect();
        let reads = |(v, e): &(VarId, TermId)| terms.free_vars(*e).iter().any(|x| x != v && changed.contains(x));
        if !updates.iter().any(reads) {
            stmts.extend(updates.iter().map(|&(v, e)| terms.assign(v, e)).collect::<Vec<_>>());
            return;
        }
        let mut then = vec![];
        for &(v, e) in updates {
            let declared = terms.variable(v).clone();
            let next = terms.declare(format!("@next {}", declared.name), declared.ty);
            self.cfa.variables.push(next);
            stmts.push(terms.assign(next, e));
            let value = terms.var(next);
            then.push(terms.assign(v, value));
        }
        stmts.extend(then);
    }

    fn subject(mut self, stuck: TermId) -> Subject {
        let stmt = self.cfa.terms.assume(stuck);
        self.add("nothing can happen", vec![stmt]);
        let mut subject = Subject::every_edge(self.cfa);
        self.silent.into_iter().for_each(|e| subject.reads[e] = false);
        Subject { stuck: Some(stuck), ..subject }
    }
}

/// A counter system.
pub fn counters(system: &counter::System) -> Subject {
    let mut terms = Terms::new();
    let variables: Vec<VarId> = system.names.iter().map(|n| terms.declare(n.as_str(), Type::Int)).collect();
    let within = |terms: &mut Terms, x: TermId, i: Interval, all: &mut Vec<TermId>| {
        let number = |terms: &mut Terms, n: u64| terms.big(n.into());
        let low = number(terms, i.low);
        all.push(terms.le(low, x));
        if let Some(high) = i.high {
            let high = number(terms, high);
            all.push(terms.le(x, high));
        }
    };
    let mut first = vec![];
    for (&v, &i) in variables.iter().zip(&system.initial) {
        let x = terms.var(v);
        within(&mut terms, x, i, &mut first);
    }
    let first = terms.and(first);
    let first = terms.assume(first);
    let mut round = Round::new(terms, variables.clone(), first);
    let mut possible = vec![];
    for (n, rule) in system.rules.iter().enumerate() {
        let terms = &mut round.cfa.terms;
        let mut when = vec![];
        for &(x, i) in &rule.guards {
            let x = terms.var(variables[x as usize]);
            within(terms, x, i, &mut when);
        }
        let mut updates = vec![];
        for (x, u) in &rule.updates {
            let mut sum: Vec<TermId> = u.sources.iter().map(|&s| terms.var(variables[s as usize])).collect();
            sum.push(terms.int(u.constant));
            let sum = terms.add(sum);
            if u.constant < 0 {
                let zero = terms.int(0);
                when.push(terms.le(zero, sum));
            }
            updates.push((variables[*x as usize], sum));
        }
        let when = terms.and(when);
        possible.push(when);
        let mut stmts = vec![terms.assume(when)];
        round.at_once(&updates, &mut stmts);
        let called = rule.name.clone().unwrap_or_else(|| format!("rule {}", n + 1));
        let name = rule.line.map_or_else(|| called.clone(), |line| format!("{called} (line {line})"));
        round.add(&name, stmts);
    }
    let any = round.cfa.terms.or(possible);
    let none = round.cfa.terms.not(any);
    round.subject(none)
}

/// A hierarchy of nodes, flattened; nothing if that is too large.
pub fn hierarchy(hierarchy: &Hierarchy) -> Option<Subject> {
    let flat = flatten(hierarchy, LIMIT)?;
    let Statements { mut terms, variables, start, steps } = statements(&flat)?;
    let stuck = stuck(&flat, &mut terms, LIMIT)?;
    let mut round = Round::new(terms, variables, start);
    for (event, stmt) in steps {
        round.add(&flat.component(flat.top).events[event], vec![stmt]);
    }
    Some(round.subject(stuck))
}
