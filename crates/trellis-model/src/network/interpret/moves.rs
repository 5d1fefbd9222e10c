//! Steps of a timed network from one choice of locations and data, whatever the clocks are.
//!
//! A *move* is a combination of edges that data allows, judged as [`super`] judges it; what it asks of clocks is not judged but
//! listed: guards, resets in order, the target's clock invariant. Who reads it can follow sets of valuations of any kind.
//!
//! A broadcast leaves a process behind only if none of its edges can receive. Where that depends on clocks there is one move for
//! each way of it being so: guards that forbid receiving by one constraint each.
//!
//! What it deliberately does not do: compile, remember, or know zones; and priorities, which are noted at each move. Whether a move of
//! higher priority holds up another is a question about clocks.

use trellis_domain::zone::{Bound, Constraint, MAX_CONSTANT, Rational};
use trellis_expr::{Fault, Value};

use super::{Here, Interpreter};
use crate::network::{Action, ClockAtom, Condition, EdgeRef, ModelError, SetClock, Snapshot};

/// A combination of edges that data allows.
#[derive(Debug, Clone)]
pub struct Move {
    /// Who moves.
    pub action: Action,
    /// What the clocks must satisfy: all of it.
    pub guard: Vec<Constraint>,
    /// Which clocks are set, in order.
    pub resets: Vec<SetClock>,
    /// The target's locations and data; its clocks are what `resets` makes of them.
    pub to: Snapshot,
    /// What the clocks must satisfy in the target.
    pub invariant: Vec<Constraint>,
    /// May time pass in the target?
    pub delay: bool,
    /// The priority of its channel, then of its processes; the same for all if none were declared.
    pub priority: (i32, i32),
    /// What goes wrong if the clocks allow the move; there is no target then.
    pub fault: Option<ModelError>,
}

/// Edges that can move together, and edges that clocks must then forbid.
type Candidate = (Vec<EdgeRef>, Vec<EdgeRef>);

impl<'n> Interpreter<'n> {
    /// All moves from some locations and data.
    pub fn moves(&self, state: &Snapshot) -> Result<Vec<Move>, ModelError> {
        let here = self.here(state);
        let mut moves = Vec::new();
        for (edges, absent) in (Interpreter { blind: true, ..*self }).candidates(&here)? {
            let mut guard = Vec::new();
            for (i, e) in edges.iter().enumerate() {
                guard.extend(self.clock_guard(&here, *e, &edges[..=i])?);
            }
            let mut ways = vec![guard];
            for e in absent {
                let forbids = self.clock_guard(&here, e, &edges)?.into_iter().filter_map(opposite);
                let forbids: Vec<Constraint> = forbids.collect();
                let each = |way: Vec<Constraint>| -> Vec<Vec<Constraint>> {
                    forbids.iter().map(|&f| [way.as_slice(), &[f]].concat()).collect()
                };
                ways = ways.into_iter().flat_map(each).collect();
            }
            let action = Action(edges);
            let priority = if self.net.has_priorities { self.priority(&here, &action)? } else { (0, 0) };
            let nothing = (state.clone(), Vec::new(), Vec::new());
            let ((to, resets, invariant), fault) = match self.target(&here, &action.0) {
                Ok(None) => continue,
                Ok(Some(target)) => (target, None),
                Err(fault) => (nothing, Some(fault)),
            };
            // What goes wrong in the target is met there, if clocks let anyone come there.
            let delay = fault.is_none() && self.passes(&to).unwrap_or(false);
            for guard in ways {
                let (resets, to, invariant) = (resets.clone(), to.clone(), invariant.clone());
                let (action, fault) = (action.clone(), fault.clone());
                moves.push(Move { action, guard, resets, to, invariant, delay, priority, fault });
            }
        }
        Ok(moves)
    }

    /// What the clocks must satisfy for these locations and data, and whether time may pass.
    pub fn timing(&self, state: &Snapshot) -> Result<(Vec<Constraint>, bool), ModelError> {
        Ok((self.clock_invariants(state, state, &[])?, self.passes(state)?))
    }

    /// The clocks that stand still while time passes, ascending.
    pub fn stopped(&self, state: &Snapshot) -> Result<Vec<u32>, ModelError> {
        let clocks = vec![Rational::ZERO; self.net.clocks.len()];
        let rates = self.rates(&Snapshot { clocks, ..state.clone() })?;
        Ok((1..).zip(rates).filter(|(_, rate)| *rate == 0).map(|(clock, _)| clock).collect())
    }

    fn passes(&self, state: &Snapshot) -> Result<bool, ModelError> {
        if self.net.channels.iter().any(|c| c.urgent) {
            return self.may_pass(state);
        }
        let mut all = self.net.processes.iter().zip(&state.locations).map(|(p, &l)| &p.locations[l as usize]);
        Ok(!all.any(|l| l.urgent || l.committed))
    }

    /// As [`Interpreter::combinations`], as far as data goes.
    fn candidates(&self, here: &Here<'n, '_>) -> Result<Vec<Candidate>, ModelError> {
        let alone = |edges: Vec<EdgeRef>| (edges, Vec::new());
        let mut found: Vec<Candidate> = Vec::new();
        for p in 0..self.net.processes.len() {
            for first in self.edges_from(here, p) {
                let edge = self.edge(first);
                let can = match edge.sync {
                    None => edge.event.is_none() && self.may_move(here, &[first]),
                    Some(sync) => sync.send,
                };
                if !can || !self.guard_holds(here, first, &[])? {
                    continue;
                }
                let channel = self.channel(here, first)?;
                match channel {
                    None => found.push(alone(vec![first])),
                    Some(c) if self.net.channels[c].broadcast => found.extend(self.heard(here, first, channel)?),
                    Some(_) => found.extend(self.pairs(here, first, channel)?.into_iter().map(alone)),
                }
            }
        }
        for vector in &self.net.vectors {
            found.extend(self.vector(here, vector)?.into_iter().map(alone));
        }
        Ok(found)
    }

