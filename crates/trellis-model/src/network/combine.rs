//! Which edges could move together, whatever the data: for abstractions that know data only in part.
//!
//! From a vector of locations alone come all *combinations*, in the order of [`super::post`]: a silent edge; a sender with a receiver
//! whose channel may be the same; a broadcast with one receiver, or none, of every other process; the choices of a
//! synchronisation vector; always as committed locations allow. Each has its condition on data as a term: guards, equality
//! of channels, and the targets' invariants, said before the step. A broadcast leaves a process behind if data or clocks refuse
//! all its receiving edges, so there is a combination for each set of edges that only clocks refuse.
//!
//! The terms live in a copy of the network's arena, so that a network can be shared. Temporaries are replaced by the values
//! that they start with. Where there is no term (a loop in a function: [`trellis_expr::transform::wep`]) there is `None`, and whoever
//! asks must know everything.
//!
//! What this module deliberately does not do: evaluate anything, and handle priorities (which steps they allow is no matter of
//! single combinations), lattice variables, and clock constraints that depend on data. [`Combinations::new`] refuses these.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trellis_expr::subst::Substitution;
use trellis_expr::transform::wep;
use trellis_expr::{Stmt, StmtId, TermId, Terms, Type, VarId};

use super::{ClockAtom, Condition, DataVar, Edge, EdgeRef, Network, ResetTo, Sync};

/// More receiving edges with clock guards in one location are refused: all their subsets are looked at.
const RECEIVERS: usize = 6;

/// Edges that could move together from some locations.
#[derive(Debug, Clone)]
pub struct Combination {
    /// The edges, in the order in which they update.
    pub action: Vec<EdgeRef>,
    /// Receiving edges that data allows and clocks must refuse.
    pub refused: Vec<EdgeRef>,
    /// Is it the only one of its locations with this action?
    pub unique: bool,
    /// Guards and channels allow it.
    pub guard: Option<TermId>,
    /// What the edges do to data, one after the other.
    pub update: StmtId,
    /// What must hold afterwards.
    pub invariant: Option<TermId>,
    /// On these data variables it depends whether taking the step faults, and whether an urgent step is possible.
    pub pins: Vec<VarId>,
}

/// All combinations from some locations.
#[derive(Debug)]
pub struct Here {
    /// Their numbers, in order.
    pub all: Vec<u32>,
    /// On these data variables it depends whether judging who can move faults.
    pub pins: Vec<VarId>,
}

/// All of a network's combinations that were ever asked for.
#[derive(Debug)]
pub struct Combinations<'n> {
    net: &'n Network,
    /// Where the terms are.
    pub terms: Terms,
    all: Vec<Combination>,
    index: HashMap<Place, u32>,
    by_locations: HashMap<Vec<u32>, Arc<Here>>,
    /// Temporaries with the values they start with.
    initial: FxHashMap<VarId, TermId>,
    guards: HashMap<EdgeRef, Option<TermId>>,
    preconditions: FxHashMap<(u32, TermId), Option<TermId>>,
    has_invariants: bool,
}

/// Action, refused edges, and the target's locations where they matter.
type Place = (Vec<EdgeRef>, Vec<EdgeRef>, Vec<u32>);

/// One process's part in a broadcast: an edge, or the edges that clocks must refuse.
type Choice = (Option<EdgeRef>, Vec<EdgeRef>);

/// A channel, perhaps one of many.
#[derive(Clone, Copy)]
enum Which {
    Fixed(i64),
    Indexed { base: i64, prepare: StmtId, index: TermId },
}

