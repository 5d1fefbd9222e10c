//! Answers about statecharts, in states and events.

pub mod evidence;

use std::io;

use serde_json::Value;
use serde_json::value::RawValue;
use trellis_engine::program;
use trellis_expr::eval::Valuation;
use trellis_meter::Meter;
use trellis_model::cfa::evidence::{Certificate, Trace, Verdict};
use trellis_model::cfa::{Cfa, EdgeId, Kind, LocationId};
use trellis_model::ltl::evidence::Proof;
use trellis_report::ltl::{Counterexample, Formula, Parts, parts};
use trellis_report::present::{Body, Drawing, DrawnEdge, DrawnNode, Look, NodeShape, Shown};
use trellis_report::program::write_value;
use trellis_report::run::{Part, Run, Step as ShownStep, Values};
use trellis_report::{Present, Program, ReadError};
use trellis_syntax::scxml::{Cause, Chart, Limit, MacroStep, Outlined};

/// Which limit was too low, if a run ends where an event did not fit into a queue: that says nothing about the property.
pub fn too_short(chart: &Chart, verdict: &Verdict) -> Option<Limit> {
    match verdict {
        Verdict::Unsafe(trace) => ends(chart, trace).and_then(|at| chart.too_short(at)),
        _ => None,
    }
}

/// The chart without the runs in which something does not fit: what it violates still, the chart violates. Edges keep their numbers.
pub fn fitting(chart: &Chart) -> Cfa {
    let mut cfa = chart.cfa.clone();
    for (at, _) in &chart.overflow {
        cfa.location_mut(*at).kind = Kind::Plain;
    }
    cfa
}

/// What a chart says about its environment, which nobody has proven.
pub fn assumes(chart: &Chart) -> Vec<String> {
    let mut assumed = vec![];
    if chart.invokes {
        assumed
            .push("charts that invoke each other take turns, in the order in which their events were sent".to_string());
    }
    let Some(names) = &chart.environment else { return assumed };
    let name = |n: &String| if n.is_empty() { "what nobody mentions".to_string() } else { format!("`{n}`") };
    let all: Vec<String> = names.iter().map(name).collect();
    let what = if all.is_empty() { "nothing comes".to_string() } else { format!("only {} come", all.join(", ")) };
    assumed.push(format!("{what} from outside (trellis:events)"));
    assumed
}

/// What there is too much of, and what to do about it.
pub fn advice(limit: Limit) -> String {
    let longer = limit.attribute().map(|name| format!("; {name}=\"N\" on <scxml> makes it longer"));
    format!("{}{}", limit.what(), longer.unwrap_or_default())
}

/// All limits of a chart, to be told when it is not known which of them is too low.
fn limits(chart: &Chart) -> String {
    let all: Vec<String> = chart.overflow.iter().map(|(_, limit)| advice(*limit)).collect();
    format!("there may be {}", all.join("; or "))
}

/// Are the queues of a chart long enough, whatever happens? If that is not proven, why not.
pub fn never_too_short(chart: &Chart, meter: &mut Meter) -> Result<(), String> {
    if chart.overflow.is_empty() {
        return Ok(());
    }
    let found = program::check(&chart.cfa, &program::Engine::Portfolio(2), meter);
    let Verdict::Safe(invariant) = found.verdict else { return Err(limits(chart)) };
    let checked = trellis_check::program::certify(&chart.cfa, &invariant, meter);
    checked.map(|_| ()).map_err(|why| format!("whether the queue is long enough: {why}"))
}

/// Does a run end where something did not fit?
pub fn overflows(chart: &Chart, trace: &Trace) -> bool {
    ends(chart, trace).is_some_and(|at| chart.too_short(at).is_some())
}

fn ends(chart: &Chart, trace: &Trace) -> Option<trellis_model::cfa::LocationId> {
    trace.steps.last().map(|step| chart.cfa.edge(step.edge).to)
}

/// What a run of the automaton that stands for statecharts means.
pub trait Rounds {
    /// The automaton.
    fn cfa(&self) -> &Cfa;
    /// Is a round over in a location?
    fn rests(&self, at: LocationId) -> bool;
    /// A run in rounds; the first is the start.
    fn tell(&self, trace: &Trace) -> Vec<Round>;
    /// What is known of a moment.
    fn values(&self, values: &Valuation) -> Values;
    /// As its author sees it.
    fn drawing(&self) -> Drawing;
    /// A run in a form of the language's own, by the name of the file.
    fn native(&self, _file: &str, _trace: &Trace) -> Option<Result<String, String>> {
        None
    }
    /// What is to be said of a location, if anything: that nothing goes on there.
    fn remark(&self, at: LocationId) -> Option<String>;
}

/// A round: a macro-step, or a cycle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round {
    /// What came, in words.
    pub label: String,
    /// What came; nothing at the start.
    pub event: Option<String>,
    /// How much time has passed before it, to put rounds in an order.
    pub waited: u64,
    /// Everything after it, for machines.
    pub values: Values,
    /// The same for people.
    pub shown: Values,
    /// Where it leads.
    pub place: String,
    /// Has it come to its end?
    pub stable: bool,
}

