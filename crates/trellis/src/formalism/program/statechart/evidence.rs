//! Runs of statecharts as evidence: a step is a macro-step, with its event, the states that are active after it, and the data. What the automaton that
//! stands for the chart did on the way is nested in a step's `choices`: for each of its edges which one of those that leave a location it was, and what was
//! chosen on it. Values in between are computed again when it is read, and what is written must be what was computed.

use std::io;

use serde_json::{Value as Json, json};
use trellis_expr::eval::Valuation;
use trellis_expr::{Terms, Value, VarId};
use trellis_model::cfa::EdgeId;
use trellis_model::cfa::interpret::{self, Choice, Oracle, Script, Step as Taken, Trace};
use trellis_report::ReadError;
use trellis_report::program::{read_value, write_value};
use trellis_report::run::{Part, Run, Step};
use trellis_syntax::scxml::Chart;

use super::Rounds;

/// What the active states of a chart are called beside the data.
pub fn active(chart: &Chart) -> String {
    let mut name = "active".to_string();
    while chart.data().any(|(data, _)| data == name) {
        name.push('_');
    }
    name
}

/// Remembers for which variables values were chosen.
struct Asked<'a>(Script<'a>, Vec<VarId>);

impl Oracle for Asked<'_> {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        self.1.push(v);
        self.0.havoc(terms, v)
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        self.0.choose(branches)
    }
}

/// Takes an edge: the choices as they are written, beginning with which of the edges that leave its source it is; and the values change.
fn take(chart: &dyn Rounds, edge: EdgeId, choices: &[Choice], env: &mut Valuation) -> Option<Vec<Json>> {
    let cfa = chart.cfa();
    let mut asked = Asked(Script::new(choices), vec![]);
    if !interpret::run(&cfa.terms, cfa.edge(edge).stmt, env, &mut asked) || !asked.0.is_over() {
        return None;
    }
    let way = cfa.outgoing(cfa.edge(edge).from).iter().position(|e| *e == edge)?;
    let mut variables = asked.1.into_iter();
    let mut written = vec![way.into()];
    for choice in choices {
        written.push(match choice {
            Choice::Branch(n) => (*n).into(),
            Choice::Value(v) => json!({ &*cfa.terms.variable(variables.next()?).name: write_value(cfa, v) }),
        });
    }
    Some(written)
}

/// A trace as macro-steps; it fails if it is no run that starts with zeros, as those of charts do.
pub fn run(chart: &dyn Rounds, trace: &Trace) -> io::Result<Run> {
    let wrong = || io::Error::other("the run is not one of the statechart");
    let mut env = interpret::zero(chart.cfa());
    let mut again = Trace { start: env.clone(), steps: vec![] };
    let mut groups: Vec<Vec<Json>> = vec![];
    let mut open: Vec<Json> = vec![];
    for step in &trace.steps {
        open.extend(take(chart, step.edge, &step.choices, &mut env).ok_or_else(wrong)?);
        again.steps.push(Taken { after: env.clone(), ..step.clone() });
        if chart.rests(chart.cfa().edge(step.edge).to) {
            groups.push(std::mem::take(&mut open));
        }
    }
    let told = chart.tell(&again);
    match (open.is_empty(), told.len() == groups.len()) {
        (true, _) => {}
        // That the property is asked where the chart is stable is no step of it.
        (false, true) if !groups.is_empty() => groups.last_mut().into_iter().for_each(|g| g.append(&mut open)),
        _ => groups.push(open),
    }
    if told.len() != groups.len() {
        return Err(wrong());
    }
    let mut before = chart.values(&again.start);
    let mut out = Run { start: before.clone(), ..Run::default() };
    for (told, choices) in told.into_iter().zip(groups) {
        let now = told.values;
        let set = now.iter().filter(|(name, v)| before.get(*name) != Some(v));
        let set = set.map(|(name, v)| (name.clone(), v.clone())).collect();
        let label = told.label;
        let takes = told.event.clone().map_or(Json::Null, Json::from);
        let parts = vec![Part { takes, choices, ..Part::default() }];
        out.steps.push(Step { label, set, parts, message: told.event, ..Step::default() });
        before = now;
    }
    Ok(out)
}

/// What was chosen, read as it is asked for.
struct Reader<'r> {
    choices: &'r [Json],
    taken: Vec<Choice>,
}

impl Oracle for Reader<'_> {
    fn havoc(&mut self, terms: &Terms, v: VarId) -> Option<Value> {
        let (first, rest) = self.choices.split_first()?;
        let value = read_value(terms, terms.variable(v).ty, first.as_object()?.values().next()?)?;
        self.choices = rest;
        self.taken.push(Choice::Value(value.clone()));
        Some(value)
    }

    fn choose(&mut self, branches: usize) -> Option<usize> {
        let (first, rest) = self.choices.split_first()?;
        let n = usize::try_from(first.as_u64()?).ok().filter(|n| *n < branches)?;
        self.choices = rest;
        self.taken.push(Choice::Branch(n));
        Some(n)
    }
}

/// A run of macro-steps back as a trace.
pub fn read(chart: &dyn Rounds, run: &Run) -> Result<Trace, ReadError> {
    let cfa = chart.cfa();
    let mut env = interpret::zero(cfa);
    let mut location = cfa.initial;
    let mut trace = Trace { start: env.clone(), steps: vec![] };
    for (i, step) in run.steps.iter().enumerate() {
        let path = |what: &str| format!("steps[{i}].{what}");
        let [part] = &step.parts[..] else {
            return Err(ReadError::found(path("parts"), "one part, the chart", &json!(step.parts.len())));
        };
        let mut reader = Reader { choices: &part.choices, taken: vec![] };
        while !reader.choices.is_empty() {
            let at = part.choices.len() - reader.choices.len();
            let way = reader.choose(cfa.outgoing(location).len()).filter(|_| !cfa.is_error(location));
            let edge = way.map(|n| cfa.outgoing(location)[n]);
            reader.taken.clear();
            let taken = edge.filter(|e| interpret::run(&cfa.terms, cfa.edge(*e).stmt, &mut env, &mut reader));
            let Some(edge) = taken else {
                let path = path(&format!("parts[0].choices[{at}]"));
                return Err(ReadError::found(path, "a step that the chart can take", &part.choices[at]));
            };
            let choices = std::mem::take(&mut reader.taken);
            trace.steps.push(Taken { edge, choices, after: env.clone() });
            location = cfa.edge(edge).to;
        }
    }
    // All that is said is what happens.
    let told = self::run(chart, &trace).map_err(|e| ReadError::Syntax(e.to_string()))?;
    if told.start != run.start {
        return Err(ReadError::found("start".into(), "the values of a chart that has not started", &json!(run.start)));
    }
    let differs = (0..run.steps.len()).find(|&i| told.steps.get(i) != run.steps.get(i));
    match differs {
        Some(i) => {
            let expected = told.steps.get(i).map_or_else(|| "no step".to_string(), |s| json!(s).to_string());
            Err(ReadError::found(format!("steps[{i}]"), expected, &json!(run.steps[i])))
        }
        None => Ok(trace),
    }
}
