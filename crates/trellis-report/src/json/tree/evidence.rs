//! Reports and evidence about hierarchical transition systems as JSON, and evidence back.

use std::io;

use serde_json::{Value as Json, json};
use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::evidence::{Certificate, Trace};

use crate::json::binding::{other, start};
use crate::json::node::{Fields, Node, Path, ReadError, field, optional};
use crate::json::write::report_head;
use crate::json::{Header, REPORT};
use crate::tree::TreeReport;

/// The `schema` of runs of hierarchical transition systems.
pub const TREE_TRACE: &str = "trellis-tree-trace/2";
/// The `schema` of proofs about hierarchical transition systems.
pub const TREE_CERTIFICATE: &str = "trellis-tree-certificate/2";

/// A document with a head and some fields.
struct Doc<'a> {
    schema: &'static str,
    header: Header<'a>,
    fields: Vec<(&'static str, Json)>,
}

impl serde::Serialize for Doc<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut m = s.serialize_map(None)?;
        start(&mut m, self.schema, self.header)?;
        for (name, value) in &self.fields {
            m.serialize_entry(name, value)?;
        }
        m.end()
    }
}

struct ReportDoc<'a> {
    tree: &'a Tree,
    report: &'a TreeReport,
}

impl serde::Serialize for ReportDoc<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut m = s.serialize_map(None)?;
        report_head(&mut m, self.report)?;
        m.serialize_entry("trace", &self.report.trace.as_ref().map(|t| run(self.tree, self.report.header(), t)))?;
        let size = |c: &Certificate| {
            let blocks: u64 = c.blocks.iter().map(|of| of.iter().max().map_or(0, |m| u64::from(*m) + 1)).sum();
            json!({ "tuples": c.tuples.len(), "blocks": blocks })
        };
        m.serialize_entry("certificate", &self.report.certificate.as_ref().map(size))?;
        m.serialize_entry("inconclusive", &Json::Null)?;
        m.end()
    }
}

/// Writes a report as one line, without the newline. The run is part of it; of the proof it says how large it is.
pub fn write_tree_report(out: impl io::Write, tree: &Tree, report: &TreeReport) -> io::Result<()> {
    Ok(serde_json::to_writer(out, &ReportDoc { tree, report })?)
}

/// Writes a run as a document of its own.
pub fn write_tree_trace(out: impl io::Write, tree: &Tree, header: Header<'_>, trace: &Trace) -> io::Result<()> {
    Ok(serde_json::to_writer_pretty(out, &run(tree, header, trace))?)
}

/// Writes a proof as a document of its own.
pub fn write_tree_certificate(out: impl io::Write, tree: &Tree, header: Header<'_>, c: &Certificate) -> io::Result<()> {
    let cover = |(node, of): (&trellis_model::hierarchy::tree::Node, &Vec<u32>)| {
        let count = of.iter().max().map_or(0, |m| *m as usize + 1);
        let mut blocks: Vec<Vec<&str>> = vec![vec![]; count];
        of.iter().enumerate().for_each(|(q, &b)| blocks[b as usize].push(&node.behaviour.states[q]));
        json!({ "node": node.name, "blocks": blocks })
    };
    let covers: Vec<Json> = tree.nodes().iter().zip(&c.blocks).map(cover).collect();
    let mut fields = vec![("covers", Json::Array(covers)), ("tuples", json!(c.tuples))];
    if !c.traps.is_empty() {
        fields.push(("traps", json!(c.traps)));
    }
    if !c.symmetric.is_empty() {
        let names = |group: &Vec<usize>| group.iter().map(|&n| tree.nodes()[n].name.as_str()).collect::<Vec<&str>>();
        fields.push(("symmetric", json!(c.symmetric.iter().map(names).collect::<Vec<_>>())));
    }
    Ok(serde_json::to_writer_pretty(out, &Doc { schema: TREE_CERTIFICATE, header, fields })?)
}

fn run<'a>(tree: &Tree, header: Header<'a>, trace: &Trace) -> Doc<'a> {
    let state = |of: &[u32], old: Option<&Vec<u32>>| -> Json {
        let differs = |n: &usize| old.is_none_or(|old| old[*n] != of[*n]);
        let nodes = (0..of.len()).filter(differs).map(|n| {
            let node = &tree.nodes()[n];
            (node.name.clone(), Json::from(node.behaviour.states[of[n] as usize].as_str()))
        });
        Json::Object(nodes.collect())
    };
    let step = |(at, vectors): (usize, &Vec<u32>)| {
        let set = state(&trace.states[at + 1], Some(&trace.states[at]));
        json!({ "event": tree.show_step(vectors), "vectors": vectors, "set": set })
    };
    let steps: Vec<Json> = trace.steps.iter().enumerate().map(step).collect();
    let nodes: Vec<&str> = tree.nodes().iter().map(|n| n.name.as_str()).collect();
    let fields = vec![("nodes", json!(nodes)), ("start", state(&trace.states[0], None)), ("steps", Json::Array(steps))];
    Doc { schema: TREE_TRACE, header, fields }
}

/// A run or a proof.
#[derive(Debug, Clone)]
pub enum TreeContent {
    /// A run.
    Trace(Trace),
    /// A proof.
    Certificate(Certificate),
}

/// Reads a run, a proof, or a report that contains a run. Names fit the system; whether it shows anything is for `trellis-check` to say.
pub fn read_tree_evidence(tree: &Tree, text: &str) -> Result<TreeContent, ReadError> {
    document(tree, Node::top(text)?)
}

