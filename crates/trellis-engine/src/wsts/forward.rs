//! Forward search with accelerations (Karp and Miller 1969), for finding errors.
//!
//! A node is a vector in which numbers may be unlimited; it stands for all states below it. If a path leads from a vector to a
//! larger one, what has grown can be made as large as one likes by taking the path again and again: it becomes unlimited. Only the
//! largest vectors are kept. What they cover is closed under the rules, so if it ends without an error it is a proof; for systems
//! that only add and subtract it always ends.
//!
//! What has grown is accelerated only where the rules of the path add to it and subtract from it, and do nothing else.
//!
//! The linear relaxation guides it (`guide`): who seems nearest to the target comes first, whoever cannot get there comes
//! last. Those are not left out, since the proof is a set that no rule leaves. Without the guide, the newest comes first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trellis_model::counter::evidence::{Certificate, Verdict};
use trellis_model::counter::post::post;
use trellis_model::counter::{Basis, OMEGA, Rule, RuleId, System, Vector};
use trellis_model::evidence::Reason;

use super::guide::Guide;
use super::pump::{Node, Tree};
use super::{Outcome, beyond, in_time};
use crate::explore::{Exploration, explore};
use trellis_meter::{Meter, Progress, Stats};

/// So much work the guide may do, and so much more for each step of the search. (Measured: nets with thousands of rules have linear
/// programs that take longer than a whole search without a guide.)
const ALLOWED: (u64, u64) = (1_000_000, 200);

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Go first to where the state equation says that the target is near.
    pub guide: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { guide: true }
    }
}

/// Can a target be covered?
pub fn check(system: &System, options: &Options, meter: &mut Meter) -> Outcome {
    let guide = if options.guide { Guide::new(system) } else { None };
    let mut search = Search {
        system,
        tree: Tree::default(),
        seen: Basis::default(),
        guide,
        waiting: BinaryHeap::new(),
        pushed: 0,
        triggers: Triggers::new(system),
        limits: meter.clone(),
        stats: Stats::default(),
    };
    let verdict = search.run(meter).unwrap_or_else(Verdict::Unknown);
    Outcome::new(verdict, search.stats)
}

struct Search<'s> {
    system: &'s System,
    tree: Tree,
    /// The largest vectors; numbers are those of the nodes.
    seen: Basis,
    guide: Option<Guide>,
    waiting: BinaryHeap<Waiting>,
    /// How many have ever waited.
    pushed: u64,
    triggers: Triggers,
    limits: Meter,
    stats: Stats,
}

/// A node, and when it comes: the nearest first, of these the newest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    distance: Reverse<u64>,
    pushed: u64,
    node: u32,
    /// Was the guide asked, or is the distance a guess?
    asked: bool,
}

/// What cannot get to the target.
const NEVER: u64 = u64::MAX;

