//! Random compositions of statecharts: all that the interpreter can do, against the automaton and all engines on it.
//!
//! `TRELLIS_RUNS=n` looks at `n` compositions.

mod generator;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use generator::{Random, package};
use trellis_check::{ltl as checker, program};
use trellis_engine::ltl::translate::translate;
use trellis_engine::program::cegar::{self, Domain};
use trellis_engine::program::post::Mode;
use trellis_engine::program::refine::Refinement;
use trellis_engine::program::{Engine, check, lazy};
use trellis_meter::Meter;
use trellis_model::cfa::interpret as automaton;
use trellis_model::evidence::{Reason, Verdict};
use trellis_model::gamma::System;
use trellis_model::gamma::interpret::{Fault, State, blank, outcomes};
use trellis_model::ltl::evidence::Verdict as Runs;
use trellis_model::ltl::product::Subject;
use trellis_model::ltl::{Formula, Spec};
use trellis_syntax::diag::{Sources, render};
use trellis_syntax::gamma::encode::{Encoded, encode};
use trellis_syntax::gamma::{self, Options};

use trellis_expr::code::NoHost;
use trellis_expr::eval::{Valuation, eval};
use trellis_expr::{TermId, Type, Value};

/// More states than this are too many for a test.
const MANY: usize = 400;

/// All states that the interpreter comes to, with what comes after each; whether there is a mistake.
struct All {
    states: Vec<State>,
    after: Vec<Vec<usize>>,
    starts: Vec<usize>,
    mistaken: bool,
}

/// Inputs with values.
type Raised = Vec<(usize, Vec<Value>)>;

/// All that the environment can do in a step: time, and what is raised.
fn environments(sys: &System) -> Vec<(i64, Raised)> {
    let values = |n: usize| -> Vec<Vec<Value>> {
        let types = sys.inputs[n].like.map_or(vec![], |s| {
            sys.signals[s].params.iter().map(|p| sys.terms.variable(p.1).ty).collect::<Vec<Type>>()
        });
        let each = types.into_iter().map(|ty| Value::all(&sys.terms, ty, 10).expect("few values"));
        each.fold(vec![vec![]], |all, values| {
            all.iter().flat_map(|v| values.iter().map(|n| [&v[..], std::slice::from_ref(n)].concat())).collect()
        })
    };
    let one = |n: usize| values(n).into_iter().map(move |v| (n, v));
    let mut all: Vec<Raised> = vec![vec![]];
    let with_one = |all: &[Raised], with: &[(usize, Vec<Value>)]| -> Vec<Raised> {
        all.iter().flat_map(|e| with.iter().map(|m| [&e[..], std::slice::from_ref(m)].concat())).collect()
    };
    if sys.one_message {
        all = (0..sys.inputs.len()).flat_map(|n| one(n).map(|m| vec![m])).collect();
    } else {
        let mut queues: Vec<(usize, usize)> = vec![];
        for n in 0..sys.inputs.len() {
            match sys.inputs[n].posts.first() {
                None => {
                    let with: Vec<_> = one(n).collect();
                    let more = with_one(&all, &with);
                    all.extend(more);
                }
                Some(p) if !queues.contains(&(p.0, p.1)) => queues.push((p.0, p.1)),
                Some(_) => {}
            }
        }
        for (a, q) in queues {
            for _ in 0..sys.adapters[a].executions.max(1) {
                let fits = |n: &usize| sys.inputs[*n].posts.first().is_some_and(|p| (p.0, p.1) == (a, q));
                let with: Vec<_> = (0..sys.inputs.len()).filter(fits).flat_map(one).collect();
                let more = with_one(&all, &with);
                all.extend(more);
            }
        }
    }
    let longest = sys.timers.iter().map(|t| t.duration).max().unwrap_or(0);
    all.into_iter().flat_map(|e| (0..=longest).map(move |t| (t, e.clone()))).collect()
}

