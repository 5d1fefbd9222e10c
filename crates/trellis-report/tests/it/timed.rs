//! Clocks, delays, zones and bounds, in every form. The runs are walks of the untimed library with time put between their
//! steps: whether a clock really could have such a value is not for reports to say.

use proptest::prelude::*;
use serde_json::{Value, json};
use trellis_domain::zone::{Bound, Constraint, MAX_CONSTANT, Rational};
use trellis_model::evidence::Verdict;
use trellis_model::network::{
    CertEntry, Certificate, ClockAtom, LuBounds, Network, Query, QueryKind, Reset, ResetTo, Trace,
};
use trellis_report::json::read as read_evidence;
use trellis_report::{ClockLimit, Present, PropertyReport, Style, json, network, text};

use crate::junk::{anything, count, replace};
use crate::pictures::{assert_balanced, drawn_as};
use crate::round_trip::{certificate_text, complaint, read_certificate, read_trace, trace_text};
use crate::validate::Validator;
use crate::world::{LIBRARY, certificate, library, queries_of, walk};

/// The library with clocks, which it does not use.
pub fn clocked() -> Network {
    Network { clocks: ["User(0).x", "User(1).x", "y"].map(String::from).to_vec(), ..library() }
}

fn r(num: i64, den: i64) -> Rational {
    Rational::new(num, den)
}

/// A walk with delays in sixths; each step sets the clock of its number.
fn timed_walk(choices: &[usize], sixths: &[i64], rest: Rational) -> Trace {
    let mut t = walk(&library(), choices);
    let mut now = [0; 3];
    t.initial.clocks = vec![Rational::ZERO; 3];
    for (i, step) in t.steps.iter_mut().enumerate() {
        let delay = sixths.get(i).copied().unwrap_or(0);
        now = now.map(|c| c + delay);
        now[i % 3] = 0;
        step.delay = r(delay, 6);
        step.state.clocks = now.map(|c| r(c, 6)).to_vec();
    }
    Trace { rest, ..t }
}

fn example() -> Trace {
    timed_walk(&[0, 0, 0, 1], &[15, 0, 2, 0], r(3, 1))
}

fn c(left: usize, right: usize, bound: Bound) -> Constraint {
    Constraint::new(left, right, bound)
}

/// Two zones at one key, one at another.
fn zones() -> Certificate {
    let t = walk(&library(), &[0]);
    let bounds = LuBounds { lower: vec![0, 3, i32::MIN, 2], upper: vec![0, i32::MIN, 5, -1] };
    let mut known = vec![true; t.initial.data.len()];
    known[0] = false;
    let free = CertEntry { known, ..CertEntry::of(t.last().clone()) };
    let mut free = CertEntry { zone: vec![c(3, 0, Bound::lt(5)), c(1, 2, Bound::le(3))], ..free };
    free.state.data[0] = 0;
    let start = CertEntry::of(t.initial);
    Certificate {
        entries: vec![
            CertEntry { zone: vec![c(1, 0, Bound::le(0)), c(2, 1, Bound::le(0))], ..start.clone() },
            CertEntry { bounds: Some(bounds), rank: Some(4), ..free },
            CertEntry { zone: vec![], ..start },
        ]
        .into(),
        up_to_order: true,
        up_to_symmetry: false,
    }
}

