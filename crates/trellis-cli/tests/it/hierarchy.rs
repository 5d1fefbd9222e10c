//! Hierarchical transition systems at the command line: verdicts, evidence on file, and what is wrong with a file.

use serde_json::Value;

use crate::{root, stderr, stdout, temporary, trellis};

#[test]
fn verdicts_and_evidence() {
    let rows = std::fs::read_to_string(root().join("models/hierarchy/EXPECTED.tsv")).expect("the rows");
    for row in rows.lines() {
        let (model, verdict) = row.split_once('\t').expect("two columns");
        let model = format!("hierarchy/{model}");
        let ways = [
            &[][..],
            &["--neat"],
            &["--no-pruning"],
            &["--no-symmetry"],
            &["--refine", "failure"],
            &["--refine", "interpolants"],
        ];
        for options in ways {
            let (_dir, file) = temporary("evidence.json");
            let kind = if verdict == "SAFE" { "--certificate" } else { "--trace" };
            let out = trellis(&[&["check", &model, kind, &file], options].concat());
            assert!(stdout(&out).starts_with(&format!("{verdict} ")), "{row}\n{}{}", stdout(&out), stderr(&out));
            let again = trellis(&["certify", &model, &file]);
            assert!(stdout(&again).starts_with("VALID"), "{row}\n{}{}", stdout(&again), stderr(&again));
            // Evidence that was tampered with is rejected.
            let text = std::fs::read_to_string(&file).expect("the evidence");
            let doc: Value = serde_json::from_str(&text).expect("JSON");
            let lists = if verdict == "SAFE" { &["tuples", "traps"][..] } else { &["steps"] };
            let within =
                |doc: &Value, l: &str| if verdict == "SAFE" { doc["body"].get(l) } else { doc.get(l) }.is_some();
            for list in lists.iter().filter(|l| within(&doc, l)) {
                let mut doc = doc.clone();
                let part = if verdict == "SAFE" { &mut doc["body"] } else { &mut doc };
                part[*list].as_array_mut().expect("a list").pop();
                std::fs::write(&file, doc.to_string()).expect("written");
                let again = trellis(&["certify", &model, &file]);
                assert!(stdout(&again).starts_with("REJECTED"), "{row}\n{}{}", stdout(&again), stderr(&again));
            }
        }
    }
}

#[test]
fn nodes_of_altarica_have_evidence_too() {
    let (_dir, file) = temporary("evidence.json");
    let bad = "Top.object != no and Stack.Top.object = no and Stack.Stack.object = no";
    let check =
        ["check", "altarica/stack3.alt", "--engine", "hierarchy", "--error", bad, "--certificate", &file, "--stats"];
    let said = stdout(&trellis(&check));
    assert!(said.contains("refinements 0, abstract states 4"), "{said}");
    let again = stdout(&trellis(&["certify", "altarica/stack3.alt", &file, "--error", bad]));
    assert!(again.starts_with("VALID"), "{again}");
    let json = stdout(&trellis(&["check", "altarica/stack3.alt", "--engine", "hierarchy", "--error", bad, "--json"]));
    let doc: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(doc["certificate"]["tuples"], 4);
}

#[test]
fn what_never_becomes_bad_is_not_explored() {
    let states = |options: &[&str]| {
        let said = stdout(&trellis(&[&["check", "hierarchy/alarm4.hts.json", "--stats"], options].concat()));
        let (_, rest) = said.split_once(", abstract states ").expect("statistics");
        rest.split(',').next().expect("a number").to_string()
    };
    assert_eq!((states(&[]).as_str(), states(&["--no-pruning", "--no-symmetry"]).as_str()), ("1", "31"));
    // The pumps can be exchanged: it matters how many are broken, not which.
    assert_eq!(states(&["--no-pruning"]), "9");
    let (_dir, file) = temporary("proof.json");
    assert!(trellis(&["check", "hierarchy/alarm4.hts.json", "--certificate", &file]).status.success());
    let text = std::fs::read_to_string(&file).expect("the proof");
    let doc: Value = serde_json::from_str(&text).expect("JSON");
    // a trap that a node can leave, one with a bad state, one with a block that is none.
    for (blocks, says) in [(vec![0, 1], "a bad state"), (vec![0], "out of a trap"), (vec![7], "some blocks")] {
        let mut doc = doc.clone();
        // The trap is that of one pump: the others are anywhere.
        let pump = (0..4).find(|&n| doc["body"]["traps"][0][n].as_array().is_some_and(|own| own.len() == 1));
        doc["body"]["traps"][0][pump.expect("a pump that is broken")] = serde_json::json!(blocks);
        std::fs::write(&file, doc.to_string()).expect("written");
        let said = stdout(&trellis(&["certify", "hierarchy/alarm4.hts.json", &file]));
        assert!(said.starts_with("REJECTED") && said.contains(says), "{said}");
    }
}

