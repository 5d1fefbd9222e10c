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

/// A blocked run neither ends nor goes on: a formula says nothing of the states on it. Asked as one, `A[] x == 0` was SAFE here.
#[test]
fn states_on_blocked_runs_count() {
    let (_gone, path) = temporary("p.c");
    let text =
        "extern void __VERIFIER_assume(int); int x; int main(void) { x = 1; __VERIFIER_assume(x == 2); return 0; }";
    std::fs::write(&path, text).expect("writable");
    let cases: [(&[&str], &str); 8] = [
        (&["-p", "A[] x == 0"], "UNSAFE"),
        (&["-p", "E<> x == 1"], "HOLDS"),
        (&["-p", "E<> x == 2"], "FAILS"),
        (&["-p", "A[] x <= 1"], "SAFE"),
        (&["--error", "x == 1"], "UNSAFE"),
        (&["-p", "E<> deadlock"], "HOLDS"),
        (&["-p", "A[] not deadlock"], "UNSAFE"),
        // About complete runs, and there is none.
        (&["-p", "A<> x == 7"], "SAFE"),
    ];
    for (query, verdict) in cases {
        let (_gone, file) = temporary("e.json");
        let out = trellis(&[&["check", &path, "-q", "--trace", &file, "--certificate", &file], query].concat());
        assert!(stdout(&out).starts_with(verdict), "{query:?}: {}{}", stdout(&out), crate::stderr(&out));
        let out = trellis(&[&["certify", &path, &file], query].concat());
        assert_eq!(out.status.code(), Some(0), "{query:?}: {}{}", stdout(&out), crate::stderr(&out));
        let out = trellis(&["certify", &path, &file, "-p", "A[] x == 5"]);
        assert_eq!(out.status.code(), Some(10), "{query:?}: {}{}", stdout(&out), crate::stderr(&out));
    }
}

/// Programs of each language, asked in their own conditions.
#[test]
fn programs_of_every_language_take_the_common_queries() {
    let cases = [
        ("cfa/counter5_true.cfa", "A[] x <= 5", "SAFE"),
        ("cfa/counter5_true.cfa", "E<> x = 5", "HOLDS"),
        ("cfa/locking.cfa", "E<> lock", "HOLDS"),
        ("xsts/counter5.xsts", "A[] x <= 5", "SAFE"),
        ("xsts/counter5.xsts", "E<> x == 6", "FAILS"),
        ("xsts/counter5.xsts", "E<> x == 5", "HOLDS"),
        ("xsts/counter5.xsts", "A[] not deadlock", "SAFE"),
        ("xsts/lights.sts", "A[] not (a and b)", "SAFE"),
        ("xsts/lights.sts", "E<> b", "HOLDS"),
        ("scxml/traffic-light.scxml", "A[] !(In('green') && In('walk'))", "SAFE"),
        ("scxml/traffic-light.scxml", "E<> In('walk')", "HOLDS"),
        ("scxml/traffic-light.scxml", "E<> In('walk') && requested", "FAILS"),
    ];
    for (model, query, verdict) in cases {
        let (_gone, file) = temporary("e.json");
        let out = trellis(&["check", model, "-q", "-p", query, "--trace", &file, "--certificate", &file]);
        assert!(stdout(&out).starts_with(verdict), "{model} {query}: {}{}", stdout(&out), crate::stderr(&out));
        let out = trellis(&["certify", model, &file, "-p", query]);
        assert_eq!(out.status.code(), Some(0), "{model} {query}: {}{}", stdout(&out), crate::stderr(&out));
    }
}

const STUCK: &str = "node M state s : [0, 2]; event go; trans s < 2 |- go -> s := s + 1; init s := 0; edon";
const NEVER: &str = "node M state s : bool; event go; trans true |- go -> s := ~s; init s := false; edon";

/// A deadlock is where nothing but an idle step is possible: found, excluded, and certified again, also inside conditions.
#[test]
fn deadlock_is_an_atom_of_every_formalism() {
    let spec = |rule: &str| format!("vars x y\nrules\n  {rule};\ninit x = 2, y = 0\ntarget y >= 9\n");
    let (down, round) = (
        spec("x >= 1 -> x' = x - 1, y' = y + 1"),
        spec("x >= 1 -> x' = x - 1, y' = y + 1; y >= 1 -> x' = x + y, y' = 0"),
    );
    let tree = |moves: &str| {
        let states = r#""states": ["0", "1"], "initial": ["0"]"#;
        let idle = r#"["0", "", "0"], ["1", "", "1"]"#;
        let behaviour = format!(r#"{{{states}, "moves": [{moves}, {idle}]}}"#);
        format!(
            r#"{{"schema": "trellis-hierarchy/1", "top": {{"events": ["", "go"], "behaviour": {behaviour}}}, "never": []}}"#
        )
    };
    let (ends, turns) = (tree(r#"["0", "go", "1"]"#), tree(r#"["0", "go", "1"], ["1", "go", "0"]"#));
    let texts: [(&str, &str, &str, bool); 6] = [
        ("m.alt", STUCK, "s = 2", true),
        ("m.alt", NEVER, "s", false),
        ("m.spec", &down, "y = 2", true),
        ("m.spec", &round, "x = 2", false),
        ("m.hts.json", &ends, "top in 1", true),
        ("m.hts.json", &turns, "top in 1", false),
    ];
    for (name, text, there, stuck) in texts {
        let (_kept, model) = temporary(name);
        std::fs::write(&model, text).expect("writable");
        let (unsafe_, holds) = if stuck { ("UNSAFE", "HOLDS") } else { ("SAFE", "FAILS") };
        for (query, verdict) in [
            ("A[] !deadlock".to_string(), unsafe_),
            ("A[] not deadlock".to_string(), unsafe_),
            ("E<> deadlock".to_string(), holds),
            (format!("E<> {there} and deadlock"), holds),
            (format!("E<> {there} and not deadlock"), if stuck { "FAILS" } else { "HOLDS" }),
            ("A<> deadlock".to_string(), if stuck { "SAFE" } else { "UNSAFE" }),
        ] {
            let (_gone, file) = temporary("e.json");
            let out = trellis(&["check", &model, "-p", &query, "-q", "--trace", &file, "--certificate", &file]);
            assert!(stdout(&out).starts_with(verdict), "{text} {query}: {}{}", stdout(&out), crate::stderr(&out));
            let out = trellis(&["certify", &model, &file, "-p", &query]);
            assert_eq!(out.status.code(), Some(0), "{text} {query}: {}{}", stdout(&out), crate::stderr(&out));
        }
    }
}

/// What a model calls `deadlock` is what it means by it.
#[test]
fn a_variable_called_deadlock_is_meant() {
    let (_kept, model) = temporary("m.alt");
    let text = NEVER.replace("state s", "state deadlock").replace("s := ~s", "deadlock := ~deadlock");
    std::fs::write(&model, text.replace("init s", "init deadlock")).expect("writable");
    let out = trellis(&["check", &model, "-p", "E<> deadlock", "-q"]);
    assert!(stdout(&out).starts_with("HOLDS"), "{}{}", stdout(&out), crate::stderr(&out));
}
