//! What is told about lossy channel systems: where processes are, what is in channels, and what must be kept apart.

use std::io;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use trellis_model::channel::interpret;
use trellis_model::channel::{Action, Certificate, Location, Message, Named, Op, Pattern, State, System};

use crate::evidence::{body, pretty};
use crate::present::{Body, Drawing, DrawnEdge, DrawnNode, Look, NodeShape, Present, ProofKind, Shown};
use crate::property::PropertyReport;
use crate::reader::ReadError;
use crate::run::{Part, Place, Run, Step, Values};
use crate::step::{Error, Walkable, Walked, read_trace};
use crate::style::Style;
use crate::words::INDENT;

/// A report about a lossy channel system.
pub type ChannelReport = PropertyReport<Vec<Action>, Certificate>;

/// So many parts of an invariant are shown.
const MAX_PARTS: usize = 6;

impl Walkable for System {
    type State = State;
    type Action = Action;

    fn next(&self, state: &State) -> Result<Vec<(Action, State)>, Error> {
        Ok(interpret::steps(self, state))
    }

    fn values(&self, state: &State) -> Values {
        let at = state.at.iter().zip(&self.processes);
        let at = at.map(|(l, p)| (p.name.clone(), Value::from(p.values[*l as usize].clone())));
        let words = state.words.iter().enumerate();
        at.chain(words.map(|(c, w)| (self.channels[c].name.clone(), Value::from(self.word(c, w))))).collect()
    }

    fn step(&self, before: &State, action: &Action, _: &State) -> Step {
        match *action {
            Action::Lose(c, place) => {
                let channel = &self.channels[c];
                let lost = before.words[c].get(place).map_or("?", |a| channel.values[*a as usize].as_str());
                let takes = json!({ "loses": place });
                let part = Part { name: channel.name.clone(), takes, ..Part::default() };
                Step { label: format!("{} loses {lost}", channel.name), parts: vec![part], ..Step::default() }
            }
            Action::Take(r) => {
                let rule = &self.rules[r as usize];
                let part = |(p, from, to): &(usize, Location, Location)| {
                    let p = &self.processes[*p];
                    let place = |l: &Location| Some(p.values[*l as usize].clone());
                    let (from, to) = (place(from), place(to));
                    Part { name: p.name.clone(), from, to, takes: r.into(), ..Part::default() }
                };
                let parts = rule.moves.iter().map(part).collect();
                let place = Some(Place { line: rule.line, ..Place::default() });
                Step { label: self.describe(r), parts, place, ..Step::default() }
            }
        }
    }

    fn retrace(&mut self, trace: &str) -> Result<Walked<Self>, Error> {
        let actions = read_trace(self, trace)?;
        let states = interpret::replay(self, &actions).map_err(|_| Error::refused("it is no run of this model"))?;
        Ok((states, actions))
    }

    fn is_idle(&self, value: &Value) -> bool {
        value == ""
    }
}

impl Present for System {
    type Trace = Vec<Action>;
    type Proof = Certificate;

    fn run(&self, trace: &Vec<Action>) -> io::Result<Run> {
        let states = interpret::replay(self, trace).map_err(|_| io::Error::other("it is no run of this model"))?;
        let parts = self.processes.iter().map(|p| p.name.clone()).collect();
        Ok(Run { parts, ..Walkable::run(self, &states, trace) })
    }

