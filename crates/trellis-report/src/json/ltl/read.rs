//! Evidence about a formula, back from JSON.
//!
//! What is asked is not taken from it: whoever reads it knows the model, its atoms and the automaton of what must not be.

use std::collections::BTreeMap;

use trellis_expr::{TermId, VarId};
use trellis_model::cfa::LocationId;
use trellis_model::ltl::evidence::{Lasso, Proof, Recurrence, Run, Step};
use trellis_model::ltl::product::{Product, Subject, product};
use trellis_model::ltl::{Buchi, Cube, Edge};

use super::{LTL_CERTIFICATE, LTL_TRACE};
use crate::json::REPORT;
use crate::json::node::{Fields, Node, Path, ReadError, field, optional};
use crate::json::program::read::{Names, expect_name, terms};
use crate::ltl::Counterexample;
use crate::program::full_names;
use crate::program::term::Reader;
use crate::property::Kind;

/// A product with so many marks has one to spare for letters.
const MAX_MARKS: i64 = 63;
/// More states are a mistake.
const MAX_STATES: i64 = 1 << 24;

/// Evidence about a formula.
#[derive(Debug, Clone)]
pub enum LtlContent {
    /// A run that violates it.
    Counterexample(Counterexample),
    /// A proof.
    Proof(Box<Proof>),
}

/// Reads evidence about a formula of this model. Its automaton must be the given one, that of what must not be.
/// Names, numbers and types fit; whether it shows anything is for `trellis-check` to say.
pub fn read_ltl_evidence(
    subject: &Subject,
    atoms: &[TermId],
    expected: &Buchi,
    text: &str,
) -> Result<LtlContent, ReadError> {
    let read = document(Node::top(text)?, &mut |kind, fields, top| {
        if let Some(node) = optional(fields, top, "automaton")
            && automaton(node, atoms.len())? != *expected
        {
            return node.fail("the automaton of what must not be (was this made by another version?)");
        }
        let world = || World::new(subject, atoms, expected, top);
        match kind {
            LTL_TRACE => Ok(LtlContent::Counterexample(counterexample(subject, expected, &world, fields, top)?)),
            _ => {
                field(fields, top, "automaton")?.object()?;
                Ok(LtlContent::Proof(Box::new(proof(expected, &world()?, fields, top)?)))
            }
        }
    })?;
    read.ok_or_else(|| wrong(&Path::Top, "evidence about a formula", "something else"))
}

fn wrong(path: &Path<'_>, expected: &str, found: &str) -> ReadError {
    ReadError::Content { path: path.to_string(), expected: expected.into(), found: found.into() }
}

/// What is done with the fields of a document of some schema.
type Body<'b, T> = &'b mut dyn FnMut(&str, &Fields<'_>, &Path<'_>) -> Result<T, ReadError>;

/// Finds the evidence, on its own or in a report. Nothing if it is of another kind.
fn document<T>(top: Node<'_, '_>, body: Body<'_, T>) -> Result<Option<T>, ReadError> {
    let fields = top.object()?;
    let schema = field(&fields, &top.path, "schema")?;
    match &*schema.string("the name of a schema")? {
        kind @ (LTL_TRACE | LTL_CERTIFICATE) => body(kind, &fields, &top.path).map(Some),
        REPORT if matches!(top.path, Path::Top) => {
            if let Some(trace) = optional(&fields, &top.path, "trace") {
                return document(trace, body);
            }
            match optional(&fields, &top.path, "certificate") {
                Some(c) if c.object()?.contains_key("schema") => document(c, body),
                Some(c) if field(&fields, &top.path, "kind")?.string("a kind")? == Kind::Ltl.symbol() => {
                    c.fail("a whole proof (this report only says how large it is; write it out with --certificate)")
                }
                _ => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

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

/// The product that evidence speaks of, as it is and in large blocks.
struct World {
    product: Product,
    /// Its arena is the one that evidence grows from.
    large: trellis_model::cfa::Cfa,
}

impl World {
    fn new(subject: &Subject, atoms: &[TermId], automaton: &Buchi, top: &Path<'_>) -> Result<World, ReadError> {
        let product = product(subject, atoms, automaton)
            .map_err(|why| wrong(top, "evidence about a model that is understood", &why.to_string()))?;
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

fn counterexample(
    subject: &Subject,
    automaton: &Buchi,
    world: &dyn Fn() -> Result<World, ReadError>,
    fields: &Fields<'_>,
    top: &Path<'_>,
) -> Result<Counterexample, ReadError> {
    let names = Names::new(&subject.cfa);
    let start = names.start(fields, top)?;
    let list = field(fields, top, "steps")?;
    let mut steps: Vec<Step> = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let node = Node::new(Path::Item(&list.path, i), raw);
        let before = steps.last().map_or(&start, |s| &s.after).clone();
        let moves = optional(&node.object()?, &node.path, "edge").is_some();
        steps.push(if moves {
            let step = names.step(node, before)?;
            Step { edge: Some(step.edge), choices: step.choices, after: step.after }
        } else {
            Step { edge: None, choices: vec![], after: before }
        });
    }
    let run = Run { start, steps };
    match optional(fields, top, "recurrence") {
        Some(node) => recurrence(run, automaton, &world()?, node).map(|r| Counterexample::Recurrence(Box::new(r))),
        None => {
            let back = field(fields, top, "back")?.index(run.steps.len(), "a step")?;
            Ok(Counterexample::Lasso(Lasso { run, back }))
        }
    }
}

fn recurrence(stem: Run, automaton: &Buchi, world: &World, node: Node<'_, '_>) -> Result<Recurrence, ReadError> {
    let fields = node.object()?;
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

fn proof(automaton: &Buchi, world: &World, fields: &Fields<'_>, top: &Path<'_>) -> Result<Proof, ReadError> {
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