#[test]
fn a_run_waits() {
    assert_eq!(
        text::trace(&clocked(), &example(), Style::default()),
        "     0   User(0).Idle, User(1).Idle, Desk.Closed
         open = false, grid = [[0, 0], [0, 0]], last = 0, User(0).known = false, User(1).known = false,
         Desk.who = 0, pool = {}, load = [0, 0], User(0).x = 0, User(1).x = 0, y = 0
         wait 2.5, until time 2.5
     1   Desk: Closed → Open
         open = true, last = -2, User(0).x = 0
     2   User(0): Idle → Reading  login[0]!
         Desk: Open → Open  login[0]?
         User(0).known = true, Desk.who = 1, User(1).x = 0
         wait 1/3 ≈ 0.333, until time 17/6 ≈ 2.833
     3   User(0): Reading → Idle  (w = 0)
         pool = {60}, y = 0
     4   User(1): Idle → Reading  login[1]!
         Desk: Open → Open  login[1]?
         User(1).known = true, Desk.who = 0, User(0).x = 0
         then 3 time units pass, until time 35/6 ≈ 5.833
         User(0).x = 3, User(1).x = 10/3, y = 3
"
    );
    let verbose = text::trace(&clocked(), &example(), Style { verbose: true, ..Style::default() });
    assert!(verbose.contains("pool = {60}, User(0).x = 1/3, User(1).x = 1/3, y = 0\n"), "{verbose}");
    let state = network::state(&clocked(), &example().steps[0].state);
    assert!(state.ends_with("load = [0, 0], User(0).x = 0, User(1).x = 2.5, y = 2.5\n"), "{state}");
}

/// Numbers that cannot be added up are left out; nothing panics.
#[test]
fn absurd_durations() {
    let mut t = example();
    for (i, step) in t.steps.iter_mut().enumerate() {
        step.delay = r((1 << 60) - 1, (1 << 30) - 1 - i as i64);
        step.state.clocks.fill(r((1 << 60) - i as i64, 7));
    }
    t.rest = r(1 << 60, 1);
    let net = clocked();
    let shown = text::trace(&net, &t, Style::default());
    assert!(shown.contains("then 1152921504606846976 time units pass\n"), "{shown}");
    assert_balanced(&drawn_as(&net, &t, "target"));
    assert_eq!(read_trace(&net, &trace_text(&net, &t)), t);
    let (_, queries) = queries_of(LIBRARY, "A[] true");
    let report = PropertyReport::new("m", "uppaal", &queries[0], Verdict::Unsafe(t));
    let page = crate::data(&crate::network_page(&[report], &net));
    assert_eq!(page["answers"][0]["report"]["trace"]["rest"], "1152921504606846976");
}

#[test]
fn a_certificate_shows_its_zones() {
    assert_eq!(
        network::certificate_text(&clocked(), &zones(), 10),
        "certificate of 3 zones at 2 keys (locations and data), up to the lattice order
     0   User(0).Idle, User(1).Idle, Desk.Closed
         open = false, grid = [[0, 0], [0, 0]], last = 0, User(0).known = false, User(1).known = false,
         Desk.who = 0, pool = {}, load = [0, 0]
         User(0).x = 0 ∧ User(1).x = 0
         true
     1   User(0).Idle, User(1).Idle, Desk.Open
         open = *, grid = [[0, 0], [0, 0]], last = -2, User(0).known = false, User(1).known = false,
         Desk.who = 0, pool = {}, load = [0, 0]
         y < 5 ∧ User(0).x - User(1).x ≤ 3; up to a⊑LU with L(User(0).x) = 3, U(User(1).x) = 5, L(y) = 2, U(y) = -1; rank 4
"
    );
    assert!(network::certificate_text(&clocked(), &zones(), 1).ends_with("         … and 1 more\n"));
    let untimed = network::certificate_text(&library(), &certificate(&library(), false), 0);
    assert!(untimed.starts_with("certificate of ") && untimed.contains(" entries, up to the lattice order"));
    let mut partly = zones();
    partly.entries[1].known = (0..9).map(|i| !(1..=4).contains(&i) && i != 5).collect();
    assert!(network::certificate_text(&clocked(), &partly, 9).contains("open = false, grid = *, last = *,"));
}

