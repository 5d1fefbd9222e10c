//! The abstract reachability tree: nodes with their concrete labels, covers, and what leads from node to node.
//!
//! The concrete zone of a node is what its parent's transition leads to, with time passed where it may, and *before* the
//! invariant is met again: leaving a location asks for its invariant as part of the transition. (So does 002's prototype, and
//! coverings and refinements can be compared.) Transitions are stored once; a tree has many edges and few of them.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use trellis_domain::zone::{Bound, Constraint, ZoneError};
use trellis_model::network::{EdgeRef, Move, SetClock};
use trellis_order::Word;

use crate::budget::Stats;
use crate::timed::space::{Keys, Shape, Stepper, Zones};
use crate::timed::target::Trouble;

/// No node.
pub const NONE: u32 = u32::MAX;

/// What has become of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Waiting or covered.
    Leaf,
    /// Expanded.
    Passed,
}

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its key.
    pub key: u32,
    /// Its concrete zone.
    pub zone: u32,
    /// Its parent.
    pub parent: u32,
    /// The transition from the parent.
    pub transition: u32,
    /// The number of the move among the parent's.
    pub via: u32,
    /// The node that covers it.
    pub covered_by: u32,
    /// The first node that it covers.
    first_covered: u32,
    /// The next node that is covered by the same one.
    next_covered: u32,
    /// The node of the same part that was expanded before it.
    pub older: u32,
    /// What has become of it.
    pub mark: Mark,
}

/// What a move does to clocks, with the invariant of where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// Who moves.
    pub action: Vec<EdgeRef>,
    /// The source's invariant, the guard, and the target's invariant, one after the other.
    constraints: Vec<Constraint>,
    own_end: u32,
    guard_end: u32,
    /// Which clocks are set.
    pub resets: Vec<SetClock>,
    /// May time pass in the target?
    pub delay: bool,
}

impl Transition {
    fn hash(&self) -> u64 {
        let mut h = FxHasher::default();
        self.action.as_slice().hash(&mut h);
        hash_constraints(&mut h, self.constraints.iter());
        self.resets.as_slice().hash(&mut h);
        h.finish()
    }

    /// What must hold before: the source's invariant and the guard.
    pub fn before(&self) -> &[Constraint] {
        &self.constraints[..self.guard_end as usize]
    }

    /// The source's invariant.
    pub fn own(&self) -> &[Constraint] {
        &self.constraints[..self.own_end as usize]
    }

    /// The guard.
    pub fn guard(&self) -> &[Constraint] {
        &self.constraints[self.own_end as usize..self.guard_end as usize]
    }

    /// The target's invariant.
    pub fn invariant(&self) -> &[Constraint] {
        &self.constraints[self.guard_end as usize..]
    }
}

/// Parts of the keys, by locations.
#[derive(Debug, Default)]
struct Parts {
    /// Each key's part.
    of: Vec<u32>,
    index: HashMap<Vec<i64>, u32>,
}

/// The tree.
#[derive(Debug)]
pub struct Tree {
    /// Keys.
    pub keys: Keys,
    /// Zones.
    pub zones: Zones,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Transitions.
    pub transitions: Vec<Transition>,
    index: HashTable<u32>,
    /// The newest expanded node of each part, and the first node of each key.
    newest: Vec<u32>,
    first: Vec<u32>,
    /// Where data is abstracted, keys with the same locations are one part; otherwise each key is.
    parts: Option<Parts>,
    /// Nodes that have lost their cover since this was last emptied.
    pub uncovered: Vec<u32>,
    stepper: Stepper,
    /// What was counted.
    pub stats: Stats,
}

impl Tree {
    /// No nodes yet. Nodes may cover others with the same key, or the same locations.
    pub fn new(keys: Keys, by_locations: bool) -> Tree {
        Tree {
            parts: by_locations.then(Parts::default),
            keys,
            zones: Zones::default(),
            nodes: Vec::new(),
            transitions: Vec::new(),
            index: HashTable::new(),
            newest: Vec::new(),
            first: Vec::new(),
            uncovered: Vec::new(),
            stepper: Stepper::default(),
            stats: Stats::default(),
        }
    }

    /// The shape of a node's zone.
    #[inline]
    pub fn shape(&self, n: u32) -> &Shape {
        self.keys.shape(self.nodes[n as usize].key)
    }

