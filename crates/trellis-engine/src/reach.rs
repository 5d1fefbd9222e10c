//! Reachability over labels from a lattice: 000 Algorithms 1–5 as one loop.
//!
//! - *simple* (Alg. 2): stop on equality;
//! - *cover* (Alg. 3): stop on `⊑`, and drop waiting states that the newcomer covers;
//! - *join* (Alg. 4): stop on `⊑`; otherwise join with the first stored element that the joining strategy accepts, which
//!   leaves passed and waiting, and add the result. (Literally, Alg. 4 leaves the partner in passed; then nothing would
//!   ever shrink. The paper's figures need it gone.)
//!
//! When a joined state reaches the target, the path is replayed without joins (Def. 5). If it fails, the strategy is
//! either the user's, and the answer is inconclusive, or our own, and it is refined: the *pivot* is the last join on the
//! path without which the path would fail; its key is never joined again, all that was explored from its states is
//! undone and explored anew (Alg. 5). When every key is split this is cover update, so it ends whenever that does.
//!
//! Everything but simple rests on the monotonicity of the system (Def. 2); this module does not check it.

use rustc_hash::FxHashSet;
use trellis_model::evidence::Reason;
use trellis_order::{Domain, Join, Word};

use crate::arg::{Arg, Mark, NONE};
use crate::budget::{Budget, Progress, Stats};
use crate::path::{Path, path_to, replay, replay_to_target};
use crate::waitlist::{Order, Waitlist};
use crate::{Batch, State, System};

/// How two elements under the same key meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Stop on equality.
    Simple,
    /// Stop on `⊑`.
    Cover,
    /// Stop on `⊑`, join where the strategy allows.
    Join,
}

/// What to do when only a join reaches the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refine {
    /// Say so.
    Never,
    /// Split and go on (Alg. 5).
    Split,
}

/// How to explore.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How elements meet.
    pub update: Update,
    /// What comes next.
    pub order: Order,
    /// What to do about inconclusive joins.
    pub refine: Refine,
}

/// A joining strategy (Def. 6): may a stored and a new element of one key be joined?
pub trait Strategy<E> {
    /// May they?
    fn accepts(&mut self, key: &[Word], stored: &[Word], new: &[Word]) -> Result<bool, E>;
}

/// Joins whatever it can.
pub struct JoinAll;

impl<E> Strategy<E> for JoinAll {
    fn accepts(&mut self, _: &[Word], _: &[Word], _: &[Word]) -> Result<bool, E> {
        Ok(true)
    }
}

/// How an exploration ended.
#[derive(Debug)]
pub enum Answer<A, E> {
    /// The target is not reachable: the stored states are an inductive set without it.
    Unreachable,
    /// The target is reachable, by these concrete states and steps.
    Reachable(Path<A>),
    /// Only joined states reach the target.
    Inconclusive {
        /// The abstracted path (Def. 4).
        path: Path<A>,
        /// The step (from 0) that fails without joins.
        fails_at: usize,
        /// Which states of the path are joins (numbers into its states).
        joins: Vec<usize>,
        /// The join without which the path fails.
        pivot: usize,
    },
    /// A limit was reached.
    Stopped(Reason),
    /// The system is broken; this is how to get there.
    Error(Path<A>, E),
}

/// The exploration after it has ended.
#[derive(Debug)]
pub struct Exploration<A, E> {
    /// How it ended.
    pub answer: Answer<A, E>,
    /// What it counted.
    pub stats: Stats,
    /// Everything it found.
    pub arg: Arg,
}

/// Explores.
pub fn reach<S: System>(
    system: &mut S,
    options: Options,
    strategy: &mut impl Strategy<S::Error>,
    budget: &mut Budget<'_>,
) -> Exploration<S::Action, S::Error> {
    let mut r = Reach {
        options,
        arg: Arg::new(system.key_width(), system.elem_width()),
        waiting: Waitlist::new(options.order),
        stats: Stats::default(),
        history: (options.update == Update::Join).then(History::default),
        split: FxHashSet::default(),
        scratch: vec![0; system.elem_width()],
    };
    let answer = match r.run(system, strategy, budget) {
        Ok(answer) => answer,
        Err(Stop::Limit(reason)) => Answer::Stopped(reason),
        Err(Stop::Broken(node, e)) => r.broken(system, node, e),
    };
    r.stats.stored = r.arg.stored().count() as u64;
    Exploration { answer, stats: r.stats, arg: r.arg }
}

