//! Reports and evidence about hierarchies of nodes as JSON, and evidence back. Variables and literals have their names; a set of states
//! is a list of tests of variables, so that no reader need know an order.

use std::io;

use rustc_hash::FxHashMap;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value as Json, json};
use trellis_domain::relation::{Branch, Decisions, Test};
use trellis_expr::VarId;
use trellis_model::hierarchy::evidence::Trace;
use trellis_model::hierarchy::{Domain, Hierarchy, Levels};

use super::binding::{other, start};
use super::node::{Fields, Node, Path, ReadError, field, optional};
use super::write::report_head;
use super::{Header, REPORT};
use crate::hierarchy::HierarchyReport;

/// The `schema` of runs of hierarchies.
pub const NODE_TRACE: &str = "trellis-node-trace/2";
/// The `schema` of sets of states of hierarchies.
pub const NODE_CERTIFICATE: &str = "trellis-node-certificate/2";

/// What is asked: which node, and which configurations must not be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeAsked {
    /// The node at the top.
    pub node: String,
    /// The condition, in the model's language.
    pub bad: String,
}

/// A run or a set of states.
#[derive(Debug, Clone)]
pub enum NodeContent {
    /// A run.
    Trace(Trace),
    /// A set of states; variables by number.
    Certificate(Decisions),
}

/// A hierarchy with its flat events.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// The hierarchy.
    pub hierarchy: &'a Hierarchy,
    /// Its flat events.
    pub levels: &'a Levels,
}

/// Writes a report as one line, without the newline. The run is part of it; of the set it says how many tests it has.
pub fn write_node_report(
    out: impl io::Write,
    named: Named<'_>,
    asked: &NodeAsked,
    report: &HierarchyReport,
    tests: Option<usize>,
) -> io::Result<()> {
    Ok(serde_json::to_writer(out, &ReportDoc { named, asked, report, tests })?)
}

/// Writes a run as a document of its own.
pub fn write_node_trace(
    out: impl io::Write,
    named: Named<'_>,
    asked: &NodeAsked,
    header: Header<'_>,
    trace: &Trace,
) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(out, &TraceDoc { named, asked, header, trace })?)
}

/// Writes a set of states as a document of its own; variables are given by number.
pub fn write_node_certificate(
    out: impl io::Write,
    named: Named<'_>,
    asked: &NodeAsked,
    header: Header<'_>,
    states: &Decisions,
) -> io::Result<()> {
    Ok(serde_json::to_writer(out, &CertificateDoc { named, asked, header, states })?)
}

struct ReportDoc<'a> {
    named: Named<'a>,
    asked: &'a NodeAsked,
    report: &'a HierarchyReport,
    tests: Option<usize>,
}

impl Serialize for ReportDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let ReportDoc { named, asked, report, tests } = *self;
        let mut m = s.serialize_map(None)?;
        report_head(&mut m, report)?;
        let doc = |trace| TraceDoc { named, asked, header: report.header(), trace };
        m.serialize_entry("trace", &report.trace.as_ref().map(doc))?;
        m.serialize_entry("certificate", &tests.map(|n| json!({ "tests": n })))?;
        m.serialize_entry("inconclusive", &Json::Null)?;
        m.end()
    }
}

fn value(hierarchy: &Hierarchy, v: VarId, n: i64) -> Json {
    match hierarchy.variable(v).domain {
        Domain::Bool => Json::from(n != 0),
        Domain::Literals(_) => Json::from(hierarchy.show_value(v, n)),
        _ => Json::from(n),
    }
}

fn question<M: SerializeMap>(m: &mut M, asked: &NodeAsked) -> Result<(), M::Error> {
    m.serialize_entry("node", &asked.node)?;
    m.serialize_entry("never", &asked.bad)
}

struct TraceDoc<'a> {
    named: Named<'a>,
    asked: &'a NodeAsked,
    header: Header<'a>,
    trace: &'a Trace,
}

impl Serialize for TraceDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let h = self.named.hierarchy;
        let mut m = s.serialize_map(None)?;
        start(&mut m, NODE_TRACE, self.header)?;
        question(&mut m, self.asked)?;
        let entry = |(n, now): (usize, &i64)| (h.variables[n].name.clone(), value(h, VarId(n as u32), *now));
        let first = self.trace.configurations.first();
        let first: Map<String, Json> = first.into_iter().flatten().enumerate().map(entry).collect();
        m.serialize_entry("start", &first)?;
        let step = |(at, &event): (usize, &usize)| {
            let (before, after) = (&self.trace.configurations[at], &self.trace.configurations[at + 1]);
            let changed = after.iter().enumerate().filter(|(n, now)| before[*n] != **now);
            let set: Map<String, Json> = changed.map(entry).collect();
            json!({ "event": event, "text": self.named.levels.show(h, h.top, event), "set": set })
        };
        m.serialize_entry("steps", &self.trace.events.iter().enumerate().map(step).collect::<Vec<_>>())?;
        m.end()
    }
}

