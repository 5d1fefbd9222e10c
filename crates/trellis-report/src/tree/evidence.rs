//! Proofs about hierarchical transition systems as documents, and back. Nodes and states have their names, vectors their numbers.

use serde_json::{Value as Json, json};
use trellis_model::hierarchy::tree::Tree;
use trellis_model::hierarchy::tree::evidence::Certificate;

use crate::reader::{Node, Path, ReadError, field, optional};

/// What is written of a proof.
pub(super) fn document(tree: &Tree, c: &Certificate) -> Json {
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
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
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

/// A proof, from the body of a certificate.
pub(super) fn read(tree: &Tree, top: Node<'_, '_>) -> Result<Certificate, ReadError> {
    let fields = &top.object()?;
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