struct Reach {
    options: Options,
    arg: Arg,
    waiting: Waitlist,
    stats: Stats,
    history: Option<History>,
    /// Keys that are never joined again.
    split: FxHashSet<u32>,
    scratch: Vec<Word>,
}

/// What a refinement needs to know about the past: joins must keep the predecessors of every joined part (000 Alg. 5,
/// l. 26), and so must covers.
#[derive(Default)]
struct History {
    /// Per node: the stored node it was joined from.
    part: Vec<u32>,
    /// Per node: the node that was joined from it or evicted it.
    replaced_by: Vec<u32>,
    /// Per node: head of the list of those whose steps lead to (or below) it, apart from its parent.
    first_in: Vec<u32>,
    /// Parent and next.
    in_edges: Vec<(u32, u32)>,
}

impl History {
    fn node(&mut self) {
        self.part.push(NONE);
        self.replaced_by.push(NONE);
        self.first_in.push(NONE);
    }

    fn lead_to(&mut self, n: u32, parent: u32) {
        let head = &mut self.first_in[n as usize];
        if parent == NONE || (*head != NONE && self.in_edges[*head as usize].0 == parent) {
            return;
        }
        self.in_edges.push((parent, *head));
        *head = self.in_edges.len() as u32 - 1;
    }

    fn parents_of(&self, n: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.first_in[n as usize];
        std::iter::from_fn(move || {
            let &(parent, next) = self.in_edges.get(at as usize)?;
            at = next;
            Some(parent)
        })
    }

    fn bytes(&self) -> usize {
        self.part.capacity() * 12 + self.in_edges.capacity() * 8
    }
}

enum Stop<E> {
    Limit(Reason),
    /// Something failed while working on a node.
    Broken(u32, E),
}

type Ran<S, T> = Result<T, Stop<<S as System>::Error>>;

impl Reach {
    fn run<S: System>(
        &mut self,
        system: &mut S,
        strategy: &mut impl Strategy<S::Error>,
        budget: &mut Budget<'_>,
    ) -> Ran<S, Answer<S::Action, S::Error>> {
        let initial = system.initial().map_err(|e| Stop::Broken(NONE, e))?;
        if let Some(found) = self.insert(system, strategy, &initial.0, &initial.1, NONE, 0)? {
            return self.found(system, found);
        }
        let (kw, ew) = (system.key_width(), system.elem_width());
        let mut batch = Batch::default();
        while let Some(n) = self.waiting.pop() {
            if self.arg.nodes[n as usize].mark != Mark::Waiting {
                continue;
            }
            let progress = Progress { waiting: self.waiting.len(), stats: self.stats };
            budget.check(&progress, self.bytes()).map_err(Stop::Limit)?;
            self.arg.nodes[n as usize].mark = Mark::Passed;
            self.stats.expanded += 1;
            batch.clear();
            let (key, elem) = self.arg.state(n);
            system.successors(key, elem, &mut batch).map_err(|e| Stop::Broken(n, e))?;
            self.stats.steps += u64::from(batch.steps);
            for (i, &via) in batch.ordinals.iter().enumerate() {
                let (key, elem) = (&batch.keys[i * kw..][..kw], &batch.elems[i * ew..][..ew]);
                let Some(target) = self.insert(system, strategy, key, elem, n, via)? else { continue };
                match self.found(system, target)? {
                    Answer::Inconclusive { path, pivot, .. } if self.options.refine == Refine::Split => {
                        self.stats.refinements += 1;
                        self.split_at(system, strategy, &path.states[pivot].0, &initial)?;
                        // What else this state leads to is found again when it is expanded anew.
                        if self.arg.nodes[n as usize].mark == Mark::Passed {
                            self.requeue(system, n)?;
                        }
                        break;
                    }
                    answer => return Ok(answer),
                }
            }
        }
        Ok(Answer::Unreachable)
    }

    fn bytes(&self) -> usize {
        self.arg.bytes() + self.history.as_ref().map_or(0, History::bytes)
    }

