//! Fast successors of a network: compiled guards and updates, run in place on one working copy and undone afterwards.
//!
//! The step relation is UPPAAL's (clocks are in `timed`): silent edges, binary and broadcast synchronisation (sender's update
//! first, then the receivers' in process order; guards judged before any update), committed locations, data
//! invariants on the target, channel priorities before process priorities. Successors come in a fixed order: processes
//! in system order, edges in source order, selects ascending; a step's number in that order is its *ordinal*, which is
//! all that an exploration has to remember of it.
//!
//! What this module deliberately does not do: be simple. [`super::interpret`] is the same relation written plainly,
//! and random tests hold the two against each other.

use std::ops::ControlFlow;

use smallvec::SmallVec;
use trellis_expr::Fault;
use trellis_meter::seeded::{self, Bug};
use trellis_order::Word;

use super::compiled::{
    Atoms, Channel, CompiledEdge, CompiledRate, ElementHost, Indexed, Judge, Test, compile_atoms, compile_edge,
    compile_rate, compile_test,
};
use super::{Action, Condition, EdgeRef, Layout, Network, Packed, Snapshot};

mod candidates;
mod timed;

pub use timed::{Transition, Transitions};

/// The model itself did something undefined: a value out of range, a division by zero, an index outside its array.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault} ({during}{})", if place.is_empty() { String::new() } else { format!(" at {place}") })]
pub struct ModelError {
    /// The fault.
    pub fault: Fault,
    /// While doing what: `guard`, `update`, `invariant`, `query`.
    pub during: &'static str,
    /// Where in the source: `file:line:column`.
    pub place: String,
    /// The state in which it happened.
    pub state: Snapshot,
    /// The edges that were being taken, as far as they were known.
    pub action: Action,
}

/// The edges that leave one location, by their numbers in the process.
#[derive(Debug, Clone, Default)]
struct Outgoing {
    /// Silent and sending edges, in source order.
    active: Vec<u32>,
    receiving: Vec<u32>,
    /// Edges that move in synchronisation vectors.
    events: Vec<u32>,
}

/// The compiled network and its working memory. One per thread.
#[derive(Debug, Clone)]
pub struct Post<'n> {
    net: &'n Network,
    /// How states are packed.
    pub layout: Layout,
    edges: Vec<Vec<CompiledEdge>>,
    /// Where the locations of each process start, in what is kept for each location side by side.
    first: Vec<u32>,
    outgoing: Vec<Outgoing>,
    /// Which channels a location may receive on: one bit for each, shared by those that are 64 apart.
    hears: Vec<u64>,
    /// The same of each process where it is, and of all together.
    hearing: Vec<u64>,
    heard: u64,
    invariants: Vec<Vec<Option<Test>>>,
    has_invariants: bool,
    has_committed: bool,
    clock_invariants: Vec<Atoms>,
    /// How fast clocks run, if any can stand still.
    rates: Vec<Vec<CompiledRate>>,
    /// Do clock invariants depend on data?
    varying_invariants: bool,
    /// Where time may not pass: urgent and committed locations.
    still: Vec<bool>,
    has_still: bool,
    has_urgent_channels: bool,
    /// The state being expanded, unpacked; `mem` is its working copy, equal to it between steps.
    base: Vec<i64>,
    mem: Vec<i64>,
    base_key: Vec<Word>,
    key: Vec<Word>,
    elem: Vec<Word>,
    log: Vec<(u32, Word)>,
    /// Scratch for enabled receivers of a broadcast.
    receivers: Vec<(u32, SmallVec<[u32; 4]>)>,
    /// Edges that must not be able to receive in the combination that is being shown; their clock guards decide.
    absent: Vec<EdgeRef>,
}

/// What an exploration does with one successor: its ordinal, key and element.
pub trait Visit: FnMut(u32, &[Word], &[Word]) -> ControlFlow<()> {}
impl<F: FnMut(u32, &[Word], &[Word]) -> ControlFlow<()>> Visit for F {}

type Edges = SmallVec<[EdgeRef; 4]>;

/// The bit of a channel; all of them if it is not known beforehand.
fn hearing(channel: &Channel) -> u64 {
    match channel {
        Channel::None => 0,
        Channel::Fixed(c) => 1 << (c % 64),
        Channel::Indexed(_) => u64::MAX,
    }
}

