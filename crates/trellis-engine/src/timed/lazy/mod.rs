//! Lazy abstraction of networks with clocks (002, Algorithms 3–8), run by [`crate::abstraction`] (Algorithms 1 and 2).
//!
//! A node of the abstract reachability tree has a *concrete* label, computed exactly from its parent's, and an *abstract*
//! one, which starts as coarse as possible and is strengthened only when it must be: when it would allow a move that the
//! concrete label does not (`disable`), or would not lie below the label of the node that covers it (`cover`). A node is
//! covered if its concrete label proves the abstract label of an expanded node.
//!
//! Labels are products: locations, always explicit; data, kept as it is or abstracted; clocks. Each factor that is
//! abstracted is a [`Refiner`]. Those that refine by interpolation share Algorithms 5–8 ([`block`]) and supply a domain
//! ([`block::Interpolation`]): [`zone`] for clocks, [`explicit`] and [`predicates`] for data. [`lu`] refines clocks by bounds
//! instead.
//!
//! | file | what |
//! |---|---|
//! | `mod` | Algorithm 3: expand |
//! | `tree` | nodes, covers, transitions, Algorithm 4's bookkeeping |
//! | `block` | Algorithms 5–8: disable, cover, block backward and forward; sequences |
//! | `zone`, `lu` | the factors: clocks |
//! | `hashed` | which clock 002's prototype would blame |
//! | `values`, `explicit`, `predicates` | the factors: data |
//!
//! Deviation: 002 Alg. 4 line 5 puts the strengthened node back on the waiting list; the text means, and we do, the node
//! that lost its cover.

pub mod block;
pub mod explicit;
pub mod hashed;
pub mod lu;
pub mod predicates;
pub mod tree;
pub mod values;
pub mod zone;

use std::sync::Arc;

use trellis_domain::zone::{Bound, Zone};
use trellis_model::evidence::Reason;
use trellis_model::network::combine::Here;
use trellis_model::network::{EdgeRef, Network, Post, Query, Transition, Transitions};

use crate::abstraction::{self as algorithm, Search};
use crate::timed::bounds::Bounds;
use crate::timed::space::Keys;
use crate::timed::target::{Error, Target};
use crate::waitlist::{Order, Waitlist};
use tree::{Mark, NONE, Tree, Try};
use trellis_meter::{Meter, Progress};

/// How one factor of the abstract labels is kept and refined.
pub trait Refiner {
    /// A new node: its label is as coarse as can be.
    fn add(&mut self, tree: &Tree, n: u32);
    /// Does the concrete label of `n` prove the abstract label of `by`?
    fn proves(&mut self, tree: &Tree, n: u32, by: u32) -> bool;
    /// Makes the abstract label of `n` lie below that of `by`, which its concrete label proves.
    fn cover(&mut self, tree: &mut Tree, n: u32, by: u32) -> Result<(), Error>;
    /// Makes the abstract label of `n` refuse a transition that its concrete label refuses.
    fn disable(&mut self, tree: &mut Tree, n: u32, t: Try) -> Result<(), Error>;
}

/// How the data factor of the abstract labels is kept and refined. It is asked first.
pub trait Data {
    /// Is data kept as it is? Then nothing of this is ever called.
    const KEPT: bool;
    /// A new node, which this combination of edges led to: its label is as coarse as can be.
    fn add(&mut self, tree: &Tree, n: u32, via: u32);
    /// Does the concrete label of `n` prove the abstract label of `by`?
    fn proves(&mut self, tree: &Tree, n: u32, by: u32) -> bool;
    /// Makes the abstract label of `n` lie below that of `by`, which its concrete label proves.
    fn cover(&mut self, tree: &mut Tree, n: u32, by: u32) -> Result<(), Error>;
    /// Gets a node ready to be expanded: what could move there, whatever the data.
    fn settle(&mut self, tree: &mut Tree, n: u32) -> Result<Arc<Here>, Error>;
    /// A combination that the concrete label of `n` allows may now be taken.
    fn admit(&mut self, tree: &mut Tree, n: u32, c: u32) -> Result<(), Error>;
    /// Are these the edges of a combination?
    fn is_action(&self, c: u32, action: &[EdgeRef]) -> bool;
    /// May a combination be more than one move? (Clocks may refuse receivers of a broadcast in more than one way.)
    fn is_many(&self, c: u32) -> bool;
    /// Does the concrete label of `n` refuse a combination although the same edges move in another?
    fn refuses(&mut self, tree: &Tree, n: u32, c: u32) -> bool;
    /// Makes the abstract label of `n` refuse a combination that its concrete label refuses.
    fn disable(&mut self, tree: &mut Tree, n: u32, c: u32) -> Result<(), Error>;
    /// Removes what is looked for, which the concrete label of `n` has not, from its abstract label.
    fn exclude(&mut self, tree: &mut Tree, n: u32) -> Result<(), Error>;
    /// What the abstract label of `n` says, for a certificate: which cells it knows (empty: all), and what more, in SMT-LIB.
    fn tell(&mut self, tree: &Tree, n: u32) -> (Vec<bool>, Option<String>);
}

