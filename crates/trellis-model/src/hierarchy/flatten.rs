//! `Flatten`: a hierarchy as one node (001 §2.2.3, Fig. 2.16–2.17). Vectors become events, priorities go into guards.
//!
//! A cross-check for small models, and nothing else: whether a transition is possible depends on flows that may have any values
//! afterwards, and here all of them are written out.

use rustc_hash::FxHashMap;
use trellis_expr::{TermId, Terms, VarId};

use super::{Component, ComponentId, Domain, Hierarchy, Levels, Transition, Variable};

/// A transition of a component with all that is below it.
#[derive(Debug, Clone)]
struct FlatTransition {
    guard: TermId,
    updates: Vec<(VarId, TermId)>,
}

/// The same as one node, whose events are the flat events of the top in the same order; nothing if it would be too large: the limit is
/// for transitions of one event, and for values of flows.
pub fn flatten(hierarchy: &Hierarchy, limit: usize) -> Option<Hierarchy> {
    let levels = hierarchy.levels().ok()?;
    let mut terms = hierarchy.terms.clone();
    let mut below: Vec<Vec<Vec<FlatTransition>>> = vec![];
    for number in 0..hierarchy.components.len() {
        let moves = lifted(hierarchy, &levels, ComponentId(number as u32), &below, &mut terms, limit)?;
        below.push(moves);
    }
    let top = hierarchy.top;
    let moves = &below[top.index()];
    let name = |n: usize| if n == 0 { String::new() } else { levels.show(hierarchy, top, n) };
    let transition =
        |(event, m): (usize, &FlatTransition)| Transition { event, guard: m.guard, updates: m.updates.clone() };
    let node = Component {
        path: String::new(),
        node: format!("{}, flattened", hierarchy.component(top).node),
        variables: hierarchy.variables_below(top),
        subs: vec![],
        events: (0..moves.len()).map(name).collect(),
        priorities: vec![],
        transitions: moves
            .iter()
            .enumerate()
            .skip(1)
            .flat_map(|(e, list)| list.iter().map(move |m| (e, m)))
            .map(transition)
            .collect(),
        assertion: assertion(hierarchy, top),
        init: hierarchy.initial(top),
        vectors: vec![],
    };
    let owned = |v: &Variable| Variable { owner: ComponentId(0), ..v.clone() };
    let variables = hierarchy.variables.iter().map(owned).collect();
    Some(Hierarchy { terms, literals: hierarchy.literals, variables, components: vec![node], top: ComponentId(0) })
}

/// Where a flattened node can do nothing; nothing if that is too large.
pub fn stuck(flat: &Hierarchy, terms: &mut Terms, limit: usize) -> Option<TermId> {
    let admissible = admissible(flat, flat.top, terms, limit)?;
    let mut possible = vec![];
    for t in &flat.component(flat.top).transitions {
        let after =
            post_condition(flat, &FlatTransition { guard: t.guard, updates: t.updates.clone() }, admissible, terms);
        possible.push(terms.and([t.guard, after]));
    }
    let any = terms.or(possible);
    Some(terms.not(any))
}

/// All assertions at or below a component.
fn assertion(hierarchy: &Hierarchy, c: ComponentId) -> Vec<TermId> {
    let component = hierarchy.component(c);
    let below = component.subs.iter().flat_map(|&sub| assertion(hierarchy, sub));
    component.assertion.iter().copied().chain(below).collect()
}

