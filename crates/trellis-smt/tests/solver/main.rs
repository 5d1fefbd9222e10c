//! The embedded solver against all valuations of small random problems.

mod world;

use trellis_smt::{Answer, Embedded, Limits, Solver};
use world::World;

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
        let mut solver = Embedded::new();
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
                    match solver.check(&w.terms, &assumptions, &Limits::none().steps(100_000)) {
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
