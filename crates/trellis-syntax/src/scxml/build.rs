//! Puts the automaton together.
//!
//! ```text
//! start ─▶ enter ─▶ first ─▶ select ─▶ chosen ─▶ exited ─▶ acted ─▶ entered ─▶ select     a micro-step
//!                     │       ▲ ▲        │                             │
//!                     ▼       │ └────────┤                             ▼
//!                   ended     │          ▼                           ended
//!                           event ◀── stable
//! ```
//!
//! From `chosen`, if there is nothing to take, the event is used up, or the next one comes from the queue. `first` is like
//! `entered`, but apart from it, so that in large blocks `select` is all that is left of a round. From `stable` the next event comes
//! from outside, from the external queue, or from a timer, each on edges of its own; if none of them can ever come, the way is to
//! `over`.

use rustc_hash::FxHashMap;
use trellis_expr::{Stmt, StmtId, TermId, Terms, VarId};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId, Place};

use super::expr::Node;
use super::lower::Lower;
use super::send::Limit;
use super::step::Choice;
use super::tree::{self, Tree};
use super::types::Shapes;
use super::{Causes, Chart};
use crate::diag::{Diagnostic, SourceId, Sources};
use crate::text::errors::Errors;

/// How many statements the automaton may have, counted with repetition.
const MAX_STATEMENTS: usize = 500_000;

/// The locations, by their numbers; after them come the errors.
const NAMES: [&str; 11] =
    ["start", "enter", "entered", "select", "chosen", "exited", "acted", "stable", "ended", "over", "first"];
const START: LocationId = LocationId(0);
const ENTER: LocationId = LocationId(1);
const ENTERED: LocationId = LocationId(2);
const SELECT: LocationId = LocationId(3);
const CHOSEN: LocationId = LocationId(4);
const EXITED: LocationId = LocationId(5);
const ACTED: LocationId = LocationId(6);
const STABLE: LocationId = LocationId(7);
const ENDED: LocationId = LocationId(8);
const OVER: LocationId = LocationId(9);
const FIRST: LocationId = LocationId(10);

type Edges = Vec<(LocationId, StmtId, LocationId)>;

/// How often shapes are looked for. Each time there is more, and there is a limit to everything.
const MAX_ROUNDS: usize = 100;

/// What values there may be: all terms are made until nothing new turns up.
fn shapes(tree: &Tree) -> Shapes {
    let mut shapes = Shapes::default();
    for e in tree.expressions().into_iter().chain(&tree.properties) {
        e.visit(&mut |e| {
            if let Node::Text(text) = &e.node
                && !shapes.symbols.contains(text)
            {
                shapes.symbols.push(text.clone());
            }
        });
    }
    for _ in 0..MAX_ROUNDS {
        let mut l = Lower::new(tree, Errors::default(), shapes, true);
        l.contents();
        let grown = l.grown;
        shapes = l.shapes;
        if !grown {
            break;
        }
    }
    shapes
}

