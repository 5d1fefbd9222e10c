//! Formulas of computation tree logic, compiled to fixpoints on relations.

use trellis_domain::relation::Relation;
use trellis_model::evidence::Reason;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::ctl::Formula;
use trellis_model::hierarchy::symbolic::Symbolic;

use crate::cover::reason;
use trellis_meter::{Meter, Progress};

/// A node, ready for formulas.
pub struct Branching<'m> {
    hierarchy: &'m Hierarchy,
    symbolic: &'m Symbolic,
    /// All configurations, and those from which nothing can happen.
    all: Relation,
    stuck: Relation,
}

impl<'m> Branching<'m> {
    /// A node, ready for formulas.
    pub fn new(hierarchy: &'m Hierarchy, symbolic: &'m Symbolic) -> Result<Branching<'m>, Reason> {
        let all = symbolic.configurations().map_err(reason)?;
        let none = symbolic.space.none();
        let mut one = Branching { hierarchy, symbolic, all, stuck: none };
        let moving = one.before(&one.all)?;
        one.stuck = symbolic.space.minus(&one.all, &moving).map_err(reason)?;
        Ok(one)
    }

    /// From where a step leads into a set of configurations.
    fn before(&self, set: &Relation) -> Result<Relation, Reason> {
        let (m, s) = (self.symbolic, &self.symbolic.space);
        let states = m.states_of(set).map_err(reason)?;
        let mut found = s.none();
        // Event 0 is doing nothing.
        for event in m.events.iter().filter(|e| e.number != 0) {
            let from = m.pre_to(event, &states, &self.all);
            found = from.and_then(|from| s.or(&found, &from)).map_err(reason)?;
        }
        Ok(found)
    }

    /// The configurations in which a formula holds.
    pub fn holds(&self, formula: &Formula, meter: &mut Meter) -> Result<Relation, Reason> {
        let s = &self.symbolic.space;
        match formula {
            Formula::Atom(t) => self.symbolic.satisfying(self.hierarchy, *t).map_err(reason),
            Formula::Not(a) => {
                let a = self.holds(a, meter)?;
                s.minus(&self.all, &a).map_err(reason)
            }
            Formula::And(a, b) => {
                let (a, b) = (self.holds(a, meter)?, self.holds(b, meter)?);
                s.and(&a, &b).map_err(reason)
            }
            Formula::Or(a, b) => {
                let (a, b) = (self.holds(a, meter)?, self.holds(b, meter)?);
                s.or(&a, &b).map_err(reason)
            }
            Formula::Next(a) => {
                let a = self.holds(a, meter)?;
                self.before(&a)
            }
            Formula::Until(a, b) => {
                let (a, mut now) = (self.holds(a, meter)?, self.holds(b, meter)?);
                loop {
                    meter.ask(&Progress::default())?;
                    let before = self.before(&now)?;
                    let more = s.and(&a, &before).and_then(|more| s.or(&now, &more)).map_err(reason)?;
                    if more == now {
                        return Ok(now);
                    }
                    now = more;
                }
            }
            Formula::Always(a) => {
                let a = self.holds(a, meter)?;
                let mut now = a.clone();
                loop {
                    meter.ask(&Progress::default())?;
                    let on = s.or(&self.before(&now)?, &self.stuck).map_err(reason)?;
                    let less = s.and(&now, &on).map_err(reason)?;
                    if less == now {
                        return Ok(now);
                    }
                    now = less;
                }
            }
        }
    }
}