impl<'n> Post<'n> {
    /// Compiles a network.
    ///
    /// # Panics
    /// If a term of the network cannot be compiled: front ends only build terms that can.
    pub fn new(net: &'n Network) -> Post<'n> {
        let layout = Layout::new(net);
        let mut edges: Vec<Vec<CompiledEdge>> = Vec::new();
        let (mut outgoing, mut first): (Vec<Outgoing>, Vec<u32>) = Default::default();
        let mut invariants = Vec::new();
        for p in &net.processes {
            let mut out = vec![Outgoing::default(); p.locations.len()];
            for (i, e) in p.edges.iter().enumerate() {
                let from = &mut out[e.source as usize];
                match e.sync {
                    Some(s) if !s.send => from.receiving.push(i as u32),
                    None if e.event.is_some() => from.events.push(i as u32),
                    _ => from.active.push(i as u32),
                }
            }
            first.push(outgoing.len() as u32);
            outgoing.extend(out);
            edges.push(p.edges.iter().map(|e| compile_edge(net, &layout, e)).collect());
            invariants.push(
                p.locations.iter().map(|l| l.invariant.map(|c| compile_test(net, &layout, c))).collect::<Vec<_>>(),
            );
        }
        let mut hears = Vec::new();
        for (p, edges) in net.processes.iter().zip(&edges) {
            let bit = |&e: &u32| hearing(&edges[e as usize].channel);
            let of = &outgoing[hears.len()..][..p.locations.len()];
            hears.extend(of.iter().map(|o| o.receiving.iter().map(bit).fold(0, |all, bit| all | bit)));
        }
        let base = layout.initial(net);
        let locations = || net.processes.iter().flat_map(|p| &p.locations);
        let clock_invariants: Vec<Atoms> =
            locations().map(|l| compile_atoms(net, &layout, &l.clock_invariant)).collect();
        let rates = |l: &super::Location| l.rates.iter().map(|r| compile_rate(net, &layout, r)).collect();
        let still: Vec<bool> = locations().map(|l| l.urgent || l.committed).collect();
        Post {
            varying_invariants: clock_invariants.iter().any(|a| !a.varying.is_empty()),
            rates: if net.has_rates() { locations().map(rates).collect() } else { Vec::new() },
            clock_invariants,
            has_still: still.iter().any(|&s| s),
            still,
            has_urgent_channels: net.channels.iter().any(|c| c.urgent),
            has_invariants: invariants.iter().flatten().any(Option::is_some),
            has_committed: net.processes.iter().any(|p| p.locations.iter().any(|l| l.committed)),
            base_key: vec![0; layout.key_width()],
            key: vec![0; layout.key_width()],
            elem: net.initial_element(),
            mem: base.clone(),
            base,
            net,
            layout,
            edges,
            outgoing,
            hears,
            hearing: vec![0; net.processes.len()],
            heard: 0,
            first,
            invariants,
            log: Vec::new(),
            receivers: Vec::new(),
            absent: Vec::new(),
        }
    }

    /// Where the location of a process is among all.
    #[inline]
    fn at(&self, p: usize) -> usize {
        self.first[p] as usize + self.base[p] as usize
    }

    /// May a process receive on a channel where it is?
    #[inline]
    fn may_hear(&self, q: usize, channel: u32) -> bool {
        self.hearing[q] >> (channel % 64) & 1 != 0
    }

    /// The network.
    pub fn network(&self) -> &'n Network {
        self.net
    }

    /// The initial state; an error if its invariants do not hold or cannot be judged.
    pub fn initial(&mut self) -> Result<Packed, ModelError> {
        let mem = self.layout.initial(self.net);
        let elem = self.net.initial_element();
        let mut key = vec![0; self.layout.key_width()];
        self.layout.pack(&mem, &mut key);
        self.load(&key, &elem);
        if self.has_invariants && !self.invariants_hold(&[])? {
            return Err(self.broken_start());
        }
        Ok((key, elem))
    }

    /// The error of a start that violates an invariant.
    pub fn broken_start(&self) -> ModelError {
        self.error(Fault::Foreign("the initial state violates an invariant".into()), "invariant", &[])
    }

