//! Verdicts on small random automata, held against enumeration: of the runs, and of what a certificate says.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use trellis_check::program::{Rejection, certify};
use trellis_engine::program::{Outcome, Program, bmc, explicit, induction, invariants};
use trellis_expr::TermId;
use trellis_expr::Value;
use trellis_expr::code::NoHost;
use trellis_expr::eval::eval;
use trellis_meter::Meter;
use trellis_model::cfa::evidence::Certificate;
use trellis_model::cfa::interpret::{State, replay, successors};
use trellis_model::cfa::{Cfa, Kind, LocationId};
use trellis_model::evidence::{Reason, Verdict};

use crate::generator::{Random, can_fail, random, runs, some_run, valuations};

/// Automata with more valuations than this are left out.
const MANY: usize = 300;

/// Is the certificate `k`-inductive? By enumeration of all states, those that cannot be reached included.
fn certified(program: &Program<'_>, certificate: &Certificate) -> Result<(), String> {
    let mut cfa: Cfa = program.large.cfa.clone();
    cfa.terms = certificate.terms.clone();
    let invariant: BTreeMap<LocationId, &Vec<TermId>> = certificate.invariant.iter().map(|(l, e)| (*l, e)).collect();
    let inside = |s: &State| {
        let origin = program.large.origin[s.location.index()];
        let holds = |t: &TermId| eval(&cfa.terms, *t, &s.env, &mut NoHost) == Ok(Value::Bool(true));
        !cfa.is_error(s.location) && invariant.get(&origin).is_some_and(|elements| elements.iter().any(holds))
    };
    let key = |s: &State| (s.location, format!("{:?}", s.env));
    let post = |states: Vec<State>| -> Vec<State> {
        let mut seen = BTreeSet::new();
        let next = states.iter().flat_map(|s| successors(&cfa, s, 100_000).expect("few values"));
        next.map(|(_, s)| s).filter(|s| seen.insert(key(s))).collect()
    };
    let all = valuations(&cfa);
    let at = |location: LocationId| all.iter().map(move |env| State { location, env: env.clone() });
    let mut states: Vec<State> = at(cfa.initial).collect();
    for n in 0..certificate.k {
        if !states.iter().all(inside) {
            return Err(format!("it does not hold after {n} blocks from the start"));
        }
        states = post(states);
    }
    let mut states: Vec<State> = cfa.locations().flat_map(at).filter(inside).collect();
    for _ in 1..certificate.k {
        states = post(states).into_iter().filter(inside).collect();
    }
    if post(states).iter().all(inside) { Ok(()) } else { Err("it is not inductive".to_owned()) }
}

/// Can an error be reached with so many large blocks?
fn can_fail_within(program: &Program<'_>, depth: usize) -> bool {
    let cfa = &program.large.cfa;
    let start = valuations(cfa).into_iter().map(|env| State { location: cfa.initial, env });
    let mut states: Vec<State> = start.collect();
    let mut seen = BTreeSet::new();
    for _ in 0..depth {
        let next = states.iter().flat_map(|s| successors(cfa, s, 100_000).expect("few values"));
        let next = next.map(|(_, s)| s).filter(|s| seen.insert((s.location, format!("{:?}", s.env)))).collect();
        states = next;
        if states.iter().any(|s| cfa.is_error(s.location)) {
            return true;
        }
    }
    false
}

/// Runs an engine that gives up after some depth on random automata; answers how often it was safe, unsafe, and unknown.
fn held_against_enumeration(
    first: u64,
    depth: usize,
    engine: impl Fn(&mut Program<'_>, &mut Meter) -> Outcome,
) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in first..first + runs(60) {
        let small = random(seed, true);
        if valuations(&small).len() > MANY {
            continue;
        }
        let mut program = Program::new(&small);
        let mut budget = Meter::unlimited().time(Some(Duration::from_secs(10)));
        match engine(&mut program, &mut budget).verdict {
            Verdict::Safe(certificate) => {
                counts[0] += 1;
                assert!(!can_fail(&small), "seed {seed}: it is unsafe");
                certified(&program, &certificate).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
                certify(&small, &certificate, &Meter::unlimited()).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            }
            Verdict::Unsafe(trace) => {
                counts[1] += 1;
                let end = replay(&small, &trace).unwrap_or_else(|m| panic!("seed {seed}: {m}"));
                assert!(small.is_error(end.location), "seed {seed}");
            }
            Verdict::Unknown(why) => {
                counts[2] += 1;
                assert!(matches!(why, Reason::Depth | Reason::Stuck(_)), "seed {seed}: {why}");
                assert!(!can_fail_within(&program, depth), "seed {seed}: an error was overlooked");
            }
        }
    }
    println!("safe, unsafe, unknown: {counts:?}");
    counts
}

#[test]
fn bounded_model_checking_agrees_with_enumeration() {
    let options = bmc::Options { depth: Some(12), ..bmc::Options::default() };
    let [safe, unsafe_, _] = held_against_enumeration(0, 12, |program, budget| bmc::check(program, &options, budget));
    assert!(safe > 5 && unsafe_ > 10, "{safe} {unsafe_}");
}

