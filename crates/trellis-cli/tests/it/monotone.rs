//! Lattice models: what is not proved monotone is not joined, and what is assumed is said.

use std::path::Path;

use crate::{reports, root, stderr, stdout, temporary, trellis};

/// A loop of `d` steps before the guard that only the smaller element satisfies.
fn counter(d: i64) -> String {
    format!(
        "extern UnionBitVector; const int D = {d}; UnionBitVector x[4]; int[0,D] n;
         process P() {{ state A, B, Bad; init A;
           trans A -> B {{ assign x[0] = 1; }}, A -> B {{ }},
                 B -> B {{ guard n < D; assign n = n + 1; }},
                 B -> Bad {{ guard n == D && !x[0]; }}; }}
         system P;"
    )
}

/// One value of many before that guard.
fn chooser(d: i64) -> String {
    format!(
        "extern UnionBitVector; UnionBitVector x[4]; int[0,{most}] k;
         process P() {{ state A, B, C, Bad; init A;
           trans A -> B {{ assign x[0] = 1; }}, A -> B {{ }},
                 B -> C {{ select v : int[0,{most}]; assign k = v; }},
                 C -> Bad {{ guard k == {wanted} && !x[0]; }}; }}
         system P;",
        most = d - 1,
        wanted = d * 777 / 1000
    )
}

fn written(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let (gone, path) = temporary(name);
    std::fs::write(&path, text).expect("writable");
    (gone, path)
}

const NEVER: [&str; 2] = ["-p", "A[] not P.Bad"];

#[test]
fn an_antitone_guard_behind_a_counter_or_a_select_is_found_by_default() {
    for d in [1, 2, 3, 10, 60, 100, 400, 1000] {
        for model in [counter(d), chooser(d)] {
            let (_gone, path) = written("m.xta", &model);
            let out = trellis(&["check", &path, NEVER[0], NEVER[1], "-q"]);
            assert_eq!(out.status.code(), Some(10), "{model}: {}{}", stdout(&out), stderr(&out));
            assert!(stdout(&out).starts_with("UNSAFE"), "{}", stdout(&out));
        }
    }
}

#[test]
fn join_and_cover_without_a_proof_are_undecided_unless_it_is_stated() {
    for (model, update) in [(counter(100), "join"), (chooser(1000), "join"), (chooser(100), "cover")] {
        // The state without the bit is below the one with it: covering alone hides the bad state, if that comes first.
        let (_gone, path) = written("m.xta", &model);
        for more in [&["-q"][..], &[], &["--json"]] {
            let out = trellis(&[&["check", &path, NEVER[0], NEVER[1], "--update", update], more].concat());
            assert_eq!(out.status.code(), Some(20), "{}{}", stdout(&out), stderr(&out));
            let said = stdout(&out);
            assert!(said.contains("UNKNOWN") && said.contains("--assume"), "{said}");
            assert!(said.contains("not proved") && said.contains("the guard at "), "{said}");
        }
        let stated = ["check", &path, NEVER[0], NEVER[1], "--update", update, "--assume", "monotone"];
        let out = trellis(&[&stated[..], &["-q"]].concat());
        assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
        assert!(stdout(&out).contains("assuming monotone transitions (--assume monotone)"), "{}", stdout(&out));
        let found = reports(&trellis(&[&stated[..], &["--json"]].concat()));
        assert!(found[0]["assumes"][0].as_str().is_some_and(|a| a.contains("not proved")), "{found:?}");
    }
}

#[test]
fn what_is_found_is_found_with_or_without_a_proof() {
    let (_gone, path) = written("m.xta", &counter(3));
    let out = trellis(&["check", &path, "-p", "A[] not (P.B && x[0])", "--update", "join", "-q"]);
    assert_eq!(out.status.code(), Some(10), "{}", stdout(&out));
}

#[test]
fn a_certificate_that_rests_on_an_assumption_is_undecided_unless_it_is_stated() {
    let (_gone, path) = written("m.xta", &counter(5));
    let (_also, cert) = temporary("c.json");
    let stated = ["--assume", "monotone"];
    let made = ["check", &path, NEVER[0], NEVER[1], "--update", "join", "--certificate", &cert];
    assert_eq!(trellis(&[&made[..], &stated].concat()).status.code(), Some(0));
    let out = trellis(&["certify", &path, &cert, NEVER[0], NEVER[1]]);
    assert_eq!(out.status.code(), Some(20), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).starts_with("UNKNOWN") && stdout(&out).contains("not proved monotone"), "{}", stdout(&out));
    let out = trellis(&[&["certify", &path, &cert, NEVER[0], NEVER[1]], &stated[..]].concat());
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).contains("assuming monotone transitions"), "{}", stdout(&out));
    // One that is wrong anyway is rejected, whatever is stated.
    let text = std::fs::read_to_string(&cert).expect("written");
    let mut doc: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    doc["body"]["entries"].as_array_mut().expect("entries").remove(0);
    std::fs::write(&cert, doc.to_string()).expect("writable");
    assert_eq!(trellis(&["certify", &path, &cert, NEVER[0], NEVER[1]]).status.code(), Some(10));
}

