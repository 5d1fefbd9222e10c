//! AltaRica at the command line: the bundled models under every engine, Mec 5's session of the thesis, Acheck's specifications.

use std::path::Path;

use crate::{root, stderr, stdout, temporary, trellis};

#[test]
fn the_models_have_their_verdicts() {
    let rows = std::fs::read_to_string(root().join("models/altarica/EXPECTED.tsv")).expect("the rows");
    for row in rows.lines() {
        let [model, bad, verdict] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let model = format!("altarica/{model}");
        for options in [
            &[][..],
            &["--backward"],
            &["--engine", "cegar"],
            &["--engine", "cegar", "--backward"],
            &["--engine", "cegar", "--no-pruning"],
            &["--engine", "hierarchy"],
            &["--engine", "hierarchy", "--neat"],
        ] {
            let mut args = vec!["check", &model, "--error", bad];
            args.extend(options);
            let out = trellis(&args);
            let said = stdout(&out);
            assert!(
                said.contains(verdict) && said.contains(&format!("{verdict} ")),
                "{row} {options:?}\n{said}{}",
                stderr(&out)
            );
            assert_eq!(out.status.code(), Some(if verdict == "SAFE" { 0 } else { 10 }), "{row}");
        }
    }
}

#[test]
fn a_run_is_told_in_events_and_changes() {
    let out = trellis(&["check", "altarica/fifo2.alt", "--error", "Head.object = no & Queue.object != no"]);
    let said = stdout(&out);
    assert!(
        said.contains("initially") && said.contains("<puta, Queue.puta>") && said.contains("Queue.object = a"),
        "{said}"
    );
}

#[test]
fn the_session_of_the_thesis() {
    let out = trellis(&["mec", "altarica/thesis.mec5"]);
    let said = stdout(&out);
    for line in [
        "cardinal of configurations : 27",
        "cardinal of Stack3!t : 91",
        "cardinal of PostStarOfInit : 15",
        "cardinal of Err : 2",
        "cardinal of ReachErr : 0",
        "Err is not reachable from Init",
    ] {
        assert!(said.contains(line), "{line}\n{said}{}", stderr(&out));
    }
}

#[test]
fn mistakes_in_scripts_have_their_places() {
    for (text, message) in [
        (":ar-load ./nothing.alt\n", "nothing.alt"),
        ("R(s : A!c) := true;\n", "there is no node `A`"),
        (":ar-load STACK\nR(s : Stack3!c) := s.Top.objekt = no;\n", "did you mean `object`?"),
        (":ar-load STACK\nR(s : Stack3!c) := Q(s);\n", "there is no relation `Q`"),
        (":ar-load STACK\nR(s : Stack3!c) := true\n", "expected `;`"),
        (":dance\n", "is no command"),
    ] {
        let (_gone, path) = temporary("script.mec5");
        let stack = root().join("models/altarica/stack3.alt").display().to_string();
        std::fs::write(&path, text.replace("STACK", &stack)).expect("written");
        let out = trellis(&["mec", &path]);
        assert_eq!(out.status.code(), Some(2), "{text}");
        assert!(stderr(&out).contains(message), "{text}\n{}", stderr(&out));
    }
}

#[test]
fn specifications_are_evaluated() {
    let out = trellis(&["check", "altarica/stack3.alt", "--spec", "altarica/stack3.spe"]);
    assert!(
        stdout(&out).contains("any_s\t15\n") && stdout(&out).contains("passed"),
        "{}{}",
        stdout(&out),
        stderr(&out)
    );
    assert_eq!(out.status.code(), Some(0));
    let out = trellis(&["check", "altarica/fifo2.alt", "--spec", "altarica/fifo2.spe"]);
    assert_eq!(out.status.code(), Some(10), "{}", stderr(&out));
}

fn compare(model: &str, spec: &str, expected: &str) {
    let text = std::fs::read_to_string(model).expect("a model");
    let node = text.lines().rev().find_map(|l| l.trim().strip_prefix("node ")).expect("a node").trim().to_string();
    let out = trellis(&["check", model, "--spec", spec, "--node", &node]);
    let said = stdout(&out);
    for line in std::fs::read_to_string(expected).expect("counts").lines().filter(|l| !l.trim().is_empty()) {
        assert!(said.lines().any(|l| l == line.trim_end()), "{model}: {line}\n{said}{}", stderr(&out));
    }
}

#[test]
fn the_tank_has_the_counts_of_another_tool() {
    let file = |name: &str| root().join("models/altarica").join(name).display().to_string();
    compare(&file("tank.alt"), &file("tank.spe"), &file("tank.expected"));
}

#[test]
fn all_tanks_have_the_counts_of_another_tool() {
    let folder = root().join("../shared/models/altarica/tank");
    let Ok(files) = std::fs::read_dir(&folder) else { return };
    let show = |p: &Path| p.display().to_string();
    let mut count = 0;
    for file in files.map(|f| f.expect("a file").path()).filter(|p| p.extension().is_some_and(|e| e == "alt")) {
        compare(&show(&file), &show(&folder.join("System.spe")), &show(&file.with_extension("expected")));
        count += 1;
    }
    assert_eq!(count, 19);
}

#[test]
fn what_cannot_be_decided_says_why() {
    let (_gone, path) = temporary("large.alt");
    std::fs::write(&path, "node A state x : [0, 1000000000000]; init x := 0; edon").expect("written");
    let out = trellis(&["check", &path, "--error", "x = 5"]);
    assert_eq!(out.status.code(), Some(20), "{}", stderr(&out));
    assert!(stdout(&out).contains("too many values"), "{}", stdout(&out));
}
