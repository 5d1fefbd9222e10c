//! Random trees with sub-nodes that can be exchanged, some of them within each other: with and without symmetry the answers are those of
//! Definition 5.1, and nobody believes in siblings that are none.

use std::collections::BTreeSet;
use std::sync::Arc;

use trellis_engine::hierarchy::{Options, cegar};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::tree::evidence::Certificate;
use trellis_model::hierarchy::tree::meaning::{meaning, reachable};
use trellis_model::hierarchy::tree::siblings::Siblings;
use trellis_model::hierarchy::tree::{Behaviour, Condition, Node, Tree};

use crate::random::Random;
use crate::tree::{runs, size, ways};

/// A behaviour of few states.
fn behaviour(r: &mut Random, states: usize, events: usize) -> Arc<Behaviour> {
    let mut moves = vec![vec![]; states];
    for from in &mut moves {
        for event in 0..events as u32 {
            let times = r.pick(&[0, 1, 1, 1, 2]);
            from.extend((0..times).map(|_| (event, r.below(states) as u32)));
        }
    }
    let initial = (0..states as u32).filter(|&q| q == 0 || r.chance(15)).collect();
    Arc::new(Behaviour::new((0..states).map(|q| format!("q{q}")).collect(), initial, moves))
}

/// A node whose last sub-nodes, so many, are siblings: its vectors are closed under exchanges of these.
fn above(r: &mut Random, nodes: &mut Vec<Node>, name: String, subs: Vec<usize>, siblings: usize) -> usize {
    let (states, events) = (1 + r.below(2), 1 + r.below(3));
    let mut vectors: Vec<Vec<u32>> = vec![];
    for _ in 0..1 + r.below(3) {
        let sizes: Vec<usize> =
            std::iter::once(events).chain(subs.iter().map(|&s: &usize| nodes[s].events.len())).collect();
        vectors.push(sizes.into_iter().map(|n| r.below(n) as u32).collect());
    }
    let from = 1 + subs.len() - siblings;
    let mut at = 0;
    while at < vectors.len() {
        for (a, b) in (from..from + siblings).flat_map(|a| (from..a).map(move |b| (a, b))) {
            let mut image = vectors[at].clone();
            image.swap(a, b);
            if !vectors.contains(&image) {
                vectors.push(image);
            }
        }
        at += 1;
    }
    vectors.sort();
    vectors.dedup();
    let behaviour = behaviour(r, states, events);
    let events = (0..events).map(|e| format!("e{e}")).collect();
    let higher = vec![vec![]; vectors.len()];
    let mut made = Node { name, events, subs, vectors, higher, behaviour };
    if r.chance(60) {
        let rank: Vec<usize> = (0..made.events.len()).map(|_| r.below(3)).collect();
        made.prioritise(|low, high| rank[low as usize] < rank[high as usize]);
    }
    nodes.push(made);
    nodes.len() - 1
}

/// The same node below another one.
fn copied(nodes: &mut Vec<Node>, range: std::ops::RangeInclusive<usize>, name: &str) -> usize {
    let shift = nodes.len() - range.start();
    for n in range {
        let mut node = nodes[n].clone();
        node.name = format!("{name}.{n}");
        node.subs.iter_mut().for_each(|s| *s += shift);
        nodes.push(node);
    }
    nodes.len() - 1
}

/// A condition, or what becomes of it when nodes have changed places.
fn moved(c: &Condition, goes: &dyn Fn(usize) -> usize) -> Condition {
    let list = |all: &[Condition]| all.iter().map(|c| moved(c, goes)).collect();
    match c {
        Condition::Constant(b) => Condition::Constant(*b),
        Condition::Local { node, states } => Condition::Local { node: goes(*node), states: states.clone() },
        Condition::Not(a) => Condition::Not(Box::new(moved(a, goes))),
        Condition::All(all) => Condition::All(list(all)),
        Condition::Any(all) => Condition::Any(list(all)),
    }
}