fn bound_reports() -> (Network, Vec<PropertyReport>) {
    let (_, mut queries) = queries_of(LIBRARY, "sup: last\ninf: last\nA[] not Desk.Ring");
    for (query, text) in queries.iter_mut().zip(["sup: y", "inf: y"]) {
        if let QueryKind::Bound { sup, when, .. } = query.kind {
            *query = Query { text: text.into(), kind: QueryKind::ClockBound { sup, when, clock: 3 }, ..query.clone() };
        }
    }
    let report = |i: usize, limit: Option<ClockLimit>| {
        let mut r = PropertyReport::new("m.xta", "uppaal", &queries[i], Verdict::Safe(zones()));
        r.clock_bound = limit;
        r
    };
    let limit = |value, attained| Some(ClockLimit { value, attained });
    let mut all = vec![
        report(0, limit(Some(5), true)),
        report(0, limit(Some(5), false)),
        report(0, limit(None, false)),
        report(1, limit(Some(0), true)),
        report(1, None),
    ];
    all.push(PropertyReport::new("m.xta", "uppaal", &queries[2], Verdict::Unsafe(example())));
    (clocked(), all)
}

#[test]
fn bounds_of_clocks() {
    let (net, all) = bound_reports();
    let lines: String = all[..5].iter().map(|r| text::line(r, Style::default())).collect();
    assert_eq!(
        lines,
        "BOUND    sup: y = 5    (0.00 s)
BOUND    sup: y = 5 (not attained)    (0.00 s)
BOUND    sup: y = ∞    (0.00 s)
BOUND    inf: y = 0    (0.00 s)
BOUND    inf: y: no state qualifies    (0.00 s)
"
    );
    let certificate = all[0].certificate.as_ref().expect("a certificate");
    let summary = network::certificate_summary(&net, certificate);
    assert_eq!(summary, "certificate of 3 zones at 2 keys (locations and data), up to the lattice order");
    let document = |i: usize| {
        let mut out = Vec::new();
        json::write_report(&mut out, &net, &all[i], all[i].certificate.as_ref().map(|c| net.size(c))).unwrap();
        serde_json::from_slice::<Value>(&out).unwrap()
    };
    assert_eq!(document(1)["clock_bound"], json!({ "value": 5, "attained": false }));
    assert_eq!(document(2)["clock_bound"], json!({ "value": null, "attained": false }));
    assert_eq!(document(4).get("clock_bound"), None);
    assert_eq!(document(0)["certificate"], json!({ "entries": 3, "up_to_order": true, "keys": 2 }));
}

#[test]
fn documents_are_valid() {
    let validator = Validator::new();
    let (net, all) = bound_reports();
    for r in &all {
        let mut out = Vec::new();
        json::write_report(&mut out, &net, r, r.certificate.as_ref().map(|c| net.size(c))).unwrap();
        validator.assert_valid("report-1.json", &serde_json::from_slice(&out).unwrap());
    }
    let mut t: Value = serde_json::from_str(&trace_text(&net, &example())).unwrap();
    validator.assert_valid("trace-2.json", &t);
    let set = json!({ "Desk": "Open", "open": true, "last": -2, "User(1).x": "5/2", "y": "5/2" });
    assert_eq!((&t["steps"][0]["set"], &t["rest"]), (&set, &json!("3")));
    assert_eq!(t["clocks"], json!(["User(0).x", "User(1).x", "y"]));
    assert_eq!((&t["steps"][0]["delay"], &t["steps"][1]["delay"]), (&json!("5/2"), &json!("0")));
    for bad in ["1/0", "-1", "", "1/", "0.5"] {
        t["rest"] = bad.into();
        assert!(validator.problem("trace-2.json", &t).is_some(), "{bad}");
    }
    let text = certificate_text(&net, &zones());
    let written: Value = serde_json::from_str(&text).unwrap();
    validator.assert_valid("certificate-2.json", &written);
    assert_eq!(written["body"]["columns"]["clocks"], json!(["User(0).x", "User(1).x", "y"]));
    assert_eq!(written["body"]["bounds"], json!([{ "lower": [0, 3, null, 2], "upper": [0, null, 5, -1] }]));
    let words = written["body"]["entries"][1][2].clone();
    let row = json!([[0, 0, 1], [null, 0, 0, 0, 0, -2, 0, 0, 0], words, 4, [[3, 0, "<", 5], [1, 2, "≤", 3]], 0]);
    assert_eq!(written["body"]["entries"][1], row);
    assert_eq!(written["body"]["entries"][2].as_array().unwrap().len(), 5);
    assert_eq!(text.lines().filter(|l| l.starts_with("  [[")).count(), 3, "one line per entry");
}

