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
        (":ar-load STACK\nR(n : integer) := n = 1;\n", "give bounds"),
        (":ar-load STACK\nR(n) := n < 3;\n", "what `n` ranges over is not clear"),
        (
            ":ar-load STACK\nR(n : [0, 3]) := n = 1;\nS(s : Stack3!c) := R(s.Top.object);\n",
            "expected a number, found a literal",
        ),
        (":ar-load STACK\nR(s : Stack3!c) := true;\nS(s : Stack2!c) := R(s);\n", "and this is one of `Stack2!c`"),
        ("begin R(x : bool) += ~S(x); S(x : bool) += R(x); end\n", "stands under a negation"),
        ("R(x : bool) += ~R(x);\n", "`R` is defined here as a fixpoint, and stands under a negation"),
        ("begin R(x : bool) := S(x); S(x : bool) += R(x); end\n", "comes before `begin` or after `end`"),
        ("begin R(x : bool) += R(x);\n", "expected another definition, or `end`"),
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

/// After a mistake the rest of a script is run all the same.
#[test]
fn scripts_go_on_after_mistakes() {
    let (_gone, path) = temporary("script.mec5");
    std::fs::write(&path, "R(x : bool) := x;\n:dance\nS(x : bool) := Q(x);\n:rel-cardinal R\n").expect("written");
    let out = trellis(&["mec", &path]);
    assert_eq!(out.status.code(), Some(2), "{}", stdout(&out));
    assert!(stdout(&out).contains("cardinal of R : 1"), "{}", stdout(&out));
    assert!(stderr(&out).contains("is no command") && stderr(&out).contains("no relation `Q`"), "{}", stderr(&out));
}

/// A node's events are a relation like its configurations (§6.1.2).
#[test]
fn the_events_of_a_node_are_a_relation() {
    let (_gone, path) = temporary("script.mec5");
    let stack = root().join("models/altarica/stack3.alt").display().to_string();
    let text = format!(
        ":ar-load {stack}\n:rel-cardinal Stack3!ev\nMoves(e : Stack3!ev) := Stack3!ev(e) & <s><t> Stack3!t(s, e, t);\n\
         Idle(e : Stack3!ev) := Stack3!ev(e) & ~Moves(e);\n:rel-cardinal Moves\n:rel-cardinal Idle\n"
    );
    std::fs::write(&path, text).expect("written");
    let out = trellis(&["mec", &path]);
    let said = stdout(&out);
    assert_eq!(out.status.code(), Some(0), "{said}{}", stderr(&out));
    let count = |name: &str| -> u64 {
        let line = said.lines().find_map(|l| l.strip_prefix(&format!("cardinal of {name} : "))).expect("a cardinal");
        line.trim().parse().expect("a number")
    };
    assert_eq!(count("Stack3!ev"), count("Moves") + count("Idle"), "{said}");
    assert!(count("Moves") > 0, "{said}");
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
    // Of another model.
    let out = trellis(&["check", "altarica/stack3.alt", "--spec", "altarica/fifo2.spe"]);
    assert_eq!(out.status.code(), Some(2), "{}", stdout(&out));
    assert!(stderr(&out).contains("there is no node") && stderr(&out).contains("--node Stack3"), "{}", stderr(&out));
}

