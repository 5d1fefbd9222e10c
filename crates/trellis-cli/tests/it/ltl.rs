//! Formulas of linear temporal logic and automata of what must not happen: verdicts, evidence on file, input that is broken.

use serde_json::Value;

use crate::{asking, reports, root, stderr, stdout, temporary, trellis};

const COUNTER: &str = "ltl/cfa/counter5inf.cfa";
const WAVE: &str = "ltl/cfa/wave_flag.cfa";

#[test]
fn bundled_models_answer_as_expected() {
    let expected = std::fs::read_to_string(root().join("models/ltl/EXPECTED.tsv")).expect("EXPECTED.tsv");
    // Slow on busy machines; a wrong answer is one even then.
    let mut undecided = vec![];
    for row in expected.lines().filter(|l| !l.starts_with('#')) {
        let (model, formula, verdict, options) = match row.split('\t').collect::<Vec<_>>()[..] {
            [model, formula, verdict] => (model, formula, verdict, ""),
            [model, formula, verdict, options] => (model, formula, verdict, options),
            _ => panic!("{row}"),
        };
        let model = format!("ltl/{model}");
        let mut args = vec!["check", &model, "--ltl", formula, "--timeout", "30s", "-q"];
        args.extend(options.split_whitespace());
        let out = trellis(&args);
        let said = stdout(&out);
        if said.starts_with("UNKNOWN") {
            undecided.push(row);
        } else {
            assert!(said.starts_with(&format!("{verdict} ")), "{row}: {said}{}", stderr(&out));
        }
    }
    assert!(undecided.len() <= 3, "{undecided:#?}");
}

#[test]
fn formulas_hold_or_are_violated_with_a_lasso() {
    let out = trellis(&["check", COUNTER, "--ltl", "F G(x=5)"]);
    assert_eq!(out.status.code(), Some(0), "{}", stdout(&out));
    assert!(stdout(&out).contains("an abstraction of"), "{}", stdout(&out));
    for options in [&[][..], &["--search", "nested"], &["--search", "scc"], &["--engine", "explicit"]] {
        let mut args = vec!["check", WAVE, "--ltl", "F G(x)"];
        args.extend(options);
        let out = trellis(&args);
        assert_eq!(out.status.code(), Some(10), "{options:?}: {}", stderr(&out));
        assert!(
            stdout(&out).contains("replayed, the formula is false on it") && stdout(&out).contains("again and again:"),
            "{}",
            stdout(&out)
        );
    }
}

#[test]
fn evidence_about_networks_is_checked_again() {
    let (_folder, file) = temporary("evidence.json");
    let certify = |model: &str, options: &[&str]| {
        let formula = if model.contains("blinker") { "F G Lamp.on" } else { "G F A.inside" };
        let mut args = vec!["certify", model, file.as_str(), "--ltl", formula];
        args.extend(options);
        let out = trellis(&args);
        stdout(&out) + &stderr(&out)
    };
    let model = "ltl/networks/semaphore.xta";
    let fair = ["--fair", "strong"];
    let out = trellis(&["check", model, "--ltl", "G F A.inside", "--fair", "strong", "--certificate", &file]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).contains("assuming only fair runs count: strong"), "{}", stdout(&out));
    assert!(certify(model, &fair).starts_with("VALID"), "{}", certify(model, &fair));
    // Without fairness it proves nothing.
    assert!(certify(model, &[]).starts_with("REJECTED"), "{}", certify(model, &[]));
    let text = std::fs::read_to_string(&file).expect("written");
    std::fs::write(&file, text.replace("\"party\"", "\"mark\"")).expect("written");
    assert!(certify(model, &fair).starts_with("REJECTED"), "{}", certify(model, &fair));

    let out = trellis(&["check", model, "--ltl", "G F A.inside", "--fair", "weak", "--trace", &file]);
    assert_eq!(out.status.code(), Some(10), "{}", stdout(&out));
    assert!(certify(model, &["--fair", "weak"]).starts_with("VALID"), "{}", certify(model, &["--fair", "weak"]));
    let said = certify(model, &fair);
    assert!(said.contains("it was made with --fair weak, not with strong"), "{said}");

    let model = "ltl/networks/blinker.xta";
    let out = trellis(&["check", model, "--ltl", "F G Lamp.on", "--trace", &file, "--non-zeno"]);
    assert!(stdout(&out).starts_with("UNSAFE"), "{}", stdout(&out));
    assert!(certify(model, &["--non-zeno"]).starts_with("VALID"), "{}", certify(model, &["--non-zeno"]));
}

