//! Runs that go on forever and never repeat: a *recurrent set*, from every state of which the cycle can be taken once more and leads into
//! the set again (Gupta, Henzinger, Majumdar, Rybalchenko, Xu: *Proving non-termination*, POPL 2008).
//!
//! The candidate is what must hold for the cycle to be taken once, twice, …, until that changes nothing any more. What a
//! `havoc` may choose is eliminated.

use trellis_expr::defined::Defined;
use trellis_expr::{StmtId, TermId};
use trellis_model::cfa::EdgeId;
use trellis_smt::{Embedded, Solver, qe};

use super::graph::Graph;
use super::search::Path;

/// How often the candidate is made stronger.
const ROUNDS: usize = 4;

/// A recurrent set for the cycle of the path. Whether a run comes there is another question.
pub fn find(graph: &mut Graph<'_, '_>, path: &Path) -> Option<TermId> {
    let limits = graph.limits.clone();
    let all: Vec<StmtId> = path.cycle.iter().map(|s| graph.cfa.edge(EdgeId(s.0)).stmt).collect();
    let terms = &mut graph.cfa.terms;
    let cycle = terms.seq(all);
    let mut defined = Defined::default();
    let mut set = terms.bool(true);
    for _ in 0..ROUNDS {
        let again = qe::pre(terms, cycle, set).ok()?;
        let again = defined.holds(terms, again).ok()?;
        let leaves = terms.not(again);
        if Embedded::new().check(terms, &[set, leaves], &limits).is_unsat() {
            return Some(set);
        }
        set = terms.and([set, again]);
    }
    None
}
