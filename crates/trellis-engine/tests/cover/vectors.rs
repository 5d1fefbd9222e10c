//! Vectors are a set: neither their order, nor how often one is written, nor the order of anything else in a node means anything. And
//! who checks computes flat events anew: a mistake in one of the two computations is seen by the other.

use std::path::Path;

use trellis_check::hierarchy::same_events;
use trellis_engine::cover::Question;
use trellis_engine::cover::reach::{Direction, reach};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::Levels;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::plain::Plain;
use trellis_syntax::altarica::ast::{Item, Node};
use trellis_syntax::altarica::{Built, parse};
use trellis_syntax::diag::{Sources, render};

use crate::random::{Random, model};
use crate::{read, symbolic};

/// A component that can always do `e`, below one that can always do `g`; whether it has done so is seen.
fn pair(sync: &str) -> String {
    format!(
        "node A state x : bool : public; init x := false; event e; trans true |- e -> x := true; edon\n\
         node N sub A : A; state y : bool; init y := false; event g; trans true |- g -> y := true;\n\
         sync {sync} edon"
    )
}

/// Is the condition reached: on relations, and plainly?
fn verdicts(built: &Built, bad: trellis_expr::TermId) -> (bool, bool) {
    let (h, m) = (&built.hierarchy, symbolic(built));
    let initial = m.initial(h).expect("small");
    let question = Question { hierarchy: h, symbolic: &m, initial, bad: m.satisfying(h, bad).expect("small") };
    let found = reach(&question, Direction::Forward, &mut Meter::unlimited()).verdict;
    match &found {
        Verdict::Safe(c) => {
            trellis_check::hierarchy::compare(h, &m, bad, c).expect("a proof");
        }
        Verdict::Unsafe(t) => trellis_check::hierarchy::replay(h, Some(&m), bad, t).expect("a run"),
        Verdict::Unknown(why) => panic!("{why:?}"),
    }
    let meaning = Meaning::of(h, 100_000).expect("small");
    let reachable = meaning.reachable(h.top, &meaning.initial(h, h.top));
    let plainly = meaning.satisfying(h, h.top, bad).iter().any(|q| reachable.contains(q));
    (matches!(found, Verdict::Unsafe(_)), plainly)
}

/// Configurations, transitions on relations and plainly, flat events; and both verdicts.
type Counts = (usize, usize, String, usize, (bool, bool));

fn counts(built: &Built, bad: trellis_expr::TermId) -> Option<Counts> {
    let h = &built.hierarchy;
    let meaning = Meaning::of(h, 20_000).ok()?;
    let m = symbolic(built);
    let all = m.configurations().expect("small");
    let mut transitions = 0.0;
    for event in &m.events {
        let columns: Vec<_> = m.columns.iter().flat_map(|&c| [(c, 0), (c, 1)]).collect();
        transitions += m.space.rows(&m.transitions(event, &all).expect("small"), &columns, 1_000_000).len() as f64;
    }
    same_events(h, &m.levels).expect("the same flat events");
    let level = &meaning.components[h.top.index()];
    let events = m.levels.of(h.top).len();
    Some((level.configurations.len(), level.transitions.len(), transitions.to_string(), events, verdicts(built, bad)))
}

#[test]
fn the_order_of_two_vectors_changes_nothing() {
    let bad = "y & not A.x";
    let mut found = vec![];
    for sync in [
        "<g, A.e>; <g, A.e?>;",
        "<g, A.e?>; <g, A.e>;",
        "<g, A.e?>; <g, A.e?>;",
        "<A.e?, g>;",
        "<g, A.e?>; <g>; <g, A.e>; <g, A.e?>;",
    ] {
        let (built, bad) = read(&pair(sync), bad);
        found.push(counts(&built, bad).expect("small"));
    }
    assert!(found.iter().all(|f| *f == found[0]), "{found:?}");
    // The larger choice wins, so `g` alone never happens.
    assert_eq!((found[0].3, found[0].4), (3, (false, false)));
    // Without a vector that lets `e` be left out, both may happen.
    let (built, bad) = read(&pair("<g>; <g, A.e>;"), bad);
    assert_eq!(verdicts(&built, bad), (true, true));
}

#[test]
fn a_vector_that_is_written_twice_counts_once() {
    for (once, twice) in
        [("<g, A.e>;", "<g, A.e>; <A.e, g>;"), ("<g>;", "<g>; <g>; <g>;"), ("<g, A.e?> >= 1;", "<g, A.e>;")]
    {
        let count = |sync: &str| {
            let (built, bad) = read(&pair(sync), "y");
            counts(&built, bad).expect("small")
        };
        assert_eq!(count(once), count(twice), "{once} {twice}");
    }
}

/// A chain over two vectors: who takes part in less gives way to who takes part in all of it and more.
#[test]
fn chains_of_choices_go_on_over_several_vectors() {
    let text = "node A state x : bool; event e; trans true |- e -> x := not x; edon\n\
                node N sub A, B : A; event g; trans true |- g -> ; sync <g, A.e?>; <g, A.e, B.e?>; edon";
    let (built, _) = read(text, "true");
    let h = &built.hierarchy;
    let (levels, plain) = (h.levels().expect("few"), Plain::of(h).expect("few"));
    assert_eq!(plain.differs(h, &levels), None);
    let at = |row: [usize; 3]| plain.rows[h.top.index()].iter().position(|r| *r == row).expect("a row");
    let (few, some, all) = (at([1, 0, 0]), at([1, 1, 0]), at([1, 1, 1]));
    for (low, high, expected) in [(few, some, true), (some, all, true), (few, all, true), (all, few, false)] {
        assert_eq!(plain.lower(h, h.top, low, high), expected);
        assert_eq!(levels.lower(h, h.top, low, high), expected);
    }
    // ε gives way to nothing, even as the least choice of a vector.
    let (built, _) = read("node A event e; trans true |- e -> ; edon node N sub A : A; sync <A.e?>; edon", "true");
    let h = &built.hierarchy;
    assert!(!Plain::of(h).expect("few").lower(h, h.top, 0, 1) && !h.levels().expect("few").lower(h, h.top, 0, 1));
}

