//! The reference interpreter: the step relation of [`super::post`], written plainly.
//!
//! A state is a [`Snapshot`]; guards, updates and conditions are terms, evaluated by walking them
//! ([`trellis_expr::eval`], integers of any size); every step is a fresh copy of the state. Nothing is compiled, packed,
//! undone or remembered, and no line is shared with `post`: replaying evidence with this module is a second opinion,
//! and random tests hold the two against each other.
//!
//! The relation is UPPAAL's:
//! - an edge without a label moves alone; a sender moves with one receiver (binary channel) or with one receiver of
//!   every process that has any (broadcast); who receives is judged in the state before the step;
//! - if some process is in a committed location, only steps in which a committed process takes part may happen;
//! - the sender's update comes first, then the receivers' in process order; a step may happen only if no update is
//!   blocked and the invariants of all processes hold afterwards;
//! - with priorities, only the steps of the highest channel priority may happen, and of these only those of the highest
//!   process priority (a step's is the highest among its processes); time may pass, or not, whatever the priorities are;
//! - temporaries have their initial value before every condition and before every step; the updates of one step share
//!   them;
//! - clock guards and clock invariants are judged at the exact values that a state has; an edge's resets come right after
//!   its update. How time passes is in [`timed`];
//! - a synchronisation vector moves if each of its parts has an edge that can; a weak part takes part only if its
//!   location has an edge of that event at all.
//!
//! Steps come in the order of `post`: processes in system order, edges in source order (selects are expanded in
//! ascending order); for a sender, receivers in the same order; for a broadcast, the last receiver's choice changes
//! fastest. Vectors come last, in order; the last part's choice changes fastest.
//!
//! What it deliberately does not do: be fast, or guard against states that do not fit the network (a location or cell
//! too few, a value out of range). Evidence from outside is looked at first by those who read it.

// Errors carry a whole state; they end everything, so their size does not matter.
#![allow(clippy::result_large_err)]

use std::cell::RefCell;

use trellis_domain::zone::Rational;
use trellis_expr::code::Host;
use trellis_expr::eval::{ExecError, Limits, State, Valuation, eval, exec};
use trellis_expr::value::ArrayValue;
use trellis_expr::{Fault, FnId, Stmt, StmtId, TermId, Type, Value, VarId};
use trellis_order::Word;

use super::{
    Action, ClockAtom, Condition, DataVar, Edge, EdgeRef, Function, ModelError, Network, Query, Snapshot, Sync, Vector,
};

pub mod moves;
pub mod timed;

/// The lattice part of a state, as foreign functions see it.
#[derive(Debug, Clone)]
struct Element<'n> {
    functions: &'n [Function],
    words: Vec<Word>,
}

/// A bit of a lattice value: the word and the place in it.
fn bit(start: i64, index: i64, len: usize) -> Result<(usize, u32), Fault> {
    if index < 0 || index >= len as i64 {
        return Err(Fault::Index { index, lo: 0, hi: len as i64 - 1 });
    }
    Ok(((start + index / 64) as usize, (index % 64) as u32))
}

impl Host for Element<'_> {
    fn query(&mut self, f: FnId, args: &[i64]) -> Result<i64, Fault> {
        let start = args[0] as usize;
        match &self.functions[f.index()] {
            Function::GetBit(len) => {
                let (word, place) = bit(args[0], args[1], *len)?;
                Ok(i64::from((self.words[word] >> place) % 2 == 1))
            }
            Function::Method { lattice, method } => {
                let value = &self.words[start..start + lattice.width()];
                lattice.query(*method, value, &args[1..]).map_err(|e| Fault::Foreign(e.0))
            }
            Function::SetBit(_) | Function::Copy(_) => Err(Fault::Foreign("an update where a value is needed".into())),
        }
    }

    fn update(&mut self, f: FnId, args: &[i64]) -> Result<(), Fault> {
        let start = args[0] as usize;
        match &self.functions[f.index()] {
            Function::SetBit(len) => {
                let (word, place) = bit(args[0], args[1], *len)?;
                let one = 1 << place;
                if args[2] == 0 {
                    self.words[word] &= !one;
                } else {
                    self.words[word] |= one;
                }
                Ok(())
            }
            Function::Method { lattice, method } => {
                let value = &mut self.words[start..start + lattice.width()];
                lattice.update(*method, value, &args[1..]).map_err(|e| Fault::Foreign(e.0))
            }
            Function::Copy(width) => {
                let from = self.words[args[1] as usize..][..*width].to_vec();
                self.words[start..start + width].copy_from_slice(&from);
                Ok(())
            }
            Function::GetBit(_) => Err(Fault::Foreign("a value where an update is needed".into())),
        }
    }
}