/// Nodes that are said to be alike must be.
#[test]
fn exchanges_are_checked() {
    let (_dir, file) = temporary("proof.json");
    let model = "hierarchy/alarm4.hts.json";
    assert!(trellis(&["check", model, "--no-pruning", "--certificate", &file]).status.success());
    let text = std::fs::read_to_string(&file).expect("the proof");
    let doc: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(doc["body"]["symmetric"], serde_json::json!([["pump1", "pump2", "pump3", "pump4"]]));
    assert!(stdout(&trellis(&["certify", model, &file])).starts_with("VALID"));
    let all = ["pump1", "pump2", "pump3", "pump4"];
    for (alike, says) in [
        (serde_json::json!([["pump1", "bell"]]), "makes a difference"),
        (serde_json::json!([[all[0], all[1], all[1]]]), "within each other"),
        (serde_json::json!([["pump1", ""]]), "cannot be exchanged"),
        (serde_json::json!([&all[..2]]), "a step leads out of the set"),
        (serde_json::json!([]), "a step leads out of the set"),
    ] {
        let mut doc = doc.clone();
        doc["body"]["symmetric"] = alike;
        std::fs::write(&file, doc.to_string()).expect("written");
        let said = stdout(&trellis(&["certify", model, &file]));
        assert!(said.starts_with("REJECTED") && said.contains(says), "{says}: {said}");
    }
}

#[test]
fn formulas() {
    let alarm = "G(bell = rings -> !\"pump1 in works and pump2 in works and pump3 in works and pump4 in works\")";
    for (model, formula, verdict) in [
        ("wheels3", "G F \"low.low in 0\"", "SAFE"),
        ("wheels3", "F G \"low.low in 0\"", "UNSAFE"),
        ("wheels3", "G F \"high in 1 and low.high in 1 and low.low in 1\"", "SAFE"),
        ("alarm4", alarm, "SAFE"),
        ("alarm4", "G(bell = rings -> F bell = silent)", "SAFE"),
        ("alarm4", "G bell = silent", "UNSAFE"),
        ("priority", "F \"top in q2\"", "SAFE"),
    ] {
        let model = format!("hierarchy/{model}.hts.json");
        let (_dir, file) = temporary("evidence.json");
        let kind = if verdict == "SAFE" { "--certificate" } else { "--trace" };
        let out = trellis(&["check", &model, "--ltl", formula, kind, &file]);
        assert!(stdout(&out).starts_with(&format!("{verdict} ")), "{formula}: {}{}", stdout(&out), stderr(&out));
        let again = trellis(&["certify", &model, &file, "--ltl", formula]);
        assert!(stdout(&again).starts_with("VALID"), "{formula}: {}{}", stdout(&again), stderr(&again));
    }
}

#[test]
fn too_large_is_said_with_advice() {
    let out = trellis(&["check", "altarica/tank.alt", "--engine", "hierarchy", "--error", "true"]);
    let said = stdout(&out);
    assert!(said.contains("UNKNOWN") && said.contains("--engine cegar") && said.contains("V[0].rate"), "{said}");
    assert_eq!(out.status.code(), Some(20));
}