    /// Alg. 2–4: adds a state unless a stored one stands for it. Answers the new node if it is the target.
    fn insert<S: System>(
        &mut self,
        system: &mut S,
        strategy: &mut impl Strategy<S::Error>,
        key: &[Word],
        elem: &[Word],
        parent: u32,
        via: u32,
    ) -> Ran<S, Option<u32>> {
        let k = self.arg.key_id(key);
        let mut stands = self.arg.find(k, elem);
        if stands.is_none() && self.options.update != Update::Simple {
            let domain = system.domain();
            stands = self.arg.find_in_chain(k, |_, e| domain.leq(elem, e));
        }
        if let Some(n) = stands {
            self.stats.covered += 1;
            if let Some(h) = &mut self.history {
                h.lead_to(n, parent);
            }
            return Ok(None);
        }
        let n = if self.options.update == Update::Join && !self.split.contains(&k) {
            self.join(system, strategy, k, key, elem, parent, via)?
        } else {
            let evicted = if self.options.update == Update::Simple { Vec::new() } else { self.evict(system, k, elem) };
            let n = self.add(k, elem, parent, via);
            if let Some(h) = &mut self.history {
                evicted.into_iter().for_each(|e| h.replaced_by[e as usize] = n);
            }
            n
        };
        self.enqueue(system, n)?;
        self.stats.added += 1;
        let (key, elem) = self.arg.state(n);
        let target = system.is_target(key, elem).map_err(|e| Stop::Broken(n, e))?;
        Ok(target.then_some(n))
    }

    fn add(&mut self, key: u32, elem: &[Word], parent: u32, via: u32) -> u32 {
        if let Some(h) = &mut self.history {
            h.node();
        }
        self.arg.add(key, elem, parent, via)
    }

    fn enqueue<S: System>(&mut self, system: &mut S, n: u32) -> Ran<S, ()> {
        let mut priority = 0;
        if self.waiting.wants_priority() {
            let (key, elem) = self.arg.state(n);
            priority = system.priority(key, elem).map_err(|e| Stop::Broken(n, e))?;
        }
        self.waiting.push(n, priority);
        Ok(())
    }

    /// Adds the join of an element with the first stored one that the strategy accepts, or the element itself.
    #[allow(clippy::too_many_arguments)]
    fn join<S: System>(
        &mut self,
        system: &mut S,
        strategy: &mut impl Strategy<S::Error>,
        k: u32,
        key: &[Word],
        elem: &[Word],
        parent: u32,
        via: u32,
    ) -> Ran<S, u32> {
        let mut failed = None;
        let partner = self.arg.find_in_chain(k, |_, stored| {
            failed.is_none()
                && strategy.accepts(key, stored, elem).unwrap_or_else(|e| {
                    failed = Some(e);
                    false
                })
        });
        if let Some(e) = failed {
            return Err(Stop::Broken(parent, e));
        }
        let Some(p) = partner else { return Ok(self.add(k, elem, parent, via)) };
        self.stats.joins += 1;
        let mut joined = std::mem::take(&mut self.scratch);
        joined.copy_from_slice(self.arg.elem(p));
        system.domain().join(&mut joined, elem);
        self.arg.retire(p, Mark::Replaced);
        let n = self.add(k, &joined, parent, via);
        self.scratch = joined;
        if let Some(h) = &mut self.history {
            h.part[n as usize] = p;
            h.replaced_by[p as usize] = n;
        }
        Ok(n)
    }

    /// Drops the waiting states that a newcomer covers (Alg. 3, l. 4).
    fn evict<S: System>(&mut self, system: &S, k: u32, elem: &[Word]) -> Vec<u32> {
        let domain = system.domain();
        let mut covered = Vec::new();
        self.arg.find_in_chain(k, |n, e| {
            if domain.leq(e, elem) {
                covered.push(n);
            }
            false
        });
        covered.retain(|&n| self.arg.nodes[n as usize].mark == Mark::Waiting);
        for &n in &covered {
            self.arg.retire(n, Mark::Replaced);
        }
        covered
    }

