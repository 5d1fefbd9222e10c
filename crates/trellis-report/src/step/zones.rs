//! Networks with clocks, one set of states after the other: a state has locations and data, and of the clocks a zone, all valuations that some run
//! along the same edges has there (000 §2, 002 §2.1). A zone is closed under delay, so nobody waits.
//!
//! Moves are those of the reference interpreter, which lists what they ask of clocks; what becomes of the zone is computed here, exactly: guard,
//! resets, the target's invariant, delay. Clocks that stand still stay where they are.
//!
//! What it deliberately does not do: extrapolate, so there may be infinitely many zones, and compare zones; and priorities, of which only clocks know
//! whether one move holds up another.

use std::borrow::Cow;

use serde_json::{Value, json};
use trellis_domain::zone::{Bound, Constraint, Rational, Zone, ZoneError};
use trellis_model::network::interpret::Interpreter;
use trellis_model::network::interpret::moves::Move;
use trellis_model::network::{Action, ModelError, Network, SetClock, Snapshot, Trace};

use super::network::{moved, names, places_and_data};
use super::{Choices, Error, Stepper, changes, no_offer, read_trace};
use crate::network::Renderer;
use crate::run::{Run, Step, Values};

/// A set of states that a walk has come to.
#[derive(Clone)]
struct Here {
    /// Locations and data; its clocks mean nothing.
    state: Snapshot,
    zone: Zone,
}

/// Who moves, and where that leads; or what goes wrong on the way.
type Moved = (Action, Result<Here, ModelError>);

/// A walk through the zones of a network.
pub struct ZoneStepper<'n> {
    net: Cow<'n, Network>,
    /// What processes, cells, lattice variables and clocks are called, in this order.
    names: Vec<String>,
    /// What the zone is called.
    zone: String,
    first: Here,
    taken: Vec<(Action, Here)>,
}

fn fault(e: ModelError) -> Error {
    Error::Model(e.to_string())
}

fn overflow(e: ZoneError) -> Error {
    Error::Model(e.to_string())
}