/// An automaton for each property.
pub fn build(tree: &Tree, sources: &Sources, id: SourceId, errors: Errors) -> (Vec<Chart>, Vec<Diagnostic>) {
    let mut l = Lower::new(tree, errors, shapes(tree), false);
    let (data, properties) = l.contents();
    if l.grown {
        l.error(tree.states[0].span, "the values of this chart are too many to be told apart");
    }
    let choices = l.declare_choices();
    if l.errors.count() > 0 {
        return (vec![], l.errors.finish());
    }
    let mut edges = l.micro_steps(&choices);
    edges.push((START, l.initial_values(data), ENTER));
    let next = l.next();
    let mut known = FxHashMap::default();
    let sizes = edges.iter().map(|&(_, stmt, _)| statements(&l.terms, stmt, &mut known));
    if sizes.fold(0, usize::saturating_add) > MAX_STATEMENTS {
        let message = format!("this chart is too large: its steps have more than {MAX_STATEMENTS} statements");
        l.error(tree.states[0].span, message);
    }
    let named = (1..tree.states.len()).filter(|&s| !tree.states[s].name.starts_with('@'));
    let states = named.map(|s| (tree.states[s].name.clone(), l.active(s))).collect();

    let (line, column) = sources.line_col(tree.states[0].span);
    let place = Some(Place { file: 0, line: line as u32, column: column as u32 });
    let location = |name: &str, kind| Location { name: name.into(), kind, place: None };
    let mut cfa = Cfa::new(l.terms, Location { place, ..location(NAMES[0], Kind::Plain) });
    for name in &NAMES[1..] {
        cfa.add_location(location(name, if *name == "over" { Kind::Final } else { Kind::Plain }));
    }
    let overflow: Vec<(LocationId, Limit)> = l
        .overflow
        .iter()
        .map(|(limit, _)| (cfa.add_location(location(limit.location(), Kind::Error)), *limit))
        .collect();
    for (from, stmt, to) in edges {
        cfa.add_edge(Edge { from, stmt, to, place });
    }
    (cfa.variables, cfa.control) = (l.variables, l.control);
    cfa.files.push(sources.get(id).name.clone());
    let chart = Chart {
        cfa,
        property: None,
        condition: None,
        stable: STABLE,
        ended: ENDED,
        violated: None,
        overflow,
        environment: tree.events.clone(),
        invokes: !tree.invokes.is_empty(),
        outline: super::outline::outline(tree, sources),
        states,
        data: l.data.variables,
        event: l.event,
        events: l.events.names,
        waiting: l.outbox.queue.first().map(|slot| slot.event),
        timer: l.outbox.timers.first().map(|timer| timer.set),
        elapsed: l.outbox.elapsed.map(|v| (v, l.outbox.unit)),
        causes: Causes::default(),
    };
    let asked = |(p, written): (&TermId, &super::expr::Expr)| {
        let (text, span) = (&sources.get(written.span.source).text, written.span);
        let written = text.get(span.start as usize..span.end as usize).map(String::from);
        close(Chart { property: written, ..chart.clone() }, Some(*p), &next)
    };
    let mut charts: Vec<Chart> = properties.iter().zip(&tree.properties).map(asked).collect();
    if charts.is_empty() {
        charts.push(close(chart, None, &next));
    }
    (charts, l.errors.finish())
}

/// What may come in a stable configuration.
struct Next {
    outside: Option<StmtId>,
    queue: Option<StmtId>,
    timers: Vec<StmtId>,
    /// Nothing.
    never: Option<StmtId>,
}

/// Asks the property where it is to be asked, and goes on with the next event, if there is one.
fn close(mut chart: Chart, property: Option<TermId>, next: &Next) -> Chart {
    let cfa = &mut chart.cfa;
    let place = cfa.location(START).place;
    let skip = cfa.terms.skip();
    let mut holds = skip;
    chart.condition = property;
    if let Some(p) = property {
        let not = cfa.terms.not(p);
        holds = cfa.terms.assume(p);
        let fails = cfa.terms.assume(not);
        let violated = cfa.add_location(Location { name: "violated".into(), kind: Kind::Error, place: None });
        chart.violated = Some(violated);
        for from in [STABLE, ENDED] {
            cfa.add_edge(Edge { from, stmt: fails, to: violated, place });
        }
    }
    let mut add = |from, then: StmtId, to| {
        let stmt = cfa.terms.seq([holds, then]);
        cfa.add_edge(Edge { from, stmt, to, place })
    };
    chart.causes.queue = next.queue.map(|then| add(STABLE, then, SELECT));
    chart.causes.timers = next.timers.iter().map(|&then| add(STABLE, then, SELECT)).collect();
    next.never.map(|then| add(STABLE, then, OVER));
    add(ENDED, skip, OVER);
    chart.causes.outside = next.outside.map(|then| add(STABLE, then, SELECT));
    chart
}

