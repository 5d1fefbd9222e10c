//! A path that a run has taken has a trace; a trace is a run.

use trellis_engine::program::Program;
use trellis_engine::program::trace::{NoTrace, Tracer};
use trellis_meter::Meter;
use trellis_model::cfa::EdgeId;
use trellis_model::cfa::interpret::replay;
use trellis_model::cfa::paths::wander;
use trellis_smt::{Embedded, Reason};

use crate::generator::{Random, random, runs, some_run};

/// Random runs of large blocks: whoever knows only the edges finds a run along them, and it can be told in small steps.
#[test]
fn paths_of_runs_have_traces() {
    let (mut steps, mut unknown) = (0, 0);
    for seed in 0..runs(400) {
        let small = random(seed, seed % 2 == 0);
        let mut program = Program::new(&small);
        let mut r = Random::new(seed);
        let mut tracer = Tracer::new();
        let mut solver = Embedded::new();
        for _ in 0..3 {
            let run = some_run(&program.large.cfa, 8, &mut r);
            let path: Vec<EdgeId> = run.steps.iter().map(|s| s.edge).collect();
            let trace = match tracer.trace(&mut program.large.cfa, &path, &mut solver, &Meter::unlimited()) {
                Ok(trace) => trace,
                // Integers can be too hard, once in a while.
                Err(NoTrace::Unknown(Reason::Steps)) => {
                    unknown += 1;
                    continue;
                }
                Err(why) => panic!("seed {seed}: {why:?}"),
            };
            assert!(path.iter().eq(trace.steps.iter().map(|s| &s.edge)), "seed {seed}");
            let end = replay(&program.large.cfa, &trace).unwrap_or_else(|m| panic!("seed {seed}: {m}"));
            let told = replay(&small, &program.trace(&trace)).unwrap_or_else(|m| panic!("seed {seed}: {m}"));
            assert_eq!(program.large.origin[end.location.index()], told.location, "seed {seed}");
            steps += path.len();
        }
    }
    assert!(steps > 1000 && unknown < steps / 1000, "{steps} {unknown}");
}

/// Random paths, most of them infeasible: what is found can be replayed.
#[test]
fn traces_of_any_path_are_runs() {
    let (mut found, mut none) = (0, 0);
    for seed in 0..runs(400) {
        let small = random(seed, seed % 2 == 0);
        let mut program = Program::new(&small);
        let path = wander(&program.large.cfa, (seed % 5) as usize, seed);
        let answer = Tracer::new().trace(&mut program.large.cfa, &path, &mut Embedded::new(), &Meter::unlimited());
        match answer {
            Ok(trace) => {
                found += 1;
                replay(&program.large.cfa, &trace).unwrap_or_else(|m| panic!("seed {seed}: {m}"));
            }
            Err(NoTrace::Infeasible) => none += 1,
            Err(NoTrace::Unknown(why)) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(found > 50 && none > 50, "{found} {none}");
}
