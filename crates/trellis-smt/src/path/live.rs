//! Which variables matter later on a path.

use std::collections::BTreeSet;

use trellis_expr::{Stmt, StmtId, TermId, Terms, Type, VarId};

/// For each position the variables that a statement of the core reads from there on before they are written. A statement outside the
/// core reads nothing, and may write anything that it writes at all.
pub(super) fn live(terms: &Terms, path: &[StmtId], core: &[bool]) -> Vec<BTreeSet<VarId>> {
    let mut all = vec![BTreeSet::new()];
    for (&s, &needed) in path.iter().zip(core).rev() {
        let after = all.last().expect("not empty");
        let before = if needed {
            before(terms, s, after)
        } else {
            let (_, writes) = terms.stmt_vars(s);
            after.difference(&writes).copied().collect()
        };
        all.push(before);
    }
    all.reverse();
    all
}

fn before(terms: &Terms, s: StmtId, after: &BTreeSet<VarId>) -> BTreeSet<VarId> {
    let mut live = after.clone();
    let read = |live: &mut BTreeSet<VarId>, t: TermId| live.extend(terms.free_vars(t));
    match *terms.stmt(s) {
        Stmt::Skip => {}
        Stmt::Assume(t) => read(&mut live, t),
        // What cannot fail has no other effect than its value.
        Stmt::Assign(v, t) => {
            let fits = match terms.variable(v).ty {
                Type::Range(lo, hi) => terms.lies_within(t, lo, hi),
                _ => true,
            };
            let fails = terms.may_fault(t) || !fits;
            if live.remove(&v) || fails {
                read(&mut live, t);
            }
        }
        Stmt::Havoc(v) => _ = live.remove(&v),
        Stmt::Seq(ref parts) => live = parts.iter().rev().fold(live, |live, &p| before(terms, p, &live)),
        Stmt::Choice(ref parts) => live = parts.iter().flat_map(|&p| before(terms, p, after)).collect(),
        Stmt::If(c, a, b) => {
            live = before(terms, a, after);
            live.extend(before(terms, b, after));
            read(&mut live, c);
        }
        Stmt::While(..) | Stmt::Foreign(..) => live.extend(terms.stmt_vars(s).0),
    }
    live
}
