//! Puts the automaton together.
//!
//! ```text
//! start ─▶ enter ─▶ entered ─▶ select ─▶ chosen ─▶ exited ─▶ acted ─▶ entered     (a micro-step)
//!                      │          ▲         ├─ nothing to take: the event is used up, or the next one comes from the queue ─▶ select
//!                      ▼          │         ▼
//!                    ended      [event]── stable ─▶ violated
//! ```

use rustc_hash::FxHashMap;
use trellis_expr::{Stmt, StmtId, TermId, Terms, Type};
use trellis_model::cfa::{Cfa, Edge, Kind, Location, LocationId, Place};

use super::Chart;
use super::lower::Lower;
use super::tree::{self, Tree};
use crate::diag::{Diagnostic, SourceId, Sources};
use crate::uppaal::errors::Errors;

/// How many statements the automaton may have, counted with repetition.
const MAX_STATEMENTS: usize = 500_000;

struct Builder {
    cfa: Cfa,
    place: Option<Place>,
}

impl Builder {
    fn location(&mut self, name: &str, kind: Kind) -> LocationId {
        self.cfa.add_location(Location { name: name.into(), kind, place: None })
    }

    fn edge(&mut self, from: LocationId, stmt: StmtId, to: LocationId) {
        self.cfa.add_edge(Edge { from, stmt, to, place: self.place });
    }
}

/// An automaton for each property.
pub fn build(tree: &Tree, sources: &Sources, id: SourceId, errors: Errors) -> (Vec<Chart>, Vec<Diagnostic>) {
    let mut l = Lower::new(tree, errors);
    let initial_data = l.declare_data(&tree.properties);
    let choices = l.declare_choices();
    let properties: Vec<Option<TermId>> = tree.properties.iter().map(|p| property(&mut l, p)).collect();
    // Also what no run comes to must be right; and what is wrong is said once.
    tree.blocks().for_each(|b| {
        l.block(b);
    });
    if l.errors.count() > 0 {
        return (vec![], l.errors.finish());
    }
    let (select, exit, act, enter) = (l.select(&choices), l.exit(&choices), l.act(&choices), l.enter(&choices));
    let forget = l.forget(&choices);
    let enter_first = l.descend(0, &tree.states[0].initial);
    let any = l.any_taken(&choices);
    let none_taken = l.terms.not(any);
    let no_event = l.event_literal(0);
    let current = l.terms.var(l.event);
    let idle = l.terms.eq(current, no_event);
    let busy = l.terms.not(idle);
    let use_up = l.terms.assign(l.event, no_event);
    let dequeue = l.dequeue();
    let empty = match l.queue.first().copied() {
        Some(first) => {
            let first = l.terms.var(first);
            l.terms.eq(first, no_event)
        }
        None => l.terms.bool(true),
    };
    let waiting = l.terms.not(empty);
    let overflow = match l.overflow {
        Some(v) => l.terms.var(v),
        None => l.terms.bool(false),
    };
    let fits = l.terms.not(overflow);
    let ends: Vec<usize> = tree.states[0].children.clone();
    let ends: Vec<usize> = ends.into_iter().filter(|&c| tree.states[c].kind == tree::Kind::Final).collect();
    let ends: Vec<TermId> = ends.into_iter().map(|c| l.active(c)).collect();
    let ended = l.terms.or(ends);
    let running = l.terms.not(ended);
    let start = initial_values(&mut l, initial_data);
    let outside = l.events.outside.clone();
    let from_outside = l.one_of(&outside);
    let any_event = {
        let (havoc, assume) = (l.terms.havoc(l.event), l.terms.assume(from_outside));
        l.terms.seq([havoc, assume])
    };
    let states: Vec<(String, TermId)> =
        (1..tree.states.len()).map(|s| (tree.states[s].name.clone(), l.active(s))).collect();

    let mut size = FxHashMap::default();
    let parts = [select, exit, act, enter, enter_first, start];
    if parts.iter().fold(0, |sum: usize, &s| sum.saturating_add(statements(&l.terms, s, &mut size))) > MAX_STATEMENTS {
        let message = format!("this chart is too large: its steps have more than {MAX_STATEMENTS} statements");
        l.error(tree.states[0].span, message);
    }
    if l.errors.count() > 0 {
        return (vec![], l.errors.finish());
    }

    let (line, column) = sources.line_col(tree.states[0].span);
    let place = Some(Place { file: 0, line: line as u32, column: column as u32 });
    let root = Location { name: "start".into(), kind: Kind::Plain, place };
    let Lower { mut terms, variables, control, data, events, event, errors, .. } = l;
    let assume = |terms: &mut Terms, parts: &[TermId], then: &[StmtId]| {
        let condition = terms.and(parts.iter().copied());
        let assume = terms.assume(condition);
        let all: Vec<StmtId> = std::iter::once(assume).chain(then.iter().copied()).collect();
        terms.seq(all)
    };
    let skip = terms.skip();
    let overflows = assume(&mut terms, &[overflow], &[]);
    let ends = assume(&mut terms, &[fits, ended], &[]);
    let goes_on = assume(&mut terms, &[fits, running], &[]);
    let takes = assume(&mut terms, &[fits, any], &[exit]);
    let done = terms.seq([enter, forget, use_up]);
    let ignores = assume(&mut terms, &[fits, none_taken, busy], &[use_up]);
    let takes_next = assume(&mut terms, &[fits, none_taken, idle, waiting], &[dequeue]);
    let rests = assume(&mut terms, &[fits, none_taken, idle, empty], &[]);
    let has_queue = terms.as_bool(overflow).is_none();

    let mut b = Builder { cfa: Cfa::new(terms, root), place };
    b.cfa.variables = variables;
    b.cfa.control = control;
    b.cfa.files.push(sources.get(id).name.clone());
    let begin = b.cfa.initial;
    let [enter_at, entered, select_at, chosen, exited, acted, stable, ended_at] =
        ["enter", "entered", "select", "chosen", "exited", "acted", "stable", "ended"]
            .map(|name| b.location(name, Kind::Plain));
    let over = b.location("over", Kind::Final);
    let overflow_at = has_queue.then(|| b.location("queue overflow", Kind::Error));
    b.edge(begin, start, enter_at);
    b.edge(enter_at, enter_first, entered);
    for from in [entered, chosen] {
        if let Some(to) = overflow_at {
            b.edge(from, overflows, to);
        }
    }
    b.edge(entered, ends, ended_at);
    b.edge(entered, goes_on, select_at);
    b.edge(select_at, select, chosen);
    b.edge(chosen, takes, exited);
    b.edge(exited, act, acted);
    b.edge(acted, done, entered);
    b.edge(chosen, ignores, select_at);
    if has_queue {
        b.edge(chosen, takes_next, select_at);
    }
    b.edge(chosen, rests, stable);

    let chart = Chart {
        cfa: b.cfa,
        property: None,
        stable,
        ended: ended_at,
        violated: None,
        overflow: overflow_at,
        states,
        data: data.variables,
        event,
        events: events.names,
    };
    let base = Rounds { select: select_at, over, any_event: (!outside.is_empty()).then_some(any_event), skip, place };
    let mut charts = vec![];
    for (p, written) in properties.iter().zip(&tree.properties) {
        let mut chart = chart.clone();
        let text = &sources.get(written.span.source).text;
        chart.property = text.get(written.span.start as usize..written.span.end as usize).map(String::from);
        base.close(&mut chart, *p);
        charts.push(chart);
    }
    if charts.is_empty() {
        let mut chart = chart;
        base.close(&mut chart, None);
        charts.push(chart);
    }
    (charts, errors.finish())
}

