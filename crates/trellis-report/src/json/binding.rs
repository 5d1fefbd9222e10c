//! What evidence is bound to: the bytes that it was made from, the property that it claims to decide, the options that change what
//! that means, and the tool. Every kind of evidence starts with it, so that evidence about one model, property or reading of a model
//! is never taken for evidence about another.
//!
//! Nothing is believed because it stands here. Whoever certifies evidence makes a [`Binding`] of his own, from the model and the
//! command line, and compares ([`Binding::difference`]); the property is never taken from the evidence. And what else a person can read in
//! evidence is what Trellis itself would have written there ([`rewritten`]): names, places, texts and numbers beside what is checked.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde::ser::SerializeMap;

use super::node::{Node, Path, ReadError, excerpt, field};
use super::{Header, REPORT};

/// A file that a verdict depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

/// What all evidence starts with.
pub(super) fn start<M: SerializeMap>(m: &mut M, schema: &str, header: Header<'_>) -> Result<(), M::Error> {
    m.serialize_entry("schema", schema)?;
    m.serialize_entry("tool", &header.binding.tool)?;
    m.serialize_entry("language", header.language)?;
    m.serialize_entry("inputs", &header.binding.inputs)?;
    m.serialize_entry("property", &header.binding.property)?;
    m.serialize_entry("options", &header.binding.options)
}

/// The schema of a piece of evidence, and what it says that it is bound to.
pub fn read_binding(text: &str) -> Result<(String, Binding), ReadError> {
    let top = Node::top(text)?;
    let fields = top.object()?;
    let schema = field(&fields, &top.path, "schema")?;
    let kind = schema.string("the name of a schema")?;
    if kind == REPORT {
        return schema.fail("evidence (this is a report, of which only the evidence in it could be checked; write it out with --trace or --certificate)");
    }
    if !kind.starts_with("trellis-") || !kind.ends_with("/2") {
        return other(&schema, &kind, "evidence that Trellis wrote");
    }
    let text = |name| field(&fields, &top.path, name)?.string("a text").map(|t| t.into_owned());
    let list = field(&fields, &top.path, "inputs")?;
    let mut inputs = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let parts = node.object()?;
        let part = |name| field(&parts, &node.path, name)?.string("a text").map(|t| t.into_owned());
        inputs.push(Input { name: part("name")?, sha256: part("sha256")? });
    }
    let given = field(&fields, &top.path, "options")?;
    let mut options = BTreeMap::new();
    for (name, raw) in given.object()? {
        let value = Node::new(Path::Field(&given.path, &name), raw).string("a text")?.into_owned();
        options.insert(name.into_owned(), value);
    }
    Ok((kind.into_owned(), Binding { tool: text("tool")?, inputs, property: text("property")?, options }))
}

/// Says that a schema is none that is known, or no longer.
pub(super) fn other<T>(schema: &Node<'_, '_>, kind: &str, expected: &str) -> Result<T, ReadError> {
    match kind.strip_prefix("trellis-").and_then(|k| k.strip_suffix("/1")) {
        Some(_) if kind != REPORT => Err(ReadError::Outdated(excerpt(kind))),
        _ => schema.fail(expected),
    }
}

/// Is a piece of evidence, but for white space and the order of fields, what is written of what was read in it? If not, says where not.
pub fn rewritten(found: &str, write: &dyn Fn(&mut dyn io::Write) -> io::Result<()>) -> Result<(), ReadError> {
    let unwritten = |e: io::Error| ReadError::Syntax(format!("it cannot be written again: {e}"));
    // Large certificates are as they were written, and need not be taken apart.
    let mut compared = Compare { rest: found.trim_end().as_bytes(), same: true };
    write(&mut compared).map_err(unwritten)?;
    if compared.same && compared.rest.is_empty() {
        return Ok(());
    }
    let mut expected = Vec::new();
    write(&mut expected).map_err(unwritten)?;
    let expected = String::from_utf8(expected).map_err(|e| ReadError::Syntax(e.to_string()))?;
    same(Node::top(&expected)?, Node::top(found)?)
}

/// Compares what is written with a text.
struct Compare<'a> {
    rest: &'a [u8],
    same: bool,
}

impl io::Write for Compare<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.rest.strip_prefix(bytes) {
            Some(rest) => self.rest = rest,
            // White space at the end.
            None if self.rest.is_empty() && bytes.trim_ascii().is_empty() => {}
            None => match self.rest.strip_prefix(bytes.trim_ascii_end()) {
                Some([]) => self.rest = &[],
                _ => self.same = false,
            },
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn same(expected: Node<'_, '_>, found: Node<'_, '_>) -> Result<(), ReadError> {
    if expected.text() == found.text() {
        return Ok(());
    }
    match expected.text().as_bytes().first() {
        Some(b'{') => {
            let (one, two) = (expected.object()?, found.object()?);
            for (name, raw) in &one {
                let part = field(&two, &found.path, name)?;
                same(Node::new(part.path, raw), part)?;
            }
            match two.iter().find(|(name, _)| !one.contains_key(*name)) {
                Some((name, raw)) => Node::new(Path::Field(&found.path, name), raw).fail("no such field"),
                None => Ok(()),
            }
        }
        Some(b'[') => {
            let one = expected.array()?;
            let two = found.array_of(one.len(), "entries")?;
            for (i, (one, two)) in one.into_iter().zip(two).enumerate() {
                let path = Path::Item(&found.path, i);
                same(Node::new(path, one), Node::new(path, two))?;
            }
            Ok(())
        }
        Some(b'"') => {
            let text = expected.string("a text")?;
            let said = found.string(&format!("\"{}\"", excerpt(&text)))?;
            if said == text { Ok(()) } else { found.fail(format_args!("\"{}\"", excerpt(&text))) }
        }
        _ => found.fail(excerpt(expected.text())),
    }
}
