//! A run in the model's own words: what the trace of any formalism becomes when it is shown, drawn or written, and what it comes back from
//! when it is read. One type for all, so that every picture is drawn once and a script reads the traces of every language.
//!
//! It holds nothing that a person cannot read, and all that the formalism needs to replay it: names, values, and the parts that move. It does
//! not know what any of that means; `trellis-check` does.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
pub use serde::Serialize;
use serde_json::Value;

/// Names and values, in the order in which the model declares them. Locations of processes are values, too: `Gate` is `"Free"`. Exact
/// numbers of time are texts (`"5/2"`), and so are integers that do not fit 64 bits.
pub type Values = IndexMap<String, Value>;

/// A run: where it starts, its steps, and how it goes on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// In whose terms it is, if not in those of the model's own language: `tree`, for models that were taken apart into transition systems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// The parts of the model, where it has several: processes, components, nodes. A part that has places to be in is a value, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// Which of the values are clocks: they grow by themselves while time passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<String>,
    /// The values of everything at the start; what a counter system does not mention is 0.
    #[schemars(with = "std::collections::BTreeMap<String, Value>")]
    pub start: Values,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// How much time passes after the last step, as an exact number: `5/2`. Absent where time does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9]{1,19}(/[1-9][0-9]{0,18})?$"))]
    pub rest: Option<String>,
    /// For a run that goes on forever: the moment to which the last step returns; 0 is the start, 1 is after the first step.
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub back: Option<usize>,
    /// How it ends, if that is worth saying: `target`, `loop`, `idle` (time may pass forever), `deadlock`, `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// For a run that goes on forever and need not repeat: a set of states that can be entered again and again, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrent: Option<Value>,
}

/// One step of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What happens, in a line.
    pub label: String,
    /// How much time passes before it, as an exact number; absent where time does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[0-9]{1,19}(/[1-9][0-9]{0,18})?$"))]
    pub delay: Option<String>,
    /// What has another value after it, and which; clocks also if they have grown.
    #[schemars(with = "std::collections::BTreeMap<String, Value>")]
    pub set: Values,
    /// What moves, and how: processes, components, or the program itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The message that the parts exchange, if they do: the name of a channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The place in the source that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// A part of the model that moves in a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name: a process, a node; empty for a model of one part.
    pub name: String,
    /// From where, if it has places to be in; nothing if it was not there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// To where; nothing if it is not there afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Which edge, event, rule or transition it takes, as the formalism numbers or names it.
    pub takes: Value,
    /// What was decided on the way: `{"x": 5}` is a value for `x`, a number says which of several ways was gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Value>,
    /// Does it send the message, rather than receive it?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sends: bool,
}

/// A place in a source file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The file, by its name; absent if there is only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The text there, if it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// What happens, and what changes: `press!: Lamp = Low, x = 0`.
impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(delay) = &self.delay {
            write!(f, "after {delay}, ")?;
        }
        f.write_str(&self.label)?;
        for (i, (name, value)) in self.set.iter().enumerate() {
            let text = value.as_str().map_or_else(|| value.to_string(), String::from);
            write!(f, "{}{name} = {text}", if i == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}

impl Run {
    /// All values at a moment: 0 is the start.
    pub fn state(&self, moment: usize) -> Values {
        let mut state = self.start.clone();
        for step in self.steps.iter().take(moment) {
            state.extend(step.set.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        state
    }
}

/// A value as people see it: texts without quotes, what is only for machines left out.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match (fields.get("shown"), fields.get("entries"), fields.get("default")) {
            (Some(Value::String(text)), _, _) => text.clone(),
            (_, Some(Value::Object(entries)), Some(default)) => {
                let mut parts: Vec<String> = entries.iter().map(|(i, v)| format!("{i}: {}", shown(v))).collect();
                parts.push(format!("default: {}", shown(default)));
                format!("[{}]", parts.join(", "))
            }
            _ => value.to_string(),
        },
        Value::Array(all) => format!("[{}]", all.iter().map(shown).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// A run, a step or values as JSON, for programs in other languages.
pub fn to_json(what: &impl Serialize) -> std::io::Result<String> {
    serde_json::to_string(what).map_err(std::io::Error::from)
}