impl<'n> Combinations<'n> {
    /// Nothing asked for yet; or why this network has none.
    pub fn new(net: &'n Network) -> Result<Combinations<'n>, &'static str> {
        if net.has_priorities {
            return Err("whether priorities let a step happen depends on all data, which is abstracted");
        }
        if !net.lattices.is_empty() {
            return Err("lattice variables beside abstracted data");
        }
        let fixed = |a: &ClockAtom| {
            net.terms.as_int(a.bound).is_some() && a.when.is_none_or(|w| net.terms.as_bool(w) == Some(true))
        };
        let locations: BTreeSet<VarId> = net.processes.iter().map(|p| p.location).collect();
        for p in &net.processes {
            let resets = p.edges.iter().flat_map(|e| &e.resets);
            let constant = |t| net.terms.as_int(t).is_some();
            let mut resets = resets.map(|r| r.when.is_none() && !matches!(r.to, ResetTo::Value(t) if !constant(t)));
            let mut atoms = p.edges.iter().flat_map(|e| &e.clock_guard);
            let mut own = p.locations.iter().flat_map(|l| &l.clock_invariant);
            if !resets.all(|fixed| fixed) || !atoms.all(fixed) || !own.all(fixed) {
                return Err("clock constraints or resets depend on data, which is abstracted");
            }
            for e in &p.edges {
                let receiving = |o: &&Edge| o.source == e.source && o.sync.is_some_and(|s| !s.send);
                let by_clocks = |o: &&Edge| !o.clock_guard.is_empty() && net.channels.iter().any(|c| c.broadcast);
                if p.edges.iter().filter(receiving).filter(by_clocks).count() > RECEIVERS {
                    return Err("a location with many receiving edges whose guards have clocks");
                }
                // Neither whether an urgent step is possible nor whether it faults can be said as a term then.
                if has_loop(&net.terms, e.guard.prepare) {
                    return Err("a guard is computed by a loop in a function, while data is abstracted");
                }
                if reads(net, e).iter().any(|v| locations.contains(v)) {
                    return Err("an edge asks where another process is, while data is abstracted");
                }
            }
        }
        let mut terms = net.terms.clone();
        let initial = net.temps.iter().map(|v| (v.var, value_term(&mut terms, v, &v.init))).collect();
        Ok(Combinations {
            net,
            terms,
            all: Vec::new(),
            index: HashMap::new(),
            by_locations: HashMap::new(),
            initial,
            guards: HashMap::new(),
            preconditions: FxHashMap::default(),
            has_invariants: net.processes.iter().any(|p| p.locations.iter().any(|l| l.invariant.is_some())),
        })
    }

