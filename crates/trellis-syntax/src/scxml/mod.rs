//! Statecharts in W3C's SCXML (State Chart XML, Recommendation of 1 September 2015), as control-flow automata.
//!
//! The meaning is that of the Recommendation's Appendix D. **One round of the automaton is a macro-step**: in a stable
//! configuration an event comes, from outside (`events`) or because the chart has sent it to itself (`send`), and micro-steps
//! follow until no eventless transition is enabled and the internal queue is empty. A micro-step is a way from `select` to
//! `select`, so micro-steps that go on forever are a loop of the automaton, not a stable configuration. Properties are asked in
//! stable configurations, after the first macro-step and after each one that follows, and when the chart ends (a top-level final
//! state is active). What is done as it is shut down then (`exitInterpreter`) is not looked at.
//!
//! Read: `<state>`, `<parallel>`, `<final>`, `<history>` (shallow and deep), `<initial>`, `<transition>` (internal and external,
//! without events, without targets), `<onentry>`, `<onexit>`, `<datamodel>`, `<donedata>` and executable content (`content`,
//! `script`), `<send>` to the chart itself, now or with a delay (`send`). The data are those of ECMAScript that are `undefined`,
//! `null`, truth values, mathematical integers (perhaps within bounds), strings from a finite set, arrays and objects of these
//! (`value`, `types`); `expr` and `eval` say what expressions there are. What is said in comments, and elements and attributes of
//! foreign namespaces outside of executable content, change nothing and are left out.
//!
//! Our own attributes are in the namespace `urn:trellis`: `<scxml trellis:property="…">` and elements `<trellis:property
//! expr="…"/>` in it; `trellis:events="a b.c"`, the events from outside (`*`: those that nobody mentions, too);
//! `trellis:queue="8"`, how many events may wait inside, `trellis:external` and `trellis:timers`, how many of those that it has
//! sent to itself. `<data trellis:type="0..10">` declares a type: `bool`, `int`, bounds, or `{red, green}`. A chart that lets
//! more events wait than fit comes to an error location of its own ([`Chart::overflow`]): that is not a violation, but no proof
//! either.
//!
//! `<invoke>` of charts that are written inside it (`invoke`): all charts take turns, in the order in which their events were sent.
//!
//! What this front end deliberately does not do: `<invoke>` of other files, HTTP, functions, floating point, XML as a value, files beside the
//! chart, references to objects. All that is refused by name, with its place, or leads to an error location of its own
//! ([`Limit::Value`]). So is a transition from deep inside a state into that state's history: Appendix D may then enter states
//! that are active already.

mod act;
mod build;
mod content;
mod equal;
mod eval;
mod events;
mod expr;
mod invoke;
mod invoked;
mod lower;
mod outline;
mod read;
mod resolve;
mod script;
mod send;
mod step;
mod texts;
mod tree;
mod types;
mod value;

use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Value, VarId};
use trellis_model::cfa::interpret::Trace;
use trellis_model::cfa::{Cfa, EdgeId, LocationId};

use crate::diag::{Diagnostic, Severity, SourceId, Sources};
use crate::uppaal::text::Text;
pub use outline::{Outline, Outlined};
pub use send::Limit;

/// A statechart with one property.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The automaton. Its error locations are [`Chart::violated`] and [`Chart::overflow`].
    pub cfa: Cfa,
    /// The property, as it was written; none if nothing was asked.
    pub property: Option<String>,
    /// The same as a term of the automaton.
    pub condition: Option<TermId>,
    /// Where a configuration is stable and the next event comes from outside.
    pub stable: LocationId,
    /// Where the chart has ended.
    pub ended: LocationId,
    /// Where the property is violated.
    pub violated: Option<LocationId>,
    /// Where an event did not fit into a queue, and which that was.
    pub overflow: Vec<(LocationId, Limit)>,
    /// All that comes from outside, if the chart says what does (`trellis:events`); an empty name is all that nobody mentions.
    pub environment: Option<Vec<String>>,
    /// Does it invoke other charts? Then all of them take turns, which is an assumption.
    pub invokes: bool,
    /// As its author sees it.
    pub outline: Outline,
    /// The states in document order, with the condition that they are active.
    states: Vec<(String, TermId)>,
    data: Vec<(String, value::Store)>,
    event: VarId,
    events: Vec<String>,
    /// The first place of the external queue.
    waiting: Option<VarId>,
    /// The first timer.
    timer: Option<VarId>,
    /// How much time has passed before an event, and how many microseconds its unit has.
    elapsed: Option<(VarId, u64)>,
    causes: Causes,
}