/// What the two commands draw is in `tests/cover/draw.rs` of the engine; here, how it is written, and that classes respect sets.
#[test]
fn quotients_and_modes_are_drawn() {
    let (_gone, spec) = temporary("valve.spe");
    let draw = |text: &str| {
        std::fs::write(&spec, text).expect("written");
        let out = trellis(&["check", "altarica/tank.alt", "--spec", &spec]);
        (out.status.code(), stdout(&out), stderr(&out))
    };
    let (code, said, _) = draw("with Valve do quot(); done");
    assert_eq!(code, Some(0));
    assert!(said.contains("Valve/Q (1 classes)") && said.contains("\"rate in [0, 2], stucked in [0, 1]\""), "{said}");
    let (_, said, _) = draw("with Valve do stuck := any_s & [stucked = 1]; show(initial); quot(); done");
    assert!(said.contains("Valve/Q (2 classes)") && said.contains("tooltip=\"any_s, stuck\""), "{said}");
    let (_, said, _) = draw("with ValveVirtual do modes(); done");
    assert!(said.contains("label=\"(rate = 2)\"") && said.contains("flow = (rateReal = 2)\\nevent = dec"), "{said}");
    for (text, message) in [
        ("with Valve do quot(any_s); done", "expected `)`"),
        ("with Valve do project(any_s, any_t, 'P', true); done", "expected `(`"),
        (
            "with System1FCtrlVV1F4I_Opt do project(initial, (any_t, any_t), 'P', true, C); done",
            "only supported for `any_s`",
        ),
        ("with System1FCtrlVV1F4I_Opt do project(any_s, (any_t, any_t), 'P', true, T); done", "assign something"),
        (
            "with System1FCtrlVV1F4I_Opt do project(any_s, (any_t, any_t), 'P', true, X); done",
            "there is no sub-node `X`",
        ),
        ("with Valve do x := loop(any_t, any_t); done", "`loop` is not supported"),
    ] {
        let (code, _, said) = draw(text);
        assert!(code == Some(2) && said.contains(message), "{said}");
    }
}

/// What is written is AltaRica again: with a gate that may do what it does, the plant does what it did; with a careful one it is never full.
#[test]
fn a_projection_can_be_read_again() {
    let (gone, spec) = temporary("plant.spe");
    let gate = "const top = 3;\nnode Lamp state on : bool; init on := false; event flip; trans true |- flip -> on := not on; edon\n\
         node Gate sub L : Lamp; flow low, high : bool; // what it sees\n state s : {x, y} : public; init s := x;\n\
         assert (low /* not */\n or // that\n high or true); event push, 'pull'; trans true |- push, 'pull' -> ;\n\
         sync <push, L.flip>; <'pull', L.flip?> >= 0; edon\n";
    let plant = "node Plant sub G : Gate; state n : [0, top]; init n := 0; assert G.low = (n < 2); G.high = (n = 2); event up, down;\n\
         trans n < top |- up -> n := n + 1; n > 0 |- down -> n := n - 1; sync <up, G.push>; <down, G.'pull'>; edon\n";
    let model = gone.path().join("plant.alt").display().to_string();
    let folder = gone.path().display().to_string();
    let run = |model_text: String, chosen: &str| {
        std::fs::write(&model, model_text).expect("written");
        let text = format!(
            "with Plant do chosen := {chosen}; full := any_s & [n = top];\n\
             project(any_s, (empty_t, chosen), 'Next', true, G) > 'Next.alt'; show(any_s, any_t, full); done"
        );
        std::fs::write(&spec, text).expect("written");
        let out = trellis(&["check", &model, "--spec", &spec, "--redirect", &folder]);
        assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
        (stdout(&out), std::fs::read_to_string(gone.path().join("Next.alt")).expect("written"))
    };
    let changed = plant.replace("G : Gate", "G : Next");
    let (before, next) = run(format!("{gate}{plant}"), "any_t");
    let (after, _) = run(format!("{gate}{next}{changed}"), "any_t");
    assert_eq!(before, after, "{next}");
    let (_, next) = run(format!("{gate}{plant}"), "any_t - rtgt(any_s & [n = top])");
    let (after, _) = run(format!("{gate}{next}{changed}"), "any_t");
    assert!(!before.contains("full\t0") && after.contains("full\t0"), "{next}{after}");
}

