//! Entries that know only part of the data: explicit-value abstraction (002 §3.2.1).
//!
//! An entry stands for all states with its locations and the values that it knows, whatever the others. It is closed if every
//! combination of edges that could move from its locations ([`Combinations`]) is refused by the known values, or by the
//! zone, or leads into an entry all of whose known values are known after the step too. All is judged with three truth values
//! ([`trellis_expr::partial`]): what is not known to be false may happen, what is not known to be safe may fault, and either
//! must be harmless. A variable is known if all its cells are.
//!
//! Time may pass after a step unless a location forbids it, or an urgent step is known to be possible.
//!
//! Entries may say more than values, as formulas: [`super::says`] then decides what three truth values leave open.
//!
//! What it deliberately does not do: deadlocks and bounds of expressions (refused), and what [`Combinations::new`] refuses.

use std::collections::HashMap;
use std::sync::Arc;

use trellis_domain::zone::{Bound, Constraint};
use trellis_expr::partial::{Judged, Partial, exec_partial, judge};
use trellis_expr::value::ArrayValue;
use trellis_expr::{Fault, Terms, Type, Value, VarId};
use trellis_model::network::combine::{Combination, Combinations};
use trellis_model::network::interpret::moves::{Move, opposite};
use trellis_model::network::{
    Action, ClockAtom, Condition, DataVar, EdgeRef, ModelError, Network, ResetTo, SetClock, Snapshot,
};

use super::says::Asking;
use super::{Checker, Entry, later, zones};
use crate::dbm::Dbm;
use crate::{Cause, Rejection, moves};

/// What is needed for entries that know only part of the data.
pub(super) struct PartialData<'a> {
    pub combinations: Combinations<'a>,
    pub asking: Asking,
    by_locations: HashMap<&'a [u32], Vec<usize>>,
}

/// The value of a variable, given its cells.
fn value(terms: &Terms, v: &DataVar, cells: &[i64]) -> Value {
    match terms.variable(v.var).ty {
        Type::Array(index, entry) => {
            let (index, entry) = (terms.type_of_id(index), terms.type_of_id(entry));
            let mut array = ArrayValue::new(terms, index, Value::from_word(entry, cells[0]));
            for (i, &cell) in cells.iter().enumerate() {
                array.set(&Value::Int(i.into()), Value::from_word(entry, cell));
            }
            Value::Array(array)
        }
        ty => Value::from_word(ty, cells[0]),
    }
}

/// The values that are known of a state; temporaries have the values they start with.
fn values(net: &Network, state: &Snapshot, known: &[bool]) -> Partial {
    let mut env: Partial = net.temps.iter().map(|v| (v.var, value(&net.terms, v, &v.init))).collect();
    let mut at = 0;
    for v in &net.vars {
        let range = at..at + v.init.len();
        at = range.end;
        if known.is_empty() || known[range.clone()].iter().all(|&k| k) {
            env.insert(v.var, value(&net.terms, v, &state.data[range]));
        }
    }
    env
}

pub(super) fn look(terms: &Terms, t: trellis_expr::TermId, env: &Partial) -> Judged {
    judge(terms, t, |v| env.get(&v).cloned())
}

fn constraint(terms: &Terms, a: &ClockAtom) -> Result<Constraint, Rejection> {
    let bound = terms.as_int(a.bound).expect("clock constraints do not depend on data here");
    let bound = Bound::checked(bound, a.strict).ok_or_else(|| zones(trellis_domain::zone::ZoneError::Overflow))?;
    Ok(Constraint { left: a.left, right: a.right, bound })
}

impl<'a> Checker<'a> {
    /// Gets ready for entries that know only part of the data, if there are any.
    pub(super) fn ready(&mut self, any: bool) -> Result<(), Rejection> {
        if !any {
            return Ok(());
        }
        let combinations = Combinations::new(self.net).map_err(|why| Rejection::new(Cause::BesideThePoint(why)))?;
        self.partial = Some(PartialData { combinations, asking: Asking::default(), by_locations: HashMap::new() });
        Ok(())
    }