impl Rounds for Chart {
    fn cfa(&self) -> &Cfa {
        &self.cfa
    }

    fn rests(&self, at: LocationId) -> bool {
        at == self.stable || at == self.ended
    }

    fn tell(&self, trace: &Trace) -> Vec<Round> {
        self.describe(trace).iter().map(|step| round(self, step)).collect()
    }

    fn values(&self, values: &Valuation) -> Values {
        round(self, &self.describe_values(None, values, true)).values
    }

    fn drawing(&self) -> Drawing {
        drawing(self)
    }

    fn remark(&self, at: LocationId) -> Option<String> {
        if let Some(limit) = self.too_short(at) {
            return Some(format!("there are {}, and the walk cannot go on", limit.what()));
        }
        let violated = self.cfa.is_error(at).then(|| "the property is violated".into());
        violated.or_else(|| (at == self.ended).then(|| "the chart has ended".into()))
    }
}

fn round(chart: &Chart, step: &MacroStep) -> Round {
    let states = Value::Array(step.configuration.iter().cloned().map(Value::from).collect());
    let data = step.data.iter().map(|(name, v)| (name.clone(), write_value(&chart.cfa, v)));
    let text = |v: &_| chart.cfa.terms.show_value(v).to_string().into();
    let texts = step.data.iter().map(|(name, v)| (name.to_string(), text(v)));
    Round {
        label: step.event.as_ref().map_or_else(|| "start".into(), |e| came(e, step)),
        event: step.event.clone(),
        waited: step.waited,
        values: std::iter::once((evidence::active(chart), states)).chain(data).collect(),
        shown: std::iter::once(("states".to_string(), step.configuration.join(", ").into())).chain(texts).collect(),
        place: innermost(chart, step),
        stable: step.stable,
    }
}

/// A run as people see it: a step is a round, a state the active states and the data.
pub fn shown(rounds: Vec<Round>) -> Shown {
    let said = |r: &Round| {
        let open = if r.stable || r.event.is_none() { "" } else { " (not yet stable)" };
        format!("{}{open}", r.label)
    };
    let mut run = Run::default();
    let mut before = Values::new();
    for (n, round) in rounds.iter().enumerate() {
        let now = round.shown.clone();
        if n == 0 {
            run.start = now.clone();
        } else {
            let set = now.iter().filter(|(name, v)| before.get(*name) != Some(v));
            let set = set.map(|(name, v)| (name.clone(), v.clone())).collect();
            let from = rounds.get(n - 1).map(|r| r.place.clone());
            let part = Part { from, to: Some(round.place.clone()), ..Part::default() };
            run.steps.push(ShownStep { label: said(round), set, parts: vec![part], ..ShownStep::default() });
        }
        before = now;
    }
    let start = rounds.first().map(said);
    Shown { run, look: Look { start, last: "the error".into(), ..Look::default() } }
}

/// The active states that have no others in them: they say which others are active, and fit into a chart.
fn innermost(chart: &Chart, step: &MacroStep) -> String {
    let is_compound = |name: &String| chart.outline.states.iter().any(|s| s.compound && s.name == *name);
    let all: Vec<&str> = step.configuration.iter().filter(|n| !is_compound(n)).map(String::as_str).collect();
    all.join(", ")
}

/// Is a run that goes on forever one of the chart? Not if something that the chart has sent to itself waits forever: that is not what
/// its queue does, nor time. What need not repeat cannot be told so.
///
/// The edges are those of the chart without its errors.
pub fn fair(chart: &Chart, run: &Counterexample) -> Result<(), String> {
    if !chart.may_be_unfair() {
        return Ok(());
    }
    let edges = plain_edges(&chart.cfa);
    let fair = match run {
        Counterexample::Lasso(lasso) => {
            let cycle = &lasso.run.steps[lasso.back.min(lasso.run.steps.len())..];
            let taken: Vec<_> = cycle.iter().filter_map(|s| Some((edges[s.edge?.index()], &s.after))).collect();
            taken.is_empty() || chart.is_fair(&taken)
        }
        Counterexample::Recurrence(_) => false,
    };
    let why = "a run was found in which events come from outside forever, and perhaps never what the chart has sent to itself";
    if fair { Ok(()) } else { Err(why.into()) }
}

/// The edges of the chart without its errors.
fn plain_edges(cfa: &Cfa) -> Vec<EdgeId> {
    cfa.edges().filter(|&e| !cfa.is_error(cfa.edge(e).to)).collect()
}

/// A run of the automaton without its errors, in the edges of the whole.
pub fn whole(cfa: &Cfa, mut trace: Trace) -> Trace {
    let edges = plain_edges(cfa);
    trace.steps.iter_mut().for_each(|step| step.edge = edges[step.edge.index()]);
    trace
}

