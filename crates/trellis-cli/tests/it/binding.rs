//! Evidence is bound to files, options, a property and a tool; whoever changes any of them, or takes it to another model, is found out.

use serde_json::{Value, json};

use crate::{asking, root, stderr, stdout, temporary, trellis};

/// A model, what is asked of it, how it is searched, and which evidence that gives.
type Case = (&'static str, &'static [&'static str], &'static str);

/// Every formalism, every kind of evidence.
const CASES: [Case; 17] = [
    ("lattice/leader.xml", &[], "--certificate"),
    ("lattice/lossy.xta", &["--const", "M=2", "-p", "A[] not Receiver.Wrong"], "--trace"),
    ("timed/fischer-4-32-64.xta", &["-p", "A[] not (P(1).cs && P(2).cs)"], "--certificate"),
    ("data/philosophers.xta", &["-p", "A[] not deadlock", "--const", "N=3"], "--trace"),
    (
        "data/philosophers.xta",
        &["-p", "A[] !(Philosopher(0).Eating && Philosopher(1).Eating)", "--engine", "hierarchy"],
        "--certificate",
    ),
    ("c/count.c", &[], "--certificate"),
    ("c/overflow.c", &["--ints", "math"], "--certificate"),
    ("c/votes.c", &[], "--trace"),
    ("xsts/choices.xsts", &[], "--trace"),
    ("coverability/mesi.spec", &[], "--certificate"),
    ("coverability/mesi_bug.spec", &[], "--trace"),
    ("altarica/fifo2.alt", &["--error", "Head.object = no & Queue.object != no"], "--trace"),
    ("altarica/stack3.alt", &["--node", "Stack2", "--error", "Top.object != no & Stack.object = no"], "--certificate"),
    ("hierarchy/alarm4.hts.json", &[], "--certificate"),
    ("ltl/networks/semaphore.xta", &["--ltl", "G F A.inside", "--fair", "strong"], "--certificate"),
    ("ltl/cfa/wave_flag.cfa", &["--ltl", "G F(x)"], "--certificate"),
    ("ltl/cfa/wave_flag.cfa", &["--ltl", "G(x)"], "--trace"),
];

/// Evidence as it is written.
fn evidence((model, options, kind): Case) -> String {
    let (_gone, path) = temporary("e.json");
    let out = trellis(&[&["check", model, "-q", kind, &path], options].concat());
    std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{model}: {}{}", stdout(&out), stderr(&out)))
}

/// What is said of a text as evidence.
fn certified(model: &str, options: &[&str], text: &str) -> (Option<i32>, String) {
    let (_gone, path) = temporary("e.json");
    std::fs::write(&path, text).expect("written");
    let out = trellis(&[&["certify", model, &path], &asking(options)[..]].concat());
    (out.status.code(), stdout(&out) + &stderr(&out))
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Parts of a document, as pointers.
fn parts(v: &Value, path: &str, all: &mut Vec<String>) {
    match v {
        Value::Object(o) => o.iter().for_each(|(k, v)| parts(v, &format!("{path}/{}", k.replace('/', "~1")), all)),
        Value::Array(a) => a.iter().enumerate().for_each(|(i, v)| parts(v, &format!("{path}/{i}"), all)),
        _ => {}
    }
    all.push(path.to_string());
}

/// Something else in the same place.
fn others(v: &Value) -> Vec<Value> {
    match v {
        Value::String(s) => {
            vec![json!(format!("{s} ")), json!(""), json!(s.to_uppercase() + "x"), json!(7), Value::Null]
        }
        Value::Number(n) => vec![json!(n.as_i64().unwrap_or(0) + 1), json!(1e30), json!(n.to_string()), Value::Null],
        Value::Bool(b) => vec![json!(!b), Value::Null],
        Value::Null => vec![json!(0), json!("x")],
        Value::Array(a) => vec![json!([&a[..], &[json!("x")]].concat()), json!({}), Value::Null],
        Value::Object(o) => {
            let mut more = o.clone();
            more.insert("const".into(), json!("N=4"));
            more.insert("more".into(), json!("x"));
            vec![Value::Object(more), json!([]), Value::Null]
        }
    }
}

const HEADER: [&str; 6] = ["schema", "tool", "language", "inputs", "property", "options"];

#[test]
fn evidence_is_valid_as_it_was_written_and_in_any_order_of_fields() {
    for case in CASES {
        let text = evidence(case);
        for text in [&text, &format!("\n{text}\n\n"), &read(&text).to_string()] {
            let (code, said) = certified(case.0, case.1, text);
            assert!(code == Some(0) && said.starts_with("VALID"), "{case:?}: {said}");
        }
    }
}

#[test]
fn every_part_of_the_header_counts() {
    for case in CASES {
        let doc = read(&evidence(case));
        let mut all = vec![];
        HEADER.iter().for_each(|name| parts(&doc[*name], &format!("/{name}"), &mut all));
        for at in all {
            for other in others(doc.pointer(&at).expect("a part")) {
                let mut changed = doc.clone();
                *changed.pointer_mut(&at).expect("a part") = other.clone();
                let (code, said) = certified(case.0, case.1, &changed.to_string());
                assert!(matches!(code, Some(2 | 10)), "{case:?}: {at} = {other}: {said}");
                assert!(!said.contains("panicked"), "{said}");
            }
        }
        for name in HEADER {
            let mut changed = doc.clone();
            changed.as_object_mut().expect("an object").remove(name);
            let (code, said) = certified(case.0, case.1, &changed.to_string());
            assert!(matches!(code, Some(2 | 10)), "{case:?}: without {name}: {said}");
        }
    }
}

/// What stands there for people: `text`, `set`, `shown`, `channel`, `place`, … and fields that nobody knows.
#[test]
fn what_a_person_reads_is_what_was_checked() {
    // In these, another number can make another proof; the header is tried above.
    let proofs =
        ["/entries/", "/bounds/", "/invariant/", "/definitions/", "/nodes/", "/rankings/", "/edges/", "/tuples/"];
    let proofs = [&proofs[..], &["/never/", "/within/", "/traps/", "/tests/", "/k"]].concat();
    let proofs: Vec<String> = proofs.iter().map(|p| format!("/body{p}")).collect();
    for case in CASES {
        let text = evidence(case);
        let doc = read(&text);
        let mut all = vec![];
        parts(&doc, "", &mut all);
        let of_header = |at: &String| HEADER.iter().any(|name| at.starts_with(&format!("/{name}")));
        all.retain(|at| !of_header(at) && !proofs.iter().any(|p| at.starts_with(p.as_str())));
        let share = (all.len() / 25).max(1);
        for (n, at) in all.iter().enumerate().filter(|(n, _)| n % share == 0) {
            let others = others(doc.pointer(at).expect("a part"));
            let other = &others[n / share % others.len()];
            let mut changed = doc.clone();
            *changed.pointer_mut(at).expect("a part") = other.clone();
            if changed == doc {
                continue;
            }
            let (code, said) = certified(case.0, case.1, &changed.to_string());
            assert!(matches!(code, Some(2 | 10)), "{case:?}: {at} = {other}: {said}");
            assert!(!said.contains("panicked"), "{said}");
        }
        // Twice the same field: who knows which of them a person reads.
        let twice = text.replacen('{', "{\"property\": \"A[] true\",", 1);
        let (code, said) = certified(case.0, case.1, &twice);
        assert!(code == Some(2) && said.contains("each name once"), "{case:?}: {said}");
    }
}

#[test]
fn a_certificate_of_one_model_is_none_of_another() {
    // The same model with a line more; the same bytes under another name; the same question about another model.
    let copy = |from: &str, to: &str, more: &str| {
        let (gone, path) = temporary(to);
        let text = std::fs::read_to_string(root().join("models").join(from)).expect("a model");
        std::fs::write(&path, text + more).expect("written");
        (gone, path)
    };
    for (case, more) in [
        (CASES[2], "\n// more\n"),
        (CASES[5], "\n// more\n"),
        (CASES[9], "\n# more\n"),
        (CASES[12], "\n// more\n"),
        (CASES[13], "\n"),
        (CASES[15], "\n"),
    ] {
        let text = evidence(case);
        let name = case.0.split('/').next_back().expect("a name");
        let (_gone, same) = copy(case.0, name, "");
        assert_eq!(certified(&same, case.1, &text).0, Some(0), "{same}");
        let (_gone, other) = copy(case.0, name, more);
        let (code, said) = certified(&other, case.1, &text);
        assert_eq!(code, Some(10), "{said}");
        assert!(said.starts_with("REJECTED") && said.contains(&format!("made from another `{name}`")), "{said}");
        let (_gone, renamed) = copy(case.0, &format!("other-{name}"), "");
        let (code, said) = certified(&renamed, case.1, &text);
        assert!(code == Some(10) && said.contains(&format!("made from `{name}`, where now `other-{name}`")), "{said}");
    }
    let (code, said) = certified("coverability/synapse.spec", &[], &evidence(CASES[9]));
    assert_eq!(code, Some(10), "{said}");
}

#[test]
fn scripts_includes_and_automata_are_inputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, text).expect("written");
        path
    };
    let certify = |model: &str, options: &[&str], evidence: &str, changed: &str| {
        let run = || trellis(&[&["certify", model, evidence], options].concat());
        let out = run();
        assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
        let path = folder.path().join(changed);
        let old = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(&path, format!("{old}\n")).expect("written");
        let out = run();
        assert_eq!(out.status.code(), Some(10), "{changed}: {}{}", stdout(&out), stderr(&out));
        assert!(stdout(&out).contains(&format!("another `{changed}`")), "{}", stdout(&out));
    };
    let evidence = folder.path().join("e.json").display().to_string();
    // A program that includes a file.
    if std::process::Command::new("gcc").arg("--version").output().is_ok() {
        file("limit.h", "#define LIMIT 3\n");
        let text = "#include \"limit.h\"\nint main() { int x = 0; while (x < LIMIT) x++; assert(x == LIMIT); }\n";
        let model = file("include.c", text);
        trellis(&["check", &model, "-q", "--certificate", &evidence]);
        certify(&model, &[], &evidence, "limit.h");
    }
    // A lattice that is a script.
    let from = root().join("models/lattice");
    let scripted = std::fs::read_dir(&from).expect("a folder").flatten().find_map(|e| {
        let text = std::fs::read_to_string(e.path()).ok()?;
        let at = text.find(".lua\"")?;
        let script = text[..at].rsplit('"').next()?.to_string() + ".lua";
        (e.path().extension()? == "xta").then(|| (e.path(), script))
    });
    if let Some((model, script)) = scripted {
        let name = model.file_name().expect("a name").to_string_lossy().into_owned();
        let lua = std::fs::read_to_string(from.join(&script)).expect("a script");
        file(&script, &lua);
        let queries = std::fs::read_to_string(model.with_extension("q")).ok();
        queries.map(|text| file(&name.replace(".xta", ".q"), &text));
        let model = file(&name, &std::fs::read_to_string(&model).expect("a model"));
        let asked = ["-p", "A[] true"];
        let out = trellis(&["check", &model, "-q", "--certificate", &evidence, asked[0], asked[1]]);
        assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
        certify(&model, &asked, &evidence, &script);
    }
    // An automaton of what must not be.
    let hoa = "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"x\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--\n\
               State: 0 {0}\n[0] 0\n--END--\n";
    let hoa = file("never.hoa", hoa);
    let model = "ltl/cfa/wave_flag.cfa";
    let out = trellis(&["check", model, "-q", "--buchi", &hoa, "--certificate", &evidence]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    certify(model, &["--buchi", &hoa], &evidence, "never.hoa");
}