/// Data kept as it is: part of the key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl Data for Identity {
    const KEPT: bool = true;

    fn add(&mut self, _: &Tree, _: u32, _: u32) {}

    fn proves(&mut self, _: &Tree, _: u32, _: u32) -> bool {
        true
    }

    fn cover(&mut self, _: &mut Tree, _: u32, _: u32) -> Result<(), Error> {
        Ok(())
    }

    fn settle(&mut self, _: &mut Tree, _: u32) -> Result<Arc<Here>, Error> {
        unreachable!("moves are enumerated from keys")
    }

    fn admit(&mut self, _: &mut Tree, _: u32, _: u32) -> Result<(), Error> {
        Ok(())
    }

    fn is_action(&self, _: u32, _: &[EdgeRef]) -> bool {
        false
    }

    fn is_many(&self, _: u32) -> bool {
        false
    }

    fn refuses(&mut self, _: &Tree, _: u32, _: u32) -> bool {
        false
    }

    fn disable(&mut self, _: &mut Tree, _: u32, _: u32) -> Result<(), Error> {
        Ok(())
    }

    fn exclude(&mut self, _: &mut Tree, _: u32) -> Result<(), Error> {
        Ok(())
    }

    fn tell(&mut self, _: &Tree, _: u32) -> (Vec<bool>, Option<String>) {
        (Vec::new(), None)
    }
}

/// How it ended.
#[derive(Debug)]
pub enum Ending {
    /// Everything is covered.
    Closed,
    /// A node with the parts of its zone that are looked for; none: any will do.
    Found(u32, Vec<Zone>),
    /// A limit.
    Stopped(Reason),
    /// The model is broken in this node (or before the first one).
    Broken(u32, Error),
}

/// The options of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What comes first.
    pub order: Order,
    /// Leave inactive clocks out of zones. (002's prototype does not.)
    pub reduce: bool,
    /// Where data is abstracted: never miss a fault. (002's prototype knows none.)
    pub pin_faults: bool,
    /// Of clocks that do equally well in an interpolant, take the one that 002's prototype takes ([`hashed`]), not the first.
    pub hashed: bool,
    /// Where data is abstracted by predicates: larger formulas are not taken back through yet another step. Along a long path through
    /// assignments that read what others wrote they grow beyond measure. Then all values are needed.
    pub largest_formula: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { order: Order::Bfs, reduce: true, pin_faults: true, hashed: false, largest_formula: 1000 }
    }
}

/// A search.
pub struct Lazy<'n, D, R> {
    /// The model's moves.
    pub post: Post<'n>,
    /// The tree.
    pub tree: Tree,
    /// The abstract labels: data.
    pub data: D,
    /// The abstract labels: clocks.
    pub refiner: R,
    waiting: Waitlist,
    started: bool,
}

