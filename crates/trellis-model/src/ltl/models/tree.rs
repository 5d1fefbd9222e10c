//! Hierarchical transition systems as control-flow automata: a variable for the state of each node, and a step that is decided from the top.
//!
//! What a node offers is a term over the states at or below it, found from below as in [`crate::hierarchy::tree::offer`]. A step chooses a
//! vector that is offered, moves the node, then does the same below with the events that the vector asks for: a node's part is decided
//! before anything at or below it moves, so offers are always read in the old state. Flat events are written out, up to a limit.
//!
//! A step that every node takes part in by resting (an event without a name that changes nothing) is none: where something else can happen,
//! it does.

use rustc_hash::FxHashMap;
use trellis_expr::{StmtId, TermId, Terms, Type, VarId};

use super::Round;
use crate::hierarchy::tree::Tree;
use crate::ltl::product::Subject;

/// So many moves of nodes are written out in all.
const LIMIT: usize = 20_000;

/// A tree as an automaton.
#[derive(Debug, Clone)]
pub struct TreeSubject {
    /// The automaton.
    pub subject: Subject,
    /// For each node, the variable that is its state, and the value of each state.
    pub nodes: Vec<(VarId, Vec<TermId>)>,
}

/// How a node is called in formulas: the top has no name of its own.
pub fn name(tree: &Tree, node: usize) -> String {
    let taken = || tree.nodes().iter().any(|n| n.name == "top");
    match tree.nodes()[node].name.as_str() {
        "" if taken() => "<top>".into(),
        "" => "top".into(),
        name => name.into(),
    }
}

/// Who takes part in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All rest.
    Nobody,
    /// Not all rest.
    Somebody,
    Any,
}

struct Writer<'t> {
    tree: &'t Tree,
    terms: Terms,
    nodes: Vec<(VarId, Vec<TermId>)>,
    /// For each node and each of its vectors, when it is offered, and when so that not all rest.
    offered: Vec<Vec<(TermId, TermId)>>,
    /// For each node and event, whether it is to rest.
    rests: Vec<Vec<bool>>,
    left: usize,
}

/// The automaton of a tree; nothing if there are too many flat events to write them out.
pub fn tree(tree: &Tree) -> Option<TreeSubject> {
    let mut terms = Terms::new();
    let mut literals: Vec<String> = vec![];
    let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
    for state in tree.nodes().iter().flat_map(|n| &n.behaviour.states) {
        numbers.entry(state).or_insert_with(|| {
            literals.push(state.clone());
            literals.len() as u32 - 1
        });
    }
    // One type for all, so that a state is written the same in all nodes that have it.
    let all = terms.declare_enum("State", literals);
    let mut nodes = vec![];
    for (number, node) in tree.nodes().iter().enumerate() {
        let variable = terms.declare(name(tree, number), Type::Enum(all));
        nodes
            .push((variable, node.behaviour.states.iter().map(|s| terms.enum_lit(all, numbers[s.as_str()])).collect()));
    }
    let rests = |n: &crate::hierarchy::tree::Node| {
        let changes = |e: u32| (0..).zip(&n.behaviour.moves).any(|(q, all)| all.iter().any(|m| m.0 == e && m.1 != q));
        (0..).zip(&n.events).map(|(e, name)| name.is_empty() && !changes(e)).collect()
    };
    let rests = tree.nodes().iter().map(rests).collect();
    let mut w = Writer { tree, terms, nodes, offered: vec![], rests, left: LIMIT };
    (0..tree.nodes().len()).for_each(|node| w.offers(node));
    let start = w.start();
    let top = tree.top();
    let mut steps = vec![];
    for vector in 0..tree.nodes()[top].vectors.len() {
        if let Some(stmt) = w.vector(top, vector, Part::Somebody)? {
            steps.push((w.title(vector), stmt));
        }
    }
    let moving: Vec<TermId> = w.offered[top].iter().map(|o| o.1).collect();
    let moving = w.terms.or(moving);
    let stuck = w.terms.not(moving);
    let variables = w.nodes.iter().map(|n| n.0).collect();
    let mut round = Round::new(w.terms, variables, start);
    for (name, stmt) in steps {
        round.add(&name, vec![stmt]);
    }
    Some(TreeSubject { subject: round.subject(stuck), nodes: w.nodes })
}