fn explore(sys: &System) -> Option<All> {
    let mut all = All { states: vec![], after: vec![], starts: vec![], mistaken: false };
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut open = VecDeque::new();
    let environments = environments(sys);
    let mut add = |state: State, all: &mut All, open: &mut VecDeque<usize>| {
        let key = format!("{state:?}");
        *known.entry(key).or_insert_with(|| {
            all.states.push(state);
            all.after.push(vec![]);
            open.push_back(all.states.len() - 1);
            all.states.len() - 1
        })
    };
    match outcomes(sys, &blank(sys), |run| run.reset()) {
        Ok(starts) => {
            for state in starts {
                let n = add(state, &mut all, &mut open);
                all.starts.push(n);
            }
        }
        Err(fault) if fault.is_mistake() => all.mistaken = true,
        Err(fault) => panic!("{fault}"),
    }
    while let Some(n) = open.pop_front() {
        if all.states.len() > MANY || all.mistaken {
            return all.mistaken.then_some(all);
        }
        for (time, raised) in &environments {
            let from = all.states[n].clone();
            // Nobody sends what does not fit.
            let ends = outcomes(sys, &from, |run| {
                run.elapse(*time);
                for (input, values) in raised {
                    let no_room = |p: &(usize, usize, usize)| {
                        run.state.queues[p.0][p.1].len() >= sys.adapters[p.0].queues[p.1].capacity
                    };
                    if sys.inputs[*input].posts.iter().any(no_room) {
                        return Err(Fault::Blocked);
                    }
                    run.raise(*input, values);
                }
                run.step()
            });
            match ends {
                Ok(ends) => {
                    for end in ends {
                        let m = add(end, &mut all, &mut open);
                        all.after[n].push(m);
                    }
                }
                Err(fault) if fault.is_mistake() => all.mistaken = true,
                Err(fault) => panic!("{fault}"),
            }
        }
        all.after[n].sort_unstable();
        all.after[n].dedup();
    }
    Some(all)
}

/// A state without what is left of timers.
fn projected(sys: &System, values: &Valuation, queues: &impl std::fmt::Debug) -> String {
    let is_timer = |v| sys.timers.iter().any(|t| t.left == v);
    let seen: Vec<_> = sys.terms.variables().filter(|(v, _)| !is_timer(*v)).map(|(v, _)| values.get(&v)).collect();
    format!("{seen:?} {queues:?}")
}

/// The states in which the automaton rests, and whether it comes to a mistake.
fn rests(encoded: &Encoded) -> Option<(Vec<String>, bool)> {
    let cfa = &encoded.cfa;
    let start = automaton::State { location: cfa.initial, env: automaton::zero(cfa) };
    let (mut known, mut found, mut mistaken) = (HashMap::new(), vec![], false);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        if known.insert(format!("{state:?}"), ()).is_some() {
            continue;
        }
        if known.len() > 30_000 {
            return None;
        }
        mistaken |= Some(state.location) == encoded.mistake;
        if state.location == encoded.stable {
            found.push(projected(&encoded.system, &state.env, &encoded.queues(&state.env)));
        }
        let next = automaton::successors(cfa, &state, 100_000).expect("few values");
        open.extend(next.into_iter().map(|(_, s)| s));
    }
    found.sort();
    found.dedup();
    Some((found, mistaken))
}

