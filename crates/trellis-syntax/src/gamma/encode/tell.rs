//! What a run of the automaton means: cycles, each with the time before it and what was raised; and whether the interpreter takes them, too.

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{TermId, Terms, Type, Value, VarId};
use trellis_model::cfa::interpret::{Choice, Trace};
use trellis_model::cfa::{EdgeId, LocationId};
use trellis_model::gamma::Kind;
use trellis_model::gamma::interpret::{Fault, Message, Run, State, blank, outcomes};

use super::time::{Bound, delays};
use super::{About, Encoded};
use crate::gamma::trace::{carried, written};

/// One cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    /// Milliseconds before it.
    pub delay: i64,
    /// What the environment raises: inputs by their numbers, with values.
    pub raised: Vec<(usize, Vec<Value>)>,
    /// All values after it.
    pub after: Valuation,
    /// Is it at its end?
    pub stable: bool,
}

impl Encoded {
    /// A run in cycles; the first is the start. Nothing if there are no whole milliseconds that take it.
    pub fn cycles(&self, trace: &Trace) -> Option<Vec<Cycle>> {
        let steps = trace.steps.iter().map(|s| (s.edge, &s.choices[..], &s.after));
        self.cycles_of(steps.collect())
    }

    fn cycles_of(&self, steps: Vec<(EdgeId, &[Choice], &Valuation)>) -> Option<Vec<Cycle>> {
        let mut all: Vec<Cycle> = vec![];
        let mut bounds: Vec<Bound> = vec![];
        let mut set: Vec<Option<usize>> = vec![None; self.system.timers.len()];
        let mut open = Cycle { delay: 0, raised: vec![], after: Valuation::default(), stable: false };
        let mut regions = 0;
        let mut pending = false;
        for (edge, choices, after) in steps {
            let to = self.cfa.edge(edge).to;
            let values =
                || choices.iter().filter_map(|c| if let Choice::Value(v) = c { Some(v.clone()) } else { None });
            match self.about.get(&edge) {
                Some(About::Raised(input)) => open.raised.push((*input, values().collect())),
                Some(About::Region) => regions += 1,
                Some(About::Delay) => open.delay = values().next().map_or(0, |v| number(&v)),
                None => {}
            }
            // What leads to an error from where it was asked is no step.
            pending = Some(to) != self.violated || pending;
            let now = all.len();
            if Some(to) == self.time.done && self.about.get(&edge) != Some(&About::Region) {
                self.bounds(now, after, &mut set, &mut bounds);
                if regions == 0 && now > 0 {
                    bounds.push((now, now - 1, 0));
                }
                regions = 0;
            }
            if to == self.stable {
                open.after = after.clone();
                open.stable = true;
                all.push(std::mem::replace(
                    &mut open,
                    Cycle { delay: 0, raised: vec![], after: Valuation::default(), stable: false },
                ));
                pending = false;
                for (n, timer) in self.system.timers.iter().enumerate() {
                    let left = after.get(&timer.left).map_or(0, number);
                    let matters = self.time.matters.get(n).copied().flatten();
                    if matters.is_some_and(|t| !self.holds(t, after)) {
                        set[n] = None;
                    } else if left == timer.duration && timer.duration > 0 {
                        set[n] = Some(now);
                    }
                }
            } else if Some(to) != self.violated {
                open.after = after.clone();
            }
        }
        if pending && open.after.is_empty() {
            pending = false;
        }
        if pending {
            all.push(open);
        }
        if self.time.passed.is_none() && !self.system.timers.is_empty() {
            let times = delays(all.len(), &bounds)?;
            all.iter_mut().skip(1).zip(times).for_each(|(cycle, delay)| cycle.delay = delay);
        }
        Some(all)
    }

    /// What a state in which time has passed says about when things happened.
    fn bounds(&self, now: usize, after: &Valuation, set: &mut [Option<usize>], bounds: &mut Vec<Bound>) {
        for (n, timer) in self.system.timers.iter().enumerate() {
            let Some(when) = set[n] else { continue };
            if after.get(&timer.left).map_or(0, number) == 0 {
                bounds.push((when, now, timer.duration));
                set[n] = None;
            } else {
                bounds.push((now, when, 1 - timer.duration));
            }
        }
    }

    /// Does a condition hold?
    pub fn holds(&self, t: TermId, values: &Valuation) -> bool {
        let value = eval(&self.cfa.terms, t, values, &mut NoHost);
        value.ok().and_then(|v| v.as_bool()) == Some(true)
    }

