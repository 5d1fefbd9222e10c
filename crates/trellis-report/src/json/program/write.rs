//! The documents, written.

use std::io;

use serde::Serialize as Derive;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value as Json, json};
use trellis_expr::eval::Valuation;
use trellis_expr::{TermId, Terms, Value, VarId};
use trellis_model::cfa::evidence::{Certificate, Trace};
use trellis_model::cfa::interpret::{Choice, Step};
use trellis_model::cfa::{Cfa, Location, LocationId, Place};

use super::{PROGRAM_CERTIFICATE, PROGRAM_TRACE};
use crate::json::Header;
use crate::json::binding::start;
use crate::json::write::report_head;
use crate::program::term::Writer;
use crate::program::{ProgramReport, full_names, picked};

/// A report.
pub(super) struct ReportDoc<'a> {
    pub cfa: &'a Cfa,
    pub report: &'a ProgramReport,
    pub certificate: Option<CertificateDoc<'a>>,
}

impl Serialize for ReportDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let r = self.report;
        let mut m = s.serialize_map(None)?;
        report_head(&mut m, r)?;
        let doc = |trace| TraceDoc { cfa: self.cfa, header: r.header(), trace };
        m.serialize_entry("trace", &r.trace.as_ref().map(doc))?;
        match &self.certificate {
            Some(c) => m.serialize_entry("certificate", c)?,
            None => {
                let count = |c: &Certificate| {
                    let elements: usize = c.invariant.iter().map(|(_, e)| e.len()).sum();
                    json!({ "locations": c.invariant.len(), "elements": elements, "k": c.k })
                };
                m.serialize_entry("certificate", &r.certificate.as_ref().map(count))?;
            }
        }
        m.serialize_entry("inconclusive", &Json::Null)?;
        m.end()
    }
}

/// A value: words and integers that other readers might spoil are texts.
fn value(terms: &Terms, v: &Value) -> Json {
    match v {
        Value::Bool(b) => Json::from(*b),
        Value::Enum(e, n) => {
            let literals = &terms.enumeration(*e).literals;
            literals.get(*n as usize).map_or(Json::Null, |l| Json::from(l.as_str()))
        }
        Value::Array(a) => {
            let entries = a.entries().map(|(i, v)| (i.to_string(), value(terms, v)));
            json!({ "entries": entries.collect::<serde_json::Map<_, _>>(), "default": value(terms, a.default()) })
        }
        Value::Int(_) | Value::Bits { .. } => {
            let n = v.number();
            match i64::try_from(&n) {
                Ok(n) => Json::from(n),
                Err(_) => Json::from(n.to_string()),
            }
        }
    }
}

/// The place of something, for people; without the folder, which is another elsewhere.
pub(in crate::json) fn place(cfa: &Cfa, place: Option<Place>) -> Option<String> {
    let shown = place.map(|p| cfa.show_place(p))?;
    Some(shown.rsplit(['/', '\\']).next().unwrap_or(&shown).to_string())
}

/// A run.
pub(super) struct TraceDoc<'a> {
    pub cfa: &'a Cfa,
    pub header: Header<'a>,
    pub trace: &'a Trace,
}

/// Values by name: all, or those that are not as before.
pub(in crate::json) struct Values<'a>(pub &'a Cfa, pub &'a [String], pub &'a Valuation, pub Option<&'a Valuation>);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Values(cfa, names, now, before) = *self;
        let known = cfa.variables.iter().zip(names).filter_map(|(v, name)| now.get(v).map(|x| (v, name, x)));
        let changed = known.filter(|(v, _, x)| before.is_none_or(|b| b.get(v) != Some(*x)));
        s.collect_map(changed.map(|(_, name, x)| (name, value(&cfa.terms, x))))
    }
}

impl Serialize for TraceDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let TraceDoc { cfa, header, trace } = *self;
        let names = full_names(cfa);
        let mut m = s.serialize_map(None)?;
        start(&mut m, PROGRAM_TRACE, header)?;
        m.serialize_entry("start", &Values(cfa, &names, &trace.start, None))?;
        m.serialize_entry("steps", &Steps { cfa, names: &names, trace })?;
        m.end()
    }
}

