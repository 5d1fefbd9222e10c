//! Static orders of the variables for decision diagrams. What belongs together is read off transitions, assertions, priorities and
//! synchronisation vectors, through all levels; whoever declares a fork far from its philosophers gets the same order as who does not.
//!
//! There are several candidates, best first by how far uses stretch: the tree's own order; *FORCE* (Aloul, Markov and Sakallah 2003: each use pulls
//! its variables to its middle, again and again, while the uses get shorter); and *least front* (in the spirit of Sloan 1986: next comes the variable
//! that leaves the fewest uses open), as it is and as a start for FORCE. [`super::symbolic::Symbolic::tried`] judges them by a short trial.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use trellis_expr::VarId;

use super::{Component, ComponentId, Hierarchy, Transition, Vector};

/// How many times more often than others a variable is used that comes first. Measured: twice is too few for Lamport's fast mutual
/// exclusion, and a lift with sixteen floors needs its position on top.
const OFTEN: usize = 3;

/// Candidates, all different, the most promising first.
pub fn orders(hierarchy: &Hierarchy) -> Vec<Vec<VarId>> {
    let mut tree = vec![];
    collect(hierarchy, hierarchy.top, &mut tree);
    let uses = uses(hierarchy);
    let front = least_front(&tree, &uses);
    let forced = [forced(tree.clone(), &uses), forced(front.clone(), &uses), front].map(|o| often_first(o, &uses));
    let mut all: Vec<Vec<VarId>> = vec![];
    for order in forced.into_iter().chain([tree]) {
        if !all.contains(&order) {
            all.push(order);
        }
    }
    all.sort_by_key(|order| length(order, &uses));
    all
}

fn forced(mut order: Vec<VarId>, uses: &[Vec<usize>]) -> Vec<VarId> {
    let mut best = (length(&order, uses), order.clone());
    for _ in 0..50 {
        order = pulled(&order, uses);
        let now = length(&order, uses);
        if now >= best.0 {
            break;
        }
        best = (now, order.clone());
    }
    best.1
}

/// What is used almost everywhere tells cases apart, and comes first: below what it chooses from, all of that would have to be
/// remembered.
fn often_first(mut order: Vec<VarId>, uses: &[Vec<usize>]) -> Vec<VarId> {
    let mut used = vec![0; order.len()];
    uses.iter().flatten().for_each(|&v| used[v] += 1);
    let often = OFTEN * used.iter().sum::<usize>() / used.len().max(1);
    order.sort_by_key(|v| std::cmp::Reverse(Some(used[v.index()]).filter(|&n| n > often)));
    order
}

/// Always next the variable after which the fewest uses are open (begun and not done); of several, the one that waits longest. It begins, and begins
/// anew where nothing is open, with the variable that is used least.
fn least_front(variables: &[VarId], uses: &[Vec<usize>]) -> Vec<VarId> {
    let mut of = vec![vec![]; variables.len()];
    uses.iter().enumerate().for_each(|(u, vs)| vs.iter().for_each(|&v| of[v].push(u)));
    let mut left: Vec<usize> = uses.iter().map(Vec::len).collect();
    // Since when a variable waits: the number of the one that first opened a use of it.
    let mut waits: Vec<Option<usize>> = vec![None; variables.len()];
    let mut rest = variables.to_vec();
    let mut order = vec![];
    while !rest.is_empty() {
        let cost = |v: &VarId| {
            let change = |&u: &usize| i64::from(left[u] == uses[u].len()) - i64::from(left[u] == 1);
            let all = &of[v.index()];
            match waits[v.index()] {
                Some(since) => (false, all.iter().map(change).sum::<i64>(), since),
                None => (true, all.len() as i64, 0),
            }
        };
        let Some(at) = (0..rest.len()).min_by_key(|&i| cost(&rest[i])) else { break };
        let v = rest.remove(at);
        for &u in &of[v.index()] {
            left[u] -= 1;
            uses[u].iter().for_each(|&w| _ = waits[w].get_or_insert(order.len()));
        }
        order.push(v);
    }
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
    let (mut all, mut touched) = (vec![], Touched::default());
    for (n, component) in hierarchy.components.iter().enumerate() {
        let id = ComponentId(n as u32);
        all.extend(component.transitions.iter().map(|t| of_transition(hierarchy, t)));
        all.extend(component.assertion.iter().map(|&a| hierarchy.terms.free_vars(a)));
        // A component's variables belong together anyway.
        all.push(component.variables.iter().copied().collect());
        all.extend(component.vectors.iter().map(|v| of_vector(hierarchy, component, id, v, &mut touched)));
        for &(low, high) in &component.priorities {
            all.push(&of_event(hierarchy, id, low, &mut touched) | &of_event(hierarchy, id, high, &mut touched));
        }
    }
    all.into_iter().filter(|s| s.len() > 1).map(|s| s.into_iter().map(VarId::index).collect()).collect()
}

fn of_transition(hierarchy: &Hierarchy, t: &Transition) -> BTreeSet<VarId> {
    let mut set = hierarchy.terms.free_vars(t.guard);
    for &(v, e) in &t.updates {
        set.insert(v);
        set.extend(hierarchy.terms.free_vars(e));
    }
    set
}

/// What events touch, as far as it is known.
type Touched = FxHashMap<(ComponentId, usize), BTreeSet<VarId>>;

/// What a vector touches in the component and below it.
fn of_vector(
    hierarchy: &Hierarchy,
    c: &Component,
    id: ComponentId,
    v: &Vector,
    known: &mut Touched,
) -> BTreeSet<VarId> {
    let mut set = BTreeSet::new();
    for part in &v.parts {
        match part.sub {
            Some(sub) => set.extend(of_event(hierarchy, c.subs[sub], part.event, known)),
            None => set.extend(own(hierarchy, id, part.event)),
        }
    }
    set
}

/// What an event of a component touches: its transitions, and vectors that it takes part in.
fn of_event(hierarchy: &Hierarchy, id: ComponentId, event: usize, known: &mut Touched) -> BTreeSet<VarId> {
    if event == 0 {
        return BTreeSet::new();
    }
    if let Some(set) = known.get(&(id, event)) {
        return set.clone();
    }
    let component = hierarchy.component(id);
    let mut set = own(hierarchy, id, event);
    for v in component.vectors.iter().filter(|v| v.parts.iter().any(|p| p.sub.is_none() && p.event == event)) {
        set.extend(of_vector(hierarchy, component, id, v, known));
    }
    known.insert((id, event), set.clone());
    set
}

fn own(hierarchy: &Hierarchy, id: ComponentId, event: usize) -> BTreeSet<VarId> {
    let transitions = hierarchy.component(id).transitions.iter().filter(|t| t.event == event);
    transitions.flat_map(|t| of_transition(hierarchy, t)).collect()
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
