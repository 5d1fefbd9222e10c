//! What is written can be read back, and nothing is lost.

use std::collections::BTreeMap;

use trellis_model::network::{CertEntry, Certificate, Network, Trace};
use trellis_report::json::{self, Binding, Header, Input, read_binding, rewritten};
use trellis_report::{Content, Ending, Evidence, Kind, ReadError, read_evidence};

use crate::world::{LIBRARY, certificate, library, queries_of, reports, walk};

/// What evidence in these tests is bound to.
pub static BINDING: Binding =
    Binding { tool: String::new(), inputs: Vec::new(), property: String::new(), options: BTreeMap::new() };

pub const HEADER: Header<'_> = Header { language: "uppaal", kind: Kind::Always, binding: &BINDING };

pub fn trace_text(net: &Network, t: &Trace) -> String {
    let mut out = Vec::new();
    json::write_trace(&mut out, net, HEADER, t, Ending::Target).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn certificate_text(net: &Network, c: &Certificate) -> String {
    let mut out = Vec::new();
    json::write_certificate(&mut out, net, HEADER, c).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn read_trace(net: &Network, text: &str) -> Trace {
    match read_evidence(net, text) {
        Ok(Evidence { content: Content::Trace(t), .. }) => t,
        other => panic!("{other:?}"),
    }
}

pub fn read_certificate(net: &Network, text: &str) -> Certificate {
    match read_evidence(net, text) {
        Ok(Evidence { content: Content::Certificate(c), .. }) => c,
        other => panic!("{other:?}"),
    }
}

#[test]
fn traces() {
    let net = library();
    for seed in 0..200usize {
        let choices: Vec<usize> = (0..seed % 17).map(|i| i * i + seed).collect();
        let mut t = walk(&net, &choices);
        if seed % 3 == 0 && !t.steps.is_empty() {
            t.back_to = Some(seed % t.steps.len());
        }
        assert_eq!(read_trace(&net, &trace_text(&net, &t)), t);
    }
}

#[test]
fn certificates() {
    let net = library();
    for ranks in [false, true] {
        let c = certificate(&net, ranks);
        assert!(c.entries.len() > 20);
        assert_eq!(read_certificate(&net, &certificate_text(&net, &c)), c);
    }
    let none = Certificate { entries: Vec::new(), up_to_order: false, up_to_symmetry: false };
    assert_eq!(read_certificate(&net, &certificate_text(&net, &none)), none);
}

#[test]
fn evidence_within_reports() {
    let (net, all) = reports();
    for r in &all {
        let mut out = Vec::new();
        json::write_report(&mut out, &net, r, true).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains('\n'));
        match (&r.trace, &r.certificate, read_evidence(&net, &text)) {
            (Some(t), _, Ok(Evidence { content: Content::Trace(read), .. })) => assert_eq!(read, *t),
            (_, Some(c), Ok(Evidence { content: Content::Certificate(read), .. })) => assert_eq!(read, *c),
            (None, None, Err(e)) => {
                assert_eq!(e.to_string(), "at the top: expected a report with a trace or a certificate, found neither");
            }
            other => panic!("{other:?}"),
        }
    }
    let mut out = Vec::new();
    json::write_report(&mut out, &net, &all[1], false).unwrap();
    let error = read_evidence(&net, &String::from_utf8(out).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("at certificate: expected a whole certificate (this report only counts"), "{error}");
}

/// Names count, not positions: the same model with its parts in another order.
#[test]
fn evidence_survives_reordering() {
    let model = |order: &str, vars: &str| {
        let text = format!(
            "{vars} process P() {{ state A, B; init A; trans A -> B {{ assign x = 1, l.set(0, 1); }}; }}
             process Q() {{ state C; init C; trans C -> C {{ assign y = 2, m.set(64, 1); }}; }} system {order};"
        );
        queries_of(&text, "").0
    };
    let vars = "extern UnionBitVector; ";
    let one = model("P, Q", &format!("{vars} int[0,3] x; int[0,3] y; UnionBitVector l[3]; UnionBitVector m[65];"));
    let two = model("Q, P", &format!("{vars} UnionBitVector m[65]; UnionBitVector l[3]; int[0,3] y; int[0,3] x;"));
    let t = walk(&one, &[0, 0]);
    let same = walk(&two, &[1, 0]);
    assert_eq!(read_trace(&two, &trace_text(&one, &t)), same);
    let entry = |t: &Trace| CertEntry::of(t.last().clone());
    let c = Certificate { entries: vec![entry(&t)], up_to_order: true, up_to_symmetry: false };
    let expected = Certificate { entries: vec![entry(&same)], up_to_order: true, up_to_symmetry: false };
    assert_eq!(read_certificate(&two, &certificate_text(&one, &c)), expected);
}

#[test]
fn the_json_of_a_step() {
    let net = library();
    let value: serde_json::Value = serde_json::from_str(&trace_text(&net, &walk(&net, &[0, 0, 0]))).unwrap();
    assert_eq!(
        value["steps"][1]["edges"],
        serde_json::json!([
            { "process": "User(0)", "edge": 0, "select": {}, "from": "Idle", "to": "Reading", "channel": "login[0]", "direction": "!" },
            { "process": "Desk", "edge": 1, "select": {}, "from": "Open", "to": "Open", "channel": "login[0]", "direction": "?" }
        ])
    );
    assert_eq!(value["steps"][2]["edges"][0]["select"], serde_json::json!({ "w": 0 }));
    let state = &value["steps"][2]["state"];
    assert_eq!(state["locations"], serde_json::json!({ "User(0)": "Idle", "User(1)": "Idle", "Desk": "Open" }));
    assert_eq!(state["variables"]["open"], true);
    assert_eq!(state["variables"]["grid[1][0]"], 0);
    assert_eq!(state["variables"]["last"], -2);
    assert_eq!(
        state["lattices"]["pool"],
        serde_json::json!({ "words": ["0x1000000000000000", "0x0"], "shown": "{60}" })
    );
}

pub fn complaint(net: &Network, text: &str) -> String {
    match read_evidence(net, text) {
        Err(e @ ReadError::Content { .. }) => e.to_string(),
        other => panic!("{other:?}"),
    }
}

/// What is wrong is said, and where.
#[test]
fn mistakes_in_traces_are_explained() {
    let net = library();
    let text = trace_text(&net, &walk(&net, &[0, 0, 0]));
    let cases = [
        (
            "\"Desk\",\n          \"edge\": 0",
            "\"Disk\",\n          \"edge\": 0",
            "at steps[0].edges[0].process: expected the name of a process of this model (User(0), User(1), Desk), found \"Disk\"",
        ),
        ("\"edge\": 1", "\"edge\": 7", "at steps[1].edges[1].edge: expected the number of an edge of `Desk`, found 7"),
        (
            "\"w\": 0",
            "\"w\": 2",
            "at steps[2].edges[0].select: expected possible values for the selects of edge 1 of `User(0)`: w, found an object",
        ),
        (
            "\"to\": \"Reading\"",
            "\"to\": \"Lost\"",
            "at steps[1].edges[0].to: expected Reading, as edge 0 of `User(0)` has it in this model, found \"Lost\"",
        ),
        (
            "\"Desk\": \"Closed\"",
            "\"Desk\": \"Shut\"",
            "at initial.locations.Desk: expected the name of a location of `Desk` (Closed, Open, Ring), found \"Shut\"",
        ),
        (
            "\"last\": -2",
            "\"last\": 12",
            "at steps[0].state.variables.last: expected a value of this variable: an integer from -3 to 3, found 12",
        ),
        (
            "\"last\": -2",
            "\"last\": 1.0",
            "at steps[0].state.variables.last: expected a value of this variable: an integer from -3 to 3, found 1.0",
        ),
        ("\"last\": 0", "\"lost\": 0", "at initial.variables: expected a field `last`, found none"),
        (
            "\"last\": 0",
            "\"last\": 0, \"x y\": 0",
            "at initial.variables.\"x y\": expected no such variable, for the model has none of this name, found 0",
        ),
        (
            "\"0x0\",\n          \"0x0\"\n",
            "\"0x0\"\n",
            "at initial.lattices.pool.words: expected an array of 2 words, found an array of 1",
        ),
        (
            "\"0x0\",\n          \"0x0\"\n",
            "\"0x0\",\n          \"0x40\"\n",
            "at initial.lattices.pool.words: expected words of an element of UnionBitVector(70), found an array of 2",
        ),
        (
            "\"0x0\"",
            "\"0xg\"",
            "at initial.lattices.pool.words[0]: expected a word in hexadecimal, like \"0x1f\", found \"0xg\"",
        ),
        (
            "\"back_to\": null",
            "\"back_to\": 3",
            "at back_to: expected the number of an earlier state: a number from 0 to 2, found 3",
        ),
        (
            "trellis-trace/2",
            "trellis-trace/3",
            "at schema: expected \"trellis-trace/2\", \"trellis-certificate/2\" or \"trellis-report/1\", found \"trellis-trace/3\"",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from} in {text}");
        assert_eq!(complaint(&net, &text.replacen(from, to, 1)), expected);
    }
    assert_eq!(complaint(&net, "[]"), "at the top: expected an object, found an array of 0");
    let syntax = read_evidence(&net, "{\"schema\": }").unwrap_err().to_string();
    assert_eq!(syntax, "this is not JSON: expected value at line 1 column 12");
}

#[test]
fn mistakes_in_certificates_are_explained() {
    let net = library();
    let text = certificate_text(&net, &certificate(&net, false));
    let first = "\n[[0,0,0],[0,0,0,0,0,0,0,0,0],[";
    let cases = [
        (
            "\"Closed\"",
            "\"Shut\"",
            "at columns.processes[2].locations[0]: expected the name of a location of `Desk` (Closed, Open, Ring), found \"Shut\"",
        ),
        (
            "\"name\":\"Desk\"",
            "\"name\":\"User(0)\"",
            "at columns.processes[2].name: expected each process once, found \"User(0)\"",
        ),
        ("\"open\",", "", "at columns.variables: expected all of the model's, also `open`, found an array of 8"),
        (
            "(70)",
            "(71)",
            "at columns.lattices[0].lattice: expected \"UnionBitVector(70)\", as in this model, found \"UnionBitVector(71)\"",
        ),
        ("\"width\":2", "\"width\":3", "at columns.lattices[0].width: expected 2, as in this model, found 3"),
        (
            first,
            "\n[[0,0,3],[0,0,0,0,0,0,0,0,0],[",
            "at entries[0][0][2]: expected a location: a number from 0 to 2, found 3",
        ),
        (
            first,
            "\n[[0,0],[0,0,0,0,0,0,0,0,0],[",
            "at entries[0][0]: expected an array of 3 locations, found an array of 2",
        ),
        (
            first,
            "\n[[0,0,0],[0,0,0,0,10,0,0,0,0],[",
            "at entries[0][1][4]: expected a value of this variable: an integer from 0 to 9, found 10",
        ),
        (
            first,
            "\n[[0,0,0],[0,0,0,0,0,0,0,0,0],[\"0x0\",",
            "at entries[0][2]: expected an array of 4 words, found an array of 5",
        ),
        (
            first,
            "\n[3],[[0,0,0],[0,0,0,0,0,0,0,0,0],[",
            "at entries[0]: expected an array of locations, variables, words and perhaps a rank, found an array of 1",
        ),
        ("\"up_to_order\":true", "\"up_to_order\":1", "at up_to_order: expected true or false, found 1"),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from} in {text}");
        assert_eq!(complaint(&net, &text.replacen(from, to, 1)), expected);
    }
    let other = queries_of(&LIBRARY.replace("int[-3, 3] last", "int[-3, 3] first, last"), "").0;
    let error = complaint(&other, &text);
    assert_eq!(error, "at columns.variables: expected all of the model's, also `first`, found an array of 9");
}

