//! Traces of networks as runs, and back. Processes, cells, lattice variables and clocks are values; an element of a lattice is its words
//! in hexadecimal, with a text for people beside them.

use std::io;

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trellis_domain::zone::Rational;
use trellis_model::network::{Action, Certificate, Edge, EdgeRef, Network, Snapshot, Step, Trace};
use trellis_order::{Lattice, Word};

use super::certificate::keys;
use super::{Renderer, Transition, body, read, xtr};
use crate::present::{Body, Drawing, Look, Present, Shown};
use crate::property::{Ending, Kind, Outcome};
use crate::reader::{ReadError, rational, rational_expected};
use crate::run::{self, Part, Run, Values};
use crate::words::excerpt;

impl Present for Network {
    type Trace = Trace;
    type Proof = Certificate;

    fn run(&self, trace: &Trace) -> io::Result<Run> {
        Ok(Renderer::new(self).run(trace))
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        Reader::new(self).trace(run)
    }

    fn ending(&self, kind: Kind, outcome: Outcome, trace: &Trace) -> Option<Ending> {
        Some(Renderer::new(self).ending(kind, outcome, trace))
    }

    fn shown(&self, trace: &Trace) -> Shown {
        Shown { run: Renderer::new(self).run(trace), look: Look::default() }
    }

    fn native(&self, file: &str, trace: &Trace) -> Option<Result<String, String>> {
        file.ends_with(xtr::ENDING).then(|| xtr::write(self, trace))
    }

    fn drawing(&self) -> Drawing {
        super::picture::drawing(self)
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        Ok(body::body(self, proof))
    }

    fn proof(&self, kind: &str, assumes: &[String], body: &RawValue) -> Result<Certificate, ReadError> {
        read::certificate(self, kind, assumes, body)
    }

    fn size(&self, c: &Certificate) -> Value {
        let mut size = json!({ "entries": c.entries.len(), "up_to_order": c.up_to_order });
        if !self.clocks.is_empty() {
            size["keys"] = keys(c).into();
        }
        size
    }
}

impl Renderer<'_> {
    /// A trace as a run.
    pub fn run(&self, trace: &Trace) -> Run {
        let timed = !self.net.clocks.is_empty();
        let mut before = &trace.initial;
        let mut steps = Vec::with_capacity(trace.steps.len());
        for step in &trace.steps {
            let moves = self.moves(before, &step.action);
            let message = moves.iter().find_map(|m| m.channel.as_ref()).map(|c| c.0.clone());
            steps.push(run::Step {
                label: label(&moves, message.as_deref()),
                delay: (timed || step.delay != Rational::ZERO).then(|| step.delay.to_string()),
                set: self.state(&step.state, Some(before)),
                parts: moves.iter().map(part).collect(),
                message,
                place: None,
            });
            before = &step.state;
        }
        Run {
            view: None,
            parts: self.names.processes.clone(),
            clocks: self.names.clocks.clone(),
            start: self.state(&trace.initial, None),
            steps,
            rest: (timed || trace.rest != Rational::ZERO).then(|| trace.rest.to_string()),
            back: trace.back_to,
            ending: None,
            recurrent: None,
        }
    }

    /// All values, or those that are not as before.
    fn state(&self, state: &Snapshot, before: Option<&Snapshot>) -> Values {
        let (net, names) = (self.net, &self.names);
        let mut out = Values::new();
        for (p, &l) in state.locations.iter().enumerate() {
            if before.is_none_or(|b| b.locations[p] != l) {
                out.insert(names.processes[p].clone(), names.locations[p][l as usize].clone().into());
            }
        }
        let vars = net.vars.iter().flat_map(|v| v.init.iter().map(move |_| v));
        for (i, (v, &n)) in vars.zip(&state.data).enumerate() {
            if before.is_none_or(|b| b.data[i] != n) {
                let value = if v.is_bool && (0..=1).contains(&n) { Value::from(n == 1) } else { Value::from(n) };
                out.insert(names.cells[i].clone(), value);
            }
        }
        for (i, l) in net.lattices.iter().enumerate() {
            let range = l.offset..l.offset + l.lattice.width();
            if before.is_none_or(|b| b.element[range.clone()] != state.element[range.clone()]) {
                let words: Vec<String> = state.element[range].iter().map(|w| format!("{w:#x}")).collect();
                let shown = self.lattice(i, &state.element);
                out.insert(names.lattices[i].clone(), json!({ "words": words, "shown": shown }));
            }
        }
        for (i, c) in state.clocks.iter().enumerate() {
            if before.is_none_or(|b| b.clocks.get(i) != Some(c)) {
                out.insert(names.clocks[i].clone(), c.to_string().into());
            }
        }
        out
    }
}