#[test]
fn induction_agrees_with_enumeration() {
    for invariants_after in [None, Some(1)] {
        let search = bmc::Options { depth: Some(6), ..bmc::Options::default() };
        let options = induction::Options { search, invariants_after };
        let [safe, unsafe_, unknown] =
            held_against_enumeration(1000, 6, |program, budget| induction::check(program, &options, budget));
        assert!(safe > 15 && unsafe_ > 10, "{safe} {unsafe_} {unknown}");
    }
}

#[test]
fn listed_states_agree_with_enumeration() {
    let [safe, unsafe_, unknown] = held_against_enumeration(5000, 0, explicit::check);
    assert!(safe > 10 && unsafe_ > 10 && unknown < safe, "{safe} {unsafe_} {unknown}");
}

/// The same if hardly any value is listed: what a `havoc` leaves has none, as in large types.
#[test]
fn states_that_leave_values_open_agree_with_enumeration() {
    let [safe, unsafe_, unknown] =
        held_against_enumeration(7000, 0, |program, budget| explicit::check_listing(program, 1, budget));
    assert!(safe > 0 && unsafe_ > 5 && unknown > 0, "{safe} {unsafe_} {unknown}");
}

/// All states of such a proof are reached, so a checker must miss any of them.
#[test]
fn no_listed_state_may_be_left_out() {
    let mut dropped = 0;
    for seed in 6000..6000 + runs(40) {
        let small = random(seed, true);
        if valuations(&small).len() > MANY {
            continue;
        }
        let mut program = Program::new(&small);
        let Verdict::Safe(whole) = explicit::check(&mut program, &mut Meter::unlimited()).verdict else { continue };
        for at in 0..whole.invariant.len() {
            let elements = whole.invariant[at].1.len();
            let says_nothing = |t| whole.terms.as_bool(t) == Some(true);
            // One that leaves something open may stand for others.
            let says = |t: TermId| (whole.terms.free_vars(t), whole.terms.children(t).len());
            let alike = |all: &[TermId]| all.windows(2).all(|w| says(w[0]) == says(w[1]));
            if whole.invariant[at].1.iter().any(|&t| says_nothing(t)) || !alike(&whole.invariant[at].1) {
                continue;
            }
            let mut less = whole.clone();
            less.invariant[at].1.remove(seed as usize % elements);
            assert!(certify(&small, &less, &Meter::unlimited()).is_err(), "seed {seed}: a state is missing");
            dropped += 1;
        }
    }
    assert!(dropped > 20, "{dropped}");
}

/// What is found is inductive on its own, with one step.
#[test]
fn invariants_are_inductive() {
    let mut parts = 0;
    for seed in 2000..2000 + runs(40) {
        let small = random(seed, true);
        if valuations(&small).len() > MANY {
            continue;
        }
        let mut program = Program::new(&small);
        let found = invariants::find(&mut program, &mut Meter::unlimited()).expect("an answer");
        parts += program.large.cfa.locations().map(|l| found.parts(l).len()).sum::<usize>();
        let mut invariant = found.by_location(&mut program);
        // The certificate speaks of errors too: here they are as good as any other place.
        let errors: Vec<LocationId> = program.large.cfa.errors().collect();
        for l in errors {
            program.large.cfa.location_mut(l).kind = Kind::Plain;
            let yes = program.large.cfa.terms.bool(true);
            invariant.push((l, vec![yes]));
        }
        let certificate = program.certificate(program.large.cfa.terms.clone(), 1, invariant);
        certified(&program, &certificate).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
    assert!(parts > 50, "{parts}");
}

/// With integers there is no enumeration; but no run may contradict a proof, and the checker must accept it.
#[test]
fn proofs_about_integers_are_never_contradicted() {
    let search = bmc::Options { depth: Some(5), ..bmc::Options::default() };
    let options = induction::Options { search, invariants_after: Some(1) };
    let (mut safe, mut failing) = (0, 0);
    for seed in 3000..3000 + runs(60) {
        let small = random(seed, false);
        let mut program = Program::new(&small);
        let mut budget = Meter::unlimited().time(Some(Duration::from_secs(3)));
        match induction::check(&mut program, &options, &mut budget).verdict {
            Verdict::Safe(certificate) => {
                safe += 1;
                let limits = Meter::unlimited().time(Duration::from_secs(10));
                match certify(&small, &certificate, &limits) {
                    Ok(_) | Err(Rejection::Undecided(_)) => {}
                    Err(why) => panic!("seed {seed}: {why}"),
                }
                let mut r = Random::new(seed);
                for _ in 0..30 {
                    let trace = some_run(&small, 12, &mut r);
                    let end = replay(&small, &trace).unwrap_or_else(|m| panic!("seed {seed}: {m}"));
                    assert!(!small.is_error(end.location), "seed {seed}: it is unsafe");
                }
            }
            Verdict::Unsafe(trace) => {
                failing += 1;
                let end = replay(&small, &trace).unwrap_or_else(|m| panic!("seed {seed}: {m}"));
                assert!(small.is_error(end.location), "seed {seed}");
            }
            Verdict::Unknown(_) => {}
        }
    }
    assert!(safe > 10 && failing > 10, "{safe} {failing}");
}
