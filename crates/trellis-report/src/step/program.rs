//! Programs, control-flow automata and transition systems, one step after the other.
//!
//! A step is an edge of the automaton. Of a program whose source is shown it is a line: edges of one line that leave nothing to decide, and
//! edges that do nothing, go with it, as in the runs of [`crate::program`]. A value that the program leaves open and that has many
//! possibilities is an input: some values are offered, any can be given.
//!
//! Variables that a front end made for itself are not part of the state that is shown. At the start of an automaton variables may have any
//! values; here they are zero until somebody gives them others.

use std::borrow::Cow;

use serde_json::Value as Json;
use trellis_expr::eval::Valuation;
use trellis_expr::{Stmt, Value, VarId};
use trellis_model::cfa::interpret::{self, Choice, State, Step as Taken, Trace};
use trellis_model::cfa::{Cfa, EdgeId, Kind, LocationId};

use super::ways::{self, Begun, Open, Way, candidates, from, parse, ways};
use super::{Ask, Choices, Error, Input, Stepper, changes, no_offer, read_trace};
use crate::program::{Program, caller, is_hidden, picked};
use crate::run::{Part, Place, Run, Step, Values};
use crate::words::cut;
use crate::words::unique;

/// So many edges become one step at most.
const MAX_GROUP: usize = 1000;
/// A longer statement is not shown.
const MAX_STATEMENT: usize = 80;

/// A walk through a program.
pub struct ProgramStepper<'c> {
    cfa: Cow<'c, Cfa>,
    /// The text of each file, where runs are told in lines of it.
    texts: Vec<Option<String>>,
    /// The variables that are shown, with their names; the first name of all is that of the location.
    shown: Vec<(VarId, String)>,
    at: String,
    start: Valuation,
    /// Each step is some edges.
    taken: Vec<Vec<Taken>>,
    /// A step that has begun, before and after each thing that was decided on it.
    begun: Vec<Begun>,
}

/// What a person is asked.
enum Menu {
    Ways(Vec<Way>),
    Value(Begun, VarId, Vec<Value>),
}

impl<'c> ProgramStepper<'c> {
    /// A walk that has not begun. With the text of each file of the automaton, steps are lines of it.
    pub fn new(cfa: Cow<'c, Cfa>, texts: Vec<Option<String>>) -> ProgramStepper<'c> {
        let (shown, at) = {
            let program = Program::new(&cfa, &texts);
            let vars: Vec<(VarId, String)> = program.shown().map(|(v, name)| (v, name.to_string())).collect();
            let names = unique(vars.iter().map(|(_, name)| name.clone()).chain(["at".to_string()]));
            let at = names.last().cloned().unwrap_or_default();
            (vars.into_iter().map(|(v, _)| v).zip(names).collect(), at)
        };
        let start = interpret::zero(&cfa);
        ProgramStepper { cfa, texts, shown, at, start, taken: vec![], begun: vec![] }
    }

    /// The walk so far.
    pub fn trace(&self) -> Trace {
        Trace { start: self.start.clone(), steps: self.taken.iter().flatten().cloned().collect() }
    }

    fn program(&self) -> Program<'_> {
        Program::new(&self.cfa, &self.texts)
    }

    fn now(&self) -> State {
        match self.taken.iter().rev().find_map(|group| group.last()) {
            Some(step) => State { location: self.cfa.edge(step.edge).to, env: step.after.clone() },
            None => State { location: self.cfa.initial, env: self.start.clone() },
        }
    }

    fn values(&self, p: &Program<'_>, state: &State) -> Values {
        let at = (self.at.clone(), self.place(p, state.location).into());
        let shown = self.shown.iter().filter_map(|(v, name)| Some((name.clone(), json(&self.cfa, state.env.get(v)?))));
        std::iter::once(at).chain(shown).collect()
    }

