//! The documents, written.

use std::io;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value as Json, json};
use trellis_expr::VarId;
use trellis_model::cfa::LocationId;
use trellis_model::cfa::interpret::Step as PlainStep;
use trellis_model::ltl::evidence::{Proof, Recurrence, Run};
use trellis_model::ltl::product::{Product, product};
use trellis_model::ltl::{Buchi, Cube};

use super::{LTL_CERTIFICATE, LTL_TRACE, LtlAsked};
use crate::json::Header;
use crate::json::binding::start;
use crate::json::program::write::{StepView, Values, start_terms, terms};
use crate::json::write::report_head;
use crate::ltl::{Counterexample, LtlReport};
use crate::program::full_names;
use crate::program::term::Writer;

/// A report.
pub(super) struct ReportDoc<'a> {
    pub report: &'a LtlReport,
    pub trace: Option<TraceDoc<'a>>,
    pub certificate: Option<CertificateDoc<'a>>,
}

impl Serialize for ReportDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        report_head(&mut m, self.report)?;
        m.serialize_entry("trace", &self.trace)?;
        match &self.certificate {
            Some(c) => m.serialize_entry("certificate", c)?,
            None => {
                let count =
                    |p: &Proof| json!({ "nodes": p.nodes.len(), "edges": p.edges.len(), "rankings": p.rankings.len() });
                m.serialize_entry("certificate", &self.report.certificate.as_ref().map(count))?;
            }
        }
        m.serialize_entry("inconclusive", &Json::Null)?;
        m.end()
    }
}

/// What both kinds of evidence say first.
fn head<M: SerializeMap>(
    m: &mut M,
    schema: &'static str,
    header: Header<'_>,
    asked: LtlAsked<'_>,
    automaton: Option<&Buchi>,
) -> Result<(), M::Error> {
    start(m, schema, header)?;
    m.serialize_entry("specification", if asked.forbidden.is_some() { "buchi" } else { "ltl" })?;
    m.serialize_entry("step", &asked.step)?;
    m.serialize_entry("atoms", asked.names)?;
    m.serialize_entry("automaton", &automaton.map(buchi))
}

fn bits(word: u64) -> Vec<u32> {
    (0..64).filter(|i| word >> i & 1 == 1).collect()
}

fn buchi(a: &Buchi) -> Json {
    let mut edges = vec![];
    for (from, out) in a.edges.iter().enumerate() {
        for e in out {
            let Cube { positive, negative } = e.cube;
            edges.push(json!({
                "from": from, "to": e.to, "if": bits(positive), "unless": bits(negative), "marks": bits(e.marks)
            }));
        }
    }
    json!({ "states": a.edges.len(), "initial": a.initial, "marks": a.marks, "edges": edges })
}

/// The product that evidence speaks of.
fn multiplied(asked: LtlAsked<'_>, automaton: &Buchi) -> io::Result<Product> {
    product(asked.subject, asked.atoms, automaton).map_err(|e| io::Error::other(e.to_string()))
}

/// A location of the product: where the model is, and the state of the automaton (their number, before it has read anything).
fn location(product: &Product, l: LocationId) -> Json {
    let state = product.places.get(l.index()).map(|p| p.1);
    json!({ "location": l.0, "name": product.cfa.location(l).name, "state": state })
}

/// A run.
pub(super) struct TraceDoc<'a> {
    asked: LtlAsked<'a>,
    header: Header<'a>,
    run: &'a Run,
    back: Option<usize>,
    recurrence: Option<RecurrenceDoc<'a>>,
}

impl<'a> TraceDoc<'a> {
    pub fn new(asked: LtlAsked<'a>, header: Header<'a>, trace: &'a Counterexample) -> io::Result<TraceDoc<'a>> {
        Ok(match trace {
            Counterexample::Lasso(lasso) => {
                TraceDoc { asked, header, run: &lasso.run, back: Some(lasso.back), recurrence: None }
            }
            Counterexample::Recurrence(r) => {
                let recurrence = Some(RecurrenceDoc::new(asked, r)?);
                TraceDoc { asked, header, run: &r.stem, back: None, recurrence }
            }
        })
    }
}

impl Serialize for TraceDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let names = full_names(&self.asked.subject.cfa);
        let automaton = self.recurrence.as_ref().map(|r| &r.told.automaton).or(self.asked.forbidden);
        let mut m = s.serialize_map(None)?;
        head(&mut m, LTL_TRACE, self.header, self.asked, automaton)?;
        m.serialize_entry("start", &Values(&self.asked.subject.cfa, &names, &self.run.start, None))?;
        m.serialize_entry("steps", &Steps { doc: self, names: &names })?;
        m.serialize_entry("back", &self.back)?;
        m.serialize_entry("recurrence", &self.recurrence)?;
        m.end()
    }
}