/// A tree in which some nodes were made to be siblings, the exchanges that show it, and a condition that does not notice them, or may.
fn symmetric(r: &mut Random) -> (Tree, Condition) {
    let mut nodes: Vec<Node> = vec![];
    let leaf = |r: &mut Random, nodes: &mut Vec<Node>, name: String| {
        let (states, events) = (2 + r.below(2), 1 + r.below(2));
        let behaviour = behaviour(r, states, events);
        let vectors: Vec<Vec<u32>> = (0..events as u32).map(|e| vec![e]).collect();
        let names = (0..events).map(|e| format!("e{e}")).collect();
        nodes.push(Node { name, events: names, subs: vec![], higher: vec![vec![]; events], vectors, behaviour });
        nodes.len() - 1
    };
    let mut exchanges: Vec<Vec<(usize, usize)>> = vec![];
    let mut exchange = |pairs: Vec<(usize, usize)>| exchanges.push(pairs);
    let (first, tops, siblings) = if r.chance(40) {
        // Two nodes that are siblings, each with two leaves that are.
        let a = leaf(r, &mut nodes, "m.a".into());
        let b = copied(&mut nodes, a..=a, "m.b");
        let m = above(r, &mut nodes, "m".into(), vec![a, b], 2);
        let n = copied(&mut nodes, a..=m, "n");
        exchange(vec![(a, b)]);
        exchange((a..=m).map(|x| (x, x + m + 1)).collect());
        exchange(vec![(a + m + 1, b + m + 1)]);
        (0, vec![m, n], 2)
    } else {
        let other = r.chance(50).then(|| leaf(r, &mut nodes, "o".into()));
        let a = leaf(r, &mut nodes, "t0".into());
        let more = 1 + r.below(2);
        let all: Vec<usize> =
            std::iter::once(a).chain((0..more).map(|k| copied(&mut nodes, a..=a, &format!("t{k}")))).collect();
        all[1..].iter().for_each(|&b| exchange(vec![(a, b)]));
        let siblings = all.len();
        (a, other.into_iter().chain(all).collect(), siblings)
    };
    above(r, &mut nodes, String::new(), tops, siblings);
    let tree = Tree::new(nodes).expect("a tree");
    let local = |r: &mut Random| {
        let node = if r.chance(70) { first + r.below(tree.nodes().len() - first) } else { r.below(tree.nodes().len()) };
        let states = (0..tree.nodes()[node].behaviour.states.len()).map(|_| r.chance(40)).collect();
        Condition::Local { node, states }
    };
    let mut cubes = vec![Condition::All((0..2 + r.below(2)).map(|_| local(r)).collect())];
    // Closed under the exchanges, most of the time.
    if r.chance(80) {
        let mut at = 0;
        while at < cubes.len() {
            for pairs in &exchanges {
                let goes = |n: usize| {
                    let to = pairs.iter().find_map(|&(x, y)| if x == n { Some(y) } else { (y == n).then_some(x) });
                    to.unwrap_or(n)
                };
                let image = moved(&cubes[at], &goes);
                if !cubes.contains(&image) {
                    cubes.push(image);
                }
            }
            at += 1;
        }
    }
    (tree, Condition::Any(cubes))
}

