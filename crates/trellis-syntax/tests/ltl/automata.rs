//! The Hanoi format.

use std::path::Path;

use trellis_model::ltl::{Buchi, Word};
use trellis_syntax::diag::Sources;
use trellis_syntax::hoa::{Hoa, read, write};

use crate::{Random, runs, shown};

fn load(text: &str) -> Result<Hoa, Vec<String>> {
    let mut sources = Sources::default();
    let id = sources.add("a.hoa", text);
    read(&sources, id).map_err(|complaints| shown(&sources, &complaints))
}

fn good(text: &str) -> Hoa {
    load(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn refuses(text: &str, complaint: &str) {
    assert_eq!(load(text).expect_err(text), [complaint], "{text}");
}

/// A header that is right, with one piece of another.
fn with(header: &str, body: &str) -> String {
    format!("HOA: v1\nStart: 0\nAP: 2 \"a\" \"b\"\n{header}\n--BODY--\n{body}\n--END--\n")
}

#[test]
fn all_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/ltl/hoa");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the automata") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("text");
        let hoa = good(&text);
        assert_eq!(hoa.automaton.marks, 1);
        assert!(hoa.name.as_ref().is_some_and(|n| n.starts_with("Automaton for ")), "{text}");
        assert_eq!(good(&write(&hoa)), hoa);
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn what_is_written_is_read_again() {
    let text = with(
        "acc-name: generalized-Buchi 2\nAcceptance: 2 Inf(0)&Inf(1)",
        "State: 0 [0&!1|!0&1] 0 {0} [t] 1 {0 1} State: 1",
    );
    let hoa = good(&text);
    assert_eq!((hoa.automaton.marks, hoa.automaton.edge_count()), (2, 3));
    let again = write(&hoa);
    assert!(again.contains("acc-name: generalized-Buchi 2\nAcceptance: 2 Inf(0)&Inf(1)\n"), "{again}");
    assert!(again.contains("trans-acc") && again.contains("[t] 1 {0 1}"), "{again}");
    assert_eq!(good(&again), hoa);
    let odd = Hoa { atoms: vec!["x \"\\ 1".into()], name: Some("\\".into()), automaton: Buchi::default() };
    assert_eq!(good(&write(&odd)), odd);
}

/// The same automaton in four ways: explicit, implicit, with aliases, with labels on states.
#[test]
fn ways_to_write_labels() {
    let acceptance = "Acceptance: 1 Inf(0)";
    let explicit = good(&with(acceptance, "State: 0 {0} [0&1] 0 [!(0&1)] 1 State: 1 [t] 1"));
    let implicit = good(&with(acceptance, "State: 0 {0} 1 1 1 0 State: 1 1 1 1 1"));
    let alias = format!("Alias: @both 0&1\nAlias: @one !@both\n{acceptance}");
    let aliased = good(&with(&alias, "State: 0 \"start\" {0} [@both] 0 [@one] 1 State: [t] 1 1"));
    for x in 0..256 {
        let word = Word::new(vec![x & 3, x >> 2 & 3], vec![x >> 4 & 3, x >> 6]);
        let expected = explicit.automaton.accepts(&word);
        assert_eq!(expected, x == 255);
        assert_eq!(implicit.automaton.accepts(&word), expected);
        assert_eq!(aliased.automaton.accepts(&word), expected);
    }
}

#[test]
fn acceptance() {
    let marks = |condition: &str| good(&with(condition, "State: 0 [t] 0 {}")).automaton;
    assert_eq!(marks("acc-name: all\nAcceptance: 0 t").marks, 0);
    assert!(!marks("Acceptance: 0 t").is_empty());
    assert!(marks("Acceptance: 0 f").is_empty());
    assert_eq!(marks("Acceptance: 3 (Inf(2) & Inf(0))").marks, 2);
    let help = " (Buchi, generalized-Buchi and all are: conjunctions of Inf(n), or t)";
    let body = "State: 0 [t] 0";
    refuses(
        &with("acc-name: co-Buchi\nAcceptance: 1 Fin(0)", body),
        &format!("11: acceptance `co-Buchi` is not supported{help}"),
    );
    refuses(&with("Acceptance: 1 Fin(0)", body), &format!("15: acceptance with `Fin` is not supported{help}"));
    refuses(&with("Acceptance: 2 Inf(0)|Inf(1)", body), &format!("21: acceptance with `|` is not supported{help}"));
}

#[test]
fn refused() {
    let a = "Acceptance: 1 Inf(0)";
    refuses("", "1: expected `HOA: v1`, found the end of the text");
    refuses("HOA: v2", "6: version v2 of the format is not supported, only v1");
    refuses("HOA: v1 --BODY-- --END--", "9: the header says nothing about `Acceptance:`");
    refuses(&with(a, "State: 0 [0] 0&1"), "15: alternation is not supported: an edge leads to one state");
    refuses(&with(a, "State: 0 [2] 0"), "11: there is no atom 2: the header declares 2");
    refuses(&with(a, "State: 0 [0] 0 {1}"), "17: there is no set 1: the header declares 1");
    refuses(&with(a, "State: 0 [@x] 0"), "11: there is no alias `@x`");
    refuses(&with(a, "State: 0 0 0"), "8: this state has 2 edges without labels, and there must be 4");
    refuses(&with(a, "State: 0 [t] 0 State: 0"), "23: there is a state 0 already");
    refuses(&with(a, "State: 0 [t] 4000000000"), "14: more than 1000000 states are not supported");
    refuses(&with(&format!("{a} States: 1"), "State: 1"), "8: there is no state 1: the header declares 1");
    refuses(&with(&format!("{a} Zebra: 1"), ""), "22: the header `Zebra:` is not supported");
    refuses(&with(a, "State: 0 [0 0"), "13: expected `]`, found `0`");
    refuses(&with(a, "--ABORT--"), "1: this automaton was given up by the program that wrote it");
    refuses(
        &format!("{}HOA: v1", with(a, "")),
        "1: expected the end of the text: only one automaton is read, found `HOA:`",
    );
    refuses("HOA: v1 AP: 2 \"a\"", "13: 2 atoms are announced, and there are 1");
}

#[test]
fn damaged() {
    let text = with(
        "Alias: @c 0|!1\nacc-name: Buchi\nAcceptance: 1 Inf(0)",
        "State: 0 {0} [@c & 0] 0 [!0] 1 State: 1 0 1 0 1",
    );
    let pieces = ["{", "}", "[", "]", "State:", "99999999999", "1", "\"", "@c", "!", "&", "--END--", "é", "/*", "("];
    let mut random = Random(2);
    for _ in 0..runs(5_000) {
        let text = random.damaged(&text, &pieces);
        if let Err(complaints) = load(&text) {
            assert!(!complaints.is_empty(), "{text}");
        }
    }
}