/// Names count, not numbers.
#[test]
fn clocks_may_be_reordered() {
    let (one, mut two) = (clocked(), clocked());
    two.clocks = ["y", "User(0).x", "User(1).x"].map(String::from).to_vec();
    let mut t = example();
    let text = trace_text(&one, &t);
    t.initial.clocks.rotate_right(1);
    t.steps.iter_mut().for_each(|s| s.state.clocks.rotate_right(1));
    assert_eq!(read_trace(&two, &text), t);
    let read = read_certificate(&two, &certificate_text(&one, &zones()));
    assert_eq!(read.entries[1].zone, [c(1, 0, Bound::lt(5)), c(2, 3, Bound::le(3))]);
    let bounds = LuBounds { lower: vec![0, 2, 3, i32::MIN], upper: vec![0, -1, i32::MIN, 5] };
    assert_eq!(read.entries[1].bounds, Some(bounds));
}

/// Documents without time are what they were, and a model without clocks has none.
#[test]
fn untimed_documents_do_not_speak_of_time() {
    let net = library();
    let t = walk(&net, &[0, 0]);
    let text = trace_text(&net, &t);
    assert!(!text.contains("clocks") && !text.contains("delay") && !text.contains("rest"));
    assert!(!certificate_text(&net, &certificate(&net, true)).contains("clocks"));
    assert_eq!(complaint(&clocked(), &text), "at start: expected a field `User(0).x`, found none");
    assert_eq!(
        complaint(&net, &trace_text(&clocked(), &example())),
        "at start.User(0).x: expected no such value, for the model has nothing of this name, found \"0\""
    );
    let rows = certificate_text(&net, &certificate(&net, false));
    assert_eq!(complaint(&clocked(), &rows), "at body.columns: expected a field `clocks`, found none");
    let cells = CertEntry { known: vec![false; 9], ..CertEntry::of(t.initial) };
    let partial = Certificate { entries: vec![cells].into(), up_to_order: false, up_to_symmetry: false };
    assert_eq!(read_certificate(&net, &certificate_text(&net, &partial)), partial);
}

