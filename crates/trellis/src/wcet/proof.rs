//! Is a bound one? Checked with a cache of its own, from what the analysis says of each label: how old blocks are at most, and what the rest of a run costs at
//! most. The start must be there; and of each label, each step must lead to one under the right key, of which no more is known than the step leaves, and cost no
//! more than the two bounds differ.

use std::collections::HashMap;

use super::labels::Labels;
use super::machine::{Key, Machine, Word};
use super::{Costs, Geometry};

/// How old each block is at most; those that may be out are missing.
type Ages = HashMap<u64, usize>;

fn ages(words: &[u64], ways: usize, blocks: usize) -> Ages {
    let age = |b: usize| usize::from(words[b / 8].to_le_bytes()[b % 8]);
    (0..blocks).map(|b| (b as u64, age(b))).filter(|&(_, a)| a < ways).collect()
}

/// Uses a block. Was it surely there?
fn used(ages: &mut Ages, block: u64, geometry: &Geometry) -> bool {
    let set = |b: u64| b % geometry.sets as u64;
    let old = ages.get(&block).copied();
    let younger = |a: usize| old.is_none_or(|old| a < old);
    let others: Vec<u64> = ages.keys().copied().filter(|&b| b != block && set(b) == set(block)).collect();
    for b in others {
        let age = ages[&b];
        if younger(age) {
            match age + 1 < geometry.ways {
                true => _ = ages.insert(b, age + 1),
                false => _ = ages.remove(&b),
            }
        }
    }
    ages.insert(block, 0);
    old.is_some()
}

/// Checks that no run costs more than the bound of the first label.
pub fn check(
    machine: &Machine<'_>,
    keys: &[Key],
    labels: &Labels,
    block: &dyn Fn(Word) -> u64,
    blocks: usize,
    (geometry, costs): (&Geometry, Costs),
) -> Result<(), String> {
    let of = |n: usize| ages(&labels.nodes[n].label.must, geometry.ways, blocks);
    let start = labels.nodes.first().ok_or("there is no start")?;
    if keys[start.key as usize] != machine.initial() || !of(0).is_empty() {
        return Err("the first label is not the start".into());
    }
    for (n, node) in labels.nodes.iter().enumerate() {
        let key = &keys[node.key as usize];
        let steps = machine.steps(key)?;
        if steps.len() != node.to.len() {
            return Err(format!("label {n} has {} steps, not {}", steps.len(), node.to.len()));
        }
        for (step, &to) in steps.iter().zip(&node.to) {
            let mut after = of(n);
            let mut cost = 0;
            for &word in &step.uses {
                cost += if used(&mut after, block(word), geometry) { costs.hit } else { costs.miss };
            }
            let target = labels.nodes.get(to as usize).ok_or("a step leads nowhere")?;
            if keys[target.key as usize] != step.to {
                return Err(format!("a step of label {n} leads to another key"));
            }
            if !of(to as usize).iter().all(|(b, age)| after.get(b).is_some_and(|a| a <= age)) {
                return Err(format!("more is known of label {to} than a step of label {n} leaves"));
            }
            if cost + target.bound > node.bound {
                return Err(format!("a step of label {n} costs more than its bound"));
            }
        }
    }
    Ok(())
}