/// On which edges the next event comes.
#[derive(Debug, Clone, Default)]
struct Causes {
    outside: Option<EdgeId>,
    queue: Option<EdgeId>,
    timers: Vec<EdgeId>,
}

/// Where the event of a macro-step comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The environment.
    Outside,
    /// The chart has sent it to itself.
    Sent,
    /// The chart has sent it to itself with a delay.
    Timer,
}

/// One macro-step, as the chart's author sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacroStep {
    /// The event; none for the first macro-step. `*` is an event that nobody mentions.
    pub event: Option<String>,
    /// Where it comes from.
    pub cause: Cause,
    /// How many microseconds have passed before it, as far as they are counted: while a timer is set.
    pub waited: u64,
    /// The active states after it, in document order.
    pub configuration: Vec<String>,
    /// The data after it.
    pub data: Vec<(String, Value)>,
    /// Has it come to its end?
    pub stable: bool,
}

/// Reads a chart and makes one automaton for each property: those given, or else those in the file; if there are none, one
/// automaton that asks nothing. With warnings, or complaints.
pub fn parse(
    sources: &Sources,
    chart: SourceId,
    properties: &[SourceId],
) -> Result<(Vec<Chart>, Vec<Diagnostic>), Vec<Diagnostic>> {
    read_charts(sources, chart, properties, properties.is_empty())
}

/// Reads a chart of which no property is asked.
pub fn parse_system(sources: &Sources, chart: SourceId) -> Result<(Chart, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (mut charts, diagnostics) = read_charts(sources, chart, &[], false)?;
    Ok((charts.swap_remove(0), diagnostics))
}

fn read_charts(
    sources: &Sources,
    chart: SourceId,
    properties: &[SourceId],
    own: bool,
) -> Result<(Vec<Chart>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = sources.get(chart);
    let (raw, mut errors) = read::read(chart, &source.text);
    if errors.count() > 0 {
        return Err(errors.finish());
    }
    let raw = invoke::join(raw, &mut errors);
    if errors.count() > 0 {
        return Err(errors.finish());
    }
    let mut tree = resolve::resolve(raw, &mut errors);
    if !own {
        tree.properties.clear();
    }
    for &id in properties {
        match expr::parse(&Text::plain(id, &sources.get(id).text)) {
            Ok(property) => tree.properties.push(property),
            Err(error) => errors.push(error),
        }
    }
    if errors.count() > 0 {
        return Err(errors.finish());
    }
    let (charts, diagnostics) = build::build(&tree, sources, chart, errors);
    if diagnostics.iter().any(|d| d.severity == Severity::Error) { Err(diagnostics) } else { Ok((charts, diagnostics)) }
}

impl Chart {
    /// The states in document order, with the condition that they are active.
    pub fn states(&self) -> impl Iterator<Item = (&str, TermId)> {
        self.states.iter().map(|(name, t)| (name.as_str(), *t))
    }

    /// The data model: those variables that are one variable of the automaton.
    pub fn data(&self) -> impl Iterator<Item = (&str, VarId)> {
        self.data.iter().filter_map(|(name, store)| Some((name.as_str(), store.plain()?)))
    }

