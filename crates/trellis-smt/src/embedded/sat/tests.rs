//! The search against the `batsat` crate.

use std::time::{Duration, Instant};

use batsat::SolverInterface;
use batsat::{BasicSolver, lbool};

use super::*;

/// Has nothing to say.
struct Nothing;

impl Theory for Nothing {
    fn assign(&mut self, _: Lit) {}
    fn retract(&mut self, _: usize) {}
    fn check(&mut self, _: bool, _: &mut Vec<(Lit, Vec<Lit>)>) -> Verdict {
        Verdict::Fine
    }
}

/// Knows that at most two of its literals are true, and says so late or, now and then, at once.
#[derive(Default)]
struct AtMostTwo {
    told: Vec<Lit>,
    all: Vec<Lit>,
    eager: bool,
}

impl Theory for AtMostTwo {
    fn assign(&mut self, lit: Lit) {
        self.told.push(lit);
    }
    fn retract(&mut self, count: usize) {
        self.told.truncate(self.told.len() - count);
    }
    fn check(&mut self, complete: bool, implied: &mut Vec<(Lit, Vec<Lit>)>) -> Verdict {
        if !complete && !self.eager {
            return Verdict::Fine;
        }
        let on: Vec<Lit> = self.told.iter().copied().filter(|l| l.positive()).collect();
        if on.len() > 2 {
            return Verdict::Conflict(on[..3].iter().map(|&l| !l).collect());
        }
        if on.len() == 2 {
            implied.extend(self.all.iter().filter(|l| !on.contains(l)).map(|&l| (!l, on.clone())));
        }
        Verdict::Fine
    }
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 11
}

/// Clauses of three different variables, each numbered from 1, negative if negated.
fn three_sat(variables: u64, clauses: usize, state: &mut u64) -> Vec<Vec<i64>> {
    let literal = |state: &mut u64| {
        let v = (random(state) % variables) as i64 + 1;
        if random(state).is_multiple_of(2) { v } else { -v }
    };
    (0..clauses).map(|_| (0..3).map(|_| literal(state)).collect()).collect()
}

fn pigeons(holes: i64) -> Vec<Vec<i64>> {
    let at = |p: i64, h: i64| p * holes + h + 1;
    let mut clauses: Vec<Vec<i64>> = (0..=holes).map(|p| (0..holes).map(|h| at(p, h)).collect()).collect();
    for h in 0..holes {
        for p in 0..=holes {
            clauses.extend((0..p).map(|q| vec![-at(p, h), -at(q, h)]));
        }
    }
    clauses
}

fn ours(clauses: &[Vec<i64>]) -> (Sat, Vec<Lit>) {
    let mut sat = Sat::default();
    let most = clauses.iter().flatten().map(|l| l.unsigned_abs()).max().unwrap_or(0);
    let lits: Vec<Lit> = (0..most).map(|_| sat.variable()).collect();
    let lit = |l: &i64| if *l > 0 { lits[*l as usize - 1] } else { !lits[-*l as usize - 1] };
    for c in clauses {
        sat.clause(&c.iter().map(lit).collect::<Vec<_>>());
    }
    (sat, lits)
}

fn theirs(clauses: &[Vec<i64>]) -> BasicSolver {
    let mut solver = BasicSolver::default();
    for c in clauses {
        let mut lits: Vec<batsat::Lit> =
            c.iter().map(|l| batsat::Lit::new(solver.var_of_int(l.unsigned_abs() as u32 - 1), *l > 0)).collect();
        solver.add_clause_reuse(&mut lits);
    }
    solver
}

#[test]
fn answers_and_cores_are_those_of_another_solver() {
    let mut state = 42;
    let (mut sats, mut unsats) = (0, 0);
    for _ in 0..1500 {
        let variables = 5 + random(&mut state) % 25;
        let ratio = 30 + random(&mut state) % 25;
        let clauses = three_sat(variables, (variables * ratio / 10) as usize, &mut state);
        let (mut sat, lits) = ours(&clauses);
        for _ in 0..3 {
            let assumed: Vec<Lit> = lits
                .iter()
                .filter_map(|&l| match random(&mut state) % 12 {
                    0 => Some(l),
                    1 => Some(!l),
                    _ => None,
                })
                .collect();
            let ask = |assumed: &[Lit]| {
                let mut other = theirs(&clauses);
                let lits: Vec<batsat::Lit> = assumed
                    .iter()
                    .map(|l| batsat::Lit::new(other.var_of_int(l.var() as u32 - 1), l.positive()))
                    .collect();
                other.solve_limited(&lits) == lbool::TRUE
            };
            match sat.solve(&assumed, &mut Nothing, |_| false) {
                Outcome::Sat => {
                    sats += 1;
                    assert!(ask(&assumed));
                    assert!(assumed.iter().all(|&l| sat.value(l) == Some(true)));
                    let on = |l: &i64| sat.value(lits[l.unsigned_abs() as usize - 1]) == Some(*l > 0);
                    assert!(clauses.iter().all(|c| c.iter().any(on)));
                }
                Outcome::Unsat(core) => {
                    unsats += 1;
                    assert!(!ask(&assumed));
                    assert!(core.iter().all(|l| assumed.contains(l)));
                    assert!(!ask(&core), "the core is satisfiable");
                }
                o => panic!("{o:?}"),
            }
            sat.reset(&mut Nothing);
        }
    }
    assert!(sats > 300 && unsats > 300, "{sats} {unsats}");
}

#[test]
fn a_theory_is_as_good_as_its_clauses() {
    let mut state = 7;
    for round in 0..600 {
        let variables = 6 + random(&mut state) % 12;
        let clauses = three_sat(variables, (variables * 3) as usize, &mut state);
        let (mut sat, lits) = ours(&clauses);
        let some: Vec<Lit> = lits.iter().copied().take(6).collect();
        some.iter().for_each(|&l| sat.mark(l));
        let mut theory = AtMostTwo { all: some.clone(), eager: round % 2 == 0, ..AtMostTwo::default() };
        let mut with = clauses.clone();
        for a in 1..=some.len() as i64 {
            for b in 1..a {
                with.extend((1..b).map(|c| vec![-a, -b, -c]));
            }
        }
        let expected = theirs(&with).solve_limited(&[]) == lbool::TRUE;
        assert_eq!(sat.solve(&[], &mut theory, |_| false) == Outcome::Sat, expected, "round {round}");
    }
}

#[test]
fn restarts_follow_the_sequence_of_luby() {
    assert_eq!((0..15).map(luby).collect::<Vec<_>>(), [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
}

/// The measurement behind writing the loop ourselves: `cargo test --release -p trellis-smt rivals -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn rivals() {
    let mut state = 11;
    let mut families: Vec<(String, Vec<Vec<Vec<i64>>>)> = vec![("pigeons 6-8".into(), (6..=8).map(pigeons).collect())];
    for n in [100, 150, 200] {
        families.push((
            format!("3-SAT {n}"),
            (0..20).map(|_| three_sat(n, (n * 426 / 100) as usize, &mut state)).collect(),
        ));
    }
    for (name, problems) in families {
        let (mut mine, mut other) = (Duration::ZERO, Duration::ZERO);
        for p in &problems {
            let start = Instant::now();
            let a = ours(p).0.solve(&[], &mut Nothing, |_| false) == Outcome::Sat;
            mine += start.elapsed();
            let start = Instant::now();
            let b = theirs(p).solve_limited(&[]) == lbool::TRUE;
            other += start.elapsed();
            assert_eq!(a, b);
        }
        println!("{name}: ours {mine:?}, batsat {other:?}");
    }
}
