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

use super::{Error, MAX_OFFERS, Trail, Walkable, Walked, read_trace};
use crate::hierarchy::Named;
use crate::run::{Part, Step, Values};
use crate::words::unique;

/// So many configurations after one event are each an offer.
const MAX_FLOWS: usize = 32;

/// A walk through a hierarchy.
pub type HierarchyStepper<'h> = Trail<Nodes<'h>>;

/// A hierarchy, what its variables are called, and where it may start.
pub struct Nodes<'h> {
    walker: Walker<'h>,
    names: Vec<String>,
    starts: Vec<Vec<i64>>,
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
        if starts.is_empty() {
            return Err(Error::Model(
                "no configuration is initial: `init` and the assertions contradict each other".into(),
            ));
        }
        Trail::from(Nodes { walker, names, starts: starts.clone() }, starts)
    }
}

impl Nodes<'_> {
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

impl Walkable for Nodes<'_> {
    type State = Vec<i64>;
    /// A flat event.
    type Action = usize;

    /// What can happen: flat events, and the configurations they lead to.
    fn next(&self, here: &Vec<i64>) -> Result<Vec<(usize, Vec<i64>)>, Error> {
        let mut all: Vec<(usize, Vec<i64>)> = vec![];
        for (event, changed) in self.walker.moves(here).map_err(hard)? {
            let mut states = here.clone();
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

    fn values(&self, values: &Vec<i64>) -> Values {
        let h = self.walker.hierarchy();
        let value = |(n, &value): (usize, &i64)| match h.variables[n].domain {
            Domain::Bool => Value::Bool(value != 0),
            Domain::Literals(_) => h.show_value(VarId(n as u32), value).into(),
            _ => value.into(),
        };
        self.names.iter().cloned().zip(values.iter().enumerate().map(value)).collect()
    }

    fn step(&self, _: &Vec<i64>, &event: &usize, _: &Vec<i64>) -> Step {
        let h = self.walker.hierarchy();
        let part = |(c, e): (trellis_model::hierarchy::ComponentId, usize)| {
            let component = h.component(c);
            Part { name: component.path.clone(), takes: component.events[e].clone().into(), ..Part::default() }
        };
        Step {
            label: self.walker.levels.show(h, h.top, event),
            parts: self.walker.levels.parts(h, h.top, event).into_iter().map(part).collect(),
            ..Step::default()
        }
    }

    fn retrace(&mut self, trace: &str) -> Result<Walked<Self>, Error> {
        let hierarchy = self.walker.hierarchy();
        let levels = hierarchy.levels().map_err(|e| Error::Model(e.to_string()))?;
        let trace = read_trace(&Named { hierarchy, levels: &levels }, trace)?;
        self.replayed(&levels, &trace)?;
        Ok((trace.configurations, trace.events))
    }
}
