//! What is written can be read back, and nothing is lost.

use std::collections::BTreeMap;

use trellis_model::network::{CertEntry, Certificate, Network, Trace};
use trellis_report::json::{self, Binding, Header, Input, read_binding, rewritten};
use trellis_report::{Content, Kind, Present, ReadError};

use crate::world::{LIBRARY, certificate, library, queries_of, reports, walk};

/// What evidence in these tests is bound to.
pub static BINDING: Binding =
    Binding { tool: String::new(), inputs: Vec::new(), property: String::new(), options: BTreeMap::new() };

pub const HEADER: Header<'_> = Header { language: "uppaal", kind: Kind::Always, binding: &BINDING };

pub fn trace_text(net: &Network, t: &Trace) -> String {
    let mut out = Vec::new();
    json::write_trace(&mut out, net, HEADER, t).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn certificate_text(net: &Network, c: &Certificate) -> String {
    let mut out = Vec::new();
    json::write_certificate(&mut out, net, HEADER, c).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn read_trace(net: &Network, text: &str) -> Trace {
    match json::read(net, text) {
        Ok(Content::Trace(t)) => t,
        other => panic!("{other:?}"),
    }
}

pub fn read_certificate(net: &Network, text: &str) -> Certificate {
    match json::read(net, text) {
        Ok(Content::Certificate(c)) => c,
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
    let none = Certificate { entries: Vec::new().into(), up_to_order: false, up_to_symmetry: false };
    assert_eq!(read_certificate(&net, &certificate_text(&net, &none)), none);
}

#[test]
fn evidence_within_reports() {
    let (net, all) = reports();
    for r in &all {
        let mut out = Vec::new();
        json::write_report(&mut out, &net, r, r.certificate.as_ref().map(|c| net.size(c))).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains('\n'));
        match (&r.trace, json::read(&net, &text)) {
            (Some(t), Ok(Content::Trace(read))) => assert_eq!(read, *t),
            (None, Err(e)) => assert_eq!(
                e.to_string(),
                "at the top: expected a report with a trace (write certificates out with --certificate), found an object"
            ),
            other => panic!("{other:?}"),
        }
    }
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
    let c = Certificate { entries: vec![entry(&t)].into(), up_to_order: true, up_to_symmetry: false };
    let expected = Certificate { entries: vec![entry(&same)].into(), up_to_order: true, up_to_symmetry: false };
    assert_eq!(read_certificate(&two, &certificate_text(&one, &c)), expected);
}

#[test]
fn the_json_of_a_step() {
    let net = library();
    let value: serde_json::Value = serde_json::from_str(&trace_text(&net, &walk(&net, &[0, 0, 0]))).unwrap();
    assert_eq!(
        value["steps"][1]["parts"],
        serde_json::json!([
            { "name": "User(0)", "from": "Idle", "to": "Reading", "takes": 0, "sends": true },
            { "name": "Desk", "from": "Open", "to": "Open", "takes": 1 }
        ])
    );
    assert_eq!(value["steps"][1]["message"], "login[0]");
    assert_eq!(value["steps"][1]["label"], "User(0) → Desk: login[0]");
    assert_eq!(value["steps"][2]["parts"][0]["choices"], serde_json::json!([{ "w": 0 }]));
    assert_eq!(value["parts"], serde_json::json!(["User(0)", "User(1)", "Desk"]));
    assert_eq!((&value["start"]["User(0)"], &value["start"]["grid[1][0]"]), (&"Idle".into(), &0.into()));
    assert_eq!(value["steps"][0]["set"], serde_json::json!({ "Desk": "Open", "open": true, "last": -2 }));
    assert_eq!(
        value["steps"][2]["set"]["pool"],
        serde_json::json!({ "words": ["0x1000000000000000", "0x0"], "shown": "{60}" })
    );
    let state = trellis_report::json::read_run(&trace_text(&net, &walk(&net, &[0, 0, 0]))).unwrap().state(3);
    assert_eq!((&state["User(0)"], &state["Desk"], &state["last"]), (&"Idle".into(), &"Open".into(), &(-2).into()));
}

pub fn complaint(net: &Network, text: &str) -> String {
    match json::read(net, text) {
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
            "\"name\": \"Desk\"",
            "\"name\": \"Disk\"",
            "at steps[0].parts[0].name: expected the name of a process of this model (User(0), User(1), Desk), found \"Disk\"",
        ),
        (
            "\"takes\": 1",
            "\"takes\": 7",
            "at steps[1].parts[1].takes: expected the number of an edge of `Desk`, from 0 in the order of the source, found 7",
        ),
        (
            "\"w\": 0",
            "\"w\": 2",
            "at steps[2].parts[0].choices: expected possible values for the selects of edge 1 of `User(0)`: w, found an array of 1",
        ),
        (
            "\"to\": \"Reading\"",
            "\"to\": \"Lost\"",
            "at steps[1].parts[0].to: expected Reading, as edge 0 of `User(0)` has it in this model, found \"Lost\"",
        ),
        (
            "\"Desk\": \"Closed\"",
            "\"Desk\": \"Shut\"",
            "at start.Desk: expected the name of a location of `Desk` (Closed, Open, Ring), found \"Shut\"",
        ),
        (
            "\"last\": -2",
            "\"last\": 12",
            "at steps[0].set.last: expected a value of this variable: an integer from -3 to 3, found 12",
        ),
        (
            "\"last\": -2",
            "\"last\": 1.0",
            "at steps[0].set.last: expected a value of this variable: an integer from -3 to 3, found 1.0",
        ),
        ("\"last\": 0,", "", "at start: expected a field `last`, found none"),
        (
            "\"last\": 0",
            "\"last\": 0, \"x y\": 0",
            "at start.\"x y\": expected no such value, for the model has nothing of this name, found 0",
        ),
        (
            "\"0x0\",\n        \"0x0\"\n",
            "\"0x0\"\n",
            "at start.pool.words: expected an array of 2 words, found an array of 1",
        ),
        (
            "\"0x0\",\n        \"0x0\"\n",
            "\"0x0\",\n        \"0x40\"\n",
            "at start.pool.words: expected words of an element of UnionBitVector(70), found an array of 2",
        ),
        ("\"0x0\"", "\"0xg\"", "at start.pool.words[0]: expected a word in hexadecimal, like \"0x1f\", found \"0xg\""),
        (
            "\"steps\": [",
            "\"loop\": 3, \"steps\": [",
            "at loop: expected the number of an earlier state: a number from 0 to 2, found 3",
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
    let syntax = json::read(&net, "{\"schema\": }").unwrap_err().to_string();
    assert_eq!(syntax, "this is not JSON: expected value at line 1 column 12");
}

#[test]
fn mistakes_in_certificates_are_explained() {
    let net = library();
    let text = certificate_text(&net, &certificate(&net, false));
    let first = "\n  [[0,0,0],[0,0,0,0,0,0,0,0,0],[";
    let cases = [
        (
            "\"Closed\"",
            "\"Shut\"",
            "at body.columns.processes[2].locations[0]: expected the name of a location of `Desk` (Closed, Open, Ring), found \"Shut\"",
        ),
        (
            "\"name\":\"Desk\"",
            "\"name\":\"User(0)\"",
            "at body.columns.processes[2].name: expected each process once, found \"User(0)\"",
        ),
        ("\"open\",", "", "at body.columns.variables: expected all of the model's, also `open`, found an array of 8"),
        (
            "(70)",
            "(71)",
            "at body.columns.lattices[0].lattice: expected \"UnionBitVector(70)\", as in this model, found \"UnionBitVector(71)\"",
        ),
        ("\"width\":2", "\"width\":3", "at body.columns.lattices[0].width: expected 2, as in this model, found 3"),
        (
            first,
            "\n  [[0,0,3],[0,0,0,0,0,0,0,0,0],[",
            "at body.entries[0][0][2]: expected a location: a number from 0 to 2, found 3",
        ),
        (
            first,
            "\n  [[0,0],[0,0,0,0,0,0,0,0,0],[",
            "at body.entries[0][0]: expected an array of 3 locations, found an array of 2",
        ),
        (
            first,
            "\n  [[0,0,0],[0,0,0,0,10,0,0,0,0],[",
            "at body.entries[0][1][4]: expected a value of this variable: an integer from 0 to 9, found 10",
        ),
        (
            first,
            "\n  [[0,0,0],[0,0,0,0,0,0,0,0,0],[\"0x0\",",
            "at body.entries[0][2]: expected an array of 4 words, found an array of 5",
        ),
        (
            first,
            "\n  [3],[[0,0,0],[0,0,0,0,0,0,0,0,0],[",
            "at body.entries[0]: expected an array of locations, variables, words and perhaps a rank, found an array of 1",
        ),
        ("\"order\"", "\"odor\"", "at assumes[0]: expected \"order\" or \"symmetry\", found \"odor\""),
        ("\"states\"", "\"basis\"", "at kind: expected \"states\", found \"basis\""),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from} in {text}");
        assert_eq!(complaint(&net, &text.replacen(from, to, 1)), expected);
    }
    let other = queries_of(&LIBRARY.replace("int[-3, 3] last", "int[-3, 3] first, last"), "").0;
    let error = complaint(&other, &text);
    assert_eq!(error, "at body.columns.variables: expected all of the model's, also `first`, found an array of 9");
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
    json::write_trace(&mut out, &net, header, &walk(&net, &[0])).unwrap();
    let (schema, read) = read_binding(&String::from_utf8(out).unwrap()).unwrap();
    assert_eq!((schema.as_str(), &read), (json::TRACE, &binding));
    let old = trace_text(&net, &walk(&net, &[0])).replace("-trace/2", "-trace/1");
    assert!(matches!(read_binding(&old), Err(ReadError::Outdated(_))));
    assert!(matches!(json::read(&net, &old), Err(ReadError::Outdated(_))));
    for old in
        ["trellis-program-trace/2", "trellis-counter-certificate/2", "trellis-tree-trace/2", "trellis-certificate/1"]
    {
        let old = trace_text(&net, &walk(&net, &[0])).replace("trellis-trace/2", old);
        let why = read_binding(&old).expect_err("outdated").to_string();
        assert!(why.contains("run check again"), "{why}");
        assert!(matches!(json::read(&net, &old), Err(ReadError::Outdated(_))));
    }
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
