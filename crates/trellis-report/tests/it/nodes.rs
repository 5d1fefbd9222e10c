//! Evidence about hierarchies of nodes: valid under the schemas, and back as it was.

use serde_json::Value;
use trellis_domain::relation::{Branch, Decisions, Test};
use trellis_model::evidence::Verdict;
use trellis_model::hierarchy::evidence::Trace;
use trellis_report::Kind;
use trellis_report::hierarchy::{HierarchyReport, Named};
use trellis_report::{Content, dot, json, page};
use trellis_syntax::altarica::{Built, parse};
use trellis_syntax::diag::Sources;

use crate::validate::Validator;

fn model() -> Built {
    let text = "node L state s : {a, b}; n : [-1, 2]; init s := a, n := 0; event e; trans s = a |- e -> s := b, n := n - 1; edon
        node M sub x : L; flow f : bool; assert f = (x.s = a); edon";
    let mut sources = Sources::default();
    let id = sources.add("m.alt", text);
    let (file, _) = parse(&sources, id).expect("a model");
    file.build(file.nodes()[1], &[]).expect("a model").0
}

#[test]
fn evidence_is_valid_and_comes_back() {
    let (built, schemas) = (model(), Validator::new());
    let hierarchy = &built.hierarchy;
    let levels = hierarchy.levels().expect("few");
    let named = Named { hierarchy, levels: &levels };
    let at = |name: &str| hierarchy.variables.iter().position(|v| v.name == name).expect("a variable");
    let (s, n, f) = (at("x.s"), at("x.n"), at("f"));
    let mut first = vec![0; 3];
    (first[s], first[f]) = (i64::from(literal(&built, s, 0)), 1);
    let mut last = first.clone();
    (last[s], last[n], last[f]) = (i64::from(literal(&built, s, 1)), -1, 0);
    let trace = Trace { configurations: vec![first, last], events: vec![1] };
    let report = HierarchyReport::about("m.alt", "altarica", "q", Kind::Always, Verdict::Unsafe(trace.clone()));
    let mut out = vec![];
    json::write_report(&mut out, &named, &report, None).unwrap();
    schemas.assert_valid("report-1.json", &serde_json::from_slice::<Value>(&out).unwrap());
    let text = String::from_utf8(out).unwrap();
    let mut out = vec![];
    json::write_trace(&mut out, &named, report.header(), &trace).unwrap();
    schemas.assert_valid("trace-2.json", &serde_json::from_slice::<Value>(&out).unwrap());
    for text in [text, String::from_utf8(out).unwrap()] {
        assert!(matches!(json::read(&named, &text).unwrap(), Content::Trace(t) if t == trace));
        assert!(text.contains("<x.e>") && text.contains("\"x.s\""), "{text}");
        let wrong = text.replace("-1", "-5");
        assert!(json::read(&named, &wrong).unwrap_err().to_string().contains("a value of its variable"));
    }
    let with_proof = report.clone().map(Some, |_| None);
    assert!(page::Answer::of(&with_proof, &named, None).unwrap().report.get().contains("x.n"));
    assert!(dot::report(&report, &named).unwrap().contains("s0 -> s1"));

    let tests = vec![
        Test { variable: n, branches: vec![(vec![0, 1], Branch::In)] },
        Test { variable: s, branches: vec![(vec![i64::from(literal(&built, s, 0))], Branch::Test(0))] },
    ];
    for root in [Branch::Test(1), Branch::In, Branch::Out] {
        let states = Decisions { tests: tests.clone(), root };
        let mut out = vec![];
        json::write_certificate(&mut out, &named, report.header(), &states).unwrap();
        schemas.assert_valid("certificate-2.json", &serde_json::from_slice::<Value>(&out).unwrap());
        let text = String::from_utf8(out).unwrap();
        assert!(matches!(json::read(&named, &text).unwrap(), Content::Certificate(d) if d == states));
    }
    // A test that leads forward, or to a flow.
    let states =
        Decisions { tests: vec![Test { variable: n, branches: vec![(vec![0], Branch::Test(0))] }], root: Branch::In };
    let mut out = vec![];
    json::write_certificate(&mut out, &named, report.header(), &states).unwrap();
    assert!(json::read(&named, std::str::from_utf8(&out).unwrap()).is_err());
}

/// The number of a literal of a variable.
fn literal(built: &Built, variable: usize, n: usize) -> u32 {
    match &built.hierarchy.variables[variable].domain {
        trellis_model::hierarchy::Domain::Literals(all) => all[n],
        other => panic!("{other:?}"),
    }
}
