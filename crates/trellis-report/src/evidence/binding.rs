//! What evidence says that it is bound to, read; and whether evidence is what Trellis writes: what else a person can read in it (names,
//! places, texts and numbers beside what is checked) is what is written of what was read in it ([`rewritten`]).

use std::collections::BTreeMap;
use std::io;

use super::{CERTIFICATE, REPORT, TRACE};
use crate::binding::{Binding, Input};
use crate::reader::{Node, Path, ReadError, field};
use crate::words::excerpt;

/// The schema of a piece of evidence, and what it says that it is bound to.
pub fn read_binding(text: &str) -> Result<(String, Binding), ReadError> {
    let top = Node::top(text)?;
    let fields = top.object()?;
    let schema = field(&fields, &top.path, "schema")?;
    let kind = schema.string("the name of a schema")?;
    if kind == REPORT {
        return schema.fail("evidence (this is a report, of which only the evidence in it could be checked; write it out with --trace or --certificate)");
    }
    if kind != TRACE && kind != CERTIFICATE {
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

/// The kind of a certificate; of a trace in whose terms it is, if not in those of the model's language. Nothing if it does not say.
pub fn form(text: &str) -> Option<String> {
    let fields = Node::top(text).ok()?.object().ok()?;
    let name = if fields.contains_key("body") { "kind" } else { "view" };
    let node = field(&fields, &Path::Top, name).ok()?;
    node.string("a text").ok().map(|t| t.into_owned())
}

/// Says that a schema is none that is known, or no longer: those of version 1, and those of version 2 that each formalism had for itself.
pub(super) fn other<T>(schema: &Node<'_, '_>, kind: &str, expected: &str) -> Result<T, ReadError> {
    let of_old = |k: &str| k.ends_with("/1") || k.ends_with("-trace/2") || k.ends_with("-certificate/2");
    match kind.strip_prefix("trellis-") {
        Some(k) if of_old(k) && kind != REPORT => Err(ReadError::Outdated(excerpt(kind))),
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