#[test]
fn mistakes_are_explained() {
    let net = clocked();
    let whole = |what: &str| {
        format!(
            "{what}: a fraction like \"5/2\" or \"3\" that is not negative, up to 2^60 and with a denominator from 1 to 2^30"
        )
    };
    let (value, wait) = (whole("the value of a clock"), whole("a duration"));
    let (first, later) = ("\"delay\": \"5/2\"", "\"rest\": \"3\"");
    let text = trace_text(&net, &example());
    let cases = [
        (first, "\"delay\": \"-5/2\"", format!("at steps[0].delay: expected {wait}, found \"-5/2\"")),
        (first, "\"delay\": 2.5", "at steps[0].delay: expected a text, found 2.5".into()),
        (first, "\"delay\": \"+1\"", format!("at steps[0].delay: expected {wait}, found \"+1\"")),
        (first, "\"delay\": \"1/2/3\"", format!("at steps[0].delay: expected {wait}, found \"1/2/3\"")),
        (later, "\"rest\": \"3/0\"", format!("at rest: expected {wait}, found \"3/0\"")),
        (
            later,
            "\"rest\": \"1152921504606846977\"",
            format!("at rest: expected {wait}, found \"1152921504606846977\""),
        ),
        (later, "\"rest\": \"1/1073741825\"", format!("at rest: expected {wait}, found \"1/1073741825\"")),
        (
            later,
            "\"rest\": \"9223372036854775808\"",
            format!("at rest: expected {wait}, found \"9223372036854775808\""),
        ),
        ("\"y\": \"0\"", "\"y\": \"-0\"", format!("at start.y: expected {value}, found \"-0\"")),
        (
            "\"y\": \"0\"",
            "\"y\": \"0\", \"z\": \"0\"",
            "at start.z: expected no such value, for the model has nothing of this name, found \"0\"".into(),
        ),
        (",\n    \"y\": \"0\"", "", "at start: expected a field `y`, found none".into()),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from} in {text}");
        assert_eq!(complaint(&net, &text.replacen(from, to, 1)), expected);
    }
    let text = certificate_text(&net, &zones());
    let limit = format!("an integer from -{MAX_CONSTANT} to {MAX_CONSTANT}");
    let cases = [
        (
            "[3,0,\"<\",5]",
            "[4,0,\"<\",5]",
            "at body.entries[1][4][0][0]: expected a clock or none: a number from 0 to 3, found 4".into(),
        ),
        ("[3,0,\"<\",5]", "[3,0,\">\",5]", "at body.entries[1][4][0][2]: expected \"≤\" or \"<\", found \">\"".into()),
        (
            "[3,0,\"<\",5]",
            "[3,0,\"<\",268435456]",
            format!("at body.entries[1][4][0][3]: expected a constant of a clock constraint: {limit}, found 268435456"),
        ),
        (
            "[3,0,\"<\",5]",
            "[3,0,5]",
            "at body.entries[1][4][0]: expected an array of 4 parts: two clocks, \"≤\" or \"<\", a number, found an array of 3".into(),
        ),
        (",0]", ",1]", "at body.entries[1][5]: expected bounds by number: a number from 0 to 0, found 1".into()),
        (
            ",null,[]]",
            "]",
            "at body.entries[2]: expected an array of locations, variables, words, a rank or null, a zone and perhaps bounds by number and a script, found an array of 3".into(),
        ),
        (
            "[0,3,null,2]",
            "[0,3,null]",
            "at body.bounds[0].lower: expected an array of 4 bounds, that of no clock first, found an array of 3".into(),
        ),
        (
            "[0,3,null,2]",
            "[0,3,null,-2147483648]",
            "at body.bounds[0].lower[3]: expected null or a bound: an integer from -2147483647 to 2147483647, found -2147483648".into(),
        ),
        ("\"User(1).x\",\"y\"", "\"User(1).x\",\"z\"", "at body.columns.clocks[2]: expected the name of a clock of this model (User(0).x, User(1).x, y), found \"z\"".into()),
        ("\"User(1).x\",\"y\"", "\"User(1).x\"", "at body.columns.clocks: expected all of the model's, also `y`, found an array of 2".into()),
    ];
    for (from, to, expected) in cases {
        // In the entries, the last such place is the one meant.
        let at = text.rfind(from).unwrap_or_else(|| panic!("{from} in {text}"));
        let at = if from == ",0]" { text.find("3]],0]").unwrap() + 3 } else { at };
        let broken = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        assert_eq!(complaint(&net, &broken), expected);
    }
}

#[test]
fn pictures_of_runs() {
    let net = clocked();
    let drawn = drawn_as(&net, &example(), "target");
    assert_balanced(&drawn);
    for line in [
        "s0 -> s1 [label=\"after 2.5\\nDesk: Closed → Open\"];",
        "last = -2\\nUser(0).x = 0, User(1).x = 2.5, y = 2.5\"];",
        "rest [shape=box, style=rounded, label=\"User(0).x = 3, User(1).x = 10/3, y = 3\"];",
        "s4 -> rest [label=\"after 3\"];",
        "rest [penwidth=3];",
    ] {
        assert!(drawn.contains(line), "{line} in\n{drawn}");
    }
    let (net, mut all) = bound_reports();
    all[5].query = "<b>".into();
    let page = crate::network_page(&all, &net);
    let shown = crate::data(&page);
    assert_eq!(shown["answers"].as_array().unwrap().len(), all.len());
    assert!(page.contains("\\u003cb>") && !page.contains("\"<b>"));
    let timed = shown["answers"].as_array().unwrap().iter().find(|a| a["report"]["trace"]["rest"] == "3").unwrap();
    // The run is the trace; how it is laid out is said beside it.
    assert!(timed.get("shown").is_none() && timed["look"].is_object());
    let proofs: Vec<&str> =
        shown["answers"].as_array().unwrap().iter().filter_map(|a| a["proof"]["text"].as_str()).collect();
    assert!(proofs.iter().any(|p| p.contains("y < 5 ∧ User(0).x - User(1).x ≤ 3; up to a⊑LU with")), "{proofs:?}");
}

