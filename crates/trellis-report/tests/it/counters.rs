//! Reports and evidence about counter systems: valid under the schemas, back as they were, in words.

use serde_json::Value;
use trellis_model::counter::evidence::{Bound, Certificate, Trace, Verdict};
use trellis_model::counter::{Interval, OMEGA, Rule, System, Update, Vector};
use trellis_model::evidence::Reason;
use trellis_report::counter::{never, question};
use trellis_report::{Content, CounterReport, Kind, Present, Style, json};

use crate::validate::Validator;

fn system() -> System {
    let updates =
        vec![(0, Update { sources: vec![0], constant: -1 }), (2, Update { sources: vec![1, 2], constant: 1 })];
    System {
        names: ["idle", "busy", "done"].map(String::from).to_vec(),
        rules: vec![Rule { guards: vec![(0, Interval::at_least(1))], updates, line: Some(3), ..Rule::default() }],
        initial: vec![Interval::at_least(1), Interval::exactly(0), Interval::exactly(0)],
        target: vec![Vector::new(vec![(2, 2)]), Vector::new(vec![(1, 1), (2, 1)])],
        ..System::default()
    }
}

fn certificates() -> [Certificate; 3] {
    let bound = Bound { weights: vec![(0, -1), (2, 3)], traps: vec![(2, vec![1, 2])] };
    [
        Certificate::Above { bounds: vec![bound], basis: vec![Vector::new(vec![(0, 1), (2, 5)]), Vector::default()] },
        Certificate::Below(vec![Vector::new(vec![(0, OMEGA), (1, 4)])]),
        Certificate::Exact { fixed: vec![1, 2], tops: vec![Vector::new(vec![(0, OMEGA), (1, 4)])] },
    ]
}

#[test]
fn evidence_is_valid_and_comes_back() {
    let (system, schemas) = (system(), Validator::new());
    let trace = Trace { initial: vec![3, 0, 0], rules: vec![0, 0], times: vec![] };
    let report =
        CounterReport::about("m.spec", "spec", &question(&system), Kind::Always, Verdict::Unsafe(trace.clone()));
    let mut out = vec![];
    json::write_report(&mut out, &system, &report, report.certificate.as_ref().map(|c| system.size(c))).unwrap();
    schemas.assert_valid("report-1.json", &serde_json::from_slice::<Value>(&out).unwrap());
    let back = json::read(&system, std::str::from_utf8(&out).unwrap()).unwrap();
    assert!(matches!(back, Content::Trace(t) if t == trace));
    let mut out = vec![];
    json::write_trace(&mut out, &system, report.header(), &trace).unwrap();
    schemas.assert_valid("trace-2.json", &serde_json::from_slice::<Value>(&out).unwrap());
    for c in certificates() {
        let report = CounterReport::about("m.spec", "spec", &question(&system), Kind::Always, Verdict::Safe(c.clone()));
        let mut out = vec![];
        json::write_report(&mut out, &system, &report, report.certificate.as_ref().map(|c| system.size(c))).unwrap();
        schemas.assert_valid("report-1.json", &serde_json::from_slice::<Value>(&out).unwrap());
        let mut out = vec![];
        json::write_certificate(&mut out, &system, report.header(), &c).unwrap();
        schemas.assert_valid("certificate-2.json", &serde_json::from_slice::<Value>(&out).unwrap());
        let back = json::read(&system, std::str::from_utf8(&out).unwrap()).unwrap();
        assert!(matches!(back, Content::Certificate(b) if b == c));
    }
}

/// Whatever a person can read in evidence follows from what is checked.
#[test]
fn what_is_written_for_people_is_checked() {
    let mut system = system();
    system.rules[0].name = Some("t".into());
    let trace = Trace { initial: vec![3, 0, 0], rules: vec![0, 0], times: vec![] };
    let report =
        CounterReport::about("m.spec", "spec", &question(&system), Kind::Always, Verdict::Unsafe(trace.clone()));
    let mut out = vec![];
    json::write_trace(&mut out, &system, report.header(), &trace).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(json::read(&system, &text).is_ok());
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in [
        ("\"set\": {", "\"set\": { \"done\": 7,"),
        ("\"set\": {", "\"set\": { \"done\": null,"),
        ("\"set\": {", "\"set\": { \"done\": 1000000000000000000000000000000,"),
        ("\"idle\": 1", "\"idle\": 9"),
        ("\"idle\": 1", "\"idle\": 9, \"idle\": 1"),
        ("\"line\": 3", "\"line\": 4"),
        ("\"label\": \"t:", "\"label\": \"u:"),
        ("\"label\": \"t:", "\"remark\": \"\", \"label\": \"t:"),
        ("idle >= 1 ->", "idle >= 2 ->"),
    ] {
        assert!(flat.contains(from), "{from}: {flat}");
        let at = flat.rfind(from).expect("it is there");
        let forged = format!("{}{to}{}", &flat[..at], &flat[at + from.len()..]);
        assert!(json::read(&system, &forged).is_err(), "{to}");
    }
    let [c, ..] = certificates();
    let mut out = vec![];
    json::write_certificate(&mut out, &system, report.header(), &c).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(json::read(&system, &text).is_ok());
    let at = text.find("\"says\": \"").expect("words") + 9;
    let forged = format!("{}x{}", &text[..at], &text[at..]);
    assert!(json::read(&system, &forged).is_err(), "{forged}");
}

#[test]
fn protocol_words() {
    let s = system();
    let say = |entries: &[(u32, u64)]| never(&s, &Vector::new(entries.to_vec()));
    assert_eq!(say(&[(1, 1)]), "never anything in busy");
    assert_eq!(say(&[(1, 2)]), "at most one busy");
    assert_eq!(say(&[(0, 1), (1, 1), (2, 1)]), "never idle, busy and done together");
    assert_eq!(say(&[(0, 2), (1, 1)]), "never 2 in idle and one in busy together");
    assert_eq!(question(&s), "at most one done; never busy and done together");
}

#[test]
fn a_run_is_told() {
    let s = system();
    let trace = Trace { initial: vec![3, 0, 0], rules: vec![0, 0], times: vec![] };
    let report = CounterReport::about("m.spec", "spec", "q", Kind::Always, Verdict::Unsafe(trace));
    let said = trellis_report::text::render(&report, &s, Style::default());
    assert!(
        said.contains("idle = 3") && said.contains("line 3:  idle >= 1 -> idle' = idle - 1, done' = busy + done + 1"),
        "{said}"
    );
    assert!(said.contains("idle = 1, done = 2"), "{said}");
    let report = CounterReport::about("m.spec", "spec", "q", Kind::Always, Verdict::Unknown(Reason::Time));
    assert!(trellis_report::text::render(&report, &s, Style::default()).contains("time limit reached"));
}
