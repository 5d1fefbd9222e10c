//! Counter systems: `pre`, `post` and bases against what the interpreter says, state by state.

use trellis_model::counter::interpret::{State, step};
use trellis_model::counter::post::post;
use trellis_model::counter::pre::pre;
use trellis_model::counter::{Basis, Interval, Overflow, Rule, System, Update, Vector};

struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

fn runs(few: u64) -> u64 {
    std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(few)
}

fn rule(dice: &mut Dice, vars: u32, bounded: bool) -> Rule {
    let mut rule = Rule::default();
    for v in 0..vars {
        if dice.roll(2) == 0 {
            let low = dice.roll(3);
            let high = (bounded && dice.roll(3) == 0).then(|| low + dice.roll(2));
            rule.guards.push((v, Interval { low, high }));
        }
        if dice.roll(2) == 0 {
            let sources = (0..vars).filter(|_| dice.roll(3) == 0).collect();
            rule.updates.push((v, Update { sources, constant: dice.roll(5) as i64 - 2 }));
        }
    }
    rule
}

fn vector(dice: &mut Dice, vars: u32) -> Vector {
    Vector::new((0..vars).map(|v| (v, dice.roll(4))).collect())
}

fn states(vars: u32, most: u64) -> Vec<State> {
    let mut all = vec![vec![]];
    for _ in 0..vars {
        all = all.iter().flat_map(|s: &State| (0..=most).map(|n| [&s[..], &[n]].concat())).collect();
    }
    all
}

fn system(rule: Rule, vars: u32) -> System {
    System {
        names: (0..vars).map(|v| format!("x{v}")).collect(),
        rules: vec![rule],
        initial: vec![Interval::ANY; vars as usize],
        ..System::default()
    }
}

/// Where a state may get with one rule, if it may lose some first.
fn lossy(system: &System, from: &State, all: &[State]) -> Vec<State> {
    let smaller = all.iter().filter(|s| s.iter().zip(from).all(|(a, b)| a <= b));
    smaller.filter_map(|s| step(system, 0, s).unwrap()).collect()
}

#[test]
fn pre_is_exact() {
    let mut dice = Dice(1);
    let vars = 3;
    let all = states(vars, 6);
    for run in 0..runs(150) {
        let bounded = run % 2 == 0;
        let system = system(rule(&mut dice, vars, bounded), vars);
        let m = vector(&mut dice, vars);
        let before = pre(&system.rules[0], &m).unwrap();
        for a in &before {
            assert!(before.iter().all(|b| a == b || !a.leq(b)), "not minimal: {before:?}");
        }
        for s in &all {
            let leads = lossy(&system, s, &all).iter().any(|t| m.below(t));
            let listed = before.iter().any(|p| p.below(s));
            assert_eq!(leads, listed, "{} from {s:?} to {m:?}: {before:?}", system.describe(0));
        }
        if !m.iter().any(|(v, _)| system.rules[0].may_raise(v)) {
            assert!(before.iter().all(|p| m.leq(p)));
        }
    }
}

#[test]
fn post_is_exact() {
    let mut dice = Dice(2);
    let vars = 3;
    for run in 0..runs(300) {
        let system = system(rule(&mut dice, vars, run % 2 == 0), vars);
        let top = vector(&mut dice, vars);
        let dense: State = (0..vars).map(|v| top.get(v)).collect();
        let reached = lossy(&system, &dense, &states(vars, 3));
        let after = post(&system.rules[0], &top).unwrap();
        assert_eq!(after.is_some(), !reached.is_empty());
        if let Some(after) = after {
            assert!(reached.iter().all(|s| Vector::dense(s).leq(&after)));
            assert!(reached.iter().any(|s| Vector::dense(s) == after));
        }
    }
}

#[test]
fn bases_are_what_a_list_would_be() {
    let mut dice = Dice(3);
    for _ in 0..runs(60) {
        let (mut minimal, mut maximal, mut seen) = (Basis::default(), Basis::default(), vec![]);
        for _ in 0..40 {
            let v = Vector::new((0..5).map(|x| (x * 30, dice.roll(7).saturating_sub(3))).collect());
            let (below, above) = (seen.iter().any(|s: &Vector| s.leq(&v)), seen.iter().any(|s: &Vector| v.leq(s)));
            assert_eq!(minimal.below(&v).is_some(), below);
            assert_eq!(maximal.above(&v).is_some(), above);
            assert_eq!(minimal.insert_minimal(v.clone()).is_none(), below);
            assert_eq!(maximal.insert_maximal(v.clone()).is_none(), above);
            seen.push(v);
        }
        let of = |basis: &Basis| {
            let mut all: Vec<Vector> = basis.iter().cloned().collect();
            all.sort();
            assert_eq!(all.len(), basis.len());
            all
        };
        let list = |keep: &dyn Fn(&Vector) -> bool| {
            let mut all: Vec<Vector> = seen.iter().filter(|v| keep(v)).cloned().collect();
            all.sort();
            all.dedup();
            all
        };
        assert_eq!(of(&minimal), list(&|v| seen.iter().all(|s| s == v || !s.leq(v))));
        assert_eq!(of(&maximal), list(&|v| seen.iter().all(|s| s == v || !v.leq(s))));
    }
}

#[test]
fn updates_happen_at_once() {
    // y' = x, x' = 0: not y' = y + x, and not y' = 0.
    let updates = vec![(0, Update { sources: vec![], constant: 0 }), (1, Update { sources: vec![0], constant: 0 })];
    let both = system(Rule { updates, ..Rule::default() }, 2);
    assert_eq!(step(&both, 0, &vec![3, 5]).unwrap(), Some(vec![0, 3]));
    assert_eq!(pre(&both.rules[0], &Vector::new(vec![(1, 2)])).unwrap(), [Vector::new(vec![(0, 2)])]);
    assert_eq!(pre(&both.rules[0], &Vector::new(vec![(0, 1)])).unwrap(), []);
    // x' = 0 alone is a reset.
    let reset = system(Rule { updates: vec![(0, Update { sources: vec![], constant: 0 })], ..Rule::default() }, 1);
    assert_eq!(step(&reset, 0, &vec![7]).unwrap(), Some(vec![0]));
    assert_eq!(pre(&reset.rules[0], &Vector::new(vec![(0, 1)])).unwrap(), []);
}

#[test]
fn large_numbers_are_exact_or_refused() {
    let n = 1_000_000_000;
    let plus = Rule { updates: vec![(0, Update { sources: vec![0], constant: -(n as i64) })], ..Rule::default() };
    assert_eq!(pre(&plus, &Vector::new(vec![(0, n)])).unwrap(), [Vector::new(vec![(0, 2 * n)])]);
    assert_eq!(pre(&plus, &Vector::new(vec![(0, 1 << 50)])), Err(Overflow::Numbers));
    let sum = Rule { updates: vec![(0, Update { sources: vec![0, 1], constant: 0 })], ..Rule::default() };
    assert_eq!(pre(&sum, &Vector::new(vec![(0, n)])), Err(Overflow::Many));
}
