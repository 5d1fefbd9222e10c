//! Random hierarchies as automata: a solver and the plain interpreter must agree.

use std::time::Duration;

use trellis_engine::program::{Engine, check};
use trellis_meter::Meter;
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::automaton::automaton;
use trellis_model::hierarchy::explicit::Meaning;

use crate::random::{Random, model};
use crate::read;

#[test]
fn all_agree() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|r| r.parse().ok()).unwrap_or(12);
    let (mut done, mut safe, mut late, mut seed) = (0, 0, 0, 0);
    while done < runs {
        seed += 1;
        let mut r = Random::new(seed);
        let (text, bad) = model(&mut r, true);
        let context = format!("seed {seed}, bad {bad}\n{text}");
        let (built, bad) = read(&text, &bad);
        let h = &built.hierarchy;
        let Ok(meaning) = Meaning::of(h, 2_000) else { continue };
        let Some(asked) = automaton(h, bad, 200) else { continue };
        done += 1;
        let reachable = meaning.reachable(h.top, &meaning.initial(h, h.top));
        let reached = meaning.satisfying(h, h.top, bad).iter().any(|q| reachable.contains(q));
        let mut budget = Meter::unlimited().time(Some(Duration::from_secs(20)));
        match check(&asked.cfa, &Engine::Portfolio(1), &mut budget).verdict {
            Verdict::Safe(certificate) => {
                assert!(!reached, "{context}");
                safe += 1;
                let limits = trellis_meter::Meter::unlimited();
                trellis_check::program::certify(&asked.cfa, &certificate, &limits)
                    .unwrap_or_else(|e| panic!("{e}\n{context}"));
            }
            Verdict::Unsafe(run) => {
                assert!(reached, "{context}");
                let trace = asked.trace(&run).expect("small numbers");
                trellis_check::hierarchy::replay(h, None, bad, &trace).unwrap_or_else(|e| panic!("{e}\n{context}"));
            }
            Verdict::Unknown(_) => late += 1,
        }
    }
    eprintln!("{done} models of {seed}, {safe} safe, {late} without an answer");
    assert!(safe > 0 && late < done / 2);
}
