//! Programs and automata are checked: verdicts, runs in lines of the source, evidence on file, options that make no sense.

use serde_json::{Value, json};

use crate::{reports, root, stderr, stdout, temporary, trellis};

/// Checks a program given as text.
fn check(text: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let (_gone, path) = temporary("p.c");
    std::fs::write(&path, text).expect("written");
    let mut args = vec!["check", &path];
    args.extend(options);
    let out = trellis(&args);
    (out.status.code(), stdout(&out), stderr(&out))
}

#[test]
fn a_run_is_told_in_lines_of_the_source() {
    let out = trellis(&["check", "c/votes.c"]);
    assert_eq!(out.status.code(), Some(10));
    let said = stdout(&out);
    assert!(said.starts_with("UNSAFE   line 19: reach_error()") && said.contains("replayed)"), "{said}");
    let line = |words: &[&str]| said.lines().any(|l| words.iter().all(|w| l.contains(w)));
    // What is read, what changes, who returns what, and where it ends.
    assert!(line(&["votes.c:16", "votes[i] = __VERIFIER_nondet_int() > 0;", "__VERIFIER_nondet_int() = "]), "{said}");
    assert!(line(&["votes.c:8", "int total = 0;", "   total = 0"]), "{said}");
    assert!(line(&["votes.c:11", "return total;", "   sum() = 2"]), "{said}");
    let told = said.split("SAFE     6 bounds checks").next().unwrap_or_default();
    assert!(told.trim_end().ends_with("reach_error();"), "{said}");
    // Both loops have an `i`; temporaries are not shown.
    assert!(said.contains("main::i = 3") && said.contains("sum::i = 3") && !said.contains("tmp"), "{said}");
}

#[test]
fn structures_and_pointers_are_proven_and_shown() {
    let (code, said) = certify_changed("c/queue.c", "--certificate", |_| {});
    assert_eq!(code, Some(0), "{said}");
    let text = "struct s { int a; int *to; } v;\nint main() { int x = 0; v.to = &x;\n *v.to = 3; v.a = x;\n assert(v.a != 3); }";
    let (code, said, _) = check(text, &[]);
    assert_eq!(code, Some(10), "{said}");
    assert!(said.contains("v.a = 3") && said.contains("v.to@ = 1"), "{said}");
}

#[test]
fn the_readme_shows_a_run_as_it_is_printed() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let printed = stdout(&trellis(&["check", "c/overflow.c"]));
    for line in printed.lines().skip(1) {
        assert!(readme.contains(&format!("    {line}\n")), "{line}");
    }
}

#[test]
fn a_run_of_an_automaton_is_told_in_locations_and_statements() {
    let said = stdout(&trellis(&["check", "cfa/counter_bv_false.cfa"]));
    assert!(said.contains("L2 → L1   x := x + 1u4   x = 5") && said.contains("L3 → ERR"), "{said}");
}

#[test]
fn a_long_run_is_shortened_unless_it_is_wanted() {
    let text = "int main() { int x = 0;\n while (x < 40)\n  x++;\n reach_error(); }";
    let options = ["--domain", "explicit"];
    let (code, short, _) = check(text, &options);
    assert_eq!(code, Some(10));
    assert!(short.contains("lines (") && short.contains("--full-trace"), "{short}");
    let (_, full, _) = check(text, &["--domain", "explicit", "--full-trace"]);
    assert!(!full.contains("left out") && (0..=40).all(|n| full.contains(&format!("x = {n}\n"))), "{full}");
    assert!(short.lines().count() < full.lines().count());
}

#[test]
fn an_invariant_is_shown() {
    let said = stdout(&trellis(&["check", "cfa/locking.cfa", "--show-invariant"]));
    assert!(said.starts_with("SAFE") && said.contains("an invariant for 3 locations checked: "), "{said}");
    assert!(said.contains("1 proof followed") && said.contains("!lock"), "{said}");
    let said = stdout(&trellis(&["check", "c/count.c", "--show-invariant", "-q"]));
    assert!(said.contains("count.c:9"), "{said}");
}