fn document(tree: &Tree, top: Node<'_, '_>) -> Result<TreeContent, ReadError> {
    let fields = top.object()?;
    let schema = field(&fields, &top.path, "schema")?;
    let what = format!("\"{TREE_TRACE}\", \"{TREE_CERTIFICATE}\" or \"{REPORT}\"");
    let kind = schema.string(&what)?;
    if kind == REPORT && matches!(top.path, Path::Top) {
        return match optional(&fields, &top.path, "trace") {
            Some(trace) => document(tree, trace),
            None => top.fail("a report with a trace (write certificates out with --certificate)"),
        };
    }
    match &*kind {
        TREE_TRACE => read_run(tree, &fields, &top).map(TreeContent::Trace),
        TREE_CERTIFICATE => read_proof(tree, &fields, &top).map(TreeContent::Certificate),
        _ => other(&schema, &kind, &what),
    }
}

/// Changes a state as an object from nodes to states says; how many nodes it names.
fn set(tree: &Tree, node: Node<'_, '_>, state: &mut [u32]) -> Result<usize, ReadError> {
    let fields = node.object()?;
    for (name, raw) in &fields {
        let Some(n) = tree.nodes().iter().position(|n| n.name == **name) else {
            return node.fail(format_args!("names of nodes, and `{name}` is none"));
        };
        let value = Node::new(Path::Field(&node.path, name), raw);
        let text = value.string("the name of a state")?;
        match tree.nodes()[n].behaviour.states.iter().position(|s| *s == text) {
            Some(q) => state[n] = q as u32,
            None => return value.fail("a state of the node"),
        }
    }
    Ok(fields.len())
}

fn read_run(tree: &Tree, fields: &Fields<'_>, top: &Node<'_, '_>) -> Result<Trace, ReadError> {
    let mut state = vec![0; tree.nodes().len()];
    let first = field(fields, &top.path, "start")?;
    if set(tree, first, &mut state)? != state.len() {
        return first.fail("a state for each node");
    }
    let mut trace = Trace { states: vec![state.clone()], steps: vec![] };
    let list = field(fields, &top.path, "steps")?;
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let step = Node::new(Path::Item(&list.path, i), raw);
        let inner = step.object()?;
        trace.steps.push(numbers(
            field(&inner, &step.path, "vectors")?,
            tree.nodes().len(),
            "vectors, one of each node",
        )?);
        set(tree, field(&inner, &step.path, "set")?, &mut state)?;
        trace.states.push(state.clone());
    }
    Ok(trace)
}

fn numbers(node: Node<'_, '_>, n: usize, what: &str) -> Result<Vec<u32>, ReadError> {
    node.array_of(n, what)?;
    some_numbers(node)
}

fn some_numbers(node: Node<'_, '_>) -> Result<Vec<u32>, ReadError> {
    let mut all = vec![];
    for (i, raw) in node.array()?.into_iter().enumerate() {
        all.push(Node::new(Path::Item(&node.path, i), raw).count("a number")?);
    }
    Ok(all)
}

fn read_proof(tree: &Tree, fields: &Fields<'_>, top: &Node<'_, '_>) -> Result<Certificate, ReadError> {
    let nodes = tree.nodes();
    let list = field(fields, &top.path, "covers")?;
    let mut blocks = vec![];
    for (i, raw) in list.array_of(nodes.len(), "covers, one of each node")?.into_iter().enumerate() {
        let cover = Node::new(Path::Item(&list.path, i), raw);
        let inner = cover.object()?;
        let name = field(&inner, &cover.path, "node")?;
        if name.string("the name of a node")? != nodes[i].name {
            return name.fail(format_args!("\"{}\"", nodes[i].name));
        }
        let states = &nodes[i].behaviour.states;
        let mut of: Vec<Option<u32>> = vec![None; states.len()];
        let all = field(&inner, &cover.path, "blocks")?;
        for (b, raw) in all.array()?.into_iter().enumerate() {
            let block = Node::new(Path::Item(&all.path, b), raw);
            for (j, raw) in block.array()?.into_iter().enumerate() {
                let state = Node::new(Path::Item(&block.path, j), raw);
                let text = state.string("the name of a state")?;
                match states.iter().position(|s| *s == text) {
                    Some(q) if of[q].is_none() => of[q] = Some(b as u32),
                    _ => return state.fail("a state of the node that is in no other block"),
                }
            }
        }
        match of.into_iter().collect::<Option<Vec<u32>>>() {
            Some(of) => blocks.push(of),
            None => return all.fail("blocks with all states of the node"),
        }
    }
    let list = field(fields, &top.path, "tuples")?;
    let mut tuples = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let tuple = Node::new(Path::Item(&list.path, i), raw);
        tuples.push(numbers(tuple, nodes.len(), "numbers, one block of each node")?);
    }
    let mut traps = vec![];
    if let Some(list) = optional(fields, &top.path, "traps") {
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let trap = Node::new(Path::Item(&list.path, i), raw);
            let mut sets = vec![];
            for (j, raw) in trap.array_of(nodes.len(), "lists, blocks of each node")?.into_iter().enumerate() {
                sets.push(some_numbers(Node::new(Path::Item(&trap.path, j), raw))?);
            }
            traps.push(sets);
        }
    }
    let mut symmetric = vec![];
    if let Some(list) = optional(fields, &top.path, "symmetric") {
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let group = Node::new(Path::Item(&list.path, i), raw);
            let mut members = vec![];
            for (j, raw) in group.array()?.into_iter().enumerate() {
                let member = Node::new(Path::Item(&group.path, j), raw);
                let name = member.string("the name of a node")?;
                match nodes.iter().position(|n| n.name == name) {
                    Some(n) => members.push(n),
                    None => return member.fail("the name of a node"),
                }
            }
            symmetric.push(members);
        }
    }
    Ok(Certificate { blocks, tuples, traps, symmetric })
}
