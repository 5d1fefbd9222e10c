//! `trellis simulate`, language by language: a scripted session each, replayed traces, random walks, and input that makes no sense.

use std::io::Write;
use std::process::{Command, Stdio};

use super::{root, stderr, stdout, temporary, trellis};

/// What a session prints when these lines are typed.
fn session(args: &[&str], lines: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trellis"))
        .arg("simulate")
        .args(args)
        .current_dir(root().join("models"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // It may have gone away already.
    _ = child.stdin.take().expect("an input").write_all(lines.as_bytes());
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", stderr(&out));
    stdout(&out)
}

/// Are these among the lines, in this order?
fn has(text: &str, lines: &[&str]) {
    let mut rest = text.lines();
    for line in lines {
        assert!(rest.any(|l| l.contains(line)), "`{line}` is missing, or too early:\n{text}");
    }
}

const ONE_OF_EACH: [&str; 12] = [
    "data/peterson.xta",
    "lattice/leader.xml",
    "timed/bridge.ta",
    "c/lock.c",
    "c/votes.c",
    "cfa/locking.cfa",
    "xsts/trafficlight_v2.xsts",
    "xsts/lights.sts",
    "scxml/microwave.scxml",
    "altarica/lift3.alt",
    "hierarchy/wheels3.hts.json",
    "coverability/mesi.spec",
];

/// Zones and predicates: what follows is what the states of a walk have in common.
#[test]
fn sets_of_states() {
    let said = session(&["timed/lamp.xml", "--symbolic"], "0\nw 1\nu\n");
    has(&said, &["zone = ", "  0: ", "zone = "]);
    assert!(said.contains("a zone has all that waiting leads to"), "{said}");
    let said = session(&["c/lock.c", "--symbolic", "--random", "6"], "");
    has(&said, &["at = lock.c", "locked"]);
    for (model, why) in [
        ("coverability/mesi.spec", "--symbolic: not for"),
        ("scxml/microwave.scxml", "statecharts are walked through in states only"),
        ("data/peterson.xta", "no clocks"),
    ] {
        let out = trellis(&["simulate", model, "--symbolic"]);
        assert_eq!(out.status.code(), Some(2), "{model}: {}", stderr(&out));
        assert!(stderr(&out).contains(why), "{model}: {}", stderr(&out));
    }
}

/// A trace can be walked along in sets of states: each of its states is in the set.
#[test]
fn traces_in_sets_of_states() {
    let models = ["timed/engine-classic.xta", "timed/bridge.ta", "timed/lamp.xml", "timed/broadcast.xta", "c/votes.c"];
    let mut replayed = 0;
    for model in models {
        let (_folder, file) = temporary("symbolic.json");
        trellis(&["check", model, "--trace", &file]);
        let numbered =
            (0..20).map(|n| file.replace(".json", &if n == 0 { ".json".into() } else { format!("-{n}.json") }));
        for file in numbered.filter(|f| std::path::Path::new(f).exists()) {
            let out = trellis(&["simulate", model, "--symbolic", "--trace", &file]);
            assert_eq!(out.status.code(), Some(0), "{model}: {}", stderr(&out));
            assert!(stdout(&out).contains("replayed: "), "{model}: {}", stdout(&out));
            replayed += 1;
        }
    }
    assert!(replayed >= 8, "{replayed}");
}

/// What follows some moves: from there on, and only of what can begin there.
#[test]
fn from_another_start() {
    let said = session(&["data/peterson.xta", "--after", "0; 1"], "");
    has(&said, &["P(0) = Ask, P(1) = Ask, wants[0] = true, wants[1] = true"]);
    // Of the gearbox time has passed after a while.
    let at_once = trellis(&["check", "timed/engine-classic.xta", "--after", "0", "-p", "E<> GearControl.GearChanged"]);
    assert!(stdout(&at_once).contains("HOLDS"), "{}{}", stdout(&at_once), stderr(&at_once));
    let later = trellis(&["check", "timed/engine-classic.xta", "--after", "w 1", "-p", "E<> GearControl.GearChanged"]);
    assert_eq!(later.status.code(), Some(2));
    assert!(stderr(&later).contains("all clocks are 0"), "{}", stderr(&later));
    let wrong = trellis(&["check", "coverability/mesi.spec", "--after", "0; 77"]);
    assert!(stderr(&wrong).contains("move 2 (`77`)"), "{}", stderr(&wrong));
    let none = trellis(&["check", "c/lock.c", "--after", "0"]);
    assert!(stderr(&none).contains("--after: not for"), "{}", stderr(&none));
    // Evidence is about that start, and about no other.
    let (_folder, file) = temporary("after.json");
    trellis(&["check", "coverability/mesi_bug.spec", "--trace", &file]);
    let other = trellis(&["certify", "coverability/mesi_bug.spec", &file, "--after", "0"]);
    assert_ne!(other.status.code(), Some(0), "{}", stdout(&other));
}

#[test]
fn networks() {
    let said = session(&["data/peterson.xta"], "0\n1\nu\nt\nw 2\n");
    has(
        &said,
        &[
            "P(0) = Idle, P(1) = Idle, wants[0] = false, wants[1] = false, turn = 0",
            "  0: P(0): Idle → Ask    (wants[0] = true)",
            "P(0) = Ask, P(1) = Idle, wants[0] = true",
            "P(0) = Ask, P(1) = Ask, wants[0] = true, wants[1] = true",
            "P(0) = Ask, P(1) = Idle",
            "     0   start",
            "     1   P(0): Idle → Ask",
            "this model has no clocks",
        ],
    );
    let said = session(&["timed/bridge.ta"], "0\nw 99\nw 25\nw soon\n0\nu\nu\nu\nu\n");
    has(
        &said,
        &[
            "up to 60 time units may pass",
            "  w 60: and then, for example, Clockwork: Ticking → Over",
            "time may not pass for so long here",
            "x = 25, y = 25",
            "`soon` is no duration",
            "T1 = Far",
            "T1 = Crossing",
            "T1 = Near",
            "there is nothing to undo",
        ],
    );
}

#[test]
fn tchecker_models() {
    let (_gone, path) = temporary("two.tck");
    let text = "system:two\nclock:1:x\nint:1:0:3:0:n\nevent:go\nprocess:P\nlocation:P:a{initial::invariant:x<=2}\n\
        location:P:b{}\nedge:P:a:b:go{provided:x>=1:do:n=1}\nprocess:Q\nlocation:Q:c{initial:}\nlocation:Q:d{}\n\
        edge:Q:c:d:go{do:x=0}\nsync:P@go:Q@go\n";
    std::fs::write(&path, text).expect("a file");
    let said = session(&[&path], "w 3\nw 3/2\n0\nt\nu\nu\n");
    has(
        &said,
        &[
            "P = a, Q = c, n = 0, x = 0",
            "up to 2 time units may pass",
            "time may not pass for so long here",
            "P = a, Q = c, n = 0, x = 3/2",
            "  0: P: a → b; Q: c → d    (n = 1, x = 0)",
            "P = b, Q = d, n = 1, x = 0",
            "wait 1.5, until time 1.5",
            "     1   P: a → b; Q: c → d",
            "P = a, Q = c, n = 0, x = 3/2",
            "P = a, Q = c, n = 0, x = 0",
        ],
    );
}

#[test]
fn programs_in_lines() {
    let said = session(&["c/lock.c"], "0\n0\n0\n0\n0\nlocked = 3\n= maybe\n= 5\nt\n");
    has(
        &said,
        &[
            "  0: lock.c:5  int locked = 0;",
            "  0: lock.c:10  locked = 1;    (locked = 1)",
            "__VERIFIER_nondet_int() is open (i32)",
            "  1: __VERIFIER_nondet_int() = 1",
            "`locked` is not open here; `__VERIFIER_nondet_int()` is",
            "`maybe` is no value of type i32",
            "lock.c:14  if (!locked)",
            "lock.c:24  if (__VERIFIER_nondet_int()) {  [__VERIFIER_nondet_int() = 5]",
        ],
    );
}

#[test]
fn automata_and_transition_systems() {
    let said = session(&["cfa/locking.cfa"], "new = 7\n0\n0\n1\nnew = 8\nu\n");
    has(
        &said,
        &[
            "at = L0, lock = false, old = 0, new = 7",
            "  0: L1 → L2: [!lock]; lock := true; old := new    (lock = true, old = 7)",
            "  1: L2 → L3",
            "at = L3, lock = true",
            "`new` cannot be set: no value is open here",
            "at = L2, lock = true",
        ],
    );
    // It has no property, and can be walked through all the same.
    has(&session(&["xsts/counter5.xsts"], "0\n0\n0\n0\n"), &["start → before init", "before trans"]);
    let (_gone, path) = temporary("any.cfa");
    let text =
        "main process p { var x : int init loc A loc B error loc E A -> B { havoc x } B -> E { assume x = 1234 } }";
    std::fs::write(&path, text).expect("a file");
    let said = session(&[&path], "x = 1234\n0\n0\nu\nu\n3\n");
    has(
        &said,
        &["x is open (int)", "x = 1234", "(an error is reached)", "  no step is possible", "at = A, x = 0", "x = 1234"],
    );
}

#[test]
fn statecharts_in_events() {
    let said = session(&["scxml/traffic-light.scxml"], "0\n1\n1\n1\n1\nu\nt\n");
    has(
        &said,
        &[
            "active = [crossing, cars, green, walkers, stop], requested = false, waited = 0",
            "  0: event button    (requested = true)",
            "  1: event tick    (waited = 1)",
            "active = [crossing, cars, red, walkers, walk]",
            "active = [crossing, cars, yellow, walkers, stop]",
            "     4   event tick",
        ],
    );
    assert!(!said.contains("select") && !said.contains('@'), "{said}");
}

#[test]
fn nodes_and_trees() {
    let said = session(&["altarica/fifo2.alt"], "r\nr\nu\nt\n");
    has(&said, &["  0: ", "     0   start", "     1   <"]);
    let said = session(&["hierarchy/wheels3.hts.json"], "r\nr\nt\n");
    has(&said, &["  0: <", "     0   start", "     1   <", "     2   <"]);
    let out = trellis(&["simulate", "altarica/fifo2.alt", "--node", "Nobody"]);
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn nets_by_the_names_of_transitions() {
    let (_gone, path) = temporary("net.pnml");
    let text = "<pnml><net id=\"n\"><page id=\"g\"><place id=\"p\"><initialMarking><text>2</text></initialMarking></place>\
        <place id=\"q\"/><transition id=\"go\"/><arc id=\"a\" source=\"p\" target=\"go\"/><arc id=\"b\" source=\"go\" target=\"q\"/>\
        </page></net></pnml>";
    std::fs::write(&path, text).expect("a file");
    let said = session(&[&path], "0\n0\n0\nu\nt\n");
    has(
        &said,
        &[
            "p = 2",
            "  0: line 1:  go: ",
            "p = 1, q = 1",
            "q = 2",
            "  no step is possible",
            "there is no step 0",
            "p = 1, q = 1",
        ],
    );
    let said = session(&["coverability/synapse.spec", "--instance", "invalid = 2"], "0\n");
    has(&said, &["invalid = 2", "  0: line 4:  invalid >= 1"]);
}

#[test]
fn every_language_walks_at_random_and_bears_with_nonsense() {
    let junk = "h\nhelp\n\n99999999999999999999\n-1\nw\nw -1\nw 1/0\n = \nx = \n=\nnobody = 1\nr\nr\nr\nr\nb\nb\nu\nfoo bar\n?\nt\ns\n0\nq\n0\n";
    for model in ONE_OF_EACH {
        let out = trellis(&["simulate", model, "--random", "12", "--seed", "5"]);
        assert_eq!(out.status.code(), Some(0), "{model}: {}", stderr(&out));
        assert!(stdout(&out).contains("     1   "), "{model}: {}", stdout(&out));
        assert_eq!(stdout(&out), stdout(&trellis(&["simulate", model, "--random", "12", "--seed", "5"])), "{model}");
        let said = session(&[model], junk);
        has(&said, &["NAME = VALUE", "there is no step 99999999999999999999", "`foo bar` is not a step here"]);
        // Without any input it ends.
        session(&[model], "");
    }
}

#[test]
fn traces_of_every_language_are_replayed() {
    let cases: [&[&str]; 8] = [
        &["data/philosophers.xta", "-p", "A[] not deadlock"],
        &["timed/bridge.ta"],
        &["c/votes.c"],
        &["cfa/arrays.cfa"],
        &["xsts/choices.xsts"],
        &["scxml/traffic-light.scxml", "-p", "waited < 3"],
        &["coverability/mesi_bug.spec"],
        &["hierarchy/alarm4.hts.json"],
    ];
    let mut replayed = 0;
    for case in cases {
        let (_gone, path) = temporary("t.json");
        let check = trellis(&[&["check"], case, &["-q", "--trace", &path]].concat());
        if !std::path::Path::new(&path).exists() {
            continue;
        }
        assert!(matches!(check.status.code(), Some(0 | 10)), "{case:?}: {}", stderr(&check));
        let out = trellis(&["simulate", case[0], "--trace", &path]);
        assert!(stdout(&out).contains("replayed: "), "{case:?}: {}{}", stdout(&out), stderr(&out));
        replayed += 1;
        // A trace of something else.
        let out = trellis(&["simulate", "data/token.xta", "--trace", &path]);
        assert!(out.status.code() == Some(2) && stderr(&out).contains("t.json"), "{case:?}: {}", stderr(&out));
    }
    assert!(replayed >= 6, "{replayed}");
    let (_gone, path) = temporary("t.json");
    trellis(&["check", "altarica/lift3.alt", "--error", "true", "-q", "--trace", &path]);
    let out = trellis(&["simulate", "altarica/lift3.alt", "--trace", &path]);
    assert!(stdout(&out).contains("replayed: 0 steps"), "{}{}", stdout(&out), stderr(&out));
}