    /// What a name stands for, in an arena that extends the automaton's: `instance.Region.State`, a variable, an event, a value of one, or
    /// a literal (`Type::Literal`).
    pub fn named(&self, text: &str, terms: &mut Terms) -> Option<TermId> {
        let text = text.replace("::", ".");
        // A state without its region is written `In(State)`.
        if let Some(t) = self.names.state(&text).filter(|_| text.contains('.')) {
            return Some(t);
        }
        if let Some((_, v)) = self.watched.iter().find(|(t, _)| crate::gamma::generated::fired(*t) == text) {
            return Some(terms.var(*v));
        }
        if let Some(v) = self.timely.filter(|_| text == super::TIMELY) {
            return Some(terms.var(v));
        }
        if let Some((_, v)) = self.fair.iter().find(|(n, _)| super::raised_name(*n) == text) {
            return Some(terms.var(*v));
        }
        let outputs = |name: &str| -> Vec<usize> {
            self.system.outputs.iter().filter(|(n, _)| n == name).map(|(_, s)| *s).collect()
        };
        let raised: Vec<TermId> = outputs(&text).iter().map(|s| terms.var(self.system.signals[*s].flag)).collect();
        if !raised.is_empty() {
            return Some(terms.or(raised));
        }
        if let Some((event, param)) = text.rsplit_once('.')
            && let [s] = outputs(event)[..]
            && let Some((_, v, _)) = self.system.signals[s].params.iter().find(|p| p.0 == param)
        {
            return Some(terms.var(*v));
        }
        if let Some(v) = self.names.value(&self.system, &text) {
            return Some(terms.var(v));
        }
        let mut found = vec![];
        for e in self.system.terms.enumerations() {
            let declared = self.system.terms.enumeration(e);
            let is_it = |l: &String| text == *l || text == format!("{}.{l}", declared.name);
            let states = self
                .system
                .charts
                .iter()
                .any(|c| c.regions.iter().any(|r| self.system.terms.variable(r.active).ty == Type::Enum(e)));
            if let Some(n) = declared.literals.iter().position(is_it).filter(|_| !states) {
                found.push(terms.enum_lit(e, n as u32));
            }
        }
        if let [one] = found[..] { Some(one) } else { None }
    }

