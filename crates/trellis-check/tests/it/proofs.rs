//! Proofs of the embedded solver against all valuations of small random problems; and proofs that somebody has tampered with.

use crate::problems::{Rng, World};
use trellis_check::proof::{Answer, follow, prove};
use trellis_expr::TermId;
use trellis_meter::Meter;
use trellis_smt::proof::{Arithmetic, Found, Problem, Step};
use trellis_smt::{Embedded, Solver, refute};

/// How many problems a test tries; `TRELLIS_RUNS` multiplies.
fn runs(n: u64) -> u64 {
    n * std::env::var("TRELLIS_RUNS").ok().and_then(|v| v.parse().ok()).unwrap_or(1)
}

fn limits() -> Meter {
    Meter::unlimited().steps(100_000)
}

fn world(seed: u64) -> World {
    if seed.is_multiple_of(4) { World::arrays(seed, 1 + (seed as i64 / 4) % 3) } else { World::new(seed) }
}

#[test]
fn there_is_a_proof_exactly_where_no_valuation_satisfies() {
    let (mut sat, mut unsat, mut open) = (0, 0, vec![]);
    for seed in 0..runs(300) {
        let mut w = world(seed);
        let all = w.valuations();
        if all.len() > 6000 {
            continue;
        }
        let mut asked = w.confine();
        asked.extend((0..1 + w.rng.below(4)).map(|_| w.bool(4)));
        let possible = all.iter().any(|v| asked.iter().all(|&t| w.holds(t, v)));
        match prove(&w.terms, &asked, &limits()) {
            Answer::Unsat(_) => {
                assert!(!possible, "seed {seed}: there is a proof, and a valuation that satisfies all");
                unsat += 1;
            }
            Answer::Open(_) if possible => sat += 1,
            Answer::Open(_) => open.push(format!("seed {seed}: no proof, and no valuation")),
            Answer::Unknown(why) => open.push(format!("seed {seed}: {why}")),
        }
    }
    println!("{sat} satisfiable, {unsat} proved, {} not decided", open.len());
    let wrong: Vec<&String> = open.iter().filter(|o| !o.contains("no theory")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(unsat > 60 && sat > 40 && open.len() < 100, "{sat}, {unsat}, {open:?}");
}

/// Integers without bounds: what the embedded solver refutes has a proof, what it satisfies has none.
#[test]
fn proofs_agree_with_the_solver() {
    let (mut sat, mut unsat, mut unknown) = (0, 0, 0);
    for seed in 0..runs(800) {
        let mut w = world(seed + 1_000_000);
        let asked: Vec<TermId> = (0..1 + w.rng.below(5)).map(|_| w.bool(4)).collect();
        let mut solver = Embedded::new();
        asked.iter().for_each(|&t| solver.assert(&w.terms, t));
        match (solver.check(&w.terms, &[], &limits()), prove(&w.terms, &asked, &limits())) {
            (trellis_smt::Answer::Unsat(_), Answer::Unsat(_)) => unsat += 1,
            (trellis_smt::Answer::Sat(_), Answer::Open(_)) => sat += 1,
            (trellis_smt::Answer::Unknown(_), _) | (_, Answer::Unknown(_)) => unknown += 1,
            (solver, proof) => panic!("seed {seed}: {solver:?}, {proof:?}"),
        }
    }
    println!("{sat} satisfiable, {unsat} proved, {unknown} not decided");
    assert!(sat > 100 && unsat > 100 && unknown < 100, "{sat}, {unsat}, {unknown}");
}

/// Problems of a kind of their own, close to the solver: clauses over bounds on sums that share integers; every other one has
/// equations instead of clauses.
fn bounds(seed: u64) -> Problem {
    let mut rng = Rng(seed);
    let equations = seed.is_multiple_of(2);
    let integers = 2 + rng.below(3);
    let mut problem = Problem { variables: 1, clauses: vec![vec![1]], integers, ..Problem::default() };
    let mut known = std::collections::HashMap::new();
    for _ in 0..if equations { 2 + rng.below(3) } else { 4 + rng.below(8) } {
        let mut sum: Vec<(u32, i64)> = (0..integers as u32).map(|x| (x, rng.between(-3, 3))).collect();
        sum.retain(|(_, k)| *k != 0);
        let Some(first) = sum.first().map(|s| s.1) else { continue };
        let divisor = sum.iter().fold(0, |g: i64, (_, k)| gcd(g, *k)) * first.signum();
        let sum: Vec<(u32, dashu_int::IBig)> = sum.into_iter().map(|(x, k)| (x, (k / divisor).into())).collect();
        let most = rng.between(-4, 4);
        let mut atom = |most: i64| {
            *known.entry((sum.clone(), most)).or_insert_with(|| {
                problem.variables += 1;
                problem.atoms.insert(problem.variables as i32, (sum.clone(), most.into()));
                problem.variables as i32
            })
        };
        let upper = atom(most);
        if equations {
            let lower = atom(most - 1 - i64::from(rng.one_in(4)));
            problem.clauses.extend([vec![upper], vec![-lower]]);
        }
    }
    problem.variables += 2;
    if !equations {
        for _ in 0..problem.variables + rng.below(problem.variables) {
            let n = [1, 2, 2, 3, 3][rng.below(5)];
            let literal = |rng: &mut Rng| {
                let v = 2 + rng.below(problem.variables - 1) as i32;
                if rng.one_in(2) { v } else { -v }
            };
            problem.clauses.push((0..n).map(|_| literal(&mut rng)).collect());
        }
    }
    problem
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// A model, by the meaning of the problem.
fn satisfies(problem: &Problem, bools: &[bool], integers: &[dashu_int::IBig]) -> bool {
    let truth = |l: i32| bools[l.unsigned_abs() as usize - 1] == (l > 0);
    problem.clauses.iter().all(|c| c.iter().any(|&l| truth(l)))
        && problem.atoms.iter().all(|(&v, (sum, most))| {
            let value: dashu_int::IBig = sum.iter().map(|(x, k)| &integers[*x as usize] * k).sum();
            truth(v) == (value <= *most)
        })
}

/// Changes one thing in a proof.
fn tamper(rng: &mut Rng, problem: &Problem, steps: &mut Vec<Step>) {
    let n = rng.below(steps.len());
    let literal = |rng: &mut Rng| {
        let v = 1 + rng.below(problem.variables + 1) as i32;
        if rng.one_in(2) { v } else { -v }
    };
    match (rng.below(6), &mut steps[n]) {
        (0, _) => _ = steps.remove(n),
        (1, _) => {
            let m = rng.below(steps.len());
            steps.swap(n, m);
        }
        (2, Step::Learnt(c, _) | Step::Lemma(c, _)) if !c.is_empty() => {
            let at = rng.below(c.len());
            c.remove(at);
        }
        (3, Step::Learnt(c, _) | Step::Lemma(c, _)) if !c.is_empty() => {
            let at = rng.below(c.len());
            c[at] = literal(rng);
        }
        (4, Step::Learnt(_, hints)) if !hints.is_empty() => {
            let at = rng.below(hints.len());
            hints[at] = rng.below(problem.clauses.len() + n + 2);
        }
        (_, Step::Lemma(_, why)) => change(rng, why),
        (_, Step::Learnt(_, hints)) => _ = hints.pop(),
    }
}

fn change(rng: &mut Rng, why: &mut Arithmetic) {
    match why {
        Arithmetic::Farkas(parts) => match rng.below(3) {
            0 => _ = parts.pop(),
            1 => parts.iter_mut().for_each(|p| p.1 = -&p.1),
            _ => {
                let at = rng.below(parts.len());
                parts[at].1 += rng.between(-2, 2);
            }
        },
        Arithmetic::Branch(_, most, sides) => match rng.below(3) {
            0 => *most += rng.between(-2, 2),
            1 => change(rng, &mut sides.0),
            _ => change(rng, &mut sides.1),
        },
        Arithmetic::Divisor(parts) => {
            let at = rng.below(parts.len());
            parts[at].2 += rng.between(-2, 2);
        }
    }
}

/// A proof that is followed has no model beside it, whatever was done to proof or problem.
#[test]
fn proofs_of_what_has_a_model_are_refused() {
    let (mut proved, mut refused, mut still, mut arithmetic) = (0, 0, 0, [0; 3]);
    for seed in 0..runs(1500) {
        let problem = bounds(seed);
        let mut rng = Rng(!seed);
        let steps = match refute(&problem, &limits()) {
            Found::Refutation(steps) => steps,
            Found::Model(bools, integers) => {
                assert!(satisfies(&problem, &bools, &integers), "seed {seed}: the model is none");
                continue;
            }
            Found::Unknown(_) => continue,
        };
        assert_eq!(follow(&problem, &steps), Ok(()), "seed {seed}");
        proved += 1;
        for s in &steps {
            if let Step::Lemma(_, why) = s {
                arithmetic[match why {
                    Arithmetic::Farkas(_) => 0,
                    Arithmetic::Branch(..) => 1,
                    Arithmetic::Divisor(_) => 2,
                }] += 1;
            }
        }
        // Without its last step, it is none.
        assert!(follow(&problem, &steps[..steps.len() - 1]).is_err(), "seed {seed}");
        for _ in 0..8 {
            // Another problem, which has a model; the same proof, or a changed one.
            let mut other = problem.clone();
            for _ in 0..1 + rng.below(4) {
                let n = 1 + rng.below(other.clauses.len() - 1);
                match rng.below(3) {
                    0 => other.clauses[n] = vec![1],
                    1 => {
                        let at = rng.below(other.clauses[n].len());
                        other.clauses[n][at] *= -1;
                    }
                    _ => {
                        let at = rng.below(other.atoms.len());
                        let Some(atom) = other.atoms.values_mut().nth(at) else { continue };
                        atom.1 += rng.between(-3, 3);
                    }
                }
            }
            let mut steps = steps.clone();
            if rng.one_in(2) {
                tamper(&mut rng, &problem, &mut steps);
            }
            match refute(&other, &limits()) {
                Found::Model(bools, integers) if satisfies(&other, &bools, &integers) => {
                    refused += 1;
                    assert!(follow(&other, &steps).is_err(), "seed {seed}: a proof of what has a model");
                }
                _ => still += 1,
            }
        }
    }
    println!("{proved} proofs, {arithmetic:?} lemmas, {refused} refused, {still} times no model");
    assert!(proved > 100 && refused > 300 && arithmetic.iter().all(|n| *n > 0), "{proved}, {refused}, {arithmetic:?}");
}

/// A change of a proof is noticed, unless what it leaves is a proof as well.
#[test]
fn changed_proofs_are_refused() {
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..runs(600) {
        let problem = bounds(seed);
        let Found::Refutation(steps) = refute(&problem, &limits()) else { continue };
        let mut rng = Rng(seed);
        for _ in 0..5 {
            let mut changed = steps.clone();
            tamper(&mut rng, &problem, &mut changed);
            if changed == steps {
                continue;
            }
            if follow(&problem, &changed).is_ok() { accepted += 1 } else { refused += 1 }
        }
    }
    println!("{refused} refused, {accepted} are proofs as well");
    assert!(refused > accepted, "{refused}, {accepted}");
}