    fn load(&mut self, key: &[Word], elem: &[Word]) {
        self.layout.unpack(key, &mut self.base);
        let cells = self.layout.key_cells();
        self.mem[..cells].copy_from_slice(&self.base[..cells]);
        self.base_key.copy_from_slice(key);
        self.elem.copy_from_slice(elem);
    }

    fn error(&self, fault: Fault, during: &'static str, action: &[EdgeRef]) -> ModelError {
        // Take back what a half-done update has written.
        let mut elem = self.elem.clone();
        for &(at, old) in self.log.iter().rev() {
            elem[at as usize] = old;
        }
        let place = match action.last() {
            Some(e) if during != "invariant" => {
                self.net.processes[e.process as usize].edges[e.edge as usize].place.to_string()
            }
            _ => String::new(),
        };
        ModelError {
            fault,
            during,
            place,
            state: self.layout.snapshot(self.net, &self.base_key, &elem),
            action: Action(action.to_vec()),
        }
    }

    /// Enumerates the successors of a state, in order. A step that leads back to the very same state has an ordinal but
    /// is not visited: no exploration has a use for it. Answers how many steps were enabled.
    pub fn successors(&mut self, key: &[Word], elem: &[Word], visit: &mut impl Visit) -> Result<u32, ModelError> {
        self.load(key, elem);
        let mut ordinal = 0;
        self.enabled(&mut |this, action| this.fire(action, &mut ordinal, visit))?;
        Ok(ordinal)
    }

