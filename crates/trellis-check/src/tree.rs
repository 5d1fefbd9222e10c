//! Evidence about hierarchical transition systems: a run is taken step by step, a set of abstract states is checked to be a proof. Both
//! node by node; the product is never built.
//!
//! A certificate may use any covers. Whether a vector is suppressed in an abstract state need not be known, so what is *surely* possible and
//! what *may* be are told apart: a vector is left out only if a higher one is surely possible. That is sound whatever the covers are.
//! If it says that some nodes can be exchanged, that is checked first (`symmetric`); then tuples and traps with these nodes exchanged are
//! as good as those that are listed, because steps, what is initial and what is bad are mirrored.

use std::collections::{BTreeMap, BTreeSet};

use trellis_expr::{TermId, VarId};
use trellis_model::hierarchy::explicit::{holds, number, valuation};
use trellis_model::hierarchy::tree::detach::Detached;
use trellis_model::hierarchy::tree::evidence::{Certificate, Trace};
use trellis_model::hierarchy::tree::{Condition, Tree};
use trellis_model::hierarchy::{Hierarchy, plain};

use crate::hierarchy::Rejection;
use crate::siblings::{in_order, symmetric};

fn bad_run<T>(step: usize, text: &str) -> Result<T, Rejection> {
    Err(Rejection::Run(format!("step {step}: {text}")))
}

fn bad_proof<T>(text: &str) -> Result<T, Rejection> {
    Err(Rejection::Proof(text.into()))
}

/// Has each node of the tree the vectors and priorities of its component? They are computed anew, from what is written. (Of what is
/// merged the flat events are, by the one who lists them.)
pub fn same_vectors(hierarchy: &Hierarchy, detached: &Detached) -> Result<(), Rejection> {
    for (node, unit) in detached.tree.nodes().iter().zip(&detached.units).filter(|(_, unit)| !unit.merged) {
        let component = hierarchy.component(unit.component);
        let other = |what: &str| Err(Rejection::Events(format!("the {what} of {component} are different ones")));
        let rows = plain::rows(hierarchy, component).map_err(|e| Rejection::Events(e.to_string()))?;
        if !node.vectors.iter().map(|v| v.iter().map(|&e| e as usize).collect::<Vec<_>>()).eq(rows.iter().cloned()) {
            return other("vectors");
        }
        let rows = &rows;
        let higher = |low: usize| (0..rows.len()).filter(move |&high| plain::lower(component, rows, low, high));
        if !(0..rows.len()).all(|low| higher(low).eq(node.higher[low].iter().copied())) {
            return other("priorities");
        }
    }
    Ok(())
}

// Runs.

/// Is this a run from an initial state to a bad one?
pub fn replay(tree: &Tree, bad: &Condition, trace: &Trace) -> Result<(), Rejection> {
    let nodes = tree.nodes();
    if trace.states.len() != trace.steps.len() + 1 {
        return bad_run(0, "there must be one state more than steps");
    }
    for (at, state) in trace.states.iter().enumerate() {
        let fits = state.len() == nodes.len();
        if !fits || nodes.iter().zip(state).any(|(n, &q)| q as usize >= n.behaviour.states.len()) {
            return bad_run(at, "it is not a state of the tree");
        }
    }
    if nodes.iter().zip(&trace.states[0]).any(|(n, q)| !n.behaviour.initial.contains(q)) {
        return bad_run(0, "the first state is not initial");
    }
    for (at, vectors) in trace.steps.iter().enumerate() {
        let (from, to) = (&trace.states[at], &trace.states[at + 1]);
        if vectors.len() != nodes.len() || nodes.iter().zip(vectors).any(|(n, &v)| v as usize >= n.vectors.len()) {
            return bad_run(at, "a node has no such vector");
        }
        for (number, node) in nodes.iter().enumerate() {
            let vector = &node.vectors[vectors[number] as usize];
            if !node.behaviour.moves[from[number] as usize].contains(&(vector[0], to[number])) {
                return bad_run(at, &format!("`{}` does not move so", node.name));
            }
            let asked = |(&sub, &event): (&usize, &u32)| nodes[sub].vectors[vectors[sub] as usize][0] == event;
            if !node.subs.iter().zip(&vector[1..]).all(asked) {
                return bad_run(at, &format!("a sub-node of `{}` does something else than the vector says", node.name));
            }
            if !offered(tree, from, number).contains(&(vectors[number] as usize)) {
                return bad_run(at, &format!("something of higher priority is possible in `{}`", node.name));
            }
        }
    }
    match bad.holds(&trace.states[trace.steps.len()]) {
        true => Ok(()),
        false => bad_run(trace.steps.len(), "the last state is not what was looked for"),
    }
}