#[test]
fn twins_count_as_one() {
    let (mut done, mut safe, mut shared, mut refined, mut nested, mut seed) = (0, 0, 0, 0, 0, 0);
    let mut states = [0, 0];
    while done < runs(300) {
        seed += 1;
        let mut r = Random::new(seed);
        let (tree, bad) = symmetric(&mut r);
        if size(&tree) > 300 {
            continue;
        }
        done += 1;
        let levels = meaning(&tree);
        let all = reachable(&tree, &levels);
        let reached = all.iter().any(|q| bad.holds(q));
        safe += u64::from(!reached);
        let siblings = Siblings::find(&tree, &bad);
        nested += u64::from(siblings.groups.len() == 3);
        // States that stand for each other are reached together, and bad together.
        for q in &levels[tree.top()].states {
            let sorted = siblings.sorted(&tree, q);
            assert_eq!(bad.holds(q), bad.holds(&sorted), "seed {seed}");
            assert_eq!(all.contains(q), all.contains(&sorted), "seed {seed}");
            assert_eq!(siblings.sorted(&tree, &sorted), sorted, "seed {seed}");
        }
        for options in ways() {
            for symmetry in [true, false] {
                let options = Options { symmetry, ..options };
                let found = cegar(&tree, &bad, &options, &mut Meter::unlimited());
                let context = format!("seed {seed}, {options:?}");
                states[usize::from(symmetry)] += found.states;
                shared += u64::from(found.symmetric > 0);
                refined += u64::from(found.symmetric > 0 && found.refinements > 0);
                assert!(symmetry || found.symmetric == 0);
                match &found.verdict {
                    Verdict::Safe(c) => {
                        assert!(!reached, "{context}");
                        trellis_check::tree::certify(&tree, &bad, c).unwrap_or_else(|e| panic!("{e}: {context}"));
                        forged(&mut r, &tree, &bad, c, &siblings, &all, &context);
                    }
                    Verdict::Unsafe(t) => {
                        assert!(reached, "{context}");
                        trellis_check::tree::replay(&tree, &bad, t).unwrap_or_else(|e| panic!("{e}: {context}"));
                    }
                    Verdict::Unknown(why) => panic!("{why}: {context}"),
                }
            }
        }
    }
    eprintln!(
        "{done} trees, {safe} safe, {nested} with siblings within siblings; {shared} runs with siblings, {refined} refined"
    );
    eprintln!("abstract states with symmetry {}, without {}", states[1], states[0]);
    assert!(safe > 0 && safe < done && refined > 0 && nested > 0 && states[1] < states[0]);
}

/// A claim that nodes are symmetric which are not is refused, unless the proof holds without it.
fn forged(
    r: &mut Random,
    tree: &Tree,
    bad: &Condition,
    proof: &Certificate,
    siblings: &Siblings,
    reachable: &BTreeSet<Vec<u32>>,
    context: &str,
) {
    let count = tree.nodes().len();
    let (a, b) = (r.below(count), r.below(count));
    if siblings.groups.iter().any(|g| g.contains(&a) && g.contains(&b)) {
        return;
    }
    let mut claim = proof.clone();
    claim.symmetric = vec![vec![a, b]];
    claim.tuples.truncate(r.below(claim.tuples.len() + 1));
    if trellis_check::tree::certify(tree, bad, &claim).is_ok() {
        // Then it is a proof: every state that can be reached is in it.
        assert!(!reachable.iter().any(|q| bad.holds(q)), "{context}");
        let goes = |n: usize| {
            if n == a {
                b
            } else if n == b {
                a
            } else {
                n
            }
        };
        let covered = |q: &Vec<u32>| {
            let tuple: Vec<u32> = claim.blocks.iter().zip(q).map(|(of, &s)| of[s as usize]).collect();
            let mirrored: Vec<u32> = (0..count).map(|n| tuple[goes(n)]).collect();
            let listed = |t: &Vec<u32>| {
                claim.tuples.contains(t)
                    || claim.traps.iter().any(|trap| trap.iter().zip(t).all(|(blocks, b)| blocks.contains(b)))
            };
            listed(&tuple) || listed(&mirrored)
        };
        assert!(reachable.iter().all(covered), "{context}");
    }
}

/// Clients of one server, all symmetric: as many abstract states as there are numbers of them in each phase, not as there are clients in phases.
#[test]
fn clients_are_counted() {
    for n in [3, 6, 12] {
        let model = crate::families::clients(n);
        let (built, bad) = crate::read(&model.text, &model.bad);
        let detached = trellis_model::hierarchy::tree::detach::detach(&built.hierarchy, 1 << 20).expect("small");
        let bad = detached.condition(&built.hierarchy, bad).expect("local");
        let found = cegar(&detached.tree, &bad, &Options::default(), &mut Meter::unlimited());
        assert_eq!(found.symmetric, n - 1);
        let Verdict::Safe(proof) = &found.verdict else { panic!("{:?}", found.verdict) };
        trellis_check::tree::certify(&detached.tree, &bad, proof).expect("a proof");
        assert!(found.states <= 2 * (n + 1) * (n + 2), "{n}: {}", found.states);
        // One of them is asked about alone: it is no sibling of the others.
        let one = Condition::All(vec![bad.clone(), Condition::Local { node: 0, states: vec![true; 3] }]);
        assert_eq!(Siblings::find(&detached.tree, &one).groups[0].len(), n - 1);
    }
}