#[test]
fn a_program_that_asks_nothing_is_undecided() {
    let text = "int main() { int x = 0; while (x < 5) x++; return x; }";
    let (code, said, _) = check(text, &[]);
    assert_eq!(code, Some(20));
    assert!(said.starts_with("UNKNOWN") && said.contains("nothing was asked"), "{said}");
    let (code, said, _) = check(text, &["--termination"]);
    assert_eq!(code, Some(0));
    assert!(said.starts_with("SAFE     every run ends"), "{said}");
}

#[test]
fn limits_make_it_undecided() {
    let (code, said, _) =
        check("int main() { int x = 0; while (x < 40) x++; assert(x < 40); }", &["--engine", "cegar", "--states", "5"]);
    assert_eq!(code, Some(20));
    assert!(said.starts_with("UNKNOWN") && said.contains("state limit"), "{said}");
}

#[test]
fn reports_speak_of_programs() {
    let found = reports(&trellis(&["check", "c/votes.c", "--json", "--predicates", "split"]));
    assert_eq!(found[0]["verdict"], "UNSAFE");
    assert_eq!(found[0]["language"], "c");
    assert!(found[0]["engine"].as_str().is_some_and(|e| e.starts_with("cegar, split predicates, Newton")));
    assert_eq!(found[0]["trace"]["schema"], "trellis-trace/2");
    let found = reports(&trellis(&["check", "c/lock.c", "--json"]));
    assert_eq!(found[0]["certificate"]["locations"], 3);
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    let cases: [(&[&str], &str); 14] = [
        (&["c/lock.c", "--update", "join"], "--update"),
        (&["c/lock.c", "--engine", "reach"], "--engine reach"),
        (&["c/lock.c", "--clocks", "bounds", "--non-zeno"], "--clocks: not for programs"),
        (&["c/lock.c", "--order", "random"], "--order random"),
        (&["c/lock.c", "--domain", "explicit", "--predicates", "boolean"], "--predicates goes with"),
        (&["c/lock.c", "--max-values", "3"], "--max-values goes with"),
        (&["c/lock.c", "--domain", "explicit", "--split", "atoms"], "--split goes with"),
        (&["c/lock.c", "-p", "line 999: nothing"], "--property"),
        (&["c/lock.c", "--const", "N=3"], "--const"),
        (&["cfa/locking.cfa", "--ints", "math"], "--ints"),
        (&["data/peterson.xta", "--domain", "explicit"], "--domain: not for networks of automata, only for programs"),
        (&["data/peterson.xta", "--engine", "cegar", "--order", "error"], "--engine cegar: only for programs"),
        (&["timed/lamp.xml", "--data-model", "ilp32"], "--data-model: not for networks"),
        (&["c/lock.c", "--domain", "everything"], "everything"),
    ];
    for (args, words) in cases {
        let mut all = vec!["check"];
        all.extend(args);
        let out = trellis(&all);
        assert_eq!(out.status.code(), Some(2), "{args:?}: {}", stdout(&out));
        assert!(stderr(&out).contains(words), "{args:?}: {}", stderr(&out));
    }
    assert_eq!(trellis(&["convert", "data/peterson.xta", "--to", "dot", "--ints", "math"]).status.code(), Some(2));
}

#[test]
fn programs_become_pages_and_graphs() {
    let (_gone, html) = temporary("r.html");
    let dot = html.replace("r.html", "t.dot");
    trellis(&["check", "c/votes.c", "-q", "--html", &html, "--dot", &dot]);
    let page = std::fs::read_to_string(&html).expect("a page");
    assert!(page.contains("UNSAFE") && page.contains("\"line\":19"), "{page}");
    assert!(std::fs::read_to_string(&dot).expect("a graph").contains("reach_error();"));
    trellis(&["check", "c/lock.c", "-q", "--html", &html]);
    assert!(std::fs::read_to_string(&html).expect("a page").contains("an invariant for 3 locations"));
}

/// What somebody does to evidence.
type Change<'a> = &'a dyn Fn(&mut Value);

/// Writes evidence, changes it, and asks whether it is still accepted.
fn certify_changed(model: &str, kind: &str, change: impl Fn(&mut Value)) -> (Option<i32>, String) {
    let (_gone, path) = temporary("e.json");
    trellis(&["check", model, "--engine", "cegar", "-q", kind, &path]);
    let mut doc: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("evidence")).expect("JSON");
    change(&mut doc);
    std::fs::write(&path, doc.to_string()).expect("writable");
    let out = trellis(&["certify", model, &path]);
    (out.status.code(), stdout(&out) + &stderr(&out))
}