/// Something that may hold now and then.
fn condition(r: &mut Random, encoded: &Encoded, cfa: &mut trellis_model::cfa::Cfa) -> TermId {
    let one = |r: &mut Random, cfa: &mut trellis_model::cfa::Cfa| {
        let t = match r.below(4) {
            0 | 1 => encoded.names.states[r.below(encoded.names.states.len())].1,
            2 => {
                let s = encoded.names.events[r.below(encoded.names.events.len())].1;
                cfa.terms.var(encoded.system.signals[s].flag)
            }
            _ => {
                let v = encoded.names.variables[r.below(encoded.names.variables.len())].1;
                let x = cfa.terms.var(v);
                match cfa.terms.variable(v).ty {
                    Type::Bool => x,
                    Type::Enum(e) => {
                        let literal = cfa.terms.enum_lit(e, r.below(2) as u32);
                        cfa.terms.eq(x, literal)
                    }
                    Type::Array(..) => {
                        let first = cfa.terms.int(0);
                        cfa.terms.select(x, first)
                    }
                    _ => {
                        let n = cfa.terms.int(r.below(3) as i64);
                        cfa.terms.eq(x, n)
                    }
                }
            }
        };
        if r.one_in(3) { cfa.terms.not(t) } else { t }
    };
    let all: Vec<TermId> = (0..1 + r.below(3)).map(|_| one(r, cfa)).collect();
    cfa.terms.and(all)
}

fn holds(terms: &trellis_expr::Terms, t: TermId, values: &Valuation) -> bool {
    eval(terms, t, values, &mut NoHost).expect("a value").as_bool() == Some(true)
}

fn engines(r: &mut Random) -> Vec<(&'static str, Engine)> {
    let domains = [Domain::Explicit, Domain::Predicates(Mode::Cartesian), Domain::Product(Mode::Cartesian)];
    let refinements = [Refinement::NewtonForward, Refinement::NewtonBackward, Refinement::Sequence, Refinement::Core];
    let cegar = cegar::Options {
        domain: domains[r.below(3)],
        refinement: refinements[r.below(4)],
        ..cegar::Options::default()
    };
    vec![
        ("explicit", Engine::Explicit),
        ("cegar", Engine::Cegar(cegar)),
        ("lazy", Engine::Lazy(lazy::Options::default())),
        ("bmc", Engine::Bmc(Some(14))),
    ]
}

fn meter() -> Meter {
    Meter::unlimited().time(Duration::from_secs(1))
}

/// The states from which a run goes on forever through states that a set has.
fn forever(all: &All, inside: &[bool]) -> Vec<bool> {
    let mut stays = inside.to_vec();
    loop {
        let next: Vec<bool> = (0..stays.len()).map(|n| stays[n] && all.after[n].iter().any(|m| stays[*m])).collect();
        if next == stays {
            return stays;
        }
        stays = next;
    }
}

/// The states that can be reached from some.
fn reached(all: &All, from: &[usize]) -> Vec<bool> {
    let mut seen = vec![false; all.states.len()];
    let mut open = from.to_vec();
    while let Some(n) = open.pop() {
        if !std::mem::replace(&mut seen[n], true) {
            open.extend(&all.after[n]);
        }
    }
    seen
}