impl Writer<'_> {
    fn is(&mut self, node: usize, state: u32) -> TermId {
        let (variable, values) = &self.nodes[node];
        let v = self.terms.var(*variable);
        self.terms.eq(v, values[state as usize])
    }

    fn start(&mut self) -> StmtId {
        let mut all = vec![];
        for (number, node) in self.tree.nodes().iter().enumerate() {
            let any: Vec<TermId> = node.behaviour.initial.iter().map(|&q| self.is(number, q)).collect();
            let any = self.terms.or(any);
            all.push(self.terms.assume(any));
        }
        self.terms.seq(all)
    }

    /// When a node offers each of its vectors (001 Lemma 5.7).
    fn offers(&mut self, number: usize) {
        let node = &self.tree.nodes()[number];
        let mut possible = vec![];
        for vector in &node.vectors {
            let states = 0..node.behaviour.states.len() as u32;
            let can: Vec<TermId> =
                states.filter(|&q| node.behaviour.can(q, vector[0])).map(|q| self.is(number, q)).collect();
            let (mut all, mut moving) = (vec![self.terms.or(can)], vec![]);
            for (&sub, &event) in node.subs.iter().zip(&vector[1..]) {
                let labelled: Vec<(TermId, TermId)> = self.with(sub, event).map(|v| self.offered[sub][v]).collect();
                all.push(self.terms.or(labelled.iter().map(|o| o.0)));
                moving.push(self.terms.or(labelled.iter().map(|o| o.1)));
            }
            let own = self.terms.bool(!self.rests[number][vector[0] as usize]);
            moving.push(own);
            let (all, moving) = (self.terms.and(all), self.terms.or(moving));
            possible.push((all, moving));
        }
        let mut offered = vec![];
        for (&(all, moving), higher) in possible.iter().zip(&node.higher) {
            let higher = self.terms.or(higher.iter().map(|&h| possible[h].0));
            let lower = self.terms.not(higher);
            let all = self.terms.and([all, lower]);
            offered.push((all, self.terms.and([all, moving])));
        }
        self.offered.push(offered);
    }

    /// The vectors of a node with an event.
    fn with(&self, node: usize, event: u32) -> impl Iterator<Item = usize> + use<'_> {
        let vectors = &self.tree.nodes()[node].vectors;
        (0..vectors.len()).filter(move |&v| vectors[v][0] == event)
    }

    /// A node and all that is below it do what a vector says. `None` if nothing does, nothing at all if it is too much to write.
    fn vector(&mut self, number: usize, vector: usize, part: Part) -> Option<Option<StmtId>> {
        let node = &self.tree.nodes()[number];
        let events = &node.vectors[vector];
        let rests = self.rests[number][events[0] as usize];
        if part == Part::Nobody && !rests {
            return Some(None);
        }
        // If not all may rest and the node does, one of its sub-nodes is the first that does not.
        let first: Vec<Option<usize>> = match part {
            Part::Somebody if rests => (0..node.subs.len()).map(Some).collect(),
            _ => vec![None],
        };
        let below = if part == Part::Nobody { Part::Nobody } else { Part::Any };
        let mut choices = vec![];
        for first in first {
            let offered = self.terms.assume(self.offered[number][vector].0);
            let mut all = Some(vec![offered, self.moves(number, events[0])?]);
            for (i, (&sub, &event)) in node.subs.iter().zip(&events[1..]).enumerate() {
                let part = match first {
                    Some(f) if i < f => Part::Nobody,
                    Some(f) if i == f => Part::Somebody,
                    _ => below,
                };
                let done = self.event(sub, event, part)?;
                all = all.zip(done).map(|(mut all, done)| {
                    all.push(done);
                    all
                });
            }
            if let Some(all) = all {
                choices.push(self.terms.seq(all));
            }
        }
        Some(self.one_of(choices))
    }

    fn event(&mut self, number: usize, event: u32, part: Part) -> Option<Option<StmtId>> {
        let vectors: Vec<usize> = self.with(number, event).collect();
        let mut choices = vec![];
        for v in vectors {
            choices.extend(self.vector(number, v, part)?);
        }
        Some(self.one_of(choices))
    }

    fn one_of(&mut self, choices: Vec<StmtId>) -> Option<StmtId> {
        (!choices.is_empty()).then(|| self.terms.choice(choices))
    }

    /// What an event does to the state of a node alone.
    fn moves(&mut self, number: usize, event: u32) -> Option<StmtId> {
        let behaviour = &self.tree.nodes()[number].behaviour;
        let mut choices = vec![];
        // States that the event does not change are taken together.
        let mut same = vec![];
        for q in 0..behaviour.states.len() as u32 {
            for to in behaviour.targets(q, event) {
                let here = self.is(number, q);
                if to == q {
                    same.push(here);
                    continue;
                }
                let (variable, value) = (self.nodes[number].0, self.nodes[number].1[to as usize]);
                let (when, set) = (self.terms.assume(here), self.terms.assign(variable, value));
                choices.push(self.terms.seq([when, set]));
            }
        }
        if !same.is_empty() {
            let same = self.terms.or(same);
            choices.push(self.terms.assume(same));
        }
        self.left = self.left.checked_sub(choices.len().max(1))?;
        let none = self.terms.bool(false);
        let none = self.terms.assume(none);
        Some(if choices.is_empty() { none } else { self.terms.choice(choices) })
    }

    /// How a vector of the top is written.
    fn title(&self, vector: usize) -> String {
        let top = &self.tree.nodes()[self.tree.top()];
        let events = &top.vectors[vector];
        let own = top.events[events[0] as usize].clone();
        let below = top.subs.iter().zip(&events[1..]).map(|(&sub, &e)| {
            let sub = &self.tree.nodes()[sub];
            (sub.events[e as usize].clone(), sub.name.clone())
        });
        let below = below.filter(|(event, _)| !event.is_empty()).map(|(event, name)| format!("{name}.{event}"));
        let all: Vec<String> = Some(own).filter(|o| !o.is_empty()).into_iter().chain(below).collect();
        if all.is_empty() { "further below".into() } else { format!("<{}>", all.join(", ")) }
    }
}