/// For other tools: every state in full, exact times.
#[test]
fn runs_for_other_tools() {
    let run = clocked().run(&example()).unwrap();
    let mut out = Vec::new();
    trellis_report::itf::write_itf(&run, &mut out).unwrap();
    let itf: Value = serde_json::from_slice(&out).unwrap();
    let states = itf["states"].as_array().unwrap();
    assert_eq!((states.len(), itf["vars"].as_array().unwrap().len()), (5, run.start.len()));
    assert!(states.iter().all(|s| s.as_object().unwrap().len() == run.start.len() + 1));
    assert_eq!(states[1]["last"], json!({ "#bigint": "-2" }));
    assert_eq!((&states[1]["y"], &states[1]["Desk"]), (&json!("5/2"), &json!("Open")));
    assert_eq!(states[1]["#meta"]["delay"], "5/2");
    let mut out = Vec::new();
    trellis_report::vcd::write_vcd(&run, &mut out).unwrap();
    let vcd = String::from_utf8(out).unwrap();
    // A sixth of a unit is the common measure: the first step is at 15, the third at 17, and the end at 35.
    let times: Vec<&str> = vcd.lines().filter(|l| l.starts_with('#')).collect();
    assert_eq!(times, ["#0", "#15", "#17", "#35"], "{vcd}");
    assert!(vcd.contains("$var wire 1 ") && vcd.contains("$var integer 64 ") && vcd.contains("sReading "), "{vcd}");
}

#[test]
fn pictures_of_networks() {
    let mut net = crate::pictures::unsketched(clocked());
    let [two, minus_two, yes] = [net.terms.int(2), net.terms.int(-2), net.terms.bool(true)];
    let who = net.vars.iter().find(|v| v.name == "last").unwrap().var;
    let who = net.terms.var(who);
    let atom = |left, right, strict, bound| ClockAtom { when: None, left, right, strict, bound };
    net.processes[2].locations[2].clock_invariant = vec![atom(3, 0, false, two)];
    let edge = &mut net.processes[2].edges[0];
    edge.clock_guard = vec![
        atom(3, 0, false, two),
        atom(0, 3, false, minus_two),
        atom(0, 1, true, minus_two),
        atom(1, 2, true, who),
        ClockAtom { when: Some(yes), ..atom(0, 3, false, who) },
    ];
    edge.resets = vec![
        Reset { when: None, clock: 3, to: ResetTo::Value(two) },
        Reset { when: Some(yes), clock: 1, to: ResetTo::Clock(3) },
    ];
    let drawn = trellis_report::dot::drawing(&trellis_report::Present::drawing(&net), "m");
    assert_balanced(&drawn);
    for part in [
        "Ring\\ncommitted\\nopen\\ny <= 2",
        "label=\"y == 2 && User(0).x > 2 && User(0).x - User(1).x < last && (true imply y >= -(last))\\n",
        "\\ny := 2\\nif (true) User(0).x := y\"",
    ] {
        assert!(drawn.contains(part), "{part} in\n{drawn}");
    }
}

fn some_rational() -> impl Strategy<Value = Rational> {
    prop_oneof![
        Just(Rational::ZERO),
        (0i64..50, 1i64..12).prop_map(|(n, d)| r(n, d)),
        (0..=1i64 << 60, 1..=1i64 << 30).prop_map(|(n, d)| r(n, d)),
    ]
}

