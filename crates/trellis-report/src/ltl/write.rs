//! Proofs and recurrent sets, written.

use std::io;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};
use trellis_expr::VarId;
use trellis_model::cfa::LocationId;
use trellis_model::ltl::evidence::{Proof, Recurrence};
use trellis_model::ltl::product::{Product, product};
use trellis_model::ltl::{Buchi, Cube};

use super::LtlAsked;
use crate::program::term::Writer;
use crate::program::write::{start_terms, terms};

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

/// A recurrent set.
pub(super) struct RecurrenceDoc<'a> {
    names: &'a [String],
    told: &'a Recurrence,
    product: Product,
    writer: Writer<'a>,
    variables: Vec<(String, String)>,
}

impl<'a> RecurrenceDoc<'a> {
    pub fn new(asked: LtlAsked<'a>, told: &'a Recurrence) -> io::Result<RecurrenceDoc<'a>> {
        let product = multiplied(asked, &told.automaton)?;
        let roots = told.choices.values().copied().chain([told.set]);
        let (writer, variables) = terms(&product.cfa, &told.terms, roots)?;
        Ok(RecurrenceDoc { names: asked.names, told, product, writer, variables })
    }
}

impl Serialize for RecurrenceDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let RecurrenceDoc { told, product, writer, variables, .. } = self;
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("atoms", self.names)?;
        m.serialize_entry("automaton", &buchi(&told.automaton))?;
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
pub(super) struct ProofDoc<'a> {
    asked: LtlAsked<'a>,
    proof: &'a Proof,
    product: Product,
    writer: Writer<'a>,
    variables: Vec<(String, String)>,
}

impl<'a> ProofDoc<'a> {
    pub fn new(asked: LtlAsked<'a>, proof: &'a Proof) -> io::Result<ProofDoc<'a>> {
        let product = multiplied(asked, &proof.automaton)?;
        let rankings = proof.rankings.iter().flatten().copied().flatten();
        let roots = proof.nodes.iter().map(|n| n.1).chain(rankings);
        let (writer, variables) = terms(&product.cfa, &proof.terms, roots)?;
        Ok(ProofDoc { asked, proof, product, writer, variables })
    }
}

impl Serialize for ProofDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let ProofDoc { proof, product, writer, variables, .. } = self;
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("atoms", self.asked.names)?;
        m.serialize_entry("automaton", &buchi(&proof.automaton))?;
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