/// What is left to be done for each property.
struct Rounds {
    select: LocationId,
    over: LocationId,
    any_event: Option<StmtId>,
    skip: StmtId,
    place: Option<Place>,
}

impl Rounds {
    /// Asks the property, and goes on.
    fn close(&self, chart: &mut Chart, property: Option<TermId>) {
        let cfa = &mut chart.cfa;
        let (mut holds, mut fails) = (self.skip, None);
        if let Some(p) = property {
            let not = cfa.terms.not(p);
            holds = cfa.terms.assume(p);
            fails = Some(cfa.terms.assume(not));
            let violated = Location { name: "violated".into(), kind: Kind::Error, place: self.place };
            chart.violated = Some(cfa.add_location(violated));
        }
        for (from, then, to) in [(chart.stable, self.any_event, self.select), (chart.ended, Some(self.skip), self.over)]
        {
            if let (Some(fails), Some(violated)) = (fails, chart.violated) {
                cfa.add_edge(Edge { from, stmt: fails, to: violated, place: self.place });
            }
            if let Some(then) = then {
                let stmt = cfa.terms.seq([holds, then]);
                cfa.add_edge(Edge { from, stmt, to, place: self.place });
            }
        }
    }
}

/// A property holds where it has a value and that is true.
fn property(l: &mut Lower, written: &super::expr::Expr) -> Option<TermId> {
    let t = l.term(written, Some(Type::Bool))?;
    Some(l.guarded(t).1)
}

/// All variables get their first value, then the data theirs.
fn initial_values(l: &mut Lower, data: Vec<StmtId>) -> StmtId {
    let mut parts = vec![];
    for v in l.control.clone() {
        let value = match l.terms.variable(v).ty {
            Type::Enum(e) => l.terms.enum_lit(e, 0),
            _ => l.terms.bool(false),
        };
        parts.push(l.terms.assign(v, value));
    }
    parts.extend(data);
    l.terms.seq(parts)
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
