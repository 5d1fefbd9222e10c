//! Acheck's `quot()` and `modes()`: what another tool printed for the valves of the tank, and random graphs and models against plain
//! definitions.

use std::collections::{BTreeMap, BTreeSet};

use trellis_domain::relation::Memory;
use trellis_engine::acheck::Specification;
use trellis_engine::acheck::draw::{Graph, Quotient};
use trellis_engine::budget::Budget;
use trellis_model::acheck::{Of, Set};
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_syntax::altarica::parse;
use trellis_syntax::diag::Sources;

use crate::random::{Random, model};
use crate::read;

fn graph(h: &Hierarchy, most: usize) -> Option<Graph> {
    let symbolic = Symbolic::new(h, 2, Memory { nodes: 1 << 20, cache: 1 << 14 }).expect("small");
    let sets = Specification::new(h, &symbolic, &mut Budget::unlimited()).expect("small");
    sets.graph(&Set::Any(Of::States), &Set::Any(Of::Transitions), most).expect("small")
}

/// EmileRolley/altarica-project, `Graphs/Valve-quot.dot`, `Valve-modes.dot` and the same for the virtual valve.
#[test]
fn valves() {
    let mut sources = Sources::default();
    let id = sources.add("tank.alt", include_str!("../../../../models/altarica/tank.alt"));
    let (file, _) = parse(&sources, id).expect("a model");
    let of = |name: &str| {
        let nodes = file.nodes();
        let node = nodes.into_iter().find(|n| n.text == name).expect("there");
        let h = file.build(node, &[]).expect("built").0.hierarchy;
        let flows: Vec<bool> = h.variables.iter().map(|v| v.flow).collect();
        let g = graph(&h, 1000).expect("small");
        (g.quotient(&[]), g.modes(&flows))
    };
    let (quotient, modes) = of("Valve");
    assert_eq!((quotient.classes.len(), quotient.steps.len()), (1, 3));
    assert_eq!((modes.modes.len(), modes.steps.len()), (6, 24));
    assert!(modes.steps.values().all(Option::is_none));
    let (quotient, modes) = of("ValveVirtual");
    assert_eq!((quotient.classes.len(), quotient.steps.len()), (6, 20));
    let mut sizes: Vec<usize> = quotient.classes.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 1, 2, 2, 2]);
    assert_eq!((modes.modes.len(), modes.steps.len()), (3, 7));
    // Doing nothing is always possible, the others only where the flow is what the state is.
    for ((from, event, _), when) in &modes.steps {
        let expected = (*event != 0).then(|| BTreeSet::from([modes.modes[*from].clone()]));
        assert_eq!(*when, expected);
    }
}

/// The greatest relation that is a bisimulation and respects marks, pair by pair.
fn bisimilar(g: &Graph, marks: &[Vec<bool>]) -> BTreeSet<(usize, usize)> {
    let count = g.configurations.len();
    let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b)));
    let mut all: BTreeSet<(usize, usize)> = pairs.filter(|&(a, b)| marks.iter().all(|m| m[a] == m[b])).collect();
    loop {
        let follows = |a: usize, b: usize| {
            g.steps.iter().filter(|s| s.0 == a).all(|&(_, event, to)| {
                g.steps.iter().any(|&(from, e, other)| from == b && e == event && all.contains(&(to, other)))
            })
        };
        let next: BTreeSet<_> = all.iter().copied().filter(|&(a, b)| follows(a, b) && follows(b, a)).collect();
        if next == all {
            return all;
        }
        all = next;
    }
}

fn check(g: &Graph, marks: &[Vec<bool>], context: &str) -> Quotient {
    let (q, pairs) = (g.quotient(marks), bisimilar(g, marks));
    let found = q.classes.iter().flat_map(|c| c.iter().flat_map(move |&a| c.iter().map(move |&b| (a, b))));
    assert_eq!(found.collect::<BTreeSet<_>>(), pairs, "{context}");
    let class = |n: usize| q.classes.iter().position(|c| c.contains(&n)).expect("each is in one");
    let steps: BTreeSet<_> = g.steps.iter().map(|&(from, event, to)| (class(from), event, class(to))).collect();
    assert_eq!(q.steps, steps, "{context}");
    q
}

#[test]
fn random_graphs() {
    let mut between = 0;
    for seed in 1..=300 {
        let mut r = Random::new(seed);
        let count = 1 + r.below(9);
        let steps = (0..r.below(3 * count)).map(|_| (r.below(count), r.below(2), r.below(count))).collect();
        let g = Graph { configurations: vec![vec![]; count], initial: vec![], steps };
        let marks: Vec<Vec<bool>> = (0..r.below(3)).map(|_| (0..count).map(|_| r.chance(30)).collect()).collect();
        let classes = check(&g, &marks, &format!("seed {seed} {g:?} {marks:?}")).classes.len();
        between += usize::from(classes > 1 && classes < count);
    }
    assert!(between > 50, "{between}");
}

#[test]
fn random_models() {
    let (mut done, mut seed, mut guarded) = (0, 0, 0);
    while done < 40 {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, bad) = model(&mut r, true);
        let (built, bad) = read(&text, &bad);
        let h = &built.hierarchy;
        let Ok(meaning) = Meaning::of(h, 2_000) else { continue };
        let level = &meaning.components[h.top.index()];
        let order = h.variables_below(h.top);
        let row = |n: usize| {
            let mut values = vec![0; order.len()];
            order.iter().zip(&level.configurations[n]).for_each(|(v, &value)| values[v.index()] = value);
            values
        };
        let reachable = meaning.reachable(h.top, &meaning.initial(h, h.top));
        if reachable.len() > 60 || reachable.is_empty() {
            continue;
        }
        done += 1;
        let g = graph(h, 100_000).expect("small");
        let mark: Vec<bool> = {
            let bad: BTreeSet<Vec<i64>> = meaning.satisfying(h, h.top, bad).into_iter().map(row).collect();
            g.configurations.iter().map(|c| bad.contains(c)).collect()
        };
        check(&g, &[mark], &text);
        // Modes, by what they are.
        let flows: Vec<bool> = h.variables.iter().map(|v| v.flow).collect();
        let part = |values: &[i64], flow: bool| -> Vec<i64> {
            values.iter().zip(&flows).filter(|(_, f)| **f == flow).map(|(v, _)| *v).collect()
        };
        let m = g.modes(&flows);
        let states: BTreeSet<Vec<i64>> = reachable.iter().map(|&n| part(&row(n), false)).collect();
        assert_eq!(m.modes.iter().cloned().collect::<BTreeSet<_>>(), states, "{text}");
        assert_eq!(m.modes.len(), states.len(), "{text}");
        let mut when: BTreeMap<(Vec<i64>, usize, Vec<i64>), BTreeSet<Vec<i64>>> = BTreeMap::new();
        for &(from, event, to) in level.transitions.iter().filter(|t| reachable.contains(&t.0)) {
            let (from, to) = (row(from), row(to));
            when.entry((part(&from, false), event, part(&to, false))).or_default().insert(part(&from, true));
        }
        let found: BTreeMap<_, _> = (m.steps.iter())
            .map(|(&(from, event, to), flows)| {
                let all = || {
                    let here = g.configurations.iter().filter(|c| part(c, false) == m.modes[from]);
                    here.map(|c| part(c, true)).collect()
                };
                guarded += usize::from(flows.is_some());
                ((m.modes[from].clone(), event, m.modes[to].clone()), flows.clone().unwrap_or_else(all))
            })
            .collect();
        assert_eq!(found, when, "{text}");
    }
    assert!(guarded > 0);
}