    fn menu(&self, state: &State) -> Menu {
        let found = match self.begun.last() {
            Some(begun) => ways(&self.cfa, &state.env, std::slice::from_ref(begun)),
            None => from(&self.cfa, state),
        };
        match &found[..] {
            [Way::Begun(begun, Open::Value(v))] => {
                Menu::Value(begun.clone(), *v, candidates(&self.cfa, &state.env, begun, *v))
            }
            _ => Menu::Ways(found),
        }
    }

    /// Goes on with a step that has begun.
    fn proceed(&mut self, state: &State, begun: Begun) -> Result<(), Error> {
        let mut found = ways(&self.cfa, &state.env, std::slice::from_ref(&begun));
        match (found.pop(), found.is_empty()) {
            (None, _) => return Err(Error::refused("the step cannot be taken with this value")),
            (Some(Way::Done(step)), true) => self.finish(step),
            _ => self.begun.push(begun),
        }
        Ok(())
    }

    fn finish(&mut self, step: Taken) {
        let group = self.line(step);
        self.taken.push(group);
        self.begun.clear();
    }

    /// What a step becomes where steps are lines: the edges that go with it.
    fn line(&self, step: Taken) -> Vec<Taken> {
        let mut group = vec![step];
        let p = self.program();
        while p.has_source() && group.len() < MAX_GROUP {
            let last = &group[group.len() - 1];
            let state = State { location: self.cfa.edge(last.edge).to, env: last.after.clone() };
            let mut next = from(&self.cfa, &state);
            match (next.pop(), next.is_empty()) {
                (Some(Way::Done(step)), true) if step.choices.is_empty() && self.goes_with(&p, &group, &step) => {
                    group.push(step);
                }
                _ => break,
            }
        }
        group
    }

    /// Is an edge part of a step that has these edges already? If it does nothing, or belongs to the same line and does nothing twice.
    fn goes_with(&self, p: &Program<'_>, group: &[Taken], next: &Taken) -> bool {
        if !p.has_source() || group.iter().any(|g| g.edge == next.edge) {
            return false;
        }
        let last = &group[group.len() - 1];
        if self.cfa.is_error(self.cfa.edge(next.edge).to) {
            return self.matters(last).then(|| self.row(last)) == Some(self.row(next)) && self.row(next).is_some();
        }
        if !self.matters(next) || !group.iter().any(|g| self.matters(g)) {
            return true;
        }
        let changed = |a: &Valuation, b: &Valuation| {
            self.shown.iter().map(|(v, _)| *v).filter(|v| a.get(v) != b.get(v)).collect::<Vec<_>>()
        };
        let mut before = &group[0].after;
        let mut done: Vec<VarId> = vec![];
        for g in &group[1..] {
            done.extend(changed(before, &g.after));
            before = &g.after;
        }
        let first = group.iter().find(|g| self.matters(g)).and_then(|g| self.row(g));
        first.is_some()
            && first == self.row(next)
            && changed(&last.after, &next.after).iter().all(|v| !done.contains(v) && !self.assigns(&group[0], *v))
    }

    fn assigns(&self, step: &Taken, v: VarId) -> bool {
        self.cfa.terms.stmt_vars(self.cfa.edge(step.edge).stmt).1.contains(&v)
    }

    fn matters(&self, step: &Taken) -> bool {
        let edge = self.cfa.edge(step.edge);
        self.cfa.is_error(edge.to) || *self.cfa.terms.stmt(edge.stmt) != Stmt::Skip
    }

    /// The line of an edge.
    fn row(&self, step: &Taken) -> Option<(u32, u32)> {
        self.cfa.edge(step.edge).place.map(|p| (p.file, p.line))
    }

    fn place(&self, p: &Program<'_>, l: LocationId) -> String {
        place(&self.cfa, p, l)
    }

