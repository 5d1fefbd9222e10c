//! Runs in the Informal Trace Format (ITF) of Apalache, version 1.0: one JSON object with variables and states, which its tools and editors read.
//!
//! Integers are `{"#bigint": "5"}`, as the format asks; fractions and names are texts. The parts of a state that a formalism has no value for (where
//! a program is) are variables, too. What a step does is under `#meta`.

use std::io;

use serde_json::{Map, Value, json};

use crate::run::{Run, Values};

/// What the names of such files end in.
pub const ENDING: &str = ".itf.json";

/// Where a program of one part is.
const LOCATION: &str = "@location";

/// A value as ITF has it.
fn value(v: &Value) -> Value {
    match v {
        Value::Number(n) => json!({ "#bigint": n.to_string() }),
        Value::Array(all) => Value::Array(all.iter().map(value).collect()),
        Value::Object(fields) => match (fields.get("shown"), fields.get("entries"), fields.get("default")) {
            (Some(Value::String(text)), _, _) => text.as_str().into(),
            (_, Some(Value::Object(entries)), Some(_)) => {
                let pairs: Vec<Value> = entries.iter().map(|(i, v)| json!([{ "#bigint": i }, value(v)])).collect();
                json!({ "#map": pairs })
            }
            _ => Value::Object(fields.iter().map(|(name, v)| (name.clone(), value(v))).collect()),
        },
        other => other.clone(),
    }
}

/// Writes a run.
pub fn write_itf(run: &Run, mut out: impl io::Write) -> io::Result<()> {
    let mut names: Vec<&str> = run.start.keys().map(String::as_str).collect();
    for name in run.steps.iter().flat_map(|s| s.set.keys()) {
        if !run.start.contains_key(name) && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    // Where the only part is, if it has no value of its own.
    let only = |step: &crate::run::Step| step.parts.iter().find(|p| p.name.is_empty()).cloned();
    let mut here = run.steps.iter().find_map(only).and_then(|p| p.from);
    let mut vars: Vec<&str> = names.clone();
    vars.extend(here.is_some().then_some(LOCATION));
    let state = |now: &Values, here: &Option<String>, meta: Value| {
        let mut state = Map::from_iter([("#meta".to_string(), meta)]);
        // What a counter system does not mention is 0.
        let of = |name: &&str| (name.to_string(), now.get(*name).map_or_else(|| value(&0.into()), value));
        state.extend(names.iter().map(of));
        state.extend(here.iter().map(|l| (LOCATION.to_string(), l.as_str().into())));
        Value::Object(state)
    };
    let mut now = run.start.clone();
    let mut states = vec![state(&now, &here, json!({ "index": 0 }))];
    for (i, step) in run.steps.iter().enumerate() {
        now.extend(step.set.iter().map(|(name, v)| (name.clone(), v.clone())));
        here = only(step).and_then(|p| p.to).or(here);
        let mut meta = json!({ "index": i + 1, "label": step.label });
        if let Some(delay) = &step.delay {
            meta["delay"] = delay.as_str().into();
        }
        states.push(state(&now, &here, meta));
    }
    let meta = json!({
        "format": "ITF",
        "format-description": "https://apalache.informal.systems/docs/adr/015adr-trace.html",
        "description": "Created by Trellis"
    });
    let mut document = json!({ "#meta": meta, "vars": vars, "states": states });
    if let Some(back) = run.back {
        document["loop"] = back.into();
    }
    serde_json::to_writer_pretty(&mut out, &document)?;
    out.write_all(b"\n")
}