    fn trace(&self, run: &Run) -> Result<Vec<Action>, ReadError> {
        let mut actions = vec![];
        for (n, step) in run.steps.iter().enumerate() {
            let part = step.parts.first().cloned().unwrap_or_default();
            let rule = part.takes.as_u64().filter(|r| (*r as usize) < self.rules.len());
            let channel = self.channels.iter().position(|c| c.name == part.name);
            let lost = part.takes.get("loses").and_then(Value::as_u64);
            actions.push(match (rule, channel, lost) {
                (Some(r), _, _) => Action::Take(r as u32),
                (_, Some(c), Some(place)) => Action::Lose(c, place as usize),
                _ => {
                    let at = format!("steps[{n}].parts[0].takes");
                    return Err(ReadError::found(at, "the number of a rule, or what a channel loses", &part.takes));
                }
            });
        }
        // All that is said of the steps that can be taken follows from the model.
        let taken = match interpret::replay(self, &actions) {
            Ok(_) => actions.len(),
            Err(n) => n,
        };
        let is = Present::run(self, &actions[..taken].to_vec()).map_err(|e| ReadError::Syntax(e.to_string()))?;
        if is.start != run.start {
            return Err(ReadError::found("start".into(), "the start of the system", &json!(run.start)));
        }
        if let Some(n) = (0..taken).find(|n| is.steps[*n] != run.steps[*n]) {
            let expected = serde_json::to_string(&is.steps[n]).unwrap_or_default();
            return Err(ReadError::found(format!("steps[{n}]"), expected, &json!({})));
        }
        Ok(actions)
    }

    fn shown(&self, trace: &Vec<Action>) -> Shown {
        let look = Look { start: Some("start".into()), sparse: true, last: "the error".into(), ..Look::default() };
        Shown { run: Present::run(self, trace).unwrap_or_default(), look }
    }

    /// Processes are frames with their locations.
    fn drawing(&self) -> Drawing {
        let mut out = Drawing::default();
        let mut first = vec![];
        for (p, process) in self.processes.iter().enumerate() {
            let frame = out.nodes.len();
            let title =
                DrawnNode { lines: vec![process.name.clone()], shape: NodeShape::Frame, ..DrawnNode::default() };
            out.nodes.push(title);
            first.push(out.nodes.len());
            for (l, name) in process.values.iter().enumerate() {
                let is_error = self.target.iter().any(|t| t.at[p] == Some(l as Location));
                let shape = match (self.initial.at[p] == l as Location, is_error) {
                    (true, _) => NodeShape::Initial,
                    (_, true) => NodeShape::Error,
                    _ => NodeShape::Plain,
                };
                let lit = vec![(process.name.clone(), Some(name.clone()))];
                let lines = vec![name.clone()];
                out.nodes.push(DrawnNode { lines, within: Some(frame), shape, lit, ..DrawnNode::default() });
            }
        }
        for rule in &self.rules {
            for (n, (p, from, to)) in rule.moves.iter().enumerate() {
                let mut lines: Vec<String> = rule.name.iter().cloned().collect();
                if n == 0 {
                    lines.extend(rule.ops.iter().map(|op| self.op(op)));
                }
                let at = |l: &Location| first[*p] + *l as usize;
                out.edges.push(DrawnEdge { from: at(from), to: at(to), lines, ..DrawnEdge::default() });
            }
        }
        out
    }

    fn body<'a>(&'a self, proof: &'a Certificate) -> io::Result<Body<'a>> {
        let regions: Vec<Value> = proof
            .regions
            .iter()
            .map(|r| json!({ "never": r.iter().map(|m| self.written(m)).collect::<Vec<_>>() }))
            .collect();
        Ok(Body { kind: ProofKind::Basis, assumes: vec![], write: pretty(json!({ "regions": regions })) })
    }

    fn proof(&self, kind: &str, _: &[String], raw: &RawValue) -> Result<Certificate, ReadError> {
        body(ProofKind::Basis, kind, raw)?;
        let body: Value = serde_json::from_str(raw.get()).map_err(|e| ReadError::Syntax(e.to_string()))?;
        let list = |v: &Value, name: &str, at: &str| {
            let only = v.as_object().filter(|o| o.len() == 1).and_then(|o| o.get(name)).and_then(Value::as_array);
            only.cloned().ok_or_else(|| ReadError::found(at.to_string(), format!("`{name}` and a list"), v))
        };
        let mut regions = vec![];
        for (n, region) in list(&body, "regions", "body")?.iter().enumerate() {
            let mut patterns = vec![];
            for (k, m) in list(region, "never", &format!("regions[{n}]"))?.iter().enumerate() {
                patterns.push(self.read(m, &format!("regions[{n}].never[{k}]"))?);
            }
            regions.push(patterns);
        }
        Ok(Certificate { regions })
    }

