//! Random trees of depth 3 with priorities: Definition 5.1 written plainly, the same state by state, the claims of 001 Ch. 5, the loop
//! and its evidence. And random models in AltaRica: the loop against the plain interpreter and refinement on relations.

use std::sync::Arc;

use trellis_engine::budget::Budget;
use trellis_engine::cover::Question;
use trellis_engine::cover::cegar::{self as flat, control_locations};
use trellis_engine::hierarchy::cover::{Cover, Neat};
use trellis_engine::hierarchy::{Options, Split, cegar};
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::tree::detach::detach;
use trellis_model::hierarchy::tree::meaning::{Level, meaning, reachable};
use trellis_model::hierarchy::tree::{Behaviour, Condition, Node, Tree};

use crate::random::{Random, model};
use crate::{read, symbolic};

pub fn runs(quick: u64) -> u64 {
    std::env::var("TRELLIS_RUNS").ok().and_then(|r| r.parse().ok()).unwrap_or(quick)
}

fn behaviour(r: &mut Random, events: usize, states: usize) -> Behaviour {
    let mut moves = vec![vec![]; states];
    for from in &mut moves {
        for event in 0..events {
            let times = r.pick(&[0, 0, 1, 1, 1, 2]);
            from.extend((0..times).map(|_| (event as u32, r.below(states) as u32)));
        }
    }
    let initial = (0..states as u32).filter(|&q| q == 0 || r.chance(15)).collect();
    Behaviour::new((0..states).map(|q| format!("q{q}")).collect(), initial, moves)
}

fn node(r: &mut Random, nodes: &mut Vec<Node>, name: String, subs: Vec<usize>, priorities: bool) -> usize {
    let states = if subs.is_empty() { 2 + r.below(4) } else { 1 + r.below(2) };
    let events = 1 + r.below(3);
    let mut vectors: Vec<Vec<u32>> = vec![];
    let wanted = if subs.is_empty() { 4 } else { 2 + r.below(5) };
    for _ in 0..wanted {
        let sizes = std::iter::once(events).chain(subs.iter().map(|&s: &usize| nodes[s].events.len()));
        let vector: Vec<u32> = sizes.collect::<Vec<_>>().into_iter().map(|n| r.below(n) as u32).collect();
        if !vectors.contains(&vector) {
            vectors.push(vector);
        }
    }
    // A strict order of the events, or, now and then, of the vectors themselves.
    let count = vectors.len();
    // Now and then the behaviour of another node.
    let twin = nodes.iter().find(|n: &&Node| n.events.len() == events && n.behaviour.states.len() == states);
    let twin = twin.map(|n| n.behaviour.clone()).filter(|_| r.chance(50));
    let mut made = Node {
        name,
        events: (0..events).map(|e| format!("e{e}")).collect(),
        subs,
        vectors,
        higher: vec![vec![]; count],
        behaviour: twin.unwrap_or_else(|| Arc::new(behaviour(r, events, states))),
    };
    if priorities && r.chance(70) {
        let rank: Vec<usize> = (0..events).map(|_| r.below(3)).collect();
        made.prioritise(|low, high| rank[low as usize] < rank[high as usize]);
    }
    if priorities && r.chance(20) {
        let rank: Vec<usize> = (0..count).map(|_| r.below(3)).collect();
        made.higher = (0..count).map(|low| (0..count).filter(|&high| rank[low] < rank[high]).collect()).collect();
    }
    nodes.push(made);
    nodes.len() - 1
}

