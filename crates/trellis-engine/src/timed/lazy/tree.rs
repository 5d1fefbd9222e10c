//! The abstract reachability tree: nodes with their concrete labels, covers, and what leads from node to node.
//!
//! The concrete zone of a node is what its parent's transition leads to, with time passed where it may, and *before* the
//! invariant is met again: leaving a location asks for its invariant as part of the transition. (So does 002's prototype, and
//! coverings and refinements can be compared.) Transitions are stored once; a tree has many edges and few of them.

use std::collections::HashMap;
use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use trellis_domain::zone::{Bound, Constraint, ZoneError};
use trellis_model::network::{EdgeRef, SetClock, Transition};
use trellis_order::Word;

use crate::table::{NoRoom, make_room};
use crate::timed::space::{ActiveClocks, Keys, Stepper, Zones};
use crate::timed::target::Error;
use trellis_meter::Stats;

pub use crate::explore::{Mark, NONE};

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
    /// Passed, or waiting; what is covered waits too, until `covered_by` is passed over.
    pub mark: Mark,
}

/// What a move does, apart from where it starts and ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEdge {
    /// Who moves.
    pub action: Vec<EdgeRef>,
    /// What the clocks must satisfy.
    pub guard: Vec<Constraint>,
    /// Which clocks are set.
    pub resets: Vec<SetClock>,
}

/// A transition with its ends: all that it means for clocks.
#[derive(Debug, Clone, Copy)]
pub struct Leg<'t> {
    /// The invariant of where it starts.
    pub own: &'t [Constraint],
    /// What must hold before.
    pub guard: &'t [Constraint],
    /// Which clocks are set.
    pub resets: &'t [SetClock],
    /// The invariant of where it ends.
    pub invariant: &'t [Constraint],
    /// May time pass where it ends?
    pub delay: bool,
}

