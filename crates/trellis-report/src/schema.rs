//! The published JSON Schemas (draft 2020-12): what [`crate::json`] writes is valid under them. They are made from the Rust types ([`generated`]); a test compares them with the files, or writes them anew.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::evidence::{CERTIFICATE, CertificateDocument, Report, TRACE, TraceDocument};
use crate::page::Page;
use crate::tree::{TREE, TreeDocument};

/// The schemas, by name.
pub const SCHEMAS: [(&str, &str); 5] = [
    ("trace-2", include_str!("../../../schema/trace-2.json")),
    ("certificate-2", include_str!("../../../schema/certificate-2.json")),
    ("report-1", include_str!("../../../schema/report-1.json")),
    ("hierarchy-1", include_str!("../../../schema/hierarchy-1.json")),
    ("page-1", include_str!("../../../schema/page-1.json")),
];

/// The text of a schema: `trace`, `certificate`, `report`, `page`, `hierarchy`, with or without its version.
pub fn schema(name: &str) -> Option<&'static str> {
    let wanted = name.trim_end_matches(".json");
    let is = |(name, _): &&(&str, &str)| *name == wanted || name.rsplit_once('-').is_some_and(|(n, _)| n == wanted);
    SCHEMAS.iter().find(is).map(|(_, text)| *text)
}

/// The schemas as they are made from types, by name.
pub fn generated() -> Vec<(&'static str, String)> {
    let [written, read] = [SchemaSettings::for_serialize, SchemaSettings::for_deserialize];
    let mut trace = made::<TraceDocument>(written);
    let mut certificate = made::<CertificateDocument>(written);
    let mut report = made::<Report>(written);
    let mut page = made::<Page>(written);
    let mut hierarchy = made::<TreeDocument>(read);
    hierarchy["properties"]["schema"]["const"] = TREE.into();
    trace["properties"]["schema"]["const"] = TRACE.into();
    certificate["properties"]["schema"]["const"] = CERTIFICATE.into();
    page["$defs"]["TraceDocument"]["properties"]["schema"]["const"] = TRACE.into();
    page["$defs"]["CertificateDocument"]["properties"]["schema"]["const"] = CERTIFICATE.into();
    report["$defs"]["TraceDocument"]["properties"]["schema"]["const"] = TRACE.into();
    let finish = |name: &'static str, title: &str, mut schema: Value| {
        plain(&mut schema);
        schema["title"] = title.into();
        schema["$id"] = json!(format!("https://example.org/trellis/schema/{name}.json"));
        (name, serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n")
    };
    vec![
        finish("trace-2", "A run of a model", trace),
        finish("certificate-2", "A proof about a model", certificate),
        finish("report-1", "What is reported about one property", report),
        finish("page-1", "What the page is told of a model, and of answers about it", page),
        finish("hierarchy-1", "A hierarchical transition system", hierarchy),
    ]
}

/// The schema of what is written of a type (what is always written is required, and may be `null` if it may be nothing), or of what is read as it.
fn made<T: schemars::JsonSchema>(contract: fn(SchemaSettings) -> SchemaSettings) -> Value {
    contract(SchemaSettings::draft2020_12()).into_generator().into_root_schema_for::<T>().to_value()
}

/// Formats such as `uint32` are no part of the standard, and some validators complain about them.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("format").is_some_and(Value::is_string) {
                fields.shift_remove("format");
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(all) => all.iter_mut().for_each(plain),
        _ => {}
    }
}
