//! Runs and pictures of composed statecharts, in the words of those who drew them: cycles, states of each component, and what is sent.

use std::path::Path;

use trellis_expr::eval::Valuation;
use trellis_model::cfa::evidence::{Trace, Verdict};
use trellis_model::cfa::{Cfa, LocationId};
use trellis_model::gamma::Kind;
use trellis_report::ltl::{Counterexample, Parts, parts};
use trellis_report::present::{Drawing, DrawnEdge, DrawnNode, NodeShape};
use trellis_report::program::write_value;
use trellis_report::run::Values;
use trellis_syntax::gamma::encode::{Cycle, Encoded};

use super::cover::relative;
use crate::formalism::program::statechart::{Round, Rounds, whole};
use trellis_engine::program::Engine;
use trellis_meter::Meter;

/// What is wrong with a model, where that is found out.
pub const MISTAKE: &str = "the model has a mistake: a choice can be reached none of whose branches is enabled, or a number gets out of its bounds";

/// A cycle in a line.
fn said(encoded: &Encoded, n: usize, cycle: &Cycle) -> String {
    if n == 0 {
        return "start".into();
    }
    let mut parts = vec![];
    if cycle.delay > 0 {
        parts.push(format!("after {} ms", cycle.delay));
    }
    let raised = encoded.raised(cycle);
    parts.push(if raised.is_empty() { "nothing comes".into() } else { format!("raise {}", raised.join(", ")) });
    parts.join(", ")
}

fn texts(all: Vec<String>) -> serde_json::Value {
    serde_json::Value::Array(all.into_iter().map(serde_json::Value::from).collect())
}

fn round(encoded: &Encoded, n: usize, cycle: &Cycle) -> Round {
    let after = &cycle.after;
    let mut shown = Values::new();
    let mut place = vec![];
    for (name, states) in encoded.configuration(after) {
        place.extend(states.iter().map(|s| format!("{name}.{s}")));
        shown.insert(name, states.join(", ").into());
    }
    for (name, value) in encoded.variables(after) {
        shown.insert(name, encoded.cfa.terms.show_value(&value).into());
    }
    shown.insert("sent".into(), encoded.raised_inside(after).join(", ").into());
    for (name, waiting) in encoded.waiting(after) {
        shown.insert(format!("{name} holds"), waiting.join(", ").into());
    }
    let event = (n > 0).then(|| {
        let raised = encoded.raised(cycle);
        if raised.is_empty() { "cycle".into() } else { raised.join(", ") }
    });
    Round {
        label: said(encoded, n, cycle),
        event,
        waited: cycle.delay.max(0) as u64,
        values: encoded.values(after),
        shown,
        place: place.join(", "),
        stable: cycle.stable,
    }
}

impl Rounds for Encoded {
    fn cfa(&self) -> &Cfa {
        &self.cfa
    }

    fn rests(&self, at: LocationId) -> bool {
        at == self.stable
    }

    fn tell(&self, trace: &Trace) -> Vec<Round> {
        let cycles = self.cycles(trace).unwrap_or_default();
        cycles.iter().enumerate().map(|(n, cycle)| round(self, n, cycle)).collect()
    }

    fn values(&self, after: &Valuation) -> Values {
        let mut all = Values::new();
        for (name, states) in self.configuration(after) {
            all.insert(format!("{name} in"), texts(states));
        }
        for (name, value) in self.variables(after) {
            all.insert(name, write_value(&self.cfa, &value));
        }
        all.insert("sent".into(), texts(self.raised_inside(after)));
        for (adapter, queues) in self.system.adapters.iter().zip(self.queues(after)) {
            for (queue, waiting) in adapter.queues.iter().zip(queues) {
                let names = waiting.iter().map(|m| queue.entries[m.entry].name.clone());
                all.insert(format!("{} holds", queue.name), texts(names.collect()));
            }
        }
        all
    }

    fn native(&self, file: &str, trace: &Trace) -> Option<Result<String, String>> {
        if !file.ends_with(".get") {
            return None;
        }
        let folder = Path::new(file).parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let import = relative(folder, Path::new(&self.file));
        let cycles = self.cycles(trace).ok_or("the run needs times that are no whole milliseconds");
        Some(cycles.map(|all| self.execution_trace("Run", &import, &all)).map_err(String::from))
    }