    /// Makes entries known by their locations.
    pub(super) fn index_locations(&mut self) {
        if let Some(partial) = &mut self.partial {
            for (i, e) in self.entries.iter().enumerate() {
                partial.by_locations.entry(&e.state.locations).or_default().push(i);
            }
        }
    }

    /// The clock invariant of some locations.
    pub(super) fn invariant_of(&self, locations: &[u32]) -> Result<Vec<Constraint>, Rejection> {
        let all = self.net.processes.iter().zip(locations);
        let atoms = all.flat_map(|(p, &l)| &p.locations[l as usize].clock_invariant);
        atoms.map(|a| constraint(&self.net.terms, a)).collect()
    }

    fn may_fault(&self, e: &Entry<'_>, during: &'static str, action: &[EdgeRef]) -> Rejection {
        let fault = Fault::Foreign("this may fault with data that the entry does not know".into());
        let action = Action(action.to_vec());
        let error = ModelError { fault, during, place: String::new(), state: e.state.clone(), action };
        self.model(error).number(e.number)
    }

    /// The entries with these locations.
    fn located(&self, locations: &[u32]) -> Vec<usize> {
        let partial = self.partial.as_ref().expect("entries know part of the data");
        partial.by_locations.get(locations).cloned().unwrap_or_default()
    }

