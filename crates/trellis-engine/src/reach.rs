//! Reachability over labels from a lattice: 000 Algorithms 1–5 as one loop.
//!
//! - *simple* (Alg. 2): stop on equality; no state ever gives way to another, so this has a loop of its own, `simple`;
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

pub(crate) mod simple;

use rustc_hash::FxHashSet;
use trellis_model::evidence::Reason;
use trellis_order::{Domain, Join, Word};

use crate::arg::{Arg, Mark, NONE};
use crate::path::{Origins, Path, path_to, replay};
use crate::stored::{Shard, Stored};
use crate::table::NoRoom;
use crate::waitlist::{Order, Waitlist};
use crate::{Batch, State, System};
use trellis_meter::{Meter, Progress, Stats};

/// How two elements under the same key meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Failure on equality.
    Simple,
    /// Failure on `⊑`.
    Cover,
    /// Failure on `⊑`, join where the strategy allows.
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
    pub stored: Stored,
}

/// Explores.
pub fn reach<S: System>(
    system: &mut S,
    options: Options,
    strategy: &mut impl Strategy<S::Error>,
    meter: &mut Meter,
) -> Exploration<S::Action, S::Error> {
    if options.update == Update::Simple {
        return simple::explore(system, options.order, meter);
    }
    let mut r = Reach {
        options,
        arg: Arg::new(system.key_width(), system.elem_width()),
        waiting: Waitlist::new(options.order),
        stats: Stats::default(),
        history: (options.update == Update::Join).then(History::default),
        split: FxHashSet::default(),
        scratch: vec![0; system.elem_width()],
        initial: State::default(),
    };
    let answer = match r.run(system, strategy, meter) {
        Ok(answer) => answer,
        Err(Failure::Limit(reason)) => Answer::Stopped(reason),
        Err(Failure::Broken(_, e) | Failure::Strategy(e)) => Answer::Error(Path::empty(), e),
    };
    let stored = Stored::new(vec![Shard::Arg(r.arg)]);
    r.stats.stored = stored.len() as u64;
    Exploration { answer, stats: r.stats, stored }
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
    initial: State,
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
}

pub(crate) enum Failure<E> {
    Limit(Reason),
    /// The system failed at a node.
    Broken(u32, E),
    /// The joining strategy failed.
    Strategy(E),
}

impl<E> From<NoRoom> for Failure<E> {
    fn from(why: NoRoom) -> Failure<E> {
        Failure::Limit(why.into())
    }
}

/// What a path through the graph leads to.
pub(crate) enum Goal<E> {
    /// The target.
    Target,
    /// A state in which the system fails.
    Fault(E),
}

type Ran<S, T> = Result<T, Failure<<S as System>::Error>>;

impl Reach {
    fn run<S: System>(
        &mut self,
        system: &mut S,
        strategy: &mut impl Strategy<S::Error>,
        meter: &mut Meter,
    ) -> Ran<S, Answer<S::Action, S::Error>> {
        self.initial = system.initial().map_err(|e| Failure::Broken(NONE, e))?;
        let (key, elem) = self.initial.clone();
        let mut batch = Batch::default();
        let mut found = self.insert(system, strategy, &key, &elem, NONE, 0);
        loop {
            let (node, goal) = match found {
                Ok(None) => {
                    let Some(n) = self.next(meter)? else { return Ok(Answer::Unreachable) };
                    found = self.expand(system, strategy, n, &mut batch);
                    continue;
                }
                Ok(Some(target)) => (target, Goal::Target),
                Err(Failure::Broken(node, e)) if node != NONE => (node, Goal::Fault(e)),
                Err(stop) => return Err(stop),
            };
            match self.found(system, node, goal)? {
                Answer::Inconclusive { path, pivot, joins, .. }
                    if self.options.refine == Refine::Split && !joins.is_empty() =>
                {
                    self.stats.refinements += 1;
                    let target = self.split_at(system, strategy, &path.states[pivot].0)?;
                    // What else the state leads to from which this was found is seen when it is expanded anew.
                    for n in [node, self.arg.nodes[node as usize].parent] {
                        if n != NONE && self.arg.nodes[n as usize].mark == Mark::Passed {
                            self.requeue(system, n)?;
                        }
                    }
                    found = Ok(target);
                }
                answer => return Ok(answer),
            }
        }
    }

