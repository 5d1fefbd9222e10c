//! Hierarchies of nodes (AltaRica), one flat event after the other, with the names of the components that take part.
//!
//! An event changes states; flows then take any values that the assertions allow. Each configuration that an event may lead to is an offer of
//! its own, if they are few; otherwise one of them is. That nothing happens and flows stay as they are is not offered.

use std::borrow::Cow;

use serde_json::Value;
use trellis_expr::VarId;
use trellis_model::hierarchy::evidence::Trace;
use trellis_model::hierarchy::walk::{TooHard, Walker};
use trellis_model::hierarchy::{Domain, Hierarchy, Levels};

use super::{Ask, Choices, Error, MAX_OFFERS, Stepper, changes, no_offer};
use crate::hierarchy::Named;
use crate::json::{self, Content};
use crate::run::{Part, Run, Step, Values};
use crate::words::unique;

/// So many configurations after one event are each an offer.
const MAX_FLOWS: usize = 32;

/// A walk through a hierarchy.
pub struct HierarchyStepper<'h> {
    walker: Walker<'h>,
    names: Vec<String>,
    starts: Vec<Vec<i64>>,
    /// Has the start been chosen, if there is a choice?
    started: bool,
    /// At least one.
    walk: Trace,
}

fn hard(_: TooHard) -> Error {
    Error::Model("flows have too many values to find out what can happen here".into())
}

impl<'h> HierarchyStepper<'h> {
    /// A walk that has not begun. It fails if nothing is initial, or too much to list.
    pub fn new(hierarchy: Cow<'h, Hierarchy>) -> Result<HierarchyStepper<'h>, Error> {
        let names = unique(hierarchy.variables.iter().map(|v| v.name.clone()));
        let walker = Walker::of(hierarchy).map_err(|e| Error::Model(e.to_string()))?;
        let starts = walker.initial(MAX_OFFERS);
        let starts = starts.map_err(|_| Error::Model("there are too many initial configurations to list".into()))?;
        let Some(first) = starts.first().cloned() else {
            return Err(Error::Model(
                "no configuration is initial: `init` and the assertions contradict each other".into(),
            ));
        };
        let started = starts.len() == 1;
        let walk = Trace { configurations: vec![first], events: vec![] };
        Ok(HierarchyStepper { walker, names, starts, started, walk })
    }

    /// The walk so far.
    pub fn trace(&self) -> &Trace {
        &self.walk
    }

    fn now(&self) -> &[i64] {
        self.walk.configurations.last().expect("there is a start")
    }

    /// What can happen: flat events, and the configurations they lead to.
    fn next(&self) -> Result<Vec<(usize, Vec<i64>)>, Error> {
        let here = self.now();
        let mut all: Vec<(usize, Vec<i64>)> = vec![];
        for (event, changed) in self.walker.moves(here).map_err(hard)? {
            let mut states = here.to_vec();
            changed.iter().for_each(|&(v, value)| states[v.index()] = value);
            let after = match self.walker.configurations(&states, MAX_FLOWS) {
                Ok(all) => all,
                Err(TooHard) => self.walker.configuration(&states).map_err(hard)?.into_iter().collect(),
            };
            let idle = event == 0 && changed.is_empty();
            for next in after.into_iter().filter(|next| !idle || next != here) {
                let new = (event, next);
                if !all.contains(&new) {
                    all.push(new);
                }
            }
        }
        Ok(all)
    }

    fn values(&self, values: &[i64]) -> Values {
        let h = self.walker.hierarchy();
        let value = |(n, &value): (usize, &i64)| match h.variables[n].domain {
            Domain::Bool => Value::Bool(value != 0),
            Domain::Literals(_) => h.show_value(VarId(n as u32), value).into(),
            _ => value.into(),
        };
        self.names.iter().cloned().zip(values.iter().enumerate().map(value)).collect()
    }

    fn step(&self, before: &[i64], event: usize, after: &[i64]) -> Step {
        let h = self.walker.hierarchy();
        let part = |(c, e): (trellis_model::hierarchy::ComponentId, usize)| {
            let component = h.component(c);
            Part { name: component.path.clone(), takes: component.events[e].clone().into(), ..Part::default() }
        };
        Step {
            label: self.walker.levels.show(h, h.top, event),
            set: changes(&self.values(before), &self.values(after)),
            parts: self.walker.levels.parts(h, h.top, event).into_iter().map(part).collect(),
            ..Step::default()
        }
    }

    fn replayed(&self, levels: &Levels, trace: &Trace) -> Result<(), Error> {
        let h = self.walker.hierarchy();
        let refuse = |step: usize, why: &str| Err(Error::Refused(format!("step {}: {why}", step + 1)));
        let Some(first) = trace.configurations.first() else { return Err(Error::refused("the trace is empty")) };
        if !self.starts.contains(first) {
            return Err(Error::refused("the first configuration is not initial"));
        }
        for (at, &event) in trace.events.iter().enumerate() {
            let (Some(from), Some(to)) = (trace.configurations.get(at), trace.configurations.get(at + 1)) else {
                return refuse(at, "there must be one configuration more than events");
            };
            // The interpreter numbers events as the reader does, or they have other names.
            if self.walker.levels.of(h.top).len() <= event
                || self.walker.levels.show(h, h.top, event) != levels.show(h, h.top, event)
            {
                return refuse(at, "there is no such event");
            }
            let leads = |changed: &[(VarId, i64)]| {
                let after = |v: usize| changed.iter().find(|(w, _)| w.index() == v).map_or(from[v], |(_, n)| *n);
                (0..from.len()).all(|v| h.variables[v].flow || after(v) == to[v])
            };
            let moves = self.walker.moves(from).map_err(hard)?;
            if !moves.iter().any(|(n, changed)| *n == event && leads(changed)) {
                return refuse(at, "the event is not possible here");
            }
            if !self.walker.is_configuration(to) {
                return refuse(at, "an assertion does not hold afterwards");
            }
        }
        Ok(())
    }
}

impl Stepper for HierarchyStepper<'_> {
    fn state(&self) -> Values {
        self.values(self.now())
    }

