//! Invariants of programs, read.

use trellis_model::cfa::evidence::Certificate;
use trellis_model::cfa::{Cfa, LocationId};

use super::term::Reader;
use crate::reader::{Fields, Node, Path, ReadError, field};

/// A location that should have this name.
pub(crate) fn expect_name(cfa: &Cfa, node: Node<'_, '_>, l: LocationId) -> Result<(), ReadError> {
    let name = &cfa.location(l).name;
    if *node.string("the name of a location")? == **name { Ok(()) } else { node.fail(format_args!("\"{name}\"")) }
}

/// A variable must still have the type that it had.
fn variable(reader: &mut Reader, node: Node<'_, '_>) -> Result<(), ReadError> {
    let fields = node.object()?;
    let name = field(&fields, &node.path, "name")?;
    let ty = field(&fields, &node.path, "type")?;
    let Some(expected) = reader.type_of(&name.string("the name of a variable")?) else {
        return name.fail("a variable of this model");
    };
    match reader.ty(&ty.string("a type")?) {
        Ok(ty) if ty == expected => Ok(()),
        _ => ty.fail(format_args!(
            "the type {} (was the program read with other options?)",
            reader.terms.show_type(expected)
        )),
    }
}

/// The variables and the definitions: what terms are made of.
pub(crate) fn terms(cfa: &Cfa, fields: &Fields<'_>, top: &Path<'_>) -> Result<Reader, ReadError> {
    let mut reader = Reader::new(cfa);
    let list = field(fields, top, "variables")?;
    for (i, raw) in list.array()?.into_iter().enumerate() {
        variable(&mut reader, Node::new(Path::Item(&list.path, i), raw))?;
    }
    let list = field(fields, top, "definitions")?;
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        if let Err(why) = reader.define(&node.string("a term")?) {
            return node.fail(format_args!("a term ({why})"));
        }
    }
    Ok(reader)
}

/// An invariant, from the body of a certificate.
pub(super) fn invariant(cfa: &Cfa, body: Node<'_, '_>) -> Result<Certificate, ReadError> {
    let (fields, top) = (&body.object()?, &body.path);
    let k = field(fields, top, "k")?.integer(1, i64::from(u16::MAX), "how many steps")? as usize;
    let mut reader = terms(cfa, fields, top)?;
    let list = field(fields, top, "invariant")?;
    let mut invariant = Vec::new();
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let fields = node.object()?;
        let number = field(&fields, &node.path, "location")?;
        let l = LocationId(number.index(cfa.locations().len(), "a location")? as u32);
        expect_name(cfa, field(&fields, &node.path, "name")?, l)?;
        let texts = field(&fields, &node.path, "elements")?;
        let mut elements = Vec::new();
        for (j, raw) in texts.array()?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&texts.path, j), raw);
            match reader.condition(&node.string("a term")?) {
                Ok(t) => elements.push(t),
                Err(why) => return node.fail(format_args!("a term ({why})")),
            }
        }
        invariant.push((l, elements));
    }
    Ok(Certificate { terms: reader.terms, k, invariant })
}