    /// A sender, and for every other process one edge that receives, or none if clocks may forbid them all.
    fn heard(&self, here: &Here<'n, '_>, first: EdgeRef, channel: Option<usize>) -> Result<Vec<Candidate>, ModelError> {
        let mut sets: Vec<Candidate> = vec![(vec![first], Vec::new())];
        for q in self.others(first) {
            let mut able = Vec::new();
            for second in self.edges_from(here, q) {
                if self.receives(here, second, channel, first)? {
                    able.push(second);
                }
            }
            let mut next = Vec::new();
            for (edges, absent) in sets {
                next.extend(able.iter().map(|&e| ([edges.as_slice(), &[e]].concat(), absent.clone())));
                if able.iter().all(|&e| !self.edge(e).clock_guard.is_empty()) {
                    next.push((edges, [absent.as_slice(), &able].concat()));
                }
            }
            sets = next;
        }
        sets.retain(|(edges, _)| self.may_move(here, edges));
        Ok(sets)
    }

    /// Where the edges lead if clocks let them: what is known of the target, resets, and the target's invariant.
    #[allow(clippy::type_complexity)]
    fn target(
        &self,
        here: &Here<'n, '_>,
        edges: &[EdgeRef],
    ) -> Result<Option<(Snapshot, Vec<SetClock>, Vec<Constraint>)>, ModelError> {
        let Some((world, resets)) = self.update(here, edges)? else { return Ok(None) };
        let next = self.snapshot(world, Vec::new());
        if !(Interpreter { blind: true, ..*self }).invariants_hold(&next, here.state, edges)? {
            return Ok(None);
        }
        let invariant = self.clock_invariants(&next, here.state, edges)?;
        Ok(Some((next, resets, invariant)))
    }

    fn clock_guard(&self, here: &Here<'n, '_>, e: EdgeRef, edges: &[EdgeRef]) -> Result<Vec<Constraint>, ModelError> {
        let edge = self.edge(e);
        self.constraints(here, Some(edge.guard), &edge.clock_guard)
            .map_err(|fault| self.error(fault, "guard", here.state, edges))
    }

    fn clock_invariants(
        &self,
        at: &Snapshot,
        from: &Snapshot,
        edges: &[EdgeRef],
    ) -> Result<Vec<Constraint>, ModelError> {
        let mut all = Vec::new();
        for (p, &l) in self.net.processes.iter().zip(&at.locations) {
            let l = &p.locations[l as usize];
            if !l.clock_invariant.is_empty() {
                let found = self.constraints(&self.here(at), l.invariant, &l.clock_invariant);
                all.extend(found.map_err(|fault| self.error(fault, "invariant", from, edges))?);
            }
        }
        Ok(all)
    }

    /// What these say of clocks, after the statements of a condition.
    fn constraints(
        &self,
        here: &Here<'n, '_>,
        c: Option<Condition>,
        atoms: &[ClockAtom],
    ) -> Result<Vec<Constraint>, Fault> {
        let mut world = here.world.clone();
        if let Some(c) = c.filter(|_| !atoms.is_empty()) {
            match self.run(c.prepare, world)? {
                Some(prepared) => world = prepared,
                None => return Ok(Vec::new()),
            }
        }
        let mut all = Vec::new();
        for atom in atoms {
            let Some(n) = self.bound(atom, &mut world)? else { continue };
            let small = n.unsigned_abs() < MAX_CONSTANT.unsigned_abs().into();
            let bound = Bound::checked(n, atom.strict).filter(|_| small);
            let large = || Fault::Foreign(format!("a clock is compared with {n}, which is too large"));
            all.push(Constraint { left: atom.left, right: atom.right, bound: bound.ok_or_else(large)? });
        }
        Ok(all)
    }

    /// What the edges do one after the other: data, and which clocks are set. Nothing if an update blocks.
    #[allow(clippy::type_complexity)]
    pub(super) fn update(
        &self,
        here: &Here<'n, '_>,
        edges: &[EdgeRef],
    ) -> Result<Option<(super::World<'n>, Vec<SetClock>)>, ModelError> {
        let (mut world, mut resets) = (here.world.clone(), Vec::new());
        for (i, e) in edges.iter().enumerate() {
            let edge = self.edge(*e);
            world.env.insert(self.net.processes[e.process as usize].location, Value::Int(edge.target.into()));
            let wrong = |fault| {
                let place = self.error(fault, "update", here.state, &edges[..=i]);
                ModelError { action: Action(edges.to_vec()), ..place }
            };
            match self.run(edge.update, world).map_err(wrong)? {
                Some(next) => world = next,
                None => return Ok(None),
            }
            resets.extend(self.resets(&edge.resets, &mut world).map_err(wrong)?);
        }
        Ok(Some((world, resets)))
    }
}

/// The constraint that holds exactly when this one does not, if there is one.
pub fn opposite(c: Constraint) -> Option<Constraint> {
    let bound = Bound::checked(-i64::from(c.bound.constant()?), !c.bound.is_strict())?;
    Some(Constraint { left: c.right, right: c.left, bound })
}
