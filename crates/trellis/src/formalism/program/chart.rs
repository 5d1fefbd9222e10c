//! Statecharts, one macro-step after the other: the event, where it comes from, and the states that are active after it. Never the automaton
//! that stands for the chart.
//!
//! It is here and not beside the other steppers because only the front end knows which edges take in an event.

use trellis_expr::eval::Valuation;
use trellis_model::cfa::LocationId;
use trellis_model::cfa::interpret::{self, State, Step as Taken, Trace};
use trellis_report::run::{Part, Run, Step, Values};
use trellis_report::step::program::{json, successors};
use trellis_report::step::{Ask, Choices, Error, MAX_OFFERS, Stepper, Value};
use trellis_report::{Content, Program, json as documents};
use trellis_syntax::scxml::{Chart, MacroStep};

use super::statechart::came;

/// A macro-step that takes more micro-steps than this does not end.
const MAX_MICRO: usize = 10_000;
/// So many states of the automaton are looked at to find all macro-steps.
const MAX_LOOKED: usize = 100_000;

/// A macro-step that was taken, or could be.
#[derive(Clone)]
struct Macro {
    steps: Vec<Taken>,
    told: MacroStep,
}

/// A walk through a statechart.
pub struct ChartStepper {
    chart: Chart,
    start: Valuation,
    /// What the configuration is called beside the data.
    active: String,
    starts: Vec<Macro>,
    /// The start is the first; none while it is to be chosen.
    walk: Vec<Macro>,
}

impl ChartStepper {
    /// A walk that has not begun: the first macro-step has been taken, if there is only one.
    pub fn new(chart: Chart) -> Result<ChartStepper, Error> {
        let start = interpret::zero(&chart.cfa);
        let mut active = "active".to_string();
        while chart.data().any(|(name, _)| name == active) {
            active.push('_');
        }
        let mut stepper = ChartStepper { chart, start, active, starts: vec![], walk: vec![] };
        let initial = State { location: stepper.chart.cfa.initial, env: stepper.start.clone() };
        stepper.starts = stepper.macro_steps(initial)?;
        match &stepper.starts[..] {
            [] => return Err(Error::Model("the chart cannot start".into())),
            [only] => stepper.walk.push(only.clone()),
            _ => {}
        }
        Ok(stepper)
    }

    fn last(&self) -> &Macro {
        self.walk.last().unwrap_or(&self.starts[0])
    }

    fn location(&self) -> LocationId {
        self.last().steps.last().map_or(self.chart.cfa.initial, |s| self.chart.cfa.edge(s.edge).to)
    }

    /// All macro-steps from a state, each once as people see them.
    fn macro_steps(&self, from: State) -> Result<Vec<Macro>, Error> {
        let cfa = &self.chart.cfa;
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
                if to != self.chart.stable && to != self.chart.ended && !cfa.is_error(to) {
                    open.push((next, path));
                    continue;
                }
                let told = self.told(&path, &next.env);
                if !found.iter().any(|m| m.told == told) {
                    found.push(Macro { steps: path, told });
                }
                if found.len() > MAX_OFFERS {
                    return Err(Error::Model("too many macro-steps are possible here to list them".into()));
                }
            }
        }
        found.sort_by(|a, b| (&a.told.event, a.told.waited).cmp(&(&b.told.event, b.told.waited)));
        Ok(found)
    }

    fn told(&self, steps: &[Taken], after: &Valuation) -> MacroStep {
        let trace = Trace { start: self.start.clone(), steps: steps.to_vec() };
        self.chart.describe(&trace).pop().unwrap_or_else(|| self.chart.describe_values(None, after, true))
    }

    fn next(&self) -> Result<Vec<Macro>, Error> {
        let env = self.last().steps.last().map_or(&self.start, |s| &s.after).clone();
        self.macro_steps(State { location: self.location(), env })
    }

    fn values(&self, m: &Macro) -> Values {
        let active = Value::Array(m.told.configuration.iter().cloned().map(Value::from).collect());
        let data = m.told.data.iter().map(|(name, value)| (name.clone(), json(&self.chart.cfa, value)));
        std::iter::once((self.active.clone(), active)).chain(data).collect()
    }

    fn step(&self, before: &Macro, m: &Macro) -> Step {
        let old = self.values(before);
        let set = self.values(m).into_iter().filter(|(name, value)| old.get(name) != Some(value)).collect();
        let mut label = match &m.told.event {
            Some(event) => came(event, &m.told),
            None => "no event".into(),
        };
        if let Some(why) = m.steps.last().and_then(|s| self.error(self.chart.cfa.edge(s.edge).to)) {
            label = format!("{label}: {why}");
        }
        let takes = m.told.event.clone().map_or(Value::Null, Value::from);
        let parts = vec![Part { takes, ..Part::default() }];
        Step { label, set, parts, message: m.told.event.clone(), ..Step::default() }
    }

    fn error(&self, at: LocationId) -> Option<String> {
        if let Some(limit) = self.chart.too_short(at) {
            return Some(format!("there are {}, and the walk cannot go on", limit.what()));
        }
        self.chart.cfa.is_error(at).then(|| "the property is violated".into())
    }
}