struct Steps<'a> {
    doc: &'a TraceDoc<'a>,
    names: &'a [String],
}

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let (cfa, run) = (&self.doc.asked.subject.cfa, self.doc.run);
        let mut seq = s.serialize_seq(Some(run.steps.len()))?;
        let mut before = &run.start;
        for step in &run.steps {
            match step.edge {
                Some(edge) => {
                    let step = PlainStep { edge, choices: step.choices.clone(), after: step.after.clone() };
                    seq.serialize_element(&StepView { cfa, names: self.names, before, step: &step })?;
                }
                None => seq.serialize_element(&json!({ "edge": null }))?,
            }
            before = &step.after;
        }
        seq.end()
    }
}

/// A recurrent set.
struct RecurrenceDoc<'a> {
    told: &'a Recurrence,
    product: Product,
    writer: Writer<'a>,
    variables: Vec<(String, String)>,
}

impl<'a> RecurrenceDoc<'a> {
    fn new(asked: LtlAsked<'a>, told: &'a Recurrence) -> io::Result<RecurrenceDoc<'a>> {
        let product = multiplied(asked, &told.automaton)?;
        let roots = told.choices.values().copied().chain([told.set]);
        let (writer, variables) = terms(&product.cfa, &told.terms, roots)?;
        Ok(RecurrenceDoc { told, product, writer, variables })
    }
}

impl Serialize for RecurrenceDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let RecurrenceDoc { told, product, writer, variables } = self;
        let mut m = s.serialize_map(None)?;
        start_terms(&mut m, variables, writer)?;
        let round = |r: &Vec<LocationId>| r.iter().map(|&l| location(product, l)).collect::<Vec<_>>();
        m.serialize_entry("rounds", &told.rounds.iter().map(round).collect::<Vec<_>>())?;
        let position = |v: &VarId| product.cfa.variables.iter().position(|x| x == v);
        let choices: Option<Vec<Json>> = told
            .choices
            .iter()
            .map(|(v, t)| Some(json!({ "variable": variables[position(v)?].0, "value": writer.text(*t) })))
            .collect();
        let choices = choices.ok_or_else(|| serde::ser::Error::custom("a value is picked for what is no variable"))?;
        m.serialize_entry("choices", &choices)?;
        m.serialize_entry("set", writer.text(told.set))?;
        m.end()
    }
}

/// A proof.
pub(super) struct CertificateDoc<'a> {
    asked: LtlAsked<'a>,
    header: Header<'a>,
    proof: &'a Proof,
    product: Product,
    writer: Writer<'a>,
    variables: Vec<(String, String)>,
}

impl<'a> CertificateDoc<'a> {
    pub fn new(asked: LtlAsked<'a>, header: Header<'a>, proof: &'a Proof) -> io::Result<CertificateDoc<'a>> {
        let product = multiplied(asked, &proof.automaton)?;
        let rankings = proof.rankings.iter().flatten().copied().flatten();
        let roots = proof.nodes.iter().map(|n| n.1).chain(rankings);
        let (writer, variables) = terms(&product.cfa, &proof.terms, roots)?;
        Ok(CertificateDoc { asked, header, proof, product, writer, variables })
    }
}

impl Serialize for CertificateDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let CertificateDoc { proof, product, writer, variables, .. } = self;
        let mut m = s.serialize_map(None)?;
        head(&mut m, LTL_CERTIFICATE, self.header, self.asked, Some(&proof.automaton))?;
        start_terms(&mut m, variables, writer)?;
        let node = |&(l, t): &(LocationId, _)| {
            let mut row = location(product, l);
            row["holds"] = Json::from(writer.text(t));
            row
        };
        m.serialize_entry("nodes", &proof.nodes.iter().map(node).collect::<Vec<_>>())?;
        m.serialize_entry("edges", &proof.edges)?;
        let ranking = |r: &Vec<Option<_>>| r.iter().map(|t| t.map(|t| writer.text(t))).collect::<Vec<_>>();
        m.serialize_entry("rankings", &proof.rankings.iter().map(ranking).collect::<Vec<_>>())?;
        m.end()
    }
}