fn text(v: &Value) -> &str {
    v.as_str().expect("a text")
}

#[test]
fn an_invariant_that_was_changed_is_rejected() {
    let (code, said) = certify_changed("c/count.c", "--certificate", |_| {});
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("VALID"), "{said}");
    let elements = |doc: &mut Value, change: &dyn Fn(&str) -> String| {
        let all = doc["body"]["invariant"].as_array_mut().expect("rows").iter_mut();
        for e in all.flat_map(|row| row["elements"].as_array_mut().expect("elements")) {
            *e = Value::from(change(text(e)));
        }
    };
    // Another number; another predicate; nothing at all known; nothing possible; a location without its row; one of another.
    let changes: [(&str, Change<'_>); 7] = [
        ("leads out", &|doc| elements(doc, &|e| e.replace(" 0i32", " 1i32").replace("(0i32", "(1i32"))),
        ("leads out", &|doc| elements(doc, &|e| e.replace("(<= 0i32 main::n)", "(< main::n 0i32)"))),
        ("leads out", &|doc| elements(doc, &|_| "true".into())),
        ("at the start", &|doc| elements(doc, &|_| "false".into())),
        ("leads out", &|doc| drop(doc["body"]["invariant"].as_array_mut().expect("rows").pop())),
        ("at the start", &|doc| drop(doc["body"]["invariant"].as_array_mut().expect("rows").remove(0))),
        ("error location", &|doc| {
            let row = json!({ "location": 12, "name": "error_assertion_1", "place": null, "elements": ["true"] });
            doc["body"]["invariant"].as_array_mut().expect("rows").push(row);
        }),
    ];
    for (words, change) in changes {
        let (code, said) = certify_changed("c/count.c", "--certificate", change);
        assert_eq!(code, Some(10), "{words}: {said}");
        assert!(said.starts_with("REJECTED") && said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_run_that_was_changed_is_rejected() {
    let (code, said) = certify_changed("c/votes.c", "--trace", |_| {});
    assert_eq!(code, Some(0), "{said}");
    let steps = |doc: &mut Value| doc["steps"].as_array_mut().expect("steps").clone();
    let picking =
        |doc: &mut Value| steps(doc).iter().position(|s| s["parts"][0]["choices"].is_array()).expect("a pick");
    let setting = |doc: &mut Value| steps(doc).iter().position(|s| s["set"]["main::i"] == 2).expect("i = 2");
    let changes: [(&str, Change<'_>); 6] = [
        ("another value", &|doc| {
            let n = setting(doc);
            doc["steps"][n]["set"]["main::i"] = Value::from(7);
        }),
        ("another value", &|doc| {
            let n = setting(doc);
            doc["steps"][n]["set"] = json!({});
        }),
        ("another value", &|doc| {
            let n = picking(doc);
            let value = doc["steps"][n]["parts"][0]["choices"][0].as_object_mut().and_then(|o| o.values_mut().next());
            *value.expect("a value") = Value::from(-5);
        }),
        ("leaves less open", &|doc| {
            let n = picking(doc);
            let pick = doc["steps"][n]["parts"][0]["choices"][0].clone();
            doc["steps"][n]["parts"][0]["choices"].as_array_mut().expect("choices").push(pick);
        }),
        ("starts elsewhere", &|doc| drop(doc["steps"].as_array_mut().expect("steps").remove(4))),
        ("no error location", &|doc| drop(doc["steps"].as_array_mut().expect("steps").pop())),
    ];
    for (words, change) in changes {
        let (code, said) = certify_changed("c/votes.c", "--trace", change);
        assert_eq!(code, Some(10), "{words}: {said}");
        assert!(said.starts_with("REJECTED") && said.contains(words), "{words}: {said}");
    }
}

#[test]
fn nonsense_in_evidence_is_an_input_error() {
    let certificate: [Change<'_>; 6] = [
        &|doc| doc["schema"] = Value::from("trellis-certificate/99"),
        &|doc| doc["body"]["k"] = Value::from(0),
        &|doc| doc["body"]["invariant"][0]["location"] = Value::from(77777),
        &|doc| doc["body"]["invariant"][0]["name"] = Value::from("nowhere"),
        &|doc| doc["body"]["invariant"][0]["elements"][0] = Value::from("(+ main::n true)"),
        &|doc| doc["body"]["invariant"][0]["elements"][0] = Value::from("main::n"),
    ];
    let trace: [Change<'_>; 5] = [
        &|doc| doc["steps"][3]["parts"][0]["takes"] = Value::from(99999),
        &|doc| doc["steps"][3]["parts"][0]["takes"] = Value::from(0),
        &|doc| doc["start"]["votes"] = Value::from(3),
        &|doc| doc["start"]["main::i"] = Value::from(1i64 << 40),
        &|doc| drop(doc["start"].as_object_mut().expect("values").remove("main::i")),
    ];
    for (model, kind, changes) in
        [("c/count.c", "--certificate", &certificate[..]), ("c/votes.c", "--trace", &trace[..])]
    {
        for (n, change) in changes.iter().enumerate() {
            let (code, said) = certify_changed(model, kind, change);
            assert_eq!(code, Some(2), "{kind} {n}: {said}");
            assert!(said.contains("expected") && !said.contains("panicked"), "{said}");
        }
    }
    // Evidence about mathematical integers says nothing about words.
    let (_gone, path) = temporary("e.json");
    trellis(&["check", "c/overflow.c", "-q", "--ints", "math", "--certificate", &path]);
    assert_eq!(trellis(&["certify", "c/overflow.c", "--ints", "math", &path]).status.code(), Some(0));
    let out = trellis(&["certify", "c/overflow.c", &path]);
    assert_eq!(out.status.code(), Some(10));
    assert!(stdout(&out).contains("it was made with --ints math, not with wrap"), "{}", stdout(&out));
}

#[test]
fn a_statechart_speaks_in_states_and_events() {
    let out = trellis(&["check", "scxml/traffic-light-open.scxml"]);
    assert_eq!(out.status.code(), Some(10));
    let said = stdout(&out);
    assert!(said.contains("!(In('green') && In('walk'))"), "{said}");
    assert!(
        said.contains("0   start\n")
            && said.contains("states = crossing, cars, green")
            && said.contains("1   event cars.stopped"),
        "{said}"
    );
    let (_gone, path) = temporary("loud.scxml");
    let chart = "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" xmlns:trellis=\"urn:trellis\" trellis:queue=\"2\">
        <state id=\"a\"><onentry><raise event=\"e\"/><raise event=\"e\"/><raise event=\"e\"/></onentry>
        <transition event=\"e\"/></state></scxml>";
    std::fs::write(&path, chart).expect("writable");
    let out = trellis(&["check", &path, "-p", "In('a')"]);
    assert_eq!(out.status.code(), Some(20), "{}", stdout(&out) + &stderr(&out));
    assert!(stdout(&out).contains("more internal events than the queue holds"), "{}", stdout(&out));
}

#[test]
fn a_transition_system_is_checked() {
    let text = "var x : integer = 0 trans { assume x < 5; x := x + 1; } init {} env {}";
    let (_gone, path) = temporary("p.xsts");
    std::fs::write(&path, text).expect("writable");
    let out = trellis(&["check", &path, "-p", "x <= 5", "-p", "x < 5"]);
    assert_eq!(out.status.code(), Some(10));
    let said = stdout(&out);
    assert!(said.contains("SAFE     x <= 5") && said.contains("UNSAFE   x < 5"), "{said}");
    for engine in ["cegar", "lazy", "bmc", "induction"] {
        let out = trellis(&["check", &path, "-p", "x < 5", "--engine", engine]);
        assert_eq!(out.status.code(), Some(10), "{engine}: {}", stderr(&out));
    }
    let (_gone_too, evidence) = temporary("e.json");
    for (property, kind) in [("x <= 5", "--certificate"), ("x < 5", "--trace")] {
        trellis(&["check", &path, "-p", property, kind, &evidence]);
        let out = trellis(&["certify", &path, &evidence, "-p", property]);
        assert!(stdout(&out).starts_with("VALID"), "{property}: {}", stdout(&out) + &stderr(&out));
    }
    let horn = stdout(&trellis(&["convert", &path, "-p", "x < 5", "--to", "horn"]));
    assert!(horn.starts_with("(set-logic HORN)") && horn.contains("(check-sat)"), "{horn}");
}
