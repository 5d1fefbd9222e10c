//! Disjunctions of cubes.

use rustc_hash::FxHashSet;
use trellis_model::ltl::Cube;

/// The longest list that is made shorter.
const MAX_MERGED: usize = 1_000;

/// Does each letter that satisfies the cube satisfy one of the list?
pub fn is_covered(cube: Cube, list: &[Cube]) -> bool {
    let near: Vec<Cube> = list.iter().copied().filter(|d| !d.and(cube).is_false()).collect();
    if near.iter().any(|d| cube.implies(*d)) {
        return true;
    }
    let Some(first) = near.first() else { return false };
    // Not implied, so the first one has a literal that the cube does not.
    let fresh = (first.positive | first.negative) & !(cube.positive | cube.negative);
    let bit = fresh & fresh.wrapping_neg();
    let (yes, no) = (Cube { positive: bit, negative: 0 }, Cube { positive: 0, negative: bit });
    is_covered(cube.and(yes), &near) && is_covered(cube.and(no), &near)
}

/// A shorter list with the same letters. Long lists are left as they are: looking for what to merge takes quadratic time.
pub fn merged(mut list: Vec<Cube>) -> Vec<Cube> {
    list.sort_unstable();
    list.dedup();
    if list.len() > MAX_MERGED {
        return list;
    }
    loop {
        // Weaker ones first: what comes later contains nothing of what came before.
        list.sort_by_key(|c| (c.positive.count_ones() + c.negative.count_ones(), *c));
        let mut kept: Vec<Cube> = vec![];
        for c in list {
            if !kept.iter().any(|k| c.implies(*k)) {
                kept.push(c);
            }
        }
        list = kept;
        if !merge_neighbours(&mut list) {
            break;
        }
    }
    // What several others cover together.
    let mut at = 0;
    while at < list.len() {
        let cube = list.swap_remove(at);
        if !is_covered(cube, &list) {
            list.push(cube);
            let last = list.len() - 1;
            list.swap(at, last);
            at += 1;
        }
    }
    list.sort_unstable();
    list
}

/// `x & c` and `!x & c` are `c`. Was there anything to merge?
fn merge_neighbours(list: &mut Vec<Cube>) -> bool {
    let mut left: FxHashSet<Cube> = list.iter().copied().collect();
    let mut fresh = vec![];
    for &c in list.iter() {
        let mut literals = c.positive | c.negative;
        while literals != 0 && left.contains(&c) {
            let bit = literals & literals.wrapping_neg();
            literals &= !bit;
            let other = Cube { positive: c.positive ^ bit, negative: c.negative ^ bit };
            if left.remove(&other) {
                left.remove(&c);
                fresh.push(Cube { positive: c.positive & !bit, negative: c.negative & !bit });
            }
        }
    }
    list.retain(|c| left.contains(c));
    let found = !fresh.is_empty();
    list.append(&mut fresh);
    found
}
