//! Models in the TChecker language, from the command line.

use crate::{reports, stderr, stdout, temporary, trellis};

/// No clocks, no vectors: a counter that stops at its bound.
const COUNTER: &str = "# counts to three\nsystem:s\nevent:e\nint:1:0:3:0:i\nprocess:P\nlocation:P:l{initial:}\n\
    location:P:m{labels: full}\nedge:P:l:l:e{do: i = i + 1}\nedge:P:l:m:e{provided: i == 3}\n";

#[test]
fn labels_and_properties_are_checked() {
    for name in ["counter.tck", "counter.txt", "counter"] {
        let (_gone, path) = temporary(name);
        std::fs::write(&path, COUNTER).expect("a written file");
        let out = trellis(&["check", &path, "--labels", "full", "-p", "A[] i <= 3", "-p", "sup: i", "--json"]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        let found = reports(&out);
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|r| r["language"] == "tchecker"));
        assert_eq!((&found[0]["query"], &found[0]["holds"]), (&"E<> full".into(), &true.into()));
        assert_eq!(found[2]["bound"], 3);
    }
}

#[test]
fn what_cannot_be_asked_is_said() {
    let complaint = |args: &[&str], words: &[&str]| {
        let out = trellis(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let said = stderr(&out);
        assert!(words.iter().all(|w| said.contains(w)), "{args:?}: {said}");
    };
    let fischer = "timed/tchecker/fischer-5.txt";
    let unasked = |model: &str, words: &[&str]| {
        let out = trellis(&["check", model]);
        assert_eq!(out.status.code(), Some(20), "{model}");
        let said = stdout(&out);
        assert!(said.contains("nothing was asked") && words.iter().all(|w| said.contains(w)), "{model}: {said}");
    };
    unasked(fischer, &["labels of the model are cs1, cs2, cs3, cs4, cs5", "--labels cs1"]);
    unasked("timed/tchecker/csmacd-5.txt", &["has no labels", "--property"]);
    complaint(&["check", fischer, "--labels", "cs1,cs9"], &["no location has the label `cs9`", "--labels:1:5"]);
    complaint(&["check", fischer, "--labels", "cs1", "--const", "N=1"], &["no constants", "TChecker"]);
    complaint(&["check", "data/peterson.xta", "--labels", "a"], &["only models in the TChecker language"]);
}

#[test]
fn variables_may_be_declared_after_their_use_and_bounds_asked_together() {
    let (_dir, path) = temporary("late.tck");
    let model = "system:s\nevent:a\nprocess:P\nint:1:0:3:0:i\nlocation:P:l{initial:}\nedge:P:l:l:a{do: i=j}\nprocess:Q\nint:1:0:3:2:j\n\
                 location:Q:l{initial:}\n";
    std::fs::write(&path, model).expect("a file");
    let out = trellis(&["check", &path, "-p", "sup{i == 0}: i, j", "--json"]);
    let found = reports(&out);
    assert_eq!(found.len(), 2, "{}", stderr(&out));
    assert_eq!((&found[0]["query"], &found[0]["bound"]), (&"sup{i == 0}: i".into(), &0.into()));
    assert_eq!((&found[1]["query"], &found[1]["bound"]), (&"sup{i == 0}: j".into(), &2.into()));
}

#[test]
fn what_changes_no_answer_is_left_out_with_a_warning() {
    let (_dir, path) = temporary("rate.xta");
    let model = "progress { 1; }\nprocess P() { state A { ; 3 }; init A; }\nsystem P;\n";
    std::fs::write(&path, model).expect("a file");
    let out = trellis(&["check", &path, "-p", "A[] P.A"]);
    assert!(stdout(&out).starts_with("SAFE"), "{}{}", stdout(&out), stderr(&out));
    for word in ["progress is left out", "the exponential rate is left out"] {
        assert!(stderr(&out).contains(word), "{}", stderr(&out));
    }
}
