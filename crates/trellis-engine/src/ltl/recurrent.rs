//! Runs that go on forever and never repeat: a *recurrent set*, from every state of which a round can be taken once more and leads into
//! the set again (Gupta, Henzinger, Majumdar, Rybalchenko, Xu: *Proving non-termination*, POPL 2008).
//!
//! The candidate is what must hold for a round to be taken once, twice, …, until that changes nothing any more. What a `havoc` may choose
//! is eliminated, or else always what some run has chosen. The first round is the cycle that was found. If the set cannot be left
//! by it, but by another way around from one of its states, that becomes a round too: a counter that comes to its end goes
//! on elsewhere.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use trellis_expr::defined::Defined;
use trellis_expr::eval::Valuation;
use trellis_expr::{Stmt, StmtId, TermId, Terms, VarId};
use trellis_model::cfa::interpret::{outcomes, zero_of};
use trellis_model::cfa::{EdgeId, LocationId};
use trellis_smt::{Answer, Embedded, Solver, qe};

use super::graph::Graph;
use super::search::{Path, Space};

/// How often the candidate is made stronger, or gets another round.
const ATTEMPTS: usize = 16;
/// So many states are visited when a way around is looked for.
const STATES: usize = 2000;
/// So many conflicts one question may take.
const WORK: u64 = 2000;

/// A recurrent set.
#[derive(Debug, Clone)]
pub struct Found {
    /// The ways around: large edges.
    pub rounds: Vec<Vec<EdgeId>>,
    /// What is always picked.
    pub choices: BTreeMap<VarId, TermId>,
    /// The set.
    pub set: TermId,
}

/// A recurrent set for the cycle of the path; values are those after some run along it. Whether a run comes there is another
/// question.
pub fn find(graph: &mut Graph<'_>, path: &Path, values: Option<&Valuation>) -> Option<Found> {
    let cycle: Vec<EdgeId> = path.cycle.iter().map(|s| EdgeId(s.0)).collect();
    if let Some(found) = close(graph, cycle.clone(), BTreeMap::new()) {
        return Some(found);
    }
    let mut choices = BTreeMap::new();
    for (&v, value) in values? {
        choices.insert(v, graph.cfa.terms.literal(value)?);
    }
    close(graph, cycle, choices)
}

/// The set from which rounds can be taken forever.
fn close(graph: &mut Graph<'_>, first: Vec<EdgeId>, choices: BTreeMap<VarId, TermId>) -> Option<Found> {
    let limits = graph.limits.clone().steps(WORK);
    let mut rounds = vec![first];
    let mut defined = Defined::default();
    let mut set = graph.cfa.terms.bool(true);
    for _ in 0..ATTEMPTS {
        let mut ways = vec![];
        for round in &rounds {
            let all: Vec<StmtId> = round.iter().map(|&e| graph.cfa.edge(e).stmt).collect();
            ways.push(graph.cfa.terms.seq(all));
        }
        let terms = &mut graph.cfa.terms;
        let cycle = terms.choice(ways);
        let again = qe::pre(terms, cycle, set, &choices).ok()?;
        let again = defined.holds(terms, again).ok()?;
        let leaves = terms.not(again);
        let outside = match Embedded::new().check(terms, &[set, leaves], &limits) {
            Answer::Unsat(_) => return Some(Found { rounds, choices, set }),
            Answer::Sat(values) => values,
            Answer::Unknown(_) => return None,
        };
        match another(graph, &rounds, &choices, outside) {
            Some(round) => rounds.push(round),
            None => set = graph.cfa.terms.and([set, again]),
        }
    }
    None
}

/// A state that a run from the set comes to.
#[derive(Clone)]
struct Visited {
    at: LocationId,
    env: Valuation,
    /// By which edge from which of those before.
    step: Option<(usize, EdgeId)>,
    /// The marks met on the way.
    marks: u64,
}

/// A new way around that a run with these choices takes from these values, with all marks.
fn another(
    graph: &mut Graph<'_>,
    rounds: &[Vec<EdgeId>],
    choices: &BTreeMap<VarId, TermId>,
    values: Valuation,
) -> Option<Vec<EdgeId>> {
    if choices.is_empty() {
        return None;
    }
    let head = graph.cfa.edge(*rounds.first()?.first()?).from;
    let mut env = values;
    for &v in &graph.cfa.variables {
        let ty = graph.cfa.terms.variable(v).ty;
        env.entry(v).or_insert_with(|| zero_of(&graph.cfa.terms, ty));
    }
    let variables = graph.cfa.variables.clone();
    env.retain(|v, _| variables.contains(v));
    let all = graph.all_marks();
    let mut visited = vec![Visited { at: head, env, step: None, marks: 0 }];
    let mut seen = FxHashSet::default();
    let mut next = 0;
    while next < visited.len() && visited.len() < STATES {
        let here = visited[next].clone();
        for e in graph.cfa.outgoing(here.at).to_vec() {
            let (at, stmt) = (graph.cfa.edge(e).to, graph.cfa.edge(e).stmt);
            let stmt = picked(&mut graph.cfa.terms, stmt, choices);
            let marks = here.marks | graph.marks_at(at);
            for env in outcomes(&graph.cfa.terms, stmt, &here.env, 64).ok()? {
                let is_new = seen.insert((at, marks, format!("{:?}", sorted(&env))));
                if !is_new {
                    continue;
                }
                visited.push(Visited { at, env, step: Some((next, e)), marks });
                if at == head && marks & all == all {
                    let mut round = vec![];
                    let mut step = Some((next, e));
                    while let Some((before, e)) = step {
                        round.push(e);
                        step = visited[before].step;
                    }
                    round.reverse();
                    if !rounds.contains(&round) {
                        return Some(round);
                    }
                }
            }
        }
        next += 1;
    }
    None
}

fn sorted(env: &Valuation) -> BTreeMap<VarId, &trellis_expr::Value> {
    env.iter().map(|(&v, value)| (v, value)).collect()
}

/// The statement with these values in place of what it leaves open.
fn picked(terms: &mut Terms, s: StmtId, choices: &BTreeMap<VarId, TermId>) -> StmtId {
    match terms.stmt(s).clone() {
        Stmt::Havoc(v) => match choices.get(&v) {
            Some(&value) => terms.assign(v, value),
            None => s,
        },
        Stmt::Seq(parts) => {
            let parts: Vec<StmtId> = parts.iter().map(|&p| picked(terms, p, choices)).collect();
            terms.seq(parts)
        }
        Stmt::Choice(parts) => {
            let parts: Vec<StmtId> = parts.iter().map(|&p| picked(terms, p, choices)).collect();
            terms.choice(parts)
        }
        Stmt::If(c, a, b) => {
            let (a, b) = (picked(terms, a, choices), picked(terms, b, choices));
            terms.branch(c, a, b)
        }
        _ => s,
    }
}