impl<'n, D: Data, R: Refiner> Lazy<'n, D, R> {
    /// Nothing explored yet.
    pub fn new(net: &'n Network, query: &Query, options: Options, data: D, refiner: R) -> Lazy<'n, D, R> {
        let post = Post::new(net);
        let mut bounds = Bounds::new(net, query);
        if !options.reduce {
            bounds.activate_all(net.clocks.len());
        }
        bounds.forget_constants();
        let keys = Keys::new(net, &post.layout, bounds);
        Lazy {
            post,
            tree: Tree::new(keys, !D::KEPT),
            data,
            refiner,
            waiting: Waitlist::new(options.order),
            started: false,
        }
    }

    /// 002 Algorithm 1. Stopped by a limit, it goes on where it was when it is called again.
    pub fn check(&mut self, query: &Query, mut target: Option<&mut Target>, meter: &mut Meter) -> Ending {
        if !std::mem::replace(&mut self.started, true) {
            match self.start(query, &mut target) {
                Ok(None) => {}
                Ok(Some((n, parts))) => return Ending::Found(n, parts),
                Err(trouble) => return Ending::Broken(NONE, trouble),
            }
        }
        let mut run = Run { lazy: self, query, target, moves: Transitions::default(), zone: Vec::new(), taken: NONE };
        if let Err(end) = algorithm::check(&mut run, meter) {
            if let (Ending::Stopped(_), true) = (&end, run.taken != NONE) {
                let n = run.taken;
                self.waiting.push(n, 0);
            }
            return end;
        }
        self.tree.stats.stored = self.tree.stats.expanded;
        Ending::Closed
    }

    fn start(&mut self, query: &Query, target: &mut Option<&mut Target>) -> Result<Option<(u32, Vec<Zone>)>, Error> {
        let (key, _) = self.post.initial()?;
        let mut own = Vec::new();
        let delay = self.post.timing(&key, &mut own)?;
        let Some(n) = self.tree.root(&key, &own, delay)? else { return Err(self.post.broken_start().into()) };
        self.data.add(&self.tree, n, NONE);
        self.refiner.add(&self.tree, n);
        self.waiting.push(n, 0);
        self.look(n, query, target)
    }

    /// Is a new node what is looked for?
    fn look(
        &mut self,
        n: u32,
        query: &Query,
        target: &mut Option<&mut Target>,
    ) -> Result<Option<(u32, Vec<Zone>)>, Error> {
        let Some(target) = target else { return Ok(None) };
        let tree = &self.tree;
        let key = tree.keys.get(tree.nodes[n as usize].key);
        let active = tree.active(n);
        if target.is_discrete() {
            let found = tree.is_first(n) && target.holds(&mut self.post, key)?;
            return Ok(found.then(|| (n, Vec::new())));
        }
        // The label has not met the invariant yet after time has passed.
        let mut zone: Vec<Bound> = tree.zone(n).to_vec();
        let k = tree.nodes[n as usize].key;
        if !crate::timed::space::invariant(active, tree.invariant(k), &mut zone)? {
            return Ok(None);
        }
        let parts = target.find(&mut self.post, query, key, active, &zone, tree.delay(k))?;
        Ok((!parts.is_empty()).then_some((n, parts)))
    }

    /// Lets a node cover another; does the cover stay?
    fn cover(&mut self, n: u32, by: u32) -> Result<bool, Error> {
        self.tree.set_cover(n, by);
        self.data.cover(&mut self.tree, n, by)?;
        // Refining the first may have taken the cover away.
        if self.tree.nodes[n as usize].covered_by == by {
            self.refiner.cover(&mut self.tree, n, by)?;
        }
        self.requeue(n);
        let stays = self.tree.nodes[n as usize].covered_by == by;
        self.tree.stats.covered += u64::from(stays);
        Ok(stays)
    }

    /// Nodes that have lost their cover wait again.
    fn requeue(&mut self, except: u32) {
        for m in std::mem::take(&mut self.tree.uncovered) {
            if m != except {
                self.waiting.push(m, 0);
            }
        }
    }

    /// 002 Algorithm 3.
    fn expand(
        &mut self,
        n: u32,
        query: &Query,
        target: &mut Option<&mut Target>,
        moves: &mut Transitions,
        zone: &mut Vec<Bound>,
    ) -> Result<Option<(u32, Vec<Zone>)>, Error> {
        self.tree.stats.expanded += 1;
        let key = self.tree.nodes[n as usize].key;
        self.post.moves(self.tree.keys.get(key), moves)?;
        zone.clear();
        zone.extend_from_slice(self.tree.zone(n));
        // Leaving asks for the invariant; once for all moves.
        crate::timed::space::invariant(self.tree.active(n), self.tree.invariant(key), zone)?;
        for m in moves.iter() {
            if let Some(found) = self.follow(n, zone, &m, NONE, query, target)? {
                return Ok(Some(found));
            }
        }
        if let Some(target) = target {
            self.exclude(n, query, target)?;
        }
        self.tree.pass(n);
        Ok(None)
    }

    /// Where a move that data allows leads: to a new node, or nowhere, and then the abstract label must refuse it too. `c` is
    /// the combination of edges that it is, where data is abstracted.
    fn follow(
        &mut self,
        n: u32,
        zone: &[Bound],
        m: &Transition<'_>,
        c: u32,
        query: &Query,
        target: &mut Option<&mut Target>,
    ) -> Result<Option<(u32, Vec<Zone>)>, Error> {
        self.tree.stats.steps += 1;
        let (feasible, to) = self.tree.step(n, zone, m)?;
        if let (true, Some(error)) = (feasible, m.fault) {
            return Err(error.clone().into());
        }
        if !feasible {
            self.refiner.disable(&mut self.tree, n, to)?;
            self.requeue(NONE);
            return Ok(None);
        }
        let new = self.tree.add(to, n, m.ordinal)?;
        self.data.add(&self.tree, new, c);
        self.refiner.add(&self.tree, new);
        self.waiting.push(new, 0);
        self.look(new, query, target)
    }

    /// The same where data is abstracted: what data refuses must be refused by its abstract label.
    fn expand_abstractly(
        &mut self,
        n: u32,
        query: &Query,
        target: &mut Option<&mut Target>,
        moves: &mut Transitions,
        zone: &mut Vec<Bound>,
    ) -> Result<Option<(u32, Vec<Zone>)>, Error> {
        self.tree.stats.expanded += 1;
        let key = self.tree.nodes[n as usize].key;
        self.post.moves(self.tree.keys.get(key), moves)?;
        let here = self.data.settle(&mut self.tree, n)?;
        self.requeue(NONE);
        zone.clear();
        zone.extend_from_slice(self.tree.zone(n));
        crate::timed::space::invariant(self.tree.active(n), self.tree.invariant(key), zone)?;
        // Both are in the same order.
        let mut next = 0;
        for &c in &here.all {
            let is_it = |data: &D, i: usize| i < moves.len() && data.is_action(c, moves.get(i).action);
            if !is_it(&self.data, next) || self.data.refuses(&self.tree, n, c) {
                self.data.disable(&mut self.tree, n, c)?;
                self.requeue(NONE);
                continue;
            }
            self.data.admit(&mut self.tree, n, c)?;
            self.requeue(NONE);
            let first = next;
            while is_it(&self.data, next) && (next == first || self.data.is_many(c)) {
                let m = moves.get(next);
                next += 1;
                if let Some(found) = self.follow(n, zone, &m, c, query, target)? {
                    return Ok(Some(found));
                }
            }
        }
        assert_eq!(next, moves.len(), "every move is one of the combinations");
        if let Some(target) = target {
            self.data.exclude(&mut self.tree, n)?;
            self.requeue(NONE);
            self.exclude(n, query, target)?;
        }
        self.tree.pass(n);
        Ok(None)
    }

    /// What the concrete label of a node does not have of a target, its abstract label must not have either: the node will
    /// stand for others. (002 has targets that are locations; a target that depends on clocks is a location behind a
    /// transition that is disabled.)
    fn exclude(&mut self, n: u32, query: &Query, target: &Target) -> Result<(), Error> {
        if target.is_discrete() {
            return Ok(());
        }
        let key = self.tree.keys.get(self.tree.nodes[n as usize].key);
        for case in target.cases(&mut self.post, query, key, self.tree.active(n))? {
            let t = self.tree.probe(&case);
            self.refiner.disable(&mut self.tree, n, t)?;
            self.requeue(NONE);
        }
        Ok(())
    }
}

/// A search for something.
struct Run<'r, 'n, 't, D, R> {
    lazy: &'r mut Lazy<'n, D, R>,
    query: &'r Query,
    target: Option<&'t mut Target>,
    moves: Transitions,
    zone: Vec<Bound>,
    /// What was taken last from those that wait.
    taken: u32,
}