/// The vectors that a node offers, by Definition 5.1.
fn offered(tree: &Tree, state: &[u32], number: usize) -> Vec<usize> {
    let node = &tree.nodes()[number];
    let label = |sub: usize, v: usize| tree.nodes()[sub].vectors[v][0];
    let below: Vec<BTreeSet<u32>> =
        node.subs.iter().map(|&sub| offered(tree, state, sub).into_iter().map(|v| label(sub, v)).collect()).collect();
    let possible = |v: &usize| {
        let vector = &node.vectors[*v];
        node.behaviour.moves[state[number] as usize].iter().any(|m| m.0 == vector[0])
            && below.iter().zip(&vector[1..]).all(|(labels, e)| labels.contains(e))
    };
    let all: Vec<usize> = (0..node.vectors.len()).filter(possible).collect();
    all.iter().copied().filter(|&v| !node.higher[v].iter().any(|h| all.contains(h))).collect()
}

/// The same for a tree that was made of AltaRica's nodes: values, assertions, guards and updates are also evaluated in the model itself.
pub fn replay_nodes(
    hierarchy: &Hierarchy,
    detached: &Detached,
    question: (TermId, &Condition),
    trace: &Trace,
) -> Result<(), Rejection> {
    same_vectors(hierarchy, detached)?;
    replay(&detached.tree, question.1, trace)?;
    let order: Vec<VarId> = (0..hierarchy.variables.len() as u32).map(VarId).collect();
    let values: Vec<Vec<i64>> = trace.states.iter().map(|s| detached.values(hierarchy, s)).collect();
    for (at, values) in values.iter().enumerate() {
        let here = valuation(hierarchy, &order, values);
        if order.iter().any(|v| !hierarchy.variable(*v).domain.contains(values[v.index()])) {
            return bad_run(at, "a variable has a value outside its domain");
        }
        if !hierarchy.components.iter().flat_map(|c| &c.assertion).all(|&a| holds(hierarchy, a, &here)) {
            return bad_run(at, "an assertion does not hold");
        }
    }
    let first = valuation(hierarchy, &order, &values[0]);
    let starts = |(v, t): (VarId, TermId)| number(hierarchy, t, &first) == Some(values[0][v.index()]);
    if !hierarchy.initial(hierarchy.top).into_iter().all(starts) {
        return bad_run(0, "the first configuration is not initial");
    }
    for (at, vectors) in trace.steps.iter().enumerate() {
        let here = valuation(hierarchy, &order, &values[at]);
        for ((node, unit), &vector) in detached.tree.nodes().iter().zip(&detached.units).zip(vectors) {
            // Of a merged part, its top is looked at; what happens below is its meaning's affair, which the run has passed.
            let event = node.vectors[vector as usize][0] as usize;
            let component = hierarchy.component(unit.component);
            let states = || component.variables.iter().filter(|v| !hierarchy.variable(**v).flow);
            let same = |v: &VarId| values[at][v.index()] == values[at + 1][v.index()];
            let taken = component.transitions.iter().filter(|t| t.event == event).any(|t| {
                let becomes = |v: &VarId| match t.updates.iter().find(|(w, _)| w == v) {
                    Some(&(_, e)) => number(hierarchy, e, &here) == Some(values[at + 1][v.index()]),
                    None => same(v),
                };
                holds(hierarchy, t.guard, &here) && states().all(becomes)
            });
            let rests = event == 0 && states().all(same);
            if !taken && !rests {
                return bad_run(at, &format!("{component} has no such transition"));
            }
        }
    }
    match holds(hierarchy, question.0, &valuation(hierarchy, &order, &values[trace.steps.len()])) {
        true => Ok(()),
        false => bad_run(trace.steps.len(), "the last configuration is not what was looked for"),
    }
}

// Proofs.

/// What a block of one node can do.
#[derive(Default)]
struct Block {
    states: Vec<u32>,
    /// Where some state of it goes by an event.
    targets: BTreeMap<u32, BTreeSet<u32>>,
    /// Events that all states of it can take.
    surely: BTreeSet<u32>,
}

