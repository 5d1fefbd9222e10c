//! Sub-nodes that can be exchanged. Two sub-nodes of one node are *siblings* if what is at and below them is the same, node by node, and if
//! neither the vectors of the node above, nor its priorities, nor what is bad notice when they change places. Then a run in which they have
//! changed places is a run, from an initial state to a bad one if the other was, so states that differ only in who of them is where count
//! as one.
//!
//! That is checked exchange by exchange, never guessed; exchanges of siblings with the first of them make all others. Conditions are compared
//! as they are written, but for the order and repetition of their parts: what means the same and is written differently is not seen.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{Condition, Tree};

/// Groups of siblings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Siblings {
    /// Each group, from below; its members are sub-nodes of one node.
    pub groups: Vec<Vec<usize>>,
}

/// A condition without the order of its parts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key<'c> {
    Constant(bool),
    Local(usize, &'c [bool]),
    Not(Box<Key<'c>>),
    All(BTreeSet<Key<'c>>),
    Any(BTreeSet<Key<'c>>),
}

impl<'c> Key<'c> {
    /// With nodes that have changed places.
    fn of(c: &'c Condition, place: &dyn Fn(usize) -> usize) -> Key<'c> {
        match c {
            Condition::Constant(b) => Key::Constant(*b),
            Condition::Local { node, states } => Key::Local(place(*node), states),
            Condition::Not(a) => Key::Not(Box::new(Key::of(a, place))),
            Condition::All(parts) | Condition::Any(parts) => {
                let all = matches!(c, Condition::All(_));
                let mut set = BTreeSet::new();
                for key in parts.iter().map(|p| Key::of(p, place)) {
                    match key {
                        Key::All(inner) if all => set.extend(inner),
                        Key::Any(inner) if !all => set.extend(inner),
                        key => drop(set.insert(key)),
                    }
                }
                if all { Key::All(set) } else { Key::Any(set) }
            }
        }
    }
}

impl Siblings {
    /// All siblings of a tree, for a question.
    pub fn find(tree: &Tree, bad: &Condition) -> Siblings {
        let mut groups = vec![];
        let asked = Key::of(bad, &|node| node);
        for node in tree.nodes() {
            let numbers: FxHashMap<&[u32], usize> =
                node.vectors.iter().enumerate().map(|(n, v)| (v.as_slice(), n)).collect();
            if node.subs.len() < 2 || numbers.len() != node.vectors.len() {
                continue;
            }
            // Places among the sub-nodes; the first of each speaks for the others.
            let mut symmetric: Vec<Vec<usize>> = vec![];
            for at in 0..node.subs.len() {
                let sibling = |first: usize| {
                    let (a, b) = (node.subs[first], node.subs[at]);
                    same(tree, a, b)
                        && unnoticed(&node.vectors, &node.higher, &numbers, (first + 1, at + 1))
                        && Key::of(bad, &exchanged(tree, a, b)) == asked
                };
                match symmetric.iter().position(|group| sibling(group[0])) {
                    Some(group) => symmetric[group].push(at),
                    None => symmetric.push(vec![at]),
                }
            }
            let several = symmetric.into_iter().filter(|group| group.len() > 1);
            groups.extend(several.map(|group| group.into_iter().map(|at| node.subs[at]).collect::<Vec<usize>>()));
        }
        Siblings { groups }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// For each node, the first of those that stand for each other.
    pub fn first(&self, tree: &Tree) -> Vec<usize> {
        let mut first: Vec<usize> = (0..tree.nodes().len()).collect();
        // From above: siblings within siblings are found where the first of these has them.
        for group in self.groups.iter().rev() {
            for &sibling in &group[1..] {
                for (a, b) in tree.below(group[0]).zip(tree.below(sibling)) {
                    first[b] = a;
                }
            }
        }
        for node in 0..first.len() {
            let mut at = first[node];
            while first[at] != at {
                at = first[at];
            }
            first[node] = at;
        }
        first
    }

    /// Whom each node makes room for when siblings are put in order: the state with `state[order[n]]` at `n` stands for all that differ from
    /// it by exchanges of siblings.
    pub fn order(&self, tree: &Tree, state: &[u32]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..state.len()).collect();
        for group in &self.groups {
            let mut parts: Vec<Vec<usize>> = group.iter().map(|&sibling| order[tree.below(sibling)].to_vec()).collect();
            let values = |part: &Vec<usize>| part.iter().map(|&n| state[n]).collect::<Vec<u32>>();
            parts.sort_by_key(values);
            for (&sibling, part) in group.iter().zip(parts) {
                order[tree.below(sibling)].copy_from_slice(&part);
            }
        }
        order
    }

    /// The state that stands for a state.
    pub fn sorted(&self, tree: &Tree, state: &[u32]) -> Vec<u32> {
        match self.is_empty() {
            true => state.to_vec(),
            false => self.order(tree, state).into_iter().map(|n| state[n]).collect(),
        }
    }
}

/// Where nodes are when two subtrees of the same size have changed places.
fn exchanged(tree: &Tree, a: usize, b: usize) -> impl Fn(usize) -> usize {
    let (here, there) = (tree.below(a), tree.below(b));
    move |node| match node {
        n if here.contains(&n) => n - here.start() + there.start(),
        n if there.contains(&n) => n - there.start() + here.start(),
        n => n,
    }
}

/// Is what is at and below two nodes the same, but for names?
fn same(tree: &Tree, a: usize, b: usize) -> bool {
    let (here, there) = (tree.below(a), tree.below(b));
    let (x, y) = (*here.start(), *there.start());
    here.clone().count() == there.clone().count()
        && here.zip(there).all(|(m, n)| {
            let (one, other) = (&tree.nodes()[m], &tree.nodes()[n]);
            let (p, q) = (&one.behaviour, &other.behaviour);
            one.events.len() == other.events.len()
                && one.subs.iter().map(|s| s - x).eq(other.subs.iter().map(|s| s - y))
                && one.vectors == other.vectors
                && one.higher == other.higher
                && (std::sync::Arc::ptr_eq(p, q) || p.initial == q.initial && p.moves == q.moves)
        })
}

/// Are vectors and priorities the same when two places have been exchanged?
fn unnoticed(
    vectors: &[Vec<u32>],
    higher: &[Vec<usize>],
    numbers: &FxHashMap<&[u32], usize>,
    (a, b): (usize, usize),
) -> bool {
    let image = |vector: &Vec<u32>| {
        let mut vector = vector.clone();
        vector.swap(a, b);
        numbers.get(vector.as_slice()).copied()
    };
    let Some(images) = vectors.iter().map(image).collect::<Option<Vec<usize>>>() else { return false };
    higher.iter().zip(&images).all(|(above, &n)| {
        let mapped: BTreeSet<usize> = above.iter().map(|&h| images[h]).collect();
        mapped == higher[n].iter().copied().collect()
    })
}