#[test]
fn broken_files_are_told_where() {
    let good = std::fs::read_to_string(root().join("models/hierarchy/wheels3.hts.json")).expect("a model");
    type Change = (&'static str, fn(&mut Value));
    let changes: [Change; 8] = [
        ("top.vectors[1][2]", |d| d["top"]["vectors"][1][2] = "nobody".into()),
        ("top.vectors[0]", |d| d["top"]["vectors"][0] = serde_json::json!(["", ""])),
        ("top.subs[0].behaviour", |d| d["top"]["subs"][0]["behaviour"] = "none".into()),
        ("behaviours.wheel.moves[3][2]", |d| d["behaviours"]["wheel"]["moves"][3][2] = "2".into()),
        ("top.priorities", |d| d["top"]["priorities"] = serde_json::json!([["inc", "reset"], ["reset", "inc"]])),
        ("never[0]", |d| d["never"][0]["nobody"] = serde_json::json!(["1"])),
        ("top.subs[1].name", |d| d["top"]["subs"][1]["name"] = "high".into()),
        ("top.subs[1]", |d| {
            d["top"]["subs"][1].as_object_mut().expect("an object").remove("vectors");
        }),
    ];
    for (place, change) in changes {
        let mut doc: Value = serde_json::from_str(&good).expect("JSON");
        change(&mut doc);
        let (_dir, file) = temporary("broken.hts.json");
        std::fs::write(&file, doc.to_string()).expect("written");
        let out = trellis(&["check", &file]);
        let said = stderr(&out);
        assert!(said.contains(&format!("at {place}: ")), "{place}: {said}");
        assert_eq!(out.status.code(), Some(2), "{place}");
    }
    let (_dir, file) = temporary("broken.hts.json");
    std::fs::write(&file, "{").expect("written");
    assert!(stderr(&trellis(&["check", &file])).contains("not JSON"));
}

#[test]
fn other_models_are_not_for_this_engine() {
    for model in ["c/count.c", "coverability/mesi.spec"] {
        let out = trellis(&["check", model, "--engine", "hierarchy"]);
        assert_eq!(out.status.code(), Some(2), "{model}");
        assert!(stderr(&out).contains("--engine hierarchy: only for"), "{model}: {}", stderr(&out));
    }
}

#[test]
fn networks_without_clocks() {
    let query = "A[] !(Philosopher(0).Eating && Philosopher(1).Eating)";
    let (_dir, file) = temporary("proof.json");
    let check = ["check", "data/philosophers.xta", "--engine", "hierarchy", "-p", query, "--certificate", &file];
    let out = trellis(&check);
    assert!(stdout(&out).starts_with("SAFE"), "{}{}", stdout(&out), stderr(&out));
    let again = trellis(&["certify", "data/philosophers.xta", &file, "-p", query]);
    assert!(stdout(&again).starts_with("VALID"), "{}{}", stdout(&again), stderr(&again));
    for way in [&["--neat"][..], &["--no-pruning"], &["--refine", "interpolants"]] {
        let out = trellis(&[&check[..], way].concat());
        assert!(stdout(&out).starts_with("SAFE"), "{way:?}: {}{}", stdout(&out), stderr(&out));
    }
    // Runs are the network's own.
    let (_dir, file) = temporary("run.json");
    let query = "E<> Philosopher(0).Eating && Philosopher(2).Eating";
    let out = trellis(&["check", "data/philosophers.xta", "--engine", "hierarchy", "-p", query, "--trace", &file]);
    assert!(stdout(&out).starts_with("HOLDS"), "{}{}", stdout(&out), stderr(&out));
    let again = trellis(&["certify", "data/philosophers.xta", &file, "-p", query]);
    assert!(stdout(&again).starts_with("VALID"), "{}{}", stdout(&again), stderr(&again));
    // What cannot be said is refused by name.
    let out = trellis(&["check", "data/token.xta", "--engine", "hierarchy"]);
    assert!(stdout(&out).contains("priorities: not for hierarchical transition systems"), "{}", stdout(&out));
    assert_eq!(out.status.code(), Some(20));
    let out = trellis(&["check", "data/philosophers.xta", "--engine", "hierarchy", "-p", "A[] not deadlock"]);
    assert!(stdout(&out).contains("UNKNOWN") && stdout(&out).contains("deadlock"), "{}", stdout(&out));
}