struct CertificateDoc<'a> {
    named: Named<'a>,
    asked: &'a NodeAsked,
    header: Header<'a>,
    states: &'a Decisions,
}

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

impl Serialize for CertificateDoc<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut m = s.serialize_map(None)?;
        start(&mut m, NODE_CERTIFICATE, self.header)?;
        question(&mut m, self.asked)?;
        m.serialize_entry("first", &branch(self.states.root))?;
        m.serialize_entry("tests", &Tests(self.named.hierarchy, &self.states.tests))?;
        m.end()
    }
}

/// Reads a run, a set of states, or a report that contains a run. Names and values fit the hierarchy; whether it shows anything is
/// for `trellis-check` to say.
pub fn read_node_evidence(named: Named<'_>, text: &str) -> Result<NodeContent, ReadError> {
    let h = named.hierarchy;
    let names = h.variables.iter().enumerate().map(|(n, v)| (v.name.as_str(), VarId(n as u32))).collect();
    let literals = h.terms.enumeration(h.literals).literals.iter().enumerate();
    let literals = literals.map(|(n, name)| (name.as_str(), n as i64)).collect();
    Reader { named, names, literals }.document(Node::top(text)?)
}

struct Reader<'s> {
    named: Named<'s>,
    names: FxHashMap<&'s str, VarId>,
    literals: FxHashMap<&'s str, i64>,
}

impl Reader<'_> {
    fn document(&self, top: Node<'_, '_>) -> Result<NodeContent, ReadError> {
        let fields = top.object()?;
        let schema = field(&fields, &top.path, "schema")?;
        let what = format!("\"{NODE_TRACE}\", \"{NODE_CERTIFICATE}\" or \"{REPORT}\"");
        let kind = schema.string(&what)?;
        if kind == REPORT && matches!(top.path, Path::Top) {
            return match optional(&fields, &top.path, "trace") {
                Some(trace) => self.document(trace),
                None => top.fail("a report with a trace (write certificates out with --certificate)"),
            };
        }
        match &*kind {
            NODE_TRACE => self.trace(&fields, &top.path).map(NodeContent::Trace),
            NODE_CERTIFICATE => self.states(&fields, &top.path).map(NodeContent::Certificate),
            _ => other(&schema, &kind, &what),
        }
    }

    fn variable(&self, node: &Node<'_, '_>, name: &str) -> Result<VarId, ReadError> {
        match self.names.get(name) {
            Some(v) => Ok(*v),
            None => node.fail(format_args!("variables of the model, and `{name}` is none")),
        }
    }

    fn value(&self, v: VarId, node: &Node<'_, '_>) -> Result<i64, ReadError> {
        let domain = &self.named.hierarchy.variable(v).domain;
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

    fn set(&self, node: &Node<'_, '_>, values: &mut [Option<i64>]) -> Result<(), ReadError> {
        for (name, raw) in node.object()? {
            let v = self.variable(node, &name)?;
            values[v.index()] = Some(self.value(v, &Node::new(Path::Field(&node.path, &name), raw))?);
        }
        Ok(())
    }

    fn trace(&self, fields: &Fields<'_>, top: &Path<'_>) -> Result<Trace, ReadError> {
        let mut here = vec![None; self.named.hierarchy.variables.len()];
        let first = field(fields, top, "start")?;
        self.set(&first, &mut here)?;
        if here.contains(&None) {
            return first.fail("a value for each variable");
        }
        let values = |here: &[Option<i64>]| here.iter().map(|v| v.unwrap_or(0)).collect::<Vec<i64>>();
        let mut trace = Trace { configurations: vec![values(&here)], events: vec![] };
        let list = field(fields, top, "steps")?;
        let events = self.named.levels.of(self.named.hierarchy.top).len();
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&list.path, i), raw);
            let step = node.object()?;
            trace.events.push(field(&step, &node.path, "event")?.index(events, "a flat event")?);
            self.set(&field(&step, &node.path, "set")?, &mut here)?;
            trace.configurations.push(values(&here));
        }
        Ok(trace)
    }

    fn branch(&self, node: &Node<'_, '_>, before: usize) -> Result<Branch, ReadError> {
        match node.boolean() {
            Ok(true) => Ok(Branch::In),
            Ok(false) => Ok(Branch::Out),
            Err(_) => node.index(before, "true, false, or an earlier test").map(Branch::Test),
        }
    }

    fn states(&self, fields: &Fields<'_>, top: &Path<'_>) -> Result<Decisions, ReadError> {
        let list = field(fields, top, "tests")?;
        let mut tests = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&list.path, i), raw);
            let test = node.object()?;
            let name = field(&test, &node.path, "variable")?;
            let v = self.variable(&name, &name.string("the name of a variable")?)?;
            if self.named.hierarchy.variable(v).flow {
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