#[test]
fn questions_about_networks_that_make_no_sense_are_refused() {
    let peterson = "ltl/networks/peterson.xta";
    for (model, options, what) in [
        (peterson, &["--ltl", "G P(2).cs"][..], "--ltl:1:3"),
        (peterson, &["--ltl", "G P(0).sc"], "sc"),
        (peterson, &["--ltl", "G turn"], "needs bool or LTL"),
        (peterson, &["--ltl", "G deadlock"], "formulas do not speak of `deadlock`"),
        (peterson, &["--ltl", "G O P(0).cs"], "past operators are not supported"),
        (peterson, &["--ltl", "G P(0).cs", "--fair", "weekly"], "expected progress, weak, strong"),
        (peterson, &["--ltl", "G P(0).cs", "--fair", "weak:Q"], "there are: P(0), P(1)"),
        (peterson, &["--ltl", "G P(0).cs", "--order", "dfs"], "--order: not for formulas"),
        (peterson, &["--fair", "weak", "-p", "A[] true"], "--fair: not for networks of automata, only for formulas"),
        (peterson, &["--ltl", "G P(0).cs", "--node", "A"], "--node: not for formulas"),
        (
            "altarica/fifo2.alt",
            &["--fair", "weak", "--error", "false"],
            "--fair: not for AltaRica, only for formulas (--ltl",
        ),
        ("hierarchy/priority.hts.json", &["--ltl", "G true", "--neat"], "--neat: not for formulas"),
        ("hierarchy/alarm4.hts.json", &["--ltl", "G \"bell in on\""], "`bell` has no state `on`"),
        ("hierarchy/alarm4.hts.json", &["--ltl", "G \"pump in broken\""], "there is no node `pump`"),
        ("hierarchy/alarm4.hts.json", &["--ltl", "G \"bell\""], "NODE in STATE"),
        ("ltl/networks/blinker.xta", &["--ltl", "G(x > 1)"], "--ltl:1:3"),
        ("ltl/networks/blinker.xta", &["--ltl", "G \"x > 1\""], "formulas do not speak of clocks"),
        (
            COUNTER,
            &["--ltl", "G(x=1)", "--fair", "weak"],
            "--fair: only for networks of automata and composed statecharts",
        ),
    ] {
        let mut args = vec!["check", model];
        args.extend(options);
        let out = trellis(&args);
        let said = stderr(&out);
        assert!(out.status.code() == Some(2) && said.contains(what), "{options:?}: {said}{}", stdout(&out));
    }
    // Refused by name, but no mistake of the user's.
    let out = trellis(&["check", "ltl/networks/blinker.xta", "--ltl", "G F Lamp.on", "--fair", "weak"]);
    assert!(stdout(&out).contains("fairness in models with clocks"), "{}", stdout(&out));
}