    /// Some edges as one step.
    fn step(&self, p: &Program<'_>, before: &State, group: &[Taken]) -> Step {
        let Some(last) = group.last() else { return Step::default() };
        let after = State { location: self.cfa.edge(last.edge).to, env: last.after.clone() };
        let head = group.iter().find(|g| self.matters(g)).unwrap_or(&group[0]);
        let part = |g: &Taken| {
            let edge = self.cfa.edge(g.edge);
            let choice = |c: &Choice| match c {
                Choice::Value(value) => json(&self.cfa, value),
                Choice::Branch(n) => (*n).into(),
            };
            Part {
                from: Some(self.place(p, edge.from)),
                to: Some(self.place(p, edge.to)),
                takes: g.edge.0.into(),
                choices: g.choices.iter().map(choice).collect(),
                ..Part::default()
            }
        };
        let (mut label, place) = self.label(p, head);
        // What the state does not show: values for variables that nobody has declared.
        let mut env = &before.env;
        for g in group {
            let source = self.cfa.edge(g.edge).place.and_then(|at| p.line(at));
            for (v, value) in picked(&self.cfa, env, g.edge, &g.choices) {
                if is_hidden(&self.cfa.terms.variable(v).name) && g.after.get(&v) == Some(&value) {
                    label += &format!("  [{} = {}]", caller(source), cut(&self.cfa.terms.show_value(&value)));
                }
            }
            env = &g.after;
        }
        Step {
            label,
            set: changes(&self.values(p, before), &self.values(p, &after)),
            parts: group.iter().map(part).collect(),
            place,
            ..Step::default()
        }
    }

    fn label(&self, p: &Program<'_>, step: &Taken) -> (String, Option<Place>) {
        label(&self.cfa, p, step.edge)
    }

    /// How a variable that gets a value is called.
    fn asks(&self, p: &Program<'_>, begun: &Begun, v: VarId) -> String {
        if let Some((_, name)) = self.shown.iter().find(|(w, _)| *w == v) {
            return name.clone();
        }
        let source = self.cfa.edge(begun.edge).place.and_then(|at| p.line(at));
        caller(source)
    }

    /// Is this how a person may call what is open? What has no name of its own goes by any word of its line.
    fn is_called(&self, p: &Program<'_>, begun: &Begun, v: VarId, name: &str) -> bool {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let source = || self.cfa.edge(begun.edge).place.and_then(|at| p.line(at)).unwrap_or_default();
        let full = &self.cfa.terms.variable(v).name;
        name.is_empty()
            || name == self.asks(p, begun, v)
            || name == full
            || is_hidden(full) && source().split(|c: char| !word(c)).any(|w| w == name)
    }

    /// Steps with the same label get where they lead to.
    fn told_apart(&self, offers: &mut [Step]) {
        let labels: Vec<String> = offers.iter().map(|o| o.label.clone()).collect();
        for (i, offer) in offers.iter_mut().enumerate() {
            let twice = labels.iter().enumerate().any(|(j, l)| i != j && *l == labels[i]);
            if let Some(to) = offer.parts.last().and_then(|p| p.to.clone()).filter(|_| twice && offer.place.is_some()) {
                offer.label = format!("{} → {to}", offer.label);
            }
        }
    }

    /// The steps of a trace, in lines where steps are lines.
    fn grouped(&self, steps: Vec<Taken>) -> Vec<Vec<Taken>> {
        let p = self.program();
        let mut groups: Vec<Vec<Taken>> = vec![];
        for step in steps {
            match groups.last_mut() {
                Some(group) if step.choices.is_empty() && self.goes_with(&p, group, &step) => group.push(step),
                _ => groups.push(vec![step]),
            }
        }
        groups
    }

    fn location(&self) -> LocationId {
        self.now().location
    }
}

/// Where a location is: in a source, at the line that comes next.
pub fn place(cfa: &Cfa, p: &Program<'_>, l: LocationId) -> String {
    let next = cfa.outgoing(l).iter().find_map(|&e| cfa.edge(e).place);
    match next.filter(|_| p.has_source()) {
        Some(place) => p.place(place),
        None => p.location(l),
    }
}