/// All that terms can see: every variable's value, and the element.
type World<'n> = State<Element<'n>>;

/// A state, and what terms see of it; temporaries have their initial values.
struct Here<'n, 's> {
    state: &'s Snapshot,
    world: World<'n>,
}

/// The value of a variable, given its cells.
pub(super) fn value(net: &Network, var: VarId, cells: &[i64]) -> Value {
    match net.terms.variable(var).ty {
        Type::Array(index, entry) => {
            let (index, entry) = (net.terms.type_of_id(index), net.terms.type_of_id(entry));
            let mut array = ArrayValue::new(&net.terms, index, Value::from_word(entry, cells[0]));
            for (i, &cell) in cells.iter().enumerate() {
                array.set(&Value::Int(i.into()), Value::from_word(entry, cell));
            }
            Value::Array(array)
        }
        ty => Value::from_word(ty, cells[0]),
    }
}

/// The cells of a variable, given its value.
fn cells(of: &Value, len: usize) -> Vec<i64> {
    let cell = |v: &Value| v.to_word().expect("a cell holds a machine word");
    match of {
        Value::Array(array) => (0..len).map(|i| cell(array.get(&Value::Int(i.into())))).collect(),
        scalar => vec![cell(scalar)],
    }
}

/// Runs the network, slowly.
#[derive(Debug, Clone, Copy)]
pub struct Interpreter<'n> {
    net: &'n Network,
    /// Clock constraints are taken to hold, and clocks are not set: what can happen as far as data is concerned.
    blind: bool,
    /// Where to note the constants that clocks are compared with.
    seen: Option<&'n RefCell<Vec<i64>>>,
}

