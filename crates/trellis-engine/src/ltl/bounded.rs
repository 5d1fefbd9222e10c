//! Bounded search for lassos (A. Biere, A. Cimatti, E. Clarke, Y. Zhu: *Symbolic Model Checking without BDDs*, TACAS 1999): a run of the
//! product of one block, of two, and so on, that ends where it was before, and has met all marks since.
//!
//! It finds violations only.
//!
//! The loop is its own: it counts depths, and a solver searches.

use trellis_expr::{TermId, Type, VarId};
use trellis_model::cfa::interpret::Trace;
use trellis_model::cfa::{Cfa, LocationId};
use trellis_model::evidence::Reason;
use trellis_model::ltl::components;
use trellis_model::ltl::product::Product;
use trellis_smt::{Answer, Embedded, Solver};

use crate::program::reason;
use crate::program::steps::Steps;
use crate::program::trace::{NoTrace, Tracer};
use trellis_meter::{Meter, Progress, Stats};

/// A run of the product in large blocks, and how many steps come before those that repeat.
pub fn find(
    cfa: &mut Cfa,
    product: &Product,
    marks: &[u64],
    depth: Option<usize>,
    stats: &mut Stats,
    meter: &mut Meter,
) -> Result<(Trace, usize), Reason> {
    let useful = leads_to_a_fair_cycle(cfa, marks, product.all_marks());
    let initial = cfa.initial;
    let mut steps = Steps::among(cfa, useful, |l| l == initial);
    let mut solver = Embedded::new();
    let mut doubt = None;
    loop {
        meter.ask(&Progress { waiting: 0, stats: *stats })?;
        if steps.here().is_empty() {
            return Err(doubt.unwrap_or_else(|| Reason::Stuck("no run of this length is left".into())));
        }
        if depth.is_some_and(|d| steps.position() >= d) {
            return Err(doubt.unwrap_or(Reason::Depth));
        }
        let formula = steps.step(cfa).map_err(|what| Reason::Unsupported(what.to_string()))?;
        stats.steps += 1;
        stats.added += steps.here().len() as u64;
        solver.assert(&cfa.terms, formula);
        let (closed, back) = closes(cfa, &steps, marks, product);
        match solver.check(&cfa.terms, &[closed], &*meter) {
            Answer::Sat(model) => {
                let path = steps.path(&model);
                let is_true = |v: &VarId| model.get(v).and_then(|v| v.as_bool()) == Some(true);
                let back = back.iter().position(is_true).unwrap_or(0);
                return match Tracer::new().lasso(cfa, &path, (back, &product.relevant), &mut Embedded::new(), &*meter) {
                    Ok(trace) => Ok((trace, back)),
                    Err(NoTrace::Unknown(why)) => Err(reason(why)),
                    Err(NoTrace::Infeasible) => unreachable!("the solver has just said the contrary"),
                };
            }
            Answer::Unsat(core) if core.is_empty() => {
                return Err(doubt.unwrap_or_else(|| Reason::Stuck("no run of this length is left".into())));
            }
            Answer::Unsat(_) => {}
            Answer::Unknown(why) => match reason(why) {
                why @ (Reason::Time | Reason::Interrupted) => return Err(why),
                why => _ = doubt.get_or_insert(why),
            },
        }
    }
}

/// The run is where it was after so many steps (one truth value for each number, the first that is true counts), and has met all
/// marks since.
fn closes(cfa: &mut Cfa, steps: &Steps, marks: &[u64], product: &Product) -> (TermId, Vec<VarId>) {
    let last = steps.position();
    let mut parts = vec![];
    let back: Vec<VarId> = (0..last).map(|i| cfa.terms.declare(format!("back {last} {i}"), Type::Bool)).collect();
    for (i, &b) in back.iter().enumerate() {
        let same = steps.same(&mut cfa.terms, &product.relevant, i, last);
        let b = cfa.terms.var(b);
        parts.push(cfa.terms.implies(b, same));
    }
    let any: Vec<TermId> = back.iter().map(|&b| cfa.terms.var(b)).collect();
    parts.push(cfa.terms.or(any.iter().copied()));
    for mark in 0..product.count {
        let has: Vec<LocationId> = cfa.locations().filter(|l| marks[l.index()] >> mark & 1 == 1).collect();
        let has: Vec<TermId> = has.into_iter().map(|l| steps.is_at(&mut cfa.terms, l)).collect();
        let has = cfa.terms.or(has);
        let mut somewhere = vec![];
        for at in 1..=last {
            let inside = cfa.terms.or(any[..at].iter().copied());
            let here = steps.at(&mut cfa.terms, has, at);
            somewhere.push(cfa.terms.and([inside, here]));
        }
        parts.push(cfa.terms.or(somewhere));
    }
    (cfa.terms.and(parts), back)
}

/// Locations from which edges lead to a cycle that has all marks.
fn leads_to_a_fair_cycle(cfa: &Cfa, marks: &[u64], all: u64) -> Vec<bool> {
    let count = cfa.locations().len();
    let after = |n: u32| cfa.outgoing(LocationId(n)).iter().map(|&e| cfa.edge(e).to.0).collect::<Vec<u32>>();
    let component = components(count, after);
    let (mut met, mut cyclic) = (vec![0; count], vec![false; count]);
    for n in 0..count {
        let at = component[n] as usize;
        met[at] |= marks[n];
        cyclic[at] |= after(n as u32).iter().any(|&m| component[m as usize] as usize == at);
    }
    let mut useful: Vec<bool> =
        (0..count).map(|n| cyclic[component[n] as usize] && met[component[n] as usize] & all == all).collect();
    let mut todo: Vec<usize> = (0..count).filter(|&n| useful[n]).collect();
    while let Some(n) = todo.pop() {
        for &e in cfa.incoming(LocationId(n as u32)) {
            let from = cfa.edge(e).from.index();
            if !std::mem::replace(&mut useful[from], true) {
                todo.push(from);
            }
        }
    }
    useful
}
