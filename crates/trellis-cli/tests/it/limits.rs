//! `--timeout`, `--memory` and `--states` mean the same in every engine of every formalism: running out is UNKNOWN, with the reason.

use crate::{stderr, stdout, trellis};

/// An engine, and a question that it does not answer in its first states.
const ENGINES: [&[&str]; 20] = [
    &["lattice/leader.xml", "--update", "simple"],
    &["timed/fischer-4-32-64.xta", "--engine", "reach", "-p", "A[] not (P(1).cs and P(2).cs)"],
    &["timed/fischer-4-32-64.xta", "--engine", "lazy", "-p", "A[] not (P(1).cs and P(2).cs)"],
    &["c/lock.c", "--engine", "bmc"],
    &["c/lock.c", "--engine", "cegar"],
    &["c/lock.c", "--engine", "lazy"],
    &["c/lock.c", "--engine", "induction"],
    &["c/lock.c", "--engine", "explicit"],
    &["c/lock.c"],
    &["coverability/german.spec", "--engine", "wsts"],
    &["coverability/german.spec", "--engine", "backward"],
    &["coverability/german.spec", "--engine", "forward"],
    &["coverability/german.spec", "--engine", "frames"],
    &["coverability/german.spec"],
    &["altarica/lift3.alt", "--engine", "reach", "--error", "F[1].door = open"],
    &["altarica/lift3.alt", "--engine", "cegar", "--error", "F[1].door = open"],
    &["altarica/lift3.alt", "--engine", "hierarchy", "--error", "F[1].door = open"],
    &["hierarchy/wheels3.hts.json"],
    &["ltl/cfa/wave_flag.cfa", "--ltl", "G F(x)"],
    &["ltl/networks/semaphore.xta", "--ltl", "G F A.inside"],
];

/// Finds proofs without listing states: a limit of states does not concern it.
fn has_no_states(engine: &[&str]) -> bool {
    engine.contains(&"induction") || engine == ["c/lock.c"]
}

#[test]
fn limits_hold_in_every_engine() {
    let mut wrong = vec![];
    let limits =
        [("--timeout", "0s", "time limit"), ("--memory", "1KiB", "memory limit"), ("--states", "1", "state limit")];
    for engine in ENGINES {
        for (option, value, says) in limits {
            if option == "--states" && has_no_states(engine) {
                continue;
            }
            let out = trellis(&[&["check", "-q", option, value], engine].concat());
            let said = stdout(&out);
            let fine = out.status.code() == Some(20) && said.contains("UNKNOWN") && said.contains(says);
            if !fine {
                wrong.push(format!("{engine:?} {option} {value}: {:?}\n{said}{}", out.status.code(), stderr(&out)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The certificate of bounded model checking of a loop grew to a gigabyte under a limit of 50 MiB.
#[test]
fn memory_is_that_of_the_process() {
    let out = trellis(&["check", "c/lock.c", "--engine", "bmc", "--memory", "50MiB", "--timeout", "60s", "-q"]);
    assert_eq!(out.status.code(), Some(20), "{}", stderr(&out));
    assert!(stdout(&out).contains("memory limit"), "{}", stdout(&out));
}