/// A line of the source, or the locations and the statement of an edge.
pub fn label(cfa: &Cfa, p: &Program<'_>, e: EdgeId) -> (String, Option<Place>) {
    let edge = cfa.edge(e);
    if let Some((place, text)) = edge.place.and_then(|at| Some((at, p.line(at)?))) {
        let file = p.place(place);
        let file = file.rsplit_once(':').map_or(file.as_str(), |(file, _)| file);
        return (
            text.into(),
            Some(Place { file: file.into(), line: place.line, column: Some(place.column), text: text.into() }),
        );
    }
    let way = format!("{} → {}", p.location(edge.from), p.location(edge.to));
    let statement = p.statement(e);
    // What a long one does is seen better from what it changes.
    let short = !statement.is_empty() && statement.chars().count() <= MAX_STATEMENT;
    (if short { format!("{way}: {statement}") } else { way }, None)
}

/// A value for a document: numbers that fit are numbers, truth values are truth values, everything else is text.
pub fn json(cfa: &Cfa, value: &Value) -> Json {
    match value {
        Value::Bool(b) => (*b).into(),
        Value::Int(_) | Value::Bits { .. } => {
            let text = value.number().to_string();
            text.parse::<i64>().map_or_else(|_| text.clone().into(), Json::from)
        }
        other => cut(&cfa.terms.show_value(other)).into(),
    }
}

