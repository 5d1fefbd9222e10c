//! Cut sets, sequences and effects of random hierarchies, against lists of configurations.

use std::collections::BTreeSet;

use trellis_domain::relation::Memory;
use trellis_engine::cuts::{Failing, Limits, Sequence, cut_sets, part_of};
use trellis_meter::Meter;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::observe::EventOf;

use crate::random::{Random, model};
use crate::read;

const MEMORY: Memory = Memory { nodes: 1 << 22, cache: 1 << 16 };

/// The failures of a flat event.
fn label(h: &Hierarchy, meaning: &Meaning, failures: &[EventOf], event: usize) -> Vec<usize> {
    let parts = meaning.levels.parts(h, h.top, event);
    let happens = |f: &EventOf| parts.contains(&(f.component, f.event));
    (0..failures.len()).filter(|&n| happens(&failures[n])).collect()
}

/// All sets of failures of runs to a bad configuration.
fn sets(h: &Hierarchy, meaning: &Meaning, failures: &[EventOf], bad: &[usize]) -> BTreeSet<BTreeSet<usize>> {
    let mut seen: BTreeSet<(usize, BTreeSet<usize>)> =
        meaning.initial(h, h.top).into_iter().map(|q| (q, BTreeSet::new())).collect();
    let mut waiting: Vec<_> = seen.iter().cloned().collect();
    let transitions = &meaning.components[h.top.index()].transitions;
    while let Some((q, set)) = waiting.pop() {
        for &(_, event, r) in transitions.range((q, 0, 0)..(q + 1, 0, 0)) {
            let mut set = set.clone();
            set.extend(label(h, meaning, failures, event));
            if seen.insert((r, set.clone())) {
                waiting.push((r, set));
            }
        }
    }
    seen.into_iter().filter(|(q, _)| bad.contains(q)).map(|(_, set)| set).collect()
}

/// All sequences with at most so many failures that lead to a bad configuration.
fn sequences(h: &Hierarchy, meaning: &Meaning, failures: &[EventOf], bad: &[usize], order: usize) -> Vec<Sequence> {
    let transitions = &meaning.components[h.top.index()].transitions;
    let labels: Vec<Vec<usize>> = (0..meaning.levels.of(h.top).len()).map(|e| label(h, meaning, failures, e)).collect();
    let letters: BTreeSet<Vec<usize>> = labels.iter().filter(|l| !l.is_empty()).cloned().collect();
    let freely = |mut set: BTreeSet<usize>| loop {
        let steps = transitions.iter().filter(|(q, e, _)| set.contains(q) && labels[*e].is_empty());
        let more: Vec<usize> = steps.map(|t| t.2).filter(|r| !set.contains(r)).collect();
        if more.is_empty() {
            return set;
        }
        set.extend(more);
    };
    let mut all = vec![];
    let mut waiting = vec![(vec![], freely(meaning.initial(h, h.top).into_iter().collect()))];
    while let Some((word, set)) = waiting.pop() {
        if set.iter().any(|q| bad.contains(q)) {
            all.push(word.clone());
        }
        for letter in &letters {
            let longer: Sequence = word.iter().chain([letter]).cloned().collect();
            let steps = transitions.iter().filter(|(q, e, _)| set.contains(q) && labels[*e] == *letter);
            let next: BTreeSet<usize> = steps.map(|t| t.2).collect();
            if !next.is_empty() && longer.iter().map(Vec::len).sum::<usize>() <= order {
                waiting.push((longer, freely(next)));
            }
        }
    }
    let least = |s: &&Sequence| !all.iter().any(|t| t != *s && part_of(t, s));
    let mut found: Vec<Sequence> = all.iter().filter(least).cloned().collect();
    found.sort_by_key(|s| (s.iter().map(Vec::len).sum::<usize>(), s.clone()));
    found
}

/// The values of some variables in a configuration that is reachable, but only after some steps.
fn distant(h: &Hierarchy, meaning: &Meaning, r: &mut Random) -> Option<String> {
    let level = &meaning.components[h.top.index()];
    let mut reached = meaning.initial(h, h.top);
    let mut next = 0;
    while let Some(&q) = reached.get(next) {
        next += 1;
        for &(_, _, to) in level.transitions.range((q, 0, 0)..(q + 1, 0, 0)) {
            if !reached.contains(&to) {
                reached.push(to);
            }
        }
    }
    // The later in the list, the further away.
    let values =
        &level.configurations[reached[reached.len().checked_sub(1 + r.below(reached.len().div_ceil(3).max(1)))?]];
    let said =
        |(&v, &value): (&trellis_expr::VarId, &i64)| format!("{} = {}", h.variable(v).name, h.show_value(v, value));
    let all: Vec<String> = h.variables_below(h.top).iter().zip(values).map(said).collect();
    let some: Vec<String> = all.into_iter().filter(|_| r.chance(80)).collect();
    (!some.is_empty()).then(|| some.join(" and "))
}

