//! All that a program can do, whatever the cache does: keys and steps, in an order in which every step leads forward.

use std::collections::HashMap;

use trellis_meter::{Meter, Progress, Stats};
use trellis_model::evidence::Reason;

use super::Failure;
use super::machine::{Key, Machine, Word, line_of};
use trellis_model::cfa::EdgeId;

/// A step between keys.
#[derive(Debug, Clone)]
pub struct Arrow {
    /// Along this edge.
    pub edge: EdgeId,
    /// What it uses.
    pub uses: Vec<Word>,
    /// To this key.
    pub to: u32,
}

/// Keys and steps.
#[derive(Debug, Default)]
pub struct Graph {
    /// The keys; the first one is the start.
    pub keys: Vec<Key>,
    /// The steps from each.
    pub arrows: Vec<Vec<Arrow>>,
    /// All keys, so that steps lead forward.
    pub order: Vec<u32>,
}

/// Explores. Where a run can come back to a key there is no longest run.
pub fn explore(machine: &Machine<'_>, meter: &mut Meter) -> Result<Graph, Failure> {
    let mut graph = Graph::default();
    let mut numbers: HashMap<Key, u32> = HashMap::new();
    let mut number = |graph: &mut Graph, key: Key| {
        *numbers.entry(key.clone()).or_insert_with(|| {
            graph.keys.push(key);
            graph.arrows.push(Vec::new());
            graph.keys.len() as u32 - 1
        })
    };
    number(&mut graph, machine.initial());
    let mut stats = Stats::default();
    let mut n = 0;
    while n < graph.keys.len() {
        stats.expanded += 1;
        stats.added = graph.keys.len() as u64;
        let waiting = graph.keys.len() - n;
        meter.check(&Progress { waiting, stats }).map_err(|why| Failure::Limit(Reason::from(why)))?;
        let key = graph.keys[n].clone();
        for step in machine.steps(&key).map_err(Failure::Unknown)? {
            let to = number(&mut graph, step.to);
            graph.arrows[n].push(Arrow { edge: step.edge, uses: step.uses, to });
        }
        n += 1;
    }
    sort(machine, &mut graph)?;
    Ok(graph)
}

/// Depth first, every key comes after all that it leads to; the other way round is what is wanted.
fn sort(machine: &Machine<'_>, graph: &mut Graph) -> Result<(), Failure> {
    let mut state = vec![0u8; graph.keys.len()];
    let mut done = Vec::new();
    let mut open = vec![(0u32, 0)];
    state[0] = 1;
    while let Some((n, next)) = open.pop() {
        let Some(arrow) = graph.arrows[n as usize].get(next) else {
            state[n as usize] = 2;
            done.push(n);
            continue;
        };
        open.push((n, next + 1));
        match state[arrow.to as usize] {
            0 => {
                state[arrow.to as usize] = 1;
                open.push((arrow.to, 0));
            }
            1 => {
                let around = open.iter().map(|(n, _)| *n).skip_while(|n| *n != arrow.to);
                let lines = around.filter_map(|n| line_of(machine.cfa, graph.keys[n as usize].location));
                return Err(Failure::Unbounded(lines.min()));
            }
            _ => {}
        }
    }
    done.reverse();
    graph.order = done;
    Ok(())
}