/// A tree of depth 3 and a bad condition.
fn tree(r: &mut Random, priorities: bool) -> (Tree, Condition) {
    let mut nodes = vec![];
    let mut tops = vec![];
    for m in 0..1 + r.below(2) {
        let leaves = if m == 0 { 1 + r.below(2) } else { 0 };
        let subs = (0..leaves).map(|l| node(r, &mut nodes, format!("m{m}.l{l}"), vec![], priorities)).collect();
        tops.push(node(r, &mut nodes, format!("m{m}"), subs, priorities));
    }
    node(r, &mut nodes, String::new(), tops, priorities);
    let tree = Tree::new(nodes).expect("a tree");
    let local = |r: &mut Random| {
        let node = r.below(tree.nodes().len());
        let states = (0..tree.nodes()[node].behaviour.states.len()).map(|_| r.chance(40)).collect();
        Condition::Local { node, states }
    };
    let cube = |r: &mut Random| Condition::All((0..1 + r.below(3)).map(|_| local(r)).collect());
    let mut bad = Condition::Any((0..1 + r.below(2)).map(|_| cube(r)).collect());
    if r.chance(10) {
        bad = Condition::Not(Box::new(bad));
    }
    (tree, bad)
}

fn size(tree: &Tree) -> usize {
    tree.nodes().iter().map(|n| n.behaviour.states.len()).product()
}

fn covered(tree: &Tree, covers: &[Cover]) -> Tree {
    let mut abstraction = tree.clone();
    for (n, cover) in covers.iter().enumerate() {
        abstraction.replace(n, Arc::new(cover.behaviour(&tree.nodes()[n].behaviour)));
    }
    abstraction
}

/// Random covers that are neat in one sense or the other.
fn covers(r: &mut Random, tree: &Tree, neat: Neat) -> Vec<Cover> {
    let mut covers = Cover::initial(tree, &Condition::Constant(false), neat);
    for cover in &mut covers {
        for block in 0..cover.blocks.len() as u32 {
            let mask = r.below(16);
            if r.chance(40) {
                cover.split(block, &|q| mask >> (q % 4) & 1 == 1);
            }
        }
    }
    covers
}

#[test]
fn state_by_state_is_the_definition() {
    for seed in 1..=runs(300) {
        let mut r = Random::new(seed);
        let (tree, _) = tree(&mut r, true);
        if size(&tree) > 150 {
            continue;
        }
        let levels = meaning(&tree);
        let top = &levels[tree.top()];
        for (n, q) in top.states.iter().enumerate() {
            let offers = tree.offers(q);
            // Lemma 5.7: what each node offers is Out.
            for (node, level) in levels.iter().enumerate() {
                let part = &q[tree.below(node)];
                let here = level.states.iter().position(|s| s == part).unwrap();
                let out: std::collections::BTreeSet<usize> =
                    level.out(here).into_iter().map(|e| *level.events[e].last().unwrap()).collect();
                assert_eq!(out.into_iter().collect::<Vec<_>>(), offers.vectors[node], "seed {seed}");
            }
            let expected: std::collections::BTreeSet<&Vec<u32>> =
                top.transitions.range((n, 0, 0)..(n + 1, 0, 0)).map(|t| &top.states[t.2]).collect();
            let found = tree.successors(q, 1 << 20).unwrap();
            assert_eq!(expected, found.iter().collect(), "seed {seed}");
            for target in &found {
                let vectors = tree.explain(q, target).expect("somebody takes the step");
                let flat: Vec<usize> = vectors.iter().map(|&v| v as usize).collect();
                let event = top.events.iter().position(|e| *e == flat).expect("a flat event");
                let to = top.states.iter().position(|s| s == target).unwrap();
                assert!(top.transitions.contains(&(n, event, to)), "seed {seed}");
            }
        }
    }
}

/// `Max` of a set of flat events of a node.
fn max(tree: &Tree, node: usize, level: &Level, events: &[usize]) -> Vec<usize> {
    let vector = |e: &usize| *level.events[*e].last().unwrap();
    let higher = &tree.nodes()[node].higher;
    let all = events.iter().copied();
    all.filter(|e| !events.iter().any(|f| higher[vector(e)].contains(&vector(f)))).collect()
}

/// The projections of a flat event and of two states are steps of all nodes.
fn projected(tree: &Tree, node: usize, level: &Level, q: usize, e: usize, r: usize) -> bool {
    let nodes = tree.below(node).zip(&level.events[e]);
    nodes.enumerate().all(|(at, (u, &vector))| {
        let n = &tree.nodes()[u];
        n.behaviour.targets(level.states[q][at], n.vectors[vector][0]).any(|t| t == level.states[r][at])
    })
}

