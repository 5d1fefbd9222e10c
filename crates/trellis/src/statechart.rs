//! Answers about statecharts, in states and events.

use std::fmt::Write;

use trellis_model::cfa::evidence::{Trace, Verdict};
use trellis_model::evidence::Reason;
use trellis_syntax::scxml::Chart;

/// A run into the place where an event did not fit into the internal queue says nothing about the property.
pub fn verdict(chart: &Chart, verdict: Verdict) -> Verdict {
    match &verdict {
        Verdict::Unsafe(trace) if ends(chart, trace) == chart.overflow && chart.overflow.is_some() => {
            Verdict::Unknown(Reason::Unsupported(
                "more internal events than the queue holds; trellis:queue=\"N\" on <scxml> makes it longer".into(),
            ))
        }
        _ => verdict,
    }
}

fn ends(chart: &Chart, trace: &Trace) -> Option<trellis_model::cfa::LocationId> {
    trace.steps.last().map(|step| chart.cfa.edge(step.edge).to)
}

/// A run in macro-steps: the event, the active states, the data that changed.
pub fn story(chart: &Chart, trace: &Trace) -> String {
    let mut out = String::new();
    let mut before = vec![];
    for (n, step) in chart.describe(trace).into_iter().enumerate() {
        let event = step.event.map_or("start".to_string(), |e| format!("event {e}"));
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
        before = step.data;
    }
    out
}
