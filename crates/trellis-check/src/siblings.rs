//! Nodes of a tree that a certificate says can be exchanged: whether that is so. Written plainly, and apart from what finds them: an exchange
//! says where each node goes, and then everything must be the same there.

use std::collections::{BTreeMap, BTreeSet};

use trellis_model::hierarchy::tree::evidence::Certificate;
use trellis_model::hierarchy::tree::{Condition, Tree};

/// A condition, whatever the order of its parts is.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Meant {
    Constant(bool),
    Local(usize, Vec<bool>),
    Not(Box<Meant>),
    /// All of them (true), or any.
    Several(bool, BTreeSet<Meant>),
}

fn meant(c: &Condition, goes: &[usize]) -> Meant {
    let all = matches!(c, Condition::All(_));
    match c {
        Condition::Constant(b) => Meant::Constant(*b),
        Condition::Local { node, states } => Meant::Local(goes[*node], states.clone()),
        Condition::Not(a) => Meant::Not(Box::new(meant(a, goes))),
        Condition::All(parts) | Condition::Any(parts) => {
            let mut set = BTreeSet::new();
            for part in parts.iter().map(|p| meant(p, goes)) {
                match part {
                    Meant::Several(same, inner) if same == all => set.extend(inner),
                    part => {
                        set.insert(part);
                    }
                }
            }
            Meant::Several(all, set)
        }
    }
}

/// Can all nodes that are said to be symmetric be exchanged, without anything else being noticed?
pub fn symmetric(tree: &Tree, bad: &Condition, certificate: &Certificate) -> Result<(), String> {
    let count = tree.nodes().len();
    for group in &certificate.symmetric {
        let Some(&first) = group.first() else { return Err("a group of nodes that are symmetric is empty".into()) };
        if group.iter().any(|&n| n >= count) {
            return Err("a node that is said to be like others does not exist".into());
        }
        for &other in &group[1..] {
            let (here, there) = (tree.below(first), tree.below(other));
            let apart = here.end() < there.start() || there.end() < here.start();
            if !apart || here.clone().count() != there.clone().count() {
                return Err(format!("`{}` and `{}` cannot be exchanged", name(tree, first), name(tree, other)));
            }
            let mut goes: Vec<usize> = (0..count).collect();
            here.zip(there).for_each(|(a, b)| goes.swap(a, b));
            if !mirrors(tree, bad, certificate, &goes) {
                let (a, b) = (name(tree, first), name(tree, other));
                return Err(format!("it makes a difference whether `{a}` and `{b}` are exchanged"));
            }
        }
        // Whole subtrees change places, so none may lie within another.
        let mut ranges: Vec<_> = group.iter().map(|&n| tree.below(n)).collect();
        ranges.sort_by_key(|r| *r.start());
        if ranges.windows(2).any(|w| w[0].end() >= w[1].start()) {
            return Err("nodes that are said to be symmetric lie within each other".into());
        }
    }
    Ok(())
}

fn name(tree: &Tree, node: usize) -> &str {
    &tree.nodes()[node].name
}

/// Is everything the same where the nodes go?
fn mirrors(tree: &Tree, bad: &Condition, certificate: &Certificate, goes: &[usize]) -> bool {
    let nodes = tree.nodes();
    let stays: Vec<usize> = (0..goes.len()).collect();
    let set = |list: &[u32]| list.iter().copied().collect::<BTreeSet<u32>>();
    let fits = |n: usize| {
        let (one, other) = (&nodes[n], &nodes[goes[n]]);
        let (p, q) = (&one.behaviour, &other.behaviour);
        let places: Option<Vec<usize>> =
            one.subs.iter().map(|&s| other.subs.iter().position(|&t| t == goes[s])).collect();
        let Some(places) = places.filter(|places| places.len() == other.subs.len()) else { return false };
        let numbers: BTreeMap<&Vec<u32>, usize> = other.vectors.iter().enumerate().map(|(i, v)| (v, i)).collect();
        let images: Option<Vec<usize>> = one
            .vectors
            .iter()
            .map(|vector| {
                let mut image = vector.clone();
                places.iter().enumerate().for_each(|(from, to)| image[to + 1] = vector[from + 1]);
                numbers.get(&image).copied()
            })
            .collect();
        let Some(images) = images else { return false };
        let higher = |(low, above): (usize, &Vec<usize>)| {
            let mapped: BTreeSet<usize> = above.iter().map(|&h| images[h]).collect();
            mapped == other.higher[images[low]].iter().copied().collect()
        };
        // As many vectors as different ones, and each goes elsewhere.
        images.iter().collect::<BTreeSet<_>>().len() == other.vectors.len()
            && one.vectors.len() == other.vectors.len()
            && one.higher.iter().enumerate().all(higher)
            && certificate.blocks[n] == certificate.blocks[goes[n]]
            && set(&p.initial) == set(&q.initial)
            && p.moves == q.moves
    };
    (0..nodes.len()).all(fits) && meant(bad, goes) == meant(bad, &stays)
}

/// The tuple in which the parts of nodes that are symmetric are in order.
pub fn in_order(tree: &Tree, symmetric: &[Vec<usize>], tuple: &[u32]) -> Vec<u32> {
    let mut tuple = tuple.to_vec();
    for group in symmetric {
        let mut parts: Vec<Vec<u32>> = group.iter().map(|&n| tuple[tree.below(n)].to_vec()).collect();
        parts.sort();
        for (&n, part) in group.iter().zip(parts) {
            tuple[tree.below(n)].copy_from_slice(&part);
        }
    }
    tuple
}