struct Steps<'a> {
    cfa: &'a Cfa,
    names: &'a [String],
    trace: &'a Trace,
}

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut seq = s.serialize_seq(Some(self.trace.steps.len()))?;
        let mut before = &self.trace.start;
        for step in &self.trace.steps {
            seq.serialize_element(&StepView { cfa: self.cfa, names: self.names, before, step })?;
            before = &step.after;
        }
        seq.end()
    }
}

/// One step, and the values before it.
pub(in crate::json) struct StepView<'a> {
    pub cfa: &'a Cfa,
    pub names: &'a [String],
    pub before: &'a Valuation,
    pub step: &'a Step,
}

impl Serialize for StepView<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let StepView { cfa, names, step, .. } = *self;
        let edge = cfa.edge(step.edge);
        let mut variables = picked(cfa, self.before, step).into_iter().map(|(v, _)| v);
        let position = |v: VarId| cfa.variables.iter().position(|x| *x == v);
        let pick = |p: &Choice| match p {
            Choice::Value(v) => {
                let name = variables.next().and_then(position).map(|i| &names[i]);
                json!({ "variable": name, "value": value(&cfa.terms, v) })
            }
            Choice::Branch(n) => json!({ "branch": n }),
        };
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("edge", &step.edge.0)?;
        m.serialize_entry("from", &cfa.location(edge.from).name)?;
        m.serialize_entry("to", &cfa.location(edge.to).name)?;
        m.serialize_entry("place", &place(cfa, edge.place))?;
        m.serialize_entry("statement", &crate::tell::cut(&cfa.terms.show_stmt(edge.stmt)))?;
        m.serialize_entry("choices", &step.choices.iter().map(pick).collect::<Vec<_>>())?;
        m.serialize_entry("set", &Values(cfa, names, &step.after, Some(self.before)))?;
        m.end()
    }
}

/// An invariant.
pub(super) struct CertificateDoc<'a> {
    cfa: &'a Cfa,
    header: Header<'a>,
    certificate: &'a Certificate,
    writer: Writer<'a>,
    variables: Vec<(String, String)>,
}

/// What writes terms, and the variables with their types. Some terms have no text; engines do not make them.
#[allow(clippy::type_complexity)]
pub(in crate::json) fn terms<'a>(
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
pub(in crate::json) fn start_terms<M: SerializeMap>(
    m: &mut M,
    variables: &[(String, String)],
    writer: &Writer<'_>,
) -> Result<(), M::Error> {
    let variable = |(name, ty): &(String, String)| json!({ "name": name, "type": ty });
    m.serialize_entry("variables", &variables.iter().map(variable).collect::<Vec<_>>())?;
    m.serialize_entry("definitions", &writer.definitions)
}

impl<'a> CertificateDoc<'a> {
    pub fn new(cfa: &'a Cfa, header: Header<'a>, c: &'a Certificate) -> io::Result<CertificateDoc<'a>> {
        let roots = c.invariant.iter().flat_map(|(_, e)| e.iter().copied());
        let (writer, variables) = terms(cfa, &c.terms, roots)?;
        Ok(CertificateDoc { cfa, header, certificate: c, writer, variables })
    }

    fn row(&self, l: LocationId, elements: &[TermId]) -> Row<'_> {
        let Location { name, place: at, .. } = self.cfa.location(l);
        let elements = elements.iter().map(|&e| self.writer.text(e)).collect();
        Row { location: l.0, name, place: place(self.cfa, *at), elements }
    }
}

#[derive(Derive)]
struct Row<'a> {
    location: u32,
    name: &'a str,
    place: Option<String>,
    elements: Vec<&'a str>,
}

impl Serialize for CertificateDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        start(&mut m, PROGRAM_CERTIFICATE, self.header)?;
        m.serialize_entry("k", &self.certificate.k)?;
        start_terms(&mut m, &self.variables, &self.writer)?;
        let rows: Vec<Row<'_>> = self.certificate.invariant.iter().map(|(l, e)| self.row(*l, e)).collect();
        m.serialize_entry("invariant", &rows)?;
        m.end()
    }
}
