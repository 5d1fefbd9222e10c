//! The automaton and the reference, side by side: from the start, and from every stable configuration they come to, under every
//! event from outside.

use std::collections::BTreeMap;

use trellis_expr::Value;
use trellis_model::cfa::interpret::{State as CfaState, Step, Trace, replay, successors, zero};
use trellis_model::cfa::{EdgeId, lbe};
use trellis_syntax::scxml::{Cause, Chart, Limit};

use crate::expression::Val;
use crate::generate::{Random, chart};
use crate::read;
use crate::reference::{Diverges, Doc, Event, From, State};

/// Where the automaton comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Stable(CfaState),
    Ended(CfaState),
    Overflow,
    /// There is no value for something.
    Lost,
    Diverges,
}

/// Goes on from one edge to the next until the macro-step has come to its end. There must be one way only.
pub fn finish(chart: &Chart, mut state: CfaState, steps: &mut Vec<Step>) -> Outcome {
    // A cycle is found by comparing with a state that is kept for longer and longer.
    let mut kept = state.clone();
    for count in 1_u32.. {
        if state.location == chart.stable {
            return Outcome::Stable(state);
        } else if state.location == chart.ended {
            return Outcome::Ended(state);
        } else if let Some(limit) = chart.too_short(state.location) {
            return if limit == Limit::Value { Outcome::Lost } else { Outcome::Overflow };
        }
        let mut all = successors(&chart.cfa, &state, 1000).expect("few outcomes");
        assert_eq!(all.len(), 1, "in {}", chart.cfa.location(state.location).name);
        let (edge, next) = all.remove(0);
        steps.push(Step { edge, choices: vec![], after: next.env.clone() });
        state = next;
        if state == kept {
            break;
        } else if count.is_power_of_two() {
            kept = state.clone();
        }
    }
    Outcome::Diverges
}

/// What may come next in a stable configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub from: From,
    pub event: String,
    /// In milliseconds.
    pub waited: u64,
    pub edge: EdgeId,
    pub then: CfaState,
}

/// The states after each event that may come.
pub fn offers(chart: &Chart, state: &CfaState) -> Vec<Offer> {
    let mut all = vec![];
    for (edge, then) in successors(&chart.cfa, state, 10_000).expect("few outcomes") {
        if Some(then.location) == chart.violated || chart.cfa.location(then.location).name == "over" {
            continue;
        }
        let trace =
            Trace { start: state.env.clone(), steps: vec![Step { edge, choices: vec![], after: then.env.clone() }] };
        let told = chart.describe(&trace).remove(0);
        let from = match told.cause {
            Cause::Outside => From::Outside,
            Cause::Sent => From::Queue,
            Cause::Timer => From::Timer,
        };
        let event = told.event.expect("an event");
        all.push(Offer { from, event, waited: told.waited / 1000, edge, then });
    }
    all
}

fn observe(chart: &Chart, state: &CfaState) -> (Vec<String>, BTreeMap<String, Val>) {
    let seen = chart.describe_values(None, &state.env, true);
    let value = |v: Value| match v {
        Value::Bool(b) => Val::Bool(b),
        Value::Int(n) => Val::Int(i64::try_from(n).expect("a small number")),
        Value::Enum(e, n) => Val::Symbol(chart.cfa.terms.enumeration(e).literals[n as usize].clone()),
        v => panic!("{v:?}"),
    };
    // Nothing is said of what is not there.
    let nothing = |v: &Value| matches!(v, Value::Enum(e, _) if chart.cfa.terms.enumeration(*e).name == "Kind");
    let data = seen.data.into_iter().filter(|(_, v)| !nothing(v));
    (seen.configuration, data.map(|(name, v)| (name, value(v))).collect())
}

/// The same of the reference.
fn flat(name: &str, value: &Val, all: &mut BTreeMap<String, Val>) {
    match value {
        Val::Undefined | Val::Null => {}
        Val::Array(parts) => {
            all.insert(format!("{name}.length"), Val::Int(parts.len() as i64));
            parts.iter().enumerate().for_each(|(n, v)| flat(&format!("{name}[{n}]"), v, all));
        }
        Val::Object(fields) => fields.iter().for_each(|(field, v)| flat(&format!("{name}.{field}"), v, all)),
        value => {
            all.insert(name.to_string(), value.clone());
        }
    }
}

/// What a comparison has seen.
#[derive(Debug, Default)]
pub struct Seen {
    pub stable: usize,
    pub steps: usize,
    pub diverging: usize,
    pub overflowing: usize,
    pub ended: usize,
    /// Steps by what the chart has sent to itself.
    pub own: usize,
    /// Steps to a value that there is none of; and how many of these the reference knows a value for.
    pub lost: (usize, usize),
    pub largest: usize,
}