    /// The next node to expand.
    fn next<E>(&mut self, meter: &mut Meter) -> Result<Option<u32>, Failure<E>> {
        while let Some(n) = self.waiting.pop() {
            if self.arg.nodes[n as usize].mark == Mark::Waiting {
                let progress = Progress { waiting: self.waiting.len(), stats: self.stats };
                meter.check(&progress).map_err(|why| Failure::Limit(why.into()))?;
                return Ok(Some(n));
            }
        }
        Ok(None)
    }

    /// Adds the successors of a node, until one is the target.
    fn expand<S: System>(
        &mut self,
        system: &mut S,
        strategy: &mut impl Strategy<S::Error>,
        n: u32,
        batch: &mut Batch,
    ) -> Ran<S, Option<u32>> {
        let (kw, ew) = (system.key_width(), system.elem_width());
        self.arg.nodes[n as usize].mark = Mark::Passed;
        self.stats.expanded += 1;
        batch.clear();
        let (key, elem) = self.arg.state(n);
        system.successors(key, elem, batch).map_err(|e| Failure::Broken(n, e))?;
        self.stats.steps += u64::from(batch.steps);
        for (i, &via) in batch.ordinals.iter().enumerate() {
            let (key, elem) = (&batch.keys[i * kw..][..kw], &batch.elems[i * ew..][..ew]);
            let target = self.insert(system, strategy, key, elem, n, via)?;
            if target.is_some() {
                return Ok(target);
            }
        }
        Ok(None)
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
        let k = self.arg.key_id(key)?;
        let domain = system.domain();
        let stands = self.arg.find(k, elem).or_else(|| self.arg.find_in_chain(k, |_, e| domain.leq(elem, e)));
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
            let evicted = self.evict(system, k, elem);
            let n = self.add(k, elem, parent, via)?;
            if let Some(h) = &mut self.history {
                evicted.into_iter().for_each(|e| h.replaced_by[e as usize] = n);
            }
            n
        };
        self.enqueue(system, n)?;
        self.stats.added += 1;
        let (key, elem) = self.arg.state(n);
        let target = system.is_target(key, elem).map_err(|e| Failure::Broken(n, e))?;
        Ok(target.then_some(n))
    }

    fn add(&mut self, key: u32, elem: &[Word], parent: u32, via: u32) -> Result<u32, NoRoom> {
        if let Some(h) = &mut self.history {
            h.node();
        }
        self.arg.add(key, elem, parent, via)
    }

    fn enqueue<S: System>(&mut self, system: &mut S, n: u32) -> Ran<S, ()> {
        let mut priority = 0;
        if self.waiting.wants_priority() {
            let (key, elem) = self.arg.state(n);
            priority = system.priority(key, elem).map_err(|e| Failure::Broken(n, e))?;
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
            return Err(Failure::Strategy(e));
        }
        let Some(p) = partner else { return Ok(self.add(k, elem, parent, via)?) };
        self.stats.joins += 1;
        let mut joined = std::mem::take(&mut self.scratch);
        joined.copy_from_slice(self.arg.elem(p));
        system.domain().join(&mut joined, elem);
        self.arg.retire(p, Mark::Replaced);
        let n = self.add(k, &joined, parent, via)?;
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

    /// A goal has been reached in the graph: really, or only by joins?
    fn found<S: System>(
        &mut self,
        system: &mut S,
        node: u32,
        goal: Goal<S::Error>,
    ) -> Ran<S, Answer<S::Action, S::Error>> {
        let broken = |e| Failure::Broken(NONE, e);
        let nodes = self.arg.path(node);
        let path = path_to(system, &self.arg, &nodes).map_err(broken)?;
        let fails_at = match really(system, &self.initial, &path.actions, &goal).map_err(broken)? {
            Replayed::Target(states) => return Ok(Answer::Reachable(Path { states, actions: path.actions })),
            Replayed::Fault(states, e) => return Ok(Answer::Error(Path { states, actions: path.actions }, e)),
            Replayed::Fails(step) => step,
        };
        let is_join = |n: u32| self.history.as_ref().is_some_and(|h| h.part[n as usize] != NONE);
        let joins: Vec<usize> = (0..nodes.len()).filter(|&i| is_join(nodes[i])).collect();
        let mut pivot = joins.first().copied().unwrap_or(0);
        for &j in joins.iter().rev().filter(|&&j| j <= fails_at) {
            let unjoined = match j {
                0 => Some(self.initial.clone()),
                _ => {
                    let (key, elem) = &path.states[j - 1];
                    system.take(key, elem, &path.actions[j - 1]).map_err(broken)?
                }
            };
            let fails = match unjoined {
                Some(s) => {
                    matches!(really(system, &s, &path.actions[j..], &goal).map_err(broken)?, Replayed::Fails(_))
                }
                None => true,
            };
            if fails {
                pivot = j;
                break;
            }
        }
        match (goal, self.options.refine) {
            // A system that answers differently when asked again is broken itself.
            (Goal::Fault(e), _) if joins.is_empty() => Ok(Answer::Error(Path::empty(), e)),
            (Goal::Fault(_), Refine::Never) => Ok(Answer::Stopped(Reason::InconclusiveJoin)),
            _ => Ok(Answer::Inconclusive { path, fails_at, joins, pivot }),
        }
    }

    /// Alg. 5, l. 15–20: never join at this key again, and undo what was explored from its states. Answers a target that
    /// starting anew leads to at once.
    fn split_at<S: System>(
        &mut self,
        system: &mut S,
        strategy: &mut impl Strategy<S::Error>,
        key: &[Word],
    ) -> Ran<S, Option<u32>> {
        let k = self.arg.key_id(key)?;
        self.split.insert(k);
        let Some(history) = self.history.take() else { return Ok(None) };
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
            // The initial state is not the target: that would have been the end. What it is joined with may be.
            let (key, elem) = self.initial.clone();
            return self.insert(system, strategy, &key, &elem, NONE, 0);
        }
        Ok(None)
    }

    fn requeue<S: System>(&mut self, system: &mut S, n: u32) -> Ran<S, ()> {
        self.arg.nodes[n as usize].mark = Mark::Waiting;
        self.enqueue(system, n)
    }
}

