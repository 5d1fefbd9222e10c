//! A hierarchical transition system, read from JSON. What is wrong is said with its path in the document.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis_model::hierarchy::tree::{Behaviour, Condition, Node as TreeNode, Tree};

use crate::reader::{Fields, Node, Path, ReadError, field, optional};

/// The `schema` of hierarchical transition systems.
pub const TREE: &str = "trellis-hierarchy/1";
/// How deep a tree may be.
const MAX_DEPTH: usize = 500;

/// A system and what must never be.
#[derive(Debug, Clone)]
pub struct TreeFile {
    /// The system.
    pub tree: Tree,
    /// What must never be.
    pub bad: Condition,
    /// The same in words.
    pub question: String,
}

/// Reads a system.
pub fn read_tree(text: &str) -> Result<TreeFile, ReadError> {
    let top = Node::top(text)?;
    let fields = top.object()?;
    let schema = field(&fields, &top.path, "schema")?;
    if schema.string("the name of a schema")? != TREE {
        return schema.fail(format_args!("\"{TREE}\""));
    }
    let shared = match optional(&fields, &top.path, "behaviours") {
        Some(all) => all.object()?,
        None => Fields::new(),
    };
    let up = Path::Field(&Path::Top, "behaviours");
    let mut reader = Reader { shared, up: &up, made: BTreeMap::new(), nodes: vec![] };
    let root = field(&fields, &top.path, "top")?;
    reader.node(root, "", 0)?;
    let tree = match Tree::new(reader.nodes) {
        Ok(tree) => tree,
        Err(wrong) => return root.fail(wrong),
    };
    // Whoever asks nothing says so by leaving it out.
    let (bad, question) = match optional(&fields, &top.path, "never") {
        Some(list) => never(&tree, list)?,
        None => (Condition::Any(vec![]), "never nothing".into()),
    };
    Ok(TreeFile { tree, bad, question })
}

struct Reader<'d> {
    /// Behaviours that nodes name.
    shared: Fields<'d>,
    up: &'d Path<'d>,
    /// Those that were read, for the events of a node.
    made: BTreeMap<(String, Vec<String>), Arc<Behaviour>>,
    nodes: Vec<TreeNode>,
}

/// A list of different names.
fn names(node: Node<'_, '_>, what: &str) -> Result<Vec<String>, ReadError> {
    let mut all: Vec<String> = vec![];
    let mut seen = std::collections::BTreeSet::new();
    for (i, raw) in node.array()?.into_iter().enumerate() {
        let item = Node::new(Path::Item(&node.path, i), raw);
        let name = item.string(what)?.into_owned();
        if !seen.insert(name.clone()) {
            return item.fail(format_args!("{what} that is not there yet"));
        }
        all.push(name);
    }
    Ok(all)
}

/// The number of a name.
fn one_of(node: Node<'_, '_>, all: &[String], what: &str) -> Result<u32, ReadError> {
    let name = node.string(what)?;
    match all.iter().position(|n| *n == name) {
        Some(n) => Ok(n as u32),
        None => node.fail(what),
    }
}

impl Reader<'_> {
    fn node(&mut self, node: Node<'_, '_>, path: &str, depth: usize) -> Result<usize, ReadError> {
        if depth > MAX_DEPTH {
            return node.fail(format_args!("a tree of depth {MAX_DEPTH} at most"));
        }
        let fields = node.object()?;
        let mut subs = vec![];
        if let Some(list) = optional(&fields, &node.path, "subs") {
            let mut taken = vec![];
            for (i, raw) in list.array()?.into_iter().enumerate() {
                let sub = Node::new(Path::Item(&list.path, i), raw);
                let inner = sub.object()?;
                let label = field(&inner, &sub.path, "name")?;
                let name = label.string("a name")?.into_owned();
                if name.is_empty() || name.contains('.') || taken.contains(&name) {
                    return label.fail("a name without dots that no other sub-node has");
                }
                let full = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                taken.push(name);
                subs.push(self.node(sub, &full, depth + 1)?);
            }
        }
        let events = names(field(&fields, &node.path, "events")?, "an event")?;
        let vectors = match optional(&fields, &node.path, "vectors") {
            Some(list) => self.vectors(list, &events, &subs)?,
            // A leaf may do everything that it can.
            None if subs.is_empty() => (0..events.len() as u32).map(|e| vec![e]).collect(),
            None => return node.fail("a field `vectors`, because there are sub-nodes"),
        };
        let lower = match optional(&fields, &node.path, "priorities") {
            Some(list) => priorities(list, &events)?,
            None => vec![],
        };
        let behaviour = self.behaviour(field(&fields, &node.path, "behaviour")?, &events)?;
        let higher = vec![vec![]; vectors.len()];
        let mut made = TreeNode { name: path.into(), events, subs, vectors, higher, behaviour };
        made.prioritise(|low, high| lower.contains(&(low, high)));
        self.nodes.push(made);
        Ok(self.nodes.len() - 1)
    }

    fn vectors(&self, list: Node<'_, '_>, events: &[String], subs: &[usize]) -> Result<Vec<Vec<u32>>, ReadError> {
        let mut all = vec![];
        for (i, raw) in list.array()?.into_iter().enumerate() {
            let vector = Node::new(Path::Item(&list.path, i), raw);
            let mut row = vec![];
            let parts = vector.array_of(subs.len() + 1, "events: the node's own, and one of each sub-node")?;
            for (j, raw) in parts.into_iter().enumerate() {
                let part = Node::new(Path::Item(&vector.path, j), raw);
                let known = if j == 0 { events } else { &self.nodes[subs[j - 1]].events };
                row.push(one_of(part, known, "one of its events")?);
            }
            all.push(row);
        }
        Ok(all)
    }

    fn behaviour(&mut self, node: Node<'_, '_>, events: &[String]) -> Result<Arc<Behaviour>, ReadError> {
        let Ok(name) = node.string("") else { return Ok(Arc::new(behaviour(node, events)?)) };
        let key = (name.to_string(), events.to_vec());
        if let Some(known) = self.made.get(&key) {
            return Ok(known.clone());
        }
        let Some(raw) = self.shared.get(&name) else {
            return node.fail("a behaviour, or the name of one in `behaviours`");
        };
        let made = Arc::new(behaviour(Node::new(Path::Field(self.up, &name), raw), events)?);
        self.made.insert(key, made.clone());
        Ok(made)
    }
}