/// A run that goes on: rounds, those that end on the cycle after what is said about it.
///
/// The edges are those of the chart without its errors.
fn lasso(chart: &dyn Rounds, stem: Trace, cycle: Option<Trace>, end: String) -> Shown {
    let mut stem = whole(chart.cfa(), stem);
    let first = chart.tell(&stem).iter().filter(|s| s.stable).count();
    let back = cycle.is_some().then(|| first.saturating_sub(1));
    stem.steps.extend(cycle.into_iter().flat_map(|c| whole(chart.cfa(), c).steps));
    // What has not ended at the end of the cycle ends at its beginning.
    let mut shown = shown(chart.tell(&stem).into_iter().filter(|s| s.stable).collect());
    shown.run.back = back;
    shown.look = Look { end: Some(end), last: String::new(), ..shown.look };
    shown
}

/// An event, where it comes from, and how long that took.
pub fn came(event: &str, step: &MacroStep) -> String {
    let sent = if step.cause == Cause::Outside { "" } else { ", sent by the chart" };
    let after = if step.waited > 0 { format!("after {}, ", time(step.waited)) } else { String::new() };
    format!("{after}event {event}{sent}")
}

/// Microseconds, as W3C writes times.
fn time(microseconds: u64) -> String {
    let in_units = |unit: u64, name: &str| {
        let (whole, rest) = (microseconds / unit, microseconds % unit);
        let places = unit.ilog10() as usize;
        let fraction = format!("{rest:0places$}");
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() { format!("{whole}{name}") } else { format!("{whole}.{fraction}{name}") }
    };
    if microseconds >= 1_000_000 { in_units(1_000_000, "s") } else { in_units(1_000, "ms") }
}

/// A chart as its author sees it: states within states, lit while they are active.
pub fn drawing(chart: &Chart) -> Drawing {
    let (outline, active) = (&chart.outline, evidence::active(chart));
    let node = |s: &Outlined| {
        let lines = vec![if s.parallel { format!("{} (parallel)", s.name) } else { s.name.clone() }];
        let shape = match (s.compound, s.is_final) {
            (true, _) => NodeShape::Frame,
            (_, true) => NodeShape::Final,
            _ => NodeShape::Plain,
        };
        // Files of traces call them `active`, what people are shown `states`.
        let lit = [active.clone(), "states".into()].map(|name| (name, Some(s.name.clone()))).to_vec();
        DrawnNode { lines, within: s.within, shape, lit, ..DrawnNode::default() }
    };
    let mut out = Drawing { nodes: outline.states.iter().map(node).collect(), edges: vec![] };
    let starts = outline.states.iter().enumerate().filter(|(_, s)| !s.parallel).map(|(n, s)| (Some(n), &s.initial));
    for (within, initial) in std::iter::once((None, &outline.initial)).chain(starts) {
        for &to in initial {
            let from = out.nodes.len();
            out.nodes.push(DrawnNode { within, shape: NodeShape::Start, ..DrawnNode::default() });
            out.edges.push(DrawnEdge { from, to, ..DrawnEdge::default() });
        }
    }
    for (from, to, label) in &outline.transitions {
        let lines = Some(label.clone()).filter(|l| !l.is_empty()).into_iter().collect();
        out.edges.push(DrawnEdge { from: *from, to: *to, lines, ..DrawnEdge::default() });
    }
    out
}

/// A statechart: runs in events and states, proofs as those of its automaton.
pub struct ChartView<'a> {
    pub program: Program<'a>,
    pub chart: &'a dyn Rounds,
}

impl Present for ChartView<'_> {
    type Trace = Trace;
    type Proof = Certificate;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        evidence::run(self.chart, trace)
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        evidence::read(self.chart, run)
    }

    fn shown(&self, trace: &Trace) -> Shown {
        shown(self.chart.tell(trace))
    }

    fn native(&self, file: &str, trace: &Trace) -> Option<Result<String, String>> {
        self.chart.native(file, trace)
    }

    fn drawing(&self) -> Drawing {
        self.chart.drawing()
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        self.program.body(proof)
    }

    fn proof(&self, kind: &str, assumes: &[String], body: &RawValue) -> Result<Certificate, ReadError> {
        self.program.proof(kind, assumes, body)
    }

    fn size(&self, proof: &Certificate) -> Value {
        self.program.size(proof)
    }
}

/// A formula about a statechart, likewise.
pub struct ChartFormula<'a> {
    pub formula: Formula<'a>,
    pub chart: &'a dyn Rounds,
}

impl Present for ChartFormula<'_> {
    type Trace = Counterexample;
    type Proof = Proof;

    fn run(&self, trace: &Counterexample) -> io::Result<Run> {
        self.formula.run(trace)
    }

    fn trace(&self, run: &Run) -> Result<Counterexample, ReadError> {
        self.formula.trace(run)
    }

    fn shown(&self, trace: &Counterexample) -> Shown {
        let Parts { stem, cycle, end } = parts(trace);
        lasso(self.chart, stem, cycle, end)
    }

    fn body<'a>(&'a self, proof: &'a Proof) -> io::Result<Body<'a>> {
        self.formula.body(proof)
    }

    fn proof(&self, kind: &str, assumes: &[String], body: &RawValue) -> Result<Proof, ReadError> {
        self.formula.proof(kind, assumes, body)
    }

    fn size(&self, proof: &Proof) -> Value {
        self.formula.size(proof)
    }
}
