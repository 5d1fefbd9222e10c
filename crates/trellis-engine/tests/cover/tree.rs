//! Random trees of depth 3 with priorities: Definition 5.1 written plainly, the same state by state, the claims of 001 Ch. 5, the loop
//! and its evidence.

use std::sync::Arc;

use trellis_engine::hierarchy::cover::{Cover, Neat};
use trellis_engine::hierarchy::{Options, Split, cegar};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::tree::meaning::{Level, meaning, reachable};
use trellis_model::hierarchy::tree::{Behaviour, Condition, Node, Tree};

use crate::random::Random;

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
    let sibling = nodes.iter().find(|n: &&Node| n.events.len() == events && n.behaviour.states.len() == states);
    let sibling = sibling.map(|n| n.behaviour.clone()).filter(|_| r.chance(50));
    let mut made = Node {
        name,
        events: (0..events).map(|e| format!("e{e}")).collect(),
        subs,
        vectors,
        higher: vec![vec![]; count],
        behaviour: sibling.unwrap_or_else(|| Arc::new(behaviour(r, events, states))),
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
pub fn tree(r: &mut Random, priorities: bool) -> (Tree, Condition) {
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

/// A node of a tree that needs refinements: the states of most lie in a row, which is walked up and down with few exceptions, so that what is
/// bad is far away, and first covers blur the way.
fn row(r: &mut Random, nodes: &mut Vec<Node>, name: String, subs: Vec<usize>) -> usize {
    let leaf = subs.is_empty();
    let events = if leaf { 3 } else { 2 + r.below(2) };
    let count = if leaf { 4 + r.below(3) as u32 } else { r.pick(&[1, 1, 2, 3]) };
    let mut moves = vec![vec![]; count as usize];
    for (q, all) in (0..).zip(&mut moves) {
        for event in 0..events as u32 {
            let to = match event {
                0 => q,
                1 => (q + 1).min(count - 1),
                _ => r.pick(&[0, q.saturating_sub(1)]),
            };
            match r.below(14) {
                0 if event > 0 => {}
                1 if event > 0 => all.push((event, r.below(count as usize) as u32)),
                _ => all.push((event, to)),
            }
        }
    }
    let mut vectors: Vec<Vec<u32>> = vec![];
    let wanted = if leaf { events } else { 1 + subs.len() + r.below(4) };
    for number in 0..wanted {
        let own = if leaf { number } else { r.below(events) };
        let mut vector = vec![if number <= subs.len() && !leaf { number.min(1) } else { own } as u32];
        for (i, sub) in subs.iter().enumerate() {
            // All rest; then one goes up alone; then anything.
            let event = match number {
                0 => 0,
                n if n == i + 1 => 1,
                n if n <= subs.len() && r.chance(70) => 0,
                _ => r.below(nodes[*sub].events.len()) as u32,
            };
            vector.push(event);
        }
        if !vectors.contains(&vector) {
            vectors.push(vector);
        }
    }
    let (higher, behaviour) = (
        vec![vec![]; vectors.len()],
        Arc::new(Behaviour::new((0..count).map(|q| format!("q{q}")).collect(), vec![0], moves)),
    );
    let events = (0..events).map(|e| format!("e{e}")).collect();
    let mut made = Node { name, events, subs, vectors, higher, behaviour };
    // To rest, which is always possible, seldom comes before the rest.
    let lowest = r.chance(85);
    let rank: Vec<usize> =
        (0..made.vectors.len().max(3)).map(|n| if n == 0 && lowest { 0 } else { r.below(3) }).collect();
    match r.below(if leaf { 12 } else { 5 }) {
        0 | 1 => made.prioritise(|low, high| rank[low as usize] < rank[high as usize]),
        2 => {
            let all = 0..made.vectors.len();
            made.higher = all.clone().map(|low| all.clone().filter(|&high| rank[low] < rank[high]).collect()).collect();
        }
        _ => {}
    }
    nodes.push(made);
    nodes.len() - 1
}

/// A tree of depth 3, most of them in need of refinements, and a bad condition: that some nodes are at the ends of their rows.
pub fn rows(r: &mut Random) -> (Tree, Condition) {
    let mut nodes = vec![];
    let leaves = (0..1 + r.below(2)).map(|l| row(r, &mut nodes, format!("m.l{l}"), vec![])).collect();
    let mut subs = vec![row(r, &mut nodes, "m".into(), leaves)];
    if r.chance(60) {
        subs.push(row(r, &mut nodes, "n".into(), vec![]));
    }
    row(r, &mut nodes, String::new(), subs);
    let tree = Tree::new(nodes).expect("a tree");
    let long = |n: &usize| tree.nodes()[*n].behaviour.states.len() > 3;
    let mut all = vec![];
    for node in (0..tree.nodes().len()).filter(long) {
        let last = tree.nodes()[node].behaviour.states.len() - 1;
        let from = r.pick(&[last, last, last - 1]);
        let first = r.chance(15);
        let states = (0..=last).map(|q| if first { q == 0 } else { q >= from }).collect();
        if all.is_empty() || r.chance(40) {
            all.push(Condition::Local { node, states });
        }
    }
    (tree, Condition::All(all))
}

pub fn size(tree: &Tree) -> usize {
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

/// All ways to go about it.
pub fn ways() -> Vec<Options> {
    let mut all = vec![];
    for neat in [Neat::Watched, Neat::All] {
        for split in [Split::Along, Split::Failure, Split::Interpolants] {
            for pruning in [true, false] {
                all.push(Options { neat, split, pruning, ..Options::default() });
            }
        }
    }
    all
}

/// What many trees said.
#[derive(Default)]
struct Tally {
    done: u64,
    safe: u64,
    /// Trees for which some way refines, and some way with pruning that prunes, certifies, interpolates.
    refined: u64,
    pruned: u64,
    certified: u64,
    interpolated: u64,
    /// Refinements and abstract states in all, without pruning and with it.
    work: [(u64, u64); 2],
}

/// For each state of a tree, whether a bad one can be reached from it.
fn leads(top: &Level, bad: &Condition) -> Vec<bool> {
    let mut leads: Vec<bool> = top.states.iter().map(|q| bad.holds(q)).collect();
    loop {
        let before = leads.clone();
        top.transitions.iter().for_each(|&(from, _, to)| leads[from] |= leads[to]);
        if before == leads {
            return leads;
        }
    }
}

/// One tree, in all ways: the verdict, evidence that passes its check, and what is certified is so.
fn agree(tree: &Tree, bad: &Condition, context: &str, tally: &mut Tally) {
    let levels = meaning(tree);
    let all = reachable(tree, &levels);
    let top = &levels[tree.top()];
    let leads = leads(top, bad);
    let reached = all.iter().any(|q| bad.holds(q));
    tally.done += 1;
    tally.safe += u64::from(!reached);
    let (mut refined, mut pruned, mut certified, mut interpolated) = (false, false, false, false);
    for options in ways() {
        let found = cegar(tree, bad, &options, &mut Meter::unlimited());
        refined |= options.neat == Neat::Watched && found.refinements > 0;
        pruned |= found.pruned > 0;
        certified |= found.certified > 0;
        interpolated |= found.interpolated > 0;
        let work = &mut tally.work[usize::from(options.pruning)];
        *work = (work.0 + found.refinements, work.1 + found.counted.expanded);
        let context = format!("{context}, {options:?}");
        for (q, leads) in top.states.iter().zip(&leads) {
            let tuple: Vec<u32> = found.covers.iter().zip(q).map(|(c, &s)| c.of[s as usize]).collect();
            assert!(found.known.reached.find(&tuple).is_none() || all.contains(q), "not reached: {q:?}, {context}");
            assert!(found.known.reaching.find(&tuple).is_none() || *leads, "leads nowhere: {q:?}, {context}");
        }
        match &found.verdict {
            Verdict::Safe(c) => {
                assert!(!reached, "{context}");
                trellis_check::tree::certify(tree, bad, c).unwrap_or_else(|e| panic!("{e}: {context}"));
            }
            Verdict::Unsafe(t) => {
                assert!(reached, "{context}");
                trellis_check::tree::replay(tree, bad, t).unwrap_or_else(|e| panic!("{e}: {context}"));
            }
            Verdict::Unknown(why) => panic!("{why}: {context}"),
        }
    }
    tally.refined += u64::from(refined);
    tally.pruned += u64::from(pruned);
    tally.certified += u64::from(certified);
    tally.interpolated += u64::from(interpolated);
}

impl Tally {
    fn tell(&self) {
        let Tally { done, safe, refined, pruned, certified, interpolated, work } = self;
        eprintln!(
            "{done} trees, {safe} of them safe; {refined} refined, {interpolated} by predicates; {pruned} pruned, {certified} certified"
        );
        let [without, with] = work;
        eprintln!(
            "without pruning {} refinements, {} states expanded; with pruning {}, {}",
            without.0, without.1, with.0, with.1
        );
        assert!(*safe > 0 && safe < done && *pruned > 0 && *certified > 0 && *interpolated > 0);
    }
}

#[test]
fn the_loop_agrees_with_the_definition() {
    let mut tally = Tally::default();
    for seed in 1..=runs(400) {
        let mut r = Random::new(seed);
        let priorities = r.chance(80);
        let (tree, bad) = tree(&mut r, priorities);
        if size(&tree) <= 150 {
            agree(&tree, &bad, &format!("seed {seed}"), &mut tally);
        }
    }
    tally.tell();
}

#[test]
fn trees_that_need_refinements_agree() {
    let (mut tally, mut seed) = (Tally::default(), 0);
    while tally.done < runs(150) {
        seed += 1;
        let mut r = Random::new(seed);
        let (tree, bad) = rows(&mut r);
        if size(&tree) <= 250 && tree.has_priorities() {
            agree(&tree, &bad, &format!("seed {seed}"), &mut tally);
        }
    }
    tally.tell();
    assert!(tally.refined * 3 >= tally.done, "only {} of {} needed refinements", tally.refined, tally.done);
}