    /// The target has been reached in the graph: really, or only by joins?
    fn found<S: System>(&mut self, system: &mut S, target: u32) -> Ran<S, Answer<S::Action, S::Error>> {
        let broken = |e| Stop::Broken(target, e);
        let nodes = self.arg.path(target);
        let path = path_to(system, &self.arg, &nodes).map_err(broken)?;
        let fails_at = match replay_to_target(system, &path.states[0], &path.actions).map_err(broken)? {
            Ok(states) => return Ok(Answer::Reachable(Path { states, actions: path.actions })),
            Err(step) => step,
        };
        let is_join = |n: u32| self.history.as_ref().is_some_and(|h| h.part[n as usize] != NONE);
        let joins: Vec<usize> = (1..nodes.len()).filter(|&i| is_join(nodes[i])).collect();
        let mut pivot = joins.first().copied().unwrap_or(0);
        for &j in joins.iter().rev().filter(|&&j| j <= fails_at) {
            let (key, elem) = &path.states[j - 1];
            let unjoined = system.take(key, elem, &path.actions[j - 1]).map_err(broken)?;
            let goes_on = match unjoined {
                Some(state) => replay_to_target(system, &state, &path.actions[j..]).map_err(broken)?.is_ok(),
                None => false,
            };
            if !goes_on {
                pivot = j;
                break;
            }
        }
        Ok(Answer::Inconclusive { path, fails_at, joins, pivot })
    }

    /// Alg. 5, l. 15–20: never join at this key again, and undo what was explored from its states.
    fn split_at<S: System>(
        &mut self,
        system: &mut S,
        strategy: &mut impl Strategy<S::Error>,
        key: &[Word],
        initial: &State,
    ) -> Ran<S, ()> {
        let k = self.arg.key_id(key);
        self.split.insert(k);
        let Some(history) = self.history.take() else { return Ok(()) };
        // What a node was made from is older than the node, so one pass finds all descendants.
        let count = self.arg.nodes.len();
        let mut undone = vec![false; count];
        for n in 0..count {
            let node = &self.arg.nodes[n];
            let made_from = [node.parent, history.part[n]];
            undone[n] = node.key == k || made_from.iter().any(|&m| m != NONE && undone[m as usize]);
        }
        // A replaced node's predecessors rely on whatever replaced it, in the end.
        let mut relied_on = undone.clone();
        for n in (0..count).rev() {
            if history.replaced_by[n] != NONE {
                relied_on[n] |= relied_on[history.replaced_by[n] as usize];
            }
        }
        let mut again: Vec<u32> = Vec::new();
        for n in (0..count).filter(|&n| relied_on[n]) {
            let parent = Some(self.arg.nodes[n].parent).filter(|&p| p != NONE);
            again.extend(history.parents_of(n as u32).chain(parent).filter(|&p| !undone[p as usize]));
        }
        for (n, _) in undone.iter().enumerate().filter(|(_, u)| **u) {
            if self.arg.nodes[n].is_stored() {
                self.arg.retire(n as u32, Mark::Undone);
            }
            self.arg.nodes[n].mark = Mark::Undone;
        }
        self.history = Some(history);
        again.sort_unstable();
        again.dedup();
        for n in again {
            if self.arg.nodes[n as usize].mark == Mark::Passed {
                self.requeue(system, n)?;
            }
        }
        if (0..count).any(|n| self.arg.nodes[n].parent == NONE && relied_on[n]) {
            // The initial state is never the target here: that would have been the end.
            self.insert(system, strategy, &initial.0, &initial.1, NONE, 0)?;
        }
        Ok(())
    }

    fn requeue<S: System>(&mut self, system: &mut S, n: u32) -> Ran<S, ()> {
        self.arg.nodes[n as usize].mark = Mark::Waiting;
        self.enqueue(system, n)
    }

    /// The system failed at a node: really, or only because of joins?
    fn broken<S: System>(&mut self, system: &mut S, node: u32, e: S::Error) -> Answer<S::Action, S::Error> {
        if node == NONE {
            return Answer::Error(Path::empty(), e);
        }
        let nodes = self.arg.path(node);
        let Ok(path) = path_to(system, &self.arg, &nodes) else { return Answer::Error(Path::empty(), e) };
        let Ok(Ok(states)) = replay(system, &path.states[0], &path.actions) else {
            return Answer::Stopped(Reason::InconclusiveJoin);
        };
        let (key, elem) = states.last().expect("a path has a first state");
        let again = match system.successors(key, elem, &mut Batch::default()) {
            Err(e) => Some(e),
            Ok(()) => system.is_target(key, elem).err(),
        };
        match again {
            Some(e) => Answer::Error(Path { states, actions: path.actions }, e),
            None => Answer::Stopped(Reason::InconclusiveJoin),
        }
    }
}