impl<'n> ZoneStepper<'n> {
    /// A walk that has not begun. It fails if there are no clocks, or priorities, or if the initial state violates an invariant.
    pub fn new(net: Cow<'n, Network>) -> Result<ZoneStepper<'n>, Error> {
        if net.clocks.is_empty() {
            return Err(Error::refused(
                "this model has no clocks, so it has no zones; its elements are part of every walk",
            ));
        }
        if net.has_priorities {
            return Err(Error::refused("zones of models with priorities cannot be walked through"));
        }
        let names = names(&net);
        let zone = (0..).map(|n| "zone".to_string() + &"_".repeat(n)).find(|z| !names.contains(z)).unwrap_or_default();
        let state = Interpreter::new(&net).initial().map_err(fault)?;
        let start = Zone::zero(net.clocks.len());
        let first = rested(&net, state, start)?
            .ok_or_else(|| Error::Model("the initial state violates an invariant".into()))?;
        Ok(ZoneStepper { net, names, zone, first, taken: vec![] })
    }

    fn here(&self) -> &Here {
        self.taken.last().map_or(&self.first, |(_, here)| here)
    }

    fn values(&self, r: &Renderer<'_>, here: &Here) -> Values {
        let clocks = (1..=self.net.clocks.len()).map(|x| interval(&here.zone, x).into());
        let mut values: Values =
            self.names.iter().cloned().zip(places_and_data(r, &here.state).into_iter().chain(clocks)).collect();
        values.insert(self.zone.clone(), zone(&here.zone, &self.net.clocks));
        values
    }

    fn step(&self, r: &Renderer<'_>, before: &Here, action: &Action, after: &Here) -> Step {
        let set = changes(&self.values(r, before), &self.values(r, after));
        Step { set, ..moved(&self.names, r, &before.state, action) }
    }

    /// What can be done now: who moves, and where that leads; or what goes wrong on the way.
    fn moves(&self) -> Result<Vec<Moved>, Error> {
        let here = self.here();
        let mut out = vec![];
        for m in Interpreter::new(&self.net).moves(&here.state).map_err(fault)? {
            let Some(after) = self.along(&here.zone, &m)? else { continue };
            match m.fault {
                Some(fault) => out.push((m.action, Err(fault))),
                None => out.extend(rested(&self.net, m.to, after)?.map(|next| (m.action, Ok(next)))),
            }
        }
        Ok(out)
    }

    /// The valuations right after a move; nothing if there are none.
    fn along(&self, zone: &Zone, m: &Move) -> Result<Option<Zone>, Error> {
        let domain = zone.domain();
        let mut before = zone.clone();
        if !domain.constrain_all(&mut before, &m.guard).map_err(overflow)? {
            return Ok(None);
        }
        // Each clock is 0, another clock, or itself, moved by a constant.
        let from: Vec<(u32, i32)> = (0..=self.net.clocks.len() as u32).map(|x| origin(&m.resets, x)).collect();
        let mut after = Zone::universe(self.net.clocks.len());
        for (x, &(a, up)) in from.iter().enumerate() {
            for (y, &(b, down)) in from.iter().enumerate() {
                let moved = domain.get(&before, a as usize, b as usize).checked_add(Bound::le(up - down));
                after[x * domain.dim() + y] = moved.ok_or_else(|| overflow(ZoneError::Overflow))?;
            }
        }
        let within = domain.constrain_all(&mut after, &m.invariant).map_err(overflow)?;
        Ok(within.then_some(after))
    }

    fn replayed(&mut self, trace: &Trace) -> Result<(), Error> {
        for (i, step) in trace.steps.iter().enumerate() {
            // Data of the trace decide between moves of the same edges; its clocks must be in the zone.
            let is = |(action, next): &Moved| {
                *action == step.action
                    && next.as_ref().is_ok_and(|n| n.state.data == step.state.data && has(&n.zone, &step.state.clocks))
            };
            match self.moves()?.into_iter().find(is) {
                Some((action, Ok(next))) => self.taken.push((action, next)),
                _ => return Err(Error::Refused(format!("step {} is not possible in this model", i + 1))),
            }
        }
        Ok(())
    }
}

/// Are these values of the clocks in the zone?
fn has(zone: &Zone, clocks: &[Rational]) -> bool {
    let domain = zone.domain();
    let value = |x: usize| x.checked_sub(1).map_or(Rational::ZERO, |x| clocks[x]);
    let admits = |x: usize, y: usize| {
        let (a, b) = (value(x), value(y));
        let denominator = a.denominator().checked_mul(b.denominator());
        let sides = a.numerator().checked_mul(b.denominator()).zip(b.numerator().checked_mul(a.denominator()));
        denominator.zip(sides).is_some_and(|(d, (a, b))| domain.get(zone, x, y).admits(a - b, d))
    };
    (0..domain.dim()).all(|x| (0..domain.dim()).all(|y| admits(x, y)))
}

/// Where a clock's value comes from when resets have happened: a clock before them, or clock 0 and a constant.
fn origin(resets: &[SetClock], mut clock: u32) -> (u32, i32) {
    for r in resets.iter().rev() {
        match *r {
            SetClock::Value { clock: c, value } if c == clock => return (0, value),
            SetClock::Copy { clock: c, from } if c == clock => clock = from,
            _ => {}
        }
    }
    (clock, 0)
}

/// A state with all valuations that waiting leads to; nothing if its invariant forbids to be there at all.
fn rested(net: &Network, state: Snapshot, mut zone: Zone) -> Result<Option<Here>, Error> {
    let interpreter = Interpreter::new(net);
    let (invariant, may_wait) = interpreter.timing(&state).map_err(fault)?;
    let domain = zone.domain();
    if !domain.constrain_all(&mut zone, &invariant).map_err(overflow)? {
        return Ok(None);
    }
    if may_wait {
        let still = interpreter.stopped(&state).map_err(fault)?;
        match still.is_empty() {
            true => domain.up(&mut zone),
            false => domain.up_running(&mut zone, |x| !still.contains(&(x as u32))),
        }
        domain.constrain_all(&mut zone, &invariant).map_err(overflow)?;
    }
    Ok(Some(Here { state, zone }))
}

/// The values of a clock in a zone: `5`, `[0, 5)`, `[2, ∞)`.
fn interval(zone: &Zone, x: usize) -> String {
    let domain = zone.domain();
    let (low, high) = (domain.get(zone, 0, x), domain.get(zone, x, 0));
    let least = -low.constant().unwrap_or(0);
    let opens = if low.is_strict() { "(" } else { "[" };
    match high.constant() {
        None => format!("{opens}{least}, ∞)"),
        Some(most) if most == least => most.to_string(),
        Some(most) => format!("{opens}{least}, {most}{}", if high.is_strict() { ")" } else { "]" }),
    }
}

/// A zone in words, and as few constraints as say it: clock, clock, `<` or `<=`, number; clock 0 is always 0.
fn zone(zone: &Zone, clocks: &[String]) -> Value {
    let domain = zone.domain();
    let bound = |c: Constraint| {
        let op = if c.bound.is_strict() { "<" } else { "<=" };
        json!([c.left, c.right, op, c.bound.constant()])
    };
    let bounds: Vec<Value> = domain.minimal(zone).into_iter().map(bound).collect();
    json!({ "shown": domain.show(zone, clocks).to_string(), "clocks": clocks, "bounds": bounds })
}

impl Stepper for ZoneStepper<'_> {
    fn state(&self) -> Values {
        self.values(&Renderer::new(&self.net), self.here())
    }

    fn choices(&self) -> Result<Choices, Error> {
        let r = Renderer::new(&self.net);
        let here = self.here();
        let offer = |(action, next): Moved| match next {
            Ok(next) => self.step(&r, here, &action, &next),
            Err(why) => {
                let step = moved(&self.names, &r, &here.state, &action);
                Step { label: format!("{} fails: {why}", step.label), ..step }
            }
        };
        Ok(Choices { offers: self.moves()?.into_iter().map(offer).collect(), ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        let (action, next) = self.moves()?.into_iter().nth(offer).ok_or_else(|| no_offer(offer))?;
        self.taken.push((action, next.map_err(fault)?));
        Ok(())
    }

    fn undo(&mut self) -> bool {
        self.taken.pop().is_some()
    }

    fn steps(&self) -> usize {
        self.taken.len()
    }

    fn run(&self) -> Run {
        let r = Renderer::new(&self.net);
        let befores = std::iter::once(&self.first).chain(self.taken.iter().map(|(_, here)| here));
        let steps = befores.zip(&self.taken).map(|(before, (action, after))| self.step(&r, before, action, after));
        Run { start: self.values(&r, &self.first), steps: steps.collect(), ..Run::default() }
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let trace = read_trace(&*self.net, trace)?;
        let before = std::mem::take(&mut self.taken);
        let replayed = self.replayed(&trace);
        if replayed.is_err() {
            self.taken = before;
        }
        replayed
    }

    fn wait(&mut self, _: &str) -> Result<(), Error> {
        Err(Error::refused("a zone has all that waiting leads to"))
    }
}
