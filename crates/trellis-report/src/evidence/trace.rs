//! A run, read from a document. Names occur once, and nothing is there that is not known; what it means is for the formalism to say.

use serde_json::Value;

use crate::reader::{Fields, Node, Path, ReadError, field, optional};
use crate::run::{Part, Place, Run, Step, Values};

/// The fields of a run. Those of the head are left alone.
pub(super) fn run(fields: &Fields<'_>, top: &Path<'_>) -> Result<Run, ReadError> {
    let list = field(fields, top, "steps")?;
    let mut steps = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        steps.push(step(Node::new(Path::Item(&list.path, i), raw))?);
    }
    let back = match optional(fields, top, "loop") {
        // After the last step is a moment, too, for runs that end and then stay where they are.
        Some(node) => Some(node.index(steps.len() + 1, "a moment of the run")?),
        None => None,
    };
    Ok(Run {
        view: text(fields, top, "view")?,
        parts: texts(fields, top, "parts")?,
        clocks: texts(fields, top, "clocks")?,
        start: values(field(fields, top, "start")?)?,
        steps,
        rest: text(fields, top, "rest")?,
        back,
        ending: text(fields, top, "ending")?,
        recurrent: optional(fields, top, "recurrent").map(value).transpose()?,
    })
}

fn step(node: Node<'_, '_>) -> Result<Step, ReadError> {
    let fields = node.object()?;
    known(&node, &fields, &["label", "delay", "set", "parts", "message", "place"])?;
    let mut parts = vec![];
    if let Some(list) = optional(&fields, &node.path, "parts") {
        for (i, raw) in list.array()?.into_iter().enumerate() {
            parts.push(part(Node::new(Path::Item(&list.path, i), raw))?);
        }
    }
    Ok(Step {
        label: field(&fields, &node.path, "label")?.string("a text")?.into_owned(),
        delay: text(&fields, &node.path, "delay")?,
        set: values(field(&fields, &node.path, "set")?)?,
        parts,
        message: text(&fields, &node.path, "message")?,
        place: optional(&fields, &node.path, "place").map(place).transpose()?,
    })
}

fn part(node: Node<'_, '_>) -> Result<Part, ReadError> {
    let fields = node.object()?;
    known(&node, &fields, &["name", "from", "to", "takes", "choices", "sends"])?;
    let mut choices = vec![];
    if let Some(list) = optional(&fields, &node.path, "choices") {
        for (i, raw) in list.array()?.into_iter().enumerate() {
            choices.push(value(Node::new(Path::Item(&list.path, i), raw))?);
        }
    }
    Ok(Part {
        name: field(&fields, &node.path, "name")?.string("the name of a part")?.into_owned(),
        from: text(&fields, &node.path, "from")?,
        to: text(&fields, &node.path, "to")?,
        takes: value(field(&fields, &node.path, "takes")?)?,
        choices,
        sends: optional(&fields, &node.path, "sends").map_or(Ok(false), |s| s.boolean())?,
    })
}

fn place(node: Node<'_, '_>) -> Result<Place, ReadError> {
    let fields = node.object()?;
    known(&node, &fields, &["file", "line", "column", "text"])?;
    Ok(Place {
        file: text(&fields, &node.path, "file")?.unwrap_or_default(),
        line: field(&fields, &node.path, "line")?.count("the number of a line")?,
        column: optional(&fields, &node.path, "column").map(|c| c.count("the number of a column")).transpose()?,
        text: text(&fields, &node.path, "text")?.unwrap_or_default(),
    })
}

/// Nothing else is there.
fn known(node: &Node<'_, '_>, fields: &Fields<'_>, names: &[&str]) -> Result<(), ReadError> {
    match fields.iter().find(|(name, _)| !names.contains(&&***name)) {
        Some((name, raw)) => Node::new(Path::Field(&node.path, name), raw).fail("no such field"),
        None => Ok(()),
    }
}

fn text(fields: &Fields<'_>, up: &Path<'_>, name: &str) -> Result<Option<String>, ReadError> {
    optional(fields, up, name).map(|node| node.string("a text").map(|t| t.into_owned())).transpose()
}

fn texts(fields: &Fields<'_>, up: &Path<'_>, name: &str) -> Result<Vec<String>, ReadError> {
    let Some(list) = optional(fields, up, name) else { return Ok(vec![]) };
    let items = list.array()?.into_iter().enumerate();
    items.map(|(i, raw)| Ok(Node::new(Path::Item(&list.path, i), raw).string("a name")?.into_owned())).collect()
}

fn values(node: Node<'_, '_>) -> Result<Values, ReadError> {
    let fields = node.object()?;
    let one = |(name, raw): (&std::borrow::Cow<'_, str>, &&serde_json::value::RawValue)| {
        Ok((name.to_string(), value(Node::new(Path::Field(&node.path, name), raw))?))
    };
    fields.iter().map(one).collect()
}

/// A value; what is nested too deeply is none.
fn value(node: Node<'_, '_>) -> Result<Value, ReadError> {
    serde_json::from_str(node.text()).or_else(|_| node.fail("a value"))
}
