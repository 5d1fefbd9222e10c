//! The moves of a timed network from one key: everything about a step but the zone.
//!
//! A *move* is a combination of edges whose data allows it: clock guards are listed, not judged, as constraints with their
//! bounds evaluated; so are resets and the target's clock invariant. What a domain of clocks does with them is its own
//! affair: `post` is guard, resets, invariant, and delay where time may pass; `pre` is the same backwards.
//!
//! A broadcast leaves a process behind only if none of its edges can receive. Where that depends on clocks, there is one
//! move for each way of it being so: guards that forbid receiving by one constraint each.

use std::ops::ControlFlow;

use smallvec::SmallVec;
use trellis_domain::zone::Constraint;
use trellis_expr::VarId;
use trellis_meter::seeded::{self, Bug};
use trellis_order::Word;

use super::super::compiled::{Atoms, ElementHost, Judge, SetClock, Test, compile_atoms};
use super::super::{Action, ClockAtom, EdgeRef, ModelError};
use super::Post;

mod priority;

/// The moves from one key, side by side.
#[derive(Debug, Default)]
pub struct Transitions {
    items: Vec<Item>,
    actions: Vec<EdgeRef>,
    keys: Vec<Word>,
    key_width: usize,
    elems: Vec<Word>,
    elem_width: usize,
    constraints: Vec<Constraint>,
    resets: Vec<SetClock>,
    faults: Vec<ModelError>,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    /// Where its edges, its guard, its invariant, and its resets end; they start where the previous move's end.
    action_end: u32,
    guard_end: u32,
    invariant_end: u32,
    resets_end: u32,
    delay: bool,
    /// The number of the fault it leads to, or `u32::MAX`.
    fault: u32,
}

/// One move.
#[derive(Debug, Clone, Copy)]
pub struct Transition<'a> {
    /// Its number among the moves of its key.
    pub ordinal: u32,
    /// Who moves.
    pub action: &'a [EdgeRef],
    /// The target's key.
    pub key: &'a [Word],
    /// The target's element.
    pub elem: &'a [Word],
    /// What the clocks must satisfy: all of it.
    pub guard: &'a [Constraint],
    /// Which clocks are set, in order.
    pub resets: &'a [SetClock],
    /// What the clocks must satisfy in the target.
    pub invariant: &'a [Constraint],
    /// May time pass in the target?
    pub delay: bool,
    /// What goes wrong if the clocks allow the move; there is no target then.
    pub fault: Option<&'a ModelError>,
}

impl Transitions {
    /// How many.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn clear(&mut self, key_width: usize, elem_width: usize) {
        self.items.clear();
        self.actions.clear();
        self.keys.clear();
        self.elems.clear();
        self.constraints.clear();
        self.resets.clear();
        self.faults.clear();
        self.key_width = key_width;
        self.elem_width = elem_width;
    }

    /// The move with this number.
    pub fn get(&self, i: usize) -> Transition<'_> {
        let item = &self.items[i];
        let start = |end: fn(&Item) -> u32| if i == 0 { 0 } else { end(&self.items[i - 1]) as usize };
        Transition {
            ordinal: i as u32,
            action: &self.actions[start(|p| p.action_end)..item.action_end as usize],
            key: &self.keys[i * self.key_width..][..self.key_width],
            elem: &self.elems[i * self.elem_width..][..self.elem_width],
            guard: &self.constraints[start(|p| p.invariant_end)..item.guard_end as usize],
            invariant: &self.constraints[item.guard_end as usize..item.invariant_end as usize],
            resets: &self.resets[start(|p| p.resets_end)..item.resets_end as usize],
            delay: item.delay,
            fault: self.faults.get(item.fault as usize),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Transition<'_>> {
        (0..self.len()).map(|i| self.get(i))
    }
}