#[test]
fn the_papers_models_are_proved_monotone() {
    for model in ["leader.xml", "database-work.xml", "lossy.xta", "binary-search.xta"] {
        let small = if model.starts_with("binary") { ["--const", "SIZE=20"] } else { ["--order", "bfs"] };
        let small =
            if model.starts_with("binary") { [&small[..], &["--const", "BOUND=95"]].concat() } else { small.to_vec() };
        let out = trellis(&[&["check", &format!("lattice/{model}"), "--json"], &small[..]].concat());
        assert_eq!(out.status.code(), Some(0), "{model}: {}", stderr(&out));
        for report in reports(&out) {
            assert_eq!(report["assumes"].as_array().map(Vec::len), Some(0), "{model}: {report}");
            let engine = report["engine"].as_str().unwrap_or_default();
            assert!(engine.contains("join update") || engine.contains("cover update"), "{model}: {report}");
        }
    }
    let out = trellis(&["check", "lattice/database-full.xml", "--const", "N_USERS=5"]);
    assert!(stderr(&out).contains("simple update: the model is not proved monotone: the guard at"), "{}", stderr(&out));
}

#[test]
fn what_cannot_end_without_monotonicity_is_undecided() {
    // It counts forever, and the guard asks for what is surely so.
    let model = "extern Interval; Interval x; process P() { state A, Bad; init A;
                 trans A -> A { assign x.add(1); }, A -> Bad { guard x.max() < -5; }; } system P;";
    let (_gone, path) = written("m.xta", model);
    let out = trellis(&["check", &path, NEVER[0], NEVER[1], "--states", "2000"]);
    assert_eq!(out.status.code(), Some(20), "{}", stdout(&out));
    assert!(stderr(&out).contains("not proved monotone"), "{}", stderr(&out));
}

#[test]
fn assume_is_for_lattices() {
    for args in [["timed/lamp.xml", "-q"], ["data/philosophers.xta", "-q"], ["coverability/synapse.spec", "-q"]] {
        let out = trellis(&[&["check"], &args[..], &["--assume", "monotone"]].concat());
        assert_eq!(out.status.code(), Some(2), "{args:?}: {}", stderr(&out));
        assert!(stderr(&out).contains("--assume"), "{}", stderr(&out));
    }
}

fn with_script(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("writable");
}

#[test]
fn the_marks_of_a_script_are_an_assumption_that_is_named() {
    let model = "extern CountSet; CountSet pool[3]; process P() { state A, Bad; init A; trans \
                 A -> A { select i : int[0, 1]; assign pool.add(i); }, \
                 A -> Bad { guard pool[2] && pool.count() >= 2; }; } system P;";
    let (gone, path) = written("m.xta", model);
    let script = std::fs::read_to_string(root().join("models/lattice/CountSet.lua")).expect("there");
    with_script(gone.path(), "CountSet.lua", &script);
    let ask = |more: &[&str]| trellis(&[&["check", &path, NEVER[0], NEVER[1]], more].concat());
    let out = ask(&[]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    assert!(stderr(&out).contains("simple update") && stderr(&out).contains("`CountSet(3)`"), "{}", stderr(&out));
    assert_eq!(ask(&["--update", "join", "-q"]).status.code(), Some(20));
    let out = ask(&["--assume", "monotone", "-q"]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).contains("assuming the laws and marks that the script of `CountSet(3)`"), "{}", stdout(&out));
    // Without marks, or with a wrong one.
    let (before, _) = script.split_once("  marks =").expect("it has marks");
    with_script(gone.path(), "CountSet.lua", &format!("{before}}}"));
    let out = ask(&["--assume", "monotone", "-q"]);
    assert!(stdout(&out).contains("`pool.add` (↕)"), "{}", stdout(&out));
    for (marks, said) in [
        ("{ get = \"down\" }", "moves as its mark says"),
        ("{ get = \"upwards\" }", "must be \"up\", \"down\" or \"none\""),
        ("{ got = \"up\" }", "no query and no update"),
    ] {
        with_script(gone.path(), "CountSet.lua", &format!("{before}  marks = {marks},\n}}"));
        let out = ask(&[]);
        assert_eq!(out.status.code(), Some(2), "{marks}: {}", stdout(&out));
        assert!(stderr(&out).contains(said), "{marks}: {}", stderr(&out));
    }
}

#[test]
fn two_scripts_of_one_name_are_two_lattices() {
    let script = |leq: &str, join: &str| {
        format!(
            "lattice = {{ state = \"integer\", initial = 0, leq = function(a, b) return {leq} end,
               join = function(a, b) return math.{join}(a, b) end,
               queries = {{ value = function(a) return a end }},
               updates = {{ put = function(a, v) return {} end }} }}",
            if join == "max" { "v" } else { "-v" }
        )
    };
    let (gone, path) = written(
        "m.xta",
        "extern Up from \"a/n.lua\"; extern Down from \"b/n.lua\"; Up u; Down d; process P() { state A, B, Bad; init A; trans
         A -> B { assign u.put(1), d.put(1); }, B -> Bad { guard d.value() == -1 && u.value() == 1; }; } system P;",
    );
    for folder in ["a", "b"] {
        std::fs::create_dir(gone.path().join(folder)).expect("a folder");
    }
    with_script(gone.path(), "a/n.lua", &script("a <= b", "max"));
    with_script(gone.path(), "b/n.lua", &script("a >= b", "min"));
    let out = trellis(&["check", &path, NEVER[0], NEVER[1], "-q"]);
    assert_eq!(out.status.code(), Some(10), "{}{}", stdout(&out), stderr(&out));
}