#[test]
fn the_property_is_the_users_or_the_models() {
    // `A[] true` is proven; it is not what the model or the user asks.
    let model = "data/philosophers.xta";
    let n = ["--const", "N=2"];
    let (_gone, path) = temporary("e.json");
    trellis(&["check", model, "-q", n[0], n[1], "-p", "A[] true", "--certificate", &path]);
    let certify = |more: &[&str]| {
        let out = trellis(&[&["certify", model, &path], &n[..], more].concat());
        (out.status.code(), stdout(&out) + &stderr(&out))
    };
    let (code, said) = certify(&["-p", "A[]   true"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = certify(&["-p", "A[] not deadlock"]);
    assert!(code == Some(10) && said.contains("it is about `A[] true`"), "{said}");
    let (code, said) = certify(&["-p", "A[] not deadlock", "-p", "A[] true"]);
    assert!(code == Some(0) && said.contains("VALID  A[] true:"), "{said}");
    // The model has questions of its own, and this is none of them.
    assert_eq!(certify(&[]).0, Some(10), "{}", certify(&[]).1);
    let text = std::fs::read_to_string(&path).expect("evidence");
    for property in ["A[] true\n A[] not deadlock", "A[] true; A[] false", "", "A[]", "E<> true", "\u{1b}[31m"] {
        for asked in [&["-p", "A[] true"][..], &["-p", "A[] not deadlock"], &[]] {
            let mut doc = read(&text);
            doc["property"] = json!(property);
            std::fs::write(&path, doc.to_string()).expect("written");
            let (code, said) = certify(asked);
            assert!(matches!(code, Some(2 | 10)), "{property}: {said}");
            assert!(!said.contains("panicked") && !said.contains('\u{1b}'), "{said}");
        }
    }
    // A model without questions: the user must say which one.
    let (_gone, model) = temporary("m.xta");
    std::fs::write(&model, "process P() { state A; init A; } system P;").expect("written");
    trellis(&["check", &model, "-q", "-p", "A[] P.A", "--certificate", &path]);
    let out = trellis(&["certify", &model, &path]);
    assert_eq!(out.status.code(), Some(2), "{}", stdout(&out));
    assert!(stderr(&out).contains("--property 'A[] P.A'"), "{}", stderr(&out));
    assert_eq!(trellis(&["certify", &model, &path, "-p", "A[] P.A"]).status.code(), Some(0));
    assert_eq!(trellis(&["certify", &model, &path, "--error", "not P.A"]).status.code(), Some(10));
    // So it is with formulas.
    let (model, evidence) = (CASES[15].0, evidence(CASES[15]));
    let (code, said) = certified(model, &[], &evidence);
    assert!(code == Some(2) && said.contains("--ltl 'G F(x)'"), "{said}");
    assert_eq!(certified(model, &["--ltl", "G(x)"], &evidence).0, Some(10));
}

#[test]
fn options_that_change_the_meaning_must_be_repeated() {
    for (case, instead, says) in [
        (CASES[1], &["-p", "A[] not Receiver.Wrong"][..], "made with --const M=2; repeat"),
        (CASES[1], &["-p", "A[] not Receiver.Wrong", "--const", "M=3"], "made with --const M=2, not with M=3"),
        (CASES[6], &[], "made with --ints math, not with wrap"),
        (CASES[6], &["--ints", "math", "--data-model", "ilp32"], "made with --data-model lp64, not with ilp32"),
        (CASES[5], &["--ints", "math"], "made with --ints wrap, not with math"),
        (CASES[14], &["--ltl", "G F A.inside"], "made with --fair strong; repeat"),
        (CASES[2], &["-p", "A[] not (P(1).cs && P(2).cs)", "--non-zeno"], "made without --non-zeno"),
    ] {
        let (code, said) = certified(case.0, instead, &evidence(case));
        assert!(code == Some(10) && said.contains(says), "{case:?} {instead:?}: {said}");
    }
}

#[test]
fn older_evidence_is_refused_with_advice() {
    for case in CASES {
        let mut doc = read(&evidence(case));
        let schema = doc["schema"].as_str().expect("a schema").replace("/2", "/1");
        doc["schema"] = json!(schema);
        let (code, said) = certified(case.0, case.1, &doc.to_string());
        assert!(code == Some(2) && said.contains("older Trellis") && said.contains("run check again"), "{said}");
    }
    let out = trellis(&["check", "lattice/leader.xml", "--json"]);
    let (code, said) = certified("lattice/leader.xml", &[], &stdout(&out));
    assert!(code == Some(2) && said.contains("this is a report"), "{said}");
}

#[test]
fn certification_has_limits() {
    let case = CASES[2];
    let (_gone, path) = temporary("e.json");
    std::fs::write(&path, evidence(case)).expect("written");
    for (limit, says) in [(["--timeout", "0s"], "time limit"), (["--memory", "1KiB"], "memory limit")] {
        if limit[0] == "--memory" && !std::path::Path::new("/proc/self/status").exists() {
            continue;
        }
        let out = trellis(&[&["certify", case.0, &path], case.1, &limit[..]].concat());
        assert_eq!(out.status.code(), Some(20), "{}{}", stdout(&out), stderr(&out));
        assert!(stdout(&out).starts_with("UNKNOWN") && stdout(&out).contains(says), "{}", stdout(&out));
    }
    let out = trellis(&[&["certify", case.0, &path, "--timeout", "1h", "--memory", "8GiB"], case.1].concat());
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
}

#[test]
fn text_that_is_no_evidence_is_refused() {
    for text in ["", "{", "[]", "null", "{}", "{\"schema\": 3}", "{\"schema\": \"trellis-trace/2\"}", "\u{feff}{}"] {
        for case in CASES {
            let (code, said) = certified(case.0, case.1, text);
            assert_eq!(code, Some(2), "{case:?} {text}: {said}");
        }
    }
}

/// Evidence that brings its own target, with a header that fits the model: an empty one for an unsafe protocol, a weaker one than the model's.
#[test]
fn evidence_does_not_bring_its_own_target() {
    let safe = read(&evidence(CASES[9]));
    let unsafe_trace = read(&evidence(CASES[10]));
    let mut empty = safe.clone();
    for field in ["inputs", "property", "options"] {
        empty[field] = unsafe_trace[field].clone();
    }
    (empty["body"]["target"], empty["body"]["bounds"], empty["body"]["never"]) = (json!([]), json!([]), json!([]));
    let (code, said) = certified("coverability/mesi_bug.spec", &[], &empty.to_string());
    assert!(code == Some(10) && said.starts_with("REJECTED"), "{said}");
    empty["property"] = json!("");
    assert_eq!(certified("coverability/mesi_bug.spec", &[], &empty.to_string()).0, Some(2));
    // A proof of what synapse.spec asks, for a stronger target, with everything a forger can write.
    let text = std::fs::read_to_string(root().join("models/coverability/synapse.spec")).expect("a model");
    let (_gone, model) = temporary("synapse.spec");
    std::fs::write(&model, text.replace("dirty >= 2", "dirty >= 1")).expect("written");
    let (_gone, trace) = temporary("t.json");
    assert_eq!(trellis(&["check", &model, "-q", "--trace", &trace]).status.code(), Some(10));
    let bound = read(&std::fs::read_to_string(&trace).expect("a run"));
    let mut forged = read(&evidence(("coverability/synapse.spec", &[], "--certificate")));
    for (fields, right) in [(&[][..], 10), (&["inputs"], 10), (&["inputs", "property"], 10), (&["target"], 10)] {
        fields.iter().for_each(|f| forged[*f] = bound[*f].clone());
        let (code, said) = certified(&model, &[], &forged.to_string());
        assert!(code == Some(right) && said.starts_with("REJECTED"), "{fields:?}: {said}");
    }
}

/// One script of a third party reads the runs of all languages.
#[test]
fn a_script_reads_every_trace() {
    let script = root().join("bench/trust/read_trace.py");
    let lines = std::fs::read_to_string(&script).expect("the script").lines().count();
    assert!(lines <= 60, "{lines} lines");
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("python3 is not there: skipped");
        return;
    }
    let more: [Case; 4] = [
        ("hierarchy/wheels3.hts.json", &[], "--trace"),
        ("cfa/counter_bv_false.cfa", &[], "--trace"),
        (
            "timed/engine-classic.xta",
            &["-p", "E<> UseCase == 0 and GearControl.GearChanged and SysTimer == 150"],
            "--trace",
        ),
        ("ltl/networks/blinker.xta", &["--ltl", "F G Lamp.on"], "--trace"),
    ];
    for case in CASES.iter().chain(&more).filter(|c| c.2 == "--trace") {
        if !root().join("models").join(case.0).exists() {
            continue;
        }
        let (_gone, path) = temporary("t.json");
        let text = evidence(*case);
        std::fs::write(&path, &text).expect("written");
        let out = std::process::Command::new("python3").arg(&script).arg(&path).output().expect("python3");
        let said = stdout(&out);
        assert!(out.status.success(), "{case:?}: {}", stderr(&out));
        let steps = read(&text)["steps"].as_array().expect("steps").len();
        assert!(said.contains("at the end: ") && said.contains(&format!("\n{steps:4}  ")), "{case:?}: {said}");
    }
}