    /// A node's concrete zone.
    #[inline]
    pub fn zone(&self, n: u32) -> &[Bound] {
        self.zones.get(self.nodes[n as usize].zone)
    }

    /// The newest expanded node of the same part.
    pub fn newest(&self, n: u32) -> u32 {
        self.newest[self.part(self.nodes[n as usize].key)]
    }

    /// Is it the first node of its key?
    pub fn is_first(&self, n: u32) -> bool {
        self.first[self.nodes[n as usize].key as usize] == n
    }

    /// The pretended transition into the start.
    pub fn start(&mut self, invariant: &[Constraint], delay: bool) -> u32 {
        self.intern(Transition {
            action: Vec::new(),
            constraints: invariant.to_vec(),
            own_end: 0,
            guard_end: 0,
            resets: Vec::new(),
            delay,
        })
    }

    /// The transition of a move from a node.
    pub fn transition(&mut self, n: u32, m: &Move<'_>) -> u32 {
        let into = &self.transitions[self.nodes[n as usize].transition as usize];
        let own = into.invariant();
        let mut h = FxHasher::default();
        m.action.hash(&mut h);
        hash_constraints(&mut h, own.iter().chain(m.guard).chain(m.invariant));
        m.resets.hash(&mut h);
        let hash = h.finish();
        let same = |&t: &u32| {
            let t = &self.transitions[t as usize];
            t.delay == m.delay
                && t.action == m.action
                && t.own() == own
                && t.guard() == m.guard
                && t.invariant() == m.invariant
                && t.resets == m.resets
        };
        if let Some(&t) = self.index.find(hash, same) {
            return t;
        }
        let t = Transition {
            action: m.action.to_vec(),
            constraints: own.iter().chain(m.guard).chain(m.invariant).copied().collect(),
            own_end: own.len() as u32,
            guard_end: (own.len() + m.guard.len()) as u32,
            resets: m.resets.to_vec(),
            delay: m.delay,
        };
        self.intern(t)
    }

    /// A pretended transition that is possible in a node where these constraints hold.
    pub fn probe(&mut self, n: u32, guard: &[Constraint]) -> u32 {
        let own = self.transitions[self.nodes[n as usize].transition as usize].invariant();
        let t = Transition {
            action: Vec::new(),
            own_end: own.len() as u32,
            guard_end: (own.len() + guard.len()) as u32,
            constraints: own.iter().chain(guard).copied().collect(),
            resets: Vec::new(),
            delay: false,
        };
        let hash = t.hash();
        match self.index.find(hash, |&known| self.transitions[known as usize] == t) {
            Some(&known) => known,
            None => self.intern(t),
        }
    }

    fn intern(&mut self, t: Transition) -> u32 {
        let id = self.transitions.len() as u32;
        let own = t.hash();
        self.transitions.push(t);
        let transitions = &self.transitions;
        self.index.insert_unique(own, id, |&t| transitions[t as usize].hash());
        id
    }

    /// Computes the initial zone; answers whether there is one.
    pub fn begin(&mut self, key: &[Word]) -> Result<bool, Trouble> {
        let k = self.key(key);
        let shape = self.keys.shape(k);
        let d = shape.domain();
        let zone = &mut self.stepper.zone;
        zone.resize(d.size(), Bound::INF);
        d.zero(zone);
        let t = &self.transitions[0];
        if !crate::timed::space::invariant(shape, t.invariant(), zone)? {
            return Ok(false);
        }
        if t.delay {
            d.up(zone);
        }
        Ok(true)
    }

    fn key(&mut self, key: &[Word]) -> u32 {
        let (k, is_new) = self.keys.id(key);
        if is_new {
            self.first.push(NONE);
            match &mut self.parts {
                None => self.newest.push(NONE),
                Some(parts) => {
                    let next = self.newest.len() as u32;
                    let part = *parts.index.entry(self.keys.latest().to_vec()).or_insert(next);
                    parts.of.push(part);
                    if part == next {
                        self.newest.push(NONE);
                    }
                }
            }
        }
        k
    }

    fn part(&self, key: u32) -> usize {
        match &self.parts {
            None => key as usize,
            Some(parts) => parts.of[key as usize] as usize,
        }
    }