fn bound() -> Binding {
    let input = |name: &str, hash: &str| Input { name: name.into(), sha256: hash.into() };
    Binding {
        tool: "trellis 0".into(),
        inputs: vec![input("m.xta", "00ff"), input("l.lua", "11")],
        property: "A[] \"x\" \\ \u{1b}".into(),
        options: BTreeMap::from([("const".into(), "N=3".into()), ("fair".into(), "weak".into())]),
    }
}

#[test]
fn what_evidence_is_bound_to_comes_back() {
    let (net, binding) = (library(), bound());
    let header = Header { binding: &binding, ..HEADER };
    let mut out = Vec::new();
    json::write_trace(&mut out, &net, header, &walk(&net, &[0]), Ending::Target).unwrap();
    let (schema, read) = read_binding(&String::from_utf8(out).unwrap()).unwrap();
    assert_eq!((schema.as_str(), &read), (json::TRACE, &binding));
    let old = trace_text(&net, &walk(&net, &[0])).replace("-trace/2", "-trace/1");
    assert!(matches!(read_binding(&old), Err(ReadError::Outdated(_))));
    assert!(matches!(read_evidence(&net, &old), Err(ReadError::Outdated(_))));
}

#[test]
fn differences_are_said_in_a_sentence() {
    let was = bound();
    assert_eq!(was.difference(&bound()), None);
    type Change = fn(&mut Binding);
    let changes: [(Change, &str); 9] = [
        (|b| b.inputs[1].sha256 = "12".into(), "another `l.lua`"),
        (|b| b.inputs[0].name = "n.xta".into(), "it was made from `m.xta`, where now `n.xta` is read"),
        (|b| drop(b.inputs.pop()), "it was made from `l.lua`, too"),
        (|b| b.inputs.push(Input { name: "z".into(), sha256: "0".into() }), "made without `z`"),
        (|b| b.property.push('!'), "about the property"),
        (|b| drop(b.options.insert("const".into(), "N=4".into())), "--const N=3, not with N=4"),
        (|b| drop(b.options.remove("fair")), "it was made with --fair weak; repeat that option"),
        (|b| drop(b.options.insert("node".into(), "A".into())), "it was made without --node"),
        (|b| b.options.clear(), "it was made with --const N=3; repeat that option"),
    ];
    for (change, says) in changes {
        let mut now = bound();
        change(&mut now);
        let said = was.difference(&now).unwrap_or_default();
        assert!(said.contains(says), "{says}: {said}");
    }
}

