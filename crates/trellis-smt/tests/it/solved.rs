//! The embedded solver against all valuations of small random problems.

use std::collections::BTreeSet;

use crate::problems::World;
use trellis_expr::{TermId, Terms, Type};
use trellis_smt::smtlib::{Command, read};
use trellis_smt::{Answer, Embedded, Meter, NoInterpolants, Solver, interpolants};

/// How many problems a test tries; `TRELLIS_RUNS` multiplies.
fn runs(n: u64) -> u64 {
    n * std::env::var("TRELLIS_RUNS").ok().and_then(|v| v.parse().ok()).unwrap_or(1)
}

/// Levels, assertions and assumptions at random; every answer is compared with all valuations.
#[test]
fn answers_are_those_of_all_valuations() {
    let (mut sat, mut unsat, mut unknown) = (0, 0, 0);
    for seed in 0..runs(1500) {
        let mut w = World::new(seed);
        let all = w.valuations();
        if all.len() > 3000 {
            continue;
        }
        let mut solver = if seed % 2 == 0 { Embedded::new() } else { Embedded::new().words_as_numbers() };
        let mut stack: Vec<Vec<_>> = vec![w.confine()];
        for &t in &stack[0] {
            solver.assert(&w.terms, t);
        }
        for step in 0..8 {
            match w.rng.below(6) {
                0 => {
                    solver.push();
                    stack.push(vec![]);
                }
                1 if stack.len() > 1 => {
                    solver.pop();
                    stack.pop();
                }
                2 | 3 => {
                    let t = w.bool(4);
                    solver.assert(&w.terms, t);
                    stack.last_mut().unwrap().push(t);
                }
                _ => {
                    let n = w.rng.below(4);
                    let assumptions: Vec<_> = (0..n).map(|_| w.bool(3)).collect();
                    let asserted = |v: &_| stack.iter().flatten().all(|&t| w.holds(t, v));
                    let holds = |chosen: &[usize]| {
                        all.iter().any(|v| asserted(v) && chosen.iter().all(|&i| w.holds(assumptions[i], v)))
                    };
                    let every: Vec<usize> = (0..n).collect();
                    match solver.check(&w.terms, &assumptions, &Meter::unlimited().steps(100_000)) {
                        Answer::Sat(model) => {
                            sat += 1;
                            assert!(asserted(&model), "seed {seed} step {step}: an assertion is false in the model");
                            assert!(assumptions.iter().all(|&a| w.holds(a, &model)), "seed {seed} step {step}");
                        }
                        Answer::Unsat(core) => {
                            unsat += 1;
                            assert!(!holds(&every), "seed {seed} step {step}: unsat, but there is a model");
                            assert!(!holds(&core), "seed {seed} step {step}: the core is satisfiable");
                        }
                        Answer::Unknown(why) => {
                            unknown += 1;
                            eprintln!("seed {seed} step {step}: unknown: {why}");
                        }
                    }
                }
            }
        }
    }
    eprintln!("{sat} sat, {unsat} unsat, {unknown} unknown");
    assert!(sat > 100 && unsat > 100, "the problems are not mixed");
    assert_eq!(unknown, 0, "small problems are decided");
}

/// Formulas over neighbouring variables; every interpolant is checked by what it must satisfy.
#[test]
fn interpolants_lead_from_true_to_false() {
    let (mut found, mut sat, mut unknown) = (0, 0, 0);
    for seed in 0..runs(1000) {
        let length = 2 + (seed % 5) as usize;
        let (mut w, all) = World::chain(seed, length);
        let mut formulas = vec![];
        for k in 0..length {
            w.vars = vec![all[k], all[k + 1]];
            let depth = 2 + w.rng.below(3) as u32;
            let parts: Vec<_> = (0..1 + w.rng.below(2)).map(|_| w.bool(depth)).collect();
            formulas.push(w.terms.and(parts));
        }
        let limits = Meter::unlimited().steps(100_000);
        match interpolants(&mut w.terms, &formulas, &limits) {
            Err(NoInterpolants::Satisfiable(model)) => {
                sat += 1;
                assert!(formulas.iter().all(|&f| w.holds(f, &model)), "seed {seed}");
            }
            Err(NoInterpolants::Unknown(why)) => {
                unknown += 1;
                eprintln!("seed {seed}: unknown: {why}");
            }
            Ok(list) => {
                found += 1;
                assert_eq!(list.len(), length + 1);
                assert_eq!(w.terms.as_bool(list[0]), Some(true));
                assert_eq!(w.terms.as_bool(list[length]), Some(false));
                for k in 0..length {
                    let mut solver = Embedded::new();
                    let not = w.terms.not(list[k + 1]);
                    for t in [list[k], formulas[k], not] {
                        solver.assert(&w.terms, t);
                    }
                    let answer = solver.check(&w.terms, &[], &Meter::unlimited());
                    assert_eq!(answer, Answer::Unsat(vec![]), "seed {seed}: step {k} is not inductive");
                    let before: BTreeSet<_> = formulas[..=k].iter().flat_map(|&f| w.terms.free_vars(f)).collect();
                    let after: BTreeSet<_> = formulas[k + 1..].iter().flat_map(|&f| w.terms.free_vars(f)).collect();
                    for v in w.terms.free_vars(list[k + 1]) {
                        assert!(before.contains(&v) && after.contains(&v), "seed {seed}: {v:?} is not shared at {k}");
                    }
                    assert!(!w.terms.may_fault(list[k + 1]), "seed {seed}: an interpolant may fault");
                }
            }
        }
    }
    eprintln!("{found} interpolated, {sat} satisfiable, {unknown} unknown");
    assert!(found > 100 && unknown * 100 <= found, "{found} found, {unknown} unknown");
}

