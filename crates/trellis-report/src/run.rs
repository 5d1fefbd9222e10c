//! A run in the model's own words: what the trace of any formalism becomes when it is shown, drawn or written, and what it comes back from
//! when it is read. One type for all, so that every picture is drawn once and a script reads the traces of every language.
//!
//! It holds nothing that a person cannot read, and all that the formalism needs to replay it: names, values, and the parts that move. It does
//! not know what any of that means; `trellis-check` does.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names and values, in the order in which the model declares them. Locations of processes are values, too: `Gate` is `"Free"`.
pub type Values = IndexMap<String, Value>;

/// A run: where it starts, its steps, and how it goes on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The values of everything at the start.
    #[schemars(with = "std::collections::BTreeMap<String, Value>")]
    pub start: Values,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// How much time passes after the last step, as an exact number: `5/2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<String>,
    /// For a run that goes on forever: the moment to which the last step returns; 0 is the start, 1 is after the first step.
    #[serde(default, rename = "loop", skip_serializing_if = "Option::is_none")]
    pub back: Option<usize>,
}

/// One step of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What happens, in a line.
    pub label: String,
    /// How much time passes before it, as an exact number; absent where time does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// What has another value after it, and which.
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
    /// From where, if it has places to be in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// To where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Which edge, event, rule or transition it takes, as the formalism numbers or names it.
    pub takes: Value,
    /// What was decided on the way, where that is not clear from the values: the choices of a program.
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
    /// The file, by its name.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
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
