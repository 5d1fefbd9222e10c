//! Disjunctions of cubes.

use trellis_model::ltl::Cube;

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

/// A shorter list with the same letters.
pub fn merged(mut list: Vec<Cube>) -> Vec<Cube> {
    list.sort_unstable();
    list.dedup();
    'again: loop {
        for i in 0..list.len() {
            for j in 0..list.len() {
                if i != j && list[i].implies(list[j]) {
                    list.remove(i);
                    continue 'again;
                }
            }
        }
        for i in 0..list.len() {
            for j in 0..i {
                if let Some(both) = merge(list[i], list[j]) {
                    list.remove(i);
                    list[j] = both;
                    continue 'again;
                }
            }
        }
        for i in 0..list.len() {
            let cube = list.remove(i);
            if is_covered(cube, &list) {
                continue 'again;
            }
            list.insert(i, cube);
        }
        return list;
    }
}

/// `x & c` and `!x & c` are `c`.
fn merge(a: Cube, b: Cube) -> Option<Cube> {
    let clash = (a.positive & b.negative) | (a.negative & b.positive);
    let without = |c: Cube| Cube { positive: c.positive & !clash, negative: c.negative & !clash };
    (clash.count_ones() == 1 && without(a) == without(b)).then(|| without(a))
}