impl Post<'_> {
    /// From here on, all that is asked about keys is asked about them beside this element. Without it, beside the initial one, which is
    /// the only one where there are no lattice variables.
    pub fn beside(&mut self, elem: &[Word]) {
        self.elem.copy_from_slice(elem);
    }

    /// All moves from a key, in a fixed order.
    pub fn moves(&mut self, key: &[Word], out: &mut Transitions) -> Result<(), ModelError> {
        out.clear(key.len(), self.elem.len());
        let elem = self.elem.clone();
        self.load(key, &elem);
        self.enabled(&mut |this, action| {
            this.add_moves(action, out)?;
            Ok(ControlFlow::Continue(()))
        })?;
        if self.net.has_priorities {
            self.give_way(out)?;
        }
        if self.has_urgent_channels {
            for i in 0..out.items.len() {
                if out.items[i].delay {
                    let idle = match seeded::has(Bug::UrgentChannels) {
                        true => Ok(false),
                        false => {
                            let m = out.get(i);
                            self.may_idle(m.key, m.elem)
                        }
                    };
                    // A fault in the target is met there, if clocks let anyone come there.
                    out.items[i].delay = idle.unwrap_or(false);
                }
            }
            self.elem.copy_from_slice(&elem);
        }
        Ok(())
    }

    /// What the clocks must satisfy in a key. May time pass there?
    pub fn timing(&mut self, key: &[Word], invariant: &mut Vec<Constraint>) -> Result<bool, ModelError> {
        let elem = self.elem.clone();
        self.load(key, &elem);
        invariant.clear();
        self.target_invariant(&[], invariant)?;
        self.may_idle(key, &elem)
    }

    /// The clocks that stand still in a key while time passes, ascending.
    pub fn stopped(&mut self, key: &[Word]) -> Result<Vec<u32>, ModelError> {
        if self.rates.is_empty() {
            return Ok(Vec::new());
        }
        let elem = self.elem.clone();
        self.load(key, &elem);
        let mut found: Vec<(u32, i64)> = Vec::new();
        let mut each = |this: &mut Self| -> Result<(), trellis_expr::Fault> {
            let mut host = ElementHost { functions: &this.net.functions, elem: &mut this.elem, log: &mut this.log };
            for p in 0..this.first.len() {
                let l = this.mem[p] as usize;
                let rates = &this.rates[this.first[p] as usize + l];
                if rates.is_empty() {
                    continue;
                }
                if let Some(prepare) = this.invariants[p][l].as_ref().and_then(|t| t.prepare.as_ref()) {
                    prepare.exec(&mut this.mem, &mut host)?;
                }
                for r in rates {
                    let Some(rate) = r.value(&this.mem, &mut host)? else { continue };
                    let other = found.iter().find(|(c, other)| *c == r.clock && *other != rate);
                    if other.is_some() || !(0..=1).contains(&rate) {
                        let name = &this.net.clocks[r.clock as usize - 1];
                        let why = format!("clock {name} is to run at rate {rate}, not 0 or 1, or at two rates at once");
                        return Err(trellis_expr::Fault::Foreign(why));
                    }
                    found.push((r.clock, rate));
                }
            }
            Ok(())
        };
        let done = each(self);
        self.undo(&[]);
        done.map_err(|fault| self.error(fault, "invariant", &[]))?;
        let mut stopped: Vec<u32> = found.into_iter().filter(|(_, rate)| *rate == 0).map(|(clock, _)| clock).collect();
        stopped.sort_unstable();
        stopped.dedup();
        Ok(stopped)
    }

    /// What a clock constraint of a query says in a key.
    pub fn atom(&mut self, key: &[Word], atom: &ClockAtom) -> Result<Constraint, ModelError> {
        let elem = self.elem.clone();
        self.load(key, &elem);
        let compiled = compile_atoms(self.net, &self.layout, std::slice::from_ref(atom));
        let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
        match (compiled.fixed.first(), compiled.varying.first()) {
            (Some(c), _) => Ok(*c),
            (None, Some(v)) => {
                // An atom of a query has no condition of its own.
                let c = v.constraint(&self.mem, &mut host).map_err(|fault| self.error(fault, "query", &[]))?;
                Ok(c.expect("a query's atoms always apply"))
            }
            (None, None) => unreachable!("one atom was compiled"),
        }
    }

    /// Judges a condition in a key, with some truth values given.
    pub fn judge_with(&mut self, test: &Judge, key: &[Word], given: &[(VarId, bool)]) -> Result<i64, ModelError> {
        let elem = self.elem.clone();
        self.load(key, &elem);
        let cell = |this: &Self, v: VarId| this.layout.code.slot(v).expect("a temporary has a place").0 as usize;
        for &(v, value) in given {
            let at = cell(self, v);
            self.mem[at] = i64::from(value);
        }
        let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
        let answer = test.test.run(&mut self.mem, &mut host).map_err(|fault| self.error(fault, "query", &[]));
        self.undo(&[]);
        for &(v, _) in given {
            let at = cell(self, v);
            self.mem[at] = self.base[at];
        }
        answer
    }

    fn add_moves(&mut self, action: &[EdgeRef], out: &mut Transitions) -> Result<(), ModelError> {
        let before = out.constraints.len();
        for (i, e) in action.iter().enumerate() {
            self.guard_of(*e, &action[..=i], &mut out.constraints)?;
        }
        let resets_before = out.resets.len();
        let fired = self.fire_timed(action, before, out)?;
        if !fired {
            out.constraints.truncate(before);
            out.resets.truncate(resets_before);
            return Ok(());
        }
        if !self.absent.is_empty() {
            self.leave_behind(action, out)?;
        }
        Ok(())
    }

    /// The last move happens only if certain processes cannot receive: one move for each way.
    fn leave_behind(&mut self, action: &[EdgeRef], out: &mut Transitions) -> Result<(), ModelError> {
        let absent = std::mem::take(&mut self.absent);
        let last = out.len() - 1;
        let m = out.get(last);
        let (guard, invariant) = (m.guard.to_vec(), m.invariant.to_vec());
        let (resets, key, elem, delay) = (m.resets.to_vec(), m.key.to_vec(), m.elem.to_vec(), m.delay);
        let fault = out.items[last].fault;
        out.items.pop();
        let shared = (guard.len() + invariant.len(), resets.len());
        out.constraints.truncate(out.constraints.len() - shared.0);
        out.resets.truncate(out.resets.len() - shared.1);
        out.keys.truncate(out.keys.len() - key.len());
        out.elems.truncate(out.elems.len() - elem.len());
        out.actions.truncate(out.actions.len() - action.len());
        let mut ways = vec![Vec::new()];
        for &e in &absent {
            let mut receives = Vec::new();
            self.guard_of(e, action, &mut receives)?;
            let forbids = receives
                .iter()
                .filter_map(|c| c.bound.complement().map(|bound| Constraint { left: c.right, right: c.left, bound }));
            let forbids: Vec<_> = forbids.collect();
            ways = ways
                .iter()
                .flat_map(|way: &Vec<Constraint>| forbids.iter().map(move |&f| [way.as_slice(), &[f]].concat()))
                .collect();
        }
        if seeded::has(Bug::OneWay) {
            ways.truncate(1);
        }
        for way in ways {
            out.actions.extend_from_slice(action);
            out.keys.extend_from_slice(&key);
            out.elems.extend_from_slice(&elem);
            out.constraints.extend(guard.iter().copied().chain(way));
            let guard_end = out.constraints.len() as u32;
            out.constraints.extend_from_slice(&invariant);
            out.resets.extend_from_slice(&resets);
            out.items.push(Item {
                action_end: out.actions.len() as u32,
                guard_end,
                invariant_end: out.constraints.len() as u32,
                resets_end: out.resets.len() as u32,
                delay,
                fault,
            });
        }
        self.absent = absent;
        Ok(())
    }

    /// What an edge asks of the clocks in the state being expanded.
    fn guard_of(&mut self, e: EdgeRef, action: &[EdgeRef], out: &mut Vec<Constraint>) -> Result<(), ModelError> {
        let edge = &self.edges[e.process as usize][e.edge as usize];
        out.extend_from_slice(&edge.clock_guard.fixed);
        if edge.clock_guard.varying.is_empty() {
            return Ok(());
        }
        let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
        evaluate(&edge.guard, &edge.clock_guard, &mut self.mem, &mut host, out)
            .map_err(|fault| self.error(fault, "guard", action))
    }

    /// What the locations in working memory ask of the clocks.
    fn target_invariant(&mut self, action: &[EdgeRef], out: &mut Vec<Constraint>) -> Result<(), ModelError> {
        for p in 0..self.first.len() {
            let l = if seeded::has(Bug::SourceInvariant) { self.base[p] } else { self.mem[p] } as usize;
            let atoms = &self.clock_invariants[self.first[p] as usize + l];
            match atoms.fixed[..] {
                [] => {}
                [one] => out.push(one),
                _ => out.extend_from_slice(&atoms.fixed),
            }
            if atoms.varying.is_empty() {
                continue;
            }
            let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
            let nothing = Test { prepare: None, holds: None };
            let test = self.invariants[p][l].as_ref().unwrap_or(&nothing);
            evaluate(test, atoms, &mut self.mem, &mut host, out)
                .map_err(|fault| self.error(fault, "invariant", action))?;
        }
        Ok(())
    }

    /// Takes the step as far as data goes, notes resets, target and invariant, and takes it back.
    fn fire_timed(&mut self, action: &[EdgeRef], before: usize, out: &mut Transitions) -> Result<bool, ModelError> {
        let guard_end = out.constraints.len() as u32;
        let resets_before = out.resets.len();
        let mut fault = u32::MAX;
        let fired = match self.run_timed(action, out) {
            // If clocks can forbid the move, they decide whether anything goes wrong.
            Err(error) if out.constraints.len() > before || !self.absent.is_empty() => {
                out.constraints.truncate(guard_end as usize);
                out.resets.truncate(resets_before);
                fault = out.faults.len() as u32;
                out.faults.push(error);
                Ok(true)
            }
            done => done,
        };
        if matches!(fired, Ok(true)) {
            self.key.copy_from_slice(&self.base_key);
            if fault == u32::MAX {
                self.collect_changes(action);
            }
            out.actions.extend_from_slice(action);
            out.keys.extend_from_slice(&self.key);
            out.elems.extend_from_slice(&self.elem);
            let at = if seeded::has(Bug::SourceUrgent) { &self.base } else { &self.mem };
            let is_still = |p: usize| self.still[self.first[p] as usize + at[p] as usize];
            out.items.push(Item {
                action_end: out.actions.len() as u32,
                guard_end,
                invariant_end: out.constraints.len() as u32,
                resets_end: out.resets.len() as u32,
                delay: !self.has_still || !(0..self.first.len()).any(is_still),
                fault,
            });
        }
        self.undo(action);
        fired
    }

    fn run_timed(&mut self, action: &[EdgeRef], out: &mut Transitions) -> Result<bool, ModelError> {
        let resets_before = out.resets.len();
        let mut order: SmallVec<[(usize, &EdgeRef); 4]> = action.iter().enumerate().collect();
        if seeded::has(Bug::ReceiverFirst) {
            order.reverse();
        }
        for (i, e) in order {
            let edge = &self.edges[e.process as usize][e.edge as usize];
            self.mem[e.process as usize] = edge.target;
            let mut host = ElementHost { functions: &self.net.functions, elem: &mut self.elem, log: &mut self.log };
            let done = match &edge.update {
                Some(update) => update.exec(&mut self.mem, &mut host),
                None => Ok(true),
            };
            let done = done.and_then(|done| {
                for r in &edge.resets {
                    if let Some(set) = r.set(&self.mem, &mut host)? {
                        out.resets.push(set);
                    }
                }
                Ok(done)
            });
            match done {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(fault) => {
                    let error = self.error(fault, "update", &action[..=i]);
                    return Err(ModelError { action: Action(action.to_vec()), ..error });
                }
            }
        }
        if seeded::has(Bug::LastReset) && out.resets.len() > resets_before {
            out.resets.pop();
        }
        if self.has_invariants || self.varying_invariants {
            self.reset_temporaries(action);
        }
        if self.has_invariants && !self.invariants_hold(action)? {
            return Ok(false);
        }
        self.target_invariant(action, &mut out.constraints)?;
        Ok(true)
    }
}

/// The constraints that depend on data, in this state, after what prepares them has run.
fn evaluate(
    test: &Test,
    atoms: &Atoms,
    mem: &mut [i64],
    host: &mut ElementHost<'_>,
    out: &mut Vec<Constraint>,
) -> Result<(), trellis_expr::Fault> {
    if let Some(prepare) = &test.prepare {
        prepare.exec(mem, host)?;
    }
    for atom in &atoms.varying {
        out.extend(atom.constraint(mem, host)?);
    }
    Ok(())
}
