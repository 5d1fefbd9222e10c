//! Results of a batch for other tools: JUnit XML, SARIF, annotations of GitHub's workflows.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};
use trellis::Error;

use super::record::{Property, Record};

/// What is wrong with a property, if anything is: what kind of thing, and in words.
fn wrong(r: &Record, p: &Property) -> Option<(&'static str, String)> {
    match &r.expect {
        Some(expected) if p.verdict.eq_ignore_ascii_case(expected) => None,
        Some(expected) => Some(("unexpected", format!("expected {expected}, found {}: {}", p.verdict, p.query))),
        None if p.fails() => Some(("violation", format!("{}: {}", p.verdict, p.query))),
        None if p.is_open() => {
            let why = p.reason.as_deref().unwrap_or("the evidence was not checked");
            Some(("undecided", format!("{}: {} ({why})", p.verdict, p.query)))
        }
        None => None,
    }
}

fn broken(r: &Record) -> Option<String> {
    (r.is_broken() || r.properties.is_empty())
        .then(|| r.error.clone().unwrap_or_else(|| format!("exit code {}", r.exit)))
}

/// A suite for each model, a case for each property.
pub fn junit(results: &[Record]) -> Result<String, Error> {
    let mut report = Report::new("trellis");
    for r in results {
        let mut suite = TestSuite::new(r.model.as_str());
        for p in &r.properties {
            let status = match wrong(r, p) {
                None => TestCaseStatus::success(),
                Some((kind, text)) => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_type(kind).set_message(text);
                    status
                }
            };
            let mut case = TestCase::new(p.query.as_str(), status);
            case.set_time(std::time::Duration::from_secs_f64(p.seconds.max(0.0)));
            suite.add_test_case(case);
        }
        if let Some(text) = broken(r) {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status
                .set_type("input")
                .set_message(text.lines().next().unwrap_or_default())
                .set_description(text.as_str());
            suite.add_test_case(TestCase::new("the model", status));
        }
        report.add_test_suite(suite);
    }
    report.to_string().map_err(|e| Error::Internal(format!("JUnit: {e}")))
}

/// What fails, with its place.
pub fn sarif(results: &[Record]) -> String {
    let mut found: Vec<Value> = vec![];
    let mut add = |r: &Record, rule: &str, level: &str, text: &str, line: Option<u64>| {
        let file = json!({ "artifactLocation": { "uri": r.model.replace('\\', "/") }, "region": { "startLine": line.unwrap_or(1) } });
        found.push(json!({
            "ruleId": rule, "level": level, "message": { "text": text },
            "locations": [{ "physicalLocation": file }],
        }));
    };
    for r in results {
        for p in &r.properties {
            if let Some((rule, text)) = wrong(r, p) {
                add(r, rule, if rule == "undecided" { "warning" } else { "error" }, &text, p.line);
            }
        }
        if let Some(text) = broken(r) {
            add(r, "input", "error", &text, None);
        }
    }
    let rule = |id: &str, text: &str| json!({ "id": id, "shortDescription": { "text": text } });
    let rules = json!([
        rule("violation", "A property fails: there is a run that shows it."),
        rule("unexpected", "The verdict is not the expected one."),
        rule("undecided", "A property is undecided."),
        rule("input", "The model cannot be read or checked."),
    ]);
    let driver = json!({ "name": "trellis", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": found }],
    });
    format!("{log:#}\n")
}

/// What fails, as GitHub's workflows show it beside the source.
pub fn annotations(results: &[Record]) -> String {
    let escape = |s: &str| s.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let name = |s: &str| escape(s).replace(':', "%3A").replace(',', "%2C");
    let mut all = String::new();
    let mut add = |r: &Record, level: &str, line: u64, text: &str| {
        all += &format!("::{level} file={},line={line}::{}\n", name(&r.model), escape(text));
    };
    for r in results {
        for p in &r.properties {
            if let Some((rule, text)) = wrong(r, p) {
                add(r, if rule == "undecided" { "warning" } else { "error" }, p.line.unwrap_or(1), &text);
            }
        }
        if let Some(text) = broken(r) {
            add(r, "error", 1, &text);
        }
    }
    all
}
