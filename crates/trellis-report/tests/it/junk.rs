//! Whatever stands in a file, reading it ends in a value or in words.

use proptest::prelude::*;
use serde_json::Value;
use trellis_report::json::read as read_evidence;

use crate::round_trip::{certificate_text, trace_text};
use crate::world::{certificate, library, walk};

/// Deep nesting costs no stack.
#[test]
fn deep_nesting() {
    let net = library();
    for text in ["[".repeat(1_000_000), "{\"a\":".repeat(500_000)] {
        assert!(read_evidence(&net, &text).is_err());
    }
    let deep = "[".repeat(300_000) + &"]".repeat(300_000);
    for field in ["start", "steps", "loop", "recurrent", "parts"] {
        let whole = trace_text(&net, &walk(&net, &[0]));
        let mut value: serde_json::Map<String, Value> = serde_json::from_str(&whole).unwrap();
        value.insert(field.into(), "HERE".into());
        let text = serde_json::to_string(&value).unwrap().replace("\"HERE\"", &deep);
        assert!(read_evidence(&net, &text).is_err(), "{field}");
    }
}

pub fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-4i64..10).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        prop::sample::select(vec![
            "User(0)",
            "Desk",
            "Idle",
            "0x1",
            "0xffffffffffffffff",
            "0x",
            "5/2",
            "1/0",
            "<",
            "trellis-report/1"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(FIELDS.to_vec()), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().map(|(n, v)| (n.to_string(), v)).collect())),
        ]
    })
}

const FIELDS: [&str; 14] = [
    "schema", "start", "steps", "parts", "set", "label", "takes", "choices", "words", "columns", "entries", "name",
    "trace", "body",
];

/// All places in a value.
pub fn count(v: &Value) -> usize {
    1 + match v {
        Value::Array(items) => items.iter().map(count).sum::<usize>(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the n-th place (or removes it, if it is a part of something).
pub fn replace(v: &mut Value, n: &mut usize, by: &Option<Value>) -> bool {
    if *n == 0 {
        match by {
            Some(by) => *v = by.clone(),
            None => return true,
        }
        *n = usize::MAX;
        return false;
    }
    *n -= 1;
    match v {
        Value::Array(items) => {
            for i in 0..items.len() {
                if replace(&mut items[i], n, by) {
                    items.remove(i);
                    *n = usize::MAX;
                }
                if *n == usize::MAX {
                    return false;
                }
            }
        }
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                if replace(&mut fields[&name], n, by) {
                    fields.remove(&name);
                    *n = usize::MAX;
                }
                if *n == usize::MAX {
                    return false;
                }
            }
        }
        _ => {}
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text(text in "\\PC{0,80}") {
        let _ = read_evidence(&library(), &text);
    }

    #[test]
    fn random_values(v in anything()) {
        let _ = read_evidence(&library(), &v.to_string());
    }

    /// A good document with one part exchanged or removed, and one with some bytes changed.
    #[test]
    fn mutated_documents(
        is_trace: bool,
        at in any::<prop::sample::Index>(),
        by in prop::option::of(anything()),
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let net = library();
        let text = match is_trace {
            true => trace_text(&net, &walk(&net, &[0, 0, 0, 1, 2])),
            false => certificate_text(&net, &certificate(&net, true)),
        };
        prop_assert!(read_evidence(&net, &text).is_ok());
        let mut v: Value = serde_json::from_str(&text).unwrap();
        let mut n = at.index(count(&v));
        replace(&mut v, &mut n, &by);
        if let Err(e) = read_evidence(&net, &v.to_string()) {
            let said = e.to_string();
            prop_assert!(said.len() < 500, "{said}");
        }
        let mut raw = text.into_bytes();
        for (i, b) in &bytes {
            let i = i.index(raw.len());
            raw[i] = *b;
        }
        let _ = read_evidence(&net, &String::from_utf8_lossy(&raw));
        raw.truncate(cut.index(raw.len()));
        let _ = read_evidence(&net, &String::from_utf8_lossy(&raw));
    }
}