    /// Is any step enabled?
    pub fn has_successor(&mut self, key: &[Word], elem: &[Word]) -> Result<bool, ModelError> {
        self.load(key, elem);
        let mut any = false;
        self.enabled(&mut |this, action| {
            any = this.can_fire(action)?;
            Ok(if any { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(any)
    }

    /// The edges behind a successor's ordinal, and the successor.
    pub fn step(&mut self, key: &[Word], elem: &[Word], ordinal: u32) -> Result<Option<(Action, Packed)>, ModelError> {
        self.load(key, elem);
        let mut found = None;
        let mut count = 0;
        self.enabled(&mut |this, action| {
            let before = count;
            let mut next = None;
            let _ = this.fire(action, &mut count, &mut |o, k: &[Word], e: &[Word]| {
                if o == ordinal {
                    next = Some((k.to_vec(), e.to_vec()));
                }
                ControlFlow::Continue(())
            })?;
            if before == ordinal && count > before {
                // A step back to the same state is not visited, but it is a step.
                let next = next.unwrap_or_else(|| (this.base_key.clone(), this.elem.clone()));
                found = Some((Action(action.to_vec()), next));
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Where a step leads, if it is enabled.
    pub fn take(&mut self, key: &[Word], elem: &[Word], action: &Action) -> Result<Option<Packed>, ModelError> {
        self.load(key, elem);
        let mut found = None;
        self.enabled(&mut |this, candidate| {
            if candidate != &action.0[..] {
                return Ok(ControlFlow::Continue(()));
            }
            let mut next = None;
            let mut count = 0;
            let _ = this.fire(candidate, &mut count, &mut |_, k: &[Word], e: &[Word]| {
                next = Some((k.to_vec(), e.to_vec()));
                ControlFlow::Continue(())
            })?;
            if count > 0 {
                found = next.or_else(|| Some((this.base_key.clone(), this.elem.clone())));
            }
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// May time pass forever in this state? (Without clocks: no urgent or committed location, and no step over an urgent
    /// channel.)
    pub fn may_idle(&mut self, key: &[Word], elem: &[Word]) -> Result<bool, ModelError> {
        self.load(key, elem);
        let stays = |(p, proc): (usize, &super::Process)| {
            let l = &proc.locations[self.base[p] as usize];
            !l.urgent && !l.committed
        };
        if !self.net.processes.iter().enumerate().all(stays) {
            return Ok(false);
        }
        if !self.net.channels.iter().any(|c| c.urgent) {
            return Ok(true);
        }
        let mut idle = true;
        self.enabled(&mut |this, action| {
            // Others are not even tried: clocks may forbid them, and with them what would go wrong.
            if this.channel(action[0])?.is_some_and(|c| this.net.channels[c as usize].urgent)
                && this.can_fire(action)?
            {
                idle = false;
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(idle)
    }

    /// Judges a condition in a state.
    pub fn judge(&mut self, test: &Judge, key: &[Word], elem: &[Word]) -> Result<i64, ModelError> {
        if let Some(cell) = test.deadlock {
            let dead = !self.has_successor(key, elem)?;
            self.mem[cell as usize] = i64::from(dead);
        }
        self.load(key, elem);
        let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
        let answer = match test.test.run(&mut self.mem, &mut host) {
            Ok(v) => Ok(v),
            Err(fault) => Err(self.error(fault, "query", &[])),
        };
        self.undo(&[]);
        answer
    }

    /// Compiles a condition for [`Post::judge`]; `deadlock` says whether it asks about deadlocks.
    pub fn compile(&self, c: Condition, deadlock: bool) -> Judge {
        let cell = self.net.deadlock.and_then(|d| self.layout.code.slot(d)).map(|(at, _)| at);
        Judge { test: compile_test(self.net, &self.layout, c), deadlock: cell.filter(|_| deadlock) }
    }

    fn test(&mut self, process: usize, edge: u32, action: &[EdgeRef]) -> Result<bool, ModelError> {
        let guard = &self.edges[process][edge as usize].guard;
        if guard.prepare.is_none() && guard.holds.is_none() {
            return Ok(true);
        }
        let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
        match guard.run(&mut self.mem, &mut host) {
            Ok(v) => Ok(v != 0),
            Err(fault) => {
                let at = EdgeRef { process: process as u32, edge };
                let whole: Edges = action.iter().copied().chain([at]).collect();
                Err(self.error(fault, "guard", &whole))
            }
        }
    }

    /// The channel of an edge in the current state.
    fn channel(&mut self, e: EdgeRef) -> Result<Option<u32>, ModelError> {
        match &self.edges[e.process as usize][e.edge as usize].channel {
            Channel::None => Ok(None),
            Channel::Fixed(c) => Ok(Some(*c)),
            Channel::Indexed(indexed) => {
                let Indexed { base, prepare, index } = &**indexed;
                let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
                let run = || -> Result<i64, Fault> {
                    if let Some(p) = prepare {
                        p.exec(&mut self.mem, &mut host)?;
                    }
                    index.eval(&self.mem, &mut host)
                };
                match { run }() {
                    Ok(i) => Ok(Some(base + i as u32)),
                    Err(fault) => Err(self.error(fault, "synchronisation", &[e])),
                }
            }
        }
    }

    /// Does an edge receive on a channel in the current state?
    #[inline]
    fn receives(&mut self, e: EdgeRef, channel: u32) -> Result<bool, ModelError> {
        match &self.edges[e.process as usize][e.edge as usize].channel {
            Channel::Fixed(c) => Ok(*c == channel),
            _ => Ok(self.channel(e)? == Some(channel)),
        }
    }

    /// Calls `found` for every combination of edges that can move together (targets' invariants are judged by `fire`).
    fn enabled(
        &mut self,
        found: &mut impl FnMut(&mut Self, &[EdgeRef]) -> Result<ControlFlow<()>, ModelError>,
    ) -> Result<(), ModelError> {
        // With clocks, these decide what goes before what.
        if !self.net.has_priorities || !self.net.clocks.is_empty() {
            return self.candidates(found).map(|_| ());
        }
        // Only the highest priority among the steps that can really happen.
        let mut all: Vec<((i32, i32), Edges)> = Vec::new();
        let _ = self.candidates(&mut |this, action| {
            if this.can_fire(action)? {
                let priority = this.priority(action)?;
                all.push((priority, action.iter().copied().collect()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let best = all.iter().map(|(p, _)| *p).max();
        for (priority, action) in all {
            if Some(priority) == best && found(self, &action)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn priority(&mut self, action: &[EdgeRef]) -> Result<(i32, i32), ModelError> {
        let channel = self.channel(action[0])?.map_or(0, |c| self.net.channels[c as usize].priority);
        let process = action.iter().map(|e| self.net.processes[e.process as usize].priority).max().unwrap_or(0);
        Ok((channel, process))
    }

    /// Do the targets' invariants allow the step?
    fn can_fire(&mut self, action: &[EdgeRef]) -> Result<bool, ModelError> {
        let mut count = 0;
        let _ = self.fire(action, &mut count, &mut |_, _: &[Word], _: &[Word]| ControlFlow::Continue(()))?;
        Ok(count > 0)
    }

    /// Takes the step, shows it to the visitor if it leads anywhere, and takes it back.
    fn fire(
        &mut self,
        action: &[EdgeRef],
        ordinal: &mut u32,
        visit: &mut impl Visit,
    ) -> Result<ControlFlow<()>, ModelError> {
        debug_assert!(self.log.is_empty());
        for (i, e) in action.iter().enumerate() {
            let edge = &self.edges[e.process as usize][e.edge as usize];
            self.mem[e.process as usize] = edge.target;
            if let Some(update) = &edge.update {
                let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
                match update.exec(&mut self.mem, &mut host) {
                    Ok(true) => {}
                    Ok(false) => {
                        self.undo(action);
                        return Ok(ControlFlow::Continue(()));
                    }
                    Err(fault) => {
                        let error = self.error(fault, "update", &action[..=i]);
                        self.undo(action);
                        return Err(ModelError { action: Action(action.to_vec()), ..error });
                    }
                }
            }
        }
        let mut flow = ControlFlow::Continue(());
        if self.has_invariants {
            self.reset_temporaries(action);
        }
        match if self.has_invariants { self.invariants_hold(action) } else { Ok(true) } {
            Ok(true) => {
                if self.collect_changes(action) {
                    flow = visit(*ordinal, &self.key, &self.elem);
                }
                *ordinal += 1;
            }
            Ok(false) => {}
            Err(e) => {
                self.undo(action);
                return Err(e);
            }
        }
        self.undo(action);
        Ok(flow)
    }

    /// Packs the successor's key; answers whether anything at all has changed.
    fn collect_changes(&mut self, action: &[EdgeRef]) -> bool {
        self.key.copy_from_slice(&self.base_key);
        // Only the first entry for a word says what it held at the start.
        let mut changed = self.log.iter().enumerate().any(|(i, &(at, old))| {
            self.elem[at as usize] != old && self.log[..i].iter().all(|&(earlier, _)| earlier != at)
        });
        let cells = self.layout.key_cells() as u32;
        for e in action {
            let p = e.process as usize;
            let edge = &self.edges[p][e.edge as usize];
            let moved = std::iter::once((e.process, 1)).chain(edge.writes.iter().copied());
            for (at, len) in moved {
                for cell in at..(at + len).min(cells) {
                    let value = self.mem[cell as usize];
                    let lost = seeded::has(Bug::LostCell) && cell >= self.first.len() as u32 && value == 1;
                    if value != self.base[cell as usize] && !lost {
                        self.layout.repack(cell as usize, value, &mut self.key);
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    /// What an update leaves in temporaries is not for invariants to see.
    fn reset_temporaries(&mut self, action: &[EdgeRef]) {
        let cells = self.layout.key_cells();
        for e in action {
            for &(at, len) in &self.edges[e.process as usize][e.edge as usize].writes {
                let range = at as usize..(at + len) as usize;
                if range.start >= cells {
                    self.mem[range.clone()].copy_from_slice(&self.base[range]);
                }
            }
        }
    }

    fn undo(&mut self, action: &[EdgeRef]) {
        for (at, old) in self.log.drain(..).rev() {
            self.elem[at as usize] = old;
        }
        for e in action {
            let p = e.process as usize;
            self.mem[p] = self.base[p];
            for &(at, len) in &self.edges[p][e.edge as usize].writes {
                let range = at as usize..(at + len) as usize;
                self.mem[range.clone()].copy_from_slice(&self.base[range]);
            }
        }
    }

    fn invariants_hold(&mut self, action: &[EdgeRef]) -> Result<bool, ModelError> {
        for p in 0..self.invariants.len() {
            let Some(test) = &self.invariants[p][self.mem[p] as usize] else { continue };
            let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
            match test.run(&mut self.mem, &mut host) {
                Ok(0) => return Ok(false),
                Ok(_) => {}
                Err(fault) => return Err(self.error(fault, "invariant", action)),
            }
        }
        Ok(true)
    }
}
