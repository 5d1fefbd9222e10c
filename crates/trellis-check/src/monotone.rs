//! Where covering is certain not to be trusted.
//!
//! A certificate up to the order rests on the monotonicity of the model (000 Def. 2), which nobody can check in general.
//! But some models and questions break it by their very form, and a proof of that kind about them is refused.

use trellis_expr::{Stmt, StmtId, Term, TermId, Terms};
use trellis_model::network::{Condition, Network, Query, QueryKind};

/// Why a smaller state may do what a larger one of the same key cannot, if that can be told from the form of things.
pub(crate) fn obstacle(net: &Network, query: &Query) -> Option<&'static str> {
    if query.deadlock {
        return Some("a state below an entry may be a deadlock where the entry is none: list the states themselves");
    }
    if let QueryKind::Eventually(_) | QueryKind::PotentiallyAlways(_) | QueryKind::LeadsTo(..) = query.kind {
        return Some("a state below an entry may do less than the entry: list the states themselves, with ranks");
    }
    let edges = || net.processes.iter().flat_map(|p| &p.edges);
    if net.has_priorities && edges().any(|e| reads(&net.terms, e.guard)) {
        return Some("with priorities, a step that only an entry can take blocks steps of the states below it");
    }
    let hears = |s: &trellis_model::network::Sync| !s.send && net.channels[s.base as usize].broadcast;
    if edges().any(|e| e.sync.as_ref().is_some_and(hears) && reads(&net.terms, e.guard)) {
        return Some(
            "an entry may have more receivers of a broadcast than the states below it, and all must take part",
        );
    }
    None
}

/// Does a condition depend on a lattice value?
fn reads(terms: &Terms, c: Condition) -> bool {
    let mut statements = vec![c.prepare];
    let mut values = vec![c.holds];
    while let Some(s) = statements.pop() {
        parts(terms, s, &mut statements, &mut values);
    }
    while let Some(t) = values.pop() {
        if let Term::Foreign(..) = terms.get(t) {
            return true;
        }
        values.extend(terms.children(t));
    }
    false
}

fn parts(terms: &Terms, s: StmtId, statements: &mut Vec<StmtId>, values: &mut Vec<TermId>) {
    match terms.stmt(s) {
        Stmt::Skip | Stmt::Havoc(_) => {}
        Stmt::Assume(t) | Stmt::Assign(_, t) => values.push(*t),
        Stmt::Seq(all) | Stmt::Choice(all) => statements.extend(all.iter()),
        Stmt::If(c, a, b) => {
            values.push(*c);
            statements.extend([*a, *b]);
        }
        Stmt::While(c, body) => {
            values.push(*c);
            statements.push(*body);
        }
        Stmt::Foreign(_, args) => values.extend(args.iter()),
    }
}