impl<'n> Interpreter<'n> {
    /// An interpreter of a network.
    pub fn new(net: &'n Network) -> Interpreter<'n> {
        Interpreter { net, blind: false, seen: None }
    }

    /// The initial state; an error if its invariants do not hold or cannot be judged.
    pub fn initial(&self) -> Result<Snapshot, ModelError> {
        let state = Snapshot {
            locations: self.net.processes.iter().map(|p| p.init).collect(),
            data: self.net.vars.iter().flat_map(|v| v.init.clone()).collect(),
            element: self.net.lattices.iter().flat_map(|l| l.init.clone()).collect(),
            clocks: vec![Rational::ZERO; self.net.clocks.len()],
        };
        if self.invariants_hold(&state, &state, &[])? {
            return Ok(state);
        }
        let fault = Fault::Foreign("the initial state violates an invariant".into());
        Err(self.error(fault, "invariant", &state, &[]))
    }

    /// All steps from a state, in order, with where they lead (a step may lead back to the state itself).
    pub fn steps(&self, state: &Snapshot) -> Result<Vec<(Action, Snapshot)>, ModelError> {
        let here = self.here(state);
        let mut steps = Vec::new();
        for edges in self.combinations(&here)? {
            if let Some(next) = self.fire(&here, &edges)? {
                steps.push((Action(edges), next));
            }
        }
        if self.net.has_priorities {
            let mut priorities = Vec::new();
            for (action, _) in &steps {
                priorities.push(self.priority(&here, action)?);
            }
            let highest = priorities.iter().max().copied();
            let mut keep = priorities.iter().map(|p| Some(*p) == highest);
            steps.retain(|_| keep.next() == Some(true));
        }
        Ok(steps)
    }

    /// Where an action leads from a state, if it is one of the state's steps.
    pub fn take(&self, state: &Snapshot, action: &Action) -> Result<Option<Snapshot>, ModelError> {
        Ok(self.steps(state)?.into_iter().find(|(a, _)| a == action).map(|(_, next)| next))
    }

    /// Does a condition hold in a state? `deadlock` says whether it asks about deadlocks.
    pub fn holds(&self, c: &Condition, deadlock: bool, state: &Snapshot) -> Result<bool, ModelError> {
        Ok(self.number(c, deadlock, state)? != 0)
    }

    /// The value of a condition's last term as a number (truth values are 0 and 1): for the bounds that queries ask for.
    pub fn number(&self, c: &Condition, deadlock: bool, state: &Snapshot) -> Result<i64, ModelError> {
        let dead = if deadlock { self.is_deadlocked(state)? } else { false };
        self.value_given(c, state, deadlock.then_some(dead), &[])
    }

    /// Does a condition of a query hold in a state, whatever it asks about?
    pub fn holds_in(&self, query: &Query, c: &Condition, state: &Snapshot) -> Result<bool, ModelError> {
        Ok(self.number_in(query, c, state)? != 0)
    }

    /// The value of the last term of a query's condition, whatever it asks about.
    pub fn number_in(&self, query: &Query, c: &Condition, state: &Snapshot) -> Result<i64, ModelError> {
        let dead = if query.deadlock { Some(self.is_deadlocked(state)?) } else { None };
        let mut truths = Vec::new();
        for (var, atom) in &query.atoms {
            truths.push((*var, self.atom_holds(state, atom)?));
        }
        self.value_given(c, state, dead, &truths)
    }

    /// The value of a condition's last term if this is what is known about deadlock and these temporaries.
    pub fn value_given(
        &self,
        c: &Condition,
        state: &Snapshot,
        deadlock: Option<bool>,
        truths: &[(VarId, bool)],
    ) -> Result<i64, ModelError> {
        let mut here = self.here(state);
        if let (Some(dead), Some(d)) = (deadlock, self.net.deadlock) {
            here.world.env.insert(d, Value::Bool(dead));
        }
        for (var, holds) in truths {
            here.world.env.insert(*var, Value::Bool(*holds));
        }
        self.judge(&here, c.prepare, c.holds).map_err(|f| self.error(f, "query", state, &[]))
    }

    // Which edges can move together.

    fn combinations(&self, here: &Here<'n, '_>) -> Result<Vec<Vec<EdgeRef>>, ModelError> {
        let mut found = Vec::new();
        for p in 0..self.net.processes.len() {
            for first in self.edges_from(here, p) {
                let edge = self.edge(first);
                match edge.sync {
                    None if edge.event.is_none()
                        && self.may_move(here, &[first])
                        && self.guard_holds(here, first, &[])? =>
                    {
                        found.push(vec![first]);
                    }
                    Some(sync) if sync.send && self.guard_holds(here, first, &[])? => {
                        let channel = self.channel(here, first)?;
                        if channel.is_some_and(|c| self.net.channels[c].broadcast) {
                            found.extend(self.broadcasts(here, first, channel)?);
                        } else {
                            found.extend(self.pairs(here, first, channel)?);
                        }
                    }
                    _ => {}
                }
            }
        }
        for vector in &self.net.vectors {
            found.extend(self.vector(here, vector)?);
        }
        Ok(found)
    }

    /// One edge of every part of a vector that takes part: all choices.
    fn vector(&self, here: &Here<'n, '_>, vector: &Vector) -> Result<Vec<Vec<EdgeRef>>, ModelError> {
        let mut sets: Vec<Vec<EdgeRef>> = vec![Vec::new()];
        for part in &vector.parts {
            let mut choices = self.edges_from(here, part.process as usize);
            choices.retain(|&e| self.edge(e).event == Some(part.event));
            if part.weak && choices.is_empty() {
                continue;
            }
            let mut able = Vec::new();
            for e in choices {
                if self.guard_holds(here, e, &[])? {
                    able.push(e);
                }
            }
            if able.is_empty() {
                return Ok(Vec::new());
            }
            let with_each = |set: Vec<EdgeRef>| -> Vec<Vec<EdgeRef>> {
                able.iter().map(|&e| [set.as_slice(), &[e]].concat()).collect()
            };
            sets = sets.into_iter().flat_map(with_each).collect();
        }
        sets.retain(|set| !set.is_empty() && self.may_move(here, set));
        Ok(sets)
    }

    /// A sender and each of those who can receive.
    fn pairs(
        &self,
        here: &Here<'n, '_>,
        first: EdgeRef,
        channel: Option<usize>,
    ) -> Result<Vec<Vec<EdgeRef>>, ModelError> {
        let mut pairs = Vec::new();
        for q in self.others(first) {
            for second in self.edges_from(here, q) {
                if self.may_move(here, &[first, second]) && self.receives(here, second, channel, first)? {
                    pairs.push(vec![first, second]);
                }
            }
        }
        Ok(pairs)
    }

    /// A sender and one receiver of every process that has any: all choices.
    fn broadcasts(
        &self,
        here: &Here<'n, '_>,
        first: EdgeRef,
        channel: Option<usize>,
    ) -> Result<Vec<Vec<EdgeRef>>, ModelError> {
        let mut sets = vec![vec![first]];
        for q in self.others(first) {
            let mut choices = Vec::new();
            for second in self.edges_from(here, q) {
                if self.receives(here, second, channel, first)? {
                    choices.push(second);
                }
            }
            if !choices.is_empty() {
                let with_each = |set: Vec<EdgeRef>| -> Vec<Vec<EdgeRef>> {
                    choices.iter().map(|&c| [set.as_slice(), &[c]].concat()).collect()
                };
                sets = sets.into_iter().flat_map(with_each).collect();
            }
        }
        sets.retain(|set| self.may_move(here, set));
        Ok(sets)
    }

    /// Do committed locations let these edges move together?
    fn may_move(&self, here: &Here<'n, '_>, edges: &[EdgeRef]) -> bool {
        let is_committed = |p: usize| self.net.processes[p].locations[here.state.locations[p] as usize].committed;
        edges.iter().any(|e| is_committed(e.process as usize)) || !(0..self.net.processes.len()).any(is_committed)
    }

    fn others(&self, e: EdgeRef) -> impl Iterator<Item = usize> {
        (0..self.net.processes.len()).filter(move |&q| q != e.process as usize)
    }

    /// Can the edge receive what the sender sends?
    fn receives(
        &self,
        here: &Here<'n, '_>,
        e: EdgeRef,
        channel: Option<usize>,
        sender: EdgeRef,
    ) -> Result<bool, ModelError> {
        Ok(self.edge(e).sync.is_some_and(|s| !s.send)
            && self.channel(here, e)? == channel
            && self.guard_holds(here, e, &[sender])?)
    }

    fn edge(&self, e: EdgeRef) -> &'n Edge {
        &self.net.processes[e.process as usize].edges[e.edge as usize]
    }

