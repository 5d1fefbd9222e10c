//! The plainest search there is, with the interpreter: every reachable state, every step, and what follows from them.

use std::collections::HashMap;

use trellis_model::network::interpret::Interpreter;
use trellis_model::network::{Action, Condition, ModelError, Network, Query, QueryKind, Snapshot};

/// Everything that can be reached.
pub struct Oracle<'n> {
    pub interpreter: Interpreter<'n>,
    pub states: Vec<Snapshot>,
    /// Of each state, the steps and the numbers of the states they lead to.
    pub steps: Vec<Vec<(Action, usize)>>,
    /// May time pass forever, or is there no step?
    pub ends: Vec<bool>,
    /// The first fault met; then `steps` of that state are missing.
    pub fault: Option<ModelError>,
}

impl<'n> Oracle<'n> {
    /// Explores, unless there are more states than the limit.
    pub fn explore(net: &'n Network, limit: usize) -> Option<Oracle<'n>> {
        let interpreter = Interpreter::new(net);
        let mut o = Oracle { interpreter, states: vec![], steps: vec![], ends: vec![], fault: None };
        match interpreter.initial() {
            Ok(s) => o.states.push(s),
            Err(e) => {
                o.fault = Some(e);
                return Some(o);
            }
        }
        let mut numbers: HashMap<Snapshot, usize> = HashMap::from([(o.states[0].clone(), 0)]);
        let mut i = 0;
        while i < o.states.len() {
            let mut here = Vec::new();
            match interpreter.steps(&o.states[i]) {
                Err(e) => o.fault = o.fault.or(Some(e)),
                Ok(steps) => {
                    for (action, next) in steps {
                        let n = *numbers.entry(next.clone()).or_insert(o.states.len());
                        if n == o.states.len() {
                            o.states.push(next);
                        }
                        here.push((action, n));
                    }
                    let idle = interpreter.may_idle(&o.states[i]).expect("its steps were computed before");
                    o.ends.push(here.is_empty() || idle);
                }
            }
            o.ends.resize(i + 1, false);
            o.steps.push(here);
            if o.states.len() > limit {
                return None;
            }
            i += 1;
        }
        Some(o)
    }

    /// In which states does the condition hold?
    pub fn holds(&self, c: &Condition, deadlock: bool) -> Result<Vec<bool>, ModelError> {
        self.states.iter().map(|s| self.interpreter.holds(c, deadlock, s)).collect()
    }

    /// From which states can a run stay in `within` for good?
    fn can_stay(&self, within: &[bool]) -> Vec<bool> {
        let mut stay = within.to_vec();
        loop {
            let goes_on = |i: usize| self.ends[i] || self.steps[i].iter().any(|(_, n)| stay[*n]);
            let next: Vec<bool> = (0..stay.len()).map(|i| stay[i] && goes_on(i)).collect();
            if next == stay {
                return stay;
            }
            stay = next;
        }
    }

    /// Is there what a trace would show: a counterexample to a universal query, a witness of an existential one?
    pub fn has_trace(&self, q: &Query) -> Result<bool, ModelError> {
        let not = |v: Vec<bool>| v.into_iter().map(|b| !b).collect::<Vec<_>>();
        let all = |c| self.holds(c, q.deadlock);
        Ok(match &q.kind {
            QueryKind::Always(p) => not(all(p)?).contains(&true),
            QueryKind::Possibly(p) => all(p)?.contains(&true),
            QueryKind::Eventually(p) => self.can_stay(&not(all(p)?))[0],
            QueryKind::PotentiallyAlways(p) => self.can_stay(&all(p)?)[0],
            QueryKind::LeadsTo(p, q) => {
                let stay = self.can_stay(&not(all(q)?));
                all(p)?.into_iter().zip(stay).any(|(p, stay)| p && stay)
            }
            QueryKind::ClockBound { .. } => unreachable!("these models have no clocks"),
            QueryKind::Bound { .. } => self.bound(q)?.is_some(),
        })
    }

    /// The answer to a `sup` or `inf`.
    pub fn bound(&self, q: &Query) -> Result<Option<i64>, ModelError> {
        let QueryKind::Bound { sup, when, of } = &q.kind else { return Ok(None) };
        let mut best = None;
        for (s, measured) in self.states.iter().zip(self.holds(when, q.deadlock)?) {
            if measured {
                let n = self.interpreter.number(of, q.deadlock, s)?;
                best = Some(best.map_or(n, |b: i64| if *sup { b.max(n) } else { b.min(n) }));
            }
        }
        Ok(best)
    }
}
