//! The bundled charts: their verdicts, by going everywhere, and their runs beside the reference.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use trellis_model::cfa::interpret::{Choice, State, Step, Trace, replay, successors, zero};
use trellis_syntax::scxml::Chart;

use crate::lockstep::{Offer, Outcome, Seen, compare, finish, offers};
use crate::read;
use crate::reference::From;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/scxml")
}

/// Everything that can be reached, and how.
fn reachable(text: &str) -> Vec<(State, Trace)> {
    // With a property that asks nothing, the edges are the same as with any other.
    let chart = &read(text, &["true"]).expect("a chart")[0];
    let start = zero(&chart.cfa);
    let mut steps = vec![];
    let first = finish(chart, State { location: chart.cfa.initial, env: start.clone() }, &mut steps);
    let mut known = BTreeSet::new();
    let mut found = vec![];
    let mut todo = VecDeque::from([(first, steps)]);
    while let Some((outcome, steps)) = todo.pop_front() {
        let (Outcome::Stable(state) | Outcome::Ended(state)) = outcome else { panic!("{outcome:?}") };
        if !known.insert(format!("{:?}", state.env)) {
            continue;
        }
        if state.location == chart.stable {
            for offer in offers(chart, &state) {
                let mut steps: Vec<Step> = steps.clone();
                let choices = if offer.from == From::Outside { outside(chart, &offer) } else { vec![] };
                steps.push(Step { edge: offer.edge, choices, after: offer.then.env.clone() });
                let outcome = finish(chart, offer.then, &mut steps);
                todo.push_back((outcome, steps));
            }
        }
        found.push((state, Trace { start: start.clone(), steps }));
    }
    found
}

/// The shortest of the ways that leads to a violation of the property.
fn violation(chart: &Chart, reachable: &[(State, Trace)]) -> Option<Trace> {
    for (state, trace) in reachable {
        for (edge, next) in successors(&chart.cfa, state, 1000).expect("few outcomes") {
            if Some(next.location) == chart.violated {
                let mut trace = trace.clone();
                trace.steps.push(Step { edge, choices: vec![], after: next.env });
                return Some(trace);
            }
        }
    }
    None
}

/// What is decided when an event comes from outside: how much time has passed, and which event it is.
fn outside(chart: &Chart, offer: &Offer) -> Vec<Choice> {
    let value = |name: &str| {
        let (v, _) = chart.cfa.terms.variables().find(|(_, v)| v.name == name)?;
        Some(Choice::Value(offer.then.env[&v].clone()))
    };
    value("elapsed").into_iter().chain(value("event")).collect()
}

#[test]
fn the_verdicts() {
    let table = std::fs::read_to_string(folder().join("EXPECTED.tsv")).expect("a table");
    for line in table.lines().skip(1) {
        let (name, verdicts) = line.split_once('\t').expect("two columns");
        let text = std::fs::read_to_string(folder().join(name)).expect("a chart");
        let charts = read(&text, &[]).unwrap_or_else(|said| panic!("{name}: {said}"));
        let reachable = reachable(&text);
        let verdicts: Vec<&str> = verdicts.split(' ').collect();
        assert_eq!(charts.len(), verdicts.len(), "{name}");
        for (chart, verdict) in charts.iter().zip(verdicts) {
            let property = chart.property.as_deref().unwrap_or_default();
            let found = violation(chart, &reachable);
            assert_eq!(if found.is_some() { "UNSAFE" } else { "SAFE" }, verdict, "{name}: {property}");
            if let Some(trace) = found {
                let end = replay(&chart.cfa, &trace).expect("a trace");
                assert_eq!(Some(end.location), chart.violated);
                assert!(chart.describe(&trace).iter().all(|step| step.stable));
            }
        }
    }
}

#[test]
fn the_runs() {
    let table = std::fs::read_to_string(folder().join("EXPECTED.tsv")).expect("a table");
    for line in table.lines().skip(1) {
        let (name, _) = line.split_once('\t').expect("two columns");
        let text = std::fs::read_to_string(folder().join(name)).expect("a chart");
        let charts = read(&text, &["true"]).unwrap_or_else(|said| panic!("{name}: {said}"));
        let mut seen = Seen::default();
        compare(&text, &charts[0], 150, &mut seen);
        assert_eq!((seen.diverging, seen.overflowing), (0, 0), "{name}");
        println!("{name}: {seen:?}");
    }
}

#[test]
fn a_trace_speaks_in_states_and_events() {
    let text = std::fs::read_to_string(folder().join("calculator.scxml")).expect("a chart");
    let charts = read(&text, &["!In('alert')"]).expect("a chart");
    let trace = violation(&charts[0], &reachable(&text)).expect("a violation");
    let told = charts[0].describe(&trace);
    let events: Vec<&str> = told.iter().map(|step| step.event.as_deref().unwrap_or("")).collect();
    assert_eq!(events[..2], ["", "ON"]);
    assert_eq!(told[0].configuration, ["off"]);
    let last = told.last().expect("a step");
    assert_eq!(last.configuration, ["working", "entry", "alert", "memory", "empty"]);
    let data: Vec<String> =
        last.data.iter().map(|(name, v)| format!("{name}={}", charts[0].cfa.terms.show_value(v))).collect();
    assert_eq!(data[..2], ["digits=3", "operator=plus"]);
}
