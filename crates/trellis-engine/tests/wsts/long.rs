//! Runs in which something is done very often.

use trellis_check::counter::replay;
use trellis_engine::wsts::{Engine, forward};
use trellis_model::counter::evidence::{Trace, Verdict};
use trellis_model::counter::interpret::{repeat, step};

use crate::generator::{Dice, Kind, ask, runs, system};
use crate::paper::read;

#[test]
fn a_billion_steps_are_a_run_of_three_lines() {
    let system = read(
        "vars x y z rules true -> x' = x + 1; x >= 1000000000 -> y' = y + 3; y >= 7, x >= 2 -> x' = x - 2, z' = z + 1;
        init x = 0, y = 0, z = 0 target z >= 3, x >= 999999999",
    );
    for engine in [Engine::Portfolio(1), Engine::Forward(forward::Options::default())] {
        let Verdict::Unsafe(trace) = ask(&system, &engine, None).verdict else { panic!("{engine}") };
        replay(&system, &trace).expect("a run");
        assert!(trace.rules.len() <= 8, "{engine}: {trace:?}");
        assert!(trace.length() > 1_000_000_000, "{engine}: {trace:?}");
    }
    let one = read("vars x rules true -> x' = x + 1; init x = 0 target x >= 1000000000");
    let Verdict::Unsafe(trace) = ask(&one, &Engine::Portfolio(2), None).verdict else { panic!("it grows") };
    assert_eq!(trace, Trace { initial: vec![0], rules: vec![0], times: vec![1_000_000_000] });
}

#[test]
fn many_times_is_one_time_after_the_other() {
    for seed in 0..runs(300) {
        let s = system(seed, Kind { transfers: true, upper_bounds: true });
        let mut dice = Dice(seed);
        let start: Vec<u64> = s.names.iter().map(|_| dice.roll(9)).collect();
        for rule in 0..s.rules.len() as u32 {
            let mut state = Some(start.clone());
            for times in 0..12 {
                assert_eq!(repeat(&s, rule, &start, times).expect("it fits"), state, "{seed}: {rule} × {times}");
                state = state.and_then(|at| step(&s, rule, &at).expect("it fits"));
            }
        }
    }
}