/// For each flat event of a component, its transitions, with what has priority in their guards.
fn lifted(
    hierarchy: &Hierarchy,
    levels: &Levels,
    c: ComponentId,
    below: &[Vec<Vec<FlatTransition>>],
    terms: &mut Terms,
    limit: usize,
) -> Option<Vec<Vec<FlatTransition>>> {
    let component = hierarchy.component(c);
    let mut all: Vec<Vec<FlatTransition>> = vec![];
    for event in levels.of(c) {
        let own = component.transitions.iter().filter(|t| t.event == event.label && event.label != 0);
        let mut moves: Vec<FlatTransition> =
            own.map(|t| FlatTransition { guard: t.guard, updates: t.updates.clone() }).collect();
        if event.label == 0 {
            moves.push(FlatTransition { guard: terms.bool(true), updates: vec![] });
        }
        for (sub, &n) in component.subs.iter().zip(&event.subs) {
            let others = &below[sub.index()][n];
            if moves.len() * others.len() > limit {
                return None;
            }
            let mut both = vec![];
            for a in &moves {
                for b in others {
                    let guard = terms.and([a.guard, b.guard]);
                    both.push(FlatTransition { guard, updates: a.updates.iter().chain(&b.updates).copied().collect() });
                }
            }
            moves = both;
        }
        all.push(moves);
    }
    let higher = |low: usize| (0..levels.choices[c.index()].len()).filter(move |&h| levels.lower(hierarchy, c, low, h));
    if (0..levels.choices[c.index()].len()).all(|low| higher(low).next().is_none()) {
        return Some(all);
    }
    // What is possible, for each choice, before anything is taken away.
    let admissible = admissible(hierarchy, c, terms, limit)?;
    let mut possible: FxHashMap<usize, Vec<TermId>> = FxHashMap::default();
    for (event, moves) in levels.of(c).iter().zip(&all) {
        for m in moves {
            let after = post_condition(hierarchy, m, admissible, terms);
            let here = terms.and([m.guard, after]);
            possible.entry(event.choice).or_default().push(here);
        }
    }
    for (event, moves) in levels.of(c).iter().zip(&mut all) {
        let better: Vec<TermId> =
            higher(event.choice).flat_map(|h| possible.get(&h).cloned().unwrap_or_default()).collect();
        let better = terms.or(better);
        let none = terms.not(better);
        for m in moves {
            m.guard = terms.and([m.guard, none]);
        }
    }
    Some(all)
}

/// The states that have a configuration: for some values of the flows, written out.
fn admissible(hierarchy: &Hierarchy, c: ComponentId, terms: &mut Terms, limit: usize) -> Option<TermId> {
    let all = assertion(hierarchy, c);
    let whole = terms.and(all);
    let mut cases = vec![whole];
    for v in hierarchy.variables_below(c).into_iter().filter(|v| hierarchy.variable(*v).flow) {
        let domain = &hierarchy.variable(v).domain;
        let values = domain.values(limit as u64)?;
        if cases.len() * values.len() > limit {
            return None;
        }
        let mut next = vec![];
        for n in values {
            let value = literal(hierarchy, domain, n, terms);
            let map: FxHashMap<VarId, TermId> = [(v, value)].into_iter().collect();
            for &case in &cases {
                next.push(terms.substitute(case, &map));
            }
        }
        cases = next;
    }
    Some(terms.or(cases))
}

fn literal(hierarchy: &Hierarchy, domain: &Domain, n: i64, terms: &mut Terms) -> TermId {
    match domain {
        Domain::Bool => terms.bool(n != 0),
        Domain::Literals(_) => terms.enum_lit(hierarchy.literals, n as u32),
        _ => terms.int(n),
    }
}

/// Is there a configuration after the updates (001's `pc`)?
fn post_condition(hierarchy: &Hierarchy, m: &FlatTransition, admissible: TermId, terms: &mut Terms) -> TermId {
    let mut all = vec![];
    for &(v, e) in &m.updates {
        match &hierarchy.variable(v).domain {
            Domain::Range(low, high) => {
                let (low, high) = (terms.int(*low), terms.int(*high));
                all.extend([terms.le(low, e), terms.le(e, high)]);
            }
            domain @ Domain::Literals(values) => {
                let fits = values.iter().map(|&n| {
                    let value = literal(hierarchy, domain, n.into(), terms);
                    terms.eq(e, value)
                });
                let fits: Vec<TermId> = fits.collect();
                all.push(terms.or(fits));
            }
            Domain::Bool | Domain::Integer => {}
        }
    }
    let map: FxHashMap<VarId, TermId> = m.updates.iter().copied().collect();
    all.push(terms.substitute(admissible, &map));
    terms.and(all)
}
