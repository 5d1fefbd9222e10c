//! Formulas of computation tree logic on relations, against sets of listed configurations.

use std::collections::BTreeSet;

use trellis_check::branching::{Listed, judge};
use trellis_domain::relation::Memory;
use trellis_engine::ctl::Branching;
use trellis_meter::Meter;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_syntax::ctl::parse;
use trellis_syntax::diag::{Sources, render};

use crate::random::{Random, model};
use crate::read;

/// A formula as text.
fn formula(r: &mut Random, atoms: &[String], depth: usize) -> String {
    if depth == 0 || r.chance(15) {
        return r.pick(atoms);
    }
    let sub = |r: &mut Random| formula(r, atoms, depth - 1);
    match r.below(13) {
        0 => format!("not ({})", sub(r)),
        1 => format!("({} and {})", sub(r), sub(r)),
        2 => format!("({} or {})", sub(r), sub(r)),
        3 => format!("({} => {})", sub(r), sub(r)),
        4 => format!("EX ({})", sub(r)),
        5 => format!("AX ({})", sub(r)),
        6 => format!("EF ({})", sub(r)),
        7 => format!("AF {}", brackets(&sub(r))),
        8 => format!("EG ({})", sub(r)),
        9 => format!("AG ~({})", sub(r)),
        10 | 11 => format!("E[{} U {}]", sub(r), sub(r)),
        _ => format!("A[{} U {}]", sub(r), sub(r)),
    }
}

fn brackets(text: &str) -> String {
    format!("({text})")
}

#[test]
fn all_agree() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|r| r.parse().ok()).unwrap_or(60);
    let (mut done, mut seed, mut mixed) = (0, 0, 0);
    while done < runs {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, bad) = model(&mut r, true);
        let (mut built, _) = read(&text, &bad);
        let Ok(meaning) = Meaning::of(&built.hierarchy, 2_000) else { continue };
        done += 1;
        let atoms: Vec<String> = bad.split(" and ").map(String::from).chain(["true".into()]).collect();
        let mut formulas = vec![];
        let mut sources = Sources::default();
        for _ in 0..4 {
            let said = formula(&mut r, &atoms, 3);
            let id = sources.add("formula", said.clone());
            let parsed = parse(&mut sources, id, &mut built);
            formulas.push((parsed.unwrap_or_else(|d| panic!("{said}\n{}", render(&d, &sources, false))), said));
        }
        let h = &built.hierarchy;
        let explicit = Listed::new(h).expect("small");
        let configurations = explicit.configurations();
        let initial = meaning.initial(h, h.top);
        let m = Symbolic::new(h, 2, Memory { nodes: 1 << 22, cache: 1 << 16 }).unwrap();
        let branching = Branching::new(h, &m).unwrap();
        let columns: Vec<(usize, usize)> = h.variables_below(h.top).iter().map(|v| (m.columns[v.index()], 0)).collect();
        for (formula, said) in &formulas {
            let expected = explicit.holds(formula);
            let found = branching.holds(formula, &mut Meter::unlimited()).unwrap();
            let rows: BTreeSet<Vec<i64>> = m.space.rows(&found, &columns, 100_000).into_iter().collect();
            let listed: BTreeSet<Vec<i64>> = expected.iter().map(|&q| configurations[q].clone()).collect();
            assert_eq!(rows, listed, "seed {seed}: {said}\n{text}");
            mixed += u32::from(!expected.is_empty() && expected.len() < configurations.len());
            // What the checker says of answers, right and wrong ones.
            let everywhere = initial.iter().all(|q| expected.contains(q));
            assert_eq!(
                judge(h, formula, None, None).is_ok_and(|n| n.is_some()),
                everywhere,
                "seed {seed}: {said}\n{text}"
            );
            for &q in &initial {
                let mut values = vec![0; h.variables.len()];
                h.variables_below(h.top).iter().zip(&configurations[q]).for_each(|(v, n)| values[v.index()] = *n);
                let refuted = judge(h, formula, Some(&values), None).is_ok_and(|n| n.is_some());
                assert_eq!(refuted, !expected.contains(&q), "seed {seed}: {said}\n{text}");
            }
        }
    }
    eprintln!("{done} models of {seed}, {mixed} formulas neither true nor false");
    assert!(mixed > runs / 2);
}

#[test]
fn mistakes_have_their_places() {
    let (mut built, _) = read("node N state x : [0, 3]; edon", "true");
    for (text, place) in
        [("AG x = ", "1:8"), ("EF (x = 1", "1:10"), ("E[x = 1 V x = 2]", "1:9"), ("AG y = 1", "1:4"), ("", "1:1")]
    {
        let mut sources = Sources::default();
        let id = sources.add("formula", text);
        let complaints = parse(&mut sources, id, &mut built).expect_err(text);
        let said = render(&complaints, &sources, false);
        assert!(said.contains(&format!("formula:{place}")), "{text}: {said}");
    }
}
