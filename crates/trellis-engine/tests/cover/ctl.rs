//! Formulas of computation tree logic on relations, against sets of listed configurations.

use std::collections::BTreeSet;

use trellis_domain::relation::Memory;
use trellis_engine::budget::Budget;
use trellis_engine::ctl::Branching;
use trellis_model::hierarchy::Hierarchy;
use trellis_model::hierarchy::ctl::Formula;
use trellis_model::hierarchy::explicit::Meaning;
use trellis_model::hierarchy::symbolic::Symbolic;
use trellis_syntax::ctl::parse;
use trellis_syntax::diag::{Sources, render};

use crate::random::{Random, model};
use crate::read;

/// A formula as text, and as a function of sets that follows the textbook.
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

type Set = BTreeSet<usize>;

struct Explicit<'m> {
    hierarchy: &'m Hierarchy,
    meaning: &'m Meaning,
    /// For each configuration, where steps lead.
    next: Vec<Set>,
}

impl Explicit<'_> {
    fn all(&self) -> Set {
        (0..self.next.len()).collect()
    }

    fn holds(&self, f: &Formula) -> Set {
        match f {
            Formula::Atom(t) => self.meaning.satisfying(self.hierarchy, self.hierarchy.top, *t).into_iter().collect(),
            Formula::Not(a) => &self.all() - &self.holds(a),
            Formula::And(a, b) => &self.holds(a) & &self.holds(b),
            Formula::Or(a, b) => &self.holds(a) | &self.holds(b),
            Formula::Next(a) => {
                let a = self.holds(a);
                self.all().into_iter().filter(|&q| !self.next[q].is_disjoint(&a)).collect()
            }
            Formula::Until(a, b) => {
                // A search from each configuration.
                let (a, b) = (self.holds(a), self.holds(b));
                let reaches = |q: usize| {
                    let mut seen = Set::from([q]);
                    let mut waiting = vec![q];
                    while let Some(q) = waiting.pop() {
                        if b.contains(&q) {
                            return true;
                        }
                        if a.contains(&q) {
                            waiting.extend(self.next[q].iter().copied().filter(|r| seen.insert(*r)));
                        }
                    }
                    false
                };
                self.all().into_iter().filter(|&q| reaches(q)).collect()
            }
            Formula::Always(a) => {
                // Whoever has no way to stay is taken away, until nobody is.
                let mut left = self.holds(a);
                loop {
                    let stays = |q: &usize| self.next[*q].is_empty() || !self.next[*q].is_disjoint(&left);
                    let fewer: Set = left.iter().copied().filter(stays).collect();
                    if fewer == left {
                        return left;
                    }
                    left = fewer;
                }
            }
        }
    }
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
        let level = &meaning.components[h.top.index()];
        let mut next = vec![Set::new(); level.configurations.len()];
        level.transitions.iter().filter(|(_, e, _)| *e != 0).for_each(|&(q, _, r)| {
            next[q].insert(r);
        });
        let explicit = Explicit { hierarchy: h, meaning: &meaning, next };
        let m = Symbolic::new(h, 2, Memory { nodes: 1 << 22, cache: 1 << 16 }).unwrap();
        let branching = Branching::new(h, &m).unwrap();
        let columns: Vec<(usize, usize)> = h.variables_below(h.top).iter().map(|v| (m.columns[v.index()], 0)).collect();
        for (formula, said) in &formulas {
            let expected = explicit.holds(formula);
            let found = branching.holds(formula, &mut Budget::unlimited()).unwrap();
            let rows: BTreeSet<Vec<i64>> = m.space.rows(&found, &columns, 100_000).into_iter().collect();
            let listed: BTreeSet<Vec<i64>> = expected.iter().map(|&q| level.configurations[q].clone()).collect();
            assert_eq!(rows, listed, "seed {seed}: {said}\n{text}");
            mixed += u32::from(!expected.is_empty() && expected.len() < level.configurations.len());
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
