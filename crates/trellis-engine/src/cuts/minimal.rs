//! Minimal solutions on decision diagrams (Rauzy 1993): of sets that are given by tests of their members, those within which no other one is, as a
//! zero-suppressed diagram (Minato 1993). Sets with too many members are cut off on the way, so that the diagram has only what is asked for.

use rustc_hash::FxHashMap;
use trellis_domain::relation::{Branch, Decisions};
use trellis_meter::StopReason;

type Node = u32;

/// No set.
const NONE: Node = 0;
/// The set without members.
const EMPTY: Node = 1;

/// Families of sets. A node is those of its first child, and those of its second child with its member; members grow downwards.
struct Families {
    nodes: Vec<(usize, Node, Node)>,
    unique: FxHashMap<(usize, Node, Node), Node>,
    without: FxHashMap<(Node, Node), Node>,
}

impl Families {
    fn new() -> Families {
        let end = (usize::MAX, NONE, NONE);
        Families { nodes: vec![end; 2], unique: FxHashMap::default(), without: FxHashMap::default() }
    }

    fn node(&mut self, member: usize, less: Node, with: Node) -> Node {
        if with == NONE {
            return less;
        }
        let new = self.nodes.len() as Node;
        let id = *self.unique.entry((member, less, with)).or_insert(new);
        if id == new {
            self.nodes.push((member, less, with));
        }
        id
    }

    /// The sets of `a` within which no set of `b` is.
    fn without(&mut self, a: Node, b: Node) -> Node {
        if a == NONE || b == NONE {
            return a;
        }
        // Every set contains the one without members, and only that one is within it.
        if b == EMPTY || a == b {
            return NONE;
        }
        let ((x, a0, a1), (y, b0, b1)) = (self.nodes[a as usize], self.nodes[b as usize]);
        if let Some(&known) = self.without.get(&(a, b)) {
            return known;
        }
        let result = if x < y {
            let (less, with) = (self.without(a0, b), self.without(a1, b));
            self.node(x, less, with)
        } else if y < x {
            self.without(a, b0)
        } else {
            let less = self.without(a0, b0);
            let with = self.without(a1, b1);
            let with = self.without(with, b0);
            self.node(x, less, with)
        };
        self.without.insert((a, b), result);
        result
    }

    /// The sets, at most so many.
    fn sets(&self, of: Node, most: usize) -> Vec<Vec<usize>> {
        let mut found = vec![];
        let mut left = vec![(of, vec![])];
        while let Some((node, set)) = left.pop() {
            match node {
                NONE => {}
                EMPTY if found.len() >= most => return found,
                EMPTY => found.push(set),
                _ => {
                    let (member, less, with) = self.nodes[node as usize];
                    let mut more = set.clone();
                    more.push(member);
                    left.extend([(with, more), (less, set)]);
                }
            }
        }
        found
    }
}

/// The minimal sets with at most so many members (any number if that is not said); the members are positions in `columns`, which are tested in
/// this order or its reverse. At most `most + 1` are listed.
pub fn minimal(
    decisions: &Decisions,
    columns: &[usize],
    order: Option<usize>,
    most: usize,
    go_on: &mut dyn FnMut() -> Result<(), StopReason>,
) -> Result<Vec<Vec<usize>>, StopReason> {
    let order = order.unwrap_or(columns.len()).min(columns.len());
    let mut rank: Vec<usize> = columns.to_vec();
    rank.sort_unstable();
    let position: FxHashMap<usize, usize> = columns.iter().enumerate().map(|(n, c)| (*c, n)).collect();
    let mut families = Families::new();
    // For each test and each number of members: those that have at most so many.
    let mut known: Vec<Vec<Node>> = vec![];
    let at = |branch: Branch, k: usize, known: &Vec<Vec<Node>>| match branch {
        Branch::Out => NONE,
        Branch::In => EMPTY,
        Branch::Test(n) => known[n][k],
    };
    for test in &decisions.tests {
        go_on()?;
        let leads =
            |value: i64| test.branches.iter().find(|(values, _)| values.contains(&value)).map_or(Branch::Out, |b| b.1);
        let member = rank.binary_search(&test.variable).unwrap_or(usize::MAX);
        let mut all = vec![];
        for k in 0..=order {
            let less = at(leads(0), k, &known);
            let with = if k == 0 { NONE } else { at(leads(1), k - 1, &known) };
            let with = families.without(with, less);
            all.push(families.node(member, less, with));
        }
        known.push(all);
    }
    let root = at(decisions.root, order, &known);
    let mut sets = families.sets(root, most.saturating_add(1));
    for set in &mut sets {
        set.iter_mut().for_each(|r| *r = position[&rank[*r]]);
        set.sort_unstable();
    }
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trellis_domain::relation::Test;

    /// All sets over some members, by a bit for each; against comparing each with each.
    #[test]
    fn minimal_sets_are_those_that_contain_no_other() {
        let mut random: u64 = 7;
        for _ in 0..300 {
            let n = 4;
            let mut bits = 0_u32;
            for s in 0..1 << n {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                bits |= u32::from((random >> 40).is_multiple_of(4)) << s;
            }
            // A complete tree of tests, the last member first in the list.
            let mut tests = vec![];
            let mut level: Vec<Branch> =
                (0..1_u32 << n).map(|s| if bits >> s & 1 == 1 { Branch::In } else { Branch::Out }).collect();
            for member in (0..n).rev() {
                let half = 1 << member;
                level = (0..half)
                    .map(|s: usize| {
                        let branches = vec![(vec![0], level[s]), (vec![1], level[s | half])];
                        tests.push(Test { variable: member, branches });
                        Branch::Test(tests.len() - 1)
                    })
                    .collect();
            }
            let decisions = Decisions { tests, root: level[0] };
            let columns: Vec<usize> = (0..n).collect();
            for order in [None, Some(0), Some(1), Some(2), Some(3)] {
                let sets: Vec<u32> = (0..1 << n).filter(|s| bits >> s & 1 == 1).collect();
                let least = |s: &&u32| !sets.iter().any(|t| t != *s && t & *s == *t);
                let small = |s: &&u32| s.count_ones() as usize <= order.unwrap_or(n);
                let mut right: Vec<Vec<usize>> = sets
                    .iter()
                    .filter(least)
                    .filter(small)
                    .map(|s| (0..n).filter(|b| s >> b & 1 == 1).collect())
                    .collect();
                let mut found = minimal(&decisions, &columns, order, 100, &mut || Ok(())).expect("no limit");
                right.sort();
                found.sort();
                assert_eq!(found, right, "{bits:b} {order:?}");
            }
        }
    }
}
