//! Invariants of counter systems as documents, and back. Variables have their names.

use rustc_hash::FxHashMap;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};
use trellis_model::counter::evidence::{Bound, Certificate};
use trellis_model::counter::{OMEGA, System, Var, Vector};

use super::bound as bound_text;
use crate::reader::{Node, Path, ReadError, field, optional};

/// In a certificate: more than any number.
const UNLIMITED: &str = "unlimited";

/// Numbers by name.
struct Numbers<'a>(&'a System, &'a Vector);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let number = |n| if n == OMEGA { Json::from(UNLIMITED) } else { Json::from(n) };
        s.collect_map(self.1.iter().map(|(v, n)| (&self.0.names[v as usize], number(n))))
    }
}

/// An invariant.
pub(super) struct Basis<'a>(pub &'a System, pub &'a Certificate);

struct All<'a>(&'a System, &'a [Vector]);

impl Serialize for All<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.1.iter().map(|v| Numbers(self.0, v)))
    }
}

impl Serialize for Basis<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Basis(system, certificate) = *self;
        let mut m = s.serialize_map(None)?;
        match certificate {
            Certificate::Above { bounds, basis } => {
                let name = |v: &Var| system.names[*v as usize].clone();
                let one = |b: &Bound| {
                    let weights: serde_json::Map<String, Json> =
                        b.weights.iter().map(|(v, k)| (name(v), Json::from(*k))).collect();
                    let trap = |(factor, trap): &(i64, Vec<Var>)| json!({ "factor": factor, "variables": trap.iter().map(name).collect::<Vec<_>>() });
                    let traps: Vec<Json> = b.traps.iter().map(trap).collect();
                    json!({ "says": bound_text(system, b), "weights": weights, "traps": traps })
                };
                m.serialize_entry("bounds", &bounds.iter().map(one).collect::<Vec<_>>())?;
                m.serialize_entry("never", &All(system, basis))?;
            }
            Certificate::Below(tops) => m.serialize_entry("within", &All(system, tops))?,
            Certificate::Exact { fixed, tops } => {
                let names: Vec<&String> = fixed.iter().map(|v| &system.names[*v as usize]).collect();
                m.serialize_entry("exactly", &names)?;
                m.serialize_entry("within", &All(system, tops))?;
            }
        }
        m.end()
    }
}

/// An invariant, from the body of a certificate.
pub(super) fn read(system: &System, body: Node<'_, '_>) -> Result<Certificate, ReadError> {
    let names = system.names.iter().enumerate().map(|(v, name)| (name.as_str(), v as Var)).collect();
    Reader { system, names }.certificate(body)
}

struct Reader<'s> {
    system: &'s System,
    names: FxHashMap<&'s str, Var>,
}

impl Reader<'_> {
    fn certificate(&self, body: Node<'_, '_>) -> Result<Certificate, ReadError> {
        let (fields, top) = (&body.object()?, &body.path);
        if let Some(within) = optional(fields, top, "within") {
            let forms = ["bounds", "never"].iter().find(|name| fields.contains_key(**name));
            if forms.is_some() {
                return within.fail("one kind of invariant, not two");
            }
            let tops = self.vectors(within)?;
            let Some(list) = optional(fields, top, "exactly") else { return Ok(Certificate::Below(tops)) };
            let mut fixed = self.variables(&list)?;
            fixed.sort_unstable();
            fixed.dedup();
            return Ok(Certificate::Exact { fixed, tops });
        }
        let list = field(fields, top, "bounds")?;
        let mut bounds = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            bounds.push(self.bound(Node::new(Path::Item(&list.path, i), raw))?);
        }
        let basis = self.vectors(field(fields, top, "never")?)?;
        Ok(Certificate::Above { bounds, basis })
    }

    fn variable(&self, node: &Node<'_, '_>, name: &str) -> Result<Var, ReadError> {
        match self.names.get(name) {
            Some(v) => Ok(*v),
            None => node.fail(format_args!("variables of the system, and `{name}` is none")),
        }
    }

    fn vectors(&self, list: Node<'_, '_>) -> Result<Vec<Vector>, ReadError> {
        let items = list.array()?.into_iter().enumerate();
        items.map(|(i, raw)| self.vector(Node::new(Path::Item(&list.path, i), raw))).collect()
    }

    fn vector(&self, node: Node<'_, '_>) -> Result<Vector, ReadError> {
        let mut entries = vec![];
        for (name, raw) in node.object()? {
            let value = Node::new(Path::Field(&node.path, &name), raw);
            let n = match value.string("") {
                Ok(word) if word == UNLIMITED => OMEGA,
                _ => value.integer(0, i64::MAX, "a number that is not negative")? as u64,
            };
            entries.push((self.variable(&node, &name)?, n));
        }
        Ok(Vector::new(entries))
    }

    fn bound(&self, node: Node<'_, '_>) -> Result<Bound, ReadError> {
        let fields = node.object()?;
        let list = field(&fields, &node.path, "weights")?;
        let mut weights = vec![];
        for (name, raw) in list.object()? {
            let value = Node::new(Path::Field(&list.path, &name), raw);
            weights.push((self.variable(&list, &name)?, value.integer(-i64::MAX, i64::MAX, "a whole number")?));
        }
        weights.sort_unstable();
        let list = field(&fields, &node.path, "traps")?;
        let mut traps = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let trap = Node::new(Path::Item(&list.path, i), raw);
            let fields = trap.object()?;
            let factor = field(&fields, &trap.path, "factor")?.integer(1, i64::MAX, "a positive number")?;
            traps.push((factor, self.variables(&field(&fields, &trap.path, "variables")?)?));
        }
        let bound = Bound { weights, traps };
        field(&fields, &node.path, "says")?.must_be(&bound_text(self.system, &bound).into())?;
        Ok(bound)
    }

    fn variables(&self, list: &Node<'_, '_>) -> Result<Vec<Var>, ReadError> {
        let mut all = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let name = Node::new(Path::Item(&list.path, i), raw);
            all.push(self.variable(&name, &name.string("the name of a variable")?)?);
        }
        Ok(all)
    }
}