    fn edges_from(&self, here: &Here<'n, '_>, p: usize) -> Vec<EdgeRef> {
        let edges = self.net.processes[p].edges.iter().enumerate();
        let here = edges.filter(|(_, e)| e.source == here.state.locations[p]);
        here.map(|(i, _)| EdgeRef { process: p as u32, edge: i as u32 }).collect()
    }

    fn guard_holds(&self, here: &Here<'n, '_>, e: EdgeRef, with: &[EdgeRef]) -> Result<bool, ModelError> {
        let edge = self.edge(e);
        self.all_hold(here, Some(edge.guard), &edge.clock_guard)
            .map_err(|fault| self.error(fault, "guard", here.state, &[with, &[e]].concat()))
    }

    /// The channel of an edge, if it has one.
    fn channel(&self, here: &Here<'n, '_>, e: EdgeRef) -> Result<Option<usize>, ModelError> {
        match self.edge(e).sync {
            None => Ok(None),
            Some(Sync { base, index: None, .. }) => Ok(Some(base as usize)),
            Some(Sync { base, index: Some((prepare, index)), .. }) => match self.judge(here, prepare, index) {
                Ok(i) => Ok(Some((i64::from(base) + i) as usize)),
                Err(fault) => Err(self.error(fault, "synchronisation", here.state, &[e])),
            },
        }
    }

    /// Channel priority, then process priority.
    fn priority(&self, here: &Here<'n, '_>, action: &Action) -> Result<(i32, i32), ModelError> {
        let channel = self.channel(here, action.0[0])?.map_or(0, |c| self.net.channels[c].priority);
        let processes = action.0.iter().map(|e| self.net.processes[e.process as usize].priority);
        Ok((channel, processes.max().unwrap_or(0)))
    }

    // Taking a step.

    /// Where the edges lead if they move together; nothing if an update blocks or an invariant is violated.
    fn fire(&self, here: &Here<'n, '_>, edges: &[EdgeRef]) -> Result<Option<Snapshot>, ModelError> {
        let Some((world, resets)) = self.update(here, edges)? else { return Ok(None) };
        let mut clocks = here.state.clocks.clone();
        timed::set(&resets, &mut clocks);
        let next = self.snapshot(world, clocks);
        Ok(self.invariants_hold(&next, here.state, edges)?.then_some(next))
    }

    fn snapshot(&self, world: World<'n>, clocks: Vec<Rational>) -> Snapshot {
        let location = |p: &super::Process| cells(&world.env[&p.location], 1)[0] as u32;
        Snapshot {
            locations: self.net.processes.iter().map(location).collect(),
            data: self.net.vars.iter().flat_map(|v| cells(&world.env[&v.var], v.init.len())).collect(),
            element: world.host.words,
            clocks,
        }
    }