    fn choices(&self) -> Result<Choices, Error> {
        if !self.started {
            let first = self.state();
            let offers = super::starts(&first, self.starts.iter().map(|s| self.values(s)));
            return Ok(Choices { ask: Ask::Start, offers, ..Choices::default() });
        }
        let offers = self.next()?.iter().map(|(event, to)| self.step(self.now(), *event, to)).collect();
        Ok(Choices { offers, ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        if !self.started {
            self.walk.configurations = vec![self.starts.get(offer).ok_or_else(|| no_offer(offer))?.clone()];
            self.started = true;
            return Ok(());
        }
        let (event, next) = self.next()?.into_iter().nth(offer).ok_or_else(|| no_offer(offer))?;
        self.walk.events.push(event);
        self.walk.configurations.push(next);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        if self.walk.events.pop().is_some() {
            self.walk.configurations.pop();
            return true;
        }
        let chosen = self.started && self.starts.len() > 1;
        if chosen {
            self.started = false;
            self.walk.configurations = vec![self.starts[0].clone()];
        }
        chosen
    }

    fn steps(&self) -> usize {
        self.walk.events.len()
    }

    fn run(&self) -> Run {
        let all = &self.walk.configurations;
        let step = |(n, &event): (usize, &usize)| self.step(&all[n], event, &all[n + 1]);
        let steps = self.walk.events.iter().enumerate().map(step).collect();
        Run { start: self.values(&all[0]), steps, ..Run::default() }
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let hierarchy = self.walker.hierarchy();
        let levels = hierarchy.levels().map_err(|e| Error::Model(e.to_string()))?;
        let content = json::read(&Named { hierarchy, levels: &levels }, trace);
        let Content::Trace(trace) = content.map_err(|e| Error::refused(e.to_string()))? else {
            return Err(Error::refused("it is a certificate; only traces can be replayed"));
        };
        self.replayed(&levels, &trace)?;
        (self.walk, self.started) = (trace, true);
        Ok(())
    }
}