    /// The network.
    pub fn network(&self) -> &'n Network {
        self.net
    }

    /// A combination by its number.
    pub fn get(&self, c: u32) -> &Combination {
        &self.all[c as usize]
    }

    /// All combinations from these locations, in order.
    pub fn from(&mut self, locations: &[u32]) -> Arc<Here> {
        if let Some(known) = self.by_locations.get(locations) {
            return known.clone();
        }
        let mut found: Vec<(Vec<EdgeRef>, Vec<EdgeRef>)> = Vec::new();
        for p in 0..self.net.processes.len() {
            for first in self.edges_from(locations, p) {
                let edge = self.edge(first);
                match edge.sync {
                    None if edge.event.is_none() => found.push((vec![first], Vec::new())),
                    Some(s) if s.send && self.net.channels[s.base as usize].broadcast => {
                        self.broadcasts(locations, first, &mut found);
                    }
                    Some(s) if s.send => {
                        for second in self.receivers(locations, first) {
                            found.push((vec![first, second], Vec::new()));
                        }
                    }
                    _ => {}
                }
            }
        }
        for v in 0..self.net.vectors.len() {
            self.vector(locations, v, &mut found);
        }
        let is_committed = |p: usize| self.net.processes[p].locations[locations[p] as usize].committed;
        if (0..locations.len()).any(is_committed) {
            found.retain(|(action, _)| action.iter().any(|e| is_committed(e.process as usize)));
        }
        let mut times: HashMap<Vec<EdgeRef>, u32> = HashMap::new();
        found.iter().for_each(|(action, _)| *times.entry(action.clone()).or_default() += 1);
        let numbers = found.into_iter().map(|(action, refused)| {
            let unique = times[&action] == 1;
            self.number(locations, action, refused, unique)
        });
        let all: Vec<u32> = numbers.collect();
        let here = Arc::new(Here { all, pins: self.data_of(self.guard_pins(locations)) });
        self.by_locations.insert(locations.to_vec(), here.clone());
        here
    }

    /// What must hold of data so that the combination can happen.
    pub fn condition(&mut self, c: u32) -> Option<TermId> {
        let yes = self.terms.bool(true);
        self.before(c, yes)
    }

    /// What must hold of data so that the combination can happen and lead to where the term holds.
    pub fn before(&mut self, c: u32, t: TermId) -> Option<TermId> {
        if let Some(&known) = self.preconditions.get(&(c, t)) {
            return known;
        }
        let before = self.all[c as usize].guard.and_then(|guard| {
            let after = self.after(c, t)?;
            Some(self.terms.and([guard, after]))
        });
        self.preconditions.insert((c, t), before);
        before
    }

    /// What must hold of data so that what the combination does to them, if it happens, leads to where the term holds.
    pub fn after(&mut self, c: u32, t: TermId) -> Option<TermId> {
        let Combination { update, invariant, .. } = self.all[c as usize];
        let after = self.terms.and([invariant?, t]);
        let after = wep(&mut self.terms, update, after)?;
        Some(self.close(after))
    }

    /// The truth of a condition of a query, or of an invariant: no temporaries occur in it.
    pub fn truth(&mut self, c: &Condition) -> Option<TermId> {
        let t = wep(&mut self.terms, c.prepare, c.holds)?;
        Some(self.close(t))
    }

    /// A variable with a value, as a term.
    pub fn is(&mut self, v: &DataVar, cells: &[i64]) -> TermId {
        let (var, value) = (self.terms.var(v.var), value_term(&mut self.terms, v, cells));
        self.terms.eq(var, value)
    }

    /// A value of a variable, as a term.
    pub fn value(&mut self, v: &DataVar, cells: &[i64]) -> TermId {
        value_term(&mut self.terms, v, cells)
    }

    fn close(&mut self, t: TermId) -> TermId {
        Substitution::new(self.initial.clone()).apply(&mut self.terms, t)
    }

    fn edge(&self, e: EdgeRef) -> &'n Edge {
        &self.net.processes[e.process as usize].edges[e.edge as usize]
    }

    fn edges_from(&self, locations: &[u32], p: usize) -> Vec<EdgeRef> {
        let edges = self.net.processes[p].edges.iter().enumerate().filter(|(_, e)| e.source == locations[p]);
        edges.map(|(i, _)| EdgeRef { process: p as u32, edge: i as u32 }).collect()
    }

    fn which(&self, s: Sync) -> Which {
        let base = i64::from(s.base);
        match s.index {
            None => Which::Fixed(base),
            Some((prepare, index)) => match self.terms.as_int(index) {
                Some(i) if matches!(self.terms.stmt(prepare), Stmt::Skip) => Which::Fixed(base + i),
                _ => Which::Indexed { base, prepare, index },
            },
        }
    }

    /// Could both be the same channel?
    fn may_meet(&self, a: Sync, b: Sync) -> bool {
        let span = |s: Sync| match self.which(s) {
            Which::Fixed(c) => (c, c),
            Which::Indexed { base, index, .. } => match self.terms.bounds(index) {
                Some((lo, hi)) => (base.saturating_add(lo), base.saturating_add(hi)),
                None => (i64::MIN, i64::MAX),
            },
        };
        let ((a, b), (c, d)) = (span(a), span(b));
        a <= d && c <= b
    }

    /// Both are the same channel, as a term.
    fn meets(&mut self, a: Sync, b: Sync) -> Option<TermId> {
        let mut side = |s: Sync| match self.which(s) {
            Which::Fixed(c) => Some(self.terms.int(c)),
            Which::Indexed { base, prepare, index } => {
                let index = wep(&mut self.terms, prepare, index)?;
                let (index, base) = (self.close(index), self.terms.int(base));
                Some(self.terms.add([index, base]))
            }
        };
        let (a, b) = (side(a)?, side(b)?);
        Some(self.terms.eq(a, b))
    }

    /// The edges of others that could receive from a sender.
    fn receivers(&self, locations: &[u32], sender: EdgeRef) -> Vec<EdgeRef> {
        let others = (0..self.net.processes.len()).filter(|&q| q != sender.process as usize);
        let sent = self.edge(sender).sync.expect("a sender has a channel");
        let receives = |e: &EdgeRef| self.edge(*e).sync.is_some_and(|s| !s.send && self.may_meet(sent, s));
        others.flat_map(|q| self.edges_from(locations, q)).filter(receives).collect()
    }

    fn broadcasts(&self, locations: &[u32], sender: EdgeRef, found: &mut Vec<(Vec<EdgeRef>, Vec<EdgeRef>)>) {
        let all = self.receivers(locations, sender);
        let mut sets: Vec<(Vec<EdgeRef>, Vec<EdgeRef>)> = vec![(vec![sender], Vec::new())];
        for of_one in all.chunk_by(|a, b| a.process == b.process) {
            let mut choices: Vec<Choice> = of_one.iter().map(|&e| (Some(e), Vec::new())).collect();
            let by_clocks: Vec<EdgeRef> =
                of_one.iter().copied().filter(|&e| !self.edge(e).clock_guard.is_empty()).collect();
            for subset in 0..1u32 << by_clocks.len() {
                let chosen = by_clocks.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1);
                choices.push((None, chosen.map(|(_, &e)| e).collect()));
            }
            let with_each = |(action, refused): &(Vec<EdgeRef>, Vec<EdgeRef>)| -> Vec<_> {
                let with = |(e, no): &Choice| {
                    let action: Vec<EdgeRef> = action.iter().copied().chain(*e).collect();
                    (action, [refused.as_slice(), no].concat())
                };
                choices.iter().map(with).collect()
            };
            sets = sets.iter().flat_map(with_each).collect();
        }
        found.append(&mut sets);
    }

    fn vector(&self, locations: &[u32], v: usize, found: &mut Vec<(Vec<EdgeRef>, Vec<EdgeRef>)>) {
        let mut sets: Vec<Vec<EdgeRef>> = vec![Vec::new()];
        for part in &self.net.vectors[v].parts {
            let mut choices = self.edges_from(locations, part.process as usize);
            choices.retain(|&e| self.edge(e).event == Some(part.event));
            if choices.is_empty() && part.weak {
                continue;
            }
            let with_each = |set: &Vec<EdgeRef>| -> Vec<Vec<EdgeRef>> {
                choices.iter().map(|&e| [set.as_slice(), &[e]].concat()).collect()
            };
            sets = sets.iter().flat_map(with_each).collect();
        }
        found.extend(sets.into_iter().filter(|s| !s.is_empty()).map(|s| (s, Vec::new())));
    }

    /// The number of a combination; new ones get one.
    fn number(&mut self, locations: &[u32], action: Vec<EdgeRef>, refused: Vec<EdgeRef>, unique: bool) -> u32 {
        let mut after = locations.to_vec();
        action.iter().for_each(|&e| after[e.process as usize] = self.edge(e).target);
        // Who else could receive is a matter of all locations.
        let is_broadcast = |s: Sync| self.net.channels[s.base as usize].broadcast;
        let broadcast = self.edge(action[0]).sync.is_some_and(is_broadcast);
        let of = match (broadcast, self.has_invariants) {
            (true, _) => [locations, &after].concat(),
            (false, true) => after.clone(),
            (false, false) => Vec::new(),
        };
        let place = (action, refused, of);
        if let Some(&known) = self.index.get(&place) {
            return known;
        }
        let (action, refused, _) = &place;
        let guard = self.guard(locations, action, refused, broadcast);
        let updates: Vec<StmtId> = action.iter().map(|&e| self.edge(e).update).collect();
        let update = self.terms.seq(updates);
        let invariant = self.invariant(&after);
        let pins = self.data_of(self.pins(action, update, &after));
        let (action, refused) = (action.clone(), refused.clone());
        let id = self.all.len() as u32;
        self.all.push(Combination { action, refused, unique, guard, update, invariant, pins });
        self.index.insert(place, id);
        id
    }

    fn edge_guard(&mut self, e: EdgeRef) -> Option<TermId> {
        if let Some(&known) = self.guards.get(&e) {
            return known;
        }
        let guard = self.truth(&self.edge(e).guard);
        self.guards.insert(e, guard);
        guard
    }

    /// The edge receives, as far as data is concerned.
    fn receives(&mut self, sent: Sync, e: EdgeRef) -> Option<TermId> {
        let own = self.edge(e).sync.expect("a receiver has a channel");
        let (meets, guard) = (self.meets(sent, own)?, self.edge_guard(e)?);
        Some(self.terms.and([meets, guard]))
    }

    fn guard(&mut self, locations: &[u32], action: &[EdgeRef], refused: &[EdgeRef], broadcast: bool) -> Option<TermId> {
        let mut parts = vec![self.edge_guard(action[0])?];
        match self.edge(action[0]).sync {
            None => {
                for &e in &action[1..] {
                    parts.push(self.edge_guard(e)?);
                }
            }
            Some(sent) if !broadcast => {
                for &e in &action[1..] {
                    parts.push(self.receives(sent, e)?);
                }
            }
            Some(sent) => {
                for e in self.receivers(locations, action[0]) {
                    if action[1..].contains(&e) || refused.contains(&e) {
                        parts.push(self.receives(sent, e)?);
                    } else if !action[1..].iter().any(|a| a.process == e.process) {
                        let receives = self.receives(sent, e)?;
                        parts.push(self.terms.not(receives));
                    }
                }
            }
        }
        Some(self.terms.and(parts))
    }

    fn invariant(&mut self, locations: &[u32]) -> Option<TermId> {
        let mut parts = Vec::new();
        for (p, &l) in self.net.processes.iter().zip(locations) {
            if let Some(c) = &p.locations[l as usize].invariant {
                parts.push(self.truth(c)?);
            }
        }
        Some(self.terms.and(parts))
    }

    fn data_of(&self, variables: BTreeSet<VarId>) -> Vec<VarId> {
        variables.into_iter().filter(|v| self.net.vars.iter().any(|d| d.var == *v)).collect()
    }

    /// The variables on which it depends whether taking a step faults, or whether an urgent one is possible.
    fn pins(&self, action: &[EdgeRef], update: StmtId, after: &[u32]) -> BTreeSet<VarId> {
        let terms = &self.terms;
        let is_urgent = |s: Sync| self.net.channels[s.base as usize].urgent;
        let urgent = self.edge(action[0]).sync.is_some_and(is_urgent);
        let mut pins = BTreeSet::new();
        if urgent {
            pins.extend(action.iter().flat_map(|&e| reads(self.net, self.edge(e))));
        }
        if urgent || stmt_may_fault(terms, update) {
            pins.extend(terms.stmt_vars(update).0);
        }
        for (p, &l) in self.net.processes.iter().zip(after) {
            if let Some(c) = &p.locations[l as usize].invariant
                && (urgent || stmt_may_fault(terms, c.prepare) || terms.may_fault(c.holds))
            {
                pins.extend(terms.stmt_vars(update).0);
                pins.extend(condition_reads(terms, c));
            }
        }
        pins
    }

    /// The variables on which it depends whether judging who can move faults, in these locations.
    fn guard_pins(&self, locations: &[u32]) -> BTreeSet<VarId> {
        let terms = &self.terms;
        let mut pins = BTreeSet::new();
        for e in (0..locations.len()).flat_map(|p| self.edges_from(locations, p)) {
            let edge = self.edge(e);
            if stmt_may_fault(terms, edge.guard.prepare) || terms.may_fault(edge.guard.holds) {
                pins.extend(condition_reads(terms, &edge.guard));
            }
            if let Some((prepare, index)) = edge.sync.and_then(|s| s.index)
                && (stmt_may_fault(terms, prepare) || terms.may_fault(index))
            {
                pins.extend(condition_reads(terms, &Condition { prepare, holds: index }));
            }
        }
        pins
    }
}