fn behaviour(node: Node<'_, '_>, events: &[String]) -> Result<Behaviour, ReadError> {
    let fields = node.object()?;
    let states = names(field(&fields, &node.path, "states")?, "a state")?;
    let list = field(&fields, &node.path, "initial")?;
    let mut initial = vec![];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        initial.push(one_of(Node::new(Path::Item(&list.path, i), raw), &states, "one of the states")?);
    }
    initial.sort_unstable();
    initial.dedup();
    let mut moves = vec![vec![]; states.len()];
    let list = field(&fields, &node.path, "moves")?;
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let step = Node::new(Path::Item(&list.path, i), raw);
        let parts = step.array_of(3, "names: from, event, to")?;
        let part = |j: usize| Node::new(Path::Item(&step.path, j), parts[j]);
        let from = one_of(part(0), &states, "one of the states")?;
        let event = one_of(part(1), events, "one of the node's events")?;
        let to = one_of(part(2), &states, "one of the states")?;
        moves[from as usize].push((event, to));
    }
    Ok(Behaviour::new(states, initial, moves))
}

/// Pairs of a lower and a higher event, transitively closed.
fn priorities(list: Node<'_, '_>, events: &[String]) -> Result<Vec<(u32, u32)>, ReadError> {
    let n = events.len();
    let mut lower = vec![vec![false; n]; n];
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let pair = Node::new(Path::Item(&list.path, i), raw);
        let parts = pair.array_of(2, "events: a lower and a higher one")?;
        let part = |j: usize| one_of(Node::new(Path::Item(&pair.path, j), parts[j]), events, "one of its events");
        lower[part(0)? as usize][part(1)? as usize] = true;
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                lower[i][j] |= lower[i][k] && lower[k][j];
            }
        }
    }
    if (0..n).any(|e| lower[e][e]) {
        return list.fail("priorities without a circle");
    }
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    Ok(pairs.filter(|&(i, j)| lower[i][j]).map(|(i, j)| (i as u32, j as u32)).collect())
}

/// Cases, in each of which some nodes are in some of their states.
fn never(tree: &Tree, list: Node<'_, '_>) -> Result<(Condition, String), ReadError> {
    let (mut cases, mut words) = (vec![], vec![]);
    for (i, raw) in list.array()?.into_iter().enumerate() {
        let case = Node::new(Path::Item(&list.path, i), raw);
        let (mut atoms, mut said) = (vec![], vec![]);
        for (path, raw) in case.object()? {
            let Some(node) = tree.nodes().iter().position(|n| n.name == path) else {
                return case.fail(format_args!("the paths of nodes (\"\" is the top), and `{path}` is none"));
            };
            let list = Node::new(Path::Field(&case.path, &path), raw);
            let known = &tree.nodes()[node].behaviour.states;
            let mut states = vec![false; known.len()];
            let mut texts = vec![];
            for (j, raw) in list.array()?.into_iter().enumerate() {
                let state = one_of(Node::new(Path::Item(&list.path, j), raw), known, "one of the node's states")?;
                states[state as usize] = true;
                texts.push(known[state as usize].clone());
            }
            let name = if path.is_empty() { "top" } else { &*path };
            said.push(format!("{name} in {}", texts.join("|")));
            atoms.push(Condition::Local { node, states });
        }
        cases.push(Condition::All(atoms));
        words.push(if said.is_empty() { "anything".into() } else { said.join(" and ") });
    }
    let question = match words.len() {
        0 => "never nothing".into(),
        n if n > 3 => format!("never {}; and {} more", words[..3].join(", or "), n - 3),
        _ => format!("never {}", words.join(", or ")),
    };
    Ok((Condition::Any(cases), question))
}
