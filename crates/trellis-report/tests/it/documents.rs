//! What is written is valid under the published schemas.

use serde_json::Value;
use trellis_report::{Present, SCHEMAS, generated, json, schema};

use crate::round_trip::{certificate_text, trace_text};
use crate::validate::Validator;
use crate::world::{certificate, library, reports, walk};

#[test]
fn reports_are_valid() {
    let validator = Validator::new();
    let (net, all) = reports();
    for r in &all {
        let mut out = Vec::new();
        json::write_report(&mut out, &net, r, r.certificate.as_ref().map(|c| net.size(c))).unwrap();
        let value: Value = serde_json::from_slice(&out).unwrap();
        validator.assert_valid("report-1.json", &value);
        assert_eq!(value["holds"], serde_json::to_value(r.holds()).unwrap());
        let order: Vec<&str> = r.statistics.iter().map(|(n, _)| n.as_str()).collect();
        let text = String::from_utf8(out).unwrap();
        let places: Vec<usize> = order.iter().map(|n| text.find(&format!("\"{n}\":")).unwrap()).collect();
        assert!(places.is_sorted());
    }
}

#[test]
fn evidence_is_valid() {
    let validator = Validator::new();
    let net = library();
    let trace: Value = serde_json::from_str(&trace_text(&net, &walk(&net, &[0, 0, 0, 1, 2, 0]))).unwrap();
    validator.assert_valid("trace-2.json", &trace);
    for ranks in [true, false] {
        let c: Value = serde_json::from_str(&certificate_text(&net, &certificate(&net, ranks))).unwrap();
        validator.assert_valid("certificate-2.json", &c);
        assert!(validator.problem("trace-2.json", &c).is_some());
    }
    assert!(validator.problem("certificate-2.json", &trace).is_some());
}

/// The validator does its work: a document without one of its parts, or with one of another type, is not valid.
#[test]
fn what_is_not_as_it_should_be_is_noticed() {
    let validator = Validator::new();
    let (net, all) = reports();
    let mut out = Vec::new();
    json::write_report(&mut out, &net, &all[0], None).unwrap();
    let good: Value = serde_json::from_slice(&out).unwrap();
    for name in good.as_object().unwrap().keys() {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(name);
        assert!(validator.problem("report-1.json", &bad).is_some(), "{name}");
        bad[name] = serde_json::json!([[1]]);
        assert!(validator.problem("report-1.json", &bad).is_some(), "{name}");
    }
    let mut bad = good;
    bad["trace"]["steps"][1]["parts"][0]["name"] = 7.into();
    assert!(validator.problem("report-1.json", &bad).is_some());
}

/// The published schemas are those of the types. `TRELLIS_SCHEMAS=write` writes them anew.
#[test]
fn schemas_are_those_of_the_types() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    for (name, text) in generated() {
        let file = folder.join(format!("{name}.json"));
        if std::env::var("TRELLIS_SCHEMAS").is_ok_and(|v| v == "write") {
            std::fs::write(&file, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "TRELLIS_SCHEMAS=write writes {name} anew");
    }
}

#[test]
fn schemas_by_name() {
    for (name, text) in SCHEMAS {
        assert_eq!(schema(name), Some(text));
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert!(value["$id"].as_str().unwrap().ends_with(&format!("/{name}.json")));
    }
    assert_eq!(schema("report"), schema("report-1"));
    assert_eq!(schema("trace-2.json"), schema("trace"));
    assert_eq!(schema("nonsense"), None);
}