/// Compares at most so many stable configurations.
pub fn compare(text: &str, chart: &Chart, limit: usize, seen: &mut Seen) {
    let document = roxmltree::Document::parse(text).expect("XML");
    let doc = Doc::new(&document);
    let places = |what: &str| {
        let named = |name: &str| name.strip_prefix(what).is_some_and(|n| n.parse::<usize>().is_ok());
        chart.cfa.terms.variables().filter(|(_, v)| named(&v.name)).count()
    };
    let capacity = places("queue ");
    let sent = (places("external "), places("timer "));
    let mut known: BTreeMap<State, CfaState> = BTreeMap::new();
    let mut todo: Vec<(State, CfaState)> = vec![];
    let start = CfaState { location: chart.cfa.initial, env: zero(&chart.cfa) };
    let mut meet = |reference: Result<State, Diverges>, outcome: Outcome, how: &str, todo: &mut Vec<_>| {
        seen.steps += 1;
        let (state, automaton) = match (reference, outcome) {
            (Ok(state), Outcome::Lost) => {
                seen.lost.0 += 1;
                seen.lost.1 += usize::from(!state.lost);
                return;
            }
            (Err(Diverges), Outcome::Lost) => return,
            (Ok(state), outcome) if state.lost => {
                // The automaton goes on to the end of the micro-step; then something may not fit, too.
                assert_eq!(outcome, Outcome::Overflow, "{how}: there is no value in\n{text}");
                return;
            }
            (Err(Diverges), Outcome::Diverges) => {
                seen.diverging += 1;
                return;
            }
            // It may grow forever.
            (Err(Diverges), Outcome::Overflow) => {
                seen.overflowing += 1;
                return;
            }
            (Ok(state), Outcome::Overflow) => {
                let full = state.longest.1 > capacity || state.most.0 > sent.0 || state.most.1 > sent.1;
                assert!(full, "{how}: an overflow for no reason in\n{text}");
                seen.overflowing += 1;
                return;
            }
            (Ok(state), Outcome::Stable(automaton)) => {
                assert!(state.running, "{how}: it has ended in\n{text}");
                (state, automaton)
            }
            (Ok(state), Outcome::Ended(automaton)) => {
                assert!(!state.running, "{how}: it has not ended in\n{text}");
                seen.ended += 1;
                (state, automaton)
            }
            (reference, outcome) => panic!("{how}: {reference:?} and {outcome:?} in\n{text}"),
        };
        let fits = state.longest.0 <= capacity && state.most.0 <= sent.0 && state.most.1 <= sent.1;
        assert!(fits, "{how}: no overflow in\n{text}");
        let mut data = BTreeMap::new();
        state.data.iter().for_each(|(name, v)| flat(name, v, &mut data));
        let names: Vec<String> = state.configuration.iter().map(|&s| doc.name(s)).collect();
        assert_eq!((names, data), observe(chart, &automaton), "{how}: reference and automaton in\n{text}");
        let mut key = state.clone();
        (key.longest, key.most) = ((0, 0), (0, 0));
        if !key.running {
            (key.external, key.delayed) = (Default::default(), vec![]);
        }
        match known.get(&key) {
            // Nothing stays behind of how one came here.
            Some(there) if state.running => assert_eq!(there, &automaton, "{how}\n{text}"),
            Some(_) => {}
            None => {
                known.insert(key.clone(), automaton.clone());
                if state.running {
                    todo.push((key, automaton));
                }
            }
        }
    };
    meet(doc.start(), finish(chart, start, &mut vec![]), "at the start", &mut todo);
    let mut done = 0;
    while let Some((state, automaton)) = todo.pop() {
        done += 1;
        if done > limit {
            break;
        }
        let mut offered = offers(chart, &automaton);
        let mut take = |from: From, waited: u64, event: &str| {
            let at = offered.iter().position(|o| (o.from, o.waited, o.event.as_str()) == (from, waited, event));
            at.map(|at| offered.remove(at).then)
        };
        for (from, waited, event, then) in doc.own_events(&state) {
            let how = format!("{from:?} {} after {waited}, {done}", event.name);
            let next = take(from, waited, &event.name).unwrap_or_else(|| panic!("{how} is not offered in\n{text}"));
            seen.own += 1;
            meet(doc.step(&then, &event), finish(chart, next, &mut vec![]), &how, &mut todo);
        }
        let outside: Vec<String> = offers(chart, &automaton)
            .into_iter()
            .filter(|o| o.from == From::Outside && o.waited == 0)
            .map(|o| o.event)
            .collect();
        let mut used: BTreeMap<(String, u64), CfaState> = BTreeMap::new();
        for event in doc.events() {
            // The longest name that is offered and begins like this one stands for it.
            let stands = outside.iter().filter(|n| event == **n || event.starts_with(&format!("{n}.")));
            let stands = stands.max_by_key(|n| n.len()).or_else(|| outside.iter().find(|n| *n == "*"));
            let Some(name) = stands else {
                let after = doc.step(&state, &Event::outside(&event)).expect("an end");
                assert_eq!(after, state, "{event} changes something in\n{text}");
                continue;
            };
            for waited in doc.pauses(&state) {
                let how = format!("event {event} after {waited}, {done}");
                let known = used.get(&(name.clone(), waited)).cloned();
                let next = known.or_else(|| take(From::Outside, waited, name));
                let next = next.unwrap_or_else(|| panic!("{how} is not offered in\n{text}"));
                used.insert((name.clone(), waited), next.clone());
                let after = doc.step(&doc.later(&state, waited), &Event::outside(&event));
                meet(after, finish(chart, next, &mut vec![]), &how, &mut todo);
            }
        }
        assert!(offered.is_empty(), "{offered:?} is too much in\n{text}");
    }
    seen.stable += known.len();
    seen.largest = seen.largest.max(known.len());
}