/// `User(0) → Desk: login[0]`, or how each moves.
fn label(moves: &[Transition<'_>], message: Option<&str>) -> String {
    let named = |send: bool| {
        let of = moves.iter().filter(move |m| m.channel.as_ref().is_some_and(|c| c.1 == send));
        of.map(|m| m.process).collect::<Vec<_>>().join(", ")
    };
    match message {
        Some(message) => format!("{} → {}: {message}", named(true), named(false)),
        None if moves.is_empty() => "(nothing moves)".into(),
        None => {
            let one = |m: &Transition<'_>| format!("{}: {} → {}", m.process, m.from, m.to);
            moves.iter().map(one).collect::<Vec<_>>().join("; ")
        }
    }
}

fn part(m: &Transition<'_>) -> Part {
    Part {
        name: m.process.into(),
        from: Some(m.from.into()),
        to: Some(m.to.into()),
        takes: m.edge.origin.into(),
        choices: m.edge.select.iter().map(|(name, value)| json!({ name: value })).collect(),
        sends: m.channel.as_ref().is_some_and(|c| c.1),
    }
}

/// What a name of a run stands for.
#[derive(Clone, Copy)]
enum Named {
    Process(usize),
    Cell(usize),
    Lattice(usize),
    Clock(usize),
}

struct Reader<'n> {
    renderer: Renderer<'n>,
    named: FxHashMap<String, Named>,
    /// The variable that each cell belongs to.
    vars: Vec<usize>,
}

/// Says what is wrong, and where.
fn wrong<T>(path: String, expected: impl Into<String>, found: &Value) -> Result<T, ReadError> {
    Err(ReadError::found(path, expected, found))
}

/// `a, b, c, …`.
pub(super) fn choices(names: &[String]) -> String {
    let mut list: Vec<String> = names.iter().take(6).map(|n| excerpt(n)).collect();
    if names.len() > 6 {
        list.push("…".into());
    }
    if list.is_empty() { "there are none".into() } else { list.join(", ") }
}

