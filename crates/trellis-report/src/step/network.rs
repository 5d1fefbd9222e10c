//! Networks of automata, timed or not, one step after the other.
//!
//! Waiting is something that is done, and undone, like a step. Taking a step means taking it now: what is possible only later is shown with
//! one delay after which it is, and the person waits first. A random step may wait, so that a walk does not end where time must pass.

use std::borrow::Cow;

use serde_json::Value;
use trellis_domain::zone::Rational;
use trellis_model::network::{Action, ModelError, Network, Snapshot, Step as Taken, Trace};

use super::walk::{Patience, Walk, duration};
use super::{Choices, Error, Stepper, Wait, changes, no_offer, read_trace};
use crate::network::{Renderer, Transition};
use crate::run::{Part, Place, Run, Step, Values};
use crate::text::describe;
use crate::words::unique;

/// A walk through a network.
pub struct NetworkStepper<'n> {
    walk: Walk<'n>,
    /// What processes, cells, lattice variables and clocks are called, in this order; no two are called the same.
    names: Vec<String>,
}

fn fault(e: ModelError) -> Error {
    Error::Model(e.to_string())
}

/// What processes, cells, lattice variables and clocks are called, in this order; no two are called the same.
pub(super) fn names(net: &Network) -> Vec<String> {
    let processes = net.processes.iter().map(|p| p.name.clone());
    let lattices = net.lattices.iter().map(|l| l.name.clone());
    unique(processes.chain(net.cell_names()).chain(lattices).chain(net.clocks.iter().cloned()))
}

/// The values of processes, cells and lattice variables.
pub(super) fn places_and_data(r: &Renderer<'_>, state: &Snapshot) -> Vec<Value> {
    let net = r.net;
    let places = state.locations.iter().zip(&r.names.locations).map(|(&l, names)| names[l as usize].clone().into());
    let vars = net.vars.iter().flat_map(|v| v.init.iter().map(move |_| v));
    let cells = vars.zip(&state.data).map(|(v, &n)| if v.is_bool { Value::Bool(n != 0) } else { n.into() });
    let lattices = (0..net.lattices.len()).map(|i| r.lattice(i, &state.element).into());
    places.chain(cells).chain(lattices).collect()
}

/// Who moves, given the state before: a step without delay and changes.
pub(super) fn moved(names: &[String], r: &Renderer<'_>, before: &Snapshot, action: &Action) -> Step {
    let moves = r.moves(before, action);
    let part = |(m, e): (&Transition<'_>, &trellis_model::network::EdgeRef)| Part {
        name: names[e.process as usize].clone(),
        from: Some(m.from.into()),
        to: Some(m.to.into()),
        takes: e.edge.into(),
        choices: m.edge.select.iter().map(|(name, n)| serde_json::json!({ name: n })).collect(),
        sends: m.channel.as_ref().is_some_and(|(_, sends)| *sends),
    };
    let message = moves.iter().find_map(|m| m.channel.as_ref().map(|(name, _)| name.clone()));
    let parts: Vec<Part> = moves.iter().zip(&action.0).map(part).collect();
    let label: Vec<String> = parts.iter().map(|p| describe(p, message.as_deref())).collect();
    Step {
        label: if label.is_empty() { "nothing moves".into() } else { label.join("; ") },
        delay: None,
        set: Values::new(),
        parts,
        message,
        place: moves.first().and_then(|m| place(&m.edge.place)),
    }
}

impl<'n> NetworkStepper<'n> {
    /// A walk that has not begun. It fails if the initial state violates an invariant.
    pub fn new(net: Cow<'n, Network>) -> Result<NetworkStepper<'n>, Error> {
        let names = names(&net);
        Ok(NetworkStepper { walk: Walk::new(net).map_err(fault)?, names })
    }

    /// The state now.
    pub fn now(&self) -> Result<Snapshot, Error> {
        self.walk.now().map_err(fault)
    }

    /// The walk so far.
    pub fn trace(&self) -> &Trace {
        &self.walk.trace
    }

    fn values(&self, r: &Renderer<'_>, state: &Snapshot) -> Values {
        let clocks = state.clocks.iter().map(|c| c.to_string().into());
        self.names.iter().cloned().zip(places_and_data(r, state).into_iter().chain(clocks)).collect()
    }

    /// A step from a state, as it was before anybody waited.
    fn step(&self, r: &Renderer<'_>, before: &Snapshot, taken: &Taken) -> Step {
        Step {
            delay: self.walk.is_timed().then(|| taken.delay.to_string()),
            set: changes(&self.values(r, before), &self.values(r, &taken.state)),
            ..moved(&self.names, r, before, &taken.action)
        }
    }

    fn replayed(&self, trace: &Trace) -> Result<(), Error> {
        let interpreter = self.walk.interpreter();
        let mut at = interpreter.initial().map_err(fault)?;
        if at != trace.initial {
            return Err(Error::refused("the trace does not start in the model's initial state"));
        }
        let cannot_wait = |delay: Rational, i: usize| {
            Error::Refused(format!("{delay} time units may not pass in state {i} of this model"))
        };
        for (i, step) in trace.steps.iter().enumerate() {
            let waited = interpreter.wait(&at, step.delay).map_err(fault)?;
            at = waited.ok_or_else(|| cannot_wait(step.delay, i))?;
            match interpreter.take(&at, &step.action).map_err(fault)? {
                Some(next) if next == step.state => at = next,
                Some(_) => return Err(Error::Refused(format!("step {} leads elsewhere in this model", i + 1))),
                None => return Err(Error::Refused(format!("step {} is not possible in this model", i + 1))),
            }
        }
        match interpreter.can_wait(&at, trace.rest).map_err(fault)? {
            true => Ok(()),
            false => Err(cannot_wait(trace.rest, trace.steps.len())),
        }
    }
}

/// `file:line:column`, as far as it is that.
fn place(text: &str) -> Option<Place> {
    let mut parts = text.rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Place { file: file.into(), line: line.parse().ok()?, ..Place::default() })
}