    fn size(&self, proof: &Certificate) -> Value {
        json!({ "regions": proof.regions.len(), "never": proof.regions.iter().map(Vec::len).sum::<usize>() })
    }
}

/// Patterns and messages in words and as JSON.
trait Written {
    fn op(&self, op: &Op) -> String;
    fn written(&self, m: &Pattern) -> Value;
    fn read(&self, value: &Value, at: &str) -> Result<Pattern, ReadError>;
}

impl Written for System {
    fn op(&self, op: &Op) -> String {
        let (c, a, sign) = match op {
            Op::Send(c, a) => (c, a, '!'),
            Op::Receive(c, a) => (c, a, '?'),
        };
        format!("{}{sign}{}", self.channels[*c].name, self.channels[*c].values[*a as usize])
    }

    /// `{"Sender": "wait", "data": ["m0", "m1"]}`.
    fn written(&self, m: &Pattern) -> Value {
        let mut out = Map::new();
        for (l, p) in m.at.iter().zip(&self.processes) {
            if let Some(l) = l {
                out.insert(p.name.clone(), p.values[*l as usize].clone().into());
            }
        }
        for (word, c) in m.words.iter().zip(&self.channels).filter(|w| !w.0.is_empty()) {
            out.insert(c.name.clone(), word.iter().map(|a| c.values[*a as usize].clone()).collect::<Vec<_>>().into());
        }
        out.into()
    }

    fn read(&self, value: &Value, at: &str) -> Result<Pattern, ReadError> {
        let fail = |what: &str, found: &Value| ReadError::found(at.to_string(), what, found);
        let Some(object) = value.as_object() else { return Err(fail("places and words", value)) };
        let find = |named: &Named, v: &Value| {
            let text = v.as_str();
            named.values.iter().position(|n| Some(n.as_str()) == text).ok_or_else(|| fail("a name of the system", v))
        };
        let mut m = self.anything();
        for (name, v) in object {
            let process = self.processes.iter().position(|p| p.name == *name);
            let channel = self.channels.iter().position(|c| c.name == *name);
            match (process, channel, v.as_array()) {
                (Some(p), _, _) => m.at[p] = Some(find(&self.processes[p], v)? as Location),
                (_, Some(c), Some(word)) if !word.is_empty() => {
                    let letters = word.iter().map(|a| Ok(find(&self.channels[c], a)? as Message));
                    m.words[c] = letters.collect::<Result<_, ReadError>>()?;
                }
                _ => return Err(fail("a process or a channel of the system", value)),
            }
        }
        Ok(m)
    }
}

/// An invariant, part by part; all of them only if that is wanted.
pub fn invariant(system: &System, c: &Certificate, style: Style) -> String {
    let several = c.regions.len() > 1;
    let line = |(n, region): (usize, &Vec<Pattern>)| {
        let parts: Vec<String> = region.iter().map(|m| format!("never {}", system.pattern(m))).collect();
        let or = if n > 0 { "or " } else { "" };
        if several { vec![format!("{or}{}", parts.join("; "))] } else { parts }
    };
    let all: Vec<String> = c.regions.iter().enumerate().flat_map(line).collect();
    let most = if style.full { all.len() } else { MAX_PARTS.min(all.len()) };
    let mut out: String = all[..most].iter().map(|text| format!("{:INDENT$}{text}\n", "")).collect();
    if all.len() > most {
        let text = format!("… and {} more; --show-invariant shows them", all.len() - most);
        out.push_str(&format!("{:INDENT$}{}\n", "", style.dim(&text)));
    }
    out
}

/// How large an invariant is.
pub fn summary(c: &Certificate) -> String {
    let n: usize = c.regions.iter().map(Vec::len).sum();
    format!("an invariant of {n} part{}", if n == 1 { "" } else { "s" })
}

/// The question: that nothing of this is reached.
pub fn question(system: &System) -> String {
    let all: Vec<String> = system.target.iter().map(|t| format!("never {}", system.pattern(t))).collect();
    all.join("; ")
}
