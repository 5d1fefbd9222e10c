//! Counter systems: every bundled one under every engine, evidence certified again from its file, options refused where they mean
//! nothing.

use crate::{reports, root, stderr, stdout, temporary, trellis};

const ENGINES: [&str; 10] = [
    "",
    "--threads 1",
    "--engine backward",
    "--engine backward --no-prune",
    "--engine wsts --merged",
    "--engine wsts",
    "--engine wsts --layers --timeout 3s",
    "--engine frames",
    "--engine wsts --equal-depth --timeout 3s",
    "--engine forward --timeout 3s",
];

fn expected() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("models/coverability/EXPECTED.tsv")).expect("EXPECTED.tsv");
    let row = |l: &str| l.split_once('\t').map(|(m, v)| (format!("coverability/{m}"), v.to_uppercase()));
    text.lines().skip(1).filter_map(row).collect()
}

#[test]
fn every_engine_answers_as_expected_and_its_evidence_is_certified() {
    for (model, right) in expected() {
        for options in ENGINES {
            let (_a, trace) = temporary("trace.json");
            let (_b, certificate) = temporary("certificate.json");
            let mut args = vec!["check", &model, "--json", "--trace", &trace, "--certificate", &certificate];
            args.extend(options.split_whitespace());
            let out = trellis(&args);
            let found = reports(&out)[0]["verdict"].as_str().expect("a verdict").to_string();
            if found == "UNKNOWN" && options.contains("--timeout") {
                continue;
            }
            assert_eq!(found, right, "{args:?}: {}", stderr(&out));
            let evidence = if right == "SAFE" { &certificate } else { &trace };
            let out = trellis(&["certify", &model, evidence]);
            assert_eq!(out.status.code(), Some(0), "{args:?}: {}{}", stdout(&out), stderr(&out));
            assert!(stdout(&out).starts_with("VALID"), "{}", stdout(&out));
        }
    }
}