#[test]
fn all_agree() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|r| r.parse().ok()).unwrap_or(60);
    let (mut done, mut seed, mut some, mut long) = (0, 0, 0, 0);
    while done < runs {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, _) = model(&mut r, true);
        let (built, _) = read(&text, "true");
        let Ok(meaning) = Meaning::of(&built.hierarchy, 2_000) else { continue };
        let Some(bad) = distant(&built.hierarchy, &meaning, &mut r) else { continue };
        let context = format!("seed {seed}, bad {bad}\n{text}");
        let (built, bad) = read(&text, &bad);
        let h = &built.hierarchy;
        done += 1;
        let failures: Vec<EventOf> = h.all_events().into_iter().filter(|_| r.chance(75)).take(6).collect();
        let is_bad = meaning.satisfying(h, h.top, bad);

        let all = sets(h, &meaning, &failures, &is_bad);
        let mut least: Vec<Vec<usize>> = all
            .iter()
            .filter(|s| !all.iter().any(|t| t != *s && t.is_subset(s)))
            .map(|s| s.iter().copied().collect())
            .collect();
        least.sort_by_key(|s| (s.len(), s.clone()));
        let limits = Limits { order: None, count: 1000 };
        let found = cut_sets(h, &failures, bad, MEMORY, limits, &mut Meter::unlimited()).unwrap();
        assert!(found.complete);
        assert_eq!(found.found, least, "{context}");
        some += u32::from(least.iter().any(|s| !s.is_empty()));
        let limits = Limits { order: Some(1), ..limits };
        let found = cut_sets(h, &failures, bad, MEMORY, limits, &mut Meter::unlimited()).unwrap();
        least.retain(|s| s.len() <= 1);
        assert_eq!(found.found, least, "{context}");

        let failing = Failing::new(h, &failures, bad, MEMORY).unwrap();
        let limits = Limits { order: Some(3), count: 1000 };
        let found = failing.sequences(limits, &mut Meter::unlimited()).unwrap();
        let expected = sequences(h, &meaning, &failures, &is_bad, 3);
        assert!(found.complete);
        assert_eq!(found.found, expected, "{context}");
        long += u32::from(expected.iter().any(|s| s.len() > 1));

        // A failure that is enough alone is a sequence of one.
        let effects = failing.effects(failures.len(), &mut Meter::unlimited()).unwrap();
        for (n, effect) in effects.iter().enumerate() {
            let alone = expected.contains(&vec![vec![n]]) || (expected.contains(&vec![]) && effect.bad);
            assert_eq!(effect.bad, alone, "{context}");
        }
    }
    eprintln!("{done} models of {seed}, {some} with failures, {long} with sequences");
    assert!(some > 0 && long > 0);
}

/// Two pumps of which one is enough, behind a valve: the textbook's answer.
#[test]
fn a_pump_and_its_spare() {
    let text = "node Pump state ok : bool : public; init ok := true; event fail; trans ok |- fail -> ok := false; edon
        node Spare state ok, on : bool : public; init ok := true, on := false; event fail, start;
          trans ok & on |- fail -> ok := false; not on |- start -> on := true; edon
        node Plant sub p : Pump; s : Spare; v : Pump; event start;
          trans not p.ok |- start -> ;
          sync <start, s.start>; edon";
    let (built, bad) = read(text, "not v.ok or (not p.ok and not s.ok)");
    let h = &built.hierarchy;
    let failures: Vec<EventOf> = h.all_events().into_iter().filter(|&e| h.event_name(e).ends_with("fail")).collect();
    let names: Vec<String> = failures.iter().map(|&e| h.event_name(e)).collect();
    assert_eq!(names, ["p.fail", "s.fail", "v.fail"]);
    let limits = Limits { order: None, count: 100 };
    let found = cut_sets(h, &failures, bad, MEMORY, limits, &mut Meter::unlimited()).unwrap();
    assert_eq!(found.found, [vec![2], vec![0, 1]]);
    // The spare fails only when it runs, and runs only when the pump has failed.
    let failing = Failing::new(h, &failures, bad, MEMORY).unwrap();
    let sequences = failing.sequences(limits, &mut Meter::unlimited()).unwrap();
    assert_eq!(sequences.found, [vec![vec![2]], vec![vec![0], vec![1]]]);
    let effects = failing.effects(3, &mut Meter::unlimited()).unwrap();
    assert_eq!(
        effects.iter().map(|e| (e.possible, e.bad)).collect::<Vec<_>>(),
        [(true, false), (false, false), (true, true)]
    );
    let named = |(v, values): &(trellis_expr::VarId, Vec<i64>)| (h.variable(*v).name.clone(), values.clone());
    let first: Vec<_> = effects[0].values.iter().map(named).collect();
    assert_eq!(first, [("p.ok".to_string(), vec![0]), ("s.on".to_string(), vec![1])]);
}