/// The old mistakes, planted in what engines use, are seen by those who check; and in what those use, by comparison.
#[test]
fn planted_mistakes_are_noticed() {
    let (built, _) = read(&pair("<g, A.e>; <g, A.e?>;"), "y & not A.x");
    let h = &built.hierarchy;
    let good = h.levels().expect("few");
    same_events(h, &good).expect("the same");
    let top = h.top.index();
    let notices = |planted: &Levels, what: &str| {
        assert!(same_events(h, planted).is_err(), "{what}");
    };
    // The first vector that is written hides that its choice is one of a broadcast.
    let mut planted = good.clone();
    planted.choices[top].iter_mut().filter(|c| c.events == [1, 1]).for_each(|c| c.families.clear());
    notices(&planted, "a choice does not know its vector");
    // What is written twice is there twice.
    let mut planted = good.clone();
    let twice = planted.choices[top][1].clone();
    planted.choices[top].push(twice);
    notices(&planted, "a choice is there twice");
    let mut planted = good.clone();
    let twice = planted.flat.events[top][1].clone();
    planted.flat.events[top].push(twice);
    notices(&planted, "a flat event is there twice");
    let mut planted = good.clone();
    planted.choices[top].retain(|c| c.events != [1, 0]);
    notices(&planted, "a choice is missing");
    // The other way round.
    let mut plain = Plain::of(h).expect("few");
    assert_eq!(plain.differs(h, &good), None);
    plain.rows[top].pop();
    assert!(plain.differs(h, &good).is_some());
    let mut plain = Plain::of(h).expect("few");
    plain.flat.events[top].pop();
    assert!(plain.differs(h, &good).is_some());
}

fn mix<T>(r: &mut Random, all: &mut [T]) {
    for n in (1..all.len()).rev() {
        let m = r.below(n + 1);
        all.swap(n, m);
    }
}

/// Everything in a node that is a set, in another order; some vectors and assertions twice.
fn shuffle(r: &mut Random, node: &mut Node) {
    for n in 0..node.sync.len() {
        if r.chance(30) {
            node.sync.push(node.sync[n].clone());
        }
    }
    if !node.asserts.is_empty() && r.chance(30) {
        node.asserts.push(node.asserts[0].clone());
    }
    node.sync.iter_mut().for_each(|v| mix(r, &mut v.parts));
    node.trans.iter_mut().for_each(|t| mix(r, &mut t.branches));
    mix(r, &mut node.states);
    mix(r, &mut node.flows);
    mix(r, &mut node.subs);
    mix(r, &mut node.events);
    mix(r, &mut node.trans);
    mix(r, &mut node.sync);
    mix(r, &mut node.asserts);
    mix(r, &mut node.init);
}

/// The model, shuffled some times: always the same counts and verdicts.
fn the_same_in_any_order(text: &str, condition: &str, r: &mut Random, times: usize) -> bool {
    let (built, bad) = read(text, condition);
    let Some(expected) = counts(&built, bad) else { return false };
    for _ in 0..times {
        let mut sources = Sources::default();
        let id = sources.add("model.alt", text);
        let fail = |d: Vec<_>, s: &Sources| -> ! { panic!("{}\n{text}", render(&d, s, false)) };
        let (mut file, _) = parse(&sources, id).unwrap_or_else(|d| fail(d, &sources));
        for item in &mut file.items {
            if let Item::Node(node) = item {
                shuffle(r, node);
            }
        }
        let top = file.nodes().last().map(|n| (*n).clone()).expect("a node");
        let (mut built, _) = file.build(&top, &[]).unwrap_or_else(|d| fail(d, &sources));
        let id = sources.add("condition", condition);
        let bad = built.condition(&sources, id).unwrap_or_else(|d| fail(d, &sources));
        assert_eq!(counts(&built, bad).as_ref(), Some(&expected), "never {condition}\n{text}");
    }
    true
}

#[test]
fn random_hierarchies_mean_the_same_in_any_order() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|r| r.parse().ok()).unwrap_or(60);
    let (mut done, mut seed) = (0, 1000);
    while done < runs {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, bad) = model(&mut r, true);
        done += u32::from(the_same_in_any_order(&text, &bad, &mut r, 2));
    }
}

#[test]
fn bundled_models_mean_the_same_in_any_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/altarica");
    let table = std::fs::read_to_string(folder.join("EXPECTED.tsv")).expect("a table");
    let mut r = Random::new(7);
    let mut done = vec![];
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[name, bad, ..] = fields.as_slice() else { continue };
        let text = std::fs::read_to_string(folder.join(name)).expect("a model");
        if the_same_in_any_order(&text, bad, &mut r, 1) {
            done.push(name);
        }
    }
    println!("{done:?}");
    assert!(done.contains(&"stack3.alt") && done.contains(&"wheels3.alt") && done.len() > 3, "{done:?}");
}