/// Takes steps one after the other, without joins (Def. 5), and looks whether the goal is there in the end.
pub(crate) fn really<S: System>(
    system: &mut S,
    from: &State,
    actions: &[S::Action],
    goal: &Goal<S::Error>,
) -> Result<Replayed<S::Error>, S::Error> {
    let states = match replay(system, from, actions)? {
        Ok(states) => states,
        Err(step) => return Ok(Replayed::Fails(step)),
    };
    let (key, elem) = states.last().expect("a path has a first state");
    match goal {
        Goal::Target => Ok(match system.is_target(key, elem)? {
            true => Replayed::Target(states),
            false => Replayed::Fails(actions.len()),
        }),
        Goal::Fault(_) => {
            let stepping = system.successors(key, elem, &mut Batch::default()).err();
            let again = stepping.or_else(|| system.is_target(key, elem).err());
            Ok(match again {
                Some(e) => Replayed::Fault(states, e),
                None => Replayed::Fails(actions.len()),
            })
        }
    }
}

/// How a path goes without joins.
pub(crate) enum Replayed<E> {
    /// To the target, through these states.
    Target(Vec<State>),
    /// To a fault, through these states.
    Fault(Vec<State>, E),
    /// Not at all: this step is not enabled, or (one beyond the last) the goal is not there.
    Fails(usize),
}