impl<D: Data, R: Refiner> Search for Run<'_, '_, '_, D, R> {
    type End = Ending;

    fn next(&mut self) -> Result<Option<u32>, Ending> {
        let n = self.lazy.waiting.pop();
        self.taken = n.unwrap_or(NONE);
        Ok(n)
    }

    fn spend(&mut self, meter: &mut Meter) -> Result<(), Ending> {
        let tree = &self.lazy.tree;
        let progress = Progress { waiting: self.lazy.waiting.len(), stats: tree.stats };
        meter.check(&progress).map_err(|why| Ending::Stopped(why.into()))?;
        // What is abstracted may take long for each node.
        if D::KEPT { Ok(()) } else { meter.ask(&progress).map_err(|why| Ending::Stopped(why.into())) }
    }

    fn newest(&mut self, n: u32) -> Option<u32> {
        Some(self.lazy.tree.newest(n)).filter(|&m| m != NONE)
    }

    fn older(&mut self, than: u32) -> Option<u32> {
        Some(self.lazy.tree.nodes[than as usize].older).filter(|&m| m != NONE)
    }

    fn proves(&mut self, n: u32, by: u32) -> bool {
        let Lazy { tree, data, refiner, .. } = &mut *self.lazy;
        data.proves(tree, n, by) && refiner.proves(tree, n, by)
    }

    fn cover(&mut self, n: u32, by: u32) -> Result<bool, Ending> {
        self.lazy.cover(n, by).map_err(|trouble| Ending::Broken(n, trouble))
    }

    fn expand(&mut self, n: u32) -> Result<(), Ending> {
        let Run { lazy, query, target, moves, zone, .. } = self;
        let found = if D::KEPT {
            lazy.expand(n, query, target, moves, zone)
        } else {
            lazy.expand_abstractly(n, query, target, moves, zone)
        };
        match found {
            Ok(None) => Ok(()),
            Ok(Some((n, parts))) => Err(Ending::Found(n, parts)),
            Err(trouble) => Err(Ending::Broken(n, trouble)),
        }
    }
}

impl<D, R> Lazy<'_, D, R> {
    /// The nodes that were expanded.
    pub fn expanded(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.tree.nodes.len() as u32).filter(|&n| self.tree.nodes[n as usize].mark == Mark::Passed)
    }
}
