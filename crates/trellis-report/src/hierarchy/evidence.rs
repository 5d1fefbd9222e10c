//! Sets of configurations of AltaRica's nodes as documents, and back: a list of tests of variables, so that no reader need know an order.
//! Variables and literals have their names.

use rustc_hash::FxHashMap;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value as Json, json};
use trellis_domain::relation::{Branch, Decisions, Test};
use trellis_expr::VarId;
use trellis_model::hierarchy::{Domain, Hierarchy};

use crate::reader::{Node, Path, ReadError, field};

pub(super) fn value(hierarchy: &Hierarchy, v: VarId, n: i64) -> Json {
    match hierarchy.variable(v).domain {
        Domain::Bool => Json::from(n != 0),
        Domain::Literals(_) => Json::from(hierarchy.show_value(v, n)),
        _ => Json::from(n),
    }
}

/// A set of configurations.
pub(super) struct Set<'a>(pub &'a Hierarchy, pub &'a Decisions);

fn branch(b: Branch) -> Json {
    match b {
        Branch::Out => Json::from(false),
        Branch::In => Json::from(true),
        Branch::Test(n) => Json::from(n),
    }
}

struct Tests<'a>(&'a Hierarchy, &'a [Test]);

impl Serialize for Tests<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Tests(h, tests) = *self;
        let mut seq = s.serialize_seq(Some(tests.len()))?;
        for test in tests {
            let v = VarId(test.variable as u32);
            let one = |(values, b): &(Vec<i64>, Branch)| json!({ "values": values.iter().map(|&n| value(h, v, n)).collect::<Vec<_>>(), "then": branch(*b) });
            let branches: Vec<Json> = test.branches.iter().map(one).collect();
            seq.serialize_element(&json!({ "variable": h.variable(v).name, "branches": branches }))?;
        }
        seq.end()
    }
}

impl Serialize for Set<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        m.serialize_entry("first", &branch(self.1.root))?;
        m.serialize_entry("tests", &Tests(self.0, &self.1.tests))?;
        m.end()
    }
}

/// A set of configurations, from the body of a certificate.
pub(super) fn read(hierarchy: &Hierarchy, body: Node<'_, '_>) -> Result<Decisions, ReadError> {
    let names = hierarchy.variables.iter().enumerate().map(|(n, v)| (v.name.as_str(), VarId(n as u32))).collect();
    Reader { hierarchy, names, literals: literals(hierarchy) }.states(body)
}

/// The numbers of literals.
pub(super) fn literals(hierarchy: &Hierarchy) -> FxHashMap<&str, i64> {
    let all = hierarchy.terms.enumeration(hierarchy.literals).literals.iter().enumerate();
    all.map(|(n, name)| (name.as_str(), n as i64)).collect()
}

struct Reader<'s> {
    hierarchy: &'s Hierarchy,
    names: FxHashMap<&'s str, VarId>,
    literals: FxHashMap<&'s str, i64>,
}

impl Reader<'_> {
    fn variable(&self, node: &Node<'_, '_>, name: &str) -> Result<VarId, ReadError> {
        match self.names.get(name) {
            Some(v) => Ok(*v),
            None => node.fail(format_args!("variables of the model, and `{name}` is none")),
        }
    }

    fn value(&self, v: VarId, node: &Node<'_, '_>) -> Result<i64, ReadError> {
        let domain = &self.hierarchy.variable(v).domain;
        let n = match domain {
            Domain::Bool => i64::from(node.boolean()?),
            Domain::Literals(_) => {
                let name = node.string("a literal")?;
                self.literals.get(&*name).copied().map_or_else(|| node.fail("a literal"), Ok)?
            }
            _ => node.integer(i64::MIN, i64::MAX, "a value")?,
        };
        if domain.contains(n) { Ok(n) } else { node.fail("a value of its variable") }
    }

    fn branch(&self, node: &Node<'_, '_>, before: usize) -> Result<Branch, ReadError> {
        match node.boolean() {
            Ok(true) => Ok(Branch::In),
            Ok(false) => Ok(Branch::Out),
            Err(_) => node.index(before, "true, false, or an earlier test").map(Branch::Test),
        }
    }

    fn states(&self, body: Node<'_, '_>) -> Result<Decisions, ReadError> {
        let (fields, top) = (&body.object()?, &body.path);
        let list = field(fields, top, "tests")?;
        let mut tests = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&list.path, i), raw);
            let test = node.object()?;
            let name = field(&test, &node.path, "variable")?;
            let v = self.variable(&name, &name.string("the name of a variable")?)?;
            if self.hierarchy.variable(v).flow {
                return name.fail("a state variable");
            }
            let several = field(&test, &node.path, "branches")?;
            let mut branches = vec![];
            for (j, raw) in several.array()?.into_iter().enumerate() {
                let one = Node::new(Path::Item(&several.path, j), raw);
                let parts = one.object()?;
                let listed = field(&parts, &one.path, "values")?;
                let mut values = vec![];
                for (k, raw) in listed.array()?.into_iter().enumerate() {
                    values.push(self.value(v, &Node::new(Path::Item(&listed.path, k), raw))?);
                }
                branches.push((values, self.branch(&field(&parts, &one.path, "then")?, i)?));
            }
            tests.push(Test { variable: v.index(), branches });
        }
        let root = self.branch(&field(fields, top, "first")?, tests.len())?;
        Ok(Decisions { tests, root })
    }
}