    /// Does the interpreter take these cycles, and come to the same?
    pub fn replay(&self, cycles: &[Cycle]) -> Result<(), String> {
        let sys = &self.system;
        let mut state = blank(sys);
        for (n, cycle) in cycles.iter().enumerate().filter(|(_, c)| c.stable) {
            let act = |run: &mut Run<'_>| {
                if n == 0 {
                    return run.reset();
                }
                run.elapse(cycle.delay);
                cycle.raised.iter().for_each(|(input, values)| run.raise(*input, values));
                run.step()
            };
            // Other ways may be mistakes; this one is none.
            let ends = outcomes(sys, &state, |run| match act(run) {
                Err(fault) if fault.is_mistake() => Err(Fault::Blocked),
                done => done,
            });
            let ends = ends.map_err(|fault| format!("cycle {n}: {fault}"))?;
            let count = ends.len();
            match ends.into_iter().find(|end| self.is_alike(end, &cycle.after)) {
                Some(end) => state = end,
                None => {
                    return Err(format!("cycle {n}: none of {count} ways of the interpreter comes to the state"));
                }
            }
        }
        Ok(())
    }

    /// Is a state of the interpreter one of the automaton? What is left of timers is held in other ways, and is not compared.
    pub fn is_alike(&self, state: &State, values: &Valuation) -> bool {
        let sys = &self.system;
        let is_timer = |v: VarId| sys.timers.iter().any(|t| t.left == v);
        let same = sys.terms.variables().all(|(v, _)| is_timer(v) || state.values.get(&v) == values.get(&v));
        same && state.queues == self.queues(values)
    }

    /// What waits in the queues.
    pub fn queues(&self, values: &Valuation) -> Vec<Vec<std::collections::VecDeque<Message>>> {
        let number = |v: &VarId| values.get(v).map_or(0, number).max(0) as usize;
        let of = |cells: &super::Cells| {
            let waiting = cells.places.iter().take(number(&cells.length));
            let message = |(entry, columns): &(VarId, Vec<VarId>)| {
                let entry = number(entry);
                let value = |c: &usize| values.get(&columns[*c]).cloned();
                Message { entry, values: cells.of_entry[entry].iter().filter_map(value).collect() }
            };
            waiting.map(message).collect()
        };
        self.queues.iter().map(|all| all.iter().map(of).collect()).collect()
    }

    /// Is a location one where a cycle is over?
    pub fn rests(&self, at: LocationId) -> bool {
        at == self.stable
    }

    /// What was raised in a cycle, in words: `Port.event(3)`.
    pub fn raised(&self, cycle: &Cycle) -> Vec<String> {
        let one = |(n, values): &(usize, Vec<Value>)| {
            let input = &self.system.inputs[*n];
            self.with_values(&input.name, input.like, values)
        };
        cycle.raised.iter().map(one).collect()
    }

    fn with_values(&self, name: &str, like: Option<usize>, values: &[Value]) -> String {
        match like {
            Some(like) if !values.is_empty() => format!("{name}({})", carried(&self.system, like, values)),
            _ => name.to_string(),
        }
    }

    /// For each statechart its name and its innermost active states: `Region.State`.
    pub fn configuration(&self, values: &Valuation) -> Vec<(String, Vec<String>)> {
        let mut all = vec![];
        for chart in &self.system.charts {
            let active = |n: usize| {
                let node = &chart.nodes[n];
                let v = chart.regions[node.region].active;
                node.kind == Kind::State && matches!(values.get(&v), Some(Value::Enum(_, k)) if *k == node.value)
            };
            let states = (0..chart.nodes.len()).filter(|n| active(*n)).map(|n| {
                let node = &chart.nodes[n];
                format!("{}.{}", chart.regions[node.region].name, node.name)
            });
            let name = if chart.name.is_empty() { self.system.name.clone() } else { chart.name.clone() };
            all.push((name, states.collect()));
        }
        all
    }

    /// The variables of all statecharts.
    pub fn variables(&self, values: &Valuation) -> Vec<(String, Value)> {
        let all = self.system.charts.iter().flat_map(|c| &c.variables);
        all.filter_map(|(name, v, _)| Some((name.clone(), values.get(v)?.clone()))).collect()
    }

    /// What the system sends, with values.
    pub fn sent(&self, values: &Valuation) -> Vec<String> {
        self.signals(values, self.system.outputs.iter().map(|(name, s)| (name.as_str(), *s)))
    }

    /// What parts of the system have raised, whoever gets it.
    pub fn raised_inside(&self, values: &Valuation) -> Vec<String> {
        let seen = |s: &&usize| !self.system.signals[**s].name.starts_with('@');
        let all: Vec<usize> = self.system.charts.iter().flat_map(|c| c.outputs.iter().filter(seen).copied()).collect();
        self.signals(values, all.into_iter().map(|s| (self.system.signals[s].name.as_str(), s)))
    }

    fn signals<'n>(&self, values: &Valuation, all: impl Iterator<Item = (&'n str, usize)>) -> Vec<String> {
        let mut out: Vec<String> = vec![];
        for (name, s) in all {
            let signal = &self.system.signals[s];
            if values.get(&signal.flag) == Some(&Value::Bool(true)) {
                let carried: Vec<Value> = signal.params.iter().filter_map(|p| values.get(&p.1).cloned()).collect();
                out.push(self.with_values(name, Some(s), &carried));
            }
        }
        out.dedup();
        out
    }

    /// What waits in queues that are not empty.
    pub fn waiting(&self, values: &Valuation) -> Vec<(String, Vec<String>)> {
        let mut all = vec![];
        for (adapter, queues) in self.system.adapters.iter().zip(self.queues(values)) {
            for (queue, waiting) in adapter.queues.iter().zip(queues) {
                let one = |m: &Message| {
                    let entry = &queue.entries[m.entry];
                    self.with_values(&entry.name, entry.like, &m.values)
                };
                if !waiting.is_empty() {
                    all.push((queue.name.clone(), waiting.iter().map(one).collect()));
                }
            }
        }
        all
    }

    /// A run as an execution trace.
    pub fn execution_trace(&self, name: &str, import: &str, cycles: &[Cycle]) -> String {
        let arguments: Vec<String> = self.system.arguments.iter().map(|(_, n)| n.to_string()).collect();
        let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
        let mut out = format!("import \"{import}\"\n\ntrace {name} of {}{arguments}\n", self.system.name);
        for (n, cycle) in cycles.iter().enumerate().filter(|(_, c)| c.stable) {
            out.push_str("step {\n    act {\n");
            let mut act = |text: String| out.push_str(&format!("        {text};\n"));
            if n == 0 {
                act("reset".into());
            } else {
                if cycle.delay > 0 {
                    act(format!("elapse {}", cycle.delay));
                }
                for (input, values) in &cycle.raised {
                    let input = &self.system.inputs[*input];
                    let all = input.like.map_or(String::new(), |like| carried(&self.system, like, values));
                    act(format!("raise {}({all})", input.name));
                }
                act("schedule component".into());
            }
            out.push_str("    }\n    assert {\n");
            let mut assert = |text: String| out.push_str(&format!("        {text};\n"));
            for text in self.sent(&cycle.after) {
                assert(if text.ends_with(')') { format!("raise {text}") } else { format!("raise {text}()") });
            }
            for (chart, states) in self.configuration(&cycle.after) {
                for state in states {
                    assert(format!("state {}.{state}", self.instance(&chart)));
                }
            }
            for (name, value) in self.variables(&cycle.after) {
                let plain = !matches!(value, Value::Array(_));
                if plain {
                    let name = if name.contains('.') { name } else { format!("self.{name}") };
                    assert(format!("variable {} = {}", name, written(&self.system, &value)));
                }
            }
            out.push_str("    }\n}\n");
        }
        out
    }

    fn instance<'n>(&self, chart: &'n str) -> &'n str {
        let alone = self.system.charts.iter().all(|c| c.name.is_empty());
        if alone { "self" } else { chart }
    }
}

fn number(v: &Value) -> i64 {
    match v {
        Value::Int(n) => i64::try_from(n).unwrap_or(0),
        _ => 0,
    }
}
