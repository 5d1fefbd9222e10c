//! Witnesses for SV-COMP's validators: well-formed, and true.

use std::process::Command;

use yaml_rust2::{Yaml, YamlLoader};

use crate::{root, stderr, temporary, trellis};

fn witness(model: &str, options: &[&str]) -> (Yaml, String) {
    let (_gone, path) = temporary("w.yml");
    let mut args = vec!["check", model, "--witness", &path];
    args.extend(options);
    let out = trellis(&args);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{e}: {}", stderr(&out)));
    let mut all = YamlLoader::load_from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(all.len(), 1);
    (all.remove(0)[0].clone(), stderr(&out))
}

/// What every witness says.
fn metadata(w: &Yaml, file: &str) {
    let m = &w["metadata"];
    assert_eq!(m["format_version"].as_str(), Some("2.0"));
    assert_eq!(m["uuid"].as_str().map(str::len), Some(36));
    assert!(m["creation_time"].as_str().is_some_and(|t| t.len() == 20 && t.ends_with('Z')));
    assert_eq!(m["producer"]["name"].as_str(), Some("Trellis"));
    assert_eq!(m["producer"]["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    let task = &m["task"];
    assert_eq!(task["input_files"][0].as_str(), Some(file));
    assert_eq!(task["input_file_hashes"][file].as_str().map(str::len), Some(64));
    assert!(task["specification"].as_str().is_some_and(|s| s.contains("G ! call(reach_error())")));
    assert_eq!(task["language"].as_str(), Some("C"));
}

#[test]
fn a_violation_is_a_sequence_of_waypoints() {
    let (w, _) = witness("c/votes.c", &["--data-model", "ilp32"]);
    assert_eq!(w["entry_type"].as_str(), Some("violation_sequence"));
    metadata(&w, "c/votes.c");
    assert_eq!(w["metadata"]["task"]["data_model"].as_str(), Some("ILP32"));
    let content = w["content"].as_vec().expect("segments");
    let points: Vec<&Yaml> = content.iter().map(|s| &s["segment"][0]["waypoint"]).collect();
    assert_eq!(points.len(), 4);
    for p in &points[..3] {
        assert_eq!(p["type"].as_str(), Some("function_return"));
        assert!(p["constraint"]["value"].as_str().is_some_and(|v| v.starts_with("\\result == ")), "{p:?}");
        assert_eq!(p["constraint"]["format"].as_str(), Some("acsl_expression"));
        // The closing parenthesis of the call.
        let at = &p["location"];
        assert_eq!((at["line"].as_i64(), at["column"].as_i64()), (Some(16), Some(38)));
    }
    let last = points[3];
    assert!(points.iter().all(|p| p["action"].as_str() == Some("follow")));
    assert_eq!(last["type"].as_str(), Some("target"));
    assert!(last["constraint"].is_badvalue());
    let at = &last["location"];
    assert_eq!(
        (at["line"].as_i64(), at["column"].as_i64(), at["function"].as_str()),
        (Some(19), Some(5), Some("main"))
    );
    let (w, _) = witness("c/overflow.c", &[]);
    let target = &w["content"][1]["segment"][0]["waypoint"]["location"];
    assert_eq!((target["line"].as_i64(), target["column"].as_i64()), (Some(7), Some(5)));
}

#[test]
fn what_a_variable_happened_to_hold_is_assumed_before_the_next_statement() {
    let (_gone, path) = temporary("p.c");
    let text =
        "void reach_error(void);\nint main(void) {\n  int x;\n  int y = 0;\n  if (x == 17)\n    reach_error();\n}\n";
    std::fs::write(&path, text).expect("written");
    let (w, _) = witness(&path, &[]);
    let first = &w["content"][0]["segment"][0]["waypoint"];
    assert_eq!(first["type"].as_str(), Some("assumption"));
    assert_eq!(first["constraint"]["value"].as_str(), Some("x == 17"));
    let at = &first["location"];
    assert_eq!((at["line"].as_i64(), at["column"].as_i64()), (Some(4), Some(3)));
}

/// The invariants of a witness: line, column, expression.
fn invariants(w: &Yaml) -> Vec<(i64, i64, String)> {
    let content = w["content"].as_vec().expect("invariants");
    let one = |i: &Yaml| {
        let i = &i["invariant"];
        assert_eq!(i["type"].as_str(), Some("loop_invariant"));
        assert_eq!(i["format"].as_str(), Some("c_expression"));
        let at = &i["location"];
        let number = |name: &str| at[name].as_i64().expect("a number");
        (number("line"), number("column"), i["value"].as_str().expect("a text").to_string())
    };
    content.iter().map(one).collect()
}

#[test]
fn a_proof_is_a_set_of_invariants() {
    let (w, _) = witness("c/count.c", &[]);
    assert_eq!(w["entry_type"].as_str(), Some("invariant_set"));
    metadata(&w, "c/count.c");
    assert_eq!(w["metadata"]["task"]["data_model"].as_str(), Some("LP64"));
    let all = invariants(&w);
    assert_eq!((all.len(), all[0].0, all[0].1), (1, 9, 3));
    assert!(all[0].2.contains("n)") && !all[0].2.contains("main::"), "{}", all[0].2);
    // A loop of another kind: nothing is said, and that is said.
    let (w, said) = witness("c/lock.c", &[]);
    assert!(invariants(&w).is_empty() && said.contains("left out of the witness"), "{said}");
}

const NESTED: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int g, i;
void check(int c) { if (!c) { reach_error(); } }
int main(void) {
  int s = 0;
  for (int i = 0; i < 4; i++) {
    int q = i;
    s += q;
    if (s > 1000) break;
  }
  int left = 5;
  while (__VERIFIER_nondet_int() && left--) {
    g = s;
    unsigned char t = 250;
    while (t > 2) { t++; }
    check(t == 0 && g == 6);
  }
  return 0;
}
";

/// An invariant must be C, its names known, and true whenever the program comes by: so it is put there as an assertion, and the
/// program compiled and run.
#[test]
fn invariants_are_true_c() {
    if Command::new("gcc").arg("--version").output().is_err() {
        return;
    }
    let (gone, path) = temporary("nested.c");
    std::fs::write(&path, NESTED).expect("written");
    let count = root().join("models/c/count.c").display().to_string();
    let mut said = 0;
    for (path, options) in
        [(&path, "--domain product"), (&path, "--predicates boolean"), (&count, "--predicates split")]
    {
        let (w, warned) = witness(path, &options.split(' ').chain(["--timeout", "60s"]).collect::<Vec<_>>());
        let text = std::fs::read_to_string(path).expect("readable");
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        for (line, _, value) in invariants(&w) {
            said += 1;
            // Into the condition, where a loop invariant holds.
            let line = &mut lines[line as usize - 1];
            *line = match line.trim_start().starts_with("for") {
                true => line.replacen("; ", &format!("; inv({value}) && "), 1),
                false => line.replacen("while (", &format!("while (inv({value}) && "), 1),
            };
            assert!(line.contains("inv("), "{line}");
        }
        let harness = "#include <assert.h>\n#include <stdlib.h>\n#define inv(c) ((c) ? 1 : (abort(), 0))\n\
                       int __VERIFIER_nondet_int(void) { static int n; return n++ % 7; }\n\
                       void reach_error(void) { abort(); }\n";
        let changed = gone.path().join("changed.c");
        let program = gone.path().join("changed");
        std::fs::write(&changed, format!("{harness}{}\n", lines.join("\n"))).expect("written");
        let built =
            Command::new("gcc").arg("-fwrapv").arg(&changed).arg("-o").arg(&program).output().expect("gcc runs");
        let complaints = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.success(), "{options}: {complaints}\n{}\n{warned}", lines.join("\n"));
        assert!(Command::new(&program).status().expect("it runs").success(), "{options}: {}", lines.join("\n"));
    }
    assert!(said >= 4, "{said}");
}

#[test]
fn witnesses_are_for_c_with_machine_integers() {
    for args in [&["cfa/locking.cfa"][..], &["c/count.c", "--ints", "math"], &["data/peterson.xta"]] {
        let (_gone, path) = temporary("w.yml");
        let mut all = vec!["check", "--witness", &path];
        all.extend(args);
        let out = trellis(&all);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(stderr(&out).contains("--witness"), "{args:?}: {}", stderr(&out));
    }
}