    fn remark(&self, at: LocationId) -> Option<String> {
        let mistake = (self.mistake == Some(at)).then(|| MISTAKE.into());
        mistake.or_else(|| (self.violated == Some(at)).then(|| "the property is violated".into()))
    }

    fn drawing(&self) -> Drawing {
        let mut out = Drawing::default();
        for chart in &self.system.charts {
            let name = if chart.name.is_empty() { &self.system.name } else { &chart.name };
            let frame = out.nodes.len();
            out.nodes.push(DrawnNode { lines: vec![name.clone()], shape: NodeShape::Frame, ..DrawnNode::default() });
            let mut places = vec![];
            for (n, node) in chart.nodes.iter().enumerate() {
                places.push(frame + 1 + n);
                let region = &chart.regions[node.region];
                let within = region.parent.map_or(frame, |p| frame + 1 + p);
                let label = format!("{}.{}", region.name, node.name);
                let (shape, lines) = match node.kind {
                    Kind::State if !node.regions.is_empty() => (NodeShape::Frame, vec![node.name.clone()]),
                    Kind::State => (NodeShape::Plain, vec![node.name.clone()]),
                    Kind::Initial => (NodeShape::Start, vec![]),
                    Kind::Shallow => (NodeShape::Plain, vec!["H".into()]),
                    Kind::Deep => (NodeShape::Plain, vec!["H*".into()]),
                    _ => (NodeShape::Plain, vec![node.name.clone()]),
                };
                // A run says it with the chart's name, a walk beside those of its variables.
                let lights = || vec![(name.clone(), Some(label.clone())), (format!("{name} in"), Some(label.clone()))];
                let lit = if node.kind == Kind::State { lights() } else { vec![] };
                out.nodes.push(DrawnNode { lines, within: Some(within), shape, lit, ..DrawnNode::default() });
            }
            for t in &chart.transitions {
                let arrow = format!("{} -> {}", chart.nodes[t.from].name, chart.nodes[t.to].name);
                let own = (t.name != arrow).then(|| t.name.clone());
                let when = match self.system.terms.as_bool(t.enabled) {
                    _ if t.otherwise => Some("else".to_string()),
                    Some(true) => None,
                    _ => {
                        // Events are variables whose names nobody else can have.
                        let said = self.system.terms.show(t.enabled).to_string();
                        Some(said.replace('@', "").replace(&format!("{name}."), ""))
                    }
                };
                let lines = own.into_iter().chain(when).collect();
                out.edges.push(DrawnEdge { from: places[t.from], to: places[t.to], lines, ..DrawnEdge::default() });
            }
        }
        out
    }
}

/// Is a run that goes on one of the language? Its beginning and twice its cycle are taken by the interpreter.
pub fn goes_on(encoded: &Encoded, run: &Counterexample) -> Result<(), String> {
    let Parts { stem, cycle, .. } = parts(run);
    let mut trace = whole(&encoded.cfa, stem);
    for again in cycle.into_iter().flat_map(|c| [c.clone(), c]) {
        trace.steps.extend(whole(&encoded.cfa, again).steps);
    }
    super::interpreted(encoded, &trace)
        .map(|_| ())
        .map_err(|why| format!("a run was found that is not replayed: {why}"))
}

/// Is there no mistake in the model, whatever happens? If that is not proven, why not.
pub fn never_mistaken(encoded: &Encoded, meter: &mut Meter) -> Result<(), String> {
    if encoded.mistake.is_none() {
        return Ok(());
    }
    let found = trellis_engine::program::check(&encoded.cfa, &Engine::Portfolio(2), meter);
    match found.verdict {
        Verdict::Safe(proof) => {
            let checked = trellis_check::program::certify(&encoded.cfa, &proof, meter);
            checked.map(|_| ()).map_err(|why| format!("whether the model has a mistake: {why}"))
        }
        Verdict::Unsafe(_) => Err(MISTAKE.into()),
        Verdict::Unknown(_) => {
            Err("whether every choice has an enabled branch, and numbers keep to their bounds, is not known; give each choice an [else]".into())
        }
    }
}
