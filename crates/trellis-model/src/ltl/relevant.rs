//! Which variables a formula depends on: those in its atoms, those that decide where a run goes or whether it is stuck, and those that
//! flow into these. The values of the others may differ from one round of a cycle to the next: the cycle can be taken again
//! all the same, and reads the same letters.

use std::collections::BTreeSet;

use trellis_expr::{Stmt, StmtId, TermId, Terms, Type, VarId};

use crate::cfa::Cfa;

/// The variables of the automaton that matter to the atoms.
pub fn relevant(cfa: &Cfa, atoms: &[TermId]) -> BTreeSet<VarId> {
    let terms = &cfa.terms;
    let mut matter: BTreeSet<VarId> = atoms.iter().flat_map(|&a| terms.free_vars(a)).collect();
    // What flows into a variable, if it matters.
    let mut flows: Vec<(VarId, BTreeSet<VarId>)> = vec![];
    for e in cfa.edges() {
        collect(terms, cfa.edge(e).stmt, &mut matter, &mut flows);
    }
    loop {
        let before = matter.len();
        for (v, from) in &flows {
            if matter.contains(v) {
                matter.extend(from);
            }
        }
        if matter.len() == before {
            break;
        }
    }
    matter.retain(|v| cfa.variables.contains(v));
    matter
}

fn collect(terms: &Terms, s: StmtId, matter: &mut BTreeSet<VarId>, flows: &mut Vec<(VarId, BTreeSet<VarId>)>) {
    match terms.stmt(s) {
        Stmt::Skip | Stmt::Havoc(_) => {}
        Stmt::Assume(t) => matter.extend(terms.free_vars(*t)),
        Stmt::Assign(v, t) => {
            let from = terms.free_vars(*t);
            let blocks = match terms.variable(*v).ty {
                Type::Range(lo, hi) => !terms.lies_within(*t, lo, hi),
                _ => false,
            };
            if blocks || terms.may_fault(*t) {
                matter.extend(&from);
            }
            flows.push((*v, from));
        }
        Stmt::Seq(parts) | Stmt::Choice(parts) => parts.iter().for_each(|&p| collect(terms, p, matter, flows)),
        Stmt::If(c, a, b) => {
            matter.extend(terms.free_vars(*c));
            [*a, *b].into_iter().for_each(|p| collect(terms, p, matter, flows));
        }
        // Whatever is in there may matter.
        Stmt::While(..) | Stmt::Foreign(..) => {
            let (reads, writes) = terms.stmt_vars(s);
            matter.extend(reads.into_iter().chain(writes));
        }
    }
}