    /// A trace in macro-steps. (A trace of large blocks is expanded first, with `Blocks::expand`.) If it ends in the middle of a
    /// macro-step, that is the last one, and not stable.
    pub fn describe(&self, trace: &Trace) -> Vec<MacroStep> {
        let mut steps: Vec<MacroStep> = vec![];
        let (mut event, mut came) = (None, (Cause::Outside, 0));
        let mut pending = false;
        let mut last = &trace.start;
        for step in &trace.steps {
            let edge = self.cfa.edge(step.edge);
            last = &step.after;
            if let Some(cause) = self.cause(step.edge) {
                event = match last.get(&self.event) {
                    Some(&Value::Enum(_, n)) => self.events.get(n as usize).cloned(),
                    _ => None,
                };
                came = (cause, self.waited(last));
            }
            let asked = edge.from == self.stable || edge.from == self.ended;
            pending = self.cause(step.edge).is_some() || !asked;
            if edge.to == self.stable || edge.to == self.ended {
                steps.push(self.step(event.take(), came, last, true));
                pending = false;
            }
        }
        if pending {
            steps.push(self.step(event, came, last, false));
        }
        steps
    }

    /// Where the event comes from that an edge takes in, if it takes one in.
    fn cause(&self, edge: EdgeId) -> Option<Cause> {
        match edge {
            _ if self.causes.outside == Some(edge) => Some(Cause::Outside),
            _ if self.causes.queue == Some(edge) => Some(Cause::Sent),
            _ if self.causes.timers.contains(&edge) => Some(Cause::Timer),
            _ => None,
        }
    }

    fn waited(&self, values: &Valuation) -> u64 {
        let Some((v, unit)) = self.elapsed else { return 0 };
        match values.get(&v) {
            Some(Value::Int(n)) => u64::try_from(n).unwrap_or(0).saturating_mul(unit),
            _ => 0,
        }
    }

    /// Could a cycle go on forever, if nothing but events from outside may come without end? Not if what the chart has sent to itself
    /// waits all the time and never comes: only finitely many events can have been put before it, and in a time without end each
    /// timer comes to its own.
    pub fn is_fair(&self, cycle: &[(EdgeId, &Valuation)]) -> bool {
        let idle = |v: Option<VarId>| {
            let empty = |values: &Valuation| matches!(v.map(|v| values.get(&v)), None | Some(Some(Value::Enum(_, 0))));
            cycle.iter().any(|(_, values)| empty(values))
        };
        let comes = |cause: Cause| cycle.iter().any(|(edge, _)| self.cause(*edge) == Some(cause));
        (idle(self.waiting) || comes(Cause::Sent)) && (idle(self.timer) || comes(Cause::Timer))
    }

    /// May events come from outside while others wait that the chart has sent to itself?
    pub fn may_be_unfair(&self) -> bool {
        self.causes.outside.is_some() && (self.waiting.is_some() || self.timer.is_some())
    }

    /// Which queue was too short, if a run ends here.
    pub fn too_short(&self, location: LocationId) -> Option<Limit> {
        self.overflow.iter().find(|(at, _)| *at == location).map(|(_, limit)| *limit)
    }

    fn step(
        &self,
        event: Option<String>,
        (cause, waited): (Cause, u64),
        values: &Valuation,
        stable: bool,
    ) -> MacroStep {
        MacroStep { event, cause, waited, ..self.describe_values(None, values, stable) }
    }

    /// The active states and the data, by the values of the automaton's variables.
    pub fn describe_values(&self, event: Option<String>, values: &Valuation, stable: bool) -> MacroStep {
        let holds = |t: TermId| {
            let value = trellis_expr::eval::eval(&self.cfa.terms, t, values, &mut trellis_expr::code::NoHost);
            value.ok().and_then(|v| v.as_bool()) == Some(true)
        };
        let configuration = self.states.iter().filter(|(_, t)| holds(*t)).map(|(name, _)| name.clone()).collect();
        let mut data = vec![];
        self.data.iter().for_each(|(name, store)| value::tell(store, name, values, &mut data));
        MacroStep { event, cause: Cause::Outside, waited: 0, configuration, data, stable }
    }
}