impl Exploration for Search<'_> {
    type Found = Verdict;
    type Failure = Reason;

    fn next(&mut self) -> Result<Option<u32>, Reason> {
        while let Some(next) = self.waiting.pop() {
            let id = next.node;
            if let Some(vector) = self.seen.get(id).cloned()
                && !self.is_further(next, &vector)?
            {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn progress(&self) -> Progress {
        Progress { waiting: self.waiting.len(), stats: self.stats }
    }

    fn expand(&mut self, id: u32, _: &mut Meter) -> Result<Option<Verdict>, Reason> {
        in_time(&self.limits)?;
        self.stats.expanded += 1;
        let mut rules = vec![];
        // Where a successor is larger than the vector itself, the other rules need only be taken from there.
        let (mut at, mut vector) = (id, self.tree.nodes[id as usize].vector.clone());
        self.triggers.of(&vector, &mut rules);
        let mut fresh = vec![];
        for &rule in &rules {
            let r = &self.system.rules[rule as usize];
            if adds_nothing(r, &vector) {
                continue;
            }
            let Some(after) = post(r, &vector).map_err(beyond)? else { continue };
            self.stats.steps += 1;
            if self.seen.above(&after).is_some() {
                self.stats.covered += 1;
                continue;
            }
            let node = self.tree.accelerated(self.system, after, at, rule, &Vector::leq);
            let next = self.tree.nodes.len() as u32;
            if let Some(found) = self.add(node)? {
                return Ok(Some(found));
            }
            if self.seen.get(at).is_some() {
                fresh.push(next);
            } else {
                at = next;
                vector = self.tree.nodes[next as usize].vector.clone();
            }
        }
        // What is unlimited in more variables is more likely to lead far.
        fresh.sort_by_key(|n| self.tree.nodes[*n as usize].vector.iter().filter(|e| e.1 == OMEGA).count());
        fresh.into_iter().for_each(|n| self.push(n));
        if at != id {
            // It may enable more rules than were tried.
            self.push(at);
        }
        Ok(None)
    }
}

impl Search<'_> {
    fn run(&mut self, meter: &mut Meter) -> Result<Verdict, Reason> {
        let start: Vec<u64> = self.system.initial.iter().map(|i| i.high.unwrap_or(OMEGA)).collect();
        let start = Node::start(Vector::dense(&start));
        if let Some(found) = self.add(start)? {
            return Ok(found);
        }
        self.push(0);
        if let Some(found) = explore(self, meter)? {
            return Ok(found);
        }
        self.stats.stored = self.seen.len() as u64;
        Ok(Verdict::Safe(Certificate::Below(self.seen.iter().cloned().collect())))
    }

    /// Puts a node in its place among those that wait.
    fn push(&mut self, node: u32) {
        let guess = self.guide.as_mut().map_or(Some(0), |g| g.guess(&self.tree.nodes[node as usize].vector));
        self.pushed += 1;
        let distance = Reverse(guess.unwrap_or(NEVER));
        self.waiting.push(Waiting { distance, pushed: self.pushed, node, asked: self.guide.is_none() });
    }

    /// Asks the guide about a node that is next by a guess. Whoever is further away than that waits again.
    fn is_further(&mut self, mut next: Waiting, vector: &Vector) -> Result<bool, Reason> {
        let Some(guide) = self.guide.as_mut().filter(|_| !next.asked && next.distance.0 != NEVER) else {
            return Ok(false);
        };
        let work = ALLOWED.0 + ALLOWED.1 * self.stats.steps;
        let distance = Reverse(guide.ask(vector, work, &self.limits)?.unwrap_or(NEVER));
        let further = distance < next.distance;
        (next.distance, next.asked) = (distance, true);
        if further {
            self.waiting.push(next);
        }
        Ok(further)
    }

    /// Takes in a vector that no other is above.
    fn add(&mut self, node: Node) -> Result<Option<Verdict>, Reason> {
        let vector = node.vector.clone();
        let hit = self.system.target.iter().find(|t| t.leq(&vector));
        let id = self.tree.nodes.len() as u32;
        self.seen.insert_maximal(vector);
        self.tree.nodes.push(node);
        self.stats.added += 1;
        match hit {
            Some(t) => self.tree.concrete(self.system, id, t).map(Some),
            None => Ok(None),
        }
    }
}

/// Does the rule only take away, or add to what is unlimited anyway?
fn adds_nothing(rule: &Rule, v: &Vector) -> bool {
    rule.updates.iter().all(|(y, u)| u.sources == [*y] && (u.constant <= 0 || v.get(*y) == OMEGA))
}

/// Which rules to try: each is filed under a variable that it needs, one that few need.
pub(super) struct Triggers {
    under: Vec<Vec<RuleId>>,
    always: Vec<RuleId>,
}

impl Triggers {
    pub(super) fn new(system: &System) -> Triggers {
        let mut under = vec![vec![]; system.names.len()];
        let mut always = vec![];
        for (r, rule) in system.rules.iter().enumerate() {
            match rule.least().iter().map(|e| e.0).min_by_key(|v| under[*v as usize].len()) {
                Some(v) => under[v as usize].push(r as RuleId),
                None => always.push(r as RuleId),
            }
        }
        Triggers { under, always }
    }

    pub(super) fn of(&self, v: &Vector, out: &mut Vec<RuleId>) {
        out.clone_from(&self.always);
        out.extend(v.iter().flat_map(|(x, _)| &self.under[x as usize]));
        out.sort_unstable();
    }
}
