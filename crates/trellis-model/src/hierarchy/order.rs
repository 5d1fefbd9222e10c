//! A static order of the variables for decision diagrams: the tree's own order, then moved so that variables that are used together
//! come close to each other (FORCE: each use pulls its variables to its middle, again and again, while the uses get shorter).

use std::collections::BTreeSet;

use trellis_expr::VarId;

use super::{ComponentId, Hierarchy};

/// How many times more often than others a variable is used that comes first. Measured: twice is too few for Lamport's fast mutual
/// exclusion, and a lift with sixteen floors needs its position on top.
const OFTEN: usize = 3;

/// All variables in a good order.
pub fn order(hierarchy: &Hierarchy) -> Vec<VarId> {
    let mut order = vec![];
    collect(hierarchy, hierarchy.top, &mut order);
    let uses = uses(hierarchy);
    let mut best = (length(&order, &uses), order.clone());
    for _ in 0..50 {
        order = pulled(&order, &uses);
        let now = length(&order, &uses);
        if now >= best.0 {
            break;
        }
        best = (now, order.clone());
    }
    let mut order = best.1;
    // What is used almost everywhere tells cases apart, and comes first: below what it chooses from, all of that would have to be
    // remembered.
    let mut used = vec![0; order.len()];
    uses.iter().flatten().for_each(|&v| used[v] += 1);
    let often = OFTEN * used.iter().sum::<usize>() / used.len().max(1);
    order.sort_by_key(|v| std::cmp::Reverse(Some(used[v.index()]).filter(|&n| n > often)));
    order
}

/// Components below, then the component's own.
fn collect(hierarchy: &Hierarchy, c: ComponentId, order: &mut Vec<VarId>) {
    let component = hierarchy.component(c);
    component.subs.iter().for_each(|&sub| collect(hierarchy, sub, order));
    order.extend(&component.variables);
}

/// Sets of variables that are used together.
fn uses(hierarchy: &Hierarchy) -> Vec<Vec<usize>> {
    let mut all = vec![];
    for component in &hierarchy.components {
        for t in &component.transitions {
            let mut set: BTreeSet<VarId> = hierarchy.terms.free_vars(t.guard);
            for &(v, e) in &t.updates {
                set.insert(v);
                set.extend(hierarchy.terms.free_vars(e));
            }
            all.push(set);
        }
        all.extend(component.assertion.iter().map(|&a| hierarchy.terms.free_vars(a)));
        // A component's variables belong together anyway.
        all.push(component.variables.iter().copied().collect());
    }
    all.into_iter().filter(|s| s.len() > 1).map(|s| s.into_iter().map(VarId::index).collect()).collect()
}

fn positions(order: &[VarId]) -> Vec<usize> {
    let mut at = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, v)| at[v.index()] = i);
    at
}

/// How far the uses stretch, all together.
fn length(order: &[VarId], uses: &[Vec<usize>]) -> usize {
    let at = positions(order);
    let stretch = |u: &Vec<usize>| {
        let places = || u.iter().map(|&v| at[v]);
        places().max().unwrap_or(0) - places().min().unwrap_or(0)
    };
    uses.iter().map(stretch).sum()
}

fn pulled(order: &[VarId], uses: &[Vec<usize>]) -> Vec<VarId> {
    let at = positions(order);
    let mut pull = vec![(0.0, 0.0); order.len()];
    for u in uses {
        let middle = u.iter().map(|&v| at[v] as f64).sum::<f64>() / u.len() as f64;
        for &v in u {
            pull[v].0 += middle;
            pull[v].1 += 1.0;
        }
    }
    let place = |v: &VarId| match pull[v.index()] {
        (_, 0.0) => at[v.index()] as f64,
        (sum, n) => sum / n,
    };
    let mut order = order.to_vec();
    order.sort_by(|a, b| place(a).total_cmp(&place(b)));
    order
}
