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
//! `entered`, but apart from it, so that in large blocks `select` is all that is left of a round.

use rustc_hash::FxHashMap;
use trellis_expr::{Stmt, StmtId, TermId, Terms, Type};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId, Place};

use super::Chart;
use super::lower::Lower;
use super::step::Choice;
use super::tree::{self, Tree};
use crate::diag::{Diagnostic, SourceId, Sources};
use crate::uppaal::errors::Errors;

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
const OVERFLOW: LocationId = LocationId(11);

type Edges = Vec<(LocationId, StmtId, LocationId)>;

/// An automaton for each property.
pub fn build(tree: &Tree, sources: &Sources, id: SourceId, errors: Errors) -> (Vec<Chart>, Vec<Diagnostic>) {
    let mut l = Lower::new(tree, errors);
    let data = l.declare_data(&tree.properties);
    let choices = l.declare_choices();
    let properties: Vec<Option<TermId>> = tree.properties.iter().map(|p| l.property(p)).collect();
    // Also what no run comes to must be right; and what is wrong is said once.
    tree.blocks().for_each(|b| {
        l.block(b);
    });
    if l.errors.count() > 0 {
        return (vec![], l.errors.finish());
    }
    let mut edges = l.micro_steps(&choices);
    edges.push((START, l.initial_values(data), ENTER));
    let event = l.any_event();
    let mut known = FxHashMap::default();
    let sizes = edges.iter().map(|&(_, stmt, _)| statements(&l.terms, stmt, &mut known));
    if sizes.fold(0, usize::saturating_add) > MAX_STATEMENTS {
        let message = format!("this chart is too large: its steps have more than {MAX_STATEMENTS} statements");
        l.error(tree.states[0].span, message);
    }
    let states = (1..tree.states.len()).map(|s| (tree.states[s].name.clone(), l.active(s))).collect();

    let (line, column) = sources.line_col(tree.states[0].span);
    let place = Some(Place { file: 0, line: line as u32, column: column as u32 });
    let location = |name: &str, kind| Location { name: name.into(), kind, place: None };
    let mut cfa = Cfa::new(l.terms, Location { place, ..location(NAMES[0], Kind::Plain) });
    for name in &NAMES[1..] {
        cfa.add_location(location(name, if *name == "over" { Kind::Final } else { Kind::Plain }));
    }
    let overflow = l.overflow.map(|_| cfa.add_location(location("queue overflow", Kind::Error)));
    for (from, stmt, to) in edges {
        cfa.add_edge(Edge { from, stmt, to, place });
    }
    (cfa.variables, cfa.control) = (l.variables, l.control);
    cfa.files.push(sources.get(id).name.clone());
    let chart = Chart {
        cfa,
        property: None,
        stable: STABLE,
        ended: ENDED,
        violated: None,
        overflow,
        states,
        data: l.data.variables,
        event: l.event,
        events: l.events.names,
    };
    let asked = |(p, written): (&Option<TermId>, &super::expr::Expr)| {
        let (text, span) = (&sources.get(written.span.source).text, written.span);
        let written = text.get(span.start as usize..span.end as usize).map(String::from);
        close(Chart { property: written, ..chart.clone() }, *p, event)
    };
    let mut charts: Vec<Chart> = properties.iter().zip(&tree.properties).map(asked).collect();
    if charts.is_empty() {
        charts.push(close(chart, None, event));
    }
    (charts, l.errors.finish())
}

/// Asks the property where it is to be asked, and goes on with an event from outside, if there are any.
fn close(mut chart: Chart, property: Option<TermId>, event: Option<StmtId>) -> Chart {
    let cfa = &mut chart.cfa;
    let place = cfa.location(START).place;
    let skip = cfa.terms.skip();
    let mut holds = skip;
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
    for (from, then, to) in [(STABLE, event, SELECT), (ENDED, Some(skip), OVER)] {
        if let Some(then) = then {
            let stmt = cfa.terms.seq([holds, then]);
            cfa.add_edge(Edge { from, stmt, to, place });
        }
    }
    chart
}

impl Lower<'_> {
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
        let overflow = match self.overflow {
            Some(v) => self.terms.var(v),
            None => self.terms.bool(false),
        };
        let fits = self.terms.not(overflow);
        let (exit, forget) = (self.exit(choices), self.forget(choices));
        let mut edges = vec![
            (ENTER, self.descend(0, &self.tree.states[0].initial), FIRST),
            (SELECT, self.select(choices), CHOSEN),
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
        match self.queue.first().copied() {
            Some(first) => {
                let first = self.terms.var(first);
                let empty = self.terms.eq(first, no_event);
                let (waiting, dequeue) = (self.terms.not(empty), self.dequeue());
                edges.push((CHOSEN, self.when(&[fits, none, idle, waiting], &[dequeue]), SELECT));
                edges.push((CHOSEN, self.when(&[fits, none, idle, empty], &[]), STABLE));
                for from in [FIRST, ENTERED, CHOSEN] {
                    edges.push((from, self.when(&[overflow], &[]), OVERFLOW));
                }
            }
            None => edges.push((CHOSEN, self.when(&[none, idle], &[]), STABLE)),
        }
        edges
    }

    /// Is a final state of the chart itself active?
    fn has_ended(&mut self) -> TermId {
        let tree = self.tree;
        let ends = tree.states[0].children.iter().filter(|c| tree.states[**c].kind == tree::Kind::Final);
        let ends: Vec<TermId> = ends.map(|&c| self.active(c)).collect();
        self.terms.or(ends)
    }

    /// Any event from outside becomes the current one.
    fn any_event(&mut self) -> Option<StmtId> {
        let outside = self.events.outside.clone();
        let from_outside = self.one_of(&outside);
        let (havoc, assume) = (self.terms.havoc(self.event), self.terms.assume(from_outside));
        (!outside.is_empty()).then(|| self.terms.seq([havoc, assume]))
    }

    /// A property holds where it has a value and that is true.
    fn property(&mut self, written: &super::expr::Expr) -> Option<TermId> {
        let t = self.term(written, Some(Type::Bool))?;
        Some(self.guarded(t).1)
    }

    /// All variables get their first value, then the data theirs.
    fn initial_values(&mut self, data: Vec<StmtId>) -> StmtId {
        let mut parts = vec![];
        for v in self.control.clone() {
            let value = match self.terms.variable(v).ty {
                Type::Enum(e) => self.terms.enum_lit(e, 0),
                _ => self.terms.bool(false),
            };
            parts.push(self.terms.assign(v, value));
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