/// A transition that is not, or not yet, an edge of the tree: its number, and the key to which it leads; `NONE` if it is only
/// pretended, to say in which states something is possible.
#[derive(Debug, Clone, Copy)]
pub struct Try {
    /// The transition.
    pub transition: u32,
    /// Where it leads.
    pub target: u32,
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
    pub transitions: Vec<TreeEdge>,
    index: HashTable<u32>,
    /// The newest expanded node of each part, and the first node of each key.
    newest: Vec<u32>,
    first: Vec<u32>,
    /// Each key's invariant, and whether time may pass there.
    places: Vec<(u32, bool)>,
    invariants: Vec<Vec<Constraint>>,
    invariant_index: HashTable<u32>,
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
            places: Vec::new(),
            invariants: Vec::new(),
            invariant_index: HashTable::new(),
            uncovered: Vec::new(),
            stepper: Stepper::default(),
            stats: Stats::default(),
        }
    }

    /// The active clocks of a node's zone.
    #[inline]
    pub fn active(&self, n: u32) -> ActiveClocks<'_> {
        self.keys.active(self.nodes[n as usize].key)
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

    /// The invariant of a key.
    pub fn invariant(&self, k: u32) -> &[Constraint] {
        &self.invariants[self.places[k as usize].0 as usize]
    }

    /// May time pass in a key?
    pub fn delay(&self, k: u32) -> bool {
        self.places[k as usize].1
    }

    /// The edge into a node; not for the root.
    pub fn edge(&self, n: u32) -> Leg<'_> {
        let node = &self.nodes[n as usize];
        self.leg(node.parent, Try { transition: node.transition, target: node.key })
    }

    /// A transition from a node.
    pub fn leg(&self, n: u32, to: Try) -> Leg<'_> {
        let t = &self.transitions[to.transition as usize];
        let (invariant, delay): (&[Constraint], bool) = match to.target {
            NONE => (&[], false),
            k => (self.invariant(k), self.delay(k)),
        };
        Leg { own: self.invariant(self.nodes[n as usize].key), guard: &t.guard, resets: &t.resets, invariant, delay }
    }

    fn transition(&mut self, action: &[EdgeRef], guard: &[Constraint], resets: &[SetClock]) -> u32 {
        let hash = hash_transition(action, guard);
        let same = |&t: &u32| {
            let t = &self.transitions[t as usize];
            t.action == action && t.guard == guard && t.resets == resets
        };
        if let Some(&t) = self.index.find(hash, same) {
            return t;
        }
        let id = self.transitions.len() as u32;
        let (action, guard, resets) = (action.to_vec(), guard.to_vec(), resets.to_vec());
        self.transitions.push(TreeEdge { action, guard, resets });
        let transitions = &self.transitions;
        self.index.insert_unique(hash, id, |&t| {
            let t = &transitions[t as usize];
            hash_transition(&t.action, &t.guard)
        });
        id
    }

    /// A pretended transition that is possible in a node where these constraints hold.
    pub fn probe(&mut self, guard: &[Constraint]) -> Try {
        Try { transition: self.transition(&[], guard, &[]), target: NONE }
    }

    /// The root, in a key with this invariant; nothing if that does not hold at the start.
    pub fn root(&mut self, key: &[Word], invariant: &[Constraint], delay: bool) -> Result<Option<u32>, Error> {
        let k = self.key(key, invariant, delay)?;
        let active = self.keys.active(k);
        let d = active.domain();
        let zone = &mut self.stepper.zone;
        zone.resize(d.size(), Bound::INF);
        d.zero(zone);
        if !crate::timed::space::invariant(active, invariant, zone)? {
            return Ok(None);
        }
        if delay {
            d.up(zone);
        }
        let transition = self.transition(&[], &[], &[]);
        Ok(Some(self.add(Try { transition, target: k }, NONE, 0)?))
    }

    fn key(&mut self, key: &[Word], invariant: &[Constraint], delay: bool) -> Result<u32, NoRoom> {
        let (k, is_new) = self.keys.id(key)?;
        if is_new {
            self.first.push(NONE);
            let hash = hash_transition(&[], invariant);
            let lists = &self.invariants;
            let list = match self.invariant_index.find(hash, |&i| lists[i as usize] == invariant) {
                Some(&list) => list,
                None => {
                    let list = lists.len() as u32;
                    self.invariants.push(invariant.to_vec());
                    let lists = &self.invariants;
                    self.invariant_index.insert_unique(hash, list, |&i| hash_transition(&[], &lists[i as usize]));
                    list
                }
            };
            self.places.push((list, delay));
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
        Ok(k)
    }

    /// Computes where a move leads from a zone of a node, which respects the node's invariant; answers whether anywhere.
    pub fn step(&mut self, n: u32, zone: &[Bound], m: &Transition<'_>) -> Result<(bool, Try), Error> {
        let target = self.key(m.key, m.invariant, m.delay)?;
        let to = Try { transition: self.transition(m.action, m.guard, m.resets), target };
        let mut stepper = std::mem::take(&mut self.stepper);
        let leg = Leg { own: &[], ..self.leg(n, to) };
        let feasible = post(&mut stepper, self.active(n), zone, &leg, self.keys.active(target));
        self.stepper = stepper;
        Ok((feasible?, to))
    }

    fn part(&self, key: u32) -> usize {
        match &self.parts {
            None => key as usize,
            Some(parts) => parts.of[key as usize] as usize,
        }
    }

    /// Adds a node with the zone that was computed last.
    pub fn add(&mut self, to: Try, parent: u32, via: u32) -> Result<u32, NoRoom> {
        let Try { transition, target: key } = to;
        if self.nodes.len() >= NONE as usize {
            return Err(NoRoom::Numbers);
        }
        let n = self.nodes.len() as u32;
        make_room(&mut self.nodes, 1)?;
        let zone = self.zones.id(&self.stepper.zone)?;
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
            mark: Mark::Waiting,
        });
        self.stats.added += 1;
        Ok(n)
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
        mut still: impl FnMut(&Tree, u32) -> Result<bool, Error>,
    ) -> Result<(), Error> {
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
}

/// Who moves, and when, says nearly all about a transition.
fn hash_transition(action: &[EdgeRef], guard: &[Constraint]) -> u64 {
    let mut h = FxHasher::default();
    action.iter().for_each(|e| h.write_u64(u64::from(e.process) << 32 | u64::from(e.edge)));
    for c in guard {
        h.write_u64(u64::from(c.left) << 48 ^ u64::from(c.right) << 32 ^ u64::from(c.bound.code() as u32));
    }
    h.finish()
}

/// Where a transition leads from a zone, in the stepper's zone; answers whether anywhere.
pub fn post(
    stepper: &mut Stepper,
    source: ActiveClocks<'_>,
    zone: &[Bound],
    t: &Leg<'_>,
    target: ActiveClocks<'_>,
) -> Result<bool, ZoneError> {
    if !stepper.act(source, zone, [t.own, t.guard], t.resets, t.invariant, target)? {
        return Ok(false);
    }
    if t.delay {
        target.domain().up(&mut stepper.zone);
    }
    Ok(true)
}