impl Stepper for NetworkStepper<'_> {
    fn state(&self) -> Values {
        // Waiting was possible when it was done.
        let now = self.walk.now().unwrap_or_else(|_| self.walk.trace.last().clone());
        self.values(&Renderer::new(&self.walk.net), &now)
    }

    fn choices(&self) -> Result<Choices, Error> {
        let r = Renderer::new(&self.walk.net);
        let before = self.walk.trace.last();
        let now = self.walk.now().map_err(fault)?;
        let steps = self.walk.steps().map_err(fault)?;
        // Labels are about the state before; what an offer changes is what it changes now.
        let offer = |taken: &Taken| Step {
            set: changes(&self.values(&r, &now), &self.values(&r, &taken.state)),
            ..self.step(&r, before, taken)
        };
        let offers = steps.iter().map(offer).collect();
        if !self.walk.is_timed() {
            return Ok(Choices { offers, ..Choices::default() });
        }
        let later = |(delay, action): (Rational, Action)| {
            let taken = Taken { delay, action, state: now.clone() };
            Step { set: Values::new(), ..self.step(&r, &now, &taken) }
        };
        let later = self.walk.awaited().map_err(fault)?.into_iter().map(later).collect();
        let wait = match self.walk.patience().map_err(fault)? {
            Patience::Forever => Wait::Forever,
            Patience::Until(Rational::ZERO, _) => Wait::Never,
            Patience::Until(limit, true) => Wait::UpTo(limit.to_string()),
            Patience::Until(limit, false) => Wait::Below(limit.to_string()),
            Patience::Unknown => Wait::Unknown,
        };
        Ok(Choices { offers, later, wait: Some(wait), ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        let step = self.walk.steps().map_err(fault)?.into_iter().nth(offer).ok_or_else(|| no_offer(offer))?;
        self.walk.take(step);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        self.walk.back()
    }

    fn steps(&self) -> usize {
        self.walk.trace.steps.len()
    }

    fn run(&self) -> Run {
        let r = Renderer::new(&self.walk.net);
        let trace = &self.walk.trace;
        let befores = std::iter::once(&trace.initial).chain(trace.steps.iter().map(|s| &s.state));
        Run {
            start: self.values(&r, &trace.initial),
            steps: befores.zip(&trace.steps).map(|(before, step)| self.step(&r, before, step)).collect(),
            rest: (trace.rest != Rational::ZERO).then(|| trace.rest.to_string()),
            back: trace.back_to,
            ..Run::default()
        }
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let trace = read_trace(&*self.walk.net, trace)?;
        self.replayed(&trace)?;
        self.walk.trace = trace;
        Ok(())
    }

    fn wait(&mut self, delay: &str) -> Result<(), Error> {
        if !self.walk.is_timed() {
            return Err(Error::refused("this model has no clocks: time does not count"));
        }
        let Some(time) = duration(delay) else {
            return Err(Error::Refused(format!("`{delay}` is no duration; write 3, 5/2 or 2.5")));
        };
        match self.walk.wait(time).map_err(fault)? {
            true => Ok(()),
            false => Err(Error::refused("time may not pass for so long here")),
        }
    }

    fn random(&mut self, draw: &mut dyn FnMut(usize) -> usize) -> Result<bool, Error> {
        let mut next = self.walk.later().map_err(fault)?;
        if next.is_empty() {
            return Ok(false);
        }
        let chosen = draw(next.len());
        self.walk.take(next.swap_remove(chosen));
        Ok(true)
    }
}