#[test]
fn interpreter_and_engines_agree() {
    let count = std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let from = std::env::var("TRELLIS_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0_u64);
    let (mut compared, mut mistakes, mut answers, mut safe, mut formulas) = (0, 0, 0, 0, 0);
    for seed in from..from + count {
        let r = &mut Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let text = package(r);
        let mut sources = Sources::default();
        let id = sources.add("random.gcd", text.as_str());
        let read = gamma::read(&mut sources, id, &Options::default());
        let (system, _) = read.unwrap_or_else(|why| panic!("seed {seed}: {}\n{text}", render(&why, &sources, false)));
        let encoded = encode(system.expect("a component"));
        let sys = &encoded.system;
        let Some(all) = explore(sys) else { continue };
        let Some((found, mistaken)) = rests(&encoded) else { continue };
        compared += 1;
        assert_eq!(mistaken, all.mistaken, "seed {seed}: a mistake\n{text}");
        if mistaken {
            mistakes += 1;
            continue;
        }
        let mut states: Vec<String> = all.states.iter().map(|s| projected(sys, &s.values, &s.queues)).collect();
        states.sort();
        states.dedup();
        if found != states {
            let extra: Vec<_> = found.iter().filter(|s| !states.contains(s)).take(2).collect();
            let lost: Vec<_> = states.iter().filter(|s| !found.contains(s)).take(2).collect();
            panic!(
                "seed {seed}: {} states, {} of the interpreter\nextra {extra:?}\nlost {lost:?}\n{text}",
                found.len(),
                states.len()
            );
        }
        // A question about states.
        let mut cfa = encoded.cfa.clone();
        let good = condition(r, &encoded, &mut cfa);
        let asked = encoded.asked(good, cfa);
        let can_fail = all.states.iter().any(|s| !holds(&asked.cfa.terms, good, &s.values));
        for (name, engine) in engines(r) {
            match check(&asked.cfa, &engine, &mut meter()).verdict {
                Verdict::Safe(proof) => {
                    assert!(!can_fail, "seed {seed}: {name} says safe\n{text}");
                    match program::certify(&asked.cfa, &proof, &meter()) {
                        Ok(_) | Err(program::Rejection::Undecided(_)) => {}
                        Err(why) => panic!("seed {seed}: {name}: {why}"),
                    }
                    (answers, safe) = (answers + 1, safe + 1);
                }
                Verdict::Unsafe(trace) => {
                    assert!(can_fail, "seed {seed}: {name} says unsafe\n{text}");
                    program::replay(&asked.cfa, &trace).unwrap_or_else(|why| panic!("seed {seed}: {name}: {why}"));
                    let cycles = asked.cycles(&trace).expect("milliseconds");
                    asked.replay(&cycles).unwrap_or_else(|why| panic!("seed {seed}: {name}: {why}\n{text}"));
                    answers += 1;
                }
                // Arrays without bounds are not listed, and a machine may be busy.
                Verdict::Unknown(why) => assert!(
                    name != "explicit" || text.contains("[2]boolean") || why == Reason::Time,
                    "seed {seed}: {why:?}"
                ),
            }
        }
        // Formulas: `F p` and `G F p`.
        let p = good;
        let not: Vec<bool> = all.states.iter().map(|s| !holds(&asked.cfa.terms, p, &s.values)).collect();
        let avoids = forever(&all, &not);
        let eventually = !all.starts.iter().any(|n| avoids[*n]);
        let seen = reached(&all, &all.starts);
        let again = !(0..avoids.len()).any(|n| seen[n] && avoids[n]);
        let f = Formula::Finally(Box::new(Formula::Atom(0)));
        let gf = Formula::Globally(Box::new(f.clone()));
        for (formula, expected) in [(f, eventually), (gf, again)] {
            let mut plain = encoded.cfa.clone();
            plain.terms = asked.cfa.terms.clone();
            let subject = Subject::without_errors(&plain, |e| e.to == encoded.stable);
            let spec = Spec { formula: formula.clone(), atoms: vec![p], names: vec!["p".into()] };
            let automaton = translate(&Formula::Not(Box::new(formula))).expect("small");
            for engine in [
                trellis_engine::ltl::Engine::Explicit(Default::default()),
                trellis_engine::ltl::Engine::Bounded(Some(12)),
                trellis_engine::ltl::Engine::Cegar(Default::default()),
            ] {
                match trellis_engine::ltl::check(&subject, &[p], &automaton, &engine, &mut meter()).verdict {
                    Runs::Holds(_) => assert!(expected, "seed {seed}: {engine} says it holds\n{text}"),
                    Runs::Violated(lasso) => {
                        assert!(!expected, "seed {seed}: {engine} says it is violated\n{text}");
                        checker::replay(&subject, &spec, &lasso).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
                    }
                    Runs::Diverges(_) => assert!(!expected, "seed {seed}: {engine} says it is violated\n{text}"),
                    Runs::Unknown(_) => continue,
                }
                formulas += 1;
            }
        }
    }
    println!(
        "{compared} of {count} compared, {mistakes} mistaken; {answers} answers, {safe} safe; {formulas} formulas"
    );
    assert!(compared > count as usize / 4);
}
