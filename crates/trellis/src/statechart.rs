//! Answers about statecharts, in states and events.

use std::fmt::Write;

use trellis_model::cfa::EdgeId;
use trellis_model::cfa::evidence::{Trace, Verdict};
use trellis_model::cfa::interpret::Step;
use trellis_model::evidence::Reason;
use trellis_syntax::scxml::{Chart, MacroStep};

/// A run into the place where an event did not fit into the internal queue says nothing about the property.
pub fn verdict(chart: &Chart, verdict: Verdict) -> Verdict {
    match &verdict {
        Verdict::Unsafe(trace) if overflows(chart, trace) => Verdict::Unknown(Reason::Unsupported(
            "more internal events than the queue holds; trellis:queue=\"N\" on <scxml> makes it longer".into(),
        )),
        _ => verdict,
    }
}

/// Does a run end there?
pub fn overflows(chart: &Chart, trace: &Trace) -> bool {
    let end = trace.steps.last().map(|step| chart.cfa.edge(step.edge).to);
    chart.overflow.is_some() && end == chart.overflow
}

/// A run in macro-steps: the event, the active states, the data that changed.
pub fn story(chart: &Chart, trace: &Trace) -> String {
    tell(chart, &chart.describe(trace), usize::MAX, "")
}

/// A run that goes on: macro-steps, those that end on the cycle after what is said about it.
///
/// The edges are those of the chart without its errors.
pub fn lasso(chart: &Chart, mut stem: Trace, cycle: Option<Trace>, end: &str) -> String {
    let all = chart.cfa.edges().filter(|&e| !chart.cfa.is_error(chart.cfa.edge(e).to));
    let edges: Vec<EdgeId> = all.collect();
    let renumbered = |mut step: Step| {
        step.edge = edges[step.edge.index()];
        step
    };
    stem.steps = stem.steps.into_iter().map(renumbered).collect();
    let first = chart.describe(&stem).iter().filter(|s| s.stable).count();
    stem.steps.extend(cycle.into_iter().flat_map(|c| c.steps).map(renumbered));
    // What has not ended at the end of the cycle ends at its beginning.
    let told: Vec<MacroStep> = chart.describe(&stem).into_iter().filter(|s| s.stable).collect();
    tell(chart, &told, first, end)
}

/// Says something before the macro-step with this number.
fn tell(chart: &Chart, steps: &[MacroStep], at: usize, end: &str) -> String {
    let mut out = String::new();
    let mut before = &vec![];
    for (n, step) in steps.iter().enumerate() {
        if n == at {
            _ = writeln!(out, "         {end}");
        }
        let event = step.event.as_ref().map_or("start".to_string(), |e| format!("event {e}"));
        let open = if step.stable { "" } else { " (not yet stable)" };
        _ = writeln!(out, "{n:>6}   {event}: {}{open}", step.configuration.join(", "));
        let changed: Vec<String> = step
            .data
            .iter()
            .filter(|x| !before.contains(*x))
            .map(|(name, value)| format!("{name} = {}", chart.cfa.terms.show_value(value)))
            .collect();
        if !changed.is_empty() {
            _ = writeln!(out, "         {}", changed.join(", "));
        }
        before = &step.data;
    }
    if at == steps.len() {
        _ = writeln!(out, "         {end}");
    }
    out
}
