//! The examples of 001 Ch. 5: what goes wrong without neat covers, and the families that grow.

use std::sync::Arc;
use std::time::Instant;

use trellis_engine::hierarchy::cover::{Cover, Neat};
use trellis_engine::hierarchy::path::Path;
use trellis_engine::hierarchy::{Found, Options, cegar};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::tree::detach::detach;
use trellis_model::hierarchy::tree::meaning::{meaning, reachable};
use trellis_model::hierarchy::tree::{Behaviour, Condition, Node, Tree};

use crate::families::{self, Model};
use crate::read;

fn names(prefix: &str, n: usize) -> Vec<String> {
    (1..=n).map(|i| format!("{prefix}{i}")).collect()
}

fn alone(name: &str, events: &[&str], lower: &[(u32, u32)], moves: &[(u32, u32, u32)], states: usize) -> Node {
    let mut all = vec![vec![]; states];
    moves.iter().for_each(|&(from, event, to)| all[from as usize].push((event, to)));
    let mut node = Node {
        name: name.into(),
        events: events.iter().map(|e| e.to_string()).collect(),
        subs: vec![],
        vectors: (0..events.len() as u32).map(|e| vec![e]).collect(),
        higher: vec![vec![]; events.len()],
        behaviour: Arc::new(Behaviour::new(names("q", states), vec![0], all)),
    };
    node.prioritise(|a, b| lower.contains(&(a, b)));
    node
}

fn covered(tree: &Tree, covers: &[Cover]) -> Tree {
    let mut over = tree.clone();
    covers.iter().enumerate().for_each(|(n, c)| over.replace(n, Arc::new(c.behaviour(&tree.nodes()[n].behaviour))));
    over
}

/// Fig. 5.10: a ≺ b, q1 –a→ q2, q3 –b→ q4. In one block, q3's b suppresses q1's a.
#[test]
fn figure_5_10_covers_are_not_abstractions() {
    let tree = Tree::new(vec![alone("λ", &["a", "b"], &[(0, 1)], &[(0, 0, 1), (2, 1, 3)], 4)]).unwrap();
    let bad = Condition::Local { node: 0, states: vec![false, true, false, false] };
    assert!(reachable(&tree, &meaning(&tree)).contains(&vec![1]));
    // Without neatness the answer would be wrong.
    let blunt = Cover::by(4, |q| [0, 1, 0, 2][q as usize]);
    let over = covered(&tree, std::slice::from_ref(&blunt));
    assert!(!reachable(&over, &meaning(&over)).contains(&vec![blunt.of[1]]), "the abstraction has no run");
    // Ours is right.
    for neat in [Neat::Watched, Neat::All] {
        let found = cegar(&tree, &bad, &Options { neat, ..Options::default() }, &mut Meter::unlimited());
        let Verdict::Unsafe(trace) = found.verdict else { panic!("{:?}", found.verdict) };
        assert_eq!(trace.states, [[0], [1]]);
        trellis_check::tree::replay(&tree, &bad, &trace).unwrap();
    }
    // And its checker does not believe what such a cover seems to prove.
    let claim = trellis_model::hierarchy::tree::evidence::Certificate {
        blocks: vec![blunt.of.clone()],
        tuples: vec![vec![blunt.of[0]], vec![blunt.of[3]]],
        traps: vec![],
        symmetric: vec![],
    };
    assert!(trellis_check::tree::certify(&tree, &bad, &claim).is_err());
}

/// Fig. 5.11: 00 has c ≺ b, 0 has a ≺ c, λ does not know c. The cover {q1 q2 q3}, {q4 q5}, {q6 q7} has the right out sets and still
/// is no cover abstraction: it goes by a where no state does.
#[test]
fn figure_5_11_right_out_sets_are_not_enough() {
    let (a, b, c) = (0, 1, 2);
    let moves = [(0, a, 3), (1, b, 4), (2, a, 5), (2, c, 6)];
    let mut leaf = alone("00", &["a", "b", "c"], &[(c, b)], &moves, 7);
    leaf.behaviour = Arc::new(Behaviour { initial: vec![0, 1, 2], ..(*leaf.behaviour).clone() });
    let loops = |name: &str, events: &[&str], lower: &[(u32, u32)], sub: usize| {
        let moves: Vec<(u32, u32, u32)> = (0..events.len() as u32).map(|e| (0, e, 0)).collect();
        let mut node = alone(name, events, lower, &moves, 1);
        node.vectors = (0..events.len() as u32).map(|e| vec![e, e]).collect();
        node.subs = vec![sub];
        node
    };
    let tree =
        Tree::new(vec![leaf, loops("0", &["a", "b", "c"], &[(a, c)], 0), loops("λ", &["a", "b"], &[], 1)]).unwrap();
    let levels = meaning(&tree);
    let blunt = [Cover::by(7, |q| [0, 0, 0, 1, 1, 2, 2][q as usize]), Cover::by(1, |_| 0), Cover::by(1, |_| 0)];
    let over = covered(&tree, &blunt);
    let above = meaning(&over);
    let (top, top_above) = (&levels[2], &above[2]);
    let events = |level: &trellis_model::hierarchy::tree::meaning::Level, q: usize| level.out(q);
    let union: std::collections::BTreeSet<usize> = (0..3).flat_map(|q| events(top, q)).collect();
    assert_eq!(union, events(top_above, 0));
    assert!(top_above.transitions.iter().any(|&(q, e, r)| (q, r) == (0, 2) && top_above.events[e][2] == a as usize));
    assert!(!top.transitions.iter().any(|&(q, _, r)| q < 3 && r >= 5), "no state of the first block goes to the last");
    // The projections of that step are feasible, so with this cover the answer would be wrong; with ours it is not.
    let bad = Condition::Local { node: 0, states: vec![false, false, false, false, false, true, true] };
    let path = Path { states: vec![vec![0, 0, 0], vec![2, 0, 0]], steps: Arc::new(vec![vec![a, a, a]]) };
    for (node, cover) in blunt.iter().enumerate() {
        let behaviour = &tree.nodes()[node].behaviour;
        assert_eq!(path.on(&tree, node).forward(behaviour, cover, behaviour.initial.clone()).len(), 2);
    }
    for neat in [Neat::Watched, Neat::All] {
        let found = cegar(&tree, &bad, &Options { neat, ..Options::default() }, &mut Meter::unlimited());
        let Verdict::Safe(proof) = found.verdict else { panic!("{:?}", found.verdict) };
        trellis_check::tree::certify(&tree, &bad, &proof).unwrap();
    }
}