fn some_trace() -> impl Strategy<Value = Trace> {
    let choices = prop::collection::vec(0usize..20, 0..12);
    (choices, prop::collection::vec(some_rational(), 53), any::<Option<prop::sample::Index>>()).prop_map(
        |(choices, mut numbers, back)| {
            let mut t = walk(&library(), &choices);
            let mut next = || numbers.pop().unwrap();
            t.rest = next();
            t.initial.clocks = vec![next(), next(), next()];
            for step in &mut t.steps {
                step.delay = next();
                step.state.clocks = vec![next(), next(), next()];
            }
            t.back_to = back.filter(|_| !t.steps.is_empty()).map(|i| i.index(t.steps.len()));
            t
        },
    )
}

fn some_entry() -> impl Strategy<Value = CertEntry> {
    let constraint = (0usize..4, 0usize..4, -MAX_CONSTANT..=MAX_CONSTANT, any::<bool>())
        .prop_map(|(x, y, n, strict)| c(x, y, Bound::checked(n.into(), strict).unwrap()));
    let side = || prop::collection::vec(prop_oneof![Just(i32::MIN), any::<i32>(), 0..9], 4);
    let bounds = (side(), side()).prop_map(|(lower, upper)| LuBounds { lower, upper });
    (
        prop::collection::vec(0usize..20, 0..6),
        prop::option::of(prop::collection::vec(any::<bool>(), 9)),
        prop::collection::vec(constraint, 0..7),
        prop::option::of(bounds),
        any::<Option<u32>>(),
        prop::option::of("[ -~]{0,30}"),
    )
        .prop_map(|(choices, known, zone, bounds, rank, says)| {
            let t = walk(&library(), &choices);
            let mut state = t.last().clone();
            // In normal form: what an entry does not know is as at the start, and knowing all is not said.
            let known = known.filter(|k| k.contains(&false)).unwrap_or_default();
            for (i, k) in known.iter().enumerate() {
                state.data[i] = if *k { state.data[i] } else { t.initial.data[i] };
            }
            CertEntry { state, known, zone, bounds, rank, says, course: None }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn traces_come_back(t in some_trace()) {
        let net = clocked();
        prop_assert_eq!(read_trace(&net, &trace_text(&net, &t)), t.clone());
        let _ = text::trace(&net, &t, Style::default());
        assert_balanced(&drawn_as(&net, &t, "target"));
    }

    #[test]
    fn certificates_come_back(entries in prop::collection::vec(some_entry(), 0..8), up_to_order: bool, up_to_symmetry: bool) {
        let net = clocked();
        let all = Certificate { entries: entries.into(), up_to_order, up_to_symmetry };
        let written = certificate_text(&net, &all);
        prop_assert_eq!(read_certificate(&net, &written), all.clone());
        Validator::new().assert_valid("certificate-2.json", &serde_json::from_str(&written).unwrap());
        let _ = network::certificate_text(&net, &all, 5);
    }

    /// One part exchanged or removed: an answer in few words, or a value that can be written and shown.
    #[test]
    fn mutated_documents(is_trace: bool, at in any::<prop::sample::Index>(), by in prop::option::of(anything())) {
        let net = clocked();
        let good = if is_trace { trace_text(&net, &example()) } else { certificate_text(&net, &zones()) };
        let mut v: Value = serde_json::from_str(&good).unwrap();
        let mut n = at.index(count(&v));
        replace(&mut v, &mut n, &by);
        match read_evidence(&net, &v.to_string()) {
            Err(e) => prop_assert!(e.to_string().len() < 500, "{e}"),
            Ok(read) => match read {
                trellis_report::Content::Trace(t) => prop_assert_eq!(read_trace(&net, &trace_text(&net, &t)), t),
                trellis_report::Content::Certificate(all) => {
                    let _ = network::certificate_text(&net, &all, 9);
                    prop_assert_eq!(read_certificate(&net, &certificate_text(&net, &all)), all);
                }
            },
        }
    }
}
