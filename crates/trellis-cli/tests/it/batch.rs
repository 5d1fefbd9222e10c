//! Many models: results a line each, skipped when they are known, for other tools, and whole after a kill.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::{root, stderr, stdout};

fn batch(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_trellis"))
        .arg("batch")
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    (out.status.code(), stdout(&out) + &stderr(&out))
}

fn results(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("results.jsonl")).expect("results");
    text.lines().map(|l| serde_json::from_str(l).expect("a line of JSON")).collect()
}

/// A folder with a program that is right, one that is wrong, and one that is broken.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("good.c", "int main(void) { int x = 1; assert(x == 1); return 0; }");
    write("bad.c", "#include \"one.h\"\nint main(void) { int x = ONE;\n assert(x == 2); return 0; }");
    write("one.h", "#define ONE 1\n");
    write("broken.c", "int main(void) { return ; ");
    folder
}

#[test]
fn many_models_are_checked_and_known_ones_are_not_checked_again() {
    let folder = folder();
    let (code, said) =
        batch(folder.path(), &["*.c", "--jobs", "2", "--junit", "j.xml", "--sarif", "s.json", "--github"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("3 of 3 models: 1 hold, 1 fail, 0 undecided; 1 models not read or broken off"), "{said}");
    assert!(said.contains("::error file=bad.c,line=3::UNSAFE: line 3: assert(x == 2)"), "{said}");
    assert_eq!(results(folder.path()).len(), 3);
    let junit = fs::read_to_string(folder.path().join("j.xml")).unwrap();
    assert!(junit.contains("failures=\"1\"") && junit.contains("errors=\"1\""), "{junit}");
    let sarif: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("s.json")).unwrap()).unwrap();
    let rules: Vec<&str> =
        sarif["runs"][0]["results"].as_array().unwrap().iter().map(|r| r["ruleId"].as_str().unwrap()).collect();
    assert_eq!(rules, ["violation", "input"]);

    let (code, said) = batch(folder.path(), &["*.c"]);
    assert!(code == Some(2) && said.contains("3 known before"), "{said}");
    assert_eq!(results(folder.path()).len(), 3);
    // What a model is made of counts, too; and so do the options.
    fs::write(folder.path().join("one.h"), "#define ONE 2\n").unwrap();
    let (_, said) = batch(folder.path(), &["*.c"]);
    assert!(said.contains("2 hold, 0 fail") && said.contains("2 known before"), "{said}");
    let (_, said) = batch(folder.path(), &["good.c", "--", "--engine", "bmc"]);
    assert!(said.contains("1 of 1 models") && !said.contains("known before"), "{said}");
    let (_, said) = batch(folder.path(), &["*.c", "--only", "2", "--again"]);
    assert!(said.contains("1 of 1 models") && said.contains("broken.c"), "{said}");
}

#[test]
fn lists_and_suites_say_how_models_are_checked_and_what_is_expected() {
    let folder = folder();
    fs::write(folder.path().join("all.list"), "# two\ngood.c --engine bmc\nbad.c  -p no-overflow.prp  # options\n")
        .unwrap();
    fs::write(folder.path().join("no-overflow.prp"), "CHECK( init(main()), LTL(G ! overflow) )\n").unwrap();
    let (code, said) = batch(folder.path(), &["all.list"]);
    assert!(said.contains("2 of 2 models"), "{code:?} {said}");
    let suite = "options = ['--ints', 'math']\n[[task]]\nmodel = 'good.c'\nexpect = 'SAFE'\n[[task]]\nmodel = 'bad.c'\nexpect = 'UNSAFE'\n";
    fs::write(folder.path().join("suite.toml"), suite).unwrap();
    let (code, said) = batch(folder.path(), &["suite.toml"]);
    assert!(code == Some(0) && said.contains("1 hold, 1 fail"), "{said}");
    fs::write(folder.path().join("suite.toml"), suite.replace("'UNSAFE'", "'SAFE'")).unwrap();
    let (code, said) = batch(folder.path(), &["suite.toml"]);
    assert!(code == Some(10) && said.contains("expected SAFE, found UNSAFE"), "{said}");
    fs::write(folder.path().join("suite.toml"), suite.replace("model", "modell")).unwrap();
    let (code, said) = batch(folder.path(), &["suite.toml"]);
    assert!(code == Some(2) && said.contains("modell"), "{said}");
    fs::write(folder.path().join("results.jsonl"), "{}\n").unwrap();
    let (code, said) = batch(folder.path(), &["good.c"]);
    assert!(code == Some(2) && said.contains("results.jsonl:1: is no result of a batch"), "{said}");
    let (code, said) = batch(folder.path(), &["nothing/*.c"]);
    assert!(code == Some(2) && said.contains("there is no such model"), "{said}");
}

#[test]
fn a_batch_that_was_killed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    for n in 0..40 {
        let text = format!("int main(void) {{ int x = {n}; assert(x == {n}); return 0; }}");
        fs::write(folder.path().join(format!("p{n}.c")), text).unwrap();
    }
    for round in 0..3 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_trellis"))
            .args(["batch", "*.c", "--jobs", "1"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(60 + 40 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        // As if the kill had come in the midst of a line.
        if let Ok(text) = fs::read(folder.path().join("results.jsonl")) {
            fs::write(folder.path().join("results.jsonl"), [&text[..], b"{\"schema\":\"trell"].concat()).unwrap();
        }
    }
    let (code, said) = batch(folder.path(), &["*.c"]);
    assert!(code == Some(0) && said.contains("40 of 40 models: 40 hold"), "{said}");
    let mut models: Vec<String> = results(folder.path()).iter().map(|r| r["model"].to_string()).collect();
    models.sort();
    models.dedup();
    assert_eq!(models.len(), 40);
}

#[test]
fn the_bundled_models_are_a_suite() {
    let folder = tempfile::tempdir().expect("a folder");
    let pattern = root().join("models/coverability/*.spec");
    let (code, said) = batch(folder.path(), &[&pattern.to_string_lossy(), "--timeout", "30s"]);
    assert!(code == Some(10) && said.contains("0 undecided"), "{said}");
}
