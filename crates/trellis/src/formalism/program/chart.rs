//! Statecharts, one round after the other (a macro-step, or a cycle): the event, where it comes from, and the states that are active after it.
//! Never the automaton that stands for the chart.
//!
//! It is here and not beside the other steppers because only the front end knows which edges take in an event.

use super::statechart::{ChartView, Round, Rounds};
use trellis_expr::eval::Valuation;
use trellis_model::cfa::LocationId;
use trellis_model::cfa::interpret::{self, State, Step as Taken, Trace};
use trellis_report::Program;
use trellis_report::run::{Part, Step, Values};
use trellis_report::step::program::successors;
use trellis_report::step::{Error, MAX_OFFERS, Trail, Value, Walkable, Walked, read_trace};

/// A macro-step that takes more micro-steps than this does not end.
const MAX_MICRO: usize = 10_000;
/// So many states of the automaton are looked at to find all macro-steps.
const MAX_LOOKED: usize = 100_000;

/// A macro-step that was taken, or could be.
#[derive(Clone)]
pub struct Macro {
    /// All steps before it.
    before: Vec<Taken>,
    steps: Vec<Taken>,
    told: Round,
}

/// A statechart as it is walked through. A state is the macro-step that led to it; the first leads to the start.
pub struct Walk<C> {
    chart: C,
    start: Valuation,
}

impl<C: Rounds> Walk<C> {
    /// A walk that has not begun: the first macro-step has been taken, if there is only one.
    pub fn new(chart: C) -> Result<Trail<Walk<C>>, Error> {
        let start = interpret::zero(chart.cfa());
        let walk = Walk { chart, start };
        let starts = walk.macro_steps(State { location: walk.chart.cfa().initial, env: walk.start.clone() }, &[])?;
        if starts.is_empty() {
            return Err(Error::Model("the chart cannot start".into()));
        }
        Trail::from(walk, starts)
    }

    fn location(&self, now: &Macro) -> LocationId {
        now.steps.last().map_or(self.chart.cfa().initial, |s| self.chart.cfa().edge(s.edge).to)
    }

    /// All macro-steps from a state, each once as people see them.
    fn macro_steps(&self, from: State, before: &[Taken]) -> Result<Vec<Macro>, Error> {
        let cfa = self.chart.cfa();
        let mut found: Vec<Macro> = vec![];
        let mut open: Vec<(State, Vec<Taken>)> = vec![(from, vec![])];
        let mut looked = 0;
        while let Some((state, path)) = open.pop() {
            looked += 1;
            if path.len() > MAX_MICRO || looked > MAX_LOOKED {
                return Err(Error::Model("the micro-steps after an event do not come to an end".into()));
            }
            // The last is looked at first; events are offered in their own order.
            for step in successors(cfa, &state) {
                let to = cfa.edge(step.edge).to;
                let next = State { location: to, env: step.after.clone() };
                let mut path = path.clone();
                path.push(step);
                if !self.chart.rests(to) && !cfa.is_error(to) {
                    open.push((next, path));
                    continue;
                }
                let told = self.told(before, &path, &next.env);
                if !found.iter().any(|m| m.told == told) {
                    found.push(Macro { before: before.to_vec(), steps: path, told });
                }
                if found.len() > MAX_OFFERS {
                    return Err(Error::Model("too many macro-steps are possible here to list them".into()));
                }
            }
        }
        found.sort_by(|a, b| (&a.told.event, a.told.waited).cmp(&(&b.told.event, b.told.waited)));
        Ok(found)
    }

    fn told(&self, before: &[Taken], steps: &[Taken], after: &Valuation) -> Round {
        let trace = Trace { start: self.start.clone(), steps: [before, steps].concat() };
        let none = || Round { values: self.chart.values(after), stable: true, ..Round::default() };
        self.chart.tell(&trace).pop().unwrap_or_else(none)
    }

    fn error(&self, at: LocationId) -> Option<String> {
        self.chart.remark(at).filter(|_| self.chart.cfa().is_error(at))
    }
}

impl<C: Rounds> Walkable for Walk<C> {
    type State = Macro;
    type Action = ();

    fn next(&self, now: &Macro) -> Result<Vec<((), Macro)>, Error> {
        let env = now.steps.last().map_or(&self.start, |s| &s.after).clone();
        let before = [&now.before[..], &now.steps].concat();
        let all = self.macro_steps(State { location: self.location(now), env }, &before)?;
        Ok(all.into_iter().map(|m| ((), m)).collect())
    }

    fn values(&self, m: &Macro) -> Values {
        m.told.values.clone()
    }

