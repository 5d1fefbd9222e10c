//! Inputs that are meant to do harm: odd bytes, files that are none of the model's business, names that a terminal would obey, phases
//! that take forever.

use std::path::Path;

use crate::{root, stderr, stdout, temporary, trellis};

fn written(name: &str, text: impl AsRef<[u8]>) -> (tempfile::TempDir, String) {
    let (folder, path) = temporary(name);
    std::fs::write(&path, text).expect("writable");
    (folder, path)
}

/// Exit code and all that was said.
fn run(args: &[&str]) -> (Option<i32>, String) {
    let out = trellis(args);
    (out.status.code(), stdout(&out) + &stderr(&out))
}

#[test]
fn bytes_that_are_no_text_have_a_place() {
    for (command, name) in [("smt", "a.smt2"), ("mec", "a.mec5"), ("check", "a.c")] {
        let (_gone, path) = written(name, b"a\xff");
        let (code, said) = run(&[command, &path]);
        assert_eq!(code, Some(2), "{name}: {said}");
        assert!(said.contains("found the byte 0xff at offset 1"), "{name}: {said}");
    }
}

#[test]
fn evidence_without_a_property_is_refused() {
    let model = root().join("models/data/philosophers.xta").display().to_string();
    let (_gone, file) = temporary("c.json");
    run(&["check", &model, "-p", "A[] true", "--certificate", &file]);
    let text = std::fs::read_to_string(&file).expect("written").replace("A[] true", "");
    std::fs::write(&file, text).expect("writable");
    for more in [&[][..], &["-p", ""], &["-p", "A[] true"]] {
        let (code, said) = run(&[&["certify", &model, &file], more].concat());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("does not say which property"), "{said}");
    }
}

#[test]
fn names_do_not_reach_the_terminal_as_commands() {
    let text = "node main event 'a\u{1b}[31m', 'b\u{9b}1m'; state s : bool; init s := false; \
                trans s = false |- 'a\u{1b}[31m' -> s := true; s = true |- 'b\u{9b}1m' -> ; edon";
    let (_gone, path) = written("m.alt", text);
    for args in [&["check", "-p", "A[] s = false"][..], &["simulate", "--random", "3"]] {
        let (_, said) = run(&[&args[..1], &[&path], &args[1..]].concat());
        assert!(said.contains("<a\u{fffd}[31m>"), "{said}");
        assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
    }
}

fn has_gcc() -> bool {
    std::process::Command::new("gcc").arg("--version").output().is_ok_and(|o| o.status.success())
}

#[test]
fn models_read_nothing_outside_their_folder_unless_somebody_says_so() {
    let (gone, _) = written("secret.h", "int secret;\n");
    let below = gone.path().join("below");
    std::fs::create_dir(&below).expect("a folder");
    let file = |name: &str, text: &str| {
        std::fs::write(below.join(name), text).expect("writable");
        below.join(name).display().to_string()
    };
    let root = gone.path().display().to_string();
    let wider = |model: &str, more: &[&str]| {
        let (code, said) = run(&[&["check", model], more].concat());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("is not below the folder") && said.contains("--root DIR"), "{said}");
        let (code, said) = run(&[&["check", model, "--root", &root], more].concat());
        assert_eq!(code, Some(0), "{said}");
    };
    std::fs::write(gone.path().join("Deep.lua"), script("return a.n <= b.n")).expect("writable");
    let text = "process P() { state A; init A; } system P;";
    wider(&file("m.xta", &format!("extern Deep from \"../Deep.lua\"; Deep d; {text}")), &["-p", "A[] P.A"]);
    if has_gcc() {
        let body = "int main(void) { assert(1); return 0; }\n";
        wider(&file("a.c", &format!("#include \"../secret.h\"\n{body}")), &[]);
        // By way of a macro, and of another header.
        wider(&file("b.c", &format!("#define H \"../secret.h\"\n#include H\n{body}")), &[]);
        file("c.h", "#include \"../secret.h\"\n");
        wider(&file("c.c", &format!("#include \"c.h\"\n{body}")), &[]);
        let (code, said) = run(&["check", &file("d.c", &format!("#include <limits.h>\n{body}"))]);
        assert_eq!(code, Some(0), "{said}");
        // Never opened, so there is no need for a limit.
        let (code, said) = run(&["check", &file("e.c", &format!("#include \"/dev/zero\"\n{body}"))]);
        assert!(code == Some(2) && said.contains("`/dev/zero` is not below"), "{said}");
    }
}

fn script(leq: &str) -> String {
    format!(
        "lattice = {{ state = {{ \"n\" }}, initial = {{ n = 0 }}, leq = function(a, b) {leq} end, \
         join = function(a, b) return {{ n = math.max(a.n, b.n) }} end, updates = {{}}, queries = {{}} }}"
    )
}

#[test]
fn the_time_limit_covers_translations_audits_and_checks() {
    let limited = |args: &[&str]| {
        let (code, said) = run(&[args, &["--timeout", "300ms"]].concat());
        assert_eq!(code, Some(20), "{args:?}: {said}");
        assert!(said.contains("time limit"), "{args:?}: {said}");
    };
    let (gone, path) = written("m.xta", "extern Slow; Slow s; process P() { state A; init A; } system P;");
    let slow = script("local k = 0; for i = 1, 3000000 do k = k + 1 end; return a.n <= b.n");
    std::fs::write(Path::new(gone.path()).join("Slow.lua"), slow).expect("writable");
    limited(&["check", &path, "-p", "A[] P.A"]);
    let (_gone, path) = written("m.c", "int x; int main(void) { while (1) { x = x + 1; } }");
    let one = |i: i32| format!("(G F (x = {i}) | F G (x = {}))", i + 20);
    limited(&["check", &path, "--ltl", &(0..10).map(one).collect::<Vec<_>>().join(" & ")]);
}

#[test]
fn a_check_of_evidence_has_a_time_limit() {
    let model = root().join("models/timed/fischer-4-32-64.xta").display().to_string();
    let (_gone, file) = temporary("c.json");
    let asked = ["-p", "A[] !deadlock"];
    run(&[&["check", &model, "--certificate", &file], &asked[..]].concat());
    let (code, said) = run(&[&["certify", &model, &file, "--timeout", "1ms"], &asked[..]].concat());
    assert!(code == Some(20) && said.contains("time"), "{said}");
}
