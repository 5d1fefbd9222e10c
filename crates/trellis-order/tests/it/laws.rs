//! Every lattice of the library, in several sizes and nestings, obeys every law.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use trellis_order::lattice::library::catalogue;
use trellis_order::laws::{self, audit};
use trellis_order::{Lattice, MethodKind, Trend};

use super::{compose, draw, lattice, sample, vector};

/// Lattices with methods: at least one for every such entry of the catalogue.
fn leaves() -> Vec<Arc<dyn Lattice>> {
    let mut leaves = Vec::new();
    for name in ["UnionBitVector", "IntersectionBitVector", "Powerset", "PresentAbsent"] {
        leaves.extend([1, 5, 64, 65, 200].map(|n| lattice(name, &[n])));
    }
    leaves.extend(["Flat", "Sign", "Parity", "Interval"].map(|name| lattice(name, &[])));
    for name in ["Max", "Min"] {
        leaves.extend([[0, 5], [-3, 3], [7, 7], [i64::MIN, i64::MAX]].map(|ends| lattice(name, &ends)));
    }
    leaves.extend([1, 2, 12, 60, 1 << 24].map(|n| lattice("Congruence", &[n])));
    leaves.extend([[1, 1], [3, 2], [5, 1000]].map(|sizes| lattice("Multiset", &sizes)));
    for name in ["LruMust", "LruMay"] {
        leaves.extend([[1, 1, 1], [1, 4, 6], [2, 2, 9], [4, 255, 17]].map(|sizes| lattice(name, &sizes)));
    }
    leaves.push(draw("only").unwrap());
    leaves.push(draw("low < mid, mid < high").unwrap());
    leaves.push(draw("0 < a, 0 < b, 0 < c, a < ab, b < ab, b < bc, c < bc, ab < 1, bc < 1").unwrap());
    leaves
}

