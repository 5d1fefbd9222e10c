//! Counter systems: what is read, what is refused, what is warned of.

use std::path::{Path, PathBuf};

use trellis_model::counter::{Interval, Vector};
use trellis_syntax::diag::{Diagnostic, Sources, render};
use trellis_syntax::spec::{Spec, decode, parse};

fn read(text: &str) -> Result<Spec, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let id = sources.add("test.spec", text);
    parse(&sources, id)
}

fn refused(text: &str) -> String {
    read(text).expect_err("refused")[0].message.clone()
}

#[test]
fn reads_what_the_language_has() {
    let spec = read(
        "# expected result: safe\nvars x y_1 z\nrules\ntrue -> ;\nx >= 1, y_1 = 0 -> x' = x - 1, z' = z + y_1 + x + 2, y_1' = 0;\n\
         z in [1, 3] -> x' = 1000000000;\ninit x >= 1, y_1 = 0, z in [2, 5]\ntarget x >= 2, z >= 1\ny_1 >= 3\n\
         invariants x = 1, y_1 = 2\n",
    )
    .unwrap();
    let s = &spec.system;
    assert_eq!(s.names, ["x", "y_1", "z"]);
    assert_eq!(s.initial, [Interval::at_least(1), Interval::exactly(0), Interval { low: 2, high: Some(5) }]);
    assert_eq!(s.target, [Vector::new(vec![(0, 2), (2, 1)]), Vector::new(vec![(1, 3)])]);
    assert_eq!(s.describe(1), "x >= 1, y_1 = 0 -> x' = x - 1, y_1' = 0, z' = x + y_1 + z + 2");
    assert_eq!(s.describe(2), "z in [1, 3] -> x' = 1000000000");
    assert!(!s.is_monotone() && !s.rules[1].is_monotone() && s.rules[0].is_monotone());
    // The invariant is none, and the rules have an upper bound.
    assert_eq!(spec.warnings.len(), 3);
    assert!(s.claimed.is_empty());
}

#[test]
fn differences_to_a_public_tool_are_warned_of() {
    let with = |rule: &str| {
        let spec = read(&format!("vars x y rules true -> {rule}; init x = 0, y = 0 target x >= 1")).unwrap();
        spec.warnings.iter().map(|w| w.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(with("x' = 0"), ["this forgets what the variable was: a reset"]);
    assert_eq!(with("y' = x, x' = 0"), ["the old value of this variable is not in the sum"]);
    assert_eq!(with("y' = y + x, x' = 0"), [""; 0]);
    assert_eq!(with("y' = y + 1, y' = y + 2"), ["this rule has set the variable already"]);
    let twice = read("vars y rules true -> y' = y + 1, y' = y + 2; init y = 0 target y >= 1").unwrap().system;
    assert_eq!(twice.describe(0), "true -> y' = y + 2");
}

#[test]
fn mistakes_have_a_place() {
    assert_eq!(refused(""), "expected `vars`, found the end of the file");
    assert_eq!(refused("vars x x rules init x = 0 target x >= 1"), "the variable `x` is declared twice");
    assert_eq!(refused("vars x rules y >= 1 -> ; init x = 0 target x >= 1"), "there is no variable `y`");
    assert_eq!(
        refused("vars x rules x > 1 -> ; init x = 0 target x >= 1"),
        "expected `=`, `>=` or `in`, found the character `>`"
    );
    assert_eq!(
        refused("vars x rules init x = 0 target x = 1"),
        "a target that limits a variable from above is reachability, not coverability"
    );
    assert_eq!(
        refused("vars x rules init x = 0 target"),
        "expected a target such as `x >= 1`, found the end of the file"
    );
    assert_eq!(refused("vars x rules init x in [3, 2] target x >= 1"), "there is no number in this interval");
    assert_eq!(
        refused("vars x rules init x = 1, x = 2 target x >= 1"),
        "the system cannot start: no number is in all these intervals"
    );
    assert_eq!(refused("vars x rules true -> x' = x + x; init x = 1 target x >= 1"), "`x` is added twice");
    assert_eq!(
        refused("vars x y rules true -> x' = x - y; init x = 1 target x >= 1"),
        "variables can only be added, not subtracted"
    );
    assert_eq!(
        refused("vars x rules init x = 99999999999999999999 target x >= 1"),
        "this number is too large; the limit is 1125899906842624"
    );
    let two = read("vars x rules x -> ; true -> y' = 1; init x = 0 target x >= 1").unwrap_err();
    assert_eq!(two.len(), 2);
}

#[test]
fn junk_is_refused_without_a_panic() {
    let good = "vars x y rules x >= 1 -> x' = x - 1, y' = y + x; init x >= 1, y = 0 target y >= 2 invariants x = 1";
    let pieces: Vec<&str> = good.split(' ').collect();
    let mut seed = 7_u64;
    for _ in 0..3000 {
        let mut words = pieces.clone();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (a, b) = ((seed >> 33) as usize % words.len(), (seed >> 13) as usize % pieces.len());
            match seed % 3 {
                0 => words[a] = pieces[b],
                1 => words.insert(a, "é'"),
                _ => drop(words.remove(a)),
            }
        }
        let mut sources = Sources::default();
        let id = sources.add("junk", words.join(" "));
        if let Err(d) = parse(&sources, id) {
            assert!(!render(&d, &sources, false).is_empty() && d.iter().all(|d| d.span.is_some()));
        }
    }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "spec") {
            out.push(path);
        }
    }
}

#[test]
fn reads_the_shared_models() {
    let mut all = vec![];
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/coverability"), &mut all);
    for path in all {
        let mut sources = Sources::default();
        let id = sources.add(path.display().to_string(), decode(std::fs::read(&path).unwrap()));
        if let Err(d) = parse(&sources, id) {
            // These ask for reachability.
            if path.parent().is_some_and(|p| p.ends_with("reachPN")) {
                assert!(d[0].message.contains("reachability"));
                continue;
            }
            panic!("{}", render(&d, &sources, false));
        }
    }
}
