//! Random models in AltaRica, each node abstracted where it stands: against the plain interpreter and refinement on relations. One kind is
//! that of `random`; few of these need refinements. The other is made of counters that go up and down, so that many do.

use std::fmt::Write;

use trellis_engine::cover::Question;
use trellis_engine::cover::cegar::{self as flat, control_locations};
use trellis_engine::hierarchy::cegar_in;
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::tree::detach::detach;

use crate::random::{Random, model};
use crate::tree::{runs, ways};
use crate::{read, symbolic};

/// A counter.
fn counter(r: &mut Random, text: &mut String, name: &str) -> usize {
    let last = 2 + r.below(3);
    let guard = |r: &mut Random| match r.below(6) {
        0 => format!(" and s != {}", r.below(last + 1)),
        _ => String::new(),
    };
    let (up, down) = (guard(r), guard(r));
    let to = r.pick(&["s - 1", "0"]);
    let order = r.pick(&["", "", "", " < "]);
    let events = if order.is_empty() { "up, down" } else { "down < up" };
    let _ = write!(
        text,
        "node {name}
  state s : [0, {last}] : public;
  init s := 0;
  event {events};
  trans s < {last}{up} |- up -> s := s + 1;
        s > 0{down} |- down -> s := {to};
edon
"
    );
    last
}

/// A node that does nothing but make others do something together.
fn manager(r: &mut Random, text: &mut String, name: &str, subs: &[(&str, &str, &[&str])]) {
    let _ = writeln!(
        text,
        "node {name}\n  sub {};",
        subs.iter().map(|s| format!("{} : {};", s.0, s.1)).collect::<String>().trim_end_matches(';')
    );
    let events = ["e0", "e1", "e2"];
    let order = r.pick(&["e0, e1, e2", "e0 < e1, e2", "e0 < e1 < e2", "e1 < e0; e2 < e0", "e2 < e1; e0"]);
    let _ = writeln!(text, "  event {order};\n  trans true |- e0, e1, e2 -> ;");
    let mut vectors = vec![];
    for n in 0..3 + r.below(3) {
        let mut parts = vec![];
        for (i, (sub, _, theirs)) in subs.iter().enumerate() {
            // The first vectors are for one sub-node each.
            let takes_part = if n < subs.len() { n == i || r.chance(20) } else { r.chance(60) };
            if takes_part {
                parts.push(format!("{sub}.{}", if n == i { theirs[0] } else { r.pick(theirs) }));
            }
        }
        if !parts.is_empty() {
            vectors.push(format!("<{}, {}>", events[n % 3], parts.join(", ")));
        }
    }
    let _ = writeln!(text, "  sync {};\nedon", vectors.join("; "));
}

/// Counters in two levels, and that some are at their ends.
fn walks(r: &mut Random) -> (String, String) {
    let mut text = String::new();
    let counters = ["up", "down"];
    let ends: Vec<usize> = ["A", "B", "C"].iter().map(|n| counter(r, &mut text, n)).collect();
    manager(r, &mut text, "M", &[("a", "A", &counters), ("b", "B", &counters)]);
    manager(r, &mut text, "Top", &[("m", "M", &["e0", "e1", "e2"]), ("c", "C", &counters)]);
    let mut all: Vec<String> = ["m.a.s", "m.b.s", "c.s"]
        .iter()
        .zip(&ends)
        .map(|(path, end)| format!("{path} {} {end}", r.pick(&["=", "=", "<", "!="])))
        .collect();
    all.remove(r.below(3));
    if r.chance(50) {
        all.remove(0);
    }
    (text, all.join(" and "))
}

fn agree(make: &dyn Fn(&mut Random) -> (String, String), wanted: u64, all_ways: bool) -> (u64, u64) {
    let (mut done, mut safe, mut merged, mut seed, mut refined) = (0, 0, 0, 0, 0);
    while done < wanted {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, bad) = make(&mut r);
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
        let rows: Vec<Vec<Vec<i64>>> = detached.units.iter().map(|u| u.configurations.to_vec()).collect();
        let mut any = false;
        for options in ways().iter().take(if all_ways { usize::MAX } else { 1 }) {
            let found = cegar_in(&detached.tree, &bad, &rows, options, &mut Meter::unlimited());
            let context = format!("{options:?}, {context}");
            any |= found.refinements > 0;
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
        }
        refined += u64::from(any);
        // Refinement on relations.
        let m = symbolic(&built);
        let question = Question {
            hierarchy: h,
            symbolic: &m,
            initial: m.initial(h).unwrap(),
            bad: m.satisfying(h, term).unwrap(),
        };
        let locations = control_locations(&question).unwrap();
        let other = flat::cegar(&question, &locations, &flat::Options::default(), &mut Meter::unlimited());
        let same = matches!((reached, &other.verdict), (false, Verdict::Safe(_)) | (true, Verdict::Unsafe(_)));
        assert!(same, "{context}");
    }
    eprintln!("{done} models, {safe} safe, {merged} with merged parts, {refined} refined, of {seed}");
    assert!(safe > 0 && safe < done);
    (merged, refined)
}

#[test]
fn models_in_altarica_agree() {
    let make = |r: &mut Random| {
        let deep = r.chance(25);
        model(r, deep)
    };
    let (merged, refined) = agree(&make, runs(150), false);
    assert!(merged > 0 && refined > 0);
}

#[test]
fn models_that_need_refinements_agree() {
    let wanted = runs(60);
    let (_, refined) = agree(&walks, wanted, true);
    assert!(refined * 3 >= wanted, "only {refined} of {wanted} needed refinements");
}
