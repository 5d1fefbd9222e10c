//! One property language for all formalisms: the same questions, in each one's own conditions, with evidence that is certified again.

use crate::{stdout, temporary, trellis};

#[test]
fn every_formalism_takes_the_common_queries() {
    let (_kept, program) = temporary("p.c");
    std::fs::write(&program, "int x; int main(void) { while (1) { x = 1 - x; } }").expect("writable");
    let cases: [(&str, &str, &str); 14] = [
        ("data/philosophers.xta", "E<> Philosopher(0).Eating", "HOLDS"),
        ("ltl/cfa/wave_flag.cfa", "A[] x", "UNSAFE"),
        ("ltl/cfa/wave_flag.cfa", "E<> x", "HOLDS"),
        ("ltl/cfa/wave_flag.cfa", "A<> x", "SAFE"),
        ("ltl/cfa/wave_flag.cfa", "not x --> x", "SAFE"),
        ("ltl/cfa/wave_flag.cfa", "E[] not x", "FAILS"),
        (&program, "A[] x >= 0", "SAFE"),
        (&program, "x == 0 --> x == 1", "SAFE"),
        ("ltl/xsts/simple_color.xsts", "E<> envColor = Colors.Green", "HOLDS"),
        ("scxml/traffic-light.scxml", "E<> In(walk)", "HOLDS"),
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
