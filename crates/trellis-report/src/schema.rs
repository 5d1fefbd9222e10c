//! The published JSON Schemas (draft 2020-12): what [`crate::json`] writes is valid under them.

/// The schemas, by name. `report-1` refers to the others.
pub const SCHEMAS: [(&str, &str); 14] = [
    ("report-1", include_str!("../../../schema/report-1.json")),
    ("trace-1", include_str!("../../../schema/trace-1.json")),
    ("certificate-1", include_str!("../../../schema/certificate-1.json")),
    ("program-trace-1", include_str!("../../../schema/program-trace-1.json")),
    ("program-certificate-1", include_str!("../../../schema/program-certificate-1.json")),
    ("counter-trace-1", include_str!("../../../schema/counter-trace-1.json")),
    ("counter-certificate-1", include_str!("../../../schema/counter-certificate-1.json")),
    ("ltl-trace-1", include_str!("../../../schema/ltl-trace-1.json")),
    ("ltl-certificate-1", include_str!("../../../schema/ltl-certificate-1.json")),
    ("node-trace-1", include_str!("../../../schema/node-trace-1.json")),
    ("node-certificate-1", include_str!("../../../schema/node-certificate-1.json")),
    ("hierarchy-1", include_str!("../../../schema/hierarchy-1.json")),
    ("tree-trace-1", include_str!("../../../schema/tree-trace-1.json")),
    ("tree-certificate-1", include_str!("../../../schema/tree-certificate-1.json")),
];

/// The text of a schema: `report-1` (or `report`), `trace-1`, `certificate-1`, these two with `program-`, `counter-`, `ltl-`,
/// `node-` or `tree-` before them, and `hierarchy-1`.
pub fn schema(name: &str) -> Option<&'static str> {
    let wanted = name.trim_end_matches(".json");
    let is = |(name, _): &&(&str, &str)| *name == wanted || name.strip_suffix("-1") == Some(wanted);
    SCHEMAS.iter().find(is).map(|(_, text)| *text)
}
