//! The automaton of a system.

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_expr::{StmtId, Term, TermId, Terms, VarId, defined};
use trellis_model::cfa::{Edge, Kind, Location};

use super::Sts;
use super::parser::System;
use crate::cfa::parser::Parser;
use crate::diag::Span;

/// Start, states, error.
pub fn build(parser: &mut Parser<'_>, name: &str, span: Span, system: System, property: TermId) -> Sts {
    let place = Some(parser.place(span));
    let cfa = &mut parser.cfa;
    let start = cfa.initial;
    cfa.location_mut(start).name = "start".into();
    let states = cfa.add_location(Location { name: "states".into(), kind: Kind::Plain, place });
    let error = cfa.add_location(Location { name: "error".into(), kind: Kind::Error, place });

    let terms = &mut cfa.terms;
    let all = conjuncts(terms, system.initial.iter().chain(&system.invariant).copied());
    // Variables are arbitrary at the start anyway.
    let first = solved(terms, &all, &system.variables, false);
    let first = terms.seq(first);

    let kept: Vec<TermId> = system.invariant.iter().map(|&t| terms.rename(t, &system.next)).collect();
    let all = conjuncts(terms, system.transition.iter().copied().chain(kept));
    let copies: Vec<VarId> = system.variables.iter().filter_map(|v| system.next.get(v).copied()).collect();
    let mut step = solved(terms, &all, &copies, true);
    for v in &system.variables {
        if let Some(&next) = system.next.get(v) {
            let value = terms.var(next);
            step.push(terms.assign(*v, value));
        }
    }
    let step = terms.seq(step);

    // Nothing foreign is in it, so this always has an answer.
    let holds = defined::holds(terms, property).unwrap_or(property);
    let fails = terms.not(holds);
    let fails = terms.assume(fails);
    cfa.add_edge(Edge { from: start, stmt: first, to: states, place });
    cfa.add_edge(Edge { from: states, stmt: step, to: states, place });
    cfa.add_edge(Edge { from: states, stmt: fails, to: error, place });
    Sts { name: name.to_string(), span, cfa: parser.cfa.clone(), property, variables: system.variables }
}

/// The parts that must all hold.
fn conjuncts(terms: &Terms, all: impl Iterator<Item = TermId>) -> Vec<TermId> {
    all.flat_map(|t| match terms.get(t) {
        Term::And(parts) => parts.to_vec(),
        _ => vec![t],
    })
    .collect()
}

/// Gives the variables values that satisfy all parts. A part that says what a variable is becomes an assignment, after those that
/// it needs; the other variables may be anything, and the other parts are assumed.
fn solved(terms: &mut Terms, parts: &[TermId], variables: &[VarId], havoc: bool) -> Vec<StmtId> {
    let unknown: FxHashSet<VarId> = variables.iter().copied().collect();
    // For each variable, the part that says what it is, its value, and the variables that this needs.
    let mut says: FxHashMap<VarId, (usize, TermId, Vec<VarId>)> = FxHashMap::default();
    let mut known = FxHashMap::default();
    for (n, &part) in parts.iter().enumerate() {
        let free = |(v, _): &(VarId, TermId)| unknown.contains(v) && !says.contains_key(v);
        if let Some((v, e)) = definitions(terms, part, &mut known).into_iter().find(free) {
            let needs = terms.free_vars(e).into_iter().filter(|v| unknown.contains(v)).collect();
            says.insert(v, (n, e, needs));
        }
    }
    let mut assumed = vec![true; parts.len()];
    let mut done = FxHashSet::default();
    let mut waiting = variables.to_vec();
    let mut stmts = vec![];
    while !waiting.is_empty() {
        let is_ready = |v: &VarId| says.get(v).is_some_and(|s| s.2.iter().all(|need| done.contains(need)));
        let ready = waiting.iter().position(is_ready);
        // If all that is left goes in a circle, one of them must be guessed.
        let open = || waiting.iter().position(|v| !says.contains_key(v)).unwrap_or(0);
        let v = waiting.remove(ready.unwrap_or_else(open));
        done.insert(v);
        if ready.is_some() {
            let (n, e, _) = says[&v];
            assumed[n] = false;
            stmts.push(terms.assign(v, e));
        } else if havoc {
            stmts.push(terms.havoc(v));
        }
    }
    stmts.extend(parts.iter().zip(assumed).filter(|p| p.1).map(|p| terms.assume(*p.0)).collect::<Vec<_>>());
    stmts
}

type Definitions = Vec<(VarId, TermId)>;

/// What a formula says a variable is: `x = e`, `x`, `not x`, or the same in both branches of a condition.
fn definitions(terms: &mut Terms, t: TermId, known: &mut FxHashMap<TermId, Definitions>) -> Definitions {
    if let Some(all) = known.get(&t) {
        return all.clone();
    }
    let var = |terms: &Terms, t| match *terms.get(t) {
        Term::Var(v) => Some(v),
        _ => None,
    };
    let all = match *terms.get(t) {
        Term::Eq(a, b) => {
            let (x, y) = (var(terms, a).map(|v| (v, b)), var(terms, b).map(|v| (v, a)));
            x.into_iter().chain(y).collect()
        }
        Term::Var(v) => vec![(v, terms.bool(true))],
        Term::Not(a) => var(terms, a).map(|v| (v, terms.bool(false))).into_iter().collect(),
        Term::Ite(c, a, b) => {
            let (mut all, others) = (definitions(terms, a, known), definitions(terms, b, known));
            all.retain_mut(|(v, e)| match others.iter().find(|o| o.0 == *v) {
                Some(&(_, other)) => {
                    *e = terms.ite(c, *e, other);
                    true
                }
                None => false,
            });
            all
        }
        _ => vec![],
    };
    known.insert(t, all.clone());
    all
}