    fn invariants_hold(&self, at: &Snapshot, from: &Snapshot, edges: &[EdgeRef]) -> Result<bool, ModelError> {
        let all = self.net.processes.iter().zip(&at.locations).map(|(p, &l)| &p.locations[l as usize]);
        let mut here = None;
        for l in all.filter(|l| l.invariant.is_some() || !l.clock_invariant.is_empty()) {
            let here = here.get_or_insert_with(|| self.here(at));
            match self.all_hold(here, l.invariant, &l.clock_invariant) {
                Ok(false) => return Ok(false),
                Ok(true) => {}
                Err(fault) => return Err(self.error(fault, "invariant", from, edges)),
            }
        }
        Ok(true)
    }

    /// Does a condition hold, and after its statements all these clock constraints?
    fn all_hold(&self, here: &Here<'n, '_>, c: Option<Condition>, atoms: &[ClockAtom]) -> Result<bool, Fault> {
        if self.blind || atoms.is_empty() {
            return c.map_or(Ok(true), |c| Ok(self.judge(here, c.prepare, c.holds)? != 0));
        }
        let mut world = here.world.clone();
        if let Some(c) = c {
            match self.run(c.prepare, world)? {
                Some(prepared) => world = prepared,
                None => return Ok(false),
            }
            if self.evaluate(c.holds, &mut world)? == 0 {
                return Ok(false);
            }
        }
        // All of them, so that a fault in any is found however the clocks stand.
        let mut all = true;
        for atom in atoms {
            all &= self.judge_atom(atom, &mut world, &here.state.clocks)?;
        }
        Ok(all)
    }

    // Terms and statements.

    fn here<'s>(&self, state: &'s Snapshot) -> Here<'n, 's> {
        let net = self.net;
        let mut env = Valuation::new();
        for (p, &l) in net.processes.iter().zip(&state.locations) {
            env.insert(p.location, Value::Int(l.into()));
        }
        let mut at = 0;
        for DataVar { var, init, .. } in &net.vars {
            env.insert(*var, value(net, *var, &state.data[at..at + init.len()]));
            at += init.len();
        }
        for DataVar { var, init, .. } in &net.temps {
            env.insert(*var, value(net, *var, init));
        }
        let host = Element { functions: &net.functions, words: state.element.clone() };
        Here { state, world: State { env, host } }
    }

    /// Runs a statement. Nothing: an assumption failed.
    fn run(&self, s: StmtId, world: World<'n>) -> Result<Option<World<'n>>, Fault> {
        let mut outcomes = match exec(&self.net.terms, s, world, Limits::default()) {
            Ok(outcomes) => outcomes,
            Err(ExecError::Fault(fault)) => return Err(fault),
            Err(other) => return Err(Fault::Foreign(other.to_string())),
        };
        if outcomes.len() > 1 {
            return Err(Fault::Foreign("a network's statements must be deterministic".into()));
        }
        Ok(outcomes.pop())
    }

    /// Runs a statement on a copy, then evaluates a term as a number. What the statement blocks does not hold.
    fn judge(&self, here: &Here<'n, '_>, prepare: StmtId, t: TermId) -> Result<i64, Fault> {
        let value = if let Stmt::Skip = self.net.terms.stmt(prepare) {
            eval(&self.net.terms, t, &here.world.env, &mut here.world.host.clone())?
        } else {
            let Some(mut world) = self.run(prepare, here.world.clone())? else { return Ok(0) };
            eval(&self.net.terms, t, &world.env, &mut world.host)?
        };
        value.to_word().ok_or(Fault::Overflow)
    }

    /// The value of a term as a number.
    fn evaluate(&self, t: TermId, world: &mut World<'n>) -> Result<i64, Fault> {
        eval(&self.net.terms, t, &world.env, &mut world.host)?.to_word().ok_or(Fault::Overflow)
    }

    fn error(&self, fault: Fault, during: &'static str, state: &Snapshot, edges: &[EdgeRef]) -> ModelError {
        let place = match edges.last() {
            Some(&e) if during != "invariant" => self.edge(e).place.to_string(),
            _ => String::new(),
        };
        ModelError { fault, during, place, state: state.clone(), action: Action(edges.to_vec()) }
    }
}