impl Stepper for ChartStepper {
    fn state(&self) -> Values {
        self.values(self.last())
    }

    fn choices(&self) -> Result<Choices, Error> {
        if self.walk.is_empty() {
            let offer = |m: &Macro| Step { label: "start".into(), set: self.values(m), ..Step::default() };
            let offers = self.starts.iter().map(offer).collect();
            return Ok(Choices { ask: Ask::Start, offers, ..Choices::default() });
        }
        let offers = self.next()?.iter().map(|m| self.step(self.last(), m)).collect();
        Ok(Choices { offers, ..Choices::default() })
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        let all = if self.walk.is_empty() { self.starts.clone() } else { self.next()? };
        let none = || Error::refused(format!("there is no choice {offer} here"));
        let chosen = all.into_iter().nth(offer).ok_or_else(none)?;
        self.walk.push(chosen);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        let least = usize::from(self.starts.len() == 1);
        self.walk.len() > least && self.walk.pop().is_some()
    }

    fn steps(&self) -> usize {
        self.walk.len().saturating_sub(1)
    }

    fn run(&self) -> Run {
        let first = self.walk.first().unwrap_or(&self.starts[0]);
        let steps = self.walk.windows(2).map(|w| self.step(&w[0], &w[1])).collect();
        Run { start: self.values(first), steps, ..Run::default() }
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let refused = |e: &dyn std::fmt::Display| Error::refused(e.to_string());
        let content = documents::read(&Program::new(&self.chart.cfa, &[]), trace).map_err(|e| refused(&e))?;
        let Content::Trace(trace) = content else {
            return Err(Error::refused("it is a certificate; only traces can be replayed"));
        };
        interpret::replay(&self.chart.cfa, &trace).map_err(|e| refused(&e))?;
        let (mut walk, mut open) = (vec![], vec![]);
        for step in trace.steps {
            let to = self.chart.cfa.edge(step.edge).to;
            let after = step.after.clone();
            open.push(step);
            if to == self.chart.stable || to == self.chart.ended || self.chart.cfa.is_error(to) {
                let steps = std::mem::take(&mut open);
                walk.push(Macro { told: self.told(&steps, &after), steps });
            }
        }
        if let Some(last) = open.last() {
            walk.push(Macro { told: self.told(&open, &last.after), steps: open });
        }
        if walk.is_empty() {
            return Err(Error::refused("the trace is empty"));
        }
        (self.start, self.walk) = (trace.start, walk);
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        let at = self.location();
        self.error(at).or_else(|| (at == self.chart.ended).then(|| "the chart has ended".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trellis_syntax::diag::Sources;
    use trellis_syntax::scxml::parse_system;

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
                let mut s = ChartStepper::new(chart.clone()).expect("it starts");
                while s.steps() < 12 && s.random(&mut draw).expect("it goes on") {
                    assert_eq!(s.run().state(s.steps()), s.state());
                }
                let steps = s.walk.iter().flat_map(|m| m.steps.clone()).collect();
                let trace = Trace { start: s.start.clone(), steps };
                interpret::replay(&s.chart.cfa, &trace).expect("what was walked is a run");
                let told: Vec<MacroStep> = s.walk.iter().map(|m| m.told.clone()).collect();
                assert_eq!(s.chart.describe(&trace), told);
                while s.undo() {}
                assert!(s.run().steps.is_empty());
            }
        }
    }

    /// What is offered is what the automaton may do until it is stable again.
    #[test]
    fn offers_are_all_macro_steps() {
        for chart in charts() {
            let s = ChartStepper::new(chart).expect("it starts");
            let mut open =
                vec![State { location: s.location(), env: s.last().steps.last().expect("a step").after.clone() }];
            let mut ends: Vec<MacroStep> = vec![];
            while let Some(state) = open.pop() {
                for (_, next) in interpret::successors(&s.chart.cfa, &state, 10_000).expect("few values") {
                    if next.location != s.chart.stable && next.location != s.chart.ended {
                        open.push(next);
                        continue;
                    }
                    let end = s.chart.describe_values(None, &next.env, true);
                    if !ends.contains(&end) {
                        ends.push(end);
                    }
                }
            }
            let end = |m: Macro| s.chart.describe_values(None, &m.steps.last().expect("a step").after, true);
            let offered: Vec<MacroStep> = s.next().expect("offers").into_iter().map(end).collect();
            assert!(offered.iter().all(|o| ends.contains(o)) && ends.iter().all(|e| offered.contains(e)));
        }
    }
}
