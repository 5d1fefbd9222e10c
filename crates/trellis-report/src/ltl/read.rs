//! Proofs and recurrent sets, read.
//!
//! What is asked is not taken from them: whoever reads them knows the model, its atoms and the automaton of what must not be.

use std::collections::BTreeMap;

use trellis_expr::{TermId, VarId};
use trellis_model::cfa::LocationId;
use trellis_model::ltl::evidence::{Proof, Recurrence, Run};
use trellis_model::ltl::product::{Product, product};
use trellis_model::ltl::{Buchi, Cube, Edge};

use super::LtlAsked;
use crate::program::full_names;
use crate::program::read::{expect_name, terms};
use crate::program::term::Reader;
use crate::reader::{Fields, Node, Path, ReadError, field};

/// A product with so many marks has one to spare for letters.
const MAX_MARKS: i64 = 63;
/// More states are a mistake.
const MAX_STATES: i64 = 1 << 24;

/// A list of bits below `n`.
fn bits(node: Node<'_, '_>, n: usize, what: &str) -> Result<u64, ReadError> {
    let mut word = 0;
    for (i, raw) in node.array()?.into_iter().enumerate() {
        word |= 1 << Node::new(Path::Item(&node.path, i), raw).index(n, what)?;
    }
    Ok(word)
}

fn automaton(node: Node<'_, '_>, atoms: usize) -> Result<Buchi, ReadError> {
    let fields = node.object()?;
    let list = field(&fields, &node.path, "edges")?;
    let rows = list.array()?;
    let states = field(&fields, &node.path, "states")?.integer(0, MAX_STATES, "how many states there are")? as usize;
    let marks = field(&fields, &node.path, "marks")?.integer(0, MAX_MARKS, "how many marks there are")? as usize;
    let mut initial = vec![];
    let starts = field(&fields, &node.path, "initial")?;
    for (i, raw) in starts.array()?.into_iter().enumerate() {
        initial.push(Node::new(Path::Item(&starts.path, i), raw).index(states, "a state")? as u32);
    }
    let mut edges = vec![vec![]; states];
    for (i, raw) in rows.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let fields = node.object()?;
        let state = |name| field(&fields, &node.path, name)?.index(states, "a state");
        let literals = |name| bits(field(&fields, &node.path, name)?, atoms, "an atom");
        let cube = Cube { positive: literals("if")?, negative: literals("unless")? };
        let marks = bits(field(&fields, &node.path, "marks")?, marks, "a mark")?;
        edges[state("from")?].push(Edge { cube, marks, to: state("to")? as u32 });
    }
    Ok(Buchi { initial, marks: marks as u32, edges })
}

/// The automaton that stands there must be that of what must not be.
fn same_automaton<'a>(asked: LtlAsked<'a>, fields: &Fields<'_>, top: &Path<'_>) -> Result<&'a Buchi, ReadError> {
    let node = field(fields, top, "automaton")?;
    match automaton(node, asked.atoms.len())? == *asked.automaton {
        true => Ok(asked.automaton),
        false => node.fail("the automaton of what must not be (was this made by another version?)"),
    }
}

/// The product that evidence speaks of, as it is and in large blocks.
struct World {
    product: Product,
    /// Its arena is the one that evidence grows from.
    large: trellis_model::cfa::Cfa,
}

impl World {
    fn new(asked: LtlAsked<'_>, top: &Path<'_>) -> Result<World, ReadError> {
        let product = product(asked.subject, asked.atoms, asked.automaton).map_err(|why| ReadError::Content {
            path: top.to_string(),
            expected: "evidence about a model that is understood".into(),
            found: why.to_string(),
        })?;
        let large = product.blocks().cfa;
        Ok(World { product, large })
    }

    fn location(&self, fields: &Fields<'_>, path: &Path<'_>) -> Result<LocationId, ReadError> {
        let cfa = &self.product.cfa;
        let number = field(fields, path, "location")?;
        let l = LocationId(number.index(cfa.locations().len(), "a location of the product")? as u32);
        expect_name(cfa, field(fields, path, "name")?, l)?;
        Ok(l)
    }
}

fn term(reader: &mut Reader, node: Node<'_, '_>) -> Result<TermId, ReadError> {
    match reader.read(&node.string("a term")?) {
        Ok(t) => Ok(t),
        Err(why) => node.fail(format_args!("a term ({why})")),
    }
}

pub(super) fn recurrence(stem: Run, asked: LtlAsked<'_>, node: Node<'_, '_>) -> Result<Recurrence, ReadError> {
    let fields = node.object()?;
    let (automaton, world) = (same_automaton(asked, &fields, &node.path)?, World::new(asked, &node.path)?);
    let mut reader = terms(&world.large, &fields, &node.path)?;
    let list = field(&fields, &node.path, "rounds")?;
    let mut rounds = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let round = Node::new(Path::Item(&list.path, i), raw);
        let mut places = vec![];
        for (j, raw) in round.array()?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&round.path, j), raw);
            places.push(world.location(&node.object()?, &node.path)?);
        }
        rounds.push(places);
    }
    let variables: BTreeMap<String, VarId> =
        full_names(&world.large).into_iter().zip(world.large.variables.iter().copied()).collect();
    let list = field(&fields, &node.path, "choices")?;
    let mut choices = BTreeMap::new();
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let fields = node.object()?;
        let name = field(&fields, &node.path, "variable")?;
        let Some(&v) = variables.get(&*name.string("the name of a variable")?) else {
            return name.fail("a variable of this model");
        };
        choices.insert(v, term(&mut reader, field(&fields, &node.path, "value")?)?);
    }
    let set = term(&mut reader, field(&fields, &node.path, "set")?)?;
    Ok(Recurrence { automaton: automaton.clone(), terms: reader.terms, stem, rounds, choices, set })
}

pub(super) fn proof(asked: LtlAsked<'_>, body: Node<'_, '_>) -> Result<Proof, ReadError> {
    let (fields, top) = (&body.object()?, &body.path);
    let (automaton, world) = (same_automaton(asked, fields, top)?, World::new(asked, top)?);
    let mut reader = terms(&world.large, fields, top)?;
    let list = field(fields, top, "nodes")?;
    let mut nodes = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let fields = node.object()?;
        let l = world.location(&fields, &node.path)?;
        nodes.push((l, term(&mut reader, field(&fields, &node.path, "holds")?)?));
    }
    let list = field(fields, top, "edges")?;
    let mut edges = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let mut ends = [0; 2];
        for (j, raw) in node.array_of(2, "two nodes")?.into_iter().enumerate() {
            ends[j] = Node::new(Path::Item(&node.path, j), raw).index(nodes.len(), "a node")? as u32;
        }
        edges.push((ends[0], ends[1]));
    }
    let list = field(fields, top, "rankings")?;
    let mut rankings = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let mut ranking = vec![];
        for (j, raw) in node.array_of(nodes.len(), "a term for each node")?.into_iter().enumerate() {
            let node = Node::new(Path::Item(&node.path, j), raw);
            ranking.push(if node.is_null() { None } else { Some(term(&mut reader, node)?) });
        }
        rankings.push(ranking);
    }
    Ok(Proof { automaton: automaton.clone(), terms: reader.terms, nodes, edges, rankings })
}