    /// Does an entry know no more than these values, and say nothing that is not true of them?
    fn agrees(&self, e: &Entry<'a>, env: &Partial) -> bool {
        let agrees = |e: &Entry<'a>| {
            let mut at = 0;
            self.net.vars.iter().all(|v| {
                let range = at..at + v.init.len();
                at = range.end;
                let known = |i: &usize| e.known.is_empty() || e.known[*i];
                let cells = &e.state.data[range.clone()];
                match env.get(&v.var) {
                    _ if !range.clone().any(|i| known(&i)) => true,
                    None => false,
                    Some(Value::Array(array)) => range
                        .clone()
                        .filter(known)
                        .all(|i| array.get(&Value::Int((i - range.start).into())).to_word() == Some(e.state.data[i])),
                    Some(scalar) => scalar.to_word() == Some(cells[0]),
                }
            })
        };
        agrees(e) && self.satisfies(e, env)
    }

    /// The entries with these locations that hold all that a combination leads to from an entry, of which these values are known.
    fn targets_of(&mut self, i: usize, c: u32, locations: &[u32], env: &Partial) -> Vec<usize> {
        let mut found = self.located(locations);
        found.retain(|&j| self.agrees(&self.entries[j], env) || self.implies(i, c, j));
        found
    }

    /// As `closed`, for entries that know part of the data.
    pub(super) fn closed_partially(&mut self) -> Result<(), Rejection> {
        let initial = self.interpreter.initial().map_err(|e| self.model(e))?;
        let (invariant, delay) = self.interpreter.timing(&initial).map_err(|e| self.model(e))?;
        let zero = later(Dbm::zero(self.net.clocks.len()), &invariant, delay.then_some(&Vec::new()));
        let env = values(self.net, &initial, &[]);
        let mut at_start = self.located(&initial.locations);
        at_start.retain(|&j| self.agrees(&self.entries[j], &env));
        if !self.included(&zero, &at_start.iter().map(|&j| &self.entries[j]).collect::<Vec<_>>()) {
            return Err(Rejection::new(Cause::InitialMissing).state(self.net, &initial));
        }
        for i in 0..self.entries.len() {
            crate::limit::ask()?;
            let partial = self.partial.as_mut().expect("entries know part of the data");
            let here = partial.combinations.from(&self.entries[i].state.locations);
            let mut found = None;
            for &c in &here.all {
                self.steps += 1;
                self.stays_partially(i, c, &mut found)?;
            }
        }
        Ok(())
    }

    /// May the combination happen? `moves` are those of the state, if all of it is known and someone has asked.
    fn may_happen(
        &mut self,
        i: usize,
        c: u32,
        env: &Partial,
        found: &mut Option<Vec<Move>>,
    ) -> Result<bool, Rejection> {
        let partial = self.partial.as_mut().expect("entries know part of the data");
        let condition = partial.combinations.condition(c);
        if let Some(t) = condition {
            let judged = look(&partial.combinations.terms, t, env);
            let refused = judged.is_false() && judged.safe;
            return Ok(!(refused || self.forbids(i, c)));
        }
        let e = &self.entries[i];
        if !e.known.iter().all(|&k| k) {
            return Ok(true);
        }
        if found.is_none() {
            *found = Some(moves::moves(self.net, e.state).map_err(|e| Rejection::model(self.net, e))?);
        }
        let action = &partial.combinations.get(c).action;
        Ok(found.iter().flatten().any(|m| m.action.0 == *action))
    }

    fn stays_partially(&mut self, i: usize, c: u32, found: &mut Option<Vec<Move>>) -> Result<(), Rejection> {
        let env = values(self.net, self.entries[i].state, self.entries[i].known);
        if !self.may_happen(i, c, &env, found)? {
            return Ok(());
        }
        let partial = self.partial.as_mut().expect("entries know part of the data");
        let Combination { action, refused, guard, update, invariant, .. } = partial.combinations.get(c).clone();
        let e = &self.entries[i];
        let terms = &partial.combinations.terms;
        let whole = e.known.iter().all(|&k| k);
        match guard {
            Some(guard) if !look(terms, guard, &env).safe => return Err(self.may_fault(e, "guard", &action)),
            // If everything is known, asking whether it may happen would have met the fault.
            None if !whole => return Err(self.may_fault(e, "guard", &action)),
            _ => {}
        }
        let (mut after, mut locations) = (env, e.state.locations.clone());
        let ended = exec_partial(terms, update, &mut after);
        let (mut guards, mut resets) = (Vec::new(), Vec::new());
        for a in &action {
            let edge = &self.net.processes[a.process as usize].edges[a.edge as usize];
            locations[a.process as usize] = edge.target;
            for atom in &edge.clock_guard {
                guards.push(constraint(&self.net.terms, atom)?);
            }
            resets.extend(edge.resets.iter().map(|r| match r.to {
                ResetTo::Clock(from) => SetClock::Copy { clock: r.clock, from },
                ResetTo::Value(t) => {
                    let value = self.net.terms.as_int(t).and_then(|v| i32::try_from(v).ok());
                    SetClock::Value { clock: r.clock, value: value.expect("resets do not depend on data here") }
                }
            }));
        }
        let ways = self.refusals(&refused)?;
        let own_invariant = self.invariant_of(&locations)?;
        // What temporaries held is not for the target to see.
        let reset = self.net.temps.iter().map(|v| (v.var, value(&self.net.terms, v, &v.init)));
        after.extend(reset);
        let mut state = e.state.clone();
        state.locations.clone_from(&locations);
        let delay = self.may_wait(i, c, &locations, &after);
        let targets = if ended.blocked { Vec::new() } else { self.targets_of(i, c, &locations, &after) };
        let e = &self.entries[i];
        for way in ways {
            let guard = [guards.as_slice(), &way].concat();
            let (action, resets, invariants) = (Action(action.clone()), resets.clone(), own_invariant.clone());
            let (to, priority) = (state.clone(), (0, 0));
            let mut m = Move { action, guard, resets, to, invariant: invariants, delay, priority, fault: None };
            let terms = &self.partial.as_ref().expect("entries know part of the data").combinations.terms;
            let harmless = match invariant {
                Some(t) => ended.safe && (ended.blocked || look(terms, t, &after).safe),
                None => ended.safe && e.known.iter().all(|&k| k),
            };
            if !harmless {
                let error = self.may_fault(e, "update", &m.action.0);
                let Cause::Model(error) = error.why else { unreachable!("a fault of the model") };
                m.fault = Some(*error);
                self.leads_into(e, &m, &Ok(vec![]), Vec::new(), (e.state, Vec::new()))?;
                continue;
            }
            if !ended.blocked {
                let targets = targets.iter().map(|&j| &self.entries[j]).collect();
                self.leads_into(e, &m, &Ok(vec![]), targets, (e.state, Vec::new()))?;
            }
        }
        Ok(())
    }

    /// The ways in which clocks refuse all of these edges.
    fn refusals(&self, refused: &[EdgeRef]) -> Result<Vec<Vec<Constraint>>, Rejection> {
        let mut ways: Vec<Vec<Constraint>> = vec![Vec::new()];
        for r in refused {
            let edge = &self.net.processes[r.process as usize].edges[r.edge as usize];
            let mut forbids = Vec::new();
            for atom in &edge.clock_guard {
                forbids.extend(opposite(constraint(&self.net.terms, atom)?));
            }
            let each = |way: &Vec<Constraint>| -> Vec<Vec<Constraint>> {
                forbids.iter().map(|&f| [way.as_slice(), &[f]].concat()).collect()
            };
            ways = ways.iter().flat_map(each).collect();
        }
        Ok(ways)
    }

    /// May time pass after a combination from an entry, for some way to know the rest?
    fn may_wait(&mut self, i: usize, c: u32, locations: &[u32], env: &Partial) -> bool {
        let all = self.net.processes.iter().zip(locations);
        if all.map(|(p, &l)| &p.locations[l as usize]).any(|l| l.urgent || l.committed) {
            return false;
        }
        if !self.net.channels.iter().any(|c| c.urgent) {
            return true;
        }
        let partial = self.partial.as_mut().expect("entries know part of the data");
        let here: Arc<_> = partial.combinations.from(locations);
        for &next in &here.all {
            let partial = self.partial.as_mut().expect("entries know part of the data");
            let first = partial.combinations.get(next).action[0];
            let edge = &self.net.processes[first.process as usize].edges[first.edge as usize];
            if !edge.sync.is_some_and(|s| self.net.channels[s.base as usize].urgent) {
                continue;
            }
            let Some(t) = partial.combinations.condition(next) else { continue };
            let possible = look(&partial.combinations.terms, t, env).value == Some(Value::Bool(true));
            if possible || self.ensures(i, c, t) {
                return false;
            }
        }
        true
    }

    /// The value of a condition wherever an entry stands, given some truth values; a rejection if it is not known.
    pub(super) fn value_partially(
        &mut self,
        c: &Condition,
        i: usize,
        truths: &[(VarId, bool)],
    ) -> Result<i64, Rejection> {
        let mut env = self.all_values(&self.entries[i]);
        env.extend(truths.iter().map(|&(v, b)| (v, Value::Bool(b))));
        let ended = exec_partial(&self.net.terms, c.prepare, &mut env);
        let judged = look(&self.net.terms, c.holds, &env);
        match judged.value.and_then(|v| v.to_word()) {
            Some(n) if ended.safe && judged.safe && !ended.blocked => Ok(n),
            _ => {
                let why = Cause::Condition("the entry does not know enough of the data to tell whether this is so");
                let found = self.truth(c, i, truths);
                found.ok_or_else(|| self.wrong(why, &self.entries[i], &self.entries[i].zone))
            }
        }
    }

    /// What is known wherever an entry stands, locations included.
    fn all_values(&self, e: &Entry<'_>) -> Partial {
        let mut env = values(self.net, e.state, e.known);
        let locations = self.net.processes.iter().zip(&e.state.locations);
        env.extend(locations.map(|(p, &l)| (p.location, Value::Int(l.into()))));
        env
    }

    /// Does an entry know the data that the question's clock constraints depend on?
    pub(super) fn knows_atoms(&self, e: &Entry<'_>) -> Result<(), Rejection> {
        let env = self.all_values(e);
        let terms = &self.net.terms;
        let known = |a: &ClockAtom| {
            [Some(a.bound), a.when]
                .into_iter()
                .flatten()
                .all(|t| terms.free_vars(t).iter().all(|v| env.contains_key(v)))
        };
        if self.query.atoms.iter().all(|(_, a)| known(a)) {
            return Ok(());
        }
        let why = Cause::Condition("the entry does not know the data that the question compares clocks with");
        Err(self.wrong(why, e, &e.zone))
    }
}