    /// Computes where a transition leads from a zone of a node; answers whether anywhere, and the target's key.
    pub fn step(&mut self, n: u32, zone: &[Bound], t: u32, target: &[Word]) -> Result<(bool, u32), ZoneError> {
        let k = self.key(target);
        let source = self.nodes[n as usize].key;
        let t = &self.transitions[t as usize];
        let feasible = post(&mut self.stepper, self.keys.shape(source), zone, t, self.keys.shape(k))?;
        Ok((feasible, k))
    }

    /// Adds a node with the zone that was computed last.
    pub fn add(&mut self, key: &[Word], parent: u32, transition: u32, via: u32) -> u32 {
        let k = self.key(key);
        self.add_at(k, parent, transition, via)
    }

    /// As [`Tree::add`], the key being known.
    pub fn add_at(&mut self, key: u32, parent: u32, transition: u32, via: u32) -> u32 {
        let n = self.nodes.len() as u32;
        assert!(n < NONE, "more than four billion nodes");
        let zone = self.zones.id(&self.stepper.zone);
        if self.first[key as usize] == NONE {
            self.first[key as usize] = n;
        }
        self.nodes.push(Node {
            key,
            zone,
            parent,
            transition,
            via,
            covered_by: NONE,
            first_covered: NONE,
            next_covered: NONE,
            older: NONE,
            mark: Mark::Leaf,
        });
        self.stats.added += 1;
        n
    }

    /// The node has been expanded and may cover others.
    pub fn pass(&mut self, n: u32) {
        let part = self.part(self.nodes[n as usize].key);
        self.nodes[n as usize].older = self.newest[part];
        self.nodes[n as usize].mark = Mark::Passed;
        self.newest[part] = n;
    }

    /// `by` covers `n` now.
    pub fn set_cover(&mut self, n: u32, by: u32) {
        debug_assert_eq!(self.nodes[n as usize].covered_by, NONE);
        self.nodes[n as usize].covered_by = by;
        self.nodes[n as usize].next_covered = self.nodes[by as usize].first_covered;
        self.nodes[by as usize].first_covered = n;
    }

    /// The label of `by` was strengthened: nodes that it covers and that do not pass the test lose their cover.
    pub fn review_covers(
        &mut self,
        by: u32,
        mut still: impl FnMut(&Tree, u32) -> Result<bool, Trouble>,
    ) -> Result<(), Trouble> {
        let mut before = NONE;
        let mut at = self.nodes[by as usize].first_covered;
        let found = self.uncovered.len();
        while at != NONE {
            let next = self.nodes[at as usize].next_covered;
            if still(self, at)? {
                before = at;
            } else {
                match before {
                    NONE => self.nodes[by as usize].first_covered = next,
                    b => self.nodes[b as usize].next_covered = next,
                }
                self.nodes[at as usize].covered_by = NONE;
                self.nodes[at as usize].next_covered = NONE;
                self.uncovered.push(at);
            }
            at = next;
        }
        // The list is newest first; those who were covered first wait first.
        self.uncovered[found..].reverse();
        Ok(())
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.keys.bytes() + self.zones.bytes() + self.nodes.capacity() * size_of::<Node>() + self.newest.capacity() * 8
    }
}

fn hash_constraints<'a>(h: &mut FxHasher, all: impl Iterator<Item = &'a Constraint>) {
    for c in all {
        h.write_u64(u64::from(c.left) << 48 ^ u64::from(c.right) << 32 ^ u64::from(c.bound.code() as u32));
    }
}

/// Where a transition leads from a zone, in the stepper's zone; answers whether anywhere.
pub fn post(
    stepper: &mut Stepper,
    source: &Shape,
    zone: &[Bound],
    t: &Transition,
    target: &Shape,
) -> Result<bool, ZoneError> {
    let m = Move {
        ordinal: 0,
        action: &[],
        key: &[],
        guard: t.guard(),
        resets: &t.resets,
        invariant: t.invariant(),
        delay: t.delay,
        fault: None,
    };
    if !stepper.act(source, zone, t.own(), &m, target)? {
        return Ok(false);
    }
    if t.delay {
        target.domain().up(&mut stepper.zone);
    }
    Ok(true)
}
