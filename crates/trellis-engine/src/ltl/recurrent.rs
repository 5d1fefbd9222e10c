//! Runs that go on forever and never repeat: a *recurrent set*, from every state of which a round can be taken once more and leads into
//! the set again (Gupta, Henzinger, Majumdar, Rybalchenko, Xu: *Proving non-termination*, POPL 2008).
//!
//! The candidate is what must hold for a round to be taken once, twice, …, until that changes nothing any more. What a `havoc` may choose
//! is eliminated, or else always what some run has chosen. A round is the cycle that was found; if that is not enough, one of several,
//! each with all marks: a counter that comes to its end takes another way once.

use std::collections::BTreeMap;

use trellis_expr::defined::Defined;
use trellis_expr::eval::Valuation;
use trellis_expr::{StmtId, TermId, VarId};
use trellis_model::cfa::EdgeId;
use trellis_model::evidence::Reason;
use trellis_smt::{Embedded, Solver, qe};

use super::graph::Graph;
use super::search::{Path, Space};

/// How often the candidate is made stronger.
const ROUNDS: usize = 4;
/// So many other ways around are looked at, each of at most so many blocks, and found in so many steps.
const OTHERS: usize = 8;
const BLOCKS: usize = 16;
const STEPS: usize = 2000;
/// So many conflicts one question may take.
const WORK: u64 = 2000;

/// Edges and nodes of a round.
type Round = Vec<(u32, u32)>;

/// A recurrent set.
#[derive(Debug, Clone)]
pub struct Found {
    /// The ways around.
    pub rounds: Vec<Round>,
    /// What is always picked.
    pub picks: BTreeMap<VarId, TermId>,
    /// The set.
    pub set: TermId,
}

/// A recurrent set for the cycle of the path; values are those after some run along it. Whether a run comes there is another
/// question.
pub fn find(graph: &mut Graph<'_, '_>, path: &Path, values: Option<&Valuation>) -> Result<Option<Found>, Reason> {
    let alone = vec![path.cycle.clone()];
    let mut several: Option<Vec<Round>> = None;
    for attempt in 0..4 {
        let picks = match (attempt % 2, values) {
            (0, _) => BTreeMap::new(),
            (_, Some(values)) => literals(graph, values),
            _ => continue,
        };
        let rounds = match attempt / 2 {
            0 => &alone,
            _ => {
                if several.is_none() {
                    several = Some(others(graph, path)?);
                }
                several.as_ref().expect("just made")
            }
        };
        if attempt / 2 == 1 && rounds.len() < 2 {
            break;
        }
        if let Some(set) = close(graph, rounds, &picks) {
            return Ok(Some(Found { rounds: rounds.clone(), picks, set }));
        }
    }
    Ok(None)
}

fn literals(graph: &mut Graph<'_, '_>, values: &Valuation) -> BTreeMap<VarId, TermId> {
    let terms = &mut graph.cfa.terms;
    values.iter().filter_map(|(&v, value)| Some((v, terms.literal(value)?))).collect()
}

/// The set from which rounds can be taken forever.
fn close(graph: &mut Graph<'_, '_>, rounds: &[Round], picks: &BTreeMap<VarId, TermId>) -> Option<TermId> {
    let limits = graph.limits.clone().steps(WORK);
    let mut ways = vec![];
    for round in rounds {
        let all: Vec<StmtId> = round.iter().map(|s| graph.cfa.edge(EdgeId(s.0)).stmt).collect();
        ways.push(graph.cfa.terms.seq(all));
    }
    let terms = &mut graph.cfa.terms;
    let cycle = terms.choice(ways);
    let mut defined = Defined::default();
    let mut set = terms.bool(true);
    for _ in 0..ROUNDS {
        let again = qe::pre(terms, cycle, set, picks).ok()?;
        let again = defined.holds(terms, again).ok()?;
        let leaves = terms.not(again);
        if Embedded::new().check(terms, &[set, leaves], &limits).is_unsat() {
            return Some(set);
        }
        set = terms.and([set, again]);
    }
    None
}

/// Ways around from the first node of the cycle, without repetition; those that lack marks are followed by the cycle.
fn others(graph: &mut Graph<'_, '_>, path: &Path) -> Result<Vec<Round>, Reason> {
    let head = path.head();
    let mut found = vec![path.cycle.clone()];
    let mut stack: Vec<(Round, Vec<(u32, u32)>)> = vec![(vec![], graph.successors(head)?)];
    let mut steps = 0;
    while let Some((way, next)) = stack.last_mut() {
        steps += 1;
        let Some((e, to)) = next.pop().filter(|_| steps < STEPS && found.len() < OTHERS) else {
            stack.pop();
            continue;
        };
        if way.iter().any(|s| s.1 == to) || way.len() >= BLOCKS {
            continue;
        }
        let mut way = way.clone();
        way.push((e, to));
        if to == head {
            let marks = way.iter().fold(0, |marks, s| marks | graph.marks(s.1));
            if marks & graph.all_marks() != graph.all_marks() {
                way.extend(&path.cycle);
            }
            if !found.contains(&way) {
                found.push(way);
            }
            continue;
        }
        let next = graph.successors(to)?;
        stack.push((way, next));
    }
    Ok(found)
}