/// The tree of lazy abstraction, in every form; `--dot` of a proof is the last one.
#[test]
fn the_abstract_reachability_tree_is_shown() {
    let args = ["check", "coverability/table1.spec", "--engine", "wsts", "--plain"];
    let said = stdout(&trellis(&[&args[..], &["--show-tree"]].concat()));
    for line in [
        "refinement 1: node 0 is the pivot of the error trace c1 c5",
        "P0 = { z >= 2 }",
        "0: x = 0, y = 0, z = 0   [P0]",
        "missed: the pivot",
        "node 0 gets:",
        "no node waits, and none is an error",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    for (name, begins) in
        [("tree.json", "{"), ("tree.svg", "<svg"), ("tree.dot", "digraph"), ("tree.txt", "refinement 1")]
    {
        let (_gone, file) = temporary(name);
        let out = trellis(&[&args[..], &[&format!("--show-tree={file}")]].concat());
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        let text = std::fs::read_to_string(&file).expect("written");
        assert!(text.trim_start().starts_with(begins), "{name}: {text}");
    }
    let (_gone, file) = temporary("proof.dot");
    trellis(&[&args[..], &["--dot", &file]].concat());
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(text.starts_with("digraph") && text.contains("the proof"), "{text}");
    let out = trellis(&["check", "coverability/mesi.spec", "--show-tree"]);
    assert_eq!(out.status.code(), Some(2), "{}", stdout(&out));
}

#[test]
fn rules_have_names_and_long_runs_are_short() {
    let (_gone, model) = temporary("m.spec");
    std::fs::write(
        &model,
        "vars x y\nrules\nrule grow: true -> x' = x + 1;\n# enough\nx >= 1000000000 -> y' = y + 1;\ninit x = 0, y = 0\ntarget y >= 1\n",
    )
    .expect("written");
    let (_gone, trace) = temporary("t.json");
    let out = trellis(&["check", &model, "--trace", &trace]);
    let said = stdout(&out);
    assert!(said.contains("run of 1000000001 steps replayed"), "{said}{}", stderr(&out));
    assert!(said.contains("grow: true -> x' = x + 1 × 1000000000"), "{said}");
    assert!(said.contains("enough: x >= 1000000000"), "{said}");
    let out = trellis(&["certify", &model, &trace]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    let more =
        std::fs::read_to_string(&trace).expect("written").replace("999999999", "1").replace("1000000000", "999999999");
    std::fs::write(&trace, more).expect("written");
    let out = trellis(&["certify", &model, &trace]);
    assert_ne!(out.status.code(), Some(0), "{}", stdout(&out));
    // The form in which BFC is told how to start.
    let out = trellis(&["check", "coverability/lock.tts", "--start", "0/0"]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
}

/// What no engine for counter systems answers where guards have upper bounds is asked as a formula, without anybody asking for that.
#[test]
fn zero_tests_of_numbers_that_only_grow() {
    let (_gone, model) = temporary("m.spec");
    std::fs::write(
        &model,
        "vars x y\nrules\ntrue -> x' = x + 1;\nx = 0 -> y' = y + 1;\ninit x = 1, y = 0\ntarget y >= 1\n",
    )
    .expect("written");
    let (_gone, proof) = temporary("p.json");
    let out = trellis(&["check", &model, "--certificate", &proof, "--timeout", "60s"]);
    assert!(stdout(&out).starts_with("SAFE     never anything in y"), "{}{}", stdout(&out), stderr(&out));
    let out = trellis(&["certify", &model, &proof]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
}

/// Lossy channel systems: every bundled one, evidence certified from its file, walked along and drawn.
#[test]
fn lossy_channel_systems() {
    let text = std::fs::read_to_string(root().join("models/channels/EXPECTED.tsv")).expect("EXPECTED.tsv");
    for (name, verdict) in text.lines().skip(1).filter_map(|l| l.split_once('\t')) {
        let model = format!("channels/{name}");
        // The retransmissions take lazy abstraction longer than a test should.
        for engine in ["auto", "wsts", "backward"].into_iter().filter(|e| name != "brp.lcs" || *e != "wsts") {
            let (_a, trace) = temporary("trace.json");
            let (_b, proof) = temporary("proof.json");
            let args = ["check", &model, "--json", "--engine", engine, "--trace", &trace, "--certificate", &proof];
            let out = trellis(&args);
            assert_eq!(reports(&out)[0]["verdict"].as_str(), Some(verdict.to_uppercase().as_str()), "{args:?}");
            let evidence = if verdict == "safe" { &proof } else { &trace };
            let out = trellis(&["certify", &model, evidence]);
            assert_eq!(out.status.code(), Some(0), "{args:?}: {}{}", stdout(&out), stderr(&out));
            if verdict == "unsafe" {
                let out = trellis(&["simulate", &model, "--trace", evidence]);
                assert_eq!(out.status.code(), Some(0), "{args:?}: {}{}", stdout(&out), stderr(&out));
            }
        }
        let out = trellis(&["convert", &model, "--to", "svg"]);
        assert!(stdout(&out).starts_with("<svg"), "{}", stderr(&out));
    }
    let out = trellis(&["check", "channels/abp.lcs", "--error", "data >= d0 d1 d0"]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    let out = trellis(&["check", "channels/abp.lcs", "--error", "data >= d0 d2"]);
    assert!(
        out.status.code() == Some(2) && stderr(&out).contains("there is no message of channel `data` `d2`"),
        "{}",
        stderr(&out)
    );
    let out = trellis(&["check", "channels/abp.lcs", "--ltl", "G x = 1"]);
    assert_eq!(out.status.code(), Some(2), "{}", stdout(&out));
}

#[test]
fn evidence_is_told_in_protocol_words() {
    let said = stdout(&trellis(&["check", "coverability/mesi.spec", "--engine", "backward"]));
    assert!(said.starts_with("SAFE     at most one modified; never shared and modified together"), "{said}");
    assert!(said.contains("never exclusive and shared together"), "{said}");
    let out = trellis(&["check", "coverability/mesi_bug.spec"]);
    let said = stdout(&out);
    assert!(out.status.code() == Some(10) && said.contains("invalid = 2"), "{said}");
    assert!(said.contains("line 6:  shared >= 1 -> exclusive' = exclusive + 1, shared' = shared - 1"), "{said}");
}

#[test]
fn another_target_can_be_asked_for() {
    let (_gone, trace) = temporary("t.json");
    let out = trellis(&["check", "coverability/mesi.spec", "--error", "shared >= 3, invalid >= 1", "--trace", &trace]);
    assert_eq!(out.status.code(), Some(10), "{}", stderr(&out));
    let asked = ["--error", "shared >= 3, invalid >= 1"];
    let out = trellis(&["certify", "coverability/mesi.spec", &trace, asked[0], asked[1]]);
    assert!(stdout(&out).starts_with("VALID  never one in invalid and 3 in shared together"), "{}", stdout(&out));
    // It is not what the model asks.
    let out = trellis(&["certify", "coverability/mesi.spec", &trace]);
    assert!(out.status.code() == Some(10) && stdout(&out).contains("what is asked is"), "{}", stdout(&out));
    let out = trellis(&["check", "coverability/mesi.spec", "--error", "shared = 3"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("reachability"), "{}", stderr(&out));
}

#[test]
fn corrupted_evidence_is_rejected() {
    let (_gone, path) = temporary("c.json");
    trellis(&["check", "coverability/mesi.spec", "--engine", "backward", "--certificate", &path]);
    let text = std::fs::read_to_string(&path).expect("written");
    for (from, to) in [("\"modified\": 2", "\"modified\": 3"), ("\"exclusive\": 2", "\"exclusive\": 1")] {
        assert!(text.contains(from), "{text}");
        // Of the proof, not of what is to be proved.
        let at = text.find("\"never\"").expect("a proof");
        let damaged = format!("{}{}", &text[..at], text[at..].replace(from, to));
        std::fs::write(&path, damaged).expect("written");
        let out = trellis(&["certify", "coverability/mesi.spec", &path]);
        let accepted = stdout(&out).starts_with("VALID");
        // Never one in exclusive is not true; never three in modified is not closed.
        assert!(!accepted && out.status.code() == Some(10), "{to}: {}", stdout(&out));
    }
    std::fs::write(&path, "{\"schema\": \"trellis-certificate/1\", \"target\": [{\"nobody\": 1}]}").expect("written");
    let out = trellis(&["certify", "coverability/mesi.spec", &path]);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for (args, said) in [
        ("coverability/mesi.spec --engine cegar", "for counter systems there is --engine wsts"),
        ("coverability/mesi.spec --control dfs", "--engine wsts"),
        ("coverability/mesi.spec --engine wsts --linear --merged", "only its control may be another one"),
        ("coverability/mesi.spec --no-prune", "--engine backward"),
        ("coverability/mesi.spec --no-guide", "--engine forward"),
        ("coverability/mesi.spec -p true", "--error"),
        ("coverability/mesi.spec --order dfs", "not for counter systems"),
        ("lattice/leader.xml --engine wsts", "only for counter systems"),
        ("c/overflow.c --engine backward", "only for counter systems"),
    ] {
        let mut all = vec!["check"];
        all.extend(args.split(' '));
        let out = trellis(&all);
        assert!(out.status.code() == Some(2) && stderr(&out).contains(said), "{args}: {}", stderr(&out));
    }
}

#[test]
fn a_control_that_need_not_end_is_stopped_by_the_budget() {
    let out =
        trellis(&["check", "coverability/table1.spec", "--engine", "wsts", "--control", "adverse", "--states", "2000"]);
    assert_eq!(out.status.code(), Some(20), "{}{}", stdout(&out), stderr(&out));
    assert!(stdout(&out).starts_with("UNKNOWN") && stdout(&out).contains("state limit reached"), "{}", stdout(&out));
}

#[test]
fn a_net_in_pnml_is_asked_about_a_marking() {
    let (_gone, path) = temporary("net.pnml");
    let net = "<pnml><net id='n' type='ptnet'><place id='a'><initialMarking><text>2</text></initialMarking></place>
        <place id='b'/><transition id='t'/><arc id='x' source='a' target='t'/><arc id='y' source='t' target='b'/></net></pnml>";
    std::fs::write(&path, net).expect("written");
    // Nothing was asked.
    assert_eq!(trellis(&["check", &path]).status.code(), Some(20));
    assert_eq!(trellis(&["check", &path, "--error", "b >= 2"]).status.code(), Some(10));
    assert_eq!(trellis(&["check", &path, "--error", "a >= 1, b >= 2"]).status.code(), Some(0));
    // Several engines can prove it; this one says it in these words.
    let out = trellis(&["check", &path, "--error", "a >= 1, b >= 2", "--engine", "equation"]);
    assert!(out.status.code() == Some(0) && stdout(&out).contains("at most 2 in a and b"), "{}", stdout(&out));
}

#[test]
fn a_net_of_lola_and_invariants_from_a_file() {
    let (_gone, path) = temporary("net.lola");
    std::fs::write(&path, "PLACE a, b; MARKING a: 2; TRANSITION t CONSUME a; PRODUCE b;").expect("written");
    // Nothing was asked.
    assert_eq!(trellis(&["check", &path]).status.code(), Some(20));
    assert_eq!(trellis(&["check", &path, "--error", "b >= 2"]).status.code(), Some(10));
    let (_gone, invariants) = temporary("invariants.txt");
    let asked = ["check", &path, "--error", "a >= 1, b >= 2", "--invariants", &invariants];
    std::fs::write(&invariants, "a = 1, b = 1").expect("written");
    assert_eq!(trellis(&asked).status.code(), Some(0));
    // Several engines can prove it; this one says it in these words.
    let out = trellis(&[&asked[..], &["--engine", "equation"]].concat());
    assert!(out.status.code() == Some(0) && stdout(&out).contains("at most 2 in a and b"), "{}", stdout(&out));
    std::fs::write(&invariants, "# no\na = 2, b = 1").expect("written");
    let out = trellis(&asked);
    let said = stderr(&out);
    assert!(out.status.code() == Some(2) && said.contains("no invariant") && said.contains(":2:1"), "{said}");
    assert!(said.contains("`t: a >= 1 -> a' = a - 1, b' = b + 1` changes it"), "{said}");
}

#[test]
fn a_run_is_drawn_and_an_instance_is_simulated() {
    let (_gone, picture) = temporary("run.svg");
    let (_gone, page) = temporary("run.html");
    let (_gone, graph) = temporary("run.dot");
    let (_gone, trace) = temporary("run.json");
    let mut args = vec!["check", "coverability/mesi_bug.spec", "--msc", &picture, "--html", &page, "--dot", &graph];
    args.extend(["--trace", &trace]);
    assert_eq!(trellis(&args).status.code(), Some(10));
    for (file, part) in [(&picture, "<svg"), (&page, "\"UNSAFE\""), (&graph, "digraph")] {
        let text = std::fs::read_to_string(file).expect("written");
        assert!(text.contains(part) && text.contains("exclusive"), "{text}");
    }
    let said = stdout(&trellis(&["check", "coverability/mesi_bug.spec", "--msc", "-"]));
    assert!(said.contains("P1") && said.contains("*exclusive"), "{said}");
    let out = trellis(&["simulate", "coverability/mesi_bug.spec", "--trace", &trace]);
    assert!(stdout(&out).contains("and a target is covered"), "{}{}", stdout(&out), stderr(&out));

    let (_gone, instance) = temporary("mesi3.xta");
    let out =
        trellis(&["convert", "coverability/mesi.spec", "--to", "xta", "--instance", "invalid = 3", "-o", &instance]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    // All states of the instance: the bug is there with three processes, and not in the protocol without it.
    let asked = ["--error", "modified >= 2 || modified >= 1 && shared >= 1"];
    let out = trellis(&[&["check", &instance], &asked[..]].concat());
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    let args = ["convert", "coverability/mesi_bug.spec", "--to", "xta", "--instance", "invalid = 3", "-o", &instance];
    trellis(&args);
    let out = trellis(&[&["check", &instance], &asked[..]].concat());
    assert_eq!(out.status.code(), Some(10), "{}{}", stdout(&out), stderr(&out));
    let out = trellis(&["simulate", "coverability/mesi.spec", "--instance", "invalid = 2", "--random", "5"]);
    assert!(out.status.code() == Some(0) && stdout(&out).contains("invalid"), "{}{}", stdout(&out), stderr(&out));
    for (args, said) in [
        ("simulate coverability/mesi.spec --instance invalid=0", "cannot be 0 at the start"),
        ("simulate coverability/mesi.spec --instance nobody=1", "there is no variable"),
        ("simulate lattice/leader.xml --instance a=1", "only for counter systems"),
        ("convert lattice/leader.xml --to xta", "networks of automata are only written as pictures"),
        ("convert coverability/mesi.spec --to horn", "--to xta"),
    ] {
        let out = trellis(&args.split(' ').collect::<Vec<_>>());
        assert!(out.status.code() == Some(2) && stderr(&out).contains(said), "{args}: {}", stderr(&out));
    }
}

#[test]
fn threads_are_asked_about_a_state() {
    let out = trellis(&["check", "coverability/lock.tts"]);
    assert!(stdout(&out).starts_with("SAFE     never one in s1 and 2 in l1 together"), "{}", stdout(&out));
    for (options, code) in [
        ("--error 2|2,2", 10),
        ("--error 2|1", 0),
        ("--error l2>=3", 10),
        ("--error 0|1 --start 0|1/0", 10),
        ("--error 2|2 --start 0|", 0),
        ("--error 1|3", 2),
        ("--start 0|9", 2),
    ] {
        let mut all = vec!["check", "coverability/lock.tts"];
        all.extend(options.split(' '));
        let out = trellis(&all);
        assert_eq!(out.status.code(), Some(code), "{options}: {}{}", stdout(&out), stderr(&out));
    }
    let out = trellis(&["check", "coverability/mesi.spec", "--start", "0|0"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains(".tts"), "{}", stderr(&out));
}

/// Evidence that brings its own target proves nothing about the model.
#[test]
fn a_certificate_without_a_target_is_rejected() {
    let (_gone, path) = temporary("empty.json");
    let out = trellis(&["check", "coverability/mesi_bug.spec", "--trace", &path]);
    assert_eq!(out.status.code(), Some(10));
    let text = std::fs::read_to_string(&path).expect("a trace");
    let mut forged: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    forged["schema"] = "trellis-certificate/2".into();
    for name in ["start", "steps"] {
        forged.as_object_mut().expect("an object").remove(name);
    }
    (forged["kind"], forged["assumes"]) = ("basis".into(), serde_json::json!([]));
    for body in [
        serde_json::json!({ "bounds": [], "never": [] }),
        serde_json::json!({ "target": [], "bounds": [], "never": [] }),
    ] {
        forged["body"] = body;
        std::fs::write(&path, forged.to_string()).expect("written");
        let out = trellis(&["certify", "coverability/mesi_bug.spec", &path]);
        assert_eq!(out.status.code(), Some(10), "{}{}", stdout(&out), stderr(&out));
    }
}

#[test]
fn a_proof_for_synapse_is_none_for_a_stronger_target() {
    let (_gone, proof) = temporary("synapse.json");
    assert_eq!(trellis(&["check", "coverability/synapse.spec", "--certificate", &proof]).status.code(), Some(0));
    let (_gone, stronger) = temporary("synapse1.spec");
    let text = std::fs::read_to_string(root().join("models/coverability/synapse.spec")).expect("a model");
    let changed = text.replace("dirty >= 2", "dirty >= 1");
    assert_ne!(text, changed);
    std::fs::write(&stronger, changed).expect("written");
    let out = trellis(&["certify", &stronger, &proof]);
    assert!(out.status.code() == Some(10) && stdout(&out).starts_with("REJECTED"), "{}", stdout(&out));
    let out = trellis(&["certify", "coverability/synapse.spec", &proof, "--error", "dirty >= 1"]);
    assert_eq!(out.status.code(), Some(10), "{}", stdout(&out));
}

#[test]
fn a_proof_for_futurebus_is_none_without_one_of_its_lines() {
    let (_gone, proof) = temporary("futurebus.json");
    let made = trellis(&["check", "coverability/futurebus.spec", "--certificate", &proof]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let (_gone, other) = temporary("other.spec");
    let text = std::fs::read_to_string(root().join("models/coverability/futurebus.spec")).expect("a model");
    let kept: Vec<&str> = text.lines().filter(|l| l.trim_start() != "exclusiveM >= 2    ,").collect();
    assert_eq!(kept.len() + 1, text.lines().count());
    std::fs::write(&other, kept.join("\n")).expect("written");
    // The words that are printed may be the same for both; the targets are not.
    let out = trellis(&["certify", &other, &proof]);
    assert!(out.status.code() == Some(10) && stdout(&out).starts_with("REJECTED"), "{}", stdout(&out));
    assert_eq!(trellis(&["certify", "coverability/futurebus.spec", &proof]).status.code(), Some(0));
}

const INHIBITED: &str = "<pnml><net id='n' type='ptnet'>
    <place id='in.use' initialMarking='1'/><place id='idle'><name><text>the idle ones</text></name></place>
    <place id='both'/><transition id='leave'/><transition id='t-1'><name><text>enter</text></name></transition>
    <arc source='in.use' target='leave'/><arc source='leave' target='idle'/>
    <arc source='idle' target='t-1' type='inhibitor'/><arc source='in.use' target='t-1' type='read'/>
    <arc source='t-1' target='both'/></net></pnml>";

#[test]
fn nets_with_inhibitor_arcs_have_exact_answers_with_names_and_evidence() {
    let (_gone, path) = temporary("net.pnml");
    let (_gone, trace) = temporary("t.json");
    let (_gone, proof) = temporary("c.json");
    std::fs::write(&path, INHIBITED).expect("written");
    let asked = ["--error", "\"the idle ones\" >= 1, both >= 3"];
    let out = trellis(&[&["check", &path, "--trace", &trace], &asked[..]].concat());
    let said = stdout(&out);
    assert!(out.status.code() == Some(10) && said.contains("\"t-1\" (enter): "), "{said}{}", stderr(&out));
    assert!(said.contains("leave: ") && said.contains("in.use >= 1"), "{said}");
    let told = std::fs::read_to_string(&trace).expect("written");
    assert!(told.contains("\"label\": \"\\\"t-1\\\" (enter): "), "{told}");
    let out = trellis(&[&["certify", &path, &trace], &asked[..]].concat());
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    // A net has no question in it: whoever certifies says what is to be proved.
    assert_eq!(trellis(&["certify", &path, &trace]).status.code(), Some(2));
    // Only if nobody is idle does anybody enter: losing some first would give a wrong answer, or none.
    let asked = ["--error", "in.use >= 1, idle >= 1"];
    for engine in ["auto", "explicit"] {
        let out = trellis(&[&["check", &path, "--engine", engine, "--certificate", &proof], &asked[..]].concat());
        assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
        let out = trellis(&[&["certify", &path, &proof], &asked[..]].concat());
        assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    }
    let text = std::fs::read_to_string(&proof).expect("written");
    assert!(text.contains("\"exactly\""), "{text}");
    for (from, to) in [("\"unlimited\"", "5"), ("\"within\"", "\"without\"")] {
        std::fs::write(&proof, text.replace(from, to)).expect("written");
        let out = trellis(&[&["certify", &path, &proof], &asked[..]].concat());
        assert_ne!(out.status.code(), Some(0), "{to}: {}", stdout(&out));
    }
    // Where a question is plain, somebody says so.
    let out = trellis(&["check", &path, "--error", "idle >= 0"]);
    assert!(out.status.code() == Some(10) && stderr(&out).contains("every state covers"), "{}", stderr(&out));
    let out = trellis(&["check", &path, "--error", "in.use >= 2"]);
    assert!(out.status.code() == Some(0) && stderr(&out).contains("no rule raises"), "{}", stderr(&out));
    // An instance has names that UPPAAL allows.
    let out = trellis(&["convert", &path, "--to", "xta"]);
    assert!(stdout(&out).contains("in_use = 1;"), "{}{}", stdout(&out), stderr(&out));
}
