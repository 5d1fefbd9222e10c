//! What certificates look like, for their schema only: the formalisms write and read them row by row, without these types. Tests hold both together.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Head;
use crate::run::Place;

/// A certificate: what it is bound to, of what kind it is, what it takes for granted, and the proof itself.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CertificateDocument {
    /// What it is bound to.
    #[serde(flatten)]
    head: Head,
    /// What the proof takes for granted: `order` (the set also holds what is below its elements), `symmetry` (and what they become when
    /// parts that cannot be told apart are exchanged).
    assumes: Vec<String>,
    /// The proof.
    #[serde(flatten)]
    proof: Proof,
}

/// The kinds of proofs, and what their bodies have.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", content = "body", rename_all = "lowercase")]
#[allow(dead_code, reason = "only its schema is wanted")]
enum Proof {
    /// Networks of automata: a set of states or zones that no step leaves.
    States(States),
    /// Programs, automata, transition systems, statecharts: formulas for locations.
    Invariant(Invariant),
    /// Counter systems: vectors and weighted sums.
    Basis(Basis),
    /// AltaRica: a set of configurations, as tests of variables.
    Relation(Relation),
    /// Hierarchical transition systems: a partition of each node's states, and tuples of blocks.
    Partition(Partition),
    /// Formulas of linear time: an abstraction of the product with an automaton, and rankings.
    Ranking(Ranking),
}

#[derive(Serialize, JsonSchema)]
struct States {
    /// What the columns of the entries are.
    columns: Columns,
    /// Bounds of clocks that entries refer to by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Vec<ClockBounds>>,
    /// Each has locations by number, data (`null`: any value) and words of lattice elements in hexadecimal; then, as far as needed, a rank or
    /// `null`, a zone as constraints (`[1, 0, "≤", 3]`: clock 1 minus clock 0, which is 0, is at most 3), the number of its bounds or `null`, what
    /// more it says of data in SMT-LIB or `null`, and a state of the automaton with ranks.
    #[schemars(inner(length(min = 3, max = 8)))]
    entries: Vec<Vec<Value>>,
}

#[derive(Serialize, JsonSchema)]
struct Columns {
    /// Processes, with the names of their locations.
    processes: Vec<ProcessColumn>,
    /// Cells of data.
    variables: Vec<String>,
    /// Lattice variables.
    lattices: Vec<LatticeColumn>,
    /// Clocks; number 1 is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    clocks: Option<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
struct ProcessColumn {
    name: String,
    locations: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct LatticeColumn {
    name: String,
    /// Which lattice.
    lattice: String,
    /// How many words an element has.
    width: usize,
}

/// `null` for a clock that is never compared so; the first is that of no clock.
#[derive(Serialize, JsonSchema)]
struct ClockBounds {
    lower: Vec<Option<i32>>,
    upper: Vec<Option<i32>>,
}

#[derive(Serialize, JsonSchema)]
struct Invariant {
    /// Induction over so many steps.
    k: u16,
    /// The variables, with their types.
    variables: Vec<Variable>,
    /// Terms that others refer to.
    definitions: Vec<String>,
    /// For each location the terms any of which may hold there.
    invariant: Vec<Row>,
}

#[derive(Serialize, JsonSchema)]
struct Variable {
    name: String,
    r#type: String,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    /// Its number.
    location: u32,
    name: String,
    place: Option<Place>,
    elements: Vec<String>,
}

/// Either `never` with `bounds`, or `within`, perhaps with `exactly`; of lossy channel systems, `regions`.
#[derive(Serialize, JsonSchema)]
struct Basis {
    /// Weighted sums that are bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Vec<WeightedSum>>,
    /// Vectors above none of which a state is.
    #[serde(skip_serializing_if = "Option::is_none")]
    never: Option<Vec<BTreeMap<String, u64>>>,
    /// Vectors below one of which each state is; a number may be `"unlimited"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<Vec<Map<String, Value>>>,
    /// Variables that have exactly the number in such a vector.
    #[serde(skip_serializing_if = "Option::is_none")]
    exactly: Option<Vec<String>>,
    /// What is left of the start when messages are lost, and regions, of each of which a state is at least none of its patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    regions: Option<Vec<Excluding>>,
}

#[derive(Serialize, JsonSchema)]
struct Excluding {
    /// Places of processes, and words of channels, the front first.
    never: Vec<Map<String, Value>>,
}

#[derive(Serialize, JsonSchema)]
struct WeightedSum {
    /// In words.
    says: String,
    weights: BTreeMap<String, i64>,
    traps: Vec<Trap>,
}

#[derive(Serialize, JsonSchema)]
struct Trap {
    factor: i64,
    variables: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Relation {
    /// `true`, `false`, or the number of the first test.
    first: Value,
    /// Each leads to `true`, `false`, or an earlier test.
    tests: Vec<Test>,
}

#[derive(Serialize, JsonSchema)]
struct Test {
    variable: String,
    branches: Vec<Branch>,
}

#[derive(Serialize, JsonSchema)]
struct Branch {
    values: Vec<Value>,
    then: Value,
}

#[derive(Serialize, JsonSchema)]
struct Partition {
    /// For each node its blocks of states.
    covers: Vec<Cover>,
    /// One block of each node, by number.
    tuples: Vec<Vec<u32>>,
    /// For each trap region and each node, its blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    traps: Option<Vec<Vec<Vec<u32>>>>,
    /// Nodes that can be exchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetric: Option<Vec<Vec<String>>>,
}

#[derive(Serialize, JsonSchema)]
struct Cover {
    node: String,
    blocks: Vec<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
struct Ranking {
    /// What the automaton reads.
    atoms: Vec<String>,
    /// The automaton of what must not be.
    automaton: Automaton,
    /// The variables, with their types.
    variables: Vec<Variable>,
    /// Terms that others refer to.
    definitions: Vec<String>,
    /// Nodes of the abstraction: a location of the product, and what holds there.
    nodes: Vec<AbstractNode>,
    /// Which nodes a step may lead between.
    edges: Vec<[u32; 2]>,
    /// For each ranking a term for each node, or `null`.
    rankings: Vec<Vec<Option<String>>>,
}

#[derive(Serialize, JsonSchema)]
struct Automaton {
    states: usize,
    initial: Vec<u32>,
    marks: u32,
    edges: Vec<AutomatonEdge>,
}

#[derive(Serialize, JsonSchema)]
struct AutomatonEdge {
    from: u32,
    to: u32,
    r#if: Vec<u32>,
    unless: Vec<u32>,
    marks: Vec<u32>,
}

#[derive(Serialize, JsonSchema)]
struct AbstractNode {
    location: u32,
    name: String,
    state: Option<u32>,
    holds: String,
}