/// Redirections are followed below a folder, if one is given; drawings have configurations and transitions.
#[test]
fn results_go_to_files() {
    let (gone, spec) = temporary("stack.spe");
    let text = "with Stack3 do empty := any_s & [Top.object = no];\n\
                show(any_s) > 'Res/$NODENAME.res'; test(empty, 1); dot(empty, any_t) > '$NODENAME.dot'; done";
    std::fs::write(&spec, text).expect("written");
    let ask = ["check", "altarica/stack3.alt", "--spec", &spec];
    let out = trellis(&ask);
    assert!(stdout(&out).contains("any_s\t15\n") && stdout(&out).contains("digraph"), "{}", stdout(&out));
    let folder = gone.path().join("out").display().to_string();
    let out = trellis(&[&ask[..], &["--redirect", &folder]].concat());
    assert_eq!(stdout(&out), "test empty = 1: failed (7)\n", "{}", stderr(&out));
    let read = |name: &str| std::fs::read_to_string(Path::new(&folder).join(name)).expect("written");
    assert_eq!(read("Res/Stack3.res"), "any_s\t15\n");
    let drawing = read("Stack3.dot");
    assert_eq!(drawing.matches("penwidth=3").count(), 1, "{drawing}");
    assert_eq!(drawing.matches("[label=\"Top.object = no").count(), 7, "{drawing}");
    for outside in ["../x", "/tmp/x"] {
        std::fs::write(&spec, format!("with Stack3 do show(any_s) > '{outside}'; done")).expect("written");
        let out = trellis(&[&ask[..], &["--redirect", &folder]].concat());
        assert_eq!(out.status.code(), Some(2), "{outside}");
    }
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
    let out = trellis(&["check", &path, "--error", "x = 5", "--engine", "reach"]);
    assert_eq!(out.status.code(), Some(20), "{}", stderr(&out));
    assert!(stdout(&out).contains("too many values"), "{}", stdout(&out));
    // A solver does not mind.
    let out = trellis(&["check", &path, "--error", "x = 5"]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
}

/// Where `init` and the assertions contradict each other every answer is SAFE, and a warning says why.
#[test]
fn nothing_is_initial() {
    let (_gone, path) = temporary("nothing.alt");
    std::fs::write(&path, "node A state x : bool; init x := true; assert not x; edon").expect("written");
    for options in [&["--error", "x"][..], &["--error", "x", "--engine", "hierarchy"], &["--ctl", "EF x"]] {
        let out = trellis(&[&["check", &path], options].concat());
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        assert!(stderr(&out).contains("warning: no configuration is initial"), "{options:?}: {}", stderr(&out));
    }
}

#[test]
fn failures_and_what_they_lead_to() {
    let (_gone, tree) = temporary("tree.xml");
    let (_gone_too, table) = temporary("table.csv");
    let ask = ["cuts", "altarica/pumps.alt", "--top", "not water and (pump.ok or spare.on)"];
    let files = ["--fmea", "--open-psa", &tree, "--fmea-csv", &table];
    let out = trellis(&[&ask[..], &files[..]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let said = stdout(&out);
    for line in [
        "minimal cut sets: 2 of 3 failures",
        "  {valve.fail_stuck}",
        "  {pump.fail, spare.fail}",
        "minimal sequences: 2",
        "  pump.fail, then spare.fail",
        "pump       fail        pump.ok = false",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(!said.contains("spare.fail, then"), "{said}");
    let tree = std::fs::read_to_string(&tree).expect("written");
    assert!(tree.contains("<basic-event name=\"valve-fail-stuck\"/>"), "{tree}");
    let table = std::fs::read_to_string(&table).expect("written");
    assert!(table.contains("\"valve\",\"fail_stuck\",\"valve.stuck = true\",\"water = false\",\"yes\""), "{table}");

    let out = trellis(&["cuts", "altarica/stack3.alt", "--top", "true"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("--failures PATTERN (there are: "), "{}", stderr(&out));
}

#[test]
fn evidence_goes_to_files_and_is_checked_again() {
    let rows = std::fs::read_to_string(root().join("models/altarica/EXPECTED.tsv")).expect("the rows");
    for row in rows.lines() {
        let [model, bad, verdict] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let model = format!("altarica/{model}");
        for engine in ["reach", "cegar"] {
            let (_gone, path) = temporary("evidence.json");
            let (_gone_too, page) = temporary("page.html");
            let what = if verdict == "SAFE" { "--certificate" } else { "--trace" };
            let options = ["--engine", engine, what, &path, "--html", &page, "--json"];
            let out = trellis(&[&["check", &model, "--error", bad], &options[..]].concat());
            let said = stdout(&out);
            assert!(said.contains(&format!("\"verdict\":\"{}\"", verdict)), "{said}{}", stderr(&out));
            assert!(std::fs::read_to_string(&page).expect("written").contains("<html"), "{row}");
            let out = trellis(&["certify", &model, &path, "--error", bad]);
            assert_eq!(out.status.code(), Some(0), "{row}\n{}{}", stdout(&out), stderr(&out));
            let word = if verdict == "SAFE" { "no event leaves it" } else { "replayed" };
            assert!(stdout(&out).contains(word), "{}", stdout(&out));

            // Whoever changes it is found out.
            let text = std::fs::read_to_string(&path).expect("written");
            let forged = match verdict {
                "SAFE" => text.replacen("\"first\":", "\"first\":false,\"was\":", 1),
                _ => {
                    // The flat event of the top, in the last step.
                    let mut doc: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                    let last = doc["steps"].as_array_mut().and_then(|s| s.last_mut()).expect("a step");
                    assert!(last["parts"][0]["takes"].as_u64().is_some_and(|n| n > 0), "{last}");
                    last["parts"][0]["takes"] = 0.into();
                    doc.to_string()
                }
            };
            assert_ne!(forged, text);
            std::fs::write(&path, forged).expect("written");
            let out = trellis(&["certify", &model, &path, "--error", bad]);
            assert_eq!(out.status.code(), Some(10), "{row}\n{}{}", stdout(&out), stderr(&out));
        }
    }
}

#[test]
fn a_run_can_be_drawn() {
    let (_gone, path) = temporary("run.dot");
    let out =
        trellis(&["check", "altarica/fifo2.alt", "--error", "Head.object = no & Queue.object != no", "--dot", &path]);
    assert_eq!(out.status.code(), Some(10), "{}", stderr(&out));
    let graph = std::fs::read_to_string(&path).expect("written");
    assert!(graph.contains("s0 -> s1 [label=\"<puta, Queue.puta>\"]"), "{graph}");
}

#[test]
fn computation_tree_logic() {
    let formulas = [
        ("AG not (P[0].loc = cs & P[1].loc = cs)", true),
        ("AG EF P[0].loc = cs", true),
        ("AG (P[0].loc = doorway => AF P[0].loc = cs)", true),
        ("AG (P[0].loc = start => AF P[0].loc = cs)", false),
        ("E[P[0].loc != cs U P[1].loc = cs]", true),
        ("EF (P[0].loc = cs and P[1].loc = cs)", false),
    ];
    for (formula, holds) in formulas {
        let out = trellis(&["check", "altarica/peterson2.alt", "--ctl", formula]);
        let said = stdout(&out);
        assert_eq!(out.status.code(), Some(if holds { 0 } else { 10 }), "{formula}\n{said}{}", stderr(&out));
        assert!(said.contains("evaluated again, configuration by configuration"), "{said}");
    }
    let (_gone, script) = temporary("script.mec5");
    let model = root().join("models/altarica/peterson2.alt");
    let text = format!(
        ":ar-load {}\n:ctl Live Peterson2 EF P[0].loc = cs\n:rel-cardinal Live\n\
         Both(s : Peterson2!c) := Live(s) & s.P[1].loc = cs;\n:rel-cardinal Both\n",
        model.display()
    );
    std::fs::write(&script, text).expect("written");
    let out = trellis(&["mec", &script]);
    let said = stdout(&out);
    assert!(
        said.contains("Live : (Peterson2!c) -> bool") && said.contains("cardinal of Both"),
        "{said}{}",
        stderr(&out)
    );
}

#[test]
fn refinements_are_told_and_drawn() {
    let ask = ["check", "altarica/peterson2.alt", "--error", "P[0].loc = cs & P[1].loc = cs", "--engine", "cegar"];
    for (name, part) in
        [("rows.csv", "iteration,states,transitions"), ("plot.svg", "<polyline"), ("rows.txt", "coreachable")]
    {
        let (_gone, path) = temporary(name);
        let out = trellis(&[&ask[..], &["--iterations", &path]].concat());
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        let text = std::fs::read_to_string(&path).expect("written");
        assert!(text.contains(part), "{text}");
    }
    let (gone, script) = temporary("script.mec5");
    let text = format!(
        ":ar-load {}\n\
         Bad(s : Peterson2!c) := s.P[0].loc = cs & s.P[1].loc = cs;\n\
         :set cegar-ce-analysis Backward\n:set cegar-print-iteration-stats\n:set cegar-abstraction-print\n\
         :set cegar-use-super-transition\n:options\n\
         :ar-cegar-init Peterson2 Peterson2!init Bad\n:ar-cegar-verify Peterson2\n",
        root().join("models/altarica/peterson2.alt").display()
    );
    std::fs::write(&script, text).expect("written");
    let out = trellis(&["mec", &script]);
    let said = stdout(&out);
    assert!(
        said.contains("cegar-ce-analysis BACKWARD") && said.contains("Bad is not reachable"),
        "{said}{}",
        stderr(&out)
    );
    let picture = std::fs::read_to_string(gone.path().join("Peterson2-1.dot")).expect("written");
    assert!(picture.starts_with("digraph abstraction"), "{picture}");
}

/// Values are shown as they are written, definitions may end with `end`, and what was computed from a node that is read again is gone.
#[test]
fn relations_over_values() {
    let (_gone, script) = temporary("script.mec5");
    let stack = root().join("models/altarica/stack3.alt").display().to_string();
    let text = format!(
        ":ar-load {stack}\nOn(o : {{a, b, c}}, t : bool) := <s>(Stack3!c(s) & s.Top.object = o) & t;\n:rel-print On\n\
         begin E(n : [0, 4]) += n = 0 | <m>(O(m) & n = m + 1);\n O(n : [0, 4]) += <m>(E(m) & n = m + 1); end\n:rel-cardinal E\n\
         :rel-dot O\n:ar-load {stack}\n:rel-cardinal E\n:rel-cardinal On\n"
    );
    std::fs::write(&script, text).expect("written");
    let out = trellis(&["mec", &script]);
    let said = stdout(&out);
    assert!(said.starts_with("On : ({a, b, c}, bool) -> bool\na true\nb true\nE : ([0, 4]) -> bool\n"), "{said}");
    assert_eq!(said.matches("cardinal of E : 3").count(), 2, "{said}");
    assert!(said.contains("value#0.2"), "{said}");
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(stderr(&out).contains("there is no relation `On`"), "{}", stderr(&out));
}

/// What is written to `trellis mec` comes from a pipe here: no prompt, no editing, the same answers; a mistake does not end it.
#[test]
fn a_conversation() {
    let (_gone, file) = temporary("input.mec5");
    let model = root().join("models/altarica/stack3.alt");
    std::fs::write(
        &file,
        format!(
            ":ar-load {}\nA(s : Stack3!c) :=\n\n  Stack3!init(s);\n:nonsense\n:rel-cardinal A\nbegin\nB(x : bool) += x;\nend\n:rel-cardinal B\n:quit\n",
            model.display()
        ),
    )
    .expect("written");
    let input = std::fs::File::open(&file).expect("readable");
    let out =
        std::process::Command::new(env!("CARGO_BIN_EXE_trellis")).arg("mec").stdin(input).output().expect("it runs");
    assert!(
        stdout(&out).contains("cardinal of A : 1\nB : (bool) -> bool\ncardinal of B : 1"),
        "{}{}",
        stdout(&out),
        stderr(&out)
    );
    assert!(stderr(&out).contains("`:nonsense` is no command"), "{}", stderr(&out));
}

#[test]
fn integers_without_bounds_are_for_a_solver() {
    let (_gone, path) = temporary("counter.alt");
    let text = "node Counter state n : integer; up : bool; flow even : bool; init n := 0, up := true; event step, turn;
        trans up |- step -> n := n + 2; not up and n > 1 |- step -> n := n - 2; true |- turn -> up := not up;
        assert even = (n mod 2 = 0); edon
        node Top sub c, d : Counter; sync <c.step, d.step>; edon";
    std::fs::write(&path, text).expect("written");
    let (_gone_too, trace) = temporary("trace.json");
    for (bad, code) in [("c.n < 0", 0), ("c.n = 6 and d.n = 2", 10)] {
        let out = trellis(&["check", &path, "--error", bad, "--trace", &trace, "--timeout", "120s"]);
        assert_eq!(out.status.code(), Some(code), "{bad}\n{}{}", stdout(&out), stderr(&out));
    }
    assert!(std::fs::read_to_string(&trace).expect("written").contains("<c.step, d.step>"));
}

/// A refinement that was left goes on where it was: one round at a time, the rounds are the same as all at once (001 §6.2.6).
#[test]
fn a_refinement_goes_on_where_it_stopped() {
    let run = |verify: &str, options: &str| {
        let (_gone, script) = temporary("script.mec5");
        let text = format!(
            ":ar-load {}\nBad(s : Peterson2!c) := s.P[0].loc = cs & s.P[1].loc = cs;\n\
             W(s : Peterson2!c) := s.P[0].loc = wait;\n:set cegar-print-iteration-stats\n{options}\n\
             :ar-cegar-init Peterson2 Peterson2!init Bad W\n{verify}",
            root().join("models/altarica/peterson2.alt").display()
        );
        std::fs::write(&script, text).expect("written");
        let out = trellis(&["mec", &script]);
        assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
        stdout(&out)
    };
    let numbers = |said: &str| -> Vec<String> {
        let row = |l: &&str| l.trim_start().starts_with(|c: char| c.is_ascii_digit());
        said.lines().filter(row).map(String::from).collect()
    };
    for options in ["", ":set split-certification\n:set feasibility-certification", ":set cegar-ce-analysis BACKWARD"] {
        let once = run(":ar-cegar-verify Peterson2\n", options);
        let rounds = numbers(&once).len();
        assert!(
            rounds > 3 && once.contains(&format!("not reachable from Peterson2!init: {rounds} refinements")),
            "{once}"
        );
        let one = run(&":ar-cegar-verify Peterson2 1\n".repeat(rounds + 1), options);
        assert_eq!(numbers(&one), numbers(&once));
        assert!(
            one.contains("no answer after 1 refinements") && one.contains(&format!(": {rounds} refinements")),
            "{one}"
        );
    }
}

/// What is not found within the limits is UNKNOWN, and so is what needs it; the script goes on.
#[test]
fn scripts_have_limits() {
    let (_gone, script) = temporary("script.mec5");
    let text = format!(
        ":ar-load {}\nR(s : Stack3!c) += Stack3!init(s) | <x>(R(x) & <e> Stack3!t(x, e, s));\n:rel-cardinal R\n\
         Q(s : Stack3!c) := ~R(s);\n:ar-cegar-init Stack3 Stack3!init Q\nA(s : Stack3!c) := true;\n",
        root().join("models/altarica/stack3.alt").display()
    );
    std::fs::write(&script, text).expect("written");
    let out = trellis(&["mec", &script, "--timeout", "0s"]);
    let said = stdout(&out);
    assert_eq!(out.status.code(), Some(20), "{said}{}", stderr(&out));
    assert_eq!(said.matches("R: UNKNOWN: time limit reached").count(), 2, "{said}");
    assert!(said.contains("Q: UNKNOWN") && said.contains("A: UNKNOWN"), "{said}");
    let (_gone_too, model) = temporary("large.alt");
    std::fs::write(&model, "node A state x : [0, 1000000000000]; init x := 0; edon").expect("written");
    std::fs::write(&script, format!(":ar-load {model}\nR(s : A!c) := s.x = 5;\n")).expect("written");
    let out = trellis(&["mec", &script]);
    assert_eq!(out.status.code(), Some(20), "{}", stderr(&out));
    assert!(stdout(&out).contains("A: UNKNOWN: unsupported: `x` has too many values"), "{}", stdout(&out));
}

/// Evidence about a node that is not the last one.
#[test]
fn evidence_about_another_node() {
    let bad = "Top.object != no & Stack.object = no";
    for engine in ["reach", "hierarchy"] {
        let (_gone, proof) = temporary("proof.json");
        let model = "altarica/stack3.alt";
        let out =
            trellis(&["check", model, "--node", "Stack2", "--engine", engine, "--error", bad, "--certificate", &proof]);
        assert_eq!(out.status.code(), Some(0), "{engine}: {}{}", stdout(&out), stderr(&out));
        let out = trellis(&["certify", model, &proof, "--error", bad, "--node", "Stack2"]);
        assert_eq!(out.status.code(), Some(0), "{engine}: {}{}", stdout(&out), stderr(&out));
        let bad = "Top.object != no and Stack.Top.object = no";
        let out = trellis(&["certify", model, &proof, "--error", bad, "--node", "Stack3"]);
        assert_eq!(out.status.code(), Some(10), "{engine}: {}{}", stdout(&out), stderr(&out));
        assert!(stdout(&out).contains("it was made with --node Stack2"), "{}", stdout(&out));
    }
}