/// Is this a proof that no bad state can be reached?
pub fn certify(tree: &Tree, bad: &Condition, certificate: &Certificate) -> Result<(), Rejection> {
    let nodes = tree.nodes();
    if certificate.blocks.len() != nodes.len() {
        return bad_proof("there must be one cover for each node");
    }
    let mut blocks: Vec<Vec<Block>> = vec![];
    for (node, of) in nodes.iter().zip(&certificate.blocks) {
        if of.len() != node.behaviour.states.len() || of.iter().any(|&b| b as usize >= of.len()) {
            return bad_proof("a cover does not fit the states of its node");
        }
        let mut all: Vec<Block> = (0..of.iter().max().map_or(0, |m| m + 1)).map(|_| Block::default()).collect();
        for (q, &b) in of.iter().enumerate() {
            let moves = &node.behaviour.moves[q];
            let events: BTreeSet<u32> = moves.iter().map(|m| m.0).collect();
            let block = &mut all[b as usize];
            block.surely = match block.states.is_empty() {
                true => events,
                false => block.surely.intersection(&events).copied().collect(),
            };
            block.states.push(q as u32);
            for &(event, to) in moves {
                block.targets.entry(event).or_default().insert(of[to as usize]);
            }
        }
        blocks.push(all);
    }
    if let Err(why) = symmetric(tree, bad, certificate) {
        return bad_proof(&why);
    }
    let mut proof = Proof { tree, blocks, tuples: BTreeSet::new(), traps: vec![], symmetric: &certificate.symmetric };
    let fits =
        |t: &Vec<u32>| t.len() == nodes.len() && t.iter().zip(&proof.blocks).all(|(&b, all)| (b as usize) < all.len());
    if !certificate.tuples.iter().all(fits) {
        return bad_proof("an abstract state has not one block of each node");
    }
    proof.tuples = certificate.tuples.iter().map(|t| in_order(tree, &certificate.symmetric, t)).collect();
    for trap in &certificate.traps {
        proof.traps.push(proof.trap(bad, trap)?);
    }
    proof.starts(certificate)?;
    for tuple in &certificate.tuples {
        let atom = |node: usize, states: &[bool]| {
            let mut all = proof.blocks[node][tuple[node] as usize].states.iter().map(|&q| states[q as usize]);
            let first = all.next();
            if all.all(|b| Some(b) == first) { first } else { None }
        };
        if bad.known(&atom) != Some(false) {
            return bad_proof("an abstract state contains a bad one");
        }
        proof.closed(tuple)?;
    }
    Ok(())
}

struct Proof<'p> {
    tree: &'p Tree,
    blocks: Vec<Vec<Block>>,
    /// With nodes that are symmetric in order.
    tuples: BTreeSet<Vec<u32>>,
    /// For each trap and each node, its blocks.
    traps: Vec<Vec<BTreeSet<u32>>>,
    /// Nodes that can be exchanged.
    symmetric: &'p [Vec<usize>],
}

/// How many initial abstract states there may be, if some are in traps, or stand for others.
const MAX_INITIAL: usize = 1 << 20;

