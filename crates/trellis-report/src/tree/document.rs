//! What a file with a hierarchical transition system (`.hts.json`) looks like: the published schema is made from these types. They are not what
//! is read, because a tree may be deeper than what a derived reader takes, and because what is wrong is said with its path.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// A tree of nodes, each with a behaviour of its own, synchronisation vectors and priorities (file names end in .hts.json), and what must
/// never be.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TreeDocument {
    /// The version of the schema.
    pub schema: String,
    /// Behaviours that nodes name.
    #[serde(default)]
    pub behaviours: BTreeMap<String, BehaviourDocument>,
    /// The topmost node.
    pub top: NodeDocument,
    /// Cases, none of which may be reached: in a case, each of some nodes is in one of some states. By the path of a node from the top (`high`,
    /// `low.high`; the top's is empty), its states.
    #[serde(default)]
    pub never: Vec<BTreeMap<String, Vec<String>>>,
}

/// A node.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NodeDocument {
    /// Its name, without dots; the top needs none.
    #[serde(default)]
    pub name: String,
    /// Their names, all different. An event with an empty name is not shown in runs.
    pub events: Vec<String>,
    /// Pairs of a lower and a higher event. A vector does not happen if one whose own event is higher is possible.
    #[serde(default)]
    pub priorities: Vec<[String; 2]>,
    /// What it does on its own, or the name of that.
    pub behaviour: Behaves,
    /// What happens together: an event of the node, then one of each sub-node. A node without sub-nodes may leave it out: then each event
    /// happens.
    #[serde(default)]
    pub vectors: Vec<Vec<String>>,
    /// The nodes below it; each has a name.
    #[serde(default)]
    pub subs: Vec<NodeDocument>,
}

/// A behaviour, or the name of one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Behaves {
    /// One that is shared.
    Named(String),
    /// One of its own.
    Own(BehaviourDocument),
}

/// A transition system over the node's events.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BehaviourDocument {
    /// Their names, all different.
    pub states: Vec<String>,
    /// The states it may start in.
    pub initial: Vec<String>,
    /// From which state, by which event, to which.
    pub moves: Vec<[String; 3]>,
}