impl Lower<'_> {
    /// Declares all that values are needed for, and reads all that has values: also what no run comes to must be right. Answers with what
    /// happens first, and with the properties.
    fn contents(&mut self) -> (Vec<StmtId>, Vec<TermId>) {
        let tree = self.tree;
        let mut data = self.declare_data();
        self.declare_outbox();
        self.strict = true;
        let properties = tree.properties.iter().map(|p| self.property(p)).collect();
        self.strict = false;
        for t in 0..tree.transitions.len() {
            self.guard(t);
        }
        for b in tree.blocks() {
            self.block(b);
        }
        for s in (1..tree.states.len()).filter(|&s| tree.states[s].kind == tree::Kind::Final) {
            if !tree.is_session(tree.states[s].parent) {
                self.of(s, |l| l.say_done(s));
            }
        }
        (0..tree.states.len()).for_each(|s| {
            self.of(s, |l| l.bind(s));
        });
        self.starts();
        self.taken_in();
        data.push(self.block(&tree.script));
        (data, properties)
    }

    /// Does all that if all these hold.
    fn when(&mut self, conditions: &[TermId], then: &[StmtId]) -> StmtId {
        let all = self.terms.and(conditions.iter().copied());
        let mut parts = vec![self.terms.assume(all)];
        parts.extend(then);
        self.terms.seq(parts)
    }

    /// All edges but the first and those that leave a stable configuration.
    fn micro_steps(&mut self, choices: &[Choice]) -> Edges {
        let (any, no_event, current) = (self.any_taken(choices), self.event_literal(0), self.terms.var(self.event));
        let (none, idle) = (self.terms.not(any), self.terms.eq(current, no_event));
        let busy = self.terms.not(idle);
        let use_up = self.terms.assign(self.event, no_event);
        let ended = self.has_ended();
        let running = self.terms.not(ended);
        let flags: Vec<TermId> = self.overflow.clone().into_iter().map(|(_, v)| self.terms.var(v)).collect();
        let overflow = self.terms.or(flags.iter().copied());
        let fits = self.terms.not(overflow);
        let (exit, forget) = (self.exit(choices), self.forget(choices));
        let (forget_time, select) = (self.forget_time(), self.select(choices));
        let select = self.terms.seq([forget_time, select]);
        let mut edges = vec![
            (ENTER, self.descend(0, &self.tree.states[0].initial), FIRST),
            (SELECT, select, CHOSEN),
            (CHOSEN, self.when(&[fits, any], &[exit]), EXITED),
            (EXITED, self.act(choices), ACTED),
        ];
        for from in [FIRST, ENTERED] {
            edges.push((from, self.when(&[fits, running], &[]), SELECT));
            if self.terms.as_bool(ended) != Some(false) {
                edges.push((from, self.when(&[fits, ended], &[]), ENDED));
            }
        }
        let enter = self.enter(choices);
        edges.push((ACTED, self.terms.seq([enter, forget, use_up]), ENTERED));
        edges.push((CHOSEN, self.when(&[fits, none, busy], &[use_up]), SELECT));
        match self.queue.first().cloned() {
            Some(first) => {
                let first = self.terms.var(first.event);
                let empty = self.terms.eq(first, no_event);
                let (waiting, dequeue) = (self.terms.not(empty), self.dequeue(&self.queue.clone()));
                edges.push((CHOSEN, self.when(&[fits, none, idle, waiting], &[dequeue]), SELECT));
                self.at_the_end(&[fits, none, idle, empty], &mut edges);
            }
            None => self.at_the_end(&[fits, none, idle], &mut edges),
        }
        for (n, &flag) in flags.iter().enumerate() {
            let before = self.terms.or(flags[..n].iter().copied());
            let first = self.terms.not(before);
            // The error locations come after the others.
            let to = LocationId((NAMES.len() + n) as u32);
            for from in [FIRST, ENTERED, CHOSEN] {
                edges.push((from, self.when(&[flag, first], &[]), to));
            }
        }
        edges
    }

    /// A macro-step has come to its end: charts that are to start do so, one by one.
    fn at_the_end(&mut self, conditions: &[TermId], edges: &mut Edges) {
        let mut conditions = conditions.to_vec();
        for (pending, start) in self.starts() {
            let now: Vec<TermId> = conditions.iter().copied().chain([pending]).collect();
            edges.push((CHOSEN, self.when(&now, &[start]), ENTERED));
            conditions.push(self.terms.not(pending));
        }
        edges.push((CHOSEN, self.when(&conditions, &[]), STABLE));
    }

    /// Is a final state of the chart itself active?
    fn has_ended(&mut self) -> TermId {
        let tree = self.tree;
        let ends = tree.states[tree.main].children.iter().filter(|c| tree.states[**c].kind == tree::Kind::Final);
        let ends: Vec<TermId> = ends.map(|&c| self.active(c)).collect();
        self.terms.or(ends)
    }

    /// What may come in a stable configuration.
    fn next(&mut self) -> Next {
        let outside = self.any_event().map(|event| {
            let time = self.some_time();
            self.terms.seq([time, event])
        });
        // Where something may come from outside, it still may.
        let never = if outside.is_none() { self.nothing_comes() } else { None };
        let and_then = |l: &mut Self, stmt: StmtId| {
            let then = l.taken_in();
            l.terms.seq([stmt, then])
        };
        let outside = outside.map(|stmt| and_then(self, stmt));
        let queue = self.next_mail().map(|stmt| and_then(self, stmt));
        let timers = self.alarms().into_iter().map(|stmt| and_then(self, stmt)).collect();
        Next { outside, queue, timers, never }
    }

    /// Any event from outside becomes the current one.
    fn any_event(&mut self) -> Option<StmtId> {
        let outside = self.events.outside.clone();
        let from_outside = self.one_of(&outside);
        let (havoc, assume) = (self.terms.havoc(self.event), self.terms.assume(from_outside));
        let current = self.terms.var(self.event);
        let took = if self.bound.is_some() { self.take_in(current, &None) } else { self.terms.skip() };
        (!outside.is_empty()).then(|| self.terms.seq([havoc, assume, took]))
    }

    /// A property holds where it has a value and that is true.
    fn property(&mut self, written: &super::expr::Expr) -> TermId {
        let always = self.terms.bool(true);
        let (truth, outcome) = self.evaluating(|l| {
            let value = l.eval(written, always);
            l.truthy(&value)
        });
        if self.terms.as_bool(outcome.within) != Some(true) {
            self.mistake(written.span, "this property may ask for a value that is not supported");
        }
        self.terms.and([outcome.ok, truth])
    }

    /// All variables get their first value, then the data theirs.
    fn initial_values(&mut self, data: Vec<StmtId>) -> StmtId {
        let mut parts = vec![];
        for v in self.control.clone() {
            let value = self.none_of(v);
            parts.push(self.terms.assign(v, value));
        }
        let times = self.outbox.timers.iter().map(|timer| timer.left).chain(self.outbox.elapsed);
        let others: Vec<VarId> = times.chain(self.zeroed.iter().copied()).collect();
        for v in others.into_iter().filter(|v| !self.control.contains(v)).collect::<Vec<_>>() {
            let none = self.none_of(v);
            parts.push(self.terms.assign(v, none));
        }
        parts.extend(data);
        self.terms.seq(parts)
    }
}

/// How many statements there are in a statement, counted with repetition.
fn statements(terms: &Terms, s: StmtId, known: &mut FxHashMap<StmtId, usize>) -> usize {
    if let Some(&n) = known.get(&s) {
        return n;
    }
    let mut sum = |parts: &[StmtId]| parts.iter().fold(1, |n: usize, &p| n.saturating_add(statements(terms, p, known)));
    let n = match terms.stmt(s) {
        Stmt::Seq(parts) | Stmt::Choice(parts) => sum(parts),
        Stmt::If(_, a, b) => sum(&[*a, *b]),
        Stmt::While(_, body) => sum(&[*body]),
        _ => 1,
    };
    known.insert(s, n);
    n
}
