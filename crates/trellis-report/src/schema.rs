//! The published JSON Schemas (draft 2020-12): what [`crate::json`] writes is valid under them.

/// The schemas, by name. `report-1` refers to the others.
pub const SCHEMAS: [(&str, &str); 15] = [
    ("report-1", include_str!("../../../schema/report-1.json")),
    ("header-2", include_str!("../../../schema/header-2.json")),
    ("trace-2", include_str!("../../../schema/trace-2.json")),
    ("certificate-2", include_str!("../../../schema/certificate-2.json")),
    ("program-trace-2", include_str!("../../../schema/program-trace-2.json")),
    ("program-certificate-2", include_str!("../../../schema/program-certificate-2.json")),
    ("counter-trace-2", include_str!("../../../schema/counter-trace-2.json")),
    ("counter-certificate-2", include_str!("../../../schema/counter-certificate-2.json")),
    ("ltl-trace-2", include_str!("../../../schema/ltl-trace-2.json")),
    ("ltl-certificate-2", include_str!("../../../schema/ltl-certificate-2.json")),
    ("node-trace-2", include_str!("../../../schema/node-trace-2.json")),
    ("node-certificate-2", include_str!("../../../schema/node-certificate-2.json")),
    ("hierarchy-1", include_str!("../../../schema/hierarchy-1.json")),
    ("tree-trace-2", include_str!("../../../schema/tree-trace-2.json")),
    ("tree-certificate-2", include_str!("../../../schema/tree-certificate-2.json")),
];

/// The text of a schema: `report-1` (or `report`), `header-2`, `trace-2`, `certificate-2`, these two with `program-`, `counter-`, `ltl-`,
/// `node-` or `tree-` before them, and `hierarchy-1`.
pub fn schema(name: &str) -> Option<&'static str> {
    let wanted = name.trim_end_matches(".json");
    let is = |(name, _): &&(&str, &str)| *name == wanted || name.rsplit_once('-').is_some_and(|(n, _)| n == wanted);
    SCHEMAS.iter().find(is).map(|(_, text)| *text)
}
