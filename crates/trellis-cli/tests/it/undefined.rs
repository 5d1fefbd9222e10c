//! What C leaves undefined is a verdict, with its line and its evidence.

use crate::{reports, root, stderr, stdout, temporary, trellis};

fn check(text: &str, options: &[&str]) -> (Option<i32>, String) {
    let (_gone, path) = temporary("p.c");
    std::fs::write(&path, text).expect("written");
    let mut args = vec!["check", &path, "-q"];
    args.extend(options);
    let out = trellis(&args);
    (out.status.code(), stdout(&out) + &stderr(&out))
}

#[test]
fn undefined_behaviour_is_a_verdict_with_its_line() {
    let cases = [
        (
            "int main(void) {\n int a[10];\n int i = 10;\n a[i] = 1;\n assert(0); }",
            "UNSAFE   line 4: a[i]: index outside",
        ),
        (
            "int main(void) {\n int z = 0;\n int x = 1 / z;\n assert(0);\n return x; }",
            "UNSAFE   line 3: 1 / z: division by zero",
        ),
        ("int main(void) {\n int s = 40;\n int x = 1 << s;\n return x; }", "UNSAFE   line 3: 1 << s: shift"),
        ("int main(void) {\n int *p = 0;\n *p = 1;\n assert(0); }", "UNSAFE   line 3: *p: null pointer"),
        (
            "int a[2][2];\nint main(void) {\n int *p = &a[0][0];\n return p[3]; }",
            "UNSAFE   line 4: p[3]: index outside",
        ),
        (
            "struct s { int x, y; } s;\nint main(void) {\n int *p = &s.x;\n return p[1]; }",
            "UNSAFE   line 4: p[1]: there is nothing",
        ),
        (
            "int *f(void) { int x = 1; return &x; }\nint main(void) {\n int *p = f();\n return *p; }",
            "line 4: *p: pointer to a variable that is gone",
        ),
        ("int f(int x) { if (x) return 1; }\nint main(void) { return f(0); }", "`f` ends without a value"),
    ];
    for (text, words) in cases {
        let (code, said) = check(text, &[]);
        assert_eq!(code, Some(10), "{text}\n{said}");
        assert!(said.contains(words), "{text}\n{said}");
        // The old meaning: an undefined run is none.
        let (code, said) = check(text, &["--assume-defined"]);
        assert!(code == Some(0) || code == Some(20) && said.contains("nothing was asked"), "{text}\n{said}");
    }
}

#[test]
fn overflow_and_values_never_set_are_options() {
    let overflow = "int main(void) { int x = __VERIFIER_nondet_int(); x = x + 1; assert(x == x); return 0; }";
    assert_eq!(check(overflow, &[]).0, Some(0));
    let (code, said) = check(overflow, &["--overflow"]);
    assert!(code == Some(10) && said.contains("UNSAFE   line 1: x + 1: overflow"), "{said}");
    let unset = "int main(void) { int x; int y = x; assert(y == y); return 0; }";
    assert_eq!(check(unset, &[]).0, Some(0));
    let (code, said) = check(unset, &["--uninitialised"]);
    assert!(code == Some(10) && said.contains("line 1: x: read before it is set"), "{said}");
}

#[test]
fn a_function_without_a_body_is_never_safe() {
    let (code, said) = check("int g = 1; void init(void); int main(void) { init(); assert(g == 1); return 0; }", &[]);
    assert!(code == Some(10) && said.contains("UNKNOWN  line 1: `init` has no body"), "{said}");
    let (code, said) = check("void init(void); int main(void) { int x = 1; init(); assert(x == 1); return 0; }", &[]);
    assert!(code == Some(20) && said.contains("SAFE     line 1: assert(x == 1)"), "{said}");
    assert_eq!(check("int nondet_int(void); int main(void) { int x = nondet_int(); assert(x == x); }", &[]).0, Some(0));
}

/// A header may be a device that never ends: the preprocessor is stopped, and that is no mistake in the program.
#[cfg(unix)]
#[test]
fn the_time_limit_covers_the_preprocessor() {
    if !std::process::Command::new("gcc").arg("--version").output().is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: there is no gcc");
        return;
    }
    let text = "#include \"/dev/zero\"\nint main(void) { return 0; }\n";
    // Less than gcc takes to run out of the memory that it may have.
    for options in
        [&["--timeout", "200ms"][..], &["--timeout", "200ms", "--json"], &["--timeout", "200ms", "--ltl", "F false"]]
    {
        let (code, said) = check(text, &[&["--root", "/"], options].concat());
        assert_eq!(code, Some(20), "{options:?}: {said}");
        assert!(said.contains("time limit"), "{options:?}: {said}");
    }
}

