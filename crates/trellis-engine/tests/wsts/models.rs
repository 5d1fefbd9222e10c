//! Protocols and nets: the bundled ones, and those beside the project where they are.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trellis_engine::wsts::{Engine, check, forward, lazy};
use trellis_meter::Meter;
use trellis_model::counter::System;
use trellis_model::counter::evidence::Verdict;
use trellis_syntax::diag::Sources;
use trellis_syntax::spec::{decode, parse};

use crate::generator::{ask, engines};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn load(path: &Path) -> Option<System> {
    let mut sources = Sources::default();
    let id = sources.add(path.display().to_string(), decode(std::fs::read(path).ok()?));
    Some(parse(&sources, id).ok()?.system)
}

/// Model and verdict, line by line.
fn expected(folder: &Path) -> Vec<(PathBuf, String)> {
    let text = std::fs::read_to_string(folder.join("EXPECTED.tsv")).unwrap_or_default();
    let row = |line: &str| {
        let (model, verdict) = line.split_once('\t')?;
        Some((folder.join(model), verdict.to_lowercase()))
    };
    text.lines().filter_map(row).filter(|r| r.0.extension().is_some_and(|e| e == "spec")).collect()
}

#[test]
fn all_engines_on_the_bundled_models() {
    let all = expected(&root().join("models/coverability"));
    assert!(all.len() >= 10);
    for (path, right) in all {
        let system = load(&path).unwrap_or_else(|| panic!("{} can be read", path.display()));
        for engine in engines(false) {
            // Without merging and invariants, lazy abstraction takes long on german.
            let limit = matches!(engine, Engine::Lazy(o) if !o.merged).then_some(20_000);
            let found = match ask(&system, &engine, limit).verdict {
                Verdict::Safe(_) => "safe",
                Verdict::Unsafe(_) => "unsafe",
                Verdict::Unknown(_) if limit.is_some() => continue,
                Verdict::Unknown(why) => panic!("{}, {engine}: {why}", path.display()),
            };
            assert_eq!(found, right, "{}, {engine}", path.display());
        }
    }
}

/// What 003 and the literature on cache coherence check: lazy abstraction decides all of it soon, and its invariants are accepted.
/// With `--nocapture` it says how much that took.
#[test]
fn lazy_abstraction_decides_the_protocols() {
    let plain = lazy::Options::default();
    let variants = [
        plain,
        lazy::Options { equal_depth: true, ..plain },
        lazy::Options { layers: true, ..plain },
        lazy::Options { layers: true, equal_depth: true, ..plain },
        lazy::Options { project: true, ..plain },
        lazy::Options { merged: true, ..plain },
    ];
    let long = std::env::var("TRELLIS_RUNS").is_ok();
    let all =
        ["table1", "mesi", "moesi", "synapse", "berkeley", "illinois", "firefly", "dragon", "futurebus", "german"];
    for name in all.iter().chain(&["csm-broadcast"]) {
        let system = load(&root().join(format!("models/coverability/{name}.spec"))).expect("a model");
        // Without projection, the algorithm has millions of nodes on german.
        for options in variants.iter().filter(|o| o.project || o.merged || long || *name != "german") {
            let started = std::time::Instant::now();
            let mut budget = Meter::unlimited().time(Some(Duration::from_secs(300)));
            let (outcome, counts) = lazy::counted(&system, options, &mut budget);
            let took = started.elapsed();
            println!(
                "{name:<14} {options:<40} {:?} {:>8} nodes {:>4} refinements {:>5} predicates",
                took, outcome.stats.added, outcome.stats.refinements, counts.predicates
            );
            match &outcome.verdict {
                Verdict::Safe(c) => trellis_check::counter::certify(&system, c).expect("an invariant"),
                other => panic!("{name}, {options}: {other:?}"),
            }
        }
    }
}

/// Quickly, all that is beside the project: nobody is wrong, and evidence is accepted.
#[test]
fn nobody_is_wrong_about_the_shared_models() {
    let folder = root().join("../shared/models/coverability");
    let long = std::env::var("TRELLIS_RUNS").is_ok();
    let step = if long { 1 } else { 5 };
    for (path, right) in expected(&folder).into_iter().step_by(step) {
        let small = std::fs::metadata(&path).is_ok_and(|m| m.len() < 6_000);
        let Some(system) = load(&path).filter(|_| small || long) else { continue };
        let mut all = engines(false);
        all.extend([true, false].map(|guide| Engine::Forward(forward::Options { guide })));
        all.push(Engine::Equation);
        all.push(Engine::Lazy(lazy::Options { equal_depth: true, ..lazy::Options::default() }));
        for engine in all {
            let time = Duration::from_millis(if long { 2000 } else { 20 });
            let outcome = check(&system, &engine, &mut Meter::unlimited().time(Some(time)));
            let found = match &outcome.verdict {
                Verdict::Safe(c) => {
                    trellis_check::counter::certify(&system, c).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                    "safe"
                }
                Verdict::Unsafe(t) => {
                    trellis_check::counter::replay(&system, t).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                    "unsafe"
                }
                Verdict::Unknown(_) => continue,
            };
            assert!(right == "?" || right == found, "{}, {engine}: {found}", path.display());
        }
    }
}