    fn step(&self, _: &Macro, (): &(), m: &Macro) -> Step {
        let mut label = match &m.told.event {
            Some(_) => m.told.label.clone(),
            None => "no event".into(),
        };
        if let Some(why) = m.steps.last().and_then(|s| self.error(self.chart.cfa().edge(s.edge).to)) {
            label = format!("{label}: {why}");
        }
        let takes = m.told.event.clone().map_or(Value::Null, Value::from);
        let parts = vec![Part { takes, ..Part::default() }];
        Step { label, parts, message: m.told.event.clone(), ..Step::default() }
    }

    fn retrace(&mut self, trace: &str) -> Result<Walked<Self>, Error> {
        let cfa = self.chart.cfa();
        let trace = read_trace(&ChartView { program: Program::new(cfa, &[]), chart: &self.chart }, trace)?;
        interpret::replay(cfa, &trace).map_err(|e| Error::refused(e.to_string()))?;
        let (mut walk, mut before, mut open) = (vec![], vec![], vec![]);
        for step in trace.steps {
            let to = cfa.edge(step.edge).to;
            let after = step.after.clone();
            open.push(step);
            if self.chart.rests(to) || cfa.is_error(to) {
                let steps = std::mem::take(&mut open);
                let told = self.told(&before, &steps, &after);
                let so_far = [&before[..], &steps].concat();
                walk.push(Macro { before: std::mem::replace(&mut before, so_far), told, steps });
            }
        }
        if let Some(last) = open.last() {
            let told = self.told(&before, &open, &last.after);
            walk.push(Macro { told, before, steps: open });
        }
        if walk.is_empty() {
            return Err(Error::refused("the trace is empty"));
        }
        self.start = trace.start;
        let actions = vec![(); walk.len() - 1];
        Ok((walk, actions))
    }

    fn remark(&self, now: &Macro) -> Option<String> {
        let at = self.location(now);
        self.chart.remark(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trellis_report::step::Stepper;
    use trellis_syntax::diag::Sources;
    use trellis_syntax::scxml::{Chart, MacroStep, parse_system};

    fn charts() -> Vec<Chart> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/scxml");
        let mut files: Vec<_> = std::fs::read_dir(folder).expect("models").map(|f| f.expect("a file").path()).collect();
        files.retain(|f| f.extension().is_some_and(|e| e == "scxml"));
        files.sort();
        let read = |file: &std::path::PathBuf| {
            let mut sources = Sources::default();
            let id = sources.read(file).unwrap_or_else(|_| panic!("readable"));
            parse_system(&sources, id).unwrap_or_else(|_| panic!("a chart")).0
        };
        files.iter().map(read).collect()
    }

    /// The interpreter takes every step of a random walk, and front end and walk tell it alike.
    #[test]
    fn random_walks_are_runs() {
        for chart in charts() {
            for seed in 0..40_u64 {
                let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
                let mut draw = |n: usize| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (random >> 33) as usize % n
                };
                let mut s = Walk::new(chart.clone()).expect("it starts");
                while s.steps() < 12 && s.random(&mut draw).expect("it goes on") {
                    assert_eq!(s.run().state(s.steps()), s.state());
                }
                let steps = s.states().iter().flat_map(|m| m.steps.clone()).collect();
                let trace = Trace { start: s.model().start.clone(), steps };
                interpret::replay(&s.model().chart.cfa, &trace).expect("what was walked is a run");
                let told: Vec<Round> = s.states().iter().map(|m| m.told.clone()).collect();
                assert_eq!(s.model().chart.tell(&trace), told);
                while s.undo() {}
                assert!(s.run().steps.is_empty());
            }
        }
    }

    /// What is offered is what the automaton may do until it is stable again.
    #[test]
    fn offers_are_all_macro_steps() {
        for chart in charts() {
            let s = Walk::new(chart).expect("it starts");
            let (chart, now) = (&s.model().chart, s.now());
            let mut open =
                vec![State { location: s.model().location(now), env: now.steps.last().expect("a step").after.clone() }];
            let mut ends: Vec<MacroStep> = vec![];
            while let Some(state) = open.pop() {
                for (_, next) in interpret::successors(&chart.cfa, &state, 10_000).expect("few values") {
                    if next.location != chart.stable && next.location != chart.ended {
                        open.push(next);
                        continue;
                    }
                    let end = chart.describe_values(None, &next.env, true);
                    if !ends.contains(&end) {
                        ends.push(end);
                    }
                }
            }
            let end = |m: Macro| chart.describe_values(None, &m.steps.last().expect("a step").after, true);
            let offered: Vec<MacroStep> =
                s.model().next(now).expect("offers").into_iter().map(|(_, m)| end(m)).collect();
            assert!(offered.iter().all(|o| ends.contains(o)) && ends.iter().all(|e| offered.contains(e)));
        }
    }
}
