//! The automaton of a system.

use rustc_hash::FxHashSet;
use trellis_expr::{Stmt, StmtId, Term, TermId, Terms, VarId, defined};
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
    let variables: FxHashSet<VarId> = system.variables.iter().copied().collect();
    let (mut first, rest) = split(terms, all, &variables, &|terms, e| terms.as_value(e).is_some());
    first.extend(rest);
    let first = terms.seq(first);

    let kept: Vec<TermId> = system.invariant.iter().map(|&t| terms.rename(t, &system.next)).collect();
    let all = conjuncts(terms, system.transition.iter().copied().chain(kept));
    let copies: FxHashSet<VarId> = system.next.values().copied().collect();
    let (mut step, rest) =
        split(terms, all, &copies, &|terms, e| !terms.free_vars(e).iter().any(|v| copies.contains(v)));
    let known: FxHashSet<VarId> = step.iter().filter_map(|&s| assigned(terms, s)).collect();
    for next in system.variables.iter().filter_map(|v| system.next.get(v)) {
        if !known.contains(next) {
            step.push(terms.havoc(*next));
        }
    }
    step.extend(rest);
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
    Sts { name: name.to_string(), cfa: parser.cfa.clone(), property, variables: system.variables }
}

fn assigned(terms: &Terms, s: StmtId) -> Option<VarId> {
    match *terms.stmt(s) {
        Stmt::Assign(v, _) => Some(v),
        _ => None,
    }
}

/// The parts that must all hold.
fn conjuncts(terms: &Terms, all: impl Iterator<Item = TermId>) -> Vec<TermId> {
    all.flat_map(|t| match terms.get(t) {
        Term::And(parts) => parts.to_vec(),
        _ => vec![t],
    })
    .collect()
}

/// Assignments for those parts that say `v = e` of one of the variables, with an `e` that is good enough; assumptions for the
/// others. A variable is assigned once.
fn split(
    terms: &mut Terms,
    parts: Vec<TermId>,
    variables: &FxHashSet<VarId>,
    good: &dyn Fn(&Terms, TermId) -> bool,
) -> (Vec<StmtId>, Vec<StmtId>) {
    let mut known = FxHashSet::default();
    let (mut assigned, mut assumed) = (vec![], vec![]);
    for part in parts {
        let sides = match *terms.get(part) {
            Term::Eq(a, b) => vec![(a, b), (b, a)],
            Term::Var(_) => vec![(part, terms.bool(true))],
            Term::Not(a) => vec![(a, terms.bool(false))],
            _ => vec![],
        };
        let defines = sides.into_iter().find_map(|(a, b)| match *terms.get(a) {
            Term::Var(v) if variables.contains(&v) && !known.contains(&v) && good(terms, b) => Some((v, b)),
            _ => None,
        });
        match defines {
            Some((v, e)) => {
                known.insert(v);
                assigned.push(terms.assign(v, e));
            }
            None => assumed.push(terms.assume(part)),
        }
    }
    (assigned, assumed)
}