#[test]
fn property_files_choose_what_is_asked() {
    let text = "int a[2]; int main(void) { int i = __VERIFIER_nondet_int(); if (i == 2) a[i] = 1; i++; if (i == 3) reach_error(); while (1) ; }";
    let cases = [
        ("G ! call(reach_error())", Some(0), "SAFE"),
        ("G ! overflow", Some(10), "overflow"),
        ("G valid-deref", Some(10), "index outside"),
        ("F end", Some(10), "every run ends"),
        ("G ! data-race", Some(2), "`G!data-race` is not known"),
    ];
    for (formula, code, words) in cases {
        let (_gone, path) = temporary("p.prp");
        std::fs::write(&path, format!("CHECK( init(main()), LTL({formula}) )\n")).expect("written");
        let (found, said) = check(text, &["--property-file", &path]);
        assert!(found == code && said.contains(words), "{formula}: {said}");
    }
}

#[test]
fn evidence_is_about_the_check_that_fails() {
    let text = "int main(void) { int n = __VERIFIER_nondet_int();\n int a[3];\n a[n] = 0;\n n = 7 / n;\n assert(n != 3);\n return 0; }";
    let (_gone, path) = temporary("p.c");
    std::fs::write(&path, text).expect("written");
    let (_gone_too, trace) = temporary("t.json");
    let certificate = trace.replace("t.json", "c.json");
    let out = trellis(&["check", &path, "--json", "--trace", &trace, "--certificate", &certificate]);
    let found = reports(&out);
    let unsafe_ones = found.iter().filter(|r| r["verdict"] == "UNSAFE").count();
    assert_eq!((out.status.code(), unsafe_ones), (Some(10), 3), "{}", stdout(&out));
    for n in 1..=3 {
        let file = trace.replace("t.json", &format!("t-{n}.json"));
        let said = stdout(&trellis(&["certify", &path, &file]));
        assert!(said.starts_with("VALID  line "), "{said}");
        // The same run shows nothing about another check.
        let other = found[n % 3]["query"].as_str().expect("a query");
        let mut doc: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&file).expect("a trace")).expect("JSON");
        doc["property"] = other.into();
        std::fs::write(&file, doc.to_string()).expect("writable");
        assert_ne!(trellis(&["certify", &path, &file]).status.code(), Some(0), "{other}");
    }
    // What is left out is not proved, so that is not the program's own question; who asks it gets the answer.
    assert_eq!(trellis(&["certify", &path, &certificate]).status.code(), Some(10));
    let text = std::fs::read_to_string(&certificate).expect("a certificate");
    let doc: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let said = stdout(&trellis(&["certify", &path, &certificate, "-p", doc["property"].as_str().expect("a property")]));
    assert!(said.starts_with("VALID  no error is reached, but for: line "), "{said}");
}

/// An invariant for all checks proves each of them; named for one, it is not a proof of the program.
#[test]
fn a_proof_of_one_check_is_none_of_the_program() {
    let (_gone, path) = temporary("two.c");
    let text = "#include <assert.h>\nint nondet_int(void);\nint main(void) {\n  int x = nondet_int();\n  int y = 0;\n  \
                if (x > 3) { y = 10 / x; assert(y < 4); }\n  assert(y >= 0);\n  return 0;\n}\n";
    std::fs::write(&path, text).expect("writable");
    let (_gone, certificate) = temporary("c.json");
    assert_eq!(trellis(&["check", &path, "--certificate", &certificate]).status.code(), Some(0));
    let whole = std::fs::read_to_string(&certificate).expect("a certificate");
    let one = "line 6: assert(y < 4)";
    std::fs::write(&certificate, whole.replace("\"no error is reached\"", &format!("\"{one}\""))).expect("writable");
    assert_eq!(trellis(&["certify", &path, &certificate]).status.code(), Some(10));
    assert_eq!(trellis(&["certify", &path, &certificate, "-p", one]).status.code(), Some(0));
}

/// The programs that are kept beside the repository, with what a C developer expects of each.
#[test]
fn the_programs_with_undefined_behaviour() {
    let folder = root().join("../shared/models/c-ub");
    let Ok(table) = std::fs::read_to_string(folder.join("EXPECTED.tsv")) else {
        eprintln!("skipped: there are no such programs here");
        return;
    };
    for row in table.lines().filter(|l| !l.starts_with('#')) {
        let mut columns = row.split('\t');
        let (Some(name), Some(verdict), Some(why)) = (columns.next(), columns.next(), columns.next()) else { continue };
        let path = folder.join(name).display().to_string();
        let out = trellis(&["check", &path, "-q", "--timeout", "60s"]);
        let said = stdout(&out);
        let code = match verdict {
            "SAFE" => 0,
            "UNSAFE" => 10,
            _ => 20,
        };
        match out.status.code() {
            // What is not read is refused.
            Some(2) => continue,
            found if name == "glob.c" => assert!(found == Some(10) && said.contains("`init` has no body"), "{said}"),
            found => assert_eq!(found, Some(code), "{name}: {said}"),
        }
        if let (true, Some(line)) = (verdict == "UNSAFE", why.split(':').next()) {
            assert!(said.lines().any(|l| l.starts_with(&format!("UNSAFE   {line}:"))), "{name}: {said}");
        }
    }
}
