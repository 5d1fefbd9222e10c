//! What evidence is bound to: the bytes that it was made from, the property that it claims to decide, the options that change what
//! that means, and the tool. Every kind of evidence starts with it, so that evidence about one model, property or reading of a model
//! is never taken for evidence about another.
//!
//! Nothing is believed because it stands here. Whoever certifies evidence makes a [`Binding`] of his own, from the model and the
//! command line, and compares ([`Binding::difference`]); the property is never taken from the evidence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::words::excerpt;

/// A file that a verdict depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Input {
    /// Its name, without folders.
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// What evidence was made from, and what it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    /// The tool and its version: `trellis 0.1.0`.
    pub tool: String,
    /// The files, the model first.
    pub inputs: Vec<Input>,
    /// The property, in canonical form.
    pub property: String,
    /// Options that change the meaning of the model or of the property, by name, without dashes.
    pub options: BTreeMap<String, String>,
}

impl Binding {
    /// Why evidence that is bound to this does not fit what is asked now, in a sentence; nothing if it does.
    pub fn difference(&self, now: &Binding) -> Option<String> {
        self.other_inputs(now).or_else(|| self.other_options(now)).or_else(|| {
            (self.property != now.property).then(|| {
                format!(
                    "it is about the property `{}`, not about `{}`",
                    excerpt(&self.property),
                    excerpt(&now.property)
                )
            })
        })
    }

    /// Which file differs.
    pub fn other_inputs(&self, now: &Binding) -> Option<String> {
        let short = |hash: &str| hash.chars().take(12).collect::<String>();
        for (at, is) in now.inputs.iter().enumerate() {
            match self.inputs.get(at) {
                Some(was) if was == is => {}
                Some(was) if was.name == is.name => {
                    return Some(format!(
                        "it was made from another `{}`: its SHA-256 is {}…, that in the evidence {}…",
                        excerpt(&is.name),
                        short(&is.sha256),
                        excerpt(&short(&was.sha256))
                    ));
                }
                Some(was) => {
                    return Some(format!(
                        "it was made from `{}`, where now `{}` is read",
                        excerpt(&was.name),
                        excerpt(&is.name)
                    ));
                }
                None => return Some(format!("it was made without `{}`, which is read now", excerpt(&is.name))),
            }
        }
        let more = self.inputs.get(now.inputs.len())?;
        Some(format!("it was made from `{}`, too, which is not read now", excerpt(&more.name)))
    }

    /// Which option differs.
    pub fn other_options(&self, now: &Binding) -> Option<String> {
        let names = self.options.keys().chain(now.options.keys());
        let name = names.min_by_key(|n| (self.options.get(*n) == now.options.get(*n), n.as_str()))?;
        let shown = excerpt(name);
        match (self.options.get(name), now.options.get(name)) {
            (was, is) if was == is => None,
            // No option of its own: several options choose them.
            (was, is) if name == "checks" => Some(format!(
                "it is about other checks ({}) than are asked ({})",
                excerpt(was.map_or("none", String::as_str)),
                excerpt(is.map_or("none", String::as_str))
            )),
            (Some(was), Some(is)) => Some(format!(
                "it was made with --{shown} {}, not with {}; repeat that option",
                excerpt(was),
                excerpt(is)
            )),
            (Some(was), None) => Some(format!("it was made with --{shown} {}; repeat that option", excerpt(was))),
            (None, _) => Some(format!("it was made without --{shown}; leave that option out")),
        }
    }
}