#[test]
fn lemmas_5_7_and_5_8() {
    for seed in 1..=runs(200) {
        let mut r = Random::new(seed);
        let (tree, _) = tree(&mut r, true);
        if size(&tree) > 60 {
            continue;
        }
        let levels = meaning(&tree);
        for (node, level) in levels.iter().enumerate() {
            let n = &tree.nodes()[node];
            for q in 0..level.states.len() {
                let out: Vec<usize> = level.out(q).into_iter().collect();
                // Lemma 5.7, both lines.
                let before: std::collections::BTreeSet<usize> =
                    level.before.range((q, 0, 0)..(q + 1, 0, 0)).map(|t| t.1).collect();
                let before: Vec<usize> = before.into_iter().collect();
                assert_eq!(out, max(&tree, node, level, &before), "seed {seed}");
                let first = *tree.below(node).start();
                let composed = |&d: &usize| {
                    let flat = &level.events[d];
                    let own = n.vectors[*flat.last().unwrap()][0];
                    let below = n.subs.iter().all(|&sub| {
                        let range = tree.below(sub);
                        let (from, to) = (range.start() - first, range.end() - first + 1);
                        let part = levels[sub].states.iter().position(|s| *s == level.states[q][from..to]).unwrap();
                        let event = levels[sub].events.iter().position(|e| *e == flat[from..to]).unwrap();
                        levels[sub].out(part).contains(&event)
                    });
                    n.behaviour.can(*level.states[q].last().unwrap(), own) && below
                };
                let composed: Vec<usize> = (0..level.events.len()).filter(composed).collect();
                assert_eq!(out, max(&tree, node, level, &composed), "seed {seed}");
                // Lemma 5.8.
                for e in 0..level.events.len() {
                    for to in 0..level.states.len() {
                        let step = level.transitions.contains(&(q, e, to));
                        let claim = out.contains(&e) && projected(&tree, node, level, q, e, to);
                        assert_eq!(step, claim, "seed {seed}");
                    }
                }
            }
        }
    }
}

#[test]
fn proposition_5_6_for_both_kinds_of_neat_covers() {
    let mut coarser = 0;
    for seed in 1..=runs(200) {
        let mut r = Random::new(seed);
        let (tree, _) = tree(&mut r, true);
        if size(&tree) > 60 {
            continue;
        }
        let levels = meaning(&tree);
        for neat in [Neat::All, Neat::Watched] {
            let covers = covers(&mut r, &tree, neat);
            let abstraction = covered(&tree, &covers);
            let abstract_levels = meaning(&abstraction);
            for (node, level) in levels.iter().enumerate() {
                let over = &abstract_levels[node];
                let alpha = |q: &Vec<u32>| -> Vec<u32> {
                    tree.below(node).zip(q).map(|(u, &s)| covers[u].of[s as usize]).collect()
                };
                let number = |q: usize| over.states.iter().position(|s| *s == alpha(&level.states[q])).unwrap();
                // Flat events are the same, by number, because the schema is.
                for q in 0..level.states.len() {
                    let above = number(q);
                    let (out, out_above) = (level.out(q), over.out(above));
                    if neat == Neat::All {
                        assert_eq!(out, out_above, "seed {seed}");
                    } else {
                        assert!(out.is_subset(&out_above), "seed {seed}");
                        coarser += u32::from(out != out_above);
                    }
                    for e in 0..level.events.len() {
                        for to in 0..level.states.len() {
                            let step = level.transitions.contains(&(q, e, to));
                            let claim = over.transitions.contains(&(above, e, number(to)))
                                && projected(&tree, node, level, q, e, to);
                            assert_eq!(step, claim, "seed {seed}, {neat:?}");
                        }
                    }
                }
            }
        }
    }
    assert!(coarser > 0, "covers that only respect watched events were never coarser than neat ones");
}

