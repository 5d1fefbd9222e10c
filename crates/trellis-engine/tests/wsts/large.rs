//! Large numbers, large targets.

use std::fmt::Write;

use trellis_engine::wsts::{Engine, backward, forward};
use trellis_model::counter::evidence::Verdict;

use crate::generator::{ask, engines};
use crate::paper::read;

#[test]
fn a_thousand_million_is_exact() {
    let n = 1_000_000_000_u64;
    for (start, safe) in [(n - 1, true), (n, false)] {
        let system = read(&format!(
            "vars x y rules x >= {n} -> x' = x - {n}, y' = y + 1; init x = {start}, y = 0 target y >= 1"
        ));
        for engine in engines(true) {
            let verdict = ask(&system, &engine, None).verdict;
            assert_eq!(matches!(verdict, Verdict::Safe(_)), safe, "{engine}: {verdict:?}");
            assert_eq!(matches!(verdict, Verdict::Unsafe(_)), !safe, "{engine}: {verdict:?}");
        }
    }
}

#[test]
fn a_target_of_ten_thousand_parts() {
    // Never two different ones: 10^4 pairs of 100 and 100 variables, each group with a token of its own.
    let mut text = String::from("vars a b");
    (0..100).for_each(|i| write!(text, " x{i} y{i}").unwrap());
    text += "\nrules\n";
    for i in 0..100 {
        writeln!(text, "a >= 1 -> a' = a - 1, x{i}' = x{i} + 1; x{i} >= 1 -> x{i}' = x{i} - 1, a' = a + 1;").unwrap();
        writeln!(text, "a >= 1 -> a' = a - 1, y{i}' = y{i} + 1; y{i} >= 1 -> y{i}' = y{i} - 1, a' = a + 1;").unwrap();
    }
    text += "init a = 1, b = 0";
    (0..100).for_each(|i| write!(text, ", x{i} = 0, y{i} = 0").unwrap());
    text += "\ntarget\n";
    for i in 0..100 {
        (0..100).for_each(|j| writeln!(text, "x{i} >= 1, y{j} >= 1").unwrap());
    }
    let system = read(&text);
    assert_eq!(system.target.len(), 10_000);
    for engine in [
        Engine::Equation,
        Engine::Backward(backward::Options { prune: true }),
        Engine::Backward(backward::Options { prune: false }),
        Engine::Forward(forward::Options::default()),
        Engine::Frames,
    ] {
        assert!(matches!(ask(&system, &engine, None).verdict, Verdict::Safe(_)), "{engine}");
    }
}