impl Proof<'_> {
    /// Some blocks of each node: no event of a node must lead out of its blocks, and nothing in them may be bad.
    fn trap(&self, bad: &Condition, trap: &[Vec<u32>]) -> Result<Vec<BTreeSet<u32>>, Rejection> {
        let sets: Vec<BTreeSet<u32>> = trap.iter().map(|blocks| blocks.iter().copied().collect()).collect();
        let fits = |(all, own): (&Vec<Block>, &BTreeSet<u32>)| own.iter().all(|&b| (b as usize) < all.len());
        if sets.len() != self.blocks.len() || !self.blocks.iter().zip(&sets).all(fits) {
            return bad_proof("a trap has not some blocks of each node");
        }
        for (all, own) in self.blocks.iter().zip(&sets) {
            if own.iter().any(|&b| all[b as usize].targets.values().any(|to| !to.is_subset(own))) {
                return bad_proof("an event leads out of a trap");
            }
        }
        let atom = |node: usize, states: &[bool]| {
            let here = sets[node].iter().flat_map(|&b| &self.blocks[node][b as usize].states);
            let mut all = here.map(|&q| states[q as usize]);
            let first = all.next();
            if all.all(|b| Some(b) == first) { first } else { None }
        };
        match bad.known(&atom) {
            Some(false) => Ok(sets),
            _ => bad_proof("a trap contains a bad state"),
        }
    }

    fn contains(&self, tuple: &[u32]) -> bool {
        let within = |trap: &Vec<BTreeSet<u32>>| trap.iter().zip(tuple).all(|(blocks, b)| blocks.contains(b));
        if self.symmetric.is_empty() {
            return self.tuples.contains(tuple) || self.traps.iter().any(within);
        }
        let sorted = in_order(self.tree, self.symmetric, tuple);
        let mirrored = |trap: &Vec<BTreeSet<u32>>| trap.iter().zip(&sorted).all(|(blocks, b)| blocks.contains(b));
        self.tuples.contains(&sorted) || self.traps.iter().any(|trap| within(trap) || mirrored(trap))
    }

    fn starts(&self, certificate: &Certificate) -> Result<(), Rejection> {
        if self.tree.nodes().iter().any(|n| n.behaviour.initial.is_empty()) {
            return Ok(());
        }
        let mut all: Vec<Vec<u32>> = vec![vec![]];
        for (node, of) in self.tree.nodes().iter().zip(&certificate.blocks) {
            let own: BTreeSet<u32> = node.behaviour.initial.iter().map(|&q| of[q as usize]).collect();
            all = all.iter().flat_map(|row| own.iter().map(|&b| [row.as_slice(), &[b]].concat())).collect();
            let most = if self.traps.is_empty() && self.symmetric.is_empty() { 0 } else { MAX_INITIAL };
            if all.len() > self.tuples.len().max(most) {
                return bad_proof("an initial state is not in the set");
            }
        }
        match all.iter().all(|t| self.contains(t)) {
            true => Ok(()),
            false => bad_proof("an initial state is not in the set"),
        }
    }

    /// Does every step from an abstract state stay in the set?
    fn closed(&self, tuple: &[u32]) -> Result<(), Rejection> {
        let nodes = self.tree.nodes();
        // For each node: vectors that may be offered, and the events of those, and of those that surely are.
        let mut vectors: Vec<Vec<usize>> = vec![];
        let (mut may, mut must): (Vec<BTreeSet<u32>>, Vec<BTreeSet<u32>>) = (vec![], vec![]);
        for (number, node) in nodes.iter().enumerate() {
            let block = &self.blocks[number][tuple[number] as usize];
            let fits = |vector: &Vec<u32>, below: &Vec<BTreeSet<u32>>| {
                node.subs.iter().zip(&vector[1..]).all(|(&sub, e)| below[sub].contains(e))
            };
            let all = || 0..node.vectors.len();
            let possible: Vec<bool> =
                node.vectors.iter().map(|v| block.targets.contains_key(&v[0]) && fits(v, &may)).collect();
            let sure: Vec<bool> = node.vectors.iter().map(|v| block.surely.contains(&v[0]) && fits(v, &must)).collect();
            let offered: Vec<usize> =
                all().filter(|&v| possible[v] && !node.higher[v].iter().any(|&h| sure[h])).collect();
            let certain = all().filter(|&v| sure[v] && !node.higher[v].iter().any(|&h| possible[h]));
            must.push(certain.map(|v| node.vectors[v][0]).collect());
            may.push(offered.iter().map(|&v| node.vectors[v][0]).collect());
            vectors.push(offered);
        }
        let mut known = BTreeMap::new();
        for &event in &may[self.tree.top()] {
            for target in self.targets(self.tree.top(), event, tuple, &vectors, &mut known) {
                if !self.contains(&target) {
                    return bad_proof("a step leads out of the set");
                }
            }
        }
        Ok(())
    }

    /// Blocks of the nodes at or below a node after a step that it takes part in with an event.
    fn targets(
        &self,
        number: usize,
        event: u32,
        tuple: &[u32],
        vectors: &[Vec<usize>],
        known: &mut BTreeMap<(usize, u32), BTreeSet<Vec<u32>>>,
    ) -> BTreeSet<Vec<u32>> {
        if let Some(all) = known.get(&(number, event)) {
            return all.clone();
        }
        let node = &self.tree.nodes()[number];
        let own = self.blocks[number][tuple[number] as usize].targets.get(&event).cloned().unwrap_or_default();
        let mut all = BTreeSet::new();
        for vector in vectors[number].iter().map(|&v| &node.vectors[v]).filter(|v| v[0] == event) {
            let mut rows = vec![vec![]];
            for (&sub, &e) in node.subs.iter().zip(&vector[1..]) {
                let parts = self.targets(sub, e, tuple, vectors, known);
                rows =
                    rows.iter().flat_map(|row: &Vec<u32>| parts.iter().map(|p| [row.as_slice(), p].concat())).collect();
            }
            all.extend(rows.iter().flat_map(|row| own.iter().map(|&b| [row.as_slice(), &[b]].concat())));
        }
        known.insert((number, event), all.clone());
        all
    }
}