/// Lattices put together from others.
fn composites() -> Vec<Arc<dyn Lattice>> {
    let bits = lattice("UnionBitVector", &[3]);
    let facts = lattice("IntersectionBitVector", &[70]);
    let interval = lattice("Interval", &[]);
    let sign = lattice("Sign", &[]);
    let flat = lattice("Flat", &[]);
    let cache = lattice("LruMay", &[2, 2, 5]);
    let diamond = draw("0 < a, 0 < b, a < 1, b < 1").unwrap();

    let pair = compose("Product", &[&bits, &interval]);
    let many = compose("Product", &[&facts, &sign, &cache, &flat]);
    let word = compose("Lexicographic", &[&bits, &interval]);
    let drawn = compose("Lexicographic", &[&diamond, &sign]);
    vec![
        vector(&sign, 1),
        vector(&interval, 4),
        vector(&facts, 3),
        vector(&vector(&flat, 2), 2),
        vector(&pair, 2),
        vector(&word, 2),
        compose("Product", &[&word, &vector(&bits, 2)]),
        compose("Lexicographic", &[&pair, &drawn]),
        compose("Lexicographic", &[&word, &word]),
        pair,
        many,
        word,
        drawn,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_lattice_passes_the_audit(seed: u64) {
        for lattice in leaves().into_iter().chain(composites()) {
            if let Err(violation) = audit(&*lattice, 16, seed) {
                return Err(TestCaseError::fail(violation.explain(&*lattice)));
            }
        }
    }
}

/// Small lattices: not samples but all elements.
#[test]
fn laws_hold_exhaustively_on_small_lattices() {
    let bits = lattice("UnionBitVector", &[2]);
    let parity = lattice("Parity", &[]);
    let diamond = draw("0 < a, 0 < b, a < 1, b < 1").unwrap();
    let small = [
        (lattice("UnionBitVector", &[4]), 16),
        (lattice("IntersectionBitVector", &[4]), 16),
        (lattice("Powerset", &[3]), 8),
        (lattice("PresentAbsent", &[2]), 16),
        (lattice("Sign", &[]), 8),
        (parity.clone(), 4),
        (lattice("LruMust", &[1, 2, 3]), 27),
        (lattice("LruMay", &[1, 2, 3]), 27),
        (compose("Product", &[&bits, &parity]), 16),
        (compose("Lexicographic", &[&bits, &parity]), 16),
        (compose("Lexicographic", &[&diamond, &bits]), 16),
        (vector(&parity, 2), 16),
    ];
    for (lattice, size) in small {
        let all: BTreeSet<_> = (0..4000).map(|seed| sample(&*lattice, seed)).collect();
        let all: Vec<_> = all.into_iter().collect();
        assert_eq!(all.len(), size, "{} samples all its elements", lattice.name());
        let meet = lattice.as_meet().unwrap();
        laws::order(&*lattice, &all)
            .and_then(|()| laws::antisymmetry(&*lattice, &all))
            .and_then(|()| laws::join(&*lattice, &all))
            .and_then(|()| laws::meet(meet, &all))
            .and_then(|()| laws::absorption(&*lattice, meet, &all))
            .unwrap_or_else(|violation| panic!("{}", violation.explain(&*lattice)));
    }
}

/// What the table of methods says of monotonicity is what is seen; in particular every `may…` query is monotone.
#[test]
fn methods_move_as_documented() {
    let mut seen = BTreeSet::new();
    for lattice in leaves() {
        let name = lattice.name();
        let name = name.split('(').next().unwrap();
        let entry = catalogue().iter().find(|entry| entry.name == name).unwrap();
        let report = audit(&*lattice, 400, 7).unwrap();
        assert!(report.has_meet && report.elements >= 400);
        for (doc, (method, trend)) in entry.methods.iter().zip(&report.trends) {
            assert!(doc.usage.starts_with(method.as_str()));
            if *trend == doc.trend {
                seen.insert((entry.name, doc.usage));
            } else {
                // In a tiny or a vast lattice the samples may not show that a method is *not* monotone.
                assert_eq!(*trend, Trend::Monotone, "{}: {}", lattice.name(), doc.usage);
            }
            assert!(!method.starts_with("may") || doc.trend == Trend::Monotone);
        }
    }
    for entry in catalogue() {
        for doc in &entry.methods {
            assert!(seen.contains(&(entry.name, doc.usage)), "{}: {} is {:?}", entry.name, doc.usage, doc.trend);
        }
    }
}

/// Proofs of monotonicity rest on the marks: all elements of small lattices, and all that matter of infinite ones, agree with them.
/// Whether a call fails depends on its arguments alone, and a truth value is 0 or 1.
#[test]
fn marks_hold_exhaustively_on_small_lattices() {
    let ends = [i64::MIN, i64::MIN + 1, -3, -2, -1, 0, 1, 2, 3, i64::MAX - 1, i64::MAX];
    let words = |lattice: &dyn Lattice| -> Vec<Vec<u64>> {
        let heads: Vec<i64> = if lattice.name() == "Flat" { vec![0, 1, 2] } else { ends.to_vec() };
        let pairs = heads.iter().flat_map(|&x| ends.map(|y| vec![x as u64, y as u64]));
        pairs.filter(|e| lattice.is_element(e)).collect()
    };
    let mut lattices = vec![lattice("Flat", &[]), lattice("Interval", &[])];
    for name in ["UnionBitVector", "IntersectionBitVector", "Powerset"] {
        lattices.push(lattice(name, &[4]));
    }
    lattices.extend([lattice("PresentAbsent", &[2]), lattice("Sign", &[]), lattice("Parity", &[])]);
    for sizes in [[1, 2, 3], [2, 2, 4], [1, 1, 2], [1, 3, 3]] {
        lattices.extend(["LruMust", "LruMay"].map(|name| lattice(name, &sizes)));
    }
    lattices.push(draw("0 < a, 0 < b, 0 < c, a < ab, b < ab, b < bc, c < bc, ab < 1, bc < 1").unwrap());
    for l in lattices {
        let all: Vec<Vec<u64>> = match l.name().as_str() {
            "Flat" | "Interval" => words(&*l),
            _ => (0..4000).map(|seed| sample(&*l, seed)).collect::<BTreeSet<_>>().into_iter().collect(),
        };
        assert!(l.is_vouched_for() && all.len() > 3);
        for (number, m) in l.methods().iter().enumerate() {
            let mut calls: Vec<Vec<i64>> = vec![vec![]];
            for _ in 0..m.args {
                calls = calls.iter().flat_map(|c| ends.map(|a| [&c[..], &[a]].concat())).collect();
            }
            for args in calls {
                let results: Vec<Result<Vec<u64>, _>> = all
                    .iter()
                    .map(|e| match m.kind {
                        MethodKind::Query => l.query(number, e, &args).map(|n| vec![n as u64]),
                        MethodKind::Update => {
                            let mut e = e.clone();
                            l.update(number, &mut e, &args).map(|()| e)
                        }
                    })
                    .collect();
                let what = || format!("{}.{}{args:?}", l.name(), m.name);
                assert!(results.iter().all(|r| r.is_ok() == results[0].is_ok()), "{} fails for some", what());
                if results[0].is_err() {
                    continue;
                }
                let results: Vec<Vec<u64>> = results.into_iter().flatten().collect();
                assert!(!m.truth || results.iter().all(|r| r[0] < 2), "{}", what());
                let leq = |x: &[u64], y: &[u64]| match m.kind {
                    MethodKind::Query => x[0] as i64 <= y[0] as i64,
                    MethodKind::Update => l.leq(x, y),
                };
                for (a, of_a) in all.iter().zip(&results) {
                    for (b, of_b) in all.iter().zip(&results).filter(|(b, _)| l.leq(a, b)) {
                        let kept = match m.trend {
                            Trend::Monotone => leq(of_a, of_b),
                            Trend::Antitone => leq(of_b, of_a),
                            Trend::Neither => true,
                        };
                        assert!(kept, "{}: {a:?} ⊑ {b:?}", what());
                    }
                }
            }
        }
    }
}

#[test]
fn elements_are_told_from_junk() {
    let mut junk = 0;
    for l in leaves().into_iter().chain(composites()) {
        for seed in 0..50 {
            let mut random = seed * 2 + 1;
            let mut next = || {
                random ^= random >> 12;
                random ^= random << 25;
                random ^= random >> 27;
                random
            };
            let mut a = vec![0; l.width()];
            let mut b = a.clone();
            l.sample(&mut next, &mut a);
            l.sample(&mut next, &mut b);
            assert!(l.is_element(&a), "{} {a:?}", l.name());
            l.join(&mut a, &b);
            assert!(l.is_element(&a), "{} {a:?}", l.name());
            // Whatever passes for an element can be shown and compared without a panic.
            let words: Vec<u64> = (0..l.width()).map(|_| next()).collect();
            if l.is_element(&words) {
                let _ = format!("{}", trellis_order::Shown(&*l, &words));
                l.leq(&words, &a);
            } else {
                junk += 1;
            }
        }
    }
    assert!(junk > 500, "only {junk} were told from junk");
}
