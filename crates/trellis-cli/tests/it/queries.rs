//! One property language for all formalisms: the same questions, in each one's own conditions, with evidence that is certified again.

use crate::{stdout, temporary, trellis};

#[test]
fn every_formalism_takes_the_common_queries() {
    let cases: [(&str, &str, &str); 5] = [
        ("data/philosophers.xta", "E<> Philosopher(0).Eating", "HOLDS"),
        ("coverability/mesi.spec", "E<> modified >= 1", "HOLDS"),
        ("altarica/fifo2.alt", "A[] Head.object = no", "UNSAFE"),
        ("altarica/fifo2.alt", "E<> Head.object = a", "HOLDS"),
        ("hierarchy/alarm4.hts.json", "E<> bell in rings", "HOLDS"),
    ];
    for (model, query, verdict) in cases {
        let (_gone, trace) = temporary("t.json");
        let out = trellis(&["check", model, "-p", query, "-q", "--trace", &trace, "--certificate", &trace]);
        let said = stdout(&out);
        assert!(said.starts_with(verdict), "{model} {query}: {said}{}", crate::stderr(&out));
        let out = trellis(&["certify", model, &trace, "-p", query]);
        assert_eq!(out.status.code(), Some(0), "{model} {query}: {}{}", stdout(&out), crate::stderr(&out));
    }
}

/// A blocked run neither ends nor goes on: a formula says nothing of the states on it, so such a question is refused and not answered wrongly.
#[test]
fn programs_whose_runs_may_be_blocked_are_not_asked_by_formulas() {
    let (_gone, path) = temporary("p.c");
    let text =
        "extern void __VERIFIER_assume(int); int x; int main(void) { x = 1; __VERIFIER_assume(x == 2); return 0; }";
    std::fs::write(&path, text).expect("writable");
    for query in [&["-p", "A[] x == 0"][..], &["-p", "E<> x == 1"], &["--error", "x == 1"]] {
        let out = trellis(&[&["check", &path], query].concat());
        assert_eq!(out.status.code(), Some(2), "{query:?}: {}", stdout(&out));
    }
}