impl Stepper for ProgramStepper<'_> {
    fn state(&self) -> Values {
        self.values(&self.program(), &self.now())
    }

    fn choices(&self) -> Result<Choices, Error> {
        let (p, state) = (self.program(), self.now());
        let step = |taken: &Taken| self.step(&p, &state, &self.line(taken.clone()));
        match self.menu(&state) {
            Menu::Value(begun, v, values) => {
                let name = self.asks(&p, &begun, v);
                let domain = self.cfa.terms.show_type(self.cfa.terms.variable(v).ty).to_string();
                let offer = |value: &Value| Step {
                    label: format!("{name} = {}", cut(&self.cfa.terms.show_value(value))),
                    set: [(name.clone(), json(&self.cfa, value))].into_iter().collect(),
                    ..Step::default()
                };
                let offers = values.iter().map(offer).collect();
                Ok(Choices { ask: Ask::Input(Input { name, domain }), offers, ..Choices::default() })
            }
            Menu::Ways(found) => {
                let offer = |(i, way): (usize, &Way)| match way {
                    Way::Done(taken) => step(taken),
                    Way::Begun(begun, open) => {
                        let taken = Taken { edge: begun.edge, choices: vec![], after: state.env.clone() };
                        let (label, place) = self.label(&p, &taken);
                        let what = match open {
                            Open::Value(v) => format!("{} is open", self.asks(&p, begun, *v)),
                            Open::Branch(n) => format!("one of {n} ways"),
                        };
                        let nth = begun.choices.len();
                        let label = if nth == 0 { label } else { format!("{label} (way {i})") };
                        Step { label: format!("{label} … {what}"), place, ..Step::default() }
                    }
                };
                let mut offers: Vec<Step> = found.iter().enumerate().map(offer).collect();
                self.told_apart(&mut offers);
                // Where branches are decided one by one, each is an offer.
                if let [Way::Begun(_, Open::Branch(n))] = found[..] {
                    let branch = |i: usize| Step { label: format!("way {i} of {n}"), ..Step::default() };
                    offers = (0..n).map(branch).collect();
                }
                Ok(Choices { offers, ..Choices::default() })
            }
        }
    }

    fn take(&mut self, offer: usize) -> Result<(), Error> {
        let state = self.now();
        match self.menu(&state) {
            Menu::Value(begun, _, mut values) => {
                if offer >= values.len() {
                    return Err(no_offer(offer));
                }
                self.proceed(&state, begun.with(Choice::Value(values.swap_remove(offer))))
            }
            Menu::Ways(found) => match &found[..] {
                [Way::Begun(begun, Open::Branch(n))] if offer < *n => {
                    self.proceed(&state, begun.with(Choice::Branch(offer)))
                }
                _ => match found.into_iter().nth(offer) {
                    None => Err(no_offer(offer)),
                    Some(Way::Done(step)) => {
                        self.finish(step);
                        Ok(())
                    }
                    Some(Way::Begun(begun, _)) => {
                        self.begun.push(begun);
                        Ok(())
                    }
                },
            },
        }
    }

    fn undo(&mut self) -> bool {
        self.begun.pop().is_some() || self.taken.pop().is_some()
    }

    fn steps(&self) -> usize {
        self.taken.len()
    }

    fn run(&self) -> Run {
        let p = self.program();
        let mut state = State { location: self.cfa.initial, env: self.start.clone() };
        let start = self.values(&p, &state);
        let mut steps = vec![];
        for group in &self.taken {
            steps.push(self.step(&p, &state, group));
            if let Some(last) = group.last() {
                state = State { location: self.cfa.edge(last.edge).to, env: last.after.clone() };
            }
        }
        Run { start, steps, ..Run::default() }
    }

    fn replay(&mut self, trace: &str) -> Result<(), Error> {
        let trace = read_trace(&Program::new(&self.cfa, &[]), trace)?;
        interpret::replay(&self.cfa, &trace).map_err(|e| Error::refused(e.to_string()))?;
        self.start = trace.start;
        self.taken = self.grouped(trace.steps);
        self.begun.clear();
        Ok(())
    }

    fn remark(&self) -> Option<String> {
        match self.cfa.location(self.location()).kind {
            Kind::Error => Some("an error is reached".into()),
            Kind::Final => Some("the end is reached".into()),
            Kind::Plain => None,
        }
    }

    fn input(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let state = self.now();
        let terms = &self.cfa.terms;
        let value = |v: VarId| {
            let ty = terms.variable(v).ty;
            let wrong = || Error::Refused(format!("`{text}` is no value of type {}", terms.show_type(ty)));
            parse(terms, ty, text).ok_or_else(wrong)
        };
        let p = self.program();
        let open = match self.menu(&state) {
            Menu::Value(begun, v, _) => Some((begun, v)),
            Menu::Ways(_) => None,
        };
        if let Some((begun, v)) = &open
            && self.is_called(&p, begun, *v, name)
        {
            let next = begun.with(Choice::Value(value(*v)?));
            return self.proceed(&state, next);
        }
        let fresh = self.taken.is_empty() && self.begun.is_empty() && !p.has_source();
        if let Some((v, _)) = self.shown.iter().find(|(_, n)| fresh && n == name) {
            let (v, value) = (*v, value(*v)?);
            self.start.insert(v, value);
            return Ok(());
        }
        Err(Error::Refused(match open {
            Some((begun, v)) => format!("`{name}` is not open here; `{}` is", self.asks(&p, &begun, v)),
            None if fresh => format!("there is no variable `{name}`"),
            None => format!("`{name}` cannot be set: no value is open here"),
        }))
    }
}

/// Ways on from a state, each to its end: those that a person could take, for front ends that have steps of their own. Open values with many
/// possibilities get those that would be offered.
pub fn successors(cfa: &Cfa, state: &State) -> Vec<Taken> {
    let mut done = vec![];
    let mut open = from(cfa, state);
    while let Some(way) = open.pop() {
        match way {
            Way::Done(step) => done.push(step),
            Way::Begun(begun, Open::Value(v)) => {
                for value in candidates(cfa, &state.env, &begun, v) {
                    open.extend(ways::ways(cfa, &state.env, &[begun.with(Choice::Value(value))]));
                }
            }
            Way::Begun(begun, Open::Branch(n)) => {
                open.extend((0..n).flat_map(|i| ways::ways(cfa, &state.env, &[begun.with(Choice::Branch(i))])));
            }
        }
        if done.len() + open.len() > super::MAX_OFFERS {
            break;
        }
    }
    done
}
