//! Evidence that somebody has tampered with is rejected.

use serde_json::Value;

use crate::{asking, stderr, stdout, temporary, trellis};

/// Writes a certificate, changes it, and asks whether it is still accepted.
fn certify_changed(model: &[&str], check: &[&str], change: impl Fn(&mut Value)) -> (Option<i32>, String) {
    let (_gone, path) = temporary("c.json");
    let kind = if check.contains(&"--want-trace") { "--trace" } else { "--certificate" };
    let mut args = vec!["check"];
    args.extend(model);
    args.extend(check.iter().filter(|a| **a != "--want-trace"));
    args.extend(["-q", kind, &path]);
    let out = trellis(&args);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}{}", stdout(&out), stderr(&out)));
    let mut doc: Value = serde_json::from_str(&text).expect("JSON");
    change(&mut doc);
    std::fs::write(&path, doc.to_string()).expect("writable");
    let mut args = vec!["certify"];
    args.extend(model);
    args.extend(asking(check));
    args.push(&path);
    let out = trellis(&args);
    (out.status.code(), stdout(&out) + &stderr(&out))
}

const LEADER: &[&str] = &["lattice/leader.xml"];

#[test]
fn an_untouched_certificate_is_accepted() {
    for update in ["simple", "cover", "join"] {
        let (code, said) = certify_changed(LEADER, &["--update", update], |_| {});
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn a_certificate_without_one_element_is_rejected() {
    for update in ["cover", "simple"] {
        // Only elements that nothing else covers matter; under simple update that is all of them.
        let (code, said) = certify_changed(LEADER, &["--update", update], |doc| {
            let entries = doc["body"]["entries"].as_array_mut().expect("entries");
            if update == "simple" {
                entries.remove(entries.len() / 2);
            } else {
                entries.pop();
            }
        });
        assert_eq!(code, Some(10), "{update}: {said}");
        assert!(said.starts_with("REJECTED"), "{said}");
    }
}

#[test]
fn every_element_of_a_joined_certificate_is_needed() {
    for n in 0..2 {
        let (code, said) = certify_changed(LEADER, &["--update", "join"], |doc| {
            doc["body"]["entries"].as_array_mut().expect("entries").remove(n);
        });
        assert_eq!(code, Some(10), "without entry {n}: {said}");
    }
}

#[test]
fn an_element_enlarged_beyond_the_property_is_rejected() {
    // The whole pool: then agent 0 could become leader too.
    let (code, said) = certify_changed(LEADER, &["--update", "join"], |doc| {
        for entry in doc["body"]["entries"].as_array_mut().expect("entries") {
            entry[2][0] = Value::from("0x1ffffff");
        }
    });
    assert_eq!(code, Some(10), "{said}");
}

#[test]
fn a_location_that_the_property_forbids_is_rejected() {
    let (code, said) = certify_changed(LEADER, &["--update", "join"], |doc| {
        let entries = doc["body"]["entries"].as_array_mut().expect("entries");
        let mut bad = entries[0].clone();
        bad[0][0] = Value::from(1);
        entries.push(bad);
    });
    assert_eq!(code, Some(10), "{said}");
}

const LOSSY: &[&str] = &["lattice/lossy.xta", "--const", "M=2"];
const WRONG: &[&str] = &["-p", "A[] not Receiver.Wrong", "--want-trace"];

#[test]
fn a_trace_without_one_step_is_rejected() {
    let (code, said) = certify_changed(LOSSY, WRONG, |_| {});
    assert_eq!(code, Some(0), "{said}");
    for n in 0..6 {
        let (code, said) = certify_changed(LOSSY, WRONG, |doc| {
            doc["steps"].as_array_mut().expect("steps").remove(n);
        });
        assert_eq!(code, Some(10), "without step {n}: {said}");
    }
}

#[test]
fn a_trace_with_a_changed_value_is_rejected() {
    let (code, said) = certify_changed(LOSSY, WRONG, |doc| {
        let step = |s: &&mut Value| s["set"]["Sender.next"].is_i64();
        let steps = doc["steps"].as_array_mut().expect("steps");
        let step = steps.iter_mut().find(step).expect("a step that sets it");
        step["set"]["Sender.next"] = Value::from(step["set"]["Sender.next"].as_i64().unwrap_or(0) ^ 3);
    });
    assert_eq!(code, Some(10), "{said}");
    let (code, said) = certify_changed(LOSSY, WRONG, |doc| {
        doc["start"]["data"]["words"][0] = Value::from("0x3");
    });
    assert_eq!(code, Some(10), "{said}");
    let (code, said) = certify_changed(LOSSY, WRONG, |doc| {
        let steps = doc["steps"].as_array_mut().expect("steps");
        let step = steps.iter_mut().find(|s| s["set"]["data"].is_object()).expect("a step that sets it");
        step["set"]["data"]["words"][0] = Value::from("0x0");
    });
    assert_eq!(code, Some(10), "{said}");
}

#[test]
fn nonsense_in_evidence_is_an_input_error() {
    for change in [
        |doc: &mut Value| doc["schema"] = Value::from("trellis-certificate/99"),
        |doc: &mut Value| doc["body"]["entries"] = Value::from("many"),
        |doc: &mut Value| doc["body"]["entries"][0][0][0] = Value::from(77),
        |doc: &mut Value| doc["body"]["entries"][0][2][0] = Value::from("0xzz"),
        |doc: &mut Value| doc["body"]["columns"]["processes"][0]["name"] = Value::from("Nobody"),
    ] {
        let (code, said) = certify_changed(LEADER, &["--update", "join"], change);
        assert_eq!(code, Some(2), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

const FISCHER: &[&str] = &["timed/fischer-4-32-64.xta"];
const MUTEX: &[&str] = &["-p", "A[] not (P(1).cs && P(2).cs)"];
/// Engines whose certificates say different things: zones, zones up to bounds, abstract zones.
const TIMED: [&str; 5] = [
    "--engine reach --cover inclusion",
    "--engine reach --cover alu",
    "--engine lazy --clocks forward",
    "--engine lazy --clocks backward",
    "--engine lazy --clocks bounds",
];

fn timed<'a>(question: &[&'a str], config: &'a str) -> Vec<&'a str> {
    question.iter().copied().chain(config.split(' ')).collect()
}

fn entries(doc: &mut Value) -> &mut Vec<Value> {
    doc["body"]["entries"].as_array_mut().expect("entries")
}

#[test]
fn a_timed_certificate_without_an_entry_is_rejected() {
    for config in TIMED {
        let check = timed(MUTEX, config);
        let (code, said) = certify_changed(FISCHER, &check, |_| {});
        assert_eq!(code, Some(0), "{config}: {said}");
        // Without the start, nothing is proven; without the last, something leads outside.
        for at in [0, usize::MAX] {
            let (code, said) = certify_changed(FISCHER, &check, |doc| {
                let entries = entries(doc);
                entries.remove(at.min(entries.len() - 1));
            });
            assert_eq!(code, Some(10), "{config}, {at}: {said}");
            assert!(said.starts_with("REJECTED"), "{said}");
        }
    }
}

#[test]
fn a_timed_certificate_with_larger_zones_is_rejected() {
    // All valuations everywhere: then a process could enter at any time, and two be inside.
    for config in TIMED {
        let (code, said) = certify_changed(FISCHER, &timed(MUTEX, config), |doc| {
            for entry in entries(doc) {
                entry[4] = Value::from(Vec::<Value>::new());
            }
        });
        assert_eq!(code, Some(10), "{config}: {said}");
    }
    // One zone: P(2) requests, so it has seen that nobody did, and at most 32 ago; so P(1), who has written since, has
    // waited for at most 32. If it were 64, it could go inside before P(2) writes.
    let (code, said) = certify_changed(FISCHER, &timed(MUTEX, "--engine reach --cover inclusion"), |doc| {
        let here = |e: &&mut Value| e[0] == serde_json::json!([0, 1, 2, 2]) && e[1] == serde_json::json!([1]);
        let entry = entries(doc).iter_mut().find(here).expect("such an entry");
        for bound in entry[4].as_array_mut().expect("a zone").iter_mut().filter(|c| c[0] == 1) {
            bound[3] = Value::from(64);
        }
    });
    assert_eq!(code, Some(10), "{said}");
}

#[test]
fn a_timed_trace_with_another_delay_is_rejected() {
    let model = &["timed/engine-classic.xta"];
    let question = ["-p", "E<> UseCase == 0 and GearControl.GearChanged and SysTimer == 150", "--want-trace"];
    for config in TIMED {
        let check = timed(&question, config);
        let (code, said) = certify_changed(model, &check, |_| {});
        assert_eq!(code, Some(0), "{config}: {said}");
        for delay in ["0", "99", "199/2", "101"] {
            let (code, said) = certify_changed(model, &check, |doc| {
                let steps = doc["steps"].as_array_mut().expect("steps");
                let step = steps.iter_mut().find(|s| s["delay"] == "100").expect("a wait of 100");
                step["delay"] = Value::from(delay);
            });
            assert_eq!(code, Some(10), "{config}, {delay}: {said}");
        }
        let (code, said) = certify_changed(model, &check, |doc| {
            let last = doc["steps"].as_array_mut().and_then(|s| s.last_mut()).expect("steps");
            last["set"]["SysTimer"] = Value::from("149");
        });
        assert_eq!(code, Some(10), "{config}: {said}");
    }
}