#[test]
fn letters_are_read_after_half_steps_or_full_steps() {
    // The model sees the colour of the environment only a half step later.
    let formula = "G(envColor = Colors.Green -> X(modelColor = Colors.Blue))";
    let check = |step: &[&str]| {
        let mut args = vec!["check", "ltl/xsts/simple_color.xsts", "-q", "--ltl", formula];
        args.extend(step);
        trellis(&args).status.code()
    };
    assert_eq!(check(&[]), Some(0));
    assert_eq!(check(&["--ltl-step", "half"]), Some(0));
    assert!(matches!(check(&["--ltl-step", "full"]), Some(0 | 10)));
    let out = trellis(&["check", COUNTER, "--ltl", "G(x=1)", "--ltl-step", "full"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("only for XSTS"), "{}", stderr(&out));
}

#[test]
fn what_is_no_formula_is_refused() {
    let refused = |options: &[&str], why: &str| {
        let mut args = vec!["check", "ltl/xsts/weather.xsts"];
        args.extend(options);
        let out = trellis(&args);
        assert!(out.status.code() == Some(2) && stderr(&out).contains(why), "{options:?}: {}", stderr(&out));
    };
    refused(&["--ltl", "G isWett"], "isWet");
    refused(&["--ltl", "G (isWet -> O isClever)"], "past");
    refused(&["--ltl", "G isWet", "--property", "isWet"], "--property");
    refused(&["--search", "scc"], "--ltl");
    refused(&["--buchi", "no-such-file.hoa"], "no-such-file.hoa");
}

/// What is done to a document.
type Corruption<'a> = (&'a str, &'a dyn Fn(&mut Value));

/// Writes evidence, has it accepted, and then corrupted in all these ways: none is.
fn certified(model: &str, question: &[&str], kind: &str, corrupt: &[Corruption<'_>]) {
    let (_gone, path) = temporary("evidence.json");
    let mut args = vec!["check", model, "-q", kind, &path];
    args.extend(question);
    let out = trellis(&args);
    assert!(matches!(out.status.code(), Some(0 | 10)), "{}{}", stdout(&out), stderr(&out));
    let certify = || trellis(&[&["certify", model, &path], question].concat());
    let out = certify();
    assert!(out.status.code() == Some(0) && stdout(&out).starts_with("VALID"), "{}{}", stdout(&out), stderr(&out));
    let text = std::fs::read_to_string(&path).expect("evidence");
    for (what, change) in corrupt {
        let mut document: Value = serde_json::from_str(&text).expect("JSON");
        change(&mut document);
        std::fs::write(&path, document.to_string()).expect("written");
        let out = certify();
        assert!(matches!(out.status.code(), Some(2 | 10)), "{what}: {}{}", stdout(&out), stderr(&out));
    }
}

#[test]
fn lassos_are_certified_and_corrupted_ones_are_not() {
    let question = ["--ltl", "G(x=5)"];
    certified(
        COUNTER,
        &question,
        "--trace",
        &[
            ("a value", &|d| d["start"]["x"] = Value::from("no number")),
            ("another value", &|d| d["steps"][0]["set"]["x"] = Value::from(77)),
            ("no cycle", &|d| d["loop"] = Value::from(99)),
            ("another formula", &|d| d["query"] = Value::from("F(x=1)")),
            ("no first step", &|d| _ = d["steps"].as_array_mut().map(|s| s.remove(0))),
            ("another schema", &|d| d["schema"] = Value::from("trellis-trace/99")),
        ],
    );
}

#[test]
fn proofs_are_certified_and_corrupted_ones_are_not() {
    let drop_first = |d: &mut Value, field: &str| _ = d["body"][field].as_array_mut().map(|a| a.remove(0));
    certified(
        COUNTER,
        &["--ltl", "F G(x=5)"],
        "--certificate",
        &[
            ("a node says false", &|d| d["body"]["nodes"][0]["holds"] = Value::from("false")),
            ("a node at another place", &|d| d["body"]["nodes"][0]["location"] = Value::from(99_999)),
            ("a node is gone", &|d| drop_first(d, "nodes")),
            ("an edge is gone", &|d| drop_first(d, "edges")),
            ("another formula", &|d| d["query"] = Value::from("F G(x=4)")),
            ("no automaton", &|d| d["body"]["automaton"]["edges"] = Value::Array(vec![])),
            ("null for an automaton", &|d| d["body"]["automaton"] = Value::Null),
        ],
    );
    // Nothing but a ranking says that this comes to an end.
    let text = "main process p {\nvar x : int\ninit loc A\nloc B\nA -> B { havoc x }\n\
                B -> B {\nassume x > 0\nx := x - 1\n}\nB -> B { assume x <= 0 }\n}\n";
    let (_gone, model) = temporary("down.cfa");
    std::fs::write(&model, text).expect("written");
    certified(
        &model,
        &["--ltl", "F(x <= 0)"],
        "--certificate",
        &[
            ("no rankings", &|d| d["body"]["rankings"] = Value::Array(vec![])),
            ("a ranking that increases", &|d| {
                let all = d["body"]["rankings"][0].as_array_mut().expect("a ranking");
                all.iter_mut().filter(|r| !r.is_null()).for_each(|r| *r = Value::from("(- x)"));
            }),
        ],
    );
    certified("ltl/xsts/counter3inf.xsts", &["--ltl", "F(x=2)", "--ltl-step", "full"], "--certificate", &[]);
}

/// The leaves of a document, as pointers.
fn leaves(v: &Value, path: &str, all: &mut Vec<String>) {
    match v {
        Value::Object(o) => o.iter().for_each(|(k, v)| leaves(v, &format!("{path}/{}", k.replace('/', "~1")), all)),
        Value::Array(a) => a.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{path}/{i}"), all)),
        _ => all.push(path.to_string()),
    }
}

#[test]
fn evidence_may_say_anything() {
    let runs = std::env::var("TRELLIS_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let mut seed = 7_u64;
    let mut draw = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for (formula, kind) in [("F G(x=5)", "--certificate"), ("G(x=5)", "--trace")] {
        let (_gone, path) = temporary("evidence.json");
        trellis(&["check", COUNTER, "-q", "--ltl", formula, kind, &path]);
        let text = std::fs::read_to_string(&path).expect("evidence");
        let whole: Value = serde_json::from_str(&text).expect("JSON");
        let mut all = vec![];
        leaves(&whole, "", &mut all);
        for _ in 0..runs {
            let at = &all[draw(all.len())];
            let odd = [Value::Null, Value::from(-1), Value::from(1), Value::from(u64::MAX), Value::from("(+ x 1)")];
            let odd = &odd[draw(odd.len())];
            let mut document = whole.clone();
            document.pointer_mut(at).map(|v| *v = odd.clone()).expect("a leaf");
            std::fs::write(&path, document.to_string()).expect("written");
            let out = trellis(&["certify", COUNTER, &path, "--ltl", formula]);
            // Nothing is for people only; but another number can make another proof.
            let unchanged = whole.pointer(at) == Some(odd);
            let part = ["/nodes/", "/rankings/", "/edges/"].iter().any(|p| at.starts_with(p));
            assert!(out.status.code() != Some(0) || unchanged || part, "{at} = {odd}: {}", stdout(&out));
            assert!(matches!(out.status.code(), Some(0 | 2 | 10)), "{at} = {odd}: {}{}", stdout(&out), stderr(&out));
        }
    }
}

#[test]
fn runs_that_need_not_repeat_are_certified() {
    // x grows forever: no state comes twice.
    let text = "extern int __VERIFIER_nondet_int();\nint x = 0;\nint main() { while (1) x = x + 1; }";
    let (_gone, path) = temporary("grows.c");
    std::fs::write(&path, text).expect("written");
    let question = ["--ltl", "F \"x < 0\"", "--ints", "math"];
    let (_also_gone, evidence) = temporary("evidence.json");
    let mut args = vec!["check", &path, "-q", "--trace", &evidence, "--timeout", "60s"];
    args.extend(question);
    let out = trellis(&args);
    assert_eq!(out.status.code(), Some(10), "{}{}", stdout(&out), stderr(&out));
    let certify = || trellis(&[&["certify", &path, &evidence], &asking(&question)[..]].concat());
    assert!(stdout(&certify()).starts_with("VALID"), "{}", stderr(&certify()));
    let told = std::fs::read_to_string(&evidence).expect("evidence");
    let mut document: Value = serde_json::from_str(&told).expect("JSON");
    assert!(document["recurrent"].is_object(), "{told}");
    document["recurrent"]["set"] = Value::from("(< x 1)");
    std::fs::write(&evidence, document.to_string()).expect("written");
    assert_eq!(certify().status.code(), Some(10));
}

#[test]
fn an_automaton_says_what_must_not_happen() {
    // x infinitely often.
    let hoa = "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"x\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--\n\
               State: 0\n[!0] 0\n[0] 1\nState: 1 {0}\n[!0] 0\n[0] 1\n--END--\n";
    let (_gone, path) = temporary("never.hoa");
    std::fs::write(&path, hoa).expect("written");
    let out = trellis(&["check", WAVE, "--buchi", &path]);
    assert_eq!(out.status.code(), Some(10), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).contains("the automaton accepts it"), "{}", stdout(&out));
    let corrupt: &[Corruption<'_>] = &[
        ("another atom", &|d| d["body"]["atoms"][0] = Value::from("not x and x")),
        ("another automaton", &|d| d["body"]["automaton"]["initial"] = Value::Array(vec![])),
        ("no nodes", &|d| d["body"]["nodes"] = Value::Array(vec![])),
    ];
    certified(WAVE, &["--buchi", &path], "--trace", &[("no loop", &|d| d["loop"] = Value::Null)]);
    // x for ever, which never is; the proof speaks of this automaton.
    std::fs::write(&path, hoa.replace("[!0] 0\n[0] 1\n--END", "[0] 1\n--END")).expect("written");
    certified(WAVE, &["--buchi", &path], "--certificate", corrupt);
    std::fs::write(&path, hoa.replace("\"x\"", "\"G x\"")).expect("written");
    let out = trellis(&["check", WAVE, "--buchi", &path]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("one moment"), "{}", stderr(&out));
}

#[test]
fn reports_pictures_and_pages() {
    let (gone, _) = temporary("x");
    let file = |name: &str| gone.path().join(name).display().to_string();
    let (dot, html) = (file("lasso.dot"), file("page.html"));
    let out = trellis(&["check", WAVE, "--ltl", "G F(x)", "--ltl", "G(x)", "--json", "--dot", &dot, "--html", &html]);
    let all = reports(&out);
    assert!(all.len() == 2 && all[0]["kind"] == "LTL" && all[0]["verdict"] == "SAFE", "{}", stdout(&out));
    assert!(all[0]["certificate"]["nodes"].is_u64() && all[1]["trace"]["schema"] == "trellis-trace/2");
    let drawn = std::fs::read_to_string(file("lasso-2.dot")).expect("a picture");
    assert!(drawn.starts_with("digraph") && drawn.contains("penwidth=3"), "{drawn}");
    let page = std::fs::read_to_string(&html).expect("a page");
    assert!(page.contains("G F(x)") && page.contains("an abstraction of"), "{page}");
}

#[test]
fn a_lasso_of_a_statechart_is_told_in_macro_steps() {
    let out = trellis(&["check", "scxml/traffic-light.scxml", "--ltl", "G false"]);
    let said = stdout(&out);
    assert!(
        out.status.code() == Some(10) && said.contains("0   start") && said.contains("states = crossing, cars, green"),
        "{said}{}",
        stderr(&out)
    );
}

/// Counter systems, nodes and trees go from event to event, and their runs are told so: never as edges of the automaton that they became.
#[test]
fn runs_are_told_by_events() {
    let cases = [
        ("coverability/mesi.spec", "G(invalid > 0)", "rule 1 (line 4)"),
        ("hierarchy/alarm4.hts.json", "G !deadlock", "<fault, pump1.breaks, bell.ring>"),
    ];
    for (model, formula, event) in cases {
        let out = trellis(&["check", model, "--ltl", formula]);
        let said = stdout(&out);
        assert!(said.starts_with("UNSAFE") && said.contains(event), "{said}");
        assert!(!said.contains('→') && !said.contains("@next") && !said.contains(":="), "{said}");
    }
}