/// The variables that a condition reads.
pub fn condition_reads(terms: &Terms, c: &Condition) -> BTreeSet<VarId> {
    let mut reads = terms.stmt_vars(c.prepare).0;
    reads.append(&mut terms.free_vars(c.holds));
    reads
}

/// The variables that an edge reads.
fn reads(net: &Network, e: &Edge) -> BTreeSet<VarId> {
    let mut reads = condition_reads(&net.terms, &e.guard);
    reads.append(&mut net.terms.stmt_vars(e.update).0);
    if let Some((prepare, holds)) = e.sync.and_then(|s| s.index) {
        reads.append(&mut condition_reads(&net.terms, &Condition { prepare, holds }));
    }
    reads
}

/// A value as a term.
fn value_term(terms: &mut Terms, v: &DataVar, cells: &[i64]) -> TermId {
    let scalar = |terms: &mut Terms, ty: Type, n: i64| match ty {
        Type::Bool => terms.bool(n != 0),
        _ => terms.int(n),
    };
    match terms.variable(v.var).ty {
        Type::Array(_, entry) => {
            let (ty, entry) = (terms.variable(v.var).ty, terms.type_of_id(entry));
            let first = scalar(terms, entry, cells[0]);
            let mut array = terms.const_array(ty, first);
            for (i, &cell) in cells.iter().enumerate().filter(|(_, c)| **c != cells[0]) {
                let (i, cell) = (terms.int(i as i64), scalar(terms, entry, cell));
                array = terms.store(array, i, cell);
            }
            array
        }
        ty => scalar(terms, ty, cells[0]),
    }
}

/// Is there a loop in a statement?
fn has_loop(terms: &Terms, s: StmtId) -> bool {
    match *terms.stmt(s) {
        Stmt::While(..) => true,
        Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => parts.iter().any(|&p| has_loop(terms, p)),
        Stmt::If(_, a, b) => has_loop(terms, a) || has_loop(terms, b),
        _ => false,
    }
}

/// May a statement fault, or not end?
fn stmt_may_fault(terms: &Terms, s: StmtId) -> bool {
    match *terms.stmt(s) {
        Stmt::Skip | Stmt::Havoc(_) => false,
        Stmt::Assume(t) => terms.may_fault(t),
        Stmt::Assign(v, t) => match terms.variable(v).ty {
            Type::Range(lo, hi) => terms.may_fault(t) || !terms.lies_within(t, lo, hi),
            _ => terms.may_fault(t),
        },
        Stmt::Seq(ref parts) | Stmt::Choice(ref parts) => parts.iter().any(|&p| stmt_may_fault(terms, p)),
        Stmt::If(c, a, b) => terms.may_fault(c) || stmt_may_fault(terms, a) || stmt_may_fault(terms, b),
        Stmt::While(..) | Stmt::Foreign(..) => true,
    }
}