impl<'n> Reader<'n> {
    fn new(net: &'n Network) -> Reader<'n> {
        let renderer = Renderer::new(net);
        let n = &renderer.names;
        let mut named = FxHashMap::default();
        named.extend(n.processes.iter().enumerate().map(|(i, name)| (name.clone(), Named::Process(i))));
        named.extend(n.cells.iter().enumerate().map(|(i, name)| (name.clone(), Named::Cell(i))));
        named.extend(n.lattices.iter().enumerate().map(|(i, name)| (name.clone(), Named::Lattice(i))));
        named.extend(n.clocks.iter().enumerate().map(|(i, name)| (name.clone(), Named::Clock(i))));
        let vars = net.vars.iter().enumerate().flat_map(|(i, v)| v.init.iter().map(move |_| i)).collect();
        Reader { renderer, named, vars }
    }

    fn trace(&self, run: &Run) -> Result<Trace, ReadError> {
        let net = self.renderer.net;
        let mut state = Snapshot {
            locations: vec![0; net.processes.len()],
            data: vec![0; self.vars.len()],
            element: vec![0; net.element_width()],
            clocks: vec![Rational::ZERO; net.clocks.len()],
        };
        self.set(&run.start, "start", &mut state)?;
        if let Some(missing) = self.missing(run) {
            let expected = format!("a field `{missing}`");
            return Err(ReadError::Content { path: "start".into(), expected, found: "none".into() });
        }
        let initial = state.clone();
        let mut steps = vec![];
        for (i, step) in run.steps.iter().enumerate() {
            let mut action = vec![];
            for (k, part) in step.parts.iter().enumerate() {
                action.push(self.edge(part, &|field| format!("steps[{i}].parts[{k}].{field}"))?);
            }
            self.set(&step.set, &format!("steps[{i}].set"), &mut state)?;
            let delay = duration(step.delay.as_deref(), || format!("steps[{i}].delay"))?;
            steps.push(Step { delay, action: Action(action), state: state.clone() });
        }
        if let Some(back) = run.back.filter(|b| *b >= steps.len()) {
            let expected = match steps.len() {
                0 => "no loop, for there is no step".into(),
                n => format!("the number of an earlier state: a number from 0 to {}", n - 1),
            };
            return wrong("loop".into(), expected, &back.into());
        }
        let rest = duration(run.rest.as_deref(), || "rest".into())?;
        Ok(Trace { initial, steps, rest, back_to: run.back })
    }

    /// A name without a value at the start.
    fn missing(&self, run: &Run) -> Option<&String> {
        let n = &self.renderer.names;
        let mut all = n.processes.iter().chain(&n.cells).chain(&n.lattices).chain(&n.clocks);
        all.find(|name| !run.start.contains_key(*name))
    }

    fn set(&self, values: &Values, path: &str, state: &mut Snapshot) -> Result<(), ReadError> {
        let net = self.renderer.net;
        for (name, value) in values {
            let at = || format!("{path}.{}", crate::reader::plain(name));
            match self.named.get(name) {
                None => return wrong(at(), "no such value, for the model has nothing of this name", value),
                Some(&Named::Process(p)) => state.locations[p] = self.location(p, value, &at)?,
                Some(&Named::Cell(c)) => {
                    let var = &net.vars[self.vars[c]];
                    state.data[c] = match (value.as_bool(), value.as_i64()) {
                        (Some(b), _) if var.is_bool => i64::from(b),
                        (_, Some(n)) if (var.lo..=var.hi).contains(&n) => n,
                        _ => {
                            let range = format!("an integer from {} to {}", var.lo, var.hi);
                            return wrong(at(), format!("a value of this variable: {range}"), value);
                        }
                    };
                }
                Some(&Named::Lattice(l)) => {
                    let var = &net.lattices[l];
                    let place = &mut state.element[var.offset..var.offset + var.lattice.width()];
                    element(&*var.lattice, value, place, &at)?;
                }
                Some(&Named::Clock(c)) => {
                    let expected = || rational_expected("the value of a clock");
                    state.clocks[c] = match value.as_str().and_then(rational) {
                        Some(r) => r,
                        None => return wrong(at(), expected(), value),
                    };
                }
            }
        }
        Ok(())
    }

    fn location(&self, p: usize, value: &Value, at: &dyn Fn() -> String) -> Result<u32, ReadError> {
        let names = &self.renderer.names.locations[p];
        match value.as_str().and_then(|name| names.iter().position(|n| n == name)) {
            Some(l) => Ok(l as u32),
            None => {
                let process = &self.renderer.names.processes[p];
                wrong(at(), format!("the name of a location of `{process}` ({})", choices(names)), value)
            }
        }
    }

    fn edge(&self, part: &Part, at: &dyn Fn(&str) -> String) -> Result<EdgeRef, ReadError> {
        let names = &self.renderer.names;
        let Some(&Named::Process(p)) = self.named.get(&part.name) else {
            let expected = format!("the name of a process of this model ({})", choices(&names.processes));
            return wrong(at("name"), expected, &part.name.as_str().into());
        };
        let (name, edges) = (&names.processes[p], &self.renderer.net.processes[p].edges);
        let origin = part.takes.as_u64().and_then(|n| u32::try_from(n).ok());
        let of_origin = |e: &&Edge| Some(e.origin) == origin;
        let (Some(origin), Some(example)) = (origin, edges.iter().find(of_origin)) else {
            let expected = format!("the number of an edge of `{name}`, from 0 in the order of the source");
            return wrong(at("takes"), expected, &part.takes);
        };
        let chosen = |wanted: &(String, i64)| part.choices.iter().any(|c| c.get(&wanted.0) == Some(&wanted.1.into()));
        let fits =
            |e: &&Edge| e.origin == origin && e.select.len() == part.choices.len() && e.select.iter().all(chosen);
        let Some((i, edge)) = edges.iter().enumerate().find(|(_, e)| fits(e)) else {
            let selects: Vec<&str> = example.select.iter().map(|s| &*s.0).collect();
            let expected = match selects.is_empty() {
                true => format!("no choices, for edge {origin} of `{name}` has no selects"),
                false => {
                    format!("possible values for the selects of edge {origin} of `{name}`: {}", selects.join(", "))
                }
            };
            return wrong(at("choices"), expected, &part.choices.clone().into());
        };
        for (end, said, is) in [("from", &part.from, edge.source), ("to", &part.to, edge.target)] {
            let is = &names.locations[p][is as usize];
            if said.as_ref() != Some(is) {
                let expected = format!("{is}, as edge {origin} of `{name}` has it in this model");
                return wrong(at(end), expected, &said.clone().into());
            }
        }
        Ok(EdgeRef { process: p as u32, edge: i as u32 })
    }
}

/// `{"words": ["0x1f"]}`.
fn element(lattice: &dyn Lattice, value: &Value, place: &mut [Word], at: &dyn Fn() -> String) -> Result<(), ReadError> {
    let Some(words) = value.get("words").and_then(Value::as_array) else {
        return wrong(at(), "an element of a lattice, with its words", value);
    };
    if words.len() != place.len() {
        return wrong(at() + ".words", format!("an array of {} words", place.len()), &value["words"]);
    }
    for (i, (word, raw)) in place.iter_mut().zip(words).enumerate() {
        let digits = raw.as_str().and_then(|t| t.strip_prefix("0x"));
        let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|d| Word::from_str_radix(d, 16).ok()) {
            Some(w) => *word = w,
            None => return wrong(format!("{}.words[{i}]", at()), "a word in hexadecimal, like \"0x1f\"", raw),
        }
    }
    match lattice.is_element(place) {
        true => Ok(()),
        false => wrong(at() + ".words", format!("words of an element of {}", lattice.name()), &value["words"]),
    }
}

/// How long something waits; a document that does not say so does not wait.
fn duration(text: Option<&str>, at: impl Fn() -> String) -> Result<Rational, ReadError> {
    let Some(text) = text else { return Ok(Rational::ZERO) };
    rational(text).map_or_else(|| wrong(at(), rational_expected("a duration"), &text.into()), Ok)
}