fn runs(default: u64) -> u64 {
    std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

#[test]
fn random_charts_run_as_appendix_d_says() {
    let (mut seen, mut refused) = (Seen::default(), 0);
    let count = runs(80);
    for seed in 0..count {
        let text = chart(&mut Random::new(seed));
        match read(&text, &[]) {
            Ok(charts) => compare(&text, &charts[0], 60, &mut seen),
            Err(said) => {
                // Where a variable is never anything but undefined, so is every sum with it.
                let known = said.contains("into the history of") || said.contains("undefined as a number");
                assert!(known, "seed {seed}: {said}\n{text}");
                refused += 1;
            }
        }
    }
    println!("{count} charts, {refused} refused: {seen:?}");
    assert!(refused * 5 < count && seen.stable as u64 > 3 * count && seen.own as u64 > count);
    // The automaton gives up a little earlier than it must, not often.
    assert!(seen.lost.1 * 50 < seen.steps, "{seen:?}");
}

/// Large blocks lead to the same stable configurations, and a trace through them can be told in macro-steps.
#[test]
fn traces_through_large_blocks() {
    for seed in 0..runs(80) / 4 {
        let text = chart(&mut Random::new(seed + 1_000_000));
        let Ok(charts) = read(&text, &["!In('s1')"]) else { continue };
        let chart = &charts[0];
        let blocks = lbe::encode(&chart.cfa);
        // Any way into the error, at most so many blocks long.
        let start = CfaState { location: blocks.cfa.initial, env: zero(&blocks.cfa) };
        let mut waiting = std::collections::VecDeque::from([(start.clone(), vec![])]);
        let mut tried = 0;
        while let Some((state, steps)) = waiting.pop_front() {
            tried += 1;
            if tried > 60 || steps.len() > 6 {
                break;
            }
            if blocks.cfa.is_error(state.location) {
                let choices = steps;
                let Some(trace) = picked(&blocks.cfa, &start, &choices) else { break };
                let trace = blocks.expand(&chart.cfa, &trace).expect("a trace");
                let end = replay(&chart.cfa, &trace).expect("a trace");
                let told = chart.describe(&trace);
                let last = told.last().expect("a macro-step");
                assert_eq!(told[0].event, None);
                assert!(told[1..].iter().all(|step| step.event.is_some()));
                if Some(end.location) == chart.violated {
                    assert!(last.stable && last.configuration.contains(&"s1".to_string()), "{told:?}\n{text}");
                } else {
                    assert!(!last.stable);
                }
                break;
            }
            for (edge, next) in successors(&blocks.cfa, &state, 100_000).unwrap_or_default() {
                let mut steps: Vec<(trellis_model::cfa::EdgeId, CfaState)> = steps.clone();
                steps.push((edge, next.clone()));
                waiting.push_back((next, steps));
            }
        }
    }
}

/// Finds the choices of a way through blocks, by trying all.
fn picked(
    cfa: &trellis_model::cfa::Cfa,
    start: &CfaState,
    way: &[(trellis_model::cfa::EdgeId, CfaState)],
) -> Option<Trace> {
    use trellis_model::cfa::interpret::{Choice, Recorder, run};
    struct Guess(Random);
    impl trellis_model::cfa::interpret::Oracle for Guess {
        fn havoc(&mut self, terms: &trellis_expr::Terms, v: trellis_expr::VarId) -> Option<Value> {
            let mut all = Value::all(terms, terms.variable(v).ty, 1000)?;
            let n = self.0.below(all.len());
            Some(all.swap_remove(n))
        }

        fn choose(&mut self, branches: usize) -> Option<usize> {
            Some(self.0.below(branches))
        }
    }
    let mut guess = Guess(Random::new(7));
    let mut env = start.env.clone();
    let mut steps = vec![];
    'way: for (edge, next) in way {
        for _ in 0..2_000 {
            let mut after = env.clone();
            let mut recorder = Recorder::new(&mut guess);
            if run(&cfa.terms, cfa.edge(*edge).stmt, &mut after, &mut recorder) && after == next.env {
                let choices: Vec<Choice> = recorder.choices;
                steps.push(Step { edge: *edge, choices, after: after.clone() });
                env = after;
                continue 'way;
            }
        }
        return None;
    }
    Some(Trace { start: start.env.clone(), steps })
}
