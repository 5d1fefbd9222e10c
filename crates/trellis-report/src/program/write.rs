//! Invariants of programs, written: for each location its terms as texts, see [`super::term`].

use std::io;

use serde::Serialize as Derive;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;
use trellis_expr::{TermId, Terms, VarId};
use trellis_model::cfa::evidence::Certificate;
use trellis_model::cfa::{Cfa, Location, LocationId};

use super::exact::place;
use super::full_names;
use super::term::Writer;
use crate::run;

/// An invariant.
pub(super) struct Invariant<'a> {
    cfa: &'a Cfa,
    certificate: &'a Certificate,
    writer: Writer<'a>,
    variables: Vec<(String, String)>,
}

/// What writes terms, and the variables with their types. Some terms have no text; engines do not make them.
#[allow(clippy::type_complexity)]
pub(crate) fn terms<'a>(
    cfa: &Cfa,
    terms: &'a Terms,
    roots: impl Iterator<Item = TermId>,
) -> io::Result<(Writer<'a>, Vec<(String, String)>)> {
    let unwritten = |what: String| io::Error::other(format!("the evidence has {what} in it"));
    let writer = Writer::new(cfa, terms, roots).map_err(unwritten)?;
    let ty = |v: &VarId| writer.ty(cfa.terms.variable(*v).ty);
    let types = cfa.variables.iter().map(ty).collect::<Result<Vec<_>, _>>().map_err(unwritten)?;
    Ok((writer, full_names(cfa).into_iter().zip(types).collect()))
}

/// The variables and the definitions.
pub(crate) fn start_terms<M: SerializeMap>(
    m: &mut M,
    variables: &[(String, String)],
    writer: &Writer<'_>,
) -> Result<(), M::Error> {
    let variable = |(name, ty): &(String, String)| json!({ "name": name, "type": ty });
    m.serialize_entry("variables", &variables.iter().map(variable).collect::<Vec<_>>())?;
    m.serialize_entry("definitions", &writer.definitions)
}

impl<'a> Invariant<'a> {
    pub fn new(cfa: &'a Cfa, c: &'a Certificate) -> io::Result<Invariant<'a>> {
        let roots = c.invariant.iter().flat_map(|(_, e)| e.iter().copied());
        let (writer, variables) = terms(cfa, &c.terms, roots)?;
        Ok(Invariant { cfa, certificate: c, writer, variables })
    }

    fn row(&self, l: LocationId, elements: &[TermId]) -> Row<'_> {
        let Location { name, place: at, .. } = self.cfa.location(l);
        let elements = elements.iter().map(|&e| self.writer.text(e)).collect();
        Row { location: l.0, name, place: at.map(|at| place(self.cfa, at)), elements }
    }
}

#[derive(Derive)]
struct Row<'a> {
    location: u32,
    name: &'a str,
    place: Option<run::Place>,
    elements: Vec<&'a str>,
}

impl Serialize for Invariant<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("k", &self.certificate.k)?;
        start_terms(&mut m, &self.variables, &self.writer)?;
        let rows: Vec<Row<'_>> = self.certificate.invariant.iter().map(|(l, e)| self.row(*l, e)).collect();
        m.serialize_entry("invariant", &rows)?;
        m.end()
    }
}