/// Arrays by instantiation give the answers that listing their entries gives.
#[test]
fn arrays_by_instantiation_are_arrays_by_entries() {
    let (mut sat, mut unsat) = (0, 0);
    for seed in 0..runs(150) {
        let mut w = World::arrays(seed, 70);
        let goals: Vec<_> = (0..2 + w.rng.below(4)).map(|_| w.bool(4)).collect();
        let (mut listed, mut instantiated) = (Embedded::new(), Embedded::new().listing(10));
        for &t in &goals {
            listed.assert(&w.terms, t);
            instantiated.assert(&w.terms, t);
        }
        let (a, b) =
            (listed.check(&w.terms, &[], &Meter::unlimited()), instantiated.check(&w.terms, &[], &Meter::unlimited()));
        match (&a, &b) {
            (Answer::Sat(_), Answer::Sat(model)) => {
                sat += 1;
                assert!(goals.iter().all(|&t| w.holds(t, model)), "seed {seed}");
            }
            (Answer::Unsat(_), Answer::Unsat(_)) => unsat += 1,
            _ => panic!("seed {seed}: by entries {a:?}, by instantiation {b:?}"),
        }
    }
    eprintln!("{sat} sat, {unsat} unsat");
    assert!(sat > 20 && unsat > 20, "{sat} sat, {unsat} unsat");
}

/// Divisibility without bounds, where splitting on variables would never end: as assertions and as assumptions.
#[test]
fn divisibility_without_bounds_is_decided() {
    let scripts = [
        ("(= n (* 3 m)) (distinct (mod n 3) 0)", false),
        ("(= n (* 6 m)) (distinct (mod n 6) 0)", false),
        ("(= n (* 6 m)) (= n (+ 3 (* 9 a))) (distinct (mod m 3) 2)", false),
        ("(= (* 4 n) (+ 2 (* 6 m)))  (> n 100)", true),
        ("(= (* 4 n) (+ 1 (* 6 m)))", false),
        ("(< 0 (- (* 3 n) (* 3 m)) 3)", false),
        ("(< 0 (+ (- (* 3 n) (* 3 m)) a) 3) (= a 0)", false),
        ("(= a (* 3 b)) (< (- c d) (mod a 3))", true),
        ("(= a (* 3 b)) (= (+ c 6) (div a 3))", true),
        ("(= m n) (<= (ite (>= n 0) (mod n 3) (- (mod (- n) 3))) (- 2)) (distinct (div m 3) 5)", true),
        ("(= (+ (* 2 a) (* 4 b) (* 6 c)) (+ 1 (* 8 d)))", false),
        ("(= (+ (* 2 a) (* 4 b) (* 6 c)) (+ m (* 8 d))) (= m (+ 1 (* 2 n)))", false),
        ("(= (+ (* 6 a) (* 10 b) (* 15 c)) 1) (> a 1000) (> b 1000)", true),
    ];
    let declare: String = "nmabcd".chars().map(|c| format!("(declare-const {c} Int)")).collect();
    for (text, expected) in scripts {
        let mut depth = 0;
        let mut parts = vec![String::new()];
        for c in text.chars() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            parts.last_mut().unwrap().push(c);
            if depth == 0 && c == ')' {
                parts.push(String::new());
            }
        }
        let script: String = parts.iter().filter(|p| !p.trim().is_empty()).map(|p| format!("(assert {p})")).collect();
        let mut terms = Terms::new();
        let commands = read(&format!("{declare}{script}"), &mut terms).unwrap();
        let goals: Vec<TermId> = commands
            .into_iter()
            .filter_map(|(_, c)| match c {
                Command::Assert(t, _) => t.ok(),
                _ => None,
            })
            .collect();
        let mut solver = Embedded::new();
        let assumed = solver.check(&terms, &goals, &Meter::unlimited());
        goals.iter().for_each(|&t| solver.assert(&terms, t));
        let asserted = solver.check(&terms, &[], &Meter::unlimited());
        for answer in [assumed, asserted] {
            assert!(if expected { answer.is_sat() } else { answer.is_unsat() }, "{text}: {answer:?}");
        }
    }
}

/// Terms that fault must not make others contradictory: storing outside an array, next to a disjunct that holds.
#[test]
fn a_store_outside_the_array_contradicts_nothing() {
    let mut t = Terms::new();
    let array = t.array_type(Type::Range(0, 69), Type::Range(-1, 2));
    let (a, p) = (t.declare("a", array), t.declare("p", Type::Bool));
    let (a, p, i, v) = (t.var(a), t.var(p), t.int(100), t.int(9));
    let stored = t.store(a, i, v);
    let same = t.eq(a, stored);
    let either = t.or([p, same]);
    for mut solver in [Embedded::new(), Embedded::new().listing(10)] {
        solver.assert(&t, either);
        assert!(solver.check(&t, &[], &Meter::unlimited()).is_sat());
        let not = t.not(p);
        assert!(solver.check(&t, &[not], &Meter::unlimited()).is_unsat(), "what faults is not true");
    }
}