/// Checks a member of a family; the evidence is checked too.
fn check(model: &Model) -> (Found, f64) {
    check_with(model, &Options::default())
}

fn check_with(model: &Model, options: &Options) -> (Found, f64) {
    let (built, term) = read(&model.text, &model.bad);
    let started = Instant::now();
    let h = &built.hierarchy;
    let detached = detach(h, 100_000).unwrap();
    let bad = detached.condition(h, term).unwrap();
    let found = cegar(&detached.tree, &bad, options, &mut Meter::unlimited());
    let seconds = started.elapsed().as_secs_f64();
    match &found.verdict {
        Verdict::Safe(c) => trellis_check::tree::certify(&detached.tree, &bad, c).unwrap(),
        Verdict::Unsafe(t) => trellis_check::tree::replay_nodes(h, &detached, (term, &bad), t).unwrap(),
        Verdict::Unknown(why) => panic!("{why}"),
    }
    (found, seconds)
}

#[test]
fn stacks_need_no_refinement() {
    for n in 2..=40 {
        let (found, seconds) = check(&families::stack(n));
        assert!(matches!(found.verdict, Verdict::Safe(_)));
        assert_eq!((found.refinements, found.states), (0, n + 1), "{n} cells");
        eprintln!("stack {n}: {seconds:.3} s, {} behaviours", found.behaviours);
    }
}

#[test]
fn wheels_with_and_without_dysfunction() {
    for dysfunction in [false, true] {
        for n in [2, 3, 5, 10, 20] {
            let (found, seconds) = check(&families::wheels(n, dysfunction));
            assert!(matches!(found.verdict, Verdict::Safe(_)), "{n} wheels");
            eprintln!(
                "wheels {n} {dysfunction}: {seconds:.3} s, {} states, {} refinements",
                found.states, found.refinements
            );
        }
    }
    let (found, _) = check(&families::count(8));
    let Verdict::Unsafe(trace) = found.verdict else { panic!("{:?}", found.verdict) };
    assert_eq!(trace.steps.len(), 255);
}

#[test]
fn the_false_property_of_queues() {
    for n in 2..=8 {
        let (found, seconds) = check(&families::fifo(n));
        let Verdict::Unsafe(trace) = &found.verdict else { panic!("{:?}", found.verdict) };
        eprintln!("fifo {n}: {seconds:.3} s, {} steps, {} states", trace.steps.len(), found.states);
    }
}

#[test]
fn token_rings() {
    for n in [2, 3, 4, 6, 8, 10] {
        let (found, seconds) = check(&families::ring(n));
        assert!(matches!(found.verdict, Verdict::Safe(_)), "{n} stations");
        eprintln!("ring {n}: {seconds:.3} s, {} states, {} refinements", found.states, found.refinements);
    }
}

/// What can never become bad is not explored.
#[test]
fn pruning_turns_away_at_the_first_broken_pump() {
    for n in [2, 5, 10, 30] {
        let (found, _) = check(&families::alarm(n));
        assert!(matches!(found.verdict, Verdict::Safe(_)));
        assert_eq!((found.states, found.pruned), (1, n as u64));
    }
    // Without, all states are explored; pumps are siblings, so it only matters how many are broken.
    for n in [2, 5, 8] {
        for (symmetry, states) in [(false, (1 << (n + 1)) - 1), (true, 2 * n + 1)] {
            let options = Options { pruning: false, symmetry, ..Options::default() };
            let (found, _) = check_with(&families::alarm(n), &options);
            assert!(matches!(found.verdict, Verdict::Safe(_)));
            assert_eq!(found.states, states);
        }
    }
}