#[test]
fn the_loop_agrees_with_the_definition() {
    let (mut safe, mut done, mut refined) = (0, 0, 0);
    for seed in 1..=runs(400) {
        let mut r = Random::new(seed);
        let priorities = r.chance(80);
        let (tree, bad) = tree(&mut r, priorities);
        if size(&tree) > 150 {
            continue;
        }
        done += 1;
        let all = reachable(&tree, &meaning(&tree));
        let reached = all.iter().any(|q| bad.holds(q));
        safe += u32::from(!reached);
        for neat in [Neat::Watched, Neat::All] {
            for split in [Split::Along, Split::Failure] {
                let options = Options { neat, split, twins: r.chance(50), limit: None };
                let found = cegar(&tree, &bad, &options, &mut Budget::unlimited());
                refined += u32::from(found.refinements > 0);
                let context = format!("seed {seed}, {options:?}");
                match &found.verdict {
                    Verdict::Safe(c) => {
                        assert!(!reached, "{context}");
                        trellis_check::tree::certify(&tree, &bad, c).unwrap_or_else(|e| panic!("{e}: {context}"));
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
    eprintln!("{done} trees, {safe} of them safe, {refined} runs with refinements");
    assert!(safe > 0 && safe < done && refined > 0);
}

#[test]
fn models_in_altarica_agree() {
    let (mut done, mut safe, mut merged, mut seed, mut refined) = (0, 0, 0, 0, 0);
    while done < runs(150) {
        seed += 1;
        let mut r = Random::new(seed);
        let deep = r.chance(25);
        let (text, bad) = model(&mut r, deep);
        let context = format!("seed {seed}, bad {bad}\n{text}");
        let (built, term) = read(&text, &bad);
        let h = &built.hierarchy;
        let Ok(meaning) = Meaning::of(h, 20_000) else { continue };
        if !h.has_priorities() {
            continue;
        }
        done += 1;
        let start = meaning.initial(h, h.top);
        let all = meaning.reachable(h.top, &start);
        let reached = meaning.satisfying(h, h.top, term).iter().any(|q| all.contains(q));
        safe += u64::from(!reached);
        let detached = detach(h, 20_000).unwrap_or_else(|e| panic!("{e}\n{context}"));
        merged += u64::from(detached.units.iter().any(|u| u.merged));
        let bad = detached.condition(h, term).unwrap_or_else(|e| panic!("{e}\n{context}"));
        let found = cegar(&detached.tree, &bad, &Options::default(), &mut Budget::unlimited());
        refined += u64::from(found.refinements > 0);
        match &found.verdict {
            Verdict::Safe(c) => {
                assert!(!reached, "{context}");
                trellis_check::tree::certify(&detached.tree, &bad, c).unwrap_or_else(|e| panic!("{e}: {context}"));
            }
            Verdict::Unsafe(t) => {
                assert!(reached, "{context}");
                trellis_check::tree::replay_nodes(h, &detached, (term, &bad), t)
                    .unwrap_or_else(|e| panic!("{e}: {context}"));
            }
            Verdict::Unknown(why) => panic!("{why}: {context}"),
        }
        // Refinement on relations.
        let m = symbolic(&built);
        let question = Question {
            hierarchy: h,
            symbolic: &m,
            initial: m.initial(h).unwrap(),
            bad: m.satisfying(h, term).unwrap(),
        };
        let locations = control_locations(&question).unwrap();
        let other = flat::cegar(&question, &locations, &flat::Options::default(), &mut Budget::unlimited());
        let same = matches!(
            (&found.verdict, &other.verdict),
            (Verdict::Safe(_), Verdict::Safe(_)) | (Verdict::Unsafe(_), Verdict::Unsafe(_))
        );
        assert!(same, "{context}");
    }
    eprintln!("{done} models, {safe} safe, {merged} with merged parts, {refined} refined, of {seed}");
    assert!(safe > 0 && safe < done && merged > 0 && refined > 0);
}