#[test]
fn what_is_written_again_is_compared() {
    let write = |out: &mut dyn std::io::Write| writeln!(out, "{{\"a\": [1, \"x\"], \"b\": {{\"c\": null}}}}");
    let good = ["{\"a\": [1, \"x\"], \"b\": {\"c\": null}}", "{ \"b\":{\"c\":null} ,\n\"a\":[1,\"\\u0078\"]} \n"];
    good.iter().for_each(|text| assert_eq!(rewritten(text, &write), Ok(()), "{text}"));
    for (text, place) in [
        ("{\"a\": [2, \"x\"], \"b\": {\"c\": null}}", "at a[0]: expected 1, found 2"),
        ("{\"a\": [1, \"y\"], \"b\": {\"c\": null}}", "at a[1]: expected \"x\", found \"y\""),
        ("{\"a\": [1], \"b\": {\"c\": null}}", "at a: expected an array of 2 entries"),
        ("{\"a\": [1, \"x\"], \"b\": {}}", "at b: expected a field `c`"),
        ("{\"a\": [1, \"x\"], \"b\": {\"c\": null, \"d\": 1}}", "at b.d: expected no such field"),
        ("{\"a\": [1, \"x\"], \"b\": {\"c\": 0, \"c\": null}}", "at b: expected each name once"),
        ("{\"a\": [1, \"x\"], \"b\": {\"c\": null}} x", "not JSON"),
        ("{\"a\": [1.0, \"x\"], \"b\": {\"c\": null}}", "at a[0]: expected 1, found 1.0"),
    ] {
        let said = rewritten(text, &write).expect_err(text).to_string();
        assert!(said.contains(place), "{text}: {said}");
    }
}
